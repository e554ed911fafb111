package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/policy"
)

// CompareShape is what a comparison of two versions is taken to look like; the number of cases is what is searched for.
type CompareShape struct {
	Trials   []int   // of each case in each version: the first is planned, the others compared with it; nil: the policy's plan, or 5
	PassRate float64 // of the baseline, over cases whose chances differ widely
	Missing  float64 // the share of trials without a result
}

// Numbers of trials where nobody says any: the one that is planned, and those beside it.
const defaultTrials = 5

var besideTrials = []int{1, 3, 5, 10}

// mostPlannedTrials is how many results of one version a simulated comparison has at most.
const mostPlannedTrials = 100_000

// Check implements Shape.
func (c CompareShape) Check() error {
	for _, n := range c.Trials {
		if n < 1 || n > 1000 {
			return fmt.Errorf("--trials has %d; from 1 to 1000 trials of a case can be planned", n)
		}
	}
	if !(c.PassRate > 0 && c.PassRate < 1) {
		return fmt.Errorf("--pass-rate is %v; a number between 0 and 1 is allowed", c.PassRate)
	}
	return checkMissing(c.Missing)
}

// comparePlan is what a policy says of the numbers of a comparison, and where.
type comparePlan struct {
	cases, trials policy.Int
	fixed         bool
	names         [2]string // of the versions as rows have them
	mostK         int       // of the rules
}

// comparePlanOf reads it.
func comparePlanOf(s *Subject) comparePlan {
	var p comparePlan
	if of := s.Section.Map.Map("plan"); of != nil {
		p.cases, p.trials = of.Int("cases", 1, math.MaxInt32), of.Int("trials", 1, math.MaxInt32)
	}
	p.fixed = s.Section.Map.Text("case_list").Value == "fixed"
	p.names = [2]string{s.Section.Map.Text("baseline").Value, s.Section.Map.Text("candidate").Value}
	switch {
	case s.flags.Baseline != "":
		p.names = [2]string{s.flags.Baseline, s.flags.Candidate}
	case p.names[0] == "" && p.names[1] == "":
		p.names = unnamed
	}
	for i := range s.Rules {
		p.mostK = max(p.mostK, s.Rules[i].Map.Int("k", 1, math.MaxInt32).Value)
	}
	return p
}

// Truths implements Shape.
func (c CompareShape) Truths(s *Subject, rule int) (Truths, error) {
	r := &s.Rules[rule]
	version := r.Map.Text("version").Value
	if version == "" {
		version = "candidate"
	}
	t := Truths{Upper: 1}
	if r.Threshold != nil {
		t.Threshold, t.Above = r.Threshold.Value.Value, r.Threshold.Kind == policy.Minimum
	}
	k := r.Map.Int("k", 1, math.MaxInt32).Value
	switch r.Metric.Value {
	case "sign_test":
		t.Lower, t.Above, t.Signed, t.What = -1, true, true, "the true difference of the pass rates (candidate minus baseline)"
	case "pass_rate_difference":
		t.Lower, t.Signed, t.What = -1, true, "the true difference of the pass rates (candidate minus baseline)"
	case "rate":
		t.What = "the true pass rate of the " + version
	case "pass_at_k":
		t.What = fmt.Sprintf("the true share of cases that the %s passes at least once in %d trials", version, k)
	default:
		t.What = fmt.Sprintf("the true share of cases that the %s passes in all of %d trials", version, k)
	}
	return t, nil
}

// Tracks implements Shape.
func (c CompareShape) Tracks(s *Subject, rule int, d Drawing) ([]Way, error) {
	p := comparePlanOf(s)
	trials := slices.Clone(c.Trials)
	if trials == nil {
		trials = []int{max(defaultTrials, p.mostK)}
		if p.trials.Set {
			trials[0] = p.trials.Value
		}
		for _, n := range besideTrials {
			if n >= p.mostK && n != trials[0] {
				trials = append(trials, n)
			}
		}
	}
	var ways []Way
	for i, n := range trials {
		if n < p.mostK {
			return nil, fmt.Errorf("--trials has %d, and a rule of the policy has k: %d, which takes as many trials of every case", n, p.mostK)
		}
		way := Way{Track: c.track(s, rule, p, n, d), Declared: max(p.cases.Value, plannedOf(&s.Rules[rule]))}
		if i > 0 {
			way.What, way.Declared = fmt.Sprintf("with %s of each case in each version", many(n, "trial")), 0
		}
		ways = append(ways, way)
		if i == 0 && !way.Track.Exact {
			once := onceWay(s, rule, way.Track, func(v *Subject) func(context.Context, int, []float64, int) ([]Odds, error) {
				return c.track(v, rule, comparePlanOf(v), n, d).Odds
			})
			if once != nil {
				ways = append(ways, *once)
			}
		}
	}
	return ways, nil
}

// many writes a count with its noun.
func many(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// at is the subject with a number of cases and of trials.
func (p comparePlan) at(s *Subject, rule, cases, trials int) (*Subject, error) {
	numbers := []numberAt{{plannedPos(&s.Rules[rule]), cases}, {p.cases.Pos, cases}, {p.trials.Pos, trials}}
	seen := map[diag.Pos]bool{}
	numbers = slices.DeleteFunc(numbers, func(n numberAt) bool {
		again := seen[n.pos]
		seen[n.pos] = true
		return again
	})
	if p.cases.Set { // every planned number of cases says the same as the plan
		for i := range s.Rules {
			if pos := plannedPos(&s.Rules[i]); pos.Line > 0 && !seen[pos] && s.Rules[i].Where == nil {
				seen[pos] = true
				numbers = append(numbers, numberAt{pos, cases})
			}
		}
	}
	return s.withNumbers(numbers...)
}

// track plans a rule with a number of trials.
func (c CompareShape) track(s *Subject, rule int, p comparePlan, trials int, d Drawing) Track {
	r := &s.Rules[rule]
	metric, k := r.Metric.Value, r.Map.Int("k", 1, math.MaxInt32).Value
	t := Track{Unit: "cases", Least: 1, Most: max(64, mostPlannedTrials/trials)}
	if plannedPos(r).Line > 0 || onceIn(s) {
		t.Least = 2
	}
	fixed := "The cases are drawn, and stand for others."
	if p.fixed {
		fixed = "The cases are one fixed list (case_list: fixed)."
	}
	t.Assumes = []string{fixed, fmt.Sprintf("%s of each case in each version (--trials).", many(trials, "trial"))}
	role := 1
	if r.Map.Text("version").Value == "baseline" {
		role = 0
	}
	units := metric == "rate" && trials == 1 || k == trials && k > 0
	if units && !p.fixed { // a case is 0 or 1
		t.Assumes = append(t.Assumes, "A case counts as one result, so that how its chance differs from others' makes no difference.")
		t.Assumes = append(t.Assumes, assumesMissing(c.Missing, "cases")...)
		return counting(t, c.Missing, func(size int) (*Subject, error) { return p.at(s, rule, size, trials) }, rule,
			func(at *Subject, events, missing, n int) Study {
				return at.caseStudy(rule, p, trials, role, events, missing, n)
			})
	}
	t.Limit = "larger studies are not simulated"
	kinds := func(truth float64) ([]Chances, error) { return c.kinds(metric, k, role, truth) }
	t.Possible = func(truth float64) error {
		_, err := kinds(truth)
		return err
	}
	t.Assumes = append(t.Assumes, c.assumesKinds(metric)...)
	t.Assumes = append(t.Assumes, assumesMissing(c.Missing, "trials")...)
	t.Odds = func(ctx context.Context, size int, truths []float64, runs int) ([]Odds, error) {
		at, err := p.at(s, rule, size, trials)
		if err != nil {
			return nil, err
		}
		models := map[float64]Compare{}
		for _, truth := range truths {
			list, err := kinds(truth)
			if err != nil {
				return nil, err
			}
			models[truth] = Compare{Cases: size, Trials: [2]int{trials, trials}, Kinds: list, Fixed: p.fixed,
				MissingFailed: [2]float64{c.Missing, c.Missing}, MissingPassed: [2]float64{c.Missing, c.Missing}}
		}
		return simulated(ctx, at, rule, d, runs, truths, func(r *rand.Rand, truth float64) Study {
			return at.inInputs(rule, p, models[truth].Draw(r, compareColumns).Study[0])
		})
	}
	return t
}

// onceIn reports whether some rule of the subject plans its number of units.
func onceIn(s *Subject) bool {
	return slices.ContainsFunc(s.Rules, func(r policy.Rule) bool { return plannedPos(&r).Line > 0 })
}

// compareColumns are those that rows of trials are drawn with.
var compareColumns = []string{"version", "case", "trial", "passed"}

// inInputs sorts drawn trials into the inputs of the subject: one with both versions, or one for each.
func (s *Subject) inInputs(rule int, p comparePlan, drawn [][]string) Study {
	study := make(Study, len(s.Columns))
	for _, row := range drawn {
		input, name := 0, p.names[0]
		if row[0] == "candidate" {
			name = p.names[1]
			input = len(s.Columns) - 1
		}
		columns := s.Columns[input]
		out := make([]string, len(columns))
		at := places(columns, "version", "case", "trial", "passed")
		set(out, at[0], name)
		set(out, at[1], row[1])
		set(out, at[2], row[2])
		set(out, at[3], row[3])
		s.sliceTexts(rule, input, out)
		study[input] = append(study[input], out)
	}
	return study
}

// caseStudy is n cases that are 0 or 1 to a rule on one version: so many are events in it, by all of their trials, and so many have
// no result. In the other version every second case passes.
func (s *Subject) caseStudy(rule int, p comparePlan, trials, role, events, missing, n int) Study {
	names := numbered("c", n)
	numbers := numbered("", trials)
	rows := make([][]string, 0, 2*n*trials)
	for i, name := range names {
		for v, version := range [2]string{"baseline", "candidate"} {
			passed := digit(i%2 == 0)
			if v == role {
				passed = digit(i < events)
			}
			if i >= n-missing {
				passed = ""
			}
			for _, number := range numbers {
				rows = append(rows, []string{version, name, number, passed})
			}
		}
	}
	return s.inInputs(rule, p, rows)
}

// chancesOf is how likely cases are to pass where the mean is rate: ten kinds, as often each. They differ as the larger of two
// numbers drawn evenly does, √0.05 … √0.95, whose mean is about two thirds: a lower rate is a part of each, a higher one takes a part
// of what each lacks.
func chancesOf(rate float64) []float64 {
	list := make([]float64, 10)
	mean := 0.0
	for j := range list {
		list[j] = math.Sqrt((float64(j) + 0.5) / 10)
		mean += float64(list[j] / 10)
	}
	for j, p := range list {
		if rate <= mean {
			list[j] = p * (rate / mean)
		} else {
			list[j] = min(1, p+float64((1-p)*((rate-mean)/(1-mean))))
		}
	}
	return list
}

// kinds are the kinds of cases of a comparison whose truth for a metric is as stated.
func (c CompareShape) kinds(metric string, k, role int, truth float64) ([]Chances, error) {
	var list []Chances
	switch metric {
	case "sign_test", "pass_rate_difference":
		candidate := c.PassRate + truth
		if err := checkChance("the candidate's pass rate", candidate, candidate); err != nil {
			return nil, fmt.Errorf("%w: with a baseline of %v (--pass-rate), the difference lies between %.4g and %.4g", err, c.PassRate, -c.PassRate, 1-c.PassRate)
		}
		old := chancesOf(c.PassRate)
		least, most := slices.Min(old)+truth, slices.Max(old)+truth
		for _, p := range old {
			next := p + truth
			switch {
			case least >= 0 && most <= 1:
			case truth > 0: // as large a part of each case's failures
				next = p + float64((1-p)*truth/(1-c.PassRate))
			default:
				next = p + float64(p*truth/c.PassRate)
			}
			list = append(list, Chances{p, min(1, max(0, next)), 1})
		}
		return list, nil
	case "rate":
		for _, p := range chancesOf(truth) {
			list = append(list, Chances{p, p, 1})
		}
		return list, checkChance("the pass rate", truth, truth)
	}
	if err := checkChance("the share", truth, truth); err != nil {
		return nil, err
	}
	// The pass rate at which so many cases pass in all of k trials, or in at least one, by halving.
	share := func(rate float64) float64 {
		sum := 0.0
		for _, p := range chancesOf(rate) {
			if metric == "pass_at_k" {
				sum += 1 - power(1-p, k)
			} else {
				sum += power(p, k)
			}
		}
		return sum / 10
	}
	low, high := 0.0, 1.0
	for range 60 {
		if middle := (low + high) / 2; share(middle) < truth {
			low = middle
		} else {
			high = middle
		}
	}
	for _, p := range chancesOf(high) {
		list = append(list, Chances{p, p, 1})
	}
	return list, nil
}

// assumesKinds says what the cases are like.
func (c CompareShape) assumesKinds(metric string) []string {
	if metric == "sign_test" || metric == "pass_rate_difference" {
		old := chancesOf(c.PassRate)
		return []string{fmt.Sprintf("The baseline passes %s of the time, from %s in the hardest cases to %s in the easiest (--pass-rate).",
			briefly(c.PassRate), briefly(math.Round(1000*slices.Min(old))/1000), briefly(math.Round(1000*slices.Max(old))/1000)),
			"The candidate differs by the same in every case; where that would leave 0 to 100 %, by a part of each case's failures or passes."}
	}
	half := chancesOf(0.5)
	return []string{fmt.Sprintf("Cases differ widely in how likely they are to pass: where they pass half of the time on the whole, from %s in the hardest to %s in the easiest.",
		briefly(math.Round(1000*slices.Min(half))/1000), briefly(math.Round(1000*slices.Max(half))/1000))}
}
