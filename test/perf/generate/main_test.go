package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// text is what d writes.
func text(t *testing.T, d data) string {
	t.Helper()
	if err := d.check(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := d.write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// records reads CSV with another reader.
func records(t *testing.T, content string) [][]string {
	t.Helper()
	list, err := csv.NewReader(strings.NewReader(content)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestFormats: every format of a seed holds the same rows.
func TestFormats(t *testing.T) {
	for _, ids := range []string{"dense", "any"} {
		plain := text(t, data{2000, 1, "csv", ids})
		want := records(t, plain)
		if len(want) != 2001 {
			t.Fatalf("%d records", len(want))
		}
		if diff := cmp.Diff(strings.ReplaceAll(plain, "\n", "\r\n"), text(t, data{2000, 1, "crlf", ids})); diff != "" {
			t.Errorf("crlf (-want +got):\n%s", diff)
		}
		quoted := text(t, data{2000, 1, "quoted", ids})
		if diff := cmp.Diff(want, records(t, quoted)); diff != "" {
			t.Errorf("quoted (-want +got):\n%s", diff)
		}
		if got := strings.Count(quoted, `"`); got != 2001*6*2 {
			t.Errorf("%d quotes", got)
		}
		for _, format := range []string{"jsonl", "jsonl-any-order"} {
			got := [][]string{want[0]}
			orders := map[string]bool{}
			for line := range strings.Lines(text(t, data{2000, 1, format, ids})) {
				decoder := json.NewDecoder(strings.NewReader(line))
				decoder.UseNumber()
				var object map[string]any
				if err := decoder.Decode(&object); err != nil {
					t.Fatal(err)
				}
				var row []string
				for _, name := range want[0] {
					value, has := object[name]
					if !has {
						t.Fatalf("%s: %s lacks %s", format, line, name)
					}
					if value == nil {
						value = ""
					}
					row = append(row, fmt.Sprint(value))
				}
				got = append(got, row)
				orders[line[:5]] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", format, diff)
			}
			if several := len(orders) > 1; several != (format == "jsonl-any-order") {
				t.Errorf("%s: the first keys are %v", format, orders)
			}
		}
	}
}

// TestIDs: no id comes twice, and only dense ones are numbers in order.
func TestIDs(t *testing.T) {
	for _, ids := range []string{"dense", "any"} {
		met := map[string]bool{}
		for i := range 200_000 {
			met[data{ids: ids}.id(i)] = true
		}
		if len(met) != 200_000 {
			t.Errorf("%s: %d different ids", ids, len(met))
		}
	}
	// SplitMix64 with the state 0 gives this first: Vigna's splitmix64.c, as Java's SplittableRandom.
	if got := (data{ids: "any"}).id(0); got != "e220a8397b1dcdaf" {
		t.Errorf("the first id is %s", got)
	}
}

// TestTrials: every case is tried as often in both versions, and a trial has a name of its own, or none.
func TestTrials(t *testing.T) {
	for ids, width := range map[string]int{"none": 3, "dense": 4, "any": 4} {
		list := records(t, text(t, data{2 * 2 * trialed, 1, "compare", ids}))
		tried, named := map[string]int{}, map[string]bool{}
		for _, record := range list[1:] {
			if len(record) != width {
				t.Fatalf("%s: %v", ids, record)
			}
			tried[record[0]+record[1]]++
			named[strings.Join(record[:3], " ")] = true
		}
		if len(tried) != 2*trialed {
			t.Fatalf("%s: %d cases of both versions", ids, len(tried))
		}
		for name, n := range tried {
			if n != 2 {
				t.Fatalf("%s: %s is tried %d times", ids, name, n)
			}
		}
		if ids != "none" && len(named) != len(list)-1 {
			t.Errorf("%s: %d trials have names of their own", ids, len(named))
		}
	}
}

// TestAreas: there are as many areas as it says.
func TestAreas(t *testing.T) {
	met := map[string]bool{}
	for _, record := range records(t, text(t, data{1_000_000, 1, "areas", "dense"}))[1:] {
		met[record[5]] = true
	}
	// Of 10⁶ draws from 10⁵ areas e⁻¹⁰·10⁵ = 4.5 are expected to meet none; the empty one is one more.
	if len(met) < areas-30 || len(met) > areas+1 {
		t.Errorf("%d areas", len(met))
	}
}

// TestSameBytes: the bytes are the same on every machine. The digests are those of the first run, on amd64.
func TestSameBytes(t *testing.T) {
	for _, test := range []struct {
		data
		want string
	}{
		{data{1000, 1, "csv", "dense"}, "8e2c71885e81155d"},
		{data{1000, 2, "csv", "any"}, "ffbb35772d615339"},
		{data{1000, 1, "jsonl-any-order", "any"}, "7d0baca06dd2415e"},
		{data{1000, 1, "areas", "dense"}, "6f2fb8136d254bbe"},
		{data{1000, 1, "compare", "dense"}, "4a97daf95830d8b5"},
	} {
		sum := sha256.Sum256([]byte(text(t, test.data)))
		if got := hex.EncodeToString(sum[:8]); got != test.want {
			t.Errorf("%+v: %s", test.data, got)
		}
	}
}

// TestCompressed: what is compressed holds the same, and a mistake leaves no file.
func TestCompressed(t *testing.T) {
	folder := t.TempDir()
	d := data{5000, 1, "csv", "dense"}
	for method, open := range map[string]func(io.Reader) (io.Reader, error){
		"":     func(r io.Reader) (io.Reader, error) { return r, nil },
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	} {
		path := filepath.Join(folder, "f"+method)
		if err := create(path, d, method); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := open(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || string(got) != text(t, d) {
			t.Errorf("%q: another text; %v", method, err)
		}
	}
	for name, err := range map[string]error{
		"method": create(filepath.Join(folder, "x"), d, "bzip2"),
		"format": create(filepath.Join(folder, "x"), data{1, 1, "tsv", "dense"}, ""),
		"ids":    create(filepath.Join(folder, "x"), data{1, 1, "csv", "none"}, ""),
		"rows":   create(filepath.Join(folder, "x"), data{0, 1, "csv", "dense"}, ""),
		"folder": create(filepath.Join(folder, "x", "y"), d, ""),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(left) != 3 {
		t.Errorf("mistakes left files: %q, %v", left, err)
	}
}
