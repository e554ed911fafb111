package interval

import (
	"fmt"
	"math/bits"
	"slices"
)

// MostNeeded is the number of units at which Needed and NeededRate stop searching.
const MostNeeded = 1_000_000

// Needed returns about how many units a study like the present one would need for its interval to be as wanted:
// enough says whether an interval is. low and high are the present units' values under their two completions.
//
// The present sample is stretched to n units by quantiles, for j = 1…n the one of place ⌊(j−1)·len/n⌋ + 1 for the lower end and
// that of place ⌈j·len/n⌉ for the upper one, which are the same where n is a multiple of len; else no lucky rounding makes n look
// enough. Its real interval is computed by method, and the smallest such n at or above the present number is found by doubling
// and bisection, to within one part in 256. The spread of few units is itself uncertain, so the answer is a guide, not a promise. more is true, and n is MostNeeded,
// where even that many would not do. An empty sample gives 0.
func Needed(method MeanMethod, low, high []float64, scale Scale, confidence float64, enough func(Interval) bool) (n int, more bool, err error) {
	if err := checkValues(low, high, scale); err != nil {
		return 0, false, err
	}
	if len(low) == 0 {
		return 0, false, nil
	}
	lows, highs := slices.Sorted(slices.Values(low)), slices.Sorted(slices.Values(high))
	return search(len(low), func(n int) (bool, error) {
		iv, err := method(stretch(lows, n, false), stretch(highs, n, true), scale, confidence)
		return err == nil && enough(iv), err
	})
}

// NeededRate is Needed for a rate of independent 0/1 units, at the present shares of events and missing values, rounded to whole
// units downward for the lower end and upward for the upper one. The interval is exact, or the 0/1 sequence where repeated is set.
func NeededRate(k, missing, n int, confidence float64, repeated bool, enough func(Interval) bool) (units int, more bool, err error) {
	if n == 0 {
		return 0, false, nil
	}
	if err := checkCounts(k, missing, n); err != nil {
		return 0, false, err
	}
	method := ClopperPearson
	if repeated {
		method = RateSequence
	}
	return search(n, func(units int) (bool, error) {
		fewest, _ := shareOf(k, n, units)
		most, rest := shareOf(k+missing, n, units)
		if rest > 0 {
			most++
		}
		iv, err := method(fewest, most-fewest, units, confidence)
		return err == nil && enough(iv), err
	})
}

// shareOf is what is to units as k is to n, and what rests of its division by n. 0 <= k <= n.
func shareOf(k, n, units int) (whole int, rest uint64) {
	high, low := bits.Mul64(uint64(k), uint64(units))
	q, rest := bits.Div64(high, low, uint64(n))
	return int(q), rest
}

// stretch returns n values with the quantiles of a sorted sample, each rounded up or down to one of its values.
func stretch(sorted []float64, n int, up bool) []float64 {
	list := make([]float64, n)
	for j := range list {
		if up {
			list[j] = sorted[((j+1)*len(sorted)+n-1)/n-1]
		} else {
			list[j] = sorted[j*len(sorted)/n]
		}
	}
	return list
}

// search finds the smallest size from least on that will do, taking it that more do no worse.
func search(least int, will func(n int) (bool, error)) (n int, more bool, err error) {
	n, more = searchUpTo(least, MostNeeded, func(n int) bool {
		ok := false
		if err == nil {
			ok, err = will(n)
		}
		return ok || err != nil // an error ends the search
	})
	if err != nil {
		return 0, false, fmt.Errorf("looking for a size: %w", err)
	}
	return n, more, nil
}

// searchUpTo finds the smallest size from least to most that will do, to within one part in 256, by doubling and
// bisection; more is true, and n is most, where none will.
func searchUpTo(least, most int, will func(n int) bool) (n int, more bool) {
	bad, good := least-1, least
	for !will(good) {
		if good >= most {
			return most, true
		}
		bad, good = good, min(2*good, most)
	}
	for good-bad > 1+good/256 {
		middle := bad + (good-bad)/2
		if will(middle) {
			good = middle
		} else {
			bad = middle
		}
	}
	return good, false
}
