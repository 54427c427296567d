package db

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"shardpilot/db/local/pgtest"
)

// A role may begin its sessions as another one, to which its rights belong:
// after the lanes' owner it is that one again, and not the user.
func TestAfterTheOwnerOfTheLanesTheSessionsOwnRoleActs(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	admin := d.Connect(t)
	group, owner, user := d.Name+" operators", d.Name+" lane owner", d.Name+" operator"
	addRole(t, d, group, "NOLOGIN")
	addRole(t, d, owner, "NOLOGIN")
	addRole(t, d, user, "")
	run(t, admin, "GRANT "+ident(group)+", "+ident(owner)+" TO "+ident(user))
	run(t, admin, "ALTER ROLE "+ident(user)+" SET role TO "+ident(group))
	conn := d.ConnectAs(t, asRole(t, d, user, "pw of role"))
	who := func(tx pgx.Tx) (name string) {
		if err := tx.QueryRow(within(t), "SELECT current_user").Scan(&name); err != nil {
			t.Fatal(err)
		}
		return name
	}
	tx, err := conn.Begin(within(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		sql  string
		args []any
		want string
	}{{"SELECT 1", nil, group}, {query("provision/act_as"), []any{owner}, owner}, {query("provision/act_as_ourselves"), nil, group}} {
		if _, err := tx.Exec(within(t), step.sql, step.args...); err != nil {
			t.Fatal(err)
		}
		if got := who(tx); got != step.want {
			t.Errorf("%s: %s acts, want %s", step.sql, got, step.want)
		}
	}
	if err := tx.Rollback(within(t)); err != nil {
		t.Fatal(err)
	}
}
