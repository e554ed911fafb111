package interval

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
func symPolLower(s sample, a float64) float64 {
	n := int(s.n)
	A := make([]float64, n+1)
	A[0] = 1
	j := 0.0
	for _, l := range s.levels {
		x := l.value / s.mean
		for range int(l.count) {
			j++
			for k := j; k >= 1; k-- {
				A[int(k)] = float64((j-k)/j*A[int(k)]) + float64(k/j*x*A[int(k)-1])
			}
		}
	}
	best := 0.0
	for k := 1; k <= n; k++ {
		if A[k] > 0 {
			if r := exp((ln(a) + ln(A[k])) / float64(k)); r > best {
				best = r
			}
		}
	}
	return float64(s.mean * best)
}
