package fairness

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// mostSearched is how many pairs a search for a size looks at where each has an interval of its own: so many of those that may
// lie furthest apart, and so many of those that do as measured.
const mostSearched = 25

// needs says what would decide a rule that is undecided though no more is left out than may be: cases in groups that are too
// small, what is missing to be recorded, or about how many cases a sample would have to have, all at the present rates. pairs
// are those that are listed.
func (d *decision) needs(pairs []apart) (*report.Needs, error) {
	c := d.contest
	pairs = c.searched(pairs)
	lack, groups, lacking := d.lack()
	then := func(beyond string) *report.Needs { // what the small groups lack, and what the rule needs beyond that
		if beyond == "" {
			return &report.Needs{What: lacking + d.coarser(), AtLeast: lack}
		}
		them := "it"
		if groups > 1 {
			them = "them"
		}
		return &report.Needs{What: lacking + " for " + them + " to count at all" + d.coarser() + "; " + beyond, AtLeast: lack}
	}
	goal := c.limit()
	switch {
	case goal != report.InsufficientEvidence:
		if lack > 0 {
			enough, err := c.comesTo(goal, c.filled(), pairs)
			if err != nil {
				return nil, err
			}
			if enough {
				n := then("")
				n.What += asFail(goal)
				return n, nil
			}
		}
		size, err := d.size(c, d.cases, goal, pairs)
		if err != nil || lack == 0 {
			return size, err
		}
		return then("the rule then needs " + gate.Phrase(*size)), nil
	case lack > 0 && d.unknown() != "":
		return then("what the rule needs beyond that cannot be told before something is recorded in " + d.unknown()), nil
	}
	// No number of cases like these would decide: what is missing leaves it open, or the threshold lies on what is measured.
	missing := d.missing()
	if missing == "" {
		return d.beyond(then, lack, d.near("")), nil
	}
	full := c.recorded()
	goal = full.limit()
	if goal == report.InsufficientEvidence {
		return d.beyond(then, lack, d.near("")), nil
	}
	what := &report.Needs{What: toBeRecorded + missing + ": with as much missing, no number of cases would decide; with all recorded at the present rates "}
	of := finely * d.cases
	switch enough, err := full.comesTo(goal, full.sized(d.cases, of), pairs); {
	case err != nil:
		return nil, err
	case enough:
		what.What += "these cases would" + asFail(goal)
	default:
		size, err := d.size(full, of, goal, pairs)
		if err != nil {
			return nil, err
		}
		what.What += "the rule needs " + gate.Phrase(*size)
	}
	return d.beyond(then, lack, what), nil
}

// beyond is what a rule needs, behind what its small groups lack.
func (d *decision) beyond(then func(string) *report.Needs, lack int, n *report.Needs) *report.Needs {
	if lack == 0 {
		return n
	}
	return then("the rule then needs " + gate.Phrase(*n))
}

// asFail ends what would decide a rule where it would be a FAIL.
func asFail(goal report.Verdict) string {
	if goal == report.Fail {
		return ", as FAIL"
	}
	return ""
}

// recorded adds to what would decide a rule what recording the missing predictions would do by itself, where that can be told.
func (d *decision) recorded(n *report.Needs, tip *report.TippingPoint, told bool) {
	asked := strings.Contains(n.What, toBeRecorded) // it is among what is needed
	switch {
	case d.missing() == "" || !told:
	case asked && tip != nil:
		n.What += "; the missing ones may decide it by themselves, by how they come out"
	case asked:
		n.What += "; the missing ones by themselves do not decide it, however they come out"
	case tip != nil:
		n.What += "; or what is missing to be recorded, which may decide it by itself"
	default:
		n.What += "; recording what is missing does not decide it by itself"
	}
}

// toBeRecorded begins what a rule needs of which what is missing leaves open on which side of the threshold it lies.
const toBeRecorded = "what is missing to be recorded, "

// lack is how many cases small groups lack, how many groups these are, and which; 0 where no group is small.
func (d *decision) lack() (cases, groups int, what string) {
	c, r := d.contest, d.rule
	var named []string
	for i, small := range c.small {
		if !small {
			continue
		}
		n := c.minCell - c.sides[i].recorded.N
		cases += n
		if groups++; groups <= mostNamed {
			named = append(named, fmt.Sprintf("%s (%d)", d.named(i), n))
		}
	}
	with := ""
	switch {
	case r.rate.moves():
		with = " (labelled, " + d.q.words(r.rate) + ")"
	case r.rate.cases != "":
		with = " (" + d.q.words(r.rate) + ")"
	case r.rate.needsLabel():
		with = " (with a label)"
	}
	switch {
	case groups == 0:
		return 0, 0, ""
	case groups == 1:
		named[0] = named[0][:strings.LastIndex(named[0], " (")] // the number stands before
	case groups > mostNamed:
		named = append(named, gate.Plural(groups-mostNamed, "more group", "more groups"))
	}
	return cases, groups, "cases with a prediction in " + listed(named) + with
}

// coarser names the other way out for small groups.
func (d *decision) coarser() string {
	if len(d.rule.crossing.attributes) > 1 {
		return ", or declare a coarser crossing before the run"
	}
	return ", or declare coarser groups before the run"
}

// unknown names the groups in which nothing is recorded, so that they have no present rate; "" where there are none.
func (d *decision) unknown() string {
	return d.some(func(i int) (string, bool) { return d.named(i), d.contest.sides[i].recorded.N == 0 })
}

// missing counts what is missing, with the groups that it is missing in; "" where nothing is.
func (d *decision) missing() string {
	total := 0
	groups := d.some(func(i int) (string, bool) {
		n := d.contest.sides[i].missing
		total += n
		return fmt.Sprintf("%d in %s", n, d.named(i)), n > 0
	})
	if total == 0 {
		return ""
	}
	return gate.Plural(total, "prediction", "predictions") + " (" + groups + ")"
}

// some lists what of says of groups for which it is true; of many the first few.
func (d *decision) some(of func(i int) (string, bool)) string {
	var list []string
	groups := 0
	for i := range d.contest.sides {
		if text, ok := of(i); ok {
			if groups++; groups <= mostNamed {
				list = append(list, text)
			}
		}
	}
	if groups > mostNamed {
		list = append(list, gate.Plural(groups-mostNamed, "more group", "more groups"))
	}
	return listed(list)
}

// near says that the measured value lies so near the threshold that no realistic number of cases would decide. tried says how
// many would not do, or is empty.
func (d *decision) near(tried string) *report.Needs {
	t := strconv.FormatFloat(d.contest.threshold.Value, 'f', -1, 64)
	what := "largest gap"
	switch d.contest.threshold.Kind {
	case report.MinGroupRatio:
		what = "smallest ratio"
	case report.WorstGroup:
		what = "rate of the worst group"
	}
	measured := d.measure().Estimate
	switch {
	case measured == nil:
		return &report.Needs{What: "other data: at the present values no number of cases would decide"}
	case *measured == d.contest.threshold.Value:
		return &report.Needs{What: fmt.Sprintf("other data: the measured %s is %s, the threshold itself, so that no number of cases would decide", what, t)}
	}
	return &report.Needs{What: fmt.Sprintf("other data: the measured %s, %s, is so near %s that no realistic number of cases would decide%s", what, near(*measured, d.places), t, tried)}
}

// size is about how many cases in all would make a contest, whose groups are those of so many cases, come to goal at the
// present rates and shares.
func (d *decision) size(c *contest, of int, goal report.Verdict, pairs []apart) (*report.Needs, error) {
	units, found, err := d.units(c, of, goal, pairs)
	if err != nil {
		return nil, err
	}
	if !found {
		return d.near(fmt.Sprintf(" (%d would not do)", units)), nil
	}
	how := ", at the present rates and shares of the groups" + asFail(goal)
	if c.repeated() {
		return &report.Needs{What: "more cases" + how, AtLeast: gate.Rounded(units - d.cases)}, nil
	}
	n := &report.Needs{What: "cases in all in a new sample" + how, AtLeast: gate.Rounded(units)}
	if d.rule.pairwise { // which holds at one look only
		return n, nil
	}
	again, under := *c, *c.bounds
	under.judging.Looks = policy.Text{Value: policy.LooksRepeated, Set: true}
	again.bounds = &under
	units, found, err = d.units(&again, of, goal, pairs)
	n.What += gate.Repeated(units, found)
	return n, err
}

// units is about how many cases in all would make a contest come to goal; where none that is looked at would, the largest that was.
func (d *decision) units(c *contest, of int, goal report.Verdict, pairs []apart) (cases int, found bool, err error) {
	// At twice the size the interval of the present rates is narrower, and so on; the counts are whole numbers, so that near
	// the size that is found the verdict may still go either way.
	most := max(interval.MostNeeded, 100*d.cases)
	at := func(size int) (bool, error) { return c.comesTo(goal, c.sized(size, of), pairs) }
	bad, good := d.cases, 2*d.cases
	for {
		if found, err = at(good); err != nil {
			return 0, false, err
		}
		if found || good >= most {
			break
		}
		bad, good = good, min(2*good, most)
	}
	for found && good-bad > 1+good/256 {
		middle := bad + (good-bad)/2
		ok, err := at(middle)
		switch {
		case err != nil:
			return 0, false, err
		case ok:
			good = middle
		default:
			bad = middle
		}
	}
	return good, found, nil
}

// limit is the verdict that the contest would come to if the present rates were those of ever more cases, in every group: PASS or
// FAIL; INSUFFICIENT_EVIDENCE where no number would decide, since the threshold lies on them, or between the completions of what
// is missing. A group without a case can have any rate.
func (c *contest) limit() report.Verdict {
	points := *c
	points.gaps = nil
	points.small = make([]bool, len(c.small))
	points.rates = make([]interval.Interval, len(c.rates))
	for i := range points.rates {
		p := interval.Interval{Lower: 0, Upper: 1}
		if low := c.sides[i].low; low.N > 0 {
			p.Lower = quotient(low)
		}
		if high := c.sides[i].high; high.N > 0 {
			p.Upper = quotient(high)
		}
		points.rates[i] = p
	}
	if c.threshold.Kind != report.WorstGroup {
		points.all = newFront(points.rates, func(int) bool { return true })
		points.full = points.all
	}
	t, least := c.threshold.Value, c.threshold.Kind == report.MinGroupRatio || c.threshold.Side == report.Minimum
	iv := points.judge(points.leaders()).interval
	switch {
	case least && (iv.Lower > t || t == 0), !least && (iv.Upper < t || t == 1): // 0 and 1 hold whatever the interval
		return report.Pass
	case least && iv.Upper < t, !least && iv.Lower > t:
		return report.Fail
	}
	return report.InsufficientEvidence
}

// finely is how many times its cases a contest is counted in where parts of a case matter.
const finely = 1000

// recorded is the contest as it would be if what is missing had the rates of what is recorded, counted finely. Of the missing
// ones as many come into the denominator as do in both completions: all of them where the prediction does not decide
// that, else the fewest.
func (c *contest) recorded() *contest {
	full := *c
	full.sides = slices.Clone(c.sides)
	for i := range full.sides {
		s := &full.sides[i]
		n := max(s.recorded.N, min(s.low.N, s.high.N))
		all := scale(s.recorded, finely*n, max(1, s.recorded.N))
		*s = sides{recorded: all, low: all, high: all}
	}
	return &full
}

// filled is the groups with those that are small at the size that min_cell asks for, at their present rates. One in which nothing
// is recorded stays as it is.
func (c *contest) filled() []sides {
	groups := slices.Clone(c.sides)
	for i := range groups {
		if n := groups[i].recorded.N; c.small[i] && n > 0 {
			groups[i] = groups[i].scaled(c.minCell, n)
		}
	}
	return groups
}

// sized is the groups of size cases in place of those that there are, at the present rates and shares.
func (c *contest) sized(size, cases int) []sides {
	groups := slices.Clone(c.sides)
	for i := range groups {
		groups[i] = groups[i].scaled(size, cases)
	}
	return groups
}

// scaled is a group with size cases for every so many of its own.
func (s sides) scaled(size, of int) sides {
	out := sides{recorded: scale(s.recorded, size, of), low: scale(s.low, size, of), high: scale(s.high, size, of)}
	// What is rounded must still be two completions of the same cases.
	out.high.K = max(out.high.K, out.low.K)
	out.high.N = min(out.high.N, out.high.K+out.low.N-out.low.K)
	return out
}

// scale is a tally of size cases for every so many of its own.
func scale(t interval.Tally, size, of int) interval.Tally {
	share := func(x int) int { return int(math.Round(float64(float64(x)*float64(size)) / float64(of))) }
	k := share(t.K)
	return interval.Tally{K: k, N: max(k, share(t.N))}
}

// searched is the pairs that a search looks at where each has an interval of its own: of those that are listed the first, which may
// lie furthest apart, and those that lie furthest apart as measured, which decide when all groups are large.
func (c *contest) searched(listed []apart) []apart {
	if c.gaps == nil {
		return nil
	}
	distance := func(p apart) float64 {
		if x := c.estimate(p.i, p.j); x != nil {
			return *x
		}
		return -1
	}
	measured := slices.Clone(listed)
	slices.SortStableFunc(measured, func(a, b apart) int { return cmp.Compare(distance(b), distance(a)) })
	return slices.Concat(listed[:min(len(listed), mostSearched)], measured[:min(len(measured), mostSearched)])
}

// comesTo reports whether groups of other sizes would make the contest come to goal, PASS or FAIL. pairs are those that are looked
// at where each has an interval of its own.
func (c *contest) comesTo(goal report.Verdict, groups []sides, pairs []apart) (bool, error) {
	if c.gaps == nil {
		d, err := newContest(c.bounds, groups)
		if err != nil {
			return false, err
		}
		return d.judge(d.leaders()).verdict == goal, nil
	}
	small := func(i int) bool { return groups[i].recorded.N < c.minCell }
	if goal == report.Pass {
		for i := range groups {
			if small(i) {
				return false, nil
			}
		}
	}
	for _, p := range pairs {
		if small(p.i) || small(p.j) {
			continue
		}
		gap, err := c.gap(&groups[p.i], &groups[p.j])
		switch {
		case err != nil:
			return false, err
		case goal == report.Fail && gap.Lower > c.threshold.Value:
			return true, nil
		case goal == report.Pass && gap.Upper > c.threshold.Value:
			return false, nil
		}
	}
	return goal == report.Pass, nil
}
