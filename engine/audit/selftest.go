package audit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
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
//     which the rule FAILs in FoundShare of the studies. A rule that the worst possible harm fails in none of the studies, nor in
//     the file's own rows, is toothless. The best possible is planted too, to tell whether the rule can PASS.
//
// A rule with a planned number of units that the file does not hold yet is asked about the finished study (see Finished).
//
// selftest_humanai.go and its neighbours say what can be shuffled, drawn and planted in each gate's rows.
type SelfTest struct {
	Setup   Setup
	Studies []Study // the rows as they were read, by question
	Runs    int     // studies for 1; at least 1, and FewestRuns for an answer
	Seed    string
	// Step is called after each study that the gates were asked about, by one goroutine at a time, with what is being done; nil:
	// nothing.
	Step func(doing string)
}

// FewestRuns is how many studies an audit needs to say anything about promises of a few per cent: with fewer, not even an error
// several times as frequent as is promised could be told from chance.
const FewestRuns = 100

// FoundShare is the share of studies in which a rule has to FAIL for a planted harm to count as found.
const FoundShare = 0.8

// MostHarmRuns is how many studies each planted harm is asked about: enough to tell a share of 80 % within about 6 points (two
// standard errors of 2.8), and no more than there are of the others.
const MostHarmRuns = 200

// closeShare is above FoundShare, and near enough to it: a harm that fails the rule in at most this share is not halved further.
const closeShare = 0.85

// dials is how finely the planted harm is looked for: in steps of 1/dials of the way to the worst possible.
const dials = 1024

// RuleTest is what the audit found of one rule.
type RuleTest struct {
	Gate      string           `json:"gate"`
	Name      string           `json:"name,omitempty"` // of the gate's section
	Rule      string           `json:"rule"`
	Metric    string           `json:"metric"`
	Threshold report.Threshold `json:"threshold,omitzero"`
	Advisory  bool             `json:"advisory,omitempty"`
	Estimate  *float64         `json:"estimate,omitempty"` // in the file
	Units     *int             `json:"units,omitempty"`    // that it rests on in the file
	UnitName  string           `json:"unit_name,omitempty"`
	Verdict   report.Verdict   `json:"verdict"`            // on the file, before waivers
	Adjusted  *report.Adjusted `json:"adjusted,omitempty"` // the promise is then of the whole family
	Finished  *Finished        `json:"finished,omitempty"` // the planned study that was audited in place of the file
	Chance    *ByChance        `json:"by_chance,omitempty"`
	// NotAudited says why nothing was shuffled or drawn anew, where Chance is nil.
	NotAudited string `json:"not_audited,omitempty"`
	Harm       *Harm  `json:"harm,omitempty"` // nil where nothing could be planted
}

// Finished is a planned study made of one that is not finished: units of the file were copied in turn, as many as the plan still
// has room for.
type Finished struct {
	Planned int    `json:"planned"`
	Copied  int    `json:"copied"`
	Units   string `json:"units"` // what they are, in the plural
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
	// BrokenFrom is the least count at which the promise would be called broken; 0 where not even all would do.
	BrokenFrom int `json:"broken_from,omitempty"`
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
	// Toothless says why the rule FAILs nowhere, neither in the file's own rows with the worst possible planted nor in any study; ""
	// where it does somewhere.
	Toothless string `json:"toothless,omitempty"`
	Cause     Cause  `json:"cause,omitempty"` // what kind of reason Toothless is
	// Needs is what would decide the rule with the worst possible planted: in the file's own rows where it is toothless, else in the
	// first study that it leaves undecided; nil where it FAILs in FoundShare of them.
	Needs *report.Needs `json:"needs,omitempty"`
	// PassesAtBest is how often the rule PASSes with the best possible planted. Of a rule on gaps or ratios that is one rate for all
	// groups.
	PassesAtBest Share `json:"passes_at_best"`
	// NeedsToPass is what would decide the rule in the first study that it leaves undecided there, where it PASSes in none.
	NeedsToPass *report.Needs `json:"needs_to_pass,omitempty"`
}

// Cause is a kind of reason for which a rule cannot FAIL.
type Cause string

// The causes, by their published names.
const (
	ByThreshold Cause = "threshold" // the threshold is the end of the scale
	TooFew      Cause = "too_few"   // there are too few units, or labels, for any verdict
	ForAPerson  Cause = "person"    // it is MANUAL_REVIEW whatever the rows hold
	NoData      Cause = "no_data"   // nothing is recorded of what it measures
	BySettings  Cause = "settings"  // another setting of the policy, such as max_left_out, or what is missing leaves it open
)

// Ability is whether a rule can come to a verdict.
type Ability string

// The abilities, by their published names.
const (
	Can    Ability = "yes"    // in FoundShare of the studies with the worst, or the best, possible planted
	Seldom Ability = "seldom" // in fewer of them, or in the file's own rows
	Cannot Ability = "no"
)

// CanFail reports whether a rule can FAIL; "" where nothing could be planted.
func (t *RuleTest) CanFail() Ability {
	switch h := t.Harm; {
	case h == nil:
		return ""
	case h.Toothless != "":
		return Cannot
	case h.AtWorst.Value() < FoundShare:
		return Seldom
	}
	return Can
}

// CanPass reports whether a rule can PASS; "" where nothing could be planted.
func (t *RuleTest) CanPass() Ability {
	switch h := t.Harm; {
	case h == nil:
		return ""
	case h.PassesAtBest.Value() >= FoundShare:
		return Can
	case h.PassesAtBest.Count > 0, t.Verdict == report.Pass, t.Chance != nil && t.Chance.Verdicts.Pass > 0:
		return Seldom
	}
	return Cannot
}

// WrongVerdicts is in how many studies the rule's own verdict is wrong, PASS or FAIL, and the largest probability of that which is
// promised; ok is false where no verdict was counted.
func (t *RuleTest) WrongVerdicts() (wrong Share, promise float64, ok bool) {
	if t.Chance == nil {
		return Share{}, 0, false
	}
	for _, c := range t.Chance.Checks {
		if c.Error == PassesWrongly || c.Error == FailsWrongly {
			wrong.Count, wrong.Of, ok = wrong.Count+c.Share.Count, c.Share.Of, true
			promise += c.Promise
		}
	}
	return wrong, promise, ok
}

// Broken reports whether the rule errs more often than it promises.
func (t *RuleTest) Broken() bool {
	return t.Chance != nil && slices.ContainsFunc(t.Chance.Checks, func(c PromiseCheck) bool { return c.Broken })
}

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
	// harms returns the plantings for a rule, of which the first that makes it FAIL is taken, else the first.
	harms(rule int) []planting
	// grown returns the file with so many of a rule's units copied in turn, the first first; nil where they cannot be.
	grown(rule, copies int) Study
}

// audited is a rule's rows and what can be made of them.
type audited struct {
	*known
	subject
	key string // tells apart the studies of rules whose own rows differ
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

// Run makes the test. gates are the names of the questions' gates. The rules come in the order of questions and rules. Where ctx ends
// it before, its error comes with the rules that were finished.
func (t SelfTest) Run(ctx context.Context, gates []string) ([]RuleTest, error) {
	questions, families, err := t.Setup.open(t.Studies)
	if err != nil {
		return nil, err
	}
	held, err := gate.HoldBack(families, questions)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, q := range questions {
		total += len(q.Rules())
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
		of := make([]audited, len(k.base))
		for i, r := range k.base {
			test := RuleTest{Gate: gates[at], Name: k.name, Rule: r.ID, Metric: r.Metric, Threshold: r.Threshold, Advisory: r.Advisory,
				Estimate: r.Estimate, Units: r.Units, UnitName: r.UnitName, Verdict: r.Verdict, Adjusted: r.Adjusted}
			of[i] = audited{known: k, subject: s}
			if unfinished(&k.base[i]) {
				if of[i], test.Finished, test.NotAudited, err = t.finish(gates[at], at, i, of[i], held); err != nil {
					return nil, err
				}
			}
			list = append(list, test)
		}
		err = t.byChance(ctx, at, of, list[first:])
		finished := first
		for i := 0; err == nil && i < len(of); i++ {
			if of[i].subject != nil {
				list[first+i].Harm, err = t.harm(ctx, at, i, of[i], fmt.Sprintf("planted harm, rule %d of %d", first+i+1, total))
			}
			if err == nil {
				finished++
			}
		}
		if err != nil {
			return list[:finished], errors.Join(err, hold(list[:finished]))
		}
	}
	return list, hold(list)
}

// unfinished reports a rule whose interval holds for a planned number of units, which may not all be there.
func unfinished(r *report.Rule) bool {
	return r.Interval != nil && r.Interval.Looks == interval.LooksPlanned
}

// mostGrown is how many rows a finished study may have: what is larger is not audited, for it would take hours.
const mostGrown = 50_000

// finish makes the planned study of a rule: the file with as many of its units copied as the plan has room for, which is one fewer
// than those that the gate says break it. Where it cannot be made, why says so, and the subject is nil.
func (t SelfTest) finish(name string, at, rule int, of audited, held map[string]int) (full audited, made *Finished, why string, err error) {
	rowsOf := func(s Study) (n int) {
		for _, input := range s {
			n += len(input)
		}
		return n
	}
	fits := func(copies int) (bool, error) {
		judged, err := t.ask(at, of.grown(rule, copies), []int{rule})
		return err == nil && unfinished(&judged[0]), err
	}
	planned := of.rules[rule].Planned.Value
	one := of.grown(rule, 1)
	if one == nil {
		return audited{}, nil, fmt.Sprintf("it is planned for %d, which are not all there, and they cannot be copied to finish the study", planned), nil
	}
	tooMany := fmt.Sprintf("it is planned for %d, far more than the file holds, so that the finished study cannot be made of it", planned)
	if planned > mostGrown { // each has a row at least
		return audited{}, nil, tooMany, nil
	}
	low, high := 0, 1 // so many copies fit, and so many do not
	for {
		yes, err := fits(high)
		if err != nil {
			return audited{}, nil, "", err
		}
		if !yes {
			break
		}
		low, high = high, 2*high
		if high > 64*planned || rowsOf(of.study)+high*max(1, rowsOf(one)-rowsOf(of.study)) > mostGrown {
			return audited{}, nil, tooMany, nil
		}
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		yes, err := fits(middle)
		switch {
		case err != nil:
			return audited{}, nil, "", err
		case yes:
			low = middle
		default:
			high = middle
		}
	}
	if low == 0 { // the plan is finished
		return of, nil, "", nil
	}
	questions, _, err := t.Setup()
	if err != nil {
		return audited{}, nil, "", err
	}
	study := of.grown(rule, low)
	if err := Read(questions[at], study); err != nil {
		return audited{}, nil, "", err
	}
	k, err := know(questions[at], study, held)
	if err != nil {
		return audited{}, nil, "", err
	}
	s, err := subjectOf(name, k)
	if err != nil {
		return audited{}, nil, "", err
	}
	return audited{k, s, fmt.Sprintf("finished %d ", low)}, &Finished{Planned: planned, Copied: low, Units: of.base[rule].UnitName}, "", nil
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
			if c.BrokenFrom, err = brokenFrom(c.Share.Of, c.Promise, tests); err != nil {
				return err
			}
		}
	}
	return nil
}

// brokenFrom is the least count of so many at which a promise is called broken; 0 where there is none.
func brokenFrom(of int, promise float64, tests int) (int, error) {
	var problem error
	count := sort.Search(of+1, func(n int) bool {
		above, err := Share{n, of}.Above(promise, tests)
		problem = errors.Join(problem, err)
		return above
	})
	if count > of {
		count = 0
	}
	return count, problem
}

// ask asks the gate in place at about another study. Chance can draw a study from a small file that the gate refuses, one without
// any trial of a version, say: then no rule has a verdict, as a run has none that ends with 2.
func (t SelfTest) ask(at int, study Study, rules []int) ([]report.Rule, error) {
	studies := slices.Clone(t.Studies)
	studies[at] = study
	list, err := t.Setup.AskSome(studies, at, rules)
	if isRefused(err) {
		list = make([]report.Rule, len(rules))
		for i := range list {
			list[i].Reason = err.Error()
		}
		return list, nil
	}
	return list, err
}

// isRefused reports rows that a gate cannot use.
func isRefused(err error) bool {
	_, ok := errors.AsType[*diag.Error](err)
	return ok
}

// observed is what a rule came to in a study whose truth is known.
type observed struct {
	rule  report.Rule
	truth []float64
}

// byChance makes the experiments of a question's rules.
func (t SelfTest) byChance(ctx context.Context, at int, of []audited, list []RuleTest) error {
	experiments := make([]*experiment, len(list))
	base := make([]report.Rule, len(list))
	members := map[string][]int{}
	var keys []string
	for i := range list {
		if of[i].subject == nil { // NotAudited says why
			continue
		}
		base[i] = of[i].base[i]
		experiments[i], list[i].NotAudited = of[i].chance(i)
		if e := experiments[i]; e != nil {
			key := of[i].key + e.key
			if members[key] == nil {
				keys = append(keys, key)
			}
			members[key] = append(members[key], i)
		}
	}
	for _, key := range keys {
		rules := members[key]
		draw := experiments[rules[0]].draw
		runs, err := Repeat(ctx, t.Seed, fmt.Sprintf("chance %d %s", at, key), t.Runs, t.step("errors by chance"), func(r *rand.Rand, _ int) ([]observed, error) {
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
			list[rule].Chance = experiments[rule].count(&base[rule], own)
		}
		for _, family := range groupBy(len(rules), func(i int) int {
			if a := base[rules[i]].Adjusted; a != nil {
				return a.Family
			}
			return -i - 1 // a rule by itself
		}) {
			if len(family) > 1 {
				first := rules[family[0]]
				list[first].Chance.Checks = append(list[first].Chance.Checks, together(base, rules, family, runs))
			}
		}
	}
	return nil
}

// step is what Repeat calls after each study.
func (t SelfTest) step(doing string) func() {
	if t.Step == nil {
		return nil
	}
	return func() { t.Step(doing) }
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
func (t SelfTest) harm(ctx context.Context, at, rule int, of audited, doing string) (*Harm, error) {
	var first *Harm
	for n, p := range of.harms(rule) {
		h, err := t.search(ctx, at, rule, fmt.Sprintf("%sharm %d %d %d %s", of.key, at, rule, n, p.key), of.known, p, doing)
		if err != nil || h.Toothless == "" {
			return h, err
		}
		if first == nil {
			first = h
		}
	}
	return first, nil
}

// planted is what came of a rule at one dial.
type planted struct {
	fails, passes Share
	value         *float64
	undecided     int // the first repetition that is INSUFFICIENT_EVIDENCE; −1: none is
}

// search looks for the least dial of one planting, by halving: the share of FAILs rises with the dial, since every dial is asked
// about the same draws.
func (t SelfTest) search(ctx context.Context, at, rule int, name string, k *known, p planting, doing string) (*Harm, error) {
	runs := min(t.Runs, MostHarmRuns)
	study := func(r *rand.Rand, dial float64) Study {
		d := p.draw(r)
		p.plant(d, r, dial)
		return d.study
	}
	try := func(dial float64) (planted, error) {
		all, err := Repeat(ctx, t.Seed, name, runs, t.step(doing), func(r *rand.Rand, _ int) (report.Rule, error) {
			judged, err := t.ask(at, study(r, dial), []int{rule})
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
		out := planted{fails: Share{Of: runs}, passes: Share{Of: runs}, undecided: -1}
		sum, n := 0.0, 0
		for i, r := range all {
			switch r.Verdict {
			case report.Fail:
				out.fails.Count++
			case report.Pass:
				out.passes.Count++
			case report.InsufficientEvidence:
				if out.undecided < 0 {
					out.undecided = i
				}
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
	best, err := try(p.least)
	if err != nil {
		return nil, err
	}
	worst, err := try(1)
	if err != nil {
		return nil, err
	}
	h.Worst, h.AtWorst, h.PassesAtBest = worst.value, worst.fails, best.passes
	if best.passes.Count == 0 && best.undecided >= 0 {
		if h.NeedsToPass, err = t.needs(at, rule, study(Random(t.Seed, name, best.undecided), p.least)); err != nil {
			return nil, err
		}
	}
	if worst.fails.Value() < FoundShare {
		own := p.own()
		p.plant(own, Random(t.Seed, name, 0), 1)
		judged, err := t.ask(at, own.study, []int{rule})
		if err != nil {
			return nil, err
		}
		undecided := own.study
		if h.OwnRows = judged[0].Verdict; h.OwnRows == report.Fail || worst.fails.Count > 0 {
			if worst.undecided < 0 {
				return h, nil
			}
			undecided = study(Random(t.Seed, name, worst.undecided), 1)
		}
		if h.Needs, err = t.needs(at, rule, undecided); err != nil {
			return nil, err
		}
		if h.OwnRows != report.Fail && worst.fails.Count == 0 {
			h.Cause, h.Toothless = k.why(rule, judged[0], h.Needs)
		}
		return h, nil
	}
	if best.fails.Value() >= FoundShare {
		h.Always, h.Smallest, h.Found = true, best.value, &best.fails
		return h, nil
	}
	low, high := int(p.least*dials), dials // it is found at high
	found := worst
	for high-low > 1 && found.fails.Value() > closeShare {
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

// needs asks the gate in place at what would decide a rule in another study; nil where it is decided, or the gate cannot use the
// study.
func (t SelfTest) needs(at, rule int, study Study) (*report.Needs, error) {
	questions, _, err := t.Setup()
	if err != nil {
		return nil, err
	}
	switch err := Read(questions[at], study); {
	case isRefused(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	answer, err := questions[at].Answer(gate.Context{})
	if err != nil {
		return nil, err
	}
	return answer.Gate.Rules[rule].Needs, nil
}

// why says why not even the worst possible harm makes a rule FAIL: judged is what it comes to with that, and needs what would decide
// it then.
func (k *known) why(rule int, judged report.Rule, needs *report.Needs) (Cause, string) {
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
			return ByThreshold, fmt.Sprintf("its threshold is the %s value that there is, so that nothing can be beyond it", what)
		}
	}
	switch {
	case judged.Verdict == report.ManualReview:
		return ForAPerson, judged.Reason
	case judged.Verdict == report.InsufficientEvidence && k.base[rule].Threshold.Kind != "" && judged.Estimate == nil && len(judged.Cells) == 0:
		return NoData, judged.Reason
	case needs != nil && needs.AtLeast > 0 && !beyond(judged):
		return TooFew, judged.Reason
	}
	return BySettings, judged.Reason
}

// beyond reports a rule of which some interval lies wholly on the bad side of the threshold: it has units enough to FAIL, and
// something else keeps it from that.
func beyond(r report.Rule) bool {
	bad := func(iv *report.Interval, low bool) bool {
		return iv != nil && (low && iv.Upper != nil && *iv.Upper < r.Threshold.Value || !low && iv.Lower != nil && *iv.Lower > r.Threshold.Value)
	}
	switch t := r.Threshold; t.Kind {
	case report.Minimum, report.Maximum:
		return bad(r.Interval, t.Kind == report.Minimum)
	case report.WorstGroup:
		return slices.ContainsFunc(r.Cells, func(c report.Cell) bool { return bad(c.Interval, t.Side == report.Minimum) })
	case report.MaxGroupGap, report.MinGroupRatio:
		return slices.ContainsFunc(r.Pairs, func(p report.Pair) bool { return bad(p.Interval, t.Kind == report.MinGroupRatio) })
	}
	return false
}

// pick draws so many of n with replacement, in the order drawn.
func pick(r *rand.Rand, n, count int) []int {
	list := make([]int, count)
	for i := range list {
		list[i] = r.IntN(n)
	}
	return list
}

// unused returns names that are not taken, one after the other.
func unused(taken map[string]bool) func() string {
	n := 0
	return func() string {
		for {
			n++
			if name := "copy " + strconv.Itoa(n); !taken[name] {
				return name
			}
		}
	}
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
