package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// TestMistakesAsJSON: a mistaken command line that asks for JSON on standard output gets one document of the published
// schema, like every run; a person gets the same problems on standard error.
func TestMistakesAsJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "d.csv", singles(40, 38))
	schema := reportSchema(t)
	for _, test := range []struct {
		args string
		want []string
	}{
		{"human-ai gate d.csv --polcy p", []string{"unknown flag: --polcy; `oloproof human-ai gate --help` lists the flags"}},
		{"human-ai gate d.csv --policy", []string{"flag needs an argument: --policy; `oloproof human-ai gate --help` lists the flags"}},
		{"human-ai check d.csv --design bad", []string{`--design is "bad"; write crossed or before_after`}},
		{"human-ai gate d.csv --today x", []string{`--today is "x"; write a day of the calendar as YYYY-MM-DD, such as 2027-03-31`}},
		{"human-ai gate d.csv --fail-on x", []string{`--fail-on: "x" is not a verdict; use PASS, FAIL, INSUFFICIENT_EVIDENCE or MANUAL_REVIEW`}},
		{"human-ai gate d.csv --format bad", []string{`--format: unknown format "bad"; use ` + strings.Join(summary.Names(), ", ")}},
		{"human-ai check d.csv --format markdown:.", []string{"--format: . is a folder; name a file in it"}},
		{"gate", []string{"gate takes one release file, such as `oloproof gate release.yaml`, or --example; for one gate's own file use `oloproof human-ai gate`"}},
		{"gate --example x", []string{"gate --example takes no file"}},
		{"version", []string{"unknown flag: --json; `oloproof version --help` lists the flags"}},
		// All at once.
		{"human-ai gate d.csv --design bad --today x --delimiter ;; --format bad", []string{
			`--delimiter is ";;"; write one of , ; | or tab`, `--design is "bad"; write crossed or before_after`,
			`--format: unknown format "bad"; use ` + strings.Join(summary.Names(), ", "), `--today is "x"; write a day of the calendar as YYYY-MM-DD, such as 2027-03-31`}},
	} {
		words := strings.Fields(test.args)
		for _, ask := range []string{"--json", "--json=true", "--format json", "--format=json", "--format json:-"} {
			if words[0] == "version" && ask != "--json" {
				continue // the message names another flag
			}
			args := append(words[:1:1], strings.Fields(ask)...)
			args = append(args, words[1:]...) // last may stand a flag without its value
			if len(words) > 1 && words[1] != "--example" {
				args = append(append(words[:2:2], strings.Fields(ask)...), words[2:]...)
			}
			status, stdout, stderr := runMain(args...)
			var r report.Report
			if err := json.Unmarshal([]byte(stdout), &r); err != nil {
				t.Errorf("%q, exit %d: %v\n%s%s", args, status, err, stdout, stderr)
				continue
			}
			if err := validate(schema, []byte(stdout)); err != nil {
				t.Errorf("%q: the schema refuses the document: %#v", args, err)
			}
			if diff := cmp.Diff(test.want, problems(&r)); diff != "" || status != 2 || r.ExitStatus != 2 || stderr != "" {
				t.Errorf("%q: exit %d (-want +got)\n%s%s", args, status, diff, stderr)
			}
		}
		if words[0] == "version" {
			continue
		}
		status, stdout, stderr := runMain(words...)
		if status != 2 || stdout != "" || !strings.HasSuffix(stderr, "\n\nexit status 2 (nothing was decided)\n") {
			t.Errorf("%q: exit %d\n%s%s", words, status, stdout, stderr)
		}
		for _, want := range test.want {
			if !strings.Contains("\n"+stderr, "\noloproof: "+want+"\n") {
				t.Errorf("%q: not %q\n%s", words, want, stderr)
			}
		}
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 1 {
		t.Errorf("a mistaken command line made files: %v %v", entries, err)
	}
}

// TestAsksForJSON has the forms in which a document is asked for, and those in which it is not.
func TestAsksForJSON(t *testing.T) {
	for args, want := range map[string]bool{
		"": false, "x --json": true, "--json=false": false, "--json=maybe": true, "--jsonx": false, "-json": false, "json": false, "-- --json": false,
		"--json -- x": true, "--format json": true, "--format=json": true, "--format=json:-": true, "--format json:r": false, "--format": false,
		"--format markdown": false, "--format markdown --format json": true, "--format=jsonl": false, "--format json=": false,
	} {
		if got := asksForJSON(strings.Fields(args)); got != want {
			t.Errorf("%q: %v", args, got)
		}
	}
}

// TestEmptyFlags gives every text flag of every command empty: that is a mistake, and never taken for a flag that is
// not there.
func TestEmptyFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	arguments := map[string][]string{ // of commands that do not come so far without
		"oloproof gate": {"release.yaml"}, "oloproof policy check": {"p.yaml"}, "oloproof human-ai imrmc": {"study.imrmc"}, "oloproof render": {"report.json"},
	}
	found := map[string]bool{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			walk(c)
		}
		for _, f := range all(cmd.LocalFlags().VisitAll) {
			if f.Value.Type() != "string" {
				continue
			}
			found[f.Name] = true
			path := cmd.CommandPath()
			args := append(strings.Fields(path)[1:], arguments[path]...)
			for _, given := range [][]string{{"--" + f.Name + "="}, {"--" + f.Name, ""}} {
				status, stdout, stderr := runMain(append(args[:len(args):len(args)], given...)...)
				want := "oloproof: --" + f.Name + " is empty; write --" + f.Name + " "
				if status != 2 || stdout != "" || !strings.HasPrefix(stderr, want) || strings.HasPrefix(stderr, want+",") {
					t.Errorf("%s %q: exit %d\n%s%s", path, given, status, stdout, stderr)
				}
			}
		}
	}
	walk(inMemory().root())
	for _, name := range []string{"policy", "delimiter", "today", "fail-on", "design", "assignment", "baseline", "candidate", "cases", "reviewers", "seed", "example", "gate", "draw", "certificate", "items", "rate", "minimum", "previous"} {
		if !found[name] {
			t.Errorf("there is no flag --%s, or it is no text", name)
		}
	}

	// All at once, and in JSON.
	_, _, stderr := runMain("human-ai", "gate", "d.csv", "--today", "", "--policy", "", "")
	const want = "oloproof: --policy is empty; write --policy FILE, or leave the flag out\n" +
		"oloproof: --today is empty; write --today DAY, or leave the flag out\n" +
		"oloproof: argument 2 of 2 of `oloproof human-ai gate` is empty; write a name, or leave it out\n\nexit status 2 (nothing was decided)\n"
	if diff := cmp.Diff(want, stderr); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if status, stdout, _ := runMain("human-ai", "gate", "d.csv", "--policy", "", "--json"); status != 2 || !strings.Contains(stdout, `"message": "--policy is empty; write`) {
		t.Errorf("exit %d\n%s", status, stdout)
	}
}

// TestEmptyArguments has commands with a name that is empty; the message has its place, since it cannot show it.
func TestEmptyArguments(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "d.csv", singles(40, 38))
	writeFile(t, "folder/empty.yaml", "human_ai: {decisions: [d.csv, \"\"], rules: [{id: a, metric: agreement, minimum: 0.1}]}\n")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"human-ai", "check", ""}, "argument 1 of 1 of `oloproof human-ai check` is empty; "},
		{[]string{"human-ai", "check", "d.csv", "", "d.csv"}, "argument 2 of 3 of `oloproof human-ai check` is empty; "},
		{[]string{"gate", ""}, "argument 1 of 1 of `oloproof gate` is empty; "},
		{[]string{"policy", "check", "folder/empty.yaml", ""}, "argument 2 of 2 of `oloproof policy check` is empty; "},
		{[]string{"init", "--example", "human-ai", ""}, "argument 1 of 1 of `oloproof init` is empty; "},
		{[]string{"gate", "folder/empty.yaml"}, "\npath 2 of 2 is empty: name a file, a glob, or - for standard input\n"},
	} {
		status, stdout, stderr := runMain(test.args...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("%q: exit %d, want %q\n%s%s", test.args, status, test.want, stdout, stderr)
		}
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 2 {
		t.Errorf("files were made: %v %v", entries, err)
	}
	// A shell that completes asks with an empty word.
	if status, stdout, stderr := runMain(cobra.ShellCompRequestCmd, "human-ai", ""); status != 0 || !strings.Contains(stdout, "check") {
		t.Errorf("completion: exit %d\n%s%s", status, stdout, stderr)
	}
}
