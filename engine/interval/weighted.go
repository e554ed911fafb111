package interval

import (
	"cmp"
	"fmt"
	"slices"
)

// MethodWeightedMixture names WeightedMixture in the report.
const MethodWeightedMixture Method = "weighted-mixture"

// WeightedMixture returns the interval for the mean over a whole corpus of which each item was drawn with a chance π of
// its own, independently of the others. low[i] <= high[i] are the two completions, in [0, 1], of the value of the i-th
// item drawn, and weights[i] = c/π is its weight v, in (0, 1]: c is the least chance of any item of the corpus, drawn
// or not. Nothing need be known of the items not drawn, not even how many there are. No item drawn gives [0, 1].
//
// With z the values and m a mean in [0, 1],
//
//	E(m) = ∫₀¹ Π (1 + θ·vᵢ·(zᵢ/m − 1)) dθ,   lower = sup{m : E(m) >= 1/a},   a = (1 − confidence)/2
//
// and the upper end is the mirror image. Over the draw, an item's factor has the expectation 1 + θ·c·(z/m − 1), drawn or
// not; at the corpus's mean the product of these over all its items is at most 1, since a geometric mean is at most the
// arithmetic one. So E has an expectation of at most 1 there, and by Markov's inequality reaches 1/a with probability
// at most a, whatever the values and however they go with the chances. One look.
//
// It is not for a fixed number of items drawn with unlike chances, nor for a floor under the number drawn. Weights
// that are all 1 give UniformMixture. The interval contains the Hájek estimate Σ vᵢzᵢ / Σ vᵢ, is monotone in every value
// and nested in the confidence.
//
// Ends are rounded outward to multiples of 1e-10. It is an error for the lists to differ in length, for a value to be
// NaN, outside [0, 1] or above its other completion, for a weight to be outside (0, 1], or for confidence to be outside
// [0.5, 1).
func WeightedMixture(low, high, weights []float64, confidence float64) (Interval, error) {
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, err
	}
	if err := checkValues(low, high, Unit); err != nil {
		return Interval{}, err
	}
	if len(weights) != len(low) {
		return Interval{}, fmt.Errorf("%d weights for %d values; there must be as many", len(weights), len(low))
	}
	worst, best := make([]weighted, len(low)), make([]weighted, len(low))
	for i, v := range weights {
		if !(v > 0 && v <= 1) {
			return Interval{}, fmt.Errorf("weight %d is %v; it must be above 0 and at most 1", i+1, v)
		}
		worst[i] = weighted{v, unitValue(low[i])}
		best[i] = weighted{v, unitValue(1 - high[i])}
	}
	a := sideError(confidence)
	return Interval{
		Lower: meanLower(weightedLower(worst, a), Unit), Upper: meanUpper(1-weightedLower(best, a), Unit),
		Confidence: confidence, Method: MethodWeightedMixture, Looks: LooksOne,
	}, nil
}

// weighted is the value of an item drawn, with its weight.
type weighted struct{ weight, value float64 }

// weightedLower is the lower end on [0, 1], before rounding. It reorders the items.
func weightedLower(items []weighted, a float64) float64 {
	// Sorted before anything is added up, so that the order of rows cannot matter.
	slices.SortFunc(items, func(x, y weighted) int {
		return cmp.Or(cmp.Compare(x.weight, y.weight), cmp.Compare(x.value, y.value))
	})
	var levels []level
	var weights []float64 // of each level
	total, sum := 0.0, 0.0
	for i, item := range items {
		total += item.weight
		sum += float64(item.weight * item.value)
		if i == 0 || item != items[i-1] {
			levels, weights = append(levels, level{value: item.value}), append(weights, item.weight)
		}
		levels[len(levels)-1].count++
	}
	// E(m) <= exp(Σ vz/m), so the lower end is at most sum/ln(1/a): a sum so small that terms could underflow has
	// an end far below the step of rounding.
	if !(sum > negligibleMean) {
		return 0
	}
	// As (1 − θ)^v <= 1 − θv, E(m) is at least Σ vz/m · ∫ θ(1 − θ)^V dθ with V the total: hence the furthest m that
	// need be tried. The first step is that of equal values.
	target := -ln(a)
	furthest := target + ln(float64((total+1)*(total+2))/total)
	slopes := make([]float64, len(levels))
	return largestRejected(sum/total, target/total, furthest, func(m float64) float64 {
		for i, l := range levels {
			slopes[i] = float64(weights[i] * ((l.value - m) / m))
		}
		return lnMixture(levels, slopes) - target
	})
}
