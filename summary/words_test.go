package summary

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// Counts in a gate's sentence look as those in tables do; numbers that are no counts, and texts from data, stay.
func TestGateText(t *testing.T) {
	for s, want := range map[string]string{
		"4000 cases, 4000 with a label and 3976 with a prediction":        "4,000 cases, 4,000 with a label and 3,976 with a prediction.",
		"54 of 4000 cases are left out (1200 because x is empty)":         "54 of 4,000 cases are left out (1,200 because x is empty).",
		"It has 4001 of the 7000 labelled cases; 1200 with, 1300 without": "It has 4,001 of the 7,000 labelled cases; 1,200 with, 1,300 without.",
		"2000 labels (1000 blind, 1000 visible), 1000 missing":            "2,000 labels (1,000 blind, 1,000 visible), 1,000 missing.",
		"999 cases, 1000000 items, 1000 people":                           "999 cases, 1,000,000 items, 1,000 people.",
		`"4000 cases" in 4000 cases`:                                      `"4000 cases" in 4,000 cases.`,
		"born 2000, by 2027-03-31, in g_2000 cases, 0.1234 cases":         "born 2000, by 2027-03-31, in g_2000 cases, 0.1234 cases.",
		"0042 cases, 99999999999999999999 cases, 2000 casesx":             "0042 cases, 99999999999999999999 cases, 2000 casesx.",
		"": "",
	} {
		if got := gateText(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}

func TestSettingsText(t *testing.T) {
	for _, test := range []struct {
		settings map[string]string
		want     string
	}{
		{nil, ""}, {map[string]string{"baseline": "old", "model": ""}, ""},
		{map[string]string{"valid_until": "2027-03-31", "model": "gpt-x", "guideline": "v3"}, "Model gpt-x; guideline v3; valid until 2027-03-31."},
		{map[string]string{"corpus_size": "30000", "valid_items": "1000"}, "Valid for 1,000 items; corpus of 30,000 items."},
		{map[string]string{"unit": "person_id", "min_cell": "30"}, "Every case another person_id (unit); groups of at least 30 cases (min_cell)."},
		{map[string]string{"model": "2027"}, "Model 2027."},
	} {
		if got := settingsText(&report.Gate{Settings: test.settings}); got != test.want {
			t.Errorf("%v: got %q, want %q", test.settings, got, test.want)
		}
		r := &report.Report{Gates: []report.Gate{{Settings: test.settings, Rules: []report.Rule{{ID: "one"}}}}}
		if text := write(t, "terminal", r, Options{Width: 200}); !strings.Contains(text, test.want) {
			t.Errorf("%q is missing for a terminal:\n%s", test.want, text)
		}
		if text := write(t, "markdown", r, Options{}); !strings.Contains(text, EscapeMarkdown(test.want, 300)) {
			t.Errorf("%q is missing in Markdown:\n%s", test.want, text)
		}
	}
}

func TestUnitName(t *testing.T) {
	for _, test := range []struct {
		name string
		n    int
		want string
	}{
		{"people", 1, "person"}, {"people", 2, "people"}, {"cases", 1, "case"}, {"items", 1, "item"}, {"labels", 1, "label"}, {"annotators", 1, "annotator"},
		{"trials", 1, "trial"}, {"decisions", 1, "decision"}, {"cases", 0, "cases"}, {"", 1, "unit"}, {"", 3, "units"},
	} {
		if got := unitName(&report.Measure{UnitName: test.name}, test.n); got != test.want {
			t.Errorf("%d %s: %q", test.n, test.name, got)
		}
	}
	one := &report.Measure{Numerator: report.Int(0), Denominator: report.Int(1), Units: report.Int(1), UnitName: "people"}
	if got := facts(one, 0); !cmp.Equal(got, []string{"0 of 1 person"}) {
		t.Errorf("got %q", got)
	}
}

func TestRuleMeasure(t *testing.T) {
	for _, test := range []struct {
		labels map[string]string
		want   string
	}{
		{nil, "rate"}, {map[string]string{"attribute": "sex"}, "rate by sex"}, {map[string]string{"per": "item"}, "rate, per item"},
		{map[string]string{"generalize": "people_and_cases"}, "rate, over people and cases"},
		{map[string]string{"attribute": "sex", "where": "site a"}, "rate by sex, where site a"},
	} {
		if got := ruleMeasure(&report.Measure{Metric: "rate", Labels: test.labels}); got != test.want {
			t.Errorf("%v: got %q, want %q", test.labels, got, test.want)
		}
		if test.labels != nil && len(test.labels) == 0 {
			t.Error("the rule's own labels are changed")
		}
	}
}

// Sentences that several texts share stand once, and the rest of a text stays together.
func TestAssumptionsStandOnce(t *testing.T) {
	g := &report.Gate{Assumptions: []string{"A holds. B too.", "C."}, Rules: []report.Rule{{Assumptions: []string{"Exact. B too. It is so.", "C."}}, {Assumptions: []string{"Exact. It is so. D."}}}}
	if diff := cmp.Diff([]string{"A holds. B too.", "C.", "It is so.", "D."}, assumptions(g, []string{"Exact."})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// With confidences too many to list, one is told in full: 97.5 % leaves 1.25 % on each side.
func TestErrorMeaningOfManyConfidences(t *testing.T) {
	r := report.New("1")
	r.Gates = []report.Gate{{}}
	for _, confidence := range []float64{0.99, 0.975, 0.98, 0.995} {
		m := report.Measure{Interval: report.PublishInterval(interval.Interval{Lower: 0, Upper: 1, Confidence: confidence})}
		r.Gates[0].Measures = append(r.Gates[0].Measures, m)
	}
	const want = "Each interval has its own confidence. A 97.5 % interval is too high at most 1.25 % of the time, and too low at most 1.25 % of the time; so it is with the others."
	if got := errorMeaning(r); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The interval of the whole corpus is no other method to compare with; the lesson's interval is.
func TestBeside(t *testing.T) {
	m := &report.Measure{Scale: unit, Estimate: report.Number(0.865), IntervalsBeside: []report.IntervalBeside{
		{Method: "hypergeometric", Lower: 0.7203, Upper: 0.9401, Assumes: "Of the whole corpus of 300 items."},
		{Method: "two-standard-errors", Lower: 0.7203, Upper: 0.9401, Assumes: "trials independent"}}}
	want := []string{"the whole corpus: 0.720 … 0.941 (Of the whole corpus of 300 items.)", "for comparison only two-standard-errors: 87 %, 72 to 94 % (trials independent)"}
	if diff := cmp.Diff(want, beside(m)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Where sentences are left out for a terminal it says where they are.
func TestTextsSayWhereTheRestIs(t *testing.T) {
	r := &report.Report{Gates: []report.Gate{{Limits: []string{"One.", "Two.", "Three.", "Four.", "Five.", "Six.", "Seven.", "Eight."}}}}
	text := strings.Join(strings.Fields(write(t, "terminal", r, Options{})), " ")
	if !strings.Contains(text, "Six. And 2 more: all of them with --format markdown, or --format json.") {
		t.Error(text)
	}
	if text := write(t, "markdown", r, Options{}); !strings.Contains(text, "- Eight.") {
		t.Error(text)
	}
}

// One of what is needed is said in the singular, and exactly.
func TestNeeds(t *testing.T) {
	for _, test := range []struct {
		needs report.Needs
		want  string
	}{
		{report.Needs{AtLeast: 1200, What: "more people at the present spread"}, "about 1,200 more people at the present spread"},
		{report.Needs{AtLeast: 1, What: "more people at the present spread"}, "1 more person at the present spread"},
		{report.Needs{AtLeast: 1, What: "cases in all in a new sample"}, "1 case in all in a new sample"},
		{report.Needs{AtLeast: 1, What: "recorded blind comparisons in all (minimum_blind_sample)"}, "1 recorded blind comparison in all (minimum_blind_sample)"},
		{report.Needs{AtLeast: 1, What: "more case that moves as these do"}, "1 more case that moves as these do"},
		{report.Needs{What: "a person to decide"}, "a person to decide"},
	} {
		if got := needs(&test.needs); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// TestTipping: every form of the sentence on what is missing.
func TestTipping(t *testing.T) {
	n := report.Int
	for _, test := range []struct {
		tip  report.TippingPoint
		want string
	}{
		{report.TippingPoint{Missing: 12, PassUpTo: n(3), FailFrom: n(9), Of: "240 decisions", Bad: "wrong", Alike: true},
			"12 of 240 decisions are missing: the rule PASSes if at most 3 of them are wrong, and FAILs from 9 on."},
		{report.TippingPoint{Missing: 12, PassUpTo: n(1), FailFrom: n(9), Of: "240 decisions", Bad: "wrong"},
			"12 of 240 decisions are missing: the rule PASSes if at most 1 of them is wrong, and can FAIL from 9 on."},
		{report.TippingPoint{Missing: 1200, PassUpTo: n(0), Of: "24000 decisions", Bad: "wrong"},
			"1,200 of 24,000 decisions are missing: the rule PASSes if none of them is wrong, and does not FAIL in any case."},
		{report.TippingPoint{Missing: 12, PassUpTo: n(1100), FailFrom: n(12), Of: "240 decisions", Bad: "wrong", Alike: true},
			"12 of 240 decisions are missing: the rule PASSes if at most 1,100 of them are wrong, and FAILs if all of them are."},
		{report.TippingPoint{Missing: 1, PassUpTo: n(0), FailFrom: n(1), Of: "240 decisions", Bad: "wrong", Alike: true},
			"1 of 240 decisions is missing: the rule PASSes unless it is wrong, and FAILs if it is."},
		{report.TippingPoint{Missing: 1, FailFrom: n(1), Of: "240 decisions", Bad: "wrong", Alike: true},
			"1 of 240 decisions is missing: the rule does not PASS in any case, and FAILs if it is wrong."},
		{report.TippingPoint{Missing: 3, FailFrom: n(1), Of: "240 decisions", Bad: "wrong"},
			"3 of 240 decisions are missing: the rule does not PASS in any case, and can FAIL if at least 1 of them is wrong."},
		{report.TippingPoint{Missing: 3, FailFrom: n(2), Of: "240 decisions", Bad: "wrong"},
			"3 of 240 decisions are missing: the rule does not PASS in any case, and can FAIL from 2 on that are wrong."},
		{report.TippingPoint{Missing: 3, FailFrom: n(3), Of: "240 decisions", Bad: "wrong"},
			"3 of 240 decisions are missing: the rule does not PASS in any case, and can FAIL if all of them are wrong."},
	} {
		if got := gateText(tipping(&test.tip)); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	if got := tipping(nil); got != "" {
		t.Errorf("of none: %q", got)
	}
	// Formats for people show it behind what would decide the rule.
	r := &report.Report{Gates: []report.Gate{{Gate: "human-ai", Rules: []report.Rule{{ID: "r", Verdict: report.InsufficientEvidence, Reason: "Undecided.",
		Needs: &report.Needs{What: "more people"}, TippingPoint: &report.TippingPoint{Missing: 2, PassUpTo: n(1), Of: "9 decisions", Bad: "wrong"}}}}}}
	lines, _ := Lines(&r.Gates[0])
	for name, text := range map[string]string{"terminal": write(t, "terminal", r, Options{}), "markdown": write(t, "markdown", r, Options{}), "a line": lines[0]} {
		flat := strings.Join(strings.Fields(text), " ")
		if !strings.Contains(flat, "more people. 2 of 9 decisions are missing: the rule PASSes if at most 1 of them is wrong, and does not FAIL in any case.") {
			t.Errorf("%s lacks it: %s", name, flat)
		}
	}
}

// TestNumbersOfNeeds: all counts of what would decide a rule have their thousands set apart alike.
func TestNumbersOfNeeds(t *testing.T) {
	for what, want := range map[string]string{
		"cases in all (with `looks: repeated`, set before collecting, about 26000 in all)": "about 3,500 cases in all (with `looks: repeated`, set before collecting, about 26,000 in all).",
		"cases in b; the rule then needs about 22000 more cases":                           "about 3,500 cases in b; the rule then needs about 22,000 more cases.",
		"items, and at best brings that down to about 1500":                                "about 3,500 items, and at best brings that down to about 1,500.",
		"items (as FAIL at best about 5200)":                                               "about 3,500 items (as FAIL at best about 5,200).",
		"cases (1000000 would not do)":                                                     "about 3,500 cases (1,000,000 would not do).",
		"cases in \"about 2024\"":                                                          "about 3,500 cases in \"about 2024\".", // a text from data
	} {
		if got := gateText(needs(&report.Needs{What: what, AtLeast: 3500})); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestSignTestsInTables: a p-value has four digits, rounded up, and the column in which its cases stand is not called an interval.
func TestSignTestsInTables(t *testing.T) {
	for p, want := range map[float64]string{0.423950195313: "p 0.424", 0.012939453125: "p 0.01294", 0.00341796875: "p 0.003418", 0.0625: "p 0.0625", 1: "p 1", 0.00001234567: "p 0.00001235", 0.000001: "p < 0.00001"} {
		if got := pValue(&report.Measure{PValue: &p}); got != want {
			t.Errorf("%v: got %q, want %q", p, got, want)
		}
	}
	test := &report.Measure{Metric: "sign_test", PValue: report.Number(0.4), Better: report.Int(12345), Worse: report.Int(12346), Equal: report.Int(12347), Units: report.Int(50000), UnitName: "cases", Missing: report.Int(6)}
	rate := &report.Measure{Metric: "rate", Estimate: report.Number(0.5), Interval: &report.Interval{Lower: report.Number(0.4), Upper: report.Number(0.6), Confidence: 0.95}}
	for want, list := range map[string][]*report.Measure{"cases": {test}, "95 % interval": {rate}, "95 % interval, or cases": {test, rate}} {
		if got := columnHeading(list); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	// A table that is too wide by them stays a table.
	r := &report.Report{Gates: []report.Gate{{Gate: "compare", Measures: []report.Measure{*test, *rate}}}}
	if text := write(t, "terminal", r, Options{}); strings.Contains(text, "measured p 0.4") || !strings.Contains(text, "MEASURE ") {
		t.Errorf("no table:\n%s", text)
	}
}
