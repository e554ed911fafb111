package anchoring

import (
	"fmt"
	"slices"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// counts is what was read.
type counts struct {
	blind, visible int // rows, as they are marked
	kinds          [kinds]int
	people         [2]map[int]bool // annotators with a blind label, and with a visible one
}

// countRows counts the rows.
func (s *study) countRows() counts {
	c := counts{people: [2]map[int]bool{{}, {}}}
	for i := range s.rows {
		r := &s.rows[i]
		if r.shown {
			c.visible++
		} else {
			c.blind++
		}
		c.kinds[r.kind]++
	}
	for _, e := range s.blind {
		c.people[0][e.annotator] = true
	}
	for _, e := range s.visible {
		c.people[1][e.annotator] = true
	}
	return c
}

// data is the counts of what was read, for the report.
func (v *view) data() report.Data {
	c := v.countRows()
	blind, visible := v.blindSample(), v.sampleOf(visibleAgreement)
	b, s := blind.all(), visible.all()
	both := 0
	for a := range c.people[0] {
		if c.people[1][a] {
			both++
		}
	}
	list := report.Data{
		{Name: "rows", Count: len(v.rows)},
		{Name: "items", Count: len(v.items)},
		{Name: "annotators", Count: len(v.annotators)},
		{Name: "blind_rows", Count: c.blind},
		{Name: "visible_rows", Count: c.visible},
		{Name: "blind_comparisons", Count: b.n},
		{Name: "missing_blind_labels", Count: b.missing},
		{Name: "visible_comparisons", Count: s.n},
		{Name: "missing_visible_labels", Count: s.missing},
		{Name: "suggestion_seen_before", Count: len(v.seenBefore)},
		{Name: "relabelled_blind", Count: len(v.relabelled)},
		{Name: "repeated_blind_labels", Count: len(v.study.repeated)},
		{Name: "blind_without_suggestion", Count: blind.left},
		{Name: "visible_without_suggestion", Count: visible.left},
		{Name: "annotators_with_both", Count: both},
		{Name: "annotators_blind_only", Count: len(c.people[0]) - both},
		{Name: "annotators_visible_only", Count: len(c.people[1]) - both},
	}
	for k, n := range c.kinds {
		if n > 0 {
			list = append(list, report.Count{Name: "kind_" + kindNames[k], Count: n})
		}
	}
	if v.draw != nil {
		list = append(list,
			report.Count{Name: "drawn_items", Count: len(v.draw.items)},
			report.Count{Name: "drawn_blind", Count: v.draw.blind()},
			report.Count{Name: "drawn_blind_without_row", Count: len(v.absent)},
			report.Count{Name: "departures_from_draw", Count: v.departures()})
	}
	return list
}

// summary is one sentence on the data.
func (v *view) summary() string {
	d := v.data()
	text := fmt.Sprintf("%s, %s, %s (%d blind, %d visible), %s missing",
		gate.Plural(d.Of("annotators"), "annotator", "annotators"), gate.Plural(d.Of("items"), "item", "items"), gate.Plural(d.Of("rows"), "label", "labels"),
		d.Of("blind_rows"), d.Of("visible_rows"), gate.Plural(d.Of("missing_blind_labels"), "blind label", "blind labels"))
	if n := d.Of("suggestion_seen_before") + d.Of("relabelled_blind"); n > 0 {
		text += fmt.Sprintf(" (%d of them marked blind after a suggestion was seen or a blind label disagreed)", n)
	}
	return text + "."
}

// assumptions are what the answer rests on and the files cannot show.
func (s *study) assumptions() []string {
	list := []string{"The blind items were drawn at random and fixed beforehand; nobody chose them, and nobody chose when to look."}
	if s.draw != nil {
		list[0] = "The blind items are those of the draw, which was made at random and fixed beforehand."
	}
	list = append(list, "The labels of one annotator do not depend on another's.")
	switch {
	case s.byPlace+s.placed > 0:
		list = append(list, "Where a person has several rows of an item and not every one a time, they stand in the files in the order in which they were given; so do rows of one time.")
	case len(s.rows) > 0 && s.ordered():
		list = append(list, "Where a person has several rows of an item, their times tell which came first.")
	}
	return list
}

// ordered reports that some person has several rows of an item.
func (s *study) ordered() bool {
	for i := 1; i < len(s.rows); i++ {
		if s.rows[i].annotator == s.rows[i-1].annotator && s.rows[i].item == s.rows[i-1].item {
			return true
		}
	}
	return false
}

// limits are what blind items cannot tell (the last section of the source document).
func (v *view) limits() []string {
	list := []string{
		"Blind agreement measures the model against people without help, which is the right reference only where these people are reliable on the task.",
		"Labels that were given with a suggestion stay anchored: a data set made mostly of them takes over what the model prefers. Publish the blind agreement and the gap with it.",
		"An item labelled with its suggestion visible cannot become blind later; blind items are chosen before the first label.",
	}
	if !slices.ContainsFunc(v.opinions(), func(of []opinion) bool { return len(of) > 1 }) {
		list = append(list, "How often people agree with each other is not in the files, since no item was labelled blind by two of them: where people differ, no model can agree with all of them.")
	}
	if v.draw == nil {
		list = append(list, "Items that were to be labelled blind and have no row cannot be seen without --draw; nor can whether the blind items were drawn.")
	}
	return list
}

// ruleAssumptions are what a rule rests on beside its interval's conditions.
func (v *view) ruleAssumptions(r *rule) []string {
	list := v.assumptions()
	if v.usesCorpus(r) && v.draw == nil {
		list = append(list, "The items with a blind row are all that were drawn blind; a draw (--draw) would show it.")
	}
	if r.slice != "" {
		list = append(list, gate.SliceAssumption)
	}
	return list
}

// usesCorpus reports that a rule's interval depends on the size of the corpus.
func (v *view) usesCorpus(r *rule) bool {
	return r.Metric.Value == blindAgreement && r.form.corpus > 0 && v.unitOf(r.form) == perItem
}

// beside puts people's agreement with each other next to the model's agreement with them, and says what to do where
// suggestions move people.
func beside(f *gate.Found, blind, people, gap *measured) {
	if blind != nil && people != nil && blind.Estimate != nil && people.Estimate != nil {
		// No bound: a model that gives the most frequent label agrees with people more often than they do with each other.
		f.Add("read_beside_people", report.Note, 1, "Annotators agree with one another in %.1f %% of the pairs of labels of an item, on average over %s that several labelled blind: a model as good as one more annotator comes near that, so read the blind agreement (here %.1f %%) beside it.",
			100*(*people.Estimate), gate.Plural(people.estimated, "item", "items"), 100*(*blind.Estimate))
	}
	if gap != nil && gap.doubts == (gate.Doubts{}) && gap.Interval != nil && gap.Interval.Lower != nil && *gap.Interval.Lower > 0 {
		f.Add("suggestions_move_people", report.Warning, 1, "People agree with the model more often when they see its suggestion: by at least %.1f points. Label more items blind, or show the suggestion only after the label.", 100*(*gap.Interval.Lower))
	}
}

// tooFew says that a rule on blind labels has fewer recorded comparisons than it needs.
func tooFew(recorded, floor int) string {
	return fmt.Sprintf("%s recorded, and minimum_blind_sample asks for %d.", gate.Plural(recorded, "blind comparison is", "blind comparisons are"), floor)
}

// leftOutDoubt says that a rule leaves out more than max_left_out allows of what could have counted.
func leftOutDoubt(m measured, share policy.Number) gate.Doubt {
	if m.rows == 0 || !gate.Exceeds(m.left, m.rows, share) {
		return gate.Doubt{}
	}
	return gate.Doubt{Needs: gate.FewerLeftOut(m.left, m.rows, share, "of the rows left out to have recorded what they lack"), Why: fmt.Sprintf("%d of %d are left out (%s), more than max_left_out allows (%s): those left out may differ from the others.", m.left, m.rows, reasons(m), share.Text)}
}

// reasons names why a measure leaves something out.
func reasons(m measured) string {
	text := ""
	for _, l := range m.LeftOut {
		switch l.Reason {
		case reasonNoSuggestion, reasonNotAccepted, reasonNoSlice:
			if text != "" {
				text += ", "
			}
			text += l.Reason
		}
	}
	return text
}
