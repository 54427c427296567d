package control

import "time"

// AwaState names what kind of Awa installation a database holds.
type AwaState string

// The states of an installation, one sentence each in Installation.Sentence.
const (
	AwaNotInstalled AwaState = "not installed"
	AwaTooOld       AwaState = "too old"    // below version 39, or a catalogue probe fails
	AwaCanonical    AwaState = "canonical"  // queue storage is not active (canonical or prepared)
	AwaTransition   AwaState = "transition" // mixed_transition: watched, never written
	AwaActive       AwaState = "active"     // full
	AwaNewer        AwaState = "newer"      // above the newest version known: watched
	AwaHidden       AwaState = "hidden"     // our role may not look
)

// Installation is what discovery found of Awa in one database.
type Installation struct {
	State    AwaState `json:"state"`
	Schema   string   `json:"schema"`            // active queue-storage schema, "" when none
	Version  int      `json:"version"`           // max(version) of awa.schema_version, 0 when unknown
	Missing  []string `json:"missing,omitempty"` // catalogue probes that failed
	Sentence string   `json:"sentence"`          // what that means
	Hint     string   `json:"hint,omitempty"`    // what to do about it, "" when nothing
	MayWatch bool     `json:"may_watch"`
	MayWrite bool     `json:"may_write"` // as far as Awa's state goes; rights come on top
}

// Database says where we are.
type Database struct {
	Host      string    `json:"host"`
	Port      int       `json:"port"`
	Name      string    `json:"name"`
	User      string    `json:"user"`
	Version   string    `json:"version"` // server_version, e.g. "18.4"
	Standby   bool      `json:"standby"` // in recovery
	ReadOnly  bool      `json:"read_only"`
	StartedAt time.Time `json:"started_at"` // pg_postmaster_start_time
	Label     string    `json:"label"`      // environment label the operator gave
}

// Instance is one row of awa.runtime_instances.
type Instance struct {
	ID         string   `json:"id"`
	Hostname   string   `json:"hostname"`
	PID        int      `json:"pid"` // of the OS process, not a backend
	Version    string   `json:"version"`
	Healthy    bool     `json:"healthy"`
	Leader     bool     `json:"leader"`        // Awa's maintenance leader
	Stale      bool     `json:"stale"`         // has not been heard of for max(3 intervals, 30 s)
	SeenAgoS   Value    `json:"seen_s"`        // server clock
	UptimeS    Value    `json:"uptime_s"`      // server clock
	Queues     []string `json:"queues"`        // physical names it serves, raw
	ShuttingDn bool     `json:"shutting_down"` // it said so itself
}

// Cost is what looking cost the database since the last snapshot.
type Cost struct {
	Statements     int     `json:"statements"`
	BusyShare      float64 `json:"busy_share"`       // of one backend's time, 0..1
	SampleHz       float64 `json:"sample_hz"`        // current rate of looking
	LocksReadShare Value   `json:"locks_read_share"` // share of looks that had to read pg_locks, 0..1; absent without a look
	SlowedDown     bool    `json:"slowed_down"`      // looks or the other reads hold themselves back

	// What looking aims at, 0 in recordings that do not tell.
	Pace     float64 `json:"pace"`      // by which both are lifted, at least 1
	AimHz    float64 `json:"aim_hz"`    // looks a second while they are cheap
	AimShare float64 `json:"aim_share"` // of one backend's time, 0..1, which looking is to stay within
}

// Problem is a part of a snapshot that could not be had.
type Problem struct {
	Part   string `json:"part"`   // "locks", "activity", "depth", "sequences", "instances", "awa", ...
	Detail string `json:"detail"` // what happened; no secrets
	Hint   string `json:"hint"`   // what to do, e.g. the GRANT that mends it
}

// Snapshot is everything the probe saw at one tick.
type Snapshot struct {
	At        time.Time     `json:"at"` // server clock
	Database  Database      `json:"database"`
	Awa       Installation  `json:"awa"`
	Readings  []Reading     `json:"readings"` // by queue name
	Instances []Instance    `json:"instances"`
	Cost      Cost          `json:"cost"`
	Problems  []Problem     `json:"problems"`
	ClockSkew time.Duration `json:"clock_skew_ns"` // server clock minus ours, at half the round trip
}
