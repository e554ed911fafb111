package rows

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/oloproof/oloproof/engine/diag"
)

// abc are the columns of most tests: two required, one optional.
var abc = []Column{{Name: "case", Required: true}, {Name: "decision", Required: true}, {Name: "note"}}

// row is a row as a test sees it: its values, "∅" where one is not recorded, and its first line.
type row struct {
	File, Line int
	Values     []string
}

// result is all that one call of Read gives.
type result struct {
	rows   []row
	inputs []Input
	diags  []string
}

// values returns the values of all rows, one row a line.
func (r result) values() string {
	var b strings.Builder
	for _, row := range r.rows {
		b.WriteString(strings.Join(row.Values, "|") + "\n")
	}
	return b.String()
}

// readAll reads paths with small buffers, so that records meet their ends.
func readAll(paths []string, opts Options) result {
	return readLimited(paths, opts, limits{buffer: 16, head: 64, record: maxRecord, free: 64 << 20})
}

func readLimited(paths []string, opts Options, lim limits) result {
	var res result
	var diags diag.List
	if opts.Rename == nil { // as of a policy without columns
		opts.Rename = map[string]string{}
	}
	res.inputs = read(paths, opts, lim, func(r Row) {
		got := row{File: r.File(), Line: r.Line()}
		for col := range opts.Columns {
			text, recorded := r.Text(col)
			if !recorded {
				text = "∅"
			}
			got.Values = append(got.Values, text)
		}
		res.rows = append(res.rows, got)
	}, &diags)
	items, more := diags.Sorted()
	for _, d := range items {
		res.diags = append(res.diags, d.String())
	}
	if more > 0 {
		res.diags = append(res.diags, fmt.Sprintf("and %d more", more))
	}
	return res
}

// folder makes files in memory from pairs of name and content.
func folder(pairs ...string) fs.FS {
	files := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		files[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return files
}

// readText reads one file called f with the columns abc.
func readText(content string) result {
	return readAll([]string{"f"}, Options{Columns: abc, FS: folder("f", content)})
}

// checkOne requires exactly one problem, with this text.
func checkOne(t *testing.T, got result, want string) {
	t.Helper()
	if len(got.diags) != 1 || got.diags[0] != want {
		t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got.diags, "\n"), want)
	}
}

// checkClean requires that there is no problem.
func checkClean(t *testing.T, got result) {
	t.Helper()
	if len(got.diags) > 0 {
		t.Errorf("problems:\n%s", strings.Join(got.diags, "\n"))
	}
}

// fataler is what testing and rapid have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// gzipped is text in gzip; zstandard is text in zstd.
func gzipped(t fataler, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t fataler, text string, options ...zstd.EOption) string {
	t.Helper()
	w, err := zstd.NewWriter(nil, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(text), nil))
}

// utf16Text is text in UTF-16 without a byte-order mark; text is ASCII.
func utf16Text(text string, bigEndian bool) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if bigEndian {
			b.Write([]byte{0, c})
		} else {
			b.Write([]byte{c, 0})
		}
	}
	return b.String()
}
