package cli

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// said lists the comments on pull request 7, or the issues.
func (g *github) said(issues bool) (list []*note) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.notes {
		if n.issue == issues {
			list = append(list, n)
		}
	}
	return list
}

// earlierReport writes the JSON report of another run of the step's policy, in which 2 of 40 people were right, or, where pass is
// set, all of them: both are FAIL or PASS for the policies of newStep but undecided.yaml.
func (s *step) earlierReport(policy, to string, right int) {
	s.t.Helper()
	before := newStep(s.t)
	before.put(policy, s.text(policy))
	before.put("data/decisions.csv", singles(40, right))
	before.run("policy", policy, "decisions", "data/decisions.csv", "json", "report.json")
	s.put(to, before.text("report.json"))
}

// TestActionCommentModes: what each mode begins a comment for.
func TestActionCommentModes(t *testing.T) {
	tests := []struct {
		mode, policy string
		before       int // how many of 40 were right in the baseline; -1 for no baseline
		begun        bool
	}{
		{"never", "fail.yaml", -1, false},
		{"", "fail.yaml", -1, false},
		{"problems", "fail.yaml", -1, true},
		{"Problems", "undecided.yaml", -1, true},
		{"problems", "broken.yaml", -1, true}, // nothing was decided
		{"problems", "pass.yaml", -1, false},
		{"problems", "pass.yaml", 2, false}, // what failed before on main is not this change's
		{"always", "pass.yaml", -1, true},
		{"changes", "pass.yaml", -1, false},
		{"changes", "fail.yaml", -1, true},
		{"changes", "fail.yaml", 38, false}, // it failed before
		{"changes", "pass.yaml", 38, false},
		{"changes", "pass.yaml", 2, true},
		{"changes", "fail.yaml", 2, true},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s %s %d", test.mode, test.policy, test.before), func(t *testing.T) {
			s, g := pullRequest(t, test.policy)
			if test.before >= 0 {
				s.earlierReport(test.policy, "before.json", test.before)
				s.env["INPUT_BASELINE-REPORT"] = "before.json"
			}
			s.run("comment", test.mode)
			said := g.said(false)
			if got := len(said) == 1; len(said) > 1 || got != test.begun {
				t.Fatalf("there are %d comments, want one: %v\n%s%s", len(said), test.begun, &s.stdout, &s.stderr)
			}
			url := ""
			if test.begun {
				url = said[0].address()
			}
			if out := s.outputs(); out["comment-url"] != url || out["reporting-problems"] != "[]" {
				t.Errorf("outputs %q", out)
			}
			if strings.Contains(s.stdout.String(), "::notice") {
				t.Errorf("there is a notice:\n%s", &s.stdout)
			}
		})
	}
}

// TestActionCommentIsUpdated follows a pull request through its runs: there is one comment, which the newest run writes.
func TestActionCommentIsUpdated(t *testing.T) {
	s, g := pullRequest(t, "fail.yaml")
	s.check(s.run("comment", "problems"), 1, "FAIL")
	said := g.said(false)
	if len(said) != 1 {
		t.Fatalf("there are %d comments", len(said))
	}
	first := said[0].body
	for _, want := range []string{"rarely-right", "0.830 … 0.994", "≤ 0.5", "https://github.example/owner/name/actions/runs/9011", // 38 of 40: see newStep
		"https://github.example/owner/name/blob/" + headCommit + "/fail.yaml#L2", "run 11, attempt 1, commit 1111111"} {
		if !strings.Contains(first, want) {
			t.Errorf("the comment has no %q:\n%s", want, first)
		}
	}

	// What failed passes: the same comment says so, with what it was.
	s.put("data/decisions.csv", singles(40, 2))
	s.check(s.next(13).run(), 0, "PASS")
	if said = g.said(false); len(said) != 1 || !strings.Contains(said[0].body, "pass") || !strings.Contains(said[0].body, "`rarely-right` failed in run 11") {
		t.Fatalf("the comments after it passes: %q", said[0].body)
	}
	// A run that began before it ends after it.
	second := said[0].body
	s.put("data/decisions.csv", singles(40, 38))
	s.check(s.next(12).run(), 1, "FAIL")
	if said = g.said(false); len(said) != 1 || said[0].body != second {
		t.Errorf("an older run has written over a newer one: %q", said[0].body)
	}
	if out := s.outputs(); !strings.Contains(s.stdout.String(), "::notice") || !strings.Contains(s.stdout.String(), "of a newer run") || !strings.Contains(s.stdout.String(), "run 13") || out["reporting-problems"] != "[]" {
		t.Errorf("that is not told as a notice: %q\n%s", out, &s.stdout)
	}
	// Somebody has deleted it, and all passes: no new one is begun.
	g.notes = nil
	s.put("data/decisions.csv", singles(40, 2))
	s.check(s.next(14).run(), 0, "PASS")
	if said = g.said(false); len(said) != 0 {
		t.Errorf("a comment was begun: %q", said[0].body)
	}
	for token := range g.tokens {
		if token != "Bearer a-token" {
			t.Errorf("a request had the token %q", token)
		}
	}
}

// TestActionKey: which steps share a comment.
func TestActionKey(t *testing.T) {
	s, _ := pullRequest(t, "fail.yaml")
	fairness := "attributes: {sex: [female, male]}\ncases: data/cases.csv\n"
	files := map[string]string{
		"data/cases.csv":     caseRows("label,prediction,sex", 60, "1,1,female", 60, "1,1,male"),
		"d.yaml":             fairness,
		"beside.yaml":        "rules: [{id: a, rate: accuracy, attribute: sex, worst_group: {minimum: 0.99}}]\n",
		"study/fail.yaml":    s.text("fail.yaml"),
		"study/decisions.it": singles(40, 38),
	}
	tests := []struct {
		inputs []string
		key    string // as the marker has it, percent-encoded
	}{
		{[]string{"policy", "fail.yaml", "decisions", "data/decisions.csv"}, "fail.yaml"},
		{[]string{"policy", "./fail.yaml", "decisions", "data/decisions.csv"}, "fail.yaml"},
		{[]string{"policy", "fail.yaml", "decisions", "data/decisions.csv", "gate", "human-ai"}, "fail.yaml+human%2Dai"},
		{[]string{"policy", "fail.yaml", "decisions", "decisions.it", "working-directory", "study"}, "study%2Ffail.yaml"},
		{[]string{"policy", "beside.yaml", "declaration", "d.yaml"}, "beside.yaml+beside+d.yaml"},
		{[]string{"policy", "fail.yaml", "decisions", "data/decisions.csv", "comment-key", "leg --> 1"}, "leg+%2D%2D%3E+1"},
	}
	for _, test := range tests {
		s, g := pullRequest(t, "fail.yaml")
		for name, text := range files {
			s.put(name, text)
		}
		s.env["INPUT_DECISIONS"] = ""
		s.run(append(test.inputs, "comment", "always")...)
		if said := g.said(false); len(said) != 1 || !strings.HasPrefix(said[0].body, "<!-- oloproof:comment key="+test.key+" run=11 ") {
			t.Errorf("%q: the comments are not one with the key %s: %d\n%s%s", test.inputs, test.key, len(said), &s.stdout, &s.stderr)
			for _, n := range said {
				t.Log(n.body)
			}
		}
	}
}

// TestActionTwoStepsUnderOneKey: a second step of the same run leaves the first one's comment alone, and says what to do.
func TestActionTwoStepsUnderOneKey(t *testing.T) {
	s, g := pullRequest(t, "fail.yaml")
	s.check(s.run("comment", "always"), 1, "FAIL")
	first := g.said(false)[0].body
	s.put("data/decisions.csv", singles(40, 39))
	s.check(s.next(11).run(), 1, "FAIL")
	if said := g.said(false); len(said) != 1 || said[0].body != first {
		t.Errorf("the comments are %d, the first one %q", len(said), said[0].body)
	}
	if problems := s.outputs()["reporting-problems"]; !strings.Contains(problems, "give each step a comment-key of its own") {
		t.Errorf("problems %s", problems)
	}
	s.check(s.next(11).run("comment-key", "second"), 1, "FAIL")
	if said := g.said(false); len(said) != 2 || s.outputs()["reporting-problems"] != "[]" {
		t.Errorf("with a key of its own there are %d comments, problems %s", len(said), s.outputs()["reporting-problems"])
	}
}

// TestActionReadOnlyTokens: where the token can be known not to write, that is a notice; elsewhere it is a problem of reporting.
// The verdict is the same.
func TestActionReadOnlyTokens(t *testing.T) {
	tests := []struct {
		name    string
		event   string
		head    int // the repository of the pull request's head; 1 is the base's
		actor   string
		notice  string // "" where it is a problem
		comment string
	}{
		{"fork", "pull_request", 2, "someone", "the pull request comes from a fork, and this run's token can only read", "problems"},
		{"Dependabot", "pull_request", 1, "dependabot[bot]", "Dependabot started it, and this run's token can only read", "always"},
		{"no permission", "pull_request", 1, "someone", "", "problems"},
		{"target", "pull_request_target", 2, "someone", "", "problems"}, // whose token should be able to
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, g := pullRequest(t, "fail.yaml")
			s.event(test.event, pulled(test.head))
			g.files[headCommit+":fail.yaml"] = s.text("fail.yaml")
			s.env["GITHUB_ACTOR"] = test.actor
			g.readOnly = true
			s.check(s.run("comment", test.comment), 1, "FAIL")
			out, log := s.outputs(), s.stdout.String()
			if out["comment-url"] != "" || len(g.said(false)) > 0 {
				t.Errorf("there is a comment: %q", out)
			}
			if test.notice == "" {
				if want := "give the job `permissions: pull-requests: write`"; !strings.Contains(out["reporting-problems"], want) || !strings.Contains(log, "::warning") {
					t.Errorf("no %q among the problems %s\n%s", want, out["reporting-problems"], log)
				}
				return
			}
			if out["reporting-problems"] != "[]" || strings.Contains(log, "could not report") || strings.Count(log, "::notice") != 1 || !strings.Contains(log, test.notice) {
				t.Errorf("outputs %q, and not one notice with %q:\n%s", out, test.notice, log)
			}
		})
	}
}

// TestActionNowhereToComment: what keeps a step from commenting is told, and the API is not asked for it.
func TestActionNowhereToComment(t *testing.T) {
	tests := []struct {
		name            string
		change          func(*step)
		notice, problem string
	}{
		{"push", func(s *step) { s.event("push", map[string]any{}) }, `There is no pull request to comment on: the event is "push".`, ""},
		{"no token", func(s *step) { s.env["INPUT_GITHUB-TOKEN"] = "" }, "", "comment: there is no token"},
		{"no token, of a fork", func(s *step) { s.event("pull_request", pulled(2)).env["INPUT_GITHUB-TOKEN"] = "" },
			"No comment was written: the pull request comes from a fork, and there is no token. How to comment on such pull requests: https://github.com/oloproof/oloproof/blob/main/docs/recipes.md#pull-requests-from-forks", ""},
		{"a token that is none", func(s *step) { s.env["INPUT_GITHUB-TOKEN"] = "a\ntoken" }, "", "comment: the token holds characters"},
		{"no payload", func(s *step) { s.env["GITHUB_EVENT_PATH"] = "" }, "", "comment: GITHUB_EVENT_PATH is not set"},
		{"a payload that is none", func(s *step) { writeFile(s.t, s.env["GITHUB_EVENT_PATH"], "{") }, "", "comment: the event's payload"},
		{"an API that is none", func(s *step) { s.env["GITHUB_API_URL"] = "file:///etc/passwd" }, "", "comment: GITHUB_API_URL is not the address of an API"},
		{"no repository", func(s *step) {
			s.env["GITHUB_REPOSITORY"] = "../x"
			writeFile(s.t, s.env["GITHUB_EVENT_PATH"], `{"number": 7, "pull_request": {"number": 7}}`)
		}, "", "comment: which repository this is"},
		{"a policy that the inputs do not say", func(s *step) { s.env["INPUT_POLICY"] = "../x.yaml" }, "", "comment: the inputs do not say which policy it is of"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, g := pullRequest(t, "fail.yaml")
			test.change(s)
			want := 1
			if test.name == "a policy that the inputs do not say" {
				want = 2
			}
			if status := s.run("comment", "always"); status != want {
				t.Errorf("exit %d, want %d", status, want)
			}
			if wrote := g.wrote(); len(wrote) > 0 || len(g.said(false)) > 0 {
				t.Errorf("requests %q", wrote)
			}
			problems := s.outputs()["reporting-problems"]
			if test.problem == "" && problems != "[]" || !strings.Contains(problems, test.problem) {
				t.Errorf("problems %s, want %q", problems, test.problem)
			}
			if !strings.Contains(s.stdout.String(), test.notice) {
				t.Errorf("no %q in\n%s", test.notice, &s.stdout)
			}
		})
	}
}

// TestActionIssue is a scheduled audit: one issue while a rule does not pass, closed when all pass, and a new one later.
func TestActionIssue(t *testing.T) {
	g := newGitHub(t)
	s := newStep(t).onGitHub(g).event("schedule", map[string]any{})
	const bad, good = 38, 2 // of 40 right, where fail.yaml allows half
	week := func(number, right, status int, verdict, want, url string) {
		t.Helper()
		s.put("data/decisions.csv", singles(40, right))
		s.check(s.next(number).run("policy", "fail.yaml", "decisions", "data/decisions.csv", "issue", "problems"), status, verdict)
		var states []string
		for _, n := range g.said(true) {
			states = append(states, n.state)
		}
		if got := strings.Join(states, " "); got != want || s.outputs()["reporting-problems"] != "[]" {
			t.Errorf("after run %d the issues are %q, want %q; problems %s", number, got, want, s.outputs()["reporting-problems"])
		}
		if out := s.outputs()["issue-url"]; out != url {
			t.Errorf("after run %d issue-url is %q, want %q", number, out, url)
		}
	}
	const first, second = "https://github.example/issues/100", "https://github.example/issues/101"
	week(1, good, 0, "PASS", "", "")
	week(2, bad, 1, "FAIL", "open", first)
	issue := g.said(true)[0]
	if !strings.Contains(issue.title, "FAIL") || !strings.Contains(issue.body, "rarely-right") || strings.Contains(issue.body, "this change") {
		t.Errorf("the issue is %q: %s", issue.title, issue.body)
	}
	body := issue.body
	week(3, bad, 1, "FAIL", "open", first)
	if issue.body == body {
		t.Error("the issue is not updated")
	}
	week(4, good, 0, "PASS", "closed", first)
	week(5, good, 0, "PASS", "closed", "")
	week(6, bad, 1, "FAIL", "closed open", second)

	t.Run("in a pull request", func(t *testing.T) {
		s, g := pullRequest(t, "fail.yaml")
		s.check(s.run("issue", "problems"), 1, "FAIL")
		if len(g.wrote()) > 0 || !strings.Contains(s.stdout.String(), "No issue is kept on a pull request") {
			t.Errorf("requests %q\n%s", g.wrote(), &s.stdout)
		}
	})
	t.Run("a token that may not", func(t *testing.T) {
		g := newGitHub(t)
		g.readOnly = true
		s := newStep(t).onGitHub(g).event("schedule", map[string]any{})
		s.check(s.run("policy", "fail.yaml", "decisions", "data/decisions.csv", "issue", "problems"), 1, "FAIL")
		if problems := s.outputs()["reporting-problems"]; !strings.Contains(problems, "permissions: issues: write") {
			t.Errorf("problems %s", problems)
		}
	})
	t.Run("values", func(t *testing.T) {
		s := newStep(t)
		s.check(s.run("policy", "fail.yaml", "decisions", "data/decisions.csv", "issue", "always", "comment", "changed", "policy-ref", "main", "path-prefix", "../x"), 2, "NO_VERDICT")
		for _, want := range []string{`input issue: "always" is not allowed; write never or problems`, `input comment: "changed" is not allowed; write one of never, problems, changes, always; did you mean changes?`,
			`input policy-ref: "main" is not allowed; write head or base`, "input path-prefix: it leads out of the repository"} {
			if !strings.Contains(s.stderr.String(), want) {
				t.Errorf("no %q in\n%s", want, &s.stderr)
			}
		}
	})
}

// TestActionVerdictComesLast: the last value of a name counts, so the verdict ends whatever is written to the outputs, each time.
func TestActionVerdictComesLast(t *testing.T) {
	s, _ := pullRequest(t, "fail.yaml")
	s.run("comment", "always", "json", "report.json")
	text := strings.TrimSuffix(s.read("GITHUB_OUTPUT"), "\n")
	blocks := strings.Split(text, "verdict=FAIL")
	if len(blocks) != 3 || blocks[2] != "" { // before and after the comment
		t.Errorf("the outputs do not end with the verdict, twice:\n%s", text)
	}
	if at, of := strings.Index(text, "comment-url="), strings.LastIndex(text, "exit-code=1\nverdict=FAIL"); at < 0 || at > of {
		t.Errorf("the verdict does not come after the comment's address:\n%s", text)
	}
}

// TestActionWhateverTheAPIAnswers: no answer of the API, to any request, changes the exit status or an output of the verdict. What the base
// branch's policy was is the API's to say.
func TestActionWhateverTheAPIAnswers(t *testing.T) {
	g := newGitHub(t)
	steps := map[string]*step{}
	for policy, event := range map[string]string{"pass.yaml": "pull_request", "fail.yaml": "pull_request", "undecided.yaml": "schedule", "broken.yaml": "schedule"} {
		s := newStep(t).onGitHub(g).event(event, map[string]any{})
		if event == "pull_request" {
			s.event(event, pulled(1))
		}
		steps[policy] = s
	}
	told := func(s *step) map[string]string {
		out := s.outputs()
		for _, name := range []string{"comment-url", "issue-url", "policy-loosened", "reporting-problems"} {
			delete(out, name)
		}
		return out
	}
	bodies := []string{"", "{}", "[]", "null", "{", `"x"`, `[{"id": 1, "body": "<!-- oloproof:comment key=pass.yaml run=999 attempt=1 id=1 workflow= sha= subject= verdict=PASS failing= -->\n"}]`,
		`[{"id": -1, "number": -1, "body": null, "state": "closed"}]`, `{"id": 1, "html_url": "x\nverdict=PASS", "body": "::set-output"}`, `{"message": "::error::x\nverdict=PASS"}`,
		"rules:\n  - {id: other, metric: accuracy_with, minimum: 0.99}\n", "\xff\xfe", strings.Repeat("[", 5000)}
	statuses := []int{200, 201, 204, 301, 302, 304, 400, 401, 403, 404, 409, 410, 413, 422, 429, 451, 500, 502, 503, 599}
	headers := [][2]string{{"", ""}, {"Retry-After", "1"}, {"Retry-After", "-5"}, {"Retry-After", "x"}, {"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"}, {"X-RateLimit-Remaining", "0"},
		{"X-RateLimit-Reset", "99999999999"}, {"Link", `<x>; rel="next"`}, {"Location", "http://127.0.0.1:1/"}, {"Content-Type", "application/json"}}
	rapid.Check(t, func(rt *rapid.T) {
		policy := rapid.SampledFrom([]string{"broken.yaml", "fail.yaml", "pass.yaml", "undecided.yaml"}).Draw(rt, "policy")
		s := steps[policy]
		s.env["INPUT_COMMENT"], s.env["INPUT_ISSUE"] = "never", "never"
		s.env["GITHUB_API_URL"] = "http://127.0.0.1:1" // not listened to
		want := s.next(11).run("policy", policy, "decisions", "data/decisions.csv")
		wanted := told(s)

		s.env["GITHUB_API_URL"] = g.url
		seed := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) func(http.ResponseWriter) {
			status, body, header := rapid.SampledFrom(statuses).Draw(rt, "status"), rapid.SampledFrom(bodies).Draw(rt, "body"), rapid.SampledFrom(headers).Draw(rt, "header")
			hang := rapid.IntRange(0, 9).Draw(rt, "hang up") == 0
			return func(w http.ResponseWriter) {
				if hang {
					panic(http.ErrAbortHandler)
				}
				if header[0] != "" {
					w.Header().Set(header[0], header[1])
				}
				w.WriteHeader(status)
				if status != 204 && status != 304 {
					_, _ = w.Write([]byte(body))
				}
			}
		}), 1, 8).Draw(rt, "answers")
		asked := 0
		g.mu.Lock()
		g.answer = func(w http.ResponseWriter, _ *http.Request) bool {
			asked++
			seed[asked%len(seed)](w)
			return true
		}
		g.mu.Unlock()
		got := s.next(11).run("comment", rapid.SampledFrom([]string{"problems", "changes", "always"}).Draw(rt, "comment"), "issue", "problems")
		if !maps.Equal(told(s), wanted) || got != want {
			rt.Errorf("exit %d and outputs %q, want %d and %q\n%s", got, told(s), want, wanted, &s.stdout)
		}
		for line := range strings.Lines(s.stdout.String()) {
			if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "::") && !regexp.MustCompile(`^::(error|warning|notice) `).MatchString(trimmed) {
				rt.Errorf("the log has the command %q", line)
			}
		}
		if strings.Contains(s.stdout.String()+s.stderr.String()+s.read("GITHUB_OUTPUT")+s.read("GITHUB_STEP_SUMMARY"), "a-token") {
			rt.Error("the token is shown")
		}
	})
}

// relayStep is a step after workflow_run, with the report of a run on pull request 7's newest commit, which came from a fork.
func relayStep(t *testing.T, policy string) (*step, *github) {
	t.Helper()
	g := newGitHub(t)
	g.heads[7], g.heads[8] = headCommit, otherCommit
	g.from[8] = 3
	s := newStep(t).onGitHub(g)
	s.run("policy", policy, "decisions", "data/decisions.csv", "json", "from-fork/report.json")
	s.event("workflow_run", map[string]any{"workflow_run": map[string]any{
		"id": 9001, "name": "Model gate", "run_number": 1, "run_attempt": 2, "head_sha": headCommit, "head_repository": map[string]any{"id": 2}, "pull_requests": []any{},
	}})
	for _, input := range []string{"INPUT_POLICY", "INPUT_DECISIONS", "INPUT_JSON"} {
		delete(s.env, input)
	}
	s.next(5)
	s.env["INPUT_FROM-REPORT"], s.env["INPUT_PR-NUMBER"] = "from-fork/report.json", "7"
	return s, g
}

// TestActionFromReport: the comment that a trusted run writes from a stranger's report.
func TestActionFromReport(t *testing.T) {
	s, g := relayStep(t, "fail.yaml")
	if status := s.run(); status != 0 { // comment is never by default; a step with from-report is for the comment
		t.Fatalf("exit %d\n%s%s", status, &s.stdout, &s.stderr)
	}
	said := g.said(false)
	if len(said) != 1 || said[0].pull != 7 {
		t.Fatalf("there are %d comments", len(said))
	}
	// Of the run that decided, under the name of its workflow.
	for _, want := range []string{"<!-- oloproof:comment key=Model+gate run=1 attempt=2 ", "rarely-right", "run 1, attempt 2, commit 1111111", "https://github.example/owner/name/actions/runs/9001/attempts/2"} {
		if !strings.Contains(said[0].body, want) {
			t.Errorf("the comment has no %q:\n%s", want, said[0].body)
		}
	}
	if out := s.outputs(); !maps.Equal(out, map[string]string{"comment-url": said[0].address(), "reporting-problems": "[]"}) {
		t.Errorf("outputs %q", out)
	}
	if summary := s.read("GITHUB_STEP_SUMMARY"); summary != "" {
		t.Errorf("a step that decides nothing has the summary\n%s", summary)
	}

	t.Run("nothing to say", func(t *testing.T) {
		s, g := relayStep(t, "pass.yaml")
		if status := s.run(); status != 0 || len(g.said(false)) != 0 {
			t.Errorf("exit %d, %d comments", status, len(g.said(false)))
		}
		if out := s.outputs(); !maps.Equal(out, map[string]string{"reporting-problems": "[]"}) {
			t.Errorf("outputs %q", out)
		}
	})
	t.Run("nothing was decided", func(t *testing.T) { // and the comment of the run that decides takes its place
		s, g := relayStep(t, "broken.yaml")
		if status := s.run("comment", "problems"); status != 0 || len(g.said(false)) != 1 || !strings.Contains(g.said(false)[0].body, "nothing was decided") {
			t.Fatalf("exit %d, %d comments\n%s", status, len(g.said(false)), &s.stdout)
		}
		after, _ := relayStep(t, "fail.yaml")
		s.put("from-fork/report.json", after.text("from-fork/report.json"))
		s.event("workflow_run", map[string]any{"workflow_run": map[string]any{"id": 9002, "name": "Model gate", "run_number": 2, "run_attempt": 1, "head_sha": headCommit, "head_repository": map[string]any{"id": 2}}})
		if status := s.next(6).run(); status != 0 || len(g.said(false)) != 1 || !strings.Contains(g.said(false)[0].body, "rarely-right") {
			t.Errorf("exit %d, %d comments\n%s", status, len(g.said(false)), &s.stdout)
		}
	})
	t.Run("the pull request has moved on", func(t *testing.T) { // by a second push, whose own run comes
		s, g := relayStep(t, "fail.yaml")
		g.heads[7] = otherCommit
		if status := s.run(); status != 0 || len(g.said(false)) != 0 || s.outputs()["reporting-problems"] != "[]" {
			t.Errorf("exit %d, %d comments\n%s", status, len(g.said(false)), &s.stdout)
		}
		if want := "::notice title=Oloproof::No comment was written: the pull request has moved on: the newest commit of pull request 7 is 333333333333, and the report is about 111111111111."; !strings.Contains(s.stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, &s.stdout)
		}
	})
	t.Run("a prefix that is on no path", func(t *testing.T) {
		s, _ := relayStep(t, "fail.yaml")
		if status := s.run("path-prefix", "-repo/"); status != 0 || !strings.Contains(s.stdout.String(), `path-prefix: no path begins with "repo/", so there is none to take it from.`) {
			t.Errorf("exit %d\n%s", status, &s.stdout)
		}
	})
	t.Run("the event's own number", func(t *testing.T) {
		s, g := relayStep(t, "fail.yaml")
		s.event("workflow_run", map[string]any{"workflow_run": map[string]any{"run_number": 1, "head_sha": headCommit, "head_repository": map[string]any{"id": 2}, "pull_requests": []any{map[string]any{"number": 7}}}})
		if status := s.run("pr-number", ""); status != 0 || len(g.said(false)) != 1 {
			t.Errorf("exit %d, %d comments\n%s", status, len(g.said(false)), &s.stdout)
		}
	})
	t.Run("what has changed", func(t *testing.T) { // was seen where the fork's own run decided
		s, g := relayStep(t, "fail.yaml")
		decided := newStep(t)
		decided.earlierReport("fail.yaml", "before.json", 2)
		decided.run("policy", "fail.yaml", "decisions", "data/decisions.csv", "baseline-report", "before.json", "json", "report.json")
		s.put("from-fork/report.json", decided.text("report.json"))
		if status := s.run("comment", "changes"); status != 0 || len(g.said(false)) != 1 {
			t.Fatalf("exit %d, %d comments\n%s", status, len(g.said(false)), &s.stdout)
		}
		for _, want := range []string{"newly fails", "PASS 0.050 (0.006 … 0.170)"} { // 2 of 40: the mirror image of 38
			if body := g.said(false)[0].body; !strings.Contains(body, want) {
				t.Errorf("the comment has no %q:\n%s", want, body)
			}
		}
	})
	t.Run("hostile texts", func(t *testing.T) {
		s, g := relayStep(t, "fail.yaml")
		hostile := "<!-- x --> @owner/team ::error::x\\n| a | <img src=x> ![x](http://example.com/x)"
		s.put("from-fork/report.json", strings.ReplaceAll(s.text("from-fork/report.json"), `"rarely-right"`, `"`+hostile+`"`))
		if status := s.run(); status != 0 || len(g.said(false)) != 1 {
			t.Fatalf("exit %d, %d comments\n%s", status, len(g.said(false)), &s.stdout)
		}
		_, body, _ := strings.Cut(g.said(false)[0].body, "\n") // the first line is our mark
		if bad := regexp.MustCompile("<!--|<img|\n::").FindString(body); bad != "" {
			t.Errorf("the comment has %q:\n%s", bad, body)
		}
	})
}

// TestActionFromReportRefuses: what a stranger can leave behind and what is given wrongly end the step with 2 and the reason, and
// nothing is written.
func TestActionFromReportRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, s *step, g *github)
		inputs []string
		reason string
	}{
		{"another pull request's number", nil, []string{"pr-number", "8"}, "the newest commit of pull request 8 is 333333333333, and the report is about 111111111111"},
		{"a second pull request with the same commit", func(_ *testing.T, _ *step, g *github) { g.heads[8] = headCommit }, []string{"pr-number", "8"}, "pull request 8 comes from another repository than the run that the report is of (input pr-number 8)"},
		{"a report without a verdict", func(_ *testing.T, s *step, _ *github) {
			s.put("d.csv", singles(40, 38))
			if status, _, told := runMain("human-ai", "check", filepath.Join(s.workspace, "d.csv"), "--format", "json:"+filepath.Join(s.workspace, "check.json")); status != 0 {
				s.t.Fatal(told)
			}
		}, []string{"from-report", "check.json"}, "check.json: it has no verdict: it is of check or report; give the report of gate"},
		{"no such pull request", nil, []string{"pr-number", "9"}, "it is not there, or the token may not see it"},
		{"no number", nil, []string{"pr-number", ""}, "which pull request to comment on is not known: name its number with input pr-number"},
		{"a number that is none", nil, []string{"pr-number", "7; rm"}, `input pr-number: "7; rm" is not the number of a pull request`},
		{"no file", nil, []string{"from-report", "absent.json"}, "absent.json: there is no such file"},
		{"a folder", nil, []string{"from-report", "from-fork"}, "from-fork: it is a folder; name a file"},
		{"out of the workspace", nil, []string{"from-report", "../report.json"}, `input from-report: "../report.json" leads out of the workspace`},
		{"out of the workspace by a link", func(t *testing.T, s *step, _ *github) {
			outside := filepath.Join(t.TempDir(), "report.json")
			writeFile(t, outside, s.text("from-fork/report.json"))
			if err := os.Symlink(outside, filepath.Join(s.workspace, "link.json")); err != nil {
				t.Fatal(err)
			}
		}, []string{"from-report", "link.json"}, "link.json: a link in it is absolute, or leads out of the folder that may be read and written"},
		{"no JSON", func(_ *testing.T, s *step, _ *github) { s.put("from-fork/report.json", "<html>") }, nil, "it is not JSON: line 1 begins with"},
		{"another document", func(_ *testing.T, s *step, _ *github) { s.put("from-fork/report.json", `{"schema": "other/1"}`) }, nil, "its schema is"},
		{"a verdict that its rules do not come to", func(_ *testing.T, s *step, _ *github) {
			s.put("from-fork/report.json", strings.Replace(s.text("from-fork/report.json"), `"verdict": "FAIL"`, `"verdict": "PASS"`, 1))
		}, nil, "its verdict is PASS, and its rules come to FAIL"},
		{"a file of 17 MiB", func(t *testing.T, s *step, _ *github) {
			if err := os.Truncate(filepath.Join(s.workspace, "from-fork/report.json"), 17<<20); err != nil {
				t.Fatal(err)
			}
		}, nil, "it is larger than 16 MiB"},
		{"a policy too", nil, []string{"policy", "pass.yaml", "json", "out.json"}, "input from-report: with it nothing is decided, and policy, json would be for a step that decides"},
		{"an issue too", nil, []string{"issue", "problems"}, "input issue: an issue is kept by the step that decides"},
		{"no token", func(_ *testing.T, s *step, _ *github) { s.env["INPUT_GITHUB-TOKEN"] = "" }, nil, "there is no token"},
		{"a token that may not", func(_ *testing.T, _ *step, g *github) { g.readOnly = true }, nil, "give the job `permissions: pull-requests: write`"},
		{"no server", func(_ *testing.T, s *step, _ *github) { s.env["GITHUB_API_URL"] = "http://127.0.0.1:1" }, nil, "connection refused"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, g := relayStep(t, "fail.yaml")
			if test.change != nil {
				test.change(t, s, g)
			}
			if status := s.run(test.inputs...); status != 2 {
				t.Errorf("exit %d, want 2", status)
			}
			if len(g.said(false)) > 0 {
				t.Error("there is a comment")
			}
			if log := s.stdout.String() + s.stderr.String(); !strings.Contains(log, test.reason) {
				t.Errorf("the log does not say %q:\n%s", test.reason, log)
			}
			if out := s.outputs(); out["comment-url"] != "" {
				t.Errorf("outputs %q", out)
			}
		})
	}
	s := newStep(t)
	s.check(s.run("policy", "pass.yaml", "decisions", "data/decisions.csv", "pr-number", "7"), 2, "NO_VERDICT")
	if want := "input pr-number: it goes with from-report"; !strings.Contains(s.stderr.String(), want) {
		t.Errorf("no %q in\n%s", want, &s.stderr)
	}
}

// TestCommentCommand is `oloproof comment`.
func TestCommentCommand(t *testing.T) {
	g := newGitHub(t)
	g.heads[7], g.heads[8], g.heads[9], g.heads[10] = headCommit, otherCommit, otherCommit, headCommit
	g.from[8], g.from[10] = 3, 3
	t.Chdir(t.TempDir())
	writeFile(t, "d.csv", singles(40, 38))
	for name, rule := range map[string]string{"fail": "maximum: 0.5", "pass": "minimum: 0.6"} {
		writeFile(t, name+".yaml", "rules: [{id: a, metric: accuracy_with, "+rule+"}]\n")
		if status, _, told := runMain("human-ai", "gate", "d.csv", "--policy", name+".yaml", "--format", "json:"+name+".json"); status == 2 {
			t.Fatal(told)
		}
	}
	writeFile(t, "event.json", `{"workflow_run": {"id": 9, "name": "CI", "run_number": 3, "run_attempt": 1, "head_sha": "`+headCommit+`", "head_repository": {"id": 2}}}`)
	all := map[string]string{"GITHUB_API_URL": g.url, "GITHUB_REPOSITORY": testRepository, "GITHUB_TOKEN": "a-token", "GITHUB_EVENT_NAME": "workflow_run", "GITHUB_EVENT_PATH": "event.json"}
	tests := []struct {
		name, args, without string
		status              int
		stdout, stderr      string
	}{
		{"a comment", "--report fail.json --pr 7", "", 0, "https://github.example/pull/7#comment-100\n", ""},
		{"again", "--report fail.json --pr 7 --mode always --fail-on FAIL", "", 0, "https://github.example/pull/7#comment-100\n", ""},
		{"another key", "--report fail.json --pr 7 --key b --path-prefix sub/", "", 0, "https://github.example/pull/7#comment-101\n", ""},
		{"nothing to say", "--report pass.json --pr 7 --key c", "", 0, "", ""},
		{"said in any case", "--report pass.json --pr 7 --key c --mode always", "", 0, "https://github.example/pull/7#comment-102\n", ""},
		{"a commit named", "--report fail.json --pr 8 --key d --sha " + otherCommit, "GITHUB_EVENT_PATH", 0, "https://github.example/pull/8#comment-103\n", ""},
		{"another pull request", "--report fail.json --pr 8", "", 2, "", "the newest commit of pull request 8 is 333333333333"},
		{"a pull request that has moved on", "--report fail.json --pr 9", "", 0, "", "oloproof: No comment was written: the pull request has moved on"},
		{"a second pull request with the same commit", "--report fail.json --pr 10", "", 2, "", "pull request 10 comes from another repository than the run that the report is of (--pr 10)"},
		{"half a commit", "--report fail.json --pr 7 --sha 1111111", "", 2, "", `--sha is "1111111"; write the whole commit, 40 or 64 hexadecimal digits`},
		{"a prefix that is on no path", "--report fail.json --pr 7 --path-prefix -repo/", "", 0, "https://github.example/pull/7#comment-100\n", `path-prefix: no path begins with "repo/"`},
		{"no number", "--report fail.json", "", 2, "", "name its number with --pr"},
		{"no such file", "--report absent.json --pr 7", "", 2, "", "absent.json: there is no such file"},
		{"not a report", "--report d.csv --pr 7", "", 2, "", "d.csv: it is not JSON: line 1 begins with"},
		{"no event", "--report fail.json --pr 7", "GITHUB_EVENT_PATH", 2, "", "or name the commit that the report is about with --sha"},
		{"no token", "--report fail.json --pr 7", "GITHUB_TOKEN", 2, "", "GITHUB_TOKEN is not set"},
		{"no repository", "--report fail.json --pr 7", "GITHUB_REPOSITORY", 2, "", "GITHUB_REPOSITORY"},
		{"everything wrong", "--mode never --fail-on RED --path-prefix /x --pr 0", "GITHUB_TOKEN", 2, "", "comment needs a report"},
		{"an argument", "fail.json", "", 2, "", "fail.json"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			world := inMemory().World
			world.Stdout, world.Stderr, world.Sleep = &stdout, &stderr, noSleep
			world.Getenv = func(name string) string {
				if name == test.without {
					return ""
				}
				return all[name]
			}
			status := Main(append([]string{"comment"}, strings.Fields(test.args)...), world)
			if status != test.status || stdout.String() != test.stdout || !strings.Contains(stderr.String(), test.stderr) || test.stderr == "" && stderr.Len() > 0 {
				t.Errorf("exit %d, want %d; want %q on standard output and %q on standard error:\n%s%s", status, test.status, test.stdout, test.stderr, &stdout, &stderr)
			}
			if test.name == "everything wrong" {
				for _, want := range []string{"--mode is never", "--fail-on", "--path-prefix", "--pr is 0", "GITHUB_TOKEN"} {
					if !strings.Contains(stderr.String(), want) {
						t.Errorf("no %q in\n%s", want, &stderr)
					}
				}
			}
			if strings.Contains(stderr.String(), "a-token") {
				t.Errorf("the token is shown:\n%s", &stderr)
			}
			if strings.HasSuffix(stderr.String(), "\nexit status 2 (nothing was written)\n") != (test.status == 2 && test.name != "an argument") { // which is no usage of the command
				t.Errorf("it ends with\n%s", &stderr)
			}
		})
	}
	if said := g.said(false); !strings.Contains(said[0].body, "key=CI run=3") || !strings.Contains(said[3].body, "commit 3333333") && strings.Contains(said[3].body, "commit 1111111") {
		t.Errorf("the comments are of the run\n%s\n%s", said[0].body, said[3].body)
	}
	g.readOnly = true
	if status, out := commentWith(all, "--report", "fail.json", "--pr", "7", "--key", "x"); status != 2 || !strings.Contains(out, "pull-requests: write") {
		t.Errorf("a token that may not write: exit %d\n%s", status, out)
	}
}

// commentWith runs `oloproof comment` with an environment and returns both streams.
func commentWith(env map[string]string, args ...string) (status int, out string) {
	var b bytes.Buffer
	world := inMemory().World
	world.Stdout, world.Stderr, world.Sleep = &b, &b, noSleep
	world.Getenv = func(name string) string { return env[name] }
	status = Main(append([]string{"comment"}, args...), world)
	return status, b.String()
}
