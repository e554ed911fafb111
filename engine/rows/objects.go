package rows

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// objects counts the objects of JSONL text by the codes of their columns. It belongs to one goroutine.
//
// It reads by itself what is common: what stands before each value, which most often is what stood there in the first object, then
// a plain string, a number, true, false or null. What is seldom, such as an escape or an array, the scanner reads, as it does for Read.
type objects struct {
	*counter             // its fields are the scanner's slots
	scan     jsonScanner // its b is the text of the block
	most     int         // bytes of an object
	before   []before    // what stood before the values of the first object, in its order
	met      [256]metKey // the last keys met, by hash
}

// before is what stands before a value: a comma, or the opening brace, and a key and a colon, with all blanks.
type before struct {
	text       string
	head, mask [2]uint64 // the first 16 bytes of text, and which bits of them there are
	key        *jsonKey
}

// metKey is a key as it is written.
type metKey struct {
	short
	key *jsonKey
}

// mostBefore is how many places of an object are remembered; behind them every key is read.
const mostBefore = 1 << 10

// newObjects returns what counts objects with c.
func (r *reader) newObjects(c *counter) *objects {
	scan, _ := r.newScanner()
	return &objects{counter: c, scan: scan, most: r.lim.record}
}

// count counts the objects of block[:n]; it begins and ends between two. It is false where anything is wrong, or may be.
func (o *objects) count(block []byte, n int) bool {
	b := block[:n+padding]
	for i := range padding { // no text goes on in it
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
		at := o.counter.begin()
		if i = o.members(b, i); i < 0 || !o.values(b, &at) {
			return false
		}
		o.counter.end(at)
	}
}

// blanksEnd is where the blanks end that b has at i, at most n.
func blanksEnd(b []byte, i, n int) int {
	for i < n && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// members finds the values of the columns in the object that begins at i, and returns where it ends; −1 where it is at fault or not whole.
func (o *objects) members(b []byte, i int) (end int) {
	s := &o.scan
	if s.begin() {
		// The keys are forgotten: what was known of them goes with them.
		o.before, o.met = nil, [len(o.met)]metKey{}
	}
	n := len(s.b)
	for place := 0; ; place++ {
		var key *jsonKey
		if place < len(o.before) {
			e := &o.before[place]
			if next := i + len(e.text); next < n && binary.LittleEndian.Uint64(b[i:])&e.mask[0] == e.head[0] && binary.LittleEndian.Uint64(b[i+8:])&e.mask[1] == e.head[1] &&
				(len(e.text) <= 16 || string(b[i+16:next]) == e.text[16:]) {
				if key, i = e.key, next; b[i] <= ' ' {
					i = blanksEnd(b, i, n)
				}
			}
		}
		if key == nil {
			if key, i = o.key(b, i, place); key == nil {
				return i
			}
		}
		if key.last == s.object {
			return -1
		}
		key.last = s.object
		var value cell
		if value, i = o.value(b, i); i < 0 {
			return -1
		}
		if key.slot >= 0 {
			if value.form == formAbsent {
				return -1
			}
			s.cells[key.slot] = value
		}
		if b[i] == '}' {
			return i + 1
		}
	}
}

// key reads what stands before a value: b[i] is the opening brace, or what follows the value before. next is where the value begins. key is nil where
// there is no value: next is then where the object ends, or −1.
func (o *objects) key(b []byte, i, place int) (key *jsonKey, next int) {
	s, n, begin := &o.scan, len(o.scan.b), i
	if place > 0 {
		if i = blanksEnd(b, i, n); b[i] == '}' {
			return nil, i + 1
		}
		if b[i] != ',' {
			return nil, -1
		}
	}
	if i = blanksEnd(b, i+1, n); place == 0 && b[i] == '}' {
		return nil, i + 1
	}
	if b[i] != '"' {
		return nil, -1
	}
	start := i + 1
	if i = plainEnd(b, start); b[i] == '"' {
		key = o.named(b, start, i)
		i++
	} else {
		s.i = start - 1
		name, ok := s.text()
		if !ok {
			return nil, -1
		}
		key, i = s.keyOf(s.name(name)), s.i
	}
	if i = blanksEnd(b, i, n); b[i] != ':' {
		return nil, -1
	}
	if i = blanksEnd(b, i+1, n); place == len(o.before) && place < mostBefore {
		e := before{text: string(b[begin:i]), key: key}
		for k := range 2 {
			var head, mask [8]byte
			for j := range copy(head[:], e.text[min(8*k, len(e.text)):]) {
				mask[j] = 0xFF
			}
			e.head[k], e.mask[k] = binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint64(mask[:])
		}
		o.before = append(o.before, e)
	}
	return key, i
}

// named is the key whose name is written as b[start:end], without escapes.
func (o *objects) named(b []byte, start, end int) *jsonKey {
	name := b[start:end]
	if len(name) > 15 {
		return o.scan.keyOf(bytes.TrimSpace(name))
	}
	text := shortAt(b, start, end)
	met := &o.met[text.hash()]
	if met.short != text {
		*met = metKey{text, o.scan.keyOf(bytes.TrimSpace(name))}
	}
	return met.key
}

// plainEnd is where the string ends whose text begins at i, if b has a quote there; else it is not plain.
func plainEnd(b []byte, i int) int {
	for {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, escape := w^'"'*ones, w^'\\'*ones
		// The lowest bit that is set is right: a borrow only comes from a byte that is found itself.
		if stop := ((quote-ones)&^quote | (escape-ones)&^escape | (w-' '*ones)&^w) & highs; stop != 0 {
			return i + bits.TrailingZeros64(stop)>>3
		}
		i += 8
	}
}

// digitsEnd is where the digits end that b has at i.
func digitsEnd(b []byte, i int) int {
	for {
		w := binary.LittleEndian.Uint64(b[i:]) ^ '0'*ones // a digit is now its value
		if other := ((w&^highs + 0x76*ones) | w) & highs; other != 0 {
			return i + bits.TrailingZeros64(other)>>3
		}
		i += 8
	}
}

// value reads the value at i, and returns where it ends; −1 where it is at fault.
func (o *objects) value(b []byte, i int) (value cell, next int) {
	begin := i
	switch {
	case b[i] == '"':
		if i = plainEnd(b, i+1); b[i] == '"' {
			return cell{int32(begin + 1), int32(i), formQuoted}, i + 1
		}
	case b[i] == 'n' && b[i+1] == 'u' && b[i+2] == 'l' && b[i+3] == 'l':
		if follows(b[i+4]) {
			return cell{int32(i), int32(i + 4), formNull}, i + 4
		}
	case b[i] == 't' && b[i+1] == 'r' && b[i+2] == 'u' && b[i+3] == 'e':
		if follows(b[i+4]) {
			return cell{int32(i), int32(i + 4), formPlain}, i + 4
		}
	case b[i] == 'f' && b[i+1] == 'a' && b[i+2] == 'l' && b[i+3] == 's' && b[i+4] == 'e':
		if follows(b[i+5]) {
			return cell{int32(i), int32(i + 5), formPlain}, i + 5
		}
	default:
		if b[i] == '-' {
			i++
		}
		digits := i
		if i = digitsEnd(b, i); i == digits || b[digits] == '0' && i > digits+1 {
			break
		}
		if b[i] == '.' {
			places := i + 1
			if i = digitsEnd(b, places); i == places {
				break
			}
		}
		if follows(b[i]) {
			return cell{int32(begin), int32(i), formPlain}, i
		}
	}
	s := &o.scan
	if s.i = begin; begin >= len(s.b) {
		return cell{}, -1
	}
	value, ok := s.value()
	if !ok {
		return cell{}, -1
	}
	return value, s.i
}

// follows reports whether c can follow a value in an object.
func follows(c byte) bool {
	return c == ',' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t'
}

// values adds the values of the columns to a row.
func (o *objects) values(b []byte, at *uint64) bool {
	c := o.counter
	for i := range c.looked {
		l := &c.looked[i]
		v := o.scan.cells[l.field]
		if k := v.end - v.start; k <= 15 && !l.each && (v.form == formQuoted || v.form == formPlain) {
			text := shortAt(b, int(v.start), int(v.end))
			if slot := &l.known[text.hash()]; slot.short == text {
				*at += slot.offset
				if slot.told != nil {
					slot.told.rows++
				}
				continue
			}
		}
		text := b[v.start:v.end]
		switch v.form {
		case formAbsent, formNull:
			text = nil
		case formEscaped:
			o.counter.scratch = unescape(o.counter.scratch[:0], text)
			text = o.counter.scratch
		}
		if !c.text(l.dictionary, text, at) {
			return false
		}
	}
	return true
}

// shortAt is b[start:end], up to 15 bytes, as a key; 16 bytes must lie behind start.
func shortAt(b []byte, start, end int) short {
	k := uint(end - start)
	p, cut := (*[16]byte)(b[start:]), &cuts[k&15]
	return short{binary.LittleEndian.Uint64(p[:8]) & cut.low, binary.LittleEndian.Uint64(p[8:])&cut.high | uint64(k+1)<<56}
}

// lastObject returns where the last object of text ends, as far as its lines tell: behind a line feed that a brace follows, or else any. 0 where there is none.
func lastObject(text []byte) int {
	for end := len(text); ; {
		line := bytes.LastIndexByte(text[:end], '\n')
		if line < 0 {
			return bytes.LastIndexByte(text, '\n') + 1
		}
		if line+1 < len(text) && text[line+1] == '{' {
			return line + 1
		}
		end = line
	}
}
