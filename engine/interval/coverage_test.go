package interval

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The error probabilities of this file are exact: sums over every outcome, not simulations, wherever a law is
// simple enough. Published numbers come from the audit of the methods, by section.

// binomialLaw returns P(Bin(n, p) = k) for k = 0 … n, from the middle outward, without the code under test.
func binomialLaw(n int, p float64) []float64 {
	law := make([]float64, n+1)
	switch p {
	case 0:
		law[0] = 1
		return law
	case 1:
		law[n] = 1
		return law
	}
	top := int(float64(n+1) * p)
	top = min(top, n)
	law[top] = 1
	for k := top; k < n; k++ {
		law[k+1] = law[k] * float64(n-k) / float64(k+1) * p / (1 - p)
	}
	for k := top; k > 0; k-- {
		law[k-1] = law[k] * float64(k) / float64(n-k+1) * (1 - p) / p
	}
	total := 0.0
	for _, x := range law {
		total += x
	}
	for k := range law {
		law[k] /= total
	}
	return law
}

// worstError returns the largest probability, over all p, that the lower end for k of n events exceeds the true
// value of the mean, which is value(p), rising in p. It is reached, or approached, just below a lower end.
func worstError(n int, lower []float64, value func(p float64) float64) float64 {
	worst := 0.0
	for _, end := range lower {
		// The p at which the true value is just below this end.
		p, above := 0.0, 1.0
		for range 100 {
			if mid := (p + above) / 2; value(mid) < end {
				p = mid
			} else {
				above = mid
			}
		}
		if p == 0 || p >= 1-1e-15 {
			continue
		}
		sum := 0.0
		for k, chance := range binomialLaw(n, p) {
			if lower[k] >= end {
				sum += chance
			}
		}
		worst = math.Max(worst, sum)
	}
	return worst
}

// TestRateErrors: at every p the exact chance that a Clopper-Pearson end excludes it is at most a, and for each k there is
// a p at which it is a, so that no end can be moved inward and none lies too far out.
func TestRateErrors(t *testing.T) {
	for _, n := range []int{1, 5, 20, 60, 300} {
		for _, confidence := range []float64{0.5, 0.9, 0.95, 0.99} {
			a := sideError(confidence)
			for k := range n + 1 {
				i, err := ClopperPearson(k, 0, n, confidence)
				if err != nil {
					t.Fatal(err)
				}
				// At the lower end the chance of k or more events is a, at the upper that of k or fewer.
				atLeast, atMost := 0.0, 0.0
				for j, chance := range binomialLaw(n, i.Lower) {
					if j >= k {
						atLeast += chance
					}
				}
				for j, chance := range binomialLaw(n, i.Upper) {
					if j <= k {
						atMost += chance
					}
				}
				// Rounding outward moves an end by up to 2e-10, or by 2e-9 of itself if that is less. The chance follows:
				// relative to a by up to n times the move over the distance to the nearer end of the scale.
				loss := func(p float64) float64 { return a * float64(n) * math.Min(2e-10, 2e-9*p) / math.Min(p, 1-p) }
				if k > 0 && (atLeast > a || atLeast < a-loss(i.Lower)) || k == 0 && i.Lower != 0 {
					t.Errorf("%d of %d at %v: lower end %v is wrong with chance %.12g, want just below %v", k, n, confidence, i.Lower, atLeast, a)
				}
				if k < n && (atMost > a || atMost < a-loss(i.Upper)) || k == n && i.Upper != 1 {
					t.Errorf("%d of %d at %v: upper end %v is wrong with chance %.12g, want just below %v", k, n, confidence, i.Upper, atMost, a)
				}
			}
		}
	}
}

// lowers returns the rounded lower ends for k units of n at high and the others at low, k = 0 … n.
func lowers(t *testing.T, method MeanMethod, n int, low, high, confidence float64) []float64 {
	t.Helper()
	ends := make([]float64, n+1)
	for k := range ends {
		list := append(slices.Repeat([]float64{low}, n-k), slices.Repeat([]float64{high}, k)...)
		ends[k] = must(t, method, list, list, Unit, confidence).Lower
	}
	return ends
}

// TestMeanErrorsOfTwoPointLaws: the exact worst error of each method over all laws on two values. Dirichlet reaches a
// on 0/1 values; SymPol comes near it and the mixture to about a third (published: .0228 to .0250 and .005 to .009 of .025).
func TestMeanErrorsOfTwoPointLaws(t *testing.T) {
	const confidence, a = 0.95, 0.025
	for _, n := range []int{2, 3, 6, 15} {
		for _, law := range [][2]float64{{0, 1}, {0.3, 0.9}, {0.525, 1}, {0, 0.525}, {0.1, 0.2}} {
			value := func(p float64) float64 { return law[0] + (law[1]-law[0])*p }
			worst := map[string]float64{}
			for _, m := range meanMethods {
				worst[m.name] = worstError(n, lowers(t, m.method, n, law[0], law[1], confidence), value)
				if worst[m.name] > a {
					t.Errorf("%s, n = %d on %v: wrong with chance %v, above %v", m.name, n, law, worst[m.name], a)
				}
			}
			if law != [2]float64{0, 1} {
				continue
			}
			if worst["Dirichlet"] < 0.999999*a {
				t.Errorf("Dirichlet, n = %d, 0/1: worst chance %v does not reach %v: the interval is too wide", n, worst["Dirichlet"], a)
			}
			if worst["SymPol"] < 0.9*a {
				t.Errorf("SymPol, n = %d, 0/1: worst chance %v, published at least .0228", n, worst["SymPol"])
			}
			if worst["uniform mixture"] < 0.004 || worst["uniform mixture"] > 0.0127 {
				t.Errorf("mixture, n = %d, 0/1: worst chance %v, published .005 to .009, .0125 for one value", n, worst["uniform mixture"])
			}
		}
	}
}

// TestBoundsMovedInward: the errors above notice a bound that is too narrow by 3 % of the interval's width.
func TestBoundsMovedInward(t *testing.T) {
	const n, confidence, a = 15, 0.95, 0.025
	moved := lowers(t, Dirichlet, n, 0, 1, confidence)
	for k := range moved {
		list := append(make([]float64, n-k), slices.Repeat([]float64{1}, k)...)
		if i := must(t, Dirichlet, list, list, Unit, confidence); k > 0 {
			moved[k] += 0.03 * i.Width()
		}
	}
	if worst := worstError(n, moved, func(p float64) float64 { return p }); worst < 1.05*a {
		t.Errorf("bounds moved inward are wrong with chance %v; the test could not notice them", worst)
	}
}

// TestMeanErrorsOfThreePointLaws enumerates the multinomial outcomes of seeded laws on three values.
func TestMeanErrorsOfThreePointLaws(t *testing.T) {
	const n, confidence, a = 5, 0.95, 0.025
	laws := 60
	if testing.Short() {
		laws = 5
	}
	r := rand.New(rand.NewPCG(3, 3))
	factorial := []float64{1, 1, 2, 6, 24, 120}
	for range laws {
		v := []float64{r.Float64(), r.Float64(), r.Float64()}
		if r.IntN(2) == 0 {
			v[0] = 0
		}
		slices.Sort(v)
		type outcome struct {
			counts [3]int
			lower  [3]float64 // by method
		}
		var outcomes []outcome
		for i := range n + 1 {
			for j := range n + 1 - i {
				o := outcome{counts: [3]int{i, j, n - i - j}}
				var list []float64
				for x, count := range o.counts {
					list = append(list, slices.Repeat([]float64{v[x]}, count)...)
				}
				for m := range meanMethods {
					o.lower[m] = must(t, meanMethods[m].method, list, list, Unit, confidence).Lower
				}
				outcomes = append(outcomes, o)
			}
		}
		for range 200 {
			p := []float64{r.ExpFloat64(), r.ExpFloat64() * r.Float64(), r.ExpFloat64() * r.Float64() * r.Float64()}
			total := p[0] + p[1] + p[2]
			mean := (p[0]*v[0] + p[1]*v[1] + p[2]*v[2]) / total
			var wrong [3]float64
			for _, o := range outcomes {
				chance := factorial[n]
				for x, count := range o.counts {
					chance *= math.Pow(p[x]/total, float64(count)) / factorial[count]
				}
				for m := range wrong {
					if o.lower[m] > mean {
						wrong[m] += chance
					}
				}
			}
			for m := range wrong {
				if wrong[m] > a {
					t.Errorf("%s on %v with chances %v: wrong with chance %v", meanMethods[m].name, v, p, wrong[m])
				}
			}
		}
	}
}

// An endOf gives the lower end for k events among n, rising in k; −1 where there is no look at n.
type endOf func(k, n int) float64

// crossing returns the exact chance that at some n up to the length of p the end for the events so far is at or
// above target[n-1], where decision n is an event with chance p[n-1].
func crossing(end endOf, target, p []float64) float64 {
	alive := []float64{1} // by the number of events
	crossed, first := 0.0, 0
	for n := 1; n <= len(p); n++ {
		next := make([]float64, n+1)
		for k, chance := range alive {
			next[k] += chance * (1 - p[n-1])
			next[k+1] += chance * p[n-1]
		}
		// The least number of events that crosses is near that of the decision before.
		for first <= n && end(first, n) < target[n-1] {
			first++
		}
		for first > 0 && end(first-1, n) >= target[n-1] {
			first--
		}
		for k := first; k <= n; k++ {
			crossed += next[k]
			next[k] = 0
		}
		alive = next
	}
	return crossed
}

func constant(x float64, n int) []float64 { return slices.Repeat([]float64{x}, n) }

// remembered computes each end once.
func remembered(end endOf) endOf {
	known := map[[2]int]float64{}
	return func(k, n int) float64 {
		x, ok := known[[2]int{k, n}]
		if !ok {
			x = end(k, n)
			known[[2]int{k, n}] = x
		}
		return x
	}
}

// sequenceEnd is the 0/1 sequence's lower end.
func sequenceEnd(t *testing.T) endOf {
	return remembered(func(k, n int) float64 {
		i, err := RateSequence(k, 0, n, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		return i.Lower
	})
}

// TestSequenceCrossing: the chance that the 0/1 sequence ever excludes the truth in 300 decisions with a look at each is
// .0187 at its worst, at p = .285 (audit, section 4; exact); with bounds 3 % of the width further in it would be more. With
// drifting rates the target moves and the promise does not hold (section 2d).
func TestSequenceCrossing(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of bounds")
	}
	end := sequenceEnd(t)
	near(t, "chance at .285", crossing(end, constant(0.285, 300), constant(0.285, 300)), 0.0187, 0.00006)
	for _, p := range []float64{0.01, 0.05, 0.2, 0.4, 0.5, 0.7, 0.9, 0.98} {
		if chance := crossing(end, constant(p, 300), constant(p, 300)); chance > 0.0188 {
			t.Errorf("at p = %v the sequence is wrong at some look with chance %v", p, chance)
		}
	}
	moved := func(k, n int) float64 {
		lower, upper := end(k, n), 1-end(n-k, n)
		return lower + 0.03*(upper-lower)
	}
	if chance := crossing(moved, constant(0.285, 300), constant(0.285, 300)); chance < 0.02 {
		t.Errorf("with bounds moved inward: %v; the test could not notice them", chance)
	}

	lengths := []int{1, 1, 1, 1, 1, 2, 2, 3, 3, 5, 6, 8, 11, 14, 18, 24, 32, 41, 55, 71}
	means := []float64{.012, .070, .061, .075, .183, .155, .177, .297, .225, .313, .318, .342, .358, .370, .402, .360, .422, .423, .438, .441}
	var p, target []float64
	sum := 0.0
	for block, length := range lengths {
		for range length {
			p = append(p, means[block])
			sum += means[block]
			target = append(target, sum/float64(len(p))+1e-12) // an end equal to the target does not exclude it
		}
	}
	// .0284 with the means unrounded; with the three digits that were published a few of the crossings are lost.
	near(t, "chance with drifting rates", crossing(end, target, p), 0.0282, 0.0003)
}

// TestLooksBeforeThePlan: Dirichlet at its planned N is wrong with chance just below a; looking with the sequence before
// is not covered by it, nor is looking with Dirichlet itself. The figures are those of the audit, section 3: exact, the worst
// over a grid of p, which was not recorded; here over multiples of .005.
func TestLooksBeforeThePlan(t *testing.T) {
	plans := []struct {
		n                  int
		alone, sequenceToo float64
	}{{10, .0246, .0288}, {20, .0248, .0304}, {40, .0249, .0345}}
	if testing.Short() {
		plans = plans[:1]
	}
	sequence := sequenceEnd(t)
	for _, plan := range plans {
		final := lowers(t, Dirichlet, plan.n, 0, 1, 0.95)
		only := func(k, n int) float64 {
			if n < plan.n {
				return -1
			}
			return final[k]
		}
		both := func(k, n int) float64 {
			if n < plan.n {
				return sequence(k, n)
			}
			return final[k]
		}
		worst := func(end endOf) float64 {
			most := 0.0
			for i := 1; i < 200; i++ {
				p := constant(float64(i)/200, plan.n)
				most = math.Max(most, crossing(end, p, p))
			}
			return most
		}
		near(t, "Dirichlet alone", worst(only), plan.alone, 0.0001)
		near(t, "the sequence before", worst(both), plan.sequenceToo, 0.001)
	}
	// A coin looked at with Dirichlet at every third n up to 150: .11 to .12 instead of .025 (published, by simulation). On
	// 0/1 values it is Clopper-Pearson: TestDirichletIsClopperPearson.
	peek := remembered(func(k, n int) float64 {
		if n%3 != 0 {
			return -1
		}
		i, err := ClopperPearson(k, 0, n, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		return i.Lower
	})
	near(t, "peeking with Dirichlet", crossing(peek, constant(0.5, 150), constant(0.5, 150)), 0.115, 0.01)
}

// TestCurtailment: with fewer units than planned, absent ones as missing, the error stays at a over any number of looks.
func TestCurtailment(t *testing.T) {
	const n = 20
	end := remembered(func(k, seen int) float64 {
		low := append(slices.Repeat([]float64{1}, k), make([]float64, n-k)...)
		high := append(slices.Repeat([]float64{1}, k+n-seen), make([]float64, seen-k)...)
		return must(t, Dirichlet, low, high, Unit, 0.95).Lower
	})
	worst := 0.0
	for i := 1; i < 400; i++ {
		p := constant(float64(i)/400, n)
		worst = math.Max(worst, crossing(end, p, p))
	}
	if worst > 0.025 || worst < 0.02 {
		t.Errorf("worst chance over all looks %v, want at most .025 and near it", worst)
	}
}

// TestUnitsAddedAndRevised: where older units have all come to p and one fresh unit of a single decision is added at each
// look, the sequence excludes p whenever the fresh decision is an event, if p <= 1/79: a chance of 1/80 a look, .395
// in 40 looks (audit, section 2c; exact). Adding and revising at once is not what it promises.
func TestUnitsAddedAndRevised(t *testing.T) {
	const p = 1. / 80
	for _, older := range []int{0, 1, 40, 400} {
		settled := slices.Repeat([]float64{p}, older)
		event, none := append(slices.Clone(settled), 1), append(slices.Clone(settled), 0)
		if i := must(t, UniformMixture, event, event, Unit, 0.95); i.Lower <= p {
			t.Errorf("%d older units and an event: %v does not exclude %v", older, i, p)
		}
		if i := must(t, UniformMixture, none, none, Unit, 0.95); i.Lower > p {
			t.Errorf("%d older units and no event: %v excludes %v", older, i, p)
		}
	}
	for looks, want := range map[float64]float64{1: .0125, 10: .118, 40: .395, 80: .634, 200: .919, 400: .993} {
		near(t, "chance over looks", 1-math.Pow(1-p, looks), want, 0.0006)
	}
}

// TestFixedListCounterexample: on cases of different means Dirichlet can be wrong more often than a. One case of n can
// happen, with chance n·L for L the lower end at one event: the chance is n·(1 − (1 − a)^(1/n)) > a (audit, section 6d). The
// mixture is not, at one look.
func TestFixedListCounterexample(t *testing.T) {
	for _, n := range []int{2, 5, 50} {
		list := make([]float64, n)
		list[0] = 1
		once := must(t, Dirichlet, list, list, Unit, 0.95).Lower
		near(t, "chance of Dirichlet", float64(n)*once, float64(n)*(1-math.Pow(0.975, 1/float64(n))), 1e-8)
		if float64(n)*once <= 0.025 {
			t.Errorf("n = %d: chance %v is not above .025: no counterexample", n, float64(n)*once)
		}
		if sequence := must(t, UniformMixture, list, list, Unit, 0.95).Lower; float64(n)*sequence > 0.025 {
			t.Errorf("n = %d: the mixture is wrong with chance %v", n, float64(n)*sequence)
		}
	}
}

// TestMedianErrors: the chance that the order statistics miss the median of a continuous law, exact, is at most 1 −
// confidence, and one rank further in it would be more.
func TestMedianErrors(t *testing.T) {
	for n := 1; n <= 300; n++ {
		law := binomialLaw(n, 0.5)
		tail := func(j int) float64 { // P(Bin(n, ½) <= j − 1)
			sum := 0.0
			for k := range j {
				sum += law[k]
			}
			return sum
		}
		for _, a := range []float64{0.05, 0.025, 0.005} {
			j := medianRank(n, a)
			if tail(j) > a || tail(j+1) <= a {
				t.Errorf("n = %d, a = %v: rank %d has error %v, the next %v", n, a, j, tail(j), tail(j+1))
			}
		}
	}
}

// TestWidths: the published widths at 95 % on [-1, 1] of people's gains, two arms of 15 trials each, accuracies around .6
// with a standard deviation of .1 between people: medians over seeded studies.
func TestWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	trials := func(p float64) float64 {
		right := 0
		for range 15 {
			if r.Float64() < p {
				right++
			}
		}
		return float64(right) / 15
	}
	person := func() float64 { return math.Min(1, math.Max(0, 0.6+0.1*r.NormFloat64())) }
	for _, c := range []struct {
		people         int
		sequence, once float64 // published
	}{{4, 1.43, 1.22}, {6, 1.16, .94}, {10, .83, .64}, {20, .49, .37}, {40, .28, .22}} {
		var sequence, once []float64
		for range 101 {
			gains := make([]float64, c.people)
			for i := range gains {
				gains[i] = trials(person()) - trials(person())
			}
			sequence = append(sequence, must(t, UniformMixture, gains, gains, Difference, 0.95).Width())
			once = append(once, must(t, Dirichlet, gains, gains, Difference, 0.95).Width())
		}
		slices.Sort(sequence)
		slices.Sort(once)
		t.Logf("%d people: sequence %.3f, once %.3f", c.people, sequence[50], once[50])
		// How the published studies drew a person's two accuracies is not recorded; 8 % is what that and chance may make.
		near(t, "median width of the sequence", sequence[50], c.sequence, 0.08*c.sequence)
		near(t, "median width of Dirichlet", once[50], c.once, 0.08*c.once)
	}
}
