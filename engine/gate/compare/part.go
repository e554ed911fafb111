package compare

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/rows"
)

var _ gate.Counter = (*question)(nil)

// mostCounted is how many trials of a case in a version a tally can have: far more than are run, and few enough for every measure to be
// computed in no time.
const mostCounted = 10_000_000

// Counting implements gate.Counter.
func (q *question) Counting() gate.Counting {
	c := gate.Counting{Gate: Gate{}.Name(), MissingValues: gate.Missing(q.source.Settings.MissingValues)}
	add := func(role, name string) {
		c.Columns = append(c.Columns, gate.CountedColumn{Role: role, Name: name, Column: gate.InFiles(name, q.source.Settings.Columns)})
	}
	for _, own := range columns(nil, false) {
		add(own.Name, own.Name)
	}
	for _, i := range q.whereOrder() {
		add("where", q.slicing.Columns[i])
	}
	return c
}

// whereOrder lists the columns of where by name, as cells have them: in whatever order rules name them, a tally is the same.
func (q *question) whereOrder() []int {
	order := make([]int, len(q.slicing.Columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(q.slicing.Columns[i], q.slicing.Columns[j]) })
	return order
}

// partCell is what a part says of the trials of one case in one version.
type partCell struct {
	Version  string    `json:"version"`
	Case     string    `json:"case"`
	Where    []*string `json:"where,omitempty"`
	Trials   int       `json:"trials"`   // with a row
	Recorded int       `json:"recorded"` // with a result
	Passed   *int      `json:"passed,omitempty"`
	Sum      string    `json:"sum,omitempty"`    // of scores
	Varies   bool      `json:"varies,omitempty"` // not all scores are equal
}

// Counted implements gate.Counter.
func (q *question) Counted(diags *diag.List) gate.Counted {
	t := q.tally
	out := gate.Counted{Rounded: t.rounded, Assumed: q.source.Flags.AssumeUniqueIDs, Result: t.result.String()}
	problems := diags.Len()
	q.checkResults(diags)
	cells := 0
	for _, of := range t.versions {
		cells += len(of)
	}
	if cells > gate.MostCells {
		diags.Add(diag.Diagnostic{Pos: q.at(), Message: fmt.Sprintf("the versions have %d cases together, and a tally holds at most %d", cells, gate.MostCells)})
	}
	if diags.Len() > problems {
		return out
	}
	if q.own {
		out.Versions = map[string]string{}
		for _, role := range roles {
			if len(t.versions[role]) > 0 {
				out.Versions[role] = t.own[role].value
			}
		}
	}
	order := q.whereOrder()
	for _, version := range slices.Sorted(maps.Keys(t.versions)) {
		for _, item := range slices.Sorted(maps.Keys(t.versions[version])) {
			c := t.versions[version][item]
			cell := partCell{Version: version, Case: item, Trials: c.rows, Recorded: c.recorded}
			for _, i := range order {
				var text *string
				if places := t.cases[item]; places != nil && places[i].pos != (diag.Pos{}) {
					text = &places[i].value
				}
				cell.Where = append(cell.Where, text)
			}
			if t.result == score {
				cell.Sum, cell.Varies = c.sum.String(), c.varies
			} else {
				cell.Passed = &c.passed
			}
			out.Rows += c.rows
			out.Cells = append(out.Cells, cell)
		}
	}
	return out
}

// AddPart implements gate.Counter.
func (q *question) AddPart(p *gate.TallyPart, diags *diag.List) {
	t := q.tally
	whole := diag.Pos{File: p.File}
	problems := diags.Len()
	kind := noResult
	switch p.Result {
	case passed.String():
		kind = passed
	case score.String():
		kind = score
	default:
		diags.Addf(whole, "result is %s; passed or score is allowed", diag.Quote(p.Result))
		return
	}
	about := &file{hasResult: true}
	t.about[p.File] = about
	if t.result != kind {
		t.kind(kind, place{pos: whole}, about, diags)
	}
	q.ownVersions(p, diags)
	if p.Rounded > p.Rows || p.Rounded > 0 && kind != score {
		diags.Addf(whole, "rounded is %d, more than its scores; use the file as it was written", p.Rounded)
	}
	type key struct{ version, item string }
	seen := map[key]bool{}
	total, order := 0, q.whereOrder()
	p.EachCell(diags, func(d *gate.Document) {
		at := d.Next()
		c, where, of, ok := q.readCell(d, kind, order)
		if !ok {
			return
		}
		k := key{of.Version, of.Case}
		switch {
		case seen[k]:
			d.Errorf(at, "the case %s of version %s is there already", diag.Quote(of.Case), diag.Quote(of.Version))
			return
		case p.Versions != nil && !hasKey(p.Versions, of.Version):
			d.Errorf(at, "the version is %s, and the tally says that its versions are those of a file each: %s", diag.Quote(of.Version), gate.Quoted(slices.Sorted(maps.Keys(p.Versions))))
			return
		}
		seen[k] = true
		total += c.rows
		t.addCell(of.Version, of.Case, c, where, d.Line(at), diags)
	})
	if diags.Len() == problems && total != p.Rows {
		diags.Addf(whole, "its cells have %d trials together, and rows is %d; use the file as it was written", total, p.Rows)
	}
	t.rounded += p.Rounded
}

func hasKey(of map[string]string, key string) bool {
	_, found := of[key]
	return found
}

// addCell counts the trials of a cell that was read at a place; where are its values of the columns that rules slice by, "" for
// none.
func (t *Tally) addCell(version, item string, c *cell, where []string, at diag.Pos, diags *diag.List) {
	var read []place
	for _, text := range where {
		if text == "" {
			read = append(read, place{})
		} else {
			read = append(read, place{value: text, pos: at})
		}
	}
	values := read
	if read != nil {
		var agrees bool
		if values, agrees = t.agree(item, read, diags); !agrees {
			return
		}
	}
	cells := t.of(version)
	if cells[item] == nil {
		cells[item] = &cell{item: item}
	}
	cells[item].merge(c)
	if n := cells[item].rows; n > mostCounted {
		diags.Addf(at, "with these, case %s of version %s has %d trials; at most %d are allowed", diag.Quote(item), diag.Quote(version), n, mostCounted)
	}
	if _, known := t.cases[item]; !known || values != nil {
		t.cases[item] = values
	}
}

// ownVersions checks that the versions of all parts are named in one way: by a column, or by the file that each is.
func (q *question) ownVersions(p *gate.TallyPart, diags *diag.List) {
	t := q.tally
	whole := diag.Pos{File: p.File}
	if t.named == (place{}) {
		t.named = place{pos: whole}
		if p.Versions != nil {
			t.named.value = "files"
		}
	}
	if (t.named.value != "") != (p.Versions != nil) {
		diags.Addf(whole, "its versions and those of %s are not named in one way: one was counted from a file for each version, the other from files that name versions", t.named.pos)
		return
	}
	if p.Versions == nil {
		return
	}
	if !q.names[baseline].Set && !q.names[candidate].Set {
		q.nameByRole()
	}
	for _, role := range slices.Sorted(maps.Keys(p.Versions)) {
		if !slices.Contains(roles[:], role) {
			diags.Addf(whole, "versions: %s is not a role; baseline and candidate are allowed", diag.Quote(role))
			continue
		}
		own := place{value: p.Versions[role], pos: whole}
		switch first, found := t.own[role]; {
		case own.value == "":
		case !found:
			t.own[role] = own
		case first.value != own.value:
			t.otherVersion(role, own, diags)
		}
	}
}

// readCell reads a cell of a part, whose values of where stand in the given order of columns, and returns these by column; ok is false where it cannot be used, which is reported.
func (q *question) readCell(d *gate.Document, kind result, order []int) (c *cell, where []string, of partCell, ok bool) {
	at := d.Next()
	where = make([]string, len(order))
	ok = true
	wrong := func(at int, format string, args ...any) {
		d.Errorf(at, format, args...)
		ok = false
	}
	name := func(key string) string {
		at := d.Next()
		text, sound := d.Text(key)
		ok = ok && sound
		if sound && (text == "" || strings.TrimSpace(text) != text) {
			wrong(at, "%s: found %s; a text without white space around it is allowed", key, diag.Quote(text))
		}
		return text
	}
	count := func(key string, least int) int {
		n, sound := d.Count(key, least, mostCounted)
		ok = ok && sound
		return n
	}
	given := map[string]bool{}
	passes, sumAt := 0, at
	sound := d.Object("cell", func(key string) bool {
		given[key] = true
		at := d.Next()
		switch {
		case key == "version":
			of.Version = name(key)
		case key == "case":
			of.Case = name(key)
		case key == "where" && len(order) > 0:
			i := 0
			if !d.Array(key, func() {
				at := d.Next()
				text, recorded, sound := d.TextOrNull(key)
				ok = ok && sound
				if recorded && (text == "" || strings.TrimSpace(text) != text) {
					wrong(at, "where: found %s; a text without white space around it is allowed, and null where nothing is recorded", diag.Quote(text))
				}
				if i < len(order) {
					where[order[i]] = text
				}
				i++
			}) {
				ok = false
			} else if i != len(order) {
				wrong(at, "where has %d values, and there are %s", i, gate.Plural(len(order), "column", "columns"))
			}
		case key == "trials":
			of.Trials = count(key, 1)
		case key == "recorded":
			of.Recorded = count(key, 0)
		case key == "passed" && kind == passed:
			passes = count(key, 0)
		case key == "sum" && kind == score:
			sumAt = at
			var sound bool
			of.Sum, sound = d.Text(key)
			ok = ok && sound
		case key == "varies" && kind == score:
			if of.Varies = d.True(key); !of.Varies {
				ok = false
			}
		default:
			return false
		}
		return true
	})
	if !sound || !ok {
		return nil, nil, of, false
	}
	wanted := []string{"version", "case", "trials", "recorded", "passed"}
	if kind == score {
		wanted[4] = "sum"
	}
	if len(order) > 0 {
		wanted = append(wanted, "where")
	}
	for _, key := range wanted {
		if !given[key] {
			wrong(at, "the cell has no %s", key)
		}
	}
	c = &cell{rows: of.Trials, recorded: of.Recorded}
	if len(order) == 0 {
		where = nil
	}
	switch {
	case !ok:
	case of.Recorded > of.Trials:
		wrong(at, "%d of %d trials are recorded, which cannot be", of.Recorded, of.Trials)
	case kind == passed && passes > of.Recorded:
		wrong(at, "%d of %d recorded trials passed, which cannot be", passes, of.Recorded)
	case kind == passed:
		c.setPassed(passes)
	default:
		if problem := c.setSum(of.Sum, of.Varies); problem != "" {
			wrong(sumAt, "sum: %s", problem)
		}
	}
	return c, where, of, ok
}

// setPassed takes so many of the recorded trials of a cell as passed.
func (c *cell) setPassed(passes int) {
	c.passed = passes
	c.varies = passes > 0 && passes < c.recorded
	if passes > 0 {
		c.first = whole
	}
	c.sum = rows.Sum{}.Add(whole).Times(passes)
}

// setSum takes a text as the sum of the recorded scores of a cell; varies says that these are not all equal. problem is "" or why that
// cannot be.
func (c *cell) setSum(text string, varies bool) (problem string) {
	sum, rounded, err := rows.ParseDecimal(text)
	switch {
	case err != nil:
		return err.Error()
	case rounded:
		return fmt.Sprintf("found %s; at most %d decimals are allowed", diag.Quote(text), rows.Places)
	}
	cannot := fmt.Sprintf("found %s, which %s cannot add up to", diag.Quote(text), gate.Plural(c.recorded, "score", "scores"))
	total, most := sum.Big(), new(big.Int).Mul(whole.Big(), big.NewInt(int64(c.recorded)))
	if total.Sign() < 0 || total.Cmp(most) > 0 || varies && (c.recorded < 2 || total.Sign() == 0 || total.Cmp(most) == 0) {
		return cannot
	}
	c.sum, c.varies = rows.Sum{}.Add(sum), varies
	if c.recorded > 0 && !varies {
		each, rest := new(big.Int).QuoRem(total, big.NewInt(int64(c.recorded)), new(big.Int))
		if rest.Sign() != 0 {
			return cannot + " where all are equal"
		}
		c.first = rows.DecimalOf(each)
	}
	return ""
}
