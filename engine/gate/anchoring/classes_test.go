package anchoring

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// hand is what is counted by hand of a few rows: agreeing, of how many, how many of them missing.
type hand struct {
	blind, visible, verify, accepted [3]int
	// how many rows are reclassified because a suggestion was seen before, because they follow a disagreement, and
	// how many are left out as repeats
	// how many follow a blind row that lacks its label or its suggestion
	seen, relabelled, repeated, unclear int
	placed                              int // pairs of which only the place tells whether blind or visible came first
}

// countedBy counts rows as the measures over items do.
func countedBy(t *testing.T, body string) hand {
	t.Helper()
	g := ask(t, run{verb: gate.Report, labels: header + body + labelled("other", "someone", "", "visible")}) // a second annotator, with one missing visible label
	rate := func(metric string) [3]int {
		for _, m := range g.Measures {
			if m.Metric == metric && m.Labels["per"] == "item" {
				return [3]int{*m.Numerator, *m.Denominator, *m.Missing}
			}
		}
		return [3]int{}
	}
	h := hand{blind: rate(blindAgreement), visible: rate(visibleAgreement), verify: rate(verifyAcceptance), accepted: rate(acceptanceRate),
		seen: g.Data.Of("suggestion_seen_before"), relabelled: g.Data.Of("relabelled_blind"), repeated: g.Data.Of("repeated_blind_labels")}
	if f := finding(g, "after_unlabelled_blind"); f != nil {
		h.unclear = f.Count
	}
	if f := finding(g, "order_by_place"); f != nil {
		h.placed = f.Count
	}
	h.visible[1]-- // the second annotator's
	h.visible[2]--
	return h
}

// TestClassesOfRows: what each row is evidence of, counted by hand. Columns: item, annotator, suggestion, label,
// visibility, kind, accepted, inclusion_probability, started_at, labelled_at, site.
func TestClassesOfRows(t *testing.T) {
	for name, c := range map[string]struct {
		rows string
		want hand
	}{
		"blind labels that agree, differ and are missing": {`
i1,ann,a,a,blind,,,,,,
i2,ann,a,b,blind,,,,,,
i3,ann,a,,blind,,,,,,`,
			hand{blind: [3]int{1, 3, 1}}},
		"visible labels": {`
i1,ann,a,a,visible,,,,,,
i2,ann,a,b,visible,,,,,,
i3,ann,a,,visible,,,,,,`,
			hand{visible: [3]int{1, 3, 1}}},
		"a row without a suggestion agrees with nothing": {`
i1,ann,,a,blind,,,,,,
i2,ann,,a,visible,,,,,,
i3,ann,,,blind,,,,,,`,
			hand{}},
		"blind, then visible: both count": {`
i1,ann,a,b,blind,,,,,,
i1,ann,a,a,visible,,,,,,`,
			hand{blind: [3]int{0, 1, 0}, visible: [3]int{1, 1, 0}, placed: 1}},
		"blind after visible: visible, and a missing blind label": {`
i1,ann,a,b,visible,,,,,,
i1,ann,a,a,blind,,,,,,`,
			hand{blind: [3]int{0, 1, 1}, visible: [3]int{1, 2, 0}, seen: 1, placed: 1}},
		"the times tell which came first": {`
i1,ann,a,b,visible,,,,,2026-03-01T10:00:01Z,
i1,ann,a,a,blind,,,,,2026-03-01T10:00:00Z,`,
			hand{blind: [3]int{1, 1, 0}, visible: [3]int{0, 1, 0}}},
		"a missing time leaves it to the place": {`
i1,ann,a,b,visible,,,,,2026-03-01T10:00:01Z,
i1,ann,a,a,blind,,,,,,`,
			hand{blind: [3]int{0, 1, 1}, visible: [3]int{1, 2, 0}, seen: 1, placed: 1}},
		"plain seconds tell no order": {`
i1,ann,a,b,visible,,,,1,9,
i1,ann,a,a,blind,,,,2,8,`,
			hand{blind: [3]int{0, 1, 1}, visible: [3]int{1, 2, 0}, seen: 1, placed: 1}},
		"equal times leave it to the place": {`
i1,ann,a,a,blind,,,,,1700000000,
i1,ann,a,b,visible,,,,,1700000000,`,
			hand{blind: [3]int{1, 1, 0}, visible: [3]int{0, 1, 0}, placed: 1}},
		"blind after a visible row without a label": {`
i1,ann,a,,visible,,,,,,
i1,ann,a,a,blind,,,,,,`,
			hand{blind: [3]int{0, 1, 1}, visible: [3]int{1, 2, 1}, seen: 1, placed: 1}},
		"blind and empty after visible: missing on both sides": {`
i1,ann,a,a,visible,,,,,,
i1,ann,a,,blind,,,,,,`,
			hand{blind: [3]int{0, 1, 1}, visible: [3]int{1, 2, 1}, seen: 1, placed: 1}},
		"blind and without its suggestion after visible: missing on both sides": {`
i1,ann,a,a,visible,,,,,,
i1,ann,,a,blind,,,,,,`,
			hand{blind: [3]int{0, 1, 1}, visible: [3]int{1, 2, 1}, seen: 1, placed: 1}},
		"the suggestion was put on the screen before the blind label was given": {`
i1,ann,a,a,blind,,,,1700000000,1700000020,
i1,ann,a,a,visible,,,,1700000019,1700000030,`,
			hand{blind: [3]int{0, 1, 1}, visible: [3]int{2, 2, 0}, seen: 1}},
		"the suggestion was put on the screen as the blind label was given": {`
i1,ann,a,a,blind,,,,1700000000,1700000020,
i1,ann,a,a,visible,,,,1700000020,1700000030,`,
			hand{blind: [3]int{1, 1, 0}, visible: [3]int{1, 1, 0}}},
		"when the suggestion was put on the screen tells the order, also where no label has a time after it": {`
i1,ann,a,a,blind,,,,,1700000020,
i1,ann,a,a,visible,,,,1700000021,,`,
			hand{blind: [3]int{1, 1, 0}, visible: [3]int{1, 1, 0}}},
		"plain seconds tell no order of what was put on the screen": {`
i1,ann,a,a,blind,,,,0,20,
i1,ann,a,a,visible,,,,10,30,`,
			hand{blind: [3]int{1, 1, 0}, visible: [3]int{1, 1, 0}, placed: 1}},
		"blind, visible, blind": {`
i1,ann,a,a,blind,,,,,1700000001,
i1,ann,a,a,visible,,,,,1700000002,
i1,ann,a,a,blind,,,,,1700000003,`,
			hand{blind: [3]int{1, 2, 1}, visible: [3]int{2, 2, 0}, seen: 1}},
		"a relabelling marked blind": {`
i1,ann,a,b,blind,,,,,,
i1,ann,a,a,blind,,,,,,`,
			hand{blind: [3]int{0, 2, 1}, visible: [3]int{1, 1, 0}, relabelled: 1}},
		"two relabellings marked blind": {`
i1,ann,a,b,blind,,,,,,
i1,ann,a,b,blind,,,,,,
i1,ann,a,a,blind,,,,,,`,
			hand{blind: [3]int{0, 3, 2}, visible: [3]int{1, 2, 0}, relabelled: 2}},
		"a relabelling marked visible is one already": {`
i1,ann,a,b,blind,,,,,,
i1,ann,a,a,visible,,,,,,
i1,ann,a,a,visible,,,,,,`,
			hand{blind: [3]int{0, 1, 0}, visible: [3]int{2, 2, 0}, placed: 1}},
		"a second blind label after one that agreed is a repeat": {`
i1,ann,a,a,blind,,,,,1700000001,
i1,ann,a,b,blind,,,,,1700000002,`,
			hand{blind: [3]int{1, 1, 0}, repeated: 1}},
		"after one without a label, neither counts": {`
i1,ann,a,,blind,,,,,1700000001,
i1,ann,a,b,blind,,,,,1700000002,`,
			hand{blind: [3]int{0, 2, 2}, visible: [3]int{0, 1, 1}, unclear: 1}},
		"after one without a label, each is missing, however often": {`
i1,ann,a,,blind,,,,,1700000001,
i1,ann,a,,blind,,,,,1700000002,
i1,ann,a,a,blind,,,,,1700000003,`,
			hand{blind: [3]int{0, 3, 3}, visible: [3]int{0, 2, 2}, unclear: 2}},
		"after one without its suggestion, whether it disagreed cannot be told": {`
i1,ann,,b,blind,,,,,1700000001,
i1,ann,a,a,blind,,,,,1700000002,`,
			hand{blind: [3]int{0, 2, 2}, visible: [3]int{0, 1, 1}, unclear: 1}},
		"where the item has no suggestion at all, a second one repeats": {`
i1,ann,,b,blind,,,,,1700000001,
i1,ann,,a,blind,,,,,1700000002,`,
			hand{repeated: 1}},
		"without its suggestion, which another person's row records": {`
i1,ann,,a,blind,,,,,,
i1,bob,a,a,visible,,,,,,`,
			hand{blind: [3]int{0, 1, 1}, visible: [3]int{1, 1, 0}}},
		"another person's suggestion is not one's own": {`
i1,ann,a,b,visible,,,,,,
i1,bob,a,a,blind,,,,,,`,
			hand{blind: [3]int{1, 1, 0}, visible: [3]int{0, 1, 0}}},
		"verify rows that show the answer count as such only": {`
i1,ann,a,a,visible,verify,,,,,
i2,ann,a,b,visible,verify,,,,,
i3,ann,a,,visible,verify,,,,,
i4,ann,,a,visible,verify,,,,,`,
			hand{verify: [3]int{1, 3, 1}}},
		"verify served blind is a blind label": {`
i1,ann,a,a,blind,verify,,,,,`,
			hand{blind: [3]int{1, 1, 0}}},
		"blind after a verify row": {`
i1,ann,a,a,visible,verify,,,,,
i1,ann,a,a,blind,,,,,,`,
			hand{blind: [3]int{0, 1, 1}, visible: [3]int{1, 1, 0}, verify: [3]int{1, 1, 0}, seen: 1, placed: 1}},
		"calibration, certification and audit count as labels do": {`
i1,ann,a,a,blind,calibration,,,,,
i2,ann,a,b,blind,certification,,,,,
i3,ann,a,a,visible,audit,,,,,`,
			hand{blind: [3]int{1, 2, 0}, visible: [3]int{1, 1, 0}}},
		"accepting counts where it is recorded on a visible row": {`
i1,ann,a,a,visible,,1,,,,
i2,ann,a,b,visible,,false,,,,
i3,ann,a,b,visible,,,,,,
i4,ann,a,b,blind,,1,,,,
i5,ann,a,b,visible,verify,1,,,,
i6,ann,,b,visible,,TRUE,,,,`,
			hand{blind: [3]int{0, 1, 0}, visible: [3]int{1, 3, 0}, verify: [3]int{0, 1, 0}, accepted: [3]int{2, 3, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := countedBy(t, strings.TrimPrefix(c.rows, "\n")+"\n")
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(hand{})); diff != "" {
				t.Errorf("(-by hand +got):\n%s", diff)
			}
		})
	}
}

// TestPeekedFileCertifiesNothing: every row is marked blind, every label agrees, and the suggestion was on the screen
// before: a file that looks perfect decides nothing, in any form of the metric.
func TestPeekedFileCertifiesNothing(t *testing.T) {
	var body strings.Builder
	for i := range 200 {
		for _, visibility := range []string{"visible", "blind"} {
			body.WriteString(labelled(fmt.Sprint("i", i), fmt.Sprint("p", i%10), "a", visibility))
		}
	}
	for _, per := range []string{"person", "item"} {
		for _, more := range []string{"", ", corpus_size: 1000"} {
			if per == "person" && more != "" {
				continue
			}
			r := ruleOf(t, decide(t, "minimum_blind_sample: 1\nrules: [{id: r, metric: blind_agreement, minimum: 0.01, per: "+per+more+"}]", body.String()))
			if r.Verdict == report.Pass || *r.Interval.Lower != 0 || *r.Missing != 200 {
				t.Errorf("per %s%s: %s with [%v, %v], %d missing; want no lower end above 0", per, more, r.Verdict, *r.Interval.Lower, *r.Interval.Upper, *r.Missing)
			}
		}
	}
}

// TestKindsInCountsAndFindings: rows asked for as evidence are counted by kind; those shown, and those whose item the same
// person is shown later, are findings with their places.
func TestKindsInCountsAndFindings(t *testing.T) {
	a, err := try(run{verb: gate.Check, labels: header + `i1,ann,a,a,blind,certification,,,,,
i2,ann,a,a,visible,certification,,,,,
i3,ann,a,a,blind,audit,,,,,
i3,ann,a,a,visible,,,,,,
i4,ann,a,a,blind,verify,,,,,
i4,ann,a,a,visible,verify,,,,,
`})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"kind_label": 1, "kind_certification": 2, "kind_audit": 1, "kind_verify": 2, "kind_calibration": 0} {
		if got := a.Gate.Data.Of(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	for code, line := range map[string]int{"evidence_shown": 3, "evidence_seen_later": 4} {
		f := finding(a.Gate, code)
		if f == nil || f.Count != 1 {
			t.Errorf("%s: %+v, want one", code, f)
		}
		found := false
		for _, l := range a.Located {
			found = found || l.Code == code && l.Pos.Line == line
		}
		if !found {
			t.Errorf("%s is not placed on line %d: %+v", code, line, a.Located)
		}
	}
}
