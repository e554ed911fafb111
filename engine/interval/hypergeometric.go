package interval

import "fmt"

// Hypergeometric returns the exact interval for the proportion of a corpus of N items that has a property,
// of which n were drawn without replacement, x have it and missing were drawn but not recorded.
//
//	mLo: the smallest M with P(X >= x | M) > a
//	mHi: the largest M with P(X <= x + missing | M) > a        a = (1 − confidence)/2
//
// where X counts the items with the property among the n when M of the N have it. mLo and mHi are those counts of
// items; the interval holds mLo/N and mHi/N, rounded outward to 10 significant digits (0 and 1 when N = 0). A tail
// within 1e-12 of a counts as above it, which can only widen. It is an error for x + missing to exceed n, for n
// to exceed N, for a count to be negative or above 10¹², or for confidence to be outside [0.5, 1).
func Hypergeometric(x, missing, n, N int, confidence float64) (i Interval, mLo, mHi int, err error) {
	if err := checkCounts(x, missing, n); err != nil {
		return Interval{}, 0, 0, err
	}
	if N < n || N > maxCount {
		return Interval{}, 0, 0, fmt.Errorf("the corpus has %d items; it must have at least the %d drawn and at most %d", N, n, maxCount)
	}
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, 0, 0, err
	}
	a := sideError(confidence)
	mLo = smallestCorpus(x, n, N, a)
	mHi = N - smallestCorpus(n-x-missing, n, N, a)
	i = Interval{0, 1, confidence, MethodHypergeometric, LooksOne}
	if N > 0 {
		i.Lower, i.Upper = ratio(mLo, N, false), ratio(mHi, N, true)
	}
	return i, mLo, mHi, nil
}

// smallestCorpus returns the smallest M with P(X >= x | M) > a; the tail rises with M.
func smallestCorpus(x, n, N int, a float64) int {
	a -= float64(a * 1e-12)
	refused, allowed := x-1, N-(n-x) // with M = allowed at least x of the n must have the property
	for allowed-refused > 1 {
		M := (refused + allowed) / 2
		if hypergeometricTail(x, M, n, N) > a {
			allowed = M
		} else {
			refused = M
		}
	}
	return allowed
}

// hypergeometricTail returns P(X >= x) for X the number of items with the property among n drawn from N, M of
// which have it. Its relative error is below 1e-12 where x is above the mean.
func hypergeometricTail(x, M, n, N int) float64 {
	switch {
	case x <= max(0, n+M-N):
		return 1
	case x > min(M, n):
		return 0
	case float64(x) < float64(n)*float64(M)/float64(N):
		// Below the mean, add up the other tail: n − X is the number without the property.
		return 1 - hypergeometricTail(n-x+1, N-M, n, N)
	}
	// From the probability of x on, the ratios of neighbours are below 1.
	sum, term := 1.0, 1.0
	for j := x; j < min(M, n); j++ {
		term = float64(term * float64(M-j) / float64(j+1) * float64(n-j) / float64(N-M-n+j+1))
		sum += term
		if term < 1e-18*sum {
			break
		}
	}
	return float64(exp(lnHypergeometric(x, M, n, N)) * sum)
}

// lnHypergeometric returns ln P(X = x) for x in the support and 0 < n < N, as three binomial probabilities at
// p = n/N, which is accurate at any size (Loader, 2000).
func lnHypergeometric(x, M, n, N int) float64 {
	p, q := float64(n)/float64(N), float64(N-n)/float64(N)
	return lnBinomial(float64(x), float64(M), p, q) + lnBinomial(float64(n-x), float64(N-M), p, q) - lnBinomial(float64(n), float64(N), p, q)
}
