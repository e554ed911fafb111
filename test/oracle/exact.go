package oracle

import (
	"math"
	"math/big"
)

// This file holds exact probabilities of small numbers, each a plain sum of
// its terms, and the bounds made of them by halving an interval. Nothing here
// knows a beta function, a rounding or a guard: the bounds are those of the
// definitions, to about 1e-13.

// logChoose is ln C(n, k).
func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// logBinomial is ln P(Bin(n, p) = k) for 0 < p < 1.
func logBinomial(n, k int, p float64) float64 {
	return logChoose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p)
}

// binomialAtLeast is P(Bin(n, p) >= k), the sum of its terms. The terms are
// made from their neighbours, from the largest outwards, until they no longer
// count; the smaller tail is summed, so that small numbers stay exact.
func binomialAtLeast(n, k int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	case p <= 0:
		return 0
	case p >= 1:
		return 1
	case float64(k) <= float64(n)*p:
		return 1 - binomialAtMost(n, k-1, p)
	}
	// k is above the mean, so terms fall from here on.
	term := math.Exp(logBinomial(n, k, p))
	odds := p / (1 - p)
	sum := 0.0
	for j := k; j <= n && term > sum*1e-18; j++ {
		sum += term
		term *= float64(n-j) / float64(j+1) * odds
	}
	return sum
}

// binomialAtMost is P(Bin(n, p) <= k): that at least n-k of n are not events.
func binomialAtMost(n, k int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	case p <= 0:
		return 1
	case p >= 1:
		return 0
	case float64(k) >= float64(n)*p:
		return 1 - binomialAtLeast(n, k+1, p)
	}
	// k is below the mean, so terms fall downwards.
	term := math.Exp(logBinomial(n, k, p))
	odds := (1 - p) / p
	sum := 0.0
	for j := k; j >= 0 && term > sum*1e-18; j-- {
		sum += term
		term *= float64(j) / float64(n-j+1) * odds
	}
	return sum
}

// bisect finds where a condition that holds at lo and not at hi ends.
func bisect(lo, hi float64, holds func(float64) bool) float64 {
	for i := 0; i < 200; i++ {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if holds(mid) {
			lo = mid
		} else {
			hi = mid
		}
		if hi-lo < 1e-14 {
			break
		}
	}
	return lo + (hi-lo)/2
}

// rateLower is the lower Clopper-Pearson end of k events among n at the error
// a: the p at which P(Bin(n, p) >= k) = a, and 0 without events.
// (spec: intervals 7)
func rateLower(k, n int, a float64) float64 {
	if n == 0 || k <= 0 {
		return 0
	}
	return bisect(0, 1, func(p float64) bool { return binomialAtLeast(n, k, p) <= a })
}

// rateUpper is the upper Clopper-Pearson end: the p at which
// P(Bin(n, p) <= k) = a, and 1 where all are events.
func rateUpper(k, n int, a float64) float64 {
	if n == 0 || k >= n {
		return 1
	}
	return bisect(0, 1, func(p float64) bool { return binomialAtMost(n, k, p) > a })
}

// fisherLevel is the c below which the product of two independent uniform
// numbers is with probability b: c(1 - ln c) = b.
func fisherLevel(b float64) float64 {
	return math.Exp(-bisect(0, 700, func(x float64) bool { return math.Exp(-x)*(1+x) > b }))
}

// fisherUpper is the largest p - q with
//
//	P(Bin(n, p) <= k) * P(Bin(m, q) >= l) >= c,  c(1 - ln c) = b,
//
// an upper bound of the difference of the rates of two disjoint groups, the
// first with k events among n and the second with l among m. For each p the
// least q that is allowed is found by halving, and the best p by closing in on
// it from both sides: as a function of ln P(p) the difference is concave.
// (audit 5f)
func fisherUpper(k, n, l, m int, b float64) float64 {
	c := fisherLevel(b)
	at := func(p float64) float64 {
		u := binomialAtMost(n, k, p)
		if u < c {
			return -2 // p is not allowed with any q
		}
		return p - rateLower(l, m, c/u)
	}
	if n == 0 {
		return 1 - rateLower(l, m, c)
	}
	// Beyond the largest p that is allowed with q = 1 there is nothing.
	lo, hi := 0.0, rateUpper(k, n, c)
	for i := 0; i < 90 && hi-lo > 1e-12; i++ {
		x, y := lo+(hi-lo)*0.382, lo+(hi-lo)*0.618
		if at(x) < at(y) {
			lo = x
		} else {
			hi = y
		}
	}
	best := at((lo + hi) / 2)
	for _, p := range []float64{lo, hi} {
		best = math.Max(best, at(p))
	}
	return best
}

// decimal reads a decimal number, such as a confidence or a threshold, exactly.
func decimal(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("oracle: not a decimal: " + text)
	}
	return r
}

// float is the float64 nearest to r.
func float(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// hypergeometricAtLeast is P(X >= x), X the events among n of N items, M of
// which are events, drawn without replacement: the sum of the counts of all
// draws with so many events over the count of all draws, as a fraction.
func hypergeometricAtLeast(N, M, n, x int) *big.Rat {
	sum := new(big.Int)
	first := max(x, 0, n-(N-M))
	if first <= min(n, M) {
		term := new(big.Int).Mul(new(big.Int).Binomial(int64(M), int64(first)), new(big.Int).Binomial(int64(N-M), int64(n-first)))
		for j := first; j <= n && j <= M; j++ {
			sum.Add(sum, term)
			// The next term from this one: C(M, j+1)·C(N-M, n-j-1).
			term.Mul(term, big.NewInt(int64(M-j)*int64(n-j)))
			term.Quo(term, big.NewInt(int64(j+1)*int64(N-M-n+j+1)))
		}
	}
	return new(big.Rat).SetFrac(sum, new(big.Int).Binomial(int64(N), int64(n)))
}

// hypergeometricBounds are the least and the most events that a corpus of N
// items can have when x of n drawn ones are events and missing more may be:
// the smallest M with P(X >= x | M) > a, and the largest M with
// P(X <= x + missing | M) > a. Both probabilities change one way with M, so
// the ends are found by halving. (spec: intervals 7, audit 7c)
func hypergeometricBounds(N, n, x, missing int, a *big.Rat) (least, most int) {
	lo, hi := x, N-(n-x-missing) // M is at least what was seen, and at most all but the failures seen
	top := hi
	for lo < hi {
		mid := (lo + hi) / 2
		if hypergeometricAtLeast(N, mid, n, x).Cmp(a) > 0 {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	least = lo
	lo, hi = x, top
	for lo < hi {
		mid := (lo + hi + 1) / 2
		atMost := new(big.Rat).Sub(big.NewRat(1, 1), hypergeometricAtLeast(N, mid, n, x+missing+1))
		if atMost.Cmp(a) > 0 {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return least, lo
}

// halfAtLeast is P(Bin(n, 1/2) >= k) as a fraction.
func halfAtLeast(n, k int) *big.Rat {
	sum := new(big.Int)
	for j := max(k, 0); j <= n; j++ {
		sum.Add(sum, new(big.Int).Binomial(int64(n), int64(j)))
	}
	return new(big.Rat).SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), uint(n)))
}

// signTest is the exact two-sided p of b better and w worse units, ties
// dropped: twice the tail of the larger, at most 1. (spec: intervals 7)
func signTest(b, w int) *big.Rat {
	p := halfAtLeast(b+w, max(b, w))
	p.Mul(p, big.NewRat(2, 1))
	if p.Cmp(big.NewRat(1, 1)) > 0 || b+w == 0 {
		return big.NewRat(1, 1)
	}
	return p
}

// medianRank is the largest j with P(Bin(n, 1/2) <= j-1) <= a, by which the
// median of n values is between the j-th smallest and the j-th largest; 0
// where there is none. (spec: intervals 7)
func medianRank(n int, a *big.Rat) int {
	j := 0
	for j < n {
		// P(Bin <= j) = P(Bin >= n-j), by symmetry.
		if halfAtLeast(n, n-j).Cmp(a) > 0 {
			break
		}
		j++
	}
	return j
}
