package anchoring

import (
	"maps"
	"slices"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/rows"
)

// The columns of a file of labels, in the order in which rows.Reader hands them over. Columns named by a rule's
// `where` follow.
const (
	colItem = iota
	colAnnotator
	colSuggestion
	colLabel
	colVisibility
	colKind
	colAccepted
	colProbability
	colStarted
	colLabelled
	colWhere // the first of them
)

// columns lists what the gate reads.
func columns(where []string) []rows.Column {
	list := []rows.Column{
		colItem:        {Name: "item", Required: true},
		colAnnotator:   {Name: "annotator", Required: true},
		colSuggestion:  {Name: "suggestion", Required: true},
		colLabel:       {Name: "label", Required: true},
		colVisibility:  {Name: "visibility", Required: true},
		colKind:        {Name: "kind"},
		colAccepted:    {Name: "accepted"},
		colProbability: {Name: "inclusion_probability"},
		colStarted:     {Name: "started_at"},
		colLabelled:    {Name: "labelled_at"},
	}
	for _, name := range where {
		list = append(list, rows.Column{Name: name, Required: true})
	}
	return list
}

// kind is why a label was asked for.
type kind uint8

const (
	kindLabel kind = iota
	kindCalibration
	kindCertification
	kindAudit
	kindVerify
	kinds // how many there are
)

// kindNames are the words used in files.
var kindNames = [kinds]string{"label", "calibration", "certification", "audit", "verify"}

// evidence reports a kind of label that is asked for to judge the model by.
func (k kind) evidence() bool {
	return k == kindCalibration || k == kindCertification || k == kindAudit
}

// answer is a yes or no that may not be recorded.
type answer uint8

const (
	noAnswer answer = iota
	no
	yes
)

// text is a value that may not be recorded.
type text struct {
	value    string
	recorded bool
}

// moment is a time that may not be recorded.
type moment struct {
	time     rows.Time
	recorded bool
}

// row is what is kept of one row.
type row struct {
	item, annotator   int // numbers of their names
	suggestion, label text
	shown             bool // the suggestion was on the screen
	kind              kind
	accepted          answer
	started, labelled moment
	pos               diag.Pos
}

// names numbers texts in the order in which they come.
type names struct {
	list  []string
	index map[string]int
}

// number returns the text's number.
func (n *names) number(text string) int {
	if i, found := n.index[text]; found {
		return i
	}
	if n.index == nil {
		n.index = map[string]int{}
	}
	n.index[text] = len(n.list)
	n.list = append(n.list, text)
	return len(n.list) - 1
}

// chance is an item's probability of being drawn blind, and where it was read.
type chance struct {
	value rows.Decimal // above 0 and at most 1
	pos   diag.Pos
}

// place is a value and where it was read; not read yet where the position is zero.
type place struct {
	value string
	pos   diag.Pos
}

// Tally is what the gate keeps of the rows, in the order in which they were read. It is mergeable.
type Tally struct {
	slicing           []string // columns that rules slice by
	items, annotators names
	rows              []row
	chances           map[int]chance  // by item
	where             map[int][]place // by item: its values of the columns that rules slice by
	clock             rows.TimeKind   // the one kind of time in use, once a time was read
	clockPos          diag.Pos
	rounded           int // probabilities with more decimals than are kept
	told              tellingTwice
}

// newTally returns an empty tally of rows with the given columns that rules slice by.
func newTally(where []string) *Tally {
	return &Tally{slicing: where, chances: map[int]chance{}, where: map[int][]place{}}
}

// Add keeps one row, or adds to diags why it cannot be used. What other rows are compared with is taken of a faulty row too,
// so that every problem is told at once.
func (t *Tally) Add(r rows.Row, diags *diag.List) {
	if blank(r) { // a spreadsheet's trailing rows: one problem, not one a column
		diags.Addf(r.Pos(-1), "nothing stands in the columns of this row that are read; delete it")
		return
	}
	required := func(col int, name string) (string, bool) {
		v, recorded := r.Text(col)
		if !recorded {
			diags.Addf(r.Pos(col), "%s is empty; every row needs one", name)
		}
		return v, recorded
	}
	kept := row{pos: r.Pos(-1)}
	item, hasItem := required(colItem, "item")
	annotator, identified := required(colAnnotator, "annotator")
	identified = identified && hasItem // it can be told whether the row is there twice
	switch v, recorded := required(colVisibility, "visibility"); {
	case v == "visible":
		kept.shown = true
	case v == "blind":
	case recorded:
		diags.Addf(r.Pos(colVisibility), "visibility is %s; write \"visible\" or \"blind\"", diag.Quote(v))
		identified = false
	default:
		identified = false
	}
	if v, recorded := r.Text(colKind); recorded {
		k := slices.Index(kindNames[:], v)
		if k < 0 {
			diags.Addf(r.Pos(colKind), "kind is %s; write \"label\", \"calibration\", \"certification\", \"audit\" or \"verify\", or leave it empty", diag.Quote(v))
			identified = false
		}
		kept.kind = kind(max(k, 0))
	}
	if v, recorded := r.Text(colAccepted); recorded {
		accepted, err := rows.Binary(v)
		if err != nil {
			diags.Addf(r.Pos(colAccepted), "accepted: %v (empty where it was not recorded)", err)
		}
		kept.accepted = no
		if accepted {
			kept.accepted = yes
		}
	}
	kept.suggestion.value, kept.suggestion.recorded = r.Text(colSuggestion)
	kept.label.value, kept.label.recorded = r.Text(colLabel)
	kept.started, _ = t.moment(r, colStarted, "started_at", diags)
	var sound bool
	kept.labelled, sound = t.moment(r, colLabelled, "labelled_at", diags)
	identified = identified && sound
	if d, both := kept.duration(); both && d.Sign() < 0 {
		diags.Addf(r.Pos(colLabelled), "labelled_at is before started_at; a label cannot take negative time")
	}
	probability, rounded := readChance(r, colProbability, diags)
	if rounded {
		t.rounded++
	}
	if !hasItem {
		return
	}
	kept.item = t.items.number(item)
	if probability != (chance{}) {
		t.agree(kept.item, probability, diags)
	}
	if len(t.slicing) > 0 {
		t.slice(kept.item, r, diags)
	}
	if identified {
		kept.annotator = t.annotators.number(annotator)
		t.rows = append(t.rows, kept)
	}
	if diags.Len() > 0 { // then nobody asks for the rows as a whole
		t.tellTwice(diags)
	}
}

// slice takes an item's values of the columns that rules slice by.
func (t *Tally) slice(item int, r rows.Row, diags *diag.List) {
	read := make([]place, len(t.slicing))
	for i := range read {
		if v, recorded := r.Text(colWhere + i); recorded {
			read[i] = place{v, r.Pos(colWhere + i)}
		}
	}
	t.agreeWhere(item, read, diags)
}

// agreeWhere joins what two rows say of an item's slices; one that says nothing agrees with any.
func (t *Tally) agreeWhere(item int, read []place, diags *diag.List) {
	known := t.where[item]
	if known == nil {
		t.where[item] = read
		return
	}
	for i, v := range read {
		switch {
		case v.pos == diag.Pos{}:
		case known[i].pos == diag.Pos{}:
			known[i] = v
		case known[i].value != v.value:
			diags.Addf(v.pos, "%s of item %s is %s here and %s at %s; a rule's `where` is of items, and needs one value for an item",
				t.slicing[i], diag.Quote(t.items.list[item]), diag.Quote(v.value), diag.Quote(known[i].value), known[i].pos)
		}
	}
}

// blank reports a row of which no column that every file has holds anything.
func blank(r rows.Row) bool {
	for col := range colKind {
		if _, recorded := r.Text(col); recorded {
			return false
		}
	}
	return true
}

// moment reads a time. All times of a study are of one kind. sound is false where what is written is no such time.
func (t *Tally) moment(r rows.Row, col int, name string, diags *diag.List) (m moment, sound bool) {
	v, recorded := r.Text(col)
	if !recorded {
		return moment{}, true
	}
	tm, _, err := rows.ParseTime(v) // what is rounded beyond 18 decimals does not matter to a time
	if err != nil {
		diags.Addf(r.Pos(col), "%s: %v", name, err)
		return moment{}, false
	}
	if t.clockPos == (diag.Pos{}) {
		t.clock, t.clockPos = tm.Kind, r.Pos(col)
	} else if t.clock != tm.Kind {
		diags.Addf(r.Pos(col), "%s is %s, but the time at %s is %s; write all times of a study in one way", name, tm.Kind, t.clockPos, t.clock)
		return moment{}, false
	}
	return moment{time: tm, recorded: true}, true
}

// whole is the chance of an item that is drawn for certain.
var whole, _, _ = rows.ParseDecimal("1")

// readChance reads a probability above 0 and at most 1; the zero chance where none is recorded, or none such.
func readChance(r rows.Row, col int, diags *diag.List) (c chance, rounded bool) {
	v, recorded := r.Text(col)
	if !recorded {
		return chance{}, false
	}
	value, rounded, err := rows.ParseDecimal(v)
	switch {
	case err != nil:
		diags.Addf(r.Pos(col), "inclusion_probability: %v", err)
	case value.Sign() <= 0 || value.Cmp(whole) > 0:
		diags.Addf(r.Pos(col), "inclusion_probability: found %s; a number above 0 and at most 1 is allowed", diag.Quote(v))
	case rounded && value == whole: // on which side of 1 it was written does not show any more
		diags.Addf(r.Pos(col), "inclusion_probability: found %s; write at most %d decimals", diag.Quote(v), rows.Places)
	default:
		return chance{value, r.Pos(col)}, rounded
	}
	return chance{}, false
}

// agree keeps an item's chance, or reports that another one was read for it.
func (t *Tally) agree(item int, c chance, diags *diag.List) {
	first, found := t.chances[item]
	switch {
	case !found:
		t.chances[item] = c
	case first.value != c.value:
		diags.Addf(c.pos, "the inclusion_probability of item %s is %s here and %s at %s; an item has one",
			diag.Quote(t.items.list[item]), c.value, first.value, first.pos)
	}
}

// Merge adds the rows of another tally of the same columns, as if they had been added one by one after its own. The other
// one must not be used again.
func (t *Tally) Merge(other *Tally, diags *diag.List) {
	if other.clockPos != (diag.Pos{}) {
		switch {
		case t.clockPos == (diag.Pos{}):
			t.clock, t.clockPos = other.clock, other.clockPos
		case t.clock != other.clock:
			diags.Addf(other.clockPos, "this time is %s, but the time at %s is %s; write all times of a study in one way", other.clock, t.clockPos, t.clock)
		}
	}
	for _, r := range other.rows {
		r.item, r.annotator = t.items.number(other.items.list[r.item]), t.annotators.number(other.annotators.list[r.annotator])
		t.rows = append(t.rows, r)
	}
	for _, item := range slices.Sorted(maps.Keys(other.chances)) {
		t.agree(t.items.number(other.items.list[item]), other.chances[item], diags)
	}
	for _, item := range slices.Sorted(maps.Keys(other.where)) {
		t.agreeWhere(t.items.number(other.items.list[item]), other.where[item], diags)
	}
	t.rounded += other.rounded
}

// duration is the time that the label took, where both times are recorded.
func (r *row) duration() (d rows.Decimal, both bool) {
	if !r.started.recorded || !r.labelled.recorded {
		return rows.Decimal{}, false
	}
	return r.labelled.time.Seconds.Sub(r.started.time.Seconds), true
}

// when is the moment at which the label was given, where it can be put in order with others: plain seconds tell durations
// only.
func (r *row) when() (at rows.Decimal, known bool) {
	return r.labelled.time.Seconds, r.labelled.recorded && r.labelled.time.Kind != rows.TimeSeconds
}

// begun is the moment at which the row was put before the person, where it can be put in order with others.
func (r *row) begun() (at rows.Decimal, known bool) {
	return r.started.time.Seconds, r.started.recorded && r.started.time.Kind != rows.TimeSeconds
}

// differs reports a label that differs from its suggestion.
func (r *row) differs() bool {
	return r.label.recorded && r.suggestion.recorded && r.label.value != r.suggestion.value
}
