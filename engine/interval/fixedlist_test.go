package interval

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// poissonBinomial returns P(K = k) for k = 0…n, K the number of events among independent ones of these chances.
func poissonBinomial(chances []float64) []float64 {
	law := []float64{1}
	for _, p := range chances {
		next := make([]float64, len(law)+1)
		for k, q := range law {
			next[k] += q * (1 - p)
			next[k+1] += q * p
		}
		law = next
	}
	return law
}

// sideErrors returns the exact probabilities that an interval for the mean chance lies above it and below it.
func sideErrors(chances []float64, at func(k int) Interval) (above, below float64) {
	mean := 0.0
	for _, p := range chances {
		mean += p / float64(len(chances))
	}
	for k, q := range poissonBinomial(chances) {
		iv := at(k)
		if iv.Lower > mean {
			above += q
		}
		if iv.Upper < mean {
			below += q
		}
	}
	return above, below
}

// intervalsOf lists the interval for each k of n.
func intervalsOf(t *testing.T, n int, confidence float64, method func(k, missing, n int, confidence float64) (Interval, error)) func(int) Interval {
	t.Helper()
	list := make([]Interval, n+1)
	for k := range list {
		var err error
		if list[k], err = method(k, 0, n, confidence); err != nil {
			t.Fatal(err)
		}
	}
	return func(k int) Interval { return list[k] }
}

// TestFixedListErrs enumerates the exact error on every list of up to six chances from a grid, and on lists
// scaled so that their mean lies just below each lower end, where the error is largest.
func TestFixedListErrs(t *testing.T) {
	grid := []float64{0, 0.002, 0.01, 0.025, 0.1, 0.3, 0.5, 0.7, 0.9, 0.975, 0.99, 0.998, 1}
	for _, confidence := range []float64{0.5, 0.9, 0.95, 0.99} {
		a, worst := (1-confidence)/2, 0.0
		for n := 1; n <= 6; n++ {
			at := intervalsOf(t, n, confidence, FixedListRate)
			check := func(chances []float64) {
				above, below := sideErrors(chances, at)
				if worst = max(worst, above, below); worst > a*(1+1e-12) {
					t.Fatalf("confidence %v, chances %v: errors %v above and %v below, allowed %v", confidence, chances, above, below, a)
				}
			}
			chances := make([]float64, n)
			var walk func(i, from int)
			walk = func(i, from int) {
				if i == n {
					check(chances)
					for k := 1; k <= n; k++ {
						check(scaledTo(chances, at(k).Lower))
					}
					return
				}
				for j := from; j < len(grid); j++ { // only the set of chances matters
					chances[i] = grid[j]
					walk(i+1, j)
				}
			}
			walk(0, 0)
		}
		t.Logf("confidence %v: worst error of a side %.6f, allowed %.6f", confidence, worst, a)
		if worst < 0.9*a {
			t.Errorf("confidence %v: the worst error found is %v; the lists no longer come near %v", confidence, worst, a)
		}
	}
}

// scaledTo scales chances so that their mean is just below m, as far as a chance of 1 allows.
func scaledTo(chances []float64, m float64) []float64 {
	mean := 0.0
	for _, p := range chances {
		mean += p / float64(len(chances))
	}
	scaled := make([]float64, len(chances))
	for i, p := range chances {
		if mean > 0 {
			scaled[i] = min(1, p/mean*m*(1-1e-12))
		}
	}
	return scaled
}

// TestFixedListNeedsItsEnds is the counterexample that the two changed ends are for: all events come from one case of
// ten, whose chance is just under ten times the Clopper-Pearson end of one event. Its error is
// n·(1 − (1−a)^(1/n)) = .02528 at n = 10 and a = .025, above .025; with a/n it is at most .025.
func TestFixedListNeedsItsEnds(t *testing.T) {
	const n, a = 10, 0.025
	uncorrected := n * (1 - math.Pow(1-a, 1./n))
	for _, c := range []struct {
		name   string
		method func(k, missing, n int, confidence float64) (Interval, error)
		want   float64
	}{{"Clopper-Pearson", ClopperPearson, uncorrected}, {"fixed list", FixedListRate, a}} {
		at := intervalsOf(t, n, 1-2*a, c.method)
		chances := make([]float64, n)
		chances[0] = n * at(1).Lower * (1 - 1e-6) // further below than rounding reaches
		mirrored := make([]float64, n)
		for i := range mirrored {
			mirrored[i] = 1 - chances[i]
		}
		above, _ := sideErrors(chances, at)
		_, below := sideErrors(mirrored, at)
		if math.Abs(above-c.want) > 1e-7 || math.Abs(below-c.want) > 1e-7 {
			t.Errorf("%s: errors %.6f above and %.6f below, want %.6f", c.name, above, below, c.want)
		}
	}
	if uncorrected < 0.0252 {
		t.Errorf("%v: the counterexample no longer bites", uncorrected)
	}
}

// TestFixedListIsClopperPearsonButForTwoEnds: the ends at one event and at one result that is none are a/n and
// 1 − a/n; all others are those of the binomial interval.
func TestFixedListIsClopperPearsonButForTwoEnds(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8, 40, 1640} {
		for _, k := range []int{0, 1, 2, n / 2, n - 2, n - 1, n} {
			if k < 0 || k > n {
				continue
			}
			got, err := FixedListRate(k, 0, n, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			want, err := ClopperPearson(k, 0, n, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			if k == 1 {
				want.Lower = rateLower(0.025 / float64(n))
			}
			if n-k == 1 {
				want.Upper = rateUpper(1 - 0.025/float64(n))
			}
			if math.Abs(got.Lower-want.Lower) > 1e-11 || math.Abs(got.Upper-want.Upper) > 1e-11 || got.Method != want.Method || got.Looks != want.Looks {
				t.Errorf("%d of %d: %v, want %v", k, n, got, want)
			}
		}
	}
	if iv, err := FixedListRate(0, 0, 0, 0.95); err != nil || iv.Lower != 0 || iv.Upper != 1 {
		t.Errorf("0 of 0: %v, %v; want the whole scale", iv, err)
	}
	for _, c := range [][3]int{{2, 0, 1}, {1, 1, 1}, {-1, 0, 3}, {0, -1, 3}, {0, 0, -1}} {
		if _, err := FixedListRate(c[0], c[1], c[2], 0.95); err == nil {
			t.Errorf("%v was taken", c)
		}
		if _, err := FixedListDifference(c[0], c[1], c[2], 0.95); err == nil {
			t.Errorf("%v was taken for a difference", c)
		}
	}
	if _, err := FixedListRate(1, 0, 2, 0.4); err == nil {
		t.Error("a confidence of 0.4 was taken")
	}
}

// TestFixedListWidths: the published widths of the pooled interval of a difference at realistic spread (audited table:
// .455 at 8 cases × 5 trials, .232 at 30 × 5, .200 at 50 × 4, .098 at 164 × 5); the widest, at a difference of 0, is
// no narrower and at most a tenth wider.
func TestFixedListWidths(t *testing.T) {
	for _, c := range []struct {
		cases, trials int
		want          float64
	}{{8, 5, .455}, {30, 5, .232}, {50, 4, .200}, {164, 5, .098}} {
		n := 2 * c.cases * c.trials
		iv, err := FixedListDifference(n/2, 0, n, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if w := iv.Width(); w < c.want-0.001 || w > 1.1*c.want {
			t.Errorf("%d × %d: width %.4f, want about %.3f", c.cases, c.trials, w, c.want)
		}
	}
}

// TestFixedListProperties: the difference is 2q − 1, mirrors when the versions swap, rises with every event,
// and a recorded result in place of a missing one never widens it.
func TestFixedListProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		missing := rapid.IntRange(0, n-k).Draw(t, "missing")
		confidence := rapid.SampledFrom([]float64{0.5, 0.9, 0.95, 0.999}).Draw(t, "confidence")
		at := func(k, missing int) (rate, difference Interval) {
			rate, err := FixedListRate(k, missing, n, confidence)
			if err != nil {
				t.Fatal(err)
			}
			difference, err = FixedListDifference(k, missing, n, confidence)
			if err != nil {
				t.Fatal(err)
			}
			return rate, difference
		}
		rate, difference := at(k, missing)
		if math.Abs(2*rate.Lower-1-difference.Lower) > 3e-10 || math.Abs(2*rate.Upper-1-difference.Upper) > 3e-10 {
			t.Fatalf("rate %v, difference %v", rate, difference)
		}
		if difference.Lower < -1 || difference.Upper > 1 || difference.Lower > 2*float64(k)/float64(n)-1 || difference.Upper < 2*float64(k+missing)/float64(n)-1 {
			t.Fatalf("difference %v does not hold %d to %d of %d", difference, k, k+missing, n)
		}
		if _, mirrored := at(n-k-missing, missing); mirrored.Lower != -difference.Upper || mirrored.Upper != -difference.Lower {
			t.Fatalf("%v mirrors to %v", difference, mirrored)
		}
		if missing > 0 {
			for _, recorded := range []int{k, k + 1} {
				if _, known := at(recorded, missing-1); known.Lower < difference.Lower || known.Upper > difference.Upper {
					t.Fatalf("a result known: %v, missing: %v", known, difference)
				}
			}
		}
	})
}
