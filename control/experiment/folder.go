package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"shardpilot/control"
)

// Folder is where a campaign keeps what it measured; "" keeps nothing.
type Folder string

// Files of a folder, besides one chart a shape (ChartName).
const (
	bookFile   = "results.json"
	tableFile  = "results.csv"
	reportFile = "report.md"
)

// Open makes the folder and begins a book, or goes on with the one that is
// there. A book of another campaign is a *control.Fault.
func (f Folder) Open(plan Plan, facts []Fact) (Book, error) {
	book := NewBook(plan, facts)
	if f == "" {
		return book, nil
	}
	if err := os.MkdirAll(string(f), 0o755); err != nil {
		return book, f.fault("cannot be made", err)
	}
	data, err := os.ReadFile(filepath.Join(string(f), bookFile))
	if errors.Is(err, fs.ErrNotExist) {
		return book, nil
	}
	if err != nil {
		return book, f.fault("cannot be read", err)
	}
	earlier, err := ReadBook(data)
	if err != nil {
		return book, err
	}
	if what := differs(earlier.Plan, plan); what != "" {
		return book, &control.Fault{Kind: control.FaultRefused, What: fmt.Sprintf("the folder %s holds another campaign: %s", f, what),
			Hint: "name another --out, or give the same flags as then to go on with it"}
	}
	earlier.Plan.Margins, earlier.Plan.Quick, earlier.Plan.AgainS, earlier.Plan.Pool = plan.Margins, plan.Quick, plan.AgainS, plan.Pool
	return earlier, nil
}

func (f Folder) fault(what string, err error) error {
	return &control.Fault{Kind: control.FaultFailed, What: fmt.Sprintf("the folder %s %s: %v", f, what, err), Hint: "name another --out", Err: err}
}

// differs says in what two plans are not the same measurement, "" when they
// are. Margins only judge it, and when it was begun does not matter.
func differs(earlier, now Plan) string {
	fields := func(p Plan) map[string]json.RawMessage {
		p.Margins, p.Quick, p.Created, p.AgainS, p.Pool = Margins{}, false, time.Time{}, 0, false
		all := map[string]json.RawMessage{}
		data, err := json.Marshal(p)
		if err == nil {
			err = json.Unmarshal(data, &all)
		}
		if err != nil { // a plan is plain data
			return nil
		}
		return all
	}
	then, wanted := fields(earlier), fields(now)
	for _, name := range []string{"bench", "program", "shapes", "static", "seeds", "seconds", "pace", "paces", "slow", "max", "lengths", "counts"} {
		if !bytes.Equal(then[name], wanted[name]) {
			return fmt.Sprintf("its %s is %s, not %s", name, orNone(then[name]), orNone(wanted[name]))
		}
	}
	return ""
}

func orNone(text []byte) string {
	if len(text) == 0 {
		return "none"
	}
	return string(text)
}

// Save keeps the book, whole or not at all.
func (f Folder) Save(book Book) error {
	if f == "" {
		return nil
	}
	data, err := book.JSON()
	if err != nil {
		return err
	}
	return f.write(bookFile, data)
}

// Publish writes the report, its charts and the table beside the book.
func (f Folder) Publish(title string, book Book, v Verdict) error {
	if f == "" {
		return nil
	}
	table, err := CSV(book.Results)
	if err != nil {
		return err
	}
	facts := append(slices.Clone(book.Facts), Fact{"Runs of the controller", book.Plan.runWords()})
	if again := book.againWords(); again != "" {
		facts = append(facts, Fact{"Measured again", again})
	}
	files := map[string][]byte{tableFile: table, reportFile: Report(title, facts, book.Results, v)}
	for _, shape := range shapesOf(book.Results) {
		files[ChartName(shape)] = Chart(shape, book.Results)
	}
	for name, data := range files {
		if err := f.write(name, data); err != nil {
			return err
		}
	}
	return nil
}

// write replaces a file by way of another, so that a reader, or a crash, never
// meets half of it.
func (f Folder) write(name string, data []byte) error {
	path := filepath.Join(string(f), name)
	if err := os.WriteFile(path+".new", data, 0o644); err != nil {
		return f.fault("cannot be written to", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return f.fault("cannot be written to", err)
	}
	return nil
}
