package humanai

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// simulated draws a crossed study as a tally, without files: person i is right with probability pWith[i] with the
// output and pWithout[i] without it, in so many decisions a condition. A person with stops[i] has no decision with
// the output.
func simulated(r *rand.Rand, decisions int, pWith, pWithout []float64, stops []bool) *Tally {
	t := newTally(0, false)
	diags := &diag.List{}
	for i := range pWith {
		for _, c := range []condition{without, with} {
			if c == with && stops != nil && stops[i] {
				continue
			}
			p := pWithout[i]
			if c == with {
				p = pWith[i]
			}
			for d := range decisions {
				value := "wrong"
				if r.Float64() < p {
					value = "right"
				}
				k := key{person: fmt.Sprint("p", i), item: fmt.Sprint(c, d), condition: c}
				t.add(k, row{decision: text{value, true}, output: text{"right", true}}, "right", diags)
			}
		}
	}
	return t
}

// decision decides accuracy_difference >= 0 on a tally.
func decision(t *testing.T, tally *Tally, declared string, j policy.Judging) (report.Verdict, measured) {
	t.Helper()
	v := newStudy(tally, nil, declared).whole(nil, j.WithDefaults())
	m, err := v.difference()
	if err != nil {
		t.Fatal(err)
	}
	r := report.Rule{Measure: m.Measure, Threshold: report.Threshold{Kind: report.Minimum}}
	gate.Conclude(&r, m.doubts)
	return r.Verdict, m
}

// TestWidths: with six people of realistic spread the interval is about 1.2 wide and with ten about 0.8 (the source
// document); the medians 1.16 and .83 are those of the table in docs/methods.md (15 decisions an arm, person sd .1).
func TestWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		people int
		want   float64
	}{{6, 1.16}, {10, 0.83}} {
		var widths []float64
		for range 301 {
			pWith, pWithout := make([]float64, c.people), make([]float64, c.people)
			for i := range pWith {
				pWithout[i] = clamp(0.6 + 0.1*r.NormFloat64())
				pWith[i] = clamp(pWithout[i] + 0.1 + 0.1*r.NormFloat64())
			}
			_, m := decision(t, simulated(r, 15, pWith, pWithout, nil), "", policy.Judging{})
			widths = append(widths, m.Interval.Width())
		}
		if got := median(widths); math.Abs(got-c.want) > 0.04 {
			t.Errorf("%d people: median width %.3f, want about %.2f", c.people, got, c.want)
		}
	}
}

func clamp(x float64) float64 { return min(max(x, 0), 1) }

// TestPeopleWhoStop is the counterexample of people who stop before the arm that harms them: 60 % of people gain .15,
// 40 % lose .30, and 90 % of the losers stop before the decisions with the output. The true mean gain is −.03, so
// PASS of `minimum: 0` is an error, of which 2.5 % are allowed. Leaving one-armed people out passes far more often
// (published: 12 %); max_left_out leaves such a file undecided, and declared crossed completes their missing arm.
func TestPeopleWhoStop(t *testing.T) {
	const studies, peopleEach = 150, 100
	r := rand.New(rand.NewPCG(2, 2))
	naive, careful, declared := 0, 0, 0
	for range studies {
		pWith, pWithout, stops := make([]float64, peopleEach), make([]float64, peopleEach), make([]bool, peopleEach)
		for i := range pWith {
			pWithout[i] = 0.6
			if r.Float64() < 0.6 {
				pWith[i] = 0.75
			} else {
				pWith[i], stops[i] = 0.3, r.Float64() < 0.9
			}
		}
		tally := simulated(r, 10, pWith, pWithout, stops)
		// The naive rule: the same program, told that any number of people may be left out.
		if v, _ := decision(t, tally, "", policy.Judging{MaxLeftOut: policy.Number{Text: "1", Value: 1, Set: true}}); v == report.Pass {
			naive++
		}
		if v, _ := decision(t, tally, "", policy.Judging{}); v == report.Pass {
			careful++
		}
		if v, _ := decision(t, tally, crossed, policy.Judging{}); v == report.Pass {
			declared++
		}
	}
	t.Logf("PASS while the truth is -0.03: one-armed people left out %d of %d, max_left_out %d, missing arms completed %d", naive, studies, careful, declared)
	if naive < studies/10 {
		t.Errorf("leaving one-armed people out passed %d of %d; the counterexample no longer bites", naive, studies)
	}
	if careful != 0 || declared != 0 {
		t.Errorf("false PASS: %d with max_left_out, %d with the missing arms completed; want none", careful, declared)
	}
}

// crossing is the exact probability that some look at n = 1, 2, …, last excludes the truth p from below, for
// independent 0/1 values looked at one by one, where excludes tells whether k successes of n do.
func crossing(last int, p float64, excludes func(k, n int) bool) float64 {
	alive := map[int]float64{0: 1} // successes → probability of not having crossed
	crossed := 0.0
	for n := 1; n <= last; n++ {
		next := map[int]float64{}
		for k, q := range alive {
			next[k+1] += q * p
			next[k] += q * (1 - p)
		}
		for k := range next {
			if excludes(k, n) {
				crossed += next[k]
				delete(next, k)
			}
		}
		alive = next
	}
	return crossed
}

// TestLookBeforeThePlan is the counterexample of looking before the planned number is there: Dirichlet at each n up to
// N errs far more than its 2.5 % a side, the absent units completed both ways never more. Exact probabilities, worst
// over a grid of truths.
func TestLookBeforeThePlan(t *testing.T) {
	const planned = 30
	j := policy.Judging{Looks: policy.Text{Value: policy.LooksOnce, Set: true}, Planned: policy.Int{Value: planned, Set: true}}.WithDefaults()
	bound := func(k, n int, mean func(values []float64, n int) (interval.Interval, error)) float64 {
		values := make([]float64, n)
		for i := range k {
			values[i] = 1
		}
		iv, err := mean(values, n)
		if err != nil {
			t.Fatal(err)
		}
		return iv.Lower
	}
	var peeking, planning [planned + 1][planned + 1]float64
	for n := 1; n <= planned; n++ {
		for k := range n + 1 {
			peeking[n][k] = bound(k, n, func(v []float64, _ int) (interval.Interval, error) {
				return interval.Dirichlet(v, v, interval.Unit, 0.95)
			})
			planning[n][k] = bound(k, n, func(v []float64, n int) (interval.Interval, error) {
				iv, _, err := gate.Mean(v, v, interval.Unit, n, j)
				return iv, err
			})
		}
	}
	worstPeek, worstPlan := 0.0, 0.0
	for p := 0.02; p < 1; p += 0.02 {
		worstPeek = max(worstPeek, crossing(planned, p, func(k, n int) bool { return peeking[n][k] > p }))
		worstPlan = max(worstPlan, crossing(planned, p, func(k, n int) bool { return planning[n][k] > p }))
	}
	t.Logf("worst error of the lower side over all looks up to %d: Dirichlet at each look %.4f, absent units completed %.4f (allowed 0.025)", planned, worstPeek, worstPlan)
	if worstPeek < 0.05 {
		t.Errorf("looking at each n errs %.4f; the counterexample no longer bites", worstPeek)
	}
	if worstPlan > 0.025 || worstPlan < 0.01 {
		t.Errorf("the planned interval errs %.4f; want at most 0.025, and not far below", worstPlan)
	}
}

// TestFalsePass: at a true mean gain of exactly 0, `minimum: 0` passes and fails no more often than 2.5 % each, with and
// without a plan. Each person gains or loses everything with a fair coin, the law at which the planned interval is
// tightest (it is then the exact binomial one, whose error at 40 coins is 0.0192: P(Bin(40, 1/2) >= 27)); that rate must
// be met from both sides, so that a bound moved inward or outward by a few per cent is noticed. Printed with its Monte
// Carlo error.
func TestFalsePass(t *testing.T) {
	const studies, exact = 3000, 0.0192
	r := rand.New(rand.NewPCG(3, 3))
	once := policy.Judging{Looks: policy.Text{Value: policy.LooksOnce, Set: true}, Planned: policy.Int{Value: 40, Set: true}}
	counts := map[string]int{}
	for range studies {
		pWith, pWithout := make([]float64, 40), make([]float64, 40)
		for i := range pWith {
			if r.Float64() < 0.5 {
				pWith[i] = 1
			} else {
				pWithout[i] = 1
			}
		}
		tally := simulated(r, 1, pWith, pWithout, nil)
		for name, j := range map[string]policy.Judging{"sequence": {}, "planned": once} {
			v, _ := decision(t, tally, "", j)
			counts[name+" "+v.String()]++
		}
	}
	for _, name := range []string{"sequence PASS", "sequence FAIL", "planned PASS", "planned FAIL"} {
		iv, err := interval.ClopperPearson(counts[name], 0, studies, 0.999)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d of %d (%.4f to %.4f), allowed 0.025", name, counts[name], studies, iv.Lower, iv.Upper)
		if iv.Lower > 0.025 {
			t.Errorf("%s: %d of %d at a true gain of 0, more than 2.5 %%", name, counts[name], studies)
		}
		if name[:7] == "planned" && (iv.Lower > exact || iv.Upper < exact) {
			t.Errorf("%s: %d of %d, want about %.4f", name, counts[name], studies, exact)
		}
	}
}
