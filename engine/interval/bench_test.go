package interval

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkMeans: both sides of the interval, for values that are all different and for few different ones.
func BenchmarkMeans(b *testing.B) {
	for _, m := range meanMethods {
		for _, n := range []int{6, 100, 1000, 10_000, 1_000_000} {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			distinct, few := make([]float64, n), make([]float64, n)
			for i := range n {
				distinct[i], few[i] = 2*r.Float64()-1, float64(r.IntN(15)-5)/15
			}
			for name, list := range map[string][]float64{"distinct": distinct, "few": few} {
				if n > 10_000 && name == "distinct" {
					continue
				}
				b.Run(fmt.Sprintf("%s/%s/%d", m.name, name, n), func(b *testing.B) {
					for b.Loop() {
						must(b, m.method, list, list, Difference, 0.95)
					}
				})
			}
		}
	}
}

func BenchmarkRates(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000, 10_000_000} {
		b.Run(fmt.Sprintf("ClopperPearson/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := ClopperPearson(n/3, 0, n, 0.95); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("RateSequence/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := RateSequence(n/3, 0, n, 0.95); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("Hypergeometric/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, _, _, err := Hypergeometric(n/3, 0, n, 10*n, 0.95); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("SignTest/%d", n), func(b *testing.B) {
			for b.Loop() {
				SignTest(n/2+n/20, n/2-n/20)
			}
		})
	}
}

// BenchmarkNeeded: the planner at 500 people whose values all differ, towards a width that takes many.
func BenchmarkNeeded(b *testing.B) {
	list := normalQuantiles(500, 0.3)
	for _, m := range meanMethods {
		for _, width := range []float64{0.05, 0.01, 0.003} {
			b.Run(fmt.Sprintf("%s/%v", m.name, width), func(b *testing.B) {
				for b.Loop() {
					if _, _, err := Needed(m.method, list, list, Difference, 0.95, narrower(width)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
