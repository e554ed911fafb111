package docs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/oloproof/oloproof/engine/interval"
)

// The computed tables about groups of people. Groups are made up: each of its cases is an event with one and the same
// chance, independently. Rates are those of the gate: exact intervals with the error divided by the number of groups.

// groupRate is the interval of k events among n cases of one of several groups, nothing missing.
func groupRate(t *testing.T, k, n, groups int) interval.Interval {
	t.Helper()
	tally := interval.Tally{K: k, N: n}
	iv, err := interval.GroupRate(tally, tally, 0.95, groups)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

// fisherGap is the interval of the distance of two groups under `interval: pairwise`.
func fisherGap(t *testing.T, k, n, l, m, groups int) interval.Interval {
	t.Helper()
	p, q := interval.Tally{K: k, N: n}, interval.Tally{K: l, N: m}
	const alpha = 0.05
	iv, err := interval.FisherGap(p, p, q, q, alpha/2, alpha/float64(groups*(groups-1)), 1-alpha)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

// defaultGap is the interval of the distance of two groups of n cases each from their own intervals.
func defaultGap(t *testing.T, k, l, n, groups int) interval.Interval {
	return interval.GroupGap(groupRate(t, k, n, groups), groupRate(t, l, n, groups), 0.95)
}

// pairwiseGap is the same under `interval: pairwise`.
func pairwiseGap(t *testing.T, k, l, n, groups int) interval.Interval {
	return fisherGap(t, k, n, l, n, groups)
}

// law is how likely so many events are in a group: those of a chance below 1e-12 are left out at both ends.
type law struct {
	from int       // the least number of events that is not left out
	p    []float64 // of from, from + 1, …
}

// eventsLaw is the law of Bin(n, p), 0 < p < 1.
func eventsLaw(n int, p float64) law {
	logs := make([]float64, n+1)
	all, _ := math.Lgamma(float64(n + 1))
	for k := range logs {
		a, _ := math.Lgamma(float64(k + 1))
		b, _ := math.Lgamma(float64(n - k + 1))
		logs[k] = all - a - b + float64(float64(k)*math.Log(p)) + float64(float64(n-k)*math.Log1p(-p))
	}
	from, to := 0, n
	for ; logs[from] < math.Log(1e-12); from++ {
	}
	for ; logs[to] < math.Log(1e-12); to-- {
	}
	l := law{from, nil}
	for _, x := range logs[from : to+1] {
		l.p = append(l.p, math.Exp(x))
	}
	return l
}

// below is the chance of at most k events.
func (l law) below(k int) float64 {
	total := 0.0
	for i := 0; i < len(l.p) && l.from+i <= k; i++ {
		total += l.p[i]
	}
	return total
}

// around is the chance of those numbers of events, 0 to n, that meet a condition which fails from some distance to k on, on
// either side.
func (l law) around(k, n int, meets func(events int) bool) float64 {
	if !meets(k) {
		return 0
	}
	most := sort.Search(n-k, func(i int) bool { return !meets(k + i + 1) })
	least := sort.Search(k, func(i int) bool { return !meets(k - i - 1) })
	return l.below(k+most) - l.below(k-least-1)
}

// withinExtremes returns the chance that the least and the most events among so many alike groups meet a condition that
// a lower least or a higher most only makes harder to meet.
func withinExtremes(l law, groups int, meets func(least, most int) bool) float64 {
	below := make([]float64, len(l.p)+1) // the chance of fewer than from + i events
	for i, p := range l.p {
		below[i+1] = below[i] + p
	}
	total, top := 0.0, 0
	for i := range l.p {
		for top = max(top, i); top < len(l.p) && meets(l.from+i, l.from+top); top++ {
		}
		if top <= i {
			continue
		}
		// The least is from + i, and the most below from + top.
		total += math.Pow(below[top]-below[i], float64(groups)) - math.Pow(below[top]-below[i+1], float64(groups))
	}
	return total
}

// firstFrom returns a number from which on a condition is met that more cases make easier, found by halving. Since
// events are whole numbers, some number before it may meet it too.
func firstFrom(t *testing.T, meets func(n int) bool) int {
	t.Helper()
	low, high := 0, 16
	for ; !meets(high); high *= 2 {
		if low = high; high > 1<<20 {
			t.Fatal("no number of cases is enough")
		}
	}
	for high-low > 1 {
		if n := (low + high) / 2; meets(n) {
			high = n
		} else {
			low = n
		}
	}
	return high
}

// gapErrors states the bounds on a rule's two errors at 95 %, by the number of declared groups.
func gapErrors(*testing.T) [][]string {
	rows := [][]string{{"declared groups", "a gap or a ratio: false `FAIL`", "false `PASS`", "a floor or ceiling: false `FAIL`", "false `PASS`"}}
	const alpha = 0.05
	for _, g := range []int{2, 3, 6, 12, 50} {
		n := float64(g)
		row := []string{fmt.Sprint(g)}
		for _, p := range []float64{alpha, alpha / n, alpha / 2, alpha / (2 * n)} {
			row = append(row, fmt.Sprintf("%.2f %%", 100*p))
		}
		rows = append(rows, row)
	}
	return rows
}

// gapAtThreshold finds how often a rule of 0.05 on two groups fails when the gap is exactly that, so that it holds, and how
// often it passes when the gap is larger by nothing that counts, so that it is violated.
func gapAtThreshold(t *testing.T) [][]string {
	rows := [][]string{{"cases in each group", "default: false `FAIL`", "false `PASS`", "`interval: pairwise`: false `FAIL`", "false `PASS`"}}
	for _, n := range []int{100, 500, 2000} {
		p, q := eventsLaw(n, 0.10), eventsLaw(n, 0.15)
		row := []string{fmt.Sprint(n)}
		for _, gap := range []func(t *testing.T, k, l, n, groups int) interval.Interval{defaultGap, pairwiseGap} {
			var fails, passes float64
			for i, x := range p.p {
				k := p.from + i
				fails += x * (1 - q.around(k, n, func(l int) bool { return gap(t, k, l, n, 2).Lower <= 0.05 }))
				passes += x * q.around(k, n, func(l int) bool { return gap(t, k, l, n, 2).Upper <= 0.05 })
			}
			row = append(row, fmt.Sprintf("%.2f %%", 100*fails), fmt.Sprintf("%.2f %%", 100*passes))
		}
		rows = append(rows, row)
	}
	return rows
}

// gapEnds shows the upper end of a gap where both groups have the rate 0.1, by the number of groups.
func gapEnds(t *testing.T) [][]string {
	rows := [][]string{{"cases in each group", "2 groups", "4 groups", "12 groups", "`interval: pairwise`, any number"}}
	for _, n := range []int{100, 300, 1000, 4000} {
		row := []string{fmt.Sprint(n)}
		for _, g := range []int{2, 4, 12} {
			row = append(row, fmt.Sprintf("%.4f", defaultGap(t, n/10, n/10, n, g).Upper))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.4f", pairwiseGap(t, n/10, n/10, n, 2).Upper)))
	}
	return rows
}

// gapNeeded shows from how many cases a group a gap rule passes in 80 % of files when all groups have the rate 0.10.
func gapNeeded(t *testing.T) [][]string {
	rows := [][]string{{"declared groups", "`max_group_gap: 0.10`", "pairwise", "`max_group_gap: 0.05`", "pairwise"}}
	for _, g := range []int{2, 3, 6, 12} {
		row := []string{fmt.Sprint(g)}
		for _, threshold := range []float64{0.10, 0.05} {
			for _, gap := range []func(t *testing.T, k, l, n, groups int) interval.Interval{defaultGap, pairwiseGap} {
				row = append(row, fmt.Sprint(firstFrom(t, func(n int) bool {
					return withinExtremes(eventsLaw(n, 0.10), g, func(least, most int) bool { return gap(t, most, least, n, g).Upper <= threshold }) >= 0.8
				})))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// floorNeeded shows from how many cases a group `worst_group: {minimum: 0.80}` passes in 80 % of files when every group
// has the rate 0.88.
func floorNeeded(t *testing.T) [][]string {
	rows := [][]string{{"declared groups", "default", "`interval: pairwise`"}}
	for _, g := range []int{2, 3, 6, 12, 50} {
		row := []string{fmt.Sprint(g)}
		for _, groups := range []int{g, 1} { // pairwise passes by intervals of an undivided error
			row = append(row, fmt.Sprint(firstFrom(t, func(n int) bool {
				l := eventsLaw(n, 0.88)
				least := leastAbove(t, n, func(k, n int) float64 { return groupRate(t, k, n, groups).Lower }, func(lower float64) bool { return lower >= 0.80 })
				return math.Pow(1-l.below(least-1), float64(g)) >= 0.8
			})))
		}
		rows = append(rows, row)
	}
	return rows
}

// ratioNeeded shows from how many cases a group `min_group_ratio: 0.80` passes in 80 % of files when all groups have the
// same rate.
func ratioNeeded(t *testing.T) [][]string {
	rows := [][]string{{"rate of every group", "2 groups", "6 groups"}}
	for _, p := range []float64{0.1, 0.3, 0.5} {
		row := []string{fmt.Sprint(p)}
		for _, g := range []int{2, 6} {
			row = append(row, fmt.Sprint(firstFrom(t, func(n int) bool {
				l := eventsLaw(n, p)
				ends := make([]interval.Interval, len(l.p))
				for i := range ends {
					ends[i] = groupRate(t, l.from+i, n, g)
				}
				return withinExtremes(l, g, func(least, most int) bool {
					return interval.AtLeastTimes(ends[least-l.from].Lower, 0.8, ends[most-l.from].Upper)
				}) >= 0.8
			})))
		}
		rows = append(rows, row)
	}
	return rows
}

// bootstrap compares two intervals of the largest gap between groups of the same rate, and of groups of which one is 0.05
// above the others: the one between the 2.5 % and the 97.5 % quantile of what resampling the file's cases gives, in
// simulated files, and the gate's, exactly.
func bootstrap(t *testing.T) [][]string {
	const files, resamples, rest, other = 200, 200, 0.10, 0.15
	rows := [][]string{{"groups", "cases in each", "bootstrap holds 0 where all are equal", "ours does", "bootstrap is above 0.05 where the gap is 0.05", "ours is"}}
	for _, c := range []struct{ groups, n int }{{2, 200}, {2, 1000}, {6, 200}, {12, 200}} {
		r := rand.New(rand.NewPCG(7, uint64(c.groups*c.n)))
		count := func(first float64, wanted func(lower float64) bool) string {
			k := 0
			for range files {
				if wanted(bootstrapLower(r, c.groups, c.n, first, rest, resamples)) {
					k++
				}
			}
			iv, err := interval.ClopperPearson(k, 0, files, 0.999)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%s (%s to %s)", percent(float64(k)/files), percent(iv.Lower), percent(iv.Upper))
		}
		ends := make([]interval.Interval, c.n+1)
		for k := range ends {
			ends[k] = groupRate(t, k, c.n, c.groups)
		}
		atMost := func(gap float64) func(least, most int) bool {
			return func(least, most int) bool { return interval.GroupGap(ends[most], ends[least], 0.95).Lower <= gap }
		}
		equal := withinExtremes(eventsLaw(c.n, rest), c.groups, atMost(0))
		if equal < 0.95 {
			t.Errorf("%d groups of %d: the gate's interval holds 0 in %v of files", c.groups, c.n, equal)
		}
		above, one := 1.0, eventsLaw(c.n, other) // one group of the other rate, and its events
		for i, x := range one.p {
			k := one.from + i
			above -= x * withinExtremes(eventsLaw(c.n, rest), c.groups-1, func(least, most int) bool { return atMost(0.05)(min(least, k), max(most, k)) })
		}
		if above > 0.05 {
			t.Errorf("%d groups of %d: the gate's interval is above a gap of 0.05 in %v of files", c.groups, c.n, above)
		}
		rows = append(rows, []string{
			fmt.Sprint(c.groups), fmt.Sprint(c.n),
			count(rest, func(lower float64) bool { return lower <= 0 }), percent(equal),
			count(other, func(lower float64) bool { return lower > 0.05 }), percent(max(0, above)),
		})
	}
	return rows
}

// bootstrapLower draws a file of groups of n cases each, whose rates are first and, of all others, rest, and returns the
// 2.5 % quantile of the largest gap in resamples of as many of its cases.
func bootstrapLower(r *rand.Rand, groups, n int, first, rest float64, resamples int) float64 {
	file := make([]int, 0, groups*n) // of each case twice its group, and 1 more for an event
	for g := range groups {
		p := rest
		if g == 0 {
			p = first
		}
		for range n {
			cell := 2 * g
			if r.Float64() < p {
				cell++
			}
			file = append(file, cell)
		}
	}
	gaps := make([]float64, resamples)
	counts := make([]int, 2*groups)
	for i := range gaps {
		clear(counts)
		for range file {
			counts[file[r.IntN(len(file))]]++
		}
		least, most := 1.0, 0.0
		for g := range groups {
			if cases := counts[2*g] + counts[2*g+1]; cases > 0 {
				p := float64(counts[2*g+1]) / float64(cases)
				least, most = min(least, p), max(most, p)
			}
		}
		gaps[i] = most - least
	}
	slices.Sort(gaps)
	return gaps[resamples*25/1000]
}

// lostAttribute finds how often `max_group_gap: 0.05` passes on two groups whose false negative rates are 0.10 and 0.19, when
// 53 % of the second group's false negatives have lost the attribute, and how often that verdict survives adding them to
// either group.
func lostAttribute(t *testing.T) [][]string {
	const files, first, second, lost = 2000, 0.10, 0.19, 0.53
	rows := [][]string{{"cases with label 1 in each group", "left out of them", "`PASS`", "`PASS` that survives"}}
	for _, n := range []int{1000, 2000, 4000} {
		r := rand.New(rand.NewPCG(8, uint64(n)))
		passes, survives, out := 0, 0, 0
		for range files {
			var k [2]int
			gone := 0
			for range n {
				if r.Float64() < first {
					k[0]++
				}
				if r.Float64() < second {
					if r.Float64() < lost {
						gone++
					} else {
						k[1]++
					}
				}
			}
			out += gone
			a, b := groupRate(t, k[0], n, 2), groupRate(t, k[1], n-gone, 2)
			if interval.GroupGap(a, b, 0.95).Upper > 0.05 {
				continue
			}
			passes++
			// Those left out were refused, so they can only add events, to the upper ends.
			a.Upper, b.Upper = groupRate(t, k[0]+gone, n+gone, 2).Upper, groupRate(t, k[1]+gone, n, 2).Upper
			if interval.GroupGap(a, b, 0.95).Upper <= 0.05 {
				survives++
			}
		}
		rows = append(rows, []string{fmt.Sprint(n), percent(float64(out) / float64(2*n*files)), percent(float64(passes) / files), percent(float64(survives) / files)})
	}
	return rows
}

// missingPredictions finds how often the end of an interval of precision is on the wrong side of the truth, 0.7, when a share
// of the false or of the true positives has lost its prediction: with them left out, and completed as the gate does.
func missingPredictions(t *testing.T) [][]string {
	const n, truth = 150, 0.7
	rows := [][]string{{"missing", "left out: end on the wrong side", "completed: end on the wrong side"}}
	for _, c := range []struct {
		name          string
		falseP, trueP float64 // how likely each kind of positive loses its prediction
	}{{"20 % of both", 0.2, 0.2}, {"40 % of false positives", 0.4, 0}, {"40 % of true positives", 0, 0.4}} {
		var out, completed float64
		for tp, x := range binomial(n, truth) {
			for m0, y := range binomial(n-tp, c.falseP) {
				for m1, z := range binomial(tp, c.trueP) {
					p := x * y * z
					if p < 1e-12 {
						continue
					}
					known, right := n-m0-m1, tp-m1
					for i, tallies := range [2][2]interval.Tally{
						{{K: right, N: known}, {K: right, N: known}},
						{{K: right, N: known + m0}, {K: right + m1, N: known + m1}},
					} {
						iv, err := interval.GroupRate(tallies[0], tallies[1], 0.95, 1)
						if err != nil {
							t.Fatal(err)
						}
						if iv.Lower > truth || iv.Upper < truth {
							if i == 0 {
								out += p
							} else {
								completed += p
							}
						}
					}
				}
			}
		}
		if completed > 0.05 {
			t.Errorf("%s: wrong in %v of files", c.name, completed)
		}
		rows = append(rows, []string{c.name, percent(out), percent(completed)})
	}
	return rows
}

// calibrationNoise shows the calibration error to be expected of probabilities that are right, on 10 bins with as many
// cases each, all of a bin at its middle.
func calibrationNoise(*testing.T) [][]string {
	rows := [][]string{{"cases in the group", "expected calibration error of right probabilities"}}
	const bins = 10
	for _, n := range []int{30, 100, 300, 1000, 10000} {
		total := 0.0
		for b := range bins {
			p := (float64(b) + 0.5) / bins
			l := eventsLaw(n/bins, p)
			for i, x := range l.p {
				total += x * math.Abs(float64(l.from+i)/float64(n/bins)-p) / bins
			}
		}
		rows = append(rows, []string{fmt.Sprint(n), fmt.Sprintf("%.3f", total)})
	}
	return rows
}

// overlapping shows, where 10 % of one group's cases are events, from which share in a group of the same size the two exact
// intervals of 95 % no longer overlap, and from which the interval of their difference lies above 0.
func overlapping(t *testing.T) [][]string {
	rows := [][]string{{"cases in each group", "intervals no longer overlap from", "a difference is told from"}}
	for _, n := range []int{100, 300, 1000, 4000} {
		upper := groupRate(t, n/10, n, 1).Upper
		row := []string{fmt.Sprint(n)}
		for _, apart := range []func(k int) bool{
			func(k int) bool { return groupRate(t, k, n, 1).Lower > upper },
			func(k int) bool { return pairwiseGap(t, k, n/10, n, 2).Lower > 0 },
		} {
			k := n / 10
			for !apart(k) {
				k++
			}
			row = append(row, percent(float64(k)/float64(n)))
		}
		rows = append(rows, row)
	}
	return rows
}
