package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// counterexample is a way to read a study that people use and that errs more often than it says, beside ours on the same studies.
type counterexample struct {
	name  string
	what  string // what happens, in one plain sentence
	naive string // what the naive rule does: "leaves … out"
	ours  string // what ours does
	wrong string // what an error is
	// How many studies are drawn; quick is enough to see that the naive rule errs above the promise.
	quick, full int
	promise     float64 // the largest chance of an error that the naive rule claims, and ours keeps
	// prepare returns what draws one study and says whether the naive rule and ours err about it.
	prepare func() (func(r *rand.Rand) (naive, ours bool, err error), error)
}

// Counterexample is what a counterexample came to.
type Counterexample struct {
	Name      string `json:"name"`
	What      string `json:"what"`       // what happens, in one plain sentence
	NaiveRule string `json:"naive_rule"` // what people do
	OurRule   string `json:"our_rule"`
	Wrong     string `json:"wrong"` // what an error is
	// Promise is the largest chance of an error that both rules claim.
	Promise float64 `json:"promise"`
	Naive   Share   `json:"naive"` // the studies in which the naive rule erred
	Ours    Share   `json:"ours"`
	// Broken says that ours errs above its promise, which must not be; Bites that the naive rule does: else the counterexample
	// shows nothing.
	Broken bool `json:"broken"`
	Bites  bool `json:"bites"`
}

// PlannedCounterexamples is how many studies Counterexamples draws, each of which is one step.
func PlannedCounterexamples(full bool) int {
	n := 0
	for _, c := range counterexamples() {
		n += c.studies(full)
	}
	return n
}

// studies is how many are drawn.
func (c *counterexample) studies(full bool) int {
	if full {
		return c.full
	}
	return c.quick
}

// Counterexamples draws studies that naive rules get wrong and says how often they and ours err: see counterexample. step, which
// may be nil, is called after each study. tests is how many shares the audit holds against a promise in all (see Share.Above), those
// of the counterexamples, two of each, included.
func Counterexamples(ctx context.Context, seed string, full bool, tests int, step func()) ([]Counterexample, error) {
	var list []Counterexample
	for _, c := range counterexamples() {
		once, err := c.prepare()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		type mistakes struct{ naive, ours bool }
		all, err := Repeat(ctx, seed, "counterexample "+c.name, c.studies(full), step, func(r *rand.Rand, _ int) (m mistakes, err error) {
			m.naive, m.ours, err = once(r)
			return m, err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		out := Counterexample{Name: c.name, What: c.what, NaiveRule: c.naive, OurRule: c.ours, Wrong: c.wrong, Promise: c.promise,
			Naive: Share{Of: len(all)}, Ours: Share{Of: len(all)}}
		for _, m := range all {
			if m.naive {
				out.Naive.Count++
			}
			if m.ours {
				out.Ours.Count++
			}
		}
		if out.Broken, err = out.Ours.Above(c.promise, tests); err != nil {
			return nil, err
		}
		if out.Bites, err = out.Naive.Above(c.promise, tests); err != nil {
			return nil, err
		}
		list = append(list, out)
	}
	return list, nil
}

// CounterexampleTests is how many shares of the counterexamples are held against a promise: two of each.
func CounterexampleTests() int { return 2 * len(counterexamples()) }

// half is the error that each side of an interval is allowed at 95 %.
const half = 0.025

// counterexamples lists them. The letters in comments are the sections of the audit of the intervals that they reproduce.
func counterexamples() []counterexample {
	return []counterexample{
		{ // 2c: exactly .395 for 40 looks, .118 for 10
			name: "growing_files", promise: half, quick: 60, full: 400, prepare: growingFiles,
			what:  "Once a day for 40 days one person joins a study, with their first decision of 80, and everyone before them has finished; each day the file is looked at.",
			naive: "takes each person's own share so far",
			ours:  "takes the decisions that --assignment lists and nobody has made yet as missing, both ways",
			wrong: "on some day the interval lies above the true share, 1 in 80",
		},
		{ // 11: .093 after 8 looks
			name: "looking_until_it_passes", promise: half, quick: 500, full: 4000, prepare: lookingAgain,
			what:  "50 items are labelled blind, and half as many more, up to seven times, while the rule is undecided; the model agrees with 79.99 % of labels.",
			naive: "takes the exact interval of one look at each look",
			ours:  "says looks: repeated",
			wrong: "at some look `minimum: 0.8` is PASS",
		},
		{ // 3 and intervals 3.6
			name: "looking_before_the_plan", promise: half, quick: 250, full: 1500, prepare: lookingEarly,
			what:  "Of 60 people that are planned each gains or loses everything by a fair coin, so that the mean gain is 0; the file is looked at whenever three more have decided.",
			naive: "takes the interval for a fixed number of people at each look",
			ours:  "takes the people who are planned and absent as missing, both ways",
			wrong: "at some look the interval lies above 0",
		},
		{ // 1c: 12 % with 36 % one-armed
			name: "dropped_people", promise: half, quick: 250, full: 2000, prepare: droppedPeople,
			what:  "60 % of 100 people gain 0.15 by the output and 40 % lose 0.30; nine in ten of the losers stop before they decide with it. The true mean gain is -0.03.",
			naive: "leaves out people who decided in one condition only",
			ours:  "takes what they would have decided in the other condition as missing, both ways",
			wrong: "`minimum: 0` is PASS",
		},
		{ // 6a: .152
			name: "unequal_trials", promise: half, quick: 250, full: 4000, prepare: func() (func(*rand.Rand) (bool, bool, error), error) { return unequalTrials(30, 10) },
			what:  "The same agent runs 30 cases twice, ten trials of each case as the baseline and one as the candidate.",
			naive: "compares the recorded shares of each case by a sign test",
			ours:  "takes the trials that one version has fewer as missing, both ways",
			wrong: "the candidate is called better",
		},
		{ // 6a: .406
			name: "unequal_trials_of_a_large_suite", promise: half, quick: 100, full: 2000, prepare: func() (func(*rand.Rand) (bool, bool, error), error) { return unequalTrials(164, 5) },
			what:  "The same agent runs 164 cases twice, five trials of each case as the baseline and one as the candidate.",
			naive: "compares the recorded shares of each case by a sign test",
			ours:  "takes the trials that one version has fewer as missing, both ways",
			wrong: "the candidate is called better",
		},
		{ // 7a: .44 against .0002
			name: "peeked_items", promise: half, quick: 200, full: 10000, prepare: peekedItems,
			what:  "40 of 100 blind items are hard; the annotator looks at the suggestion for six in ten of these first and takes it. Without a look the model agrees with 73 % of labels.",
			naive: "leaves the items that were looked at out",
			ours:  "takes them as blind labels that are missing, both ways",
			wrong: "`minimum: 0.7301` is PASS",
		},
		{ // 6c: the mean over all cases −.026, over shared cases +.020
			name: "cases_of_one_version", promise: half, quick: 60, full: 600, prepare: casesOfOneVersion,
			what:  "The candidate passes 2 points more often in nine of ten cases, and crashes on the tenth without a row, which the baseline passes in 44 %: it is 2.6 points worse.",
			naive: "takes Student's interval over the cases that both versions have",
			ours:  "takes the trials of a case that one version lacks as missing, both ways",
			wrong: "`minimum: 0` is PASS",
		},
		{ // 5d: the true false negative rate .40, missed in all files
			name: "labels_of_the_approved", promise: half, quick: 60, full: 1000, prepare: approvedLabels,
			what:  "Of those who would repay, 40 % are turned down; whether one would have repaid is known of all who were approved and of one in twenty of the others.",
			naive: "takes the exact interval of the labelled cases",
			ours:  "leaves a rule undecided when more than max_left_out of its cases have no label",
			wrong: "`worst_group: {maximum: 0.399}` of the false negative rate is PASS",
		},
		{ // 7e and 9: decisions of the same people as independent
			name: "pooled_decisions", promise: half, quick: 60, full: 600, prepare: pooledDecisions,
			what:  "30 people decide 40 cases each; half of them are right in 90 %, half in 50 %, so that people like these are right in 70 %.",
			naive: "counts 1200 decisions as independent, in an exact interval",
			ours:  "counts each person once (per: person)",
			wrong: "`minimum: 0.7001` is PASS",
		},
	}
}

// asking is a policy whose questions are asked, and where to find each of the columns of the decisions.
type asking struct {
	setup   Setup
	columns [][]string // by input
}

// ask prepares a policy of one gate.
func ask(gateName, text string, flags gate.Flags) (*asking, error) {
	setup, err := Policy(kinds.Lookup(gateName), text, flags)
	if err != nil {
		return nil, err
	}
	questions, _, err := setup()
	if err != nil {
		return nil, err
	}
	return &asking{setup, Columns(questions[0])}, nil
}

// rule is what the first rule comes to.
func (a *asking) rule(study Study) (report.Rule, error) {
	rules, err := a.setup.Ask(study)
	if err != nil {
		return report.Rule{}, err
	}
	return rules[0][0], nil
}

// passes reports that the first rule is PASS.
func (a *asking) passes(study Study) (bool, error) {
	r, err := a.rule(study)
	return r.Verdict == report.Pass, err
}

// above reports that the first rule's interval lies above a value.
func (a *asking) above(study Study, truth float64) (bool, error) {
	r, err := a.rule(study)
	return err == nil && r.Interval != nil && r.Interval.Lower != nil && *r.Interval.Lower > truth, err
}

// writer writes rows of one input by the names of its columns.
type writer struct {
	width int
	at    []int
	rows  [][]string
}

// writerOf writes the named columns.
func writerOf(columns []string, names ...string) *writer {
	return &writer{width: len(columns), at: places(columns, names...)}
}

// add adds a row with these values of the writer's columns.
func (w *writer) add(values ...string) {
	row := make([]string, w.width)
	for i, v := range values {
		set(row, w.at[i], v)
	}
	w.rows = append(w.rows, row)
}

// growingFiles: 40 looks, each with one fresh person who has made one decision of 80; a person's decisions are one wrong and 79
// right ones, in random order. One fresh person who starts with the wrong one makes the sequence exclude the truth.
func growingFiles() (func(*rand.Rand) (naive, ours bool, err error), error) {
	const looks, decisions = 40, 80
	const rule = "design: crossed\nrules: [{id: wrong, metric: harmful_override, maximum: 0.0125, per: person}]\n"
	plain, err := ask("human-ai", rule, gate.Flags{})
	if err != nil {
		return nil, err
	}
	assigned, err := ask("human-ai", rule, gate.Flags{Assignment: "assignment.csv"})
	if err != nil {
		return nil, err
	}
	people, cases := numbered("p", looks), numbered("c", decisions)
	return func(r *rand.Rand) (naive, ours bool, err error) {
		truth := 1.0 / decisions
		finished := writerOf(plain.columns[0], "case", "reviewer", "condition", "decision", "reference", "ai_output")
		assignment := writerOf(assigned.columns[1], "case", "reviewer", "condition")
		for _, person := range people {
			first := len(finished.rows)
			wrong := r.IntN(decisions)
			for i, c := range cases {
				decision := "yes"
				if i == wrong {
					decision = "no"
				}
				finished.add(c, person, "with", decision, "yes", "yes")
				assignment.add(c, person, "with")
			}
			today := finished.rows[:first+1]
			n, err := plain.above(Study{today}, truth)
			if err != nil {
				return false, false, err
			}
			o, err := assigned.above(Study{today, assignment.rows}, truth)
			if err != nil {
				return false, false, err
			}
			naive, ours = naive || n, ours || o
		}
		return naive, ours, nil
	}, nil
}

// lookingAgain: blind labels of one annotator, 50 at first and half as many more while the rule is undecided, for 8 looks.
func lookingAgain() (func(*rand.Rand) (naive, ours bool, err error), error) {
	const rule = "rules: [{id: agrees, metric: blind_agreement, minimum: 0.8}]\n"
	once, err := ask("anchoring", rule, gate.Flags{})
	if err != nil {
		return nil, err
	}
	repeated, err := ask("anchoring", "looks: repeated\n"+rule, gate.Flags{})
	if err != nil {
		return nil, err
	}
	items := numbered("i", 1000)
	return func(r *rand.Rand) (naive, ours bool, err error) {
		w := writerOf(once.columns[0], "item", "annotator", "suggestion", "label", "visibility")
		open := [2]bool{true, true}
		n := 50
		for range 8 {
			for len(w.rows) < n {
				label := "no"
				if happens(r, 0.7999) {
					label = "yes"
				}
				w.add(items[len(w.rows)], "a", "yes", label, "blind")
			}
			for i, a := range []*asking{once, repeated} {
				if !open[i] {
					continue
				}
				answer, err := a.rule(Study{w.rows})
				if err != nil {
					return false, false, err
				}
				passed := answer.Verdict == report.Pass
				open[i] = !passed && answer.Verdict != report.Fail
				if i == 0 {
					naive = naive || passed
				} else {
					ours = ours || passed
				}
			}
			n += n / 2
		}
		return naive, ours, nil
	}, nil
}

// lookingEarly: a gain of 1 or −1 each by a fair coin, a look at every third person of 60. Where each gain is 1 or −1 the interval
// for a fixed number of people is the exact binomial one (intervals, 3.4).
func lookingEarly() (func(*rand.Rand) (naive, ours bool, err error), error) {
	const planned = 60
	plan, err := ask("human-ai", fmt.Sprintf("looks: once\nplanned: %d\nrules: [{id: gain, metric: accuracy_difference, minimum: 0}]\n", planned), gate.Flags{})
	if err != nil {
		return nil, err
	}
	people := numbered("p", planned)
	return func(r *rand.Rand) (naive, ours bool, err error) {
		w := writerOf(plan.columns[0], "case", "reviewer", "condition", "decision", "reference", "ai_output")
		gained := 0
		for i, person := range people {
			without, with := "yes", "no"
			if happens(r, 0.5) {
				without, with = with, without
				gained++
			}
			// Cases of one's own: one decided without, one with the output.
			w.add("x"+person, person, "without", without, "yes", "")
			w.add("y"+person, person, "with", with, "yes", "yes")
			if i%3 != 2 {
				continue
			}
			iv, err := interval.ClopperPearson(gained, 0, i+1, 0.95)
			if err != nil {
				return false, false, err
			}
			o, err := plan.above(Study{w.rows}, 0)
			if err != nil {
				return false, false, err
			}
			naive, ours = naive || iv.Lower > 0.5, ours || o
		}
		return naive, ours, nil
	}, nil
}

// droppedPeople: 100 people with ten decisions in each condition; 36 % stop before those with the output.
func droppedPeople() (func(*rand.Rand) (naive, ours bool, err error), error) {
	// The naive rule is the same program, told that any share of the people may be left out.
	left, err := ask("human-ai", "rules: [{id: gain, metric: accuracy_difference, minimum: 0, max_left_out: 1}]\n", gate.Flags{})
	if err != nil {
		return nil, err
	}
	completed, err := ask("human-ai", "design: crossed\nrules: [{id: gain, metric: accuracy_difference, minimum: 0}]\n", gate.Flags{})
	if err != nil {
		return nil, err
	}
	people, cases := numbered("p", 100), numbered("c", 20)
	return func(r *rand.Rand) (naive, ours bool, err error) {
		w := writerOf(left.columns[0], "case", "reviewer", "condition", "decision", "reference", "ai_output")
		for _, person := range people {
			chance, stops := 0.75, false
			if !happens(r, 0.6) {
				chance, stops = 0.3, happens(r, 0.9)
			}
			for i, j := range r.Perm(len(cases)) {
				switch {
				case i < 10:
					w.add(cases[j], person, "without", yesNo(r, 0.6), "yes", "")
				case !stops:
					w.add(cases[j], person, "with", yesNo(r, chance), "yes", "yes")
				}
			}
		}
		if naive, err = left.passes(Study{w.rows}); err != nil {
			return false, false, err
		}
		ours, err = completed.passes(Study{w.rows})
		return naive, ours, err
	}, nil
}

// yesNo draws "yes" with a chance, else "no".
func yesNo(r *rand.Rand, chance float64) string {
	if happens(r, chance) {
		return "yes"
	}
	return "no"
}

// unequalTrials: the same agent twice, each case's chance from Beta(2, 1), so many trials of the baseline and one of the candidate.
func unequalTrials(cases, trials int) (func(*rand.Rand) (naive, ours bool, err error), error) {
	a, err := ask("compare", "baseline: baseline\ncandidate: candidate\nrules: [{id: better, metric: sign_test}]\n", gate.Flags{})
	if err != nil {
		return nil, err
	}
	names := numbered("c", cases)
	return func(r *rand.Rand) (naive, ours bool, err error) {
		w := writerOf(a.columns[0], "version", "case", "passed")
		better, worse := 0, 0
		for _, name := range names {
			chance := max(r.Float64(), r.Float64()) // Beta(2, 1)
			passed := 0
			for range trials {
				p := happens(r, chance)
				if p {
					passed++
				}
				w.add("baseline", name, digit(p))
			}
			p := happens(r, chance)
			w.add("candidate", name, digit(p))
			switch {
			case p && passed < trials:
				better++
			case !p && passed > 0:
				worse++
			}
		}
		naive = better > worse && interval.SignTest(better, worse) < 0.05
		ours, err = a.passes(Study{w.rows})
		return naive, ours, err
	}, nil
}

// peekedItems: the items are labelled visible first, then blind, where the annotator looked.
func peekedItems() (func(*rand.Rand) (naive, ours bool, err error), error) {
	a, err := ask("anchoring", "rules: [{id: agrees, metric: blind_agreement, minimum: 0.7301}]\n", gate.Flags{})
	if err != nil {
		return nil, err
	}
	items := numbered("i", 100)
	return func(r *rand.Rand) (naive, ours bool, err error) {
		all := writerOf(a.columns[0], "item", "annotator", "suggestion", "label", "visibility")
		kept := writerOf(a.columns[0], "item", "annotator", "suggestion", "label", "visibility")
		for _, item := range items {
			hard := happens(r, 0.4)
			chance := 0.95
			if hard {
				chance = 0.4
			}
			if hard && happens(r, 0.6) {
				all.add(item, "a", "yes", "yes", "visible")
				all.add(item, "a", "yes", "yes", "blind")
				continue
			}
			label := yesNo(r, chance)
			all.add(item, "a", "yes", label, "blind")
			kept.add(item, "a", "yes", label, "blind")
		}
		if naive, err = a.passes(Study{kept.rows}); err != nil {
			return false, false, err
		}
		ours, err = a.passes(Study{all.rows})
		return naive, ours, err
	}, nil
}

// casesOfOneVersion: 400 cases with five trials. In nine of ten the baseline passes in 95 % and the candidate in 97 %; on the tenth
// the baseline in 44 %, and the candidate, which crashes, in none: .9·.02 − .1·.44 = −.026.
func casesOfOneVersion() (func(*rand.Rand) (naive, ours bool, err error), error) {
	a, err := ask("compare", "baseline: baseline\ncandidate: candidate\nrules: [{id: better, metric: pass_rate_difference, minimum: 0}]\n", gate.Flags{})
	if err != nil {
		return nil, err
	}
	const trials = 5
	names := numbered("c", 400)
	return func(r *rand.Rand) (naive, ours bool, err error) {
		w := writerOf(a.columns[0], "version", "case", "passed")
		var shared []float64
		for _, name := range names {
			hard := happens(r, 0.1)
			chance := 0.95
			if hard {
				chance = 0.44
			}
			gain := 0
			for range trials {
				p := happens(r, chance)
				if p {
					gain--
				}
				w.add("baseline", name, digit(p))
			}
			if hard {
				continue
			}
			for range trials {
				p := happens(r, 0.97)
				if p {
					gain++
				}
				w.add("candidate", name, digit(p))
			}
			shared = append(shared, float64(gain)/trials)
		}
		lower, _ := student(shared, normal) // more than 300 cases: Student's quantile is the normal's to 1 %
		naive = lower > 0
		ours, err = a.passes(Study{w.rows})
		return naive, ours, err
	}, nil
}

// normal is the two-sided 95 % quantile of the standard normal distribution.
const normal = 1.959963984540054

// student is the mean of the values, and so many standard errors of it to either side.
func student(values []float64, quantile float64) (lower, upper float64) {
	n := float64(len(values))
	mean := 0.0
	for _, x := range values {
		mean += x / n
	}
	squares := 0.0
	for _, x := range values {
		squares += float64((x - mean) * (x - mean))
	}
	half := quantile * math.Sqrt(squares/(n-1)/n)
	return mean - half, mean + half
}

// approvedLabels: two groups of 1000 cases, half of which would repay (label 1); the prediction 1 is an approval. The rate is that of
// false negatives, .4, in both groups. All approved cases are labelled, and one in twenty of the others.
func approvedLabels() (func(*rand.Rand) (naive, ours bool, err error), error) {
	const n = 1000
	a, err := ask("fairness", Fairness{Groups: make([]Group, 2)}.Settings()+"rules: [{id: fnr, rate: false_negative, attribute: group, worst_group: {maximum: 0.399}}]\n", gate.Flags{})
	if err != nil {
		return nil, err
	}
	ids := numbered("", 2*n)
	return func(r *rand.Rand) (naive, ours bool, err error) {
		all := writerOf(a.columns[0], "id", "label", "prediction", "group")
		kept := writerOf(a.columns[0], "id", "label", "prediction", "group")
		for i, id := range ids {
			group := "g" + strconv.Itoa(i/n)
			label := happens(r, 0.5)
			chance := 0.2
			if label {
				chance = 0.6
			}
			approved := happens(r, chance)
			if !approved && !happens(r, 0.05) {
				all.add(id, "", digit(approved), group)
				continue
			}
			all.add(id, digit(label), digit(approved), group)
			kept.add(id, digit(label), digit(approved), group)
		}
		if naive, err = a.passes(Study{kept.rows}); err != nil {
			return false, false, err
		}
		ours, err = a.passes(Study{all.rows})
		return naive, ours, err
	}, nil
}

// pooledDecisions: everyone decides 40 cases of their own with the output.
func pooledDecisions() (func(*rand.Rand) (naive, ours bool, err error), error) {
	const threshold = 0.7001
	m := HumanAI{OwnCases: true, People: 30, Cases: 40, Skills: Spread(0.7, 0.2), SystemAccuracy: 0.8}
	a, err := NewAsked(m, fmt.Sprintf("  - {id: right, metric: accuracy_with, minimum: %v, per: person}\n", threshold))
	if err != nil {
		return nil, err
	}
	at := places(a.columns, "condition", "decision", "reference")
	return func(r *rand.Rand) (naive, ours bool, err error) {
		answer, err := a.Once(r)
		if err != nil {
			return false, false, err
		}
		k, n := 0, 0
		for _, row := range answer.Study[0] {
			if row[at[0]] == "with" {
				n++
				if row[at[1]] == row[at[2]] {
					k++
				}
			}
		}
		iv, err := interval.ClopperPearson(k, 0, n, 0.95)
		return iv.Lower >= threshold, answer.Rules[0].Verdict == report.Pass, err
	}, nil
}
