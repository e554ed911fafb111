//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMain lets the test's own program be the one that measures, and one that is measured.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == measureWord:
		measureHere(os.Args[2:])
	case len(os.Args) > 1 && os.Args[1] == "hold-memory":
		fmt.Println(touched(64 << 20))
	default:
		m.Run()
	}
}

// touched takes so many bytes of memory and writes to each page.
func touched(n int) int {
	held, sum := make([]byte, n), 0
	for i := 0; i < n; i += 4096 {
		held[i] = 1
	}
	for i := 0; i < n; i += 4096 {
		sum += int(held[i])
	}
	return sum
}

// TestMeasured: the peak of a program is its own, not that of who asks for it; a verdict is no mistake, and a mistake is one.
func TestMeasured(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &run{self: self, folder: t.TempDir()}
	if n := touched(256 << 20); n != 256<<20/4096 {
		t.Fatal(n)
	}
	small, out, err := r.process(r.folder, "sh", "-c", "echo said; exit 3")
	if err != nil || string(out) != "said\n" || small.Status != 3 || small.Seconds <= 0 {
		t.Errorf("%+v %q %v", small, out, err)
	}
	large, out, err := r.process(r.folder, self, "hold-memory")
	if err != nil || string(out) != fmt.Sprintln(64<<20/4096) {
		t.Fatalf("%q %v", out, err)
	}
	// The program holds 67 MB (64 MiB) beside its own; the one that asks held 268 MB.
	if small.Peak > 150 || large.Peak < 67 {
		t.Errorf("peaks of %.1f and %.1f MB", small.Peak, large.Peak)
	}
	if _, _, err := r.process(r.folder, "sh", "-c", "echo wrong >&2; exit 2"); err == nil || !strings.Contains(err.Error(), "wrong") {
		t.Errorf("a mistake: %v", err)
	}
	if _, _, err := r.process(r.folder, filepath.Join(r.folder, "none")); err == nil {
		t.Error("a program that is not there is measured")
	}
}

// TestTallied reads cells as `oloproof tally` writes them.
func TestTallied(t *testing.T) {
	for text, want := range map[string]map[string]string{
		`{"gate":"fairness","cells":[{"label":0,"prediction":null,"groups":["female",null],"n":3},{"label":1,"prediction":1,"groups":["male",{"undeclared":"x"}],"bin":2,"probabilities":"0.5","n":2}]}`: {
			"0||female|": "3", "1|1|male|x|2": "2|0.5",
		},
		`{"gate":"compare","cells":[{"version":"old","case":"c","trials":5,"recorded":4,"passed":3}]}`: {"old|c": "5|4|3"},
	} {
		path := filepath.Join(t.TempDir(), "t.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := tallied(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestLines: names of lines are told apart, and every line has what it needs.
func TestLines(t *testing.T) {
	met := map[string]bool{}
	for _, l := range lines {
		if met[l.name] || l.what == "" || l.file.format == "" || l.other == nil || (l.columns == "") != l.compare {
			t.Errorf("%+v", l)
		}
		met[l.name] = true
	}
	if chosen, err := choose("gzip,csv"); err != nil || len(chosen) != 2 || chosen[0].name != "gzip" || chosen[1].name != "csv" {
		t.Errorf("%v %v", chosen, err)
	}
	if all, err := choose(""); err != nil || len(all) != len(lines) {
		t.Errorf("%d lines, %v", len(all), err)
	}
	if _, err := choose("csv,bzip2"); err == nil {
		t.Error("there is no line bzip2")
	}
}

// TestTableRow: a row has the medians, and the ratio of those, with the range of the rounds' own.
func TestTableRow(t *testing.T) {
	own := []usage{{1, 2, 10, 0}, {2, 3, 30, 0}, {4, 5, 20, 0}}
	others := []usage{{8, 9, 100, 0}, {8, 8, 300, 0}, {10, 7, 200, 0}}
	got := tableRow(line{name: "csv", what: "CSV"}, 1_234_567, 5e6, "it", own, others)
	if want := "| csv | CSV | 1,234,567, 5 MB | 2.00 s | it 8.00 s | 4.00 (2.50–8.00) | 3.00, 8.00 | 20 MB, 200 MB |"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := median([]usage{{Seconds: 4}, {Seconds: 1}, {Seconds: 2}, {Seconds: 9}}, func(u usage) float64 { return u.Seconds }); got != 3 {
		t.Errorf("the median of 1, 2, 4 and 9 is %v", got)
	}
}
