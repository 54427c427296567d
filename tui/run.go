package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"shardpilot/control"
	"shardpilot/tui/quiet"
)

// bubbletea has been initialised by now, so the terminal may have its name back.
func init() { quiet.Restore() }

// errTerminalGone is why a screen ends whose terminal went away under it.
var errTerminalGone = errors.New("the terminal is gone")

// Run shows the screen until the user quits (nil), ctx is done (its cause) or
// the terminal is gone (a Fault). The terminal is as it was before when Run
// returns, also after a panic, and everything Run started has ended. Signals
// are main's: it cancels ctx.
func Run(ctx context.Context, o Options) error {
	if o.Now == nil {
		return &control.Fault{Kind: control.FaultFailed, What: "the screen was given no clock"}
	}
	if err := o.Validate(); err != nil {
		return err
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	gone := func() { cancel(errTerminalGone) }
	pump := newPump(o)
	m := New(o)
	caught := make(chan struct{}, 1)
	term := newTerminal(o.Output, gone, func() {
		select {
		case caught <- struct{}{}:
		default: // told already
		}
	})
	defer term.close(lastWords)
	screen := &program{m: m, pump: pump, every: m.Interval(), behind: term.behind}
	how := []tea.ProgramOption{tea.WithAltScreen(), tea.WithoutSignalHandler(),
		tea.WithInput(watchInput(o.Input, gone)), tea.WithOutput(term.output())}
	if o.Mouse {
		how = append(how, tea.WithMouseCellMotion())
	}
	p := tea.NewProgram(screen, how...)
	var wg sync.WaitGroup
	every := m.Interval()
	wg.Go(func() {
		if err := control.Guard("the screen", func() error { pump.run(inner, p.Send, every, term, caught); return nil }); err != nil {
			cancel(err)
			p.Quit()
		}
	})
	if o.Tape != nil {
		pump.deck = newDeck(o.Tape, m.g)
		wg.Go(func() {
			if err := control.Guard("the replay", func() error { pump.deck.run(inner, p.Send); return nil }); err != nil {
				cancel(err)
				p.Quit()
			}
		})
	}
	// The context reaches bubbletea as a request to quit, by the pump: told
	// directly, it closes its input under the goroutine that reads it.
	_, err := p.Run()
	cancel(screen.defect)
	wg.Wait()
	return verdict(ctx, inner, err)
}

// lastWords is how long the end of a screen waits for its terminal to take what
// puts it back.
const lastWords = time.Second

// verdict turns how bubbletea ended into what main wants to know.
func verdict(ctx, inner context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(inner), control.ErrDefect):
		return context.Cause(inner)
	case errors.Is(err, tea.ErrProgramPanic):
		return &control.Fault{Kind: control.FaultFailed, What: "the screen broke; the terminal was put back", Err: err}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(context.Cause(inner), errTerminalGone):
		return &control.Fault{Kind: control.FaultFailed, What: "the terminal went away", Err: errTerminalGone}
	case err != nil:
		return fmt.Errorf("the screen ended: %w", err)
	}
	return nil
}

type (
	eventMsg   struct{ control.Event }
	tickMsg    struct{}
	caughtUp   struct{} // the terminal has taken everything
	toggledMsg struct {
		words string
		err   error
	}
	savedMsg struct {
		name string
		err  error
	}
	doneMsg struct {
		command control.Command
		result  control.Result
		err     error
	}
)

// afterReading is how long after a reading the picture advances. The pump sets
// its pace by the first reading, and by the first after a failure: otherwise a
// picture could always be nearly a second behind.
const afterReading = 100 * time.Millisecond

// pump is the one goroutine beside bubbletea's own: it hands in ticks and
// events and writes what is for the clipboard.
type pump struct {
	events   <-chan control.Event
	interval chan time.Duration
	copies   chan string
	commands chan control.Command
	pages    chan Page
	do       func(context.Context, control.Command) (control.Result, error)
	save     func(string, []byte) error
	deck     *deck // nil unless a recording is shown
	toggles  chan struct{}
	recorder Recorder
}

func newPump(o Options) *pump {
	return &pump{events: o.Events, interval: make(chan time.Duration, 1), copies: make(chan string, 1),
		commands: make(chan control.Command, 1), pages: make(chan Page, 1), do: o.Do, save: o.Save,
		toggles: make(chan struct{}, 1), recorder: o.Recorder}
}

func (p *pump) run(ctx context.Context, send func(tea.Msg), every time.Duration, out io.Writer, caught <-chan struct{}) {
	t := time.NewTicker(every)
	defer t.Stop()
	events := p.events
	behind, soon := true, false
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		select {
		case <-ctx.Done():
			send(tea.Quit())
			return
		case ev, ok := <-events:
			if !ok {
				events = nil // the runner has ended; the last picture stays and ages
				continue
			}
			send(eventMsg{ev})
			if ev.Snapshot != nil && behind {
				t.Reset(afterReading)
				soon = true
			}
			behind = ev.Snapshot == nil
		case <-t.C:
			send(tickMsg{})
			if soon {
				t.Reset(every)
				soon = false
			}
		case every = <-p.interval:
			t.Reset(every)
		case s := <-p.copies:
			_, _ = io.WriteString(out, ansi.SetSystemClipboard(s)) // a failure is told elsewhere
		case <-caught:
			send(caughtUp{})
		case page := <-p.pages:
			wg.Go(func() {
				send(savedMsg{page.Name, control.Guard("saving the screen", func() error { return p.save(page.Name, page.Data) })})
			})
		case <-p.toggles:
			wg.Go(func() {
				var words string
				err := control.Guard("the recording", func() (err error) { words, err = p.recorder.Toggle(); return err })
				send(toggledMsg{words, err})
			})
		case c := <-p.commands:
			wg.Go(func() {
				var res control.Result
				err := control.Guard("the command", func() (err error) { res, err = p.do(ctx, c); return err })
				send(doneMsg{c, res, err})
			})
		}
	}
}

// program adapts Model to bubbletea.
type program struct {
	m     *Model
	pump  *pump
	every time.Duration // the pump's present interval
	// behind says whether the terminal still has to take what it was sent; nil
	// when it always keeps up. Meanwhile the picture stays the last one sent.
	behind func() bool
	sent   string
	defect error // why the screen has to end, nil while it is well
}

func (p *program) Init() tea.Cmd { return nil }

// View is the picture for bubbletea, which sends what differs from the one
// before. While the terminal is behind that is nothing.
func (p *program) View() string {
	if v := p.m.View(); v != p.sent && (p.behind == nil || !p.behind()) {
		p.sent = v
	}
	return p.sent
}

// Update guards itself: bubbletea would print a panic over the terminal, and
// the log would not have it.
func (p *program) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	if p.defect == nil {
		p.defect = control.Guard("the screen", func() error { cmd = p.update(msg); return nil })
	}
	if p.defect != nil {
		return p, tea.Quit
	}
	return p, cmd
}

func (p *program) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case eventMsg:
		p.event(msg.Event)
	case toggledMsg:
		p.m.Toggled(msg.words, msg.err)
	case tapeMsg:
		p.m.played(msg)
	case tickMsg:
		p.m.Advance()
	case tea.WindowSizeMsg:
		p.m.Resize(msg.Width, msg.Height)
	case doneMsg:
		p.m.Done(msg.command, msg.result, msg.err)
	case savedMsg:
		p.m.Saved(msg.name, msg.err)
	case tea.MouseMsg:
		p.mouse(msg)
	case tea.KeyMsg:
		return p.key(msg)
	}
	return nil
}

func (p *program) mouse(msg tea.MouseMsg) {
	switch {
	case msg.Action != tea.MouseActionPress:
	case msg.Button == tea.MouseButtonLeft:
		p.m.Click(msg.Y)
	case msg.Button == tea.MouseButtonWheelUp:
		p.m.Wheel(-1)
	case msg.Button == tea.MouseButtonWheelDown:
		p.m.Wheel(1)
	}
}

// event takes a tick in. The first reading, a failure and the end of one are
// drawn at once; everything else waits for the picture to advance.
func (p *program) event(ev control.Event) {
	first, failing := p.m.picture == nil, p.m.failure != nil
	p.m.Ingest(ev)
	if first || failing != (ev.Err != nil) {
		p.m.Advance()
	}
}

// key splits what a fast hand or a slow line has put into one message: keys
// that came together are still keys, one after the other.
func (p *program) key(msg tea.KeyMsg) tea.Cmd {
	if msg.Paste {
		p.m.Paste(string(msg.Runes))
		return nil
	}
	if msg.Alt { // nothing is bound to alt: an escape, and the key after it
		if p.m.writing() {
			return nil
		}
		msg.Alt = false
		return tea.Sequence(p.effect(p.m.Key("esc")), p.key(msg))
	}
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 {
		return p.effect(p.m.Key(msg.String()))
	}
	var cmds []tea.Cmd
	for _, r := range msg.Runes {
		cmds = append(cmds, p.effect(p.m.Key(string(r))))
	}
	return tea.Sequence(cmds...)
}

func (p *program) effect(e Effect) tea.Cmd {
	if e.Copy != "" {
		select {
		case p.pump.copies <- e.Copy:
		default: // one is on its way already
		}
	}
	if e.Save != nil {
		select {
		case p.pump.pages <- *e.Save:
		default:
			p.m.Saved(e.Save.Name, errors.New("another page is on its way"))
		}
	}
	if e.record {
		select {
		case p.pump.toggles <- struct{}{}:
		default: // a key that is held
		}
	}
	if e.tape != nil {
		p.pump.deck.ask(*e.tape)
	}
	if e.Do != nil {
		select {
		case p.pump.commands <- *e.Do:
		default:
			p.m.Done(*e.Do, control.Result{}, &control.Fault{Kind: control.FaultRefused, What: "another command is on its way", Hint: "wait for its outcome"})
		}
	}
	if d := p.m.Interval(); d != p.every { // only then: a held key must not hold ticks back
		p.every = d
		select {
		case <-p.pump.interval:
		default:
		}
		p.pump.interval <- d
	}
	switch {
	case e.Quit:
		return tea.Quit
	case e.Redraw:
		return tea.ClearScreen
	}
	return nil
}
