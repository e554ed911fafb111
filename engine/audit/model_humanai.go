package audit

import (
	"fmt"
	"math/rand/v2"
)

// HumanAI is a study of people who decide cases with and without a system's output. There are two labels; the system is right in
// each case with one chance, and a person in each decision with a chance of their own, whatever the system says. So a decision that
// is wrong is the system's where the system is wrong, and departs from it where it is right.
//
// Truth: accuracy_difference and accuracy_difference/people_and_cases, and accuracy_with, accuracy_without, over_reliance,
// correct_override, harmful_override and agreement, each as the mean over people of their own; over people like these on the study's
// own cases, or, where each person has their own and for people_and_cases, on cases like these. Where each person has
// a single case of their own, the rates over all decisions are the same. system_accuracy is about cases like these.
type HumanAI struct {
	BeforeAfter bool // each person decides every case without, then with; else crossed: half of their cases either way, split at random
	OwnCases    bool // every person has cases of their own, so that decisions of different people have nothing in common
	People      int
	Cases       int // that each person decides
	// A person's chance to be right without the output, and by how much it rises with it; per case, what is added to the chance,
	// and to the rise. Each is independent of the others.
	Skills, Gains         Points
	CaseSkills, CaseGains Points
	SystemAccuracy        float64
	// The chance that a decision is not recorded, by whether it is right.
	MissingRight, MissingWrong float64
}

// Gate implements Model.
func (HumanAI) Gate() string { return "human-ai" }

// Settings implements Model.
func (m HumanAI) Settings() string {
	if m.BeforeAfter {
		return "design: before_after\n"
	}
	return "design: crossed\n"
}

// Check implements Model.
func (m HumanAI) Check() error {
	if m.People < 1 || m.Cases < 1 || len(m.Skills) == 0 {
		return fmt.Errorf("%d people with %d cases each; there has to be one, with a chance to be right", m.People, m.Cases)
	}
	low, high := m.Skills.ends()
	for _, p := range []Points{m.CaseSkills} {
		l, h := p.ends()
		low, high = low+l, high+h
	}
	if err := checkChance("the chance to be right without the output", low, high); err != nil {
		return err
	}
	for _, p := range []Points{m.Gains, m.CaseGains} {
		l, h := p.ends()
		low, high = low+l, high+h
	}
	if err := checkChance("the chance to be right with the output", low, high); err != nil {
		return err
	}
	if err := checkChance("the system's accuracy", m.SystemAccuracy, m.SystemAccuracy); err != nil {
		return err
	}
	if err := checkChance("the chance that a decision is missing", min(m.MissingRight, m.MissingWrong), max(m.MissingRight, m.MissingWrong)); err != nil {
		return err
	}
	return firstError(m.Skills.check("the skills"), m.Gains.check("the gains"), m.CaseSkills.check("the cases' skills"), m.CaseGains.check("the cases' gains"))
}

// firstError is the first that is one.
func firstError(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// Draw implements Model.
func (m HumanAI) Draw(r *rand.Rand, columns []string) Drawn {
	at := places(columns, "case", "reviewer", "condition", "decision", "reference", "ai_output")
	type drawnCase struct {
		name          string
		right, system string
		skill, gain   float64
	}
	labels := [2]string{"no", "yes"}
	cases := m.Cases
	if m.OwnCases {
		cases *= m.People
	}
	names := numbered("c", cases)
	list := make([]drawnCase, cases)
	for i := range list {
		truth := r.IntN(2)
		said := truth
		if !happens(r, m.SystemAccuracy) {
			said = 1 - truth
		}
		list[i] = drawnCase{names[i], labels[truth], labels[said], m.CaseSkills.draw(r), m.CaseGains.draw(r)}
	}
	people := numbered("p", m.People)
	study := make([][]string, 0, m.People*m.Cases*2)
	texts := make([]string, 0, m.People*m.Cases*2*len(columns))
	add := func(person string, c *drawnCase, with bool, chance float64) {
		texts = append(texts, make([]string, len(columns))...)
		row := texts[len(texts)-len(columns) : len(texts) : len(texts)]
		right := happens(r, chance)
		missing := m.MissingWrong
		decision := labels[0]
		if decision == c.right {
			decision = labels[1]
		}
		if right {
			missing, decision = m.MissingRight, c.right
		}
		if missing > 0 && happens(r, missing) {
			decision = ""
		}
		set(row, at[0], c.name)
		set(row, at[1], person)
		set(row, at[3], decision)
		set(row, at[4], c.right)
		if with {
			set(row, at[2], "with")
			set(row, at[5], c.system)
		} else {
			set(row, at[2], "without")
		}
		study = append(study, row)
	}
	for i, person := range people {
		own := list
		if m.OwnCases {
			own = list[i*m.Cases : (i+1)*m.Cases]
		}
		skill, gain := m.Skills.draw(r), m.Gains.draw(r)
		half := m.Cases / 2
		if m.Cases%2 == 1 {
			half += r.IntN(2)
		}
		var order []int
		if !m.BeforeAfter {
			order = r.Perm(m.Cases)
		}
		for j := range own {
			c := &own[j]
			without := skill + c.skill
			with := without + gain + c.gain
			switch {
			case m.BeforeAfter:
				add(person, c, false, without)
				add(person, c, true, with)
			case order[j] < half:
				add(person, c, true, with)
			default:
				add(person, c, false, without)
			}
		}
	}
	gain := m.Gains.Mean() + m.CaseGains.Mean()
	skill, both := m.Skills.Mean(), m.Skills.Mean()+m.Gains.Mean() // without and with the output, on a case that adds nothing
	if m.OwnCases {
		with, s := both+m.CaseSkills.Mean()+m.CaseGains.Mean(), m.SystemAccuracy
		return Drawn{Study{study}, Truth{
			"accuracy_difference": gain, "accuracy_difference/people_and_cases": gain,
			"accuracy_with": with, "accuracy_without": skill + m.CaseSkills.Mean(),
			"over_reliance": 1 - with, "correct_override": with, "harmful_override": 1 - with,
			"agreement": float64(s*with) + float64((1-s)*(1-with)), "system_accuracy": s,
		}}
	}
	// Everyone decides the same cases: it is about these.
	var wrong, right struct{ n, without, with float64 } // cases by what the system says, and what they add
	for i := range list {
		of := &wrong
		if list[i].system == list[i].right {
			of = &right
		}
		of.n++
		of.without += list[i].skill
		of.with += list[i].skill + list[i].gain
	}
	n := wrong.n + right.n
	truth := Truth{
		"accuracy_difference": m.Gains.Mean() + (wrong.with+right.with-wrong.without-right.without)/n, "accuracy_difference/people_and_cases": gain,
		"accuracy_with": both + (wrong.with+right.with)/n, "accuracy_without": skill + (wrong.without+right.without)/n, "system_accuracy": m.SystemAccuracy,
		"agreement": (float64(right.n*both) + right.with + float64(wrong.n*(1-both)) - wrong.with) / n,
	}
	if wrong.n > 0 {
		truth["correct_override"] = both + wrong.with/wrong.n
		truth["over_reliance"] = 1 - truth["correct_override"]
	}
	if right.n > 0 {
		truth["harmful_override"] = 1 - both - right.with/right.n
	}
	return Drawn{Study{study}, truth}
}
