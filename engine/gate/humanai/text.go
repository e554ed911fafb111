package humanai

import (
	"fmt"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// designNames are the designs as a sentence starts with them.
var designNames = map[string]string{
	crossed: "Crossed study", beforeAfter: "Before-and-after study", sparse: "Sparse study", mixed: "Mixed study",
}

// counts is what was read, by condition.
type counts struct {
	decisions       [2]int // by condition, absent ones included
	missing, absent int
	both            int    // people with decisions in both conditions
	onlyOneArm      [2]int // people in one condition only, by condition
}

// counted counts the study's decisions and people.
func (s *study) counted() counts {
	var c counts
	arms := map[string]*[2]bool{}
	for _, e := range s.entries {
		c.decisions[e.condition]++
		switch {
		case e.absent:
			c.absent++
		case !e.decision.recorded:
			c.missing++
		}
		if arms[e.person] == nil {
			arms[e.person] = &[2]bool{}
		}
		arms[e.person][e.condition] = true
	}
	for _, a := range arms {
		switch {
		case a[with] && a[without]:
			c.both++
		case a[with]:
			c.onlyOneArm[with]++
		default:
			c.onlyOneArm[without]++
		}
	}
	return c
}

// data is the counts of what was read, for the report.
func (s *study) data() report.Data {
	c := s.counted()
	return report.Data{
		{Name: "rows", Count: s.rows},
		{Name: "people", Count: len(s.people)},
		{Name: "cases", Count: s.cases},
		{Name: "decisions", Count: c.decisions[with] + c.decisions[without]},
		{Name: "decisions_with", Count: c.decisions[with]},
		{Name: "decisions_without", Count: c.decisions[without]},
		{Name: "missing_decisions", Count: c.missing},
		{Name: "absent_decisions", Count: c.absent},
		{Name: "people_in_both_conditions", Count: c.both},
		{Name: "people_with_only", Count: c.onlyOneArm[with]},
		{Name: "people_without_only", Count: c.onlyOneArm[without]},
	}
}

// summary is one sentence on the data.
func (s *study) summary() string {
	c := s.counted()
	text := fmt.Sprintf("%s: %s, %s, %s (%d with, %d without), %d missing",
		designNames[s.design.name], gate.Plural(len(s.people), "person", "people"), gate.Plural(s.cases, "case", "cases"),
		gate.Plural(c.decisions[with]+c.decisions[without], "decision", "decisions"), c.decisions[with], c.decisions[without], c.missing+c.absent)
	if c.absent > 0 {
		text += fmt.Sprintf(" (%d of them without a row)", c.absent)
	}
	return text + "."
}

// assumptions are what the answer rests on and the file cannot show.
func assumptions(s *study) []string {
	list := []string{"Each person decided alone; a team that discusses cases is one person."}
	switch {
	case s.design.name == beforeAfter && s.noOrder > 0:
		list = append(list, "Each person decided every case without the output first; the file has no times that show it for every pair.")
	case s.design.name == beforeAfter:
		list = append(list, "Each person decided every case without the output first.")
	default:
		list = append(list, "Which cases a person decided with the output, and in what order, was drawn at random for each person.")
	}
	return append(list, "The references were decided independently of these people and of the system.")
}

// limits are what the study cannot tell (the last section of the source document).
func limits(s *study) []string {
	list := []string{
		"Holds for people like those in the study, on cases like these; people trained otherwise, or chosen because they like the system, are another population.",
	}
	if s.design.name == beforeAfter {
		list = append(list, "A before-and-after study measures a second look with the output against a first look without it, not the output alone.")
	}
	switch {
	case s.assigned:
	case s.design.name == beforeAfter:
		list = append(list, "People without any row, and cases that a person never reached, cannot be seen without --assignment.")
	default:
		list = append(list, "Decisions that were asked for and have no row cannot be seen without --assignment: those who stopped may be those it harmed.")
	}
	return append(list,
		"People who know they are studied may check the system more carefully than at work.",
		"The references are taken as right; where they come from the same people or from the system, this measures agreement, not accuracy.")
}

// ruleAssumptions are what a rule rests on beside its interval's conditions.
func ruleAssumptions(s *study, r *rule) []string {
	list := assumptions(s)
	switch {
	case r.Metric.Value == accuracyDifference && r.generalize:
		list = append(list, "The study's people and its cases were each drawn at random from those that the rule speaks of, apart from each other.")
		if s.design.name != beforeAfter {
			list = append(list, "Each decision was as likely to be made with the output as without it, and the draw for one person had no say in another's.")
		}
	case r.Metric.Value == accuracyDifference:
		list = append(list, "Speaks of the study's own cases.")
	}
	if r.slice != "" {
		list = append(list, gate.SliceAssumption)
	}
	return list
}

// tooWide says that a study cannot decide a useful threshold, and about how many people it would need.
func (v *view) tooWide(m measured, f *gate.Found) {
	width := m.Interval.Width()
	if width <= wide || m.Estimate == nil {
		return
	}
	text := fmt.Sprintf("The interval of accuracy_difference is %.2f wide: a study of this size cannot decide a useful threshold.", width)
	if gap := m.Completions.High - m.Completions.Low; gap >= wide {
		text += fmt.Sprintf(" What is missing alone leaves %.2f open, and no number of people closes that.", gap)
	} else if n, ok := m.people(func(iv interval.Interval) bool { return iv.Upper-iv.Lower <= wide }); ok {
		text += fmt.Sprintf(" An interval narrower than %.1f would take %s people in all, at the present spread.", wide, n)
	}
	f.Add("study_too_small", report.Warning, 1, "%s", text)
}
