package audit

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// What studies are taken to look like in these tests, as the command line has it where nothing is said.
var (
	reviewers = HumanAIShape{Cases: 30, Spread: 0.1, CaseSpread: 0.1, Baseline: 0.6, SystemAccuracy: 0.8}
	agents    = CompareShape{PassRate: 0.53}
	parity    = FairnessShape{}
	annotator = AnchoringShape{Annotators: 1, Blind: 20, Visible: 4, Spread: 0.05, BlindAgreement: 0.8, PeopleAgreement: 0.8}
)

// planned is the one section of a policy.
func planned(t *testing.T, g, text string) *Subject {
	t.Helper()
	diags := &diag.List{}
	list := Subjects(kinds.Lookup(g), "policy.yaml", []byte(text), "devel", gate.Flags{}, diags)
	if err := diags.Err(); err != nil || len(list) != 1 {
		t.Fatalf("%d sections: %v", len(list), err)
	}
	return list[0]
}

// oddsOf is the odds of the first rule of a policy at a size and a truth.
func oddsOf(t *testing.T, s *Subject, shape Shape, size, runs int, truth float64) Odds {
	t.Helper()
	ways, err := shape.Tracks(s, 0, Drawing{Seed: "test"})
	if err != nil {
		t.Fatal(err)
	}
	odds, err := ways[0].Track.Odds(context.Background(), size, []float64{truth}, runs)
	if err != nil {
		t.Fatal(err)
	}
	if sum := odds[0].Pass + odds[0].Fail + odds[0].Undecided + odds[0].Review; math.Abs(sum-1) > 1e-9 {
		t.Errorf("the odds sum to %v", sum)
	}
	return odds[0]
}

// sectionOf are declarations for the tests.
const (
	twoGroups  = "cases: c.csv\nattributes: {group: [a, b]}\nrules:\n  - {id: r, attribute: group, "
	oneLabel   = "rules:\n  - {id: r, metric: blind_agreement, "
	twoAgents  = "baseline: old\ncandidate: new\nrules:\n  - {id: r, "
	manyPeople = "rules:\n  - {id: r, "
)

// TestExactRates: chances of rates are sums of binomial tails beyond the number of events at which the interval turns. Here those
// are found one by one from the interval itself, and the tails are gonum's.
func TestExactRates(t *testing.T) {
	for _, c := range []struct {
		gate, rule string
		shape      Shape
		n          int
		truth      float64
		side       report.Kind
		threshold  float64
		repeated   bool
	}{
		{"anchoring", oneLabel + "minimum: 0.8}", annotator, 107, 0.9, report.Minimum, 0.8, false},
		{"anchoring", oneLabel + "minimum: 0.8}", annotator, 60, 0.7, report.Minimum, 0.8, false},
		{"anchoring", "rules:\n  - {id: r, metric: visible_agreement, maximum: 0.5}", annotator, 75, 0.35, report.Maximum, 0.5, false},
		{"anchoring", "rules:\n  - {id: r, metric: acceptance_rate, maximum: 0.5}", annotator, 31, 0.6, report.Maximum, 0.5, false},
		{"anchoring", "rules:\n  - {id: r, metric: verify_acceptance, minimum: 0.5}", annotator, 31, 0.8, report.Minimum, 0.5, false},
		{"human-ai", manyPeople + "metric: over_reliance, maximum: 0.4}", reviewers, 90, 0.25, report.Maximum, 0.4, false},
		{"human-ai", manyPeople + "metric: accuracy_without, minimum: 0.5, looks: repeated}", reviewers, 80, 0.75, report.Minimum, 0.5, true},
		{"human-ai", manyPeople + "metric: agreement, minimum: 0.5}", reviewers, 40, 0.75, report.Minimum, 0.5, false},
		{"human-ai", manyPeople + "metric: correct_override, minimum: 0.5}", reviewers, 40, 0.75, report.Minimum, 0.5, false},
		{"human-ai", manyPeople + "metric: harmful_override, maximum: 0.5}", reviewers, 40, 0.25, report.Maximum, 0.5, false},
		{"human-ai", manyPeople + "metric: system_accuracy, minimum: 0.7}", reviewers, 64, 0.9, report.Minimum, 0.7, false},
		{"compare", twoAgents + "metric: pass_all_k, k: 5, minimum: 0.5}", agents, 49, 0.7, report.Minimum, 0.5, false},
		{"compare", twoAgents + "metric: pass_at_k, k: 5, version: baseline, minimum: 0.5}", agents, 30, 0.8, report.Minimum, 0.5, false},
		{"compare", twoAgents + "metric: rate, minimum: 0.5}", CompareShape{PassRate: 0.5, Trials: []int{1}}, 49, 0.3, report.Minimum, 0.5, false},
	} {
		got := oddsOf(t, planned(t, c.gate, c.rule), c.shape, c.n, 0, c.truth)
		events := distuv.Binomial{N: float64(c.n), P: c.truth}
		threshold := report.Threshold{Kind: c.side, Value: c.threshold}
		want := Odds{}
		for k := range c.n + 1 {
			method := interval.ClopperPearson
			if c.repeated {
				method = interval.RateSequence
			}
			iv, err := method(k, 0, c.n, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			switch threshold.Compare(iv.Lower, iv.Upper) {
			case report.Pass:
				want.Pass += events.Prob(float64(k))
			case report.Fail:
				want.Fail += events.Prob(float64(k))
			default:
				want.Undecided += events.Prob(float64(k))
			}
		}
		if math.Abs(got.Pass-want.Pass) > 1e-9 || math.Abs(got.Fail-want.Fail) > 1e-9 || math.Abs(got.Undecided-want.Undecided) > 1e-9 || got.Runs != 0 {
			t.Errorf("%s, n = %d at %v: %+v, want %+v", c.rule, c.n, c.truth, got, want)
		}
	}
}

// TestKnownSizes: sizes that were computed elsewhere.
func TestKnownSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("by simulation or by trying everything: left out with -short")
	}
	for _, c := range []struct {
		name, gate, policy string
		shape              Shape
		truth              float64
		want               int
	}{
		// With no disagreement .9 needs 36 and .95 needs 72 (the audit of the intervals, 7g): .025^(1/36) = .9026, .025^(1/72) = .9501.
		{"no disagreement", "anchoring", oneLabel + "minimum: 0.9}", annotator, 1, 36},
		{"no disagreement", "anchoring", oneLabel + "minimum: 0.95}", annotator, 1, 72},
		// The tables of docs/anchoring.md and docs/fairness.md, which are computed by another way.
		{"blind power", "anchoring", oneLabel + "minimum: 0.9}", annotator, 0.97, 100},
		{"blind power", "anchoring", oneLabel + "minimum: 0.95}", annotator, 0.99, 142},
		{"corpus power", "anchoring", oneLabel + "minimum: 0.9, corpus_size: 300}", annotator, 0.99, 57},
		{"corpus power", "anchoring", oneLabel + "minimum: 0.9, corpus_size: 100}", annotator, 0.99, 80},
		{"corpus power", "anchoring", oneLabel + "minimum: 0.9, corpus_size: 100}", annotator, 0.97, 0},
		{"floor needed", "fairness", twoGroups + "rate: accuracy, worst_group: {minimum: 0.8}}", parity, 0.88, 264},
		{"floor needed", "fairness", twoGroups + "rate: accuracy, worst_group: {minimum: 0.8}, interval: pairwise}", parity, 0.88, 231},
		{"gap needed", "fairness", twoGroups + "rate: false_negative, max_group_gap: 0.1, interval: pairwise}", parity, 0, 246},
	} {
		plan, err := Plan(context.Background(), planned(t, c.gate, c.policy), 0, c.shape, Request{Truths: []float64{c.truth}, Chance: 0.8, Sizes: []int{40}, Runs: 100})
		if err != nil {
			t.Fatal(err)
		}
		got := plan.Ways[0].Recommended[0]
		if got.Size != c.want || (c.want > 0) != (got.Chance >= 0.8) || !plan.Ways[0].Exact {
			t.Errorf("%s: %s at %v: %+v, want %d", c.name, c.policy, c.truth, got, c.want)
		}
	}
}

// TestPublishedSizes: cases a group for 80 % (the audit of the intervals, 5f): 1473, and 896 pairwise, for a gap of .05 at equal rates of
// .10; 419 in each of six groups for a floor of .80 at .88. Whole numbers of events make the chance rise and fall by two points.
func TestPublishedSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("by simulation or by trying everything: left out with -short")
	}
	for _, c := range []struct {
		policy string
		n      int
		truth  float64
	}{
		{twoGroups + "rate: error, max_group_gap: 0.05}", 1473, 0}, {twoGroups + "rate: error, max_group_gap: 0.05, interval: pairwise}", 896, 0},
		{strings.Replace(twoGroups, "[a, b]", "[a, b, c, d, e, f]", 1) + "rate: accuracy, worst_group: {minimum: 0.8}}", 419, 0.88},
	} {
		if got := oddsOf(t, planned(t, "fairness", c.policy), parity, c.n, 0, c.truth); math.Abs(got.Pass-0.8) > 0.025 {
			t.Errorf("%s with %d: %.4f, want about .80", c.policy, c.n, got.Pass)
		}
	}
}

// TestPairsExactly: the odds of a gap and of a ratio of three groups are those of all their numbers of events, asked one by one.
func TestPairsExactly(t *testing.T) {
	const n = 12
	for _, c := range []struct {
		rule  string
		truth float64
		rates [3]float64
	}{
		{"rate: selection, max_group_gap: 0.9}", 0.3, [3]float64{0.8, 0.5, 0.5}}, {"rate: selection, max_group_gap: 0.2}", 0.49, [3]float64{0.99, 0.5, 0.5}},
		{"rate: selection, min_group_ratio: 0.4}", 0.1, [3]float64{0.05, 0.5, 0.5}},
	} {
		s := planned(t, "fairness", "cases: c.csv\nmin_cell: 5\nconfidence: 0.6\nattributes: {group: [a, b, c]}\nrules:\n  - {id: r, attribute: group, "+c.rule)
		of := newCells(s, 0)
		want := Odds{}
		for i := range n + 1 {
			for j := range n + 1 {
				for k := j; k <= n; k++ { // the second and the third group are alike
					p := distuv.Binomial{N: n, P: c.rates[0]}.Prob(float64(i)) * distuv.Binomial{N: n, P: c.rates[1]}.Prob(float64(j)) * distuv.Binomial{N: n, P: c.rates[2]}.Prob(float64(k))
					if k > j {
						p *= 2
					}
					out, err := s.Judge(of.study(n, 0, i, j, k), 0)
					if err != nil {
						t.Fatal(err)
					}
					switch out.Verdict {
					case report.Pass:
						want.Pass += p
					case report.Fail:
						want.Fail += p
					default:
						want.Undecided += p
					}
				}
			}
		}
		got := oddsOf(t, s, parity, n, 0, c.truth)
		if math.Abs(got.Pass-want.Pass) > 1e-6 || math.Abs(got.Fail-want.Fail) > 1e-6 || want.Pass+want.Fail < 0.01 {
			t.Errorf("%s: %+v, want %+v", c.rule, got, want)
		}
	}
}

// TestHowOftenPeopleDecide: how often "lower bound > 0" decides at a true gain of .2 (the table of the intervals' page: .007, .888, .328,
// .995), by other draws of another law of people with the same spread: to within .06, their Monte Carlo errors and what the law makes.
func TestHowOftenPeopleDecide(t *testing.T) {
	if testing.Short() {
		t.Skip("by simulation or by trying everything: left out with -short")
	}
	for _, c := range []struct {
		looks  string
		people int
		want   float64
	}{{"", 20, 0.007}, {"", 40, 0.888}, {", looks: once, planned: 7", 20, 0.328}, {", looks: once, planned: 7", 40, 0.995}} {
		got := oddsOf(t, planned(t, "human-ai", manyPeople+"metric: accuracy_difference, minimum: 0"+c.looks+"}"), reviewers, c.people, 250, 0.2)
		if math.Abs(got.Pass-c.want) > 0.06 || got.Fail != 0 {
			t.Errorf("%d people%s: %+v, want %v", c.people, c.looks, got, c.want)
		}
	}
}

// TestSignPower: how often the sign test says better (docs/compare.md, exact): .224 with 8 cases, 5 trials and 20 points, .315 with 30, 5 and
// 10, .298 with 30, 1 and 20. Its cases are of more kinds than these; to within .06 at 600 runs.
func TestSignPower(t *testing.T) {
	s := planned(t, "compare", twoAgents+"metric: sign_test}")
	for _, c := range []struct {
		cases, trials int
		truth, want   float64
	}{{8, 5, 0.2, 0.224}, {30, 5, 0.1, 0.315}, {30, 1, 0.2, 0.298}} {
		if got := oddsOf(t, s, CompareShape{PassRate: 0.5333, Trials: []int{c.trials}}, c.cases, 600, c.truth); math.Abs(got.Pass-c.want) > 0.06 {
			t.Errorf("%d cases, %d trials, %v: %+v, want %v", c.cases, c.trials, c.truth, got, c.want)
		}
	}
}

// TestPlanIsTheSameOnAnyCores: a plan depends on its request alone.
func TestPlanIsTheSameOnAnyCores(t *testing.T) {
	plan := func(cores int, seed string) Planned {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		p, err := Plan(context.Background(), planned(t, "compare", twoAgents+"metric: sign_test}"), 0, CompareShape{PassRate: 0.5, Trials: []int{3, 1}},
			Request{Truths: []float64{0.3}, Chance: 0.5, Runs: 60, Drawing: Drawing{Seed: seed}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one := plan(1, "a")
	if diff := cmp.Diff(one, plan(3, "a")); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(one, plan(2, "b")) {
		t.Error("another seed gives the same plan")
	}
	if first := one.Ways[0].Recommended[0]; first.Size < 6 || first.Chance < 0.5 || len(one.Ways) != 2 {
		t.Errorf("%+v", one)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Plan(ended, planned(t, "fairness", twoGroups+"rate: error, max_group_gap: 0.1}"), 0, parity, Request{Truths: []float64{0}, Chance: 0.5, Runs: 20}); err != context.Canceled {
		t.Errorf("%v, want canceled", err)
	}
}

// TestPlansFail: at a truth on the wrong side the plan is for FAIL.
func TestPlansFail(t *testing.T) {
	p, err := Plan(context.Background(), planned(t, "anchoring", oneLabel+"minimum: 0.9}"), 0, annotator, Request{Truths: []float64{0.7}, Chance: 0.9})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Ways[0].Recommended[0]; got.Verdict != "FAIL" || got.Chance < 0.9 || got.Size < 20 || got.Size > 100 {
		t.Errorf("%+v", got)
	}
}

// TestTruthsThatCannotBe: each is an error that says what is allowed.
func TestTruthsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		gate, policy string
		shape        Shape
		truth        float64
		want         string
	}{
		{"human-ai", manyPeople + "metric: accuracy_difference, minimum: 0}", reviewers, 1.5, "lies between -1 and 1"},
		{"human-ai", manyPeople + "metric: accuracy_difference, minimum: 0}", reviewers, 0.5, "the chance to be right with the output would lie between 1 and 1.2"},
		{"human-ai", manyPeople + "metric: accuracy_difference, minimum: 0}", reviewers, 0, "is the threshold itself, where no size decides: state a truth on one side of it, such as 0.5"},
		{"human-ai", manyPeople + "metric: over_reliance, maximum: 0.5, per: person}", HumanAIShape{Cases: 10, SystemAccuracy: 1}, 0.2, "with --system-accuracy 1 there are none"},
		{"compare", twoAgents + "metric: sign_test}", agents, 0.6, "the difference lies between -0.53 and 0.47"},
		{"fairness", twoGroups + "rate: error, max_group_gap: 0.1}", FairnessShape{Rate: 0.4}, 0.7, "no group lies 0.7 from them"},
		{"anchoring", "rules:\n  - {id: r, metric: anchoring_gap, maximum: 0.1}", annotator, 0.3, "the gap lies between -0.8 and 0.2"},
		{"anchoring", "rules:\n  - {id: r, metric: model_minus_people, minimum: 0}", annotator, 0.5, "it lies between -0.7 and 0.1"},
		{"human-ai", manyPeople + "metric: agreement, minimum: 0}", HumanAIShape{Cases: 1}, 0.5, "--cases is 1"},
		{"human-ai", manyPeople + "metric: agreement, minimum: 0}", HumanAIShape{Cases: 2, Spread: math.NaN()}, 0.5, "--spread is NaN; a number from 0 to 1 is allowed"},
		{"human-ai", "abstain: [unsure, \"yes\"]\n" + manyPeople + "metric: agreement, minimum: 0}", reviewers, 0.5, "abstain has \"yes\", a word that made-up studies use"},
		{"human-ai", "missing_values: [NA, 1]\n" + manyPeople + "metric: agreement, minimum: 0}", reviewers, 0.5, "missing_values has \"1\""},
		{"compare", twoAgents + "metric: pass_all_k, k: 7, minimum: 0.5}", CompareShape{PassRate: 0.5, Trials: []int{3}}, 0.6, "a rule of the policy has k: 7"},
	} {
		_, err := Plan(context.Background(), planned(t, c.gate, c.policy), 0, c.shape, Request{Truths: []float64{c.truth}, Chance: 0.8, Runs: 20})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s at %v: %v, want %s", c.policy, c.truth, err, c.want)
		}
	}
}

// TestSmallSizes: one and two units can be planned, and decide nothing.
func TestSmallSizes(t *testing.T) {
	for _, c := range []struct {
		gate, policy string
		shape        Shape
		sizes        []int
		truth        float64
	}{
		{"human-ai", manyPeople + "metric: accuracy_difference, minimum: 0, looks: once, planned: 9}", reviewers, []int{2, 3}, 0.1},
		{"human-ai", manyPeople + "metric: accuracy_difference, generalize: people_and_cases, minimum: 0}", reviewers, []int{2, 3}, 0.1},
		{"human-ai", manyPeople + "metric: agreement, per: person, minimum: 0.9}", reviewers, []int{2}, 0.95},
		{"compare", "plan: {cases: 8, trials: 2}\n" + twoAgents + "metric: pass_rate_difference, minimum: 0}", agents, []int{1, 2}, 0.1},
		{"compare", "case_list: fixed\n" + twoAgents + "metric: rate, minimum: 0.9}", agents, []int{1, 2}, 0.95},
		{"fairness", twoGroups + "rate: precision, max_group_gap: 0.1}", FairnessShape{Missing: 0.5}, []int{1, 2}, 0},
		{"anchoring", "rules:\n  - {id: r, metric: anchoring_gap, per: person, maximum: 0.1}", annotator, []int{2}, 0},
		{"anchoring", "rules:\n  - {id: r, metric: people_agreement, minimum: 0.9}", annotator, []int{1, 2}, 0.95},
		{"compare", "rules:\n  - {id: r, metric: sign_test}", agents, []int{1, 2}, 0.1}, // versions that the policy does not name
		{"human-ai", "design: before_after\n" + manyPeople + "metric: accuracy_difference, minimum: 0}", reviewers, []int{2, 3}, 0.1},
		{"anchoring", "draw: d.csv\ncorpus_size: 30\n" + oneLabel + "minimum: 0.9}", annotator, []int{1, 2}, 0.95},
	} {
		s := planned(t, c.gate, c.policy)
		for _, n := range c.sizes {
			if got := oddsOf(t, s, c.shape, n, 20, c.truth); got.Undecided != 1 {
				t.Errorf("%s with %d: %+v", c.policy, n, got)
			}
		}
	}
}

// TestFamilies: rules that share their error are planned at their part of it, and a FAIL by holm at its smallest.
func TestFamilies(t *testing.T) {
	rules := "rules:\n  - {id: r, metric: blind_agreement, minimum: 0.8}\n  - {id: s, metric: visible_agreement, minimum: 0.8}\n"
	pass := func(policy string) Odds { return oddsOf(t, planned(t, "anchoring", policy), annotator, 100, 0, 0.9) }
	fail := func(policy string) Odds { return oddsOf(t, planned(t, "anchoring", policy), annotator, 100, 0, 0.7) }
	alone := strings.ReplaceAll(rules, "}", ", confidence: 0.975}")
	if a, b := pass("adjust: bonferroni\n"+rules), pass(alone); a != b || a == pass(rules) {
		t.Errorf("bonferroni: %+v, want %+v", a, b)
	}
	if a, b := pass("adjust: holm\n"+rules), pass(rules); a.Pass != b.Pass {
		t.Errorf("holm, PASS: %+v, want %+v", a, b)
	}
	if a, b := fail("adjust: holm\n"+rules), fail(alone); math.Abs(a.Fail-b.Fail) > 1e-12 || a.Fail == fail(rules).Fail {
		t.Errorf("holm, FAIL: %+v, want %+v", a, b)
	}
}

// TestDeclarations: groups of numbers, words in place of 0 and 1, crossings, slices and columns of other names are written as the
// declaration has them: every case counts.
func TestDeclarations(t *testing.T) {
	s := planned(t, "fairness", `cases: c.csv
id: nr
label: {column: truth, positive: "ja", negative: "nein"}
prediction: {column: said, positive: "1", negative: "0"}
probability: score
unit: who
columns: {who: person}
attributes: {age: {bins: [30, 60]}, sex: [f, m]}
intersections: [[sex, age]]
rules:
  - {id: r, rate: false_negative, attribute: [sex, age], max_group_gap: 0.05, where: {region: north}}
  - {id: s, rate: error, attribute: sex, max_group_gap: 0.05, where: {age: 30_to_60}}
`)
	for rule, want := range []int{6, 2} {
		c := newCells(s, rule)
		if c.groups != want {
			t.Fatalf("%d groups, want %d", c.groups, want)
		}
		study := c.study(31, 0, slices.Repeat([]int{3}, want)...)
		out, err := s.Judge(study, rule)
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range out.Cells {
			if cell.Numerator == nil || *cell.Numerator != 3 || *cell.Denominator != 31 {
				t.Errorf("rule %d: %v of %v in %v", rule, cell.Numerator, cell.Denominator, cell.Labels)
			}
		}
	}
}

// TestGuessesChangeNothing: whatever the guess, the same turns are found, and from a good one with fewer questions.
func TestGuessesChangeNothing(t *testing.T) {
	for _, most := range []int{0, 1, 2, 7, 40} {
		for pass := 0; pass <= most+1; pass++ {
			for fail := 0; fail <= pass; fail++ {
				for _, above := range []bool{true, false} {
					asked := 0
					judge := func(events int) (report.Rule, error) {
						if asked++; events < 0 || events > most {
							t.Fatalf("asked about %d of %d", events, most)
						}
						if !above {
							events = most - events
						}
						switch {
						case events >= pass:
							return report.Rule{Verdict: report.Pass}, nil
						case events < fail:
							return report.Rule{Verdict: report.Fail}, nil
						}
						return report.Rule{Verdict: report.InsufficientEvidence}, nil
					}
					want, err := findTurns(most, above, nil, judge)
					if err != nil {
						t.Fatal(err)
					}
					for _, g := range []turns{{pass: 0, fail: 0}, {pass: most + 1, fail: 0}, {pass: most / 2, fail: most / 3}, {pass: -5, fail: most + 9}, want} {
						asked = 0
						got, err := findTurns(most, above, &g, judge)
						if err != nil || got != want {
							t.Fatalf("%d, pass %d, fail %d: %+v from %+v, want %+v; %v", most, pass, fail, got, g, want, err)
						}
						if g == want && asked > 4 { // each turn and the number before it
							t.Errorf("%d questions from the right guess", asked)
						}
					}
				}
			}
		}
	}
}

// TestRecommendationsHoldAnew: the size that is recommended reaches the chance in studies that the search did not see. A search alone
// takes a size that had luck: here the chance at a size is known.
func TestRecommendationsHoldAnew(t *testing.T) {
	const wanted, runs = 0.8, 400
	chance := func(n int) float64 { return 1 - math.Exp(-float64(n)/50) } // 0.8 at 80.5
	lucky, small := 0, 0
	for seed := range 60 {
		track := Track{Least: 1, Most: 2000, Odds: func(_ context.Context, n int, _ []float64, runs int) ([]Odds, error) {
			passed := 0
			for i := range runs {
				if Random("anew", fmt.Sprint(seed, n), i).Float64() < chance(n) {
					passed++
				}
			}
			p := float64(passed) / float64(runs)
			return []Odds{{Pass: p, Undecided: 1 - p, Runs: runs}}, nil
		}}
		s, odds, err := suggest(context.Background(), track, Truths{Upper: 1, Threshold: 0.5, Above: true}, 0.9, wanted, runs)
		if err != nil || s.Size == 0 || odds.Runs != runs {
			t.Fatalf("%+v, %d runs, %v", s, odds.Runs, err)
		}
		if chance(s.Size) < wanted {
			small++
		}
		if s.Chance > chance(s.Size) {
			lucky++
		}
	}
	// With these seeds 43 estimates are above the truth, which had to reach the wanted chance; without the second look 49, some of them from
	// a hundred studies.
	if small > 0 || lucky > 45 {
		t.Errorf("%d of 60 sizes are too small, %d estimates are above the truth", small, lucky)
	}
}
