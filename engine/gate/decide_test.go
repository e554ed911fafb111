package gate

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// published is an interval as a report has it.
func published(lower, upper float64) *report.Interval {
	return report.PublishInterval(interval.Interval{Lower: lower, Upper: upper, Confidence: 0.95})
}

// TestConclude goes through the comparison with a threshold, an end exactly on it included, and through what goes before it: a doubt,
// a review, and an interval that is not there.
func TestConclude(t *testing.T) {
	const p, f, i, m = report.Pass, report.Fail, report.InsufficientEvidence, report.ManualReview
	least := report.Threshold{Kind: report.Minimum, Value: 0.5}
	most := report.Threshold{Kind: report.Maximum, Value: 0.5}
	const straddles = "The interval holds 0.5, so it cannot be told on which side of it the truth lies."
	const none = "There is no interval to compare with the threshold."
	doubt := Doubts{Undecided: Doubt{Why: "Nothing was read."}}
	review := Doubts{Review: "The units are not independent."}
	for _, test := range []struct {
		name      string
		threshold report.Threshold
		interval  *report.Interval
		doubts    Doubts
		want      report.Verdict
		reason    string
	}{
		{"lower end on the minimum", least, published(0.5, 0.9), Doubts{}, p, "The whole interval is at or above the minimum of 0.5."},
		{"upper end on the minimum", least, published(0.1, 0.5), Doubts{}, i, straddles},
		{"below the minimum", least, published(0.1, math.Nextafter(0.5, 0)), Doubts{}, f, "The whole interval is below the minimum of 0.5."},
		{"upper end on the maximum", most, published(0.1, 0.5), Doubts{}, p, "The whole interval is at or below the maximum of 0.5."},
		{"lower end on the maximum", most, published(0.5, 0.9), Doubts{}, i, straddles},
		{"above the maximum", most, published(math.Nextafter(0.5, 1), 0.9), Doubts{}, f, "The whole interval is above the maximum of 0.5."},
		{"no interval", least, nil, Doubts{}, i, none},
		{"no lower end", most, published(math.Inf(-1), 0.4), Doubts{}, i, none}, // though the upper one would pass
		{"no upper end", least, published(0.6, math.Inf(1)), Doubts{}, i, none},
		{"a doubt, of one that would pass", least, published(0.6, 0.9), doubt, i, "Nothing was read."},
		{"a review, of one that would pass", least, published(0.6, 0.9), review, m, "The units are not independent."},
		{"a review, of one that would fail", least, published(0.1, 0.2), review, m, "The units are not independent."},
		{"a doubt and a review", least, published(0.6, 0.9), Doubts{doubt.Undecided, review.Review}, i, "Nothing was read."},
		{"no threshold", report.Threshold{}, published(0.6, 0.9), Doubts{}, i, "The interval holds 0, so it cannot be told on which side of it the truth lies."},
	} {
		r := report.Rule{Measure: report.Measure{Interval: test.interval}, Threshold: test.threshold}
		Conclude(&r, test.doubts)
		if r.Verdict != test.want || r.Reason != test.reason {
			t.Errorf("%s: %s, %q; want %s, %q", test.name, r.Verdict, r.Reason, test.want, test.reason)
		}
	}
}

// TestReviews: a review counts only for MANUAL_REVIEW on the very inputs that it was made on, and never for a waived rule.
func TestReviews(t *testing.T) {
	const p, f, i, m = report.Pass, report.Fail, report.InsufficientEvidence, report.ManualReview
	for _, test := range []struct {
		name     string
		own      report.Verdict
		digest   string
		waived   bool
		want     report.Verdict
		valid    bool
		findings []string // code: message
	}{
		{"of these inputs", m, "d1", false, m, true, nil},
		{"of other inputs", m, "d2", false, m, false, []string{"review_outdated warning 0: The review of rule a was made on other files; it no longer counts."}},
		{"of a FAIL", f, "d1", false, f, false, []string{"review_unused note 0: The review of rule a was not needed: the rule came to FAIL."}},
		{"of what is undecided", i, "d1", false, i, false, []string{"review_unused note 0: The review of rule a was not needed: the rule came to INSUFFICIENT_EVIDENCE."}},
		{"of a PASS", p, "d1", false, p, false, []string{"review_unused note 0: The review of rule a was not needed: the rule came to PASS."}},
		{"of a PASS on other inputs", p, "d2", false, p, false, []string{"review_outdated warning 0: The review of rule a was made on other files; it no longer counts."}},
		{"of a waived FAIL", f, "d1", true, m, false,
			[]string{"review_of_a_waiver warning 1: The review of rule a does not count: the rule is waived, and a waived FAIL is not a review's to settle."}},
		{"of a waived FAIL, on other inputs", f, "d2", true, m, false,
			[]string{"review_of_a_waiver warning 1: The review of rule a does not count: the rule is waived, and a waived FAIL is not a review's to settle."}},
		{"beside a waiver that is not needed", m, "d1", true, m, true,
			[]string{"waiver_unused note 0: The waiver of rule a was not needed: the rule came to MANUAL_REVIEW."}},
	} {
		r := report.Rule{ID: "a", Verdict: test.own, Reason: "R."}
		rule := policy.Rule{ID: policy.Text{Value: "a", Set: true}, Reviewed: &policy.Review{
			By: policy.Text{Value: "Ada"}, On: policy.Text{Value: "2027-01-02"}, Digest: policy.Text{Value: test.digest}, Reason: policy.Text{Value: "seen"}}}
		if test.waived {
			rule.Waive = &policy.Waiver{Until: policy.Text{Value: "2027-12-31"}}
		}
		var findings []string
		for _, x := range Settle(&r, &rule, Context{Today: "2027-01-03", Digest: "d1"}) {
			if x.Rule != "a" {
				t.Errorf("%s: %s is of the rule %q", test.name, x.Code, x.Rule)
			}
			findings = append(findings, x.Code+" "+string(x.Severity)+" "+string(rune('0'+x.Count))+": "+x.Message)
		}
		if diff := cmp.Diff(test.findings, findings); diff != "" {
			t.Errorf("%s: findings (-want +got):\n%s", test.name, diff)
		}
		want := &report.Reviewed{By: "Ada", On: "2027-01-02", Digest: test.digest, Reason: "seen", Valid: test.valid}
		if diff := cmp.Diff(want, r.Reviewed); diff != "" || r.Verdict != test.want {
			t.Errorf("%s: %s; reviewed (-want +got):\n%s", test.name, r.Verdict, diff)
		}
	}
}

// TestFalseFail: one side of an interval has half of its error; a gap and a ratio of groups can be wrong at either end. Errors are those
// of the decimal as written: 1 − 0.95 is 0.05, which float64s do not have.
func TestFalseFail(t *testing.T) {
	for _, test := range []struct {
		threshold *policy.Threshold
		want      float64
	}{
		{nil, 0.025}, {&policy.Threshold{Kind: policy.Minimum}, 0.025}, {&policy.Threshold{Kind: policy.Maximum}, 0.025},
		{&policy.Threshold{Kind: policy.WorstGroup, Side: policy.Minimum}, 0.025},
		{&policy.Threshold{Kind: policy.MaxGroupGap}, 0.05}, {&policy.Threshold{Kind: policy.MinGroupRatio}, 0.05},
	} {
		rule := policy.Rule{Threshold: test.threshold, Judging: policy.Judging{Confidence: policy.Number{Text: "0.95", Value: 0.95}}}
		if got := falseFail(&rule); got != test.want {
			t.Errorf("%+v: %v, want %v", test.threshold, got, test.want)
		}
		if got := Start(&rule); got.FalseFail != test.want || (got.Threshold == report.Threshold{}) != (test.threshold == nil) || got.Adjusted != nil {
			t.Errorf("%+v: the rule begins as %+v", test.threshold, got)
		}
	}
}

// inFamily is a rule with an id in a family that steps its FAILs down.
func inFamily(id string, f *policy.Family) policy.Rule {
	return policy.Rule{ID: policy.Text{Value: id, Set: true}, Family: f, Judging: policy.Judging{Confidence: policy.Number{Text: "0.9", Value: 0.9}}}
}

// TestDecideInFamily: only a FAIL of a family of several rules that steps its FAILs down is held back, and then it is undecided, says what
// it is by itself, and what would decide it at the part of the error that it would need.
func TestDecideInFamily(t *testing.T) {
	const f, p = report.Fail, report.Pass
	const alone = "Alone."
	for _, test := range []struct {
		name       string
		adjust     string
		rules      int
		own        report.Verdict
		held       int
		want       report.Verdict
		reason     string
		confidence []string // that were asked about
	}{
		{"held back", policy.AdjustHolm, 3, f, 2, report.InsufficientEvidence,
			"By itself it would be FAIL, and among the 3 rules that share their error by `adjust: holm` it is not: with its error divided by 2 it would be FAIL. " +
				"No interval goes with that; the one shown is the rule's own. By itself: Alone.", []string{"0.9", "0.95"}},
		{"not held back", policy.AdjustHolm, 3, f, 0, f, "Alone. Among the 3 rules that share their error by `adjust: holm` it is FAIL too; no interval goes with that.", []string{"0.9"}},
		{"the only rule", policy.AdjustHolm, 1, f, 0, f, alone, []string{"0.9"}},
		{"of two", policy.AdjustHolm, 2, f, 0, f, "Alone. Among the 2 rules that share their error by `adjust: holm` it is FAIL too; no interval goes with that.", []string{"0.9"}},
		{"a PASS", policy.AdjustHolm, 3, p, 2, p, alone, []string{"0.9"}},
		{"with an equal part each", policy.AdjustBonferroni, 3, f, 2, f, alone, []string{"0.9"}},
	} {
		rule := inFamily("a", &policy.Family{Number: 1, Adjust: test.adjust, Rules: test.rules, Alone: policy.Number{Text: "0.9", Value: 0.9}})
		var asked []string
		decide := func(j policy.Judging) (report.Rule, error) {
			asked = append(asked, j.Confidence.Text)
			r := Start(&rule)
			r.Verdict, r.Reason, r.WithLeftOut = test.own, alone, report.Fail
			r.Needs = &report.Needs{What: "at " + j.Confidence.Text}
			r.TippingPoint = &report.TippingPoint{Of: "at " + j.Confidence.Text}
			return r, nil
		}
		r, _, err := Context{Held: map[string]int{"a": test.held}}.Decide(&rule, decide)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != test.want || r.Reason != test.reason {
			t.Errorf("%s: %s, %q; want %s, %q", test.name, r.Verdict, r.Reason, test.want, test.reason)
		}
		last := "at " + test.confidence[len(test.confidence)-1]
		if diff := cmp.Diff(test.confidence, asked); diff != "" || r.Needs.What != last || r.TippingPoint.Of != last {
			t.Errorf("%s: needs %q, tips %q; asked (-want +got):\n%s", test.name, r.Needs.What, r.TippingPoint.Of, diff)
		}
		heldBack := test.want != test.own
		if (r.WithLeftOut == report.NoVerdict) != heldBack || (r.Adjusted.Held == 2) != heldBack || r.Adjusted.Rules != test.rules || r.Adjusted.Confidence != 0.9 {
			t.Errorf("%s: with what is left out %s, adjusted %+v", test.name, r.WithLeftOut, r.Adjusted)
		}
	}
}

// TestDecideErrors: what cannot be measured is an error, at the rule's own error and at the part of it alike.
func TestDecideErrors(t *testing.T) {
	rule := inFamily("a", &policy.Family{Number: 1, Adjust: policy.AdjustHolm, Rules: 2})
	broken := errors.New("broken")
	for breaks := 1; breaks <= 2; breaks++ {
		asked := 0
		_, _, err := Context{Held: map[string]int{"a": 2}}.Decide(&rule, func(policy.Judging) (report.Rule, error) {
			if asked++; asked == breaks {
				return report.Rule{}, broken
			}
			r := Start(&rule)
			r.Verdict = report.Fail
			return r, nil
		})
		if !errors.Is(err, broken) {
			t.Errorf("at the time %d: %v", breaks, err)
		}
	}
}

// fakeQuestion is a question of rules each of which is FAIL with its error divided by up to so many.
type fakeQuestion struct {
	rules   []policy.Rule
	deepest []int
	broken  error
}

func (q fakeQuestion) Inputs() []Input              { return nil }
func (q fakeQuestion) Rules() []policy.Rule         { return q.rules }
func (q fakeQuestion) Prospects() []diag.Diagnostic { return nil }
func (q fakeQuestion) Share(policy.Families)        {}
func (q fakeQuestion) Units(int) (Units, error)     { return Units{}, nil }
func (q fakeQuestion) Doubt(int, string)            {}
func (q fakeQuestion) Answer(Context) (Answer, error) {
	return Answer{}, nil
}
func (q fakeQuestion) Judge(i, parts int) (report.Rule, error) {
	r := Start(&q.rules[i])
	r.Verdict, r.Reason = report.Pass, "Alone."
	if parts <= q.deepest[i] {
		r.Verdict = report.Fail
	}
	return r, q.broken
}

// TestHoldBack: the rules of a family that Holm does not reject are held back, whichever question of the run they are of. Of four rules, one
// that is FAIL with a fourth of its error stays, and so does one that is with a third; the next would have to be with a half.
func TestHoldBack(t *testing.T) {
	holm := &policy.Family{Number: 1, Adjust: policy.AdjustHolm, Rules: 4}
	other := &policy.Family{Number: 2, Adjust: policy.AdjustHolm, Rules: 1}
	equal := &policy.Family{Number: 3, Adjust: policy.AdjustBonferroni, Rules: 3}
	one := fakeQuestion{rules: []policy.Rule{inFamily("stays", holm), inFamily("held", holm), inFamily("alone", other), inFamily("in none", nil)}, deepest: []int{4, 1, 1, 1}}
	two := fakeQuestion{rules: []policy.Rule{inFamily("passes", holm), inFamily("stays too", holm), inFamily("equal part", equal)}, deepest: []int{0, 3, 1}}
	families := policy.Families{diag.Pos{Line: 1}: holm, diag.Pos{Line: 2}: other, diag.Pos{Line: 3}: equal}
	held, err := HoldBack(families, []Question{one, two})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"held": 2}, held); diff != "" {
		t.Errorf("held back (-want +got):\n%s", diff)
	}
	rules, err := JudgeAll(one, held)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rules {
		got = append(got, r.ID+" "+r.Verdict.String()+" "+r.Reason)
	}
	want := []string{"stays FAIL Alone.",
		"held INSUFFICIENT_EVIDENCE By itself it would be FAIL; among the 4 rules that share their error by `adjust: holm` it is not, unless others of them FAIL too. By itself: Alone.",
		"alone FAIL Alone.", "in none FAIL Alone."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("judged (-want +got):\n%s", diff)
	}
	if rules, err := JudgeAll(two, map[string]int{"passes": 2}); err != nil || rules[0].Verdict != report.Pass {
		t.Errorf("a PASS is %s, %v", rules[0].Verdict, err) // never held back
	}
	one.broken = errors.New("broken")
	_, first := HoldBack(families, []Question{one})
	_, second := JudgeAll(one, nil)
	for _, err := range []error{first, second} {
		if !errors.Is(err, one.broken) || !strings.HasPrefix(err.Error(), "rule stays: ") {
			t.Errorf("got %v", err)
		}
	}
}
