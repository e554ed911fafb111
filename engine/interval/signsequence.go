package interval

import "math"

// SignSequence is SignTest for data that are looked at again and again while new cases come in: a two-sided p-value
// that is at or below α at any look with probability at most α, when changed cases are as likely better as worse.
//
//	p = min(1, 2/E),  E = ∫₀¹ (1 + θ)^b·(1 − θ)^w dθ,  b = max(better, worse), w = min(better, worse)
//
// E is the uniform mixture of UniformMixture at the mean 1/2, a non-negative martingale that starts at 1, so p < α
// exactly where RateSequence of better among the changed cases, at confidence 1 − α, excludes 1/2. It holds
// while cases are added in an order unrelated to their results and earlier ones stay as they are. It is
// rounded, and NaN for bad counts, as in SignTest. It rises with worse and falls with better while better exceeds worse.
func SignSequence(better, worse int) float64 {
	if !validSigns(better, worse) {
		return math.NaN()
	}
	levels := []level{{0, float64(min(better, worse))}, {1, float64(max(better, worse))}}
	slopes := []float64{-1, 1}
	if levels[0].count == 0 { // (1 − θ)^0 is 1 at θ = 1 too, where its logarithm would be 0·∞
		levels, slopes = levels[1:], slopes[1:]
	}
	p := float64(2 * exp(-lnMixture(levels, slopes)))
	if p < 1e-300 {
		return 1e-300
	}
	if p += float64(p * digitsGuard); p >= 1 {
		return 1
	}
	return significant(p, pDigits, true)
}
