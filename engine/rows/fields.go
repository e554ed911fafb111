package rows

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sync"
	"unicode/utf8"
)

// counter counts the records of CSV text by the codes of their columns. It belongs to one goroutine.
type counter struct {
	marker
	fields  []*dictionary // by field of a record; nil where it is not looked at
	missing map[string]bool
	cube    *Cube
	base    uint64 // what columns that the file does not have add to a row's combination
	value   Sum    // of the row's number
	scratch []byte
	looked  []looked    // the fields that are looked at
	telling *sync.Mutex // held while texts are told

	unclear [256]bool // the first bytes of texts that may mean "not recorded", or be white space
}

// marker finds the fields of CSV text.
type marker struct {
	delimiter byte
	marks     []uint32 // where the fields of a block begin
	lines     []uint32 // which of them are the first of a record, but the first
}

// looked is a field that is looked at.
type looked struct {
	*dictionary
	field int
	last  bool // of a record
}

// dictionary knows the texts of a field as they are written, by their bytes.
type dictionary struct {
	columns []int            // that are counted by it
	each    bool             // its texts are mostly different: they are read each time, and not kept
	full    bool             // it is never empty
	ids     *batch           // where no text may come twice; else nil
	number  int              // the column whose numbers are added up, −1 for none
	known   [256]known       // the last texts met, by hash
	rest    map[short]entry  // texts of up to 15 bytes that are not in known
	long    map[string]entry // longer ones
	bytes   int              // that these have
	told    []*told
}

// entry is what a text adds to a row's combination, and where it is counted to be told; nil where it is not.
type entry struct {
	offset uint64
	told   *told
}

// told is a text that is told, and the rows that have it.
type told struct {
	columns []int
	text    string
	rows    int
}

// short is a text of up to 15 bytes: its bytes in order, and its length and one in the highest byte, so that the zero value is no text.
type short struct{ low, high uint64 }

// known is a text and what is known of it.
type known struct {
	short
	entry
}

const (
	mostKnown = 1 << 16 // texts of a column that a worker keeps
	mostLong  = 1 << 20 // bytes of them, where they are long: beyond that it keeps one
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// cuts keep the first bytes of two words, by how many.
var cuts = func() (list [16]short) {
	for k := range list {
		low, high := min(k, 8), max(k-8, 0)
		list[k] = short{1<<(8*low) - 1, 1<<(8*high) - 1}
	}
	return list
}()

// padding is how many bytes must lie behind the text of a block: what is read past its end is never looked at.
const padding = 24

// count counts the records of block[:n]; it begins with a record, and ends with the end of one, or of the file. It is false where
// anything is out of the ordinary but for quotes, spaces, and ends of lines.
//
// First the places of all delimiters and line feeds are listed, eight bytes at a time; then the records are read between them. Neither
// waits for the other's outcome field by field, as a scanner would.
func (c *counter) count(block []byte, n int) bool {
	b := block[:n+padding]
	for i := range padding { // so that the last record of a file ends as the others do
		b[n+i] = '\n'
	}
	text := b[:n]
	if n > 0 && b[n-1] == '\n' {
		n--
	}
	quotes, ascii := c.mark(b, n)
	if !ascii && !utf8.Valid(text) {
		return false
	}
	if quotes > 0 && !c.around(b, len(text), quotes) {
		return c.quoted(text)
	}
	marks, fields, j := c.marks, len(c.fields), 0
	for _, line := range c.lines {
		end := int(line) // of the record's marks
		if end-j == 1 {
			if from, to := int(marks[j]), int(marks[end])-1; from == to || from+1 == to && to < len(text) && b[from] == '\r' {
				j = end
				continue // a line that is wholly empty
			}
		}
		if end-j != fields {
			return false
		}
		at := c.begin()
		for i := range c.looked {
			l := &c.looked[i]
			start, end := int(marks[j+l.field]), int(marks[j+l.field+1])-1
			if l.last && end > start && b[end-1] == '\r' {
				end--
			}
			if quotes > 0 && end > start && b[start] == '"' {
				start, end = start+1, end-1
			}
			k := uint(end - start)
			if k > 15 || l.each {
				if l.each && l.ids == nil && l.number < 0 && k > 0 && !c.unclear[b[start]] {
					continue // something is recorded, whatever it is
				}
				if !c.text(l.dictionary, b[start:end], &at) {
					return false
				}
				continue
			}
			p := (*[16]byte)(b[start:])
			cut := &cuts[k]
			key := short{binary.LittleEndian.Uint64(p[:8]) & cut.low, binary.LittleEndian.Uint64(p[8:])&cut.high | uint64(k+1)<<56}
			if slot := &l.known[key.hash()]; slot.short == key {
				at += slot.offset
				if slot.told != nil {
					slot.told.rows++
				}
			} else if !c.code(l.dictionary, key, b[start:end], &at) {
				return false
			}
		}
		j = end
		c.end(at)
	}
	return true
}

// mark lists in c.marks where every field of b[:n] begins, and in c.lines, for every line feed, and the end, how many fields have ended there.
// quotes is how many quotes there are: between them there may be what is no delimiter and no end of a record; ascii says that all of it is
// ASCII.
func (c *marker) mark(b []byte, n int) (quotes int, ascii bool) {
	if len(c.marks) < n+2*padding {
		c.marks = make([]uint32, n+2*padding)
	}
	list, j := c.marks, 1
	list[0] = 0
	lines := c.lines[:0]
	delimiter := uint64(c.delimiter) * ones
	all := uint64(0)
	for i := 0; i <= n; i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		all |= w
		// A byte of x, y or z is 0 where it is one of the three; adding 0x7F to its seven low bits sets the eighth unless they are 0.
		x, y, z := w^delimiter, w^'\n'*ones, w^'"'*ones
		x = (x&^highs + 0x7F*ones) | x
		y = (y&^highs + 0x7F*ones) | y
		z = (z&^highs + 0x7F*ones) | z
		if z = ^z & highs; z != 0 {
			quotes += bits.OnesCount64(z)
		}
		m := ^(x & y) & highs
		if y = ^y & highs; y != 0 {
			for ; y != 0; y &= y - 1 {
				lines = append(lines, uint32(j+bits.OnesCount64(m&(y^(y-1)))-1))
			}
		}
		for ; m != 0; m &= m - 1 {
			list[j] = uint32(i+bits.TrailingZeros64(m)>>3) + 1
			j++
		}
	}
	// Behind the text there are line feeds: the first ends the last record.
	for len(lines) > 1 && list[lines[len(lines)-2]] > uint32(n) {
		lines = lines[:len(lines)-1]
	}
	c.lines = lines
	return quotes, all&highs == 0
}

// around reports whether the quotes of a block of n bytes, so many, stand only around whole fields between its marks. Then the marks are right: a
// field that begins with a quote ends at the next one.
func (c *marker) around(b []byte, n, quotes int) bool {
	if len(c.lines) == 0 {
		return false
	}
	start := int(c.marks[0])
	for _, next := range c.marks[1 : c.lines[len(c.lines)-1]+1] {
		if b[start] == '"' {
			end := int(next) - 1
			if end < n && b[end] == '\n' && b[end-1] == '\r' { // at the end of a file a carriage return is no end of a line
				end--
			}
			if end-start < 2 || b[end-1] != '"' {
				return false
			}
			quotes -= 2
		}
		start = int(next)
	}
	return quotes == 0
}

// quoted counts the records of a text that has quotes, field by field.
func (c *counter) quoted(text []byte) bool {
	for i := 0; i < len(text); {
		if text[i] == '\n' {
			i++
			continue
		}
		if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			i += 2
			continue
		}
		at := c.begin()
		if i = c.record(text, i, &at); i < 0 {
			return false
		}
		c.end(at)
	}
	return true
}

// record adds a record of text that begins at i and is not ordinary: a field of it is in quotes, or holds one, or it has another number
// of fields. It returns where the next one begins, −1 where it is at fault.
func (c *counter) record(text []byte, i int, at *uint64) (next int) {
	for f, d := range c.fields {
		start, stop, next, plain := c.field(text, i)
		if next < 0 {
			return -1
		}
		ended := next > len(text) || text[next-1] == '\n'
		if ended != (f == len(c.fields)-1) {
			return -1
		}
		if d != nil {
			value := text[start:stop]
			if !plain {
				c.scratch = undouble(c.scratch[:0], value)
				value = c.scratch
			}
			if !c.text(d, value, at) {
				return -1
			}
		}
		i = next
	}
	return min(i, len(text))
}

// begin begins a row, and returns the combination that the texts of its fields are added to.
func (c *counter) begin() uint64 {
	c.value = Sum{}
	return c.base
}

// text adds what a field's text, freed of quotes and escapes, adds to the row's combination; a field that is not recorded has none. It is
// false where no row may have it, or something has to be looked at again.
func (c *counter) text(d *dictionary, text []byte, at *uint64) bool {
	switch {
	case d.number >= 0:
		return c.numeral(d, text, at)
	case d.each:
		text = bytes.TrimSpace(text)
		if len(text) == 0 || c.unclear[text[0]] && c.missing[string(text)] {
			return !d.full
		}
		if d.ids != nil {
			d.ids.add(text)
			return !d.ids.suspect
		}
		return true
	case len(text) > 15:
		return c.long(d, text, at)
	}
	key := shortOf(text)
	if slot := &d.known[key.hash()]; slot.short == key {
		*at += slot.offset
		if slot.told != nil {
			slot.told.rows++
		}
		return true
	}
	return c.code(d, key, text, at)
}

// end counts the row.
func (c *counter) end(at uint64) { c.cube.add(at, 1, c.value) }

// finish ends the counting of a file.
func (c *counter) finish() {
	for _, d := range c.fields {
		if d == nil {
			continue
		}
		c.tell(d)
		if d.ids != nil {
			d.ids.end()
		}
	}
}

// numeral adds a text that is a number.
func (c *counter) numeral(d *dictionary, text []byte, at *uint64) bool {
	text = bytes.TrimSpace(text)
	use := &c.cube.uses[d.number]
	if len(text) == 0 || c.unclear[text[0]] && c.missing[string(text)] {
		code, _, ok := use.Code("", false)
		*at += uint64(code) * c.cube.strides[d.number]
		return ok && !d.full
	}
	value, quick := quickDecimal(text)
	rounded := false
	if !quick {
		var err error
		if value, rounded, err = ParseDecimal(string(text)); err != nil {
			return false
		}
		if rounded {
			c.cube.rounded++
		}
	}
	code, ok := use.Number(value, rounded)
	*at += uint64(code) * c.cube.strides[d.number]
	c.value = Sum{}.Add(value)
	return ok
}

// quickDecimal reads a number of up to 18 digits without a sign and an exponent, as most are; quick is false for any other text.
func quickDecimal(text []byte) (d Decimal, quick bool) {
	point, n := -1, uint64(0)
	if len(text) > 19 {
		return d, false
	}
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			n = n*10 + uint64(c-'0')
		case c == '.' && point < 0:
			point = i
		default:
			return d, false
		}
	}
	digits, places := len(text), 0
	if point >= 0 {
		digits, places = len(text)-1, len(text)-1-point
	}
	if digits == 0 || digits > 18 {
		return d, false
	}
	hi, lo := bits.Mul64(n, tens[Places-places])
	return Decimal{hi: int64(hi), lo: lo}, true
}

// tens are the powers of ten.
var tens = func() (list [Places + 1]uint64) {
	list[0] = 1
	for i := range Places {
		list[i+1] = 10 * list[i]
	}
	return list
}()

// hash is the text's place among the known ones.
func (s short) hash() uint8 {
	return uint8((s.low*0x9E3779B97F4A7C15 ^ s.high*0xC2B2AE3D27D4EB4F) >> 56)
}

// shortOf is a text of up to 15 bytes as a key.
func shortOf(text []byte) short {
	var w [16]byte
	copy(w[:], text)
	return short{binary.LittleEndian.Uint64(w[:]), binary.LittleEndian.Uint64(w[8:]) | uint64(len(text)+1)<<56}
}

// field finds the field that begins at i in text, whatever it looks like: its text is text[start:stop], plain unless it has doubled
// quotes. The next one begins at next; behind the last field of a record that is behind its line feed, or one past the end of the text
// where there is none. next is −1 where the field is at fault, or not finished.
func (c *counter) field(text []byte, i int) (start, stop, next int, plain bool) {
	if i < len(text) && text[i] == '"' {
		plain = true
		for j := i + 1; ; {
			q := bytes.IndexByte(text[j:], '"')
			if q < 0 {
				return 0, 0, -1, false
			}
			j += q
			if j+1 < len(text) && text[j+1] == '"' {
				plain = false
				j += 2
				continue
			}
			switch rest := text[j+1:]; {
			case len(rest) == 0:
				return i + 1, j, len(text) + 1, plain
			case rest[0] == c.delimiter, rest[0] == '\n':
				return i + 1, j, j + 2, plain
			case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
				return i + 1, j, j + 3, plain
			}
			return 0, 0, -1, false
		}
	}
	for j := i; ; j++ {
		if j == len(text) {
			return i, j, j + 1, true
		}
		switch text[j] {
		case c.delimiter:
			return i, j, j + 1, true
		case '\n':
			stop = j
			if stop > i && text[stop-1] == '\r' {
				stop--
			}
			return i, stop, j + 1, true
		case '"':
			return 0, 0, -1, false
		}
	}
}

// code adds what a text that is not among the last ones adds to a row's combination.
func (c *counter) code(d *dictionary, key short, text []byte, at *uint64) bool {
	e, found := d.rest[key]
	if !found {
		var ok bool
		if e, ok = c.meet(d, text); !ok {
			return false
		}
		if len(d.rest) >= mostKnown {
			c.tell(d)
			e.again(d)
		}
		d.rest[key] = e
	}
	d.known[key.hash()] = known{key, e}
	e.add(at)
	return true
}

// long does the same for a long text.
func (c *counter) long(d *dictionary, text []byte, at *uint64) bool {
	e, found := d.long[string(text)]
	if !found {
		var ok bool
		if e, ok = c.meet(d, text); !ok {
			return false
		}
		if len(d.long) >= mostKnown || d.bytes+len(text) > mostLong {
			c.tell(d)
			e.again(d)
		}
		d.long[string(text)] = e
		d.bytes += len(text)
	}
	e.add(at)
	return true
}

// add adds a text to a row's combination.
func (e entry) add(at *uint64) {
	*at += e.offset
	if e.told != nil {
		e.told.rows++
	}
}

// again puts a new text back among those that are to be told.
func (e entry) again(d *dictionary) {
	if e.told != nil {
		d.told = append(d.told, e.told)
	}
}

// meet asks for the code of a text.
func (c *counter) meet(d *dictionary, text []byte) (e entry, ok bool) {
	trimmed := string(bytes.TrimSpace(text))
	recorded := trimmed != "" && !c.missing[trimmed]
	if !recorded {
		if d.full {
			return e, false
		}
		trimmed = ""
	}
	for _, col := range d.columns {
		code, tell, ok := c.cube.uses[col].Code(trimmed, recorded)
		if !ok {
			return e, false
		}
		e.offset += uint64(code) * c.cube.strides[col]
		if tell {
			if e.told == nil {
				e.told = &told{text: trimmed}
				d.told = append(d.told, e.told)
			}
			e.told.columns = append(e.told.columns, col)
		}
	}
	return e, true
}

// tells reports whether a text that was the last one added is told.
func (d *dictionary) tells(text []byte) bool {
	if len(text) > 15 {
		return d.long[string(text)].told != nil
	}
	return d.known[shortOf(text).hash()].told != nil
}

// tell tells the rows of the texts that are to be told, and forgets all texts.
func (c *counter) tell(d *dictionary) {
	if len(d.told) > 0 {
		c.telling.Lock()
		defer c.telling.Unlock()
	}
	for _, t := range d.told {
		for _, col := range t.columns {
			if t.rows > 0 {
				c.cube.uses[col].Tell(t.text, t.rows)
			}
		}
	}
	d.told = d.told[:0]
	clear(d.known[:])
	clear(d.rest)
	clear(d.long)
	d.bytes = 0
}
