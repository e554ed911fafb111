package parquet

import (
	"encoding/binary"
	"errors"
)

var errValues = errors.New("it holds fewer values than it claims to")

// runs decodes small whole numbers of a fixed number of bits: runs of one number, and numbers packed bit behind bit
// (RLE/bit-packing hybrid in Encodings.md). Nothing is written out: a run of a billion numbers takes no memory.
type runs struct {
	b     []byte // what follows the run
	width uint   // bits of a number; at most 32

	left   int    // numbers left in the run
	value  uint32 // of a run of one number
	packed []byte // the packed numbers; nil in a run of one number. What lies behind them, up to its capacity, can be read too
	at     uint   // the bit at which the next packed number begins
}

// newRuns reads the numbers in b.
func newRuns(b []byte, width uint) runs { return runs{b: b, width: width} }

// packedRuns reads n numbers of one bit that are packed without a header, as plain booleans are.
func packedRuns(b []byte) runs { return runs{width: 1, packed: b, left: 8 * len(b)} }

// more goes on to the next run where this one is at its end. It is false where none follows.
func (r *runs) more() bool {
	for r.left == 0 {
		head, n := uvarint(r.b)
		if n <= 0 {
			return false
		}
		r.b = r.b[n:]
		size := head >> 1
		if head&1 == 0 {
			bytes := int(r.width+7) / 8
			if bytes > len(r.b) || size > 1<<40 {
				return false
			}
			r.packed, r.value = nil, 0
			for i, c := range r.b[:bytes] {
				r.value |= uint32(c) << (8 * i)
			}
			r.b, r.left = r.b[bytes:], int(size)
			continue
		}
		// Groups of eight numbers. Those that the end of the page cuts off are not there.
		if r.width == 0 {
			if size > 1<<40 {
				return false
			}
			r.packed, r.value, r.left = nil, 0, int(8*size)
			continue
		}
		bytes := len(r.b)
		if size <= uint64(bytes)/uint64(r.width) {
			bytes = int(size) * int(r.width)
		}
		r.packed, r.b, r.at = r.b[:bytes], r.b[bytes:], 0
		r.left = bytes * 8 / int(r.width)
		if r.left == 0 {
			return false
		}
	}
	return true
}

// peek returns the packed number i places on.
func (r *runs) peek(i int) uint32 {
	bit := r.at + uint(i)*r.width
	first := int(bit >> 3)
	var w uint64
	if b := r.packed[first:cap(r.packed)]; len(b) >= 8 {
		w = binary.LittleEndian.Uint64(b)
	} else {
		for k, c := range b {
			w |= uint64(c) << (8 * k)
		}
	}
	return uint32(w >> (bit & 7) & (1<<r.width - 1))
}

// next returns the next number.
func (r *runs) next() (uint32, bool) {
	if !r.more() {
		return 0, false
	}
	v := r.value
	if r.packed != nil {
		v = r.peek(0)
	}
	r.drop(1)
	return v, true
}

// same returns how many of the next numbers, at most most, are the same, and the number; n is 0 at the end. It does not go on to them.
func (r *runs) same(most int) (value uint32, n int) {
	if !r.more() {
		return 0, 0
	}
	most = min(most, r.left)
	if r.packed == nil {
		return r.value, most
	}
	value = r.peek(0)
	for n = 1; n < most && r.peek(n) == value; n++ {
	}
	return value, n
}

// drop goes n numbers on, within the run.
func (r *runs) drop(n int) {
	r.left -= n
	r.at += uint(n) * r.width
}

// skip goes n numbers on; false where there are fewer.
func (r *runs) skip(n int) bool {
	for n > 0 {
		if !r.more() {
			return false
		}
		k := min(n, r.left)
		r.drop(k)
		n -= k
	}
	return true
}
