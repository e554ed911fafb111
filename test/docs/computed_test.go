package docs

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/interval"
)

// computed are the tables of the documents that follow a comment <!-- computed: NAME -->. None of their numbers is
// copied from anywhere: each comes from engine/interval and exact probabilities.
var computed = map[string]func(*testing.T) [][]string{
	"examples":        examples,
	"widths":          widths,
	"needed":          needed,
	"reach":           reach,
	"no failure":      noFailure,
	"small laws":      smallLaws,
	"repeated people": repeatedPeople,
	"left out":        leftOut,
	"fresh people":    freshPeople,
	"peeking":         peeking,
	"growing file":    growingFile,
	"different means": differentMeans,
	"pairing":         pairing,
	"median":          medians,
	"same agent":      sameAgent,
	"reruns":          reruns,
	"sign power":      signPower,
	"not worse":       notWorse,
	"fixed widths":    fixedWidths,
	"fixed ends":      fixedEnds,
	"exceeding":       exceeding,
	"pass estimates":  passEstimates,
	"two errors":      twoErrors,
	"sign looks":      signLooks,
	"many rules":      manyRules,

	"gap errors":          gapErrors,
	"gap at threshold":    gapAtThreshold,
	"gap ends":            gapEnds,
	"overlapping":         overlapping,
	"gap needed":          gapNeeded,
	"floor needed":        floorNeeded,
	"ratio needed":        ratioNeeded,
	"bootstrap":           bootstrap,
	"lost attribute":      lostAttribute,
	"missing predictions": missingPredictions,
	"calibration noise":   calibrationNoise,

	"blind reach":     blindReach,
	"blind needed":    blindNeeded,
	"blind power":     blindPower,
	"peeked":          peeked,
	"corpus power":    corpusPower,
	"gap widths":      gapWidths,
	"corpus ends":     corpusEnds,
	"corpus for rest": corpusForRest,
	"uneven draw":     unevenDraw,
}

// TestComputed computes every table again.
func TestComputed(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and nothing in it runs side by side")
	}
	tables := map[string][]string{} // by name, once computed
	for _, d := range documents(t) {
		for i := len(d.lines) - 1; i >= 0; i-- { // from the end, so that a table's new length moves no other
			name, found := strings.CutPrefix(d.lines[i], "<!-- computed: ")
			if !found {
				continue
			}
			name = strings.TrimSuffix(name, " -->")
			compute, found := computed[name]
			if !found {
				t.Errorf("%s:%d: nothing computes %q", d.path, i+1, name)
				continue
			}
			from := i + 2 // after an empty line
			to := from
			for to < len(d.lines) && strings.HasPrefix(d.lines[to], "|") {
				to++
			}
			want := tables[name]
			if want == nil { // a table may stand in two documents
				want = markdown(compute(t))
				tables[name] = want
			}
			if diff := cmp.Diff(d.lines[from:to], want); diff == "" {
				continue
			} else if !*update {
				t.Errorf("%s:%d: rewrite with go test ./test/docs -update, and read the difference (-shown +computed):\n%s", d.path, i+1, diff)
			}
			d.lines = slices.Replace(d.lines, from, to, want...)
		}
		if *update {
			d.write(t)
		}
	}
	for name := range computed {
		if tables[name] == nil {
			t.Errorf("no document shows the computed table %q", name)
		}
	}
}

// markdown writes rows, the first of them the header, as a table.
func markdown(rows [][]string) []string {
	var lines []string
	for i, r := range rows {
		lines = append(lines, "| "+strings.Join(r, " | ")+" |")
		if i == 0 {
			lines = append(lines, strings.Repeat("| --- ", len(r))+"|")
		}
	}
	return lines
}

// methods are the three intervals for means, in the order of the tables.
var methods = []interval.MeanMethod{interval.UniformMixture, interval.Dirichlet, interval.SymPol}

// mean computes one of them for values that are all recorded, at 95 %.
func mean(t *testing.T, method interval.MeanMethod, values []float64, scale interval.Scale) interval.Interval {
	t.Helper()
	iv, err := method(slices.Clone(values), slices.Clone(values), scale, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

// rate computes the exact interval, or the sequence, of k of n at 95 %.
func rate(t *testing.T, method func(k, missing, n int, confidence float64) (interval.Interval, error), k, n int) interval.Interval {
	t.Helper()
	iv, err := method(k, 0, n, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

// repeat lists n times x.
func repeat(x float64, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = x
	}
	return list
}

// binomial returns P(Bin(n, p) = k) for k = 0 … n.
func binomial(n int, p float64) []float64 {
	list := []float64{1}
	for range n {
		next := make([]float64, len(list)+1)
		for k, x := range list {
			next[k] += x * (1 - p)
			next[k+1] += x * p
		}
		list = next
	}
	return list
}

// percent writes a probability.
func percent(p float64) string {
	if p < 0.0005 {
		return fmt.Sprintf("%.2f %%", 100*p)
	}
	return fmt.Sprintf("%.1f %%", 100*p)
}

// examples shows what the three methods give on samples that can be checked by hand.
func examples(t *testing.T) [][]string {
	rows := [][]string{{"gains", "mean", "uniform mixture", "Dirichlet", "SymPol"}}
	for _, e := range []struct {
		name   string
		values []float64
	}{
		{"six people: 2, 1, 0, 3, −2, 4 fifteenths", []float64{2. / 15, 1. / 15, 0, 3. / 15, -2. / 15, 4. / 15}},
		{"ten people: 8 × 0.1, 2 × −0.4", append(repeat(0.1, 8), repeat(-0.4, 2)...)},
		{"ten people: 10 × 0.1", repeat(0.1, 10)},
		{"twenty people: 18 × 1, 2 × −1", append(repeat(1, 18), repeat(-1, 2)...)},
	} {
		sum := 0.0
		for _, x := range e.values {
			sum += x
		}
		average := math.Round(1000*sum/float64(len(e.values)))/1000 + 0 // + 0 takes the sign off a zero
		row := []string{e.name, fmt.Sprintf("%+.3f", average)}
		for _, m := range methods {
			iv := mean(t, m, e.values, interval.Difference)
			row = append(row, fmt.Sprintf("%+.3f to %+.3f", math.Floor(iv.Lower*1000)/1000, math.Ceil(iv.Upper*1000)/1000))
		}
		rows = append(rows, row)
	}
	return rows
}

// mixedGains are n gains, half of them g + spread and half g − spread.
func mixedGains(n int, g, spread float64) []float64 {
	return append(repeat(g+spread, n/2), repeat(g-spread, n/2)...)
}

// widths shows how wide the intervals are by the number of people.
func widths(t *testing.T) [][]string {
	rows := [][]string{{"people", "uniform mixture", "Dirichlet", "SymPol"}}
	for _, n := range []int{4, 6, 10, 20, 40, 100, 400} {
		row := []string{fmt.Sprint(n)}
		for _, m := range methods {
			row = append(row, fmt.Sprintf("%.2f", mean(t, m, mixedGains(n, 0.1, 0.15), interval.Difference).Width()))
		}
		rows = append(rows, row)
	}
	return rows
}

// needed shows from how many people on the lower end is above 0.
func needed(t *testing.T) [][]string {
	rows := [][]string{{"mean gain", "uniform mixture", "Dirichlet", "SymPol"}}
	for _, g := range []float64{0.05, 0.1, 0.2, 0.3} {
		row := []string{fmt.Sprintf("%.2f", g)}
		for _, m := range methods {
			n := 2
			for mean(t, m, mixedGains(n, g, 0.15), interval.Difference).Lower < 0 {
				n += 2
			}
			row = append(row, fmt.Sprint(n))
		}
		rows = append(rows, row)
	}
	return rows
}

// reach shows how far the lower end can get when every person's own rate is 1.
func reach(t *testing.T) [][]string {
	rows := [][]string{{"people", "uniform mixture", "Dirichlet (planned)"}}
	for _, n := range []int{4, 8, 12, 20, 40, 100} {
		row := []string{fmt.Sprint(n)}
		for _, m := range methods[:2] {
			row = append(row, fmt.Sprintf("%.3f", math.Floor(mean(t, m, repeat(1, n), interval.Unit).Lower*1000)/1000))
		}
		rows = append(rows, row)
	}
	return rows
}

// noFailure shows how many independent decisions, all of them right, a minimum needs.
func noFailure(t *testing.T) [][]string {
	rows := [][]string{{"minimum", "decisions without one failure"}}
	for _, minimum := range []float64{0.8, 0.9, 0.95, 0.99} {
		n := 1
		for rate(t, interval.ClopperPearson, n, n).Lower < minimum {
			n++
		}
		rows = append(rows, []string{fmt.Sprint(minimum), fmt.Sprint(n)})
	}
	return rows
}

// smallLaws finds, by exact enumeration of what n units can show, how often the lower end is above the
// true mean: the worst over a grid of laws on {0, v, 1}.
func smallLaws(t *testing.T) [][]string {
	rows := [][]string{{"units", "uniform mixture", "Dirichlet", "SymPol"}}
	for _, n := range []int{2, 3, 4, 6} {
		worst := make([]float64, len(methods))
		for _, v := range []float64{0.1, 0.25, 0.5, 0.75, 0.9} {
			type outcome struct {
				ways         float64 // multinomial coefficient
				middle, ones int
				lower        []float64
			}
			var outcomes []outcome
			for ones := range n + 1 {
				for middle := range n - ones + 1 {
					o := outcome{middle: middle, ones: ones, ways: choose(n, ones) * choose(n-ones, middle)}
					values := slices.Concat(repeat(0, n-ones-middle), repeat(v, middle), repeat(1, ones))
					for _, m := range methods {
						o.lower = append(o.lower, mean(t, m, values, interval.Unit).Lower)
					}
					outcomes = append(outcomes, o)
				}
			}
			const steps = 200
			for i := range steps + 1 {
				for j := range steps - i + 1 {
					p1, pv := float64(i)/steps, float64(j)/steps
					truth := p1 + float64(v*pv)
					wrong := make([]float64, len(methods))
					for _, o := range outcomes {
						p := o.ways * math.Pow(p1, float64(o.ones)) * math.Pow(pv, float64(o.middle)) * math.Pow(max(0, 1-p1-pv), float64(n-o.ones-o.middle))
						for m := range methods {
							if o.lower[m] > truth {
								wrong[m] += p
							}
						}
					}
					for m := range methods {
						worst[m] = max(worst[m], wrong[m])
					}
				}
			}
		}
		row := []string{fmt.Sprint(n)}
		for m, w := range worst {
			if w > 0.025+1e-12 {
				t.Errorf("method %d with %d units is wrong with probability %v, more than 0.025", m, n, w)
			}
			row = append(row, fmt.Sprintf("%.2f %%", 100*w))
		}
		rows = append(rows, row)
	}
	return rows
}

// choose is the binomial coefficient.
func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return c
}

// repeatedPeople finds how often an interval that takes 8 people's 15 decisions each for 120 independent ones
// covers the people's mean rate, when each person's own rate is 0.7 − d or 0.7 + d, as likely the one as the other.
func repeatedPeople(t *testing.T) [][]string {
	const people, each, truth = 8, 15, 0.7
	covers := make([]bool, people*each+1)
	for k := range covers {
		iv := rate(t, interval.ClopperPearson, k, people*each)
		covers[k] = iv.Lower <= truth && truth <= iv.Upper
	}
	rows := [][]string{{"people's own rates", "covers the truth"}}
	for _, d := range []float64{0, 0.1, 0.2, 0.3} {
		covered := 0.0
		for high, p := range binomial(people, 0.5) {
			a, b := binomial(each*high, truth+d), binomial(each*(people-high), truth-d)
			for i, x := range a {
				for j, y := range b {
					if covers[i+j] {
						covered += p * x * y
					}
				}
			}
		}
		name := fmt.Sprintf("%.1f or %.1f", truth-d, truth+d)
		if d == 0 {
			name = "0.7 for everyone"
		}
		rows = append(rows, []string{name, percent(covered)})
	}
	return rows
}

// leftOut finds how often `minimum: 0` passes on accuracy_difference although the output does harm: 60 % of the
// people gain 0.15 and 40 % lose 0.30, and nine in ten of the losers stop before their arm with the output.
// Without it, everyone's accuracy is 0.5, so that a missing arm with it puts the gain between −0.5 and 0.5.
func leftOut(t *testing.T) [][]string {
	rows := [][]string{{"people enrolled", "PASS, those who stopped left out", "PASS, the missing arm counted both ways"}}
	const winners, losers, stopped = 0.6, 0.04, 0.36
	for _, n := range []int{40, 70, 100} {
		var without, completed float64
		for w, pw := range binomial(n, winners) {
			for l, pl := range binomial(n-w, losers/(losers+stopped)) {
				p := pw * pl
				if p < 1e-9 { // all together they are below 1e-4
					continue
				}
				kept := append(repeat(0.15, w), repeat(-0.3, l)...)
				if mean(t, interval.UniformMixture, kept, interval.Difference).Lower >= 0 {
					without += p
				}
				if mean(t, interval.UniformMixture, append(kept, repeat(-0.5, n-w-l)...), interval.Difference).Lower >= 0 {
					completed += p
				}
			}
		}
		rows = append(rows, []string{fmt.Sprint(n), percent(without), percent(completed)})
	}
	return rows
}

// freshPeople finds how often some look excludes the truth from below when the older people's values have settled at
// the true mean 1/80 and each look brings one new person with a single decision, right with probability 1/80.
func freshPeople(t *testing.T) [][]string {
	const p = 1. / 80
	settled := repeat(p, 40)
	if mean(t, interval.UniformMixture, append(settled, 1), interval.Unit).Lower <= p {
		t.Error("a fresh person with a right decision no longer excludes the truth")
	}
	if mean(t, interval.UniformMixture, append(settled, 0), interval.Unit).Lower > p {
		t.Error("a fresh person with a wrong decision excludes the truth")
	}
	rows := [][]string{{"looks", "some look excludes the truth"}}
	for _, looks := range []int{1, 10, 40, 80, 200, 400} {
		rows = append(rows, []string{fmt.Sprint(looks), percent(1 - math.Pow(1-p, float64(looks)))})
	}
	return rows
}

// everAbove returns the probability that at some look (a number of independent decisions with rate p) the number of
// events is at least what the look asks for.
func everAbove(p float64, looks []int, least func(n int) int) float64 {
	stopAt := map[int]int{}
	for _, n := range looks {
		stopAt[n] = least(n)
	}
	alive, crossed := []float64{1}, 0.0
	for n := 1; n <= looks[len(looks)-1]; n++ {
		next := make([]float64, n+1)
		for k, x := range alive {
			next[k] += x * (1 - p)
			next[k+1] += x * p
		}
		if k, found := stopAt[n]; found {
			for ; k <= n; k++ {
				crossed += next[k]
				next[k] = 0
			}
		}
		alive = next
	}
	return crossed
}

// leastAbove returns the least k of n for which the lower end meets the condition, n + 1 where none does.
func leastAbove(t *testing.T, n int, lower func(k, n int) float64, wanted func(lower float64) bool) int {
	t.Helper()
	low, high := -1, n+1
	for high-low > 1 {
		k := (low + high) / 2
		if wanted(lower(k, n)) {
			high = k
		} else {
			low = k
		}
	}
	return high
}

// peeking finds how often the lower end is above the truth at some look, for a coin looked at whenever three more
// throws are in, up to 150: the interval for a planned number (on 0/1 values Dirichlet is Clopper-Pearson) and
// the sequence.
func peeking(t *testing.T) [][]string {
	var looks []int
	for n := 3; n <= 150; n += 3 {
		looks = append(looks, n)
	}
	wrong := func(lower float64) bool { return lower > 0.5 }
	exact := func(k, n int) float64 { return rate(t, interval.ClopperPearson, k, n).Lower }
	sequence := func(k, n int) float64 { return rate(t, interval.RateSequence, k, n).Lower }
	rows := [][]string{{"interval", "wrong at the last look", "wrong at some look"}}
	for _, m := range []struct {
		name  string
		lower func(k, n int) float64
	}{{"Dirichlet at each number, without a plan", exact}, {"uniform mixture", sequence}} {
		least := func(n int) int { return leastAbove(t, n, m.lower, wrong) }
		rows = append(rows, []string{m.name, percent(everAbove(0.5, looks[len(looks)-1:], least)), percent(everAbove(0.5, looks, least))})
	}
	return rows
}

// growingFile finds how often `minimum: 0.8` passes at some look although the rate is 0.7999, when the file grows
// by half from 50 as long as the rule is undecided.
func growingFile(t *testing.T) [][]string {
	pass := func(lower float64) bool { return lower >= 0.8 }
	exact := func(k, n int) float64 { return rate(t, interval.ClopperPearson, k, n).Lower }
	sequence := func(k, n int) float64 { return rate(t, interval.RateSequence, k, n).Lower }
	rows := [][]string{{"looks", "decisions in the end", "Clopper-Pearson", "`looks: repeated`"}}
	for _, looks := range []int{1, 2, 3, 5, 8} {
		sizes := []int{50}
		for len(sizes) < looks {
			last := sizes[len(sizes)-1]
			sizes = append(sizes, last+last/2)
		}
		row := []string{fmt.Sprint(looks), fmt.Sprint(sizes[looks-1])}
		for _, lower := range []func(k, n int) float64{exact, sequence} {
			row = append(row, percent(everAbove(0.7999, sizes, func(n int) int { return leastAbove(t, n, lower, pass) })))
		}
		rows = append(rows, row)
	}
	return rows
}

// differentMeans finds how often the lower end is above the average mean of n units of which one is 1 with a
// probability just below n times that end, and the others are always 0.
func differentMeans(t *testing.T) [][]string {
	rows := [][]string{{"units", "uniform mixture", "Dirichlet"}}
	for _, n := range []int{2, 10, 100} {
		row := []string{fmt.Sprint(n)}
		for _, m := range methods[:2] {
			one := append(repeat(0, n-1), 1)
			row = append(row, fmt.Sprintf("%.3f %%", 100*float64(n)*mean(t, m, one, interval.Unit).Lower))
		}
		rows = append(rows, row)
	}
	return rows
}

// medians finds how often the interval covers the median when each person always takes the same time: the one
// over all decisions, and the one over people.
func medians(t *testing.T) [][]string {
	rows := [][]string{{"people × decisions", "over all decisions", "over people's own medians"}}
	for _, study := range []struct{ people, each int }{{8, 15}, {20, 15}, {50, 30}} {
		row := []string{fmt.Sprintf("%d × %d", study.people, study.each)}
		for _, each := range []int{study.each, 1} {
			var ranks []float64 // a time is as good as its rank among people
			for i := range study.people {
				ranks = append(ranks, repeat(float64(i+1), each)...)
			}
			iv, err := interval.Median(ranks, ranks, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			covered := 0.0
			for below, p := range binomial(study.people, 0.5) { // of the people, those below the true median
				if iv.Lower <= float64(below) && float64(below) < iv.Upper {
					covered += p
				}
			}
			row = append(row, percent(covered))
		}
		rows = append(rows, row)
	}
	return rows
}
