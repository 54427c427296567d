package probe

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
)

// slow is the state of the goroutine that takes the slower reads. Each task
// runs when it is due; what it cost moves its next turn back (see due).
type slow struct {
	*Probe
	*link
	schema string // storage schema, raw; "" while there is nothing to watch

	whereDue, queuesDue, lanesDue     time.Time
	seqDue, depthDue, instDue, repDue time.Time

	lanesHold time.Time // no lanes before this: the last read failed
	changed   []string  // queues whose lanes have to be read again
	all       bool      // all of them
	count     laneCount
	turn      int               // where the round over active lanes stands
	costs     map[string]*costs // by part

	struck map[string]strike // by part, from one connection to the next
}

// strike says that a part took the connection down, times running: a statement
// that is given up does. It is held back then, or no other part would ever be
// read.
type strike struct {
	times int
	until time.Time
}

// again is the strike after this one.
func (s strike) again(now time.Time) strike {
	s.times++
	s.until = now
	if s.times > 1 { // once happens to every part of a connection that breaks
		s.until = now.Add(min(firstHold<<min(s.times-2, 16), longestHold))
	}
	return s
}

const (
	firstHold   = 10 * time.Second
	longestHold = 5 * time.Minute
)

func (p *Probe) slowly(ctx context.Context) {
	s := &slow{Probe: p, link: p.newLink(p.cfg.ConnectSlow), struck: map[string]strike{}}
	defer s.close()
	for rest := time.Duration(0); pause(ctx, rest); {
		if !p.connect(ctx, s.link, s.unconnected) {
			return
		}
		begun := s.now()
		s.connected()
		s.run(ctx)
		s.close()
		rest = restAfter(rest, s.now().Sub(begun))
	}
}

func (s *slow) unconnected(err error) {
	s.do(func(st *state) {
		st.forgetReads()
		st.problem(control.Problem{Part: "connection", Detail: fault(err).What + " (the one for counts, depth and sequences)", Hint: "it is tried again by itself"})
	})
	s.listed.open()
}

func (s *slow) connected() {
	*s = slow{Probe: s.Probe, link: s.link, all: true, costs: map[string]*costs{}, struck: s.struck}
	s.do(func(st *state) {
		st.forgetReads()
		st.mended("connection")
	})
}

// run takes turns until the connection is lost or ctx ends.
func (s *slow) run(ctx context.Context) {
	for {
		err := s.round(ctx)
		if ctx.Err() != nil {
			return
		}
		if !s.alive() {
			s.unconnected(err)
			return
		}
		s.listed.open()
		s.do(func(st *state) { st.slowed = s.heldBack() })
		if !pause(ctx, s.untilNext()) {
			return
		}
	}
}

func (s *slow) untilNext() time.Duration {
	next := s.whereDue
	for _, t := range []time.Time{s.queuesDue, s.lanesDue, s.seqDue, s.depthDue, s.instDue, s.repDue} {
		if s.schema != "" && t.Before(next) {
			next = t
		}
	}
	return max(next.Sub(s.now()), leastTick/2)
}

func (s *slow) every(d time.Duration) time.Duration { return s.cfg.scaled(d, leastTick) }

// heldBack says whether a read runs less often than it should for its cost.
func (s *slow) heldBack() bool {
	for _, b := range s.struck {
		if s.now().Before(b.until) {
			return true
		}
	}
	for part, c := range s.costs {
		period, budget := s.terms(part)
		if due(time.Time{}, period, c.value(), budget).Sub(time.Time{}) > period+period/20 {
			return true
		}
	}
	return false
}

// next is when a part runs again after a turn that cost so much.
func (s *slow) next(part string, cost time.Duration) time.Time {
	c := s.costs[part]
	if c == nil {
		c = &costs{}
		s.costs[part] = c
	}
	c.add(cost)
	period, budget := s.terms(part)
	return due(s.now(), period, c.value(), budget)
}

// terms are the period of a task and its share of one backend's time.
func (s *slow) terms(part string) (time.Duration, float64) {
	switch part {
	case "depth":
		return s.every(depthEvery), s.cfg.MaxCost * depthBudget
	case "sequences":
		return s.every(seqEvery), s.cfg.MaxCost * sequenceBudget
	case "queues":
		return s.every(queuesEvery), s.cfg.MaxCost * otherBudget
	case "where":
		return s.every(whereEvery), s.cfg.MaxCost * otherBudget / 4
	default:
		return s.every(othersEvery), s.cfg.MaxCost * otherBudget / 4
	}
}

// round runs what is due. It ends early when the connection is gone.
func (s *slow) round(ctx context.Context) error {
	if !s.now().Before(s.whereDue) {
		if err := s.where(ctx); err != nil || !s.alive() {
			return err
		}
	}
	if s.schema == "" {
		return nil
	}
	for _, task := range []struct {
		part string
		due  *time.Time
		run  func(context.Context) (time.Duration, error)
		what string
	}{
		{"queues", &s.queuesDue, s.queues, "the queues and their configured counts"},
		{"lanes", &s.lanesDue, s.lanes, "the lane register"},
		{"sequences", &s.seqDue, s.sequences, "the enqueue sequences"},
		{"depth", &s.depthDue, s.depths, "queue depth"},
		{"instances", &s.instDue, s.instances, "the runtime instances"},
		{"producers", &s.repDue, s.reports, "what producers report"},
	} {
		if until := s.struck[task.part].until; s.now().Before(until) {
			*task.due = until
			continue
		}
		if s.now().Before(*task.due) && !(task.part == "lanes" && s.lanesWanted()) {
			continue
		}
		if task.part == "depth" && !s.vouchable() {
			continue
		}
		cost, err := task.run(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		*task.due = s.next(task.part, cost)
		if err != nil {
			s.failed(task.part, task.what, err)
			if task.part == "lanes" {
				s.lanesHold = *task.due
			}
			if !s.alive() {
				s.struck[task.part] = s.struck[task.part].again(s.now())
				return err
			}
			delete(s.struck, task.part)
			if moved(err) {
				s.whereDue = time.Time{} // look for Awa before anything else
				return nil
			}
			continue
		}
		delete(s.struck, task.part)
		s.do(func(st *state) { s.settle(st, task.part) })
	}
	return nil
}

// vouchable says whether there is a look fresh enough to vouch for a depth read
// (see lane.vouched). When there is not, the sampler is asked for one, and the
// read waits for it a little.
func (s *slow) vouchable() bool {
	now, fresh := s.now(), false
	s.do(func(st *state) {
		fresh = st.fullAt.After(st.laneAt) && now.Sub(st.fullAt) <= lookAge
		st.hurry = st.hurry || !fresh
	})
	return fresh || now.Sub(s.depthDue) > lookAge
}

// settle clears the problem of a part that worked, unless the part itself left
// one about single lanes.
func (s *slow) settle(st *state, part string) {
	if part == "depth" {
		st.aged(s.depthDue.Sub(s.now()))
	}
	if p, ok := st.problems[part]; ok && p.Detail == partly(part) {
		return
	}
	st.mended(part)
}

// seldom is the pause between depth reads from which their age must be said.
const seldom = 10 * time.Second

// aged says how old depth and lag may be, when that is more than a reader of
// fresh readings would think.
func (s *state) aged(pause time.Duration) {
	if pause < seldom {
		s.mended("depth age")
		return
	}
	s.problem(control.Problem{Part: "depth age", Detail: fmt.Sprintf("depth and lag may be %d s old: reading them costs too much to do it more often",
		int(pause.Round(time.Second).Seconds())), Hint: "it reads more often again when fewer ready segments are left"})
}

// partly words a read that worked but for lanes we have no rights on.
func partly(part string) string {
	if part == "depth" {
		return "our role may not read some claim sequences: depth of their queues is not known"
	}
	return "our role may not read some enqueue sequences: rates of their queues are not known"
}

// failed makes the numbers of a part absent and says why.
func (s *slow) failed(part, what string, err error) {
	grant := s.grant(part)
	s.do(func(st *state) {
		st.problem(problem(part, what, err, grant))
		switch part {
		case "queues":
			for _, q := range st.queues {
				q.shards = 0
			}
		case "sequences":
			for _, q := range st.queues {
				for _, l := range q.lanes {
					l.rate = control.None()
				}
			}
		case "depth":
			for _, q := range st.queues {
				q.levels = nil
				for _, l := range q.lanes {
					l.depth, l.lag, l.vouched = control.None(), control.None(), time.Time{}
				}
			}
		case "instances":
			st.instances = nil
		case "producers":
			st.reports = map[string][]report{}
		}
	})
}

func (s *slow) role() string {
	role := ""
	s.do(func(st *state) { role = st.database.User })
	return quoted(role)
}

// grant is the statement that mends a right that a part lacks.
func (s *slow) grant(part string) string {
	role, storage := s.role(), quoted(s.schema)
	tables := func(names ...string) string {
		for i, n := range names {
			names[i] = pgx.Identifier{s.schema, n}.Sanitize()
		}
		return "GRANT USAGE ON SCHEMA " + storage + " TO " + role + "; GRANT SELECT ON " + strings.Join(names, ", ") + " TO " + role + ";"
	}
	sequences := " GRANT SELECT ON ALL SEQUENCES IN SCHEMA " + storage + " TO " + role + ";"
	switch part {
	case "queues":
		return tables("queue_lanes") + " GRANT SELECT ON awa.queue_meta TO " + role + ";"
	case "lanes":
		return tables("queue_enqueue_heads", "queue_claim_heads")
	case "sequences":
		return strings.TrimSpace(sequences)
	case "depth":
		return tables("ready_segments", "ready_tombstones") + sequences
	case "instances":
		return "GRANT SELECT ON awa.runtime_instances TO " + role + ";"
	default:
		return "GRANT USAGE ON SCHEMA shardpilot TO " + role + "; GRANT SELECT ON shardpilot.producer TO " + role + ";"
	}
}

// where asks which database this is and what Awa it holds.
func (s *slow) where(ctx context.Context) error {
	tctx, cancel := context.WithTimeout(ctx, slowTimeout)
	defer cancel()
	begun := s.now()
	db, err := s.cfg.Where(tctx, s.conn)
	if err != nil {
		s.do(func(st *state) { st.problem(problem("database", "where we are", err, "")) })
	} else {
		s.do(func(st *state) {
			st.database = db
			st.mended("database")
		})
	}
	var awa control.Installation
	if s.alive() {
		awa, err = s.cfg.Discover(tctx, s.conn)
	}
	// These statements do not say what they cost. Their round trips are counted
	// as far as those of a look are the server's.
	cost := max(s.now().Sub(begun), 0)
	s.do(func(st *state) {
		if st.meter.ours.set {
			cost = time.Duration(float64(cost) * st.meter.ours.v)
		}
	})
	s.spent(cost)
	s.whereDue = s.next("where", cost)
	if err != nil {
		s.leave(control.Installation{State: control.AwaHidden, Sentence: "Awa could not be looked for"}, problem("awa", "what Awa is installed", err, ""))
		if s.alive() {
			return nil
		}
		return err
	}
	if !awa.MayWatch || awa.Schema == "" {
		s.leave(awa, control.Problem{Part: "awa", Detail: awa.Sentence, Hint: awa.Hint})
		return nil
	}
	if awa.Schema != s.schema {
		s.do(func(st *state) { st.forgetAwa() })
		s.schema, s.all = awa.Schema, true
		s.queuesDue, s.lanesDue, s.seqDue, s.instDue, s.repDue = time.Time{}, time.Time{}, time.Time{}, time.Time{}, time.Time{}
		s.depthDue = s.now() // it waits for a look from here on
	}
	s.do(func(st *state) {
		st.awa = awa
		st.mended("awa")
	})
	return nil
}

// leave stops watching until Awa is found again.
func (s *slow) leave(awa control.Installation, p control.Problem) {
	s.schema = ""
	s.do(func(st *state) {
		st.forgetAwa()
		st.awa = awa
		st.problem(p)
	})
	// Looking again soon is cheap, and a migration that is under way ends soon.
	if soon := s.now().Add(s.every(othersEvery / 2)); soon.Before(s.whereDue) {
		s.whereDue = soon
	}
}
