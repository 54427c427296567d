package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"

	"shardpilot/control"
)

// HasTerminal says whether a person sits at both ends.
func HasTerminal() bool { return term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stdout.Fd()) }

// WantsTerminal refuses to draw where nobody could see it.
func WantsTerminal(instead string) error {
	if !HasTerminal() {
		return &control.Fault{Kind: control.FaultUsage, What: "the dashboard needs a terminal for its input and output", Hint: instead}
	}
	if t := os.Getenv("TERM"); t == "dumb" || t == "" {
		return &control.Fault{Kind: control.FaultUsage, What: fmt.Sprintf("the terminal (TERM=%q) cannot place text", t),
			Hint: "set TERM to what the terminal is, or " + instead}
	}
	return nil
}

// CanAskPassword says whether there is a terminal to ask on.
func CanAskPassword() bool { return term.IsTerminal(os.Stdin.Fd()) }

// AskPassword asks on the terminal in, without echo from before the question is
// seen until the answer or the end of ctx, which is an error.
func AskPassword(ctx context.Context, in *os.File, out io.Writer, user string) (string, error) {
	before, err := term.GetState(in.Fd())
	if err == nil {
		defer func() { _ = term.Restore(in.Fd(), before) }() // the terminal is gone when this fails
		silent := *before                                    // as term.ReadPassword makes it, which would do so after the question
		silent.Lflag = silent.Lflag&^unix.ECHO | unix.ICANON | unix.ISIG
		silent.Iflag |= unix.ICRNL
		err = term.SetState(in.Fd(), &silent)
	}
	var secret string
	if err == nil {
		_, _ = fmt.Fprintf(out, "Password for user %s: ", Safe(user)) // who does not see it does not answer
		secret, err = answer(ctx, func() (string, error) { return bufio.NewReader(in).ReadString('\n') })
		_, _ = fmt.Fprintln(out)
		if secret != "" && errors.Is(err, io.EOF) {
			err = nil
		}
	}
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", &control.Fault{Kind: control.FaultNoConnection, What: "no password was given",
			Hint: "put it into the passfile (~/.pgpass) to be asked no more", Err: err}
	}
	return strings.TrimRight(secret, "\r\n"), nil
}

// answer waits for what a person types, until ctx ends: a signal is caught and
// does not end the read, which then ends with the process.
func answer(ctx context.Context, read func() (string, error)) (string, error) {
	type typed struct {
		text string
		err  error
	}
	got := make(chan typed, 1)
	go func() {
		text, err := read()
		got <- typed{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case t := <-got:
		return t.text, t.err
	}
}

// Agree asks the person at the terminal whether to do what words say, unless
// --yes said so already. Anything but a yes is a Fault, and nothing is done.
func (c Command) Agree(ctx context.Context, words string) error {
	if c.Yes {
		return nil
	}
	if !term.IsTerminal(os.Stdin.Fd()) {
		return &control.Fault{Kind: control.FaultRefused, What: "there is no terminal to ask on", Hint: "--yes goes ahead without asking:\n" + words}
	}
	ok, err := Ask(ctx, os.Stdin, os.Stderr, words)
	if err != nil {
		return err
	}
	if !ok {
		return &control.Fault{Kind: control.FaultRefused, What: "nothing was done"}
	}
	return nil
}

// Signalled is the cause of a context that a signal ended.
type Signalled struct{ Signal syscall.Signal }

func (s *Signalled) Error() string { return "ended by " + s.Signal.String() }

// Hangups are the SIGHUPs from now on, which end nothing any more, until stop.
// A service reads its files again on one.
func Hangups() (hangups <-chan os.Signal, stop func()) {
	caught := make(chan os.Signal, 1)
	signal.Ignore(syscall.SIGHUP) // takes it from UntilSignal
	signal.Notify(caught, syscall.SIGHUP)
	return caught, func() { signal.Stop(caught) }
}

// UntilSignal is a context that SIGINT, SIGTERM and SIGHUP end, with a
// *Signalled as its cause. A SIGHUP that was ignored at the start (nohup) stays
// ignored: a terminal that is gone then shows as a failing read or write.
func UntilSignal() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	caught := make(chan os.Signal, 1)
	list := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	signal.Notify(caught, list...)
	go func() {
		select {
		case s := <-caught:
			if s, ok := s.(syscall.Signal); ok {
				cancel(&Signalled{s})
			}
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel(nil)
	}
}
