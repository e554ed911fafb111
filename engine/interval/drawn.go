package interval

import (
	"math"
	"strconv"
)

// ExpectedDrawn returns the chance with which an item is drawn from a list of n, where each is drawn with the chance
// rate, independently, and where fewer than floor are then so many more are added that the floor is reached, each as
// likely as any other:
//
//	E[max(X, floor)]/n,   X ~ Bin(n, rate)
//
// at most 1: a floor above n counts as n, and one below 0 as 0. It is rounded to the nearest number of 10 significant
// digits. n is from 1 to 10¹² and rate from 0 to 1; for any other the result is NaN.
func ExpectedDrawn(n int, rate float64, floor int) float64 {
	if n < 1 || n > maxCount || !(rate >= 0 && rate <= 1) {
		return math.NaN()
	}
	floor = min(max(floor, 0), n)
	N, F, mean := float64(n), float64(floor), float64(float64(n)*rate)
	expected := math.Max(mean, F) // exact where X cannot fall on the other side of the floor
	switch {
	case rate <= 0 || rate >= 1 || floor == 0 || floor == n:
	case F >= mean:
		expected = F + binomialExcess(F, N, rate, 1-rate)
	default: // max(X, floor) = X + (floor − X)⁺, and n − X is a count of the same kind
		expected = mean + binomialExcess(N-F, N, 1-rate, rate)
	}
	share, _ := strconv.ParseFloat(strconv.FormatFloat(math.Min(1, expected/N), 'e', rateDigits-1, 64), 64) // digits: cannot fail
	return share
}

// binomialExcess returns E[(X − f)⁺] for X ~ Bin(n, p), n·p <= f < n and p + q = 1 with both in (0, 1]: a sum of
// positive terms j·P(X = f + j), whose probabilities fall from the first on.
func binomialExcess(f, n, p, q float64) float64 {
	odds := p / q
	sum, term := 0.0, 1.0
	for j := 1.0; j <= n-f; j++ {
		term = float64(term * (n - f - j + 1) / (f + j) * odds)
		sum += float64(j * term)
		if float64(j*term) < 1e-18*sum {
			break
		}
	}
	return float64(exp(lnBinomial(f, n, p, q)) * sum)
}
