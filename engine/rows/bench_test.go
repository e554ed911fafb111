package rows

import (
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/oloproof/oloproof/engine/diag"
)

// decisions is a file of decisions as they are met: n rows of six columns, four of which are read.
func decisions(n int) string {
	var b strings.Builder
	b.WriteString("case,reviewer,condition,decision,reference,ai_output\n")
	for i := range n {
		fmt.Fprintf(&b, "claim-%06d,R%03d,%s,%s,%s,%s\n", i/2, i%97, []string{"with", "without"}[i%2], []string{"accept", "refuse"}[i%3%2], "accept", "refuse")
	}
	return b.String()
}

// The benchmarks read the same file: ours with its digest, its check of UTF-8, and every value as a
// string; the library's only with the fields. Their ratio is what matters; nothing is asserted.
func BenchmarkRead(b *testing.B) {
	content := decisions(100_000)
	opts := Options{Columns: []Column{{Name: "case", Required: true}, {Name: "reviewer", Required: true}, {Name: "condition", Required: true}, {Name: "decision", Required: true}, {Name: "reference", Required: true}, {Name: "ai_output", Required: true}}}
	for name, text := range map[string]string{"csv": content, "gzip": gzipped(b, content), "zstd": zstandard(b, content), "jsonl": asLines(content)} {
		opts.FS = fs.FS(folder("f", text))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				var diags diag.List
				n := 0
				Read([]string{"f"}, opts, func(r Row) {
					for col := range opts.Columns {
						text, _ := r.Text(col)
						n += len(text)
					}
				}, &diags)
				if diags.Len() > 0 || n == 0 {
					b.Fatal(diags.Err())
				}
			}
		})
	}
}

// counting counts the rows of decisions by the four columns that hold a few texts.
var counting = Options{Columns: []Column{{Name: "condition", Required: true}, {Name: "decision", Required: true}, {Name: "reference", Required: true}, {Name: "ai_output", Required: true}}}

// fewCodes are their uses: the code of a text is its length.
func fewCodes() []Use {
	use := Use{Codes: 256, Code: func(text string, recorded bool) (code int, tell, ok bool) { return len(text), false, recorded }}
	return []Use{use, use, use, use}
}

// countedIn counts the content of f and returns how many rows it has.
func countedIn(tb testing.TB, opts Options, uses []Use) int {
	tb.Helper()
	cube, _, ok := Count([]string{"f"}, opts, uses)
	if !ok {
		tb.Fatal("the rows are not counted")
	}
	return cube.Rows()
}

// BenchmarkCount is what BenchmarkRead is, for rows that are only counted. The bytes are those of the plain file.
func BenchmarkCount(b *testing.B) {
	content := decisions(100_000)
	crlf, quoted := strings.ReplaceAll(content, "\n", "\r\n"), `"`+strings.NewReplacer(",", `","`, "\n", "\"\n\"").Replace(strings.TrimSuffix(content, "\n"))+"\"\n"
	for _, of := range []struct{ name, text string }{{"csv", content}, {"crlf", crlf}, {"quoted", quoted}, {"gzip", gzipped(b, content)}, {"zstd", zstandard(b, content)}, {"jsonl", asLines(content)}} {
		opts := counting
		opts.FS = folder("f", of.text)
		b.Run(of.name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				if n := countedIn(b, opts, fewCodes()); n != 100_000 {
					b.Fatal(n)
				}
			}
		})
	}
	b.Run("share", func(b *testing.B) { // every row is handed over, on all cores
		opts := counting
		opts.FS = folder("f", content)
		b.SetBytes(int64(len(content)))
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := Share([]string{"f"}, opts, func() func(Row) bool { return func(r Row) bool { _, ok := r.Text(0); return ok } }); !ok {
				b.Fatal("the rows are not shared")
			}
		}
	})
	b.Run("once", func(b *testing.B) { // and no id comes twice
		opts := Options{Columns: []Column{{Name: "id", Required: true}}, Once: []Once{{Columns: []int{0}}}}
		var lines strings.Builder
		lines.WriteString("id\n")
		for i := range 100_000 {
			fmt.Fprintf(&lines, "claim-%06d\n", i)
		}
		opts.FS = folder("f", lines.String())
		b.SetBytes(int64(lines.Len()))
		b.ReportAllocs()
		for b.Loop() {
			if n := countedIn(b, opts, []Use{{Full: true}}); n != 100_000 {
				b.Fatal(n)
			}
		}
	})
}

// TestAllocationsDoNotGrow: counting and reading take as many pieces of memory for ten times the rows. The file itself, and the texts that
// nobody else has, are not among them.
func TestAllocationsDoNotGrow(t *testing.T) {
	if testing.Short() {
		t.Skip("of the memory of the race detector, which -short goes with, nothing is said here")
	}
	const rows = 20_000
	few, many := decisions(rows), decisions(10*rows)
	for _, of := range []struct {
		name string
		read func(opts Options) int
		pack func(fataler, string) string
	}{
		{"count", func(opts Options) int { return countedIn(t, opts, fewCodes()) }, func(_ fataler, text string) string { return text }},
		{"count gzip", func(opts Options) int { return countedIn(t, opts, fewCodes()) }, gzipped},
		{"count jsonl", func(opts Options) int { return countedIn(t, opts, fewCodes()) }, func(_ fataler, text string) string { return asLines(text) }},
		{"share", func(opts Options) int {
			var n atomic.Int64
			_, ok := Share([]string{"f"}, opts, func() func(Row) bool { return func(r Row) bool { n.Add(1); r.Text(0); return true } })
			if !ok {
				t.Fatal("the rows are not shared")
			}
			return int(n.Load())
		}, func(_ fataler, text string) string { return text }},
		{"read", func(opts Options) int {
			var diags diag.List
			n := 0
			Read([]string{"f"}, opts, func(r Row) {
				for col := range opts.Columns {
					r.Text(col)
				}
				n++
			}, &diags)
			return n
		}, func(_ fataler, text string) string { return text }},
	} {
		allocations := func(content string, want int) float64 {
			opts := counting
			opts.FS = folder("f", of.pack(t, content))
			return testing.AllocsPerRun(3, func() {
				if n := of.read(opts); n != want {
					t.Errorf("%s: %d rows", of.name, n)
				}
			})
		}
		// Each worker has a few of its own, once it has a block. One for every row, or every thousandth, would be 180 more and above.
		if a, b := allocations(few, rows), allocations(many, 10*rows); b > a+50 {
			t.Errorf("%s: %v allocations for %d rows, %v for ten times as many", of.name, a, rows, b)
		}
	}
}

// asLines writes plain CSV as JSONL.
func asLines(content string) string {
	var b strings.Builder
	lines := strings.Split(strings.TrimSpace(content), "\n")
	names := strings.Split(lines[0], ",")
	for _, line := range lines[1:] {
		for i, v := range strings.Split(line, ",") {
			b.WriteString(map[bool]string{true: `{`, false: `,`}[i == 0])
			fmt.Fprintf(&b, "%q:%q", names[i], v)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func BenchmarkEncodingCSV(b *testing.B) {
	content := decisions(100_000)
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		r := csv.NewReader(strings.NewReader(content))
		r.ReuseRecord = true
		n := 0
		for {
			record, err := r.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			for _, v := range record {
				n += len(v)
			}
		}
		if n == 0 {
			b.Fatal("nothing was read")
		}
	}
}
