package summary

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// The frozen reports fairness*.json were computed from made-up counts with the exact intervals of engine/interval
// (GroupRate, GroupGap, GroupRatio). fairness_regions lists 60 of its 780 pairs.

// TestFairnessReportsAreValid holds them to the published schema and to their own numbers of rules and intervals.
func TestFairnessReportsAreValid(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.JSONSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("testdata/report/fairness*.json")
	if err != nil || len(paths) != 4 {
		t.Fatalf("%q, %v", paths, err)
	}
	reports := readReports(t)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(value); err != nil {
			t.Errorf("%s: %#v", path, err)
		}
		r := reports[strings.TrimSuffix(filepath.Base(path), ".json")]
		if r.Multiplicity == nil {
			continue
		}
		before := *r.Multiplicity
		if r.Decide(); *r.Multiplicity != before {
			t.Errorf("%s: %+v, its rules have %+v", path, before, *r.Multiplicity)
		}
	}
}

// cell is a group with an estimate, nil where there is none.
func cell(name string, estimate *float64) report.Cell {
	return report.Cell{Measure: report.Measure{Labels: map[string]string{"attribute": "a", "group": name}, Estimate: estimate}}
}

func TestWhere(t *testing.T) {
	n := report.Number
	groups := []report.Cell{cell("a", n(0.25)), cell("b", nil), cell("c", n(0.75)), cell("d", n(0.25)), cell("e", n(0.5))}
	for _, test := range []struct {
		threshold report.Threshold
		estimate  *float64
		cells     []report.Cell
		want      string
	}{
		{report.Threshold{Kind: report.MaxGroupGap}, n(0.5), groups, "largest gap: c 0.750, a 0.250 (and 1 more)"},
		{report.Threshold{Kind: report.MinGroupRatio}, n(1. / 3), groups, "lowest ratio: a 0.250 (and 1 more), c 0.750"},
		{report.Threshold{Kind: report.WorstGroup, Side: report.Minimum}, n(0.25), groups, "lowest group: a (and 1 more)"},
		{report.Threshold{Kind: report.WorstGroup, Side: report.Maximum}, n(0.75), groups, "highest group: c"},
		{report.Threshold{Kind: report.MaxGroupGap}, nil, groups, ""},         // no two groups have a rate
		{report.Threshold{Kind: report.MaxGroupGap}, n(0), groups[:1], ""},    // all alike
		{report.Threshold{Kind: report.MaxGroupGap}, n(0), groups[1:2], ""},   // none measured
		{report.Threshold{Kind: report.Minimum, Value: 0.5}, n(0.5), nil, ""}, // a rule on no groups
		{report.Threshold{Kind: report.Minimum, Value: 0.5}, n(0.5), groups, ""},
	} {
		r := &report.Rule{Threshold: test.threshold, Cells: test.cells}
		r.Estimate = test.estimate
		if got := where(r); got != test.want {
			t.Errorf("%v: got %q, want %q", test.threshold, got, test.want)
		}
	}
}

func TestWithLeftOut(t *testing.T) {
	for _, test := range []struct {
		own, with report.Verdict
		waived    bool
		reason    string
		want      string
	}{
		{report.Pass, report.NoVerdict, false, "", ""},
		{report.Pass, report.Pass, false, "", "It stays PASS with the cases left out added at their worst."},
		{report.Fail, report.InsufficientEvidence, false, "", "With the cases left out added at their worst it would be INSUFFICIENT_EVIDENCE: the verdict holds for the recorded cases only."},
		{report.Fail, report.Fail, true, "", "It stays FAIL with the cases left out added at their worst."}, // the rule itself is under MANUAL_REVIEW
		{report.Fail, report.Pass, false, "Added at their worst, or at their worst not.", ""},               // said already
	} {
		r := &report.Rule{Verdict: test.own, WithLeftOut: test.with, Reason: test.reason}
		if test.waived {
			r.Verdict, r.Waived = report.ManualReview, &report.Waived{Verdict: test.own}
		}
		if got := withLeftOut(r); got != test.want {
			t.Errorf("%v, %v: got %q, want %q", test.own, test.with, got, test.want)
		}
	}
}

// A verdict that its left-out cases would turn is not folded away with the rules that pass.
func TestMarkdownShowsPassThatWouldTurn(t *testing.T) {
	for with, folded := range map[report.Verdict]bool{report.NoVerdict: true, report.Pass: true, report.InsufficientEvidence: false} {
		rule := report.Rule{ID: "one", Verdict: report.Pass, Reason: "All pass.", WithLeftOut: with}
		r := &report.Report{Gates: []report.Gate{{Rules: []report.Rule{rule}}}}
		r.Decide()
		text := write(t, "markdown", r, Options{})
		if got := strings.Contains(text, "<details>") && strings.Index(text, "<details>") < strings.Index(text, "All pass"); got != folded {
			t.Errorf("with the left-out cases %v: folded away is %v, want %v:\n%s", with, got, folded, text)
		}
	}
}

// TestRecordedOf: the denominators of rates over predictions hold no missing prediction, those of other rates do.
func TestRecordedOf(t *testing.T) {
	for metric, want := range map[string]int{"error": 7, "false_negative": 7, "precision": 10, "false_discovery": 10, "false_omission": 10, "negative_predictive_value": 10} {
		if got := recordedOf(&report.Measure{Metric: metric, Denominator: report.Int(10), Missing: report.Int(3)}); got != want {
			t.Errorf("%s: %d recorded of 10 with 3 missing, want %d", metric, got, want)
		}
	}
}

func TestShortCounts(t *testing.T) {
	rate := func(k, n, missing int) *report.Measure {
		return &report.Measure{Metric: "error", Numerator: report.Int(k), Denominator: report.Int(n), Units: report.Int(n), UnitName: "cases", Missing: report.Int(missing)}
	}
	people := rate(3, 40, 0)
	people.UnitName = "people"
	for _, test := range []struct {
		measures []*report.Measure
		heading  string
		want     []string
	}{
		{[]*report.Measure{rate(212, 1804, 3), rate(0, 0, 0)}, "cases +missing", []string{"212 of 1,801 +3", "0 of 0"}},
		{[]*report.Measure{rate(1, 2, 0), {Units: report.Int(4746), UnitName: "cases"}}, "cases", []string{"1 of 2", "4,746"}},
		{[]*report.Measure{rate(1, 2, 0), people, {Units: report.Int(7), UnitName: "people"}, {}}, "counted", []string{"1 of 2", "3 of 40", "7 people", ""}},
	} {
		heading, got := shortCounts(test.measures)
		if heading != test.heading || !slices.Equal(got, test.want) {
			t.Errorf("got %q %q, want %q %q", heading, got, test.heading, test.want)
		}
	}
}

// TestErrorMeaningOfGaps: several groups can get one end of a gap or a ratio wrong (a false FAIL has the whole error, section 7
// of the specification), so the sentence on each side does not hold for it.
func TestErrorMeaningOfGaps(t *testing.T) {
	of := func(kinds ...report.Kind) *report.Report {
		r := report.New("1")
		r.Gates = []report.Gate{{}}
		for _, kind := range kinds {
			rule := report.Rule{Threshold: report.Threshold{Kind: kind}}
			rule.Interval = report.PublishInterval(interval.Interval{Lower: 0, Upper: 1, Confidence: 0.95})
			r.Gates[0].Rules = append(r.Gates[0].Rules, rule)
		}
		return r
	}
	const each = "Confidence 95 %: each side of each interval is wrong at most 2.5 % of the time"
	for _, test := range []struct {
		kinds []report.Kind
		want  string
	}{
		{[]report.Kind{report.Minimum, report.WorstGroup}, each + "."},
		{[]report.Kind{report.MaxGroupGap, report.MaxGroupGap}, each + "; the lower end of a gap between groups at most twice as often."},
		{[]report.Kind{report.MinGroupRatio, report.Maximum, report.MaxGroupGap}, each + "; the upper end of a ratio between groups and the lower end of a gap between groups at most twice as often."},
	} {
		if got := errorMeaning(of(test.kinds...)); got != test.want {
			t.Errorf("%v: got %q, want %q", test.kinds, got, test.want)
		}
	}
}

// manyGroups is a report of one rule on n groups and the pairs of them that a report lists, with rates of every group. Its numbers
// are made up.
func manyGroups(n, pairs, omitted int, v report.Verdict) *report.Report {
	r := report.New("1.0.0")
	r.Confidence = 0.95
	rule := report.Rule{ID: "gap", Verdict: v, Reason: "A reason.", Threshold: report.Threshold{Kind: report.MaxGroupGap, Value: 0.05}, PairsOmitted: omitted}
	measure := func(metric, group string, i int) report.Measure {
		m := report.Measure{Metric: metric, Labels: map[string]string{"attribute": "place", "group": group}, Estimate: report.Number(float64(i) / float64(n+1)),
			Scale: &report.Scale{Lower: 0, Upper: 1}, Numerator: report.Int(i), Denominator: report.Int(n + 1), Units: report.Int(n + 1), UnitName: "cases"}
		m.Interval = report.PublishInterval(interval.Interval{Lower: 0, Upper: 1, Confidence: 0.99, Method: interval.MethodBonferroni, Looks: interval.LooksOne})
		return m
	}
	rule.Measure = measure("error", "", 0)
	rule.Labels = map[string]string{"attribute": "place"}
	g := report.Gate{Gate: "fairness", Summary: "Many groups."}
	for i := range n {
		rule.Cells = append(rule.Cells, report.Cell{Measure: measure("error", fmt.Sprintf("g%05d", i), i), Verdict: v})
	}
	for i := range pairs {
		rule.Pairs = append(rule.Pairs, report.Pair{Groups: [2]string{fmt.Sprintf("p%05d", i), "x"}, Interval: rule.Interval, Verdict: v})
	}
	g.Rules = []report.Rule{rule}
	for _, metric := range []string{"error", "accuracy", "selection", "false_positive", "true_negative", "false_negative", "true_positive", "precision", "false_discovery", "false_omission", "negative_predictive_value"} {
		everyone := measure(metric, "", 1)
		everyone.Labels = nil
		g.Measures = append(g.Measures, everyone)
		for i := range n {
			g.Measures = append(g.Measures, measure(metric, fmt.Sprintf("m%05d", i), i))
		}
	}
	r.Gates = []report.Gate{g}
	r.Decide()
	return r
}

var (
	groupLine = regexp.MustCompile(`\bg[0-9]{5}\b`)
	pairLine  = regexp.MustCompile(`\bp[0-9]{5} and x\b`)
	moreOf    = func(what string) *regexp.Regexp { return regexp.MustCompile(`\b([0-9,]+) ` + what) }
)

// told adds up the number before each of what.
func told(t *testing.T, text, what string) int {
	t.Helper()
	total := 0
	for _, m := range moreOf(what).FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	return total
}

// TestNoGroupVanishes: the groups and pairs shown and those said not to be make up all of them, in both forms for people.
func TestNoGroupVanishes(t *testing.T) {
	for _, n := range []int{2, 20, 21, 100, 101, 150} {
		for _, v := range []report.Verdict{report.Fail, report.Pass} {
			r := manyGroups(n, n, 7*(n%2), v)
			r.Gates[0].Measures = r.Gates[0].Measures[:1]
			for _, format := range []string{"terminal", "markdown"} {
				text := strings.Join(strings.Fields(write(t, format, r, Options{Unicode: true})), " ")
				at := strings.Index(text, "A reason.") // the rule's own line above names two groups
				text = text[at:]
				if format == "markdown" {
					text = text[strings.Index(text, "Rule `gap`"):]
				}
				if got := len(groupLine.FindAllString(text, -1)) + told(t, text, "more groups?: see"); got != n {
					t.Errorf("%s, %v: %d groups shown or counted, want %d", format, v, got, n)
				}
				pairs := len(pairLine.FindAllString(text, -1)) + told(t, text, "more pairs?") + told(t, text, "pairs of groups compared")
				if want := n + 7*(n%2); pairs != want {
					t.Errorf("%s, %v: %d pairs shown or counted, want %d:\n%s", format, v, pairs, want, text)
				}
			}
		}
	}
}

// TestManyGroups has as many groups, pairs and measures as a report may: what is shown stays of a size to read.
func TestManyGroups(t *testing.T) {
	r := manyGroups(10_000, 2000, 49_993_000, report.Fail) // 10,000·9,999/2 pairs
	terminal := write(t, "terminal", r, Options{Unicode: true})
	checkTerminal(t, "many groups", terminal, 80)
	if lines := strings.Count(terminal, "\n"); lines > 100 {
		t.Errorf("%d lines for a terminal", lines)
	}
	for _, want := range []string{"and 9,980 more groups: see --format json", "and 1,990 more pairs: see --format json; 49,993,000 more pairs", "and 110,000 more measures of groups"} {
		if !strings.Contains(strings.Join(strings.Fields(terminal), " "), want) {
			t.Errorf("%q is missing in\n%s", want, terminal)
		}
	}
	markdown := write(t, "markdown", r, Options{})
	for _, want := range []string{"and 9,900 more groups: see the JSON report.", "and 1,950 more pairs: see the JSON report; 49,993,000 more pairs", "and 9,900 more groups of each rate", "Measures (110,011)"} {
		if !strings.Contains(markdown, want) {
			t.Errorf("%q is missing in Markdown", want)
		}
	}
	only := manyGroups(40, 0, 0, report.Fail)
	only.Gates[0].Rules, only.Verdict, only.Counts = nil, report.NoVerdict, nil
	text := write(t, "terminal", only, Options{Unicode: true})
	// 20 groups of each of 11 rates
	if got := strings.Count(text, "    m0"); got != 220 || !strings.Contains(text, "and 20 more groups of each rate: see --format json") {
		t.Errorf("%d rows of groups:\n%s", got, text)
	}
}

// TestMarkdownKeepsGroupsLonger: where not all fits, the measures go before the groups of the rules.
func TestMarkdownKeepsGroupsLonger(t *testing.T) {
	r := manyGroups(60, 60, 0, report.Fail)
	whole := len(write(t, "markdown", r, Options{}))
	text := write(t, "markdown", r, Options{MaxBytes: whole - 1})
	if !strings.Contains(text, "Groups and pairs (120)") || !strings.Contains(text, "671 measures not shown here.") || !strings.Contains(text, leftOut) {
		t.Errorf("of %d bytes:\n%s", whole, text)
	}
}

// Rows keep every group and pair, the worst verdict first; of undecided groups the smallest first; of pairs those that reach
// furthest, upward for a gap and downward for a ratio.
func TestRowsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		verdict := rapid.SampledFrom(append([]report.Verdict{report.NoVerdict}, report.Verdicts...))
		r := &report.Rule{Threshold: report.Threshold{Kind: rapid.SampledFrom([]report.Kind{report.MaxGroupGap, report.MinGroupRatio}).Draw(t, "kind"), Value: 0.5}}
		for i := range rapid.IntRange(0, 12).Draw(t, "groups") {
			c := cell(fmt.Sprintf("g%02d", i), nil)
			c.Verdict = verdict.Draw(t, "verdict")
			c.Denominator = report.Int(rapid.IntRange(0, 5).Draw(t, "cases"))
			r.Cells = append(r.Cells, c)
			p := report.Pair{Groups: [2]string{fmt.Sprintf("g%02d", i), "x"}, Verdict: verdict.Draw(t, "pair")}
			if rapid.Bool().Draw(t, "measured") {
				lower := rapid.Float64Range(0, 1).Draw(t, "lower")
				p.Interval = report.PublishInterval(interval.Interval{Lower: lower, Upper: rapid.Float64Range(lower, 1).Draw(t, "upper")})
			}
			r.Pairs = append(r.Pairs, p)
		}
		names := map[string]int{}
		groups, pairs := groupRows(r, nil), pairRows(r)
		for i, g := range groups {
			names[g.name]++
			if i == 0 {
				continue
			}
			before := groups[i-1]
			if before.verdict < g.verdict {
				t.Fatalf("%v before %v", before.verdict, g.verdict)
			}
			if g.verdict == before.verdict {
				small, large := *before.measure.Denominator, *g.measure.Denominator
				if undecided := g.verdict == report.InsufficientEvidence; undecided && small > large || (!undecided || small == large) && before.name >= g.name {
					t.Fatalf("%v: %s of %d before %s of %d", g.verdict, before.name, small, g.name, large)
				}
			}
		}
		for i, p := range pairs {
			names[p.name]++
			if i == 0 || pairs[i-1].verdict != p.verdict || pairs[i-1].measure.Interval == nil {
				continue
			}
			if p.measure.Interval == nil {
				t.Fatal("a pair that is not measured after one that is")
			}
			before, after := pairs[i-1].measure.Interval, p.measure.Interval
			if r.Threshold.Kind == report.MaxGroupGap && *before.Upper < *after.Upper || r.Threshold.Kind == report.MinGroupRatio && *before.Lower > *after.Lower {
				t.Fatalf("%v before %v", *before, *after)
			}
		}
		if len(names) != len(r.Cells)+len(r.Pairs) || len(groups)+len(pairs) != len(names) {
			t.Fatalf("%d names of %d groups and %d pairs", len(names), len(r.Cells), len(r.Pairs))
		}
	})
}

// Each reason stands once, with its groups, and not where the rule has given it.
func TestUndecidedWhy(t *testing.T) {
	rows := []groupRow{{name: "a", reason: "Too small"}, {name: "b"}, {name: "c", reason: "Straddles."}, {name: "d", reason: "Too small"}, {name: "e", reason: "Given."}}
	want := []string{"a and d: Too small.", "c: Straddles."}
	if diff := cmp.Diff(want, undecidedWhy(rows, "It is given. Given. Too.")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A ratio's numbers stand under a ratio's heading beside its own threshold, a gap's under a gap's; and a group's rate is compared
// with neither.
func TestGapsAndRatiosAreNamed(t *testing.T) {
	r := readReports(t)["fairness"]
	for _, format := range []string{"terminal", "markdown"} {
		text := strings.ToLower(write(t, format, r, Options{Unicode: true}))
		if format == "markdown" {
			text = text[strings.Index(text, "groups and pairs"):]
		} else {
			text = text[strings.Index(text, "fnr-by-sex: "):]
		}
		for _, rule := range r.Gates[0].Rules {
			if len(rule.Pairs) == 0 || rule.Verdict == report.Pass && format == "terminal" {
				continue
			}
			mark := rule.ID + ": "
			if format == "markdown" {
				mark = "rule `" + rule.ID + "`"
			}
			_, part, found := strings.Cut(text, mark)
			if !found {
				t.Fatalf("%s: nothing on %s", format, rule.ID)
			}
			_, heading, _ := strings.Cut(part, "pair ")
			heading, _, _ = strings.Cut(heading, "\n")
			want, other := "gap", "ratio"
			if rule.Threshold.Kind == report.MinGroupRatio {
				want, other = other, want
			}
			if !strings.Contains(heading, want) || strings.Contains(heading, other) {
				t.Errorf("%s, %s: the pairs' heading is %q", format, rule.ID, heading)
			}
		}
	}
}

// A calibration error stands beside what it would be by chance, under a heading that says so, and beside no threshold or interval.
func TestCalibrationRows(t *testing.T) {
	for _, name := range []string{"fairness", "fairness_report"} {
		for format, heading := range map[string]string{"terminal": `GROUP +MEASURED +IF CALIBRATED`, "markdown": `\| By \| Group \| Measured \| If calibrated \|`} {
			r := readReports(t)[name]
			r.Gates[0].MinShown = 0
			text := write(t, format, r, Options{Unicode: true})
			at := regexp.MustCompile(heading).FindStringIndex(text)
			if at == nil {
				t.Fatalf("%s as %s: no heading for calibration:\n%s", name, format, text)
			}
			// 30/1024 and 20/1024 are 0.0293 and 0.0195; 65/1024 and 45/1024 0.0635 and 0.0439
			for _, want := range []string{`0\.029[ |]+0\.020\b`, `0\.063[ |]+0\.044\b`} {
				if !regexp.MustCompile(want).MatchString(text[at[1]:]) {
					t.Errorf("%s as %s: nothing like %s under the heading", name, format, want)
				}
			}
			if n := strings.Count(text, "if calibrated"); n > 0 {
				t.Errorf("%s as %s: the heading's words stand in %d rows", name, format, n)
			}
		}
	}
}

// Of a rule on pairs a group's verdict is told as that of its pairs, never as a verdict on the group: the group that is treated
// best stands in the pair that fails too. A rule on each group by itself keeps the verdicts.
func TestGroupsOfPairsHaveNoVerdict(t *testing.T) {
	rule := report.Rule{ID: "one", Verdict: report.Fail, Threshold: report.Threshold{Kind: report.MaxGroupGap, Value: 0.1}}
	for i, v := range []report.Verdict{report.Fail, report.Pass, report.InsufficientEvidence, report.InsufficientEvidence} {
		c := cell(fmt.Sprintf("g%d", i), report.Number(0.25))
		c.Verdict, c.Numerator, c.Denominator = v, report.Int(5), report.Int([]int{40, 40, 30, 29}[i])
		rule.Cells = append(rule.Cells, c)
	}
	r := &report.Report{Gates: []report.Gate{{Settings: map[string]string{"min_cell": "30"}, Rules: []report.Rule{rule}}}}
	r.Decide()
	terminal := write(t, "terminal", r, Options{})
	for _, want := range []string{"ITS PAIRS  GROUP", "a FAIL     g0 ", "pass       g1 ", "undecided  g2 ", "too small  g3 "} {
		if !strings.Contains(terminal, want) {
			t.Errorf("%q is missing:\n%s", want, terminal)
		}
	}
	markdown := write(t, "markdown", r, Options{})
	for _, want := range []string{"| Its pairs | Group |", "| a FAIL | g0 |", "| pass | g1 |", "| undecided | g2 |", "| too small | g3 |"} {
		if !strings.Contains(markdown, want) {
			t.Errorf("%q is missing:\n%s", want, markdown)
		}
	}
	r.Gates[0].Rules[0].Threshold = report.Threshold{Kind: report.WorstGroup, Side: report.Minimum, Value: 0.1}
	if text := write(t, "terminal", r, Options{}); strings.Contains(text, "PAIRS") || !strings.Contains(text, "FAIL       g0 ") {
		t.Errorf("a rule on each group:\n%s", text)
	}
	if text := write(t, "markdown", r, Options{}); !strings.Contains(text, "| ❌ FAIL | g0 |") {
		t.Errorf("a rule on each group:\n%s", text)
	}
}

// Up to three pairs are listed whatever the verdict; of more, those of a rule that passes are counted. Pairs with intervals of
// their own say so.
func TestFewPairsAreListed(t *testing.T) {
	for _, test := range []struct {
		pairs, omitted int
		method         interval.Method
		listed, direct bool
	}{{1, 0, interval.MethodFisherProduct, true, true}, {3, 0, interval.MethodBonferroni, true, false}, {4, 0, interval.MethodFisherProduct, false, true}, {3, 1, interval.MethodBonferroni, false, false}} {
		r := manyGroups(3, test.pairs, test.omitted, report.Pass)
		for i := range r.Gates[0].Rules[0].Pairs {
			iv := *r.Gates[0].Rules[0].Interval
			iv.Method = test.method
			r.Gates[0].Rules[0].Pairs[i].Interval = &iv
		}
		text := strings.Join(strings.Fields(write(t, "terminal", r, Options{})), " ")
		const direct = "The pairs are compared directly (interval: pairwise); the groups' own intervals are for reading."
		if strings.Contains(text, "p00000 and x") != test.listed || strings.Contains(text, direct) != test.direct || strings.Contains(text, "pairs of groups compared") == test.listed {
			t.Errorf("%+v: %s", test, text)
		}
		if text := write(t, "markdown", r, Options{}); strings.Contains(text, direct) != test.direct {
			t.Errorf("%+v: %s", test, text)
		}
	}
}

// A verdict that its left-out cases would turn says so where it stands, however many rules pass beside it.
func TestRecordedOnlyStandsBesideTheVerdict(t *testing.T) {
	r := manyRules(30)
	turned := &r.Gates[0].Rules[1]
	turned.WithLeftOut = report.InsufficientEvidence
	const want = "recorded cases only: with its left-out cases at their worst INSUFFICIENT_EVIDENCE"
	text := strings.Join(strings.Fields(write(t, "terminal", r, Options{Width: 200})), " ")
	table, _, _ := strings.Cut(text, "rule-001: A reason.")
	if strings.Count(table, want) != 1 || !strings.Contains(table, turned.Metric+" "+want) {
		t.Errorf("%s", text)
	}
	if text := write(t, "markdown", r, Options{}); strings.Count(text, "| `rule-001` accuracy. **Recorded cases only: with its left-out cases at their worst INSUFFICIENT\\_EVIDENCE** |") != 1 {
		t.Errorf("%s", text)
	}
	turned.WithLeftOut = report.Pass
	if text := write(t, "markdown", r, Options{}); strings.Contains(text, "cases only") {
		t.Errorf("a verdict that stays: %s", text)
	}
}
