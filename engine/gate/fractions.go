package gate

import (
	"maps"
	"math/big"
	"slices"
)

// Fractions is an exact sum of fractions, grouped by denominator so that it stays small. The zero value is an
// empty sum.
type Fractions map[int]*big.Int

// Add adds sign·k/n; n is positive.
func (s *Fractions) Add(k, n, sign int) { s.AddBig(big.NewInt(int64(k)), n, sign) }

// AddBig adds sign·k/n; n is positive. k is not kept.
func (s *Fractions) AddBig(k *big.Int, n, sign int) {
	if *s == nil {
		*s = Fractions{}
	}
	if (*s)[n] == nil {
		(*s)[n] = new(big.Int)
	}
	if sign < 0 {
		(*s)[n].Sub((*s)[n], k)
	} else {
		(*s)[n].Add((*s)[n], k)
	}
}

// Over is the sum divided by units, which is not 0, rounded once.
func (s Fractions) Over(units int) float64 { return s.OverBig(big.NewInt(int64(units))) }

// OverBig is the sum divided by units, which is not 0, rounded once.
func (s Fractions) OverBig(units *big.Int) float64 {
	total := new(big.Rat)
	for _, n := range slices.Sorted(maps.Keys(s)) {
		total.Add(total, new(big.Rat).SetFrac(s[n], big.NewInt(int64(n))))
	}
	x, _ := total.Quo(total, new(big.Rat).SetInt(units)).Float64()
	return x
}
