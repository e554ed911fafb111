package parquet

import (
	"encoding/binary"
	"errors"
)

// source gives the values of a page, one after the other, as they are stored: a number as its bytes in little-endian order, a text as it
// is. A value stays as it is until the next one is asked for. ok is false where the page holds no further one.
type source interface {
	next() (value []byte, ok bool)
}

// fixed are values of one length, one behind the other.
type fixed struct {
	b     []byte
	width int
}

func (s *fixed) next() ([]byte, bool) {
	if len(s.b) < s.width {
		return nil, false
	}
	v := s.b[:s.width]
	s.b = s.b[s.width:]
	return v, true
}

// texts are values each of which follows its length in four bytes.
type texts struct{ b []byte }

func (s *texts) next() ([]byte, bool) {
	if len(s.b) < 4 {
		return nil, false
	}
	n := uint64(binary.LittleEndian.Uint32(s.b))
	if n > uint64(len(s.b)-4) {
		return nil, false
	}
	v := s.b[4 : 4+n]
	s.b = s.b[4+n:]
	return v, true
}

// truths are booleans, which next gives as a byte.
type truths struct {
	runs
	byte [1]byte
}

func (s *truths) next() ([]byte, bool) {
	v, ok := s.runs.next()
	s.byte[0] = byte(v)
	return s.byte[:], ok
}

// split are numbers whose first bytes lie together, then their second ones, and so on (BYTE_STREAM_SPLIT).
type split struct {
	b     []byte
	n, at int
	value []byte
}

func newSplit(b []byte, width int) *split {
	return &split{b: b, n: len(b) / width, value: make([]byte, width)}
}

func (s *split) next() ([]byte, bool) {
	if s.at >= s.n {
		return nil, false
	}
	for i := range s.value {
		s.value[i] = s.b[i*s.n+s.at]
	}
	s.at++
	return s.value, true
}

var errDelta = errors.New("its differences of numbers are damaged")

// deltas are whole numbers as differences (DELTA_BINARY_PACKED): a first number, then blocks of mini-blocks, each of which packs
// what its differences have above the least of the block.
type deltas struct {
	b     []byte // what follows the mini-block
	value uint64
	left  uint64 // numbers left

	mini    int    // numbers of a mini-block
	minis   int    // mini-blocks of a block
	widths  []byte // bits of the mini-blocks that are left in the block
	least   uint64
	packed  []byte
	bit     uint64 // at which the next difference begins
	width   uint
	inMini  int // differences left in the mini-block
	started bool
	bytes   [8]byte
	size    int // bytes of a number
}

// maxBlock is how many numbers a block may have; writers use 128 and 256.
const maxBlock = 1 << 16

// newDeltas reads numbers of size bytes, of which there are at most most: a few bytes can claim any number of them.
func newDeltas(b []byte, size int, most int64) (*deltas, error) {
	d := &deltas{b: b, size: size}
	var head [4]uint64
	for i := range head {
		v, n := uvarint(d.b)
		if n <= 0 {
			return nil, errDelta
		}
		head[i], d.b = v, d.b[n:]
	}
	block, minis := head[0], head[1]
	if block == 0 || block > maxBlock || minis == 0 || block%minis != 0 || block/minis%8 != 0 || head[2] > uint64(most) {
		return nil, errDelta
	}
	d.minis, d.mini, d.left, d.value = int(minis), int(block/minis), head[2], uint64(zigzag(head[3]))
	return d, nil
}

// number returns the next number.
func (d *deltas) number() (uint64, bool) {
	if d.left == 0 {
		return 0, false
	}
	d.left--
	if !d.started {
		d.started = true
		return d.value, true
	}
	if d.inMini == 0 && !d.begin() {
		d.left = 0
		return 0, false
	}
	d.inMini--
	var delta uint64
	if d.width > 0 {
		delta = bits(d.packed, d.bit, d.width)
		d.bit += uint64(d.width)
	}
	d.value += d.least + delta
	return d.value, true
}

// begin goes on to the next mini-block.
func (d *deltas) begin() bool {
	if len(d.widths) == 0 {
		least, n := uvarint(d.b)
		if n <= 0 || len(d.b)-n < d.minis {
			return false
		}
		d.least = uint64(zigzag(least))
		d.widths, d.b = d.b[n:n+d.minis], d.b[n+d.minis:]
	}
	d.width, d.widths = uint(d.widths[0]), d.widths[1:]
	if d.width > 64 {
		return false
	}
	bytes := min(d.mini*int(d.width)/8, len(d.b))
	if need := (min(uint64(d.mini), d.left+1)*uint64(d.width) + 7) / 8; uint64(bytes) < need {
		return false
	}
	d.packed, d.b = d.b[:bytes], d.b[bytes:]
	d.bit, d.inMini = 0, d.mini
	return true
}

// bits returns width bits of b, from 1 to 64, that begin at bit; what lies beyond b is 0.
func bits(b []byte, bit uint64, width uint) uint64 {
	var v uint64
	for got := uint(0); got < width; {
		i := bit >> 3
		if i >= uint64(len(b)) {
			break
		}
		skip := uint(bit & 7)
		v |= uint64(b[i]>>skip) << got
		got += 8 - skip
		bit += uint64(8 - skip)
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

// rest goes past all numbers, and returns what follows them.
func (d *deltas) rest() ([]byte, bool) {
	for d.left > 0 {
		if _, ok := d.number(); !ok {
			return nil, false
		}
	}
	// The last block is written out: the widths of mini-blocks that it does not need are there, the mini-blocks are not.
	return d.b, true
}

func (d *deltas) next() ([]byte, bool) {
	v, ok := d.number()
	binary.LittleEndian.PutUint64(d.bytes[:], v)
	return d.bytes[:d.size], ok
}

// lengths are texts behind the list of their lengths (DELTA_LENGTH_BYTE_ARRAY).
type lengths struct {
	lengths *deltas
	b       []byte
}

func newLengths(b []byte, most int64) (*lengths, error) {
	all, err := newDeltas(b, 4, most)
	if err != nil {
		return nil, err
	}
	rest, ok := all.rest()
	if !ok {
		return nil, errDelta
	}
	again, err := newDeltas(b, 4, most)
	return &lengths{again, rest}, err
}

func (s *lengths) next() ([]byte, bool) {
	n, ok := s.lengths.number()
	if !ok || n > uint64(len(s.b)) {
		return nil, false
	}
	v := s.b[:n]
	s.b = s.b[n:]
	return v, true
}

// prefixes are texts of which only what differs from the one before is written (DELTA_BYTE_ARRAY).
type prefixes struct {
	prefixes *deltas
	suffixes *lengths
	value    []byte
}

func newPrefixes(b []byte, most int64) (*prefixes, error) {
	all, err := newDeltas(b, 4, most)
	if err != nil {
		return nil, err
	}
	rest, ok := all.rest()
	if !ok {
		return nil, errDelta
	}
	suffixes, err := newLengths(rest, most)
	if err != nil {
		return nil, err
	}
	again, err := newDeltas(b, 4, most)
	return &prefixes{again, suffixes, nil}, err
}

func (s *prefixes) next() ([]byte, bool) {
	n, ok := s.prefixes.number()
	suffix, too := s.suffixes.next()
	if !ok || !too || n > uint64(len(s.value)) {
		return nil, false
	}
	s.value = append(s.value[:n], suffix...)
	return s.value, true
}
