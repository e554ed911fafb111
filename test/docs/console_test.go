package docs

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/internal/cli"
)

// The commands of a document run one after the other in one empty folder, in this process, as if for
// version 0.1.0 on this day. `$ go run . …` is run as `$ oloproof …`, which is what it does.
//
// What follows a command up to the next is all that it prints on both streams. A line "…" stands for any
// number of whole paragraphs. The exit status is that of a last line "# exit status N"; without one that
// of an output line "exit status N …"; without either 0.
const version = "0.1.0"

var today = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)

// omitted stands for paragraphs left out of an output.
const omitted = "…"

// TestConsole runs every command that the documents show.
func TestConsole(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and nothing in it runs side by side")
	}
	for _, d := range documents(t) {
		t.Run(d.path, func(t *testing.T) {
			blocks := d.blocks(t)
			bodies := map[int]string{}
			folder := t.TempDir()
			for _, b := range blocks {
				if name := b.fileName(); name != "" {
					writeFile(t, filepath.Join(folder, filepath.FromSlash(name)), d.text(b))
				}
				if b.language != "console" {
					continue
				}
				got := console(t, folder, fmt.Sprintf("%s:%d", d.path, b.line), d.text(b))
				bodies[b.line] = got
				if diff := cmp.Diff(d.text(b), got); diff != "" && !*update {
					t.Errorf("%s:%d: rewrite with go test ./test/docs -update, and read the difference (-shown +printed):\n%s", d.path, b.line, diff)
				}
			}
			if *update && len(bodies) > 0 {
				d.replace(blocks, bodies)
				d.write(t)
			}
		})
	}
}

// session is one command of a block with what the block shows of its output.
type session struct {
	command string // without "$ "; a line that ends in \ goes on
	shown   []string
}

// sessions takes a block apart.
func sessions(t *testing.T, place, body string) []session {
	t.Helper()
	var list []session
	goesOn := false
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		command, begins := strings.CutPrefix(line, "$ ")
		switch {
		case goesOn:
			list[len(list)-1].command += "\n" + line
		case begins:
			list = append(list, session{command: command})
		case len(list) == 0:
			t.Fatalf("%s: the block begins with no command", place)
		default:
			list[len(list)-1].shown = append(list[len(list)-1].shown, line)
		}
		goesOn = (begins || goesOn) && strings.HasSuffix(line, `\`)
	}
	if len(list) == 0 {
		t.Fatalf("%s: the block has no command", place)
	}
	return list
}

// console runs a block's commands and returns the block with what they print now.
func console(t *testing.T, folder, place, body string) string {
	t.Helper()
	var b strings.Builder
	for _, s := range sessions(t, place, body) {
		printed, status := run(t, folder, place, s.command)
		fmt.Fprintf(&b, "$ %s\n", s.command)
		b.WriteString(shorten(printed, s.shown))
		if status != statedStatus(printed) {
			fmt.Fprintf(&b, "# exit status %d\n", status)
		}
		b.WriteString(emptyEnd(s.shown))
	}
	return b.String()
}

// emptyEnd returns the empty lines that a block has between two commands.
func emptyEnd(shown []string) string {
	n := 0
	for _, line := range slices.Backward(shown) {
		if line != "" {
			break
		}
		n++
	}
	return strings.Repeat("\n", n)
}

var exitLine = regexp.MustCompile(`(?m)^exit status ([0-9])`)

// statedStatus is the exit status that an output states, 0 where it states none.
func statedStatus(printed string) int {
	all := exitLine.FindAllStringSubmatch(printed, -1)
	if len(all) == 0 {
		return 0
	}
	return int(all[len(all)-1][1][0] - '0')
}

// shorten leaves out of an output the paragraphs that the block leaves out: it keeps as many of them as the
// block shows before and after its "…".
func shorten(printed string, shown []string) string {
	at := slices.Index(shown, omitted)
	if at < 0 {
		return printed
	}
	all := strings.Split(strings.TrimSuffix(printed, "\n"), "\n\n")
	before, after := paragraphs(shown[:at]), paragraphs(shown[at+1:])
	if before+after >= len(all) {
		return printed
	}
	kept := slices.Concat(all[:before], []string{omitted}, all[len(all)-after:])
	return strings.Join(kept, "\n\n") + "\n"
}

// paragraphs counts the paragraphs among lines.
func paragraphs(lines []string) int {
	n := 0
	for i, line := range lines {
		if line != "" && !strings.HasPrefix(line, "# exit status ") && (i == 0 || lines[i-1] == "") {
			n++
		}
	}
	return n
}

// run runs one command in folder and returns all that it prints and its exit status.
func run(t *testing.T, folder, place, command string) (printed string, status int) {
	t.Helper()
	words, redirect := split(t, place, command)
	switch {
	case len(words) > 2 && words[0] == "go" && words[1] == "run" && words[2] == ".":
		words = words[3:]
	case words[0] == "oloproof":
		words = words[1:]
	default:
		t.Fatalf("%s: only oloproof is run here, not %q", place, command)
	}
	t.Chdir(folder)
	var out, file bytes.Buffer
	stdout := io.Writer(&out)
	if redirect != "" {
		stdout = &file
	}
	status = cli.Main(words, cli.World{
		Stdin: strings.NewReader(""), Stdout: stdout, Stderr: &out, Version: version,
		Getenv: func(string) string { return "" }, Now: func() time.Time { return today },
	})
	if redirect != "" {
		writeFile(t, filepath.Join(folder, redirect), file.String())
	}
	return strings.ReplaceAll(out.String(), string(filepath.Separator), "/"), status
}

// split splits a command as a shell would: single quotes keep a word together, and "> FILE" sends standard
// output to a file.
func split(t *testing.T, place, command string) (words []string, redirect string) {
	t.Helper()
	command = strings.ReplaceAll(command, "\\\n", " ")
	for i, quoted := range strings.Split(command, "'") {
		if i%2 == 1 {
			words = append(words, quoted)
			continue
		}
		words = append(words, strings.Fields(quoted)...)
	}
	if at := slices.Index(words, ">"); at >= 0 {
		if at != len(words)-2 {
			t.Fatalf("%s: > stands before the last word only", place)
		}
		words, redirect = words[:at], words[at+1]
	}
	if len(words) == 0 {
		t.Fatalf("%s: an empty command", place)
	}
	return words, redirect
}

// writeFile writes a file and the folders it is in.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestShorten holds the harness to what its comment says: a test that leaves out too much shows nothing.
func TestShorten(t *testing.T) {
	const printed = "a\nb\n\nc\n\nd\n\nexit status 3 (why)\n"
	for _, test := range []struct{ shown, want string }{
		{"a\nb", printed},
		{"x\n\n…\n\ny", "a\nb\n\n…\n\nexit status 3 (why)\n"},
		{"x\n\n…", "a\nb\n\n…\n"},
		{"…\n\nx\n\ny\n# exit status 1", "…\n\nd\n\nexit status 3 (why)\n"},
		{"x\n\nx\n\n…\n\ny\n\ny", printed},
	} {
		if got := shorten(printed, strings.Split(test.shown, "\n")); got != test.want {
			t.Errorf("shown %q: got %q, want %q", test.shown, got, test.want)
		}
	}
	if got := statedStatus(printed); got != 3 {
		t.Errorf("stated status %d, want 3", got)
	}
}

// TestReviewDigest holds the recipe for a review's digest to the digest that the recorded review shows; that this
// one is accepted is in the output of its command.
func TestReviewDigest(t *testing.T) {
	d := readDocument(t, "docs/verdicts.md")
	var recipe, recorded []string
	for _, line := range d.lines {
		if words := strings.Fields(line); len(words) > 2 && words[0] == "printf" {
			recipe = append(recipe, fmt.Sprintf("%x", sha256.Sum256([]byte(words[2]))))
		} else if len(words) == 2 && words[0] == "digest:" {
			recorded = append(recorded, words[1])
		}
	}
	if len(recipe) != 1 || !slices.Equal(recipe, recorded) {
		t.Errorf("the recipe gives %v, the policy has %v", recipe, recorded)
	}
}
