package experiment

import "testing"

// TestCalibratedWithinFifteenPercentOfPostgreSQL prints the comparison of what
// was measured and what is simulated.
func TestCalibratedWithinFifteenPercentOfPostgreSQL(t *testing.T) {
	list := Calibrate(Measured())
	t.Logf("\n%s", CalibrationTable(list))
	for _, m := range list {
		if !m.Agrees() {
			t.Errorf("%s at %d shards: measured %.2f jobs/s, share %.2f, simulated %.2f, %.2f", m.Name, m.Shards, m.JobsPerS, m.Share, m.Simulated, m.SimulatedShare)
		}
	}
	if wrong := (Measurement{JobsPerS: 100, Share: 0.5, Simulated: 116, SimulatedShare: 0.5}); wrong.Agrees() {
		t.Error("16% more than was measured was called agreement")
	}
	if wrong := (Measurement{JobsPerS: 100, Share: 0.5, Simulated: 100, SimulatedShare: 0.4}); wrong.Agrees() {
		t.Error("a wait share of 0.4 for 0.5 was called agreement")
	}
}
