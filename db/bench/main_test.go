package bench

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/control/loop"
	"shardpilot/db"
	"shardpilot/db/local/pgtest"
	"shardpilot/probe"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// controller is the whole of one, as main puts it together.
func controller(adapt func(*control.Policy)) Control {
	return func(ctx context.Context, cfg *db.Config, pace float64, ready func()) error {
		p := Policy(pace)
		adapt(&p)
		leader := db.NewLeader(cfg, db.LeaderOptions{Name: "test", Host: "bench", PID: os.Getpid(), Every: 200 * time.Millisecond})
		store := db.NewStore(cfg, leader)
		gate := db.NewGate(cfg, leader, db.GateOptions{Policy: p, Mode: control.ModeEnforced})
		eye := probe.Start(ctx, probe.Config{Connect: cfg.Connect, Now: time.Now, Pace: pace, BaseHz: 8, MaxCost: 0.1, Where: db.Where,
			Discover: func(ctx context.Context, conn *pgx.Conn) (control.Installation, error) {
				return db.Discover(ctx, conn, false)
			}})
		tick := time.NewTicker(250 * time.Millisecond)
		runner, err := loop.New(loop.Config{Policy: p, Process: control.ModeEnforced, Store: store, Leader: leader, Gate: gate,
			Read: eye.Read, Tick: tick.C, Now: time.Now})
		if err != nil {
			return err
		}
		events, _ := runner.Subscribe(8)
		var all sync.WaitGroup
		var led, ran error
		all.Go(func() { led = leader.Run(ctx) })
		all.Go(func() { ran = runner.Run(ctx) })
		for e := range events {
			if slices.ContainsFunc(e.Decisions, Ready) {
				ready()
			}
		}
		all.Wait()
		tick.Stop()
		eye.Close()
		end, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = errors.Join(store.Close(end), gate.Close(end))
		return errors.Join(led, ran)
	}
}
