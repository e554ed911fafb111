package audit

import (
	"slices"
	"strconv"

	"github.com/oloproof/oloproof/engine/interval"
)

// humanAICells are the cells of the gate human-ai.
//
// The main ones have every pair of levels of design, people, effect, person spread and cases: people and effect are crossed in both
// designs, and spread and cases go round so that each level of them meets each of the others. Around them are cells for one
// thing each: missing decisions, strong clusters, effects of cases, cases drawn at random, rates, and the extremes.
func humanAICells() []Cell {
	return slices.Concat(peopleMain(), peopleMissing(), peopleClustered(), peopleAndCases(), personRates(), loneRates(), peopleExtremes())
}

// effect is how a study's people gain: on average, and what spreads around it.
type effect struct {
	name  string
	skill float64                     // the mean chance to be right without the output
	gains func(spread float64) Points // with people's gains this far apart
}

// effects are those of the main cells. Every chance stays between 0 and 1 at the largest spread, .25, with skills .1 apart.
func effects() []effect {
	around := func(middle float64) func(float64) Points {
		return func(spread float64) Points { return Spread(middle, spread) }
	}
	return []effect{
		{"0", 0.5, around(0)},
		{"+0.1", 0.5, around(0.1)},
		{"-0.2", 0.7, around(-0.2)},
		// Four of five gain, the fifth loses much: 0.1 and −0.4 at the spread 0. The mean is 0.
		{"skewed", 0.6, func(spread float64) Points {
			return Points{{0.1 - float64(spread/5), 2}, {0.1 + float64(spread/5), 2}, {-0.4, 1}}
		}},
	}
}

// difference is the target accuracy_difference; more is what the rule says beside the metric, and form what it is called.
func difference(form, more string) Target {
	name := "accuracy_difference"
	if form != "" {
		name += ", " + form
	}
	return Target{Name: name, Rule: "metric: accuracy_difference, minimum: %s" + more, Truth: "accuracy_difference", Scale: interval.Difference}
}

// differences are accuracy_difference by each interval for means. planned is how many people there will be.
func differences(planned int) []Target {
	once := ", looks: once, planned: " + strconv.Itoa(planned)
	return []Target{difference("", ""), difference("looks once", once), difference("looks once, sympol", once+", mean_method: sympol")}
}

// design is the name of a design.
func design(beforeAfter bool) string {
	if beforeAfter {
		return "before_after"
	}
	return "crossed"
}

// studies is how many studies are drawn in a cell of so many rows each: 2,000, or fewer where they are large.
func studies(rows int) int {
	switch {
	case rows <= 800:
		return 2000
	case rows <= 3000:
		return 1000
	}
	return 500
}

// cell names a cell by its factors.
func cell(gate string, factors []Factor, c Cell) Cell {
	c.Name = gate
	for _, f := range factors {
		c.Name += "/" + f.Name + " " + f.Value
	}
	c.Factors = factors
	return c
}

// peopleCell is a cell of people: c with what its studies are, and how many of them.
func peopleCell(m HumanAI, spread, effect, missing string, c Cell) Cell {
	c.Model = m
	rows := m.People * m.Cases
	if m.BeforeAfter {
		rows *= 2
	}
	if c.Studies == 0 {
		c.Studies = studies(max(rows, 30*m.People)) // some intervals take long for many people
	}
	if c.Quick == 0 && rows <= 240 { // 150 studies take about a tenth of a second
		c.Quick = 150
	}
	return cell("human-ai", []Factor{
		{"design", design(m.BeforeAfter)}, {"people", strconv.Itoa(m.People)}, {"cases", strconv.Itoa(m.Cases)}, {"spread", spread}, {"effect", effect}, {missingFactor, missing},
	}, c)
}

// number writes a number as short as can be.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// The levels of the main cells.
var (
	mainPeople  = [...]int{6, 10, 20, 40, 100}
	mainCases   = [...]int{6, 20, 60}
	mainSpreads = [...]float64{0, 0.1, 0.25}
)

// peopleMain are the main cells.
func peopleMain() []Cell {
	var list []Cell
	for d := range 2 {
		for i, people := range mainPeople {
			for k, e := range effects() {
				// i + k and i + 2k go through all remainders by 3 for each i and each k, and through all pairs of them.
				spread, cases := mainSpreads[(i+k)%3], mainCases[(i+2*k+d)%3]
				m := HumanAI{
					BeforeAfter: d == 1, People: people, Cases: cases,
					Skills: Spread(e.skill, min(spread, 0.1)), Gains: e.gains(spread), SystemAccuracy: 0.8,
				}
				targets := differences(people)
				list = append(list, peopleCell(m, number(spread), e.name, nothingMissing, Cell{Targets: targets, Rivals: differenceRivals(targets[0].Name)}))
			}
		}
	}
	return list
}

// missings are the ways in which decisions go missing.
func missings() []struct {
	name         string
	right, wrong float64
} {
	return []struct {
		name         string
		right, wrong float64
	}{{"at random", 0.1, 0.1}, {"wrong ones vanish", 0, 0.4}, {"right ones vanish", 0.4, 0}}
}

// peopleMissing are cells with missing decisions, in each design. In them the plan is looked at too when half of its people are there:
// the others are then missing.
func peopleMissing() []Cell {
	var list []Cell
	for d := range 2 {
		for _, people := range []int{10, 40, 100} {
			for _, v := range missings() {
				m := HumanAI{
					BeforeAfter: d == 1, People: people, Cases: 20, Skills: Spread(0.5, 0.1), Gains: Spread(0.1, 0.1), SystemAccuracy: 0.8,
					MissingRight: v.right, MissingWrong: v.wrong,
				}
				targets := append(differences(people), difference("looks once, half of the plan there", ", looks: once, planned: "+strconv.Itoa(2*people)))
				list = append(list, peopleCell(m, "0.1", "+0.1", v.name, Cell{Targets: targets, Rivals: differenceRivals(targets[0].Name)}))
			}
		}
	}
	return list
}

// peopleClustered are cells in which half of the people gain much and half lose much, and decide many cases: what a person is like
// then weighs far more than one decision, and decisions are anything but independent.
func peopleClustered() []Cell {
	var list []Cell
	for _, c := range []struct{ people, cases int }{{6, 60}, {10, 60}, {20, 60}, {40, 60}, {20, 120}, {200, 20}} {
		m := HumanAI{People: c.people, Cases: c.cases, Skills: Spread(0.5, 0), Gains: Spread(0, 0.4), SystemAccuracy: 0.8}
		targets := differences(c.people)
		one := Cell{Targets: targets, Rivals: differenceRivals(targets[0].Name)}
		if c.people == 10 {
			one.Quick = 150
		}
		list = append(list, peopleCell(m, "0.4", "0", "none", one))
	}
	return list
}

// peopleAndCases are cells in which the output helps in some cases and harms in others. Over the study's own cases the truth differs
// from study to study. Over all cases like them, the default interval, which takes the cases as they are, is no interval at all.
func peopleAndCases() []Cell {
	var list []Cell
	for _, c := range []struct {
		beforeAfter   bool
		people, cases int
		spread        float64
	}{
		{true, 10, 10, 0.1}, {true, 20, 20, 0.1}, {true, 40, 20, 0.1}, {true, 50, 6, 0.4}, {true, 200, 10, 0.25}, {false, 10, 10, 0.1}, {false, 20, 20, 0.25}, {false, 40, 20, 0.1}, {false, 100, 10, 0.4},
	} {
		m := HumanAI{
			BeforeAfter: c.beforeAfter, People: c.people, Cases: c.cases, Skills: Spread(0.5, 0.05), Gains: Spread(0, 0.05), CaseGains: Spread(0, c.spread), SystemAccuracy: 0.8,
		}
		own := difference("these cases", "")
		own.EndsOnly = true
		all := difference("people and cases", ", generalize: people_and_cases")
		all.Truth = "accuracy_difference/people_and_cases"
		list = append(list, peopleCell(m, "0.05", "0, by case ±"+number(c.spread), nothingMissing, Cell{
			Targets: []Target{own, all}, Rivals: append(differenceRivals(own.Name), fixedCasesRival(all.Name)), Studies: studies(4 * c.people * c.cases),
		}))
	}
	return list
}

// rate is a target that is a rate of people.
func rate(metric, form, more string, atMost bool) Target {
	t := Target{Name: metric, Rule: "metric: " + metric + ", minimum: %s" + more, AtMost: atMost, Truth: metric}
	if atMost {
		t.Rule = "metric: " + metric + ", maximum: %s" + more
	}
	if form != "" {
		t.Name += ", " + form
	}
	return t
}

// personRates are cells of rates per person, of people who decide the same cases.
func personRates() []Cell {
	var list []Cell
	for _, c := range []struct {
		people, cases int
		spread        float64
		missing       float64 // the chance that a right decision is missing
	}{{6, 20, 0.1, 0}, {10, 60, 0.25, 0}, {20, 20, 0.25, 0}, {20, 20, 0.25, 0.3}, {40, 20, 0.1, 0}, {40, 60, 0.4, 0}, {100, 20, 0.25, 0}} {
		m := HumanAI{People: c.people, Cases: c.cases, Skills: Spread(0.5, c.spread), Gains: Spread(0.05, 0.05), SystemAccuracy: 0.5, MissingRight: c.missing}
		per, once := ", per: person", ", per: person, looks: once, planned: "+strconv.Itoa(c.people)
		agreement := rate("agreement", "per person", per, false)
		agreement.EndsOnly = true // it hangs on how often the system was right in the study's cases
		targets := []Target{
			rate("over_reliance", "per person", per, true), rate("over_reliance", "per person, looks once", once, true),
			rate("accuracy_with", "per person", per, false), rate("harmful_override", "per person", per, true), agreement,
		}
		missing := nothingMissing
		if c.missing > 0 {
			missing = "right ones vanish"
		}
		list = append(list, peopleCell(m, number(c.spread), "+0.05", missing, Cell{
			Targets: targets, Rivals: slices.Concat(personRateRivals(targets[0].Name, followsWrong), personRateRivals(targets[2].Name, rightWith), personRateRivals(targets[4].Name, agreesWith)),
		}))
	}
	return list
}

// undeclared is a study whose design its policy does not declare, as that of people who decide once need not: declared crossed, each of
// them would have to decide in both conditions.
type undeclared struct{ HumanAI }

// Settings implements Model.
func (undeclared) Settings() string { return "" }

// loneRates are cells of rates over decisions that are independent: every person decides one case, which is nobody else's.
func loneRates() []Cell {
	var list []Cell
	for _, c := range []struct {
		people int
		right  float64 // the chance to be right, with the output and without
		wrong  float64 // the chance that a wrong decision is missing
	}{{20, 0.5, 0}, {60, 0.9, 0}, {60, 0.98, 0}, {200, 0.7, 0}, {200, 0.99, 0}, {200, 0.7, 0.3}, {600, 0.95, 0}, {60, 1, 0}, {60, 0, 0}} {
		m := HumanAI{OwnCases: true, People: c.people, Cases: 1, Skills: Spread(c.right, 0), SystemAccuracy: 0.6, MissingWrong: c.wrong}
		repeated := ", looks: repeated"
		targets := []Target{
			rate("accuracy_with", "", "", false), rate("accuracy_with", "looks repeated", repeated, false), rate("over_reliance", "", "", true),
			rate("correct_override", "", "", false), rate("harmful_override", "", "", true), rate("agreement", "", "", false), rate("system_accuracy", "", "", false),
			rate("accuracy_without", "looks repeated", repeated, true),
		}
		missing := nothingMissing
		if c.wrong > 0 {
			missing = "wrong ones vanish"
		}
		one := peopleCell(m, "0", "0, right "+number(c.right), missing, Cell{
			Targets: targets, Rivals: []Rival{
				rateRival(waldName, targets[0].Name, rightWith), rateRival(waldName, targets[2].Name, followsWrong), rateRival(waldName, targets[4].Name, departsFromRight),
				rateRival(waldName, targets[5].Name, agreesWith), rateRival(waldName, targets[7].Name, rightWithout),
			}, Studies: 4000,
		})
		one.Model = undeclared{m}
		list = append(list, one)
	}
	return list
}

// peopleExtremes are cells at the edge: everyone right, everyone helped, a loss that is total and rare.
func peopleExtremes() []Cell {
	var list []Cell
	for _, e := range []struct {
		name          string
		skills, gains Points
		people        []int
	}{
		{"all right", Spread(1, 0), Spread(0, 0), []int{6, 20}},
		{"all wrong", Spread(0, 0), Spread(0, 0), []int{20}},
		{"all helped", Spread(0, 0), Spread(1, 0), []int{6, 20}},
		{"a rare total loss", Spread(1, 0), Points{{0, 0.95}, {-1, 0.05}}, []int{10, 40, 100}},
		{"half lose all", Spread(1, 0), Points{{0, 0.5}, {-1, 0.5}}, []int{6, 10, 40}},
		{"a rare rescue", Spread(0, 0), Points{{0, 0.97}, {1, 0.03}}, []int{40}},
	} {
		for _, people := range e.people {
			m := HumanAI{BeforeAfter: true, People: people, Cases: 6, Skills: e.skills, Gains: e.gains, SystemAccuracy: 0.8}
			targets := differences(people)
			list = append(list, peopleCell(m, "as said", e.name, nothingMissing, Cell{Targets: targets, Rivals: differenceRivals(targets[0].Name), Studies: 4000}))
		}
	}
	return list
}
