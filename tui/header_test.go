package tui

import "testing"

func TestWhatWantsALookIsCountedOnNarrowScreensToo(t *testing.T) {
	for _, w := range []int{120, 80, 60, 45} {
		world := acting(t)
		world.m.Resize(w, 24)
		has(t, world.m, "2 pending", "1 contended", "SHADOW", "a approve")
	}
}
