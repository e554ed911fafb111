package interval

import "math"

// MeanDeviation returns E|X/n − p|, the mean absolute deviation of a share of n independent 0/1 decisions from its
// chance p, by de Moivre's closed form
//
//	E|X − n·p| = 2·v·(1−p)·P(X = v),   v = ⌊n·p⌋ + 1
//
// with a relative error below 1e-12. It is 0 where p is 0 or 1, and for n = 0, which has no share; NaN where n is
// negative or above 10¹², or p is outside [0, 1].
//
// P. Diaconis and S. Zabell, "Closed form summation for classical distributions: variations on a theme of de Moivre",
// Statistical Science 6 (1991).
func MeanDeviation(n int, p float64) float64 {
	switch {
	case n < 0 || n > maxCount || !(p >= 0 && p <= 1):
		return math.NaN()
	case n == 0 || p == 0 || p == 1:
		return 0
	}
	q := 1 - p
	if p > q { // the deviation of the other share is the same, and n·q is accurate
		p, q = q, p
	}
	N := float64(n)
	v := math.Floor(float64(N*p)) + 1
	return float64(2 * v / N * q * exp(lnBinomial(v, N, p, q)))
}
