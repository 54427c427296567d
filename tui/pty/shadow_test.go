package pty

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// demoConn connects to a running demo's database, by what it left in its folder
// for its own server.
func demoConn(t *testing.T, folder string) *pgx.Conn {
	t.Helper()
	password, err := os.ReadFile(filepath.Join(folder, "password"))
	if err != nil {
		t.Fatal(err)
	}
	conf, err := os.ReadFile(filepath.Join(folder, "postgresql.conf"))
	if err != nil {
		t.Fatal(err)
	}
	port := regexp.MustCompile(`(?m)^port\s*=\s*'?(\d+)`).FindSubmatch(conf)
	if port == nil {
		t.Fatalf("no port in %s", conf)
	}
	conn, err := pgx.Connect(bounded(t), "postgres://postgres:"+strings.TrimSpace(string(password))+"@127.0.0.1:"+string(port[1])+"/demo?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(bounded(t)) })
	return conn
}

// finish stops a demo that streams JSON and returns all it said.
func finish(t *testing.T, b *background) []object {
	t.Helper()
	if err := b.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := b.ended(t, patience); code != 128+2 {
		t.Errorf("exit code %d:\n%s", code, b.written())
	}
	all := b.objects(t)
	if sum := keepsContract(t, all); sum.number("errors") != 0 || sum.number("changes") != 0 || sum.number("enqueued") == 0 {
		t.Errorf("summary %v", sum)
	}
	return all
}

// rehearse starts a demo that streams JSON, with its durations divided by pace.
func rehearse(t *testing.T, shape, pace string, more ...string) *background {
	t.Helper()
	return launch(t, nil, append([]string{"demo", "--headless", "--json", "--shape", shape, "--pace", pace}, more...)...)
}

// Three loads that leave the machine room for one another, side by side with
// the one under which the controller wants to grow; the fourth needs the machine.
func TestShadowProposesWhatHelpsAndHoldsWhatDoesNot(t *testing.T) {
	steady := rehearse(t, "steady", "20")
	others := map[string]*background{}
	for shape, more := range map[string][]string{"skewed": {"--shards", "2"}, "stuck": nil, "idle": nil} {
		others[shape] = rehearse(t, shape, "40", more...)
	}
	t.Run("skewed", func(t *testing.T) { holds(t, others["skewed"], "lane", "skewed") })
	t.Run("stuck", func(t *testing.T) {
		last := holds(t, others["stuck"], "stuck", "stuck_holder")
		holder, _ := last["holder"].(map[string]any)
		if h := object(holder); h.number("pid") == 0 || h.text("application") != "nightly-import" || !(h.number("xact_age_s") > 2) {
			t.Errorf("the holder is %v", h)
		}
	})
	t.Run("idle", func(t *testing.T) {
		last := holds(t, others["idle"], "none", "share_low", "few_waiters")
		if !last.has("waiters") || last.number("waiters") != 0 || !last.has("share") || last.number("share") != 0 {
			t.Errorf("contention where nobody works: %v", last)
		}
	})
	t.Run("steady", func(t *testing.T) { proposes(t, steady) })
	t.Run("notify", func(t *testing.T) {
		holds(t, rehearse(t, "notify", "20"), "notify", "notify_bound")
	})
}

// holds waits until the controller holds for one of the reasons and asserts
// that it never wanted to grow. It returns the last reading that names the
// bottleneck.
func holds(t *testing.T, b *background, bottleneck string, reasons ...string) object {
	t.Helper()
	b.await(t, "a hold for the right reason", 2*patience, func() bool {
		return slices.ContainsFunc(pick(b.objects(t), "decision", "orders"), func(d object) bool {
			return d.text("action") == "hold" && slices.Contains(reasons, d.text("reason"))
		})
	})
	// What is in front is the larger half of some samples, and may be another for
	// one reading. Committers that wait for a processor look as if they worked, so
	// that under NOTIFY most of a busy machine's readings may name something else.
	others := func(r object) bool { return r.text("bottleneck") != bottleneck }
	named := func() []object { return slices.DeleteFunc(pick(b.objects(t), "reading", "orders"), others) }
	b.await(t, "a reading that names "+bottleneck, patience, func() bool {
		newest := tail(pick(b.objects(t), "reading", "orders"), 1)
		return len(newest) > 0 && !others(newest[0]) || bottleneck == "notify" && len(named()) > 0
	})
	all := finish(t, b)
	for _, d := range pick(all, "decision", "orders") {
		if d.text("action") == "grow" || d["pending"] == true {
			t.Errorf("it wants to grow: %v", d)
		}
	}
	return tail(named(), 1)[0]
}

// proposes asserts that under contention a doubled count is pending soon (half a
// minute on a machine that has the time), that nothing was written to Awa, and
// that the log holds transitions only.
func proposes(t *testing.T, b *background) {
	t.Helper()
	var step object
	b.await(t, "a pending step", 2*patience, func() bool {
		for _, d := range pick(b.objects(t), "decision", "orders") {
			if d["pending"] == true {
				step = d
				return true
			}
		}
		return false
	})
	if step.text("action") != "grow" || step.number("from") != 1 || step.number("to") != 2 || step.text("mode") != "shadow" ||
		!strings.HasPrefix(step.text("reason"), "contended") || !(step.number("predicted_gain") > 1.15) {
		t.Errorf("the pending step is %v", step)
	}
	readings := pick(b.objects(t), "reading", "orders")
	if waited := moment(t, step).Sub(moment(t, readings[0])); waited > patience {
		t.Errorf("it took %v to propose", waited)
	}
	conn := demoConn(t, folderOf(t, b.written()))
	if n := ask[int](t, conn, `SELECT enqueue_shards FROM awa.queue_meta WHERE queue = 'orders'`); n != 1 {
		t.Errorf("the configured count is %d", n)
	}
	if kept := ask[string](t, conn, `SELECT from_shards || ' to ' || to_shards FROM shardpilot.pending WHERE queue = 'orders'`); kept != "1 to 2" {
		t.Errorf("pending is %s", kept)
	}
	entries := ask[int](t, conn, `SELECT count(*) FROM shardpilot.decision WHERE queue = 'orders'`)
	if entries < 2 || entries > len(readings)/4 {
		t.Errorf("%d entries in the log after %d readings", entries, len(readings))
	}
	repeats := ask[int](t, conn, `SELECT count(*) FROM (
		SELECT (kind, mode, action, reason, from_shards, to_shards) AS said, lag((kind, mode, action, reason, from_shards, to_shards)) OVER (ORDER BY id) AS before
		FROM shardpilot.decision WHERE queue = 'orders' AND kind = 'decision') e WHERE said = before`)
	if repeats != 0 {
		t.Errorf("%d entries say what the one before them said", repeats)
	}
	finish(t, b)
}

func moment(t *testing.T, o object) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, o.text("at"))
	if err != nil {
		t.Fatal(err)
	}
	return at
}
