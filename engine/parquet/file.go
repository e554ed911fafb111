package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// Magic is what a Parquet file begins with, and ends with.
const Magic = "PAR1"

const (
	maxFooter  = 64 << 20    // bytes of the metadata
	maxColumns = 1 << 16     // columns, those inside others included
	maxPage    = 128 << 20   // bytes of a page, compressed or not; DuckDB's largest have 100 million
	maxHeld    = 512 << 20   // bytes of the pages that are held at once
	freeRows   = 100_000_000 // rows that a file may have whatever its size
	maxRows    = 4096        // rows to a byte of the file beyond them
)

// File is an open Parquet file. Its methods may be called by several goroutines at once.
type File struct {
	Columns []Column // the columns at the top of the schema, in its order
	Groups  []Group  // the row groups, in order

	r      io.ReaderAt
	data   int64 // bytes before the footer: pages lie in them
	footer []byte
	held   atomic.Int64
}

// Group is a row group: consecutive rows, whose columns lie one behind the other.
type Group struct {
	Rows int64 // how many there are; at least 1

	columns int // where the list of its columns begins in the footer
}

// Open reads the metadata of a file of size bytes. The error says what is wrong with the file; it may hold text from the file.
func Open(r io.ReaderAt, size int64) (*File, error) {
	const ends = 2 * len(Magic)
	if size < int64(ends+4) {
		return nil, errors.New("it ends too early: it has no metadata")
	}
	var tail [8]byte
	if err := readAt(r, tail[:], size-8); err != nil {
		return nil, err
	}
	switch string(tail[4:]) {
	case Magic:
	case "PARE":
		return nil, errEncrypted
	default:
		return nil, errors.New("it does not end as Parquet files do: it is cut off, or still being written")
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	switch {
	case length > size-int64(ends)-4:
		return nil, errors.New("its metadata are longer than the file: it is damaged")
	case length > maxFooter:
		return nil, fmt.Errorf("its metadata take more than %d MiB: write it with larger row groups", maxFooter>>20)
	}
	f := &File{r: r, data: size - 8 - length, footer: make([]byte, length)}
	if err := readAt(r, f.footer, f.data); err != nil {
		return nil, err
	}
	rows, err := f.readFooter()
	switch {
	case err != nil:
		return nil, err
	case rows > freeRows && rows/maxRows > size:
		return nil, fmt.Errorf("it claims to have %d rows in %d bytes, which no decision file has", rows, size)
	}
	return f, nil
}

var errEncrypted = errors.New("it is encrypted: write it without encryption")

// readAt fills p from offset on.
func readAt(r io.ReaderAt, p []byte, offset int64) error {
	n, err := r.ReadAt(p, offset)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		return errors.New("it became shorter while it was read")
	}
	return err
}

// readFooter reads the metadata: FileMetaData in parquet.thrift.
func (f *File) readFooter() (rows int64, err error) {
	t := &metadata{b: f.footer}
	var elements []element
	var total int64
	t.fields(func(id int, k kind) {
		switch id {
		case 2:
			t.list(k, func(int) {
				if len(elements) > maxColumns {
					t.fail(fmt.Errorf("it has more than %d columns", maxColumns))
					return
				}
				elements = append(elements, readElement(t))
			})
		case 3:
			rows = t.integer(k)
		case 4:
			t.list(k, func(int) {
				g := f.readGroup(t)
				if total += g.Rows; g.Rows < 0 || total < 0 {
					t.fail(errors.New("a row group claims to have fewer than 0 rows: it is damaged"))
				}
				if g.Rows > 0 {
					f.Groups = append(f.Groups, g)
				}
			})
		case 8:
			t.fail(errEncrypted)
		default:
			t.skip(k)
		}
	})
	if t.err != nil {
		return 0, t.err
	}
	if rows != total {
		return 0, fmt.Errorf("it claims to have %d rows, and its row groups have %d: it is damaged", rows, total)
	}
	f.Columns, err = columns(elements)
	return rows, err
}

// readGroup reads a RowGroup.
func (f *File) readGroup(t *metadata) (g Group) {
	g.columns = -1
	t.fields(func(id int, k kind) {
		switch id {
		case 1:
			g.columns = t.at
			t.skip(k)
		case 3:
			g.Rows = t.integer(k)
		default:
			t.skip(k)
		}
	})
	if g.columns < 0 {
		t.fail(errThrift)
	}
	return g
}

// chunk is where a column of a row group lies.
type chunk struct {
	physical int64
	codec    int64
	values   int64 // nulls included
	start    int64 // of its first page
	end      int64 // of its last
}

// chunk finds a column of a row group.
func (f *File) chunk(g Group, col *Column) (c chunk, err error) {
	t := &metadata{b: f.footer, at: g.columns}
	found := false
	n, _ := t.begin(kindList)
	for i := 0; i < n && t.err == nil && !found; i++ {
		if i < col.leaf {
			t.skip(kindStruct)
			continue
		}
		c, found = readChunk(t), true
	}
	switch {
	case t.err != nil:
		return c, t.err
	case !found:
		return c, errors.New("a row group lacks the column")
	case c.physical != int64(col.physical):
		return c, errors.New("its type in a row group is another than in the schema")
	case c.values != g.Rows:
		return c, fmt.Errorf("a row group of %d rows has %d values of it", g.Rows, c.values)
	case c.start < int64(len(Magic)) || c.end < c.start || c.end > f.data:
		return c, errors.New("its values would lie outside the file")
	}
	return c, nil
}

// readChunk reads a ColumnChunk.
func readChunk(t *metadata) (c chunk) {
	data, dictionary, length := int64(-1), int64(-1), int64(-1)
	t.fields(func(id int, k kind) {
		switch id {
		case 1:
			if path := t.binary(k); len(bytes.TrimSpace(path)) > 0 {
				t.fail(errors.New("its values lie in another file"))
			}
		case 3:
			t.structure(k, func(id int, k kind) { // ColumnMetaData
				switch id {
				case 1:
					c.physical = t.integer(k)
				case 4:
					c.codec = t.integer(k)
				case 5:
					c.values = t.integer(k)
				case 7:
					length = t.integer(k)
				case 9:
					data = t.integer(k)
				case 11:
					dictionary = t.integer(k)
				default:
					t.skip(k)
				}
			})
		case 8, 9:
			t.fail(errEncrypted)
		default:
			t.skip(k)
		}
	})
	c.start = data
	if dictionary > 0 && dictionary < data { // some writers say 0 for none
		c.start = dictionary
	}
	c.end = c.start + length
	if data < 0 || length < 0 {
		c.start = -1
	}
	return c
}

// hold counts bytes that are held for pages, fewer where n is negative.
func (f *File) hold(n int) error {
	if f.held.Add(int64(n)) > maxHeld && n > 0 {
		return fmt.Errorf("the pages of its columns take more than %d MiB at once: write it with smaller pages", maxHeld>>20)
	}
	return nil
}
