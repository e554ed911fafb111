package fairness

import (
	"fmt"
	"math"
	"strings"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// mostSearched is how many pairs a search for a size looks at where each has an interval of its own: those that may lie
// furthest apart.
const mostSearched = 25

// needs says what would decide a rule whose groups leave it undecided: cases in small groups, else about how many cases in
// all a sample would have to have. cases is how many the file has for the rule, those left out included.
func (q *question) needs(r *rule, c *contest, pairs []apart, cases int) (*report.Needs, error) {
	if small := q.smallNeeds(r, c); small != nil {
		return small, nil
	}
	goal := c.limit()
	if goal == report.InsufficientEvidence {
		missing := 0
		for i := range c.sides {
			missing += c.sides[i].missing
		}
		return gate.NoNumber(missing > 0, "cases"), nil
	}
	// At twice the size the interval of the present rates is narrower, and so on; the counts are whole numbers, so that near
	// the size that is found the verdict may still go either way.
	most := max(interval.MostNeeded, 100*cases)
	bad, good, found := cases, 2*cases, false
	for {
		var err error
		if found, err = c.decidedAt(good, cases, goal, pairs); err != nil {
			return nil, err
		}
		if found || good >= most {
			break
		}
		bad, good = good, min(2*good, most)
	}
	for found && good-bad > 1+good/256 {
		middle := bad + (good-bad)/2
		ok, err := c.decidedAt(middle, cases, goal, pairs)
		switch {
		case err != nil:
			return nil, err
		case ok:
			good = middle
		default:
			bad = middle
		}
	}
	how := ", at the present rates and shares of the groups"
	if goal == report.Fail {
		how += " (as FAIL)"
	}
	if !found {
		how += "; that many would not do, and the search went no further"
	}
	if c.repeated() {
		return &report.Needs{What: "more cases" + how, AtLeast: gate.Rounded(good - cases)}, nil
	}
	return &report.Needs{What: "cases in all in a new sample (or `looks: repeated`, set before collecting)" + how, AtLeast: gate.Rounded(good)}, nil
}

// smallNeeds says which cases small groups lack; nil where no group is small.
func (q *question) smallNeeds(r *rule, c *contest) *report.Needs {
	lack, groups := 0, 0
	var named []string
	for i, small := range c.small {
		if !small {
			continue
		}
		n := c.minCell - c.sides[i].recorded.N
		lack += n
		if groups++; groups <= mostNamed {
			named = append(named, fmt.Sprintf("%s (%d)", shown(r.crossing.groups[i]), n))
		}
	}
	coarser := ", or declare coarser groups before the run"
	if len(r.crossing.attributes) > 1 {
		coarser = ", or declare a coarser crossing before the run"
	}
	with := ""
	switch {
	case r.rate.moves():
		with = " (labelled, " + q.words(r.rate) + ")"
	case r.rate.cases != "":
		with = " (" + q.words(r.rate) + ")"
	case r.rate.needsLabel():
		with = " (with a label)"
	}
	switch {
	case groups == 0:
		return nil
	case groups == 1:
		named[0] = named[0][:strings.LastIndex(named[0], " (")] // the number stands before
	case groups > mostNamed:
		named = append(named, gate.Plural(groups-mostNamed, "more group", "more groups"))
	}
	return &report.Needs{What: "cases with a prediction in " + listed(named) + with + coarser, AtLeast: lack}
}

// limit is the verdict that the contest would come to if the present rates were those of ever more cases: PASS or FAIL;
// INSUFFICIENT_EVIDENCE where no number would decide, since the threshold lies on them, or between the completions of what is
// missing. No group is small.
func (c *contest) limit() report.Verdict {
	points := *c
	points.gaps = nil
	points.rates = make([]interval.Interval, len(c.rates))
	for i := range points.rates {
		low, high := c.sides[i].low, c.sides[i].high
		points.rates[i] = interval.Interval{Lower: float64(low.K) / float64(low.N), Upper: float64(high.K) / float64(high.N)}
	}
	if c.threshold.Kind != report.WorstGroup {
		points.all = newFront(points.rates, func(int) bool { return true })
		points.full = points.all
	}
	t, least := c.threshold.Value, c.threshold.Kind == report.MinGroupRatio || c.threshold.Side == report.Minimum
	iv := points.judge(points.leaders()).interval
	switch {
	case least && iv.Lower > t, !least && iv.Upper < t:
		return report.Pass
	case least && iv.Upper < t, !least && iv.Lower > t:
		return report.Fail
	}
	return report.InsufficientEvidence
}

// decidedAt reports whether the contest would come to goal with size cases in place of those that there are, at the present
// rates and shares. pairs are those that may lie furthest apart, where each has an interval of its own.
func (c *contest) decidedAt(size, cases int, goal report.Verdict, pairs []apart) (bool, error) {
	scaled := make([]sides, len(c.sides))
	for i, s := range c.sides {
		scaled[i] = sides{recorded: scale(s.recorded, size, cases), low: scale(s.low, size, cases), high: scale(s.high, size, cases)}
		// What is rounded must still be two completions of the same cases.
		scaled[i].high.K = max(scaled[i].high.K, scaled[i].low.K)
		scaled[i].high.N = min(scaled[i].high.N, scaled[i].high.K+scaled[i].low.N-scaled[i].low.K)
	}
	if c.gaps == nil {
		d, err := newContest(c.bounds, scaled)
		if err != nil {
			return false, err
		}
		return d.judge(d.leaders()).verdict == goal, nil
	}
	for _, p := range pairs[:min(len(pairs), mostSearched)] {
		gap, err := c.gap(&scaled[p.i], &scaled[p.j])
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

// scale is a tally of size cases with the shares of one of cases.
func scale(t interval.Tally, size, cases int) interval.Tally {
	share := func(x int) int { return int(math.Round(float64(float64(x)*float64(size)) / float64(cases))) }
	k := share(t.K)
	return interval.Tally{K: k, N: max(k, share(t.N))}
}
