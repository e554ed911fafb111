package interval

import (
	"math"
	"math/big"
	"testing"
)

// TestMeanDeviationValues: values that can be counted by hand.
func TestMeanDeviationValues(t *testing.T) {
	for _, c := range []struct {
		n    int
		p    float64
		want float64
	}{
		{0, 0.3, 0}, {5, 0, 0}, {5, 1, 0}, {maxCount, 1, 0},
		{1, 0.25, 0.375}, {1, 0.75, 0.375}, // 2pq
		{2, 0.5, 0.25},             // 0 or 1 with chance ½, off by ½
		{4, 0.5, 3. / 16},          // 2·1/16·1/2 + 2·4/16·1/4
		{2, 0.25, 2 * 9. / 64},     // v = 1: 2·(3/4)·(2·1/4·3/4)/2
		{3, 1. / 3, 16. / 81},      // np = 1 whole; v = 2: 2·2·(2/3)·(3·(1/9)·(2/3))/3
		{1, 1e-300, 2e-300},        // 2pq
		{1, 1 - 0x1p-53, 0x1p-52},  // 2pq
		{maxCount, 1e-300, 2e-300}, // v = 1: 2·P(X = 1)/n = 2p·(1 − p)ⁿ
	} {
		if got := MeanDeviation(c.n, c.p); math.Abs(got-c.want) > 1e-13*c.want {
			t.Errorf("MeanDeviation(%d, %v) = %.17g, want %.17g", c.n, c.p, got, c.want)
		}
	}
	for _, c := range []struct {
		n int
		p float64
	}{{-1, 0.5}, {maxCount + 1, 0.5}, {3, -0.1}, {3, 1.1}, {3, math.NaN()}, {3, math.Inf(1)}} {
		if got := MeanDeviation(c.n, c.p); !math.IsNaN(got) {
			t.Errorf("MeanDeviation(%d, %v) = %v, want NaN", c.n, c.p, got)
		}
	}
	// With many cases X/n is about normal: √(2pq/πn), to within about 1/n.
	for _, p := range []float64{0.5, 0.1, 0.99} {
		got, want := MeanDeviation(maxCount, p), math.Sqrt(2*p*(1-p)/(math.Pi*maxCount))
		if math.Abs(got/want-1) > 1e-9 {
			t.Errorf("MeanDeviation(10¹², %v) = %v, a normal variable's %v", p, got, want)
		}
	}
}

// TestMeanDeviationSums compares with the sum of |k/n − p|·P(X = k) over all k, in exact fractions of the float64 p up to
// n = 60 and in float64 beyond.
func TestMeanDeviationSums(t *testing.T) {
	chances := []float64{1e-6, 0.01, 0.1, 0.25, 1. / 3, 0.5, 0.6, 0.7, 0.9, 0.999}
	worst := 0.0
	compare := func(n int, p, want, tolerance float64) {
		got := MeanDeviation(n, p)
		worst = math.Max(worst, math.Abs(got/want-1))
		if !(math.Abs(got-want) <= tolerance*want) {
			t.Errorf("MeanDeviation(%d, %v) = %.17g, by summation %.17g", n, p, got, want)
		}
	}
	for _, n := range []int{1, 2, 3, 10, 30, 60} {
		for _, p := range chances {
			P := new(big.Rat).SetFloat64(p)
			Q := new(big.Rat).Sub(big.NewRat(1, 1), P)
			sum := new(big.Rat)
			for k := range n + 1 {
				term := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(k)))
				for range k {
					term.Mul(term, P)
				}
				for range n - k {
					term.Mul(term, Q)
				}
				d := new(big.Rat).Sub(big.NewRat(int64(k), int64(n)), P)
				sum.Add(sum, term.Mul(term, d.Abs(d)))
			}
			want, _ := sum.Float64()
			compare(n, p, want, 1e-13)
		}
	}
	for _, n := range []int{137, 1000, 20_000} {
		for _, p := range chances {
			want := 0.0
			for k, chance := range binomialLaw(n, p) {
				want += chance * math.Abs(float64(k)/float64(n)-p)
			}
			compare(n, p, want, 1e-11)
		}
	}
	t.Logf("largest relative deviation %.2g", worst)
}
