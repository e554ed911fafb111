package ci

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLog(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain text\n", "plain text\n"},
		{"Zażółć ≥ 0 · ├──●──┤ 🙂\n", "Zażółć ≥ 0 · ├──●──┤ 🙂\n"},
		{"no newline", "no newline\n"},
		{"\n\n", "\n\n"},
		{"", ""},
		{"CRLF\r\nends\r\n", "CRLF\nends\n"},
		{"::error::x\n", ":\\:error::x\n"},
		{"  ::stop-commands::x\n", "  :\\:stop-commands::x\n"},
		{"a ::b:: c\n", "a ::b:: c\n"},
		{"x ##[add-mask]secret\n", "x ##\\[add-mask]secret\n"},
		{"##vso[task.complete result=Failed;]\n", "##vso\\[task.complete result=Failed;]\n"},
		{"## Title [x]\n", "## Title [x]\n"},
		{"#\u200b#[error]\n", "#\\u200b#[error]\n"},
		{"a\x1b[2Jb\n", "a\\x1b[2Jb\n"},
		{"bad \xff byte\n", "bad \\xff byte\n"},
	}
	for _, test := range tests {
		var b bytes.Buffer
		log := NewLog(&b)
		if n, err := log.Write([]byte(test.in)); n != len(test.in) || err != nil {
			t.Errorf("Write(%q): %d, %v", test.in, n, err)
		}
		if err := log.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if b.String() != test.want {
			t.Errorf("%q becomes %q, want %q", test.in, b.String(), test.want)
		}
	}
}

// TestLogObeysNothing writes hostile text in pieces of any size.
func TestLogObeysNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom([]string{"::", "error", "##", "#", "[", "]", "##vso[", "\n", "\r", " ", "\t", "\u00a0", "\u200b", "\xff", "%0A", "stop-commands"}),
			rapid.String(),
		)).Draw(t, "text"), "")
		whole, pieces := new(bytes.Buffer), new(bytes.Buffer)
		log := NewLog(pieces)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if _, err := log.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		checkObeysNothing(t, pieces.String())
		atOnce := NewLog(whole)
		if _, err := atOnce.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := atOnce.Close(); err != nil {
			t.Fatal(err)
		}
		if whole.String() != pieces.String() {
			t.Fatalf("at once %q, in pieces %q", whole, pieces)
		}
	})
}

func FuzzLog(f *testing.F) {
	f.Add("::error::x\n##[stop-commands]t\r::x::y")
	f.Add("#\u200b#[add-mask]x ##vso[task]")
	f.Fuzz(func(t *testing.T, text string) {
		var b bytes.Buffer
		log := NewLog(&b)
		if _, err := log.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		checkObeysNothing(t, b.String())
	})
}

func checkObeysNothing(t failer, log string) {
	t.Helper()
	if commands := runnerCommands(log); len(commands) > 0 {
		t.Fatalf("the runner obeys %v in %q", commands, log)
	}
	if strings.Contains(log, "##vso[") {
		t.Fatalf("Azure Pipelines obeys %q", log)
	}
	for line := range strings.Lines(log) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			t.Fatalf("%q begins as a command does", line)
		}
	}
	if strings.ContainsAny(log, "\r\x1b") {
		t.Fatalf("%q has control characters", log)
	}
	if log != "" && !strings.HasSuffix(log, "\n") {
		t.Fatalf("%q does not end its line", log)
	}
}

// failing is a writer that fails once it has taken some bytes.
type failing struct{ left int }

var errFull = errors.New("no space left")

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.left {
		return 0, errFull
	}
	f.left -= len(p)
	return len(p), nil
}

func TestLogKeepsItsError(t *testing.T) {
	log := NewLog(&failing{left: 6})
	if _, err := log.Write([]byte("first\n")); err != nil {
		t.Errorf("first line: %v", err)
	}
	if _, err := log.Write([]byte("second\n")); !errors.Is(err, errFull) {
		t.Errorf("second line: %v, want %v", err, errFull)
	}
	if err := log.Close(); !errors.Is(err, errFull) {
		t.Errorf("Close: %v, want %v", err, errFull)
	}
}
