package interval

import "fmt"

// Method names the way an interval was computed; the names are part of the published report.
type Method string

// The methods of the published report.
const (
	MethodClopperPearson  Method = "clopper-pearson"
	MethodUniformMixture  Method = "uniform-mixture"
	MethodDirichlet       Method = "dirichlet"
	MethodSymPol          Method = "sympol"
	MethodHypergeometric  Method = "hypergeometric"
	MethodOrderStatistics Method = "order-statistics"
	MethodSignTest        Method = "sign-test"
	MethodBonferroni      Method = "clopper-pearson/bonferroni" // exact, the error divided by the number of groups
	MethodFisherProduct   Method = "fisher-product"
)

// Looks says how often the data may be looked at while the interval's confidence holds.
type Looks string

// One look, any number of looks up to a planned number of units, or any number of looks.
const (
	LooksOne     Looks = "one"
	LooksPlanned Looks = "planned"
	LooksAny     Looks = "any"
)

// Interval is a two-sided interval: each side is wrong with probability at most (1 − Confidence)/2.
// Lower or Upper is −Inf or +Inf where the method does not bound that side.
// Bounds are rounded outward (see round.go), so that every machine prints and compares the same numbers.
type Interval struct {
	Lower, Upper float64
	Confidence   float64 // announced, in [0.5, 1)
	Method       Method
	Looks        Looks
}

// Scale is the closed range that values are known to lie in before any is seen.
type Scale struct{ Lower, Upper float64 }

// The two scales in use: rates on [0, 1], differences on [-1, 1].
var (
	Unit       = Scale{0, 1}
	Difference = Scale{-1, 1}
)

// Width returns Upper − Lower.
func (i Interval) Width() float64 { return i.Upper - i.Lower }

// checkConfidence refuses a confidence outside [0.5, 1), NaN included.
func checkConfidence(confidence float64) error {
	if !(confidence >= 0.5 && confidence < 1) {
		return fmt.Errorf("confidence is %v; it must be at least 0.5 and below 1", confidence)
	}
	return nil
}

// sideError returns the error a = (1 − confidence)/2 that each side of an interval is allowed.
func sideError(confidence float64) float64 { return (1 - confidence) / 2 }

// checkCounts refuses counts that cannot be: negative ones, more events than trials, more than maxCount.
func checkCounts(k, missing, n int) error {
	switch {
	case n < 0 || n > maxCount:
		return fmt.Errorf("the denominator is %d; it must be from 0 to %d", n, maxCount)
	case k < 0 || missing < 0:
		return fmt.Errorf("the counts are %d events and %d missing; neither can be negative", k, missing)
	case k > n || missing > n-k:
		return fmt.Errorf("%d events and %d missing exceed the denominator %d", k, missing, n)
	}
	return nil
}
