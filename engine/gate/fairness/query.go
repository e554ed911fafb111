package fairness

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/rows"
	"github.com/oloproof/oloproof/engine/sql"
)

// The gate's own columns of the result of a query. Those of attributes, two each, and of where follow.
const (
	resultWithID   = gate.ResultOwn + iota // rows with an id
	resultIDs                              // different ids
	resultWithUnit                         // rows that say whose they are; 0 without a unit
	resultUnits                            // different people
	resultLabel                            // as text, for the reader to judge
	resultPrediction
	resultBin           // of a probability that the database took for a number; empty for none
	resultProbabilities // what these add up to
	resultProbability   // the text of one that it did not
	resultAttributes
)

var resultNames = []string{"rows_with_id", "distinct_ids", "rows_with_unit", "distinct_units", "label", "prediction", "bin", "probabilities", "probability"}

// ResultColumns implements gate.Counter.
func (q *question) ResultColumns() []rows.Column {
	own := slices.Clone(resultNames)
	for i := range q.attributes {
		own = append(own, groupColumn(i), valueColumn(i))
	}
	for i := range q.slicing.Columns {
		own = append(own, whereColumn(i))
	}
	return gate.ResultColumns(own...)
}

// groupColumn and valueColumn are the columns of an attribute: the number of its group, where the database found it, else the text.
func groupColumn(i int) string { return "group_" + strconv.Itoa(1+i) }
func valueColumn(i int) string { return "value_" + strconv.Itoa(1+i) }
func whereColumn(i int) string { return "where_" + strconv.Itoa(1+i) }

// Query implements gate.Counter. The database counts by texts, trimmed; whether a text is a label, or a group, is for AddResult, so that it
// is judged in one place. Only numbers of many values become bins and sums there, where they are written plainly; others are texts too.
func (q *question) Query(ask gate.Query, diags *diag.List) string {
	t, d := q.tally, ask.Dialect
	section := q.source.Section
	for _, name := range ask.Has {
		if name != "label" {
			diags.Add(diag.Diagnostic{Message: fmt.Sprintf("--has: %s is no optional column of fairness; label is", diag.Quote(name))})
		}
	}
	read := map[int]string{} // by column: its name in the query
	read[0] = "id"
	if t.columns[t.at.label].Required || slices.Contains(ask.Has, "label") {
		read[t.at.label] = "label"
	}
	read[t.at.prediction] = "prediction"
	if t.at.probability >= 0 {
		read[t.at.probability] = "probability"
	}
	if t.at.unit >= 0 {
		read[t.at.unit] = "unit"
	}
	for i := range t.attributes {
		read[t.at.attributes+i] = valueColumn(i)
	}
	for k, i := range t.whereOrder() {
		read[t.at.where+i] = whereColumn(k)
	}
	var files []string
	var texts, cases []sql.Column
	build := sql.Query{Dialect: d}
	counting := q.Counting()
	for col := range t.columns {
		name, is := read[col]
		if !is {
			continue
		}
		file := q.inFiles(t.columns[col].Name)
		files = append(files, file)
		texts = append(texts, sql.Column{Expression: d.Trimmed(d.AsText(d.Name(file))), As: name})
		cases = append(cases, sql.Column{Expression: build.Recorded(name, counting.MissingValues), As: name})
	}
	problems := diags.Len()
	from := gate.CheckQuery(ask, counting, section.Name.Value, files, section.Pos, diags)
	if diags.Len() > problems {
		return ""
	}
	build.With("texts", texts, from)
	build.With("cases", cases, build.Table("texts"))

	// Numbers, NULL where the text is none that is written plainly.
	from = build.Table("cases")
	number := func(name string) string { return name + "_number" }
	numbers := []sql.Column{{Expression: "*"}}
	if d.HasNumbers() {
		if t.at.probability >= 0 {
			numbers = append(numbers, sql.Column{Expression: d.Number(d.Name("probability"), true), As: number("probability")})
		}
		for i := range t.attributes {
			if t.attributes[i].bounds != nil {
				numbers = append(numbers, sql.Column{Expression: d.Number(d.Name(valueColumn(i)), false), As: number(valueColumn(i))})
			}
		}
	}
	if len(numbers) > 1 {
		build.With("numbers", numbers, from)
		from = build.Table("numbers")
	}
	count := func(what, as string) sql.Column { return sql.Column{Expression: "COUNT(" + what + ")", As: as} }
	totals := []sql.Column{count("*", "total_rows"), count(d.Name("id"), "rows_with_id"), count("DISTINCT "+d.Name("id"), "distinct_ids")}
	if t.at.unit >= 0 {
		totals = append(totals, count(d.Name("unit"), "rows_with_unit"), count("DISTINCT "+d.Name("unit"), "distinct_units"))
	} else {
		totals = append(totals, sql.Column{Expression: "0", As: "rows_with_unit"}, sql.Column{Expression: "0", As: "distinct_units"})
	}
	build.With("totals", totals, build.Table("cases"))

	// What makes rows alike.
	var kinds []sql.Column
	var keys []string
	key := func(expression, as string) {
		kinds = append(kinds, sql.Column{Expression: expression, As: as})
		keys = append(keys, as)
	}
	if _, is := read[t.at.label]; is {
		key(build.Full("label"), "label")
	} else {
		key("''", "label")
	}
	key(build.Full("prediction"), "prediction")
	summed := t.at.probability >= 0 && d.HasNumbers()
	switch {
	case summed:
		n := d.Name(number("probability"))
		plain := n + " <= " + d.Edge("1")
		edges := make([]string, len(t.edges))
		for i, e := range t.edges {
			edges[i] = e.String()
		}
		key("CASE WHEN "+plain+" THEN "+stepped(d, n, edges)+" ELSE '' END", "bin")
		key("CASE WHEN "+plain+" THEN '' ELSE "+build.Full("probability")+" END", "probability")
		kinds = append(kinds, sql.Column{Expression: "CASE WHEN " + plain + " THEN " + n + " END", As: "summed"})
	case t.at.probability >= 0:
		key("''", "bin")
		key(build.Full("probability"), "probability")
	default:
		key("''", "bin")
		key("''", "probability")
	}
	for i := range t.attributes {
		a := &t.attributes[i]
		if a.bounds == nil || !d.HasNumbers() {
			key("''", groupColumn(i))
			key(build.Full(valueColumn(i)), valueColumn(i))
			continue
		}
		n := d.Name(number(valueColumn(i)))
		edges := make([]string, len(a.bounds))
		for j, b := range a.bounds {
			edges[j] = b.value.String()
		}
		key("CASE WHEN "+n+" IS NULL THEN '' ELSE "+stepped(d, n, edges)+" END", groupColumn(i))
		key("CASE WHEN "+n+" IS NULL THEN "+build.Full(valueColumn(i))+" ELSE '' END", valueColumn(i))
	}
	for i := range t.where {
		key(build.Full(whereColumn(i)), whereColumn(i))
	}
	build.With("kinds", kinds, from)
	var cells []sql.Column
	for _, k := range keys {
		cells = append(cells, sql.Column{Expression: d.Name(k), As: k})
	}
	cells = append(cells, count("*", "n"))
	sum := "''"
	if summed {
		cells = append(cells, sql.Column{Expression: "SUM(" + d.Name("summed") + ")", As: "sum"})
		sum = "COALESCE(" + d.AsText(build.Of("cells", "sum")) + ", '')"
	}
	build.With("cells", cells, build.Table("kinds"), keys...)

	result := gate.ResultHead(ask, counting, section.Name.Value, build.Of("totals", "total_rows"), build.Of("cells", "n"))
	for _, c := range q.ResultColumns()[gate.ResultOwn:] {
		table := "cells"
		switch c.Name {
		case "probabilities":
			result = append(result, sql.Column{Expression: sum, As: c.Name})
			continue
		case "rows_with_id", "distinct_ids", "rows_with_unit", "distinct_units":
			table = "totals"
		}
		result = append(result, sql.Column{Expression: build.Of(table, c.Name), As: c.Name})
	}
	return build.Select(result, build.Table("cells")+" CROSS JOIN "+build.Table("totals"))
}

// stepped is the number of the step that a number lies on, as a text: how many of the edges, ascending, are not above it.
func stepped(d sql.Dialect, number string, edges []string) string {
	var b strings.Builder
	b.WriteString("CASE")
	for i, edge := range edges {
		fmt.Fprintf(&b, " WHEN %s < %s THEN '%d'", number, d.Edge(edge), i)
	}
	fmt.Fprintf(&b, " ELSE '%d' END", len(edges))
	return b.String()
}

// AddResult implements gate.Counter.
func (q *question) AddResult(r *gate.Result, row rows.Row, diags *diag.List) {
	t := q.tally
	n, ok := r.Add(row, diags)
	if !ok || !q.checkOnce(r, row, diags) {
		return
	}
	c := &cell{batch: batch{label: none, prediction: none, bin: noBin, n: n}, groups: make([]int, len(t.attributes)), undeclared: make([]string, len(t.attributes)), texts: make([]string, len(t.where))}
	wrong := func(col int, format string, args ...any) {
		diags.Addf(row.Pos(col), format, args...)
		ok = false
	}
	missing := gate.MissingTexts(q.source.Settings.MissingValues)
	text := func(col int) string { // "" where nothing is recorded
		if s, _ := row.Text(col); !missing[s] {
			return s
		}
		return ""
	}
	outcome := func(col int, b *binary) int {
		s := text(col)
		if s == "" {
			return none
		}
		value, err := b.read(s)
		if err != nil {
			wrong(col, "%s: %v", diag.Printable(b.column.Value), err)
		}
		return value
	}
	c.label, c.prediction = outcome(resultLabel, &t.label), outcome(resultPrediction, &t.prediction)
	if t.at.probability >= 0 {
		bin, _ := row.Text(resultBin)
		sum, _ := row.Text(resultProbabilities)
		switch s := text(resultProbability); {
		case bin == "" && s == "" && sum == "":
		case bin == "" && s != "":
			p, rounded, inside, err := gate.Share(s)
			switch {
			case err != nil:
				wrong(resultProbability, "%s: %v", diag.Printable(q.probability.Value), err)
			case !inside:
				wrong(resultProbability, "%s: found %s; a probability from 0 to 1 is allowed", diag.Printable(q.probability.Value), diag.Quote(s))
			case rounded:
				t.rounded += n
			}
			c.bin, c.probabilities = binOf(t.edges, p), rows.Sum{}.Add(p).Times(n)
		default:
			at, is := gate.ParseCount(bin, 0, len(t.edges))
			if !is || s != "" {
				wrong(resultBin, "bin: found %s; a bin from 0 to %d is allowed, and no probability beside it", diag.Quote(bin), len(t.edges))
				break
			}
			c.bin = at
			if problem := t.readSum(c, sum); problem != "" {
				wrong(resultProbabilities, "probabilities: %s", problem)
			}
		}
	}
	for i := range t.attributes {
		a := &t.attributes[i]
		at, value := resultAttributes+2*i, text(resultAttributes+2*i+1)
		group, _ := row.Text(at)
		c.groups[i] = empty
		switch {
		case group != "":
			g, is := gate.ParseCount(group, 0, len(a.groups)-1)
			if !is || value != "" || a.bounds == nil {
				wrong(at, "%s: found %s; what a query of this declaration gives is allowed", groupColumn(i), diag.Quote(group))
			}
			c.groups[i] = g
		case value != "":
			g, declared, err := a.of(value)
			switch {
			case err != nil:
				wrong(at+1, "%s: %v", diag.Printable(a.name.Value), err)
			case declared:
				c.groups[i] = g
			default:
				c.groups[i], c.undeclared[i] = strange, value
			}
		}
	}
	for k, i := range t.whereOrder() {
		c.texts[i] = text(resultAttributes + 2*len(t.attributes) + k)
	}
	if ok {
		t.add(c)
	}
}

// checkOnce reports ids and people that come twice, or are missing. It is told once a result.
func (q *question) checkOnce(r *gate.Result, row rows.Row, diags *diag.List) bool {
	first := !r.Checked
	r.Checked = true
	ok := true
	check := func(name string, with, different int, empty, twice string) {
		all, sound := r.Own(row, with, resultNames[with-gate.ResultOwn], diags)
		some, sure := r.Own(row, different, resultNames[different-gate.ResultOwn], diags)
		switch ok = ok && sound && sure; {
		case !ok || !first:
		case all > r.Rows || some > all:
			diags.Addf(row.Pos(with), "%s cannot be: of %d rows %d, %d of them different", resultNames[with-gate.ResultOwn], r.Rows, all, some)
		default:
			if all < r.Rows {
				diags.Addf(row.Pos(with), "%s is empty in %s; %s", diag.Printable(name), gate.Plural(r.Rows-all, "row", "rows"), empty)
			}
			if some < all {
				diags.Addf(row.Pos(different), "%s has only %d different values in %d rows; %s", diag.Printable(name), some, all, twice)
			}
		}
	}
	check(q.id.Value, resultWithID, resultIDs, "every case needs an id", "each case has its own")
	if q.unit.Set {
		check(q.unit.Value, resultWithUnit, resultUnits, "with a unit declared, every case says whose it is", "one person has several cases, and the intervals hold for cases of different people only")
	}
	return ok
}
