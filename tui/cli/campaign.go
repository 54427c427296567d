package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"

	"shardpilot/control/experiment"
)

// Prove plays a plan on a bench, telling how far it is, prints the verdict and
// keeps everything in the folder of the flags. It returns the gate's Fault when
// it is not passed.
func (c Command) Prove(ctx context.Context, bench experiment.Bench, plan experiment.Plan, facts []experiment.Fact, now func() time.Time) error {
	folder := c.Experiment.Folder()
	book, err := folder.Open(plan, facts)
	if err != nil {
		return err
	}
	if book.Plan.Created.IsZero() {
		book.Plan.Created = now().UTC().Truncate(time.Second)
	}
	p := &campaign{out: os.Stdout, err: os.Stderr, json: c.JSON, terminal: term.IsTerminal(os.Stderr.Fd()), now: now, total: len(plan.Jobs())}
	p.begin(len(book.Results), folder)
	book, verdict, err := experiment.Gate{Bench: bench, Live: !c.Experiment.Simulate, Folder: folder, Now: now, Tell: p.tell, Say: p.say}.Run(ctx, book)
	p.end()
	if ctx.Err() != nil {
		p.interrupted(len(book.Results), folder)
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	if err := folder.Publish("Experiment on "+plan.Bench, book, verdict); err != nil {
		return err
	}
	if err := Verdict(os.Stdout, verdict, c.JSON); err != nil {
		return err
	}
	if folder != "" {
		p.say(fmt.Sprintf("the report is in %s/report.md", folder))
	}
	return verdict.Err()
}

// campaign tells how far a campaign is: a line that is drawn over on a
// terminal, a line a run without one. With JSON each run is an object.
type campaign struct {
	out, err       io.Writer
	json, terminal bool
	now            func() time.Time
	total          int

	mu   sync.Mutex
	at   experiment.Progress
	told time.Time
	stop chan struct{}
	done sync.WaitGroup
}

// redrawEvery is how often the time left is counted down.
const redrawEvery = time.Second

func (p *campaign) begin(have int, folder experiment.Folder) {
	switch {
	case have >= p.total:
		p.say(fmt.Sprintf("%s holds all %d runs of this campaign already; another --out measures anew", folder, have))
	case have > 0:
		p.say(fmt.Sprintf("going on with %s, which holds %d runs", folder, have))
	}
	if !p.terminal {
		return
	}
	p.stop = make(chan struct{})
	p.done.Go(func() {
		tick := time.NewTicker(redrawEvery)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
				p.draw()
			}
		}
	})
}

func (p *campaign) end() {
	if p.stop != nil {
		close(p.stop)
		p.done.Wait()
		p.show("\r\x1b[K")
	}
}

// show writes what nobody can be told of when it cannot be written.
func (p *campaign) show(text string) { _, _ = io.WriteString(p.err, text) }

func (p *campaign) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		p.show("\r\x1b[K")
	}
	p.show("experiment: " + line + "\n")
}

// tell is given to the campaign.
func (p *campaign) tell(at experiment.Progress) {
	p.mu.Lock()
	p.at, p.told = at, p.now()
	p.mu.Unlock()
	if last := at.Last; last != nil {
		switch {
		case p.json:
			_ = Object(p.out, newRunLine(at, *last)) // a broken pipe ends the command at the verdict
		case !p.terminal:
			p.say(fmt.Sprintf("%*d/%d  %s", len(fmt.Sprint(at.Total)), at.Done, at.Total, runWords(*last)))
		}
	}
	p.draw()
}

const barWidth = 20

// draw puts the line that is drawn over.
func (p *campaign) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.terminal || p.at.Total == 0 || p.at.Job.Shape == "" {
		return
	}
	full := barWidth * p.at.Done / p.at.Total
	left := ""
	if p.at.Left > 0 {
		left = ", " + max(p.at.Left-p.now().Sub(p.told), 0).Round(time.Second).String() + " left"
	}
	p.show(fmt.Sprintf("\r[%s%s] %d/%d %s, %s%s\x1b[K", strings.Repeat("#", full), strings.Repeat(".", barWidth-full),
		p.at.Done, p.at.Total, p.at.Job.Shape, settingWords(p.at.Job.Setting), left))
}

func (p *campaign) interrupted(have int, folder experiment.Folder) {
	if folder == "" {
		p.say("stopped; nothing was kept (--out DIR keeps what was measured)")
		return
	}
	p.say(fmt.Sprintf("stopped; %d of %d runs are kept in %s, and the same command goes on from there", have, p.total, folder))
}

func settingWords(s experiment.Setting) string {
	if s.Static == 0 {
		return "controller"
	}
	return fmt.Sprintf("S = %d", s.Static)
}

func runWords(r experiment.Result) string {
	words := fmt.Sprintf("%-7s %-10s %7.1f jobs/s, p99 %5.0f ms", r.Shape, settingWords(r.Setting), r.Throughput, 1000*r.P99S)
	if len(r.Changes) > 0 {
		words += fmt.Sprintf(", %d", r.Changes[0].From)
		for _, c := range r.Changes {
			words += fmt.Sprintf("->%d", c.To)
		}
	}
	for class, n := range r.Errors {
		words += fmt.Sprintf(", %s x%d", Safe(class), n)
	}
	return words
}

// runLine is a run as --json prints it.
type runLine struct {
	Type              string `json:"type"`
	Done              int    `json:"done"`
	Total             int    `json:"total"`
	experiment.Result        // without its bins, which the folder has
}

func newRunLine(at experiment.Progress, r experiment.Result) runLine {
	r.Bins = nil
	return runLine{Type: "run", Done: at.Done, Total: at.Total, Result: r}
}

// gateLine is a line of the verdict as --json prints it.
type gateLine struct {
	Type string `json:"type"`
	experiment.Line
}

// verdictLine is the last line.
type verdictLine struct {
	Type   string         `json:"type"`
	Passed bool           `json:"passed"`
	Best   map[string]int `json:"best"`
	Part   string         `json:"part"`
}

// Verdict prints the gate's lines and what they come to.
func Verdict(w io.Writer, v experiment.Verdict, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		for _, l := range v.Lines {
			if err := enc.Encode(gateLine{"gate", l}); err != nil {
				return err
			}
		}
		return enc.Encode(verdictLine{"verdict", v.Passed, v.Best, v.Part})
	}
	var b strings.Builder
	for _, l := range v.Lines {
		sign := ">="
		if l.AtMost {
			sign = "<="
		}
		value := number3(l.Value)
		if l.Standing == experiment.Missing {
			value = "n/a"
		}
		line := fmt.Sprintf("%-7s  %-27s %7s %s %-6s %-12s  %s", Safe(l.Shape), l.Metric, value, sign, number3(l.Limit), l.Standing, Safe(l.Detail))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	words := "the gate is passed"
	if !v.Passed {
		words = "the gate is not passed"
	}
	if v.Part != "" {
		words += "\nthis was a part of the gate, " + Safe(v.Part)
	}
	_, err := io.WriteString(w, b.String()+"\n"+words+"\n")
	return err
}

func number3(v float64) string { return fmt.Sprintf("%.2f", v) }

// Sweep prints what thresholds came to, on the simulator.
func (c Command) Sweep(ctx context.Context, w io.Writer) error {
	plan, err := c.Experiment.SweepPlan()
	if err != nil {
		return err
	}
	rows, err := experiment.Sweep(ctx, Simulator().Tapes, plan)
	if err != nil {
		return err
	}
	if c.JSON {
		return Object(w, map[string]any{"plan": plan, "rows": rows})
	}
	_, err = io.WriteString(w, experiment.SweepTable(rows)+"\n"+experiment.SweepTotals(rows))
	return err
}
