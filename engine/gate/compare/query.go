package compare

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/rows"
	"github.com/oloproof/oloproof/engine/sql"
)

// The gate's own columns of the result of a query. Those of where follow.
const (
	resultKind      = gate.ResultOwn + iota // what trials end with: passed or score
	resultWithTrial                         // rows that name their trial
	resultTrials                            // different trials of a case in a version
	resultVersion
	resultCase
	resultText // of a result that the reader is to judge: all that pass or do not, and scores that the database took for no number
	resultScores
	resultSum // of so many scores that the database took for numbers
	resultLeast
	resultMost
	resultWhere
)

var resultNames = []string{"result", "rows_with_trial", "distinct_trials", "version", "case_id", "result_text", "scores", "score_sum", "score_least", "score_most"}

// ResultColumns implements gate.Counter.
func (q *question) ResultColumns() []rows.Column {
	own := slices.Clone(resultNames)
	for i := range q.slicing.Columns {
		own = append(own, whereColumn(i))
	}
	return gate.ResultColumns(own...)
}

func whereColumn(i int) string { return "where_" + strconv.Itoa(1+i) }

// Query implements gate.Counter. Whether a text is a result is for AddResult; only scores that are written plainly are added up by the
// database.
func (q *question) Query(ask gate.Query, diags *diag.List) string {
	d := ask.Dialect
	problems := diags.Len()
	kind, trial := passed, false
	kinds := 0
	for _, name := range ask.Has {
		switch name {
		case passed.String():
			kinds++
		case score.String():
			kind = score
			kinds++
		case "trial":
			trial = true
		default:
			diags.Add(diag.Diagnostic{Message: fmt.Sprintf("--has: %s is no optional column of compare; trial, passed and score are", diag.Quote(name))})
		}
	}
	if kinds > 1 {
		diags.Add(diag.Diagnostic{Message: "--has: a trial has passed or score, and not both; name the one that the table has"})
	}
	counting := q.Counting()
	section := ""
	if q.source.Section != nil {
		section = q.source.Section.Name.Value
	}
	build := sql.Query{Dialect: d}
	var files []string
	var texts, cases []sql.Column
	read := func(name, as string) {
		file := gate.InFiles(name, q.source.Settings.Columns)
		files = append(files, file)
		texts = append(texts, sql.Column{Expression: d.Trimmed(d.AsText(d.Name(file))), As: as})
		cases = append(cases, sql.Column{Expression: build.Recorded(as, counting.MissingValues), As: as})
	}
	read("version", "version")
	read("case", "case_id")
	if trial {
		read("trial", "trial")
	}
	read(kind.String(), "result")
	for k, i := range q.whereOrder() {
		read(q.slicing.Columns[i], whereColumn(k))
	}
	from := gate.CheckQuery(ask, counting, section, files, q.at(), diags)
	if diags.Len() > problems {
		return ""
	}
	build.With("texts", texts, from)
	build.With("trials", cases, build.Table("texts"))
	summed := kind == score && d.HasNumbers()
	from = build.Table("trials")
	if summed {
		build.With("numbers", []sql.Column{{Expression: "*"}, {Expression: d.Number(d.Name("result"), true), As: "number"}}, from)
		from = build.Table("numbers")
	}
	count := func(what, as string) sql.Column { return sql.Column{Expression: "COUNT(" + what + ")", As: as} }
	build.With("counted", []sql.Column{count("*", "total_rows")}, build.Table("trials"))
	totals := []sql.Column{{Expression: d.Name("total_rows"), As: "total_rows"}}
	totalsFrom := build.Table("counted")
	if trial {
		named := []string{"version", "case_id", "trial"}
		var columns []sql.Column
		for _, name := range named {
			columns = append(columns, sql.Column{Expression: d.Name(name), As: name})
		}
		build.With("named", append(columns, count("*", "times")), build.Table("trials")+" WHERE "+d.Name("trial")+" IS NOT NULL", named...)
		build.With("different", []sql.Column{count("*", "distinct_trials"), {Expression: "COALESCE(SUM(" + d.Name("times") + "), 0)", As: "rows_with_trial"}}, build.Table("named"))
		totals = append(totals, sql.Column{Expression: d.Name("rows_with_trial"), As: "rows_with_trial"}, sql.Column{Expression: d.Name("distinct_trials"), As: "distinct_trials"})
		totalsFrom += " CROSS JOIN " + build.Table("different")
	} else {
		totals = append(totals, sql.Column{Expression: "0", As: "rows_with_trial"}, sql.Column{Expression: "0", As: "distinct_trials"})
	}
	build.With("totals", totals, totalsFrom)

	var like []sql.Column
	var keys []string
	key := func(expression, as string) {
		like = append(like, sql.Column{Expression: expression, As: as})
		keys = append(keys, as)
	}
	key(build.Full("version"), "version")
	key(build.Full("case_id"), "case_id")
	if plain := d.Name("number") + " <= " + d.Edge("1"); summed {
		key("CASE WHEN "+plain+" THEN '' ELSE "+build.Full("result")+" END", "result_text")
		like = append(like, sql.Column{Expression: "CASE WHEN " + plain + " THEN " + d.Name("number") + " END", As: "summed"})
	} else {
		key(build.Full("result"), "result_text")
	}
	for i := range q.slicing.Columns {
		key(build.Full(whereColumn(i)), whereColumn(i))
	}
	build.With("kinds", like, from)
	var cells []sql.Column
	for _, k := range keys {
		cells = append(cells, sql.Column{Expression: d.Name(k), As: k})
	}
	cells = append(cells, count("*", "n"))
	of := map[string]string{"result": d.Text(kind.String()), "scores": "0", "score_sum": "''", "score_least": "''", "score_most": "''"}
	if summed {
		delete(of, "scores")
		cells = append(cells, count(d.Name("summed"), "scores"))
		for _, f := range []struct{ name, function string }{{"score_sum", "SUM"}, {"score_least", "MIN"}, {"score_most", "MAX"}} {
			cells = append(cells, sql.Column{Expression: f.function + "(" + d.Name("summed") + ")", As: f.name})
			of[f.name] = "COALESCE(" + d.AsText(build.Of("cells", f.name)) + ", '')"
		}
	}
	build.With("cells", cells, build.Table("kinds"), keys...)
	result := gate.ResultHead(ask, counting, section, build.Of("totals", "total_rows"), build.Of("cells", "n"))
	for _, c := range q.ResultColumns()[gate.ResultOwn:] {
		expression, constant := of[c.Name]
		if !constant {
			table := "cells"
			if c.Name == "rows_with_trial" || c.Name == "distinct_trials" {
				table = "totals"
			}
			expression = build.Of(table, c.Name)
		}
		result = append(result, sql.Column{Expression: expression, As: c.Name})
	}
	return build.Select(result, build.Table("cells")+" CROSS JOIN "+build.Table("totals"))
}

// AddResult implements gate.Counter.
func (q *question) AddResult(r *gate.Result, row rows.Row, diags *diag.List) {
	t := q.tally
	n, ok := r.Add(row, diags)
	if !ok || !q.startResult(r, row, diags) {
		return
	}
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
	version, item := text(resultVersion), text(resultCase)
	if version == "" {
		wrong(resultVersion, "version is empty; every row needs one")
	}
	if item == "" {
		wrong(resultCase, "case is empty; every row needs one")
	}
	c := &cell{rows: n}
	scores, sound := r.Count(row, resultScores, "scores", 0, diags)
	ok = ok && sound
	switch s := text(resultText); {
	case s != "" && scores > 0 || scores > n || scores > 0 && t.result != score:
		wrong(resultScores, "scores: %d cannot be; what a query of this policy gives is allowed", scores)
	case s != "" && t.result == passed:
		passes, err := rows.Binary(s)
		if err != nil {
			wrong(resultText, "passed: %v (empty where the trial did not finish)", err)
			break
		}
		c.recorded = n
		if passes {
			c.setPassed(n)
		}
	case s != "":
		value, rounded, inside, err := gate.Share(s)
		switch {
		case err != nil:
			wrong(resultText, "score: %v", err)
		case !inside:
			wrong(resultText, "score: found %s; a number from 0 to 1 is allowed", diag.Quote(s))
		case rounded:
			t.rounded += n
		}
		c.recorded, c.first, c.sum = n, value, rows.Sum{}.Add(value).Times(n)
	case scores > 0:
		c.recorded = scores
		if problem, col := c.setScores(row); problem != "" {
			wrong(col, "%s: %s", resultNames[col-gate.ResultOwn], problem)
		}
	}
	var where []string
	for range q.slicing.Columns {
		where = append(where, "")
	}
	for k, i := range q.whereOrder() {
		where[i] = text(resultWhere + k)
	}
	if ok {
		t.addCell(version, item, c, where, row.Pos(resultCase), diags)
	}
}

// setScores takes the sum, the least and the most of a cell's recorded scores from a row. problem is "" or why they cannot be, in a column.
func (c *cell) setScores(row rows.Row) (problem string, col int) {
	var values [3]rows.Decimal
	for i, col := range []int{resultLeast, resultMost, resultSum} {
		text, _ := row.Text(col)
		value, rounded, err := rows.ParseDecimal(text)
		switch {
		case err != nil:
			return err.Error(), col
		case rounded:
			return fmt.Sprintf("found %s; at most %d decimals are allowed", diag.Quote(text), rows.Places), col
		}
		values[i] = value
	}
	least, most, sum := values[0], values[1], values[2]
	times := func(d rows.Decimal, n int) *big.Int { return new(big.Int).Mul(d.Big(), big.NewInt(int64(n))) }
	// One score is the least and one the most; the others lie between them.
	low := new(big.Int).Add(times(least, c.recorded-1), most.Big())
	high := new(big.Int).Add(times(most, c.recorded-1), least.Big())
	if least.Sign() < 0 || most.Cmp(whole) > 0 || least.Cmp(most) > 0 || sum.Big().Cmp(low) < 0 || sum.Big().Cmp(high) > 0 {
		return fmt.Sprintf("%s scores from %s to %s cannot add up to %s", strconv.Itoa(c.recorded), least, most, sum), resultSum
	}
	c.sum, c.first, c.varies = rows.Sum{}.Add(sum), least, least != most
	return "", 0
}

// startResult looks at what is the same in all rows of a result. What is wrong is told once.
func (q *question) startResult(r *gate.Result, row rows.Row, diags *diag.List) bool {
	t := q.tally
	first := !r.Checked
	r.Checked = true
	if !r.Constant(row, resultKind, "result", diags) {
		return false
	}
	with, sound := r.Own(row, resultWithTrial, "rows_with_trial", diags)
	different, sure := r.Own(row, resultTrials, "distinct_trials", diags)
	if !sound || !sure || !first {
		return sound && sure
	}
	if with > r.Rows || different > with {
		diags.Addf(row.Pos(resultWithTrial), "rows_with_trial cannot be: of %d rows %d, %d of them different", r.Rows, with, different)
	} else if different < with {
		diags.Addf(row.Pos(resultTrials), "%d rows name only %d different trials of a case in a version; a trial has one row (leave trial empty where trials have no names)", with, different)
	}
	kind, _ := row.Text(resultKind)
	whole := diag.Pos{File: r.File}
	about := &file{hasResult: true}
	t.about[r.File] = about
	switch k := map[string]result{passed.String(): passed, score.String(): score}[kind]; {
	case k == noResult:
		diags.Addf(row.Pos(resultKind), "result: found %s; passed or score is allowed", diag.Quote(kind))
		return false
	case t.result != k:
		return t.kind(k, place{pos: whole}, about, diags) && q.nameColumn(whole, diags)
	}
	return q.nameColumn(whole, diags)
}

// nameColumn says that the versions of a result are named by a column.
func (q *question) nameColumn(at diag.Pos, diags *diag.List) bool {
	before := diags.Len()
	q.ownVersions(&gate.TallyPart{File: at.File}, diags)
	return diags.Len() == before
}
