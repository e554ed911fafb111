package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The workflows that the documents show run here as they stand, under act, against a GitHub in memory. Only
// this is replaced: the released action by the one in the work tree, and the two actions that carry files from
// one run to the next by a copy.
const shown = "test/e2e/testdata/workflows/"

var replaced = []struct {
	uses *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`uses: oloproof/oloproof@v1`), "uses: ./"},
	{regexp.MustCompile(`(?s)uses: actions/upload-artifact@.*?path: \|\n {12}report\.json\n {12}pr-number\.txt\n`),
		"run: mkdir -p carried && cp report.json pr-number.txt carried/ && chmod -R a+rwX carried\n"},
	{regexp.MustCompile(`(?s)uses: actions/download-artifact@.*?github-token: \S+ github\.token \S+\n`),
		"run: cp carried/* .\n"},
}

// lastStep tells the test of all steps, as in .github/workflows/action.yml.
const lastStep = `      - if: ${{ always() }}
        env:
          STEPS: ${{ toJSON(steps) }}
        run: printf 'STEPS %s\n' "$(printf %s "$STEPS" | tr -d '\n')"
`

// run is one run of a workflow.
type run struct {
	workflow string // a file of testdata/workflows
	event    string
	payload  map[string]any
	number   int // github.run_number
}

// ran is what came of the step that runs the action.
type ran struct {
	step
	events []event
}

// act runs a workflow in a copy of the repository.
func (r run) act(t *testing.T, folder string, g *gitHub) ran {
	t.Helper()
	act := os.Getenv("OLOPROOF_ACT")
	if act == "" {
		t.Fatal("OLOPROOF_ACT does not say where act is")
	}
	text := read(t, filepath.Join(root, shown, r.workflow))
	for _, c := range replaced {
		text = c.uses.ReplaceAllLiteralString(text, c.by)
	}
	if strings.Contains(text, "artifact@") || !strings.Contains(text, "uses: ./") {
		t.Fatalf("%s still uses what cannot be had here:\n%s", r.workflow, text)
	}
	workflow := filepath.Join(folder, ".github", "workflows", r.workflow)
	write(t, workflow, text+lastStep)
	payload, err := json.Marshal(r.payload)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	eventFile := filepath.Join(home, "event.json")
	write(t, eventFile, string(payload))
	write(t, filepath.Join(home, ".config", "act", "actrc"), "") // act asks for its settings where it finds none

	command := exec.Command(act, r.event, "--json", "--bind", "--workflows", workflow, "--eventpath", eventFile,
		"--platform", "ubuntu-latest=golang:1.26-bookworm", "--pull=false", "--rebuild=true",
		"--secret", "GITHUB_TOKEN=a-token", "--env", "GITHUB_API_URL="+g.url, "--env", "GITHUB_REPOSITORY_ID="+strconv.Itoa(repositoryID),
		"--env", "GITHUB_RUN_NUMBER="+strconv.Itoa(r.number), "--env", "GITHUB_RUN_ID="+strconv.Itoa(9000+r.number), "--env", "GITHUB_RUN_ATTEMPT=1")
	command.Dir = folder
	command.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "XDG_CACHE_HOME="+filepath.Join(home, ".cache"))
	var stderr bytes.Buffer
	command.Stderr = &stderr
	log, err := command.Output() // it fails where the step does, which the step's outcome tells
	steps, events := readLog(t, log)
	if steps == nil {
		t.Fatalf("act: %v\n%s\n%s", err, &stderr, lastLines(log, 60))
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, e := range events["gate"] {
				if e.Command != "summary" {
					t.Logf("%s, run %d: %s", r.workflow, r.number, strings.TrimSpace(e.Msg))
				}
			}
		}
	})
	return ran{steps["gate"], events["gate"]}
}

// says reports whether an annotation of a level holds a text.
func (r ran) says(level, text string) bool {
	for _, e := range r.events {
		if e.Command == level && strings.Contains(e.Arg, text) {
			return true
		}
	}
	return false
}

// check compares outcome, verdict and exit code, and expects that everything could be reported.
func (r ran) check(t *testing.T, outcome, verdict, code string) {
	t.Helper()
	if r.Outcome != outcome || r.Outputs["verdict"] != verdict || r.Outputs["exit-code"] != code {
		t.Errorf("the step ended with %s, %s and %s, want %s, %s and %s",
			r.Outcome, r.Outputs["verdict"], r.Outputs["exit-code"], outcome, verdict, code)
	}
	if r.Outputs["reporting-problems"] != "[]" {
		t.Errorf("reporting problems: %s", r.Outputs["reporting-problems"])
	}
}

// The commits of the pull requests: nothing reads them but the action's own comparison.
const (
	headCommit = "1111111111111111111111111111111111111111"
	baseCommit = "2222222222222222222222222222222222222222"
	elseCommit = "3333333333333333333333333333333333333333"
)

func here() map[string]any {
	return map[string]any{"id": repositoryID, "full_name": repository, "name": "oloproof", "default_branch": "main",
		"owner": map[string]any{"login": "oloproof"}}
}

func (p pull) opened() map[string]any {
	return map[string]any{"action": "synchronize", "number": p.number, "pull_request": p.json(), "repository": here()}
}

// workspace is a copy of the repository with a policy and decisions at its top, as the workflows have them.
func workspace(t *testing.T, policy string) string {
	t.Helper()
	folder := copyRepository(t)
	write(t, filepath.Join(folder, "policy.yaml"), read(t, filepath.Join(root, testdata(policy))))
	write(t, filepath.Join(folder, "decisions.csv"), read(t, filepath.Join(root, testdata("decisions.csv"))))
	return folder
}

// TestPullRequest follows one pull request through four runs: it fails, passes, an older run that was late
// comes in, and a newer one changes nothing. There is one comment from the first to the last.
func TestPullRequest(t *testing.T) {
	wanted(t)
	folder := workspace(t, "fail.yaml")
	g := newGitHub(t)
	p := pull{number: 7, head: headCommit, base: baseCommit, files: map[string]string{"policy.yaml": read(t, filepath.Join(folder, "policy.yaml"))}}
	g.pulls = []pull{p}
	r := run{workflow: "pull-request.yml", event: "pull_request", payload: p.opened(), number: 11}

	failed := r.act(t, folder, g)
	failed.check(t, "failure", "FAIL", "1")
	said := g.said(7)
	if len(said) != 1 {
		t.Fatalf("there are %d comments, want one", len(said))
	}
	first := said[0]
	for _, want := range []string{"<!-- ", "rarely-right", "0.830", "0.5", "/actions/runs/9011"} { // 38 of 40, as in fixtures
		if !strings.Contains(first.Body, want) {
			t.Errorf("the comment has no %q:\n%s", want, first.Body)
		}
	}
	if strings.Contains(first.Body, "mostly-right") {
		t.Errorf("the comment lists a rule that passed:\n%s", first.Body)
	}
	if failed.Outputs["comment-url"] != first.HTMLURL {
		t.Errorf("comment-url is %q, want %q", failed.Outputs["comment-url"], first.HTMLURL)
	}

	// The rule that failed goes, on main too.
	pass := read(t, filepath.Join(root, testdata("pass.yaml")))
	write(t, filepath.Join(folder, "policy.yaml"), pass)
	g.pulls[0].files = map[string]string{"policy.yaml": pass}
	r.number = 13
	passed := r.act(t, folder, g)
	passed.check(t, "success", "PASS", "0")
	said = g.said(7)
	if len(said) != 1 || said[0].ID != first.ID {
		t.Fatalf("the comments are %+v, want the first one, updated", said)
	}
	second := said[0].Body
	for _, want := range []string{"pass", "rarely-right", "run 11"} { // it says what failed, and when
		if !strings.Contains(second, want) {
			t.Errorf("the updated comment has no %q:\n%s", want, second)
		}
	}
	if marker := strings.SplitAfter(first.Body, "-->")[0]; marker == strings.SplitAfter(second, "-->")[0] {
		t.Errorf("the marker %q is that of the older run", marker)
	}

	// Run 12 began before run 13 and ends after it.
	write(t, filepath.Join(folder, "policy.yaml"), p.files["policy.yaml"])
	g.pulls[0].files = p.files
	r.number = 12
	late := r.act(t, folder, g)
	if late.Outcome != "failure" || late.Outputs["verdict"] != "FAIL" {
		t.Errorf("the late run came to %s, %s", late.Outcome, late.Outputs["verdict"])
	}
	if said = g.said(7); len(said) != 1 || said[0].Body != second {
		t.Errorf("an older run has changed the comment: %+v", said)
	}
}

// TestFork is a pull request from a fork: the token may not write. That is said once, and changes nothing.
func TestFork(t *testing.T) {
	wanted(t)
	folder := workspace(t, "pass.yaml")
	g := newGitHub(t)
	g.readOnly = true
	p := pull{number: 7, head: headCommit, base: baseCommit, fork: true, files: map[string]string{"policy.yaml": read(t, filepath.Join(folder, "policy.yaml"))}}
	g.pulls = []pull{p}
	got := run{workflow: "pull-request.yml", event: "pull_request", payload: p.opened(), number: 21}.act(t, folder, g)
	if got.Outcome != "success" || got.Outputs["verdict"] != "PASS" {
		t.Errorf("the step came to %s, %s; a comment that cannot be written changes no verdict", got.Outcome, got.Outputs["verdict"])
	}
	notices := 0
	for _, e := range got.events {
		switch {
		case e.Command == "notice" && strings.Contains(e.Arg, "fork"):
			notices++
		case e.Command == "error" || e.Command == "warning":
			t.Errorf("%s: %s", e.Command, e.Arg)
		}
	}
	if notices != 1 {
		t.Errorf("there are %d notices about the fork, want one", notices)
	}
	if said := g.said(7); len(said) != 0 {
		t.Errorf("there are comments: %+v", said)
	}
}

// TestTrustedComment is the pair of workflows for forks: the first decides and may write nothing, the second
// comments from what the first left behind, where the pull request is at the commit that was checked.
func TestTrustedComment(t *testing.T) {
	wanted(t)
	folder := workspace(t, "fail.yaml")
	g := newGitHub(t)
	p := pull{number: 7, head: headCommit, base: baseCommit, fork: true}
	g.pulls = []pull{p, {number: 8, head: elseCommit, base: baseCommit}}
	checked := run{workflow: "fork-check.yml", event: "pull_request", payload: p.opened(), number: 31}.act(t, folder, g)
	checked.check(t, "failure", "FAIL", "1")
	if asked := g.asked(); len(asked) != 0 {
		t.Errorf("the run without a token asked for %v", asked)
	}

	comment := run{workflow: "fork-comment.yml", event: "workflow_run", number: 5, payload: map[string]any{
		"action": "completed", "repository": here(), "workflow_run": map[string]any{
			"id": 9031, "run_number": 31, "run_attempt": 1, "event": "pull_request", "conclusion": "failure", "head_sha": headCommit,
			"name": "Release policy", "html_url": "https://github.com/" + repository + "/actions/runs/9031",
			"head_repository": map[string]any{"id": forkID, "full_name": "someone/oloproof"}, "pull_requests": []any{},
		}}}
	right := comment.act(t, folder, g)
	if right.Outcome != "success" { // the check is red already; this only tells of it
		t.Errorf("the comment's step came to %s", right.Outcome)
	}
	said := g.said(7)
	if len(said) != 1 || !strings.Contains(said[0].Body, "rarely-right") {
		t.Fatalf("the comments are %+v, want one about rarely-right", said)
	}

	// The fork writes another pull request's number into the file.
	write(t, filepath.Join(folder, "carried", "pr-number.txt"), "8\n")
	wrong := comment.act(t, folder, g)
	if said := g.said(8); len(said) != 0 {
		t.Errorf("a pull request that was not checked has comments: %+v", said)
	}
	if problems := wrong.Outputs["reporting-problems"]; !strings.Contains(problems, "8") || !wrong.says("warning", "8") {
		t.Errorf("nothing is said of it: %s", problems)
	}
	if said := g.said(7); len(said) != 1 {
		t.Errorf("the right pull request has %d comments", len(said))
	}
}

// TestAudit is a scheduled audit: it opens one issue where a rule does not pass, and closes it when all do.
func TestAudit(t *testing.T) {
	wanted(t)
	folder := copyRepository(t)
	g := newGitHub(t)
	for _, name := range []string{"fairness.yaml", "decided.csv"} {
		write(t, filepath.Join(folder, name), read(t, filepath.Join(root, "engine/example/fairness", name)))
	}
	r := run{workflow: "audit.yml", event: "schedule", number: 41,
		payload: map[string]any{"schedule": "23 5 * * 1", "repository": here()}}
	failed := r.act(t, folder, g)
	failed.check(t, "failure", "FAIL", "1")
	issues := g.opened()
	if len(issues) != 1 || issues[0].State != "open" || !strings.Contains(issues[0].Body, "fnr-by-sex") {
		t.Fatalf("the issues are %+v, want an open one about fnr-by-sex", issues)
	}

	r.number = 42
	r.act(t, folder, g).check(t, "failure", "FAIL", "1")
	if issues = g.opened(); len(issues) != 1 || issues[0].State != "open" {
		t.Fatalf("after the second week the issues are %+v, want one", issues)
	}

	write(t, filepath.Join(folder, "fairness.yaml"), strings.Replace(read(t, filepath.Join(root, testdata("fairness.yaml"))), "not-there.csv", "decided.csv", 1))
	write(t, filepath.Join(folder, "decided.csv"), read(t, filepath.Join(root, testdata("decided.csv"))))
	r.number = 43
	r.act(t, folder, g).check(t, "success", "PASS", "0")
	if issues = g.opened(); len(issues) != 1 || issues[0].State != "closed" {
		t.Errorf("the issues are %+v, want the one, closed", issues)
	}
}

// TestShown holds the workflows that run here and those that the documents show together: each stands in a
// document, as it is.
func TestShown(t *testing.T) {
	var documents []string
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(name string, entry os.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".md" {
			documents = append(documents, read(t, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, shown, "*.yml"))
	if err != nil || len(files) != 4 {
		t.Fatalf("there are %d workflows, %v", len(files), err)
	}
	for _, name := range files {
		block := "```yaml workflow\n" + read(t, name) + "```\n"
		if !strings.Contains(strings.Join(documents, "\n"), block) {
			t.Errorf("no document shows %s in a block of yaml workflow, word for word", name)
		}
	}
}
