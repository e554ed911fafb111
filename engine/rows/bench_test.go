package rows

import (
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"strings"
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
