package rows

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"

	"github.com/oloproof/oloproof/engine/diag"
)

// TestProblems has one file for each message, with the position counted by hand.
func TestProblems(t *testing.T) {
	const h = "case,decision\n"
	for _, tt := range []struct{ name, content, want string }{
		// The file as a whole.
		{"empty", "", "f: no row was found: the file is empty"},
		{"only a byte-order mark", "\xEF\xBB\xBF", "f: no row was found: the file is empty"},
		{"only line ends", "\n\r\n\n", "f: no row was found: the file is empty"},
		{"header alone", h, "f: there is a header but no row: every file needs one"},
		{"header alone without a line end", "case,decision", "f: there is a header but no row: every file needs one"},
		{"old Mac line ends", "case,decision,x\r1,a,b\r", `f: there is a header but no row: every file needs one (its lines end in a carriage return alone: save it with line feeds)`},
		{"UTF-16 with a mark", "\xFF\xFE" + utf16Text(h+"1,a\n", false), "f: it is in UTF-16LE: save it as UTF-8"},
		{"UTF-16 big-endian with a mark", "\xFE\xFF" + utf16Text(h+"1,a\n", true), "f: it is in UTF-16BE: save it as UTF-8"},
		{"UTF-16 without a mark", utf16Text(h+"1,a\n", false), "f: it is in UTF-16LE: save it as UTF-8"},
		{"UTF-16 big-endian without a mark", utf16Text(h+"1,a\n", true), "f: it is in UTF-16BE: save it as UTF-8"},
		{"UTF-16 JSONL", utf16Text(`{"case":1}`, false), "f: it is in UTF-16LE: save it as UTF-8"},
		{"UTF-32 with a mark", "\xFF\xFE\x00\x00c\x00\x00\x00", "f: it is in UTF-32LE: save it as UTF-8"},
		{"UTF-32 without a mark", "\x00\x00\x00c\x00\x00\x00a", "f: it is in UTF-32BE: save it as UTF-8"},
		{"UTF-32 little-endian without a mark", "c\x00\x00\x00a\x00\x00\x00", "f: it is in UTF-32LE: save it as UTF-8"},
		{"spreadsheet", "PK\x03\x04\x14\x00", "f: it is a zip archive (as .xlsx spreadsheets are): CSV and JSONL are read, plain or compressed with gzip or zstd, and Parquet"},

		// The header of a CSV file.
		{"Latin-1 in the header", "case,d\xE9cision\n1,a\n", "f:1:7: the byte 0xE9 is not UTF-8: save the file as UTF-8"},
		{"a column is missing", "case,verdict\n1,a\n", `f:1: the column "decision" is missing: add it, or name the one that holds it under columns in the policy`},
		{"another letter case", "case;Decision\n1;a\n", `f:1: the column "decision" is missing; there is "Decision": rename it, or write columns: {decision: "Decision"} in the policy`},
		{"a slip of the pen", "case;decison\n1;a\n", `f:1: the column "decision" is missing; there is "decison": rename it, or write columns: {decision: "decison"} in the policy`},
		{"no header", "1,a\n2,b\n", `f:1: no required column is in this line, which must be the header (columns "case", "decision"; delimiter "," or ";" or "\t" or "|")`},
		{"a JSON array", `[{"case":1,"decision":"a"}]`, "f: it is a JSON array: write its objects one a line, without the brackets and the commas between them"},
		{"a delimiter that is not looked for", "case:decision\n1:a\n", `f:1: no required column is in this line, which must be the header (columns "case", "decision"; delimiter "," or ";" or "\t" or "|")`},
		{"two delimiters", "case,decision;case;decision,case;y\n", `f:1: the column "decision" is missing: add it, or name the one that holds it under columns in the policy`},
		{"several delimiters fit", "case,decision,y;case;decision;z\n", `f:1: the header can be read with the delimiters "," and ";": name one with --delimiter`},
		{"a needed name twice", "case, decision,x,\"decision\"\n1,a,b,c\n", `f:1:18: the column "decision" stands twice in the header: keep the one that is meant`},
		{"a quote in the header", "ca\"se,decision\n1,a\n", "f:1:3: a quote stands inside an unquoted field: put the whole field in quotes (no space before them) and double the ones inside"},
		{"the declared delimiter is wrong", "sep=;\ncase,decision\n1,a\n", `f:2: no required column is in this line, which must be the header (columns "case", "decision"; delimiter ";")`},
		{"a header that is too wide", "case,decision" + strings.Repeat(",", maxColumns), "f:1:65550: the header has 65538 columns: at most 65536 are read"},

		{"quotes and another delimiter in a header that lacks a column", "\"case\";\"Decision\"\n1;a\n", `f:1: the column "decision" is missing; there is "Decision": rename it, or write columns: {decision: "Decision"} in the policy`},
		{"a fault in the only header that comes near", "case,decision,x\"\n1,a,b\n", "f:1:16: a quote stands inside an unquoted field: put the whole field in quotes (no space before them) and double the ones inside"},
		{"a name with doubled quotes", "case,\"dec\"\"ision\"\n1,a\n", `f:1: the column "decision" is missing; there is "dec\"ision": rename it, or write columns: {decision: "dec\"ision"} in the policy`},
		{"a fault on the last line", h + "1,a\"b", "f:2:4: a quote stands inside an unquoted field: put the whole field in quotes (no space before them) and double the ones inside"},

		// The rows of a CSV file.
		{"too few fields", h + "1,a\n2\n", `f:3:2: the row has 1 field and the header 2: nothing stands for "decision"`},
		{"far too few fields", "case,decision,x,\n1,a,b,c\n2\n", `f:3:2: the row has 1 field and the header 4: nothing stands for "decision" and 2 more columns`},
		{"nothing for the column without a name", "case,decision,\n2,a\n", `f:2:4: the row has 2 fields and the header 3: nothing stands for a column without a name`},
		{"too many fields", h + "é,a,b\n", `f:2:6: the row has 3 fields and the header 2: put a value that holds the delimiter "," in quotes`},
		{"a line of blanks", h + "1,a\n  \n", `f:3:3: the row has 1 field and the header 2: nothing stands for "decision"`},
		{"a quote inside a field", h + "1,é\"b\"\n", "f:2:4: a quote stands inside an unquoted field: put the whole field in quotes (no space before them) and double the ones inside"},
		{"a space before a quote", h + "1, \"b\"\n", "f:2:4: a quote stands inside an unquoted field: put the whole field in quotes (no space before them) and double the ones inside"},
		{"text after a quote", h + "\"é\"x,a\n", "f:2:4: text follows a closing quote: a quoted field ends at its quote, and quotes inside it are doubled"},
		{"a carriage return after a quote", h + "1,\"a\"\r", "f:2:6: text follows a closing quote: a quoted field ends at its quote, and quotes inside it are doubled"},
		{"a quote that is never closed", h + "\"1\n2\",a\n3,\"b\nc\n", "f:4:3: the quote that opens here is never closed"},
		{"not UTF-8", h + "1,a\n\"é\n\",é\xFF\n", "f:4:4: the byte 0xFF is not UTF-8: save the file as UTF-8"},
		{"not UTF-8 in a column that is not read", "case,decision,x\n1,a,\xE9\n", "f:2:5: the byte 0xE9 is not UTF-8: save the file as UTF-8"},

		// JSONL.
		{"a key is missing", `{"case":1,"verdict":"a"}`, `f: the key "decision" is missing: add it, or name the one that holds it under columns in the policy`},
		{"a key in another letter case", `{"case":1,"DECISION":"a"}`, `f: the key "decision" is missing; there is "DECISION": rename it, or write columns: {decision: "DECISION"} in the policy`},
		{"a key twice", "{\"case\":1,\"x\":1,\n \"decision\":\"é\", \"x\":2}", `f:2:18: the key "x" stands twice in this object: keep the one that is meant`},
		{"a key twice, written in two ways", `{"case":1,"c\u0061se ":1}`, `f:1:11: the key "case" stands twice in this object: keep the one that is meant`},
		{"an object as a value", `{"case":1,"decision":{"a":1}}`, `f:1:22: the value of "decision" is an object: a text, a number, true, false or null is allowed`},
		{"an array as a value", `{"case":1,"decision":["a"]}`, `f:1:22: the value of "decision" is an array: a text, a number, true, false or null is allowed`},
		{"an array as a row", "{\"case\":1,\"decision\":2}\n[1,2]\n", `f:2:1: found "[": a JSONL row is an object and begins with {`},
		{"a comma between rows", `{"case":1,"decision":2},{"case":1,"decision":2}`, `f:1:24: found ",": a JSONL row is an object and begins with {`},
		{"a comma too many", `{"case":1,"decision":2,}`, `f:1:24: a comma stands before the closing brace: take it out`},
		{"a comma too few", `{"case":1 "decision":2}`, `f:1:11: found "\"": a comma or the closing brace must stand here`},
		{"a key without quotes", `{case:1}`, `f:1:2: found "c": a key in double quotes must stand here`},
		{"no colon", `{"case" 1}`, `f:1:9: found "1": a colon must follow the key`},
		{"no value", `{"case":,"decision":1}`, `f:1:9: found ",": a value must stand here`},
		{"a leading zero", `{"case":01}`, `f:1:9: "01" is no JSON value: a text in double quotes, a number, true, false or null is allowed`},
		{"a point without a digit", `{"case":1.}`, `f:1:9: "1." is no JSON value: a text in double quotes, a number, true, false or null is allowed`},
		{"an exponent without a digit", `{"case":1e+}`, `f:1:9: "1e+" is no JSON value: a text in double quotes, a number, true, false or null is allowed`},
		{"NaN", `{"case":NaN}`, `f:1:9: "NaN" is no JSON value: write null for what was not recorded`},
		{"True", `{"case":True}`, `f:1:9: "True" is no JSON value: a text in double quotes, a number, true, false or null is allowed`},
		{"a control character", "{\"case\":\"é\x01\"}", "f:1:11: the control character U+0001 stands inside a string: it is never closed, or the character must be written with a backslash"},
		{"a string over the line end", "{\"case\":\"é\n\"}", "f:1:11: a line end stands inside a string: it is never closed, or the character must be written with a backslash"},
		{"an unknown escape", `{"case":"\x41"}`, `f:1:10: this escape does not exist: after a backslash come ", \, /, b, f, n, r, t or u and four hex digits`},
		{"three hex digits", `{"case":"\u004"}`, `f:1:10: four hex digits must follow \u`},
		{"a low half alone", `{"case":"\udc00"}`, `f:1:10: this is half of a surrogate pair: both halves must be written, one after the other`},
		{"a high half alone", `{"case":"\ud800x"}`, `f:1:10: this is half of a surrogate pair: both halves must be written, one after the other`},
		{"two high halves", `{"case":"\ud800\ud800"}`, `f:1:10: this is half of a surrogate pair: both halves must be written, one after the other`},
		{"an unknown second half", `{"case":"\ud800\u00zz"}`, `f:1:10: four hex digits must follow \u`},
		{"an object that ends in half a pair", `{"case":"\ud800`, "f:1:1: the object that begins here is never closed: the file ends inside it"},
		{"an object that ends in an escape", `{"case":"\ud800\`, "f:1:1: the object that begins here is never closed: the file ends inside it"},
		{"a bad escape in a key that is not read", `{"x":["\a"]}`, `f:1:8: this escape does not exist: after a backslash come ", \, /, b, f, n, r, t or u and four hex digits`},
		{"an object as the value of an escaped key", `{"c\u0061se":{}}`, `f:1:14: the value of "case" is an object: a text, a number, true, false or null is allowed`},
		{"an object that ends inside a list", `{"case":[1,`, "f:1:1: the object that begins here is never closed: the file ends inside it"},
		{"an object that is never closed", "{\"case\":1,\"decision\":2}\n {\"case\":1", "f:2:2: the object that begins here is never closed: the file ends inside it"},
		{"a fault in a key that is not read", `{"x":{"y":[1,{"z":tru}]}}`, `f:1:19: "tru" is no JSON value: a text in double quotes, a number, true, false or null is allowed`},
		{"a comma too many in a key that is not read", `{"x":[1,]}`, `f:1:9: found "]": a value must stand here`},
		{"no comma in a key that is not read", `{"x":{"y":1 2}}`, `f:1:13: found "2": a comma or "}" must stand here`},
		{"a key without quotes in a key that is not read", `{"x":{y:1}}`, `f:1:7: found "y": a key in double quotes must stand here`},
		{"no colon in a key that is not read", `{"x":{"y"}}`, `f:1:10: found "}": a colon must follow the key`},
		{"too deep", `{"x":` + strings.Repeat("[", maxDepth), `f:1:10005: the value is nested more than 10000 deep`},
		{"JSON that is not UTF-8", "{\"case\":1,\"decision\":\"é\xFF\"}", "f:1:24: the byte 0xFF is not UTF-8: save the file as UTF-8"},
		{"a fault that is no UTF-8", "{\"case\":\xFF}", "f:1:9: the byte 0xFF is not UTF-8: save the file as UTF-8"},
		{"CSV after JSON", "{\"case\":1,\"decision\":2}\ncase,decision\n1,2\n", `f:2:1: found "c": a JSONL row is an object and begins with {`},

		// Compression.
		{"cut off gzip", gzipped(t, h+"1,a\n")[:30], "f:2: the compressed data end too early: the file is cut off"},
		{"gzip with a wrong checksum", flip(gzipped(t, h+"1,a\n"), -5), "f:3: the compressed data are damaged: gzip: invalid checksum"},
		{"gzip without a header", "\x1F\x8B\x00\x00\x00\x00\x00\x00\x00\x00", "f: the compressed data are damaged: gzip: invalid header"},
		{"a cut off gzip header", "\x1F\x8B\x08", "f: the compressed data end too early: the file is cut off"},
		{"cut off zstd", zstandard(t, h+"1,a\n")[:12], "f:1: the compressed data end too early: the file is cut off"},
		{"compressed twice", gzipped(t, gzipped(t, h+"1,a\n")), "f: it is compressed twice: decompress it once"},
		{"an empty file, compressed", gzipped(t, ""), "f: no row was found: the file is empty"},
		{"damaged JSONL", gzipped(t, "{\"case\":1,\"decision\":2}\n{\"case\":1,\"decision\":2}\n")[:40], "f:2: the compressed data end too early: the file is cut off"},
	} {
		t.Run(tt.name, func(t *testing.T) { checkOne(t, readText(tt.content), tt.want) })
	}
}

// flip changes the bits of the byte i of text, counted from its end when i is negative.
func flip(text string, i int) string {
	b := []byte(text)
	b[(i+len(b))%len(b)] ^= 0xFF
	return string(b)
}

// TestLimits makes the limits small and goes one step over each.
func TestLimits(t *testing.T) {
	lim := limits{buffer: 16, head: 64, record: 64, free: 1000}
	long := strings.Repeat("x", 100)
	for _, tt := range []struct{ name, content, want string }{
		{"a record", "case,decision\n1,a\n1," + long + "\n", "f:3: the record is longer than 64 bytes"},
		{"a quote", "case,decision\n1,a\né,\"" + long + "\n", "f:3:3: the quote that opens here is not closed within 64 bytes"},
		{"a header", "case,decision," + long, "f:1: the record is longer than 64 bytes"},
		{"an object", "{\"case\":1,\"decision\":1}\n {\"case\":\"" + long, "f:2:2: the object that begins here is not closed within 64 bytes"},
		{"growth in gzip", gzipped(t, "case,decision\n"+strings.Repeat("1,a\n", 20000)), "the compressed data grow more than 256-fold, which no decision file does: decompress the file first if it is really one"},
		{"growth in zstd", zstandard(t, "case,decision\n"+strings.Repeat("1,a\n", 20000)), "the compressed data grow more than 256-fold, which no decision file does: decompress the file first if it is really one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := readLimited([]string{"f"}, Options{Columns: abc, FS: folder("f", tt.content)}, lim)
			if len(got.diags) != 1 || !strings.HasSuffix(got.diags[0], tt.want) {
				t.Errorf("problems: %q, want one ending in %q", got.diags, tt.want)
			}
			if got.inputs[0].SHA256 != "" {
				t.Errorf("the digest of a file that was not read to its end is %q", got.inputs[0].SHA256)
			}
		})
	}

	t.Run("the limits themselves", func(t *testing.T) {
		// 64 bytes is a whole record: 2 of "1," and 61 of the value, and the line end.
		content := "case,decision\n1," + long[:61] + "\n"
		got := readLimited([]string{"f"}, Options{Columns: abc, FS: folder("f", content)}, lim)
		checkClean(t, got)
		if len(got.rows) != 1 {
			t.Errorf("%d rows, want 1", len(got.rows))
		}
	})

	t.Run("the zstd window", func(t *testing.T) {
		content := zstandard(t, "case,decision\n1,a\n", zstd.WithWindowSize(256<<20), zstd.WithSingleSegment(false))
		// The encoder writes small frames as single segments without a window, so the frame header is
		// made here: descriptor 0 (no content size, no checksum), window exponent 18: 2^28 bytes.
		content = content[:4] + "\x00\x90" + "\x01\x00\x00"
		checkOne(t, readText(content), "f:1: the zstd window is over 128 MiB: compress the file without --long")
	})
}

// TestProblemsAllAtOnce checks that one bad row hides neither other problems nor good rows.
func TestProblemsAllAtOnce(t *testing.T) {
	got := readText("case,decision\n1,a\n2\n3,\"b\"x\n4,d\"\"\n5,\xFF\n6,f\n7,\"g\n")
	want := []string{
		`f:3:2: the row has 1 field and the header 2: nothing stands for "decision"`,
		"f:4:6: text follows a closing quote: a quoted field ends at its quote, and quotes inside it are doubled",
		"f:5:4: a quote stands inside an unquoted field: put the whole field in quotes (no space before them) and double the ones inside",
		"f:6:3: the byte 0xFF is not UTF-8: save the file as UTF-8",
		"f:8:3: the quote that opens here is never closed",
	}
	if strings.Join(got.diags, "\n") != strings.Join(want, "\n") {
		t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got.diags, "\n"), strings.Join(want, "\n"))
	}
	if got.values() != "1|a|∅\n6|f|∅\n" {
		t.Errorf("rows:\n%s", got.values())
	}

	got = readText("{\"case\":1,\"decision\":2}\n{\"case\":}\nx\n\n{\"case\":3,\"decision\":4}{\"case\":[]}\n{\"case\":5,\"decision\":\"\xFF\"}\n{\"case\":7,\"decision\":8}")
	want = []string{
		`f:2:9: found "}": a value must stand here`,
		`f:5:32: the value of "case" is an array: a text, a number, true, false or null is allowed`,
		"f:6:23: the byte 0xFF is not UTF-8: save the file as UTF-8",
	}
	if strings.Join(got.diags, "\n") != strings.Join(want, "\n") {
		t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got.diags, "\n"), strings.Join(want, "\n"))
	}
	if got.values() != "1|2|∅\n3|4|∅\n7|8|∅\n" {
		t.Errorf("rows:\n%s", got.values())
	}
}

// TestManyKeys checks that a file with more keys than are remembered still knows which columns it has, and
// finds a key that stands twice.
func TestManyKeys(t *testing.T) {
	var content strings.Builder
	content.WriteString("{\"case\":1,\"decision\":2}\n")
	for i := range 3 * maxKeys / 10 {
		content.WriteString("{")
		for j := range 10 {
			fmt.Fprintf(&content, "\"k%d\":0,", 10*i+j)
		}
		content.WriteString("\"z\":0}\n")
	}
	got := readText(content.String())
	checkClean(t, got)
	if len(got.rows) != 1+3*maxKeys/10 {
		t.Errorf("%d rows", len(got.rows))
	}
	content.WriteString("{\"z\":1,\"z\":2}")
	checkOne(t, readText(content.String()), `f:3002:8: the key "z" stands twice in this object: keep the one that is meant`)
}

// TestBadDelimiter checks the characters that cannot be chosen.
func TestBadDelimiter(t *testing.T) {
	for _, d := range []rune{'"', '\n', '\r', 'a', 'Z', '5', 'é', -1} {
		got := readAll([]string{"f"}, Options{Columns: abc, Delimiter: d, FS: folder("f", "case,decision\n1,a\n")})
		checkOne(t, got, "the delimiter "+diag.Quote(string(d))+" is not allowed: give one ASCII character that is no letter, digit, quote or line end")
	}
}

// TestNamedColumns: a column that a policy names is first of all corrected there; names that a policy could not hold bare are quoted.
func TestNamedColumns(t *testing.T) {
	at := diag.Pos{File: "p.yaml", Line: 6, Column: 19}
	for _, c := range []struct {
		column Column
		rename map[string]string
		want   string
	}{
		{Column{Name: "outcom", Required: true, Named: at}, nil, `f:1: the column "outcom" is missing; p.yaml:6:19 names it, and there is "outcome": correct it there, rename the column, or write columns: {outcom: "outcome"} in the policy`},
		{Column{Name: "result", Required: true, Named: at}, nil, `f:1: the column "result" is missing; p.yaml:6:19 names it: correct it there, add the column, or name the one that holds it under columns in the policy`},
		{Column{Name: "label", Required: true, Named: at}, map[string]string{"label": "outcom"}, `f:1: the column "outcom" (the policy's name for label) is missing; p.yaml:6:19 names it, and there is "outcome": correct it there, or rename the column`},
		{Column{Name: "out: come", Required: true}, map[string]string{}, `f:1: the column "out: come" is missing; there is "outcome": rename it, or write columns: {"out: come": "outcome"} in the policy`},
		// A file whose columns no policy renames, such as a draw or an assignment.
		{Column{Name: "outcom", Required: true}, nil, `f:1: the column "outcom" is missing; there is "outcome": rename it`},
		{Column{Name: "result", Required: true}, nil, `f:1: the column "result" is missing: add it`},
	} {
		var got []string
		opts := Options{Columns: []Column{{Name: "id", Required: true}, c.column}, Rename: c.rename, FS: fstest.MapFS{"f": &fstest.MapFile{Data: []byte("id,outcome\n1,a\n")}}}
		diags := &diag.List{}
		Read([]string{"f"}, opts, func(Row) {}, diags)
		items, _ := diags.Sorted()
		for _, d := range items {
			got = append(got, d.String())
		}
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%+v\n got %q\nwant %q", c.column, got, c.want)
		}
	}
}

// TestCauseIsKept: what is wrong with every row of a large file is told, however many rows it is wrong with; and of two files that are the
// same not each row is told.
func TestCauseIsKept(t *testing.T) {
	rows := strings.Repeat("{\"x\":1}\n", 3*diag.Keep)
	diags := &diag.List{}
	opts := Options{Columns: []Column{{Name: "id", Required: true}}, FS: folder("f", rows)}
	Read([]string{"f"}, opts, func(r Row) { diags.Addf(r.Pos(0), "id is empty") }, diags)
	items, more := diags.Sorted()
	if !strings.HasPrefix(items[0].String(), `f: the key "id" is missing`) || len(items)+more != 3*diag.Keep+1 {
		t.Errorf("%d problems, the first %s", len(items)+more, items[0])
	}
	opts.FS, opts.Once = folder("f", "id\n1\n2\n", "g", "id\n1\n2\n"), []Once{{[]int{0}, sameID}}
	diags = &diag.List{}
	Read([]string{"f", "g"}, opts, func(Row) {}, diags)
	if items, _ := diags.Sorted(); len(items) != 1 || !strings.Contains(items[0].Message, "the content is the same as that of f") {
		t.Errorf("found %v", items)
	}
}
