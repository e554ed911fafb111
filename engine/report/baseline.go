package report

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/oloproof/oloproof/engine/diag"
)

// Change is how a rule's verdict stands to the one that an earlier report gave it.
type Change string

// The changes of a rule, those that need someone first.
const (
	NewlyFailing   Change = "newly_failing"    // FAIL now, and not before
	NewlyUndecided Change = "newly_undecided"  // PASS before, and now INSUFFICIENT_EVIDENCE or MANUAL_REVIEW
	NewRule        Change = "new_rule"         // the earlier report has no such rule
	Redefined      Change = "redefined"        // the earlier rule of this id measured something else, so that the two do not compare
	StillNotPassed Change = "still_not_passed" // not PASS before, not PASS now, and not newly failing
	NewlyPassing   Change = "newly_passing"    // PASS now, and not before
	StillPassing   Change = "still_passing"
)

// Before is a rule as an earlier report had it. A pointer that is nil does not apply.
type Before struct {
	Change    Change    `json:"change"`
	Verdict   Verdict   `json:"verdict,omitzero"` // NoVerdict for a new rule
	Threshold Threshold `json:"threshold,omitzero"`
	Estimate  *float64  `json:"estimate,omitempty"`
	Interval  *Interval `json:"interval,omitempty"`
}

// Baseline is the earlier report that a run's rules were compared with.
type Baseline struct {
	File
	Confidence float64 `json:"confidence,omitzero"` // the earlier run's; a rule may have its own
	// Whether both runs are of the same rows and by the same policies, by their digests; "" where one of the two names none.
	Data     DataDiff `json:"data,omitempty"`
	Policies DataDiff `json:"policies,omitempty"`
}

// baselineOf is what a later report keeps of an earlier one as a whole.
func baselineOf(before, now *Report, file File) *Baseline {
	b := &Baseline{File: file, Confidence: before.Confidence}
	was, is := sideOf(before, File{}), sideOf(now, File{})
	if len(was.Inputs) > 0 && len(is.Inputs) > 0 {
		b.Data = sameFiles(was.Inputs, is.Inputs)
	}
	if len(was.Policies) > 0 && len(is.Policies) > 0 {
		b.Policies = sameFiles(was.Policies, is.Policies)
	}
	return b
}

// RemovedRule is a rule of the earlier report that the run no longer has.
type RemovedRule struct {
	Gate    string  `json:"gate"`
	Name    string  `json:"name,omitempty"` // of the gate's section
	ID      string  `json:"id"`
	Verdict Verdict `json:"verdict"`
}

// PolicyChange is one thing that a policy says otherwise than the policy it takes the place of, such as the one on a
// pull request's base branch; or that the ledger beside it lacks looks of the one there.
type PolicyChange struct {
	Loosens  bool     `json:"loosens"`           // it makes PASS easier to reach, or counts less; else it may, and a person should look
	Message  string   `json:"message"`           // one sentence with the old value and the new one
	Position diag.Pos `json:"position,omitzero"` // in the new policy; its file alone, or the ledger's, for what is gone
}

// changeOrder is how ByChange sorts: verdicts that turned before those that did not, and the bad news first.
var changeOrder = []Change{NewlyFailing, NewlyUndecided, NewlyPassing, NewRule, Redefined, StillNotPassed, StillPassing}

// ByChange returns rules that were compared with a baseline, sorted for a person to read: those whose verdict turned
// first, then new and redefined ones, then those that stayed as they were; within a change the worst verdict first, then
// in the order of the policy. Advisory rules stand last, as in ByVerdict.
func ByChange(rules []Rule) []Rule {
	place := func(r *Rule) int {
		if r.Before == nil {
			return len(changeOrder)
		}
		if i := slices.Index(changeOrder, r.Before.Change); i >= 0 {
			return i
		}
		return len(changeOrder) // of a later version's report
	}
	sorted := ByVerdict(rules)
	slices.SortStableFunc(sorted, func(a, b Rule) int {
		switch {
		case a.Advisory == b.Advisory:
			return cmp.Compare(place(&a), place(&b))
		case a.Advisory:
			return 1
		}
		return -1
	})
	return sorted
}

// UsableBaseline says why a report cannot be compared with, in words for a person; nil where it can. Only a run that
// decided rules can be.
func UsableBaseline(r *Report) error {
	switch {
	case len(r.Errors) > 0:
		return errors.New("nothing was decided in it: its files or its policy could not be used; give the report of a run that ended with a verdict")
	case r.Verdict == NoVerdict:
		return errors.New("it has no verdict to compare with: it is of check or report; give the report of gate")
	}
	return nil
}

// Problems is how much a person is to see: the counting rules that are not PASS or, where the run could not be used, its
// errors, at least one.
func (r *Report) Problems() int {
	if r.ExitStatus == ExitUnusable || len(r.Errors) > 0 {
		return max(1, len(r.Errors)+r.MoreErrors)
	}
	return len(r.FailingRules())
}

// CompareWith says of every rule how its verdict stands to the one in an earlier report, read from file: it sets
// Baseline, each rule's Before, and RemovedRules in the earlier report's order. Where one of the two reports decided nothing
// (see UsableBaseline) it does nothing.
//
// A rule is the earlier report's rule of the same gate, section and id; where each report has one section of a gate, the
// section's name may differ. Verdicts are compared as they were printed. So a rule that failed and is now waived is
// still_not_passed, and one whose waiver ended is newly_failing; advisory rules are compared as all others are, whichever of
// the two counted. A threshold that was moved still compares; what a rule measures must be the same, else it is redefined:
// its metric, its labels (of a version: whether it is the baseline or the candidate, whatever they are called), its groups
// and its kind of threshold.
func (r *Report) CompareWith(before *Report, file File) {
	if UsableBaseline(r) != nil || UsableBaseline(before) != nil {
		return
	}
	r.Baseline, r.RemovedRules = baselineOf(before, r, file), nil
	found, gone := before.matched(r)
	for i := range r.Gates {
		g := &r.Gates[i]
		for j := range g.Rules {
			rule := &g.Rules[j]
			was, known := found[rule]
			if !known {
				rule.Before = &Before{Change: NewRule}
				continue
			}
			rule.Before = &Before{Change: turned(was.rule.Verdict, rule.Verdict), Verdict: was.rule.Verdict, Threshold: was.rule.Threshold}
			if !sameQuestion(was.gate, was.rule, g, rule) {
				rule.Before.Change = Redefined // its numbers are of something else, and are left out
				continue
			}
			rule.Before.Estimate, rule.Before.Interval = was.rule.Estimate, was.rule.Interval
		}
	}
	for _, was := range gone {
		r.RemovedRules = append(r.RemovedRules, RemovedRule{Gate: was.gate.Gate, Name: was.gate.Name, ID: was.rule.ID, Verdict: was.rule.Verdict})
	}
}

// placed is a rule in its gate's part of a report.
type placed struct {
	gate *Gate
	rule *Rule
}

// matched finds for each rule of a later report the one of this report that it is, and this report's rules that are none of them, in
// order; see CompareWith.
func (r *Report) matched(later *Report) (found map[*Rule]placed, gone []placed) {
	type place struct{ gate, name, id string }
	alone := map[string]bool{} // gates with one section on each side
	for i := range later.Gates {
		g := later.Gates[i].Gate
		alone[g] = sections(later, g) == 1 && sections(r, g) == 1
	}
	placeOf := func(g *Gate, id string) place {
		if alone[g.Gate] {
			return place{g.Gate, "", id}
		}
		return place{g.Gate, g.Name, id}
	}
	earlier := map[place]placed{}
	for i := range r.Gates {
		g := &r.Gates[i]
		for j := range g.Rules {
			earlier[placeOf(g, g.Rules[j].ID)] = placed{g, &g.Rules[j]}
		}
	}
	found = map[*Rule]placed{}
	for i := range later.Gates {
		g := &later.Gates[i]
		for j := range g.Rules {
			at := placeOf(g, g.Rules[j].ID)
			if was, known := earlier[at]; known {
				found[&g.Rules[j]] = was
				delete(earlier, at)
			}
		}
	}
	for i := range r.Gates {
		g := &r.Gates[i]
		for j := range g.Rules {
			if was, left := earlier[placeOf(g, g.Rules[j].ID)]; left && was.rule == &g.Rules[j] {
				gone = append(gone, was)
			}
		}
	}
	return found, gone
}

// sections is how many sections of a gate a report has.
func sections(r *Report, gate string) (n int) {
	for i := range r.Gates {
		if r.Gates[i].Gate == gate {
			n++
		}
	}
	return n
}

// turned is the change from one verdict to another.
func turned(before, now Verdict) Change {
	switch {
	case now == Fail && before != Fail:
		return NewlyFailing
	case now == Pass && before == Pass:
		return StillPassing
	case now == Pass:
		return NewlyPassing
	case before == Pass:
		return NewlyUndecided
	}
	return StillNotPassed
}

// sameQuestion reports whether two rules measure the same and compare it in the same way.
func sameQuestion(was *Gate, before *Rule, is *Gate, now *Rule) bool {
	return before.Metric == now.Metric && before.Threshold.Kind == now.Threshold.Kind && before.Threshold.Side == now.Threshold.Side &&
		maps.Equal(asked(was, before), asked(is, now)) && slices.Equal(groups(before), groups(now))
}

// asked is a rule's labels, with its version by the part that it plays: each run has a candidate with a name of its own.
func asked(g *Gate, r *Rule) map[string]string {
	labels := maps.Clone(r.Labels)
	if v, ok := labels["version"]; ok {
		labels["version"] = "candidate"
		if v == g.Settings["baseline"] && v != g.Settings["candidate"] {
			labels["version"] = "baseline"
		}
	}
	return labels
}

// groups is the groups that a rule is about, sorted: their order has no meaning.
func groups(r *Rule) []string {
	var list []string
	for i := range r.Cells {
		list = append(list, r.Cells[i].Labels["group"])
	}
	slices.Sort(list)
	return list
}
