package docs

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// The computed tables about blind labels. Each blind label agrees with the model or does not; the intervals are those of
// the anchoring gate.

// exactLower is the lower end of the exact interval of k of n.
func exactLower(t *testing.T) func(k, n int) float64 {
	return func(k, n int) float64 { return rate(t, interval.ClopperPearson, k, n).Lower }
}

// atLeastMinimum is what a lower end has to be for a minimum to pass.
func atLeastMinimum(minimum float64) func(lower float64) bool {
	return func(lower float64) bool { return lower >= minimum }
}

// blindNeeded shows how many blind labels a minimum needs when so many of them disagree with the model.
func blindNeeded(t *testing.T) [][]string {
	disagreements := []int{0, 1, 2, 5, 10}
	rows := [][]string{{"`minimum`", "no disagreement", "1", "2", "5", "10"}}
	for _, minimum := range []float64{0.8, 0.85, 0.9, 0.95} {
		row := []string{fmt.Sprint(minimum)}
		for _, d := range disagreements {
			n := d + 1
			for exactLower(t)(n-d, n) < minimum {
				n++
			}
			row = append(row, fmt.Sprint(n))
		}
		rows = append(rows, row)
	}
	return rows
}

// blindReach shows the lower end when every blind label agrees.
func blindReach(t *testing.T) [][]string {
	rows := [][]string{{"blind labels, all agreeing", "lower end"}}
	for _, n := range []int{5, 10, 20, 36, 50, 72, 100, 200} {
		rows = append(rows, []string{fmt.Sprint(n), fmt.Sprintf("%.3f", math.Floor(exactLower(t)(n, n)*1000)/1000)})
	}
	return rows
}

// blindPower shows with how many blind labels a minimum passes in 80 % of studies, by how often the model agrees in
// truth.
func blindPower(t *testing.T) [][]string {
	truths := []float64{0.9, 0.92, 0.95, 0.97, 0.99}
	rows := [][]string{{"`minimum`"}}
	for _, p := range truths {
		rows[0] = append(rows[0], fmt.Sprintf("agrees in %.0f %%", 100*p))
	}
	for _, minimum := range []float64{0.8, 0.85, 0.9, 0.95} {
		row := []string{fmt.Sprint(minimum)}
		for _, p := range truths {
			if p <= minimum {
				row = append(row, "–")
				continue
			}
			row = append(row, fmt.Sprint(blindFor(t, minimum, p)))
		}
		rows = append(rows, row)
	}
	return rows
}

// blindFor is the least number of blind labels with which a minimum passes in 80 % of studies of a model that agrees so often.
func blindFor(t *testing.T, minimum, truth float64) int {
	t.Helper()
	n, _ := fewest(5000, func(n int) float64 {
		least := leastAbove(t, n, exactLower(t), atLeastMinimum(minimum))
		return 1 - eventsLaw(n, truth).below(least-1)
	})
	return n
}

// fewest is the least number, from 10 on and below an end, with which something happens in 80 % of cases, and the most often
// that it does; 0 where no number is enough.
func fewest(end int, chance func(n int) float64) (n int, most float64) {
	for n = 10; n < end; n++ {
		if most = max(most, chance(n)); most >= 0.8 {
			return n, most
		}
	}
	return 0, most
}

// A model of peeking: some items are hard, and the model agrees on fewer of them. The annotator peeks at a share of the hard
// ones before labelling them.
const (
	peekHard, peekShare  = 0.3, 0.6
	peekEasyP, peekHardP = 0.98, 0.5
	peekTruth            = (1-peekHard)*peekEasyP + peekHard*peekHardP
)

// peeked finds how often the lower end of blind agreement is above the truth when those labels are left out, exactly, and
// when they count as missing, exactly and in simulated files that the gate itself reads.
func peeked(t *testing.T) [][]string {
	const files = 150
	if got := fmt.Sprintf("%.1f", 100*peekTruth); got != "83.6" { // the number in the text
		t.Errorf("the truth is %s", got)
	}
	rows := [][]string{{"items drawn blind", "peeked at, left out", "peeked at, missing", "the gate, in simulated files"}}
	for _, n := range []int{50, 100, 200} {
		var leftOut, missing float64
		kept := 1 - peekHard*peekShare
		agree := ((1-peekHard)*peekEasyP + peekHard*(1-peekShare)*peekHardP) / kept // of those not peeked at
		for m, x := range binomial(n, 1-kept) {
			for k, y := range binomial(n-m, agree) {
				if x*y < 1e-12 {
					continue
				}
				if rate(t, interval.ClopperPearson, k, n-m).Lower > peekTruth {
					leftOut += x * y
				}
				iv, err := interval.ClopperPearson(k, m, n, 0.95)
				if err != nil {
					t.Fatal(err)
				}
				if iv.Lower > peekTruth {
					missing += x * y
				}
			}
		}
		r := rand.New(rand.NewPCG(5, uint64(n)))
		folder, above := t.TempDir(), 0
		for range files {
			if peekedLower(t, r, folder, n) > peekTruth {
				above++
			}
		}
		iv, err := interval.ClopperPearson(above, 0, files, 0.999)
		if err != nil {
			t.Fatal(err)
		}
		if missing < iv.Lower || missing > iv.Upper || missing > 0.025 {
			t.Errorf("%d items: the lower end is above the truth with probability %v, in simulated files in %d of %d", n, missing, above, files)
		}
		rows = append(rows, []string{fmt.Sprint(n), percent(leftOut), percent(missing), fmt.Sprintf("%d of %d", above, files)})
	}
	return rows
}

// peekedLower draws a file of labels in which the annotator peeks, and returns the lower end of blind agreement in the report on
// it. A label that was peeked at is marked blind all the same, after a row on which the suggestion is visible.
func peekedLower(t *testing.T, r *rand.Rand, folder string, n int) float64 {
	t.Helper()
	var b strings.Builder
	b.WriteString("item,annotator,suggestion,label,visibility\n")
	for i := range n {
		hard := r.Float64() < peekHard
		p := peekEasyP
		if hard {
			p = peekHardP
		}
		if hard && r.Float64() < peekShare {
			fmt.Fprintf(&b, "i%d,a,x,x,visible\ni%d,a,x,x,blind\n", i, i)
			continue
		}
		label := "y"
		if r.Float64() < p {
			label = "x"
		}
		fmt.Fprintf(&b, "i%d,a,x,%s,blind\n", i, label)
	}
	writeFile(t, filepath.Join(folder, "labels.csv"), b.String())
	printed, _ := run(t, folder, "peeked", "oloproof anchoring report labels.csv --json --quiet")
	var read report.Report
	if err := json.Unmarshal([]byte(printed), &read); err != nil || len(read.Gates) != 1 {
		t.Fatalf("%v\n%s", err, printed)
	}
	for _, m := range read.Gates[0].Measures {
		if m.Metric == "blind_agreement" {
			return *m.Interval.Lower
		}
	}
	t.Fatal("the report has no blind_agreement")
	return 0
}

// logChoose is the logarithm of the binomial coefficient.
func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// drawnLaw is the law of the items with a property among n drawn from N, of which M have it.
func drawnLaw(M, n, N int) law {
	l := law{from: max(0, n+M-N)}
	for x := l.from; x <= min(M, n); x++ {
		l.p = append(l.p, math.Exp(logChoose(M, x)+logChoose(N-M, n-x)-logChoose(N, n)))
	}
	return l
}

// restLower is the lower end of agreement among the N − n items of a corpus that were not drawn.
func restLower(t *testing.T, N int) func(k, n int) float64 {
	return func(k, n int) float64 {
		iv, err := interval.HypergeometricRest(k, 0, n, N, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		return iv.Lower
	}
}

// corpusPower shows with how many items drawn blind `minimum: 0.9` passes for the rest of a corpus in 80 % of draws; where no
// number does, in how many at the most. Of a small rest little can be said, so more drawn items are not always better.
func corpusPower(t *testing.T) [][]string {
	truths := []int{95, 97, 99}
	rows := [][]string{{"items in the corpus"}}
	for _, p := range truths {
		rows[0] = append(rows[0], fmt.Sprintf("agrees on %d %%", p))
	}
	for _, N := range []int{100, 200, 300, 500, 1000, 10000} {
		row := []string{fmt.Sprint(N)}
		for _, p := range truths {
			n, most := fewest(min(N, 1000), func(n int) float64 {
				least := leastAbove(t, n, restLower(t, N), atLeastMinimum(0.9))
				return 1 - drawnLaw(N*p/100, n, N).below(least-1)
			})
			cell := fmt.Sprint(n)
			if n == 0 {
				cell = "– (at most " + percent(most) + ")"
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	row := []string{"no end"}
	for _, p := range truths {
		row = append(row, fmt.Sprint(blindFor(t, 0.9, float64(p)/100)))
	}
	return append(rows, row)
}

// halfGap is the interval of the gap from an interval for each side, at half of the error.
func halfGap(t *testing.T, visible, shown, blind, hidden int) interval.Interval {
	t.Helper()
	v, err1 := interval.ClopperPearson(visible, 0, shown, 0.975)
	b, err2 := interval.ClopperPearson(blind, 0, hidden, 0.975)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return interval.RateDifference(v, b, 0.95)
}

// fisherDifference is the same with `interval: pairwise`.
func fisherDifference(t *testing.T, visible, shown, blind, hidden int) interval.Interval {
	t.Helper()
	v, b := interval.Tally{K: visible, N: shown}, interval.Tally{K: blind, N: hidden}
	iv, err := interval.FisherDifference(v, v, b, b, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

// gapWidths shows the interval of a gap of 0.06, with four visible labels to each blind one.
func gapWidths(t *testing.T) [][]string {
	rows := [][]string{{"blind labels", "visible labels", "default", "`interval: pairwise`"}}
	for _, n := range []int{50, 100, 200, 400, 1000} {
		row := []string{fmt.Sprint(n), fmt.Sprint(4 * n)}
		for _, gap := range []func(t *testing.T, visible, shown, blind, hidden int) interval.Interval{halfGap, fisherDifference} {
			iv := gap(t, 4*n*96/100, 4*n, n*9/10, n)
			row = append(row, fmt.Sprintf("%+.3f to %+.3f", math.Floor(iv.Lower*1000)/1000, math.Ceil(iv.Upper*1000)/1000))
		}
		rows = append(rows, row)
	}
	return rows
}

// corpusEnds shows the ends for a corpus and for what rests of it, when 95 of 100 drawn items agree.
func corpusEnds(t *testing.T) [][]string {
	ends := func(iv interval.Interval) string {
		return fmt.Sprintf("%.3f to %.3f", math.Floor(iv.Lower*1000)/1000, math.Ceil(iv.Upper*1000)/1000)
	}
	rows := [][]string{{"items in the corpus", "the whole corpus", "its rest"}}
	for _, N := range []int{150, 200, 500, 1000, 10000} {
		corpus, _, _, err1 := interval.Hypergeometric(95, 0, 100, N, 0.95)
		rest, err2 := interval.HypergeometricRest(95, 0, 100, N, 0.95)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		rows = append(rows, []string{fmt.Sprint(N), ends(corpus), ends(rest)})
	}
	return append(rows, []string{"no end", ends(rate(t, interval.ClopperPearson, 95, 100)), "–"})
}

// corpusForRest finds how often the ends for a corpus, and those for its rest, leave out the share among the items that were
// not drawn, when the property is that of 90 % of the corpus.
func corpusForRest(t *testing.T) [][]string {
	rows := [][]string{{"items in the corpus", "drawn", "the interval of the corpus", "that of its rest"}}
	for _, c := range []struct{ N, n int }{{100, 20}, {100, 50}, {300, 60}, {300, 150}, {300, 250}} {
		var wrong [2]float64
		M := c.N * 9 / 10
		l := drawnLaw(M, c.n, c.N)
		for i, p := range l.p {
			x := l.from + i
			share := float64(M-x) / float64(c.N-c.n)
			corpus, _, _, err1 := interval.Hypergeometric(x, 0, c.n, c.N, 0.95)
			rest, err2 := interval.HypergeometricRest(x, 0, c.n, c.N, 0.95)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			for j, iv := range [2]interval.Interval{corpus, rest} {
				if share < iv.Lower || share > iv.Upper {
					wrong[j] += p
				}
			}
		}
		if wrong[1] > 0.05 {
			t.Errorf("%d of %d: the interval of the rest is wrong with probability %v", c.n, c.N, wrong[1])
		}
		rows = append(rows, []string{fmt.Sprint(c.N), fmt.Sprint(c.n), percent(wrong[0]), percent(wrong[1])})
	}
	return rows
}

// unevenDraw finds how often an end is on the wrong side of the share that agrees in a corpus of which hard items were
// drawn more often than easy ones, and shows each interval at the draw in the middle.
func unevenDraw(t *testing.T) [][]string {
	// 100 easy items, on all of which the model agrees, drawn with the chance 0.2; 40 hard ones, of which it agrees on half,
	// with the chance 0.8.
	const easy, hard, half, easyChance, hardChance = 100, 40, 20, 0.2, 0.8
	const truth = float64(easy+half) / (easy + hard)
	methods := []struct {
		name string
		of   func(a, b, c int) interval.Interval // of easy ones, hard ones that agree and hard ones that do not
	}{
		{"exact, as if all had one chance", func(a, b, c int) interval.Interval { return rate(t, interval.ClopperPearson, a+b, a+b+c) }},
		{"batches", func(a, b, c int) interval.Interval {
			corpus, _, err := interval.Batches([]interval.Batch{{Size: easy, Drawn: a, Events: a}, {Size: hard, Drawn: b + c, Events: b}}, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			return corpus
		}},
		{"weighted mixture", func(a, b, c int) interval.Interval {
			values := slices.Concat(repeat(1, a+b), repeat(0, c))
			weights := slices.Concat(repeat(1, a), repeat(easyChance/hardChance, b+c))
			iv, err := interval.WeightedMixture(values, slices.Clone(values), weights, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			return iv
		}},
	}
	rows := [][]string{{"interval", "above the truth", "below it", "at the draw in the middle"}}
	easyLaw, hardLaw := binomial(easy, easyChance), binomial(half, hardChance)
	for i, m := range methods {
		var above, below float64
		for a, x := range easyLaw {
			for c, z := range hardLaw {
				if x*z < 1e-7 {
					continue
				}
				// Both ends rise with the hard items that agree.
				from := leastAbove(t, half, func(b, _ int) float64 { return m.of(a, b, c).Lower }, func(lower float64) bool { return lower > truth })
				to := leastAbove(t, half, func(b, _ int) float64 { return m.of(a, b, c).Upper }, func(upper float64) bool { return upper >= truth })
				for b, y := range hardLaw {
					if b >= from {
						above += x * y * z
					}
					if b < to {
						below += x * y * z
					}
				}
			}
		}
		if i > 0 && (above > 0.025 || below > 0.025) {
			t.Errorf("%s: above the truth with probability %v, below with %v", m.name, above, below)
		}
		iv := m.of(20, 16, 16)
		rows = append(rows, []string{m.name, percent(above), percent(below),
			fmt.Sprintf("%.3f to %.3f", math.Floor(iv.Lower*1000)/1000, math.Ceil(iv.Upper*1000)/1000)})
	}
	if got := fmt.Sprintf("%.3f", truth); got != "0.857" { // the number in the text
		t.Errorf("the truth is %s", got)
	}
	return rows
}
