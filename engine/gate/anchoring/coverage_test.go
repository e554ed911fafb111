package anchoring

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// side is the error that each side of an interval is allowed at 95 %.
const side = 0.025

// exceeds reports whether k of n is more than an error of a by over three standard errors of the simulation: a sound interval
// does so once in 740 cells.
func exceeds(k, n int, a float64) bool {
	return float64(k)/float64(n) > a+3*math.Sqrt(a*(1-a)/float64(n))
}

// simulated is a study written straight into a tally.
type simulated struct{ *Tally }

func simulate() simulated { return simulated{newTally(nil)} }

// add adds a row: the suggestion is "a".
func (s simulated) add(item, annotator int, agrees, shown bool) {
	r := row{item: s.items.number(fmt.Sprint("i", item)), annotator: s.annotators.number(fmt.Sprint("p", annotator)),
		suggestion: text{"a", true}, label: text{"b", true}, shown: shown}
	if agrees {
		r.label.value = "a"
	}
	s.rows = append(s.rows, r)
}

// view is the study's, at 95 %.
func (s simulated) view(t *testing.T, d *draw) *view {
	t.Helper()
	diags := &diag.List{}
	v := newStudy(s.Tally, d, false, diags).whole(policy.Judging{}.WithDefaults(), policy.Number{})
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return v
}

// bounds measures a metric and returns its ends.
func (v *view) bounds(t *testing.T, metric string, f form) (lower, upper float64, m measured) {
	t.Helper()
	m, err := v.metric(metric, f)
	if err != nil {
		t.Fatal(err)
	}
	return *m.Interval.Lower, *m.Interval.Upper, m
}

// TestBadModelsAreSeldomCertified: a model whose blind agreement is just below the threshold passes no more often than the
// interval's side allows: at 20, 50 and 200 blind items, with one and with eight annotators, drawn with and without
// replacement. Without replacement the corpus is fixed, four times the sample, and what is certified is its rest.
func TestBadModelsAreSeldomCertified(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and nothing in it runs side by side")
	}
	rng := rand.New(rand.NewPCG(20261129, 5))
	const runs, threshold = 2000, 0.8
	for _, n := range []int{20, 50, 200} {
		for _, annotators := range []int{1, 8} {
			of := func(item int) int { return item % annotators }
			// With replacement: items are drawn from a population on which these annotators, as assigned, agree with the model in
			// just under four of five; each has a rate of their own around it.
			passed := 0
			for range runs {
				s := simulate()
				for i := range n {
					rate := threshold - 1e-9 + 0.15*(float64(of(i))/float64(max(1, annotators-1))-0.5)
					if annotators == 1 {
						rate = threshold - 1e-9
					}
					s.add(i, of(i), rng.Float64() < rate, false)
				}
				if lower, _, _ := s.view(t, nil).bounds(t, blindAgreement, form{per: perItem}); lower >= threshold {
					passed++
				}
			}
			t.Logf("n = %d, %d annotators, with replacement: %d of %d certified", n, annotators, passed, runs)
			if exceeds(passed, runs, side) {
				t.Errorf("n = %d, %d annotators, with replacement: %d of %d bad models certified", n, annotators, passed, runs)
			}

			size := 4 * n
			agree := size*4/5 - 1
			passed, wrong := 0, 0
			for range runs {
				s, in := simulate(), 0
				for place, item := range rng.Perm(size)[:n] { // the first `agree` items are those of agreement
					s.add(item, of(place), item < agree, false)
					if item < agree {
						in++
					}
				}
				lower, upper, m := s.view(t, nil).bounds(t, blindAgreement, form{per: perItem, corpus: size})
				if m.Interval.Method != interval.MethodHypergeometric {
					t.Fatalf("method %s", m.Interval.Method)
				}
				rest := float64(agree-in) / float64(size-n)
				if lower > rest || upper < rest {
					wrong++
				}
				if lower >= threshold && rest < threshold {
					passed++
				}
			}
			t.Logf("n = %d, %d annotators, without replacement: %d of %d certified, %d intervals miss the rest", n, annotators, passed, runs, wrong)
			if exceeds(passed, runs, side) || exceeds(wrong, runs, 2*side) {
				t.Errorf("n = %d, %d annotators, without replacement: %d of %d bad models certified, %d intervals wrong", n, annotators, passed, runs, wrong)
			}
		}
	}
}

// TestEightPeopleOfManySeldomCertify: per person the rule speaks of people like these: eight drawn from people of whom just
// under half always agree and the others hardly ever. The lower end reaches .53 at the most, so the threshold is .5.
func TestEightPeopleOfManySeldomCertify(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and nothing in it runs side by side")
	}
	rng := rand.New(rand.NewPCG(20261129, 6))
	const runs, threshold = 1500, 0.5
	for _, always := range []float64{0.45, 0.48} {
		for _, n := range []int{20, 200} {
			rest := (threshold - always) / (1 - always) * 0.98 // so that the mean over people is just under the threshold
			passed := 0
			for range runs {
				s := simulate()
				for p := range 8 {
					rate := rest
					if rng.Float64() < always {
						rate = 1
					}
					for i := range n / 8 {
						s.add(p*n+i, p, rng.Float64() < rate, false)
					}
				}
				if lower, _, _ := s.view(t, nil).bounds(t, blindAgreement, form{per: perPerson}); lower >= threshold {
					passed++
				}
			}
			t.Logf("%v always agree, n = %d: %d of %d certified", always, n, passed, runs)
			if exceeds(passed, runs, side) {
				t.Errorf("%v always agree, n = %d: %d of %d certified", always, n, passed, runs)
			}
		}
	}
}

// TestPeekingDoesNotCertify is the audit's counterexample 7a: of 100 blind items 40 are hard; on those people and model agree
// in 40 %, on the others in 95 %, and the annotator peeks at 60 % of the hard ones and then takes the suggestion. With
// the peeked rows dropped the lower end is above the true blind agreement far too often (.44 in the audit's design);
// counted as missing it hardly ever is.
func TestPeekingDoesNotCertify(t *testing.T) {
	rng := rand.New(rand.NewPCG(20261129, 7))
	const runs, n, hard, easy = 4000, 100, 0.4, 0.95
	const truth = 0.4*hard + 0.6*easy // of an item drawn at random, had nobody peeked
	dropped, ours := 0, 0
	for range runs {
		s, kept, agreeing := simulate(), 0, 0
		for i := range n {
			isHard := rng.Float64() < 0.4
			rate := easy
			if isHard {
				rate = hard
			}
			if isHard && rng.Float64() < 0.6 {
				s.add(i, 0, true, true)
				s.add(i, 0, true, false) // marked blind all the same
				continue
			}
			agrees := rng.Float64() < rate
			s.add(i, 0, agrees, false)
			kept++
			if agrees {
				agreeing++
			}
		}
		naive, err := interval.ClopperPearson(agreeing, 0, kept, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if naive.Lower > truth {
			dropped++
		}
		if lower, _, _ := s.view(t, nil).bounds(t, blindAgreement, form{}); lower > truth {
			ours++
		}
	}
	t.Logf("of %d studies the lower end is above the truth in %d with peeked rows dropped, in %d with them missing", runs, dropped, ours)
	if float64(dropped)/runs < 0.2 {
		t.Errorf("dropping peeked rows is wrong in %d of %d only: no counterexample", dropped, runs)
	}
	if float64(ours)/runs > 0.005 {
		t.Errorf("counting them as missing is wrong in %d of %d", ours, runs)
	}
}

// TestSeveralLabelsAnItem: items of which each has several labels are the units, however the labels of one item hang
// together; pairs of people and items taken as independent would be wrong far too often (audit of the intervals, 7e).
func TestSeveralLabelsAnItem(t *testing.T) {
	rng := rand.New(rand.NewPCG(20261129, 8))
	const runs, items, people = 1500, 40, 4
	const truth = 0.7 // .6 of the items are agreed on by all, .2 by none and .2 by half: .6 + .2·.5
	wrong, naive, peopleWrong, minusWrong := 0, 0, 0, 0
	for range runs {
		s, k := simulate(), 0
		for i := range items {
			u, rate := rng.Float64(), 0.5
			switch {
			case u < 0.6:
				rate = 1
			case u < 0.8:
				rate = 0
			}
			for p := range people {
				agrees := rng.Float64() < rate
				if agrees {
					k++
				}
				s.add(i, p, agrees, false)
			}
		}
		v := s.view(t, nil)
		if lower, upper, _ := v.bounds(t, blindAgreement, form{per: perItem}); lower > truth || upper < truth {
			wrong++
		}
		iv, err := interval.ClopperPearson(k, 0, items*people, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if iv.Lower > truth || iv.Upper < truth {
			naive++
		}
		// Pairs agree always where the rate is 0 or 1 (the other label is always "b"), else half of the time: .8 + .2·.5.
		if lower, upper, _ := v.bounds(t, peopleAgreement, form{}); lower > 0.9 || upper < 0.9 {
			peopleWrong++
		}
		if lower, upper, _ := v.bounds(t, modelMinusPeople, form{}); lower > truth-0.9 || upper < truth-0.9 {
			minusWrong++
		}
	}
	t.Logf("of %d: %d wrong over items, %d over labels; people %d, model minus people %d", runs, wrong, naive, peopleWrong, minusWrong)
	if exceeds(wrong, runs, 2*side) || exceeds(peopleWrong, runs, 2*side) || exceeds(minusWrong, runs, 2*side) {
		t.Errorf("wrong over items %d, people %d, model minus people %d of %d", wrong, peopleWrong, minusWrong, runs)
	}
	if !exceeds(naive, runs, 2*side) {
		t.Errorf("labels taken as independent are wrong in %d of %d only: the design tests nothing", naive, runs)
	}
}

// decimalOf reads a decimal.
func decimalOf(t *testing.T, text string) rows.Decimal {
	t.Helper()
	d, _, err := rows.ParseDecimal(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestUnequalChancesHoldTheirError: items on which the model is right are drawn less often. The weighted interval, and the
// batches of a draw with a floor, hold the corpus's agreement; the plain interval, which is for a person to decide, does not.
func TestUnequalChancesHoldTheirError(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and nothing in it runs side by side")
	}
	rng := rand.New(rand.NewPCG(20261129, 9))
	const runs, size = 1000, 400
	chances := make([]rows.Decimal, 12*9) // more than are taken as batches
	for i := range chances {
		chances[i] = decimalOf(t, fmt.Sprintf("0.%04d", 1500+600*(i%12)+5*(i/12)))
	}
	agrees := make([]bool, size)
	k := 0
	for i := range agrees { // the higher the chance, the less agreement: 11/12 to 0
		agrees[i] = rng.IntN(12) > i%12
		if agrees[i] {
			k++
		}
	}
	truth := float64(k) / size
	weighed, plain := 0, 0
	for range runs {
		s, d := simulate(), &draw{items: map[string]drawn{}}
		for i := range size {
			c := chances[i%len(chances)]
			blind := rng.Float64() < c.Float64()
			d.items[fmt.Sprint("i", i)] = drawn{blind: blind, chance: chance{value: c}}
			if blind {
				s.add(i, 0, agrees[i], false)
			}
		}
		v := s.view(t, d)
		lower, upper, m := v.bounds(t, blindAgreement, form{})
		if m.Interval.Method != interval.MethodWeightedMixture {
			t.Fatalf("method %s", m.Interval.Method)
		}
		if lower > truth || upper < truth {
			weighed++
		}
		p, err := v.rateOverItems(blindAgreement, v.blindSample())
		if err != nil {
			t.Fatal(err)
		}
		if *p.Interval.Lower > truth || *p.Interval.Upper < truth {
			plain++
		}
	}
	t.Logf("weighted: %d of %d wrong; unweighted %d", weighed, runs, plain)
	if exceeds(weighed, runs, 2*side) || !exceeds(plain, runs, 2*side) {
		t.Errorf("weighted: %d of %d wrong; unweighted %d", weighed, runs, plain)
	}

	// A first batch of 50 items at a rate of .2 with a floor of 20, and 350 later ones at .2: the first is easier.
	first, later := decimalOf(t, "0.4"), decimalOf(t, "0.2") // E[max(Bin(50, .2), 20)]/50 = .40 (audit of the intervals, 7f)
	k = 0
	for i := range agrees {
		agrees[i] = i < 48 || i >= 50 && i%3 > 0
		if agrees[i] {
			k++
		}
	}
	truth = float64(k) / size
	batched, rest := 0, 0
	plain = 0
	for range runs {
		s, d := simulate(), &draw{items: map[string]drawn{}}
		blind := map[int]bool{}
		order := rng.Perm(50)
		count := 0
		for range 50 {
			if rng.Float64() < 0.2 {
				count++
			}
		}
		for _, i := range order[:max(20, count)] {
			blind[i] = true
		}
		for i := 50; i < size; i++ {
			blind[i] = rng.Float64() < 0.2
		}
		left, n := 0, 0
		for i := range size {
			c := later
			if i < 50 {
				c = first
			}
			d.items[fmt.Sprint("i", i)] = drawn{blind: blind[i], chance: chance{value: c}}
			if blind[i] {
				n++
				s.add(i, 0, agrees[i], false)
			} else if agrees[i] {
				left++
			}
		}
		v := s.view(t, d)
		lower, upper, m := v.bounds(t, blindAgreement, form{})
		if m.Interval.Method != interval.MethodHypergeometric {
			t.Fatalf("method %s", m.Interval.Method)
		}
		if lower > truth || upper < truth {
			batched++
		}
		lower, upper, _ = v.bounds(t, blindAgreement, form{corpus: size})
		if share := float64(left) / float64(size-n); lower > share || upper < share {
			rest++
		}
		p, err := v.rateOverItems(blindAgreement, v.blindSample())
		if err != nil {
			t.Fatal(err)
		}
		if *p.Interval.Lower > truth || *p.Interval.Upper < truth {
			plain++
		}
	}
	t.Logf("batches: %d of %d wrong of the corpus, %d of the rest; as one %d", batched, runs, rest, plain)
	if exceeds(batched, runs, 2*side) || exceeds(rest, runs, 2*side) {
		t.Errorf("batches: %d of %d wrong of the corpus, %d of the rest", batched, runs, rest)
	}
}

// TestGapHoldsItsError: a rule on the gap passes or fails wrongly no more often than its sides allow, with one annotator
// on both sides of each item or on other items, directly or from two intervals, and with eight.
func TestGapHoldsItsError(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and nothing in it runs side by side")
	}
	rng := rand.New(rand.NewPCG(20261129, 10))
	const runs, gap = 1500, 0.3
	for _, c := range []struct {
		name       string
		annotators int
		same       bool // each item is labelled blind and then visible
		form       form
	}{
		{"one annotator, the same items", 1, true, form{}},
		{"one annotator, other items", 1, false, form{}},
		{"one annotator, directly", 1, false, form{pairwise: true}},
		{"eight annotators, per person", 8, true, form{}},
	} {
		above, below := 0, 0
		for range runs {
			s := simulate()
			for p := range c.annotators {
				for i := range 40 {
					item := 100*p + i
					u := rng.Float64()
					s.add(item, p, u < 0.5, false)
					if !c.same {
						item, u = item+50, rng.Float64()
					}
					s.add(item, p, u < 0.5+gap, true)
				}
			}
			lower, upper, m := s.view(t, nil).bounds(t, anchoringGap, c.form)
			if m.doubts != (gate.Doubts{}) {
				t.Fatalf("%s: %+v", c.name, m.doubts)
			}
			if lower > gap {
				above++
			}
			if upper < gap {
				below++
			}
		}
		t.Logf("%s: lower end above the truth in %d of %d, upper end below in %d", c.name, above, runs, below)
		if exceeds(above, runs, side) || exceeds(below, runs, side) {
			t.Errorf("%s: lower end above the truth in %d of %d, upper end below in %d", c.name, above, runs, below)
		}
	}
}

// BenchmarkAnswer decides a policy of four rules on 100,000 labels of 20,000 items by 20 people, reading included.
func BenchmarkAnswer(b *testing.B) {
	rng := rand.New(rand.NewPCG(20261129, 11))
	list := make([]record, 100_000)
	for i := range list {
		list[i] = record{item: fmt.Sprint("item-", i%20_000), annotator: fmt.Sprint("annotator-", i/20_000*4+i%4), suggestion: "positive", label: "positive", visibility: "visible"}
		if i%5 == 0 {
			list[i].visibility = "blind"
		}
		if rng.Float64() < 0.15 {
			list[i].label = "negative"
		}
	}
	r := run{verb: gate.Decide, labels: written(list), policy: "rules: [{id: b, metric: blind_agreement, minimum: 0.5}, {id: i, metric: blind_agreement, minimum: 0.5, per: item}, {id: g, metric: anchoring_gap, maximum: 0.5}, {id: p, metric: people_agreement, minimum: 0.1}]"}
	b.ResetTimer()
	for range b.N {
		a, err := try(r)
		if err != nil {
			b.Fatal(err)
		}
		if a.Gate.Rules[0].Verdict == report.NoVerdict {
			b.Fatal("no verdict")
		}
	}
}
