package rows

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/diag"
)

// TestShapes reads the shapes of files that are met in practice, with made-up values.
func TestShapes(t *testing.T) {
	for _, tt := range []struct{ name, content, want string }{
		{"plain", "case,decision,note\n1,a,x\n2,b,y\n", "1|a|x\n2|b|y\n"},
		{"a byte-order mark", "\xEF\xBB\xBFcase,decision,note\n1,a,x\n", "1|a|x\n"},
		{"a byte-order mark before a quote", "\xEF\xBB\xBF\"case\",decision,note\n1,a,x\n", "1|a|x\n"},
		{"a byte-order mark before JSONL", "\xEF\xBB\xBF{\"case\":1,\"decision\":\"a\"}", "1|a|∅\n"},
		{"CRLF", "case,decision,note\r\n1,a,x\r\n2,b,y\r\n", "1|a|x\n2|b|y\n"},
		{"both line ends", "case,decision,note\r\n1,a,x\n2,b,y\r\n", "1|a|x\n2|b|y\n"},
		{"no final newline", "case,decision,note\n1,a,x", "1|a|x\n"},
		{"no final newline after a quote", "case,decision,note\n1,a,\"x\"", "1|a|x\n"},
		{"no final newline after a delimiter", "case,decision,note\n1,a,", "1|a|∅\n"},
		{"a lone carriage return", "case,decision,note\n1,a\rb,\rx\r\n", "1|a\rb|x\n"},
		{"empty lines", "\n\r\ncase,decision,note\n\n1,a,x\n\r\n\n2,b,y\n\n", "1|a|x\n2|b|y\n"},
		{"quoted newlines", "case,decision,note\n1,a,\"one\ntwo\r\nthree\"\n2,b,y\n", "1|a|one\ntwo\r\nthree\n2|b|y\n"},
		{"quoted newlines in the header", "case,decision,\"a\nb\"\n1,a,x\n", "1|a|∅\n"},
		{"doubled quotes", "case,decision,note\n\"\"\"1\"\"\",\"a\"\"b\",\"\"\"\"\n", "\"1\"|a\"b|\"\n"},
		{"empty quotes", "case,decision,note\n1,a,\"\"\n", "1|a|∅\n"},
		{"a delimiter in quotes", "case,decision,note\n1,\"a,b\",\",\"\n", "1|a,b|,\n"},
		{"semicolons", "case;decision;note\n1;a,b;x\n", "1|a,b|x\n"},
		{"tabs", "case\tdecision\tnote\n1\ta,b;c\tx\n", "1|a,b;c|x\n"},
		{"bars", "case|decision|note\n1|a|x\n", "1|a|x\n"},
		{"a declared delimiter", "sep=;\r\ncase;decision;note\r\n1;a;x\r\n", "1|a|x\n"},
		{"an unusual declared delimiter", "SEP=:\ncase:decision:note\n1:a,b:x\n", "1|a,b|x\n"},
		{"a declared delimiter in a header that has others", "sep=;\ncase;decision;a,b\n1;a;x\n", "1|a|∅\n"},
		{"other columns, another order", "z,note,decision,y,case\n9,x,a,9,1\n", "1|a|x\n"},
		{"two other columns of one name", "case,x,decision,x\n1,p,a,q\n", "1|a|∅\n"},
		{"columns without a name", ",case,decision,,\n7,1,a,8,9\n", "1|a|∅\n"},
		{"blanks around names and values", " case ,decision\t, note\n  1 ,\u00a0a\u2003, \u3000 \n", "1|a|∅\n"},
		{"blanks inside quotes", "case,decision,note\n\" 1 \",\"\n a\",\" \"\n", "1|a|∅\n"},
		{"19-digit ids", "case,decision\n9007199254740993001,9007199254740993\n", "9007199254740993001|9007199254740993|∅\n"},
		{"not recorded, written in many ways", "case,decision,note\n1,NA,n/a\n2,nan,None\n3,*,-\n", "1|NA|n/a\n2|nan|None\n3|*|-\n"},
		{"truths in many ways", "case,decision,note\n1,TRUE,FALSE\n2,True,False\n", "1|TRUE|FALSE\n2|True|False\n"},
		{"whole numbers with a point", "case,decision,note\n1,0.0,2.0\n", "1|0.0|2.0\n"},
		{"rows alike", "case,decision\n1,a\n1,a\n1,a\n", "1|a|∅\n1|a|∅\n1|a|∅\n"},
		{"the header again, as two files in one have it", "case,decision\n1,a\n\xEF\xBB\xBFcase,decision\n2,b\n", "1|a|∅\n\ufeffcase|decision|∅\n2|b|∅\n"},
		{"a header of which one column is named like a value", "case,decision\ncase,decision\n", "case|decision|∅\n"},
		{"control characters", "case,decision\n\x00\x1b[31m,a\x07\n", "\x00\x1b[31m|a\x07|∅\n"},
		{"Unicode forms stay as they are", "case,decision\ncafé,cafe\u0301\n", "café|cafe\u0301|∅\n"},

		{"JSONL", `{"case":"1","decision":"a","note":"x"}` + "\n" + `{"note":"y","decision":"b","case":"2"}` + "\n", "1|a|x\n2|b|y\n"},
		{"JSONL after blank lines", "\r\n \t\n" + `{"case":"1","decision":"a"}`, "1|a|∅\n"},
		{"two objects on one line", `{"case":"1","decision":"a"} {"case":"2","decision":"b"}{"case":"3","decision":"c"}`, "1|a|∅\n2|b|∅\n3|c|∅\n"},
		{"an object over many lines", "{\n  \"case\": 1,\n  \"decision\": \"a\"\n}\n{\n}\n", "1|a|∅\n∅|∅|∅\n"},
		{"JSON values", `{"case":9007199254740993001,"decision":true,"note":-1.50e+3}` + "\n" + `{"case":0,"decision":false,"note":null}`, "9007199254740993001|true|-1.50e+3\n0|false|∅\n"},
		{"absent keys", `{"case":"1"}` + "\n" + `{"decision":"b"}` + "\n{}\n", "1|∅|∅\n∅|b|∅\n∅|∅|∅\n"},
		{"blank JSON texts", `{"case":" 1\t","decision":"","note":" \u00a0"}`, "1|∅|∅\n"},
		{"escapes", `{"case":"\"\\\/\b\f\n\r\t|","decision":"\u00e9\u20AC\ud83d\ude00","n\u006fte":"x"}`, "\"\\/\b\f\n\r\t||é€😀|x\n"},
		{"other keys hold anything", `{"case":1,"x":{"case":[[],{},{"a":"b","a":[1,"]"]}]},"decision":"a","y":[{"z":null}],"z":[]}`, "1|a|∅\n"},
		{"a key with blanks", `{" case ":1,"decision":"a"}`, "1|a|∅\n"},
		{"as deep as allowed", `{"case":1,"decision":2,"x":` + strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1) + "}", "1|2|∅\n"},

		{"gzip", gzipped(t, "case,decision\n1,a\n"), "1|a|∅\n"},
		{"gzip in two members", gzipped(t, "case,decision\n1,") + gzipped(t, "a\n2,b\n"), "1|a|∅\n2|b|∅\n"},
		{"zstd", zstandard(t, "case,decision\n1,a\n"), "1|a|∅\n"},
		{"zstd in two frames", zstandard(t, "case,decision\n1,") + zstandard(t, "a\n2,b\n"), "1|a|∅\n2|b|∅\n"},
		{"zstd after a frame that is skipped", "\x5A\x2A\x4D\x18\x03\x00\x00\x00xyz" + zstandard(t, "case,decision\n1,a\n"), "1|a|∅\n"},
		{"JSONL in gzip", gzipped(t, `{"case":1,"decision":"a"}`), "1|a|∅\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := readText(tt.content)
			checkClean(t, got)
			if got.values() != tt.want {
				t.Errorf("rows:\n%q\nwant:\n%q", got.values(), tt.want)
			}
			if n := got.inputs[0].Rows; n != len(got.rows) {
				t.Errorf("Rows is %d, want %d", n, len(got.rows))
			}
		})
	}
}

// TestRecordsOnManyLines reads 450 records that take 1,991 lines, as a set of prompts with quoted
// newlines does, and checks the line of each.
func TestRecordsOnManyLines(t *testing.T) {
	var content strings.Builder
	content.WriteString("case,decision,note\n")
	line := 2
	var begins []int
	for i := range 450 {
		// 1 header line and 450 records of 4 lines are 1,801 lines; 190 of them have a fifth: 1,991.
		extra := ""
		if i < 190 {
			extra = "\n"
		}
		fmt.Fprintf(&content, "%d,\"a\n\nb%s\",\"x\ny\"\n", i, extra)
		begins = append(begins, line)
		line += 4 + len(extra)
	}
	if line-1 != 1991 {
		t.Fatalf("the file has %d lines, want 1991", line-1)
	}
	got := readText(content.String())
	checkClean(t, got)
	if len(got.rows) != 450 {
		t.Fatalf("%d rows, want 450", len(got.rows))
	}
	for i, row := range got.rows {
		if row.Line != begins[i] {
			t.Fatalf("record %d begins on line %d, want %d", i, row.Line, begins[i])
		}
	}
}

// TestPositions checks where values begin, counted by hand in characters.
func TestPositions(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		want          []string // of the last row: the row itself, then each column
	}{
		{"CSV", "case,decision,note\n1,a,x\nété,\"b\",y\n", []string{"f:3", "f:3:1", "f:3:5", "f:3:9"}},
		{"a byte-order mark is no character", "\xEF\xBB\xBFcase,decision,note\n1,,\n", []string{"f:2", "f:2:1", "f:2:3", "f:2:4"}},
		{"quoted newlines", "case,note,decision\n\"1\n\n22\",\"\"\"😀\n\"\"é\",a\n", []string{"f:2", "f:2:1", "f:5:6", "f:4:5"}},
		{"a column that is not there", "\n\ncase,decision\n1,a\n", []string{"f:4", "f:4:1", "f:4:3", "f:4"}},
		{"JSONL", "{\"case\":1,\"decision\":\"a\"}\n {\"é\":[2], \"case\":1,\"decision\":\"a\",\"note\":null}", []string{"f:2", "f:2:19", "f:2:32", "f:2:43"}},
		{"the second object on a line", "{\"case\":1,\"decision\":\"é\"}{\"case\":1}", []string{"f:1", "f:1:34", "f:1", "f:1"}},
		{"an object over many lines", "{\"é\":\n1}\n{\n \"case\":\n1,\n  \"decision\": \"\\u0061\"}", []string{"f:3", "f:5:1", "f:6:15", "f:3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			var diags diag.List
			Read([]string{"f"}, Options{Columns: abc, FS: folder("f", tt.content)}, func(r Row) {
				got = []string{r.Pos(-1).String()}
				for col := range abc {
					got = append(got, r.Pos(col).String())
				}
			}, &diags)
			if diags.Len() > 0 {
				t.Error(diags.Err())
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestOptions checks what a policy and the command line can set.
func TestOptions(t *testing.T) {
	t.Run("rename", func(t *testing.T) {
		opts := Options{Columns: abc, Rename: map[string]string{"case": " Item ", "note": "a,b"}}
		for _, content := range []string{"case,Item,decision,\"a,b\"\n9,1,a,x\n", `{"case":9,"Item":1,"decision":"a","a,b":"x"}`} {
			opts.FS = folder("f", content)
			got := readAll([]string{"f"}, opts)
			checkClean(t, got)
			if got.values() != "1|a|x\n" {
				t.Errorf("rows: %q", got.values())
			}
		}
		opts.FS = folder("f", "case,item,decision\n1,2,a\n")
		checkOne(t, readAll([]string{"f"}, opts), `f:1: the column "Item" (the policy's name for case) is missing; there is "item": rename it, or write columns: {case: "item"} in the policy`)
	})
	t.Run("two columns read one", func(t *testing.T) {
		opts := Options{Columns: abc, Rename: map[string]string{"note": "case"}}
		for _, content := range []string{"case,decision\n1,a\n", `{"case":1,"decision":"a"}`} {
			opts.FS = folder("f", content)
			got := readAll([]string{"f"}, opts)
			checkClean(t, got)
			if got.values() != "1|a|1\n" {
				t.Errorf("rows: %q", got.values())
			}
		}
	})
	t.Run("missing values", func(t *testing.T) {
		opts := Options{Columns: abc, MissingValues: []string{"NA", " n/a ", "false", "0"}}
		opts.FS = folder("f", "case,decision,note\nNA,na,\" n/a \"\nfalse,0.0,0\n")
		got := readAll([]string{"f"}, opts)
		checkClean(t, got)
		if got.values() != "∅|na|∅\n∅|0.0|∅\n" {
			t.Errorf("rows: %q", got.values())
		}
		opts.FS = folder("f", `{"case":false,"decision":0,"note":"N\u0041"}`)
		got = readAll([]string{"f"}, opts)
		checkClean(t, got)
		if got.values() != "∅|∅|∅\n" {
			t.Errorf("rows: %q", got.values())
		}
	})
	t.Run("delimiter", func(t *testing.T) {
		opts := Options{Columns: abc, Delimiter: ':', FS: folder("f", "case:decision:x,y\n1:a,b:c\n")}
		got := readAll([]string{"f"}, opts)
		checkClean(t, got)
		if got.values() != "1|a,b|∅\n" {
			t.Errorf("rows: %q", got.values())
		}
		// It overrules the line, which is still no header.
		opts.FS = folder("f", "sep=;\ncase:decision\n1:a\n")
		got = readAll([]string{"f"}, opts)
		checkClean(t, got)
		if got.values() != "1|a|∅\n" {
			t.Errorf("rows: %q", got.values())
		}
		opts.FS = folder("f", "case;decision\n1;a\n")
		checkOne(t, readAll([]string{"f"}, opts), `f:1: no required column is in this line, which must be the header (columns "case", "decision"; delimiter ":")`)
		// It says nothing about JSONL.
		opts.FS = folder("f", `{"case":1,"decision":"a"}`)
		checkClean(t, readAll([]string{"f"}, opts))
	})
	t.Run("one column", func(t *testing.T) {
		got := readAll([]string{"f"}, Options{Columns: []Column{{Name: "item", Required: true}}, FS: folder("f", "item\na;b\n\n\"c,d\"\n")})
		checkClean(t, got)
		if got.values() != "a;b\nc,d\n" {
			t.Errorf("rows: %q", got.values())
		}
	})
	t.Run("no required column", func(t *testing.T) {
		got := readAll([]string{"f"}, Options{Columns: []Column{{Name: "a"}, {Name: "b"}}, FS: folder("f", "a;b\n1;2\n")})
		checkClean(t, got)
		if got.values() != "1|2\n" {
			t.Errorf("rows: %q", got.values())
		}
	})
	t.Run("no column", func(t *testing.T) {
		got := readAll([]string{"f"}, Options{FS: folder("f", "a;b\n1;2\n")})
		checkClean(t, got)
		if len(got.rows) != 1 {
			t.Errorf("%d rows, want 1", len(got.rows))
		}
	})
}

// TestMissingInOneFile checks the finding about an optional column that one file lacks.
func TestMissingInOneFile(t *testing.T) {
	files := folder("a.csv", "case,decision,note\n1,a,x\n", "b.csv", "case,decision\n2,b\n", "c.jsonl", `{"case":3,"decision":"c"}`, "d.jsonl", `{"case":4,"decision":"d","note":null}`)
	got := readAll([]string{"*"}, Options{Columns: abc, FS: files})
	checkClean(t, got)
	if got.values() != "1|a|x\n2|b|∅\n3|c|∅\n4|d|∅\n" {
		t.Errorf("rows: %q", got.values())
	}
	var found []string
	for _, in := range got.inputs {
		if in.Has[2] == (len(in.Findings) > 0) {
			t.Errorf("%s: Has %v with findings %v", in.Path, in.Has, in.Findings)
		}
		for _, f := range in.Findings {
			found = append(found, fmt.Sprintf("%s %s: %s", f.Code, f.Position, f.Message))
		}
	}
	want := []string{
		`column_missing_in_file b.csv: the column "note" is missing here, while another file has it: it counts as not recorded in this file`,
		`column_missing_in_file c.jsonl: the column "note" is missing here, while another file has it: it counts as not recorded in this file`,
	}
	if d := cmp.Diff(want, found); d != "" {
		t.Error(d)
	}

	// Where no file has it, there is nothing to say.
	got = readAll([]string{"b.csv", "c.jsonl"}, Options{Columns: abc, FS: files})
	checkClean(t, got)
	if slices.ContainsFunc(got.inputs, func(in Input) bool { return len(in.Findings) > 0 }) {
		t.Errorf("findings: %v", got.inputs)
	}
}

// TestTextMayBeKept checks that strings outlive their row, shared or not.
func TestTextMayBeKept(t *testing.T) {
	var content strings.Builder
	content.WriteString("case,decision\n")
	var want []string
	for i := range 3000 {
		long := strings.Repeat("x", i%(2*maxShared))
		fmt.Fprintf(&content, "%d,\"%s\"\"%d\"\n", i, long, i%3)
		want = append(want, fmt.Sprint(i), fmt.Sprintf("%s\"%d", long, i%3))
	}
	var got []string
	for _, row := range readText(content.String()).rows {
		got = append(got, row.Values[0], row.Values[1])
	}
	if !slices.Equal(got, want) {
		t.Error("the strings changed after their row")
	}
}
