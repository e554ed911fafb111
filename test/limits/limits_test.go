//go:build linux

// Package limits runs the program on what is too large, too deep, not what it says, or taken away under it, and measures the memory that
// it takes. A run may end in two ways: with a verdict and every file that was asked for whole, or with the exit status 2, a message that
// says what was wrong, and nothing decided. Which of the two it is, is the same every time.
//
// Without anything set a part that takes seconds runs. OLOPROOF_LIMITS=1 runs everything in sizes for the day, OLOPROOF_NIGHTLY=1 in
// those for the night. OLOPROOF_LIMITS_TABLE names a file that gets the table of docs/files.md, as measured.
package limits

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is the built one.
var program string

// nightly and long say which part runs.
var (
	nightly = os.Getenv("OLOPROOF_NIGHTLY") != ""
	long    = nightly || os.Getenv("OLOPROOF_LIMITS") != ""
)

// onlyLong skips what takes more than a moment.
func onlyLong(t *testing.T) {
	t.Helper()
	if !long {
		t.Skip("set OLOPROOF_LIMITS=1 to run what takes longer")
	}
}

// size is one for the night, one for the day, and one for a run of all packages.
func size(night, day, moment int) int {
	switch {
	case nightly:
		return night
	case long:
		return day
	}
	return moment
}

// measureWord makes the test's own program the one that starts what is measured: a process begins with the peak of the one that
// started it, which has to be small.
const measureWord = "run-and-measure"

// TestMain builds the program once.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == measureWord {
		measure(os.Args[2:])
		return
	}
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "oloproof-limits-")
		if err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(folder)
		program = filepath.Join(folder, "oloproof")
		build := exec.Command("go", "build", "-buildvcs=false", "-o", program, "../..")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			log.Fatalf("%v\n%s", err, out)
		}
		status := m.Run()
		if name := os.Getenv("OLOPROOF_LIMITS_TABLE"); name != "" && status == 0 {
			slices.SortStableFunc(table, func(a, b line) int { return strings.Compare(a.what, b.what) })
			var b strings.Builder
			for _, l := range table {
				fmt.Fprintf(&b, "| %s | %s | %d MB | %.1f s | %s |\n", l.what, l.how, l.peak>>20, l.seconds, l.end)
			}
			if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
				log.Print(err)
				return 1
			}
		}
		return status
	}())
}

// line is one line of the table.
type line struct {
	what, how string
	peak      int64
	seconds   float64 // of processor time
	end       string
}

var table []line // what was measured

// taken is what a run took.
type taken struct {
	Status int
	Signal string  // that ended it; "" for none
	Peak   int64   // bytes of memory resident at once
	CPU    float64 // seconds of all cores
}

// measure is the program after measureWord: it runs a command with its own input and output, and tells on file descriptor 3 what it took.
func measure(args []string) {
	c := exec.Command(args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := c.Run()
	if c.ProcessState == nil {
		log.Fatal(err)
	}
	w := taken{Status: c.ProcessState.ExitCode(), CPU: (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()}
	if s, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		w.Signal = s.Signal().String()
	}
	if u, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		w.Peak = u.Maxrss << 10
	}
	if err := json.NewEncoder(os.NewFile(3, "taken")).Encode(w); err != nil {
		log.Fatal(err)
	}
}

// call is one run of the program.
type call struct {
	dir   string
	args  []string
	env   []string // beside a plain environment
	stdin io.Reader
	shell string // what a shell does before and around "$@", the program and its arguments; "" for nothing
	dies  bool   // it may end in a message of the language's own, as where there is no memory
}

// outcome is how it ended.
type outcome struct {
	taken
	stdout, stderr string
}

// do runs a call.
func (c call) do(t *testing.T) outcome {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{measureWord}
	if c.shell != "" {
		args = append(args, "/bin/sh", "-c", c.shell, "sh")
	}
	cmd := exec.Command(self, append(append(args, program), c.args...)...)
	cmd.Dir, cmd.Env = c.dir, append([]string{"HOME=" + c.dir, "PATH=" + os.Getenv("PATH")}, c.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	cmd.ExtraFiles = []*os.File{to}
	var in *os.File
	if c.stdin != nil { // a pipe of our own: one whose reader ends early is no error
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin, in = r, r
		go func() {
			_, _ = io.Copy(w, c.stdin)
			w.Close()
		}()
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	to.Close()
	if in != nil {
		in.Close()
	}
	tooLong := time.AfterFunc(time.Hour, func() { _ = cmd.Process.Kill() }) // a test that fails, not one that hangs
	defer tooLong.Stop()
	var o outcome
	decoded := json.NewDecoder(from).Decode(&o.taken)
	if err := errors.Join(cmd.Wait(), decoded); err != nil {
		t.Fatalf("%q: %v\n%s", c.args, err, clip(stderr.String()))
	}
	o.stdout, o.stderr = stdout.String(), stderr.String()
	for _, bad := range []string{"panic:", "goroutine ", "fatal error:", "this is a fault in oloproof", "\x00"} {
		if !c.dies && strings.Contains(o.stderr, bad) || strings.Contains(o.stdout, bad) {
			t.Errorf("%q: %q is in what was printed:\n%s%s", c.args, bad, clip(o.stdout), clip(o.stderr))
		}
	}
	return o
}

// clip is the beginning of what a program printed.
func clip(text string) string { return text[:min(len(text), 1500)] }

// verdicts are the exit statuses of a decision.
var verdicts = []int{0, 1, 3, 4}

// stored is what is looked at in a JSON report.
type stored struct {
	Schema     string `json:"schema"`
	Verdict    string `json:"verdict"` // "" where nothing was decided
	ExitStatus int    `json:"exit_status"`
}

// readStored reads a report, which must be whole.
func readStored(t *testing.T, path string) (s stored) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil || !bytes.HasSuffix(text, []byte("}\n")) || s.Schema == "" {
		t.Errorf("the report %s is not whole (%d bytes): %v", path, len(text), err)
	}
	return s
}

// check looks at how a run ended. want is part of the message of one that decides nothing; "" wants a verdict. report is the JSON report
// that it was to write; "" for none.
func (o outcome) check(t *testing.T, what, want, report string, mostMB int) {
	t.Helper()
	said := o.stdout + o.stderr
	switch {
	case o.Signal != "":
		t.Errorf("%s: ended by a signal: %s\n%s", what, o.Signal, clip(said))
	case want == "" && !slices.Contains(verdicts, o.Status):
		t.Errorf("%s: exit status %d, want a verdict's\n%s", what, o.Status, clip(said))
	case want != "" && o.Status != 2:
		t.Errorf("%s: exit status %d, want 2\n%s", what, o.Status, clip(said))
	case want != "" && !strings.Contains(said, want):
		t.Errorf("%s: %q is not in what was printed\n%s", what, want, clip(said))
	case len(said) > 64<<10 && want != "":
		t.Errorf("%s: %d bytes were printed", what, len(said))
	}
	if o.Peak > int64(mostMB)<<20 {
		t.Errorf("%s: took %d MB of memory, want at most %d", what, o.Peak>>20, mostMB)
	}
	if report == "" {
		return
	}
	if s := readStored(t, report); s.ExitStatus != o.Status || (s.Verdict == "") != (o.Status == 2) {
		t.Errorf("%s: the report has %+v, and the run ended with %d", what, s, o.Status)
	}
	if left := leftovers(t, filepath.Dir(report)); len(left) > 0 {
		t.Errorf("%s: left %q", what, left)
	}
}

// leftovers are the temporary files in a folder.
func leftovers(t *testing.T, folder string) (left []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".oloproof") {
			left = append(left, e.Name())
		}
	}
	return left
}

// measured puts a run into the table.
func (o outcome) measured(what, how string) {
	end := "a verdict"
	if o.Status == 2 {
		end = "an error"
	}
	table = append(table, line{what, how, o.Peak, o.CPU, end})
}

// study is a gate with the least that it decides on.
type study struct {
	gate   string
	policy string // a release file's section could hold it too
	header string
	row    func(i int) string // the i-th sound row; all differ
	args   func(rows string) []string
}

// studies are the four gates.
func studies() []study {
	beside := func(gate string) func(string) []string {
		return func(rows string) []string { return []string{gate, "gate", rows, "--policy", "policy.yaml"} }
	}
	yes := func(i int) string { return []string{"yes", "no"}[i%7/6] }
	return []study{
		{gate: "human-ai", policy: "rules: [{id: a, metric: accuracy_with, minimum: 0.5}]\n", args: beside("human-ai"),
			header: "case,reviewer,condition,decision,reference,ai_output",
			row:    func(i int) string { return fmt.Sprintf("c%d,r%d,with,%s,yes,yes", i, i, yes(i)) }},
		{gate: "anchoring", policy: "rules: [{id: a, metric: blind_agreement, minimum: 0.5}]\n", args: beside("anchoring"),
			header: "item,annotator,suggestion,label,visibility",
			row:    func(i int) string { return fmt.Sprintf("i%d,a%d,yes,%s,blind", i, i, yes(i)) }},
		{gate: "compare", policy: "baseline: old\ncandidate: new\nrules: [{id: a, metric: pass_rate_difference, minimum: -0.5}]\n", args: beside("compare"),
			header: "version,case,trial,passed",
			row:    func(i int) string { return fmt.Sprintf("%s,c%d,1,%d", []string{"old", "new"}[i%2], i/2, i%7/6) }},
		{gate: "fairness", policy: "fairness:\n  cases: rows.csv\n  id: id\n  label: label\n  prediction: prediction\n  attributes: {sex: [f, m]}\n  rules: [{id: a, rate: selection, attribute: sex, max_group_gap: 0.5}]\n",
			header: "id,label,prediction,sex",
			row:    func(i int) string { return fmt.Sprintf("p%d,1,%d,%s", i, i%7/6, []string{"f", "m"}[i%2]) },
			args:   func(rows string) []string { return []string{"fairness", "gate", "policy.yaml", rows} }},
	}
}

// folder makes a folder with the study's policy.
func (s study) folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "policy.yaml", s.policy)
	return dir
}

// put writes a file.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// content is a file of n sound rows.
func (s study) content(n int) string {
	var b strings.Builder
	b.WriteString(s.header + "\n")
	for i := range n {
		b.WriteString(s.row(i) + "\n")
	}
	return b.String()
}

// jsonl is a sound row as a JSON object, with more members in front.
func (s study) jsonl(i int, more string) string {
	var parts []string
	for k, name := range strings.Split(s.header, ",") {
		parts = append(parts, fmt.Sprintf("%q:%q", name, strings.Split(s.row(i), ",")[k]))
	}
	return "{" + more + strings.Join(parts, ",") + "}\n"
}

// decide runs the study's gate on a file of rows, or on standard input.
func (s study) decide(t *testing.T, dir, rows string, stdin io.Reader) outcome {
	t.Helper()
	return call{dir: dir, args: append(s.args(rows), "-q", "--format", "json:report.json"), stdin: stdin}.do(t)
}

// step is the study as a step of a workflow, on the file rows of its folder.
func (s study) step(t *testing.T, dir, rows string, more ...string) call {
	t.Helper()
	put(t, dir, "output", "")
	put(t, dir, "summary", "")
	env := []string{"GITHUB_WORKSPACE=" + dir, "INPUT_POLICY=policy.yaml", "INPUT_DECISIONS=" + rows, "INPUT_GATE=" + s.gate, "INPUT_JSON=report.json",
		"GITHUB_OUTPUT=" + filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary")}
	return call{dir: dir, args: []string{"action"}, env: append(env, more...)}
}

// TestSound: what the others break is decided, from a file, from standard input and in a step, and the measuring sees the memory.
func TestSound(t *testing.T) {
	for _, s := range studies() {
		dir := s.folder(t)
		put(t, dir, "rows.csv", s.content(200))
		report := filepath.Join(dir, "report.json")
		s.decide(t, dir, "rows.csv", nil).check(t, s.gate, "", report, 100)
		s.decide(t, dir, "-", strings.NewReader(s.content(200))).check(t, s.gate+" of standard input", "", report, 100)
		o := s.step(t, dir, "rows.csv").do(t)
		o.check(t, s.gate+" in a step", "", report, 100)
		if o.Peak < 4<<20 { // no program of Go takes less
			t.Errorf("%d bytes of memory were measured", o.Peak)
		}
	}
}
