package anchoring

import (
	"fmt"
	"math"
	"slices"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// gapNeeds says how many units, blind and visible together, would decide a rule on a gap between two sets of nb and ns
// units: both sides grow alike and stay as they are spread. difference is the interval with so many on each side, with what is
// missing taken as c. More units are added to these only where the interval holds at any look.
func (m *measured) gapNeeds(nb, ns int, t report.Threshold, difference func(c gate.Completion, nb, ns int) (interval.Interval, error)) *report.Needs {
	units := m.UnitName
	if m.Completions == nil {
		return &report.Needs{What: "recorded " + units + " on both sides"}
	}
	s := gate.Sizing{
		Unit: units, Now: nb + ns, Low: m.Completions.Low, High: m.Completions.High,
		Size: func(c gate.Completion) (int, bool) {
			return smallest(nb+ns, interval.MostNeeded, func(n int) bool {
				blind := min(max(1, scaled(nb, nb+ns, n)), n-1)
				iv, err := difference(c, blind, n-blind)
				return err == nil && t.Compare(iv.Lower, iv.Upper) != report.InsufficientEvidence
			})
		},
		Tell: func(n int) report.Needs {
			return report.Needs{What: units + ", blind and visible in all, in a new sample", AtLeast: gate.Rounded(n)}
		},
		None: func(how string) string {
			return fmt.Sprintf("more than %d %s, blind and visible in all", interval.MostNeeded, units)
		},
	}
	if m.Interval.Looks == interval.LooksAny {
		s.Tell = gate.Added(nb+ns, units, ", blind and visible in all, at the present values")
	}
	return s.Needs(t)
}

// smallest searches the smallest number from least to most that will do, by doubling and then halving, to within one part
// in 256, taking it that more do no worse.
func smallest(least, most int, will func(n int) bool) (n int, found bool) {
	bad, good := least-1, least
	for !will(good) {
		if good >= most {
			return 0, false
		}
		bad, good = good, min(2*good, most)
	}
	for good-bad > 1+good/256 {
		if middle := bad + (good-bad)/2; will(middle) {
			good = middle
		} else {
			bad = middle
		}
	}
	return good, true
}

// scaled is the count that is to n as k is to of, in whole numbers.
func scaled(k, of, n int) int {
	if of == n {
		return k
	}
	return int(math.Round(float64(float64(k) / float64(of) * float64(n))))
}

// quantiles returns n values with the quantiles of a sample.
func quantiles(values []float64, n int) []float64 {
	if n == len(values) {
		return values
	}
	sorted := slices.Sorted(slices.Values(values))
	list := make([]float64, n)
	for j := range list {
		list[j] = sorted[((j+1)*len(sorted)+n-1)/n-1]
	}
	return list
}
