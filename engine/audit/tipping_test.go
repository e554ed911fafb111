package audit_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/audit"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/report"
)

// answer is what a run makes of a study: the rules with what would decide them.
func answer(t *testing.T, setup audit.Setup, s audit.Study) []report.Rule {
	t.Helper()
	questions, families, err := setup()
	if err != nil {
		t.Fatal(err)
	}
	if err := audit.Read(questions[0], s); err != nil {
		t.Fatal(err)
	}
	held, err := gate.HoldBack(families, questions)
	if err != nil {
		t.Fatal(err)
	}
	a, err := questions[0].Answer(gate.Context{Today: "2027-01-01", Held: held})
	if err != nil {
		t.Fatal(err)
	}
	return a.Gate.Rules
}

// rowsOf makes rows for the columns of a question from texts such as "case=1 passed=0".
func rowsOf(t *testing.T, setup audit.Setup, input int, lines []string) [][]string {
	t.Helper()
	questions, _, err := setup()
	if err != nil {
		t.Fatal(err)
	}
	names := audit.Columns(questions[0])[input]
	var list [][]string
	for _, line := range lines {
		row := make([]string, len(names))
		for _, cell := range strings.Fields(line) {
			name, value, _ := strings.Cut(cell, "=")
			at := slices.Index(names, name)
			if at < 0 {
				t.Fatalf("no column %s among %v", name, names)
			}
			row[at] = value
		}
		list = append(list, row)
	}
	return list
}

// open is a study in which some values are missing, each with the two ways in which it can have come out: the one that lowers the
// rule's estimate and the one that raises it. In its lines they stand as "passed=?0|1".
type open struct {
	setup  audit.Setup
	study  audit.Study
	places []blank
}

type blank struct {
	row, column int
	ways        [2]string
}

// opened reads the lines of an open study.
func opened(t *testing.T, kind, policy string, lines []string) *open {
	t.Helper()
	setup, err := audit.Policy(kinds.Lookup(kind), policy, gate.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	o := &open{setup: setup, study: audit.Study{rowsOf(t, setup, 0, lines)}}
	for i, row := range o.study[0] {
		for j, text := range row {
			if ways, found := strings.CutPrefix(text, "?"); found {
				low, high, _ := strings.Cut(ways, "|")
				o.places = append(o.places, blank{i, j, [2]string{low, high}})
				row[j] = ""
			}
		}
	}
	return o
}

// filled is the rule with its missing values filled; bit i of high says that the i-th is high.
func (o *open) filled(t *testing.T, high int) report.Rule {
	t.Helper()
	s := o.study.Clone()
	for i, p := range o.places {
		s[0][p.row][p.column] = p.ways[high>>i&1]
	}
	rules, err := o.setup.Ask(s)
	if err != nil {
		t.Fatal(err)
	}
	return rules[0][0]
}

// limits is the most bad values with which every way to fill what is missing PASSes, −1 for none, and the fewest with which one of
// them FAILs, one more than there are for none. verdicts are those of all ways, bad counts the bad values of each.
func (o *open) limits(verdicts []report.Verdict, bad func(high int) int) (passUpTo, failFrom int) {
	firstNot, failFrom := len(o.places)+1, len(o.places)+1
	for high, v := range verdicts {
		n := bad(high)
		if v != report.Pass {
			firstNot = min(firstNot, n)
		}
		if v == report.Fail {
			failFrom = min(failFrom, n)
		}
	}
	return firstNot - 1, failFrom
}

// told is what a tipping point says of its limits, in the same way.
func told(p *report.TippingPoint) (passUpTo, failFrom int) {
	passUpTo, failFrom = -1, p.Missing+1
	if p.PassUpTo != nil {
		passUpTo = *p.PassUpTo
	}
	if p.FailFrom != nil {
		failFrom = *p.FailFrom
	}
	return passUpTo, failFrom
}

// holds compares a rule's tipping point with its brute-force limits: exact where all missing values weigh alike, else on the safe side,
// and there where not all ways come to one verdict. It reports whether there is one, and whether it is exact.
func (o *open) holds(t *testing.T, r report.Rule, verdicts []report.Verdict, bad func(high int) int) (found, exact bool) {
	t.Helper()
	p := r.TippingPoint
	// What would decide the rule names it where it is there, and not else.
	if r.Verdict == report.InsufficientEvidence && strings.Contains(r.Needs.What, "may decide") != (p != nil) {
		t.Errorf("%s: tipping point %+v, and what would decide it: %s", r.ID, p, r.Needs.What)
	}
	one := !slices.ContainsFunc(verdicts, func(v report.Verdict) bool { return v != verdicts[0] })
	if p == nil {
		if !one && r.Verdict == report.InsufficientEvidence {
			t.Errorf("%s: no tipping point although not all ways come to one verdict", r.ID)
		}
		return false, false
	}
	passUpTo, failFrom := o.limits(verdicts, bad)
	gotPass, gotFail := told(p)
	exact = passUpTo == gotPass && failFrom == gotFail
	switch {
	case p.Missing != len(o.places):
		t.Errorf("%s: %d missing values, want %d", r.ID, p.Missing, len(o.places))
	case r.Verdict != report.InsufficientEvidence:
		t.Errorf("%s: a tipping point of a rule that is %s", r.ID, r.Verdict)
	case p.Alike && !exact, gotPass > passUpTo, gotFail > failFrom:
		t.Errorf("%s: PASS up to %d and FAIL from %d (alike: %t), and of all ways it is %d and %d", r.ID, gotPass, gotFail, p.Alike, passUpTo, failFrom)
	}
	return true, exact
}

// decisions are one person's: so many right and so many wrong, and so many missing, in a condition.
func decisions(person, condition string, right, wrong, missing int) (list []string) {
	ways := "?wrong|right" // the first lowers the difference
	if condition == "without" {
		ways = "?right|wrong"
	}
	for i, d := range slices.Concat(slices.Repeat([]string{"right"}, right), slices.Repeat([]string{"wrong"}, wrong), slices.Repeat([]string{ways}, missing)) {
		list = append(list, fmt.Sprintf("case=%s-%s-%d reviewer=%s condition=%s decision=%s reference=right ai_output=right", person, condition, i, person, condition, d))
	}
	return list
}

// TestTippingPointsOfMeansAndRates asks the gates about every way to fill what is missing, at thresholds over the whole scale.
func TestTippingPointsOfMeansAndRates(t *testing.T) {
	if testing.Short() {
		t.Skip("by simulation or by trying everything: left out with -short")
	}
	var uneven, harmed []string // people of unlike numbers of decisions
	for i := range 12 {
		p := fmt.Sprintf("p%d", i)
		uneven = slices.Concat(uneven, decisions(p, "with", 1+i%4, i%2, boolean(i < 5)), decisions(p, "without", i%3/2, 1+i%5, boolean(i >= 9)))
		harmed = slices.Concat(harmed, decisions(p, "with", i%3/2, 1+i%4, boolean(i < 6)), decisions(p, "without", 2+i%2, i%2, boolean(i%6 == 0)))
	}
	var rated []string // one decision each, ten of them missing
	for i := range 24 {
		rated = append(rated, decisions(fmt.Sprintf("p%d", i), "with", boolean(i < 13), boolean(i == 13), boolean(i > 13 && i < 22))...)
	}
	trials := func(version string, cases, missing int, passed func(c, i int) bool) (list []string) {
		ways := "?0|1"
		if version == "old" {
			ways = "?1|0"
		}
		for c := range cases {
			for i := range 3 {
				value := fmt.Sprint(boolean(passed(c, i)))
				if i == c%3 && c < missing {
					value = ways
				}
				list = append(list, fmt.Sprintf("version=%s case=%d trial=%d passed=%s", version, c, i, value))
			}
		}
		return list
	}
	better := slices.Concat(trials("new", 14, 5, func(c, i int) bool { return c%4 != 3 || i == 2 }), trials("old", 14, 4, func(c, i int) bool { return c%5 == 4 && i == 0 }))
	label := func(item int, person, visibility, suggestion, value string) string {
		return fmt.Sprintf("item=%d annotator=%s suggestion=%s label=%s visibility=%s", item, person, suggestion, value, visibility)
	}
	var blind, both, several, many, twice, weighted []string
	for i := range 30 {
		blind = append(blind, label(i, "a", "blind", "x", map[bool]string{true: "x", false: "?y|x"}[i < 22]))
		weighted = append(weighted, blind[i]+" inclusion_probability="+[]string{"0.2", "0.5", "0.3"}[i%3])
		both = append(both, label(i, "a", "blind", "x", map[bool]string{true: "y", false: "?x|y"}[i < 25]))
		both = append(both, label(100+i, "a", "visible", "x", map[bool]string{true: "x", false: "?y|x"}[i < 26]))
	}
	for i := range 12 { // items with two or three blind labels each
		for k := range 2 + i%2 {
			several = append(several, label(i, fmt.Sprint("a", k), "blind", "x", map[bool]string{true: "x", false: "?y|x"}[k > 0 || i < 5]))
		}
	}
	for i := range 14 { // annotators with several labels each
		for k := range 2 + i%3 {
			many = append(many, label(10*i+k, fmt.Sprint("a", i), "blind", "x", map[bool]string{true: "x", false: "?y|x"}[k > 0 || i < 6]))
			twice = append(twice, label(10*i+k, fmt.Sprint("a", i), "blind", "x", map[bool]string{true: "y", false: "?x|y"}[k > 0 || i < 10]))
			twice = append(twice, label(1000+10*i+k, fmt.Sprint("a", i), "visible", "x", map[bool]string{true: "x", false: "?y|x"}[k > 0 || i < 11]))
		}
	}
	studies := []struct {
		name, kind, rule string // without the threshold
		lines            []string
		low              float64 // of the scale
	}{
		{"people's gains", "human-ai", "metric: accuracy_difference", uneven, -1},
		{"people's losses", "human-ai", "metric: accuracy_difference", harmed, -1},
		{"planned", "human-ai", "metric: accuracy_difference, looks: once, planned: 12", uneven, -1},
		{"planned, by SymPol", "human-ai", "metric: accuracy_difference, looks: once, planned: 12, mean_method: sympol", harmed, -1},
		{"a pooled rate", "human-ai", "metric: accuracy_with", rated, 0},
		{"a pooled rate, looked at again", "human-ai", "metric: accuracy_with, looks: repeated", rated, 0},
		{"a rate per person", "human-ai", "metric: accuracy_with, per: person", slices.DeleteFunc(slices.Clone(uneven), func(s string) bool { return strings.Contains(s, "without") && strings.Contains(s, "?") }), 0},
		{"cases", "compare", "metric: pass_rate_difference", better, -1},
		{"a version's rate", "compare", "metric: rate, version: candidate", slices.DeleteFunc(slices.Clone(better), func(s string) bool { return strings.Contains(s, "old") && strings.Contains(s, "?") }), 0},
		{"pass in one of two", "compare", "metric: pass_at_k, k: 2, version: candidate", slices.Concat(trials("new", 14, 7, func(c, i int) bool { return c%7 == 0 && i == 0 }), trials("old", 14, 0, func(c, i int) bool { return true })), 0},
		{"pass in all of three", "compare", "metric: pass_all_k, k: 3, version: candidate", slices.DeleteFunc(slices.Clone(better), func(s string) bool { return strings.Contains(s, "old") && strings.Contains(s, "?") }), 0},
		{"fixed list", "compare", "metric: pass_rate_difference", better, -1},
		{"fixed list, a version's rate", "compare", "metric: rate, version: candidate", slices.Concat(trials("new", 14, 5, func(c, i int) bool { return c%4 != 3 || i == 2 }), trials("old", 14, 0, func(c, i int) bool { return i == 0 })), 0},
		{"blind labels", "anchoring", "metric: blind_agreement", blind, 0},
		{"blind labels of a corpus", "anchoring", "metric: blind_agreement, corpus_size: 60", blind, 0},
		{"weighted labels", "anchoring", "metric: blind_agreement", weighted, 0},
		{"a gap over items", "anchoring", "metric: anchoring_gap", both, -1},
		{"a gap over items, directly", "anchoring", "metric: anchoring_gap, interval: pairwise", both, -1},
		{"several labels an item", "anchoring", "metric: blind_agreement, per: item", several, 0},
		{"per annotator", "anchoring", "metric: blind_agreement, per: person", many, 0},
		{"a gap per annotator", "anchoring", "metric: anchoring_gap, per: person", twice, -1},
	}
	for _, study := range studies {
		t.Run(study.name, func(t *testing.T) {
			section := map[string]string{"compare": "baseline: old\ncandidate: new\n", "anchoring": "minimum_blind_sample: 1\n"}[study.kind]
			if strings.HasPrefix(study.name, "fixed list") {
				section += "case_list: fixed\n"
			}
			if study.name == "weighted labels" {
				section += "least_inclusion_probability: 0.2\n"
			}
			policy := func(threshold string) string {
				return section + "rules: [{id: r, " + study.rule + ", " + threshold + "}]"
			}
			o := opened(t, study.kind, policy("minimum: 0.5"), study.lines)
			intervals := make([]*report.Interval, 1<<len(o.places))
			for high := range intervals {
				intervals[high] = o.filled(t, high).Interval
			}
			tips, exact := 0, 0
			for step := range 12 {
				at := study.low + (1-study.low)*float64(step)/12 + 0.003
				for _, kind := range []report.Kind{report.Minimum, report.Maximum} {
					threshold := report.Threshold{Kind: kind, Value: at}
					var verdicts []report.Verdict
					for _, iv := range intervals {
						verdicts = append(verdicts, threshold.Compare(*iv.Lower, *iv.Upper))
					}
					bad := func(high int) int {
						if kind == report.Maximum {
							return ones(high)
						}
						return len(o.places) - ones(high)
					}
					asked := opened(t, study.kind, policy(fmt.Sprintf("%s: %v", kind, at)), study.lines)
					r := answer(t, asked.setup, asked.study)[0]
					r.ID = fmt.Sprintf("%s %.3f", kind, at)
					found, same := o.holds(t, r, verdicts, bad)
					tips, exact = tips+boolean(found), exact+boolean(same)
				}
			}
			t.Logf("%d values missing, %d tipping points, %d exact", len(o.places), tips, exact)
			if tips == 0 {
				t.Error("no tipping point was seen")
			}
		})
	}
}

// TestNoTippingPointOfCopies: where the trials of a fixed list can come out as copies of one run would, a person has to decide then
// whatever the interval is, and no number of bad ones is one to pass up to.
func TestNoTippingPointOfCopies(t *testing.T) {
	lines := []string{"version=old case=0 trial=0 passed=0", "version=old case=0 trial=1 passed=0", "version=new case=0 trial=0 passed=1", "version=new case=0 trial=1 passed=?0|1",
		"version=old case=1 trial=0 passed=1", "version=old case=1 trial=1 passed=0", "version=new case=1 trial=0 passed=0", "version=new case=1 trial=1 passed=0"}
	for _, metric := range []string{"rate", "pass_rate_difference"} {
		o := opened(t, "compare", "confidence: 0.8\nbaseline: old\ncandidate: new\ncase_list: fixed\nrules: [{id: r, metric: "+metric+", minimum: 0.09}]", lines)
		if v := o.filled(t, 1).Verdict; v != report.ManualReview {
			t.Errorf("%s: with two cases of two equal results it is %s", metric, v)
		}
		if r := answer(t, o.setup, o.study)[0]; r.Verdict != report.InsufficientEvidence || r.TippingPoint != nil {
			t.Errorf("%s: %s, %+v", metric, r.Verdict, r.TippingPoint)
		}
	}
}

// boolean is 1 for true.
func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ones counts the bits that are set.
func ones(x int) int { return bits.OnesCount(uint(x)) }

// TestTippingPointsOfSignTests: cases of three trials a version, some of them missing, drawn by a fixed seed.
func TestTippingPointsOfSignTests(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	tips, exact := 0, 0
	for range 6 {
		var rows []string
		missing := 0
		for c := range 12 {
			worse := draw.IntN(5) == 0
			for i := range 2 {
				for _, version := range []string{"new", "old"} {
					ways := map[string]string{"new": "?0|1", "old": "?1|0"}[version]
					passed := fmt.Sprint(boolean((version == "new") != worse))
					if (c+i)%4 == 0 && version == "old" {
						passed = "1"
					}
					if missing < 7 && (c*7+i*3+len(rows))%4 == 1 {
						passed, missing = ways, missing+1
					}
					rows = append(rows, fmt.Sprintf("version=%s case=%d trial=%d passed=%s", version, c, i, passed))
				}
			}
		}
		for _, confidence := range []string{"0.5", "0.8", "0.95"} {
			o := opened(t, "compare", "confidence: "+confidence+"\nbaseline: old\ncandidate: new\nrules: [{id: r, metric: sign_test}]", rows)
			verdicts := make([]report.Verdict, 1<<len(o.places))
			for high := range verdicts {
				verdicts[high] = o.filled(t, high).Verdict
			}
			found, same := o.holds(t, answer(t, o.setup, o.study)[0], verdicts, func(high int) int { return len(o.places) - ones(high) })
			tips, exact = tips+boolean(found), exact+boolean(same)
		}
	}
	t.Logf("%d tipping points, %d exact", tips, exact)
	if tips == 0 || exact < tips {
		t.Errorf("%d tipping points, %d exact; all of passes and failures are", tips, exact)
	}
}

// people are cases of a group, of a label and a prediction.
func people(group string, n int, label, prediction string) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("id=%s-%s-%s-%d sex=%s label=%s prediction=%s", group, label, strings.NewReplacer("?", "m", "|", "").Replace(prediction), i, group, label, prediction))
	}
	return list
}

// TestTippingPointsOfGroups asks the fairness gate about every way to fill missing predictions. Of rules on the distance of groups the
// values are turned from some way to fill them that is best, which is looked for among all.
func TestTippingPointsOfGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("by simulation or by trying everything: left out with -short")
	}
	apart := slices.Concat(people("f", 24, "1", "1"), people("f", 2, "1", "0"), people("f", 4, "1", "?0|1"),
		people("m", 3, "1", "1"), people("m", 22, "1", "0"), people("m", 4, "1", "?1|0"), people("f", 9, "0", "0"), people("m", 9, "0", "0"))
	near := slices.Concat(people("f", 20, "1", "1"), people("f", 20, "1", "0"), people("f", 5, "1", "?0|1"),
		people("m", 21, "1", "1"), people("m", 18, "1", "0"), people("m", 3, "1", "?0|1"), people("f", 9, "0", "0"), people("m", 9, "0", "0"))
	moving := slices.Concat(people("f", 24, "1", "1"), people("f", 5, "0", "1"), people("f", 2, "1", "?0|1"), people("f", 2, "0", "?1|0"),
		people("m", 14, "1", "1"), people("m", 12, "0", "1"), people("m", 2, "1", "?0|1"), people("m", 2, "0", "?1|0"))
	three := slices.Concat(apart, people("x", 12, "1", "1"), people("x", 12, "1", "0"))
	for _, study := range []struct {
		name, rule, threshold string // of the threshold, %v
		values                string // of the attribute
		lines                 []string
	}{
		{"worst group, least", "rate: true_positive", "worst_group: {minimum: %v}", "f, m", near},
		{"worst group, most", "rate: true_positive", "worst_group: {maximum: %v}", "f, m", near},
		{"worst group, undivided", "rate: true_positive, interval: pairwise", "worst_group: {minimum: %v}", "f, m", near},
		{"worst precision", "rate: precision", "worst_group: {minimum: %v}", "f, m", moving},
		{"worst false discovery", "rate: false_discovery", "worst_group: {maximum: %v}", "f, m", moving},
		{"gap, apart", "rate: true_positive", "max_group_gap: %v", "f, m", apart},
		{"gap of three", "rate: true_positive", "max_group_gap: %v", "f, m, x", three},
		{"gap, near", "rate: true_positive", "max_group_gap: %v", "f, m", near},
		{"gap, directly", "rate: true_positive, interval: pairwise", "max_group_gap: %v", "f, m", near},
		{"gap of precision", "rate: precision", "max_group_gap: %v", "f, m", moving},
		{"ratio", "rate: true_positive", "min_group_ratio: %v", "f, m", near},
		{"ratio, apart", "rate: true_positive", "min_group_ratio: %v", "f, m", apart},
	} {
		t.Run(study.name, func(t *testing.T) {
			tips, exact := 0, 0
			for step := range 14 {
				at := float64(step)/14 + 0.02
				policy := "label: label\nprediction: prediction\nid: id\nmin_cell: 20\nattributes: {sex: [" + study.values + "]}\nrules: [{id: r, attribute: sex, " + study.rule + ", " + fmt.Sprintf(study.threshold, at) + "}]"
				o := opened(t, "fairness", policy, study.lines)
				r := answer(t, o.setup, o.study)[0]
				if r.Verdict != report.InsufficientEvidence {
					if r.TippingPoint != nil {
						t.Errorf("%v: %s with a tipping point", at, r.Verdict)
					}
					continue
				}
				verdicts := make([]report.Verdict, 1<<len(o.places))
				for high := range verdicts {
					verdicts[high] = o.filled(t, high).Verdict
				}
				bad := func(high int) int { return len(o.places) - ones(high) }
				switch {
				case strings.Contains(study.rule, "false_discovery"): // which is low where precision is high
				case strings.Contains(study.threshold, "maximum"):
					bad = ones
				case !strings.Contains(study.threshold, "worst"):
					bad = o.closest(verdicts, r.TippingPoint)
				}
				r.ID = fmt.Sprint(at)
				found, same := o.holds(t, r, verdicts, bad)
				tips, exact = tips+boolean(found), exact+boolean(same)
			}
			t.Logf("%d tipping points, %d exact", tips, exact)
			if tips == 0 {
				t.Error("no tipping point was seen")
			}
		})
	}
}

// closest returns what counts the values that are turned from a way to fill them of which a tipping point is true: of these, the one
// with limits nearest to it, else any.
func (o *open) closest(verdicts []report.Verdict, p *report.TippingPoint) func(high int) int {
	from := func(best int) func(int) int { return func(high int) int { return ones(high ^ best) } }
	if p == nil {
		return from(0)
	}
	gotPass, gotFail := told(p)
	chosen, distance := 0, math.MaxInt
	for best := range verdicts {
		passUpTo, failFrom := o.limits(verdicts, from(best))
		if off := passUpTo - gotPass + failFrom - gotFail; passUpTo >= gotPass && failFrom >= gotFail && off < distance {
			chosen, distance = best, off
		}
	}
	return from(chosen)
}

// TestJudgeHasNoNeeds: what would decide a rule is left to the run itself, since it takes longer than all the rest.
func TestJudgeHasNoNeeds(t *testing.T) {
	o := opened(t, "human-ai", "rules: [{id: r, metric: accuracy_with, minimum: 0.65}]", slices.Concat(independent(16, 1), decisions("x", "with", 0, 0, 1), decisions("y", "with", 0, 0, 1)))
	rules, err := o.setup.Ask(o.study)
	if err != nil {
		t.Fatal(err)
	}
	if r := rules[0][0]; r.Verdict != report.InsufficientEvidence || r.Needs != nil || r.TippingPoint != nil {
		t.Errorf("asked: %s, needs %+v, tipping point %+v", r.Verdict, r.Needs, r.TippingPoint)
	}
	// 18 of 19 right have the lower end .740, 17 .669 and 16 .604 (Clopper-Pearson at 95 %).
	r := answer(t, o.setup, o.study)[0]
	if p := r.TippingPoint; r.Needs == nil || p == nil || p.PassUpTo == nil || *p.PassUpTo != 1 || p.FailFrom != nil || !p.Alike || p.Missing != 2 || p.Of != "19 decisions" || p.Bad != "wrong" {
		t.Errorf("answered: needs %+v, tipping point %+v", r.Needs, r.TippingPoint)
	}
}

// independent are decisions of as many people, so many right and so many wrong.
func independent(right, wrong int) (list []string) {
	for p := range right + wrong {
		list = append(list, decisions(fmt.Sprint("p", p), "with", boolean(p < right), boolean(p >= right), 0)...)
	}
	return list
}

// TestTippingPointsOfRowsThatAreNotThere: what is drawn blind or assigned and has no row is missing as an empty one is. Small studies, of
// a corpus in two batches and of assigned decisions, with every way to fill what is missing; half of that has no row.
func TestTippingPointsOfRowsThatAreNotThere(t *testing.T) {
	if testing.Short() {
		t.Skip("by simulation or by trying everything: left out with -short")
	}
	const draw, assignment = "draw.csv", "assignment.csv"
	tips, exact := 0, 0
	for seed := range uint64(16) {
		r := rand.New(rand.NewPCG(seed, 5))
		var labels, drawn, decided, assigned []string
		var openLabels, openDecisions int
		for i := range 40 {
			visibility, chance := "visible", "0.25"
			if i < 8 {
				chance = "0.5"
			}
			if i%4 == 0 || i < 4 {
				visibility = "blind"
				label := []string{"x", "x", "x", "y"}[r.IntN(4)]
				if openLabels < 5 && r.IntN(3) == 0 {
					label, openLabels = []string{"?y|x", "!y|x"}[openLabels%2], openLabels+1
				}
				labels = append(labels, fmt.Sprintf("item=%d annotator=a suggestion=x label=%s visibility=blind", i, label))
			}
			drawn = append(drawn, fmt.Sprintf("item=%d visibility=%s inclusion_probability=%s", i, visibility, chance))
		}
		for i := range 24 {
			condition, ways := "with", "wrong|right"
			if i/6%2 == 1 {
				condition, ways = "without", "right|wrong"
			}
			decision := []string{"right", "right", "wrong"}[r.IntN(3)]
			if openDecisions < 6 && r.IntN(4) == 0 {
				decision, openDecisions = []string{"?", "!"}[openDecisions%2]+ways, openDecisions+1
			}
			decided = append(decided, fmt.Sprintf("case=%d reviewer=p%d condition=%s decision=%s reference=right ai_output=right", i, i%6, condition, decision))
			assigned = append(assigned, fmt.Sprintf("reviewer=p%d case=%d condition=%s", i%6, i, condition))
		}
		at := r.Float64()
		for _, c := range []struct {
			kind, policy  string
			flags         gate.Flags
			lines, beside []string
		}{
			{"anchoring", "minimum_blind_sample: 1\nconfidence: 0.8\nrules: [{id: r, metric: blind_agreement, %s: " + fmt.Sprintf("%.4f", 0.3+0.7*at) + "}]", gate.Flags{Draw: draw}, labels, drawn},
			{"human-ai", "confidence: 0.5\nrules: [{id: r, metric: accuracy_difference, %s: " + fmt.Sprintf("%.4f", at-0.5) + "}]", gate.Flags{Assignment: assignment}, decided, assigned},
		} {
			for _, side := range []string{"minimum", "maximum"} {
				setup, err := audit.Policy(kinds.Lookup(c.kind), fmt.Sprintf(c.policy, side), c.flags)
				if err != nil {
					t.Fatal(err)
				}
				beside := rowsOf(t, setup, 1, c.beside)
				// study fills what is missing by the bits of high, or leaves it.
				missing := 0
				study := func(fill bool, high int) audit.Study {
					var lines []string
					missing = 0
					for _, line := range c.lines {
						before, after, found := strings.Cut(line, "?")
						noRow := false
						if !found {
							before, after, noRow = strings.Cut(line, "!")
						}
						if !found && !noRow {
							lines = append(lines, line)
							continue
						}
						ways, rest, _ := strings.Cut(after, " ")
						low, up, _ := strings.Cut(ways, "|")
						value := []string{low, up}[high>>missing&1]
						missing++
						switch {
						case fill:
							lines = append(lines, before+value+" "+rest)
						case found:
							lines = append(lines, before+" "+rest)
						}
					}
					return audit.Study{rowsOf(t, setup, 0, lines), beside}
				}
				rule := answer(t, setup, study(false, 0))[0]
				rule.ID = fmt.Sprintf("seed %d, %s", seed, fmt.Sprintf(c.policy, side))
				o := &open{places: make([]blank, missing)}
				var verdicts []report.Verdict
				for high := range 1 << missing {
					rules, err := setup.Ask(study(true, high))
					if err != nil {
						t.Fatal(err)
					}
					verdicts = append(verdicts, rules[0][0].Verdict)
				}
				found, same := o.holds(t, rule, verdicts, func(high int) int {
					if side == "maximum" {
						return ones(high)
					}
					return missing - ones(high)
				})
				tips, exact = tips+boolean(found), exact+boolean(same)
			}
		}
	}
	t.Logf("%d tipping points, %d exact", tips, exact)
	if tips == 0 {
		t.Error("no tipping point was seen")
	}
}
