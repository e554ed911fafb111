package interval

// FixedListRate returns the exact interval for the mean of n independent 0/1 results whose chances may all
// differ: the trials of a fixed list of cases. k of the n are events and missing were not recorded; the lower end
// is computed from k events, the upper end from k + missing.
//
// The ends are those of ClopperPearson but for two: with one event the lower end is a/n, and with one result
// that is no event the upper end is 1 − a/n. Without that change the error of a side could reach
// n·(1 − (1−a)^(1/n)) > a, on a list whose events all come from one case; with it, it is at most a = (1 − confidence)/2:
// from two events on, W. Hoeffding ("On the distribution of the number of successes in independent trials",
// 1956) bounds the tail by the binomial one of the mean chance, and for one event P(K >= 1) <= n·mean <= a.
//
// It speaks of these n chances alone, at one look. Ends are rounded outward to 10 significant digits; n = 0 gives
// [0, 1]; the errors are those of ClopperPearson.
func FixedListRate(k, missing, n int, confidence float64) (Interval, error) {
	if err := checkFixedList(k, missing, n, confidence); err != nil {
		return Interval{}, err
	}
	a := sideError(confidence)
	lower, _ := fixedListLower(k, n, a)
	_, upper := fixedListLower(n-k-missing, n, a)
	return Interval{rateLower(lower), rateUpper(upper), confidence, MethodClopperPearson, LooksOne}, nil
}

// FixedListDifference returns the exact interval for the mean difference of two versions on a fixed list of cases,
// each tried equally often in both: k is the events of the one version and the non-events of the other, among
// the n results of both. Their mean chance is q = (1 + difference)/2, so the ends are 2q − 1 at those of
// FixedListRate, rounded outward to multiples of 1e-10. Missing results count as in FixedListRate.
func FixedListDifference(k, missing, n int, confidence float64) (Interval, error) {
	if err := checkFixedList(k, missing, n, confidence); err != nil {
		return Interval{}, err
	}
	a := sideError(confidence)
	lower, _ := fixedListLower(k, n, a)
	_, upper := fixedListLower(n-k-missing, n, a)
	return Interval{
		meanLower(float64(2*lower)-1, Difference), meanUpper(float64(2*upper)-1, Difference),
		confidence, MethodClopperPearson, LooksOne,
	}, nil
}

func checkFixedList(k, missing, n int, confidence float64) error {
	if err := checkCounts(k, missing, n); err != nil {
		return err
	}
	return checkConfidence(confidence)
}

// fixedListLower returns the lower end p for k of n, unrounded, and q = 1 − p.
func fixedListLower(k, n int, a float64) (p, q float64) {
	if k == 1 {
		p = a / float64(n)
		return p, 1 - p
	}
	return binomialLower(k, n, a)
}
