package act

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/db"
	"shardpilot/db/local/pgtest"
)

// awaDesk is a desk whose Awa is the real one, in a database of its own.
func awaDesk(t *testing.T, d *pgtest.DB) (k *desk, venv string) {
	t.Helper()
	venv = pgtest.AwaVenv(t)
	pgtest.MigrateAwa(t, d.URL)
	k = &desk{t: t, d: d, admin: d.Connect(t)}
	if !scan[bool](t, k.admin, `SELECT awa.storage_auto_finalize_if_fresh('awa')`) {
		t.Fatal("Awa did not take its queue storage into use")
	}
	if _, err := db.Install(within(t), k.admin); err != nil {
		t.Fatal(err)
	}
	return k, venv
}

// awaCrowd are sessions that enqueue by Awa's own function, and keep their
// transaction open for a while, in bursts.
type awaCrowd struct {
	mu     sync.Mutex
	jobs   int
	waited time.Duration // in the statement that enqueues
	errs   []error
	end    context.CancelFunc
	all    sync.WaitGroup
}

func (k *desk) awaCrowd(sessions int, hold, on, off time.Duration) *awaCrowd {
	k.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := &awaCrowd{end: cancel}
	began := time.Now()
	for n := range sessions {
		conn := k.d.ConnectSpread(k.t, k.d.URL, n, 4)
		c.all.Go(func() {
			for ctx.Err() == nil {
				if time.Since(began)%(on+off) > on {
					time.Sleep(5 * time.Millisecond)
					continue
				}
				took, err := awaJob(func(sql string, args ...any) error {
					_, err := conn.Exec(context.Background(), sql, args...)
					return err
				}, hold)
				c.mu.Lock()
				if err != nil {
					c.errs = append(c.errs, err)
				} else {
					c.jobs++
					c.waited += took
				}
				c.mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	k.t.Cleanup(func() { c.stop() })
	return c
}

func awaJob(exec func(string, ...any) error, hold time.Duration) (took time.Duration, err error) {
	if err := exec(`BEGIN`); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := exec(`SELECT awa.insert_job_compat(p_kind => 'work', p_queue => $1, p_args => '{"n": 1}')`, hot); err != nil {
		return 0, err
	}
	took = time.Since(began)
	time.Sleep(hold)
	return took, exec(`COMMIT`)
}

func (c *awaCrowd) so() (jobs int, waited time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.jobs, c.waited
}

func (c *awaCrowd) stop() (jobs int, errs []error) {
	c.end()
	c.all.Wait()
	return c.jobs, c.errs
}

// awaWork lets Awa's own worker complete so many jobs of the queue and returns
// how many times it was given one.
func (k *desk) awaWork(venv string, jobs int) (given int) {
	k.t.Helper()
	client := exec.CommandContext(within(k.t), filepath.Join(venv, "bin", "python"), filepath.Join("..", "..", "probe", "testdata", "awa_client.py"), k.d.URL)
	client.Stderr = os.Stderr
	in, err := client.StdinPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	out, err := client.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		k.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(in, `{"do": "work", "queue": %q, "jobs": %d}`+"\n", hot, jobs); err != nil {
		k.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		k.t.Fatalf("Awa's worker: %v", err)
	}
	var answer struct {
		OK    int    `json:"ok"`
		Error string `json:"error"`
	}
	if err := json.Unmarshal(line, &answer); err != nil || answer.Error != "" {
		k.t.Fatalf("Awa's worker says %s (%v)", line, err)
	}
	_ = in.Close() // it ends with its input
	if err := client.Wait(); err != nil {
		k.t.Errorf("Awa's worker: %v", err)
	}
	return answer.OK
}

// With the real Awa: up under contention, no lane that is not there, and down
// when Awa's own worker has emptied the upper lanes, every job once.
func TestAwaGrowsUnderContentionAndShrinksWhenDrained(t *testing.T) {
	for _, version := range []string{"17", "18"} {
		t.Run("pg"+version, func(t *testing.T) {
			d := pgtest.On(t, version)
			t.Parallel()
			k, venv := awaDesk(t, d)
			crowd := k.awaCrowd(12, 20*time.Millisecond, 400*time.Millisecond, 150*time.Millisecond)
			s := k.hire("anna", brisk(), control.ModeEnforced).settled()
			s.allow(4, true)

			var waits []float64
			lastJobs, lastWaited := crowd.so()
			mark := func() {
				jobs, waited := crowd.so()
				waits = append(waits, (waited-lastWaited).Seconds()/float64(jobs-lastJobs))
				lastJobs, lastWaited = jobs, waited
			}
			for _, step := range []struct{ from, to int }{{1, 2}, {2, 4}} {
				k.awaitLog("the step up", applied(step.from, step.to))
				mark()
				if !k.lanes(step.to) {
					t.Errorf("at %d lanes are missing", step.to)
				}
				if v := k.awaitLog("its verdict", judged(step.from, step.to)); v.Verdict != control.VerdictKept {
					t.Error(story(v))
				}
			}
			mark()
			jobs, errs := crowd.stop()
			if len(errs) > 0 {
				t.Fatalf("%d producers failed: %v", len(errs), errs[0])
			}
			if !(waits[1] < 0.8*waits[0] && waits[2] < 0.8*waits[1]) {
				t.Errorf("waits for each job at 1, 2 and 4 shards: %.3v s", waits)
			}

			// Nobody works: calm or not, the count stays.
			s.await("calm with jobs above", func(d control.Decision, r control.Reading) bool {
				drained, ok := r.DrainedAbove(2)
				return ok && !drained && d.Action == control.ActionHold && hasBlocker(d, control.ReasonNotDrained) &&
					!hasBlocker(d, control.ReasonNotCalm) && !hasBlocker(d, control.ReasonNotCalmYet) && !hasBlocker(d, control.ReasonRateFalling)
			})
			if used := scan[int](t, k.admin, `SELECT count(DISTINCT enqueue_shard)::int FROM awa.ready_entries WHERE queue = $1`, hot); used < 2 || k.count() != 4 {
				t.Errorf("jobs on %d shards, count %d", used, k.count())
			}
			began := s.server()
			if given := k.awaWork(venv, jobs); given != jobs {
				t.Errorf("%d jobs enqueued, Awa's worker was given %d", jobs, given)
			}
			_, empty := s.await("an empty queue", func(_ control.Decision, r control.Reading) bool { return r.Depth.OK() && r.Depth.Or(1) == 0 })
			if drained, ok := empty.DrainedAbove(1); !ok || !drained {
				t.Errorf("drained %v, known %v", drained, ok)
			}
			for _, step := range []struct{ from, to int }{{4, 2}, {2, 1}} {
				if e := k.awaitLog("the step down", applied(step.from, step.to)); e.At.Before(began) || e.Actor != "controller" {
					t.Error(story(e))
				}
			}
			oneByOne(t, k, min(s.policy.GrowCooldown, s.policy.ShrinkCooldown), s.policy.Settle)
			if k.count() != 1 {
				t.Errorf("count %d", k.count())
			}
			t.Logf("%d jobs, each once; waits for each at 1, 2 and 4 shards %.3v s\n%s", jobs, waits, k.changes())
		})
	}
}

func TestAwaRowsAboveALoweredCountDrainOnceEach(t *testing.T) {
	d := pgtest.On(t, "17")
	t.Parallel()
	k, venv := awaDesk(t, d)
	crowd := k.awaCrowd(8, time.Millisecond, time.Hour, 0)
	s := k.hire("anna", brisk(), control.ModeShadow).settled()
	set := func(c control.Command) {
		t.Helper()
		c.Verb, c.Why, c.Accept = control.VerbOverride, "a test", true
		if res := s.ask(c); res.Change == nil || res.Change.Outcome != control.OutcomeApplied {
			t.Fatalf("%+v", res.Change)
		}
	}
	set(control.Command{From: 1, To: 4})
	for deadline := time.Now().Add(actPatience); scan[int](t, k.admin, `SELECT count(DISTINCT enqueue_shard)::int FROM awa.ready_entries`) < 4; {
		if time.Now().After(deadline) {
			t.Fatal("the count never reached the producers")
		}
	}
	s.await("four", func(_ control.Decision, r control.Reading) bool { return r.Shards == 4 })
	set(control.Command{From: 4, To: 1, Force: true}) // over jobs, and under producers
	was, _ := crowd.so()
	for now, deadline := was, time.Now().Add(actPatience); now < was+40 && time.Now().Before(deadline); now, _ = crowd.so() {
		time.Sleep(10 * time.Millisecond)
	}
	jobs, errs := crowd.stop()
	if len(errs) > 0 {
		t.Fatalf("%d producers failed: %v", len(errs), errs[0])
	}
	s.await("draining", func(_ control.Decision, r control.Reading) bool {
		drained, ok := r.DrainedAbove(1)
		return r.Shards == 1 && ok && !drained
	})
	if given := k.awaWork(venv, jobs); given != jobs {
		t.Errorf("%d jobs enqueued, Awa's worker was given %d", jobs, given)
	}
	s.await("drained", func(_ control.Decision, r control.Reading) bool {
		drained, ok := r.DrainedAbove(1)
		return ok && drained && r.Depth.Or(1) == 0
	})
	t.Logf("%d jobs, each once\n%s", jobs, k.changes())
}
