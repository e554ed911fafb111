package interval

// UniformMixture returns the interval for the mean of bounded values that holds at every number of units at
// once (a confidence sequence). See MeanMethod for the arguments; n = 0 gives the whole scale.
//
// With y the values moved to [0, 1] and m a mean there,
//
//	E(m) = ∫₀¹ Π (1 − θ + θ·yᵢ/m) dθ,   lower = sup{m : E(m) >= 1/a},   a = (1 − confidence)/2
//
// and the upper end is the mirror image. Under the mean m, E is a non-negative martingale that starts at 1, so
// by Ville's inequality it ever reaches 1/a with probability at most a. It holds over repeated looks while
// either units are added in an order unrelated to their values and none is changed or removed, or the
// units are fixed and each gains decisions in random order; at one look also for units of different
// means. It contains the mean of the values, is monotone in every value and nested in the confidence.
//
// Ends are rounded outward to multiples of 1e-10. It is an error for the lists to differ in length, for
// a value to be NaN, off the scale or above its other completion, or for confidence to be outside [0.5, 1).
//
// Waudby-Smith and Ramdas, JRSS-B 86 (2024); Orabona and Jun, arXiv:2110.14099; Ryu and Bhatt, arXiv:2207.12382.
func UniformMixture(low, high []float64, scale Scale, confidence float64) (Interval, error) {
	return boundedMean(low, high, scale, confidence, MethodUniformMixture)
}

// RateSequence returns the interval for a rate of independent 0/1 decisions that holds at every number
// of decisions at once: UniformMixture on k ones and n − k − missing zeros, each missing decision a zero in
// the lower end and a one in the upper. Its ends are rounded outward to 10 significant digits. The
// errors are those of ClopperPearson.
func RateSequence(k, missing, n int, confidence float64) (Interval, error) {
	if err := checkCounts(k, missing, n); err != nil {
		return Interval{}, err
	}
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, err
	}
	a := sideError(confidence)
	i := Interval{Lower: 0, Upper: 1, Confidence: confidence, Method: MethodUniformMixture, Looks: LooksAny}
	if k > 0 {
		i.Lower = rateLower(mixtureLower(zeroOneSample(k, n), a))
	}
	if best := n - k - missing; best > 0 {
		i.Upper = rateUpper(1 - mixtureLower(zeroOneSample(best, n), a))
	}
	return i, nil
}

// zeroOneSample is the sample of k ones among n values, k > 0. A level has a unit or more.
func zeroOneSample(k, n int) sample {
	s := sample{levels: []level{{1, float64(k)}}}
	if k < n {
		s.levels = []level{{0, float64(n - k)}, {1, float64(k)}}
	}
	return s.summed()
}

// mixtureLower is the lower end on [0, 1].
func mixtureLower(s sample, a float64) float64 {
	target := -ln(a)
	// The first-order term alone gives E(m) >= mean/((n+1)·m), hence the furthest m that need be tried.
	// Equal values would give about mean·a^(1/n), hence the first step.
	furthest := target + ln(s.n+1)
	slopes := make([]float64, len(s.levels))
	lower := largestRejected(s.mean, target/s.n, furthest, func(m float64) float64 {
		for i, l := range s.levels {
			slopes[i] = (l.value - m) / m
		}
		return lnMixture(s.levels, slopes) - target
	})
	if lower == 0 {
		// Where a is tiny the first-order term is nearly all of E, and numerical error can hide that the furthest m is rejected.
		// It is, so the end is there or above; 0 would be below the end at a smaller a.
		return float64(s.mean * exp(-furthest))
	}
	return lower
}

// lnMixture returns ln ∫₀¹ exp(g(θ)) dθ for g(θ) = Σ countⱼ·ln(1 + θ·slopeⱼ), where every slope is at least −1.
//
// g is concave, so exp(g) has one peak. The range where g is within about 40 of the peak is cut at the peak,
// and each part gets a Gauss rule of 48 nodes. exp(g) is a polynomial with real zeros only, all outside
// (0, 1), which makes such a rule exact to about 1e-14 whatever the degree (compared with the closed form
// in sequence_test.go); the rest of [0, 1] holds less than e⁻³⁶ of the whole.
func lnMixture(levels []level, slopes []float64) float64 {
	peak := mixturePeak(levels, slopes)
	top := lnProduct(levels, slopes, peak)
	left := mixtureEdge(levels, slopes, peak, 0, top)
	right := mixtureEdge(levels, slopes, peak, 1, top)
	sum := 0.0
	for _, part := range [][2]float64{{left, peak}, {peak, right}} {
		from, width := part[0], part[1]-part[0]
		if width <= 0 {
			continue
		}
		partSum := 0.0
		for i, x := range mixtureNodes {
			g := lnProduct(levels, slopes, from+float64(width*x))
			partSum += float64(mixtureWeights[i] * exp(g-top))
		}
		sum += float64(width * partSum)
	}
	return top + ln(sum)
}

var mixtureNodes, mixtureWeights = legendre(48)

// mixturePeak returns about where g is largest on [0, 1], by bisection of its slope.
func mixturePeak(levels []level, slopes []float64) float64 {
	slopeAt := func(theta float64) float64 {
		sum := 0.0
		for i, l := range levels {
			sum += l.count * slopes[i] / (1 + float64(theta*slopes[i]))
		}
		return sum
	}
	lo, hi := 0.0, 1.0
	for range 40 {
		mid := (lo + hi) / 2
		if slopeAt(mid) > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// mixtureEdge returns a θ between the peak and the given end of [0, 1] beyond which exp(g) can be left
// out: g has fallen by 36 to 44 there. It is the end itself where g does not fall so far.
func mixtureEdge(levels []level, slopes []float64, peak, end, top float64) float64 {
	if top-lnProduct(levels, slopes, end) <= 44 {
		return end
	}
	inside, outside := peak, end
	for range 60 {
		mid := (inside + outside) / 2
		switch fall := top - lnProduct(levels, slopes, mid); {
		case fall < 36:
			inside = mid
		case fall > 44:
			outside = mid
		default:
			return mid
		}
	}
	return outside
}

// lnProduct returns g(θ). Factors that occur a few times are multiplied up and their logarithm taken together,
// which is several times faster; the others go through ln1p, which stays accurate for any count.
func lnProduct(levels []level, slopes []float64, theta float64) float64 {
	sum, product := 0.0, 1.0
	for i, l := range levels {
		x := float64(theta * slopes[i])
		if l.count > mostMultiplied || (l.count > 1 && !(x > -0.99 && x < 99)) {
			sum += float64(l.count * ln1p(x))
			continue
		}
		product = float64(product * power(1+x, int(l.count)))
		if product < 1e-150 || product > 1e150 {
			sum += ln(product)
			product = 1
		}
	}
	return sum + ln(product)
}

// mostMultiplied is the count up to which a factor between 0.01 and 100 is multiplied up: its power is then
// between 1e-64 and 1e64, and loses no more than 5 bits.
const mostMultiplied = 32

// power returns x to the power n >= 1 by squaring.
func power(x float64, n int) float64 {
	p := 1.0
	for ; n > 1; n >>= 1 {
		if n&1 == 1 {
			p = float64(p * x)
		}
		x = float64(x * x)
	}
	return float64(p * x)
}
