package interval

import (
	"math/rand/v2"
)

// designs returns samples of n values on [0, 1] of very different shape, the same ones at every call and on every
// architecture.
func designs(n int) map[string][]float64 {
	r := rand.New(rand.NewPCG(uint64(n), 77))
	draw := func(value func() float64) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = value()
		}
		return list
	}
	rare := func(p, value, otherwise float64) func() float64 {
		return func() float64 {
			if r.Float64() < p {
				return value
			}
			return otherwise
		}
	}
	return map[string][]float64{
		"uniform":     draw(r.Float64),
		"multiples":   draw(func() float64 { return float64(10+r.IntN(9)) / 30 }),
		"coin":        draw(rare(0.5, 1, 0)),
		"rare loss":   draw(rare(0.03, 0, 0.525)),
		"rare win":    draw(rare(0.03, 1, 0.475)),
		"mostly zero": draw(rare(0.03, 1, 0)),
		"mostly one":  draw(rare(0.03, 0, 1)),
		"nearly same": draw(func() float64 { return 0.5 + float64(1e-6*r.Float64()) }),
		"nearly zero": draw(func() float64 { return rare(0.05, 1, 1e-6*r.Float64())() }),
		"decades":     draw(func() float64 { return exp(float64(-8 * r.Float64())) }),
		"same":        draw(func() float64 { return 0.6 }),
	}
}
