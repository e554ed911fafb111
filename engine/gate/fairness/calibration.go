package fairness

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// bin is the cases of a group whose probability lies in one of the bins of equal width.
type bin struct {
	at            int // which one
	n, labels     int // cases, at least one, and those with label 1
	probabilities rows.Sum
}

// bins are the bins of a group that have a case, in ascending order: of 10,000 groups with 1,000 bins each few do.
type bins []bin

// merge adds the cases of a bin.
func (b *bins) merge(more bin) {
	i, found := slices.BinarySearchFunc(*b, more.at, func(x bin, at int) int { return cmp.Compare(x.at, at) })
	if !found {
		*b = slices.Insert(*b, i, more)
		return
	}
	x := &(*b)[i]
	x.n, x.labels, x.probabilities = x.n+more.n, x.labels+more.labels, x.probabilities.Merge(more.probabilities)
}

// binEdges returns where each of so many bins of [0, 1] but the first begins: the least number of 18 decimals that is i/bins or
// more, so that no probability of 18 decimals lies between the two.
func binEdges(bins int) []rows.Decimal {
	whole, _ := new(big.Int).SetString("1"+strings.Repeat("0", rows.Places), 10)
	list := make([]rows.Decimal, 0, bins-1)
	for i := 1; i < bins; i++ {
		edge, rest := new(big.Int).QuoRem(new(big.Int).Mul(whole, big.NewInt(int64(i))), big.NewInt(int64(bins)), new(big.Int))
		if rest.Sign() > 0 {
			edge.Add(edge, big.NewInt(1))
		}
		d, _, _ := rows.ParseDecimal(fmt.Sprintf("%0*de-%d", rows.Places, edge, rows.Places)) // digits only: cannot fail
		list = append(list, d)
	}
	return list
}

// binOf returns the number of the bin that a probability lies in: [i/b, (i+1)/b), the last one with 1.
func binOf(edges []rows.Decimal, probability rows.Decimal) int {
	return sort.Search(len(edges), func(i int) bool { return probability.Cmp(edges[i]) < 0 })
}

// calibration is the expected calibration error of a group's cases with a label and a probability: the sum over bins of the
// distance between their labels' and their probabilities' sums, over the number of cases. It is an exact sum and one
// division. Beside it stands what it would be on average if the probabilities were right: in bins of n cases with the mean
// probability p, E|Bin(n, p)/n − p| each, weighted by cases; even then it is above 0, the more so the fewer the cases are.
func calibration(list bins, labels map[string]string) report.Measure {
	m := report.Measure{Metric: calibrationError, Labels: labels, Scale: &report.Scale{Lower: 0, Upper: 1}, UnitName: "cases"}
	n := 0
	distance := new(big.Int)
	expected := 0.0
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(rows.Places), nil)
	for _, b := range list {
		n += b.n
		labels := new(big.Int).Mul(unit, big.NewInt(int64(b.labels)))
		distance.Add(distance, labels.Sub(labels, b.probabilities.Big()).Abs(labels))
		expected += float64(float64(b.n) * interval.MeanDeviation(b.n, b.probabilities.Over(int64(b.n))))
	}
	m.Units, m.Denominator = report.Int(n), report.Int(n)
	if n == 0 {
		m.Conditions = "Nothing was measured: no case of the group has both a label and a probability."
		return m
	}
	x, _ := new(big.Rat).SetFrac(distance, unit.Mul(unit, big.NewInt(int64(n)))).Float64()
	m.Estimate = report.Number(x)
	// Twelve digits are far within the accuracy of the deviations, and the same on every machine.
	y, _ := strconv.ParseFloat(strconv.FormatFloat(expected/float64(n), 'g', 12, 64), 64)
	m.UnderCalibration = report.Number(y)
	return m
}

// mostBinsListed is how many bins of an attribute's groups a report lists in all; of more it lists none.
const mostBinsListed = 2000

// listBins publishes bins of so many of equal width. With minShown above 0 it leaves out those with fewer cases of either label.
func listBins(list bins, of, minShown int) []report.CalibrationBin {
	var out []report.CalibrationBin
	for _, b := range list {
		if b.labels < minShown || b.n-b.labels < minShown {
			continue
		}
		out = append(out, report.CalibrationBin{From: float64(b.at) / float64(of), To: float64(b.at+1) / float64(of),
			Probability: b.probabilities.Over(int64(b.n)), Positives: b.labels, Cases: b.n})
	}
	return out
}
