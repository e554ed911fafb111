package interval

import "math"

// The functions of this file return the same bits on every architecture: they use only + − × ÷, square
// roots and exact scaling by powers of two, with every product that meets a sum rounded first. Their
// relative error is a few units in the last place, measured in portable_test.go.

// ln 2 in two parts: the first has 21 trailing zero bits, so that its product with an exponent is exact.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
	halfPi1 = 1.57079632673412561417e+00 // the same for π/2, 33 bits
	halfPi2 = 6.07710050650619224932e-11
)

// exp returns eˣ, with a relative error below 1e-15 wherever the result is a normal number.
func exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 709:
		return math.Inf(1)
	case x < -745:
		return 0
	}
	k := math.Floor(float64(x/math.Ln2) + 0.5)
	r := (x - float64(k*ln2High)) - float64(k*ln2Low)
	// |r| <= ln 2 / 2: the terms left out are below 1e-18.
	return math.Ldexp(1+expm1Series(r), int(k))
}

// expm1 returns eˣ − 1 without cancellation near 0.
func expm1(x float64) float64 {
	if math.Abs(x) < 0.35 {
		return expm1Series(x)
	}
	return exp(x) - 1
}

// expm1Series sums x + x²/2! + … + x¹⁵/15! from its far end.
func expm1Series(x float64) float64 {
	s := 0.0
	for i := 15.0; i >= 1; i-- {
		s = float64(x / i * (1 + s))
	}
	return s
}

// ln returns the natural logarithm of x: −Inf at 0, NaN below.
func ln(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	}
	m, e := math.Frexp(x) // m in [1/2, 1)
	if m < math.Sqrt2/2 {
		m, e = m+m, e-1
	}
	k := float64(e)
	return float64(k*ln2High) + (ln1pSeries(m-1) + float64(k*ln2Low))
}

// ln1p returns the natural logarithm of 1 + x without cancellation near 0.
func ln1p(x float64) float64 {
	if x > -0.29 && x < 0.41 {
		return ln1pSeries(x)
	}
	return ln(1 + x)
}

// The odd reciprocals 1/3, 1/5, …, 1/25 of ln1pSeries and atanSeries.
var oddReciprocals = [...]float64{1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11, 1. / 13, 1. / 15, 1. / 17, 1. / 19, 1. / 21, 1. / 23, 1. / 25}

// ln1pSeries returns ln(1+f) = 2·artanh(s), s = f/(2+f), for 1+f in [√½, √2] or a little more, where
// |s| < 0.18: the terms left out are below 1e-19.
func ln1pSeries(f float64) float64 {
	s := f / (2 + f)
	z := float64(s * s)
	p := 0.0
	for i := len(oddReciprocals) - 1; i >= 0; i-- {
		p = float64(z * (oddReciprocals[i] + p))
	}
	// 2s = f − s·f, which keeps the leading term exact.
	return f - float64(s*(f-(p+p)))
}

// atan2 returns the angle of the point (x, y) in (−π, π].
func atan2(y, x float64) float64 {
	switch {
	case x > 0 && math.Abs(y) <= x:
		return atanUnit(y / x)
	case y > 0 && y >= math.Abs(x):
		return math.Pi/2 - atanUnit(x/y)
	case y < 0 && -y >= math.Abs(x):
		return -math.Pi/2 - atanUnit(x/y)
	case x == 0:
		return 0
	case y < 0:
		return atanUnit(y/x) - math.Pi
	}
	return atanUnit(y/x) + math.Pi
}

// atanUnit returns arctan t for |t| <= 1: two half-angle steps, then the series.
func atanUnit(t float64) float64 {
	scale := 1.0
	for scale < 4 && math.Abs(t) > 0.19 {
		t = t / (1 + math.Sqrt(1+float64(t*t)))
		scale *= 2
	}
	z := -float64(t * t)
	p := 0.0
	for i := len(oddReciprocals) - 1; i >= 0; i-- {
		p = float64(z * (oddReciprocals[i] + p))
	}
	return float64(scale * (t + float64(t*p)))
}

// sincos returns the sine and the cosine of x, for |x| up to about 1e5.
func sincos(x float64) (sin, cos float64) {
	k := math.Floor(float64(x/(math.Pi/2)) + 0.5)
	r := (x - float64(k*halfPi1)) - float64(k*halfPi2)
	z := -float64(r * r)
	s, c := 0.0, 0.0
	for i := 20.0; i >= 2; i -= 2 {
		c = float64(z / float64(i*(i-1)) * (1 + c))
		s = float64(z / float64(i*(i+1)) * (1 + s))
	}
	sin, cos = r+float64(r*s), 1+c
	switch math.Mod(k, 4) {
	case 1, -3:
		return cos, -sin
	case 2, -2:
		return -sin, -cos
	case 3, -1:
		return -cos, sin
	}
	return sin, cos
}

// legendre returns the n nodes and weights of Gauss-Legendre quadrature on [0, 1], in increasing order.
// They are the roots of the Legendre polynomial, by Newton's method from the usual cosine guess.
func legendre(n int) (nodes, weights []float64) {
	nodes, weights = make([]float64, n), make([]float64, n)
	N := float64(n)
	for i := range (n + 1) / 2 {
		_, x := sincos(math.Pi * (float64(i) + 0.75) / (N + 0.5))
		slope := 0.0
		for range 8 {
			p0, p1 := 1.0, x
			for j := 2.0; j <= N; j++ {
				p0, p1 = p1, (float64(float64((j+j-1)*x)*p1)-float64((j-1)*p0))/j
			}
			slope = N * (p0 - float64(x*p1)) / (1 - float64(x*x))
			x -= p1 / slope
		}
		w := 1 / (float64((1-float64(x*x))*slope) * slope)
		nodes[i], nodes[n-1-i] = (1-x)/2, (1+x)/2
		weights[i], weights[n-1-i] = w, w
	}
	return nodes, weights
}
