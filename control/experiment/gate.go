package experiment

import (
	"context"
	"slices"
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
// once more, as far as the plan allows, and then the second time counts. The
// verdict is that of what was measured, also when an error or the end of ctx
// cut it short.
func (g Gate) Run(ctx context.Context, book Book) (Book, Verdict, error) {
	c := Campaign{Bench: g.Bench, Live: g.Live, Now: g.Now, Save: g.Folder.Save, Tell: g.Tell}
	book, err := c.Run(ctx, book)
	v := book.Verdict()
	if err != nil {
		return book, v, err
	}
	again, ok := book.again(v)
	if !ok {
		return book, v, nil
	}
	if g.Say != nil {
		g.Say("measuring once more what failed")
	}
	second := book
	second.Plan = again
	second, err = c.Run(ctx, second)
	book.Results = second.Results
	if g.Folder != "" && err == nil {
		err = g.Folder.Save(book)
	}
	return book, book.Verdict(), err
}

// Verdict judges the book: of a shape that was measured once more with another
// seed, those runs alone.
func (b Book) Verdict() Verdict {
	return Judge(slices.DeleteFunc(slices.Clone(b.Results), func(r Result) bool {
		return !b.second(r) && slices.ContainsFunc(b.Results, func(o Result) bool {
			return o.Shape == r.Shape && b.second(o) && b.completed(o.Shape)
		})
	}), b.Plan.Margins)
}

// second says whether a result is of the second round.
func (b Book) second(r Result) bool { return !slices.Contains(b.Plan.Seeds, r.Seed) }

// completed says whether the second round of a shape is there as a whole: the
// controller's run and one to hold it against.
func (b Book) completed(shape string) bool {
	has := func(static bool) bool {
		return slices.ContainsFunc(b.Results, func(r Result) bool {
			return r.Shape == shape && b.second(r) && (r.Setting.Static > 0) == static
		})
	}
	return has(true) && has(false)
}

// again is the plan of the second round: the failed shapes that fit into the
// time for it, under the controller and their best static count.
func (b Book) again(v Verdict) (Plan, bool) {
	p := b.Plan
	p.Seeds = []uint64{slices.Max(append([]uint64{0}, b.Plan.Seeds...)) + 1}
	p.Shapes, p.Counts = nil, map[string][]int{}
	for _, l := range v.Lines {
		if l.Standing != Failed && l.Standing != Missing || slices.Contains(p.Shapes, l.Shape) || b.completed(l.Shape) {
			continue
		}
		more := p
		more.Shapes = append(slices.Clone(p.Shapes), l.Shape)
		p.Counts[l.Shape] = []int{v.Best[l.Shape]}
		if seconds(more.Jobs()) <= b.Plan.AgainS {
			p = more
		}
	}
	return p, len(p.Shapes) > 0
}
