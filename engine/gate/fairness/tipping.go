package fairness

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// How many groups a rule on their distance has at most for its tipping point to be looked for, since every two of them are: with
// an interval for each group, and with one for every two (interval: pairwise).
const (
	mostTipped         = 60
	mostTippedPairwise = 12
)

// gaps is what is missing in a group, by what each case can be, and how many of each kind are taken to be the one that raises the
// rate.
type gaps struct {
	recorded      interval.Tally
	missing, high [3]int // of kinds
}

// kinds are the pairs of outcomes that a missing prediction leaves open: the one that lowers the rate, then the one that raises it.
var kinds = [3][2]outcome{{other, event}, {out, event}, {other, out}}

// gaps counts what is missing in a group.
func (r *rate) gaps(c *counts) gaps {
	g := gaps{recorded: r.sides(c).recorded}
	for label := range c {
		if label == none && r.needsLabel() {
			continue
		}
		for k, pair := range kinds {
			if r.possible(label, none) == pair[0]|pair[1] {
				g.missing[k] += c[label][none]
			}
		}
	}
	return g
}

// total is how many values are missing.
func (g *gaps) total() int { return g.missing[0] + g.missing[1] + g.missing[2] }

// cases is how many cases the group has that are or can be in the rate's denominator.
func (g *gaps) cases() int { return g.recorded.N + g.total() }

// filled is the group with its missing values as they are taken to be.
func (g gaps) filled() sides {
	t := g.recorded
	for k, pair := range kinds {
		add(&t, pair[1], g.high[k])
		add(&t, pair[0], g.missing[k]-g.high[k])
	}
	return sides{recorded: t, low: t, high: t}
}

// all is the group with all missing values raising the rate, or with all of them lowering it.
func (g gaps) all(high bool) gaps {
	g.high = [3]int{}
	if high {
		g.high = g.missing
	}
	return g
}

// movable is how many of the missing values can still be turned to raise the rate, or to lower it.
func (g *gaps) movable(up bool) int {
	n := 0
	for k := range g.high {
		n += g.high[k]
		if up {
			n += g.missing[k] - 2*g.high[k]
		}
	}
	return n
}

// turned is the group with so many of the missing values turned, so that the rate moves furthest: of each kind so many, where a
// missing value can be of two kinds, which moves it further than any choice does.
func (g gaps) turned(n int, up bool) gaps { return g.turnedEach([3]int{n, n, n}, up) }

// turnedEach is the group with so many values of each kind turned, or as many as there are.
func (g gaps) turnedEach(n [3]int, up bool) gaps {
	for k := range g.high {
		if up {
			g.high[k] += min(n[k], g.missing[k]-g.high[k])
		} else {
			g.high[k] -= min(n[k], g.high[k])
		}
	}
	return g
}

// mixed reports that missing values of two kinds are among those of the group.
func (g *gaps) mixed() bool { return g.missing[1] > 0 && g.missing[2] > 0 }

// towards turns missing values, kind by kind, so that the rate comes as near as it can to a share.
func (g gaps) towards(share float64) gaps {
	g = g.all(false)
	for k := range g.high {
		for from, to := 0, g.missing[k]; ; { // the most of this kind with which the rate is not above the share
			if from == to {
				g.high[k] = from
				break
			}
			middle := from + (to-from+1)/2
			g.high[k] = middle
			if rateOf(g) <= share {
				from = middle
			} else {
				to = middle - 1
			}
		}
	}
	more := g.turned(1, true) // one more may come nearer
	if !g.mixed() && math.Abs(rateOf(more)-share) < math.Abs(rateOf(g)-share) {
		return more
	}
	return g
}

// rateOf is the group's rate with its missing values as they are taken to be, 0 where it has none.
func rateOf(g gaps) float64 {
	t := g.filled().recorded
	if t.N == 0 {
		return 0
	}
	return quotient(t)
}

// tipping is the rule's tipping point; nil where what is missing changes nothing. told is false where that cannot be told, since it is too
// much to look for.
func (d *decision) tipping() (tip *report.TippingPoint, told bool, err error) {
	groups := make([]gaps, len(d.view.cells))
	missing, cases := 0, 0
	for i := range groups {
		groups[i] = d.rule.rate.gaps(&d.view.cells[i])
		missing, cases = missing+groups[i].total(), cases+groups[i].cases()
	}
	of := strconv.Itoa(cases) + " predictions"
	switch {
	case missing == 0:
		return nil, false, nil
	case d.contest.threshold.Kind == report.WorstGroup:
		return d.tipGroups(groups, missing, of)
	case len(groups) > mostTipped, d.contest.gaps != nil && len(groups) > mostTippedPairwise:
		return nil, false, nil
	}
	return d.tipPairs(groups, missing, of)
}

// tipGroups is the tipping point of a rule on the worst group: bad values do most harm all in one group, since one is enough to fail.
func (d *decision) tipGroups(groups []gaps, missing int, of string) (tip *report.TippingPoint, told bool, err error) {
	c := d.contest
	up := c.threshold.Side == report.Maximum // bad values raise the rate
	alike, holding := true, 0
	for i := range groups {
		if groups[i].total() > 0 {
			holding++
		}
		alike = alike && !groups[i].mixed()
	}
	limits := &tipped{passes: missing, fails: missing + 1}
	for i := range groups {
		good, most := groups[i].all(!up), groups[i].total()
		err := limits.within(most, func(bad int) (report.Verdict, error) {
			return worstSplit(bad, []int{good.missing[0] + good.missing[1], good.missing[2]}, func(a, b int) (report.Verdict, error) {
				filled := good.turnedEach([3]int{a, a, b}, up).filled() // of the first two kinds a rate has one
				iv, err := c.rate(&filled)
				return c.unlessSmall(c.threshold.Compare(iv.Lower, iv.Upper), &groups[i], &filled), err
			})
		})
		if err != nil {
			return nil, false, err
		}
	}
	raising, lowering := d.rule.rate.words()
	bad := lowering
	if up {
		bad = raising
	}
	return limits.tip(missing, alike && holding == 1, of, bad)
}

// tipped collects from the parts of a rule the most bad values with which it passes and the fewest with which it can fail.
type tipped struct{ passes, fails int }

// within narrows the limits by a part of the rule, of which up to most values can be bad, judged with so many of them. It asks
// first whether the part narrows them at all.
func (x *tipped) within(most int, judge func(bad int) (report.Verdict, error)) error {
	if x.passes >= 0 {
		reach := min(most, x.passes)
		verdict, err := judge(reach)
		if err != nil {
			return err
		}
		if verdict != report.Pass {
			from, to := -1, reach // passes with from, not with to
			for to-from > 1 {
				middle := from + (to-from)/2
				if verdict, err = judge(middle); err != nil {
					return err
				}
				if verdict == report.Pass {
					from = middle
				} else {
					to = middle
				}
			}
			x.passes = from
		}
	}
	if x.fails <= 0 {
		return nil
	}
	reach := min(most, x.fails-1)
	verdict, err := judge(reach)
	if err != nil || verdict != report.Fail {
		return err
	}
	from, to := -1, reach // does not fail with from, does with to
	for to-from > 1 {
		middle := from + (to-from)/2
		if verdict, err = judge(middle); err != nil {
			return err
		}
		if verdict == report.Fail {
			to = middle
		} else {
			from = middle
		}
	}
	x.fails = to
	return nil
}

// tip is the tipping point with these limits. told is false where there is none since all ways lead to a PASS, which no rule that is
// undecided should come to.
func (x *tipped) tip(missing int, alike bool, of, bad string) (tip *report.TippingPoint, told bool, err error) {
	tip, err = gate.Tip(missing, alike, of, bad, func(k int) (bool, error) { return k <= x.passes, nil }, func(k int) (bool, error) { return k >= x.fails, nil })
	return tip, x.passes < missing, err
}

// tipPairs is the tipping point of a rule on the distance of groups. The good way is the one that brings the groups closest
// together; a bad value is one that is turned from it, and those that are turned do most harm in two groups, moving them apart.
func (d *decision) tipPairs(groups []gaps, missing int, of string) (tip *report.TippingPoint, told bool, err error) {
	c := d.contest
	close, oneSided := d.together(groups)
	limits := &tipped{passes: missing, fails: missing + 1}
	filled := make([]sides, len(close))
	for i := range close {
		filled[i] = close[i].filled()
	}
	start, err := newContest(c.bounds, filled)
	if err != nil {
		return nil, false, err
	}
	switch start.judge(start.leaders()).verdict {
	case report.Fail:
		return nil, false, nil
	case report.Pass:
	default:
		limits.passes = -1
	}
	known := map[interval.Tally]interval.Interval{} // the rates of groups that were looked at
	for i := range close {
		for j := range close {
			if i == j {
				continue
			}
			high, low := close[i], close[j]
			moves := []int{high.movable(true), low.movable(false)}
			err := limits.within(moves[0]+moves[1], func(bad int) (report.Verdict, error) {
				return worstSplit(bad, moves, func(a, b int) (report.Verdict, error) {
					p, q := high.turned(a, true).filled(), low.turned(b, false).filled()
					verdict, err := c.pairVerdict(p, q, known)
					return c.unlessSmall(c.unlessSmall(verdict, &high, &p), &low, &q), err
				})
			})
			if err != nil {
				return nil, false, err
			}
		}
	}
	return limits.tip(missing, false, of, d.turnedText(close, oneSided))
}

// together is the missing values as they bring the groups closest together: each group as near as it can come to a rate that all can
// have or, where there is none, to one between those that cannot come closer. oneSided reports that every group with
// missing values has all of them raising its rate or all of them lowering it.
func (d *decision) together(groups []gaps) (close []gaps, oneSided bool) {
	lowest, highest := 0.0, 1.0 // the highest of the groups' least rates, the lowest of their largest
	var recorded interval.Tally
	for i := range groups {
		lowest, highest = math.Max(lowest, rateOf(groups[i].all(false))), math.Min(highest, rateOf(groups[i].all(true)))
		recorded.K, recorded.N = recorded.K+groups[i].recorded.K, recorded.N+groups[i].recorded.N
	}
	share := (lowest + highest) / 2
	if recorded.N > 0 {
		share = math.Max(math.Min(lowest, highest), math.Min(quotient(recorded), math.Max(lowest, highest)))
	}
	oneSided = true
	close = make([]gaps, len(groups))
	for i := range groups {
		close[i] = groups[i].towards(share)
		if up, down := close[i].movable(true), close[i].movable(false); up > 0 && down > 0 {
			oneSided = false
		}
	}
	return close, oneSided
}

// mostSplits is how many ways to share turned values between two groups are looked at one by one; of more, neighbours are looked at
// together, with the most of each group that any of them turns.
const mostSplits = 32

// worstSplit is the worst verdict over the ways to turn so many values in two groups.
func worstSplit(bad int, moves []int, judge func(a, b int) (report.Verdict, error)) (report.Verdict, error) {
	first, last := max(0, bad-moves[1]), min(bad, moves[0])
	step := 1 + (last-first)/mostSplits
	worst := report.Pass
	for i := first; i <= last; i += step {
		verdict, err := judge(min(i+step-1, last), bad-i)
		if err != nil {
			return verdict, err
		}
		worst = max(worst, verdict) // PASS, then INSUFFICIENT_EVIDENCE, then FAIL
	}
	return worst, nil
}

// unlessSmall is a verdict on a group, unless it is small: no PASS where it is so with its missing values as they are taken to be,
// no FAIL where it is so however they came out.
func (c *contest) unlessSmall(v report.Verdict, g *gaps, filled *sides) report.Verdict {
	if v == report.Pass && filled.recorded.N < c.minCell || v == report.Fail && g.cases() < c.minCell {
		return report.InsufficientEvidence
	}
	return v
}

// pairVerdict is what two groups come to. known are rates that were taken before.
func (c *contest) pairVerdict(p, q sides, known map[interval.Tally]interval.Interval) (report.Verdict, error) {
	two := &contest{bounds: c.bounds, sides: []sides{p, q}, small: make([]bool, 2), rates: make([]interval.Interval, 2)}
	if c.gaps != nil {
		gap, err := c.gap(&p, &q)
		two.gaps = []interval.Interval{gap}
		return two.compare(0, 1, gap), err
	}
	for i := range two.sides {
		key := two.sides[i].recorded
		iv, found := known[key]
		if !found {
			var err error
			if iv, err = c.rate(&two.sides[i]); err != nil {
				return report.NoVerdict, err
			}
			known[key] = iv
		}
		two.rates[i] = iv
	}
	return two.compare(0, 1, two.pair(0, 1)), nil
}

// turnedText says what a bad value of groups that are to lie together is.
func (d *decision) turnedText(close []gaps, oneSided bool) string {
	raising, lowering := d.rule.rate.words()
	if !oneSided {
		return d.otherThan(close, raising, lowering)
	}
	var raised, lowered []string // groups in which a bad value raises the rate, and in which it lowers it
	for i := range close {
		switch {
		case close[i].total() == 0:
		case close[i].movable(true) > 0:
			raised = append(raised, d.named(i))
		default:
			lowered = append(lowered, d.named(i))
		}
	}
	cut := func(list []string) string {
		if len(list) > mostNamed {
			list = append(slices.Clone(list[:mostNamed]), gate.Plural(len(list)-mostNamed, "more group", "more groups"))
		}
		return listed(list)
	}
	switch {
	case len(lowered) == 0:
		return raising + " in " + cut(raised)
	case len(raised) == 0:
		return lowering + " in " + cut(lowered)
	}
	return raising + " in " + cut(raised) + " or " + lowering + " in " + cut(lowered)
}

// otherThan says of a bad value that it is not as it would have to be for the groups to lie closest together, and how that is where few
// groups have missing values.
func (d *decision) otherThan(close []gaps, raising, lowering string) string {
	const what = "other than what would bring the groups closest together"
	var list []string
	for i := range close {
		raised := close[i].high[0] + close[i].high[1] + close[i].high[2]
		var parts []string
		if raised > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", raised, raising))
		}
		if lowered := close[i].total() - raised; lowered > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", lowered, lowering))
		}
		if parts != nil {
			list = append(list, listed(parts)+" in "+d.named(i))
		}
	}
	if len(list) > mostNamed {
		return what
	}
	return what + " (" + strings.Join(list, ", ") + ")"
}
