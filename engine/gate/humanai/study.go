package humanai

import (
	"slices"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/rows"
)

// Reasons why a decision or a person is left out, as printed.
const (
	reasonDeparts   = "not as assigned"
	reasonNoOutput  = "no output recorded"
	reasonAbstained = "the system abstained"
	reasonOneArm    = "not in both conditions"
	reasonNoneOwn   = "no such decision"
	reasonNoSlice   = "the column of `where` is not recorded"
)

// entry is one decision of the study. An absent one has no row: the assignment or the declared design
// requires it, so it is a missing decision.
type entry struct {
	key
	decision   text
	reference  text // absent entries of a case that no row mentions have none
	output     text // an absent entry takes its case's output where all its rows agree on one
	absent     bool
	seconds    float64
	hasSeconds bool
	where      []text // absent entries: what their case or person tells
}

// right reports whether the decision is recorded and equals the reference.
func (e entry) right() bool {
	return e.decision.recorded && e.reference.recorded && e.decision.value == e.reference.value
}

// study is the decisions of a study under its design.
type study struct {
	design   design
	entries  []entry  // in the order of their keys
	people   []string // everyone in the file or the assignment, in order
	cases    int
	rows     int     // of the file
	departed []entry // rows that are not as assigned: in no measure
	// what the order of a before_after study shows
	wrongOrder []key // the decision with the output came first
	overlap    int   // pairs where the output was on the screen before the decision without it was made
	noOrder    int   // pairs without times that differ and can be compared
	// who is given both arms, so that an arm without a decision is a missing arm
	bothArms       bool
	assigned       bool
	assignedPeople []string // everyone in the assignment, in order
	likely         likely   // decisions that look as if they meant "not recorded"
	timed          int      // rows with a time
	durations      int      // rows with both
}

// newStudy lists the study's decisions. assigned is nil without an assignment.
func newStudy(t *Tally, assigned []key, declared string) *study {
	keys := t.keys()
	s := &study{design: designOf(keys, assigned, declared), rows: len(keys), assigned: assigned != nil}
	given, assignedPeople := map[key]bool{}, map[string]bool{}
	for _, k := range assigned {
		given[k], assignedPeople[k.person] = true, true
	}
	s.assignedPeople = sortedKeys(assignedPeople)
	s.likely = t.likelyMissing()
	if s.design.declared && s.design.name == beforeAfter && !s.assigned {
		for _, k := range keys { // a declared design gives every person both decisions of each of their cases
			given[k] = true
			given[key{k.person, k.item, k.condition.other()}] = true
		}
	}
	s.bothArms = s.design.declared && s.design.name == crossed && !s.assigned

	outputs := t.outputs()
	several := outputs.several()
	people, cases := map[string]bool{}, map[string]bool{}
	index := newSliceIndex(t)
	for _, k := range keys {
		people[k.person], cases[k.item] = true, true
		if s.assigned && !given[k] {
			s.departed = append(s.departed, entry{key: k, where: t.rows[k].where})
			continue
		}
		delete(given, k)
		r := t.rows[k]
		if r.started.recorded || r.decided.recorded {
			s.timed++
		}
		e := entry{key: k, decision: r.decision, reference: text{t.references[k.item].value, true}, where: r.where}
		if k.condition == with {
			e.output = r.output
		}
		if d, both := r.duration(); both {
			e.seconds, e.hasSeconds = d.Float64(), true
			s.durations++
		}
		s.entries = append(s.entries, e)
	}
	for k := range given { // sorted below
		people[k.person], cases[k.item] = true, true
		e := entry{key: k, absent: true}
		if ref, found := t.references[k.item]; found {
			e.reference = text{ref.value, true}
		}
		if out, one := outputs.only(k.item, several); one && k.condition == with {
			e.output = text{out, true}
		}
		e.where = index.of(k)
		s.entries = append(s.entries, e)
	}
	sortEntries(s.entries)
	s.people, s.cases = sortedKeys(people), len(cases)
	if s.design.name == beforeAfter {
		s.readOrder(t)
	}
	return s
}

// sortEntries puts entries in the order of their keys.
func sortEntries(entries []entry) {
	slices.SortFunc(entries, func(a, b entry) int { return a.compare(b.key) })
}

// sortedKeys returns the members of a set in order.
func sortedKeys[V any](set map[string]V) []string {
	list := make([]string, 0, len(set))
	for k := range set {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// readOrder looks at the times of each pair: the decision without must not come after the one with.
func (s *study) readOrder(t *Tally) {
	for k, r := range t.rows {
		if k.condition != with {
			continue
		}
		first, found := t.rows[key{k.person, k.item, without}]
		if !found {
			continue
		}
		if shown, made := r.started, first.decided; shown.recorded && made.recorded && shown.time.Kind != rows.TimeSeconds &&
			shown.time.Seconds.Cmp(made.time.Seconds) < 0 {
			s.overlap++
		}
		a, aOK := first.order()
		b, bOK := r.order()
		switch {
		case !aOK || !bOK, a.Cmp(b) == 0: // one moment, as of times cut to the minute, shows no order either
			s.noOrder++
		case b.Cmp(a) < 0:
			s.wrongOrder = append(s.wrongOrder, k)
		}
	}
	slices.SortFunc(s.wrongOrder, key.compare)
}

// order is the moment that places a decision among others: decided_at, else started_at, where it is a
// date and time; plain seconds tell durations only.
func (r row) order() (rows.Decimal, bool) {
	for _, m := range []moment{r.decided, r.started} {
		if m.recorded {
			return m.time.Seconds, m.time.Kind != rows.TimeSeconds
		}
	}
	return rows.Decimal{}, false
}

// caseOutputs is the distinct outputs of each case's `with` rows.
type caseOutputs map[string]map[string]bool

// outputs collects the distinct outputs shown for each case.
func (t *Tally) outputs() caseOutputs {
	o := caseOutputs{}
	for k, r := range t.rows {
		if k.condition != with || !r.output.recorded {
			continue
		}
		if o[k.item] == nil {
			o[k.item] = map[string]bool{}
		}
		o[k.item][r.output.value] = true
	}
	return o
}

// several counts the cases that were shown with different outputs.
func (o caseOutputs) several() int {
	n := 0
	for _, outs := range o {
		if len(outs) > 1 {
			n++
		}
	}
	return n
}

// only returns the output that a decision without a row would have seen: the case's, where there is exactly one
// and no case of the study shows several (the system is then taken to answer a case in one way).
func (o caseOutputs) only(item string, several int) (string, bool) {
	if several > 0 || len(o[item]) != 1 {
		return "", false
	}
	for out := range o[item] {
		return out, true
	}
	return "", false
}

// sliceIndex tells the values of the `where` columns for a decision without a row, from those on which all rows of
// its case, and all rows of its person, agree.
type sliceIndex struct {
	columns          int
	byCase, byPerson map[string][]agreed
}

// agreed is a column's value over several rows, as long as they agree.
type agreed struct {
	text
	seen, differs bool
}

// newSliceIndex reads what the rows of each case and each person agree on.
func newSliceIndex(t *Tally) *sliceIndex {
	x := &sliceIndex{columns: t.slices, byCase: map[string][]agreed{}, byPerson: map[string][]agreed{}}
	if t.slices == 0 {
		return x
	}
	note := func(index map[string][]agreed, id string, values []text) {
		if index[id] == nil {
			index[id] = make([]agreed, t.slices)
		}
		for i, v := range values {
			a := &index[id][i]
			a.differs = a.differs || (a.seen && a.text != v)
			a.text, a.seen = v, true
		}
	}
	for k, r := range t.rows {
		note(x.byCase, k.item, r.where)
		note(x.byPerson, k.person, r.where)
	}
	return x
}

// of returns the values for a decision without a row; one that cannot be told is not recorded. A column tells something
// of cases or of people, and the rows do not say which: where both the case's and the person's rows agree, on different
// values, or where one of the two has no row, it cannot be told. (The case alone would put the decisions that one group
// never made into the slice of the group that made them.)
func (x *sliceIndex) of(k key) []text {
	values := make([]text, x.columns)
	for i := range values {
		var ofCase, ofPerson agreed
		if list := x.byCase[k.item]; list != nil {
			ofCase = list[i]
		}
		if list := x.byPerson[k.person]; list != nil {
			ofPerson = list[i]
		}
		switch {
		case !ofCase.seen || !ofPerson.seen || (ofCase.differs && ofPerson.differs):
		case ofCase.differs:
			values[i] = ofPerson.text
		case ofPerson.differs || ofCase.text == ofPerson.text:
			values[i] = ofCase.text
		}
	}
	return values
}

// slice returns the entries that a rule's `where` keeps, and those it cannot tell because the column is not
// recorded. An absent decision that may belong to the slice is kept: as a missing one it can only
// widen the interval.
func slice(entries []entry, terms []gate.Term) (kept, unrecorded []entry) {
	if len(terms) == 0 {
		return entries, nil
	}
	for _, e := range entries {
		in, unknown := true, false
		for _, t := range terms {
			v := e.where[t.Column]
			unknown = unknown || !v.recorded
			in = in && (!v.recorded || v.value == t.Value)
		}
		switch {
		case !in:
		case unknown && !e.absent:
			unrecorded = append(unrecorded, e)
		default:
			kept = append(kept, e)
		}
	}
	return kept, unrecorded
}
