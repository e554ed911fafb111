package study

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/oloproof/oloproof/engine/diag"
)

func TestReadItems(t *testing.T) {
	abc := []string{"a", "b", "c"}
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"a list", "a\nb\nc\n", abc},
		{"no line end", "a\nb\nc", abc},
		{"header", "item\na\nb\nc\n", abc},
		{"header in capitals, byte-order mark, CRLF, spaces", "\ufeffITEM \r\n a\r\nb\t\r\n\u00a0c\r\n", abc},
		{"a column in quotes", "\"item\"\n\"a\"\n\"b, \"\"c\"\"\"\n", []string{"a", `b, "c"`}},
		{"quotes inside", "item\nthe \"x\"\n\"y\"\n", []string{`the "x"`, "y"}},
		{"delimiters under a header", "item\na,1\nb;2\n{c|3}\n", []string{"a,1", "b;2", "{c|3}"}},
		{"delimiters after the first line", "a\nb,2\n", []string{"a", "b,2"}},
		{"a first id in quotes", "\"a, b\"\nc\n", []string{"a, b", "c"}},
		{"item is an id too", "item\nitem\nitems\n", []string{"item", "items"}},
		{"what a spreadsheet shows wrongly", "-17\n@ann b\n+1\n=A1\n-dQw4w9WgXcQ\n", []string{"-17", "@ann b", "+1", "=A1", "-dQw4w9WgXcQ"}},
		{"CSV", "text,item\n\"x\ny\",a\nz,b\nz,\"c\"\n", abc},
		{"CSV with semicolons and a header in quotes", "\"item\";\"text\"\r\na;\"x;y\"\r\nb;z,z\r\nc;\r\n", abc},
		{"CSV with tabs", "item\ttext\na\tx\nb\ty\nc\tz\n", abc},
		{"CSV with its delimiter declared", "sep=|\nitem|text\na|x\nb|y\nc|z\n", abc},
		{"CSV whose header another delimiter splits too", "item,a;b\na,1\nb,2\nc,3\n", abc},
		{"JSONL", "{\"item\": \"a\"}\n{\"text\": \"x\", \"item\": \"b\"}\n{\"item\": \"c\"}\n", abc},
		{"JSONL after blank lines, numbers", "\n {\"item\": 1}\n{\"item\": 2}\n", []string{"1", "2"}},
		{"compressed", gzipped(t, "item\na\nb\nc\n"), abc},
		{"one item", "a", []string{"a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "items")
			if err := os.WriteFile(path, []byte(test.text), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, from := range []string{path, "-"} {
				var diags diag.List
				items := ReadItems(from, iotest.OneByteReader(strings.NewReader(test.text)), &diags)
				if err := diags.Err(); err != nil {
					t.Fatalf("from %s: %v", from, err)
				}
				if diff := cmp.Diff(test.want, items.ids); diff != "" {
					t.Errorf("from %s (-want +got):\n%s", from, diff)
				}
			}
		})
	}
}

func TestReadItemsReportsEveryProblem(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"an empty file", "", []string{"-: no item was found: the file is empty"}},
		{"a header alone", "item\n", []string{"-: there is a header but no item: at least 1 is needed"}},
		{"a table with a header alone", "item,text\n", []string{"-: there is a header but no row: every file needs one"}},
		{"ids", "a\n\n  a\nb\x00\n\xff\n=cmd|' /C calc'!A0\n＝SUM（1）\n@x(y)\n\"a\"\n\"x\" y\n\u200d\tz\n", []string{
			"-:2:1: this id is empty: an id needs at least one character that is not a space",
			`-:3:3: the item "a" is the same as at -:1:1: each item may stand once`,
			`-:4:1: the id "b\x00" has the control character U+0000: ids are text on one line`,
			`-:5:1: the id "\xff" is not valid UTF-8`,
			`-:6:1: the id "=cmd|' /C calc'!A0" begins with '=', and a spreadsheet could run it as a formula: put a letter or a digit before it, here and in the labels`,
			`-:7:1: the id "＝SUM（1）" begins with '＝', and a spreadsheet could run it as a formula: put a letter or a digit before it, here and in the labels`,
			`-:8:1: the id "@x(y)" begins with '@', and a spreadsheet could run it as a formula: put a letter or a digit before it, here and in the labels`,
			`-:9:1: the item "a" is the same as at -:1:1: each item may stand once`,
			"-:10:1: this line begins with a quote that does not enclose all of it: put the whole id in quotes, and double those inside",
			`-:11:1: the id "\u200d\tz" has the control character U+0009: ids are text on one line`,
		}},
		{"a first line in half a quote", "\"a\nb\n", []string{
			"-:1:1: this line begins with a quote that does not enclose all of it: put the whole id in quotes, and double those inside",
		}},
		{"old line ends", "a\rb\r", []string{`-:1:1: the id "a\rb" has the control character U+000D: ids are text on one line`}},
		{"CSV", "text,item\nx,a\ny\nz,\nz, a\nz,\"\nb\"\nz,\"b\nc\"\n", []string{
			`-:3:2: the row has 1 field and the header 2: nothing stands for "item"`,
			"-:4:3: this row has no item: every row needs one",
			`-:5:3: the item "a" is the same as at -:2:3: each item may stand once`,
			// The first line end is at an end of the id, and dropped like a space.
			`-:8:3: the id "b\nc" has the control character U+000A: ids are text on one line`,
		}},
		{"JSONL", "{\"item\": \"a\"}\n{\"id\": \"b\"}\n{\"item\": null}\n{\"item\": \"a\"}\n{\"item\": [1]}\n\n{\"item\": \"a\"}\n", []string{
			"-:2: this row has no item: every row needs one",
			"-:3:10: this row has no item: every row needs one",
			`-:4:10: the item "a" is the same as at -:1:10: each item may stand once`,
			`-:5:10: `, `-:7:10: the item "a" is the same as at -:1:10: each item may stand once`,
		}},
		{"a table without the column", "id,text\n1,x\n", []string{
			"-:1:1: this line has a character that separates columns, and no column is called item: in a table, name the column that holds the ids item; in a list of ids, write item alone on a first line",
		}},
		{"a table with nearly the column", "text;Item\n1;x\n", []string{
			`-:1:1: this header has the column "Item" and none called item: rename the column that holds the ids`,
		}},
		{"a header in quotes without the column", "\"id\",\"text\"\n", []string{
			"-:1:1: this line has a character that separates columns, and no column is called item: in a table, name the column that holds the ids item; in a list of ids, write item alone on a first line",
		}},
		{"UTF-16", "\xff\xfea\x00\n\x00", []string{"-: it is in UTF-16LE: save it as UTF-8"}},
		{"a spreadsheet", "PK\x03\x04\x14\x00\x00", []string{"-: it is a zip archive (as .xlsx spreadsheets are): CSV and JSONL are read, plain or compressed with gzip or zstd"}},
		{"Latin-1", "caf\xe9\n", []string{"-:1:4: the byte 0xE9 is not UTF-8: save the file as UTF-8"}},
		{"a long line", "a\n" + strings.Repeat("b", maxLine+1) + "\n", []string{"-:2: the line is longer than 1 MiB: a list has one id a line"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var diags diag.List
			ReadItems("-", strings.NewReader(test.text), &diags)
			checkProblems(t, &diags, test.want)
		})
	}
}

func TestReadItemsThatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	absent := filepath.Join(folder, "absent")
	for _, test := range []struct {
		path  string
		stdin io.Reader
		want  string
	}{
		{absent, nil, absent + ": the items cannot be read: there is no such file"},
		{folder, nil, folder + ": the items cannot be read: it is a folder; name a file"},
		{os.DevNull, nil, os.DevNull + ": the items cannot be read: it is a pipe or a device; pass its content on standard input, as -"},
		{"-", nil, "-: the items cannot be read: there is no standard input here"},
		{"-", io.MultiReader(strings.NewReader("a\nb\n"), iotest.ErrReader(errors.New("unplugged"))), "-:3: the items cannot be read: unplugged"},
	} {
		var diags diag.List
		ReadItems(test.path, test.stdin, &diags)
		checkProblems(t, &diags, []string{test.want})
	}
}

func TestItemsLikeFormulas(t *testing.T) {
	items := itemsOf(t, []string{"a", "-1", "@b", "c-d", "＋3"})
	if items.LikeFormulas() != 3 || items.Len() != 5 {
		t.Errorf("%d of %d items are like formulas, want 3 of 5", items.LikeFormulas(), items.Len())
	}
	var diags diag.List
	items.Add("a ", diag.Pos{}, &diags) // from no file
	checkProblems(t, &diags, []string{`the item "a" is the same as number 1: each item may stand once`})
}

func TestReadDrawReportsEveryProblem(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"values", "item,visibility,inclusion_probability\na,Blind,0.2\n,blind,0\nb,visible,20%\nb,blind,0.2\nc,,\n", []string{
			`-:2:3: visibility is "Blind"; write "visible" or "blind"`,
			"-:3:1: this id is empty: an id needs at least one character that is not a space",
			`-:3:8: inclusion_probability: found "0": ` + allowedChance,
			`-:4:11: inclusion_probability: found "20%": a decimal number such as 0.25 or 1e-3 is allowed`,
			`-:5:1: the item "b" is the same as at -:4:1: each item may stand once`,
			`-:6:3: visibility is ""; write "visible" or "blind"`,
			`-:6:4: inclusion_probability: found "": a decimal number such as 0.25 or 1e-3 is allowed`,
		}},
		{"another file", "case,reviewer\nc1,r1\n", []string{"-:1: no required column is in this line"}},
		{"an emptied file", "", []string{"-: no row was found: the file is empty"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var diags diag.List
			ReadDraw("-", strings.NewReader(test.text), &diags)
			checkProblems(t, &diags, test.want)
		})
	}
}

// checkProblems compares diagnostics with what they begin with.
func checkProblems(t *testing.T, diags *diag.List, want []string) {
	t.Helper()
	list, _ := diags.Sorted()
	var got []string
	for i, d := range list {
		text := d.String()
		if i < len(want) && strings.HasPrefix(text, want[i]) {
			text = want[i]
		}
		got = append(got, text)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// FuzzDraw gives any text as a list of items: either there is a problem, or the draw is written as a table that is
// read back as it is, and whose cells no spreadsheet runs.
func FuzzDraw(f *testing.F) {
	f.Add("item\na\nb, 2\n\"c\"\n", "0.2", 2)
	f.Add("text;item\nx;a\ny;\"b\"\n", "1e-18", 0)
	f.Add("{\"item\": \"a\"}\n{\"item\": \"\\u00e9\"}", "1", 20)
	f.Add("-1\n@x\n=1+cmd|' /C calc'!A0\n", "0.5", 1)
	f.Add("\ufeff\"\"\"\"\n\\.\n #\n", "0.5", 1)
	f.Fuzz(func(t *testing.T, text, rate string, floor int) {
		var diags diag.List
		items := ReadItems("-", strings.NewReader(text), &diags)
		r, err := ParseChance(rate)
		if diags.Len() > 0 || err != nil {
			if err := diags.Err(); err != nil && !utf8.ValidString(err.Error()) {
				t.Fatalf("the message is not valid UTF-8: %q", err)
			}
			return
		}
		drawn, err := Draw(items, r, floor, "s")
		if err != nil {
			if floor >= 0 {
				t.Fatal(err)
			}
			return
		}
		blind := 0
		for _, d := range drawn {
			if d.Blind {
				blind++
			}
			if likeFormula(d.Item) && strings.ContainsAny(d.Item, "(|!'\"[") {
				t.Fatalf("%q was taken", d.Item)
			}
		}
		if blind < min(floor, len(drawn)) {
			t.Fatalf("%d items are blind, want at least %d", blind, floor)
		}
		written := csvOf(t, drawn)
		if diff := drawDiff(drawn, ReadDraw("-", strings.NewReader(written), &diags)); diff != "" || diags.Len() > 0 {
			t.Fatalf("reading back changed (-written +read):\n%s%v", diff, diags.Err())
		}
	})
}
