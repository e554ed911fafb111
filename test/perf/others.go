//go:build unix

package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// other is what oloproof is measured beside.
type other struct {
	name   string
	counts map[string]string // what it counts, as tallied; nil where it counts nothing
	run    func() (usage, error)
}

// duckdbScript runs a query in DuckDB.
//
//go:embed duckdb.cjs
var duckdbScript string

// count is what DuckDB counts on a line. FILE stands for the file.
func (l line) count() string {
	switch {
	case l.compare:
		return `select version, "case", count(*), count(passed), count(*) filter (passed = 1) from FILE group by all`
	case l.scored: // the last bin has its upper end; the sum is exact, as oloproof's is
		return "select " + l.columns + ", least(floor(score * 10), 9)::int as bin, count(*), sum(score::decimal(18, 4)) from FILE group by all"
	}
	return "select " + l.columns + ", count(*) from FILE group by all"
}

// inDuckDB is DuckDB on the same file, with two threads.
func inDuckDB(r *run, l line, path string) (other, error) {
	queries := []string{l.count()}
	if l.query != "" {
		queries = append(queries, l.query)
	}
	// What it counts is looked at once.
	_, out, err := r.duckdb(r.folder, path, true, queries...)
	if err != nil {
		return other{}, err
	}
	var results [][][]string
	if err := json.Unmarshal(out, &results); err != nil {
		return other{}, err
	}
	values := 1
	switch {
	case l.compare:
		values = 3
	case l.scored:
		values = 2
	}
	counts := map[string]string{}
	for _, row := range results[0] {
		key, value := row[:len(row)-values], row[len(row)-values:]
		if l.scored {
			value[1] = strings.TrimRight(strings.TrimRight(value[1], "0"), ".")
		}
		counts[strings.Join(key, "|")] = strings.Join(value, "|")
	}
	if l.query != "" && results[1][0][0] != fmt.Sprint(r.rowsOf(l)) {
		return other{}, fmt.Errorf("DuckDB finds %s different ids", results[1][0][0])
	}
	return other{"DuckDB", counts, func() (usage, error) {
		u, _, err := r.duckdb(r.folder, path, false, queries...)
		return u, err
	}}, nil
}

// duckdb runs queries on a file in a new DuckDB. Of the time that it takes, that for Node.js to start and for the database to open is
// left out; of the memory it is not. With rows it returns what the queries give: a list of rows of texts for each.
func (r *run) duckdb(folder, path string, rows bool, queries ...string) (u usage, out []byte, err error) {
	if err := r.install(); err != nil {
		return u, nil, err
	}
	script := filepath.Join(r.folder, "duckdb.cjs")
	if err := os.WriteFile(script, []byte(duckdbScript), 0o644); err != nil {
		return u, nil, err
	}
	reader := "read_csv"
	switch {
	case strings.HasSuffix(path, ".parquet"):
		reader = "read_parquet"
	case strings.HasSuffix(path, ".jsonl"):
		reader = "read_json"
	}
	from := fmt.Sprintf("%s(%s)", reader, sqlText(path))
	for i := range queries {
		queries[i] = strings.ReplaceAll(queries[i], "FILE", from)
	}
	asked, err := json.Marshal(map[string]any{"node": r.node, "rows": rows, "queries": queries})
	if err != nil {
		return u, nil, err
	}
	u, out, err = r.process(folder, "node", script, string(asked))
	if err != nil {
		return u, nil, err
	}
	var said struct {
		Seconds, CPU float64
		Rows         json.RawMessage
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return u, nil, err
	}
	u.Seconds, u.CPU = said.Seconds, said.CPU
	return u, said.Rows, nil
}

// sqlText is a text as SQL writes it.
func sqlText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// inGo is a Go program that reads the file with encoding/csv.
func inGo(r *run, l line, path string) (other, error) {
	program, err := r.build("encodingcsv", "./test/perf/encodingcsv")
	if err != nil {
		return other{}, err
	}
	args := append([]string{program, path}, strings.Split(l.columns, ", ")...)
	_, out, err := r.process(r.folder, args...)
	if err != nil {
		return other{}, err
	}
	var counts map[string]json.Number
	if err := json.Unmarshal(out, &counts); err != nil {
		return other{}, err
	}
	texts := map[string]string{}
	for key, n := range counts {
		texts[key] = n.String()
	}
	return other{"encoding/csv", texts, func() (usage, error) {
		u, _, err := r.process(r.folder, args...)
		return u, err
	}}, nil
}

// hashing is a Go program that computes the digest of the file.
func hashing(r *run, _ line, path string) (other, error) { return r.timed("SHA-256", "digest", path) }

// empty is a Go program that does nothing.
func empty(r *run, _ line, _ string) (other, error) { return r.timed("an empty program", "empty") }

// timed is a program of a folder beside this one that counts nothing.
func (r *run) timed(name, folder string, args ...string) (other, error) {
	program, err := r.build(folder, "./test/perf/"+folder)
	return other{name, nil, func() (usage, error) {
		u, _, err := r.process(r.folder, append([]string{program}, args...)...)
		return u, err
	}}, err
}
