package db

import (
	"shardpilot/control"
)

// State of a finding.
type State string

// The states. Unknown is what could not be looked at; it is never counted as
// fine.
const (
	StateOK      State = "ok"
	StateWarn    State = "warn"
	StateFail    State = "fail"
	StateUnknown State = "unknown"
)

// Finding is one thing the doctor looked at.
type Finding struct {
	Check  string `json:"check"`          // what was looked at: short and fixed, e.g. "server version"
	Code   Code   `json:"code,omitempty"` // what was found, "" when all is well
	State  State  `json:"state"`
	Detail string `json:"detail"`
	// Fix mends it, "" when nothing needs to be done: SQL, one statement a line
	// and each ended by a semicolon, a command that begins with "shardpilot ",
	// or else a step in words.
	Fix string `json:"fix,omitempty"`
}

// Report is what the doctor found. It is plain data; names in it are quoted as
// SQL, otherwise raw.
type Report struct {
	Database control.Database     `json:"database"`
	Awa      control.Installation `json:"awa"`
	Rights   RightSet             `json:"rights"`
	Schema   Schema               `json:"schema"` // shardpilot's own
	Findings []Finding            `json:"findings"`
	// ClockSkewS is the server's clock minus ours in seconds at half the round
	// trip; RoundTripS bounds its error.
	ClockSkewS control.Value `json:"clock_skew_s"`
	RoundTripS control.Value `json:"round_trip_s"`
	// MayWatch and MayAct sum it up: is it possible at all?
	MayWatch bool `json:"may_watch"`
	MayAct   bool `json:"may_act"`
	// Summary is one sentence a line.
	Summary []string `json:"summary"`
}

func (r *Report) ok(check, detail string) {
	r.Findings = append(r.Findings, Finding{Check: check, State: StateOK, Detail: detail})
}

func (r *Report) add(code Code, state State, detail, fix string) {
	r.Findings = append(r.Findings, Finding{Check: checks[code], Code: code, State: state, Detail: detail, Fix: fix})
}

// unknown notes a look that failed, without its cause's text: that is for logs.
func (r *Report) unknown(code Code, detail string) { r.add(code, StateUnknown, detail, "") }

// Worst is the worst state among the findings: fail, warn, unknown, ok.
func (r Report) Worst() State {
	worst := StateOK
	order := map[State]int{StateOK: 0, StateUnknown: 1, StateWarn: 2, StateFail: 3}
	for _, f := range r.Findings {
		if order[f.State] > order[worst] {
			worst = f.State
		}
	}
	return worst
}
