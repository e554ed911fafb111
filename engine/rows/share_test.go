package rows

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
)

// place is all that a row says of one value.
type place struct {
	Text     string
	Recorded bool
	Pos      diag.Pos
}

// seenRow is all that a row says.
type seenRow struct {
	File, Line int
	Pos        diag.Pos
	Values     []place
}

// seen takes a row down, each value as text and as bytes.
func seen(r Row, columns int) seenRow {
	got := seenRow{File: r.File(), Line: r.Line(), Pos: r.Pos(-1)}
	for col := range columns {
		text, recorded := r.Text(col)
		b, too := r.Bytes(col)
		if string(b) != text || too != recorded {
			text = fmt.Sprintf("%q as text and %q as bytes", text, b)
		}
		got.Values = append(got.Values, place{text, recorded, r.Pos(col)})
	}
	return got
}

// withCores calls do as if the machine had so many cores.
func withCores(n int, do func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	do()
}

// shared is what Share hands over: the rows of each function.
func shared(paths []string, opts Options, lim limits) (workers [][]seenRow, inputs []Input, ok bool) {
	var lists []*[]seenRow
	inputs, ok = shareWithin(paths, opts, func() func(Row) bool {
		list := &[]seenRow{}
		lists = append(lists, list)
		return func(r Row) bool {
			*list = append(*list, seen(r, len(opts.Columns)))
			return true
		}
	}, lim)
	for _, list := range lists {
		workers = append(workers, *list)
	}
	return workers, inputs, ok
}

// TestShareIsRead: whatever the files hold, however they are written, and with any number of cores and any size of blocks, Share either hands
// over exactly what Read does, or says that it does not know; and it knows every sound file.
func TestShareIsRead(t *testing.T) {
	piece := rapid.SampledFrom([]string{"case", "decision", ",", ",", "\n", "\n", "\r\n", "\r", "\"", "\"\"", "a", "é", "\xFF", " ", "{", "}", "}\n{", "[", "]", ":",
		"\"case\":1", "\"decision\":\"b\"", "\\u00e9", "\\", "1", "null", "x,y,z\n", "\"p\nq\",y,z\n", "{\"case\":1,\"decision\":2}\n"})
	for _, cores := range []int{1, 2, 8} {
		withCores(cores, func() {
			rapid.Check(t, func(t *rapid.T) {
				sound := rapid.Bool().Draw(t, "sound")
				var files, names []string
				for i := range rapid.IntRange(1, 2).Draw(t, "files") {
					content := rapid.SampledFrom([]string{"case,decision,note\n", "{\"case\":1,\"decision\":\"x\"}\n"}).Draw(t, "begin") +
						strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
					if sound {
						w := rapid.SampledFrom(writings).Draw(t, "writing")
						content = w.write(t, table(t)) + strings.Repeat("\n", i) // or both could be the same
						switch rapid.IntRange(0, 2).Draw(t, "compression") {
						case 1:
							content = gzipped(t, content)
						case 2:
							content = zstandard(t, content)
						}
					}
					name := fmt.Sprint("f", i)
					files, names = append(files, name, content), append(names, name)
				}
				opts := Options{Columns: abc, MissingValues: []string{"NA"}, FS: folder(files...)}
				if rapid.Bool().Draw(t, "once") {
					opts.Once = []Once{{Columns: []int{1, 2}, Same: func([]string, diag.Pos) string { return "again" }}}
				}
				lim := limits{buffer: 16, head: 64, record: maxRecord, free: 64 << 20, block: rapid.SampledFrom([]int{1, 7, 64, 4096}).Draw(t, "block")}
				problems := &diag.List{}
				var want []seenRow
				inputs := read(names, opts, lim, func(r Row) { want = append(want, seen(r, len(abc))) }, problems)
				workers, got, ok := shared(names, opts, lim)
				if !ok {
					if sound && problems.Len() == 0 {
						t.Fatal("sound files were not shared")
					}
					return
				}
				if problems.Len() > 0 {
					t.Fatalf("shared, though there is wrong: %v", problems.Err())
				}
				if d := gocmp.Diff(inputs, got); d != "" {
					t.Fatalf("inputs: %s", d)
				}
				inOrder := func(x, y seenRow) int {
					return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), x.Values[0].Pos.Compare(y.Values[0].Pos))
				}
				for _, list := range workers {
					if !slices.IsSortedFunc(list, func(x, y seenRow) int { return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line)) }) {
						t.Fatal("a function was given rows out of order")
					}
				}
				all := slices.Concat(workers...)
				slices.SortStableFunc(all, inOrder)
				slices.SortStableFunc(want, inOrder)
				if d := gocmp.Diff(want, all); d != "" {
					t.Fatalf("rows: %s", d)
				}
			})
		})
	}
}

// TestShareUsesEveryCore: no function gets all rows while another waits for some. The functions wait for each other before each takes its
// first row; would one be given all blocks, it would wait for the others in vain.
func TestShareUsesEveryCore(t *testing.T) {
	var csv, objects strings.Builder
	csv.WriteString("case,decision\n")
	for i := range 1000 {
		fmt.Fprintf(&csv, "c%d,1\n", i)
		fmt.Fprintf(&objects, "{\"case\":\"c%d\",\"decision\":true}\n", i)
	}
	for _, content := range []string{csv.String(), objects.String(), gzipped(t, objects.String())} {
		withCores(4, func() {
			var waiting atomic.Int32
			all := make(chan struct{})
			lim := limits{buffer: 16, head: 64, record: maxRecord, free: 64 << 20, block: 64}
			_, ok := shareWithin([]string{"f"}, Options{Columns: abc, FS: folder("f", content)}, func() func(Row) bool {
				first := true
				return func(Row) bool {
					if first {
						first = false
						if waiting.Add(1) == 4 {
							close(all)
						}
						select {
						case <-all:
						case <-time.After(time.Minute):
							return false
						}
					}
					return true
				}
			}, lim)
			if !ok {
				t.Error("not shared")
			}
		})
	}
}

// TestShareStops: nothing is shared once a function says that it cannot use a row, nor where the same content is given twice, nor from
// standard input, which could not be read again; nor where what a file needs is missing.
func TestShareStops(t *testing.T) {
	object := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text) + "\n"
	}
	sound := "case,decision\na,1\n"
	for _, c := range []struct {
		name  string
		paths []string
		files []string
		ok    bool
	}{
		{"sound", []string{"f"}, []string{"f", sound}, true},
		{"a row that cannot be used", []string{"f"}, []string{"f", sound + "bad,1\n"}, false},
		{"the same twice", []string{"f", "g"}, []string{"f", sound, "g", sound}, false},
		{"the same twice, once compressed", []string{"f", "g"}, []string{"f", sound, "g", gzipped(t, sound)}, false},
		{"one path twice", []string{"f", "./f"}, []string{"f", sound}, false},
		{"no such file", []string{"g"}, []string{"f", sound}, false},
		{"standard input", []string{"-"}, nil, false},
		{"no row", []string{"f"}, []string{"f", "case,decision\n"}, false},
		{"no column", []string{"f"}, []string{"f", "case\na\n"}, false},
		{"no key", []string{"f"}, []string{"f", object(map[string]int{"case": 1})}, false},
		{"a key in one object of two", []string{"f"}, []string{"f", object(map[string]int{"case": 1}) + object(map[string]int{"case": 2, "decision": 1})}, true},
		{"a stream that breaks off", []string{"f"}, []string{"f", gzipped(t, sound)[:30]}, false},
	} {
		_, ok := Share(c.paths, Options{Columns: abc, FS: folder(c.files...), Stdin: strings.NewReader(sound)}, func() func(Row) bool {
			return func(r Row) bool {
				text, _ := r.Text(0)
				return text != "bad"
			}
		})
		if ok != c.ok {
			t.Errorf("%s: shared %v, want %v", c.name, ok, c.ok)
		}
	}
}

// TestShareKeepsToTheLimit: a record that Read finds too long is not shared either, even where it is the last of its file.
func TestShareKeepsToTheLimit(t *testing.T) {
	for length := 40; length < 300; length += 13 {
		lim := limits{buffer: 16, head: 16, record: 128, free: 64 << 20, block: 24}
		opts := Options{Columns: abc, FS: folder("f", "case,decision\nb,1\n"+strings.Repeat("c", length)+",1")}
		problems := &diag.List{}
		read([]string{"f"}, opts, lim, func(Row) {}, problems)
		if _, _, ok := shared([]string{"f"}, opts, lim); ok && problems.Len() > 0 {
			t.Errorf("%d letters are shared, and %v", length, problems.Err())
		}
	}
}

// TestOnceOfSeveralIsExact: rows that are the same in several columns together are told, each with the first, and no others; and Share hands
// over the rows exactly where there are none. A plain number in the last column is kept in another way than a text.
func TestOnceOfSeveralIsExact(t *testing.T) {
	number := rapid.Map(rapid.IntRange(0, 150), func(i int) string { return fmt.Sprint(i) })
	last := rapid.OneOf(number, number, rapid.Map(rapid.IntRange(0, 9), func(i int) string { return fmt.Sprintf("%02d", i) }), rapid.SampledFrom([]string{"", "NA", "x", "9999999999999999", "99999999999999999"}))
	for _, cores := range []int{1, 3} {
		withCores(cores, func() {
			rapid.Check(t, func(t *rapid.T) {
				var content strings.Builder
				content.WriteString("case,decision\n")
				first := map[string]diag.Pos{}
				var want []string
				for line := range rapid.IntRange(1, 120).Draw(t, "rows") {
					texts := []string{rapid.SampledFrom([]string{"a", "b", "c", "1", "12"}).Draw(t, "case"), last.Draw(t, "decision")}
					key := strings.Join(texts, ",")
					content.WriteString(key + "\n")
					if texts[1] == "" || texts[1] == "NA" {
						continue
					}
					at := diag.Pos{File: "f", Line: line + 2}
					if met, again := first[key]; again {
						want = append(want, at.String()+": "+sameID(texts, met))
					} else {
						first[key] = at
					}
				}
				opts := Options{Columns: abc, MissingValues: []string{"NA"}, Once: []Once{{[]int{0, 1}, sameID}}, FS: folder("f", content.String())}
				if got := readAll([]string{"f"}, opts).diags; !slices.Equal(got, want) {
					t.Fatal(gocmp.Diff(want, got))
				}
				lim := limits{buffer: 16, head: 64, record: maxRecord, free: 64 << 20, block: 32}
				if _, _, ok := shared([]string{"f"}, opts, lim); ok != (len(want) == 0) {
					t.Fatalf("shared: %v, with %d repetitions", ok, len(want))
				}
			})
		})
	}
}

// TestRunsStaySmall: numbers that do not lie densely begin runs only as long as these are few, and what stands in one
// stays there. A batch of numbers beyond them is kept as hashes.
func TestRunsStaySmall(t *testing.T) {
	var p part
	u := newUnique(true)
	key := func(i int) run {
		r, is := u.run(fmt.Appendf(nil, "case\xFF%d", 64*i+i%64))
		if !is {
			t.Fatalf("%d is in no run", i)
		}
		return r
	}
	const n = 3 * freeRuns
	for i := range n {
		if twice, is := p.add(key(i)); twice != 0 || is != (i < freeRuns) {
			t.Fatalf("%d was there, or is not where it belongs", i)
		}
	}
	if p.runs.n != freeRuns {
		t.Errorf("%d runs for %d numbers, each far from the next", p.runs.n, n)
	}
	for i := range n {
		r := key(i)
		if twice, is := p.add(r); is != (i < freeRuns) || is && twice != r.bits {
			t.Fatalf("%d was not there, or is not where it was", i)
		}
	}
	// Dense numbers begin as many as they need.
	p = part{}
	for i := range 64 * n {
		r, _ := u.run(fmt.Appendf(nil, "case\xFF%d", i))
		if twice, is := p.add(r); twice != 0 || !is {
			t.Fatalf("%d was there, or is in no run", i)
		}
	}
	if p.runs.n != n {
		t.Errorf("%d runs for %d numbers in a row", p.runs.n, 64*n)
	}
	// Numbers far apart and next to each other, twice: each is a suspect.
	for _, far := range []int{1, 64} {
		u := newUnique(true)
		for i := range u.parts {
			u.parts[i].frozen = far > 1
		}
		b := u.batch()
		for i := range 4000 {
			b.add(fmt.Appendf(nil, "case\xFF%d", far*(i%2000)))
		}
		b.end()
		if !u.repeated() || u.suspects.n != 2000 || !u.suspects.has(u.hash(fmt.Appendf(nil, "case\xFF%d", far*7))) {
			t.Errorf("%d suspects of 2000", u.suspects.n)
		}
	}
}
