package summary

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/report"
)

func measure(scale *report.Scale, estimate, lower, upper *float64) *report.Measure {
	return &report.Measure{Scale: scale, Estimate: estimate, Interval: &report.Interval{Lower: lower, Upper: upper, Confidence: 0.95}}
}

var (
	unit       = &report.Scale{Lower: 0, Upper: 1}
	difference = &report.Scale{Lower: -1, Upper: 1}
)

func TestShow(t *testing.T) {
	n := report.Number
	for _, test := range []struct {
		name      string
		m         *report.Measure
		threshold *float64
		want      Numbers
	}{
		// The expected texts follow from the rules: three decimals, lower ends down, upper ends up.
		{"outward", measure(unit, n(0.41025641), n(0.2556), n(0.5782)), nil, Numbers{"0.410", "0.255", "0.579"}},
		{"exact decimals stay", measure(unit, n(0.7), n(0.7), n(0.7)), nil, Numbers{"0.700", "0.700", "0.700"}}, // the binary fraction of 0.7 lies below it
		{"differences have a sign", measure(difference, n(0.0833), n(-0.4456), n(0.5555)), nil, Numbers{"+0.083", "-0.446", "+0.556"}},
		{"zero has none", measure(difference, n(0), n(-0.0001), n(0.0001)), nil, Numbers{"0.000", "-0.001", "+0.001"}},
		{"no negative zero", measure(difference, n(-0.0001), n(math.Copysign(0, -1)), n(-0.0001)), nil, Numbers{"0.000", "0.000", "0.000"}},
		{"halves away from zero", measure(difference, n(-0.0005), n(-0.0005), n(0.0005)), nil, Numbers{"-0.001", "-0.001", "+0.001"}},
		{"just under the minimum", measure(unit, n(0.79), n(0.78), n(0.79996)), n(0.8), Numbers{"0.79000", "0.78000", "0.79996"}},
		{"just over the minimum", measure(unit, n(0.81), n(0.80004), n(0.82)), n(0.8), Numbers{"0.81000", "0.80004", "0.82000"}},
		{"at the minimum", measure(unit, n(0.81), n(0.8), n(0.82)), n(0.8), Numbers{"0.810", "0.800", "0.820"}},
		{"an estimate beside the threshold", measure(unit, n(0.80004), n(0.7), n(0.9)), n(0.8), Numbers{"0.80004", "0.70000", "0.90000"}},
		{"ten decimals", measure(unit, n(0.9), n(0.8000000001), n(0.95)), n(0.8), Numbers{"0.9000000000", "0.8000000001", "0.9500000000"}},
		{"below twelve decimals, in full", measure(unit, n(1e-20), n(1e-21), n(1e-19)), n(0), Numbers{"1e-20", "1e-21", "1e-19"}},
		{"no ends", measure(unit, nil, nil, nil), n(0.5), Numbers{}},
		{"no interval", &report.Measure{Estimate: n(0.5)}, nil, Numbers{Estimate: "0.500"}},
		{"not numbers", measure(unit, ptr(math.NaN()), ptr(math.Inf(-1)), ptr(math.Inf(1))), n(0.5), Numbers{}},
		{"a threshold that is none", measure(unit, n(0.5), n(0.4), n(0.6)), ptr(math.NaN()), Numbers{"0.500", "0.400", "0.600"}},
		{"large", measure(nil, n(1234567.8915), n(999999999.9999), n(1e9)), nil, Numbers{"1234567.892", "999999999.999", "1.000e+09"}},
		{"forty digits", measure(nil, n(1234567890123456789012345678901234567890), n(-9.9996e39), n(9.9991e39)), nil, Numbers{"1.235e+39", "-1.000e+40", "1.000e+40"}},
		{"largest", measure(nil, n(math.MaxFloat64), n(-math.MaxFloat64), n(math.SmallestNonzeroFloat64)), nil, Numbers{"1.798e+308", "-1.798e+308", "0.001"}},
	} {
		if got := Show(test.m, test.threshold); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func ptr(x float64) *float64 { return &x }

func TestRange(t *testing.T) {
	for want, n := range map[string]Numbers{
		"0.1 … 0.2":    {Lower: "0.1", Upper: "0.2"},
		"at least 0.1": {Lower: "0.1"},
		"at most 0.2":  {Upper: "0.2"},
		"":             {Estimate: "0.1"},
	} {
		if got := n.Range(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// anyFloat draws numbers of every size, often near others.
func anyFloat(t *rapid.T, near float64, name string) float64 {
	switch rapid.IntRange(0, 3).Draw(t, name+" kind") {
	case 0:
		return near + rapid.Float64Range(-1e-4, 1e-4).Draw(t, name)
	case 1:
		return rapid.Float64Range(-1e-9, 1e-9).Draw(t, name)
	case 2:
		return float64(rapid.IntRange(-1000, 1000).Draw(t, name)) / 1000
	}
	return rapid.Float64().Draw(t, name)
}

// Printed ends read back lie outward of the exact ones, by less than one unit of the last decimal; every
// printed number stands to the threshold as the exact one does; what was in order stays in order.
func TestShowIsOutward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		threshold := anyFloat(t, 0, "threshold")
		a, b, c := anyFloat(t, threshold, "a"), anyFloat(t, threshold, "b"), anyFloat(t, threshold, "c")
		lower, upper := min(a, b, c), max(a, b, c)
		estimate := a + b + c - lower - upper
		if math.IsInf(estimate, 0) || estimate < lower || estimate > upper {
			estimate = lower
		}
		against := &threshold
		if rapid.Bool().Draw(t, "without") {
			against = nil
		}
		n := Show(measure(rapid.SampledFrom([]*report.Scale{nil, unit, difference}).Draw(t, "scale"), &estimate, &lower, &upper), against)

		read := func(s string) *big.Rat {
			r, ok := new(big.Rat).SetString(s)
			if !ok {
				t.Fatalf("%q is not a number", s)
			}
			return r
		}
		l, e, u := read(n.Lower), read(n.Estimate), read(n.Upper)
		if l.Cmp(decimal(lower)) > 0 || u.Cmp(decimal(upper)) < 0 {
			t.Fatalf("[%v, %v] is printed as %q, which claims more", lower, upper, n)
		}
		if l.Cmp(e) > 0 || e.Cmp(u) > 0 {
			t.Fatalf("%v in [%v, %v] is printed out of order as %q", estimate, lower, upper, n)
		}
		for _, pair := range []struct {
			printed *big.Rat
			x       float64
		}{{l, lower}, {e, estimate}, {u, upper}} {
			if against != nil && pair.printed.Cmp(decimal(threshold)) != decimal(pair.x).Cmp(decimal(threshold)) {
				t.Fatalf("%v stands to %v otherwise than %q", pair.x, threshold, n)
			}
			unit := new(big.Rat).SetFloat64(1e-3)
			if x := math.Abs(pair.x); x >= 1e8 {
				unit.SetFloat64(x / 100) // three decimals of a number with an exponent are finer than that
			}
			if off := new(big.Rat).Sub(pair.printed, decimal(pair.x)); off.Abs(off).Cmp(unit) >= 0 {
				t.Fatalf("%v is printed as one of %q", pair.x, n)
			}
		}
		for _, s := range []string{n.Lower, n.Estimate, n.Upper} {
			if strings.Trim(s, "-+0.") == "" && strings.ContainsAny(s, "-+") {
				t.Fatalf("zero has a sign in %q", s)
			}
			if len(s) > 28 {
				t.Fatalf("%q is too long", s)
			}
		}
	})
}

func TestPercentages(t *testing.T) {
	for confidence, want := range map[float64][2]string{
		0.95: {"95 %", "2.5 %"}, 0.5: {"50 %", "25 %"}, 0.99: {"99 %", "0.5 %"}, 0.975: {"97.5 %", "1.25 %"},
		0.57: {"57 %", "21.5 %"}, // 100·0.57 is 56.99999999999999 in binary
		0.9:  {"90 %", "5 %"}, 0.999999: {"99.9999 %", "0.00005 %"},
		// An error divided among groups, as an interval's confidence comes: 0.05 by 2 (and what floats may add), 3, 6 and 7000.
		0.9750000000000001: {"97.5 %", "1.25 %"}, 0.9749999999999999: {"97.5 %", "1.25 %"}, 1 - 0.05/3: {"98.33 %", "0.84 %"},
		1 - 0.05/6: {"99.16 %", "0.42 %"}, 1 - 0.05/7000: {"99.99 %", "0.01 %"}, 1 - 1e-12: {"99.99 %", "0.01 %"},
		// The greatest number below 1 is certain in no digit that is shown.
		0.9999999999999999: {"99.99 %", "0.01 %"}, 0.99999999: {"99.999999 %", "0.01 %"}, 1e-300: {"0 %", "50 %"},
	} {
		if got := [2]string{level(confidence), sideError(confidence)}; got != want {
			t.Errorf("%v: got %q, want %q", confidence, got, want)
		}
	}
	for _, not := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1)} {
		if got := level(not); got != "" {
			t.Errorf("%v is shown as %q", not, got)
		}
	}
}

func TestWhole(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 12345: "12,345", 1234567: "1,234,567", -1234: "-1,234", math.MinInt: "-9,223,372,036,854,775,808"} {
		if got := whole(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
