// Package record keeps what the controller saw and decided in a file, and
// gives it back: to a screen that plays it, and to a backtest that asks what
// other thresholds would have done.
//
// # The file
//
// A recording is lines of JSON, each whole or, at the end after a crash, torn.
//
//	{"shardpilot":"recording",…}   header: format, program, policy, server
//	{"before":[…]}                 entries of the decision log from before it
//	{"point":{…}}                  here reading can begin; see below
//	{"past":[…]}                   what each queue's numbers were since the last point
//	{"names":{…}}                  strings that numbers stand for from now on
//	{"gone":[…]}                   queues that are no longer there
//	{"more":{…}}                   decisions, producers, server: what changed
//	{"entry":{…}}                  an entry of the decision log
//	[…]                            a tick in numbers, which completes an event
//	{"fail":{…}}                   or a tick that failed, which does so too
//
// Between points only differences are written: a queue whose numbers are those
// of the tick before takes no space. A point comes once a minute; what follows
// it is complete again. It also says where the point before it lies, and where
// the entries since then do. So the last point, found from the end, leads to all
// others: opening reads a line a minute, going to a moment another one a minute
// and the ticks of the last minutes.
//
// What the controller computes with is kept exactly. What is only drawn is kept
// to six digits. The words of a decision (its figures, the producers' ages) are
// written again when the decision is another, and otherwise every 15 ticks.
//
// # Trust
//
// A recording may come from anywhere. Reading one never panics, takes no line
// for longer than maxLine, and leaves names raw: whoever draws makes them safe.
package record
