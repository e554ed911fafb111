package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lostLine is what is said of standard output that cannot be written, with the error of failing.
const lostLine = "oloproof: cannot write to standard output: the disk is full"

// failing is a writer that takes some bytes and then fails for good.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	n := min(len(p), f.left)
	f.left -= n
	if n < len(p) {
		return n, errors.New("the disk is full")
	}
	return n, nil
}

// TestLostOutput runs every command that prints with a standard output that fails at once or in the middle: nothing of
// it has passed, and it is said once.
func TestLostOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "d.csv", singles(40, 38))
	writeFile(t, "pass.yaml", "rules:\n  - {id: mostly-right, metric: accuracy_with, minimum: 0.6}\n")
	writeFile(t, "fail.yaml", "rules:\n  - {id: rarely-right, metric: accuracy_with, maximum: 0.5}\n")
	for name, policy := range map[string]string{"r.json": "pass.yaml", "gone.json": "fail.yaml"} {
		if status, _, told := runMain("human-ai", "gate", "d.csv", "--policy", policy, "--format", "json:"+name); status == 2 {
			t.Fatal(told)
		}
	}
	for _, test := range []struct {
		args   string
		status int // with a standard output that works
		lost   int // without
	}{
		{"human-ai gate d.csv --policy pass.yaml", 0, 2},
		{"human-ai gate d.csv --policy pass.yaml --json", 0, 2},
		{"human-ai gate d.csv --policy fail.yaml --fail-on MANUAL_REVIEW", 0, 2},
		{"human-ai gate d.csv --policy fail.yaml", 1, 1}, // what did not pass keeps its status
		{"human-ai gate absent.csv --policy fail.yaml --json", 2, 2},
		{"human-ai check d.csv", 0, 2},
		{"human-ai report d.csv --format markdown", 0, 2},
		{"human-ai assign --cases 4 --reviewers 4 --design crossed --seed s", 0, 2},
		{"policy check pass.yaml", 0, 2},
		{"policy check pass.yaml absent.yaml", 2, 2},
		{"schema policy", 0, 2},
		{"init --example human-ai study --force", 0, 2},
		{"gate --example", 0, 2},
		{"version", 0, 2},
		{"render r.json --format junit", 0, 2},
		{"render r.json", 0, 2},
		{"diff r.json r.json", 0, 2},
		{"diff r.json gone.json", 1, 1},
		{"completion bash", 0, 2},
		{"human-ai gate --help", 0, 2},
		{"human-ai", 0, 2},
	} {
		status, stdout, stderr := runMain(strings.Fields(test.args)...)
		if status != test.status || stdout == "" || strings.Contains(stderr, "standard output") {
			t.Errorf("%s: exit %d\n%s%s", test.args, status, stdout, stderr)
		}
		for _, left := range []int{0, len(stdout) / 2, len(stdout) - 1} {
			var stderr bytes.Buffer
			world := inMemory().World
			world.Stdout, world.Stderr = &failing{left}, &stderr
			status := Main(strings.Fields(test.args), world)
			if status != test.lost || strings.Count(stderr.String(), "the disk is full") != 1 || strings.Count(stderr.String(), lostLine+"\n") != 1 {
				t.Errorf("%s, after %d bytes: exit %d, want %d\n%s", test.args, left, status, test.lost, &stderr)
			}
			if strings.Contains(stderr.String(), ", exit 0") {
				t.Errorf("%s: the closing line has another status\n%s", test.args, &stderr)
			}
		}
	}
}

// TestLostLog: in a workflow a log that is lost changes no verdict; it is a problem of reporting.
func TestLostLog(t *testing.T) {
	s := newStep(t)
	s.env["INPUT_POLICY"], s.env["INPUT_DECISIONS"] = "pass.yaml", "data/decisions.csv"
	var stderr bytes.Buffer
	status := Main([]string{"action"}, World{
		Stdout: &failing{}, Stderr: &stderr, Version: "1.0.0", Getenv: func(name string) string { return s.env[name] },
	})
	if out := s.outputs(); status != 0 || out["verdict"] != "PASS" || !strings.Contains(out["reporting-problems"], "the disk is full") {
		t.Errorf("exit %d, outputs %q\n%s", status, out, &stderr)
	}
}

// TestNamesAtLineStart: a name that begins a line makes no command of it, with spaces before it neither: a runner trims
// them.
func TestNamesAtLineStart(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, spaces := range []string{"", " ", "   "} {
		name := spaces + "::error::boom"
		writeFile(t, name+".yaml", "rules: []\nrules: []\n")
		writeFile(t, name+".good.yaml", "rules: [{id: a, metric: accuracy_difference, minimum: -1}]\n")
		writeFile(t, name+".csv", header+"c,r,wth,a,a,a\n")
		for _, args := range [][]string{
			{"policy", "check", name},
			{"policy", "check", name + ".yaml"},
			{"policy", "check", name + ".good.yaml"},
			{"gate", name},
			{"gate", name + ".yaml"},
			{"human-ai", "check", name},
			{"human-ai", "check", name + ".csv"},
			{"human-ai", "check", name + ".csv", "--format", "markdown"},
			{"human-ai", "check", name + ".csv", "--assignment", name},
			{"human-ai", "assign", "--cases", name, "--reviewers", name + ".csv", "--design", name, "--seed", "s"},
			{"init", "--example", "human-ai", name},
			{"init", "--example", "human-ai", name},
			{"render", name},
			{"render", name + ".csv", "--format", "sarif"},
			{"diff", name, name + ".csv"},
			{name},
		} {
			status, stdout, stderr := runMain(args...)
			what := strings.Join(args, " ")
			checkTame(t, what+", standard output", stdout, false)
			checkTame(t, what+", standard error", stderr, false)
			if !strings.Contains(stdout+stderr, "::error::boom") {
				t.Errorf("%q, exit %d: the name is not in the output\n%s%s", args, status, stdout, stderr)
			}
		}
		if _, err := os.Stat(filepath.Join(name, "policy.yaml")); err != nil {
			t.Error(err)
		}
	}
}
