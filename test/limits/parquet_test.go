//go:build linux

package limits

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	library "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	metadata "github.com/parquet-go/parquet-go/format"
)

// sameAgain is a Parquet file whose metadata name one row group of n equal rows times times.
func sameAgain(t *testing.T, header, row []string, n, times int) []byte {
	t.Helper()
	group := library.Group{}
	for _, name := range header {
		group[name] = library.Encoded(library.String(), &library.RLEDictionary)
	}
	schema := library.NewSchema("rows", group)
	values := make(library.Row, len(header))
	for at, path := range schema.Columns() {
		values[at] = library.ValueOf(row[slices.Index(header, path[0])]).Level(0, 0, at)
	}
	var b bytes.Buffer
	w := library.NewGenericWriter[any](&b, schema, library.Compression(&library.Snappy))
	list := slices.Repeat([]library.Row{values}, 1000)
	for range n / len(list) {
		if _, err := w.WriteRows(list); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	content := b.Bytes()
	at := len(content) - 8 - int(binary.LittleEndian.Uint32(content[len(content)-8:]))
	var m metadata.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), content[at:len(content)-8], &m); err != nil {
		t.Fatal(err)
	}
	if len(m.RowGroups) != 1 {
		t.Fatalf("%d row groups", len(m.RowGroups))
	}
	m.RowGroups = slices.Repeat(m.RowGroups, times)
	m.NumRows *= int64(times)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &m)
	if err != nil {
		t.Fatal(err)
	}
	out := append(slices.Clone(content[:at]), footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), "PAR1"...)
}

// TestParquetThatClaims: a file of some kilobytes that names the same rows again and again. Rows without an id may be many and equal, and
// are counted; where a row can be there once, it is an error.
func TestParquetThatClaims(t *testing.T) {
	onlyLong(t)
	times := size(1000, 100, 10) // of 100,000 rows
	for _, s := range studies() {
		for _, n := range []int{0, 1 << 20} {
			dir := s.folder(t)
			row := strings.Split(s.row(0), ",")
			row[0] += strings.Repeat("x", n)
			content := sameAgain(t, strings.Split(s.header, ","), row, 100_000, times)
			if err := os.WriteFile(filepath.Join(dir, "rows.parquet"), content, 0o644); err != nil {
				t.Fatal(err)
			}
			o := s.decide(t, dir, "rows.parquet", nil)
			want := "exit status 2"
			if n > 0 {
				want = "256 times the size of the file"
			}
			t.Logf("%s, %d rows of %d bytes in %d: exit %d, %d MB, %.1f s\n%s", s.gate, times*100_000, n, len(content), o.Status, o.Peak>>20, o.CPU, clip(o.stderr))
			o.check(t, fmt.Sprintf("%s, a Parquet file that repeats a row of %d bytes", s.gate, n), want, filepath.Join(dir, "report.json"), 400)
			o.measured(fmt.Sprintf("%s, Parquet that names a row of %d kB again and again", s.gate, n>>10), fmt.Sprintf("%d million rows in %d kB", times/10, len(content)>>10))
		}
	}
}
