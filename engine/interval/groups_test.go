package interval

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// groupReference returns the rows of one kind of testdata/groups.csv, computed with mpmath 1.3.0 at 40 digits by the
// script beside it.
func groupReference(t *testing.T, kind string) [][]string {
	t.Helper()
	f, err := os.Open("testdata/groups.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, row := range all {
		if row[0] == kind {
			rows = append(rows, row)
		}
	}
	if len(rows) < 150 {
		t.Fatalf("%d rows of kind %s; the file is truncated", len(rows), kind)
	}
	return rows
}

// justOutside says whether the rounded ends of a rate lie outside the true ones by no more than rounding may do.
func justOutside(i Interval, lower, upper float64) bool {
	return i.Lower <= lower && i.Lower >= lower*(1-2e-9) && i.Upper >= upper && i.Upper <= upper*(1+2e-9)
}

// TestGroupRateReference: exact ends at an error divided by up to 10,000 groups.
func TestGroupRateReference(t *testing.T) {
	worst := 0.0
	for _, row := range groupReference(t, "rate") {
		k, n, groups := integer(t, row[1]), integer(t, row[2]), integer(t, row[5])
		lower, upper := number(t, row[6]), number(t, row[7])
		i, err := GroupRate(Tally{k, n}, Tally{k, n}, 0.95, groups)
		if err != nil {
			t.Fatal(err)
		}
		if !justOutside(i, lower, upper) {
			t.Errorf("%d of %d, %d groups: [%.12g, %.12g], exactly [%.12g, %.12g]", k, n, groups, i.Lower, i.Upper, lower, upper)
		}
		a := sideError(0.95) / float64(groups)
		p, _ := binomialLower(k, n, a)
		_, q := binomialLower(n-k, n, a)
		for _, c := range [][2]float64{{p, lower}, {q, upper}} {
			if c[1] > 0 {
				worst = math.Max(worst, math.Abs(c[0]/c[1]-1))
			}
		}
	}
	t.Logf("largest relative deviation before rounding: %.2g", worst)
	if worst > 4e-13 { // a fifth of the guard of round.go
		t.Errorf("relative deviation %.2g before rounding", worst)
	}
}

// TestGroupRateCompletions: the worst completions of a missing prediction for rates whose denominator is predicted, as in
// the table of the audit, section 5c: precision TP/(TP+FP) with m1 and m0 missing ones has CPL(TP, TP+FP+m0) and
// CPU(TP+m1, TP+FP+m1). Every actual completion's interval lies inside.
func TestGroupRateCompletions(t *testing.T) {
	const tp, fp, m1, m0 = 30, 9, 4, 6
	i, err := GroupRate(Tally{tp, tp + fp + m0}, Tally{tp + m1, tp + fp + m1}, 0.95, 6)
	if err != nil {
		t.Fatal(err)
	}
	touchedLower, touchedUpper := false, false
	for in1 := range m1 + 1 { // of the missing ones with label 1 so many are predicted 1 and count as successes
		for in0 := range m0 + 1 {
			actual := Tally{tp + in1, tp + fp + in1 + in0}
			a, err := GroupRate(actual, actual, 0.95, 6)
			if err != nil {
				t.Fatal(err)
			}
			if a.Lower < i.Lower || a.Upper > i.Upper {
				t.Errorf("%v gives %v, outside %v", actual, a, i)
			}
			touchedLower = touchedLower || a.Lower == i.Lower
			touchedUpper = touchedUpper || a.Upper == i.Upper
		}
	}
	if !touchedLower || !touchedUpper {
		t.Errorf("no completion reaches an end of %v: it is too wide", i)
	}
}

// TestGroupRateIsOneGroups: with one group, and with an error of 1/G of another confidence, it is the interval of one rate.
func TestGroupRateIsOneGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 3000).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		missing := rapid.IntRange(0, n-k).Draw(t, "missing")
		confidence := rapid.SampledFrom([]float64{0.5, 0.9, 0.95, 0.999}).Draw(t, "confidence")
		low, high := Tally{k, n}, Tally{k + missing, n}
		one, err := GroupRate(low, high, confidence, 1)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := ClopperPearson(k, missing, n, confidence); err != nil || one != want {
			t.Fatalf("one group %v, one rate %v, %v", one, want, err)
		}
		sequence, err := GroupRateSequence(low, high, confidence, 1)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := RateSequence(k, missing, n, confidence); err != nil || sequence != want {
			t.Fatalf("one group %v, one rate %v, %v", sequence, want, err)
		}
		groups := rapid.IntRange(2, 10_000).Draw(t, "groups")
		many, err := GroupRate(low, high, confidence, groups)
		if err != nil {
			t.Fatal(err)
		}
		manySequence, err := GroupRateSequence(low, high, confidence, groups)
		if err != nil {
			t.Fatal(err)
		}
		if many.Lower > one.Lower || many.Upper < one.Upper || manySequence.Lower > sequence.Lower || manySequence.Upper < sequence.Upper {
			t.Fatalf("%d groups %v and %v, one %v and %v", groups, many, manySequence, one, sequence)
		}
		if want, err := ClopperPearson(k, missing, n, many.Confidence); err != nil || !justOutside(many, want.Lower, want.Upper) && !justOutside(want, many.Lower, many.Upper) {
			t.Fatalf("%d groups %v, at that confidence %v, %v", groups, many, want, err)
		}
		// The confidence has lost a few digits of a near 1, which the ends hardly feel.
		if want, err := RateSequence(k, missing, n, manySequence.Confidence); err != nil || !justOutside(manySequence, want.Lower, want.Upper) && !justOutside(want, manySequence.Lower, manySequence.Upper) {
			t.Fatalf("%d groups %v, at that confidence %v, %v", groups, manySequence, want, err)
		}
		if many.Method != MethodBonferroni || one.Method != MethodClopperPearson || many.Looks != LooksOne || manySequence.Looks != LooksAny {
			t.Fatalf("names %v %v %v", one, many, manySequence)
		}
	})
	// A confidence that would round to 1 is announced as the largest below.
	i, err := GroupRate(Tally{1, 2}, Tally{1, 2}, 1-0x1p-53, 10_000)
	if err != nil || checkConfidence(i.Confidence) != nil {
		t.Errorf("announced %v, %v", i.Confidence, err)
	}
}

// TestExactSides: equal errors give GroupRate's ends; each error moves its own end alone.
func TestExactSides(t *testing.T) {
	for _, c := range [][2]Tally{{{0, 1}, {0, 1}}, {{88, 100}, {90, 100}}, {{700, 800}, {700, 800}}, {{0, 0}, {0, 0}}, {{5, 9}, {8, 8}}} {
		sides := func(lowerError, upperError float64) Interval {
			t.Helper()
			i, err := ExactSides(c[0], c[1], lowerError, upperError, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			return i
		}
		a := sideError(0.95)
		same, err := GroupRate(c[0], c[1], 0.95, 6)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := GroupRate(c[0], c[1], 0.95, 1)
		if err != nil {
			t.Fatal(err)
		}
		if i := sides(a, a/6); i.Lower != whole.Lower || i.Upper != same.Upper || i.Confidence != 0.95 || i.Method != MethodClopperPearson || i.Looks != LooksOne {
			t.Errorf("%v: %v, want the lower end of %v and the upper of %v", c, i, whole, same)
		}
		if i := sides(a/6, a); i.Lower != same.Lower || i.Upper != whole.Upper {
			t.Errorf("%v: %v, want the lower end of %v and the upper of %v", c, i, same, whole)
		}
	}
	// 453 cases of a group at a rate of .88 pass a minimum of .80 with chance 80 % for 50 groups where the lower end has the
	// whole error, 746 where it is divided; for 2 groups 231 and 275, for 6 307 and 419, for 12 351 and 527 (audit, section
	// 5f i). Those sizes are not exact: the exact chances at them, computed here, are up to .84.
	for _, c := range [][3]int{{2, 231, 275}, {6, 307, 419}, {12, 351, 527}, {50, 453, 746}} {
		for i, share := range []float64{1, 1 / float64(c[0])} {
			n := c[1+i]
			chance := 0.0
			for k, p := range binomialLaw(n, 0.88) {
				iv, err := ExactSides(Tally{k, n}, Tally{k, n}, share*sideError(0.95), 0.025, 0.95)
				if err != nil {
					t.Fatal(err)
				}
				if iv.Lower >= 0.8 {
					chance += p
				}
			}
			near(t, fmt.Sprintf("chance that all of %d groups of %d pass", c[0], n), math.Pow(chance, float64(c[0])), 0.81, 0.03)
		}
	}
}

// rational is a float64 as the decimal it is printed as.
func rational(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	if !ok {
		panic(x)
	}
	return r
}

// rateEnd draws a rate's end as the intervals have it, ends of the scale and very small ones included.
func rateEnd(t *rapid.T, name string) float64 {
	switch rapid.IntRange(0, 5).Draw(t, name+" kind") {
	case 0:
		return 0
	case 1:
		return 1
	case 2:
		return float64(rapid.IntRange(1, 99).Draw(t, name)) / 100
	case 3:
		return decimal(rapid.Int64Range(1, 9_999_999_999).Draw(t, name), -rapid.IntRange(10, 40).Draw(t, name+" places"))
	}
	return decimal(rapid.Int64Range(1_000_000_000, 9_999_999_999).Draw(t, name), -rapid.IntRange(10, 13).Draw(t, name+" places"))
}

func rateInterval(t *rapid.T, name string) Interval {
	x, y := rateEnd(t, name+" one end"), rateEnd(t, name+" other end")
	if x > y {
		x, y = y, x
	}
	if y == 0 {
		y = 1e-10
	}
	return Interval{x, y, 0.95, MethodBonferroni, LooksOne}
}

// TestGroupGapExact compares with exact fractions, rounded outward to multiples of 1e-10.
func TestGroupGapExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := rateInterval(t, "p"), rateInterval(t, "q")
		got := GroupGap(p, q, 0.95)
		if got != GroupGap(q, p, 0.95) {
			t.Fatalf("not symmetric: %v and %v", got, GroupGap(q, p, 0.95))
		}
		minus := func(x, y float64) *big.Rat { return new(big.Rat).Sub(rational(x), rational(y)) }
		lower, upper := new(big.Rat), minus(p.Upper, q.Lower)
		for _, r := range []*big.Rat{minus(p.Lower, q.Upper), minus(q.Lower, p.Upper)} {
			if r.Cmp(lower) > 0 {
				lower = r
			}
		}
		if r := minus(q.Upper, p.Lower); r.Cmp(upper) > 0 {
			upper = r
		}
		gridStep := big.NewRat(1, 10_000_000_000)
		slack := func(outer, inner *big.Rat) bool { // 0 <= inner − outer < one step
			d := new(big.Rat).Sub(inner, outer)
			return d.Sign() >= 0 && d.Cmp(gridStep) < 0
		}
		if !slack(rational(got.Lower), lower) || !slack(upper, rational(got.Upper)) {
			t.Fatalf("%v and %v: [%v, %v], exactly [%s, %s]", p, q, got.Lower, got.Upper, lower.FloatString(25), upper.FloatString(25))
		}
		for _, end := range []float64{got.Lower, got.Upper} {
			if !new(big.Rat).Quo(rational(end), gridStep).IsInt() {
				t.Fatalf("%v is no multiple of 1e-10", end)
			}
		}
	})
}

// TestGroupGapEquality: a gap that is a threshold as a decimal is the threshold, although the difference of the two nearest
// float64 is not.
func TestGroupGapEquality(t *testing.T) {
	missed := 0
	for _, c := range []struct{ low, high, gap float64 }{
		{0.1, 0.15, 0.05}, {0.25, 0.3, 0.05}, {0.7, 0.8, 0.1}, {0.3, 0.35, 0.05}, {0.85, 0.9, 0.05}, {0.95, 1, 0.05}, {0, 0.05, 0.05},
		{0.1234567891, 0.1734567891, 0.05}, {0.01000000005, 0.06000000005, 0.05}, {0.009123456789, 0.059123456789, 0.05},
		{0.01000000005, 0.06000000006, 0.0500000001}, // rounded up
	} {
		if c.high-c.low != c.gap {
			missed++
		}
		p, q := Interval{Lower: c.high, Upper: c.high}, Interval{Lower: c.low, Upper: c.low}
		if i := GroupGap(p, q, 0.95); i.Upper != c.gap {
			t.Errorf("%v − %v = %v, want %v", c.high, c.low, i.Upper, c.gap)
		}
	}
	if i := GroupGap(Interval{Lower: 0.06000000006, Upper: 1}, Interval{Upper: 0.01000000005}, 0.95); i.Lower != 0.05 {
		t.Errorf("lower end %v, want .05000000001 rounded down", i.Lower)
	}
	if missed < 5 {
		t.Error("the cases have become too easy")
	}
}

// TestGroupRatioExact compares with exact fractions, rounded outward to 10 significant digits.
func TestGroupRatioExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := rateInterval(t, "p"), rateInterval(t, "q")
		got := GroupRatio(p, q, 0.95)
		if got != GroupRatio(q, p, 0.95) {
			t.Fatalf("not symmetric: %v and %v", got, GroupRatio(q, p, 0.95))
		}
		over := func(x, y float64) *big.Rat { return new(big.Rat).Quo(rational(x), rational(y)) }
		lower := over(p.Lower, q.Upper)
		if r := over(q.Lower, p.Upper); r.Cmp(lower) < 0 {
			lower = r
		}
		upper := big.NewRat(1, 1)
		for _, x := range [][2]float64{{p.Upper, q.Lower}, {q.Upper, p.Lower}} {
			if x[1] > 0 {
				if r := over(x[0], x[1]); r.Cmp(upper) < 0 {
					upper = r
				}
			}
		}
		// FloatPrec tells how many decimals a number has; 10 digits are compared by one unit of the tenth.
		slack := func(outer, inner *big.Rat, end float64) bool {
			text := strconv.FormatFloat(end, 'e', 9, 64)
			again, _ := strconv.ParseFloat(text, 64)
			power, _ := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
			unit, _ := new(big.Rat).SetString("1e" + strconv.Itoa(power-9))
			d := new(big.Rat).Sub(inner, outer)
			return again == end && d.Sign() >= 0 && d.Cmp(unit) < 0
		}
		if !slack(rational(got.Lower), lower, got.Lower) || !slack(upper, rational(got.Upper), got.Upper) {
			t.Fatalf("%v and %v: [%v, %v], exactly [%s, %s]", p, q, got.Lower, got.Upper, lower.FloatString(45), upper.FloatString(45))
		}
		if !(0 <= got.Lower && got.Lower <= got.Upper && 0 < got.Upper && got.Upper <= 1) {
			t.Fatalf("%v and %v: %v", p, q, got)
		}
	})
}

// TestAtLeastTimes: against exact fractions, at products that are equal as decimals and next to them.
func TestAtLeastTimes(t *testing.T) {
	exactly := func(x, y, z float64) bool {
		return rational(x).Cmp(new(big.Rat).Mul(rational(y), rational(z))) >= 0
	}
	floats := 0
	rapid.Check(t, func(t *rapid.T) {
		y := rateEnd(t, "y")
		threshold := rateEnd(t, "t")
		if rapid.Bool().Draw(t, "17 digits") {
			threshold = rapid.Float64Range(0, 10).Draw(t, "any t")
		}
		product, _ := new(big.Rat).Mul(rational(threshold), rational(y)).Float64()
		for _, x := range []float64{rateEnd(t, "x"), product, math.Nextafter(product, 2), math.Nextafter(product, 0), threshold * y} {
			if got := AtLeastTimes(x, threshold, y); got != exactly(x, threshold, y) {
				t.Fatalf("%v >= %v·%v: %v", x, threshold, y, got)
			}
			if exactly(x, threshold, y) != (x >= threshold*y) {
				floats++
			}
		}
	})
	if floats == 0 {
		t.Error("float64 arithmetic would have done: the cases are too easy")
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		x, t, y float64
		want    bool
	}{
		{0.56, 0.8, 0.7, true}, {0.24, 0.8, 0.3, true}, {0.08, 0.8, 0.1, true}, // .8·.7 is .5599999999999999 and .8·.3 is .24 in float64
		{0.5599999999, 0.8, 0.7, false}, {0.06, 0.6, 0.1, true}, {0.07, 0.7, 0.1, true},
		{0, 0.8, 0, true}, {0, 0, 1, true}, {0, 0.8, 1e-300, false}, {1e-300, 1e-200, 1e-200, true}, {1e-320, 1e-300, 1, false}, {0, 1e-200, 1e-200, false},
		{nan, 1, 1, false}, {1, nan, 0, false}, {1, 1, nan, false}, {inf, 1, 1, false}, {-1, 1, 1, false}, {1, -1, 1, false}, {1, 0, -1, false},
	} {
		if got := AtLeastTimes(c.x, c.t, c.y); got != c.want {
			t.Errorf("%v >= %v·%v: %v", c.x, c.t, c.y, got)
		}
	}
}

// TestGroupsBySection: the numbers of the audit, section 5: for equal observed rates of .1 the upper end of the gap at
// 95 % for 2, 4 and 12 groups (5f); for observed rates .4 and .5 a ratio on either side of .8 (5b).
func TestGroupsBySection(t *testing.T) {
	for _, c := range []struct {
		n    int
		want [3]float64
	}{{100, [3]float64{.144, .159, .181}}, {1000, [3]float64{.044, .048, .055}}, {4000, [3]float64{.0215, .0239, .0274}}} {
		for g, groups := range []int{2, 4, 12} {
			i, err := GroupRate(Tally{c.n / 10, c.n}, Tally{c.n / 10, c.n}, 0.95, groups)
			if err != nil {
				t.Fatal(err)
			}
			// Published to three digits or to the fourth decimal.
			near(t, fmt.Sprintf("gap of %d groups of %d", groups, c.n), GroupGap(i, i, 0.95).Upper, c.want[g], map[bool]float64{true: 0.0005001, false: 0.00005001}[c.n < 4000])
		}
	}
	zero, err := GroupRate(Tally{0, 50}, Tally{0, 50}, 0.95, 2)
	if err != nil {
		t.Fatal(err)
	}
	if i := GroupRatio(zero, zero, 0.95); i.Lower != 0 || i.Upper != 1 {
		t.Errorf("two groups without an event: ratio %v, want 0 to 1", i)
	}
	if AtLeastTimes(zero.Lower, 0.8, zero.Upper) || !AtLeastTimes(zero.Upper, 0.8, zero.Lower) {
		t.Error("two groups without an event are decided")
	}
}

// TestGroupErrors: what cannot be computed is refused, in words that say what was found and what is allowed.
func TestGroupErrors(t *testing.T) {
	fine, nan := Tally{1, 2}, math.NaN()
	for name, c := range map[string]struct {
		low, high           Tally
		errors              [2]float64
		confidence          float64
		groups              int
		want                string
		rateOnly, sidesOnly bool
	}{
		"no groups":        {fine, fine, [2]float64{.1, .1}, .95, 0, "the number of groups is 0; it must be 1 or more", true, false},
		"k above n":        {Tally{3, 2}, fine, [2]float64{.1, .1}, .95, 1, "3 events and 0 missing exceed the denominator 2", false, false},
		"negative":         {fine, Tally{-1, 2}, [2]float64{.1, .1}, .95, 1, "neither can be negative", false, false},
		"too many":         {fine, Tally{1, maxCount + 1}, [2]float64{.1, .1}, .95, 1, "from 0 to 1000000000000", false, false},
		"successes fall":   {Tally{2, 3}, Tally{1, 2}, [2]float64{.1, .1}, .95, 1, "2 of 3 is no completion below 1 of 2: it must have no more successes and no fewer failures", false, false},
		"failures rise":    {Tally{1, 2}, Tally{1, 3}, [2]float64{.1, .1}, .95, 1, "no completion below 1 of 3", false, false},
		"confidence":       {fine, fine, [2]float64{.1, .1}, 1, 1, "confidence is 1", false, false},
		"confidence NaN":   {fine, fine, [2]float64{.1, .1}, nan, 1, "confidence is NaN", false, false},
		"lower error 0":    {fine, fine, [2]float64{0, .1}, .95, 1, "the error of the lower end is 0; it must be at least 1e-100 and at most 0.25", false, true},
		"upper error high": {fine, fine, [2]float64{.1, .3}, .95, 1, "the error of the upper end is 0.3", false, true},
		"error NaN":        {fine, fine, [2]float64{nan, .1}, .95, 1, "the error of the lower end is NaN", false, true},
		"error tiny":       {fine, fine, [2]float64{.1, 1e-101}, .95, 1, "the error of the upper end is 1e-101", false, true},
	} {
		check := func(function string, i Interval, err error) {
			if err == nil || !strings.Contains(err.Error(), c.want) || i != (Interval{}) {
				t.Errorf("%s, %s: %v, error %v, want one with %q", name, function, i, err, c.want)
			}
		}
		if !c.sidesOnly {
			i, err := GroupRate(c.low, c.high, c.confidence, c.groups)
			check("GroupRate", i, err)
			i, err = GroupRateSequence(c.low, c.high, c.confidence, c.groups)
			check("GroupRateSequence", i, err)
		}
		if !c.rateOnly {
			i, err := ExactSides(c.low, c.high, c.errors[0], c.errors[1], c.confidence)
			check("ExactSides", i, err)
			i, err = FisherGap(c.low, c.high, fine, fine, c.errors[1], c.errors[0], c.confidence)
			check("FisherGap", i, err)
			i, err = FisherGap(fine, fine, c.low, c.high, c.errors[1], c.errors[0], c.confidence)
			check("FisherGap", i, err)
			if !c.sidesOnly {
				i, err = FisherDifference(fine, fine, c.low, c.high, c.confidence)
				check("FisherDifference", i, err)
			}
		}
	}
}

// TestGroupGolden: results to 17 digits that every architecture must give byte for byte, in testdata/groups.golden. The file
// guards against change; that the numbers are right is the business of the other tests.
func TestGroupGolden(t *testing.T) {
	var out bytes.Buffer
	tallies := [][2]Tally{ // of the lower and the upper completion
		{{0, 0}, {0, 0}}, {{0, 1}, {0, 1}}, {{1, 1}, {1, 1}}, {{0, 3}, {2, 3}}, {{12, 12}, {12, 12}}, {{3, 40}, {5, 38}}, {{30, 45}, {34, 43}},
		{{99, 100}, {100, 100}}, {{100, 1000}, {100, 1000}}, {{4000, 9000}, {4010, 9000}}, {{123_456, 1_000_000}, {123_456, 1_000_000}},
		{{7, 10_000_000}, {7, 10_000_000}}, {{9_000_000, 10_000_000}, {9_000_100, 10_000_000}},
	}
	for i, x := range tallies {
		for _, groups := range []int{1, 2, 12, 10_000} {
			rate, err := GroupRate(x[0], x[1], 0.95, groups)
			if err != nil {
				t.Fatal(err)
			}
			sequence, err := GroupRateSequence(x[0], x[1], 0.95, groups)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "rate %v %d: %.17g %.17g %.17g, sequence %.17g %.17g\n", x, groups, rate.Confidence, rate.Lower, rate.Upper, sequence.Lower, sequence.Upper)
		}
		sides, err := ExactSides(x[0], x[1], 0.025, 0.025/6, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "sides %v: %.17g %.17g\n", x, sides.Lower, sides.Upper)
		for _, y := range tallies[:i+1] {
			p, err := GroupRate(x[0], x[1], 0.95, 12)
			if err != nil {
				t.Fatal(err)
			}
			q, err := GroupRate(y[0], y[1], 0.95, 12)
			if err != nil {
				t.Fatal(err)
			}
			gap, ratio := GroupGap(p, q, 0.95), GroupRatio(p, q, 0.95)
			fisher, err := FisherGap(x[0], x[1], y[0], y[1], 0.025, 0.05/132, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			difference, err := FisherDifference(x[0], x[1], y[0], y[1], 0.999)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%v %v: gap %.17g %.17g, ratio %.17g %.17g, fisher %.17g %.17g, difference %.17g %.17g\n",
				x, y, gap.Lower, gap.Upper, ratio.Lower, ratio.Upper, fisher.Lower, fisher.Upper, difference.Lower, difference.Upper)
		}
	}
	for _, n := range []int{1, 2, 37, 1000, 123_456_789} {
		for _, p := range []float64{1e-9, 0.1, 1. / 3, 0.5, 0.75, 0.999} {
			fmt.Fprintf(&out, "deviation %d %v: %.17g\n", n, p, MeanDeviation(n, p))
		}
	}
	const path = "testdata/groups.golden"
	if *update {
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := bytes.Split(out.Bytes(), []byte("\n")), bytes.Split(want, []byte("\n"))
	if len(got) != len(wanted) || len(got) < 150 {
		t.Errorf("%d lines here, %d in %s", len(got), len(wanted), path)
	}
	for i := range min(len(got), len(wanted)) {
		if !bytes.Equal(got[i], wanted[i]) {
			t.Errorf("line %d of %s:\n%s\nhere:\n%s", i+1, path, wanted[i], got[i])
		}
	}
}

// FuzzGroups: any counts and errors give intervals on their scale or an error, never a panic or a NaN.
func FuzzGroups(f *testing.F) {
	f.Add(3, 10, 1, 2, 5, 9, 0, 1, 0.95, 0.025, 0.001)
	f.Add(0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0.25, 1e-100)
	f.Add(-1, math.MinInt, 7, 1, 1, math.MaxInt, 1, 1, math.NaN(), math.Inf(1), -1.0)
	f.Add(999_999, 1_000_000, 0, 0, 1, 1, 0, 0, 1-0x1p-53, 1e-100, 0.2)
	f.Fuzz(func(t *testing.T, k, n, more, fewer, k2, n2, more2, fewer2 int, confidence, upperError, lowerError float64) {
		if n > 10_000_000 {
			n %= 10_000_000 // the largest counts are slow for a fuzzer; TestFisherBigCounts has them
		}
		if n2 > 10_000_000 {
			n2 %= 10_000_000
		}
		low, high := Tally{k, n}, Tally{k + more, n + more - fewer}
		low2, high2 := Tally{k2, n2}, Tally{k2 + more2, n2 + more2 - fewer2}
		for _, c := range []struct {
			name  string
			scale Scale
			do    func() (Interval, error)
		}{
			{"GroupRate", Unit, func() (Interval, error) { return GroupRate(low, high, confidence, k2) }},
			{"GroupRateSequence", Unit, func() (Interval, error) { return GroupRateSequence(low, high, confidence, k2) }},
			{"ExactSides", Unit, func() (Interval, error) { return ExactSides(low, high, lowerError, upperError, confidence) }},
			{"FisherGap", Unit, func() (Interval, error) {
				return FisherGap(low, high, low2, high2, upperError, lowerError, confidence)
			}},
			{"FisherDifference", Difference, func() (Interval, error) { return FisherDifference(low, high, low2, high2, confidence) }},
		} {
			i, err := c.do()
			if err == nil && !(c.scale.Lower <= i.Lower && i.Lower <= i.Upper && i.Upper <= c.scale.Upper && i.Upper > c.scale.Lower) {
				t.Errorf("%s of %v, %v, %v, %v at %v, %v, %v: %v", c.name, low, high, low2, high2, confidence, upperError, lowerError, i)
			}
		}
		i, j := Interval{Lower: upperError, Upper: lowerError}, Interval{Lower: confidence, Upper: upperError}
		GroupGap(i, j, confidence)
		GroupRatio(i, j, confidence)
		AtLeastTimes(upperError, lowerError, confidence)
		if d := MeanDeviation(n, confidence); n >= 0 && confidence >= 0 && confidence <= 1 && !(d >= 0 && d <= 0.5) {
			t.Errorf("mean deviation of %d at %v: %v", n, confidence, d)
		}
	})
}
