package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/rows"
)

// held is a file that is read only as far as it has been let go.
type held struct {
	fs.File
	read, left int
	stop       func(read int) // is called when it may be read no further
}

func (h *held) Read(p []byte) (int, error) {
	if h.left == 0 {
		h.stop(h.read)
		h.left = 1 << 20
	}
	n, err := h.File.Read(p[:min(len(p), h.left)])
	h.read, h.left = h.read+n, h.left-n
	return n, err
}

// holding is a file system whose files are held.
type holding struct {
	fstest.MapFS
	stop func(read int)
}

func (h holding) Open(name string) (fs.File, error) {
	f, err := h.MapFS.Open(name)
	return &held{File: f, left: 1 << 20, stop: h.stop}, err
}

// TestProgressLine watches a file of 3 MiB being read, a MiB a minute, and what is shown of it in terminals and in a log.
func TestProgressLine(t *testing.T) {
	const begin, line = "case,decision\n", "claim-0001,yes\n" // 14 and 15 bytes
	content := begin + strings.Repeat(line, 3<<20/len(line))
	m := &meter{inputs: 2, since: testDay, before: testDay}
	now := testDay
	var got []string
	look := func(int) {
		now = now.Add(time.Minute)
		for _, columns := range []int{0, 100, 80, 70, 60, 40, 20, 1} {
			text := m.line(now, columns)
			got = append(got, text)
			if columns > 0 && len(text) >= columns {
				t.Errorf("%d columns: %q", columns, text)
			}
		}
	}
	rows.Read([]string{"f"}, rows.Options{Columns: []rows.Column{{Name: "case"}}, FS: holding{folder("f", content), look}, Progress: m.next()}, func(rows.Row) {}, &diag.List{})
	// 1, 2 and 3 MiB of 3 (1.05, 2.10 and 3.15 MB) are read after 1, 2 and 3 minutes, and 1 MiB holds 69,905 lines: the row that the end
	// of what was read lies in is not counted yet, nor the one before it.
	want := []string{
		"oloproof: reading 1 of 2, 1 of 3 MB, 69,903 rows, about 2 min left",
		"[#######.................] reading 1 of 2, 1 of 3 MB, 69,903 rows, about 2 min left",
		"[######..............] reading 1 of 2, 1 of 3 MB, 69,903 rows, about 2 min left",
		"[###.......] reading 1 of 2, 1 of 3 MB, 69,903 rows, about 2 min left",
		"reading 1 of 2, 1 of 3 MB, 69,903 rows, about 2 min left",
		"1 of 3 MB, about 2 min left",
		"1 of 3 MB",
		"",
		"oloproof: reading 1 of 2, 2 of 3 MB, 139,807 rows, about 60 s left",
		"[###############.........] reading 1 of 2, 2 of 3 MB, 139,807 rows, about 60 s left",
		"[#############.......] reading 1 of 2, 2 of 3 MB, 139,807 rows, about 60 s left",
		"[######....] reading 1 of 2, 2 of 3 MB, 139,807 rows, about 60 s left",
		"reading 1 of 2, 2 of 3 MB, 139,807 rows, about 60 s left",
		"2 of 3 MB, about 60 s left",
		"2 of 3 MB",
		"",
		"oloproof: reading 1 of 2, 3 of 3 MB, 209,711 rows, about 0 s left",
		"[#######################.] reading 1 of 2, 3 of 3 MB, 209,711 rows, about 0 s left",
		"[####################.] reading 1 of 2, 3 of 3 MB, 209,711 rows, about 0 s left",
		"[##########.] reading 1 of 2, 3 of 3 MB, 209,711 rows, about 0 s left",
		"reading 1 of 2, 3 of 3 MB, 209,711 rows, about 0 s left",
		"3 of 3 MB, about 0 s left",
		"3 of 3 MB",
		"",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestProgressPhases: reading again is said, and so is deciding, with the time that it takes itself; what has no known size has no bar.
func TestProgressPhases(t *testing.T) {
	m := &meter{inputs: 1, since: testDay, before: testDay}
	once := rows.Options{Columns: []rows.Column{{Name: "case"}}, Once: []rows.Once{{Columns: []int{0}, Same: func([]string, diag.Pos) string { return "" }}}, FS: folder("f", "case\na\na\n")}
	once.Progress = m.next()
	rows.Read([]string{"f"}, once, func(rows.Row) {}, &diag.List{})
	at := func(seconds int) time.Time { return testDay.Add(time.Duration(seconds) * time.Second) }
	got := []string{m.line(at(30), 0)}
	m.decide()
	got = append(got, m.line(at(40), 0), m.line(at(45), 80))
	piped := once
	piped.Stdin, piped.Progress, piped.FS = strings.NewReader("case\n"+strings.Repeat("a\n", 1<<20)), m.next(), nil
	piped.Once = nil
	rows.Read([]string{"-"}, piped, func(rows.Row) {}, &diag.List{})
	got = append(got, m.line(at(50), 0), m.line(at(51), 80))
	want := []string{
		"oloproof: reading again, 0 of 0 MB, 2 rows, about 0 s left",
		"oloproof: deciding, 10 s", // since it was looked at before
		"oloproof: deciding, 15 s",
		"oloproof: reading, 2 MB, 1,048,576 rows",
		"reading, 2 MB, 1,048,576 rows",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// lines is standard error that can be looked at while it is written to.
type lines struct {
	lock sync.Mutex
	bytes.Buffer
	wrote chan struct{}
}

func (l *lines) Write(p []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	n, err := l.Buffer.Write(p)
	select {
	case l.wrote <- struct{}{}:
	default:
	}
	return n, err
}

// TestRepeating: a terminal's line is written over, and cleared at the end; one that was never written is not.
func TestRepeating(t *testing.T) {
	stderr := &lines{wrote: make(chan struct{}, 1)}
	a := inMemory()
	a.Stderr = stderr
	n := 0
	stop := a.repeating(pace{time.Millisecond, time.Millisecond}, "\r\x1b[K%s", "\r\x1b[K", func() string { n++; return fmt.Sprint(n) })
	<-stderr.wrote
	<-stderr.wrote
	stop()
	if got := stderr.String(); !strings.HasPrefix(got, "\r\x1b[K1\r\x1b[K2") || !strings.HasSuffix(got, fmt.Sprintf("\r\x1b[K%d\r\x1b[K", n)) {
		t.Errorf("%q", got)
	}
	stderr.Reset()
	a.repeating(pace{time.Hour, time.Hour}, "%s", "cleared", func() string { return "shown" })()
	if stderr.Len() > 0 {
		t.Errorf("%q", stderr.String())
	}
}

// TestProgressInALog: a run that takes long says so in a log, in lines that stay; with --quiet it does not.
func TestProgressInALog(t *testing.T) {
	stderr := &lines{wrote: make(chan struct{}, 1)}
	a := inMemory()
	a.Stderr = stderr
	m, stop := a.progress(nil, true)
	if stop(); stderr.Len() > 0 {
		t.Errorf("%q", stderr.String())
	}
	if patienceInLog < 10*time.Second || pauseInLog < time.Minute {
		t.Errorf("a log gets a line after %s, and then every %s", patienceInLog, pauseInLog)
	}
	stop = a.showing(pace{time.Millisecond, time.Hour}, func(columns int) string { return m.line(a.Now(), columns) })
	<-stderr.wrote
	stop()
	if got := stderr.String(); got != "oloproof: deciding, 0 s\n" {
		t.Errorf("%q", got)
	}
}
