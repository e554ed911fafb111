package anchoring

import (
	"fmt"
	"maps"
	"slices"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// manyAlike is from how many labels on it is worth saying that an annotator took every suggestion shown, or labelled as
// another did.
const manyAlike = 10

// locate adds where the rows of a finding stand.
func locate(f *gate.Found, code string, list []*row) {
	for _, r := range list {
		f.At(code, r.pos)
	}
}

// findings points at what a person would want to know of the data, the gravest first.
func (s *study) findings(t *Tally, floor int, showAnnotators bool) gate.Found {
	var f gate.Found
	named := func(people []int) string { // who, where names may be shown
		if !showAnnotators || len(people) == 0 {
			return ""
		}
		var list []string
		for _, a := range people {
			list = append(list, s.annotators[a])
		}
		return " (" + gate.Quoted(list) + ")"
	}
	warn := func(code string, list []*row, format string, args ...any) {
		f.Add(code, report.Warning, len(list), format, args...)
		locate(&f, code, list)
	}

	warn("drawn_blind_shown", s.shownFirst, "%s an item that was drawn blind, before its annotator had labelled it blind.", gate.Plural(len(s.shownFirst), "visible row is of", "visible rows are of"))
	warn("drawn_visible_blind", s.blindUndrawn, "%s an item that was not drawn blind: whoever chooses what to label blind chooses the result.", gate.Plural(len(s.blindUndrawn), "blind row is of", "blind rows are of"))
	warn("blind_not_in_draw", s.blindUnknown, "%s an item that the draw does not know.", gate.Plural(len(s.blindUnknown), "blind row is of", "blind rows are of"))
	f.Add("drawn_without_a_row", report.Warning, len(s.absent), "%s drawn blind and never labelled blind: each is a missing blind label.", gate.Plural(len(s.absent), "item was", "items were"))
	warn("suggestion_seen_before", s.seenBefore, "%s after the same person had seen a suggestion for the item: visible labels, and each a missing blind label.", gate.Plural(len(s.seenBefore), "row marked blind comes", "rows marked blind come"))
	warn("relabelled_blind", s.relabelled, "%s a blind label that differs from the suggestion: visible labels, and each a missing blind label.", gate.Plural(len(s.relabelled), "row marked blind follows", "rows marked blind follow"))
	warn("after_unlabelled_blind", s.unclear, "%s a blind row of the same person and item that lacks its label or its suggestion: whether it repeats or corrects that cannot be told, so it is no evidence, and a missing label of both kinds.", gate.Plural(len(s.unclear), "row marked blind follows", "rows marked blind follow"))
	f.Add("order_by_place", report.Warning, s.placed, "%s blind and visible rows that only their place in the files orders: which suggestion was seen first rests on it. Record labelled_at on every row; rules that the other order would turn are for a person.", gate.Plural(s.placed, "pair of a person and an item has", "pairs of a person and an item have"))
	warn("evidence_shown", s.kindShown, "%s asked for as calibration, certification or audit, and the suggestion was on the screen: no evidence of the model.", gate.Plural(len(s.kindShown), "row was", "rows were"))
	warn("evidence_seen_later", s.kindSeen, "%s asked for as calibration, certification or audit, and the same person was shown the suggestion later: such an item stays blind for that person.", gate.Plural(len(s.kindSeen), "blind row was", "blind rows were"))

	c := s.countRows()
	if c.blind == 0 {
		f.Add("no_blind_rows", report.Warning, 1, "No row is blind: how often people agree with the model without seeing its suggestions is not in the files.")
	} else if recorded := s.blindRecorded(); recorded < floor {
		items := len(s.items)
		if s.draw != nil {
			items = len(s.draw.items)
		}
		supply, only := items*len(s.annotators), "there are only "+gate.Plural(items, "item", "items") // each annotator can label each item
		if !s.single() {
			only = fmt.Sprintf("%s and %d annotators can supply only %d", gate.Plural(items, "item", "items"), len(s.annotators), supply)
		}
		text := gate.Plural(recorded, "blind comparison is", "blind comparisons are") + " recorded"
		if supply < floor {
			f.Add("few_blind_labels", report.Warning, 1, "%s where minimum_blind_sample asks for %d, and %s: if that is the whole corpus, set the floor to what it can supply; else label more items blind.", text, floor, only)
		} else {
			f.Add("few_blind_labels", report.Warning, 1, "%s where minimum_blind_sample asks for %d: label more items blind.", text, floor)
		}
	}

	var blindless, visibleless, blank, acceptedBlind []*row
	var taken, single []int
	own := map[int]*[3]int{} // visible labels, those that equal the suggestion, rows
	for i := range s.rows {
		r := &s.rows[i]
		switch {
		case !r.suggestion.recorded && r.shown:
			visibleless = append(visibleless, r)
		case !r.suggestion.recorded:
			blindless = append(blindless, r)
		}
		if !r.label.recorded {
			blank = append(blank, r)
		}
		if !r.shown && r.accepted != noAnswer {
			acceptedBlind = append(acceptedBlind, r)
		}
		if own[r.annotator] == nil {
			own[r.annotator] = &[3]int{}
		}
		o := own[r.annotator]
		o[2]++
		if r.shown && r.label.recorded && r.suggestion.recorded {
			o[0]++
			if r.label.value == r.suggestion.value {
				o[1]++
			}
		}
	}
	warn("blind_without_suggestion", blindless, "%s no suggestion to compare with: a missing comparison where another row of the item has one or the draw has the item blind, else left out. Record what the model would have suggested.", gate.Plural(len(blindless), "blind row has", "blind rows have"))
	warn("visible_without_suggestion", visibleless, "%s no suggestion although it was on the screen: left out of every agreement with the model.", gate.Plural(len(visibleless), "visible row has", "visible rows have"))
	f.Add("missing_labels", report.Note, len(blank), "%s no label; those that count as missing are completed both ways.", gate.Plural(len(blank), "row has", "rows have"))
	f.Add("repeated_blind_labels", report.Note, len(s.repeated), "%s the same person's earlier one of the item: left out.", gate.Plural(len(s.repeated), "blind label repeats", "blind labels repeat"))
	f.Add("shown_not_in_draw", report.Note, len(s.shownUnknown), "%s an item that the draw does not know.", gate.Plural(len(s.shownUnknown), "visible row is of", "visible rows are of"))
	f.Add("rows_by_place", report.Note, s.byPlace, "%s several rows that only their place in the files orders: which label was the first rests on it.", gate.Plural(s.byPlace, "pair of a person and an item has", "pairs of a person and an item have"))
	f.Add("accepted_ignored", report.Note, len(acceptedBlind), "%s whether the suggestion was accepted; it is ignored.", gate.Plural(len(acceptedBlind), "blind row records", "blind rows record"))
	rounded := t.rounded
	if s.draw != nil {
		rounded += s.draw.rounded
	}
	f.Add("probabilities_rounded", report.Note, rounded, "%s more decimals than are kept and was rounded to 18.", gate.Plural(rounded, "inclusion_probability has", "inclusion probabilities have"))
	if s.draw != nil {
		differ := 0
		for item, c := range t.chances { // by the tally's numbers, so only counted
			if d := s.draw.items[t.items.list[item]]; d.chance != (chance{}) && d.chance.value != c.value {
				differ++
			}
		}
		f.Add("probability_differs", report.Warning, differ, "The inclusion_probability of %s differs from the draw's, which is the one used.", gate.Plural(differ, "item", "items"))
	}

	for a := range s.annotators {
		o := own[a]
		if o[0] >= manyAlike && o[1] == o[0] {
			taken = append(taken, a)
		}
		if o[2] == 1 {
			single = append(single, a)
		}
	}
	f.Add("accepts_everything", report.Warning, len(taken), "%s every suggestion shown, on %d items or more%s.", gate.Plural(len(taken), "annotator took", "annotators took"), manyAlike, named(taken))
	f.Add("single_label", report.Note, len(single), "%s a single label%s.", gate.Plural(len(single), "annotator has", "annotators have"), named(single))
	alike := s.identical()
	f.Add("identical_annotators", report.Warning, len(alike), "%s the same label as another on every item that both labelled, %d or more: people who label together count as one annotator%s.", gate.Plural(len(alike), "annotator has", "annotators have"), manyAlike, named(alike))
	s.values(&f, named)
	return f
}

// mostTogether is how many people of one item are compared with each other, so that the work stays in proportion to the rows.
const mostTogether = 100

// identical lists the annotators whose labels are the same as another's on all items that both labelled, of which there are
// manyAlike or more. A person's label of an item is the first one that is recorded.
func (s *study) identical() []int {
	type opinion struct {
		annotator int
		label     string
	}
	ofItem := make([][]opinion, len(s.items)) // each in the annotators' order, which is that of the rows
	for i := range s.rows {
		r := &s.rows[i]
		of := ofItem[r.item]
		if r.label.recorded && len(of) < mostTogether && (len(of) == 0 || of[len(of)-1].annotator != r.annotator) {
			ofItem[r.item] = append(of, opinion{r.annotator, r.label.value})
		}
	}
	alike := map[int]bool{}
	shared, apart := make([]int, len(s.annotators)), make([]bool, len(s.annotators)) // of one annotator with each other
	for from, to := 0, 0; from < len(s.rows); from = to {
		a := s.rows[from].annotator
		var met []int
		for ; to < len(s.rows) && s.rows[to].annotator == a; to++ {
			if to > from && s.rows[to].item == s.rows[to-1].item {
				continue
			}
			of := ofItem[s.rows[to].item]
			own := slices.IndexFunc(of, func(o opinion) bool { return o.annotator == a })
			if own < 0 {
				continue
			}
			for _, o := range of[own+1:] {
				if shared[o.annotator] == 0 {
					met = append(met, o.annotator)
				}
				shared[o.annotator]++
				apart[o.annotator] = apart[o.annotator] || o.label != of[own].label
			}
		}
		for _, b := range met {
			if shared[b] >= manyAlike && !apart[b] {
				alike[a], alike[b] = true, true
			}
			shared[b], apart[b] = 0, false
		}
	}
	return slices.Sorted(maps.Keys(alike))
}

// blindRecorded counts the blind labels that are recorded and have a suggestion to compare with.
func (s *study) blindRecorded() int {
	n := 0
	for _, e := range s.blind {
		if e.label.recorded && e.suggestion.recorded {
			n++
		}
	}
	return n
}

// values points at labels that look like one written in several ways, at constant columns and at items with several
// suggestions.
func (s *study) values(f *gate.Found, named func([]int) string) {
	all, labels, suggestions, items := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	ofItem := map[int]string{}
	several := map[int]bool{}
	for i := range s.rows {
		r := &s.rows[i]
		items[s.items[r.item]] = true
		if r.label.recorded {
			all[r.label.value], labels[r.label.value] = true, true
		}
		if !r.suggestion.recorded {
			continue
		}
		all[r.suggestion.value], suggestions[r.suggestion.value] = true, true
		if first, found := ofItem[r.item]; !found {
			ofItem[r.item] = r.suggestion.value
		} else if first != r.suggestion.value {
			several[r.item] = true
		}
	}
	f.Add("several_suggestions", report.Warning, len(several), "%s several different suggestions: one model makes one, or this is several models.", gate.Plural(len(several), "item has", "items have"))
	gate.AddForms(f, "labels_differ_only_in_form", "labels", all)
	gate.AddForms(f, "items_differ_only_in_form", "item ids", items)
	people := map[string]int{}
	for i, a := range s.annotators {
		people[a] = i
	}
	for _, group := range gate.Forms(people) { // counted, and named only where that was asked for
		var who []int
		for _, a := range group {
			who = append(who, people[a])
		}
		f.Add("annotators_differ_only_in_form", report.Warning, len(group), "%d annotators differ only in letter case, spaces or Unicode form: one person under several names counts several times%s.", len(group), named(who))
	}
	for _, c := range []struct {
		name   string
		values map[string]bool
	}{{"label", labels}, {"suggestion", suggestions}} {
		if len(c.values) == 1 && len(s.rows) > 1 {
			f.Add("constant_column", report.Note, 1, "Every recorded %s is %s.", c.name, diag.Quote(sortedKeys(c.values)[0]))
		}
	}
	missing := s.markers(true)
	f.Add("likely_missing", report.Warning, missing.count, "%s %s, which no suggestion equals, and %s as disagreeing: if it means that nothing was recorded, list it under `missing_values`.",
		gate.Plural(missing.count, "label is", "labels are"), gate.Quoted(missing.values), map[bool]string{true: "counts", false: "count"}[missing.count == 1])
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

// likely is labels that look as if they meant "not recorded".
type likely struct {
	count  int
	values []string
}

// markers returns the labels that are a marker of "not recorded"; where unsuggested is set only those that no suggestion equals,
// which as a label can never agree.
func (s *study) markers(unsuggested bool) likely {
	suggested, looks, values := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range s.rows {
		if r := &s.rows[i]; unsuggested && r.suggestion.recorded {
			suggested[r.suggestion.value] = true
		}
	}
	count := 0
	for i := range s.rows {
		r := &s.rows[i]
		if !r.label.recorded || suggested[r.label.value] {
			continue
		}
		marker, known := looks[r.label.value]
		if !known {
			marker = gate.Marker(r.label.value)
			looks[r.label.value] = marker
		}
		if marker {
			count++
			values[r.label.value] = true
		}
	}
	return likely{count, sortedKeys(values)}
}
