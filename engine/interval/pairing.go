package interval

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// MethodPairingAverage names PairingAverage in the report.
const MethodPairingAverage Method = "pairing-average"

// The pairings that are averaged: so many, drawn by a generator of this seed; fewer where the cells of a
// pairing are so many that the work (pairings · cells²) would pass mostPairingWork. Looking for a size takes guessPairings.
const (
	mostPairings    = 1000
	leastPairings   = 50
	mostPairingWork = 400_000_000
	pairingSeed     = 0x6f6c6f70726f6f66
	guessPairings   = 100
)

// MostNeededPairs is the number of people, or of cases where they are fewer, at which NeededPairs stops searching.
const MostNeededPairs = 500

// PairingAverage returns the interval for the mean over people and cases that are both drawn at random,
// independently. low[p][c] <= high[p][c] are the two completions of the value of person p on case c, in [-1, 1]; a
// pair without a value is −1 and 1. Every row has the same number of cases. The order of rows and columns must have
// nothing to do with the values (a hash of the ids): it is then valid for the one fixed seed used here.
//
// A pairing gives each member of the smaller side another member of the larger. Its n = min(people, cases) cells are
// independent and alike, so E(m) of UniformMixture on them is an e-value; the average of the e-values of a fixed set
// of pairings is one too, and
//
//	lower = sup{m : average of E(m) >= 1/a},   a = (1 − confidence)/2
//
// with the mirror image for the upper end. One look. With A_k(y) the mean over the k-subsets of the product of their
// values, E(m) = 1/(n+1)·Σ A_k m^{−k}, so the A_k are what is averaged.
//
// A pairing that happens to meet one set of very unlike cells can carry the average past 1/a at the mean of all cells
// itself. Each end is therefore moved, where need be, as far out as that mean (of the low values for the lower end, of the
// high ones for the upper), so that the interval holds what is printed as its estimate; moving outward costs no validity.
// It is monotone in every value and nested in the confidence. Ends are rounded outward to multiples of 1e-10.
//
// Errors: no cell, rows of different lengths, values that are NaN, off the scale or above their other completion,
// confidence outside [0.5, 1).
func PairingAverage(low, high [][]float64, confidence float64) (Interval, error) {
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, err
	}
	if len(low) == 0 || len(low) != len(high) || len(low[0]) == 0 {
		return Interval{}, fmt.Errorf("%d and %d rows of cells; a pairing needs as many rows as the other completion has, and a cell", len(low), len(high))
	}
	for p := range low {
		if len(low[p]) != len(low[0]) {
			return Interval{}, fmt.Errorf("row %d has %d cells, row 0 has %d", p, len(low[p]), len(low[0]))
		}
		if err := checkValues(low[p], high[p], Difference); err != nil {
			return Interval{}, fmt.Errorf("row %d: %w", p, err)
		}
	}
	a := sideError(confidence)
	lower := pairingLower(len(low), len(low[0]), mostPairings, func(p, c int) float64 { return unitValue((low[p][c] + 1) / 2) }, a)
	upper := pairingLower(len(low), len(low[0]), mostPairings, func(p, c int) float64 { return unitValue((1 - high[p][c]) / 2) }, a)
	return Interval{
		Lower: meanLower(float64(2*lower)-1, Difference), Upper: meanUpper(1-float64(2*upper), Difference),
		Confidence: confidence, Method: MethodPairingAverage, Looks: LooksOne,
	}, nil
}

// NeededPairs returns about how many people and cases a study like the present one would need for the interval of
// PairingAverage to be as wanted; see it for the cells. Both grow by one factor: the present people and cases are repeated,
// in turn, and the real interval computed, though over fewer pairings. The answer is a guide, not a promise. more is true where
// MostNeededPairs of the fewer would not do; the numbers are then those. The errors are PairingAverage's.
func NeededPairs(low, high [][]float64, confidence float64, enough func(Interval) bool) (people, cases int, more bool, err error) {
	if _, err := PairingAverage(low, high, confidence); err != nil {
		return 0, 0, false, err
	}
	a, fewer, larger := sideError(confidence), min(len(low), len(low[0])), max(len(low), len(low[0]))
	at := func(n int) (people, cases int) {
		m := (larger*n + fewer - 1) / fewer
		if len(low) <= len(low[0]) {
			return n, m
		}
		return m, n
	}
	// More of the same never widen the interval by much, so the search may take it that they never do.
	n, more := searchUpTo(fewer, max(fewer, MostNeededPairs), func(n int) bool {
		people, cases := at(n)
		lower := pairingLower(people, cases, guessPairings, func(p, c int) float64 { return unitValue((low[p%len(low)][c%len(low[0])] + 1) / 2) }, a)
		upper := pairingLower(people, cases, guessPairings, func(p, c int) float64 { return unitValue((1 - high[p%len(low)][c%len(low[0])]) / 2) }, a)
		return enough(Interval{Lower: float64(2*lower) - 1, Upper: 1 - float64(2*upper), Confidence: confidence, Method: MethodPairingAverage, Looks: LooksOne})
	})
	people, cases = at(n)
	return people, cases, more, nil
}

// pairingLower is the lower end on [0, 1] of the mean of the cells y(p, c), never above the mean of the cells at hand. It
// averages so many pairings at most.
func pairingLower(people, cases, pairings int, y func(p, c int) float64, a float64) float64 {
	n, most := min(people, cases), max(people, cases)
	pairings = min(pairings, max(leastPairings, mostPairingWork/(n*n)))
	// The two passes over the same pairings: first the largest mean of one, which scales the A_k to at most 1
	// (Maclaurin's inequality); then the A_k themselves.
	each := func(visit func(values []float64)) {
		generator := rand.NewPCG(pairingSeed, uint64(n))
		larger, values := make([]int, most), make([]float64, n)
		for i := range larger {
			larger[i] = i
		}
		for range pairings {
			for i := range n { // the first n of a shuffle, however they stood before
				j := i + int(below(generator, uint64(most-i)))
				larger[i], larger[j] = larger[j], larger[i]
				if people <= cases {
					values[i] = y(i, larger[i])
				} else {
					values[i] = y(larger[i], i)
				}
			}
			visit(values)
		}
	}
	scale := 0.0
	each(func(values []float64) {
		total := 0.0
		for _, v := range values {
			total += v
		}
		scale = math.Max(scale, total/float64(n))
	})
	if scale <= 0 {
		return 0
	}
	sums, A := make([]float64, n+1), make([]float64, n+1)
	each(func(values []float64) {
		clear(A)
		A[0] = 1
		for i, v := range values {
			j, t := float64(i+1), v/scale
			for k := i + 1; k >= 1; k-- {
				share := float64(k) / j
				A[k] = float64((1-share)*A[k]) + float64(float64(share*t)*A[k-1])
			}
		}
		for k, x := range A {
			sums[k] += x
		}
	})
	logs := make([]float64, 0, n+1) // ln of the average A_k; −Inf where it is 0, which is left out
	order := make([]float64, 0, n+1)
	for k, x := range sums {
		if x > 0 {
			logs, order = append(logs, ln(x/float64(pairings))), append(order, float64(k))
		}
	}
	target := ln(float64(n+1)) - ln(a)
	lo, hi := 0.0, scale
	for range 70 {
		mid := (lo + hi) / 2
		if mid <= lo || mid >= hi {
			break
		}
		if lnSum(logs, order, ln(scale/mid)) >= target {
			lo = mid
		} else {
			hi = mid
		}
	}
	total := 0.0
	for p := range people {
		for c := range cases {
			total += y(p, c)
		}
	}
	return math.Min(lo, total/float64(people)/float64(cases))
}

// lnSum is ln Σ exp(logs[i] + order[i]·step).
func lnSum(logs, order []float64, step float64) float64 {
	top := math.Inf(-1)
	for i, l := range logs {
		top = math.Max(top, l+float64(order[i]*step))
	}
	sum := 0.0
	for i, l := range logs {
		sum += exp(l + float64(order[i]*step) - top)
	}
	return top + ln(sum)
}

// below draws a whole number in [0, n) without bias.
func below(generator *rand.PCG, n uint64) uint64 {
	limit := math.MaxUint64 - math.MaxUint64%n
	for {
		if x := generator.Uint64(); x < limit {
			return x % n
		}
	}
}
