package summary

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
)

// TestBasePolicyDecides: where the base branch's policy was decided, every format says so and calls the pull request's own the
// looser one, not the one that was decided. A rule's line is linked at the base, a change's at the pull request.
func TestBasePolicyDecides(t *testing.T) {
	change := func(loosens bool) []report.PolicyChange {
		return []report.PolicyChange{{Loosens: loosens, Message: "Rule a: minimum was 0.9 and is 0.6.", Position: diag.Pos{File: "p.yaml", Line: 7}}}
	}
	for name, test := range map[string]struct {
		changes []report.PolicyChange
		want    string
	}{
		"looser":  {change(true), "The base branch's policy decided (main:p.yaml); this pull request's own version is looser:"},
		"other":   {change(false), "The base branch's policy decided (main:p.yaml); this pull request's own version is another one, which a person should look at:"},
		"nothing": {nil, "The base branch's policy decided (main:p.yaml)."},
	} {
		r := report.New("1.2.3")
		r.Gates = []report.Gate{{Gate: "human-ai", Rules: []report.Rule{{ID: "a", Measure: report.Measure{Metric: "accuracy_with"},
			Verdict: report.Fail, Reason: "It fails.", Position: diag.Pos{File: "p.yaml", Line: 3, Column: 5}}}}}
		r.Policy, r.PolicyBase = &report.File{Path: "p.yaml"}, &report.File{Path: "main:p.yaml"}
		r.PolicyFromBase, r.PolicyChanges = true, test.changes
		r.Decide()
		page := func(of string) func(string, int) string {
			return func(file string, line int) string { return fmt.Sprintf("https://x/%s/%s#L%d", of, file, line) }
		}
		var comment, markdown, terminal bytes.Buffer
		for _, err := range []error{
			Comment(&comment, r, CommentOptions{FileURL: page("base"), ChangeURL: page("head")}),
			Markdown(&markdown, r, Options{}), Terminal(&terminal, r, Options{Unicode: true, Width: 1000}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for format, text := range map[string]string{"comment": comment.String(), "markdown": markdown.String(), "terminal": terminal.String()} {
			plain := strings.Join(strings.Fields(strings.NewReplacer("`", "", "\u200b", "", "\\", "").Replace(text)), " ")
			if !strings.Contains(plain, test.want) {
				t.Errorf("%s, %s: no %q in\n%s", name, format, test.want, text)
			}
			if strings.Contains(plain, "This policy is looser") || strings.Contains(plain, "This pull request also loosens") {
				t.Errorf("%s, %s: the policy that was decided is called the looser one:\n%s", name, format, text)
			}
		}
		if !strings.Contains(comment.String(), "https://x/base/p.yaml#L3") || strings.Contains(comment.String(), "https://x/head/p.yaml#L7") != (test.changes != nil) {
			t.Errorf("%s: the links are not the rule's at the base and the change's at the head:\n%s", name, &comment)
		}
	}
}

// TestLines: a line beside the policy has the words of a comment, and tells no count that is hidden.
func TestLines(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	g := &report.Gate{Gate: "human-ai", Rules: []report.Rule{{ID: "a",
		Measure:   report.Measure{Metric: "accuracy_with", Estimate: at(0.5), Numerator: report.Int(3), Denominator: report.Int(6), Interval: &report.Interval{Lower: at(0.25), Upper: at(0.75), Confidence: 0.95}},
		Threshold: report.Threshold{Kind: report.Minimum, Value: 0.5}, Verdict: report.InsufficientEvidence, Reason: "3 of 1200 decisions are right",
		Needs: &report.Needs{What: "more decisions", AtLeast: 12345}}},
		Findings: []report.Finding{{Code: "few", Severity: report.Warning, Message: "Only 2000 cases"}}}
	rules, findings := Lines(g)
	if want := "3 of 1,200 decisions are right. Measured: 0.500, interval 0.250 … 0.750; must be ≥ 0.5. What would decide it: about 12,345 more decisions."; rules[0] != want {
		t.Errorf("%q, want %q", rules[0], want)
	}
	if findings[0] != "Only 2,000 cases." {
		t.Errorf("%q", findings[0])
	}
	g.MinShown = 5
	if rules, _ = Lines(g); strings.Contains(rules[0], "1,200") || strings.Contains(rules[0], "0.250") || strings.Contains(rules[0], "12,345") {
		t.Errorf("with min_shown 5 it tells %q", rules[0])
	}
}
