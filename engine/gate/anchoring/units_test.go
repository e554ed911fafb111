package anchoring

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// wants compares a rule with what it should come to; NaN where a number does not matter.
func wants(t *testing.T, r report.Rule, verdict report.Verdict, lower, upper, within float64) {
	t.Helper()
	if r.Verdict != verdict {
		t.Errorf("%s: %s (%s), want %s", r.ID, r.Verdict, r.Reason, verdict)
	}
	if r.Interval == nil {
		t.Fatalf("%s: no interval", r.ID)
	}
	if !math.IsNaN(lower) && math.Abs(*r.Interval.Lower-lower) > within || !math.IsNaN(upper) && math.Abs(*r.Interval.Upper-upper) > within {
		t.Errorf("%s: [%v, %v], want [%v, %v]", r.ID, *r.Interval.Lower, *r.Interval.Upper, lower, upper)
	}
}

// TestOneAnnotatorIsExact: items are the units. 20 of 20 gives a lower end of .832 (audit of the intervals, 7g), so
// .83 passes and .9 does not; .9 needs 36 and .95 needs 72 with no disagreement (the same).
func TestOneAnnotatorIsExact(t *testing.T) {
	for _, c := range []struct {
		n       int
		minimum string
		verdict report.Verdict
		lower   float64
	}{
		{20, "0.83", report.Pass, 0.832},
		{20, "0.9", report.InsufficientEvidence, 0.832},
		{35, "0.9", report.InsufficientEvidence, math.NaN()},
		{36, "0.9", report.Pass, math.NaN()},
		{71, "0.95", report.InsufficientEvidence, math.NaN()},
		{72, "0.95", report.Pass, math.NaN()},
	} {
		r := ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: "+c.minimum+"}]", several("i", "ann", "blind", c.n, c.n, 0)))
		wants(t, r, c.verdict, c.lower, 1, 0.0005)
		if r.Interval.Method != interval.MethodClopperPearson || r.UnitName != "items" || *r.Units != c.n || r.Labels["per"] != "item" {
			t.Errorf("%d: %s over %d %s, labels %v", c.n, r.Interval.Method, *r.Units, r.UnitName, r.Labels)
		}
	}
}

// TestMissingBlindLabelsCountBothWays: 16 of 20 agree, 2 are not recorded; the ends are those of 16 and of 18 of 20:
// .56339 and .98765 (bisection on sums of binomial terms, Python 3.11).
func TestMissingBlindLabelsCountBothWays(t *testing.T) {
	r := ruleOf(t, decide(t, "minimum_blind_sample: 18\nrules: [{id: r, metric: blind_agreement, minimum: 0.5}]", several("i", "ann", "blind", 20, 16, 2)))
	wants(t, r, report.Pass, 0.56339, 0.98765, 0.000005)
	if *r.Estimate != 16.0/18 || *r.Numerator != 16 || *r.Denominator != 20 || *r.Missing != 2 || r.Completions.Low != 0.8 || r.Completions.High != 0.9 {
		t.Errorf("estimate %v, %d of %d, %d missing, completions %v", *r.Estimate, *r.Numerator, *r.Denominator, *r.Missing, *r.Completions)
	}
}

// TestEachPersonCountsOnce: one person with many labels weighs no more than others. Own rates 1, 0, 0.5: the mean is 0.5,
// where pooling all labels would give 41/44.
func TestEachPersonCountsOnce(t *testing.T) {
	body := several("a", "p1", "blind", 40, 40, 0) + several("b", "p2", "blind", 2, 0, 0) + several("c", "p3", "blind", 2, 1, 0)
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.9}]", body))
	if *r.Estimate != 0.5 || r.Labels["per"] != "person" || *r.Units != 3 || r.UnitName != "annotators" || *r.Numerator != 41 || *r.Denominator != 44 {
		t.Errorf("estimate %v, %d %s, %d of %d, labels %v", *r.Estimate, *r.Units, r.UnitName, *r.Numerator, *r.Denominator, r.Labels)
	}
}

// TestReachOfFewAnnotators: with everyone agreeing always, the lower end is .29 with 4 annotators, .53 with 8, .65 with 12,
// .77 with 20 and .88 with 40, and with `looks: once` .40, .63, .74, .83, .91 (audit of the intervals, 7b). The measure says so, and a rule whose minimum lies beyond it gives it as the reason.
func TestReachOfFewAnnotators(t *testing.T) {
	for i, n := range []int{4, 8, 12, 20, 40} {
		body := ""
		for p := range n {
			body += several(fmt.Sprintf("i%d-", p), fmt.Sprint("p", p), "blind", 5, 5, 0)
		}
		sequence, once := []float64{.29, .53, .65, .77, .88}[i], []float64{.40, .63, .74, .83, .91}[i]
		r := ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.95}]", body))
		wants(t, r, report.InsufficientEvidence, sequence, math.NaN(), 0.005)
		says := fmt.Sprintf("With %d annotators the lower end cannot exceed %.2f, whatever they answer", n, sequence)
		if !strings.Contains(r.Conditions, says+".") || !strings.HasSuffix(r.Reason, says+": the minimum of 0.95 is out of their reach.") {
			t.Errorf("%q is not said in %q or in %q", says, r.Conditions, r.Reason)
		}
		if slices.ContainsFunc(r.Assumptions, func(a string) bool { return strings.Contains(a, "cannot exceed") }) {
			t.Errorf("%q is no assumption", r.Assumptions)
		}
		r = ruleOf(t, decide(t, fmt.Sprintf("looks: once\nplanned: %d\nrules: [{id: r, metric: blind_agreement, minimum: 0.95}]", n), body))
		wants(t, r, report.InsufficientEvidence, once, math.NaN(), 0.005)
		// All equal to 1, Dirichlet's lower end is a^(1/n); it is said rounded up.
		if says := fmt.Sprintf("With %d annotators the lower end cannot exceed %.2f", n, math.Ceil(100*math.Pow(0.025, 1/float64(n)))/100); !strings.Contains(r.Reason, says) {
			t.Errorf("%q is not said in %q", says, r.Reason)
		}
	}
	of8 := func(agree int) (body string) {
		for p := range 8 {
			body += several(fmt.Sprintf("i%d-", p), fmt.Sprint("p", p), "blind", 5, agree, 0)
		}
		return body
	}
	// Mirrored: where eight never agree, the upper end is at 1 − .52577 (testdata/oracle/README.md, 02).
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, maximum: 0.4}]", of8(0)))
	if want := "With 8 annotators the upper end cannot be under 0.47, whatever they answer: the maximum of 0.4 is out of their reach."; !strings.HasSuffix(r.Reason, want) {
		t.Errorf("%q is not said in %q", want, r.Reason)
	}
	// Within their reach nothing of it is said, and a plan for forty is what counts of a plan.
	for text, agree := range map[string]int{
		"rules: [{id: r, metric: blind_agreement, minimum: 0.5}]":                           3,
		"looks: once\nplanned: 40\nrules: [{id: r, metric: blind_agreement, minimum: 0.9}]": 5,
	} {
		if r := ruleOf(t, decide(t, text, of8(agree))); r.Verdict != report.InsufficientEvidence || strings.Contains(r.Reason, "reach") {
			t.Errorf("%s: %s (%s)", text, r.Verdict, r.Reason)
		}
	}
}

// TestItemsAsUnits: with several annotators and one blind label an item, `per: item` is exact; with several labels an item
// it is the mean over items of the item's own agreement.
func TestItemsAsUnits(t *testing.T) {
	const rule = "rules: [{id: r, metric: blind_agreement, minimum: 0.5, per: item}]"
	body := several("a", "p1", "blind", 20, 20, 0) + several("b", "p2", "blind", 20, 10, 0)
	r := ruleOf(t, decide(t, rule, body))
	// 30 of 40 is [.58804, .87309] (bisection on sums of binomial terms, Python 3.11).
	wants(t, r, report.Pass, 0.58804, 0.87309, 0.000005)
	if r.Interval.Method != interval.MethodClopperPearson || !strings.Contains(r.Conditions, "these annotators, as the items were assigned") {
		t.Errorf("%s: %s", r.Interval.Method, r.Conditions)
	}
	// The first item has a second label, which differs: its own agreement is 1/2, so the mean is (29 + 1/2)/40.
	r = ruleOf(t, decide(t, rule, body+labelled("a0", "p2", "b", "blind")))
	if r.Interval.Method != interval.MethodUniformMixture || *r.Estimate != 29.5/40 || *r.Units != 40 {
		t.Errorf("%s, estimate %v over %d; want the mean over 40 items, %v", r.Interval.Method, *r.Estimate, *r.Units, 29.5/40)
	}
}

// TestLabelsAsUnits: pooled labels are decided only where neither annotators nor items repeat; the only annotator of a file
// may.
func TestLabelsAsUnits(t *testing.T) {
	const rule = "rules: [{id: r, metric: blind_agreement, minimum: 0.5, per: label}]"
	each := ""
	for i := range 30 {
		each += labelled(fmt.Sprint("i", i), fmt.Sprint("p", i), "a", "blind")
	}
	for _, c := range []struct {
		name, body string
		verdict    report.Verdict
		says       string
	}{
		{"each label another item and person", each, report.Pass, ""},
		{"one annotator", several("i", "ann", "blind", 30, 30, 0), report.Pass, ""},
		{"people repeat", several("i", "p1", "blind", 29, 29, 0) + labelled("x", "p2", "a", "blind"), report.ManualReview, "1 of 2 annotators appear more than once"},
		{"items repeat", each + labelled("i0", "q", "a", "blind"), report.ManualReview, "1 of 30 items appear more than once"},
	} {
		r := ruleOf(t, decide(t, rule, c.body))
		if r.Verdict != c.verdict || !strings.Contains(r.Reason, c.says) {
			t.Errorf("%s: %s (%s), want %s", c.name, r.Verdict, r.Reason, c.verdict)
		}
	}
}

// TestRestOfACorpus: 95 of 100 drawn from 500 agree: the corpus is in [.894, .980], the rest in [.880, .988] (audit of the
// intervals, 7c), and the rule is decided on the rest.
func TestRestOfACorpus(t *testing.T) {
	body := several("i", "ann", "blind", 100, 95, 0)
	for minimum, verdict := range map[string]report.Verdict{"0.88": report.Pass, "0.885": report.InsufficientEvidence, "0.99": report.Fail} {
		r := ruleOf(t, decide(t, "corpus_size: 500\nrules: [{id: r, metric: blind_agreement, minimum: "+minimum+"}]", body))
		wants(t, r, verdict, 0.880, 0.988, 0.0006)
		if len(r.IntervalsBeside) != 1 || math.Abs(r.IntervalsBeside[0].Lower-0.894) > 0.0006 || math.Abs(r.IntervalsBeside[0].Upper-0.980) > 0.0006 {
			t.Errorf("beside: %+v, want the corpus's own [.894, .980]", r.IntervalsBeside)
		}
		if r.Interval.Method != interval.MethodHypergeometric || !strings.Contains(strings.Join(r.Assumptions, " "), "The items with a blind row are all that were drawn blind") {
			t.Errorf("%s, assuming %q", r.Interval.Method, r.Assumptions)
		}
	}
	// All drawn: nothing rests, and the corpus is known.
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.95, corpus_size: 100}]", body))
	wants(t, r, report.Pass, 0.95, 0.95, 0)
	if len(r.IntervalsBeside) != 0 {
		t.Errorf("beside: %+v, want nothing", r.IntervalsBeside)
	}
}

// drawOf writes a draw of items named i0, i1, …, of which the first are blind, with one probability.
func drawOf(blind, all int, probability string) string {
	var b strings.Builder
	for i := range all {
		visibility := "visible"
		if i < blind {
			visibility = "blind"
		}
		fmt.Fprintf(&b, "i%d,%s,%s\n", i, visibility, probability)
	}
	return b.String()
}

// TestItemsDrawnAreCounted: n is the items drawn blind, labelled or not: of 30 drawn, 24 agree, one has no label, one was
// peeked at, and four have no row.
func TestItemsDrawnAreCounted(t *testing.T) {
	body := several("i", "ann", "blind", 25, 24, 1) + labelled("i25", "ann", "a", "visible") + labelled("i25", "ann", "a", "blind")
	draw := drawOf(30, 100, "0.3")
	// As the items' own count: one missing, one lost, four absent of 30.
	r := ruleOf(t, decide(t, "corpus_size: 100\nrules: [{id: r, metric: blind_agreement, minimum: 0.5}]", body, draw))
	if *r.Numerator != 24 || *r.Denominator != 30 || *r.Missing != 6 {
		t.Errorf("corpus: %d of %d, %d missing; want 24 of 30, 6 missing", *r.Numerator, *r.Denominator, *r.Missing)
	}
	want, err := interval.HypergeometricRest(24, 6, 30, 100, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != report.ManualReview { // the peeked item was drawn blind and shown first
		t.Errorf("%s (%s), want MANUAL_REVIEW", r.Verdict, r.Reason)
	}
	if *r.Interval.Lower != want.Lower || *r.Interval.Upper != want.Upper {
		t.Errorf("[%v, %v], want [%v, %v]", *r.Interval.Lower, *r.Interval.Upper, want.Lower, want.Upper)
	}
	// A label of an item that was not drawn blind is no part of the drawn ones, and is told as left out.
	r = ruleOf(t, decide(t, "corpus_size: 100\nrules: [{id: r, metric: blind_agreement, minimum: 0.5}]", body+labelled("i99", "ann", "a", "blind"), draw))
	if *r.Numerator != 24 || *r.Denominator != 30 || len(r.LeftOut) != 1 || r.LeftOut[0] != (report.LeftOut{Reason: "not drawn blind", Count: 1}) {
		t.Errorf("corpus: %d of %d, left out %v", *r.Numerator, *r.Denominator, r.LeftOut)
	}
	// Without the size of the corpus: the same counts, exact.
	r = ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.5}]", body, draw))
	if *r.Numerator != 24 || *r.Denominator != 30 || *r.Missing != 6 {
		t.Errorf("exact: %d of %d, %d missing; want 24 of 30, 6 missing", *r.Numerator, *r.Denominator, *r.Missing)
	}
	// Per person each of the two annotators has the four absent items as missing: 26/30 to 30/30 and 0/4 to 4/4;
	// what enters is counted, 34 labels, 8 of them missing.
	r = ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.5, per: person}]",
		several("i", "ann", "blind", 26, 26, 0)+labelled("i30", "bob", "a", "visible"), draw))
	if *r.Units != 2 || *r.Missing != 8 || *r.Denominator != 34 || r.Completions.Low != (26.0/30)/2 || r.Completions.High != 1 {
		t.Errorf("per person: %d annotators, %d missing, completions %v", *r.Units, *r.Missing, *r.Completions)
	}
	if says := "4 items were drawn blind and never labelled blind: whose it was to label cannot be told, so each is a missing label of every annotator."; !strings.Contains(r.Conditions, says) {
		t.Errorf("%q is not said in %q", says, r.Conditions)
	}
}

// TestGapOfOneAnnotator: 18 of 20 agree where they see the suggestion, 10 of 20 where they do not. Each side is exact at
// 97.5 %: [.65136, .99146] and [.24642, .75358] (bisection on sums of binomial terms, Python 3.11), so the gap is in
// [.65136 − .75358, .99146 − .24642]. Fisher's product is narrower.
func TestGapOfOneAnnotator(t *testing.T) {
	body := several("b", "ann", "blind", 20, 10, 0) + several("v", "ann", "visible", 20, 18, 0)
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: anchoring_gap, maximum: 0.8}]", body))
	wants(t, r, report.Pass, 0.65136-0.75358, 0.99146-0.24642, 0.00002)
	if math.Abs(*r.Estimate-0.4) > 1e-15 || *r.Units != 40 {
		t.Errorf("estimate %v over %d", *r.Estimate, *r.Units)
	}
	direct, err := interval.FisherDifference(interval.Tally{K: 18, N: 20}, interval.Tally{K: 18, N: 20}, interval.Tally{K: 10, N: 20}, interval.Tally{K: 10, N: 20}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	p := ruleOf(t, decide(t, "rules: [{id: r, metric: anchoring_gap, maximum: 0.8, interval: pairwise}]", body))
	wants(t, p, report.Pass, direct.Lower, direct.Upper, 0)
	if p.Interval.Method != interval.MethodFisherProduct || p.Interval.Width() >= r.Interval.Width() {
		t.Errorf("%s, %v wide; want narrower than %v", p.Interval.Method, p.Interval.Width(), r.Interval.Width())
	}
	// With several annotators the form must be asked for.
	p = ruleOf(t, decide(t, "rules: [{id: r, metric: anchoring_gap, maximum: 0.8, interval: pairwise}]", body+labelled("x", "bob", "a", "blind")))
	if p.Verdict != report.InsufficientEvidence || !strings.Contains(p.Reason, "add `per: item`") {
		t.Errorf("%s (%s), want INSUFFICIENT_EVIDENCE", p.Verdict, p.Reason)
	}
	// An item that one person labelled visible twice: its own agreement counts once, and the sides are means.
	p = ruleOf(t, decide(t, "rules: [{id: r, metric: visible_agreement, maximum: 0.8}]",
		several("v", "ann", "visible", 20, 20, 0)+"w,ann,a,a,visible,,,,,1700000001,\nw,ann,a,b,visible,,,,,1700000002,\n"))
	if *p.Units != 21 || *p.Denominator != 22 || *p.Estimate != 20.5/21 || p.Interval.Method != interval.MethodUniformMixture {
		t.Errorf("%d items of %d labels, estimate %v by %s", *p.Units, *p.Denominator, *p.Estimate, p.Interval.Method)
	}
	// An item on both sides: the two are not independent.
	p = ruleOf(t, decide(t, "rules: [{id: r, metric: anchoring_gap, maximum: 0.8, interval: pairwise}]", body+labelled("b0", "ann", "a", "visible")))
	if p.Verdict != report.InsufficientEvidence || !strings.Contains(p.Reason, "1 item is on both") {
		t.Errorf("%s (%s), want INSUFFICIENT_EVIDENCE", p.Verdict, p.Reason)
	}
}

// TestGapPerPerson: own visible minus own blind agreement, each annotator once: 1 − 1/2, 1/2 − 1/2 and 1 − 0 give 1/2;
// pooled it would be 15/16 − 5/9.
func TestGapPerPerson(t *testing.T) {
	body := several("a", "p1", "blind", 10, 5, 0) + several("b", "p1", "visible", 10, 10, 0) +
		several("c", "p2", "blind", 10, 5, 0) + several("d", "p2", "visible", 10, 5, 0) +
		several("e", "p3", "blind", 2, 0, 0) + several("f", "p3", "visible", 2, 2, 0)
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: anchoring_gap, maximum: 0.9}]", body))
	if *r.Estimate != 0.5 || *r.Units != 3 {
		t.Errorf("estimate %v over %d, want 0.5 over 3", *r.Estimate, *r.Units)
	}
	// A fourth with visible labels only is left out, and is more than a tenth of the people.
	r = ruleOf(t, decide(t, "rules: [{id: r, metric: anchoring_gap, maximum: 0.9}]", body+several("g", "p4", "visible", 2, 2, 0)))
	if r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, "1 of 4 annotators") || *r.Units != 3 {
		t.Errorf("%s (%s) over %d", r.Verdict, r.Reason, *r.Units)
	}
	r = ruleOf(t, decide(t, "rules: [{id: r, metric: anchoring_gap, maximum: 1, max_left_out: 0.25}]", body+several("g", "p4", "visible", 2, 2, 0)))
	if r.Verdict != report.Pass {
		t.Errorf("a quarter left out where a quarter may be: %s (%s)", r.Verdict, r.Reason)
	}
}

// TestGapBetweenPeople: where nobody labelled both ways the gap is the difference of two means, each at half of the error.
func TestGapBetweenPeople(t *testing.T) {
	body := ""
	blind, visible := make([]float64, 40), make([]float64, 40)
	for p := range 40 {
		body += several(fmt.Sprintf("b%d-", p), fmt.Sprint("p", p), "blind", 4, 1+p%2, 0) + several(fmt.Sprintf("v%d-", p), fmt.Sprint("q", p), "visible", 4, 3+p%2, 0)
		blind[p], visible[p] = float64(1+p%2)/4, float64(3+p%2)/4
	}
	b, err1 := interval.UniformMixture(blind, blind, interval.Unit, 0.975)
	v, err2 := interval.UniformMixture(visible, visible, interval.Unit, 0.975)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: anchoring_gap, minimum: 0}]", body))
	wants(t, r, report.Pass, v.Lower-b.Upper, v.Upper-b.Lower, 1e-9)
	if *r.Estimate != 0.5 || !strings.Contains(r.Conditions, "drawn at random") {
		t.Errorf("estimate %v; %s", *r.Estimate, r.Conditions)
	}
}

// TestFloors: 19 recorded blind comparisons are too few for every rule on blind labels, whatever the interval; the gap needs
// five on each side; visible labels have no floor.
func TestFloors(t *testing.T) {
	body := several("b", "ann", "blind", 20, 19, 1) + several("v", "ann", "visible", 40, 0, 0)
	g := decide(t, "rules: [{id: b, metric: blind_agreement, minimum: 0.1}, {id: g, metric: anchoring_gap, maximum: 0.9}, {id: v, metric: visible_agreement, minimum: 0.9}, {id: p, metric: people_agreement, minimum: 0.1}]", body)
	for _, r := range g.Rules[:2] {
		if r.Verdict != report.InsufficientEvidence || r.Reason != "19 blind comparisons are recorded, and minimum_blind_sample asks for 20." || r.Needs == nil || r.Needs.AtLeast != 20 {
			t.Errorf("%s: %s (%s), needs %+v", r.ID, r.Verdict, r.Reason, r.Needs)
		}
	}
	if g.Rules[2].Verdict != report.Fail {
		t.Errorf("visible: %s (%s), want FAIL", g.Rules[2].Verdict, g.Rules[2].Reason)
	}
	if f := finding(g, "few_blind_labels"); f == nil || !strings.Contains(f.Message, "label more items blind") {
		t.Errorf("finding %+v", f)
	}
	if f := finding(decide(t, "rules: [{id: b, metric: blind_agreement, minimum: 0.1}]", several("b", "ann", "blind", 4, 4, 0)), "few_blind_labels"); f == nil || !strings.Contains(f.Message, "there are only 4 items: if that is the whole corpus, set the floor to what it can supply") {
		t.Errorf("finding %+v", f)
	}
	g = decide(t, "minimum_blind_sample: 1\nrules: [{id: g, metric: anchoring_gap, maximum: 1}]", several("b", "ann", "blind", 4, 4, 0)+several("v", "ann", "visible", 40, 0, 0))
	if r := g.Rules[0]; r.Verdict != report.InsufficientEvidence || r.Estimate != nil || !strings.Contains(r.Reason, "at least 5 recorded comparisons on each side; here are 4 blind and 40 visible") {
		t.Errorf("%s, estimate %v (%s)", r.Verdict, r.Estimate, r.Reason)
	}
	g = decide(t, "minimum_blind_sample: 5\nrules: [{id: g, metric: anchoring_gap, maximum: 1}]", several("b", "ann", "blind", 5, 5, 0)+several("v", "ann", "visible", 5, 0, 0))
	if r := g.Rules[0]; r.Verdict != report.Pass || *r.Estimate != -1 {
		t.Errorf("%s, estimate %v (%s)", r.Verdict, r.Estimate, r.Reason)
	}
}

// TestLeftOut: without a suggestion, a tenth of the blind rows may be left out, and no more.
func TestLeftOut(t *testing.T) {
	const rule = "rules: [{id: r, metric: blind_agreement, minimum: 0.5}]"
	body := several("b", "ann", "blind", 27, 27, 0)
	for i := range 3 {
		body += fmt.Sprintf("n%d,ann,,a,blind,,,,,,\n", i)
	}
	if r := ruleOf(t, decide(t, rule, body)); r.Verdict != report.Pass || len(r.LeftOut) != 1 || r.LeftOut[0] != (report.LeftOut{Reason: "no suggestion recorded", Count: 3}) {
		t.Errorf("3 of 30: %s (%s), left out %v", r.Verdict, r.Reason, r.LeftOut)
	}
	r := ruleOf(t, decide(t, rule, body+"n3,ann,,a,blind,,,,,,\n"))
	if r.Verdict != report.InsufficientEvidence || !strings.HasPrefix(r.Reason, "4 of 31 are left out (no suggestion recorded)") {
		t.Errorf("4 of 31: %s (%s)", r.Verdict, r.Reason)
	}
}

// TestUnequalProbabilities: batches by the draw's file, weights by the least probability, else a person decides.
func TestUnequalProbabilities(t *testing.T) {
	// Two batches: of 20 items all are drawn (18 agree), of 80 items 20 are drawn (10 agree): (18 + 80·½)/100 = .58.
	var body, draw strings.Builder
	row := func(i int, probability string, label string) {
		fmt.Fprintf(&body, "i%d,ann,a,%s,blind,,,%s,,,\n", i, label, probability)
	}
	for i := range 100 {
		probability, visibility := "1", "blind"
		if i >= 20 {
			probability = "0.25"
		}
		if i >= 40 {
			visibility = "visible"
		}
		fmt.Fprintf(&draw, "i%d,%s,%s\n", i, visibility, probability)
		if i < 18 || i >= 20 && i < 30 {
			row(i, probability, "a")
		} else if i < 40 {
			row(i, probability, "b")
		}
	}
	const rule = "rules: [{id: r, metric: blind_agreement, minimum: 0.3}]"
	corpus, rest, err := interval.Batches([]interval.Batch{{Size: 80, Drawn: 20, Events: 10}, {Size: 20, Drawn: 20, Events: 18}}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	r := ruleOf(t, decide(t, rule, body.String(), draw.String()))
	wants(t, r, report.Pass, corpus.Lower, corpus.Upper, 0)
	if *r.Estimate != 0.58 || *r.Denominator != 40 || len(r.IntervalsBeside) != 1 || r.IntervalsBeside[0].Lower != rest.Lower {
		t.Errorf("estimate %v of %d, beside %+v", *r.Estimate, *r.Denominator, r.IntervalsBeside)
	}
	r = ruleOf(t, decide(t, "corpus_size: 100\n"+rule, body.String(), draw.String()))
	wants(t, r, report.InsufficientEvidence, rest.Lower, rest.Upper, 0)
	if len(r.IntervalsBeside) != 1 || r.IntervalsBeside[0].Upper != corpus.Upper {
		t.Errorf("beside %+v, want the corpus's", r.IntervalsBeside)
	}

	// From the column alone, with the least probability declared: v is ¼ and 1, so the Hájek estimate is
	// (18·1 + 10·4)/(20·1 + 20·4) = .58.
	r = ruleOf(t, decide(t, "least_inclusion_probability: 0.25\n"+rule, body.String()))
	var values, weights []float64
	for i := range 40 {
		z, w := 0.0, 1.0
		if i < 20 {
			w = 0.25
		}
		if i < 18 || i >= 20 && i < 30 {
			z = 1
		}
		values, weights = append(values, z), append(weights, w)
	}
	want, err := interval.WeightedMixture(values, values, weights, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, r, report.Pass, want.Lower, want.Upper, 0)
	if *r.Estimate != 0.58 || r.Interval.Method != interval.MethodWeightedMixture || r.Completions.Low != 0.58 {
		t.Errorf("%s, estimate %v", r.Interval.Method, *r.Estimate)
	}

	// A draw of more than a hundred probabilities: weighed by its own least one. An item without a row is missing.
	var many, manyBody strings.Builder
	for i := range 101 {
		fmt.Fprintf(&many, "i%d,blind,0.%d\n", i, 200+i)
		if i > 0 {
			fmt.Fprintf(&manyBody, "i%d,ann,a,a,blind,,,,,,\n", i)
		}
	}
	r = ruleOf(t, decide(t, rule, manyBody.String(), many.String()))
	if r.Interval.Method != interval.MethodWeightedMixture || *r.Missing != 1 || *r.Denominator != 101 || *r.Estimate != 1 || r.Verdict != report.Pass {
		t.Errorf("%s: %s, estimate %v, %d missing of %d (%s)", r.Verdict, r.Interval.Method, *r.Estimate, *r.Missing, *r.Denominator, r.Reason)
	}

	for name, c := range map[string]struct{ policy, body string }{
		"nothing declared":          {rule, body.String()},
		"per person":                {"least_inclusion_probability: 0.25\nrules: [{id: r, metric: blind_agreement, minimum: 0.3, per: person}]", body.String()},
		"per label":                 {"least_inclusion_probability: 0.25\nrules: [{id: r, metric: blind_agreement, minimum: 0.3, per: label}]", body.String()},
		"one item without":          {"least_inclusion_probability: 0.25\n" + rule, body.String() + "x,ann,a,a,blind,,,,,,\n"},
		"several labels of an item": {"least_inclusion_probability: 0.25\nrules: [{id: r, metric: blind_agreement, minimum: 0.3, per: item}]", body.String() + "i0,bob,a,a,blind,,,1,,,\n"},
		"the gap":                   {"least_inclusion_probability: 0.25\nrules: [{id: r, metric: anchoring_gap, minimum: -1}]", body.String() + several("v", "ann", "visible", 20, 20, 0)},
	} {
		r := ruleOf(t, decide(t, c.policy, c.body))
		if r.Verdict != report.ManualReview || !strings.Contains(r.Reason, "unequal probabilities") {
			t.Errorf("%s: %s (%s), want MANUAL_REVIEW", name, r.Verdict, r.Reason)
		}
	}
	r = ruleOf(t, decide(t, "looks: repeated\nleast_inclusion_probability: 0.25\n"+rule, body.String()))
	if r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, "one look only") {
		t.Errorf("repeated looks: %s (%s)", r.Verdict, r.Reason)
	}
	// Of a slice neither the sizes of batches nor independent draws are known.
	r = ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.3, where: {site: Lyon}}]", strings.ReplaceAll(body.String(), ",,,\n", ",,,Lyon\n"), draw.String()))
	if r.Verdict != report.ManualReview {
		t.Errorf("a slice of batches: %s (%s)", r.Verdict, r.Reason)
	}
	// Equal probabilities change nothing.
	even := strings.ReplaceAll(strings.ReplaceAll(body.String(), ",1,,,", ",0.5,,,"), ",0.25,,,", ",0.50,,,")
	r = ruleOf(t, decide(t, rule, even))
	if r.Interval.Method != interval.MethodClopperPearson || r.Verdict != report.Pass {
		t.Errorf("equal: %s by %s", r.Verdict, r.Interval.Method)
	}
}

// TestLooks: repeated looks take the 0/1 sequence, a planned number Dirichlet, which on one label an item is exact at the
// planned number: absent items count both ways. With more than planned a person decides.
func TestLooks(t *testing.T) {
	body := several("i", "ann", "blind", 30, 30, 0)
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.8, looks: repeated}]", body))
	if r.Interval.Method != interval.MethodUniformMixture || r.Interval.Looks != interval.LooksAny {
		t.Errorf("repeated: %s, %s", r.Interval.Method, r.Interval.Looks)
	}
	want, err := interval.ClopperPearson(30, 10, 40, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	r = ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.8, looks: once, planned: 40}]", body))
	wants(t, r, report.InsufficientEvidence, want.Lower, want.Upper, 1e-9)
	r = ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.5, looks: once, planned: 29}]", body))
	if r.Verdict != report.ManualReview || !strings.Contains(r.Reason, "30 are enrolled where 29 were planned") {
		t.Errorf("more than planned: %s (%s)", r.Verdict, r.Reason)
	}
}

// TestSlices: a rule's `where` keeps items, of which one row need tell the value; what is seen is told from the whole history;
// items without the column are left out.
func TestSlices(t *testing.T) {
	body := several("b", "ann", "blind", 20, 20, 0)
	body = strings.ReplaceAll(body, ",,,,,,\n", ",,,,,,Lyon\n") + "x,ann,a,a,visible,,,,,,\nx,ann,a,a,blind,,,,,,Lyon\ny,ann,a,a,blind,,,,,,Paris\n" + several("p", "ann", "blind", 30, 0, 0)
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.5, max_left_out: 0.6, where: {site: Lyon}}]", body))
	if r.Verdict != report.Pass || *r.Numerator != 20 || *r.Denominator != 21 || *r.Missing != 1 || r.Labels["where"] != "site=Lyon" {
		t.Errorf("%s: %d of %d, %d missing, labels %v (%s)", r.Verdict, *r.Numerator, *r.Denominator, *r.Missing, r.Labels, r.Reason)
	}
	if len(r.LeftOut) != 1 || r.LeftOut[0].Count != 30 {
		t.Errorf("left out %v, want the 30 without a site", r.LeftOut)
	}
	if r.Assumptions[len(r.Assumptions)-1] != gate.SliceAssumption {
		t.Errorf("assumptions %q", r.Assumptions)
	}
	r = ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.5, where: {site: Rome}}]", strings.ReplaceAll(body, "Paris", "Lyon")))
	if r.Verdict != report.InsufficientEvidence || r.Reason != `Nothing was evaluated: no row has "Rome" in the column "site", which holds "Lyon".` {
		t.Errorf("%s (%s)", r.Verdict, r.Reason)
	}
}

// TestMarkersOfMissingValues: labels that look like "not recorded" are a finding, and turn a verdict only where it would be
// another without them.
func TestMarkersOfMissingValues(t *testing.T) {
	body := several("b", "ann", "blind", 40, 28, 0) + strings.ReplaceAll(several("n", "ann", "blind", 20, 0, 0), ",b,blind", ",N/A,blind")
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.7}]", body))
	if r.Verdict != report.ManualReview || !strings.Contains(r.Reason, `20 labels are "N/A", which no suggestion equals`) {
		t.Errorf("%s (%s)", r.Verdict, r.Reason)
	}
	g := decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.2}]", body)
	if g.Rules[0].Verdict != report.Pass || finding(g, "likely_missing") == nil {
		t.Errorf("%s (%s)", g.Rules[0].Verdict, g.Rules[0].Reason)
	}
	r = ruleOf(t, decide(t, "missing_values: [N/A]\nrules: [{id: r, metric: blind_agreement, minimum: 0.7}]", body))
	if r.Verdict != report.InsufficientEvidence || *r.Missing != 20 {
		t.Errorf("listed as missing: %s, %d missing", r.Verdict, *r.Missing)
	}
}

// TestNothingEvaluated: without a blind row, without a suggestion or without an acceptance recorded, a rule is undecided
// whatever its threshold.
func TestNothingEvaluated(t *testing.T) {
	shown := several("v", "ann", "visible", 30, 30, 0)
	for _, c := range []struct{ metric, body, says string }{
		{"blind_agreement", shown, "Nothing was evaluated: blind_agreement has no recorded label to count."},
		{"blind_agreement", strings.ReplaceAll(several("b", "ann", "blind", 30, 30, 0), ",ann,a,", ",ann,,"), "Nothing was evaluated: 30 rows record no suggestion to compare the label with."},
		{"acceptance_rate", shown, "Nothing was evaluated: no row records whether the suggestion was accepted."},
		{"verify_acceptance", shown, "Nothing was evaluated: verify_acceptance has no recorded label to count."},
		{"people_agreement", several("b", "ann", "blind", 30, 30, 0), "Nothing was evaluated: no item was labelled blind by two or more people."},
	} {
		r := ruleOf(t, decide(t, "minimum_blind_sample: 1\nrules: [{id: r, metric: "+c.metric+", minimum: 0}]", c.body))
		if r.Verdict != report.InsufficientEvidence || r.Reason != c.says || r.Estimate != nil {
			t.Errorf("%s: %s (%s), estimate %v", c.metric, r.Verdict, r.Reason, r.Estimate)
		}
	}
}

// TestCorpusNeedsItems: the size of a corpus is for items with one label each.
func TestCorpusNeedsItems(t *testing.T) {
	body := several("a", "p1", "blind", 20, 20, 0) + several("b", "p2", "blind", 20, 20, 0)
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.1, corpus_size: 100}]", body))
	if r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, "add `per: item`") {
		t.Errorf("%s (%s)", r.Verdict, r.Reason)
	}
	r = ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.8, corpus_size: 100, per: item}]", body))
	if r.Verdict != report.Pass || r.Interval.Method != interval.MethodHypergeometric {
		t.Errorf("%s (%s) by %s", r.Verdict, r.Reason, r.Interval.Method)
	}
	r = ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.1, corpus_size: 100, per: item}]", body+labelled("a0", "p2", "a", "blind")))
	if r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, "1 item has several blind labels") {
		t.Errorf("%s (%s)", r.Verdict, r.Reason)
	}
	// The section's size does not stand in the way of a rule about people.
	r = ruleOf(t, decide(t, "corpus_size: 100\nrules: [{id: r, metric: blind_agreement, minimum: 0.01, per: person}]", body)) // with two annotators the lower end is at most .11
	if r.Verdict != report.Pass || r.Interval.Method != interval.MethodUniformMixture {
		t.Errorf("%s (%s) by %s", r.Verdict, r.Reason, r.Interval.Method)
	}
}

// TestNeedsOfACorpus: of a corpus of 2,000, 88 of 100 drawn agree. What is said to be needed decides, a tenth less does not;
// where so many would have to be drawn that nothing rests, that is said.
func TestNeedsOfACorpus(t *testing.T) {
	const rule = "corpus_size: 2000\nrules: [{id: r, metric: blind_agreement, minimum: 0.85}]"
	r := ruleOf(t, decide(t, rule, several("i", "ann", "blind", 100, 88, 0)))
	if r.Verdict != report.InsufficientEvidence || r.Needs == nil || r.Needs.What != "items in a new draw of blind ones" {
		t.Fatalf("%s, needs %+v", r.Verdict, r.Needs)
	}
	for n, want := range map[int]report.Verdict{r.Needs.AtLeast: report.Pass, r.Needs.AtLeast * 9 / 10: report.InsufficientEvidence} {
		if got := ruleOf(t, decide(t, rule, several("i", "ann", "blind", n, int(math.Round(0.88*float64(n))), 0))); got.Verdict != want {
			t.Errorf("with %d: %s, want %s", n, got.Verdict, want)
		}
	}
	r = ruleOf(t, decide(t, "corpus_size: 110\nrules: [{id: r, metric: blind_agreement, minimum: 0.87}]", several("i", "ann", "blind", 100, 88, 0)))
	if r.Verdict != report.InsufficientEvidence || r.Needs == nil || !strings.HasPrefix(r.Needs.What, "a larger corpus") {
		t.Errorf("%s, needs %+v", r.Verdict, r.Needs)
	}
}

// TestLostLabelInACorpus: an item with a blind label of its own, and a row marked blind after its suggestion was seen: among
// comparisons that is one more, missing; among the items drawn from a corpus the item is the one that is missing.
func TestLostLabelInACorpus(t *testing.T) {
	body := several("i", "ann", "blind", 30, 30, 0)
	body = strings.Replace(body, "i0,ann,a,a,blind,,,,,,\n", "i0,ann,a,a,blind,,,,,1700000001,\ni0,ann,a,a,visible,,,,,1700000002,\ni0,ann,a,a,blind,,,,,1700000003,\n", 1)
	for size, want := range map[string][3]int{"": {30, 31, 1}, "corpus_size: 100\n": {29, 30, 1}} {
		r := ruleOf(t, decide(t, size+"rules: [{id: r, metric: blind_agreement, minimum: 0.5}]", body))
		if got := [3]int{*r.Numerator, *r.Denominator, *r.Missing}; got != want || r.Verdict != report.Pass {
			t.Errorf("%q: %v, want %v; %s", size, got, want, r.Verdict)
		}
	}
}

// TestNeedsOfAGap: the present sides grown alike to the size that is told decide the rule, a tenth less do not; each form of the
// gap, where the interval holds at one look and where units may be added.
func TestNeedsOfAGap(t *testing.T) {
	twice := func(prefix, visibility string, n, agree int) string { // every item labelled by two people, who are of one mind
		return several(prefix, "p", visibility, n, agree, 0) + several(prefix, "q", visibility, n, agree, 0)
	}
	people := func(prefix, visibility string, n, agree int) (body string) { // one label each
		for i := range n {
			label := "b"
			if i < agree {
				label = "a"
			}
			body += labelled(fmt.Sprint(prefix, i), fmt.Sprint(prefix, i), label, visibility)
		}
		return body
	}
	one := func(prefix, visibility string, n, agree int) string {
		return several(prefix, "p", visibility, n, agree, 0)
	}
	for name, c := range map[string]struct {
		rule  string
		side  func(prefix, visibility string, n, agree int) string
		what  string
		grown func(present, told int) int // the size in all
		then  report.Verdict
	}{
		"exact":    {"maximum: 0.4", one, "items, blind and visible in all, in a new sample", func(_, n int) int { return n }, report.Pass},
		"as FAIL":  {"maximum: 0.1", one, "items, blind and visible in all, in a new sample, as FAIL at the present values", func(_, n int) int { return n }, report.Fail},
		"pairwise": {"minimum: 0.1, interval: pairwise", one, "items, blind and visible in all, in a new sample", func(_, n int) int { return n }, report.Pass},
		"repeated": {"maximum: 0.4, looks: repeated", one, "more items, blind and visible in all, at the present values", func(p, n int) int { return p + n }, report.Pass},
		"means":    {"minimum: 0.1, per: item", twice, "more items, blind and visible in all, at the present values", func(p, n int) int { return p + n }, report.Pass},
		"people":   {"maximum: 0.4", people, "more annotators, blind and visible in all, at the present values", func(p, n int) int { return p + n }, report.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			decided := func(times int) report.Rule { // whole multiples, so that the rates are the same
				return ruleOf(t, decide(t, "rules: [{id: r, metric: anchoring_gap, "+c.rule+"}]",
					c.side("b", "blind", 20*times, 14*times)+c.side("v", "visible", 40*times, 38*times)))
			}
			r := decided(1)
			if r.Verdict != report.InsufficientEvidence || r.Needs == nil || r.Needs.What != c.what {
				t.Fatalf("%s, needs %+v; want some number of %s", r.Verdict, r.Needs, c.what)
			}
			n := c.grown(60, r.Needs.AtLeast)
			if got := decided((n + 59) / 60); got.Verdict != c.then {
				t.Errorf("with %d in all: %s in [%v, %v], want %s", n, got.Verdict, *got.Interval.Lower, *got.Interval.Upper, c.then)
			}
			if got := decided(n * 9 / 10 / 60); got.Verdict != report.InsufficientEvidence {
				t.Errorf("with a tenth less than %d in all: %s already", n, got.Verdict)
			}
		})
	}
	// 14 of 20 and 38 of 40 are a quarter apart.
	for rule, want := range map[string]report.Needs{
		"maximum: 0.25":   {What: "other data: at the present values no number of items would decide"},
		"maximum: 0.2501": {What: "more than 1000000 items, blind and visible in all"},
	} {
		r := ruleOf(t, decide(t, "rules: [{id: r, metric: anchoring_gap, "+rule+"}]", one("b", "blind", 20, 14)+one("v", "visible", 40, 38)))
		if r.Needs == nil || *r.Needs != want {
			t.Errorf("%s: needs %+v, want %+v", rule, r.Needs, want)
		}
	}
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: anchoring_gap, maximum: 0.25}]", several("b", "p", "blind", 24, 16, 2)+one("v", "visible", 40, 38)))
	const form = "what is missing to be recorded: with as much of it missing, no number of items would decide; recorded, it does not decide the rule by itself: it then takes at best about %d items, blind and visible in all, in a new sample (as FAIL at best about %d)"
	var passes, fails int
	if r.Needs == nil {
		t.Fatal("nothing is needed")
	}
	if _, err := fmt.Sscanf(r.Needs.What, form, &passes, &fails); err != nil {
		t.Fatalf("needs %+v: %v", r.Needs, err)
	}
	// The missing two agree, so that the gap is smallest, or do not: copies of these 64 items up to the size that is told, and below it.
	for agree, c := range map[int]struct {
		size int
		then report.Verdict
	}{18: {passes, report.Pass}, 16: {fails, report.Fail}} {
		for times, want := range map[int]report.Verdict{(c.size + 63) / 64: c.then, c.size * 9 / 10 / 64: report.InsufficientEvidence} {
			got := ruleOf(t, decide(t, "rules: [{id: r, metric: anchoring_gap, maximum: 0.25}]", several("b", "p", "blind", 24*times, agree*times, 0)+one("v", "visible", 40*times, 38*times)))
			if got.Verdict != want {
				t.Errorf("%d of 24 agree, %d items: %s, want %s", agree, 64*times, got.Verdict, want)
			}
		}
	}
}

// TestLargerCorpus: a corpus of the size that is told, half of it labelled blind at the present rate, decides; one of three quarters of
// that does not.
func TestLargerCorpus(t *testing.T) {
	decided := func(size, drawn, agree int) report.Rule {
		return ruleOf(t, decide(t, fmt.Sprintf("corpus_size: %d\nrules: [{id: r, metric: blind_agreement, minimum: 0.75}]", size), several("b", "p", "blind", drawn, agree, 0)))
	}
	r := decided(80, 40, 33)
	var size int
	if r.Verdict != report.InsufficientEvidence || r.Needs == nil {
		t.Fatalf("%s, needs %+v", r.Verdict, r.Needs)
	}
	if _, err := fmt.Sscanf(r.Needs.What, "a larger corpus, such as one of about %d items like these, half of them labelled blind:", &size); err != nil || r.Needs.AtLeast != 0 {
		t.Fatalf("needs %+v: %v", r.Needs, err)
	}
	upTo := (size + 79) / 80 * 80
	if got := decided(upTo, upTo/2, upTo/2*33/40); got.Verdict != report.Pass {
		t.Errorf("a corpus of %d: %s", upTo, got.Verdict)
	}
	fewer := size * 3 / 4 / 80 * 80
	if got := decided(fewer, fewer/2, fewer/2*33/40); got.Verdict != report.InsufficientEvidence {
		t.Errorf("a corpus of %d: %s already", fewer, got.Verdict)
	}
}

// TestFormsInTheReport: over people, then over items, and over labels only where no annotator and no item repeats; a rule can ask
// for any.
func TestFormsInTheReport(t *testing.T) {
	forms := func(body string) (list []string) {
		for _, m := range ask(t, run{verb: gate.Report, labels: header + body}).Measures {
			if m.Labels["per"] != "" {
				list = append(list, m.Metric+" "+m.Labels["per"])
			}
		}
		return list
	}
	rates := func(per string) []string {
		return []string{blindAgreement + " " + per, visibleAgreement + " " + per, anchoringGap + " " + per}
	}
	once, again := "", ""
	for i := range 12 {
		who, visibility := fmt.Sprint("p", i), []string{"blind", "visible"}[i%2]
		once += labelled(fmt.Sprint("i", i), who, "a", visibility)
		again += labelled(fmt.Sprint("j", i), who, "a", visibility)
	}
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"each once":        {once, slices.Concat(rates("person"), rates("item"), rates("label"))},
		"people repeat":    {once + again, slices.Concat(rates("person"), rates("item"))},
		"one side repeats": {once + labelled("more", "p0", "a", "blind"), slices.Concat(rates("person"), rates("item"), []string{visibleAgreement + " label"})},
		"one annotator":    {several("b", "p", "blind", 6, 6, 0) + several("v", "p", "visible", 6, 6, 0), rates("item")},
	} {
		if got := forms(c.body); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	r := ruleOf(t, decide(t, "minimum_blind_sample: 5\nrules: [{id: r, metric: blind_agreement, minimum: 0.1, per: label}]", once+again))
	if r.Verdict != report.ManualReview || *r.Denominator != 12 {
		t.Errorf("%s of %d labels, want MANUAL_REVIEW of 12", r.Verdict, *r.Denominator)
	}
}

// TestAssumptionsOnce: what several rules rest on alike are equal sentences, so that each can be listed once.
func TestAssumptionsOnce(t *testing.T) {
	g := decide(t, "rules: [{id: a, metric: blind_agreement, minimum: 0.5}, {id: b, metric: anchoring_gap, maximum: 0.5}, {id: c, metric: blind_agreement, corpus_size: 100, minimum: 0.5}]",
		several("b", "p", "blind", 25, 24, 0)+several("v", "p", "visible", 25, 24, 0))
	count := map[string]int{}
	for _, r := range g.Rules {
		seen := map[string]bool{}
		for _, a := range r.Assumptions {
			if seen[a] || strings.Contains(a, ". ") {
				t.Errorf("rule %s: %q is there twice, or is several sentences", r.ID, a)
			}
			seen[a] = true
			count[a]++
		}
	}
	if n := count["Speaks of this annotator's labels, on items drawn as these were."]; n != 3 {
		t.Errorf("whom the rules speak of is said of %d of 3 rules: %v", n, count)
	}
}

// TestGapOfTwoForms: where one side has several labels an item and the other one, each is taken in its own form: the visible one
// as a mean over items, the blind one exactly, both at half of the error.
func TestGapOfTwoForms(t *testing.T) {
	body := several("b", "ann", "blind", 20, 15, 0) + several("v", "ann", "visible", 20, 18, 0) + "w,ann,a,a,visible,,,,,1700000001,\nw,ann,a,b,visible,,,,,1700000002,\n"
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: anchoring_gap, maximum: 0.9}]", body))
	blind, err := interval.ClopperPearson(15, 0, 20, 0.975)
	if err != nil {
		t.Fatal(err)
	}
	values := append(slices.Concat(slices.Repeat([]float64{1}, 18), []float64{0, 0}), 0.5)
	visible, err := interval.UniformMixture(values, values, interval.Unit, 0.975)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, r, report.Pass, visible.Lower-blind.Upper, visible.Upper-blind.Lower, 2e-10)
	if r.Interval.Looks != interval.LooksOne || *r.Units != 41 || !strings.HasPrefix(r.Conditions, "Of the blind side: Exact for independent items") {
		t.Errorf("looks %s, %d units: %s", r.Interval.Looks, *r.Units, r.Conditions)
	}
	// The estimate is that of the means: (18 + 1/2)/21 − 15/20.
	if math.Abs(*r.Estimate-(18.5/21-0.75)) > 1e-15 {
		t.Errorf("estimate %v", *r.Estimate)
	}
}

// TestAcceptanceNotRecorded: acceptance_rate is over the rows that record it; the others are told, and max_left_out is not about
// them.
func TestAcceptanceNotRecorded(t *testing.T) {
	body := ""
	for i := range 40 {
		body += fmt.Sprintf("i%d,ann,a,a,visible,,%s,,,,\n", i, []string{"1", ""}[i%2])
	}
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: acceptance_rate, minimum: 0.8}]", body))
	// 20 of 20: .025^(1/20) = .8316 (testdata/oracle/README.md, 01).
	wants(t, r, report.Pass, 0.8316, 1, 0.00005)
	if len(r.LeftOut) != 1 || r.LeftOut[0] != (report.LeftOut{Reason: "accepted not recorded", Count: 20}) {
		t.Errorf("left out %v", r.LeftOut)
	}
}

// TestRelabellingIsAUnit: where items have several labels, a relabelling marked blind is one more unit of the mean, from 0 to 1,
// and leaves the item's own agreement as it was.
func TestRelabellingIsAUnit(t *testing.T) {
	body := several("i", "p", "blind", 25, 25, 0) + several("i", "q", "blind", 25, 25, 0) + // and on one more item p disagrees, and labels again
		labelled("x", "q", "a", "blind") + labelled("x", "p", "b", "blind") + labelled("x", "p", "a", "blind")
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.5, per: item}]", body))
	if *r.Units != 27 || *r.Missing != 1 || *r.Estimate != 25.5/26 || *r.Completions != (report.Completions{Low: 25.5 / 27, High: 26.5 / 27}) {
		t.Errorf("%d units, %d missing, estimate %v, completions %v; want 27, 1, %v, from %v to %v", *r.Units, *r.Missing, *r.Estimate, *r.Completions, 25.5/26, 25.5/27, 26.5/27)
	}
	// Of one annotator, pooled labels are as exact as items are: 25 of 27, one missing.
	alone := several("i", "p", "blind", 25, 25, 0) + labelled("x", "p", "b", "blind") + labelled("x", "p", "a", "blind")
	for _, per := range []string{"item", "label"} {
		r := ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.5, per: "+per+"}]", alone))
		if r.Verdict != report.Pass || *r.Numerator != 25 || *r.Denominator != 27 || r.Interval.Method != interval.MethodClopperPearson {
			t.Errorf("per %s: %s (%s), %d of %d by %s", per, r.Verdict, r.Reason, *r.Numerator, *r.Denominator, r.Interval.Method)
		}
	}
}
