package rows

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// table draws a table with the columns abc, its values trimmed, "" where one is not recorded.
func table(t *rapid.T) [][]string {
	value := rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", "b", "0", "1", "NA", "with", "café", "3 4", "\ufeffx"}),
		rapid.StringOf(rapid.SampledFrom([]rune{'a', 'é', '😀', '"', ',', ';', '\t', '|', '\n', ' ', '\\', '{', '}', '\u00a0', '=', '\''})),
		rapid.String(),
	)
	n := rapid.IntRange(1, 12).Draw(t, "rows")
	rows := make([][]string, n)
	for i := range rows {
		// The first value makes every row, and so every file, another one.
		rows[i] = []string{fmt.Sprintf("%d%s", i, strings.TrimSpace(value.Draw(t, "case"))),
			strings.TrimSpace(value.Draw(t, "decision")), strings.TrimSpace(value.Draw(t, "note"))}
	}
	return rows
}

// writing is a way to write a table.
type writing struct {
	name  string
	write func(t *rapid.T, rows [][]string) string
}

var tableHeader = []string{"case", "decision", "note"}

// quotedCSV writes a table with every field in quotes, or only those that need them.
func quotedCSV(rows [][]string, delimiter, lineEnd string, all bool) string {
	var b strings.Builder
	for _, row := range append([][]string{tableHeader}, rows...) {
		for i, v := range row {
			if i > 0 {
				b.WriteString(delimiter)
			}
			if all || strings.ContainsAny(v, "\"\r\n"+delimiter) {
				v = `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
			}
			b.WriteString(v)
		}
		b.WriteString(lineEnd)
	}
	return b.String()
}

// asJSONL writes a table by encoding/json, an absent key, null or "" where a value is not recorded.
func asJSONL(t *rapid.T, rows [][]string, separator string) string {
	var b bytes.Buffer
	for _, row := range rows {
		object := map[string]any{"z": []any{map[string]any{"case": nil}}}
		for i, v := range row {
			switch {
			case v != "":
				object[tableHeader[i]] = v
			case i == 1 || rapid.Bool().Draw(t, "null"): // decision is a key of every file
				object[tableHeader[i]] = nil
			}
		}
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
		b.WriteString(separator)
	}
	return b.String()
}

var writings = []writing{
	{"comma", func(t *rapid.T, rows [][]string) string { return quotedCSV(rows, ",", "\n", false) }},
	{"semicolon", func(t *rapid.T, rows [][]string) string { return quotedCSV(rows, ";", "\n", false) }},
	{"tab", func(t *rapid.T, rows [][]string) string { return quotedCSV(rows, "\t", "\n", false) }},
	{"bar", func(t *rapid.T, rows [][]string) string { return quotedCSV(rows, "|", "\n", false) }},
	{"CRLF", func(t *rapid.T, rows [][]string) string { return quotedCSV(rows, ",", "\r\n", false) }},
	{"all quoted", func(t *rapid.T, rows [][]string) string { return quotedCSV(rows, ",", "\n", true) }},
	{"declared", func(t *rapid.T, rows [][]string) string {
		return "\xEF\xBB\xBFsep=:\r\n" + quotedCSV(rows, ":", "\r\n", false)
	}},
	{"no final line end", func(t *rapid.T, rows [][]string) string {
		return strings.TrimSuffix(quotedCSV(rows, ",", "\n", true), "\n")
	}},
	{"the library", func(t *rapid.T, rows [][]string) string {
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		if err := w.WriteAll(append([][]string{tableHeader}, rows...)); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}},
	{"JSONL", func(t *rapid.T, rows [][]string) string { return asJSONL(t, rows, "\n") }},
	{"JSONL on one line", func(t *rapid.T, rows [][]string) string { return asJSONL(t, rows, " ") }},
	{parquetWriting, func(t *rapid.T, rows [][]string) string { return asParquet(t, rows) }},
}

// TestOneTableManyWays checks that the same table gives the same rows however it is written, compressed,
// buffered and split.
func TestOneTableManyWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := table(t)
		var want strings.Builder
		for _, row := range rows {
			for i, v := range row {
				if v == "" {
					row[i] = "∅"
				}
			}
			want.WriteString(strings.Join(row, "|") + "\n")
			for i, v := range row {
				if v == "∅" {
					row[i] = ""
				}
			}
		}
		for _, wr := range writings {
			parts := 1 + rapid.IntRange(0, min(2, len(rows)-1)).Draw(t, "parts")
			lim := limits{buffer: rapid.IntRange(1, 64).Draw(t, "buffer"), head: 64, record: maxRecord, free: 64 << 20}
			var files, names []string
			for p := range parts {
				part := rows[p*len(rows)/parts : (p+1)*len(rows)/parts]
				text := wr.write(t, part)
				switch compression := rapid.IntRange(0, 2).Draw(t, "compression"); {
				case wr.name == parquetWriting: // it compresses its pages itself
				case compression == 1:
					text = gzipped(t, text)
				case compression == 2:
					text = zstandard(t, text)
				}
				name := fmt.Sprintf("part%d", p)
				files, names = append(files, name, text), append(names, name)
			}
			got := readLimited(names, Options{Columns: abc, FS: folder(files...)}, lim)
			if len(got.diags) > 0 {
				t.Fatalf("%s: problems:\n%s", wr.name, strings.Join(got.diags, "\n"))
			}
			if d := cmp.Diff(want.String(), got.values()); d != "" {
				t.Fatalf("%s: %s", wr.name, d)
			}
		}
	})
}

// TestBuffersDoNotMatter checks that where buffers end changes nothing: not rows, not problems, not positions.
func TestBuffersDoNotMatter(t *testing.T) {
	piece := rapid.SampledFrom([]string{"case", "decision", ",", ";", "\n", "\r\n", "\r", "\"", "\"\"", "a", "é", "\xFF", " ", "{", "}", ":", "[", "]",
		"\"case\":1", "\"decision\":\"b\"", "\\u00e9", "\\ud83d\\ude00", "\\", "1", "null", "tru", "case,decision\n", "{\"case\":1,\"decision\":2}\n"})
	rapid.Check(t, func(t *rapid.T) {
		begin := rapid.SampledFrom([]string{"", "case,decision\n", "case;note;decision\r\n", "{\"case\":1,\"decision\":\"x\"}"}).Draw(t, "begin")
		content := begin + strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "content"), "")
		opts := Options{Columns: abc, FS: folder("f", content)}
		lim := limits{buffer: 1 << 16, head: 64, record: maxRecord, free: 64 << 20}
		want := readLimited([]string{"f"}, opts, lim)
		lim.buffer = rapid.IntRange(1, 100).Draw(t, "buffer")
		got := readLimited([]string{"f"}, opts, lim)
		if d := cmp.Diff(want.diags, got.diags); d != "" {
			t.Fatalf("problems with a small buffer: %s", d)
		}
		if d := cmp.Diff(want.rows, got.rows); d != "" {
			t.Fatalf("rows with a small buffer: %s", d)
		}
	})
}
