package db

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/control/loop"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func TestOldEntriesGoAndTheNewestStays(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := d.Connect(t)
		install(t, admin)
		s := newStore(t, d.URL, first)
		fill := func(n int, age string) {
			run(t, admin, fmt.Sprintf(`INSERT INTO shardpilot.decision (at, kind, queue, from_shards, to_shards, actor)
				SELECT now() - interval '%s', 'decision', 'q', 1, 1, 'controller' FROM generate_series(1, %d)`, age, n))
		}
		count := func() int { return scan[int](t, admin, "SELECT count(*)::int FROM shardpilot.decision") }
		prune := func(r Retention) Pruned {
			t.Helper()
			p, err := s.Prune(within(t), r)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		fill(2500, "100 days")
		if p := prune(Retention{}); p.Entries != 2499 || p.More || count() != 1 {
			t.Errorf("%+v, %d left", p, count())
		}
		fill(1500, "8 days")
		fill(10, "1 day")
		if p := prune(Retention{Age: time.Hour}); p.Entries != 1501 || count() != 10 { // never younger than a week
			t.Errorf("%+v, %d left", p, count())
		}
		fill(2600, "1 minute")
		if p := prune(Retention{Rows: 1}); count() != minLogRows || p.More {
			t.Errorf("%+v, %d left", p, count())
		}
		run(t, admin, `INSERT INTO shardpilot.producer (instance_id, queue, shards, observed_at) VALUES ('old', 'q', 1, now() - interval '2 days'), ('new', 'q', 1, now())`)
		if p := prune(Retention{}); p.Producers != 1 || scan[string](t, admin, "SELECT instance_id FROM shardpilot.producer") != "new" {
			t.Errorf("%+v", p)
		}
	})
}

func TestLogIsReadNewestFirstAndFiltered(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	admin := d.Connect(t)
	_, err := ReadLog(within(t), admin, LogFilter{}, 0)
	wantFault(t, err, control.FaultFailed, "shardpilot install")
	install(t, admin)
	s := newStore(t, d.URL, first)
	for i := range 5 {
		e := act(control.VerbPause)
		e.Detail = fmt.Sprint(i)
		save(t, s, loop.Batch{Entries: []control.LogEntry{e, {Kind: control.LogDecision, Queue: "other", Actor: "controller"}}})
	}
	got := func(f LogFilter, limit int) []control.LogEntry {
		t.Helper()
		e, err := ReadLog(within(t), admin, f, limit)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := got(LogFilter{}, 0); len(e) != 10 || e[0].Queue != "other" || e[0].ID < e[9].ID {
		t.Errorf("%+v", e)
	}
	e := got(LogFilter{Queue: oddQueue}, 2)
	if len(e) != 2 || e[0].Detail != "4" || e[1].Detail != "3" || e[0].Why != "because" {
		t.Errorf("%+v", e)
	}
	if e := got(LogFilter{Queue: oddQueue, Before: e[1].ID}, 0); len(e) != 3 || e[0].Detail != "2" {
		t.Errorf("%+v", e)
	}
	if e := got(LogFilter{Kinds: []control.LogKind{control.LogDecision}}, 0); len(e) != 5 {
		t.Errorf("%+v", e)
	}
	if e := got(LogFilter{Since: control.Moment{Ago: time.Nanosecond}}, 0); len(e) != 0 {
		t.Errorf("%+v", e)
	}
	if e := got(LogFilter{Since: control.Moment{Ago: time.Hour}}, 0); len(e) != 10 {
		t.Errorf("%d entries within an hour", len(e))
	}
	oldest := got(LogFilter{}, 0)[9].At
	for want, f := range map[int]LogFilter{
		10: {Since: control.Moment{At: oldest}, Until: control.Moment{At: oldest.Add(time.Hour)}},
		0:  {Until: control.Moment{At: oldest}},
		-1: {Until: control.Moment{Ago: time.Hour}},
		5:  {By: "controller"},
	} {
		if e := got(f, 0); len(e) != max(want, 0) {
			t.Errorf("%+v: %d entries", f, len(e))
		}
	}
	who := act(control.VerbPause).Actor
	name, _, _ := strings.Cut(who, "@")
	for by, want := range map[string]int{who: 5, name: 5, name + "x": 0} {
		if e := got(LogFilter{By: by}, 0); len(e) != want || want > 0 && (e[0].Actor != who || e[0].Role != "postgres") {
			t.Errorf("by %q: %+v", by, e)
		}
	}
}

func TestShowSaysWhatIsKnownOfEachQueue(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := withAwa(t, d, rehearsal.Options{})
		install(t, admin)
		inst := discover(t, admin, false)
		lanesOf(t, admin, oddQueue, "", 2)
		lanesOf(t, admin, "plain", "", 1)
		if _, err := admin.Exec(within(t), "INSERT INTO awa.queue_meta (queue, enqueue_shards) VALUES ($1, 2)", oddQueue); err != nil {
			t.Fatal(err)
		}
		s := newStore(t, d.URL, first)
		now := time.Now()
		save(t, s, loop.Batch{
			Entries:  []control.LogEntry{{Kind: control.LogProposed, Queue: oddQueue, Actor: "controller", From: 2, To: 4, Pending: 5, Reason: control.ReasonContended}},
			Propose:  []control.Pending{{Queue: oddQueue, From: 2, To: 4, Generation: 5, At: now, Until: now.Add(time.Hour)}},
			Policies: []control.QueuePolicy{{Queue: oddQueue, Auto: true, Max: 4, AcceptedBy: "a", AcceptedAt: now, UpdatedBy: "a"}},
		})
		show := func(queue string) ([]Shown, error) {
			return Show(within(t), connectTo(t, d.URL, Options{}), inst, queue)
		}
		all, err := show("")
		if err != nil || len(all) != 2 {
			t.Fatalf("%+v %v", all, err)
		}
		one, err := show(oddQueue)
		if err != nil || len(one) != 1 || one[0].Shards != 2 || !one[0].HasLanes || !one[0].Policy.Auto || one[0].Pending.To != 4 || one[0].Last.Reason != control.ReasonContended {
			t.Errorf("%+v %v", one, err)
		}
		plain, err := show("plain")
		if err != nil || plain[0].Shards != 1 || plain[0].Policy.Auto || plain[0].Pending != nil || plain[0].Last != nil || plain[0].Policy.Queue != "plain" {
			t.Errorf("%+v %v", plain, err)
		}
		_, err = show("nope")
		wantFault(t, err, control.FaultRefused, `no queue "nope"`)
		if errors.Is(err, pgx.ErrNoRows) {
			t.Error("the driver shows")
		}
	})
}
