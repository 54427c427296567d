package rehearsal

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// reportEvery is how often a producer repeats the count it works with.
	reportEvery = 2 * time.Second
	// roundTrips is how many empty statements the baseline is the fastest of.
	roundTrips = 9
)

// producer is one session that enqueues. Only waiting is touched by others.
type producer struct {
	session
	spec  Producers
	id    string // what it calls itself in shardpilot.producer
	pace  *pace
	keys  *keys
	args  string
	turn  int // counts transactions, to take priorities in turn
	rotor int // counts picks without a key

	shards    int    // cached count, 0 when not read yet
	toldAt    uint64 // Running.told when it was read
	lanes     map[lane]bool
	n         int // which of its group's sessions this is, from 0
	roundTrip time.Duration
	reserved  time.Time     // when the reserving statement of this transaction began
	waited    time.Duration // of that, in the queue for the lane
	waiting   *atomic.Int64 // when its reserving statement began, unix ns, 0 outside of one
	reported  int           // the count last reported, 0 when none
	reportDue time.Time
}

func newProducer(r *Running, spec Producers, group, n int) *producer {
	spec.Application = cmp.Or(spec.Application, "producer")
	spec.Batch = cmp.Or(spec.Batch, 1)
	if len(spec.Priorities) == 0 {
		spec.Priorities = []int{defaultPriority}
	}
	notify := "on"
	if spec.Quiet {
		notify = "off"
	}
	seed := rand.New(rand.NewPCG(r.spec.Seed, uint64(group)<<32|uint64(n)))
	p := &producer{
		session: session{r: r, role: "producer", queue: spec.Queue, application: spec.Application, notify: notify},
		spec:    spec,
		id:      fmt.Sprintf("%s-%d", spec.Application, n+1),
		pace:    newPace(spec, r.started, seed),
		keys:    newKeys(spec.Keys, seed),
		args:    `"` + strings.Repeat("x", max(spec.Payload-2, 0)) + `"`,
		n:       n,
		rotor:   n,
		lanes:   map[lane]bool{},
		waiting: new(atomic.Int64),
	}
	if spec.Spread > 1 {
		p.fits = func(pid uint32) bool { return int(pid)%spec.Spread == n%spec.Spread }
	}
	r.tally.watch(spec.Queue, p.waiting)
	return p
}

// direct says that the producer picks its lane itself.
func (p Producers) direct() bool { return p.CacheShards || p.Batch > 1 }

func (p *producer) run() {
	defer p.drop()
	for !p.r.over() {
		fresh := p.conn == nil || p.conn.IsClosed()
		if !p.ready() {
			continue
		}
		if err := p.step(fresh); err != nil {
			p.failed(err)
			continue
		}
		p.worked()
	}
}

// step waits for the next arrival and enqueues it.
func (p *producer) step(fresh bool) error {
	if fresh {
		p.reportDue = time.Time{}
		if err := p.measure(); err != nil {
			return err
		}
	}
	if p.spec.CacheShards && (p.shards == 0 || p.toldAt != p.r.told.Load()) {
		if err := p.learn(); err != nil {
			return err
		}
	}
	arrived, err := p.await()
	if err != nil || p.r.over() {
		return err
	}
	if err := p.enqueue(arrived); err != nil {
		return err
	}
	p.pace.done()
	return nil
}

// measure takes the round trip of an empty statement: the fastest of a few,
// since all sessions of a load begin at once and crowd the server.
func (p *producer) measure() error {
	for i := range roundTrips {
		start := time.Now()
		if _, err := p.conn.Exec(p.r.ctx, statement("run/round_trip.sql")); err != nil {
			return err
		}
		if took := time.Since(start); i == 0 || took < p.roundTrip {
			p.roundTrip = took
		}
	}
	return nil
}

// learn reads the configured count.
func (p *producer) learn() error {
	told := p.r.told.Load()
	if err := p.conn.QueryRow(p.r.ctx, statement("run/shards.sql"), p.spec.Queue).Scan(&p.shards); err != nil {
		return err
	}
	p.toldAt = told
	return nil
}

// await returns when the next job arrives, and when that was. It reports the
// count when that is due, the waiting may be long.
func (p *producer) await() (time.Time, error) {
	if err := p.rest(); err != nil {
		return time.Time{}, err
	}
	due, shed := p.pace.next(time.Now())
	if shed > 0 {
		p.r.tally.count(p.spec.Queue, func(q *QueueStats) { q.Shed += uint64(shed) })
	}
	for !p.r.over() {
		if err := p.tell(); err != nil {
			return due, err
		}
		left := time.Until(due)
		if left <= 0 {
			break
		}
		if p.spec.Report {
			left = min(left, max(time.Until(p.reportDue), time.Millisecond))
		}
		p.r.pause(left)
	}
	return due, nil
}

// restStep is how soon a session notices that it is to work again.
const restStep = 50 * time.Millisecond

// rest waits while the wave has no work for this session.
func (p *producer) rest() error {
	if p.spec.Wave == nil {
		return nil
	}
	for !p.r.over() && p.n >= p.spec.Wave(time.Since(p.r.started)).Sessions {
		if err := p.tell(); err != nil {
			return err
		}
		p.r.pause(restStep)
	}
	return nil
}

// tell reports the count, where somebody keeps such reports.
func (p *producer) tell() error {
	if !p.spec.Report || !p.r.reports.Load() {
		return nil
	}
	if p.shards == p.reported && time.Now().Before(p.reportDue) {
		return nil
	}
	var known any // NULL: reads the count for every job
	if p.spec.CacheShards {
		known = p.shards
	}
	if _, err := p.conn.Exec(p.r.ctx, statement("run/report.sql"), p.id, p.spec.Queue, known); err != nil {
		return err
	}
	p.reported, p.reportDue = p.shards, time.Now().Add(reportEvery)
	return nil
}

// enqueue is one transaction: jobs in, hold, commit.
func (p *producer) enqueue(arrived time.Time) error {
	if p.spec.direct() && !p.spec.CacheShards {
		if err := p.learn(); err != nil {
			return err
		}
	}
	tx, err := p.conn.Begin(p.r.ctx)
	if err != nil {
		return err
	}
	priority := int16(p.spec.Priorities[p.turn%len(p.spec.Priorities)])
	p.turn++
	key := p.keys.next()
	var used lane
	if p.spec.direct() {
		used = lane{Priority: priority, Shard: p.pick(key)}
		err = p.enqueueBatch(tx, used)
	} else {
		err = p.enqueueOne(tx, priority, key)
	}
	if err != nil {
		p.rollback(tx)
		return err
	}
	p.r.pause(p.spec.Hold)
	if err := tx.Commit(p.r.ctx); err != nil {
		p.r.tally.unsure(p.spec.Batch)
		return err
	}
	if p.spec.direct() {
		p.lanes[used] = true
	}
	now := time.Now()
	took, held := now.Sub(arrived), max(now.Sub(p.reserved)-p.waited, 0)
	p.r.tally.count(p.spec.Queue, func(q *QueueStats) {
		q.Enqueued += uint64(p.spec.Batch)
		q.LaneHeldS += held.Seconds()
		q.Latency.add(took)
	})
	return nil
}

// rollback ends a failed transaction; when that fails too, the connection ends
// and the server rolls back.
func (p *producer) rollback(tx pgx.Tx) {
	if err := tx.Rollback(p.r.ctx); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
		p.drop()
	}
}

// pick chooses the shard as Awa's Rust store does: by key, or by its rotor.
func (p *producer) pick(key []byte) int16 {
	if key != nil {
		return shardOfKey(key, p.shards)
	}
	p.rotor++
	return int16((p.rotor - 1) % p.shards)
}

// enqueueOne goes the way of SQL producers.
func (p *producer) enqueueOne(tx pgx.Tx, priority int16, key []byte) error {
	return p.timed(func(server **float64) error {
		return tx.QueryRow(p.r.ctx, statement("run/insert_job.sql"), p.spec.Queue, p.args, priority, key).Scan(server)
	})
}

// enqueueBatch reserves a block of one lane, by a statement of its own, and
// writes it.
func (p *producer) enqueueBatch(tx pgx.Tx, l lane) error {
	var first int64
	err := p.timed(func(server **float64) error {
		if !p.lanes[l] { // first use: its trigger waits for the lane as well
			_, err := tx.Exec(p.r.ctx, statement("run/ensure_lane.sql"), p.spec.Queue, l.Priority, l.Shard)
			if err != nil {
				return err
			}
		}
		return tx.QueryRow(p.r.ctx, statement("run/reserve.sql"), p.spec.Queue, l.Priority, l.Shard, p.spec.Batch).
			Scan(&first, server)
	})
	if err != nil {
		return err
	}
	_, err = tx.Exec(p.r.ctx, statement("run/append.sql"),
		p.spec.Queue, l.Priority, l.Shard, first, p.spec.Batch, p.args)
	return err
}

// timed runs the reserving statement under both stop-watches.
func (p *producer) timed(reserve func(server **float64) error) error {
	start := time.Now()
	p.waiting.Store(start.UnixNano())
	var server *float64
	err := reserve(&server)
	client := max(time.Since(start)-p.roundTrip, 0).Seconds()
	if err != nil || server == nil {
		server = &client
	}
	p.reserved, p.waited = start, time.Duration(*server*float64(time.Second))
	p.r.tally.count(p.spec.Queue, func(q *QueueStats) {
		p.waiting.Store(0)
		q.LaneWaitS += *server
		q.ClientWaitS += client
	})
	return err
}
