package gate

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// TestFillOnAnyScale holds the two lists of Lowered against their definitions, on scales that do not begin at 0 too. With D the sum of the
// largest steps: the sums of the j smallest values of the first list are the greatest convex function of j below
// max(sum of the j smallest of all high − D, sum of the j smallest of all low), for every j; the second list is the high values capped at
// one level, none below its own low value, where together they have fallen by D. Samples are drawn by a fixed seed.
func TestFillOnAnyScale(t *testing.T) {
	const near = 1e-9 // far above rounding, and above the slack times the number of units
	draw := rand.New(rand.NewPCG(11, 11))
	for round, scale := range slices.Repeat([]interval.Scale{{Lower: 0, Upper: 1}, {Lower: -1, Upper: 1}, {Lower: -0.5, Upper: 2}}, 20) {
		n := 2 + draw.IntN(8)
		f := Fill{Scale: scale}
		width := scale.Upper - scale.Lower
		for range n {
			of := 1 + draw.IntN(4)
			missing := draw.IntN(of + 1)
			k := draw.IntN(of - missing + 1)
			f.Low = append(f.Low, scale.Lower+width*float64(k)/float64(of))
			f.High = append(f.High, scale.Lower+width*float64(k+missing)/float64(of))
			for range missing {
				f.Steps = append(f.Steps, width/float64(of))
			}
		}
		high, low := slices.Sorted(slices.Values(f.High)), slices.Sorted(slices.Values(f.Low))
		for bad := 1; bad < len(f.Steps); bad++ {
			steps := slices.Sorted(slices.Values(f.Steps))
			fall := 0.0
			for _, s := range steps[len(steps)-bad:] {
				fall += s
			}
			// From the bottom of the scale, so that nothing is negative.
			bound := make([]float64, n+1)
			h, l := 0.0, 0.0
			for j := range n {
				h, l = h+high[j]-scale.Lower, l+low[j]-scale.Lower
				bound[j+1] = max(h-fall, l)
			}
			apart, even := f.Lowered(bad)
			if len(apart) != n || len(even) != n {
				t.Fatalf("%d and %d values of %d units", len(apart), len(even), n)
			}
			sum := 0.0
			for j, x := range slices.Sorted(slices.Values(apart)) {
				sum += x - scale.Lower
				convex := math.Inf(1) // the lowest chord over j + 1
				for a := 0; a <= j+1; a++ {
					for b := j + 1; b <= n; b++ {
						y := bound[a]
						if b > a {
							y += (bound[b] - bound[a]) * float64(j+1-a) / float64(b-a)
						}
						convex = min(convex, y)
					}
				}
				if sum > convex+1e-14 || sum < convex-near {
					t.Errorf("round %d, %d bad of %+v: the %d smallest come to %v, and not to %v", round, bad, f, j+1, sum, convex)
				}
			}
			fell, level := 0.0, math.Inf(-1)
			for i, x := range even {
				if x > f.Low[i]+near {
					level = max(level, x)
				}
				fell += f.High[i] - x
			}
			for i, x := range even {
				capped := f.Low[i]
				if !math.IsInf(level, -1) {
					capped = max(capped, min(f.High[i], level))
				}
				if math.Abs(x-capped) > near || x < scale.Lower || x > scale.Upper {
					t.Errorf("round %d, %d bad of %+v: value %d is %v, capped %v", round, bad, f, i, x, capped)
				}
			}
			if fell < fall-1e-14 || fell > fall+near {
				t.Errorf("round %d, %d bad of %+v: the even values fall by %v, and not by %v", round, bad, f, fell, fall)
			}
			// Turned around, the same from the other end.
			up, evenUp := f.mirrored().Raised(bad)
			for i := range apart {
				if math.Abs(up[i]-(scale.Lower+scale.Upper-apart[i])) > near || math.Abs(evenUp[i]-(scale.Lower+scale.Upper-even[i])) > near {
					t.Errorf("round %d: raised it is %v and %v", round, up, evenUp)
				}
			}
		}
		// With none and with all of them there is nothing to bound: the values themselves, to the last bit.
		none, noneEven := f.Lowered(0)
		all, allEven := f.Lowered(len(f.Steps))
		if len(f.Steps) > 0 && !(slices.Equal(none, f.High) && slices.Equal(noneEven, f.High) && slices.Equal(all, f.Low) && slices.Equal(allEven, f.Low)) {
			t.Errorf("round %d: none and all", round)
		}
		none, noneEven = f.Raised(0)
		all, allEven = f.Raised(len(f.Steps))
		if len(f.Steps) > 0 && !(slices.Equal(none, f.Low) && slices.Equal(noneEven, f.Low) && slices.Equal(all, f.High) && slices.Equal(allEven, f.High)) {
			t.Errorf("round %d, raised: none and all", round)
		}
	}
}

// TestTipRate: the numbers are those at which the verdict turns when one missing value after another is bad: an event less where few events
// are bad, one more where many are.
func TestTipRate(t *testing.T) {
	const k, missing, n = 11, 6, 20
	at := func(events int) (interval.Interval, error) { return interval.ClopperPearson(events, 0, n, 0.9) }
	for _, threshold := range []report.Threshold{
		{Kind: report.Minimum, Value: 0.45}, {Kind: report.Minimum, Value: 0.3}, {Kind: report.Minimum, Value: 0.75}, {Kind: report.Minimum, Value: 0.999},
		{Kind: report.Maximum, Value: 0.75}, {Kind: report.Maximum, Value: 0.95}, {Kind: report.WorstGroup, Side: report.Maximum, Value: 0.9}, {Kind: report.Maximum, Value: 0.4},
	} {
		passUpTo, failFrom, failed := -1, missing+1, false
		for bad := 0; bad <= missing; bad++ {
			events := k + missing - bad
			if threshold.Kind == report.Maximum || threshold.Side == report.Maximum {
				events = k + bad
			}
			iv, err := at(events)
			if err != nil {
				t.Fatal(err)
			}
			switch threshold.Compare(iv.Lower, iv.Upper) {
			case report.Pass:
				passUpTo = bad
			case report.Fail:
				if !failed {
					failFrom, failed = bad, true
				}
			case report.NoVerdict, report.InsufficientEvidence, report.ManualReview:
			}
		}
		tip, err := TipRate(Ways{Unit: "decisions", Low: "wrong", High: "right"}, k, missing, n, threshold, at)
		if err != nil {
			t.Fatal(err)
		}
		if one := passUpTo == missing || failFrom == 0 || passUpTo < 0 && !failed; one != (tip == nil) {
			t.Errorf("%+v: %+v; passes up to %d, fails from %d", threshold, tip, passUpTo, failFrom)
		}
		if tip == nil {
			continue
		}
		bad := "wrong"
		if threshold.Kind == report.Maximum || threshold.Side == report.Maximum {
			bad = "right"
		}
		if (tip.PassUpTo == nil) != (passUpTo < 0) || passUpTo >= 0 && *tip.PassUpTo != passUpTo || (tip.FailFrom == nil) == failed || failed && *tip.FailFrom != failFrom {
			t.Errorf("%+v: %+v; passes up to %d, fails from %d", threshold, tip, passUpTo, failFrom)
		}
		if tip.Missing != missing || tip.Of != "20 decisions" || tip.Bad != bad || !tip.Alike {
			t.Errorf("%+v: %+v", threshold, tip)
		}
	}
}

// TestTipKinds: of several kinds of missing values the worst way to share the bad ones counts; they are alike where only one kind has any.
// Three bad ones of the second kind fail; one of the first, or two of the second, keep it from passing.
func TestTipKinds(t *testing.T) {
	judge := func(bad []int) (report.Verdict, error) {
		switch {
		case bad[1] >= 3:
			return report.Fail, nil
		case bad[0] >= 1 || bad[1] >= 2:
			return report.InsufficientEvidence, nil
		}
		return report.Pass, nil
	}
	least := report.Threshold{Kind: report.Minimum}
	for _, test := range []struct {
		kinds        []int
		pass, fail   int
		alike, turns bool
	}{
		{[]int{2, 4}, 0, 3, false, true}, {[]int{0, 4}, 1, 3, true, true}, {[]int{2, 0}, 0, 0, true, true}, {[]int{0, 1}, 0, 0, true, false}, {[]int{1, 1}, 0, 0, false, true},
	} {
		tip, err := TipKinds(Ways{Of: 9, Unit: "cases", Low: "wrong"}, test.kinds, least, judge)
		if err != nil || (tip != nil) != test.turns {
			t.Fatalf("%v: %+v, %v", test.kinds, tip, err)
		}
		if tip == nil {
			continue
		}
		if *tip.PassUpTo != test.pass || (tip.FailFrom == nil) != (test.fail == 0) || test.fail > 0 && *tip.FailFrom != test.fail || tip.Alike != test.alike || tip.Missing != test.kinds[0]+test.kinds[1] {
			t.Errorf("%v: %+v", test.kinds, tip)
		}
	}
	broken := errors.New("broken")
	if _, err := TipKinds(Ways{}, []int{1, 1}, least, func([]int) (report.Verdict, error) { return report.Pass, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestTipOfOnePerson: missing values of one person weigh alike; of steps that differ, and of several people, they may not.
func TestTipOfOnePerson(t *testing.T) {
	j := judging("", 0)
	for _, test := range []struct {
		low, high, steps []float64
		alike            bool
	}{
		{[]float64{0.5}, []float64{1}, []float64{0.25, 0.25}, true},
		{[]float64{0.5}, []float64{1}, []float64{0.25, 0.2}, false},
		{[]float64{0.5, 0.5}, []float64{0.75, 0.75}, []float64{0.25, 0.25}, false},
	} {
		s := MeanSample{Low: test.low, High: test.high, Scale: interval.Scale{Lower: 0, Upper: 1}, Enrolled: len(test.low), Unit: "people"}
		var ends [2]float64 // the lower ends of all low, and of all high; the threshold lies between them
		for i, values := range [][]float64{test.low, test.high} {
			iv, _, err := Mean(values, values, s.Scale, s.Enrolled, j)
			if err != nil {
				t.Fatal(err)
			}
			ends[i] = iv.Lower
		}
		least := report.Threshold{Kind: report.Minimum, Value: (ends[0] + ends[1]) / 2}
		tip, err := s.Tip(Ways{Of: 4, Unit: "decisions", Low: "wrong"}, test.steps, least, j)
		if err != nil || tip == nil || tip.Alike != test.alike || tip.Missing != len(test.steps) || tip.Of != "4 decisions" || tip.Bad != "wrong" {
			t.Errorf("%v: %+v, %v", test.steps, tip, err)
		}
	}
}
