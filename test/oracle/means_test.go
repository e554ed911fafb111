package oracle

import (
	"math"
	"math/big"
	"testing"
)

// The spot values of the definitions (section 8 of the intervals), at 95 %: computed elsewhere by two routes, to six decimals.
func TestSpotValuesOfMeans(t *testing.T) {
	fifteenths := fractions(15, 2, 1, 0, 3, -2, 4)
	ten := fractions(10, 1, 1, 1, 1, 1, 1, 1, 1, -4, -4)
	coin := fractions(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1)
	for _, check := range []struct {
		name         string
		method       meanMethod
		gains        []*big.Rat
		lower, upper float64
	}{
		{"sequence, six people", uniformMixture, fifteenths, -.535974, .612679},
		{"once, six people", dirichlet, fifteenths, -.415654, .512363},
		{"sequence, ten people", uniformMixture, ten, -.417669, .413602},
		{"once, ten people", dirichlet, ten, -.326188, .320149},
		{"sequence, twenty", uniformMixture, coin, .196546, .994870},
		{"once, twenty", dirichlet, coin, .366035, .975303},
	} {
		lower, upper := onGains(check.method, check.gains, check.gains, .025)
		if math.Abs(lower-check.lower) > 1e-6 || math.Abs(upper-check.upper) > 1e-6 {
			t.Errorf("%s: [%.9f, %.9f], want [%.6f, %.6f]", check.name, lower, upper, check.lower, check.upper)
		}
	}
	// Closed forms of section 3: all values c give c·a^(1/n), and one value y gives y/(2/a - 1) for the sequence.
	for _, check := range []struct {
		name      string
		got, want float64
	}{
		{"Dirichlet of four equal values", dirichlet(fractions(10, 3, 3, 3, 3), .025), .3 * math.Pow(.025, .25)},
		{"SymPol of four equal values", sympol(fractions(10, 3, 3, 3, 3), .025), .3 * math.Pow(.025, .25)},
		{"Dirichlet of one value", dirichlet(fractions(10, 7), .025), .7 * .025},
		{"sequence of one value", uniformMixture(fractions(10, 7), .025), .7 / 79},
		// SymPol of two values y ≥ z: the larger of a·(y + z)/2 and √(a·y·z).
		{"SymPol of two values", sympol(fractions(10, 9, 4), .025), math.Sqrt(.025 * .36)},
	} {
		if math.Abs(check.got-check.want) > 1e-12 {
			t.Errorf("%s: %.15g, want %.15g", check.name, check.got, check.want)
		}
	}
}

// fractions are numerators over one denominator.
func fractions(denominator int64, numerators ...int64) []*big.Rat {
	var all []*big.Rat
	for _, n := range numerators {
		all = append(all, big.NewRat(n, denominator))
	}
	return all
}
