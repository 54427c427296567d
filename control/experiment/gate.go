package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Gate plays a campaign, keeps it in a folder and judges it.
type Gate struct {
	Bench  Bench
	Live   bool // see Campaign
	Folder Folder
	Now    func() time.Time
	Tell   func(Progress) // how far it is; may be nil
	Say    func(string)   // one line for a step; may be nil
}

// Run plays what the book does not hold yet and judges. What fails is measured
// again, as far as the plan allows. The verdict is that of what was measured,
// also when an error or the end of ctx cut it short.
func (g Gate) Run(ctx context.Context, book Book) (Book, Verdict, error) {
	plan := book.Plan
	c := Campaign{Bench: g.Bench, Live: g.Live, Now: g.Now, Tell: g.Tell, Save: func(b Book) error {
		b.Plan = plan // a further round has one of its own
		return g.Folder.Save(b)
	}}
	book, err := c.Run(ctx, book)
	for err == nil {
		again, ok := book.again(book.Verdict())
		if !ok {
			break
		}
		if g.Say != nil {
			g.Say("measuring once more what failed: " + strings.Join(again.Shapes, ", "))
		}
		further := book
		further.Plan = again
		further, err = c.Run(ctx, further)
		book.Results = further.Results
	}
	return book, book.Verdict(), err
}

// Verdict judges the book. Of a shape that was measured once more with another
// seed, those runs alone count, or all of them together when the plan pools them.
// Rounds that were cut short do not count.
func (b Book) Verdict() Verdict {
	v := Judge(slices.DeleteFunc(slices.Clone(b.Results), func(r Result) bool {
		if b.further(r.Seed) {
			return !b.whole(r.Shape, r.Seed)
		}
		return !b.Plan.Pool && b.rounds(r.Shape) > 0
	}), b.Plan.Margins)
	v.Part = b.Plan.Part()
	return v
}

// further says whether a seed is that of a round after the plan's.
func (b Book) further(seed uint64) bool { return !slices.Contains(b.Plan.Seeds, seed) }

// whole says whether a round of a shape is there as a whole: the controller's
// run and one to hold it against.
func (b Book) whole(shape string, seed uint64) bool {
	has := func(static bool) bool {
		return slices.ContainsFunc(b.Results, func(r Result) bool {
			return r.Shape == shape && r.Seed == seed && (r.Setting.Static > 0) == static
		})
	}
	return has(true) && has(false)
}

// rounds counts the further rounds of a shape.
func (b Book) rounds(shape string) int {
	n := 0
	for b.whole(shape, b.seed(n)) {
		n++
	}
	return n
}

// againWords says which shapes were measured once more, and what that counts for.
func (b Book) againWords() string {
	var list []string
	for _, shape := range shapesOf(b.Results) {
		if n := b.rounds(shape); n > 0 {
			list = append(list, fmt.Sprintf("%s ×%d", shape, n))
		}
	}
	switch {
	case len(list) == 0:
		return ""
	case b.Plan.Pool:
		return strings.Join(list, ", ") + "; a line had failed, and all rounds count together"
	}
	return strings.Join(list, ", ") + "; a line had failed, and the last round counts"
}

// runWords says how long the controller's runs are, and at which pace.
func (p Plan) runWords() string {
	var list []string
	for _, shape := range p.Shapes {
		words := fmt.Sprintf("%s %d s", shape, p.length(shape, Setting{}))
		if pace := p.pace(shape); pace > 1 {
			words += fmt.Sprintf(" at pace %g", pace)
		}
		list = append(list, words)
	}
	return strings.Join(list, ", ")
}

// seed is that of the nth further round, from 0.
func (b Book) seed(n int) uint64 {
	return slices.Max(append([]uint64{0}, b.Plan.Seeds...)) + uint64(n) + 1
}

// mostRounds is how often a shape may be measured once more.
func (b Book) mostRounds() int {
	if b.Plan.Pool {
		return 2
	}
	return 1
}

// again is the plan of a further round: the failed shapes that fit into what is
// left of the time for it, under the controller and their best static count.
// Where all rounds count, those are left out that another cannot help.
func (b Book) again(v Verdict) (Plan, bool) {
	p := b.Plan
	p.Shapes, p.Counts = nil, map[string][]int{}
	left := b.Plan.AgainS
	for _, r := range b.Results {
		if b.further(r.Seed) && b.whole(r.Shape, r.Seed) {
			left -= r.Seconds
		}
	}
	round := b.mostRounds()
	failed := v.failed(b.Plan.Pool)
	for _, shape := range failed { // a round that was cut short comes before another
		round = min(round, b.rounds(shape))
	}
	p.Seeds = []uint64{b.seed(round)}
	for _, shape := range failed {
		if round >= b.mostRounds() || b.rounds(shape) != round {
			continue
		}
		more := p
		more.Shapes = append(slices.Clone(p.Shapes), shape)
		p.Counts[shape] = []int{v.Best[shape]}
		if seconds(more.Jobs()) <= left {
			p = more
		}
	}
	return p, len(p.Shapes) > 0
}

// failed lists the shapes with a line that failed. Where rounds are pooled, the
// worst of them decides lines that count what must not happen: these no further
// round can mend, and their shapes are left out.
func (v Verdict) failed(pooled bool) []string {
	var shapes, lost []string
	for _, l := range v.Lines {
		if l.Standing != Failed && l.Standing != Missing {
			continue
		}
		if !slices.Contains(shapes, l.Shape) {
			shapes = append(shapes, l.Shape)
		}
		switch l.Metric {
		case MetricReversals, MetricSteps, MetricPromises:
			lost = append(lost, l.Shape)
		}
	}
	return slices.DeleteFunc(shapes, func(s string) bool { return pooled && slices.Contains(lost, s) })
}
