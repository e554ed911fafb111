package anchoring

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/report"
)

// labelsAt is so many labels of an annotator at a site, with the suggestion "x" or without one.
func labelsAt(prefix, annotator, visibility, site, suggestion string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s-%d,%s,%s,x,%s,,,,,,%s\n", prefix, i, annotator, suggestion, visibility, site)
	}
	return b.String()
}

// TestShareThatIsLeftOut: labels without a suggestion and labels whose slice is not recorded are left out together, of all that could have
// counted; exactly the share that max_left_out allows is decided, and a little less is not.
func TestShareThatIsLeftOut(t *testing.T) {
	one := labelsAt("a", "p1", "blind", "Lyon", "x", 27) + labelsAt("b", "p1", "blind", "Lyon", "", 1) + labelsAt("c", "p1", "blind", "", "x", 2) + labelsAt("d", "p1", "blind", "Nice", "x", 5)
	two := one + labelsAt("e", "p2", "blind", "Lyon", "x", 20)
	visible := labelsAt("f", "p1", "visible", "Lyon", "x", 18) + labelsAt("g", "p1", "visible", "Lyon", "", 1) + labelsAt("h", "p1", "visible", "", "x", 1)
	for _, test := range []struct {
		name, metric, body, exactly, less string
		left, total                       int
	}{
		{"exact", "blind_agreement", one, "0.1", "0.0999", 3, 30},
		{"per annotator", "blind_agreement, per: person", two, "0.06", "0.0599", 3, 50},
		{"per item", "blind_agreement, per: item, looks: once, planned: 60", two, "0.06", "0.0599", 3, 50},
		{"visible ones", "visible_agreement", visible, "0.1", "0.0999", 2, 20},
		{"a gap", "anchoring_gap", one + visible, "0.1", "0.0999", 5, 50},
	} {
		of := func(share string) report.Rule {
			threshold := "minimum: 0.001"
			if strings.Contains(test.metric, "gap") {
				threshold = "maximum: 0.99"
			}
			return ruleOf(t, decide(t, "confidence: 0.5\nrules: [{id: r, metric: "+test.metric+", "+threshold+", max_left_out: "+share+", where: {site: Lyon}}]", test.body))
		}
		want := fmt.Sprintf("%d of %d", test.left, test.total)
		if r := of(test.exactly); r.Verdict != report.Pass || strings.Contains(r.Reason, "max_left_out") {
			t.Errorf("%s, %s: %s, %q; want PASS", test.name, test.exactly, r.Verdict, r.Reason)
		}
		if r := of(test.less); r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, want) || r.Needs == nil || r.Needs.AtLeast != 1 {
			t.Errorf("%s, %s: %s, %q, needs %+v; want INSUFFICIENT_EVIDENCE, %s", test.name, test.less, r.Verdict, r.Reason, r.Needs, want)
		}
	}
}

// TestEnrolledItems: an item drawn blind of which there is no value is enrolled all the same: it keeps or breaks a plan, and the
// estimate says what it rests on.
func TestEnrolledItems(t *testing.T) {
	body := labelsAt("a", "p1", "blind", "", "x", 30)
	lost := body + "b-1,p1,x,,blind,,,,,,\n"
	for _, test := range []struct {
		body    string
		planned int
		want    report.Verdict
	}{{body, 30, report.Pass}, {body, 29, report.ManualReview}, {lost, 31, report.Pass}, {lost, 30, report.ManualReview}} {
		r := ruleOf(t, decide(t, fmt.Sprintf("rules: [{id: r, metric: blind_agreement, minimum: 0.5, looks: once, planned: %d}]", test.planned), test.body))
		if r.Verdict != test.want {
			t.Errorf("%d planned: %s, %q; want %s", test.planned, r.Verdict, r.Reason, test.want)
		}
		said := strings.Contains(r.Conditions, "The estimate rests on 30 of the 31 items: the others have nothing recorded.")
		if said != (len(test.body) == len(lost)) {
			t.Errorf("%d planned: %q", test.planned, r.Conditions)
		}
	}
}
