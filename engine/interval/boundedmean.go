package interval

import (
	"fmt"
	"math"
	"slices"
)

// A MeanMethod computes an interval for the mean of bounded values, one value per independent unit.
// low[i] <= high[i] are the worst and the best that unit i's value can be, equal where nothing is missing;
// both lie on the scale. UniformMixture, Dirichlet and SymPol are the three.
type MeanMethod func(low, high []float64, scale Scale, confidence float64) (Interval, error)

// A level is a distinct value among the units, moved to [0, 1], and how many units have it.
type level struct {
	value float64
	count float64
}

// A sample holds the distinct values of all units, in increasing order, with their mean. All methods work
// on it alone, so the order of rows cannot matter.
type sample struct {
	levels []level
	n      float64
	mean   float64
}

// A lowerEnd computes, for a sample on [0, 1] with a positive mean, the lower end for the mean
// at the error a in (0, 1/4], as a number in [0, mean].
type lowerEnd func(s sample, a float64) float64

// meanEnds says how each method computes its lower end, and how often its data may be looked at.
func meanEnds(method Method) (end lowerEnd, looks Looks, err error) {
	switch method {
	case MethodUniformMixture:
		return mixtureLower, LooksAny, nil
	case MethodDirichlet:
		return dirichletLower, LooksPlanned, nil
	case MethodSymPol:
		return symPolLower, LooksPlanned, nil
	}
	return nil, "", fmt.Errorf("%q is no method for means; those are %s, %s and %s", method, MethodUniformMixture, MethodDirichlet, MethodSymPol)
}

// boundedMean is the common body of the three methods.
func boundedMean(low, high []float64, scale Scale, confidence float64, method Method) (Interval, error) {
	worst, best, err := meanSamples(low, high, scale, confidence)
	if err != nil {
		return Interval{}, err
	}
	return meanInterval(worst, best, scale, confidence, method)
}

// meanSamples checks the arguments of a MeanMethod and returns the two samples that its ends are computed
// from: the worst values measured from the scale's lower end, the best ones from its upper end.
func meanSamples(low, high []float64, scale Scale, confidence float64) (worst, best sample, err error) {
	if err := checkConfidence(confidence); err != nil {
		return sample{}, sample{}, err
	}
	if err := checkValues(low, high, scale); err != nil {
		return sample{}, sample{}, err
	}
	width := scale.Upper - scale.Lower
	fromLower, fromUpper := make([]float64, len(low)), make([]float64, len(high))
	for i := range low {
		fromLower[i] = unitValue((low[i] - scale.Lower) / width)
		fromUpper[i] = unitValue((scale.Upper - high[i]) / width)
	}
	return newSample(fromLower), newSample(fromUpper), nil
}

// meanInterval computes the two ends from their samples and rounds them outward.
func meanInterval(worst, best sample, scale Scale, confidence float64, method Method) (Interval, error) {
	end, looks, err := meanEnds(method)
	if err != nil {
		return Interval{}, err
	}
	lower, upper := unroundedMean(worst, best, scale, confidence, end)
	return Interval{meanLower(lower, scale), meanUpper(upper, scale), confidence, method, looks}, nil
}

// negligibleMean is a mean on [0, 1] whose lower end is taken to be 0, as it is for a mean of exactly 0: it
// is far below the step of rounding, and larger ones cannot underflow in any method.
const negligibleMean = 1e-100

// unroundedMean returns the two ends on the scale, before rounding: U on the values is 1 − L on their
// mirror image.
func unroundedMean(worst, best sample, scale Scale, confidence float64, end lowerEnd) (lower, upper float64) {
	a, width := sideError(confidence), scale.Upper-scale.Lower
	lower, upper = scale.Lower, scale.Upper
	if worst.mean > negligibleMean {
		lower += float64(width * end(worst, a))
	}
	if best.mean > negligibleMean {
		upper -= float64(width * end(best, a))
	}
	return lower, upper
}

// roundingExcess is how far outside the scale, relative to its width, a value may lie through the rounding
// of sums and quotients; it is then moved to the end of the scale. Anything further out is an error.
const roundingExcess = 1e-12

// checkValues refuses lists of different lengths, a scale without width, and values that are not
// numbers, lie outside the scale or have low above high.
func checkValues(low, high []float64, scale Scale) error {
	width := scale.Upper - scale.Lower
	if !(width > 0) || width > math.MaxFloat64 {
		return fmt.Errorf("the scale is %v to %v; its ends must be finite and the first below the second", scale.Lower, scale.Upper)
	}
	if len(low) != len(high) {
		return fmt.Errorf("%d values for the lower end and %d for the upper; there must be as many of each", len(low), len(high))
	}
	excess := float64(roundingExcess * width)
	for i := range low {
		if !(low[i] >= scale.Lower-excess && high[i] <= scale.Upper+excess) {
			return fmt.Errorf("value %d is %v to %v; it must lie on the scale, %v to %v", i+1, low[i], high[i], scale.Lower, scale.Upper)
		}
		if !(low[i] <= high[i]) {
			return fmt.Errorf("value %d has the lower completion %v above the upper one %v", i+1, low[i], high[i])
		}
	}
	return nil
}

// unitValue removes a rounding excess, and the sign of a negative zero.
func unitValue(y float64) float64 {
	if y <= 0 {
		return 0
	}
	return math.Min(y, 1)
}

// newSample sorts the values, which it may reorder, and counts the distinct ones.
func newSample(values []float64) sample {
	slices.Sort(values)
	var s sample
	for _, v := range values {
		if len(s.levels) == 0 || s.levels[len(s.levels)-1].value != v {
			s.levels = append(s.levels, level{value: v})
		}
		s.levels[len(s.levels)-1].count++
	}
	return s.summed()
}

// summed fills in the number of units and their mean from the levels.
func (s sample) summed() sample {
	sum := 0.0
	s.n = 0
	for _, l := range s.levels {
		s.n += l.count
		sum += float64(l.count * l.value)
	}
	if s.n > 0 {
		s.mean = sum / s.n
	}
	return s
}

// largestRejected returns the largest m that is still rejected, where m runs from mean·e^(−furthest) to the mean,
// the first is rejected and the mean is not, and rejection is monotone. excess(m) is positive or zero where m
// is rejected, and grows as m falls. The answer is on the rejected side, so that numerical error in m
// widens the interval; its relative error is below 4e-15.
//
// The search is over d = ln(mean/m), in which both close and far answers are resolved: it doubles d from
// step until the sign changes, then closes the bracket by false position (the Illinois variant).
func largestRejected(mean, step, furthest float64, excess func(m float64) float64) float64 {
	at := func(d float64) float64 { return excess(float64(mean * exp(-d))) }
	near, far := 0.0, math.Min(step, furthest)
	fNear, fFar := math.Inf(-1), at(far)
	for fFar < 0 && far < furthest {
		near, fNear = far, fFar
		far = math.Min(far+far, furthest)
		fFar = at(far)
	}
	if fFar < 0 {
		return 0 // only numerical error could bring us here; 0 is always a valid lower end
	}
	side := 0
	for range 200 {
		tolerance := float64(2e-15 * math.Max(1, far))
		if far-near <= tolerance {
			break
		}
		d := near + float64((far-near)/2)
		if fNear > math.Inf(-1) && fFar < math.Inf(1) {
			d = near + float64((far-near)*(fNear/(fNear-fFar)))
		}
		// A point on top of an end would not move the other one.
		d = math.Min(math.Max(d, near+float64(tolerance/2)), far-float64(tolerance/2))
		f := at(d)
		if f >= 0 {
			far, fFar = d, f
			if side == 1 {
				fNear /= 2
			}
			side = 1
		} else {
			near, fNear = d, f
			if side == -1 {
				fFar /= 2
			}
			side = -1
		}
	}
	return float64(mean * exp(-far))
}
