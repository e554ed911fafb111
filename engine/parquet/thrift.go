package parquet

import "errors"

// The metadata of Parquet files are structures in Thrift's compact protocol.

// errShort says that the bytes end inside a structure.
var errShort = errors.New("its metadata end too early")

// errThrift says that a structure is not what the format says.
var errThrift = errors.New("its metadata are no valid Thrift structures")

// maxNesting is how deep structures that are passed over may nest.
const maxNesting = 64

// metadata reads structures from b. After an error all it reads is zero.
type metadata struct {
	b   []byte
	at  int
	err error
}

// kind is the type of a value, as the compact protocol numbers them.
type kind byte

const (
	kindTrue   kind = 1
	kindFalse  kind = 2
	kindByte   kind = 3
	kindInt16  kind = 4
	kindInt32  kind = 5
	kindInt64  kind = 6
	kindDouble kind = 7
	kindBinary kind = 8
	kindList   kind = 9
	kindSet    kind = 10
	kindMap    kind = 11
	kindStruct kind = 12
	kindUUID   kind = 13
)

func (t *metadata) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// take returns the next n bytes.
func (t *metadata) take(n uint64) []byte {
	if t.err != nil || n > uint64(len(t.b)-t.at) {
		t.fail(errShort)
		return nil
	}
	b := t.b[t.at : t.at+int(n)]
	t.at += int(n)
	return b
}

func (t *metadata) byte() byte {
	if b := t.take(1); b != nil {
		return b[0]
	}
	return 0
}

// unsigned reads a number in groups of seven bits.
func (t *metadata) unsigned() uint64 {
	v, n := uvarint(t.b[t.at:])
	switch {
	case t.err != nil:
		return 0
	case n == 0:
		t.fail(errShort)
	case n < 0:
		t.fail(errThrift)
	default:
		t.at += n
	}
	return v
}

// uvarint reads a number in groups of seven bits, the lowest first, and says how many bytes it takes: 0 where b ends inside it, −1
// where it has more than 64 bits.
func uvarint(b []byte) (v uint64, n int) {
	for i, c := range b {
		if i == 9 && c > 1 {
			return 0, -1
		}
		v |= uint64(c&0x7F) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// zigzag undoes the writing of signed numbers in which those near 0 are short.
func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// integer reads the value of a field that must be a whole number.
func (t *metadata) integer(k kind) int64 {
	switch k {
	case kindByte:
		return int64(int8(t.byte()))
	case kindInt16, kindInt32, kindInt64:
		return zigzag(t.unsigned())
	}
	t.fail(errThrift)
	return 0
}

// boolean reads the value of a field that must be true or false.
func (t *metadata) boolean(k kind) bool {
	if k != kindTrue && k != kindFalse {
		t.fail(errThrift)
	}
	return k == kindTrue
}

// binary reads the value of a field that must be bytes.
func (t *metadata) binary(k kind) []byte {
	if k != kindBinary {
		t.fail(errThrift)
		return nil
	}
	return t.take(t.unsigned())
}

// fields reads a structure: do reads each field's value, or passes over it with skip.
func (t *metadata) fields(do func(id int, k kind)) {
	for id := 0; t.err == nil; {
		head := t.byte()
		if head == 0 {
			return
		}
		if step := int(head >> 4); step > 0 {
			id += step
		} else {
			id = int(int16(zigzag(t.unsigned())))
		}
		if t.err == nil {
			do(id, kind(head&15))
		}
	}
}

// structure reads the value of a field that must be a structure.
func (t *metadata) structure(k kind, do func(id int, k kind)) {
	if k != kindStruct {
		t.fail(errThrift)
		return
	}
	t.fields(do)
}

// list reads the value of a field that must be a list of structures: do reads each.
func (t *metadata) list(k kind, do func(i int)) {
	n, of := t.begin(k)
	if of != kindStruct && n > 0 {
		t.fail(errThrift)
	}
	for i := 0; i < n && t.err == nil; i++ {
		do(i)
	}
}

// begin reads how many elements a list or set has, and of which type.
func (t *metadata) begin(k kind) (n int, of kind) {
	if k != kindList && k != kindSet {
		t.fail(errThrift)
		return 0, 0
	}
	head := t.byte()
	size := uint64(head >> 4)
	if size == 15 {
		size = t.unsigned()
	}
	if size > uint64(len(t.b)-t.at) { // every element takes a byte or more
		t.fail(errShort)
		return 0, 0
	}
	return int(size), kind(head & 15)
}

// skip passes over a value.
func (t *metadata) skip(k kind) { t.pass(k, false, 0) }

// pass passes over a value; among others, in a list or a map, a boolean takes a byte.
func (t *metadata) pass(k kind, among bool, depth int) {
	if depth > maxNesting {
		t.fail(errThrift)
	}
	if t.err != nil {
		return
	}
	switch k {
	case kindTrue, kindFalse:
		if among {
			t.byte()
		}
	case kindByte:
		t.byte()
	case kindInt16, kindInt32, kindInt64:
		t.unsigned()
	case kindDouble:
		t.take(8)
	case kindUUID:
		t.take(16)
	case kindBinary:
		t.take(t.unsigned())
	case kindList, kindSet:
		n, of := t.begin(k)
		for i := 0; i < n && t.err == nil; i++ {
			t.pass(of, true, depth+1)
		}
	case kindMap:
		n := t.unsigned()
		if n == 0 {
			return
		}
		kinds := t.byte()
		for i := uint64(0); i < n && t.err == nil; i++ {
			t.pass(kind(kinds>>4), true, depth+1)
			t.pass(kind(kinds&15), true, depth+1)
		}
	case kindStruct:
		t.fields(func(_ int, k kind) { t.pass(k, false, depth+1) })
	default:
		t.fail(errThrift)
	}
}
