package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// names lists a folder.
func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// TestSameFile has the ways in which two formats can be sent to one file. No file has been made when that is told.
func TestSameFile(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"folder/deep", "elsewhere"} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"linked": "folder/deep", "to-report": "linked/report", "to-link": "to-report", "elsewhere/back": "../folder/deep/../deep/report",
	} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, "d.csv", singles(40, 38))
	writeFile(t, "there", "an earlier report")
	if err := os.Link("there", "hard"); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{
		{"report", "./report"},
		{"report", filepath.Join(here, "report")},
		{"folder/report", "folder/deep/../report"},
		{"folder/report", "linked/../report"},   // the folder above what the link leads to
		{"folder/deep/report", "linked/report"}, // through a linked folder
		{"folder/deep/report", "to-report"},     // a link to a file that is not there
		{"folder/deep/report", "to-link"},       // a link to a link
		{"elsewhere/back", "linked/report"},     // a link relative to its own folder
		{"new/report", "new/../new/report"},     // a folder that is made
		{"there", "hard"},                       // one file under two names
	} {
		for _, order := range [][2]string{pair, {pair[1], pair[0]}} {
			status, stdout, stderr := runMain("human-ai", "check", "d.csv", "--format", "json:"+order[0], "--format", "markdown:"+order[1])
			want := "oloproof: --format: two formats go to " + order[1] + "; give each a path of its own\n\nexit status 2 (nothing was decided)\n"
			if status != 2 || stdout != "" || stderr != want {
				t.Errorf("%s: exit %d\n%s%s", order, status, stdout, stderr)
			}
		}
	}
	for _, folder := range []string{".", "folder", "folder/deep", "new"} {
		for _, name := range names(t, folder) {
			if info, err := os.Stat(filepath.Join(folder, name)); err == nil && !info.IsDir() && name != "d.csv" && name != "there" && name != "hard" {
				t.Errorf("%s was left in %s", name, folder)
			}
		}
	}

	// The names are of different files where only their folders' names differ, and a link keeps: its file is made.
	status, _, stderr := runMain("human-ai", "check", "d.csv", "--format", "json:to-link", "--format", "markdown:folder/report")
	if info, err := os.Lstat("folder/deep/report"); status != 0 || err != nil || !info.Mode().IsRegular() {
		t.Errorf("exit %d, %v\n%s", status, err, stderr)
	}
	if info, err := os.Lstat("to-link"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v", err)
	}

	// Links that lead to each other end.
	for name, to := range map[string]string{"round": "about", "about": "round"} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	if status, _, stderr := runMain("human-ai", "check", "d.csv", "--format", "json:round"); status != 2 || stderr != "oloproof: --format: cannot write round: too many links follow each other\n\nexit status 2 (nothing was decided)\n" {
		t.Errorf("exit %d\n%s", status, stderr)
	}
}

// writer is a function as an io.Writer.
type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// TestFilesFirst checks that report files are whole before the first byte goes to standard output, where a reader that
// has gone ends the process, and that nothing but them comes into being.
func TestFilesFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "d.csv", singles(40, 38))
	runMain("human-ai", "check", "d.csv", "--format", "json:want.json")
	want, err := os.ReadFile("want.json")
	if err != nil {
		t.Fatal(err)
	}
	written := false
	world := inMemory().World
	world.Stdin = nil
	world.Stderr = io.Discard
	world.Stdout = writer(func(p []byte) (int, error) {
		written = true
		if got, err := os.ReadFile("out/report.json"); err != nil || string(got) != string(want) {
			t.Errorf("before standard output: %v, %d bytes", err, len(got))
		}
		if list := names(t, "out"); len(list) != 2 {
			t.Errorf("before standard output there are %q", list)
		}
		return len(p), nil
	})
	status := Main([]string{"human-ai", "check", "d.csv", "--format", "terminal", "--format", "json:out/report.json", "--format", "markdown:out/report.md"}, world)
	if status != 0 || !written {
		t.Errorf("exit %d, written: %v", status, written)
	}
}

// TestTemporary checks that a temporary file is gone however its use ends.
func TestTemporary(t *testing.T) {
	folder := t.TempDir()
	problem := errors.New("problem")
	for _, ends := range []error{nil, problem} {
		var name string
		err := temporary(newIn(folder), func(f *os.File) error {
			name = f.Name()
			if list := names(t, folder); len(list) != 1 || filepath.Join(folder, list[0]) != name {
				t.Errorf("the folder holds %q", list)
			}
			return ends
		})
		if !errors.Is(err, ends) || name == "" || len(names(t, folder)) > 0 {
			t.Errorf("%v: error %v, left: %q", ends, err, names(t, folder))
		}
	}
	// What another process is writing is left alone.
	err := temporary(newIn(folder), func(one *os.File) error {
		return temporary(newIn(folder), func(other *os.File) error {
			if one.Name() == other.Name() || len(names(t, folder)) != 2 {
				t.Errorf("two files %s, %s in %q", one.Name(), other.Name(), names(t, folder))
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
	// So is what another one has made under the same name since this one gave it up, as runs do that add to one ledger.
	name := filepath.Join(folder, "of-one-name")
	made := func() (*os.File, error) { return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) }
	err = temporary(made, func(f *os.File) error {
		if err := become(f, filepath.Join(folder, "place"), []byte("whole")); err != nil {
			return err
		}
		other, err := made()
		if err == nil {
			err = other.Close()
		}
		return err
	})
	if list := names(t, folder); err != nil || !slices.Equal(list, []string{"of-one-name", "place"}) {
		t.Errorf("%v; the folder holds %q, and the file of the other one is to be in it", err, list)
	}
	if err := temporary(newIn(filepath.Join(folder, "absent")), func(*os.File) error { return nil }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
}
