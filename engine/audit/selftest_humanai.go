package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/oloproof/oloproof/engine/report"
)

// The columns of a human-ai study, and of its assignment; those of where follow the decisions'.
const (
	personCase = iota
	personName
	personCondition
	personDecision
	personReference
	personOutput
	personWhere = personOutput + 3 // after the two times

	assignedCase, assignedName, assignedCondition = 0, 1, 2
)

// people is a human-ai study: decisions, and perhaps an assignment.
type people struct {
	*known
	labels []string // references first, then outputs and decisions: what a decision can be
	pairs  bool     // people decide cases both ways, one way after the other
}

// newPeople reads what the rows show.
func newPeople(k *known) *people {
	p := &people{known: k}
	for _, column := range []int{personReference, personOutput, personDecision} {
		var list []string
		for _, row := range k.study[0] {
			if row[column] != "" && !slices.Contains(p.labels, row[column]) && !slices.Contains(list, row[column]) {
				list = append(list, row[column])
			}
		}
		slices.Sort(list)
		p.labels = append(p.labels, list...)
	}
	for _, u := range p.units(func(name, item string) [2]string { return [2]string{name, item} }) {
		p.pairs = p.pairs || len(u.decided) > 1 || len(u.assigned) > 1
	}
	return p
}

// unit is rows that stay together: by their places among the decisions, and in the assignment.
type unit struct{ decided, assigned []int }

// units groups the rows by what key makes of a person and a case.
func (p *people) units(key func(name, item string) [2]string) []unit {
	n := len(p.study[0])
	total := n
	if len(p.study) > 1 {
		total += len(p.study[1])
	}
	groups := groupBy(total, func(i int) [2]string {
		if i < n {
			return key(p.study[0][i][personName], p.study[0][i][personCase])
		}
		return key(p.study[1][i-n][assignedName], p.study[1][i-n][assignedCase])
	})
	list := make([]unit, len(groups))
	for g, places := range groups {
		for _, i := range places {
			if i < n {
				list[g].decided = append(list[g].decided, i)
			} else {
				list[g].assigned = append(list[g].assigned, i-n)
			}
		}
	}
	return list
}

// Of whom or what a human-ai study draws anew.
func byPerson(name, _ string) [2]string  { return [2]string{name} }
func byCase(_, item string) [2]string    { return [2]string{item} }
func byBoth(name, item string) [2]string { return [2]string{name, item} }

// generalizes reports a rule that speaks of cases as drawn too.
func (p *people) generalizes(rule int) bool { return p.rules[rule].Map.Has("generalize") }

// perPerson reports a rule whose units are people.
func (p *people) perPerson(rule int) bool { return p.rules[rule].Map.Has("per") }

// chance implements subject.
func (p *people) chance(rule int) (*experiment, string) {
	if p.rules[rule].Metric.Value != "accuracy_difference" {
		truth := p.estimate(rule)
		if truth == nil {
			return nil, nothingRecorded
		}
		draw, key, who := p.resample(rule)
		return &experiment{key: key, truth: truth, null: who + " are drawn anew from those of the file, whose own value is the truth",
			draw: func(r *rand.Rand) (Study, []float64) { return draw(r), nil }}, ""
	}
	e := &experiment{shuffled: true, truth: []float64{0}}
	switch {
	case p.pairs:
		e.key, e.null = "swap", "each person's two decisions on a case change places or stay, by a coin, so that the output makes no difference"
		e.draw = func(r *rand.Rand) (Study, []float64) { return p.swap(r), nil }
	case p.generalizes(rule):
		// The interval rests on a fair coin for every person and case, so the counts are not kept.
		e.key, e.null = "coin", "each decision is called one with or one without the output by a fair coin, so that the output makes no difference"
		e.draw = func(r *rand.Rand) (Study, []float64) { return p.shuffle(r, rule, true), nil }
	default:
		e.key, e.null = "shuffle "+fmt.Sprint(p.terms(rule)), "each person's decisions are dealt anew to with and without the output, as many to each as before, so that the output makes no difference"
		e.draw = func(r *rand.Rand) (Study, []float64) { return p.shuffle(r, rule, false), nil }
	}
	return e, ""
}

// swap swaps the decisions within each pair of a person and a case by a coin. The decision moves and not the condition, so that
// the order of the times stays as it is, and what is not recorded moves with it. Where one of the two has no row, the other's
// condition changes: the missing one moves too.
func (p *people) swap(r *rand.Rand) Study {
	s := p.study.Clone()
	for _, u := range p.units(byBoth) {
		if r.IntN(2) == 0 {
			continue
		}
		switch rows := s[0]; len(u.decided) {
		case 1:
			rows[u.decided[0]][personCondition] = otherCondition(rows[u.decided[0]][personCondition])
		case 2:
			a, b := rows[u.decided[0]], rows[u.decided[1]]
			a[personDecision], b[personDecision] = b[personDecision], a[personDecision]
		}
	}
	return s
}

func otherCondition(condition string) string {
	if condition == "with" {
		return "without"
	}
	return "with"
}

// term is one condition of a rule's slice: a place among the columns and the text there.
type term struct {
	column int
	text   string
}

// terms are the conditions of a rule's slice.
func (p *people) terms(rule int) []term {
	var list []term
	names := Columns(p.question)[0]
	for _, w := range p.rules[rule].Where {
		if at := slices.Index(names[personWhere:], w.Key.Value); at >= 0 {
			list = append(list, term{personWhere + at, w.Value.Value})
		}
	}
	return list
}

// shuffle deals the conditions anew among a person's cases, within the rule's slice and outside of it, so that the counts
// are kept in both; with coin, each by itself. A case that is assigned and has no row, a missing decision, takes part. Where a row
// departs from the assignment, it departs from what is dealt too.
func (p *people) shuffle(r *rand.Rand, rule int, coin bool) Study {
	s := p.study.Clone()
	terms := p.terms(rule)
	dealt := map[[2]string][]*string{} // by person and slice: the conditions, in the rows of s
	var order [][2]string
	follow := map[*string]*string{} // the row of a dealt assignment
	departs := map[*string]bool{}
	for _, u := range p.units(byBoth) {
		if len(u.decided) > 1 || len(u.assigned) > 1 {
			continue // both ways: nothing is dealt
		}
		var own, set *string
		key := [2]string{"", "out"}
		if len(u.assigned) == 1 {
			row := s[1][u.assigned[0]]
			set, key[0] = &row[assignedCondition], row[assignedName]
		}
		if len(u.decided) == 1 {
			row := s[0][u.decided[0]]
			own, key[0] = &row[personCondition], row[personName]
			if !slices.ContainsFunc(terms, func(t term) bool { return row[t.column] != t.text }) {
				key[1] = "in"
			}
		}
		lead := own
		if set != nil {
			lead = set
			if own != nil {
				follow[set], departs[set] = own, *own != *set
			}
		}
		if dealt[key] == nil {
			order = append(order, key)
		}
		dealt[key] = append(dealt[key], lead)
	}
	for _, key := range order {
		list := dealt[key]
		texts := make([]string, len(list))
		for i, c := range list {
			texts[i] = *c
			if coin {
				texts[i] = []string{"without", "with"}[r.IntN(2)]
			}
		}
		if !coin {
			r.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		}
		for i, c := range list {
			*c = texts[i]
			if own := follow[c]; own != nil {
				*own = texts[i]
				if departs[c] {
					*own = otherCondition(texts[i])
				}
			}
		}
	}
	return s
}

// resample returns how the units of a rule are drawn anew, with replacement, each copy under a name of its own.
func (p *people) resample(rule int) (draw func(r *rand.Rand) Study, key, who string) {
	metric := p.rules[rule].Metric.Value
	switch {
	case p.generalizes(rule):
		return p.drawBoth, "draw both", "people and cases"
	case metric == "system_accuracy":
		return p.drawBy(byCase, false, true), "draw cases", "cases"
	case metric != "accuracy_difference" && !p.perPerson(rule) && p.base[rule].Verdict != report.ManualReview:
		// A rate over decisions is decided only where no person and no case is in it twice: then decisions are the units.
		return p.drawBy(byBoth, true, true), "draw decisions", "decisions"
	}
	return p.drawBy(byPerson, true, false), "draw people", "people"
}

// drawBy returns a draw of units under new names, of people, of cases, or of both.
func (p *people) drawBy(key func(name, item string) [2]string, people, cases bool) func(r *rand.Rand) Study {
	units := p.units(key)
	return func(r *rand.Rand) Study {
		s := make(Study, len(p.study))
		for i, at := range pick(r, len(units), len(units)) {
			name := strconv.Itoa(i + 1)
			p.copy(s, units[at], people, cases, name, name)
		}
		return s
	}
}

// grown implements subject: people are copied.
func (p *people) grown(_, copies int) Study {
	units := p.units(byPerson)
	taken := map[string]bool{}
	for input, column := range []int{personName, assignedName}[:len(p.study)] {
		for _, row := range p.study[input] {
			taken[row[column]] = true
		}
	}
	name := unused(taken)
	s := p.study.Clone()
	for i := range copies {
		p.copy(s, units[i%len(units)], true, false, name(), "")
	}
	return s
}

// copy adds the rows of a unit to s, with the person and the case under other names where they are new.
func (p *people) copy(s Study, u unit, people, cases bool, name, item string) {
	add := func(input, at, nameColumn, caseColumn int) {
		row := slices.Clone(p.study[input][at])
		if people {
			row[nameColumn] = name
		}
		if cases {
			row[caseColumn] = item
		}
		s[input] = append(s[input], row)
	}
	for _, at := range u.decided {
		add(0, at, personName, personCase)
	}
	for _, at := range u.assigned {
		add(1, at, assignedName, assignedCase)
	}
}

// drawBoth draws people and cases, each with replacement: a cell holds what that person decided of that case. Copies would have their
// conditions in common, which the interval's fair coin for every cell does not; but where people decide cases both ways, each cell
// has a coin of its own.
func (p *people) drawBoth(r *rand.Rand) Study {
	cells := map[[2]string]unit{}
	names, items := map[string]bool{}, map[string]bool{}
	var nameList, itemList []string
	for _, u := range p.units(byBoth) {
		var name, item string
		if len(u.decided) > 0 {
			name, item = p.study[0][u.decided[0]][personName], p.study[0][u.decided[0]][personCase]
		} else {
			name, item = p.study[1][u.assigned[0]][assignedName], p.study[1][u.assigned[0]][assignedCase]
		}
		cells[[2]string{name, item}] = u
		if !names[name] {
			names[name], nameList = true, append(nameList, name)
		}
		if !items[item] {
			items[item], itemList = true, append(itemList, item)
		}
	}
	s := make(Study, len(p.study))
	drawn := pick(r, len(itemList), len(itemList))
	for i, name := range pick(r, len(nameList), len(nameList)) {
		for j, item := range drawn {
			if u, found := cells[[2]string{nameList[name], itemList[item]}]; found {
				first := [2]int{len(s[0]), 0}
				if len(s) > 1 {
					first[1] = len(s[1])
				}
				p.copy(s, u, true, true, strconv.Itoa(i+1), strconv.Itoa(j+1))
				if condition := []string{"without", "with"}[r.IntN(2)]; !p.pairs {
					for _, row := range s[0][first[0]:] {
						row[personCondition] = condition
					}
					if len(s) > 1 {
						for _, row := range s[1][first[1]:] {
							row[assignedCondition] = condition
						}
					}
				}
			}
		}
	}
	return s
}

// other is a label that differs from the given one.
func (p *people) other(label string) string {
	for _, l := range p.labels {
		if l != label {
			return l
		}
	}
	return "other than " + label // all is one label
}

// harms implements subject.
func (p *people) harms(rule int) []planting {
	metric := p.rules[rule].Metric.Value
	draw, key, who := p.resample(rule)
	low := p.lowIsBad(rule)
	what := map[string][2]string{ // by metric: what is planted where low is bad, and where high is
		"accuracy_difference": {"decisions with the output turn wrong and decisions without it right", "decisions with the output turn right and decisions without it wrong"},
		"agreement":           {"decisions turn away from the output", "decisions turn to the output"},
		"over_reliance":       {"where the output is wrong, decisions turn to the reference", "where the output is wrong, decisions turn to it"},
		"correct_override":    {"where the output is wrong, decisions turn to it", "where the output is wrong, decisions turn to the reference"},
		"harmful_override":    {"where the output is right, decisions turn to it", "where the output is right, decisions turn away from it"},
		"accuracy_with":       {"decisions with the output turn wrong", "decisions with the output turn right"},
		"accuracy_without":    {"decisions without the output turn wrong", "decisions without the output turn right"},
		"system_accuracy":     {"outputs turn wrong", "outputs turn right"},
	}[metric]
	text := what[0]
	if !low {
		text = what[1]
	}
	return []planting{{key: key, planted: who + " are drawn anew, and " + text, measure: metric, least: -1,
		draw:  func(r *rand.Rand) drawn { return drawn{study: draw(r)} },
		plant: func(d drawn, r *rand.Rand, dial float64) { p.plant(d.study, r, metric, dial, (dial > 0) != low) },
		own:   p.ownRows}}
}

// plant turns what a metric counts, each with the probability |dial|, to an event where event is set and else away from it. What is not
// recorded stays so.
func (p *people) plant(s Study, r *rand.Rand, metric string, dial float64, event bool) {
	share := max(dial, -dial)
	if metric == "system_accuracy" { // a case has one output
		for _, places := range groupBy(len(s[0]), func(i int) string { return s[0][i][personCase] }) {
			turn := r.Float64() < share
			for _, i := range places {
				if row := s[0][i]; turn && row[personOutput] != "" {
					row[personOutput] = p.right(row, event)
				}
			}
		}
		return
	}
	for _, row := range s[0] {
		turn := r.Float64() < share
		if !turn || row[personDecision] == "" {
			continue
		}
		shown := row[personCondition] == "with"
		hasOutput := shown && row[personOutput] != ""
		wrong := hasOutput && row[personOutput] != row[personReference]
		switch {
		case metric == "accuracy_difference":
			row[personDecision] = p.right(row, event == shown)
		case metric == "accuracy_with" && shown, metric == "accuracy_without" && !shown, metric == "correct_override" && wrong && event:
			row[personDecision] = p.right(row, event)
		case metric == "agreement" && hasOutput, metric == "over_reliance" && wrong && event:
			row[personDecision] = row[personOutput]
			if !event {
				row[personDecision] = p.other(row[personOutput])
			}
		case metric == "over_reliance" && wrong:
			row[personDecision] = row[personReference]
		case metric == "correct_override" && wrong:
			row[personDecision] = row[personOutput]
		case metric == "harmful_override" && hasOutput && !wrong:
			row[personDecision] = row[personOutput]
			if event {
				row[personDecision] = p.other(row[personOutput])
			}
		}
	}
}

// right is a right answer to a row's case, or a wrong one.
func (p *people) right(row []string, right bool) string {
	if right {
		return row[personReference]
	}
	return p.other(row[personReference])
}
