# Watches over one private PostgreSQL on behalf of the process that holds the
# other end of our standard input. That process speaks one word a line; when the
# pipe closes it is gone, however it went (a SIGKILL closes pipes too), and then
# PostgreSQL is stopped and the folder removed.
#
#   supervise.sh FOLDER KEEP INITDB POSTGRES    KEEP is "keep" or "remove"
#
# Words in:  init | start | stop | crash | quit
# Words out: ended CODE   a command begun by init or start is over
#            stopped      stop or crash is done, nothing runs any more
folder=$1 keep=$2 initdb=$3 postgres=$4
umask 077
# 3 is the folder's lock: everything started here inherits it and so holds it,
# but for what only waits. 4 is where the words come from.
exec 4<&0 </dev/null
# Our end comes through the pipe. A caught signal goes back to its default in a
# child, so TERM is caught here, not ignored: PostgreSQL must be able to die of it.
trap '' HUP INT QUIT
trap : TERM
job=

# One command with somebody who waits for it, so that its end is told while the
# loop below listens. USR1 asks the command to go (TERM as well as INT: until
# PostgreSQL has set its handlers INT is ignored and TERM kills), USR2 is a crash.
run() {
	halt USR1
	(
		pid= asked=
		trap 'asked=1; [ -z "$pid" ] || leave TERM INT' USR1
		trap 'asked=1; [ -z "$pid" ] || leave QUIT' USR2
		"$@" >>"$folder/postgres.log" 2>&1 4<&- &
		pid=$!
		[ -z "$asked" ] || leave TERM INT
		asked=
		wait "$pid"
		code=$?
		if [ -n "$asked" ]; then
			# The signal may have cut the first wait short.
			wait "$pid"
		fi
		pid=
		echo "ended $code"
	) &
	job=$!
}

# leave SIGNAL...: sends them, then presses harder: a backend that does not
# answer holds a fast shutdown up for ever, an immediate one only for seconds.
leave() {
	for signal; do kill -s "$signal" "$pid" 2>/dev/null; done
	(
		trap '' USR1 USR2
		tenths=0
		while kill -0 "$pid" 2>/dev/null; do
			sleep 0.1
			tenths=$((tenths + 1))
			[ "$tenths" -ne 80 ] || kill -s QUIT "$pid" 2>/dev/null
			[ "$tenths" -ne 200 ] || kill -s KILL "$pid" 2>/dev/null
		done
	) </dev/null >/dev/null 2>&1 3<&- 4<&- &
}

halt() {
	[ -n "$job" ] || return 0
	trap '' TERM
	kill -s "$1" "$job" 2>/dev/null
	wait "$job"
	job=
	trap : TERM
}

while read -r word <&4; do
	case $word in
	init) run "$initdb" -D "$folder/data" -U postgres -E UTF8 --no-locale --no-sync -A scram-sha-256 --pwfile "$folder/password" ;;
	start) run "$postgres" -D "$folder/data" -c "config_file=$folder/postgresql.conf" ;;
	stop) halt USR1 && echo stopped ;;
	crash) halt USR2 && echo stopped ;;
	quit) break ;;
	esac
done
halt USR1
[ "$keep" = remove ] || exit 0
# An initdb that was told to go may leave a last child writing for a moment.
for _ in 1 2 3 4 5 6 7 8 9; do
	rm -rf "$folder" && exit 0
	sleep 0.2
done
