package audit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// SelfTest asks a policy about a user's own rows, changed so that the truth is known: whether its rules err more often by
// chance than they promise, and whether they can fail at all. For every rule:
//
//  1. What is true is made so (an experiment): rows are shuffled between the sides that a rule compares, so that nothing but
//     chance is between them, or the units of a level are drawn anew from the file, whose own level is the truth then. The
//     gate is asked about each of so many such studies, and every verdict that the truth forbids is counted.
//  2. A harm is planted (a planting) in units drawn anew, from none to the worst possible, and the least one is looked for at
//     which the rule FAILs in FoundShare of the studies. A rule that the worst possible harm fails neither so often nor in the
//     file's own rows is toothless.
//
// selftest_humanai.go and its neighbours say what can be shuffled, drawn and planted in each gate's rows.
type SelfTest struct {
	Setup   Setup
	Studies []Study // the rows as they were read, by question
	Runs    int     // studies for 1; at least 1
	Seed    string
	Step    func() // called after each study that the gates were asked about; nil: nothing
}

// FoundShare is the share of studies in which a rule has to FAIL for a planted harm to count as found.
const FoundShare = 0.8

// mostHarmRuns is how many studies each planted harm is asked about: enough to tell a share of 80 % within about 8 points (two
// standard errors of 4), and no more than there are of the others.
const mostHarmRuns = 100

// dials is how finely the planted harm is looked for: in steps of 1/dials of the way to the worst possible.
const dials = 32

// RuleTest is what the audit found of one rule.
type RuleTest struct {
	Gate      string           `json:"gate"`
	Name      string           `json:"name,omitempty"` // of the gate's section
	Rule      string           `json:"rule"`
	Metric    string           `json:"metric"`
	Threshold report.Threshold `json:"threshold,omitzero"`
	Advisory  bool             `json:"advisory,omitempty"`
	Estimate  *float64         `json:"estimate,omitempty"` // in the file
	Verdict   report.Verdict   `json:"verdict"`            // on the file, before waivers
	Adjusted  *report.Adjusted `json:"adjusted,omitempty"` // the promise is then of the whole family
	Chance    *ByChance        `json:"by_chance,omitempty"`
	// NotAudited says why nothing was shuffled or drawn anew, where Chance is nil.
	NotAudited string `json:"not_audited,omitempty"`
	Harm       *Harm  `json:"harm,omitempty"`
}

// ByChance is how often a rule errs where the truth is known.
type ByChance struct {
	Null     string         `json:"null"`     // what was made true, in a sentence
	Shuffled bool           `json:"shuffled"` // else units were drawn anew
	Truth    *float64       `json:"truth,omitempty"`
	Runs     int            `json:"runs"`
	Verdicts report.Counts  `json:"verdicts"`
	Refused  int            `json:"refused,omitempty"` // studies that the gate cannot use: none of the errors below
	Checks   []PromiseCheck `json:"checks"`
}

// PromiseCheck is one kind of error, held against its promise.
type PromiseCheck struct {
	Error   string     `json:"error"` // PassesWrongly and its neighbours
	Group   string     `json:"group,omitempty"`
	Share   Share      `json:"share"`
	Between [2]float64 `json:"interval"` // exact, 95 %: what the probability may be
	Promise float64    `json:"promise"`
	Broken  bool       `json:"broken"`
}

// The kinds of error, by their published names.
const (
	PassesWrongly = "passes_wrongly" // PASS although the truth violates the rule
	FailsWrongly  = "fails_wrongly"  // FAIL although the truth satisfies it
	TooHigh       = "too_high"       // the whole interval lies above the truth: a minimum just above it would PASS
	TooLow        = "too_low"        // the whole interval lies below it: a minimum right there would FAIL
	FamilyFails   = "family_fails"   // of rules that share their error and their studies, any FAILs although the truth satisfies it
)

// Harm is what a planted harm has to be for a rule to FAIL.
type Harm struct {
	Planted string `json:"planted"` // what was changed, in a sentence
	Measure string `json:"measure"` // what the values are, such as "the accuracy difference"
	Runs    int    `json:"runs"`
	// Smallest is the value at which the rule FAILs in FoundShare of the studies, on average over them; nil where none does.
	Smallest *float64 `json:"smallest,omitempty"`
	Found    *Share   `json:"found,omitempty"` // there
	Worst    *float64 `json:"worst,omitempty"` // the value at the worst possible
	AtWorst  Share    `json:"at_worst"`
	// OwnRows is what the rule comes to where the worst possible is planted in the file's own rows, none drawn anew; only there
	// where AtWorst is less than FoundShare.
	OwnRows report.Verdict `json:"own_rows,omitzero"`
	// Always says that the rule FAILs in FoundShare of the studies whatever they hold, at the best possible too.
	Always bool `json:"always,omitempty"`
	// Toothless says why not even the worst possible makes the rule FAIL; "" where it does.
	Toothless string `json:"toothless,omitempty"`
}

// Broken reports whether the rule errs more often than it promises.
func (t *RuleTest) Broken() bool {
	return t.Chance != nil && slices.ContainsFunc(t.Chance.Checks, func(c PromiseCheck) bool { return c.Broken })
}

// Toothless reports whether not even the worst possible harm fails the rule.
func (t *RuleTest) Toothless() bool { return t.Harm != nil && t.Harm.Toothless != "" }

// experiment makes a rule's truth known.
type experiment struct {
	key      string // rules of a gate whose experiments have one key share their studies
	null     string
	shuffled bool
	// truth is the rule's true value, one for each group where every group has its own; nil: nothing is to be told apart.
	truth []float64
	// draw makes a study. Where the truth depends on it, it is returned too, in place of truth.
	draw func(r *rand.Rand) (Study, []float64)
}

// planting puts a harm into a study.
type planting struct {
	key     string // of the random source
	planted string
	measure string
	least   float64 // of the dial: -1 where the best possible can be planted too, 0 where it begins at no harm
	draw    func(r *rand.Rand) drawn
	// plant turns a share of the values that the rule counts, the size of dial, to the bad side, or for a dial below 0 to the
	// good one. For one source, a value that is turned at a dial is turned at every larger one.
	plant func(d drawn, r *rand.Rand, dial float64)
	// own is the file's own rows, to be changed.
	own func() drawn
	// value is the harm in a study, nil for the rule's estimate; known where it is set by the dial alone.
	value func(rule report.Rule) *float64
	known func(dial float64) float64
}

// drawn is a study of a user's rows, and the place that each row of its first input comes from; nil where that does not
// matter.
type drawn struct {
	study Study
	from  []int
}

// subject is one gate's rows, and what can be made of them.
type subject interface {
	// chance returns the experiment for a rule, or says why there is none.
	chance(rule int) (*experiment, string)
	// harms returns the plantings for a rule, of which the first that makes it FAIL is taken.
	harms(rule int) []planting
}

// known is what a subject knows of its gate.
type known struct {
	question gate.Question
	study    Study
	name     string            // of the section
	settings map[string]string // as report.Gate has them
	rules    []policy.Rule
	base     []report.Rule // what they come to on the file
}

// know asks a question about its study, which it has read.
func know(q gate.Question, study Study, held map[string]int) (*known, error) {
	base, err := gate.JudgeAll(q, held)
	if err != nil {
		return nil, err
	}
	answer, err := q.Answer(gate.Context{Held: held})
	if err != nil {
		return nil, err
	}
	return &known{question: q, study: study, name: answer.Gate.Name, settings: answer.Gate.Settings, rules: q.Rules(), base: base}, nil
}

// ownRows is the file's own rows, to be changed.
func (k *known) ownRows() drawn { return drawn{study: k.study.Clone(), from: inOrder(len(k.study[0]))} }

// inOrder is 0 to n-1.
func inOrder(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// lowIsBad reports whether the small values of a rule's metric are the bad ones.
func (k *known) lowIsBad(rule int) bool {
	switch t := k.base[rule].Threshold; t.Kind {
	case report.Maximum, report.MaxGroupGap:
		return false
	case report.WorstGroup:
		return t.Side == report.Minimum
	}
	return true
}

// estimate is a rule's value in the file as its truth; nil where nothing is recorded.
func (k *known) estimate(rule int) []float64 {
	if e := k.base[rule].Estimate; e != nil {
		return []float64{*e}
	}
	return nil
}

// nothingRecorded is why a level without an estimate is not audited.
const nothingRecorded = "nothing is recorded of what it counts, so there is no level to draw from"

// subjectOf returns the subject of a gate.
func subjectOf(name string, k *known) (subject, error) {
	switch name {
	case "human-ai":
		return newPeople(k), nil
	case "compare":
		return newTrials(k), nil
	case "fairness":
		return newGroups(k)
	case "anchoring":
		return newLabels(k)
	}
	return nil, fmt.Errorf("the gate %s has no audit", name)
}

// Run makes the test. gates are the names of the questions' gates. The rules come in the order of questions and rules.
func (t SelfTest) Run(ctx context.Context, gates []string) ([]RuleTest, error) {
	questions, families, err := t.Setup.open(t.Studies)
	if err != nil {
		return nil, err
	}
	held, err := gate.HoldBack(families, questions)
	if err != nil {
		return nil, err
	}
	var list []RuleTest
	for at, q := range questions {
		k, err := know(q, t.Studies[at], held)
		if err != nil {
			return nil, err
		}
		s, err := subjectOf(gates[at], k)
		if err != nil {
			return nil, err
		}
		first := len(list)
		for _, r := range k.base {
			list = append(list, RuleTest{Gate: gates[at], Name: k.name, Rule: r.ID, Metric: r.Metric, Threshold: r.Threshold, Advisory: r.Advisory,
				Estimate: r.Estimate, Verdict: r.Verdict, Adjusted: r.Adjusted})
		}
		if err := t.byChance(ctx, at, k, s, list[first:]); err != nil {
			return nil, err
		}
		for i := range k.base {
			if list[first+i].Harm, err = t.harm(ctx, at, i, k, s); err != nil {
				return nil, err
			}
		}
	}
	return list, hold(list)
}

// hold holds the errors against their promises, all of them together.
func hold(list []RuleTest) error {
	tests := 0
	for i := range list {
		if c := list[i].Chance; c != nil {
			tests += len(c.Checks)
		}
	}
	for i := range list {
		if list[i].Chance == nil {
			continue
		}
		for j := range list[i].Chance.Checks {
			c := &list[i].Chance.Checks[j]
			iv, err := c.Share.Interval(0.95)
			if err != nil {
				return err
			}
			c.Between = [2]float64{iv.Lower, iv.Upper}
			if c.Broken, err = c.Share.Above(c.Promise, tests); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask asks the gate in place at about another study. Chance can draw a study from a small file that the gate refuses, one without
// any trial of a version, say: then no rule has a verdict, as a run has none that ends with 2.
func (t SelfTest) ask(at int, study Study, rules []int) ([]report.Rule, error) {
	studies := slices.Clone(t.Studies)
	studies[at] = study
	list, err := t.Setup.AskSome(studies, at, rules)
	if refused, ok := errors.AsType[*diag.Error](err); ok {
		list = make([]report.Rule, len(rules))
		for i := range list {
			list[i].Reason = refused.Error()
		}
		return list, nil
	}
	return list, err
}

// observed is what a rule came to in a study whose truth is known.
type observed struct {
	rule  report.Rule
	truth []float64
}

// byChance makes the experiments of a question's rules.
func (t SelfTest) byChance(ctx context.Context, at int, k *known, s subject, list []RuleTest) error {
	experiments := make([]*experiment, len(list))
	members := map[string][]int{}
	var keys []string
	for i := range list {
		experiments[i], list[i].NotAudited = s.chance(i)
		if e := experiments[i]; e != nil {
			if members[e.key] == nil {
				keys = append(keys, e.key)
			}
			members[e.key] = append(members[e.key], i)
		}
	}
	for _, key := range keys {
		rules := members[key]
		draw := experiments[rules[0]].draw
		runs, err := Repeat(ctx, t.Seed, fmt.Sprintf("chance %d %s", at, key), t.Runs, t.Step, func(r *rand.Rand, _ int) ([]observed, error) {
			study, truth := draw(r)
			judged, err := t.ask(at, study, rules)
			if err != nil {
				return nil, err
			}
			all := make([]observed, len(rules))
			for i := range rules {
				all[i] = observed{slim(judged[i]), truth}
				if truth == nil {
					all[i].truth = experiments[rules[i]].truth
				}
			}
			return all, nil
		})
		if err != nil {
			return err
		}
		for i, rule := range rules {
			own := make([]observed, len(runs))
			for j := range runs {
				own[j] = runs[j][i]
			}
			list[rule].Chance = experiments[rule].count(&k.base[rule], own)
		}
		for _, family := range groupBy(len(rules), func(i int) int {
			if a := k.base[rules[i]].Adjusted; a != nil {
				return a.Family
			}
			return -i - 1 // a rule by itself
		}) {
			if len(family) > 1 {
				first := rules[family[0]]
				list[first].Chance.Checks = append(list[first].Chance.Checks, together(k.base, rules, family, runs))
			}
		}
	}
	return nil
}

// together counts the studies in which any rule of a family, of those that share an experiment, FAILs although the truth satisfies it.
// members are places among rules.
func together(base []report.Rule, rules, members []int, runs [][]observed) PromiseCheck {
	c := PromiseCheck{Error: FamilyFails, Share: Share{Of: len(runs)}}
	for _, i := range members {
		r := &base[rules[i]]
		if r.Adjusted.Method == report.Holm { // each has the whole error, and all together have no more
			c.Promise = max(c.Promise, r.FalseFail)
		} else {
			c.Promise += r.FalseFail
		}
	}
	for _, run := range runs {
		if slices.ContainsFunc(members, func(i int) bool {
			holds, _ := satisfied(base[rules[i]].Threshold, run[i].truth)
			return holds && run[i].rule.Verdict == report.Fail
		}) {
			c.Share.Count++
		}
	}
	return c
}

// slim keeps of a rule what is counted, so that many can be kept.
func slim(r report.Rule) report.Rule {
	kept := report.Rule{Verdict: r.Verdict, Measure: report.Measure{Interval: r.Interval}}
	if r.Threshold.Kind == report.WorstGroup {
		kept.Cells = make([]report.Cell, len(r.Cells))
		for i := range r.Cells {
			kept.Cells[i].Interval = r.Cells[i].Interval
		}
	}
	return kept
}

// count counts the errors of a rule.
func (e *experiment) count(base *report.Rule, runs []observed) *ByChance {
	c := &ByChance{Null: e.null, Shuffled: e.shuffled, Runs: len(runs), Checks: []PromiseCheck{}}
	if len(e.truth) == 1 {
		c.Truth = &e.truth[0]
	}
	wrong := map[string]int{}
	possible := map[string]bool{}
	for _, o := range runs {
		switch o.rule.Verdict {
		case report.Pass:
			c.Verdicts.Pass++
		case report.Fail:
			c.Verdicts.Fail++
		case report.ManualReview:
			c.Verdicts.ManualReview++
		case report.InsufficientEvidence:
			c.Verdicts.InsufficientEvidence++
		case report.NoVerdict:
			c.Refused++
			continue
		}
		holds, violated := satisfied(base.Threshold, o.truth)
		possible[FailsWrongly] = possible[FailsWrongly] || holds
		possible[PassesWrongly] = possible[PassesWrongly] || violated
		if holds && o.rule.Verdict == report.Fail {
			wrong[FailsWrongly]++
		}
		if violated && o.rule.Verdict == report.Pass {
			wrong[PassesWrongly]++
		}
	}
	promise := map[string]float64{FailsWrongly: base.FalseFail, PassesWrongly: base.FalseFail}
	if base.Threshold.Kind == report.MaxGroupGap || base.Threshold.Kind == report.MinGroupRatio {
		// A wrong FAIL can come from the end of any group's interval; a wrong PASS is that of one pair.
		promise[PassesWrongly] = base.FalseFail / 2
	}
	for _, kind := range []string{PassesWrongly, FailsWrongly} {
		if possible[kind] {
			c.Checks = append(c.Checks, PromiseCheck{Error: kind, Share: Share{wrong[kind], len(runs)}, Promise: promise[kind]})
		}
	}
	c.Checks = append(c.Checks, misses(base, runs)...)
	return c
}

// satisfied reports whether the truth satisfies a rule, and whether it violates it: of a sign test, where nothing is better or
// worse, neither verdict is right.
func satisfied(t report.Threshold, truth []float64) (holds, violated bool) {
	switch t.Kind {
	case report.Minimum, report.MinGroupRatio:
		holds = truth[0] >= t.Value
	case report.Maximum, report.MaxGroupGap:
		holds = truth[0] <= t.Value
	case report.WorstGroup:
		holds = !slices.ContainsFunc(truth, func(x float64) bool {
			return t.Side == report.Minimum && x < t.Value || t.Side == report.Maximum && x > t.Value
		})
	default:
		return true, true
	}
	return holds, !holds
}

// misses counts how often an interval lies wholly on one side of the truth: what a rule with its threshold right there would
// get wrong. A person has to look where an interval visibly does not hold: such a study counts as no miss. Gaps and ratios between groups
// have ends for which 0 and 1 are beyond the scale; their verdicts are counted.
func misses(base *report.Rule, runs []observed) []PromiseCheck {
	if base.Threshold.Kind == report.MaxGroupGap || base.Threshold.Kind == report.MinGroupRatio {
		return nil
	}
	groups := 1
	if base.Threshold.Kind == report.WorstGroup {
		groups = len(base.Cells)
	}
	var list []PromiseCheck
	for g := range groups {
		high, low, n, promise := 0, 0, 0, 0.0
		for _, o := range runs {
			iv := o.rule.Interval
			if g < len(o.rule.Cells) {
				iv = o.rule.Cells[g].Interval
			}
			if iv == nil || len(o.truth) <= g {
				continue
			}
			n++
			promise = (1 - iv.Confidence) / 2
			if o.rule.Verdict == report.ManualReview {
				continue
			}
			if iv.Lower != nil && *iv.Lower > o.truth[g] {
				high++
			}
			if iv.Upper != nil && *iv.Upper < o.truth[g] {
				low++
			}
		}
		if n == 0 {
			continue
		}
		name := ""
		if base.Threshold.Kind == report.WorstGroup {
			name = base.Cells[g].Labels["group"]
		}
		list = append(list, PromiseCheck{Error: TooHigh, Group: name, Share: Share{high, n}, Promise: promise},
			PromiseCheck{Error: TooLow, Group: name, Share: Share{low, n}, Promise: promise})
	}
	return list
}

// harm looks for the least planted harm that makes a rule FAIL.
func (t SelfTest) harm(ctx context.Context, at, rule int, k *known, s subject) (*Harm, error) {
	var last *Harm
	for n, p := range s.harms(rule) {
		h, err := t.search(ctx, at, rule, fmt.Sprintf("harm %d %d %d %s", at, rule, n, p.key), k, p)
		if err != nil || h.Toothless == "" {
			return h, err
		}
		last = h
	}
	return last, nil
}

// planted is what came of a rule at one dial.
type planted struct {
	fails Share
	value *float64
}

// search looks for the least dial of one planting, by halving: the share of FAILs rises with the dial.
func (t SelfTest) search(ctx context.Context, at, rule int, name string, k *known, p planting) (*Harm, error) {
	runs := min(t.Runs, mostHarmRuns)
	try := func(dial float64) (planted, error) {
		all, err := Repeat(ctx, t.Seed, name, runs, t.Step, func(r *rand.Rand, _ int) (report.Rule, error) {
			d := p.draw(r)
			p.plant(d, r, dial)
			judged, err := t.ask(at, d.study, []int{rule})
			if err != nil {
				return report.Rule{}, err
			}
			kept := report.Rule{Verdict: judged[0].Verdict, Measure: report.Measure{Estimate: judged[0].Estimate}}
			if p.value != nil && kept.Verdict != report.NoVerdict {
				kept.Estimate = p.value(judged[0])
			}
			return kept, nil
		})
		if err != nil {
			return planted{}, err
		}
		out := planted{fails: Share{Of: runs}}
		sum, n := 0.0, 0
		for _, r := range all {
			if r.Verdict == report.Fail {
				out.fails.Count++
			}
			if r.Estimate != nil {
				sum, n = sum+*r.Estimate, n+1
			}
		}
		switch {
		case p.known != nil:
			out.value = report.Number(p.known(dial))
		case n > 0:
			out.value = report.Number(sum / float64(n))
		}
		return out, nil
	}
	h := &Harm{Planted: p.planted, Measure: p.measure, Runs: runs}
	worst, err := try(1)
	if err != nil {
		return nil, err
	}
	h.Worst, h.AtWorst = worst.value, worst.fails
	if worst.fails.Value() < FoundShare {
		own := p.own()
		p.plant(own, Random(t.Seed, name, 0), 1)
		judged, err := t.ask(at, own.study, []int{rule})
		if err != nil {
			return nil, err
		}
		if h.OwnRows = judged[0].Verdict; h.OwnRows != report.Fail {
			h.Toothless = k.why(rule, judged[0].Reason)
		}
		return h, nil
	}
	low, high := int(p.least*dials), dials // it is found at high
	found := worst
	best, err := try(p.least)
	if err != nil {
		return nil, err
	}
	if best.fails.Value() >= FoundShare {
		h.Always, h.Smallest, h.Found = true, best.value, &best.fails
		return h, nil
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		there, err := try(float64(middle) / dials)
		switch {
		case err != nil:
			return nil, err
		case there.fails.Value() >= FoundShare:
			high, found = middle, there
		default:
			low = middle
		}
	}
	h.Smallest, h.Found = found.value, &found.fails
	return h, nil
}

// why says why not even the worst possible harm makes a rule FAIL.
func (k *known) why(rule int, reason string) string {
	if t := k.base[rule].Threshold; t.Kind != "" {
		scale := k.base[rule].Scale
		if scale == nil {
			scale = &report.Scale{Lower: 0, Upper: 1}
		}
		end, what := scale.Lower, "smallest"
		if !k.lowIsBad(rule) {
			end, what = scale.Upper, "largest"
		}
		if t.Value == end {
			return fmt.Sprintf("its threshold is the %s value that there is, so that nothing can be beyond it", what)
		}
	}
	return reason
}

// pick draws so many of n with replacement, in the order drawn.
func pick(r *rand.Rand, n, count int) []int {
	list := make([]int, count)
	for i := range list {
		list[i] = r.IntN(n)
	}
	return list
}

// groupBy lists the distinct values of key over 0..n-1 in the order in which they first come, with the places of each.
func groupBy[K comparable](n int, key func(i int) K) [][]int {
	at := map[K]int{}
	var list [][]int
	for i := range n {
		x := key(i)
		g, found := at[x]
		if !found {
			g = len(list)
			at[x] = g
			list = append(list, nil)
		}
		list[g] = append(list[g], i)
	}
	return list
}
