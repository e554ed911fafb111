package report

import "github.com/oloproof/oloproof/engine/diag"

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

// RemovedRule is a rule of the earlier report that the run no longer has.
type RemovedRule struct {
	Gate    string  `json:"gate"`
	Name    string  `json:"name,omitempty"` // of the gate's section
	ID      string  `json:"id"`
	Verdict Verdict `json:"verdict"`
}

// PolicyChange is one thing that a policy says otherwise than the policy it takes the place of, such as the one on a
// pull request's base branch.
type PolicyChange struct {
	Loosens  bool     `json:"loosens"`           // it makes PASS easier to reach, or counts less; else it may, and a person should look
	Message  string   `json:"message"`           // one sentence with the old value and the new one
	Position diag.Pos `json:"position,omitzero"` // in the new policy; its file alone for what is gone
}
