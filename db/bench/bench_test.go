package bench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/control/experiment"
	"shardpilot/db"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

// within is a context for one test; the machine may be busy.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func config(t *testing.T, d *pgtest.DB) *db.Config {
	t.Helper()
	cfg, err := db.Parse(d.URL, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func on(t *testing.T, d *pgtest.DB, o Options) *Bench {
	t.Helper()
	o.Now = time.Now
	b, err := On(within(t), config(t, d), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// schemas lists those that an experiment makes.
func schemas(t *testing.T, d *pgtest.DB) string {
	t.Helper()
	var list string
	if err := d.Connect(t).QueryRow(within(t), `SELECT coalesce(string_agg(nspname, ' ' ORDER BY nspname), '') FROM pg_namespace WHERE nspname IN ('awa', 'shardpilot')`).Scan(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestARunMeasuresFromAFreshStart: a fixed count, then the real controller. On a
// machine that others keep busy it may see too few samples to grow in a short
// run, so it gets several; one step is enough.
func TestARunMeasuresFromAFreshStart(t *testing.T) {
	d := pgtest.One(t)
	b := on(t, d, Options{Slow: 8, Max: 2, Control: controller(func(p *control.Policy) { p.Coverage = 0.5 })})
	job := experiment.Job{Shape: "steady", Setting: experiment.Setting{Static: 2}, Seed: 1, Seconds: 3, Pace: 40}
	fixed, err := b.Run(within(t), job)
	if err != nil {
		t.Fatal(err)
	}
	if fixed.Start != 2 || fixed.End != 2 || len(fixed.Changes) > 0 || fixed.Bench != b.Name() || !strings.HasPrefix(b.Name(), "PostgreSQL "+d.Version) {
		t.Errorf("%+v", fixed)
	}
	sound(t, fixed)

	job.Setting.Static, job.Seconds = 0, 10
	for try := range 5 {
		own, err := b.Run(within(t), job)
		if err != nil {
			t.Fatal(err)
		}
		sound(t, own)
		if own.Start != 1 {
			t.Fatalf("run %d began at %d", try, own.Start)
		}
		if len(own.Changes) == 0 {
			continue
		}
		if c := own.Changes[0]; len(own.Changes) > 1 || c.From != 1 || c.To != 2 || c.AtS <= 0 || own.End != 2 {
			t.Errorf("%+v, %d in the end", own.Changes, own.End)
		}
		if all := secondsOf(own); own.ShardS <= all || own.ShardS >= 2*all {
			t.Errorf("%.1f shard-seconds in %.1f s", own.ShardS, all)
		}
		return
	}
	t.Error("the controller never grew")
}

func secondsOf(r experiment.Result) (sum float64) {
	for _, b := range r.Bins {
		sum += b.Seconds
	}
	return sum
}

// sound says that a run measured something and nothing went wrong.
func sound(t *testing.T, r experiment.Result) {
	t.Helper()
	if r.Enqueued == 0 || r.P50S <= 0 || r.P99S < r.P50S || len(r.Errors) > 0 || len(r.Broken) > 0 {
		t.Errorf("%d jobs, p50 %v, p99 %v, errors %v, broken %v", r.Enqueued, r.P50S, r.P99S, r.Errors, r.Broken)
	}
	var jobs, timed uint64
	share := 0.0
	for _, b := range r.Bins {
		jobs += b.Jobs
		if share = max(share, b.Share); b.Share < 0 || b.Share > 1 {
			t.Errorf("a wait share of %v", b.Share)
		}
		for _, l := range b.Latency {
			timed += l.N
		}
	}
	if jobs != r.Enqueued || timed != jobs || secondsOf(r) < float64(r.Seconds) {
		t.Errorf("%d jobs, %d in bins, %d timed, over %v s", r.Enqueued, jobs, timed, secondsOf(r))
	}
	if share == 0 && r.Shape == "steady" {
		t.Errorf("16 sessions on %d lanes never waited", r.End)
	}
}

// TestADatabaseOfSomebodyElseIsRefused and left as it is; what an experiment
// left behind is taken over, and nothing stays in the end.
func TestADatabaseOfSomebodyElseIsRefused(t *testing.T) {
	d := pgtest.One(t)
	conn := d.Connect(t)
	refused := func(what string) {
		t.Helper()
		var f *control.Fault
		if _, err := On(within(t), config(t, d), Options{Now: time.Now}); !errors.As(err, &f) || f.Kind != control.FaultRefused || f.Hint == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := rehearsal.Install(within(t), conn, rehearsal.Options{}); err != nil {
		t.Fatal(err)
	}
	refused("a rehearsal")
	if _, err := db.Install(within(t), conn); err != nil {
		t.Fatal(err)
	}
	refused("a rehearsal with shardpilot")
	if got := schemas(t, d); got != "awa shardpilot" {
		t.Fatalf("the refusal left %q", got)
	}
	if err := rehearsal.Uninstall(within(t), conn); err != nil {
		t.Fatal(err)
	}
	refused("a shardpilot alone")
	if _, err := db.Uninstall(within(t), conn, false); err != nil {
		t.Fatal(err)
	}
	b := on(t, d, Options{})
	if words := b.Intent(time.Hour); !strings.Contains(words, d.Name) || !strings.Contains(words, "drops") || strings.Contains(words, "password") {
		t.Errorf("asks %q", words)
	}
	if _, err := b.Run(within(t), experiment.Job{Shape: "idle", Setting: experiment.Setting{Static: 1}, Seconds: 1}); err != nil {
		t.Fatal(err)
	}
	again := on(t, d, Options{})
	if _, err := again.Run(within(t), experiment.Job{Shape: "idle", Setting: experiment.Setting{Static: 1}, Seconds: 1}); err != nil {
		t.Errorf("on what another experiment left behind: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if got := schemas(t, d); got != "" {
		t.Errorf("the end left %q", got)
	}
}

// TestARunEndsWithItsControllerOrItsContext and says why.
func TestARunEndsWithItsControllerOrItsContext(t *testing.T) {
	d := pgtest.One(t)
	job := experiment.Job{Shape: "idle", Seconds: 600}
	gone := errors.New("gone")
	for name, tc := range map[string]struct {
		control Control
		want    error
	}{
		"before it was ready": {func(context.Context, *db.Config, float64, func()) error { return gone }, gone},
		"in the middle":       {func(_ context.Context, _ *db.Config, _ float64, ready func()) error { ready(); return gone }, gone},
		"without a word":      {func(context.Context, *db.Config, float64, func()) error { return nil }, errNoReason},
	} {
		b := on(t, d, Options{Control: tc.control})
		if _, err := b.Run(within(t), job); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, stop := context.WithCancelCause(within(t))
	b := on(t, d, Options{Control: func(ctx context.Context, _ *db.Config, _ float64, ready func()) error {
		ready()
		stop(gone)
		<-ctx.Done()
		return nil
	}})
	if _, err := b.Run(ctx, job); !errors.Is(err, gone) {
		t.Errorf("stopped: %v", err)
	}
}

// TestARunOnARealAwa: its schema, its function and its worker, a copy of a fresh
// database for each run, and the stuck transaction on the lane it should keep.
func TestARunOnARealAwa(t *testing.T) {
	venv := pgtest.AwaVenv(t)
	own := func(p Private) (*Bench, error) {
		p.PG, p.Say = "18", func(string) {}
		return Own(within(t), p, Options{Slow: 8, Max: 2, Now: time.Now, Control: controller(func(p *control.Policy) { p.Coverage = 0.5 })})
	}
	var f *control.Fault
	if _, err := own(Private{Awa: t.TempDir()}); !errors.As(err, &f) || f.Kind != control.FaultUsage {
		t.Errorf("an environment without Awa: %v", err)
	}
	b, err := own(Private{Awa: venv})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	if !strings.HasPrefix(b.Name(), "PostgreSQL 18") || !strings.Contains(b.Name(), ", Awa's schema ") {
		t.Errorf("it plays on %s", b.Name())
	}
	done := func() (completed, failed int) {
		if err := b.conn.QueryRow(within(t), `SELECT count(*) FILTER (WHERE state = 'completed')::int, count(*) FILTER (WHERE state NOT IN ('completed', 'running', 'available'))::int
			FROM awa.jobs WHERE queue = $1`, queue).Scan(&completed, &failed); err != nil {
			t.Fatal(err)
		}
		return completed, failed
	}
	job := experiment.Job{Shape: "steady", Setting: experiment.Setting{Static: 2}, Seed: 1, Seconds: 4, Pace: 40}
	fixed, err := b.Run(within(t), job)
	if err != nil {
		t.Fatal(err)
	}
	sound(t, fixed)
	if completed, failed := done(); completed == 0 || failed > 0 {
		t.Errorf("of %d jobs %d are completed, %d failed", fixed.Enqueued, completed, failed)
	} else {
		t.Logf("of %d jobs %d are completed", fixed.Enqueued, completed)
	}
	job.Setting.Static = 0
	job.Seconds = 12
	grew := false
	for try := 0; try < 5 && !grew; try++ {
		with, err := b.Run(within(t), job)
		if err != nil {
			t.Fatal(err)
		}
		sound(t, with)
		grew = len(with.Changes) == 1 && with.Changes[0].To == 2
	}
	if !grew {
		t.Error("the controller never grew")
	}
	stuck, err := b.Run(within(t), experiment.Job{Shape: "stuck", Setting: experiment.Setting{Static: 1}, Seed: 1, Seconds: 10, Pace: 40})
	if err != nil {
		t.Fatal(err)
	}
	// It keeps the lane for 1.5 s; without it sixteen times 40 ms is the longest.
	longest := 0.0
	for _, bin := range stuck.Bins {
		for _, l := range bin.Latency {
			longest = max(longest, l.UpToS)
		}
	}
	if longest < 1.25 {
		t.Errorf("behind a transaction that keeps the lane for 1.5 s nobody waited longer than %.2f s", longest)
	}
}
