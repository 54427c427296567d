package experiment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"shardpilot/control"
)

// TestAFolderGoesOnWhereItStopped: what an interrupted campaign kept is not
// measured again, and the report stands in the folder in the end.
func TestAFolderGoesOnWhereItStopped(t *testing.T) {
	folder := Folder(filepath.Join(t.TempDir(), "new"))
	bench := &fakeBench{failAt: 6}
	plan := somePlan()
	gate := Gate{Bench: bench, Folder: folder, Now: func() time.Time { return bench.now }}
	book, err := folder.Open(plan, []Fact{{"Date", "then"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := gate.Run(context.Background(), book); !errors.Is(err, errBench) {
		t.Fatal(err)
	}
	bench.failAt = 0
	plan.Margins.Settled = 0.5 // only judges what was measured
	book, err = folder.Open(plan, []Fact{{"Date", "now"}})
	if err != nil || len(book.Results) != 5 || book.Facts[0].Text != "then" || book.Plan.Margins.Settled != 0.5 {
		t.Fatalf("%d results of %v, %v", len(book.Results), book.Facts, err)
	}
	book, v, err := gate.Run(context.Background(), book)
	if err != nil || len(book.Results) != 12 || len(bench.ran) != 13 || len(v.Lines) == 0 {
		t.Fatalf("%d results after %d runs, %v", len(book.Results), len(bench.ran), err)
	}
	if err := folder.Publish("Title", book, v); err != nil {
		t.Fatal(err)
	}
	for name, word := range map[string]string{"results.json": `"version"`, "results.csv": "jobs_per_s", "report.md": "# Title", ChartName("idle"): "<svg"} {
		if text, err := os.ReadFile(filepath.Join(string(folder), name)); err != nil || !strings.Contains(string(text), word) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(string(folder), "*.new")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestAFolderOfAnotherCampaignIsRefused and says what is different.
func TestAFolderOfAnotherCampaignIsRefused(t *testing.T) {
	folder := Folder(t.TempDir())
	plan := somePlan()
	plan.Bench, plan.Program, plan.Pace = "PostgreSQL 18.4", "v1", 48
	if err := folder.Save(NewBook(plan, nil)); err != nil {
		t.Fatal(err)
	}
	for word, change := range map[string]func(*Plan){
		"bench":   func(p *Plan) { p.Bench = "PostgreSQL 17.10" },
		"program": func(p *Plan) { p.Program = "v2" },
		"shapes":  func(p *Plan) { p.Shapes = p.Shapes[:1] },
		"static":  func(p *Plan) { p.Static = []int{1} },
		"seeds":   func(p *Plan) { p.Seeds = []uint64{1} },
		"seconds": func(p *Plan) { p.Seconds++ },
		"lengths": func(p *Plan) { p.Lengths = map[string]Length{"idle": {1, 1}} },
		"counts":  func(p *Plan) { p.Counts = map[string][]int{"idle": {1}} },
		"pace":    func(p *Plan) { p.Pace = 12 },
		"paces":   func(p *Plan) { p.Paces = map[string]float64{"idle": 1} },
		"slow":    func(p *Plan) { p.Slow = 2 },
		"max":     func(p *Plan) { p.Max = 2 },
	} {
		other := plan
		change(&other)
		var f *control.Fault
		if _, err := folder.Open(other, nil); !errors.As(err, &f) || f.Kind != control.FaultRefused || !strings.Contains(f.What, "its "+word) {
			t.Errorf("another %s: %v", word, err)
		}
	}
	if _, err := folder.Open(plan, nil); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(string(folder), "results.json"), []byte(`{"version":1,"pl`), 0o600); err != nil {
		t.Fatal(err)
	}
	var f *control.Fault
	if _, err := folder.Open(plan, nil); !errors.As(err, &f) || f.Hint == "" {
		t.Errorf("half a file: %v", err)
	}
}

// TestNoFolderKeepsNothing and is no error.
func TestNoFolderKeepsNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	book, err := Folder("").Open(somePlan(), nil)
	if err = errors.Join(err, Folder("").Save(book), Folder("").Publish("x", book, Verdict{})); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir("."); len(left) > 0 {
		t.Errorf("%d files", len(left))
	}
}
