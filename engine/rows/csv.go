package rows

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
)

// delimiters are the ones that are looked for in a header.
var delimiters = []byte{',', ';', '\t', '|'}

// isDelimiter reports whether a person may choose c as the delimiter.
func isDelimiter(c rune) bool {
	switch {
	case c <= 0 || c > 127, c == '"', c == '\r', c == '\n':
		return false
	case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		return false
	}
	return true
}

// fault is what is wrong with a record, and where in it.
type fault struct {
	at      int // offset in the record's text
	message string
}

// csvScanner finds the fields of one CSV record in place: RFC 4180, but that a line feed alone also ends
// a record, and a carriage return alone does not.
type csvScanner struct {
	delimiter byte
	keep      int    // how many fields to keep
	cells     []cell // the first keep fields
	fields    int    // how many fields the record has
	open      int    // offset of the quote that is not closed in what was scanned, or −1
}

// scan finds the record that b begins with. The record's text is b[:end], the next one begins at next.
// complete is false when the record goes on beyond b, which never happens when eof says that nothing
// does. With a fault, next is the beginning of the line after it.
func (s *csvScanner) scan(b []byte, eof bool) (end, next int, bad *fault, complete bool) {
	s.cells, s.fields, s.open = s.cells[:0], 0, -1
	for i := 0; ; {
		if i < len(b) && b[i] == '"' {
			form, closing := formQuoted, i+1
			for {
				q := bytes.IndexByte(b[closing:], '"')
				if q < 0 {
					s.open = i
					if eof {
						return 0, len(b), &fault{i, "the quote that opens here is never closed"}, true
					}
					return 0, 0, nil, false
				}
				closing += q
				if closing+1 == len(b) || b[closing+1] != '"' {
					break
				}
				form = formDoubled
				closing += 2
			}
			s.field(i+1, closing, form)
			i = closing + 1
			rest := b[i:]
			if !eof && (len(rest) == 0 || len(rest) == 1 && rest[0] == '\r') {
				return 0, 0, nil, false
			}
			switch {
			case len(rest) == 0:
				return i, i, nil, true
			case rest[0] == s.delimiter:
				i++
				continue
			case rest[0] == '\n':
				return i, i + 1, nil, true
			case bytes.HasPrefix(rest, []byte("\r\n")):
				return i, i + 2, nil, true
			}
			return s.afterFault(b, eof, &fault{i, "text follows a closing quote: a quoted field ends at its quote, and quotes inside it are doubled"})
		}

		// The field is not quoted, and neither are those after it up to a quote: no line end is inside.
		lineEnd := bytes.IndexByte(b[i:], '\n')
		if lineEnd < 0 && !eof {
			return 0, 0, nil, false
		}
		end, next := len(b), len(b)
		if lineEnd >= 0 {
			end, next = i+lineEnd, i+lineEnd+1
			if end > i && b[end-1] == '\r' {
				end--
			}
		}
		quote := bytes.IndexByte(b[i:end], '"')
		plain := end // unquoted fields that begin before here can be cut without looking for quotes
		if quote >= 0 {
			plain = i + quote
		}
		for {
			d := bytes.IndexByte(b[i:end], s.delimiter)
			stop := end
			if d >= 0 {
				stop = i + d
			}
			if stop > plain {
				return s.afterFault(b, eof, &fault{plain, "a quote stands inside an unquoted field: put the whole field in quotes (no space before them) and double the ones inside"})
			}
			s.field(i, stop, formPlain)
			if d < 0 {
				return end, next, nil, true
			}
			i = stop + 1
			if i == plain && quote >= 0 {
				break // the next field is quoted
			}
		}
	}
}

// field adds one field.
func (s *csvScanner) field(start, end int, form form) {
	if s.fields < s.keep {
		s.cells = append(s.cells, cell{int32(start), int32(end), form})
	}
	s.fields++
}

// afterFault returns what scan does for a faulty record: all up to the end of the fault's line.
func (s *csvScanner) afterFault(b []byte, eof bool, bad *fault) (end, next int, _ *fault, complete bool) {
	lineEnd := bytes.IndexByte(b[bad.at:], '\n')
	switch {
	case lineEnd >= 0:
		return 0, bad.at + lineEnd + 1, bad, true
	case eof:
		return 0, len(b), bad, true
	}
	return 0, 0, nil, false
}

// undouble appends the text of a quoted field to dst, each doubled quote once.
func undouble(dst, field []byte) []byte {
	for {
		q := bytes.IndexByte(field, '"')
		if q < 0 {
			return append(dst, field...)
		}
		dst = append(dst, field[:q+1]...)
		field = field[q+2:]
	}
}

// csvFile is a CSV file being read.
type csvFile struct {
	*reader
	w    *window
	scan csvScanner
	line int // of the first byte held in w
}

// readCSV reads the rows of a CSV file.
func (r *reader) readCSV(w *window) {
	f := csvFile{reader: r, w: w, line: 1}
	if header, ok := f.header(); ok {
		f.readRows(header)
	}
}

// header reads the header, with the delimiter that is named or found.
func (f *csvFile) header() (header csvHeader, ok bool) {
	candidates := delimiters
	if d := f.declaredDelimiter(); d != 0 {
		candidates = []byte{d}
	}
	if f.opts.Delimiter != 0 {
		candidates = []byte{byte(f.opts.Delimiter)}
	}
	return f.readHeader(candidates)
}

// declaredDelimiter skips a first line such as "sep=;", which spreadsheets write, and returns its
// delimiter, or 0.
func (f *csvFile) declaredDelimiter() byte {
	b := f.w.bytes()
	line, _, _ := bytes.Cut(b, []byte{'\n'})
	text := bytes.TrimSuffix(line, []byte{'\r'})
	if len(text) != 5 || !strings.EqualFold(string(text[:4]), "sep=") || !isDelimiter(rune(text[4])) {
		return 0
	}
	f.w.skip(min(len(line)+1, len(b)))
	f.line++
	return text[4]
}

// next finds the next record under the delimiter d and keeps its first fields; skip then drops it.
// done is true at the end of the file, or when the record is too long or the stream broke off, which is
// reported here.
func (f *csvFile) next(d byte, keep int) (end, next int, bad *fault, done bool) {
	f.scan.delimiter, f.scan.keep = d, keep
	for {
		b := f.w.bytes()
		for len(b) > 0 && (b[0] == '\n' || bytes.HasPrefix(b, []byte("\r\n"))) {
			n := bytes.IndexByte(b, '\n') + 1
			f.w.skip(n)
			f.line++
			b = b[n:]
		}
		if f.w.eof() && len(b) == 0 {
			return 0, 0, nil, true
		}
		end, next, bad, complete := f.scan.scan(b, f.w.eof())
		if complete {
			return end, next, bad, false
		}
		if !f.w.more() {
			if f.w.failed() {
				f.fail(f.line, "%s", readProblem(f.w.err))
			} else {
				f.tooLong(b)
			}
			return 0, 0, nil, true
		}
	}
}

// tooLong reports a record over the limit, at its beginning or at the quote that it never closes.
func (f *csvFile) tooLong(b []byte) {
	f.scan.scan(b, true) // as if the file ended here: this finds an open quote even on an unfinished line
	if f.scan.open >= 0 {
		f.failAt(b, f.line, 1, f.scan.open, fmt.Sprintf("the quote that opens here is not closed within %s", size(f.lim.record)))
		return
	}
	f.fail(f.line, "the record is longer than %s", size(f.lim.record))
}

// size writes a limit in bytes for a person.
func size(n int) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// skip drops the record that next found.
func (f *csvFile) skip(next int) {
	f.line += bytes.Count(f.w.bytes()[:next], []byte{'\n'})
	f.w.skip(next)
}

// csvHeader is a header as read under one delimiter.
type csvHeader struct {
	delimiter byte
	names     []string // trimmed
	index     []int    // by column of Options.Columns: its first field, or −1
	again     []int    // by column: its second field, or −1
	cells     []cell
	found     int // how many required columns it has
	next      int // where the record ends in the window
	bad       *fault
}

// readHeader reads the header, finds the delimiter among candidates and reports what is wrong.
func (f *csvFile) readHeader(candidates []byte) (header csvHeader, ok bool) {
	var tried []csvHeader
	for _, d := range candidates {
		end, next, bad, done := f.next(d, maxColumns)
		if done {
			return header, false
		}
		h := csvHeader{delimiter: d, next: next, bad: bad}
		f.nameColumns(&h, f.w.bytes(), end)
		tried = append(tried, h)
	}
	raw := f.w.bytes()
	if text := raw[:tried[0].next]; !f.checkText(text, f.line, 1) {
		return header, false
	}
	header, problem := f.choose(tried)
	if problem != "" {
		f.fail(f.line, "%s", problem)
		return header, false
	}
	if header.bad != nil {
		f.failAt(raw, f.line, 1, header.bad.at, header.bad.message)
		return header, false
	}
	if message := f.noneFound(header, candidates); message != "" {
		f.fail(f.line, "%s", message)
		return header, false
	}
	ok = true
	for col := range f.opts.Columns {
		switch i, j := header.index[col], header.again[col]; {
		case i < 0 && f.opts.Columns[col].Required:
			f.fail(f.line, "%s", f.missingColumn(col, "column", header.names))
			ok = false
		case j >= 0:
			f.failAt(raw, f.line, 1, header.begin(j), fmt.Sprintf("the column %s stands twice in the header: keep the one that is meant", f.label(col)))
			ok = false
		case i >= 0:
			f.input.Has[col] = true
		}
	}
	return header, ok
}

// noneFound returns the message for a header that has, and resembles, none of the required columns: most
// often the first line is none, or another delimiter is in use.
func (f *csvFile) noneFound(header csvHeader, candidates []byte) string {
	var required []string
	for col, c := range f.opts.Columns {
		if !c.Required {
			continue
		}
		if header.index[col] >= 0 || nearest(f.names[col], header.names) != "" {
			return ""
		}
		required = append(required, f.label(col))
	}
	if len(required) == 0 {
		return ""
	}
	var tried []string
	for _, d := range candidates {
		tried = append(tried, diag.Quote(string(d)))
	}
	return fmt.Sprintf("no required column is in this line, which must be the header (columns %s; delimiter %s)",
		strings.Join(required, ", "), strings.Join(tried, " or "))
}

// begin returns the offset at which field i of the header begins.
func (h *csvHeader) begin(i int) int {
	begin := int(h.cells[i].start)
	if h.cells[i].form >= formQuoted {
		begin--
	}
	return begin
}

// nameColumns fills in the header from the scanned record raw[:end].
func (f *csvFile) nameColumns(h *csvHeader, raw []byte, end int) {
	h.cells = append([]cell(nil), f.scan.cells...)
	where := map[string]int{}
	second := map[string]int{}
	for i, c := range h.cells {
		text := raw[c.start:c.end]
		if c.form == formDoubled {
			text = undouble(nil, text)
		}
		name := string(bytes.TrimSpace(text))
		h.names = append(h.names, name)
		if _, met := where[name]; !met {
			where[name] = i
		} else if _, met := second[name]; !met {
			second[name] = i
		}
	}
	if h.bad == nil && f.scan.fields > maxColumns {
		h.bad = &fault{end, fmt.Sprintf("the header has %d columns: at most %d are read", f.scan.fields, maxColumns)}
	}
	for col, name := range f.names {
		i, j := -1, -1
		if at, met := where[name]; met && name != "" {
			i = at
		}
		if at, met := second[name]; met && name != "" {
			j = at
		}
		h.index, h.again = append(h.index, i), append(h.again, j)
		if i >= 0 && f.opts.Columns[col].Required {
			h.found++
		}
	}
}

// choose returns the header under the delimiter with which all required columns are found. Where none
// has them all it returns the one that comes nearest, to say what it lacks.
func (f *csvFile) choose(tried []csvHeader) (header csvHeader, problem string) {
	required := 0
	for _, c := range f.opts.Columns {
		if c.Required {
			required++
		}
	}
	best := 0
	var full, splits []csvHeader
	for i, h := range tried {
		if h.bad == nil && h.found == required {
			full = append(full, h)
			if len(h.names) > 1 {
				splits = append(splits, h)
			}
		}
		if nearer(h, tried[best]) {
			best = i
		}
	}
	switch {
	case len(splits) == 1:
		return splits[0], ""
	case len(splits) > 1:
		var names []string
		for _, h := range splits {
			names = append(names, diag.Quote(string(h.delimiter)))
		}
		return header, "the header can be read with the delimiters " + strings.Join(names, " and ") + ": name one with --delimiter"
	case len(full) > 0:
		return full[0], "" // no delimiter splits the header: one column
	}
	return tried[best], ""
}

// nearer reports that h is a better guess at the header than b: it has more of the required columns,
// then no fault, then more columns.
func nearer(h, b csvHeader) bool {
	switch {
	case h.found != b.found:
		return h.found > b.found
	case (h.bad == nil) != (b.bad == nil):
		return h.bad == nil
	}
	return len(h.names) > len(b.names)
}

// readRows reads the records after the header.
func (f *csvFile) readRows(header csvHeader) {
	rec := &f.rec
	rec.index = header.index
	keep := 0
	for _, i := range header.index {
		keep = max(keep, i+1)
	}
	expected := len(header.names)
	f.skip(header.next)
	records := 0
	for {
		end, next, bad, done := f.next(header.delimiter, keep)
		if done {
			break
		}
		records++
		raw := f.w.bytes()[:next]
		if !f.checkText(raw, f.line, 1) {
			f.skip(next)
			continue
		}
		switch found := f.scan.fields; {
		case bad != nil:
			f.failAt(raw, f.line, 1, bad.at, bad.message)
		case found < expected:
			f.failAt(raw, f.line, 1, end, fmt.Sprintf("the row has %s and the header %d: nothing stands for %s", count(found, "field"), expected, lacking(header.names[found:])))
		case found > expected:
			f.failAt(raw, f.line, 1, end, fmt.Sprintf("the row has %s and the header %d: put a value that holds the delimiter %s in quotes", count(found, "field"), expected, diag.Quote(string(header.delimiter))))
		default:
			rec.raw, rec.line, rec.column, rec.cells = raw[:end], f.line, 1, f.scan.cells
			f.handOver()
		}
		f.skip(next)
	}
	if records == 0 && f.w.eof() {
		message := "there is a header but no row: every file needs one"
		if strings.ContainsRune(strings.Join(header.names, ""), '\r') {
			message += " (its lines end in a carriage return alone: save it with line feeds)"
		}
		f.fail(0, "%s", message)
	}
}

// lacking names the columns for which a row has no field: the first, and how many more.
func lacking(names []string) string {
	text := diag.Quote(names[0])
	if names[0] == "" {
		text = "a column without a name"
	}
	if more := len(names) - 1; more > 0 {
		text += " and " + count(more, "more column")
	}
	return text
}

// count writes a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
