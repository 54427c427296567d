package rehearsal

import (
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestAnOpenLoopArrivesAtItsRateWhateverTheSessionDoes(t *testing.T) {
	start := time.Unix(1000, 0)
	random := rand.New(rand.NewPCG(1, 1))
	p := newPace(Producers{Count: 4, Batch: 5, Rate: 200}, start, random) // 10 transactions/s each
	now, n := start, 0
	for now.Before(start.Add(100 * time.Second)) {
		due, shed := p.next(now)
		if shed > 0 {
			t.Fatalf("gave up %d jobs while in time", shed)
		}
		now = later(now, due).Add(20 * time.Millisecond) // the work takes a while
		n++
		p.done()
	}
	if n < 900 || n > 1100 {
		t.Errorf("%d transactions in 100 s, want about 1000", n)
	}
}

func TestAFailedJobStaysDueAndAnOverloadIsShed(t *testing.T) {
	start := time.Unix(1000, 0)
	p := newPace(Producers{Count: 1, Batch: 2, Rate: 20}, start, rand.New(rand.NewPCG(1, 1)))
	first, _ := p.next(start)
	if again, _ := p.next(first.Add(time.Second)); again != first {
		t.Error("a job that was not enqueued is no longer due")
	}
	p.done()
	due, shed := p.next(first.Add(100 * time.Second))
	if late := first.Add(100 * time.Second).Sub(due); late > tooLate {
		t.Errorf("%v behind after shedding", late)
	}
	if shed < 1700 || shed > 2100 {
		t.Errorf("gave up %d jobs of 95 s at 20/s", shed)
	}
}

func TestAClosedLoopThinksAndABurstRests(t *testing.T) {
	start := time.Unix(1000, 0)
	p := newPace(Producers{Count: 1, Think: time.Second}, start, nil)
	p.next(start)
	p.done()
	if due, _ := p.next(start.Add(5 * time.Second)); due != start.Add(6*time.Second) {
		t.Errorf("due %v after start", due.Sub(start))
	}
	p = newPace(Producers{Count: 1, On: 10 * time.Second, Off: 5 * time.Second}, start, nil)
	for at, want := range map[float64]float64{3: 3, 9.5: 9.5, 10: 15, 12: 15, 16: 16, 29: 30} {
		due, _ := newPace(p.spec, start, nil).next(start.Add(time.Duration(at * float64(time.Second))))
		if got := due.Sub(start).Seconds(); got != want {
			t.Errorf("at %g s due at %g s, want %g", at, got, want)
		}
	}
}

func TestQuantilesAreRightWithinABucket(t *testing.T) {
	var h, earlier Histogram
	if h.Quantile(0.5) != 0 {
		t.Error("a quantile of nothing")
	}
	for ms := 1; ms <= 1000; ms++ {
		h.add(time.Duration(ms) * time.Millisecond)
		if ms == 500 {
			earlier = h
		}
	}
	h.add(0)
	h.add(time.Hour)
	for q, want := range map[float64]float64{0.1: 0.1, 0.5: 0.5, 0.99: 0.99} {
		if got := h.Quantile(q); math.Abs(math.Log2(got/want)) > 1.01/perOctave {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
	late := h.minus(earlier)
	if got := late.Quantile(0.5); late.Count() != 502 || got < 0.7 || got > 0.83 {
		t.Errorf("median %g of the later %d", got, late.Count())
	}
	if sum := late.plus(earlier); sum != h {
		t.Error("parts do not add up")
	}
}

func TestTheFirstOfSkewedKeysIsDrawnThreeTimesInFour(t *testing.T) {
	k := newKeys(Keys{N: skewKeys, Zipf: skewZipf}, rand.New(rand.NewPCG(1, 2)))
	first := 0
	for range 10_000 {
		if string(k.next()) == "customer-0" {
			first++
		}
	}
	if first < 7200 || first > 7800 {
		t.Errorf("%d of 10000", first)
	}
	if newKeys(Keys{}, nil).next() != nil {
		t.Error("a key where none was asked for")
	}
}

// TestEveryStatementThatIsNamedExists also finds files that nobody runs.
func TestEveryStatementThatIsNamedExists(t *testing.T) {
	named := map[string]bool{}
	sources, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile(`"([a-z]+/[a-z_]+\.sql)"`)
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
			named[m[1]] = true
			if !strings.HasPrefix(statement(m[1]), "--") {
				t.Errorf("%s names %s, which is missing or says nothing of cost and privileges", source, m[1])
			}
		}
	}
	for _, folder := range []string{"admin", "lanes", "run"} {
		names, err := statementsIn(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if !named[name] {
				t.Errorf("nobody runs %s", name)
			}
		}
	}
}

func TestAnOpenLoopFollowsItsWave(t *testing.T) {
	start := time.Unix(1000, 0)
	wave := func(since time.Duration) Level {
		if since < 50*time.Second {
			return Level{Sessions: 1, Rate: 10}
		}
		return Level{Sessions: 1, Rate: 40}
	}
	p := newPace(Producers{Count: 1, Rate: 1, Wave: wave}, start, rand.New(rand.NewPCG(1, 1)))
	slow, fast := 0, 0
	for now := start; now.Before(start.Add(100 * time.Second)); p.done() {
		due, _ := p.next(now)
		now = due
		if due.Before(start.Add(50 * time.Second)) {
			slow++
		} else {
			fast++
		}
	}
	if slow < 400 || slow > 600 || fast < 1800 || fast > 2200 {
		t.Errorf("%d jobs in the first half, %d in the second", slow, fast)
	}
}
