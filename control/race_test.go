//go:build race

package control

// underRace: the race detector makes pure arithmetic ten times as slow and finds
// nothing in it, so what only repeats is played less often.
const underRace = true
