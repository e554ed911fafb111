package fairness

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
)

// sample has a number of its own for each combination of label and prediction, so that no two sums are alike by accident:
// TN 1, FP 2, FN 4, TP 8; without a prediction 16 with label 0 and 32 with label 1; without a label 64, 128, 256.
var sample = counts{
	no:   {no: 1, yes: 2, none: 16},
	yes:  {no: 4, yes: 8, none: 32},
	none: {no: 64, yes: 128, none: 256},
}

// TestRatesByHand: numerator and denominator of every rate as its definition says, and the completions of missing
// predictions by the audit's table (5c): L from k of n, U from k + m of n for rates over labels or all cases; for the
// others the cases that can be in the denominator depend on the side.
func TestRatesByHand(t *testing.T) {
	const tn, fp, fn, tp, m0, m1 = 1, 2, 4, 8, 16, 32
	all := tn + fp + fn + tp + m0 + m1
	tally := func(k, n int) interval.Tally { return interval.Tally{K: k, N: n} }
	for name, want := range map[string]sides{
		"error":          {tally(fp+fn, 15), tally(fp+fn, all), tally(fp+fn+m0+m1, all), m0 + m1},
		"accuracy":       {tally(tn+tp, 15), tally(tn+tp, all), tally(tn+tp+m0+m1, all), m0 + m1},
		"false_positive": {tally(fp, tn+fp), tally(fp, tn+fp+m0), tally(fp+m0, tn+fp+m0), m0},
		"true_negative":  {tally(tn, tn+fp), tally(tn, tn+fp+m0), tally(tn+m0, tn+fp+m0), m0},
		"false_negative": {tally(fn, fn+tp), tally(fn, fn+tp+m1), tally(fn+m1, fn+tp+m1), m1},
		"true_positive":  {tally(tp, fn+tp), tally(tp, fn+tp+m1), tally(tp+m1, fn+tp+m1), m1},
		// Over predictions: precision L (TP, TP+FP+m0), U (TP+m1, TP+FP+m1), and so on, line by line of the table.
		"precision":                 {tally(tp, tp+fp), tally(tp, tp+fp+m0), tally(tp+m1, tp+fp+m1), m0 + m1},
		"false_discovery":           {tally(fp, fp+tp), tally(fp, fp+tp+m1), tally(fp+m0, fp+tp+m0), m0 + m1},
		"false_omission":            {tally(fn, fn+tn), tally(fn, fn+tn+m0), tally(fn+m1, fn+tn+m1), m0 + m1},
		"negative_predictive_value": {tally(tn, tn+fn), tally(tn, tn+fn+m1), tally(tn+m0, tn+fn+m0), m0 + m1},
		// Selection needs no label: 2 + 8 + 128 predicted 1 of 1 + 2 + 4 + 8 + 64 + 128 with a prediction, 16 + 32 + 256 without.
		"selection": {tally(138, 207), tally(138, 511), tally(138+304, 511), 304},
	} {
		r := rateNamed(name)
		if r == nil {
			t.Errorf("no rate %s", name)
			continue
		}
		got := r.sides(&sample)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(sides{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		// What a report calls the denominator holds the missing ones where they surely belong to it.
		denominator := want.recorded.N + want.missing
		if r.moves() {
			denominator = want.recorded.N
		}
		if r.denominator(&got) != denominator {
			t.Errorf("%s: denominator %d, want %d", name, r.denominator(&got), denominator)
		}
	}
	if len(rates) != 11 {
		t.Errorf("%d rates, want the 11 of the specification", len(rates))
	}
}

// TestWhatRatesNeed: by their definitions.
func TestWhatRatesNeed(t *testing.T) {
	moving := map[string]bool{"precision": true, "false_discovery": true, "false_omission": true, "negative_predictive_value": true}
	ofLabel := map[string]bool{"false_positive": true, "true_negative": true, "false_negative": true, "true_positive": true}
	for i := range rates {
		r := &rates[i]
		if r.moves() != moving[r.name] || r.needsLabel() != (r.name != "selection") || r.mixes() == ofLabel[r.name] {
			t.Errorf("%s: moves %t, needs a label %t, mixes labels %t", r.name, r.moves(), r.needsLabel(), r.mixes())
		}
	}
}

// TestWorstLeftOut: a left-out case that may be a failure is added for the lower end, one that may be a success for the upper
// end, and neither where it can be neither. false_negative with label 1 and prediction 1 can only be a failure, without a label
// and with prediction 0 only a success or nothing.
func TestWorstLeftOut(t *testing.T) {
	for _, c := range []struct {
		rate              string
		label, prediction int
		low, high         interval.Tally
	}{
		{"false_negative", yes, yes, interval.Tally{N: 1}, interval.Tally{}},
		{"false_negative", yes, no, interval.Tally{}, interval.Tally{K: 1, N: 1}},
		{"false_negative", no, no, interval.Tally{}, interval.Tally{}},
		{"false_negative", none, no, interval.Tally{}, interval.Tally{K: 1, N: 1}},
		{"false_negative", none, yes, interval.Tally{N: 1}, interval.Tally{}},
		{"false_negative", none, none, interval.Tally{N: 1}, interval.Tally{K: 1, N: 1}},
		{"error", none, yes, interval.Tally{N: 1}, interval.Tally{K: 1, N: 1}},
		{"error", no, yes, interval.Tally{}, interval.Tally{K: 1, N: 1}},
		{"selection", none, yes, interval.Tally{}, interval.Tally{K: 1, N: 1}},
		{"selection", yes, none, interval.Tally{N: 1}, interval.Tally{K: 1, N: 1}},
		{"precision", none, yes, interval.Tally{N: 1}, interval.Tally{K: 1, N: 1}},
		{"precision", none, no, interval.Tally{}, interval.Tally{}},
	} {
		var s sides
		rateNamed(c.rate).widen(&s, c.label, c.prediction, 1)
		if s.low != c.low || s.high != c.high {
			t.Errorf("%s, label %d, prediction %d: low %v, high %v; want %v, %v", c.rate, c.label, c.prediction, s.low, s.high, c.low, c.high)
		}
	}
}

// completions calls f with every way to complete the missing predictions of a group: so many of those with label 0, and of
// those with label 1, are predicted 1. Labels are recorded.
func completions(c counts, f func(full counts)) {
	for a := 0; a <= c[no][none]; a++ {
		for b := 0; b <= c[yes][none]; b++ {
			f(counts{no: {c[no][no] + c[no][none] - a, c[no][yes] + a, 0}, yes: {c[yes][no] + c[yes][none] - b, c[yes][yes] + b, 0}})
		}
	}
}

// drawGroup draws a small group with recorded labels.
func drawGroup(t *rapid.T, most int) counts {
	n := func() int { return rapid.IntRange(0, most).Draw(t, "cases") }
	return counts{no: {n(), n(), n()}, yes: {n(), n(), n()}}
}

// TestCompletionsHold: the interval of a group with missing predictions holds that of every way to complete them, by brute
// force, for every rate; and complements mirror each other.
func TestCompletionsHold(t *testing.T) {
	complements := map[string]string{"error": "accuracy", "false_positive": "true_negative", "false_negative": "true_positive",
		"precision": "false_discovery", "false_omission": "negative_predictive_value"}
	rapid.Check(t, func(t *rapid.T) {
		c := drawGroup(t, 4)
		groups := rapid.IntRange(1, 5).Draw(t, "groups")
		bound := func(s sides) interval.Interval {
			iv, err := interval.GroupRate(s.low, s.high, 0.9, groups)
			if err != nil {
				t.Fatal(err)
			}
			return iv
		}
		for i := range rates {
			r := &rates[i]
			iv := bound(r.sides(&c))
			completions(c, func(full counts) {
				s := r.sides(&full)
				if s.low != s.recorded || s.high != s.recorded || s.missing != 0 {
					t.Fatalf("%s: a full group has sides %+v", r.name, s)
				}
				if of := bound(s); of.Lower < iv.Lower || of.Upper > iv.Upper {
					t.Fatalf("%s of %v: %v, but completed as %v it is %v", r.name, c, iv, full, of)
				}
			})
			if other := rateNamed(complements[r.name]); other != nil {
				s, o := r.sides(&c), other.sides(&c)
				mirrored := func(x, y interval.Tally) bool { return x.N == y.N && x.K == y.N-y.K }
				if !mirrored(s.recorded, o.recorded) || !mirrored(s.low, o.high) || !mirrored(s.high, o.low) || s.missing != o.missing {
					t.Fatalf("%s %+v is no mirror of %s %+v", r.name, s, other.name, o)
				}
			}
		}
	})
}

// TestUnitsOfRates: what a ledger keeps of a group: an event is 1, another case of the denominator 0, a case outside of a denominator that the
// prediction decides one half, and a case whose prediction is missing what it can be. Only predictions are decisions.
func TestUnitsOfRates(t *testing.T) {
	all := sample
	for name, want := range map[string]gate.Part{
		// Of the positives 4 are predicted negative, 8 positive, and 32 not.
		"false_negative": {Name: "g", Decisions: 4 + 8, Values: []gate.UnitValue{{Low: 0, High: 0, Count: 8}, {Low: 0, High: 1, Count: 32}, {Low: 1, High: 1, Count: 4}}},
		// Of those with a label and predicted positive 2 are negatives and 8 positives; 1 + 4 are predicted negative; 16 negatives and 32 positives have no
		// prediction.
		"precision": {Name: "g", Decisions: 2 + 8 + 1 + 4, Values: []gate.UnitValue{{Low: 0, High: 0, Count: 2}, {Low: 0, High: 0.5, Count: 16}, {Low: 0.5, High: 0.5, Count: 1 + 4}, {Low: 0.5, High: 1, Count: 32}, {Low: 1, High: 1, Count: 8}}},
		// Every case has a selection: 2 + 8 + 128 are selected, 1 + 4 + 64 not, and 16 + 32 + 256 not said.
		"selection": {Name: "g", Decisions: 207, Values: []gate.UnitValue{{Low: 0, High: 0, Count: 69}, {Low: 0, High: 1, Count: 304}, {Low: 1, High: 1, Count: 138}}},
	} {
		if diff := cmp.Diff(want, rateNamed(name).part("g", &all)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
