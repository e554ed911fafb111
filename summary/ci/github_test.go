package ci

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
)

// runner is a place for a step to write to, as GitHub's runner makes it.
type runner struct {
	env map[string]string
	log bytes.Buffer
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	dir := t.TempDir()
	r := &runner{env: map[string]string{
		"GITHUB_OUTPUT":       filepath.Join(dir, "output"),
		"GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"),
		"GITHUB_WORKSPACE":    "/github/workspace",
	}}
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} {
		r.write(t, name, "")
	}
	return r
}

func (r *runner) getenv(name string) string { return r.env[name] }

func (r *runner) write(t testing.TB, variable, text string) {
	t.Helper()
	if err := os.WriteFile(r.env[variable], []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (r *runner) read(t testing.TB, variable string) string {
	t.Helper()
	text, err := os.ReadFile(r.env[variable])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (r *runner) outputs(t testing.TB) map[string]string {
	t.Helper()
	return runnerOutputs(t, r.read(t, "GITHUB_OUTPUT"))
}

// decided returns a report with these rules, all at policy.yaml, each on a line of its own from 3.
func decided(rules ...report.Rule) *report.Report {
	r := report.New("1.0.0")
	for i := range rules {
		rules[i].Position = diag.Pos{File: "./policy.yaml", Line: 3 + 4*i, Column: 5}
	}
	r.Gates = []report.Gate{{Gate: "human-ai", Rules: rules}}
	r.Decide()
	return r
}

func rule(id string, v report.Verdict) report.Rule {
	return report.Rule{ID: id, Verdict: v, Reason: "The reason of " + id + ".", Measure: report.Measure{Metric: "accuracy_with"}}
}

func everyVerdict() *report.Report {
	failing := rule("never", report.Fail)
	failing.Needs = &report.Needs{What: "more people", AtLeast: 34}
	failing.Threshold = report.Threshold{Kind: report.Minimum, Value: 0.5}
	failing.Estimate = report.Number(0.25)
	failing.Interval = &report.Interval{Lower: report.Number(0.125), Upper: report.Number(0.375), Confidence: 0.95}
	advisory := rule("watched", report.Fail)
	advisory.Advisory = true
	reviewed := rule("seen", report.ManualReview)
	reviewed.Reviewed = &report.Reviewed{By: "R", Valid: true}
	stale := rule("seen-before", report.ManualReview)
	stale.Reviewed = &report.Reviewed{By: "R", Valid: false}
	return decided(rule("fine", report.Pass), failing, rule("thin", report.InsufficientEvidence), advisory, reviewed, stale)
}

func unusable() *report.Report {
	return report.Unusable("1.0.0", &diag.Error{Items: []diag.Diagnostic{
		{Pos: diag.Pos{File: "decisions.csv", Line: 14, Column: 23}, Message: `condition is "wihout"; write "with" or "without"`},
		{Pos: diag.Pos{File: "policies/policy.yaml", Line: 6, Column: 5}, Message: `unknown key "minimun"; did you mean "minimum"?`},
		{Message: "no gate is named"},
	}, More: 7})
}

func TestOutputs(t *testing.T) {
	tests := []struct {
		name string
		d    Delivery
		want map[string]string
	}{
		{"every verdict", Delivery{Report: everyVerdict(), FailOn: report.DefaultFailOn(), ReportFile: "out/report.json"}, map[string]string{
			"verdict": "FAIL", "exit-code": "1", "passed": "1", "failed": "1", "insufficient-evidence": "1", "manual-review": "2",
			"failing-rules": `["never","thin","seen","seen-before"]`, "policy-loosened": "false", "report": "out/report.json", "reporting-problems": `[]`,
		}},
		{"fail-on without FAIL", Delivery{Report: everyVerdict(), FailOn: report.FailOn{report.InsufficientEvidence: true}}, map[string]string{
			"verdict": "FAIL", "exit-code": "1", "passed": "1", "failed": "1", "insufficient-evidence": "1", "manual-review": "2",
			"failing-rules": `["never","thin","seen","seen-before"]`, "policy-loosened": "false", "reporting-problems": `[]`,
		}},
		{"pass", Delivery{Report: decided(rule("fine", report.Pass))}, map[string]string{
			"verdict": "PASS", "exit-code": "0", "passed": "1", "failed": "0", "insufficient-evidence": "0", "manual-review": "0",
			"failing-rules": `[]`, "policy-loosened": "false", "reporting-problems": `[]`,
		}},
		{"unusable", Delivery{Report: unusable(), FailOn: report.FailOn{}}, map[string]string{
			"verdict": "NO_VERDICT", "exit-code": "2", "passed": "0", "failed": "0", "insufficient-evidence": "0", "manual-review": "0",
			"failing-rules": `[]`, "policy-loosened": "false", "reporting-problems": `[]`,
		}},
		{"a rule left without a verdict", Delivery{Report: decided(rule("fine", report.Pass), rule("lost", report.NoVerdict)), FailOn: report.FailOn{}}, map[string]string{
			"verdict": "NO_VERDICT", "exit-code": "2", "passed": "0", "failed": "0", "insufficient-evidence": "0", "manual-review": "0",
			"failing-rules": `[]`, "policy-loosened": "false", "reporting-problems": `[]`,
		}},
		{"problems met before", Delivery{Report: decided(rule("fine", report.Pass)), Problems: []string{"the disk is full\nreally"}}, map[string]string{
			"verdict": "PASS", "exit-code": "0", "passed": "1", "failed": "0", "insufficient-evidence": "0", "manual-review": "0",
			"failing-rules": `[]`, "policy-loosened": "false", "reporting-problems": `["the disk is full\nreally"]`,
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRunner(t)
			if problems := GitHub(test.d, r.getenv, &r.log); len(problems) != len(test.d.Problems) {
				t.Errorf("new reporting problems: %q", problems)
			}
			if diff := cmp.Diff(test.want, r.outputs(t)); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
			text := r.read(t, "GITHUB_OUTPUT")
			if last := text[strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n")+1:]; last != "verdict="+test.want["verdict"]+"\n" {
				t.Errorf("the last line is %q, want the verdict", last)
			}
			if got := r.read(t, "GITHUB_STEP_SUMMARY"); got != "" {
				t.Errorf("a summary that was not asked for: %q", got)
			}
		})
	}
}

// TestOutputsHoldAnything checks that whatever the names in a policy are, the runner reads the verdict
// that was written and a list from which the names come back.
func TestOutputsHoldAnything(t *testing.T) {
	texts := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"x\nverdict=PASS", "x\r\nverdict=PASS", "x\nD\nverdict<<D\nPASS\nD", "verdict<<D", "\u0085", "\u2028", "\U000e0001", "\x00", "a\u200bb", `"],"x`,
	})), 1, 20)
	rapid.Check(t, func(t *rapid.T) {
		ids := texts.Draw(t, "ids")
		problems := texts.Draw(t, "problems")
		var rules []report.Rule
		for _, id := range ids {
			rules = append(rules, rule(id, report.Fail))
		}
		d := Delivery{Report: decided(rules...), FailOn: report.DefaultFailOn()}
		list, _ := jsonList(ids)
		block := string(outputs(d, Outcome{}, list, problems))
		if strings.ContainsFunc(strings.ReplaceAll(block, "\n", ""), hidden) {
			t.Fatalf("hidden characters in %q", block)
		}
		got := runnerOutputs(t, block)
		if got["verdict"] != "FAIL" || got["exit-code"] != "1" || len(got) != 9 { // all outputs but report and the addresses
			t.Fatalf("the runner reads %q", got)
		}
		for name, want := range map[string][]string{"failing-rules": ids, "reporting-problems": problems} {
			var back []string
			if err := json.Unmarshal([]byte(got[name]), &back); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i := range want {
				if back[i] != strings.ToValidUTF8(want[i], "\ufffd") && back[i] != want[i] {
					t.Fatalf("%s: %q comes back as %q", name, want[i], back[i])
				}
			}
		}
	})
}

// TestLongLists checks that a list too long for an output is cut at an item, and said to be.
func TestLongLists(t *testing.T) {
	var rules []report.Rule
	for i := range 3000 {
		rules = append(rules, rule(fmt.Sprintf("%0100d", i), report.Fail)) // 3,000 × 103 bytes of JSON
	}
	r := newRunner(t)
	problems := GitHub(Delivery{Report: decided(rules...)}, r.getenv, &r.log)
	var listed []string
	if err := json.Unmarshal([]byte(r.outputs(t)["failing-rules"]), &listed); err != nil {
		t.Fatal(err)
	}
	// Each item has 100 digits, two quotes and a comma: (200,000 - 2) / 103 rounded down, or one less.
	if n := len(listed); n != 1941 && n != 1940 {
		t.Errorf("%d rules are listed", n)
	}
	want := fmt.Sprintf("output failing-rules: holds the first %d of 3000 rules", len(listed))
	if len(problems) != 1 || problems[0] != want {
		t.Errorf("problems %q, want %q", problems, want)
	}
}

func TestSummary(t *testing.T) {
	for name, r := range map[string]*report.Report{"decided": everyVerdict(), "unusable": unusable()} {
		t.Run(name, func(t *testing.T) {
			run := newRunner(t)
			run.write(t, "GITHUB_STEP_SUMMARY", "what the step wrote before\n")
			if problems := GitHub(Delivery{Report: r, Summary: true}, run.getenv, &run.log); len(problems) > 0 {
				t.Errorf("problems: %q", problems)
			}
			got := run.read(t, "GITHUB_STEP_SUMMARY")
			if !strings.HasPrefix(got, "what the step wrote before\n") {
				t.Errorf("the summary was overwritten: %q", got)
			}
			wants := []string{"FAIL", "never", "thin", "seen"}
			if name == "unusable" {
				wants = []string{"decisions.csv", "minimun", "no gate is named"}
			}
			for _, want := range wants {
				if !strings.Contains(got, want) {
					t.Errorf("the summary has no %q:\n%s", want, got)
				}
			}
		})
	}
}

// TestSummaryStaysUnderTheLimit fills a summary nearly up: a summary above 1 MiB would be dropped whole.
func TestSummaryStaysUnderTheLimit(t *testing.T) {
	var rules []report.Rule
	for i := range 200 {
		r := rule(fmt.Sprintf("rule-%d", i), report.Fail)
		r.Reason = strings.Repeat("long ", 200) // 1,000 bytes: more than 200,000 in all
		rules = append(rules, r)
	}
	big := decided(rules...)
	for _, before := range []int{0, 900_000, summaryBytes - 1, summaryBytes, 1 << 20} {
		r := newRunner(t)
		r.write(t, "GITHUB_STEP_SUMMARY", strings.Repeat("x", before))
		problems := GitHub(Delivery{Report: big, Summary: true, FailOn: report.DefaultFailOn()}, r.getenv, &r.log)
		size := len(r.read(t, "GITHUB_STEP_SUMMARY"))
		if size > max(before, summaryBytes) {
			t.Errorf("%d bytes before, %d after, above the limit", before, size)
		}
		if wrote := size > before; wrote == hasProblem(problems, "job summary") {
			t.Errorf("%d bytes before: written %v, problems %q", before, wrote, problems)
		}
		if before == 0 && size < 200_000 || before == 900_000 && size == before {
			t.Errorf("%d bytes before, %d after: the room is not used", before, size)
		}
		if got := r.outputs(t); got["verdict"] != "FAIL" || got["exit-code"] != "1" {
			t.Errorf("%d bytes before: outputs %q", before, got)
		}
	}
}

// TestReportingFailures breaks one channel after the other: the rest still works, the problem is said on
// what is left, and the verdict stands.
func TestReportingFailures(t *testing.T) {
	tests := []struct {
		name    string
		breakIt func(*runner)
		log     int // how many bytes the log takes; -1 for all
		want    string
	}{
		{"no output file named", func(r *runner) { r.env["GITHUB_OUTPUT"] = "" }, -1, "outputs: GITHUB_OUTPUT is not set"},
		{"the output file is missing", func(r *runner) { os.Remove(r.env["GITHUB_OUTPUT"]) }, -1, "outputs: GITHUB_OUTPUT: open "},
		{"the output file is a folder", func(r *runner) { r.env["GITHUB_OUTPUT"] = filepath.Dir(r.env["GITHUB_OUTPUT"]) }, -1, "outputs: GITHUB_OUTPUT: open "},
		{"no summary file named", func(r *runner) { r.env["GITHUB_STEP_SUMMARY"] = "" }, -1, "job summary: GITHUB_STEP_SUMMARY is not set"},
		{"the summary file is missing", func(r *runner) { os.Remove(r.env["GITHUB_STEP_SUMMARY"]) }, -1, "job summary: GITHUB_STEP_SUMMARY: open "},
		{"the log is full", func(*runner) {}, 0, "annotations: no space left"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRunner(t)
			output := r.env["GITHUB_OUTPUT"]
			test.breakIt(r)
			d := Delivery{Report: everyVerdict(), FailOn: report.DefaultFailOn(), Summary: true, Annotations: true}
			var problems []string
			if test.log >= 0 {
				problems = GitHub(d, r.getenv, &failing{left: test.log})
			} else {
				problems = GitHub(d, r.getenv, &r.log)
			}
			if len(problems) != 1 || !strings.HasPrefix(problems[0], test.want) {
				t.Errorf("problems %q, want one that begins %q", problems, test.want)
			}
			if d.Report.Verdict != report.Fail || d.Report.Status(d.FailOn) != report.ExitFail {
				t.Errorf("the verdict became %v", d.Report.Verdict)
			}
			if test.log < 0 && !strings.Contains(r.log.String(), "::warning title=Oloproof could not report everything::The verdict stands.") {
				t.Errorf("no warning in the log:\n%s", &r.log)
			}
			if text, err := os.ReadFile(output); err == nil && r.env["GITHUB_OUTPUT"] == output {
				got := runnerOutputs(t, string(text))
				if got["verdict"] != "FAIL" || !strings.Contains(got["reporting-problems"], test.want) {
					t.Errorf("outputs %q", got)
				}
			}
		})
	}
}

func TestAnnotations(t *testing.T) {
	command := func(level, place, title, message string) string {
		if place != "" {
			place = "col=" + place + ","
		}
		return "::" + level + " " + place + "title=" + title + "::" + message + "\n"
	}
	tests := []struct {
		name string
		d    Delivery
		want string
	}{
		{"every verdict", Delivery{Report: everyVerdict(), Annotations: true},
			command("error", "5,file=policy.yaml,line=7", "FAIL%3A never", "The reason of never. Measured: 0.250, interval 0.125 … 0.375; must be ≥ 0.5. What would decide it: about 34 more people.") +
				command("warning", "5,file=policy.yaml,line=11", "INSUFFICIENT_EVIDENCE%3A thin", "The reason of thin.") +
				command("warning", "5,file=policy.yaml,line=23", "MANUAL_REVIEW%3A seen-before", "The reason of seen-before.") +
				command("notice", "5,file=policy.yaml,line=15", "FAIL%3A watched (advisory%3A does not count)", "The reason of watched.") +
				command("notice", "5,file=policy.yaml,line=19", "MANUAL_REVIEW%3A seen (reviewed)", "The reason of seen.")},
		{"unusable", Delivery{Report: unusable(), Annotations: true, PolicyFile: "policies/policy.yaml"},
			command("error", "5,file=policies/policy.yaml,line=6", "Oloproof%3A nothing was decided", `unknown key "minimun"; did you mean "minimum"?`) +
				command("error", "23,file=decisions.csv,line=14", "Oloproof%3A nothing was decided", `condition is "wihout"; write "with" or "without"`) +
				command("error", "", "Oloproof%3A nothing was decided", "no gate is named") +
				command("error", "", "Oloproof%3A nothing was decided", "7 more problems were found")},
		{"passed", Delivery{Report: decided(rule("fine", report.Pass)), Annotations: true}, ""},
		{"not wanted", Delivery{Report: everyVerdict()}, ""},
		{"not wanted, with a problem", Delivery{Report: everyVerdict(), Problems: []string{"report.json: no space left"}},
			command("warning", "", "Oloproof could not report everything", "The verdict stands. report.json: no space left")},
		{"unusable and not wanted, with a problem", Delivery{Report: unusable(), Problems: []string{"report.json: no space left"}},
			command("warning", "", "Oloproof could not report everything", "Nothing was decided in any case. report.json: no space left")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRunner(t)
			GitHub(test.d, r.getenv, &r.log)
			if diff := cmp.Diff(test.want, r.log.String()); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

// TestManyAnnotations checks the tenth of a level, which takes in the rest.
func TestManyAnnotations(t *testing.T) {
	tests := []struct {
		rules, want int
		last        []string
		reportFile  string
	}{
		{10, 10, []string{"FAIL: rule-9", "The reason of rule-9."}, ""},
		{11, 10, []string{"Oloproof: 2 more", "policy.yaml:39: FAIL: rule-9: The reason of rule-9.\npolicy.yaml:43: FAIL: rule-10: "}, "r.json"},
		// Rule n is on line 3 + 4n. "policy.yaml:39: FAIL: rule-9: The reason of rule-9." and its newline are 52 bytes, those of rules 10
		// to 24 are 54 and of 25 to 99 are 55: 3,900 bytes hold 1 + 15 + 55 of the 491.
		{500, 10, []string{"Oloproof: 71 more", "\nand 420 more"}, ""},
		{500, 10, []string{"Oloproof: 71 more", "\nand 420 more, which all are in the report r.json"}, "r.json"},
	}
	for _, test := range tests {
		var rules []report.Rule
		for i := range test.rules {
			rules = append(rules, rule(fmt.Sprintf("rule-%d", i), report.Fail))
		}
		r := newRunner(t)
		problems := GitHub(Delivery{Report: decided(rules...), Annotations: true, ReportFile: test.reportFile}, r.getenv, &r.log)
		var shown []runnerCommand
		for _, c := range runnerCommands(r.log.String()) {
			if c.name == "error" {
				shown = append(shown, c)
			}
		}
		if len(shown) != test.want {
			t.Fatalf("%d rules: %d errors, want %d", test.rules, len(shown), test.want)
		}
		last := shown[len(shown)-1]
		if test.reportFile == "" && strings.Contains(last.data, "in the report") {
			t.Errorf("%d rules: it speaks of a report that there is none of: %q", test.rules, last.data)
		}
		if last.properties["title"] != test.last[0] || !strings.Contains(last.data, test.last[1]) || last.properties["line"] != "39" {
			t.Errorf("%d rules: the last is %q %q", test.rules, last.properties, last.data)
		}
		if len(problems) > 0 { // that there is no room for more is none
			t.Errorf("%d rules: problems %q", test.rules, problems)
		}
	}
}

// TestAnnotationsHoldAnything checks the runner's limits, and that it reads one command where one was
// written, whatever the texts are.
func TestAnnotationsHoldAnything(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"::stop-commands::t", "a\n::error::b", "##[add-mask]x", "100%0A::error::x", "a,line=9", strings.Repeat("é", 5000), "\r::error::x", "#\u200b#[error]",
	}))
	levels := rapid.SampledFrom(append([]report.Verdict{report.NoVerdict}, report.Verdicts...))
	rapid.Check(t, func(t *rapid.T) {
		r := report.New("1")
		var rules []report.Rule
		for range rapid.IntRange(0, 25).Draw(t, "rules") {
			rules = append(rules, report.Rule{
				ID: text.Draw(t, "id"), Verdict: levels.Draw(t, "verdict"), Reason: text.Draw(t, "reason"), Advisory: rapid.Bool().Draw(t, "advisory"),
				Position: diag.Pos{File: text.Draw(t, "file"), Line: rapid.IntRange(0, 3).Draw(t, "line"), Column: rapid.IntRange(0, 3).Draw(t, "column")},
			})
		}
		r.Gates = []report.Gate{{Rules: rules}}
		r.Decide()
		commands := annotate(Delivery{Report: r, Annotations: true}, nil, "/github/workspace")
		read := runnerCommands(string(commands))
		if written := bytes.Count(commands, []byte("\n")); written != len(read) {
			t.Fatalf("%d lines, %d commands: %q", written, len(read), commands)
		}
		count := map[string]int{}
		for _, c := range read {
			count[c.name]++
			if count[c.name] > 10 || c.name != "error" && c.name != "warning" && c.name != "notice" {
				t.Fatalf("%d of %s", count[c.name], c.name)
			}
			if n := len(utf16.Encode([]rune(c.data))); n > 4096 {
				t.Fatalf("a message of %d UTF-16 units", n)
			}
			if n := len(utf16.Encode([]rune(c.properties["title"]))); n == 0 || n > 255 {
				t.Fatalf("a title of %d UTF-16 units", n)
			}
			if f := c.properties["file"]; strings.HasPrefix(f, "./") || strings.HasPrefix(f, "/") || strings.HasPrefix(f, "../") {
				t.Fatalf("the file is %q", f)
			}
		}
	})
}

func TestInWorkspace(t *testing.T) {
	for file, want := range map[string]string{
		"policy.yaml": "policy.yaml", "./policy.yaml": "policy.yaml", "a/../policy.yaml": "policy.yaml", "a//b.yaml": "a/b.yaml",
		"/github/workspace/a/b.yaml": "a/b.yaml", "/github/workspace": "", "/github/workspace2/b.yaml": "", "/etc/passwd": "",
		"../b.yaml": "", "..": "", ".": "", "": "", "..b.yaml": "..b.yaml",
	} {
		if got := inWorkspace(file, "/github/workspace/"); got != want {
			t.Errorf("%q is %q, want %q", file, got, want)
		}
	}
	if got := inWorkspace("/policy.yaml", ""); got != "" {
		t.Errorf("without a workspace: %q", got)
	}
}

func hasProblem(problems []string, part string) bool {
	for _, p := range problems {
		if strings.Contains(p, part) {
			return true
		}
	}
	return false
}
