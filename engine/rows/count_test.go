package rows

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
)

// coding numbers texts as they come, for tests of Count, and keeps what it is told of some of them.
type coding struct {
	lock  sync.Mutex
	texts []string
	told  map[string]int
}

// telling are the texts that a coding wants told.
func telling(text string) bool { return len(text)%2 == 1 }

func (c *coding) use() Use {
	c.told = map[string]int{}
	return Use{Codes: 1 << 8, Code: func(text string, recorded bool) (code int, tell, ok bool) {
		c.lock.Lock()
		defer c.lock.Unlock()
		if !recorded {
			text = "∅"
		}
		i := slices.Index(c.texts, text)
		if i < 0 {
			c.texts = append(c.texts, text)
			i = len(c.texts) - 1
		}
		return i, recorded && telling(text), true
	}, Tell: func(text string, rows int) { c.told[text] += rows }}
}

// combinations reads a content in both ways: how many rows have which values, by Read and by Count.
func combinations(content string, opts Options, block int) (read map[string]int, problems []string, counted map[string]int, ok bool) {
	opts.FS = folder("f", content)
	res := readAll([]string{"f"}, opts)
	read = map[string]int{}
	for _, r := range res.rows {
		read[strings.Join(r.Values, "|")]++
		for col, text := range r.Values {
			if text != "∅" && telling(text) {
				read[fmt.Sprintf("%d: %s", col, text)]++
			}
		}
	}
	codes := make([]coding, len(opts.Columns))
	uses := make([]Use, len(opts.Columns))
	for i := range uses {
		uses[i] = codes[i].use()
	}
	cube, inputs, ok := countWithin([]string{"f"}, opts, uses, limits{buffer: 16, head: 64, record: maxRecord, free: 64 << 20, block: block, part: int64(block)})
	if !ok {
		return read, res.diags, nil, false
	}
	counted = map[string]int{}
	total := 0
	cube.Each(func(at []int, rows int, _ Sum) {
		var values []string
		for i, code := range at {
			values = append(values, codes[i].texts[code])
		}
		counted[strings.Join(values, "|")] += rows
		total += rows
	})
	for col := range codes {
		for text, rows := range codes[col].told {
			counted[fmt.Sprintf("%d: %s", col, text)] += rows
		}
	}
	if total != cube.Rows() || inputs[0].Rows != total || inputs[0].SHA256 != res.inputs[0].SHA256 || inputs[0].Content != res.inputs[0].Content || inputs[0].Bytes != res.inputs[0].Bytes || !slices.Equal(inputs[0].Has, res.inputs[0].Has) {
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

// TestNumbersAddUp: the numbers of a column are added up exactly by combination, and those that are none are for Read.
func TestNumbersAddUp(t *testing.T) {
	number := rapid.OneOf(rapid.StringMatching(`[01]?\.[0-9]{1,4}`), rapid.StringMatching(`[0-9]{1,22}`), rapid.StringMatching(`-?[0-9]{0,3}\.?[0-9]{0,20}(e-?[0-9])?`), rapid.SampledFrom([]string{"", " 1 ", "NA", "0.5", "."}))
	rapid.Check(t, func(t *rapid.T) {
		var content strings.Builder
		content.WriteString("number;group\n")
		want, sums, rounded, sound := map[string]int{}, map[string]Sum{}, 0, true
		for range rapid.IntRange(1, 30).Draw(t, "rows") {
			text, group := number.Draw(t, "number"), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "group")
			content.WriteString(text + ";" + group + "\n")
			if trimmed := strings.TrimSpace(text); trimmed == "" || trimmed == "NA" {
				want["none"+group]++
				continue
			}
			value, cut, err := ParseDecimal(strings.TrimSpace(text))
			if sound = sound && err == nil; cut {
				rounded++
			}
			want["some"+group]++
			sums["some"+group] = sums["some"+group].Add(value)
		}
		var group coding
		uses := []Use{{Codes: 2, Code: func(_ string, recorded bool) (int, bool, bool) { return 0, false, !recorded },
			Number: func(Decimal, bool) (int, bool) { return 1, true }}, group.use()}
		cube, _, ok := Count([]string{"f"}, Options{Columns: []Column{{Name: "number"}, {Name: "group"}}, MissingValues: []string{"NA"}, FS: folder("f", content.String())}, uses)
		if ok != sound {
			t.Fatalf("counted: %v, sound: %v", ok, sound)
		}
		if !ok {
			return
		}
		got, gotSums := map[string]int{}, map[string]Sum{}
		cube.Each(func(codes []int, rows int, sum Sum) {
			at := []string{"none", "some"}[codes[0]] + group.texts[codes[1]]
			got[at] = rows
			if codes[0] == 1 {
				gotSums[at] = sum
			}
		})
		if !maps.Equal(got, want) || !maps.Equal(gotSums, sums) || cube.Rounded() != rounded {
			t.Fatalf("%v %v %d rounded, want %v %v %d", got, gotSums, cube.Rounded(), want, sums, rounded)
		}
	})
}

// sameID is the message of these tests about a repeated text.
func sameID(texts []string, first diag.Pos) string { return fmt.Sprintf("%q as at %s", texts, first) }

// TestOnceIsExact: the rows that repeat an earlier one are told, each with the first, and no others, whatever the texts look
// like and however many files they are in; and Count counts exactly where there are none.
func TestOnceIsExact(t *testing.T) {
	id := rapid.OneOf(rapid.Map(rapid.IntRange(0, 300), func(i int) string { return fmt.Sprint(i) }), rapid.Map(rapid.IntRange(0, 300), func(i int) string { return fmt.Sprintf("%03d", i) }),
		rapid.Map(rapid.Uint64(), func(i uint64) string { return fmt.Sprint(i) }), rapid.StringMatching(`[a-z]{1,20}`), rapid.SampledFrom([]string{"", "NA"}))
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"b", "a", "c"}[:rapid.IntRange(1, 3).Draw(t, "files")]
		files, at := map[string]string{}, map[string][]diag.Pos{}
		for i, name := range names {
			var content strings.Builder
			content.WriteString("id,part\n")
			for n, text := range rapid.SliceOfN(id, 1, 60).Draw(t, "ids") {
				fmt.Fprintf(&content, "%s,%d\n", text, i)
				if text != "" && text != "NA" {
					at[text] = append(at[text], diag.Pos{File: name, Line: n + 2})
				}
			}
			files[name] = content.String()
		}
		var want []string
		for text, places := range at {
			slices.SortFunc(places, diag.Pos.Compare)
			for _, p := range places[1:] {
				want = append(want, p.String()+": "+sameID([]string{text}, places[0]))
			}
		}
		slices.Sort(want)
		fsys := fstest.MapFS{}
		for name, content := range files {
			fsys[name] = &fstest.MapFile{Data: []byte(content)}
		}
		opts := Options{Columns: []Column{{Name: "id", Required: true}, {Name: "part"}}, MissingValues: []string{"NA"}, FS: fsys, Once: []Once{{[]int{0}, sameID}}}
		diags := &diag.List{}
		Read(names, opts, func(Row) {}, diags)
		items, more := diags.Sorted()
		var got []string
		for _, d := range items {
			got = append(got, d.String())
		}
		slices.Sort(got)
		if more > 0 || !slices.Equal(got, want) {
			t.Fatal(cmp.Diff(want, got))
		}
		if _, _, ok := Count(names, opts, make([]Use, 2)); ok != (len(want) == 0) {
			t.Fatalf("counted: %v, with %d repetitions", ok, len(want))
		}
		if len(names) == 1 { // standard input is read once
			opts.Stdin, opts.FS = strings.NewReader(files["b"]), nil
			diags := &diag.List{}
			Read([]string{"-"}, opts, func(Row) {}, diags)
			if diags.Len() != len(want) {
				t.Fatalf("%d repetitions on standard input, not %d", diags.Len(), len(want))
			}
		}
	})
}

// TestOnceOfSeveral: columns that have to differ together may be the same each by itself.
func TestOnceOfSeveral(t *testing.T) {
	opts := Options{Columns: []Column{{Name: "a"}, {Name: "b"}}, Once: []Once{{[]int{0, 1}, sameID}},
		FS: folder("f", "a,b\nx,1\nx,2\ny,1\nx1,\nx1,\nxy,z\nx,yz\nx,2\n")}
	diags := &diag.List{}
	Read([]string{"f"}, opts, func(Row) {}, diags)
	items, _ := diags.Sorted()
	if want := `f:9: ["x" "2"] as at f:3`; len(items) != 1 || items[0].String() != want {
		t.Errorf("found %v, want %s", items, want)
	}
	opts.Once = []Once{{[]int{0}, sameID}, {[]int{1}, sameID}} // two at once, each by itself
	opts.FS = folder("f", "a,b\nx,1\ny,2\nx,3\nz,2\nz,\n")
	diags = &diag.List{}
	Read([]string{"f"}, opts, func(Row) {}, diags)
	items, _ = diags.Sorted()
	if want := `[f:4: ["x"] as at f:2 f:5: ["2"] as at f:3 f:6: ["z"] as at f:5]`; fmt.Sprint(items) != want {
		t.Errorf("found %v, want %s", items, want)
	}
}

// TestManyRepeats: of very many repetitions the first are told, in the order of places, and all are counted, though only a few are kept.
func TestManyRepeats(t *testing.T) {
	const n = 5000
	var content strings.Builder
	content.WriteString("id\n")
	for i := range n {
		fmt.Fprintf(&content, "k%d\n", i)
	}
	for i := range n { // the last first
		fmt.Fprintf(&content, "k%d\n", n-1-i)
	}
	diags := &diag.List{}
	Read([]string{"f"}, Options{Columns: []Column{{Name: "id"}}, Once: []Once{{[]int{0}, sameID}}, FS: folder("f", content.String())}, func(Row) {}, diags)
	items, more := diags.Sorted()
	if len(items)+more != n || items[0].String() != `f:5002: ["k4999"] as at f:5001` || items[diag.Keep-1].String() != `f:6001: ["k4000"] as at f:4002` {
		t.Errorf("%d and %d more, the first %s, the last %s", len(items), more, items[0], items[len(items)-1])
	}
}

// TestUniqueStaysSmall: numbers that lie far apart do not take a page each.
func TestUniqueStaysSmall(t *testing.T) {
	u := newUnique()
	b := u.batch()
	for i := range 20_000 {
		b.add([]byte(fmt.Sprint(uint64(i) << 20)))
	}
	if len(u.pages) > freePages {
		t.Errorf("%d pages for 20,000 numbers", len(u.pages))
	}
	for _, i := range []uint64{3, 19_999} { // one in a page, one that is not
		b.add([]byte(fmt.Sprint(i << 20)))
	}
	if b.end(); !u.repeated() || u.suspects.n != 2 {
		t.Errorf("%d numbers were found twice, not 2", u.suspects.n)
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
