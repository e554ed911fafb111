package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	oracle "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// look reads a file in every way, up to some rows, whatever it is; it returns the first thing that is wrong.
func look(content []byte, rows int) (first error) {
	note := func(err error) {
		if first == nil {
			first = err
		}
	}
	f, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return err
	}
	for i := range f.Columns {
		if f.Columns[i].Problem != "" {
			continue
		}
		for _, way := range []string{"text", "sum", "each", "skip"} {
			c := f.Cursor(&f.Columns[i])
			left := rows
			for _, g := range f.Groups {
				if err := c.Open(g); err != nil {
					note(err)
					break
				}
				n := int(min(g.Rows, int64(left)))
				left -= n
				switch way {
				case "text":
					for range n {
						if _, _, _, err = c.Text(); err != nil {
							break
						}
					}
				case "sum":
					_, err = c.Sum(make([]uint64, n), func(text []byte, _ bool) (uint64, bool, bool) { return uint64(len(text)), true, true })
				case "each":
					_, err = c.Each(n, func(v Value) bool { c.TextOf(v); return true })
				case "skip":
					err = c.Skip(int64(n))
				}
				if note(err); err != nil || left == 0 {
					break
				}
			}
			c.Close()
		}
	}
	return first
}

// TestDamaged: a file in which anything is changed, or that is cut off anywhere, is read or refused, without a panic and in little memory.
func TestDamaged(t *testing.T) {
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	const rounds = 150
	r := rand.New(rand.NewPCG(1, 2))
	wrong := 0
	for _, file := range files {
		sound, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rounds {
			content := bytes.Clone(sound)
			switch r.IntN(4) {
			case 0: // the end stays, so that the metadata can be found
				cut := r.IntN(len(content))
				content = append(content[:cut:cut], sound[min(len(sound), cut+1+r.IntN(100)):]...)
			case 1:
				content = content[:r.IntN(len(content))]
			default:
				for range 1 + r.IntN(4) {
					content[r.IntN(len(content))] = byte(r.IntN(256))
				}
			}
			if look(content, 400) != nil {
				wrong++
			}
		}
		runtime.ReadMemStats(&after)
		took := (after.TotalAlloc - before.TotalAlloc) / rounds
		t.Logf("%s: %d KiB a reading", file, took>>10)
		// Eleven columns in four ways, and few of the changes make a page claim to be large.
		if took > 16<<20 {
			t.Errorf("%s took %d MiB a reading", file, took>>20)
		}
	}
	if wrong < rounds {
		t.Errorf("only %d damaged files were refused", wrong)
	}
}

// bomb is a sound file of one column and one row whose metadata or first page header a test changes.
type bomb struct {
	footer func(m *format.FileMetaData)
	page   func(h *format.PageHeader)
	body   []byte // in place of the page's; nil keeps it
}

// build writes the file.
func (b bomb) build(t *testing.T) []byte {
	t.Helper()
	type row struct {
		A int64 `parquet:"a"`
	}
	content := written(t, []row{{1}}, oracle.Compression(&oracle.Uncompressed), oracle.DataPageVersion(1))
	length := int(binary.LittleEndian.Uint32(content[len(content)-8:]))
	at := len(content) - 8 - length
	protocol := new(thrift.CompactProtocol)
	var m format.FileMetaData
	if err := thrift.Unmarshal(protocol, content[at:at+length], &m); err != nil {
		t.Fatal(err)
	}
	chunk := &m.RowGroups[0].Columns[0].MetaData
	var h format.PageHeader
	pages := bytes.NewReader(content[chunk.DataPageOffset : chunk.DataPageOffset+chunk.TotalCompressedSize])
	if err := thrift.NewDecoder(protocol.NewReader(pages)).Decode(&h); err != nil {
		t.Fatal(err)
	}
	body := content[chunk.DataPageOffset+chunk.TotalCompressedSize-int64(h.CompressedPageSize):][:h.CompressedPageSize]
	if b.body != nil {
		body = b.body
		h.CompressedPageSize, h.UncompressedPageSize = int32(len(body)), int32(len(body))
	}
	h.CRC = 0
	if b.page != nil {
		b.page(&h)
	}
	header, err := thrift.Marshal(protocol, &h)
	if err != nil {
		t.Fatal(err)
	}
	out := append([]byte(Magic), header...)
	out = append(out, body...)
	chunk.DataPageOffset, chunk.TotalCompressedSize = int64(len(Magic)), int64(len(header)+len(body))
	if b.footer != nil {
		b.footer(&m)
	}
	footer, err := thrift.Marshal(protocol, &m)
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, Magic...)
}

// TestBombs: what claims to be large is refused, or read in the memory that its bytes take.
func TestBombs(t *testing.T) {
	column := func(m *format.FileMetaData) *format.ColumnMetaData { return &m.RowGroups[0].Columns[0].MetaData }
	rows := func(n int64) func(m *format.FileMetaData) {
		return func(m *format.FileMetaData) {
			m.NumRows, m.RowGroups[0].NumRows, column(m).NumValues = n, n, n
		}
	}
	values := func(n int32, encoding format.Encoding) func(h *format.PageHeader) {
		return func(h *format.PageHeader) {
			if h.DataPageHeader.Valid {
				h.DataPageHeader.V.NumValues, h.DataPageHeader.V.Encoding = n, encoding
			}
			if h.DataPageHeaderV2.Valid {
				h.DataPageHeaderV2.V.NumValues, h.DataPageHeaderV2.V.Encoding = n, encoding
			}
		}
	}
	const billion = 1 << 26 // about, and less than what is free
	// A block of 65,536 numbers in 8 mini-blocks, of which the header claims a billion, and that has one block with widths of 0.
	deltas := binary.AppendUvarint(nil, 1<<16)
	deltas = binary.AppendUvarint(deltas, 8)
	deltas = binary.AppendUvarint(deltas, billion)
	deltas = append(deltas, make([]byte, 10)...)
	for name, test := range map[string]struct {
		bomb
		want string // part of the error; "" for none
	}{
		"sound":             {bomb{}, ""},
		"a page of 2 GB":    {bomb{page: func(h *format.PageHeader) { h.UncompressedPageSize = 1<<31 - 1 }}, "takes more than 128 MiB"},
		"minus bytes":       {bomb{page: func(h *format.PageHeader) { h.CompressedPageSize = -1 }}, "no valid Thrift"},
		"a longer page":     {bomb{page: func(h *format.PageHeader) { h.CompressedPageSize++ }}, "end too early"},
		"a large page":      {bomb{page: func(h *format.PageHeader) { h.UncompressedPageSize = 100 << 20 }}, "damaged"},
		"minus values":      {bomb{page: values(-1, format.Plain)}, "a page has -1 values"},
		"too many values":   {bomb{page: values(1<<30, format.Plain)}, "1 rows are left"},
		"fewer values":      {bomb{footer: rows(2), page: values(2, format.Plain)}, "fewer values than it claims"},
		"rows without end":  {bomb{footer: rows(1 << 62)}, "which no decision file has"},
		"minus rows":        {bomb{footer: rows(-1)}, "fewer than 0 rows"},
		"other rows":        {bomb{footer: func(m *format.FileMetaData) { m.NumRows = 7 }}, "claims to have 7 rows"},
		"other values":      {bomb{footer: func(m *format.FileMetaData) { column(m).NumValues = 7 }}, "a row group of 1 rows has 7 values"},
		"outside":           {bomb{footer: func(m *format.FileMetaData) { column(m).DataPageOffset = 1 << 40 }}, "outside the file"},
		"before":            {bomb{footer: func(m *format.FileMetaData) { column(m).DataPageOffset = -5 }}, "outside the file"},
		"overflow":          {bomb{footer: func(m *format.FileMetaData) { column(m).TotalCompressedSize = 1<<63 - 1 }}, "outside the file"},
		"no chunk":          {bomb{footer: func(m *format.FileMetaData) { m.RowGroups[0].Columns = nil }}, "lacks the column"},
		"another type":      {bomb{footer: func(m *format.FileMetaData) { column(m).Type = format.ByteArray }}, "another than in the schema"},
		"another file":      {bomb{footer: func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].FilePath = "x" }}, "lie in another file"},
		"no schema":         {bomb{footer: func(m *format.FileMetaData) { m.Schema = nil }}, "no schema"},
		"a deep schema":     {bomb{footer: func(m *format.FileMetaData) { m.Schema = m.Schema[:1] }}, "schema ends too early"},
		"an unknown codec":  {bomb{footer: func(m *format.FileMetaData) { column(m).Codec = 99 }}, "not known here"},
		"LZO":               {bomb{footer: func(m *format.FileMetaData) { column(m).Codec = format.LZO }}, "compressed with LZO"},
		"false Snappy":      {bomb{footer: func(m *format.FileMetaData) { column(m).Codec = format.Snappy }}, "damaged"},
		"false gzip":        {bomb{footer: func(m *format.FileMetaData) { column(m).Codec = format.Gzip }}, "damaged"},
		"false zstd":        {bomb{footer: func(m *format.FileMetaData) { column(m).Codec = format.Zstd }}, "damaged"},
		"false LZ4":         {bomb{footer: func(m *format.FileMetaData) { column(m).Codec = format.Lz4Raw }}, "damaged"},
		"no dictionary":     {bomb{page: values(1, format.RLEDictionary), body: []byte{1, 2, 0}}, "its dictionary does not have"},
		"a wide dictionary": {bomb{page: values(1, format.RLEDictionary), body: []byte{33, 2, 0}}, "fewer values"},
		"false levels":      {bomb{page: values(1, format.BitPacked)}, "not known here"},
		"endless deltas":    {bomb{footer: rows(billion), page: values(billion, format.DeltaBinaryPacked), body: deltas}, "fewer values"},
		"more deltas":       {bomb{page: values(1, format.DeltaBinaryPacked), body: deltas}, "differences"},
		"no deltas":         {bomb{page: values(1, format.DeltaBinaryPacked), body: []byte{0, 0, 0, 0}}, "differences"},
	} {
		t.Run(name, func(t *testing.T) {
			content := test.build(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := look(content, 100_000)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 { // the numbers that Sum is given take less than 1 MiB
				t.Errorf("it took %d bytes", took)
			}
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error: %v; want one with %q", err, test.want)
			}
		})
	}
}

// TestNoFile: what is no Parquet file, or only the beginning of one, is refused.
func TestNoFile(t *testing.T) {
	for content, want := range map[string]string{
		"":                             "ends too early",
		"PAR1":                         "ends too early",
		"PAR1PAR1":                     "ends too early",
		"PAR1 half a file":             "cut off",
		"PAR1\x00\x00\x00\x00PARE":     "encrypted",
		"PAR1\xFF\xFF\xFF\xFFPAR1":     "longer than the file",
		"PAR1\x00\x00\x00\x00PAR1":     "metadata end too early",
		"PAR1\x1E\x01\x00\x00\x00PAR1": "no valid Thrift",
	} {
		if err := look([]byte(content), 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", content, err, want)
		}
	}
}

// TestHeld: what is held for pages is counted, and given back.
func TestHeld(t *testing.T) {
	content, err := os.ReadFile("testdata/duckdb-zstd.parquet")
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, content)
	c := f.Cursor(column(t, f, "long"))
	if err := c.Open(f.Groups[0]); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := c.Text(); err != nil {
		t.Fatal(err)
	}
	// The texts "row number 0" to "row number 299" are 12 to 14 bytes, each behind its length in four.
	if held := f.held.Load(); held < 300*16 || held > 100<<10 {
		t.Errorf("%d bytes are held for a page of about 5,000", held)
	}
	c.Close()
	if held := f.held.Load(); held != 0 {
		t.Errorf("%d bytes are held by nobody", held)
	}
	if err := f.hold(maxHeld); err != nil {
		t.Error(err)
	}
	if err := f.hold(1); err == nil || !strings.Contains(err.Error(), "512 MiB at once") {
		t.Errorf("more than is allowed: %v", err)
	}
}

// TestHeldBeside: so is what a dictionary takes beside its page, which is more than the page where its texts are short.
func TestHeldBeside(t *testing.T) {
	type row struct {
		A string `parquet:"a,dict"`
	}
	var rows []row
	for i := range 20_000 {
		rows = append(rows, row{fmt.Sprint(i)})
	}
	f := open(t, written(t, rows, oracle.MaxRowsPerRowGroup(10_000)))
	c := f.Cursor(column(t, f, "a"))
	for _, g := range f.Groups {
		if err := c.Open(g); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Sum(make([]uint64, 10), func([]byte, bool) (uint64, bool, bool) { return 1, true, true }); err != nil {
			t.Fatal(err)
		}
		// A row group has 10,000 texts: four bytes each for where it lies, and eight for what it is worth.
		if held, want := f.held.Load(), int64(cap(c.space)+cap(c.page)+cap(c.kept)+10_000*(4+8)); held != want {
			t.Errorf("%d bytes are held, want %d", held, want)
		}
	}
	c.Close()
	if held := f.held.Load(); held != 0 {
		t.Errorf("%d bytes are held by nobody", held)
	}
	if err := f.hold(maxHeld - 1000); err != nil {
		t.Fatal(err)
	}
	if err := c.Open(f.Groups[0]); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := c.Text(); err == nil || !strings.Contains(err.Error(), "512 MiB at once") {
		t.Errorf("a dictionary beyond what may be held: %v", err)
	}
}

// TestSmallPagesInALongHeader: what was read for one long header is not moved for each of the small pages that follow in it, and no byte is
// lost where reading goes on.
func TestSmallPagesInALongHeader(t *testing.T) {
	content := make([]byte, 10_000)
	for i := range content {
		content[i] = byte(i % 251)
	}
	c := &Cursor{f: &File{r: bytes.NewReader(content)}, end: int64(len(content))}
	for step := 1; c.at < c.end; step++ {
		if err := c.need(1 + step*37%2000); err != nil {
			t.Fatal(err)
		}
		if want := content[c.at:][:len(c.read)]; !bytes.Equal(c.read, want) {
			t.Fatalf("at %d other bytes were read", c.at)
		}
		n := min(step%50, len(c.read)-1)
		if n > 0 {
			before := c.read
			if c.drop(n); &c.read[0] != &before[n] {
				t.Fatal("the rest was moved")
			}
		} else {
			c.drop(1)
		}
	}
}

// TestNesting: structures within structures do not fill the stack.
func TestNesting(t *testing.T) {
	deep := &metadata{b: bytes.Repeat([]byte{0x1C}, 1<<20)}
	deep.fields(func(_ int, k kind) { deep.skip(k) })
	if deep.err != errThrift {
		t.Errorf("a million structures inside each other: %v", deep.err)
	}
	lists := &metadata{b: bytes.Repeat([]byte{0x19}, 1<<20)}
	lists.skip(kindList)
	if lists.err == nil {
		t.Error("a million lists inside each other are read")
	}
}

func FuzzFile(f *testing.F) {
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		look(content, 50)
	})
}
