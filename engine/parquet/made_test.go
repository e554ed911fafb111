package parquet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// madeRows is how many rows the files in testdata have.
const madeRows = 300

// made are the texts of the table that testdata/make.mjs writes, by column and row: its formulas, in Go.
func made() map[string][]string {
	table := map[string][]string{}
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range madeRows {
		add := func(column string, value any) { table[column] = append(table[column], fmt.Sprint(value)) }
		add("id", i)
		add("small", i%3)
		add("long", fmt.Sprintf("row number %d", i))
		add("ratio", float64(i)/8)
		add("day", day.AddDate(0, 0, i).Format(time.DateOnly))
		add("at", day.Add(time.Duration(i)*1500*time.Millisecond).Format(time.RFC3339Nano))
		add("byte", i%200)
		add("amount", float64(i)/4) // quarters are exact in both
		add("nothing", null)
		if i%7 == 0 {
			add("maybe", null)
		} else {
			add("maybe", fmt.Sprintf("text %d", i%5))
		}
		if i%11 == 0 {
			add("flag", null)
		} else {
			add("flag", i%2 == 0)
		}
	}
	return table
}

// TestFilesOfOthers: files that other programs wrote, in all the ways that they have, hold what was put there.
func TestFilesOfOthers(t *testing.T) {
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(files) < 13 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	want := made()
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".parquet"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f := open(t, content)
			if strings.Contains(file, "brotli") {
				_, err := textsOf(f, column(t, f, "id"))
				if err == nil || err.Error() != "it is compressed with Brotli, which is not read: write it with Snappy, zstd, gzip or LZ4_RAW" {
					t.Errorf("Brotli: %v", err)
				}
				return
			}
			if len(f.Columns) < 9 {
				t.Errorf("%d columns", len(f.Columns))
			}
			for i := range f.Columns {
				col := &f.Columns[i]
				got, err := textsOf(f, col)
				if err != nil {
					t.Errorf("%s: %v", col.Name, err)
				}
				if diff := cmp.Diff(want[col.Name], got); diff != "" {
					t.Errorf("%s: %s", col.Name, diff)
				}
				for _, n := range []int{1, 7, 64, 1000} {
					for _, skip := range []int64{0, 1, 60, 299} {
						got, err := summed(f, col, skip, n)
						if err != nil {
							t.Errorf("%s, %d at once after %d: %v", col.Name, n, skip, err)
						}
						var from []string // what comes after skip rows of each row group
						at := int64(0)
						for _, g := range f.Groups {
							from = append(from, want[col.Name][at+min(skip, g.Rows):at+g.Rows]...)
							at += g.Rows
						}
						if diff := cmp.Diff(from, got); diff != "" {
							t.Errorf("%s, %d at once after %d: %s", col.Name, n, skip, diff)
						}
					}
				}
			}
		})
	}
}
