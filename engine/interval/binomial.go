package interval

import "math"

// maxCount is the largest count any function here takes: beyond it float64 arithmetic on counts would
// no longer be exact enough, and no file has as many rows.
const maxCount = 1_000_000_000_000

const halfLn2Pi = 0.91893853320467274178 // ln(2π)/2

// stirlingError returns ln n! − ln(√(2πn)·(n/e)ⁿ) for n >= 1, with an absolute error below 1e-15. Below 16
// it climbs by δ(n) = δ(n+1) + (n+½)·ln(1+1/n) − 1, from there on the asymptotic series is exact.
func stirlingError(n float64) float64 {
	climb := 0.0
	for ; n < 16; n++ {
		climb += float64((n+0.5)*ln1p(1/n)) - 1
	}
	z := 1 / float64(n*n)
	s := 1./1260 - float64(z*(1./1680-float64(z*(1./1188-float64(z*(691./360360))))))
	return climb + (1./12-float64(z*(1./360-float64(z*s))))/n
}

// deviance returns x·ln(x/m) + m − x for x, m > 0 without cancellation when x is near m
// (C. Loader, "Fast and accurate computation of binomial probabilities", 2000).
func deviance(x, m float64) float64 {
	d := x - m
	if math.Abs(d) > float64(0.1*(x+m)) {
		return float64(x*ln(x/m)) - d
	}
	// ln(x/m) = 2·artanh(v), v = d/(x+m): the leading terms cancel by hand into d·v.
	v := d / (x + m)
	z := float64(v * v)
	s := float64(d * v)
	term := float64(2 * x * v)
	for j := 3.0; ; j += 2 {
		term = float64(term * z)
		next := s + term/j
		if next == s {
			return s
		}
		s = next
	}
}

// lnBinomial returns ln P(Bin(n, p) = k), for 0 <= k <= n and p + q = 1 with both in (0, 1); passing both
// keeps whichever is small accurate. The error is a few 1e-16 of the result plus about 1e-14.
func lnBinomial(k, n, p, q float64) float64 {
	switch {
	case n == 0:
		return 0
	case k == 0:
		return float64(n * lnComplement(p, q))
	case k == n:
		return float64(n * lnComplement(q, p))
	}
	m := n - k
	return (stirlingError(n) - stirlingError(k) - stirlingError(m)) -
		(deviance(k, float64(n*p)) + deviance(m, float64(n*q))) +
		float64(0.5*ln(n/float64(k*m))) - halfLn2Pi
}

// lnComplement returns ln q for q = 1 − p, from whichever of the two is accurate.
func lnComplement(p, q float64) float64 {
	if p < q {
		return ln1p(-p)
	}
	return ln(q)
}

// tailFactor returns P(Bin(n, p) >= k) / P(Bin(n, p) = k), at least 1: a sum of positive terms. It is meant
// for k >= n·p, where the terms fall from the first on.
func tailFactor(k, n, p, q float64) float64 {
	odds := p / q
	sum, term := 1.0, 1.0
	for j := 1.0; j <= n-k; j++ {
		term = float64(term * (n - k - j + 1) / (k + j) * odds)
		sum += term
		if term < 1e-18*sum {
			break
		}
	}
	return sum
}

// halfTail returns P(Bin(n, ½) >= k) for k >= n/2, with a relative error below 1e-12; exact while n <= 53.
func halfTail(k, n int) float64 {
	if k > n {
		return 0
	}
	if n <= 53 {
		c, sum := 1, 0 // c runs through the binomial coefficients C(n, 0), C(n, 1), …
		for j := 0; j <= n-k; j++ {
			sum += c
			c = c * (n - j) / (j + 1)
		}
		return math.Ldexp(float64(sum), -n)
	}
	K, N := float64(k), float64(n)
	return float64(exp(lnBinomial(K, N, 0.5, 0.5)) * tailFactor(K, N, 0.5, 0.5))
}
