// Package diag holds positions in files and the problems found there, so that every reader reports
// all of them at once, in the same form and the same order. It is a leaf: it imports nothing of ours.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pos is a place in a file. Line and Column are 1-based and count characters (runes), not bytes.
// A zero Column means the whole line, a zero Line the whole file. A file that has no lines, such as one of Parquet, has Rows
// instead, from 1; Line and Column are 0 then.
type Pos struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Row    int    `json:"row,omitempty"`
}

// String formats the position as file:line:column, or file:row N, leaving out the parts that are zero. Control
// characters in the file's name are escaped, so that a name cannot start a line of its own.
func (p Pos) String() string {
	s := Printable(p.File)
	if p.Line > 0 {
		s += ":" + strconv.Itoa(p.Line)
		if p.Column > 0 {
			s += ":" + strconv.Itoa(p.Column)
		}
	}
	if p.Row > 0 {
		s += ":row " + strconv.Itoa(p.Row)
	}
	return s
}

// Compare orders positions by file, line or row, and column.
func (p Pos) Compare(q Pos) int {
	return cmp.Or(strings.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column), cmp.Compare(p.Row, q.Row))
}

// Diagnostic is one problem: where it is, and one sentence that says what was found and what is allowed.
type Diagnostic struct {
	Pos
	Message string `json:"message"`
}

// String formats the diagnostic as file:line:column: message.
func (d Diagnostic) String() string {
	if d.Pos == (Pos{}) {
		return d.Message
	}
	return d.Pos.String() + ": " + d.Message
}

// Keep is how many diagnostics a List keeps; the rest are counted. It bounds memory on a file of
// which every row is wrong. Those of whole files are kept beyond it, twice as many in all: they may be what is wrong with every row.
const Keep = 1000

// List collects diagnostics. The zero value is empty and ready to use. A List is not safe for
// concurrent use.
type List struct {
	items []Diagnostic
	more  int
}

// Addf adds a problem at pos. The message's arguments may come from data: pass them through Quote.
func (l *List) Addf(pos Pos, format string, args ...any) {
	l.Add(Diagnostic{Pos: pos, Message: fmt.Sprintf(format, args...)})
}

// Add adds a problem.
func (l *List) Add(d Diagnostic) {
	if whole := d.Line == 0 && d.Row == 0; len(l.items) >= Keep && !whole || len(l.items) >= 2*Keep {
		l.more++
		return
	}
	l.items = append(l.items, d)
}

// Count counts n problems more that are like ones already there, and keeps none of them.
func (l *List) Count(n int) { l.more += n }

// Merge adds all of other's problems.
func (l *List) Merge(other *List) {
	for _, d := range other.items {
		l.Add(d)
	}
	l.more += other.more
}

// Len is the number of problems, kept or only counted.
func (l *List) Len() int { return len(l.items) + l.more }

// Sorted returns the kept problems ordered by position, then message, without exact repeats, and
// how many more there were.
func (l *List) Sorted() (items []Diagnostic, more int) {
	items = slices.Clone(l.items)
	slices.SortStableFunc(items, func(a, b Diagnostic) int {
		return cmp.Or(a.Pos.Compare(b.Pos), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(items), l.more
}

// Err returns nil when the list is empty, else an *Error with all of it.
func (l *List) Err() error {
	if l.Len() == 0 {
		return nil
	}
	items, more := l.Sorted()
	return &Error{Items: items, More: more}
}

// Error is a finished List as an error: input that cannot be used, exit status 2.
type Error struct {
	Items []Diagnostic // sorted by position, at least one
	More  int          // how many more were found beyond Items
}

// Error returns the problems one per line.
func (e *Error) Error() string {
	var b strings.Builder
	for i, d := range e.Items {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(d.String())
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\nand %d more", e.More)
	}
	return b.String()
}

// quoteMax is how many characters of a value from data a message shows.
const quoteMax = 60

// Quote shows a value from data inside a message: in double quotes, on one line, control and
// bidirectional characters escaped, cut at 60 characters.
func Quote(s string) string {
	if utf8.RuneCountInString(s) > quoteMax {
		s = string([]rune(s)[:quoteMax-1]) + "…"
	}
	return `"` + strings.ReplaceAll(Printable(s), `"`, `\"`) + `"`
}

// causeMax is how many characters of an error's own words a message shows.
const causeMax = 300

// Cause returns the words of a library's error, for the inside of a message: on one line, control and bidirectional
// characters escaped, and its middle left out where it is longer than 300 characters. Such words may quote a name from
// a file at any length.
//
// What os.Root says of a link out of the folder that it opens is said for a person: it has no value of its own to ask for.
func Cause(words string) string {
	if words == "path escapes from parent" {
		return "a link in it is absolute, or leads out of the folder that may be read and written"
	}
	text := []rune(words)
	if len(text) > causeMax {
		const tail = 60
		text = append(append(append([]rune{}, text[:causeMax-tail-1]...), '…'), text[len(text)-tail:]...)
	}
	return Printable(string(text))
}

// Printable returns s with every character that could move the cursor, start a line, change the
// direction of writing or hide itself written as a Go escape. Ordinary text, whatever its script, is kept.
func Printable(s string) string {
	clean := true
	for _, r := range s {
		if !printable(r) {
			clean = false
			break
		}
	}
	if clean && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, w := 0, 0; i < len(s); i += w {
		var r rune
		r, w = utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && w == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case printable(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
	}
	return b.String()
}

// printable reports whether r may be shown as it is. unicode.IsPrint refuses control characters,
// format characters (which include the bidirectional controls and the zero-width ones) and every space but U+0020.
func printable(r rune) bool { return unicode.IsPrint(r) }
