package humanai

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// mostCells is how many (person, case) cells a pairing average holds in memory: 16 bytes each.
const mostCells = 20_000_000

// generalized measures the accuracy difference over people and cases that are both drawn at random: the mean over
// (person, case) cells of with minus without, by the pairing average. A cell of a crossed study holds one decision,
// which under a fair coin between the conditions has the difference as its mean when counted as +1 (right with, wrong
// without) or −1. A cell without a decision is completed both ways.
//
// There is no interval where a person decided some case both ways in a study that is not before_after: such a cell has no
// one value.
func (v *view) generalized() (measured, error) {
	m := measured{Measure: report.Measure{
		Metric: accuracyDifference, Labels: v.label("generalize", peopleAndCases), Scale: &report.Scale{Lower: -1, Upper: 1}, UnitName: "pairs",
		Conditions: "Holds for people and cases both drawn at random, apart from each other, at one look; pairs share no person and no case, and what is missing counts every person with every case.",
	}}
	people, cases := v.peopleAndCases()
	index(people)
	index(cases)
	m.Units, m.LeftOut = report.Int(min(len(people), len(cases))), v.alsoLeftOut(nil, with, without)
	switch {
	case len(people) < 2 || len(cases) < 2:
		m.doubts.Undecided = gate.Doubtful("At least two people and two cases must have been decided.", "decisions of two people at least, on two cases at least")
		return m, nil
	case len(people) > mostCells/len(cases):
		m.doubts.Undecided = gate.Doubtful(fmt.Sprintf("%d people times %d cases are more cells than can be held (%d).", len(people), len(cases), mostCells),
			"fewer people or cases, or the rule without `generalize`")
		return m, nil
	}
	low, high := make([][]float64, len(people)), make([][]float64, len(people))
	for p := range low {
		low[p], high[p] = make([]float64, len(cases)), make([]float64, len(cases))
	}
	if v.design.name == beforeAfter {
		v.paired(people, cases, low, high)
	} else if !v.coin(people, cases, low, high) {
		m.doubts.Undecided = cmp.Or(v.designDoubt(), gate.Doubtful("Some people decided some cases once and others twice.", declareDesign))
		return m, nil
	}
	missing, recorded, lows, highs := 0, 0, 0, 0 // the sums over all cells are of whole numbers
	var estimate gate.Fractions
	for p := range low {
		for c := range low[p] {
			if low[p][c] < high[p][c] || low[p][c] == unseen {
				missing++
				if low[p][c] == unseen {
					low[p][c], high[p][c] = -1, 1
				}
				lows, highs = lows+int(low[p][c]), highs+int(high[p][c])
				continue
			}
			lows, highs = lows+int(low[p][c]), highs+int(high[p][c])
			recorded++
			estimate.Add(int(low[p][c]), 1, 1)
		}
	}
	iv, err := interval.PairingAverage(low, high, v.judging.Confidence.Value)
	if err != nil {
		return m, fmt.Errorf("%s: %w", accuracyDifference, err)
	}
	m.Interval, m.Missing = report.PublishInterval(iv), report.Int(missing)
	m.units = gate.NewPart("", slices.Concat(low...), slices.Concat(high...), recorded)
	cells := len(people) * len(cases)
	m.Completions = &report.Completions{Low: float64(lows) / float64(cells), High: float64(highs) / float64(cells)}
	m.need = func(t report.Threshold) *report.Needs { return gate.PairNeeds(low, high, *m.Completions, t, v.judging) }
	if recorded == 0 {
		m.doubts.Undecided = gate.Doubtful("Nothing was evaluated: no cell has what it needs recorded.", "recorded decisions")
		return m, nil
	}
	m.Estimate = report.Number(estimate.Over(recorded))
	m.doubts.Undecided = v.designDoubt()
	if g := v.gains(); m.doubts.Undecided.Why == "" && gate.Exceeds(g.oneArmed, g.people, v.judging.MaxLeftOut) {
		m.doubts.Undecided = notBoth(g, v.judging)
	}
	if how := v.unfairCoin(); how != "" {
		m.doubts.Review = how + ": `generalize` rests on a fair coin between the conditions for every person and case."
		m.Caution = "Rests on a fair coin between the conditions for every person and case, which the file does not look like."
	}
	return m, nil
}

// peopleAndCases are the ids of the view's decisions, not numbered yet.
func (v *view) peopleAndCases() (people, cases map[string]int) {
	people, cases = map[string]int{}, map[string]int{}
	for _, e := range v.entries {
		people[e.person], cases[e.item] = 0, 0
	}
	return people, cases
}

// mostlyEmpty reports whether more than three quarters of the (person, case) cells have no decision. An interval over people
// and cases would then be more than 1.5 wide through that alone, and is not worth the memory of its cells.
func (v *view) mostlyEmpty() bool {
	people, cases := v.peopleAndCases()
	pairs := map[pair]bool{}
	for _, e := range v.entries {
		pairs[pair{e.person, e.item}] = true
	}
	return len(cases) > 0 && len(people) > 4*len(pairs)/len(cases)
}

// unseen marks a cell without any decision, until it is completed.
const unseen = -2

// index numbers ids in an order that has nothing to do with their values: by a hash.
func index(ids map[string]int) {
	order := sortedKeys(ids)
	hash := func(id string) []byte {
		h := sha256.Sum256([]byte("oloproof pairing\x00" + id))
		return h[:]
	}
	slices.SortStableFunc(order, func(a, b string) int { return bytes.Compare(hash(a), hash(b)) })
	for i, id := range order {
		ids[id] = i
	}
}

// paired fills the cells of a before_after study: right with minus right without.
func (v *view) paired(people, cases map[string]int, low, high [][]float64) {
	for p := range low {
		for c := range low[p] {
			low[p][c], high[p][c] = unseen, unseen
		}
	}
	for _, e := range v.entries {
		lo, hi := 0.0, 1.0 // right, under the two completions
		if e.decision.recorded {
			if e.right() {
				lo = 1
			}
			hi = lo
		}
		if e.condition == without {
			lo, hi = -hi, -lo
		}
		p, c := people[e.person], cases[e.item]
		if low[p][c] == unseen { // the partner, until it is seen, is missing
			low[p][c], high[p][c] = lo, hi
			if e.condition == with {
				low[p][c]--
			} else {
				high[p][c]++
			}
			continue
		}
		// The second decision of the pair replaces the partner's two completions.
		if e.condition == with {
			low[p][c], high[p][c] = low[p][c]+lo, high[p][c]-1+hi
		} else {
			low[p][c], high[p][c] = low[p][c]+1+lo, high[p][c]+hi
		}
	}
}

// coin fills the cells of a crossed study. It reports whether each holds one decision at most, as it must.
func (v *view) coin(people, cases map[string]int, low, high [][]float64) bool {
	for p := range low {
		for c := range low[p] {
			low[p][c], high[p][c] = unseen, unseen
		}
	}
	for _, e := range v.entries {
		p, c := people[e.person], cases[e.item]
		switch {
		case low[p][c] != unseen:
			return false
		case !e.decision.recorded:
			low[p][c], high[p][c] = -1, 1
		case e.right() == (e.condition == with):
			low[p][c], high[p][c] = 1, 1
		default:
			low[p][c], high[p][c] = -1, -1
		}
	}
	return true
}

// unfairCoin says how a crossed study's conditions were visibly not drawn by a fair coin for each decision; "" where they
// may have been, and for a before_after study, which has none. It looks at the totals, at the people and at the cases.
func (v *view) unfairCoin() string {
	if v.design.name == beforeAfter {
		return ""
	}
	people, cases, all := map[string]*[2]int{}, map[string]*[2]int{}, [2]int{}
	count := func(by map[string]*[2]int, id string, c condition) {
		if by[id] == nil {
			by[id] = &[2]int{}
		}
		by[id][c]++
	}
	for _, e := range v.entries {
		all[e.condition]++
		count(people, e.person, e.condition)
		count(cases, e.item, e.condition)
	}
	switch {
	case interval.SignTest(all[with], all[without]) < 0.001:
		return fmt.Sprintf("%d decisions with the output and %d without", all[with], all[without])
	case lopsided(people):
		return "Some people decided nearly all of their cases with the output and others nearly all without"
	case lopsided(cases):
		return "Some cases were decided nearly always with the output and others nearly always without"
	}
	return ""
}

// lopsided reports counts per condition that differ far more than fair coins do. Σ (with − without)²/n has the mean 1
// and the variance 2·(1 − 1/n) for each of them; four standard deviations and eight more are beyond chance whatever their
// number (a chi-square of 2 degrees of freedom exceeds 2 + 4·2 + 8 with probability 0.00012). A split into exact
// halves lies below the mean and is never reported.
func lopsided(counts map[string]*[2]int) bool {
	sum, mean, variance := 0.0, 0.0, 0.0
	for _, id := range sortedKeys(counts) {
		n, d := float64(counts[id][0]+counts[id][1]), float64(counts[id][0]-counts[id][1])
		sum += d * d / n
		mean++
		variance += 2 * (1 - 1/n)
	}
	return sum > mean+float64(4*math.Sqrt(variance))+8
}
