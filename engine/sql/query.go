package sql

import "strings"

// Query is a query being written: common table expressions, then what is selected. Every name is quoted.
type Query struct {
	Dialect
	parts []string
}

// Column is an expression and the name that it gets.
type Column struct{ Expression, As string }

// With adds a common table expression.
func (q *Query) With(name string, columns []Column, from string, groupBy ...string) {
	text := q.Table(name) + " AS (\n" + indent(q.selected(columns, from)) + "\n"
	if len(groupBy) > 0 {
		text += "  GROUP BY\n    " + strings.Join(q.names(groupBy), ",\n    ") + "\n"
	}
	q.parts = append(q.parts, text+")")
}

// Table names a common table expression. Names are made unlike those of tables.
func (q *Query) Table(name string) string {
	name = "tally_" + name
	if q.quote == '`' { // where not every parser takes such a name in quotes, and letter case is no matter
		return name
	}
	return q.Name(name)
}

// Of is a column of a common table expression.
func (q *Query) Of(table, column string) string { return q.Table(table) + "." + q.Name(column) }

// Select ends the query.
func (q *Query) Select(columns []Column, from string) string {
	return "WITH " + strings.Join(q.parts, ", ") + "\n" + q.selected(columns, from) + "\n"
}

func (q *Query) selected(columns []Column, from string) string {
	var list []string
	for _, c := range columns {
		text := c.Expression
		if c.As != "" {
			text += " AS " + q.Name(c.As)
		}
		list = append(list, "  "+text)
	}
	return "SELECT\n" + strings.Join(list, ",\n") + "\nFROM " + from
}

func (q *Query) names(list []string) []string {
	var out []string
	for _, name := range list {
		out = append(out, q.Name(name))
	}
	return out
}

func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// Recorded is the text of a column, or NULL where nothing is recorded: it is empty, or one of the texts that mean so.
func (q *Query) Recorded(name string, missing []string) string {
	texts := []string{"''"}
	for _, m := range missing {
		texts = append(texts, q.Text(m))
	}
	return "CASE WHEN " + q.Name(name) + " IN (" + strings.Join(texts, ", ") + ") THEN NULL ELSE " + q.Name(name) + " END"
}

// Full is a column's text, empty where nothing is recorded: some programs write NULL as a text of their own.
func (q *Query) Full(name string) string { return "COALESCE(" + q.Name(name) + ", '')" }
