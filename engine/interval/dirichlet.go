package interval

import "math"

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
		return target - lnDirichlet(s, m)
	})
}

// lnDirichlet returns ln K(m) for 0 < m < mean by whichever route is cheaper for this sample and m. The
// recursion's cost is the number of units above m times the number below, some 8 ns each; the contour's is
// the number of distinct values, at some 200 points. The recursion also takes over where the contour
// does not settle.
func lnDirichlet(s sample, m float64) float64 {
	above, below := 0.0, 1.0
	for _, l := range s.levels {
		if l.value > m {
			above += l.count
		} else {
			below += l.count
		}
	}
	if above*below > 200*float64(len(s.levels)) {
		if lnK, settled := lnDirichletContour(s, m); settled {
			return lnK
		}
	}
	return ln(dirichletRecursion(s, m))
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

// A pole is a factor (1 − z·b)^(−count) of the contour integral's integrand.
type pole struct{ b, count float64 }

// lnDirichletContour returns ln K(m) for 0 < m < mean from the distinct values alone, at a cost that does
// not grow with n.
//
// K(m) is the probability that S = Σ cᵢ·Eᵢ <= 0 for independent exponential Eᵢ and c₀ = −m, cᵢ = yᵢ − m. By the inversion
// of its transform M(s) = Π (1 − s·cᵢ)⁻¹ along a line through a point κ of (−1/m, 0), and with s = κ + z,
//
//	K(m) = M(κ)/|κ| · (1/2πi) ∫ φ(z) dz,   φ(z) = (1 + z/κ)⁻¹ · Π (1 − z·bᵢ)⁻¹,   bᵢ = cᵢ/(1 − κ·cᵢ)
//
// along any path from below to above that crosses the real axis at 0: the poles 1/b are all real. The path
// taken is a hyperbola close to the path of steepest descent, on which φ hardly oscillates. The trapezoidal
// rule on it converges faster than any power of the step, so that once halving the step changes the
// integral by no more than rounding does, the error that remains is that of rounding. That grows with √n, and so
// does the slope of ln K, which it is divided by in the bound.
//
// It returns false if no path tried was a good one.
func lnDirichletContour(s sample, m float64) (lnK float64, settled bool) {
	kappa := dirichletSaddle(s, m)
	poles := make([]pole, 0, len(s.levels)+2)
	poles = append(poles, pole{-m / (1 + float64(kappa*m)), 1}, pole{-1 / kappa, 1})
	lnK = -ln(-kappa) - ln1p(float64(kappa*m))
	for _, l := range s.levels {
		c := l.value - m
		lnK -= float64(l.count * ln1p(-float64(kappa*c)))
		poles = append(poles, pole{c / (1 - float64(kappa*c)), l.count})
	}
	tolerance := 1e-12 + float64(1e-13*math.Sqrt(s.n))
	// The first path serves nearly always. In 100,000 K(m) of few values of very unequal counts it failed 122
	// times, and all four did once.
	for _, depth := range [...]float64{45, 20, 90, 10} {
		if integral, settled := contourIntegral(poles, steepestHyperbola(poles, depth), tolerance); settled {
			return lnK + ln(integral/math.Pi), true
		}
	}
	return 0, false
}

// contourIntegral returns the integral of φ along the upper half of the path, over i, and whether it settled: whether halving
// the step changed it by less than the relative tolerance.
func contourIntegral(poles []pole, path hyperbola, tolerance float64) (integral float64, settled bool) {
	step := 0.5
	integral = float64(step * (float64(0.5*path.height) + contourSum(poles, path, step, step))) // φ(0) = 1 counts half
	for range 8 {
		finer := float64((integral + float64(step*contourSum(poles, path, step/2, step))) / 2)
		step /= 2
		if math.Abs(finer-integral) <= tolerance*finer {
			return finer, true
		}
		integral = finer
	}
	return 0, false
}

// dirichletSaddle returns about where M(s)/|s| is least on (−1/m, 0), by bisection of its logarithm's slope. Any
// point of that range would do; this one keeps φ from oscillating.
func dirichletSaddle(s sample, m float64) float64 {
	lo, hi := -1/m, 0.0
	for range 40 {
		mid := (lo + hi) / 2
		slope := -m/(1+float64(mid*m)) - 1/mid
		for _, l := range s.levels {
			c := l.value - m
			slope += float64(l.count*c) / (1 - float64(mid*c))
		}
		if slope > 0 {
			hi = mid
		} else {
			lo = mid
		}
	}
	return (lo + hi) / 2
}

// A hyperbola is the path z = width·(cosh w − 1) + i·height·sinh w.
type hyperbola struct{ width, height float64 }

// at returns the point at w and the derivative there, as real and imaginary parts.
func (h hyperbola) at(w float64) (x, y, dx, dy float64) {
	e := exp(w)
	sinh, cosh := float64((e-1/e)/2), float64((e+1/e)/2)
	return float64(h.width * (cosh - 1)), float64(h.height * sinh), float64(h.width * sinh), float64(h.height * cosh)
}

// steepestHyperbola returns the hyperbola through the point of the path of steepest descent at which φ has
// fallen by a factor of about e^depth. On that path φ is real; for each y it has one x, since the phase
// of φ grows with x.
func steepestHyperbola(poles []pole, depth float64) hyperbola {
	variance := 0.0 // of the sum of exponentials whose transform φ is; |φ| falls over 1/√variance
	for _, p := range poles {
		variance += float64(float64(p.b*p.b) * p.count)
	}
	scale := 1 / math.Sqrt(variance)
	h := hyperbola{height: float64(4 * scale)}
	// y doubles until φ is negligible there, then halves the bracket until it is not too much so: where the path
	// turns sharply, a point far beyond the turn would be a bad guide.
	near, far := 0.0, math.Inf(1)
	x, y := 0.0, float64(2*scale)
	for range 200 {
		x = steepestX(poles, x, y)
		lnAbs, _ := contourProduct(poles, x, y)
		switch fall := lnAbs - ln(y/scale); {
		case fall < depth:
			near = y
		case fall > depth+15:
			far = y
		default:
			near, far = y, y
		}
		if far-near <= 1e-3*near {
			break
		}
		next := y + y
		if far < math.Inf(1) {
			next = (near + far) / 2
		}
		x = float64(x * (next / y) * (next / y)) // as a parabola would go on
		y = next
	}
	ratio := y / h.height
	h.width = x / (math.Sqrt(1+float64(ratio*ratio)) - 1)
	return h
}

// steepestX returns the x at which φ(x + iy) is real, starting from a guess.
func steepestX(poles []pole, x, y float64) float64 {
	lo, hi := math.Inf(-1), math.Inf(1)
	for range 100 {
		phase, slope := 0.0, 0.0 // of φ, and how the phase grows with x
		for _, p := range poles {
			re, im := 1-float64(x*p.b), -float64(y*p.b)
			phase -= float64(p.count * atan2(im, re))
			slope += p.count * y * float64(p.b*p.b) / (float64(re*re) + float64(im*im))
		}
		move := -phase / slope
		if math.Abs(move) <= 1e-3*y {
			return x + move
		}
		// Newton's step is held to a few y, and inside the bracket, where the phase is far from linear.
		if phase > 0 {
			hi = x
			move = math.Max(move, -float64(4*y))
		} else {
			lo = x
			move = math.Min(move, float64(4*y))
		}
		if next := x + move; next > lo && next < hi {
			x = next
		} else {
			x = (lo + hi) / 2
		}
	}
	return x
}

// contourSum adds up φ(z)·dz/(i·dw) at w = first, first + step, …, until three terms in a row are negligible. It
// returns NaN where |φ|, which is 1 at the start and should fall, grows above it, or does not become negligible.
func contourSum(poles []pole, path hyperbola, first, step float64) float64 {
	sum, negligible := 0.0, 0
	for i := 0.0; negligible < 3; i++ {
		x, y, dx, dy := path.at(first + float64(i*step))
		lnAbs, phase := contourProduct(poles, x, y)
		if !(lnAbs > -1) || i > 20000 {
			return math.NaN()
		}
		size := exp(-lnAbs)
		sin, cos := sincos(-phase)
		sum += float64(size * (float64(dy*cos) + float64(dx*sin)))
		if size*(dy+math.Abs(dx)) < 1e-18*path.height {
			negligible++
		} else {
			negligible = 0
		}
	}
	return sum
}

// contourProduct returns the logarithm and the phase of 1/φ(x + iy). As in lnProduct, factors that occur once are
// multiplied up, the others go through logarithms.
func contourProduct(poles []pole, x, y float64) (lnAbs, phase float64) {
	re, im := 1.0, 0.0
	for _, p := range poles {
		u, v := -float64(x*p.b), -float64(y*p.b) // the factor is 1 + u + iv
		if p.count != 1 {
			lnAbs += float64(float64(0.5*p.count) * ln1p(u+u+(float64(u*u)+float64(v*v))))
			phase += float64(p.count * atan2(v, 1+u))
			continue
		}
		u++
		re, im = float64(re*u)-float64(im*v), float64(re*v)+float64(im*u)
		if size := math.Abs(re) + math.Abs(im); size > 1e100 || size < 1e-100 {
			lnAbs += ln(size)
			re, im = re/size, im/size
		}
	}
	lnAbs += float64(0.5 * ln(float64(re*re)+float64(im*im)))
	return lnAbs, phase + atan2(im, re)
}
