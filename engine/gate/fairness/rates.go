package fairness

import (
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
)

// What a label or a prediction is. As indices of counts.
const (
	no   = iota // 0, or the negative word
	yes         // 1, or the positive word
	none        // not recorded
)

// counts is how many cases there are by label, then by prediction.
type counts [3][3]int

// merge adds other's cases.
func (c *counts) merge(other *counts) {
	for label := range c {
		for prediction := range c[label] {
			c[label][prediction] += other[label][prediction]
		}
	}
}

// total is the number of cases.
func (c *counts) total() int {
	n := 0
	for label := range c {
		for _, k := range c[label] {
			n += k
		}
	}
	return n
}

// labelled is the number of cases with the given label, or without one.
func (c *counts) labelled(label int) int { return c[label][no] + c[label][yes] + c[label][none] }

// predicted is the number of cases with the given prediction, or without one.
func (c *counts) predicted(prediction int) int {
	return c[no][prediction] + c[yes][prediction] + c[none][prediction]
}

// outcome is what a case can be to a rate; several together are the set of what it can be.
type outcome uint8

const (
	event outcome = 1 << iota
	other         // in the denominator and not an event
	out           // not in the denominator
)

// rate is one way to count cases.
type rate struct {
	name    string
	aliases []string
	// of is what a case with both values recorded is, by label, then by prediction.
	of [2][2]outcome
	// cases says what is in the denominator, after "cases": the words for the two values are filled in by the
	// declaration (text.go).
	cases string
}

// The rates, in the order of reports. (0, 0) stands first in each table, then (0, 1), (1, 0), (1, 1) of label and prediction.
var rates = []rate{
	{name: "error", of: [2][2]outcome{{other, event}, {event, other}}},
	{name: "accuracy", of: [2][2]outcome{{event, other}, {other, event}}},
	{name: "selection", of: [2][2]outcome{{other, event}, {other, event}}},
	{name: "false_positive", of: [2][2]outcome{{other, event}, {out, out}}, cases: "with label {no}"},
	{name: "true_negative", aliases: []string{"specificity"}, of: [2][2]outcome{{event, other}, {out, out}}, cases: "with label {no}"},
	{name: "false_negative", of: [2][2]outcome{{out, out}, {event, other}}, cases: "with label {yes}"},
	{name: "true_positive", aliases: []string{"recall", "sensitivity"}, of: [2][2]outcome{{out, out}, {other, event}}, cases: "with label {yes}"},
	{name: "precision", aliases: []string{"positive_predictive_value"}, of: [2][2]outcome{{out, other}, {out, event}}, cases: "with prediction {yes}"},
	{name: "false_discovery", of: [2][2]outcome{{out, event}, {out, other}}, cases: "with prediction {yes}"},
	{name: "false_omission", of: [2][2]outcome{{other, out}, {event, out}}, cases: "with prediction {no}"},
	{name: "negative_predictive_value", of: [2][2]outcome{{event, out}, {other, out}}, cases: "with prediction {no}"},
}

// calibrationError is the metric that is reported and never a rule.
const calibrationError = "expected_calibration_error"

// ruleSpec lists what a rule can say.
func ruleSpec() policy.RuleSpec {
	spec := policy.RuleSpec{MetricKey: "rate", Thresholds: []policy.Kind{policy.MaxGroupGap, policy.WorstGroup, policy.MinGroupRatio}, RatesAlone: true}
	for _, r := range rates {
		spec.Metrics = append(spec.Metrics, policy.MetricSpec{Name: r.name, Aliases: r.aliases, Upper: 1})
	}
	spec.Metrics = append(spec.Metrics, policy.MetricSpec{Name: calibrationError,
		Hint: calibrationError + " is reported, never a rule: no interval bounds it, and in a small group it is mostly chance"})
	for _, a := range asked {
		spec.Metrics = append(spec.Metrics, policy.MetricSpec{Name: a.name, Hint: "found the rate " + a.name + "; write " + a.write})
	}
	return spec
}

// asked lists names that the field has for rates, or for rules on them, and how they are written here.
var asked = []struct{ name, write string }{
	{"fnr", "rate: false_negative"},
	{"false_negative_rate", "rate: false_negative"},
	{"miss_rate", "rate: false_negative"},
	{"fpr", "rate: false_positive"},
	{"false_positive_rate", "rate: false_positive"},
	{"fall_out", "rate: false_positive"},
	{"tpr", "rate: true_positive"},
	{"true_positive_rate", "rate: true_positive"},
	{"tnr", "rate: true_negative"},
	{"true_negative_rate", "rate: true_negative"},
	{"ppv", "rate: precision"},
	{"npv", "rate: negative_predictive_value"},
	{"fdr", "rate: false_discovery"},
	{"false_discovery_rate", "rate: false_discovery"},
	{"for", "rate: false_omission"},
	{"false_omission_rate", "rate: false_omission"},
	{"error_rate", "rate: error"},
	{"acceptance_rate", "rate: selection"},
	{"selection_rate", "rate: selection"},
	{"demographic_parity", "rate: selection with max_group_gap (its difference) or min_group_ratio (its ratio)"},
	{"statistical_parity", "rate: selection with max_group_gap (its difference) or min_group_ratio (its ratio)"},
	{"disparate_impact", "rate: selection with min_group_ratio"},
	{"equal_opportunity", "rate: true_positive with max_group_gap"},
	{"equalized_odds", "two rules with max_group_gap, one with rate: true_positive and one with rate: false_positive"},
	{"predictive_parity", "rate: precision with max_group_gap"},
}

// rateNamed returns the rate of that name, nil where there is none.
func rateNamed(name string) *rate {
	for i := range rates {
		if rates[i].name == name {
			return &rates[i]
		}
	}
	return nil
}

// needsLabel reports whether a case's outcome depends on its label.
func (r *rate) needsLabel() bool { return r.of[no] != r.of[yes] }

// moves reports whether the prediction decides what is in the denominator, so that a missing one may or may not be.
func (r *rate) moves() bool { return (r.of[no][no] == out) != (r.of[no][yes] == out) }

// words says what a prediction is that raises the rate, and one that lowers it, in words after "is". But for the selection rate, which no
// label enters, a rate rises with each prediction that is right, or with each that is wrong.
func (r *rate) words() (raising, lowering string) {
	switch {
	case !r.needsLabel():
		return "selected", "not selected"
	case r.of[no][no] == event || r.of[yes][yes] == event:
		return "right", "wrong"
	}
	return "wrong", "right"
}

// mixes reports whether the denominator holds cases of both labels.
func (r *rate) mixes() bool {
	return r.of[no] != [2]outcome{out, out} && r.of[yes] != [2]outcome{out, out}
}

// possible is the set of what a case can be over all ways to complete what is not recorded of it.
func (r *rate) possible(label, prediction int) outcome {
	set := outcome(0)
	for l := range r.of {
		for p := range r.of[l] {
			if (label == none || label == l) && (prediction == none || prediction == p) {
				set |= r.of[l][p]
			}
		}
	}
	return set
}

// sides is a group's cases as a rate counts them.
type sides struct {
	recorded  interval.Tally // of cases with a recorded prediction: what the estimate is made from
	low, high interval.Tally // with the missing predictions completed for the lower and for the upper end
	missing   int            // cases without a prediction that can be in the denominator
}

// sides counts a group's cases. Those without a label are left out where the rate needs one.
//
// A success more raises both ends of an exact interval and a failure more lowers both. So an incomplete case is, for the lower
// end, a failure where it can be one, else out where it can be, else a success; for the upper end the reverse. For
// denominators that do not depend on the prediction this is k of n and k + m of n, m being missing.
func (r *rate) sides(c *counts) sides {
	var s sides
	for label := range c {
		if label == none && r.needsLabel() {
			continue
		}
		for prediction, n := range c[label] {
			can := r.possible(label, prediction)
			if prediction == none {
				if can&^out != 0 {
					s.missing += n
				}
			} else {
				add(&s.recorded, can, n)
			}
			add(&s.low, first(can, other, out, event), n)
			add(&s.high, first(can, event, out, other), n)
		}
	}
	return s
}

// first returns the first of the outcomes that is in the set.
func first(set outcome, order ...outcome) outcome {
	for _, o := range order {
		if set&o != 0 {
			return o
		}
	}
	return out
}

// add counts n cases of one outcome.
func add(t *interval.Tally, o outcome, n int) {
	switch o {
	case event:
		t.K, t.N = t.K+n, t.N+n
	case other:
		t.N += n
	}
}

// denominator is what a report gives as the rate's denominator: with the missing ones, but where they may not belong to it.
func (r *rate) denominator(s *sides) int {
	if r.moves() {
		return s.recorded.N
	}
	return s.recorded.N + s.missing
}

// widen adds left-out cases at their worst: those that may be failures to the lower end's tally, and those that may be
// successes to the upper end's. None of them has to belong to the group, so no other is added.
func (r *rate) widen(s *sides, label, prediction, n int) {
	can := r.possible(label, prediction)
	add(&s.low, can&other, n)
	add(&s.high, can&event, n)
}

// part is a group's cases as units of a rate, for a ledger of looks: an event is 1, another case of the denominator 0, and a case
// outside of a denominator that the prediction decides lies between, since both ends of an interval rise from a failure to
// none to a success. An incomplete case has the least and the greatest that it can be. Cases that cannot be in the denominator,
// or lack the label that the rate needs, are none.
func (r *rate) part(name string, c *counts) gate.Part {
	var values []gate.UnitValue
	decisions := 0
	for label := range c {
		if label == none && r.needsLabel() {
			continue
		}
		for prediction, n := range c[label] {
			can := r.possible(label, prediction)
			if can == out && !r.moves() {
				continue
			}
			if prediction != none {
				decisions += n
			}
			values = append(values, gate.UnitValue{Low: worth[first(can, other, out, event)], High: worth[first(can, event, out, other)], Count: n})
		}
	}
	return gate.ValuePart(name, decisions, values...)
}

// worth orders outcomes by what they do to the ends of an interval.
var worth = map[outcome]float64{other: 0, out: 0.5, event: 1}
