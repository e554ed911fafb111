package fairness

import (
	"fmt"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// measures lists every rate of the whole file, then of each attribute's and each intersection's groups, whose error is
// divided by their number; and, where there are probabilities, their calibration.
func (q *question) measures() ([]report.Measure, error) {
	var list []report.Measure
	for i := range q.crossings {
		c, view := &q.crossings[i], &q.tally.views[i] // the first views are those of the crossings, unsliced
		b := bounds{judging: q.judging, groups: len(c.groups)}
		known := map[[2]interval.Tally]interval.Interval{} // in a large crossing many groups have the same counts
		for k := range rates {
			r := &rates[k]
			for g, name := range c.groups {
				s := r.sides(&view.cells[g])
				key := [2]interval.Tally{s.low, s.high}
				iv, found := known[key]
				if !found {
					var err error
					if iv, err = b.rate(&s); err != nil {
						return nil, fmt.Errorf("%s of %s: %w", r.name, name, err)
					}
					known[key] = iv
				}
				list = append(list, q.measure(r, c, g, &s, &view.cells[g], iv))
			}
		}
		if view.bins == nil {
			continue
		}
		listed := 0
		for g := range c.groups {
			listed += len(view.bins[g])
		}
		for g := range c.groups {
			m := calibration(view.bins[g], labels(c, g))
			if listed <= mostBinsListed {
				m.Bins = listBins(view.bins[g], q.bins, q.source.Settings.MinShown.Value)
			}
			list = append(list, m)
		}
	}
	return list, nil
}

// labels name a group; the whole file has none.
func labels(c *crossing, group int) map[string]string {
	if len(c.attributes) == 0 {
		return nil
	}
	return map[string]string{"attribute": c.label, "group": c.groups[group]}
}

// measure is one group's rate with its interval.
func (q *question) measure(r *rate, of *crossing, group int, s *sides, c *counts, iv interval.Interval) report.Measure {
	m := report.Measure{
		Metric: r.name, Labels: labels(of, group), Interval: report.PublishInterval(iv), Scale: &report.Scale{Lower: 0, Upper: 1},
		Numerator: report.Int(s.recorded.K), Denominator: report.Int(r.denominator(s)), Units: report.Int(r.denominator(s)), UnitName: "cases",
		Missing: report.Int(s.missing), LeftOut: withoutLabel(r, c), Conditions: holds(iv, len(of.groups)),
	}
	if s.recorded.N > 0 {
		m.Estimate = report.Number(quotient(s.recorded))
	} else {
		m.Conditions = "Nothing was counted: " + q.emptiness(r, s) + "."
	}
	if s.missing > 0 && s.low.N > 0 && s.high.N > 0 {
		m.Completions = &report.Completions{Low: quotient(s.low), High: quotient(s.high)}
	}
	return m
}

// quotient is a tally's rate, rounded once: counts are exact as float64s.
func quotient(t interval.Tally) float64 { return float64(t.K) / float64(t.N) }

// withoutLabel lists a group's cases that a rate on labels leaves out.
func withoutLabel(r *rate, c *counts) []report.LeftOut {
	if !r.needsLabel() {
		return nil
	}
	return gate.LeftOut(noLabel, c.labelled(none))
}

// emptiness says of a rate with nothing recorded in its denominator why that is.
func (q *question) emptiness(r *rate, s *sides) string {
	what := "case"
	if r.needsLabel() && (r.cases == "" || r.moves()) {
		what = "labelled case"
	}
	if r.cases != "" {
		what += " " + q.words(r)
	}
	if s.missing > 0 && !r.moves() {
		return "no " + what + " has a prediction"
	}
	return "there is no " + what
}
