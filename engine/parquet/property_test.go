package parquet

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	oracle "github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// plainRow is a row of which each column is written in another way.
type plainRow struct {
	Plain  int64    `parquet:"plain"`
	Dict   *string  `parquet:"dict,optional,dict"`
	Delta  int32    `parquet:"delta,delta"`
	Delta8 int64    `parquet:"delta8,delta"`
	Texts  string   `parquet:"texts,delta"` // prefixes
	Length *string  `parquet:"length,optional"`
	Split  float64  `parquet:"split,split"`
	Float  *float32 `parquet:"float,optional,dict"`
	Flag   *bool    `parquet:"flag,optional"`
}

// rowsOf draws rows, and their texts by column.
func rowsOf(t *rapid.T) (rows []plainRow, want map[string][]string) {
	number := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}))
	small := rapid.Int32Range(-100, 100)
	word := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "asked", "under_30", "thirty to sixty", "é"}), rapid.StringN(0, 30, 60))
	float := rapid.Float32Range(-1e6, 1e6)
	want = map[string][]string{}
	add := func(column, text string) { want[column] = append(want[column], text) }
	maybe := rapid.SampledFrom([]bool{true, true, true, false})
	repeat := rapid.SampledFrom([]int{1, 1, 1, 2, 9, 40})
	for range rapid.IntRange(1, 15).Draw(t, "different rows") {
		var r plainRow
		r.Plain, r.Delta, r.Delta8, r.Texts, r.Split = number.Draw(t, "plain"), small.Draw(t, "delta"), number.Draw(t, "delta8"), word.Draw(t, "texts"), float64(small.Draw(t, "split"))/4
		texts := map[string]string{"plain": fmt.Sprint(r.Plain), "delta": fmt.Sprint(r.Delta), "delta8": fmt.Sprint(r.Delta8), "texts": r.Texts, "split": strconv.FormatFloat(r.Split, 'f', -1, 64),
			"dict": null, "length": null, "float": null, "flag": null}
		if r.Split == 0 {
			texts["split"] = "0"
		}
		if maybe.Draw(t, "dict is there") {
			s := word.Draw(t, "dict")
			r.Dict, texts["dict"] = &s, s
		}
		if maybe.Draw(t, "length is there") {
			s := word.Draw(t, "length")
			r.Length, texts["length"] = &s, s
		}
		if maybe.Draw(t, "float is there") {
			f := float.Draw(t, "float")
			r.Float, texts["float"] = &f, string(appendFloat(nil, float64(f), 32))
			if back, err := strconv.ParseFloat(texts["float"], 32); err != nil || float32(back) != f {
				t.Fatalf("%v is written as %s", f, texts["float"])
			}
		}
		if maybe.Draw(t, "flag is there") {
			b := rapid.Bool().Draw(t, "flag")
			r.Flag, texts["flag"] = &b, fmt.Sprint(b)
		}
		for range repeat.Draw(t, "times") {
			rows = append(rows, r)
			for column, text := range texts {
				add(column, text)
			}
		}
	}
	return rows, want
}

// TestFilesOfTheLibrary: whatever a file of parquet-go holds, in whatever way it is written, is read: row by row, and many at once from any row on.
func TestFilesOfTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, want := rowsOf(t)
		codec := rapid.SampledFrom([]string{"none", "snappy", "gzip", "zstd", "lz4"}).Draw(t, "codec")
		content := written(t, rows,
			map[string]oracle.WriterOption{"none": oracle.Compression(&oracle.Uncompressed), "snappy": oracle.Compression(&oracle.Snappy), "gzip": oracle.Compression(&oracle.Gzip), "zstd": oracle.Compression(&oracle.Zstd), "lz4": oracle.Compression(&oracle.Lz4Raw)}[codec],
			oracle.DataPageVersion(rapid.IntRange(1, 2).Draw(t, "version")),
			oracle.PageBufferSize(rapid.SampledFrom([]int{16, 256, 1 << 16}).Draw(t, "page")),
			oracle.MaxRowsPerRowGroup(rapid.SampledFrom([]int64{7, 100, 1000}).Draw(t, "group")))
		f := open(t, content)
		for _, column := range slices.Sorted(maps.Keys(want)) {
			want := want[column]
			col := named(f, column)
			got, err := textsOf(f, col)
			if err != nil {
				t.Fatalf("%s: %v", column, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: %s", column, diff)
			}
			skip, n := rapid.Int64Range(0, 20).Draw(t, "skip"), rapid.IntRange(1, 50).Draw(t, "at once")
			got, err = summed(f, col, skip, n)
			if err != nil {
				t.Fatalf("%s: %v", column, err)
			}
			var from []string
			at := int64(0)
			for _, g := range f.Groups {
				from = append(from, want[at+min(skip, g.Rows):at+g.Rows]...)
				at += g.Rows
			}
			if diff := cmp.Diff(from, got); diff != "" {
				t.Fatalf("%s after %d, %d at once: %s", column, skip, n, diff)
			}
		}
	})
}

// TestPacked: numbers of every width that are packed are read as they were written, wherever they begin and however they are asked for.
func TestPacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.UintRange(0, 32).Draw(t, "width")
		var b []byte
		var want []uint32
		value := rapid.Map(rapid.Uint64(), func(v uint64) uint32 { return uint32(v & (1<<width - 1)) })
		for range rapid.IntRange(1, 6).Draw(t, "runs") {
			if rapid.Bool().Draw(t, "of one number") {
				n, v := rapid.IntRange(0, 20).Draw(t, "times"), value.Draw(t, "value")
				b = append(b, byte(n<<1))
				for i := range (width + 7) / 8 {
					b = append(b, byte(v>>(8*i)))
				}
				for range n {
					want = append(want, v)
				}
				continue
			}
			groups := rapid.IntRange(1, 4).Draw(t, "groups")
			b = append(b, byte(groups<<1|1))
			packed := make([]byte, groups*int(width))
			for i := range 8 * groups {
				v := value.Draw(t, "value")
				want = append(want, v)
				for k := range width {
					if v>>k&1 == 1 {
						at := uint(i)*width + k
						packed[at/8] |= 1 << (at % 8)
					}
				}
			}
			b = append(b, packed...)
		}
		r := newRuns(b, width)
		for i := 0; i < len(want); {
			if rapid.Bool().Draw(t, "one") {
				if v, ok := r.next(); !ok || v != want[i] {
					t.Fatalf("number %d is %d, %v; want %d", i, v, ok, want[i])
				}
				i++
				continue
			}
			v, n := r.same(rapid.IntRange(1, 30).Draw(t, "most"))
			if n == 0 {
				t.Fatalf("the end after %d of %d", i, len(want))
			}
			for k := range n {
				if i+k >= len(want) || want[i+k] != v {
					t.Fatalf("numbers %d to %d are %d; want %v", i, i+n, v, want[i:])
				}
			}
			r.drop(n)
			i += n
		}
		if v, ok := r.next(); ok {
			t.Fatalf("%d after the end", v)
		}
	})
}
