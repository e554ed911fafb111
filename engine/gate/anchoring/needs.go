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
// units: both sides grow alike and stay as they are spread. difference is the interval with so many on each side. More units
// are added to these only where the interval holds at any look.
func (m *measured) gapNeeds(nb, ns int, t report.Threshold, difference func(nb, ns int) (interval.Interval, error)) *report.Needs {
	c, units := m.Completions, m.UnitName
	if c == nil {
		return &report.Needs{What: "recorded " + units + " on both sides"}
	}
	if c.Low <= t.Value && t.Value <= c.High {
		return gate.NoNumber(c.Low < c.High, units)
	}
	n, found := smallest(nb+ns, interval.MostNeeded, func(n int) bool {
		blind := min(max(1, scaled(nb, nb+ns, n)), n-1)
		iv, err := difference(blind, n-blind)
		return err == nil && t.Compare(iv.Lower, iv.Upper) != report.InsufficientEvidence
	})
	verdict := ""
	if t.Kind == report.Minimum && c.High < t.Value || t.Kind == report.Maximum && c.Low > t.Value {
		verdict = " (as FAIL, at the present values)"
	}
	switch {
	case !found:
		return &report.Needs{What: fmt.Sprintf("more than %d %s, blind and visible in all", interval.MostNeeded, units) + verdict}
	case m.Interval.Looks == interval.LooksAny:
		return &report.Needs{What: "more " + units + ", blind and visible in all, at the present values" + verdict, AtLeast: gate.Rounded(n - nb - ns)}
	}
	return &report.Needs{What: units + ", blind and visible in all, in a new sample" + verdict, AtLeast: gate.Rounded(n)}
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
