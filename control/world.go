package control


// Leadership is who leads the processes that watch one database.
type Leadership struct {
	Leading bool   // we do
	Epoch   int64  // counts up with every change of leader
	Name    string // who leads, as name@host; "" when not known
	Refused string // why we cannot lead (for instance a pooling proxy), "" when we can
}
