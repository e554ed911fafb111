package oracle

import (
	"math"
	"math/big"
	"slices"
)

// Intervals of bounded means. Each takes values as exact fractions, and a, the error that each side may have. Values lie
// between 0 and 1; gains, between -1 and 1, are moved there and back by onGains.

// meanMethod is a lower end for the mean of values between 0 and 1, at the error a.
type meanMethod func(values []*big.Rat, a float64) float64

// meanInterval is the interval of a mean on [0, 1]: the lower end from the values with what is missing at its worst, the
// upper end, mirrored, from those with it at its best.
func meanInterval(method meanMethod, worst, best []*big.Rat, a float64) (lower, upper float64) {
	return method(worst, a), 1 - method(mirrored(best), a)
}

// onGains is the interval of a mean on [-1, 1].
func onGains(method meanMethod, worst, best []*big.Rat, a float64) (lower, upper float64) {
	lower, upper = meanInterval(method, halved(worst), halved(best), a)
	return 2*lower - 1, 2*upper - 1
}

// mirrored is 1 - y of each value.
func mirrored(values []*big.Rat) []*big.Rat {
	var all []*big.Rat
	for _, y := range values {
		all = append(all, new(big.Rat).Sub(big.NewRat(1, 1), y))
	}
	return all
}

// halved is (x + 1)/2 of each value.
func halved(values []*big.Rat) []*big.Rat {
	var all []*big.Rat
	for _, x := range values {
		y := new(big.Rat).Add(x, big.NewRat(1, 1))
		all = append(all, y.Quo(y, big.NewRat(2, 1)))
	}
	return all
}

// largest is the largest m in (0, 1] of which refused is true; it is true up to some m and false above. It is 0 if there is none.
func largest(refused func(m float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 52 { // to the last bit of a number near 1
		if m := (low + high) / 2; refused(m) {
			low = m
		} else {
			high = m
		}
	}
	return low
}

// uniformMixture is the lower end of the sequence (section 4 of the definitions): the largest m at which the integral of
// Π(1 - θ + θ·y/m) over θ from 0 to 1 is at least 1/a.
//
// The integrand is a polynomial in θ of as many degrees as there are values, so Gauss-Legendre quadrature with more than
// half as many nodes is exact; all terms are positive.
func uniformMixture(values []*big.Rat, a float64) float64 {
	if sum(values).Sign() == 0 {
		return 0
	}
	type distinct struct{ y, times float64 }
	var all []distinct
	for _, group := range grouped(values) {
		y, _ := group[0].Float64()
		all = append(all, distinct{y, float64(len(group))})
	}
	nodes, weights := gaussLegendre(len(values)/2 + 1)
	return largest(func(m float64) bool {
		total := 0.0
		for i, x := range nodes {
			theta := (1 + x) / 2
			logarithm := math.Log(a) // of the product times a, which for a small m is too large a number itself
			for _, d := range all {
				logarithm += d.times * math.Log(1-theta+theta*d.y/m)
			}
			total += weights[i] / 2 * math.Exp(logarithm)
		}
		return total >= 1
	})
}

// gaussLegendre gives the nodes and weights of the quadrature with n nodes on [-1, 1]: the roots of the Legendre
// polynomial of degree n, by Newton's method, and 2/((1 - x²)·P'(x)²).
func gaussLegendre(n int) (nodes, weights []float64) {
	for i := range n {
		x := math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5))
		slope := 0.0
		for range 100 {
			// P(0) = 1, P(1) = x, k·P(k) = (2k - 1)·x·P(k - 1) - (k - 1)·P(k - 2)
			before, p := 1.0, x
			for k := 2; k <= n; k++ {
				before, p = p, ((2*float64(k)-1)*x*p-(float64(k)-1)*before)/float64(k)
			}
			slope = float64(n) * (x*p - before) / (x*x - 1)
			step := p / slope
			x -= step
			if math.Abs(step) < 1e-16 {
				break
			}
		}
		nodes = append(nodes, x)
		weights = append(weights, 2/((1-x*x)*slope*slope))
	}
	return nodes, weights
}

// dirichlet is the lower end of section 3: the largest m with P(Σ D·y <= m) <= a, D uniform on the simplex, where one
// more part of it goes with the value 0.
//
// By the formula of Hermite and Genocchi, P(Σ D·y > m) is the divided difference of (t - m)₊ⁿ over the n + 1 knots, which
// are 0 and the values. Divided differences cancel, so they are taken in as many bits as that can cost.
func dirichlet(values []*big.Rat, a float64) float64 {
	if sum(values).Sign() == 0 {
		return 0
	}
	var knots []*big.Rat
	for _, group := range grouped(append([]*big.Rat{new(big.Rat)}, values...)) {
		knots = append(knots, group...)
	}
	n := len(values)
	precision := uint(128 + 24*n)
	float := func(r *big.Rat) *big.Float { return new(big.Float).SetPrec(precision).SetRat(r) }
	t := make([]*big.Float, n+1)
	for i, k := range knots {
		t[i] = float(k)
	}
	// inverse[i][j] is 1/(t[j] - t[i]), found once and not at each m; nil where the knots are equal.
	inverse := make([][]*big.Float, n+1)
	for i := range inverse {
		inverse[i] = make([]*big.Float, n+1)
		for j := i + 1; j <= n; j++ {
			if difference := new(big.Rat).Sub(knots[j], knots[i]); difference.Sign() > 0 {
				inverse[i][j] = float(new(big.Rat).Inv(difference))
			}
		}
	}
	return largest(func(m float64) bool {
		// The d-th derivative of (t - m)₊ⁿ at t[i], over d!, is C(n, d)·(t - m)₊ⁿ⁻ᵈ.
		derivative := func(i, d int) *big.Float {
			x := new(big.Float).SetPrec(precision).Sub(t[i], big.NewFloat(m))
			if x.Sign() <= 0 {
				return new(big.Float).SetPrec(precision)
			}
			result := new(big.Float).SetPrec(precision).SetInt(new(big.Int).Binomial(int64(n), int64(d)))
			for power := n - d; power > 0; power >>= 1 {
				if power&1 == 1 {
					result.Mul(result, x)
				}
				x.Mul(x, x)
			}
			return result
		}
		table := make([]*big.Float, n+1)
		for i := range table {
			table[i] = derivative(i, 0)
		}
		for d := 1; d <= n; d++ {
			for i := 0; i+d <= n; i++ {
				if by := inverse[i][i+d]; by != nil {
					difference := new(big.Float).SetPrec(precision).Sub(table[i+1], table[i])
					table[i] = difference.Mul(difference, by)
				} else {
					table[i] = derivative(i, d)
				}
			}
		}
		above, _ := table[0].Float64()
		return 1-above <= a
	})
}

// sympol is the lower end of section 3.5: the largest of (a·A_k)^(1/k), A_k the mean of the products of k values.
//
// The sums of products are the coefficients of Π(1 + y·x), here to 300 bits; none of them is negative.
func sympol(values []*big.Rat, a float64) float64 {
	const precision = 300
	n := len(values)
	coefficients := make([]*big.Float, n+1)
	for k := range coefficients {
		coefficients[k] = new(big.Float).SetPrec(precision)
	}
	coefficients[0].SetInt64(1)
	for i, value := range values {
		y := new(big.Float).SetPrec(precision).SetRat(value)
		for k := i + 1; k >= 1; k-- {
			part := new(big.Float).SetPrec(precision).Mul(y, coefficients[k-1])
			coefficients[k].Add(coefficients[k], part)
		}
	}
	best := 0.0
	for k := 1; k <= n; k++ {
		choices := new(big.Float).SetPrec(precision).SetInt(new(big.Int).Binomial(int64(n), int64(k)))
		mean := new(big.Float).SetPrec(precision).Quo(coefficients[k], choices)
		if mean.Sign() == 0 {
			continue
		}
		fraction := new(big.Float)
		exponent := mean.MantExp(fraction)
		f, _ := fraction.Float64()
		best = max(best, math.Exp((math.Log(a)+math.Log(f)+float64(exponent)*math.Ln2)/float64(k)))
	}
	return best
}

// sum adds fractions.
func sum(values []*big.Rat) *big.Rat {
	total := new(big.Rat)
	for _, v := range values {
		total.Add(total, v)
	}
	return total
}

// mean is the mean of fractions, of which there is at least one.
func mean(values []*big.Rat) float64 {
	m, _ := new(big.Rat).Quo(sum(values), big.NewRat(int64(len(values)), 1)).Float64()
	return m
}

// grouped sorts values and puts equal ones together.
func grouped(values []*big.Rat) [][]*big.Rat {
	sorted := slices.Clone(values)
	slices.SortFunc(sorted, func(a, b *big.Rat) int { return a.Cmp(b) })
	var groups [][]*big.Rat
	for i, v := range sorted {
		if i > 0 && v.Cmp(sorted[i-1]) == 0 {
			groups[len(groups)-1] = append(groups[len(groups)-1], v)
		} else {
			groups = append(groups, []*big.Rat{v})
		}
	}
	return groups
}
