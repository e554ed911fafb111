package interval

import (
	"math"
	"math/big"
	"strings"
	"testing"
)

// TestLastAllowed: the last count, error and scale that are allowed are computed with, and the next are refused.
func TestLastAllowed(t *testing.T) {
	for _, test := range []struct {
		name  string
		do    func(beyond bool) error
		wrong string // what is said of the next
	}{
		{"the largest corpus", func(beyond bool) error {
			N := maxCount
			if beyond {
				N++
			}
			_, _, _, err := Hypergeometric(1, 0, 3, N, 0.95)
			return err
		}, "at most 1000000000000"},
		{"the largest corpus in two batches", func(beyond bool) error {
			second := Batch{Size: 5, Drawn: 2}
			if beyond {
				second.Size++
			}
			_, _, err := Batches([]Batch{{Size: maxCount - 5, Drawn: 3, Events: 1}, second}, 0.95)
			return err
		}, "batch 2 has 6 items"},
		{"a batch that is drawn whole", func(beyond bool) error {
			b := Batch{Size: 3, Drawn: 3, Events: 1}
			if beyond {
				b.Size--
			}
			_, _, err := Batches([]Batch{b}, 0.95)
			return err
		}, "it must have at least the 3 drawn"},
		{"the smallest error", func(beyond bool) error {
			e := smallestError
			if beyond {
				e = math.Nextafter(e, 0)
			}
			_, err := ExactSides(Tally{K: 1, N: 2}, Tally{K: 1, N: 2}, e, 0.025, 0.95)
			return err
		}, "the error of the lower end"},
		{"the largest error", func(beyond bool) error {
			e := 0.25
			if beyond {
				e = math.Nextafter(e, 1)
			}
			_, err := ExactSides(Tally{K: 1, N: 2}, Tally{K: 1, N: 2}, 0.025, e, 0.95)
			return err
		}, "the error of the upper end"},
		{"the narrowest scale", func(beyond bool) error {
			s := Scale{1, math.Nextafter(1, 2)}
			if beyond {
				s.Upper = 1
			}
			_, err := UniformMixture([]float64{1}, []float64{1}, s, 0.95)
			return err
		}, "the scale is 1 to 1"},
		{"the widest scale", func(beyond bool) error {
			s := Scale{0, math.MaxFloat64}
			if beyond {
				s.Lower = -math.MaxFloat64
			}
			_, err := UniformMixture([]float64{1}, []float64{1}, s, 0.95)
			return err
		}, "its ends must be finite"},
		{"a rounding excess below", func(beyond bool) error {
			x := -roundingExcess
			if beyond {
				x = math.Nextafter(x, -1)
			}
			_, err := UniformMixture([]float64{0, x}, []float64{0, 0}, Unit, 0.95)
			return err
		}, "value 2 is"},
		{"a rounding excess above", func(beyond bool) error {
			x := 1 + roundingExcess
			if beyond {
				x = math.Nextafter(x, 2)
			}
			_, err := UniformMixture([]float64{0, 1}, []float64{0, x}, Unit, 0.95)
			return err
		}, "value 2 is"},
		{"a rounding excess on a wide scale", func(beyond bool) error {
			x := 4 + 3e-12 // the excess is that of the width: 4e-12
			if beyond {
				x = 4 + 5e-12
			}
			_, err := UniformMixture([]float64{0, 1}, []float64{0, x}, Scale{0, 4}, 0.95)
			return err
		}, "value 2 is"},
		{"completions that are equal", func(beyond bool) error {
			low := 0.5
			if beyond {
				low = math.Nextafter(low, 1)
			}
			_, err := UniformMixture([]float64{0, low}, []float64{0, 0.5}, Unit, 0.95)
			return err
		}, "value 2 has the lower completion"},
	} {
		if err := test.do(false); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if err := test.do(true); err == nil || !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("beyond %s: %v", test.name, err)
		}
	}
	if x := unitValue(math.Copysign(0, -1)); x != 0 || math.Signbit(x) {
		t.Errorf("a negative zero is %v", x)
	}
}

// TestHalfTailIsExact: up to 53 units the tail of the fair coin is the float64 nearest to the exact one, by whole numbers.
func TestHalfTailIsExact(t *testing.T) {
	for _, n := range []int{1, 2, 20, 52, 53} {
		for k := (n + 1) / 2; k <= n+1; k++ {
			sum := new(big.Int)
			for j := k; j <= n; j++ {
				sum.Add(sum, new(big.Int).Binomial(int64(n), int64(j)))
			}
			want, exact := new(big.Rat).SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), uint(n))).Float64()
			if got := halfTail(k, n); got != want || !exact {
				t.Errorf("at least %d of %d: %v, want %v", k, n, got, want)
			}
		}
	}
}

// TestNeededRateRoundsOutward: at a size of which the present shares are no whole numbers, the missing ones reach from the events rounded
// down to events and missing ones rounded up, as the real interval at the size found has them.
func TestNeededRateRoundsOutward(t *testing.T) {
	const k, missing, n = 1, 1, 7 // no size that is no multiple of 7 has whole shares
	for _, widest := range []float64{0.75, 0.6, 0.5, 0.4} {
		narrow := func(i Interval) bool { return i.Upper-i.Lower <= widest }
		units, more, err := NeededRate(k, missing, n, 0.9, false, narrow)
		if err != nil || more {
			t.Fatal(units, more, err)
		}
		at := func(units int) Interval {
			fewest, most := k*units/n, ((k+missing)*units+n-1)/n
			i, err := ClopperPearson(fewest, most-fewest, units, 0.9)
			if err != nil {
				t.Fatal(err)
			}
			return i
		}
		if !narrow(at(units)) || units > n && narrow(at(units-1)) && narrow(at(units-2)) {
			t.Errorf("width %v: %d units", widest, units)
		}
	}
}

// TestPairingWork: the work of averaging over pairings is bounded: a study of so many people and cases has all pairings that were asked for,
// and a larger one fewer, though never fewer than the least.
func TestPairingWork(t *testing.T) {
	for _, test := range []struct{ people, cases, asked, want int }{
		{3, 5, 7, 7}, // few: as many as asked for
		{1000, 1000, math.MaxInt, max(leastPairings, mostPairingWork/1_000_000)},
		{1000, 1200, math.MaxInt, max(leastPairings, mostPairingWork/1_000_000)}, // it is the fewer that count
	} {
		if test.want < 1 {
			t.Fatal(test)
		}
		calls := 0
		pairingLower(test.people, test.cases, min(test.asked, 100_000), func(int, int) float64 { calls++; return 0 }, 0.05)
		// With values of 0 only the first pass over the pairings is made.
		if got := calls / min(test.people, test.cases); got != min(test.want, 100_000) {
			t.Errorf("%d people and %d cases: %d pairings, want %d", test.people, test.cases, got, test.want)
		}
	}
}

// TestEndsOfFunctions: at the last arguments that have a value of their own the portable functions have it. Values of mpmath 1.3.0:
// exp(709) = 8.2184074615549718924e307, exp(-745) = 4.9940658e-324, log(2**1024 - 2**971) = 709.78271289338399684.
func TestEndsOfFunctions(t *testing.T) {
	if x := exp(709); !(math.Abs(x/8.2184074615549718924e307-1) <= 1e-15) {
		t.Errorf("exp(709) is %v", x)
	}
	if x := exp(-745); x != 5e-324 {
		t.Errorf("exp(-745) is %v", x)
	}
	if x := ln(math.MaxFloat64); !(math.Abs(x-709.78271289338399684) <= 1e-12) {
		t.Errorf("ln of the largest number is %v", x)
	}
	if above, below := exp(math.Nextafter(709, 710)), exp(math.Nextafter(-745, -746)); !math.IsInf(above, 1) || below != 0 {
		t.Errorf("beyond, exp is %v and %v", above, below)
	}
}

// TestSignificantKeepsWhatHasNoMoreDigits: a number of ten significant digits is kept, whichever way it is rounded; 2⁻¹³ is
// 0.0001220703125, to its last digit.
func TestSignificantKeepsWhatHasNoMoreDigits(t *testing.T) {
	for _, up := range []bool{false, true} {
		if x := significant(0x1p-13, 10, up); x != 0x1p-13 {
			t.Errorf("up %t: %v", up, x)
		}
	}
	if x := significant(0x1p-13, 9, true); x != 0.000122070313 {
		t.Errorf("to nine digits upward: %v", x)
	}
}

// TestProductsAtTheirNumberOfDigits: products of 17 digits by 17 have 33 or 34; just below the first of 34, and on it, ends of ratios compare
// exactly too, and so does the largest number.
func TestProductsAtTheirNumberOfDigits(t *testing.T) {
	below := math.Nextafter(1, 0) // 0.9999999999999999 as it is printed: 33 digits by 1
	for _, c := range []struct {
		x, t, y float64
		want    bool
	}{
		{below, 1, below, true}, {math.Nextafter(below, 0), 1, below, false}, {1, 1, below, true},
		{0.1, 0.2, 0.5, true}, {math.Nextafter(0.1, 0), 0.2, 0.5, false}, {1, 1, 1, true}, {below, 1, 1, false},
		{math.MaxFloat64, 1, math.MaxFloat64, true}, {math.MaxFloat64, math.MaxFloat64, 1, true}, {1, 1, math.MaxFloat64, false},
	} {
		if got := AtLeastTimes(c.x, c.t, c.y); got != c.want {
			t.Errorf("%v >= %v·%v: %v", c.x, c.t, c.y, got)
		}
	}
}

// TestExactQuotients: a quotient of no more than ten digits is kept whichever way it is rounded; one of eleven is not.
func TestExactQuotients(t *testing.T) {
	for _, up := range []bool{false, true} {
		if x := quotient(0.08, 0.8, up); x != 0.1 {
			t.Errorf("0.08/0.8, up %t: %v", up, x)
		}
		if x := ratio(3, 10, up); x != 0.3 {
			t.Errorf("3/10, up %t: %v", up, x)
		}
	}
	if down, up := ratio(10_000_000_005, 100_000_000_000, false), ratio(10_000_000_005, 100_000_000_000, true); down != 0.1 || up != 0.1000000001 {
		t.Errorf("0.10000000005 is %v to %v", down, up)
	}
}

// TestMeanDeviationAtItsEnds: the least and the largest share have no deviation, and the largest count has one.
func TestMeanDeviationAtItsEnds(t *testing.T) {
	// Of many units it is close to √(n·p·(1−p)·2/π)/n.
	if x, near := MeanDeviation(maxCount, 0.5), math.Sqrt(0.5/math.Pi/maxCount); !(math.Abs(x/near-1) <= 1e-9) { // nor NaN
		t.Errorf("of the largest count %v, near %v", x, near)
	}
	if a, b := MeanDeviation(5, 0), MeanDeviation(5, 1); a != 0 || b != 0 {
		t.Errorf("of shares of 0 and 1: %v and %v", a, b)
	}
	if a, b, c := MeanDeviation(maxCount+1, 0.5), MeanDeviation(5, math.Nextafter(0, -1)), MeanDeviation(5, math.Nextafter(1, 2)); a == a || b == b || c == c {
		t.Errorf("beyond them: %v, %v and %v", a, b, c)
	}
}

// TestMostSigns: a trillion changed cases in all are tested, and one more is not.
func TestMostSigns(t *testing.T) {
	for name, p := range map[string]func(better, worse int) float64{"SignTest": SignTest, "SignSequence": SignSequence} {
		for _, signs := range [][2]int{{maxCount, 0}, {0, maxCount}, {maxCount - 1, 1}, {0, 0}} {
			if x := p(signs[0], signs[1]); !(x > 0 && x <= 1) {
				t.Errorf("%s of %v: %v", name, signs, x)
			}
		}
		for _, signs := range [][2]int{{maxCount + 1, 0}, {0, maxCount + 1}, {maxCount, 1}, {1, maxCount}, {-1, 0}, {0, -1}, {math.MaxInt, math.MaxInt}} {
			if x := p(signs[0], signs[1]); !math.IsNaN(x) {
				t.Errorf("%s of %v: %v", name, signs, x)
			}
		}
	}
}

// TestContourProductOfMany: factors multiplied up beyond what a float64 holds come to the sum of their logarithms, and of their phases up to
// whole turns.
func TestContourProductOfMany(t *testing.T) {
	for name, b := range map[string]float64{"large factors": -9, "small factors": 0.995} {
		poles := make([]pole, 700)
		lnAbs, phase := 0.0, 0.0
		for i := range poles {
			poles[i] = pole{b: b * (1 + float64(i)/1e5), count: 1}
			u, v := -poles[i].b, -0.001*poles[i].b // at x = 1, y = 0.001
			lnAbs += math.Log(math.Hypot(1+u, v))
			phase += math.Atan2(v, 1+u)
		}
		gotAbs, gotPhase := contourProduct(poles, 1, 0.001)
		if !(math.Abs(gotAbs/lnAbs-1) < 1e-12) || !(math.Abs(math.Remainder(gotPhase-phase, 2*math.Pi)) < 1e-9) {
			t.Errorf("%s: %v and %v, want %v and %v up to whole turns", name, gotAbs, gotPhase, lnAbs, phase)
		}
		if math.Abs(lnAbs) < 1000 {
			t.Errorf("%s: the logarithm is %v: the factors are not beyond a float64", name, lnAbs)
		}
	}
}
