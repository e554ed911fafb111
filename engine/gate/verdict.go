package gate

import (
	"strconv"
	"time"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// Doubts are what stands in the way of comparing a rule's interval with its threshold. The first that is not
// empty decides, in this order.
type Doubts struct {
	Undecided Doubt  // nothing evaluated, or a kind of data that the method does not decide: INSUFFICIENT_EVIDENCE
	Review    string // the assumption behind the interval is visibly broken: MANUAL_REVIEW
}

// Doubt is why a rule is not decided, in a sentence, and what would have to be otherwise for it to be: never one without the
// other.
type Doubt struct {
	Why   string
	Needs report.Needs
}

// Doubtful is a doubt that no number helps out of: needs says what a person would have to do.
func Doubtful(why, needs string) Doubt { return Doubt{why, report.Needs{What: needs}} }

// Conclude gives a rule its verdict and reason: the doubts first, then the comparison of its interval with its
// threshold. The rule must have its measure and its threshold already.
func Conclude(r *report.Rule, d Doubts) {
	switch {
	case d.Undecided.Why != "":
		r.Verdict, r.Reason = report.InsufficientEvidence, d.Undecided.Why
	case d.Review != "":
		r.Verdict, r.Reason = report.ManualReview, d.Review
	case r.Interval == nil || r.Interval.Lower == nil || r.Interval.Upper == nil:
		r.Verdict, r.Reason = report.InsufficientEvidence, "There is no interval to compare with the threshold."
	default:
		r.Verdict = r.Threshold.Compare(*r.Interval.Lower, *r.Interval.Upper)
		r.Reason = compared(r.Threshold, r.Verdict)
	}
}

// compared says in a sentence what a comparison showed.
func compared(t report.Threshold, v report.Verdict) string {
	value := strconv.FormatFloat(t.Value, 'f', -1, 64)
	least := t.Kind == report.Minimum
	switch {
	case v == report.Pass && least:
		return "The whole interval is at or above the minimum of " + value + "."
	case v == report.Pass:
		return "The whole interval is at or below the maximum of " + value + "."
	case v == report.Fail && least:
		return "The whole interval is below the minimum of " + value + "."
	case v == report.Fail:
		return "The whole interval is above the maximum of " + value + "."
	}
	return "The interval holds " + value + ", so it cannot be told on which side of it the truth lies."
}

// Settle applies a rule's waiver and review, after its verdict: a waiver in force turns FAIL and
// INSUFFICIENT_EVIDENCE into MANUAL_REVIEW and never into PASS; a review bound to the present inputs is marked
// valid, unless it is of a waived rule: the two together would let a FAIL end with 0. It returns findings about waivers that do
// nothing, have ended, or end within two weeks.
func Settle(r *report.Rule, p *policy.Rule, c Context) []report.Finding {
	var findings []report.Finding
	if w := p.Waive; w != nil {
		switch {
		case !w.Covers(c.Today):
			findings = append(findings, report.Finding{Rule: p.ID.Value, Code: "waiver_ended", Severity: report.Warning,
				Message: "The waiver of " + p.Name() + " ended on " + w.Until.Value + "; the rule has its own verdict."})
		case r.Verdict == report.Fail || r.Verdict == report.InsufficientEvidence:
			r.Waived = &report.Waived{Until: w.Until.Value, Owner: w.Owner.Value, Reason: w.Reason.Value, Verdict: r.Verdict}
			r.Reason = "Waived until " + w.Until.Value + "; without the waiver it would be " + r.Verdict.String() + ". " + r.Reason
			r.Verdict = report.ManualReview
			if days, known := daysUntil(w.Until.Value, c.Today); known && days <= announced {
				findings = append(findings, report.Finding{Rule: p.ID.Value, Code: "waiver_ending", Severity: report.Warning, Message: ending(p, days, r.Waived)})
			}
		default:
			findings = append(findings, report.Finding{Rule: p.ID.Value, Code: "waiver_unused", Severity: report.Note,
				Message: "The waiver of " + p.Name() + " was not needed: the rule came to " + r.Verdict.String() + "."})
		}
	}
	if v := p.Reviewed; v != nil {
		bound := v.Digest.Value == c.Digest
		valid := bound && r.Verdict == report.ManualReview && r.Waived == nil
		r.Reviewed = &report.Reviewed{By: v.By.Value, On: v.On.Value, Digest: v.Digest.Value, Reason: v.Reason.Value, Valid: valid}
		switch {
		case r.Waived != nil:
			findings = append(findings, report.Finding{Rule: p.ID.Value, Code: "review_of_a_waiver", Severity: report.Warning,
				Message: "The review of " + p.Name() + " does not count: the rule is waived, and a waived " + r.Waived.Verdict.String() + " is not a review's to settle.", Count: 1})
		case !bound:
			findings = append(findings, report.Finding{Rule: p.ID.Value, Code: "review_outdated", Severity: report.Warning,
				Message: "The review of " + p.Name() + " was made on other files; it no longer counts."})
		case r.Verdict != report.ManualReview:
			findings = append(findings, report.Finding{Rule: p.ID.Value, Code: "review_unused", Severity: report.Note,
				Message: "The review of " + p.Name() + " was not needed: the rule came to " + r.Verdict.String() + "."})
		}
	}
	return findings
}

// announced is how many days before its last one a waiver's end is announced.
const announced = 14

// daysUntil is how many days lie between two days of the calendar, in UTC, where every day has 24 hours. known is false
// where one of the two is none.
func daysUntil(day, today string) (days int, known bool) {
	end, err := time.Parse(time.DateOnly, day)
	start, errToo := time.Parse(time.DateOnly, today)
	return int(end.Sub(start).Hours() / 24), err == nil && errToo == nil
}

// ending says when a waiver ends that is in effect, and what comes after it.
func ending(p *policy.Rule, days int, w *report.Waived) string {
	when := "today is its last day"
	if days > 0 {
		when = "in " + Plural(days, "day", "days")
	}
	return "The waiver of " + p.Name() + " (owner " + diag.Quote(w.Owner) + ") ends on " + w.Until + ": " + when + ". From the day after, the rule has its own verdict, which is " + w.Verdict.String() + " now."
}

// Start returns the report's rule for a policy's rule, before it is measured.
func Start(p *policy.Rule) report.Rule {
	r := report.Rule{ID: p.ID.Value, Position: p.Pos, Advisory: p.Advisory, FalseFail: falseFail(p), Adjusted: adjusted(p)}
	if p.Threshold != nil {
		r.Threshold = report.Threshold{Kind: report.Kind(p.Threshold.Kind), Value: p.Threshold.Value.Value, Side: report.Kind(p.Threshold.Side)}
	}
	return r
}
