package interval

import "math"

// SymPol returns the interval for the mean of bounded values of independent units of equal means, their number
// fixed beforehand. See MeanMethod for the arguments, and Dirichlet for units that are absent. n = 0
// gives the whole scale.
//
// With y the values moved to [0, 1] and A_k the mean, over all choices of k units, of the product of their
// values,
//
//	lower = max over k = 1 … n of (a·A_k)^(1/k),   a = (1 − confidence)/2
//
// and the upper end is the mirror image. If E yᵢ <= m, then max A_k/mᵏ has the expectation bound of a
// non-negative supermartingale, so it reaches 1/a with probability at most a. It is a little wider than
// Dirichlet. Rounding and errors are those of UniformMixture.
func SymPol(low, high []float64, scale Scale, confidence float64) (Interval, error) {
	return boundedMean(low, high, scale, confidence, MethodSymPol)
}

// symPolLower is the lower end on [0, 1]. Since ln A_k is concave in k (Newton's inequalities), (ln a + ln A_k)/k, the
// slope of a chord from a fixed point to it, has one peak. The A_k come all at once from a recursion, or one at
// a time from an integral where the recursion would cost more: it takes n² steps of some 2 ns, the
// integral 60 µs for each distinct value in all.
func symPolLower(s sample, a float64) float64 {
	target := ln(a)
	best := math.Inf(-1) // of (ln a + ln A_k)/k, with the values divided by their mean
	if s.n*s.n <= 60_000*float64(len(s.levels)) {
		for k, lnA := range symPolRecursion(s) {
			if k > 0 {
				best = math.Max(best, (target+lnA)/float64(k))
			}
		}
		return float64(s.mean * exp(best))
	}
	positive := s.n // A_k is 0 for a k beyond the number of positive values
	if s.levels[0].value == 0 {
		positive -= s.levels[0].count
	}
	slope := func(k float64) float64 { return (target + lnSymPol(s, k, positive)) / k }
	lo, hi := 1.0, positive // the peak's k
	for lo < hi {
		k := math.Floor((lo + hi) / 2)
		if slope(k) < slope(k+1) {
			lo = k + 1
		} else {
			hi = k
		}
	}
	return float64(s.mean * exp(slope(lo)))
}

// symPolRecursion returns ln A_k for k = 0 … n, of the values divided by their mean. Each step is a weighted
// mean of non-negative numbers; Maclaurin's inequality keeps A_k <= 1. An A_k that underflows counts as 0, which
// can only lower the bound.
func symPolRecursion(s sample) []float64 {
	A := make([]float64, int(s.n)+1)
	A[0] = 1
	j := 0
	for _, l := range s.levels {
		x := l.value / s.mean
		for range int(l.count) {
			j++
			for k := j; k >= 1; k-- {
				share := float64(k) / float64(j)
				A[k] = float64((1-share)*A[k]) + float64(float64(share*x)*A[k-1])
			}
		}
	}
	for k := range A {
		A[k] = ln(A[k])
	}
	return A
}

// lnSymPol returns ln A_k for 1 <= k <= positive, of the values u divided by their mean, from the multiplicities
// alone. With t > 0, p = k/n and q = 1 − p,
//
//	A_k = Π (q + t·q·uᵢ) · (p/(t·q))ᵏ · P(W = k)/P(Bin(n, p) = k)
//
// where W counts the successes of independent trials with odds t·uᵢ. t is chosen to give W the mean k, so that
// P(W = k) is a number of ordinary size, computed from W's characteristic function.
func lnSymPol(s sample, k, positive float64) float64 {
	p, q := k/s.n, (s.n-k)/s.n
	if k == positive {
		lnA := 0.0
		for _, l := range s.levels {
			if l.value > 0 {
				lnA += float64(l.count * ln(l.value/s.mean))
			}
		}
		if k < s.n {
			// Divided by C(n, k) = P(Bin(n, p) = k)/(pᵏ·qⁿ⁻ᵏ).
			lnA -= lnBinomial(k, s.n, p, q) - float64(k*ln(p)) - float64((s.n-k)*ln(q))
		}
		return lnA
	}
	t := symPolOdds(s, k)
	lnA := -float64(k*ln(t*q/p)) - lnBinomial(k, s.n, p, q)
	for _, l := range s.levels {
		u := l.value / s.mean
		lnA += float64(l.count * ln1p(float64(t*q*u)-p))
	}
	return lnA + ln(symPolProbability(s, k, t))
}

// symPolOdds returns about the t at which Σ t·uᵢ/(1 + t·uᵢ) = k, by bisection of its logarithm.
func symPolOdds(s sample, k float64) float64 {
	successes := func(t float64) float64 {
		sum := 0.0
		for _, l := range s.levels {
			odds := float64(t * (l.value / s.mean))
			sum += l.count * odds / (1 + odds)
		}
		return sum
	}
	lo := k / s.n // too small: the sum is at most n·t
	hi := lo + lo
	for successes(hi) < k && hi < 1e300 {
		lo, hi = hi, float64(hi*16)
	}
	for range 60 {
		mid := math.Sqrt(float64(lo * hi))
		if successes(mid) < k {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// symPolProbability returns P(W = k) for W the number of successes of independent trials with odds t·uᵢ. The
// trapezoidal rule on N points of the circle gives the sum of P(W = k + i·N) over all integers i exactly; N is
// 20 standard deviations and more, so that the other terms are nothing.
func symPolProbability(s sample, k, t float64) float64 {
	variance := 0.0
	for _, l := range s.levels {
		odds := float64(t * (l.value / s.mean))
		variance += l.count * odds / float64((1+odds)*(1+odds))
	}
	N := math.Floor(float64(20*math.Sqrt(variance))) + 64
	sum := 1.0
	for i := 1.0; i+i <= N; i++ {
		angle := 2 * math.Pi * i / N
		sin, _ := sincos(angle)
		sinHalf, _ := sincos(angle / 2)
		versine := float64(float64(2*sinHalf) * sinHalf) // 1 − cos, without cancellation
		if float64(variance*versine) > 42 {
			break
		}
		lnAbs, phase := 0.0, -float64(k*angle)
		for _, l := range s.levels {
			odds := float64(t * (l.value / s.mean))
			chance := odds / (1 + odds)
			lnAbs += float64(float64(0.5*l.count) * ln1p(-float64(float64(2*chance)*versine/(1+odds))))
			phase += float64(l.count * atan2(float64(chance*sin), 1-float64(chance*versine)))
		}
		_, cosPhase := sincos(phase)
		term := float64(exp(lnAbs) * cosPhase)
		if i+i == N { // the point −1 has no mirror image
			sum += term
		} else {
			sum += term + term
		}
	}
	return sum / N
}
