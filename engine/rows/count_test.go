package rows

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// coding numbers texts as they come, for tests of Count.
type coding struct {
	lock  sync.Mutex
	texts []string
}

func (c *coding) use() Use {
	return Use{Codes: 1 << 12, Code: func(text string, recorded bool) (int, bool) {
		c.lock.Lock()
		defer c.lock.Unlock()
		if !recorded {
			text = "∅"
		}
		if i := slices.Index(c.texts, text); i >= 0 {
			return i, true
		}
		c.texts = append(c.texts, text)
		return len(c.texts) - 1, true
	}}
}

// combinations reads a content in both ways: how many rows have which values, by Read and by Count.
func combinations(content string, opts Options, block int) (read map[string]int, problems []string, counted map[string]int, ok bool) {
	opts.FS = folder("f", content)
	res := readAll([]string{"f"}, opts)
	read = map[string]int{}
	for _, r := range res.rows {
		read[strings.Join(r.Values, "|")]++
	}
	codes := make([]coding, len(opts.Columns))
	uses := make([]Use, len(opts.Columns))
	for i := range uses {
		uses[i] = codes[i].use()
	}
	cube, inputs, ok := countWithin([]string{"f"}, opts, uses, limits{buffer: 16, head: 64, record: maxRecord, free: 64 << 20, block: block})
	if !ok {
		return read, res.diags, nil, false
	}
	counted = map[string]int{}
	total := 0
	cube.Each(func(at []int, rows int) {
		var values []string
		for i, code := range at {
			values = append(values, codes[i].texts[code])
		}
		counted[strings.Join(values, "|")] += rows
		total += rows
	})
	if total != cube.Rows() || inputs[0].Rows != total || inputs[0].SHA256 != res.inputs[0].SHA256 || inputs[0].Bytes != res.inputs[0].Bytes || !slices.Equal(inputs[0].Has, res.inputs[0].Has) {
		return read, res.diags, map[string]int{fmt.Sprintf("%+v, not %+v", inputs[0], res.inputs[0]): 1}, true
	}
	return read, res.diags, counted, true
}

// TestCountIsRead: whatever a file holds, Count either counts what Read reads, where that finds nothing wrong, or says that it
// does not know; and it knows every sound file of CSV.
func TestCountIsRead(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "b", "1", "NA", "under_30", "thirty_to_sixty_and_more", "é", "\u00a0", " ", ",", ",", ",", "\n", "\n", "\r\n", "\"", "\"\"", "\"a\"", "\"x,y\"", "\"p\nq\"", "\r", "\x00", "\xff", ";"})
	rapid.Check(t, func(t *rapid.T) {
		var content string
		if rapid.Bool().Draw(t, "sound") {
			rows := table(t)
			content = quotedCSV(rows, ",", rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end"), rapid.Bool().Draw(t, "all"))
		} else {
			content = "case,decision,note\n" + strings.Join(rapid.SliceOfN(piece, 1, 60).Draw(t, "pieces"), "")
		}
		opts := Options{Columns: abc, MissingValues: []string{"NA"}}
		if rapid.Bool().Draw(t, "one column") {
			opts.Columns = abc[:1]
			content = strings.NewReplacer("case,decision,note", "case", ",", "").Replace(content)
		}
		read, problems, counted, ok := combinations(content, opts, rapid.SampledFrom([]int{1, 7, 64, 4096}).Draw(t, "block"))
		switch {
		case ok && len(problems) > 0:
			t.Fatalf("counted, though there is wrong: %v", problems)
		case ok && !maps.Equal(read, counted):
			t.Fatal(cmp.Diff(read, counted))
		case !ok && len(problems) == 0:
			t.Fatalf("a sound file was not counted")
		}
	})
}

// TestUniqueIsExact: a column is told to have a text twice exactly where it has, whatever the texts look like.
func TestUniqueIsExact(t *testing.T) {
	id := rapid.OneOf(rapid.Map(rapid.IntRange(0, 300), func(i int) string { return fmt.Sprint(i) }), rapid.Map(rapid.IntRange(0, 300), func(i int) string { return fmt.Sprintf("%03d", i) }),
		rapid.Map(rapid.Uint64(), func(i uint64) string { return fmt.Sprint(i) }), rapid.StringMatching(`[a-z]{1,20}`))
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(id, 1, 80).Draw(t, "ids")
		content := "id\n" + strings.Join(ids, "\n") + "\n"
		_, _, ok := Count([]string{"f"}, Options{Columns: []Column{{Name: "id", Required: true}}, FS: folder("f", content)}, []Use{{Unique: true}})
		slices.Sort(ids)
		if want := len(slices.Compact(ids)) == strings.Count(content, "\n")-1; ok != want {
			t.Fatalf("unique: %v, want %v", ok, want)
		}
	})
}

// TestUniqueStaysSmall: numbers that lie far apart do not take a page each.
func TestUniqueStaysSmall(t *testing.T) {
	u := newUnique()
	b := u.batch()
	for i := range 20_000 {
		if !b.add([]byte(fmt.Sprint(uint64(i) << 20))) {
			t.Fatalf("%d was there", i)
		}
	}
	if !b.end() {
		t.Fatal("something was there")
	}
	if len(u.pages) > freePages {
		t.Errorf("%d pages for 20,000 numbers", len(u.pages))
	}
	again := u.batch()
	if again.add([]byte(fmt.Sprint(uint64(3)<<20))) && again.add([]byte(fmt.Sprint(uint64(19_999)<<20))) && again.end() {
		t.Error("neither a number on a page nor one in a table was found again")
	}
}

// TestPlainNumbers: exactly what is written as Go writes a number of up to 16 digits is one.
func TestPlainNumbers(t *testing.T) {
	for _, text := range []string{"0", "9", "10", "12345678", "123456789", "9999999999999999"} {
		if n, plain := plainNumber([]byte(text)); !plain || fmt.Sprint(n) != text {
			t.Errorf("%s is read as %d, %v", text, n, plain)
		}
	}
	for _, text := range []string{"", "00", "01", "-1", "+1", "1.0", "12345678901234567", "１"} {
		if _, plain := plainNumber([]byte(text)); plain {
			t.Errorf("%q is taken for a number written plainly", text)
		}
	}
	for c := range 256 {
		if _, plain := plainNumber([]byte{'1', byte(c), '2'}); plain != (c >= '0' && c <= '9') {
			t.Errorf("1, the byte %d and 2: %v", c, plain)
		}
	}
}
