package interval

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// mustBatches returns intervals that cannot fail.
func mustBatches(t interface {
	Helper()
	Fatal(...any)
}, batches []Batch, confidence float64) (corpus, rest Interval) {
	t.Helper()
	corpus, rest, err := Batches(batches, confidence)
	if err != nil {
		t.Fatal(err)
	}
	return corpus, rest
}

// TestBatchesSpot: 95 of 100 drawn from 500 (audited: corpus .894 to .980, rest .880 to .988), and what is known by hand.
func TestBatchesSpot(t *testing.T) {
	for _, c := range []struct {
		name         string
		batches      []Batch
		corpus, rest [2]float64
	}{
		// The corpus's ends are 447 and 490 items, so the rest's are 352 and 395 of 400.
		{"audited", []Batch{{500, 100, 95, 0}}, [2]float64{.894, .98}, [2]float64{.88, .9875}},
		{"nothing", nil, [2]float64{0, 1}, [2]float64{0, 1}},
		{"an empty batch", []Batch{{0, 0, 0, 0}}, [2]float64{0, 1}, [2]float64{0, 1}},
		{"nothing drawn", []Batch{{7, 0, 0, 0}}, [2]float64{0, 1}, [2]float64{0, 1}},
		{"all drawn", []Batch{{20, 20, 13, 0}}, [2]float64{.65, .65}, [2]float64{0, 1}},
		{"all drawn, two missing", []Batch{{20, 20, 13, 2}}, [2]float64{.65, .75}, [2]float64{0, 1}},
		// 13 of 20 are known, and 447 + 13 of 520 at least: a batch drawn as a whole takes no part of the error.
		{"all drawn of one", []Batch{{20, 20, 13, 0}, {500, 100, 95, 0}}, [2]float64{.8846153846, .9673076924}, [2]float64{.88, .9875}},
		{"nothing drawn of one", []Batch{{500, 100, 95, 0}, {500, 0, 0, 0}}, [2]float64{.447, .99}, [2]float64{352. / 900, .9944444445}},
	} {
		corpus, rest := mustBatches(t, c.batches, 0.95)
		near(t, c.name+", corpus's lower end", corpus.Lower, c.corpus[0], 1e-10)
		near(t, c.name+", corpus's upper end", corpus.Upper, c.corpus[1], 1e-10)
		near(t, c.name+", rest's lower end", rest.Lower, c.rest[0], 1e-10)
		near(t, c.name+", rest's upper end", rest.Upper, c.rest[1], 1e-10)
		for _, i := range []Interval{corpus, rest} {
			if i.Confidence != 0.95 || i.Method != MethodHypergeometric || i.Looks != LooksOne {
				t.Errorf("%s: %v", c.name, i)
			}
		}
	}
}

// exactLowest is the smallest M with P(X >= x | M) > a by its definition, in whole numbers: N choose n ways to draw.
func exactLowest(x, n, N int, a *big.Rat) int {
	choose := func(n, k int) *big.Int { return new(big.Int).Binomial(int64(n), int64(k)) }
	for M := x; ; M++ {
		ways := new(big.Int)
		for j := x; j <= min(n, M); j++ {
			if n-j <= N-M {
				ways.Add(ways, new(big.Int).Mul(choose(M, j), choose(N-M, n-j)))
			}
		}
		if new(big.Rat).SetFrac(ways, choose(N, n)).Cmp(a) > 0 {
			return M
		}
	}
}

// TestBatchesByDefinition compares with the definition in whole numbers.
func TestBatchesByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batches := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Batch {
			size := rapid.IntRange(0, 40).Draw(t, "size")
			drawn := rapid.IntRange(0, size).Draw(t, "drawn")
			events := rapid.IntRange(0, drawn).Draw(t, "events")
			return Batch{size, drawn, events, rapid.IntRange(0, min(3, drawn-events)).Draw(t, "missing")}
		}), 1, 4).Draw(t, "batches")
		partly := 0
		for _, b := range batches {
			if b.Drawn > 0 && b.Drawn < b.Size {
				partly++
			}
		}
		a := big.NewRat(25, 1000)
		a.Quo(a, big.NewRat(int64(max(partly, 1)), 1))
		// A tail of exactly a, such as 1/40 at 1 drawn of 40, may be taken either way.
		slightly := big.NewRat(1, 1e12)
		less := new(big.Rat).Sub(a, slightly)
		more := new(big.Rat).Add(a, slightly)
		var items, drawn, events, possible int
		var lowest, highest [2]int // at less and at more
		for _, b := range batches {
			items, drawn = items+b.Size, drawn+b.Drawn
			events, possible = events+b.Events, possible+b.Events+b.Missing
			for i, a := range []*big.Rat{less, more} {
				lowest[i] += exactLowest(b.Events, b.Drawn, b.Size, a)
				highest[i] += b.Size - exactLowest(b.Drawn-b.Events-b.Missing, b.Drawn, b.Size, a)
			}
		}
		share := func(k, n int, nothing float64) float64 {
			if n == 0 {
				return nothing
			}
			return float64(k) / float64(n)
		}
		corpus, rest := mustBatches(t, batches, 0.95)
		for _, c := range []struct {
			name       string
			got        float64
			wide, want float64 // outward, and inward
		}{
			{"corpus's lower end", corpus.Lower, share(lowest[0], items, 0), share(lowest[1], items, 0)},
			{"corpus's upper end", -corpus.Upper, -share(highest[0], items, 1), -share(highest[1], items, 1)},
			{"rest's lower end", rest.Lower, share(lowest[0]-events, items-drawn, 0), share(lowest[1]-events, items-drawn, 0)},
			{"rest's upper end", -rest.Upper, -share(highest[0]-possible, items-drawn, 1), -share(highest[1]-possible, items-drawn, 1)},
		} {
			if c.got < c.wide-1e-9 || c.got > c.want {
				t.Fatalf("%v: %s is %v, want %v", batches, c.name, math.Abs(c.got), math.Abs(c.want))
			}
		}
	})
}

// TestBatchesOfOne: a corpus of a single batch is Hypergeometric's, to the last byte.
func TestBatchesOfOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		N := rapid.IntRange(1, 100_000).Draw(t, "N")
		n := rapid.IntRange(0, N).Draw(t, "n")
		x := rapid.IntRange(0, n).Draw(t, "x")
		missing := rapid.IntRange(0, n-x).Draw(t, "missing")
		confidence := rapid.SampledFrom([]float64{0.5, 0.9, 0.95, 0.999}).Draw(t, "confidence")
		want, mLo, mHi, err := Hypergeometric(x, missing, n, N, confidence)
		if err != nil {
			t.Fatal(err)
		}
		corpus, rest := mustBatches(t, []Batch{{N, n, x, missing}}, confidence)
		if corpus != want {
			t.Fatalf("%v, want %v", corpus, want)
		}
		alone, err := HypergeometricRest(x, missing, n, N, confidence)
		if err != nil || alone != rest {
			t.Fatalf("%v, %v, want %v", alone, err, rest)
		}
		if n < N {
			if lower := float64(mLo-x) / float64(N-n); rest.Lower > lower || rest.Lower < lower-1e-9 {
				t.Fatalf("rest's lower end %v, want %v", rest.Lower, lower)
			}
			if upper := float64(mHi-x-missing) / float64(N-n); rest.Upper < upper || rest.Upper > upper+1e-9 {
				t.Fatalf("rest's upper end %v, want %v", rest.Upper, upper)
			}
		}
	})
}

// TestRestMayCountTheEvents: one event more raises mLo by one item or more, so the rest's fewest events are those at the
// fewest events drawn: every corpus up to 40 items. By coupling: of M items with the property instead of M − 1, at most
// one more is drawn, so P(X >= x − 1 | M − 1) >= P(X >= x | M).
func TestRestMayCountTheEvents(t *testing.T) {
	most, equal, more := 40, 0, 0
	if testing.Short() {
		most = 15
	}
	for _, a := range []float64{0.25, 0.05, 0.025, 0.0125, 0.0005} {
		for N := 1; N <= most; N++ {
			for n := 1; n <= N; n++ {
				before := smallestCorpus(0, n, N, a)
				if before != 0 {
					t.Fatalf("no event of %d drawn from %d: at least %d items", n, N, before)
				}
				for x := 1; x <= n; x++ {
					now := smallestCorpus(x, n, N, a)
					switch {
					case now < before+1 || now > N:
						t.Fatalf("a = %v, %d drawn from %d: at least %d items with %d events, %d with %d", a, n, N, before, x-1, now, x)
					case now == before+1:
						equal++
					default:
						more++
					}
					before = now
				}
			}
		}
	}
	if equal == 0 || more == 0 {
		t.Errorf("%d and %d steps: one of the two cases is not seen", equal, more)
	}
}

// hypergeometricLaw returns P(X = x), x = 0…n, for n drawn from N of which M have the property, in whole numbers.
func hypergeometricLaw(M, n, N int) []float64 {
	law, all := make([]float64, n+1), new(big.Float).SetInt(new(big.Int).Binomial(int64(N), int64(n)))
	for x := max(0, n+M-N); x <= min(n, M); x++ {
		ways := new(big.Int).Binomial(int64(M), int64(x))
		ways.Mul(ways, new(big.Int).Binomial(int64(N-M), int64(n-x)))
		law[x], _ = new(big.Float).Quo(new(big.Float).SetInt(ways), all).Float64()
	}
	return law
}

// TestBatchesErrors enumerates the exact error on small corpora of two batches: the first drawn at a rate with a floor,
// the second, added later, at the rate alone. Neither the corpus's interval nor the rest's is wrong with more than a on
// a side, whatever the batches hold; the drawn items taken together, as if all had the same chance, are.
func TestBatchesErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("exact laws in whole numbers, slow under emulation; goldens check the arithmetic there")
	}
	worst, worstPooled := 0.0, 0.0
	for _, c := range []struct {
		first, floor, second int
		rate, confidence     float64
	}{
		{8, 4, 8, 0.2, 0.5}, {6, 6, 12, 0.3, 0.5}, {10, 5, 20, 0.25, 0.8}, {12, 6, 30, 0.2, 0.5}, {5, 0, 9, 0.4, 0.5}, {12, 6, 14, 0.5, 0.95},
	} {
		a := (1 - c.confidence) / 2
		numberLaw := func(size, floor int) []float64 {
			law := make([]float64, size+1)
			for k, p := range binomialLaw(size, c.rate) {
				law[max(k, floor)] += p
			}
			return law
		}
		items := c.first + c.second
		// The ends for every outcome, computed once: corpus and rest as items, from their proportions.
		type outcome struct{ lower, upper, restLower, restUpper, pooledLower, pooledUpper float64 }
		known := map[[4]int]outcome{}
		at := func(n1, x1, n2, x2 int) outcome {
			key := [4]int{n1, x1, n2, x2}
			if o, ok := known[key]; ok {
				return o
			}
			corpus, rest := mustBatches(t, []Batch{{c.first, n1, x1, 0}, {c.second, n2, x2, 0}}, c.confidence)
			pooled, _, _, err := Hypergeometric(x1+x2, 0, n1+n2, items, c.confidence)
			if err != nil {
				t.Fatal(err)
			}
			known[key] = outcome{corpus.Lower, corpus.Upper, rest.Lower, rest.Upper, pooled.Lower, pooled.Upper}
			return known[key]
		}
		law1, law2 := numberLaw(c.first, c.floor), numberLaw(c.second, 0)
		for M1 := range c.first + 1 {
			for M2 := range c.second + 1 {
				truth := float64(M1+M2) / float64(items)
				var above, below, restAbove, restBelow, pooledAbove, pooledBelow float64
				for n1, p1 := range law1 {
					if p1 == 0 {
						continue
					}
					inFirst := hypergeometricLaw(M1, n1, c.first)
					for n2, p2 := range law2 {
						inSecond := hypergeometricLaw(M2, n2, c.second)
						for x1, q1 := range inFirst {
							for x2, q2 := range inSecond {
								p := p1 * p2 * q1 * q2
								if p == 0 {
									continue
								}
								o := at(n1, x1, n2, x2)
								restTruth := math.NaN() // where nothing rests: neither above nor below
								if left := items - n1 - n2; left > 0 {
									restTruth = float64(M1+M2-x1-x2) / float64(left)
								}
								for _, side := range []struct {
									wrong bool
									error *float64
								}{
									{o.lower > truth, &above}, {o.upper < truth, &below},
									{o.restLower > restTruth, &restAbove}, {o.restUpper < restTruth, &restBelow},
									{o.pooledLower > truth, &pooledAbove}, {o.pooledUpper < truth, &pooledBelow},
								} {
									if side.wrong {
										*side.error += p
									}
								}
							}
						}
					}
				}
				if wrong := max(above, below, restAbove, restBelow); wrong > a*(1+1e-12) {
					t.Fatalf("%v with %d and %d: errors %v, %v, of the rest %v, %v; allowed %v", c, M1, M2, above, below, restAbove, restBelow, a)
				}
				worst = max(worst, above/a, below/a)
				worstPooled = max(worstPooled, pooledAbove/a, pooledBelow/a)
			}
		}
	}
	t.Logf("worst error %.3f of the allowed, pooled %.3f", worst, worstPooled)
	if worst < 0.4 || worstPooled < 1.5 {
		t.Errorf("worst error %v of the allowed, pooled %v: the corpora no longer bite", worst, worstPooled)
	}
}

// TestBatchesProperties: the intervals hold what was drawn, mirror, do not depend on the order of batches, only widen
// where a result is missing, and are nested in the confidence.
func TestBatchesProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batches := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Batch {
			size := rapid.IntRange(1, 300).Draw(t, "size")
			drawn := rapid.IntRange(0, size).Draw(t, "drawn")
			events := rapid.IntRange(0, drawn).Draw(t, "events")
			return Batch{size, drawn, events, rapid.IntRange(0, drawn-events).Draw(t, "missing")}
		}), 1, 5).Draw(t, "batches")
		confidence := rapid.SampledFrom([]float64{0.5, 0.9, 0.95, 0.999}).Draw(t, "confidence")
		corpus, rest := mustBatches(t, batches, confidence)
		within := func(inner, outer Interval) bool { return outer.Lower <= inner.Lower && inner.Upper <= outer.Upper }
		for _, i := range []Interval{corpus, rest} {
			if !(0 <= i.Lower && i.Lower <= i.Upper && i.Upper <= 1) {
				t.Fatalf("%v: %v", batches, i)
			}
		}

		mirrored, reversed := make([]Batch, len(batches)), make([]Batch, len(batches))
		for i, b := range batches {
			mirrored[i] = Batch{b.Size, b.Drawn, b.Drawn - b.Events - b.Missing, b.Missing}
			reversed[len(batches)-1-i] = b
		}
		otherCorpus, otherRest := mustBatches(t, mirrored, confidence)
		for _, pair := range [][2]Interval{{corpus, otherCorpus}, {rest, otherRest}} {
			if math.Abs(pair[0].Lower-(1-pair[1].Upper)) > 2e-10 || math.Abs(pair[0].Upper-(1-pair[1].Lower)) > 2e-10 {
				t.Fatalf("%v mirrors to %v", pair[0], pair[1])
			}
		}
		if c, r := mustBatches(t, reversed, confidence); c != corpus || r != rest {
			t.Fatalf("in another order %v, %v, not %v, %v", c, r, corpus, rest)
		}
		if c, r := mustBatches(t, batches, confidence+(1-confidence)/3); !within(corpus, c) || !within(rest, r) {
			t.Fatalf("at more confidence %v, %v, not around %v, %v", c, r, corpus, rest)
		}
		for i, b := range batches {
			if b.Missing == 0 {
				continue
			}
			for _, recorded := range []Batch{{b.Size, b.Drawn, b.Events, b.Missing - 1}, {b.Size, b.Drawn, b.Events + 1, b.Missing - 1}} {
				batches[i] = recorded
				if c, r := mustBatches(t, batches, confidence); !within(c, corpus) || !within(r, rest) {
					t.Fatalf("with batch %d %v: %v, %v, not within %v, %v", i, recorded, c, r, corpus, rest)
				}
			}
			batches[i] = b
		}
	})
}

func TestBatchesRefused(t *testing.T) {
	for name, c := range map[string]struct {
		batches    []Batch
		confidence float64
		want       string
	}{
		"confidence":        {nil, 1, "confidence is 1; it must be at least 0.5 and below 1"},
		"confidence NaN":    {nil, math.NaN(), "confidence is NaN"},
		"negative":          {[]Batch{{9, 3, -1, 0}}, 0.95, "batch 1: the counts are -1 events"},
		"negative drawn":    {[]Batch{{9, -3, 0, 0}}, 0.95, "batch 1: the denominator is -3"},
		"negative size":     {[]Batch{{-9, 0, 0, 0}}, 0.95, "batch 1 has -9 items; it must have at least the 0 drawn"},
		"events":            {[]Batch{{9, 3, 2, 1}, {9, 3, 2, 2}}, 0.95, "batch 2: 2 events and 2 missing exceed the denominator 3"},
		"size":              {[]Batch{{9, 3, 2, 1}, {2, 3, 2, 1}}, 0.95, "batch 2 has 2 items; it must have at least the 3 drawn"},
		"together too many": {[]Batch{{maxCount, 3, 2, 1}, {3, 3, 2, 1}}, 0.95, "all batches at most 1000000000000"},
		"one too many":      {[]Batch{{math.MaxInt, 3, 2, 1}}, 0.95, "all batches at most 1000000000000"},
	} {
		corpus, rest, err := Batches(c.batches, c.confidence)
		if err == nil || !strings.Contains(err.Error(), c.want) || corpus != (Interval{}) || rest != (Interval{}) {
			t.Errorf("%s: %v, %v, error %q, want one with %q", name, corpus, rest, err, c.want)
		}
	}
	if i, err := HypergeometricRest(3, 0, 2, 9, 0.95); err == nil || i != (Interval{}) {
		t.Errorf("3 events of 2 drawn were taken: %v", i)
	}
}
