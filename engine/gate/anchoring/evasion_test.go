package anchoring

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// Files that were written to pass where the model is bad: what they leave out, or say in two ways, must not help.

// blindRule is the rule that most of them are decided by.
const blindRule = "rules: [{id: r, metric: blind_agreement, minimum: 0.9}]"

// each writes a row, or several, for each of n items named by a prefix; {} stands for the item.
func each(n int, prefix, rows string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(rows, "{}", fmt.Sprint(prefix, i)))
	}
	return b.String()
}

// countsOf is the agreeing labels of a rule, of how many, how many of them missing.
func countsOf(r report.Rule) [3]int { return [3]int{*r.Numerator, *r.Denominator, *r.Missing} }

// TestBlankFirstLabel: 60 items that were labelled dog, then cat as the model says. With the first label blanked the second used to
// be the blind one, and 60 of 60 agreed. Neither counts now, and with the label recorded the interval lies inside.
func TestBlankFirstLabel(t *testing.T) {
	pair := func(first string) string {
		return each(60, "i", "{},a,cat,"+first+",blind,label,,,,,\n{},a,cat,cat,blind,audit,,,,,\n")
	}
	for first, want := range map[string]struct {
		counts  [3]int
		verdict report.Verdict
	}{
		"":    {[3]int{0, 120, 120}, report.InsufficientEvidence},
		"dog": {[3]int{0, 120, 60}, report.Fail}, // at most 60 of 120: .593 (Clopper-Pearson)
		"cat": {[3]int{60, 60, 0}, report.Pass},  // .025^(1/60) = .940
	} {
		g := decide(t, blindRule, pair(first))
		r := g.Rules[0]
		if got := countsOf(r); got != want.counts || r.Verdict != want.verdict {
			t.Errorf("first %q: %v, %s (%s); want %v, %s", first, got, r.Verdict, r.Reason, want.counts, want.verdict)
		}
		if f := finding(g, "after_unlabelled_blind"); (f != nil) != (first == "") || f != nil && f.Count != 60 {
			t.Errorf("first %q: finding %+v", first, f)
		}
	}
	// A first label that lacks its suggestion, which the second row has, hides the disagreement just as well.
	r := ruleOf(t, decide(t, blindRule, each(60, "i", "{},a,,dog,blind,label,,,,,\n{},a,cat,cat,blind,audit,,,,,\n")))
	if countsOf(r) != [3]int{0, 120, 120} {
		t.Errorf("without the first suggestion: %v, %s", countsOf(r), r.Verdict)
	}
	// What would be a relabelling, and so a label given with the suggestion, is missing there.
	v := ruleOf(t, decide(t, "rules: [{id: r, metric: visible_agreement, minimum: 0.9}]", pair("")))
	if countsOf(v) != [3]int{0, 60, 60} || v.Verdict != report.InsufficientEvidence {
		t.Errorf("visible: %v, %s", countsOf(v), v.Verdict)
	}
	// Among people, the one who left the label blank has none: nothing is recorded of any pair of labels.
	body := pair("") + each(60, "i", "{},b,cat,cat,blind,label,,,,,\n")
	g := decide(t, "rules: [{id: p, metric: people_agreement, minimum: 0.5}, {id: m, metric: model_minus_people, minimum: -0.5}]", body)
	for i, want := range []report.Completions{{Low: 0, High: 1}, {Low: 0.5 - 1, High: 1 - 0}} { // the model agrees with one label of two, or both
		if r := g.Rules[i]; r.Verdict != report.InsufficientEvidence || *r.Completions != want || r.Estimate != nil {
			t.Errorf("%s: %s, completions %v, estimate %v", r.ID, r.Verdict, *r.Completions, r.Estimate)
		}
	}
}

// TestPeekedRowsCannotBeBlanked: 40 blind labels agree; 40 more rows are marked blind after a look. Whatever is blanked in them, each is
// a missing blind label, and where the label or the suggestion is blanked a missing visible one.
func TestPeekedRowsCannotBeBlanked(t *testing.T) {
	for row, visible := range map[string][3]int{
		"{},a,x,x,blind,,,,,,\n": {80, 80, 0},
		"{},a,,x,blind,,,,,,\n":  {40, 80, 40},
		"{},a,x,,blind,,,,,,\n":  {40, 80, 40},
		"{},a,,,blind,,,,,,\n":   {40, 80, 40},
	} {
		body := each(40, "b", "{},a,x,x,blind,,,,,,\n") + each(40, "p", "{},a,x,x,visible,,,,,,\n"+row)
		g := decide(t, "rules: [{id: b, metric: blind_agreement, minimum: 0.9}, {id: v, metric: visible_agreement, minimum: 0.9}]", body)
		if got := countsOf(g.Rules[0]); got != [3]int{40, 80, 40} || g.Rules[0].Verdict != report.InsufficientEvidence {
			t.Errorf("%q: blind %v, %s", row, got, g.Rules[0].Verdict)
		}
		if got := countsOf(g.Rules[1]); got != visible {
			t.Errorf("%q: visible %v, want %v", row, got, visible)
		}
	}
}

// TestBlankSuggestions: with a draw every item drawn blind without a usable comparison is a missing blind label; without one a row
// whose item has a suggestion elsewhere is. Only where the item has none at all is the row left out.
func TestBlankSuggestions(t *testing.T) {
	agreeing := each(40, "i", "{},a,x,x,blind,,,,,,\n")
	draw := each(40, "i", "{},blind,0.5\n")
	for name, row := range map[string]string{
		"no row":                 "",
		"no suggestion":          "{},a,,y,blind,,,,,,\n",
		"a placeholder":          "{},a,,,blind,,,,,,\n",
		"no label":               "{},a,x,,blind,,,,,,\n",
		"visible rows only":      "{},a,x,x,visible,,,,,,\n",
		"verify rows only":       "{},a,x,x,visible,verify,,,,,\n",
		"an empty one and a row": "{},a,,y,blind,,,,,,\n{},a,,x,blind,audit,,,,,\n",
	} {
		r := ruleOf(t, decide(t, blindRule, agreeing+each(4, "d", row), draw+each(4, "d", "{},blind,0.5\n")))
		if got := countsOf(r); got != [3]int{40, 44, 4} || r.Verdict == report.Pass {
			t.Errorf("%s, with a draw: %v, %s", name, got, r.Verdict)
		}
		for _, l := range r.LeftOut {
			if l.Reason == reasonNoSuggestion {
				t.Errorf("%s: left out %v", name, r.LeftOut)
			}
		}
	}
	// Without a draw: b's rows, which disagree, do not record what the model suggested, and a's rows of the items do.
	const byItem = "rules: [{id: r, metric: blind_agreement, minimum: 0.9, per: item}]"
	both := each(40, "i", "{},a,x,x,blind,,,,,,\n") + each(4, "i", "{},b,,y,blind,,,,,,\n")
	r := ruleOf(t, decide(t, byItem, both))
	if got := countsOf(r); got != [3]int{40, 44, 4} || len(r.LeftOut) != 0 {
		t.Errorf("without a draw: %v, left out %v", got, r.LeftOut)
	}
	none := each(40, "i", "{},a,x,x,blind,,,,,,\n") + each(4, "n", "{},b,,y,blind,,,,,,\n")
	r = ruleOf(t, decide(t, byItem, none))
	if got := countsOf(r); got != [3]int{40, 40, 0} || len(r.LeftOut) != 1 || r.LeftOut[0] != (report.LeftOut{Reason: reasonNoSuggestion, Count: 4}) {
		t.Errorf("no suggestion anywhere: %v, left out %v", got, r.LeftOut)
	}
	// The model's agreement with two people who agree: with one suggestion blanked it is 1/2 to 1 of their item.
	pair := each(30, "i", "{},a,x,x,blind,,,,,,\n{},b,x,x,blind,,,,,,\n") + each(10, "j", "{},a,x,x,blind,,,,,,\n{},b,,x,blind,,,,,,\n")
	r = ruleOf(t, decide(t, "rules: [{id: r, metric: model_minus_people, minimum: -1}]", pair))
	if want := (report.Completions{Low: -0.125, High: 0}); *r.Completions != want || len(r.LeftOut) != 0 || *r.Missing != 10 {
		t.Errorf("model_minus_people: completions %v, want %v; left out %v, %d missing", *r.Completions, want, r.LeftOut, *r.Missing)
	}
}

// TestDrawNotRead: a policy that names a draw, and files on the command line without --draw: which items were drawn is not looked
// up, and no rule on blind labels is decided. With --draw they are.
func TestDrawNotRead(t *testing.T) {
	const policy = "draw: d.csv\nrules: [{id: b, metric: blind_agreement, minimum: 0.5}, {id: g, metric: anchoring_gap, maximum: 0.9}, {id: v, metric: visible_agreement, minimum: 0.5}]"
	body := each(40, "i", "{},a,x,x,blind,,,,,,\n") + each(40, "v", "{},a,x,x,visible,,,,,,\n")
	draw := each(40, "i", "{},blind,0.5\n") + each(40, "v", "{},visible,0.5\n")
	for _, with := range []bool{false, true} {
		var g report.Gate
		verdicts := []report.Verdict{report.ManualReview, report.ManualReview, report.Pass}
		if with {
			g, verdicts = decide(t, policy, body, draw), []report.Verdict{report.Pass, report.Pass, report.Pass}
		} else {
			g = decide(t, policy, body)
		}
		for i, r := range g.Rules {
			if r.Verdict != verdicts[i] || r.Verdict == report.ManualReview && !strings.Contains(r.Reason, "add --draw") {
				t.Errorf("--draw %v, %s: %s (%s), want %s", with, r.ID, r.Verdict, r.Reason, verdicts[i])
			}
		}
		if f := finding(g, "draw_not_read"); (f != nil) == with {
			t.Errorf("--draw %v: finding %+v", with, f)
		}
	}
}

// TestSizesOfTheCorpus: a size below what is in the files, and a validity for more than is left, are errors; what is left is told.
func TestSizesOfTheCorpus(t *testing.T) {
	body := each(60, "i", "{},a,x,x,blind,,,,,,\n") + each(40, "v", "{},a,x,x,visible,,,,,,\n")
	draw := each(60, "i", "{},blind,0.5\n") + each(60, "w", "{},visible,0.5\n")
	whole := draw + each(40, "v", "{},visible,0.5\n")
	const ofRule = "rules: [{id: r, metric: blind_agreement, minimum: 0.5, corpus_size: 61}]"
	for _, c := range []struct{ policy, draw, want string }{
		{"corpus_size: 61\n" + blindRule, "", "policy.yaml:1:14: corpus_size is 61, fewer than the 100 items of the files"},
		{ofRule, "", "policy.yaml:1:69: corpus_size is 61, fewer than the 100 items of the files"},
		{"corpus_size: 120\n" + blindRule, draw, "policy.yaml:1:14: corpus_size is 120, fewer than the 160 items of the files and the draw together; a draw has every item of the corpus"},
		{"corpus_size: 100\nvalid_items: 41\n" + blindRule, "", "policy.yaml:2:14: valid_items is 41, more than the 40 items of the corpus that were not drawn blind and are left to hand over"},
		{"valid_items: 101\ncorpus_size: 160\n" + blindRule, whole, "policy.yaml:1:14: valid_items is 101, more than the 100 items of the corpus that were not drawn blind and are left to hand over"},
	} {
		r := run{verb: gate.Decide, policy: c.policy, labels: header + body}
		if c.draw != "" {
			r.draw = "item,visibility,inclusion_probability\n" + c.draw
		}
		if got := problems(t, r); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.policy, got, c.want)
		}
	}
	for policy, rest := range map[string]string{"corpus_size: 100\nvalid_items: 40\n" + blindRule: "40", "corpus_size: 1000\n" + blindRule: "940", strings.Replace(ofRule, "61", "160", 1): "100", blindRule: ""} {
		if got := decide(t, policy, body).Settings["corpus_rest"]; got != rest {
			t.Errorf("%s: corpus_rest %q, want %q", policy, got, rest)
		}
	}
	if got := decide(t, "corpus_size: 160\nvalid_items: 100\n"+blindRule, body, whole).Settings["corpus_rest"]; got != "100" {
		t.Errorf("with a draw: corpus_rest %q, want 100", got)
	}
	if got := decide(t, "corpus_size: 60\n"+blindRule, body[:strings.Index(body, "v0")]).Settings["corpus_rest"]; got != "0" {
		t.Errorf("all of it drawn: corpus_rest %q, want 0", got)
	}
}

// TestLookedAtWhileLabelling: 60 items were labelled blind, with the row that shows the suggestion open already. The visible label was
// saved later, so that by labelled_at alone the blind one came first.
func TestLookedAtWhileLabelling(t *testing.T) {
	body := func(begun string) string {
		return each(60, "i", "{},a,x,x,blind,,,,2026-03-01T10:00:00Z,2026-03-01T10:00:30Z,\n{},a,x,x,visible,,,,"+begun+",2026-03-01T10:00:40Z,\n")
	}
	for begun, want := range map[string]struct {
		counts  [3]int
		verdict report.Verdict
	}{
		"2026-03-01T10:00:29Z": {[3]int{0, 60, 60}, report.InsufficientEvidence},
		"2026-03-01T10:00:30Z": {[3]int{60, 60, 0}, report.Pass},
		"":                     {[3]int{60, 60, 0}, report.Pass},
	} {
		g := decide(t, blindRule, body(begun))
		if got := countsOf(g.Rules[0]); got != want.counts || g.Rules[0].Verdict != want.verdict || finding(g, "order_by_place") != nil {
			t.Errorf("on the screen at %q: %v, %s; want %v, %s", begun, got, g.Rules[0].Verdict, want.counts, want.verdict)
		}
	}
}

// TestOrderByPlace: 60 items labelled blind, and of 10 of them a visible row follows that no time puts after it. As they stand 60 of 60
// agree, from .940 on; had the suggestion been seen first, 50 and 10 missing: 50 of 60 is .7148 at the least (Clopper-Pearson).
func TestOrderByPlace(t *testing.T) {
	const times = ",,,,,2026-03-01T10:00:00Z,\n"
	for name, pair := range map[string]string{
		"no times":            "{},a,x,x,blind,,,,,,\n{},a,x,x,visible,,,,,,\n",
		"a time on one":       "{},a,x,x,blind" + times + "{},a,x,x,visible,,,,,,\n",
		"equal times":         "{},a,x,x,blind,,,,,2026-03-01T00:00:00Z,\n{},a,x,x,visible,,,,,2026-03-01T00:00:00Z,\n",
		"a verify row":        "{},a,x,x,blind,,,,,,\n{},a,x,x,visible,verify,,,,,\n",
		"durations tell none": "{},a,x,x,blind,,,,0,5,\n{},a,x,x,visible,,,,0,7,\n",
	} {
		body := each(50, "b", "{},a,x,x,blind,,,,,,\n") + each(10, "p", pair)
		for minimum, want := range map[string]report.Verdict{"0.71": report.Pass, "0.72": report.ManualReview, "0.93": report.ManualReview, "0.95": report.InsufficientEvidence} {
			g := decide(t, "rules: [{id: r, metric: blind_agreement, minimum: "+minimum+"}]", body)
			r := g.Rules[0]
			if r.Verdict != want || *r.Interval.Lower < 0.93 || want == report.ManualReview && !strings.HasPrefix(r.Reason, "Of 10 pairs of a person and an item only the place in the files tells") {
				t.Errorf("%s, %s: %s (%s), want %s", name, minimum, r.Verdict, r.Reason, want)
			}
			if f := finding(g, "order_by_place"); f == nil || f.Severity != report.Warning || f.Count != 10 {
				t.Errorf("%s: finding %+v", name, f)
			}
		}
	}
	// A FAIL too: none of 60 agrees, at most .060; with 40 missing at most 40 of 60, .783.
	body := each(20, "b", "{},a,x,y,blind,,,,,,\n") + each(40, "p", "{},a,x,y,blind,,,,,,\n{},a,x,y,visible,,,,,,\n")
	if r := ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.5}]", body)); r.Verdict != report.ManualReview {
		t.Errorf("%s (%s)", r.Verdict, r.Reason)
	}
	// Under the other order 19 blind comparisons would be recorded: fewer than the floor.
	body = each(19, "b", "{},a,x,x,blind,,,,,,\n") + each(1, "p", "{},a,x,x,blind,,,,,,\n{},a,x,x,visible,,,,,,\n")
	if r := ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.5}]", body)); r.Verdict != report.ManualReview || !strings.Contains(r.Reason, "INSUFFICIENT_EVIDENCE") {
		t.Errorf("%s (%s)", r.Verdict, r.Reason)
	}
	// Times that tell the order, of the labels or of what was put on the screen, leave nothing to say.
	for _, pair := range []string{
		"{},a,x,x,blind" + times + "{},a,x,x,visible,,,,,2026-03-01T10:00:01Z,\n",
		"{},a,x,x,blind" + times + "{},a,x,x,visible,,,,2026-03-01T10:00:01Z,,\n",
	} {
		g := decide(t, blindRule, each(60, "p", pair))
		if g.Rules[0].Verdict != report.Pass || finding(g, "order_by_place") != nil {
			t.Errorf("%s: %s (%s)", pair, g.Rules[0].Verdict, g.Rules[0].Reason)
		}
	}
}

// TestSlicesAreOfItems: one item in two slices, by which the labels that agree could be chosen, is an error that names both.
func TestSlicesAreOfItems(t *testing.T) {
	body := "i0,a,x,x,blind,,,,,,Lyon\ni1,a,x,y,blind,,,,,,Paris\ni1,b,x,x,blind,,,,,,\ni0,b,x,y,blind,,,,,,Paris\n"
	got := problems(t, run{verb: gate.Decide, labels: header + body, policy: "rules: [{id: r, metric: blind_agreement, minimum: 0.5, where: {site: Lyon}}]"})
	if want := `labels.csv:5:21: site of item "i0" is "Paris" here and "Lyon" at labels.csv:2:21; a rule's ` + "`where` is of items, and needs one value for an item"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMarkersThatAreSuggested: labels "none" that the model suggests too may still mean that nothing was recorded: 50 of 60 agree so,
// and 10 with a word. Without them 10 of 60 and 50 missing.
func TestMarkersThatAreSuggested(t *testing.T) {
	body := each(50, "n", "{},a,None,None,blind,,,,,,\n") + each(10, "i", "{},a,x,x,blind,,,,,,\n")
	r := ruleOf(t, decide(t, blindRule, body))
	if want := `50 labels are "None", which may mean that nothing was recorded, also where the model suggests it; as a label it brings the rule to PASS. Were nothing recorded there, it would come to INSUFFICIENT_EVIDENCE`; r.Verdict != report.ManualReview || !strings.HasPrefix(r.Reason, want) {
		t.Errorf("%s (%s)", r.Verdict, r.Reason)
	}
	// 10 of 60 have a lower end of .0829 (Clopper-Pearson): below it nothing turns.
	if r := ruleOf(t, decide(t, "minimum_blind_sample: 5\nrules: [{id: r, metric: blind_agreement, minimum: 0.08}]", body)); r.Verdict != report.Pass {
		t.Errorf("%s (%s)", r.Verdict, r.Reason)
	}
	// A first label that is such a marker, and another after it: were it missing, both would be.
	r = ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, maximum: 0.6}]", each(60, "i", "{},a,x,NA,blind,,,,,,\n{},a,x,x,blind,audit,,,,,\n")))
	if r.Verdict != report.ManualReview || countsOf(r) != [3]int{0, 120, 60} {
		t.Errorf("%s (%s), %v", r.Verdict, r.Reason, countsOf(r))
	}
}

// TestChancesThatCannotBe: visible where the item was drawn blind for certain; a draw that leaves chances out of some items; all told at
// once.
func TestChancesThatCannotBe(t *testing.T) {
	got := problems(t, run{verb: gate.Check, labels: header + "i0,a,x,x,visible,,,1,,,\ni1,a,x,x,blind,,,1.0,,,\n",
		draw: "item,visibility,inclusion_probability\ni0,visible,\ni1,blind,1\ni2,visible,1.00\ni3,blind,\n"})
	want := "draw.csv:2:12: inclusion_probability is empty, and at draw.csv:3:10 one is recorded; a draw records it for every item or for none\n" +
		"draw.csv:4:12: inclusion_probability is 1, so the item was drawn blind for certain, and its visibility is \"visible\"; one of them is wrong\n" +
		"draw.csv:5:10: inclusion_probability is empty, and at draw.csv:3:10 one is recorded; a draw records it for every item or for none"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// In the labels too; but a person who labelled the item blind may see it later, with the item's chance on every row.
	got = problems(t, run{verb: gate.Check, labels: header + "i0,a,x,x,visible,,,1,,,\ni1,a,x,x,blind,,,1.0,,,\ni1,a,x,x,visible,,,1.0,,,\n"})
	if want := "labels.csv:2:20: inclusion_probability is 1, so the item was drawn blind for certain, and no row of it is blind; write the probability with which it was drawn blind"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestManyBatches: a draw of up to a hundred probabilities is taken batch by batch, whatever floor it had; with one more it is
// weighed, and that holds where nothing but its own chance decided of an item, which is said.
func TestManyBatches(t *testing.T) {
	for n, method := range map[int]interval.Method{2: interval.MethodHypergeometric, 11: interval.MethodHypergeometric, 100: interval.MethodHypergeometric, 101: interval.MethodWeightedMixture} {
		var draw, body strings.Builder
		for i := range 202 {
			fmt.Fprintf(&draw, "i%d,%s,0.%d\n", i, []string{"blind", "visible"}[i/101], 300+i%n)
			if i < 101 {
				fmt.Fprintf(&body, "i%d,a,x,x,blind,,,,,,\n", i)
			}
		}
		r := ruleOf(t, decide(t, "rules: [{id: r, metric: blind_agreement, minimum: 0.01}]", body.String(), draw.String()))
		said := slices.ContainsFunc(r.Assumptions, func(a string) bool {
			return strings.Contains(a, "drawn blind independently of the others, by no floor")
		})
		if r.Interval.Method != method || said != (n > 100) {
			t.Errorf("%d probabilities: %s, assuming %q", n, r.Interval.Method, r.Assumptions)
		}
	}
}

// TestIdenticalAnnotators: people whose labels are the same on all items that they share, ten or more, are pointed out, whatever else
// they labelled and whatever they are called; one difference, or nine items, is not enough.
func TestIdenticalAnnotators(t *testing.T) {
	label := func(i int) string { return []string{"x", "y"}[i*i%3%2] }
	rows := func(who string, from, to int, differs ...int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			l := label(i)
			if slices.Contains(differs, i) {
				l = "z"
			}
			fmt.Fprintf(&b, "i%d,%s,x,%s,blind,,,,,,\n", i, who, l)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"ten shared":        {rows("a", 0, 20) + rows("b", 10, 30), 2},
		"nine shared":       {rows("a", 0, 19) + rows("b", 10, 30), 0},
		"one differs":       {rows("a", 0, 20) + rows("b", 5, 30, 12), 0},
		"three alike":       {rows("a", 0, 20) + rows("b", 0, 20) + rows("c", 5, 25) + rows("d", 0, 20, 8), 3},
		"a missing label":   {rows("a", 0, 20) + strings.Replace(rows("b", 0, 20), "i4,b,x,"+label(4), "i4,b,x,", 1), 2},
		"the first counts":  {rows("a", 0, 20, 3) + "i3,a,x," + label(3) + ",blind,audit,,,,,\n" + rows("b", 0, 20), 0},
		"nothing is shared": {rows("a", 0, 20) + rows("b", 20, 40), 0},
	} {
		g := ask(t, run{verb: gate.Check, labels: header + c.body})
		f := finding(g, "identical_annotators")
		if (f != nil) != (c.want > 0) || f != nil && (f.Count != c.want || f.Severity != report.Warning || strings.Contains(f.Message, `"a"`)) {
			t.Errorf("%s: %+v, want %d", name, f, c.want)
		}
	}
	g := ask(t, run{verb: gate.Check, labels: header + rows("a", 0, 20) + rows("b", 0, 20), show: true})
	if f := finding(g, "identical_annotators"); f == nil || !strings.Contains(f.Message, `"a", "b"`) {
		t.Errorf("not named on request: %+v", f)
	}
}

// TestSupplyOfSeveralPeople: three people can give three blind labels of each of four items: 12 comparisons, though 4 items.
func TestSupplyOfSeveralPeople(t *testing.T) {
	body := each(4, "i", "{},a,x,x,blind,,,,,,\n{},b,x,x,visible,,,,,,\n{},c,x,x,visible,,,,,,\n")
	for floor, want := range map[string]string{
		"12": "4 blind comparisons are recorded where minimum_blind_sample asks for 12: label more items blind.",
		"13": "4 blind comparisons are recorded where minimum_blind_sample asks for 13, and 4 items and 3 annotators can supply only 12: if that is the whole corpus, set the floor to what it can supply; else label more items blind.",
	} {
		g := decide(t, "minimum_blind_sample: "+floor+"\n"+blindRule, body)
		if f := finding(g, "few_blind_labels"); f == nil || f.Message != want {
			t.Errorf("%s: %+v, want %s", floor, f, want)
		}
	}
}

// TestEveryProblemOfTheRowsAtOnce: rows that are there twice, chances and slices that contradict each other are told beside whatever
// else is wrong, in the same rows or in others, before and after; and no more than when they are wrong alone.
func TestEveryProblemOfTheRowsAtOnce(t *testing.T) {
	const again = "; a second label needs a later time in labelled_at, unless it follows a blind label that differs from the suggestion"
	const policy = "rules: [{id: r, metric: blind_agreement, minimum: 0.5, where: {site: Lyon}}]"
	for name, c := range map[string]struct{ rows, want string }{
		"before and after": {"i,a,x,x,blind,,,,,,\ni,a,x,y,blind,,,,,,\nk,a,x,x,hidden,,,,,,\nj,a,x,x,visible,,,,,,\nj,a,x,x,visible,,,,,,\n",
			"labels.csv:3: the same item, annotator, visibility and kind as at labels.csv:2" + again + "\n" +
				"labels.csv:4:9: visibility is \"hidden\"; write \"visible\" or \"blind\"\n" +
				"labels.csv:6: the same item, annotator, visibility and kind as at labels.csv:5" + again},
		"with times": {"i,a,x,x,visible,,2,,,1700000000,\ni,a,x,x,visible,,,,,1700000000,\n",
			"labels.csv:2:18: accepted: found \"2\": 0 or 1 is allowed, also written 0.0 or 1.0, false or true (empty where it was not recorded)\n" +
				"labels.csv:3: the same item, annotator, visibility and kind as at labels.csv:2" + again},
		"in the rows themselves": {"i,a,x,x,blind,,,0.5,,,Lyon\ni,a,x,y,blind,,no?,0.4,,,Paris\n",
			"labels.csv:3: the same item, annotator, visibility and kind as at labels.csv:2" + again + "\n" +
				"labels.csv:3:16: accepted: found \"no?\": 0 or 1 is allowed, also written 0.0 or 1.0, false or true (empty where it was not recorded)\n" +
				"labels.csv:3:20: the inclusion_probability of item \"i\" is 0.4 here and 0.5 at labels.csv:2:17; an item has one\n" +
				"labels.csv:3:26: site of item \"i\" is \"Paris\" here and \"Lyon\" at labels.csv:2:23; a rule's `where` is of items, and needs one value for an item"},
		"a relabelling is none": {"i,a,x,y,blind,,maybe,,,,\ni,a,x,x,blind,,,,,,\ni,a,x,x,visible,,,,,,\ni,a,x,x,visible,,,,,,\n",
			"labels.csv:2:16: accepted: found \"maybe\": 0 or 1 is allowed, also written 0.0 or 1.0, false or true (empty where it was not recorded)"},
		"whose kind or time is not known": {"i,a,x,x,blind,,,,,,\ni,a,x,x,blind,check,,,,,\ni,a,x,x,blind,,,,,now,\n",
			"labels.csv:3:15: kind is \"check\"; write \"label\", \"calibration\", \"certification\", \"audit\" or \"verify\", or leave it empty\n" +
				"labels.csv:4:19: labelled_at: found \"now\": an ISO 8601 date and time such as 2026-03-31T14:05:09Z, or seconds such as 12.5, is allowed"},
	} {
		if got := problems(t, run{verb: gate.Decide, labels: header + c.rows, policy: policy}); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
	got := problems(t, run{verb: gate.Check, labels: header + "i,a,x,x,blind,,,,,,\ni,a,x,y,blind,,2,,,,\n", show: true})
	if !strings.Contains(got, `(item "i", annotator "a")`) {
		t.Errorf("not named on request: %s", got)
	}
	// A draw's too.
	got = problems(t, run{verb: gate.Check, labels: header + "i,a,x,x,blind,,,,,,\n", draw: "item,visibility,inclusion_probability\ni,blind,0.5\ni,open,2\n"})
	want := "draw.csv:3: the same item as at draw.csv:2; a draw has each item once\n" +
		"draw.csv:3:3: visibility is \"open\"; write \"visible\" or \"blind\"\n" +
		"draw.csv:3:8: inclusion_probability: found \"2\"; a number above 0 and at most 1 is allowed"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestGapOfAPersonWhoMayHaveNoVisibleLabel: where it cannot be told whether a person has a label given with the suggestion, the
// gap of that person is anything.
func TestGapOfAPersonWhoMayHaveNoVisibleLabel(t *testing.T) {
	body := each(10, "i", "{},a,x,x,blind,,,,,,\n") + each(10, "j", "{},a,x,x,visible,,,,,,\n") +
		each(10, "k", "{},b,x,x,blind,,,,,,\n") + "l,b,x,,blind,,,,,,\nl,b,x,x,blind,audit,,,,,\n"
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: anchoring_gap, maximum: 0.9}]", body))
	if want := (report.Completions{Low: -0.5, High: 0.5}); *r.Completions != want || *r.Units != 2 || math.Abs(*r.Estimate) > 0 { // a's gap is 0
		t.Errorf("completions %v over %d, estimate %v; want %v over 2", *r.Completions, *r.Units, *r.Estimate, want)
	}
}

// TestChancesOfSomeBlindItems: a chance on some blind items and none on others may hide that they differ, so that a person has
// to look; chances on blind items alone, which all have the same one, change nothing.
func TestChancesOfSomeBlindItems(t *testing.T) {
	text := "rules: [{id: r, metric: blind_agreement, minimum: 0.8}]"
	some := each(30, "i", "{},a,x,x,blind,,,0.2,,,\n") + each(30, "j", "{},a,x,x,blind,,,,,,\n")
	if r := ruleOf(t, decide(t, text, some)); r.Verdict != report.ManualReview {
		t.Errorf("%s (%s)", r.Verdict, r.Reason)
	}
	blindOnly := each(60, "i", "{},a,x,x,blind,,,0.2,,,\n") + each(30, "j", "{},a,x,x,visible,,,,,,\n")
	if r := ruleOf(t, decide(t, text, blindOnly)); r.Verdict != report.Pass {
		t.Errorf("%s (%s)", r.Verdict, r.Reason)
	}
}

// TestChanceOfAnItemLeftOut: a blind item that records neither a suggestion nor a chance leaves the others without weights too,
// as every column does that has the chances of some blind items only; with its chance they are weighed.
func TestChanceOfAnItemLeftOut(t *testing.T) {
	text := "least_inclusion_probability: 0.1\nrules: [{id: r, metric: blind_agreement, minimum: 0.1}]"
	rest := each(30, "i", "{},a,x,x,blind,,,0.2,,,\n") + each(30, "j", "{},a,x,x,blind,,,0.5,,,\n")
	for chance, want := range map[string]report.Verdict{"": report.ManualReview, "0.2": report.Pass} {
		r := ruleOf(t, decide(t, text, rest+"k,a,,x,blind,,,"+chance+",,,\n"))
		if r.Verdict != want || r.LeftOut[0].Count != 1 {
			t.Errorf("with the chance %q: %s (%s), left out %v; want %s and one left out", chance, r.Verdict, r.Reason, r.LeftOut, want)
		}
	}
}

// TestMarkerBeforeALook: a drawn item that was shown after an empty blind label is a departure from the draw, and a marker in
// place of the empty label does not hide it. A label of the person's own there is none.
func TestMarkerBeforeALook(t *testing.T) {
	text := "rules: [{id: r, metric: blind_agreement, minimum: 0.5}]"
	drawn := each(60, "i", "{},blind,0.5\n") + "k,blind,0.5\n"
	for label, want := range map[string]report.Verdict{"": report.ManualReview, "NA": report.ManualReview, "y": report.Pass} {
		body := each(60, "i", "{},a,x,x,blind,,,,,,\n") + "k,a,x," + label + ",blind,,,,2026-03-01T10:00:00Z,2026-03-01T10:01:00Z,\n" +
			"k,a,x,x,visible,,,,2026-03-01T10:02:00Z,2026-03-01T10:03:00Z,\n"
		if r := ruleOf(t, decide(t, text, body, drawn)); r.Verdict != want {
			t.Errorf("label %q: %s (%s), want %s", label, r.Verdict, r.Reason, want)
		}
	}
}

// TestReadingsTogether: markers and rows that only their place orders, neither of which alone would turn the rule.
func TestReadingsTogether(t *testing.T) {
	text := "rules: [{id: r, metric: blind_agreement, minimum: 0.9}]"
	clean := each(94, "i", "{},a,x,x,blind,,,,,,\n")
	markers := each(3, "m", "{},a,NA,NA,blind,,,,,,\n")
	placed := each(3, "p", "{},a,x,x,blind,,,,,,\n{},a,x,x,visible,,,,,,\n")
	for body, want := range map[string]report.Verdict{clean + markers: report.Pass, clean + placed: report.Pass, clean + markers + placed: report.ManualReview} {
		if r := ruleOf(t, decide(t, text, body)); r.Verdict != want {
			t.Errorf("%s (%s), want %s", r.Verdict, r.Reason, want)
		}
	}
}
