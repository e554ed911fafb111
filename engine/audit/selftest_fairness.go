package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate/fairness"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// groups is a fairness study.
type groups struct {
	*known
	asked fairness.Cases
	cases [][]fairness.Case // by rule: what each row is to it
}

// newGroups reads what the rows are to every rule.
func newGroups(k *known) (*groups, error) {
	asked, ok := k.question.(fairness.Cases)
	if !ok {
		return nil, fmt.Errorf("the question does not tell what its cases are")
	}
	g := &groups{known: k, asked: asked}
	if at := asked.Probability(); at >= 0 { // no rule is about it, and reading it takes as long as all the rest
		k.study = k.study.Clone()
		for _, row := range k.study[0] {
			row[at] = ""
		}
	}
	for rule := range k.rules {
		list := make([]fairness.Case, len(k.study[0]))
		for i, row := range k.study[0] {
			list[i] = asked.Case(rule, rows.Made(row, i+1))
		}
		g.cases = append(g.cases, list)
	}
	return g, nil
}

// pools are the rows among which a rule's cases can change places: those that count in its rate, or may, and the other eligible
// ones. So every group keeps as many of both as it has.
func (g *groups) pools(rule int) [][]int {
	pools := make([][]int, 2)
	for i, c := range g.cases[rule] {
		switch {
		case c.Group < 0:
		case c.Counts:
			pools[0] = append(pools[0], i)
		default:
			pools[1] = append(pools[1], i)
		}
	}
	return pools
}

// key tells apart what rules take from the rows: their groups, their slice, and their pools.
func (g *groups) key(rule int) string {
	pools := g.pools(rule)
	return fmt.Sprintf("%v %v %d %d %q", g.asked.Attributes(rule), g.rules[rule].Where, len(pools[0]), len(pools[1]), g.rules[rule].Metric.Value)
}

// ofWorst reports a rule about the worst group, which is a level and no difference.
func (g *groups) ofWorst(rule int) bool { return g.base[rule].Threshold.Kind == report.WorstGroup }

// chance implements subject.
func (g *groups) chance(rule int) (*experiment, string) {
	if len(g.pools(rule)[0]) == 0 {
		return nil, "no case counts in its rate"
	}
	if g.ofWorst(rule) {
		truth := make([]float64, len(g.base[rule].Cells))
		for i, c := range g.base[rule].Cells {
			truth[i] = math.NaN() // of an empty group, which has no rate: nothing is beside it
			if c.Estimate != nil {
				truth[i] = *c.Estimate
			}
		}
		return &experiment{key: "draw " + g.key(rule), truth: truth, null: "the cases of each group are drawn anew from its own, whose rate in the file is the truth",
			draw: func(r *rand.Rand) (Study, []float64) {
				return g.drawWithin(r, rule).study, nil
			}}, ""
	}
	e := &experiment{key: "shuffle " + g.key(rule), shuffled: true, truth: []float64{0},
		null: "the groups are dealt anew among the cases that count, as many to each as before, so that all groups have one rate",
		draw: func(r *rand.Rand) (Study, []float64) { return g.shuffle(r, rule), nil }}
	if g.base[rule].Threshold.Kind == report.MinGroupRatio {
		e.truth = []float64{1}
	}
	return e, ""
}

// shuffle deals the values of the rule's attributes, all of a case together, anew within each pool.
func (g *groups) shuffle(r *rand.Rand, rule int) Study {
	s := g.study.Clone()
	columns := g.asked.Attributes(rule)
	for _, pool := range g.pools(rule) {
		r.Shuffle(len(pool), func(i, j int) {
			for _, c := range columns {
				a, b := s[0][pool[i]], s[0][pool[j]]
				a[c], b[c] = b[c], a[c]
			}
		})
	}
	return s
}

// drawWithin draws the cases of each group and pool anew from its own, with replacement.
func (g *groups) drawWithin(r *rand.Rand, rule int) drawn {
	from := inOrder(len(g.study[0]))
	for _, pool := range g.pools(rule) {
		for _, own := range groupBy(len(pool), func(i int) int { return g.cases[rule][pool[i]].Group }) {
			for i, at := range pick(r, len(own), len(own)) {
				from[pool[own[i]]] = pool[own[at]]
			}
		}
	}
	return drawn{g.take(from, nil), from}
}

// level gives every case the outcome of one drawn from the whole pool, so that all groups have one rate. Each keeps its group.
func (g *groups) level(r *rand.Rand, rule int) drawn {
	from := inOrder(len(g.study[0]))
	for _, pool := range g.pools(rule) {
		for i, at := range pick(r, max(1, len(pool)), len(pool)) {
			from[pool[i]] = pool[at]
		}
	}
	return drawn{g.take(from, g.asked.Attributes(rule)), from}
}

// take is the study of the rows at the given places, each with an id of its own. The columns kept stay those of the place.
func (g *groups) take(from, kept []int) Study {
	s := Study{make([][]string, len(from))}
	for i, at := range from {
		row := slices.Clone(g.study[0][at])
		for _, c := range kept {
			row[c] = g.study[0][i][c]
		}
		for _, c := range g.asked.Identities() {
			row[c] = strconv.Itoa(i + 1)
		}
		s[0][i] = row
	}
	return s
}

// grown implements subject. Rules of this gate plan no number of units.
func (g *groups) grown(_, _ int) Study { return nil }

// lowIsWorse reports the rates of which a low one is bad for a group.
func lowIsWorse(rate string) bool {
	switch rate {
	case "accuracy", "selection", "true_positive", "true_negative", "precision", "negative_predictive_value":
		return true
	}
	return false
}

// targets are the groups that a harm is planted in, by their places: of those with enough cases to be decided the one that is worst
// off in the file, which is where the next harm would be feared, and which makes the gap in the file larger; and the one with the
// most cases, should the first be too small for the rule to FAIL.
func (g *groups) targets(rule int) []int {
	n := len(g.asked.Groups(rule))
	counts, events := make([]int, n), make([]int, n)
	for _, c := range g.cases[rule] {
		if c.Group >= 0 && c.Recorded {
			counts[c.Group]++
			if c.Event {
				events[c.Group]++
			}
		}
	}
	low := lowIsWorse(g.base[rule].Metric)
	if g.ofWorst(rule) {
		low = g.lowIsBad(rule)
	}
	worst, largest := -1, 0
	for i := range n {
		if counts[i] > counts[largest] {
			largest = i
		}
		if counts[i] == 0 || counts[i] < g.asked.LeastCell() {
			continue
		}
		if worst < 0 {
			worst = i
			continue
		}
		// Whole numbers, so that equal rates are equal: the first declared of them is taken.
		here, there := int64(events[i])*int64(counts[worst]), int64(events[worst])*int64(counts[i])
		if here != there && (here < there) == low {
			worst = i
		}
	}
	if worst < 0 || worst == largest {
		return []int{largest}
	}
	return []int{worst, largest}
}

// harms implements subject.
func (g *groups) harms(rule int) []planting {
	var list []planting
	metric := g.rules[rule].Metric.Value
	for _, at := range g.targets(rule) {
		name := diag.Quote(g.asked.Groups(rule)[at])
		if g.ofWorst(rule) {
			way := "falls"
			if !g.lowIsBad(rule) {
				way = "rises"
			}
			list = append(list, planting{key: strconv.Itoa(at), least: -1, measure: metric + " of " + name,
				planted: "cases are drawn anew within their groups, and the rate of " + name + " " + way,
				draw:    func(r *rand.Rand) drawn { return g.drawWithin(r, rule) },
				plant: func(d drawn, r *rand.Rand, dial float64) {
					up := (dial > 0) != g.lowIsBad(rule)
					// The harm is one group's; at its best every group is.
					g.plant(d, r, rule, max(dial, -dial), func(group int) (event, in bool) { return up, group == at || dial < 0 })
				},
				own:   g.ownRows,
				value: func(r report.Rule) *float64 { return r.Cells[at].Estimate },
			})
			continue
		}
		low := lowIsWorse(g.base[rule].Metric)
		way, others := "rises", "falls"
		if low {
			way, others = "falls", "rises"
		}
		p := planting{key: strconv.Itoa(at), measure: "ratio of " + metric + " between " + name + " and the others",
			planted: "all groups begin with one rate; then that of " + name + " " + way + " and that of every other group " + others,
			draw:    func(r *rand.Rand) drawn { return g.level(r, rule) },
			plant: func(d drawn, r *rand.Rand, dial float64) {
				g.plant(d, r, rule, dial, func(group int) (event, in bool) { return (group == at) != low, true })
			},
			own: g.ownRows}
		if g.base[rule].Threshold.Kind == report.MaxGroupGap {
			// Of cases of one rate p, a share d turned to events here and away from them there lie d apart: p + d(1-p) - (p - dp) = d.
			p.measure, p.known = "gap of "+metric+" between "+name+" and the others", func(dial float64) float64 { return dial }
		}
		list = append(list, p)
	}
	return list
}

// plant turns the cases of the groups that are in, each with the probability share, to an event or away from it.
func (g *groups) plant(d drawn, r *rand.Rand, rule int, share float64, to func(group int) (event, in bool)) {
	for i, row := range d.study[0] {
		turn := r.Float64() < share
		c := &g.cases[rule][d.from[i]]
		if group := g.cases[rule][i].Group; turn && group >= 0 && c.Recorded {
			if event, in := to(group); in && c.Event != event {
				row[c.Column] = c.Word
			}
		}
	}
}
