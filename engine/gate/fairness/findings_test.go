package fairness

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// TestFindings: what is pointed at, with its count and its words.
func TestFindings(t *testing.T) {
	const declared = "probability: score\nattributes: {sex: [female, male, Male], grade: [\"1\", \"2\"]}\nintersections: [[sex, grade]]\n"
	const both = "rules:\n  - {id: a, rate: error, attribute: sex, max_group_gap: 0.5}\n  - {id: b, rate: error, attribute: sex, worst_group: {maximum: 0.5}}\n"
	file := cases("label,prediction,score,sex,grade",
		3, "1,1,0.5,female,1", 2, "1,1,0.5,male,2.0", 1, "1,1,,FEMALE,1", 4, "1,1,0.1234567890123456789,n/a,1", 1, "1,,0.5,male,", 2, ",1,0.5,male,1", 1, "1,1,0.5,b,1", 1, "1,1,0.5,c,1",
		1, "1,1,0.5,d,1", 1, "1,1,0.5,e,1", 1, "1,1,0.5,g,1")
	g := decide(t, declared+both, file)
	got := map[string]string{}
	for _, f := range g.Findings {
		got[f.Code] += fmt.Sprintf("%s %d %s\n", f.Severity, f.Count, f.Message)
	}
	want := map[string]string{
		"undeclared_values": `warning 10 10 cases have a value of sex that is not declared: "n/a" in 4 cases, "FEMALE" in 1 case (declared as "female", from which it differs only in letter case, spaces or Unicode form), ` +
			`"b" in 1 case, "c" in 1 case, "d" in 1 case, 2 more values. They are left out of the rules that use it, and counted there. If "n/a" means that nothing was recorded, say so: missing_values: ["n/a"].` + "\n" +
			`warning 2 2 cases have a value of grade that is not declared: "2.0" in 2 cases (the number that is declared as "2"). They are left out of the rules that use it, and counted there.` + "\n",
		"attribute_empty":            "warning 1 1 case has no value of grade: left out of the rules that use it, and counted there.\n",
		"labels_missing":             "warning 2 2 cases have no label: left out of the rules whose rate needs one, and counted there.\n",
		"predictions_missing":        "note 1 1 case has no prediction: kept in their group and counted both ways.\n",
		"empty_groups":               "warning 1 No case lies in 1 declared group of sex: Male. A rule over all of them cannot pass.\nwarning 1 No case lies in 1 declared group of grade: 2. A rule over all of them cannot pass.\n" + "warning 4 No case lies in 4 declared groups of sex × grade: female × 2, male × 2, Male × 1 and 1 more. A rule over all of them cannot pass.\n",
		"groups_differ_only_in_form": `warning 2 The declared groups of sex "Male", "male" differ only in letter case, spaces or Unicode form; values are compared as text, so write each one way.` + "\n",
		"constant_column":            "note 16 Every recorded label is 1.\nnote 17 Every recorded prediction is 1.\n",
		"group_sizes": "note 3 Cases in the groups of sex: Male (0), female (3), male (5).\nnote 2 Cases in the groups of grade: 2 (0), 1 (15).\n" +
			"note 6 Cases in the groups of sex × grade: female × 2 (0), male × 2 (0), Male × 1 (0), Male × 2 (0), male × 1 (2), female × 1 (3).\n",
		"small_groups": "note 3 Rule a cannot pass: every group of sex needs 30 labelled cases with a prediction (min_cell), and there are fewer in Male (0), male (2), female (3).\n" +
			"note 3 Rule b cannot pass: every group of sex needs 30 labelled cases with a prediction (min_cell), and there are fewer in Male (0), male (2), female (3).\n",
		"probabilities_missing": "note 1 1 case has no probability: left out of calibration.\n",
		"probabilities_rounded": "note 4 4 probabilities have more than 18 decimals; the rest was rounded, half to even.\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	// One kind of rule is pointed at, both kinds are not.
	for rules, want := range map[string]string{
		"max_group_gap: 0.5":          "Every rule is about the distance between groups",
		"min_group_ratio: 0.5":        "Every rule is about the distance between groups",
		"worst_group: {maximum: 0.5}": "Every rule is a floor or a ceiling for each group",
	} {
		f := finding(decide(t, declared+"rules: [{id: a, rate: error, attribute: sex, "+rules+"}]", file), "one_kind_of_rule")
		if f == nil || !strings.HasPrefix(f.Message, want) {
			t.Errorf("%s: %+v", rules, f)
		}
	}
	for _, f := range g.Findings {
		if strings.Contains(f.Message, "fair") || strings.Contains(f.Message, "compliant") {
			t.Errorf("a finding calls something fair or compliant: %s", f.Message)
		}
	}
}

// TestWideGap: a gap of more than a half is pointed at, before the run and after it; a half is not, and 1 is told as a rule that cannot
// fail.
func TestWideGap(t *testing.T) {
	for threshold, want := range map[string]string{
		"0.5": "",
		"0.8": "rule a: max_group_gap is a distance, and with 0.8 groups of the rates 0 and 0.8 would pass, which says little; that no rate is below a share of another, such as four fifths, is min_group_ratio",
		"1":   "rule a cannot fail: max_group_gap is 1, and the distance of two groups' rates lies between 0 and 1",
	} {
		ask := run{verb: gate.Decide, declaration: bySex("rate: selection, max_group_gap: " + threshold), names: []string{"c.csv"}}
		prospects := compileSound(t, ask).Prospects()
		if (want == "") != (len(prospects) == 0) || want != "" && prospects[0].Message != want {
			t.Errorf("%s: %v, want %s", threshold, prospects, want)
		}
		g := decide(t, ask.declaration, cases("prediction,sex", 1, "1,female"))
		if f := finding(g, "wide_gap"); (f != nil) != (threshold == "0.8") || f != nil && f.Message != want+"." {
			t.Errorf("%s: %+v", threshold, f)
		}
	}
}

// TestManyUndeclaredValues: the most frequent ones are named while all are counted, and of more the first in order, told as that.
func TestManyUndeclaredValues(t *testing.T) {
	blocks := []any{3, "1,1,zzz", 2, "1,1,yyy"}
	for i := range mostValues - 2 {
		blocks = append(blocks, 1, fmt.Sprintf("1,1,v%04d", i))
	}
	declared := bySex("rate: error, max_group_gap: 0.5")
	f := finding(decide(t, declared, cases("label,prediction,sex", blocks...)), "undeclared_values")
	if want := `1003 cases have a value of sex that is not declared: "zzz" in 3 cases, "yyy" in 2 cases, "v0000" in 1 case, "v0001" in 1 case, "v0002" in 1 case, 995 more values. They are left out of the rules that use it, and counted there.`; f == nil || f.Count != 1003 || f.Message != want {
		t.Errorf("%+v, want %s", f, want)
	}
	f = finding(decide(t, declared, cases("label,prediction,sex", append(blocks, 1, "1,1,a")...)), "undeclared_values")
	if want := `1004 cases have a value of sex that is not declared, more than 1000 different ones, the first in order of which are: "a" in 1 case, "v0000" in 1 case, "v0001" in 1 case, "v0002" in 1 case, "v0003" in 1 case. They are left out of the rules that use it, and counted there.`; f == nil || f.Count != 1004 || f.Message != want {
		t.Errorf("%+v, want %s", f, want)
	}
}

// TestUndeclaredResemblances: what an undeclared value was perhaps meant to be.
func TestUndeclaredResemblances(t *testing.T) {
	one := func(declared, value string) string {
		g := decide(t, "attributes: {region: "+declared+"}\nrules: [{id: a, rate: selection, attribute: region, worst_group: {minimum: 0}}]", cases("prediction,region", 1, "1,"+value))
		f := finding(g, "undeclared_values")
		if f == nil {
			t.Fatalf("%s of %s: no finding", value, declared)
		}
		return f.Message
	}
	if got, want := one("[North, South]", "Nroth"), `1 case has a value of region that is not declared: "Nroth" in 1 case (did you mean "North"?). It is left out of the rules that use it, and counted there.`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for _, c := range []struct{ declared, value string }{
		{"[f, m]", "x"},          // every letter is one slip from every other
		{"[2019, 2020]", "2021"}, // another year is no slip of the pen
		{"[North, South]", "Overseas"},
		{"[none at all, some]", "none"}, // a marker
	} {
		if got := one(c.declared, c.value); strings.Contains(got, "did you mean") {
			t.Errorf("%s of %s: %s", c.value, c.declared, got)
		}
	}
}

// TestNumbersWithoutBins: numbers where only texts are declared, all of them and nothing else.
func TestNumbersWithoutBins(t *testing.T) {
	for _, c := range []struct {
		declared string
		values   []string
		want     string
	}{
		{"[under_30, 30_to_65, over_65]", []string{"17", "44.5"}, `No case has a declared value of age, and all that are recorded are numbers, such as "17"; did you mean age: {bins: [30, 65]}?`},
		{"['65+', '30-64.5', '<30']", []string{"17", "17"}, `No case has a declared value of age, and all that are recorded are numbers, such as "17"; did you mean age: {bins: [30, 65]}?`}, // 3 numbers in 3 groups are no bounds of theirs
		{"[18 to 30.5, 30.5 and over, minor (under 18)]", []string{"17"}, `No case has a declared value of age, and all that are recorded are numbers, such as "17"; did you mean age: {bins: [18, 30.5]}?`},
		{"[young, old]", []string{"17"}, `No case has a declared value of age, and all that are recorded are numbers, such as "17"; did you mean age: {bins: [30, 65]}?`},
		{"[young, old]", []string{"17", "unknown"}, ""},
		{"[young, old]", []string{"17", "old"}, ""},
		{"{bins: [30]}", []string{"17"}, ""},
	} {
		var blocks []any
		for _, v := range c.values {
			blocks = append(blocks, 1, "1,"+v)
		}
		f := finding(decide(t, "attributes: {age: "+c.declared+"}\nrules: [{id: a, rate: selection, attribute: age, worst_group: {minimum: 0}}]", cases("prediction,age", blocks...)), "numbers_without_bins")
		if (f == nil) != (c.want == "") || f != nil && (f.Message != c.want || f.Count != len(c.values)) {
			t.Errorf("%v of %s: %+v, want %s", c.values, c.declared, f, c.want)
		}
	}
}

// TestOpposed: labels and predictions that are wrong more often than right, and words that mean opposite things.
func TestOpposed(t *testing.T) {
	const declared = "attributes: {sex: [f, m]}\nrules: [{id: a, rate: error, attribute: sex, worst_group: {maximum: 1}}]"
	// 81 of 100 wrong. At 95 % the interval of 8 right of 20 is .19 to .64, and holds .5; predictions and labels alone say nothing.
	g := decide(t, declared, cases("label,prediction,sex", 40, "1,0,f", 41, "0,1,m", 19, "1,1,f", 50, ",1,f"))
	if f := finding(g, "labels_and_predictions_opposed"); f == nil || f.Severity != report.Warning || f.Count != 81 ||
		f.Message != "The prediction differs from the label in 81 % of the cases with both: are positive and negative swapped?" {
		t.Errorf("81 of 100: %+v", f)
	}
	for _, blocks := range [][]any{{12, "1,0,f", 8, "1,1,m"}, {100, "1,,f"}, {100, ",1,f"}, {40, "1,0,f", 60, "1,,f"}} { // 40 wrong and 60 that may be right
		if f := finding(decide(t, declared, cases("label,prediction,sex", blocks...)), "labels_and_predictions_opposed"); f != nil {
			t.Errorf("%v: %+v", blocks, f)
		}
	}
	g = decide(t, "label: {positive: bad, negative: good}\nprediction: {positive: good, negative: bad}\n"+declared, cases("label,prediction,sex", 1, "good,good,f"))
	var got []string
	for _, f := range g.Findings {
		if f.Code == "opposite_words" {
			got = append(got, f.Message)
		}
	}
	want := []string{`"good" is the negative word of the label and the positive word of the prediction: is one of them the wrong way round?`,
		`"bad" is the positive word of the label and the negative word of the prediction: is one of them the wrong way round?`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("opposite words (-want +got):\n%s", diff)
	}
	g = decide(t, "positive: good\nnegative: bad\nprediction: {positive: yes, negative: no}\n"+declared, cases("label,prediction,sex", 1, "good,yes,f"))
	if f := finding(g, "opposite_words"); f != nil {
		t.Errorf("unlike words: %+v", f)
	}
}

// TestSizes: check tells, before any rate, how large the groups are and which are too small for a rule's rate; of many the smallest.
func TestSizes(t *testing.T) {
	declared := "attributes: {g: " + list("g", 25) + "}\nrules: [{id: a, rate: false_negative, attribute: g, max_group_gap: 0.2, where: {region: north}}]"
	var blocks []any
	for i := range 25 {
		blocks = append(blocks, 50-i, fmt.Sprintf("1,1,g%d,north", i), 1, fmt.Sprintf("1,1,g%d,south", i), 2, fmt.Sprintf("0,1,g%d,north", i), 3, fmt.Sprintf("1,,g%d,north", i))
	}
	a, err := tryRun(run{verb: gate.Check, declaration: declared, names: []string{"c"}, files: map[string]string{"c": cases("label,prediction,g,region", blocks...)}})
	if err != nil {
		t.Fatal(err)
	}
	// g24 has 50 − 24 with label 1 and a prediction in the north; 6 more in all. The five of fewer than 30 are g21 to g24 and, at 30, not g20.
	var smallest []string
	for i := 24; i > 4; i-- {
		smallest = append(smallest, fmt.Sprintf("g%d (%d)", i, 56-i))
	}
	if f, want := finding(a.Gate, "group_sizes"), "Cases in the groups of g: "+strings.Join(smallest, ", ")+", 5 more groups."; f == nil || f.Count != 25 || f.Message != want {
		t.Errorf("%+v, want %s", f, want)
	}
	if f, want := finding(a.Gate, "small_groups"), "Rule a cannot pass: every group of g where region=north needs 30 cases with label 1 and a prediction (min_cell), and there are fewer in g24 (26), g23 (27), g22 (28), g21 (29)."; f == nil || f.Count != 4 || f.Message != want {
		t.Errorf("%+v, want %s", f, want)
	}
}

// TestVerbs: check has no measures and no rules, report has measures, gate both (details 9); every rate of the file and of every
// group is there, in the declaration's order.
func TestVerbs(t *testing.T) {
	ask := run{declaration: "probability: p\nattributes: {sex: [female, male]}\nrules: [{id: a, rate: error, attribute: sex, max_group_gap: 1}]", names: []string{"c"},
		files: map[string]string{"c": cases("label,prediction,p,sex", 5, "1,1,0.9,female", 5, "0,1,0.9,male")}}
	for verb, want := range map[gate.Verb][2]int{gate.Check: {0, 0}, gate.Report: {36, 0}, gate.Decide: {36, 1}} { // (11 rates + calibration) × (1 file + 2 groups)
		ask.verb = verb
		a, err := tryRun(ask)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Gate.Measures) != want[0] || len(a.Gate.Rules) != want[1] || a.Gate.Summary == "" || len(a.Gate.Data) != 8 || a.Gate.Findings == nil {
			t.Errorf("%s: %d measures and %d rules, want %v", verb, len(a.Gate.Measures), len(a.Gate.Rules), want)
		}
		if verb == gate.Check {
			continue
		}
		m := a.Gate.Measures[0]
		if m.Metric != "error" || m.Labels != nil || m.Interval.Method != interval.MethodClopperPearson || m.Interval.Confidence != 0.95 || *m.Numerator != 5 || *m.Denominator != 10 {
			t.Errorf("the first measure is %+v", m)
		}
		if m := measure(t, a.Gate, "error", "sex", "male"); m.Interval.Method != interval.MethodBonferroni || m.Interval.Confidence != 0.975 || *m.Estimate != 1 {
			t.Errorf("error of male is %+v", m)
		}
		// Nothing vanishes: no man has label 1.
		if m := measure(t, a.Gate, "false_negative", "sex", "male"); m.Estimate != nil || *m.Denominator != 0 || m.Conditions != "Nothing was counted: there is no case with label 1." || *m.Interval.Lower != 0 || *m.Interval.Upper != 1 {
			t.Errorf("false_negative of male is %+v", m)
		}
	}
	if want := "10 cases, 10 with a label and 10 with a prediction, by sex (2 groups)."; !strings.Contains(decide(t, ask.declaration, ask.files["c"]).Summary, want) {
		t.Errorf("summary %q", decide(t, ask.declaration, ask.files["c"]).Summary)
	}
}

// TestCalibration: bins by hand. With two bins, .5 lies in the upper one: [0, .5) has .2 and .4 with labels 0 and 1, so |1 − .6|; the
// upper one .5, .9 and 1 with 1, 1 and 0: |2 − 2.4|. Together .8 over 5 cases.
func TestCalibration(t *testing.T) {
	declared := "probability: p\ncalibration_bins: 2\n" + bySex("rate: error, max_group_gap: 1")
	g := decide(t, declared, cases("label,prediction,p,sex", 1, "0,0,0.2,female", 1, "1,0,0.4,female", 1, "1,1,0.5,female", 1, "1,1,0.9,female", 1, "0,1,1,female", 1, ",1,0.7,female", 1, "1,1,,female"))
	m := measure(t, g, calibrationError, "sex", "female")
	if *m.Estimate != 0.16 || *m.Units != 5 || *m.Denominator != 5 {
		t.Errorf("calibration %v over %d, want .16 over 5", *m.Estimate, *m.Units)
	}
	// Were the probabilities right: |X/2 − .3| of Bin(2, .3) is .3 with .49, .2 with .42, .7 with .09: .294. |X/3 − .8| of Bin(3, .8) is
	// .8 with .008, .4667 with .096, .1333 with .384, .2 with .512: .2048. Weighted 2 and 3 of 5: .24048.
	if math.Abs(*m.UnderCalibration-0.24048) > 1e-11 {
		t.Errorf("expected under calibration %v, want .24048", *m.UnderCalibration)
	}
	if all := measure(t, g, calibrationError, "", ""); *all.Estimate != 0.16 {
		t.Errorf("of the whole file %v", *all.Estimate)
	}
	if m := measure(t, g, calibrationError, "sex", "male"); m.Estimate != nil || m.UnderCalibration != nil || *m.Units != 0 || m.Conditions == "" {
		t.Errorf("of no case %+v", m)
	}
	// The bins of the five: their mean probabilities are .3 and .8, with one of two and two of three labels 1.
	bins := []report.CalibrationBin{{From: 0, To: 0.5, Probability: 0.3, Positives: 1, Cases: 2}, {From: 0.5, To: 1, Probability: 0.8, Positives: 2, Cases: 3}}
	if diff := cmp.Diff(bins, m.Bins); diff != "" {
		t.Error(diff)
	}
	if g.Settings["calibration_bins"] != "2" || g.Data.Of("missing_probabilities") != 1 {
		t.Errorf("settings %v, data %v", g.Settings, g.Data)
	}
}

// TestListedBins: with min_shown a bin with fewer cases of either label is not listed, and of very many bins none is.
func TestListedBins(t *testing.T) {
	kept := bins{{at: 0, n: 5, labels: 2}, {at: 2, n: 6, labels: 3}, {at: 3, n: 4, labels: 4}}
	for least, want := range map[int][]float64{0: {0, 0.5, 0.75}, 1: {0, 0.5}, 2: {0, 0.5}, 3: {0.5}, 4: nil} {
		var from []float64
		for _, b := range listBins(kept, 4, least) {
			from = append(from, b.From)
		}
		if !slices.Equal(from, want) {
			t.Errorf("min_shown %d: the bins from %v, want %v", least, from, want)
		}
	}
	declared := "probability: p\ncalibration_bins: 1000\nattributes: {a: " + list("x", 3) + "}\nrules: [{id: r, rate: error, attribute: a, max_group_gap: 1}]"
	for each, want := range map[int]bool{600: true, 700: false} { // bins of each of three groups: 1,800 and 2,100 in all
		var rows strings.Builder
		rows.WriteString("id,label,prediction,p,a\n")
		for i := range 3 * each {
			fmt.Fprintf(&rows, "%d,1,1,0.%03d,x%d\n", i, i/3, i%3)
		}
		g := decide(t, declared, rows.String())
		if m := measure(t, g, calibrationError, "a", "x0"); (len(m.Bins) == each) != want || !want && m.Bins != nil {
			t.Errorf("%d bins of each group: %d are listed", each, len(m.Bins))
		}
	}
}

// TestSparseBins: only bins that have a case are kept, so that 10,000 groups of 1,000 bins with 3,000 cases take 3,000 at most; they stand
// in ascending order, and hold what they were given in whatever order and parts.
func TestSparseBins(t *testing.T) {
	q := compileSound(t, run{verb: gate.Report, declaration: "probability: p\ncalibration_bins: 1000\nattributes: {a: " + list("x", 100) + ", b: " + list("y", 100) + "}\nintersections: [[a, b]]", names: []string{"c"}})
	const n = 3000
	kept := 0
	whole := newTally(q.tally.plan)
	for part := range 3 {
		tally := newTally(q.tally.plan)
		for i := part; i < n; i += 3 {
			p, _, err := rows.ParseDecimal(fmt.Sprintf("0.%03d", (n-i)*7%1000)) // each of 1,000 bins three times, in no order
			if err != nil {
				t.Fatal(err)
			}
			tally.groups = []int{i % 2, 0}
			for v := range tally.views {
				tally.count(&q.tally.plan.views[v], &tally.views[v], batch{label: i % 2, prediction: yes, bin: binOf(tally.edges, p), n: 1, probabilities: rows.Sum{}.Add(p)})
			}
		}
		whole.Merge(tally)
	}
	for v := range whole.views {
		for _, b := range whole.views[v].bins {
			kept += cap(b)
			for i := range b {
				if b[i].n == 0 || i > 0 && b[i].at <= b[i-1].at {
					t.Fatalf("bin %d of %d cases stands after %d", b[i].at, b[i].n, b[max(0, i-1)].at)
				}
			}
		}
	}
	all := whole.views[0].bins[0]
	if len(all) != 1000 || all[1].n != 3 || all[1].probabilities.Over(3) != 0.001 {
		t.Errorf("the whole file has %d bins, the second %+v; want 1000, three cases of .001", len(all), all[1])
	}
	if kept > 4*2*n { // 4 views, and a slice that grows has up to twice the room
		t.Errorf("room for %d bins, of %d cases in 4 views", kept, n)
	}
}

// TestBinEdges: every probability of 18 decimals is in the bin that exact arithmetic says, at the bounds of every number of bins.
func TestBinEdges(t *testing.T) {
	for _, bins := range []int{2, 3, 7, 10, 999, 1000} {
		edges := binEdges(bins)
		if len(edges) != bins-1 {
			t.Fatalf("%d edges of %d bins", len(edges), bins)
		}
		unit, _, _ := rows.ParseDecimal("1e-18")
		for i, edge := range edges {
			if binOf(edges, edge) != i+1 || binOf(edges, edge.Sub(unit)) != i {
				t.Errorf("%d bins: %s lies in %d, a step below in %d; want %d, %d", bins, edge, binOf(edges, edge), binOf(edges, edge.Sub(unit)), i+1, i)
			}
			// edge·bins >= i + 1 > (edge − 1e-18)·bins
			var at, below rows.Sum
			for range bins {
				at, below = at.Add(edge), below.Add(edge.Sub(unit))
			}
			whole, _, _ := rows.ParseDecimal(fmt.Sprint(i + 1))
			if at.Big().Cmp(whole.Big()) < 0 || below.Big().Cmp(whole.Big()) >= 0 {
				t.Errorf("%d bins: %s is not the least at or above %d/%d", bins, edge, i+1, bins)
			}
		}
		one, _, _ := rows.ParseDecimal("1")
		if binOf(edges, rows.Decimal{}) != 0 || binOf(edges, one) != bins-1 {
			t.Errorf("%d bins: 0 lies in %d, 1 in %d", bins, binOf(edges, rows.Decimal{}), binOf(edges, one))
		}
	}
}

// TestNumbersInTexts: ends are rounded outward, percentages upward.
func TestNumbersInTexts(t *testing.T) {
	for _, c := range []struct {
		x        float64
		down, up string
	}{{0.05, "0.050", "0.050"}, {0.0500000001, "0.050", "0.051"}, {0, "0.000", "0.000"}, {1, "1.000", "1.000"}, {0.9991, "0.999", "1.000"}, {1e-10, "0.000", "0.001"}, {0.123456, "0.123", "0.124"}} {
		if down(c.x, 3) != c.down || up(c.x, 3) != c.up {
			t.Errorf("%v: %s and %s, want %s and %s", c.x, down(c.x, 3), up(c.x, 3), c.down, c.up)
		}
	}
	if decimals(0.05) != 3 || decimals(0.0125) != 5 || decimals(0) != 3 || decimals(1e-15) != 10 {
		t.Errorf("decimals %d, %d, %d, %d", decimals(0.05), decimals(0.0125), decimals(0), decimals(1e-15))
	}
	for confidence, want := range map[string]string{"0.95": "5 %", "0.9": "10 %", "0.5": "50 %", "0.99": "1 %", "0.9999": "0.01 %", "0.7": "30 %"} {
		d := decision{rule: &rule{}, contest: &contest{bounds: &bounds{threshold: report.Threshold{Kind: report.MaxGroupGap, Value: 0.1}, groups: 7}}}
		d.rule.Confidence.Text = confidence
		if text := d.errors(); !strings.Contains(text, "FAIL comes out at most "+want+" of the time") {
			t.Errorf("%s: %s", confidence, text)
		}
	}
	d := decision{rule: &rule{}, contest: &contest{bounds: &bounds{threshold: report.Threshold{Kind: report.MaxGroupGap, Value: 0.1}, groups: 7}}}
	d.rule.Confidence.Text = "0.95"
	if text := d.errors(); !strings.HasSuffix(text, "PASS comes out at most 0.715 % of the time.") { // 5/7 = .714285…
		t.Errorf("%s", text)
	}
}
