package fairness

import (
	"cmp"
	"fmt"
	"math/big"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// mostPairs is how many pairs of groups a report lists: the ones that may lie furthest apart. All count in the verdict.
const mostPairs = 2000

// bounds is what a rule's groups are compared by.
type bounds struct {
	threshold report.Threshold
	judging   policy.Judging
	pairwise  bool
	groups    int // declared ones, which share the error
	minCell   int
}

// errors returns the error that one side of an interval may have, and that of a rule: twice as much.
func (b *bounds) errors() (side, both float64) {
	both = 1 - b.judging.Confidence.Value
	return both / 2, both
}

// repeated reports whether the data will be looked at many times.
func (b *bounds) repeated() bool { return b.judging.Looks.Value == policy.LooksRepeated }

// rate returns the interval of one group's rate.
func (b *bounds) rate(s *sides) (interval.Interval, error) {
	confidence := b.judging.Confidence.Value
	switch {
	case b.pairwise && b.threshold.Kind == report.WorstGroup:
		// To pass, every group has to: the error need not be divided, since all groups that are truly on the wrong side
		// must look right at once. To fail, one is enough.
		whole, _ := b.errors()
		shared := whole / float64(b.groups)
		if b.threshold.Side == report.Minimum {
			return interval.ExactSides(s.low, s.high, whole, shared, confidence)
		}
		return interval.ExactSides(s.low, s.high, shared, whole, confidence)
	case b.repeated():
		return interval.GroupRateSequence(s.low, s.high, confidence, b.groups)
	}
	return interval.GroupRate(s.low, s.high, confidence, b.groups)
}

// gap returns the interval of the distance of two groups' rates by interval: pairwise: a PASS needs every pair, so its error
// is not divided; a FAIL needs one ordered pair of G(G−1).
func (b *bounds) gap(p, q *sides) (interval.Interval, error) {
	side, both := b.errors()
	return interval.FisherGap(p.low, p.high, q.low, q.high, side, both/float64(b.groups)/float64(b.groups-1), b.judging.Confidence.Value)
}

// contest is a rule's groups side by side.
type contest struct {
	*bounds
	sides     []sides
	small     []bool              // by group: too few cases with a recorded prediction
	rates     []interval.Interval // by group
	gaps      []interval.Interval // of interval: pairwise on a gap: by triangular index
	all, full front               // of all groups, and of those that are not small
}

// newContest sets groups side by side. There is one at least, two where pairs are compared.
func newContest(b *bounds, groups []sides) (*contest, error) {
	c := &contest{bounds: b, sides: groups, small: make([]bool, len(groups)), rates: make([]interval.Interval, len(groups))}
	known := map[[2]interval.Tally]interval.Interval{} // in a large crossing many groups have the same counts
	for i := range groups {
		s := &groups[i]
		c.small[i] = s.recorded.N < b.minCell
		key := [2]interval.Tally{s.low, s.high}
		iv, found := known[key]
		if !found {
			var err error
			if iv, err = b.rate(s); err != nil {
				return nil, err
			}
			known[key] = iv
		}
		c.rates[i] = iv
	}
	if b.threshold.Kind == report.WorstGroup {
		return c, nil
	}
	c.all = newFront(c.rates, func(int) bool { return true })
	c.full = newFront(c.rates, func(i int) bool { return !c.small[i] })
	if b.pairwise {
		return c, c.bindPairs()
	}
	return c, nil
}

// bindPairs bounds the gap of every pair directly, on every core.
func (c *contest) bindPairs() error {
	n := len(c.sides)
	c.gaps = make([]interval.Interval, n*(n-1)/2)
	errs := make([]error, n)
	var next sync.Mutex
	row := 0
	var done sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			for {
				next.Lock()
				j := row
				row++
				next.Unlock()
				if j >= n {
					return
				}
				for i := range j {
					iv, err := c.gap(&c.sides[i], &c.sides[j])
					if err != nil {
						errs[j] = fmt.Errorf("the gap of two groups: %w", err)
					}
					c.gaps[j*(j-1)/2+i] = iv
				}
			}
		})
	}
	done.Wait()
	return cmp.Or(errs...)
}

// front is, of a set of groups, the two with the lowest lower end, the highest upper end, the highest lower end and the
// lowest upper end of their intervals; −1 where there is none. Every end of a gap or a ratio is a function of one end of
// each group that rises in one and falls in the other, so that the groups furthest from any given one are among them.
type front [4][2]int

// newFront finds the front of the groups that are in the set; of equal ones the first in declared order.
func newFront(rates []interval.Interval, in func(i int) bool) front {
	f := front{{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}}
	ahead := [4]func(x, y interval.Interval) bool{
		func(x, y interval.Interval) bool { return x.Lower < y.Lower },
		func(x, y interval.Interval) bool { return x.Upper > y.Upper },
		func(x, y interval.Interval) bool { return x.Lower > y.Lower },
		func(x, y interval.Interval) bool { return x.Upper < y.Upper },
	}
	for i, r := range rates {
		if !in(i) {
			continue
		}
		for k := range f {
			first, second := &f[k][0], &f[k][1]
			switch {
			case *first < 0 || ahead[k](r, rates[*first]):
				*first, *second = i, *first
			case *second < 0 || ahead[k](r, rates[*second]):
				*second = i
			}
		}
	}
	return f
}

// rivals yields the groups of a set that decide what group i's pairs with the set come to.
func (c *contest) rivals(i int, of *front) func(yield func(j int) bool) {
	return func(yield func(j int) bool) {
		if c.gaps != nil { // pairs have ends of their own
			for j := range c.sides {
				if j != i && (of == &c.all || !c.small[j]) && !yield(j) {
					return
				}
			}
			return
		}
		for _, two := range of {
			j := two[0]
			if j == i {
				j = two[1]
			}
			if j >= 0 && !yield(j) {
				return
			}
		}
	}
}

// pair returns the interval of the gap or the ratio of two groups.
func (c *contest) pair(i, j int) interval.Interval {
	if i > j {
		i, j = j, i
	}
	switch {
	case c.gaps != nil:
		return c.gaps[j*(j-1)/2+i]
	case c.threshold.Kind == report.MinGroupRatio:
		return interval.GroupRatio(c.rates[i], c.rates[j], c.judging.Confidence.Value)
	}
	return interval.GroupGap(c.rates[i], c.rates[j], c.judging.Confidence.Value)
}

// compare says what two groups that are not small come to, given the interval of their gap. Ratios are decided by products of
// the groups' ends.
func (c *contest) compare(i, j int, gap interval.Interval) report.Verdict {
	t := c.threshold.Value
	if c.threshold.Kind == report.MinGroupRatio {
		p, q := c.rates[i], c.rates[j]
		switch {
		case interval.AtLeastTimes(p.Lower, t, q.Upper) && interval.AtLeastTimes(q.Lower, t, p.Upper):
			return report.Pass
		case !interval.AtLeastTimes(p.Upper, t, q.Lower) || !interval.AtLeastTimes(q.Upper, t, p.Lower):
			return report.Fail
		}
		return report.InsufficientEvidence
	}
	switch {
	case gap.Upper <= t:
		return report.Pass
	case gap.Lower > t:
		return report.Fail
	}
	return report.InsufficientEvidence
}

// apart is two groups and the interval of their gap or ratio.
type apart struct {
	i, j     int // i < j
	interval interval.Interval
}

// pairOf is the two groups in declared order.
func (c *contest) pairOf(i, j int) apart { return apart{min(i, j), max(i, j), c.pair(i, j)} }

// risk orders pairs by how far apart the two groups may lie: the higher it is the further.
func (c *contest) risk(iv interval.Interval) float64 {
	if c.threshold.Kind == report.MinGroupRatio {
		return -iv.Lower
	}
	return iv.Upper
}

// standing is what a contest comes to.
type standing struct {
	verdict  report.Verdict
	interval interval.Interval // of the largest gap, the smallest ratio, or the rate of the worst group
	cells    []report.Verdict  // by group
	anySmall bool
	risky    apart // of pairs: the two groups that may lie furthest apart
	failing  apart // of pairs: of those that fail, the two that lie furthest apart at the least; i = j where none fails
	worst    int   // of worst_group: the group that may be worst
}

// everyone lists all groups.
func (c *contest) everyone() []int {
	list := make([]int, len(c.sides))
	for i := range list {
		list[i] = i
	}
	return list
}

// leaders lists groups on which the verdict and the interval rest: where pairs are compared by their groups' intervals, those
// of the fronts, since the pairs that lie furthest apart are of them; else all.
func (c *contest) leaders() []int {
	if c.threshold.Kind == report.WorstGroup || c.gaps != nil {
		return c.everyone()
	}
	var list []int
	for _, f := range []front{c.all, c.full} {
		for _, two := range f {
			for _, i := range two {
				if i >= 0 && !slices.Contains(list, i) {
					list = append(list, i)
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// judge decides on the given groups, everyone or the leaders: FAIL where two of them, or one, that are not small are on the
// wrong side with their whole interval; else INSUFFICIENT_EVIDENCE where a group is small, since the worst may be there;
// else PASS where all are on the right side.
func (c *contest) judge(of []int) standing {
	s := standing{cells: make([]report.Verdict, len(c.sides))}
	for _, small := range c.small {
		s.anySmall = s.anySmall || small
	}
	if c.threshold.Kind == report.WorstGroup {
		c.judgeGroups(&s)
	} else {
		c.judgePairs(&s, of)
	}
	passed := !s.anySmall
	for _, i := range of {
		if s.cells[i] == report.Fail {
			s.verdict = report.Fail
			return s
		}
		passed = passed && s.cells[i] == report.Pass
	}
	s.verdict = report.InsufficientEvidence
	if passed {
		s.verdict = report.Pass
	}
	return s
}

// judgeGroups compares each group with the threshold.
func (c *contest) judgeGroups(s *standing) {
	least := c.threshold.Side == report.Minimum
	iv := interval.Interval{Lower: 0, Upper: 1, Confidence: c.judging.Confidence.Value, Method: c.rates[0].Method, Looks: c.rates[0].Looks}
	for i, r := range c.rates {
		if i == 0 || least && r.Lower < iv.Lower || !least && r.Upper > iv.Upper {
			s.worst = i
			if least {
				iv.Lower = r.Lower
			} else {
				iv.Upper = r.Upper
			}
		}
		s.cells[i] = report.InsufficientEvidence
		if c.small[i] {
			continue
		}
		if least {
			iv.Upper = min(iv.Upper, r.Upper)
		} else {
			iv.Lower = max(iv.Lower, r.Lower)
		}
		s.cells[i] = c.threshold.Compare(r.Lower, r.Upper)
	}
	s.interval = iv
}

// judgePairs compares the gaps or the ratios of the given groups and all others with the threshold.
func (c *contest) judgePairs(s *standing, of []int) {
	ratio := c.threshold.Kind == report.MinGroupRatio
	s.risky = c.pairOf(0, 1)
	sure := 0.0 // the gap, or the ratio, that is sure to be reached by some pair of groups that are not small
	if ratio {
		sure = 1
	}
	for _, i := range of {
		for j := range c.rivals(i, &c.all) {
			if p := c.pairOf(i, j); c.risk(p.interval) > c.risk(s.risky.interval) {
				s.risky = p
			}
		}
		s.cells[i] = report.InsufficientEvidence
		if c.small[i] {
			continue
		}
		verdict := report.NoVerdict
		for j := range c.rivals(i, &c.full) {
			p := c.pairOf(i, j)
			v := c.compare(i, j, p.interval)
			further := !ratio && p.interval.Lower > s.failing.interval.Lower || ratio && p.interval.Upper < s.failing.interval.Upper
			if v == report.Fail && (s.failing.i == s.failing.j || further) {
				s.failing = p
			}
			if ratio {
				sure = min(sure, p.interval.Upper)
			} else {
				sure = max(sure, p.interval.Lower)
			}
			verdict = max(verdict, v) // PASS, then INSUFFICIENT_EVIDENCE, then FAIL
		}
		if verdict != report.NoVerdict {
			s.cells[i] = verdict
		}
	}
	s.interval = s.risky.interval
	if ratio {
		s.interval.Upper = sure
	} else {
		s.interval.Lower = sure
	}
}

// list returns the pairs that may lie furthest apart, those first, equally far ones in declared order; and how many others
// there are.
func (c *contest) list() (pairs []apart, omitted int) {
	n := len(c.sides)
	order := func(a, b apart) int {
		return cmp.Or(cmp.Compare(c.risk(b.interval), c.risk(a.interval)), cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j))
	}
	keep := func() {
		slices.SortFunc(pairs, order)
		pairs = pairs[:min(len(pairs), mostPairs)]
	}
	// Once mostPairs are kept, the last of them is the bar: a later pair has to exceed it, since of equal ones the first are
	// kept.
	full, bar := false, 0.0
	for i := range n {
		for j := i + 1; j < n; j++ {
			if full && c.riskAtMost(i, j) <= bar {
				continue
			}
			p := apart{i, j, c.pair(i, j)}
			if full && c.risk(p.interval) <= bar {
				continue
			}
			if pairs = append(pairs, p); len(pairs) == 2*mostPairs {
				keep()
				full, bar = true, c.risk(pairs[mostPairs-1].interval)
			}
		}
	}
	keep()
	return pairs, n*(n-1)/2 - len(pairs)
}

// riskAtMost is a number at or above the risk of a pair, quickly found: of 50 million pairs few need more.
func (c *contest) riskAtMost(i, j int) float64 {
	const slack = 2e-9 // above what rounding outward adds, to 10 digits or multiples of 1e-10
	p, q := &c.rates[i], &c.rates[j]
	switch {
	case c.gaps != nil:
		return c.risk(c.pair(i, j))
	case c.threshold.Kind == report.MinGroupRatio:
		return -min(p.Lower/q.Upper, q.Lower/p.Upper) * (1 - slack) // upper ends are above 0
	}
	return min(1, max(p.Upper-q.Lower, q.Upper-p.Lower)+slack)
}

// ends returns the groups with the lowest and the highest estimate, the first of equal ones; ok is false where fewer than
// two groups have one, or one where a single is asked for.
func (c *contest) ends(least int) (lowest, highest int, ok bool) {
	found := 0
	for i := range c.sides {
		t := c.sides[i].recorded
		if t.N == 0 {
			continue
		}
		if found == 0 {
			lowest, highest = i, i
		}
		found++
		if less(t, c.sides[lowest].recorded) {
			lowest = i
		}
		if less(c.sides[highest].recorded, t) {
			highest = i
		}
	}
	if least > 1 && lowest == highest && found > 1 { // all are equal: name two
		for i := range c.sides {
			if i != lowest && c.sides[i].recorded.N > 0 {
				highest = i
				break
			}
		}
	}
	return lowest, highest, found >= least
}

// less compares two rates exactly. Counts are below 2⁶³ and not negative.
func less(s, t interval.Tally) bool {
	sHigh, sLow := bits.Mul64(uint64(s.K), uint64(t.N))
	tHigh, tLow := bits.Mul64(uint64(t.K), uint64(s.N))
	return sHigh < tHigh || sHigh == tHigh && sLow < tLow
}

// estimate is the gap or the ratio of two groups' recorded rates, rounded once; nil where one of them has none, and for the
// ratio of 0 and 0.
func (c *contest) estimate(i, j int) *float64 {
	p, q := c.sides[i].recorded, c.sides[j].recorded
	if p.N == 0 || q.N == 0 {
		return nil
	}
	if less(q, p) {
		p, q = q, p
	}
	x, y := big.NewRat(int64(p.K), int64(p.N)), big.NewRat(int64(q.K), int64(q.N))
	switch {
	case c.threshold.Kind != report.MinGroupRatio:
		x.Sub(y, x)
	case y.Sign() == 0:
		return nil
	default:
		x.Quo(x, y)
	}
	z, _ := x.Float64()
	return report.Number(z)
}
