package gate

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// TestTip: the two limits of one that passes up to p and fails from f, for every p and f; nil where all comes to one verdict.
func TestTip(t *testing.T) {
	const missing = 6
	for p := -1; p <= missing; p++ {
		for f := p + 1; f <= missing+1; f++ {
			tip, err := Tip(missing, true, "9 cases", "wrong", func(bad int) (bool, error) { return bad <= p, nil }, func(bad int) (bool, error) { return bad >= f, nil })
			if one := p == missing || f == 0 || p < 0 && f > missing; err != nil || one != (tip == nil) {
				t.Fatalf("up to %d, from %d: %+v, %v", p, f, tip, err)
			}
			if tip == nil {
				continue
			}
			if (tip.PassUpTo == nil) != (p < 0) || p >= 0 && *tip.PassUpTo != p || (tip.FailFrom == nil) != (f > missing) || f <= missing && *tip.FailFrom != f {
				t.Errorf("up to %d, from %d: %+v", p, f, tip)
			}
		}
	}
	broken := errors.New("broken")
	fault, never := func(int) (bool, error) { return false, broken }, func(int) (bool, error) { return false, nil }
	for _, both := range [][2]func(int) (bool, error){{fault, never}, {never, fault}} {
		if _, err := Tip(missing, true, "9 cases", "wrong", both[0], both[1]); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	}
	if tip, err := Tip(0, true, "9 cases", "wrong", nil, nil); tip != nil || err != nil {
		t.Errorf("of nothing missing: %+v, %v", tip, err)
	}
}

// TestSplits: every way to share bad values between two kinds is in one of those that are looked at, or below one; where there are few,
// each stands for itself.
func TestSplits(t *testing.T) {
	for _, kinds := range [][]int{{3, 4}, {0, 5}, {400, 7}, {300, 300}} {
		for bad := 0; bad <= kinds[0]+kinds[1]; bad += 1 + bad/5 {
			list := splits(bad, kinds)
			if len(list) > mostSplits+1 {
				t.Errorf("%d of %v: %d ways", bad, kinds, len(list))
			}
			for a := max(0, bad-kinds[1]); a <= min(bad, kinds[0]); a++ {
				found := false
				for _, s := range list {
					found = found || s[0] >= a && s[1] >= bad-a
				}
				if !found {
					t.Fatalf("%d of %v: %d and %d is in none of %v", bad, kinds, a, bad-a, list)
				}
			}
			for _, s := range list {
				if few := min(bad, kinds[0])-max(0, bad-kinds[1]) < mostSplits; s[0] > kinds[0] || s[1] > kinds[1] || few && s[0]+s[1] != bad {
					t.Errorf("%d of %v: %v", bad, kinds, s)
				}
			}
		}
	}
}

// TestTipOfMeans tries every way to fill what is missing of small samples: the tipping point is on the safe side, or exact where one
// unit has all of it; there is none while planned units are not there yet. Samples are drawn by a fixed seed.
func TestTipOfMeans(t *testing.T) {
	draw := rand.New(rand.NewPCG(7, 7))
	planned := policy.Judging{Looks: policy.Text{Value: policy.LooksOnce, Set: true}}.WithDefaults()
	symPol := planned
	symPol.MeanMethod = policy.Text{Value: policy.SymPol, Set: true}
	sequence := policy.Judging{}.WithDefaults()
	tips, exact := 0, 0
	for round := range 24 {
		j := []policy.Judging{sequence, planned, symPol}[round%3]
		n := 2 + draw.IntN(9)
		j.Planned = policy.Int{Value: n, Set: true}
		sample := MeanSample{Scale: interval.Unit, Enrolled: n, Unit: "people"}
		var owner []int // of each missing value
		var steps []float64
		of := make([]int, n) // decisions
		for i := range n {
			of[i] = 1 + draw.IntN(4)
			missing := 0
			if len(owner) < 8 {
				missing = draw.IntN(min(of[i], 8-len(owner)) + 1)
			}
			k := draw.IntN(of[i] - missing + 1)
			if round%2 == 0 {
				k = (of[i] - missing) * draw.IntN(2)
			}
			sample.Low, sample.High = append(sample.Low, float64(k)/float64(of[i])), append(sample.High, float64(k+missing)/float64(of[i]))
			for range missing {
				owner, steps = append(owner, i), append(steps, 1/float64(of[i]))
			}
		}
		total := len(steps)
		if total == 0 {
			continue
		}
		// The intervals of all ways, by which values are high.
		ends := make([]interval.Interval, 1<<total)
		for high := range ends {
			values := append([]float64(nil), sample.Low...)
			for b, i := range owner {
				if high>>b&1 == 1 {
					values[i] += 1 / float64(of[i])
				}
			}
			for i := range values {
				values[i] = min(1, values[i])
			}
			iv, _, err := Mean(values, values, interval.Unit, len(values), j)
			if err != nil {
				t.Fatal(err)
			}
			ends[high] = iv
		}
		for _, kind := range []report.Kind{report.Minimum, report.Maximum} {
			for at := 0.03; at < 1; at += 0.07 {
				threshold := report.Threshold{Kind: kind, Value: at}
				firstNot, failFrom := total+1, total+1
				for high, iv := range ends {
					bad := bits.OnesCount(uint(high))
					if kind == report.Minimum {
						bad = total - bad
					}
					v := threshold.Compare(iv.Lower, iv.Upper)
					if v != report.Pass {
						firstNot = min(firstNot, bad)
					}
					if v == report.Fail {
						failFrom = min(failFrom, bad)
					}
				}
				tip, err := sample.Tip(Ways{Of: 40, Unit: "decisions", Low: "wrong", High: "right"}, steps, threshold, j)
				if err != nil {
					t.Fatal(err)
				}
				one := firstNot > total || failFrom == 0 || firstNot == 0 && failFrom > total
				if tip == nil {
					if !one {
						t.Errorf("round %d, %s %.2f: none, and passes up to %d, fails from %d", round, kind, at, firstNot-1, failFrom)
					}
					continue
				}
				passUpTo, from := -1, total+1
				if tip.PassUpTo != nil {
					passUpTo = *tip.PassUpTo
				}
				if tip.FailFrom != nil {
					from = *tip.FailFrom
				}
				if early := j; round%3 > 0 && at < 0.1 { // one more was planned
					early.Planned.Value++
					if none, err := sample.Tip(Ways{Of: 40, Unit: "decisions", Low: "wrong", High: "right"}, steps, threshold, early); none != nil || err != nil {
						t.Errorf("round %d: before the planned number is there: %+v, %v", round, none, err)
					}
				}
				if tip.Missing != total || passUpTo >= firstNot || from > failFrom || tip.Alike && (passUpTo != firstNot-1 || from != failFrom) {
					t.Errorf("round %d, %s %.2f: %d missing, up to %d, from %d (alike %t); tried: %d, up to %d, from %d", round, kind, at, tip.Missing, passUpTo, from, tip.Alike, total, firstNot-1, failFrom)
				}
				tips++
				if passUpTo == firstNot-1 && from == failFrom {
					exact++
				}
			}
		}
	}
	t.Logf("%d tipping points, %d exact", tips, exact)
	if tips < 50 || 2*exact < tips {
		t.Errorf("%d tipping points, %d exact: most should be", tips, exact)
	}
}
