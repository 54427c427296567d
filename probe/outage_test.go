package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
)

func TestRightsTakenAwayMakeAbsentWhatTheyShowedAndNameTheGrant(t *testing.T) {
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := awa(t, d, map[string]int{"orders": 1})
		dsn := as(t, d, admin, "watcher", "grant pg_read_all_stats")
		role := "watcher_" + d.Name
		exec(t, admin, `grant usage on schema awa to `+role+`; grant select on all tables in schema awa to `+role+`; grant select on all sequences in schema awa to `+role)
		p := start(t, config(dsn))
		good := func(s control.Snapshot) bool {
			r := of(s, "orders")
			return len(s.Problems) == 0 && r.Depth.OK() && r.EnqueueRate.OK() && r.Shards == 1 && r.Drained != nil
		}
		until(t, p, "everything known", good)
		exec(t, admin, `revoke select on all sequences in schema awa from `+role)
		s := until(t, p, "rate and depth absent", func(s control.Snapshot) bool {
			r := of(s, "orders")
			return !r.EnqueueRate.OK() && !r.Depth.OK() && r.Drained == nil
		})
		for _, part := range []string{"sequences", "depth"} {
			if why, ok := problemIn(s, part); !ok || !strings.Contains(why.Hint, "GRANT SELECT ON ALL SEQUENCES") {
				t.Errorf("%s: %+v", part, why)
			}
		}
		exec(t, admin, `revoke select on awa.queue_meta from `+role)
		s = until(t, p, "count unknown", func(s control.Snapshot) bool { return of(s, "orders").Shards == 0 })
		if why, ok := problemIn(s, "queues"); !ok || !strings.Contains(why.Hint, "awa.queue_meta") {
			t.Errorf("%+v", why)
		}
		if r := of(s, "orders"); r.Samples == 0 && r.PeriodS > 2 {
			t.Errorf("samples stopped: %+v", r)
		}
		exec(t, admin, `grant select on all sequences in schema awa to `+role+`; grant select on awa.queue_meta to `+role)
		until(t, p, "everything known again", good)
	})
}

func TestASchemaThatGoesAndComesBackIsFollowed(t *testing.T) {
	d := pgtest.One(t)
	admin := awa(t, d, map[string]int{"orders": 1})
	p := start(t, config(d.URL))
	until(t, p, "orders", func(s control.Snapshot) bool { return of(s, "orders").Depth.OK() })
	exec(t, admin, `drop schema awa cascade`)
	s := until(t, p, "no queue left", func(s control.Snapshot) bool { return len(s.Readings) == 0 })
	if why, ok := problemIn(s, "awa"); !ok || s.Awa.State != control.AwaNotInstalled {
		t.Errorf("awa %+v, %+v", s.Awa, why)
	}
	awa(t, d, map[string]int{"orders": 2})
	s = until(t, p, "orders again", func(s control.Snapshot) bool { return of(s, "orders").Depth.OK() })
	if r := of(s, "orders"); r.Shards != 2 || len(r.Lanes) != 2 {
		t.Errorf("%+v", r)
	}
	if _, ok := problemIn(s, "awa"); ok {
		t.Errorf("problems %+v", s.Problems)
	}
}

func TestAServerThatIsAwayIsAFaultAndComesBackWithoutOldNumbers(t *testing.T) {
	d := pgtest.NewServer(t, newest(), nil)
	awa(t, d, map[string]int{"orders": 1})
	p := start(t, config(d.URL))
	until(t, p, "orders", func(s control.Snapshot) bool { return of(s, "orders").EnqueueRate.OK() })
	if err := d.Server.Crash(ctxOf(t)); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(patience)
	for {
		_, err := p.Read(ctxOf(t))
		var f *control.Fault
		if errors.As(err, &f) && f.Kind == control.FaultNoConnection {
			break
		}
		if err != nil || time.Now().After(end) {
			t.Fatalf("no fault: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := d.Server.StartAgain(ctxOf(t)); err != nil {
		t.Fatal(err)
	}
	for {
		s, err := p.Read(ctxOf(t))
		if err == nil {
			if r := of(s, "orders"); r.PeriodS > 5 {
				t.Errorf("the outage counts as observed: %+v", r)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	until(t, p, "everything again", func(s control.Snapshot) bool {
		r := of(s, "orders")
		return r.EnqueueRate.OK() && r.Depth.OK() && len(s.Problems) == 0 && r.Share.OK()
	})
}

func TestNoServerAtAllIsAFaultAndCloseDoesNotHang(t *testing.T) {
	cfg := config("postgres://nobody@127.0.0.1:1/none?connect_timeout=1")
	p := start(t, cfg)
	_, err := p.Read(ctxOf(t))
	var f *control.Fault
	if !errors.As(err, &f) || f.Kind != control.FaultNoConnection {
		t.Fatalf("got %v", err)
	}
	begun := time.Now()
	p.Close()
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("Close took %v", took)
	}
}

// As when the lock table is so large, or the server so busy, that no look comes
// back in time: giving a statement up takes its connection along.
func TestAServerThatAnswersNoLookStaysAFaultAndIsAskedLessAndLess(t *testing.T) {
	asked := make(chan time.Time, 100)
	p := start(t, pretended(t, func(*pgproto3.Backend) bool {
		select {
		case asked <- time.Now():
		default:
		}
		return false
	}))
	var looks []time.Time
	for len(looks) < 4 {
		select {
		case at := <-asked:
			looks = append(looks, at)
		case <-time.After(5 * time.Millisecond):
		}
		_, err := p.Read(ctxOf(t))
		var f *control.Fault
		if !errors.As(err, &f) || f.Kind != control.FaultNoConnection {
			t.Fatalf("after %d looks without an answer: %v", len(looks), err)
		}
	}
	rest := time.Duration(0)
	for i, at := range looks[1:] {
		rest = restAfter(rest, 0)
		if gap := at.Sub(looks[i]); gap < rest {
			t.Errorf("look %d came %v after the one before, not %v", i+2, gap, rest)
		}
	}
}

func TestLooksThatFailCountForThePace(t *testing.T) {
	cfg := pretended(t, func(b *pgproto3.Backend) bool {
		time.Sleep(50 * time.Millisecond)
		b.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: codeCancelled, Message: "said by the test"})
		return true
	})
	cfg.MaxCost = 0.1
	p := start(t, cfg)
	s := until(t, p, "slowed down", func(s control.Snapshot) bool { return s.Cost.SlowedDown })
	if why, ok := problemIn(s, "locks"); !ok || !strings.Contains(why.Detail, "in time") {
		t.Errorf("%+v", s.Problems)
	}
}

// pretended is the configuration for a server that is none: it lets everybody
// in and has answer say what comes back of a look, or hang up.
func pretended(t *testing.T, answer func(*pgproto3.Backend) bool) Config {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go pretend(c, answer)
		}
	}()
	cfg := config("postgres://anna@" + l.Addr().String() + "/none?sslmode=disable")
	cfg.Where = func(context.Context, *pgx.Conn) (control.Database, error) { return control.Database{}, nil }
	cfg.Discover = func(context.Context, *pgx.Conn) (control.Installation, error) {
		return control.Installation{State: control.AwaNotInstalled}, nil
	}
	return cfg
}

func pretend(c net.Conn, answer func(*pgproto3.Backend) bool) {
	defer func() { _ = c.Close() }()
	b := pgproto3.NewBackend(c, c)
	m, err := b.ReceiveStartupMessage()
	if _, login := m.(*pgproto3.StartupMessage); err != nil || !login { // or somebody cancels a look
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	for {
		b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		if b.Flush() != nil {
			return
		}
		for asked := false; !asked; {
			m, err := b.Receive()
			if err != nil {
				return
			}
			_, asked = m.(*pgproto3.Sync)
		}
		if !answer(b) {
			return
		}
	}
}

func TestNothingIsPreparedAndNothingDependsOnTheSession(t *testing.T) {
	d := pgtest.One(t)
	awa(t, d, map[string]int{"orders": 1})
	cfg := config(d.URL)
	cfg.Connect = func(ctx context.Context) (*pgx.Conn, error) { return pgx.Connect(ctx, d.URL) } // pgx would prepare
	prepared := make(chan int, 1000)
	cfg.Where = func(ctx context.Context, conn *pgx.Conn) (control.Database, error) {
		var n int
		err := conn.QueryRow(ctx, `select count(*) from pg_prepared_statements`, pgx.QueryExecModeExec).Scan(&n)
		if err != nil {
			return control.Database{}, err
		}
		select {
		case prepared <- n:
		default:
		}
		return control.Database{}, nil
	}
	cfg.Discover = func(context.Context, *pgx.Conn) (control.Installation, error) {
		return control.Installation{State: control.AwaActive, Schema: "awa", MayWatch: true}, nil
	}
	p := start(t, cfg)
	for range 2 { // the second after every statement has run
		until(t, p, "everything read", func(s control.Snapshot) bool { return of(s, "orders").Depth.OK() && len(prepared) > 1 })
		for len(prepared) > 0 {
			if n := <-prepared; n != 0 {
				t.Errorf("%d prepared statements", n)
			}
		}
	}
}

func TestAgesAndTimesAreTheServersHoweverWrongOurClockIs(t *testing.T) {
	d := pgtest.One(t)
	admin := awa(t, d, map[string]int{"orders": 1})
	exec(t, admin, insert, "orders")
	for _, off := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
		cfg := config(d.URL)
		cfg.Now = func() time.Time { return time.Now().Add(off) }
		p := start(t, cfg)
		s := until(t, p, "a depth", func(s control.Snapshot) bool { return of(s, "orders").Depth.Or(0) == 1 })
		if drift := time.Since(s.At); drift < -2*time.Second || drift > 2*time.Second {
			t.Errorf("off by %v: the snapshot is of %v from now", off, drift)
		}
		if d := s.ClockSkew + off; d < -2*time.Second || d > 2*time.Second {
			t.Errorf("off by %v: skew %v", off, s.ClockSkew)
		}
		r := of(s, "orders")
		if lag := r.LagS.Or(-1); lag < 0 || lag > 60 {
			t.Errorf("off by %v: lag %v", off, r.LagS)
		}
	}
}

func TestAPanicWhileLookingReachesWhoeverReads(t *testing.T) {
	cfg := config("")
	cfg.Connect = func(context.Context) (*pgx.Conn, error) { panic("a defect") }
	p := start(t, cfg)
	defer func() {
		if v := recover(); !strings.Contains(fmt.Sprint(v), "a defect") {
			t.Errorf("Read gave %v instead of the panic", v)
		}
	}()
	_, err := p.Read(ctxOf(t))
	t.Errorf("Read returned %v", err)
}
