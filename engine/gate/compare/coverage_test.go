package compare

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/rows"
)

// chances draws each case's chance of passing from Beta(2, 1), the larger of two uniform numbers: most cases are easy,
// some are hard.
func chances(r *rand.Rand, cases int) []float64 {
	list := make([]float64, cases)
	for i := range list {
		list[i] = max(r.Float64(), r.Float64())
	}
	return list
}

// simulated draws the trials of both versions as a tally, without files.
func simulated(r *rand.Rand, old, next []float64, trials [2]int) *Tally {
	t := newTally(nil)
	t.result = passed
	for role, list := range [2][]float64{old, next} {
		for i, p := range list {
			c := &cell{rows: trials[role]}
			for range trials[role] {
				if r.Float64() < p {
					c.add(whole, true)
				} else {
					c.add(rows.Decimal{}, false)
				}
			}
			t.of(roles[role])[fmt.Sprint(i)] = c
			t.cases[fmt.Sprint(i)] = nil
		}
	}
	return t
}

// TestSameAgentTwice: the same agent in both versions is called better or worse no more often than 1 − confidence, by the
// sign test and by the difference, also with unequal numbers of trials, where a sign test that compares the recorded
// shares calls "better" far too often: published .406 for 164 cases with 5 trials against 1. Each rate is printed with
// its exact 99.9 % interval, which is its Monte Carlo error.
func TestSameAgentTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and nothing in it runs side by side")
	}
	const repetitions, allowed = 2000, 0.05
	for _, c := range []struct {
		cases         int
		trials        [2]int
		naive, within float64 // published rate of "better" by the naive sign test, and the error of our comparison with it
	}{
		{30, [2]int{5, 5}, .016, .015},
		{30, [2]int{10, 1}, .152, .03},
		{164, [2]int{5, 1}, .406, .04},
	} {
		r := rand.New(rand.NewPCG(6, uint64(c.cases*c.trials[0])))
		counts := map[string]int{}
		for range repetitions {
			p := chances(r, c.cases)
			tally := simulated(r, p, p, c.trials)
			v := tally.overview(roles, plan{}).view(policy.Judging{}.WithDefaults())
			counts["sign test "+v.signed().verdict().direction.String()]++
			m, err := v.difference()
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case *m.Interval.Lower > 0:
				counts["difference better"]++
			case *m.Interval.Upper < 0:
				counts["difference worse"]++
			}
			counts["naive sign test "+naive(v).String()]++
		}
		for _, method := range []string{"naive sign test", "sign test", "difference"} {
			up, down := counts[method+" better"], counts[method+" worse"]
			either := monteCarlo(t, up+down, repetitions)
			t.Logf("%d cases, %d and %d trials, %s: better %.4f, worse %.4f, either %.4f (%.4f to %.4f), allowed %.2f", c.cases, c.trials[0], c.trials[1], method,
				float64(up)/repetitions, float64(down)/repetitions, float64(up+down)/repetitions, either.Lower, either.Upper, allowed)
			if method == "naive sign test" {
				if share := float64(up) / repetitions; share < c.naive-c.within || share > c.naive+c.within {
					t.Errorf("%d cases, %v trials: the naive sign test calls better %.3f, published %.3f", c.cases, c.trials, share, c.naive)
				}
				continue
			}
			if either.Lower > allowed || monteCarlo(t, up, repetitions).Lower > allowed/2 || monteCarlo(t, down, repetitions).Lower > allowed/2 {
				t.Errorf("%d cases, %v trials, %s: %d better and %d worse of %d", c.cases, c.trials, method, up, down, repetitions)
			}
		}
	}
}

// monteCarlo is the exact interval of a simulated rate.
func monteCarlo(t *testing.T, k, n int) interval.Interval {
	t.Helper()
	iv, err := interval.ClopperPearson(k, 0, n, 0.999)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

// naive is the sign test that leaves absent trials out: it compares the shares among recorded ones.
func naive(v *view) direction {
	var s signs
	for _, c := range v.cases {
		b, x := c.sides[baseline], c.sides[candidate]
		s.count(int(x.sum.Int64())*b.recorded - int(b.sum.Int64())*x.recorded)
	}
	return v.shows(s)
}

// TestRealChangesAreFound: an agent that passes 10 points more often in every case, on 164 cases with 5 trials, is called
// better by both, mostly; on a fixed list the pooled difference is found at least as often as by cases.
func TestRealChangesAreFound(t *testing.T) {
	const repetitions = 200
	r := rand.New(rand.NewPCG(7, 7))
	counts := map[string]int{}
	for range repetitions {
		old := chances(r, 164)
		next := make([]float64, len(old))
		for i, p := range old {
			old[i] = 0.8 * p
			next[i] = 0.8*p + 0.1
		}
		o := simulated(r, old, next, [2]int{5, 5}).overview(roles, plan{})
		v := o.view(policy.Judging{}.WithDefaults())
		counts["sign test "+v.signed().verdict().direction.String()]++
		for name, fixed := range map[string]bool{"sampled": false, "fixed": true} {
			v.fixed = fixed
			m, err := v.difference()
			if err != nil {
				t.Fatal(err)
			}
			if *m.Interval.Lower > 0 {
				counts[name+" better"]++
			}
			if *m.Interval.Lower > 0.1 || *m.Interval.Upper < 0.1 {
				counts[name+" misses"]++
			}
		}
	}
	t.Log(counts)
	if counts["sign test better"] < repetitions/2 || counts["sampled better"] < repetitions/2 || counts["fixed better"] < counts["sampled better"] {
		t.Errorf("a real change is found too rarely: %v", counts)
	}
	if n := counts["sampled misses"] + counts["fixed misses"]; n > repetitions/10 {
		t.Errorf("the intervals miss the true 10 points %d times", n)
	}
}

// TestFixedListMisses: over 20 lists of 8 cases with chances from Beta(2, 1), the pooled interval of a difference of 0 errs at
// most .025 a side; printed is the worst.
func TestFixedListMisses(t *testing.T) {
	const lists, repetitions = 20, 2000
	r := rand.New(rand.NewPCG(8, 8))
	worst := 0
	for range lists {
		p := chances(r, 8)
		above, below := 0, 0
		for range repetitions {
			v := simulated(r, p, p, [2]int{5, 5}).overview(roles, plan{}).view(policy.Judging{}.WithDefaults())
			v.fixed = true
			m, err := v.difference()
			if err != nil {
				t.Fatal(err)
			}
			if *m.Interval.Lower > 0 {
				above++
			}
			if *m.Interval.Upper < 0 {
				below++
			}
		}
		worst = max(worst, above, below)
	}
	iv := monteCarlo(t, worst, repetitions)
	t.Logf("worst side of %d lists: %.4f (%.4f to %.4f), allowed .025", lists, float64(worst)/repetitions, iv.Lower, iv.Upper)
	if iv.Lower > 0.025 {
		t.Errorf("%d of %d", worst, repetitions)
	}
}
