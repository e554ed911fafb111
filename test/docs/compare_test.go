package docs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oloproof/oloproof/engine/interval"
)

// The computed tables about trials of two versions. Where agents are made up, a case's chance of passing is the larger
// of two uniform numbers, Beta(2, 1): most cases are easy, some are hard. The tests of engine/gate/compare draw the
// same.

// overCases returns the mean of what f gives for the chance of a case.
func overCases(f func(p float64) []float64) []float64 {
	const steps = 600 // of Simpson's rule; what is integrated are polynomials of low degree
	var total []float64
	for i := range steps + 1 {
		p := float64(i) / steps
		weight := 4.0
		switch {
		case i == 0 || i == steps:
			weight = 1
		case i%2 == 0:
			weight = 2
		}
		for j, x := range f(p) {
			if j == len(total) {
				total = append(total, 0)
			}
			total[j] += weight / (3 * steps) * 2 * p * x // 2p is the density of Beta(2, 1)
		}
	}
	return total
}

// moves is how likely a case counts as better and as worse.
type moves struct{ better, worse float64 }

// movesBy returns the moves of a case with the given numbers of trials, where change takes a chance in the baseline to
// that in the candidate and sign says which way the passes of both move it.
func movesBy(trials [2]int, change func(p float64) [2]float64, sign func(old, next int) int) moves {
	m := overCases(func(p float64) []float64 {
		up, down := 0.0, 0.0
		chances := change(p)
		next := binomial(trials[1], chances[1])
		for i, x := range binomial(trials[0], chances[0]) {
			for j, y := range next {
				switch s := sign(i, j); {
				case s > 0:
					up += x * y
				case s < 0:
					down += x * y
				}
			}
		}
		return []float64{up, down}
	})
	return moves{m[0], m[1]}
}

// signSays returns the probabilities that the sign test at 95 % says better, and worse, over so many cases of these
// moves.
func signSays(cases int, m moves) (better, worse float64) {
	moved := m.better + m.worse
	if moved == 0 {
		return 0, 0
	}
	up, split := m.better/moved, []float64{1} // of n cases that moved, how likely b are better
	for n, p := range binomial(cases, moved) {
		for b, q := range split {
			switch w := n - b; {
			case interval.SignTest(b, w) >= 0.05:
			case b > w:
				better += p * q
			default:
				worse += p * q
			}
		}
		next := make([]float64, n+2)
		for b, q := range split {
			next[b] += q * (1 - up)
			next[b+1] += q * up
		}
		split = next
	}
	return better, worse
}

// unchanged is the same agent twice.
func unchanged(p float64) [2]float64 { return [2]float64{p, p} }

// signTests returns how often each of two sign tests says better and worse: the one that compares the recorded shares, and
// the one for which absent trials, up to the larger number, are missing and completed against the decision.
func signTests(cases int, trials [2]int, change func(p float64) [2]float64) (recorded, completed moves) {
	n := max(trials[0], trials[1])
	recorded.better, recorded.worse = signSays(cases, movesBy(trials, change, func(old, next int) int { return next*trials[0] - old*trials[1] }))
	completed.better, _ = signSays(cases, movesBy(trials, change, func(old, next int) int { return next - (old + n - trials[0]) }))
	_, completed.worse = signSays(cases, movesBy(trials, change, func(old, next int) int { return next + n - trials[1] - old }))
	return recorded, completed
}

// sameAgent finds how often the same agent, run as both versions, is called better or worse: exactly for the sign tests,
// and for all in 2,000 simulated pairs, the ones that TestSameAgentTwice of engine/gate/compare draws.
func sameAgent(t *testing.T) [][]string {
	const repetitions = 2000
	rows := [][]string{{"cases", "trials of baseline, candidate", "decided by", "better", "worse", "either, simulated"}}
	for _, c := range []struct {
		cases  int
		trials [2]int
	}{{30, [2]int{5, 5}}, {30, [2]int{10, 1}}, {164, [2]int{5, 1}}} {
		recorded, completed := signTests(c.cases, c.trials, unchanged)
		r := rand.New(rand.NewPCG(6, uint64(c.cases*c.trials[0])))
		var counts [3]int
		for range repetitions {
			for i, called := range simulatePair(t, r, c.cases, c.trials) {
				if called {
					counts[i]++
				}
			}
		}
		for i, method := range []struct {
			name  string
			exact *moves
		}{{"a sign test of the recorded shares", &recorded}, {"`sign_test`", &completed}, {"`pass_rate_difference`", nil}} {
			k := counts[i]
			iv, err := interval.ClopperPearson(k, 0, repetitions, 0.999)
			if err != nil {
				t.Fatal(err)
			}
			row := []string{fmt.Sprint(c.cases), fmt.Sprintf("%d, %d", c.trials[0], c.trials[1]), method.name, "–", "–"}
			if x := method.exact; x != nil {
				row[3], row[4] = percent(x.better), percent(x.worse)
				if either := x.better + x.worse; either < iv.Lower || either > iv.Upper {
					t.Errorf("%d cases, %v trials, %s: exactly %v, simulated %d of %d", c.cases, c.trials, method.name, either, k, repetitions)
				}
			}
			rows = append(rows, append(row, fmt.Sprintf("%s (%s to %s)", percent(float64(k)/repetitions), percent(iv.Lower), percent(iv.Upper))))
		}
	}
	return rows
}

// simulatePair draws one pair of runs of the same agent and says whether it is called better or worse by a sign test of
// the recorded shares, by one with missing trials completed, and by the interval of the mean difference.
func simulatePair(t *testing.T, r *rand.Rand, cases int, trials [2]int) [3]bool {
	chances := make([]float64, cases)
	for i := range chances {
		chances[i] = max(r.Float64(), r.Float64())
	}
	var passes [2][]int
	for version, n := range trials {
		passes[version] = make([]int, cases)
		for i, p := range chances {
			for range n {
				if r.Float64() < p {
					passes[version][i]++
				}
			}
		}
	}
	n := max(trials[0], trials[1])
	var shares, worst, best [2]int // better and worse cases
	count := func(into *[2]int, sign int) {
		switch {
		case sign > 0:
			into[0]++
		case sign < 0:
			into[1]++
		}
	}
	low, high := make([]float64, cases), make([]float64, cases)
	for i := range cases {
		old, next := passes[0][i], passes[1][i]
		least, most := next-(old+n-trials[0]), next+n-trials[1]-old
		count(&shares, next*trials[0]-old*trials[1])
		count(&worst, least)
		count(&best, most)
		low[i], high[i] = float64(least)/float64(n), float64(most)/float64(n)
	}
	shows := func(s [2]int) bool { return interval.SignTest(s[0], s[1]) < 0.05 }
	iv, err := interval.UniformMixture(low, high, interval.Difference, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	return [3]bool{
		shows(shares),
		worst[0] > worst[1] && shows(worst) || best[1] > best[0] && shows(best),
		iv.Lower > 0 || iv.Upper < 0,
	}
}

// reruns finds how often at least one of several runs says that the same agent is better than itself.
func reruns(*testing.T) [][]string {
	rows := [][]string{{"runs", "30 cases, 5 trials", "164 cases, 5 trials"}}
	var once []float64
	for _, cases := range []int{30, 164} {
		_, completed := signTests(cases, [2]int{5, 5}, unchanged)
		once = append(once, completed.better)
	}
	for _, n := range []int{1, 5, 10, 20, 50, 200} {
		row := []string{fmt.Sprint(n)}
		for _, p := range once {
			row = append(row, percent(1-math.Pow(1-p, float64(n))))
		}
		rows = append(rows, row)
	}
	return rows
}

// signPower finds how often the sign test says better where the candidate is: a chance of 0.8·p in the baseline is 0.8·p
// plus the gain in the candidate.
func signPower(*testing.T) [][]string {
	rows := [][]string{{"cases", "trials each", "5 points better", "10 points better", "20 points better"}}
	for _, cases := range []int{8, 30, 100, 164, 400} {
		for _, trials := range []int{1, 5, 10} {
			row := []string{fmt.Sprint(cases), fmt.Sprint(trials)}
			for _, gain := range []float64{0.05, 0.1, 0.2} {
				change := func(p float64) [2]float64 { return [2]float64{0.8 * p, 0.8*p + gain} }
				_, completed := signTests(cases, [2]int{trials, trials}, change)
				row = append(row, percent(completed.better))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// differenceLaw is how likely a case's passes differ by −trials to +trials when the same agent runs it twice.
func differenceLaw(trials int) []float64 {
	return overCases(func(p float64) []float64 {
		list := make([]float64, 2*trials+1)
		passes := binomial(trials, p)
		for i, x := range passes {
			for j, y := range passes {
				list[j-i+trials] += x * y
			}
		}
		return list
	})
}

// differences are n differences of a case with this law: its quantiles.
func differences(n int, law []float64) []float64 {
	trials := len(law) / 2
	values, below, j := make([]float64, 0, n), law[0], 0
	for i := range n {
		for j < 2*trials && below < (float64(i)+0.5)/float64(n) {
			j++
			below += law[j]
		}
		values = append(values, float64(j-trials)/float64(trials))
	}
	return values
}

// notWorse shows from how many cases on a rule shows that a candidate, which is in truth no worse, is at most so much worse.
func notWorse(t *testing.T) [][]string {
	rows := [][]string{{"`minimum`", "sampled cases", "sampled, planned with `looks: once`", "fixed list"}}
	const trials = 5
	law := differenceLaw(trials)
	for _, minimum := range []float64{-0.2, -0.1, -0.05, -0.02} {
		row := []string{fmt.Sprint(minimum)}
		for _, at := range []func(n int) interval.Interval{
			func(n int) interval.Interval {
				return mean(t, interval.UniformMixture, differences(n, law), interval.Difference)
			},
			func(n int) interval.Interval {
				return mean(t, interval.Dirichlet, differences(n, law), interval.Difference)
			},
			func(n int) interval.Interval { return pooled(t, n, trials) },
		} {
			low, high := 0, 1
			for ; at(high).Lower < minimum; high *= 2 {
				low = high
			}
			for high-low > 1 {
				if n := (low + high) / 2; at(n).Lower >= minimum {
					high = n
				} else {
					low = n
				}
			}
			row = append(row, fmt.Sprint(high))
		}
		rows = append(rows, row)
	}
	return rows
}

// pooled is the interval of a fixed list on which both versions pass as often.
func pooled(t *testing.T, cases, trials int) interval.Interval {
	t.Helper()
	n := 2 * cases * trials
	iv, err := interval.FixedListDifference(n/2, 0, n, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

// fixedWidths shows how wide the intervals of a difference are.
func fixedWidths(t *testing.T) [][]string {
	rows := [][]string{{"cases × trials", "fixed list", "sampled cases", "sampled, planned with `looks: once`"}}
	for _, c := range [][2]int{{8, 5}, {30, 5}, {50, 4}, {164, 5}} {
		row := []string{fmt.Sprintf("%d × %d", c[0], c[1]), fmt.Sprintf("%.2f", pooled(t, c[0], c[1]).Width())}
		for _, m := range methods[:2] {
			row = append(row, fmt.Sprintf("%.2f", mean(t, m, differences(c[0], differenceLaw(c[1])), interval.Difference).Width()))
		}
		rows = append(rows, row)
	}
	return rows
}

// fixedEnds finds how often the lower end is above the mean chance of n trials of which one passes with a chance just
// below n times the end for one event, and no other ever passes.
func fixedEnds(t *testing.T) [][]string {
	rows := [][]string{{"trials", "Clopper-Pearson", "with the changed ends"}}
	for _, n := range []int{2, 10, 100} {
		exact := rate(t, interval.ClopperPearson, 1, n)
		changed := rate(t, interval.FixedListRate, 1, n)
		rows = append(rows, []string{fmt.Sprint(n), fmt.Sprintf("%.3f %%", 100*float64(n)*exact.Lower), fmt.Sprintf("%.3f %%", 100*float64(n)*changed.Lower)})
	}
	return rows
}

// exceeding finds the least chance with which the events among n alike exceed their expectation, a whole number from 1 to
// n − 1.
func exceeding(t *testing.T) [][]string {
	rows := [][]string{{"n", "least P(Bin(n, j/n) ≥ j + 1), j = 1 … n − 1"}}
	for _, n := range []int{2, 3, 5, 10, 30, 100, 300} {
		least := 1.0
		for j := 1; j < n; j++ {
			tail := 0.0
			for _, x := range binomial(n, float64(j)/float64(n))[j+1:] {
				tail += x
			}
			least = min(least, tail)
		}
		if least < 0.25-1e-12 {
			t.Errorf("n = %d: %v, below one quarter", n, least)
		}
		rows = append(rows, []string{fmt.Sprint(n), fmt.Sprintf("%.3f", least)})
	}
	return rows
}

// passEstimates compares what two estimates of p^k give on average, over five trials.
func passEstimates(t *testing.T) [][]string {
	const n = 5
	rows := [][]string{{"chance p", "k", "pᵏ", "C(c, k)/C(n, k) on average", "(c/n)ᵏ on average"}}
	for _, p := range []float64{0.5, 0.8, 0.95} {
		for _, k := range []int{2, 3, 5} {
			subsets, powers := 0.0, 0.0
			for c, x := range binomial(n, p) {
				subsets += x * choose(c, k) / choose(n, k)
				powers += x * math.Pow(float64(c)/n, float64(k))
			}
			truth := math.Pow(p, float64(k))
			if math.Abs(subsets-truth) > 1e-12 {
				t.Errorf("p = %v, k = %d: on average %v, not %v", p, k, subsets, truth)
			}
			rows = append(rows, []string{fmt.Sprint(p), fmt.Sprint(k), fmt.Sprintf("%.3f", truth), fmt.Sprintf("%.3f", subsets), fmt.Sprintf("%.3f", powers)})
		}
	}
	return rows
}

// twoErrors finds how often two intervals of a rate cover the mean over cases, 0.6, with 8 cases of 5 trials, when each
// case's own chance is 0.6 − d or 0.6 + d, as likely the one as the other.
func twoErrors(t *testing.T) [][]string {
	const cases, trials, truth = 8, 5, 0.6
	// Every way in which the cases can be spread over 0 to 5 passes.
	type spread struct {
		counts [trials + 1]int
		ways   float64
		covers [2]bool
	}
	var spreads []spread
	var walk func(s spread, passes, left int)
	walk = func(s spread, passes, left int) {
		if passes == trials {
			s.counts[passes] = left
			var values []float64
			total := 0
			for c, n := range s.counts {
				values = append(values, repeat(float64(c)/trials, n)...)
				total += c * n
			}
			p := float64(total) / (cases * trials)
			two := 2 * math.Sqrt(p*(1-p)/(cases*trials))
			iv := mean(t, interval.UniformMixture, values, interval.Unit)
			s.covers = [2]bool{p-two <= truth && truth <= p+two, iv.Lower <= truth && truth <= iv.Upper}
			spreads = append(spreads, s)
			return
		}
		for n := range left + 1 {
			next := s
			next.counts[passes] = n
			next.ways *= choose(left, n)
			walk(next, passes+1, left-n)
		}
	}
	walk(spread{ways: 1}, 0, cases)
	rows := [][]string{{"cases' own chances", "two standard errors", "uniform mixture"}}
	for _, d := range []float64{0, 0.2, 0.3, 0.4} {
		low, high := binomial(trials, truth-d), binomial(trials, truth+d)
		covered := [2]float64{}
		for _, s := range spreads {
			p := s.ways
			for c, n := range s.counts {
				p *= math.Pow((low[c]+high[c])/2, float64(n))
			}
			for i, yes := range s.covers {
				if yes {
					covered[i] += p
				}
			}
		}
		name := fmt.Sprintf("%.1f or %.1f", truth-d, truth+d)
		if d == 0 {
			name = "0.6 for every case"
		}
		rows = append(rows, []string{name, percent(covered[0]), percent(covered[1])})
	}
	return rows
}

// signLooks finds how often p is ever below 0.05 when nothing has changed and there is a look after every changed case.
func signLooks(t *testing.T) [][]string {
	rows := [][]string{{"changed cases in the end", "p of one look", "p with `looks: repeated`"}}
	ends := []int{10, 30, 100, 400}
	ever := func(p func(better, worse int) float64) []float64 {
		var list []float64
		alive, crossed := []float64{1}, 0.0
		for n := 1; n <= ends[len(ends)-1]; n++ {
			next := make([]float64, n+1)
			for b, x := range alive {
				next[b] += x / 2
				next[b+1] += x / 2
			}
			for b := range next {
				if next[b] > 0 && p(b, n-b) < 0.05 {
					crossed += next[b]
					next[b] = 0
				}
			}
			if alive = next; slices.Contains(ends, n) {
				list = append(list, crossed)
			}
		}
		return list
	}
	once, repeated := ever(interval.SignTest), ever(interval.SignSequence)
	for i, n := range ends {
		if repeated[i] > 0.05 {
			t.Errorf("%d changed cases: %v with looks: repeated", n, repeated[i])
		}
		rows = append(rows, []string{fmt.Sprint(n), percent(once[i]), percent(repeated[i])})
	}
	return rows
}
