package probe

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"shardpilot/control"
)

var epoch = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func TestAHolderIsStuckWhenItKeptTheLaneNotWhenItStoodInLineForIt(t *testing.T) {
	old, young := control.Some(5), control.Some(0.01)
	for name, c := range map[string]struct {
		notify bool
		ahead  bool
		held   time.Duration
		s      session
		known  bool
		want   control.Bottleneck
	}{
		"short transaction":                 {s: session{state: "active", xactAge: young}, known: true, want: control.BottleneckLane},
		"old transaction, lane just got":    {held: 250 * time.Millisecond, s: session{state: "active", xactAge: old, stateAge: old}, known: true, want: control.BottleneckLane},
		"seen with the lane for two second": {held: 2 * time.Second, s: session{state: "active", xactAge: old}, known: true, want: control.BottleneckStuck},
		"idle in transaction for long":      {s: session{state: "idle in transaction", xactAge: old, stateAge: old}, known: true, want: control.BottleneckStuck},
		"idle in transaction for a moment":  {s: session{state: "idle in transaction", xactAge: old, stateAge: young}, known: true, want: control.BottleneckLane},
		"idle after a failed statement":     {s: session{state: "idle in transaction (aborted)", xactAge: old, stateAge: old}, known: true, want: control.BottleneckStuck},
		"in the NOTIFY queue, however long": {notify: true, held: time.Minute, s: session{xactAge: old}, known: true, want: control.BottleneckNotify},
		"ahead in the NOTIFY queue":         {ahead: true, s: session{xactAge: young}, known: true, want: control.BottleneckNotify},
		"ahead there, kept the lane":        {ahead: true, held: 2 * time.Second, s: session{xactAge: old}, known: true, want: control.BottleneckStuck},
		"hidden, ahead there":               {ahead: true, s: session{hidden: true}, known: true, want: control.BottleneckNotify},
		"hidden":                            {s: session{hidden: true}, known: true, want: control.BottleneckUnknown},
		"hidden, in the NOTIFY queue":       {notify: true, s: session{hidden: true}, known: true, want: control.BottleneckNotify},
		"hidden, kept the lane":             {held: 3 * time.Second, s: session{hidden: true}, known: true, want: control.BottleneckStuck},
		"gone before we asked":              {want: control.BottleneckUnknown},
	} {
		if got := classify(c.notify, c.ahead, c.held, 2*time.Second, c.s, c.known); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestAHolderThatMovedOnShowsNothingOfWhatItDoesNow(t *testing.T) {
	in := session{app: "x", state: "active", xactAge: control.Some(1), began: epoch}
	if got := in.then(epoch.Add(time.Second)); got != in {
		t.Errorf("still in the transaction that the look saw: %+v", got)
	}
	for name, s := range map[string]session{
		"next transaction": {app: "x", state: "active", event: "Lock:advisory", xactAge: control.Some(0), began: epoch.Add(time.Minute)},
		"idle":             {app: "x", state: "idle"},
	} {
		if got := s.then(epoch); got.state != "" || got.event != "" || got.xactAge.OK() || got.app != "x" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestTheBottleneckFollowsTheWaiting(t *testing.T) {
	w := control.Some(2)
	for name, c := range map[string]struct {
		causes causes
		w      control.Value
		want   control.Bottleneck
	}{
		"nobody looked":            {w: control.None(), want: control.BottleneckUnknown},
		"nobody waited":            {w: control.Some(0), want: control.BottleneckNone},
		"one short wait":           {causes{lane: 1}, control.Some(1.0 / 120), control.BottleneckNone},
		"lane":                     {causes{lane: 9, notify: 1}, w, control.BottleneckLane},
		"half notify":              {causes{lane: 5, notify: 5}, w, control.BottleneckNotify},
		"half stuck is not most":   {causes{lane: 5, stuck: 5}, w, control.BottleneckLane},
		"most stuck":               {causes{lane: 4, stuck: 5}, w, control.BottleneckStuck},
		"half hidden":              {causes{lane: 5, unknown: 5}, w, control.BottleneckUnknown},
		"waiters without a holder": {causes{}, w, control.BottleneckUnknown},
	} {
		if got := c.causes.bottleneck(c.w); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestCauseSharesSumToOneOrAreAbsent(t *testing.T) {
	if s := (causes{}).shares(); s.Lane.OK() || s.Notify.OK() || s.Stuck.OK() || s.Unknown.OK() {
		t.Errorf("nobody waited: %+v", s)
	}
	rapid.Check(t, func(t *rapid.T) {
		var c causes
		for range rapid.IntRange(1, 20).Draw(t, "holders") {
			class := rapid.SampledFrom([]control.Bottleneck{control.BottleneckLane, control.BottleneckNotify,
				control.BottleneckStuck, control.BottleneckUnknown}).Draw(t, "class")
			c.put(class, float64(rapid.IntRange(1, 50).Draw(t, "waiters")))
		}
		s := c.shares()
		if all := s.Lane.Or(-9) + s.Notify.Or(-9) + s.Stuck.Or(-9) + s.Unknown.Or(-9); math.Abs(all-1) > 1e-9 {
			t.Fatalf("%+v sums to %v", s, all)
		}
	})
}

func TestASequenceGivesARateFromTheSecondPointOn(t *testing.T) {
	at := func(s float64) time.Time { return epoch.Add(time.Duration(s * float64(time.Second))) }
	n := func(v int64) *int64 { return &v }
	l := &lane{}
	for i, step := range []struct {
		last  *int64
		at    time.Time
		rate  control.Value
		moved bool
	}{
		{n(100), at(0), control.None(), false},
		{n(100), at(1), control.Some(0), false},
		{n(150), at(3), control.Some(25), true},
		{nil, at(4), control.None(), false},
		{n(200), at(5), control.None(), false},
		{n(210), at(6), control.Some(10), true},
		{n(3), at(7), control.None(), false}, // made anew
		{n(5), at(8), control.Some(2), true},
		{n(9), at(8), control.None(), false}, // no time passed
	} {
		if moved := l.advance(step.last, step.at); moved != step.moved || l.rate != step.rate {
			t.Errorf("step %d: rate %v moved %v, want %v %v", i, l.rate, moved, step.rate, step.moved)
		}
	}
}

func TestDrainedNeedsEveryLaneAboveEmptyUnlockedAndVouchedFor(t *testing.T) {
	look := epoch.Add(time.Minute)
	lanes := func(n int) *queue {
		q := &queue{}
		for i := range n {
			q.lanes = append(q.lanes, &lane{queue: q, shard: i, depth: control.Some(0), vouched: look, lockedAt: epoch})
		}
		return q
	}
	q := lanes(4)
	if got := q.drained(4, look.Add(2*time.Second)); !got[0] || !got[3] {
		t.Errorf("all empty: %v", got)
	}
	q.lanes[1].depth = control.Some(7)
	if got := q.drained(4, look.Add(2*time.Second)); got[0] || got[1] || !got[2] || !got[3] {
		t.Errorf("seven jobs in shard 1: %v", got)
	}
	q = lanes(4)
	q.lanes[3].lockedAt = look // a producer in the very look that vouches
	if got := q.drained(4, look.Add(2*time.Second)); got[0] || got[3] {
		t.Errorf("producer under way in shard 3: %v", got)
	}
	q.lanes[3].lockedAt = look.Add(time.Second) // and in a later one
	if got := q.drained(4, look.Add(2*time.Second)); got[3] {
		t.Errorf("producer seen since: %v", got)
	}
	q = lanes(4)
	q.lanes[2].depth = control.None()
	if got := q.drained(4, look.Add(2*time.Second)); got != nil {
		t.Errorf("unknown depth: %v", got)
	}
	q = lanes(4)
	q.lanes[0].vouched = time.Time{}
	if got := q.drained(4, look.Add(2*time.Second)); got != nil {
		t.Errorf("no look vouches: %v", got)
	}
	if got := lanes(4).drained(4, look.Add(2*time.Minute)); got != nil {
		t.Errorf("vouched for two minutes ago: %v", got)
	}
	q = lanes(4)
	q.lanes[3].registered = look // nothing looked at its locks since it is known
	if got := q.drained(4, look.Add(2*time.Second)); got != nil {
		t.Errorf("a lane no look could see: %v", got)
	}
	q.lanes[3].lockedAt = look.Add(time.Second)
	if got := q.drained(4, look.Add(2*time.Second)); got == nil || got[3] {
		t.Errorf("and one that saw a lock on it: %v", got)
	}
	if got := (&queue{}).drained(0, look); got != nil {
		t.Errorf("no lanes: %v", got)
	}
}

func TestATurnVisitsEveryLaneOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, n := rapid.IntRange(1, 50).Draw(t, "lanes"), rapid.IntRange(1, 60).Draw(t, "chunk")
		all := make([]int, total)
		for i := range all {
			all[i] = i
		}
		seen, at := map[int]int{}, 0
		for range (total + n - 1) / n {
			var some []int
			some, at = turn(all, at, n)
			for _, i := range some {
				seen[i]++
			}
		}
		if len(seen) != total {
			t.Fatalf("%d of %d seen", len(seen), total)
		}
	})
}

func TestTheLaneRegisterKeepsWhatItKnowsOfLanesThatStay(t *testing.T) {
	s := newState()
	c := config("").withDefaults()
	s.configure(map[string]int{"a": 1, "b": 1}, epoch, epoch, c)
	row := func(name string, shard int, key int64) lane {
		return lane{queue: &queue{name: name}, priority: 2, shard: shard, key: key, enqueue: "e", claim: "c"}
	}
	s.register(nil, []lane{row("a", 0, 1), row("b", 0, 2), row("unlisted", 0, 3)}, epoch)
	kept := s.byKey[1]
	kept.depth = control.Some(5)
	s.register([]string{"a"}, []lane{row("a", 1, 4), row("a", 0, 1)}, epoch)
	if len(s.byKey) != 3 || s.byKey[1] != kept || s.byKey[2] == nil || s.byKey[4] == nil || s.byKey[3] != nil {
		t.Fatalf("keys %v", s.keys)
	}
	if lanes := s.queues["a"].lanes; len(lanes) != 2 || lanes[0] != kept || lanes[1].shard != 1 {
		t.Errorf("lanes not in order: %+v", lanes)
	}
	s.register(nil, []lane{row("a", 0, 9)}, epoch) // the schema was made anew: another key
	if len(s.byKey) != 1 || s.byKey[9] == nil || s.byKey[9].depth.OK() {
		t.Errorf("after a new schema: %v", s.keys)
	}
	if gone := s.configure(map[string]int{"b": 1}, epoch, epoch, c); len(gone) != 1 || gone[0] != "a" {
		t.Errorf("gone %v", gone)
	}
}

func TestACountThatChangesRestartsTheWindowAndThePicks(t *testing.T) {
	s := newState()
	c := config("").withDefaults()
	s.configure(map[string]int{"a": 2}, epoch, epoch, c)
	q := s.queues["a"]
	q.window.Add(epoch, 3, 1, 1)
	q.trail = []moment{{}}
	g := q.group(session{client: "10.0.0.1", app: "x"})
	g.pick(7, 1, 2, epoch)
	later := epoch.Add(time.Minute)
	if changed := s.configure(map[string]int{"a": 4}, later, later, c); len(changed) != 1 {
		t.Errorf("changed %v", changed)
	}
	if q.prev != 2 || q.shards != 4 || !q.changedAt.Equal(later) || len(q.trail) != 0 || len(g.picks) != 0 ||
		q.window.Share(epoch, time.Minute).Samples != 0 {
		t.Errorf("after 2 → 4: %+v, picks %v", q, g.picks)
	}
	q.shards = 0 // a read failed, the next one finds the same count
	s.configure(map[string]int{"a": 4}, later, later, c)
	if q.prev != 2 || q.shards != 4 {
		t.Errorf("a failed read made a change of it: %+v", q)
	}
}

func TestALaneThatIsNotReadIsFollowedByItsSegments(t *testing.T) {
	at := func(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	l := &lane{}
	for i, step := range []struct {
		end  int64
		at   time.Time
		hot  bool
		rate control.Value
		sign bool
	}{
		{0, at(0), false, control.None(), false}, // the first look says nothing yet
		{0, at(10), false, control.Some(0), false},
		{51, at(20), false, control.Some(5.1), true},
		{51, at(30), false, control.Some(0), false},
		{0, at(40), false, control.None(), true}, // pruned: what came in between is not known
		{0, at(50), false, control.Some(0), false},
	} {
		if sign := l.follow(step.end, step.at, step.hot); sign != step.sign || l.rate != step.rate {
			t.Errorf("step %d: rate %v sign %v, want %v %v", i, l.rate, sign, step.rate, step.sign)
		}
	}
	l.rate = control.Some(77) // from its sequence, while the queue is active
	if l.follow(9, at(60), true); l.rate != control.Some(77) {
		t.Errorf("an active lane's rate became %v", l.rate)
	}
}

func TestKeysGoAlongOnlyWhereStrangersOutnumberThem(t *testing.T) {
	crowd := look{read: true, strangers: 5000}
	for name, c := range map[string]struct {
		left  int
		l     look
		lanes int
		want  int
	}{
		"few strangers":                  {0, look{read: true, strangers: 100}, 8, 0},
		"receipts by the thousand":       {0, crowd, 8, matchedLooks},
		"but even more lanes":            {0, crowd, 32_000, 0},
		"more rows than a look may have": {0, look{read: true, torn: true}, 32_000, matchedLooks},
		"matching goes on":               {9, look{read: true}, 8, 8},
		"and ends":                       {1, look{read: true}, 8, 0},
		"a look behind the gate":         {0, look{}, 8, 0},
	} {
		if got := matchThere(c.left, c.l, c.lanes); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestSamplesLeftOutOnPurposeAreNotMissing(t *testing.T) {
	c := Config{}.withDefaults()
	now := time.Unix(0, 0)
	for _, tc := range []struct{ hz, want float64 }{{0, 4}, {4, 4}, {4.4, 4}, {0.4, 0.4}} {
		s := state{queues: map[string]*queue{"q": {name: "q", shards: 1, window: control.NewWindow(c.window(), c.window()/windowParts)}}, queuesAt: now, hz: tc.hz}
		got := c.snapshot(&s, now, time.Second).Readings[0].Expected
		if math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("at %v looks a second %v samples are expected, want %v", tc.hz, got, tc.want)
		}
	}
}

func TestOldDepthIsCalledOld(t *testing.T) {
	s := newState()
	s.aged(2 * time.Second)
	if len(s.problems) != 0 {
		t.Errorf("a depth of two seconds is no problem: %v", s.problems)
	}
	s.aged(45 * time.Second)
	if p := s.problems["depth age"]; !strings.Contains(p.Detail, "45 s old") || p.Hint == "" {
		t.Errorf("a depth of 45 seconds is not called that: %+v", p)
	}
	s.aged(time.Second)
	if len(s.problems) != 0 {
		t.Errorf("it stays old: %v", s.problems)
	}
}

func TestConnectionsThatDoNotLastAreOpenedLessAndLess(t *testing.T) {
	rest := time.Duration(0)
	for i, want := range []time.Duration{firstDelay, 2 * firstDelay, 4 * firstDelay} {
		if rest = restAfter(rest, lookTimeout); rest != want {
			t.Errorf("rest %d is %v, want %v", i+1, rest, want)
		}
	}
	for range 20 {
		rest = restAfter(rest, lookTimeout)
	}
	if rest != slowest {
		t.Errorf("at last every %v, want %v", rest, slowest)
	}
	if rest = restAfter(rest, time.Hour); rest != 0 {
		t.Errorf("%v after a connection that lasted", rest)
	}
}

func TestAPartThatTakesTheConnectionDownIsHeldBackLongerEachTime(t *testing.T) {
	var b strike
	for i, want := range []time.Duration{0, firstHold, 2 * firstHold, 4 * firstHold} {
		b = b.again(epoch)
		if got := b.until.Sub(epoch); got != want {
			t.Errorf("time %d: held back for %v, want %v", i+1, got, want)
		}
	}
	for range 100 {
		b = b.again(epoch)
	}
	if got := b.until.Sub(epoch); got != longestHold {
		t.Errorf("held back for %v, want %v", got, longestHold)
	}
}

func TestTheGrantThatShowsSessionsWorksForARoleThatInheritsNothing(t *testing.T) {
	for version, want := range map[string]string{
		"18.4":    `GRANT pg_read_all_stats TO "pilot" WITH INHERIT TRUE;`,
		"16beta1": `GRANT pg_read_all_stats TO "pilot" WITH INHERIT TRUE;`,
		"15.9":    `GRANT pg_read_all_stats TO "pilot";`, // knows no such option
		"":        `GRANT pg_read_all_stats TO "pilot";`,
	} {
		s := newState()
		s.database = control.Database{User: "pilot", Version: version}
		s.activityProblem(look{})
		if got := s.problems["activity"].Hint; got != want {
			t.Errorf("%q: %s, want %s", version, got, want)
		}
	}
}

func TestNobodyIsOnACountThatIsNotKnown(t *testing.T) {
	list := []control.Producer{{ID: "a", State: control.AppliedUnknown}, {ID: "b", State: control.AppliedOn}}
	for shards, want := range map[int]control.Value{0: control.None(), 2: control.Some(1)} {
		r := control.Reading{Shards: shards, ProducerList: list}
		if countApplied(&r); r.Applied != want || r.Producers != control.Some(2) {
			t.Errorf("%d shards: %v of %v, want %v of 2", shards, r.Applied, r.Producers, want)
		}
	}
}
