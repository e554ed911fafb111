package parquet

import (
	"errors"
	"strings"
)

// Column is a column at the top of the schema.
type Column struct {
	Name string
	// Problem is "" or why its values cannot be read as texts, as the end of the sentence that begins with the column.
	Problem string

	leaf     int // its place among the columns that hold values
	physical physical
	width    int // bytes of a value of fixed length
	optional bool
	meaning  meaning
	scale    int  // of a decimal: how many places it has
	unsigned bool // of a whole number
	perTick  int  // of a time: how many nanoseconds it counts
	utc      bool // of a time: it is in UTC; else it has no zone
}

// Integers reports whether the column's values are whole numbers of up to 63 bits and a sign.
func (c *Column) Integers() bool {
	return c.meaning == meansItself && (c.physical == physicalInt32 || c.physical == physicalInt64) && !c.unsigned
}

// Begins returns the bytes that the column's texts can begin with, where every value has a text and none is empty or white space; "" for
// others.
func (c *Column) Begins() string {
	const digits = "-0123456789"
	switch {
	case c.meaning == meansUUID:
		return digits + "abcdef"
	case c.meaning != meansItself: // there are times that no day has, and the like
		return ""
	}
	switch c.physical {
	case physicalBoolean:
		return "tf"
	case physicalInt32, physicalInt64:
		return digits
	case physicalFloat, physicalDouble:
		return digits + "NI"
	}
	return ""
}

// physical is how values are stored: Type in parquet.thrift.
type physical int

const (
	physicalBoolean physical = iota
	physicalInt32
	physicalInt64
	physicalInt96
	physicalFloat
	physicalDouble
	physicalBytes
	physicalFixed
)

// meaning is what values stand for.
type meaning int

const (
	meansItself meaning = iota // a boolean, a number, or text
	meansDecimal
	meansDate
	meansTime
	meansTimestamp
	meansUUID
)

// element is a SchemaElement: a column, or a group of them.
type element struct {
	physical  int64 // −1 for a group
	width     int64
	repeats   int64 // 0 required, 1 optional, 2 repeated
	name      string
	children  int64
	converted int64 // ConvertedType, in older files; −1 for none
	scale     int64
	logical   int // the field of LogicalType that is there; 0 for none
	unit      int // of a time: 1 milliseconds, 2 microseconds, 3 nanoseconds
	utc       bool
	signed    bool // of a whole number
}

// readElement reads a SchemaElement.
func readElement(t *metadata) element {
	e := element{physical: -1, converted: -1}
	t.fields(func(id int, k kind) {
		switch id {
		case 1:
			e.physical = t.integer(k)
		case 2:
			e.width = t.integer(k)
		case 3:
			e.repeats = t.integer(k)
		case 4:
			e.name = string(t.binary(k))
		case 5:
			e.children = t.integer(k)
		case 6:
			e.converted = t.integer(k)
		case 7:
			e.scale = t.integer(k)
		case 10:
			t.structure(k, func(id int, k kind) {
				e.logical = id
				t.structure(k, func(part int, k kind) { e.readLogical(t, id, part, k) })
			})
		default:
			t.skip(k)
		}
	})
	return e
}

// The fields of LogicalType.
const (
	logicalString    = 1
	logicalMap       = 2
	logicalList      = 3
	logicalEnum      = 4
	logicalDecimal   = 5
	logicalDate      = 6
	logicalTime      = 7
	logicalTimestamp = 8
	logicalInteger   = 10
	logicalNull      = 11
	logicalJSON      = 12
	logicalUUID      = 14
)

// readLogical reads a part of a logical type.
func (e *element) readLogical(t *metadata, logical, part int, k kind) {
	switch {
	case logical == logicalDecimal && part == 1:
		e.scale = t.integer(k)
	case (logical == logicalTime || logical == logicalTimestamp) && part == 1:
		e.utc = t.boolean(k)
	case (logical == logicalTime || logical == logicalTimestamp) && part == 2:
		t.structure(k, func(id int, k kind) {
			e.unit = id
			t.skip(k)
		})
	case logical == logicalInteger && part == 2:
		e.signed = t.boolean(k)
	default:
		t.skip(k)
	}
}

// columns makes the columns of a schema, which lists every group before its members; the first holds all others.
func columns(elements []element) ([]Column, error) {
	if len(elements) == 0 {
		return nil, errors.New("it has no schema: it is damaged")
	}
	var list []Column
	leaf, i := 0, 1
	for range elements[0].children {
		if i >= len(elements) {
			return nil, errors.New("its schema ends too early: it is damaged")
		}
		e := elements[i]
		c := e.column()
		c.leaf = leaf
		list = append(list, c)
		// Pass over its members, and theirs.
		for open := int64(1); open > 0; open-- {
			if i >= len(elements) {
				return nil, errors.New("its schema ends too early: it is damaged")
			}
			inner := elements[i]
			if inner.children < 0 || inner.children > int64(len(elements)) {
				return nil, errors.New("its schema is damaged")
			}
			if inner.physical >= 0 {
				leaf++
			}
			open += inner.children
			i++
		}
	}
	return list, nil
}

// perTick are the nanoseconds of a unit of time.
var perTick = [...]int{1: 1_000_000, 2: 1_000, 3: 1}

// The numbers of ConvertedType.
const (
	convertedUTF8       = 0
	convertedEnum       = 4
	convertedDecimal    = 5
	convertedDate       = 6
	convertedTimeMillis = 7
	convertedTimeMicros = 8
	convertedMillis     = 9
	convertedMicros     = 10
	convertedUint8      = 11
	convertedUint64     = 14
	convertedInt8       = 15
	convertedInt64      = 18
	convertedJSON       = 19
)

// column is the column that an element at the top describes.
func (e *element) column() Column {
	c := Column{Name: strings.ToValidUTF8(e.name, "\uFFFD"), physical: physical(e.physical), optional: e.repeats == 1}
	switch {
	case e.repeats == 2, e.logical == logicalList, e.logical == logicalMap:
		c.Problem = "holds a list in each row"
	case e.children > 0, e.physical < 0:
		c.Problem = "holds columns of its own"
	case e.physical > int64(physicalFixed):
		c.Problem = "has a type that is not known here"
	case c.physical == physicalFixed && (e.width < 1 || e.width > maxPage):
		c.Problem = "has values of a length that cannot be"
	}
	if c.Problem != "" {
		return c
	}
	switch c.physical {
	case physicalInt32, physicalFloat:
		c.width = 4
	case physicalInt64, physicalDouble:
		c.width = 8
	case physicalInt96:
		c.width = 12
		c.meaning, c.perTick = meansTimestamp, 1
	case physicalFixed:
		c.width = int(e.width)
	}
	integer := c.physical == physicalInt32 || c.physical == physicalInt64
	text := c.physical == physicalBytes || c.physical == physicalFixed
	fits := true // the meaning goes with how the values are stored
	times := func(m meaning, unit int, utc bool) {
		c.meaning, c.utc = m, utc
		if fits = integer && unit > 0 && unit < len(perTick); fits {
			c.perTick = perTick[unit]
		}
	}
	switch {
	case e.logical == logicalString, e.logical == logicalEnum, e.logical == logicalJSON:
		fits = text
	case e.logical == logicalDecimal, e.logical == 0 && e.converted == convertedDecimal:
		c.meaning, c.scale = meansDecimal, int(e.scale)
		fits = (integer || text) && e.scale >= 0 && e.scale <= maxScale && c.width <= maxDecimal
	case e.logical == logicalDate, e.logical == 0 && e.converted == convertedDate:
		c.meaning, fits = meansDate, c.physical == physicalInt32
	case e.logical == logicalTime:
		times(meansTime, e.unit, e.utc)
	case e.logical == logicalTimestamp:
		times(meansTimestamp, e.unit, e.utc)
	case e.logical == logicalInteger:
		c.unsigned, fits = !e.signed, integer
	case e.logical == logicalNull:
	case e.logical == logicalUUID:
		c.meaning, fits = meansUUID, c.physical == physicalFixed && c.width == 16
	case e.logical != 0:
		c.Problem = "holds values that are no texts, numbers, dates or times"
	case e.converted == convertedTimeMillis, e.converted == convertedTimeMicros: // in UTC, as in all older files
		times(meansTime, int(e.converted-convertedTimeMillis)+1, true)
	case e.converted == convertedMillis, e.converted == convertedMicros:
		times(meansTimestamp, int(e.converted-convertedMillis)+1, true)
	case e.converted >= convertedUint8 && e.converted <= convertedUint64:
		c.unsigned, fits = true, integer
	case e.converted >= convertedInt8 && e.converted <= convertedInt64:
		fits = integer
	case e.converted == convertedUTF8, e.converted == convertedEnum, e.converted == convertedJSON:
		fits = text
	case e.converted != -1:
		c.Problem = "holds values that are no texts, numbers, dates or times"
	}
	if c.Problem == "" && !fits {
		c.Problem = "has a type whose parts contradict each other"
	}
	return c
}
