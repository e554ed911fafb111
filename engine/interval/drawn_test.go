package interval

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// exactDrawn is E[max(X, floor)]/n for X ~ Bin(n, p/q) by its definition, in fractions.
func exactDrawn(n int, p, q int64, floor int) *big.Rat {
	power := func(x int64, k int) *big.Int {
		return new(big.Int).Exp(big.NewInt(x), big.NewInt(int64(k)), nil)
	}
	sum := new(big.Int)
	for k := range n + 1 {
		term := new(big.Int).Binomial(int64(n), int64(k))
		term.Mul(term, power(p, k)).Mul(term, power(q-p, n-k))
		sum.Add(sum, term.Mul(term, big.NewInt(int64(max(k, min(floor, n))))))
	}
	return new(big.Rat).SetFrac(sum, new(big.Int).Mul(power(q, n), big.NewInt(int64(n))))
}

// TestExpectedDrawn: the published values at a rate of .2 and a floor of 20, and the definition in fractions.
func TestExpectedDrawn(t *testing.T) {
	for n, want := range map[int]float64{20: 1, 50: .40, 100: .216, 200: .200} { // audited, to three digits
		near(t, strconv.Itoa(n)+" items", ExpectedDrawn(n, 0.2, 20), want, 5e-4)
	}
	sizes := []int{1, 2, 3, 10, 19, 50, 100, 137, 200, 400}
	if testing.Short() {
		sizes = sizes[:6]
	}
	for _, n := range sizes {
		for _, rate := range [][2]int64{{1, 1000}, {1, 20}, {1, 5}, {1, 3}, {1, 2}, {3, 5}, {97, 100}, {0, 1}, {1, 1}} {
			for _, floor := range []int{-1, 0, 1, 2, 5, 20, n / 5, n / 3, n / 2, n - 1, n, n + 7} {
				got, exact := ExpectedDrawn(n, float64(rate[0])/float64(rate[1]), floor), exactDrawn(n, rate[0], rate[1], max(floor, 0))
				want, err := strconv.ParseFloat(new(big.Float).SetPrec(200).SetRat(exact).Text('e', 9), 64)
				if err != nil {
					t.Fatal(err)
				}
				// A fraction that ends in a 5 just behind the tenth digit, such as .50009765625, may go to either side.
				middle, _ := exact.Float64()
				if got != want && math.Abs(middle-(got+want)/2) > 1e-15 {
					t.Errorf("%d items at %d/%d, floor %d: %.17g, want %.17g", n, rate[0], rate[1], floor, got, want)
				}
			}
		}
	}
}

// TestExpectedDrawnOfMany: where the floor is the mean, E[(X − np)⁺] = np(1−p)·P(X = np) (de Moivre), which by Stirling's
// formula is √(np(1−p)/2π) with a relative error of the order of 1/n.
func TestExpectedDrawnOfMany(t *testing.T) {
	for _, n := range []int{1_000_000_000, maxCount} {
		for _, rate := range []float64{0.2, 0.5, 0.9} {
			N := float64(n)
			want := rate + math.Sqrt(rate*(1-rate)/(2*math.Pi*N))
			near(t, strconv.Itoa(n)+" items", ExpectedDrawn(n, rate, int(math.Round(N*rate))), want, 1e-10)
		}
	}
}

// TestExpectedDrawnIsTheChance draws as it is done: every item with a key of its own, those below the rate, and below
// the floor the next in rank. An item's frequency is the chance, within five standard deviations.
func TestExpectedDrawnIsTheChance(t *testing.T) {
	const n, rate, floor, rounds = 50, 0.2, 12, 20_000
	r := rand.New(rand.NewPCG(4, 4))
	drawn, keys := 0, make([]float64, n)
	for range rounds {
		for i := range keys {
			keys[i] = r.Float64()
		}
		first := keys[0]
		slices.Sort(keys)
		if first < rate || first <= keys[floor-1] {
			drawn++
		}
	}
	chance := ExpectedDrawn(n, rate, floor)
	if got, allowed := float64(drawn)/rounds, 5*math.Sqrt(chance*(1-chance)/rounds); math.Abs(got-chance) > allowed {
		t.Errorf("drawn in %v of the rounds, expected %v, within %v", got, chance, allowed)
	}
	if chance < 1.2*rate {
		t.Errorf("chance %v: the floor no longer matters", chance)
	}
}

// TestExpectedDrawnProperties: at least the rate and the floor's share, at most 1, rising with both, of ten digits.
func TestExpectedDrawnProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		floor := rapid.IntRange(-3, 6000).Draw(t, "floor")
		rate := rapid.Float64Range(0, 1).Draw(t, "rate")
		got := ExpectedDrawn(n, rate, floor)
		if least := max(rate, min(1, float64(floor)/float64(n))); !(got >= least*(1-1e-9) && got <= 1) {
			t.Fatalf("%v; at least %v", got, least)
		}
		if other := ExpectedDrawn(n, rate, floor+1); other < got {
			t.Fatalf("%v, and %v with a floor more", got, other)
		}
		if other := ExpectedDrawn(n, rapid.Float64Range(rate, 1).Draw(t, "higher"), floor); other < got {
			t.Fatalf("%v, and %v at a higher rate", got, other)
		}
		if text := strconv.FormatFloat(got, 'e', -1, 64); len(text) > len("1.234567891e-01")+1 {
			t.Fatalf("%s has more than ten digits", text)
		}
	})
}

func TestExpectedDrawnEdges(t *testing.T) {
	for _, c := range []struct {
		n     int
		rate  float64
		floor int
		want  float64
	}{
		{1, 0, 0, 0}, {1, 1, 0, 1}, {5, 0, 2, .4}, {5, 1, 2, 1}, {5, 0.3, 5, 1}, {5, 0.3, math.MaxInt, 1}, {5, 0.3, math.MinInt, 0.3},
		{5, 5e-324, 1, .2}, {5, 5e-324, 0, 5e-324}, {5, 1 - 1e-16, 4, 1}, {maxCount, 0.25, 20, 0.25}, {maxCount, 1e-300, maxCount - 1, 1},
	} {
		if got := ExpectedDrawn(c.n, c.rate, c.floor); got != c.want {
			t.Errorf("%d items at %v, floor %d: %v, want %v", c.n, c.rate, c.floor, got, c.want)
		}
	}
	for _, c := range []struct {
		n    int
		rate float64
	}{{0, 0.2}, {-1, 0.2}, {maxCount + 1, 0.2}, {math.MinInt, 0.2}, {5, -0.1}, {5, 1.1}, {5, math.NaN()}, {5, math.Inf(1)}} {
		if got := ExpectedDrawn(c.n, c.rate, 3); !math.IsNaN(got) {
			t.Errorf("%d items at %v: %v, want NaN", c.n, c.rate, got)
		}
	}
}
