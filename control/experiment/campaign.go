package experiment

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Progress is told before each job and after the last.
type Progress struct {
	Done, Total int
	Job         Job           // the one that begins, zero after the last
	Left        time.Duration // estimate for all that is left, 0 when not known
	Resumed     int           // jobs that an earlier campaign had done
}

// Campaign carries out a plan.
type Campaign struct {
	Bench Bench
	Now   func() time.Time
	// Save, when set, is given the book after each job, so that a campaign that
	// was stopped can go on. An error of it ends the campaign.
	Save func(Book) error
	// Tell, when set, is told how far it is.
	Tell func(Progress)
}

// Run does what the book does not hold yet, in the plan's order, and returns
// the book with everything in it. It ends at the first error, or when ctx does,
// with what was done so far.
//
// Results of jobs that are not in the plan stay in the book and are judged
// with it only if the caller does so.
func (c Campaign) Run(ctx context.Context, book Book) (Book, error) {
	jobs := book.Plan.Jobs()
	todo := slices.DeleteFunc(slices.Clone(jobs), book.has)
	resumed := len(jobs) - len(todo)
	var spent time.Duration // on jobs done here
	var played int          // their seconds
	for i, job := range todo {
		if err := ctx.Err(); err != nil {
			return book, err
		}
		c.tell(Progress{Done: resumed + i, Total: len(jobs), Job: job, Left: left(todo[i:], spent, played), Resumed: resumed})
		began := c.Now()
		r, err := c.Bench.Run(ctx, job)
		if err != nil {
			return book, fmt.Errorf("%s, %s, seed %d: %w", job.Shape, job.Setting, job.Seed, err)
		}
		r.Job, r.Wall = job, c.Now().Sub(began)
		spent += r.Wall
		played += job.Seconds
		book.Results = append(book.Results, r)
		if c.Save != nil {
			if err := c.Save(book); err != nil {
				return book, err
			}
		}
	}
	c.tell(Progress{Done: len(jobs), Total: len(jobs), Resumed: resumed})
	return book, nil
}

func (c Campaign) tell(p Progress) {
	if c.Tell != nil {
		c.Tell(p)
	}
}

func (b *Book) has(job Job) bool {
	return slices.ContainsFunc(b.Results, func(r Result) bool { return r.Job == job })
}

// left is what the jobs would take at the pace so far.
func left(todo []Job, spent time.Duration, played int) time.Duration {
	if played == 0 {
		return 0
	}
	seconds := 0
	for _, j := range todo {
		seconds += j.Seconds
	}
	return time.Duration(float64(spent) * float64(seconds) / float64(played))
}

// Resume takes the results of an earlier book over into a new plan. Only those
// of jobs that the plan holds, from the same bench, count; dropped is how many
// did not.
func Resume(plan Plan, facts []Fact, earlier Book, bench string) (book Book, dropped int) {
	book = Book{Version: bookVersion, Plan: plan, Facts: facts, Results: []Result{}}
	jobs := plan.Jobs()
	for _, r := range earlier.Results {
		if slices.Contains(jobs, r.Job) && (bench == "" || r.Bench == bench) && !book.has(r.Job) {
			book.Results = append(book.Results, r)
			continue
		}
		dropped++
	}
	return book, dropped
}
