package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Cursor reads the values of one column, from row to row. It belongs to one goroutine.
type Cursor struct {
	f   *File
	col *Column
	decompressor

	rows  int64 // left in the row group
	codec int64
	at    int64 // where what was not read yet begins in the file
	end   int64 // where the column's pages end

	space  []byte // what read lies in
	read   []byte // what was read from the file, and where the page lies in it
	page   []byte // the page, decompressed, where it was compressed
	kept   []byte // the dictionary's page, the same
	header header

	left    int    // rows left in the page
	levels  runs   // 1 for a row with a value, 0 for one without; of an optional column
	nulls   bool   // whether there are levels
	source  source // the values; nil where they are places in the dictionary
	indexes runs   // the places
	values  dictionary
	beside  int // bytes held beside pages: where the dictionary's values lie, and what they are worth

	sums
	text []byte
}

// dictionary are the values that pages refer to.
type dictionary struct {
	b     []byte
	width int      // of values of one length
	ends  []uint32 // of others: where each begins, behind its length; and one more
	n     int
}

// value is value i, which must be there.
func (d *dictionary) value(i int) []byte {
	if d.width > 0 {
		return d.b[i*d.width : (i+1)*d.width]
	}
	begin := d.ends[i]
	return d.b[begin : begin+binary.LittleEndian.Uint32(d.b[begin-4:])]
}

// Cursor returns a cursor for a column, which must have no Problem. It stands nowhere before Open.
func (f *File) Cursor(col *Column) *Cursor { return &Cursor{f: f, col: col} }

// Close releases what the cursor holds.
func (c *Cursor) Close() {
	c.close()
	c.f.hold(-cap(c.space) - cap(c.page) - cap(c.kept) - c.beside)
	c.space, c.read, c.page, c.kept, c.beside = nil, nil, nil, nil, 0
	c.values, c.worth = dictionary{}, nil
}

// Open goes to the first row of a row group.
func (c *Cursor) Open(g Group) error {
	at, err := c.f.chunk(g, c.col)
	if err != nil {
		return err
	}
	if err := readable(at.codec); err != nil {
		return err
	}
	c.rows, c.codec, c.at, c.end, c.left = g.Rows, at.codec, at.start, at.end, 0
	c.holdBeside(-4 * len(c.values.ends)) // fewer: no error
	c.read, c.values = nil, dictionary{}
	c.forget()
	return nil
}

// grow makes room for n bytes in a buffer, and for eight more, so that numbers can be read past the end of others.
func (c *Cursor) grow(buffer []byte, n int) ([]byte, error) {
	if cap(buffer) >= n+8 {
		return buffer[:n], nil
	}
	size := max(n+8, min(2*cap(buffer), maxPage))
	if err := c.f.hold(size - cap(buffer)); err != nil {
		return buffer, err
	}
	return append(make([]byte, 0, size), buffer[:min(len(buffer), n)]...)[:n], nil
}

// holdBeside counts bytes that are held beside pages, fewer where n is negative.
func (c *Cursor) holdBeside(n int) error {
	c.beside += n
	return c.f.hold(n)
}

const (
	peeked    = 1 << 10  // bytes that are read for a page's header at first
	maxHeader = 16 << 20 // bytes of one, which may hold the least and the greatest value
)

var errPages = errors.New("its pages end too early")

// need makes sure that at least n bytes from c.at on, as far as the column goes, are in c.read.
func (c *Cursor) need(n int) error {
	n = int(min(int64(n), c.end-c.at))
	have := len(c.read)
	if have >= n {
		return nil
	}
	copy(c.space[:cap(c.space)], c.read)
	c.read = c.space[:have]
	space, err := c.grow(c.read, n)
	if err != nil {
		return err
	}
	c.space, c.read = space, space
	if err := readAt(c.f.r, space[have:], c.at+int64(have)); err != nil {
		c.read = space[:have]
		return err
	}
	return nil
}

// drop drops the first n bytes of c.read. It moves none: there may be megabytes, because of one long header, and many small pages in them.
func (c *Cursor) drop(n int) {
	c.at += int64(n)
	c.read = c.read[min(n, len(c.read)):]
}

// header is a PageHeader.
type header struct {
	kind         int64 // of the page
	size         int64 // of its text
	packed       int64 // of its bytes in the file
	sum          uint32
	summed       bool
	values       int64 // nulls included
	encoding     int64
	levels       int64 // the encoding of levels, in pages of the first version
	repeats      int64 // bytes of levels, in those of the second
	definitions  int64
	uncompressed bool
}

// The kinds of page: PageType.
const (
	pageData       = 0
	pageIndex      = 1
	pageDictionary = 2
	pageDataV2     = 3
)

// Encoding.
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2
	encodingRLE             = 3
	encodingDelta           = 5
	encodingDeltaLengths    = 6
	encodingDeltaTexts      = 7
	encodingDictionary      = 8
	encodingSplit           = 9
)

// readHeader reads a PageHeader.
func readHeader(t *metadata) header {
	h := header{kind: -1, size: -1, packed: -1, values: -1}
	t.fields(func(id int, k kind) {
		switch id {
		case 1:
			h.kind = t.integer(k)
		case 2:
			h.size = t.integer(k)
		case 3:
			h.packed = t.integer(k)
		case 4:
			h.sum, h.summed = uint32(t.integer(k)), true
		case 5, 7, 8: // DataPageHeader, DictionaryPageHeader, DataPageHeaderV2
			t.structure(k, func(part int, k kind) {
				switch {
				case part == 1:
					h.values = t.integer(k)
				case part == 2 && id != 8, part == 4 && id == 8:
					h.encoding = t.integer(k)
				case part == 3 && id == 5:
					h.levels = t.integer(k)
				case part == 5 && id == 8:
					h.definitions = t.integer(k)
				case part == 6 && id == 8:
					h.repeats = t.integer(k)
				case part == 7 && id == 8:
					h.uncompressed = !t.boolean(k)
				default:
					t.skip(k)
				}
			})
		default:
			t.skip(k)
		}
	})
	return h
}

// nextHeader reads the header of the next page, and goes behind it.
func (c *Cursor) nextHeader() error {
	for n := peeked; ; n *= 4 {
		if c.at >= c.end {
			return errPages
		}
		if err := c.need(n); err != nil {
			return err
		}
		t := &metadata{b: c.read}
		c.header = readHeader(t)
		if t.err == errShort && n < maxHeader && c.at+int64(len(c.read)) < c.end {
			continue
		}
		if t.err != nil {
			return t.err
		}
		c.drop(t.at)
		break
	}
	h := &c.header
	switch {
	case h.size < 0 || h.packed < 0:
		return errThrift
	case h.size > maxPage || h.packed > maxPage:
		return fmt.Errorf("a page of it takes more than %d MiB: write it with smaller pages", maxPage>>20)
	case h.packed > c.end-c.at:
		return errPages
	}
	return nil
}

// nextPage goes to the next page with rows, passing over pages of fewer than skip rows; it returns how many rows it passed over.
func (c *Cursor) nextPage(skip int64) (passed int64, err error) {
	for c.left == 0 {
		if err := c.nextHeader(); err != nil {
			return passed, err
		}
		h := &c.header
		switch h.kind {
		case pageData, pageDataV2:
			switch {
			case h.values < 0 || h.values > c.rows:
				return passed, fmt.Errorf("a page has %d values of it, and %d rows are left in the row group", h.values, c.rows)
			case h.values <= skip-passed:
				passed += h.values
				c.rows -= h.values
			default:
				body, err := c.body(&c.page)
				if err == nil {
					err = c.beginPage(body)
				}
				if err != nil {
					return passed, err
				}
				c.left = int(h.values)
				c.rows -= h.values
				c.pass()
				return passed, nil
			}
			if passed == skip && skip > 0 {
				c.pass()
				return passed, nil
			}
		case pageDictionary:
			if c.values.n > 0 {
				return passed, errors.New("it has two dictionaries in a row group")
			}
			body, err := c.body(&c.kept)
			if err == nil {
				err = c.beginDictionary(body)
			}
			if err != nil {
				return passed, err
			}
		case pageIndex:
		default:
			return passed, errors.New("it has a page of a kind that is not known here")
		}
		c.pass()
	}
	return passed, nil
}

// pass goes behind the body of the page.
func (c *Cursor) pass() { c.drop(int(c.header.packed)) }

// body reads the page, and decompresses what is compressed into the buffer. It stays valid until the buffer is used again, or c.read.
func (c *Cursor) body(buffer *[]byte) ([]byte, error) {
	h := &c.header
	if err := c.need(int(h.packed)); err != nil {
		return nil, err
	}
	packed := c.read[:h.packed]
	if h.summed && crc32.ChecksumIEEE(packed) != h.sum {
		return nil, errors.New("the checksum of a page is wrong: the file is damaged")
	}
	levels := int64(0) // bytes of levels, which are not compressed in the second version
	if h.kind == pageDataV2 {
		levels = h.repeats + h.definitions
		if h.repeats < 0 || h.definitions < 0 || levels > h.packed || levels > h.size {
			return nil, errPages
		}
	}
	if !fits(c.codec, h.size-levels, h.packed-levels) {
		return nil, errCompressed
	}
	whole, err := c.grow(*buffer, int(h.size))
	if err != nil {
		return nil, err
	}
	*buffer = whole
	copy(whole, packed[:levels])
	switch into, from := whole[levels:], packed[levels:]; {
	case c.codec == codecNone, h.uncompressed:
		if len(from) != len(into) {
			return nil, errCompressed
		}
		copy(into, from)
	case len(into) == 0: // nothing but nulls: some writers compress nothing to nothing
	default:
		if err := c.decompress(c.codec, into, from); err != nil {
			return nil, err
		}
	}
	return whole, nil
}

// beginDictionary reads a dictionary.
func (c *Cursor) beginDictionary(b []byte) error {
	h := &c.header
	switch {
	case h.encoding != encodingPlain && h.encoding != encodingPlainDictionary:
		return errors.New("its dictionary is encoded in a way that is not known here")
	case h.values < 0 || h.values > int64(len(b)):
		return errValues
	case c.col.physical == physicalBoolean:
		return errors.New("it is a boolean with a dictionary, which the format does not have")
	}
	d := dictionary{b: b, width: c.col.width, n: int(h.values)}
	if d.width > 0 {
		if d.n > len(b)/d.width {
			return errValues
		}
	} else {
		if d.n > len(b)/4 {
			return errValues
		}
		if err := c.holdBeside(4 * d.n); err != nil {
			return err
		}
		s := texts{b}
		d.ends = make([]uint32, d.n)
		for i := range d.ends {
			d.ends[i] = uint32(len(b)-len(s.b)) + 4
			if _, ok := s.next(); !ok {
				return errValues
			}
		}
	}
	c.values = d
	return nil
}

// beginPage reads where the levels and values of a page lie.
func (c *Cursor) beginPage(b []byte) (err error) {
	h := &c.header
	c.nulls = c.col.optional
	if h.kind == pageDataV2 {
		if h.repeats > 0 {
			return errors.New("it has repetition levels, and no list")
		}
		c.levels = newRuns(b[:h.definitions], 1)
		b = b[h.definitions:]
	} else if c.col.optional {
		if h.levels != encodingRLE {
			return errors.New("its levels are encoded in a way that the format has withdrawn: write it anew")
		}
		if len(b) < 4 {
			return errPages
		}
		n := uint64(binary.LittleEndian.Uint32(b))
		if n > uint64(len(b)-4) {
			return errPages
		}
		c.levels = newRuns(b[4:4+n], 1)
		b = b[4+n:]
	}
	col := c.col
	c.source = nil
	switch {
	case h.encoding == encodingDictionary || h.encoding == encodingPlainDictionary:
		if len(b) == 0 { // nothing but nulls
			c.indexes = runs{}
			return nil
		}
		if b[0] > 32 {
			return errValues
		}
		c.indexes = newRuns(b[1:], uint(b[0]))
	case h.encoding == encodingPlain && col.physical == physicalBoolean:
		c.source = &truths{runs: packedRuns(b)}
	case h.encoding == encodingPlain && col.physical == physicalBytes:
		c.source = &texts{b}
	case h.encoding == encodingPlain:
		c.source = &fixed{b, col.width}
	case h.encoding == encodingRLE && col.physical == physicalBoolean:
		if len(b) < 4 { // nothing but nulls
			c.source = &truths{}
			return nil
		}
		c.source = &truths{runs: newRuns(b[4:], 1)}
	case h.encoding == encodingDelta && (col.physical == physicalInt32 || col.physical == physicalInt64):
		c.source, err = newDeltas(b, col.width, h.values)
	case h.encoding == encodingDeltaLengths && col.physical == physicalBytes:
		c.source, err = newLengths(b, h.values)
	case h.encoding == encodingDeltaTexts && (col.physical == physicalBytes || col.physical == physicalFixed):
		c.source, err = newPrefixes(b, h.values)
	case h.encoding == encodingSplit && col.width > 0:
		c.source = newSplit(b, col.width)
	default:
		return errors.New("its values are encoded in a way that is not known here")
	}
	return err
}
