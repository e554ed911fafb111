package rows

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

const (
	oneRow  = "case,decision\n1,a\n"
	twoRows = "case,decision\n2,b\n3,c\n"
)

// put writes files below a new folder and returns it.
func put(t *testing.T, pairs ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(pairs); i += 2 {
		name := filepath.Join(dir, filepath.FromSlash(pairs[i]))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(pairs[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// paths returns the paths of the inputs.
func paths(res result) []string {
	var p []string
	for _, in := range res.inputs {
		p = append(p, in.Path)
	}
	return p
}

// TestPaths checks how paths name files, in memory and on disk.
func TestPaths(t *testing.T) {
	pairs := []string{
		"b.csv", oneRow, "a.csv", twoRows, "B.csv", oneRow + "4,d\n", "[x].csv", oneRow + "5,e\n", "x.csv", oneRow + "6,f\n",
		"day/1/p.csv", oneRow + "7,g\n", "day/2/p.csv", oneRow + "8,h\n", "day/note.txt", "no folder", "day/1/other.txt", "x",
		// Hidden, as a sync program leaves them; none is read unless the pattern names its dot.
		"day/1/.p.csv", oneRow + "9,i\n", "day/.3/p.csv", oneRow + "10,j\n", ".h.csv", oneRow + "11,k\n",
		"dash/-", oneRow + "12,l\n",
	}
	memory := folder(pairs...)
	dir := put(t, pairs...)
	for _, tt := range []struct {
		name  string
		paths []string
		want  []string
	}{
		{"as given, in their order", []string{"b.csv", "./a.csv"}, []string{"b.csv", "./a.csv"}},
		{"a glob is sorted by bytes", []string{"?.csv"}, []string{"B.csv", "a.csv", "b.csv", "x.csv"}},
		{"the name of a file before a glob", []string{"[x].csv"}, []string{"[x].csv"}},
		{"a class", []string{"[ab].csv"}, []string{"a.csv", "b.csv"}},
		{"a glob over folders", []string{"day/*/p.csv"}, []string{"day/1/p.csv", "day/2/p.csv"}},
		{"a glob of folders only", []string{"d*/1/p.csv"}, []string{"day/1/p.csv"}},
		{"no hidden file", []string{"day/1/*.csv"}, []string{"day/1/p.csv"}},
		{"no hidden file for a class", []string{"[.a]*.csv"}, []string{"a.csv"}},
		{"a hidden file whose dot is named", []string{".*.csv", "day/.*/p.csv", `day/1/\.p.*`}, []string{".h.csv", "day/.3/p.csv", "day/1/.p.csv"}},
		{"a quoted character of a glob", []string{`[[]x?.csv`}, []string{"[x].csv"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := readAll(tt.paths, Options{Columns: abc, FS: memory})
			checkClean(t, got)
			if d := cmp.Diff(tt.want, paths(got)); d != "" {
				t.Error(d)
			}
			var full, want []string
			for _, p := range tt.paths {
				full = append(full, filepath.ToSlash(dir)+"/"+p)
			}
			for _, p := range tt.want {
				want = append(want, filepath.ToSlash(dir)+"/"+p)
			}
			got = readAll(full, Options{Columns: abc})
			checkClean(t, got)
			if d := cmp.Diff(want, paths(got)); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("relative to the working directory", func(t *testing.T) {
		t.Chdir(filepath.Join(dir, "day", "1"))
		got := readAll([]string{"*.csv", "../2/p.*"}, Options{Columns: abc})
		checkClean(t, got)
		if d := cmp.Diff([]string{"p.csv", "../2/p.csv"}, paths(got)); d != "" {
			t.Error(d)
		}
	})
	t.Run("a file named - is not standard input", func(t *testing.T) {
		t.Chdir(filepath.Join(dir, "dash"))
		got := readAll([]string{"?", "-"}, Options{Columns: abc, Stdin: strings.NewReader(twoRows)})
		checkClean(t, got)
		if d := cmp.Diff([]string{"./-", "-"}, paths(got)); d != "" || got.values() != "1|a|∅\n12|l|∅\n2|b|∅\n3|c|∅\n" {
			t.Errorf("rows %q, paths %s", got.values(), d)
		}
	})
}

// TestPathProblems checks the message for each path that cannot be read.
func TestPathProblems(t *testing.T) {
	pairs := []string{"a.csv", oneRow, "again.csv", oneRow, "packed.csv.gz", gzipped(t, oneRow), "day/1.csv", twoRows, "empty.csv", "", ".h.csv", oneRow}
	memory := folder(pairs...)
	for _, tt := range []struct {
		name  string
		paths []string
		want  string
	}{
		{"no path", nil, "no decision file was given: name at least one, or - for standard input"},
		{"no such file", []string{"none.csv"}, "none.csv: there is no such file"},
		{"a folder that is not there", []string{"day/../none/"}, "day/../none/: there is no such file"},
		{"an empty path", []string{"a.csv", ""}, "path 2 of 2 is empty: name a file, a glob, or - for standard input"},
		{"a glob that only a hidden file would match", []string{"?h.csv"}, "?h.csv: nothing matches this glob"},
		{"a name with a line end", []string{"no\nne"}, `no\nne: there is no such file`},
		{"a glob without a match", []string{"*.jsonl"}, "*.jsonl: nothing matches this glob"},
		{"a glob in no folder", []string{"none/*.csv"}, "none/*.csv: nothing matches this glob"},
		{"a malformed glob", []string{"[a.csv"}, "[a.csv: there is no such file, and as a glob it is malformed: every [ needs its ]"},
		{"two stars", []string{"**/*.csv"}, "**/*.csv: ** is not read in a glob: * matches inside one folder, so give a glob for each folder"},
		{"a folder", []string{"day"}, `day: it is a folder: name its files, or give a glob such as "day/*.csv"`},
		{"twice by path", []string{"a.csv", "./a.csv"}, "./a.csv: the file is given twice: name it once"},
		{"twice by a glob", []string{"a.csv", "[a].csv"}, "a.csv: the file is given twice: name it once"},
		{"twice by content", []string{"a.csv", "again.csv"}, "again.csv: the content is the same as that of a.csv: a file can be given once"},
		{"twice by content, compressed once", []string{"a.csv", "packed.csv.gz"}, "packed.csv.gz: the content is the same as that of a.csv: a file can be given once"},
		{"standard input twice", []string{"-", "-"}, "-: the file is given twice: name it once"},
		{"one empty file among others", []string{"a.csv", "empty.csv"}, "empty.csv: no row was found: the file is empty"},
		{"out of the folder", []string{"../a.csv"}, "../a.csv: the path leaves the folder that may be read: give one inside it, relative to it"},
		{"out of the folder as a glob", []string{"day/../../*.csv"}, "day/../../*.csv: the path leaves the folder that may be read: give one inside it, relative to it"},
		{"an absolute path", []string{"/a.csv"}, "/a.csv: the path leaves the folder that may be read: give one inside it, relative to it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := readAll(tt.paths, Options{Columns: abc, FS: memory, Stdin: strings.NewReader(oneRow)})
			checkOne(t, got, tt.want)
		})
	}
	t.Run("no permission", func(t *testing.T) {
		denied := denying{memory, "day"}
		checkOne(t, readAll([]string{"day/1.csv"}, Options{Columns: abc, FS: denied}), "day/1.csv: it cannot be opened: permission is denied")
		// A glob does not pass over what it cannot read.
		checkOne(t, readAll([]string{"*/1.csv"}, Options{Columns: abc, FS: denied}), "*/1.csv: this glob may match inside day/1.csv: it cannot be opened: permission is denied")
		checkOne(t, readAll([]string{"day/*.csv"}, Options{Columns: abc, FS: denied}), "day/*.csv: this glob may match inside day: it cannot be opened: permission is denied")
	})
	t.Run("standard input that is not there", func(t *testing.T) {
		checkOne(t, readAll([]string{"-"}, Options{Columns: abc}), "-: standard input cannot be read here: name a file")
	})
	t.Run("standard input that never gives anything", func(t *testing.T) {
		checkOne(t, readAll([]string{"-"}, Options{Columns: abc, Stdin: idle{}}), "-:1: it cannot be read: multiple Read calls return no data or error")
	})
	t.Run("a file that cannot be looked up", func(t *testing.T) {
		loop := &fs.PathError{Op: "stat", Path: "x", Err: errors.New("too many\nlinks")}
		if got := openProblem(loop); got != `it cannot be opened: too many\nlinks` {
			t.Errorf("message: %q", got)
		}
		if got := readProblem(loop); got != `it cannot be read: too many\nlinks` {
			t.Errorf("message: %q", got)
		}
	})
	t.Run("standard input that breaks", func(t *testing.T) {
		stdin := io.MultiReader(strings.NewReader(oneRow), iotest.ErrReader(errors.New("the cable was cut")))
		checkOne(t, readAll([]string{"-"}, Options{Columns: abc, Stdin: stdin}), "-:3: it cannot be read: the cable was cut")
	})
}

// idle is a stream that gives neither bytes nor an end.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// denying is a file system that refuses what lies in one folder, but for what the folder itself is.
type denying struct {
	fs.FS
	folder string
}

func (d denying) check(op, name string) error {
	if strings.HasPrefix(name, d.folder+"/") || op == "readdir" && name == d.folder {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission}
	}
	return nil
}

func (d denying) Open(name string) (fs.File, error) {
	if err := d.check("open", name); err != nil {
		return nil, err
	}
	return d.FS.Open(name)
}

func (d denying) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := d.check("readdir", name); err != nil {
		return nil, err
	}
	return fs.ReadDir(d.FS, name)
}

// TestRoot checks that an os.Root's FS confines reading, links included.
func TestRoot(t *testing.T) {
	dir := put(t, "in/a.csv", oneRow, "in/day/b.csv", twoRows, "secret.csv", oneRow)
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link(filepath.Join(dir, "secret.csv"), "in/absolute.csv")
	link("../secret.csv", "in/out.csv")
	link("..", "in/up")
	link("a.csv", "in/inside.csv")
	root, err := os.OpenRoot(filepath.Join(dir, "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, p := range []string{"absolute.csv", "out.csv", "up/secret.csv", "up/*.csv", "*/secret.csv", "../secret.csv", filepath.Join(dir, "secret.csv")} {
		got := readAll([]string{p}, Options{Columns: abc, FS: root.FS()})
		if len(got.diags) == 0 || len(got.rows) > 0 {
			t.Errorf("%s: problems %q, %d rows", p, got.diags, len(got.rows))
		}
	}
	for p, want := range map[string]string{"inside.csv": "1|a|∅\n", "day/../a.csv": "1|a|∅\n", "d*/*.csv": "2|b|∅\n3|c|∅\n"} {
		got := readAll([]string{p}, Options{Columns: abc, FS: root.FS()})
		checkClean(t, got)
		if got.values() != want {
			t.Errorf("%s: rows %q, want %q", p, got.values(), want)
		}
	}
}

// TestInputs checks digests and sizes: those of the bytes on disk, whatever way they come in.
func TestInputs(t *testing.T) {
	packed := gzipped(t, twoRows)
	files := folder("plain.csv", oneRow, "packed.csv", packed)
	stdin := "case,decision\n9,z\n\n"
	got := readAll([]string{"packed.csv", "-", "plain.csv"}, Options{Columns: abc, FS: files, Stdin: iotest.OneByteReader(strings.NewReader(stdin))})
	checkClean(t, got)
	sum := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	want := []Input{
		{Path: "packed.csv", SHA256: sum(packed), Content: sum(twoRows), Bytes: int64(len(packed)), Rows: 2, Has: []bool{true, true, false}},
		{Path: "-", SHA256: sum(stdin), Content: sum(stdin), Bytes: int64(len(stdin)), Rows: 1, Has: []bool{true, true, false}},
		{Path: "plain.csv", SHA256: sum(oneRow), Content: sum(oneRow), Bytes: int64(len(oneRow)), Rows: 1, Has: []bool{true, true, false}},
	}
	if d := cmp.Diff(want, got.inputs); d != "" {
		t.Error(d)
	}
	if got.rows[2].File != 1 || got.rows[3].File != 2 {
		t.Errorf("files of the rows: %v", got.rows)
	}
}
