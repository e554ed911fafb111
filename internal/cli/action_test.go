package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/report"
)

// step is a workspace and the files of a runner, in which the action is run.
type step struct {
	t                 *testing.T
	env               map[string]string
	asked             map[string]bool // the variables that were asked for
	workspace, runner string
	stdout, stderr    bytes.Buffer
}

// newStep lays out a workspace: 40 people, each with a decision of their own of which 38 are right, whose
// exact 95 % interval is 0.8308 to 0.9939 (solved from the binomial tails in exact arithmetic).
func newStep(t *testing.T) *step {
	t.Helper()
	s := &step{t: t, asked: map[string]bool{}, workspace: t.TempDir(), runner: t.TempDir()}
	s.env = map[string]string{
		"GITHUB_WORKSPACE":    s.workspace,
		"GITHUB_OUTPUT":       filepath.Join(s.runner, "output"),
		"GITHUB_STEP_SUMMARY": filepath.Join(s.runner, "summary"),
	}
	writeFile(t, s.env["GITHUB_OUTPUT"], "")
	writeFile(t, s.env["GITHUB_STEP_SUMMARY"], "")
	s.put("pass.yaml", "rules:\n  - {id: mostly-right, metric: accuracy_with, minimum: 0.6}\n")
	s.put("fail.yaml", "rules:\n  - {id: rarely-right, metric: accuracy_with, maximum: 0.5}\n")
	s.put("undecided.yaml", "rules:\n  - {id: nearly-always-right, metric: accuracy_with, minimum: 0.9}\n")
	s.put("broken.yaml", "rules:\n  - {id: mostly-right, metric: accuracy_with, minimun: 0.6}\n")
	s.put("release.yaml", "human_ai:\n  decisions: data/decisions.csv\n  rules:\n    - {id: mostly-right, metric: accuracy_with, minimum: 0.6}\n")
	var b strings.Builder
	b.WriteString("case,reviewer,condition,decision,reference,ai_output\n")
	for i := range 40 {
		id := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		decision := "yes"
		if i < 2 {
			decision = "no"
		}
		b.WriteString("case-" + id + ",person-" + id + ",with," + decision + ",yes,yes\n")
	}
	s.put("data/decisions.csv", b.String())
	return s
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (s *step) put(name, text string) {
	s.t.Helper()
	writeFile(s.t, filepath.Join(s.workspace, name), text)
}

// run runs the action with inputs given as name, value, … and returns its exit status.
func (s *step) run(inputs ...string) int {
	s.t.Helper()
	for i := 0; i < len(inputs); i += 2 {
		s.env["INPUT_"+strings.ToUpper(inputs[i])] = inputs[i+1]
	}
	return Main([]string{"action"}, World{
		Stdin: strings.NewReader("not for a step"), Stdout: &s.stdout, Stderr: &s.stderr, Version: "1.0.0", Sleep: noSleep, Now: func() time.Time { return testDay },
		Getenv: func(name string) string { s.asked[name] = true; return s.env[name] },
	})
}

// text is a file of the workspace.
func (s *step) text(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.workspace, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s *step) read(variable string) string {
	s.t.Helper()
	text, err := os.ReadFile(s.env[variable])
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s *step) outputs() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(s.read("GITHUB_OUTPUT")) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		out[name] = value
	}
	return out
}

// check compares what the step came to, and shows both logs where it differs.
func (s *step) check(status, wantStatus int, verdict string) {
	s.t.Helper()
	if got := s.outputs()["verdict"]; status != wantStatus || got != verdict {
		s.t.Errorf("exit %d, verdict %q, want %d, %q\n%s%s", status, got, wantStatus, verdict, &s.stdout, &s.stderr)
	}
}

func TestActionVerdicts(t *testing.T) {
	tests := []struct {
		policy  string
		status  int
		verdict string
		command string // in the log
	}{
		{"pass.yaml", 0, "PASS", ""},
		{"fail.yaml", 1, "FAIL", "::error col=6,file=fail.yaml,line=2,title=FAIL%3A rarely-right::"},
		{"undecided.yaml", 3, "INSUFFICIENT_EVIDENCE", "::warning col=6,file=undecided.yaml,line=2,title=INSUFFICIENT_EVIDENCE%3A nearly-always-right::"},
		{"broken.yaml", 2, "NO_VERDICT", "::error col="},
		{"absent.yaml", 2, "NO_VERDICT", "::error file=absent.yaml,title="},
	}
	for _, test := range tests {
		t.Run(test.policy, func(t *testing.T) {
			s := newStep(t)
			s.check(s.run("policy", test.policy, "decisions", "data/decisions.csv"), test.status, test.verdict)
			if log := s.stdout.String(); strings.Count(log, "\n::") > 1 || !strings.Contains(log, test.command) || test.command == "" && strings.Contains(log, "::") {
				t.Errorf("the log has not just the command %q:\n%s", test.command, log)
			}
			if summary := s.read("GITHUB_STEP_SUMMARY"); !strings.Contains(summary, test.policy) {
				t.Errorf("the summary does not name %s:\n%s", test.policy, summary)
			}
			if all := s.outputs(); all["reporting-problems"] != "[]" || all["report"] != "" {
				t.Errorf("outputs %q", all)
			}
		})
	}
}

// TestActionChoosesTheGate goes through the ways in which policy, decisions and gate go together.
func TestActionChoosesTheGate(t *testing.T) {
	const data = "data/decisions.csv"
	tests := []struct {
		name                    string
		policy, decisions, gate string
		status                  int
		want                    string // in the logs
	}{
		{"bare rules and decisions", "pass.yaml", data, "", 0, ""},
		{"bare rules, decisions, gate", "pass.yaml", data, "human-ai", 0, ""},
		{"bare rules alone", "pass.yaml", "", "", 2, "input decisions is empty, and pass.yaml names no files of its own"},
		{"bare rules and gate", "pass.yaml", "", "human-ai", 2, "input decisions is empty"},
		{"sections alone", "release.yaml", "", "", 0, ""},
		{"sections, one named", "release.yaml", "", "human-ai", 0, ""},
		{"sections, decisions, gate", "release.yaml", "other.csv", "human-ai", 0, ""},
		{"sections and decisions", "release.yaml", data, "", 2, "input decisions is given, but not which section of release.yaml it belongs to"},
		{"no policy", "", data, "", 2, "input policy: it is empty"},
		{"a gate that is none", "pass.yaml", data, "human_ai", 2, `input gate: "human_ai" is not a gate; write one of human-ai`},
		{"several files and a glob", "pass.yaml", "\n data/dec*.csv \r\n\nextra.csv\n", "", 0, "41 "},
		{"standard input", "pass.yaml", "-", "", 2, "standard input cannot be read here"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStep(t)
			one := "case,reviewer,condition,decision,reference,ai_output\nmore,more,with,yes,yes,yes\n"
			s.put("extra.csv", one)
			text, err := os.ReadFile(filepath.Join(s.workspace, data))
			if err != nil {
				t.Fatal(err)
			}
			s.put("other.csv", string(text))
			status := s.run("policy", test.policy, "decisions", test.decisions, "gate", test.gate)
			verdict := "PASS"
			if test.status == 2 {
				verdict = "NO_VERDICT"
			}
			s.check(status, test.status, verdict)
			if log := s.stdout.String() + s.stderr.String(); !strings.Contains(log, test.want) {
				t.Errorf("the log has no %q:\n%s", test.want, log)
			}
		})
	}
	t.Run("the file of the policy that is not read is named", func(t *testing.T) {
		s := newStep(t)
		text, err := os.ReadFile(filepath.Join(s.workspace, data))
		if err != nil {
			t.Fatal(err)
		}
		s.put("other.csv", string(text))
		s.put("data/decisions.csv", "not,decisions\n1,2\n")
		s.check(s.run("policy", "release.yaml", "decisions", "other.csv", "gate", "human-ai", "json", "report.json"), 0, "PASS")
		if got := s.read("GITHUB_STEP_SUMMARY"); !strings.Contains(got, "decisions.csv") || !strings.Contains(got, "not read") {
			t.Errorf("the summary does not say that data/decisions.csv was not read:\n%s", got)
		}
	})
}

func TestActionFailOn(t *testing.T) {
	tests := []struct {
		policy, failOn string
		status         int
		verdict        string
	}{
		{"fail.yaml", "", 1, "FAIL"},
		{"fail.yaml", "none", 0, "FAIL"},
		{"fail.yaml", "insufficient_evidence\nmanual_review", 0, "FAIL"},
		{"fail.yaml", "manual_review, Fail", 1, "FAIL"},
		{"undecided.yaml", "FAIL", 0, "INSUFFICIENT_EVIDENCE"},
		{"undecided.yaml", "FAIL INSUFFICIENT_EVIDENCE", 3, "INSUFFICIENT_EVIDENCE"},
		{"pass.yaml", "PASS", 0, "PASS"},
		{"broken.yaml", "none", 2, "NO_VERDICT"},
		{"pass.yaml", "FAILURE", 2, "NO_VERDICT"},
	}
	for _, test := range tests {
		t.Run(test.policy+" "+test.failOn, func(t *testing.T) {
			s := newStep(t)
			s.check(s.run("policy", test.policy, "decisions", "data/decisions.csv", "fail-on", test.failOn), test.status, test.verdict)
			// Whatever fail-on lists, exit-code tells the verdict's own status.
			want := map[string]string{"PASS": "0", "FAIL": "1", "NO_VERDICT": "2", "INSUFFICIENT_EVIDENCE": "3"}[test.verdict]
			if got := s.outputs()["exit-code"]; got != want {
				t.Errorf("exit-code %q, want %q", got, want)
			}
		})
	}
}

// TestActionBooleans holds the inputs to the booleans of YAML 1.2's core schema.
func TestActionBooleans(t *testing.T) {
	for value, want := range map[string]string{
		"": "true", "true": "true", "True": "true", "TRUE": "true", "false": "false", "False": "false", "FALSE": "false",
		"yes": "error", "no": "error", "1": "error", "on": "error", "tRUE": "error", "t": "error",
	} {
		s := newStep(t)
		status := s.run("policy", "fail.yaml", "decisions", "data/decisions.csv", "summary", value, "annotations", value)
		summary, annotated := s.read("GITHUB_STEP_SUMMARY") != "", strings.Contains(s.stdout.String(), "::error ")
		switch want {
		case "error":
			s.check(status, 2, "NO_VERDICT")
			for _, input := range []string{"summary", "annotations"} {
				if message := "input " + input + `: "` + value + `" is not allowed; write true or false`; !strings.Contains(s.stderr.String(), message) {
					t.Errorf("%q: no message %q in\n%s", value, message, &s.stderr)
				}
			}
		default:
			s.check(status, 1, "FAIL")
			if on := want == "true"; summary != on || annotated != on {
				t.Errorf("%q: summary written %v, annotated %v", value, summary, annotated)
			}
		}
	}
}

// TestActionTellsEveryBadInput checks that a workflow is mended in one go.
func TestActionTellsEveryBadInput(t *testing.T) {
	s := newStep(t)
	status := s.run("policy", "../p.yaml", "decisions", "/etc/passwd\n../../x\nok.csv", "gate", "fair", "working-directory", "data",
		"fail-on", "RED", "summary", "si", "annotations", "0", "json", "../../out.json", "markdown", "/tmp/out.md")
	s.check(status, 2, "NO_VERDICT")
	for _, want := range []string{
		`input decisions: "/etc/passwd" is outside the workspace`, `input decisions: "../../x" leads out of the workspace`,
		`input gate: "fair" is not a gate`, `input fail-on: "RED" is not a verdict`, `input summary: "si"`, `input annotations: "0"`,
		`input json: "../../out.json" leads out of the workspace`, `input markdown: "/tmp/out.md" is outside the workspace`,
	} {
		if !strings.Contains(s.stderr.String(), want) {
			t.Errorf("no %q in\n%s", want, &s.stderr)
		}
	}
	if strings.Contains(s.stderr.String(), "input policy") { // data/../p.yaml is inside
		t.Errorf("a path inside the workspace was refused:\n%s", &s.stderr)
	}
}

func TestActionPaths(t *testing.T) {
	s := newStep(t)
	s.put("study/policy.yaml", "rules:\n  - {id: rarely-right, metric: accuracy_with, maximum: 0.5}\n")
	status := s.run("policy", filepath.Join(s.workspace, "study", "policy.yaml"), "decisions", "../data/decisions.csv",
		"working-directory", "./study/", "json", "out/deep/report.json", "markdown", "out/report.md")
	s.check(status, 1, "FAIL")
	if !strings.Contains(s.stdout.String(), "file=study/policy.yaml,line=2,") {
		t.Errorf("the annotation's file is not relative to the workspace:\n%s", &s.stdout)
	}
	if got := s.outputs()["report"]; got != "study/out/deep/report.json" {
		t.Errorf("output report is %q", got)
	}
	var written report.Report
	text, err := os.ReadFile(filepath.Join(s.workspace, "study/out/deep/report.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &written); err != nil || written.Verdict != report.Fail {
		t.Errorf("the JSON report has verdict %v (%v)", written.Verdict, err)
	}
	if text, err := os.ReadFile(filepath.Join(s.workspace, "study/out/report.md")); err != nil || !strings.Contains(string(text), "rarely-right") {
		t.Errorf("the Markdown report: %q, %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(s.workspace, "study/out")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o777 {
		t.Errorf("a new folder has the mode %v (%v): whoever else cleans the workspace could not", info.Mode(), err)
	}
}

// TestActionReports: an input of each format's name writes the report in it, with places as the repository has them.
func TestActionReports(t *testing.T) {
	s := newStep(t)
	s.put("study/policy.yaml", "rules:\n  - {id: rarely-right, metric: accuracy_with, maximum: 0.5}\n")
	args := []string{"policy", "study/policy.yaml", "decisions", "data/decisions.csv", "path-prefix", "sub/"}
	for _, f := range reportFormats() {
		args = append(args, f.Name, "out/report."+f.Name)
	}
	s.check(s.run(args...), 1, "FAIL")
	text := func(name string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(s.workspace, "out/report."+name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	r, err := report.Parse([]byte(text("json")))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range reportFormats() {
		var want bytes.Buffer
		options := plain
		options.FailOn = report.DefaultFailOn()
		options.Repository = func(file string) string { return "sub/" + file }
		if err := f.Write(&want, r, options); err != nil {
			t.Fatal(err)
		}
		if got := text(f.Name); got != want.String() {
			t.Errorf("%s:\n%s\nwant\n%s", f.Name, got, &want)
		}
	}
	for name, want := range map[string]string{"sarif": `"uri": "sub/study/policy.yaml"`, "codequality": `"path": "sub/study/policy.yaml"`, "dotenv": "OLOPROOF_VERDICT=FAIL\n"} {
		if !strings.Contains(text(name), want) {
			t.Errorf("%s has no %s:\n%s", name, want, text(name))
		}
	}

	// Two formats do not go to one file, and beside from-report there is nothing to write.
	s = newStep(t)
	s.check(s.run("policy", "pass.yaml", "decisions", "data/decisions.csv", "junit", "out/x", "sarif", "./out/x"), 2, "NO_VERDICT")
	if want := `input sarif: "out/x" is the file of input junit; give it a path of its own`; !strings.Contains(s.stderr.String(), want) {
		t.Errorf("no %q in\n%s", want, &s.stderr)
	}
	s = newStep(t)
	s.check(s.run("from-report", "report.json", "sarif", "out/x"), 2, "NO_VERDICT")
	if want := "with it nothing is decided, and sarif would be for a step that decides"; !strings.Contains(s.stderr.String(), want) {
		t.Errorf("no %q in\n%s", want, &s.stderr)
	}
}

// TestActionStaysInside tries to read and write outside the workspace by every way there is.
func TestActionStaysInside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows, and container actions run on Linux only")
	}
	const secret = "s3cret-outside"
	outside := t.TempDir()
	writeFile(t, filepath.Join(outside, "policy.yaml"), "rules: "+secret+"\n")
	writeFile(t, filepath.Join(outside, "decisions.csv"), secret+"\n")
	tests := []struct{ name, policy, decisions, json string }{
		{"policy by a link", "link/policy.yaml", "data/decisions.csv", ""},
		{"policy by a link to a file", "policy-link.yaml", "data/decisions.csv", ""},
		{"decisions by a link", "pass.yaml", "link/decisions.csv", ""},
		{"decisions by a glob over a link", "pass.yaml", "link/*.csv", ""},
		{"decisions by a path outside", "pass.yaml", filepath.Join(outside, "decisions.csv"), ""},
		{"decisions by dots", "pass.yaml", "data/../../decisions.csv", ""},
		{"/proc", "pass.yaml", "/proc/self/environ", ""},
		{"/proc by a link", "pass.yaml", "environ", ""},
		{"the policy's own path", "release-out.yaml", "", ""},
		{"the policy's own absolute path", "release-abs.yaml", "", ""},
		{"a report by a link", "pass.yaml", "data/decisions.csv", "link/report.json"},
		{"a report by a dangling link", "pass.yaml", "data/decisions.csv", "dangling.json"},
		{"a folder as report", "pass.yaml", "data/decisions.csv", "data"},
		{"a report below a file", "pass.yaml", "data/decisions.csv", "pass.yaml/report.json"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStep(t)
			for link, to := range map[string]string{
				"link": outside, "policy-link.yaml": filepath.Join(outside, "policy.yaml"), "environ": "/proc/self/environ",
				"dangling.json": filepath.Join(outside, "new.json"),
			} {
				if err := os.Symlink(to, filepath.Join(s.workspace, link)); err != nil {
					t.Fatal(err)
				}
			}
			rules := "  rules:\n    - {id: a, metric: accuracy_with, minimum: 0.6}\n"
			s.put("release-out.yaml", "human_ai:\n  decisions: ../decisions.csv\n"+rules)
			s.put("release-abs.yaml", "human_ai:\n  decisions: "+filepath.Join(outside, "decisions.csv")+"\n"+rules)
			s.check(s.run("policy", test.policy, "decisions", test.decisions, "json", test.json), 2, "NO_VERDICT")
			if all := s.stdout.String() + s.stderr.String() + s.read("GITHUB_STEP_SUMMARY"); strings.Contains(all, secret) {
				t.Errorf("what lies outside is shown:\n%s", all)
			}
			entries, err := os.ReadDir(outside)
			if err != nil || len(entries) != 2 {
				t.Errorf("outside now has %v (%v)", entries, err)
			}
		})
	}
	t.Run("a link inside is followed", func(t *testing.T) {
		s := newStep(t)
		if err := os.Symlink("data/decisions.csv", filepath.Join(s.workspace, "inside.csv")); err != nil {
			t.Fatal(err)
		}
		s.check(s.run("policy", "pass.yaml", "decisions", "inside.csv"), 0, "PASS")
	})
}

// TestActionReportingProblems checks that nothing that goes wrong with reporting changes the verdict.
func TestActionReportingProblems(t *testing.T) {
	s := newStep(t)
	s.env["GITHUB_STEP_SUMMARY"] = filepath.Join(s.runner, "absent", "summary")
	s.check(s.run("policy", "undecided.yaml", "decisions", "data/decisions.csv"), 3, "INSUFFICIENT_EVIDENCE")
	if got := s.outputs()["reporting-problems"]; !strings.Contains(got, "job summary: GITHUB_STEP_SUMMARY") {
		t.Errorf("reporting-problems is %s", got)
	}
	if !strings.Contains(s.stdout.String(), "::warning title=Oloproof could not report everything::") {
		t.Errorf("no warning in\n%s", &s.stdout)
	}
}

func TestActionOutsideOfARunner(t *testing.T) {
	s := newStep(t)
	s.env = map[string]string{}
	if status := s.run("policy", "pass.yaml", "decisions", "data/decisions.csv"); status != 2 || !strings.Contains(s.stderr.String(), "GITHUB_WORKSPACE is not set") {
		t.Errorf("exit %d:\n%s%s", status, &s.stdout, &s.stderr)
	}
}

// TestActionLogIsNoCommandChannel puts commands into every text that a policy and its data can bring in.
func TestActionLogIsNoCommandChannel(t *testing.T) {
	s := newStep(t)
	s.put("hostile.yaml", `rules:
  - {id: "::stop-commands::t", metric: accuracy_with, maximum: 0.5}
  - {id: "x ##[add-mask]a", metric: accuracy_with, maximum: 0.5}
  - {id: "##vso[task.complete]", metric: accuracy_with, maximum: 0.5}
  - {id: "y\r\n::set-output name=verdict::PASS", metric: accuracy_with, maximum: 0.5}
  - {id: "z\nverdict=PASS", metric: accuracy_with, maximum: 0.5}
`)
	s.put("::error::file.csv", "case,reviewer,condition,decision,reference,ai_output\n::error::a,##[error]b,with,\"::error::\",\"\r##[error]\",x\n")
	status := s.run("policy", "hostile.yaml", "decisions", "data/decisions.csv\n::error::file.csv", "json", "report.json", "markdown", "report.md")
	if got := s.outputs()["verdict"]; got == "PASS" || status == 0 {
		t.Errorf("exit %d, verdict %q", status, got)
	}
	for line := range strings.Lines(s.stdout.String() + s.stderr.String()) {
		trimmed := strings.TrimSpace(line)
		ours := strings.HasPrefix(trimmed, "::error ") || strings.HasPrefix(trimmed, "::warning ") || strings.HasPrefix(trimmed, "::notice ")
		if strings.HasPrefix(trimmed, "::") && !ours || strings.Contains(line, "##[") || strings.Contains(line, "##vso[") || strings.Contains(strings.TrimSuffix(line, "\n"), "\r") {
			t.Errorf("the log has the line %q", line)
		}
	}
}

// TestActionFile holds action.yml to the code: the inputs that are declared are those that are asked for,
// with the defaults that hold where nothing is given; the outputs declared are those that are set.
func TestActionFile(t *testing.T) {
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Name, Description string
		Inputs            map[string]struct{ Description, Default string }
		Outputs           map[string]struct{ Description string }
		Runs              map[string]string
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if n := len(file.Description); n == 0 || n >= 125 { // the Marketplace refuses 125 characters and more
		t.Errorf("the description has %d characters", n)
	}
	// Inputs reach the program by the environment alone, through no shell, and no other action runs inside this one.
	if diff := cmp.Diff([]string{"image", "using"}, slices.Sorted(maps.Keys(file.Runs))); diff != "" || file.Runs["using"] != "docker" {
		t.Errorf("runs: %q", file.Runs)
	}

	withDefaults, without := newStep(t), newStep(t)
	for name, input := range file.Inputs {
		withDefaults.env["INPUT_"+strings.ToUpper(name)] = input.Default
		if input.Description == "" {
			t.Errorf("input %s has no description", name)
		}
	}
	for _, s := range []*step{withDefaults, without} {
		s.check(s.run("policy", "undecided.yaml", "decisions", "data/decisions.csv"), 3, "INSUFFICIENT_EVIDENCE")
	}
	if diff := cmp.Diff(without.outputs(), withDefaults.outputs()); diff != "" {
		t.Errorf("outputs without inputs, and with their defaults:\n%s", diff)
	}
	if diff := cmp.Diff(without.stdout.String()+without.read("GITHUB_STEP_SUMMARY"), withDefaults.stdout.String()+withDefaults.read("GITHUB_STEP_SUMMARY")); diff != "" {
		t.Errorf("the log and the summary without inputs, and with their defaults:\n%s", diff)
	}
	var asked []string
	for name := range without.asked {
		if input, ok := strings.CutPrefix(name, "INPUT_"); ok {
			asked = append(asked, strings.ToLower(input))
		}
	}
	slices.Sort(asked)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(file.Inputs)), asked); diff != "" {
		t.Errorf("inputs declared (-) and read (+):\n%s", diff)
	}

	page, err := os.ReadFile("../../docs/action.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(file.Inputs)), tableNames(t, string(page), "inputs")); diff != "" {
		t.Errorf("inputs declared (-) and in docs/action.md (+):\n%s", diff)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(file.Outputs)), tableNames(t, string(page), "outputs")); diff != "" {
		t.Errorf("outputs declared (-) and in docs/action.md (+):\n%s", diff)
	}

	set := map[string]string{}
	s, _ := pullRequest(t, "fail.yaml")
	s.run("json", "report.json", "comment", "always")
	maps.Copy(set, s.outputs())
	s = newStep(t).onGitHub(newGitHub(t)).event("schedule", map[string]any{})
	s.run("policy", "fail.yaml", "decisions", "data/decisions.csv", "issue", "problems")
	maps.Copy(set, s.outputs())
	if diff := cmp.Diff(slices.Sorted(maps.Keys(file.Outputs)), slices.Sorted(maps.Keys(set))); diff != "" {
		t.Errorf("outputs declared (-) and set (+):\n%s", diff)
	}
}

// tableNames returns the names in the first column of a marked table of a page, sorted.
func tableNames(t *testing.T, page, table string) []string {
	t.Helper()
	_, after, found := strings.Cut(page, "<!-- table: "+table+" -->\n\n")
	if !found {
		t.Fatalf("docs/action.md has no table marked %q", table)
	}
	rows, _, _ := strings.Cut(after, "\n\n")
	var names []string
	for _, row := range strings.Split(rows, "\n")[2:] { // below the header and its line
		name, _, found := strings.Cut(strings.TrimPrefix(row, "| `"), "` |")
		if !found {
			t.Errorf("the table %s has the row %q without a name", table, row)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestActionReportPlaces: a report takes the place of no file that the run read, under whatever name, and two reports do
// not go to one file.
func TestActionReportPlaces(t *testing.T) {
	for _, place := range []string{"pass.yaml", "./data/decisions.csv", "linked/decisions.csv", "hard.yaml"} {
		s := newStep(t)
		if err := errors.Join(os.Symlink("data", filepath.Join(s.workspace, "linked")),
			os.Link(filepath.Join(s.workspace, "pass.yaml"), filepath.Join(s.workspace, "hard.yaml"))); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(filepath.Join(s.workspace, place))
		if err != nil {
			t.Fatal(err)
		}
		s.check(s.run("policy", "pass.yaml", "decisions", "data/decisions.csv", "json", place), 0, "PASS")
		after, err := os.ReadFile(filepath.Join(s.workspace, place))
		if err != nil || string(after) != string(before) {
			t.Errorf("%s: %v, now %.40q", place, err, after)
		}
		if out := s.outputs(); !strings.Contains(out["reporting-problems"], "(input json): the run read this file") || out["report"] != "" {
			t.Errorf("%s: outputs %q", place, out)
		}
	}
	s := newStep(t)
	if err := os.Symlink("data", filepath.Join(s.workspace, "linked")); err != nil {
		t.Fatal(err)
	}
	s.check(s.run("policy", "pass.yaml", "decisions", "data/decisions.csv", "json", "data/report", "markdown", "linked/report"), 2, "NO_VERDICT")
	if !strings.Contains(s.stderr.String(), `input json: "data/report" is the file of input markdown; give it a path of its own`) {
		t.Errorf("the problem is not told\n%s", &s.stderr)
	}
	// A policy that cannot be used is no place for the report either.
	s = newStep(t)
	s.check(s.run("policy", "pass.yaml", "json", "pass.yaml"), 2, "NO_VERDICT")
	if text, err := os.ReadFile(filepath.Join(s.workspace, "pass.yaml")); err != nil || !strings.HasPrefix(string(text), "rules:") {
		t.Errorf("%v, now %.40q", err, text)
	}
}

// TestActionReportsAreWhole: an older report is there as it was until the new one takes its place at once, with its mode, and nothing
// else comes into being, also where a report cannot be written.
func TestActionReportsAreWhole(t *testing.T) {
	s := newStep(t)
	s.put("out/report.json", "older")
	place := filepath.Join(s.workspace, "out/report.json")
	if err := os.Chmod(place, 0o600); err != nil {
		t.Fatal(err)
	}
	older, err := os.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	defer older.Close()
	s.check(s.run("policy", "pass.yaml", "decisions", "data/decisions.csv", "json", "out/report.json", "markdown", "out/new.md"), 0, "PASS")
	// Who has the older one open still reads all of it: nothing was written into it.
	if text, err := io.ReadAll(older); err != nil || string(text) != "older" {
		t.Errorf("the older report is %q: %v", text, err)
	}
	if err := validate(reportSchema(t), []byte(s.text("out/report.json"))); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(place)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, mode %v", err, info.Mode())
	}
	if list := names(t, filepath.Join(s.workspace, "out")); !slices.Equal(list, []string{"new.md", "report.json"}) {
		t.Errorf("the folder holds %q", list)
	}
	// A path that cannot be written is told before anything is decided, and leaves nothing.
	s = newStep(t)
	s.put("out", "a file")
	s.check(s.run("policy", "pass.yaml", "decisions", "data/decisions.csv", "json", "report.json", "markdown", "out/new.md"), 2, "NO_VERDICT")
	if list := names(t, s.workspace); slices.ContainsFunc(list, func(name string) bool { return strings.HasPrefix(name, ".oloproof") }) {
		t.Errorf("the workspace holds %q", list)
	}
}

// TestActionTallies decides tallies in place of files: of bare rules, and of the sections of a release file that they belong to.
func TestActionTallies(t *testing.T) {
	const declared = "attributes: {sex: [f, m]}\nmin_cell: 1\nrules: [{id: a, rate: error, attribute: sex, max_group_gap: 0.5}]\n"
	const trials = "baseline: old\ncandidate: new\nrules: [{id: a, metric: sign_test}]\n"
	cases := caseRows("label,prediction,sex", 200, "1,1,f", 200, "1,1,m")
	fair := mustCount(t, fairnessGate(), folder("policy.yaml", declared, "c.csv", cases), "c.csv")
	compared := mustCount(t, kinds.Lookup("compare"), folder("policy.yaml", trials, "t.csv", "version,case,passed\nold,a,1\nnew,a,1\n"), "t.csv")
	for _, test := range []struct {
		inputs  []string
		status  int
		verdict string
		told    string
	}{
		{[]string{"policy", "fairness.yaml", "tally", "part.json"}, 0, "PASS", ""},
		{[]string{"policy", "fairness.yaml", "tally", "par*.json\n"}, 0, "PASS", ""},
		{[]string{"policy", "trials.yaml", "gate", "compare", "tally", "trials.json"}, 3, "INSUFFICIENT_EVIDENCE", ""},
		{[]string{"policy", "release.yaml", "tally", "part.json\ntrials.json"}, 3, "INSUFFICIENT_EVIDENCE", ""},
		{[]string{"policy", "fairness.yaml", "tally", "trials.json"}, 2, "NO_VERDICT", "the tally is of compare, and what is decided is fairness"},
		{[]string{"policy", "fairness.yaml", "tally", "part.json", "decisions", "c.csv"}, 2, "NO_VERDICT", "input tally: it takes the place of files of rows, and decisions names some"},
		{[]string{"policy", "fairness.yaml", "tally", "../part.json"}, 2, "NO_VERDICT", "leads out of the workspace"},
	} {
		s := newStep(t)
		s.put("fairness.yaml", declared)
		s.put("trials.yaml", trials)
		s.put("release.yaml", "fairness:\n  "+strings.ReplaceAll(strings.TrimSpace(declared), "\n", "\n  ")+"\ncompare:\n  "+strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(trials, "id: a", "id: b")), "\n", "\n  ")+"\n")
		s.put("c.csv", cases)
		s.put("part.json", fair)
		s.put("trials.json", compared)
		s.check(s.run(test.inputs...), test.status, test.verdict)
		if log := s.stdout.String() + s.stderr.String(); !strings.Contains(log, test.told) {
			t.Errorf("%q: the log does not say %q:\n%s", test.inputs, test.told, log)
		}
	}
}
