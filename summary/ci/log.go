package ci

import (
	"bytes"
	"io"
	"strings"
	"unicode"

	"github.com/oloproof/oloproof/summary"
)

// Log passes text on to a CI platform's log, line by line, and takes from every line what the platform
// would obey: on GitHub and its likes the log is a command channel, on both streams. "::" at the start of
// a line begins a command, "##[" and Azure's "##vso[" do so anywhere in a line, and a carriage return
// ends a line as a newline does. Text from data passes through here; the commands that are meant are
// written to the underlying writer.
//
// A Log is not safe for concurrent use. After a failed write everything further is dropped, and every
// call returns that error.
type Log struct {
	w       io.Writer
	partial []byte // a line whose newline has not come yet: a command may be split over two writes
	err     error
}

// NewLog returns a Log that writes to w.
func NewLog(w io.Writer) *Log { return &Log{w: w} }

// Write takes text in pieces of any size.
func (l *Log) Write(p []byte) (int, error) {
	l.partial = append(l.partial, p...)
	if end := bytes.LastIndexByte(l.partial, '\n') + 1; end > 0 {
		l.pass(l.partial[:end])
		l.partial = append(l.partial[:0], l.partial[end:]...)
	}
	if l.err != nil {
		return 0, l.err
	}
	return len(p), nil
}

// Close writes what is left, ended by a newline so that whatever follows starts a line of its own. It
// does not close the underlying writer.
func (l *Log) Close() error {
	if len(l.partial) > 0 {
		l.pass(append(l.partial, '\n'))
		l.partial = nil
	}
	return l.err
}

// pass writes whole lines.
func (l *Log) pass(lines []byte) {
	if l.err != nil {
		return
	}
	var b bytes.Buffer
	for line := range bytes.Lines(lines) {
		b.WriteString(neutral(strings.TrimRight(string(line), "\r\n")))
		b.WriteByte('\n')
	}
	_, l.err = l.w.Write(b.Bytes())
}

// neutral returns one line of text with nothing in it that a platform obeys: what the format for terminals
// escapes, and "::" where it begins the line once the runner has trimmed white space. As the runner does for its own
// markers, a backslash goes between the characters, so that a person still sees what was there.
func neutral(line string) string {
	line = summary.EscapeTerminal(line, true)
	text := strings.TrimLeftFunc(line, unicode.IsSpace)
	if strings.HasPrefix(text, "::") {
		return line[:len(line)-len(text)] + `:\` + text[1:]
	}
	return line
}
