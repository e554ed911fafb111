package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
)

// Document is a JSON document being read strictly: whatever is not expected is a problem with its line and column. After a fault
// in the JSON itself nothing more is read, and every value is empty.
type Document struct {
	file   string
	data   []byte
	from   int // where dec began in data
	dec    *json.Decoder
	diags  *diag.List
	broken bool
	// How far lines were counted, so that asking for one after the other takes one pass in all.
	counted, lines int
}

// newDocument reads the value that begins at an offset of data.
func newDocument(file string, data []byte, from int, diags *diag.List) *Document {
	d := &Document{file: file, data: data, from: from, dec: json.NewDecoder(bytes.NewReader(data[from:])), diags: diags}
	d.dec.UseNumber()
	return d
}

// Next is where in the document the token lies that is read next, for Errorf.
func (d *Document) Next() int {
	i := d.from + int(d.dec.InputOffset())
	for ; i < len(d.data); i++ {
		switch d.data[i] {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return i
		}
	}
	return i
}

// Line is a place that Next returned as a whole line. It is quick where places are asked for in their order.
func (d *Document) Line(at int) diag.Pos {
	if at < d.counted {
		d.counted, d.lines = 0, 0
	}
	d.lines += bytes.Count(d.data[d.counted:at], []byte{'\n'})
	d.counted = at
	return diag.Pos{File: d.file, Line: 1 + d.lines}
}

// pos is an offset as a place.
func (d *Document) pos(offset int) diag.Pos {
	before := d.data[:offset]
	line := bytes.LastIndexByte(before, '\n') + 1
	return diag.Pos{File: d.file, Line: 1 + bytes.Count(before, []byte{'\n'}), Column: 1 + utf8.RuneCount(before[line:])}
}

// Errorf reports a problem at a place that Next returned.
func (d *Document) Errorf(at int, format string, args ...any) {
	d.diags.Addf(d.pos(at), format, args...)
}

// token reads a token; nil after a fault.
func (d *Document) token() json.Token {
	if d.broken {
		return nil
	}
	at := d.Next()
	t, err := d.dec.Token()
	if err == nil {
		return t
	}
	d.fault(at, err)
	return nil
}

// fault reports an error in the JSON itself, met where a token or a value was to begin.
func (d *Document) fault(at int, err error) {
	d.broken = true
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = max(at, min(d.from+max(0, int(syntax.Offset)-1), len(d.data))) // of a literal, the offset counts from elsewhere
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		d.Errorf(len(d.data), "the JSON document ends too early: the file is cut off")
	} else {
		d.Errorf(at, "it is not JSON: %s", diag.Cause(err.Error()))
	}
}

// found says what a token is, for a message.
func found(t json.Token) string {
	switch t := t.(type) {
	case nil:
		return "null"
	case json.Delim:
		if t == '{' {
			return "an object"
		}
		return "an array"
	case string:
		return diag.Quote(t)
	case json.Number:
		return diag.Quote(t.String())
	}
	return fmt.Sprint(t)
}

// skip reads over the rest of a value whose first token was t.
func (d *Document) skip(t json.Token) {
	open, is := t.(json.Delim)
	if !is || open == '}' || open == ']' {
		return
	}
	for depth := 1; depth > 0 && !d.broken; {
		switch d.token() {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

// Skip reads over a value.
func (d *Document) Skip() {
	if d.broken {
		return
	}
	at := d.Next()
	var value json.RawMessage // several times as fast as reading its tokens
	if err := d.dec.Decode(&value); err != nil {
		// Token by token the place of the fault is known.
		again := newDocument(d.file, d.data, at, d.diags)
		if again.skip(again.token()); !again.broken {
			d.fault(at, err)
		}
		d.broken = true
	}
}

// wrong reports a token that is not wanted, and reads over its value.
func (d *Document) wrong(at int, t json.Token, what, want string) {
	if d.broken {
		return
	}
	d.Errorf(at, "%s: found %s; %s is wanted", what, found(t), want)
	d.skip(t)
}

// Object reads an object: each is called at the value of every key, once a key, and reports whether it knows the key and has read the
// value.
func (d *Document) Object(what string, each func(key string) bool) bool {
	at := d.Next()
	if t := d.token(); t != json.Delim('{') {
		d.wrong(at, t, what, "an object")
		return false
	}
	seen := map[string]bool{}
	for !d.broken && d.dec.More() {
		at := d.Next()
		key, _ := d.token().(string)
		switch {
		case d.broken:
		case seen[key]:
			d.Errorf(at, "%s: the key %s is there twice", what, diag.Quote(key))
			d.Skip()
		case !each(key):
			d.Errorf(at, "%s: the key %s is not known", what, diag.Quote(key))
			d.Skip()
		}
		seen[key] = true
	}
	d.token()
	return !d.broken
}

// Array reads an array: each is called at every element, and reads it.
func (d *Document) Array(what string, each func()) bool {
	at := d.Next()
	if t := d.token(); t != json.Delim('[') {
		d.wrong(at, t, what, "an array")
		return false
	}
	for !d.broken && d.dec.More() {
		each()
	}
	d.token()
	return !d.broken
}

// Text reads a text.
func (d *Document) Text(what string) (text string, ok bool) {
	at := d.Next()
	t := d.token()
	if text, ok = t.(string); !ok {
		d.wrong(at, t, what, "a text")
	}
	return text, ok
}

// TextOrNull reads a text that may be absent.
func (d *Document) TextOrNull(what string) (text string, recorded, ok bool) {
	at := d.Next()
	t := d.token()
	if t == nil && !d.broken {
		return "", false, true
	}
	if text, ok = t.(string); !ok {
		d.wrong(at, t, what, "a text or null")
	}
	return text, ok, ok
}

// Texts reads an array of texts.
func (d *Document) Texts(what string) []string {
	var list []string
	d.Array(what, func() {
		if text, ok := d.Text(what); ok {
			list = append(list, text)
		}
	})
	return list
}

// Count reads a whole number from least to most.
func (d *Document) Count(what string, least, most int) (n int, ok bool) {
	at := d.Next()
	t := d.token()
	number, is := t.(json.Number)
	if !is {
		d.wrong(at, t, what, "a whole number")
		return 0, false
	}
	n, ok = ParseCount(number.String(), least, most)
	if !ok {
		d.Errorf(at, "%s: found %s; a whole number from %d to %d is allowed", what, diag.Quote(number.String()), least, most)
	}
	return n, ok
}

// ParseCount reads a whole number from least to most, written in digits alone.
func ParseCount(text string, least, most int) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	ok = err == nil && n >= least && n <= most && strconv.Itoa(n) == text
	if !ok {
		return 0, false
	}
	return n, true
}

// End reports what follows the document.
func (d *Document) End() {
	if d.broken {
		return
	}
	at := d.Next()
	if _, err := d.dec.Token(); !errors.Is(err, io.EOF) {
		d.Errorf(at, "something follows the document")
	}
}

// CountOrNull reads a whole number from least to most that may be absent.
func (d *Document) CountOrNull(what string, least, most int) (n int, recorded, ok bool) {
	if bytes.HasPrefix(d.data[d.Next():], []byte("null")) {
		d.token()
		return 0, false, !d.broken
	}
	n, ok = d.Count(what, least, most)
	return n, ok, ok
}

// IsObject reports whether what is read next begins as an object.
func (d *Document) IsObject() bool { return bytes.HasPrefix(d.data[d.Next():], []byte("{")) }

// True reads the value true, the only one that a key has which is absent otherwise.
func (d *Document) True(what string) bool {
	at := d.Next()
	t := d.token()
	if t != true {
		d.wrong(at, t, what, "true")
	}
	return t == true
}
