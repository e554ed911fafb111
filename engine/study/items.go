package study

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/rows"
)

// MaxItems is the largest number of items that are drawn from. It is far above what people label and keeps a mistaken
// file from filling the memory.
const MaxItems = 10_000_000

// Items is a list of items to draw from: no id is empty, each stands once, and each can be written into a table. The
// zero value is an empty list, ready to use.
type Items struct {
	ids      []string
	pos      []diag.Pos
	at       map[string]int // by id: its place in ids
	formulas int
	full     bool // an item beyond MaxItems was reported
}

// Len is the number of items.
func (l *Items) Len() int { return len(l.ids) }

// LikeFormulas is the number of items that a spreadsheet takes for a formula, although none that it could run.
func (l *Items) LikeFormulas() int { return l.formulas }

// Add adds an item that stands at pos, without the spaces at the ends of its id, or adds to diags why it cannot be
// drawn: its id is empty, not valid UTF-8, there already, or has a control character; or a spreadsheet would run it.
//
// The last needs more than a first character = + - or @. Ids come from a corpus and cannot be changed for a draw, and
// "@name", "-17" and "-dQw4w9" are common there. A spreadsheet shows them wrongly, but nothing can be called or
// fetched without brackets, quotes or other such characters, so only ids that have those are refused. (Assign refuses
// all of them: its ids are made for the study.)
func (l *Items) Add(id string, pos diag.Pos, diags *diag.List) {
	id = strings.TrimSpace(id)
	formula := likeFormula(id)
	control := strings.IndexFunc(id, breaksLine)
	switch first, again := l.at[id]; {
	case id == "":
		diags.Addf(pos, "this id is empty: an id needs at least one character that is not a space")
	case !utf8.ValidString(id):
		diags.Addf(pos, "the id %s is not valid UTF-8", diag.Quote(id))
	case control >= 0:
		c, _ := utf8.DecodeRuneInString(id[control:])
		diags.Addf(pos, "the id %s has the control character %U: ids are text on one line", diag.Quote(id), c)
	case strings.Contains(id, "##[") || strings.Contains(id, "##vso["):
		diags.Addf(pos, "the id %s has %q in it, which a CI runner that prints the draw could run as a command: write the id otherwise, here and in the labels", diag.Quote(id), "##[")
	case again && l.pos[first] == (diag.Pos{}):
		diags.Addf(pos, "the item %s is the same as number %d: each item may stand once", diag.Quote(id), first+1)
	case again:
		diags.Addf(pos, "the item %s is the same as at %s: each item may stand once", diag.Quote(id), l.pos[first])
	case formula && strings.ContainsFunc(id, runs):
		start, _ := utf8.DecodeRuneInString(id)
		diags.Addf(pos, "the id %s begins with %q, and a spreadsheet could run it as a formula: put a letter or a digit before it, here and in the labels",
			diag.Quote(id), start)
	case len(l.ids) == MaxItems:
		if !l.full {
			diags.Addf(pos, "there are more than %d items: at most so many can be drawn from", MaxItems)
		}
		l.full = true
	default:
		if l.at == nil {
			l.at = map[string]int{}
		}
		l.at[id] = len(l.ids)
		l.ids = append(l.ids, id)
		l.pos = append(l.pos, pos)
		if formula {
			l.formulas++
		}
	}
}

// breaksLine reports a control character, or one of Unicode's own ends of a line or a paragraph.
func breaksLine(c rune) bool { return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' }

// likeFormula reports whether a spreadsheet takes an id for a formula.
func likeFormula(id string) bool {
	start, _ := utf8.DecodeRuneInString(id)
	return strings.ContainsRune("=+-@＝＋－＠", start)
}

// runs reports whether a character could make a formula more than arithmetic on names and numbers.
func runs(c rune) bool {
	return !unicode.IsLetter(c) && !unicode.IsMark(c) && !unicode.IsDigit(c) && !strings.ContainsRune("=+-@＝＋－＠_.:/ ", c)
}

// itemColumn is the name of the column of ids, and of a list's header.
const itemColumn = "item"

// maxLine is how many bytes a line of a list may have.
const maxLine = 1 << 20

// ReadItems reads the items of a file, or of stdin where path is "-". What it is is told by its first line:
//   - "{" begins JSONL, whose objects have a key item;
//   - a header with the column item beside others begins a table (CSV, as engine/rows reads it, which also reads
//     compressed files, and Parquet);
//   - anything else is a list with one id a line, where a first line "item" is a header. An id may be in quotes, as a
//     table of one column has them. Where the first line holds a character that separates columns, such as a comma,
//     that header is needed: a table without a column item would otherwise be taken for a list.
//
// Problems go to diags, each with its place; as long as there is one the items decide nothing.
func ReadItems(path string, stdin io.Reader, diags *diag.List) *Items {
	items := &Items{}
	source, closeSource, err := open(path, stdin)
	if err != nil {
		diags.Addf(diag.Pos{File: path}, "the items cannot be read: %s", err)
		return items
	}
	defer closeSource()
	in := bufio.NewReaderSize(source, 64<<10)
	head, _ := in.Peek(64 << 10) // an error shows again on reading
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	if !isTable(head) && !rows.IsParquet(head) {
		readList(path, in, items, diags)
		return items
	}
	// Without the key, each object of JSONL is reported below; a header has been seen to have it.
	column := rows.Column{Name: itemColumn, Required: !beginsObject(head)}
	rows.Read([]string{path}, rows.Options{Columns: []rows.Column{column}, Stdin: in}, func(r rows.Row) {
		id, recorded := r.Text(0)
		if !recorded {
			diags.Addf(r.Pos(0), "this row has no %s: every row needs one", itemColumn)
			return
		}
		items.Add(id, r.Pos(0), diags)
	}, diags)
	return items
}

// open opens a regular file, or stdin.
func open(path string, stdin io.Reader) (source io.Reader, closeSource func(), err error) {
	if path == "-" {
		if stdin == nil {
			return nil, nil, errors.New("there is no standard input here")
		}
		return stdin, func() {}, nil
	}
	info, err := os.Stat(path) // first: opening a named pipe would wait for its writer
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil, errors.New("there is no such file")
	case err != nil:
		return nil, nil, withoutPath(err)
	case info.IsDir():
		return nil, nil, errors.New("it is a folder; name a file")
	case !info.Mode().IsRegular():
		return nil, nil, errors.New("it is a pipe or a device; pass its content on standard input, as -")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, withoutPath(err)
	}
	return f, func() { f.Close() }, nil
}

// withoutPath is an error of the operating system without the path, which the message already has.
func withoutPath(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// delimiters separate the columns of a table.
var delimiters = []string{",", ";", "\t", "|"}

// isTable reports whether a file that begins so is left to engine/rows, which also says what is wrong with one that
// is no text.
func isTable(head []byte) bool {
	first, _, _ := bytes.Cut(head, []byte("\n"))
	line := strings.TrimSpace(string(first))
	if beginsObject(head) || !utf8.ValidString(line) || strings.Contains(line, "\x00") || len(line) == 5 && strings.EqualFold(line[:4], "sep=") {
		return true
	}
	for _, d := range delimiters {
		if names := columns(line, d); len(names) > 1 && slices.Contains(names, itemColumn) {
			return true
		}
	}
	return false
}

// beginsObject reports whether the content that begins so is JSONL.
func beginsObject(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{"))
}

// columns are the names in a header under a delimiter, without quotes.
func columns(header, delimiter string) []string {
	names := strings.Split(header, delimiter)
	for i, name := range names {
		names[i] = strings.TrimSpace(strings.Trim(strings.TrimSpace(name), `"`))
	}
	return names
}

// readList reads one id a line.
func readList(path string, in io.Reader, items *Items, diags *diag.List) {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	n, header := 0, false
	for lines.Scan() {
		n++
		line := lines.Text()
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		id := strings.TrimSpace(line)
		pos := diag.Pos{File: path, Line: n, Column: 1}
		pos.Column += utf8.RuneCountInString(line[:len(line)-len(strings.TrimLeftFunc(line, unicode.IsSpace))])
		inner, quoted := unquote(id)
		switch {
		case quoted:
			id = strings.TrimSpace(inner)
		case n == 1 && strings.ContainsAny(id, strings.Join(delimiters, "")):
			diags.Addf(pos, "%s", noItemColumn(id))
			return
		case strings.HasPrefix(id, `"`):
			diags.Addf(pos, "this line begins with a quote that does not enclose all of it: put the whole id in quotes, and double those inside")
			continue
		}
		if n == 1 && strings.EqualFold(id, itemColumn) {
			header = true
			continue
		}
		items.Add(id, pos, diags)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		diags.Addf(diag.Pos{File: path, Line: n + 1}, "the line is longer than %d MiB: a list has one id a line", maxLine>>20)
	case err != nil:
		diags.Addf(diag.Pos{File: path, Line: n + 1}, "the items cannot be read: %s", withoutPath(err))
	case n == 0:
		diags.Addf(diag.Pos{File: path}, "no item was found: the file is empty")
	case header && n == 1:
		diags.Addf(diag.Pos{File: path}, "there is a header but no item: at least 1 is needed")
	}
}

// unquote returns the text of a field in quotes, and whether it is one.
func unquote(field string) (text string, ok bool) {
	if len(field) < 2 || !strings.HasPrefix(field, `"`) || !strings.HasSuffix(field, `"`) {
		return "", false
	}
	inner := field[1 : len(field)-1]
	if strings.Contains(strings.ReplaceAll(inner, `""`, ""), `"`) {
		return "", false
	}
	return strings.ReplaceAll(inner, `""`, `"`), true
}

// noItemColumn is the message for a first line that looks like a header without the column of ids.
func noItemColumn(line string) string {
	for _, d := range delimiters {
		if names := columns(line, d); len(names) > 1 {
			if near := diag.Nearest(itemColumn, names); near != "" {
				return fmt.Sprintf("this header has the column %s and none called %s: rename the column that holds the ids", diag.Quote(near), itemColumn)
			}
		}
	}
	return fmt.Sprintf("this line has a character that separates columns, and no column is called %s: in a table, name the column that holds the ids %s; in a list of ids, write %s alone on a first line",
		itemColumn, itemColumn, itemColumn)
}

// ReadDraw reads a draw that WriteDraw wrote: the columns item, visibility and inclusion_probability, as CSV or JSONL.
// path is a file, or "-" for stdin. Problems go to diags, each with its place: items as in Items.Add, another
// visibility than visible or blind, a probability that ParseChance refuses.
func ReadDraw(path string, stdin io.Reader, diags *diag.List) []Drawn {
	options := rows.Options{
		Columns: []rows.Column{{Name: itemColumn, Required: true}, {Name: "visibility", Required: true}, {Name: "inclusion_probability", Required: true}},
		Stdin:   stdin,
	}
	var drawn []Drawn
	items := &Items{}
	rows.Read([]string{path}, options, func(r rows.Row) {
		id, _ := r.Text(0)
		seen, _ := r.Text(1)
		chance, _ := r.Text(2)
		probability, err := ParseChance(chance)
		known := items.Len()
		items.Add(id, r.Pos(0), diags)
		if seen != Visible && seen != Blind {
			diags.Addf(r.Pos(1), "visibility is %s; write %q or %q", diag.Quote(seen), Visible, Blind)
		}
		if err != nil {
			diags.Addf(r.Pos(2), "inclusion_probability: %v", err)
		}
		if items.Len() > known {
			drawn = append(drawn, Drawn{Item: id, Blind: seen == Blind, Probability: probability})
		}
	}, diags)
	return drawn
}
