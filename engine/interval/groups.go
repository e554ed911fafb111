package interval

import (
	"fmt"
	"math"
)

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

// dividedConfidence is the confidence of each of several intervals.
func dividedConfidence(confidence float64, groups int) float64 {
	return 1 - (1-confidence)/float64(groups)
}

func checkGroups(low, high Tally, confidence float64, groups int) error {
	if groups < 1 {
		return fmt.Errorf("the number of groups is %d; it must be 1 or more", groups)
	}
	if err := low.check(); err != nil {
		return err
	}
	if err := high.check(); err != nil {
		return err
	}
	return checkConfidence(confidence)
}

// GroupGap returns the interval of the distance |p − q| of two groups' rates from their own intervals, which must hold
// at once: [max(0, lo_p − hi_q, lo_q − hi_p), max(hi_p − lo_q, hi_q − lo_p)]. It needs no correction of its own, so its
// Confidence is the one given, that of all intervals together. Ends are multiples of 1e-10, outward, and exact
// differences of the rates' ends so rounded: a gap equal to a threshold compares as equal.
func GroupGap(p, q Interval, confidence float64) Interval {
	lower := max(0, gridDown(p.Lower)-gridUp(q.Upper), gridDown(q.Lower)-gridUp(p.Upper))
	upper := max(gridUp(p.Upper)-gridDown(q.Lower), gridUp(q.Upper)-gridDown(p.Lower))
	return Interval{float64(lower) / meanSteps, float64(upper) / meanSteps, confidence, p.Method, p.Looks}
}

// gridDown and gridUp are a rate's end, rounded to 10 significant digits before, in steps of 1e-10. An end that is a
// whole number of steps as a decimal is that number, although the nearest float64 times 1e10 may miss it by a bit.
func gridDown(x float64) int64 { return int64(math.Floor(steps(x))) }

func gridUp(x float64) int64 { return int64(math.Ceil(steps(x))) }

func steps(x float64) float64 {
	s := float64(x * meanSteps)
	if whole := math.Round(s); math.Abs(s-whole) <= float64(4e-16*s) {
		return whole
	}
	return s
}
