package humanai

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/rows"
)

// condition says whether the system's output was on the screen.
type condition uint8

const (
	without condition = iota
	with
)

// String is the word used in decision files.
func (c condition) String() string {
	if c == with {
		return "with"
	}
	return "without"
}

// other is the other condition.
func (c condition) other() condition { return 1 - c }

// The columns of a decision file, in the order in which rows.Reader hands them over. Columns named by a
// rule's `where` follow.
const (
	colCase = iota
	colReviewer
	colCondition
	colDecision
	colReference
	colOutput
	colStarted
	colDecided
	colWhere // the first of them
)

// columns lists what the gate reads.
func columns(where []string) []rows.Column {
	list := []rows.Column{
		colCase:      {Name: "case", Required: true},
		colReviewer:  {Name: "reviewer", Required: true},
		colCondition: {Name: "condition", Required: true},
		colDecision:  {Name: "decision", Required: true},
		colReference: {Name: "reference", Required: true},
		colOutput:    {Name: "ai_output", Required: true},
		colStarted:   {Name: "started_at"},
		colDecided:   {Name: "decided_at"},
	}
	for _, name := range where {
		list = append(list, rows.Column{Name: name, Required: true})
	}
	return list
}

// key identifies a decision: a person decides a case at most once in each condition.
type key struct {
	person, item string
	condition    condition
}

// compare orders keys by person, case and condition (without first).
func (k key) compare(l key) int {
	return cmp.Or(strings.Compare(k.person, l.person), strings.Compare(k.item, l.item), cmp.Compare(k.condition, l.condition))
}

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
	decision, output text
	started, decided moment
	where            []text   // values of the columns that rules slice by
	pos              diag.Pos // of the row
	referencePos     diag.Pos // of its reference
}

// reference is a case's right answer and where it was first read.
type reference struct {
	value string
	pos   diag.Pos
}

// Tally is what the gate keeps of the rows: one record a decision. It is mergeable.
type Tally struct {
	showReviewers bool
	slices        int // how many columns rules slice by
	rows          map[key]row
	references    map[string]reference
	clock         rows.TimeKind // the one kind of time in use, once a time was read
	clockPos      diag.Pos
}

// newTally returns an empty tally of rows with so many columns that rules slice by. Errors name reviewers only
// where showReviewers is set.
func newTally(slices int, showReviewers bool) *Tally {
	return &Tally{slices: slices, showReviewers: showReviewers, rows: map[key]row{}, references: map[string]reference{}}
}

// Add keeps one row, or adds to diags why it cannot be used.
func (t *Tally) Add(r rows.Row, diags *diag.List) {
	k, kept, ref, ok := t.read(r, diags)
	if !ok {
		return
	}
	t.add(k, kept, ref, diags)
}

// read takes the values of a row; every problem of the row is reported.
func (t *Tally) read(r rows.Row, diags *diag.List) (k key, kept row, ref string, ok bool) {
	ok = true
	if blank(r) { // a spreadsheet's trailing rows: one problem, not one a column
		diags.Addf(r.Pos(-1), "nothing stands in the columns of this row that are read; delete it")
		return key{}, row{}, "", false
	}
	required := func(col int, name string) string {
		v, recorded := r.Text(col)
		if !recorded {
			diags.Addf(r.Pos(col), "%s is empty; every row needs one", name)
			ok = false
		}
		return v
	}
	k.item = required(colCase, "case")
	k.person = required(colReviewer, "reviewer")
	ref = required(colReference, "reference")
	switch c := required(colCondition, "condition"); c {
	case "with":
		k.condition = with
	case "without":
		k.condition = without
	case "":
	default:
		diags.Addf(r.Pos(colCondition), "condition is %s; write \"with\" or \"without\"", diag.Quote(c))
		ok = false
	}
	kept.pos, kept.referencePos = r.Pos(-1), r.Pos(colReference)
	kept.decision.value, kept.decision.recorded = r.Text(colDecision)
	kept.output.value, kept.output.recorded = r.Text(colOutput)
	kept.started = t.moment(r, colStarted, "started_at", diags, &ok)
	kept.decided = t.moment(r, colDecided, "decided_at", diags, &ok)
	if t.slices > 0 {
		kept.where = make([]text, t.slices)
		for i := range kept.where {
			kept.where[i].value, kept.where[i].recorded = r.Text(colWhere + i)
		}
	}
	if d, both := kept.duration(); both && d.Sign() < 0 {
		diags.Addf(r.Pos(colDecided), "decided_at is before started_at; a decision cannot take negative time")
		ok = false
	}
	return k, kept, ref, ok
}

// blank reports a row of which no column that the gate needs holds anything.
func blank(r rows.Row) bool {
	for col := range colStarted {
		if _, recorded := r.Text(col); recorded {
			return false
		}
	}
	return true
}

// moment reads a time. All times of a study are of one kind.
func (t *Tally) moment(r rows.Row, col int, name string, diags *diag.List, ok *bool) moment {
	v, recorded := r.Text(col)
	if !recorded {
		return moment{}
	}
	tm, _, err := rows.ParseTime(v) // what is rounded beyond 18 decimals does not matter to a time
	if err != nil {
		diags.Addf(r.Pos(col), "%s: %v", name, err)
		*ok = false
		return moment{}
	}
	if t.clockPos == (diag.Pos{}) {
		t.clock, t.clockPos = tm.Kind, r.Pos(col)
	} else if t.clock != tm.Kind {
		diags.Addf(r.Pos(col), "%s is %s, but the time at %s is %s; write all times of a study in one way", name, tm.Kind, t.clockPos, t.clock)
		*ok = false
		return moment{}
	}
	return moment{time: tm, recorded: true}
}

// add keeps a row that is sound by itself, unless it contradicts an earlier one.
func (t *Tally) add(k key, kept row, ref string, diags *diag.List) {
	sound := true
	if first, found := t.references[k.item]; !found {
		t.references[k.item] = reference{ref, kept.referencePos}
	} else if first.value != ref {
		how := "a case has one reference"
		if gate.Folded(first.value) == gate.Folded(ref) {
			how = "they differ only in letter case, spaces or Unicode form: write each label in one way"
		}
		diags.Addf(kept.referencePos, "the reference of case %s is %s here and %s at %s; %s",
			diag.Quote(k.item), diag.Quote(ref), diag.Quote(first.value), first.pos, how)
		sound = false
	}
	if first, found := t.rows[k]; found {
		diags.Addf(kept.pos, "the same case, reviewer and condition as at %s%s; a person decides a case once in a condition", first.pos, t.who(k))
		sound = false
	}
	if !sound {
		return
	}
	t.rows[k] = kept
}

// who names the decision in an error; the reviewer only where that was asked for.
func (t *Tally) who(k key) string {
	if !t.showReviewers {
		return ""
	}
	return " (case " + diag.Quote(k.item) + ", reviewer " + diag.Quote(k.person) + ")"
}

// Merge adds the decisions of another tally, as if its rows had been added one by one.
func (t *Tally) Merge(other *Tally, diags *diag.List) {
	if other.clockPos != (diag.Pos{}) {
		switch {
		case t.clockPos == (diag.Pos{}):
			t.clock, t.clockPos = other.clock, other.clockPos
		case t.clock != other.clock:
			diags.Addf(other.clockPos, "this time is %s, but the time at %s is %s; write all times of a study in one way", other.clock, t.clockPos, t.clock)
		}
	}
	for _, k := range other.keys() {
		r := other.rows[k]
		t.add(k, r, other.references[k.item].value, diags)
	}
}

// keys returns the decisions' keys in order.
func (t *Tally) keys() []key { return slices.SortedFunc(maps.Keys(t.rows), key.compare) }

// duration is the time the decision took, where both times are recorded.
func (r row) duration() (d rows.Decimal, both bool) {
	if !r.started.recorded || !r.decided.recorded {
		return rows.Decimal{}, false
	}
	return r.decided.time.Seconds.Sub(r.started.time.Seconds), true
}
