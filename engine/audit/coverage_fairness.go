package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/oloproof/oloproof/engine/report"
)

// How predictions of fairness cells are missing.
const (
	missingRandom  = "20 % at random"
	missingAgainst = "40 % against" // of those that speak against the group that is worst off
)

// fairnessCells are the cells of the gate fairness: one rate over groups, sizes, levels and gaps; groups of unequal and of drawn sizes;
// all rates, with missing predictions.
func fairnessCells() []Cell {
	var cells []Cell
	// A third of all combinations of four times three levels, in which each three levels of different factors meet once.
	for i, groups := range []int{2, 4, 12} {
		for j, each := range []int{50, 400, 2000} {
			for k, level := range []float64{0.02, 0.1, 0.5} {
				for l, gap := range []float64{0, 0.05, 0.1} {
					if (i+j+k+l)%3 != 0 {
						continue
					}
					studies, quick := 1000, 0
					switch {
					case groups == 12:
						studies = 300
					case each == 2000:
						studies = 500
					case each == 400 && level == 0.1:
						quick = 60
					}
					cells = append(cells, fairnessDesign{"false_negative", groups, each, "equal", level, gap, nothingMissing}.cell(studies, quick))
				}
			}
		}
	}
	for _, sizes := range []string{"unequal", "drawn"} {
		for _, groups := range []int{2, 4} {
			for _, gap := range []float64{0, 0.05, 0.1} {
				cells = append(cells, fairnessDesign{"false_negative", groups, 400, sizes, 0.1, gap, nothingMissing}.cell(500, 0))
			}
		}
	}
	for _, rate := range []string{"false_negative", "false_positive", "selection", "accuracy", "precision", "false_omission"} {
		level := 0.1
		if rate == "accuracy" || rate == "precision" {
			level = 0.8
		}
		for _, missing := range []string{nothingMissing, missingRandom, missingAgainst} {
			for _, gap := range []float64{0, 0.1} {
				if rate == "false_negative" && missing == nothingMissing {
					continue // above
				}
				quick := 0
				if rate == "precision" && gap > 0 && missing == missingAgainst {
					quick = 60
				}
				cells = append(cells, fairnessDesign{rate, 4, 400, "equal", level, gap, missing}.cell(500, quick))
			}
		}
	}
	return cells
}

// fairnessDesign is where a cell of fairness is in the grid.
type fairnessDesign struct {
	rate       string
	groups     int
	each       int     // cases a group, on average
	sizes      string  // equal; unequal, from half to one and a half of it; or drawn, in the same proportions
	level, gap float64 // the rate of the first group, and by how much that of the last is larger; the others lie evenly between
	missing    string
}

// model is the studies of the cell.
func (d fairnessDesign) model() Fairness {
	m := Fairness{DrawnSizes: d.sizes == "drawn", MinCell: 1} // which could only take decisions away, so that neither error rises
	for i := range d.groups {
		g := groupWith(d.rate, d.level+float64(d.gap*float64(i)/float64(d.groups-1)))
		g.Cases = d.each
		if d.sizes != "equal" {
			g.Cases = d.each/2 + d.each*i/(d.groups-1)
		}
		if d.missing == missingRandom {
			g.MissingNo, g.MissingYes = 0.2, 0.2
		}
		m.Groups = append(m.Groups, g)
	}
	if d.missing != missingAgainst {
		return m
	}
	first, last := &m.Groups[0], &m.Groups[d.groups-1]
	switch d.rate {
	case "accuracy", "precision": // false positives vanish, and the group with the lowest rate looks like the others
		first.MissingFalseYes = 0.4
	case "false_positive":
		last.MissingFalseYes = 0.4
	case "selection":
		last.MissingYes = 0.4
	default: // false negatives vanish, and as many of the other cases that are predicted 0
		last.MissingNo = 0.4
	}
	return m
}

// cell makes the cell.
//
// A group's interval has the error of a side divided by the number of groups. For a rule that compares groups to pass wrongly, one of
// two groups' ends has to be wrong; to fail wrongly, one end of any group. interval: pairwise does not divide the error of a PASS
// (audit of the intervals, 5a and 5f).
func (d fairnessDesign) cell(studies, quick int) Cell {
	const alpha = 2 * side
	groups := float64(d.groups)
	rule := "rate: " + d.rate + ", attribute: group, "
	gap, most, least, ratio := d.rate+"/gap", d.rate+"/most", d.rate+"/least", d.rate+"/ratio"
	compared := Promise{Lower: alpha, Upper: alpha / groups, FalsePass: alpha / groups}
	return Cell{
		Name: fmt.Sprintf("fairness/%s/groups %d/cases %d %s/rate %s/gap %s/missing %s", d.rate, d.groups, d.each, d.sizes, decimal(d.level), decimal(d.gap), d.missing),
		Factors: []Factor{
			{"rate", d.rate}, {"groups", strconv.Itoa(d.groups)}, {"cases a group", strconv.Itoa(d.each)}, {"sizes", d.sizes}, {"level", decimal(d.level)}, {"gap", decimal(d.gap)}, {missingFactor, d.missing},
		},
		Model: d.model(), Studies: studies, Quick: quick,
		Targets: []Target{
			{Name: "every group's rate", Rule: rule + "max_group_gap: %s", EndsOnly: true, Ends: endsOfGroups(d.rate)},
			{Name: "max_group_gap", Rule: rule + "max_group_gap: %s", AtMost: true, Truth: gap, Promise: compared},
			{Name: "max_group_gap, interval: pairwise", Rule: rule + "interval: pairwise, max_group_gap: %s", AtMost: true, Truth: gap, Promise: Promise{Lower: alpha}},
			{Name: "max_group_gap, looks: repeated", Rule: rule + "looks: repeated, max_group_gap: %s", AtMost: true, Truth: gap, Promise: compared},
			{Name: "min_group_ratio", Rule: rule + "min_group_ratio: %s", Truth: ratio, Promise: Promise{Lower: alpha / groups, Upper: alpha, FalsePass: alpha / groups}},
			{Name: "worst_group, maximum", Rule: rule + "worst_group: {maximum: %s}", AtMost: true, Truth: most, Promise: Promise{Upper: side / groups, FalsePass: side / groups}},
			{Name: "worst_group, minimum", Rule: rule + "worst_group: {minimum: %s}", Truth: least, Promise: Promise{Lower: side / groups, FalsePass: side / groups}},
			{Name: "worst_group, maximum, interval: pairwise", Rule: rule + "interval: pairwise, worst_group: {maximum: %s}", AtMost: true, Truth: most},
		},
		Rivals: []Rival{
			{Name: naiveName, Target: "max_group_gap", Bounds: largestGap(d.rate, d.groups)},
			{Name: naiveName, Target: "min_group_ratio", Bounds: smallestRatio(d.rate, d.groups)},
			{Name: waldName, Target: "worst_group, maximum", Bounds: highestRate(d.rate, d.groups)},
		},
	}
}

// groupWith is a group, half of which is labelled 1, in which a rate has a value.
func groupWith(rate string, x float64) Group {
	switch rate {
	case "false_negative":
		return Group{Positive: 0.5, TruePositive: 1 - x, FalsePositive: 0.2}
	case "false_positive":
		return Group{Positive: 0.5, TruePositive: 0.8, FalsePositive: x}
	case "selection":
		return Group{Positive: 0.5, TruePositive: x, FalsePositive: x}
	case "accuracy":
		return Group{Positive: 0.5, TruePositive: x, FalsePositive: 1 - x}
	case "precision": // 0.8 of the cases labelled 1 and of those labelled 0, shared out as the rate says
		return Group{Positive: 0.5, TruePositive: float64(0.8 * x), FalsePositive: float64(0.8 * (1 - x))}
	default: // false_omission, likewise of cases that are predicted 0
		return Group{Positive: 0.5, TruePositive: 1 - float64(0.8*x), FalsePositive: 1 - float64(0.8*(1-x))}
	}
}

// endsOfGroups is where the groups' intervals, all at once, lie from their rates.
func endsOfGroups(rate string) func(*report.Rule, Truth) Ends {
	return func(r *report.Rule, truth Truth) Ends {
		ends := Ends{None: true}
		for i, cell := range r.Cells {
			if one := endsOf(cell.Interval, truth[rate+"/g"+strconv.Itoa(i)]); !one.None {
				ends = Ends{Above: ends.Above || one.Above, Below: ends.Below || one.Below, Width: max(ends.Width, one.Width)}
			}
		}
		return ends
	}
}

// groupRates counts a rate by group, g0, g1 and so on, over recorded predictions. Those that are missing are left out, as people
// leave them out.
func groupRates(s Study, columns []string, rate string, groups int) []hits {
	at := places(columns, "label", "prediction", "group")
	index := map[string]int{}
	for i, name := range numbered("g", groups) {
		index[name] = i
	}
	list := make([]hits, groups)
	for _, row := range s[0] {
		if row[at[1]] == "" {
			continue
		}
		label, prediction := row[at[0]] == "1", row[at[1]] == "1"
		counts, event := true, prediction != label
		switch rate {
		case "false_negative":
			counts = label
		case "false_positive":
			counts = !label
		case "selection":
			event = prediction
		case "accuracy":
			event = !event
		case "precision":
			counts, event = prediction, label
		case "false_omission":
			counts = !prediction
		}
		if counts {
			list[index[row[at[2]]]].add(event)
		}
	}
	return list
}

// furthest returns the groups with the lowest and the highest observed rate; ok is false where a group has no case.
func furthest(list []hits) (lowest, highest hits, ok bool) {
	for i, h := range list {
		if h.n == 0 {
			return lowest, highest, false
		}
		if i == 0 || h.share() < lowest.share() {
			lowest = h
		}
		if i == 0 || h.share() > highest.share() {
			highest = h
		}
	}
	return lowest, highest, true
}

// bounds is the form of a Rival's Bounds.
type bounds func(s Study, columns []string, r *rand.Rand) (lower, upper float64, ok bool)

// largestGap is Wald's interval of the difference of the two groups that differ most, as if they had been chosen beforehand.
func largestGap(rate string, groups int) bounds {
	return func(s Study, columns []string, _ *rand.Rand) (lower, upper float64, ok bool) {
		lowest, highest, ok := furthest(groupRates(s, columns, rate, groups))
		if !ok {
			return 0, 0, false
		}
		return waldDifference(highest.k, highest.n, lowest.k, lowest.n)
	}
}

// highestRate is Wald's interval of the group with the highest rate, as if it had been chosen beforehand.
func highestRate(rate string, groups int) bounds {
	return func(s Study, columns []string, _ *rand.Rand) (lower, upper float64, ok bool) {
		_, highest, ok := furthest(groupRates(s, columns, rate, groups))
		if !ok {
			return 0, 0, false
		}
		return waldRate(highest.k, highest.n, normal975)
	}
}

// smallestRatio is the usual interval of the ratio of the two groups that differ most, as if they had been chosen beforehand:
// Wald's of its logarithm. It is not defined where a group has no event.
func smallestRatio(rate string, groups int) bounds {
	return func(s Study, columns []string, _ *rand.Rand) (lower, upper float64, ok bool) {
		lowest, highest, ok := furthest(groupRates(s, columns, rate, groups))
		if !ok || lowest.k == 0 {
			return 0, 0, false
		}
		part := func(h hits) float64 { return 1/float64(h.k) - 1/float64(h.n) }
		log := normal975 * math.Sqrt(part(lowest)+part(highest))
		factor := math.Round(math.Exp(log)*1e9) / 1e9 // rounded: the same on every machine
		ratio := lowest.share() / highest.share()
		return ratio / factor, ratio * factor, true
	}
}
