package audit

import (
	"slices"
	"strconv"

	"github.com/oloproof/oloproof/engine/interval"
)

// compareCells are the cells of the gate compare: cases, trials, kind of list and kind of difference in every combination, with
// cells for missing trials and for the extremes around them.
func compareCells() []Cell {
	return slices.Concat(versionsMain(), versionsMissing(), versionsExtremes())
}

// change is how two versions differ, by kind of case.
type change struct {
	name  string
	kinds []Chances
}

// changes are those of the main cells.
func changes() []change {
	return []change{
		{"none", []Chances{{0.95, 0.95, 2}, {0.6, 0.6, 1}, {0.1, 0.1, 1}}},
		{"+0.1", []Chances{{0.85, 0.95, 2}, {0.1, 0.2, 1}}},
		{"most up a little, some down much", []Chances{{0.5, 0.6, 4}, {0.95, 0.25, 1}}},
	}
}

// versionsCell is a cell of two versions. Its targets are those that its studies can answer.
func versionsCell(m Compare, change, missing string) Cell {
	equal := m.Trials[0] == m.Trials[1]
	difference := Target{Name: "pass_rate_difference", Rule: "metric: pass_rate_difference, minimum: %s", Truth: "pass_rate_difference", Scale: interval.Difference}
	rate := Target{Name: "rate", Rule: "metric: rate, minimum: %s", Truth: "rate/candidate"}
	targets := []Target{difference, rate}
	if !m.Fixed { // a fixed list refuses it: its cases differ
		once := difference
		once.Name += ", looks once"
		once.Rule += ", looks: once, planned: " + strconv.Itoa(m.Cases)
		targets = append(targets, once)
	}
	if !slices.ContainsFunc(m.Kinds, func(k Chances) bool { return k.Baseline != k.Candidate }) { // whatever is missing
		targets = append(targets, Target{Name: "sign_test", Rule: "metric: sign_test"})
		if !m.Fixed {
			targets = append(targets, Target{Name: "sign_test, looks repeated", Rule: "metric: sign_test, looks: repeated"})
		}
	}
	if equal && m.Trials[0] > 1 {
		m.K = m.Trials[0]
		if m.Cases == 30 { // then a case is a fraction
			m.K = 3
		}
		k := ", k: " + strconv.Itoa(m.K)
		targets = append(targets,
			Target{Name: "pass_all_k", Rule: "metric: pass_all_k, minimum: %s" + k, Truth: "pass_all_k/candidate"},
			Target{Name: "pass_at_k", Rule: "metric: pass_at_k, minimum: %s" + k, Truth: "pass_at_k/candidate"})
	}
	rows := m.Cases * (m.Trials[0] + m.Trials[1])
	list := "sampled"
	if m.Fixed {
		list = "fixed"
	}
	c := Cell{Model: m, Targets: targets, Rivals: slices.Concat(passDifferenceRivals(difference.Name), passRateRivals(rate.Name)), Studies: studies(2 * rows)}
	if rows <= 180 && (m.Cases < 30 || missing != nothingMissing || m.Trials[0] > m.Trials[1]) { // 100 studies take about a tenth of a second
		c.Quick = 100
	}
	return cell("compare", []Factor{
		{"cases", strconv.Itoa(m.Cases)}, {"trials", strconv.Itoa(m.Trials[0]) + "/" + strconv.Itoa(m.Trials[1])}, {"list", list}, {"change", change}, {missingFactor, missing},
	}, c)
}

// versionsMain are the main cells.
func versionsMain() []Cell {
	var list []Cell
	for _, cases := range []int{8, 30, 164} {
		for _, trials := range [][2]int{{1, 1}, {5, 5}, {5, 1}, {10, 1}} {
			for _, fixed := range []bool{false, true} {
				for _, c := range changes() {
					list = append(list, versionsCell(Compare{Cases: cases, Trials: trials, Kinds: c.kinds, Fixed: fixed}, c.name, nothingMissing))
				}
			}
		}
	}
	return list
}

// versionsMissing are cells in which trials have no result: at random in both versions, or by how they would have ended, in the
// candidate alone, which crashes where it would have failed, say.
func versionsMissing() []Cell {
	var list []Cell
	for _, v := range []struct {
		name           string
		failed, passed [2]float64
	}{
		{"at random", [2]float64{0.1, 0.1}, [2]float64{0.1, 0.1}},
		{"failed ones vanish", [2]float64{0, 0.5}, [2]float64{}},
		{"passed ones vanish", [2]float64{}, [2]float64{0, 0.5}},
	} {
		for _, trials := range [][2]int{{1, 1}, {5, 5}} {
			for _, fixed := range []bool{false, true} {
				none := changes()[0]
				list = append(list, versionsCell(Compare{Cases: 30, Trials: trials, Kinds: none.kinds, Fixed: fixed, MissingFailed: v.failed, MissingPassed: v.passed}, none.name, v.name))
			}
		}
	}
	return list
}

// versionsExtremes are cells at the edge: everything passes or fails, a pass is rare, cases that always end the same way, and lists of
// cases of which a single one is open.
func versionsExtremes() []Cell {
	var list []Cell
	for _, c := range []struct {
		change
		cases  int
		trials [2]int
	}{
		{change{"none, all pass", []Chances{{1, 1, 1}}}, 30, [2]int{5, 5}},
		{change{"none, all fail", []Chances{{0, 0, 1}}}, 30, [2]int{5, 5}},
		{change{"from all fail to all pass", []Chances{{0, 1, 1}}}, 30, [2]int{1, 1}},
		{change{"none, a pass is rare", []Chances{{0.01, 0.01, 1}}}, 30, [2]int{5, 5}},
		{change{"none, one case is open", []Chances{{0, 0, 29}, {0.3, 0.3, 1}}}, 30, [2]int{5, 5}},
		{change{"one case opens", []Chances{{0, 0, 29}, {0, 0.5, 1}}}, 30, [2]int{1, 1}},
		{change{"half up, half down, always", []Chances{{0, 1, 1}, {1, 0, 1}}}, 30, [2]int{1, 1}},
		{change{"half up, half down, always", []Chances{{0, 1, 1}, {1, 0, 1}}}, 8, [2]int{5, 5}},
	} {
		for _, fixed := range []bool{false, true} {
			list = append(list, versionsCell(Compare{Cases: c.cases, Trials: c.trials, Kinds: c.kinds, Fixed: fixed}, c.name, nothingMissing))
		}
	}
	return list
}
