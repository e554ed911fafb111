package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/report"
)

// The policies of a pull request that loosens: of 40 people 38 are right, so that the interval is 0.8308 to 0.9939 (see newStep), and
// 0.9 cannot be told while 0.6 passes.
const (
	strict = "rules:\n  - {id: mostly-right, metric: accuracy_with, minimum: 0.9}\n"
	loose  = "rules:\n  - {id: mostly-right, metric: accuracy_with, minimum: 0.6}\n"
)

// written is the JSON report that a step wrote.
func (s *step) written(name string) *report.Report {
	s.t.Helper()
	r, err := report.Parse([]byte(s.text(name)))
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// loosening is a step in pull request 7, which lowers a threshold of p.yaml.
func loosening(t *testing.T) (*step, *github) {
	t.Helper()
	s, g := pullRequest(t, "pass.yaml")
	s.put("p.yaml", loose)
	g.files = map[string]string{baseCommit + ":p.yaml": strict}
	s.env["INPUT_POLICY"], s.env["INPUT_JSON"] = "p.yaml", "report.json"
	return s, g
}

// TestActionPolicyRef: which of the two policies is decided, and that what is loosened is named, in each place, in either case.
func TestActionPolicyRef(t *testing.T) {
	tests := []struct {
		ref, event string
		status     int
		verdict    string
		base       bool // the base's is decided
	}{
		{"", "pull_request", 0, "PASS", false},
		{"head", "pull_request", 0, "PASS", false},
		{"base", "pull_request", 3, "INSUFFICIENT_EVIDENCE", true},
		{"Base", "pull_request", 3, "INSUFFICIENT_EVIDENCE", true},
		{"", "pull_request_target", 3, "INSUFFICIENT_EVIDENCE", true},
		{"base", "pull_request_target", 3, "INSUFFICIENT_EVIDENCE", true},
	}
	for _, test := range tests {
		t.Run(test.ref+" "+test.event, func(t *testing.T) {
			s, g := loosening(t)
			s.event(test.event, pulled(2))
			if test.event == "pull_request_target" { // whose workspace is the base branch's
				s.put("p.yaml", strict)
				g.files[headCommit+":p.yaml"] = loose
			}
			s.check(s.run("policy-ref", test.ref, "comment", "problems"), test.status, test.verdict)
			r := s.written("report.json")
			want := sha256Of(loose)
			if test.base {
				want = sha256Of(strict)
			}
			if r.Policy == nil || r.Policy.Path != "p.yaml" || r.Policy.SHA256 != want {
				t.Errorf("the policy in the report is %+v, want the digest %s", r.Policy, want)
			}
			if r.PolicyFromBase != test.base {
				t.Errorf("that the base's policy is decided: in the report %v", r.PolicyFromBase)
			}
			if s.outputs()["policy-loosened"] != "true" {
				t.Errorf("outputs %q", s.outputs())
			}
			// A rule is linked, and annotated, where it stands: on a line of the base's policy, or of the workspace's.
			if test.base {
				link, line := "/blob/"+baseCommit+"/p.yaml#L2", "file=p.yaml,title=INSUFFICIENT_EVIDENCE%3A mostly-right::"
				if body := g.said(false)[0].body; !strings.Contains(body, link) || !strings.Contains(body, "/blob/"+headCommit+"/p.yaml#L2") || !strings.Contains(body, "The base branch's policy decided") {
					t.Errorf("the comment does not say whose policy was decided, with %s:\n%s", link, body)
				}
				if log := s.stdout.String(); !strings.Contains(log, line) || !strings.Contains(log, "(Line 2 of the policy as it is on the base branch main.)") {
					t.Errorf("no %q in\n%s", line, log)
				}
			}
			if r.PolicyBase == nil || r.PolicyBase.Path != "main:p.yaml" || r.PolicyBase.SHA256 != sha256Of(strict) {
				t.Errorf("the base's policy in the report is %+v", r.PolicyBase)
			}
			if len(r.PolicyChanges) != 1 || !r.PolicyChanges[0].Loosens || r.PolicyChanges[0].Position.Line != 2 {
				t.Errorf("the changes in the report are %+v", r.PolicyChanges)
			}
			said := g.said(false)
			if len(said) != 1 {
				t.Fatalf("there are %d comments", len(said))
			}
			for place, text := range map[string]string{"comment": said[0].body, "summary": s.read("GITHUB_STEP_SUMMARY"), "log": s.stdout.String()} {
				if !strings.Contains(text, "mostly-right") || !strings.Contains(text, "0.9") || !strings.Contains(text, "0.6") || !strings.Contains(text, "oosens") && !strings.Contains(text, "ooser") {
					t.Errorf("the %s does not say what is loosened:\n%s", place, text)
				}
			}
			if want := "::warning col=47,file=p.yaml,line=2,title=This change loosens the policy::"; !strings.Contains(s.stdout.String(), want) {
				t.Errorf("no %q in\n%s", want, &s.stdout)
			}
			note := "The policy decided is the one on the base branch main (2222222), not the pull request's own."
			if strings.Contains(s.stdout.String(), note) != test.base {
				t.Errorf("that the base's policy is decided: told %v\n%s", !test.base, &s.stdout)
			}
			if s.outputs()["reporting-problems"] != "[]" {
				t.Errorf("problems %s", s.outputs()["reporting-problems"])
			}
			// Read, and read only, with the token.
			if got := g.requests[0]; got != "GET /repos/owner/name/contents/p.yaml?ref="+baseCommit || !g.tokens["Bearer a-token"] {
				t.Errorf("the first request is %s, the tokens %v", got, g.tokens)
			}
		})
	}
	t.Run("head in pull_request_target", func(t *testing.T) {
		s, _ := loosening(t)
		s.event("pull_request_target", pulled(2))
		s.check(s.run("policy-ref", "head"), 2, "NO_VERDICT")
		if want := "input policy-ref: in pull_request_target the policy has to be the base branch's"; !strings.Contains(s.stderr.String(), want) {
			t.Errorf("no %q in\n%s", want, &s.stderr)
		}
	})
	t.Run("nothing changed", func(t *testing.T) {
		s, g := loosening(t)
		g.files[baseCommit+":p.yaml"] = loose
		s.check(s.run("comment", "problems"), 0, "PASS")
		if r := s.written("report.json"); len(r.PolicyChanges) > 0 || len(g.said(false)) > 0 || strings.Contains(s.stdout.String(), "::") {
			t.Errorf("changes %+v, %d comments\n%s", r.PolicyChanges, len(g.said(false)), &s.stdout)
		}
	})
	t.Run("tightened", func(t *testing.T) {
		s, g := loosening(t)
		s.put("p.yaml", strict)
		g.files[baseCommit+":p.yaml"] = loose
		s.check(s.run(), 3, "INSUFFICIENT_EVIDENCE")
		if r := s.written("report.json"); len(r.PolicyChanges) > 0 {
			t.Errorf("changes %+v", r.PolicyChanges)
		}
	})
	t.Run("on the branch itself", func(t *testing.T) { // whose policy the workspace has
		for _, event := range []string{"push", "schedule", "workflow_dispatch"} {
			s, g := loosening(t)
			s.event(event, map[string]any{})
			s.env["GITHUB_REF"] = "refs/heads/main"
			s.check(s.run("policy-ref", "base"), 0, "PASS")
			if len(g.requests) > 0 || strings.Contains(s.stdout.String(), "::") {
				t.Errorf("%s: requests %q\n%s", event, g.requests, &s.stdout)
			}
		}
	})
	t.Run("where the base is not known", func(t *testing.T) { // the workspace's own policy would pass unseen
		for name, payload := range map[string]map[string]any{
			"push": {}, "issue_comment": {"issue": map[string]any{"number": 7}}, "workflow_run": {"workflow_run": map[string]any{"head_sha": headCommit, "pull_requests": []any{}}},
			"merge_group": {}, "pull_request": {}, "pull_request_review": {"pull_request": map[string]any{"number": 7}},
		} {
			s, _ := loosening(t)
			s.event(name, payload)
			s.env["GITHUB_REF"] = "refs/heads/other"
			s.check(s.run("policy-ref", "base"), 2, "NO_VERDICT")
			if want := "p.yaml: cannot read this policy on the base branch"; !strings.Contains(s.stderr.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, &s.stderr)
			}
			s.check(s.next(12).run("policy-ref", ""), 0, "PASS")
		}
	})
	t.Run("in a merge queue", func(t *testing.T) {
		for ref, want := range map[string]int{"base": 3, "head": 0} {
			s, g := loosening(t)
			s.event("merge_group", map[string]any{"merge_group": map[string]any{"head_sha": headCommit, "base_sha": baseCommit, "base_ref": "refs/heads/main"}})
			verdict := map[int]string{3: "INSUFFICIENT_EVIDENCE", 0: "PASS"}[want]
			s.check(s.run("policy-ref", ref, "comment", "always", "issue", "problems"), want, verdict)
			out := s.outputs()
			if out["policy-loosened"] != "true" || out["reporting-problems"] != "[]" || len(g.wrote()) > 0 {
				t.Errorf("%s: outputs %q, requests %q", ref, out, g.wrote())
			}
			for place, text := range map[string]string{"summary": s.read("GITHUB_STEP_SUMMARY"), "log": s.stdout.String()} {
				if !strings.Contains(text, "mostly-right") || !strings.Contains(text, "ooser") {
					t.Errorf("%s: the %s does not say what is loosened:\n%s", ref, place, text)
				}
			}
			if want := "A merge queue's run has no pull request of its own to comment on."; !strings.Contains(s.stdout.String(), want) {
				t.Errorf("%s: no %q in\n%s", ref, want, &s.stdout)
			}
		}
	})
	t.Run("target: the pull request removes it", func(t *testing.T) {
		s, g := loosening(t)
		s.event("pull_request_target", pulled(2))
		delete(g.files, headCommit+":p.yaml")
		s.check(s.run(), 3, "INSUFFICIENT_EVIDENCE")
		if r := s.written("report.json"); len(r.PolicyChanges) != 1 || !r.PolicyChanges[0].Loosens || s.outputs()["policy-loosened"] != "true" {
			t.Errorf("changes %+v", r.PolicyChanges)
		}
	})
	t.Run("the workspace's is broken", func(t *testing.T) {
		s, _ := loosening(t)
		s.put("p.yaml", "rules: [")
		s.check(s.run("policy-ref", "base"), 3, "INSUFFICIENT_EVIDENCE")
		if want := "Whether this pull request loosens p.yaml cannot be told: one of its two versions cannot be read as a policy."; !strings.Contains(s.stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, &s.stdout)
		}
	})
	t.Run("the base's is broken", func(t *testing.T) {
		s, g := loosening(t)
		g.files[baseCommit+":p.yaml"] = "rules: []\n"
		s.check(s.run("policy-ref", "base"), 2, "NO_VERDICT")
		if want := "p.yaml:1:"; !strings.Contains(s.stderr.String(), want) {
			t.Errorf("no %q in\n%s", want, &s.stderr)
		}
		s.check(s.next(12).run("policy-ref", ""), 0, "PASS")
	})
	t.Run("the pull request removes it", func(t *testing.T) {
		s, _ := loosening(t)
		if err := os.Remove(filepath.Join(s.workspace, "p.yaml")); err != nil {
			t.Fatal(err)
		}
		s.check(s.run("policy-ref", "base"), 3, "INSUFFICIENT_EVIDENCE")
		if r := s.written("report.json"); len(r.PolicyChanges) != 1 || !r.PolicyChanges[0].Loosens || !strings.Contains(s.read("GITHUB_STEP_SUMMARY"), "removes this policy") {
			t.Errorf("changes %+v", r.PolicyChanges)
		}
	})
	t.Run("target: the pull request's own cannot be read", func(t *testing.T) {
		s, _ := loosening(t)
		s.event("pull_request_target", pulled(2))
		writeFile(t, s.env["GITHUB_EVENT_PATH"], strings.ReplaceAll(s.read("GITHUB_EVENT_PATH"), headCommit, strings.Repeat("4", 40))) // which the token may not see
		s.check(s.run(), 3, "INSUFFICIENT_EVIDENCE")
		if want := "Whether this pull request loosens p.yaml cannot be told: in the pull request it could not be read"; !strings.Contains(s.stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, &s.stdout)
		}
	})
}

// TestActionBaseCannotBeRead: what keeps a step from reading the base branch's policy ends it where that one is to be decided, and
// only costs the comparison elsewhere.
func TestActionBaseCannotBeRead(t *testing.T) {
	answer := func(status int, header, value string) func(*step, *github) {
		return func(_ *step, g *github) {
			g.answer = func(w http.ResponseWriter, _ *http.Request) bool {
				if header != "" {
					w.Header().Set(header, value)
				}
				g.refuse(w, status, "said the server")
				return true
			}
		}
	}
	tests := []struct {
		name   string
		change func(*step, *github)
		reason string
	}{
		{"absent", func(_ *step, g *github) { g.files = nil }, "that commit has no such file"},
		{"a commit that the token may not see", func(s *step, g *github) {
			writeFile(s.t, s.env["GITHUB_EVENT_PATH"], strings.ReplaceAll(s.read("GITHUB_EVENT_PATH"), baseCommit, strings.Repeat("4", 40)))
		}, "the token may not do that: it sees neither the file nor the commit 4444444"},
		{"larger than a policy may be", func(_ *step, g *github) {
			g.files[baseCommit+":p.yaml"] = strict + strings.Repeat("#", 1<<20)
		}, "it is larger than 1 MiB"},
		{"a token that may not read", answer(403, "", ""), "the token may not do that (status 403, said the server)"},
		{"a server that fails", answer(500, "", ""), "status 500, said the server"},
		{"a limit", answer(429, "Retry-After", "3600"), "it asks to wait 3600 seconds"},
		{"a folder", func(_ *step, g *github) {
			g.answer = func(w http.ResponseWriter, _ *http.Request) bool { writeJSON(w, 200, []any{}); return true }
		}, "it is a folder"},
		{"no server", func(s *step, _ *github) { s.env["GITHUB_API_URL"] = "http://127.0.0.1:1" }, "connection refused"},
		{"no token", func(s *step, _ *github) { s.env["INPUT_GITHUB-TOKEN"] = "" }, "there is no token; give one in input github-token"},
		{"no payload", func(s *step, _ *github) {
			s.env["GITHUB_EVENT_PATH"], s.env["GITHUB_REF"] = "", "refs/pull/7/merge"
		}, "GITHUB_EVENT_PATH is not set"},
		{"no commit", func(s *step, _ *github) {
			writeFile(s.t, s.env["GITHUB_EVENT_PATH"], `{"number": 7, "pull_request": {"number": 7, "base": {"ref": "main", "sha": "main"}}}`)
		}, "is not a commit"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, g := loosening(t)
			test.change(s, g)
			s.check(s.run("policy-ref", "base"), 2, "NO_VERDICT")
			if log := s.stderr.String(); !strings.Contains(log, "p.yaml: cannot read this policy on the base branch") || !strings.Contains(log, test.reason) {
				t.Errorf("the log does not say %q:\n%s", test.reason, log)
			}
			if !strings.Contains(s.stdout.String(), "::error file=p.yaml,title=") {
				t.Errorf("it is not annotated:\n%s", &s.stdout)
			}

			s.check(s.next(12).run("policy-ref", ""), 0, "PASS")
			log := s.stdout.String()
			if strings.Count(log, "::notice") != 1 || !strings.Contains(log, "Whether this pull request loosens p.yaml cannot be told: on the base branch") || !strings.Contains(log, test.reason) {
				t.Errorf("there is not one notice that says %q:\n%s", test.reason, log)
			}
			if r := s.written("report.json"); len(r.PolicyChanges) > 0 || r.PolicyBase != nil || s.outputs()["reporting-problems"] != "[]" {
				t.Errorf("changes %+v against %+v, problems %s", r.PolicyChanges, r.PolicyBase, s.outputs()["reporting-problems"])
			}
		})
	}
}

// TestActionDeclaration: rules beside a declaration, in the workspace and on the base branch.
func TestActionDeclaration(t *testing.T) {
	const (
		declaration = "attributes: {sex: [female, male]}\ncases: cases.csv\n"
		rules       = "rules:\n  - {id: served, rate: accuracy, attribute: sex, worst_group: {minimum: %s}}\n"
	)
	begin := func(t *testing.T) (*step, *github) {
		s, g := pullRequest(t, "pass.yaml")
		// 60 of 60 right in each group: the exact lower end at 1 − 0.05/2/2 is (0.0125)^(1/60) = 0.9296.
		s.put("study/cases.csv", caseRows("label,prediction,sex", 60, "1,1,female", 60, "1,1,male"))
		s.put("study/fairness.yaml", declaration)
		s.put("rules.yaml", fmt.Sprintf(rules, "0.9"))
		g.files = map[string]string{baseCommit + ":study/fairness.yaml": declaration, baseCommit + ":rules.yaml": fmt.Sprintf(rules, "0.95")}
		s.env["INPUT_POLICY"], s.env["INPUT_DECISIONS"] = "rules.yaml", ""
		s.env["INPUT_DECLARATION"], s.env["INPUT_JSON"] = "study/fairness.yaml", "report.json"
		return s, g
	}
	s, _ := begin(t)
	s.check(s.run(), 0, "PASS")
	r := s.written("report.json")
	if len(r.Policies) != 2 || r.Policies[0].Path != "study/fairness.yaml" || r.Policies[1].Path != "rules.yaml" {
		t.Errorf("policies %+v", r.Policies)
	}
	if len(r.PolicyChanges) != 1 || r.PolicyChanges[0].Position.File != "rules.yaml" {
		t.Errorf("changes %+v", r.PolicyChanges)
	}

	s, g := begin(t)
	s.check(s.run("policy-ref", "base"), 3, "INSUFFICIENT_EVIDENCE")
	if r := s.written("report.json"); r.Policies[1].SHA256 != sha256Of(g.files[baseCommit+":rules.yaml"]) {
		t.Errorf("policies %+v", r.Policies)
	}

	s, g = begin(t)
	delete(g.files, baseCommit+":study/fairness.yaml")
	s.check(s.run("policy-ref", "base"), 2, "NO_VERDICT")
	if !strings.Contains(s.stderr.String(), "study/fairness.yaml: cannot read this policy on the base branch main") {
		t.Errorf("it is not told:\n%s", &s.stderr)
	}

	s, _ = begin(t) // a declaration alone is the policy
	s.put("study/fairness.yaml", declaration+fmt.Sprintf(rules, "0.9"))
	s.check(s.run("policy", ""), 0, "PASS")

	s, _ = begin(t)
	s.check(s.run("gate", "compare"), 2, "NO_VERDICT")
	if want := "input declaration is for the gate fairness, and compare is asked"; !strings.Contains(s.stderr.String(), want) {
		t.Errorf("no %q in\n%s", want, &s.stderr)
	}
}

// TestActionPathPrefix: where the repository is not checked out at the workspace's top, annotations, links and the base branch's
// policy have the repository's paths.
func TestActionPathPrefix(t *testing.T) {
	tests := []struct{ prefix, inWorkspace, inRepository string }{
		{"", "p.yaml", "p.yaml"},
		{"sub/", "p.yaml", "sub/p.yaml"},
		{"+sub", "p.yaml", "sub/p.yaml"},
		{"-checkout/", "checkout/p.yaml", "p.yaml"},
	}
	for _, test := range tests {
		s, g := loosening(t)
		g.files = map[string]string{baseCommit + ":" + test.inRepository: strings.Replace(strict, "0.9", "0.99", 1)}
		s.put(test.inWorkspace, strict)
		s.check(s.run("policy", test.inWorkspace, "path-prefix", test.prefix, "comment", "problems"), 3, "INSUFFICIENT_EVIDENCE")
		if r := s.written("report.json"); len(r.PolicyChanges) != 1 || r.Policy.Path != test.inWorkspace {
			t.Errorf("%q: changes %+v, requests %q", test.prefix, r.PolicyChanges, g.requests)
		}
		for _, want := range []string{"file=" + test.inRepository + ",line=2,title=INSUFFICIENT_EVIDENCE", "file=" + test.inRepository + ",line=2,title=This change loosens"} {
			if !strings.Contains(s.stdout.String(), want) {
				t.Errorf("%q: no %q in\n%s", test.prefix, want, &s.stdout)
			}
		}
		if want := "/blob/" + headCommit + "/" + test.inRepository + "#L2"; !strings.Contains(g.said(false)[0].body, want) {
			t.Errorf("%q: no %q in\n%s", test.prefix, want, g.said(false)[0].body)
		}
	}
}

// TestActionBaselineReport: what has changed comes first, and a report that cannot be compared with ends the run.
func TestActionBaselineReport(t *testing.T) {
	two := "rules:\n  - {id: stays-failing, metric: accuracy_with, maximum: 0.5}\n  - {id: turns, metric: accuracy_with, maximum: 0.55}\n"
	begin := func(t *testing.T) *step {
		s := newStep(t)
		s.put("two.yaml", two)
		s.earlierReport("two.yaml", "before/report.json", 38) // both fail: 0.8308 is above either
		var r report.Report
		if err := json.Unmarshal([]byte(s.text("before/report.json")), &r); err != nil {
			t.Fatal(err)
		}
		// As if turns had passed before.
		r.Gates[0].Rules[1].Verdict = report.Pass
		r.Decide()
		text, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		s.put("before/report.json", string(text))
		s.env["INPUT_POLICY"], s.env["INPUT_DECISIONS"], s.env["INPUT_BASELINE-REPORT"] = "two.yaml", "data/decisions.csv", "before/report.json"
		return s
	}
	s := begin(t)
	s.check(s.run("json", "report.json"), 1, "FAIL")
	r := s.written("report.json")
	if r.Baseline == nil || r.Baseline.Path != "before/report.json" || r.Baseline.SHA256 != sha256Of(s.text("before/report.json")) {
		t.Errorf("baseline %+v", r.Baseline)
	}
	if rules := r.Gates[0].Rules; rules[0].Before.Change != report.StillNotPassed || rules[1].Before.Change != report.NewlyFailing {
		t.Errorf("changes %v and %v", rules[0].Before.Change, rules[1].Before.Change)
	}
	summary := s.read("GITHUB_STEP_SUMMARY")
	if first, second := strings.Index(summary, "`turns`"), strings.Index(summary, "`stays-failing`"); first < 0 || second < first || !strings.Contains(summary, "newly failing") {
		t.Errorf("the summary does not begin with what is newly failing:\n%s", summary)
	}
	if want := "It is new: in before/report.json it was PASS."; strings.Count(s.stdout.String(), want) != 1 {
		t.Errorf("not one annotation says %q:\n%s", want, &s.stdout)
	}

	unusable := []struct {
		name   string
		change func(*step)
		inputs []string
		reason string
	}{
		{"absent", nil, []string{"baseline-report", "absent.json"}, "input baseline-report: absent.json: there is no such file"},
		{"outside", nil, []string{"baseline-report", "/etc/passwd"}, `input baseline-report: "/etc/passwd" is outside the workspace`},
		{"no report", nil, []string{"baseline-report", "two.yaml"}, "input baseline-report: two.yaml: it is not JSON: line 1 begins with "},
		{"a report of errors", func(s *step) {
			other := newStep(s.t)
			other.run("policy", "broken.yaml", "decisions", "data/decisions.csv", "json", "r.json")
			s.put("before/report.json", other.text("r.json"))
		}, nil, "nothing was decided in it"},
		{"the new report's path", nil, []string{"json", "./before/../before/report.json"}, `input json: "before/report.json" is the earlier report of input baseline-report; give the new one a path of its own`},
		{"the new report's path, absent", nil, []string{"baseline-report", "new.json", "json", "new.json"}, `input json: "new.json" is the earlier report`},
		{"the new report's place", func(s *step) {
			if err := os.Link(filepath.Join(s.workspace, "before/report.json"), filepath.Join(s.workspace, "hard.md")); err != nil {
				s.t.Fatal(err)
			}
		}, []string{"markdown", "hard.md"}, `input markdown: "hard.md" is the earlier report`},
	}
	for _, test := range unusable {
		t.Run(test.name, func(t *testing.T) {
			s := begin(t)
			if test.change != nil {
				test.change(s)
			}
			before := s.text("before/report.json")
			s.check(s.run(test.inputs...), 2, "NO_VERDICT")
			if !strings.Contains(s.stderr.String(), test.reason) {
				t.Errorf("no %q in\n%s", test.reason, &s.stderr)
			}
			if s.text("before/report.json") != before {
				t.Error("the earlier report has been written over")
			}
			if _, err := os.Stat(filepath.Join(s.workspace, "new.json")); err == nil {
				t.Error("an empty report has been left behind")
			}
		})
	}
}

// TestActionWaiverEnds: two weeks before its end a waiver is announced, as a warning on the policy.
func TestActionWaiverEnds(t *testing.T) {
	for days, told := range map[int]bool{0: true, 14: true, 15: false} {
		s := newStep(t)
		s.put("p.yaml", "rules:\n  - {id: a, metric: accuracy_with, minimum: 0.99, waive: {until: "+testDay.AddDate(0, 0, days).Format("2006-01-02")+", owner: Ada, reason: known}}\n")
		s.check(s.run("policy", "p.yaml", "decisions", "data/decisions.csv"), 4, "MANUAL_REVIEW")
		if got := strings.Contains(s.stdout.String(), "::warning col=6,file=p.yaml,line=2,title=A waiver ends soon::"); got != told || strings.Contains(s.read("GITHUB_STEP_SUMMARY"), `The waiver of rule a (owner "Ada") ends on`) != told {
			t.Errorf("%d days before its end: annotated %v, want %v\n%s%s", days, got, told, &s.stdout, s.read("GITHUB_STEP_SUMMARY"))
		}
	}
}

// TestActionTwoFiles: rules and their declaration the wrong way round, and rules without one, are said to be that.
func TestActionTwoFiles(t *testing.T) {
	begin := func() *step {
		s := newStep(t)
		s.put("d.yaml", "attributes: {sex: [female, male]}\ncases: cases.csv\n")
		s.put("rel.yaml", "rules: [{id: served, rate: accuracy, attribute: sex, worst_group: {minimum: 0.9}}]\n")
		s.put("cases.csv", caseRows("label,prediction,sex", 60, "1,1,female", 60, "1,1,male"))
		return s
	}
	for _, test := range []struct {
		inputs []string
		want   string
	}{
		{[]string{"policy", "d.yaml", "declaration", "rel.yaml"}, "inputs policy and declaration are the wrong way round: d.yaml declares attributes and rel.yaml does not; declaration: d.yaml and policy: rel.yaml"},
		{[]string{"policy", "rel.yaml"}, "where it is a file of fairness rules beside a declaration, name that one in input declaration"},
		{[]string{"policy", "rel.yaml", "gate", "fairness"}, "name that one in input declaration"},
	} {
		s := begin()
		s.check(s.run(test.inputs...), 2, "NO_VERDICT")
		if !strings.Contains(s.stderr.String(), test.want) {
			t.Errorf("%q: no %q in\n%s", test.inputs, test.want, &s.stderr)
		}
	}
	s := begin()
	s.check(s.run("policy", "rel.yaml", "gate", "compare"), 2, "NO_VERDICT")
	if strings.Contains(s.stderr.String(), "declaration") {
		t.Errorf("a declaration is spoken of for compare:\n%s", &s.stderr)
	}
	s = begin()
	s.check(s.run("policy", "rel.yaml", "declaration", "d.yaml", "path-prefix", "-repo/"), 0, "PASS")
	if want := `::notice title=Oloproof::path-prefix: no path begins with "repo/", so there is none to take it from.`; !strings.Contains(s.stdout.String(), want) {
		t.Errorf("no %q in\n%s", want, &s.stdout)
	}
}
