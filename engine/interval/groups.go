package interval

import "fmt"

// Tally is a numerator and a denominator under one completion of what is missing.
type Tally struct{ K, N int }

// check refuses tallies that cannot be.
func (t Tally) check() error { return checkCounts(t.K, 0, t.N) }

// GroupRate returns the exact interval of the rate of one of several groups whose intervals are to hold all at once:
// the error is divided by their number (Bonferroni), so that each side is wrong with probability at most
// a = (1 − confidence)/(2·groups), and all of them together hold with probability at least confidence. The lower end
// is computed from low and the upper end from high, the tallies under the two completions of what is missing: they
// may differ in their denominators too, where the prediction decides what belongs to it. Adding a failure lowers both
// ends and adding a success raises both, so a completion that adds to low every failure it can, and to high every
// success it can, holds whatever is missing.
//
// Its Confidence is 1 − (1 − confidence)/groups, and its method is MethodBonferroni, MethodClopperPearson for one
// group. Ends are rounded outward to 10 significant digits. It is an error for groups to be below 1, and otherwise
// as in ClopperPearson.
func GroupRate(low, high Tally, confidence float64, groups int) (Interval, error) {
	if err := checkGroups(low, high, confidence, groups); err != nil {
		return Interval{}, err
	}
	a := sideError(confidence) / float64(groups)
	i := Interval{Confidence: dividedConfidence(confidence, groups), Method: MethodBonferroni, Looks: LooksOne}
	if groups == 1 {
		i.Method = MethodClopperPearson
	}
	i.Lower, i.Upper = exactLower(low, a), exactUpper(high, a)
	return i, nil
}

// GroupRateSequence is GroupRate for any number of looks: the 0/1 sequence of RateSequence, each side wrong with
// probability at most (1 − confidence)/(2·groups) over all looks together.
func GroupRateSequence(low, high Tally, confidence float64, groups int) (Interval, error) {
	if err := checkGroups(low, high, confidence, groups); err != nil {
		return Interval{}, err
	}
	a := sideError(confidence) / float64(groups)
	i := Interval{Lower: 0, Upper: 1, Confidence: dividedConfidence(confidence, groups), Method: MethodUniformMixture, Looks: LooksAny}
	if low.K > 0 {
		i.Lower = rateLower(mixtureLower(zeroOneSample(low.K, low.N), a))
	}
	if best := high.N - high.K; best > 0 {
		i.Upper = rateUpper(1 - mixtureLower(zeroOneSample(best, high.N), a))
	}
	return i, nil
}

// ExactSides is the exact interval of one group's rate with an error of its own on each side: P(lower end > rate) is at
// most lowerError and P(upper end < rate) at most upperError, each from 1e-100 to 1/4. A rule that needs every group
// to be good enough may give the side that says so the whole error, since all of them must err at once, and divide it by
// the number of groups on the other. confidence, in [0.5, 1), is what the report announces. The tallies are those of
// GroupRate; ends are rounded outward to 10 significant digits; N = 0 gives [0, 1].
func ExactSides(low, high Tally, lowerError, upperError, confidence float64) (Interval, error) {
	if err := checkCompletions(low, high); err != nil {
		return Interval{}, err
	}
	if err := checkErrors(lowerError, upperError, confidence); err != nil {
		return Interval{}, err
	}
	return Interval{exactLower(low, lowerError), exactUpper(high, upperError), confidence, MethodClopperPearson, LooksOne}, nil
}

// exactLower and exactUpper are the ends of the exact interval at an error of a on that side, a at most 1/4, rounded
// outward.
func exactLower(t Tally, a float64) float64 {
	p, _ := binomialLower(t.K, t.N, a)
	return rateLower(p)
}

func exactUpper(t Tally, a float64) float64 {
	_, q := binomialLower(t.N-t.K, t.N, a)
	return rateUpper(q)
}

// largestConfidence is the largest float64 below 1.
const largestConfidence = 1 - 0x1p-53

// dividedConfidence is the confidence of each of several intervals.
func dividedConfidence(confidence float64, groups int) float64 {
	return min(1-(1-confidence)/float64(groups), largestConfidence)
}

func checkGroups(low, high Tally, confidence float64, groups int) error {
	if groups < 1 {
		return fmt.Errorf("the number of groups is %d; it must be 1 or more", groups)
	}
	if err := checkCompletions(low, high); err != nil {
		return err
	}
	return checkConfidence(confidence)
}

// checkCompletions refuses tallies that cannot be, and two that are not the lower and the upper completion of the
// same cases: the upper one has no fewer successes and no more failures.
func checkCompletions(low, high Tally) error {
	if err := low.check(); err != nil {
		return err
	}
	if err := high.check(); err != nil {
		return err
	}
	if high.K < low.K || high.N-high.K > low.N-low.K {
		return fmt.Errorf("%d of %d is no completion below %d of %d: it must have no more successes and no fewer failures", low.K, low.N, high.K, high.N)
	}
	return nil
}

// smallestError is the smallest error of a side that is taken: far below what confidences near 1 and many groups come to.
const smallestError = 1e-100

// checkErrors refuses errors of a side outside [1e-100, 1/4] and a confidence outside [0.5, 1).
func checkErrors(lowerError, upperError, confidence float64) error {
	for _, side := range []struct {
		name  string
		error float64
	}{{"lower", lowerError}, {"upper", upperError}} {
		if !(side.error >= smallestError && side.error <= 0.25) {
			return fmt.Errorf("the error of the %s end is %v; it must be at least %v and at most 0.25", side.name, side.error, smallestError)
		}
	}
	return checkConfidence(confidence)
}

// GroupGap returns the interval of the distance |p − q| of two groups' rates from their own intervals, which must hold
// at once: [max(0, lo_p − hi_q, lo_q − hi_p), max(hi_p − lo_q, hi_q − lo_p)]. It needs no correction of its own, so its
// Confidence is the one given, that of all intervals together. The differences are those of the ends as they are printed,
// exactly, rounded outward to multiples of 1e-10: a gap that equals a threshold as a decimal compares as equal to it.
func GroupGap(p, q Interval, confidence float64) Interval {
	pLower, pUpper, qLower, qUpper := inSteps(p.Lower), inSteps(p.Upper), inSteps(q.Lower), inSteps(q.Upper)
	lower := max(0, pLower.lessDown(qUpper), qLower.lessDown(pUpper))
	upper := max(pUpper.lessUp(qLower), qUpper.lessUp(pLower))
	return Interval{float64(lower) / meanSteps, float64(upper) / meanSteps, confidence, p.Method, p.Looks}
}

// GroupRatio returns the interval of the ratio of two groups' rates, the smaller over the larger, from their own intervals,
// which must hold at once: [min(lo_p/hi_q, lo_q/hi_p), min(1, hi_p/lo_q, hi_q/lo_p)], where x/0 is infinite. Upper ends
// are never 0. The quotients are those of the ends as they are printed, exactly, rounded outward to 10 significant digits.
// Confidence, method and looks are those of GroupGap.
//
// A verdict is better taken from AtLeastTimes, which needs no quotient and no rounding.
func GroupRatio(p, q Interval, confidence float64) Interval {
	return Interval{
		min(quotient(p.Lower, q.Upper, false), quotient(q.Lower, p.Upper, false)),
		min(1, quotient(p.Upper, q.Lower, true), quotient(q.Upper, p.Lower, true)),
		confidence, p.Method, p.Looks,
	}
}
