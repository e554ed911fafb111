package ci

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/report"
)

// environment returns a getenv of these variables.
func environment(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

// What the runners set, from their documentation and sources: act_runner and forgejo-runner (internal/app/run/runner.go)
// set GITEA_ACTIONS beside GitHub's variables, forgejo-runner FORGEJO_ACTIONS beside both; GitLab, Azure Pipelines,
// Buildkite and Jenkins as their lists of predefined variables say.
var runners = map[Platform]map[string]string{
	PlatformGitHub:    {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://github.example.org"},
	PlatformGitea:     {"CI": "true", "GITHUB_ACTIONS": "true", "GITEA_ACTIONS": "true"},
	PlatformForgejo:   {"CI": "true", "GITHUB_ACTIONS": "true", "GITEA_ACTIONS": "true", "FORGEJO_ACTIONS": "true"},
	PlatformGitLab:    {"CI": "true", "GITLAB_CI": "true"},
	PlatformAzure:     {"TF_BUILD": "True"},
	PlatformBuildkite: {"CI": "true", "BUILDKITE": "true"},
	PlatformJenkins:   {"JENKINS_URL": "https://jenkins.example.org/"},
	PlatformNone:      {"CI": "true", "FORGEJO_TOKEN": "t", "GITHUB_ACTIONS": "false", "TF_BUILD": "False", "GITLAB_CI": "0"},
}

func TestDetect(t *testing.T) {
	for want, variables := range runners {
		if got := Detect(environment(variables)); got != want {
			t.Errorf("%v is %s, want %s", variables, got, want)
		}
	}
	if got := Detect(environment(nil)); got != PlatformNone {
		t.Errorf("no variable is %s", got)
	}
}

func TestParsePlatform(t *testing.T) {
	on := environment(runners[PlatformGitLab])
	if got, err := ParsePlatform("auto", on); got != PlatformGitLab || err != nil {
		t.Errorf("auto: %s, %v", got, err)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(runners)), sortedPlatforms(t, on)); diff != "" {
		t.Errorf("platforms (-tested +known):\n%s", diff)
	}
	for text, want := range map[string]string{
		"azur":    `"azur" is not a CI platform; did you mean azure? Allowed: auto, forgejo, gitea, github, gitlab, azure, buildkite, jenkins, none`,
		"":        `"" is not a CI platform; Allowed: auto, forgejo, gitea, github, gitlab, azure, buildkite, jenkins, none`,
		"GitHub":  `"GitHub" is not a CI platform; did you mean github? Allowed: auto, forgejo, gitea, github, gitlab, azure, buildkite, jenkins, none`,
		"\x1b[2J": `"\x1b[2J" is not a CI platform; Allowed: auto, forgejo, gitea, github, gitlab, azure, buildkite, jenkins, none`,
	} {
		if got, err := ParsePlatform(text, on); got != PlatformNone || err == nil || err.Error() != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
}

// sortedPlatforms are the names that ParsePlatform takes for themselves, sorted.
func sortedPlatforms(t *testing.T, getenv func(string) string) []Platform {
	t.Helper()
	var list []Platform
	for _, name := range PlatformNames() {
		got, err := ParsePlatform(name, getenv)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name != PlatformAuto {
			if string(got) != name {
				t.Errorf("%s is taken for %s", name, got)
			}
			list = append(list, got)
		}
	}
	return slices.Sorted(slices.Values(list))
}

// TestPlatformsWithoutCommands: these read nothing but the log and the exit status.
func TestPlatformsWithoutCommands(t *testing.T) {
	for _, p := range []Platform{PlatformGitLab, PlatformBuildkite, PlatformJenkins, PlatformNone, "unheard"} {
		var log bytes.Buffer
		d := Delivery{Report: everyVerdict(), Summary: true, Annotations: true, Problems: []string{"the disk is full"}}
		problems := Deliver(p, d, report.ExitFail, World{Getenv: environment(nil), Log: &log, Dir: "/work"})
		if log.Len() > 0 || !slices.Equal(problems, d.Problems) {
			t.Errorf("%s: wrote %q, problems %q", p, &log, problems)
		}
	}
}

func TestGroup(t *testing.T) {
	at := time.Unix(1_700_000_000, 5)
	const start, end, erase = "\x1b[0Ksection_start:1700000000:oloproof_1700000000000000005", "\x1b[0Ksection_end:1700000000:oloproof_1700000000000000005", "\r\x1b[0K"
	pass, fail := decided(rule("fine", report.Pass)), everyVerdict()
	tests := []struct {
		platform      Platform
		r             *report.Report
		before, after string
	}{
		{PlatformGitLab, pass, start + "[collapsed=true]" + erase + "Oloproof: PASS\n", end + erase + "\n"},
		{PlatformGitLab, fail, start + erase + "Oloproof: FAIL\n", end + erase + "\n"},
		{PlatformGitLab, unusable(), start + erase + "Oloproof: nothing was decided\n", end + erase + "\n"},
		{PlatformBuildkite, pass, "--- Oloproof: PASS\n", ""},
		{PlatformBuildkite, fail, "+++ Oloproof: FAIL\n", ""},
		{PlatformBuildkite, report.New("1.0.0"), "+++ Oloproof\n", ""}, // a report that decides nothing
	}
	for _, test := range tests {
		before, after := Group(test.platform, test.r, at)
		if before != test.before || after != test.after {
			t.Errorf("%s, %s: %q, %q, want %q, %q", test.platform, test.r.Verdict, before, after, test.before, test.after)
		}
		want := 1
		if test.platform == PlatformGitLab {
			want = 2
		}
		if got := len(obeyed(test.platform, before+"the report\n"+after)); got != want {
			t.Errorf("%s, %s: the platform obeys %d commands, want %d", test.platform, test.r.Verdict, got, want)
		}
	}
	for _, p := range []Platform{PlatformGitHub, PlatformGitea, PlatformForgejo, PlatformAzure, PlatformJenkins, PlatformNone} {
		if before, after := Group(p, fail, at); before+after != "" {
			t.Errorf("%s: %q, %q", p, before, after)
		}
	}
}

// obeyed lists what a platform would obey in a log, by ports of what each is known to look for.
func obeyed(p Platform, log string) (commands []string) {
	switch p {
	case PlatformGitHub:
		for _, c := range runnerCommands(log) {
			commands = append(commands, c.name)
		}
	case PlatformGitea, PlatformForgejo:
		for line := range strings.Lines(log) {
			if giteaCommand.MatchString(line) || giteaOldCommand.MatchString(line) {
				commands = append(commands, line)
			}
		}
	case PlatformAzure:
		for _, c := range agentCommands(log) {
			commands = append(commands, c.area+"."+c.event)
		}
	case PlatformGitLab:
		commands = gitLabMark.FindAllString(log, -1)
	case PlatformBuildkite:
		for line := range strings.Lines(log) {
			if line = strings.TrimRight(buildkiteColour.ReplaceAllString(line, ""), "\r\n"); buildkiteHeader.MatchString(line) || buildkiteOpener.MatchString(line) {
				commands = append(commands, line)
			}
		}
	}
	return commands
}

// What the platforms look for.
var (
	// Gitea's runner and Forgejo's (act/runner/command.go), in the widest of the forms that they had.
	giteaCommand    = regexp.MustCompile(`^::([^ ]+?)( (.+?))?::([^\r\n]*)[\r\n]*$`)
	giteaOldCommand = regexp.MustCompile(`^##\[([^ ]+)( (.+))?]([^\r\n]*)[\r\n]*$`)
	// GitLab (lib/gitlab/regex.rb, build_trace_section_regex), anywhere in the log.
	gitLabMark = regexp.MustCompile(`section_((?:start)|(?:end)):(\d+):([a-zA-Z0-9_.-]+)(\[(?:\w+=\w+)(?:, ?(?:\w+=\w+))*\])?\r\x1b\[0K`)
	// Buildkite (buildkite/agent 3, process/header_times_streamer.go), where colours count for nothing.
	buildkiteHeader = regexp.MustCompile(`^(?:---|\+\+\+|~~~)\s(.+)?$`)
	buildkiteOpener = regexp.MustCompile(`^(?:\^\^\^\s+\+\+\+)\s*$`)
	buildkiteColour = regexp.MustCompile(`\x1b\[([;\d]+)?[mK]`)
)

// TestPlatformsFollowed holds the readers above to what is known of the platforms: without it, a test that finds no
// command in a log would prove nothing.
func TestPlatformsFollowed(t *testing.T) {
	for p, lines := range map[Platform][]string{
		PlatformGitea:     {"::error file=a::x\n", "##[add-mask]x\n"},
		PlatformAzure:     {"##vso[task.complete result=Failed;]\n", "text ##vso[task.setvariable variable=a]b\r\n", "a\r##vso[task.debug]b", "#\u200b#vso[task.logissue]x\n"},
		PlatformGitLab:    {"text section_start:0:a\r\x1b[0K\n", "\x1b[0Ksection_end:1:b.c-d[collapsed=true]\r\x1b[0K"},
		PlatformBuildkite: {"--- a\n", "+++ b\n", "~~~ c\n", "^^^ +++\n", "\x1b[31m--- a\n"},
	} {
		for _, line := range lines {
			if len(obeyed(p, line)) != 1 {
				t.Errorf("%s does not obey %q", p, line)
			}
		}
	}
	for p, lines := range map[Platform][]string{
		PlatformAzure:     {"##vso[task]x", "##vso[task.complete", "##[section]x", "vso[task.complete]"},
		PlatformGitLab:    {"section_start:0:a", "section_start:a:0\r\x1b[0K"},
		PlatformBuildkite: {" --- a", "---a", "---", "^^^ +++ a"},
	} {
		for _, line := range lines {
			if got := obeyed(p, line); len(got) != 0 {
				t.Errorf("%s obeys %q", p, got)
			}
		}
	}
}

func TestNewLogOn(t *testing.T) {
	tests := []struct {
		platform Platform
		in, want string
	}{
		{PlatformBuildkite, "--- a\n+++ b\n~~~ c\n^^^ +++\n----\n", "-\\-- a\n+\\++ b\n~\\~~ c\n^\\^^ +++\n-\\---\n"},
		{PlatformBuildkite, "a --- b\n -- c\n--\n", "a --- b\n -- c\n--\n"},
		{PlatformBuildkite, "x\r--- a\n", "x --- a\n"},
		{PlatformAzure, "##vso x ##[error]\n### a\n", "#\\#vso x #\\#\\[error]\n#\\#\\# a\n"},
		{PlatformGitLab, "--- a ##vso \x1b[0Ksection_start:0:a\r\x1b[0K\n", "--- a ##vso \\x1b[0Ksection_start:0:a \\x1b[0K\n"},
		{PlatformGitHub, "--- a\n", "--- a\n"},
		{PlatformNone, "::error::x\n", ":\\:error::x\n"},
	}
	for _, test := range tests {
		var b bytes.Buffer
		if err := throughLog(test.platform, &b, test.in); err != nil || b.String() != test.want {
			t.Errorf("%s: %q becomes %q (%v), want %q", test.platform, test.in, &b, err, test.want)
		}
	}
	if err := throughLog(PlatformAzure, &failing{left: 3}, "four\n"); err == nil {
		t.Error("a log that is full is no error")
	}
}

// throughLog writes text to a platform's log.
func throughLog(p Platform, b interface{ Write([]byte) (int, error) }, text string) error {
	log := NewLogOn(p, b)
	_, err := log.Write([]byte(text))
	if closed := log.Close(); err == nil {
		err = closed
	}
	return err
}

// checkNoCommand writes text to every platform's log and has that platform read it.
func checkNoCommand(t failer, text string) {
	t.Helper()
	for p := range runners {
		var b bytes.Buffer
		if err := throughLog(p, &b, text); err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		if got := obeyed(p, b.String()); len(got) > 0 {
			t.Fatalf("%s obeys %q in %q", p, got, &b)
		}
		if p == PlatformAzure && strings.Contains(b.String(), "##") {
			t.Fatalf("##, of which Azure's agent warns, is left in %q", &b)
		}
		checkObeysNothing(t, b.String())
	}
}

// TestNoPlatformObeysData builds texts out of what the platforms look for.
func TestNoPlatformObeysData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkNoCommand(t, strings.Join(rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom([]string{
				"##vso[", "##[", "#", "task.complete ", "result=Failed", ";", "]", "::", "error", "section_start:", "0:a", "\r", "\x1b[0K", "\n", "\r\n",
				"---", "+++", "~~~", "^^^", " ", "\u200b", "\u0301", "\u200e", "\u05d0", "%0A", "##teamcity[",
			}),
			rapid.String(),
		)).Draw(t, "text"), ""))
	})
}

func FuzzNewLogOn(f *testing.F) {
	f.Add("##vso[task.setvariable variable=oloproof_verdict;isoutput=true]PASS")
	f.Add("--- x\n+++ y\n^^^ +++\n\x1b[0Ksection_start:0:a\r\x1b[0K")
	f.Fuzz(func(t *testing.T, text string) { checkNoCommand(t, text) })
}

// TestPlacesInAFolder: a run in a folder of the repository names files as the repository does (golangci-lint-action#31
// and #1228, ruff#1835), and the report that is written elsewhere stays as it was.
func TestPlacesInAFolder(t *testing.T) {
	for dir, want := range map[string]string{
		"/github/workspace":            "policy.yaml",
		"":                             "policy.yaml",
		"/github/workspace/models/new": "models/new/policy.yaml",
		"/elsewhere":                   "", // no file of the repository
	} {
		r := newRunner(t)
		rep := everyVerdict()
		problems := Deliver(PlatformGitHub, Delivery{Report: rep, Annotations: true, PolicyFile: "policy.yaml", ReportFile: "out/report.json"},
			report.ExitFail, World{Getenv: r.getenv, Log: &r.log, Dir: dir})
		if len(problems) > 0 {
			t.Errorf("%q: problems %q", dir, problems)
		}
		commands := runnerCommands(r.log.String())
		if len(commands) != 5 { // as TestAnnotations has them
			t.Errorf("%q: %d annotations", dir, len(commands))
		}
		for _, c := range commands {
			if c.properties["file"] != want {
				t.Errorf("%q: the file is %q, want %q", dir, c.properties["file"], want)
			}
		}
		wantReport := "out/report.json"
		switch dir {
		case "/github/workspace/models/new":
			wantReport = "models/new/out/report.json"
		case "/elsewhere":
			wantReport = "/elsewhere/out/report.json"
		}
		if got := r.outputs(t)["report"]; got != wantReport {
			t.Errorf("%q: the report is %q, want %q", dir, got, wantReport)
		}
		if diff := cmp.Diff(everyVerdict(), rep); diff != "" {
			t.Errorf("%q: the report changed:\n%s", dir, diff)
		}
	}
	// Errors, and standard input, which is no file.
	r := newRunner(t)
	rep := unusable()
	rep.Errors[2].File = "-"
	Deliver(PlatformGitHub, Delivery{Report: rep, Annotations: true}, report.ExitUnusable, World{Getenv: r.getenv, Log: &r.log, Dir: "/github/workspace/a"})
	var files []string
	for _, c := range runnerCommands(r.log.String()) {
		files = append(files, c.properties["file"])
	}
	if want := []string{"a/decisions.csv", "a/policies/policy.yaml", "-", ""}; !slices.Equal(files, want) {
		t.Errorf("the files of errors are %q, want %q", files, want)
	}
}

// TestGitea: a runner without job summaries is no problem of the run, one with them gets it, and what is written are
// GitHub's commands.
func TestGitea(t *testing.T) {
	for _, p := range []Platform{PlatformGitea, PlatformForgejo} {
		r := newRunner(t)
		d := Delivery{Report: everyVerdict(), Summary: true, Annotations: true, FailOn: report.DefaultFailOn()}
		if problems := Deliver(p, d, report.ExitFail, World{Getenv: r.getenv, Log: &r.log}); len(problems) > 0 {
			t.Errorf("%s: problems %q", p, problems)
		}
		if !strings.Contains(r.read(t, "GITHUB_STEP_SUMMARY"), "never") || r.outputs(t)["verdict"] != "FAIL" {
			t.Errorf("%s: the summary or the outputs are missing", p)
		}
		if got := len(obeyed(p, r.log.String())); got != 5 {
			t.Errorf("%s: the runner reads %d annotations, want 5", p, got)
		}

		r = newRunner(t)
		file := r.env["GITHUB_STEP_SUMMARY"]
		r.env["GITHUB_STEP_SUMMARY"] = ""
		if problems := Deliver(p, d, report.ExitFail, World{Getenv: r.getenv, Log: &r.log}); len(problems) > 0 {
			t.Errorf("%s, no job summaries: problems %q", p, problems)
		}
		if text, err := os.ReadFile(filepath.Clean(file)); err != nil || len(text) > 0 {
			t.Errorf("%s, no job summaries: wrote %q (%v)", p, text, err)
		}
	}
}
