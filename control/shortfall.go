package control

// Shortfall is a kind of load on which the controller, by design, does less
// than the best fixed count would.
type Shortfall struct {
	Shape string `json:"shape"` // of the experiment, where it shows
	Load  string `json:"load"`  // what it is, after "where"
	Why   string `json:"why"`
}

// Shortfalls are all that are known: those that the experiment's gate excepts.
// Whoever lets the controller act by itself is told of them.
func Shortfalls() []Shortfall {
	return []Shortfall{
		{"skewed", "one ordering key has most of the jobs", "most of the waits are in the lane of one ordering key; more lanes help the other keys only, and the controller refuses them"},
		{"notify", "commits stand in line for NOTIFY", "beyond two lanes a doubling brings far less than the 15% that a step must promise, and lanes are for ever: the controller stops where NOTIFY is in the way"},
		{"stuck", "a stuck transaction keeps a lane", "more lanes would let some sessions pass the stuck transaction; the controller names it and does not grow for it"},
	}
}

// Words is it in a sentence.
func (s Shortfall) Words() string {
	return "Where " + s.Load + " it does less than the best fixed count would: " + s.Why + "."
}
