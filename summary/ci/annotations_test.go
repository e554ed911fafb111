package ci

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
)

// changed is a report of a pull request that has everything that is annotated: rules, some new against a baseline, a loosened
// policy, and a waiver that ends.
func changed() *report.Report {
	newly := rule("broke", report.Fail)
	newly.Before = &report.Before{Change: report.NewlyFailing, Verdict: report.Pass}
	thin := rule("thin", report.InsufficientEvidence)
	thin.Before = &report.Before{Change: report.NewlyUndecided, Verdict: report.Pass}
	still := rule("still", report.Fail)
	still.Before = &report.Before{Change: report.StillNotPassed, Verdict: report.Fail}
	added := rule("added", report.Fail)
	added.Before = &report.Before{Change: report.NewRule}
	waived := rule("a rule", report.ManualReview)
	waived.Waived = &report.Waived{Until: "2027-03-31", Owner: "Ada", Verdict: report.Fail}
	r := decided(newly, thin, still, added, waived)
	r.Baseline = &report.Baseline{File: report.File{Path: "old\n::error::/report.json"}}
	r.PolicyChanges = []report.PolicyChange{
		{Loosens: true, Message: "Rule thin: minimum was 0.85 and is 0.8.", Position: diag.Pos{File: "./policy.yaml", Line: 9, Column: 5}},
		{Loosens: false, Message: "A comment.", Position: diag.Pos{File: "policy.yaml", Line: 1}},
	}
	// As engine/gate writes it (TestWaivers there).
	r.Gates[0].Findings = []report.Finding{
		{Rule: "a rule", Code: "waiver_ending", Severity: report.Warning, Message: `The waiver of rule "a rule" (owner "Ada") ends on 2027-03-31: in 3 days.`},
		{Rule: "not there", Code: "waiver_ending", Severity: report.Warning, Message: "A waiver of a rule that is not there ends."},
		{Code: "other", Severity: report.Warning, Message: "Something else."},
	}
	return r
}

// TestAnnotationsOfAPullRequest checks what is told beside the rules, where, and in which order.
func TestAnnotationsOfAPullRequest(t *testing.T) {
	prefix, err := ParsePrefix("sub/")
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t)
	var posted bool
	d := Delivery{Report: changed(), Annotations: true, PolicyFile: "policy.yaml", Prefix: prefix, Notes: []string{"A note.", "::error::A second one."}, Problems: []string{"report.json: no space left"}}
	d.Post = func() Outcome {
		posted = true
		// Everything else has been told by now, so that a step that is killed while it posts has told it.
		if !strings.Contains(r.log.String(), "A note.") || r.outputs(t)["verdict"] != "FAIL" {
			t.Errorf("posted before outputs and annotations")
		}
		return Outcome{CommentURL: "https://github.example/o/r/pull/12#issuecomment-1", Notes: []string{"A note of the comment."}, Problems: []string{"comment: no"}}
	}
	problems := GitHub(d, r.getenv, &r.log)
	if !posted || !slices.Equal(problems, []string{"report.json: no space left", "comment: no"}) {
		t.Errorf("posted %v, problems %q", posted, problems)
	}
	var got []string
	for _, c := range runnerCommands(r.log.String()) {
		got = append(got, strings.Join([]string{c.name, c.properties["file"], c.properties["line"], c.properties["title"], c.data}, "|"))
	}
	want := []string{
		`error|sub/policy.yaml|3|FAIL: broke|The reason of broke. It is new: in old\n::error::/report.json it was PASS.`,
		`error|sub/policy.yaml|11|FAIL: still|The reason of still.`,
		`error|sub/policy.yaml|15|FAIL: added|The reason of added.`,
		`warning|sub/policy.yaml|7|INSUFFICIENT_EVIDENCE: thin|The reason of thin. It is new: in old\n::error::/report.json it was PASS.`,
		`warning|sub/policy.yaml|19|MANUAL_REVIEW: a rule|The reason of a rule.`,
		`warning|sub/policy.yaml|9|This change loosens the policy|Rule thin: minimum was 0.85 and is 0.8.`,
		`warning|sub/policy.yaml|19|A waiver ends soon|The waiver of rule "a rule" (owner "Ada") ends on 2027-03-31: in 3 days.`,
		`warning|sub/policy.yaml||A waiver ends soon|A waiver of a rule that is not there ends.`,
		`notice|sub/policy.yaml|1|This change of the policy is for a person to look at|A comment.`,
		"notice|||Oloproof|A note.\n:\\:error::A second one.",
		"warning|||Oloproof could not report everything|The verdict stands. report.json: no space left",
		"notice|||Oloproof|A note of the comment.",
		"warning|||Oloproof could not report everything|The verdict stands. Comment: no",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAnnotationsOfTheBasePolicy: where the base branch's policy was decided, its lines are not those of the workspace's file:
// the annotation is on the file, and says which line of which policy. What the pull request changes is on its own line.
func TestAnnotationsOfTheBasePolicy(t *testing.T) {
	r := newRunner(t)
	rep := changed()
	rep.Gates[0].Rules = rep.Gates[0].Rules[4:]
	rep.PolicyFromBase = true
	GitHub(Delivery{Report: rep, Annotations: true, PolicyFile: "policy.yaml", BasePolicies: []string{"policy.yaml"}, Base: "the base branch main"}, r.getenv, &r.log)
	var got []string
	for _, c := range runnerCommands(r.log.String()) {
		got = append(got, strings.Join([]string{c.name, c.properties["file"], c.properties["line"], c.properties["col"], c.properties["title"], c.data}, "|"))
	}
	want := []string{
		`warning|policy.yaml|||MANUAL_REVIEW: a rule|The reason of a rule. (Line 19 of the policy as it is on the base branch main.)`,
		`warning|policy.yaml|9|5|This change loosens the policy|Rule thin: minimum was 0.85 and is 0.8.`,
		`warning|policy.yaml|||A waiver ends soon|The waiver of rule "a rule" (owner "Ada") ends on 2027-03-31: in 3 days. (Line 19 of the policy as it is on the base branch main.)`,
		`warning|policy.yaml|||A waiver ends soon|A waiver of a rule that is not there ends.`,
		`notice|policy.yaml|1||This change of the policy is for a person to look at|A comment.`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := r.outputs(t)["policy-loosened"]; got != "true" {
		t.Errorf("policy-loosened is %q", got)
	}

	r = newRunner(t)
	unusable := report.Unusable("1", &diag.Error{Items: []diag.Diagnostic{{Pos: diag.Pos{File: "policy.yaml", Line: 2, Column: 3}, Message: "wrong"}, {Pos: diag.Pos{File: "d.csv", Line: 4}, Message: "bad"}}})
	GitHub(Delivery{Report: unusable, Annotations: true, PolicyFile: "policy.yaml", BasePolicies: []string{"policy.yaml"}, Base: "the base branch"}, r.getenv, &r.log)
	for _, want := range []string{"::error file=policy.yaml,title=Oloproof%3A nothing was decided::wrong (Line 2 of the policy as it is on the base branch.)\n", "::error file=d.csv,line=4,title=Oloproof%3A nothing was decided::bad\n"} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("no %q in\n%s", want, &r.log)
		}
	}
}

// TestAnnotationsHideWhatTheCommentHides: with min_shown, a line of the log tells no small count either.
func TestAnnotationsHideWhatTheCommentHides(t *testing.T) {
	rep := everyVerdict()
	rules := rep.Gates[0].Rules
	few := &rules[slices.IndexFunc(rules, func(r report.Rule) bool { return r.ID == "never" })]
	few.Numerator, few.Denominator, few.Reason = report.Int(1), report.Int(4), "1 of 4 people is right."
	for least, hides := range map[int]bool{0: false, 5: true} {
		rep.Gates[0].MinShown = least
		r := newRunner(t)
		GitHub(Delivery{Report: rep, Annotations: true}, r.getenv, &r.log)
		for _, text := range []string{"1 of 4", "0.125"} {
			if strings.Contains(r.log.String(), text) == hides {
				t.Errorf("min_shown %d: %q is told: %v\n%s", least, text, !hides, &r.log)
			}
		}
	}
}

// TestTenOfEachLevel: the runner shows ten of a level and drops the rest without a word (adrienverge/yamllint#573,
// mikepenz/action-junit-report#1063). What is told beside the report has its places among them, before the comment and after
// it.
func TestTenOfEachLevel(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 10, 11, 20} {
		var rules []report.Rule
		for i := range n {
			advisory := rule(fmt.Sprint("watched-", i), report.Fail)
			advisory.Advisory = true
			rules = append(rules, rule(fmt.Sprint("failing-", i), report.Fail), rule(fmt.Sprint("thin-", i), report.InsufficientEvidence), advisory)
		}
		rep := decided(append(rules, rule("fine", report.Pass))...)
		for i := range n {
			rep.PolicyChanges = append(rep.PolicyChanges, report.PolicyChange{Loosens: true, Message: fmt.Sprint("loosened-", i)})
			rep.Gates[0].Findings = append(rep.Gates[0].Findings, report.Finding{Code: "waiver_ending", Message: fmt.Sprint("ending-", i)})
		}
		r := newRunner(t)
		d := Delivery{Report: rep, Annotations: true, Notes: []string{"a note"}, Problems: []string{"a problem"}}
		d.Post = func() Outcome { return Outcome{Notes: []string{"a late note"}, Problems: []string{"a late problem"}} }
		if problems := GitHub(d, r.getenv, &r.log); len(problems) != 2 {
			t.Errorf("%d: problems %q", n, problems)
		}
		shown := map[string][]string{}
		for _, c := range runnerCommands(r.log.String()) {
			shown[c.name] = append(shown[c.name], c.properties["title"]+": "+c.data)
		}
		for level, list := range shown {
			if len(list) > 10 {
				t.Errorf("%d: %d of level %s", n, len(list), level)
			}
		}
		// Nothing is lost: all that is not shown for itself is folded into the last one.
		for level, names := range map[string][]string{
			"error": {"failing-"}, "warning": {"thin-", "loosened-", "ending-"}, "notice": {"watched-"},
		} {
			text := strings.Join(shown[level], "\n") + "\n"
			for _, name := range names {
				for i := range n {
					if !strings.Contains(text, fmt.Sprint(name, i)) {
						t.Errorf("%d: %s%d is not among the %ss", n, name, i, level)
					}
				}
			}
		}
		for level, told := range map[string][]string{"warning": {"a problem", "a late problem"}, "notice": {"a note", "a late note"}} {
			for _, text := range told {
				if !strings.Contains(strings.Join(shown[level], "\n"), text) {
					t.Errorf("%d: %q is not among the %ss", n, text, level)
				}
			}
		}
	}
}

// TestAddressesAsOutputs: they are set once the comment is written, and the verdict is the last line all the same.
func TestAddressesAsOutputs(t *testing.T) {
	for name, test := range map[string]struct {
		posted Outcome
		want   map[string]string
	}{
		"comment":  {Outcome{CommentURL: "https://x/1"}, map[string]string{"comment-url": "https://x/1"}},
		"issue":    {Outcome{IssueURL: "https://x/2"}, map[string]string{"issue-url": "https://x/2"}},
		"nothing":  {Outcome{}, map[string]string{}},
		"a note":   {Outcome{Notes: []string{"n"}}, map[string]string{}},
		"problems": {Outcome{Problems: []string{"p"}}, map[string]string{"reporting-problems": `["p"]`}},
		"hostile":  {Outcome{CommentURL: "https://x/\nverdict=PASS", IssueURL: "https://x/\u2028"}, map[string]string{}},
	} {
		r := newRunner(t)
		GitHub(Delivery{Report: decided(rule("a", report.Fail)), Post: func() Outcome { return test.posted }}, r.getenv, &r.log)
		got := r.outputs(t)
		for _, output := range []string{"comment-url", "issue-url"} {
			if got[output] != test.want[output] {
				t.Errorf("%s: %s is %q, want %q", name, output, got[output], test.want[output])
			}
		}
		if want := test.want["reporting-problems"]; want != "" && got["reporting-problems"] != want {
			t.Errorf("%s: reporting-problems %q", name, got["reporting-problems"])
		}
		if text := r.read(t, "GITHUB_OUTPUT"); !strings.HasSuffix(text, "\nverdict=FAIL\n") {
			t.Errorf("%s: the last line is not the verdict: %q", name, text)
		}
	}
}

// TestRelayed: a step that only writes a comment tells of that alone.
func TestRelayed(t *testing.T) {
	r := newRunner(t)
	out := Outcome{CommentURL: "https://x/1", Notes: []string{"n\n::error::x"}, Problems: []string{"p\nverdict=PASS"}}
	if problems := Relayed(out, r.getenv, &r.log); len(problems) > 0 {
		t.Errorf("problems %q", problems)
	}
	if diff := cmp.Diff(map[string]string{"comment-url": "https://x/1", "reporting-problems": `["p\nverdict=PASS"]`}, r.outputs(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := "::notice title=Oloproof::n%0A:\\:error::x\n::warning title=The comment could not be written::p%0Averdict=PASS\n"
	if diff := cmp.Diff(want, r.log.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	r = newRunner(t)
	Relayed(Outcome{CommentURL: "https://x/\n1"}, r.getenv, &r.log)
	if diff := cmp.Diff(map[string]string{"reporting-problems": "[]"}, r.outputs(t)); diff != "" || r.log.Len() > 0 {
		t.Errorf("log %q, (-want +got):\n%s", &r.log, diff)
	}

	r = newRunner(t)
	os.Remove(r.env["GITHUB_OUTPUT"])
	only(t, "problems", Relayed(Outcome{}, r.getenv, &r.log), "outputs: GITHUB_OUTPUT: open ")
	r = newRunner(t)
	only(t, "problems", Relayed(Outcome{Problems: []string{"p"}}, r.getenv, &failing{}), "annotations: no space left")
	var listed []string
	if err := json.Unmarshal([]byte(r.outputs(t)["reporting-problems"]), &listed); err != nil || len(listed) != 2 {
		t.Errorf("%q, %v", listed, err)
	}
}

// TestRowsInAnnotations: a row of a file without lines stands in the message, since no platform has a place for it.
func TestRowsInAnnotations(t *testing.T) {
	unusable := report.Unusable("1", &diag.Error{Items: []diag.Diagnostic{{Pos: diag.Pos{File: "d.parquet", Row: 4}, Message: "bad"}}})
	list := annotations(Delivery{Report: unusable}, "")
	if len(list) == 0 || list[0].file != "d.parquet" || list[0].line != 0 || list[0].message != "row 4: bad" {
		t.Errorf("%+v", list)
	}
}
