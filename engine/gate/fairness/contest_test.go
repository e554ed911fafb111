package fairness

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// drawnSides are groups of few cases, some of them with missing predictions, some too small or without a case; many have equal counts.
func drawnSides(draw *rand.Rand, n int) []sides {
	list := make([]sides, n)
	for i := range list {
		size := draw.IntN(9) * 10
		k := 0
		if size > 0 {
			k = size / 10 * draw.IntN(11)
		}
		missing := draw.IntN(3) * draw.IntN(2) * 5
		list[i] = sides{recorded: interval.Tally{K: k, N: size}, low: interval.Tally{K: k, N: size + missing}, high: interval.Tally{K: k + missing, N: size + missing}}
	}
	return list
}

// setSideBySide sets groups side by side under a threshold.
func setSideBySide(t *testing.T, threshold report.Threshold, pairwise bool, groups []sides) *contest {
	t.Helper()
	c, err := newContest(&bounds{threshold: threshold, judging: policy.Judging{}.WithDefaults(), pairwise: pairwise, groups: len(groups), minCell: 20}, groups)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// everyPair is all pairs of groups, those that may lie furthest apart first, equal ones in declared order.
func everyPair(c *contest) []apart {
	var all []apart
	for i := range c.sides {
		for j := i + 1; j < len(c.sides); j++ {
			all = append(all, apart{i, j, c.pair(i, j)})
		}
	}
	slices.SortStableFunc(all, func(a, b apart) int { return cmp.Compare(c.risk(b.interval), c.risk(a.interval)) })
	return all
}

// TestContestAgainstAllPairs holds what a rule on pairs comes to, all groups and the leaders alone, against every pair one by one: verdicts of
// groups, the pair that may lie furthest apart, the failing one that surely lies furthest, and the interval. Groups are drawn by a fixed seed.
func TestContestAgainstAllPairs(t *testing.T) {
	draw := rand.New(rand.NewPCG(5, 5))
	verdicts := map[report.Verdict]int{}
	severalFail := 0
	for round := range 240 {
		threshold := report.Threshold{Kind: report.MaxGroupGap, Value: float64(1+draw.IntN(9)) / 10}
		if round%3 == 1 {
			threshold = report.Threshold{Kind: report.MinGroupRatio, Value: float64(1+draw.IntN(9)) / 10}
		}
		pairwise := round%12 == 2
		n := 2 + draw.IntN(11)
		if pairwise {
			n = 2 + draw.IntN(3)
		}
		anyGaps := round%12 == 8 // which no ends of single groups tell
		if anyGaps {
			n = 40
		}
		c := setSideBySide(t, threshold, pairwise, drawnSides(draw, n))
		if anyGaps {
			c.gaps = make([]interval.Interval, n*(n-1)/2)
			for i := range c.gaps {
				c.gaps[i].Lower = float64(draw.IntN(80)) / 100
				c.gaps[i].Upper = c.gaps[i].Lower + float64(draw.IntN(20))/100
			}
		}
		all := everyPair(c)
		further := func(a, b interval.Interval) bool { // a surely lies further apart than b
			if threshold.Kind == report.MinGroupRatio {
				return a.Upper < b.Upper
			}
			return a.Lower > b.Lower
		}
		// Of each group that is not small the worst it comes to with another one; of the run the worst of all.
		cells := make([]report.Verdict, n)
		var failing, sure *interval.Interval
		small, fails, passes := false, 0, true
		for i := range c.sides {
			cells[i] = report.InsufficientEvidence
			small = small || c.small[i]
			worst := report.NoVerdict
			for j := range c.sides {
				if i == j || c.small[i] || c.small[j] {
					continue
				}
				p := c.pair(i, j)
				v := c.compare(i, j, p)
				worst = max(worst, v)
				if sure == nil || further(p, *sure) {
					sure = &p
				}
				if v == report.Fail {
					if failing == nil || further(p, *failing) {
						failing = &p
					}
					fails++
				}
			}
			if worst != report.NoVerdict {
				cells[i] = worst
			}
			passes = passes && cells[i] == report.Pass
		}
		want := report.InsufficientEvidence
		switch {
		case failing != nil:
			want = report.Fail
		case passes && !small:
			want = report.Pass
		}
		verdicts[want]++
		if fails > 2 { // each is met from both sides
			severalFail++
		}
		name := fmt.Sprintf("round %d, %+v, %+v", round, threshold, c.sides)
		whole := c.judge(c.everyone())
		leaders := c.judge(c.leaders())
		for _, s := range []standing{whole, leaders} {
			if s.verdict != want || s.anySmall != small {
				t.Errorf("%s: %s, want %s", name, s.verdict, want)
			}
			if c.risk(s.risky.interval) != c.risk(all[0].interval) || c.pair(s.risky.i, s.risky.j) != s.risky.interval {
				t.Errorf("%s: the furthest may be %+v, and is %+v", name, s.risky, all[0])
			}
			if named := s.failing.i != s.failing.j; named != (failing != nil) || named && (further(*failing, s.failing.interval) || c.compare(s.failing.i, s.failing.j, s.failing.interval) != report.Fail) {
				t.Errorf("%s: %+v fails, and %+v is the furthest that does", name, s.failing, failing)
			}
			end, other := s.interval.Upper, s.interval.Lower // the end of the furthest, and the one that is sure
			wantEnd, wantOther := all[0].interval.Upper, 0.0
			if sure != nil {
				wantOther = max(0, sure.Lower)
			}
			if threshold.Kind == report.MinGroupRatio {
				end, other = other, end
				wantEnd, wantOther = all[0].interval.Lower, 1
				if sure != nil {
					wantOther = min(1, sure.Upper)
				}
			}
			if end != wantEnd || other != wantOther {
				t.Errorf("%s: the interval is %+v, want the ends %v and %v", name, s.interval, wantEnd, wantOther)
			}
		}
		if !slices.Equal(whole.cells, cells) {
			t.Errorf("%s: groups come to %v, want %v", name, whole.cells, cells)
		}
		list, omitted := c.list()
		if !slices.Equal(list, all) || omitted != 0 {
			t.Errorf("%s: pairs %+v, want %+v", name, list, all)
		}
		for _, p := range all {
			if most := c.riskAtMost(p.i, p.j); !(most >= c.risk(p.interval)) {
				t.Errorf("%s: the risk of %+v is above %v", name, p, most)
			}
		}
	}
	if len(verdicts) != 3 || severalFail < 20 {
		t.Errorf("the rounds come to %v, and several pairs fail in %d: the test does not reach what it is for", verdicts, severalFail)
	}
}

// TestListedPairs: of more pairs than are listed, those that may lie furthest apart are, as among all of them.
func TestListedPairs(t *testing.T) {
	draw := rand.New(rand.NewPCG(6, 6))
	for _, kind := range []report.Kind{report.MaxGroupGap, report.MinGroupRatio} {
		groups := make([]sides, 150) // 11,175 pairs
		for i := range groups {
			n := 20 + draw.IntN(200)
			k := draw.IntN(n + 1)
			groups[i] = sides{recorded: interval.Tally{K: k, N: n}, low: interval.Tally{K: k, N: n}, high: interval.Tally{K: k, N: n}}
		}
		c := setSideBySide(t, report.Threshold{Kind: kind, Value: 0.5}, false, groups)
		all := everyPair(c)
		list, omitted := c.list()
		if !slices.Equal(list, all[:mostPairs]) || omitted != len(all)-mostPairs {
			t.Errorf("%s: %d pairs are listed, %d are not; they are not the first of all", kind, len(list), omitted)
		}
	}
}

// TestEndsOfRates: the groups of the lowest and the highest rate as recorded, the first of equal ones; of equal rates in all groups two are named.
func TestEndsOfRates(t *testing.T) {
	draw := rand.New(rand.NewPCG(8, 8))
	for range 300 {
		groups := drawnSides(draw, 1+draw.IntN(4))
		if draw.IntN(3) == 0 { // all alike, or without a case
			for i := range groups {
				groups[i] = sides{recorded: interval.Tally{K: 10 * draw.IntN(2), N: 20}}
				groups[i].recorded.K = groups[0].recorded.K
				if draw.IntN(3) == 0 {
					groups[i] = sides{}
				}
			}
		}
		c := &contest{sides: groups}
		rate := func(i int) *big.Rat { return big.NewRat(int64(groups[i].recorded.K), int64(groups[i].recorded.N)) }
		lowest, highest, found := -1, -1, []int{}
		for i := range groups {
			if groups[i].recorded.N == 0 {
				continue
			}
			found = append(found, i)
			if lowest < 0 || rate(i).Cmp(rate(lowest)) < 0 {
				lowest = i
			}
			if highest < 0 || rate(i).Cmp(rate(highest)) > 0 {
				highest = i
			}
		}
		for least := 1; least <= 2; least++ {
			wantHighest := highest
			if least == 2 && len(found) > 1 && lowest == highest {
				wantHighest = found[1]
			}
			low, high, ok := c.ends(least)
			if ok != (len(found) >= least) || ok && (low != lowest || high != wantHighest) {
				t.Errorf("%+v, at least %d: %d and %d, %t; want %d and %d of %v", groups, least, low, high, ok, lowest, wantHighest, found)
			}
		}
	}
}

// TestWorstOfEqualGroups: of groups that may be equally bad the first in declared order is named, and the interval is theirs.
func TestWorstOfEqualGroups(t *testing.T) {
	of := func(k int) sides {
		x := interval.Tally{K: k, N: 40}
		return sides{recorded: x, low: x, high: x}
	}
	for side, want := range map[report.Kind]int{report.Minimum: 1, report.Maximum: 0} {
		c := setSideBySide(t, report.Threshold{Kind: report.WorstGroup, Side: side, Value: 0.5}, false, []sides{of(30), of(10), of(30), of(10)})
		s := c.judge(c.everyone())
		if s.worst != want || s.verdict != report.Fail || side == report.Minimum && s.interval.Lower != c.rates[1].Lower || side == report.Maximum && s.interval.Upper != c.rates[0].Upper {
			t.Errorf("%s: %+v, want group %d", side, s, want)
		}
	}
}

// TestSmallGroupIsNoRival: a group that is too small fails no other one, however far apart they lie, wherever it is declared: where one group
// alone is large enough, nothing is decided.
func TestSmallGroupIsNoRival(t *testing.T) {
	of := func(k, n int) sides {
		x := interval.Tally{K: k, N: n}
		return sides{recorded: x, low: x, high: x}
	}
	large, small := of(0, 80), of(10, 10) // far apart: from 0 to .05, and from .69 to 1
	for _, groups := range [][]sides{{large, small}, {small, large}, {small, large, small}, {large, small, small}, {small, small, large}} {
		for _, turned := range []bool{false, true} {
			for i := range groups {
				if turned { // the same seen from the other end of the rate
					groups[i] = of(groups[i].recorded.N-groups[i].recorded.K, groups[i].recorded.N)
				}
			}
			for _, threshold := range []report.Threshold{{Kind: report.MaxGroupGap, Value: 0.1}, {Kind: report.MinGroupRatio, Value: 0.9}} {
				c := setSideBySide(t, threshold, false, groups)
				for _, s := range []standing{c.judge(c.everyone()), c.judge(c.leaders())} {
					if s.verdict != report.InsufficientEvidence || s.failing.i != s.failing.j {
						t.Errorf("%+v of %+v: %s, %+v fails", threshold, groups, s.verdict, s.failing)
					}
				}
			}
		}
	}
}
