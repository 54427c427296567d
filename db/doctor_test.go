package db

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shardpilot/control"
	"shardpilot/db/local/pgtest"
	"shardpilot/db/rehearsal"
)

func find(r Report, check string) Finding {
	for _, f := range r.Findings {
		if f.Check == check {
			return f
		}
	}
	return Finding{State: "absent"}
}

func again(words ...string) string { return "shardpilot " + strings.Join(words, " ") }

func doctor(t *testing.T, conn *pgx.Conn) Report {
	t.Helper()
	r, err := Doctor(within(t), conn, DoctorOptions{Now: time.Now, Command: again})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Check == "doctor" {
			t.Errorf("a look failed: %s", f.Detail)
		}
		if f.Check == "" || f.Detail == "" {
			t.Errorf("says nothing: %+v", f)
		}
	}
	return r
}

func TestDoctorIsContentWithAWholeInstallation(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		conn := withAwa(t, d, rehearsal.Options{})
		lanesOf(t, conn, "orders", "", 1)
		if _, err := Install(within(t), conn); err != nil {
			t.Fatal(err)
		}
		r := doctor(t, connectTo(t, d.URL, Options{}))
		if r.Worst() != StateOK || !r.MayWatch || !r.MayAct {
			for _, f := range r.Findings {
				t.Logf("%+v", f)
			}
			t.Errorf("worst %s, %v", r.Worst(), r.Summary)
		}
		b, err := json.Marshal(r)
		if err != nil || !strings.Contains(string(b), `"state":"ok"`) {
			t.Errorf("%s %v", b, err)
		}
	})
}

func TestDoctorFindsWhatIsWrongWithLanes(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		t.Parallel()
		stranger := `str"anger ` + d.Name
		addRole(t, d, stranger, "NOLOGIN")
		conn := withAwa(t, d, rehearsal.Options{})
		run(t, conn, "GRANT USAGE, CREATE ON SCHEMA awa TO "+ident(stranger),
			"GRANT ALL ON ALL TABLES IN SCHEMA awa TO "+ident(stranger), "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA awa TO "+ident(stranger))
		lanesOf(t, conn, `mixed'"q`, "", 1)
		run(t, conn, "SET ROLE "+ident(stranger),
			`INSERT INTO awa.queue_enqueue_heads (queue, priority, enqueue_shard) VALUES ('mixed''"q', 2, 1)`, "RESET ROLE")
		lanesOf(t, conn, "lowered", "", 4)
		lanesOf(t, conn, "unprovisioned", "", 1)
		run(t, conn, `INSERT INTO awa.queue_meta (queue, enqueue_shards) VALUES ('unprovisioned', 4), ('empty', 2)`)

		holder := d.Connect(t)
		run(t, holder, "BEGIN", `SELECT awa.reserve_enqueue_seq('lowered', 2::smallint, 0::smallint, 1)`)
		deadline := time.Now().Add(time.Minute)
		var r Report
		for r = doctor(t, conn); find(r, "lane holders").State != StateWarn; r = doctor(t, conn) {
			if time.Now().After(deadline) {
				t.Fatalf("the holder is not found: %+v", find(r, "lane holders"))
			}
			time.Sleep(200 * time.Millisecond)
		}
		for check, words := range map[string][2]string{
			"lane holders":          {`("lowered", 2, 0)`, "pg_terminate_backend("},
			"lane owners":           {`mixed'\"q`, "ALTER SEQUENCE"},
			"lanes":                 {`"unprovisioned" is set to 4 shards, with 3 lanes of it missing`, "shardpilot set --queue unprovisioned --override 3 && shardpilot set --queue unprovisioned --override 4"},
			"lanes above the count": {`3 lanes of 1 queue above the configured count`, ""},
			"queues without lanes":  {`"empty"`, ""},
			"shardpilot schema":     {"not installed", "shardpilot install"},
		} {
			f := find(r, check)
			if f.State != StateWarn && f.State != StateFail || !strings.Contains(f.Detail, words[0]) || !strings.Contains(f.Fix, words[1]) {
				t.Errorf("%s: %+v", check, f)
			}
		}
		if f := find(r, "lanes above the count"); !strings.Contains(f.Detail, `"lowered" keeps 3 above 1`) {
			t.Errorf("%+v", f)
		}
		// What is printed mends it: the owner, and the holder.
		run(t, conn, find(r, "lane owners").Fix, find(r, "lane holders").Fix)
		if f := find(doctor(t, conn), "lane owners"); f.State != StateOK {
			t.Errorf("%+v", f)
		}
	})
}

// CASES 4: a plain login role sees waits, and is told what is hidden.
func TestDoctorSaysWhatIsHiddenFromAPlainRole(t *testing.T) {
	noEnv(t)
	pgtest.Each(t, func(t *testing.T, d *pgtest.DB) {
		admin := withAwa(t, d, rehearsal.Options{})
		lanesOf(t, admin, "orders", "", 1)
		role := "plain " + d.Name
		addRole(t, d, role, "")
		conn := connectTo(t, asRole(t, d, role, "pw of role"), Options{})
		r := doctor(t, conn)
		if r.Awa.State != control.AwaHidden || r.MayWatch || find(r, "awa").State != StateFail {
			t.Errorf("%+v", r.Awa)
		}
		list, err := Grants(within(t), admin, role, Watch, control.Installation{Schema: "awa"})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range list {
			if !strings.Contains(g, "pg_read_all_stats") {
				run(t, admin, g)
			}
		}
		run(t, d.Connect(t), "BEGIN", `SELECT awa.reserve_enqueue_seq('orders', 2::smallint, 0::smallint, 1)`)
		r = doctor(t, conn)
		if !r.MayWatch || r.MayAct {
			t.Errorf("%v", r.Summary)
		}
		if f := find(r, "lane holders"); f.State != StateUnknown || !strings.Contains(f.Detail, "hidden") {
			t.Errorf("%+v", f)
		}
		mend := ""
		for _, f := range r.Findings {
			if strings.Contains(f.Detail, "pg_read_all_stats") {
				mend = f.Fix
			}
		}
		run(t, admin, mend)
		if f := find(doctor(t, conn), "lane holders"); f.State == StateUnknown {
			t.Errorf("still hidden: %+v", f)
		}
	})
}

func TestDoctorWithoutAwaSaysWhereItLooked(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	r := doctor(t, connectTo(t, d.URL, Options{}))
	if r.MayWatch || r.MayAct || find(r, "awa").State != StateFail || r.Worst() != StateFail {
		t.Errorf("%+v", r)
	}
}

// CASES 12: the difference is said with its sign, and does no harm otherwise.
func TestDoctorMeasuresTheClocks(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	conn := d.Connect(t)
	for off, word := range map[time.Duration]string{10 * time.Minute: "behind", -10 * time.Minute: "ahead", 0: "agree"} {
		r, err := Doctor(within(t), conn, DoctorOptions{Now: func() time.Time { return time.Now().Add(off) }, Command: again})
		if err != nil {
			t.Fatal(err)
		}
		f := find(r, "clock")
		if !strings.Contains(f.Detail, word) || (f.State == StateOK) != (off == 0) {
			t.Errorf("%s: %+v", off, f)
		}
		if skew := r.ClockSkewS.Or(1e9) + off.Seconds(); skew > 5 || skew < -5 {
			t.Errorf("%s measured as %s", off, r.ClockSkewS)
		}
	}
}

// CASES 13: a hot standby is said up front and written to after its promotion.
func TestStandbyIsReadOnlyUntilItIsPromoted(t *testing.T) {
	noEnv(t)
	d := pgtest.NewServer(t, pgtest.Versions()[0], nil)
	conn := withAwa(t, d, rehearsal.Options{})
	data := scan[string](t, conn, "SHOW data_directory")
	closeConn(conn)
	if err := d.Server.StopServer(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "standby.signal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := d.Server.StartAgain(within(t)); err != nil {
		t.Fatal(err)
	}
	conn = connectTo(t, d.URL, Options{})
	r := doctor(t, conn)
	if !r.Database.Standby || !r.Database.ReadOnly || !r.MayWatch || r.MayAct || find(r, "primary").State != StateWarn {
		t.Errorf("%+v", r.Summary)
	}
	_, err := Install(within(t), conn)
	wantFault(t, err, control.FaultRefused, "takes no writes", "target_session_attrs=primary")
	err = connectErr(t, d.URL+"&target_session_attrs=primary")
	wantFault(t, err, control.FaultNoConnection, "target_session_attrs")
	if Fatal(err) {
		t.Error("a failover would not be waited for")
	}
	if !scan[bool](t, conn, "SELECT pg_promote(true, 60)") {
		t.Fatal("not promoted")
	}
	if _, err := Install(within(t), conn); err != nil {
		t.Error(err)
	}
	if r = doctor(t, conn); r.Database.Standby || !r.MayAct {
		t.Errorf("%+v", r.Summary)
	}
}

// A large installation gets a report that can be read.
func TestDoctorCountsWhatItCannotList(t *testing.T) {
	noEnv(t)
	d := pgtest.One(t)
	conn := withAwa(t, d, rehearsal.Options{})
	run(t, conn, `INSERT INTO awa.queue_lanes (queue, priority) SELECT 'q' || i, 2 FROM generate_series(1, 30) i`,
		`INSERT INTO awa.queue_meta (queue, enqueue_shards) SELECT 'q' || i, 4 FROM generate_series(1, 30) i`)
	r := doctor(t, conn)
	listed, counted := 0, false
	for _, f := range r.Findings {
		if f.Check == "lanes" {
			listed++
			counted = counted || strings.Contains(f.Detail, "10 more like these")
		}
	}
	if listed != mostFindings+1 || !counted {
		t.Errorf("%d listed, counted %v", listed, counted)
	}
}
