package ci

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
)

// agentCommand is a logging command as Azure's agent understands it.
type agentCommand struct {
	area, event string
	properties  map[string]string
	data        string
}

// agentCommands reads a log as azure-pipelines-agent v4 does (Command.cs: TryParse), line by line; a carriage return
// ends a line as well. The agent looks for the prefix by the rules of a language, in which format characters count for
// nothing.
func agentCommands(log string) (commands []agentCommand) {
	for line := range strings.SplitSeq(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(log), "\n") {
		seen := strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) {
				return -1
			}
			return r
		}, line)
		_, rest, found := strings.Cut(seen, "##vso[")
		info, data, ended := strings.Cut(rest, "]")
		if !found || !ended {
			continue
		}
		name, properties, _ := strings.Cut(info, " ")
		parts := slices.DeleteFunc(strings.Split(name, "."), func(s string) bool { return s == "" })
		if len(parts) != 2 {
			continue
		}
		c := agentCommand{area: parts[0], event: parts[1], properties: map[string]string{}, data: agentUnescape(data)}
		for property := range strings.SplitSeq(properties, ";") {
			key, value, _ := strings.Cut(strings.TrimLeft(property, "="), "=") // the agent drops empty parts
			if value = strings.TrimLeft(value, "="); key != "" && value != "" {
				c.properties[strings.ToLower(key)] = agentUnescape(value)
			}
		}
		commands = append(commands, c)
	}
	return commands
}

// agentUnescape is the agent's CommandStringConvertor.Unescape: one replacement after the other, the percent last.
func agentUnescape(s string) string {
	for _, m := range [][2]string{{"%3B", ";"}, {"%0D", "\r"}, {"%0A", "\n"}, {"%5D", "]"}, {"%AZP25", "%"}} {
		s = strings.ReplaceAll(s, m[0], m[1])
	}
	return s
}

// TestAgentFollowed holds the reader above to the agent's own tests (CommandL0.cs) and its document on percent signs.
func TestAgentFollowed(t *testing.T) {
	for line, want := range map[string]agentCommand{
		"##vso[area.event k1=v1;k2=v2;]msg":            {"area", "event", map[string]string{"k1": "v1", "k2": "v2"}, "msg"},
		"##vso[area.event]":                            {"area", "event", map[string]string{}, ""},
		"##vso[area.event k1=%3B=%0D=%0A=%5D]%3B":      {"area", "event", map[string]string{"k1": ";=\r=\n=]"}, ";"},
		"##vso[area.event k1=;k2=;]":                   {"area", "event", map[string]string{}, ""},
		"##vso[area.event k1]":                         {"area", "event", map[string]string{}, ""},
		"text ##vso[area.event K1=a;k1=b]%AZP253B":     {"area", "event", map[string]string{"k1": "b"}, "%3B"},
		"##vso[area.event variable=test%AZP25]a%AZP25": {"area", "event", map[string]string{"variable": "test%"}, "a%"},
	} {
		got := agentCommands(line)
		if len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(want) {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

// agent is an Azure agent's job: its variables and its log.
type agent struct {
	env map[string]string
	log bytes.Buffer
}

func newAgent(t *testing.T) *agent {
	t.Helper()
	return &agent{env: map[string]string{"TF_BUILD": "True", "AGENT_TEMPDIRECTORY": t.TempDir(), "BUILD_SOURCESDIRECTORY": "/a/s"}}
}

func (a *agent) world() World { return World{Getenv: environment(a.env), Log: &a.log, Dir: "/a/s"} }

// variables are the output variables that the agent would set.
func (a *agent) variables(t failer) map[string]string {
	t.Helper()
	set := map[string]string{}
	for _, c := range agentCommands(a.log.String()) {
		if c.event == "setvariable" {
			if c.properties["isoutput"] != "true" {
				t.Fatalf("%v is no output", c)
			}
			set[c.properties["variable"]] = c.data
		}
	}
	return set
}

func TestAzure(t *testing.T) {
	variables := func(values ...string) string {
		names := []string{"passed", "failed", "insufficient_evidence", "manual_review", "failing_rules", "reporting_problems", "exit_code", "verdict"}
		var b strings.Builder
		for i, name := range names {
			fmt.Fprintf(&b, "##vso[task.setvariable variable=oloproof_%s;isoutput=true;]%s\n", name, values[i])
		}
		return b.String()
	}
	issue := func(level string, line, column int, file, code, message string) string {
		return fmt.Sprintf("##vso[task.logissue type=%s;sourcepath=%s;linenumber=%d;columnnumber=%d;code=%s;]%s\n", level, filepath.FromSlash(file), line, column, code, message)
	}
	with := "##vso[task.complete result=SucceededWithIssues;]Oloproof: FAIL\n"
	everyValue := variables("1", "1", "1", "2", `["never","thin","seen","seen-before"%5D`, "[%5D", "1", "FAIL")
	everyIssue := issue("error", 7, 5, "/a/s/policy.yaml", "FAIL: never", "The reason of never. Measured: 0.250, interval 0.125 … 0.375%3B must be ≥ 0.5. What would decide it: about 34 more people.") +
		issue("warning", 11, 5, "/a/s/policy.yaml", "INSUFFICIENT_EVIDENCE: thin", "The reason of thin.") +
		issue("warning", 23, 5, "/a/s/policy.yaml", "MANUAL_REVIEW: seen-before", "The reason of seen-before.")
	tests := []struct {
		name   string
		d      Delivery
		status int
		want   string
	}{
		{"every verdict", Delivery{Report: everyVerdict(), Annotations: true}, report.ExitFail, everyValue + everyIssue},
		{"every verdict, none listed in fail-on", Delivery{Report: everyVerdict(), Annotations: true, FailOn: report.FailOn{}}, report.ExitPass, everyValue + everyIssue + with},
		{"no issues wanted", Delivery{Report: everyVerdict(), FailOn: report.FailOn{}}, report.ExitPass, everyValue + with},
		{"passed", Delivery{Report: decided(rule("fine", report.Pass)), Annotations: true}, report.ExitPass,
			variables("1", "0", "0", "0", "[%5D", "[%5D", "0", "PASS")},
		{"unusable", Delivery{Report: unusable(), Annotations: true, PolicyFile: "policies/policy.yaml"}, report.ExitUnusable,
			variables("0", "0", "0", "0", "[%5D", "[%5D", "2", "NO_VERDICT") +
				issue("error", 6, 5, "/a/s/policies/policy.yaml", "Oloproof: nothing was decided", `unknown key "minimun"%3B did you mean "minimum"?`) +
				issue("error", 14, 23, "/a/s/decisions.csv", "Oloproof: nothing was decided", `condition is "wihout"%3B write "with" or "without"`) +
				"##vso[task.logissue type=error;]Oloproof: nothing was decided: no gate is named\n" +
				"##vso[task.logissue type=error;]Oloproof: nothing was decided: 7 more problems were found\n"},
		{"a problem met before", Delivery{Report: decided(rule("fine", report.Pass)), Problems: []string{"report.json: 100% full\nreally"}}, report.ExitPass,
			variables("1", "0", "0", "0", "[%5D", `["report.json: 100%AZP25 full\nreally"%5D`, "0", "PASS") +
				"##vso[task.logissue type=warning;]Oloproof could not report everything: The verdict stands. report.json: 100%AZP25 full%0Areally\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := newAgent(t)
			if problems := Deliver(PlatformAzure, test.d, test.status, a.world()); !slices.Equal(problems, test.d.Problems) {
				t.Errorf("problems %q, want %q", problems, test.d.Problems)
			}
			if diff := cmp.Diff(test.want, a.log.String()); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAzureWithIssues: yellow says that someone is needed, which is so whatever fail-on lists, and not where a person
// has reviewed what there was to review.
func TestAzureWithIssues(t *testing.T) {
	reviewed, stale := rule("seen", report.ManualReview), rule("seen", report.ManualReview)
	reviewed.Reviewed, stale.Reviewed = &report.Reviewed{By: "R", Valid: true}, &report.Reviewed{By: "R"}
	advisory := rule("watched", report.Fail)
	advisory.Advisory = true
	fine := rule("fine", report.Pass)
	tests := []struct {
		name   string
		rules  []report.Rule
		status int
		want   bool
	}{
		{"undecided, tolerated", []report.Rule{fine, rule("thin", report.InsufficientEvidence)}, 0, true},
		{"failed, tolerated", []report.Rule{rule("never", report.Fail)}, 0, true},
		{"undecided, and the step fails", []report.Rule{rule("thin", report.InsufficientEvidence)}, 3, false},
		{"passed", []report.Rule{fine}, 0, false},
		{"advisory", []report.Rule{fine, advisory}, 0, false},
		{"reviewed", []report.Rule{fine, reviewed}, 0, false},
		{"reviewed on other data", []report.Rule{fine, stale}, 0, true},
	}
	for _, test := range tests {
		a := newAgent(t)
		Deliver(PlatformAzure, Delivery{Report: decided(test.rules...)}, test.status, a.world())
		var results []string
		for _, c := range agentCommands(a.log.String()) {
			if c.event == "complete" {
				results = append(results, c.properties["result"])
			}
		}
		want := []string(nil)
		if test.want {
			want = []string{"SucceededWithIssues"}
		}
		if !slices.Equal(results, want) {
			t.Errorf("%s: results %q, want %q", test.name, results, want)
		}
	}
}

// TestAzureOutputsAreTheActions: the same values as in GitHub's output file, under Azure's names.
func TestAzureOutputsAreTheActions(t *testing.T) {
	for _, rep := range []*report.Report{everyVerdict(), unusable(), decided(rule("fine", report.Pass))} {
		d := Delivery{Report: rep, ReportFile: "out/report.json"}
		r, a := newRunner(t), newAgent(t)
		GitHub(d, r.getenv, &r.log)
		Deliver(PlatformAzure, d, rep.ExitStatus, a.world())
		want := map[string]string{}
		for name, value := range r.outputs(t) {
			if name == OutputPolicyLoosened { // no policies are compared there
				continue
			}
			want["oloproof_"+strings.ReplaceAll(name, "-", "_")] = value
		}
		if diff := cmp.Diff(want, a.variables(t)); diff != "" {
			t.Errorf("variables (-GitHub's +Azure's):\n%s", diff)
		}
	}
}

// uploaded is the file that the log hands to the agent as a summary, "" for none.
func (a *agent) uploaded() string {
	for _, c := range agentCommands(a.log.String()) {
		if c.event == "uploadsummary" {
			return c.data
		}
	}
	return ""
}

func TestAzureSummary(t *testing.T) {
	a := newAgent(t)
	var paths []string
	for _, rep := range []*report.Report{everyVerdict(), unusable()} { // two steps of one job
		a.log.Reset()
		if problems := Deliver(PlatformAzure, Delivery{Report: rep, Summary: true}, rep.ExitStatus, a.world()); len(problems) > 0 {
			t.Errorf("problems %q", problems)
		}
		path := a.uploaded()
		text, err := os.ReadFile(path)
		if err != nil || !filepath.IsAbs(path) || filepath.Base(path) != "Oloproof.md" {
			t.Fatalf("the summary is %q: %v", path, err)
		}
		if want := map[bool]string{true: "never", false: "minimun"}[len(paths) == 0]; !strings.Contains(string(text), want) {
			t.Errorf("the summary has no %q:\n%s", want, text)
		}
		paths = append(paths, path)
	}
	if paths[0] == paths[1] {
		t.Errorf("two steps write to one file, %s", paths[0])
	}
}

// TestAzureFailures breaks one channel after the other: the rest still works, and the problem is said on what is left.
func TestAzureFailures(t *testing.T) {
	tests := []struct {
		name, temp, want string
	}{
		{"no folder named", "", "summary: AGENT_TEMPDIRECTORY is not set"},
		{"a relative folder", "temp", "summary: AGENT_TEMPDIRECTORY is not an absolute path"},
		{"a folder that is not there", filepath.Join(t.TempDir(), "gone"), "summary: AGENT_TEMPDIRECTORY: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := newAgent(t)
			a.env["AGENT_TEMPDIRECTORY"] = test.temp
			d := Delivery{Report: everyVerdict(), Summary: true, Annotations: true}
			problems := Deliver(PlatformAzure, d, report.ExitFail, a.world())
			if len(problems) != 1 || !strings.HasPrefix(problems[0], test.want) {
				t.Errorf("problems %q, want one that begins %q", problems, test.want)
			}
			if a.uploaded() != "" {
				t.Errorf("the agent is sent after %q, and would fail the step", a.uploaded())
			}
			got := a.variables(t)
			if got["oloproof_verdict"] != "FAIL" || !strings.Contains(got["oloproof_reporting_problems"], test.want) {
				t.Errorf("variables %q", got)
			}
			if !strings.Contains(a.log.String(), "##vso[task.logissue type=warning;]Oloproof could not report everything: The verdict stands.") {
				t.Errorf("no warning in the log:\n%s", &a.log)
			}
		})
	}
	w := newAgent(t).world()
	w.Log = &failing{}
	problems := Deliver(PlatformAzure, Delivery{Report: everyVerdict()}, report.ExitFail, w)
	if len(problems) != 1 || problems[0] != "commands: no space left" {
		t.Errorf("a full log: problems %q", problems)
	}
}

// TestAzureManyIssues: none is lost without a word. In the folded one the line of rule-99 has 55 bytes, and those of later
// rules have 57: 3,900 bytes hold 1 + 67 of them.
func TestAzureManyIssues(t *testing.T) {
	for n, wantLast := range map[int]string{100: "FAIL: rule-99", 101: "Oloproof: 2 more", 1000: "Oloproof: 68 more"} {
		var rules []report.Rule
		for i := range n {
			rules = append(rules, rule(fmt.Sprintf("rule-%d", i), report.Fail))
		}
		a := newAgent(t)
		problems := Deliver(PlatformAzure, Delivery{Report: decided(rules...), Annotations: true}, report.ExitFail, a.world())
		var codes []string
		for _, c := range agentCommands(a.log.String()) {
			if c.event == "logissue" && c.properties["type"] == "error" {
				codes = append(codes, c.properties["code"])
			}
		}
		if len(codes) != 100 || codes[99] != wantLast {
			t.Errorf("%d rules: %d errors, the last is %q, want %q", n, len(codes), codes[len(codes)-1], wantLast)
		}
		if len(problems) > 0 {
			t.Errorf("%d rules: problems %q", n, problems)
		}
	}
}

// TestAzureVariablesStartTheNextStep: a list that is longer than an environment variable may be (32,767 characters on
// Windows) would keep every later step of the job from starting.
func TestAzureVariablesStartTheNextStep(t *testing.T) {
	var rules []report.Rule
	for i := range 1000 {
		rules = append(rules, rule(fmt.Sprintf("%0100d", i), report.Fail)) // 1,000 × 103 bytes of JSON
	}
	a := newAgent(t)
	problems := Deliver(PlatformAzure, Delivery{Report: decided(rules...)}, report.ExitFail, a.world())
	var listed []string
	list := a.variables(t)["oloproof_failing_rules"]
	if err := json.Unmarshal([]byte(list), &listed); err != nil {
		t.Fatal(err)
	}
	// Each item has 100 digits, two quotes and a comma: (30,000 - 2) / 103 rounded down, or one less.
	if n := len(listed); len(list) > 32_767 || n != 291 && n != 290 {
		t.Errorf("%d rules in %d bytes", n, len(list))
	}
	if want := fmt.Sprintf("variable oloproof_failing_rules: holds the first %d of 1000 rules", len(listed)); len(problems) != 1 || problems[0] != want {
		t.Errorf("problems %q, want %q", problems, want)
	}
}

// TestAzureMacros: Azure puts a variable in place of $(name) in a value that goes to another job.
func TestAzureMacros(t *testing.T) {
	a := newAgent(t)
	d := Delivery{Report: decided(rule("$(secret)", report.Fail)), ReportFile: "$(secret).json", Problems: []string{"$(secret)"}}
	problems := Deliver(PlatformAzure, d, report.ExitFail, a.world())
	got := a.variables(t)
	for name, value := range got {
		if strings.Contains(value, "$(") {
			t.Errorf("%s is %s", name, value)
		}
	}
	if got["oloproof_failing_rules"] != `["\u0024(secret)"]` {
		t.Errorf("failing rules: %s", got["oloproof_failing_rules"])
	}
	if _, set := got["oloproof_report"]; set || !hasProblem(problems, "variable oloproof_report") {
		t.Errorf("the report is %q, problems %q", got["oloproof_report"], problems)
	}
}

// TestAzureFolder: places are absolute, whichever folder of the repository the run is in.
func TestAzureFolder(t *testing.T) {
	for _, test := range []struct{ sources, dir, want string }{
		{"/a/s", "/a/s/models/new", "/a/s/models/new/policy.yaml"},
		{"", "/a/s/models", "/a/s/models/policy.yaml"},
		{"/a/s", "", "/a/s/policy.yaml"},
		{"/a/s", "/elsewhere", ""},
		{"", "", "policy.yaml"},
	} {
		a := newAgent(t)
		a.env["BUILD_SOURCESDIRECTORY"] = test.sources
		w := a.world()
		w.Dir = test.dir
		Deliver(PlatformAzure, Delivery{Report: everyVerdict(), Annotations: true}, report.ExitFail, w)
		for _, c := range agentCommands(a.log.String()) {
			if got := filepath.ToSlash(c.properties["sourcepath"]); c.event == "logissue" && got != test.want {
				t.Errorf("%+v: sourcepath %q", test, got)
			}
		}
	}
}

// hostileText draws what could break out of a command, and anything else.
func hostileText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"##vso[task.complete result=Succeeded;]", "]##vso[task.setvariable variable=oloproof_verdict;isoutput=true]PASS", "a;sourcepath=/etc/passwd",
		"a\n##vso[task.logissue]b", "a\r##vso[task.debug]b", "%5D", "%3B", "%0A", "%AZP25", "%AZP255D", "%AZP25AZP250A", "=", "==x", "$(secret)", "#\u200b#vso[a.b]",
		strings.Repeat("é", 5000), "-", "../x", "./a;b].yaml", "a=b;type=warning",
	}))
}

// TestAzureHoldsAnything: whatever the texts are, the agent reads the commands that were meant, with the properties
// that were meant.
func TestAzureHoldsAnything(t *testing.T) {
	text := hostileText()
	levels := rapid.SampledFrom(append([]report.Verdict{report.NoVerdict}, report.Verdicts...))
	rapid.Check(t, func(t *rapid.T) {
		r := report.New("1")
		var rules []report.Rule
		for range rapid.IntRange(0, 6).Draw(t, "rules") {
			rules = append(rules, report.Rule{
				ID: text.Draw(t, "id"), Verdict: levels.Draw(t, "verdict"), Reason: text.Draw(t, "reason"), Advisory: rapid.Bool().Draw(t, "advisory"),
				Position: diag.Pos{File: text.Draw(t, "file"), Line: rapid.IntRange(0, 3).Draw(t, "line"), Column: rapid.IntRange(0, 3).Draw(t, "column")},
			})
		}
		r.Gates = []report.Gate{{Rules: rules}}
		r.Decide()
		for range rapid.IntRange(0, 3).Draw(t, "errors") {
			r.Errors = append(r.Errors, report.Problem{File: text.Draw(t, "error's file"), Message: text.Draw(t, "message")})
		}
		checkAzureCommands(t, Delivery{Report: r, Annotations: true, ReportFile: text.Draw(t, "report"), Problems: rapid.SliceOfN(text, 0, 2).Draw(t, "problems")})
	})
}

func FuzzAzure(f *testing.F) {
	f.Add("]##vso[task.complete result=Failed;]", "a;b=c", "policy%5D.yaml")
	f.Add("%AZP250A##vso[a.b]", "\r\n", "=;=")
	f.Fuzz(func(t *testing.T, id, reason, file string) {
		r := report.New("1")
		r.Gates = []report.Gate{{Rules: []report.Rule{{ID: id, Verdict: report.Fail, Reason: reason, Position: diag.Pos{File: file, Line: 1, Column: 1}}}}}
		r.Decide()
		r.Errors = []report.Problem{{File: file, Message: reason}}
		checkAzureCommands(t, Delivery{Report: r, Annotations: true, ReportFile: file, Problems: []string{reason}})
	})
}

// checkAzureCommands tells Azure of a run and has the agent read it.
func checkAzureCommands(t failer, d Delivery) {
	t.Helper()
	a := &agent{env: map[string]string{"BUILD_SOURCESDIRECTORY": "/a/s"}}
	status := d.Report.Status(d.FailOn)
	Deliver(PlatformAzure, d, status, a.world())
	commands := agentCommands(a.log.String())
	if written := strings.Count(a.log.String(), "\n"); written != len(commands) {
		t.Fatalf("%d lines, %d commands: %q", written, len(commands), &a.log)
	}
	for line := range strings.Lines(a.log.String()) {
		if strings.Count(line, "]") != 1 {
			t.Fatalf("the command's end is not the only ] in %q", line)
		}
	}
	allowed := map[string][]string{
		"setvariable": {"isoutput", "variable"},
		"logissue":    {"code", "columnnumber", "linenumber", "sourcepath", "type"},
		"complete":    {"result"},
	}
	for _, c := range commands {
		if c.area != "task" || allowed[c.event] == nil {
			t.Fatalf("the agent obeys %v", c)
		}
		for key, value := range c.properties {
			if !slices.Contains(allowed[c.event], key) {
				t.Fatalf("the property %q came in: %v", key, c)
			}
			if strings.ContainsFunc(value, unicode.IsControl) || key == "code" && len(value) > titleBytes {
				t.Fatalf("%s is %q", key, value)
			}
			switch {
			case key == "sourcepath" && !strings.HasPrefix(filepath.ToSlash(value), "/a/s/"),
				key == "type" && value != "error" && value != "warning",
				key == "result" && value != "SucceededWithIssues":
				t.Fatalf("%s is %q", key, value)
			}
		}
		if strings.ContainsAny(c.data, "\r\x1b") || len(c.data) > azureValueBytes {
			t.Fatalf("data of %d bytes: %q", len(c.data), c.data)
		}
	}
	got := a.variables(t)
	if got["oloproof_verdict"] != d.Report.Verdict.String() || got["oloproof_exit_code"] != fmt.Sprint(d.Report.ExitStatus) {
		t.Fatalf("the agent reads %q, the verdict is %v", got, d.Report.Verdict)
	}
	for _, name := range []string{"oloproof_failing_rules", "oloproof_reporting_problems"} {
		if !json.Valid([]byte(got[name])) {
			t.Fatalf("%s is no JSON: %q", name, got[name])
		}
	}
}
