package policy

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oloproof/oloproof/engine/diag"
)

// parse returns the document's root and what was found.
func parse(t *testing.T, data string) (*Map, *diag.List) {
	t.Helper()
	var diags diag.List
	doc := Parse("p.yaml", []byte(data), &diags)
	if doc == nil {
		t.Fatalf("no document: %v", diags.Err())
	}
	return doc.Root, &diags
}

func TestMaxBytes(t *testing.T) {
	rule := "rules: [{id: a, metric: agreement, minimum: 0.5}]\n#"
	fits := rule + strings.Repeat("x", MaxBytes-len(rule))
	if r := read("p.yaml", []byte(fits), humanAI); r.diags.Len() != 0 {
		t.Errorf("exactly 1 MiB: %s", r.problems())
	}
	r := read("p.yaml", []byte(fits+"x"), humanAI)
	// 1 MiB = 1024 * 1024 = 1048576
	if want := "p.yaml: the policy is 1048577 bytes long; at most 1048576 (1 MiB) are allowed\n"; r.problems() != want {
		t.Errorf("1 MiB and a byte: got %s", r.problems())
	}
}

// TestTextsAsWritten: YAML readers disagree about these scalars; as texts they are what stands in the file.
func TestTextsAsWritten(t *testing.T) {
	m, diags := parse(t, `a: [no, 010, 1.0, 2026-01-01, .nan, 0x10, 1_000, +1, "q\t", 'it''s', "", "null"]
b: |
  two
  lines
c: >-
  one
  line
d: a  plain#text # and a comment
`)
	var got []string
	for _, text := range m.Texts("a") {
		got = append(got, text.Value)
	}
	got = append(got, m.Text("b").Value, m.Text("c").Value, m.Text("d").Value)
	want := []string{"no", "010", "1.0", "2026-01-01", ".nan", "0x10", "1_000", "+1", "q\t", "it's", "", "null",
		"two\nlines\n", "one line", "a  plain#text"}
	if diff := cmp.Diff(want, got); diff != "" || diags.Len() != 0 {
		t.Errorf("texts (-want +got):\n%s%v", diff, diags.Err())
	}
}

func TestNumbers(t *testing.T) {
	for in, want := range map[string]float64{
		"0": 0, "1": 1, ".5": 0.5, "5.": 5, "-0.25": -0.25, "+0.25": 0.25, "5e-1": 0.5, "2E2": 200,
		"010":    10, // decimal in YAML 1.2; 1.1 read it as octal 8
		"-0":     0,
		"0e-999": 0,
	} {
		m, diags := parse(t, "x: "+in)
		n := m.Number("x", Range{Min: -1000, Max: 1000})
		if !n.Set || n.Value != want || n.Text != in || diags.Len() != 0 {
			t.Errorf("%s is read as %+v (%v), want %v", in, n, diags.Err(), want)
		}
	}
	for _, in := range []string{".nan", ".NaN", ".inf", "-.Inf", "nan", "inf", "Infinity", "0x1p-2", "0o7", "1_000", "1,5", "1e", "e1", ".",
		"1 2", "true", "null", "", "[1]", "{a: 1}", `"1"`, "'1'", "1e999", "-1e999", "1e-400", "-0.1e-999", "12:30", "½", "١"} {
		m, diags := parse(t, "x: "+in)
		if n := m.Number("x", Range{Min: -1000, Max: 1000}); n.Set || diags.Len() != 1 || n.Pos.Line != 1 {
			t.Errorf("%s is read as %+v, with problems %v", in, n, diags.Err())
		}
	}
}

// TestEndsOfRanges: a decimal just outside of an end is outside, although the nearest float64 is the end; so is one just below an
// end that does not belong to the range.
func TestEndsOfRanges(t *testing.T) {
	unit, half := Range{Min: 0, Max: 1}, Range{Min: 0.5, Max: 1, BelowMax: true}
	for _, c := range []struct {
		text   string
		r      Range
		inside bool
	}{
		{"1", unit, true}, {"1.0", unit, true}, {"10e-1", unit, true}, {"0", unit, true}, {"-0", unit, true}, {"0.00", unit, true}, {"0e999999999", unit, true},
		{"0.9999999999999999999", unit, true}, {"1.0000000000000000001", unit, false}, {"1000000000000000000.1e-18", unit, false}, {"-1e-300", unit, false},
		{"0.5", half, true}, {"5e-1", half, true}, {"0.50000000000000000001", half, true}, {"0.49999999999999999999", half, false}, {"1", half, false},
		{"0.999999999999999999999", half, false}, // nothing between it and 1 can be computed with
		{"-1.0000000000000000001", Range{Min: -1, Max: 1}, false}, {"-0.99999999999999999999", Range{Min: -1, Max: 1}, true},
	} {
		m, diags := parse(t, "x: "+c.text)
		if n := m.Number("x", c.r); n.Set != c.inside || (diags.Len() == 0) != c.inside {
			t.Errorf("%s in %s: %t (%v), want %t", c.text, c.r, n.Set, diags.Err(), c.inside)
		}
	}
	m, diags := parse(t, "x: 1e-400")
	m.Number("x", unit)
	if want := `p.yaml:1:4: x: found "1e-400"; the number is too small to be told from 0; write 0, or a larger one`; diags.Len() != 1 || diags.Err().Error() != want {
		t.Errorf("got %v, want %s", diags.Err(), want)
	}
}

// TestDecimalCommaInFlow: in a flow mapping a comma ends the entry, and what follows it is told as what it is. A key of digits after
// anything else is just unknown.
func TestDecimalCommaInFlow(t *testing.T) {
	for data, want := range map[string]string{
		"{x: 0,05}":     `p.yaml:1:7: found "05" after x: 0, where a comma ends the entry; write a decimal point, as in 0.05`,
		"{x: -1,5}":     `p.yaml:1:8: found "5" after x: -1, where a comma ends the entry; write a decimal point, as in -1.5`,
		"{x: 0, 05: 1}": `p.yaml:1:8: unknown key "05" in the test; allowed: x`,
		"{x: a,05}":     `p.yaml:1:7: unknown key "05" in the test; allowed: x`,
		"{05, x: 1}":    `p.yaml:1:2: unknown key "05" in the test; allowed: x`,
	} {
		m, diags := parse(t, data)
		m.Text("x")
		m.Done("the test")
		if diags.Len() != 1 || diags.Err().Error() != want {
			t.Errorf("%s\n got %v\nwant %s", data, diags.Err(), want)
		}
	}
}

func TestIntAndBool(t *testing.T) {
	for in, want := range map[string]Int{"2": {Value: 2, Set: true}, "010": {Value: 10, Set: true}, "+7": {Value: 7, Set: true}, "1": {}, "11": {}, "2.0": {},
		"2e0": {}, "-3": {}, "0x5": {}, `"5"`: {}, "[5]": {}, "99999999999999999999": {}} {
		m, diags := parse(t, "x: "+in)
		got := m.Int("x", 2, 10)
		if got.Value != want.Value || got.Set != want.Set || diags.Len() == 0 != want.Set {
			t.Errorf("%s is read as %+v (%v), want %+v", in, got, diags.Err(), want)
		}
	}
	for in, want := range map[string]Bool{"true": {Value: true, Set: true}, "False": {Set: true}, "TRUE": {Value: true, Set: true}, "yes": {}, "on": {},
		"1": {}, "tRUE": {}, `"true"`: {}, "[true]": {}, "null": {}} {
		m, diags := parse(t, "x: "+in)
		got := m.Bool("x")
		if got.Value != want.Value || got.Set != want.Set || diags.Len() == 0 != want.Set {
			t.Errorf("%s is read as %+v (%v), want %+v", in, got, diags.Err(), want)
		}
	}
}

// TestMap: what a reader of keys can rely on.
func TestMap(t *testing.T) {
	m, diags := parse(t, "one: {a: 1}\nmany: [{b: 2}, {c: 3}]\nempty: []\nscalar: x\nlist: [x, y]\n")
	if first := m.Map("one"); first != m.Map("one") {
		t.Error("a Map asked for again is another, so what was asked of it is forgotten")
	}
	if got := m.Maps("many"); len(got) != 2 || got[1].Pos().String() != "p.yaml:2:17" {
		t.Errorf("Maps = %v", got)
	}
	if got := m.Maps("empty"); got == nil || len(got) != 0 {
		t.Errorf("an empty list is %v", got)
	}
	if m.Maps("absent") != nil || m.Map("absent") != nil || m.Texts("absent") != nil || m.TextMap("absent") != nil || m.TextOrTexts("absent") != nil ||
		m.Text("absent").Set || m.Bool("absent").Set || m.Int("absent", 0, 1).Set || m.Number("absent", Range{}).Set {
		t.Error("an absent key has a value")
	}
	if got := m.TextOrTexts("scalar"); len(got) != 1 || got[0].Value != "x" {
		t.Errorf("TextOrTexts = %v", got)
	}
	if got := m.TextOrTexts("list"); len(got) != 2 || got[1].Pos.String() != "p.yaml:5:11" {
		t.Errorf("TextOrTexts = %v", got)
	}
	if diff := cmp.Diff([]string{"one", "many", "empty", "absent", "scalar", "list"}, m.Allowed()); diff != "" {
		t.Errorf("Allowed (-want +got):\n%s", diff)
	}
	m.Done("the test")
	if diags.Len() != 0 {
		t.Errorf("problems: %v", diags.Err())
	}
	one := m.Map("one")
	if !one.Has("a") {
		t.Error("Has is false")
	}
	one.Done("one")
	if want := `p.yaml:1:7: unknown key "a" in one; allowed: `; diags.Len() != 1 || diags.Err().Error() != want {
		t.Errorf("Has counts as asking: %v", diags.Err())
	}
	// A nil Map stands for a mapping that is not there, and has no keys.
	var none *Map
	if none.Has("a") || none.Text("a").Set || none.Map("a") != nil || none.Allowed() != nil || none.Pos() != (diag.Pos{}) || none.KeyPos("a") != (diag.Pos{}) {
		t.Error("a nil Map has something")
	}
	none.Done("nothing")
	none.Errorf(diag.Pos{}, "nothing")
}

// TestWrongKind: every reader says what it found instead.
func TestWrongKind(t *testing.T) {
	readers := map[string]func(*Map){
		"text":    func(m *Map) { m.Text("x") },
		"number":  func(m *Map) { m.Number("x", Range{Max: 1}) },
		"int":     func(m *Map) { m.Int("x", 0, 1) },
		"bool":    func(m *Map) { m.Bool("x") },
		"texts":   func(m *Map) { m.Texts("x") },
		"either":  func(m *Map) { m.TextOrTexts("x") },
		"textmap": func(m *Map) { m.TextMap("x") },
		"map":     func(m *Map) { m.Map("x") },
		"maps":    func(m *Map) { m.Maps("x") },
		"lists":   func(m *Map) { m.Lists("x") },
		"numbers": func(m *Map) { m.Numbers("x") },
	}
	for _, tc := range []struct{ data, found, readers string }{
		{"x: [[]]", "a list", "text number int bool textmap map texts either maps numbers"},
		{"x: {a: []}", "a mapping", "text number int bool texts either maps lists numbers"},
		{"x: {a: []}", "a list", "textmap"},
		{"x:", "nothing", "text number int bool texts either textmap map maps lists numbers"},
		{"x: ~", "~ without quotes", "text number int bool texts either textmap map maps lists numbers"},
		{"x: [null]", "null without quotes", "texts either maps lists numbers"},
		{"x: [[null]]", "null without quotes", "lists"},
		{"x: word", `"word"`, "number int bool texts textmap map maps lists numbers"},
		{`x: "1"`, `the quoted text "1"`, "number int bool"},
	} {
		for _, name := range strings.Fields(tc.readers) {
			m, diags := parse(t, tc.data)
			readers[name](m)
			items, _ := diags.Sorted()
			if len(items) != 1 || !strings.Contains(items[0].Message, "found "+tc.found+"; ") {
				t.Errorf("%s read as %s: %v", tc.data, name, diags.Err())
			}
		}
	}
}

// TestNumberAdvice: what a number that cannot be read should be written as. A number without a per-cent sign is no
// percentage, whatever stands around it.
func TestNumberAdvice(t *testing.T) {
	for _, tc := range []struct{ written, want string }{
		{`"0.5"`, "write the number without quotes"},
		{`"0.5 "`, "write the number without quotes and spaces, as 0.5"},
		{`" 50"`, "write the number without quotes and spaces, as 50"},
		{`5%`, "write it as 0.05"},
		{`" 5 % "`, "write it as 0.05"},
		{`0.5 %`, "write it as 0.005"},
		{`"-2.5%"`, "write it as -0.025"},
		{`"0,5 "`, "write a decimal point, as in 0.5"},
		{`5 %%`, "a finite decimal number is wanted, such as 0.5"},
		{`"%"`, "a finite decimal number is wanted, such as 0.5"},
		{`0.5 percent`, "a finite decimal number is wanted, such as 0.5"},
	} {
		m, diags := parse(t, "x: "+tc.written)
		m.Number("x", Range{Max: 1})
		items, _ := diags.Sorted()
		if len(items) != 1 || !strings.HasSuffix(items[0].Message, "; "+tc.want) {
			t.Errorf("%s: %v, want %s", tc.written, diags.Err(), tc.want)
		}
	}
}

// TestHostileSize: long files of what a parser could choke on are answered, whatever the answer. Nothing here asserts a
// time; work that grows with the square of the length would make the test unbearably slow.
func TestHostileSize(t *testing.T) {
	const size = MaxBytes / 4 // long enough to tell, and quick under the race detector
	for name, unit := range map[string]string{
		"open brackets": "[", "open braces": "{a: ", "dashes": "- ", "question marks": "? ", "colons": ": ", "quotes": `"`,
		"keys": "k: 1\n", "rules": "- {}\n", "tags": "! ", "anchors": "&a ", "comments": "# x\n", "blank lines": "\n", "bangs": "!",
	} {
		for _, start := range []string{"", "rules:\n"} {
			data := []byte(start)
			data = append(data, bytes.Repeat([]byte(unit), (size-len(start))/len(unit))...)
			if r := read("p.yaml", data, humanAI); r.diags.Len() == 0 {
				t.Errorf("%s after %q: no problem", name, start)
			}
		}
	}
	one := func(name, start, unit, end string) {
		data := start + strings.Repeat(unit, (size-len(start)-len(end))/len(unit)) + end
		if r := read("p.yaml", []byte(data), humanAI); r.diags.Len() == 0 {
			t.Errorf("%s: no problem", name)
		}
	}
	one("a line of many values", "rules: [", "a,", "]")
	one("a line of many rules", "rules: [", "{id: a, minimun: 1}, ", "{}]")
	one("many columns", "columns: {", "a: b, ", "c: d}\nrules: []")
	one("a long key", "", "k", ": 1")
	one("a long number", "confidence: ", "9", "")
	one("a long id", "rules: [{metric: agreement, minimum: 0.5, id: ", "é", "}]")
	one("many documents", "", "--- a\n", "")
}

// TestLists: lists of lists, lists of numbers and keys that a person chose.
func TestLists(t *testing.T) {
	m, diags := parse(t, "sex: [f, m]\nage: {bins: [30, 60.50, -1]}\nboth: [[sex, age], [a], []]\nempty: []\n")
	var keys []string
	for _, k := range m.Keys() {
		keys = append(keys, k.Value+" "+k.Pos.String())
	}
	if diff := cmp.Diff([]string{"sex p.yaml:1:1", "age p.yaml:2:1", "both p.yaml:3:1", "empty p.yaml:4:1"}, keys); diff != "" {
		t.Errorf("Keys (-want +got):\n%s", diff)
	}
	if !m.IsMapping("age") || m.IsMapping("sex") || m.IsMapping("absent") || m.Allowed() != nil {
		t.Errorf("IsMapping(age), (sex), (absent) = %t, %t, %t; asked for %v", m.IsMapping("age"), m.IsMapping("sex"), m.IsMapping("absent"), m.Allowed())
	}
	numbers := m.Map("age").Numbers("bins")
	if len(numbers) != 3 || numbers[1] != (Number{Text: "60.50", Value: 60.5, Pos: diag.Pos{File: "p.yaml", Line: 2, Column: 18}, Set: true}) || numbers[2].Value != -1 {
		t.Errorf("Numbers = %+v", numbers)
	}
	lists := m.Lists("both")
	if len(lists) != 3 || len(lists[0].Items) != 2 || lists[0].Items[1].Value != "age" || lists[0].Items[1].Pos.Column != 14 || len(lists[1].Items) != 1 || len(lists[2].Items) != 0 ||
		lists[2].Pos.String() != "p.yaml:3:25" {
		t.Errorf("Lists = %v", lists)
	}
	if m.Lists("empty") == nil || m.Numbers("empty") == nil || m.Lists("absent") != nil || m.Numbers("absent") != nil {
		t.Error("an empty list is nil, or an absent one is not")
	}
	var none *Map
	if none.Keys() != nil || none.IsMapping("a") || none.Lists("a") != nil || none.Numbers("a") != nil {
		t.Error("a nil Map has something")
	}
	if diags.Len() != 0 {
		t.Errorf("problems: %v", diags.Err())
	}
	// What cannot be read is reported at its place; a list with such an item is left out whole, a number alone.
	m, diags = parse(t, "both: [[a, b], [c, [d]], e, [f, g]]\nbins: [30, \"60\", 5 %, {}, 90]\n")
	if lists := m.Lists("both"); len(lists) != 2 || lists[1].Items[0].Value != "f" {
		t.Errorf("Lists = %v", lists)
	}
	if numbers := m.Numbers("bins"); len(numbers) != 2 || numbers[1].Text != "90" {
		t.Errorf("Numbers = %v", numbers)
	}
	want := `p.yaml:1:20: both: found a list; a text is wanted
p.yaml:1:26: both: found "e"; a list of lists of texts is wanted, such as [[a, b]]
p.yaml:2:12: bins: found the quoted text "60"; write the number without quotes
p.yaml:2:18: bins: found "5 %"; write it as 0.05
p.yaml:2:23: bins: found a mapping; a finite decimal number is wanted, such as 0.5`
	if err := diags.Err(); err == nil || err.Error() != want {
		t.Errorf("problems:\n%v\nwant\n%s", err, want)
	}
}
