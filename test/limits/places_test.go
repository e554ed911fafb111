//go:build linux

package limits

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
)

// TestNoFiles: what stands at a path and is no file is an error at once, for rows, for a policy, and for a report; nothing waits for
// somebody who writes to a pipe.
func TestNoFiles(t *testing.T) {
	for _, s := range studies() {
		if !long && s.gate != "anchoring" {
			continue
		}
		for _, c := range []struct {
			what string
			make func(path string) error
		}{
			{"a pipe", func(path string) error { return syscall.Mkfifo(path, 0o666) }},
			{"a folder", func(path string) error { return os.Mkdir(path, 0o777) }},
			{"a device", func(path string) error { return os.Symlink("/dev/zero", path) }},
			{"an endless device", func(path string) error { return os.Symlink("/dev/random", path) }},
			{"a link to itself", func(path string) error { return os.Symlink(filepath.Base(path), path) }},
			{"a link to nothing", func(path string) error { return os.Symlink("nowhere", path) }},
			{"a socket", func(path string) error {
				l, err := net.Listen("unix", path)
				if err == nil {
					t.Cleanup(func() { l.Close() })
				}
				return err
			}},
		} {
			dir, err := os.MkdirTemp("", "l") // sockets have short names
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			put(t, dir, "policy.yaml", s.policy)
			put(t, dir, "rows.csv", s.content(200))
			if err := c.make(filepath.Join(dir, "odd")); err != nil {
				t.Fatal(err)
			}
			report := filepath.Join(dir, "report.json")
			s.decide(t, dir, "odd", nil).check(t, s.gate+", rows in "+c.what, "odd", report, 100)
			s.step(t, dir, "odd").do(t).check(t, s.gate+", a step's rows in "+c.what, "odd", report, 100)
			args := s.args("rows.csv")
			args[slices.Index(args, "policy.yaml")] = "odd"
			call{dir: dir, args: append(args, "-q", "--format", "json:report.json")}.do(t).check(t, s.gate+", a policy in "+c.what, "odd", report, 100)
			s.step(t, dir, "rows.csv", "INPUT_POLICY=odd").do(t).check(t, s.gate+", a step's policy in "+c.what, "odd", report, 100)
			if c.what != "a link to nothing" { // whose file is then made
				call{dir: dir, args: append(s.args("rows.csv"), "-q", "--format", "json:odd")}.do(t).check(t, s.gate+", a report to "+c.what, "odd", "", 100)
			}
			s.step(t, dir, "rows.csv", "INPUT_JSON=odd").do(t).check(t, s.gate+", a step's report to "+c.what, "odd", "", 100)
			for _, flag := range []string{"--baseline-report", "--ledger"} {
				if c.what == "a link to nothing" && flag == "--ledger" {
					continue // which is made
				}
				call{dir: dir, args: append(s.args("rows.csv"), "-q", flag, "odd")}.do(t).check(t, s.gate+", "+flag+" "+c.what, "odd", "", 100)
			}
			if left := leftovers(t, dir); len(left) > 0 {
				t.Errorf("%s: left %q", c.what, left)
			}
		}
	}
}

// TestOddNames: paths that a shell, a log or a flag could take for something else are read and written as they are, and told harmlessly.
func TestOddNames(t *testing.T) {
	s := studies()[0]
	for _, name := range []string{
		"a\nb.csv", "a\tb.csv", "-rows.csv", "--quiet", "::error::x", "##vso[task.complete result=Succeeded;]", "a\u202eb.csv", "a\u200bb\ufeff.csv", "a\x1b[2Jb", "\xff\xfe", "-", "a*b", "[", "~", "%00", "con", " ", strings.Repeat("n", 255),
	} {
		dir := s.folder(t)
		put(t, dir, name, s.content(200))
		put(t, dir, "broken", s.header+"\nx\n")
		for _, given := range []string{"./" + name, filepath.Join(dir, name)} {
			o := s.decide(t, dir, given, nil)
			o.check(t, fmt.Sprintf("rows in %q", given), "", filepath.Join(dir, "report.json"), 100)
		}
		// A report of that name, and an error at it.
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, "rows")); err != nil {
			t.Fatal(err)
		}
		call{dir: dir, args: append(s.args("rows"), "-q", "--format", "json:./"+name)}.do(t).check(t, fmt.Sprintf("a report to %q", name), "", filepath.Join(dir, name), 100)
		if err := os.Rename(filepath.Join(dir, "broken"), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		o := s.decide(t, dir, "./"+name, nil)
		o.check(t, fmt.Sprintf("broken rows in %q", name), "the row has 1 field", filepath.Join(dir, "report.json"), 100)
		for line := range strings.Lines(o.stdout + o.stderr) {
			line = strings.TrimLeft(line, " ")
			if strings.HasPrefix(line, "::") || strings.HasPrefix(line, "##vso") || !utf8.ValidString(line) || strings.ContainsAny(line, "\x1b\u202e\u200b\ufeff\t") {
				t.Errorf("%q is told as %q", name, line)
			}
		}
		if !long {
			break
		}
	}
	// Longer than any name may be.
	dir := s.folder(t)
	put(t, dir, "rows", s.content(200))
	s.decide(t, dir, strings.Repeat("n", 5000), nil).check(t, "a long path", "nnn", filepath.Join(dir, "report.json"), 100)
	call{dir: dir, args: append(s.args("rows"), "-q", "--format", "json:"+strings.Repeat("n", 5000))}.do(t).check(t, "a long path of a report", "name too long", "", 100)
}

// everyFormat are flags that write a report in every format to the folder out.
func everyFormat() (args []string) {
	for _, f := range []string{"json", "markdown", "html", "junit", "sarif", "codequality", "openmetrics", "dotenv"} {
		args = append(args, "--format", f+":out/report."+f)
	}
	return args
}

// TestNoRoom: where the disk is full, may not be written, or no more may be opened, the older reports stay whole, and the run ends with 2
// or with its verdict if that is not a pass.
func TestNoRoom(t *testing.T) {
	for _, s := range studies() {
		if !long && s.gate != "compare" {
			continue
		}
		dir := s.folder(t)
		put(t, dir, "rows.csv", s.content(200))
		if err := os.Mkdir(filepath.Join(dir, "out"), 0o777); err != nil {
			t.Fatal(err)
		}
		sound := append(append(s.args("rows.csv"), "-q"), everyFormat()...)
		call{dir: dir, args: sound}.do(t).check(t, s.gate, "", filepath.Join(dir, "out/report.json"), 100)
		older := contents(t, filepath.Join(dir, "out"))
		if len(older) != 8 {
			t.Fatalf("%d reports", len(older))
		}
		put(t, dir, "rows.csv", s.content(300)) // another report
		for _, c := range []struct{ what, shell, want string }{
			{"no file may be longer than 512 bytes", `trap "" XFSZ; ulimit -f 1; exec "$@"`, "cannot write"},
			{"no file may have a byte", `trap "" XFSZ; ulimit -f 0; exec "$@"`, "cannot write"},
			{"a signal for files that are too long", `ulimit -f 0; exec "$@"`, "cannot write"},
		} {
			o := call{dir: dir, args: sound, shell: c.shell}.do(t)
			if o.Signal != "" || o.Status == 0 || !strings.Contains(o.stderr, c.want) {
				t.Errorf("%s, %s: %+v\n%s", s.gate, c.what, o.taken, clip(o.stderr))
			}
			for name, text := range contents(t, filepath.Join(dir, "out")) {
				if text != older[name] && len(text) > 512 {
					t.Errorf("%s, %s: %s has another content of %d bytes", s.gate, c.what, name, len(text))
				} else if text != older[name] && c.shell != `trap "" XFSZ; ulimit -f 1; exec "$@"` {
					t.Errorf("%s, %s: %s has another content: %q", s.gate, c.what, name, text)
				}
			}
			if left := leftovers(t, filepath.Join(dir, "out")); len(left) > 0 {
				t.Errorf("%s, %s: left %q", s.gate, c.what, left)
			}
		}
		// The same for a step; its verdict stands, and what could not be written is told.
		before := call{dir: dir, args: append(s.args("rows.csv"), "-q")}.do(t)
		put(t, dir, "report.json", "older")
		o := s.step(t, dir, "rows.csv")
		o.shell = `trap "" XFSZ; ulimit -f 0; exec "$@"`
		if end := o.do(t); end.Status != before.Status || !strings.Contains(end.stderr, "could not report everything") {
			t.Errorf("%s, a step on a full disk: %+v, want status %d\n%s", s.gate, end.taken, before.Status, clip(end.stderr))
		}
		if text := contents(t, dir)["report.json"]; text != "older" {
			t.Errorf("%s: a step on a full disk left %q", s.gate, clip(text))
		}
		// Little memory: a verdict, or none, and every report whole.
		for _, kB := range []int{50_000, 100_000, 200_000, 500_000, 1_500_000} {
			o := call{dir: dir, args: sound, shell: fmt.Sprintf(`ulimit -v %d; exec "$@"`, kB), dies: true}.do(t)
			if o.Status != before.Status && o.Status != 2 {
				t.Errorf("%s, %d kB of memory: %+v\n%s", s.gate, kB, o.taken, clip(o.stderr))
			}
			if o.Status != 2 || kB == 1_500_000 {
				readStored(t, filepath.Join(dir, "out/report.json"))
			}
		}
		// Few files may be open: whatever cannot be opened is told.
		for n := 3; n <= 12; n++ {
			o := call{dir: dir, args: sound, shell: fmt.Sprintf(`ulimit -n %d; exec "$@" 3>&-`, n)}.do(t)
			if !slices.Contains(append(verdicts, 2), o.Status) && o.Signal == "" {
				t.Errorf("%s, %d open files: %+v\n%s", s.gate, n, o.taken, clip(o.stderr))
			}
			if o.Status != 2 && o.Status == before.Status {
				readStored(t, filepath.Join(dir, "out/report.json"))
			}
			if left := leftovers(t, filepath.Join(dir, "out")); len(left) > 0 {
				t.Errorf("%s, %d open files: left %q", s.gate, n, left)
			}
		}
	}
}

// contents are the files of a folder.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		if e.Type().IsRegular() {
			text, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			all[e.Name()] = string(text)
		}
	}
	return all
}

// TestStreams: standard input, output and error that are closed, full, or that nobody reads. What is lost is no pass.
func TestStreams(t *testing.T) {
	for _, s := range studies() {
		if !long && s.gate != "fairness" {
			continue
		}
		dir := s.folder(t)
		put(t, dir, "rows.csv", s.content(200))
		report := filepath.Join(dir, "report.json")
		args := append(s.args("rows.csv"), "--format", "json:report.json")
		plain := call{dir: dir, args: args}.do(t)
		plain.check(t, s.gate, "", report, 100)
		want, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ what, shell string }{
			{"no standard input", `exec "$@" <&-`},
			{"no standard output", `exec "$@" >&-`},
			{"no standard error", `exec "$@" 2>&-`},
			{"none of the three", `exec "$@" <&- >&- 2>&-`},
			{"a full output", `exec "$@" >/dev/full`},
			{"a full error", `exec "$@" 2>/dev/full`},
			{"a folder as input", `exec "$@" </`},
			{"an output that cannot be written", `exec "$@" 1</dev/null`},
			{"a reader that has gone", `exec 5>&1; { "$@"; echo $? >&5; } | true`},
		} {
			if err := os.Remove(report); err != nil {
				t.Fatal(err)
			}
			o := call{dir: dir, args: args, shell: c.shell}.do(t)
			// Where a stream is closed, Go opens the null device in its place, as >/dev/null does: nothing is lost that anybody asked for.
			lost := strings.Contains(c.what, "a full output") || strings.Contains(c.what, "cannot be written") // the verdict's text
			switch {
			case c.what == "a reader that has gone":
			case lost && o.Status == 0 || !lost && o.Status != plain.Status || lost && o.Status != plain.Status && o.Status != 2:
				t.Errorf("%s, %s: exit status %d, plain %d", s.gate, c.what, o.Status, plain.Status)
			}
			got, err := os.ReadFile(report)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %s: the report is not the same: %v, %d bytes of %d", s.gate, c.what, err, len(got), len(want))
			}
		}
		// Standard input that is closed, empty or a folder, and is to be read.
		for _, shell := range []string{`exec "$@" <&-`, `exec "$@" </`, `exec "$@" </dev/null`} {
			o := call{dir: dir, args: append(s.args("-"), "--format", "json:report.json"), shell: shell}.do(t)
			if o.Status != 2 || !strings.Contains(o.stderr, "-:") && !strings.Contains(o.stderr, "- ") {
				t.Errorf("%s, %s: %+v\n%s", s.gate, shell, o.taken, clip(o.stderr))
			}
		}
	}
}

// TestSurroundings: a report does not depend on the time zone, the language, the folders of a person, or the number of cores; and with
// little memory there is the same report or none.
func TestSurroundings(t *testing.T) {
	for _, s := range studies() {
		if !long && s.gate != "human-ai" {
			continue
		}
		dir := s.folder(t)
		put(t, dir, "rows.csv", s.content(2000))
		report := filepath.Join(dir, "report.json")
		args := append(s.args("rows.csv"), "-q", "--format", "json:report.json", "--format", "html:report.html", "--format", "markdown")
		plain := call{dir: dir, args: args}.do(t)
		plain.check(t, s.gate, "", report, 200)
		want := contents(t, dir)
		for _, env := range [][]string{
			{"TZ=Pacific/Kiritimati"}, {"TZ=:/etc/passwd"}, {"TZ=" + strings.Repeat("x", 10_000)}, {"LC_ALL=tr_TR.UTF-8", "LANG=tr_TR.UTF-8"}, {"LC_NUMERIC=de_DE.UTF-8"},
			{"HOME="}, {"HOME=/nowhere", "TMPDIR=/nowhere", "XDG_CACHE_HOME=/nowhere"}, {"TMPDIR="}, {"PATH="}, {"GOMAXPROCS=1"}, {"GOMAXPROCS=64"}, {"GOMEMLIMIT=4MiB"}, {"GOGC=1"}, {"COLUMNS=1", "TERM=\x1b[2J"},
		} {
			o := call{dir: dir, args: args, env: env}.do(t)
			if o.Status != plain.Status || o.stdout != plain.stdout {
				t.Errorf("%s, %.40q: exit status %d, want %d; the same output: %v", s.gate, env, o.Status, plain.Status, o.stdout == plain.stdout)
			}
			for name, text := range contents(t, dir) {
				if text != want[name] {
					t.Errorf("%s, %.40q: %s is another", s.gate, env, name)
				}
			}
		}
		// Not the whole environment is lost in a shell without any.
		o := call{dir: dir, args: args, shell: `exec env -i "$@"`}.do(t)
		o.check(t, s.gate+" without an environment", "", report, 200)
		if o.stdout != plain.stdout {
			t.Errorf("%s without an environment says something else", s.gate)
		}
	}
}
