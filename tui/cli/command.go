// Package cli is the face shardpilot shows without a screen: arguments in, one
// Command out; readings, reports and decisions in, tables or JSON lines out.
//
// Output rules: what was asked for goes to standard output, everything else to
// standard error. With JSON every line is one object and nothing else is
// printed. Names that come from a database are made safe in tables (control
// characters are shown, never interpreted) and escaped by JSON.
package cli

import (
	"time"

	"shardpilot/control"
	"shardpilot/tui"
)

// Command is what the arguments asked for.
type Command struct {
	Name   string // one of the names in commands, "dashboard" when none was given
	Conn   Conn
	Screen Screen
	Run    Run
	Demo   Demo
	Act    Act
	Record Record

	Config      string      // file named by a flag, "" for the default one
	Profile     string      // table of it, "" for none
	PrintConfig bool        // print Effective and do nothing else
	File        File        // what was read, by Load
	Effective   []Effective // the settings of the command, by Load

	Experiment Experiment

	// Flags are those that were given, for a report: without the connection.
	Flags []string

	Shell string // completion: one of Shells

	JSON bool // one object, or one a line for streams
	Yes  bool // do not ask
	Help bool // print the help of the command and do nothing else
}

// Conn says where to connect. Empty fields leave the choice to the PG*
// variables, the service file and the passfile, as libpq reads them.
type Conn struct {
	String     string // URL or keyword string
	Host       string
	Port       int // 1..65535, 0 when not given
	DBName     string
	User       string
	Weak       bool // String is of the file or the environment: flags may say otherwise
	AllowNewer bool // write to an Awa newer than the newest known
}

// Screen is how the dashboard looks and what it may do.
type Screen struct {
	Label    string
	ReadOnly bool
	Interval time.Duration // 0.25..10 s between pictures
	Glyphs   string        // auto, braille, block, ascii
	Color    string        // auto, truecolor, 256, 16, none

	LabelColor string
	Theme      string   // auto, dark, light, contrast, mono
	Columns    []string // nil for all
	Thresholds tui.Thresholds
	Mouse      bool
	Reach      string // how another terminal gets at the database
	LogFile    string // "" writes to standard error where there is no screen, and nowhere else
	LogFormat  string // text, json
	LogLevel   string // debug, info, warn, error
	Verbose    bool   // the level is debug, whatever LogLevel says
}

// Run is how the controller behaves.
type Run struct {
	Mode   string  // shadow or enforced
	Pace   float64 // divides every duration of the policy, >= 1
	Policy string  // file of the controller's numbers, "" for the defaults

	MetricsListen string // address, "" serves none
	HealthListen  string // address, "" serves none
	OTLPEndpoint  string // base URL of a collector, "" leaves it to the environment
	MetricsQueues int    // queues with series of their own, 1..1000
}

// Demo is the private PostgreSQL, its load, and how long it goes on.
type Demo struct {
	Shape     string // steady, bursty, skewed, notify, stuck, idle
	PG        string // 15, 17, 18, "" for the newest found
	PGBin     string // directory of binaries
	Keep      string // data directory that stays
	Headless  bool
	Duration  time.Duration // 0 goes on until stopped
	Producers int           // 0 takes the shape's own
	Hold      time.Duration // negative takes the shape's own
	Shards    int           // enqueue_shards at the start, 0 takes the shape's own
}

// Record is a recording that is made or read.
type Record struct {
	File    string   // "" records nothing
	MaxSize Size     // of all its files together
	Hash    bool     // replace names
	Set     []string // thresholds of a backtest, as name=value
}

// Experiment is what the gate is measured on and how.
type Experiment struct {
	Quick     bool
	Simulate  bool
	Sweep     []string // "Threshold=a,b,c" each
	Shapes    []string // nil for all
	Settings  []int    // static counts, nil for the plan's own
	Seeds     int      // 0 for the plan's own
	Duration  time.Duration
	Pace      float64 // 0 for the plan's own
	Out       string  // "" for the default of a full run, and for none of another
	AllowLoad bool    // on the database that is named
	Awa       string  // Python environment with the real Awa, "" for the rehearsal's schema
}

// Act holds the flags of the commands that keep or change something.
type Act struct {
	Queue     string
	Auto      bool
	Max       int
	Enforced  bool
	Shadow    bool
	Manual    int // shard count, 0 when not given
	Pin       int // shard count, 0 when not given
	Unpin     bool
	Override  int // shard count, 0 when not given
	Undo      bool
	For       time.Duration // of a pin, 0 for ever
	PauseUp   bool
	PauseDown bool
	Resume    bool
	Why       string
	Role      string // grants
	Level     string // grants, doctor: watch or act
	Limit     int    // log: rows
	Since     control.Moment
	Until     control.Moment
	By        string   // log: actor
	Kinds     []string // log: kinds of entry, nil for all
	Force     bool
}
