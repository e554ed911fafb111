package gate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// TestWaivers goes through the days around a waiver's last one. Its end is announced in the two weeks before; it covers its last
// day; and after it the rule has its own verdict.
func TestWaivers(t *testing.T) {
	const p, f, i, m = report.Pass, report.Fail, report.InsufficientEvidence, report.ManualReview
	const after = "From the day after, the rule has its own verdict, which is "
	for _, test := range []struct {
		name, until, today string
		own, want          report.Verdict
		findings           []string // code: message
	}{
		{"15 days before", "2027-03-31", "2027-03-16", f, m, nil},
		{"14 days before", "2027-03-31", "2027-03-17", f, m, []string{`waiver_ending: The waiver of rule a (owner "Ada\n") ends on 2027-03-31: in 14 days. ` + after + "FAIL now."}},
		{"the day before", "2027-03-31", "2027-03-30", i, m, []string{`waiver_ending: The waiver of rule a (owner "Ada\n") ends on 2027-03-31: in 1 day. ` + after + "INSUFFICIENT_EVIDENCE now."}},
		{"its last day", "2027-03-31", "2027-03-31", f, m, []string{`waiver_ending: The waiver of rule a (owner "Ada\n") ends on 2027-03-31: today is its last day. ` + after + "FAIL now."}},
		{"the day after", "2027-03-31", "2027-04-01", f, f, []string{"waiver_ended: The waiver of rule a ended on 2027-03-31; the rule has its own verdict."}},
		{"over a leap day", "2028-03-07", "2028-02-22", f, m, []string{`waiver_ending: The waiver of rule a (owner "Ada\n") ends on 2028-03-07: in 14 days. ` + after + "FAIL now."}},
		{"over the change of the clock, and of the year", "2027-01-05", "2026-12-31", f, m, []string{`waiver_ending: The waiver of rule a (owner "Ada\n") ends on 2027-01-05: in 5 days. ` + after + "FAIL now."}},
		{"not needed", "2027-03-31", "2027-03-31", p, p, []string{"waiver_unused: The waiver of rule a was not needed: the rule came to PASS."}},
		{"ended, and not needed", "2027-03-31", "2028-01-01", p, p, []string{"waiver_ended: The waiver of rule a ended on 2027-03-31; the rule has its own verdict."}},
		{"a day that is none", "2027-03-31", "", f, m, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := report.Rule{ID: "a", Verdict: test.own, Reason: "R."}
			rule := policy.Rule{ID: policy.Text{Value: "a", Set: true}, Waive: &policy.Waiver{Until: policy.Text{Value: test.until}, Owner: policy.Text{Value: "Ada\n"}, Reason: policy.Text{Value: "known"}}}
			var findings []string
			for _, found := range Settle(&r, &rule, Context{Today: test.today}) {
				findings = append(findings, found.Code+": "+found.Message)
				if found.Rule != "a" {
					t.Errorf("%s is of the rule %q", found.Code, found.Rule)
				}
				if wantWarning := found.Code != "waiver_unused"; (found.Severity == report.Warning) != wantWarning {
					t.Errorf("%s is a %s", found.Code, found.Severity)
				}
			}
			if diff := cmp.Diff(test.findings, findings); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if r.Verdict != test.want {
				t.Errorf("the rule comes to %s, want %s", r.Verdict, test.want)
			}
			if waived := test.want != test.own; (r.Waived != nil) != waived || strings.HasPrefix(r.Reason, "Waived until") != waived {
				t.Errorf("waived: %+v, %s", r.Waived, r.Reason)
			}
		})
	}
}
