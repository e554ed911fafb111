package interval

import (
	"fmt"
	"math"
	"slices"
)

// Median returns the interval for the median of a population from which the values were drawn
// independently, by order statistics: [x₍ⱼ₎, x₍ₙ₊₁₋ⱼ₎] with the largest j for which
// P(Bin(n, ½) <= j − 1) <= (1 − confidence)/2. It holds with ties, for one look.
//
// low[i] <= high[i] are what unit i's value can be, equal where it was recorded; the lower end is taken from
// low and the upper from high. Infinite values are allowed: a missing time is 0 in low and +Inf in high. Where no j
// exists (five units or fewer at 0.95) neither side is bounded: −Inf and +Inf. Ends are values of the
// lists, unrounded. It is an error for the lists to differ in length, for a value to be NaN or above its
// other completion, or for confidence to be outside [0.5, 1).
func Median(low, high []float64, confidence float64) (Interval, error) {
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, err
	}
	if len(low) != len(high) {
		return Interval{}, fmt.Errorf("%d values for the lower end and %d for the upper; there must be as many of each", len(low), len(high))
	}
	for i := range low {
		if !(low[i] <= high[i]) {
			return Interval{}, fmt.Errorf("value %d is %v to %v; both must be numbers, the first not above the second", i+1, low[i], high[i])
		}
	}
	i := Interval{math.Inf(-1), math.Inf(1), confidence, MethodOrderStatistics, LooksOne}
	n := len(low)
	if j := medianRank(n, sideError(confidence)); j > 0 {
		i.Lower = slices.Sorted(slices.Values(low))[j-1]
		i.Upper = slices.Sorted(slices.Values(high))[n-j]
	}
	return i, nil
}

// medianRank returns the largest j with P(Bin(n, ½) <= j − 1) <= a, 0 if there is none. Above n = 53, where
// the tail is not exact, a j within 1e-12 of the limit is not taken.
func medianRank(n int, a float64) int {
	if n > 53 {
		a -= float64(a * 1e-12)
	}
	least, none := 0, n/2+1 // least is allowed (0 stands for no rank), none is not: its tail exceeds 1/4
	for none-least > 1 {
		j := (least + none) / 2
		if halfTail(n+1-j, n) <= a { // P(Bin <= j−1) = P(Bin >= n+1−j)
			least = j
		} else {
			none = j
		}
	}
	return least
}
