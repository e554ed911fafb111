package interval

// RateDifference returns the interval of the difference p − q of two rates or means on [0, 1] from their own intervals,
// which must hold at once: [lo_p − hi_q, hi_p − lo_q]. Two intervals of which each side is wrong with probability at
// most (1 − confidence)/4 do, with each side of the difference wrong at most twice as often, however the two depend on
// each other.
//
// Its Confidence is the one given, its method and looks those of p. The differences are those of the ends as they are
// printed, exactly, rounded outward to multiples of 1e-10: a difference that equals a threshold as a decimal compares as
// equal to it.
func RateDifference(p, q Interval, confidence float64) Interval {
	lower := inSteps(p.Lower).lessDown(inSteps(q.Upper))
	upper := inSteps(p.Upper).lessUp(inSteps(q.Lower))
	return Interval{float64(lower) / meanSteps, float64(upper) / meanSteps, confidence, p.Method, p.Looks}
}
