package interval

// RateDifference returns the interval of the difference p − q of two rates or means on [0, 1] from their own intervals,
// which must hold at once: [lo_p − hi_q, hi_p − lo_q]. Two intervals of which each side is wrong with probability at
// most (1 − confidence)/4 do, with each side of the difference wrong at most twice as often, however the two depend on
// each other.
//
// Its Confidence is the one given, its method and looks those of p. Ends are multiples of 1e-10, outward, and exact
// differences of the ends so rounded: a difference equal to a threshold compares as equal.
func RateDifference(p, q Interval, confidence float64) Interval {
	lower := gridDown(p.Lower) - gridUp(q.Upper)
	upper := gridUp(p.Upper) - gridDown(q.Lower)
	return Interval{float64(lower) / meanSteps, float64(upper) / meanSteps, confidence, p.Method, p.Looks}
}
