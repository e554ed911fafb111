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
	label       text // the row's, or none
	lost        bool // there is no label of this kind that can be held against the suggestion: missing, whatever the row records
	extra       bool // and it stands beside another blind one of the same person and item
	unsuggested bool // there is no suggestion to hold the label against: left out
	perhaps     bool // of a visible one: it may as well be none, but a repeat of a blind one
}

// evidence is what rows can be evidence of. The entries of each list are ordered by annotator, then item.
type evidence struct {
	blind   []entry // labels given without the suggestion, and those that are missing
	visible []entry // labels given with it
	verify  []entry // shown the answer, asked to keep or to change it
	shown   []entry // rows on which the suggestion was on the screen but those of verify: where accepting counts
}

// classes is what the rows of a study are, under one reading of them.
type classes struct {
	evidence
	// what the rows of one person and item show
	seenBefore []*row // marked blind, after a suggestion was seen
	relabelled []*row // marked blind, after a blind label that differs from its suggestion
	unclear    []*row // marked blind, after a blind row of which it cannot be told whether it differs
	repeated   []*row // a further blind label: left out
	byPlace    int    // how often several rows are ordered by their place, and it is not one of those that follow
	placed     int    // how often only the place tells whether a blind or a visible row came first
	kindShown  []*row // asked for as evidence, and marked visible
	kindSeen   []*row // asked for as evidence and blind, and the same person sees the suggestion later
	// departures from the draw
	shownFirst   []*row // drawn blind, and seen with a suggestion before a blind label
	blindUndrawn []*row // drawn visible, and marked blind
	blindUnknown []*row // marked blind, and not in the draw
	shownUnknown []*row // visible, and not in the draw
	absent       []drawn
}

// study is the rows of a study, and what each is evidence of.
type study struct {
	classes
	rows              []row    // by annotator, item and order
	items, annotators []string // in order; rows hold their places here
	suggested         []bool   // by item: some row of it records a suggestion
	where             [][]text // by item: its values of the columns that rules slice by
	chances           []rows.Decimal
	frame             frame
	draw              *draw
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
	s.rows, s.suggested = make([]row, len(order)), make([]bool, len(s.items))
	blind := make([]bool, len(s.items)) // whether a row of the item is marked so
	for place, i := range order {
		s.rows[place] = t.rows[i]
		blind[t.rows[i].item] = blind[t.rows[i].item] || !t.rows[i].shown
		if t.rows[i].suggestion.recorded {
			s.suggested[t.rows[i].item] = true
		}
	}
	s.chances = make([]rows.Decimal, len(s.items)) // 0: not recorded
	for item, c := range t.chances {
		s.chances[itemPlace[item]] = c.value
		if c.value == whole && !blind[itemPlace[item]] {
			diags.Addf(c.pos, "inclusion_probability is 1, so the item was drawn blind for certain, and no row of it is blind; write the probability with which it was drawn blind")
		}
	}
	if d != nil {
		for i, name := range s.items {
			s.chances[i] = d.items[name].chance.value
		}
	}
	s.where = make([][]text, len(s.items))
	for item, values := range t.where {
		list := make([]text, len(values))
		for i, v := range values {
			list[i] = text{v.value, v.pos != diag.Pos{}}
		}
		s.where[itemPlace[item]] = list
	}
	s.read(false, showAnnotators, diags)
	return s
}

// read tells what each row is evidence of. Where seenFirst is set, people whose rows of an item only their place orders are
// taken to have seen the suggestion before they gave any blind label of it.
func (s *study) read(seenFirst, showAnnotators bool, diags *diag.List) {
	for from := 0; from < len(s.rows); {
		to := from + 1
		for to < len(s.rows) && s.rows[to].annotator == s.rows[from].annotator && s.rows[to].item == s.rows[from].item {
			to++
		}
		s.classify(s.rows[from:to], seenFirst, showAnnotators, diags)
		from = to
	}
	s.readAbsent()
}

// reread is the study under another reading: with seenFirst as for read, and with labels of the given values not recorded.
func (s *study) reread(seenFirst bool, missing []string) *study {
	other := *s
	other.classes, other.rows = classes{}, slices.Clone(s.rows)
	for i := range other.rows {
		if l := &other.rows[i].label; l.recorded && slices.Contains(missing, l.value) {
			*l = text{}
		}
	}
	other.read(seenFirst, false, &diag.List{}) // what is wrong with the rows was told when they were first read
	return &other
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

// onlyPlaced reports that only their place tells which of a blind and a visible row of one person and item came first. timed
// says that they are in the order of their times. A time at which a suggestion was put on the screen tells it too.
func onlyPlaced(group []row, timed bool) bool {
	for from := 0; from < len(group); {
		to := len(group)
		if timed { // only rows of one time are ordered by their place
			to = from + 1
			for to < len(group) && group[to].labelled.time.Seconds == group[from].labelled.time.Seconds {
				to++
			}
		}
		blind, visible, told := false, false, true
		for i := from; i < to; i++ {
			r := &group[i]
			at := r.when
			if r.shown {
				visible, at = true, r.begun
			} else {
				blind = true
			}
			_, known := at()
			told = told && known
		}
		if blind && visible && !told {
			return true
		}
		from = to
	}
	return false
}

// firstBegun is when the first suggestion was put on the screen, among rows of which that is known.
func firstBegun(group []row) (first rows.Decimal, known bool) {
	for i := range group {
		if at, begun := group[i].begun(); begun && group[i].shown && (!known || at.Cmp(first) < 0) {
			first, known = at, true
		}
	}
	return first, known
}

// classify tells what the rows of one person and item are evidence of.
func (s *study) classify(group []row, seenFirst, showAnnotators bool, diags *diag.List) {
	timed := byTime(group)
	placed := onlyPlaced(group, timed)
	switch {
	case placed:
		s.placed++
	case !timed && len(group) > 1:
		s.byPlace++
	}
	begun, begins := firstBegun(group)
	same := duplicates{}
	var base *row    // the blind row that is evidence, with or without a label
	var asked []*row // blind rows that were asked for as evidence
	seen := false    // a suggestion
	shown := false   // a visible row
	own := false     // a blind label of the person's own
	lost := false    // a blind label
	item := group[0].item
	for i := range group {
		r := &group[i]
		differs := base != nil && base.differs()
		if len(group) > 1 {
			if earlier := same.add(r); earlier != (diag.Pos{}) && !differs {
				diags.Addf(r.pos, twice, earlier, who(s.items[r.item], s.annotators[r.annotator], showAnnotators))
			}
		}
		s.checkDraw(r, own || shown)
		if r.shown {
			s.kindSeen, asked = append(s.kindSeen, asked...), nil
			if r.kind.evidence() {
				s.kindShown = append(s.kindShown, r)
			}
			e := entry{row: r, label: r.label, unsuggested: !r.suggestion.recorded}
			if r.kind == kindVerify {
				s.verify = append(s.verify, e)
			} else {
				s.visible = append(s.visible, e)
				s.shown = append(s.shown, e)
			}
			seen, shown = true, true
			continue
		}
		if at, known := r.when(); known && begins && begun.Cmp(at) < 0 || placed && seenFirst {
			seen = true
		}
		switch {
		case seen:
			s.seenBefore = append(s.seenBefore, r)
			s.reclassify(r, lost || base != nil)
			lost = true
		case base == nil:
			base = r
			s.blind = append(s.blind, entry{row: r, label: r.label, unsuggested: !r.suggestion.recorded && !s.comparable(item)})
		case differs:
			s.relabelled = append(s.relabelled, r)
			s.reclassify(r, true)
		case base.label.recorded && base.suggestion.recorded || !s.suggested[item]:
			s.repeated = append(s.repeated, r)
		default:
			// Had the first one agreed, this would be a repeat; had it differed, a relabelling. So that neither what is
			// not recorded nor a record of it helps anyone, it is a missing label of both kinds.
			s.unclear = append(s.unclear, r)
			s.blind = append(s.blind, entry{row: r, lost: true, extra: true})
			s.visible = append(s.visible, entry{row: r, lost: true, perhaps: true})
		}
		own = own || !seen && r.label.recorded
		if r.kind.evidence() {
			asked = append(asked, r)
		}
	}
}

// comparable reports that a blind label of the item without a suggestion is a missing comparison and not left out: another
// row records what the model suggested, or the item was drawn, so that leaving it out would be choosing.
func (s *study) comparable(item int) bool {
	return s.suggested[item] || s.draw != nil && s.draw.items[s.items[item]].blind
}

// reclassify counts a row that is marked blind and is not as a missing blind label and as a label given with the suggestion
// seen, which is missing too where the row does not record what to compare. extra says that the person has another blind
// one of the item.
func (s *study) reclassify(r *row, extra bool) {
	s.blind = append(s.blind, entry{row: r, lost: true, extra: extra})
	e := entry{row: r, label: r.label}
	if !r.label.recorded || !r.suggestion.recorded {
		e = entry{row: r, lost: true}
	}
	s.visible = append(s.visible, e)
}

// checkDraw compares a row with the draw. before says that the person labelled the item blind, or was shown it, before the
// row.
func (s *study) checkDraw(r *row, before bool) {
	if s.draw == nil {
		return
	}
	switch d, known := s.draw.items[s.items[r.item]]; {
	case !known && r.shown:
		s.shownUnknown = append(s.shownUnknown, r)
	case !known:
		s.blindUnknown = append(s.blindUnknown, r)
	case d.blind && r.shown && !before:
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

// drawnBlind is how many items were drawn blind: those of the draw, without one those with a row marked blind.
func (s *study) drawnBlind() int {
	if s.draw != nil {
		return s.draw.blind()
	}
	blind := map[int]bool{}
	for i := range s.rows {
		if !s.rows[i].shown {
			blind[s.rows[i].item] = true
		}
	}
	return len(blind)
}

// single reports a study of one annotator, whose units are items.
func (s *study) single() bool { return len(s.annotators) == 1 }
