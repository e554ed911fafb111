package interval

import "math"

// FisherDifference returns the interval of the difference p − q of the rates of two groups that have no case in common,
// from the tallies of their two completions: see GroupRate. Each side is wrong with probability at most
// a = (1 − confidence)/2, at every size of the groups:
//
//	upper = max{x − y : P(Bin(n_p, x) <= k_p)·P(Bin(n_q, y) >= k_q) >= c},   c·(1 − ln c) = a
//
// with k_p of n_p in pHigh and k_q of n_q in qLow; the lower end is the mirror image. The two tail probabilities are
// independent and, at the true rates, no smaller than uniform variables, so that minus the logarithm of their product is no
// larger than the sum of two exponential variables (Fisher), which exceeds −ln c with probability c·(1 − ln c).
//
// Ends are rounded outward to multiples of 1e-10. A group without cases bounds nothing by itself: the
// interval is then as wide as the other group's leaves it. The errors are those of GroupRate.
//
// R. A. Fisher, "Statistical methods for research workers", 4th edition (1932), section 21.1.
func FisherDifference(pLow, pHigh, qLow, qHigh Tally, confidence float64) (Interval, error) {
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, err
	}
	a := sideError(confidence)
	if err := checkFisher(pLow, pHigh, qLow, qHigh, a, a, confidence); err != nil {
		return Interval{}, err
	}
	i := Interval{Difference.Lower, Difference.Upper, confidence, MethodFisherProduct, LooksOne}
	i.Lower = meanLower(-fisherUpper(qHigh, pLow, a, -1, 1), Difference)
	i.Upper = meanUpper(fisherUpper(pHigh, qLow, a, -1, 1), Difference)
	return i, nil
}

// FisherGap returns the interval of the distance |p − q| of the rates of two groups that have no case in common, from the
// upper ends of p − q and of q − p as in FisherDifference: the upper end of the distance is the larger of the two at
// the error upperError, the lower end 0 or how far one of them lies below 0 at the error lowerError. Both errors
// are from 1e-100 to 1/4.
//
// The upper end is below the distance with probability at most upperError, since the distance is p − q or q − p. The
// lower end is above it only if p − q or q − p is above its own upper end: with probability at most 2·lowerError. A rule
// over all pairs of G groups that passes where every upper end is low enough and fails where some lower end is too high
// passes wrongly with probability at most a where upperError = a, since the upper end of the worst pair must be wrong; it
// fails wrongly with probability at most 2a where lowerError = 2a/(G·(G−1)), a share for each ordered pair.
//
// confidence, in [0.5, 1), is what the report announces. Ends are rounded outward to multiples of 1e-10. A group
// without cases bounds nothing by itself: the interval is then as wide as the other group's leaves it.
func FisherGap(pLow, pHigh, qLow, qHigh Tally, upperError, lowerError, confidence float64) (Interval, error) {
	if err := checkFisher(pLow, pHigh, qLow, qHigh, lowerError, upperError, confidence); err != nil {
		return Interval{}, err
	}
	i := Interval{0, 1, confidence, MethodFisherProduct, LooksOne}
	// The direction whose observed difference is larger goes first: the other one then seldom matters.
	if difference(pHigh, qLow) < difference(qHigh, pLow) {
		pLow, pHigh, qLow, qHigh = qLow, qHigh, pLow, pHigh
	}
	upper := fisherUpper(pHigh, qLow, upperError, -1, 1)
	upper = max(upper, fisherUpper(qHigh, pLow, upperError, upper, 1))
	i.Upper = meanUpper(upper, Unit)
	lower := max(-fisherUpper(pHigh, qLow, lowerError, -1, 0), -fisherUpper(qHigh, pLow, lowerError, -1, 0))
	i.Lower = meanLower(lower, Unit)
	return i, nil
}

// difference is the observed difference of two rates at the completions of an upper end, as far as there are cases.
func difference(high, low Tally) float64 {
	d := 0.0
	if high.N > 0 {
		d += float64(high.K) / float64(high.N)
	}
	if low.N > 0 {
		d -= float64(low.K) / float64(low.N)
	}
	return d
}

func checkFisher(pLow, pHigh, qLow, qHigh Tally, lowerError, upperError, confidence float64) error {
	if err := checkCompletions(pLow, pHigh); err != nil {
		return err
	}
	if err := checkCompletions(qLow, qHigh); err != nil {
		return err
	}
	return checkErrors(lowerError, upperError, confidence)
}

// fisherUpper returns the upper end of p − q, unrounded, from p's upper and q's lower completion at the error b in
// (0, 1/4]. Only an end between atLeast and atMost is of use to the caller: the search may stop, and returns
// something at or below atLeast, or at or above atMost, once the end is seen to be there.
//
// In terms of the failures of p and the successes of q, the end is 1 − min{x(s) + y(l − s) : l <= s <= 0}, where l = ln c,
// x(s) is the chance at which n_p decisions have n_p − k_p events or more with probability eˢ, and y(s) the same for k_q of
// n_q. Binomial tails are log-concave in the chance, so x and y are convex in s and the minimum is where their slopes are
// equal: a root that Newton's method finds in a few steps.
func fisherUpper(high, low Tally, b, atLeast, atMost float64) float64 {
	l := fisherLimit(b)
	x := tail{float64(high.N - high.K), float64(high.N)}
	y := tail{float64(low.K), float64(low.N)}
	switch { // a tail of 0 events or more has probability 1 at every chance, also at 0
	case x.k == 0 && y.k == 0:
		return 1
	case x.k == 0:
		return 1 - y.at(l).p
	case y.k == 0:
		return 1 - x.at(l).p
	}
	// At an end of the range x or y is 1. Its slope is infinite there unless all n are events, so that only then can
	// the minimum be there.
	if x.k == x.n {
		if end := y.at(l); end.slope >= 1/x.n {
			return -end.p
		}
	}
	if y.k == y.n {
		if end := x.at(l); end.slope >= 1/y.n {
			return -end.p
		}
	}
	// Of two normal variables of unequal spread the one with the larger variance takes as much more of −l.
	from, to := l, 0.0 // the slope of x is the smaller at from, the larger at to
	s := float64(l * min(max(x.variance()/(x.variance()+y.variance()), 0.01), 0.99))
	highest := 1.0
	for range 100 {
		px, py := x.at(s), y.at(l-s)
		end := 1 - (px.p + py.p)
		if end >= atMost {
			return end // the minimum is not above x + y here
		}
		difference, room := px.slope-py.slope, to-s
		if difference > 0 {
			to, room = s, s-from
		} else {
			from = s
		}
		// A convex function lies above its tangent.
		highest = min(highest, end+math.Abs(float64(difference*room)))
		if highest <= atLeast {
			return highest
		}
		// The logarithms of the slopes are nearly straight lines where the slopes are not.
		step := ln(px.slope/py.slope) / (px.bend + py.bend)
		if rise := math.Abs(float64(difference * step)); rise < 1e-15 {
			return min(highest, end+rise)
		}
		s -= step
		if !(s > from && s < to) {
			s = from + float64((to-from)/2)
		}
	}
	return highest // not come near: the bound that the tangents give is still valid
}

// fisherLimit returns l = ln c < 0 with c·(1 − ln c) = b, for b in (0, 1/4]: the root of l + ln(1 − l) = ln b. The left side
// is rising and concave, so that Newton's method approaches it from below after its first step.
func fisherLimit(b float64) float64 {
	target := ln(b)
	l := target - ln(1-target)
	for range 20 {
		step := (l + ln(1-l) - target) * (1 - l) / -l
		l -= step
		if math.Abs(step) <= float64(-1e-15*l) {
			break
		}
	}
	return l
}

// A tail is P(Bin(n, p) >= k) as a function of p, 1 <= k <= n.
type tail struct{ k, n float64 }

// variance is about that of the rate at which a tail is small.
func (t tail) variance() float64 {
	return (t.k + 0.5) * (t.n - t.k + 0.5) / (t.n + 1) / (t.n + 1) / (t.n + 1)
}

// A point of a tail: p and q = 1 − p, the slope of p against the logarithm of the tail, and the slope of the logarithm
// of that.
type point struct{ p, q, slope, bend float64 }

// at returns the point at which the tail is eˢ, s < 0.
func (t tail) at(s float64) point {
	if t.k == t.n { // pⁿ
		p := exp(s / t.n)
		return point{p, -expm1(s / t.n), p / t.n, 1 / t.n}
	}
	var x point
	if s <= -math.Ln2 {
		x.p, x.q, x.slope = t.below(s)
	} else {
		// The complement is the smaller tail: n − k + 1 failures or more, with probability 1 − eˢ.
		rest := -expm1(s)
		x.q, x.p, x.slope = tail{t.n - t.k + 1, t.n}.below(ln(rest))
		x.slope = float64(x.slope * ((1 - rest) / rest)) // d ln(1 − eˢ)/ds = −(1 − rest)/rest
	}
	// The slope is the tail over the density of p, which is that of a beta variable.
	x.bend = 1 - float64(x.slope*((t.k-1)/x.p-(t.n-t.k)/x.q))
	return x
}

// below returns p, q and the slope where the tail is eˢ, for s up to about −ln 2. It is Newton's method on the logarithm of the
// tail as a function of θ = ln(p/q), which is concave, as is the logarithm of the density of θ. It starts from a
// normal quantile, a fraction of a standard deviation away.
func (t tail) below(s float64) (p, q, slope float64) {
	spread := math.Sqrt(1/t.k + 1/(t.n-t.k+1))
	theta := ln(t.k/(t.n-t.k+1)) - float64(normalQuantile(s)*spread)
	for range 100 {
		p, q = logistic(theta)
		slope = tailSlope(t.k, t.n, p, q)
		excess := lnBinomial(t.k, t.n, p, q) + ln(float64(slope*t.k)/p) - s
		step := excess * slope / (p * q)
		theta -= step
		if math.Abs(step) < float64(1e-8*spread) {
			break // what is left is of the order of the step's square
		}
	}
	p, q = logistic(theta)
	return p, q, slope
}

// logistic returns 1/(1 + e^(−θ)) and 1/(1 + e^θ).
func logistic(theta float64) (p, q float64) {
	if theta < 0 {
		e := exp(theta)
		return e / (1 + e), 1 / (1 + e)
	}
	e := exp(-theta)
	return 1 / (1 + e), e / (1 + e)
}

// normalQuantile returns about the z that a normal variable exceeds with probability eˢ, s up to −ln 2, to within .0005
// (Abramowitz and Stegun, "Handbook of mathematical functions", 26.2.23).
func normalQuantile(s float64) float64 {
	t := math.Sqrt(float64(-2 * s))
	above := 2.515517 + float64(t*(0.802853+float64(t*0.010328)))
	below := 1 + float64(t*(1.432788+float64(t*(0.189269+float64(t*0.001308)))))
	return t - above/below
}

// tailSlope returns P(Bin(n, p) >= k) over its slope in p, for p up to about k/n: p/k·tailFactor, or where that is a sum
// of many terms
//
//	∫₀ᵖ f(t)/f(p) dt,   f(t) = tᵏ⁻¹·(1−t)ⁿ⁻ᵏ
//
// by a Gauss rule over the width in which f falls by about e⁻⁴⁶. As in lnMixture f is a polynomial whose zeros lie
// outside, so that 48 nodes are as good as exact, whatever n is.
func tailSlope(k, n, p, q float64) float64 {
	const manyTerms = 350 // that many take about as long as the rule
	above, variance := k-float64(n*p), float64(n*p*q)
	if math.Sqrt(float64(above*above)+float64(82*variance))-above < manyTerms {
		return float64(p / k * tailFactor(k, n, p, q))
	}
	// The terms of second order of ln f at p.
	rise, bow := (k-1)/p-(n-k)/q, (k-1)/p/p+(n-k)/q/q
	width := min(p, (math.Sqrt(float64(rise*rise)+float64(92*bow))-rise)/bow)
	sum := 0.0
	for i, x := range mixtureNodes {
		d := float64(width * x)
		fall := float64((k-1)*ln1p(-d/p)) + float64((n-k)*ln1p(d/q))
		sum += float64(mixtureWeights[i] * exp(fall))
	}
	return float64(width * sum)
}
