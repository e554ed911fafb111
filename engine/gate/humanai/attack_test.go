package humanai

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// A study made to pass while its true answer is no, or unknown: each once came to PASS, or would with a simpler program.

// TestGeneralizeNeedsTheCoin: experts who decide with the output and novices who decide without it differ by who they
// are. With all of one kind in one condition too many people are in one condition; with nine in ten, the split of the
// people is visibly no coin's; with the cases so split, the cases'.
func TestGeneralizeNeedsTheCoin(t *testing.T) {
	const rule = "rules: [{id: a, metric: accuracy_difference, minimum: 0, generalize: people_and_cases}]"
	study := func(n int, withOutput func(p, c int) bool, right func(p, c int) bool) string {
		var b strings.Builder
		for p := range n {
			for c := range n {
				condition, decision := "without", "no"
				if withOutput(p, c) {
					condition = "with"
				}
				if right(p, c) {
					decision = "yes"
				}
				fmt.Fprintf(&b, "c%d,p%d,%s,%s,yes,no,,,\n", c, p, condition, decision)
			}
		}
		return b.String()
	}
	expert := func(p, _ int) bool { return p%2 == 0 }
	for name, c := range map[string]struct {
		body    string
		verdict report.Verdict
		reason  string
	}{
		"all of a kind in one condition": {study(16, expert, expert), report.InsufficientEvidence, "16 of 16 people did not decide in both conditions"},
		"nine in ten": {study(40, func(p, c int) bool { return expert(p, c) == ((p+c)%10 != 0) }, expert), report.ManualReview,
			"Some people decided nearly all of their cases with the output"},
		"easy cases with": {study(40, func(p, c int) bool { return (c < 20) == ((p+c)%10 != 0) }, func(_, c int) bool { return c < 20 }), report.ManualReview,
			"Some cases were decided nearly always with the output"},
	} {
		r := ruleOf(t, answer(t, rule, c.body))
		if r.Verdict != c.verdict || !strings.Contains(r.Reason, c.reason) {
			t.Errorf("%s: %s (%s), want %s (%s)", name, r.Verdict, r.Reason, c.verdict, c.reason)
		}
	}
	// The plain rule speaks of the study's own cases; a split that no draw makes is pointed at.
	easy := study(40, func(_, c int) bool { return c < 20 }, func(_, c int) bool { return c < 20 })
	if g := answer(t, differencePolicy, easy); !hasFinding(g, "split_not_random") {
		t.Errorf("easy cases with, hard ones without: no finding (%v)", g.Findings)
	}
	// A drawn split is not: half of each person's cases at random (here by a multiplicative hash).
	drawn := study(40, func(p, c int) bool { return (uint32(p*40+c+1)*2654435761)>>31 == 1 }, expert)
	if g := answer(t, differencePolicy, drawn); hasFinding(g, "split_not_random") {
		t.Error("a drawn split is called not random")
	}
}

// TestSliceRecordedWhereItSuits: a column filled in only on favourable rows is no slice.
func TestSliceRecordedWhereItSuits(t *testing.T) {
	var b strings.Builder
	for p := range 60 {
		for c := range 20 {
			condition, decision, site := "without", "no", ""
			if (p+c)%2 == 0 {
				condition = "with"
			}
			if (p*7+c*3)%4 < 2 {
				decision = "yes"
			}
			if (condition == "with") == (decision == "yes") {
				site = "Lyon"
			}
			fmt.Fprintf(&b, "c%d,p%d,%s,%s,yes,yes,,,%s\n", c, p, condition, decision, site)
		}
	}
	for _, rule := range []string{"metric: accuracy_difference, minimum: 0", "metric: accuracy_with, minimum: 0.5, per: person"} {
		r := ruleOf(t, answer(t, "rules: [{id: a, "+rule+", where: {site: Lyon}}]", b.String()))
		if r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, "decisions are left out, more than max_left_out allows (0.10)") {
			t.Errorf("%s: %s (%s), want INSUFFICIENT_EVIDENCE for the rows that record no site", rule, r.Verdict, r.Reason)
		}
	}
}

// TestOutputsBlankedWhereTheyHurt: people follow four of five wrong suggestions, and the outputs are blank exactly there.
func TestOutputsBlankedWhereTheyHurt(t *testing.T) {
	var b strings.Builder
	for p := range 60 {
		for c := range 10 {
			decision, output := "yes", "no" // the output is wrong, and not followed
			if c%5 != 0 {
				decision, output = "no", "" // it was, and it is not recorded
			}
			fmt.Fprintf(&b, "c%d,p%d,with,%s,yes,%s,,,\n", c, p, decision, output)
		}
	}
	for _, extra := range []string{"", ", per: person", ", per: person, max_left_out: 0"} {
		r := ruleOf(t, answer(t, "rules: [{id: a, metric: over_reliance, maximum: 0.5"+extra+"}]", b.String()))
		if r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, "480 of 600 decisions are left out") {
			t.Errorf("over_reliance%s: %s (%s), want INSUFFICIENT_EVIDENCE", extra, r.Verdict, r.Reason)
		}
	}
}

// TestMarkersOfMissingValues: "n/a" as a decision can never be right, so that missing decisions without the output look
// like a gain. The rule is for a person until the policy says what the marker means.
func TestMarkersOfMissingValues(t *testing.T) {
	body := strings.ReplaceAll(people(20, make40(20, 8)...), ",without,no,", ",without,n/a,")
	r := ruleOf(t, answer(t, differencePolicy, body))
	if r.Verdict != report.ManualReview || !strings.Contains(r.Reason, `480 decisions are "n/a"`) {
		t.Errorf("n/a: %s (%s), want MANUAL_REVIEW", r.Verdict, r.Reason)
	}
	said := ruleOf(t, answer(t, "missing_values: [n/a]\n"+differencePolicy, body))
	if said.Verdict != report.InsufficientEvidence || *said.Missing != 480 {
		t.Errorf("missing_values: %s with %d missing, want INSUFFICIENT_EVIDENCE with 480", said.Verdict, *said.Missing)
	}
	// A verdict that the markers do not turn stands: people who are always wrong with the output.
	harm := strings.Replace(people(20, make40(0, 16)...), ",with,no,", ",with,unknown,", 1)
	if r := ruleOf(t, answer(t, differencePolicy, harm)); r.Verdict != report.Fail {
		t.Errorf("one unknown among total harm: %s (%s), want FAIL", r.Verdict, r.Reason)
	}
	// As a label that references use, it is one.
	label := strings.ReplaceAll(strings.ReplaceAll(body, ",yes,yes", ",none,none"), ",yes,", ",none,")
	if g := answer(t, differencePolicy, strings.ReplaceAll(label, "n/a", "none")); hasFinding(g, "likely_missing") {
		t.Error("a label that references use is called a marker")
	}
}

// make40 is forty people with so many right in each condition.
func make40(withRight, withoutRight int) [][2]int {
	list := make([][2]int, 40)
	for i := range list {
		list[i] = [2]int{withRight, withoutRight}
	}
	return list
}

// TestSlicesByOutcomeAreRefused: conditioning on what is measured selects the result.
func TestSlicesByOutcomeAreRefused(t *testing.T) {
	for column, metric := range map[string]string{"decision": "accuracy_with", "condition": "accuracy_difference", "decided_at": "agreement", "ai_output": "accuracy_difference"} {
		_, err := tryAnswer("rules: [{id: a, metric: "+metric+", minimum: 0.5, where: {"+column+": \"yes\"}}]", "case,reviewer,condition,decision,reference,ai_output\nc,p,with,yes,yes,yes\n")
		if err == nil || !strings.Contains(err.Error(), "where: "+column+" is what the study measures") {
			t.Errorf("%s by %s: %v", metric, column, err)
		}
	}
	_, err := tryAnswer("columns: {decision: reference}\n"+differencePolicy, "case,reviewer,condition,decision,reference,ai_output\nc,p,with,yes,yes,yes\n")
	if err == nil || !strings.Contains(err.Error(), `columns: decision and reference would both be read from the column "reference"`) {
		t.Errorf("one column read as two: %v", err)
	}
}

// TestAbsentDecisionsStayWithTheirGroup: people of one site never answer some cases, so that all rows of those cases are
// the other site's. Their absent decisions must not move there.
func TestAbsentDecisionsStayWithTheirGroup(t *testing.T) {
	q := &question{tally: newTally(1, false)}
	diags := &diag.List{}
	var assigned []key
	for p := range 8 {
		site := []string{"Lyon", "Paris"}[p%2]
		for c := range 10 {
			k := key{person: fmt.Sprint("p", p), item: fmt.Sprint("c", c), condition: condition((p/2 + c) % 2)}
			assigned = append(assigned, k)
			if site == "Paris" && c < 6 {
				continue // skipped by all of Paris
			}
			q.tally.add(k, row{decision: text{"yes", true}, output: text{"yes", true}, where: []text{{site, true}}}, "yes", diags)
		}
	}
	s := newStudy(q.tally, assigned, "")
	absent := map[string]int{}
	for _, site := range []string{"Lyon", "Paris"} {
		for _, e := range s.whole(nil, policy.Judging{}.WithDefaults()).sliced([]gate.Term{{Column: 0, Value: site}}, site).entries {
			if e.absent {
				absent[site]++
			}
		}
	}
	if absent["Paris"] != 24 || absent["Lyon"] != 24 { // four people times six cases, kept in both since it cannot be told
		t.Errorf("absent decisions by slice: %v, want 24 in each", absent)
	}
}

// TestRowsInBothConditionsAreEnough: people whose decisions on one side are all missing enter the interval; where it decides
// all the same, the rule is decided.
func TestRowsInBothConditionsAreEnough(t *testing.T) {
	body := ""
	for i := range 60 {
		p, missing := fmt.Sprint("p", i), 5
		if i == 0 {
			missing = 0
		}
		body += decided(p, with, 0, 5, 0, 0) + decided(p, without, 100, 5, 5, missing)
	}
	r := ruleOf(t, answer(t, "rules: [{id: a, metric: accuracy_difference, minimum: 0.3}]", body))
	if r.Verdict != report.Fail {
		t.Errorf("%s (%s), interval up to %v; want FAIL", r.Verdict, r.Reason, *r.Interval.Upper)
	}
}

// TestWrittenDefaultChangesNothing: max_left_out as it is by default, in a slice whose other people are not of it; a plan of
// a slice counts its own people.
func TestWrittenDefaultChangesNothing(t *testing.T) {
	body := ""
	for i := range 40 {
		site := "Paris"
		if i < 10 {
			site = "Lyon"
		}
		body += strings.ReplaceAll(decided(fmt.Sprint("p", i), with, 0, 10, 10, 0)+decided(fmt.Sprint("p", i), without, 100, 10, 10, 0), ",,,\n", ",,,"+site+"\n")
	}
	for _, extra := range []string{"", ", max_left_out: 0.1"} {
		r := ruleOf(t, answer(t, "rules: [{id: a, metric: accuracy_with, per: person, minimum: 0.4, where: {site: Lyon}"+extra+"}]", body))
		if r.Verdict != report.Pass || len(r.LeftOut) != 0 {
			t.Errorf("%q: %s (%s), left out %v; want PASS of the ten", extra, r.Verdict, r.Reason, r.LeftOut)
		}
	}
	r := ruleOf(t, answer(t, "rules: [{id: a, metric: accuracy_with, per: person, minimum: 0.4, where: {site: Lyon}, looks: once, planned: 10}]", body))
	if r.Verdict != report.Pass || r.Interval.Method != interval.MethodDirichlet {
		t.Errorf("ten planned in a slice of ten: %s by %s (%s)", r.Verdict, r.Interval.Method, r.Reason)
	}
}

// TestPooledRateWithAMissingArm: in a study declared crossed, nobody knows how many decisions a missing arm lacks.
func TestPooledRateWithAMissingArm(t *testing.T) {
	body := ""
	for i := range 60 {
		if i < 30 {
			body += decided(fmt.Sprint("p", i), with, i*10, 1, 1, 0)
		}
		body += decided(fmt.Sprint("p", i), without, 1000+i*10, 1, 1, 0)
	}
	r := ruleOf(t, answer(t, "design: crossed\nrules: [{id: a, metric: accuracy_with, minimum: 0.8}]", body))
	if r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, "30 people have no decision in this condition") {
		t.Errorf("%s (%s), want INSUFFICIENT_EVIDENCE", r.Verdict, r.Reason)
	}
}

// TestNeedsAtTheThreshold: an estimate at the threshold decides at no size; and a reviewer is not named by a slice.
func TestNeedsAtTheThreshold(t *testing.T) {
	body := ""
	for i := range 40 {
		body += decided(fmt.Sprint("p", i), with, 0, 10, 3, 0) + decided(fmt.Sprint("p", i), without, 100, 10, 3, 0)
	}
	r := ruleOf(t, answer(t, "rules: [{id: a, metric: accuracy_with, per: person, maximum: 0.3}]", body))
	if r.Needs == nil || r.Needs.AtLeast != 0 || !strings.HasPrefix(r.Needs.What, "other data") {
		t.Errorf("needs %+v, want other data", r.Needs)
	}
	r = ruleOf(t, answer(t, "rules: [{id: a, metric: accuracy_with, per: person, maximum: 0.3, where: {reviewer: nobody}}]", body))
	if strings.Contains(r.Reason, "p1") || !strings.Contains(r.Reason, "no row has that reviewer") {
		t.Errorf("the reason names reviewers: %s", r.Reason)
	}
}

// TestDeparturesOfASlice: half of a slice is not as assigned, which is little of the whole file.
func TestDeparturesOfASlice(t *testing.T) {
	tally, diags := newTally(1, false), &diag.List{}
	var assigned []key
	for p := range 220 {
		site := "Paris"
		if p < 20 {
			site = "Lyon"
		}
		for c := range 4 {
			k := key{person: fmt.Sprint("p", p), item: fmt.Sprint("c", c), condition: condition((p + c) % 2)}
			if p >= 10 {
				assigned = append(assigned, k)
			}
			tally.add(k, row{decision: text{"yes", true}, where: []text{{site, true}}}, "yes", diags)
		}
	}
	whole := newStudy(tally, assigned, "").whole(nil, policy.Judging{}.WithDefaults())
	if how := whole.designDoubt().Why; how != "" {
		t.Errorf("40 of 880 rows depart, and the whole is undecided: %s", how)
	}
	lyon := whole.sliced([]gate.Term{{Column: 0, Value: "Lyon"}}, "site=Lyon")
	if how := lyon.designDoubt().Why; !strings.HasPrefix(how, "40 of 80 rows depart") {
		t.Errorf("40 of 80 rows of the slice depart: %q", how)
	}
	if g := lyon.gains(); g.people != 20 || g.oneArmed != 10 {
		t.Errorf("%d people, %d left out; want 20, 10", g.people, g.oneArmed)
	}
}

// mixedAssignment gives each of 40 people one case in both conditions and another with the output only.
func mixedAssignment() string {
	text := "reviewer,case,condition,position\n"
	for p := range 40 {
		text += fmt.Sprintf("p%d,c1,without,1\np%d,c1,with,2\np%d,c%d,with,3\n", p, p, p, p%2+2)
	}
	return text
}

// TestMixedAssignmentIsNotCrossed: everybody saw the output first, was right, and then decided the same case wrongly without it. A
// mixed assignment declared crossed passed, since only a before_after study's pairs are held to their order.
func TestMixedAssignmentIsNotCrossed(t *testing.T) {
	var b strings.Builder
	for p := range 40 {
		fmt.Fprintf(&b, "c1,p%d,with,yes,yes,yes,,2026-01-01T10:00:00Z,\nc1,p%d,without,no,yes,,,2026-01-01T11:00:00Z,\nc%d,p%d,with,yes,yes,yes,,,\n", p, p, p%2+2, p)
	}
	for design, reason := range map[string]string{
		"design: crossed\n":      "does not follow the declared design (crossed)",
		"design: before_after\n": "the decision with the output came first",
		"":                       "declare the design",
	} {
		g := answer(t, design+differencePolicy, b.String(), gate.Flags{Assignment: "mixed.csv"})
		if r := ruleOf(t, g); r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, reason) {
			t.Errorf("%q: %s (%s), want INSUFFICIENT_EVIDENCE (%s)", design, r.Verdict, r.Reason, reason)
		}
		if found := hasFinding(g, "design_contradicted"); found != (design == "design: crossed\n") {
			t.Errorf("%q: design_contradicted is found: %v", design, found)
		}
	}
}

// TestLeftOutForSeveralReasons: of the 16 assigned decisions one has another condition, and one does not record its site. Each
// alone is less than a tenth; together, 2 of 17 with the decision that the first one left absent, they are more. A row that is not as
// assigned and records no site is left out for one of them, not for none.
func TestLeftOutForSeveralReasons(t *testing.T) {
	var rows []string
	for _, line := range strings.Split(strings.TrimSpace(assignmentText), "\n")[1:] {
		cell := strings.Split(line, ",")
		rows = append(rows, fmt.Sprintf("%s,%s,%s,yes,yes,yes,,,Lyon", cell[1], cell[0], cell[2]))
	}
	const rule = "rules: [{id: a, metric: accuracy_difference, minimum: 0, where: {site: Lyon}, max_left_out: "
	bare := func(row string) string { return strings.TrimSuffix(row, "Lyon") }
	decide := func(share string, rows []string) report.Rule {
		return ruleOf(t, answer(t, rule+share+"}]", strings.Join(rows, "\n")+"\n", gate.Flags{Assignment: "assignment.csv"}))
	}

	both := slices.Clone(rows)
	both[0], both[5] = strings.Replace(both[0], "with,", "without,", 1), bare(both[5])
	if r := decide("0.1", both); r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, "2 of 17 decisions are left out") {
		t.Errorf("two reasons together: %s (%s)", r.Verdict, r.Reason)
	}
	if r := decide("0.12", both); strings.Contains(r.Reason, "left out") {
		t.Errorf("2 of 17 is less than 0.12, but: %s", r.Reason)
	}

	one := slices.Clone(rows)
	one[0] = bare(strings.Replace(one[0], "with,", "without,", 1))
	r := decide("0.05", one) // 1 of 17 is more
	if r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, "1 of 17 decisions are left out") {
		t.Errorf("both reasons at once: %s (%s)", r.Verdict, r.Reason)
	}
	if want := []report.LeftOut{{Reason: reasonNoSlice, Count: 1}}; !slices.Equal(r.LeftOut, want) {
		t.Errorf("both reasons at once: left out %v, want %v", r.LeftOut, want)
	}
}

// TestMissingIsOfThoseWhoCount: a missing decision of somebody who is left out completes nothing.
func TestMissingIsOfThoseWhoCount(t *testing.T) {
	body := "c1,p1,with,yes,yes,yes,,,\nc2,p1,without,,yes,,,,\nc1,p2,without,no,yes,,,,\nc2,p2,with,yes,yes,yes,,,\nc1,p3,with,,yes,yes,,,\n"
	if m := measure(t, answer(t, differencePolicy, body), "accuracy_difference"); *m.Units != 2 || *m.Missing != 1 {
		t.Errorf("%d people and %d missing, want 2 and 1: p3, with one condition, is left out", *m.Units, *m.Missing)
	}
}

// TestPairsOfAMixedAssignment: whether most pairs of person and case are empty is asked of pairs, of which some have one decision.
func TestPairsOfAMixedAssignment(t *testing.T) {
	v := &view{study: &study{design: design{name: beforeAfter}}}
	for i := range 8 { // 4 people and 8 cases: a quarter of the 32 pairs
		v.entries = append(v.entries, entry{key: key{person: fmt.Sprint("p", i%4), item: fmt.Sprint("c", i), condition: with}})
	}
	v.entries = append(v.entries, entry{key: key{person: "p0", item: "c0", condition: without}})
	if v.mostlyEmpty() {
		t.Error("8 of 32 pairs have a decision, and are called fewer than a quarter")
	}
	v.entries = v.entries[1:8] // 7 pairs, with 4 people and 7 cases: exactly a quarter again
	if v.mostlyEmpty() {
		t.Error("7 of 28 pairs have a decision, and are called fewer than a quarter")
	}
	v.entries = append(v.entries, entry{key: key{person: "p9", item: "c1", condition: without}}) // 8 of 35
	if !v.mostlyEmpty() {
		t.Error("8 of 35 pairs have a decision, and are not called fewer than a quarter")
	}
}
