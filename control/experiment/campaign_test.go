package experiment

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// fakeBench takes a fixed time a job and can be made to fail.
type fakeBench struct {
	now    time.Time
	ran    []Job
	failAt int // the job, counted from 1, that fails; 0 for none
}

var errBench = errors.New("the bench broke")

func (f *fakeBench) Run(_ context.Context, job Job) (Result, error) {
	f.ran = append(f.ran, job)
	f.now = f.now.Add(time.Duration(job.Seconds+10) * time.Second)
	if len(f.ran) == f.failAt {
		return Result{}, errBench
	}
	r := madeUp(job.Shape, job.Setting.Static, job.Seed, 100, 10)
	return r, nil
}

func somePlan() Plan {
	return Plan{Shapes: []string{"steady", "idle"}, Static: []int{1, 2}, Seeds: []uint64{1, 2}, Seconds: 600, Margins: FullMargins()}
}

// TestSettingsAlternateSoThatDriftMeetsAllAlike: each setting comes first,
// second and last about as often, and every job comes once.
func TestSettingsAlternateSoThatDriftMeetsAllAlike(t *testing.T) {
	plan := somePlan()
	plan.Seeds = []uint64{1, 2, 3}
	jobs := plan.Jobs()
	if len(jobs) != 2*3*3 {
		t.Fatalf("%d jobs", len(jobs))
	}
	first := map[Setting]int{}
	for i, j := range jobs {
		if slices.Contains(jobs[:i], j) {
			t.Errorf("%v comes twice", j)
		}
		if i%3 == 0 {
			first[j.Setting]++
		}
	}
	for s, n := range first {
		if n != 2 {
			t.Errorf("%v comes first %d times of 6", s, n)
		}
	}
}

// TestACampaignThatWasStoppedGoesOnWhereItStopped without running anything
// twice, and says how much time is left.
func TestACampaignThatWasStoppedGoesOnWhereItStopped(t *testing.T) {
	bench := &fakeBench{failAt: 6}
	var saved []byte
	var told []Progress
	c := Campaign{
		Bench: bench, Now: func() time.Time { return bench.now },
		Save: func(b Book) (err error) { saved, err = b.JSON(); return err },
		Tell: func(p Progress) { told = append(told, p) },
	}
	plan := somePlan()
	book := NewBook(plan, nil)
	if _, err := c.Run(context.Background(), book); !errors.Is(err, errBench) {
		t.Fatalf("the bench's error is lost: %v", err)
	}
	if p := told[3]; p.Done != 3 || p.Total != 12 || p.Left != 9*610*time.Second {
		t.Errorf("after three jobs: %+v", p)
	}
	earlier, err := ReadBook(saved)
	if err != nil {
		t.Fatal(err)
	}
	if book = earlier; len(book.Results) != 5 {
		t.Fatalf("%d results are kept", len(book.Results))
	}
	bench.failAt = 0
	told = nil
	book, err = c.Run(context.Background(), book)
	if err != nil || len(book.Results) != 12 {
		t.Fatalf("%d results, %v", len(book.Results), err)
	}
	if told[0].Done != 5 || told[0].Resumed != 5 || told[len(told)-1].Done != 12 {
		t.Errorf("progress %+v … %+v", told[0], told[len(told)-1])
	}
	if len(bench.ran) != 13 {
		t.Errorf("%d jobs ran, 12 and the one that failed were due", len(bench.ran))
	}
	for _, r := range book.Results {
		if r.Wall != 610*time.Second {
			t.Errorf("%v took %v", r.Job, r.Wall)
		}
	}
}

// TestACampaignEndsWhenItIsStopped and keeps what was done.
func TestACampaignEndsWhenItIsStopped(t *testing.T) {
	bench := &fakeBench{}
	ctx, stop := context.WithCancel(context.Background())
	c := Campaign{Bench: bench, Now: func() time.Time { return bench.now }, Save: func(b Book) error {
		if len(b.Results) == 2 {
			stop()
		}
		return nil
	}}
	book := NewBook(somePlan(), nil)
	book, err := c.Run(ctx, book)
	if !errors.Is(err, context.Canceled) || len(book.Results) != 2 || len(bench.ran) != 2 {
		t.Errorf("%d results, %v", len(book.Results), err)
	}
}

// TestTheSimulatorIsABench runs a whole campaign on the
// simulator and judges it: the machinery and the verdict in one piece.
func TestTheSimulatorIsABench(t *testing.T) {
	plan := Plan{Shapes: []string{"steady", "idle"}, Static: []int{1, 8}, Seeds: []uint64{1}, Seconds: 3 * 3600, Margins: FullMargins()}
	c := Campaign{Bench: Simulator{Tapes: shelf(), Options: Options{Every: 3}}, Now: time.Now}
	book := NewBook(plan, nil)
	book, err := c.Run(context.Background(), book)
	if err != nil {
		t.Fatal(err)
	}
	if v := Judge(book.Results, plan.Margins); !v.Passed {
		t.Errorf("%+v", v.Lines)
	}
	if _, err := (Simulator{Tapes: shelf()}).Run(context.Background(), Job{Shape: "no such", Seconds: 1}); err == nil {
		t.Error("a shape that does not exist was run")
	}
}
