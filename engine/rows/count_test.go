package rows

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
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
		return i, recorded && telling(text), i < 1<<8
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

// Values of JSONL: as most are, as few are, and such as no object may have in a column.
var (
	usualValues   = []string{"1", "0", `"a"`, "12", "0.5", `"under_30"`, "1.25", "-3", "12345678", "123456789", "0.123456789012345678", "true", "false", "null", `""`, `"NA"`, `"thirty_to_sixty"`, `"thirty_to_sixty_and_more"`, `" é "`}
	unusualValues = []string{"1e5", "-0", "0.0", "-12", "1E-2", `"\u00e9"`, `"\\"`, `"a\"b"`, `"\ud83d\ude00"`, `"\u0000"`, `"\n"`, `"x,\"y\":1"`, "\"\x7f\"", "{}", "[1]", `{"case":[{"case":2}]}`}
	wrongValues   = []string{"01", "00", "-", "-01", "0x5", "13.", "1.", ".5", "1.e1", "1e", "0-5", "+1", "1 2", "nul", "nullx", `"a\"`, "trueé", "tru", "NaN", "", `"\ud800"`, `"\x"`, `"`, `"a`, "\"\t\"", "\"\xff\"", `"a"b`, "1:", "1}", "]", "'a'"}
)

// longKey and otherLongKey are alike up to their sixteenth byte, and equally long.
const longKey, otherLongKey = "a key of many more words", "a key of many more parts"

// lines draws JSONL as it comes from many writers: most objects are alike, some have other keys, values or blanks, and hardly one is at fault.
func lines(t *rapid.T) string {
	value, unusual, wrong := rapid.SampledFrom(usualValues), rapid.SampledFrom(unusualValues), rapid.SampledFrom(wrongValues)
	otherKey := rapid.SampledFrom([]string{`"y"`, `"case"`, `" note"`, `"c\u0061se"`, `"decision "`, `"` + otherLongKey + `"`, `""`, `"é"`, `"\u00a0case"`, `"\ud800"`, `"case`, `case`, `1`})
	blank := rapid.SampledFrom([]string{"", " ", "  ", "\t", "\r", "\n"})
	// seldom is true the less often, the larger n is.
	seldom := func(n int, what string) bool {
		return rapid.Uint64().Draw(t, what)*0x9E3779B97F4A7C15>>32%uint64(n) == 0
	}
	keys := []string{`"case"`, `"decision"`, rapid.SampledFrom([]string{`"note"`, `"` + longKey + `"`}).Draw(t, "third"), `"x"`}
	keys = rapid.Permutation(keys).Draw(t, "keys")[:rapid.IntRange(2, 4).Draw(t, "many")]
	comma, colon := ",", ":"
	if seldom(2, "spaced") {
		comma, colon = ","+blank.Draw(t, "behind comma"), ":"+blank.Draw(t, "behind colon")
	}
	end := rapid.SampledFrom([]string{"\n", "\r\n", " \n"}).Draw(t, "end")
	var b strings.Builder
	for range rapid.IntRange(1, 8).Draw(t, "lines") {
		these := slices.Clone(keys)
		if seldom(5, "shuffled") {
			these = append(rapid.Permutation(these).Draw(t, "these"), `"z"`)[:rapid.IntRange(0, len(keys)+1).Draw(t, "some")]
		}
		between := func(usual string) {
			if b.WriteString(usual); seldom(60, "blank") {
				b.WriteString(blank.Draw(t, "more"))
			}
		}
		between("{")
		for i, key := range these {
			if i > 0 {
				between(comma)
			}
			if seldom(30, "other key") {
				key = otherKey.Draw(t, "key")
			}
			between(key)
			between(colon)
			switch {
			case seldom(100, "wrong"):
				between(wrong.Draw(t, "wrong value"))
			case seldom(30, "unusual"):
				between(unusual.Draw(t, "unusual value"))
			default:
				between(value.Draw(t, "value"))
			}
		}
		if b.WriteString("}"); !seldom(20, "one line") {
			b.WriteString(end)
		}
	}
	text := b.String()
	if seldom(20, "cut") {
		text = text[:rapid.IntRange(1, len(text)).Draw(t, "left")]
	}
	return text
}

// eachByItself reports whether every line of JSONL is whole objects.
func eachByItself(content string) bool {
	for line := range strings.Lines(content) {
		if strings.Trim(line, blanks) != "" && len(readAll([]string{"f"}, Options{Columns: []Column{{Name: "case"}}, FS: folder("f", line)}).diags) > 0 {
			return false
		}
	}
	return true
}

// TestCountIsReadOfJSONL is the same for JSONL; of sound files it knows those where no object goes over several lines.
func TestCountIsReadOfJSONL(t *testing.T) {
	piece := rapid.SampledFrom([]string{"{", "}", "{}", "[", "]", ":", ",", "\"", "\"case\"", "\"decision\":", "\"note\":null", "1", "-", ".", "e", "true", "\\", "\\u00", " ", "\n", "\r", "\x00", "\xff", "é", "{\"case\":1}\n", "\xEF\xBB\xBF"})
	rapid.Check(t, func(t *rapid.T) {
		var content string
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			content = asJSONL(t, table(t), rapid.SampledFrom([]string{"\n", "\r\n", " \n", " "}).Draw(t, "end"))
		case 1:
			content = `{"case":1,"decision":"a","note":null}` + strings.Join(rapid.SliceOfN(piece, 1, 20).Draw(t, "pieces"), "")
		default:
			content = lines(t)
		}
		if !beginsObject([]byte(content)) {
			content = "{}" + content
		}
		opts := Options{Columns: abc, MissingValues: []string{"NA"}}
		if name := rapid.SampledFrom([]string{"note", longKey, "case"}).Draw(t, "third column"); name != "note" {
			opts.Rename = map[string]string{"note": name} // "case": two columns are one key
		}
		read, problems, counted, ok := combinations(content, opts, rapid.SampledFrom([]int{1, 7, 64, 4096}).Draw(t, "block"))
		switch {
		case ok && len(problems) > 0:
			t.Fatalf("counted, though there is wrong: %v", problems)
		case ok && !maps.Equal(read, counted):
			t.Fatal(cmp.Diff(read, counted))
		case !ok && len(problems) == 0 && eachByItself(content):
			t.Fatalf("a sound file was not counted")
		}
	})
}

// TestObjectsAlike: no value of an object is taken for that of the one before, whatever the two are.
func TestObjectsAlike(t *testing.T) {
	try := func(content string) {
		read, problems, counted, ok := combinations(content, Options{Columns: abc, Rename: map[string]string{"note": longKey}}, 4096)
		if (!ok && len(problems) == 0) || (ok && (len(problems) > 0 || !maps.Equal(read, counted))) {
			t.Errorf("%q: counted %v as %v, read as %v with %q", content, ok, counted, read, problems)
		}
	}
	for _, first := range slices.Concat(usualValues, unusualValues) {
		for _, second := range slices.Concat(usualValues, unusualValues, wrongValues) {
			try(fmt.Sprintf("{\"case\":1,\"decision\":1}\n{\"case\":%s,\"decision\":1}\n{\"case\":%s,\"decision\":2}\n", first, second))
		}
	}
	try("{\"" + longKey + "\":1,\"case\":2,\"decision\":3}\n{\"" + otherLongKey + "\":1,\"case\":2,\"decision\":3}\n")
	for _, second := range []string{`{"case":1,"case":2,"decision":3}`, `{"case":1,"decision":2,"case":3}`, `{"case":1,"decision":2,"x":3," case":4}`, `{"decision":1,"case":2,"decision":3}`} {
		try("{\"case\":1,\"decision\":2}\n" + second + "\n")
	}
	// What stood at the beginning of an object is no comma and key.
	for _, second := range []string{`{"decision":1{"case":2}`, `{"decision":"x"{"case":2}`, `{"decision":null{"case":2,"note":3}`, `{"x":[]{"case":2,"decision":1}`} {
		try("{\"case\":1,\"decision\":2}\n" + second + "\n")
	}
	for _, blank := range []string{"\n", strings.Repeat("\n", padding-1), strings.Repeat("\n", 2*padding)} { // which is what lies behind the text
		try("{\"case\":" + blank + "1,\"decision\":2}\n{\"case\":")
		try("{\"case\":" + blank + "1,\"decision\":2}{\"case\":" + blank + "3,\"decision\":4" + blank + "}")
	}
}

// TestLikeTheFirst: what stands before a value is read once, and then known, whatever the values are.
func TestLikeTheFirst(t *testing.T) {
	r := newReader(Options{Columns: abc}, defaultLimits(), nil, &diag.List{})
	_, index := r.newScanner()
	o := r.newObjects(r.counter(make([]string, len(abc)), index, make([]Use, len(abc)), nil))
	count := func(line string) (quick bool) {
		block := append([]byte(line), make([]byte, padding)...)
		met := o.mets
		if !o.count(block, len(line)) {
			t.Fatalf("%s was not counted", line)
		}
		return met == o.mets
	}
	count(`{"case":1,"x":0,"decision":"a"}`)
	for _, v := range slices.Concat(usualValues, unusualValues) {
		if strings.HasPrefix(v, "{") || strings.HasPrefix(v, "[") {
			if !count(`{"case":1,"x":` + v + `,"decision":"a"}`) {
				t.Errorf("%s where it is not wanted is not passed over", v)
			}
			continue
		}
		for _, line := range []string{`{"case":` + v + `,"x":1,"decision":0}`, `{"case":"b","x":` + v + `,"decision":` + v + ` }`} {
			if !count(line) {
				t.Errorf("%s: a key was read again", line)
			}
		}
	}
	if count(`{"case":1,"y":0,"decision":"a"}`) || !count(`{"case":1,"y":0,"decision":"a"}`) || !count(`{"case":1,"x":0,"decision":"a"}`) {
		t.Error("another key is not read once, and then known")
	}
}

// TestKeysForgotten: keys that were forgotten, being too many, are still told to stand twice.
func TestKeysForgotten(t *testing.T) {
	var many strings.Builder
	many.WriteString("{")
	for i := range maxKeys {
		fmt.Fprintf(&many, `"k%d":0,`, i)
	}
	many.WriteString("\"decision\":2,\"case\":3}\n")
	for _, last := range []string{`{"case":3,"decision":2,"x":1}`, `{"case":3," case":1,"decision":2}`, `{"decision":2,"case":3,"case":1}`, `{"decision":2,"case":3," case":1}`, `{"decision":2," case":3,"case":1}`} {
		read, problems, counted, ok := combinations("{\"case\":1,\"decision\":2}\n"+many.String()+last, Options{Columns: abc}, 1<<20)
		if ok != (len(problems) == 0) || ok && !maps.Equal(read, counted) {
			t.Errorf("%s: counted %v as %v, read as %v with %q", last, ok, counted, read, problems)
		}
	}
}

// TestNumbersAddUp: the numbers of a column are added up exactly by combination, and those that are none are for Read.
func TestNumbersAddUp(t *testing.T) {
	number := rapid.OneOf(rapid.StringMatching(`[01]?\.[0-9]{1,4}`), rapid.StringMatching(`[0-9]{1,22}`), rapid.StringMatching(`-?[0-9]{0,3}\.?[0-9]{0,20}(e-?[0-9])?`), rapid.SampledFrom([]string{"", " 1 ", "NA", "0.5", "."}))
	rapid.Check(t, func(t *rapid.T) {
		var content strings.Builder
		jsonl := rapid.Bool().Draw(t, "JSONL")
		if !jsonl {
			content.WriteString("number;group\n")
		}
		want, sums, rounded, sound := map[string]int{}, map[string]Sum{}, 0, true
		for range rapid.IntRange(1, 30).Draw(t, "rows") {
			text, group := number.Draw(t, "number"), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "group")
			switch {
			case !jsonl:
				content.WriteString(text + ";" + group + "\n")
			case isNumber([]byte(text)):
				fmt.Fprintf(&content, "{\"number\":%s,\"group\":%q}\n", text, group)
			case text == "":
				fmt.Fprintf(&content, "{\"group\":%q}\n", group)
			default:
				fmt.Fprintf(&content, "{\"number\":%q,\"group\":%q}\n", text, group)
			}
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
			row, header := "%s,%d\n", 1
			if rapid.Bool().Draw(t, "JSONL") {
				row, header = "{\"id\":\"%s\",\"part\":%d}\n", 0
			} else {
				content.WriteString("id,part\n")
			}
			for n, text := range rapid.SliceOfN(id, 1, 60).Draw(t, "ids") {
				fmt.Fprintf(&content, row, text, i)
				if text != "" && text != "NA" {
					at[text] = append(at[text], diag.Pos{File: name, Line: header + n + 1})
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
	u := newUnique(false)
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

// TestManyCombinations: rows that have more combinations than are kept are not counted, in no kind of file; with as many as are kept they
// are.
func TestManyCombinations(t *testing.T) {
	const side = 1 << 10 // its square is more than mostDense
	code := func(text string, _ bool) (int, bool, bool) {
		n, err := strconv.Atoi(text)
		return n, false, err == nil && n < side
	}
	uses := []Use{{Codes: side, Code: code}, {Codes: side, Code: code}}
	opts := Options{Columns: []Column{{Name: "a", Required: true}, {Name: "b", Required: true}}}
	for _, extra := range []int{0, 1, 3 * mostSparse} {
		csv, jsonl := strings.Builder{}, strings.Builder{}
		csv.WriteString("a,b\n")
		for i := range mostSparse + extra {
			for range 2 { // each combination twice
				fmt.Fprintf(&csv, "%d,%d\n", i%side, i/side)
				fmt.Fprintf(&jsonl, `{"a":%d,"b":%d}`+"\n", i%side, i/side)
			}
		}
		for name, content := range map[string]string{"csv": csv.String(), "jsonl": jsonl.String()} {
			opts.FS, opts.Progress = folder("f", content), &Progress{}
			var cube *Cube
			var ok bool
			withCores(1, func() { cube, _, ok = Count([]string{"f"}, opts, uses) })
			if ok != (extra == 0) || ok && cube.Rows() != 2*mostSparse {
				t.Errorf("%s: %d combinations more than are kept: counted %v", name, extra, ok)
			}
			if extra > 1 && opts.Progress.Rows() > 6*mostSparse { // of 8: two workers stop with the block in which one has too many
				t.Errorf("%s: %d rows were counted to no end", name, opts.Progress.Rows())
			}
		}
	}
}

// TestLongTextsAreForgotten: of long texts a worker keeps a few, and counts them all.
func TestLongTextsAreForgotten(t *testing.T) {
	told := map[string]int{}
	use := Use{Codes: 2, Code: func(text string, _ bool) (int, bool, bool) { return 1, true, true }, Tell: func(text string, rows int) { told[text] += rows }}
	r := newReader(Options{Columns: []Column{{Name: "a"}}}, defaultLimits(), nil, &diag.List{})
	c := r.counter([]string{"a"}, []int{0}, []Use{use}, nil)
	c.delimiter, c.telling = ',', &sync.Mutex{}
	for i := range 20 {
		text := strings.Repeat(string(rune('a'+i)), mostLong/8)
		for range 3 {
			block := append([]byte(text+"\n"), make([]byte, padding)...)
			if !c.count(block, len(text)+1) {
				t.Fatal("it was not counted")
			}
		}
		kept := 0
		for text := range c.fields[0].long {
			kept += len(text)
		}
		if kept > mostLong || kept != c.fields[0].bytes || len(c.fields[0].told) > 8 {
			t.Fatalf("after %d texts %d bytes are kept, and %d texts", i+1, kept, len(c.fields[0].told))
		}
	}
	c.finish()
	if len(told) != 20 || slices.ContainsFunc(slices.Collect(maps.Values(told)), func(n int) bool { return n != 3 }) {
		t.Errorf("%d texts were told", len(told))
	}
}

// flaky is a folder whose files fail once, when they are read beyond their first bytes.
type flaky struct{ fs.FS }

type flakyFile struct {
	fs.File
	reads int
}

func (f flaky) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	return &flakyFile{File: file}, err
}

func (f *flakyFile) Read(p []byte) (int, error) {
	if f.reads++; f.reads == 2 {
		return 0, errors.New("the disk is tired")
	}
	return f.File.Read(p[:min(len(p), 20)])
}

// TestReadFailsOnce: a file that could not be read for a moment is not counted, nor shared, since Read gives it up.
func TestReadFailsOnce(t *testing.T) {
	opts := Options{Columns: abc, FS: flaky{folder("f", "case,decision\n1,2\n3,4\n5,6\n")}}
	lim := limits{buffer: 64, head: 16, record: maxRecord, block: 64}
	checkOne(t, readLimited([]string{"f"}, opts, lim), "f:3: it cannot be read: the disk is tired")
	uses := make([]Use, len(abc))
	if _, _, ok := countWithin([]string{"f"}, opts, uses, lim); ok {
		t.Error("it was counted")
	}
	if _, ok := shareWithin([]string{"f"}, opts, func() func(Row) bool { return func(Row) bool { return true } }, lim); ok {
		t.Error("it was shared")
	}
}

// TestObjectsOverLines: objects that each begin a line are counted in blocks, however many lines they go over.
func TestObjectsOverLines(t *testing.T) {
	content := strings.Repeat("{\n  \"case\": 1,\n  \"decision\": {\"a\": [\n1, 2]},\n  \"note\": \"x\"\n}\n", 50)
	read, problems, counted, ok := combinations(content, Options{Columns: []Column{abc[0], abc[2]}}, 256)
	if !ok || len(problems) > 0 || !maps.Equal(read, counted) {
		t.Errorf("counted %v as %v, read as %v with %q", ok, counted, read, problems)
	}
}
