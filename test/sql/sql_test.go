//go:build linux

// Package sql runs the queries of `oloproof sql` on real databases, a DuckDB and a PostgreSQL, and holds what is decided of their results to
// what is decided of the rows. The queries for other databases are parsed.
//
// It needs Node with the packages @duckdb/node-api and node-sql-parser in the folder that OLOPROOF_SQL names, and PostgreSQL's programs in the
// folder that OLOPROOF_POSTGRES names. Where these are not set it is skipped; with them nothing is.
package sql

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

// wanted skips a test where no databases are given, and returns the folder of Node's packages and that of PostgreSQL's programs.
func wanted(t *testing.T) (node, postgres string) {
	t.Helper()
	node, postgres = os.Getenv("OLOPROOF_SQL"), os.Getenv("OLOPROOF_POSTGRES")
	if node == "" || postgres == "" {
		t.Skip("set OLOPROOF_SQL and OLOPROOF_POSTGRES to run queries on real databases")
	}
	return node, postgres
}

// program builds the program.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "oloproof")
	build := exec.Command("go", "build", "-trimpath", "-o", path, ".")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// site is a folder in which the program and the databases run.
type site struct {
	*testing.T
	program, node string
	folder        string
	server        func(s *site, statement string) []byte
}

// psql is what psql prints of statements, as CSV with a header.
func (s *site) psql(statement string) []byte {
	s.Helper()
	return s.server(s, statement)
}

func (s *site) put(name, text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.folder, name), []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
}

// run runs the program and returns its exit status and what it printed.
func (s *site) run(args ...string) (status int, stdout, stderr string) {
	s.Helper()
	var out, told bytes.Buffer
	command := exec.Command(s.program, args...)
	command.Dir, command.Stdout, command.Stderr = s.folder, &out, &told
	if err := command.Run(); err != nil && command.ProcessState == nil {
		s.Fatal(err)
	}
	return command.ProcessState.ExitCode(), out.String(), told.String()
}

// query is what `oloproof sql` prints.
func (s *site) query(dialect, from string, args ...string) string {
	s.Helper()
	status, query, told := s.run(append([]string{"sql", "policy.yaml", "--dialect", dialect, "--from", from}, args...)...)
	if status != 0 {
		s.Fatalf("sql ends with %d:\n%s", status, told)
	}
	return query
}

// duckdb runs statements in a new database.
func (s *site) duckdb(statements ...string) {
	s.Helper()
	script, err := filepath.Abs("testdata/duckdb.cjs")
	if err != nil {
		s.Fatal(err)
	}
	text, err := json.Marshal(statements)
	if err != nil {
		s.Fatal(err)
	}
	command := exec.Command("node", script, s.node)
	command.Dir, command.Stdin = s.folder, bytes.NewReader(text)
	if out, err := command.CombinedOutput(); err != nil {
		s.Fatalf("duckdb: %v\n%s", err, out)
	}
}

// startPostgres starts a server on a socket in a folder of its own, as a person without rights where the test has them all, and returns
// psql on it.
func startPostgres(t *testing.T, programs string) func(s *site, statement string) []byte {
	t.Helper()
	place, err := os.MkdirTemp("/tmp", "pg") // short: a socket's path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(place) })
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		person, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(person.Uid)
		gid, _ := strconv.Atoi(person.Gid)
		as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(place, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(place, "data")
	run := func(name string, args ...string) {
		t.Helper()
		command := exec.Command(filepath.Join(programs, name), args...)
		command.Dir, command.SysProcAttr = place, as
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	run("initdb", "--pgdata", data, "--username", "oloproof", "--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync")
	run("pg_ctl", "--pgdata", data, "--log", filepath.Join(place, "log"), "--wait", "--options", "-F -k "+place+" -c listen_addresses=''", "start")
	t.Cleanup(func() { run("pg_ctl", "--pgdata", data, "--mode", "immediate", "--wait", "stop") })
	return func(s *site, statement string) []byte {
		s.Helper()
		command := exec.Command(filepath.Join(programs, "psql"), "-X", "--quiet", "--csv", "-v", "ON_ERROR_STOP=1", "-h", place, "-U", "oloproof", "-d", "postgres", "-f", "-")
		var told bytes.Buffer
		command.Dir, command.Stdin, command.Stderr = s.folder, strings.NewReader(statement), &told
		out, err := command.Output()
		if err != nil {
			s.Fatalf("psql: %v\n%s\n%s", err, told.Bytes(), statement)
		}
		return out
	}
}

// newSite is a folder with a DuckDB and a PostgreSQL.
func newSite(t *testing.T) *site {
	t.Helper()
	node, postgres := wanted(t)
	return &site{T: t, program: program(t), node: node, server: startPostgres(t, postgres)}
}

// name quotes a name in double quotes, and text a text: written apart from what is tested.
func name(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
func text(s string) string { return `'` + strings.ReplaceAll(s, `'`, `''`) + `'` }

// csv writes a table with every field in quotes.
func csv(table [][]string) string {
	var b strings.Builder
	for _, row := range table {
		for i, field := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(name(field)) // CSV doubles quotes too
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// study is a policy and its rows, the header first.
type study struct {
	name, gate string
	policy     string
	has        string // optional columns
	rows       func() [][]string
}

// draw picks values for rows, the same ones at every run.
type draw struct{ *rand.Rand }

func newDraw(seed uint64) draw { return draw{rand.New(rand.NewPCG(seed, 1))} }

func (d draw) of(values ...string) string { return values[d.IntN(len(values))] }

// hostileColumns are names that a query must quote: with quotes of each kind, backslashes, ends of statements and of comments, and letters
// beyond ASCII.
const hostileColumns = `columns:
  id: "ïd \u65e5\u672c"
  label: 'lab.el'' OR 1=1'
  prediction: 'pred\iction\'
  score: 'sc%re {x} $1 :y ?'
  sex: 'se"x"; DROP TABLE decided; --'
  age: "a'ge /* x"
  region: "reg` + "`" + `ion\\` + "`" + ` */ $$"
`

// blanks are the characters of Unicode's White_Space, from its PropList.txt.
var blanks = strings.Split("\t|\n|\v|\f|\r| |\u0085|\u00a0|\u1680|\u2000|\u2001|\u2002|\u2003|\u2004|\u2005|\u2006|\u2007|\u2008|\u2009|\u200a|\u2028|\u2029|\u202f|\u205f|\u3000", "|")

var studies = []study{
	{name: "hostile", gate: "fairness", policy: `name: "we'ird \"name\" \\ ; --"
missing_values: [NA, "it's \\ none"]
` + hostileColumns + `positive: "gr'anted"
negative: 're"fused\'
probability: score
unit: person
attributes: {sex: [female, male, "o'r\\; --"], age: {bins: [30, 60.5]}}
intersections: [[sex, age]]
min_cell: 3
calibration_bins: 7
max_left_out: 0.5
rules:
  - {id: gap, rate: false_negative, attribute: sex, max_group_gap: 0.6}
  - {id: crossed, rate: error, attribute: [age, sex], max_group_gap: 0.9}
  - {id: worst, rate: precision, attribute: sex, worst_group: {minimum: 0.2}, where: {region: "nor'th \\"}}
  - {id: other, rate: accuracy, attribute: age, max_group_gap: 0.8, where: {area: "a \"b\""}}
  - {id: none, rate: accuracy, attribute: sex, max_group_gap: 0.8, where: {area: nowhere}}
`, rows: func() [][]string {
		d := newDraw(1)
		table := [][]string{{"ïd 日本", "lab.el' OR 1=1", `pred\iction\`, "sc%re {x} $1 :y ?", "person", `se"x"; DROP TABLE decided; --`, "a'ge /* x", "reg`ion\\` */ $$", "area"}}
		for i := range 500 {
			table = append(table, []string{
				fmt.Sprintf("id '%d\\", i), d.of("gr'anted", ` re"fused\ `, "", "NA"), d.of("gr'anted", "re\"fused\\\u3000", ""),
				// Written plainly, and in ways that only a reader of numbers knows.
				d.of("0", "0.1", "0.142857142857142857", "0.142857142857142858", "0.3333333333333333333", "1", "1.0", "2.5e-1", ".5", "+0.25", "00.5", "5e-20", "0.5", "NA", ""), fmt.Sprintf("p%d", i),
				d.of("female", blanks[i%len(blanks)]+"male"+blanks[(i+7)%len(blanks)], "\u00a0male\u2003", "\u200bmale", "male\ufeff", "\u180emale", "male\t", "\vfemale\r\n", " o'r\\; -- ", "x\"y", "a\nb", "Ünbekannt", "", "it's \\ none"),
				d.of("20", "29.9999999999999999999", "30", " 45 ", "60.5", "60.50", "1e2", "-1", "+31", "1234567890123456789", ""),
				d.of("nor'th \\", "south", "", "NA"), d.of("a \"b\"", "c;--", ""),
			})
		}
		return table
	}},
	{name: "plain", gate: "fairness", policy: "attributes: {sex: [female, male]}\nrules: [{id: a, rate: selection, attribute: sex, max_group_gap: 0.5}]\n", rows: func() [][]string {
		d := newDraw(2)
		table := [][]string{{"id", "prediction", "sex", "more"}}
		for i := range 100 {
			table = append(table, []string{strconv.Itoa(i), d.of("0", "1", "0.0", "TRUE", "False", ""), d.of("female", "male", "Male"), "x"})
		}
		return table
	}},
	{name: "passes", gate: "compare", has: "trial", policy: "columns: {version: \"ver'sion\\\\\", case: 'ca\"se; --'}\nbaseline: old\ncandidate: \"n'ew\"\nmax_left_out: 0.5\nrules:\n  - {id: a, metric: pass_rate_difference, minimum: 0.1, where: {\"le'vel\": hard}}\n  - {id: b, metric: sign_test}\n  - {id: c, metric: rate, minimum: 0.5}\n",
		rows: func() [][]string { return trials(3, "passed", "0", "1", "true", "1.0", "") }},
	{name: "scores", gate: "compare", has: "score", policy: "columns: {version: \"ver'sion\\\\\", case: 'ca\"se; --'}\nbaseline: old\ncandidate: \"n'ew\"\nmissing_values: [NA]\nmax_left_out: 0.5\nrules:\n  - {id: a, metric: pass_rate_difference, minimum: 0.1, where: {\"le'vel\": hard}}\n  - {id: b, metric: sign_test}\n",
		rows: func() [][]string {
			return trials(4, "score", "0", "1", "0.3", "0.333333333333333333", "0.33333333333333333333", "1e-18", "5e-1", "NA", "")
		}},
}

// trials are rows of two versions and one more, on cases whose level is known in some rows.
func trials(seed uint64, kind string, results ...string) [][]string {
	d := newDraw(seed)
	table := [][]string{{`ver'sion\`, `ca"se; --`, "trial", kind, "le'vel"}}
	for i := range 200 {
		item := d.of("a'1", "b\"2", "c\\3", "d;4", "e\n5", " f 6 ")
		level := map[bool]string{true: "hard", false: "easy"}[strings.ContainsAny(item, "1246")]
		table = append(table, []string{d.of("old", "n'ew", "other", "old"), item, d.of(strconv.Itoa(i), strconv.Itoa(i), ""), d.of(results...), d.of(level, "")})
	}
	return table
}

// TestDatabases runs queries on a DuckDB and a PostgreSQL.
func TestDatabases(t *testing.T) {
	s := newSite(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *site)
	}{{"count as rows", countAsRows}, {"typed columns", typedColumns}, {"shards of all kinds", shardsOfAllKinds}, {"refuse as rows", refuseAsRows}, {"refuse trials", refuseTrials}} {
		t.Run(test.name, func(t *testing.T) { test.run(t, s.in(t)) })
	}
}

// in is the site for a test of its own, in another folder.
func (s *site) in(t *testing.T) *site {
	one := *s
	one.T, one.folder = t, t.TempDir()
	return &one
}

// countAsRows: for every study, what is decided of a query's result, from DuckDB and PostgreSQL, as CSV and as JSONL, of tables
// and of files, is what is decided of the rows, byte for byte but for the inputs.
func countAsRows(t *testing.T, s *site) {
	for i, of := range studies {
		t.Run(of.name, func(t *testing.T) {
			one := s.in(t)
			table := of.rows()
			one.put("policy.yaml", of.policy)
			one.put("rows.csv", csv(table))
			want := one.decide(of.gate, "rows.csv")
			var has []string
			if of.has != "" {
				has = []string{"--has", of.has}
			}
			schema := fmt.Sprintf(`s"%d; --`, i)
			from := name(schema) + `."t'ab.le\"`

			duck := one.query("duckdb", from, has...)
			ansi := one.query("ansi", from, has...)
			file := one.query("duckdb", "./rows.csv", has...)
			one.duckdb("CREATE SCHEMA "+name(schema), "CREATE TABLE "+from+" AS SELECT * FROM read_csv('rows.csv', all_varchar = true, header = true)",
				"COPY ("+duck+") TO 'duckdb.csv' (HEADER)", "COPY ("+duck+") TO 'duckdb.jsonl' (FORMAT json)",
				"COPY ("+file+") TO 'file.csv' (HEADER)", "COPY ("+ansi+") TO 'ansi.csv' (HEADER)")

			var columns []string
			for _, c := range table[0] {
				columns = append(columns, name(c)+" TEXT")
			}
			query := one.query("postgres", from, has...)
			ansi = one.query("ansi", from, has...)
			one.psql("CREATE SCHEMA " + name(schema) + "; CREATE TABLE " + from + " (" + strings.Join(columns, ", ") + "); " + inserts(from, table))
			one.put("postgres.csv", string(one.psql(query)))
			one.put("postgres-ansi.csv", string(one.psql(ansi)))
			// Whatever a session says of backslashes.
			one.put("old-strings.csv", string(one.psql("SET standard_conforming_strings = off; SET escape_string_warning = off;\n"+query)))
			one.put("postgres.jsonl", string(one.psql("COPY (SELECT row_to_json(r)::text FROM ("+query+") r) TO STDOUT WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')")))

			for _, result := range []string{"duckdb.csv", "duckdb.jsonl", "file.csv", "ansi.csv", "postgres.csv", "postgres-ansi.csv", "old-strings.csv", "postgres.jsonl"} {
				if diff := cmp.Diff(want, one.decide(of.gate, "--tally", result)); diff != "" {
					t.Errorf("%s (-rows +result):\n%s", result, diff)
				}
			}
		})
	}
}

// inserts puts rows into a table.
func inserts(into string, table [][]string) string {
	var rows []string
	for _, row := range table[1:] {
		var fields []string
		for _, field := range row {
			fields = append(fields, text(field))
		}
		rows = append(rows, "("+strings.Join(fields, ", ")+")")
	}
	return "INSERT INTO " + into + " VALUES " + strings.Join(rows, ",\n") + ";\n"
}

// decide is a report without its inputs.
func (s *site) decide(gate string, args ...string) string {
	s.Helper()
	command := []string{gate, "gate"}
	if gate == "fairness" {
		command = append(command, "policy.yaml")
	} else {
		command = append(command, "--policy", "policy.yaml")
	}
	status, doc, told := s.run(append(append(command, "--json"), args...)...)
	var r map[string]json.RawMessage
	if err := json.Unmarshal([]byte(doc), &r); err != nil {
		s.Fatalf("%v: %v\n%s", args, err, told)
	}
	if status == 2 {
		s.Fatalf("%v: the run ends with 2:\n%s", args, doc)
	}
	delete(r, "inputs")
	out, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		s.Fatal(err)
	}
	return string(out)
}

// typedColumns: columns of numbers and booleans come to the same as the texts that they are written as: in tables, in Parquet and in JSONL,
// whether a database counts them or the files are read.
func typedColumns(t *testing.T, s *site) {
	s.put("policy.yaml", "probability: score\nattributes: {sex: [1, 2], age: {bins: [30]}}\nmin_cell: 1\nrules: [{id: a, rate: error, attribute: age, max_group_gap: 0.9}]\n")
	d := newDraw(5)
	table := [][]string{{"id", "label", "prediction", "score", "sex", "age"}}
	var jsonl strings.Builder
	values := "VALUES"
	for i := range 200 {
		// Sums of 64ths are exact as floats; 1e-05 is how both databases write that one.
		row := []string{strconv.Itoa(9007199254740993 + i), d.of("true", "false"), d.of("0", "1"), d.of("0.015625", "0.5", "1e-05", "0.1", "1"), d.of("1", "2", "3"), d.of("29", "30", "31")}
		table = append(table, row)
		fields := strings.Join(row, ", ")
		if i > 0 {
			values += ","
		}
		values += "(" + fields + ")"
		fmt.Fprintf(&jsonl, `{"id": %s, "label": %s, "prediction": %s, "score": %s, "sex": %s, "age": %s}`+"\n", row[0], row[1], row[2], row[3], row[4], row[5])
	}
	s.put("rows.csv", csv(table))
	s.put("rows.jsonl", jsonl.String())
	want := s.decide("fairness", "rows.csv")
	if diff := cmp.Diff(want, s.decide("fairness", "rows.jsonl")); diff != "" {
		t.Fatalf("JSONL (-CSV +JSONL):\n%s", diff)
	}
	create := "CREATE TABLE typed (id BIGINT, label BOOLEAN, prediction INTEGER, score DOUBLE PRECISION, sex SMALLINT, age INTEGER)"
	typed, parquet, lines := s.query("duckdb", "typed", "--has", "label"), s.query("duckdb", "rows.parquet", "--has", "label"), s.query("duckdb", "rows.jsonl", "--has", "label")
	s.duckdb(create, "INSERT INTO typed "+values, "COPY typed TO 'rows.parquet'",
		"COPY ("+typed+") TO 'typed.csv' (HEADER)", "COPY ("+parquet+") TO 'parquet.csv' (HEADER)", "COPY ("+lines+") TO 'lines.csv' (HEADER)")
	for _, options := range []string{"COMPRESSION snappy", "COMPRESSION zstd, ROW_GROUP_SIZE 64", "COMPRESSION lz4_raw, PARQUET_VERSION v2", "COMPRESSION gzip, DICTIONARY_SIZE_LIMIT 1"} {
		s.duckdb(create, "INSERT INTO typed "+values, "COPY typed TO 'read.parquet' (FORMAT parquet, "+options+")")
		if diff := cmp.Diff(want, s.decide("fairness", "read.parquet")); diff != "" {
			t.Errorf("Parquet with %s (-CSV +Parquet):\n%s", options, diff)
		}
	}
	s.psql(create + "; INSERT INTO typed " + values)
	s.put("postgres.csv", string(s.psql(s.query("postgres", "typed", "--has", "label"))))
	for _, result := range []string{"typed.csv", "parquet.csv", "lines.csv", "postgres.csv"} {
		if diff := cmp.Diff(want, s.decide("fairness", "--tally", result)); diff != "" {
			t.Errorf("%s (-rows +result):\n%s", result, diff)
		}
	}
}

// shardsOfAllKinds: one third counted by the program, compressed, one by DuckDB and one by PostgreSQL are decided together as the rows are.
func shardsOfAllKinds(t *testing.T, s *site) {
	of := studies[0]
	table := of.rows()
	s.put("policy.yaml", of.policy)
	s.put("rows.csv", csv(table))
	parts := [3][][]string{}
	for i := range parts {
		parts[i] = append(parts[i], table[0])
	}
	for i, row := range table[1:] {
		parts[i%3] = append(parts[i%3], row)
	}
	s.put("first.csv", csv(parts[0]))
	s.put("second.csv", csv(parts[1]))
	if out, err := exec.Command("gzip", filepath.Join(s.folder, "first.csv")).CombinedOutput(); err != nil {
		t.Fatalf("gzip: %v\n%s", err, out)
	}
	if status, _, told := s.run("tally", "fairness", "policy.yaml", "first.csv.gz", "-o", "part1.json"); status != 0 {
		t.Fatal(told)
	}
	s.duckdb("COPY (" + s.query("duckdb", "second.csv", "--has", "label") + ") TO 'part2.csv' (HEADER)")
	var columns []string
	for _, c := range table[0] {
		columns = append(columns, name(c)+" TEXT")
	}
	s.psql("CREATE TABLE third (" + strings.Join(columns, ", ") + "); " + inserts("third", parts[2]))
	s.put("part3.csv", string(s.psql(s.query("postgres", "third", "--has", "label"))))
	if diff := cmp.Diff(s.decide("fairness", "rows.csv"), s.decide("fairness", "--tally", "part*")); diff != "" {
		t.Errorf("(-rows +parts):\n%s", diff)
	}
}

// refuseAsRows: what reading the rows refuses, the result of a query is refused for.
func refuseAsRows(t *testing.T, s *site) {
	const policy = "probability: p\nunit: person\nattributes: {age: {bins: [30]}}\nrules: [{id: a, rate: error, attribute: age, worst_group: {maximum: 0.5}}]\n"
	for i, test := range []struct {
		row  string // the second of two
		want string
	}{
		{"1,1,1,0.5,q,40", "id has only 1 different values in 2 rows; each case has its own"},
		{"2,1,1,0.5,p,40", "person has only 1 different values in 2 rows; one person has several cases"},
		{",1,1,0.5,q,40", "id is empty in 1 row; every case needs an id"},
		{"2,1,1,0.5,,40", "person is empty in 1 row; with a unit declared, every case says whose it is"},
		{"2,yes,1,0.5,q,40", `label: found "yes": 0 or 1 is allowed`},
		{"2,1,maybe,0.5,q,40", `prediction: found "maybe": 0 or 1 is allowed`},
		{"2,1,1,1.5,q,40", `p: found "1.5"; a probability from 0 to 1 is allowed`},
		{"2,1,1,-0.5,q,40", `p: found "-0.5"; a probability from 0 to 1 is allowed`},
		{"2,1,1,1.0000000000000000001,q,40", `p: found "1.0000000000000000001"; a probability from 0 to 1 is allowed`},
		{"2,1,1,half,q,40", `p: found "half": a decimal number`},
		{"2,1,1,0.5,q,old", `age: found "old": a decimal number`},
		{"2,1,1,0.5,q,under_30", `age: found "under_30": a decimal number`},
		{"2,1,1,0.5,q,12345678901234567890123", `age: found "12345678901234567890123": a number between`},
	} {
		s.put("policy.yaml", policy)
		s.put("rows.csv", "id,label,prediction,p,person,age\n1,1,1,0.5,p,20\n"+test.row+"\n")
		if status, _, _ := s.run("fairness", "gate", "policy.yaml", "rows.csv"); status != 2 {
			t.Errorf("%s: the rows end with %d", test.row, status)
		}
		s.duckdb("COPY (" + s.query("duckdb", "rows.csv", "--has", "label") + ") TO 'duckdb.csv' (HEADER)")
		table := fmt.Sprintf("wrong%d", i)
		s.psql("CREATE TABLE " + table + " (id TEXT, label TEXT, prediction TEXT, p TEXT, person TEXT, age TEXT);\n\\copy " + table + " FROM 'rows.csv' CSV HEADER\n")
		s.put("postgres.csv", string(s.psql(s.query("postgres", table, "--has", "label"))))
		for _, result := range []string{"duckdb.csv", "postgres.csv"} {
			if status, _, told := s.run("fairness", "gate", "policy.yaml", "--tally", result); status != 2 || !strings.Contains(told, test.want) {
				t.Errorf("%s, %s: it ends with %d:\n%s\nwant %s", test.row, result, status, told, test.want)
			}
		}
	}
}

// refuseTrials: what reading rows of trials refuses, the result of a query is refused for.
func refuseTrials(t *testing.T, s *site) {
	for i, test := range []struct {
		has, row string // the second of two
		want     string
	}{
		{"trial", "new,a,1,1", "2 rows name only 1 different trials of a case in a version; a trial has one row"},
		{"trial", ",a,2,1", "version is empty; every row needs one"},
		{"trial", "new,NA,2,1", "case is empty; every row needs one"},
		{"trial", "new,a,2,yes", `passed: found "yes": 0 or 1 is allowed`},
		{"score", "new,a,2,1.5", `score: found "1.5"; a number from 0 to 1 is allowed`},
		{"score", "new,a,2,-1e-30", `score: found "-1e-30"; a number from 0 to 1 is allowed`},
		{"score", "new,a,2,bad", `score: found "bad": a decimal number`},
	} {
		result := "passed"
		if test.has == "score" {
			result = "score"
		}
		s.put("policy.yaml", "missing_values: [NA]\nbaseline: new\ncandidate: old\nrules: [{id: a, metric: sign_test}]\n")
		s.put("rows.csv", "version,case,trial,"+result+"\nnew,a,1,1\n"+test.row+"\n")
		if status, _, _ := s.run("compare", "gate", "--policy", "policy.yaml", "rows.csv"); status != 2 {
			t.Errorf("%s: the rows end with %d", test.row, status)
		}
		s.duckdb("COPY (" + s.query("duckdb", "rows.csv", "--has", test.has) + ") TO 'duckdb.csv' (HEADER)")
		table := fmt.Sprintf("trials%d", i)
		s.psql("CREATE TABLE " + table + ` (version TEXT, "case" TEXT, trial TEXT, ` + result + " TEXT);\n\\copy " + table + " FROM 'rows.csv' CSV HEADER\n")
		s.put("postgres.csv", string(s.psql(s.query("postgres", table, "--has", test.has))))
		for _, file := range []string{"duckdb.csv", "postgres.csv"} {
			if status, _, told := s.run("compare", "gate", "--policy", "policy.yaml", "--tally", file); status != 2 || !strings.Contains(told, test.want) {
				t.Errorf("%s, %s: it ends with %d:\n%s\nwant %s", test.row, file, status, told, test.want)
			}
		}
	}
}

// TestQueriesParse: the queries that no database runs here are one statement each to a parser of their dialect, which reads the one table that
// they are about, and none that a hostile name might add.
func TestQueriesParse(t *testing.T) {
	node, _ := wanted(t)
	type query struct {
		Name    string `json:"name"`
		Dialect string `json:"dialect"`
		Query   string `json:"query"`
	}
	var list []query
	golden, err := filepath.Glob(root + "/testdata/sql/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	parsers := map[string]string{"bigquery": "bigquery", "snowflake": "snowflake", "spark": "hive"}
	for _, path := range golden {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file := strings.TrimSuffix(filepath.Base(path), ".sql")
		_, dialect, _ := strings.Cut(file, ".")
		if parser := parsers[dialect]; parser != "" {
			list = append(list, query{file, parser, string(text)})
		}
	}
	if len(list) < 3*len(parsers) {
		t.Fatalf("only %d queries were found", len(list))
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("node", "testdata/parse.cjs", node)
	command.Stdin = bytes.NewReader(text)
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var results []struct {
		Name, Error, Kind string
		Tables            []string
		Statements        int
	}
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		var foreign []string
		for _, table := range r.Tables {
			if !strings.Contains(table, "::tally_") {
				foreign = append(foreign, table)
			}
		}
		if r.Error != "" || r.Statements != 1 || r.Kind != "select" || !slices.Equal(foreign, []string{"select::warehouse::rows"}) {
			t.Errorf("%s: %s; %d statements (%s), tables %q", r.Name, r.Error, r.Statements, r.Kind, foreign)
		}
	}
}
