package rows

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
)

const (
	maxDepth = 10000 // JSON nested deeper is refused, as encoding/json does
	maxKeys  = 10000 // keys remembered between objects
)

// jsonScanner checks one JSON object in place (RFC 8259) and notes where the values of the columns
// lie. Its methods move i over what they read. They return false at a fault, and at the end of b,
// where short is set unless nothing follows b.
type jsonScanner struct {
	b       []byte
	i       int
	eof     bool
	short   bool                // the object goes on beyond b
	bad     fault               // what is wrong, when neither complete nor short
	slots   map[string]int      // by the name of a column in the file
	cells   []cell              // by slot
	has     []bool              // by slot: whether some object has the key
	keys    map[string]*jsonKey // by trimmed key
	object  uint64              // counts objects
	nesting []byte              // the brackets that are open in a value that is passed over
	scratch []byte
}

// jsonKey is a key met in a file.
type jsonKey struct {
	slot int    // of its column, or −1
	last uint64 // the number of the last object that has it
}

// scan reads the object that b begins with, and returns where it ends in b.
func (s *jsonScanner) scan(b []byte, eof bool) (end int, bad *fault, complete bool) {
	s.b, s.i, s.eof, s.short = b, 0, eof, false
	s.begin()
	switch {
	case s.members():
		return s.i, nil, true
	case s.short:
		return 0, nil, false
	}
	return 0, &s.bad, true
}

// begin begins an object. It is true where the keys met so far are forgotten.
func (s *jsonScanner) begin() (forgotten bool) {
	s.object++
	if forgotten = len(s.keys) > maxKeys; forgotten {
		clear(s.keys)
	}
	clear(s.cells)
	return forgotten
}

// keyOf returns the key with a name, which is decoded and trimmed.
func (s *jsonScanner) keyOf(name []byte) *jsonKey {
	k := s.keys[string(name)]
	if k == nil {
		slot, wanted := s.slots[string(name)]
		if wanted {
			s.has[slot] = true
		} else {
			slot = -1
		}
		k = &jsonKey{slot: slot}
		s.keys[string(name)] = k
	}
	return k
}

// fail notes a fault at offset at.
func (s *jsonScanner) fail(at int, format string, args ...any) bool {
	s.bad = fault{at, fmt.Sprintf(format, args...)}
	return false
}

// ends is called where b ends inside the object.
func (s *jsonScanner) ends() bool {
	if s.eof {
		return s.fail(0, "the object that begins here is never closed: the file ends inside it")
	}
	s.short = true
	return false
}

// peek passes over white space and reports whether a byte follows.
func (s *jsonScanner) peek() bool {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return true
		}
	}
	return s.ends()
}

// found names what stands at i, for a message.
func (s *jsonScanner) found() string {
	c, _ := utf8.DecodeRune(s.b[s.i:])
	return diag.Quote(string(c))
}

// members reads an object and fills in the cells.
func (s *jsonScanner) members() bool {
	s.i++ // the brace
	if !s.peek() {
		return false
	}
	if s.b[s.i] == '}' {
		s.i++
		return true
	}
	for {
		if s.b[s.i] != '"' {
			return s.fail(s.i, "found %s: a key in double quotes must stand here", s.found())
		}
		begin := s.i
		key, ok := s.text()
		if !ok {
			return false
		}
		name := s.b[key.start:key.end]
		if key.form == formEscaped {
			s.scratch = unescape(s.scratch[:0], name)
			name = s.scratch
		}
		name = bytes.TrimSpace(name)
		k := s.keyOf(name)
		if k.last == s.object {
			return s.fail(begin, "the key %s stands twice in this object: keep the one that is meant", diag.Quote(string(name)))
		}
		k.last = s.object
		wanted := k.slot >= 0
		if !s.peek() {
			return false
		}
		if s.b[s.i] != ':' {
			return s.fail(s.i, "found %s: a colon must follow the key", s.found())
		}
		s.i++
		if !s.peek() {
			return false
		}
		begin = s.i
		value, ok := s.value()
		switch {
		case !ok:
			return false
		case wanted && value.form == formAbsent:
			what := "an array"
			if s.b[begin] == '{' {
				what = "an object"
			}
			return s.fail(begin, "the value of %s is %s: a text, a number, true, false or null is allowed", diag.Quote(string(s.name(key))), what)
		case wanted:
			s.cells[k.slot] = value
		}
		if !s.peek() {
			return false
		}
		switch s.b[s.i] {
		case '}':
			s.i++
			return true
		case ',':
			s.i++
		default:
			return s.fail(s.i, "found %s: a comma or the closing brace must stand here", s.found())
		}
		if !s.peek() {
			return false
		}
		if s.b[s.i] == '}' {
			return s.fail(s.i, "a comma stands before the closing brace: take it out")
		}
	}
}

// name returns the decoded, trimmed text of a key.
func (s *jsonScanner) name(key cell) []byte {
	name := s.b[key.start:key.end]
	if key.form == formEscaped {
		name = unescape(nil, name)
	}
	return bytes.TrimSpace(name)
}

// value reads one value. Objects and arrays are passed over; their cell is the zero value.
func (s *jsonScanner) value() (cell, bool) {
	switch s.b[s.i] {
	case '"':
		return s.text()
	case '{', '[':
		return cell{}, s.pass()
	}
	return s.word()
}

// text reads a string.
func (s *jsonScanner) text() (cell, bool) {
	start := s.i + 1
	form := formQuoted
	for i := start; i < len(s.b); {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return cell{int32(start), int32(i), form}, true
		case c == '\\':
			form = formEscaped
			n, problem := escape(s.b[i:])
			if n == 0 && problem == "" {
				return cell{}, s.ends()
			}
			if problem != "" {
				return cell{}, s.fail(i, "%s", problem)
			}
			i += n
		case c < ' ':
			what := fmt.Sprintf("the control character U+%04X", c)
			if c == '\n' || c == '\r' {
				what = "a line end"
			}
			return cell{}, s.fail(i, "%s stands inside a string: it is never closed, or the character must be written with a backslash", what)
		default:
			i++
		}
	}
	return cell{}, s.ends()
}

// escape reads the escape that b begins with and returns its length in bytes, a surrogate pair
// counting as one; or 0 and what is wrong; or 0 and "" when b ends inside it.
func escape(b []byte) (int, string) {
	if len(b) < 2 {
		return 0, ""
	}
	if bytes.IndexByte([]byte(`"\/bfnrt`), b[1]) >= 0 {
		return 2, ""
	}
	if b[1] != 'u' {
		return 0, `this escape does not exist: after a backslash come ", \, /, b, f, n, r, t or u and four hex digits`
	}
	high, problem := hex4(b)
	if high < 0 {
		return 0, problem
	}
	if !utf16.IsSurrogate(high) {
		return 6, ""
	}
	const half = "this is half of a surrogate pair: both halves must be written, one after the other"
	if high >= 0xDC00 {
		return 0, half
	}
	rest := b[6:]
	switch {
	case len(rest) == 0, len(rest) == 1 && rest[0] == '\\':
		return 0, ""
	case rest[0] != '\\' || rest[1] != 'u':
		return 0, half
	}
	low, problem := hex4(rest)
	if low < 0 {
		return 0, problem
	}
	if utf16.DecodeRune(high, low) == utf8.RuneError {
		return 0, half
	}
	return 12, ""
}

// hex4 reads the four hex digits of the escape \uXXXX that b begins with; −1 is a fault, or that b ends.
func hex4(b []byte) (rune, string) {
	v := rune(0)
	for i := 2; i < 6; i++ {
		if i >= len(b) {
			return -1, ""
		}
		var digit byte
		switch c := b[i]; {
		case c >= '0' && c <= '9':
			digit = c - '0'
		case c >= 'a' && c <= 'f':
			digit = c - 'a' + 10
		case c >= 'A' && c <= 'F':
			digit = c - 'A' + 10
		default:
			return -1, `four hex digits must follow \u`
		}
		v = v<<4 | rune(digit)
	}
	return v, ""
}

// unescape appends the text of a checked JSON string to dst.
func unescape(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		text = text[i:]
		switch text[1] {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			c, _ := hex4(text)
			if utf16.IsSurrogate(c) {
				low, _ := hex4(text[6:])
				c = utf16.DecodeRune(c, low)
				text = text[6:]
			}
			dst = utf8.AppendRune(dst, c)
			text = text[4:]
		default:
			dst = append(dst, text[1])
		}
		text = text[2:]
	}
}

// word reads a number, true, false or null.
func (s *jsonScanner) word() (cell, bool) {
	start := s.i
	end := start
	for end < len(s.b) && !endsWord(s.b[end]) {
		end++
	}
	if end == len(s.b) && !s.eof {
		return cell{}, s.ends()
	}
	s.i = end
	switch word := s.b[start:end]; {
	case string(word) == "null":
		return cell{int32(start), int32(end), formNull}, true
	case string(word) == "true", string(word) == "false", isNumber(word):
		return cell{int32(start), int32(end), formPlain}, true
	case len(word) == 0:
		s.i = start
		return cell{}, s.fail(start, "found %s: a value must stand here", s.found())
	case slices.Contains([]string{"nan", "-nan", "inf", "-inf", "infinity", "-infinity", "none", "undefined"}, string(bytes.ToLower(word))):
		return cell{}, s.fail(start, "%s is no JSON value: write null for what was not recorded", diag.Quote(string(word)))
	default:
		return cell{}, s.fail(start, "%s is no JSON value: a text in double quotes, a number, true, false or null is allowed", diag.Quote(string(word)))
	}
}

// endsWord reports whether c can stand in no number and in no word, but behind one.
func endsWord(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', ':', '{', '}', '[', ']', '"':
		return true
	}
	return false
}

// isNumber reports whether b is a JSON number: RFC 8259, section 6.
func isNumber(b []byte) bool {
	digits := func() bool {
		n := 0
		for n < len(b) && b[n] >= '0' && b[n] <= '9' {
			n++
		}
		b = b[n:]
		return n > 0
	}
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	if len(b) > 1 && b[0] == '0' && b[1] >= '0' && b[1] <= '9' || !digits() {
		return false
	}
	if len(b) > 0 && b[0] == '.' {
		if b = b[1:]; !digits() {
			return false
		}
	}
	if len(b) > 0 && (b[0] == 'e' || b[0] == 'E') {
		b = b[1:]
		if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
			b = b[1:]
		}
		if !digits() {
			return false
		}
	}
	return len(b) == 0
}

// pass passes over an object or an array, checking it. It does not call itself: depth costs a byte a level.
func (s *jsonScanner) pass() bool {
	s.nesting = s.nesting[:0]
	for {
		// A value must stand at i.
		switch c := s.b[s.i]; c {
		case '{', '[':
			// The row's own object is a level too.
			if len(s.nesting)+1 >= maxDepth {
				return s.fail(s.i, "the value is nested more than %d deep", maxDepth)
			}
			s.nesting = append(s.nesting, c)
			s.i++
			if !s.peek() {
				return false
			}
			if s.b[s.i] == c+2 { // '}' and ']' lie two beyond '{' and '['
				break // empty: the bracket is closed below
			}
			if c == '{' && !s.key() {
				return false
			}
			continue
		case '"':
			if _, ok := s.text(); !ok {
				return false
			}
		default:
			if _, ok := s.word(); !ok {
				return false
			}
		}
		// A value was read, or an empty bracket is to be closed: close what ends here.
		for {
			if !s.peek() {
				return false
			}
			open := s.nesting[len(s.nesting)-1]
			if s.b[s.i] == open+2 {
				s.i++
				s.nesting = s.nesting[:len(s.nesting)-1]
				if len(s.nesting) == 0 {
					return true
				}
				continue
			}
			if s.b[s.i] != ',' {
				return s.fail(s.i, "found %s: a comma or %s must stand here", s.found(), diag.Quote(string(rune(open+2))))
			}
			s.i++
			if !s.peek() {
				return false
			}
			if open == '{' && !s.key() {
				return false
			}
			break
		}
	}
}

// key reads a key and its colon, inside a value that is passed over.
func (s *jsonScanner) key() bool {
	if s.b[s.i] != '"' {
		return s.fail(s.i, "found %s: a key in double quotes must stand here", s.found())
	}
	if _, ok := s.text(); !ok {
		return false
	}
	if !s.peek() {
		return false
	}
	if s.b[s.i] != ':' {
		return s.fail(s.i, "found %s: a colon must follow the key", s.found())
	}
	s.i++
	return s.peek()
}

// newScanner returns what finds the values of the columns, and by column the slot that it puts them in.
func (r *reader) newScanner() (s jsonScanner, index []int) {
	s = jsonScanner{slots: map[string]int{}, keys: map[string]*jsonKey{}}
	for _, name := range r.names {
		slot, met := s.slots[name]
		if !met {
			slot = len(s.slots)
			s.slots[name] = slot
		}
		index = append(index, slot)
	}
	s.cells, s.has = make([]cell, len(s.slots)), make([]bool, len(s.slots))
	return s, index
}

// readJSONL reads the rows of a JSONL file.
func (r *reader) readJSONL(w *window) {
	rec := &r.rec
	s, index := r.newScanner()
	rec.index = index
	line, column := 1, 1
	faults := false
	skip := func(n int) {
		line, column = advance(line, column, w.bytes()[:n])
		w.skip(n)
	}
	for {
		b := w.bytes()
		blank := len(b) - len(bytes.TrimLeft(b, blanks))
		if blank > 0 {
			skip(blank)
			b = b[blank:]
		}
		if len(b) == 0 {
			if w.more() {
				continue
			}
			break
		}
		var end int
		bad, complete := (*fault)(nil), true
		if b[0] == '{' {
			end, bad, complete = s.scan(b, w.eof())
		} else {
			c, _ := utf8.DecodeRune(b)
			bad = &fault{0, fmt.Sprintf("found %s: a JSONL row is an object and begins with {", diag.Quote(string(c)))}
		}
		if !complete {
			if w.more() {
				continue
			}
			if w.failed() {
				break
			}
			r.failAt(b, line, column, 0, fmt.Sprintf("the object that begins here is not closed within %s", size(r.lim.record)))
			return
		}
		if bad == nil {
			if r.checkText(b[:end], line, column) {
				rec.raw, rec.line, rec.column, rec.cells = b[:end], line, column, s.cells
				r.handOver()
			} else {
				faults = true
			}
			skip(end)
			continue
		}
		if !utf8.FullRune(b[bad.at:]) && w.more() {
			continue // the buffer ends inside the character that is at fault
		}
		faults = true
		// What is not UTF-8 may be the cause of the fault.
		_, width := utf8.DecodeRune(b[bad.at:])
		if r.checkText(b[:bad.at+width], line, column) {
			r.failAt(b, line, column, bad.at, bad.message)
		}
		skip(bad.at)
		if !r.resume(w, skip) {
			break
		}
	}
	if w.failed() {
		r.fail(line, "%s", readProblem(w.err))
	}
	for col := range r.opts.Columns {
		r.input.Has[col] = s.has[rec.index[col]]
	}
	if !faults && w.eof() && r.input.Rows > 0 {
		r.checkKeys(s.keys)
	}
}

// checkKeys reports the required columns that are a key of no object of the file.
func (r *reader) checkKeys(met map[string]*jsonKey) {
	keys := slices.Sorted(maps.Keys(met)) // to say which may have been meant
	for col, c := range r.opts.Columns {
		if c.Required && !r.input.Has[col] {
			r.fail(0, "%s", r.missingColumn(col, "key", keys))
		}
	}
}

// resume passes over the rest of a faulty line, and the lines after it that do not begin with '{'. It
// is false at the end of the file.
func (r *reader) resume(w *window, skip func(int)) bool {
	for inLine := true; ; {
		b := w.bytes()
		if inLine {
			n := bytes.IndexByte(b, '\n') + 1
			inLine = n == 0
			if n == 0 {
				n = len(b)
			}
			skip(n)
			b = b[n:]
		}
		if !inLine {
			text := bytes.TrimLeft(b, blanks)
			skip(len(b) - len(text))
			if len(text) > 0 {
				if text[0] == '{' {
					return true
				}
				inLine = true
				continue
			}
		}
		if !w.more() {
			return false
		}
	}
}
