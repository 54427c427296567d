package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"shardpilot/control"
)

const (
	prefix     = "shardpilot-pg-" // begins the name of every temporary folder
	keptLimit  = 10 * time.Second // how long a kept folder's last user may take to leave
	clearTries = 150              // looks at a lock that is being let go, 5 polls apart
	staleAfter = time.Minute      // a younger folder may be one that is being made
)

// folder is where one server lives:
//
//	owner            says that the folder is ours, and is locked while anything in it runs
//	data             the data directory
//	postgresql.conf  ours, written before every start
//	password         the superuser's, readable by the account alone
//	passfile         the same for libpq, once it is asked for
//	postgres.log     what PostgreSQL says
type folder struct {
	path string
	keep bool
	lock *os.File
	who  account
}

// temporary makes a fresh folder that the account can reach, best in one of the
// preferred roots if it has room for so many bytes.
func temporary(who account, preferred []string, room int64) (*folder, error) {
	var tried []string
	for i, root := range slices.Concat(preferred, []string{os.TempDir(), "/tmp", "/var/tmp"}) {
		if slices.Contains(tried, root) || i < len(preferred) && free(root) < room {
			continue
		}
		tried = append(tried, root)
		if !who.reaches(root) {
			continue
		}
		sweep(root, who)
		path, err := os.MkdirTemp(root, prefix)
		if err != nil {
			continue
		}
		f := &folder{path: path, who: who}
		if err := f.claim(); err != nil {
			return nil, errors.Join(fmt.Errorf("take the folder %s: %w", path, err), os.RemoveAll(path))
		}
		return f, nil
	}
	return nil, &control.Fault{
		Kind: control.FaultFailed,
		What: "no folder for PostgreSQL's files could be made in " + strings.Join(tried, " or "),
		Hint: "make room there, or point TMPDIR at a folder that PostgreSQL's user can enter",
	}
}

// free is how many bytes an account that is not root can still write below
// path, 0 when that cannot be found out.
func free(path string) int64 {
	var at syscall.Statfs_t
	if syscall.Statfs(path, &at) != nil {
		return 0
	}
	return int64(at.Bavail) * int64(at.Bsize) //nolint:unconvert // the size is 32 bits wide on darwin
}

// kept opens or makes a folder whose data stays, and for root gives it to the
// account. Whatever is in it already must be ours: nobody's files are touched for
// a mistyped path. limit is how long its last user may take to leave.
func kept(ctx context.Context, path string, who account, limit time.Duration) (*folder, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	refuse := func(what, hint string, err error) (*folder, error) {
		return nil, &control.Fault{Kind: control.FaultRefused, What: path + " " + what, Hint: hint, Err: err}
	}
	fresh, err := vacant(path)
	switch {
	case errors.Is(err, errForeign):
		return refuse("is not empty and was not made by shardpilot", "name an empty folder, or one that does not exist yet", err)
	case err != nil:
		return refuse(fmt.Sprintf("cannot be used: %v", err), "name a folder you may write to", err)
	case !who.reaches(filepath.Dir(path)):
		if fresh {
			_ = os.Remove(path) // we made it a moment ago, empty
		}
		return refuse("cannot be reached by the user PostgreSQL runs as",
			"root gives PostgreSQL to an ordinary user; name a folder below one that everybody can enter", nil)
	}
	f := &folder{path: path, keep: true, who: who}
	err = f.claimBefore(ctx, limit)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return refuse("is in use by another shardpilot", "stop that one, or name another folder", err)
	case err != nil:
		return refuse(fmt.Sprintf("cannot be used: %v", err), "name a folder you may write to", err)
	}
	return f, nil
}

var errForeign = errors.New("somebody else's files are in it")

// vacant makes the folder if it is not there, and says whether it did. What is
// there must be empty or ours.
func vacant(path string) (made bool, err error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Mkdir(path, 0o700))
	}
	if err != nil || len(entries) == 0 {
		return false, err
	}
	if _, err := os.Lstat(filepath.Join(path, "owner")); err != nil {
		return false, errors.Join(errForeign, err)
	}
	return false, nil
}

// claimBefore claims, and while somebody else holds the folder tries again: a
// server whose process died a moment ago is still being stopped.
func (f *folder) claimBefore(ctx context.Context, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	tick := time.NewTicker(5 * poll)
	defer tick.Stop()
	for {
		err := f.claim()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		select {
		case <-tick.C:
		case <-timer.C:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// claim takes the folder's lock and gives the folder to the account. While
// anything in the folder runs the error is EWOULDBLOCK.
func (f *folder) claim() error {
	lock, err := f.openLock()
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.Join(err, lock.Close())
	}
	if err := errors.Join(os.Chmod(f.path, 0o700), f.who.give(f.path)); err != nil {
		return errors.Join(err, lock.Close())
	}
	f.lock = lock
	return nil
}

// openLock opens the lock file. Only one made here is given away: by the name of
// an old one its user might have led us to another file.
func (f *folder) openLock() (*os.File, error) {
	name := filepath.Join(f.path, "owner")
	lock, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	}
	if err != nil {
		return nil, err
	}
	if err := f.who.giveFile(lock); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// major is the version of the data already there, "" when there is none.
func (f *folder) major() (string, error) {
	b, err := os.ReadFile(filepath.Join(f.path, "data", "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(b)), err
}

// password reads the superuser's password, or makes one.
func (f *folder) password() (string, error) {
	b, err := os.ReadFile(filepath.Join(f.path, "password"))
	if err == nil && len(b) > 0 {
		return strings.TrimSpace(string(b)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	secret := rand.Text()
	return secret, f.write("password", secret+"\n")
}

// write puts one file there for the account alone.
func (f *folder) write(name, text string) error {
	path := filepath.Join(f.path, name)
	// A link that PostgreSQL's user left here must not lead root elsewhere.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, f.who.giveFile(file), file.Close())
}

// pidFile is what PostgreSQL writes down about itself.
type pidFile struct {
	pid   int
	began string // seconds since 1970; tells two with one pid apart
	ready bool   // takes connections
}

// pidFile reads postmaster.pid: the first line is the process id, the third when
// it began, the eighth its state. Zero while the file is not there or half written.
func (f *folder) pidFile() pidFile {
	b, err := os.ReadFile(filepath.Join(f.path, "data", "postmaster.pid"))
	if err != nil {
		return pidFile{}
	}
	lines := append(strings.Split(string(b), "\n"), make([]string, 8)...)
	pid, err := strconv.Atoi(lines[0])
	if err != nil || pid <= 1 {
		return pidFile{}
	}
	return pidFile{pid: pid, began: lines[2], ready: strings.TrimSpace(lines[7]) == "ready"}
}

// lastWords are the last lines of the log.
func (f *folder) lastWords() string {
	b, err := os.ReadFile(filepath.Join(f.path, "postgres.log"))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

// abandon gives up a folder in which nothing was started.
func (f *folder) abandon() error {
	err := f.lock.Close()
	if !f.keep {
		err = errors.Join(err, os.RemoveAll(f.path))
	}
	return err
}

// clear does what the supervisor would have done, for one that was killed: it
// stops the postmaster, waits until nothing holds the lock, and removes the
// folder unless it is kept. The caller has closed its own lock.
func (f *folder) clear() error {
	lock, err := f.openLock()
	if err != nil {
		return err
	}
	tick := time.NewTicker(5 * poll)
	defer tick.Stop()
	for range clearTries {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		// Somebody holds the lock, so the number in the file is still that of our
		// postmaster and not of a stranger.
		if pid := f.pidFile().pid; pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGQUIT)
		}
		<-tick.C
	}
	if err == nil && !f.keep {
		err = os.RemoveAll(f.path)
	}
	return errors.Join(err, lock.Close())
}
