package oracle

import (
	"math/big"
	"slices"
)

// measures are all that a report on the study shows.
func (s *anchorStudy) measures() (all []Measure) {
	e := s.classify(s.rows, false)
	annotators := s.annotators()
	a := float(exactError(s, anchorRule{}))
	units := []string{"item"}
	if len(annotators) > 1 {
		units = []string{"person", "item", "label"}
	}
	for _, per := range units {
		for _, metric := range []string{"blind_agreement", "visible_agreement", "anchoring_gap", "acceptance_rate", "verify_acceptance"} {
			if metric == "acceptance_rate" && len(e.accepted) == 0 || metric == "verify_acceptance" && len(e.verify) == 0 {
				continue // nothing of the kind was asked
			}
			f := s.metric(e, anchorRule{metric: metric}, per, a, false)
			if per == "label" && (f.Estimate == nil || f.repeat || f.uneven || f.open != "") {
				continue // not exact; a rule can still ask for it
			}
			all = append(all, f.Measure)
		}
	}
	if len(annotators) > 1 {
		for _, metric := range []string{"people_agreement", "model_minus_people"} {
			if f := s.metric(e, anchorRule{metric: metric}, "", a, false); *f.Units > 0 {
				all = append(all, f.Measure)
			}
		}
	}
	all = append(all, corrected(e, annotators)...)
	all = append(all, medians("blind", e.blindTimes, annotators, exactError(s, anchorRule{}))...)
	return append(all, medians("visible", e.visibleTimes, annotators, exactError(s, anchorRule{}))...)
}

// corrected is the agreement corrected for chance: Cohen's kappa of the model and the one annotator, or of the two, and
// Krippendorff's alpha of several.
func corrected(e evidence, annotators []string) (all []Measure) {
	if len(annotators) == 1 {
		for _, side := range []struct {
			name string
			of   []comparison
		}{{"blind", e.blind}, {"visible", e.visible}} {
			var ratings [][2]string
			for _, c := range side.of {
				if c.agrees != unrecorded {
					ratings = append(ratings, [2]string{c.suggestion, c.label})
				}
			}
			if len(ratings) > 0 {
				all = append(all, Measure{Metric: "kappa", Labels: map[string]string{"visibility": side.name, "between": "model_and_annotator"},
					Estimate: kappaOf(ratings), Units: count(len(ratings))})
			}
		}
		return all
	}
	var says []comparison
	for _, c := range e.people {
		if !c.extra && c.label != "" {
			says = append(says, c)
		}
	}
	items, of := grouping(says, "item")
	var ratings [][2]string
	var labels [][]string
	for _, item := range items {
		if len(of[item]) < 2 {
			continue
		}
		var list []string
		slices.SortFunc(of[item], func(a, b comparison) int { return slices.Compare([]string{a.who}, []string{b.who}) })
		for _, c := range of[item] {
			list = append(list, c.label)
		}
		labels = append(labels, list)
		ratings = append(ratings, [2]string{list[0], list[1]})
	}
	between := map[string]string{"visibility": "blind", "between": "annotators"}
	if len(labels) > 0 {
		if len(annotators) == 2 {
			all = append(all, Measure{Metric: "kappa", Labels: between, Estimate: kappaOf(ratings), Units: count(len(ratings))})
		}
		all = append(all, Measure{Metric: "alpha", Labels: between, Estimate: alphaOf(labels), Units: count(len(labels))})
	}
	return all
}

// kappaOf is Cohen's kappa: (observed - expected)/(1 - expected), where expected is the chance that two people agree who
// draw their labels from the two raters' own shares. It is nil where that is 1.
func kappaOf(ratings [][2]string) *float64 {
	n := int64(len(ratings))
	same, byChance := int64(0), int64(0)
	for _, x := range ratings {
		if x[0] == x[1] {
			same++
		}
		for _, y := range ratings { // every label of the one against every label of the other
			if x[0] == y[1] {
				byChance++
			}
		}
	}
	observed, expected := big.NewRat(same, n), big.NewRat(byChance, n*n)
	one := big.NewRat(1, 1)
	if expected.Cmp(one) == 0 {
		return nil
	}
	above := new(big.Rat).Sub(observed, expected)
	return number(float(above.Quo(above, new(big.Rat).Sub(one, expected))))
}

// alphaOf is Krippendorff's alpha for nominal labels: 1 - observed/expected disagreement. Observed: over the pairs of
// labels within a unit, each unit's pairs weighing 1/(its labels - 1). Expected: over all pairs of labels of such units.
// It is nil where no two labels differ.
func alphaOf(units [][]string) *float64 {
	observed := new(big.Rat)
	var all []string
	for _, labels := range units {
		differ := int64(0)
		for i := range labels {
			for j := range labels {
				if i != j && labels[i] != labels[j] {
					differ++
				}
			}
		}
		observed.Add(observed, big.NewRat(differ, int64(len(labels)-1)))
		all = append(all, labels...)
	}
	n, differ := int64(len(all)), int64(0)
	for i := range all {
		for j := range all {
			if i != j && all[i] != all[j] {
				differ++
			}
		}
	}
	if differ == 0 {
		return nil
	}
	observed.Quo(observed, big.NewRat(n, 1))
	expected := big.NewRat(differ, n*(n-1))
	alpha := new(big.Rat).Sub(big.NewRat(1, 1), observed.Quo(observed, expected))
	return number(float(alpha))
}

// endless stands for a time without an end in a list for upper ends.
const endless = 1 << 40

// medians are the median seconds of all labels, and with several annotators the median of people's own, with the
// order-statistics interval: a time that is not recorded is 0 in the list for the lower end and has no end in that for
// the upper.
func medians(visibility string, times []labelTime, annotators []string, a *big.Rat) (all []Measure) {
	var pooled, own, low, high []float64
	missing := 0
	for _, who := range annotators {
		var mine, least, most []float64
		for _, t := range times {
			switch {
			case t.who != who:
			case t.seconds < 0:
				missing++
				least, most = append(least, 0), append(most, endless)
			default:
				x := float64(t.seconds)
				mine, least, most = append(mine, x), append(least, x), append(most, x)
			}
		}
		pooled = append(pooled, mine...)
		if len(mine) > 0 {
			own = append(own, medianOf(mine))
		}
		if len(least) > 0 {
			low, high = append(low, medianOf(least)), append(high, medianOf(most))
		}
	}
	if len(pooled) == 0 {
		return nil
	}
	all = append(all, Measure{Metric: "labelling_time", Labels: map[string]string{"visibility": visibility},
		Estimate: number(medianOf(pooled)), Units: count(len(times)), Missing: count(missing)})
	if len(annotators) == 1 {
		return all
	}
	m := Measure{Metric: "labelling_time", Labels: map[string]string{"visibility": visibility, "per": "person"},
		Estimate: number(medianOf(own)), Units: count(len(low)), Missing: count(missing)}
	n := len(low)
	alpha := float(new(big.Rat).Mul(a, big.NewRat(2, 1)))
	m.Interval = &Interval{Confidence: 1 - alpha, Method: "order-statistics", Looks: "one"}
	if j := medianRank(n, a); j > 0 {
		slices.Sort(low)
		slices.Sort(high)
		m.Interval.Lower = number(low[j-1])
		if upper := high[n-j]; upper < endless/2 {
			m.Interval.Upper = number(upper)
		}
	}
	return append(all, m)
}

// medianOf is the middle value, or the mean of the two middle ones.
func medianOf(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
