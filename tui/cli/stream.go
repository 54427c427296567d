package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"shardpilot/control"
)

// Stream writes what a command without a screen sees: readings, decisions,
// changes and verifications as they come, a summary at the end.
type Stream interface {
	Event(control.Event) error
	Summary(Summary) error
}

// Summary is the last line of a stream.
type Summary struct {
	Enqueued  int64            `json:"enqueued"`
	Completed int64            `json:"completed"`
	Errors    int64            `json:"errors"`
	BySQL     map[string]int64 `json:"errors_by_sqlstate"`
	LaneWaitS float64          `json:"lane_wait_s"` // sum of the producers' own stop-watches
	Changes   int              `json:"changes"`
	Reversals int              `json:"reversals"`
	Dropped   int              `json:"dropped_events"`

	last map[string]bool // direction of the last change of each queue, true is up
}

// Count adds the changes of an event.
func (s *Summary) Count(e control.Event) {
	for _, c := range e.Changes {
		if c.Outcome != control.OutcomeApplied {
			continue
		}
		s.Changes++
		up := c.To > c.From
		if s.last == nil {
			s.last = map[string]bool{}
		}
		if was, known := s.last[c.Queue]; known && was != up {
			s.Reversals++
		}
		s.last[c.Queue] = up
	}
	s.Dropped = e.Dropped
}

// JSONStream writes one object a line: every reading, and a decision when it
// is another than the last of its queue.
func JSONStream(w io.Writer) Stream { return &jsonStream{json.NewEncoder(w), transitions{}} }

type jsonStream struct {
	enc  *json.Encoder
	said transitions
}

// transitions remembers the last decision of each queue that was printed.
type transitions map[string]string

// isNew says whether d is another decision than the last of its queue, and
// takes it for printed. Figures in the detail do not make it another.
func (t transitions) isNew(d control.Decision) bool {
	now := fmt.Sprintf("%s %s %s %d %t", d.Mode, d.Action, d.Reason, d.To, d.Pending)
	was, known := t[d.Queue]
	t[d.Queue] = now
	return !known || was != now
}

type readingLine struct {
	Type string `json:"type"`
	control.Reading
	Shards *int `json:"shards"` // null when unknown
}

type decisionLine struct {
	Type string `json:"type"`
	control.Decision
}

type changeLine struct {
	Type string `json:"type"`
	control.Change
}

type verificationLine struct {
	Type string `json:"type"`
	control.Verification
}

type problemLine struct {
	Type   string `json:"type"`
	At     string `json:"at"`
	Part   string `json:"part"`
	Detail string `json:"detail"`
	Hint   string `json:"hint"`
}

type summaryLine struct {
	Type string `json:"type"`
	Summary
}

func (s *jsonStream) Event(e control.Event) error {
	if e.Err != nil && !e.Err.Waiting {
		if err := s.enc.Encode(problemLine{"problem", e.At.UTC().Format(time.RFC3339Nano), "connection", e.Err.What, e.Err.Hint}); err != nil {
			return err
		}
	}
	if e.Snapshot == nil { // what is decided and learned without a reading counts all the same
		return s.outcomes(e)
	}
	at := e.Snapshot.At.UTC().Format(time.RFC3339Nano)
	for _, p := range e.Snapshot.Problems {
		if err := s.enc.Encode(problemLine{"problem", at, p.Part, p.Detail, p.Hint}); err != nil {
			return err
		}
	}
	for _, r := range e.Snapshot.Readings {
		line := readingLine{Type: "reading", Reading: utc(r)}
		if r.Shards > 0 {
			line.Shards = &r.Shards
		}
		if line.Lanes == nil {
			line.Lanes = []control.LaneReading{}
		}
		if err := s.enc.Encode(line); err != nil {
			return err
		}
	}
	return s.outcomes(e)
}

func (s *jsonStream) outcomes(e control.Event) error {
	for _, d := range e.Decisions {
		if !s.said.isNew(d) {
			continue
		}
		d.At = d.At.UTC()
		if d.Blockers == nil {
			d.Blockers = []control.Blocker{}
		}
		if err := s.enc.Encode(decisionLine{"decision", d}); err != nil {
			return err
		}
	}
	for _, c := range e.Changes {
		c.At = c.At.UTC()
		if err := s.enc.Encode(changeLine{"change", c}); err != nil {
			return err
		}
	}
	for _, v := range e.Verifications {
		v.At = v.At.UTC()
		if err := s.enc.Encode(verificationLine{"verification", v}); err != nil {
			return err
		}
	}
	return nil
}

func (s *jsonStream) Summary(sum Summary) error {
	if sum.BySQL == nil {
		sum.BySQL = map[string]int64{}
	}
	return s.enc.Encode(summaryLine{"summary", sum})
}

func utc(r control.Reading) control.Reading {
	r.At = r.At.UTC()
	return r
}

// TextStream writes a line for each queue that has something to say, and every
// queue once in ten seconds, so that quiet is told from dead.
func TextStream(w io.Writer) Stream {
	return &textStream{w: w, said: map[string]string{}, decided: transitions{}}
}

type textStream struct {
	w       io.Writer
	allAt   time.Time
	failing string
	said    map[string]string // last problem printed, by part
	decided transitions
}

const allEvery = 10 * time.Second

func (s *textStream) Event(e control.Event) error {
	var b strings.Builder
	failing := ""
	if e.Err != nil {
		failing = e.Err.What
		if s.failing != failing {
			fmt.Fprintf(&b, "%s  no reading: %s. %s\n", clock(e.At), Safe(e.Err.What), Safe(e.Err.Hint))
		}
	}
	s.failing = failing
	if e.Snapshot == nil { // what is decided and learned without a reading counts all the same
		s.decisions(&b, e)
		_, err := io.WriteString(s.w, b.String())
		return err
	}
	s.problems(&b, e.Snapshot)
	all := e.Snapshot.At.Sub(s.allAt) >= allEvery || s.allAt.After(e.Snapshot.At)
	if all {
		s.allAt = e.Snapshot.At
	}
	for _, r := range e.Snapshot.Readings {
		if all || r.Waiters.Or(0) > 0 {
			b.WriteString(ReadingLine(r))
		}
	}
	s.decisions(&b, e)
	_, err := io.WriteString(s.w, b.String())
	return err
}

func (s *textStream) problems(b *strings.Builder, snap *control.Snapshot) {
	seen := map[string]bool{}
	for _, p := range snap.Problems {
		key := "problem " + p.Part
		seen[key] = true
		if s.said[key] == p.Detail {
			continue
		}
		s.said[key] = p.Detail
		fmt.Fprintf(b, "%s  %s: %s", clock(snap.At), Safe(p.Part), Safe(p.Detail))
		if p.Hint != "" {
			fmt.Fprintf(b, "; %s", Safe(p.Hint))
		}
		b.WriteByte('\n')
	}
	for key := range s.said {
		if strings.HasPrefix(key, "problem ") && !seen[key] {
			delete(s.said, key)
		}
	}
}

func (s *textStream) decisions(b *strings.Builder, e control.Event) {
	for _, d := range e.Decisions {
		if !s.decided.isNew(d) {
			continue
		}
		fmt.Fprintf(b, "%s  %-16s %s\n", clock(d.At), fit(d.Queue, 16), DecisionWords(d))
	}
	for _, c := range e.Changes {
		fmt.Fprintf(b, "%s  %-16s S %d -> %d %s by %s: %s\n", clock(c.At), fit(c.Queue, 16), c.From, c.To, c.Outcome, Safe(c.Actor), Safe(c.Detail))
	}
	for _, v := range e.Verifications {
		fmt.Fprintf(b, "%s  %-16s S %d -> %d was %s (gain %s, predicted %s)\n", clock(v.At), fit(v.Queue, 16),
			v.From, v.To, v.Result, number(v.Gain, 2), number(v.PredictedGain, 2))
	}
}

// ReadingLine is one reading as a line of text.
func ReadingLine(r control.Reading) string {
	shards := "n/a"
	if r.Shards > 0 {
		shards = fmt.Sprint(r.Shards)
	}
	interval := ""
	if low, ok := r.ShareLow.Get(); ok {
		interval = fmt.Sprintf(" [%.2f..%.2f]", low, r.ShareHigh.Or(low))
	}
	line := fmt.Sprintf("%s  %-16s S %-3s waiters %5s  share %4s%-13s %-7s  %7s jobs/s  wait %7s  depth %6s  lag %6s  applied %s/%s",
		clock(r.At), fit(r.Queue, 16), shards, number(r.Waiters, 1), number(r.Share, 2), interval, r.Bottleneck,
		number(r.EnqueueRate, 0), seconds(r.WaitPerEnqueueS), number(r.Depth, 0), seconds(r.LagS),
		number(r.Applied, 0), number(r.Producers, 0))
	if r.Drain.Active() {
		line += "  " + r.Drain.Short()
	}
	if h := r.Holder; h != nil {
		line += "  holder " + holderWords(*h)
	}
	return line + "\n"
}

func holderWords(h control.Holder) string {
	who := Safe(h.Application)
	if who == "" {
		who = "pid"
	}
	words := fmt.Sprintf("%s (pid %d", who, h.PID)
	if age, ok := h.XactAgeS.Get(); ok {
		words += ", in its transaction for " + seconds(control.Some(age))
	}
	if h.State != "" {
		words += ", " + Safe(h.State)
	}
	if h.Hidden {
		words += ", activity hidden"
	}
	return words + fmt.Sprintf(", %d behind)", h.Waiters)
}

// DecisionWords is a decision as one sentence.
func DecisionWords(d control.Decision) string {
	step := string(d.Action)
	if d.Action != control.ActionHold {
		step = fmt.Sprintf("%s %d -> %d", d.Action, d.From, d.To)
	}
	words := fmt.Sprintf("%s (%s): %s", step, d.Reason, Safe(d.Detail))
	if d.Pending {
		words += "; pending, waits for a hand"
	}
	return words
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05Z") }

func number(v control.Value, decimals int) string {
	f, ok := v.Get()
	if !ok {
		return "n/a"
	}
	return fmt.Sprintf("%.*f", decimals, f)
}

// seconds prints a duration given in seconds with the unit that suits it.
func seconds(v control.Value) string {
	f, ok := v.Get()
	switch {
	case !ok:
		return "n/a"
	case f < 0.001:
		return fmt.Sprintf("%.0fus", f*1e6)
	case f < 1:
		return fmt.Sprintf("%.0fms", f*1e3)
	case f < 120:
		return fmt.Sprintf("%.1fs", f)
	default:
		return time.Duration(f * float64(time.Second)).Round(time.Second).String()
	}
}

func (s *textStream) Summary(sum Summary) error {
	var b strings.Builder
	fmt.Fprintf(&b, "enqueued %s, completed %d, producers waited %.1f s for lanes, %s, %s, ",
		control.Plural(int(sum.Enqueued), "job"), sum.Completed, sum.LaneWaitS, control.Plural(sum.Changes, "change"), control.Plural(sum.Reversals, "reversal"))
	if sum.Errors == 0 {
		b.WriteString("no errors\n")
	} else {
		fmt.Fprintf(&b, "%s:", control.Plural(int(sum.Errors), "error"))
		for _, state := range slices.Sorted(maps.Keys(sum.BySQL)) {
			fmt.Fprintf(&b, " %s %d", state, sum.BySQL[state])
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(s.w, b.String())
	return err
}
