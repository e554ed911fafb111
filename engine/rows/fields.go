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
}

// dictionary knows the texts of a field as they are written, by their bytes.
type dictionary struct {
	columns []int             // that are read from the field
	unique  bool              // one of them is unique; then it is the only one
	known   [256]known        // the last texts met, by hash
	rest    map[short]uint64  // texts of up to 15 bytes that are not in known
	long    map[string]uint64 // longer ones
}

// short is a text of up to 15 bytes: its bytes in order, and its length in the highest byte.
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

// padding is how many bytes must lie behind the text of a block: what is read past its end is never looked at.
const padding = 24

// count counts the records of block[:n]; it begins with a record, and ends with the end of one, or of the file. It is false where
// anything is out of the ordinary but for quotes, spaces, and ends of lines.
func (c *counter) count(block []byte, n int) bool {
	b := block[:n+padding]
	delimiter := uint64(c.delimiter) * ones
	last := len(c.fields) - 1
	fields := c.fields
	rows := 0
	all := uint64(0) // every bit that is set in a byte
	for i := 0; i < n; {
		if b[i] == '\n' { // a line that is wholly empty
			i++
			continue
		}
		if b[i] == '\r' && i+1 < n && b[i+1] == '\n' {
			i += 2
			continue
		}
		at := c.base
		for f := 0; ; f++ {
			if f > last {
				return false
			}
			// The field's end is the first byte that is the delimiter or not above a quote.
			p := (*[16]byte)(b[i:])
			w := binary.LittleEndian.Uint64(p[:8])
			all |= w
			x := w ^ delimiter
			m := ((w-0x23*ones)&^w | (x-ones)&^x) & highs
			d := fields[f]
			var k uint
			var key short
			if m != 0 {
				k = uint(bits.TrailingZeros64(m)) &^ 7
				key = short{w & (1<<(k&63) - 1), uint64(k) << 53}
				k >>= 3
			} else {
				v := binary.LittleEndian.Uint64(p[8:])
				all |= v
				x = v ^ delimiter
				m = ((v-0x23*ones)&^v | (x-ones)&^x) & highs
				if m != 0 {
					k = uint(bits.TrailingZeros64(m)) &^ 7
					key = short{w, v&(1<<(k&63)-1) | uint64(k+64)<<53}
					k = k>>3 + 8
				} else {
					k = 16
				}
			}
			end := i + int(k)
			e := b[end]
			if e != c.delimiter && e != '\n' || end >= n || k == 16 {
				// Not an ordinary short field.
				start, stop, next, plain := c.field(b[:n], i)
				all |= highs
				if next < 0 {
					return false
				}
				if d != nil {
					text := b[start:stop]
					if !plain {
						c.scratch = undouble(c.scratch[:0], text)
						text = c.scratch
					}
					if stop-start > 15 || !plain {
						if !c.long(d, text, &at) {
							return false
						}
					} else if !c.code(d, shortOf(text), text, &at) {
						return false
					}
				}
				i = next
				if next > n || b[next-1] == '\n' || next == n {
					if f != last {
						return false
					}
					if next > n {
						i = n
					}
					break
				}
				continue
			}
			if d != nil {
				if d.unique {
					if !c.once(b[i:end]) {
						return false
					}
				} else {
					slot := &d.known[(key.low*0x9E3779B97F4A7C15^key.high*0xC2B2AE3D27D4EB4F)>>56]
					if slot.short == key {
						at += slot.offset
					} else if !c.code(d, key, b[i:end], &at) {
						return false
					}
				}
			}
			i = end + 1
			if e == '\n' {
				if f != last {
					return false
				}
				break
			}
		}
		c.cube.add(at, 1)
		rows++
	}
	c.cube.rows += rows
	return all&highs == 0 || utf8.Valid(b[:n])
}

// shortOf is a text of up to 15 bytes as a key.
func shortOf(text []byte) short {
	var w [16]byte
	copy(w[:], text)
	return short{binary.LittleEndian.Uint64(w[:]), binary.LittleEndian.Uint64(w[8:]) | uint64(len(text))<<56}
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
	d.known[(key.low*0x9E3779B97F4A7C15^key.high*0xC2B2AE3D27D4EB4F)>>56] = known{key, offset}
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
