package control

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the scenarios' outcomes into testdata")

// TestScenarios plays the stories in testdata: commands, and below each the
// decisions and log entries that came of it. Run with -update to rewrite them,
// and read the difference.
func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d stories, want 20 or more (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := newStage().play(t, string(src))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(src) {
				t.Errorf("the story ends differently; run with -update and read the difference\n%s", firstDifference(string(src), got))
			}
		})
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := 0; i < len(a) || i < len(b); i++ {
		x, y := "(end)", "(end)"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("line %d\n want %s\n got  %s", i+1, x, y)
		}
	}
	return ""
}

// stage is one queue, a server and a log, all imagined. What the controller
// asks for is done at once, unless the story says otherwise.
type stage struct {
	p      Policy
	world  World
	budget Budget
	queue  QueuePolicy
	track  *Track
	state  State
	log    []LogEntry
	now    time.Time
	snap   Snapshot
	shards int
	gate   string // outcome of every write
	load   map[string]float64
	rng    *rand.Rand
	shown  string
	out    strings.Builder
	// check, when set, sees everything that is decided or asked for.
	check func(in Input, d *Decision, fx Effects)
}

func newStage() *stage {
	s := &stage{p: DefaultPolicy(), now: epoch, shards: 1, gate: "applied", rng: rand.New(rand.NewPCG(1, 2)), load: map[string]float64{}}
	s.track = NewTrack(s.p)
	s.world = World{Process: ModeEnforced, Now: s.now}
	s.snap = Snapshot{
		Database: Database{Host: "db1", Port: 5432, StartedAt: epoch.Add(-24 * time.Hour)},
		Awa:      Installation{State: AwaActive, Version: 43, MayWatch: true, MayWrite: true},
	}
	s.queue = QueuePolicy{Queue: "orders", Auto: true, Enforced: true, Max: 8, AcceptedBy: "ann@bastion", AcceptedAt: epoch}
	s.world = s.world.Follow(s.p, Leadership{Leading: true, Epoch: 1, Name: "self"})
	s.world.WarmUntil = time.Time{} // the stories begin warm
	return s
}

func (s *stage) play(t *testing.T, src string) string {
	sc := bufio.NewScanner(strings.NewReader(src))
	var whole strings.Builder
	inside := false
	for sc.Scan() {
		line := sc.Text()
		if line == "----" {
			inside = true
			continue
		}
		if inside { // an earlier outcome ends with an empty line
			inside = line != ""
			continue
		}
		whole.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		s.out.Reset()
		if err := s.do(strings.Fields(line)); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		whole.WriteString("----\n" + s.out.String() + "\n")
	}
	return whole.String()
}

func (s *stage) say(format string, args ...any) {
	fmt.Fprintf(&s.out, "%s %s\n", s.now.Format("15:04:05"), fmt.Sprintf(format, args...))
}

// settings read name=value words; bare words are 1.
func settingsOf(words []string) map[string]string {
	m := map[string]string{}
	for _, w := range words {
		name, value, found := strings.Cut(w, "=")
		if !found {
			value = "1"
		}
		m[name] = value
	}
	return m
}

func (s *stage) do(words []string) error {
	set := settingsOf(words[1:])
	length, _ := time.ParseDuration(words[min(1, len(words)-1)])
	switch words[0] {
	case "run": // run SPAN name=value…: readings at one a second
		for name, value := range set {
			if name != words[1] {
				f, err := strconv.ParseFloat(value, 64)
				if err != nil {
					return err
				}
				s.load[name] = f
			}
		}
		for end := s.now.Add(length); s.now.Before(end); {
			s.now = s.now.Add(time.Second)
			s.tick(true)
		}
	case "silence": // silence SPAN: no readings
		for end := s.now.Add(length); s.now.Before(end); {
			s.now = s.now.Add(time.Second)
			s.tick(false)
		}
	case "policy":
		_, s.queue.Auto = set["auto"]
		_, s.queue.Enforced = set["enforced"]
		if m, err := strconv.Atoi(set["max"]); err == nil {
			s.queue.Max = m
		}
		if _, ok := set["unaccepted"]; ok {
			s.queue.AcceptedBy = ""
		}
	case "count": // count N: somebody else writes it
		s.shards, _ = strconv.Atoi(words[1])
	case "gate": // gate applied|refused|failed
		s.gate = words[1]
	case "restart":
		s.snap.Database.StartedAt = s.now
	case "failover":
		s.snap.Database.Host = words[1]
	case "standby":
		s.snap.Database.Standby = words[1] == "yes"
	case "awa":
		s.snap.Awa.State, s.snap.Awa.MayWrite = AwaState(words[1]), words[1] == "active"
		s.snap.Awa.Sentence = "Awa is in state " + words[1] + "."
	case "follow":
		s.world = s.world.Follow(s.p, Leadership{Epoch: s.world.Lead.Epoch + 1, Name: words[1]})
	case "lead":
		s.world = s.world.Follow(s.p, Leadership{Leading: true, Epoch: s.world.Lead.Epoch + 1, Name: "self"})
	case "rebuild": // a new process: measures nothing yet, knows the log
		s.state, s.track = RebuildState(s.p, s.log, s.now), NewTrack(s.p)
		s.budget = RebuildBudget(s.log, s.now)
		s.world = s.world.Follow(s.p, Leadership{Leading: true, Epoch: s.world.Lead.Epoch + 1, Name: "self"})
	case "clock": // clock SPAN: the server's clock steps
		s.now = s.now.Add(length)
		s.snap.ClockSkew += length
	default:
		return s.command(words[0], set)
	}
	return nil
}

func (s *stage) command(verb string, set map[string]string) error {
	c := Command{Verb: Verb(verb), Queue: "orders", Actor: "ann", Host: "bastion", Why: set["why"]}
	if by := set["by"]; by != "" {
		c.Actor = by
	}
	c.To, _ = strconv.Atoi(set["to"])
	c.For, _ = time.ParseDuration(set["for"])
	c.Max, _ = strconv.Atoi(set["max"])
	_, c.Force = set["force"]
	_, c.Up = set["up"]
	_, c.Down = set["down"]
	_, c.Accept = set["accept"]
	_, c.Enforced = set["enforced"]
	if s.state.Pending != nil {
		c.Expect = s.state.Pending.Generation
	}
	if _, ok := set["again"]; ok {
		c.Expect = s.state.ended.generation
	}
	in := s.input()
	fx, res, err := Act(s.p, s.state, in, c)
	if s.check != nil {
		s.check(in, nil, fx)
	}
	if err != nil {
		s.say("%s: %s", verb, strings.ReplaceAll(err.Error(), "\n", ". "))
		return nil
	}
	s.carryOut(fx)
	if res.Change != nil {
		s.say("%s: %s, %s", verb, res.Change.Outcome, res.Change.Detail)
	}
	return nil
}

func (s *stage) input() Input {
	return Input{World: s.world, Queue: s.queue, Signal: s.track.Signal(s.p), Budget: s.budget}
}

func (s *stage) tick(read bool) {
	if read {
		s.snap.At = s.now
		s.world = s.world.See(s.p, s.snap)
		if s.world.Stepped != 0 {
			s.track.Reset()
			s.state.Step(s.world.Stepped, s.now)
			s.budget.Step(s.world.Stepped, s.now)
		}
		s.track.Observe(s.p, s.reading())
	} else {
		s.world = s.world.At(s.now)
	}
	var d Decision
	var fx Effects
	in := s.input()
	s.state, d, fx = Decide(s.p, s.state, in)
	if s.check != nil {
		s.check(in, &d, fx)
	}
	key := fmt.Sprint(d.Action, d.Reason, d.Pending, d.To)
	if key != s.shown {
		s.shown = key
		mark := ""
		if d.Pending {
			mark = " (pending)"
		}
		s.say("%-8s %s%s  %s", d.Mode, d.Action, mark, d.Detail)
		for _, b := range d.Blockers[min(1, len(d.Blockers)):] {
			also := "also"
			if b.For != "" && b.For != d.Blockers[0].For {
				also = "to " + string(b.For)
			}
			fmt.Fprintf(&s.out, "            %s %s: %s\n", also, b.Rule, b.Detail)
		}
	}
	s.carryOut(fx)
}

// carryOut does what is asked at once, and lets the state learn it.
func (s *stage) carryOut(fx Effects) {
	if fx.Step != nil {
		e := fx.Step.Entry
		e.At, e.Outcome = s.now, Outcome(s.gate)
		if e.Outcome == OutcomeApplied {
			s.shards = fx.Step.To
			if fx.Step.Save {
				s.queue = fx.Step.Policy
			}
		}
		s.learn(e)
	}
	if fx.Policy != nil {
		s.queue = *fx.Policy
	}
	for _, e := range fx.Entries {
		s.learn(e)
	}
}

func (s *stage) learn(e LogEntry) {
	e.ID = int64(len(s.log) + 1)
	s.log = append(s.log, e)
	s.state.Learn(s.p, e, s.now)
	s.budget.Learn(e, s.now)
	switch e.Kind {
	case LogDecision: // seen above
	case LogChange:
		s.say("log: change %s %s by %s (%s)", arrow(e.From, e.To), e.Outcome, e.Actor, e.Reason)
	case LogVerdict:
		s.say("log: verdict %s %s: %s", arrow(e.From, e.To), e.Verdict, e.Detail)
	default:
		s.say("log: %s %s %s", e.Kind, e.Reason, e.Detail)
	}
}

// reading makes what the probe would see: either wait, hold and rate as told,
// or with crowd=N that many producers under the model of the lanes.
func (s *stage) reading() Reading {
	l := func(name string, otherwise float64) float64 {
		if v, ok := s.load[name]; ok {
			return v
		}
		return otherwise
	}
	wait, hold, rate := l("wait", 0), l("hold", 0), l("rate", 0)
	if n := l("crowd", 0); n > 0 {
		hold = Busy(s.shards, n)
		wait = n - hold
		rate = 100 * hold
		if at := l("useless", 0); at > 0 && float64(s.shards) > at { // more lanes, the same throughput
			rate = 100 * Busy(int(at), n)
		}
		rate *= l("slower", 1)
	}
	jitter := 1 + l("noise", 0)*s.rng.NormFloat64()
	wait = max(wait*jitter, 0)
	samples := 4.0
	if keep := l("cover", 1); keep < 1 && s.now.Second()%10 >= int(10*keep) {
		samples = 0
	}
	r := Reading{
		At: s.now, Queue: "orders", Shards: s.shards, PeriodS: 1, WindowS: 120, Samples: int(samples), Expected: 4,
		WaitSum: wait * samples, HoldSum: hold * samples, Waiters: Some(wait), Holders: Some(hold), Inside: Some(wait + hold),
		EnqueueRate: Some(rate), Applied: Some(l("producers", 16) - l("stale", 0)), Producers: Some(l("producers", 16)), Stale: int(l("stale", 0)),
		HighestShard: s.shards, Depth: Some(l("depth", 0)), Bottleneck: BottleneckLane,
	}
	if wait > 0 {
		notify, stuck, hidden := l("notify", 0), l("stuck", 0), l("hidden", 0)
		r.Causes = Causes{Lane: Some(1 - notify - stuck - hidden), Notify: Some(notify), Stuck: Some(stuck), Unknown: Some(hidden)}
	}
	r.Drained = make([]bool, s.shards+1)
	for i := range r.Drained {
		r.Drained[i] = l("drained", 1) > 0
	}
	for i := range s.shards {
		share := 1 / float64(s.shards)
		if top := l("top", 0); top > 0 && s.shards > 1 {
			share = (1 - top) / float64(s.shards-1)
			if i == 0 {
				share = top
			}
		}
		r.Lanes = append(r.Lanes, LaneReading{Priority: 2, Shard: i, Waiters: Some(wait * share), Busy: Some(hold / float64(s.shards))})
	}
	return r
}
