package fairness

import (
	"maps"
	"slices"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/rows"
)

// view is one way to sort the cases: by the groups of a crossing, all cases or those of a slice.
type view struct {
	crossing *crossing
	terms    []term
	bins     bool // probabilities are binned in each group
}

// term is one condition of a slice: a text in a column of its own, or a group of an attribute.
type term struct {
	column    int // an index into plan.where; unused where attribute is set
	value     string
	attribute int // −1: the term is of a column
	group     int
}

// plan is what the counting depends on. Tallies of one plan merge.
type plan struct {
	*declaration
	columns []rows.Column // in this order: id, label, prediction, probability and unit where they are read, attributes, where
	at      struct {      // indices of columns; −1 where one is not read. Attributes and where follow each other.
		label, prediction, probability, unit, attributes, where int
	}
	where     []string // columns that rules slice by
	views     []view
	edges     []rows.Decimal // where each bin of probabilities but the first begins
	showUnits bool
}

// sorted is a view's cases.
type sorted struct {
	cells []counts // by group
	left  []counts // of cases that cannot be told a group, by reason: see reasons
	bins  []bins   // by group, of cases with a probability and a label; nil where they are not counted
}

// Tally is what the gate keeps of the rows: for each view a table of groups. Adding a row costs as much as there are views; the
// tables do not grow with the rows. It is mergeable, and whatever the order of rows and merges, it holds the same. That no
// id and no person comes twice is for the reading to see.
type Tally struct {
	*plan
	views      []sorted
	undeclared []values         // by attribute: recorded values that are none of its groups
	sliced     []values         // by column of where
	rounded    int              // probabilities with more decimals than are kept
	unsure     int              // cases without a probability, where it is read
	cells      map[string]*cell // of rows that are counted to be decided elsewhere, in place of views; else nil
	// What is known of the row being added, kept to spare allocations.
	groups []int
	texts  []string
	key    []byte
}

// What stands in place of a group's number.
const (
	empty   = -1 // nothing is recorded
	strange = -2 // what is recorded is no declared group
)

// newTally returns an empty tally.
func newTally(p *plan) *Tally {
	t := &Tally{plan: p, undeclared: make([]values, len(p.attributes)), sliced: make([]values, len(p.where)),
		groups: make([]int, len(p.attributes)), texts: make([]string, len(p.where))}
	for _, v := range p.views {
		s := sorted{cells: make([]counts, len(v.crossing.groups)), left: make([]counts, len(p.reasons(v.crossing)))}
		if v.bins {
			s.bins = make([]bins, len(s.cells))
		}
		t.views = append(t.views, s)
	}
	for _, list := range [][]values{t.undeclared, t.sliced} {
		for i := range list {
			list[i].most = mostValues
		}
	}
	return t
}

// reasons lists why cases of a view cannot be told a group, in the order in which they are looked for.
func (d *declaration) reasons(c *crossing) []string {
	list := []string{noWhere, strangeWhere}
	for _, a := range c.attributes {
		name := d.attributes[a].name.Value
		list = append(list, name+" is empty", name+" is not a declared value")
	}
	return list
}

// The reasons that do not name an attribute.
const (
	noWhere      = "a column of where is empty"
	strangeWhere = "a column of where is not a declared value"
	noLabel      = "the label is empty"
)

// Add counts one row, or adds to diags why it cannot be used.
func (t *Tally) Add(r rows.Row, diags *diag.List) {
	if t.blank(r) { // a spreadsheet's trailing rows: one problem, not one a column
		diags.Addf(r.Pos(-1), "nothing stands in the columns of this row that are read; delete it")
		return
	}
	sound := true
	wrong := func(col int, format string, args ...any) {
		diags.Addf(r.Pos(col), "%s"+format, append([]any{diag.Printable(t.columns[col].Name)}, args...)...)
		sound = false
	}
	if _, hasID := r.Text(0); !hasID {
		wrong(0, " is empty; every case needs an id")
	}
	outcome := func(col int, b *binary) int {
		text, recorded := r.Text(col)
		if !recorded {
			return none
		}
		value, err := b.read(text)
		if err != nil {
			wrong(col, ": %v", err)
		}
		return value
	}
	label, prediction := outcome(t.at.label, &t.label), outcome(t.at.prediction, &t.prediction)
	if t.at.unit >= 0 {
		if _, hasPerson := r.Text(t.at.unit); !hasPerson {
			wrong(t.at.unit, " is empty; with a unit declared, every case says whose it is")
		}
	}
	var probability rows.Decimal
	var hasProbability, rounded bool
	if t.at.probability >= 0 {
		var text string
		if text, hasProbability = r.Text(t.at.probability); hasProbability {
			var inside bool
			var err error
			switch probability, rounded, inside, err = gate.Share(text); {
			case err != nil:
				wrong(t.at.probability, ": %v", err)
			case !inside:
				wrong(t.at.probability, ": found %s; a probability from 0 to 1 is allowed", diag.Quote(text))
			}
		}
	}
	for i := range t.attributes {
		col := t.at.attributes + i
		text, recorded := r.Text(col)
		if !recorded {
			t.groups[i] = empty
			continue
		}
		group, ok, err := t.attributes[i].of(text)
		switch {
		case err != nil:
			wrong(col, ": %v", err)
		case !ok:
			group = strange
		}
		t.groups[i] = group
	}
	if !sound {
		return
	}
	for i := range t.texts {
		t.texts[i], _ = r.Text(t.at.where + i)
	}
	if rounded {
		t.rounded++
	}
	c := batch{label: label, prediction: prediction, bin: noBin, n: 1}
	if hasProbability {
		c.bin, c.probabilities = binOf(t.edges, probability), c.probabilities.Add(probability)
	}
	if t.cells != nil { // to be decided elsewhere
		t.keep(c, func(attribute int) string {
			text, _ := r.Text(t.at.attributes + attribute)
			return text
		})
		return
	}
	for i, g := range t.groups {
		if g == strange {
			text, _ := r.Text(t.at.attributes + i)
			t.undeclared[i].add(text, 1)
		}
	}
	t.sort(c)
}

// batch is what came out of n cases alike: one row, or a cell of a part.
type batch struct {
	label, prediction int
	bin               int // that their probabilities lie in; noBin where they have none
	n                 int
	probabilities     rows.Sum
}

// noBin stands in place of a bin's number for cases without a probability.
const noBin = -1

// sort counts cases whose groups and texts of where are those of t.groups and t.texts.
func (t *Tally) sort(c batch) {
	for i, text := range t.texts {
		if text != "" {
			t.sliced[i].add(text, c.n)
		}
	}
	t.place(c)
}

// place sorts such cases into the views.
func (t *Tally) place(c batch) {
	if t.at.probability >= 0 && c.bin == noBin {
		t.unsure += c.n
	}
	for i := range t.views {
		t.count(&t.plan.views[i], &t.views[i], c)
	}
}

// blank reports whether nothing of a row is recorded.
func (t *Tally) blank(r rows.Row) bool {
	for col := range t.columns {
		if _, recorded := r.Text(col); recorded {
			return false
		}
	}
	return true
}

// count sorts the cases that groups and texts describe into a view.
func (t *Tally) count(v *view, s *sorted, c batch) {
	group, reason, in := t.belongs(v)
	switch {
	case !in:
	case reason >= 0:
		s.left[reason][c.label][c.prediction] += c.n
	default:
		s.cells[group][c.label][c.prediction] += c.n
		if s.bins != nil && c.bin != noBin && c.label != none {
			labels := 0
			if c.label == yes {
				labels = c.n
			}
			s.bins[group].merge(bin{at: c.bin, n: c.n, labels: labels, probabilities: c.probabilities})
		}
	}
}

// belongs tells the group of a view that the case belongs to which groups and texts describe, or the reason why it cannot be told
// one, by its place in reasons (-1: it can). in is false where the case is not of the view's slice.
func (t *Tally) belongs(v *view) (group, reason int, in bool) {
	// A case that another term keeps out of the slice is out; where a value is empty, or is none of the declared ones and so
	// perhaps a misspelt one, it may belong to the slice.
	unknown, odd := false, false
	for _, term := range v.terms {
		if term.attribute < 0 {
			text := t.texts[term.column]
			if text != "" && text != term.value {
				return 0, -1, false
			}
			unknown = unknown || text == ""
			continue
		}
		g := t.groups[term.attribute]
		if g >= 0 && g != term.group {
			return 0, -1, false
		}
		unknown, odd = unknown || g == empty, odd || g == strange
	}
	switch {
	case unknown:
		return 0, 0, true
	case odd:
		return 0, 1, true
	}
	for i, a := range v.crossing.attributes {
		switch g := t.groups[a]; g {
		case empty:
			return 0, 2 + 2*i, true
		case strange:
			return 0, 3 + 2*i, true
		default:
			group = group*len(t.attributes[a].groups) + g
		}
	}
	return group, -1, true
}

func (p *plan) sameID(ids []string, first diag.Pos) string {
	return diag.Printable(p.id.Value) + " " + diag.Quote(ids[0]) + " is the one of the case at " + first.String() + " too; each case has its own"
}

func (p *plan) sameUnit(people []string, first diag.Pos) string {
	name := diag.Printable(p.unit.Value)
	if p.showUnits {
		name += ", " + diag.Quote(people[0]) + ","
	}
	return "the same " + name + " as at " + first.String() + "; one person has several cases, and the intervals hold for cases of different people only"
}

// Merge adds the cases of another tally of the same plan, as if its rows had been added one by one. The other one must not
// be used again.
func (t *Tally) Merge(other *Tally) {
	for i := range t.views {
		ours, theirs := &t.views[i], &other.views[i]
		for g := range ours.cells {
			ours.cells[g].merge(&theirs.cells[g])
		}
		for r := range ours.left {
			ours.left[r].merge(&theirs.left[r])
		}
		for g := range ours.bins {
			for _, b := range theirs.bins[g] {
				ours.bins[g].merge(b)
			}
		}
	}
	for i := range t.undeclared {
		t.undeclared[i].merge(&other.undeclared[i])
	}
	for i := range t.sliced {
		t.sliced[i].merge(&other.sliced[i])
	}
	t.rounded, t.unsure = t.rounded+other.rounded, t.unsure+other.unsure
}

const (
	mostValues = 1000    // different texts of a column that are kept
	mostBytes  = 1 << 20 // bytes of them, but that one is kept however long it is
)

// values counts the texts of a column: all of them exactly while there are at most `most`, of mostBytes together, else the first in byte
// order, and these exactly, whatever the order in which they come: a text for which there is no room in a part has none in the whole, and neither
// has any after it. One before it may still have room, so that all of those are counted.
type values struct {
	most   int            // how many are kept, at least one
	counts map[string]int // of up to twice as many: the surplus is dropped now and then
	bytes  int            // that the texts have
	beyond string         // once some were dropped the first of them: neither it nor any text after it is among the first
	more   bool           // some were dropped
}

// add counts a text n times.
func (v *values) add(text string, n int) {
	if v.more && text >= v.beyond {
		return
	}
	if v.counts == nil {
		v.counts = map[string]int{}
	}
	before := len(v.counts)
	v.counts[text] += n
	if len(v.counts) == before {
		return
	}
	if v.bytes += len(text); before >= 2*v.most || v.bytes > 2*mostBytes && before > 0 {
		v.cut()
	}
}

// cut drops what is not among the first.
func (v *values) cut() {
	texts := slices.Sorted(maps.Keys(v.counts))
	keep, bytes := 0, 0
	for keep < len(texts) && keep < v.most && (keep == 0 || bytes+len(texts[keep]) <= mostBytes) {
		bytes += len(texts[keep])
		keep++
	}
	if keep == len(texts) {
		return
	}
	v.drop(texts[keep])
}

// drop drops the texts from one on.
func (v *values) drop(beyond string) {
	for text := range v.counts {
		if text >= beyond {
			v.bytes -= len(text)
			delete(v.counts, text)
		}
	}
	v.beyond, v.more = beyond, true
}

// merge adds other's texts.
func (v *values) merge(other *values) {
	other.cut()
	if other.more && (!v.more || other.beyond < v.beyond) { // other may have dropped what comes after
		v.drop(other.beyond)
	}
	for text, n := range other.counts {
		v.add(text, n)
	}
}

// texts lists the kept texts in byte order, and whether there are others.
func (v *values) texts() (list []string, more bool) {
	v.cut()
	return slices.Sorted(maps.Keys(v.counts)), v.more
}

// mayHold reports whether a text occurs, or may be among those that are not kept.
func (v *values) mayHold(text string) bool {
	v.cut()
	_, found := v.counts[text]
	return found || v.more && text >= v.beyond
}
