package anchoring

import (
	"fmt"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
)

// Where the search for the blind items that could decide a rule ends, and up to which corpus every number of them is looked at.
const (
	mostNeeded  = 1 << 20
	smallCorpus = 400
)

// neverAtFloor says that a rule on blind agreement with items as units can never pass, or never fail, at the floor of blind labels:
// the interval of labels that all agree, or all disagree, shows how far an end can reach. It also says from how many on it can, and
// of a small corpus whether any number can.
func (q *question) neverAtFloor(r *rule) []diag.Diagnostic {
	if r.Threshold == nil || r.Metric.Value != blindAgreement || r.form.per == perPerson || r.Looks.Value == policy.LooksOnce {
		return nil
	}
	t := gate.Start(&r.Rule).Threshold
	nevers := func(n int) []gate.Never {
		worst, best, err := q.extremes(r, n)
		if err != nil {
			return nil
		}
		return gate.NeverBetween(t, worst, best)
	}
	can := func(what string, n int) bool {
		for _, never := range nevers(n) {
			if never.What == what {
				return false
			}
		}
		return true
	}
	floor, most := q.blindFloor(), mostNeeded
	if r.form.corpus > 0 {
		most = r.form.corpus - 1
	}
	if floor > most {
		return nil
	}
	var list []diag.Diagnostic
	for _, never := range nevers(floor) {
		from := 0 // the least number that can; 0: none was found
		if r.form.corpus > 0 && r.form.corpus <= smallCorpus {
			for n := floor; n <= most && from == 0; n++ {
				if can(never.What, n) {
					from = n
				}
			}
		} else {
			from = firstThatCan(floor, most, func(n int) bool { return can(never.What, n) })
		}
		message := fmt.Sprintf("%s can never %s with %s, which minimum_blind_sample lets count%s", r.Name(), never.What, gate.Plural(floor, "blind label", "blind labels"), never.Why)
		switch {
		case from > 0:
			message += fmt.Sprintf("; from %d on it can", from)
		case never.What == "fail" && (r.form.corpus == 0 || t.Value == 0 || t.Value == 1): // said already: the threshold is at the end of its range
			continue
		case r.form.corpus > 0 && r.form.corpus <= smallCorpus:
			message = fmt.Sprintf("%s can never %s on a corpus of %d, however many of its items are drawn blind: too few rest to be told apart", r.Name(), never.What, r.form.corpus)
		}
		list = append(list, diag.Diagnostic{Pos: r.Pos, Message: message})
	}
	return list
}

// firstThatCan finds by doubling and halving the least number above floor, up to most, from which on something can be; 0 for none.
func firstThatCan(floor, most int, can func(n int) bool) int {
	low, high := floor, min(most, 2*floor)
	for !can(high) {
		if high == most {
			return 0
		}
		low, high = high, min(most, 2*high)
	}
	for high-low > 1 {
		if n := (low + high) / 2; can(n) {
			high = n
		} else {
			low = n
		}
	}
	return high
}

// extremes are the intervals of n blind labels of one annotator of which none agrees, and of which all do.
func (q *question) extremes(r *rule, n int) (worst, best interval.Interval, err error) {
	at := func(k int) (interval.Interval, error) {
		if r.form.corpus > 0 {
			return interval.HypergeometricRest(k, 0, n, r.form.corpus, r.Confidence.Value)
		}
		return gate.Rate(k, 0, n, r.Judging)
	}
	if worst, err = at(0); err != nil {
		return worst, best, err
	}
	best, err = at(n)
	return worst, best, err
}
