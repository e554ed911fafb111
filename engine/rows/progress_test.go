package rows

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/oloproof/oloproof/engine/diag"
)

// progressOf reads files and returns the progress as it is at the end: passes, bytes read and in all, rows.
func progressOf(paths []string, opts Options) string {
	opts.Progress = &Progress{}
	Read(paths, opts, func(Row) {}, &diag.List{})
	read, total := opts.Progress.Bytes()
	return fmt.Sprint(opts.Progress.Passes(), read, total, opts.Progress.Rows())
}

func TestProgress(t *testing.T) {
	plain, more := "case,decision\na,1\nb,2\n", "case,decision\nc,3\n" // 22 and 18 bytes
	packed := gzipped(t, plain)
	files := fstest.MapFS{"plain": {Data: []byte(plain)}, "more": {Data: []byte(more)}, "packed": {Data: []byte(packed)}, "again": {Data: []byte(plain + "b,2\n")}}
	opts := Options{FS: files, Columns: abc[:2]}
	once := opts
	once.Once = []Once{{Columns: []int{0}, Same: func([]string, diag.Pos) string { return "again" }}}
	piped := opts
	piped.Stdin = strings.NewReader(more)
	for _, test := range []struct {
		name  string
		paths []string
		opts  Options
		want  string
	}{
		{"a file", []string{"plain"}, opts, "1 22 22 2"},
		{"two files", []string{"plain", "more"}, opts, "1 40 40 3"},
		{"bytes on disk", []string{"packed"}, opts, fmt.Sprint(1, len(packed), len(packed), 2)},
		{"no such file", []string{"plain", "none"}, opts, "1 22 22 2"}, // it is not among those that are read
		{"standard input has no size", []string{"plain", "-"}, piped, "1 40 0 3"},
		{"an id that comes twice is looked for twice more", []string{"again"}, once, "3 26 26 3"},
	} {
		if got := progressOf(test.paths, test.opts); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}

	content := decisions(50_000) // some blocks
	shared := Options{FS: folder("f", asLines(content)), Columns: counting.Columns, Progress: &Progress{}}
	if _, ok := Share([]string{"f"}, shared, func() func(Row) bool { return func(Row) bool { return true } }); !ok {
		t.Fatal("the rows are not shared")
	}
	if read, total := shared.Progress.Bytes(); shared.Progress.Passes() != 1 || read != int64(len(asLines(content))) || total != read || shared.Progress.Rows() != 50_000 {
		t.Errorf("shared: %d of %d bytes, %d rows", read, total, shared.Progress.Rows())
	}
	counted := Options{FS: folder("f", content), Columns: counting.Columns, Progress: &Progress{}}
	countedIn(t, counted, fewCodes())
	if read, total := counted.Progress.Bytes(); counted.Progress.Passes() != 1 || read != int64(len(content)) || total != read || counted.Progress.Rows() != 50_000 {
		t.Errorf("counted: %d of %d bytes, %d rows", read, total, counted.Progress.Rows())
	}
}
