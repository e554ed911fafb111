package rows

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// counter counts the records of CSV text by the codes of their columns. It belongs to one goroutine.
type counter struct {
	delimiter byte
	fields    []*dictionary // by field of a record; nil where it is not looked at
	missing   map[string]bool
	cube      *Cube
	base      uint64 // what columns that the file does not have add to a row's combination
	unique    *batch // of the field that is unique; nil for none
	scratch   []byte
	looked    []looked // the fields that are looked at
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
	columns []int             // that are read from the field
	unique  bool              // one of them is unique; then it is the only one
	known   [256]known        // the last texts met, by hash
	rest    map[short]uint64  // texts of up to 15 bytes that are not in known
	long    map[string]uint64 // longer ones
}

// short is a text of up to 15 bytes: its bytes in order, and its length and one in the highest byte, so that the zero value is no text.
type short struct{ low, high uint64 }

// known is a text and what it adds to a row's combination.
type known struct {
	short
	offset uint64
}

// mostKnown is how many texts of a column a worker keeps.
const mostKnown = 1 << 16

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
	ordinary, ascii := c.mark(b, n)
	if !ascii && !utf8.Valid(text) {
		return false
	}
	if !ordinary {
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
		at := c.base
		for i := range c.looked {
			l := &c.looked[i]
			start, end := int(marks[j+l.field]), int(marks[j+l.field+1])-1
			if l.last && end > start && b[end-1] == '\r' {
				end--
			}
			k := uint(end - start)
			if k > 15 || l.unique {
				if l.unique {
					if !c.once(b[start:end]) {
						return false
					}
				} else if !c.long(l.dictionary, b[start:end], &at) {
					return false
				}
				continue
			}
			p := (*[16]byte)(b[start:])
			cut := &cuts[k]
			key := short{binary.LittleEndian.Uint64(p[:8]) & cut.low, binary.LittleEndian.Uint64(p[8:])&cut.high | uint64(k+1)<<56}
			if slot := &l.known[key.hash()]; slot.short == key {
				at += slot.offset
			} else if !c.code(l.dictionary, key, b[start:end], &at) {
				return false
			}
		}
		j = end
		c.cube.add(at, 1)
	}
	return true
}

// mark lists in c.marks where every field of b[:n] begins, and in c.lines, for every line feed, and the end, how many fields have ended there.
// ordinary is false where there is a quote, and the lists are then of no use; ascii says that all of it is ASCII.
func (c *counter) mark(b []byte, n int) (ordinary, ascii bool) {
	if len(c.marks) < n+2*padding {
		c.marks = make([]uint32, n+2*padding)
	}
	list, j := c.marks, 1
	list[0] = 0
	lines := c.lines[:0]
	delimiter := uint64(c.delimiter) * ones
	all, quote := uint64(0), uint64(0)
	for i := 0; i <= n; i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		all |= w
		// A byte of x, y or z is 0 where it is one of the three; adding 0x7F to its seven low bits sets the eighth unless they are 0.
		x, y, z := w^delimiter, w^'\n'*ones, w^'"'*ones
		x = (x&^highs + 0x7F*ones) | x
		y = (y&^highs + 0x7F*ones) | y
		quote |= (z - ones) &^ z
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
	return quote&highs == 0, all&highs == 0
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
		at := uint64(0)
		if i = c.record(text, i, &at); i < 0 {
			return false
		}
		c.cube.add(at, 1)
	}
	return true
}

// record adds a record of text that begins at i and is not ordinary: a field of it is in quotes, or holds one, or it has another number
// of fields. It returns where the next one begins, −1 where it is at fault.
func (c *counter) record(text []byte, i int, at *uint64) (next int) {
	*at = c.base
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
			switch {
			case len(value) > 15:
				if !c.long(d, value, at) {
					return -1
				}
			case !c.short(d, value, at):
				return -1
			}
		}
		i = next
	}
	return min(i, len(text))
}

// short adds what a text of up to 15 bytes adds to a row's combination.
func (c *counter) short(d *dictionary, text []byte, at *uint64) bool {
	if d.unique {
		return c.once(text)
	}
	key := shortOf(text)
	if slot := &d.known[key.hash()]; slot.short == key {
		*at += slot.offset
		return true
	}
	return c.code(d, key, text, at)
}

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

// once adds the text of the column that is unique.
func (c *counter) once(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && !c.missing[string(text)] && c.unique.add(text)
}

// code adds what a text that is not among the last ones adds to a row's combination.
func (c *counter) code(d *dictionary, key short, text []byte, at *uint64) bool {
	if d.unique {
		return c.once(text)
	}
	offset, found := d.rest[key]
	if !found {
		var ok bool
		if offset, ok = c.meet(d, text); !ok {
			return false
		}
		if len(d.rest) >= mostKnown {
			clear(d.rest)
		}
		d.rest[key] = offset
	}
	d.known[key.hash()] = known{key, offset}
	*at += offset
	return true
}

// long does the same for a long text.
func (c *counter) long(d *dictionary, text []byte, at *uint64) bool {
	if d.unique {
		return c.once(text)
	}
	offset, found := d.long[string(text)]
	if !found {
		var ok bool
		if offset, ok = c.meet(d, text); !ok {
			return false
		}
		if len(d.long) >= mostKnown {
			clear(d.long)
		}
		d.long[string(text)] = offset
	}
	*at += offset
	return true
}

// meet asks for the code of a text.
func (c *counter) meet(d *dictionary, text []byte) (offset uint64, ok bool) {
	trimmed := string(bytes.TrimSpace(text))
	recorded := trimmed != "" && !c.missing[trimmed]
	if !recorded {
		trimmed = ""
	}
	for _, col := range d.columns {
		code, ok := c.cube.uses[col].Code(trimmed, recorded)
		if !ok {
			return 0, false
		}
		offset += uint64(code) * c.cube.strides[col]
	}
	return offset, true
}
