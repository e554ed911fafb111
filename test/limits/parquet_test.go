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
	for i := range m.RowGroups[0].Columns { // statistics hold the texts again
		m.RowGroups[0].Columns[i].MetaData.Statistics = metadata.Statistics{}
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

// TestParquetThatClaims: a file of some kilobytes that names the same rows again and again is an error in bounded time and memory: rows that
// may all be kept are limited by its bytes, and so are long texts.
func TestParquetThatClaims(t *testing.T) {
	onlyLong(t)
	times := size(1000, 28, 0) // of 100,000 rows: more than two million and 16 to each byte
	for _, s := range studies() {
		for _, n := range []int{0, 1 << 17} {
			dir := s.folder(t)
			row := strings.Split(s.row(0), ",")
			row[0] += strings.Repeat("x", n)
			content := sameAgain(t, strings.Split(s.header, ","), row, 100_000, times)
			if err := os.WriteFile(filepath.Join(dir, "rows.parquet"), content, 0o644); err != nil {
				t.Fatal(err)
			}
			o := s.decide(t, dir, "rows.parquet", nil)
			want := "more than 16 rows to each of its bytes"
			if n > 0 { // told after the rows that are there twice, of which only the first are listed
				want = "problem"
				if strings.Contains(o.stderr, fmt.Sprintf("%d99,999 problems", times-1)) {
					t.Errorf("%s: every row was read", s.gate)
				}
			}
			o.check(t, fmt.Sprintf("%s, a Parquet file that repeats a row of %d bytes", s.gate, n), want, filepath.Join(dir, "report.json"), 100+size(8000, 2200, 0))
			o.measured(fmt.Sprintf("%s, Parquet that names a row of %d kB again and again", s.gate, n>>10), fmt.Sprintf("%d,000 rows in %d kB", times*100, len(content)>>10))
		}
	}
}
