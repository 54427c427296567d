package db

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"shardpilot/control"
	"shardpilot/control/loop"
	"shardpilot/db/local/pgtest"
)

// contender is a Leader that runs until the test stops it.
type contender struct {
	*Leader
	stop  func() error // resigns and returns what Run said
	ended chan struct{}

	mu   sync.Mutex
	said []control.Leadership
}

func compete(t *testing.T, url, name string) *contender {
	t.Helper()
	cfg, err := Parse(url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &contender{ended: make(chan struct{})}
	c.Leader = NewLeader(cfg, LeaderOptions{Name: name, Host: "host", PID: 42, Every: 50 * time.Millisecond, Patience: 10 * time.Second, Rarely: 100 * time.Millisecond,
		OnChange: func(l control.Leadership) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.said = append(c.said, l)
		}})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { defer close(c.ended); done <- c.Run(ctx) }()
	c.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = c.stop() })
	return c
}

// becomes waits for a leadership that is as wanted.
func (c *contender) becomes(t *testing.T, what string, ok func(control.Leadership) bool) control.Leadership {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		l := c.Leadership()
		if ok(l) {
			return l
		}
		if time.Now().After(deadline) {
			t.Fatalf("never %s: %+v", what, l)
		}
	}
}

func leading(l control.Leadership) bool { return l.Leading }

func TestOneLeadsAndTheOthersNameIt(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := d.Connect(t)
		install(t, admin)
		a := compete(t, d.URL, "anna")
		if l := a.becomes(t, "leader", leading); l.Epoch != 1 || l.Name != "anna@host[42]" {
			t.Errorf("%+v", l)
		}
		b := compete(t, d.URL, "ben")
		if l := b.becomes(t, "follower", func(l control.Leadership) bool { return l.Name != "" }); l.Leading || l.Name != "anna@host[42]" || l.Epoch != 1 {
			t.Errorf("%+v", l)
		}
		who, err := WhoLeads(within(t), admin)
		if err != nil || !who.Alive || who.Name != "anna" || who.Host != "host" || who.PID != 42 || who.Since.IsZero() {
			t.Errorf("%+v %v", who, err)
		}
		if err := a.stop(); err != nil {
			t.Error(err)
		}
		if l := b.becomes(t, "leader", leading); l.Epoch != 2 || l.Name != "ben@host[42]" {
			t.Errorf("%+v", l)
		}
		if a.Leadership().Leading {
			t.Error("the one that resigned says it leads")
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
		who, err = WhoLeads(within(t), admin)
		if err != nil || who.Alive || who.Name != "" || who.Epoch != 2 {
			t.Errorf("nobody leads, and yet %+v %v", who, err)
		}
	})
}

// A session of ours that PostgreSQL still believes in is nobody to follow.
func TestAFormerSessionOfOursIsNotAnotherLeader(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	admin := d.Connect(t)
	install(t, admin)
	former := compete(t, d.URL, "anna")
	former.becomes(t, "leader", leading)
	now := compete(t, d.URL, "anna")
	if l := now.becomes(t, "held up", func(l control.Leadership) bool { return l.Refused != "" }); l.Leading || l.Name != "" ||
		!strings.Contains(l.Refused, "former session of this process") {
		t.Errorf("%+v", l)
	}
	if err := former.stop(); err != nil {
		t.Error(err)
	}
	if l := now.becomes(t, "leader", leading); l.Refused != "" || l.Epoch != 2 {
		t.Errorf("%+v", l)
	}
}

// A change holds the row of the leader, whose signs of life wait for it.
func TestALeadOutlivesAChangeThatTakesLong(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	admin := d.Connect(t)
	install(t, admin)
	a := compete(t, d.URL, "anna")
	lead := a.becomes(t, "leader", leading)
	run(t, admin, "BEGIN", query("store/epoch"))
	awaitBlocked(t, d, 1)
	time.Sleep(2 * time.Second) // longer than a sign of life may take
	run(t, admin, "ROLLBACK")
	seen := time.Now()
	eventually(t, "a sign of life", func() bool {
		who, err := WhoLeads(within(t), admin)
		return err == nil && who.Alive && who.RenewedAt.After(seen)
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	if last := a.said[len(a.said)-1]; last != lead || a.Leadership() != lead {
		t.Errorf("the lead did not last: %+v", a.said)
	}
}

// The leader's session is killed, as by a crash, while it means to lead.
func TestLeaderThatLosesItsSessionStopsAtOnceAndAnotherTakesOver(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := d.Connect(t)
		install(t, admin)
		a := compete(t, d.URL, "anna")
		old := a.becomes(t, "leader", leading)
		b := compete(t, d.URL, "ben")
		b.becomes(t, "follower", func(l control.Leadership) bool { return l.Name == "anna@host[42]" })

		who, err := WhoLeads(within(t), admin)
		if err != nil {
			t.Fatal(err)
		}
		run(t, admin, fmt.Sprintf("SELECT pg_terminate_backend(%d)", who.BackendPID))
		next := func() control.Leadership {
			for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				for _, c := range []*contender{a, b} {
					if l := c.Leadership(); l.Leading && l.Epoch > old.Epoch {
						return l
					}
				}
			}
			t.Fatal("nobody took over")
			return control.Leadership{}
		}()
		if next.Epoch != old.Epoch+1 {
			t.Errorf("epoch %d after %d", next.Epoch, old.Epoch)
		}
		a.mu.Lock()
		lost := slices.IndexFunc(a.said, func(l control.Leadership) bool { return !l.Leading && l.Epoch == old.Epoch })
		a.mu.Unlock()
		if lost < 0 {
			t.Error("the loser never said that it does not lead")
		}
		// Whoever still believes in the old epoch cannot write.
		err = newStore(t, d.URL, leads(old)).Save(within(t), loop.Batch{Entries: []control.LogEntry{{Kind: control.LogDecision, Queue: "q", Actor: "controller"}}})
		wantFault(t, err, control.FaultRefused, "does not lead")
	})
}

// The network goes away without a word: nobody is told that a session ended.
func TestLeaderBehindADeadNetworkIsReplaced(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	install(t, d.Connect(t))
	u, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	dead, over := make(chan struct{}), make(chan struct{})
	defer close(over)
	server := u.Host
	u.Host = serving(t, func(c net.Conn) {
		back, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		pass := func(to, from net.Conn) {
			buf := make([]byte, 4096)
			for {
				n, err := from.Read(buf)
				select {
				case <-dead:
					return
				default:
				}
				if err != nil {
					_ = to.Close()
					return
				}
				if _, err := to.Write(buf[:n]); err != nil {
					return
				}
			}
		}
		var both sync.WaitGroup
		both.Go(func() { pass(back, c) })
		both.Go(func() { pass(c, back) })
		both.Wait()
		<-over // both ends stay open
		_ = back.Close()
	})
	a := compete(t, u.String(), "anna")
	old := a.becomes(t, "leader", leading)
	b := compete(t, d.URL, "ben")
	b.becomes(t, "follower", func(l control.Leadership) bool { return l.Name == "anna@host[42]" })
	close(dead)
	a.becomes(t, "aware of it", func(l control.Leadership) bool { return !l.Leading })
	if l := b.becomes(t, "leader", leading); l.Epoch != old.Epoch+1 {
		t.Errorf("%+v", l)
	}
}

func TestNeverTwoLeadUnderOneEpoch(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	admin := d.Connect(t)
	install(t, admin)
	var all []*contender
	for i := range 4 {
		all = append(all, compete(t, d.URL, fmt.Sprint("c", i)))
	}
	for range 5 {
		var who LeaderInfo
		for deadline := time.Now().Add(time.Minute); !who.Alive && time.Now().Before(deadline); {
			var err error
			if who, err = WhoLeads(within(t), admin); err != nil {
				t.Fatal(err)
			}
		}
		run(t, admin, fmt.Sprintf("SELECT pg_terminate_backend(%d, 10000)", who.BackendPID))
	}
	epochs := map[int64]string{}
	for _, c := range all {
		if err := c.stop(); err != nil {
			t.Error(err)
		}
		for _, l := range c.said {
			if !l.Leading {
				continue
			}
			if was, ok := epochs[l.Epoch]; ok && was != l.Name {
				t.Errorf("epoch %d was led by %s and %s", l.Epoch, was, l.Name)
			}
			epochs[l.Epoch] = l.Name
		}
	}
	if len(epochs) < 5 {
		t.Errorf("only %d changes of leader", len(epochs))
	}
}

func TestLeadingIsRefusedWithItsReason(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	none := compete(t, d.URL, "early")
	none.becomes(t, "refused", func(l control.Leadership) bool { return strings.Contains(l.Refused, "not installed") })
	install(t, d.Connect(t))
	none.becomes(t, "leader once it is installed", leading)

	for _, mode := range []string{"transaction", "session"} {
		c := compete(t, d.Bouncer(t, mode), "pooled")
		if l := c.becomes(t, "refused", func(l control.Leadership) bool { return l.Refused != "" }); l.Leading || !strings.Contains(l.Refused, "pooler") {
			t.Errorf("%s: %+v", mode, l)
		}
		if err := c.stop(); err != nil {
			t.Error(err)
		}
	}
}

func TestLeaderGivesUpOnlyWhenNoRetryHelps(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	role := "leader " + d.Name
	addRole(t, d, role, "")
	c := compete(t, asRole(t, d, role, "wrong"), "x")
	select {
	case <-c.ended:
		wantFault(t, c.stop(), control.FaultNoConnection, "refused the password")
	case <-time.After(time.Minute):
		t.Error("a wrong password did not end it")
	}
}

// Nothing of ours is one of Awa's: theirs are single int8 keys.
func TestOurLocksAreNoneOfAwas(t *testing.T) {
	d := pgtest.One(t)
	conn, other := d.Connect(t), d.Connect(t)
	run(t, conn, fmt.Sprintf("SELECT pg_advisory_lock(%d, %d)", lockClass, lockLeader))
	if got := scan[int](t, conn, "SELECT objsubid::int FROM pg_locks WHERE locktype = 'advisory'"); got != 2 {
		t.Errorf("objsubid %d", got)
	}
	if !scan[bool](t, other, fmt.Sprintf("SELECT pg_try_advisory_lock(%d)", int64(lockClass)<<32|int64(lockLeader))) {
		t.Error("an int8 key of the same bits meets ours")
	}
}

func TestAFollowerKnowsWhoLeadsAndNeverLeads(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	install(t, d.Connect(t))
	cfg, err := Parse(d.URL, Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := NewFollower(cfg)
	f.every = 20 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	seen := func(want string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); f.Leadership().Name != want || f.Leadership().Leading; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("it says %+v, want %q", f.Leadership(), want)
			}
		}
	}
	a := compete(t, d.URL, "anna")
	a.becomes(t, "leader", leading)
	seen("anna@host[42]")
	if err := a.stop(); err != nil {
		t.Fatal(err)
	}
	seen("")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
