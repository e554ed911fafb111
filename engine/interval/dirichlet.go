package interval

// Dirichlet returns the interval for the mean of bounded values of units drawn independently from one
// population, their number fixed beforehand. See MeanMethod for the arguments. With fewer units than
// planned, the absent ones must be in the lists as missing (the worst and the best value of the scale);
// the error then holds at any number of looks up to the planned number. n = 0 gives the whole scale.
//
// With y the values moved to [0, 1] and (D₀, …, Dₙ) uniform on the simplex,
//
//	K(m) = P(Σ Dᵢ·yᵢ <= m),   lower = sup{m : K(m) <= a},   a = (1 − confidence)/2
//
// and the upper end is the mirror image. It is at most as wide as UniformMixture, and on 0/1 values it is
// ClopperPearson. It does not hold for units of different means (a fixed list of cases), nor for
// repeated looks at growing data. Rounding and errors are those of UniformMixture.
//
// Gaffke; Learned-Miller and Thomas, arXiv:1905.06208; proof: Vlassis and Thomas, arXiv:2607.08415.
func Dirichlet(low, high []float64, scale Scale, confidence float64) (Interval, error) {
	return boundedMean(low, high, scale, confidence, MethodDirichlet)
}

// dirichletLower is the lower end on [0, 1]. The first-order SymPol bound a·mean is never above it, hence
// the furthest m; equal values give mean·a^(1/n), hence the first step.
func dirichletLower(s sample, a float64) float64 {
	target := ln(a)
	return largestRejected(s.mean, -target/s.n, -target, func(m float64) float64 {
		return target - ln(dirichletRecursion(s, m))
	})
}

// dirichletRecursion returns K(m) for 0 < m by cutting the simplex of the values and 0 at the level m: each
// step takes the edge between a value u above the level and v below it, which splits what is left in
// the ratio v : u (Varsi 1973, Ali 1973). Every step is a weighted mean of numbers in [0, 1], so the
// relative error stays below about 4(n+1)·2⁻⁵³. The cost is the number above times the number below.
func dirichletRecursion(s sample, m float64) float64 {
	below := []float64{m} // the value 0 of D₀
	var above []float64
	for _, l := range s.levels {
		for range int(l.count) {
			switch {
			case l.value > m:
				above = append(above, l.value-m)
			case l.value < m:
				below = append(below, m-l.value)
			}
		}
	}
	share := make([]float64, len(below)+1)
	for k := range below {
		share[k+1] = 1
	}
	for _, u := range above {
		for k, v := range below {
			share[k+1] = (float64(u*share[k]) + float64(v*share[k+1])) / (u + v)
		}
	}
	return share[len(below)]
}
