package rows

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// objects counts the objects of JSONL text by the codes of their columns. It belongs to one goroutine.
//
// What stands before a value, with its key, is mostly the same bytes as in the first object, or in some object before: it is found by
// comparing. Plain strings and numbers are read here; what is seldom, such as an escape or an array, the scanner reads, as it does for Read.
type objects struct {
	*counter                // its fields are the scanner's slots
	scan     jsonScanner    // its b is the text of the block; it has one more cell, for values that are not wanted
	most     int            // bytes of an object
	before   []*before      // what stood before the values of the first object, in its order
	learned  bool           // there was one
	met      [256][]*before // what stood before any value, by its first bytes
	mets     int            // how many these are
	other    before         // what stands before the value that is read, where it is not noted
}

// before is what stands before a value: a comma, or the opening brace, and a key and a colon, with all blanks.
type before struct {
	size int
	head word2  // the first 16 bytes
	mask word2  // all bits of those of them that there are
	tail string // the other bytes
	cell int    // where the value goes
	key  *jsonKey

	shape shape // of the last number there, most often also of the next
}

// shape is where a number of up to eight bytes has digits, and what else it has. That the next number has the shape of the last is
// guessed by the processor long before it knows where that number ends: it goes on with what follows.
type shape struct {
	size   int
	within uint64 // the highest bits of the bytes of the number
	other  uint64 // those of them that are no digits
	bytes  uint64 // all bits of these
	fixed  uint64 // the bytes themselves
	first  uint64 // all bits of a digit that must not be 0, the first of several before the point; without one all bits of all bytes
	after  byte   // what follows the number
}

// word2 is up to 16 bytes of text.
type word2 struct{ low, high uint64 }

// mostBefore is how often what stands before a value is noted, and how many bytes of it.
const mostBefore = 1 << 10

// newObjects returns what counts objects with c.
func (r *reader) newObjects(c *counter) *objects {
	scan, _ := r.newScanner()
	scan.cells = append(scan.cells, cell{})
	return &objects{counter: c, scan: scan, most: r.lim.record}
}

// count counts the objects of block[:n]; it begins and ends between two. It is false where anything is wrong, or may be.
func (o *objects) count(block []byte, n int) bool {
	b := block[:n+padding]
	for i := range padding { // so that whatever goes on at n ends there
		b[n+i] = '\n'
	}
	o.scan.b = b[:n]
	if n > o.most || !utf8.Valid(b[:n]) {
		return false
	}
	for i := 0; ; {
		if i = blanksEnd(b, i, n); i == n {
			return true
		}
		if b[i] != '{' {
			return false
		}
		if i = o.members(b, i); i < 0 {
			return false
		}
		at, ok := o.values(b)
		if !ok {
			return false
		}
		o.end(at)
	}
}

// end is where the bytes end that b has at i, if they are those of e; else −1.
func (e *before) end(b []byte, i, n int) int {
	end, head := i+e.size, (*[16]byte)(b[i:])
	if end >= n || binary.LittleEndian.Uint64(head[:8])&e.mask.low != e.head.low || binary.LittleEndian.Uint64(head[8:])&e.mask.high != e.head.high ||
		e.tail != "" && string(b[i+16:end]) != e.tail {
		return -1
	}
	return end
}

// members finds the values of the object that begins at i. It returns where it ends, −1 where it is at fault or not whole.
func (o *objects) members(b []byte, i int) (end int) {
	s, n := &o.scan, len(o.scan.b)
	if s.begin() { // the keys are forgotten, and what is known of them
		o.before, o.learned, o.met, o.mets = nil, false, [len(o.met)][]*before{}, 0
	}
	likeFirst := true // so far; then no key stands twice
	for place := 0; ; place++ {
		var e *before
		begin := -1
		if place < len(o.before) {
			e = o.before[place]
			begin = e.end(b, i, n)
		}
		if begin < 0 {
			if b[i] == '}' && place > 0 {
				o.learned = true
				return i + 1
			}
			if likeFirst {
				likeFirst = false
				for _, e := range o.before[:place] {
					e.key.last = s.object
				}
			}
			if e, begin = o.find(b, i, place == 0); e == nil {
				o.learned = true
				return begin
			}
			if !o.learned && e != &o.other {
				o.before = append(o.before, e)
			}
		}
		if !likeFirst {
			if e.key.last == s.object {
				return -1
			}
			e.key.last = s.object
		}
		v, w := &s.cells[e.cell], binary.LittleEndian.Uint64(b[begin:])
		if byte(w) == '"' {
			if i = plainEnd(b, begin+1); b[i] == '"' {
				*v = cell{int32(begin + 1), int32(i), formQuoted}
				i++
				continue
			}
		} else if e.shape.has(w) && b[begin+e.shape.size] == e.shape.after {
			i = begin + e.shape.size
			*v = cell{int32(begin), int32(i), formPlain}
			continue
		} else if i = numberEnd(b, begin); i > 0 {
			if size := i - begin; size <= 8 {
				e.shape = shapeOf(w, size, b[i])
			}
			*v = cell{int32(begin), int32(i), formPlain}
			continue
		}
		if *v, i = o.seldom(b, begin); i < 0 || v.form == formAbsent && e.key.slot >= 0 {
			return -1
		}
	}
}

// find is what stands before the value of the member that begins at i, with the brace where it is the first of an object, and where the
// value begins. It is nil where there is none: begin is then where the object ends, −1 where something is at fault.
func (o *objects) find(b []byte, i int, first bool) (e *before, begin int) {
	if !first && b[i] == '{' { // what is noted with a brace stands before the first value only
		return nil, -1
	}
	for _, e := range o.met[metHash(b[i:])] {
		if begin := e.end(b, i, len(o.scan.b)); begin > 0 {
			return e, begin
		}
	}
	key, begin := o.key(b, i, first)
	if key == nil {
		return nil, begin
	}
	return o.learn(b[i:begin], key), begin
}

// metHash is a place in met: of the five bytes that stand before every value, a comma or brace and a key of one letter with its quotes and colon.
func metHash(b []byte) uint8 {
	return uint8(binary.LittleEndian.Uint64(b) << 24 * 0x9E3779B97F4A7C15 >> 56)
}

// learn notes what stands before the value of a key, as long as that is not too much.
func (o *objects) learn(text []byte, key *jsonKey) *before {
	to := key.slot
	if to < 0 {
		to = len(o.scan.cells) - 1
	}
	if o.mets == mostBefore || len(text) > mostBefore {
		o.other = before{cell: to, key: key}
		return &o.other
	}
	e := &before{size: len(text), mask: word2{^uint64(0), ^uint64(0)}, cell: to, key: key}
	if len(text) < 16 {
		e.mask = word2(cuts[len(text)])
	} else {
		e.tail = string(text[16:])
	}
	var head [16]byte
	copy(head[:], text)
	e.head = word2{binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint64(head[8:])}
	at := metHash(head[:])
	o.met[at] = append(o.met[at], e)
	o.mets++
	return e
}

// key reads what stands before a value; it begins at i, with the brace where it is the first of an object. begin is where the value begins.
// key is nil where there is none: begin is then the end of the object, or −1 where something is at fault.
func (o *objects) key(b []byte, i int, first bool) (key *jsonKey, begin int) {
	s, n := &o.scan, len(o.scan.b)
	if !first {
		if i = blanksEnd(b, i, n); b[i] == '}' {
			return nil, i + 1
		}
		if b[i] != ',' {
			return nil, -1
		}
	}
	if i = blanksEnd(b, i+1, n); first && b[i] == '}' {
		return nil, i + 1
	}
	if b[i] != '"' {
		return nil, -1
	}
	s.i = i
	name, ok := s.text()
	if !ok {
		return nil, -1
	}
	if i = blanksEnd(b, s.i, n); b[i] != ':' {
		return nil, -1
	}
	return s.keyOf(s.name(name)), blanksEnd(b, i+1, n)
}

// seldom reads the value at i that is neither a plain string nor a number without an exponent, and returns where it ends; −1 where it is at
// fault.
func (o *objects) seldom(b []byte, i int) (v cell, end int) {
	switch {
	case string(b[i:i+4]) == "null":
		return cell{int32(i), int32(i + 4), formNull}, i + 4
	case string(b[i:i+4]) == "true":
		return cell{int32(i), int32(i + 4), formPlain}, i + 4
	case string(b[i:i+5]) == "false":
		return cell{int32(i), int32(i + 5), formPlain}, i + 5
	}
	s := &o.scan
	if s.i = blanksEnd(b, i, len(s.b)); s.i == len(s.b) {
		return cell{}, -1
	}
	v, ok := s.value()
	if !ok {
		return cell{}, -1
	}
	return v, s.i
}

// values is the combination that the values of the columns are; ok is false where no row may have them, or they have to be looked at again.
func (o *objects) values(b []byte) (at uint64, ok bool) {
	at = o.begin()
	for i := range o.looked {
		l := &o.looked[i]
		v := &o.scan.cells[l.field]
		text := b[v.start:v.end]
		switch {
		case v.form == formAbsent, v.form == formNull:
			text = nil
		case v.form == formEscaped:
			o.scratch = unescape(o.scratch[:0], text)
			text = o.scratch
		case l.each && l.ids == nil && l.number < 0 && len(text) > 0 && !o.unclear[text[0]]:
			continue // something is recorded, whatever it is
		case len(text) <= 15 && !l.each:
			key := shortAt(b, int(v.start), int(v.end))
			if slot := &l.known[key.hash()]; slot.short == key {
				at += slot.offset
				if slot.told != nil {
					slot.told.rows++
				}
				continue
			}
		}
		var more uint64
		if !o.text(l.dictionary, text, &more) {
			return 0, false
		}
		at += more
	}
	return at, true
}

// blanksEnd is where the blanks end that b has at i, at most n.
func blanksEnd(b []byte, i, n int) int {
	for b[i] <= ' ' && i < n && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// plainEnd is where the string ends whose text begins at i, if a quote stands there; else the string is not plain.
func plainEnd(b []byte, i int) int {
	for {
		if stop := stops(binary.LittleEndian.Uint64(b[i:])); stop != 0 {
			return i + bits.TrailingZeros64(stop)>>3
		}
		i += 8
	}
}

// stops marks the first byte of w that ends a plain string: a quote, a backslash or a control character. Bytes after it may be marked too.
func stops(w uint64) uint64 {
	quote, escape := w^'"'*ones, w^'\\'*ones
	return ((quote-ones)&^quote | (escape-ones)&^escape | (w-' '*ones)&^w) & highs
}

// nondigits are the highest bits of the bytes of w that are no digits.
func nondigits(w uint64) uint64 {
	w ^= '0' * ones // each digit is its value now
	return ((w&^highs + 0x76*ones) | w) & highs
}

// shapeOf is the shape of the number that the first bytes of w are, and what follows it.
func shapeOf(w uint64, size int, after byte) shape {
	s := shape{size: size, after: after, within: cuts[size].low & highs, first: ^uint64(0)}
	s.other = nondigits(w) & s.within
	s.bytes = s.other >> 7 * 0xFF
	s.fixed = w & s.bytes
	begin := 0
	if byte(w) == '-' {
		begin = 1
	}
	if size > begin+1 && s.other>>(8*begin+8)&0xFF == 0 {
		s.first = 0xFF << (8 * begin)
	}
	return s
}

// has reports whether w begins with a number of the shape, if that is its end.
func (s *shape) has(w uint64) bool {
	return nondigits(w)&s.within == s.other && w&s.bytes == s.fixed && (w^'0'*ones)&s.first != 0
}

// numberEnd is where the number ends that begins at i; −1 where none does, or it has an exponent.
func numberEnd(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	digits := i
	if i = digitsEnd(b, i); i == digits || b[digits] == '0' && i > digits+1 {
		return -1
	}
	if b[i] == '.' {
		places := i + 1
		if i = digitsEnd(b, places); i == places {
			return -1
		}
	}
	if b[i]|0x20 == 'e' {
		return -1
	}
	return i
}

// digitsEnd is where the digits end that b has at i.
func digitsEnd(b []byte, i int) int {
	for {
		if other := nondigits(binary.LittleEndian.Uint64(b[i:])); other != 0 {
			return i + bits.TrailingZeros64(other)>>3
		}
		i += 8
	}
}

// shortAt is b[start:end], up to 15 bytes, as a key; 16 bytes must lie behind start.
func shortAt(b []byte, start, end int) short {
	k := uint(end - start)
	p, cut := (*[16]byte)(b[start:]), &cuts[k&15]
	return short{binary.LittleEndian.Uint64(p[:8]) & cut.low, binary.LittleEndian.Uint64(p[8:])&cut.high | uint64(k+1)<<56}
}

// lastObject returns where the last object of text begins, as far as lines tell: at the last line that begins with a brace, behind one that
// ends with one; within an object a comma or a bracket stands between the two. Where there is none that is behind the last line
// feed; 0 where there is no line feed.
func lastObject(text []byte) int {
	for end := len(text); ; {
		line := bytes.LastIndex(text[:end], []byte("\n{"))
		if line < 0 {
			return bytes.LastIndexByte(text, '\n') + 1
		}
		if bytes.HasSuffix(bytes.TrimRight(text[:line], blanks), []byte("}")) {
			return line + 1
		}
		end = line + 1
	}
}
