package humanai

import (
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
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
	name := func(people []string) string {
		if !showReviewers || len(people) == 0 {
			return ""
		}
		shown := make([]string, 0, len(people))
		for _, p := range people {
			shown = append(shown, diag.Quote(p))
		}
		return " (" + strings.Join(shown, ", ") + ")"
	}

	switch {
	case s.design.name == sparse:
		f.Add("sparse_design", report.Warning, 1, "Most cases were decided once in each condition, by different people: the study is described, and no rule is decided.")
	case s.design.name == mixed:
		f.Add("mixed_design", report.Warning, 1, "Some people decided some cases once and others twice; declare the design to have accuracy_difference decided.")
	}
	if s.design.contradicted {
		f.Add("design_contradicted", report.Warning, 1, "The file does not follow the declared design (%s).", s.design.name)
	}
	f.Add("wrong_order", report.Warning, len(s.wrongOrder),
		"In %s the times show the decision with the output before the one without; the one without must come first.", gate.Plural(len(s.wrongOrder), "pair", "pairs"))
	t.locate(&f, "wrong_order", s.wrongOrder)
	if s.design.name == beforeAfter {
		f.Add("order_unknown", report.Note, s.noOrder, "%s without times: that the decision without the output came first cannot be seen.",
			gate.Plural(s.noOrder, "pair is", "pairs are"))
	}
	f.Add("overlapping_decisions", report.Warning, s.overlap,
		"In %s the one with the output was started before the one without was made: the output may have been seen too early.", gate.Plural(s.overlap, "pair of decisions", "pairs of decisions"))
	if s.design.name == crossed && nearlySparse(t.keys()) {
		f.Add("nearly_sparse", report.Warning, 1, "Most (case, condition) pairs hold a single decision: people and cases can hardly be told apart in this study.")
	}
	f.Add("departs_from_assignment", report.Warning, len(s.departed), "%s not as assigned (another condition, or a case not assigned): left out of every measure.",
		gate.Plural(len(s.departed), "row is", "rows are"))
	departed := make([]key, 0, len(s.departed))
	for _, e := range s.departed {
		departed = append(departed, e.key)
	}
	t.locate(&f, "departs_from_assignment", departed)

	absent, arms := 0, map[string]*[2]int{}
	perPerson := map[string]int{}
	for _, e := range s.entries {
		if e.absent {
			absent++
		} else {
			perPerson[e.person]++
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
	f.Add("absent_decisions", report.Warning, absent, "%s %s requires no row holds: counted as missing, both ways.",
		gate.Plural(absent, "decision that", "decisions that"), required)
	if s.bothArms {
		n := 0
		for _, a := range arms {
			if a[with] == 0 || a[without] == 0 {
				n++
			}
		}
		f.Add("missing_arm", report.Warning, n, "%s in one condition only: the other arm counts as missing, both ways.", gate.Plural(n, "person decided", "people decided"))
	}

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

	several := 0
	for _, outs := range t.outputs() {
		if len(outs) > 1 {
			several++
		}
	}
	f.Add("several_outputs", report.Warning, several, "%s several different outputs.", gate.Plural(several, "case was shown with", "cases were shown with"))

	var single []string
	for _, p := range sortedKeys(perPerson) {
		if perPerson[p] == 1 {
			single = append(single, p)
		}
	}
	f.Add("single_decision", report.Note, len(single), "%s a single decision%s.", gate.Plural(len(single), "person has", "people have"), name(single))

	s.identical(t, &f)
	labels(t, abstain, &f)
	return f
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
func labels(t *Tally, abstain map[string]bool, f *gate.Found) {
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
	if n := len(gate.Forms(people)); n > 0 { // reviewers are counted, never named
		f.Add("reviewers_differ_only_in_form", report.Warning, n, "%s only in letter case, spaces or Unicode form: one person under two names counts twice.",
			gate.Plural(n, "group of reviewers differs", "groups of reviewers differ"))
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
