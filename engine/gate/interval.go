package gate

import (
	"fmt"
	"slices"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
)

// Rate returns the interval of a rate of independent 0/1 units under a policy's `looks`: exact at one look,
// the 0/1 sequence where looks are repeated. k of n units are events and missing more are not recorded; they
// are completed both ways.
func Rate(k, missing, n int, j policy.Judging) (interval.Interval, error) {
	if j.Looks.Value == policy.LooksRepeated {
		return interval.RateSequence(k, missing, n, j.Confidence.Value)
	}
	return interval.ClopperPearson(k, missing, n, j.Confidence.Value)
}

// Mean returns the interval of a mean over independent units under a policy's `looks`. low and high are the
// units' values under the two completions of what is missing.
//
// Without `looks: once` it is the uniform mixture. With it, it is Dirichlet (or SymPol) at the planned number
// of units: of the enrolled ones, those that are not there yet are added at the worst value for each side,
// which keeps the error over any number of looks up to the plan (audit of the intervals, section 3). More
// units enrolled than planned break the plan: the uniform mixture is returned, and broken says so.
func Mean(low, high []float64, scale interval.Scale, enrolled int, j policy.Judging) (iv interval.Interval, broken string, err error) {
	method := MeanMethod(j)
	if j.Looks.Value == policy.LooksOnce {
		if enrolled > j.Planned.Value {
			broken = fmt.Sprintf("%d are enrolled where %d were planned, and the interval of looks: once holds for the planned number only", enrolled, j.Planned.Value)
			method = interval.UniformMixture
		} else {
			absent := j.Planned.Value - enrolled
			low = append(slices.Clip(low), slices.Repeat([]float64{scale.Lower}, absent)...)
			high = append(slices.Clip(high), slices.Repeat([]float64{scale.Upper}, absent)...)
		}
	}
	iv, err = method(low, high, scale, j.Confidence.Value)
	return iv, broken, err
}

// MeanMethod is the interval that a policy's `looks` and `mean_method` choose for means.
func MeanMethod(j policy.Judging) interval.MeanMethod {
	switch {
	case j.Looks.Value != policy.LooksOnce:
		return interval.UniformMixture
	case j.MeanMethod.Value == policy.SymPol:
		return interval.SymPol
	}
	return interval.Dirichlet
}

// Conditions says in one sentence when an interval holds. unit names what is independent, in the plural.
func Conditions(iv interval.Interval, unit string, j policy.Judging) string {
	switch {
	case iv.Method == interval.MethodClopperPearson:
		return "Exact for independent " + unit + " of one rate, at one look."
	case iv.Method == interval.MethodBonferroni:
		return "Exact for independent " + unit + " of one rate, at one look. The error is divided by the number of groups, so that the intervals of all groups hold at once."
	case iv.Method == interval.MethodFisherProduct:
		return "Holds for independent " + unit + " of two groups that have none in common, each group of one rate, at every size and at one look."
	case iv.Method == interval.MethodUniformMixture && iv.Looks == interval.LooksAny:
		return "Holds for independent " + unit + " at any number of them, at one look; over repeated looks only while " + unit +
			" are added in an order unrelated to their values and earlier values stay, or while they stay fixed and what is recorded of each grows in random order."
	case iv.Looks == interval.LooksPlanned:
		return fmt.Sprintf("Holds for independent %s drawn alike, at any look up to the %d that were planned before the data were seen; those not there yet are counted both ways.", unit, j.Planned.Value)
	case iv.Method == interval.MethodOrderStatistics:
		return "Holds for independent " + unit + " drawn alike, at one look, whatever the distribution."
	}
	return ""
}
