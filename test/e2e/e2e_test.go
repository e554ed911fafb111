// Package e2e builds the container image and runs it: by itself, as GitHub's runner would, and as the
// action in a workflow, under act (github.com/nektos/act).
//
// It takes minutes, so it runs only where OLOPROOF_E2E is set, and skips nothing there. It needs git, a
// Docker engine, and act, whose path OLOPROOF_ACT gives.
package e2e

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	root  = "../.."
	image = "oloproof-e2e:latest"
)

// The limits of the image, in bytes: compressed, as it is pulled, and unpacked.
const (
	maxPulled   = 12_000_000
	maxUnpacked = 24_000_000
)

// fixture is a policy with its decisions, and what the action has to say of them.
type fixture struct {
	policy, decisions string // relative to the repository; no decisions where the policy names its own
	gate              string // "" is the default
	draw              string // of anchoring, in place of the policy's
	verdict           string
	exit              int
	counts            [4]int // passed, failed, insufficient-evidence, manual-review
	failing           string
	annotations       []string // "LEVEL:LINE", on the policy
}

// fixtures are the steps of .github/workflows/action.yml by their ids. decisions.csv has 40 people with a
// decision each, 38 of them right: the exact 95 % interval is 0.8308 to 0.9939 (solved from the binomial
// tails in exact arithmetic). In repeated.csv eight people made the same decisions.
var fixtures = map[string]fixture{
	"pass": {policy: testdata("pass.yaml"), decisions: testdata("decisions.csv"),
		verdict: "PASS", exit: 0, counts: [4]int{1, 0, 0, 0}, failing: `[]`},
	"fail": {policy: testdata("fail.yaml"), decisions: testdata("decisions.csv"),
		verdict: "FAIL", exit: 1, counts: [4]int{1, 1, 0, 0}, failing: `["rarely-right"]`, annotations: []string{"error:7"}},
	"undecided": {policy: testdata("undecided.yaml"), decisions: testdata("decisions.csv"),
		verdict: "INSUFFICIENT_EVIDENCE", exit: 3, counts: [4]int{0, 0, 1, 0}, failing: `["nearly-always-right"]`, annotations: []string{"warning:3"}},
	"review": {policy: testdata("pass.yaml"), decisions: testdata("repeated.csv"),
		verdict: "MANUAL_REVIEW", exit: 4, counts: [4]int{0, 0, 0, 1}, failing: `["mostly-right"]`, annotations: []string{"warning:3"}},
	"broken": {policy: testdata("broken.yaml"), decisions: testdata("decisions.csv"),
		verdict: "NO_VERDICT", exit: 2, failing: `[]`, annotations: []string{"error:4"}},
	"example": {policy: "engine/example/human-ai/policy.yaml", decisions: "engine/example/human-ai/decisions.csv",
		verdict: "INSUFFICIENT_EVIDENCE", exit: 3, counts: [4]int{0, 0, 2, 0}, failing: `["people-decide-better","few-follow-a-wrong-suggestion"]`,
		annotations: []string{"warning:13", "warning:18"}},
	"compare": {policy: "engine/example/compare/policy.yaml", decisions: "engine/example/compare/trials.csv", gate: "compare",
		verdict: "INSUFFICIENT_EVIDENCE", exit: 3, counts: [4]int{0, 0, 3, 0}, failing: `["new-is-better","not-much-worse","can-be-relied-on"]`,
		annotations: []string{"warning:21", "warning:26", "warning:32"}},
	"fairness": {policy: "engine/example/fairness/fairness.yaml",
		verdict: "FAIL", exit: 1, counts: [4]int{1, 1, 2, 0}, failing: `["fnr-by-sex","fnr-crossed","four-fifths"]`,
		annotations: []string{"error:41", "warning:44", "warning:52"}},
	"fairness-cases": {policy: testdata("fairness.yaml"), decisions: testdata("decided.csv"), gate: "fairness",
		verdict: "PASS", exit: 0, counts: [4]int{1, 0, 0, 0}, failing: `[]`},
	// 40 of 100 items were drawn blind, and all their labels agree: of the other 60 at least 54 do (from exact fractions). In other-draw.csv
	// one of these was not drawn.
	"anchoring": {policy: testdata("anchoring.yaml"),
		verdict: "PASS", exit: 0, counts: [4]int{1, 0, 0, 0}, failing: `[]`},
	"anchoring-draw": {policy: testdata("anchoring.yaml"), draw: testdata("other-draw.csv"), gate: "anchoring",
		verdict: "MANUAL_REVIEW", exit: 4, counts: [4]int{0, 0, 0, 1}, failing: `["may-label-the-rest"]`, annotations: []string{"warning:5"}},
	"anchoring-example": {policy: "engine/example/anchoring/policy.yaml",
		verdict: "INSUFFICIENT_EVIDENCE", exit: 3, counts: [4]int{0, 0, 3, 0}, failing: `["right-often-enough","may-label-the-rest","suggestions-pull-little"]`,
		annotations: []string{"warning:27", "warning:33", "warning:39"}},
}

func testdata(name string) string { return "test/e2e/testdata/" + name }

// outputs are the outputs by name, where the JSON report went to the path report, or nowhere.
func (f fixture) outputs(report string) map[string]string {
	out := map[string]string{
		"verdict": f.verdict, "exit-code": strconv.Itoa(f.exit), "failing-rules": f.failing, "reporting-problems": "[]", "policy-loosened": "false",
		"passed": strconv.Itoa(f.counts[0]), "failed": strconv.Itoa(f.counts[1]),
		"insufficient-evidence": strconv.Itoa(f.counts[2]), "manual-review": strconv.Itoa(f.counts[3]),
	}
	if report != "" {
		out["report"] = report
	}
	return out
}

// checkSummary checks that the job summary says what there is to say: the verdict, or why there is none.
func (f fixture) checkSummary(t *testing.T, summary string) {
	t.Helper()
	wants := []string{f.policy, f.verdict}
	if f.exit == 2 {
		wants = []string{f.policy, "minimun"}
	}
	for _, want := range wants {
		if !strings.Contains(summary, want) {
			t.Errorf("the job summary has no %q:\n%s", want, summary)
		}
	}
}

// TestImage builds the image as a user would, and runs it as a runner does, but without a network, with
// nothing to write to but the runner's own files, and without the right to write to the workspace.
func TestImage(t *testing.T) {
	wanted(t)
	start := time.Now()
	if out, err := exec.Command("docker", "build", "--tag", image, root).CombinedOutput(); err != nil {
		t.Fatalf("docker build: %v\n%s", err, lastLines(out, 60))
	}
	t.Logf("docker build took %s", time.Since(start).Round(time.Millisecond))
	t.Run("size", checkSize)
	repository, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(fixtures)) {
		f := fixtures[name]
		t.Run(name, func(t *testing.T) {
			runner := t.TempDir()
			for _, file := range []string{"output", "summary"} {
				if err := os.WriteFile(filepath.Join(runner, file), nil, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			run := exec.Command("docker", "run", "--rm", "--network", "none", "--read-only", "--workdir", "/github/workspace",
				"-v", repository+":/github/workspace:ro", "-v", runner+":/github/file_commands",
				"-e", "GITHUB_ACTIONS=true", "-e", "GITHUB_WORKSPACE=/github/workspace",
				"-e", "GITHUB_OUTPUT=/github/file_commands/output", "-e", "GITHUB_STEP_SUMMARY=/github/file_commands/summary",
				"-e", "INPUT_POLICY="+f.policy, "-e", "INPUT_DECISIONS="+f.decisions, "-e", "INPUT_GATE="+f.gate, "-e", "INPUT_DRAW="+f.draw, image)
			start := time.Now()
			log, err := run.CombinedOutput()
			t.Logf("docker run took %s", time.Since(start).Round(time.Millisecond))
			if status := exitStatus(t, err); status != f.exit {
				t.Errorf("the exit status is %d, want %d", status, f.exit)
			}
			if diff := cmp.Diff(f.outputs(""), parseOutputs(t, filepath.Join(runner, "output"))); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
			summary, err := os.ReadFile(filepath.Join(runner, "summary"))
			if err != nil {
				t.Fatal(err)
			}
			f.checkSummary(t, string(summary))
			if t.Failed() {
				t.Logf("the log:\n%s", log)
			}
		})
	}
}

// checkSize measures what a runner pulls, and what it unpacks.
func checkSize(t *testing.T) {
	save := exec.Command("docker", "save", image)
	archive, err := save.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := save.Start(); err != nil {
		t.Fatal(err)
	}
	var pulled counter
	compressed := gzip.NewWriter(&pulled)
	unpacked, err := io.Copy(compressed, archive)
	if err := errors.Join(err, compressed.Close(), save.Wait()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes compressed, %d unpacked", pulled, unpacked)
	if pulled > maxPulled || unpacked > maxUnpacked {
		t.Errorf("%d bytes compressed and %d unpacked, allowed are %d and %d", pulled, unpacked, maxPulled, maxUnpacked)
	}
}

// TestAction runs the workflow that GitHub runs, .github/workflows/action.yml, under act, and looks at
// what act took from each step: outcome, outputs, summary and annotations. (It does not tell the exit
// status of a step that may fail; TestImage does.) It builds the image again, from Docker's layers where
// TestImage left them.
func TestAction(t *testing.T) {
	wanted(t)
	act := os.Getenv("OLOPROOF_ACT")
	if act == "" {
		t.Fatal("OLOPROOF_ACT does not say where act is")
	}
	command := exec.Command(act, "push", "--json", "--workflows", ".github/workflows/action.yml",
		"--platform", "ubuntu-latest=golang:1.26-bookworm", "--pull=false", "--rebuild=true")
	command.Dir = copyRepository(t)
	// A home of its own: act asks for its settings where it finds none, and shall not find the user's.
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".config", "act"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".config", "act", "actrc"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	command.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "XDG_CACHE_HOME="+filepath.Join(home, ".cache"))
	var stderr bytes.Buffer
	command.Stderr = &stderr
	log, err := command.Output()
	steps, events := readLog(t, log)
	if err != nil || steps == nil {
		t.Fatalf("act: %v\n%s\n%s", err, &stderr, lastLines(log, 60))
	}

	for _, name := range slices.Sorted(maps.Keys(fixtures)) {
		f := fixtures[name]
		t.Run(name, func(t *testing.T) {
			outcome := "failure"
			if f.exit == 0 {
				outcome = "success"
			}
			if got := steps[name].Outcome; got != outcome {
				t.Errorf("the outcome is %q, want %q", got, outcome)
			}
			if diff := cmp.Diff(f.outputs("reports/"+name+".json"), steps[name].Outputs); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
			var summary string
			var annotations []string
			for _, e := range events[name] {
				switch e.Command {
				case "summary":
					summary = e.Content
				case "error", "warning", "notice":
					if e.Pairs["file"] != f.policy {
						t.Errorf("an annotation on %q: %s", e.Pairs["file"], e.Arg)
					}
					annotations = append(annotations, e.Command+":"+e.Pairs["line"])
				}
			}
			f.checkSummary(t, summary)
			if diff := cmp.Diff(f.annotations, annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			if t.Failed() {
				for _, e := range events[name] {
					t.Logf("act: %+v", e)
				}
			}
		})
	}
	t.Run("tolerated", func(t *testing.T) {
		if got := steps["tolerated"]; got.Outcome != "success" || got.Outputs["verdict"] != "FAIL" || got.Outputs["exit-code"] != "1" {
			t.Errorf("%+v, want success with verdict FAIL", got)
		}
		for _, e := range events["tolerated"] {
			if slices.Contains([]string{"summary", "error", "warning", "notice"}, e.Command) {
				t.Errorf("neither summary nor annotations were wanted: %+v", e)
			}
		}
	})
}

// step is a step as the expression toJSON(steps) shows it.
type step struct {
	Outcome string
	Outputs map[string]string
}

// event is one line of act's log in JSON: a line that a step wrote, or what act took from it.
type event struct {
	Msg     string            `json:"msg"`
	StepID  []string          `json:"stepID"`
	Command string            `json:"command"`
	Content string            `json:"content"`
	Pairs   map[string]string `json:"kvPairs"`
	Arg     string            `json:"arg"`
}

// readLog returns what the workflow's last steps print of all steps, and the events of each step.
func readLog(t *testing.T, log []byte) (steps map[string]step, events map[string][]event) {
	t.Helper()
	events = map[string][]event{}
	lines := bufio.NewScanner(bytes.NewReader(log))
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("act wrote %q: %v", lines.Text(), err)
		}
		if len(e.StepID) > 0 {
			events[e.StepID[0]] = append(events[e.StepID[0]], e)
		}
		if text, found := strings.CutPrefix(e.Msg, "STEPS "); found {
			if err := json.Unmarshal([]byte(text), &steps); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return steps, events
}

// wanted skips a test unless the end-to-end tests were asked for.
func wanted(t *testing.T) {
	t.Helper()
	if os.Getenv("OLOPROOF_E2E") == "" {
		t.Skip("set OLOPROOF_E2E=1 to build the image and run the action")
	}
}

// copyRepository copies what git has, or would take, of the repository, and makes it a repository of its
// own: act hands all of the folder to the container, and wants a commit.
func copyRepository(t *testing.T) string {
	t.Helper()
	list, err := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatalf("git does not list the repository's files: %v", err)
	}
	folder := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not yet committed
		}
		to := filepath.Join(folder, name)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch", "main"},
		{"-c", "user.name=e2e", "-c", "user.email=e2e@localhost", "commit", "--quiet", "--allow-empty", "--message", "e2e"},
		{"remote", "add", "origin", "https://github.com/oloproof/oloproof"},
	} {
		if out, err := exec.Command("git", append([]string{"-C", folder}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
	return folder
}

// parseOutputs reads the file that a step's outputs go to.
func parseOutputs(t *testing.T, name string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if !found {
			t.Errorf("%q is no output", line)
		}
		out[key] = value
	}
	return out
}

// exitStatus is the status that a command ended with; err is what running it returned.
func exitStatus(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatal(err)
	}
	return exit.ExitCode()
}

func lastLines(text []byte, n int) string {
	lines := strings.Split(string(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
