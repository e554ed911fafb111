package ci

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// The functions here read what a step writes as GitHub's runner does, so that tests can ask what the
// runner would make of it. They follow the algorithms of actions/runner v2.336.0.

// failer is what *testing.T and *rapid.T have in common here.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// runnerOutputs reads an output file (FileCommandManager.cs: EnvFileKeyValuePairs): NAME=VALUE, or
// NAME<<DELIMITER and lines up to the delimiter. The last value of a name counts.
func runnerOutputs(t failer, text string) map[string]string {
	t.Helper()
	out := map[string]string{}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if line == "" {
			continue
		}
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		switch {
		case equals >= 0 && (heredoc < 0 || equals < heredoc):
			name, value, _ := strings.Cut(line, "=")
			if name == "" {
				t.Fatalf("the runner refuses the line %q: it has no name", line)
			}
			out[name] = value
		case heredoc >= 0:
			name, delimiter, _ := strings.Cut(line, "<<")
			end := slices.Index(lines[i+1:], delimiter)
			if name == "" || delimiter == "" || end < 0 {
				t.Fatalf("the runner refuses the line %q", line)
			}
			out[name] = strings.Join(lines[i+1:i+1+end], "\n")
			i += 1 + end
		default:
			t.Fatalf("the runner refuses the line %q: it is no output", line)
		}
	}
	return out
}

// runnerCommand is a workflow command as the runner understands it.
type runnerCommand struct {
	name       string
	properties map[string]string
	data       string
}

// registered are commands that the runner obeys (ActionCommandManager.cs and its extensions).
var registered = []string{
	"error", "warning", "notice", "debug", "group", "endgroup", "echo", "stop-commands", "add-mask", "add-path", "set-env",
	"set-output", "save-state", "add-matcher", "remove-matcher", "internal-set-repo-path",
}

// runnerCommands reads a log (ActionCommand.cs: TryParseV2, then TryParse). A carriage return ends a line
// as well, since the log comes through .NET's StreamReader.ReadLine.
func runnerCommands(log string) (commands []runnerCommand) {
	for line := range strings.SplitSeq(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(log), "\n") {
		if c, ok := runnerV2(line); ok {
			commands = append(commands, c)
		} else if c, ok := runnerV1(line); ok {
			commands = append(commands, c)
		}
	}
	return commands
}

// runnerV2 reads "::name key=value,…::data" at the start of a line.
func runnerV2(line string) (c runnerCommand, ok bool) {
	line = strings.TrimLeftFunc(line, unicode.IsSpace)
	info, data, found := strings.Cut(strings.TrimPrefix(line, "::"), "::")
	if !strings.HasPrefix(line, "::") || !found {
		return c, false
	}
	name, properties, _ := strings.Cut(info, " ")
	if !slices.Contains(registered, strings.ToLower(name)) {
		return c, false
	}
	unescape := strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%", "%3A", ":", "%2C", ",")
	c = runnerCommand{name: name, properties: map[string]string{}, data: strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%").Replace(data)}
	for property := range strings.SplitSeq(strings.TrimSpace(properties), ",") {
		if key, value, ok := strings.Cut(property, "="); ok {
			c.properties[key] = unescape.Replace(value)
		}
	}
	return c, true
}

// runnerV1 reads "##[name key=value;…]data" anywhere in a line. The runner looks for the marker by the
// rules of a language, in which format characters count for nothing.
func runnerV1(line string) (c runnerCommand, ok bool) {
	line = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, line)
	_, rest, found := strings.Cut(line, "##[")
	info, data, ended := strings.Cut(rest, "]")
	name, _, _ := strings.Cut(info, " ")
	if !found || !ended || !slices.Contains(registered, strings.ToLower(name)) {
		return c, false
	}
	return runnerCommand{name: name, data: data}, true
}

// TestRunnerFollowed holds the reader above to what is known of the runner: without it, a test that finds
// no command in a log would prove nothing.
func TestRunnerFollowed(t *testing.T) {
	// The attack of CVE-2022-35954 on a delimiter that is known, run against the runner's algorithm.
	attack := "verdict<<D\nFAIL\nD\nfailing<<D\nx\nD\nverdict<<D\nPASS\nD\n"
	if got := runnerOutputs(t, attack)["verdict"]; got != "PASS" {
		t.Errorf("verdict %q, want the attacker's PASS", got)
	}
	for _, line := range []string{
		"::error::x", " \t::stop-commands::token", "\u00a0::add-mask::x", "text\r::error::x", "text ##[stop-commands]token",
		"text ##[add-mask]x", "#\u200b#[error]x", "::ERROR file=a::x",
	} {
		if got := runnerCommands(line); len(got) != 1 {
			t.Errorf("%q: %d commands, want 1", line, len(got))
		}
	}
	for _, line := range []string{"text ::error::x", ":: error::x", "::unheard::x", "::error", "##[unheard]", `##\[error]x`, `:\:error::x`} {
		if got := runnerCommands(line); len(got) != 0 {
			t.Errorf("%q: %v, want no command", line, got)
		}
	}
	want := runnerCommand{"error", map[string]string{"file": "a,b:c", "line": "3"}, "50% of\n::x"}
	if got := runnerCommands("::error file=a%2Cb%3Ac,line=3::50%25 of%0A::x"); fmt.Sprint(got) != fmt.Sprint([]runnerCommand{want}) {
		t.Errorf("%v, want %v", got, want)
	}
}
