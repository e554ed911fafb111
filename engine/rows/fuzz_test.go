package rows

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/diag"
)

// three are columns that no file must have, so that only the rows can be at fault.
var three = []Column{{Name: "a"}, {Name: "b"}, {Name: "c"}}

// noRows are the problems of a file that has no row and no other fault.
var noRows = []string{"f: there is a header but no row: every file needs one", "f: no row was found: the file is empty"}

// FuzzCSV compares rows and positions with encoding/csv: the two accept the same files, but for bytes
// that are not UTF-8 and a carriage return at the very end, which the library drops.
func FuzzCSV(f *testing.F) {
	for _, body := range []string{
		"1,2,3\n", "1,2,3", "\"1\",\"2\n\",\"\"\"3\"\r\n", "1;2;3\n", "\r\n\n1\t2\t3\n", "1|é|\"|\"\n", " 1 , 2\t,\u00a0\n",
		"1,2\n", "1,2,3,4\n", "1,\"2\"x,3\n", "1,2\"2,3\n", "\"1,2,3\n", "1,2,\"3\"\r", "\xff,2,3\n", ",,\n", "\r,\r,\r\r\n", "\"a\r\nb\",\"\r\",\r\n",
	} {
		for d := range delimiters {
			f.Add([]byte(body), byte(d))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, choice byte) {
		delimiter := delimiters[int(choice)%len(delimiters)]
		content := "a" + string(delimiter) + "b" + string(delimiter) + "c\n" + string(body)
		opts := Options{Columns: three, Delimiter: rune(delimiter), FS: folder("f", content)}
		got := readAll([]string{"f"}, opts)
		clean := len(got.diags) == 0 || slices.Contains(noRows, got.diags[0])

		theirs := csv.NewReader(strings.NewReader(content))
		theirs.Comma = rune(delimiter)
		var want []row
		var err error
		for {
			var record []string
			if record, err = theirs.Read(); err != nil {
				break
			}
			line, _ := theirs.FieldPos(0)
			r := row{Line: line}
			for _, v := range record {
				if v = strings.TrimSpace(v); v == "" {
					v = "∅"
				}
				r.Values = append(r.Values, v)
			}
			want = append(want, r)
		}
		accepted := err == io.EOF
		if !utf8.ValidString(content) || strings.HasSuffix(content, "\r") {
			return
		}
		if clean != accepted {
			t.Fatalf("problems %q; encoding/csv says %v", got.diags, err)
		}
		if !accepted {
			return
		}
		for i := range got.rows {
			for j, v := range got.rows[i].Values {
				// The library writes the line ends inside quotes as line feeds, before it is trimmed here.
				got.rows[i].Values[j] = strings.ReplaceAll(v, "\r\n", "\n")
			}
		}
		if d := cmp.Diff(want[1:], got.rows, cmp.Comparer(func(a, b []row) bool { return len(a) == 0 && len(b) == 0 || cmp.Equal(a, b) })); d != "" {
			t.Fatal(d)
		}
		comparePositions(t, content, delimiter, opts)
	})
}

// comparePositions compares the positions of all values with those of encoding/csv, which counts bytes.
func comparePositions(t *testing.T, content string, delimiter byte, opts Options) {
	theirs := csv.NewReader(strings.NewReader(content))
	theirs.Comma = rune(delimiter)
	theirs.Read() // the header
	lines := strings.Split(content, "\n")
	var diags diag.List
	Read([]string{"f"}, opts, func(r Row) {
		if _, err := theirs.Read(); err != nil {
			t.Fatal(err)
		}
		for col := range opts.Columns {
			line, column := theirs.FieldPos(col)
			column = 1 + utf8.RuneCountInString(lines[line-1][:column-1])
			if p := r.Pos(col); p.Line != line || p.Column != column {
				t.Fatalf("column %d is at %v, encoding/csv says %d:%d", col, p, line, column)
			}
		}
	}, &diags)
}

// FuzzJSONL compares rows with encoding/json: the two accept the same files, but for what the reader
// refuses beyond it (keys that stand twice, objects and arrays in columns, halves of surrogate pairs,
// bytes that are not UTF-8).
func FuzzJSONL(f *testing.F) {
	for _, content := range []string{
		`"a":1,"b":"x","c":null}`, `"a":-1.5e-3,"b":true}{"c":"\u00e9\ud83d\ude00\\\/"}`, "}\n{}", `"x":{"a":[1,{"b":[]}]},"a":"y"}`,
		`"a":01}`, `"a":1,}`, `"a":1 "b":2}`, `"a":"\ud800"}`, `"a":[]}`, `"a":1,"a":2}`, "\"a\":\"\xff\"}", "\"a\":\"\n\"}", `"a":NaN}`,
		` " a " : 0.0 , "b" : "" } `, `"a":1`, `"x":[[[[{}]]]],"y":[1,]}`, `"a":1}]`, `"\u0061":1E+2}`,
	} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		content := "{" + string(body)
		got := readAll([]string{"f"}, Options{Columns: three, FS: folder("f", content)})
		clean := len(got.diags) == 0
		want, err := decodeRows(content)
		switch {
		case errors.Is(err, errBeyond):
			if clean {
				t.Fatalf("no problem, want one: %v", err)
			}
		case clean != (err == nil):
			t.Fatalf("problems %q; encoding/json says %v", got.diags, err)
		case clean:
			var values [][]string
			for _, r := range got.rows {
				values = append(values, r.Values)
			}
			if d := cmp.Diff(want, values); d != "" {
				t.Fatal(d)
			}
		}
	})
}

// errBeyond is what the reader refuses and encoding/json does not.
var errBeyond = errors.New("refused beyond encoding/json")

// decodeRows reads JSONL by encoding/json. A fault of JSON comes before errBeyond.
func decodeRows(content string) (rows [][]string, err error) {
	dec := json.NewDecoder(strings.NewReader(content))
	var beyond error
	if !utf8.ValidString(content) {
		beyond = errBeyond
	}
	for {
		var object json.RawMessage
		if err := dec.Decode(&object); err == io.EOF {
			return rows, beyond
		} else if err != nil {
			return nil, err
		}
		if object[0] != '{' {
			return nil, fmt.Errorf("%s is no object", object)
		}
		row := []string{"∅", "∅", "∅"}
		keys := map[string]bool{}
		inner := json.NewDecoder(bytes.NewReader(object))
		inner.UseNumber()
		inner.Token() // the brace
		for inner.More() {
			begin := inner.InputOffset()
			token, _ := inner.Token()
			key := token.(string)
			if halfPair(string(object[begin:inner.InputOffset()]), key) {
				beyond = errBeyond
			}
			key = strings.TrimSpace(key)
			if keys[key] {
				beyond = errBeyond
			}
			keys[key] = true
			var raw json.RawMessage
			if err := inner.Decode(&raw); err != nil {
				return nil, err
			}
			if halfInside(raw) {
				beyond = errBeyond
			}
			col := slices.Index([]string{"a", "b", "c"}, key)
			if col < 0 {
				continue
			}
			value := string(raw)
			switch raw[0] {
			case '{', '[':
				beyond = errBeyond
			case 'n':
				value = ""
			case '"':
				if err := json.Unmarshal(raw, &value); err != nil {
					return nil, err
				}
			}
			if value = strings.TrimSpace(value); value != "" {
				row[col] = value
			}
		}
		rows = append(rows, row)
	}
}

// halfInside reports that a JSON value has a string with half of a surrogate pair.
func halfInside(raw json.RawMessage) bool {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for {
		begin := dec.InputOffset()
		token, err := dec.Token()
		if err != nil {
			return false
		}
		if s, ok := token.(string); ok && halfPair(string(raw[begin:dec.InputOffset()]), s) {
			return true
		}
	}
}

// halfPair reports that decoding made a replacement character that is not in the text itself.
func halfPair(text, decoded string) bool {
	written := strings.Count(text, "\ufffd")
	lower := strings.ToLower(strings.ReplaceAll(text, `\\`, "  "))
	return strings.Count(decoded, "\ufffd") > written+strings.Count(lower, `\ufffd`)
}

// FuzzRead reads anything: it never panics, gives rows or problems, knows where values lie, and does not
// depend on its buffers.
func FuzzRead(f *testing.F) {
	for _, content := range []string{
		"", "case,decision\n1,a\n", "\xEF\xBB\xBFsep=;\r\ncase;decision;note\r\n\"1\";a;\"x\ny\"\r\n", `{"case":1,"decision":"a"}`, "PK\x03\x04", "\xFF\xFEc\x00",
		gzipped(f, "case,decision\n1,a\n"), zstandard(f, "{\"case\":1,\"decision\":\"a\"}\n"), gzipped(f, "case\tdecision\n1\ta\n")[:20], "[{}]", "case|decision\n\"", "\x5A\x2A\x4D\x18\x00\x00\x00\x00",
	} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		opts := Options{Columns: abc, FS: folder("f", string(content))}
		lim := limits{buffer: 16, head: 64, record: 1 << 16, free: 1 << 20}
		small := readLimited([]string{"f"}, opts, lim)
		lim.buffer = 1 << 16
		large := readLimited([]string{"f"}, opts, lim)
		if d := cmp.Diff(small, large, cmp.AllowUnexported(result{})); d != "" {
			t.Fatal(d)
		}
		if len(small.rows)+len(small.diags) == 0 {
			t.Fatal("neither rows nor problems")
		}
		in := small.inputs[0]
		if in.Rows != len(small.rows) {
			t.Fatalf("Rows is %d of %d", in.Rows, len(small.rows))
		}
		if in.SHA256 != "" && (in.SHA256 != fmt.Sprintf("%x", sha256.Sum256(content)) || in.Bytes != int64(len(content))) {
			t.Fatal("the digest or the size is wrong")
		}
		if len(small.diags) == 0 && in.SHA256 == "" {
			t.Fatal("no digest of a file without a problem")
		}
		last := 0
		var diags diag.List
		Read([]string{"f"}, opts, func(r Row) {
			if r.Line() < last {
				t.Fatalf("a row on line %d follows one on line %d", r.Line(), last)
			}
			last = r.Line()
			for col := range abc {
				if _, recorded := r.Text(col); recorded && r.Pos(col).Column == 0 {
					t.Fatalf("no position of column %d on line %d", col, last)
				}
			}
		}, &diags)
	})
}

// FuzzCount reads anything in both ways: what Count counts is what Read reads without a problem, wherever blocks end.
func FuzzCount(f *testing.F) {
	for _, content := range []string{
		"case,decision,note\n1,a,\n2,b,NA\n\"1\",\"a\",\"x\"\"y\"\r\n", "case;decision\n1;a\n\n2;b", "decision\tcase\n\"a\nb\"\t1\nb\t2\n", "case,decision\n\xff,\"\n", "case,decision\n1,\"a\"\r",
		"{\"case\":1,\"decision\":\"a\"}\n{\"case\":12,\"decision\":\"b\"}\n{\"case\":13,\"decision\":\"b\"}\n", "{\"case\": -0.5, \"decision\": true}\r\n{\"case\": -1.5, \"decision\": null}\r\n",
		"{\"case\":1}{\"decision\":\"\\u00e9\"}\n{\"decision\":{},\"case\":[]}", "{\"case\":01}\n{\"case\":\n\n1,\"decision\":2}\n{\"case\":", gzipped(f, "{\"case\":1,\"decision\":2}\n"),
	} {
		for _, block := range []uint16{1, 20, 4096} {
			f.Add([]byte(content), block)
		}
	}
	f.Fuzz(func(t *testing.T, content []byte, block uint16) {
		read, problems, counted, ok := combinations(string(content), Options{Columns: abc, MissingValues: []string{"NA"}}, 1+int(block))
		if ok && (len(problems) > 0 || !maps.Equal(read, counted)) {
			t.Fatalf("counted %v, read %v with %q", counted, read, problems)
		}
	})
}

// FuzzValues parses any text: never a panic, and what is accepted means what math/big reads.
func FuzzValues(f *testing.F) {
	for _, text := range []string{"0.5", "-1e-19", "5.e3", "1,5", "2026-03-31T14:05:09.5+02:00", "1774965909", "TRUE", "1.0", "1e99999999999999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := Binary(text); err != nil && !utf8.ValidString(err.Error()) {
			t.Fatal("a message that is not UTF-8")
		}
		if got, _, err := ParseTime(text); err == nil && got.Kind == 0 {
			t.Fatal("a time without a kind")
		}
		d, rounded, err := ParseDecimal(text)
		if err != nil || len(text) > 100 {
			return
		}
		if strings.ContainsAny(text, "eE") {
			if e := text[strings.IndexAny(text, "eE")+1:]; len(strings.TrimLeft(e, "+-0")) > 3 {
				return // math/big would write out the zeros
			}
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("math/big does not read %q", text)
		}
		scaled := new(big.Rat).Mul(exact, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(Places), nil)))
		off := scaled.Sub(scaled, new(big.Rat).SetInt(d.Big()))
		if off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 || rounded != (off.Sign() != 0) {
			t.Fatalf("%q is %v, rounded %v", text, d, rounded)
		}
	})
}
