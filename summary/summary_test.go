package summary

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// readReports reads every report of testdata/report, by name.
func readReports(t testing.TB) map[string]*report.Report {
	t.Helper()
	paths, err := filepath.Glob("testdata/report/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no reports in testdata/report: %v", err)
	}
	reports := map[string]*report.Report{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r := new(report.Report)
		if err := json.Unmarshal(data, r); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		reports[strings.TrimSuffix(filepath.Base(path), ".json")] = r
	}
	reports["many"] = manyRules(60)
	return reports
}

// manyRules is a report of n rules: two of three pass, the others fail. Its numbers are made up.
func manyRules(n int) *report.Report {
	r := report.New("0.4.0")
	r.Confidence = 0.95
	r.Policy = &report.File{Path: "policy.yaml", SHA256: strings.Repeat("0", 64)}
	g := report.Gate{Gate: "fairness", Name: "many", Summary: "Many rules."}
	for i := range n {
		rule := report.Rule{ID: fmt.Sprintf("rule-%03d", i), Verdict: report.Pass, Reason: "A reason.", Threshold: report.Threshold{Kind: report.Minimum, Value: 0.8}}
		rule.Metric = "accuracy"
		rule.Estimate = report.Number(0.9)
		rule.Scale = &report.Scale{Lower: 0, Upper: 1}
		rule.Interval = report.PublishInterval(interval.Interval{Lower: 0.85, Upper: 0.95, Confidence: 0.95, Method: interval.MethodClopperPearson, Looks: interval.LooksOne})
		if i%3 == 0 {
			rule.Verdict = report.Fail
			rule.Needs = &report.Needs{What: "another system"}
		}
		g.Rules = append(g.Rules, rule)
		g.Measures = append(g.Measures, rule.Measure)
	}
	r.Gates = []report.Gate{g}
	r.Decide()
	return r
}

// write returns a report in one format.
func write(t testing.TB, format string, r *report.Report, opts Options) string {
	t.Helper()
	f, err := Lookup(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, r, opts); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.String()
}

// golden compares got with a golden file, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got), go test -update rewrites it:\n%s", path, diff)
	}
}

func TestGolden(t *testing.T) {
	wanted := map[string]bool{}
	check := func(name, got string) {
		golden(t, name, got)
		wanted[name] = true
	}
	for name, r := range readReports(t) {
		if name == "many" { // large and repetitive: markdown_test.go and the width test read it
			continue
		}
		check(name+".terminal.txt", write(t, "terminal", r, Options{Unicode: true}))
		check(name+".ascii.txt", write(t, "terminal", r, Options{}))
		check(name+".md", write(t, "markdown", r, Options{}))
		check(name+".comment.md", comment(t, r, ofRun))
		check(name+".html", cutStyle(write(t, "html", r, Options{})))
		for format, end := range map[string]string{"junit": "junit.xml", "sarif": "sarif.json", "codequality": "codequality.json", "openmetrics": "metrics.txt", "dotenv": "env", "model-card": "card.md"} {
			check(name+"."+end, write(t, format, r, Options{}))
		}
	}
	for name, d := range diffs(t) {
		if name != "diff_many" {
			check(name+".terminal.txt", writeDiff(t, "terminal", d, Options{Unicode: true}))
			check(name+".md", writeDiff(t, "markdown", d, Options{}))
		}
	}
	baseline, passing := readReports(t)["baseline"], readReports(t)["pass"]
	again := ofRun
	again.Previous = &Previous{Run: "run 811", Verdict: report.Fail, Failing: []string{"people-decide-better"}}
	check("pass.again.comment.md", comment(t, passing, again))
	again.Scheduled = true
	again.Previous.Failing = []string{"every-age-served", "capable", "four-fifths", "fnr-crossed"}
	check("baseline.audit.comment.md", comment(t, baseline, again))
	check("many.comment.md", comment(t, manyRules(60), ofRun))
	short := ofRun
	short.MaxBytes = 3000
	check("many.small.comment.md", comment(t, manyRules(300), short))
	mixed := readReports(t)["mixed"]
	check("mixed.color.txt", write(t, "terminal", mixed, Options{Unicode: true, Color: true}))
	check("mixed.narrow.txt", write(t, "terminal", mixed, Options{Unicode: true, Width: 40}))
	check("mixed.json", write(t, "json", mixed, Options{}))
	check("many.small.md", write(t, "markdown", manyRules(300), Options{MaxBytes: 3000}))

	files, err := os.ReadDir("testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !wanted[f.Name()] {
			t.Errorf("testdata/golden/%s belongs to no report", f.Name())
		}
	}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// checkTerminal checks what holds for every terminal report. Reports of errors are named so: their problems are one
// line each, however wide; so is the digest to be copied, which fits in 80.
func checkTerminal(t testing.TB, name, text string, width int) {
	t.Helper()
	if !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") {
		t.Errorf("%s: does not end with exactly one newline", name)
	}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if w := cells(sgr.ReplaceAllString(line, "")); w > width && !strings.Contains(name, "error") && !strings.HasPrefix(line, "      digest: ") {
			t.Errorf("%s: line %d is %d cells wide: %q", name, i+1, w, line)
		}
		if strings.HasSuffix(line, " ") {
			t.Errorf("%s: line %d ends with a space: %q", name, i+1, line)
		}
		if c := runnerReads(line); c != "" {
			t.Errorf("%s: line %d is the command %q to a runner: %q", name, i+1, c, line)
		}
		for _, r := range sgr.ReplaceAllString(line, "") {
			if r < 0x20 || r == 0x7f || (r >= 0x80 && r < 0xa0) || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069) {
				t.Errorf("%s: line %d has the control character %U: %q", name, i+1, r, line)
			}
		}
	}
}

func TestTerminalHoldsItsWidth(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and nothing in it runs side by side")
	}
	for name, r := range readReports(t) {
		for _, width := range []int{40, 57, 80, 200} {
			for _, utf8 := range []bool{true, false} {
				for _, color := range []bool{true, false} {
					text := write(t, "terminal", r, Options{Unicode: utf8, Color: color, Width: width})
					checkTerminal(t, fmt.Sprintf("%s at %d", name, width), text, width)
					plain := sgr.ReplaceAllString(text, "")
					if !color && plain != text {
						t.Errorf("%s: colour without being asked for", name)
					}
					if color && !strings.Contains(text, "\x1b[") && r.Verdict != report.NoVerdict {
						t.Errorf("%s: no colour at width %d", name, width)
					}
					if plain != write(t, "terminal", r, Options{Unicode: utf8, Width: width}) {
						t.Errorf("%s: colour changes the text", name)
					}
					for _, c := range text {
						if !utf8 && c > 0x7e {
							t.Fatalf("%s: %U in plain ASCII", name, c)
						}
					}
				}
			}
		}
	}
}

// A width of 0 is 80, one under 40 is 40; the defaults of every option give the same bytes twice.
func TestTerminalDefaults(t *testing.T) {
	r := readReports(t)["mixed"]
	if write(t, "terminal", r, Options{}) != write(t, "terminal", r, Options{Width: 80}) {
		t.Error("width 0 is not 80")
	}
	if write(t, "terminal", r, Options{Width: 3}) != write(t, "terminal", r, Options{Width: 40}) {
		t.Error("width 3 is not 40")
	}
}

// Every rule's words appear in both formats for people, those that need someone before those that pass.
func TestRulesNeedingSomeoneFirst(t *testing.T) {
	r := readReports(t)["mixed"]
	for _, format := range []string{"terminal", "markdown", "html"} {
		text := write(t, format, r, Options{Unicode: true})
		last := -1
		for _, want := range []string{"fnr-by-sex", "agreement", "agreement-old", "fnr-crossed", "every-age-served", "four-fifths"} { // the fairness rules by verdict, the advisory one last
			at := strings.Index(text, want)
			if at <= last {
				t.Errorf("%s: %s is at %d, not after %d", format, want, at, last)
			}
			last = at
		}
		for rule := range r.Rules() {
			if !strings.Contains(text, rule.ID) || !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Fields(rule.Reason)[0]) {
				t.Errorf("%s: nothing on %s", format, rule.ID)
			}
		}
	}
}

// The rule "no-interval" of numbers.json has an estimate of 0.9 and a threshold, but no interval; the value
// stands nowhere else in that part of the report.
func TestNoBareEstimate(t *testing.T) {
	r := readReports(t)["numbers"]
	r.Gates[0].Rules = r.Gates[0].Rules[1:2]
	if rule := r.Gates[0].Rules[0]; rule.ID != "no-interval" || *rule.Estimate != 0.9 || rule.Interval != nil {
		t.Fatal("numbers.json has changed")
	}
	for _, format := range []string{"terminal", "markdown", "html"} {
		text := write(t, format, r, Options{Unicode: true})
		if format == "html" {
			text = readPage(t, "a rule without an interval", text).seenText()
		}
		if strings.Contains(text, "0.9") {
			t.Errorf("%s shows an estimate without an interval beside a threshold:\n%s", format, text)
		}
	}
}

func TestJSONSaysTheSame(t *testing.T) {
	for name, r := range readReports(t) {
		text := write(t, "json", r, Options{})
		for line := range strings.Lines(text) {
			if c := runnerReads(line); c != "" {
				t.Errorf("%s: a line of JSON is the command %q to a runner", name, c)
			}
		}
		var back report.Report
		if err := json.Unmarshal([]byte(text), &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		got, err := back.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the document read back is another", name)
		}
	}
}

func TestExitSentence(t *testing.T) {
	gate := func(v report.Verdict, reviewed bool) *report.Report {
		rule := report.Rule{ID: "r", Verdict: v}
		if reviewed {
			rule.Reviewed = &report.Reviewed{Valid: true}
		}
		r := report.New("x")
		r.Gates = []report.Gate{{Rules: []report.Rule{rule}}}
		r.Decide()
		return r
	}
	unusable := report.New("x")
	unusable.ExitStatus = report.ExitUnusable
	// The statuses are those of spec.md, section 1.
	for _, test := range []struct {
		r      *report.Report
		failOn report.FailOn
		want   string
	}{
		{gate(report.Pass, false), nil, "exit status 0 (every counting rule passes)"},
		{gate(report.Fail, false), nil, "exit status 1 (the worst of its rules is FAIL)"},
		{gate(report.InsufficientEvidence, false), nil, "exit status 3 (the worst of its rules is INSUFFICIENT_EVIDENCE)"},
		{gate(report.ManualReview, false), nil, "exit status 4 (the worst of its rules is MANUAL_REVIEW)"},
		{gate(report.ManualReview, true), nil, "exit status 0 (the rules under MANUAL_REVIEW have been reviewed)"},
		{gate(report.Fail, false), report.FailOn{}, "exit status 0 (the verdict is FAIL, which is not in fail-on)"},
		{unusable, nil, "exit status 2 (nothing was decided)"},
		{report.New("x"), nil, "exit status 0 (nothing was to be decided)"},
	} {
		if got := exitSentence(test.r, test.failOn); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestMustBe(t *testing.T) {
	for want, threshold := range map[string]report.Threshold{
		"≥ 0.8":               {Kind: report.Minimum, Value: 0.8},
		"≤ 0.05":              {Kind: report.Maximum, Value: 0.05},
		"gap ≤ 0.1":           {Kind: report.MaxGroupGap, Value: 0.1},
		"ratio ≥ 0.8":         {Kind: report.MinGroupRatio, Value: 0.8},
		"every group ≥ 0.8":   {Kind: report.WorstGroup, Side: report.Minimum, Value: 0.8},
		"every group ≤ -0.25": {Kind: report.WorstGroup, Side: report.Maximum, Value: -0.25},
		"≥ 0":                 {Kind: report.Minimum, Value: 0},
		"≥ 1e-30":             {Kind: report.Minimum, Value: 1e-30},
		"≥ 0.123456789":       {Kind: report.Minimum, Value: 0.123456789},
		"better":              {},
	} {
		if got := MustBe(threshold); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A word and an icon for every verdict, no two alike, and none of the zero value is good news.
func TestEveryVerdictHasItsOwnWord(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range append([]report.Verdict{report.NoVerdict}, report.Verdicts...) {
		for _, s := range []string{Word(v), Icon(v)} {
			if s == "" || seen[s] {
				t.Errorf("%v is shown as %q, which is empty or another's", v, s)
			}
			seen[s] = true
		}
	}
}

func TestLookup(t *testing.T) {
	for _, name := range Names() {
		if f, err := Lookup(name); err != nil || f.Name != name || f.Write == nil || f.About == "" {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	all := strings.Join(Names(), ", ")
	for name, want := range map[string]string{
		"markdwon":               `unknown format "markdwon"; use ` + all + `; did you mean "markdown"?`,
		"JSON":                   `unknown format "JSON"; use ` + all + `; did you mean "json"?`,
		"term":                   `unknown format "term"; use ` + all + `; did you mean "terminal"?`,
		"":                       `unknown format ""; use ` + all,
		"pdf":                    `unknown format "pdf"; use ` + all,
		strings.Repeat("x", 1e6): `unknown format "` + strings.Repeat("x", 59) + `…"; use ` + all,
	} {
		if _, err := Lookup(name); err == nil || err.Error() != want {
			t.Errorf("Lookup(%.20q): %v, want %s", name, err, want)
		}
	}
}

func TestParseTarget(t *testing.T) {
	for text, want := range map[string][2]string{
		"json":                   {"json", ""},
		"json:-":                 {"json", ""},
		"json:out/report.json":   {"json", "out/report.json"},
		`markdown:C:\out\r.md`:   {"markdown", `C:\out\r.md`},
		"terminal:a:b":           {"terminal", "a:b"},
		"terminal: with a space": {"terminal", " with a space"},
	} {
		got, err := ParseTarget(text)
		if err != nil || got.Format.Name != want[0] || got.Path != want[1] {
			t.Errorf("ParseTarget(%q) = %q %q, %v; want %q", text, got.Format.Name, got.Path, err, want)
		}
	}
	for _, text := range []string{"", ":", "json:", ":report.json", "out.json", "Json:x"} {
		if _, err := ParseTarget(text); err == nil {
			t.Errorf("ParseTarget(%q) is accepted", text)
		}
	}
}

// failing is a writer that takes nothing.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteErrorsAreReturned(t *testing.T) {
	r := readReports(t)["pass"]
	for _, f := range Formats() {
		if err := f.Write(failing{}, r, Options{}); err == nil {
			t.Errorf("%s: a failed write is not reported", f.Name)
		}
	}
}

// An empty report, and one of empty parts, is printed and never a pass.
func TestEmptyReports(t *testing.T) {
	for name, r := range map[string]*report.Report{
		"zero":        {},
		"empty gate":  {Gates: []report.Gate{{}}},
		"empty rule":  {Gates: []report.Gate{{Rules: []report.Rule{{}}, Measures: []report.Measure{{}}}}},
		"empty cell":  {Gates: []report.Gate{{Rules: []report.Rule{{Cells: []report.Cell{{}}, Pairs: []report.Pair{{}}}}}}},
		"empty parts": {Gates: []report.Gate{{Rules: []report.Rule{{Needs: &report.Needs{}, Waived: &report.Waived{}, Reviewed: &report.Reviewed{}}}, Findings: []report.Finding{{}}}}, Errors: nil, Inputs: []report.Input{{Findings: []report.InputFinding{{}}}}},
		"an error":    {Errors: []report.Problem{{}}},
	} {
		for _, format := range []string{"terminal", "markdown", "html"} {
			text := write(t, format, r, Options{Unicode: true})
			if format == "html" {
				text = readPage(t, name, text).seenText()
			}
			if text == "" || strings.Contains(text, "PASS") || strings.Contains(text, "✅") {
				t.Errorf("%s as %s: %q", name, format, text)
			}
			if format == "terminal" {
				checkTerminal(t, name, text, 80)
			}
		}
	}
}

func TestSentences(t *testing.T) {
	got := sentences("Holds at 0.5 of them. B too.  C")
	if diff := cmp.Diff([]string{"Holds at 0.5 of them.", "B too.", "C"}, got); diff != "" {
		t.Error(diff)
	}
	g := &report.Gate{Measures: []report.Measure{{Conditions: "A holds."}, {Conditions: "A holds. B too."}, {Conditions: "B too. Another."}}}
	if diff := cmp.Diff([]string{"A holds.", "B too.", "Another."}, conditions(g, true)); diff != "" {
		t.Error(diff)
	}
}

// TestShownProblems: one mistake on every row does not hide another, and what is shown stays in order.
func TestShownProblems(t *testing.T) {
	var problems []report.Problem
	for line := range 100 {
		message := fmt.Sprintf("decided_at: found \"%d,5\": write a decimal point", line)
		if line == 70 {
			message = "condition is \"wihout\"; write \"with\" or \"without\""
		}
		problems = append(problems, report.Problem{File: "d.csv", Line: line + 2, Message: message})
	}
	problems = append(problems, report.Problem{File: "policy.yaml", Line: 1, Message: "rules is an empty list"})
	shown := shownProblems(problems, 20)
	if len(shown) != 20 || !slices.IsSortedFunc(shown, func(a, b report.Problem) int { return a.Pos().Compare(b.Pos()) }) {
		t.Errorf("%d shown, or out of order: %v", len(shown), shown)
	}
	if shown[18].Line != 72 || shown[19].File != "policy.yaml" || shown[17].Line != 19 {
		t.Errorf("the two rarer kinds are not among the last: %v", shown[17:])
	}
	if got := shownProblems(problems[:20], 20); len(got) != 20 {
		t.Errorf("%d of 20 shown", len(got))
	}
}
