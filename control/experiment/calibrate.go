package experiment

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Measurement is what was measured on PostgreSQL of a load at a count, and what
// the simulator makes of the same load.
type Measurement struct {
	Name    string
	Machine Machine // that was measured, as the simulator knows it
	Load    Load
	Shards  int
	// JobsPerS and Share are the measured throughput and wait share, below 0
	// where that was not measured.
	JobsPerS, Share float64
	// WarmUp and Seconds are how long the load had run before, and for how long
	// it was looked at.
	WarmUp, Seconds float64
	// Simulated and SimulatedShare are filled in by Calibrate.
	Simulated, SimulatedShare float64
}

// Agreement is how far the simulator may be from a measurement, as a part of it.
const Agreement = 0.15

// leastShare is the difference of two wait shares that says nothing.
const leastShare = 0.03

// Off is how far the simulated throughput is from the measured one, as a part
// of it; 0 where none was measured.
func (m Measurement) Off() float64 {
	if m.JobsPerS <= 0 {
		return 0
	}
	return m.Simulated/m.JobsPerS - 1
}

// ShareOff is the same for the wait share. Shares that differ by a few
// hundredths do not differ.
func (m Measurement) ShareOff() float64 {
	if m.Share < 0 || math.Abs(m.SimulatedShare-m.Share) <= leastShare {
		return 0
	}
	return m.SimulatedShare/m.Share - 1
}

// Agrees says whether both are within Agreement.
func (m Measurement) Agrees() bool {
	return math.Abs(m.Off()) <= Agreement && math.Abs(m.ShareOff()) <= Agreement
}

// Measured are the figures that the machines were fitted to, on PostgreSQL 18
// with the rehearsal's producers, single-row enqueues through
// insert_job_compat, clients on the same two cores.
//
// The first were one run each with nothing beside it; neighbouring runs differed
// by up to a tenth, and the share was not looked at. The others are from one run
// of a quarter of an hour on a busy machine, with everything made so slow (200 ms
// inside the transaction, a commit_delay of 100 ms) that this hardly matters.
func Measured() []Measurement {
	held := Load{Sessions: 16, Hold: 5 * time.Millisecond}
	bare := Load{Sessions: 32}
	quiet := Load{Sessions: 32, Quiet: true}
	var list []Measurement
	for _, m := range []struct {
		name   string
		load   Load
		shards int
		rate   float64
	}{
		{"16 × 5 ms", held, 1, 146}, {"16 × 5 ms", held, 2, 294}, {"16 × 5 ms", held, 4, 570}, {"16 × 5 ms", held, 8, 808},
		{"32 × 0 ms", bare, 1, 737}, {"32 × 0 ms", bare, 4, 988}, {"32 × 0 ms", bare, 16, 838}, {"32 × 0 ms", bare, 32, 1064},
		{"32 × 0 ms, no NOTIFY", quiet, 1, 737}, {"32 × 0 ms, no NOTIFY", quiet, 16, 1758}, {"32 × 0 ms, no NOTIFY", quiet, 32, 1976},
	} {
		list = append(list, Measurement{Name: m.name, Machine: DefaultMachine(), Load: m.load, Shards: m.shards, JobsPerS: m.rate, Share: -1, WarmUp: warmUp, Seconds: 30})
	}
	return append(list, measuredSlowly()...)
}

// measuredSlowly has every shape, moments of those that move, at 1, 2, 4 and 8.
func measuredSlowly() []Measurement {
	const hold = 200 * time.Millisecond
	few, many, sine := Load{Sessions: 6, Hold: hold}, Load{Sessions: 24, Hold: hold}, Load{Sessions: 24, Hold: hold, Rate: 8}
	skewed, stuck := Load{Sessions: 16, Hold: hold, Keys: 1000, Zipf: 2.5}, Load{Sessions: 16, Hold: hold, Stuck: true}
	var list []Measurement
	for _, m := range []struct {
		name        string
		load        Load
		rate, share [4]float64
	}{
		{"steady, bursty", Load{Sessions: 16, Hold: hold}, [4]float64{2.79, 5.91, 9.20, 9.13}, [4]float64{0.937, 0.874, 0.747, 0.494}},
		{"ramp at 6 sessions", few, [4]float64{3.05, 6.14, 9.47, 9.85}, [4]float64{0.833, 0.663, 0.333, 0}},
		{"ramp at 24 sessions", many, [4]float64{3.11, 6.11, 9.02, 9.24}, [4]float64{0.958, 0.916, 0.833, 0.666}},
		{"sine at 8 jobs/s", sine, [4]float64{3.11, 6.15, 7.75, 7.95}, [4]float64{0.951, 0.883, 0.462, 0.256}},
		{"skewed", skewed, [4]float64{3.12, 4.04, 3.99, 3.79}, [4]float64{0.937, 0.918, 0.913, 0.920}},
		{"notify", Load{Sessions: 32}, [4]float64{8.32, 9.51, 9.12, 9.16}, [4]float64{0.969, 0.937, 0.874, 0.749}},
		{"notify, no NOTIFY", Load{Sessions: 32, Quiet: true}, [4]float64{8.93, 17.50, 33.62, 65.92}, [4]float64{0.969, 0.937, 0.872, 0.744}},
		// At one lane the transaction that keeps it came after a dozen enqueues.
		{"stuck", stuck, [4]float64{-1, 3.55, 9.12, 9.13}, [4]float64{0.941, 0.882, 0.763, 0.525}},
		// Sixteen jobs by chance tell no rate.
		{"idle", Load{Sessions: 1, Hold: hold, Rate: 1}, [4]float64{-1, -1, -1, -1}, [4]float64{}},
	} {
		for i := range m.rate {
			seconds := 16.0
			if m.load == sine && i > 1 {
				seconds = 90 // arrivals by chance that the lanes keep up with scatter much
			}
			list = append(list, Measurement{
				Name: m.name, Machine: slowDisk(), Load: m.load, Shards: 1 << i,
				JobsPerS: m.rate[i], Share: m.share[i], WarmUp: 4, Seconds: seconds,
			})
		}
	}
	return list
}

// Calibrate plays each measured load as long as it was looked at, event by
// event, eight times or until that many jobs leave nothing to chance, and fills
// in the means.
func Calibrate(list []Measurement) []Measurement {
	const times, plenty = 8, 4000
	out := make([]Measurement, len(list))
	for i, one := range list {
		jobs, played, wait, all := 0, 0, 0.0, 0.0
		for seed := 0; seed < times && jobs < plenty; seed++ {
			c := newCrowd(one.Machine, one.Load, one.Shards, uint64(seed+1))
			c.run(one.WarmUp)
			before := c.enqueued
			c.sink = func(b beat) { wait += b.wait; all += b.wait + b.hold }
			c.run(one.WarmUp + one.Seconds)
			jobs += c.enqueued - before
			played++
		}
		one.Simulated = float64(jobs) / (one.Seconds * float64(played))
		if all > 0 {
			one.SimulatedShare = wait / all
		}
		out[i] = one
	}
	return out
}

// CalibrationTable renders the comparison as a Markdown table.
func CalibrationTable(list []Measurement) string {
	var b strings.Builder
	b.WriteString("| load | S | jobs/s measured | simulated | off | wait share measured | simulated |\n|---|---:|---:|---:|---:|---:|---:|\n")
	for _, m := range list {
		measured, off, share := "", "", ""
		if m.JobsPerS > 0 {
			measured, off = short(m.JobsPerS), fmt.Sprintf("%+.0f%%", 100*m.Off())
		}
		if m.Share >= 0 {
			share = fmt.Sprintf("%.2f", m.Share)
		}
		mark := ""
		if !m.Agrees() {
			mark = " (!)"
		}
		fmt.Fprintf(&b, "| %s%s | %d | %s | %s | %s | %s | %.2f |\n", cell(m.Name), mark, m.Shards, measured, short(m.Simulated), off, share, m.SimulatedShare)
	}
	return b.String()
}
