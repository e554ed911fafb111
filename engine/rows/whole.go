package rows

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/oloproof/oloproof/engine/diag"
)

// Whole is a file that was read as one piece.
type Whole struct {
	Input        // Rows, Has and Findings are empty
	Data  []byte // decompressed
}

// ReadWhole reads files that are no tables, each as one piece of at most limit bytes, decompressed where it is compressed. Paths are
// looked up as by Read, in the same order; "-" is a problem, since what is read may be read again. Problems go to diags: a path that
// names nothing, one given twice (by path or by content), an empty file, one over the limit. Files with a problem are left out. Of opts
// only FS holds.
func ReadWhole(paths []string, opts Options, limit int64, diags *diag.List) []Whole {
	lim := defaultLimits()
	var list []Whole
	first := map[string]string{} // digest of a content: the file that had it first
	for _, path := range expand(paths, opts.FS, diags) {
		fail := func(format string, args ...any) { diags.Addf(diag.Pos{File: path}, format, args...) }
		if path == stdin {
			fail("standard input is not read here: name a file")
			continue
		}
		whole, problem := readWhole(path, opts, lim, limit)
		switch earlier, again := first[whole.Content]; {
		case problem != "":
			fail("%s", problem)
		case len(whole.Data) == 0:
			fail("the file is empty")
		case again:
			fail("the content is the same as that of %s: a file can be given once", diag.Printable(earlier))
		default:
			first[whole.Content] = path
			list = append(list, whole)
		}
	}
	return list
}

// readWhole reads one file. problem is "" or why it cannot be used.
func readWhole(path string, opts Options, lim limits, limit int64) (whole Whole, problem string) {
	s, problem := openStream(path, opts, lim)
	if problem != "" {
		return whole, problem
	}
	defer s.close()
	data, err := io.ReadAll(io.LimitReader(s.content, limit+1))
	switch {
	case err != nil:
		return whole, readProblem(err)
	case int64(len(data)) > limit:
		return whole, fmt.Sprintf("it is longer than %d MiB, and this is no such file", limit>>20)
	}
	whole.Path, whole.Data, whole.Bytes = path, data, s.disk.bytes
	whole.SHA256, whole.Content = hex.EncodeToString(s.disk.hash.Sum(nil)), hex.EncodeToString(s.contentSum())
	return whole, ""
}
