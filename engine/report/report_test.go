package report_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// TestCompare goes through the comparison of section 1 of the specification, its ends included.
func TestCompare(t *testing.T) {
	const p, f, i = report.Pass, report.Fail, report.InsufficientEvidence
	below := math.Nextafter(0.5, 0)
	above := math.Nextafter(0.5, 1)
	for _, test := range []struct {
		lower, upper     float64
		minimum, maximum report.Verdict // at 0.5
	}{
		{0.6, 0.9, p, f},
		{0.5, 0.9, p, i}, // a lower end on a minimum passes; on a maximum it is not over it
		{above, 0.9, p, f},
		{below, 0.9, i, i},
		{0.1, 0.9, i, i},
		{0.1, above, i, i},
		{0.1, 0.5, i, p}, // an upper end on a minimum is not under it
		{0.1, below, f, p},
		{0.5, 0.5, p, p},
		{math.NaN(), 0.9, i, i},
		{0.6, math.NaN(), i, i},
		{math.Inf(-1), math.Inf(1), i, i},
		{math.Inf(-1), 0.4, f, p},
		{0.6, math.Inf(1), p, f},
	} {
		for _, kind := range []report.Threshold{{Kind: report.Minimum, Value: 0.5}, {Kind: report.WorstGroup, Side: report.Minimum, Value: 0.5}} {
			if got := kind.Compare(test.lower, test.upper); got != test.minimum {
				t.Errorf("%v: [%v, %v] is %v, want %v", kind, test.lower, test.upper, got, test.minimum)
			}
		}
		for _, kind := range []report.Threshold{{Kind: report.Maximum, Value: 0.5}, {Kind: report.WorstGroup, Side: report.Maximum, Value: 0.5}} {
			if got := kind.Compare(test.lower, test.upper); got != test.maximum {
				t.Errorf("%v: [%v, %v] is %v, want %v", kind, test.lower, test.upper, got, test.maximum)
			}
		}
		for _, kind := range []report.Threshold{{}, {Kind: report.Minimum, Value: math.NaN()}, {Kind: report.MaxGroupGap, Value: 0.5}, {Kind: "less", Value: 0.5}} {
			if got := kind.Compare(test.lower, test.upper); got != i {
				t.Errorf("%v: [%v, %v] is %v, want %v", kind, test.lower, test.upper, got, i)
			}
		}
	}
}

// TestVerdictsAndStatuses has the table of section 1 of the specification.
func TestVerdictsAndStatuses(t *testing.T) {
	table := map[report.Verdict]struct {
		name   string
		status int
	}{
		report.Pass: {"PASS", 0}, report.Fail: {"FAIL", 1}, report.NoVerdict: {"NO_VERDICT", 2},
		report.InsufficientEvidence: {"INSUFFICIENT_EVIDENCE", 3}, report.ManualReview: {"MANUAL_REVIEW", 4},
	}
	for v, want := range table {
		if v.String() != want.name || v.ExitStatus() != want.status {
			t.Errorf("%d is %s with exit status %d, want %s with %d", v, v, v.ExitStatus(), want.name, want.status)
		}
	}
	var zero report.Verdict
	if zero.ExitStatus() != 2 || report.Verdict(99).ExitStatus() != 2 {
		t.Error("a verdict that nobody set, or that does not exist, ends a run as if it were one")
	}
	// FAIL is worse than MANUAL_REVIEW, that than INSUFFICIENT_EVIDENCE, that than PASS.
	if worst := []report.Verdict{report.Fail, report.ManualReview, report.InsufficientEvidence, report.Pass, report.NoVerdict}; !slices.IsSortedFunc(worst, func(a, b report.Verdict) int { return int(b) - int(a) }) {
		t.Error("the verdicts are not in the order of badness")
	}
	for _, text := range []string{"", "NO_VERDICT", "pas", "PASS FAIL"} {
		if v, err := report.ParseVerdict(text); err == nil {
			t.Errorf("%q is read as %v", text, v)
		}
	}
	if v, err := report.ParseVerdict("manual_Review"); v != report.ManualReview || err != nil {
		t.Errorf("manual_Review is %v, %v", v, err)
	}
}

func TestParseFailOn(t *testing.T) {
	const p, f, i, m = report.Pass, report.Fail, report.InsufficientEvidence, report.ManualReview
	for text, want := range map[string]report.FailOn{
		"": {f: true, i: true, m: true}, " \n": {f: true, i: true, m: true}, "FAIL": {f: true}, "fail,manual_review": {f: true, m: true},
		"\nfail\r\n INSUFFICIENT_EVIDENCE\n": {f: true, i: true}, "pass": {p: true}, "none": {}, "NONE": {}, ",,FAIL,": {f: true},
	} {
		got, err := report.ParseFailOn(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v, (-want +got):\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"failed", "FAIL;MANUAL_REVIEW", "none,FAIL", "NO_VERDICT", "0"} {
		if got, err := report.ParseFailOn(text); err == nil || !strings.Contains(err.Error(), "PASS, FAIL, INSUFFICIENT_EVIDENCE or MANUAL_REVIEW") {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
	}
}

// of is a report whose rules have these verdicts.
func of(verdicts ...report.Verdict) *report.Report {
	r := report.New("1.0.0")
	for _, v := range verdicts {
		r.Gates = append(r.Gates, report.Gate{Rules: []report.Rule{{ID: v.String(), Verdict: v}}})
	}
	return r
}

// NewSpread keeps few values as they are, in order, and of many a hundred quantiles: of 0 … 999 those at ranks 5, 15, …, 995.
func TestSpread(t *testing.T) {
	if report.NewSpread(nil) != nil {
		t.Error("nothing has a spread")
	}
	if diff := cmp.Diff(&report.Spread{Units: 4, Values: []float64{-1, 0, 0, 0.5}}, report.NewSpread([]float64{0, 0.5, -1, 0})); diff != "" {
		t.Error(diff)
	}
	for n, shown := range map[int]int{1: 1, report.SpreadMost: report.SpreadMost, report.SpreadMost + 1: report.SpreadShown, 1000: report.SpreadShown, 100_000: report.SpreadShown} {
		var values []float64
		for i := range n {
			values = append(values, float64((i*7919)%n)) // in disorder: 7919 is prime, and no n is a multiple of it
		}
		s := report.NewSpread(values)
		if s.Units != n || len(s.Values) != shown {
			t.Fatalf("%d values: %d units, %d shown", n, s.Units, len(s.Values))
		}
		if n == 1000 && (s.Values[0] != 5 || s.Values[1] != 15 || s.Values[99] != 995) {
			t.Errorf("quantiles of 0 … 999: %v", s.Values)
		}
		if n == 100_000 && (s.Values[0] != 500 || s.Values[99] != 99_500) {
			t.Errorf("quantiles of 0 … 99,999: %v", s.Values)
		}
	}
}

func TestDecide(t *testing.T) {
	const p, f, i, m, none = report.Pass, report.Fail, report.InsufficientEvidence, report.ManualReview, report.NoVerdict
	for _, test := range []struct {
		verdicts []report.Verdict
		want     report.Verdict
		status   int
	}{
		{nil, none, 2},
		{[]report.Verdict{p}, p, 0},
		{[]report.Verdict{p, p}, p, 0},
		{[]report.Verdict{p, i}, i, 3},
		{[]report.Verdict{m, i, p}, m, 4},
		{[]report.Verdict{i, f, m, p}, f, 1},
		{[]report.Verdict{p, none}, none, 2}, // a rule left undecided is a fault, never a pass
		{[]report.Verdict{f, none, p}, none, 2},
	} {
		r := of(test.verdicts...)
		r.Decide()
		if r.Verdict != test.want || r.ExitStatus != test.status {
			t.Errorf("%v: %v with exit status %d, want %v with %d", test.verdicts, r.Verdict, r.ExitStatus, test.want, test.status)
		}
		if (len(r.Errors) > 0) != slices.Contains(test.verdicts, none) {
			t.Errorf("%v: errors %v", test.verdicts, r.Errors)
		}
		for _, v := range report.Verdicts {
			want := 0
			for _, w := range test.verdicts {
				if w == v {
					want++
				}
			}
			if got := r.Counts.Of(v); got != want {
				t.Errorf("%v: %d rules are %v", test.verdicts, got, v)
			}
		}
		if r.Multiplicity.Rules != len(test.verdicts) {
			t.Errorf("%v: %d rules in all", test.verdicts, r.Multiplicity.Rules)
		}
	}

	r := of(f, p)
	r.Gates[0].Rules[0].Advisory = true
	r.Gates[0].Measures = []report.Measure{{Interval: &report.Interval{}}, {}}
	r.Gates[1].Rules[0].Interval = &report.Interval{}
	r.Decide()
	if r.Verdict != p || r.Counts.Total() != 1 || r.Counts.Fail != 0 || *r.Multiplicity != (report.Multiplicity{Rules: 2, Intervals: 2}) {
		t.Errorf("with an advisory rule that fails: %v, %+v, %+v", r.Verdict, r.Counts, r.Multiplicity)
	}
	if got := r.FailingRules(); len(got) != 0 {
		t.Errorf("failing rules: %q", got)
	}
	r.Gates[1].Rules[0].Advisory = true
	r.Decide()
	if r.Verdict != none || r.ExitStatus != 2 {
		t.Errorf("with no rule that counts: %v, exit status %d", r.Verdict, r.ExitStatus)
	}
}

// TestMultiplicity counts the intervals of a rule's groups and pairs, listed or not, beside its own and the measures'.
func TestMultiplicity(t *testing.T) {
	r := of(report.Fail)
	iv := &report.Interval{}
	cell := report.Cell{}
	cell.Interval = iv
	rule := &r.Gates[0].Rules[0]
	rule.Interval = iv
	rule.Cells = []report.Cell{cell, {}, cell}
	rule.Pairs = []report.Pair{{Interval: iv}, {}}
	rule.PairsOmitted = 100
	r.Gates[0].Measures = []report.Measure{{Interval: iv}, {}}
	r.Decide()
	// 1 of the rule, 2 of its groups, 1 of its pairs, 100 not listed, 1 of the measures
	if want := (report.Multiplicity{Rules: 1, Intervals: 105}); *r.Multiplicity != want {
		t.Errorf("%+v, want %+v", *r.Multiplicity, want)
	}
}

func TestStatus(t *testing.T) {
	const p, f, i, m = report.Pass, report.Fail, report.InsufficientEvidence, report.ManualReview
	failOn := func(verdicts ...report.Verdict) report.FailOn {
		set := report.FailOn{}
		for _, v := range verdicts {
			set[v] = true
		}
		return set
	}
	for _, test := range []struct {
		verdicts []report.Verdict
		failOn   report.FailOn
		want     int
	}{
		{[]report.Verdict{p, i, m, f}, report.DefaultFailOn(), 1},
		{[]report.Verdict{p, i, m, f}, failOn(i), 3}, // the worst listed, not the worst
		{[]report.Verdict{p, i, m, f}, failOn(i, m), 4},
		{[]report.Verdict{p, i, m}, failOn(f), 0},
		{[]report.Verdict{p, i, m, f}, failOn(), 0},
		{[]report.Verdict{p}, failOn(p), 0}, // whoever lists PASS gets its own exit status
	} {
		r := of(test.verdicts...)
		r.Decide()
		if got := r.Status(test.failOn); got != test.want {
			t.Errorf("%v under %v ends with %d, want %d", test.verdicts, test.failOn, got, test.want)
		}
	}

	r := of(m)
	r.Gates[0].Rules[0].Reviewed = &report.Reviewed{Valid: true}
	r.Decide()
	if r.Verdict != m || r.ExitStatus != 4 || r.Status(report.DefaultFailOn()) != 0 {
		t.Errorf("reviewed: %v, %d, %d", r.Verdict, r.ExitStatus, r.Status(report.DefaultFailOn()))
	}
	r.Gates[0].Rules[0].Reviewed.Valid = false
	if got := r.Status(report.DefaultFailOn()); got != 4 {
		t.Errorf("with an outdated review the run ends with %d", got)
	}
	empty := of()
	empty.Decide()
	if got := empty.Status(failOn()); got != 2 {
		t.Errorf("a run that cannot be used ends with %d whatever --fail-on says", got)
	}
	r = of(f)
	r.Gates[0].Rules[0].Advisory = true
	r.Gates = append(r.Gates, report.Gate{Rules: []report.Rule{{Verdict: p}}})
	r.Decide()
	if got := r.Status(report.DefaultFailOn()); got != 0 {
		t.Errorf("an advisory rule that fails ends the run with %d", got)
	}
}

func TestByVerdict(t *testing.T) {
	rules := []report.Rule{
		{ID: "p1", Verdict: report.Pass}, {ID: "i1", Verdict: report.InsufficientEvidence}, {ID: "advisory", Verdict: report.Fail, Advisory: true},
		{ID: "f1", Verdict: report.Fail}, {ID: "m1", Verdict: report.ManualReview}, {ID: "f2", Verdict: report.Fail},
	}
	before := slices.Clone(rules)
	var got []string
	for _, r := range report.ByVerdict(rules) {
		got = append(got, r.ID)
	}
	if diff := cmp.Diff([]string{"f1", "f2", "m1", "i1", "p1", "advisory"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, rules); diff != "" {
		t.Errorf("the rules themselves were sorted:\n%s", diff)
	}
}

// TestInputsDigestBindsPlaces: what was reviewed ends where two files change places, whichever way the report tells their places.
func TestInputsDigestBindsPlaces(t *testing.T) {
	one, two := strings.Repeat("a", 64), strings.Repeat("b", 64)
	for _, places := range [][2]report.Input{
		{{Role: "baseline"}, {Role: "candidate"}},
		{{}, {Role: "draw"}},
		{{Gate: "human-ai"}, {Gate: "anchoring"}},
		{{Gate: "human-ai", Name: "claims"}, {Gate: "human-ai", Name: "refunds"}},
		{{Gate: "compare", Name: "a", Role: "baseline"}, {Gate: "compare", Name: "b", Role: "baseline"}},
	} {
		as, swapped := places, places
		as[0].SHA256, as[1].SHA256, swapped[0].SHA256, swapped[1].SHA256 = one, two, two, one
		if report.InputsDigest(as[:]) == report.InputsDigest(swapped[:]) {
			t.Errorf("%+v and %+v: the digest is the same when they change places", places[0], places[1])
		}
		if report.InputsDigest(as[:]) != report.InputsDigest([]report.Input{as[1], as[0]}) {
			t.Errorf("%+v and %+v: the digest depends on the order of the list", places[0], places[1])
		}
	}
	// A section's name cannot stand for another line.
	named := []report.Input{{SHA256: one, Gate: "compare", Name: "x\n" + two}}
	if report.InputsDigest(named) == report.InputsDigest([]report.Input{{SHA256: one, Gate: "compare", Name: "x"}, {SHA256: two}}) {
		t.Error("a line end in a name begins another line")
	}
	// printf '%s baseline\n%s candidate' "$(printf 'a%.0s' {1..64})" "$(printf 'b%.0s' {1..64})" | sha256sum (GNU coreutils 9)
	const want = "39cf729da84cf381c2b98463287279c69f91d4978da92a2e5a3f61d89a60c5e9"
	if got := report.InputsDigest([]report.Input{{SHA256: one, Role: "baseline"}, {SHA256: two, Role: "candidate"}}); got != want {
		t.Errorf("the digest is %s, want %s", got, want)
	}
}

func TestInputsDigest(t *testing.T) {
	a, b := report.Input{Path: "a", SHA256: strings.Repeat("a", 64)}, report.Input{Path: "b", SHA256: strings.Repeat("b", 64)}
	// printf '%s\n%s' "$(printf 'a%.0s' {1..64})" "$(printf 'b%.0s' {1..64})" | sha256sum (GNU coreutils 9)
	const want = "5e9ae866add9a85d69c3481d059bb9f158a39e5670ba11f95112fc409630894e"
	if got := report.InputsDigest([]report.Input{b, a}); got != want {
		t.Errorf("the digest is %s, want %s", got, want)
	}
	renamed := a
	renamed.Path, renamed.Rows = "c", 7
	if report.InputsDigest([]report.Input{renamed, b}) != want {
		t.Error("the digest depends on more than the inputs' own digests")
	}
	if report.InputsDigest([]report.Input{a}) == want || report.InputsDigest([]report.Input{a, a, b}) == want {
		t.Error("the digest does not see that an input is gone or added")
	}
}

func TestPublishInterval(t *testing.T) {
	iv := report.PublishInterval(interval.Interval{Lower: math.Inf(-1), Upper: 3, Confidence: 0.9, Method: interval.MethodOrderStatistics, Looks: interval.LooksOne})
	if iv.Lower != nil || iv.Upper == nil || *iv.Upper != 3 || !math.IsInf(iv.Width(), 1) {
		t.Errorf("an open interval is published as %+v, %v wide", iv, iv.Width())
	}
	closed := report.PublishInterval(interval.Interval{Lower: 0.25, Upper: 0.75})
	if closed.Width() != 0.5 {
		t.Errorf("0.25 … 0.75 is %v wide", closed.Width())
	}
	if report.Number(math.NaN()) != nil {
		t.Error("a number that is none is published")
	}
}

// TestFalseFail: what rules can get wrong adds up, as decimals, in any order and up to 1; a family of holm has the largest of its
// own; advisory rules have nothing.
func TestFalseFail(t *testing.T) {
	own := func(p float64) report.Rule { return report.Rule{Verdict: report.Pass, FalseFail: p} }
	in := func(method string, family int, p float64) report.Rule {
		return report.Rule{Verdict: report.Pass, FalseFail: p, Adjusted: &report.Adjusted{Method: method, Family: family, Rules: 2, Confidence: 0.95}}
	}
	advisory := own(0.3)
	advisory.Advisory = true
	for _, c := range []struct {
		name  string
		rules []report.Rule
		want  float64
	}{
		{"three of a tenth", []report.Rule{own(0.1), own(0.1), own(0.1)}, 0.3}, // as float64s 0.30000000000000004
		{"an advisory one", []report.Rule{own(0.025), advisory}, 0.025},
		{"bonferroni", []report.Rule{in(report.Bonferroni, 1, 0.0125), in(report.Bonferroni, 1, 0.0125), own(0.025)}, 0.05},
		{"two families of holm", []report.Rule{in(report.Holm, 1, 0.025), in(report.Holm, 1, 0.05), in(report.Holm, 2, 0.025), in(report.Holm, 2, 0.025), own(0.01)}, 0.085},
		{"more than all", slices.Repeat([]report.Rule{own(0.05)}, 30), 1},
	} {
		for range 2 {
			r := report.New("1.0.0")
			r.Gates = []report.Gate{{Gate: "compare", Rules: c.rules}}
			r.Decide()
			if got := r.Multiplicity.FalseFail; got != c.want {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
			slices.Reverse(c.rules)
		}
	}
}
