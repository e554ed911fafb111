package rows

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	library "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	metadata "github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/parquet"
)

const parquetWriting = "Parquet"

// parquetText writes columns of texts, in which "∅" is a null, as a Parquet file.
func parquetText(t fataler, header []string, rows [][]string, options ...library.WriterOption) string {
	t.Helper()
	group := library.Group{}
	for _, name := range header {
		group[name] = library.Optional(library.Encoded(library.String(), &library.RLEDictionary))
	}
	schema := library.NewSchema("rows", group)
	place := map[string]int{} // the library sorts columns
	for i, path := range schema.Columns() {
		place[path[0]] = i
	}
	var list []library.Row
	for _, row := range rows {
		values := make(library.Row, len(header))
		for i, name := range header {
			at := place[name]
			values[at] = library.ValueOf(nil).Level(0, 0, at)
			if row[i] != "∅" {
				values[at] = library.ValueOf(row[i]).Level(0, 1, at)
			}
		}
		list = append(list, values)
	}
	var b bytes.Buffer
	w := library.NewGenericWriter[any](&b, append([]library.WriterOption{schema}, options...)...)
	if _, err := w.WriteRows(list); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// asParquet writes a table in one of the many ways there are; what is not recorded is a null or empty.
func asParquet(t *rapid.T, rows [][]string) string {
	var list [][]string
	for _, row := range rows {
		row = slices.Clone(row)
		for i := range row {
			if row[i] == "" && rapid.Bool().Draw(t, "null") {
				row[i] = "∅"
			}
		}
		list = append(list, row)
	}
	codec := rapid.SampledFrom([]library.WriterOption{library.Compression(&library.Snappy), library.Compression(&library.Zstd), library.Compression(&library.Uncompressed)}).Draw(t, "codec")
	return parquetText(t, tableHeader, list, codec,
		library.PageBufferSize(rapid.SampledFrom([]int{16, 1 << 16}).Draw(t, "page")),
		library.MaxRowsPerRowGroup(rapid.SampledFrom([]int64{2, 5, 1000}).Draw(t, "row group")),
		library.DataPageVersion(rapid.IntRange(1, 2).Draw(t, "version")))
}

// TestParquetIsCounted: what Count counts of a Parquet file is what Read reads, in however many parts, and no sound file is refused.
func TestParquetIsCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := table(t)
		for i := range rows {
			if rapid.IntRange(0, 3).Draw(t, "missing") == 0 {
				rows[i][2] = " NA "
			}
		}
		opts := Options{Columns: abc, MissingValues: []string{"NA"}}
		read, problems, counted, ok := combinations(asParquet(t, rows), opts, rapid.SampledFrom([]int{1, 3, 1000}).Draw(t, "part"))
		switch {
		case len(problems) > 0:
			t.Fatalf("problems: %v", problems)
		case !ok:
			t.Fatal("a sound file was not counted")
		case !maps.Equal(read, counted):
			t.Fatal(cmp.Diff(read, counted))
		}
	})
}

// TestParquetDamaged: of a damaged file Count knows nothing, or what Read reads; neither panics.
func TestParquetDamaged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := []byte(asParquet(t, table(t)))
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			content[rapid.IntRange(4, len(content)-1).Draw(t, "at")] = byte(rapid.IntRange(0, 255).Draw(t, "byte"))
		}
		read, problems, counted, ok := combinations(string(content), Options{Columns: abc}, 3)
		switch {
		case ok && len(problems) > 0:
			t.Fatalf("counted, though there is wrong: %v", problems)
		case ok && !maps.Equal(read, counted):
			t.Fatal(cmp.Diff(read, counted))
		}
	})
}

// numbered is a table of 10,000 rows with ids, numbers and three groups, of which some are not recorded.
func numbered(again bool) [][]string {
	var rows [][]string
	for i := range 10_000 {
		id, group := fmt.Sprint(i), []string{"a", "b", "∅"}[i%3]
		if again && i == 9_000 {
			id = "77"
		}
		rows = append(rows, []string{id, fmt.Sprintf("0.%03d", i%1000), group})
	}
	return rows
}

// TestParquetNumbersAndIDs: numbers are added up by group, and an id that comes twice is found.
func TestParquetNumbersAndIDs(t *testing.T) {
	header := []string{"id", "score", "group"}
	columns := []Column{{Name: "id", Required: true}, {Name: "score", Required: true}, {Name: "group"}}
	uses := []Use{{Full: true}, {Codes: 1, Code: func(string, bool) (int, bool, bool) { return 0, false, false }, Number: func(Decimal, bool) (int, bool) { return 0, true }},
		{Codes: 3, Code: func(text string, recorded bool) (int, bool, bool) {
			return map[string]int{"a": 0, "b": 1, "": 2}[text], false, true
		}}}
	for _, again := range []bool{false, true} {
		opts := Options{Columns: columns, Once: []Once{{Columns: []int{0}}}}
		opts.FS = folder("f", parquetText(t, header, numbered(again), library.MaxRowsPerRowGroup(3_000)))
		cube, inputs, ok := countWithin([]string{"f"}, opts, uses, limits{buffer: 16, head: 64, record: maxRecord, part: 100})
		if ok == again {
			t.Fatalf("an id twice: %v; counted: %v", again, ok)
		}
		if again {
			continue
		}
		got := map[int]string{}
		cube.Each(func(codes []int, rows int, sum Sum) { got[codes[2]] = fmt.Sprint(rows, " ", sum) })
		// Every group has a third of 10,000 rows, 3,334 + 3,333 + 3,333. i%1000 sums to 499,500 in each thousand, 4,995,000 in all, of which
		// group 0 has the i that 3 divides: as Python 3.11 adds them up.
		want := map[int]string{0: "3334 1665.333", 1: "3333 1664.667", 2: "3333 1665"}
		if diff := cmp.Diff(want, got); diff != "" || inputs[0].Rows != 10_000 {
			t.Error(diff, inputs[0].Rows)
		}
	}
}

// TestParquetProblems: what is wrong with a file is told at its row, all at once.
func TestParquetProblems(t *testing.T) {
	type row struct {
		Case     string  `parquet:"case"`
		Decision []byte  `parquet:"decision"`
		Note     *string `parquet:"note,optional"`
	}
	type list struct {
		Case     string   `parquet:"case"`
		Decision []string `parquet:"decision,list"`
	}
	type twice struct {
		Case     string `parquet:"case"`
		Again    string `parquet:"case "`
		Decision string `parquet:"decision"`
	}
	of := func(rows any) string {
		var b bytes.Buffer
		var err error
		switch rows := rows.(type) {
		case []row:
			err = library.Write(&b, rows)
		case []list:
			err = library.Write(&b, rows)
		case []twice:
			err = library.Write(&b, rows)
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	sound := of([]row{{Case: "a", Decision: []byte("x")}})
	for _, test := range []struct {
		name, content string
		want          []string
	}{
		{"sound", sound, nil},
		{"bytes", of([]row{{"a", []byte{0xFF}, nil}, {"b", []byte("x"), nil}, {"c", []byte{0x80}, nil}}),
			[]string{`f:row 1: "decision": found bytes that are no text in UTF-8`, `f:row 3: "decision": found bytes that are no text in UTF-8`}},
		{"no row", of([]row{}), []string{"f: there are columns but no row: every file needs one"}},
		{"list", of([]list{{"a", []string{"x"}}}), []string{`f: the column "decision" holds a list in each row: texts, numbers, booleans, dates and times, one in each row, are read`}},
		{"twice", of([]twice{{"a", "b", "c"}}), []string{`f: the column "case" is there twice: keep the one that is meant`}},
		{"missing", parquetText(t, []string{"case", "decison"}, [][]string{{"a", "b"}}),
			[]string{`f: the column "decision" is missing; there is "decison": rename it, or write columns: {decision: "decison"} in the policy`}},
		{"cut off", sound[:len(sound)-9], []string{"f: the Parquet file cannot be read: it does not end as Parquet files do: it is cut off, or still being written"}},
		{"gzip", gzipped(t, sound), []string{"f: it is a Parquet file, compressed as a whole: decompress it, for its pages are compressed as they are"}},
		{"zstd", zstandard(t, sound), []string{"f: it is a Parquet file, compressed as a whole: decompress it, for its pages are compressed as they are"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := readText(test.content)
			if diff := cmp.Diff(test.want, got.diags); diff != "" {
				t.Error(diff)
			}
			if _, _, ok := Count([]string{"f"}, Options{Columns: abc, FS: folder("f", test.content)}, make([]Use, len(abc))); ok != (test.want == nil) && test.name != "bytes" {
				t.Errorf("counted: %v", ok) // nothing looks at the bytes where no column is used
			}
		})
	}
	got := readAll([]string{"-"}, Options{Columns: abc, Stdin: strings.NewReader(sound)})
	checkOne(t, got, "-: a Parquet file cannot be read from standard input, since it is read from its end: name the file")
}

// TestParquetInAFolder: a file is read where nothing outside a folder may be, from the operating system's files, and not through a link out of it.
func TestParquetInAFolder(t *testing.T) {
	folder := t.TempDir()
	outside := filepath.Join(folder, "outside.parquet")
	inside := filepath.Join(folder, "in")
	content := []byte(parquetText(t, []string{"case", "decision"}, [][]string{{"a", "x"}, {"b", "∅"}}))
	for _, err := range []error{os.Mkdir(inside, 0o755), os.WriteFile(outside, content, 0o644), os.WriteFile(filepath.Join(inside, "f"), content, 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(inside)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	got := readAll([]string{"f"}, Options{Columns: abc, FS: root.FS()})
	checkClean(t, got)
	if diff := cmp.Diff("a|x|∅\nb|∅|∅\n", got.values()); diff != "" {
		t.Error(diff)
	}
	if err := os.Symlink(outside, filepath.Join(inside, "link")); err != nil {
		t.Fatal(err)
	}
	if got := readAll([]string{"link"}, Options{Columns: abc, FS: root.FS()}); len(got.diags) != 1 || len(got.rows) > 0 {
		t.Errorf("through a link out of the folder: %d rows, %v", len(got.rows), got.diags)
	}
}

// restless is a folder whose files have another time whenever one looks.
type restless struct {
	fs.FS
	looks *int64
}

// restlessFile is a file of it.
type restlessFile struct {
	fs.File
	io.ReaderAt
	looks *int64
}

// restlessInfo is what one sees of it.
type restlessInfo struct {
	fs.FileInfo
	at time.Time
}

func (r restless) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return restlessFile{f, f.(io.ReaderAt), r.looks}, nil
}

func (f restlessFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	*f.looks++
	return restlessInfo{info, time.Unix(*f.looks, 0)}, err
}

func (i restlessInfo) ModTime() time.Time { return i.at }

// TestParquetThatChanges: a file that is written while it is read decides nothing: its digest would be of something else.
func TestParquetThatChanges(t *testing.T) {
	looks := int64(0)
	opts := Options{Columns: abc, FS: restless{folder("f", parquetText(t, []string{"case", "decision"}, [][]string{{"a", "x"}})), &looks}}
	checkOne(t, readAll([]string{"f"}, opts), "f: the file changed while it was read: run again when it is finished")
	if _, _, ok := Count([]string{"f"}, opts, make([]Use, len(abc))); ok {
		t.Error("it was counted")
	}
	if looks < 4 {
		t.Errorf("it was looked at %d times", looks)
	}
}

// TestFileThatChanges: the same of a file of text, some rows of which may be of another content than the others.
func TestFileThatChanges(t *testing.T) {
	looks := int64(0)
	for name, content := range map[string]string{"csv": "case,decision\na,x\n", "jsonl": `{"case":"a","decision":"x"}`, "gzip": gzipped(t, "case,decision\na,x\n")} {
		for _, changes := range []bool{true, false} {
			opts := Options{Columns: abc, FS: folder("f", content)}
			var want []string
			if changes {
				opts.FS, want = restless{opts.FS, &looks}, []string{"f: the file changed while it was read: run again when it is finished"}
			}
			if got := readAll([]string{"f"}, opts); !slices.Equal(got.diags, want) {
				t.Errorf("%s: %q, want %q", name, got.diags, want)
			}
			if _, _, ok := Count([]string{"f"}, opts, make([]Use, len(abc))); ok == changes {
				t.Errorf("%s, which changes (%v), was counted: %v", name, changes, ok)
			}
			if _, ok := Share([]string{"f"}, opts, func() func(Row) bool { return func(Row) bool { return true } }); ok == changes {
				t.Errorf("%s, which changes (%v), was shared: %v", name, changes, ok)
			}
		}
	}
}

// TestParquetThatChangesLate: the same where it is counted beside the digest, and changes when that is there already.
func TestParquetThatChangesLate(t *testing.T) {
	looks := int64(0)
	opts := Options{Columns: abc, FS: restless{folder("f", parquetText(t, []string{"case", "decision"}, [][]string{{"a", "x"}})), &looks}}
	r := newReader(opts, defaultLimits(), nil, &diag.List{})
	s, _, _ := r.open("f")
	if s == nil {
		t.Fatal("it is not opened")
	}
	defer s.close()
	s.changed = time.Unix(looks+1, 0) // what the next look sees, when the digest is made
	if _, problem := r.digestFile(s); problem != "" || s.unchanged() {
		t.Errorf("after the digest, %q, it is unchanged", problem)
	}
	s, _, _ = r.open("f")
	defer s.close()
	s.changed = time.Unix(looks+1, 0)
	r.input = &Input{Has: make([]bool, len(abc))}
	if r.countParquet(s, newCube(make([]Use, len(abc))), nil) != "" {
		t.Error("it was counted")
	}
}

// TestParquetNullsThatAreDenied: whether every row has an id is seen in the rows, whatever the metadata say of nulls; and a page that is
// damaged is found, though nothing is counted by its values.
func TestParquetNullsThatAreDenied(t *testing.T) {
	type row struct {
		ID       *int64 `parquet:"case,optional,plain"`
		Decision string `parquet:"decision"`
	}
	seven := int64(7)
	write := func(rows []row) []byte {
		var b bytes.Buffer
		if err := library.Write(&b, rows, library.Compression(&library.Uncompressed)); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	deny := func(content []byte) []byte {
		at := len(content) - 8 - int(binary.LittleEndian.Uint32(content[len(content)-8:]))
		var m metadata.FileMetaData
		if err := thrift.Unmarshal(new(thrift.CompactProtocol), content[at:len(content)-8], &m); err != nil {
			t.Fatal(err)
		}
		of := &m.RowGroups[0].Columns[0].MetaData
		of.Statistics.NullCount = 0
		footer, err := thrift.Marshal(new(thrift.CompactProtocol), &m)
		if err != nil {
			t.Fatal(err)
		}
		out := append(slices.Clone(content[:at]), footer...)
		return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), parquet.Magic...)
	}
	uses := []Use{{Full: true}, {Codes: 1, Code: func(string, bool) (int, bool, bool) { return 0, false, true }}}
	counted := func(content []byte) bool {
		_, _, ok := Count([]string{"f"}, Options{Columns: abc[:2], FS: folder("f", string(content))}, uses)
		return ok
	}
	sound, lacking := write([]row{{&seven, "x"}, {&seven, "y"}}), write([]row{{&seven, "x"}, {nil, "y"}})
	for name, test := range map[string]struct {
		content []byte
		want    bool
	}{"sound": {sound, true}, "sound, written anew": {deny(sound), true}, "null": {lacking, false}, "null that is denied": {deny(lacking), false}} {
		if got := counted(test.content); got != test.want {
			t.Errorf("%s: counted %v", name, got)
		}
	}
	at := bytes.Index(sound, []byte("\x07\x00\x00\x00\x00\x00\x00\x00\x07"))
	if at < 0 {
		t.Fatal("the ids are not found")
	}
	damaged := slices.Clone(sound)
	damaged[at] = 8 // the page has a checksum
	if got := readAll([]string{"f"}, Options{Columns: abc[:2], FS: folder("f", string(damaged))}); len(got.diags) == 0 || counted(damaged) {
		t.Errorf("damaged: read with %v, counted %v", got.diags, counted(damaged))
	}
}

// TestParquetLongTexts: a row over the limit is not counted, as Read does not read it, even where no text of it is.
func TestParquetLongTexts(t *testing.T) {
	uses := make([]Use, len(abc))
	for i := range uses {
		uses[i] = new(coding).use()
	}
	for _, test := range []struct {
		n    int
		want bool
	}{{10, true}, {60, false}, {101, false}} {
		content := parquetText(t, []string{"case", "decision"}, [][]string{{strings.Repeat("a", test.n), strings.Repeat("b", test.n)}})
		opts := Options{Columns: abc, FS: folder("f", content)}
		lim := limits{buffer: 16, head: 64, record: 100, part: 100}
		got := readLimited([]string{"f"}, opts, lim)
		if _, _, ok := countWithin([]string{"f"}, opts, uses, lim); ok != test.want || ok != (len(got.diags) == 0) {
			t.Errorf("texts of %d bytes: counted %v, read with %v", test.n, ok, got.diags)
		}
	}
}

// TestParquetLongTextsAgain: one long text in many rows, which a dictionary holds once, is limited as what compressed data grow to is;
// short texts are not. Where only the dictionary is looked at, nothing grows, and it may be counted.
func TestParquetLongTextsAgain(t *testing.T) {
	for _, test := range []struct {
		rows, n int
		want    bool
	}{
		{20, 20_000, true},        // 400 kB, of a file of some 140 kB that holds the text and its statistics
		{3000, 20_000, false},     // 60 MB, where its 256-fold is 36 MB
		{100_000, longText, true}, // 26 MB of short texts, in a file of some kB
	} {
		rows := make([][]string, test.rows)
		for i := range rows {
			rows[i] = []string{"c", strings.Repeat("b", test.n)}
		}
		content := parquetText(t, []string{"case", "decision"}, rows)
		opts := Options{Columns: abc, FS: folder("f", content)}
		lim := limits{buffer: 16, head: 64, record: 1 << 20, rows: 1 << 20, part: 100}
		got := readLimited([]string{"f"}, opts, lim)
		uses := make([]Use, len(abc))
		for i := range uses {
			uses[i] = new(coding).use()
		}
		if _, _, ok := countWithin([]string{"f"}, opts, uses, lim); test.want && !ok || test.want != (len(got.diags) == 0) {
			t.Errorf("%d rows with a text of %d bytes in a file of %d: counted %v, read with %q", test.rows, test.n, len(content), ok, got.diags)
		}
		if !test.want && !strings.Contains(fmt.Sprint(got.diags), "grow to more than 256 times the size of the file") {
			t.Errorf("%q", got.diags)
		}
	}
}

// TestParquetManyRows: rows that are read one by one, and may all be kept, are limited by the bytes of the file; where they are only counted
// they are not.
func TestParquetManyRows(t *testing.T) {
	const n = 200_000
	rows := slices.Repeat([][]string{{"c", "d"}}, n)
	content := parquetText(t, []string{"case", "decision"}, rows)
	opts := Options{Columns: abc, FS: folder("f", content)}
	uses := make([]Use, len(abc))
	for i := range uses {
		uses[i] = new(coding).use()
	}
	most := int64(rowsToByte * len(content))
	for free, want := range map[int64]bool{n - most: true, n - most - 1: false} {
		lim := limits{buffer: 16, head: 64, record: 1000, free: 1 << 30, rows: free, part: 100}
		got := readLimited([]string{"f"}, opts, lim)
		if want != (len(got.diags) == 0) || !want && !strings.Contains(fmt.Sprint(got.diags), "f: it has more than 16 rows to each of its bytes") {
			t.Errorf("%d rows free, in %d bytes: %q", free, len(content), got.diags)
		}
		if cube, _, ok := countWithin([]string{"f"}, opts, uses, lim); !ok || cube.Rows() != len(rows) {
			t.Errorf("%d rows free: counted %v", free, ok)
		}
	}
}

// TestStretches: every row is in exactly one stretch.
func TestStretches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var groups []parquet.Group
		var want []int64
		for _, n := range rapid.SliceOfN(rapid.Int64Range(1, 1000), 1, 20).Draw(t, "rows") {
			groups = append(groups, parquet.Group{Rows: n})
			want = append(want, n)
		}
		group, next := 0, int64(0)
		for _, s := range stretches(groups, rapid.IntRange(1, 64).Draw(t, "workers"), rapid.Int64Range(0, 100).Draw(t, "least")) {
			if next == want[group] {
				group, next = group+1, 0
			}
			if s.from != next || s.to < s.from || s.group.Rows != want[group] {
				t.Fatalf("group %d from %d: %+v", group, next, s)
			}
			next = s.to
		}
		if group != len(groups)-1 || next != want[group] {
			t.Fatalf("the last row is %d of group %d", next, group)
		}
	})
}
