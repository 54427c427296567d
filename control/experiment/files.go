package experiment

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"

	"shardpilot/control"
)

// Book is what a campaign of runs is kept in: one JSON file.
type Book struct {
	Version int      `json:"version"` // of the file's form
	Plan    Plan     `json:"plan"`
	Facts   []Fact   `json:"facts"`
	Results []Result `json:"results"`
}

const bookVersion = 1

// NewBook is a campaign of which nothing is measured yet.
func NewBook(plan Plan, facts []Fact) Book {
	return Book{Version: bookVersion, Plan: plan, Facts: facts, Results: []Result{}}
}

// JSON is the book as a file.
func (b Book) JSON() ([]byte, error) {
	b.Version = bookVersion
	out, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		return nil, fmt.Errorf("write results: %w", err)
	}
	return append(out, '\n'), nil
}

// ReadBook reads a book. What is no book, or one from a newer version, is a
// *control.Fault.
func ReadBook(data []byte) (Book, error) {
	var b Book
	if err := json.Unmarshal(data, &b); err != nil {
		return Book{}, &control.Fault{
			Kind: control.FaultFailed, What: "the file of results cannot be read",
			Hint: "It may have been cut off; move it away to begin anew", Err: err,
		}
	}
	if b.Version != bookVersion {
		return Book{}, &control.Fault{
			Kind: control.FaultFailed, What: fmt.Sprintf("the file of results has version %d, this program knows %d", b.Version, bookVersion),
			Hint: "Use the version of shardpilot that wrote it, or move it away to begin anew",
		}
	}
	return b, nil
}

// CSV is a row a run, with a header.
func CSV(results []Result) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	rows := [][]string{{
		"shape", "setting", "seed", "seconds", "bench", "start", "end", "enqueued", "jobs_per_s", "p50_s", "p99_s",
		"changes", "reversals", "settle_s", "shard_s", "errors", "shed",
	}}
	f := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for _, r := range results {
		errors := uint64(0)
		for _, n := range r.Errors {
			errors += n
		}
		rows = append(rows, []string{
			r.Shape, r.Setting.String(), strconv.FormatUint(r.Seed, 10), strconv.Itoa(r.Seconds), r.Bench,
			strconv.Itoa(r.Start), strconv.Itoa(r.End), strconv.FormatUint(r.Enqueued, 10), f(r.Throughput), f(r.P50S), f(r.P99S),
			strconv.Itoa(len(r.Changes)), strconv.Itoa(r.Reversals), f(r.SettleS), f(r.ShardS),
			strconv.FormatUint(errors, 10), strconv.FormatUint(r.Shed, 10),
		})
	}
	if err := w.WriteAll(rows); err != nil {
		return nil, fmt.Errorf("write results: %w", err)
	}
	return out.Bytes(), nil
}

// String is the setting as tables name it.
func (s Setting) String() string {
	if s.Static == 0 {
		return "controller"
	}
	return strconv.Itoa(s.Static)
}
