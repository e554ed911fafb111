package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// site is a workspace and a GitHub for runs of the program as a step, without act and an image.
type site struct {
	t         *testing.T
	g         *gitHub
	program   string
	workspace string
}

func newSite(t *testing.T) site {
	t.Helper()
	s := site{t, newGitHub(t), filepath.Join(t.TempDir(), "oloproof"), t.TempDir()}
	if runtime.GOOS == "windows" {
		s.program += ".exe"
	}
	build := exec.Command("go", "build", "-trimpath", "-o", s.program, ".")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	s.put("decisions.csv", read(t, filepath.Join(root, testdata("decisions.csv"))))
	return s
}

func (s site) put(name, text string) { write(s.t, filepath.Join(s.workspace, name), text) }

// run runs the program in the workspace, as run number of a workflow, with an event. It returns the exit status, what
// it printed, and the outputs it set.
func (s site) run(number int, event string, payload map[string]any, inputs map[string]string, args ...string) (int, string, map[string]string) {
	s.t.Helper()
	runner := s.t.TempDir()
	files := map[string]string{"output": "", "summary": "", "event.json": ""}
	text, err := json.Marshal(payload)
	if err != nil {
		s.t.Fatal(err)
	}
	files["event.json"] = string(text)
	for name, text := range files {
		write(s.t, filepath.Join(runner, name), text)
	}
	command := exec.Command(s.program, args...)
	command.Dir = s.workspace
	command.Env = []string{
		"GITHUB_ACTIONS=true", "GITHUB_WORKSPACE=" + s.workspace, "GITHUB_API_URL=" + s.g.url, "GITHUB_SERVER_URL=https://github.com",
		"GITHUB_OUTPUT=" + filepath.Join(runner, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(runner, "summary"),
		"GITHUB_EVENT_NAME=" + event, "GITHUB_EVENT_PATH=" + filepath.Join(runner, "event.json"), "GITHUB_REPOSITORY=" + repository,
		"GITHUB_SHA=" + headCommit, "GITHUB_RUN_ID=" + strconv.Itoa(9000+number), "GITHUB_RUN_NUMBER=" + strconv.Itoa(number),
		"GITHUB_RUN_ATTEMPT=1", "GITHUB_WORKFLOW=Model update", "GITHUB_TOKEN=a-token", "INPUT_GITHUB-TOKEN=a-token",
	}
	if root := os.Getenv("SYSTEMROOT"); root != "" { // Windows has no sockets without it
		command.Env = append(command.Env, "SYSTEMROOT="+root)
	}
	for name, value := range inputs {
		command.Env = append(command.Env, "INPUT_"+strings.ToUpper(name)+"="+value)
	}
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	status := exitStatus(s.t, command.Run())
	return status, out.String(), parseOutputs(s.t, filepath.Join(runner, "output"))
}

// TestRequests makes the action ask for everything that it ever asks of the API. Each request is held against GitHub's
// description of it, and there is no other kind.
func TestRequests(t *testing.T) {
	wanted(t)
	s := newSite(t)
	fail, pass := read(t, filepath.Join(root, testdata("fail.yaml"))), read(t, filepath.Join(root, testdata("pass.yaml")))
	s.put("policy.yaml", fail)
	p := pull{number: 7, head: headCommit, base: baseCommit, files: map[string]string{"policy.yaml": fail}}
	s.g.pulls = []pull{p}
	for i := range 130 { // more than a page of other people's
		s.g.comments = append(s.g.comments, remark{ID: int64(1 + i), Issue: 7, Body: fmt.Sprintf("Remark %d. oloproof FAIL", i), User: bot()})
	}
	s.g.nextID = 1000

	inputs := map[string]string{"policy": "policy.yaml", "decisions": "decisions.csv", "comment": "always", "json": "report.json"}
	ours := func() []remark {
		return slices.DeleteFunc(s.g.said(7), func(c remark) bool { return c.ID <= 130 })
	}
	step := func(number, want int, event string, payload map[string]any, args ...string) map[string]string {
		t.Helper()
		if args == nil {
			args = []string{"action"}
		}
		status, out, outputs := s.run(number, event, payload, inputs, args...)
		if status != want || args[0] == "action" && outputs["reporting-problems"] != "[]" {
			t.Fatalf("%s ended with %d, want %d, and %s:\n%s", args, status, want, outputs["reporting-problems"], out)
		}
		return outputs
	}

	// A first comment, on the second page. Another run writes its own in between: two stand there, and one goes.
	s.g.racing = func() {
		s.g.nextID++
		s.g.comments = append(s.g.comments, remark{ID: s.g.nextID, Issue: 7, User: bot(),
			Body: "<!-- oloproof:comment key=policy.yaml run=10 attempt=1 id=9010 workflow=Model+update sha=" + elseCommit + " subject=0 verdict=PASS failing= -->\nAn older run."})
	}
	step(11, 1, "pull_request", p.opened())
	if said := ours(); len(said) != 1 || said[0].ID != 1001 || !strings.Contains(said[0].Body, "rarely-right") {
		t.Fatalf("the comments are %+v, want the first that was made, of run 11", said)
	}

	// The base branch's policy decides, not the pull request's.
	s.put("policy.yaml", pass)
	inputs["policy-ref"] = "base"
	if got := step(12, 1, "pull_request", p.opened()); got["verdict"] != "FAIL" {
		t.Errorf("the pull request's own policy was decided: %s", got["verdict"])
	}
	if said := ours(); len(said) != 1 || !strings.Contains(said[0].Body, "looser") {
		t.Errorf("the comments are %+v, want one that tells of the looser policy", said)
	}
	delete(inputs, "policy-ref")

	// A policy that the base branch does not have, and a commit that shows that the token can see as much.
	s.put("new.yaml", fail)
	inputs["policy"], inputs["comment"] = "new.yaml", "never"
	step(12, 1, "pull_request", p.opened())
	inputs["policy"], inputs["comment"] = "policy.yaml", "always"

	// A comment from a report, on the command line.
	step(13, 0, "workflow_run", map[string]any{"repository": here(), "workflow_run": map[string]any{
		"id": 9013, "name": "Model update", "run_number": 13, "run_attempt": 1, "head_sha": headCommit, "head_repository": map[string]any{"id": repositoryID},
	}}, "comment", "--report", "report.json", "--pr", "7")

	// An issue, opened, updated and closed.
	delete(inputs, "comment")
	inputs["issue"] = "problems"
	s.put("policy.yaml", fail)
	nightly := map[string]any{"schedule": "23 5 * * 1", "repository": here()}
	step(14, 1, "schedule", nightly)
	s.put("policy.yaml", pass)
	step(15, 0, "schedule", nightly)
	if issues := s.g.opened(); len(issues) != 1 || issues[0].State != "closed" {
		t.Errorf("the issues are %+v, want one, closed", issues)
	}

	repo := "/repos/" + repository
	want := []string{
		"DELETE " + repo + "/issues/comments/NUMBER",
		"GET " + repo + "/contents/new.yaml",
		"GET " + repo + "/contents/policy.yaml",
		"GET " + repo + "/git/commits/" + baseCommit,
		"GET " + repo + "/issues",
		"GET " + repo + "/issues/NUMBER",
		"GET " + repo + "/issues/NUMBER/comments",
		"GET " + repo + "/issues/comments/NUMBER",
		"GET " + repo + "/pulls/NUMBER",
		"PATCH " + repo + "/issues/NUMBER",
		"PATCH " + repo + "/issues/comments/NUMBER",
		"POST " + repo + "/issues",
		"POST " + repo + "/issues/NUMBER/comments",
	}
	var got []string
	for request := range s.g.asked() {
		got = append(got, request)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds of requests (-want +got):\n%s", diff)
	}
}
