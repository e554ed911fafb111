package anchoring

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// everyRule is a policy with a rule of every metric in every form.
const everyRule = `
minimum_blind_sample: 1
max_left_out: 1
rules:
  - {id: b, metric: blind_agreement, minimum: 0.5}
  - {id: bp, metric: blind_agreement, minimum: 0.5, per: person}
  - {id: bi, metric: blind_agreement, minimum: 0.5, per: item}
  - {id: bl, metric: blind_agreement, minimum: 0.5, per: label}
  - {id: br, metric: blind_agreement, minimum: 0.5, per: item, looks: repeated}
  - {id: bo, metric: blind_agreement, minimum: 0.5, per: person, looks: once, planned: 9}
  - {id: v, metric: visible_agreement, maximum: 0.5}
  - {id: vi, metric: visible_agreement, maximum: 0.5, per: item}
  - {id: g, metric: anchoring_gap, minimum: 0}
  - {id: gi, metric: anchoring_gap, minimum: 0, per: item}
  - {id: gp, metric: anchoring_gap, minimum: 0, interval: pairwise, per: item}
  - {id: gl, metric: anchoring_gap, minimum: 0, per: label}
  - {id: a, metric: acceptance_rate, maximum: 0.9}
  - {id: y, metric: verify_acceptance, maximum: 0.9}
  - {id: p, metric: people_agreement, minimum: 0.2}
  - {id: m, metric: model_minus_people, minimum: -0.5}
  - {id: w, metric: blind_agreement, minimum: 0.5, where: {site: Lyon}, per: item}
`

// record is a row of a generated study, as written.
type record struct{ item, annotator, suggestion, label, visibility, kind, accepted, probability, begun, at, site string }

func (r record) String() string {
	return strings.Join([]string{r.item, r.annotator, r.suggestion, r.label, r.visibility, r.kind, r.accepted, r.probability, r.begun, r.at, r.site}, ",") + "\n"
}

// written writes records as a file.
func written(list []record) string {
	var b strings.Builder
	b.WriteString(header)
	for _, r := range list {
		b.WriteString(r.String())
	}
	return b.String()
}

// records draws a study. Where timed, every row has a time of its own, so that no two are the same row and their order in
// the file does not matter; some then say when they were put on the screen as well.
func records(t *rapid.T, timed bool, most int) []record {
	people := rapid.IntRange(1, 3).Draw(t, "annotators")
	uneven := rapid.Bool().Draw(t, "uneven")
	n := rapid.IntRange(1, most).Draw(t, "rows")
	sites := rapid.SliceOfN(rapid.SampledFrom([]string{"", "Lyon", "Paris"}), 8, 8).Draw(t, "sites") // of the items
	list := make([]record, n)
	for i := range list {
		item := rapid.IntRange(0, 7).Draw(t, "item")
		list[i] = record{
			item: fmt.Sprint("i", item), annotator: fmt.Sprint("p", rapid.IntRange(1, people).Draw(t, "annotator")),
			suggestion: rapid.SampledFrom([]string{"a", "a", "a", "b", ""}).Draw(t, "suggestion"),
			label:      rapid.SampledFrom([]string{"a", "a", "b", "c", "NA", ""}).Draw(t, "label"),
			visibility: rapid.SampledFrom([]string{"blind", "blind", "visible"}).Draw(t, "visibility"),
			kind:       rapid.SampledFrom([]string{"", "", "verify", "audit"}).Draw(t, "kind"),
			accepted:   rapid.SampledFrom([]string{"", "1", "0"}).Draw(t, "accepted"),
			site:       sites[item],
		}
		if uneven {
			list[i].probability = []string{"0.5", "0.25"}[item%2]
		}
		if timed {
			list[i].at = fmt.Sprint(1700000000 + 10*i)
			if took := rapid.SampledFrom([]int{0, 5, 5, 200}).Draw(t, "took"); took > 0 {
				list[i].begun = fmt.Sprint(1700000000 + 10*i - took)
			}
		}
	}
	return list
}

// someDraw draws a draw of blind items, or none.
func someDraw(t *rapid.T) string {
	if rapid.Bool().Draw(t, "no draw") {
		return ""
	}
	var b strings.Builder
	b.WriteString("item,visibility,inclusion_probability\n")
	chances := []string{"0.5", "0.5", "0.25"}
	if rapid.Bool().Draw(t, "no chances") {
		chances = []string{""}
	}
	for i := range 10 {
		fmt.Fprintf(&b, "i%d,%s,%s\n", i, rapid.SampledFrom([]string{"blind", "visible"}).Draw(t, "drawn"), rapid.SampledFrom(chances).Draw(t, "chance"))
	}
	return b.String()
}

// answered is the answer as bytes, or what is wrong.
func answered(r run) string {
	a, err := try(r)
	if err != nil {
		return "error: " + err.Error()
	}
	text, err := json.MarshalIndent(a.Gate, "", " ")
	if err != nil {
		return "no JSON: " + err.Error()
	}
	return string(text)
}

// TestRowOrder: any order of rows that keeps the order of each person and item gives the same bytes; where every row has a
// time, any order does.
func TestRowOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		timed := rapid.Bool().Draw(t, "timed")
		list := records(t, timed, 24)
		shuffled := rapid.Permutation(list).Draw(t, "order")
		if !timed { // put the rows of each person and item back into their order
			next := map[[2]string]int{}
			for i, r := range shuffled {
				pair := [2]string{r.item, r.annotator}
				from := next[pair]
				for list[from].item != r.item || list[from].annotator != r.annotator {
					from++
				}
				shuffled[i], next[pair] = list[from], from+1
			}
		}
		draw := someDraw(t)
		one := answered(run{verb: gate.Decide, policy: everyRule, labels: written(list), draw: draw})
		if strings.HasPrefix(one, "error: ") {
			t.Skip("not a file that can be used")
		}
		two := answered(run{verb: gate.Decide, policy: everyRule, labels: written(shuffled), draw: draw})
		if diff := cmp.Diff(one, two); diff != "" {
			t.Fatalf("the order of rows matters (-one +two):\n%s", diff)
		}
	})
}

// TestMerge: tallies of two parts, merged, are the tally of the whole.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := records(t, true, 24)
		cut := rapid.IntRange(0, len(list)).Draw(t, "cut")
		tally := func(parts ...[]record) string {
			var whole *Tally
			diags := &diag.List{}
			for _, part := range parts {
				one := newTally([]string{"site"})
				addRecords(part, one, diags)
				if whole == nil {
					whole = one
				} else {
					whole.Merge(one, diags)
				}
			}
			s := newStudy(whole, nil, false, diags)
			if err := diags.Err(); err != nil {
				t.Fatal(err)
			}
			v := s.whole(policy.Judging{}.WithDefaults(), policy.Number{})
			text, err := json.Marshal([]any{v.data(), s.findings(whole, 20, true).Findings, v.blindSample().byItem(), v.drawnItems().all()})
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if one, two := tally(list), tally(list[:cut], list[cut:]); one != two {
			t.Fatalf("one tally and two merged differ:\n%s\n%s", one, two)
		}
	})
}

// intervals lists the ends of every measure and rule of an answer, by what it is.
func intervals(g report.Gate) map[string][2]float64 {
	list := map[string][2]float64{}
	add := func(name string, m report.Measure) {
		if m.Interval == nil || m.Metric == labellingTime {
			return
		}
		list[fmt.Sprint(name, " ", m.Metric, m.Labels)] = [2]float64{*m.Interval.Lower, *m.Interval.Upper}
	}
	for _, m := range g.Measures {
		add("measure", m)
	}
	for _, r := range g.Rules {
		add(r.ID, r.Measure)
	}
	return list
}

// TestRecordingNeverWidens: with a missing label filled in, whatever it is, no interval reaches further out; nor does it with a
// missing suggestion of a blind row whose item has one in another. What a file does not record helps nobody.
func TestRecordingNeverWidens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := records(t, true, 40)
		suggested := map[string]bool{}
		for _, r := range list {
			suggested[r.item] = suggested[r.item] || r.suggestion != ""
		}
		var missing []*string
		for i := range list {
			r := &list[i]
			if r.label == "" {
				missing = append(missing, &r.label)
			}
			if r.suggestion == "" && r.visibility == "blind" && suggested[r.item] {
				missing = append(missing, &r.suggestion)
			}
		}
		if len(missing) == 0 {
			t.Skip("nothing is missing")
		}
		draw := someDraw(t)
		before, err := try(run{verb: gate.Decide, policy: everyRule, labels: written(list), draw: draw})
		if err != nil {
			t.Fatal(err)
		}
		*rapid.SampledFrom(missing).Draw(t, "filled") = rapid.SampledFrom([]string{"a", "b", "z"}).Draw(t, "with")
		after, err := try(run{verb: gate.Decide, policy: everyRule, labels: written(list), draw: draw})
		if err != nil {
			t.Fatal(err)
		}
		narrow := intervals(after.Gate)
		direct := func(a gate.Answer) bool { // the rule gp, which is not decided where it is not
			i := slices.IndexFunc(a.Gate.Rules, func(r report.Rule) bool { return r.ID == "gp" })
			return a.Gate.Rules[i].Interval.Method == interval.MethodFisherProduct
		}
		for name, wide := range intervals(before.Gate) {
			if strings.HasPrefix(name, "gp ") && direct(before) != direct(after) {
				continue // Fisher's product in place of another interval, each valid and neither within the other
			}
			if n, found := narrow[name]; !found || n[0] < wide[0] || n[1] > wide[1] {
				t.Fatalf("%s: %v became %v", name, wide, n)
			}
		}
	})
}

// TestMoreConfidenceNeverNarrows: and every interval holds the completions of its estimate, which hold the estimate.
func TestMoreConfidenceNeverNarrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, draw := records(t, true, 40), someDraw(t)
		ask := func(confidence string) report.Gate {
			a, err := try(run{verb: gate.Decide, policy: "confidence: " + confidence + everyRule, labels: written(list), draw: draw})
			if err != nil {
				t.Fatal(err)
			}
			return a.Gate
		}
		less, more := ask("0.8"), ask("0.95")
		wide := intervals(more)
		for name, n := range intervals(less) {
			if w := wide[name]; w[0] > n[0] || w[1] < n[1] {
				t.Fatalf("%s: %v at 80 %%, %v at 95 %%", name, n, w)
			}
		}
		for _, r := range more.Rules {
			c := r.Completions
			if c == nil {
				continue
			}
			const slack = 1e-15 // completions are rounded to the nearest
			if *r.Interval.Lower > c.Low+slack || *r.Interval.Upper < c.High-slack {
				t.Fatalf("%s: [%v, %v] does not hold the completions %v", r.ID, *r.Interval.Lower, *r.Interval.Upper, *c)
			}
			weighed := r.Interval.Method == "hypergeometric" || r.Metric == modelMinusPeople || r.Labels["per"] == perPerson || r.Denominator == nil || *r.Units != *r.Denominator
			if e := r.Estimate; e != nil && !weighed && (*e < c.Low-slack || *e > c.High+slack) {
				t.Fatalf("%s: the estimate %v lies outside of %v", r.ID, *e, *c)
			}
			if e := r.Estimate; e != nil && (*e < *r.Interval.Lower-slack || *e > *r.Interval.Upper+slack) && r.Interval.Method == "clopper-pearson" {
				t.Fatalf("%s: the estimate %v lies outside of [%v, %v]", r.ID, *e, *r.Interval.Lower, *r.Interval.Upper)
			}
		}
	})
}

// TestClassesByDefinition compares the counts with those of the definitions read out one by one, in quadratic time.
func TestClassesByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := records(t, true, 30)
		for i := range list {
			list[i].label = strings.ReplaceAll(list[i].label, "NA", "")
		}
		var blind, visible, verify [3]int
		count := func(c *[3]int, label, suggestion string) {
			if suggestion == "" {
				return
			}
			c[1]++
			switch label {
			case "":
				c[2]++
			case suggestion:
				c[0]++
			}
		}
		number := func(text string) (n int) { fmt.Sscan(text, &n); return n }
		// seenAt says whether the person had seen a suggestion for the item before the blind row i.
		seenAt := func(i int) bool {
			return slices.ContainsFunc(list, func(x record) bool {
				return x.item == list[i].item && x.annotator == list[i].annotator && x.visibility == "visible" &&
					(number(x.at) < number(list[i].at) || x.begun != "" && number(x.begun) < number(list[i].at))
			})
		}
		for i, r := range list {
			first := -1 // the person's first blind row of the item before which no suggestion was seen
			suggested := false
			for j, e := range list {
				suggested = suggested || e.item == r.item && e.suggestion != ""
				if first < 0 && e.item == r.item && e.annotator == r.annotator && e.visibility == "blind" && !seenAt(j) {
					first = j
				}
			}
			value := func(c *[3]int, label, suggestion string) { // missing where either is
				if suggestion == "" {
					label, suggestion = "", "a"
				}
				count(c, label, suggestion)
			}
			switch {
			case r.visibility == "visible" && r.kind == "verify":
				count(&verify, r.label, r.suggestion)
			case r.visibility == "visible":
				count(&visible, r.label, r.suggestion)
			case seenAt(i), first != i && list[first].suggestion != "" && list[first].label != "" && list[first].label != list[first].suggestion:
				value(&blind, "", "a")
				value(&visible, r.label, r.suggestion)
			case first == i:
				if suggested {
					value(&blind, r.label, r.suggestion)
				}
			case suggested && (list[first].label == "" || list[first].suggestion == ""): // whether a repeat or a relabelling
				value(&blind, "", "a")
				value(&visible, "", "a")
			}
		}
		s := studyOf(t, list)
		v := s.whole(policy.Judging{}.WithDefaults(), policy.Number{})
		for name, want := range map[string][3]int{blindAgreement: blind, visibleAgreement: visible, verifyAcceptance: verify} {
			all := v.sampleOf(name).all()
			if got := [3]int{all.k, all.n, all.missing}; got != want {
				t.Fatalf("%s: %v, by definition %v", name, got, want)
			}
		}
	})
}

// studyOf is the study of records without a draw.
func studyOf(t *rapid.T, list []record) *study {
	diags := &diag.List{}
	tally := newTally([]string{"site"})
	addRecords(list, tally, diags)
	s := newStudy(tally, nil, false, diags)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}

// FuzzAnswer: whatever the bytes of a file, of a draw and of a policy, an answer or errors, and no panic; a verdict is
// always given, and never PASS on an empty interval.
func FuzzAnswer(f *testing.F) {
	f.Add(header+several("i", "ann", "blind", 5, 4, 1)+"i0,ann,a,b,visible,verify,1,0.5,0,9,Lyon\n", "i0,blind,0.5\ni1,visible,1\n", everyRule)
	f.Add(header+"i,p,a,b,blind,,,0.1,,2026-03-01T10:00:00Z,\ni,p,a,a,blind,,,,,2026-03-01T10:00:01Z,\ni,q,,,visible,audit,,,,,\n", "", "corpus_size: 3\nlooks: repeated\nrules: [{id: r, metric: anchoring_gap, maximum: 1}]")
	f.Add("item;annotator;suggestion;label;visibility\n1;2;3;4;blind\n", "", "least_inclusion_probability: 0.05\nrules: [{id: r, metric: blind_agreement, minimum: 0, corpus_size: 7, per: item}]")
	f.Add(`{"item": 1, "annotator": "x", "suggestion": null, "label": "y", "visibility": "visible", "accepted": true}`, "1,blind,1e-18\n", "rules: [{id: r, metric: model_minus_people, minimum: -1}]")
	f.Fuzz(func(t *testing.T, labels, draw, policyText string) {
		if len(labels)+len(draw)+len(policyText) > 4000 {
			return
		}
		r := run{verb: gate.Decide, labels: labels, policy: policyText}
		if policyText == "" {
			r.verb = gate.Report
		}
		if draw != "" {
			r.draw = "item,visibility,inclusion_probability\n" + draw
		}
		a, err := try(r)
		if err != nil {
			return
		}
		for _, rule := range a.Gate.Rules {
			if rule.Verdict == report.NoVerdict || rule.Reason == "" {
				t.Errorf("rule %s: %s (%s)", rule.ID, rule.Verdict, rule.Reason)
			}
			if i := rule.Interval; i != nil && !(*i.Lower <= *i.Upper) || rule.Estimate != nil && math.IsNaN(*rule.Estimate) {
				t.Errorf("rule %s: interval %+v, estimate %v", rule.ID, i, rule.Estimate)
			}
			if rule.Verdict == report.Pass && rule.Estimate == nil {
				t.Errorf("rule %s passes and nothing was evaluated", rule.ID)
			}
		}
	})
}

// TestLeftOutShare: a label in place of a missing one does not make the share larger that is left out. Nine items are shown with a
// suggestion and two without one: 2 of 11 are left out, more than 0.10. Eleven others have a blind row without a label and a second one,
// which is a relabelling and so a visible label, or a repeat, as the first one will have been: 2 of 22 would be allowed, and they do not count.
func TestLeftOutShare(t *testing.T) {
	var list []record
	for i := range 9 {
		list = append(list, record{item: fmt.Sprint("s", i), annotator: "p", suggestion: "a", label: "a", visibility: "visible"})
	}
	for i := range 2 {
		list = append(list, record{item: fmt.Sprint("n", i), annotator: "p", label: "a", visibility: "visible"})
	}
	for i := range 11 {
		item := fmt.Sprint("b", i)
		list = append(list, record{item: item, annotator: "p", suggestion: "a", visibility: "blind", at: fmt.Sprint(1700000000 + 10*i)},
			record{item: item, annotator: "p", suggestion: "a", label: "a", visibility: "blind", at: fmt.Sprint(1700000005 + 10*i)})
	}
	for _, per := range []string{"item", "person", "label"} {
		policyText := "minimum_blind_sample: 1\nmax_left_out: 0.10\nrules: [{id: v, metric: visible_agreement, minimum: 0, per: " + per + "}]\n"
		for _, first := range []string{"", "a"} { // recorded, the second blind rows are repeats, and no visible ones
			own := slices.Clone(list)
			for i := range own {
				if own[i].label == "" {
					own[i].label = first
				}
			}
			a, err := try(run{verb: gate.Decide, policy: policyText, labels: written(own)})
			if err != nil {
				t.Fatal(err)
			}
			if r := a.Gate.Rules[0]; r.Verdict != report.InsufficientEvidence || !strings.HasPrefix(r.Reason, "2 of 11 are left out") {
				t.Errorf("per %s, with %q as the first label: %s, %s", per, first, r.Verdict, r.Reason)
			}
		}
	}
}
