package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"shardpilot/control"
)

// Ask shows what is about to be done and waits for a plain yes; everything
// else, an end of input included, is no. The end of ctx is an error.
func Ask(ctx context.Context, in io.Reader, out io.Writer, words string) (bool, error) {
	if _, err := fmt.Fprintf(out, "%s\nGo ahead? [y/N] ", words); err != nil {
		return false, err
	}
	line, err := answer(ctx, func() (string, error) { return bufio.NewReader(in).ReadString('\n') })
	if ctx.Err() != nil {
		_, _ = fmt.Fprintln(out) // below the question
		return false, context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	said := strings.ToLower(strings.TrimSpace(line))
	return said == "y" || said == "yes", nil
}

// Commands are what the flags of set amount to, for who at host. The
// acceptance of partitioned FIFO is given: whoever gets here has read
// Consequences and agreed.
func (a Act) Commands(who, host string) []control.Command {
	base := control.Command{Queue: a.Queue, Actor: who, Host: host, Why: a.Why, Force: a.Force}
	one := func(v control.Verb, change func(*control.Command)) []control.Command {
		c := base
		c.Verb = v
		change(&c)
		return []control.Command{c}
	}
	switch {
	case a.Auto:
		return one(control.VerbAuto, func(c *control.Command) { c.Max, c.Enforced, c.Accept = a.Max, a.Enforced, true })
	case a.Manual > 0:
		list := one(control.VerbManual, func(*control.Command) {})
		return append(list, one(control.VerbOverride, func(c *control.Command) { c.To, c.Accept = a.Manual, true })...)
	case a.Pin > 0:
		return one(control.VerbPin, func(c *control.Command) { c.To, c.For, c.Accept = a.Pin, a.For, true })
	case a.Override > 0:
		return one(control.VerbOverride, func(c *control.Command) { c.To, c.Accept = a.Override, true })
	case a.Undo:
		return one(control.VerbUndo, func(c *control.Command) { c.Accept = true })
	case a.Unpin:
		return one(control.VerbUnpin, func(*control.Command) {})
	case a.Resume:
		return one(control.VerbResume, func(*control.Command) {})
	default:
		return one(control.VerbPause, func(c *control.Command) { c.Up, c.Down = a.PauseUp, a.PauseDown })
	}
}

// Consequences says in words what the flags of set do to the queue, which
// stands at now shards, before anybody is asked to agree; undo is what taking
// the last change back would do.
func (a Act) Consequences(place string, now int, undo control.Undo) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Queue %s on %s, %s now:\n", Safe(a.Queue), Safe(place), shards(now))
	switch {
	case a.Auto:
		fmt.Fprintf(&b, "  auto, at most %d enqueue shards, %s.\n", a.Max, a.autoMode())
		if a.Enforced {
			for _, s := range control.Shortfalls() {
				b.WriteString("  - " + s.Words() + "\n")
			}
		}
	case a.Manual > 0:
		fmt.Fprintf(&b, "  %s, manual: the controller never touches it.\n", shards(a.Manual))
	case a.Pin > 0:
		until := "until it is unpinned"
		if a.For > 0 {
			until = "for " + a.For.String()
		}
		fmt.Fprintf(&b, "  pinned to %s %s.\n", shards(a.Pin), until)
	case a.Override > 0:
		fmt.Fprintf(&b, "  %s from now on; the mode stays, and automatic steps may follow later.\n", shards(a.Override))
	case a.Undo && undo.From == 0:
		b.WriteString("  no change is known that could be taken back.\n")
	case a.Undo:
		fmt.Fprintf(&b, "  back to %s, from the %d that the last change led to.\n", shards(undo.To), undo.From)
		b.WriteString(Price(undo.From, undo.To))
	case a.Unpin:
		b.WriteString("  no longer pinned; automatic steps may follow where the mode allows them.\n")
	case a.Resume:
		b.WriteString("  pauses end; automatic steps may follow where the mode allows them.\n")
	default:
		b.WriteString("  steps are paused until resumed.\n")
	}
	if to := max(a.Max, a.Manual, a.Pin, a.Override); to > 0 {
		b.WriteString(Price(now, to))
	}
	return strings.TrimRight(b.String(), "\n")
}

func (a Act) autoMode() string {
	if a.Enforced {
		return "enforced: a process with --mode enforced takes steps by itself"
	}
	return "shadow: decides, proposes, and writes nothing by itself"
}

// Price is what the change costs, one line each; "" when it costs nothing.
func Price(from, to int) string {
	var b strings.Builder
	for _, line := range control.Price(max(from, control.MinShards), to) {
		b.WriteString("  - " + line + "\n")
	}
	return b.String()
}

func shards(n int) string { return control.Plural(n, "shard") }

// StepWords says what approving or rejecting a pending step means, before
// anybody is asked.
func StepWords(verb, place string, p control.Pending, now time.Time) string {
	words := fmt.Sprintf("%s on %s: %s %s -> %s\n  %s\n  proposed %s, ends %s", Safe(p.Queue), Safe(place), verb,
		shards(p.From), shards(p.To), Safe(p.Detail), ago(p.At, now), ago(p.Until, now))
	if verb == "approve" {
		words += "\n" + strings.TrimRight(Price(p.From, p.To), "\n")
	}
	return words
}
