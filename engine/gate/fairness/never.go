package fairness

import (
	"fmt"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// mostNeeded is where the search for the cases that could decide a rule ends.
const mostNeeded = 1 << 20

// neverAtMinCell says that a rule can never pass, or never fail, where every group has just the cases that min_cell asks for: what it
// comes to on the most favourable data shows it. It also says from how many cases in each group on it can.
func (q *question) neverAtMinCell(r *rule) []diag.Diagnostic {
	if r.rate == nil || r.crossing == nil || r.Threshold == nil || r.Threshold.Kind != policy.WorstGroup && len(r.crossing.groups) < 2 {
		return nil
	}
	var list []diag.Diagnostic
	for _, wanted := range []report.Verdict{report.Pass, report.Fail} {
		could := func(n int) bool {
			is, err := q.couldBe(r, wanted, n)
			return is && err == nil
		}
		if could(q.minCell) {
			continue
		}
		low, high := q.minCell, 2*q.minCell
		for high <= mostNeeded && !could(high) {
			low, high = high, 2*high
		}
		from := "; no number of cases changes that"
		switch {
		case high > mostNeeded && wanted == report.Fail: // said already: the threshold is at the end of its range
			continue
		case high <= mostNeeded:
			for high-low > 1 {
				if n := (low + high) / 2; could(n) {
					high = n
				} else {
					low = n
				}
			}
			from = fmt.Sprintf("; from %d in each group on it can", high)
		}
		what := map[report.Verdict]string{report.Pass: "pass", report.Fail: "fail"}[wanted]
		list = append(list, diag.Diagnostic{Pos: r.Pos, Message: fmt.Sprintf("%s can never %s with %s in each group, which min_cell lets count, whatever they show%s",
			r.Name(), what, gate.Plural(q.minCell, "case", "cases"), from)})
	}
	return list
}

// couldBe reports whether a rule comes to a verdict on the most favourable data of n cases in each group.
func (q *question) couldBe(r *rule, wanted report.Verdict, n int) (bool, error) {
	t := gate.Start(&r.Rule).Threshold
	all := func(k int) sides {
		tally := interval.Tally{K: k, N: n}
		return sides{recorded: tally, low: tally, high: tally}
	}
	none, every := all(0), all(n)
	groups := []sides{none, none} // what passes a gap: no two of the same size can be closer, and no rate has a narrower interval
	switch pass := wanted == report.Pass; {
	case t.Kind == report.WorstGroup:
		if (t.Side == report.Minimum) == pass {
			groups = []sides{every}
		} else {
			groups = []sides{none}
		}
	case !pass:
		groups = []sides{none, every}
	case t.Kind == report.MinGroupRatio:
		groups = []sides{every, every}
	}
	// The other groups are like these, so that two stand for all; the error is still divided by the declared ones.
	b := &bounds{threshold: t, judging: r.Judging, pairwise: r.pairwise, groups: len(r.crossing.groups), minCell: 1}
	c, err := newContest(b, groups)
	if err != nil {
		return false, err
	}
	return c.judge(c.everyone()).verdict == wanted, nil
}
