//go:build linux

package limits

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// repeated gives a text again and again, n bytes of it.
type repeated struct {
	text []byte
	n    int
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.n)], r.text[r.at:])
	r.at, r.n = (r.at+n)%len(r.text), r.n-n
	return n, nil
}

// repeat gives n bytes of a text that is repeated.
func repeat(text string, n int) io.Reader { return &repeated{text: []byte(text), n: n} }

// then reads one after the other.
func then(parts ...any) io.Reader {
	var list []io.Reader
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			list = append(list, strings.NewReader(p))
		case io.Reader:
			list = append(list, p)
		}
	}
	return io.MultiReader(list...)
}

// unit is a block of text that is repeated: large enough to be quick to hand out.
func unit(text string) string { return strings.Repeat(text, 1<<16/len(text)) }

// TestLongLines: a line without an end, whatever it is in, is an error once it is over the limit, and takes the memory of the limit.
func TestLongLines(t *testing.T) {
	n := size(10<<30, 1<<30, 64<<20)
	for _, s := range studies() {
		first := s.row(0)
		for _, c := range []struct {
			what  string
			input io.Reader
			want  string
		}{
			{"a header", repeat(unit("a"), n), "16 MiB"},
			{"a row", then(s.header+"\n", repeat(unit("a"), n)), "16 MiB"},
			{"a field in quotes", then(s.header+"\n\"", repeat(unit("a\n"), n)), "16 MiB"},
			{"a value of JSON", then(`{"note":"`, repeat(unit("a"), n)), "16 MiB"},
			{"spaces in JSON", then(s.jsonl(0, ""), `{`, repeat(unit(" "), n)), "16 MiB"},
			{"empty lines", then(s.header+"\n"+first+"\n", repeat(unit("\n"), min(n, 64<<20)), s.row(1)+"\n"), ""},
			{"an array of JSON", then(`{"note":[`, repeat(unit("1,"), n)), "16 MiB"},
		} {
			dir := s.folder(t)
			o := s.decide(t, dir, "-", c.input)
			o.check(t, s.gate+", "+c.what, c.want, filepath.Join(dir, "report.json"), 150)
			if s.gate == "human-ai" {
				o.measured(fmt.Sprintf("one line, %s", c.what), fmt.Sprintf("%d GB on standard input", n>>30))
			}
			if !long && c.what == "a row" {
				break
			}
		}
		// A file that is nothing but a hole.
		dir := s.folder(t)
		f, err := os.Create(filepath.Join(dir, "rows.csv"))
		if err == nil {
			err = f.Truncate(10 << 30)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		o := s.decide(t, dir, "rows.csv", nil)
		o.check(t, s.gate+", a hole", "16 MiB", filepath.Join(dir, "report.json"), 150)
		o = s.step(t, dir, "rows.csv").do(t)
		o.check(t, s.gate+", a hole in a step", "16 MiB", filepath.Join(dir, "report.json"), 150)
	}
}

// packed writes a compressed file: first once, then a block as often as it takes n bytes, each time in a member or a frame of its own.
func packed(t *testing.T, path, kind, first, block string, n int) {
	t.Helper()
	pack := func(text io.Reader) []byte {
		var b bytes.Buffer
		var w io.WriteCloser
		var err error
		if kind == "gzip" {
			w, err = gzip.NewWriterLevel(&b, gzip.DefaultCompression)
		} else {
			w, err = zstd.NewWriter(&b)
		}
		if err == nil {
			_, err = io.Copy(w, text)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const each = 16 << 20
	if _, err := f.Write(pack(strings.NewReader(first))); err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		return
	}
	part := pack(repeat(block, each/len(block)*len(block)))
	for done := 0; done < n; done += each {
		if _, err := f.Write(part); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBombs: compressed data that grow out of all proportion end in an error that says so; what honest data grow to is read.
func TestBombs(t *testing.T) {
	n := size(10<<30, 512<<20, 128<<20)
	for _, s := range studies() {
		if !long && s.gate != "human-ai" {
			continue
		}
		for _, kind := range []string{"gzip", "zstd"} {
			for _, c := range []struct {
				what, first, block, want string
				n                        int
			}{
				{"one line", s.header + "\n", unit("a"), "16 MiB", n},
				{"nothing but zeros", "", unit("\x00"), "16 MiB", n},
				{"empty lines", s.header + "\n" + s.row(0) + "\n" + s.row(1) + "\n", unit("\n"), "256-fold", n},
				{"honest rows", s.content(size(1_000_000, 200_000, 2_000)), "\n", "", 0},
			} {
				if !long && (kind == "zstd" || c.what != "empty lines") || s.gate == "human-ai" && c.what == "honest rows" && kind == "zstd" {
					continue
				}
				dir := s.folder(t)
				packed(t, filepath.Join(dir, "rows.csv"), kind, c.first, c.block, c.n)
				o := s.decide(t, dir, "rows.csv", nil)
				most := 200
				if c.want == "" { // human-ai and anchoring take 1.5 kB a row
					most = 200 + size(2300, 500, 100)
				}
				o.check(t, s.gate+", "+kind+" of "+c.what, c.want, filepath.Join(dir, "report.json"), most)
				if s.gate == "human-ai" {
					o.measured(fmt.Sprintf("%s of %s", kind, c.what), fmt.Sprintf("%d MB decompressed", max(c.n, len(c.first))/1e6))
				}
				if c.what == "empty lines" {
					s.step(t, dir, "rows.csv").do(t).check(t, s.gate+" in a step, "+kind+" of "+c.what, c.want, filepath.Join(dir, "report.json"), most)
				}
			}
		}
		// Compressed twice.
		dir := s.folder(t)
		var inner bytes.Buffer
		w := gzip.NewWriter(&inner)
		if _, err := io.WriteString(w, s.content(200)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		packed(t, filepath.Join(dir, "rows.csv"), "gzip", inner.String(), "\n", 0)
		s.decide(t, dir, "rows.csv", nil).check(t, s.gate+", compressed twice", "it is compressed twice", filepath.Join(dir, "report.json"), 100)
	}
}

// TestWide: a million columns in the header, in a row, or in a JSON object.
func TestWide(t *testing.T) {
	n := size(1_000_000, 1_000_000, 100_000)
	members := func() string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"k%d":0,`, i)
		}
		return b.String()
	}()
	columns := func() string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ",k%d", i)
		}
		return b.String()
	}()
	for _, s := range studies() {
		for _, c := range []struct{ what, text, want string }{
			{"a header of a million columns", s.header + columns + "\n" + s.row(0) + strings.Repeat(",1", n) + "\n", "at most 65536"},
			{"a header of 60,000 columns", s.header + strings.Repeat(",", 60_000) + "\n" + s.row(0) + strings.Repeat(",", 60_000) + "\n" + s.row(1) + strings.Repeat(",", 60_000) + "\n", ""},
			{"a row of a million fields", s.header + "\n" + s.row(0) + "\n" + s.row(1) + strings.Repeat(",1", n) + "\n", "fields and the header"},
			{"an object of a million members", s.jsonl(0, members) + s.jsonl(1, ""), ""},
		} {
			dir := s.folder(t)
			o := s.decide(t, dir, "-", strings.NewReader(c.text))
			o.check(t, s.gate+", "+c.what, c.want, filepath.Join(dir, "report.json"), 300)
			if s.gate == "human-ai" {
				o.measured(c.what, fmt.Sprintf("%d MB", len(c.text)/1e6))
			}
		}
	}
}

// TestDeep: objects and arrays in each other.
func TestDeep(t *testing.T) {
	n := size(5_000_000, 1_000_000, 100_000)
	for _, s := range studies() {
		for _, open := range []string{"[", `{"a":`} {
			dir := s.folder(t)
			text := s.jsonl(0, `"note":`+strings.Repeat(open, n)+"1"+strings.Repeat(map[string]string{"[": "]"}[open]+strings.TrimSuffix("}", map[bool]string{true: "}"}[open == "["]), n)+",")
			o := s.decide(t, dir, "-", strings.NewReader(text))
			o.check(t, s.gate+", deep JSON", "nest", filepath.Join(dir, "report.json"), 150)
			o.measured(s.gate+", JSON that nests", fmt.Sprintf("%d deep", n))
		}
	}
}

// wide is a text in UTF-16.
func wide(text string, bigEndian bool, mark bool) string {
	var b []byte
	if mark {
		text = "\ufeff" + text
	}
	for _, u := range utf16.Encode([]rune(text)) {
		if bigEndian {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}

// TestForeign: what is no text in UTF-8 is an error that says where, never a row with something else in it.
func TestForeign(t *testing.T) {
	for _, s := range studies() {
		two := s.row(0) + "\n" + s.row(1) + "\n"
		last := s.row(2)
		for _, c := range []struct{ what, text, want string }{
			{"a zero byte", s.header + "\n" + two + last + "\x00\n", ""},
			{"zero bytes in front", "\x00\x00\x00\x00" + s.header + "\n" + two, ":1"},
			{"a byte that is not UTF-8", s.header + "\n" + two + last + "\xff\n", "0xFF is not UTF-8"},
			{"a cut character", s.header + "\n" + two + last + "\xe2\x82", "is not UTF-8"},
			{"a surrogate as bytes", s.header + "\n" + two + last + "\xed\xa0\x80\n", "is not UTF-8"},
			{"an overlong form", s.header + "\n" + two + last + "\xc0\x80\n", "is not UTF-8"},
			{"UTF-16LE with a mark", wide(s.header+"\n"+two, false, true), "UTF-16LE"},
			{"UTF-16BE with a mark", wide(s.header+"\n"+two, true, true), "UTF-16BE"},
			{"UTF-16LE", wide(s.header+"\n"+two, false, false), "UTF-16LE"},
			{"UTF-16BE", wide(s.header+"\n"+two, true, false), "UTF-16BE"},
			{"half of a pair in JSON", s.jsonl(0, "") + s.jsonl(1, "") + strings.Replace(s.jsonl(2, ""), `":"`, `":"\ud800`, 1), "surrogate"},
			{"a zero character in JSON", s.jsonl(0, "") + s.jsonl(1, "") + s.jsonl(2, `"note":"\u0000",`), ""},
			{"a raw zero in JSON", s.jsonl(0, "") + s.jsonl(1, "") + s.jsonl(2, "\"note\":\"\x00\","), ":3:"},
			{"a NaN in JSON", s.jsonl(0, "") + s.jsonl(1, "") + s.jsonl(2, `"note":NaN,`), ":3:"},
			{"nothing but a mark", "\ufeff", "empty"},
			{"nothing", "", "empty"},
		} {
			if !long && s.gate != "compare" {
				continue
			}
			dir := s.folder(t)
			put(t, dir, "rows.csv", c.text)
			o := s.decide(t, dir, "rows.csv", nil)
			if c.what == "a zero byte" { // part of the last field: of a text it is, of a number it is not
				if o.Status != 2 && s.gate != "anchoring" && s.gate != "human-ai" && s.gate != "fairness" {
					t.Errorf("%s, %s: exit status %d", s.gate, c.what, o.Status)
				}
				continue
			}
			o.check(t, s.gate+", "+c.what, c.want, filepath.Join(dir, "report.json"), 100)
		}
	}
}
