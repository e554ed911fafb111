package audit

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestCellsHaveIntervals: in one study of every cell of anchoring and fairness each target has a rule that is taken, with the
// intervals that are held against the truth, and the other intervals are computed.
func TestCellsHaveIntervals(t *testing.T) {
	names := map[string]bool{}
	for _, c := range slices.Concat(anchoringCells(), fairnessCells()) {
		if names[c.Name] {
			t.Errorf("%s is there twice", c.Name)
		}
		names[c.Name] = true
		var rules []string
		for _, target := range c.Targets {
			rules = append(rules, strings.ReplaceAll(target.Rule, "%s", "0.5"))
		}
		asked, err := NewAsked(c.Model, rulesOf(rules...))
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		r := Random("cells", c.Name, 0)
		answer, err := asked.Once(r)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for i, target := range c.Targets {
			truth, known := answer.Truth[target.Truth]
			rule := &answer.Rules[i]
			switch {
			case target.Ends != nil:
				if e := target.Ends(rule, answer.Truth); e.None || !(e.Width > 0 && e.Width <= 1) {
					t.Errorf("%s, %s: ends %+v", c.Name, target.Name, e)
				}
			case !known || rule.Interval == nil || !(*rule.Interval.Lower <= *rule.Interval.Upper):
				t.Errorf("%s, %s: the truth %v (known: %v), the interval %v", c.Name, target.Name, truth, known, rule.Interval)
			}
		}
		for _, rival := range c.Rivals {
			if !slices.ContainsFunc(c.Targets, func(target Target) bool { return target.Name == rival.Target }) {
				t.Errorf("%s: %s stands beside %q, which is no target", c.Name, rival.Name, rival.Target)
			}
			if lower, upper, ok := rival.Bounds(answer.Study, asked.columns, r); ok && !(lower <= upper) {
				t.Errorf("%s: %s of %s is %v to %v", c.Name, rival.Name, rival.Target, lower, upper)
			}
		}
	}
	if len(names) < 100 {
		t.Errorf("%d cells; want the whole grid", len(names))
	}
}

// TestRivalsOfLabelsAndGroups: the other intervals of small studies, worked out in Python 3.11 from the formulas in their comments.
func TestRivalsOfLabelsAndGroups(t *testing.T) {
	columns := []string{"item", "annotator", "suggestion", "label", "visibility"}
	labelled := writerOf(columns, columns...)
	// a: 6 of 8 agree blind, 9 of 10 visible, and a label is missing; b: 2 of 4, 3 of 4.
	for _, part := range []struct {
		annotator, visibility string
		agree, n              int
	}{{"a", "blind", 6, 8}, {"a", "visible", 9, 10}, {"b", "blind", 2, 4}, {"b", "visible", 3, 4}} {
		for i := range part.n {
			label := "no"
			if i < part.agree {
				label = "yes"
			}
			labelled.add("i", part.annotator, "yes", label, part.visibility)
		}
	}
	labelled.add("i", "a", "yes", "", "blind")
	pairs := writerOf(columns, columns...)
	for _, row := range [][2]string{{"1", "yes"}, {"1", "yes"}, {"1", "no"}, {"2", "no"}, {"2", ""}, {"2", "no"}} { // 1 of 3 pairs, 1 of 1
		pairs.add(row[0], "a", "yes", row[1], "blind")
	}
	decided := []string{"id", "label", "prediction", "group"}
	groups := writerOf(decided, decided...)
	for _, part := range []struct {
		group  string
		events int // false negatives among 20 cases labelled 1
	}{{"g0", 2}, {"g1", 8}, {"g2", 4}} {
		for i := range 20 {
			groups.add("c", "1", digit(i >= part.events), part.group)
		}
		groups.add("c", "0", "1", part.group)
		groups.add("c", "1", "", part.group)
	}
	labels, pairing, file := Study{labelled.rows}, Study{pairs.rows}, Study{groups.rows}
	for _, c := range []struct {
		name         string
		rival        Rival
		study        Study
		columns      []string
		lower, upper float64
	}{
		{"8 of 12", Rival{Bounds: waldAgreement}, labels, columns, 0.3999495, 0.9333839},                   // .6667 ± 1.95996·√(.6667·.3333/12)
		{"12 of 14 and 8 of 12", Rival{Bounds: waldGap}, labels, columns, -0.1331546, 0.5141070},           // .1905 ± 1.95996·√(.8571·.1429/14 + .6667·.3333/12)
		{".75 and .5", Rival{Bounds: studentAgreement}, labels, columns, -0.9632756, 2.2132756},            // .625 ± 12.7062·.125
		{".15 and .25", Rival{Bounds: studentGap}, labels, columns, -0.4353102, 0.8353102},                 // .2 ± 12.7062·.05
		{"2 of 4 pairs", Rival{Bounds: waldPairs}, pairing, columns, 0.0100090, 0.9899910},                 // .5 ± 1.95996·.25
		{".1 and .4", Rival{Bounds: largestGap("false_negative", 3)}, file, decided, 0.0482381, 0.5517619}, // .3 ± 1.95996·√(.1·.9/20 + .4·.6/20)
		{".4", Rival{Bounds: highestRate("false_negative", 3)}, file, decided, 0.1852967, 0.6147033},       // .4 ± 1.95996·√(.4·.6/20)
		{".25", Rival{Bounds: smallestRatio("false_negative", 3)}, file, decided, 0.0604207, 1.0344134},    // .25·exp(∓1.95996·√(1/2 − 1/20 + 1/8 − 1/20))
	} {
		lower, upper, ok := c.rival.Bounds(c.study, c.columns, nil)
		if !ok || math.Abs(lower-c.lower) > 1e-6 || math.Abs(upper-c.upper) > 1e-6 {
			t.Errorf("%s: %.7f to %.7f, want %.7f to %.7f", c.name, lower, upper, c.lower, c.upper)
		}
	}
	// Other rates of 63 cases: of the recorded ones 60 are labelled 1 and 3 are 0 and predicted 1.
	for rate, want := range map[string][]hits{
		"false_positive": {{1, 1}, {1, 1}, {1, 1}}, "selection": {{19, 21}, {13, 21}, {17, 21}}, "accuracy": {{18, 21}, {12, 21}, {16, 21}},
		"precision": {{18, 19}, {12, 13}, {16, 17}}, "false_omission": {{2, 2}, {8, 8}, {4, 4}},
	} {
		if got := groupRates(file, decided, rate, 3); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", rate, got, want)
		}
	}
	if _, _, ok := smallestRatio("false_negative", 4)(file, decided, nil); ok {
		t.Error("a group without a case has a ratio")
	}
}

// TestOthersErrOnLabelsAndGroups: where items are drawn with unequal chances, where hard items lose their labels, where the largest of
// many gaps is picked, and where predictions vanish that speak against a group, the other interval misses the truth far more often than
// the 2.5 % a side that it announces, and ours does not: else the cells would show nothing.
func TestOthersErrOnLabelsAndGroups(t *testing.T) {
	want := map[string]string{ // by cell, the target whose other interval errs
		"anchoring/unequal chances/items 2000/missing none":                                      "blind_agreement of the corpus, weighted",
		"anchoring/annotators 8/items 300/blind 0.5/spread 0.15/pull 0.3/missing none":           "blind_agreement, per: person",
		"anchoring/three labels an item/items 100/missing 40 % of those that disagree":           "people_agreement",
		"fairness/false_negative/groups 12/cases 50 equal/rate 0.1/gap 0/missing none":           "max_group_gap",
		"fairness/false_positive/groups 4/cases 400 equal/rate 0.1/gap 0.1/missing 40 % against": "worst_group, maximum",
	}
	for _, c := range slices.Concat(anchoringCells(), fairnessCells()) {
		name, found := want[c.Name]
		if !found {
			continue
		}
		delete(want, c.Name)
		c.Studies = 60
		c.Targets = slices.DeleteFunc(c.Targets, func(x Target) bool { return x.Name != name })
		c.Rivals = slices.DeleteFunc(c.Rivals, func(x Rival) bool { return x.Target != name })
		about := About{Version: "1.0.0", Seed: CoverageSeed}
		for _, iv := range run(t, Grid{Cells: []Cell{c}}, about, nil).Cells[0].Intervals {
			misses := Share{iv.Coverage.Both.Of - iv.Coverage.Both.Count, c.Studies}
			above, err := misses.Above(2*side, 1)
			if err != nil || iv.Interval != studentName && above == iv.Deciding {
				t.Errorf("%s, %s by %s misses %d of %d (%v)", c.Name, name, iv.Interval, misses.Count, misses.Of, err)
			}
		}
	}
	for name := range want {
		t.Errorf("there is no cell %s", name)
	}
}
