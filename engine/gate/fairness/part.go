package fairness

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/rows"
)

var _ gate.Counter = (*question)(nil)

// cell is the cases of a tally that are alike in all that any rule, finding or measure looks at.
type cell struct {
	batch
	groups     []int    // by attribute: a group, empty or strange
	undeclared []string // by attribute: the text, where its group is strange
	texts      []string // by column of where; "" where nothing is recorded
}

// keep counts a row in its cell. undeclared returns the text of an attribute that is none of its groups.
func (t *Tally) keep(c batch, undeclared func(attribute int) string) {
	number := func(n int) { t.key = append(strconv.AppendInt(t.key, int64(n), 10), ',') }
	text := func(s string) { // with its length before it, so that no two cells share a key
		number(len(s))
		t.key = append(t.key, s...)
	}
	t.key = t.key[:0]
	number(c.label)
	number(c.prediction)
	number(c.bin)
	for i, g := range t.groups {
		number(g)
		if g == strange {
			text(undeclared(i))
		}
	}
	for _, s := range t.texts {
		text(s)
	}
	if known := t.cells[string(t.key)]; known != nil {
		known.n, known.probabilities = known.n+c.n, known.probabilities.Merge(c.probabilities)
		return
	}
	one := &cell{batch: c, groups: slices.Clone(t.groups), undeclared: make([]string, len(t.groups)), texts: slices.Clone(t.texts)}
	for i, g := range t.groups {
		if g == strange {
			one.undeclared[i] = undeclared(i)
		}
	}
	t.cells[string(t.key)] = one
}

// Counting implements gate.Counter.
func (q *question) Counting() gate.Counting {
	c := gate.Counting{Gate: Gate{}.Name(), MissingValues: gate.Missing(q.source.Settings.MissingValues)}
	if q.probability.Set {
		c.CalibrationBins = q.bins
	}
	add := func(role, name string) *gate.CountedColumn {
		c.Columns = append(c.Columns, gate.CountedColumn{Role: role, Name: name, Column: q.inFiles(name)})
		return &c.Columns[len(c.Columns)-1]
	}
	add("id", q.id.Value)
	for _, o := range q.outcomes() {
		column := add(o.role, o.column.Value)
		b := q.binaryOf(o.role)
		if b != nil && b.words[yes].Set {
			column.Words = []string{b.words[no].Value, b.words[yes].Value}
		}
	}
	for i := range q.attributes {
		a := &q.attributes[i]
		column := add("attribute", a.name.Value)
		column.Groups = a.groups
		for _, b := range a.bounds {
			column.Bounds = append(column.Bounds, b.value.String())
		}
	}
	for _, i := range q.tally.whereOrder() {
		add("where", q.slicing.Columns[i])
	}
	return c
}

// binaryOf is the column of two values with a role; nil where the role has none.
func (d *declaration) binaryOf(role string) *binary {
	switch role {
	case "label":
		return &d.label
	case "prediction":
		return &d.prediction
	}
	return nil
}

// whereOrder lists the columns of where by name, as cells have them: in whatever order rules name them, a tally is the same.
func (p *plan) whereOrder() []int {
	order := make([]int, len(p.where))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(p.where[i], p.where[j]) })
	return order
}

// partCell is a cell as a part has it.
type partCell struct {
	Label         *int      `json:"label"`      // null: not recorded
	Prediction    *int      `json:"prediction"` // likewise
	Groups        []any     `json:"groups"`     // by attribute: a group, an undeclared value, or null
	Where         []*string `json:"where,omitempty"`
	Bin           *int      `json:"bin,omitempty"`
	Probabilities string    `json:"probabilities,omitempty"` // their sum
	N             int       `json:"n"`
}

// undeclaredValue is a recorded value that is none of an attribute's groups.
type undeclaredValue struct {
	Undeclared string `json:"undeclared"`
}

// Counted implements gate.Counter.
func (q *question) Counted(diags *diag.List) gate.Counted {
	t := q.tally
	out := gate.Counted{Rounded: t.rounded, Assumed: q.source.Flags.AssumeUniqueIDs}
	if len(t.cells) > gate.MostCells {
		diags.Add(diag.Diagnostic{Pos: q.source.Section.Pos, Message: fmt.Sprintf(
			"the cases fall into %d cells, and a tally holds at most %d: is an attribute or a column of where different in almost every case?", len(t.cells), gate.MostCells)})
		return out
	}
	order := t.whereOrder()
	cells := slices.SortedFunc(maps.Values(t.cells), func(x, y *cell) int { return x.compare(y, order) })
	for _, c := range cells {
		out.Rows += c.n
		out.Cells = append(out.Cells, t.written(c, order))
	}
	return out
}

// compare orders cells as a part has them.
func (c *cell) compare(d *cell, order []int) int {
	if by := cmp.Or(cmp.Compare(c.label, d.label), cmp.Compare(c.prediction, d.prediction), slices.Compare(c.groups, d.groups), slices.Compare(c.undeclared, d.undeclared)); by != 0 {
		return by
	}
	for _, i := range order {
		if by := strings.Compare(c.texts[i], d.texts[i]); by != 0 {
			return by
		}
	}
	return cmp.Compare(c.bin, d.bin)
}

// written is a cell as a part has it.
func (t *Tally) written(c *cell, order []int) partCell {
	outcome := func(value int) *int {
		if value == none {
			return nil
		}
		return &value
	}
	out := partCell{Label: outcome(c.label), Prediction: outcome(c.prediction), Groups: make([]any, len(c.groups)), N: c.n}
	for i, g := range c.groups {
		switch g {
		case empty:
		case strange:
			out.Groups[i] = undeclaredValue{c.undeclared[i]}
		default:
			out.Groups[i] = t.attributes[i].groups[g]
		}
	}
	for _, i := range order {
		var text *string
		if c.texts[i] != "" {
			text = &c.texts[i]
		}
		out.Where = append(out.Where, text)
	}
	if c.bin != noBin {
		out.Bin, out.Probabilities = &c.bin, c.probabilities.String()
	}
	return out
}

// AddPart implements gate.Counter.
func (q *question) AddPart(p *gate.TallyPart, diags *diag.List) {
	t := q.tally
	problems := diags.Len()
	if p.Result != "" || p.Versions != nil {
		diags.Addf(diag.Pos{File: p.File}, "result and versions are of compare; a tally of fairness has none")
	}
	if p.Rounded > p.Rows {
		diags.Addf(diag.Pos{File: p.File}, "rounded is %d, more than its rows; use the file as it was written", p.Rounded)
	}
	seen := &Tally{plan: t.plan, cells: map[string]*cell{}} // of this part
	total, order := 0, t.whereOrder()
	p.EachCell(diags, func(d *gate.Document) {
		at := d.Next()
		c, ok := t.readCell(d, order)
		if !ok {
			return
		}
		total += c.n
		seen.groups, seen.texts = c.groups, c.texts
		before := len(seen.cells)
		seen.keep(c.batch, func(i int) string { return c.undeclared[i] })
		if len(seen.cells) == before {
			d.Errorf(at, "this cell is there already")
		}
	})
	if diags.Len() > problems {
		return
	}
	if total != p.Rows {
		diags.Addf(diag.Pos{File: p.File}, "its cells have %d cases together, and rows is %d; use the file as it was written", total, p.Rows)
		return
	}
	for _, c := range seen.cells { // in any order: what they add to is the same
		t.add(c)
	}
	t.rounded += p.Rounded
}

// add counts the cases of a cell.
func (t *Tally) add(c *cell) {
	copy(t.groups, c.groups)
	copy(t.texts, c.texts)
	for i, g := range c.groups {
		if g == strange {
			t.undeclared[i].add(c.undeclared[i], c.n)
		}
	}
	t.sort(c.batch)
}

// readCell reads a cell of a part, whose values of where stand in the given order of columns; ok is false where it cannot be used, which is reported.
func (t *Tally) readCell(d *gate.Document, order []int) (c *cell, ok bool) {
	at := d.Next()
	c = &cell{batch: batch{label: none, prediction: none, bin: noBin}, groups: make([]int, len(t.attributes)), undeclared: make([]string, len(t.attributes)), texts: make([]string, len(t.where))}
	ok = true
	wrong := func(at int, format string, args ...any) {
		d.Errorf(at, format, args...)
		ok = false
	}
	outcome := func(key string, value *int) {
		switch n, recorded, sound := d.CountOrNull(key, 0, 1); {
		case !sound:
			ok = false
		case recorded:
			*value = n
		}
	}
	given := map[string]bool{}
	sum, sumAt := "", at
	sound := d.Object("cell", func(key string) bool {
		given[key] = true
		at := d.Next()
		switch key {
		case "label":
			outcome(key, &c.label)
		case "prediction":
			outcome(key, &c.prediction)
		case "groups":
			i := 0
			if !d.Array(key, func() {
				if i < len(c.groups) {
					ok = t.readGroup(d, i, c) && ok
				} else {
					d.Skip()
				}
				i++
			}) {
				ok = false
			} else if i != len(c.groups) {
				wrong(at, "groups has %d values, and there are %s", i, gate.Plural(len(c.groups), "attribute", "attributes"))
			}
		case "where":
			i := 0
			if !d.Array(key, func() {
				at := d.Next()
				text, recorded, sound := d.TextOrNull(key)
				ok = ok && sound
				if recorded && (text == "" || strings.TrimSpace(text) != text || len(text) > mostText) {
					wrong(at, "where: found %s; a text of at most %d bytes without white space around it is allowed, and null where nothing is recorded", diag.Quote(text), mostText)
				}
				if i < len(order) {
					c.texts[order[i]] = text
				}
				i++
			}) {
				ok = false
			} else if i != len(order) {
				wrong(at, "where has %d values, and there are %s", i, gate.Plural(len(order), "column", "columns"))
			}
		case "bin":
			n, sound := d.Count(key, 0, max(0, len(t.edges)))
			if ok = ok && sound; sound {
				c.bin = n
			}
		case "probabilities":
			sumAt = at
			var sound bool
			sum, sound = d.Text(key)
			ok = ok && sound
		case "n":
			n, sound := d.Count(key, 1, gate.MostRows)
			c.n = n
			ok = ok && sound
		default:
			return false
		}
		return true
	})
	if !sound || !ok {
		return c, false
	}
	for _, key := range []string{"label", "prediction", "groups", "n"} {
		if !given[key] {
			wrong(at, "the cell has no %s", key)
		}
	}
	if len(order) > 0 && !given["where"] {
		wrong(at, "the cell has no where")
	}
	switch {
	case given["bin"] != given["probabilities"]:
		wrong(at, "a cell has both bin and probabilities, or neither")
	case given["bin"] && t.at.probability < 0:
		wrong(at, "the cell has a bin, and no probability is declared")
	case given["bin"]:
		if problem := t.readSum(c, sum); problem != "" {
			wrong(sumAt, "probabilities: %s", problem)
		}
	}
	return c, ok
}

// mostText is how many bytes a text in a cell can have: as many as a record of a file of rows.
const mostText = 16 << 20

// readGroup reads the group of an attribute of a cell.
func (t *Tally) readGroup(d *gate.Document, attribute int, c *cell) bool {
	a := &t.attributes[attribute]
	at := d.Next()
	if d.IsObject() {
		ok := d.Object("groups", func(key string) bool {
			if key != "undeclared" {
				return false
			}
			c.undeclared[attribute], _ = d.Text(key)
			return true
		})
		text := c.undeclared[attribute]
		_, declared := a.index[text]
		switch {
		case !ok:
			return false
		case a.bounds != nil:
			d.Errorf(at, "groups: %s is an attribute of numbers, which has no undeclared values", shown(a.name.Value))
			return false
		case text == "" || declared || strings.TrimSpace(text) != text || len(text) > mostText:
			d.Errorf(at, "groups: %s is no undeclared value of %s", diag.Quote(text), shown(a.name.Value))
			return false
		}
		c.groups[attribute] = strange
		return true
	}
	text, recorded, ok := d.TextOrNull("groups")
	if !ok || !recorded {
		c.groups[attribute] = empty
		return ok
	}
	g := slices.Index(a.groups, text)
	if g < 0 {
		d.Errorf(at, "groups: %s is not a declared group of %s; %s", diag.Quote(text), shown(a.name.Value), allowed(text, a.groups))
		return false
	}
	c.groups[attribute] = g
	return true
}

// readSum reads the sum of a cell's probabilities, which its bin and its cases bound. problem is "" or why it cannot be.
func (t *Tally) readSum(c *cell, text string) (problem string) {
	sum, rounded, err := rows.ParseDecimal(text)
	switch {
	case err != nil:
		return err.Error()
	case rounded:
		return fmt.Sprintf("found %s; at most %d decimals are allowed", diag.Quote(text), rows.Places)
	}
	n := big.NewInt(int64(c.n))
	times := func(edge rows.Decimal) *big.Int { return new(big.Int).Mul(edge.Big(), n) }
	total := sum.Big()
	least, most, below := new(big.Int), times(one), false // below: the bin ends before its upper edge
	if c.bin > 0 {
		least = times(t.edges[c.bin-1])
	}
	if c.bin < len(t.edges) {
		most, below = times(t.edges[c.bin]), true
	}
	if total.Cmp(least) < 0 || total.Cmp(most) > 0 || below && total.Cmp(most) == 0 {
		return fmt.Sprintf("found %s, which %s in bin %d cannot add up to", diag.Quote(text), gate.Plural(c.n, "probability", "probabilities"), c.bin)
	}
	c.probabilities = rows.Sum{}.Add(sum)
	return ""
}

// one is the largest probability.
var one, _, _ = rows.ParseDecimal("1")
