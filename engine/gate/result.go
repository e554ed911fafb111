package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/rows"
	"github.com/oloproof/oloproof/engine/sql"
)

// The columns that the result of every query begins with, as ResultColumns has them. Each but the last has one value in all rows.
const (
	resultTally    = iota // TallySchemaName, a space and the gate
	resultSection         // the name of the policy's section; empty where it has none
	resultCounting        // the digest of the counting
	resultSource          // what the rows come from
	resultTotal           // how many rows there are
	resultN               // how many rows this row of the result stands for
	ResultOwn             // the first of the gate's own columns
)

// resultNames are their names.
var resultNames = []string{"tally", "section", "counting", "source", "total_rows", "n"}

// ResultColumns are the columns of the result of a query: those of every gate, then its own.
func ResultColumns(own ...string) []rows.Column {
	var list []rows.Column
	for _, name := range append(append([]string{}, resultNames...), own...) {
		list = append(list, rows.Column{Name: name, Required: true})
	}
	return list
}

// Query is what a query is asked for.
type Query struct {
	Dialect sql.Dialect
	Source  string   // the table or the file, as given
	Has     []string // optional columns that the table has
}

// Result is the result of a query that was run elsewhere: a tally as a table.
type Result struct {
	File     string
	Gate     string
	Name     string // of the section
	Counting string // the digest
	Source   string
	Rows     int  // that were counted
	Checked  bool // for the gate: what concerns all rows is told

	constant map[int]string // what columns with one value hold, by column
	counted  int
	odd      bool // a problem that concerns all rows is told
}

// NewResult returns the result in a file of which no row is read.
func NewResult(file string) *Result { return &Result{File: file, constant: map[int]string{}} }

// Add reads what every gate's result has of a row, and returns how many rows it stands for; ok is false where it cannot be used, which
// is reported.
func (r *Result) Add(row rows.Row, diags *diag.List) (n int, ok bool) {
	first := len(r.constant) == 0
	for col := range resultN {
		ok = r.Constant(row, col, resultNames[col], diags)
		if !ok {
			return 0, false
		}
	}
	if first {
		form, of, found := strings.Cut(r.constant[resultTally], " ")
		if form != TallySchemaName || !found {
			diags.Addf(row.Pos(resultTally), "tally: found %s; %s and a gate are wanted, as a query of `oloproof sql` gives", diag.Quote(r.constant[resultTally]), TallySchemaName)
			return 0, false
		}
		r.Gate, r.Name, r.Counting, r.Source = of, r.constant[resultSection], r.constant[resultCounting], r.constant[resultSource]
		if r.Rows, ok = r.Count(row, resultTotal, resultNames[resultTotal], 1, diags); !ok {
			return 0, false
		}
	}
	if n, ok = r.Count(row, resultN, resultNames[resultN], 1, diags); ok {
		r.counted = min(r.counted+n, 2*MostRows) // no overflow, and too many all the same
	}
	return n, ok
}

// Constant checks that a column has one value in all rows; that it has not is reported once.
func (r *Result) Constant(row rows.Row, col int, name string, diags *diag.List) bool {
	text, _ := row.Text(col)
	first, known := r.constant[col]
	if !known {
		r.constant[col] = text
		return true
	}
	if first != text && !r.odd {
		diags.Addf(row.Pos(col), "%s is %s here and %s before; a result is of one query", name, diag.Quote(text), diag.Quote(first))
		r.odd = true
	}
	return first == text
}

// Count reads a count of at least least in a column.
func (r *Result) Count(row rows.Row, col int, name string, least int, diags *diag.List) (n int, ok bool) {
	text, _ := row.Text(col)
	if n, ok = ParseCount(text, least, MostRows); !ok {
		diags.Addf(row.Pos(col), "%s: found %s; a whole number from %d to %d is allowed", name, diag.Quote(text), least, MostRows)
	}
	return n, ok
}

// Own reads a count that is the same in all rows.
func (r *Result) Own(row rows.Row, col int, name string, diags *diag.List) (n int, ok bool) {
	if !r.Constant(row, col, name, diags) {
		return 0, false
	}
	return r.Count(row, col, name, 0, diags)
}

// End reports a result that is not whole.
func (r *Result) End(diags *diag.List) {
	if r.counted != r.Rows {
		diags.Addf(diag.Pos{File: r.File}, "its rows stand for %d rows together, and total_rows is %d: is a part of the result missing, or there twice?", r.counted, r.Rows)
	}
}

// CheckQuery reports what cannot stand in a query: names of columns, and texts that mean "not recorded". It returns what the rows come
// from, as the query has it; at is where the policy says what is counted.
func CheckQuery(q Query, c Counting, section string, columns []string, at diag.Pos, diags *diag.List) (from string) {
	for _, column := range c.Columns {
		if problem := q.Dialect.RefusedName(column.Column); problem != "" && reads(columns, column.Column) {
			diags.Addf(at, "the column %s cannot be named in a query: %s", diag.Quote(column.Column), problem)
		}
	}
	for _, text := range c.MissingValues {
		if problem := sql.Refused(text); problem != "" {
			diags.Addf(at, "missing_values: %s cannot stand in a query: %s", diag.Quote(text), problem)
		}
	}
	if problem := sql.Refused(section); section != "" && problem != "" {
		diags.Addf(at, "the name %s cannot stand in a query: %s", diag.Quote(section), problem)
	}
	from, problem := q.Dialect.From(q.Source, columns)
	if problem != "" {
		diags.Add(diag.Diagnostic{Message: fmt.Sprintf("--from: %s is no table%s: %s", diag.Quote(q.Source), orFile(q.Dialect), problem)})
	}
	return from
}

// reads reports whether a query reads a column.
func reads(columns []string, name string) bool { return slices.Contains(columns, name) }

// orFile ends what a source can be.
func orFile(d sql.Dialect) string {
	if d.ReadsFiles() {
		return " or file"
	}
	return ""
}

// ResultHead is the columns that the result of every query begins with; total is how many rows there are, and n how many of them
// are in a cell, as expressions.
func ResultHead(q Query, c Counting, section, total, n string) []sql.Column {
	d := q.Dialect
	return []sql.Column{
		{Expression: d.Text(TallySchemaName + " " + c.Gate), As: resultNames[resultTally]},
		{Expression: d.Text(section), As: resultNames[resultSection]},
		{Expression: d.Text(c.Digest()), As: resultNames[resultCounting]},
		{Expression: d.Text(q.Source), As: resultNames[resultSource]},
		{Expression: total, As: resultNames[resultTotal]},
		{Expression: n, As: resultNames[resultN]},
	}
}

// MissingTexts are the texts of settings that mean "not recorded", for looking one up.
func MissingTexts(texts []policy.Text) map[string]bool {
	list := map[string]bool{}
	for _, text := range Missing(texts) {
		list[text] = true
	}
	return list
}
