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
	Last        *Result       // what the job before came to, nil before the first
}

// Campaign carries out a plan.
type Campaign struct {
	Bench Bench
	Now   func() time.Time
	// Live says that a job takes as long as it says, so that the time left can be
	// told before the first is done.
	Live bool
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
	open := slices.DeleteFunc(slices.Clone(jobs), book.has)
	resumed := len(jobs) - len(open)
	var spent time.Duration // on jobs done here
	var played int          // their seconds
	var last *Result
	for i, job := range open {
		if err := ctx.Err(); err != nil {
			return book, err
		}
		c.tell(Progress{Done: resumed + i, Total: len(jobs), Job: job, Left: c.left(open[i:], spent, played), Resumed: resumed, Last: last})
		began := c.Now()
		r, err := c.Bench.Run(ctx, job)
		if err != nil {
			return book, fmt.Errorf("%s, %s, seed %d: %w", job.Shape, job.Setting, job.Seed, err)
		}
		r.Job, r.Wall = job, c.Now().Sub(began)
		spent += r.Wall
		played += job.Seconds
		book.Results = append(book.Results, r)
		last = &r
		if c.Save != nil {
			if err := c.Save(book); err != nil {
				return book, err
			}
		}
	}
	c.tell(Progress{Done: len(jobs), Total: len(jobs), Resumed: resumed, Last: last})
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

// between is what a live bench takes to make ready for a job.
const between = 2 * time.Second

// left is what the jobs would take at the pace so far, 0 when that is unknown.
func (c Campaign) left(open []Job, spent time.Duration, played int) time.Duration {
	due := seconds(open)
	switch {
	case played > 0:
		return time.Duration(float64(spent) * float64(due) / float64(played))
	case c.Live:
		return Expected(open)
	}
	return 0
}

// Expected is how long jobs take on a live bench.
func Expected(jobs []Job) time.Duration {
	return time.Duration(seconds(jobs))*time.Second + time.Duration(len(jobs))*between
}
