package humanai

import (
	"fmt"
	"math"
	"slices"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// The metrics that are not rates over decisions.
const (
	accuracyDifference = "accuracy_difference"
	systemAccuracy     = "system_accuracy"
	decisionTime       = "decision_time" // reported, never a rule
)

// place says where an entry stands for a rate.
type place int

const (
	outside   place = iota // not one of the decisions that the rate is about
	inside                 // in the denominator, of which kind can be told
	uncertain              // absent, and whether it would be in the denominator cannot be told: missing at its worst
	noOutput               // left out: no output was recorded
	abstained              // left out: the system committed to nothing
)

// rate is a rate over decisions: what it counts, out of which.
type rate struct {
	name      string
	condition condition // of the decisions it is about
	where     func(e entry, v *view) place
	event     func(e entry) bool // of an entry inside with a recorded decision
	// what decisions are that are no event, and those that are, after "are"
	low, high string
}

// rates lists the rates over decisions, in the order of the source document's table.
var rates = []rate{
	// decisions equal to the system's output, out of decisions with the output shown
	{"agreement", with,
		aboutSystem(func(entry) bool { return true }), follows, "other than the system's output", "equal to the system's output"},
	// decisions agreeing with the system, out of decisions where the system was wrong
	{"over_reliance", with,
		aboutSystem(func(e entry) bool { return !systemRight(e) }), follows, "other than the system's output", "equal to the system's output"},
	// decisions equal to the reference, out of decisions where the system was wrong
	{"correct_override", with,
		aboutSystem(func(e entry) bool { return !systemRight(e) }), entry.right, "wrong", "right"},
	// decisions that differ from the system, out of decisions where the system was right
	{"harmful_override", with,
		aboutSystem(systemRight), func(e entry) bool { return !follows(e) }, "equal to the system's output", "other than the system's output"},
	// decisions equal to the reference, out of decisions with the output shown
	{"accuracy_with", with, inCondition(with), entry.right, "wrong", "right"},
	// decisions equal to the reference, out of decisions without the output
	{"accuracy_without", without, inCondition(without), entry.right, "wrong", "right"},
}

// follows reports whether a recorded decision equals the system's output.
func follows(e entry) bool { return e.decision.value == e.output.value }

// systemRight reports whether the system's output equals the reference.
func systemRight(e entry) bool { return e.output.value == e.reference.value }

// inCondition places the decisions of a condition inside.
func inCondition(c condition) func(entry, *view) place {
	return func(e entry, _ *view) place {
		if e.condition == c {
			return inside
		}
		return outside
	}
}

// aboutSystem places the decisions with an output for which in holds inside; those without an output, and those
// where the system abstained, are left out of every rate about the system.
func aboutSystem(in func(entry) bool) func(entry, *view) place {
	return func(e entry, v *view) place {
		switch {
		case e.condition == without:
			return outside
		case e.output.recorded && v.abstain[e.output.value]:
			return abstained
		case e.absent && (!e.output.recorded || !e.reference.recorded):
			return uncertain
		case !e.output.recorded:
			return noOutput
		case in(e):
			return inside
		}
		return outside
	}
}

// view is what a measure looks at: the entries of the study, or of a slice of it, and how intervals are made.
type view struct {
	*study
	entries    []entry
	departing  []entry // left out because they are not as assigned
	unrecorded []entry // left out because a column of the slice is not recorded
	abstain    map[string]bool
	judging    policy.Judging
	labels     map[string]string
}

// whole is the view of the whole study.
func (s *study) whole(abstain []string, judging policy.Judging) *view {
	v := &view{study: s, entries: s.entries, departing: s.departed, abstain: map[string]bool{}, judging: judging}
	for _, a := range abstain {
		v.abstain[a] = true
	}
	return v
}

// sliced is the view of the rows that a rule's `where` keeps.
func (v *view) sliced(terms []gate.Term, name string) *view {
	if len(terms) == 0 {
		return v
	}
	part := *v
	part.labels = map[string]string{"where": name}
	var unrecorded []entry
	part.entries, part.unrecorded = slice(v.entries, terms)
	part.departing, unrecorded = slice(v.departing, terms)
	part.unrecorded = append(part.unrecorded, unrecorded...) // left out once, whatever else is wrong with it
	return &part
}

// peopleOf is the people of some entries.
func (v *view) peopleOf(entries []entry) map[string]bool {
	people := map[string]bool{}
	for _, e := range entries {
		people[e.person] = true
	}
	return people
}

// enrolled counts the view's people: everyone in the file or the assignment, of a slice those with a decision in it.
func (v *view) enrolled() int {
	if v.labels == nil {
		return len(v.people)
	}
	people := v.peopleOf(v.entries)
	for p := range v.peopleOf(v.departing) {
		people[p] = true
	}
	return len(people)
}

// read counts the view's rows.
func (v *view) read() int {
	n := len(v.departing) + len(v.unrecorded)
	for _, e := range v.entries {
		if !e.absent {
			n++
		}
	}
	return n
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

// tallied is the counts of a rate over some decisions: k events among n, missing of which are not recorded.
type tallied struct{ k, missing, n int }

// measured is a measure, and what a rule on it has to know.
type measured struct {
	report.Measure
	doubts gate.Doubts
	units  gate.Part   // what the interval rests on
	grows  gate.Growth // how the data may grow between looks
	gains  []float64   // of people, as far as they are recorded (the accuracy difference only)
	// need says what would decide a rule on the measure, where its interval straddles the threshold
	need func(t report.Threshold) *report.Needs
	// tip says how much depends on what is missing, where it does
	tip func(t report.Threshold) (*report.TippingPoint, error)
	// people says about how many would make the interval as wanted, at the present spread (means only)
	people func(wanted func(interval.Interval) bool) (gate.Size, bool)
}

// count counts a rate over the view's decisions, in all and by person.
func (v *view) count(r rate) (all tallied, people map[string]*tallied, repeats string, leftOut []report.LeftOut) {
	people = map[string]*tallied{}
	cases := map[string]int{}
	var without, silent int
	for _, e := range v.entries {
		switch p := r.where(e, v); p {
		case outside:
		case noOutput:
			without++
		case abstained:
			silent++
		case inside, uncertain:
			own := people[e.person]
			if own == nil {
				own = &tallied{}
				people[e.person] = own
			}
			own.n++
			cases[e.item]++
			switch {
			case !e.decision.recorded || p == uncertain:
				own.missing++
			case r.event(e):
				own.k++
			}
		}
	}
	morePeople, moreCases := 0, 0
	for _, own := range people {
		all.k, all.missing, all.n = all.k+own.k, all.missing+own.missing, all.n+own.n
		if own.n > 1 {
			morePeople++
		}
	}
	for _, n := range cases {
		if n > 1 {
			moreCases++
		}
	}
	switch {
	case morePeople > 0 && moreCases > 0:
		repeats = fmt.Sprintf("%d of %d people and %d of %d cases appear more than once", morePeople, len(people), moreCases, len(cases))
	case morePeople > 0:
		repeats = fmt.Sprintf("%d of %d people appear more than once", morePeople, len(people))
	case moreCases > 0:
		repeats = fmt.Sprintf("%d of %d cases appear more than once", moreCases, len(cases))
	}
	leftOut = gate.LeftOut(reasonNoOutput, without, reasonAbstained, silent)
	return all, people, repeats, v.alsoLeftOut(leftOut, r.condition)
}

// alsoLeftOut adds what is left out of every measure of the view: of the decisions in the given conditions,
// those that depart from the assignment and those that a slice cannot tell.
func (v *view) alsoLeftOut(list []report.LeftOut, conditions ...condition) []report.LeftOut {
	among := func(entries []entry) (n int) {
		for _, e := range entries {
			if slices.Contains(conditions, e.condition) {
				n++
			}
		}
		return n
	}
	return append(list, gate.LeftOut(reasonDeparts, among(v.departing), reasonNoSlice, among(v.unrecorded))...)
}

// rateOver measures a rate over decisions, each decision a unit.
func (v *view) rateOver(r rate) (measured, error) {
	all, _, repeats, leftOut := v.count(r)
	m, err := v.exact(r.name, all, "decisions", leftOut)
	m.tip = func(t report.Threshold) (*report.TippingPoint, error) {
		ways := gate.Ways{Unit: "decisions", Low: r.low, High: r.high}
		return gate.TipRate(ways, all.k, all.missing, all.n, t, func(k int) (interval.Interval, error) { return gate.Rate(k, 0, all.n, v.judging) })
	}
	if repeats != "" && m.doubts.Undecided.Why == "" {
		m.doubts.Review = "Among the " + gate.Plural(all.n, "decision", "decisions") + " of this rate " + repeats +
			", which makes the interval too narrow: a person must decide, or use `per: person`."
		m.Caution = "The interval is too narrow to decide on: " + repeats + ". The rate per person counts each once."
	}
	return m, err
}

// exact measures a rate of independent 0/1 units.
func (v *view) exact(name string, c tallied, units string, leftOut []report.LeftOut) (measured, error) {
	iv, err := gate.Rate(c.k, c.missing, c.n, v.judging)
	if err != nil {
		return measured{}, fmt.Errorf("%s: %w", name, err)
	}
	m := measured{Measure: report.Measure{
		Metric: name, Labels: v.label(), Interval: report.PublishInterval(iv), Scale: &report.Scale{Lower: 0, Upper: 1},
		Numerator: report.Int(c.k), Denominator: report.Int(c.n), Units: report.Int(c.n), UnitName: units,
		Missing: report.Int(c.missing), LeftOut: leftOut, Conditions: gate.Conditions(iv, units, v.judging),
	}, units: gate.CountPart("", c.k, c.missing, c.n), grows: gate.GrowsUnits}
	if recorded := c.n - c.missing; recorded > 0 {
		m.Estimate = report.Number(float64(c.k) / float64(recorded))
	} else {
		m.doubts.Undecided = gate.Doubtful("Nothing was evaluated: the rate has no recorded decision.", "recorded "+units+" that the rate counts")
	}
	if c.n > 0 {
		m.Completions = &report.Completions{Low: float64(c.k) / float64(c.n), High: float64(c.k+c.missing) / float64(c.n)}
	}
	m.need = func(t report.Threshold) *report.Needs {
		return gate.RateNeeds(c.k, c.missing, c.n, units, t, v.judging)
	}
	return m, nil
}

// systemAccuracy measures how often the system's output was right, each case a unit. A case with several
// outputs, one of them right, is right under one completion and wrong under the other.
func (v *view) systemAccuracy() (measured, error) {
	type seen struct {
		outputs   map[string]bool
		reference string
		silenced  bool
	}
	cases := map[string]*seen{}
	for _, e := range v.entries {
		if e.condition != with {
			continue
		}
		c := cases[e.item]
		if c == nil {
			c = &seen{outputs: map[string]bool{}, reference: e.reference.value}
			cases[e.item] = c
		}
		switch {
		case e.absent || !e.output.recorded: // an absent decision showed nothing
		case v.abstain[e.output.value]:
			c.silenced = true
		default:
			c.outputs[e.output.value] = true
		}
	}
	var c tallied
	several, silent, none := 0, 0, 0
	for _, one := range cases {
		switch {
		case len(one.outputs) == 0 && one.silenced:
			silent++
			continue
		case len(one.outputs) == 0:
			none++
			continue
		case len(one.outputs) == 1 && one.outputs[one.reference]:
			c.k++
		case len(one.outputs) > 1:
			several++
			if one.outputs[one.reference] {
				c.missing++
			}
		}
		if len(one.outputs) == 1 && one.silenced {
			several++ // an abstention beside an answer is another output
		}
		c.n++
	}
	only := func(entries []entry) int { // cases of which every row `with` is among the entries
		own := map[string]bool{}
		for _, e := range entries {
			if e.condition == with && cases[e.item] == nil {
				own[e.item] = true
			}
		}
		return len(own)
	}
	leftOut := gate.LeftOut(reasonNoOutput, none, reasonAbstained, silent, reasonDeparts, only(v.departing), reasonNoSlice, only(v.unrecorded))
	m, err := v.exact(systemAccuracy, c, "cases", leftOut)
	if several > 0 && m.doubts.Undecided.Why == "" {
		m.Caution = "Several different outputs for " + gate.Plural(several, "case", "cases") + "."
		m.doubts.Review = fmt.Sprintf("%s of %d had several different outputs, so whether the system was right there is not one answer: a person must decide.",
			gate.Plural(several, "case", "cases"), c.n)
	}
	return m, err
}

// ownRates lists each person's own rate.
func (v *view) ownRates(r rate) (values *means, missing int, leftOut []report.LeftOut) {
	_, people, _, leftOut := v.count(r)
	if v.bothArms { // an arm that the declared design gives and no row shows was between none and all
		for p := range v.otherArmOnly(r.condition) {
			people[p] = &tallied{missing: 1, n: 1}
		}
	}
	values = &means{}
	for _, p := range sortedKeys(people) {
		own := people[p]
		missing += own.missing
		values.missed(own.missing, own.n)
		values.low = append(values.low, quotient(own.k, own.n))
		values.high = append(values.high, quotient(own.k+own.missing, own.n))
		if recorded := own.n - own.missing; recorded > 0 {
			values.estimates.Add(own.k, recorded, 1)
			values.estimated++
		}
		values.lows.Add(own.k, own.n, 1)
		values.highs.Add(own.k+own.missing, own.n, 1)
	}
	return values, missing, append(gate.LeftOut(reasonNoneOwn, v.enrolled()-len(people)), leftOut...)
}

// ratePerPerson measures the mean over people of each person's own rate, each person a unit.
func (v *view) ratePerPerson(r rate) (measured, error) {
	values, missing, leftOut := v.ownRates(r)
	m, err := v.mean(r.name, values, interval.Unit, missing, leftOut, gate.Ways{Low: r.low, High: r.high})
	m.Labels = v.label("per", "person")
	m.Conditions += " Speaks of people with at least one such decision."
	return m, err
}

// otherArmOnly returns the people of the view who have decisions in the other condition only.
func (v *view) otherArmOnly(c condition) map[string]bool {
	only := map[string]bool{}
	for _, e := range v.entries {
		if e.condition != c {
			only[e.person] = true
		}
	}
	for _, e := range v.entries {
		if e.condition == c {
			delete(only, e.person)
		}
	}
	return only
}

// arm is one person's decisions in one condition.
type arm struct{ n, correct, missing int }

// gains is each person's accuracy with the output minus their own accuracy without it.
type gains struct {
	means
	people   int       // of the view, left-out ones included
	oneArmed int       // left out
	both     int       // with decisions, recorded or not, in both conditions
	missing  int       // decisions, and one for each missing arm
	own      []float64 // of each person with something recorded in both conditions
}

// gains lists the people's gains.
func (v *view) gains() *gains {
	arms := map[string]*[2]arm{}
	values := &gains{}
	for _, e := range v.entries {
		own := arms[e.person]
		if own == nil {
			own = &[2]arm{}
			arms[e.person] = own
		}
		a := &own[e.condition]
		a.n++
		switch {
		case !e.decision.recorded:
			a.missing++
		case e.right():
			a.correct++
		}
	}
	for _, p := range sortedKeys(arms) {
		w, o := arms[p][with], arms[p][without]
		if w.n == 0 || o.n == 0 {
			if !v.bothArms {
				values.oneArmed++
				continue
			}
			// A missing arm was between all wrong and all right.
			if w.n == 0 {
				w = arm{n: 1, missing: 1}
			} else {
				o = arm{n: 1, missing: 1}
			}
		} else {
			values.both++
		}
		values.missing += w.missing + o.missing
		values.missed(w.missing, w.n)
		values.missed(o.missing, o.n)
		values.low = append(values.low, gain(w.correct, w.n, o.correct+o.missing, o.n))
		values.high = append(values.high, gain(w.correct+w.missing, w.n, o.correct, o.n))
		values.lows.Add(w.correct, w.n, 1)
		values.lows.Add(o.correct+o.missing, o.n, -1)
		values.highs.Add(w.correct+w.missing, w.n, 1)
		values.highs.Add(o.correct, o.n, -1)
		if wr, or := w.n-w.missing, o.n-o.missing; wr > 0 && or > 0 {
			values.estimates.Add(w.correct, wr, 1)
			values.estimates.Add(o.correct, or, -1)
			values.estimated++
			values.own = append(values.own, gain(w.correct, wr, o.correct, or))
		}
	}
	values.people = len(arms)
	for p := range v.peopleOf(v.departing) { // someone all of whose rows depart from the assignment is left out too
		if arms[p] == nil {
			values.people++
			values.oneArmed++
		}
	}
	return values
}

// difference measures the accuracy difference: the mean over people of their gains.
func (v *view) difference() (measured, error) {
	g := v.gains()
	m, err := v.mean(accuracyDifference, &g.means, interval.Difference, g.missing, v.alsoLeftOut(gate.LeftOut(reasonOneArm, g.oneArmed), with, without),
		gate.Ways{Low: "wrong with the output or right without it", High: "right with the output or wrong without it"})
	if err != nil {
		return m, err
	}
	m.gains = g.own
	switch {
	case m.doubts.Undecided.Why != "":
	case g.both < 2:
		m.doubts.Undecided = gate.Doubt{Why: fmt.Sprintf("At least two people must have decided in both conditions; here %d did.", g.both),
			Needs: report.Needs{What: "more people with decisions in both conditions, and far more for a useful interval", AtLeast: 2 - g.both}}
	case gate.Exceeds(g.oneArmed, g.people, v.judging.MaxLeftOut):
		m.doubts.Undecided = notBoth(g, v.judging)
	default:
		m.doubts.Undecided = v.designDoubt()
	}
	return m, nil
}

// notBoth says that too many people were left out because they did not decide in both conditions.
func notBoth(g *gains, j policy.Judging) gate.Doubt {
	return gate.Doubt{
		Why: fmt.Sprintf("%d of %d people did not decide in both conditions, more than max_left_out allows (%s): those who stopped may be those it harmed.",
			g.oneArmed, g.people, j.MaxLeftOut.Text),
		Needs: gate.FewerLeftOut(g.oneArmed, g.people, j.MaxLeftOut, "of the people left out to decide in the other condition too (or, where both were assigned, --assignment, which counts what they did not decide both ways)"),
	}
}

// designDoubt says why a study of this design, or one that departs from it, has no accuracy difference decided.
func (v *view) designDoubt() gate.Doubt {
	switch {
	case gate.Exceeds(len(v.departing), v.read(), v.judging.MaxLeftOut):
		return gate.Doubt{Why: fmt.Sprintf("%d of %d rows depart from the assignment, more than max_left_out allows (%s).", len(v.departing), v.read(), v.judging.MaxLeftOut.Text),
			Needs: gate.FewerLeftOut(len(v.departing), v.read(), v.judging.MaxLeftOut, "of the rows that depart to be decided as assigned (or the assignment that was really followed)")}
	case v.design.contradicted:
		return gate.Doubtful("The file does not follow the declared design ("+v.design.name+").", "the design that the study had to be declared, or decisions that follow the declared one")
	case v.design.name == mixed:
		return gate.Doubtful("Some people decided some cases once and others twice: declare the design (`design: crossed` or `design: before_after`).", declareDesign)
	case len(v.wrongOrder) > 0:
		return gate.Doubtful(fmt.Sprintf("In %s the decision with the output came first; in a before_after study the one without must.",
			gate.Plural(len(v.wrongOrder), "pair of decisions", "pairs of decisions")), "a study in which everyone decides each case without the output first, or right times where these are wrong")
	}
	return gate.Doubt{}
}

// declareDesign is what a study of which the design cannot be told needs.
const declareDesign = "the design to be declared: `design: before_after` counts the other decision of each case as missing, `design: crossed` has one decision a case"

// means is the values of independent units, each under its two completions, and the exact sums behind the
// printed means.
type means struct {
	low, high   []float64
	estimates   gate.Fractions // over the estimated units
	lows, highs gate.Fractions // over all units
	estimated   int
	steps       []float64 // how far each missing decision can move its person
	decisions   int       // missing ones included
	recorded    int       // of them
}

// missed notes that so many of a person's n decisions of one kind are missing, each of which counts 1/n.
func (x *means) missed(missing, n int) {
	x.decisions, x.recorded = x.decisions+n, x.recorded+n-missing
	for range missing {
		x.steps = append(x.steps, quotient(1, n))
	}
}

// mean measures a mean over people. ways are those in which decisions can come out.
func (v *view) mean(name string, x *means, scale interval.Scale, missing int, leftOut []report.LeftOut, ways gate.Ways) (measured, error) {
	iv, broken, err := gate.Mean(x.low, x.high, scale, v.enrolled(), v.judging)
	if err != nil {
		return measured{}, fmt.Errorf("%s: %w", name, err)
	}
	m := measured{Measure: report.Measure{
		Metric: name, Labels: v.label(), Interval: report.PublishInterval(iv), Scale: &report.Scale{Lower: scale.Lower, Upper: scale.Upper},
		Units: report.Int(len(x.low)), UnitName: "people", Missing: report.Int(missing), LeftOut: leftOut,
		Conditions: gate.Conditions(iv, "people", v.judging),
	}, units: gate.NewPart("", x.low, x.high, x.recorded), grows: gate.GrowsEither}
	m.doubts.Review = broken
	if broken != "" {
		m.doubts.Review = "The plan is broken: " + broken + "."
	}
	if x.estimated > 0 {
		m.Estimate = report.Number(x.estimates.Over(x.estimated))
		if less := len(x.low) - x.estimated; less > 0 {
			m.Conditions += fmt.Sprintf(" The estimate rests on %d of the %d people: the others have nothing recorded on one side.", x.estimated, len(x.low))
		}
	} else {
		m.doubts.Undecided = gate.Doubtful("Nothing was evaluated: no person has a recorded decision to count.", "recorded decisions that the metric counts")
	}
	if n := len(x.low); n > 0 {
		m.Completions = &report.Completions{Low: x.lows.Over(n), High: x.highs.Over(n)}
	}
	sample := gate.MeanSample{Low: x.low, High: x.high, Scale: scale, Enrolled: v.enrolled(), Unit: "people", Completions: m.Completions}
	m.need = func(t report.Threshold) *report.Needs { return sample.Needs(t, v.judging) }
	ways.Of, ways.Unit = x.decisions, "decisions"
	m.tip = func(t report.Threshold) (*report.TippingPoint, error) { return sample.Tip(ways, x.steps, t, v.judging) }
	m.people = func(wanted func(interval.Interval) bool) (gate.Size, bool) { return sample.Size(v.judging, wanted) }
	return m, nil
}

// quotient is k/n rounded once.
func quotient(k, n int) float64 { return float64(k) / float64(n) }

// gain is a/b − c/d rounded once: the counts are far below the 2^53 up to which products are exact.
func gain(a, b, c, d int) float64 { return float64(a*d-c*b) / float64(b*d) }

// times measures decision times in seconds: the pooled median of a condition without an interval (decisions of
// the same people would make it far too narrow), and the median over people of their own medians with one. A
// missing time is 0 for the lower end and unbounded for the upper. No time recorded: no measure.
func (v *view) times(c condition) ([]measured, error) {
	var pooled []float64
	own := map[string][]float64{}
	gaps := map[string]int{}
	decisions, missing := 0, 0
	for _, e := range v.entries {
		if e.condition != c {
			continue
		}
		decisions++
		if _, found := gaps[e.person]; !found {
			gaps[e.person] = 0
		}
		if !e.hasSeconds {
			missing++
			gaps[e.person]++
			continue
		}
		pooled = append(pooled, e.seconds)
		own[e.person] = append(own[e.person], e.seconds)
	}
	if len(pooled) == 0 {
		return nil, nil
	}
	leftOut := v.alsoLeftOut(nil, c)
	all := measured{Measure: report.Measure{
		Metric: decisionTime, MeasuredIn: "seconds", Labels: v.label("condition", c.String()), Estimate: report.Number(median(pooled)),
		Units: report.Int(decisions), UnitName: "decisions", Missing: report.Int(missing), LeftOut: leftOut,
		Conditions: "The median of all decisions, which has no valid interval because people repeat.",
	}}
	var low, high, medians []float64
	for _, p := range sortedKeys(gaps) {
		fill := func(x float64) []float64 {
			list := slices.Clone(own[p])
			for range gaps[p] {
				list = append(list, x)
			}
			return list
		}
		low, high = append(low, median(fill(0))), append(high, median(fill(math.Inf(1))))
		if len(own[p]) > 0 {
			medians = append(medians, median(own[p]))
		}
	}
	iv, err := interval.Median(low, high, v.judging.Confidence.Value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", decisionTime, err)
	}
	each := measured{Measure: report.Measure{
		Metric: decisionTime, MeasuredIn: "seconds", Labels: v.label("condition", c.String(), "per", "person"), Estimate: report.Number(median(medians)),
		Interval: report.PublishInterval(iv), Units: report.Int(len(low)), UnitName: "people", Missing: report.Int(missing), LeftOut: leftOut,
		Conditions: "The median over people of each person's own median. " + gate.Conditions(iv, "people", v.judging),
	}}
	return []measured{all, each}, nil
}

// median is the middle value, or the mean of the two middle ones; it orders list.
func median(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	if n%2 == 1 {
		return list[n/2]
	}
	return list[n/2-1]/2 + list[n/2]/2
}
