package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/rows"
)

// Counter is a question whose rows can be counted in several places and decided in one: it writes what it counted as a tally, and
// takes tallies in place of rows.
type Counter interface {
	Question
	// Counting is what the counting of rows depends on.
	Counting() Counting
	// Counted is what was read, to be written as a part. It is called once, when every input was read without a problem, of a
	// question compiled with the verb Tally. What only all rows together can show to be wrong within one part goes to diags.
	Counted(diags *diag.List) Counted
	// Query is a query whose result is a tally of the rows of a table. What cannot stand in one goes to diags.
	Query(q Query, diags *diag.List) string
	// ResultColumns are the columns of its result.
	ResultColumns() []rows.Column
	// AddResult counts a row of a result of the same counting, which r has not read yet, as if the rows that it stands for had been read, or
	// adds to diags why it cannot be used.
	AddResult(r *Result, row rows.Row, diags *diag.List)
	// AddPart adds the cells of a part of the same counting as if its rows had been read, or adds to diags why it cannot be used.
	AddPart(p *TallyPart, diags *diag.List)
}

// Counting is what the counting of rows depends on: two tallies of one counting merge. Thresholds, confidence and sizes such as
// min_cell are none of it.
type Counting struct {
	Gate            string          `json:"gate"`
	Columns         []CountedColumn `json:"columns"`                    // in the order in which cells have their values
	MissingValues   []string        `json:"missing_values,omitempty"`   // sorted
	CalibrationBins int             `json:"calibration_bins,omitempty"` // where probabilities are read
}

// CountedColumn is a column that counting reads.
type CountedColumn struct {
	Role   string   `json:"role"`             // "id", "label", "attribute", "where" …
	Name   string   `json:"name"`             // as the policy calls it
	Column string   `json:"column"`           // as the files call it
	Words  []string `json:"words,omitempty"`  // of two outcomes: the negative word, then the positive
	Groups []string `json:"groups,omitempty"` // of an attribute, in order
	Bounds []string `json:"bounds,omitempty"` // between the groups of an attribute of numbers
}

// Digest is the SHA-256 of the counting in hexadecimal.
func (c Counting) Digest() string {
	text, err := json.Marshal(c) // texts and whole numbers only: no error
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// InFiles is what the files call a column, by the policy's `columns`.
func InFiles(name string, columns []policy.Pair) string {
	for _, p := range columns {
		if p.Key.Value == name {
			return strings.TrimSpace(p.Value.Value)
		}
	}
	return name
}

// Missing lists the texts that mean "not recorded" as a Counting has them: trimmed, each once, sorted.
func Missing(texts []policy.Text) []string {
	var list []string
	for _, m := range texts {
		if text := strings.TrimSpace(m.Value); text != "" {
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Differences says how the counting of a part differs from c, the one of the policy, for a person; "" where they are the same.
func (c Counting) Differences(part Counting) string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if c.Gate != part.Gate {
		add("it is of %s, and this is %s", diag.Quote(part.Gate), c.Gate)
	}
	if !slices.Equal(c.MissingValues, part.MissingValues) {
		add("its missing_values are %s, and here they are %s", quotedList(part.MissingValues), quotedList(c.MissingValues))
	}
	if c.CalibrationBins != part.CalibrationBins {
		add("its calibration_bins are %s, and here they are %s", orNone(part.CalibrationBins), orNone(c.CalibrationBins))
	}
	find := func(in Counting, x CountedColumn) (CountedColumn, bool) {
		i := slices.IndexFunc(in.Columns, func(y CountedColumn) bool { return x.Role == y.Role && x.Name == y.Name })
		if i < 0 {
			return CountedColumn{}, false
		}
		return in.Columns[i], true
	}
	before := len(list)
	for _, theirs := range part.Columns {
		if _, found := find(c, theirs); !found {
			add("it counts by the %s %s, which is not read here", theirs.Role, diag.Quote(theirs.Name))
		}
	}
	for _, ours := range c.Columns {
		theirs, found := find(part, ours)
		if !found {
			add("it does not count by the %s %s", ours.Role, diag.Quote(ours.Name))
			continue
		}
		if ours.Column != theirs.Column {
			add("its %s %s is read from the column %s, and here from %s", ours.Role, diag.Quote(ours.Name), diag.Quote(theirs.Column), diag.Quote(ours.Column))
		}
		for _, of := range []struct {
			what         string
			ours, theirs []string
		}{{"words", ours.Words, theirs.Words}, {"groups", ours.Groups, theirs.Groups}, {"bounds", ours.Bounds, theirs.Bounds}} {
			if !slices.Equal(of.ours, of.theirs) {
				add("its %s of %s are %s, and here they are %s", of.what, diag.Quote(ours.Name), quotedList(of.theirs), quotedList(of.ours))
			}
		}
	}
	if len(list) == before && !slices.EqualFunc(c.Columns, part.Columns, func(x, y CountedColumn) bool { return x.Role == y.Role && x.Name == y.Name }) {
		add("its columns stand in another order")
	}
	return strings.Join(list, "; ")
}

// quotedList lists texts for a message.
func quotedList(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return Quoted(list)
}

// orNone is a setting that 0 stands for the absence of.
func orNone(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n)
}
