package anchoring

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// mostBatches is how many unequal chances of a draw are taken as batches, each with a share of the error. They hold whether
// a batch had a floor or not; weights, for more, do not.
const mostBatches = 100

// drawnItems counts, of the items drawn blind, those whose one label agrees with the model, by the chance with which they
// were drawn. An item whose label is not recorded, has no suggestion, or is beside one that was given after a suggestion
// was seen, is missing.
type drawnItems struct {
	batches  map[rows.Decimal]tallied
	several  int // items with labels of several annotators
	undrawn  int // items labelled blind that the draw does not have as blind: left out
	drawnAll int
}

// drawnItems counts the items drawn blind: those of the draw, without one those with a blind label.
func (v *view) drawnItems() drawnItems {
	d := drawnItems{batches: map[rows.Decimal]tallied{}}
	type state struct {
		people, annotator int
		labels            int
		lost              bool
		entry             entry // the last one with a label of its own
	}
	items := map[int]*state{}
	for _, e := range v.blind {
		one := items[e.item]
		if one == nil {
			one = &state{annotator: -1}
			items[e.item] = one
		}
		if e.annotator != one.annotator {
			one.people, one.annotator = one.people+1, e.annotator
		}
		if e.lost {
			one.lost = true
		} else {
			one.labels, one.entry = one.labels+1, e
		}
	}
	for item := range v.items {
		one := items[item]
		if one == nil {
			continue
		}
		if v.draw != nil && !v.draw.items[v.items[item]].blind {
			d.undrawn++
			continue
		}
		if one.people > 1 || one.labels > 1 {
			d.several++
		}
		t := d.batches[v.chances[item]]
		recorded := one.people == 1 && one.labels == 1 && !one.lost && one.entry.suggestion.recorded && one.entry.label.recorded
		t.add(comparison{recorded: recorded, agrees: recorded && one.entry.label.value == one.entry.suggestion.value})
		d.batches[v.chances[item]] = t
		d.drawnAll++
	}
	for _, a := range v.absent {
		t := d.batches[a.chance.value]
		t.add(comparison{})
		d.batches[a.chance.value] = t
		d.drawnAll++
	}
	return d
}

// all adds up the batches.
func (d drawnItems) all() tallied {
	var all tallied
	for _, t := range d.batches {
		all = tallied{all.k + t.k, all.missing + t.missing, all.n + t.n}
	}
	return all
}

// doubt says why what was drawn has no interval over items; "" where it has one.
func (d drawnItems) doubt() gate.Doubt {
	if d.several > 0 {
		return gate.Doubtful(fmt.Sprintf("%s several blind labels, and the interval for a corpus needs one label an item.", gate.Plural(d.several, "item has", "items have")),
			"one blind label an item, or the rule without what makes it one on a corpus (corpus_size, or the draw's unequal probabilities)")
	}
	return gate.Doubt{}
}

// corpusRate measures blind agreement in a corpus of a known size, of which the blind items were drawn without replacement:
// of what rests of it after the draw, since that is what is handed over.
func (v *view) corpusRate(s sample, f form) (measured, error) {
	d := v.drawnItems()
	if d.several > 0 {
		m, err := v.rateOverItems(blindAgreement, s)
		m.undecided(d.doubt())
		return m, err
	}
	c := d.all()
	v = v.with(v.exactJudging())
	corpus, _, _, err := interval.Hypergeometric(c.k, c.missing, c.n, f.corpus, v.judging.Confidence.Value)
	if err != nil {
		return measured{}, fmt.Errorf("%s: %w", blindAgreement, err)
	}
	rest, err := interval.HypergeometricRest(c.k, c.missing, c.n, f.corpus, v.judging.Confidence.Value)
	if err != nil {
		return measured{}, fmt.Errorf("%s: %w", blindAgreement, err)
	}
	m := v.counted(blindAgreement, perItem, c, "items", s, corpus)
	m.ofCorpus(corpus, rest, f.corpus, c.n)
	m.LeftOut = append(m.LeftOut, gate.LeftOut(reasonNotDrawn, d.undrawn)...)
	m.add(v.speaksOf())
	m.need = func(t report.Threshold) *report.Needs { return v.corpusNeeds(c, f.corpus, t) }
	m.tip = func(t report.Threshold) (*report.TippingPoint, error) {
		one := []interval.Batch{{Size: f.corpus, Drawn: c.n, Events: c.k, Missing: c.missing}}
		return tipBatches(t, one, func(list []interval.Batch) (interval.Interval, error) {
			whole, rest, err := interval.Batches(list, v.judging.Confidence.Value)
			if c.n == f.corpus {
				rest = whole
			}
			return rest, err
		})
	}
	return m, nil
}

// corpusNeeds says how many items, drawn blind anew, would decide a rule on what rests of a corpus, at the present shares of
// agreeing and missing ones; where no number would, how large a corpus would have to be.
func (v *view) corpusNeeds(c tallied, size int, t report.Threshold) *report.Needs {
	if c.n == 0 {
		return &report.Needs{What: "items drawn blind"}
	}
	decides := func(how gate.Completion, n, size int) bool {
		k := scaled(c.k, c.n, n)
		low, high := gate.Complete(how, k, min(n, k+scaled(c.missing, c.n, n)))
		iv, err := interval.HypergeometricRest(low, high-low, n, size, v.judging.Confidence.Value)
		return err == nil && t.Compare(iv.Lower, iv.Upper) != report.InsufficientEvidence
	}
	s := gate.Sizing{
		Unit: "items", Now: c.n, Low: float64(c.k) / float64(c.n), High: float64(c.k+c.missing) / float64(c.n),
		Tell: func(n int) report.Needs { return report.Needs{What: "items in a new draw of blind ones", AtLeast: n} },
		Size: func(how gate.Completion) (int, bool) {
			for n := c.n; n < size; n += 1 + n/50 {
				if decides(how, n, size) {
					if rounded := gate.Rounded(n); n > c.n && rounded < size && decides(how, rounded, size) { // the more is drawn, the less rests to be told apart
						n = rounded
					}
					return n, true
				}
			}
			return 0, false
		},
	}
	s.None = func(how string) string {
		// Half of a corpus tells most of its other half, since the smaller of the two is what limits it.
		larger, found := smallest(size, interval.MostNeeded, func(size int) bool { return decides(gate.AsMissing, (size+1)/2, size) })
		if !found {
			return fmt.Sprintf("a corpus of more than %d items like these%s: of this one too little is left to be told apart, however many are labelled blind", interval.MostNeeded, how)
		}
		return fmt.Sprintf("a larger corpus, such as one of about %d items like these, half of them labelled blind%s: of this one too little is left to be told apart, however many are", gate.Rounded(larger), how)
	}
	return s.Needs(t)
}

// ofCorpus takes the interval for what rests of a corpus, and shows that of the whole corpus beside it.
func (m *measured) ofCorpus(corpus, rest interval.Interval, size, drawn int) {
	if drawn == size {
		m.Interval = report.PublishInterval(corpus)
		m.holds("Exact for the corpus, all of which was drawn: nothing rests of it.")
		return
	}
	m.Interval = report.PublishInterval(rest)
	m.holds(fmt.Sprintf("Exact for the %s of the corpus that were not drawn blind and are handed over, where the blind ones were drawn at random without replacement; at one look.",
		gate.Plural(size-drawn, "item", "items")))
	m.IntervalsBeside = []report.IntervalBeside{{Method: string(corpus.Method), Lower: corpus.Lower, Upper: corpus.Upper,
		Assumes: fmt.Sprintf("Of the whole corpus of %s, the %d drawn ones included.", gate.Plural(size, "item", "items"), drawn)}}
}

// unevenRate measures blind agreement where items were drawn with unequal chances: batch by batch, or weighted, else
// as if they were equal, for a person to decide.
func (v *view) unevenRate(s sample, f form) (measured, error) {
	var m measured
	var err error
	switch one := oneLabel(s.byItem()); {
	case one && v.draw != nil && !v.frame.unknown && len(v.frame.distinct) <= mostBatches && v.labels == nil:
		m, err = v.batchedRate(s, f)
	case one && v.weighable(s):
		m, err = v.weightedRate(s)
		if f.corpus > 0 && f.own {
			m.doubts.Undecided = gate.Doubtful("With items drawn by so many different probabilities the interval speaks of the whole corpus, not of what rests of it: leave corpus_size out.", "the rule without corpus_size")
		}
	default:
		m, err = v.rateOverItems(blindAgreement, s)
		m.unequalChances()
		return m, err
	}
	if m.doubts.Undecided.Why == "" && v.judging.Looks.Value != "" {
		m.doubts.Undecided = gate.Doubtful("Items drawn with unequal probabilities have an interval for one look only: leave looks out.", "the rule without looks")
	}
	return m, err
}

// batchedRate takes the items of one chance as a batch: within it the drawn ones are a simple random sample.
func (v *view) batchedRate(s sample, f form) (measured, error) {
	d := v.drawnItems()
	sizes := map[rows.Decimal]int{}
	for _, x := range v.draw.items {
		sizes[x.chance.value]++
	}
	var batches []interval.Batch
	estimate, low, high := gate.Fractions{}, 0, 0
	empty, partly := false, 0
	var units []gate.Part
	for _, c := range v.frame.distinct {
		t := d.batches[c]
		units = append(units, t.part(c.String()))
		if 0 < t.n && t.n < sizes[c] {
			partly++
		}
		batches = append(batches, interval.Batch{Size: sizes[c], Drawn: t.n, Events: t.k, Missing: t.missing})
		if t.recorded() > 0 {
			estimate.AddBig(new(big.Int).Mul(big.NewInt(int64(t.k)), big.NewInt(int64(sizes[c]))), t.recorded(), 1)
		} else {
			empty = true
		}
		low, high = low+t.k, high+t.k+t.missing
	}
	corpus, rest, err := interval.Batches(batches, v.judging.Confidence.Value)
	if err != nil {
		return measured{}, fmt.Errorf("%s: %w", blindAgreement, err)
	}
	c, size := d.all(), len(v.draw.items)
	m := v.counted(blindAgreement, perItem, c, "items", s, corpus)
	m.units = units
	m.holds(fmt.Sprintf("Exact for the corpus of %s in %d batches of one inclusion probability each; at one look.", gate.Plural(size, "item", "items"), len(batches)))
	if f.corpus > 0 {
		m.ofCorpus(corpus, rest, size, c.n)
	} else if c.n < size {
		m.IntervalsBeside = []report.IntervalBeside{{Method: string(rest.Method), Lower: rest.Lower, Upper: rest.Upper,
			Assumes: fmt.Sprintf("Of the %s that were not drawn.", gate.Plural(size-c.n, "item", "items"))}}
	}
	m.add(fmt.Sprintf("The batches of which a part was drawn (%d of %d) share the error.", partly, len(batches)))
	m.add(v.speaksOf())
	m.LeftOut = append(m.LeftOut, gate.LeftOut(reasonNotDrawn, d.undrawn)...)
	m.Completions, m.Estimate = v.batchCompletions(d, sizes, size), nil
	if !empty {
		m.Estimate = report.Number(estimate.Over(size))
	}
	m.undecided(d.doubt())
	of := func(list []interval.Batch) (interval.Interval, error) {
		corpus, rest, err := interval.Batches(list, v.judging.Confidence.Value)
		if f.corpus > 0 && c.n < size {
			corpus = rest
		}
		return corpus, err
	}
	m.need = weighedNeeds(m.Completions, func(c gate.Completion) (interval.Interval, error) {
		list := slices.Clone(batches)
		for i := range list {
			b := &list[i]
			b.Events, _ = gate.Complete(c, b.Events, b.Events+b.Missing)
			b.Missing = 0
		}
		return of(list)
	})
	m.tip = func(t report.Threshold) (*report.TippingPoint, error) { return tipBatches(t, batches, of) }
	return m, nil
}

// batchCompletions is the range of the estimate, each batch counting by its size; a batch of which nothing was drawn
// lies anywhere.
func (v *view) batchCompletions(d drawnItems, sizes map[rows.Decimal]int, size int) *report.Completions {
	var low, high gate.Fractions
	for _, c := range v.frame.distinct {
		t, n := d.batches[c], big.NewInt(int64(sizes[c]))
		if t.n == 0 {
			high.AddBig(n, 1, 1)
			continue
		}
		low.AddBig(new(big.Int).Mul(big.NewInt(int64(t.k)), n), t.n, 1)
		high.AddBig(new(big.Int).Mul(big.NewInt(int64(t.k+t.missing)), n), t.n, 1)
	}
	return &report.Completions{Low: low.Over(size), High: high.Over(size)}
}

// weighedNeeds says what would decide a rule on an agreement that weighs its items. at is its interval with all of what is missing
// recorded as c.
func weighedNeeds(c *report.Completions, at func(c gate.Completion) (interval.Interval, error)) func(report.Threshold) *report.Needs {
	return func(t report.Threshold) *report.Needs {
		const draw = "more items in a new draw, with one probability for all where that can be"
		if c == nil {
			return &report.Needs{What: draw}
		}
		// How many is not looked for: these, or more than these.
		const these, more = 1, 2
		return gate.Sizing{
			Unit: "items", Now: these, Low: c.Low, High: c.High,
			Size: func(c gate.Completion) (int, bool) {
				if c == gate.AsMissing {
					return more, true
				}
				iv, err := at(c)
				if err == nil && t.Compare(iv.Lower, iv.Upper) != report.InsufficientEvidence {
					return these, true
				}
				return more, err == nil
			},
			Tell: func(int) report.Needs { return report.Needs{What: draw} },
		}.Needs(t)
	}
}

// leastChance is the least chance of any item of the corpus: of the draw, else the one that the policy declares.
func (v *view) leastChance() (c rows.Decimal, known bool) {
	if v.draw != nil && !v.frame.unknown {
		return v.frame.distinct[0], true
	}
	if v.draw == nil && v.least.Set {
		c, _, err := rows.ParseDecimal(v.least.Text)
		return c, err == nil && c.Sign() > 0
	}
	return rows.Decimal{}, false
}

// weighable reports that every comparison can be weighed.
func (v *view) weighable(s sample) bool {
	if _, known := v.leastChance(); !known {
		return false
	}
	if v.frame.partly {
		return false // also where those without a chance are none that count, such as an item without a suggestion
	}
	if v.draw != nil && len(v.frame.distinct) <= mostBatches {
		return false // batches, which may have a floor: their items were not drawn independently
	}
	return !slices.ContainsFunc(s.list, func(c comparison) bool { return v.chances[c.item].Sign() == 0 })
}

// weightedRate measures blind agreement over a corpus whose items were drawn independently, each with a chance of its own.
func (v *view) weightedRate(s sample) (measured, error) {
	least, _ := v.leastChance()
	var low, high, weights []float64
	var sums [2]weighing // of what is recorded, of all
	chances := map[rows.Decimal]*tallied{}
	add := func(chance rows.Decimal, c comparison) {
		if chances[chance] == nil {
			chances[chance] = &tallied{}
		}
		chances[chance].add(c)
		x, y := 0.0, 1.0
		if c.recorded {
			if c.agrees {
				x = 1
			}
			y = x
			sums[0].add(chance, c)
		}
		sums[1].add(chance, c)
		low, high, weights = append(low, x), append(high, y), append(weights, min(1, least.Float64()/chance.Float64()))
	}
	for _, c := range s.list {
		add(v.chances[c.item], c)
	}
	for _, a := range v.absent {
		add(a.chance.value, comparison{})
	}
	iv, err := interval.WeightedMixture(low, high, weights, v.judging.Confidence.Value)
	if err != nil {
		return measured{}, fmt.Errorf("%s: %w", blindAgreement, err)
	}
	m := v.counted(blindAgreement, perItem, s.all(), "items", s, iv)
	m.units = nil
	for _, c := range slices.SortedFunc(maps.Keys(chances), rows.Decimal.Cmp) {
		m.units = append(m.units, chances[c].part(c.String()))
	}
	m.holds(fmt.Sprintf("Holds for the corpus, at one look, where each item was drawn blind independently of the others, by no floor, with the inclusion probability that is recorded, at least %s.", least), v.speaksOf())
	m.Estimate, m.Completions = nil, nil
	if sums[0].total.Sign() > 0 {
		m.Estimate = report.Number(sums[0].share(&sums[0].agree))
	}
	if sums[1].total.Sign() > 0 {
		m.Completions = &report.Completions{Low: sums[1].share(&sums[1].agree), High: sums[1].share(new(big.Int).Add(&sums[1].agree, &sums[1].missing))}
	}
	m.need = weighedNeeds(m.Completions, func(c gate.Completion) (interval.Interval, error) {
		one, other := gate.Complete(c, low, high)
		return interval.WeightedMixture(one, other, weights, v.judging.Confidence.Value)
	})
	m.tip = func(t report.Threshold) (*report.TippingPoint, error) {
		return tipWeighted(t, low, high, weights, v.judging.Confidence.Value)
	}
	return m, nil
}

// weighing adds up items by 1/chance, exactly to 54 decimals.
type weighing struct{ agree, missing, total big.Int }

// unitChance is 10^72: divided by a chance in units of 10^-18 it gives 1/chance in units of 10^-54.
var unitChance = new(big.Int).Exp(big.NewInt(10), big.NewInt(72), nil)

// add adds an item.
func (w *weighing) add(chance rows.Decimal, c comparison) {
	x := new(big.Int).Quo(unitChance, chance.Big())
	w.total.Add(&w.total, x)
	switch {
	case !c.recorded:
		w.missing.Add(&w.missing, x)
	case c.agrees:
		w.agree.Add(&w.agree, x)
	}
}

// share is part over the total, rounded once.
func (w *weighing) share(part *big.Int) float64 {
	x, _ := new(big.Rat).SetFrac(part, &w.total).Float64()
	return x
}
