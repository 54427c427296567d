package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"shardpilot/control"
)

func TestOnlyAPlainYesIsYes(t *testing.T) {
	for input, want := range map[string]bool{"y\n": true, "YES\n": true, "yes": true, "\n": false, "": false, "n\n": false, "yess\n": false, "y y\n": false, "\x1b[A\n": false} {
		var out bytes.Buffer
		got, err := Ask(context.Background(), strings.NewReader(input), &out, "Do it?")
		if err != nil || got != want {
			t.Errorf("%q: got %t, %v", input, got, err)
		}
		if !strings.Contains(out.String(), "Do it?") || !strings.Contains(out.String(), "[y/N]") {
			t.Errorf("the question does not show its default: %q", out.String())
		}
	}
}

// A signal is caught, so that it would not end a read: what asks ends by itself.
func TestASignalEndsWhatAsks(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	nobody, _ := io.Pipe()
	time.AfterFunc(20*time.Millisecond, func() { cancel(&Signalled{syscall.SIGINT}) })
	var sig *Signalled
	if yes, err := Ask(ctx, nobody, io.Discard, "Do it?"); yes || !errors.As(err, &sig) {
		t.Errorf("got %t, %v", yes, err)
	}
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = ptmx.Close(), tty.Close() }()
	if _, err := AskPassword(ctx, tty, io.Discard, "ada"); !errors.As(err, &sig) {
		t.Errorf("got %v", err)
	}
	if !echoes(t, tty) {
		t.Error("the terminal was left without echo")
	}
}

func echoes(t *testing.T, tty *os.File) bool {
	t.Helper()
	s, err := term.GetState(tty.Fd())
	if err != nil {
		t.Fatal(err)
	}
	return s.Lflag&syscall.ECHO != 0
}

// whenAsked is told of the question as it is written.
type whenAsked func(question string)

func (f whenAsked) Write(p []byte) (int, error) { f(string(p)); return len(p), nil }

// Whoever sees the question may answer at once.
func TestAPasswordIsNotEchoedFromTheQuestionOn(t *testing.T) {
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = ptmx.Close(), tty.Close() }()
	asked := 0
	password, err := AskPassword(context.Background(), tty, whenAsked(func(question string) {
		if !strings.Contains(question, "user ada") {
			return
		}
		if asked++; echoes(t, tty) {
			t.Error("the terminal echoes when the question is seen")
		}
		if _, err := ptmx.WriteString("secret\n"); err != nil {
			t.Error(err)
		}
	}), "ada")
	if err != nil || password != "secret" || asked != 1 || !echoes(t, tty) {
		t.Errorf("asked %d times, got %q, %v", asked, password, err)
	}
}

func TestFlagsOfSetBecomeTheirCommands(t *testing.T) {
	for args, want := range map[string][]control.Verb{
		"--auto --max 4":          {control.VerbAuto},
		"--manual 2":              {control.VerbManual, control.VerbOverride},
		"--pin 2 --for 2h":        {control.VerbPin},
		"--unpin":                 {control.VerbUnpin},
		"--override 8":            {control.VerbOverride},
		"--undo":                  {control.VerbUndo},
		"--pause-up":              {control.VerbPause},
		"--pause-up --pause-down": {control.VerbPause},
		"--resume":                {control.VerbResume},
	} {
		c, err := Parse(append([]string{"set", "--queue", "q", "--why", "because"}, strings.Fields(args)...))
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		list := c.Act.Commands("ada", "bastion")
		var got []control.Verb
		for _, one := range list {
			got = append(got, one.Verb)
			if one.Queue != "q" || one.By() != "ada@bastion" || one.Why != "because" {
				t.Errorf("%s: a command lost who, where or why: %+v", args, one)
			}
		}
		if len(got) != len(want) || got[0] != want[0] {
			t.Errorf("%s: got %v, want %v", args, got, want)
		}
	}
}

func TestConsequencesNameTheOrderingContractBeforeAnybodyAgrees(t *testing.T) {
	words := Act{Queue: "orders\x1b[2J", Auto: true, Max: 16}.Consequences("db:5432/app", 1, control.Undo{})
	for _, must := range []string{"db:5432/app", "partitioned FIFO", "for ever", "deadlock", "restart", "seldom pay", "shadow"} {
		if !strings.Contains(words, must) {
			t.Errorf("the consequences do not mention %q:\n%s", must, words)
		}
	}
	if strings.Contains(words, "\x1b") {
		t.Errorf("a control byte of the queue's name got through: %q", words)
	}
	if words := (Act{Queue: "q", Pin: 1}).Consequences("db", 4, control.Undo{}); strings.Contains(words, "partitioned FIFO") || !strings.Contains(words, "lanes stay") {
		t.Errorf("lowering has another price:\n%s", words)
	}
	for _, short := range control.Shortfalls() {
		if words := (Act{Queue: "q", Auto: true, Max: 4, Enforced: true}).Consequences("db", 4, control.Undo{}); !strings.Contains(words, short.Why) {
			t.Errorf("enforced, and nothing is said of %s: %s", short.Shape, words)
		}
		if words := (Act{Queue: "q", Auto: true, Max: 4}).Consequences("db", 4, control.Undo{}); strings.Contains(words, short.Why) {
			t.Errorf("shadow acts on nothing, and yet: %s", words)
		}
	}
	if words := (Act{Queue: "q", Unpin: true}).Consequences("db", 4, control.Undo{}); strings.Contains(words, "  - ") {
		t.Errorf("unpinning costs nothing:\n%s", words)
	}
	if words := (Act{Queue: "q", Undo: true}).Consequences("db", 8, control.Undo{From: 8, To: 2}); !strings.Contains(words, "back to 2 shards, from the 8") || !strings.Contains(words, "lanes stay") {
		t.Errorf("an undo does not say what it sets, and what that costs:\n%s", words)
	}
}

func TestASavedScreenOverwritesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := save("picture.txt", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := save("picture.txt", []byte("two")); err == nil {
		t.Error("the second picture took the first one's place")
	}
	got, err := os.ReadFile("picture.txt")
	if err != nil || string(got) != "one" {
		t.Errorf("%q, %v", got, err)
	}
}
