package db

import (
	"strings"
	"testing"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func TestAQueueIsKnownByItsLanesOrByTheLog(t *testing.T) {
	noEnv(t)
	g := gateAt(t, pgtest.One(t), rehearsal.Options{})
	g.exec(`INSERT INTO shardpilot.decision (kind, queue, from_shards, to_shards, actor) VALUES ('decision', 'gone', 1, 1, 'controller')`)
	for _, name := range []string{g.queue, "gone"} {
		if err := KnownQueue(within(t), g.admin, name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	err := KnownQueue(within(t), g.admin, "unheard-of")
	if control.ExitCode(err) != 3 || !strings.Contains(err.Error(), `no queue "unheard-of"`) {
		t.Errorf("a queue that nobody knows: %v", err)
	}
	for role, want := range map[string]bool{"postgres": true, "nosuch": false, `no"such'`: false} {
		if got, err := RoleExists(within(t), g.admin, role); err != nil || got != want {
			t.Errorf("role %q: %v, %v", role, got, err)
		}
	}
}
