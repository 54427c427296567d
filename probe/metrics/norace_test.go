//go:build !race

package metrics

// slowness is what the race detector would cost.
const slowness = 1
