package anchoring

import (
	"cmp"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/rows"
)

// entry is one label as evidence.
type entry struct {
	*row
	label text // the row's, or none
	lost  bool // a blind label that is missing because its row came after a suggestion was seen
	extra bool // and that stands beside another blind one of the same person and item
}

// evidence is what rows can be evidence of. The entries of each list are ordered by annotator, then item.
type evidence struct {
	blind   []entry // labels given without the suggestion, and those that are missing
	visible []entry // labels given with it
	verify  []entry // shown the answer, asked to keep or to change it
	shown   []entry // rows on which the suggestion was on the screen but those of verify: where accepting counts
}

// study is the rows of a study, and what each is evidence of.
type study struct {
	evidence
	rows              []row    // by annotator, item and order
	items, annotators []string // in order; rows hold their places here
	chances           []rows.Decimal
	frame             frame
	draw              *draw
	// what the rows of one person and item show
	seenBefore []*row // marked blind, after a suggestion was seen
	relabelled []*row // marked blind, after a blind label that differs from its suggestion
	repeated   []*row // a further blind label: left out
	byPlace    int    // how often several rows are ordered by their place
	kindShown  []*row // asked for as evidence, and marked visible
	kindSeen   []*row // asked for as evidence and blind, and the same person sees the suggestion later
	// departures from the draw
	shownFirst   []*row // drawn blind, and seen with a suggestion before a blind label
	blindUndrawn []*row // drawn visible, and marked blind
	blindUnknown []*row // marked blind, and not in the draw
	shownUnknown []*row // visible, and not in the draw
	absent       []drawn
}

// newStudy puts the tally's rows in order and tells what they are evidence of; d is nil without a draw. Rows that are there
// twice are reported to diags; annotators are named only where showAnnotators is set. The tally must not be used
// again.
func newStudy(t *Tally, d *draw, showAnnotators bool, diags *diag.List) *study {
	s := &study{draw: d, frame: newFrame(t, d)}
	var itemPlace, annotatorPlace []int
	s.items, itemPlace = ranked(t.items.list)
	s.annotators, annotatorPlace = ranked(t.annotators.list)
	order := make([]int, len(t.rows))
	for i := range t.rows {
		order[i] = i
		t.rows[i].item, t.rows[i].annotator = itemPlace[t.rows[i].item], annotatorPlace[t.rows[i].annotator]
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &t.rows[i], &t.rows[j]
		return cmp.Or(cmp.Compare(a.annotator, b.annotator), cmp.Compare(a.item, b.item), cmp.Compare(i, j))
	})
	s.rows = make([]row, len(order))
	for place, i := range order {
		s.rows[place] = t.rows[i]
	}
	s.chances = make([]rows.Decimal, len(s.items)) // 0: not recorded
	for item, c := range t.chances {
		s.chances[itemPlace[item]] = c.value
	}
	if d != nil {
		for i, name := range s.items {
			s.chances[i] = d.items[name].chance.value
		}
	}
	for from := 0; from < len(s.rows); {
		to := from + 1
		for to < len(s.rows) && s.rows[to].annotator == s.rows[from].annotator && s.rows[to].item == s.rows[from].item {
			to++
		}
		s.classify(s.rows[from:to], showAnnotators, diags)
		from = to
	}
	s.readAbsent()
	return s
}

// ranked returns the names in order, and each one's place there.
func ranked(list []string) (sorted []string, place []int) {
	sorted = slices.Sorted(slices.Values(list))
	place = make([]int, len(list))
	for i, name := range list {
		place[i], _ = slices.BinarySearch(sorted, name)
	}
	return sorted, place
}

// byTime puts the rows of one person and item into the order of their times, where all have one; rows of one time
// keep their places.
func byTime(group []row) bool {
	for i := range group {
		if _, known := group[i].when(); !known {
			return false
		}
	}
	slices.SortStableFunc(group, func(a, b row) int { return a.labelled.time.Seconds.Cmp(b.labelled.time.Seconds) })
	return true
}

// classify tells what the rows of one person and item are evidence of.
func (s *study) classify(group []row, showAnnotators bool, diags *diag.List) {
	if len(group) > 1 && !byTime(group) {
		s.byPlace++
	}
	same := duplicates{}
	var first *row      // the first blind label that is recorded
	var unfilled []*row // blind rows without a label before it
	var asked []*row    // blind rows that were asked for as evidence
	seen := false       // a suggestion
	lost := false       // a blind label
	for i := range group {
		r := &group[i]
		disagreed := first != nil && first.suggestion.recorded && first.label.value != first.suggestion.value
		if earlier := same.add(r); earlier != nil && !disagreed {
			diags.Addf(r.pos, "the same item, annotator, visibility and kind as at %s%s; a second label needs a later time in labelled_at, unless it follows a blind label that differs from the suggestion",
				earlier.pos, s.who(r, showAnnotators))
		}
		s.checkDraw(r, first, seen)
		switch {
		case r.shown:
			s.kindSeen, asked = append(s.kindSeen, asked...), nil
			if r.kind.evidence() {
				s.kindShown = append(s.kindShown, r)
			}
			if r.kind == kindVerify {
				s.verify = append(s.verify, entry{row: r, label: r.label})
			} else {
				s.visible = append(s.visible, entry{row: r, label: r.label})
				s.shown = append(s.shown, entry{row: r, label: r.label})
			}
			seen = true
			continue
		case seen:
			s.seenBefore = append(s.seenBefore, r)
			s.reclassify(r, lost || first != nil || len(unfilled) > 0)
			lost = true
		case disagreed:
			s.relabelled = append(s.relabelled, r)
			s.reclassify(r, true)
		case first != nil:
			s.repeated = append(s.repeated, r)
		case !r.label.recorded:
			unfilled = append(unfilled, r)
		default:
			first = r
		}
		if r.kind.evidence() {
			asked = append(asked, r)
		}
	}
	if first == nil && len(unfilled) > 0 {
		first, unfilled = unfilled[0], unfilled[1:]
	}
	if first != nil {
		s.blind = append(s.blind, entry{row: first, label: first.label})
		s.repeated = append(s.repeated, unfilled...)
	}
}

// reclassify counts a row that is marked blind and is not as a missing blind label, and, where it can agree with
// something, as a label given with the suggestion seen. extra says that the person has another blind one of the item.
func (s *study) reclassify(r *row, extra bool) {
	s.blind = append(s.blind, entry{row: r, lost: true, extra: extra})
	if r.label.recorded && r.suggestion.recorded {
		s.visible = append(s.visible, entry{row: r, label: r.label})
	}
}

// who names a row in an error; the annotator only where that was asked for.
func (s *study) who(r *row, showAnnotators bool) string {
	if !showAnnotators {
		return ""
	}
	return " (item " + diag.Quote(s.items[r.item]) + ", annotator " + diag.Quote(s.annotators[r.annotator]) + ")"
}

// duplicates finds, among the rows of one person and item, one that says the same as an earlier one: of the same visibility
// and kind, and at the same time or at none.
type duplicates map[duplicateKey]*row

type duplicateKey struct {
	shown bool
	kind  kind
	at    rows.Decimal
	any   anyTime
}

// anyTime says which rows an entry of duplicates is the first of.
type anyTime uint8

const (
	atTime  anyTime = iota // those of that very time
	ofAll                  // all
	untimed                // those without a time
)

// add returns the row that r repeats, nil for none.
func (d duplicates) add(r *row) (earlier *row) {
	at, known := r.when()
	all, none := duplicateKey{r.shown, r.kind, rows.Decimal{}, ofAll}, duplicateKey{r.shown, r.kind, rows.Decimal{}, untimed}
	own := none
	if known {
		own = duplicateKey{r.shown, r.kind, at, atTime}
		earlier = cmp.Or(d[own], d[none])
	} else {
		earlier = d[all]
	}
	for _, k := range []duplicateKey{all, own} {
		if d[k] == nil {
			d[k] = r
		}
	}
	return earlier
}

// checkDraw compares a row with the draw. first is the person's own blind label of the item before it, seen whether the
// person saw a suggestion before it.
func (s *study) checkDraw(r, first *row, seen bool) {
	if s.draw == nil {
		return
	}
	switch d, known := s.draw.items[s.items[r.item]]; {
	case !known && r.shown:
		s.shownUnknown = append(s.shownUnknown, r)
	case !known:
		s.blindUnknown = append(s.blindUnknown, r)
	case d.blind && r.shown && first == nil && !seen:
		s.shownFirst = append(s.shownFirst, r)
	case !d.blind && !r.shown:
		s.blindUndrawn = append(s.blindUndrawn, r)
	}
}

// departures is how many rows are not as the draw says.
func (s *study) departures() int {
	return len(s.shownFirst) + len(s.blindUndrawn) + len(s.blindUnknown)
}

// readAbsent lists the items that were drawn blind and of which no row is blind.
func (s *study) readAbsent() {
	if s.draw == nil {
		return
	}
	blind := map[string]bool{}
	for _, e := range s.blind {
		blind[s.items[e.item]] = true
	}
	for name, d := range s.draw.items {
		if d.blind && !blind[name] {
			s.absent = append(s.absent, d)
		}
	}
	slices.SortFunc(s.absent, func(a, b drawn) int {
		return cmp.Or(a.chance.value.Cmp(b.chance.value), strings.Compare(a.pos.String(), b.pos.String()))
	})
}

// single reports a study of one annotator, whose units are items.
func (s *study) single() bool { return len(s.annotators) == 1 }
