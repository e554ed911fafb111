package compare

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
)

// repeat is n cases with the same trials.
func repeat(n int, trials string) []string { return slices.Repeat([]string{trials}, n) }

// TestCrashesAreNotProgress: the candidate writes no row for the cases on which it crashes. Over the cases that both have,
// it is better in all; with the others, which are missing trials, nothing is certain.
func TestCrashesAreNotProgress(t *testing.T) {
	body := written("old", append(repeat(8, "10"), repeat(12, "11")...)...) + written("new", repeat(8, "11")...)
	g := decide(t, "rules: [{id: s, metric: sign_test}, {id: d, metric: pass_rate_difference, minimum: -0.9}, {id: r, metric: rate, minimum: 0.05}]", body)
	s, d, r := g.Rules[0], g.Rules[1], g.Rules[2]
	// 12 cases are missing in the candidate: all failed, they are worse.
	if s.Verdict != report.InsufficientEvidence || *s.Better != 8 || *s.Worse != 0 || *s.Equal != 0 || *s.PValue != 1 || *s.Missing != 24 {
		t.Errorf("sign test %s, %d better, %d worse, %d equal, p %v, %d missing; want INSUFFICIENT_EVIDENCE, 8, 0, 0, 1, 24",
			s.Verdict, *s.Better, *s.Worse, *s.Equal, *s.PValue, *s.Missing)
	}
	// Mean over 20 cases: 8 × ½ − 12 × 1 and 8 × ½ + 0.
	if d.Completions.Low != -0.4 || d.Completions.High != 0.2 || *d.Estimate != 0.5 || *d.Units != 20 {
		t.Errorf("difference %v (%v to %v) over %d; want 0.5 (-0.4 to 0.2) over 20", *d.Estimate, d.Completions.Low, d.Completions.High, *d.Units)
	}
	if *r.Numerator != 16 || *r.Denominator != 40 || *r.Missing != 24 || *r.Estimate != 1 || r.Completions.Low != 0.4 || r.Completions.High != 1 {
		t.Errorf("rate %v, %d of %d with %d missing; want 1, 16 of 40 with 24 missing", *r.Estimate, *r.Numerator, *r.Denominator, *r.Missing)
	}
	if f := finding(g, "cases_in_one_version"); f == nil || f.Count != 12 {
		t.Errorf("finding %v, want 12 cases in one version", f)
	}
	shared := written("old", repeat(8, "10")...) + written("new", repeat(8, "11")...)
	if r := ruleOf(t, decide(t, signPolicy, shared)); r.Verdict != report.Pass {
		t.Fatalf("the example no longer passes with crashes left out: %s", r.Verdict)
	}
}

// TestUnequalTrials: trials up to the larger count of the two versions are missing trials, case by case; with a plan, up to
// its number in both.
func TestUnequalTrials(t *testing.T) {
	body := written("old", "111", "10") + written("new", "1", "1111")
	g := decide(t, signPolicy, body)
	m := ruleOf(t, g)
	if *m.Missing != 4 || g.Data.Of("absent_trials") != 4 || g.Data.Of("trials") != 14 { // 2 of the first case, 2 of the second
		t.Errorf("%d missing, data %v; want 4 missing of 14", *m.Missing, g.Data)
	}
	// The first case: at best equal, at worst worse. The second: at worst 4 − 3, at best 4 − 1.
	if *m.Better != 1 || *m.Worse != 0 || *m.Equal != 0 {
		t.Errorf("%d better, %d worse, %d equal for certain; want 1, 0, 0", *m.Better, *m.Worse, *m.Equal)
	}
	planned := ruleOf(t, decide(t, "plan: {cases: 2, trials: 5}\n"+signPolicy, body))
	if *planned.Missing != 10 { // 2 + 3 of the old version, 4 + 1 of the new one
		t.Errorf("planned five trials: %d missing, want 10", *planned.Missing)
	}
}

// TestMissingTrialsCountAgainstTheDecision: six cases better and none worse decide; a seventh whose direction hangs on its
// missing trials does not change that, a second one does. What would flip it is said.
func TestMissingTrialsCountAgainstTheDecision(t *testing.T) {
	old, next := append(repeat(7, "00"), "11"), append(repeat(7, "11"), "?1")
	r := ruleOf(t, decide(t, signPolicy, written("old", old...)+written("new", next...)))
	// 7 better, 1 worse at the worst: 2·9/256.
	if r.Verdict != report.InsufficientEvidence || *r.PValue != 0.0703125 || *r.Better != 7 || *r.Worse != 0 {
		t.Errorf("%s, p %v, %d better, %d worse; want INSUFFICIENT_EVIDENCE, 0.0703125, 7, 0", r.Verdict, *r.PValue, *r.Better, *r.Worse)
	}
	// More cases would do too; of the missing trial it is not asked that it speak for the candidate.
	if r.Needs == nil || strings.Contains(r.Needs.What, "favour") || !strings.HasSuffix(r.Needs.What, "; or what is missing to be recorded, which may decide it by itself") {
		t.Errorf("needs %+v", r.Needs)
	}
	for _, want := range []string{
		"The direction of 1 case depends on 1 missing trial: at their worst for the candidate 7 are better and 1 worse (p 0.07032), at their best 7 are better and 0 worse (p 0.01563).",
		"Once recorded, the missing trial could make it better.",
	} {
		if !strings.Contains(r.Reason, want) {
			t.Errorf("reason %q\nlacks %q", r.Reason, want)
		}
	}
	r = ruleOf(t, decide(t, signPolicy, written("old", append(repeat(8, "00"), "11")...)+written("new", append(repeat(8, "11"), "?1")...)))
	// 8 better, 1 worse at the worst: 2·10/512 = 0.0390625.
	if r.Verdict != report.Pass || *r.PValue != 0.0390625 || !strings.Contains(r.Reason, "Completed against a decision, 8 cases are better and 1 worse") {
		t.Errorf("%s, p %v: %s; want PASS at 0.0390625", r.Verdict, *r.PValue, r.Reason)
	}
	// Turning one of the better cases around takes one trial of its two to make it equal: 7 to 1.
	if want := "It holds whatever the missing trials were; it would take 2 more missing trials to leave it uncertain."; !strings.Contains(r.Reason, want) {
		t.Errorf("reason %q\nlacks %q", r.Reason, want)
	}
}

// TestPlan: more trials, or another number of cases, is for a person whatever the numbers say; fewer trials are missing.
func TestPlan(t *testing.T) {
	clear := written("old", repeat(20, "00")...) + written("new", repeat(20, "11")...)
	policyWith := func(plan string) string {
		return "plan: " + plan + "\nrules: [{id: s, metric: sign_test}, {id: d, metric: pass_rate_difference, minimum: 0}, {id: r, metric: rate, minimum: 0.5}, {id: p, metric: pass_all_k, k: 1, minimum: 0.5}, {id: w, metric: rate, minimum: 0.9, where: {case: case-999}}]"
	}
	for _, c := range []struct {
		plan, reason string
		want         report.Verdict
	}{
		{"{cases: 20, trials: 2}", "", report.Pass},
		{"{cases: 20, trials: 1}", "The plan is broken: 40 times a case has more than the 1 planned trials in a version (up to 2); each rerun is a new chance to be lucky.", report.ManualReview},
		{"{cases: 19, trials: 2}", "The plan is broken: there are 20 cases where 19 were planned; each rerun is a new chance to be lucky.", report.ManualReview},
		{"{cases: 21, trials: 2}", "The plan is broken: there are 20 cases where 21 were planned; each rerun is a new chance to be lucky.", report.ManualReview},
	} {
		g := decide(t, policyWith(c.plan), clear)
		for _, r := range g.Rules[:4] {
			if r.Verdict != c.want || c.reason != "" && r.Reason != c.reason {
				t.Errorf("plan %s, %s: %s (%s), want %s (%s)", c.plan, r.ID, r.Verdict, r.Reason, c.want, c.reason)
			}
		}
		if w := g.Rules[4]; w.Verdict != report.InsufficientEvidence { // nothing evaluated comes first
			t.Errorf("plan %s, an empty slice: %s, want INSUFFICIENT_EVIDENCE", c.plan, w.Verdict)
		}
		if broken := finding(g, "plan_broken"); (broken != nil) != (c.reason != "") || finding(g, "no_plan") != nil {
			t.Errorf("plan %s: findings %v", c.plan, g.Findings)
		}
	}
	fewer := decide(t, "plan: {cases: 20, trials: 6}\n"+signPolicy, clear)
	if r := ruleOf(t, fewer); r.Verdict != report.InsufficientEvidence || *r.Missing != 160 || *r.Better != 0 {
		t.Errorf("six planned, two run: %s, %d missing, %d better; want INSUFFICIENT_EVIDENCE, 160, 0", r.Verdict, *r.Missing, *r.Better)
	}
}

// TestSettings: the report says which versions are compared, and what the policy fixed, where it did.
func TestSettings(t *testing.T) {
	files := map[string]string{"t.csv": header + written("old", "10", "11") + written("new", "11", "11"), "a.csv": "case,passed\na,1\n", "b.csv": "case,passed\na,0\n"}
	named := []string{"t.csv"}
	for _, c := range []struct {
		run
		want map[string]string
	}{
		{run{verb: gate.Decide, names: named, policy: "baseline: old\ncandidate: new\ncase_list: fixed\nplan: {cases: 2, trials: 2}\n" + signPolicy},
			map[string]string{"baseline": "old", "candidate": "new", "case_list": "fixed", "plan_cases": "2", "plan_trials": "2"}},
		{run{verb: gate.Decide, names: named, policy: "case_list: sampled\n" + signPolicy, flags: gate.Flags{Baseline: "new", Candidate: "old"}},
			map[string]string{"baseline": "new", "candidate": "old", "case_list": "sampled"}},
		{run{verb: gate.Report, flags: gate.Flags{Baseline: "a.csv", Candidate: "b.csv"}}, map[string]string{"baseline": "baseline", "candidate": "candidate"}},
		{run{verb: gate.Check, names: named}, map[string]string{}},
	} {
		c.files = files
		a, err := tryRun(c.run)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, a.Gate.Settings); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", c.verb, c.policy, diff)
		}
	}
}

// TestNoComparison: `report` and `check` of two versions without names say how they would be compared.
func TestNoComparison(t *testing.T) {
	two := header + written("old", "1", "0") + written("new", "1", "1")
	for _, c := range []struct {
		text  string
		flags gate.Flags
		want  bool
	}{
		{two, gate.Flags{}, true},
		{two, gate.Flags{Baseline: "old", Candidate: "new"}, false},
		{two + written("third", "1"), gate.Flags{}, false},
		{header + written("old", "1"), gate.Flags{}, false},
	} {
		for _, verb := range []gate.Verb{gate.Check, gate.Report} {
			a, err := tryRun(run{verb: verb, names: []string{"t.csv"}, flags: c.flags, files: map[string]string{"t.csv": c.text}})
			if err != nil {
				t.Fatal(err)
			}
			f := finding(a.Gate, "no_comparison")
			if (f != nil) != c.want || c.want && (f.Severity != report.Note || !strings.Contains(f.Message, `"new", "old"`) || !strings.Contains(f.Message, "--baseline and --candidate")) {
				t.Errorf("%s of %q with %+v: finding %v, want one: %v", verb, c.text, c.flags, f, c.want)
			}
		}
	}
}

// TestNoSharedCase: where the versions have no case in common, that is what is said, not that trials are missing.
func TestNoSharedCase(t *testing.T) {
	const rules = "rules: [{id: s, metric: sign_test}, {id: d, metric: pass_rate_difference, minimum: 0}]"
	for body, want := range map[string]string{
		"old,a,1,1\nold,a,2,1\nnew,A,1,1\nnew,A,2,0\n": "Nothing was evaluated: no case is in both versions.",
		"old,a,1,1\nnew,a,1,\n":                        "Nothing was evaluated: no case has recorded trials in both versions.",
		"old,a,1,1\nnew,a,1,\nnew,b,1,1\n":             "Nothing was evaluated: no case has recorded trials in both versions.",
	} {
		for _, r := range decide(t, rules, body).Rules {
			if r.Verdict != report.InsufficientEvidence || r.Reason != want {
				t.Errorf("%q, %s: %s (%s), want %s", body, r.ID, r.Verdict, r.Reason, want)
			}
		}
	}
}

// TestBrokenPlanIsNotAssumed: where the plan was not kept, nothing says that the numbers came out as planned.
func TestBrokenPlanIsNotAssumed(t *testing.T) {
	for _, broken := range []string{"{cases: 9, trials: 5}", "{cases: 8, trials: 4}"} {
		g := decide(t, "plan: "+broken+"\n"+signPolicy, written("old", lessonOld...)+written("new", lessonNew...))
		for _, list := range [][]string{g.Assumptions, ruleOf(t, g).Assumptions} {
			if text := strings.Join(list, " "); !strings.Contains(text, "although the plan was not kept.") || strings.Contains(text, "as planned") || strings.Contains(text, "not repeated") {
				t.Errorf("plan %s: %q", broken, text)
			}
		}
	}
}

// TestNonInferiority: `minimum: -0.02` is met where the candidate is surely at most two points worse, which takes many
// cases, and failed where it is surely more than that worse.
func TestNonInferiority(t *testing.T) {
	rule := "rules: [{id: not-worse, metric: pass_rate_difference, minimum: -0.02}]"
	for _, c := range []struct {
		better, worse, equal int
		want                 report.Verdict
	}{
		{0, 0, 8, report.InsufficientEvidence},
		{30, 30, 4000, report.Pass},
		{0, 400, 600, report.Fail},
	} {
		body := written("old", slices.Concat(repeat(c.better, "0"), repeat(c.worse, "1"), repeat(c.equal, "1"))...) +
			written("new", slices.Concat(repeat(c.better, "1"), repeat(c.worse, "0"), repeat(c.equal, "1"))...)
		r := ruleOf(t, decide(t, rule, body))
		if r.Verdict != c.want {
			t.Errorf("%d better, %d worse, %d equal: %s (%v to %v), want %s", c.better, c.worse, c.equal, r.Verdict, *r.Interval.Lower, *r.Interval.Upper, c.want)
		}
		if c.want == report.InsufficientEvidence && (r.Needs == nil || r.Needs.AtLeast < 200) {
			t.Errorf("eight cases: needs %v, want hundreds of cases", r.Needs)
		}
	}
}

// TestMethods: which interval a measure gets, by what a case is by construction, the kind of list and the looks.
func TestMethods(t *testing.T) {
	one := written("old", repeat(6, "1")...) + written("new", "1", "0", "1", "1", "0", "1")
	two := written("old", repeat(6, "10")...) + written("new", "11", "00", "10", "11", "01", "11")
	unequal := two + "old,case-7,1,1\nnew,case-7,1,1\n"
	for _, c := range []struct {
		name, body, settings, rule string
		want                       interval.Method
		looks                      interval.Looks
		units                      int
	}{
		{"rate, one trial a case", one, "", "metric: rate, minimum: 0.5", interval.MethodClopperPearson, interval.LooksOne, 6},
		{"rate, two trials a case", two, "", "metric: rate, minimum: 0.5", interval.MethodUniformMixture, interval.LooksAny, 6},
		{"pass_at_2 of two", two, "", "metric: pass_at_k, k: 2, minimum: 0.5", interval.MethodClopperPearson, interval.LooksOne, 6},
		{"pass_at_1 of two", two, "", "metric: pass_at_k, k: 1, minimum: 0.5", interval.MethodUniformMixture, interval.LooksAny, 6},
		{"pass_at_1 of one or two", unequal, "", "metric: pass_at_k, k: 1, minimum: 0.5", interval.MethodUniformMixture, interval.LooksAny, 7},
		{"difference", two, "", "metric: pass_rate_difference, minimum: 0", interval.MethodUniformMixture, interval.LooksAny, 6},
		{"rate, repeated, one trial", one, "looks: repeated", "metric: rate, minimum: 0.5", interval.MethodUniformMixture, interval.LooksAny, 6},
		{"rate, planned cases", two, "looks: once\nplanned: 6", "metric: rate, minimum: 0.5", interval.MethodDirichlet, interval.LooksPlanned, 6},
		{"pass_all_2, planned cases", two, "looks: once\nplanned: 9", "metric: pass_all_k, k: 2, minimum: 0.5", interval.MethodDirichlet, interval.LooksPlanned, 6},
		{"difference, sympol", two, "looks: once\nplanned: 6\nmean_method: sympol", "metric: pass_rate_difference, minimum: 0", interval.MethodSymPol, interval.LooksPlanned, 6},
		{"fixed, rate", two, "case_list: fixed", "metric: rate, minimum: 0.5", interval.MethodClopperPearson, interval.LooksOne, 12},
		{"fixed, difference", two, "case_list: fixed", "metric: pass_rate_difference, minimum: 0", interval.MethodClopperPearson, interval.LooksOne, 24},
		{"fixed, pass_at_2 of two", two, "case_list: fixed", "metric: pass_at_k, k: 2, minimum: 0.5", interval.MethodClopperPearson, interval.LooksOne, 6},
		{"fixed, pass_at_1 of two", two, "case_list: fixed", "metric: pass_at_k, k: 1, minimum: 0.5", interval.MethodUniformMixture, interval.LooksAny, 6},
		{"fixed, unequal trials", unequal, "case_list: fixed", "metric: pass_rate_difference, minimum: 0", interval.MethodUniformMixture, interval.LooksAny, 7},
		{"fixed, repeated", two, "case_list: fixed\nlooks: repeated", "metric: pass_rate_difference, minimum: 0", interval.MethodUniformMixture, interval.LooksAny, 6},
		{"sampled, as by default", two, "case_list: sampled", "metric: pass_rate_difference, minimum: 0", interval.MethodUniformMixture, interval.LooksAny, 6},
	} {
		r := ruleOf(t, decide(t, c.settings+"\nrules: [{id: r, "+c.rule+"}]", c.body))
		if r.Interval.Method != c.want || r.Interval.Looks != c.looks || *r.Units != c.units {
			t.Errorf("%s: %s, looks %s, %d units; want %s, %s, %d", c.name, r.Interval.Method, r.Interval.Looks, *r.Units, c.want, c.looks, c.units)
		}
	}
	// 12 trials of which 8 passed: 2 × 6 on a fixed list; and 8 + 6 of 24 are passes of the new or failures of the old.
	fixed := decide(t, "case_list: fixed\nrules: [{id: r, metric: rate, minimum: 0.5}, {id: d, metric: pass_rate_difference, minimum: 0}]", two)
	wantRate, _ := interval.FixedListRate(8, 0, 12, 0.95)
	wantDifference, _ := interval.FixedListDifference(14, 0, 24, 0.95)
	if iv := fixed.Rules[0].Interval; *iv.Lower != wantRate.Lower || *iv.Upper != wantRate.Upper {
		t.Errorf("fixed rate %v to %v, want %v", *iv.Lower, *iv.Upper, wantRate)
	}
	if iv := fixed.Rules[1].Interval; *iv.Lower != wantDifference.Lower || *iv.Upper != wantDifference.Upper {
		t.Errorf("fixed difference %v to %v, want %v", *iv.Lower, *iv.Upper, wantDifference)
	}
	// On the same trials it is about half as wide as the mean over cases.
	sampled := decide(t, "rules: [{id: d, metric: pass_rate_difference, minimum: 0}]", written("old", lessonOld...)+written("new", lessonNew...))
	half := decide(t, "case_list: fixed\nrules: [{id: d, metric: pass_rate_difference, minimum: 0}]", written("old", lessonOld...)+written("new", lessonNew...))
	if a, b := half.Rules[0].Interval.Width(), sampled.Rules[0].Interval.Width(); a > 0.6*b {
		t.Errorf("fixed %v wide, sampled %v", a, b)
	}
}

// TestRepeatedSignTest: with looks: repeated the sign test is the sequence over changed cases against 1/2: six cases better
// and none worse, which decide at one look, do not yet.
func TestRepeatedSignTest(t *testing.T) {
	for _, c := range []struct {
		cases int
		want  report.Verdict
	}{{6, report.InsufficientEvidence}, {7, report.InsufficientEvidence}, {8, report.Pass}} {
		body := written("old", repeat(c.cases, "0")...) + written("new", repeat(c.cases, "1")...)
		r := ruleOf(t, decide(t, "looks: repeated\n"+signPolicy, body))
		// 2/E with E = (2^(n+1) − 1)/(n + 1): .110 for six, .063 for seven, .035 for eight.
		exact := 2 * float64(c.cases+1) / (math.Exp2(float64(c.cases+1)) - 1)
		iv, err := interval.RateSequence(c.cases, 0, c.cases, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != c.want || math.Abs(*r.PValue-exact) > 1e-11 || !strings.HasPrefix(r.Conditions, "Holds over repeated looks (p is that of the uniform mixture") || (iv.Lower > 0.5) != (c.want == report.Pass) {
			t.Errorf("%d better: %s, p %v (%s); want %s, %v by the uniform mixture (the sequence is %v)", c.cases, r.Verdict, *r.PValue, r.Conditions, c.want, exact, iv)
		}
	}
}

// TestSignAndMeanDisagree is the audited counterexample: 15 cases gain one of five trials, 4 lose all: p = .019 says
// better, the mean over cases is −.053.
func TestSignAndMeanDisagree(t *testing.T) {
	body := written("old", append(repeat(15, "00000"), repeat(4, "11111")...)...) + written("new", append(repeat(15, "10000"), repeat(4, "00000")...)...)
	g := decide(t, signPolicy, body)
	r, d := ruleOf(t, g), measure(t, g, "pass_rate_difference")
	if r.Verdict != report.Pass || math.Round(*r.PValue*1000) != 19 || math.Round(*d.Estimate*1000) != -53 {
		t.Errorf("%s, p %v, mean %v; want PASS, .019, -.053", r.Verdict, *r.PValue, *d.Estimate)
	}
	if f := finding(g, "sign_and_mean_disagree"); f == nil || f.Severity != report.Warning {
		t.Errorf("finding %v, want a warning", f)
	}
	// The cases that broke stand first.
	if len(r.Moved) != 10 || r.Moved[0].Case != "case-16" || r.Moved[3].Candidate != 0 || r.Moved[4].Case != "case-1" {
		t.Errorf("moved %v", r.Moved)
	}
	agree := decide(t, signPolicy, written("old", lessonOld...)+written("new", lessonNew...))
	if finding(agree, "sign_and_mean_disagree") != nil {
		t.Error("found a disagreement in the lesson's example")
	}
}

// TestCopiedTrials: trials of a version that are all equal, case by case, look like one cached run copied. Cases are the
// units of most intervals, which stay right; where trials are, a person must decide.
func TestCopiedTrials(t *testing.T) {
	copies := written("old", lessonOld...) + written("new", "11111", "11111", "00000", "11111", "00000", "11111", "11111", "00000")
	g := decide(t, "case_list: fixed\nrules: [{id: r, metric: rate, minimum: 0.1}, {id: d, metric: pass_rate_difference, minimum: -0.9}, {id: o, metric: rate, version: baseline, minimum: 0.1}, {id: s, metric: pass_all_k, k: 5, minimum: 0.1}]", copies)
	if f := finding(g, "trials_all_equal"); f == nil || f.Severity != report.Warning || f.Count != 8 || !strings.Contains(f.Message, `"new"`) {
		t.Errorf("finding %v, want a warning about eight cases of new", f)
	}
	for i, want := range []report.Verdict{report.ManualReview, report.ManualReview, report.Pass, report.Pass} {
		if g.Rules[i].Verdict != want {
			t.Errorf("rule %s: %s (%s), want %s", g.Rules[i].ID, g.Rules[i].Verdict, g.Rules[i].Reason, want)
		}
	}
	sampled := ruleOf(t, decide(t, "rules: [{id: d, metric: pass_rate_difference, minimum: -0.9}]", copies))
	if sampled.Verdict != report.Pass {
		t.Errorf("cases as units: %s, want PASS", sampled.Verdict)
	}
	// A version that always passes says nothing about copies: a note.
	perfect := decide(t, "case_list: fixed\nrules: [{id: r, metric: rate, minimum: 0.5}]", written("old", lessonOld...)+written("new", repeat(8, "11111")...))
	if f := finding(perfect, "trials_all_equal"); f == nil || f.Severity != report.Note || ruleOf(t, perfect).Verdict != report.Pass {
		t.Errorf("a version that always passes: finding %v, %s", f, perfect.Rules[0].Verdict)
	}
	if finding(decide(t, signPolicy, written("old", lessonOld...)+written("new", lessonNew...)), "trials_all_equal") != nil {
		t.Error("found copies in the lesson's example")
	}
	if finding(decide(t, signPolicy, written("old", "1", "0", "1")+written("new", "1", "0", "1")), "trials_all_equal") != nil {
		t.Error("found copies where each case has one trial")
	}
}

// TestNearlyAllCopied: a cache that misses in one of twenty cases is still one: the finding and the review do not hinge on
// every case, but on nineteen of twenty, of ten cases or more, that differ among each other.
func TestNearlyAllCopied(t *testing.T) {
	alternating := func(n int) []string { return slices.Repeat([]string{"111", "000"}, n)[:n] }
	for _, c := range []struct {
		name   string
		cases  []string
		count  int // of the finding; 0: none
		phrase string
	}{
		{"59 of 60", append(alternating(59), "110"), 59, "59 of 60 cases"},
		{"57 of 60", append(alternating(57), repeat(3, "110")...), 57, "57 of 60 cases"}, // just 19 of 20
		{"56 of 60", append(alternating(56), repeat(4, "110")...), 0, ""},
		{"19 of 20", append(alternating(19), "100"), 19, "19 of 20 cases"},
		{"18 of 19", append(alternating(18), "100"), 0, ""},
		{"8 of 8", alternating(8), 8, "each of 8 cases"},
		{"59 of 60, all alike passed", append(repeat(59, "111"), "110"), 0, ""},
		{"cases of one trial do not count", append(append(alternating(18), "110"), repeat(40, "1")...), 0, ""},
	} {
		honest := slices.Repeat([]string{"110", "010"}, len(c.cases))[:len(c.cases)]
		g := decide(t, "case_list: fixed\nrules: [{id: r, metric: rate, minimum: 0.1}, {id: d, metric: pass_rate_difference, minimum: -0.9}, {id: o, metric: rate, version: baseline, minimum: 0.1}]",
			written("old", honest...)+written("new", c.cases...))
		f := finding(g, "trials_all_equal")
		if c.count == 0 {
			if f != nil || g.Rules[1].Verdict == report.ManualReview {
				t.Errorf("%s: finding %v, %s", c.name, f, g.Rules[1].Verdict)
			}
			continue
		}
		if f == nil || f.Severity != report.Warning || f.Count != c.count || !strings.Contains(f.Message, c.phrase) {
			t.Errorf("%s: finding %v, want a warning about %s", c.name, f, c.phrase)
		}
		for _, r := range g.Rules[:2] {
			if r.Verdict != report.ManualReview || !strings.Contains(r.Reason, c.phrase) {
				t.Errorf("%s, rule %s: %s (%s), want MANUAL_REVIEW for %s", c.name, r.ID, r.Verdict, r.Reason, c.phrase)
			}
		}
		if r := g.Rules[2]; r.Verdict == report.ManualReview {
			t.Errorf("%s: the baseline, whose trials vary, is reviewed: %s", c.name, r.Reason)
		}
	}
}

// TestVersionsIdentical: the baseline copied as the candidate is pointed at, where chance would hardly give the same counts.
func TestVersionsIdentical(t *testing.T) {
	mixed := slices.Concat(repeat(8, "110"), repeat(4, "111"))
	for _, c := range []struct {
		name      string
		old, next []string
		want      bool
	}{
		{"copied", mixed, mixed, true},
		{"the same counts in another order", mixed, slices.Concat(repeat(8, "011"), repeat(4, "111")), true},
		{"copied, one trial without a result", slices.Concat(mixed, []string{"1?1"}), slices.Concat(mixed, []string{"1?1"}), true},
		{"one case differs", mixed, slices.Concat(repeat(7, "110"), []string{"100"}, repeat(4, "111")), false},
		{"one case has a trial less", mixed, slices.Concat(repeat(7, "110"), []string{"11?"}, repeat(4, "111")), false},
		{"one case is in one version", mixed, mixed[:11], false},
		{"nine cases", repeat(9, "110"), repeat(9, "110"), false},
		{"trials differ in seven cases only", slices.Concat(repeat(7, "110"), repeat(9, "111")), slices.Concat(repeat(7, "110"), repeat(9, "111")), false},
		{"one trial a case", slices.Repeat([]string{"1", "0"}, 30), slices.Repeat([]string{"1", "0"}, 30), false},
	} {
		g := decide(t, signPolicy, written("old", c.old...)+written("new", c.next...))
		if f := finding(g, "versions_identical"); (f != nil) != c.want || c.want && (f.Severity != report.Warning || f.Count != len(c.old)) {
			t.Errorf("%s: finding %v, want one: %v", c.name, f, c.want)
		}
	}
	body := ""
	for _, version := range []string{"old", "new"} {
		for i := range 10 {
			body += fmt.Sprintf("%s,c%d,1,0.25\n%s,c%d,2,0.5\n", version, i, version, i)
		}
	}
	if finding(scores(t, signPolicy, body), "versions_identical") == nil {
		t.Error("copied scores are not pointed at")
	}
	if finding(scores(t, signPolicy, strings.Replace(body, "new,c3,1,0.25", "new,c3,1,0.250000000000000001", 1)), "versions_identical") != nil {
		t.Error("scores that differ in the last decimal are taken as copied")
	}
}

const scoreHeader = "version,case,trial,score\n"

// scores decides trials with scores.
func scores(t *testing.T, policyText, body string) report.Gate {
	t.Helper()
	a, err := tryRun(run{verb: gate.Decide, policy: "baseline: old\ncandidate: new\n" + policyText, names: []string{"t.csv"}, files: map[string]string{"t.csv": scoreHeader + body}})
	if err != nil {
		t.Fatal(err)
	}
	return a.Gate
}

// TestScores: scores are compared as exact decimals: .1 + .2 and .3 + 0 are equal, which float64 sums are not. A missing one
// is between 0 and 1; there is no pass_at_k of scores.
func TestScores(t *testing.T) {
	x, y := 0.1, 0.2
	if x+y == 0.3 {
		t.Fatal("float64 sums have become exact")
	}
	g := scores(t, signPolicy, "old,a,1,0.1\nold,a,2,0.2\nnew,a,1,0.3\nnew,a,2,0\nold,b,1,0.7\nold,b,2,0.1\nnew,b,1,0.8\nnew,b,2,1e-18\nold,c,1,0.5\nnew,c,1,\n")
	r := ruleOf(t, g)
	// a is equal, b better by 1e-18, c depends on its missing trial.
	if *r.Better != 1 || *r.Worse != 0 || *r.Equal != 1 || *r.Missing != 1 {
		t.Errorf("%d better, %d worse, %d equal, %d missing; want 1, 0, 1, 1", *r.Better, *r.Worse, *r.Equal, *r.Missing)
	}
	d := measure(t, g, "pass_rate_difference")
	// (0 + 0 + (0 or 1 − .5))/3, to the nearest float64.
	if d.Completions.Low != -0.5/3 || math.Abs(d.Completions.High-0.5/3) > 1e-15 || *d.Estimate != 2.5e-19 {
		t.Errorf("difference %v (%v to %v), want 2.5e-19 (-1/6 to 1/6)", *d.Estimate, d.Completions.Low, d.Completions.High)
	}
	m := measure(t, g, "rate", "version", "old")
	if math.Abs(*m.Estimate-(0.15+0.4+0.5)/3) > 1e-15 || m.Numerator != nil || m.IntervalsBeside != nil || m.Interval.Method != interval.MethodUniformMixture {
		t.Errorf("rate %v, numerator %v, by %s", *m.Estimate, m.Numerator, m.Interval.Method)
	}
	for _, m := range g.Measures {
		if m.Metric == passAtK || m.Metric == passAllK {
			t.Errorf("a measure %s of scores", m.Metric)
		}
	}
	if f := finding(scores(t, signPolicy, "old,a,1,0.1234567890123456789\nnew,a,1,0.5\n"), "scores_rounded"); f == nil || f.Count != 1 {
		t.Errorf("finding %v, want one score rounded", f)
	}
}

// TestWhere: a slice holds the cases with a value, by the rows that record it; its label says which.
func TestWhere(t *testing.T) {
	ask := func(rules, body string) (report.Gate, error) {
		a, err := tryRun(run{verb: gate.Decide, policy: "baseline: old\ncandidate: new\nrules: [" + rules + "]", names: []string{"t.csv"},
			files: map[string]string{"t.csv": "version,case,passed,level,lang\n" + body}})
		return a.Gate, err
	}
	body := "old,a,0,hard,en\nnew,a,1,hard,\nold,b,0,easy,en\nnew,b,0,easy,fr\nold,c,1,hard,fr\nnew,c,1,,fr\n"
	body = strings.Replace(body, "new,b,0,easy,fr", "new,b,0,easy,en", 1)
	g, err := ask("{id: h, metric: rate, minimum: 0.1, where: {level: hard}}, {id: e, metric: sign_test, where: {lang: en, level: hard}}, {id: n, metric: pass_at_k, k: 9, minimum: 0.1, where: {level: none}}", body)
	if err != nil {
		t.Fatal(err)
	}
	if r := g.Rules[0]; r.Labels["where"] != "level=hard" || r.Labels["version"] != "new" || *r.Units != 2 || *r.Numerator != 2 {
		t.Errorf("hard: labels %v, %d of %d units", r.Labels, *r.Numerator, *r.Units)
	}
	if r := g.Rules[1]; r.Labels["where"] != "lang=en, level=hard" || *r.Units != 1 || *r.Better != 1 {
		t.Errorf("hard and en: labels %v, %d units", r.Labels, *r.Units)
	}
	if r := g.Rules[2]; r.Verdict != report.InsufficientEvidence || r.Reason != `Nothing was evaluated: no case has "none" in the column "level", which holds "easy", "hard".` {
		t.Errorf("empty slice: %s (%s)", r.Verdict, r.Reason)
	}
	together, err := ask("{id: h, metric: rate, minimum: 0.1, where: {level: easy, lang: fr}}", body)
	if err != nil || together.Rules[0].Reason != "Nothing was evaluated: no case has all the values of `where` together." {
		t.Errorf("easy and fr: %v, %v", together.Rules, err)
	}
	_, err = ask("{id: h, metric: rate, minimum: 0.1, where: {level: hard}}", "old,a,0,hard,\nnew,a,1,easy,\n")
	if want := `t.csv:3:9: level of case "a" is "easy" here and "hard" at t.csv:2:9; a rule's ` + "`where`" + ` needs one value for a case`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	_, err = ask("{id: h, metric: rate, minimum: 0.1, where: {site: Lyon}}", body)
	if err == nil || !strings.Contains(err.Error(), `"site"`) {
		t.Errorf("a column that no file has: %v", err)
	}
	// Cases of which nobody says whether they are in the slice are left out, and too many of them decide nothing.
	unknown := ""
	for i := range 20 {
		level := "hard"
		if i >= 17 {
			level = ""
		}
		unknown += fmt.Sprintf("old,c%d,0,%s,\nnew,c%d,1,%s,\n", i, level, i, level)
	}
	for limit, want := range map[string]report.Verdict{"": report.InsufficientEvidence, ", max_left_out: 0.15": report.Pass, ", max_left_out: 0.14": report.InsufficientEvidence} {
		g, err := ask("{id: h, metric: sign_test, where: {level: hard}"+limit+"}", unknown)
		if err != nil {
			t.Fatal(err)
		}
		if r := g.Rules[0]; r.Verdict != want || len(r.LeftOut) != 1 || r.LeftOut[0].Count != 3 {
			t.Errorf("3 of 20 cases without a level%s: %s (%s), left out %v; want %s", limit, r.Verdict, r.Reason, r.LeftOut, want)
		}
	}
}

// TestPassKWithMissingTrials: a case is certain where no missing trial can change it, by hand.
func TestPassKWithMissingTrials(t *testing.T) {
	// pass_at_2: yes, depends, no, yes (a pass is a pass). pass_all_2: depends, depends, no, no.
	body := written("old", repeat(4, "00")...) + written("new", "1?", "??", "00", "10")
	g := decide(t, "rules: [{id: a, metric: pass_at_k, k: 2, minimum: 0.1}, {id: b, metric: pass_all_k, k: 2, minimum: 0.1}, {id: c, metric: pass_at_k, k: 1, minimum: 0.1}]", body)
	for i, want := range []struct {
		numerator, missing int
		estimate, low      float64
		high               float64
	}{{2, 1, 2. / 3, 2. / 4, 3. / 4}, {0, 2, 0, 0, 2. / 4}} {
		r := g.Rules[i]
		if *r.Numerator != want.numerator || *r.Denominator != 4 || *r.Missing != want.missing || *r.Estimate != want.estimate || r.Completions.Low != want.low || r.Completions.High != want.high {
			t.Errorf("%s: %v, %d of %d, %d missing (%v to %v); want %+v of 4", r.Metric, *r.Estimate, *r.Numerator, *r.Denominator, *r.Missing, r.Completions.Low, r.Completions.High, want)
		}
	}
	// k = 1: the first case has one recorded trial, passed; the second none; means of 1, 0, 1/2.
	if r := g.Rules[2]; *r.Estimate != 0.5 || *r.Missing != 3 || r.Completions.Low != 0.25 || r.Completions.High != 0.625 {
		t.Errorf("pass_at_1: %v, %d missing (%v to %v); want 0.5, 3 (0.25 to 0.625)", *r.Estimate, *r.Missing, r.Completions.Low, r.Completions.High)
	}
	if own := measure(t, g, "rate", "version", "new"); *own.Estimate != *g.Rules[2].Estimate || *own.Interval.Lower != *g.Rules[2].Interval.Lower || *own.Interval.Upper != *g.Rules[2].Interval.Upper {
		t.Errorf("rate is %v, pass_at_1 %v: they are one", own, g.Rules[2].Measure)
	}
}

// TestVersions: two files, names on the command line or in the policy, other versions, and a report without names.
func TestVersions(t *testing.T) {
	three := header + written("old", "1", "0") + written("new", "1", "1") + written("third", "0", "0", "1")
	files := map[string]string{"t.csv": three, "old.csv": "case,passed\na,1\nb,0\n", "new.csv": "version,case,passed\nv2,a,1\nv2,b,1\n"}
	a, err := tryRun(run{verb: gate.Decide, policy: signPolicy, names: []string{"t.csv"}, flags: gate.Flags{Baseline: "old", Candidate: "new"}, files: files})
	if err != nil {
		t.Fatal(err)
	}
	if f := finding(a.Gate, "other_versions"); f == nil || f.Count != 1 || a.Gate.Data.Of("other_rows") != 3 || a.Gate.Data.Of("cases") != 2 || a.Gate.Data.Of("versions") != 3 {
		t.Errorf("gate: finding %v, data %v", f, a.Gate.Data)
	}
	for _, m := range a.Gate.Measures {
		if m.Labels["version"] == "third" {
			t.Error("gate measures a version that is not compared")
		}
	}
	a, err = tryRun(run{verb: gate.Report, names: []string{"t.csv"}, flags: gate.Flags{Baseline: "old", Candidate: "new"}, files: files})
	if err != nil {
		t.Fatal(err)
	}
	measure(t, a.Gate, "sign_test")
	if m := measure(t, a.Gate, "rate", "version", "third"); *m.Numerator != 1 || *m.Denominator != 3 {
		t.Errorf("report: third %d of %d, want 1 of 3", *m.Numerator, *m.Denominator)
	}
	a, err = tryRun(run{verb: gate.Report, names: []string{"t.csv"}, files: files})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range a.Gate.Measures {
		if m.Metric == signTest || m.Metric == difference {
			t.Errorf("a report without names has %s", m.Metric)
		}
	}
	a, err = tryRun(run{verb: gate.Decide, policy: signPolicy, flags: gate.Flags{Baseline: "old.csv", Candidate: "new.csv"}, files: files})
	if err != nil {
		t.Fatal(err)
	}
	if want := "Comparison of the candidate with the baseline: 2 cases, 1 trial each, 0 missing."; a.Gate.Summary != want {
		t.Errorf("summary %q, want %q", a.Gate.Summary, want)
	}
	if m := ruleOf(t, a.Gate); *m.Better != 1 || *m.Equal != 1 || measure(t, a.Gate, "rate", "version", "candidate").Numerator == nil {
		t.Errorf("two files: %d better, %d equal; want 1, 1", *m.Better, *m.Equal)
	}
	// A policy's two files, and a policy's trials with names.
	for _, text := range []string{"baseline: old.csv\ncandidate: new.csv\n", "trials: [t.csv]\nbaseline: old\ncandidate: new\n", "trials: t.csv\nbaseline: old\ncandidate: new\n"} {
		a, err = tryRun(run{verb: gate.Decide, policy: text + signPolicy, files: files})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if m := ruleOf(t, a.Gate); *m.Better != 1 || *m.Equal != 1 {
			t.Errorf("%s: %d better, %d equal; want 1, 1", text, *m.Better, *m.Equal)
		}
	}
	// Two files on the command line take the place of the policy's, and its names have no use.
	a, err = tryRun(run{verb: gate.Decide, policy: "trials: t.csv\nbaseline: third\ncandidate: new\n" + signPolicy, flags: gate.Flags{Baseline: "old.csv", Candidate: "new.csv"}, files: files})
	if err != nil {
		t.Fatal(err)
	}
	if finding(a.Gate, "policy_file_not_read") == nil || finding(a.Gate, "policy_version_not_used") == nil {
		t.Errorf("findings %v", a.Gate.Findings)
	}
	if f := finding(a.Gate, "policy_file_not_read"); f != nil && !strings.Contains(f.Message, "trials: t.csv") {
		t.Errorf("finding %v", f)
	}
	// check has neither measures nor rules.
	a, err = tryRun(run{verb: gate.Check, names: []string{"t.csv"}, files: files})
	if err != nil || len(a.Gate.Measures) > 0 || len(a.Gate.Rules) > 0 || finding(a.Gate, "no_plan") == nil {
		t.Errorf("check: %v, %v", a.Gate, err)
	}
}

// TestNothingEvaluated: no threshold is met by nothing.
func TestNothingEvaluated(t *testing.T) {
	body := written("old", "??", "?") + written("new", "??", "?")
	for _, rule := range []string{"metric: rate, minimum: 0", "metric: rate, maximum: 1, version: baseline", "metric: pass_at_k, k: 1, minimum: 0", "metric: pass_all_k, k: 1, maximum: 1",
		"metric: pass_rate_difference, minimum: -1", "metric: sign_test"} {
		for _, settings := range []string{"", "case_list: fixed\n", "looks: repeated\n"} {
			r := ruleOf(t, decide(t, settings+"rules: [{id: r, "+rule+"}]", body))
			if r.Verdict != report.InsufficientEvidence || r.Estimate != nil || !strings.HasPrefix(r.Reason, "Nothing was evaluated") {
				t.Errorf("%s%s: %s (%s), estimate %v; want INSUFFICIENT_EVIDENCE", settings, rule, r.Verdict, r.Reason, r.Estimate)
			}
		}
	}
}

// TestForms: versions and cases that differ only in form, and a result that never changes, are pointed at.
func TestForms(t *testing.T) {
	g := decide(t, signPolicy, "old,a,1,1\nnew,a,1,1\nOld,a,1,1\nold,A ,1,1\nnew,b,1,1\n")
	for _, code := range []string{"versions_differ_only_in_form", "cases_differ_only_in_form", "constant_column", "other_versions"} {
		if finding(g, code) == nil {
			t.Errorf("no finding %s in %v", code, g.Findings)
		}
	}
}

// TestSignNeeds: what would decide an undecided sign test, at the shares seen. Six against none decide; of 9 cases like the lesson's 5/8
// are 5.6, of 10 6.25.
func TestSignNeeds(t *testing.T) {
	lesson := written("old", lessonOld...) + written("new", lessonNew...)
	for _, c := range []struct {
		settings, body string
		want           report.Needs
	}{
		{"", lesson, report.Needs{What: "cases that move as these do, in a new sample (with `looks: repeated`, set before collecting, about 13 in all)", AtLeast: 10}},
		// Eight against none decide over repeated looks; 5/8 of 12 are 7.5, of 13 8.1.
		{"looks: repeated\n", lesson, report.Needs{What: "more cases that move as these do", AtLeast: 5}},
		{"", written("old", "10", "01", "11") + written("new", "11", "00", "11"), report.Needs{What: "other data: as many cases are better as worse, and no number of such cases would decide"}},
	} {
		r := ruleOf(t, decide(t, c.settings+signPolicy, c.body))
		if r.Needs == nil || *r.Needs != c.want {
			t.Errorf("%q: needs %+v, want %+v", c.settings, r.Needs, c.want)
		}
	}
}

// TestOneMoreCase: what is needed is worded for one, where it is one.
func TestOneMoreCase(t *testing.T) {
	// With every case at 1 the lower end of n planned ones is 2·.025^(1/n) − 1: .7 takes 23 of them (.7037; 22: .6913).
	notEnough := func(planned int) string {
		return fmt.Sprintf("; at the present values the %d planned do not decide it: it would take about 23 cases in a new sample, planned beforehand", planned)
	}
	for _, c := range []struct {
		policy string
		want   report.Needs
	}{
		// Seven against none give p = .063 over repeated looks, eight .035 (TestRepeatedSignTest).
		{"looks: repeated\n" + signPolicy, report.Needs{What: "more case that moves as these do", AtLeast: 1}},
		{"rules: [{id: r, metric: pass_rate_difference, looks: once, planned: 8, minimum: 0.7}]", report.Needs{What: "more case, as planned" + notEnough(8), AtLeast: 1}},
		{"rules: [{id: r, metric: pass_rate_difference, looks: once, planned: 9, minimum: 0.7}]", report.Needs{What: "more cases, as planned" + notEnough(9), AtLeast: 2}},
	} {
		r := ruleOf(t, decide(t, c.policy, written("old", repeat(7, "0")...)+written("new", repeat(7, "1")...)))
		if r.Needs == nil || *r.Needs != c.want {
			t.Errorf("%s: %s, needs %+v, want %+v", c.policy, r.Verdict, r.Needs, c.want)
		}
	}
	// One case whose direction depends on its missing trials depends on them, two do.
	for n, want := range map[int]string{1: "0 cases are better and 0 worse; 1 depends on them)", 2: "0 cases are better and 0 worse; 2 depend on them)"} {
		r := ruleOf(t, decide(t, signPolicy, written("old", repeat(n, "10")...)+written("new", repeat(n, "??")...)+"old,z,1,1\nnew,z,1,1\n"))
		if !strings.Contains(r.Reason, want) {
			t.Errorf("%d open cases: %q lacks %q", n, r.Reason, want)
		}
	}
}

// TestAssumptionsAndLimits: every rule says what it rests on, and the report what it cannot tell.
func TestAssumptionsAndLimits(t *testing.T) {
	body := written("old", lessonOld...) + written("new", lessonNew...)
	for settings, want := range map[string][]string{
		"": {"no plan shows that they were", "The cases stand for those that matter"},
		"plan: {cases: 8, trials: 5}\ncase_list: fixed\n": {"as planned, and the run was not repeated", "The cases are a fixed list"},
	} {
		g := decide(t, settings+"rules: [{id: s, metric: sign_test}, {id: r, metric: rate, minimum: 0.5}]", body)
		for _, r := range g.Rules {
			text := strings.Join(r.Assumptions, " ")
			for _, w := range append(want, "Each trial was run anew, independently of the others") {
				if !strings.Contains(text, w) {
					t.Errorf("%q, rule %s: %q lacks %q", settings, r.ID, text, w)
				}
			}
			if r.Assumptions[0] != r.Conditions || r.Conditions == "" {
				t.Errorf("%q, rule %s: when the interval holds is not first: %q", settings, r.ID, r.Assumptions)
			}
		}
		if text := strings.Join(g.Assumptions, " "); strings.Contains(text, "run once") || strings.Contains(text, "plan was not kept") {
			t.Errorf("%q: %q", settings, text)
		}
		if limits := strings.Join(g.Limits, " "); !strings.Contains(limits, "Rerunning until it passes") || !strings.Contains(limits, "not that it can be relied on") {
			t.Errorf("limits %q", limits)
		}
	}
}

// TestRepeatedTrials: the results of one run twice in the files, without names of trials or under other names, are not twice as many
// trials. Where trials are the units, a person must decide; ten cases with passes and failures, of both versions, show it.
func TestRepeatedTrials(t *testing.T) {
	const policy = "case_list: fixed\nrules: [{id: n, metric: rate, minimum: 0.5}, {id: d, metric: pass_rate_difference, minimum: -0.5}, {id: s, metric: sign_test}]"
	base, next := []string{"100", "000", "110", "010", "100", "111"}, []string{"110", "010", "111", "110", "101", "011"} // 4 and 5 with passes and failures
	twice := func(cases []string, times int) []string {
		list := slices.Clone(cases)
		for i := range list {
			list[i] = strings.Repeat(list[i], times)
		}
		return list
	}
	more := func(cases []string) []string { return append(slices.Clone(cases), "100") } // one more of each
	for _, c := range []struct {
		name       string
		base, next []string
		times      int // 0: no finding
		mixed      int
	}{
		{"once", more(base), more(next), 0, 0},
		{"twice", twice(more(base), 2), twice(more(next), 2), 2, 11},
		{"three times", twice(more(base), 3), twice(more(next), 3), 3, 11},
		{"twice, too few to tell", twice(base, 2), twice(next, 2), 0, 0},
		{"twice but for one result", append(twice(base, 2), "111000", "100000"), append(twice(next, 2), "110000", "110000"), 0, 0},
		{"the candidate alone", repeat(12, "1101"), twice(repeat(12, "10"), 2), 2, 12},
	} {
		g := decide(t, policy, written("old", c.base...)+written("new", c.next...))
		f := finding(g, "trials_repeated")
		if c.times == 0 {
			if f != nil || g.Rules[0].Verdict == report.ManualReview || g.Rules[1].Verdict == report.ManualReview {
				t.Errorf("%s: finding %v, %s, %s", c.name, f, g.Rules[0].Verdict, g.Rules[1].Verdict)
			}
			continue
		}
		phrase := fmt.Sprintf("multiples of %d", c.times)
		if f == nil || f.Severity != report.Warning || f.Count != c.mixed || !strings.Contains(f.Message, phrase) {
			t.Errorf("%s: finding %v, want a warning about %d with %q", c.name, f, c.mixed, phrase)
		}
		for _, r := range g.Rules[:2] {
			if r.Verdict != report.ManualReview || !strings.Contains(r.Reason, phrase) {
				t.Errorf("%s, rule %s: %s (%s), want MANUAL_REVIEW", c.name, r.ID, r.Verdict, r.Reason)
			}
		}
		if g.Rules[2].Verdict == report.ManualReview {
			t.Errorf("%s: the sign test has cases as units, and is reviewed: %s", c.name, g.Rules[2].Reason)
		}
	}
}
