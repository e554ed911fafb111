package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// declaredGroups is the declaration that drawn cases are judged by: every kind of threshold, a crossing, bins, slices, pairs
// bounded directly and many looks.
const declaredGroups = `confidence: 0.8
probability: score
calibration_bins: 3
missing_values: ["NA"]
unit: person
attributes:
  sex: [f, m]
  age: {bins: [30, 60]}
intersections:
  - [sex, age]
min_cell: 2
max_left_out: 0.5
rules:
  - {id: gap, rate: false_negative, attribute: sex, max_group_gap: 0.75}
  - {id: crossed, rate: error, attribute: [age, sex], max_group_gap: 0.9}
  - {id: floor, rate: accuracy, attribute: age, worst_group: {minimum: 0.1}}
  - {id: ceiling, rate: false_discovery, attribute: sex, worst_group: {maximum: 0.5}, looks: repeated}
  - {id: ratio, rate: selection, attribute: sex, min_group_ratio: 0.1}
  - {id: slice, rate: precision, attribute: sex, max_group_gap: 0.5, where: {region: north}}
  - {id: young, rate: selection, attribute: sex, max_group_gap: 0.5, interval: pairwise, where: {age: under_30}}
  - {id: strict, rate: false_positive, attribute: sex, max_group_gap: 0.5, max_left_out: 0}
`

// caseColumns are the columns of drawn cases, in this order.
var caseColumns = []string{"id", "label", "prediction", "score", "person", "sex", "age", "region"}

// drawCases draws decided cases. In some files one sex is always judged right and the other wrong, so that rules come to
// every verdict.
func drawCases(t *rapid.T) rowsOf {
	clear := rapid.Bool().Draw(t, "f is judged right, m wrong")
	n := rapid.SampledFrom([]int{1, 3, 10, 40, 40, 40}).Draw(t, "cases")
	outcome := rapid.SampledFrom([]string{"0", "1", "1", "1.0", "TRUE", "false", "", "NA"})
	sound := rapid.SampledFrom([]string{"0", "1", "1"})
	var s rowsOf
	for i := range n {
		label, prediction, sex := outcome.Draw(t, "label"), outcome.Draw(t, "prediction"), rapid.SampledFrom([]string{"f", "m", "f", "m", "f", "m", "f", "m", "F", "x", ""}).Draw(t, "sex")
		if clear {
			label = sound.Draw(t, "label")
			if prediction = label; sex == "m" {
				prediction = map[string]string{"0": "1", "1": "0"}[label]
			}
		}
		s = append(s, []string{
			fmt.Sprint("c", i), label, prediction,
			rapid.SampledFrom([]string{"0", "0.1", "0.2", "0.333333333333333333", "0.5", "1", "1e-1", "", "0.66666666666666666666"}).Draw(t, "score"), fmt.Sprint("p", i),
			sex, rapid.SampledFrom([]string{"29.9", "30", "59", "60", "-1", "1e2", ""}).Draw(t, "age"), rapid.SampledFrom([]string{"north", "north", "south", ""}).Draw(t, "region"),
		})
	}
	return s
}

// caseText writes cases as CSV with these columns, in their order.
func caseText(s rowsOf, delimiter string, columns []string) string {
	var b strings.Builder
	b.WriteString(strings.Join(columns, delimiter) + "\n")
	for _, row := range s {
		fields := make([]string, len(columns))
		for i, name := range columns {
			fields[i] = row[slices.Index(caseColumns, name)]
		}
		b.WriteString(strings.Join(fields, delimiter) + "\n")
	}
	return b.String()
}

// decideCases runs the gate in memory on the named files; the declaration is fairness.yaml.
func decideCases(fsys fstest.MapFS, files ...string) *report.Report {
	return inMemory().run(request{verb: gate.Decide, gate: fairnessGate(), policy: "fairness.yaml", declared: true, files: files, fs: fsys})
}

// TestHowCasesAreWrittenDoesNotMatter: cases in any order, split over up to three files of any form and compression, with
// columns in any order, give the same report but for its inputs. Each report obeys the schema, says one verdict in every
// form, and decides as its printed numbers say.
func TestHowCasesAreWrittenDoesNotMatter(t *testing.T) {
	schema := reportSchema(t)
	checkStudies(t, 20, func(t *rapid.T) {
		s := drawCases(t)
		want := decideCases(folder("d.csv", caseText(s, ",", caseColumns), "fairness.yaml", declaredGroups), "d.csv")
		mustDecide(t, want)
		doc, err := want.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(schema, doc); err != nil {
			t.Errorf("the schema refuses the report: %#v", err)
		}
		again, err := decideCases(folder("d.csv", caseText(s, ",", caseColumns), "fairness.yaml", declaredGroups), "d.csv").JSON()
		if err != nil || !bytes.Equal(doc, again) {
			t.Errorf("a second run prints another report (%v):\n%s", err, cmp.Diff(string(doc), string(again)))
		}
		checkOneVerdict(t, want)
		for rule := range want.Rules() {
			same := *rule // with the threshold that its interval is compared with
			switch rule.Threshold.Kind {
			case report.MaxGroupGap:
				same.Threshold.Kind = report.Maximum
			case report.MinGroupRatio:
				same.Threshold.Kind = report.Minimum
			}
			checkRule(t, &same)
		}

		parts := make([]rowsOf, min(len(s), rapid.IntRange(1, 3).Draw(t, "files")))
		for i, row := range rapid.Permutation(s).Draw(t, "rows") {
			at := i // every file has a row
			if i >= len(parts) {
				at = rapid.IntRange(0, len(parts)-1).Draw(t, "file")
			}
			parts[at] = append(parts[at], row)
		}
		fsys := folder("fairness.yaml", declaredGroups)
		var names []string
		for i, part := range parts {
			text := ""
			switch form := rapid.SampledFrom([]string{",", ";", "\t", "|", "jsonl"}).Draw(t, "form"); form {
			case "jsonl":
				text = jsonLines(t, part)
			default:
				text = caseText(part, form, rapid.Permutation(caseColumns).Draw(t, "columns"))
			}
			data := []byte(text)
			switch rapid.SampledFrom([]string{"plain", "plain", "gzip", "zstd"}).Draw(t, "compression") {
			case "gzip":
				data, err = gzipped(data)
			case "zstd":
				data, err = zstandard(data)
			}
			if err != nil {
				t.Fatal(err)
			}
			name := rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "name") + fmt.Sprint(i)
			fsys[name] = &fstest.MapFile{Data: data}
			names = append(names, name)
		}
		got := decideCases(fsys, names...)
		mustDecide(t, got)
		if diff := cmp.Diff(gates(t, want), gates(t, got)); diff != "" {
			t.Errorf("in one file (-), and in %q (+):\n%s", names, diff)
		}
		if got.Verdict != want.Verdict || *got.Counts != *want.Counts || *got.Multiplicity != *want.Multiplicity {
			t.Errorf("the verdict is %v, and %v", want.Verdict, got.Verdict)
		}
	})
}

// TestDrawnCasesComeToEveryVerdict: drawn cases are judged by rules that can come to each verdict; here they do, on files
// in which one sex is judged right and the other wrong.
func TestDrawnCasesComeToEveryVerdict(t *testing.T) {
	var s rowsOf
	for i := range 40 {
		sex, label := []string{"f", "m"}[i%2], []string{"0", "1", "1"}[i%3]
		prediction := label
		if sex == "m" {
			prediction = map[string]string{"0": "1", "1": "0"}[label]
		}
		s = append(s, []string{fmt.Sprint("c", i), label, prediction, "0.5", fmt.Sprint("p", i), sex, "29", "north"})
	}
	got := map[report.Verdict]bool{}
	for rule := range decideCases(folder("d.csv", caseText(s, ",", caseColumns), "fairness.yaml", declaredGroups), "d.csv").Rules() {
		got[rule.Verdict] = true
	}
	want := map[report.Verdict]bool{report.Pass: true, report.Fail: true, report.InsufficientEvidence: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}

// jsonLines writes cases as objects, one a line, keys in any order and empty values sometimes as null.
func jsonLines(t *rapid.T, s rowsOf) string {
	var b strings.Builder
	for _, row := range s {
		object := map[string]any{}
		for i, name := range caseColumns {
			object[name] = row[i]
			if row[i] == "" && rapid.Bool().Draw(t, "null") {
				object[name] = nil
			}
		}
		line, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// TestManyGroups decides rules over 1,000 declared groups: 499,500 pairs, of which 2,000 are listed.
func TestManyGroups(t *testing.T) {
	const groups = 1000
	var names []string
	var blocks []any
	for i := range groups {
		name := fmt.Sprintf("g%03d", i)
		names = append(names, name)
		blocks = append(blocks, 30, "1,1,"+name)
	}
	declaration := "cases: c.csv\nattributes: {branch: [" + strings.Join(names, ", ") + "]}\nrules:\n" +
		"  - {id: gap, rate: false_negative, attribute: branch, max_group_gap: 0.5}\n" +
		"  - {id: floor, rate: accuracy, attribute: branch, worst_group: {minimum: 0.5}}\n"
	fsys := folder("c.csv", caseRows("label,prediction,branch", blocks...), "fairness.yaml", declaration)
	r := decideCases(fsys)
	mustDecide(t, r)
	doc, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(reportSchema(t), doc); err != nil {
		t.Errorf("the schema refuses the report: %#v", err)
	}
	checkOneVerdict(t, r)
	gap, floor := r.Gates[0].Rules[0], r.Gates[0].Rules[1]
	// 0 of 30 at 0.05/2/1000 on that side: 1 - 0.000025^(1/30) = 0.29757816985..., and 30 of 30 are at least 0.70242183015...
	if gap.Verdict != report.Pass || floor.Verdict != report.Pass || *gap.Interval.Upper != 0.2975781699 || *floor.Interval.Lower != 0.7024218301 {
		t.Errorf("%v up to %v, and %v from %v", gap.Verdict, *gap.Interval.Upper, floor.Verdict, *floor.Interval.Lower)
	}
	if len(gap.Cells) != groups || len(gap.Pairs) != 2000 || gap.PairsOmitted != groups*(groups-1)/2-2000 {
		t.Errorf("%d groups, %d pairs and %d omitted", len(gap.Cells), len(gap.Pairs), gap.PairsOmitted)
	}
	for _, name := range []string{"terminal", "markdown"} {
		format, err := summary.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := format.Write(&text, r, plain); err != nil {
			t.Fatal(err)
		}
		// 11 rates of all groups are 11,000 lines.
		if lines := strings.Count(text.String(), "\n"); lines > 2*groups || text.Len() > 1_000_000 {
			t.Errorf("the %s report of %d groups has %d lines and %d bytes", name, groups, lines, text.Len())
		}
	}
}

// TestHostileGroups puts hostile texts in the names of attributes, groups and columns, in words and in cases, and looks at
// everything that is printed.
func TestHostileGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and nothing in it runs side by side")
	}
	if runtime.GOOS == "windows" {
		t.Skip("file names here hold characters that Windows does not allow")
	}
	for i, text := range hostileTexts {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Chdir(t.TempDir())
			text := text[:min(len(text), 1000)] // a key of a mapping has no more in YAML
			q := func(text string) string { return quoteYAML(t, text) }
			name, id := q(text), text[:min(len(text), 200)]
			var good [][]string
			for i := range 8 {
				label, prediction := text+"yes", text+"no"
				if i%3 == 0 {
					prediction = label
				}
				group := []string{text, text + "2", text + "3", ""}[i%4]
				good = append(good, []string{fmt.Sprint(text, i), label, prediction, fmt.Sprint(text, "person", i), group, text})
			}
			columns := []string{"id", "label", "prediction", "k" + text + "unit", "k" + text + "sex", "k" + text + "region"}
			writeFile(t, "good.csv", csvText(t, append([][]string{columns}, good...)...))
			writeFile(t, "bad.csv", csvText(t, columns,
				[]string{text, text, text, text, text, text}, []string{text, text + "yes", "", text, text, text}, []string{text, text + "no", "", text, text, text},
				[]string{text + "4", text + "no", "", text, text, text}))
			writeFile(t, "fairness.yaml", `
fairness:
  name: `+name+`
  cases: [good.csv]
  unit: `+q("k"+text+"unit")+`
  positive: `+q(text+"yes")+`
  negative: `+q(text+"no")+`
  attributes: {`+q("k"+text+"sex")+`: [`+name+`, `+q(text+"2")+`], `+q("k"+text+"region")+`: [`+name+`, other]}
  intersections: [[`+q("k"+text+"sex")+`, `+q("k"+text+"region")+`]]
  min_cell: 1
  max_left_out: 1
  rules:
    - {id: `+q(id)+`, rate: false_negative, attribute: `+q("k"+text+"sex")+`, max_group_gap: 0.1, where: {`+q("k"+text+"region")+`: `+name+`}, waive: {until: 2099-01-01, owner: `+name+`, reason: `+name+`}}
    - {id: crossed, rate: error, attribute: [`+q("k"+text+"sex")+`, `+q("k"+text+"region")+`], min_group_ratio: 0.1}
    - {id: floor, rate: accuracy, attribute: `+q("k"+text+"sex")+`, worst_group: {minimum: 0.1}}
`)
			writeFile(t, "policy.yaml", "confidence: 0.6\nfairness: {name: "+name+", min_cell: 1, rules: [{id: beside, rate: selection, attribute: "+q("k"+text+"sex")+", max_group_gap: 0.2}]}\n")
			writeFile(t, "wrong.yaml", `
cases: good.csv
id: `+name+`
label: {column: `+name+`, positive: `+name+`, negative: `+name+`}
unit: `+name+`
attributes: {`+name+`: [`+name+`, `+name+`], `+q(text+"b")+`: {bins: [`+name+`]}}
intersections: [[`+name+`, `+q(text+"c")+`], [`+name+`]]
columns: {`+name+`: `+name+`}
missing_values: [`+name+`]
rules:
  - {id: a, rate: `+name+`, attribute: `+q(text+"x")+`, max_group_gap: 0.1, interval: `+name+`, where: {`+name+`: `+q(text+"x")+`}}
  - {id: b, rate: error, attribute: [`+name+`, `+q(text+"b")+`], max_group_gap: 0.1}
`)
			for at, args := range [][]string{
				{"fairness", "fairness.yaml"},
				{"fairness", "check", "fairness.yaml", "--show-reviewers"},
				{"fairness", "report", "fairness.yaml"},
				{"fairness", "fairness.yaml", "--policy", "policy.yaml"},
				{"fairness", "fairness.yaml", "bad.csv"},
				{"fairness", "fairness.yaml", "bad.csv", "--show-reviewers"},
				{"fairness", "wrong.yaml"},
				{"fairness", "wrong.yaml", "--policy", "policy.yaml"},
				{"gate", "fairness.yaml"},
				{"policy", "check", "fairness.yaml", "wrong.yaml"},
				{"fairness", "fairness.yaml", text},
				{"fairness", text},
			} {
				forms := []string{""} // what is alike is looked at in one form
				if slices.Contains([]int{3, 5, 6}, at) {
					forms = laidOut
				}
				for _, form := range forms {
					full := args
					if form != "" {
						full = append(slices.Clip(args), "--format", form)
					}
					status, stdout, stderr := runMain(full...)
					what := fmt.Sprintf("%.200q, exit %d", full, status)
					wantStatus := 2
					if !slices.Contains(args, "bad.csv") && !slices.Contains(args, "wrong.yaml") && !slices.Contains(args, text) {
						wantStatus = map[string]int{"check": 0, "report": 0}[args[1]]
						if args[1] == "fairness.yaml" {
							wantStatus = 4
						}
					}
					if status != wantStatus {
						t.Errorf("%s: want %d\n%.3000s", what, wantStatus, stderr)
					}
					checkTame(t, what+", standard output", stdout, form == "json")
					checkTame(t, what+", standard error", stderr, false)
					if form == "json" && stdout != "" {
						inOtherFormats(t, stdout, func(format, text string) { checkTame(t, what+" as "+format, text, false) })
					}
					if form == "markdown" {
						checkMarkdown(t, what, stdout)
					}
					if form == "json" && status == 4 {
						checkGroupsKept(t, what, stdout, text)
					}
				}
			}
		})
	}
}

// checkGroupsKept checks that a JSON report has the names of attributes and groups whole, as they were given.
func checkGroupsKept(t *testing.T, what, doc, text string) {
	t.Helper()
	var r report.Report
	if err := json.Unmarshal([]byte(doc), &r); err != nil {
		t.Errorf("%s: %v\n%s", what, err, doc)
		return
	}
	first := r.Gates[0].Rules[0]
	got := []string{strings.TrimSpace(r.Gates[0].Name), strings.TrimSpace(first.ID), first.Cells[0].Labels["group"], first.Pairs[0].Groups[0], first.Labels["attribute"]}
	if want := []string{strings.TrimSpace(text), strings.TrimSpace(text[:min(len(text), 200)]), strings.TrimSpace(text), strings.TrimSpace(text), "k" + text + "sex"}; !slices.Equal(got, want) {
		t.Errorf("%s: name, id and group are %q, want %q", what, got, want)
	}
}

// TestPeopleStayUnnamed looks for values of the unit column in everything that is printed, with every kind of error about
// a row and in every form. With --show-reviewers they are named.
func TestPeopleStayUnnamed(t *testing.T) {
	t.Chdir(t.TempDir())
	const head = "id,label,prediction,sex,person\n"
	writeFile(t, "fairness.yaml", "cases: c.csv\nunit: person\nattributes: {sex: [f, m]}\nmin_cell: 1\nrules: [{id: a, rate: error, attribute: sex, max_group_gap: 1}]\n")
	for _, test := range []struct {
		name, cases string
		named       bool // where names may be shown
	}{
		{"no error", head + "1,1,1,f," + secret + "1\n2,1,1,m," + secret + "2\n", false},
		{"twice", head + "1,1,1,f," + secret + "\n2,1,1,m," + secret + "\n", true},
		{"twice and an id twice", head + "1,1,1,f," + secret + "\n1,1,1,m," + secret + "\n2,0,0,f," + secret + "\n", true},
		{"other columns wrong", head + "1,x,y,f," + secret + "\n,1,1,m," + secret + "2\n", false},
		{"ragged", head + "1,1,1,f\n2,1,1,m," + secret + ",more\n", false},
		{"quotes", head + "1,1,1,f,\"" + secret + "\"x\n2,1,1,m,a\"" + secret + "\n", false},
		{"not UTF-8", head + "1,1,1,f," + secret + "\xff\n", false},
		{"no header", "1,1,1,f," + secret + "\n", false},
		{"JSONL", `{"id":1,"label":1,"prediction":1,"sex":"f","person":["` + secret + `"]}` + "\n" + `{"id":2,"person":"` + secret + `","person":"` + secret + `"}` + "\n" + `{"person":"` + secret + "\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			writeFile(t, "c.csv", test.cases)
			for _, verb := range []string{"check", "report", "gate"} {
				for _, form := range laidOut {
					args := []string{"fairness", verb, "fairness.yaml", "--format", form}
					status, stdout, stderr := runMain(args...)
					if want := map[bool]int{true: 0, false: 2}[test.name == "no error"]; status != want {
						t.Errorf("%q ends with %d, want %d:\n%s%s", args, status, want, stdout, stderr)
					}
					if strings.Contains(strings.ToLower(stdout+stderr), strings.ToLower(secret)) {
						t.Errorf("%q names a person:\n%s%s", args, stdout, stderr)
					}
					if form == "json" {
						inOtherFormats(t, stdout, func(format, text string) {
							if strings.Contains(strings.ToLower(text), strings.ToLower(secret)) {
								t.Errorf("%q as %s names a person:\n%s", args, format, text)
							}
						})
					}
					_, stdout, stderr = runMain(append(args, "--show-reviewers")...)
					if test.named && !strings.Contains(stdout+stderr, secret) {
						t.Errorf("%q with --show-reviewers names nobody:\n%s%s", args, stdout, stderr)
					}
				}
			}
		})
	}
}

// fairStep lays out a workspace with a declaration and two files of cases: in one the groups are alike, in the other every
// positive of one group is missed.
func fairStep(t *testing.T) *step {
	t.Helper()
	s := newStep(t)
	const body = `attributes: {sex: [female, male]}
rules:
  - {id: even, rate: false_negative, attribute: sex, max_group_gap: 0.05}
  - {id: served, rate: accuracy, attribute: sex, worst_group: {minimum: 0.8}}
`
	s.put("study/fairness.yaml", "fairness:\n  name: loan-screen\n  cases: even.csv\n  "+strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n  ")+"\n")
	s.put("study/bare.yaml", "cases: even.csv\n"+body)
	s.put("study/even.csv", caseRows("label,prediction,sex", 200, "1,1,female", 200, "1,1,male"))
	s.put("study/apart.csv", caseRows("label,prediction,sex", 200, "1,0,female", 200, "1,1,male"))
	s.put("study/small.csv", caseRows("label,prediction,sex", 20, "1,1,female", 200, "1,1,male"))
	s.put("both.yaml", "human_ai: {decisions: data/decisions.csv, rules: [{id: mostly-right, metric: accuracy_with, minimum: 0.6}]}\n"+
		"fairness:\n  cases: study/apart.csv\n  "+strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n  ")+"\n")
	s.put("two.yaml", "fairness:\n  - {name: a, cases: study/even.csv, attributes: {sex: [female, male]}, rules: [{id: a, rate: error, attribute: sex, max_group_gap: 0.1}]}\n"+
		"  - {name: b, cases: study/even.csv, attributes: {sex: [female, male]}, rules: [{id: b, rate: error, attribute: sex, max_group_gap: 0.1}]}\n")
	return s
}

// TestActionFairness goes through the ways in which a declaration, decisions and gate go together.
func TestActionFairness(t *testing.T) {
	tests := []struct {
		name                    string
		policy, decisions, gate string
		status                  int
		verdict, failing        string
		commands                []string // all that are in the log
		want                    string   // in the logs
	}{
		{"a declaration", "study/fairness.yaml", "", "", 0, "PASS", `[]`, nil, "loan-screen"},
		{"a declaration and its gate", "study/fairness.yaml", "", "fairness", 0, "PASS", `[]`, nil, ""},
		{"other cases", "study/fairness.yaml", "study/apart.csv", "fairness", 1, "FAIL", `["even","served"]`, []string{
			"::error col=8,file=study/fairness.yaml,line=6,title=FAIL%3A even::", "::error col=8,file=study/fairness.yaml,line=7,title=FAIL%3A served::"}, "`cases: even.csv` was"},
		{"other cases without a gate", "study/fairness.yaml", "study/apart.csv", "", 2, "NO_VERDICT", `[]`, []string{"::error "}, "not which section of study/fairness.yaml it belongs to"},
		{"a small group", "study/fairness.yaml", "study/small.csv", "fairness", 3, "INSUFFICIENT_EVIDENCE", `["even","served"]`, []string{
			"::warning col=8,file=study/fairness.yaml,line=6,title=INSUFFICIENT_EVIDENCE%3A even::", "::warning col=8,file=study/fairness.yaml,line=7,title=INSUFFICIENT_EVIDENCE%3A served::"}, "min_cell"},
		{"a bare declaration", "study/bare.yaml", "", "fairness", 0, "PASS", `[]`, nil, ""},
		{"a bare declaration and other cases", "study/bare.yaml", "study/apart.csv", "fairness", 1, "FAIL", `["even","served"]`, []string{
			"::error col=6,file=study/bare.yaml,line=4,title=FAIL%3A even::", "::error col=6,file=study/bare.yaml,line=5,title=FAIL%3A served::"}, ""},
		{"a release file", "both.yaml", "", "", 1, "FAIL", `["even","served"]`, []string{
			"::error col=8,file=both.yaml,line=6,title=FAIL%3A even::", "::error col=8,file=both.yaml,line=7,title=FAIL%3A served::"}, ""},
		{"one section of it", "both.yaml", "", "human-ai", 0, "PASS", `[]`, nil, ""},
		{"the other, on other cases", "both.yaml", "study/even.csv", "fairness", 0, "PASS", `[]`, nil, ""},
		{"two declarations, of one file", "two.yaml", "", "", 0, "PASS", `[]`, nil, ""},
		{"two declarations and other cases", "two.yaml", "study/apart.csv", "fairness", 2, "NO_VERDICT", `[]`, []string{"::error col="}, "the policy has 2 sections fairness"},
		{"decisions of another gate", "study/fairness.yaml", "data/decisions.csv", "fairness", 2, "NO_VERDICT", `[]`, []string{"::error "}, "no required column is in this line"},
		{"a gate that is none", "study/fairness.yaml", "", "fairnes", 2, "NO_VERDICT", `[]`, []string{"::error "}, "did you mean fairness?"},
		{"cases outside the workspace", "study/fairness.yaml", "../cases.csv", "fairness", 2, "NO_VERDICT", `[]`, []string{"::error "}, "leads out of the workspace"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := fairStep(t)
			s.check(s.run("policy", test.policy, "decisions", test.decisions, "gate", test.gate, "json", "out.json"), test.status, test.verdict)
			out := s.outputs()
			if out["failing-rules"] != test.failing || out["exit-code"] != fmt.Sprint(test.status) || out["reporting-problems"] != "[]" {
				t.Errorf("outputs %q", out)
			}
			var commands []string
			for line := range strings.Lines(s.stdout.String()) {
				if strings.HasPrefix(line, "::") {
					commands = append(commands, line)
				}
			}
			if !slices.EqualFunc(commands, test.commands, strings.HasPrefix) {
				t.Errorf("the log has the commands %q, want %q", commands, test.commands)
			}
			text := s.stdout.String() + s.stderr.String()
			if !strings.Contains(strings.Join(strings.Fields(text), " "), test.want) {
				t.Errorf("the log has no %q:\n%s", test.want, text)
			}
			if summary := s.read("GITHUB_STEP_SUMMARY"); !strings.Contains(summary, test.verdict) && !strings.Contains(summary, strings.ReplaceAll(test.verdict, "_", `\_`)) ||
				test.status != 2 && !strings.Contains(summary, test.policy) {
				t.Errorf("the summary does not say %s of %s:\n%s", test.verdict, test.policy, summary)
			}
			doc, err := os.ReadFile(filepath.Join(s.workspace, "out.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := validate(reportSchema(t), doc); err != nil {
				t.Errorf("the schema refuses the report: %#v", err)
			}
		})
	}
}

// TestActionHostileGroups puts hostile texts into the names of groups and attributes, which come into annotations, summary and
// log.
func TestActionHostileGroups(t *testing.T) {
	for _, text := range hostileTexts {
		text = text[:min(len(text), 200)]
		s := newStep(t)
		name := quoteYAML(t, text)
		other := quoteYAML(t, text+"2")
		s.put("fairness.yaml", "fairness:\n  name: "+name+"\n  cases: c.csv\n  attributes: {"+quoteYAML(t, "k"+text)+": ["+name+", "+other+", x]}\n  rules:\n"+
			"    - {id: "+name+", rate: error, attribute: "+quoteYAML(t, "k"+text)+", max_group_gap: 0.1}\n"+
			"    - {id: small, rate: false_negative, attribute: "+quoteYAML(t, "k"+text)+", worst_group: {maximum: 0.1}}\n")
		rows := [][]string{{"id", "label", "prediction", "k" + text}}
		for i := range 80 {
			rows = append(rows, []string{fmt.Sprint(i), "1", fmt.Sprint(i % 2), []string{text, text + "2"}[i%2]})
		}
		s.put("c.csv", csvText(t, append(rows, []string{"80", "1", "1", text + "3"})...))
		s.check(s.run("policy", "fairness.yaml", "markdown", "out.md"), 1, "FAIL")
		commands := 0
		for line := range strings.Lines(s.stdout.String()) {
			if strings.HasPrefix(line, "::") {
				commands++
				if !strings.HasPrefix(line, "::error col=") || !strings.Contains(line, ",file=fairness.yaml,line=") {
					t.Errorf("%q: the log has the command %q", text, line)
				}
				continue
			}
			checkTame(t, fmt.Sprintf("%q, log", text), line, false)
		}
		if commands != 2 {
			t.Errorf("%q: %d commands in the log, want 2:\n%s", text, commands, &s.stdout)
		}
		checkTame(t, fmt.Sprintf("%q, standard error", text), s.stderr.String(), false)
		for name, doc := range map[string]string{"summary": s.read("GITHUB_STEP_SUMMARY"), "Markdown": readAll(t, filepath.Join(s.workspace, "out.md"))} {
			checkTame(t, fmt.Sprintf("%q, %s", text, name), doc, false)
			checkMarkdown(t, fmt.Sprintf("%q, %s", text, name), doc)
		}
		for output, value := range s.outputs() {
			if !slices.Contains([]string{"verdict", "exit-code", "passed", "failed", "insufficient-evidence", "manual-review", "failing-rules", "policy-loosened", "report", "reporting-problems"}, output) {
				t.Errorf("%q: the output %q is %q", text, output, value)
			}
		}
	}
}

// readAll is the content of a file.
func readAll(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
