package interval

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// step is one rounding step of a mean: numerical error far below it can still move a bound across it.
const step = 1.0000001e-10

var meanMethods = []struct {
	name   string
	method MeanMethod
	end    lowerEnd
}{
	{"uniform mixture", UniformMixture, mixtureLower},
	{"Dirichlet", Dirichlet, dirichletLower},
	{"SymPol", SymPol, symPolLower},
}

// must returns an interval that cannot fail.
func must(t interface {
	Helper()
	Fatal(...any)
}, method MeanMethod, low, high []float64, scale Scale, confidence float64) Interval {
	t.Helper()
	i, err := method(low, high, scale, confidence)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

// TestSpotValues: the values of docs and of the published tables, at 95 % to six decimals.
func TestSpotValues(t *testing.T) {
	ten := append(slices.Repeat([]float64{0.1}, 8), -0.4, -0.4)
	coin := append(slices.Repeat([]float64{1}, 18), -1, -1)
	for _, c := range []struct {
		name           string
		values         []float64
		sequence, once [2]float64
	}{
		{"six people", []float64{2. / 15, 1. / 15, 0, 3. / 15, -2. / 15, 4. / 15}, [2]float64{-.535974, .612679}, [2]float64{-.415654, .512363}},
		{"ten people", ten, [2]float64{-.417669, .413602}, [2]float64{-.326188, .320149}},
		{"18 of 20 up", coin, [2]float64{.196546, .994870}, [2]float64{.366035, .975303}},
	} {
		s := must(t, UniformMixture, c.values, c.values, Difference, 0.95)
		d := must(t, Dirichlet, c.values, c.values, Difference, 0.95)
		near(t, c.name+" sequence lower", s.Lower, c.sequence[0], 1e-6)
		near(t, c.name+" sequence upper", s.Upper, c.sequence[1], 1e-6)
		near(t, c.name+" once lower", d.Lower, c.once[0], 1e-6)
		near(t, c.name+" once upper", d.Upper, c.once[1], 1e-6)
	}
}

// TestDirichletIsClopperPearson: on 0/1 values the Dirichlet interval is Clopper-Pearson's, on -1/1 values twice
// that minus 1, by either route.
func TestDirichletIsClopperPearson(t *testing.T) {
	for _, n := range []int{1, 2, 7, 40, 300, 5000} {
		for _, k := range []int{0, 1, n / 3, n - 1, n} {
			for _, confidence := range []float64{0.5, 0.95, 0.999} {
				cp, err := ClopperPearson(k, 0, n, confidence)
				if err != nil {
					t.Fatal(err)
				}
				list := make([]float64, n)
				for i := range k {
					list[i] = 1
				}
				unit := must(t, Dirichlet, list, list, Unit, confidence)
				near(t, "lower", unit.Lower, cp.Lower, 3e-10)
				near(t, "upper", unit.Upper, cp.Upper, 3e-10)
				for i := range list {
					list[i] = float64(2*list[i]) - 1
				}
				difference := must(t, Dirichlet, list, list, Difference, confidence)
				near(t, "lower on [-1, 1]", difference.Lower, 2*cp.Lower-1, 5e-10)
				near(t, "upper on [-1, 1]", difference.Upper, 2*cp.Upper-1, 5e-10)
			}
		}
	}
}

// TestEqualValues: for n values all equal to c on [0, 1], Dirichlet and SymPol give c·a^(1/n), and the mixture c/r with
// (r^(n+1) − 1)/((n+1)(r − 1)) = 1/a.
func TestEqualValues(t *testing.T) {
	for _, n := range []float64{1, 2, 10, 400, 20000} {
		for _, c := range []float64{1, 0.3, 1e-6} {
			for _, a := range []float64{0.25, 0.025, 1e-9} {
				s := sample{levels: []level{{c, n}}}.summed()
				root := c * math.Pow(a, 1/n)
				near(t, "Dirichlet", dirichletLower(s, a), root, 1e-12*root)
				near(t, "SymPol", symPolLower(s, a), root, 1e-12*root)
				r := c / mixtureLower(s, a)
				// In logarithms, since r^(n+1) may be large: both sides agree to the error of r times n.
				left := math.Log(math.Expm1((n+1)*math.Log(r))) - math.Log((n+1)*(r-1))
				near(t, "ln of the mixture's equation", left, -math.Log(a), 1e-9)
			}
		}
	}
}

// TestSmallSamples: without units an interval is the whole scale; with one value y on [0, 1] the lower end is a·y, and
// for the mixture y/(2/a − 1).
func TestSmallSamples(t *testing.T) {
	for _, m := range meanMethods {
		for _, scale := range []Scale{Unit, Difference, {-3, 5}} {
			i := must(t, m.method, nil, nil, scale, 0.95)
			if i.Lower != scale.Lower || i.Upper != scale.Upper {
				t.Errorf("%s without units: [%v, %v], want %v", m.name, i.Lower, i.Upper, scale)
			}
		}
		for _, x := range []float64{-1, -0.2, 0, 0.7, 1} {
			factor := 0.025
			if m.name == "uniform mixture" {
				factor = 1 / (2/0.025 - 1) // 1/79
			}
			one := []float64{x}
			i := must(t, m.method, one, one, Difference, 0.95)
			near(t, m.name+" lower end of one value", i.Lower, -1+(1+x)*factor, 2e-10)
			near(t, m.name+" upper end of one value", i.Upper, 1-(1-x)*factor, 2e-10)
		}
	}
}

// meanCase is a random sample on [-1, 1]: dense or with many ties, sometimes with values at the ends.
func meanCase(t *rapid.T) []float64 {
	n := rapid.IntRange(1, 40).Draw(t, "n")
	kind := rapid.IntRange(0, 3).Draw(t, "kind")
	list := make([]float64, n)
	for i := range list {
		switch kind {
		case 0:
			list[i] = rapid.Float64Range(-1, 1).Draw(t, "x")
		case 1:
			list[i] = float64(rapid.IntRange(-15, 15).Draw(t, "x")) / 15
		case 2:
			list[i] = float64(rapid.IntRange(-1, 1).Draw(t, "x"))
		default:
			list[i] = []float64{-1, 0.05, 0.05, 0.05, 0.06}[rapid.IntRange(0, 4).Draw(t, "x")]
		}
	}
	return list
}

// TestMeanProperties: what every interval for a mean must do, on random samples.
func TestMeanProperties(t *testing.T) {
	for _, m := range meanMethods {
		t.Run(m.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				list := meanCase(t)
				confidence := rapid.SampledFrom([]float64{0.5, 0.8, 0.95, 0.999}).Draw(t, "confidence")
				i := must(t, m.method, list, list, Difference, confidence)

				mean := 0.0
				for _, x := range list {
					mean += x / float64(len(list))
				}
				if !(-1 <= i.Lower && i.Lower <= mean+1e-12 && mean-1e-12 <= i.Upper && i.Upper <= 1) {
					t.Fatalf("[%v, %v] does not hold the mean %v, or leaves the scale", i.Lower, i.Upper, mean)
				}

				shuffled := slices.Clone(list)
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
				r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
				if again := must(t, m.method, shuffled, shuffled, Difference, confidence); again != i {
					t.Fatalf("order matters: %v and %v", i, again)
				}

				mirrored := slices.Clone(list)
				for j := range mirrored {
					mirrored[j] = -mirrored[j]
				}
				if x := must(t, m.method, mirrored, mirrored, Difference, confidence); x.Lower != -i.Upper || x.Upper != -i.Lower {
					t.Fatalf("the mirror image has [%v, %v], not [%v, %v] turned round", x.Lower, x.Upper, i.Lower, i.Upper)
				}

				wider := must(t, m.method, list, list, Difference, 1-(1-confidence)/2)
				if wider.Lower > i.Lower+step || wider.Upper < i.Upper-step {
					t.Fatalf("not nested: %v inside %v", wider, i)
				}

				at := rapid.IntRange(0, len(list)-1).Draw(t, "at")
				raised := slices.Clone(list)
				raised[at] = rapid.Float64Range(list[at], 1).Draw(t, "raised")
				if x := must(t, m.method, raised, raised, Difference, confidence); x.Lower < i.Lower-step || x.Upper < i.Upper-step {
					t.Fatalf("raising a value lowers an end: %v to %v", i, x)
				}

				low, high := slices.Clone(list), slices.Clone(list)
				low[at], high[at] = -1, 1
				if x := must(t, m.method, low, high, Difference, confidence); i.Lower < x.Lower-step || i.Upper > x.Upper+step {
					t.Fatalf("recording a missing value widens: %v to %v", x, i)
				}
			})
		})
	}
}

// TestOrderOfWidths: SymPol is inside the scale's sequence, and Dirichlet inside both.
func TestOrderOfWidths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := meanCase(t)
		confidence := rapid.SampledFrom([]float64{0.5, 0.9, 0.95, 0.999}).Draw(t, "confidence")
		once := must(t, Dirichlet, list, list, Difference, confidence)
		for _, m := range meanMethods {
			if i := must(t, m.method, list, list, Difference, confidence); once.Lower < i.Lower-step || once.Upper > i.Upper+step {
				t.Fatalf("Dirichlet %v is not inside %s %v", once, m.name, i)
			}
		}
	})
}

// TestRateProperties: nesting, missing values and the mirror image, for both intervals of a rate.
func TestRateProperties(t *testing.T) {
	methods := map[string]func(k, missing, n int, confidence float64) (Interval, error){"ClopperPearson": ClopperPearson, "RateSequence": RateSequence}
	for name, method := range methods {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				n := rapid.IntRange(1, 100_000).Draw(t, "n")
				k := rapid.IntRange(0, n).Draw(t, "k")
				missing := rapid.IntRange(0, n-k).Draw(t, "missing")
				confidence := rapid.SampledFrom([]float64{0.5, 0.95, 0.9999}).Draw(t, "confidence")
				at := func(k, missing int, confidence float64) Interval {
					i, err := method(k, missing, n, confidence)
					if err != nil {
						t.Fatal(err)
					}
					return i
				}
				i := at(k, missing, confidence)
				low, high := at(k, 0, confidence), at(k+missing, 0, confidence)
				if i.Lower != low.Lower || i.Upper != high.Upper {
					t.Fatalf("with missing values %v, with their completions %v and %v", i, low, high)
				}
				share := float64(k) / float64(n)
				if !(0 <= low.Lower && low.Lower <= share && share <= low.Upper && low.Upper <= 1) {
					t.Fatalf("%v does not hold %v", low, share)
				}
				if wider := at(k, missing, 1-(1-confidence)/2); wider.Lower > i.Lower || wider.Upper < i.Upper {
					t.Fatalf("not nested: %v inside %v", wider, i)
				}
				// The ends are decimals of 10 digits: the mirror image of one may have another digit more.
				if mirrored := at(n-k-missing, missing, confidence); math.Abs(mirrored.Lower-(1-i.Upper)) > 2.1e-10 || math.Abs(mirrored.Upper-(1-i.Lower)) > 2.1e-10 {
					t.Fatalf("mirror image of %v is %v", i, mirrored)
				}
				if k < n {
					if next := at(k+1, 0, confidence); next.Lower < low.Lower || next.Upper < low.Upper {
						t.Fatalf("one event more lowers an end: %v to %v", low, next)
					}
				}
			})
		})
	}
}

// TestRateSequenceForm compares with the form given for 0/1 values (audit, section 4): the lower end is where
// E(m) = ∫ₘ¹ qᵏ(1−q)ⁿ⁻ᵏ dq / ((1−m)·mᵏ(1−m)ⁿ⁻ᵏ) is 1/a; integrated here by Simpson's rule.
func TestRateSequenceForm(t *testing.T) {
	for _, c := range [][2]int{{1, 1}, {9, 9}, {1, 5}, {3, 10}, {18, 20}, {57, 200}} {
		k, n := c[0], c[1]
		i, err := RateSequence(k, 0, n, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		m := i.Lower // rounded to 10 digits, which moves E by less than 1e-6
		lnAt := func(q float64) float64 {
			if q >= 1 {
				if k == n {
					return -float64(k) * math.Log(m)
				}
				return math.Inf(-1)
			}
			return float64(k)*math.Log(q/m) + float64(n-k)*math.Log((1-q)/(1-m))
		}
		const pieces = 20000
		sum := 0.0
		for i := range pieces + 1 {
			weight := []float64{2, 4}[i%2]
			if i == 0 || i == pieces {
				weight = 1
			}
			sum += weight * math.Exp(lnAt(m+(1-m)*float64(i)/pieces))
		}
		near(t, "E at the lower end", sum/(3*pieces), 40, 1e-6)
	}
}

// TestBigCounts: no count up to the limit is slow, overflows or loses the interval.
func TestBigCounts(t *testing.T) {
	for _, c := range [][2]int{{0, maxCount}, {1, maxCount}, {maxCount / 3, maxCount}, {maxCount - 1, maxCount}, {maxCount, maxCount}, {7, 1_000_000_000}} {
		if testing.Short() && c[1] == maxCount && c[0] == maxCount/3 {
			continue // a few million terms
		}
		for name, method := range map[string]func(k, missing, n int, confidence float64) (Interval, error){"ClopperPearson": ClopperPearson, "RateSequence": RateSequence} {
			i, err := method(c[0], 0, c[1], 0.95)
			share := float64(c[0]) / float64(c[1])
			if err != nil || !(i.Lower <= share && share <= i.Upper) || i.Upper-i.Lower > 1e-3 || (c[0] > 0 && i.Lower == 0) || (c[0] < c[1] && i.Upper == 0) {
				t.Errorf("%s of %v: %v, %v", name, c, i, err)
			}
		}
	}
}

// TestMedianTies: equal values and infinite ones are order statistics like any other.
func TestMedianTies(t *testing.T) {
	inf := math.Inf(1)
	// n = 10 at 0.95: ranks 2 and 9 (testdata/reference/median_order_stats.csv).
	low := []float64{0, 0, 3, 3, 3, 3, 3, 5, 5, 6}
	high := []float64{inf, inf, 3, 3, 3, 3, 3, 5, 5, 6}
	i, err := Median(low, high, 0.95)
	if err != nil || i.Lower != 0 || i.Upper != inf {
		t.Errorf("two missing of ten: %v, %v; want 0 to +Inf", i, err)
	}
	i, err = Median(low[1:], high[1:], 0.95) // n = 9: ranks 2 and 8
	if err != nil || i.Lower != 3 || i.Upper != 6 {
		t.Errorf("one missing of nine: %v, %v; want 3 to 6", i, err)
	}
	for n := range 6 { // five values or fewer bound nothing at 0.95: 2·2⁻⁵ = .0625
		i, err := Median(make([]float64, n), make([]float64, n), 0.95)
		if err != nil || i.Lower != math.Inf(-1) || i.Upper != inf {
			t.Errorf("%d values: %v, %v", n, i, err)
		}
	}
	// Where the tail equals the error exactly, P(Bin(2, ½) <= 0) = 1/4, the rank is taken.
	i, err = Median([]float64{1, 2}, []float64{1, 2}, 0.5)
	if err != nil || i.Lower != 1 || i.Upper != 2 {
		t.Errorf("two values at 0.5: %v, %v; want 1 to 2", i, err)
	}
}

// TestSignTestValues: values that can be counted by hand, and the ends of the range.
func TestSignTestValues(t *testing.T) {
	for _, c := range []struct {
		better, worse int
		two, one      float64
	}{
		{0, 0, 1, 1},
		{1, 0, 1, 0.5},
		{5, 0, 2. / 32, 1. / 32},
		{0, 5, 2. / 32, 1},
		{9, 1, 22. / 1024, 11. / 1024},                        // (1 + 10)/2¹⁰ a side
		{15, 4, 0.0192108154297, 0.00960540771485},            // 5036/2¹⁹ = .009605407714843…, rounded up
		{10, 10, 1, 0.588098526001},                           // ½ + C(20, 10)/2²¹ = .5880985260009…
		{1000000, 0, 1e-300, 1e-300}, {0, 1000000, 1e-300, 1}, // 2⁻¹⁰⁰⁰⁰⁰⁰ is below what is told apart
		{-1, 3, math.NaN(), math.NaN()}, {3, -1, math.NaN(), math.NaN()},
	} {
		two, one := SignTest(c.better, c.worse), SignTail(c.better, c.worse)
		same := func(x, y float64) bool { return x == y || (x != x && y != y) }
		if !same(two, c.two) || !same(one, c.one) {
			t.Errorf("%d better, %d worse: p = %v and %v, want %v and %v", c.better, c.worse, two, one, c.two, c.one)
		}
	}
	for n := range 200 {
		for better := range n {
			if worse := n - better; SignTest(better, worse) != SignTest(worse, better) {
				t.Errorf("SignTest(%d, %d) is not symmetric", better, worse)
			}
			if SignTail(better+1, n-better-1) > SignTail(better, n-better) {
				t.Errorf("SignTail rises with better at %d of %d", better, n)
			}
		}
	}
}

// TestHypergeometricDefinition compares with the definition, by direct summation over every corpus.
func TestHypergeometricDefinition(t *testing.T) {
	choose := func(n, k int) float64 {
		if k < 0 || k > n {
			return 0
		}
		c := 1.0
		for i := range k {
			c = c * float64(n-i) / float64(i+1)
		}
		return c
	}
	for _, N := range []int{1, 7, 30} {
		for n := 1; n <= N; n++ {
			for x := 0; x <= n; x++ {
				const a = 0.025
				wantLo, wantHi := -1, -1
				for M := 0; M <= N; M++ {
					atLeast, atMost := 0.0, 0.0
					for y := 0; y <= n; y++ {
						p := choose(M, y) * choose(N-M, n-y) / choose(N, n)
						if y >= x {
							atLeast += p
						}
						if y <= x {
							atMost += p
						}
					}
					if atLeast > a*(1-1e-12) && wantLo < 0 {
						wantLo = M
					}
					if atMost > a*(1-1e-12) {
						wantHi = M
					}
				}
				_, lo, hi, err := Hypergeometric(x, 0, n, N, 0.95)
				if err != nil || lo != wantLo || hi != wantHi {
					t.Errorf("%d of %d of %d: %d to %d, %v; want %d to %d", x, n, N, lo, hi, err, wantLo, wantHi)
				}
			}
		}
	}
	// Missing ones count at both ends, and a wholly drawn corpus leaves only them open.
	i, lo, hi, err := Hypergeometric(3, 2, 10, 10, 0.95)
	if err != nil || lo != 3 || hi != 5 || i.Lower != 0.3 || i.Upper != 0.5 {
		t.Errorf("3 and 2 missing of all 10: %v, %d to %d, %v", i, lo, hi, err)
	}
	i, lo, hi, err = Hypergeometric(0, 0, 0, 0, 0.95)
	if err != nil || lo != 0 || hi != 0 || i.Lower != 0 || i.Upper != 1 {
		t.Errorf("no corpus: %v, %d to %d, %v", i, lo, hi, err)
	}
}
