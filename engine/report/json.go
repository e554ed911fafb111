package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode"
	"unicode/utf16"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/interval"
)

// JSON returns the published form of the report: one indented document with a final newline, the same
// bytes for the same report on every machine. Characters that show nothing or turn the direction of writing are
// escaped, so that a viewer shows what the document says.
func (r *Report) JSON() ([]byte, error) { return Document(r) }

// Document returns a value as a published document is written; see Report.JSON.
func Document(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("document as JSON: %w", err)
	}
	return escapeInvisible(b.Bytes()), nil
}

// escapeInvisible writes format characters, which stand in texts only, as JSON escapes.
func escapeInvisible(doc []byte) []byte {
	if !bytes.ContainsFunc(doc, invisible) {
		return doc
	}
	var b bytes.Buffer
	for _, r := range string(doc) {
		switch high, low := utf16.EncodeRune(r); {
		case !invisible(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.Bytes()
}

// invisible reports a character that shows nothing: of the Unicode category Cf, or a control character beyond those of
// ASCII that the encoder has escaped, such as U+009B, which begins a terminal's commands.
func invisible(r rune) bool {
	return unicode.Is(unicode.Cf, r) || r >= 0x7f && unicode.Is(unicode.Cc, r)
}

// MarshalJSON writes the counts as an object, in their order.
func (d Data) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, c := range d {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(c.Name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s:%d", name, c.Count)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object of counts, keeping its order.
func (d *Data) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	open, err := dec.Token()
	if err != nil {
		return err
	}
	*d = nil
	switch open {
	case nil: // null says nothing
		return nil
	case json.Delim('{'):
	default:
		return errors.New("data is not an object of counts")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var count int
		if err := dec.Decode(&count); err != nil {
			return fmt.Errorf("data: the count of %s is not a whole number", diag.Quote(fmt.Sprint(name)))
		}
		*d = append(*d, Count{Name: fmt.Sprint(name), Count: count})
	}
	_, err = dec.Token()
	return err
}

// Number returns a pointer to x, or nil for a NaN: a number that does not exist is absent from the report.
func Number(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

// Int returns a pointer to n.
func Int(n int) *int { return &n }

// PublishInterval returns the published form of an interval: an infinite side is null.
func PublishInterval(iv interval.Interval) *Interval {
	side := func(x float64) *float64 {
		if math.IsInf(x, 0) {
			return nil
		}
		return Number(x)
	}
	return &Interval{Lower: side(iv.Lower), Upper: side(iv.Upper), Confidence: iv.Confidence, Method: iv.Method, Looks: iv.Looks}
}

// Width is upper minus lower, +Inf where a side is unbounded.
func (i *Interval) Width() float64 {
	if i.Lower == nil || i.Upper == nil {
		return math.Inf(1)
	}
	return *i.Upper - *i.Lower
}
