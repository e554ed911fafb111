package parquet

import (
	"encoding/binary"
	"errors"
)

// Skip goes n rows on, of which there must be so many in the row group.
func (c *Cursor) Skip(n int64) error {
	for n > 0 {
		if c.left == 0 {
			passed, err := c.nextPage(n)
			if err != nil {
				return err
			}
			n -= passed
			continue
		}
		value, k, err := c.run(int(min(n, int64(c.left))))
		if err != nil {
			return err
		}
		n -= int64(k)
		if !value {
			continue
		}
		if c.source == nil {
			if !c.indexes.skip(k) {
				return errValues
			}
			continue
		}
		for range k {
			if _, _, err := c.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// run goes over the next rows, at most most, that all have a value or all have none, and says how many there are. A page must have
// been begun.
func (c *Cursor) run(most int) (value bool, n int, err error) {
	n = min(most, c.left)
	value = true
	if c.nulls {
		level, same := c.levels.same(n)
		if same == 0 {
			return false, 0, errValues
		}
		c.levels.drop(same)
		value, n = level == 1, same
	}
	c.left -= n
	return value, n, nil
}

// next returns the next value of the page as it is stored, and its place in the dictionary, or −1.
func (c *Cursor) next() (place int, stored []byte, err error) {
	if c.source == nil {
		i, ok := c.indexes.next()
		if !ok {
			return 0, nil, errValues
		}
		if int64(i) >= int64(c.values.n) {
			return 0, nil, errPlace
		}
		return int(i), c.values.value(int(i)), nil
	}
	v, ok := c.source.next()
	if !ok || c.col.width > 0 && len(v) != c.col.width { // a text can have another length, with prefixes
		return 0, nil, errValues
	}
	return -1, v, nil
}

var errPlace = errors.New("it refers to a value that its dictionary does not have")

// Text returns the text of the next row, and whether it has one: a null has none. It stays valid until the cursor is used again. wrong is
// not "" where the value has no text, and then says why; the next row can be read all the same. After an error it cannot.
func (c *Cursor) Text() (text []byte, recorded bool, wrong string, err error) {
	for c.left == 0 {
		if _, err := c.nextPage(0); err != nil {
			return nil, false, "", err
		}
	}
	recorded, _, err = c.run(1)
	if err != nil || !recorded {
		return nil, false, "", err
	}
	_, v, err := c.next()
	if err != nil {
		return nil, false, "", err
	}
	text, problem := c.col.appendText(c.text[:0], v)
	if problem != nil {
		return nil, true, problem.Error(), nil
	}
	c.text = text
	return text, true, "", nil
}

// Value is a row's value, which has not become a text yet. It is valid until the cursor is used again.
type Value struct {
	Null   bool
	Place  int // in the row group's dictionary, in which equal values have equal places; −1 for a value that is in none
	stored []byte
}

// textOf is the text of a stored value; ok is false where it has none.
func (c *Cursor) textOf(stored []byte) (text []byte, ok bool) {
	text, err := c.col.appendText(c.text[:0], stored)
	if err != nil {
		return nil, false
	}
	c.text = text
	return text, true
}

// TextOf is the text of a value, empty for a null; ok is false where it has none. It stays valid until the cursor is used again.
func (c *Cursor) TextOf(v Value) (text []byte, ok bool) {
	if v.Null {
		return nil, true
	}
	return c.textOf(v.stored)
}

// IntegerOf is a value of a column of Integers, which is not null.
func (c *Cursor) IntegerOf(v Value) int64 { return c.col.integer(v.stored) }

// Filled reports whether each of the next n rows has a value. What the metadata say of nulls is not asked: a file can have more than they
// say. After false the cursor is of no more use.
func (c *Cursor) Filled(n int) (filled bool, err error) {
	for n > 0 {
		for c.left == 0 {
			if _, err := c.nextPage(0); err != nil {
				return false, err
			}
		}
		value, rows, err := c.run(n)
		if err != nil || !value {
			return false, err
		}
		n -= rows
		if f, is := c.source.(*fixed); is && c.col.width == f.width { // all there, or not
			if len(f.b)/f.width < rows {
				return false, errValues
			}
			f.b = f.b[rows*f.width:]
			continue
		}
		for range rows {
			if _, _, err := c.next(); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// Each hands over the values of the next n rows. ok is false where do was, for one of them: then the cursor is of no more use.
func (c *Cursor) Each(n int, do func(Value) bool) (ok bool, err error) {
	for n > 0 {
		for c.left == 0 {
			if _, err := c.nextPage(0); err != nil {
				return false, err
			}
		}
		value, rows, err := c.run(n)
		if err != nil {
			return false, err
		}
		n -= rows
		for range rows {
			v := Value{Null: !value, Place: -1}
			if value {
				if v.Place, v.stored, err = c.next(); err != nil {
					return false, err
				}
			}
			if !do(v) {
				return false, nil
			}
		}
	}
	return true, nil
}

// sums are what Sum knows of a column's values.
type sums struct {
	null  uint64            // what a null is worth
	worth []uint64          // what each value of the dictionary is worth, as far as it has come up
	small [256]uint64       // the same, of the first 256: no index of eight bits lies outside
	short [256]worthOf      // of values of up to eight bytes that are in no dictionary: the last ones met, by hash
	rest  map[uint64]uint64 // all of them
}

// worthOf is a value, and one more than what it is worth; 0 for none.
type worthOf struct{ value, worth uint64 }

// Worth says what a text is worth, below 2^63; a null has no text and is not recorded. keep says that every row with the text is worth
// as much: then it need not be asked again. ok is false where no row may have the text.
type Worth func(text []byte, recorded bool) (worth uint64, keep, ok bool)

// unknown stands for what a value is worth before that was asked. What it is worth is less.
const unknown = 1 << 63

// mostKnown is how many values in no dictionary are remembered.
const mostKnown = 1 << 16

// forget makes all values of a dictionary unknown: another row group has another one.
func (s *sums) forget() {
	s.null, s.worth = unknown, s.worth[:0]
	for i := range s.small {
		s.small[i] = unknown
	}
}

// Sum adds to to[i], for the next len(to) rows, what the text of row i is worth. worth is asked for texts as they come up, and where it says
// that it keeps, of those in a dictionary once for each row group. ok is false where no row may have a text, or a value has none.
func (c *Cursor) Sum(to []uint64, worth Worth) (ok bool, err error) {
	for len(to) > 0 {
		for c.left == 0 {
			if _, err := c.nextPage(0); err != nil {
				return false, err
			}
		}
		value, n, err := c.run(len(to))
		if err != nil {
			return false, err
		}
		rows := to[:n]
		to = to[n:]
		switch {
		case !value:
			if !c.sumNulls(rows, worth) {
				return false, nil
			}
			continue
		case c.source == nil:
			ok, err = c.sumPlaces(rows, worth)
		default:
			ok, err = c.sumValues(rows, worth)
		}
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// sumNulls adds what rows without a value are worth.
func (c *Cursor) sumNulls(to []uint64, worth Worth) (ok bool) {
	w, keep := c.null, c.null != unknown
	for i := range to {
		if !keep {
			if w, keep, ok = worth(nil, false); !ok {
				return false
			}
			if keep {
				c.null = w
			}
		}
		to[i] += w
	}
	return true
}

// ask asks what a stored value is worth.
func (c *Cursor) ask(value []byte, worth Worth) (w uint64, keep, ok bool) {
	text, ok := c.textOf(value)
	if !ok {
		return 0, false, false
	}
	return worth(text, true)
}

// sumValues adds what values in no dictionary are worth.
func (c *Cursor) sumValues(to []uint64, worth Worth) (ok bool, err error) {
	if c.rest == nil {
		c.rest = map[uint64]uint64{}
	}
	for i := range to {
		_, v, err := c.next()
		if err != nil {
			return false, err
		}
		if c.col.width == 0 && c.col.physical != physicalBoolean || len(v) > 8 {
			w, _, ok := c.ask(v, worth)
			if !ok {
				return false, nil
			}
			to[i] += w
			continue
		}
		var word uint64
		switch len(v) {
		case 8:
			word = binary.LittleEndian.Uint64(v)
		case 4:
			word = uint64(binary.LittleEndian.Uint32(v))
		default:
			for k, b := range v {
				word |= uint64(b) << (8 * k)
			}
		}
		slot := &c.short[word*0x9E3779B97F4A7C15>>56]
		if slot.worth == 0 || slot.value != word {
			w, known := c.rest[word]
			if !known {
				var keep bool
				if w, keep, ok = c.ask(v, worth); !ok {
					return false, nil
				}
				if !keep {
					to[i] += w
					continue
				}
				if len(c.rest) >= mostKnown {
					clear(c.rest)
				}
				c.rest[word] = w
			}
			*slot = worthOf{word, w + 1}
		}
		to[i] += slot.worth - 1
	}
	return true, nil
}

// sumPlaces adds what values of the dictionary are worth.
func (c *Cursor) sumPlaces(to []uint64, worth Worth) (ok bool, err error) {
	r := &c.indexes
	for len(to) > 0 {
		if !r.more() {
			return false, errValues
		}
		n := min(len(to), r.left)
		if r.packed == nil {
			w, ok, err := c.place(r.value, worth)
			if err != nil || !ok {
				return false, err
			}
			if c.worth[r.value] == unknown {
				n = 1 // it is asked again for each row
			}
			for i := range n {
				to[i] += w
			}
			r.drop(n)
			to = to[n:]
			continue
		}
		done := c.sumPacked(to[:n])
		r.drop(done)
		to = to[done:]
		// One at a time where sumPacked stopped, up to where it can go on: at the end of the run, or at a value that is not known yet.
		for range n - done {
			i, _ := r.next()
			w, ok, err := c.place(i, worth)
			if err != nil || !ok {
				return false, err
			}
			to[0] += w
			if to = to[1:]; r.at&7 == 0 {
				break
			}
		}
	}
	return true, nil
}

// place returns what value i of the dictionary is worth.
func (c *Cursor) place(i uint32, worth Worth) (w uint64, ok bool, err error) {
	if int64(i) >= int64(c.values.n) {
		return 0, false, errPlace
	}
	if len(c.worth) == 0 {
		if cap(c.worth) < c.values.n {
			if err := c.holdBeside(8 * (c.values.n - cap(c.worth))); err != nil {
				return 0, false, err
			}
			c.worth = make([]uint64, c.values.n)
		}
		c.worth = c.worth[:c.values.n]
		for k := range c.worth {
			c.worth[k] = unknown
		}
	}
	if w = c.worth[i]; w != unknown {
		return w, true, nil
	}
	var keep bool
	if w, keep, ok = c.ask(c.values.value(int(i)), worth); ok && keep {
		c.worth[i] = w
		if i < uint32(len(c.small)) {
			c.small[i] = w
		}
	}
	return w, ok, nil
}

// sumPacked adds what the next packed places are worth, as long as that is known, eight at a time. It returns how many it added.
func (c *Cursor) sumPacked(to []uint64) (done int) {
	r := &c.indexes
	if r.at&7 != 0 {
		return 0 // until the next group of eight begins
	}
	b, width := r.packed[r.at>>3:cap(r.packed)], r.width // the last numbers are read with what lies behind them
	if width <= 8 {
		mask, small := uint64(1)<<width-1, &c.small
		for len(to) >= 8 && len(b) >= 8 {
			w := binary.LittleEndian.Uint64(b)
			w0 := small[uint8(w&mask)]
			w >>= width
			w1 := small[uint8(w&mask)]
			w >>= width
			w2 := small[uint8(w&mask)]
			w >>= width
			w3 := small[uint8(w&mask)]
			w >>= width
			w4 := small[uint8(w&mask)]
			w >>= width
			w5 := small[uint8(w&mask)]
			w >>= width
			w6 := small[uint8(w&mask)]
			w >>= width
			w7 := small[uint8(w&mask)]
			if (w0|w1|w2|w3|w4|w5|w6|w7)&unknown != 0 {
				return done
			}
			t := (*[8]uint64)(to)
			t[0] += w0
			t[1] += w1
			t[2] += w2
			t[3] += w3
			t[4] += w4
			t[5] += w5
			t[6] += w6
			t[7] += w7
			to, b = to[8:], b[width:]
			done += 8
		}
		return done
	}
	known, mask := c.worth, uint32(1)<<width-1
	for len(to) >= 8 && len(b) >= int(width)+8 {
		var all uint64
		for k := range uint(8) {
			bit := k * width
			i := uint32(binary.LittleEndian.Uint64(b[bit>>3:])>>(bit&7)) & mask
			if int(i) >= len(known) {
				return done
			}
			all |= known[i]
		}
		if all&unknown != 0 {
			return done
		}
		for k := range uint(8) {
			bit := k * width
			to[k] += known[uint32(binary.LittleEndian.Uint64(b[bit>>3:])>>(bit&7))&mask]
		}
		to, b = to[8:], b[width:]
		done += 8
	}
	return done
}
