package anchoring

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// The metrics.
const (
	blindAgreement   = "blind_agreement"
	visibleAgreement = "visible_agreement"
	anchoringGap     = "anchoring_gap"
	acceptanceRate   = "acceptance_rate"
	verifyAcceptance = "verify_acceptance"
	peopleAgreement  = "people_agreement"
	modelMinusPeople = "model_minus_people"
	kappa            = "kappa"          // reported, never a rule
	alpha            = "alpha"          // reported, never a rule
	labellingTime    = "labelling_time" // reported, never a rule
)

// The values of `per`: what counts once each.
const (
	perPerson = "person"
	perItem   = "item"
	perLabel  = "label"
)

// Reasons why a label, an item or an annotator is left out, as printed.
const (
	reasonNoSuggestion = "no suggestion recorded"
	reasonRepeated     = "repeated blind label"
	reasonNotAccepted  = "accepted not recorded"
	reasonNotDrawn     = "not drawn blind"
	reasonOneSide      = "not labelled both blind and visible"
	reasonNoneOwn      = "no such label"
	reasonOnePerson    = "labelled blind by one person only"
	reasonNoSlice      = "the column of `where` is not recorded"
)

// leastPerSide is how many recorded comparisons each side needs for the gap to be shown.
const leastPerSide = 5

// view is what a measure looks at: the evidence of the study, or of a slice of it, and how intervals are made.
type view struct {
	*study
	evidence          // in place of the study's own
	unknown  evidence // left out because a column of the slice is not recorded
	repeated int
	labels   map[string]string
	judging  policy.Judging
	least    policy.Number // the least inclusion probability that the policy declares
}

// whole is the view of the whole study.
func (s *study) whole(judging policy.Judging, least policy.Number) *view {
	return &view{study: s, evidence: s.evidence, repeated: len(s.repeated), judging: judging, least: least}
}

// with is the view under other settings.
func (v *view) with(j policy.Judging) *view {
	other := *v
	other.judging = j
	return &other
}

// sliced is the view of the items that a rule's `where` keeps.
func (v *view) sliced(terms []gate.Term, name string) *view {
	if len(terms) == 0 {
		return v
	}
	part := *v
	part.labels = map[string]string{"where": name}
	for _, l := range []struct{ from, kept, unknown *[]entry }{
		{&v.blind, &part.blind, &part.unknown.blind},
		{&v.visible, &part.visible, &part.unknown.visible},
		{&v.verify, &part.verify, &part.unknown.verify},
		{&v.shown, &part.shown, &part.unknown.shown},
	} {
		*l.kept, *l.unknown = v.slice(*l.from, terms)
	}
	part.repeated = 0
	for _, r := range v.study.repeated {
		if in, unknown := matches(v.where[r.item], terms); in && !unknown {
			part.repeated++
		}
	}
	return &part
}

// slice returns the entries that a rule's `where` keeps, and those it cannot tell because the column is not recorded.
func (s *study) slice(entries []entry, terms []gate.Term) (kept, unknown []entry) {
	for _, e := range entries {
		switch in, not := matches(s.where[e.item], terms); {
		case !in:
		case not:
			unknown = append(unknown, e)
		default:
			kept = append(kept, e)
		}
	}
	return kept, unknown
}

// matches reports whether an item's values are those of the terms, as far as they are recorded, and whether one is not.
func matches(where []text, terms []gate.Term) (in, unknown bool) {
	in = true
	for _, t := range terms {
		w := where[t.Column]
		unknown = unknown || !w.recorded
		in = in && (!w.recorded || w.value == t.Value)
	}
	return in, unknown
}

// label returns the measure's labels: the slice's and the given ones.
func (v *view) label(pairs ...string) map[string]string {
	labels := map[string]string{}
	for k, x := range v.labels {
		labels[k] = x
	}
	for i := 0; i < len(pairs); i += 2 {
		labels[pairs[i]] = pairs[i+1]
	}
	if len(labels) == 0 {
		return nil
	}
	return labels
}

// enrolled counts the view's annotators: all of the file, of a slice those with a label in it.
func (v *view) enrolled() int {
	if v.labels == nil {
		return len(v.annotators)
	}
	people := map[int]bool{}
	for _, list := range [][]entry{v.blind, v.visible, v.verify} {
		for _, e := range list {
			people[e.annotator] = true
		}
	}
	return len(people)
}

// comparison is one label held against the model's, or one row on which accepting counts.
type comparison struct {
	item, annotator int
	recorded        bool
	agrees          bool // where it is recorded
	extra           bool // it is missing, and beside another of the same person and item: a unit without a value
	perhaps         bool // it is missing, and may be no visible one at all
}

// sample is the comparisons that a rate counts, ordered by annotator, then item.
type sample struct {
	list      []comparison
	absent    int // items drawn blind of which no row is blind: missing, and nobody knows whose
	leftOut   []report.LeftOut
	left      int // how many could have counted, and are left out
	annotator int // how many annotators could have such a comparison where one of them is absent
}

// compared holds the entries against their suggestions.
func compared(entries, unknown []entry) sample {
	var s sample
	without := 0
	for _, e := range entries {
		if e.unsuggested {
			without++
			continue
		}
		recorded := e.label.recorded && e.suggestion.recorded
		s.list = append(s.list, comparison{e.item, e.annotator, recorded, recorded && e.label.value == e.suggestion.value, e.extra, e.perhaps})
	}
	s.left = without + len(unknown)
	s.leftOut = gate.LeftOut(reasonNoSuggestion, without, reasonNoSlice, len(unknown))
	return s
}

// blindSample is the comparisons with labels that were given without the suggestion.
func (v *view) blindSample() sample {
	s := compared(v.blind, v.unknown.blind)
	s.absent, s.annotator = len(v.absent), v.enrolled()
	s.leftOut = append(s.leftOut, gate.LeftOut(reasonRepeated, v.repeated)...)
	return s
}

// sampleOf is the comparisons of a rate.
func (v *view) sampleOf(metric string) sample {
	switch metric {
	case blindAgreement:
		return v.blindSample()
	case visibleAgreement:
		return compared(v.visible, v.unknown.visible)
	case verifyAcceptance:
		return compared(v.verify, v.unknown.verify)
	}
	var s sample // acceptance_rate: rows that record whether the suggestion was accepted
	without := 0 // outside of the rate, which is over the rows that record it
	for _, e := range v.shown {
		if e.accepted == noAnswer {
			without++
			continue
		}
		s.list = append(s.list, comparison{item: e.item, annotator: e.annotator, recorded: true, agrees: e.accepted == yes})
	}
	s.left = len(v.unknown.shown)
	s.leftOut = gate.LeftOut(reasonNotAccepted, without, reasonNoSlice, len(v.unknown.shown))
	return s
}

// tallied is the counts of a rate over some comparisons: k agree among n, missing of which are not recorded.
type tallied struct{ k, missing, n int }

// add counts a comparison.
func (t *tallied) add(c comparison) {
	t.n++
	switch {
	case !c.recorded:
		t.missing++
	case c.agrees:
		t.k++
	}
}

// part is the comparisons as units.
func (t tallied) part(name string) gate.Part { return gate.CountPart(name, t.k, t.missing, t.n) }

// recorded is how many of the comparisons are.
func (t tallied) recorded() int { return t.n - t.missing }

// all counts the whole sample, absent items as missing.
func (s sample) all() tallied {
	t := tallied{missing: s.absent, n: s.absent}
	for _, c := range s.list {
		t.add(c)
	}
	return t
}

// certain is how many comparisons are ones whatever the missing values were: what is left out is a share of these and itself, so that
// no value that is not recorded makes the share smaller.
func (s sample) certain() int {
	n := s.absent
	for _, c := range s.list {
		if !c.extra && !c.perhaps {
			n++
		}
	}
	return n
}

// unit is the comparisons of one item or one annotator; of an item, without the extra ones.
type unit struct {
	tallied
	id int
}

// byItem groups the comparisons by item, in the items' order, but for the extra ones.
func (s sample) byItem() []unit {
	s.list = slices.DeleteFunc(slices.Clone(s.list), func(c comparison) bool { return c.extra })
	return s.group(func(c comparison) int { return c.item })
}

// valueless is how many units beside the items have no value: items drawn blind without a row, and extra comparisons.
func (s sample) valueless() int {
	n := s.absent
	for _, c := range s.list {
		if c.extra {
			n++
		}
	}
	return n
}

// byAnnotator groups them by annotator, in the annotators' order. Where items are absent, each is missing for every
// annotator: whose it is cannot be told, and a missing comparison more only lowers the lower end and raises the upper.
func (s sample) byAnnotator() []unit {
	units := s.group(func(c comparison) int { return c.annotator })
	if s.absent == 0 {
		return units
	}
	for i := range units {
		units[i].n += s.absent
		units[i].missing += s.absent
	}
	for range s.annotator - len(units) {
		units = append(units, unit{tallied: tallied{missing: s.absent, n: s.absent}, id: -1})
	}
	return units
}

// group groups the comparisons by a key, in its order.
func (s sample) group(key func(comparison) int) []unit {
	place := map[int]int{}
	var units []unit
	for _, c := range s.list {
		k := key(c)
		i, found := place[k]
		if !found {
			i = len(units)
			place[k] = i
			units = append(units, unit{id: k})
		}
		units[i].add(c)
	}
	slices.SortFunc(units, func(a, b unit) int { return a.id - b.id })
	return units
}

// oneLabel reports that each item has one label.
func oneLabel(items []unit) bool {
	return !slices.ContainsFunc(items, func(u unit) bool { return u.n > 1 })
}

// measured is a measure, and what a rule on it has to know.
type measured struct {
	report.Measure
	sentences []string // of Conditions, one by one: rules share many of them
	estimated int      // units that the estimate of a mean rests on
	doubts    gate.Doubts
	units     []gate.Part // what the interval rests on
	grows     gate.Growth // how the data may grow between looks
	reach     *reach      // where annotators are the units
	// need says what would decide a rule on the measure, where its interval straddles the threshold
	need func(t report.Threshold) *report.Needs
	// tip says how much depends on what is missing, where it does and can be told
	tip  func(t report.Threshold) (*report.TippingPoint, error)
	left int // how many labels could have counted, and are left out
	rows int // how many count, and are left out
}

// holds sets the measure's conditions, sentence by sentence.
func (m *measured) holds(sentences ...string) {
	m.sentences = nil
	m.add(sentences...)
}

// add adds sentences to the measure's conditions.
func (m *measured) add(sentences ...string) {
	m.sentences = append(slices.Clip(m.sentences), sentences...)
	m.Conditions = strings.Join(m.sentences, " ")
}

// undecided says why a rule on the measure is not decided, where nothing else said so before; no doubt says nothing.
func (m *measured) undecided(why gate.Doubt) {
	m.doubts.Undecided = cmp.Or(m.doubts.Undecided, why)
}

// form is how a metric is measured.
type form struct {
	per      string // "": by the number of annotators
	pairwise bool
	corpus   int  // the number of items of the corpus; 0: not given
	own      bool // the rule gives it itself
}

// unitOf is what counts once each.
func (v *view) unitOf(f form) string {
	switch {
	case f.per != "":
		return f.per
	case v.single():
		return perItem
	}
	return perPerson
}

// metric measures what a rule or a report names.
func (v *view) metric(name string, f form) (measured, error) {
	f.per = v.unitOf(f)
	switch name {
	case anchoringGap:
		return v.gap(f)
	case peopleAgreement, modelMinusPeople:
		return v.people(name)
	}
	return v.rate(name, v.sampleOf(name), f)
}

// rate measures the rate at which comparisons agree.
func (v *view) rate(name string, s sample, f form) (measured, error) {
	var m measured
	var err error
	blind := name == blindAgreement
	switch {
	case f.per == perPerson:
		m, err = v.ratePerPerson(name, s)
		if blind && f.corpus > 0 && f.own {
			m.doubts.Undecided = gate.Doubtful("corpus_size counts items, and with several annotators a rule speaks of people: add `per: item` for these annotators' labels of the corpus.", perItemOn)
		}
	case f.per == perLabel:
		m, err = v.rateOverLabels(name, s)
	case blind && v.frame.uneven():
		return v.unevenRate(s, f)
	case blind && f.corpus > 0:
		return v.corpusRate(s, f)
	default:
		m, err = v.rateOverItems(name, s)
	}
	if blind && v.frame.uneven() {
		m.unequalChances()
	}
	return m, err
}

// unequalChances says that an interval takes items as alike that were not drawn alike.
func (m *measured) unequalChances() {
	m.doubts.Review = "The items were drawn blind with unequal probabilities, or some without one recorded, which this interval does not weigh: a person must decide" +
		" (blind_agreement with items as units weighs them: with the draw's file, or with `least_inclusion_probability` in the policy)."
	m.Caution = "The items were drawn with unequal probabilities, or some without one recorded, which this interval does not weigh."
}

// exact measures a rate of independent 0/1 units.
func (v *view) exact(name, per string, c tallied, units string, s sample) (measured, error) {
	iv, err := gate.Rate(c.k, c.missing, c.n, v.judging)
	if err != nil {
		return measured{}, fmt.Errorf("%s: %w", name, err)
	}
	m := v.counted(name, per, c, units, s, iv)
	m.need = func(t report.Threshold) *report.Needs {
		return gate.RateNeeds(c.k, c.missing, c.n, units, t, v.judging)
	}
	m.tip = func(t report.Threshold) (*report.TippingPoint, error) {
		return gate.TipRate(waysOf(name, c.n), c.k, c.missing, c.n, t, func(k int) (interval.Interval, error) { return gate.Rate(k, 0, c.n, v.judging) })
	}
	return m, nil
}

// waysOf is what n labels that a rate counts can be, the missing ones included.
func waysOf(name string, n int) gate.Ways {
	w := gate.Ways{Of: n, Unit: "labels", Low: "other than the suggestion", High: "equal to the suggestion"}
	switch name {
	case acceptanceRate:
		w.Low, w.High = "not accepted", "accepted"
	case peopleAgreement:
		w.Low, w.High = "other than what the others say", "what most others say"
	case modelMinusPeople:
		w.Low, w.High = "other than the suggestion and what most others say", "equal to the suggestion and other than what the others say"
	case anchoringGap:
		w.Low, w.High = "other than the suggestion where it was seen, or equal to it where it was not", "equal to the suggestion where it was seen, or other than it where it was not"
	}
	return w
}

// counted is the measure of a rate of which the interval is known.
func (v *view) counted(name, per string, c tallied, units string, s sample, iv interval.Interval) measured {
	m := measured{left: s.left, rows: s.certain() + s.left, Measure: report.Measure{
		Metric: name, Labels: v.label("per", per), Interval: report.PublishInterval(iv), Scale: &report.Scale{Lower: 0, Upper: 1},
		Numerator: report.Int(c.k), Denominator: report.Int(c.n), Units: report.Int(c.n), UnitName: units,
		Missing: report.Int(c.missing), LeftOut: s.leftOut,
	}, units: []gate.Part{c.part("")}, grows: gate.GrowsUnits}
	m.holds(gate.Conditions(iv, units, v.judging))
	if recorded := c.recorded(); recorded > 0 {
		m.Estimate = report.Number(float64(c.k) / float64(recorded))
	} else {
		m.doubts.Undecided = nothing(name, s)
	}
	if c.n > 0 {
		m.Completions = &report.Completions{Low: float64(c.k) / float64(c.n), High: float64(c.k+c.missing) / float64(c.n)}
	}
	return m
}

// nothing says why a rate has nothing to count.
func nothing(name string, s sample) gate.Doubt {
	for _, l := range s.leftOut {
		switch {
		case l.Reason == reasonNoSuggestion && len(s.list) == 0:
			return gate.Doubtful(fmt.Sprintf("Nothing was evaluated: %s no suggestion to compare the label with.", gate.Plural(l.Count, "row records", "rows record")), "the model's suggestion on every row, the blind ones included")
		case l.Reason == reasonNotAccepted:
			return gate.Doubtful("Nothing was evaluated: no row records whether the suggestion was accepted.", "the column accepted on the rows that showed a suggestion")
		}
	}
	return nothingToCount(name)
}

// nothingToCount says that no label is recorded that a metric counts.
func nothingToCount(name string) gate.Doubt {
	what := "recorded labels that " + name + " counts"
	if onBlind(name) {
		what = "recorded labels of items that are served blind, drawn at random beforehand (`oloproof anchoring draw` draws them)"
	}
	return gate.Doubtful("Nothing was evaluated: "+name+" has no recorded label to count.", what)
}

// perItemOn is what a rule that speaks of people needs to speak of items.
const perItemOn = "`per: item` on the rule"

// rateOverLabels measures a rate over all labels as if each were a unit, which none is where an annotator or an item has
// several: the only annotator of a study is given.
func (v *view) rateOverLabels(name string, s sample) (measured, error) {
	m, err := v.with(v.exactJudging()).exact(name, perLabel, s.all(), "labels", s)
	if how := v.repeats(s); how != "" && m.doubts.Undecided.Why == "" {
		m.doubts.Review = "Among these labels " + how + ", which makes the interval too narrow: a person must decide, or use `per: person` or `per: item`."
		m.Caution = "The interval is too narrow to decide on: " + how + "."
	}
	return m, err
}

// repeats says which annotators and items have several of the labels; "" for none.
func (v *view) repeats(s sample) string {
	several := func(units []unit) (n int) {
		for _, u := range units {
			if u.n > 1 {
				n++
			}
		}
		return n
	}
	items, people := s.byItem(), s.group(func(c comparison) int { return c.annotator })
	moreItems, morePeople := several(items), several(people)
	if v.single() {
		morePeople = 0
	}
	switch {
	case morePeople > 0 && moreItems > 0:
		return fmt.Sprintf("%d of %d annotators and %d of %d items appear more than once", morePeople, len(people), moreItems, len(items))
	case morePeople > 0:
		return fmt.Sprintf("%d of %d annotators appear more than once", morePeople, len(people))
	case moreItems > 0:
		return fmt.Sprintf("%d of %d items appear more than once", moreItems, len(items))
	}
	return ""
}

// exactJudging is the settings for an exact interval, which has no planned number: a section's is for its means.
func (v *view) exactJudging() policy.Judging {
	j := v.judging
	if j.Looks.Value == policy.LooksOnce {
		j.Looks, j.Planned, j.MeanMethod = policy.Text{}, policy.Int{}, policy.Text{}
	}
	return j
}

// rateOverItems measures a rate with items as units: exact where each has one label, else the mean over items of their
// own rates. Under `looks: once` it is always the mean, which on one label an item is exact at the planned number.
func (v *view) rateOverItems(name string, s sample) (measured, error) {
	items := s.byItem()
	var m measured
	var err error
	if oneLabel(items) && v.judging.Looks.Value != policy.LooksOnce {
		m, err = v.exact(name, perItem, s.all(), "items", s)
	} else {
		m, err = v.meanOf(name, perItem, meansOf(items, s.valueless()), "items", len(items)+s.valueless(), s)
	}
	m.add(v.speaksOf())
	return m, err
}

// speaksOf says whom a measure over items speaks of.
func (v *view) speaksOf() string {
	if v.single() {
		return "Speaks of this annotator's labels, on items drawn as these were."
	}
	return "Speaks of these annotators, as the items were assigned to them, and not of others; on items drawn as these were."
}

// ratePerPerson measures the mean over annotators of each one's own rate.
func (v *view) ratePerPerson(name string, s sample) (measured, error) {
	people := s.byAnnotator()
	s.leftOut = append(gate.LeftOut(reasonNoneOwn, max(0, v.enrolled()-len(people))), s.leftOut...)
	m, err := v.meanOf(name, perPerson, meansOf(people, 0), "annotators", v.enrolled(), s)
	if s.absent > 0 {
		n, missing := 0, 0
		for _, u := range people {
			n, missing = n+u.n, missing+u.missing
		}
		m.Denominator, m.Missing = report.Int(n), report.Int(missing)
		m.tip = nil // whose the absent items are cannot be told
	}
	m.add("Speaks of annotators like these with at least one such label.")
	m.add(everyones(s.absent)...)
	v.within(&m, interval.Unit, len(people))
	return m, err
}

// everyones says how items without a row enter what annotators are the units of.
func everyones(absent int) []string {
	if absent == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s drawn blind and never labelled blind: whose it was to label cannot be told, so each is a missing label of every annotator.", gate.Plural(absent, "item was", "items were"))}
}

// reach is how far an interval's ends can come with so many annotators, were each of them at the best end of the scale.
type reach struct {
	what         string // " of the gap", or "" for a rate
	annotators   int
	lower, upper float64 // at the upper end of the scale, and at the lower
}

// within keeps with a measure over people, and says, how far its ends can come with so few of them.
func (v *view) within(m *measured, scale interval.Scale, n int) {
	j := v.judging
	if j.Looks.Value == policy.LooksOnce {
		n = max(n, j.Planned.Value)
	}
	if n == 0 || n > 1000 {
		return
	}
	at := func(x float64) (interval.Interval, error) {
		values := slices.Repeat([]float64{x}, n)
		return gate.MeanMethod(j)(values, values, scale, j.Confidence.Value)
	}
	best, err1 := at(scale.Upper)
	worst, err2 := at(scale.Lower)
	if err1 != nil || err2 != nil {
		return
	}
	m.reach = &reach{"", n, best.Lower, worst.Upper}
	if scale == interval.Difference {
		m.reach.what = " of the gap"
	}
	m.Conditions += " " + m.reach.lowest() + ", whatever they answer."
}

// lowest says how far the lower end can come.
func (r *reach) lowest() string {
	return fmt.Sprintf("With %s the lower end%s cannot exceed %.2f", gate.Plural(r.annotators, "annotator", "annotators"), r.what, math.Ceil(float64(r.lower*100))/100)
}

// beyond says that a threshold is out of reach with the annotators there are; "" where it is not.
func (r *reach) beyond(t report.Threshold) string {
	value := strconv.FormatFloat(t.Value, 'f', -1, 64)
	switch {
	case t.Kind == report.Minimum && r.lower < t.Value:
		return fmt.Sprintf(" %s, whatever they answer: the minimum of %s is out of their reach.", r.lowest(), value)
	case t.Kind == report.Maximum && r.upper > t.Value:
		return fmt.Sprintf(" With %s the upper end%s cannot be under %.2f, whatever they answer: the maximum of %s is out of their reach.",
			gate.Plural(r.annotators, "annotator", "annotators"), r.what, math.Floor(float64(r.upper*100))/100, value)
	}
	return ""
}

// means is the values of independent units, each under its two completions, and the exact sums behind the printed means.
type means struct {
	low, high   []float64
	estimates   gate.Fractions // over the estimated units
	lows, highs gate.Fractions // over all units
	estimated   int
	steps       []float64 // how far each missing label can move its unit
	labels      int       // missing ones included
	recorded    int       // of them
}

// missed notes that so many of a unit's n labels are missing, each of which counts 1/n.
func (x *means) missed(missing, n int) {
	x.labels, x.recorded = x.labels+n, x.recorded+n-missing
	for range missing {
		x.steps = append(x.steps, quotient(1, n))
	}
}

// fill is the units with what is missing of them.
func (x *means) fill() gate.Fill {
	return gate.Fill{Low: x.low, High: x.high, Steps: x.steps, Scale: interval.Unit}
}

// part is the units.
func (x *means) part(name string) gate.Part { return gate.NewPart(name, x.low, x.high, x.recorded) }

// meansOf lists the units' own rates, and those of valueless ones, which lie anywhere.
func meansOf(units []unit, valueless int) *means {
	x := &means{}
	for _, u := range units {
		x.missed(u.missing, u.n)
		x.low, x.high = append(x.low, quotient(u.k, u.n)), append(x.high, quotient(u.k+u.missing, u.n))
		if recorded := u.recorded(); recorded > 0 {
			x.estimates.Add(u.k, recorded, 1)
			x.estimated++
		}
		x.lows.Add(u.k, u.n, 1)
		x.highs.Add(u.k+u.missing, u.n, 1)
	}
	for range valueless {
		x.missed(1, 1)
		x.low, x.high = append(x.low, 0), append(x.high, 1)
	}
	x.highs.Add(valueless, 1, 1)
	return x
}

// meanOf measures the mean over units of their own rates.
func (v *view) meanOf(name, per string, x *means, units string, enrolled int, s sample) (measured, error) {
	m, err := v.mean(name, x, interval.Unit, units, enrolled)
	if err != nil {
		return m, err
	}
	all := s.all()
	m.Labels = v.label("per", per)
	m.Numerator, m.Denominator, m.Missing, m.LeftOut = report.Int(all.k), report.Int(all.n), report.Int(all.missing), s.leftOut
	m.left, m.rows = s.left, s.certain()+s.left
	if m.doubts.Undecided.Why != "" {
		m.doubts.Undecided = nothing(name, s)
	}
	return m, nil
}

// mean measures a mean over independent units.
func (v *view) mean(name string, x *means, scale interval.Scale, units string, enrolled int) (measured, error) {
	iv, broken, err := gate.Mean(x.low, x.high, scale, enrolled, v.judging)
	if err != nil {
		return measured{}, fmt.Errorf("%s: %w", name, err)
	}
	n := len(x.low)
	m := measured{Measure: report.Measure{
		Metric: name, Labels: v.label(), Interval: report.PublishInterval(iv), Scale: &report.Scale{Lower: scale.Lower, Upper: scale.Upper},
		Units: report.Int(n), UnitName: units,
	}, units: []gate.Part{x.part("")}, grows: gate.GrowsEither}
	m.holds(gate.Conditions(iv, units, v.judging))
	if broken != "" {
		m.doubts.Review = "The plan is broken: " + broken + "."
	}
	if m.estimated = x.estimated; x.estimated > 0 {
		m.Estimate = report.Number(x.estimates.Over(x.estimated))
		if x.estimated < n {
			m.add(fmt.Sprintf("The estimate rests on %d of the %d %s: the others have nothing recorded.", x.estimated, n, units))
		}
	} else {
		m.doubts.Undecided = nothingToCount(name)
	}
	if n > 0 {
		m.Completions = &report.Completions{Low: x.lows.Over(n), High: x.highs.Over(n)}
	}
	sample := gate.MeanSample{Low: x.low, High: x.high, Scale: scale, Enrolled: enrolled, Unit: units, Completions: m.Completions}
	m.need = func(t report.Threshold) *report.Needs { return sample.Needs(t, v.judging) }
	m.tip = func(t report.Threshold) (*report.TippingPoint, error) {
		return sample.Tip(waysOf(name, x.labels), x.steps, t, v.judging)
	}
	return m, nil
}

// quotient is k/n rounded once.
func quotient(k, n int) float64 { return float64(k) / float64(n) }

// lessQuotient is a/b − c/d rounded once: the counts are far below the 2^53 up to which products are exact.
func lessQuotient(a, b, c, d int) float64 { return float64(a*d-c*b) / float64(b*d) }

// gap measures the anchoring gap: visible minus blind agreement.
func (v *view) gap(f form) (measured, error) {
	blind, visible := v.blindSample(), v.sampleOf(visibleAgreement)
	var m measured
	var err error
	if f.per == perPerson {
		m, err = v.gapPerPerson(blind, visible)
		if f.pairwise {
			m.doubts.Undecided = gate.Doubtful("`interval: pairwise` compares items, and with several annotators a rule speaks of people: add `per: item` for these annotators' labels.", perItemOn)
		}
	} else {
		m, err = v.gapOfRates(blind, visible, f)
	}
	if err != nil {
		return m, err
	}
	b, s := blind.all(), visible.all()
	m.left, m.rows = blind.left+visible.left, blind.certain()+visible.certain()+blind.left+visible.left
	m.Missing = report.Int(b.missing + s.missing)
	m.LeftOut = append(m.LeftOut, bothLeftOut(blind, visible)...)
	if b.recorded() < leastPerSide || s.recorded() < leastPerSide {
		m.Estimate = nil
		m.doubts.Undecided = gate.Doubtful(fmt.Sprintf("The gap needs at least %d recorded comparisons on each side; here are %d blind and %d visible.", leastPerSide, b.recorded(), s.recorded()),
			fmt.Sprintf("at least %d recorded comparisons on each side, blind and visible (a useful interval takes far more)", leastPerSide))
	}
	if v.frame.uneven() {
		m.unequalChances()
	}
	return m, nil
}

// bothLeftOut joins what two samples leave out, by reason.
func bothLeftOut(a, b sample) []report.LeftOut {
	list := slices.Clone(a.leftOut)
	for _, l := range b.leftOut {
		if i := slices.IndexFunc(list, func(x report.LeftOut) bool { return x.Reason == l.Reason }); i >= 0 {
			list[i].Count += l.Count
		} else {
			list = append(list, l)
		}
	}
	return list
}

// halved is the settings for each of two intervals that must hold at once.
func (v *view) halved() policy.Judging {
	j := v.exactJudging()
	j.Confidence.Value = 1 - float64((1-j.Confidence.Value)/2)
	return j
}

// bothHold says how the gap comes from the intervals of its two sides.
const bothHold = "Each side has its own interval, at half of the error, and the ends are subtracted crosswise, which holds however the two depend on each other."

// gapSide is one of the two rates that a gap over items or labels compares.
type gapSide struct {
	sample
	all   tallied
	items []unit
	exact bool   // each unit has one label
	means *means // of the units; where they are exact, of the labels
	n     int    // units
	iv    interval.Interval
}

// newGapSide measures one side of a gap: exactly where each unit has one label, else as a mean over items.
func newGapSide(s sample, per string, half policy.Judging) (gapSide, error) {
	x := gapSide{sample: s, all: s.all(), items: s.byItem()}
	x.exact = per == perLabel || oneLabel(x.items)
	if x.exact {
		x.means, x.n = pooled(x.all), x.all.n
	} else {
		x.means = meansOf(x.items, s.valueless())
		x.n = len(x.means.low)
	}
	iv, err := x.stretched(gate.AsMissing, x.n, half)
	x.iv = iv
	return x, err
}

// part is the side's units.
func (x *gapSide) part(name string) gate.Part {
	if x.exact {
		return x.all.part(name)
	}
	return x.means.part(name)
}

// stretched is the interval of a side with n units, spread as its own, with what is missing taken as c.
func (x *gapSide) stretched(c gate.Completion, n int, half policy.Judging) (interval.Interval, error) {
	if x.exact {
		low, high := x.ends(c, n)
		return gate.Rate(low.K, high.K-low.K, n, half)
	}
	return stretchedMean(c, x.means, n, half)
}

// ends is an exact side's agreeing units among n, as there are among its own, with what is missing taken as c: the least and the most.
func (x *gapSide) ends(c gate.Completion, n int) (low, high interval.Tally) {
	least := scaled(x.all.k, x.n, n)
	most := min(n, least+scaled(x.all.missing, x.n, n))
	one, other := gate.Complete(c, least, most)
	return interval.Tally{K: one, N: n}, interval.Tally{K: other, N: n}
}

// stretchedMean is the interval of a mean over n units, spread as its own, with what is missing taken as c.
func stretchedMean(c gate.Completion, x *means, n int, half policy.Judging) (interval.Interval, error) {
	low, high := gate.Complete(c, x.low, x.high)
	iv, _, err := gate.Mean(quantiles(low, n), quantiles(high, n), interval.Unit, n, half)
	return iv, err
}

// opposite is how the blind side's missing labels come out where a gap is low, or high.
func opposite(c gate.Completion) gate.Completion {
	switch c {
	case gate.AllLow:
		return gate.AllHigh
	case gate.AllHigh:
		return gate.AllLow
	}
	return c
}

// gapOfRates measures the gap from a rate for each side, over items or over labels.
func (v *view) gapOfRates(blind, visible sample, f form) (measured, error) {
	half := v.halved()
	units := "items"
	if f.per == perLabel {
		units = "labels"
	}
	b, err1 := newGapSide(blind, f.per, half)
	s, err2 := newGapSide(visible, f.per, half)
	if err1 != nil || err2 != nil {
		return measured{}, fmt.Errorf("%s: %w", anchoringGap, errorOf(err1, err2))
	}
	difference := func(c gate.Completion, nb, ns int) (interval.Interval, error) {
		bi, err1 := b.stretched(opposite(c), nb, half)
		si, err2 := s.stretched(c, ns, half)
		return crosswise(si, bi, v.judging), errorOf(err1, err2)
	}
	iv := crosswise(s.iv, b.iv, v.judging)
	m := measured{}
	conditions := eachSide(s.iv, b.iv, units, half)
	if f.pairwise {
		m.undecided(notDisjoint(b, s))
	}
	if f.pairwise && m.doubts.Undecided.Why == "" {
		difference = func(c gate.Completion, nb, ns int) (interval.Interval, error) {
			visibleLow, visibleHigh := s.ends(c, ns)
			blindLow, blindHigh := b.ends(opposite(c), nb)
			return interval.FisherDifference(visibleLow, visibleHigh, blindLow, blindHigh, v.judging.Confidence.Value)
		}
		var err error
		if iv, err = difference(gate.AsMissing, b.n, s.n); err != nil {
			return measured{}, fmt.Errorf("%s: %w", anchoringGap, err)
		}
		conditions = []string{"Exact for independent items, no item on both sides, at one look (Fisher's product of the two tails)."}
	}
	m.Measure = report.Measure{
		Metric: anchoringGap, Labels: v.label("per", f.per), Interval: report.PublishInterval(iv), Scale: &report.Scale{Lower: -1, Upper: 1},
		Units: report.Int(b.n + s.n), UnitName: units,
	}
	m.units, m.grows = []gate.Part{b.part("blind"), s.part("visible")}, gate.GrowsEither
	if b.exact || s.exact { // a label is a unit, and has one value
		m.grows = gate.GrowsUnits
	}
	m.holds(conditions...)
	if f.per == perItem {
		m.add(v.speaksOf())
	}
	m.between(b.means, b.n, s.means, s.n)
	m.need = func(t report.Threshold) *report.Needs { return m.gapNeeds(b.n, s.n, t, difference) }
	m.tip = func(t report.Threshold) (*report.TippingPoint, error) {
		return tipGap(t, s.all.n+b.all.n, s.tipping(), b.tipping(), func(s, b filledSide) (interval.Interval, error) {
			if f.pairwise {
				x, y := interval.Tally{K: s.k, N: s.n}, interval.Tally{K: b.k, N: b.n}
				return interval.FisherDifference(x, x, y, y, v.judging.Confidence.Value)
			}
			si, err1 := s.interval(half)
			bi, err2 := b.interval(half)
			return crosswise(si, bi, v.judging), errorOf(err1, err2)
		})
	}
	if f.per == perLabel {
		for _, x := range []struct {
			name string
			gapSide
		}{{"blind", b}, {"visible", s}} {
			if how := v.repeats(x.sample); how != "" {
				m.doubts.Review = "Among the " + x.name + " labels " + how + ", which makes the interval too narrow: a person must decide, or use `per: person` or `per: item`."
				m.Caution = "The interval is too narrow to decide on: among the " + x.name + " labels " + how + "."
			}
		}
	}
	return m, nil
}

// tipping is the side as its missing labels can have come out.
func (x *gapSide) tipping() tippingSide {
	if x.exact {
		return tippingSide{missing: x.all.missing, k: x.all.k, n: x.n}
	}
	return tippingSide{missing: len(x.means.steps), fill: x.means.fill()}
}

// crosswise is the interval of a gap from those of its sides. Where one side is exact and the other a mean, it has the name
// and the looks of the wider kind.
func crosswise(visible, blind interval.Interval, j policy.Judging) interval.Interval {
	iv := interval.RateDifference(visible, blind, j.Confidence.Value)
	if visible.Method != blind.Method {
		iv.Method, iv.Looks = interval.MethodUniformMixture, interval.LooksOne
	}
	return iv
}

// eachSide says when an interval from those of two sides holds.
func eachSide(visible, blind interval.Interval, units string, half policy.Judging) []string {
	if visible.Method == blind.Method {
		return []string{gate.Conditions(blind, units, half), bothHold}
	}
	return []string{"Of the blind side: " + gate.Conditions(blind, units, half), "Of the visible side: " + gate.Conditions(visible, units, half), bothHold}
}

// between gives a gap its estimate and completions, from the sums of its sides over nb and nv units.
func (m *measured) between(blind *means, nb int, visible *means, nv int) {
	if blind.estimated > 0 && visible.estimated > 0 {
		m.Estimate = report.Number(lessMean(visible.estimates, visible.estimated, blind.estimates, blind.estimated))
	}
	if nb > 0 && nv > 0 {
		m.Completions = &report.Completions{Low: lessMean(visible.lows, nv, blind.highs, nb), High: lessMean(visible.highs, nv, blind.lows, nb)}
	}
}

// pooled is the sums of a rate over 0/1 units, which are then the sums of their mean too.
func pooled(t tallied) *means {
	x := &means{estimated: t.recorded()}
	x.estimates.Add(t.k, 1, 1)
	x.lows.Add(t.k, 1, 1)
	x.highs.Add(t.k+t.missing, 1, 1)
	return x
}

// errorOf is the first error that is one.
func errorOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// notDisjoint says why the two sides cannot be compared directly; no doubt where they can.
func notDisjoint(blind, visible gapSide) gate.Doubt {
	const without = "the rule without `interval: pairwise`"
	if !blind.exact || !visible.exact {
		return gate.Doubtful("`interval: pairwise` needs items with one label each on each side; leave it out, and each side gets its own interval.", without)
	}
	both, i := 0, 0
	for _, u := range blind.items { // both lists are in the items' order
		for i < len(visible.items) && visible.items[i].id < u.id {
			i++
		}
		if i < len(visible.items) && visible.items[i].id == u.id {
			both++
		}
	}
	if both > 0 {
		return gate.Doubtful(fmt.Sprintf("`interval: pairwise` needs other items on each side, and %s on both; leave it out, and each side gets its own interval.", gate.Plural(both, "item is", "items are")), without)
	}
	return gate.Doubt{}
}

// lessMean is a/n − b/m, exactly, rounded once.
func lessMean(a gate.Fractions, n int, b gate.Fractions, m int) float64 {
	var sum gate.Fractions
	for d, k := range a {
		sum.AddBig(new(big.Int).Mul(k, big.NewInt(int64(m))), d, 1)
	}
	for d, k := range b {
		sum.AddBig(new(big.Int).Mul(k, big.NewInt(int64(n))), d, -1)
	}
	return sum.OverBig(new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(int64(m))))
}

// gapPerPerson measures the mean over annotators of their own visible minus their own blind agreement. Where nobody has
// labels of both kinds, it is the difference of the two means.
func (v *view) gapPerPerson(blind, visible sample) (measured, error) {
	arms, surely := map[int]*[2]tallied{}, map[int]bool{} // surely: there is no doubt that the person has a visible one
	const b, s = 0, 1
	for side, x := range [2]sample{b: blind, s: visible} {
		for _, c := range x.list {
			if arms[c.annotator] == nil {
				arms[c.annotator] = &[2]tallied{}
			}
			arms[c.annotator][side].add(c)
			if side == s && !c.perhaps {
				surely[c.annotator] = true
			}
		}
	}
	x, oneSided, doubtful := &means{}, 0, false
	for a := range len(v.annotators) {
		own := arms[a]
		if own == nil {
			continue
		}
		own[b].n += blind.absent // whose the absent items are cannot be told
		own[b].missing += blind.absent
		if own[b].n == 0 || own[s].n == 0 {
			oneSided++
			continue
		}
		if !surely[a] { // left out or not, which a value inside the range would decide
			doubtful = true
			x.low, x.high = append(x.low, -1), append(x.high, 1)
			x.lows.Add(1, 1, -1)
			x.highs.Add(1, 1, 1)
			continue
		}
		l, r := own[s], own[b]
		x.missed(l.missing, l.n)
		x.missed(r.missing, r.n)
		x.low, x.high = append(x.low, lessQuotient(l.k, l.n, r.k+r.missing, r.n)), append(x.high, lessQuotient(l.k+l.missing, l.n, r.k, r.n))
		x.lows.Add(l.k, l.n, 1)
		x.lows.Add(r.k+r.missing, r.n, -1)
		x.highs.Add(l.k+l.missing, l.n, 1)
		x.highs.Add(r.k, r.n, -1)
		if l.recorded() > 0 && r.recorded() > 0 {
			x.estimates.Add(l.k, l.recorded(), 1)
			x.estimates.Add(r.k, r.recorded(), -1)
			x.estimated++
		}
	}
	if len(x.low) == 0 && len(arms) > 0 {
		return v.gapOfPeople(blind, visible)
	}
	m, err := v.mean(anchoringGap, x, interval.Difference, "annotators", v.enrolled())
	m.Labels = v.label("per", perPerson)
	m.LeftOut = gate.LeftOut(reasonOneSide, oneSided)
	if blind.absent > 0 || doubtful {
		m.tip = nil // whose a missing label is, or whether it belongs, cannot be told
	}
	m.add("Speaks of annotators like these who label both ways.")
	m.add(everyones(blind.absent)...)
	v.within(&m, interval.Difference, len(x.low))
	if total := len(x.low) + oneSided; m.doubts.Undecided.Why == "" && gate.Exceeds(oneSided, total, v.judging.MaxLeftOut) {
		m.doubts.Undecided = gate.Doubt{Why: fmt.Sprintf("%d of %d annotators have labels of one kind only, more than max_left_out allows (%s).", oneSided, total, v.judging.MaxLeftOut.Text),
			Needs: gate.FewerLeftOut(oneSided, total, v.judging.MaxLeftOut, "of the annotators left out to label the other way too (or `per: item` on the rule)")}
	}
	return m, err
}

// gapOfPeople measures the gap between annotators who all have labels of one kind only: the difference of two means.
func (v *view) gapOfPeople(blind, visible sample) (measured, error) {
	half := v.halved()
	b, s := meansOf(blind.byAnnotator(), 0), meansOf(visible.byAnnotator(), 0)
	nb, ns := len(b.low), len(s.low)
	difference := func(c gate.Completion, nb, ns int) (interval.Interval, error) {
		bi, err1 := stretchedMean(opposite(c), b, nb, half)
		si, err2 := stretchedMean(c, s, ns, half)
		return crosswise(si, bi, v.judging), errorOf(err1, err2)
	}
	iv, err := difference(gate.AsMissing, nb, ns)
	if err != nil {
		return measured{}, fmt.Errorf("%s: %w", anchoringGap, err)
	}
	m := measured{Measure: report.Measure{
		Metric: anchoringGap, Labels: v.label("per", perPerson), Interval: report.PublishInterval(iv), Scale: &report.Scale{Lower: -1, Upper: 1},
		Units: report.Int(nb + ns), UnitName: "annotators",
	}, units: []gate.Part{b.part("blind"), s.part("visible")}, grows: gate.GrowsEither}
	m.holds(eachSide(iv, iv, "annotators", half)...)
	m.add("Nobody labelled both ways: holds where the side of each annotator was drawn at random.")
	m.add(everyones(blind.absent)...)
	m.between(b, nb, s, ns)
	if v.judging.Looks.Value == policy.LooksOnce {
		m.doubts.Undecided = gate.Doubtful("looks: once plans one number of annotators, and here nobody labelled both ways, so that the gap is between two sets of them: leave looks out.", "the rule without looks")
	}
	m.need = func(t report.Threshold) *report.Needs { return m.gapNeeds(nb, ns, t, difference) }
	if blind.absent == 0 { // else it cannot be told whose they are
		m.tip = func(t report.Threshold) (*report.TippingPoint, error) {
			side := func(x *means) tippingSide { return tippingSide{missing: len(x.steps), fill: x.fill()} }
			return tipGap(t, s.labels+b.labels, side(s), side(b), func(s, b filledSide) (interval.Interval, error) {
				si, err1 := s.interval(half)
				bi, err2 := b.interval(half)
				return crosswise(si, bi, v.judging), errorOf(err1, err2)
			})
		}
	}
	return m, nil
}
