// Package tui draws what the controller sees: readings and decisions in, keys
// out. It holds no SQL, no policy and no clock of its own.
//
// One Model owns the whole state; the screens are methods on it, not models of
// their own. Its life has two halves:
//
//	Ingest(event)  takes a tick in: histories and the log move, the picture does not
//	Advance()      makes the newest tick the one that is shown, and draws it
//	Apply(event)   both, for tests and for whoever has no ticks of his own
//
// The split is what lets the picture move once a second while readings arrive
// at their own pace, and what makes pausing cheap: paused, the histories go on
// and only Advance is withheld. Keys draw at once, from what is shown.
//
// Text travels as segments (role, text, width) from the screens to the frame.
// Only the frame knows escape sequences, so a name from the database cannot
// bring its own, a cell cannot be wider than it says, and greying a stale
// picture is one decision in one place.
//
// A key asks for something outside the model through its Effect: quitting, the
// clipboard, a command that an operator confirmed in a dialog. The pump in run.go
// carries them out and brings back what came of them (Done).
//
// Rules for what is drawn:
//   - exactly w × h cells, at any size; too small says so
//   - a column that does not fit falls away by priority, nothing ever wraps
//   - trouble has a colour and a mark; zeros are quiet; absent is "n/a"
//   - a number keeps its width, and a line that did not change is not sent again
package tui
