package interval

import "fmt"

// Batch is a part of a corpus with a draw of its own: of its Size items, Drawn were drawn, every set of that many as
// likely as any other. Events of the drawn ones have the property and Missing were not recorded.
type Batch struct{ Size, Drawn, Events, Missing int }

// Batches returns the intervals for the proportion of items that have a property in a corpus made of batches, and in
// the rest of it: the items not drawn, which are what is handed over after the check of the drawn ones.
//
// Each batch has the ends mLo and mHi of Hypergeometric, counts of its items, at the error a/B on each side, where
// a = (1 − confidence)/2 and B is the number of batches of which a part was drawn: a batch drawn as a whole is known, and
// one of which nothing was drawn is bounded by its size alone, both without error. All ends together hold with the
// errors added up, so with N items in all, n of them drawn, x events and m missing,
//
//	corpus: Σ mLo / N             to  Σ mHi / N
//	rest:   (Σ mLo − x)/(N − n)   to  (Σ mHi − x − m)/(N − n)
//
// each rounded outward to 10 significant digits, and [0, 1] where it has no items. The number drawn may be random, and
// may depend on a floor, as long as given that number every set of a batch's items is as likely. One look.
//
// The rest may subtract the events counted although some are missing: one event more raises mLo by one item or more,
// so mLo − x is lowest at the fewest events there can be, and likewise for mHi.
//
// It is an error for a batch's counts to be negative, for its events and missing ones to exceed the drawn or the drawn
// its size, for the corpus to exceed 10¹² items, or for confidence to be outside [0.5, 1).
func Batches(batches []Batch, confidence float64) (corpus, rest Interval, err error) {
	if err := checkConfidence(confidence); err != nil {
		return Interval{}, Interval{}, err
	}
	items, drawn, partly := 0, 0, 0
	for i, b := range batches {
		if err := checkCounts(b.Events, b.Missing, b.Drawn); err != nil {
			return Interval{}, Interval{}, fmt.Errorf("batch %d: %w", i+1, err)
		}
		if b.Size < b.Drawn || b.Size > maxCount-items {
			return Interval{}, Interval{}, fmt.Errorf("batch %d has %d items; it must have at least the %d drawn, and all batches at most %d", i+1, b.Size, b.Drawn, maxCount)
		}
		items += b.Size
		drawn += b.Drawn
		if b.Drawn > 0 && b.Drawn < b.Size {
			partly++
		}
	}
	a := sideError(confidence) / float64(max(partly, 1))
	fewest, most := 0, 0         // of the corpus
	fewestRest, mostRest := 0, 0 // of the items not drawn
	for _, b := range batches {
		none := b.Drawn - b.Events - b.Missing
		lowest := smallestCorpus(b.Events, b.Drawn, b.Size, a)
		highest := b.Size - smallestCorpus(none, b.Drawn, b.Size, a)
		fewest, most = fewest+lowest, most+highest
		fewestRest, mostRest = fewestRest+lowest-b.Events, mostRest+highest-b.Events-b.Missing
	}
	return countInterval(fewest, most, items, confidence), countInterval(fewestRest, mostRest, items-drawn, confidence), nil
}

// HypergeometricRest returns the interval for the proportion among the N − n items that were not drawn, from the same
// arguments and with the same errors as Hypergeometric: Batches with a single batch. With N = n nothing rests, and
// it is [0, 1].
func HypergeometricRest(x, missing, n, N int, confidence float64) (Interval, error) {
	_, rest, err := Batches([]Batch{{Size: N, Drawn: n, Events: x, Missing: missing}}, confidence)
	return rest, err
}

// countInterval is from fewest to most of a number of items, as proportions.
func countInterval(fewest, most, items int, confidence float64) Interval {
	i := Interval{0, 1, confidence, MethodHypergeometric, LooksOne}
	if items > 0 {
		i.Lower, i.Upper = ratio(fewest, items, false), ratio(most, items, true)
	}
	return i
}
