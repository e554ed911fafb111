package anchoring

import (
	"cmp"
	"slices"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// tippingSide is one of the two rates that a gap compares, as its missing labels can have come out: k agreeing of n labels that
// each count alike or, where n is 0, a mean over units.
type tippingSide struct {
	missing int
	k, n    int
	fill    gate.Fill
}

// filledSide is a side without a missing label.
type filledSide struct {
	k, n   int
	values []float64
}

// filled is the side with so many of its missing labels agreeing or, where agree is not set, with all the others agreeing. Of
// means it is two lists: one whose interval has an end at least as far out as those labels can bring it, and one whose
// interval's other end is no further in.
func (s tippingSide) filled(bad int, agree bool) (apart, even filledSide) {
	if s.n > 0 {
		x := filledSide{k: s.k + s.missing - bad, n: s.n}
		if agree {
			x.k = s.k + bad
		}
		return x, x
	}
	fill := s.fill.Lowered
	if agree {
		fill = s.fill.Raised
	}
	a, b := fill(bad)
	return filledSide{values: a}, filledSide{values: b}
}

// interval is the side's interval.
func (s filledSide) interval(j policy.Judging) (interval.Interval, error) {
	if s.n > 0 {
		return gate.Rate(s.k, 0, s.n, j)
	}
	iv, _, err := gate.Mean(s.values, s.values, interval.Unit, len(s.values), j)
	return iv, err
}

// tipGap is the tipping point of a rule on a gap of two sides with so many labels: a bad label disagrees where the suggestion was
// seen or agrees where it was not, for a maximum the reverse.
func tipGap(t report.Threshold, labels int, visible, blind tippingSide, gap func(visible, blind filledSide) (interval.Interval, error)) (*report.TippingPoint, error) {
	maximum := t.Kind == report.Maximum
	return gate.TipKinds(waysOf(anchoringGap, labels), []int{visible.missing, blind.missing}, t, func(bad []int) (report.Verdict, error) {
		visibleApart, visibleEven := visible.filled(bad[0], maximum)
		blindApart, blindEven := blind.filled(bad[1], !maximum)
		iv, err := gap(visibleApart, blindApart)
		if v := t.Compare(iv.Lower, iv.Upper); err != nil || v == report.Pass {
			return v, err
		}
		iv, err = gap(visibleEven, blindEven)
		if t.Compare(iv.Lower, iv.Upper) != report.Fail {
			return report.InsufficientEvidence, err
		}
		return report.Fail, err
	})
}

// tipBatches is the tipping point of a rule on a corpus in batches, of which interval is taken with so many agreeing in each.
func tipBatches(t report.Threshold, batches []interval.Batch, of func([]interval.Batch) (interval.Interval, error)) (*report.TippingPoint, error) {
	drawn := 0
	var kinds, places []int // of the batches in which a label is missing
	for i, b := range batches {
		drawn += b.Drawn
		if b.Missing > 0 {
			kinds, places = append(kinds, b.Missing), append(places, i)
		}
	}
	if kinds == nil {
		return nil, nil
	}
	return gate.TipKinds(waysOf(blindAgreement, drawn), kinds, t, func(bad []int) (report.Verdict, error) {
		filled := slices.Clone(batches)
		for i, place := range places {
			b := &filled[place]
			if t.Kind == report.Maximum {
				b.Events += bad[i]
			} else {
				b.Events += b.Missing - bad[i]
			}
			b.Missing = 0
		}
		iv, err := of(filled)
		return t.Compare(iv.Lower, iv.Upper), err
	})
}

// tipWeighted is the tipping point of a rule on a weighted agreement. The labels of the largest weights move both ends most: of an
// item of weight v, the factor with a disagreeing label over that with an agreeing one is (1 − θv)/(1 + θv(1/m − 1)), which
// falls with v for every θ and m.
func tipWeighted(t report.Threshold, low, high, weights []float64, confidence float64) (*report.TippingPoint, error) {
	var missing []int
	for i := range low {
		if low[i] < high[i] {
			missing = append(missing, i)
		}
	}
	slices.SortStableFunc(missing, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	at := func(bad int) (interval.Interval, error) {
		values := slices.Clone(low)
		for place, i := range missing {
			if (place < bad) == (t.Kind == report.Maximum) {
				values[i] = high[i]
			}
		}
		return interval.WeightedMixture(values, values, weights, confidence)
	}
	return gate.TipMeans(waysOf(blindAgreement, len(low)), len(missing), sameWeight(missing, weights), t, at, at)
}

// sameWeight reports that some items have one weight.
func sameWeight(items []int, weights []float64) bool {
	return !slices.ContainsFunc(items, func(i int) bool { return weights[i] != weights[items[0]] })
}
