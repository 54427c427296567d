//go:build race

package metrics

// slowness is what the race detector costs a scrape: about ten times.
const slowness = 10
