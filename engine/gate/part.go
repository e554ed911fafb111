package gate

import (
	"bytes"
	_ "embed" // the published schema
	"encoding/json"
	"regexp"
	"sync"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
)

// TallySchemaName names the published form of a tally.
const TallySchemaName = "oloproof-tally/1"

// TallySchema is the published JSON Schema of tallies.
//
//go:embed tally.schema.json
var TallySchema []byte

// What a tally can hold: a million cells are far more than groups that can be told apart, and a million million rows than there
// are people.
const (
	MostCells = 1_000_000
	MostRows  = 1_000_000_000_000
	MostPart  = 512 << 20 // bytes of one file
)

// Counted is what one gate counted of some rows.
type Counted struct {
	Rows     int               // how many
	Rounded  int               // numbers with more decimals than are kept
	Assumed  bool              // that no row comes twice: it was not looked at
	Result   string            // compare: what trials end with, "passed" or "score"
	Versions map[string]string // compare, where a version is a file of its own: what the files of a role call it; "" where they do not
	Cells    []any             // in one order, each marshalled on a line of its own
}

// TallyPart is a tally as a file: what was counted of some of a study's rows, and nothing of single ones.
type TallyPart struct {
	File     string // where it was read
	Gate     string
	Name     string // of the policy's section; "" where it has none
	Counting Counting
	Inputs   []PartInput
	Counted  // without Cells
	data     []byte
	cells    int // where in data the cells begin
}

// PartInput is a file of rows that was counted.
type PartInput struct {
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	Content string `json:"content_sha256,omitempty"` // of what was decompressed, where the file is compressed
	Bytes   int64  `json:"bytes"`
	Rows    int    `json:"rows"`
}

// Content is the digest by which a file is known again, compressed or not.
func (in PartInput) Digest() string {
	if in.Content != "" {
		return in.Content
	}
	return in.SHA256
}

// IsPart reports whether a file is a tally as TallyPart.JSON writes it, or means to be: a JSON object whose first key is schema.
func IsPart(data []byte) bool { return partBegins().Match(data[:min(len(data), 4096)]) }

var partBegins = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\xEF\xBB\xBF)?[ \t\r\n]*\{[ \t\r\n]*"schema"[ \t\r\n]*:`)
})

// JSON returns the part as it is published: the same bytes for the same rows, each cell on a line of its own.
func (p *TallyPart) JSON(tool report.Tool) ([]byte, error) {
	var b bytes.Buffer
	var problem error
	value := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			problem = err
		}
		b.Write(text)
	}
	key := func(name string, v any) {
		b.WriteString("  \"" + name + "\": ")
		value(v)
		b.WriteString(",\n")
	}
	list := func(name string, n int, at func(i int) any) {
		b.WriteString("  \"" + name + "\": [")
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n    ")
			value(at(i))
		}
		b.WriteString("\n  ]")
	}
	b.WriteString("{\n")
	key("schema", TallySchemaName)
	key("tool", tool)
	key("gate", p.Gate)
	if p.Name != "" {
		key("name", p.Name)
	}
	key("counting", p.Counting)
	key("digest", p.Counting.Digest())
	list("inputs", len(p.Inputs), func(i int) any { return p.Inputs[i] })
	b.WriteString(",\n")
	key("rows", p.Rows)
	if p.Rounded > 0 {
		key("rounded", p.Rounded)
	}
	if p.Assumed {
		key("unique_ids_assumed", true)
	}
	if p.Result != "" {
		key("result", p.Result)
	}
	if p.Versions != nil {
		key("versions", p.Versions)
	}
	list("cells", len(p.Cells), func(i int) any { return p.Cells[i] })
	b.WriteString("\n}\n")
	return b.Bytes(), problem
}

// sha256Form is how a digest is written.
var sha256Form = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}$`) })

// ReadPart reads a part but for its cells, strictly: whatever is not as JSON writes it is a problem with its line and column, which goes
// to diags. It returns nil where there was one.
func ReadPart(file string, data []byte, diags *diag.List) *TallyPart {
	problems := diags.Len()
	if !utf8.Valid(data) {
		diags.Addf(diag.Pos{File: file}, "it is not UTF-8 throughout")
		return nil
	}
	p := &TallyPart{File: file, data: data, cells: -1}
	d := newDocument(file, data, len(data)-len(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))), diags)
	digest, foreign := "", false
	given := map[string]bool{}
	counting, inputs := 0, 0 // where they stand
	d.Object("the tally", func(key string) bool {
		given[key] = true
		at := d.Next()
		switch key {
		case "schema":
			if text, ok := d.Text(key); ok && text != TallySchemaName {
				d.Errorf(at, "its schema is %s; this program reads %s", diag.Quote(text), TallySchemaName)
				foreign, d.broken = true, true // what else it holds is not known
			}
		case "tool":
			d.Object(key, func(key string) bool {
				if key == "name" || key == "version" {
					d.Text(key)
					return true
				}
				return false
			})
		case "gate":
			p.Gate, _ = d.Text(key)
		case "name":
			p.Name, _ = d.Text(key)
		case "counting":
			counting = at
			p.Counting = readCounting(d)
		case "digest":
			digest, _ = d.Text(key)
		case "inputs":
			inputs = at
			d.Array(key, func() { p.Inputs = append(p.Inputs, readInput(d)) })
		case "rows":
			p.Rows, _ = d.Count(key, 1, MostRows)
		case "rounded":
			p.Rounded, _ = d.Count(key, 1, MostRows)
		case "unique_ids_assumed":
			p.Assumed = d.True(key)
		case "result":
			p.Result, _ = d.Text(key)
		case "versions":
			p.Versions = map[string]string{}
			d.Object(key, func(role string) bool {
				p.Versions[role], _ = d.Text(role)
				return true
			})
		case "cells":
			p.cells = at
			d.Skip()
		default:
			return false
		}
		return true
	})
	if foreign {
		return nil
	}
	d.End()
	if diags.Len() > problems {
		return nil
	}
	whole := diag.Pos{File: file}
	for _, key := range []string{"tool", "gate", "counting", "digest", "inputs", "rows", "cells"} {
		if !given[key] {
			diags.Addf(whole, "it is not a whole tally: it has no %s", key)
		}
	}
	if diags.Len() > problems {
		return nil
	}
	if p.Counting.Digest() != digest || p.Counting.Gate != p.Gate {
		d.Errorf(counting, "counting is not what the digest beside it says; use the file as it was written")
	}
	total := 0
	for _, in := range p.Inputs { // of less than MostPart bytes: no overflow
		total += in.Rows
	}
	if total != p.Rows {
		d.Errorf(inputs, "the inputs have %d rows together, and rows is %d; use the file as it was written", total, p.Rows)
	}
	if diags.Len() > problems {
		return nil
	}
	return p
}

// readCounting reads the counting of a part.
func readCounting(d *Document) Counting {
	var c Counting
	d.Object("counting", func(key string) bool {
		switch key {
		case "gate":
			c.Gate, _ = d.Text(key)
		case "columns":
			d.Array(key, func() {
				var column CountedColumn
				d.Object("column", func(key string) bool {
					switch key {
					case "role":
						column.Role, _ = d.Text(key)
					case "name":
						column.Name, _ = d.Text(key)
					case "column":
						column.Column, _ = d.Text(key)
					case "words":
						column.Words = d.Texts(key)
					case "groups":
						column.Groups = d.Texts(key)
					case "bounds":
						column.Bounds = d.Texts(key)
					default:
						return false
					}
					return true
				})
				c.Columns = append(c.Columns, column)
			})
		case "missing_values":
			c.MissingValues = d.Texts(key)
		case "calibration_bins":
			c.CalibrationBins, _ = d.Count(key, 1, MostRows)
		default:
			return false
		}
		return true
	})
	return c
}

// readInput reads an input of a part.
func readInput(d *Document) PartInput {
	var in PartInput
	given := map[string]bool{}
	at := d.Next()
	ok := d.Object("input", func(key string) bool {
		given[key] = true
		digest := func() string {
			at := d.Next()
			text, ok := d.Text(key)
			if ok && !sha256Form().MatchString(text) {
				d.Errorf(at, "%s: found %s; 64 digits from 0 to f are wanted", key, diag.Quote(text))
			}
			return text
		}
		switch key {
		case "path":
			in.Path, _ = d.Text(key)
		case "sha256":
			in.SHA256 = digest()
		case "content_sha256":
			in.Content = digest()
		case "bytes":
			n, _ := d.Count(key, 1, 1<<62)
			in.Bytes = int64(n)
		case "rows":
			in.Rows, _ = d.Count(key, 1, MostRows)
		default:
			return false
		}
		return true
	})
	for _, key := range []string{"path", "sha256", "bytes", "rows"} {
		if ok && !given[key] {
			d.Errorf(at, "the input has no %s", key)
		}
	}
	return in
}

// EachCell calls each at every cell of the part; it reads the cell, which is a value of the document.
func (p *TallyPart) EachCell(diags *diag.List, each func(d *Document)) {
	d := newDocument(p.File, p.data, p.cells, diags)
	n := 0
	d.Array("cells", func() {
		if n++; n == MostCells+1 {
			d.Errorf(d.Next(), "there are more than %d cells", MostCells)
			d.broken = true
			return
		}
		each(d)
	})
}
