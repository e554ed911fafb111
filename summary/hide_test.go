package summary

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// counts are one group's counts for one rate: k of n recorded, with missing and left out beside.
type counts struct{ k, n, missing, left int }

// publishable is a report of a fairness gate on groups with these counts, whose texts tell them as gates do: in reasons, in what
// would decide, in findings. A group has a rate k/n and its complement; min_cell is 7,000.
func publishable(minShown int, groups []counts) *report.Report {
	const minCell = 7000
	r := report.New("1.0.0")
	r.Confidence = 0.95
	of := func(metric, group string, c counts) report.Measure {
		labels := map[string]string{"attribute": "place"}
		if group != "" {
			labels["group"] = group
		}
		m := report.Measure{Metric: metric, Labels: labels, Scale: unit, Numerator: report.Int(c.k), Denominator: report.Int(c.n + c.missing),
			Units: report.Int(c.n + c.missing), UnitName: "cases", Missing: report.Int(c.missing), LeftOut: []report.LeftOut{{Reason: "no label", Count: c.left}}}
		if c.n > 0 {
			rate := float64(c.k) / float64(c.n)
			m.Estimate = report.Number(rate)
			m.Completions = &report.Completions{Low: float64(c.k) / float64(c.n+c.missing), High: float64(c.k+c.missing) / float64(c.n+c.missing)}
			m.Interval = report.PublishInterval(interval.Interval{Lower: rate * 0.875, Upper: rate + (1-rate)*0.125, Confidence: 0.99, Method: interval.MethodBonferroni, Looks: interval.LooksOne})
		}
		return m
	}
	rule := report.Rule{ID: "gap", Threshold: report.Threshold{Kind: report.MaxGroupGap, Value: 0.05}, Verdict: report.InsufficientEvidence}
	g := report.Gate{Gate: "fairness", MinShown: minShown, Settings: map[string]string{"min_cell": strconv.Itoa(minCell)}}
	var total counts
	var lack, reasons []string
	lacking := 0
	for i, c := range groups {
		name := fmt.Sprintf("g_%d", i)
		total = counts{total.k + c.k, total.n + c.n, total.missing + c.missing, total.left + c.left}
		cell := report.Cell{Measure: of("error", name, c), Verdict: report.InsufficientEvidence, Reason: "Its gap to another group may be on either side of the threshold."}
		if c.n < minCell {
			cell.Reason = fmt.Sprintf("It has %d of the %d labelled cases with a prediction that a group needs (min_cell).", c.n, minCell)
			lacking += minCell - c.n
			lack = append(lack, fmt.Sprintf("%s (%d)", name, minCell-c.n))
			reasons = append(reasons, fmt.Sprintf("%s (%d)", name, c.n))
		}
		rule.Cells = append(rule.Cells, cell)
		g.Measures = append(g.Measures, cell.Measure, of("accuracy", name, counts{c.n - c.k, c.n, c.missing, c.left}), of("selection", name, counts{c.n / 2, c.n, c.missing, c.left}))
		g.Findings = append(g.Findings, report.Finding{Code: "seen", Severity: report.Warning, Count: c.left,
			Message: fmt.Sprintf("%d cases have a value of place that is not declared: \"q\" in %d cases.", c.left, c.left)})
	}
	for i := range rule.Cells {
		for k := range i {
			a, b := &rule.Cells[k].Measure, &rule.Cells[i].Measure
			pair := report.Pair{Groups: [2]string{fmt.Sprintf("g_%d", k), fmt.Sprintf("g_%d", i)}, Verdict: report.InsufficientEvidence}
			if a.Estimate != nil && b.Estimate != nil {
				gap := max(*a.Estimate-*b.Estimate, *b.Estimate-*a.Estimate)
				pair.Estimate = report.Number(gap)
				pair.Interval = report.PublishInterval(interval.Interval{Lower: gap * 0.5, Upper: (1 + gap) / 2, Confidence: 0.95, Method: interval.MethodBonferroni})
				if rule.Estimate == nil || gap > *rule.Estimate {
					rule.Measure = report.Measure{Estimate: pair.Estimate, Interval: pair.Interval}
				}
			}
			rule.Pairs = append(rule.Pairs, pair)
		}
	}
	own := of("error", "", total)
	own.Estimate, own.Interval, own.Completions = rule.Estimate, rule.Interval, nil
	rule.Measure = own
	rule.Reason = fmt.Sprintf("%d of %d cases are left out (%d because place is empty). The answer is about the others.", total.left, total.n+total.missing+total.left, total.left)
	if lack != nil {
		rule.Reason += fmt.Sprintf(" %s have fewer than %d cases (min_cell).", list(reasons), minCell)
		if len(lack) == 1 { // the number stands before
			lack[0], _, _ = strings.Cut(lack[0], " ")
		}
		rule.Needs = &report.Needs{What: "cases with a prediction in " + list(lack), AtLeast: lacking}
	}
	everyone := of("error", "", total)
	everyone.Labels = nil
	g.Measures = append(g.Measures, everyone)
	g.Summary = fmt.Sprintf("%d cases, %d with a prediction.", total.n+total.missing, total.n)
	g.Data = report.Data{{Name: "cases", Count: total.n + total.missing}, {Name: "predicted", Count: total.n}, {Name: "missing", Count: total.missing}}
	g.Rules = []report.Rule{rule}
	r.Gates = []report.Gate{g}
	r.Inputs = []report.Input{{Path: "cases.csv", Rows: total.n + total.missing + total.left}}
	r.Decide()
	return r
}

// numbersSeen are the whole numbers that a reader of Markdown sees, found otherwise than by the code: every run of digits, with
// its thousands set apart or not, that no point or letter joins.
func numbersSeen(t testing.TB, markdown string) []int {
	var seen []int
	for _, text := range readOutline(t, "published", markdown).texts {
		text = strings.NewReplacer(",", "", "SHA-256", "").Replace(text)
		for _, word := range regexp.MustCompile(`[0-9A-Za-z_.]+`).FindAllString(text, -1) {
			if n, err := strconv.Atoi(strings.TrimSuffix(word, ".")); err == nil {
				seen = append(seen, n)
			}
		}
	}
	return seen
}

// TestPublishedHidesSmallCounts: with min_shown 1,000 no count of the data below it is seen, nor what min_cell less it is, nor the
// rate of its group; and then no other count either but how much was read in all, so that nothing follows from a total and its
// other parts. Counts are from 130 up: the report has smaller numbers of its own.
func TestPublishedHidesSmallCounts(t *testing.T) {
	const least = 1000
	rapid.Check(t, func(rt *rapid.T) {
		size := func(name string) int {
			if rapid.IntRange(0, 9).Draw(rt, name+" is small") == 0 {
				return rapid.IntRange(130, least-1).Draw(rt, name)
			}
			return rapid.IntRange(2*least, 20*least).Draw(rt, name)
		}
		var groups []counts
		anySmall := false
		told := map[int]bool{} // numbers that tell a count of the data
		lacking := 0
		for range rapid.IntRange(2, 5).Draw(rt, "groups") {
			c := counts{k: size("k"), missing: size("missing"), left: size("left")}
			c.n = c.k + size("rest")
			groups = append(groups, c)
			for _, n := range []int{c.k, c.n, c.n - c.k, c.missing, c.left} {
				anySmall = anySmall || n < least
			}
			lacking += max(0, 7000-c.n)
			for _, n := range []int{c.k, c.n, c.n - c.k, c.n / 2, c.missing, c.left, 7000 - c.n} {
				told[n] = true
			}
		}
		var total counts
		for _, c := range groups {
			total = counts{total.k + c.k, total.n + c.n, total.missing + c.missing, total.left + c.left}
		}
		for _, n := range []int{total.k, total.n, total.n - total.k, total.missing, total.left} {
			told[n] = true
		}
		told[lacking] = true
		for _, open := range []int{least, 7000, total.n + total.missing} { // settings, and how much was read
			delete(told, open)
		}
		for n := range told { // what min_cell less a count is may be one of the report's own small numbers
			if n < 130 {
				delete(told, n)
			}
		}
		text := write(t, "markdown", publishable(least, groups), Options{})
		if !anySmall {
			if strings.Contains(text, "| hidden |") || strings.Contains(text, "counts hidden") || strings.Contains(text, "min\\_shown") {
				rt.Fatalf("nothing is small, and yet something is hidden:\n%s", text)
			}
			return
		}
		for _, n := range numbersSeen(t, text) {
			if told[n] {
				rt.Fatalf("%d is seen:\n%s", n, text)
			}
		}
		if strings.Contains(text, "counted both ways") {
			rt.Fatalf("completions are seen:\n%s", text)
		}
		for i, c := range groups {
			if c.k >= least && c.n-c.k >= least && (c.missing >= least || c.n >= least*100) {
				continue
			}
			for line := range strings.Lines(text) {
				name := fmt.Sprintf(`g\_%d`, i)
				inTable := strings.HasPrefix(line, "|") && strings.Contains(line, name)
				if inTable && (!strings.Contains(line, "| hidden | hidden |") || regexp.MustCompile(`[0-9]\.[0-9]{3}`).MatchString(line)) {
					rt.Fatalf("the numbers of group %d with %+v are seen in %q", i, c, line)
				}
			}
		}
	})
}

// Where nothing is below min_shown the report is the one without it.
func TestPublishedIsWholeWhereNothingIsSmall(t *testing.T) {
	groups := []counts{{2000, 5000, 1100, 1200}, {3000, 8000, 1300, 1400}}
	if with, without := write(t, "markdown", publishable(1000, groups), Options{}), write(t, "markdown", publishable(0, groups), Options{}); with != without {
		t.Errorf("with min_shown:\n%s\nwithout:\n%s", with, without)
	}
}

// A rule's own numbers are those of one of its pairs: they are hidden with that pair's, and only then.
func TestRuleIsHiddenWithItsPair(t *testing.T) {
	for _, test := range []struct {
		groups []counts
		want   bool
	}{
		{[]counts{{1000, 5000, 0, 0}, {4000, 5000, 0, 0}, {2500, 5000, 0, 0}}, false},
		{[]counts{{1000, 5000, 0, 0}, {4000, 5000, 0, 0}, {10, 20, 0, 0}}, false}, // in the middle of the others
		{[]counts{{1000, 5000, 0, 0}, {4000, 5000, 0, 0}, {19, 20, 0, 0}}, true},
	} {
		g := &publishable(100, test.groups).Gates[0]
		if got := newHiding(g).rule(&g.Rules[0]); got != test.want {
			t.Errorf("%v: hidden is %v", test.groups, got)
		}
	}
}

// What is small, by the counts of one measure: 5 is shown, 4 is not, whatever it counts.
func TestSmall(t *testing.T) {
	n := report.Int
	ofGroup := map[string]string{"group": "g"}
	for _, test := range []struct {
		name string
		m    report.Measure
		want bool
	}{
		{"nothing counted", report.Measure{}, false},
		{"large", report.Measure{Numerator: n(5), Denominator: n(10), Units: n(10)}, false},
		{"few events", report.Measure{Numerator: n(4), Denominator: n(10)}, true},
		{"no event", report.Measure{Numerator: n(0), Denominator: n(10)}, true},
		{"few others", report.Measure{Numerator: n(996), Denominator: n(1000)}, true},
		{"few recorded", report.Measure{Denominator: n(8), Missing: n(4)}, true},
		{"few people", report.Measure{Units: n(4)}, true},
		{"few worse", report.Measure{Better: n(9), Worse: n(4), Equal: n(9), Units: n(22)}, true},
		{"few open", report.Measure{Better: n(9), Worse: n(9), Equal: n(9), Units: n(29)}, true},
		{"few missing of a group", report.Measure{Labels: ofGroup, Numerator: n(50), Denominator: n(102), Missing: n(2)}, true},
		{"four missing of a group", report.Measure{Labels: ofGroup, Numerator: n(50), Denominator: n(503), Missing: n(4)}, true},
		{"few missing of a large group", report.Measure{Labels: ofGroup, Numerator: n(50), Denominator: n(504), Missing: n(4)}, false}, // 500 recorded, 100 times 5
		{"none missing", report.Measure{Labels: ofGroup, Numerator: n(50), Denominator: n(102), Missing: n(0)}, false},
		{"five missing of a group", report.Measure{Labels: ofGroup, Numerator: n(50), Denominator: n(105), Missing: n(5)}, false},
		{"few missing of everyone", report.Measure{Numerator: n(50), Denominator: n(102), Missing: n(2)}, false},
	} {
		if got := (hiding{least: 5}).numbers(&test.m); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func TestWholeNumbers(t *testing.T) {
	for text, want := range map[string][]int{
		"": nil, "none": nil, "0.138 of 95 % and 2.5%": nil, "under_30, x2, 30_to_60, 5th": nil,
		"x (18) has fewer than 30 cases": {18, 30}, "4,000 of 12,345": {4000, 12345}, "7": {7}, "It is 7.": {7}, "a 3, b 4": {3, 4}, "(sex is empty: 12)": {12},
		"99999999999999999999 cases": nil,
	} {
		if got := wholeNumbers(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestTells(t *testing.T) {
	for text, want := range map[string]bool{
		"It has 3 of the 30 cases.": true, "28 more of the 30": true, "30 of 60 cases": false, "0.112, above 0.05": false, "1 because a is not a declared value": true, "\"q7\" in 1 case": true,
	} {
		if got := (hiding{least: 5}).tells(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
		if (hiding{}).tells(text) {
			t.Errorf("%q: something is hidden without min_shown", text)
		}
	}
	if !(hiding{least: 5, counts: true}).tells("30 of 60 cases") {
		t.Error("a count is seen where none is shown")
	}
}

// A setting is not a count: min_cell stands in the texts and in the settings whatever min_shown is.
func TestSettingsAreNotHidden(t *testing.T) {
	r := publishable(50, []counts{{3, 10, 0, 0}, {60, 9000, 0, 0}})
	r.Gates[0].Settings["min_cell"] = "30"
	r.Gates[0].Rules[0].Assumptions = []string{"min_cell (30) counts cases with a prediction. It rests on 12 cases."}
	text := write(t, "markdown", r, Options{})
	for _, want := range []string{"Groups of at least 30 cases (min\\_cell).", "min\\_cell (30) counts cases with a prediction.", "A sentence is hidden: it tells a number below 50.", "It has fewer cases than the 30 that a group needs (min\\_cell)."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if strings.Contains(text, "12 cases") || strings.Contains(text, "10 of the") {
		t.Errorf("a count is seen:\n%s", text)
	}
}

// A difference tells a rate of everyone that is hidden, beside the other one.
func TestDifferenceOfHiddenRate(t *testing.T) {
	rate := report.Measure{Metric: "blind_agreement", Numerator: report.Int(96), Denominator: report.Int(100), Scale: unit}
	gap := report.Measure{Metric: "anchoring_gap", Units: report.Int(200), Scale: difference}
	for least, want := range map[int]bool{4: false, 5: true} { // 4 of the 100 do not agree
		h := newHiding(&report.Gate{MinShown: least, Measures: []report.Measure{rate, gap}})
		if h.numbers(&gap) != want || h.numbers(&rate) != want {
			t.Errorf("min_shown %d: the gap is hidden: %v, the rate: %v", least, h.numbers(&gap), h.numbers(&rate))
		}
	}
}

// A reason that speaks of a group whose numbers are hidden is not shown, though the rule's own numbers are.
func TestReasonOfHiddenGroup(t *testing.T) {
	for reason, want := range map[string]bool{"In g_0 it is 0.250.": true, "Between g_1 and g_2 it is 0.250.": false} {
		r := publishable(100, []counts{{1000, 5000, 0, 0}, {4000, 5000, 0, 0}, {10, 20, 0, 0}})
		r.Gates[0].Rules[0].Reason = reason
		if text := write(t, "markdown", r, Options{}); strings.Contains(text, "it is 0.250") != want || strings.Contains(text, "| 0.600 | 0.300 … 0.800 |") != true {
			t.Errorf("%q: %s", reason, text)
		}
	}
}

// An empty group is told by no word of its reason.
func TestEmptyGroupIsHidden(t *testing.T) {
	r := publishable(5, []counts{{0, 0, 0, 0}, {4000, 9000, 0, 0}})
	r.Gates[0].Rules[0].Cells[0].Reason = "Nothing was counted: there is no case with label 1."
	if text := write(t, "markdown", r, Options{}); strings.Contains(text, "Nothing was counted") || strings.Contains(text, "no case") {
		t.Errorf("the group is seen to be empty:\n%s", text)
	}
}

// The rows of a file are hidden where they are few, with those of the others; and so are places, which are as many as were found.
func TestPublishedFilesAndPlaces(t *testing.T) {
	r := publishable(50, []counts{{4000, 9000, 0, 0}, {4100, 9000, 0, 0}})
	r.Gates[0].Findings = []report.Finding{{Code: "forms", Severity: report.Note, Message: "Two names differ in form only.", Count: 2}}
	r.Inputs = []report.Input{{Path: "a.csv", Rows: 17_960}, {Path: "b.csv", Rows: 40, Findings: []report.InputFinding{{Code: "forms"}, {Code: "forms"}}}}
	text := write(t, "markdown", r, Options{})
	if strings.Contains(text, "17,960") || strings.Contains(text, "| 40 |") || strings.Contains(text, "At `") || !strings.Contains(text, "Two names differ") {
		t.Errorf("rows or places are seen:\n%s", text)
	}
	r.Gates[0].MinShown = 0
	if text = write(t, "markdown", r, Options{}); !strings.Contains(text, "17,960") || !strings.Contains(text, "| 40 |") || !strings.Contains(text, "At `b.csv` and `b.csv`") {
		t.Errorf("without min_shown rows or places are not seen:\n%s", text)
	}
}

// What has no groups hides its own numbers: a rule's with few events, single cases that moved, and beside what was read in all
// the rows of the files.
func TestPublishedWithoutGroups(t *testing.T) {
	m := report.Measure{Metric: "rate", Scale: unit, Estimate: report.Number(0.03125), Numerator: report.Int(3), Denominator: report.Int(96), Units: report.Int(96), UnitName: "people",
		Interval: report.PublishInterval(interval.Interval{Lower: 0.01, Upper: 0.09, Confidence: 0.95}), Moved: []report.Moved{{Case: "case-of-ann", Candidate: 1, Missing: 2}}}
	r := &report.Report{Inputs: []report.Input{{Path: "a.csv", Rows: 99}}, Gates: []report.Gate{{MinShown: 5, Data: report.Data{{Name: "people", Count: 96}, {Name: "missing", Count: 3}},
		Summary: "96 people, 3 missing.", Measures: []report.Measure{m}, Rules: []report.Rule{{ID: "few", Measure: m, Verdict: report.Pass, Reason: "It holds."}}}}}
	r.Decide()
	text := write(t, "markdown", r, Options{})
	for _, told := range []string{"0.031", "0.010", "case-of-ann", "| 99 |", "3 missing", "of 96"} {
		if strings.Contains(text, told) {
			t.Errorf("%q is seen:\n%s", told, text)
		}
	}
	if !strings.Contains(text, "96 people.") || strings.Count(text, "| hidden | hidden |") != 2 {
		t.Errorf("not what is hidden:\n%s", text)
	}
	r.Gates[0].MinShown = 0
	if text = write(t, "markdown", r, Options{}); !strings.Contains(text, "0.031") || !strings.Contains(text, "case-of-ann") || !strings.Contains(text, "| 99 |") {
		t.Errorf("without min_shown:\n%s", text)
	}
}

// A rule that is waived is for a person to decide because of its waiver, which tells no count.
func TestHiddenReasonOfWaiver(t *testing.T) {
	r := publishable(1000, []counts{{k: 37, n: 150}, {k: 2100, n: 9000}})
	hidden := 0
	for i := range r.Gates {
		for k := range r.Gates[i].Rules {
			rule := &r.Gates[i].Rules[k]
			rule.Verdict, rule.Waived = report.ManualReview, &report.Waived{Until: "2027-01-01", Owner: "o", Reason: "r", Verdict: report.Fail}
		}
		for _, rule := range newHiding(&r.Gates[i]).gate(&r.Gates[i]).Rules {
			if strings.Contains(rule.Reason, "what the doubt is about") {
				t.Errorf("%s: %s", rule.ID, rule.Reason)
			}
			if rule.Reason == "A waiver is in force, so that a person must decide." {
				hidden++
			}
		}
	}
	if hidden == 0 {
		t.Error("no reason is hidden")
	}
}
