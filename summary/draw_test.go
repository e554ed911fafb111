package summary

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/report"
)

func TestDraw(t *testing.T) {
	n := report.Number
	for _, test := range []struct {
		name      string
		m         *report.Measure
		threshold *float64
		cells     int
		want      string
	}{
		// Eleven cells on [0, 1] or [-1, 1] stand a tenth or a fifth apart, so the places can be counted;
		// halves round to the right.
		{"inside", measure(unit, n(0.5), n(0.2), n(0.8)), n(0.6), 11, "0 ··├──●┃─┤·· 1"},
		{"difference", measure(difference, n(0.2), n(-0.4), n(0.6)), n(0), 11, "-1 ···├─┃●─┤·· +1"},
		{"lower end at the threshold", measure(unit, n(0.5), n(0.2), n(0.8)), n(0.2), 11, "0 ··┣──●──┤·· 1"},
		{"upper end at the threshold", measure(unit, n(0.5), n(0.2), n(0.8)), n(0.8), 11, "0 ··├──●──┫·· 1"},
		{"estimate at the threshold", measure(unit, n(0.5), n(0.2), n(0.8)), n(0.5), 11, "0 ··├──┃──┤·· 1"},
		{"lower end just above", measure(unit, n(0.5), n(0.201), n(0.8)), n(0.2), 11, "0 ··┃├─●──┤·· 1"},
		{"lower end just below", measure(unit, n(0.5), n(0.199), n(0.8)), n(0.2), 11, "0 ·├┃──●──┤·· 1"},
		{"no estimate", measure(unit, nil, n(0), n(1)), n(0.5), 11, "0 ├────┃────┤ 1"},
		{"no threshold", measure(unit, n(0.5), n(0), n(1)), nil, 11, "0 ├────●────┤ 1"},
		{"no lower end", measure(unit, n(0.5), nil, n(0.8)), n(0), 11, "0 ←┃───●──┤·· 1"},
		{"no upper end", measure(unit, n(0.5), n(0.2), nil), n(1), 11, "0 ··├──●───┃→ 1"},
		{"no ends", measure(unit, nil, nil, nil), n(0.5), 11, "0 ←────┃────→ 1"},
		{"one point", measure(unit, nil, n(0), n(0)), n(1), 11, "0 ─·········┃ 1"},
		{"estimate outside", measure(unit, n(0.9), n(0.2), n(0.6)), n(0.4), 11, "0 ··├─┃─┤··●· 1"},
		{"threshold outside the scale", measure(unit, n(0.5), n(0.2), n(0.8)), n(2), 11, "0 ·├─●┤·····┃ 2"},
		{"narrow: round numbers around", measure(unit, n(0.83), n(0.818), n(0.842)), n(0.826), 11, "0.81 ··├─┃●──┤·· 0.85"},
		{"no scale", measure(nil, n(12), n(10), n(20)), nil, 11, "5 ···├●───┤·· 25"},
		{"no scale, no end", measure(nil, n(12), n(10), nil), nil, 11, "9 ···├────●─→ 13"},
		{"nothing finite", measure(nil, ptr(math.NaN()), ptr(math.Inf(-1)), nil), ptr(math.NaN()), 11, ""},
		{"no interval", &report.Measure{Scale: unit, Estimate: n(0.5)}, n(0.5), 11, ""},
		{"ends the wrong way round", measure(unit, n(0.5), n(0.8), n(0.2)), nil, 11, "0 ··┤··●··├·· 1"},
		{"too wide for numbers", measure(nil, n(0), n(-math.MaxFloat64), n(math.MaxFloat64)), nil, 11, ""},
	} {
		if got := Draw(test.m, test.threshold, test.cells); got != test.want {
			t.Errorf("%s: got\n%s, want\n%s", test.name, got, test.want)
		}
	}
}

// Whatever the numbers, a drawing has its cells, one threshold, and shows each end on the side of the
// threshold on which it lies.
func TestDrawKeepsSides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		threshold := anyFloat(t, 0, "threshold")
		a, b, c := anyFloat(t, threshold, "a"), anyFloat(t, threshold, "b"), anyFloat(t, threshold, "c")
		lower, upper := min(a, b, c), max(a, b, c)
		estimate := min(max(a, lower), upper)
		m := measure(rapid.SampledFrom([]*report.Scale{nil, unit, difference}).Draw(t, "scale"), &estimate, &lower, &upper)
		n := rapid.IntRange(5, 60).Draw(t, "cells")
		for _, with := range []marks{unicodeMarks, asciiMarks} {
			drawn := draw(m, &threshold, n, with)
			if drawn == "" {
				if low, high := min(lower, threshold), max(upper, threshold); !math.IsInf(high-low, 0) && high < 1e300 && low > -1e300 {
					t.Fatalf("nothing is drawn")
				}
				continue
			}
			_, rest, _ := strings.Cut(drawn, " ")
			row, _, _ := strings.Cut(rest, " ")
			at := []rune(row)
			if len(at) != n || cells(row) != n {
				t.Fatalf("%q has %d cells, want %d", drawn, len(at), n)
			}
			mark, first, last := -1, n, -1
			for i, r := range at {
				s := string(r)
				switch s {
				case with.threshold, with.thresholdAtLower, with.thresholdAtTop:
					if mark >= 0 {
						t.Fatalf("%q has two thresholds", drawn)
					}
					mark = i
				case with.axis:
				default:
					first, last = min(first, i), max(last, i)
				}
			}
			if mark < 0 {
				t.Fatalf("%q has no threshold", drawn)
			}
			if lower > threshold && first < mark || upper < threshold && last > mark || lower < threshold && first > mark || upper > threshold && last < mark {
				t.Fatalf("[%v, %v] against %v is drawn as %q", lower, upper, threshold, drawn)
			}
		}
	})
}

// The axis ends are the scale, or round numbers, and hold every value.
func TestAxisHoldsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		threshold := rapid.Float64Range(0, 1).Draw(t, "threshold")
		lower := rapid.Float64Range(0, 1).Draw(t, "lower")
		upper := rapid.Float64Range(lower, 1).Draw(t, "upper")
		low, high, ok := axis(unit, &lower, &upper, nil, &threshold)
		if !ok || low > min(lower, threshold) || high < max(upper, threshold) || low < 0 || high > 1 {
			t.Fatalf("axis %v … %v, %v", low, high, ok)
		}
		if high-low > 20*(max(upper, threshold)-min(lower, threshold)) && high-low > 0.2 {
			t.Fatalf("axis %v … %v squeezes [%v, %v] and %v", low, high, lower, upper, threshold)
		}
		if s := exactNumber(low) + exactNumber(high); high-low > 1e-3 && len(s) > 16 {
			t.Fatalf("the axis ends %s are not round", s)
		}
	})
}
