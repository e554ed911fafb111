package fairness

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// exactly writes a number as the decimal that it is printed as.
func exactly(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// step moves a number by so many multiples of 1e-10, or of its tenth digit where it has more decimals.
func step(x float64, by int) string {
	text := exactly(x)
	_, fraction, _ := strings.Cut(text, ".")
	places := max(10, len(fraction))
	n, _ := strconv.ParseInt(strings.Replace(strconv.FormatFloat(x, 'f', places, 64), ".", "", 1), 10, 64)
	digits := fmt.Sprintf("%0*d", places+1, n+int64(by))
	return digits[:len(digits)-places] + "." + digits[len(digits)-places:]
}

// TestAtTheThreshold: each kind of rule passes where its end equals the threshold as printed, and not a step beyond; and fails
// a step beyond the other end, not at it.
func TestAtTheThreshold(t *testing.T) {
	// 40 of 100 and 70 of 100 events: far enough apart for a gap and a ratio that are surely not 0 and 1.
	file := cases("label,prediction,sex", 40, "1,0,female", 60, "1,1,female", 70, "1,0,male", 30, "1,1,male")
	verdict := func(rule string) report.Verdict {
		return ruleOf(t, decide(t, bySex("rate: false_negative, "+rule), file)).Verdict
	}
	gap := ruleOf(t, decide(t, bySex("rate: false_negative, max_group_gap: 0.3"), file)).Interval
	floor := ruleOf(t, decide(t, bySex("rate: false_negative, worst_group: {minimum: 0.4}"), file)).Interval
	ceiling := ruleOf(t, decide(t, bySex("rate: false_negative, worst_group: {maximum: 0.7}"), file)).Interval
	pair := ruleOf(t, decide(t, bySex("rate: false_negative, max_group_gap: 0.3, interval: pairwise"), file)).Interval
	for _, c := range []struct {
		rule string
		at   float64
		by   int
		want report.Verdict
	}{
		{"max_group_gap: %s", *gap.Upper, 0, report.Pass},
		{"max_group_gap: %s", *gap.Upper, -1, report.InsufficientEvidence},
		{"max_group_gap: %s", *gap.Lower, 0, report.InsufficientEvidence},
		{"max_group_gap: %s", *gap.Lower, -1, report.Fail},
		{"worst_group: {minimum: %s}", *floor.Lower, 0, report.Pass},
		{"worst_group: {minimum: %s}", *floor.Lower, 1, report.InsufficientEvidence},
		{"worst_group: {minimum: %s}", *floor.Upper, 0, report.InsufficientEvidence},
		{"worst_group: {minimum: %s}", *floor.Upper, 1, report.Fail},
		{"worst_group: {maximum: %s}", *ceiling.Upper, 0, report.Pass},
		{"worst_group: {maximum: %s}", *ceiling.Upper, -1, report.InsufficientEvidence},
		{"worst_group: {maximum: %s}", *ceiling.Lower, 0, report.InsufficientEvidence},
		{"worst_group: {maximum: %s}", *ceiling.Lower, -1, report.Fail},
		{"max_group_gap: %s, interval: pairwise", *pair.Upper, 0, report.Pass},
		{"max_group_gap: %s, interval: pairwise", *pair.Upper, -1, report.InsufficientEvidence},
		{"max_group_gap: %s, interval: pairwise", *pair.Lower, 0, report.InsufficientEvidence},
		{"max_group_gap: %s, interval: pairwise", *pair.Lower, -1, report.Fail},
	} {
		rule := fmt.Sprintf(c.rule, step(c.at, c.by))
		if got := verdict(rule); got != c.want {
			t.Errorf("%s (%d steps from %v): %s, want %s", rule, c.by, c.at, got, c.want)
		}
	}
}

// TestRatioAtTheThreshold: ratios are decided by products of the groups' ends, .4 = .8 × .5 among them, which has no exact
// quotient in binary. Where all of both groups are events, the upper ends are 1 and the ratio's lower end is a rate's.
func TestRatioAtTheThreshold(t *testing.T) {
	at := func(threshold float64, p, q interval.Interval) report.Verdict {
		c := contest{bounds: &bounds{threshold: report.Threshold{Kind: report.MinGroupRatio, Value: threshold}}, rates: []interval.Interval{p, q}}
		return c.compare(0, 1, interval.Interval{})
	}
	for _, c := range []struct {
		threshold float64
		p, q      interval.Interval
		want      report.Verdict
	}{
		{0.8, interval.Interval{Lower: 0.4, Upper: 0.45}, interval.Interval{Lower: 0.45, Upper: 0.5}, report.Pass}, // .4 >= .8·.5
		{0.8, interval.Interval{Lower: 0.3999999999, Upper: 0.45}, interval.Interval{Lower: 0.45, Upper: 0.5}, report.InsufficientEvidence},
		{0.8, interval.Interval{Lower: 0.3, Upper: 0.4}, interval.Interval{Lower: 0.5, Upper: 0.6}, report.InsufficientEvidence}, // .4 < .8·.5 does not hold
		{0.8, interval.Interval{Lower: 0.3, Upper: 0.3999999999}, interval.Interval{Lower: 0.5, Upper: 0.6}, report.Fail},
		{0.1, interval.Interval{Lower: 0.03, Upper: 0.3}, interval.Interval{Lower: 0.1, Upper: 0.3}, report.Pass}, // .03 >= .1·.3, where binary .1·.3 is above .03
		{0.8, interval.Interval{Lower: 0, Upper: 0.1}, interval.Interval{Lower: 0, Upper: 0.1}, report.InsufficientEvidence},
	} {
		if got := at(c.threshold, c.p, c.q); got != c.want {
			t.Errorf("%v and %v at %v: %s, want %s", c.p, c.q, c.threshold, got, c.want)
		}
		if got := at(c.threshold, c.q, c.p); got != c.want {
			t.Errorf("swapped, %v and %v at %v: %s, want %s", c.q, c.p, c.threshold, got, c.want)
		}
	}
	file := cases("label,prediction,sex", 40, "1,1,female", 50, "1,1,male")
	r := ruleOf(t, decide(t, bySex("rate: selection, min_group_ratio: 0.5"), file))
	for by, want := range map[int]report.Verdict{0: report.Pass, 1: report.InsufficientEvidence} {
		if got := ruleOf(t, decide(t, bySex("rate: selection, min_group_ratio: "+step(*r.Interval.Lower, by)), file)).Verdict; got != want {
			t.Errorf("%d steps from %v: %s, want %s", by, *r.Interval.Lower, got, want)
		}
	}
}

// TestOrderOfVerdicts: more than max_left_out decides first, then a FAIL by full-size groups, then a small group, then the
// comparison (details 1).
func TestOrderOfVerdicts(t *testing.T) {
	declared := func(rule string) string {
		return "attributes: {sex: [female, male, other]}\nrules:\n  - {id: a, rate: false_negative, attribute: sex, " + rule + "}\n"
	}
	far := []any{200, "1,0,female", 200, "1,1,male"}
	alike := []any{200, "1,1,female", 200, "1,1,male"}
	with := func(list []any, more ...any) string {
		return cases("label,prediction,sex", append(append([]any{}, list...), more...)...)
	}
	for _, c := range []struct {
		name, rule, file string
		want             report.Verdict
	}{
		{"far apart", "max_group_gap: 0.1", with(far, 200, "1,1,other"), report.Fail},
		{"far apart, another group small", "max_group_gap: 0.1", with(far, 29, "1,1,other"), report.Fail},
		{"far apart, another group empty", "max_group_gap: 0.1", with(far), report.Fail},
		{"far apart, more than 10 % left out", "max_group_gap: 0.1", with(far, 45, "1,1,"), report.InsufficientEvidence},
		{"alike, a group small", "max_group_gap: 0.9", with(alike, 29, "1,1,other"), report.InsufficientEvidence},
		{"alike, a group of 30", "max_group_gap: 0.9", with(alike, 30, "1,1,other"), report.Pass},
		{"alike, a group empty, no gap asked for", "max_group_gap: 1", with(alike), report.InsufficientEvidence},
		{"a small group far apart takes no part in a FAIL", "max_group_gap: 0.1", with(alike, 29, "1,0,other"), report.InsufficientEvidence},
		{"a large group far apart", "max_group_gap: 0.1", with(alike, 30, "1,0,other"), report.Fail},
		{"missing predictions do not count toward min_cell", "max_group_gap: 0.99", with(alike, 29, "1,1,other", 50, "1,,other"), report.InsufficientEvidence},
		{"other labels do not count toward min_cell", "max_group_gap: 0.9", with(alike, 29, "1,1,other", 50, "0,1,other"), report.InsufficientEvidence},
		{"a floor missed, another group empty", "worst_group: {maximum: 0.5}", with(far), report.Fail},
		{"a floor kept, another group empty", "worst_group: {maximum: 0.5}", with(alike), report.InsufficientEvidence},
		{"a floor missed in a small group only", "worst_group: {maximum: 0.5}", with(alike, 29, "1,0,other"), report.InsufficientEvidence},
		{"a ratio missed, another group empty", "min_group_ratio: 0.8", with([]any{200, "1,0,female", 20, "1,0,male", 180, "1,1,male"}), report.Fail},
		{"no events anywhere: a ratio of 0 and 0", "min_group_ratio: 0.8", with(alike, 200, "1,1,other"), report.InsufficientEvidence},
	} {
		g := decide(t, declared(c.rule), c.file)
		if r := ruleOf(t, g); r.Verdict != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, r.Verdict, r.Reason, c.want)
		}
	}
	// With too much left out no group and no pair has a verdict either.
	for _, rule := range []string{"max_group_gap: 0.1", "min_group_ratio: 0.8", "worst_group: {maximum: 0.5}"} {
		r := ruleOf(t, decide(t, declared(rule), with(far, 200, "1,1,other", 70, "1,1,")))
		for _, c := range r.Cells {
			if c.Verdict != report.InsufficientEvidence || c.Reason == "" {
				t.Errorf("%s: %v is %s, %q", rule, c.Labels, c.Verdict, c.Reason)
			}
		}
		for _, p := range r.Pairs {
			if p.Verdict != report.InsufficientEvidence {
				t.Errorf("%s: %v is %s", rule, p.Groups, p.Verdict)
			}
		}
	}
	// Exactly max_left_out is still decided: 40 of 400 at .10, and of a share that binary cannot hold, 3 of 30 at .1.
	file := with([]any{200, "1,0,female", 160, "1,1,male", 40, "1,1,"})
	if r := ruleOf(t, decide(t, bySex("rate: false_negative, max_group_gap: 0.1"), file)); r.Verdict != report.Fail {
		t.Errorf("exactly 10 %% left out: %s", r.Verdict)
	}
	if r := ruleOf(t, decide(t, bySex("rate: false_negative, max_group_gap: 0.1, max_left_out: 0.0999"), file)); r.Verdict != report.InsufficientEvidence ||
		r.Needs == nil || r.Needs.AtLeast != 1 { // .0999 × 400 = 39.96: one of the 40 would have to be recorded
		t.Errorf("just over what may be left out: %s, needs %+v", r.Verdict, r.Needs)
	}
}

// TestCellsAndPairs: each group's and each pair's own verdict, and the rule's measure, by hand from the groups' intervals.
func TestCellsAndPairs(t *testing.T) {
	declared := "attributes: {region: [north, east, south, west]}\nrules:\n  - {id: a, rate: selection, attribute: region, max_group_gap: 0.2}\n"
	file := cases("label,prediction,region", 500, "0,1,north", 450, "0,1,east", 50, "0,0,east", 250, "0,1,south", 250, "0,0,south", 9, "0,1,west", 20, "0,0,west")
	r := ruleOf(t, decide(t, declared, file))
	verdicts := map[string]report.Verdict{}
	bound := map[string]interval.Interval{}
	for _, c := range r.Cells {
		verdicts[c.Labels["group"]] = c.Verdict
		bound[c.Labels["group"]] = interval.Interval{Lower: *c.Interval.Lower, Upper: *c.Interval.Upper}
	}
	// north is 1, east .9, south .5: north and east are within .2 of each other, and both far from south. west has 29 cases.
	want := map[string]report.Verdict{"north": report.Fail, "east": report.Fail, "south": report.Fail, "west": report.InsufficientEvidence}
	if diff := cmp.Diff(want, verdicts); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	pairs := map[[2]string]report.Verdict{}
	for i, p := range r.Pairs {
		pairs[p.Groups] = p.Verdict
		gap := interval.GroupGap(bound[p.Groups[0]], bound[p.Groups[1]], 0.95)
		if *p.Interval.Lower != gap.Lower || *p.Interval.Upper != gap.Upper {
			t.Errorf("%v: %v to %v, want %v", p.Groups, *p.Interval.Lower, *p.Interval.Upper, gap)
		}
		if i > 0 && *p.Interval.Upper > *r.Pairs[i-1].Interval.Upper {
			t.Errorf("%v comes after a pair that is surely nearer", p.Groups)
		}
	}
	small := report.InsufficientEvidence
	wantPairs := map[[2]string]report.Verdict{{"north", "east"}: report.Pass, {"north", "south"}: report.Fail, {"east", "south"}: report.Fail,
		{"north", "west"}: small, {"east", "west"}: small, {"south", "west"}: small}
	if diff := cmp.Diff(wantPairs, pairs); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
	// The estimate is north's 1 − west's 9/29; the lower end that of full-size groups, north and south; the upper of north and west.
	lower := interval.GroupGap(bound["north"], bound["south"], 0.95).Lower
	upper := interval.GroupGap(bound["north"], bound["west"], 0.95).Upper
	if *r.Estimate != 20./29 || *r.Interval.Lower != lower || *r.Interval.Upper != upper || *r.Numerator != 1209 || *r.Denominator != 1529 || r.Verdict != report.Fail {
		t.Errorf("%s: %v, %v to %v, %d of %d; want FAIL, 20/29, %v to %v, 1209 of 1529", r.Verdict, *r.Estimate, *r.Interval.Lower, *r.Interval.Upper, *r.Numerator, *r.Denominator, lower, upper)
	}
	if !strings.Contains(r.Cells[3].Reason, "29 of the 30 cases with a prediction") || r.Cells[0].Reason != "" {
		t.Errorf("reasons %q, %q", r.Cells[3].Reason, r.Cells[0].Reason)
	}
	if r.Interval.Method != interval.MethodBonferroni || r.Interval.Confidence != 0.95 || r.Cells[0].Interval.Confidence != 1-(1-0.95)/4 {
		t.Errorf("interval %+v, a cell's %+v", r.Interval, r.Cells[0].Interval)
	}
}

// TestLeftOut: which cases a rule leaves out, each under its first reason, and of which total.
func TestLeftOut(t *testing.T) {
	declared := "missing_values: [NA]\nattributes: {sex: [female, male], age: {bins: [30]}}\nintersections: [[sex, age]]\nmin_cell: 1\nrules:\n" +
		"  - {id: own, rate: error, attribute: sex, max_group_gap: 1, max_left_out: 1}\n" +
		"  - {id: crossed, rate: error, attribute: [age, sex], max_group_gap: 1, max_left_out: 1}\n" +
		"  - {id: no-label, rate: selection, attribute: sex, max_group_gap: 1, max_left_out: 1}\n" +
		"  - {id: slice, rate: selection, attribute: sex, max_group_gap: 1, max_left_out: 1, where: {region: north, age: under_30}}\n"
	file := cases("label,prediction,sex,age,region",
		50, "1,1,female,20,north", 50, "1,1,male,30,north", 50, "1,1,female,40,south", 50, "1,1,male,29.9,north",
		1, "1,1,,20,north", 2, "1,1,other,20,north", 4, ",1,female,20,north", 8, ",1,NA,,north", 16, "1,1,other,,", 32, "1,1,male,,south", 64, "1,,male,20,NA")
	g := decide(t, declared, file)
	for i, want := range [][]report.LeftOut{
		{{Reason: "sex is empty", Count: 9}, {Reason: "sex is not a declared value", Count: 18}, {Reason: "the label is empty", Count: 4}},
		// In the order of the crossing, sex before age; the 4 without a label have both attributes.
		{{Reason: "sex is empty", Count: 9}, {Reason: "sex is not a declared value", Count: 18}, {Reason: "age is empty", Count: 32}, {Reason: "the label is empty", Count: 4}},
		{{Reason: "sex is empty", Count: 9}, {Reason: "sex is not a declared value", Count: 18}},
		// The slice: of the file's 327 cases, 50 south with 40, 32 south without an age and 50 of 30 are surely outside. 8 + 16 + 64 may be
		// inside; of those inside, 1 has no sex and 2 another one.
		{{Reason: "a column of where is empty", Count: 88}, {Reason: "sex is empty", Count: 1}, {Reason: "sex is not a declared value", Count: 2}},
	} {
		if diff := cmp.Diff(want, g.Rules[i].LeftOut); diff != "" {
			t.Errorf("%s (-want +got):\n%s", g.Rules[i].ID, diff)
		}
	}
	if r := g.Rules[1]; r.Labels["attribute"] != "sex × age" || r.Cells[1].Labels["group"] != "female × over_30" || *r.Cells[1].Denominator != 50 {
		t.Errorf("crossed: %v, %v, %d", r.Labels, r.Cells[1].Labels, *r.Cells[1].Denominator)
	}
	if r := g.Rules[3]; r.Labels["where"] != "region=north, age=under_30" || *r.Denominator != 104 { // 50 + 50 + 4
		t.Errorf("slice: %v, %d", r.Labels, *r.Denominator)
	}
	// The total that max_left_out is a share of: those that hold and those that may, 104 + 88 + 3 = 195; 91 are left out, .4667 of them.
	for share, want := range map[string]report.Verdict{"0.4667": report.Pass, "0.4666": report.InsufficientEvidence} {
		text := strings.ReplaceAll(declared, "max_group_gap: 1, max_left_out: 1, where", "max_group_gap: 1, max_left_out: "+share+", where")
		if r := decide(t, text, file).Rules[3]; r.Verdict != want {
			t.Errorf("max_left_out %s of the slice: %s (%s), want %s", share, r.Verdict, r.Reason, want)
		}
	}
	if want := "91 of 195 cases are left out (88 because a column of where is empty, 1 because sex is empty and 2 because sex is not a declared value); the answer is about the others."; !strings.HasPrefix(g.Rules[3].Reason, want) {
		t.Errorf("reason %q, want it to begin with %q", g.Rules[3].Reason, want)
	}
	f := finding(g, "undeclared_values")
	if f == nil || f.Count != 18 || !strings.Contains(f.Message, `"other" in 18 cases`) {
		t.Errorf("undeclared values: %+v", f)
	}
}

// TestSurvives: whether a verdict survives the left-out cases at their worst (audit 5e), and that cases left out for their
// label stay in their group.
func TestSurvives(t *testing.T) {
	// Both groups of 200 are always right: the gap's upper end is 1 − .0125^(1/200) = .0217 with 2 groups.
	file := func(more ...any) string {
		return cases("label,prediction,sex", append([]any{200, "1,1,female", 200, "1,1,male"}, more...)...)
	}
	rule := bySex("rate: false_negative, max_group_gap: 0.05")
	for _, c := range []struct {
		name string
		file string
		want report.Verdict
	}{
		{"nothing left out", file(), report.NoVerdict},
		{"four surely right", file(4, "1,1,"), report.Pass},                  // failures everywhere: 0 of 204
		{"ten surely missed", file(10, "1,0,"), report.InsufficientEvidence}, // 10 of 210 in one group
		{"ten of label 0 do not count", file(10, "0,0,"), report.Pass},       // out whatever their group
		{"ten without a label that may be missed", file(10, ",0,female"), report.InsufficientEvidence},
		{"ten without a label that cannot be", file(10, ",1,female"), report.Pass},
	} {
		r := ruleOf(t, decide(t, rule, c.file))
		if r.Verdict != report.Pass || r.WithLeftOut != c.want {
			t.Errorf("%s: %s, with the left-out cases %s; want PASS, %s", c.name, r.Verdict, r.WithLeftOut, c.want)
		}
		switch same := "would be the same with the left-out cases at their worst"; c.want {
		case report.Pass:
			if !strings.Contains(r.Reason, same) {
				t.Errorf("%s: reason %q", c.name, r.Reason)
			}
		case report.InsufficientEvidence:
			if !strings.Contains(r.Reason, "does not survive the left-out cases: with them at their worst it would be INSUFFICIENT_EVIDENCE") {
				t.Errorf("%s: reason %q", c.name, r.Reason)
			}
		}
	}
	// A FAIL: 100 of 100 against 0 of 100. Twenty unknown ones of each kind do not undo it.
	r := ruleOf(t, decide(t, bySex("rate: false_negative, max_group_gap: 0.05"), cases("label,prediction,sex", 100, "1,0,female", 100, "1,1,male", 10, "1,0,", 10, "1,1,")))
	if r.Verdict != report.Fail || r.WithLeftOut != report.Fail {
		t.Errorf("%s, with the left-out cases %s", r.Verdict, r.WithLeftOut)
	}
	// An undecided rule says nothing of them.
	r = ruleOf(t, decide(t, bySex("rate: false_negative, max_group_gap: 0.01"), file(4, "1,1,")))
	if r.Verdict != report.InsufficientEvidence || r.WithLeftOut != report.NoVerdict {
		t.Errorf("%s, with the left-out cases %s", r.Verdict, r.WithLeftOut)
	}
}

// TestAttributeLostByTheHarmed is the audit's counterexample (5e): the missed cases of one group lose their attribute so often
// (53 %) that 5 % of the file is left out and the gap, truly .09, is gone. PASS comes out nearly always, and survives never.
func TestAttributeLostByTheHarmed(t *testing.T) {
	const groupSize, studies = 2000, 60
	rng := rand.New(rand.NewPCG(5, 14))
	passes, survives := 0, 0
	for range studies {
		missed := func(p float64) int {
			n := 0
			for range groupSize {
				if rng.Float64() < p {
					n++
				}
			}
			return n
		}
		a, b := missed(0.19), missed(0.10)
		lost := 0
		for range a {
			if rng.Float64() < 0.53 {
				lost++
			}
		}
		r := ruleOf(t, decide(t, bySex("rate: false_negative, max_group_gap: 0.05"), cases("label,prediction,sex",
			a-lost, "1,0,female", lost, "1,0,", groupSize-a, "1,1,female", b, "1,0,male", groupSize-b, "1,1,male")))
		if r.Verdict == report.Pass {
			passes++
			if r.WithLeftOut == report.Pass {
				survives++
			}
		}
		if r.WithLeftOut == report.Fail {
			t.Error("left-out cases at their worst made a FAIL")
		}
	}
	if passes < studies*8/10 || survives > 0 {
		t.Errorf("of %d studies %d pass and %d of them survive; want nearly all to pass and none to survive", studies, passes, survives)
	}
}

// TestLabelsOfTheApprovedOnly is the audit's 5d: labels are seen for cases that were predicted 1 only, so that the rate of
// missed ones looks like 0 while it is .40. Such cases count as left out.
func TestLabelsOfTheApprovedOnly(t *testing.T) {
	// Of 500 true positives a group, 40 % are refused, and nobody knows what became of them.
	file := cases("label,prediction,sex", 300, "1,1,female", 200, ",0,female", 300, "1,1,male", 200, ",0,male")
	r := ruleOf(t, decide(t, bySex("rate: false_negative, worst_group: {maximum: 0.1}"), file))
	if r.Verdict != report.InsufficientEvidence || !strings.HasPrefix(r.Reason, "400 of 1000 cases are left out (400 because the label is empty), more than max_left_out allows (0.10)") {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
	for _, c := range r.Cells {
		if c.Verdict != report.InsufficientEvidence || *c.Estimate != 0 || c.LeftOut[0].Count != 200 {
			t.Errorf("cell %v: %s, %v, left out %v", c.Labels, c.Verdict, *c.Estimate, c.LeftOut)
		}
	}
	g := decide(t, bySex("rate: false_negative, worst_group: {maximum: 0.1}, max_left_out: 1"), file)
	if r := ruleOf(t, g); r.Verdict != report.Pass || r.WithLeftOut != report.InsufficientEvidence {
		t.Errorf("however many may be left out: %s, with them %s", r.Verdict, r.WithLeftOut)
	}
	if f := finding(g, "labels_missing_one_sided"); f == nil || f.Count != 400 {
		t.Errorf("findings %v", g.Findings)
	}
	// Selection needs no label, and leaves none out.
	if r := ruleOf(t, decide(t, bySex("rate: selection, max_group_gap: 0.2"), file)); r.Verdict != report.Pass || r.LeftOut != nil {
		t.Errorf("selection: %s, left out %v", r.Verdict, r.LeftOut)
	}
	// Labels missing alike for both predictions are no such sign.
	g = decide(t, bySex("rate: selection, max_group_gap: 0.2"), cases("label,prediction,sex", 100, "1,1,female", 20, ",0,female", 20, ",1,male", 100, "0,0,male"))
	if f := finding(g, "labels_missing_one_sided"); f != nil {
		t.Errorf("labels missing on both sides: %+v", f)
	}
}

// TestReasonNamesWhatFails: the pair that fails is named with its interval where another one is further apart as measured, or may be.
func TestReasonNamesWhatFails(t *testing.T) {
	declared := "attributes: {g: [a, b, c]}\nrules:\n  - {id: r, rate: selection, attribute: g, %s}\n"
	// .4 and .1 of 1000, .5 of 30: c is further from b, but its interval is .29 wide on each side.
	file := cases("prediction,g", 400, "1,a", 600, "0,a", 100, "1,b", 900, "0,b", 15, "1,c", 15, "0,c")
	for rule, want := range map[string]string{
		"max_group_gap: 0.22":         "The gap of a and b, 0.300 (interval ",
		"min_group_ratio: 0.4":        "The ratio of a and b, 0.250 (interval ",
		"worst_group: {maximum: 0.3}": "The whole interval is above the maximum of 0.3 in a.",
	} {
		r := ruleOf(t, decide(t, fmt.Sprintf(declared, rule), file))
		pair := report.Pair{}
		for _, p := range r.Pairs {
			if p.Verdict == report.Fail {
				pair = p
			}
		}
		if r.Verdict != report.Fail || !strings.Contains(r.Reason, want) {
			t.Errorf("%s: %s, %q; want %q", rule, r.Verdict, r.Reason, want)
		}
		if r.Pairs == nil {
			continue
		}
		if own := fmt.Sprintf("(interval %s to %s)", down(*pair.Interval.Lower, 3), up(*pair.Interval.Upper, 3)); pair.Groups != [2]string{"a", "b"} || !strings.Contains(r.Reason, own) {
			t.Errorf("%s: %q has no %q of %v", rule, r.Reason, own, pair.Groups)
		}
		if !strings.Contains(r.Conditions, "they need not be of one pair") {
			t.Errorf("%s: conditions %q", rule, r.Conditions)
		}
	}
}

// TestOneFactOnce: over all rules and measures every fact is in one set of words, and what is a rule's own names it.
func TestOneFactOnce(t *testing.T) {
	declared := "attributes: {g: [a, b]}\nrules:\n"
	for i, rule := range []string{"rate: selection, max_group_gap: 0.5", "rate: error, max_group_gap: 0.5", "rate: precision, min_group_ratio: 0.5", "rate: false_negative, worst_group: {maximum: 0.5}", "rate: true_positive, max_group_gap: 0.5, looks: repeated"} {
		declared += fmt.Sprintf("  - {id: r%d, attribute: g, %s}\n", i, rule)
	}
	g := decide(t, declared, cases("label,prediction,g", 50, "1,1,a", 50, "0,0,b"))
	sentences := map[string]bool{}
	add := func(text string) {
		for _, s := range strings.SplitAfter(text, ". ") {
			sentences[strings.TrimSpace(s)] = true
		}
	}
	for _, text := range g.Assumptions {
		add(text)
	}
	for _, m := range g.Measures {
		add(m.Conditions)
	}
	for _, r := range g.Rules {
		add(r.Conditions)
		for _, text := range r.Assumptions {
			add(text)
		}
	}
	for words, want := range map[string]int{"min_cell (30)": 1, "of one rate, at one look": 1, "The error is divided by the number of groups": 1, "mix of labels": 1, "FAIL comes out at most": 5, "The interval of the largest gap": 1} {
		found := 0
		for s := range sentences {
			if strings.Contains(s, words) {
				found++
			}
		}
		if found != want {
			t.Errorf("%d sentences say %q, want %d", found, words, want)
		}
	}
	for i, r := range g.Rules {
		looks := "at one look by itself"
		if i == 4 { // looks: repeated
			looks = "over all its looks"
		}
		if want := fmt.Sprintf("Rule r%d, %s: if in truth ", i, looks); !strings.HasPrefix(r.Assumptions[1], want) {
			t.Errorf("%q does not begin with %q", r.Assumptions[1], want)
		}
	}
}

// TestBins: numbers at the bounds between groups, however they are written, and the meaning in words.
func TestBins(t *testing.T) {
	declared := "attributes: {age: {bins: [-5, 0, 30, 60.5]}}\nmin_cell: 1\nrules:\n  - {id: a, rate: selection, attribute: age, worst_group: {maximum: 1}}\n"
	want := map[string]int{"under_-5": 0, "-5_to_0": 0, "0_to_30": 0, "30_to_60.5": 0, "over_60.5": 0}
	file := []any{}
	for value, group := range map[string]string{
		"-5.000000000000000001": "under_-5", "-5.0000000000000000001": "under_-5", "-1e18": "under_-5", "-5": "-5_to_0", "-4.9999999999999999999": "-5_to_0", "-1e-30": "-5_to_0",
		"0": "0_to_30", "-0": "0_to_30", "1e-30": "0_to_30", "29.999999999999999999": "0_to_30", "29.9999999999999999999": "0_to_30",
		"30": "30_to_60.5", "30.0": "30_to_60.5", "3e1": "30_to_60.5", "+30": "30_to_60.5", "30.0000000000000000001": "30_to_60.5", "60.4999999999999999999": "30_to_60.5",
		"60.5": "over_60.5", "60.50": "over_60.5", "605e-1": "over_60.5", "1e18": "over_60.5",
	} {
		file = append(file, 1, "1,1,"+value)
		want[group]++
	}
	g := decide(t, declared, cases("label,prediction,age", file...))
	got := map[string]int{}
	for _, c := range ruleOf(t, g).Cells {
		got[c.Labels["group"]] = *c.Denominator
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	meaning := "The groups of age are read from numbers: under_-5 is below -5, -5_to_0 is -5 to below 0, 0_to_30 is 0 to below 30, 30_to_60.5 is 30 to below 60.5, over_60.5 is 60.5 or more."
	if !strings.Contains(strings.Join(g.Assumptions, "\n"), meaning) || !strings.Contains(strings.Join(g.Rules[0].Assumptions, "\n"), meaning) {
		t.Errorf("assumptions %q", g.Assumptions)
	}
}

// TestTwoBinningsOfOneColumn: two attributes may be read from one column of the files.
func TestTwoBinningsOfOneColumn(t *testing.T) {
	declared := "columns: {age: years, band: years}\nattributes: {age: {bins: [18]}, band: {bins: [30, 60]}}\nmin_cell: 1\n" +
		"rules:\n  - {id: a, rate: selection, attribute: age, worst_group: {maximum: 1}}\n  - {id: b, rate: selection, attribute: band, worst_group: {maximum: 1}}\n"
	g := decide(t, declared, cases("label,prediction,years", 3, "1,1,17", 4, "1,1,20", 5, "1,1,70"))
	if a, b := g.Rules[0].Cells, g.Rules[1].Cells; *a[0].Denominator != 3 || *a[1].Denominator != 9 || *b[0].Denominator != 7 || *b[1].Denominator != 0 || *b[2].Denominator != 5 {
		t.Errorf("cells %v, %v", a, b)
	}
}

// TestWords: outcomes as two words, a column's own before the section's, and other columns' names.
func TestWords(t *testing.T) {
	declared := "columns: {outcome: y, sex: gender}\nid: case\npositive: approved\nnegative: denied\nlabel: {column: outcome, positive: repaid, negative: lost}\nprediction: decision\n" +
		"attributes: {sex: [female, male]}\nmin_cell: 5\nrules:\n  - {id: a, rate: recall, attribute: sex, worst_group: {minimum: 0}}\n"
	file := "case,y,decision,gender\n1,repaid,approved,female\n2,lost,denied,female\n3,repaid,,male\n4, repaid ,denied,male\n"
	g := decide(t, declared, file)
	r := ruleOf(t, g)
	if r.Metric != "true_positive" || *r.Numerator != 1 || *r.Denominator != 3 || *r.Missing != 1 {
		t.Errorf("%s: %d of %d, %d missing; want true_positive 1 of 3, 1 missing", r.Metric, *r.Numerator, *r.Denominator, *r.Missing)
	}
	if want := "It has 1 of the 5 cases with label repaid and a prediction that a group needs (min_cell)."; r.Cells[0].Reason != want {
		t.Errorf("reason %q, want %q", r.Cells[0].Reason, want)
	}
	// Two groups with 1 of 5 each lack 4 + 4.
	if want := (report.Needs{What: "cases with a prediction in female (4) and male (4) (with label repaid), or declare coarser groups before the run; recording what is missing does not decide it by itself", AtLeast: 8}); *r.Needs != want {
		t.Errorf("needs %+v, want %+v", *r.Needs, want)
	}
	want := report.Data{{Name: "cases", Count: 4}, {Name: "labelled", Count: 4}, {Name: "predicted", Count: 3}, {Name: "missing_labels", Count: 0}, {Name: "missing_predictions", Count: 1},
		{Name: "positives", Count: 3}, {Name: "predicted_positive", Count: 1}}
	if diff := cmp.Diff(want, g.Data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}

// TestNoLabelColumn: rules on selection need no labels, and then not even their column; others do.
func TestNoLabelColumn(t *testing.T) {
	file := cases("prediction,sex", 100, "1,female", 100, "1,male")
	if r := ruleOf(t, decide(t, bySex("rate: selection, min_group_ratio: 0.8"), file)); r.Verdict != report.Pass {
		t.Errorf("selection: %s (%s)", r.Verdict, r.Reason)
	}
	for _, declared := range []string{bySex("rate: error, max_group_gap: 0.1"), "label: label\n" + bySex("rate: selection, min_group_ratio: 0.8")} {
		if _, err := tryRun(run{verb: gate.Decide, declaration: declared, names: []string{"c.csv"}, files: map[string]string{"c.csv": file}}); err == nil || !strings.Contains(err.Error(), `the column "label" is missing`) {
			t.Errorf("%s: %v", declared, err)
		}
	}
}

// TestUnit: with a unit declared the assumption is checked, without one it is declared.
func TestUnit(t *testing.T) {
	file := cases("label,prediction,sex,person", 1, "1,1,female,a", 1, "1,1,male,b")
	g := decide(t, "unit: person\n"+bySex("rate: selection, min_group_ratio: 0.8"), file)
	if g.Settings["unit"] != "person" || !strings.HasPrefix(g.Assumptions[0], "Each case is another person, independent of the others: no value of person comes twice") {
		t.Errorf("settings %v, assumptions %q", g.Settings, g.Assumptions)
	}
	g = decide(t, bySex("rate: selection, min_group_ratio: 0.8"), file)
	if _, set := g.Settings["unit"]; set || !strings.Contains(g.Assumptions[0], "no column says whose a case is") {
		t.Errorf("settings %v, assumptions %q", g.Settings, g.Assumptions)
	}
}

// TestRepeatedAndPairwise: the interval that a rule says, and with it the errors of its verdicts in numbers.
func TestRepeatedAndPairwise(t *testing.T) {
	const groups = 4
	declared := "attributes: {g: [a, b, c, d]}\nrules:\n  - {id: r, attribute: g, rate: error, %s}\n"
	file := cases("label,prediction,g", 90, "1,1,a", 10, "1,0,a", 90, "1,1,b", 10, "1,0,b", 90, "1,1,c", 10, "1,0,c", 90, "1,1,d", 10, "1,0,d")
	tally := interval.Tally{K: 10, N: 100}
	document, err1 := interval.GroupRate(tally, tally, 0.95, groups)
	sequence, err2 := interval.GroupRateSequence(tally, tally, 0.95, groups)
	fisher, err3 := interval.FisherGap(tally, tally, tally, tally, (1-0.95)/2, (1-0.95)/groups/(groups-1), 0.95)
	floor, err4 := interval.ExactSides(tally, tally, (1-0.95)/2, (1-0.95)/2/groups, 0.95)
	ceiling, err5 := interval.ExactSides(tally, tally, (1-0.95)/2/groups, (1-0.95)/2, 0.95)
	if err := cmpErrors(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rule   string
		want   interval.Interval // the rule's
		cell   interval.Interval
		errors string
	}{
		// α = 5 %: a gap FAILs wrongly at most α, passes wrongly at most α/4; a floor α/2 and α/8; pairwise passes at most α/2.
		{"max_group_gap: 0.1", interval.GroupGap(document, document, 0.95), document, "FAIL comes out at most 5 % of the time; if some gap is larger, PASS comes out at most 1.25 % of the time."},
		{"max_group_gap: 0.1, looks: repeated", interval.GroupGap(sequence, sequence, 0.95), sequence, "FAIL comes out at most 5 % of the time; if some gap is larger, PASS comes out at most 1.25 % of the time."},
		{"max_group_gap: 0.1, interval: pairwise", fisher, document, "FAIL comes out at most 5 % of the time; if some gap is larger, PASS comes out at most 2.5 % of the time."},
		{"worst_group: {minimum: 0.1}", document, document, "FAIL comes out at most 2.5 % of the time; if some group's is lower, PASS comes out at most 0.625 % of the time."},
		{"worst_group: {maximum: 0.1}", document, document, "FAIL comes out at most 2.5 % of the time; if some group's is higher, PASS comes out at most 0.625 % of the time."},
		{"worst_group: {minimum: 0.1}, interval: pairwise", floor, floor, "FAIL comes out at most 2.5 % of the time; if some group's is lower, PASS comes out at most 2.5 % of the time."},
		{"worst_group: {maximum: 0.1}, interval: pairwise", ceiling, ceiling, "FAIL comes out at most 2.5 % of the time; if some group's is higher, PASS comes out at most 2.5 % of the time."},
		{"min_group_ratio: 0.8", interval.GroupRatio(document, document, 0.95), document, "FAIL comes out at most 5 % of the time; if some ratio is smaller, PASS comes out at most 1.25 % of the time."},
		{"min_group_ratio: 0.8, looks: repeated", interval.GroupRatio(sequence, sequence, 0.95), sequence, "FAIL comes out at most 5 % of the time; if some ratio is smaller, PASS comes out at most 1.25 % of the time."},
	} {
		r := ruleOf(t, decide(t, fmt.Sprintf(declared, c.rule), file))
		same := func(what string, got report.Interval, want interval.Interval) {
			if *got.Lower != want.Lower || *got.Upper != want.Upper || got.Method != want.Method || got.Looks != want.Looks {
				t.Errorf("%s, %s: %v to %v, %s, %s; want %+v", c.rule, what, *got.Lower, *got.Upper, got.Method, got.Looks, want)
			}
		}
		same("rule", *r.Interval, c.want)
		same("cell", *r.Cells[2].Interval, c.cell)
		if text := strings.Join(r.Assumptions, "\n"); !strings.Contains(text, c.errors) {
			t.Errorf("%s: assumptions %q", c.rule, text)
		}
	}
	// A section's looks: repeated holds for measures too.
	g := decide(t, "looks: repeated\n"+fmt.Sprintf(declared, "max_group_gap: 0.1"), file)
	if m := measure(t, g, "error", "g", "a"); m.Interval.Method != interval.MethodUniformMixture || *m.Interval.Lower != sequence.Lower {
		t.Errorf("measure %+v", m.Interval)
	}
	if r := ruleOf(t, g); !strings.HasPrefix(r.Needs.What, "more cases, at the present rates") {
		t.Errorf("needs %+v", r.Needs)
	}
}

func cmpErrors(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestEmptySlice: nothing evaluated is never a PASS, and says what the column holds.
func TestEmptySlice(t *testing.T) {
	file := cases("label,prediction,sex,region", 100, "1,1,female,north", 100, "1,1,male,north")
	r := ruleOf(t, decide(t, bySex("rate: error, max_group_gap: 1, where: {region: noth}"), file))
	if want := `Nothing was evaluated: no case has "noth" in the column "region", which holds "north".`; r.Verdict != report.InsufficientEvidence || r.Reason != want {
		t.Errorf("%s: %q, want %q", r.Verdict, r.Reason, want)
	}
	if r := ruleOf(t, decide(t, bySex("rate: error, max_group_gap: 1, where: {region: north}"), file)); r.Verdict != report.Pass {
		t.Errorf("the whole file as a slice: %s", r.Verdict)
	}
}

// TestNeeds: what would decide is looked for on the decision itself, and is told where nothing would.
func TestNeeds(t *testing.T) {
	needs := func(rule string, blocks ...any) *report.Needs {
		t.Helper()
		r := ruleOf(t, decide(t, bySex("rate: false_negative, "+rule), cases("label,prediction,sex", blocks...)))
		if r.Verdict != report.InsufficientEvidence || r.Needs == nil {
			t.Fatalf("%s: %s, needs %+v", rule, r.Verdict, r.Needs)
		}
		return r.Needs
	}
	alike := func(times int) []any {
		return []any{10 * times, "1,0,female", 90 * times, "1,1,female", 10 * times, "1,0,male", 90 * times, "1,1,male"}
	}
	for _, rule := range []string{"max_group_gap: 0.05", "max_group_gap: 0.05, interval: pairwise", "worst_group: {maximum: 0.12}", "min_group_ratio: 0.8"} {
		n := needs(rule, alike(1)...)
		if !strings.HasPrefix(n.What, "cases in all in a new sample, at the present rates") {
			t.Errorf("%s: %+v", rule, n)
		}
		// With the number it names the rule passes, with a third less it does not.
		times := (n.AtLeast + 199) / 200
		if r := ruleOf(t, decide(t, bySex("rate: false_negative, "+rule), cases("label,prediction,sex", alike(times)...))); r.Verdict != report.Pass {
			t.Errorf("%s: %s with the %d cases that it needs (%+v)", rule, r.Verdict, 200*times, n)
		}
		if r := ruleOf(t, decide(t, bySex("rate: false_negative, "+rule), cases("label,prediction,sex", alike(times*2/3)...))); r.Verdict != report.InsufficientEvidence {
			t.Errorf("%s: %s with %d cases, though it needs %+v", rule, r.Verdict, 200*(times*2/3), n)
		}
	}
	if n := needs("max_group_gap: 0.25", 50, "1,0,female", 50, "1,1,female", 20, "1,0,male", 80, "1,1,male"); !strings.Contains(n.What, ", as FAIL (with `looks: repeated`") {
		t.Errorf("a gap above the threshold: %+v", n)
	}
	// At equal rates of .1 the upper end of the gap falls as 1/√n, from .044 at 1000 a group: .001 takes about two million a group.
	if n, want := needs("max_group_gap: 0.001", alike(1)...), "other data: the measured largest gap, 0.0000, is so near 0.001 that no realistic number of cases would decide (1000000 would not do)"; n.AtLeast != 0 || n.What != want {
		t.Errorf("more than is searched: %+v", n)
	}
	// 3208 and 4000 of 10000 missed: a ratio of .802. Its interval falls to ±.002 at about four million cases a group.
	if n, want := needs("min_group_ratio: 0.8", 3208, "1,0,female", 6792, "1,1,female", 4000, "1,0,male", 6000, "1,1,male"),
		"other data: the measured smallest ratio, 0.802, is so near 0.8 that no realistic number of cases would decide (2000000 would not do)"; n.AtLeast != 0 || n.What != want {
		t.Errorf("a ratio near the threshold: %+v", n)
	}
	// On the threshold no number decides, whether or not something is missing.
	for _, missing := range []int{0, 10} {
		n := needs("max_group_gap: 0.3", 50, "1,0,female", 50, "1,1,female", 20, "1,0,male", 80, "1,1,male", missing, "1,,male")
		if n.AtLeast != 0 || !strings.HasPrefix(n.What, "other data: the measured largest gap is 0.3, the threshold itself, so that no number of cases would decide") {
			t.Errorf("a gap on the threshold, %d missing: %+v", missing, n)
		}
	}
	// 30 of 90 against 20 to 40 of 110: a gap of 0 to .15. Recorded at the present rates it is 30/90 − 20/90 = .111, and a sample of
	// the size that is named fails.
	n := needs("max_group_gap: 0.1", 30, "1,0,female", 60, "1,1,female", 20, "1,0,male", 70, "1,1,male", 20, "1,,male")
	var size int
	if _, err := fmt.Sscanf(n.What, "what is missing to be recorded, 20 predictions (20 in male): with as much missing, no number of cases would decide; with all recorded at the present rates the rule needs about %d cases in all", &size); err != nil ||
		n.AtLeast != 0 || !strings.Contains(n.What, ", as FAIL") || !strings.HasSuffix(n.What, "; the missing ones by themselves do not decide it, however they come out") {
		t.Fatalf("a gap that missing predictions leave open: %+v", n)
	}
	for total, want := range map[int]report.Verdict{size: report.Fail, size * 9 / 10: report.InsufficientEvidence} {
		// The 200 cases with what is missing in the shares of the rest: 30 and 60 of female, 24.4 and 85.6 of male.
		of := func(share float64) int { return int(float64(float64(total)/200*share) + 0.5) }
		if r := ruleOf(t, decide(t, bySex("rate: false_negative, max_group_gap: 0.1"), cases("label,prediction,sex", of(30), "1,0,female", of(60), "1,1,female", of(110*20/90.), "1,0,male", of(110*70/90.), "1,1,male"))); r.Verdict != want {
			t.Errorf("%s with %d cases, want %s: %+v", r.Verdict, total, want, n)
		}
	}
	// 32 of men recorded and 31 not: with all of them recorded like the rest the same 123 cases would do, 0 of 60 against 0 of 63, whose
	// gap is at most 1 − .025^(1/60) = .0596. As it is it may be 31/63.
	n = needs("max_group_gap: 0.1, confidence: 0.9", 60, "1,1,female", 32, "1,1,male", 31, "1,,male")
	if want := "what is missing to be recorded, 31 predictions (31 in male): with as much missing, no number of cases would decide; with all recorded at the present rates these cases would; the missing ones may decide it by themselves, by how they come out"; n.What != want || n.AtLeast != 0 {
		t.Errorf("needs %+v, want %s", n, want)
	}
	// A crossing's small cells.
	r := ruleOf(t, decide(t, "attributes: {a: [x, y], b: [u, v]}\nintersections: [[a, b]]\nrules: [{id: r, rate: error, attribute: [a, b], max_group_gap: 0.5}]",
		cases("label,prediction,a,b", 40, "1,1,x,u", 40, "1,1,x,v", 40, "1,1,y,u", 12, "1,1,y,v")))
	if want := (report.Needs{What: "cases with a prediction in y × v (with a label), or declare a coarser crossing before the run", AtLeast: 18}); *r.Needs != want {
		t.Errorf("needs %+v, want %+v", *r.Needs, want)
	}
}

// TestSmallNeeds: what small groups lack decides the rule only where it does; else it is said what the rule needs beyond that.
func TestSmallNeeds(t *testing.T) {
	declared := func(rule string) string {
		return "attributes: {sex: [female, male, other]}\nrules:\n  - {id: a, rate: false_negative, attribute: sex, " + rule + "}\n"
	}
	of := func(rule string, blocks ...any) report.Rule {
		t.Helper()
		r := ruleOf(t, decide(t, declared(rule), cases("label,prediction,sex", blocks...)))
		if r.Verdict != report.InsufficientEvidence || r.Needs == nil {
			t.Fatalf("%s: %s, needs %+v", rule, r.Verdict, r.Needs)
		}
		return r
	}
	const lack = "cases with a prediction in other (with label 1)"
	const coarser = ", or declare coarser groups before the run"
	// No one is missed: with 30 cases the upper end of other is 1 − (.05/6)^(1/30) = .147. All of other are: the lower end is .853.
	for _, c := range []struct {
		rule string
		file []any
		want string
	}{
		{"max_group_gap: 0.2", []any{100, "1,1,female", 100, "1,1,male", 12, "1,1,other"}, lack + coarser},
		{"max_group_gap: 0.2, interval: pairwise", []any{100, "1,1,female", 100, "1,1,male", 12, "1,1,other"}, lack + coarser},
		{"worst_group: {maximum: 0.2}", []any{100, "1,1,female", 100, "1,1,male", 12, "1,1,other"}, lack + coarser},
		{"max_group_gap: 0.2", []any{100, "1,1,female", 100, "1,1,male", 12, "1,0,other"}, lack + coarser + ", as FAIL"},
		{"worst_group: {maximum: 0.2}", []any{100, "1,1,female", 100, "1,1,male", 12, "1,0,other"}, lack + coarser + ", as FAIL"},
		{"max_group_gap: 0.2, interval: pairwise", []any{100, "1,1,female", 100, "1,1,male", 12, "1,0,other"}, lack + coarser + ", as FAIL"},
	} {
		r := of(c.rule, c.file...)
		if want := (report.Needs{What: c.want, AtLeast: 18}); *r.Needs != want {
			t.Errorf("%s: needs %+v, want %+v", c.rule, *r.Needs, want)
		}
		want := report.Pass
		if strings.HasSuffix(c.want, ", as FAIL") {
			want = report.Fail
		}
		if r := ruleOf(t, decide(t, declared(c.rule), cases("label,prediction,sex", append(c.file, 18, c.file[5])...))); r.Verdict != want {
			t.Errorf("%s: with them it is %s, want %s", c.rule, r.Verdict, want)
		}
	}
	// A gap that takes more than they lack: a sample of the size that is named decides, three quarters of it do not.
	for _, rule := range []string{"max_group_gap: 0.15", "max_group_gap: 0.15, interval: pairwise", "worst_group: {maximum: 0.2}", "min_group_ratio: 0.5"} {
		r := of(rule, 10, "1,0,female", 90, "1,1,female", 10, "1,0,male", 90, "1,1,male", 2, "1,0,other", 18, "1,1,other")
		var size int
		const form = lack + " for it to count at all" + coarser + "; the rule then needs about %d cases in all in a new sample, at the present rates and shares of the groups"
		if _, err := fmt.Sscanf(strings.ReplaceAll(r.Needs.What, "%", ""), form, &size); err != nil || r.Needs.AtLeast != 10 {
			t.Errorf("%s: needs %+v (%v)", rule, *r.Needs, err)
			continue
		}
		for times, want := range map[int]report.Verdict{(size + 219) / 220: report.Pass, size * 3 / 4 / 220: report.InsufficientEvidence} {
			again := ruleOf(t, decide(t, declared(rule), cases("label,prediction,sex", 10*times, "1,0,female", 90*times, "1,1,female", 10*times, "1,0,male", 90*times, "1,1,male", 2*times, "1,0,other", 18*times, "1,1,other")))
			if again.Verdict != want {
				t.Errorf("%s: %s with %d cases, want %s; it needs %+v", rule, again.Verdict, 220*times, want, *r.Needs)
			}
		}
	}
	// Nothing is known of an empty group; of a file without any case in two, of both.
	if r, want := of("max_group_gap: 0.2", 100, "1,1,female", 100, "1,1,male"), lack+" for it to count at all"+coarser+"; what the rule needs beyond that cannot be told before something is recorded in other"; r.Needs.AtLeast != 30 || r.Needs.What != want {
		t.Errorf("needs %+v, want %s", *r.Needs, want)
	}
	if r := of("max_group_gap: 0.2", 100, "1,1,female"); r.Needs.AtLeast != 60 || !strings.HasPrefix(r.Needs.What, "cases with a prediction in male (30) and other (30) (with label 1) for them to count at all") ||
		!strings.HasSuffix(r.Needs.What, "before something is recorded in male and other") {
		t.Errorf("needs %+v", *r.Needs)
	}
	// Two groups that are surely far apart would fail in a larger file, whatever an empty third one shows.
	if r := of("max_group_gap: 0.2", 65, "1,0,female", 35, "1,1,female", 35, "1,0,male", 65, "1,1,male"); r.Needs.AtLeast != 30 || !strings.Contains(r.Needs.What, "; the rule then needs about ") || !strings.Contains(r.Needs.What, ", as FAIL") {
		t.Errorf("needs %+v", *r.Needs)
	}
	// On the threshold, and with what is missing in the way.
	if r := of("max_group_gap: 0.3", 50, "1,0,female", 50, "1,1,female", 20, "1,0,male", 80, "1,1,male", 4, "1,0,other", 6, "1,1,other"); r.Needs.AtLeast != 20 ||
		!strings.HasSuffix(r.Needs.What, "; the rule then needs other data: the measured largest gap is 0.3, the threshold itself, so that no number of cases would decide") {
		t.Errorf("needs %+v", *r.Needs)
	}
	if r := of("max_group_gap: 0.2", 20, "1,0,female", 80, "1,1,female", 20, "1,0,male", 60, "1,1,male", 20, "1,,male", 2, "1,0,other", 8, "1,1,other"); r.Needs.AtLeast != 20 ||
		!strings.Contains(r.Needs.What, "; the rule then needs what is missing to be recorded, 20 predictions (20 in male): with as much missing, no number of cases would decide; with all recorded at the present rates the rule needs about ") {
		t.Errorf("needs %+v", *r.Needs)
	}
	// With too much left out both are said; a rule that would be decided otherwise needs nothing else.
	r := of("max_group_gap: 0.2", 100, "1,1,female", 100, "1,1,male", 12, "1,1,other", 60, "1,1,")
	if want := "of the cases left out to be recorded, so that no more than max_left_out (0.10) is left out; the rule then needs about 18 " + lack + coarser; r.Needs.What != want || r.Needs.AtLeast != 33 { // .1 × 272 = 27.2
		t.Errorf("needs %+v, want %s", *r.Needs, want)
	}
	r = of("max_group_gap: 0.2", 100, "1,1,female", 100, "1,1,male", 100, "1,1,other", 60, "1,1,")
	if want := "of the cases left out to be recorded, so that no more than max_left_out (0.10) is left out"; r.Needs.What != want {
		t.Errorf("needs %+v, want %s", *r.Needs, want)
	}
}

// TestUndeclaredInSlice: a value of a slice's attribute that is not declared may be a misspelt one of the slice. Leaving such
// cases out uncounted would let a wrong verdict pass: here 1,000 wrongly refused women are spelt "Female".
func TestUndeclaredInSlice(t *testing.T) {
	text := "cases: c.csv\nattributes: {sex: [female, male], age: [young, old]}\nrules:\n" +
		"  - {id: a, rate: error, attribute: age, max_group_gap: 0.15, where: {sex: female}}\n" +
		"  - {id: all, rate: error, attribute: age, max_group_gap: 1, where: {sex: female}, max_left_out: 1}\n"
	file := cases("label,prediction,sex,age", 500, "1,1,female,young", 500, "1,1,female,old", 1000, "1,1,male,young",
		1000, "1,0,Female,young", 7, "1,1,,old", 3, "1,1,Female,")
	g := decide(t, text, file)
	want := []report.LeftOut{{Reason: "a column of where is empty", Count: 7}, {Reason: "a column of where is not a declared value", Count: 1003}}
	for _, r := range g.Rules {
		if diff := cmp.Diff(want, r.LeftOut); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.ID, diff)
		}
	}
	if r := g.Rules[0]; r.Verdict != report.InsufficientEvidence {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
	if r := g.Rules[1]; r.Verdict != report.Pass || r.WithLeftOut != report.Pass { // a gap is at most 1 whatever is left out
		t.Errorf("%s, with the left-out cases %s", r.Verdict, r.WithLeftOut)
	}
}

// TestWordsOfTippingPoints: what a bad value is can be read aloud, for every rate and threshold.
func TestWordsOfTippingPoints(t *testing.T) {
	bad := func(rule string, blocks ...any) string {
		t.Helper()
		r := ruleOf(t, decide(t, bySex(rule), cases("label,prediction,sex", blocks...)))
		if r.TippingPoint == nil {
			t.Fatalf("%s: %s without a tipping point: %+v", rule, r.Verdict, r.Needs)
		}
		return r.TippingPoint.Bad
	}
	// Of 90 cases of a label 6 have no prediction: with them the rate is from 42/90 to 48/90, and .35 or .64 lies in its interval.
	both := func(label string) []any {
		var blocks []any
		for _, sex := range []string{"female", "male"} {
			blocks = append(blocks, 42, label+",1,"+sex, 42, label+",0,"+sex, 6, label+",,"+sex, 100, map[string]string{"0": "1", "1": "0"}[label]+",1,"+sex)
		}
		return blocks
	}
	for rule, want := range map[string]string{
		"rate: false_negative, worst_group: {maximum: 0.62}": "wrong",
		"rate: true_positive, worst_group: {minimum: 0.38}":  "wrong",
		"rate: false_negative, worst_group: {minimum: 0.38}": "right", // a floor under misses
		"rate: selection, worst_group: {minimum: 0.68}":      "not selected",
		"rate: selection, worst_group: {maximum: 0.82}":      "selected",
	} {
		if got := bad(rule, both("1")...); got != want {
			t.Errorf("%s: %q, want %q", rule, got, want)
		}
	}
	if got := bad("rate: false_positive, worst_group: {maximum: 0.62}", both("0")...); got != "wrong" {
		t.Errorf("false alarms: %q", got)
	}
	// A rate out of the predictions of one kind: a missing prediction that is wrong is in it as an error, or not in it as a success.
	if got := bad("rate: precision, worst_group: {minimum: 0.69}", 80, "1,1,female", 20, "0,1,female", 4, "1,,female", 4, "0,,female", 800, "1,1,male", 200, "0,1,male"); got != "wrong" {
		t.Errorf("precision: %q", got)
	}
	// Far apart: only women's misses and men's hits can move them further.
	if got := bad("rate: false_negative, max_group_gap: 0.62", 60, "1,0,female", 40, "1,1,female", 12, "1,,female", 10, "1,0,male", 90, "1,1,male", 12, "1,,male"); got != "wrong in female or right in male" {
		t.Errorf("far apart: %q", got)
	}
	// Close together: 20 of 100 against 20 of 100, of 10 missing each 2 are misses where they are alike.
	if got := bad("rate: false_negative, max_group_gap: 0.22", 20, "1,0,female", 80, "1,1,female", 10, "1,,female", 20, "1,0,male", 80, "1,1,male", 10, "1,,male"); got != "other than what would bring the groups closest together (2 wrong and 8 right in female, 2 wrong and 8 right in male)" {
		t.Errorf("close together: %q", got)
	}
}
