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

// The workflows of docs/recipes.md run here as they stand there, under act, against a GitHub in memory. Only what
// cannot be had here is replaced: the released action by the one in the work tree, artifacts and the search for an
// earlier one by files in the workspace.
const recipes = "docs/recipes.md"

var replaced = []struct {
	uses *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`- uses: oloproof/oloproof@v1\n`), "- id: gate\n        uses: ./\n"},
	{regexp.MustCompile(`- uses: actions/upload-artifact@v4\n        if: \$\{\{ !cancelled\(\) \}\}\n        with:\n          name: (\S+)\n          path: (\S+)\n`),
		"- if: $${{ !cancelled() }}\n        run: mkdir -p artifacts/$1 && cp -R $2 artifacts/$1/ && chmod -R a+rwX artifacts\n"},
	{regexp.MustCompile(`- uses: actions/download-artifact@v4\n        with:\n          name: (\S+)\n          path: (\S+)\n(          .*\n)*`),
		"- run: cp -R artifacts/$1/$2 .\n"},
	{regexp.MustCompile(`run=\$\(gh run list .*\n`), "run=$$(ls artifacts/main 2>/dev/null || true)\n"},
	{regexp.MustCompile(`gh run download "\$run" --name \S+ --dir (\S+);`), "cp -R artifacts/main $1;"},
}

// recipe returns the workflow of that name in docs/recipes.md, fit to run here.
func recipe(t *testing.T, name string) string {
	t.Helper()
	var found []string
	for _, block := range strings.Split(read(t, filepath.Join(root, recipes)), "```yaml workflow\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		if strings.HasPrefix(block, "name: "+name+"\n") {
			found = append(found, block)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has %d workflows called %q, want one", recipes, len(found), name)
	}
	text := found[0]
	for _, c := range replaced {
		text = c.uses.ReplaceAllString(text, c.by)
	}
	if regexp.MustCompile(`uses: (?:oloproof/|actions/(?:up|down)load-)|\bgh `).MatchString(text) || !strings.Contains(text, "uses: ./\n") {
		t.Fatalf("%s, %s: it uses what cannot be had here:\n%s", recipes, name, text)
	}
	return text
}

// lastStep tells the test of all steps, as in .github/workflows/action.yml.
const lastStep = `      - if: ${{ always() }}
        env:
          STEPS: ${{ toJSON(steps) }}
        run: printf 'STEPS %s\n' "$(printf %s "$STEPS" | tr -d '\n')"
`

// run is one run of a workflow.
type run struct {
	workflow string // by its name in docs/recipes.md
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
	workflow := filepath.Join(folder, ".github", "workflows", "recipe.yml")
	write(t, workflow, recipe(t, r.workflow)+lastStep)
	payload, err := json.Marshal(r.payload)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	eventFile := filepath.Join(home, "event.json")
	write(t, eventFile, string(payload))
	write(t, filepath.Join(home, ".config", "act", "actrc"), "") // act asks for its settings where it finds none

	command := exec.Command(act, r.event, "--json", "--bind", "--workflows", workflow, "--eventpath", eventFile,
		"--platform", "ubuntu-latest=golang:1.26-bookworm", "--pull=false", "--rebuild=true", "--rm",
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
				if e.Command != "summary" && (e.Command != "" || strings.Contains(e.Msg, "❌") || strings.HasPrefix(e.Msg, "oloproof:")) {
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

// TestPullRequest follows one pull request through three runs: it fails, it passes because it takes the rule that
// failed out of the policy, and an older run that was late comes in. There is one comment from the first to the last.
func TestPullRequest(t *testing.T) {
	wanted(t)
	folder := workspace(t, "fail.yaml")
	main := read(t, filepath.Join(folder, "policy.yaml"))
	g := newGitHub(t)
	p := pull{number: 7, head: headCommit, base: baseCommit, files: map[string]string{"policy.yaml": main}}
	g.pulls = []pull{p}
	r := run{workflow: "Model update", event: "pull_request", payload: p.opened(), number: 11}

	failed := r.act(t, folder, g)
	failed.check(t, "failure", "FAIL", "1")
	said := g.said(7)
	if len(said) != 1 {
		t.Fatalf("there are %d comments, want one", len(said))
	}
	first := said[0]
	for _, want := range []string{"rarely-right", "0.830 … 0.994", "0.5", "/actions/runs/9011"} { // 38 of 40, as in fixtures
		if !strings.Contains(first.Body, want) {
			t.Errorf("the comment has no %q:\n%s", want, first.Body)
		}
	}
	if marker, text, _ := strings.Cut(first.Body, "\n"); !strings.HasPrefix(marker, "<!-- oloproof:comment ") || strings.Contains(text, "mostly-right") {
		t.Errorf("the comment has no marker, or lists a rule that passed:\n%s", first.Body)
	}
	if failed.Outputs["comment-url"] != first.HTMLURL {
		t.Errorf("comment-url is %q, want %q", failed.Outputs["comment-url"], first.HTMLURL)
	}

	// The pull request takes the rule out of the policy, and the report of main is at hand.
	write(t, filepath.Join(folder, "policy.yaml"), read(t, filepath.Join(root, testdata("pass.yaml"))))
	write(t, filepath.Join(folder, "artifacts", "main", "report.json"), read(t, filepath.Join(folder, "report.json")))
	r.number = 13
	r.act(t, folder, g).check(t, "success", "PASS", "0")
	said = g.said(7)
	if len(said) != 1 || said[0].ID != first.ID {
		t.Fatalf("the comments are %+v, want the first one, updated", said)
	}
	second := said[0].Body
	for _, want := range []string{"✅", "`rarely-right`", "run 11", "loosens"} { // what failed and when, and why it no longer does
		if !strings.Contains(second, want) {
			t.Errorf("the updated comment has no %q:\n%s", want, second)
		}
	}

	// Run 12 began before run 13 and ends after it.
	write(t, filepath.Join(folder, "policy.yaml"), main)
	r.number = 12
	late := r.act(t, folder, g)
	late.check(t, "failure", "FAIL", "1")
	if said = g.said(7); len(said) != 1 || said[0].Body != second {
		t.Errorf("an older run has changed the comment: %+v", said)
	}
	if !late.says("notice", "run 13") {
		t.Error("nothing says that the comment is of a newer run")
	}
}

// TestFork is a pull request from a fork: the token may not write. That is said once, and changes nothing.
func TestFork(t *testing.T) {
	wanted(t)
	folder := workspace(t, "undecided.yaml")
	g := newGitHub(t)
	g.readOnly = true
	p := pull{number: 7, head: headCommit, base: baseCommit, fork: true, files: map[string]string{"policy.yaml": read(t, filepath.Join(folder, "policy.yaml"))}}
	g.pulls = []pull{p}
	r := run{workflow: "Model update, the first month", event: "pull_request", payload: p.opened(), number: 21}
	got := r.act(t, folder, g)
	got.check(t, "success", "INSUFFICIENT_EVIDENCE", "3") // the workflow fails on FAIL only
	notices := 0
	for _, e := range got.events {
		switch {
		case e.Command == "notice" && strings.Contains(e.Arg, "fork"):
			notices++
		case e.Command == "error", e.Command == "warning" && e.Pairs["file"] == "":
			t.Errorf("%s: %s", e.Command, e.Arg)
		}
	}
	if notices != 1 {
		t.Errorf("there are %d notices about the fork, want one", notices)
	}
	if said := g.said(7); len(said) != 0 {
		t.Errorf("there are comments: %+v", said)
	}
	if asked := g.asked(); asked["POST /repos/oloproof/oloproof/issues/NUMBER/comments"] != 1 {
		t.Errorf("the server was not asked once to comment: %v", asked)
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
	checked := run{workflow: "Model gate", event: "pull_request", payload: p.opened(), number: 31}.act(t, folder, g)
	checked.check(t, "failure", "FAIL", "1")
	for request := range g.asked() {
		if !strings.HasPrefix(request, "GET ") {
			t.Errorf("the run that may write nothing asked for %s", request)
		}
	}

	comment := run{workflow: "Model gate, comment", event: "workflow_run", number: 5, payload: map[string]any{
		"action": "completed", "repository": here(), "workflow_run": map[string]any{
			"id": 9031, "run_number": 31, "run_attempt": 1, "event": "pull_request", "conclusion": "failure", "head_sha": headCommit,
			"name": "Model gate", "html_url": "https://github.com/" + repository + "/actions/runs/9031",
			"head_repository": map[string]any{"id": forkID, "full_name": "someone/oloproof"}, "pull_requests": []any{},
		}}}
	// The second workflow has files of its own, and what the first left behind.
	trusted := copyRepository(t)
	left := filepath.Join("artifacts", "for-comment", "for-comment")
	for _, name := range []string{"report.json", "number"} {
		write(t, filepath.Join(trusted, left, name), read(t, filepath.Join(folder, left, name)))
	}
	right := comment.act(t, trusted, g)
	if right.Outcome != "success" || right.Outputs["reporting-problems"] != "[]" { // the check is red already; this only tells of it
		t.Errorf("the comment's step came to %s, with %s", right.Outcome, right.Outputs["reporting-problems"])
	}
	said := g.said(7)
	if len(said) != 1 || !strings.Contains(said[0].Body, "rarely-right") || !strings.Contains(said[0].Body, "/actions/runs/9031") {
		t.Fatalf("the comments are %+v, want one about rarely-right in run 9031", said)
	}
	if right.Outputs["comment-url"] != said[0].HTMLURL {
		t.Errorf("comment-url is %q, want %q", right.Outputs["comment-url"], said[0].HTMLURL)
	}

	// The fork writes another pull request's number into the file.
	write(t, filepath.Join(trusted, left, "number"), "8\n")
	wrong := comment.act(t, trusted, g)
	if said := g.said(8); len(said) != 0 {
		t.Errorf("a pull request that was not checked has comments: %+v", said)
	}
	if problems := wrong.Outputs["reporting-problems"]; wrong.Outcome != "failure" || !strings.Contains(problems, "pull request 8 is 333333333333") {
		t.Errorf("the step came to %s, with %s", wrong.Outcome, problems)
	}
	if said := g.said(7); len(said) != 1 {
		t.Errorf("the right pull request has %d comments", len(said))
	}
}

// TestAudit is a scheduled audit: it opens one issue where a rule does not pass, keeps it while that lasts, and
// closes it when all pass.
func TestAudit(t *testing.T) {
	wanted(t)
	folder := copyRepository(t)
	g := newGitHub(t)
	g.pulls = []pull{{number: 1, head: headCommit, base: baseCommit}} // the API lists pull requests among the issues
	for _, name := range []string{"fairness.yaml", "decided.csv"} {
		write(t, filepath.Join(folder, name), read(t, filepath.Join(root, "engine/example/fairness", name)))
	}
	r := run{workflow: "Fairness audit", event: "schedule", number: 41,
		payload: map[string]any{"schedule": "23 5 * * 1", "repository": here()}}
	failed := r.act(t, folder, g)
	failed.check(t, "failure", "FAIL", "1")
	issues := g.opened()
	if len(issues) != 1 || issues[0].State != "open" || !strings.Contains(issues[0].Body, "fnr-by-sex") {
		t.Fatalf("the issues are %+v, want an open one about fnr-by-sex", issues)
	}
	if failed.Outputs["issue-url"] != issues[0].HTMLURL {
		t.Errorf("issue-url is %q, want %q", failed.Outputs["issue-url"], issues[0].HTMLURL)
	}

	r.number = 42
	r.act(t, folder, g).check(t, "failure", "FAIL", "1")
	if again := g.opened(); len(again) != 1 || again[0].State != "open" || again[0].Body == issues[0].Body {
		t.Fatalf("after the second week the issues are %+v, want one, updated", again)
	}

	policy := strings.Replace(read(t, filepath.Join(root, testdata("fairness.yaml"))), "not-there.csv", "decided.csv", 1)
	write(t, filepath.Join(folder, "fairness.yaml"), policy)
	write(t, filepath.Join(folder, "decided.csv"), read(t, filepath.Join(root, testdata("decided.csv"))))
	r.number = 43
	r.act(t, folder, g).check(t, "success", "PASS", "0")
	if issues = g.opened(); len(issues) != 1 || issues[0].State != "closed" {
		t.Errorf("the issues are %+v, want the one, closed", issues)
	}
}
