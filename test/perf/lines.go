//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// line is one line of the table.
type line struct {
	name, what string
	file       file
	compare    bool     // trials of the compare gate; otherwise cases of the fairness gate
	args       []string // flags of oloproof
	columns    string   // that cases are counted by
	scored     bool     // the scores of cases are counted by bins and added up
	query      string   // what DuckDB runs beside the count; FILE stands for the file
	other      func(r *run, l line, path string) (other, error)
}

// file is what is measured on.
type file struct {
	format, ids string // of test/perf/generate
	compress    string // likewise
	parquet     string // written by DuckDB from the CSV, with this compression
	times       int    // ten for the large ones; 0 is one
}

const (
	caseColumns = "label, prediction, sex, age_band"
	areaColumns = "label, prediction, sex, area"
)

// unchecked are the flags of a run that does not look whether an id comes twice.
var unchecked = []string{"--assume-unique-ids"}

// The lines, in the order of docs/performance.md.
var lines = []line{
	{name: "csv", what: "CSV; no id is looked at", file: file{format: "csv", ids: "dense"}, args: unchecked, columns: caseColumns, other: inDuckDB},
	{name: "crlf", what: "CSV whose lines end as on Windows", file: file{format: "crlf", ids: "dense"}, args: unchecked, columns: caseColumns, other: inDuckDB},
	{name: "quoted", what: "CSV with every field in quotes", file: file{format: "quoted", ids: "dense"}, args: unchecked, columns: caseColumns, other: inDuckDB},
	{name: "ids-dense", what: "CSV, and every id is looked at: 1, 2, 3, …", file: file{format: "csv", ids: "dense"}, columns: caseColumns, query: distinct, other: inDuckDB},
	{name: "ids-any", what: "CSV, and every id is looked at: 16 hexadecimal digits in no order", file: file{format: "csv", ids: "any"}, columns: caseColumns, query: distinct, other: inDuckDB},
	{name: "scores", what: "CSV, and the scores are counted in ten bins and added up", file: file{format: "csv", ids: "dense"}, args: unchecked, columns: caseColumns, scored: true, other: inDuckDB},
	{name: "gzip", what: "CSV, compressed with gzip", file: file{format: "csv", ids: "dense", compress: "gzip"}, args: unchecked, columns: caseColumns, other: inDuckDB},
	{name: "zstd", what: "CSV, compressed with zstd", file: file{format: "csv", ids: "dense", compress: "zstd"}, args: unchecked, columns: caseColumns, other: inDuckDB},
	{name: "jsonl", what: "JSONL, the keys of every object in one order", file: file{format: "jsonl", ids: "dense"}, args: unchecked, columns: caseColumns, other: inDuckDB},
	{name: "jsonl-any-order", what: "JSONL, the keys of every object in another order", file: file{format: "jsonl-any-order", ids: "dense"}, args: unchecked, columns: caseColumns, other: inDuckDB},
	{name: "parquet-snappy", what: "Parquet, compressed with Snappy", file: file{format: "csv", ids: "dense", parquet: "snappy"}, args: unchecked, columns: caseColumns, other: inDuckDB},
	{name: "parquet-zstd", what: "Parquet, compressed with zstd", file: file{format: "csv", ids: "dense", parquet: "zstd"}, args: unchecked, columns: caseColumns, other: inDuckDB},
	{name: "areas", what: "CSV, 100,000 different values in a column of groups", file: file{format: "areas", ids: "dense"}, args: unchecked, columns: areaColumns, other: inDuckDB},
	{name: "compare", what: "trials of 100,000 cases in CSV, none named", file: file{format: "compare", ids: "none"}, compare: true, other: inDuckDB},
	{name: "compare-named", what: "trials of 100,000 cases in CSV, and every name of a trial is looked at", file: file{format: "compare", ids: "dense"}, compare: true, query: distinctTrials, other: inDuckDB},
	{name: "csv-100m", what: "ten times the rows of csv: time is to grow tenfold, memory not", file: file{format: "csv", ids: "dense", times: 10}, args: unchecked, columns: caseColumns, other: inDuckDB},
	{name: "encoding-csv", what: "the file of csv, beside a Go program with encoding/csv and a map", file: file{format: "csv", ids: "dense"}, args: unchecked, columns: caseColumns, other: inGo},
	{name: "digest", what: "the file of csv, beside a Go program that only computes its SHA-256", file: file{format: "csv", ids: "dense"}, args: unchecked, columns: caseColumns, other: hashing},
	{name: "start", what: "1,000 rows, beside an empty Go program", file: file{format: "csv", ids: "dense"}, columns: caseColumns, other: empty},
}

const (
	distinct       = "select count(distinct id), count(id) from FILE"
	distinctTrials = `select count(*) from (select distinct version, "case", trial from FILE)`
)

// rowsOf is how many rows a line has.
func (r *run) rowsOf(l line) int {
	if l.name == "start" {
		return 1000
	}
	return r.rows * max(l.file.times, 1)
}

// dataOf makes the file of a line where it is not there, and returns its path.
func (r *run) dataOf(l line) (string, error) {
	f := l.file
	name := fmt.Sprintf("%s-%s-%d", f.format, f.ids, r.rowsOf(l))
	plain := filepath.Join(r.folder, name+map[bool]string{true: ".jsonl", false: ".csv"}[strings.HasPrefix(f.format, "jsonl")])
	path := plain
	switch {
	case f.parquet != "":
		path = filepath.Join(r.folder, name+"-"+f.parquet+".parquet")
	case f.compress != "":
		path = plain + map[string]string{"gzip": ".gz", "zstd": ".zst"}[f.compress]
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if f.parquet != "" {
		csv := l
		csv.file.parquet = ""
		from, err := r.dataOf(csv)
		if err != nil {
			return "", err
		}
		_, _, err = r.duckdb(r.folder, from, false, fmt.Sprintf("copy (select * from FILE) to %s (format parquet, compression %s)", sqlText(path), f.parquet))
		return path, err
	}
	return path, command(r.generator, "-rows", fmt.Sprint(r.rowsOf(l)), "-format", f.format, "-ids", f.ids, "-compress", f.compress, "-o", path)
}

// The declaration and the policy that are decided: rules that these data decide, so that no time goes into searching how many more
// rows would.
const (
	declaration = `fairness:
  cases: FILE
  id: id
  label: label
  prediction: prediction
  SCORE
  attributes:
    sex: [female, male]
    GROUPS
  rules:
    - {id: missed, rate: false_negative, attribute: sex, max_group_gap: 0.5}
    - {id: served, rate: accuracy, attribute: sex, worst_group: {minimum: 0.4}}
`
	ageGroups  = "age_band: [under_30, 30_to_60, over_60]"
	areaGroups = "area: [area-000000, area-000001]"

	comparePolicy = `compare:
  baseline: old
  candidate: new
  rules:
    - {id: not-worse, metric: pass_rate_difference, minimum: -0.5}
`
)

// commands are the arguments of oloproof that decide a file, and that count it.
func (r *run) commands(l line, path string) (decide, tally []string, err error) {
	policy := filepath.Join(r.folder, l.name+".yaml")
	counted := filepath.Join(r.folder, l.name+".tally.json")
	if l.compare {
		err = os.WriteFile(policy, []byte(comparePolicy), 0o644)
		decide = []string{"compare", "gate", path, "--policy", policy}
		tally = []string{"tally", "compare", path, "--policy", policy, "-o", counted}
	} else {
		groups := ageGroups
		if l.columns == areaColumns {
			groups = areaGroups
		}
		score := ""
		if l.scored {
			score = "probability: score"
		}
		text := strings.NewReplacer("FILE", filepath.Base(path), "GROUPS", groups, "SCORE", score).Replace(declaration)
		err = os.WriteFile(policy, []byte(text), 0o644)
		decide = []string{"fairness", "gate", policy}
		tally = []string{"tally", "fairness", policy, "-o", counted}
	}
	decide = append(decide, "--json", "--quiet")
	return append(decide, l.args...), append(tally, l.args...), err
}

// line measures one line and returns its row of the table.
func (r *run) line(l line) (string, error) {
	path, err := r.dataOf(l)
	if err != nil {
		return "", err
	}
	if l.file.times > 1 && !r.keep {
		defer os.Remove(path)
	}
	decide, tally, err := r.commands(l, path)
	if err != nil {
		return "", err
	}
	other, err := l.other(r, l, path)
	if err != nil {
		return "", err
	}
	if other.counts != nil {
		if err := r.same(l, tally, other.counts); err != nil {
			return "", err
		}
	}
	rounds := r.rounds
	if l.name == "start" {
		rounds *= 10 // milliseconds
	}
	var own, others []usage
	for range rounds {
		u, _, err := r.process(r.folder, append([]string{r.program}, decide...)...)
		if err != nil {
			return "", err
		}
		o, err := other.run()
		if err != nil {
			return "", err
		}
		own, others = append(own, u), append(others, o)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return tableRow(l, r.rowsOf(l), info.Size(), other.name, own, others), nil
}

// tableHead is the head of the table.
const tableHead = `| line | what is read | rows, size | oloproof | beside it | times faster (runs) | seconds of CPU | peak of memory |
| --- | --- | --: | --: | --- | --: | --: | --: |`

// tableRow is a line of the table: medians of what oloproof took, and of what the other did.
func tableRow(l line, rows int, size int64, name string, own, others []usage) string {
	var ratios []float64
	for i := range own {
		ratios = append(ratios, others[i].Seconds/own[i].Seconds)
	}
	seconds := func(u usage) float64 { return u.Seconds }
	cpu := func(u usage) float64 { return u.CPU }
	peak := func(u usage) float64 { return u.Peak }
	digits := 2
	if l.name == "start" { // which takes milliseconds
		digits = 4
	}
	return fmt.Sprintf("| %s | %s | %s, %.0f MB | %.*f s | %s %.*f s | %.2f (%.2f–%.2f) | %.*f, %.*f | %.0f MB, %.0f MB |", l.name, l.what, thousands(rows), float64(size)/1e6,
		digits, median(own, seconds), name, digits, median(others, seconds), median(others, seconds)/median(own, seconds), slices.Min(ratios), slices.Max(ratios),
		digits, median(own, cpu), digits, median(others, cpu), median(own, peak), median(others, peak))
}

// thousands writes n with its thousands set apart.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// median is the median of something of runs.
func median(runs []usage, of func(usage) float64) float64 {
	var list []float64
	for _, u := range runs {
		list = append(list, of(u))
	}
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

// same reports a count in which the tally of oloproof is not what the other counted.
func (r *run) same(l line, tally []string, want map[string]string) error {
	if _, _, err := r.process(r.folder, append([]string{r.program}, tally...)...); err != nil {
		return err
	}
	got, err := tallied(tally[slices.Index(tally, "-o")+1])
	if err != nil {
		return err
	}
	var different []error
	for key, n := range want {
		if got[key] != n {
			different = append(different, fmt.Errorf("%s: %s is counted, and by the other %s", key, got[key], n))
		}
	}
	if len(got) != len(want) {
		different = append(different, fmt.Errorf("%d combinations are counted, and by the other %d", len(got), len(want)))
	}
	return errors.Join(different[:min(len(different), 5)]...)
}
