package humanai

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// wide is the width above which a study cannot decide a useful threshold.
const wide = 0.5

// locate adds where the decisions of a finding stand.
func (t *Tally) locate(f *gate.Found, code string, keys []key) {
	for _, k := range keys {
		f.At(code, t.rows[k].pos)
	}
}

// findings points at what a person would want to know of the data, the gravest first.
func (s *study) findings(t *Tally, abstain map[string]bool, showReviewers bool) gate.Found {
	var f gate.Found
	named := func(people []string) string { // who, where names may be shown
		if !showReviewers || len(people) == 0 {
			return ""
		}
		return " (" + gate.Quoted(people) + ")"
	}

	switch {
	case s.design.name == sparse:
		f.Add("sparse_design", report.Warning, 1, "Most cases were decided once in each condition, by different people: the study is described, and no rule is decided.")
	case s.design.name == mixed:
		odd, kind := t.oddPairs()
		f.Add("mixed_design", report.Warning, max(1, len(odd)), // an assignment may be mixed where the file is not
			"Some people decided some cases once and others twice (%s); declare the design to have accuracy_difference decided, or correct the rows.", kind)
		t.locate(&f, "mixed_design", odd)
	}
	if s.design.contradicted {
		odd, kind := t.oddPairs()
		f.Add("design_contradicted", report.Warning, max(1, len(odd)), "The file does not follow the declared design, %s (%s).", s.design.name, kind)
		t.locate(&f, "design_contradicted", odd)
	}
	f.Add("wrong_order", report.Warning, len(s.wrongOrder),
		"In %s the times show the decision with the output before the one without; the one without must come first.", gate.Plural(len(s.wrongOrder), "pair", "pairs"))
	t.locate(&f, "wrong_order", s.wrongOrder)
	if s.design.name == beforeAfter {
		f.Add("order_unknown", report.Note, s.noOrder, "%s without times that differ: that the decision without the output came first cannot be seen.",
			gate.Plural(s.noOrder, "pair is", "pairs are"))
	}
	f.Add("overlapping_decisions", report.Warning, s.overlap,
		"In %s the one with the output was started before the one without was made: the output may have been seen too early.", gate.Plural(s.overlap, "pair of decisions", "pairs of decisions"))
	if s.design.name == crossed && nearlySparse(t.keys()) {
		f.Add("nearly_sparse", report.Warning, 1, "Most (case, condition) pairs hold a single decision: people and cases can hardly be told apart in this study.")
	}
	if how := s.whole(nil, policy.Judging{}).unfairCoin(); how != "" && s.design.name == crossed && !s.assigned {
		f.Add("split_not_random", report.Warning, 1, "%s: the split was hardly drawn at random for each person, and what differs between them counts as an effect of the output.", how)
	}
	s.departures(t, &f, named)
	s.absences(&f, named)

	var noOutput, ignored, silent []key
	for _, k := range t.keys() {
		r := t.rows[k]
		switch {
		case k.condition == with && !r.output.recorded:
			noOutput = append(noOutput, k)
		case k.condition == without && r.output.recorded:
			ignored = append(ignored, k)
		case k.condition == with && abstain[r.output.value]:
			silent = append(silent, k)
		}
	}
	f.Add("with_row_without_output", report.Warning, len(noOutput), "%s no ai_output although the output was on the screen: left out of the rates that need it.",
		gate.Plural(len(noOutput), "row `with` has", "rows `with` have"))
	t.locate(&f, "with_row_without_output", noOutput)
	f.Add("output_ignored", report.Note, len(ignored), "%s an ai_output although the output was not on the screen; it is ignored.", gate.Plural(len(ignored), "row `without` has", "rows `without` have"))
	f.Add("abstentions", report.Note, len(silent), "%s an output that the policy lists under `abstain`: left out of every rate about the system.", gate.Plural(len(silent), "row shows", "rows show"))

	several := t.outputs().several()
	f.Add("several_outputs", report.Warning, several, "%s several different outputs.", gate.Plural(several, "case was shown with", "cases were shown with"))

	perPerson := map[string]int{}
	for _, e := range s.entries {
		if !e.absent {
			perPerson[e.person]++
		}
	}
	var single []string
	for _, p := range sortedKeys(perPerson) {
		if perPerson[p] == 1 {
			single = append(single, p)
		}
	}
	f.Add("single_decision", report.Note, len(single), "%s a single decision%s.", gate.Plural(len(single), "person has", "people have"), named(single))
	if s.timed > 0 && s.durations == 0 {
		f.Add("no_durations", report.Note, s.timed, "%s a time, and none both started_at and decided_at: no decision time is measured.", gate.Plural(s.timed, "row has", "rows have"))
	}

	s.identical(t, &f)
	labels(t, abstain, &f, named)
	return f
}

// oddPairs returns the rows that keep a file from being of one design: of the people and cases decided once and
// those decided twice, the fewer; and says which they are.
func (t *Tally) oddPairs() (rows []key, kind string) {
	var once, twice []key
	pairs := 0
	for _, k := range t.keys() {
		if _, found := t.rows[key{k.person, k.item, k.condition.other()}]; !found {
			once = append(once, k)
			continue
		}
		twice = append(twice, k)
		if k.condition == with {
			pairs++
		}
	}
	if len(once) <= pairs {
		return once, gate.Plural(len(once), "pair of person and case once", "pairs of person and case once")
	}
	return twice, gate.Plural(pairs, "pair of person and case twice", "pairs of person and case twice")
}

// departures points at rows that are not as assigned, and at ids that the assignment does not know.
func (s *study) departures(t *Tally, f *gate.Found, named func([]string) string) {
	if !s.assigned {
		return
	}
	departed, people := make([]key, 0, len(s.departed)), map[string]bool{}
	for _, e := range s.departed {
		departed = append(departed, e.key)
		people[e.person] = true
	}
	f.Add("departs_from_assignment", report.Warning, len(departed), "%s not as assigned (another condition, or a case not assigned): left out of every measure%s.",
		gate.Plural(len(departed), "row is", "rows are"), named(sortedKeys(people)))
	t.locate(f, "departs_from_assignment", departed)

	known, folded := map[string]bool{}, map[string]bool{}
	for _, p := range s.assignedPeople {
		known[p], folded[gate.Folded(p)] = true, true
	}
	var strangers []string
	alike := 0
	for _, p := range sortedKeys(people) {
		if known[p] {
			continue
		}
		strangers = append(strangers, p)
		if folded[gate.Folded(p)] {
			alike++
		}
	}
	hint := "their rows are left out"
	switch {
	case len(strangers) > 0 && len(strangers) == len(s.people)-len(s.assignedPeople) && len(s.departed) == s.rows:
		hint = "no row of the decisions is in it: the assignment of another study?"
	case alike > 0:
		hint += fmt.Sprintf("; %d of them as somebody who is, but for letter case, spaces or Unicode form", alike)
	}
	f.Add("not_in_assignment", report.Warning, len(strangers), "%s not in the assignment; %s%s.", gate.Plural(len(strangers), "reviewer is", "reviewers are"), hint, named(strangers))
}

// absences points at decisions without a row and at people who did not decide in both conditions.
func (s *study) absences(f *gate.Found, named func([]string) string) {
	absent, arms := 0, map[string]*[2]int{}
	for _, e := range s.entries {
		if e.absent {
			absent++
		}
		if arms[e.person] == nil {
			arms[e.person] = &[2]int{}
		}
		arms[e.person][e.condition]++
	}
	required := "the declared design"
	if s.assigned {
		required = "the assignment"
	}
	f.Add("absent_decisions", report.Warning, absent, "%s required by %s %s no row: counted as missing, both ways.",
		gate.Plural(absent, "decision", "decisions"), required, map[bool]string{true: "has", false: "have"}[absent == 1])
	var oneArmed []string
	for _, p := range sortedKeys(arms) {
		if arms[p][with] == 0 || arms[p][without] == 0 {
			oneArmed = append(oneArmed, p)
		}
	}
	decided := gate.Plural(len(oneArmed), "person decided", "people decided")
	switch {
	case s.bothArms:
		f.Add("missing_arm", report.Warning, len(oneArmed), "%s in one condition only: the other half counts as missing, both ways%s.", decided, named(oneArmed))
	case len(oneArmed) < len(arms):
		f.Add("one_condition_people", report.Warning, len(oneArmed), "%s in one condition only, and accuracy_difference leaves them out; declare `design: crossed` if each was to decide in both%s.", decided, named(oneArmed))
	}
}

// identical points at reviewers whose decisions are the same on all their cases: a team that discusses cases
// is one reviewer.
func (s *study) identical(t *Tally, f *gate.Found) {
	answers := map[string][]string{}
	for _, k := range t.keys() {
		r := t.rows[k]
		if r.decision.recorded {
			answers[k.person] = append(answers[k.person], k.item+"\x00"+r.decision.value)
		}
	}
	same := map[string]int{}
	for _, list := range answers {
		if len(list) > 1 {
			same[strings.Join(list, "\x01")]++
		}
	}
	people := 0
	for _, n := range same {
		if n > 1 {
			people += n
		}
	}
	f.Add("identical_reviewers", report.Warning, people, "%s the same decisions as another on all their cases; people who decide together count as one reviewer.", gate.Plural(people, "person has", "people have"))
}

// labels points at labels that look like one label written in several ways, at constant columns and at
// outputs that no decision ever equals.
func labels(t *Tally, abstain map[string]bool, f *gate.Found, named func([]string) string) {
	all, decisions, references, outputs := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	people, cases, conditions := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for k, r := range t.rows {
		people[k.person], cases[k.item], conditions[k.condition.String()] = true, true, true
		if r.decision.recorded {
			all[r.decision.value], decisions[r.decision.value] = true, true
		}
		if k.condition == with && r.output.recorded {
			all[r.output.value], outputs[r.output.value] = true, true
		}
		ref := t.references[k.item].value
		all[ref], references[ref] = true, true
	}
	gate.AddForms(f, "labels_differ_only_in_form", "labels", all)
	gate.AddForms(f, "cases_differ_only_in_form", "case ids", cases)
	for _, group := range gate.Forms(people) { // counted, and named only where that was asked for
		f.Add("reviewers_differ_only_in_form", report.Warning, len(group), "%d reviewers differ only in letter case, spaces or Unicode form: one person under several names counts several times%s.",
			len(group), named(group))
	}
	for _, c := range []struct {
		name   string
		values map[string]bool
	}{{"decision", decisions}, {"reference", references}, {"ai_output", outputs}} {
		if len(c.values) == 1 && len(t.rows) > 1 {
			f.Add("constant_column", report.Note, 1, "Every recorded %s is %s.", c.name, diag.Quote(sortedKeys(c.values)[0]))
		}
	}
	if len(conditions) == 1 {
		f.Add("one_condition", report.Warning, 1, "Every row is `%s`: how people decide in the other condition is not in the file.", sortedKeys(conditions)[0])
	}
	missing := t.likelyMissing()
	f.Add("likely_missing", report.Warning, missing.count, "%s %s, which no reference and no output equals, and %s as wrong: if it means that nothing was recorded, list it under `missing_values`.",
		gate.Plural(missing.count, "decision is", "decisions are"), gate.Quoted(missing.values), map[bool]string{true: "counts", false: "count"}[missing.count == 1])
	var unused []string
	for a := range abstain {
		if !outputs[a] {
			unused = append(unused, a)
		}
	}
	slices.Sort(unused)
	f.Add("abstain_unused", report.Warning, len(unused), "No ai_output is %s, which the policy lists under `abstain`.", gate.Quoted(unused))
	var never []string
	for _, o := range sortedKeys(outputs) {
		if !decisions[o] && !abstain[o] {
			never = append(never, o)
		}
	}
	f.Add("output_never_decided", report.Warning, len(never),
		"No decision ever equals the %s %s: the system counts as wrong there. If it commits to nothing, list it under `abstain` in the policy.",
		map[bool]string{true: "output", false: "outputs"}[len(never) == 1], gate.Quoted(never))
}

// likely is decisions that look as if they meant "not recorded".
type likely struct {
	count  int
	values []string
}

// likelyMissing returns the decisions that are a marker of "not recorded" and that no reference and no output equals:
// as a label they can never be right.
func (t *Tally) likelyMissing() likely {
	used := map[string]bool{}
	for k, r := range t.rows {
		used[t.references[k.item].value] = true
		if k.condition == with && r.output.recorded {
			used[r.output.value] = true
		}
	}
	count, values := 0, map[string]bool{}
	for _, r := range t.rows {
		d := r.decision
		if d.recorded && !used[d.value] && gate.Marker(d.value) {
			count++
			values[d.value] = true
		}
	}
	return likely{count, sortedKeys(values)}
}
