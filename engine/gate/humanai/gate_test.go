package humanai

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// answer decides rows (CSV without its header) under a bare policy.
func answer(t *testing.T, policyText, body string, flags ...gate.Flags) report.Gate {
	t.Helper()
	g, err := tryAnswer(policyText, "case,reviewer,condition,decision,reference,ai_output,started_at,decided_at,site\n"+body, flags...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func tryAnswer(policyText, file string, flags ...gate.Flags) (report.Gate, error) {
	diags := &diag.List{}
	p := policy.Load(policy.Parse("policy.yaml", []byte(policyText), diags), []policy.SectionSpec{{Key: "human_ai", Gate: "human-ai"}}, "human_ai", "devel")
	if err := diags.Err(); err != nil {
		return report.Gate{}, err
	}
	source := gate.Source{Verb: gate.Decide, Section: &p.Sections[0], Settings: p.Sections[0].Settings, Files: []string{"decisions.csv"}}
	for _, f := range flags {
		source.Flags = f
	}
	q := Gate{}.Compile(source, diags)
	files := fstest.MapFS{"decisions.csv": {Data: []byte(file)}, "assignment.csv": {Data: []byte(assignmentText)}, "mixed.csv": {Data: []byte(mixedAssignment())}}
	for _, in := range q.Inputs() {
		rows.Read(in.Paths, rows.Options{Columns: in.Columns, Rename: in.Rename, MissingValues: in.MissingValues, FS: files},
			func(r rows.Row) { in.Add(r, diags) }, diags)
	}
	if err := diags.Err(); err != nil {
		return report.Gate{}, err
	}
	a, err := q.Answer(gate.Context{Today: "2026-11-29"})
	return a.Gate, err
}

// assignmentText is the assignment of the tests that have one: four people, four cases each.
const assignmentText = `reviewer,case,condition,position
p1,c1,with,1
p1,c2,without,2
p1,c3,with,3
p1,c4,without,4
p2,c1,without,1
p2,c2,with,2
p2,c3,without,3
p2,c4,with,4
p3,c1,with,1
p3,c2,without,2
p3,c3,with,3
p3,c4,without,4
p4,c1,without,1
p4,c2,with,2
p4,c3,without,3
p4,c4,with,4
`

// ruleOf returns the one rule of an answer.
func ruleOf(t *testing.T, g report.Gate) report.Rule {
	t.Helper()
	if len(g.Rules) != 1 {
		t.Fatalf("%d rules, want 1", len(g.Rules))
	}
	return g.Rules[0]
}

func measure(t *testing.T, g report.Gate, metric string, labels ...string) report.Measure {
	t.Helper()
	for _, m := range g.Measures {
		if m.Metric == metric && len(m.Labels) == len(labels)/2 {
			same := true
			for i := 0; i < len(labels); i += 2 {
				same = same && m.Labels[labels[i]] == labels[i+1]
			}
			if same {
				return m
			}
		}
	}
	t.Fatalf("no measure %s %v", metric, labels)
	return report.Measure{}
}

// decided writes count rows of a person in a condition, the first `right` of them right, the last `missing`
// without a decision.
func decided(person string, c condition, from, count, right, missing int) string {
	var b strings.Builder
	for i := range count {
		d := "no"
		switch {
		case i >= count-missing:
			d = ""
		case i < right:
			d = "yes"
		}
		out := ""
		if c == with {
			out = "yes"
		}
		fmt.Fprintf(&b, "c%d,%s,%s,%s,yes,%s,,,\n", from+i, person, c, d, out)
	}
	return b.String()
}

// people writes a crossed study: each person has n decisions in each condition, right[i][0] of them right with
// the output and right[i][1] without.
func people(n int, right ...[2]int) string {
	var b strings.Builder
	for i, r := range right {
		p := fmt.Sprintf("p%d", i)
		b.WriteString(decided(p, with, 0, n, r[0], 0))
		b.WriteString(decided(p, without, 100, n, r[1], 0))
	}
	return b.String()
}

const differencePolicy = "rules: [{id: better, metric: accuracy_difference, minimum: 0}]"

// TestPooledDifferenceWouldFail: one person does most of the work and loses, nine do little and gain. A program
// that pools decisions sees a loss (0.18 of decisions); each person counting once, the mean gain is positive.
func TestPooledDifferenceWouldFail(t *testing.T) {
	body := decided("heavy", with, 0, 90, 45, 0) + decided("heavy", without, 200, 90, 81, 0)
	for i := range 9 {
		p := fmt.Sprintf("p%d", i)
		body += decided(p, with, 300, 2, 2, 0) + decided(p, without, 400, 2, 1, 0)
	}
	m := measure(t, answer(t, differencePolicy, body), "accuracy_difference")
	want := (0.5 - 0.9 + 9*0.5) / 10 // by hand: one person at 45/90 − 81/90, nine at 1 − 1/2
	if math.Abs(*m.Estimate-want) > 1e-15 {
		t.Errorf("estimate %v, want %v", *m.Estimate, want)
	}
	pooled := (45.0+18)/(90+18) - (81.0+9)/(90+18)
	if pooled >= 0 {
		t.Fatal("the example no longer shows a pooled loss")
	}
}

// TestDroppedMissingDecisionsWouldFail: everyone is right wherever a decision is recorded, and half of the
// decisions with the output are missing. Dropping them leaves gains of 0.2 for sure; completed, the low end is a loss.
func TestDroppedMissingDecisionsWouldFail(t *testing.T) {
	body := ""
	for i := range 60 {
		p := fmt.Sprintf("p%d", i)
		body += decided(p, with, 0, 10, 10, 5) + decided(p, without, 100, 10, 8, 0)
	}
	g := answer(t, differencePolicy, body)
	r := ruleOf(t, g)
	if r.Verdict != report.InsufficientEvidence || *r.Missing != 300 {
		t.Errorf("verdict %s with %d missing, want INSUFFICIENT_EVIDENCE with 300", r.Verdict, *r.Missing)
	}
	if r.Completions.Low != -0.3 || r.Completions.High != 0.2 { // 5/10 − 8/10 and 10/10 − 8/10
		t.Errorf("completions %v, want -0.3 to 0.2", *r.Completions)
	}
	dropped := make([]float64, 60)
	for i := range dropped {
		dropped[i] = 0.2
	}
	if iv, err := interval.UniformMixture(dropped, dropped, interval.Difference, 0.95); err != nil || iv.Lower <= 0 {
		t.Fatalf("the example no longer passes with dropped decisions: %v %v", iv, err)
	}
}

// TestRepeatedCasesAreNotDecided: no person appears twice, but cases do. A program that only looks at people would
// decide the rate.
func TestRepeatedCasesAreNotDecided(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "c%d,p%d,with,yes,yes,yes,,,\n", i%20, i)
	}
	body := b.String()
	r := ruleOf(t, answer(t, "rules: [{id: agree, metric: agreement, minimum: 0.5}]", body))
	if r.Verdict != report.ManualReview || !strings.Contains(r.Reason, "20 of 20 cases appear more than once") {
		t.Errorf("%s: %s; want MANUAL_REVIEW for repeated cases", r.Verdict, r.Reason)
	}
	once := ""
	for i := range 200 {
		once += fmt.Sprintf("c%d,p%d,with,yes,yes,yes,,,\n", i, i)
	}
	if r := ruleOf(t, answer(t, "rules: [{id: agree, metric: agreement, minimum: 0.5}]", once)); r.Verdict != report.Pass {
		t.Errorf("without repeats: %s, want PASS", r.Verdict)
	}
}

// TestEmptyDenominatorIsNeverAPass: the system was never wrong, so nothing is known of how people follow its errors.
// The exact interval of 0 of 0 is [0, 1], which "maximum: 1" and "minimum: 0" would pass.
func TestEmptyDenominatorIsNeverAPass(t *testing.T) {
	for _, rule := range []string{
		"{id: r, metric: over_reliance, maximum: 1}", "{id: r, metric: over_reliance, minimum: 0}",
		"{id: r, metric: over_reliance, maximum: 1, per: person}", "{id: r, metric: correct_override, minimum: 0, per: person}",
		"{id: r, metric: accuracy_difference, minimum: -1, where: {site: nowhere}}",
		"{id: r, metric: agreement, minimum: 0, where: {site: nowhere}}",
		"{id: r, metric: system_accuracy, minimum: 0, where: {site: nowhere}}",
		"{id: r, metric: system_accuracy, minimum: 0, where: {site: nowhere}, looks: repeated}",
	} {
		r := ruleOf(t, answer(t, "rules: ["+rule+"]", people(3, [2]int{3, 2}, [2]int{2, 2}, [2]int{3, 3})))
		if r.Verdict != report.InsufficientEvidence {
			t.Errorf("%s: %s (%s), want INSUFFICIENT_EVIDENCE", rule, r.Verdict, r.Reason)
		}
		if r.Estimate != nil {
			t.Errorf("%s: estimate %v of nothing", rule, *r.Estimate)
		}
	}
}

// TestDirichletNeedsAPlan: the narrower interval is for a planned number of people only; a program that uses it at
// any number would decide too early, and one that used it beyond the plan would too.
func TestDirichletNeedsAPlan(t *testing.T) {
	body := ""
	for i := range 25 {
		p := fmt.Sprintf("p%d", i)
		body += decided(p, with, 0, 10, 9, 0) + decided(p, without, 100, 10, 6, 0)
	}
	at := func(extra string) report.Rule {
		return ruleOf(t, answer(t, "rules: [{id: better, metric: accuracy_difference, minimum: 0.1"+extra+"}]", body))
	}
	plain := at("")
	if plain.Verdict != report.InsufficientEvidence || plain.Interval.Method != interval.MethodUniformMixture || plain.Interval.Looks != interval.LooksAny {
		t.Errorf("no plan: %s by %s, want INSUFFICIENT_EVIDENCE by uniform-mixture", plain.Verdict, plain.Interval.Method)
	}
	planned := at(", looks: once, planned: 25")
	if planned.Verdict != report.Pass || planned.Interval.Method != interval.MethodDirichlet || planned.Interval.Looks != interval.LooksPlanned {
		t.Errorf("planned: %s by %s, want PASS by dirichlet", planned.Verdict, planned.Interval.Method)
	}
	early := at(", looks: once, planned: 40")
	if early.Verdict != report.InsufficientEvidence || early.Needs.AtLeast != 15 {
		t.Errorf("25 of 40 planned: %s, needs %v; want INSUFFICIENT_EVIDENCE, 15 more", early.Verdict, early.Needs)
	}
	over := at(", looks: once, planned: 20")
	if over.Verdict != report.ManualReview || over.Interval.Method != interval.MethodUniformMixture {
		t.Errorf("25 where 20 were planned: %s by %s, want MANUAL_REVIEW by uniform-mixture", over.Verdict, over.Interval.Method)
	}
	if sympol := at(", looks: once, planned: 25, mean_method: sympol"); sympol.Interval.Method != interval.MethodSymPol {
		t.Errorf("mean_method: sympol gave %s", sympol.Interval.Method)
	}
}

// TestSparseIsNeverDecided: two people with complementary halves, whatever is declared and for every metric; with a
// third person who sees every case, exactly half of the cells are single, which is no longer sparse.
func TestSparseIsNeverDecided(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		c1, c2 := with, without
		if i%2 == 0 {
			c1, c2 = c2, c1
		}
		fmt.Fprintf(&b, "c%d,p1,%s,yes,yes,yes,,,\nc%d,p2,%s,no,yes,yes,,,\n", i, c1, i, c2)
	}
	two := b.String()
	for _, policy := range []string{
		differencePolicy, "design: crossed\n" + differencePolicy,
		"rules: [{id: r, metric: system_accuracy, minimum: 0.5}]", "rules: [{id: r, metric: accuracy_with, maximum: 1, per: person}]",
	} {
		g := answer(t, policy, two)
		r := ruleOf(t, g)
		if g.Design != sparse || r.Verdict != report.InsufficientEvidence || r.Interval == nil || r.Estimate == nil {
			t.Errorf("%s: design %s, %s; want sparse, INSUFFICIENT_EVIDENCE, with estimate and interval", policy, g.Design, r.Verdict)
		}
	}
	for i := range 40 {
		fmt.Fprintf(&b, "c%d,p3,%s,yes,yes,yes,,,\n", i, condition(i/2%2))
	}
	if g := answer(t, differencePolicy, b.String()); g.Design != crossed {
		t.Errorf("three people: %s, want crossed", g.Design)
	}
}

// TestBeforeAfterOrder: one pair whose times show the decision with the output first flags the whole file.
func TestBeforeAfterOrder(t *testing.T) {
	pair := func(i int, first, second string) string {
		return fmt.Sprintf("c%d,p%d,without,no,yes,,,%s,\nc%d,p%d,with,yes,yes,yes,,%s,\n", i, i%30, first, i, i%30, second)
	}
	var b strings.Builder
	for i := range 300 {
		b.WriteString(pair(i, "2026-01-01T10:00:00Z", "2026-01-01T10:05:00Z"))
	}
	good := answer(t, differencePolicy, b.String())
	if r := ruleOf(t, good); good.Design != beforeAfter || r.Verdict != report.Pass {
		t.Errorf("%s, %s: want before_after, PASS", good.Design, r.Verdict)
	}
	bad := answer(t, differencePolicy, b.String()+pair(300, "2026-01-01T10:05:00+01:00", "2026-01-01T10:04:00+01:00"))
	if r := ruleOf(t, bad); r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, "1 pair of decisions") {
		t.Errorf("%s: %s; want INSUFFICIENT_EVIDENCE for one pair", r.Verdict, r.Reason)
	}
	if same := ruleOf(t, answer(t, differencePolicy, b.String()+pair(300, "2026-01-01T09:05:00Z", "2026-01-01T10:05:00+01:00"))); same.Verdict != report.Pass {
		t.Errorf("equal moments in two zones: %s, want PASS", same.Verdict)
	}
	// Times cut to the day, or to the minute, show no order: that is told, as where there are none.
	if g := answer(t, differencePolicy, b.String()+pair(300, "2026-01-01T09:05:00Z", "2026-01-01T10:05:00+01:00")); countOfFinding(g, "order_unknown") != 1 {
		t.Error("one of 301 pairs has one moment twice: no finding says that its order cannot be seen")
	}
	if hasFinding(good, "order_unknown") {
		t.Error("all pairs have times that differ, and a finding says that their order cannot be seen")
	}
	untimed := answer(t, differencePolicy, strings.ReplaceAll(strings.ReplaceAll(b.String(), "2026-01-01T10:00:00Z", ""), "2026-01-01T10:05:00Z", ""))
	if !hasFinding(untimed, "order_unknown") {
		t.Error("without times: no finding says that the order cannot be seen")
	}
}

// countOfFinding is what the finding of that code counts; 0 where there is none.
func countOfFinding(g report.Gate, code string) int {
	for _, f := range g.Findings {
		if f.Code == code {
			return f.Count
		}
	}
	return 0
}

func hasFinding(g report.Gate, code string) bool {
	for _, f := range g.Findings {
		if f.Code == code {
			return true
		}
	}
	return false
}

// TestAssignment: an assigned decision without a row is missing; a row that is not as assigned is in no measure.
func TestAssignment(t *testing.T) {
	body := "c1,p1,with,yes,yes,yes,,,\nc2,p1,without,no,yes,,,,\nc3,p1,with,yes,yes,yes,,,\nc4,p1,with,yes,yes,yes,,,\n" + // c4 was assigned without
		"c1,p2,without,no,yes,,,,\nc2,p2,with,yes,yes,yes,,,\nc3,p2,without,no,yes,,,,\n" + // c4 has no row
		"c1,p3,with,yes,yes,yes,,,\nc2,p3,without,no,yes,,,,\nc3,p3,with,yes,yes,yes,,,\nc4,p3,without,no,yes,,,,\n" +
		"c1,p4,without,no,yes,,,,\nc2,p4,with,yes,yes,yes,,,\nc3,p4,without,no,yes,,,,\nc4,p4,with,yes,yes,yes,,,\n"
	g := answer(t, differencePolicy, body, gate.Flags{Assignment: "assignment.csv"})
	r := ruleOf(t, g)
	m := measure(t, g, "accuracy_with")
	if *m.Numerator != 7 || *m.Denominator != 8 || *m.Missing != 1 {
		t.Errorf("accuracy_with %d of %d, %d missing; want 7 of 8, 1 missing (p2's c4)", *m.Numerator, *m.Denominator, *m.Missing)
	}
	m = measure(t, g, "accuracy_without")
	if *m.Denominator != 8 || *m.Missing != 1 {
		t.Errorf("accuracy_without of %d, %d missing; want 8, 1 missing (p1's c4)", *m.Denominator, *m.Missing)
	}
	if !hasFinding(g, "departs_from_assignment") || !hasFinding(g, "absent_decisions") || g.Data.Of("absent_decisions") != 2 {
		t.Errorf("findings %v, data %v", g.Findings, g.Data)
	}
	if strings.Contains(r.Reason, "depart") {
		t.Errorf("one departure of fifteen is under 0.1, but: %s", r.Reason)
	}
	strict := ruleOf(t, answer(t, "max_left_out: 0.06\n"+differencePolicy, body, gate.Flags{Assignment: "assignment.csv"}))
	if !strings.Contains(strict.Reason, "1 of 15 rows depart from the assignment") {
		t.Errorf("one departure of fifteen is over 0.06, but: %s", strict.Reason)
	}
}

// TestMaxLeftOut: exactly the share is still decided.
func TestMaxLeftOut(t *testing.T) {
	var b strings.Builder
	for i := range 18 {
		p := fmt.Sprintf("p%d", i)
		b.WriteString(decided(p, with, 0, 10, 10, 0) + decided(p, without, 100, 10, 2, 0))
	}
	b.WriteString(decided("one-armed-1", without, 100, 10, 9, 0) + decided("one-armed-2", without, 100, 10, 9, 0))
	if r := ruleOf(t, answer(t, differencePolicy, b.String())); r.Verdict != report.Pass || r.LeftOut[0].Count != 2 {
		t.Errorf("2 of 20 left out: %s (%s), want PASS with 2 left out", r.Verdict, r.Reason)
	}
	b.WriteString(decided("one-armed-3", without, 100, 10, 9, 0))
	if r := ruleOf(t, answer(t, differencePolicy, b.String())); r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, "3 of 21 people") {
		t.Errorf("3 of 21 left out: %s (%s), want INSUFFICIENT_EVIDENCE", r.Verdict, r.Reason)
	}
	// Declared crossed, the missing arms are between all wrong and all right, and nobody is left out.
	declared := ruleOf(t, answer(t, "design: crossed\n"+differencePolicy, b.String()))
	if len(declared.LeftOut) != 0 || *declared.Units != 21 || declared.Completions.Low >= declared.Completions.High {
		t.Errorf("declared crossed: left out %v, %d units", declared.LeftOut, *declared.Units)
	}
}

// TestErrors: what a row or two rows show to be wrong, with its place.
func TestErrors(t *testing.T) {
	const header = "case,reviewer,condition,decision,reference,ai_output,started_at,decided_at\n"
	for _, c := range []struct{ body, want string }{
		{"c1,p1,wihout,yes,yes,,,\n", `decisions.csv:2:7: condition is "wihout"; write "with" or "without"`},
		{"c1,p1,with,yes,,yes,,\n", "decisions.csv:2:16: reference is empty; every row needs one"},
		{",p1,with,yes,yes,yes,,\n", "decisions.csv:2:1: case is empty; every row needs one"},
		{"c1,p1,with,yes,yes,yes,,\nc1,p2,with,yes,no,yes,,\n", `decisions.csv:3:16: the reference of case "c1" is "no" here and "yes" at decisions.csv:2:16; a case has one reference`},
		{"c1,p1,with,yes,yes,yes,,\nc1,p1,with,no,yes,yes,,\n", "decisions.csv:3: the same case, reviewer and condition as at decisions.csv:2; a person decides a case once in a condition"},
		{"c1,p1,with,yes,yes,yes,20,10\n", "decisions.csv:2:27: decided_at is before started_at; a decision cannot take negative time"},
		{"c1,p1,with,yes,yes,yes,2026-01-01T10:00,30\n", "decisions.csv:2:41: decided_at is seconds, but the time at decisions.csv:2:24 is ISO 8601; write all times of a study in one way"},
		{"c1,p1,with,yes,yes,yes,yesterday,\n", `decisions.csv:2:24: started_at: found "yesterday"`},
	} {
		_, err := tryAnswer(differencePolicy, header+c.body)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.body, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "p1") {
			t.Errorf("%q: the message names a reviewer: %v", c.body, err)
		}
	}
}

// TestPolicyErrors: rules that this gate cannot decide are refused where they are written.
func TestPolicyErrors(t *testing.T) {
	for _, c := range []struct{ policy, want string }{
		{"rules: [{id: r, metric: decision_time, maximum: 1}]", "policy.yaml:1:25: decision_time is reported, never a rule"},
		{"rules: [{id: r, metric: system_accuracy, minimum: 0.5, per: person}]", "policy.yaml:1:61: system_accuracy has no per-person form"},
		{"rules: [{id: r, metric: accuracy_difference, minimum: 0, per: person}]", "policy.yaml:1:63: accuracy_difference counts each person once already"},
		{"rules: [{id: r, metric: agreement, minimum: 0.5, generalize: people_and_cases}]", "policy.yaml:1:62: generalize is for accuracy_difference"},
		{"rules: [{id: r, metric: accuracy_difference, minimum: 0, generalize: people_and_cases, looks: repeated}]", "generalize: people_and_cases holds at one look"},
		{"rules: [{id: r, metric: agreement, minimum: 0.5, looks: once, planned: 8}]", "looks: once fixes the number of units of a mean"},
		{"rules: [{id: r, metric: over_relianc, maximum: 0.5}]", `did you mean "over_reliance"?`},
		{"desing: crossed\n" + differencePolicy, `unknown key "desing"`},
		{"columns: {reviwer: who}\n" + differencePolicy, `policy.yaml:1:11: columns: human-ai reads no column "reviwer"`},
	} {
		_, err := tryAnswer(c.policy, "case,reviewer,condition,decision,reference,ai_output\nc1,p1,with,yes,yes,yes\n")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.policy, err, c.want)
		}
	}
}

// TestGeneralize: the pairing average decides over people and cases, is wider than people alone on the same data, and
// is a person's to decide where the conditions were visibly not drawn by a fair coin.
func TestGeneralize(t *testing.T) {
	var b strings.Builder
	for p := range 60 {
		for c := range 60 {
			first, second := "no", "yes"
			if (p*7+c*11)%10 == 0 {
				first, second = second, first
			}
			fmt.Fprintf(&b, "c%d,p%d,without,%s,yes,,,,\nc%d,p%d,with,%s,yes,yes,,,\n", c, p, first, c, p, second)
		}
	}
	g := answer(t, "rules: [{id: a, metric: accuracy_difference, minimum: 0.2, generalize: people_and_cases}, {id: b, metric: accuracy_difference, minimum: 0.2}]", b.String())
	both, people := g.Rules[0], g.Rules[1]
	if both.Verdict != report.Pass || both.Interval.Method != interval.MethodPairingAverage || both.Interval.Looks != interval.LooksOne {
		t.Errorf("generalized: %s by %s, want PASS by pairing-average", both.Verdict, both.Interval.Method)
	}
	if *both.Estimate != *people.Estimate || both.Interval.Width() <= people.Interval.Width() {
		t.Errorf("generalized: estimate %v, width %v; people only: %v, %v", *both.Estimate, both.Interval.Width(), *people.Estimate, people.Interval.Width())
	}
	unfair := people60(45, 15)
	r := ruleOf(t, answer(t, "rules: [{id: a, metric: accuracy_difference, minimum: 0, generalize: people_and_cases}]", unfair))
	if r.Verdict != report.ManualReview || !strings.Contains(r.Reason, "fair coin") {
		t.Errorf("three decisions with for one without: %s (%s), want MANUAL_REVIEW", r.Verdict, r.Reason)
	}
}

// people60 writes twenty people who decide so many cases with the output and so many without, all right.
func people60(nWith, nWithout int) string {
	body := ""
	for i := range 20 {
		p := fmt.Sprintf("p%d", i)
		body += decided(p, with, 0, nWith, nWith, 0) + decided(p, without, 100, nWithout, nWithout, 0)
	}
	return body
}

// TestSpreadOfGains: people's own gains, without names and in order, stand with the difference among the measures, and in no rule. Ann has 1 of
// 1 with and 0 of 1 without (the other is missing): 1. Bo has 1 of 2 and 1 of 1: -0.5. Cy has nothing recorded without: no gain. With
// min_shown there is none, since each is one person's.
func TestSpreadOfGains(t *testing.T) {
	const rows = "c1,ann,with,y,y,y,,,\nc2,ann,without,n,y,,,,\nc3,ann,without,,y,,,,\n" +
		"c1,bo,with,y,y,y,,,\nc2,bo,with,n,y,y,,,\nc3,bo,without,y,y,,,,\n" +
		"c1,cy,with,y,y,y,,,\nc2,cy,without,,y,,,,\n"
	const rules = "rules: [{id: r, metric: accuracy_difference, minimum: 0}]"
	g := answer(t, rules, rows)
	if s := measure(t, g, accuracyDifference).Spread; s == nil || s.Units != 2 || !slices.Equal(s.Values, []float64{-0.5, 1}) {
		t.Errorf("the gains are %+v", s)
	}
	if ruleOf(t, g).Spread != nil {
		t.Error("the rule has them too")
	}
	if s := measure(t, answer(t, "min_shown: 1\n"+rules, rows), accuracyDifference).Spread; s != nil {
		t.Errorf("with min_shown the gains are %+v", s)
	}
}
