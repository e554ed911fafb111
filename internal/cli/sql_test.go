package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/sql"
)

// queried are the policies whose queries are kept, by name, and the optional columns that their tables have.
var queried = map[string]struct{ policy, has string }{
	"fairness": {fairnessEvery, "label"},
	"hostile": {`name: "o'r\\ \" ; --"
missing_values: ["it's \\", "a\"b` + "`" + `c"]
columns: {sex: "se\"x'; DROP TABLE x; --", label: "lab'el $$", prediction: "pre /* */ --", id: "ïd 日本"}
attributes: {sex: [a, b]}
rules: [{id: a, rate: error, attribute: sex, max_group_gap: 0.5}]
`, "label"},
	"passes": {"rules: [{id: a, metric: sign_test, where: {level: hard}}]\n", "trial"},
	"scores": {"missing_values: [NA]\nrules: [{id: a, metric: sign_test}]\n", "score"},
}

// TestQueriesGolden holds the queries of every dialect to the kept ones; -update writes them.
func TestQueriesGolden(t *testing.T) {
	folder, err := filepath.Abs("../../testdata/sql")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, of := range queried {
		writeFile(t, "policy.yaml", of.policy)
		for _, dialect := range sql.Names() {
			status, query, told := runMain("sql", "policy.yaml", "--dialect", dialect, "--from", "warehouse.rows", "--has", of.has)
			if status != 0 {
				t.Fatalf("%s for %s ends with %d: %s", name, dialect, status, told)
			}
			path := filepath.Join(folder, name+"."+dialect+".sql")
			if *update {
				if err := os.WriteFile(path, []byte(query), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), query); diff != "" {
				t.Errorf("%s for %s (-kept +printed):\n%s", name, dialect, diff)
			}
		}
	}
}

// TestNames quotes names and texts by hand-written rules of each database's manual.
func TestNames(t *testing.T) {
	for _, test := range []struct{ dialect, text, name, literal string }{
		{"duckdb", "a\"b`c'd\\", "\"a\"\"b`c'd\\\"", "'a\"b`c''d\\'"},
		{"postgres", "a\"b`c'd\\", "\"a\"\"b`c'd\\\"", "E'a\"b`c''d\\\\'"},
		{"bigquery", "a\"b'c", "`a\"b'c`", "'a\"b\\'c'"},
		{"bigquery", "a\\", "", "'a\\\\'"},
		{"bigquery", "a`b", "", "'a`b'"},
		{"snowflake", "a\"b`c'd\\", "\"a\"\"b`c'd\\\"", "'a\"b`c''d\\\\'"},
		{"spark", "a\"b`c'd\\", "`a\"b``c'd\\`", "'a\"b`c\\'d\\\\'"},
		{"ansi", "a\"b`c'd\\", "\"a\"\"b`c'd\\\"", "'a\"b`c''d\\'"},
	} {
		d, ok := sql.Lookup(test.dialect)
		if !ok {
			t.Fatal(test.dialect)
		}
		if got := d.Text(test.text); got != test.literal {
			t.Errorf("%s: the text is %s, want %s", test.dialect, got, test.literal)
		}
		if refused := d.RefusedName(test.text) != ""; refused != (test.name == "") || !refused && d.Name(test.text) != test.name {
			t.Errorf("%s: the name is %s (refused: %t), want %s", test.dialect, d.Name(test.text), refused, test.name)
		}
	}
}

// TestQueriesRefuse: what cannot stand in a query is refused before one is printed.
func TestQueriesRefuse(t *testing.T) {
	t.Chdir(t.TempDir())
	const plain = "attributes: {sex: [a, b]}\nrules: [{id: a, rate: error, attribute: sex, max_group_gap: 0.5}]\n"
	for _, test := range []struct {
		policy string
		args   []string
		want   string
	}{
		{plain, []string{"--from", "t\x00x"}, `--from: "t\x00x" is no table or file: it has a control character, which no query can hold`},
		{plain, []string{"--from", "t\nx"}, `it has a control character`},
		{plain, []string{"--from", "t\xffx"}, `it is not UTF-8`},
		{plain, []string{"--from", "a..b"}, "a part of the name is empty"},
		{plain, []string{"--from", `"a`}, "a double quote is opened and not closed"},
		{plain, []string{"--from", `"a"b`}, `"b" follows a closing double quote; a dot is wanted there`},
		{plain, []string{"--from", "a.b.c.d.e"}, "it has 5 parts; the name of a table has at most 4"},
		{plain, []string{"--from", "t", "--has", "score"}, `--has: "score" is no optional column of fairness; label is`},
		{plain, []string{"--from", "t", "--dialect", "postgresql"}, `--dialect is "postgresql" (did you mean postgres?); write one of duckdb, postgres, bigquery, snowflake, spark, ansi`},
		{plain, nil, "--from is missing; name the table that has the rows"},
		{plain, []string{"--from", "t", "--gate", "anchoring"}, `--gate is "anchoring"; write one of compare, fairness`},
		{"columns: {sex: \"s\\nex\"}\n" + plain, []string{"--from", "t"}, `policy.yaml: the column "s\nex" cannot be named in a query: it has a control character`},
		{"missing_values: [\"\\e[31m\"]\n" + plain, []string{"--from", "t"}, `missing_values: "\x1b[31m" cannot stand in a query`},
		{"name: \"a\\u0085b\"\n" + plain, []string{"--from", "t"}, "cannot stand in a query"},
		{"rules: [{id: a, metric: sign_test}]\n", []string{"--from", "t", "--has", "passed,score"}, "a trial has passed or score, and not both"},
		{"rules: [{id: a, metric: sign_test}]\n", []string{"--from", "t", "--has", "label"}, `"label" is no optional column of compare; trial, passed and score are`},
		{"human_ai: {rules: [{id: a, metric: agreement, minimum: 0.5}]}\n", []string{"--from", "t"}, "the policy has no section of a gate that has tallies: compare, fairness"},
	} {
		writeFile(t, "policy.yaml", test.policy)
		args := []string{"sql", "policy.yaml", "--dialect", "duckdb"}
		for i, arg := range test.args {
			if arg == "--dialect" {
				args, test.args = args[:2], test.args[i:]
				args = append(args, "--from", "t")
				break
			}
		}
		status, query, told := runMain(append(args, test.args...)...)
		if status != 2 || query != "" || !strings.Contains(told, test.want) {
			t.Errorf("%v ends with %d: %s%s\nwant %s", test.args, status, query, told, test.want)
		}
	}
}

// TestReleaseQuery: of a release file it is the section of a gate that has tallies, the one that is named where there are several.
func TestReleaseQuery(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "release.yaml", "human_ai: {decisions: d.csv, rules: [{id: x, metric: agreement, minimum: 0.5}]}\nfairness:\n  - {name: one, attributes: {sex: [a]}, rules: [{id: a, rate: error, attribute: sex, worst_group: {maximum: 0.5}}]}\n  - {name: two, attributes: {age: [b]}, rules: [{id: b, rate: error, attribute: age, worst_group: {maximum: 0.5}}]}\n")
	for _, test := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--section", "two"}, 0, `'two' AS "section"`},
		{nil, 2, "the policy has several sections fairness, and a tally is of one: name it with --section"},
		{[]string{"--gate", "compare"}, 2, "the policy has no section compare"},
	} {
		status, query, told := runMain(append([]string{"sql", "release.yaml", "--dialect", "duckdb", "--from", "t"}, test.args...)...)
		if status != test.status || !strings.Contains(query+told, test.want) {
			t.Errorf("%v ends with %d: %s%s", test.args, status, query, told)
		}
	}
}
