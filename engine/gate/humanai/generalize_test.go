package humanai

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

const generalizePolicy = "rules: [{id: a, metric: accuracy_difference, minimum: 0, generalize: people_and_cases}]"

// drawnDecision is one decision of a small study: right, wrong or missing.
type drawnDecision struct {
	key
	value string // "right", "wrong", or "" where none was recorded
}

// talliedDecisions keeps decisions as a tally; every output is right, every reference "right".
func talliedDecisions(list []drawnDecision) *Tally {
	t, diags := newTally(0, false), &diag.List{}
	for _, d := range list {
		t.add(d.key, row{decision: text{d.value, d.value != ""}, output: text{"right", true}}, "right", diags)
	}
	return t
}

// overBoth measures the difference over people and cases of a study under a declared design.
func overBoth(t interface{ Fatal(...any) }, list []drawnDecision, design string, confidence float64) measured {
	j := policy.Judging{Confidence: policy.Number{Value: confidence, Text: fmt.Sprint(confidence), Set: true}}.WithDefaults()
	m, err := newStudy(talliedDecisions(list), nil, design).whole(nil, j).generalized()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// drawnStudy draws a small study of a design; in a crossed one a cell may have no row at all.
func drawnStudy(t *rapid.T) (list []drawnDecision, design string) {
	people, cases := rapid.IntRange(2, 5).Draw(t, "people"), rapid.IntRange(2, 5).Draw(t, "cases")
	design = rapid.SampledFrom([]string{crossed, beforeAfter}).Draw(t, "design")
	value := rapid.SampledFrom([]string{"right", "right", "wrong", ""})
	for p := range people {
		for c := range cases {
			k := key{person: fmt.Sprint("p", p), item: fmt.Sprint("c", c)}
			for _, k.condition = range []condition{without, with} {
				switch {
				case design == crossed && rapid.IntRange(0, 9).Draw(t, "row") == 0:
				case design == beforeAfter || rapid.Bool().Draw(t, "condition"):
					list = append(list, drawnDecision{k, value.Draw(t, "decision")})
					if design == crossed {
						goto next
					}
				}
			}
		next:
		}
	}
	return list, design
}

// cellsOf lists the cells of a study by the definition: with minus without of a pair, in a crossed study the sign of
// the condition times right or wrong; each at the worst and the best of what is missing.
func cellsOf(list []drawnDecision, design string) (low, high [][]float64) {
	people, cases := map[string]int{}, map[string]int{}
	found := map[key]string{}
	for _, d := range list {
		people[d.person], cases[d.item] = 0, 0
		found[d.key] = d.value
	}
	index(people)
	index(cases)
	right := func(k key) (worst, best float64) { // of 0 and 1
		switch found[k] {
		case "right":
			return 1, 1
		case "wrong":
			return 0, 0
		}
		return 0, 1
	}
	low, high = make([][]float64, len(people)), make([][]float64, len(people))
	for p, i := range people {
		low[i], high[i] = make([]float64, len(cases)), make([]float64, len(cases))
		for c, j := range cases {
			w, o := key{p, c, with}, key{p, c, without}
			_, hasWith := found[w]
			_, hasWithout := found[o]
			lw, hw := right(w)
			lo, ho := right(o)
			switch {
			case design == beforeAfter:
				low[i][j], high[i][j] = lw-ho, hw-lo
			case hasWith:
				low[i][j], high[i][j] = 2*lw-1, 2*hw-1
			case hasWithout:
				low[i][j], high[i][j] = 1-2*ho, 1-2*lo
			default:
				low[i][j], high[i][j] = -1, 1
			}
		}
	}
	return low, high
}

// TestGeneralizedCells: the measure is the pairing average of the cells as the definition gives them; any way to fill
// what is missing stays inside; with and without exchanged turn the signs over; more confidence never narrows.
func TestGeneralizedCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, design := drawnStudy(t)
		people, cases := map[string]bool{}, map[string]bool{}
		for _, d := range list {
			people[d.person], cases[d.item] = true, true
		}
		if len(people) < 2 || len(cases) < 2 {
			t.Skip("too few")
		}
		m := overBoth(t, list, design, 0.9)
		want, err := interval.PairingAverage(first(cellsOf(list, design)), second(cellsOf(list, design)), 0.9)
		if err != nil {
			t.Fatal(err)
		}
		if *m.Interval.Lower != want.Lower || *m.Interval.Upper != want.Upper {
			t.Fatalf("[%v, %v], want [%v, %v]", *m.Interval.Lower, *m.Interval.Upper, want.Lower, want.Upper)
		}
		// People of whom nothing is recorded on one side are in the interval, and not in the estimate.
		if m.Estimate != nil && *m.Missing == 0 && (*m.Estimate < *m.Interval.Lower || *m.Estimate > *m.Interval.Upper) {
			t.Fatalf("the estimate %v is outside of [%v, %v]", *m.Estimate, *m.Interval.Lower, *m.Interval.Upper)
		}
		if surer := overBoth(t, list, design, 0.99); *surer.Interval.Lower > want.Lower || *surer.Interval.Upper < want.Upper {
			t.Fatalf("more confidence narrows [%v, %v]", want.Lower, want.Upper)
		}
		exchanged, filled := slices.Clone(list), slices.Clone(list)
		for i := range list {
			exchanged[i].condition = list[i].condition.other()
			if filled[i].value == "" {
				filled[i].value = rapid.SampledFrom([]string{"right", "wrong"}).Draw(t, "filled")
			}
		}
		other := overBoth(t, exchanged, design, 0.9)
		if *other.Interval.Lower != -want.Upper || *other.Interval.Upper != -want.Lower {
			t.Fatalf("exchanged: [%v, %v] for [%v, %v]", *other.Interval.Lower, *other.Interval.Upper, want.Lower, want.Upper)
		}
		if m.Estimate != nil && *other.Estimate != -*m.Estimate {
			t.Fatalf("exchanged: %v for %v", *other.Estimate, *m.Estimate)
		}
		full := overBoth(t, filled, design, 0.9)
		if *full.Interval.Lower < want.Lower || *full.Interval.Upper > want.Upper {
			t.Fatalf("filled: [%v, %v] is not in [%v, %v]", *full.Interval.Lower, *full.Interval.Upper, want.Lower, want.Upper)
		}
	})
}

func first(low, _ [][]float64) [][]float64   { return low }
func second(_, high [][]float64) [][]float64 { return high }

// TestGeneralizedByHand: two people and two cases, counted by hand. p1 was right on c1 with the output only (+1) and on c2
// both ways (0); of p2's c1 only the decision with is recorded, right (0 to 1), and nothing of c2 (−1 to 1).
func TestGeneralizedByHand(t *testing.T) {
	m := overBoth(t, []drawnDecision{
		{key{"p1", "c1", without}, "wrong"}, {key{"p1", "c1", with}, "right"},
		{key{"p1", "c2", without}, "right"}, {key{"p1", "c2", with}, "right"},
		{key{"p2", "c1", without}, ""}, {key{"p2", "c1", with}, "right"},
		{key{"p2", "c2", without}, ""}, {key{"p2", "c2", with}, ""},
	}, beforeAfter, 0.95)
	if *m.Estimate != 0.5 || *m.Units != 2 || *m.Missing != 2 || m.Completions.Low != 0 || m.Completions.High != 0.75 {
		t.Errorf("estimate %v, %d pairs, %d missing, %v to %v; want 0.5, 2, 2, 0 to 0.75", *m.Estimate, *m.Units, *m.Missing, m.Completions.Low, m.Completions.High)
	}
}

// TestGeneralizeRefused: a design that has no one value in each cell, an order that breaks it, people who stopped, a
// policy that looks again: none is decided.
func TestGeneralizeRefused(t *testing.T) {
	var before, sparseRows strings.Builder
	for p := range 40 {
		for c := range 40 {
			fmt.Fprintf(&before, "c%d,p%d,without,no,yes,,,2026-01-01T10:00,\nc%d,p%d,with,yes,yes,yes,,2026-01-01T11:00,\n", c, p, c, p)
		}
		fmt.Fprintf(&sparseRows, "c%d,p%d,without,no,yes,,,,\nc%d,q%d,with,yes,yes,yes,,,\n", p, p, p, p)
	}
	if r := ruleOf(t, answer(t, generalizePolicy, before.String())); r.Verdict != report.Pass {
		t.Fatalf("the study as it should be: %s (%s), want PASS", r.Verdict, r.Reason)
	}
	for name, c := range map[string]struct{ policy, body, reason string }{
		"sparse":       {generalizePolicy, sparseRows.String(), "sparse"},
		"mixed":        {generalizePolicy, strings.Replace(before.String(), "c0,p0,without,no,yes,,,2026-01-01T10:00,\n", "", 1), "declare the design"},
		"contradicted": {"design: crossed\n" + generalizePolicy, before.String(), "does not follow the declared design"},
		"order": {generalizePolicy, strings.NewReplacer("10:00", "12:00").Replace(before.String()),
			"the decision with the output came first"},
		"one person": {generalizePolicy, before.String()[:strings.Index(before.String(), "c0,p1")], "At least two people and two cases"},
		"stopped":    {generalizePolicy, people(8, [2]int{8, 2}, [2]int{8, 2}, [2]int{8, 2}) + decided("q", with, 0, 8, 8, 0), "did not decide in both conditions"},
	} {
		r := ruleOf(t, answer(t, c.policy, c.body))
		if r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, c.reason) {
			t.Errorf("%s: %s (%s), want INSUFFICIENT_EVIDENCE with %q", name, r.Verdict, r.Reason, c.reason)
		}
	}
	const rule = "rules: [{id: a, metric: accuracy_difference, minimum: 0, generalize: people_and_cases"
	for policy, want := range map[string]string{
		"looks: repeated\n" + rule + "}]":                                                                      "policy.yaml:2:70: generalize: people_and_cases holds at one look; it does not go with looks: repeated",
		"looks: once\nplanned: 40\n" + rule + "}]":                                                             "policy.yaml:3:70: generalize: people_and_cases holds at one look; it does not go with looks: once",
		rule + ", looks: once, planned: 40}]":                                                                  "holds at one look; it does not go with looks: once",
		rule + ", mean_method: sympol}]":                                                                       "mean_method",
		rule + ", where: {ai_output: yes}}]":                                                                   "ai_output is what the study measures or sets",
		strings.Replace(rule, "people_and_cases", "cases", 1) + "}]":                                           `generalize is "cases"`,
		"rules: [{id: a, metric: decision_time, maximum: 1, generalize: people_and_cases}]":                    "decision_time is reported, never a rule",
		"rules: [{id: a, metric: over_reliance, maximum: 1, per: person, generalize: people_and_cases}]":       "generalize is for accuracy_difference, not for over_reliance",
		"rules: [{id: a, metric: accuracy_difference, minimum: 0, per: person, generalize: people_and_cases}]": "accuracy_difference counts each person once already",
	} {
		if _, err := tryAnswer(policy, "case,reviewer,condition,decision,reference,ai_output,started_at,decided_at,site\n"+before.String()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", policy, err, want)
		}
	}
}

// TestBothTargetsSideBySide: a report has the difference over people on the study's own cases, then the one over people and
// cases; where that has no value, or hardly a cell was decided, it is not there.
func TestBothTargetsSideBySide(t *testing.T) {
	const policyText = "rules: [{id: a, metric: accuracy_difference, minimum: 0}]"
	body := people(10, [2]int{9, 2}, [2]int{8, 3}, [2]int{7, 1}, [2]int{10, 4})
	g := answer(t, policyText, body)
	if g.Measures[0].Metric != accuracyDifference || g.Measures[0].Labels != nil || g.Measures[1].Metric != accuracyDifference || g.Measures[1].Labels["generalize"] != peopleAndCases {
		t.Fatalf("the first measures are %s %v and %s %v", g.Measures[0].Metric, g.Measures[0].Labels, g.Measures[1].Metric, g.Measures[1].Labels)
	}
	rule := ruleOf(t, answer(t, generalizePolicy, body))
	if *rule.Interval.Lower != *g.Measures[1].Interval.Lower || *rule.Interval.Upper != *g.Measures[1].Interval.Upper {
		t.Errorf("the rule's interval is [%v, %v], the measure's [%v, %v]", *rule.Interval.Lower, *rule.Interval.Upper, *g.Measures[1].Interval.Lower, *g.Measures[1].Interval.Upper)
	}
	has := func(body string) bool {
		for _, m := range answer(t, policyText, body).Measures {
			if m.Labels["generalize"] != "" {
				return true
			}
		}
		return false
	}
	var scattered, mixedRows strings.Builder // each of ten people decides two cases of their own
	for p := range 10 {
		fmt.Fprintf(&scattered, "a%d,p%d,with,yes,yes,yes,,,\nb%d,p%d,without,yes,yes,,,,\n", p, p, p, p)
		fmt.Fprintf(&mixedRows, "c1,p%d,with,yes,yes,yes,,,\nc1,p%d,without,yes,yes,,,,\nc2,p%d,with,yes,yes,yes,,,\n", p, p, p)
	}
	if has(scattered.String()) || has(mixedRows.String()) {
		t.Error("a study of scattered cells, or a mixed one, shows a difference over people and cases")
	}
	unfair := answer(t, policyText, people60(45, 15))
	if m := measure(t, unfair, accuracyDifference, "generalize", peopleAndCases); !strings.Contains(m.Caution, "fair coin") {
		t.Errorf("no caution where the conditions were no coin's: %q", m.Caution)
	}
}

// TestGeneralizeNeeds: an undecided rule says how large a new sample would decide; one whose estimate is open through what is
// missing says that no number would.
func TestGeneralizeNeeds(t *testing.T) {
	var b strings.Builder
	for p := range 12 {
		for c := range 18 {
			first, second := "no", "yes"
			if (p*7+c*11)%10 < 2 {
				first, second = second, first
			}
			fmt.Fprintf(&b, "c%d,p%d,without,%s,yes,,,,\nc%d,p%d,with,%s,yes,yes,,,\n", c, p, first, c, p, second)
		}
	}
	needs := func(minimum string, body string) report.Rule {
		return ruleOf(t, answer(t, strings.Replace(generalizePolicy, "minimum: 0", "minimum: "+minimum, 1), body))
	}
	r := needs("0.2", b.String())
	if r.Verdict != report.InsufficientEvidence || r.Needs == nil || r.Needs.AtLeast <= 12 || r.Needs.AtLeast > 100 || !strings.Contains(r.Needs.What, "cases in a new sample") {
		t.Fatalf("%s, needs %+v, want a new sample of more than 12 people", r.Verdict, r.Needs)
	}
	t.Logf("about %d %s", r.Needs.AtLeast, r.Needs.What)
	r = needs("0.75", b.String())
	if r.Verdict != report.InsufficientEvidence || r.Needs == nil || !strings.Contains(r.Needs.What, "as FAIL") {
		t.Errorf("%s, needs %+v, want a new sample that FAILs", r.Verdict, r.Needs)
	}
	// At the estimate of the whole file, every number of the same gaps leaves both answers open.
	r = needs(fmt.Sprint(*r.Estimate), strings.ReplaceAll(b.String(), "c3,p3,with,yes", "c3,p3,with,"))
	if r.Needs == nil || r.Needs.AtLeast != 0 || !strings.Contains(r.Needs.What, "recorded") {
		t.Errorf("needs %+v, want what is missing", r.Needs)
	}
}

// TestGeneralizeDoesNotErr decides studies of 60 people and 6 cases, both drawn from populations in which the mean difference
// is 0: cases differ much in what the output does to them, people somewhat, and each person decides a random half of the
// cases with the output (as `assign` draws it). In every third study decisions that would be wrong with the output are lost
// half of the time. Neither PASS of `minimum: 0` nor FAIL may come more often than 2.5 %; the interval over people alone,
// which speaks of the study's own cases, errs far more often about all cases.
func TestGeneralizeDoesNotErr(t *testing.T) {
	const studies, numPeople, numCases = 150, 60, 6
	r := rand.New(rand.NewPCG(11, 11))
	wrong, peopleOnly := 0, 0
	for i := range studies {
		effect := make([]float64, numCases) // of the output on a case: ±0.45 as likely
		for c := range effect {
			effect[c] = 0.45
			if r.Float64() < 0.5 {
				effect[c] = -0.45
			}
		}
		tally, diags := newTally(0, false), &diag.List{}
		for p := range numPeople {
			skill := 0.5 + float64(0.1*(r.Float64()-0.5))
			half := r.Perm(numCases)[:numCases/2]
			for c := range numCases {
				k, chance := key{person: fmt.Sprint("p", p), item: fmt.Sprint("c", c)}, skill
				if slices.Contains(half, c) {
					k.condition = with
					chance += effect[c]
				}
				d := text{"wrong", true}
				if r.Float64() < chance {
					d.value = "right"
				}
				if i%3 == 0 && k.condition == with && d.value == "wrong" && r.Float64() < 0.5 {
					d = text{}
				}
				tally.add(k, row{decision: d, output: text{"right", true}}, "right", diags)
			}
		}
		v := newStudy(tally, nil, "").whole(nil, policy.Judging{}.WithDefaults())
		m, err := v.generalized()
		if err != nil {
			t.Fatal(err)
		}
		if m.doubts.Undecided.Why != "" || m.doubts.Review != "" {
			t.Fatalf("not decided: %+v", m.doubts)
		}
		if *m.Interval.Lower > 0 || *m.Interval.Upper < 0 {
			wrong++
		}
		if d, err := v.difference(); err != nil {
			t.Fatal(err)
		} else if *d.Interval.Lower > 0 || *d.Interval.Upper < 0 {
			peopleOnly++
		}
	}
	t.Logf("of %d studies without a difference over all cases: people and cases err in %d, people alone in %d", studies, wrong, peopleOnly)
	if wrong > studies/20 {
		t.Errorf("%d of %d studies are decided wrongly, more than 5 %%", wrong, studies)
	}
	if peopleOnly < studies/10 {
		t.Errorf("people alone err in %d of %d; the counterexample no longer bites", peopleOnly, studies)
	}
}
