package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/report"
)

// tallySchema is the compiled schema of tallies.
func tallySchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(gate.TallySchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tally.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("tally.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// fairnessEvery is a declaration that uses all that is counted, with hostile names.
const fairnessEvery = `name: every
missing_values: [NA]
columns: {region: "re\"gion, ;--"}
probability: score
unit: person
attributes: {sex: [female, male, "o'r\\2"], age: {bins: [30, 60.5]}}
intersections: [[sex, age]]
min_cell: 3
calibration_bins: 3
max_left_out: 0.5
rules:
  - {id: gap, rate: false_negative, attribute: sex, max_group_gap: 0.6}
  - {id: direct, rate: error, attribute: [age, sex], max_group_gap: 0.9, interval: pairwise}
  - {id: ratio, rate: selection, attribute: age, min_group_ratio: 0.1, confidence: 0.6}
  - {id: worst, rate: precision, attribute: sex, worst_group: {minimum: 0.2}, where: {region: north, age: 30_to_60.5}}
  - {id: many, rate: accuracy, attribute: sex, max_group_gap: 0.8, where: {area: "a 'b'"}}
  - {id: none, rate: accuracy, attribute: sex, max_group_gap: 0.8, where: {area: nowhere}}
`

const fairnessHeader = "id,label,prediction,score,person,sex,age,\"re\"\"gion, ;--\",area\n"

// drawFairness draws rows for fairnessEvery.
func drawFairness(t *rapid.T) []string {
	n := rapid.IntRange(1, 40).Draw(t, "rows")
	var list []string
	for i := range n {
		from := func(name string, values ...string) string { return rapid.SampledFrom(values).Draw(t, name) }
		list = append(list, fmt.Sprintf("%d,%s,%s,%s,p%d,%s,%s,%s,%s\n", i, from("label", "0", "1", "1.0", ""), from("prediction", "0", "1", "", "TRUE"),
			from("score", "0", "0.1", "0.333333333333333333", "0.3333333333333333333", "1", "2.5e-1", "NA"), i,
			from("sex", "female", "male", "Female", " o'r\\2 ", "x", "", "NA"), from("age", "20", "29.9999999999999999999", "30", "60.5", "1e2", ""), from("region", "north", "south", ""),
			from("area", "a 'b'", "c", "")))
	}
	return list
}

// drawTrials draws rows of trials with passes or scores.
func drawTrials(t *rapid.T, results ...string) []string {
	n := rapid.IntRange(2, 30).Draw(t, "rows")
	level := map[string]string{}
	var list []string
	for i := range n {
		from := func(name string, values ...string) string { return rapid.SampledFrom(values).Draw(t, name) }
		item := from("case", "a", "b", "c\t\"d\"", "E")
		if level[item] == "" {
			level[item] = from("level", "hard", "easy")
		}
		version := from("version", "old", "new", "other")
		if i < 2 { // both are there
			version = []string{"old", "new"}[i]
		}
		list = append(list, fmt.Sprintf("%s,%s,%d,%s,%s\n", version, `"`+strings.ReplaceAll(item, `"`, `""`)+`"`, i, from("result", results...), from("recorded", level[item], "")))
	}
	return list
}

// shared splits rows into files, in any order of the rows.
func shared(t *rapid.T, list []string) [][]string {
	rest := rapid.Permutation(list).Draw(t, "order")
	var parts [][]string
	for len(rest) > 0 {
		n := rapid.IntRange(1, len(rest)).Draw(t, "part")
		parts = append(parts, rest[:n])
		rest = rest[n:]
	}
	return parts
}

// mustCount is the tally of some files in memory.
func mustCount(t interface {
	Helper()
	Fatal(...any)
}, g gate.Gate, fsys fstest.MapFS, files ...string) string {
	t.Helper()
	diags := &diag.List{}
	req := request{verb: gate.Tally, gate: g, policy: "policy.yaml", declared: g.Name() == "fairness", files: files, fs: fsys}
	_, text, _ := inMemory().counted(req, diags)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// decideBoth decides a study from files, or from tallies.
func decideBoth(g gate.Gate, fsys fstest.MapFS, verb gate.Verb, files, tallies []string) *report.Report {
	return inMemory().run(request{verb: verb, gate: g, policy: "policy.yaml", declared: g.Name() == "fairness", files: files, tallies: tallies, fs: fsys})
}

// TestTalliesDecideAsRows: rows, split in any way into files that are counted one by one, are decided as one file is: the gates' part of the
// report has the same bytes, and every tally obeys the schema and is the same for the same rows in any order.
func TestTalliesDecideAsRows(t *testing.T) {
	schema := tallySchema(t)
	compareHeader := "version,case,trial,%s,level\n"
	comparePolicy := "baseline: old\ncandidate: new\nmax_left_out: 0.5\nrules:\n  - {id: a, metric: pass_rate_difference, minimum: 0.1, where: {level: hard}}\n  - {id: b, metric: sign_test}\n  - {id: c, metric: rate, minimum: 0.5}\n"
	for _, study := range []struct {
		name, gate, policy, header string
		draw                       func(*rapid.T) []string
	}{
		{"fairness", "fairness", fairnessEvery, fairnessHeader, drawFairness},
		{"passes", "compare", comparePolicy, fmt.Sprintf(compareHeader, "passed"), func(t *rapid.T) []string { return drawTrials(t, "0", "1", "true", "") }},
		{"fixed", "compare", "case_list: fixed\nplan: {cases: 4, trials: 5}\n" + comparePolicy, fmt.Sprintf(compareHeader, "passed"), func(t *rapid.T) []string { return drawTrials(t, "0", "1", "1") }},
		{"scores", "compare", comparePolicy, fmt.Sprintf(compareHeader, "score"), func(t *rapid.T) []string {
			return drawTrials(t, "0", "1", "0.3", "0.33333333333333333333", "1e-18", "")
		}},
	} {
		t.Run(study.name, func(t *testing.T) {
			g := kinds.Lookup(study.gate)
			rapid.Check(t, func(t *rapid.T) {
				list := study.draw(t)
				fsys := folder("policy.yaml", study.policy, "all.csv", study.header+strings.Join(list, ""))
				var files, tallies []string
				for i, part := range shared(t, list) {
					csv, tally := fmt.Sprintf("%d.csv", i), fmt.Sprintf("part%d.json", i)
					fsys[csv] = &fstest.MapFile{Data: []byte(study.header + strings.Join(part, ""))}
					text := mustCount(t, g, fsys, csv)
					if err := validate(schema, []byte(text)); err != nil {
						t.Fatalf("the schema refuses the tally: %#v\n%s", err, text)
					}
					fsys[tally] = &fstest.MapFile{Data: []byte(text)}
					files, tallies = append(files, csv), append(tallies, tally)
				}
				want, got := decideBoth(g, fsys, gate.Decide, []string{"all.csv"}, nil), decideBoth(g, fsys, gate.Decide, nil, tallies)
				if want.ExitStatus == report.ExitUnusable || got.ExitStatus == report.ExitUnusable {
					t.Fatal(want.Errors, got.Errors)
				}
				if one, other := gates(t, want), gates(t, got); one != other {
					t.Fatalf("from %d tallies:\n%s\nfrom rows:\n%s", len(tallies), other, one)
				}
				// All files in one tally, and the rows in another order, are the same cells.
				together, alone := mustCount(t, g, fsys, files...), mustCount(t, g, fsys, "all.csv")
				if one, other := cellsOf(t, together), cellsOf(t, alone); one != other {
					t.Fatalf("together:\n%s\nalone:\n%s", one, other)
				}
			})
		})
	}
}

// cellsOf is a tally from its cells on.
func cellsOf(t interface{ Fatal(...any) }, text string) string {
	_, cells, found := strings.Cut(text, `"cells": [`)
	if !found {
		t.Fatal("there are no cells")
	}
	return cells
}

// edited is a tally changed by hand: old is replaced by new, and what counting says is left to agree with its digest.
func edited(t *testing.T, text, old, new string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q is there %d times:\n%s", old, strings.Count(text, old), text)
	}
	return strings.Replace(text, old, new, 1)
}

// TestHostileTallies: a tally that is not as one is written is refused, with its place and what is wrong.
func TestHostileTallies(t *testing.T) {
	fair := folder("policy.yaml", "probability: p\nattributes: {sex: [f, m], age: {bins: [30]}}\nrules:\n  - {id: a, rate: error, attribute: sex, max_group_gap: 0.5, where: {region: north}}\n",
		"c.csv", "id,label,prediction,p,sex,age,region\n1,0,1,0.25,f,20,north\n2,0,1,0.25,f,20,north\n3,1,,,x,40,\n")
	trials := folder("policy.yaml", "rules: [{id: a, metric: sign_test}]\n", "c.csv", "version,case,passed\na,x,1\na,x,0\nb,x,1\n")
	scores := folder("policy.yaml", "rules: [{id: a, metric: sign_test}]\n", "c.csv", "version,case,score\na,x,0.5\na,x,0.25\nb,x,1\nb,x,1\nb,x,1\n")
	for _, test := range []struct {
		name, gate string
		fsys       fstest.MapFS
		old, new   string
		want       string // the problem
	}{
		{"another schema", "fairness", fair, `oloproof-tally/1`, `oloproof-tally/2`, `part.json:2:13: its schema is "oloproof-tally/2"; this program reads oloproof-tally/1`},
		{"an unknown key", "fairness", fair, `"rows": 3`, `"rows": 3, "note": 1`, `part.json:10:14: the tally: the key "note" is not known`},
		{"a key twice", "fairness", fair, `"rows": 3`, `"rows": 3, "rows": 3`, `part.json:10:14: the tally: the key "rows" is there twice`},
		{"cut off", "fairness", fair, "\n  ]\n}\n", "", "part.json:13:95: the JSON document ends too early: the file is cut off"},
		{"no JSON", "fairness", fair, `"rows": 3`, `"rows": 03`, "part.json:10:12: it is not JSON: "},
		{"no JSON within cells", "fairness", fair, `"n":2`, `"n":tru`, "part.json:12:109: it is not JSON: "},
		{"more behind", "fairness", fair, "\n  ]\n}\n", "\n  ]\n}\n{}", "part.json:16:1: something follows the document"},
		{"no cells", "fairness", fair, `"cells"`, `"inputs"`, "is there twice"},
		{"a negative count", "fairness", fair, `"n":2`, `"n":-2`, `part.json:12:109: n: found "-2"; a whole number from 1 to 1000000000000 is allowed`},
		{"no count", "fairness", fair, `"n":2`, `"n":0`, `n: found "0"`},
		{"half a case", "fairness", fair, `"n":2`, `"n":2.0`, `n: found "2.0"`},
		{"too many", "fairness", fair, `"n":2`, `"n":99999999999999999999`, `n: found "99999999999999999999"`},
		{"another total", "fairness", fair, `"n":1}`, `"n":2}`, "part.json: its cells have 4 cases together, and rows is 3; use the file as it was written"},
		{"other rows", "fairness", fair, `"rows": 3`, `"rows": 4`, "part.json:7:13: the inputs have 3 rows together, and rows is 4"},
		{"an unknown group", "fairness", fair, `["f","under_30"],"where"`, `["g","under_30"],"where"`, `part.json:12:41: groups: "g" is not a declared group of sex; did you mean`},
		{"a declared one as undeclared", "fairness", fair, `{"undeclared":"x"}`, `{"undeclared":"m"}`, `groups: "m" is no undeclared value of sex`},
		{"numbers have none", "fairness", fair, `"over_30"],"where"`, `{"undeclared":"z"}],"where"`, "groups: age is an attribute of numbers, which has no undeclared values"},
		{"too few groups", "fairness", fair, `["f","under_30"]`, `["f"]`, "groups has 1 values, and there are 2 attributes"},
		{"a label", "fairness", fair, `"label":1`, `"label":2`, `label: found "2"; a whole number from 0 to 1 is allowed`},
		{"a label in words", "fairness", fair, `"label":1`, `"label":"yes"`, `label: found "yes"; a whole number is wanted`},
		{"a cell twice", "fairness", fair, `"n":2},`, `"n":2},{"label":0,"prediction":1,"groups":["f","under_30"],"where":["north"],"bin":2,"probabilities":"0.5","n":2},`, "this cell is there already"},
		{"a bin beyond", "fairness", fair, `"bin":2`, `"bin":10`, `bin: found "10"; a whole number from 0 to 9 is allowed`},
		{"a sum outside its bin", "fairness", fair, `"0.5"`, `"0.6"`, `probabilities: found "0.6", which 2 probabilities in bin 2 cannot add up to`},
		{"no sum", "fairness", fair, `"0.5"`, `"half"`, `probabilities: found "half": a decimal number`},
		{"no bin", "fairness", fair, `"bin":2,`, ``, "a cell has both bin and probabilities, or neither"},
		{"white space", "fairness", fair, `["north"]`, `[" north"]`, `where: found " north"; a text of at most`},
		{"another counting", "fairness", fair, `"groups":["f","m"]`, `"groups":["f"]`, "part.json:5:15: counting is not what the digest beside it says"},
		{"a foreign gate", "fairness", fair, `"gate": "fairness"`, `"gate": "compare"`, "counting is not what the digest beside it says"},
		{"no digest", "fairness", fair, `"sha256":"`, `"sha256":"x`, "sha256: found"},
		{"hostile text", "fairness", fair, `{"undeclared":"x"}`, `"\u001b[31m\n::error::"`, `groups: "\x1b[31m\n::error::" is not a declared group`},
		{"more recorded than trials", "compare", trials, `"trials":2,"recorded":2`, `"trials":1,"recorded":2`, "part.json:13:5: 2 of 1 trials are recorded, which cannot be"},
		{"more passed than recorded", "compare", trials, `"recorded":2,"passed":1`, `"recorded":2,"passed":3`, "3 of 2 recorded trials passed, which cannot be"},
		{"a case twice", "compare", trials, `"version":"b"`, `"version":"a"`, `part.json:14:5: the case "x" of version "a" is there already`},
		{"no case", "compare", trials, `"version":"b","case":"x"`, `"version":"b","case":""`, `case: found ""`},
		{"too many trials", "compare", trials, `"trials":2,"recorded":2`, `"trials":10000001,"recorded":2`, `trials: found "10000001"; a whole number from 1 to 10000000 is allowed`},
		{"another result", "compare", trials, `"result": "passed"`, `"result": "graded"`, `part.json: result is "graded"; passed or score is allowed`},
		{"a key of scores", "compare", trials, `"recorded":2,"passed":1`, `"recorded":2,"sum":"1"`, `the key "sum" is not known`},
		{"a sum of scores", "compare", scores, `"0.75"`, `"2"`, `sum: found "2", which 2 scores cannot add up to`},
		{"equal scores", "compare", scores, `"sum":"3"`, `"sum":"1"`, `sum: found "1", which 3 scores cannot add up to where all are equal`},
		{"a false that is not written", "compare", scores, `"varies":true`, `"varies":false`, "varies: found false; true is wanted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := kinds.Lookup(test.gate)
			fsys := maps.Clone(test.fsys)
			text := mustCount(t, g, fsys, "c.csv")
			fsys["part.json"] = &fstest.MapFile{Data: []byte(edited(t, text, test.old, test.new))}
			r := decideBoth(g, fsys, gate.Decide, nil, []string{"part.json"})
			var told []string
			for _, e := range r.Errors {
				told = append(told, fmt.Sprintf("%s: %s", e.Pos(), e.Message))
			}
			if r.ExitStatus != report.ExitUnusable || !strings.Contains(strings.Join(told, "\n"), test.want) {
				t.Errorf("exit status %d; got\n%s\nwant\n%s\nof\n%s", r.ExitStatus, strings.Join(told, "\n"), test.want, fsys["part.json"].Data)
			}
		})
	}
}

// TestTalliesOfOneCounting: a tally that was counted in another way is refused with what differs; a policy that differs in nothing that
// counts takes it.
func TestTalliesOfOneCounting(t *testing.T) {
	declared := "name: n\nmissing_values: [NA]\nprobability: p\nattributes: {sex: [f, m], age: {bins: [30]}}\nrules: [{id: a, rate: error, attribute: sex, max_group_gap: 0.5, where: {region: north}}]\n"
	fsys := folder("policy.yaml", declared, "c.csv", "id,label,prediction,p,sex,age,region\n1,0,1,0.25,f,20,north\n2,1,1,,m,40,south\n")
	text := mustCount(t, fairnessGate(), fsys, "c.csv")
	for _, test := range []struct{ old, new, want string }{
		{"max_group_gap: 0.5", "max_group_gap: 0.1, confidence: 0.9", ""},
		{"name: n\n", "name: n\nmin_cell: 2\nconfidence: 0.8\nintersections: [[sex, age]]\n", ""},
		{"region: north", "region: south", ""},
		{"name: n", "name: other", `part.json: the tally is of fairness "n", and what is decided is fairness "other"`},
		{"[NA]", "[NA, '-']", `its missing_values are "NA", and here they are "-", "NA"`},
		{"[f, m]", "[m, f]", `its groups of "sex" are "f", "m", and here they are "m", "f"`},
		{"[30]", "[31]", `its bounds of "age" are "30", and here they are "31"`},
		{"probability: p\n", "", `its calibration_bins are 10, and here they are none; it counts by the probability "p", which is not read here`},
		{"probability: p\n", "probability: p\ncalibration_bins: 5\n", "its calibration_bins are 10, and here they are 5"},
		{"region: north", "level: hard", `it counts by the where "region", which is not read here; it does not count by the where "level"`},
		{"name: n\n", "name: n\nid: key\n", `it does not count by the id "key"`},
		{"name: n\n", "name: n\ncolumns: {sex: gender}\n", `its attribute "sex" is read from the column "sex", and here from "gender"`},
		{"name: n\n", "name: n\npositive: yes\nnegative: no\n", `its words of "label" are none, and here they are "no", "yes"`},
		{"{sex: [f, m], age: {bins: [30]}}", "{age: {bins: [30]}, sex: [f, m]}", "its columns stand in another order"},
	} {
		in := maps.Clone(fsys)
		in["policy.yaml"] = &fstest.MapFile{Data: []byte(edited(t, declared, test.old, test.new))}
		in["part.json"] = &fstest.MapFile{Data: []byte(text)}
		r := decideBoth(fairnessGate(), in, gate.Decide, nil, []string{"part.json"})
		var told []string
		for _, e := range r.Errors {
			told = append(told, fmt.Sprintf("%s: %s", e.Pos(), e.Message))
		}
		if got := strings.Join(told, "\n"); test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%q: got %s, want %s", test.new, got, test.want)
		}
	}
}

// TestCountingNames: every key of the counting is in the schema, and the other way round.
func TestCountingNames(t *testing.T) {
	var schema struct {
		Defs map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(gate.TallySchema, &schema); err != nil {
		t.Fatal(err)
	}
	full := gate.Counting{Gate: "g", MissingValues: []string{"x"}, CalibrationBins: 2, Columns: []gate.CountedColumn{{Role: "r", Name: "n", Column: "c", Words: []string{"a"}, Groups: []string{"a"}, Bounds: []string{"1"}}}}
	for name, value := range map[string]any{"counting": full, "column": full.Columns[0], "input": gate.PartInput{Content: "x"}} {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var keys map[string]any
		if err := json.Unmarshal(text, &keys); err != nil {
			t.Fatal(err)
		}
		if got, want := slices.Sorted(maps.Keys(keys)), slices.Sorted(maps.Keys(schema.Defs[name].Properties)); !slices.Equal(got, want) {
			t.Errorf("%s has the keys %v, and the schema %v", name, got, want)
		}
	}
}
