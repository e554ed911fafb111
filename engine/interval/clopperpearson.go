package interval

import "math"

// ClopperPearson returns the exact binomial interval for a rate of independent 0/1 decisions, of which
// k of n are events and missing were not recorded: the lower end is computed from k events, the upper
// end from k + missing, both out of n.
//
//	lower: the p at which P(Bin(n, p) >= k) = a,   0 where k = 0
//	upper: the p at which P(Bin(n, p) <= k) = a,   1 where k = n        a = (1 − confidence)/2
//
// Its ends are rounded outward to 10 significant digits. n = 0 gives [0, 1]. It is an error for
// k + missing to exceed n, for a count to be negative or n above 10¹², or for confidence to be outside
// [0.5, 1).
//
// Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
// Biometrika 26 (1934).
func ClopperPearson(k, missing, n int, confidence float64) (Interval, error) {
	if err := checkCounts(k, missing, n); err != nil {
		return Interval{}, err
	}
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, err
	}
	a := sideError(confidence)
	lower, _ := binomialLower(k, n, a)
	_, upper := binomialLower(n-k-missing, n, a)
	return Interval{rateLower(lower), rateUpper(upper), confidence, MethodClopperPearson, LooksOne}, nil
}

// binomialLower returns the p at which P(Bin(n, p) >= k) = a, unrounded, and q = 1 − p. The smaller of the two
// has a relative error below 1e-13, so that a p near 1 loses nothing. k = 0 gives 0 and 1; a is
// at most 1/4. The upper end for k events is the q of n − k events.
func binomialLower(k, n int, a float64) (p, q float64) {
	if k == 0 {
		return 0, 1
	}
	K, N, target := float64(k), float64(n), ln(a)
	if k == n {
		return exp(target / N), -expm1(target / N)
	}
	// Newton's method on ln P(Bin(n, p) >= k) as a function of the logarithm of p or q, whichever is
	// smaller. Both functions are concave (the density of a beta variable's logarithm is log-concave), so
	// that from its second step on the method approaches the root from one side and cannot overshoot.
	// Where p is the median or less the tail is at most about a half, and the start is on the near side.
	small := math.Min(K/N, 0.5)
	mirrored := K > N/2 && lnTail(K, N, 0.5, 0.5) < target
	if mirrored {
		small = (N - K) / N
	}
	for range 100 {
		p, q = small, 1-small
		if mirrored {
			p, q = q, p
		}
		factor := tailFactor(K, N, p, q)
		excess := lnBinomial(K, N, p, q) + ln(factor) - target
		step := excess * factor / K // the slope in ln p is k·P(X = k)/P(X >= k)
		if mirrored {
			step = -step * p / q
		}
		next := math.Min(float64(small*exp(-step)), 0.5)
		if math.Abs(step) < 4e-16 || next == small {
			break
		}
		small = next
	}
	if mirrored {
		return 1 - small, small
	}
	return small, 1 - small
}

// lnTail returns ln P(Bin(n, p) >= k). Its cost grows with the number of terms that matter, a few
// standard deviations.
func lnTail(k, n, p, q float64) float64 {
	return lnBinomial(k, n, p, q) + ln(tailFactor(k, n, p, q))
}
