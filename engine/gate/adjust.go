package gate

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// falseFail is the largest probability with which a rule FAILs although what it asks is true: that of one side of its interval,
// half of its error; the whole error for the gap and the ratio of groups, where an end of any group can be the wrong one
// (audit of the intervals, 5a). A rule on the worst group has its half divided by the groups already.
func falseFail(p *policy.Rule) float64 {
	e := p.Judging.Error()
	if t := p.Threshold; t == nil || t.Kind != policy.MaxGroupGap && t.Kind != policy.MinGroupRatio {
		e.Quo(e, big.NewRat(2, 1))
	}
	x, _ := e.Float64()
	return x
}

// adjusted is what a report says of the family that a rule shares its error with; nil where it has none.
func adjusted(p *policy.Rule) *report.Adjusted {
	f := p.Family
	if f == nil {
		return nil
	}
	return &report.Adjusted{Method: f.Adjust, Family: f.Number, Rules: f.Rules, Confidence: f.Alone.Value}
}

// Decide is a rule's part of the report, with what the other rules of its family, its waiver and its review make of it, and
// findings about the last two. decide measures and compares the rule under the given settings.
func (c Context) Decide(p *policy.Rule, decide func(policy.Judging) (report.Rule, error)) (report.Rule, []report.Finding, error) {
	r, err := decide(p.Judging)
	if err != nil {
		return r, nil, err
	}
	if f := p.Family; f != nil && f.Adjust == policy.AdjustHolm && f.Rules > 1 && r.Verdict == report.Fail {
		parts := c.Held[p.ID.Value]
		if parts == 0 {
			r.Reason += fmt.Sprintf(" Among the %d rules that share their error by `adjust: holm` it is FAIL too; no interval goes with that.", f.Rules)
		} else {
			// What would decide it is what would at the part of the error that it would have to do with.
			again, err := decide(p.Judging.Divided(parts))
			if err != nil {
				return r, nil, err
			}
			r.Verdict, r.WithLeftOut, r.Needs, r.TippingPoint = report.InsufficientEvidence, report.NoVerdict, again.Needs, again.TippingPoint
			r.Adjusted.Held = parts
			r.Reason = fmt.Sprintf("By itself it would be FAIL, and among the %d rules that share their error by `adjust: holm` it is not: with its error divided by %d it would be %s. No interval goes with that; the one shown is the rule's own. By itself: %s",
				f.Rules, parts, again.Verdict, r.Reason)
		}
	}
	findings := Settle(&r, p, c)
	return r, findings, nil
}

// Deepest is the largest number of parts, up to most, with which a rule is FAIL when its error is divided by them: 0 where it is
// not FAIL at all. fails says whether it is with so many; intervals are nested, so that it then is with fewer too.
func Deepest(most int, fails func(parts int) (bool, error)) (int, error) {
	low, high := 0, most+1 // it is with low parts (none: not known), it is not with high
	for probe := 1; high-low > 1; probe = low + (high-low)/2 {
		yes, err := fails(probe)
		switch {
		case err != nil:
			return 0, err
		case yes:
			low = probe
		case probe == 1:
			return 0, nil
		default:
			high = probe
		}
	}
	return low, nil
}

// Holm steps down a family of so many rules, of which deepest has the Deepest of each that may FAIL. It returns how many parts a
// rule must have been FAIL with to stay FAIL: the rules of which Deepest is at least that are those that Holm rejects.
//
// Holm's steps take the rule whose FAIL holds at the smallest part of its error first: it must hold with as many parts as there
// are rules, the next with one part less, and so on to the first that does not. A rule that truly holds is rejected first
// among those only when at most as many parts as there are of them are left, so that the probability of any such rejection is at most
// that of one rule alone, however the rules depend on each other (Holm, Scandinavian Journal of Statistics 6, 1979).
func Holm(rules int, deepest []int) (parts int) {
	sorted := slices.Clone(deepest)
	slices.SortFunc(sorted, func(a, b int) int { return b - a })
	parts = rules
	for _, d := range sorted {
		if d < parts || parts == 1 {
			break
		}
		parts--
	}
	return parts
}

// HoldBack finds the rules of a run that FAIL by themselves and not within a family that steps its FAILs down: by id, in how many
// parts their error would have to be divided for them to FAIL. The questions must have their rows.
func HoldBack(families policy.Families, questions []Question) (map[string]int, error) {
	type failing struct {
		id      string
		deepest int
	}
	found := map[int][]failing{} // by family
	sizes := map[int]int{}
	for _, f := range families {
		sizes[f.Number] = f.Rules
	}
	for _, q := range questions {
		for i, r := range q.Rules() {
			if r.Family == nil || r.Family.Adjust != policy.AdjustHolm {
				continue
			}
			deepest, err := Deepest(r.Family.Rules, func(parts int) (bool, error) {
				judged, err := q.Judge(i, parts)
				return judged.Verdict == report.Fail, err
			})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Name(), err)
			}
			if deepest > 0 {
				found[r.Family.Number] = append(found[r.Family.Number], failing{r.ID.Value, deepest})
			}
		}
	}
	held := map[string]int{}
	for family, rules := range found {
		deepest := make([]int, len(rules))
		for i, r := range rules {
			deepest[i] = r.deepest
		}
		needed := Holm(sizes[family], deepest)
		for _, r := range rules {
			if r.deepest < needed {
				held[r.id] = needed
			}
		}
	}
	return held, nil
}

// JudgeAll measures every rule of a question and compares it, as the run would before its waivers: a rule that is held back is
// INSUFFICIENT_EVIDENCE. What would decide a rule is left out.
func JudgeAll(q Question, held map[string]int) ([]report.Rule, error) {
	rules := q.Rules()
	list := make([]report.Rule, len(rules))
	for i := range rules {
		var err error
		if list[i], err = q.Judge(i, 1); err != nil {
			return nil, fmt.Errorf("%s: %w", rules[i].Name(), err)
		}
		if held[list[i].ID] > 0 && list[i].Verdict == report.Fail {
			list[i].Verdict = report.InsufficientEvidence
			list[i].Reason = fmt.Sprintf("By itself it would be FAIL; among the %d rules that share their error by `adjust: holm` it is not, unless others of them FAIL too. By itself: %s",
				rules[i].Family.Rules, list[i].Reason)
		}
	}
	return list, nil
}
