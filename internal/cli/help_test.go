package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelp shows the help of every command: it says what the command is for, describes every flag, and ends with an
// example that works, run here as it stands in an empty folder.
func TestHelp(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and nothing in it runs side by side")
	}
	commands := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Name() == "help" || cmd.Name() == "completion" { // the library's own
			return
		}
		commands++
		t.Run(cmd.CommandPath(), func(t *testing.T) { checkHelp(t, cmd) })
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	root := inMemory().root()
	walk(root)
	if commands < 12 { // oloproof, the gate and its four commands, gate, init, policy and its two, version, action
		t.Errorf("only %d commands were found", commands)
	}
}

func checkHelp(t *testing.T, cmd *cobra.Command) {
	args := strings.Fields(cmd.CommandPath())[1:]
	var stdout, stderr bytes.Buffer
	world := inMemory().World
	world.Stdout, world.Stderr = &stdout, &stderr
	if status := Main(append(args, "--help"), world); status != 0 || stderr.Len() > 0 {
		t.Fatalf("help ends with %d\n%s", status, &stderr)
	}
	help := stdout.String()
	for _, want := range []string{cmd.Short, cmd.Long} {
		if want == "" || cmd.HasParent() && !strings.Contains(help, strings.TrimSpace(cmd.Long)) {
			t.Errorf("the help does not say what the command is for:\n%s", help)
		}
	}
	if cmd.HasAvailableFlags() && !strings.Contains(help, "Flags:") {
		t.Errorf("the help lists no flags:\n%s", help)
	}
	for line := range strings.Lines(help) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 200 {
			t.Errorf("a line of the help has %d characters: %q", n, line)
		}
	}
	if cmd.Name() == "action" { // only a runner can start it: its example is action.yml
		return
	}
	if cmd.Example == "" || !strings.HasSuffix(help, "\nExample:\n"+cmd.Example+"\n") {
		t.Fatalf("the help does not end with an example:\n%s", help)
	}

	t.Chdir(t.TempDir())
	if cmd.Name() == "verify" { // a study that passes, which no embedded example does
		writeFile(t, "labels.csv", labelRows("annotator,suggestion,label,visibility", 40, "ana,x,x,blind"))
		writeFile(t, "policy.yaml", "rules: [{id: a, metric: blind_agreement, minimum: 0.9}]\n")
	}
	if cmd.Name() == "imrmc" { // a reader study, which no embedded example is
		writeFile(t, "study.imrmc", "BEGIN DATA:\n-1,c1,0,1\nr1,c1,unaided,20\nr1,c1,aided,80\n")
	}
	if cmd.Name() == "comment" { // a report that has something to say, and a server to say it on
		g := newGitHub(t)
		g.heads[12] = headCommit
		world.Getenv = func(name string) string {
			return map[string]string{"GITHUB_API_URL": g.url, "GITHUB_REPOSITORY": testRepository, "GITHUB_TOKEN": "a-token",
				"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_EVENT_PATH": "event.json"}[name]
		}
		world.Sleep = noSleep
		writeFile(t, "event.json", `{"workflow_run": {"run_number": 1, "head_sha": "`+headCommit+`", "head_repository": {"id": 2}}}`)
		writeFile(t, "d.csv", singles(40, 2))
		writeFile(t, "policy.yaml", "rules: [{id: a, metric: accuracy_with, minimum: 0.9}]\n")
		if status, _, told := runMain("human-ai", "gate", "d.csv", "--policy", "policy.yaml", "--format", "json:report.json"); status != 1 {
			t.Fatalf("the report's run ends with %d\n%s", status, told)
		}
	}
	for line := range strings.Lines(cmd.Example) {
		line = strings.TrimSpace(line)
		command, to, redirected := strings.Cut(line, " > ")
		words := strings.Fields(command)
		if len(words) == 0 || words[0] != "oloproof" {
			t.Fatalf("the example has the line %q", line)
		}
		stdout.Reset()
		stderr.Reset()
		// Whatever is decided: 2 is the status of a command that cannot be used.
		if status := Main(words[1:], world); status == 2 || stdout.Len() == 0 {
			t.Errorf("%q ends with %d:\n%s%s", line, status, &stdout, &stderr)
		}
		if redirected {
			if err := os.WriteFile(to, stdout.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
