package report_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// gateOf is a gate's part with these rules, and decided the run of these gates.
func gateOf(gate, name string, rules ...report.Rule) report.Gate {
	return report.Gate{Gate: gate, Name: name, Rules: rules}
}

func decided(gates ...report.Gate) *report.Report {
	r := report.New("1.2.3")
	r.Gates = gates
	r.Decide()
	return r
}

// agreement is a rule with that id and verdict: agreement is at least 0.5.
func agreement(id string, v report.Verdict) report.Rule {
	return report.Rule{Measure: report.Measure{Metric: "agreement"}, ID: id, Verdict: v, Threshold: report.Threshold{Kind: report.Minimum, Value: 0.5}}
}

var earlierFile = report.File{Path: "earlier.json", SHA256: strings.Repeat("0a", 32)}

// changes are the changes of a report's rules, in order.
func changes(r *report.Report) (list []report.Change) {
	for rule := range r.Rules() {
		if rule.Before == nil {
			return append(list, "not compared")
		}
		list = append(list, rule.Before.Change)
	}
	return list
}

// TestCompareWithVerdicts has the change from every verdict to every other.
func TestCompareWithVerdicts(t *testing.T) {
	const p, f, i, m = report.Pass, report.Fail, report.InsufficientEvidence, report.ManualReview
	want := map[[2]report.Verdict]report.Change{
		{p, p}: report.StillPassing, {p, f}: report.NewlyFailing, {p, i}: report.NewlyUndecided, {p, m}: report.NewlyUndecided,
		{f, p}: report.NewlyPassing, {f, f}: report.StillNotPassed, {f, i}: report.StillNotPassed, {f, m}: report.StillNotPassed,
		{i, p}: report.NewlyPassing, {i, f}: report.NewlyFailing, {i, i}: report.StillNotPassed, {i, m}: report.StillNotPassed,
		{m, p}: report.NewlyPassing, {m, f}: report.NewlyFailing, {m, i}: report.StillNotPassed, {m, m}: report.StillNotPassed,
	}
	for _, before := range report.Verdicts {
		for _, now := range report.Verdicts {
			r := decided(gateOf("human-ai", "", agreement("a", now)))
			r.CompareWith(decided(gateOf("human-ai", "", agreement("a", before))), earlierFile)
			got := r.Gates[0].Rules[0].Before
			if got.Change != want[[2]report.Verdict{before, now}] || got.Verdict != before {
				t.Errorf("%s to %s: %+v", before, now, got)
			}
		}
	}
}

// TestCompareWith matches rules, and says which measure something else.
func TestCompareWith(t *testing.T) {
	const p, f = report.Pass, report.Fail
	with := func(r report.Rule, change func(*report.Rule)) report.Rule {
		change(&r)
		return r
	}
	label := func(r report.Rule, pairs ...string) report.Rule {
		r.Labels = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			r.Labels[pairs[i]] = pairs[i+1]
		}
		return r
	}
	groups := func(r report.Rule, names ...string) report.Rule {
		for _, name := range names {
			r.Cells = append(r.Cells, report.Cell{Measure: report.Measure{Metric: r.Metric, Labels: map[string]string{"group": name}}})
		}
		return r
	}
	versions := func(baseline, candidate string, rules ...report.Rule) report.Gate {
		g := gateOf("compare", "", rules...)
		g.Settings = map[string]string{"baseline": baseline, "candidate": candidate}
		return g
	}
	a := agreement("a", p)
	for _, test := range []struct {
		name        string
		before, now []report.Gate
		want        []report.Change
		removed     []report.RemovedRule
	}{
		{"a rule more and a rule less", []report.Gate{gateOf("human-ai", "", a, agreement("b", f))}, []report.Gate{gateOf("human-ai", "", agreement("c", f), a)},
			[]report.Change{report.NewRule, report.StillPassing}, []report.RemovedRule{{Gate: "human-ai", ID: "b", Verdict: f}}},
		{"one section with another name", []report.Gate{gateOf("fairness", "loans", a)}, []report.Gate{gateOf("fairness", "", a)},
			[]report.Change{report.StillPassing}, nil},
		{"one of several sections with another name", []report.Gate{gateOf("fairness", "loans", a), gateOf("fairness", "cards", agreement("b", f))},
			[]report.Gate{gateOf("fairness", "cards", agreement("b", f)), gateOf("fairness", "credit", a)},
			[]report.Change{report.StillNotPassed, report.NewRule}, []report.RemovedRule{{Gate: "fairness", Name: "loans", ID: "a", Verdict: p}}},
		{"a rule that went to another gate", []report.Gate{gateOf("human-ai", "", a)}, []report.Gate{gateOf("anchoring", "", a)},
			[]report.Change{report.NewRule}, []report.RemovedRule{{Gate: "human-ai", ID: "a", Verdict: p}}},
		{"another metric", []report.Gate{gateOf("human-ai", "", a)}, []report.Gate{gateOf("human-ai", "", with(a, func(r *report.Rule) { r.Metric = "over_reliance" }))},
			[]report.Change{report.Redefined}, nil},
		{"another value of the threshold", []report.Gate{gateOf("human-ai", "", a)}, []report.Gate{gateOf("human-ai", "", with(a, func(r *report.Rule) { r.Threshold.Value = 0.4 }))},
			[]report.Change{report.StillPassing}, nil},
		{"another kind of threshold", []report.Gate{gateOf("human-ai", "", a)}, []report.Gate{gateOf("human-ai", "", with(a, func(r *report.Rule) { r.Threshold.Kind = report.Maximum }))},
			[]report.Change{report.Redefined}, nil},
		{"another side of the worst group",
			[]report.Gate{gateOf("fairness", "", with(a, func(r *report.Rule) { r.Threshold = report.Threshold{Kind: report.WorstGroup, Side: report.Minimum} }))},
			[]report.Gate{gateOf("fairness", "", with(a, func(r *report.Rule) { r.Threshold = report.Threshold{Kind: report.WorstGroup, Side: report.Maximum} }))},
			[]report.Change{report.Redefined}, nil},
		{"another k", []report.Gate{versions("old", "new", label(a, "k", "3"))}, []report.Gate{versions("old", "new", label(a, "k", "5"))}, []report.Change{report.Redefined}, nil},
		{"per person", []report.Gate{gateOf("human-ai", "", a)}, []report.Gate{gateOf("human-ai", "", label(a, "per", "person"))}, []report.Change{report.Redefined}, nil},
		{"another slice", []report.Gate{gateOf("human-ai", "", label(a, "where", "site=x"))}, []report.Gate{gateOf("human-ai", "", label(a, "where", "site=y"))}, []report.Change{report.Redefined}, nil},
		{"another attribute", []report.Gate{gateOf("fairness", "", label(a, "attribute", "sex"))}, []report.Gate{gateOf("fairness", "", label(a, "attribute", "age"))}, []report.Change{report.Redefined}, nil},
		{"the next candidate", []report.Gate{versions("v11", "v12", label(a, "version", "v12"))}, []report.Gate{versions("v12", "v13", label(a, "version", "v13"))}, []report.Change{report.StillPassing}, nil},
		{"the baseline in place of the candidate", []report.Gate{versions("v11", "v12", label(a, "version", "v12"))}, []report.Gate{versions("v12", "v13", label(a, "version", "v12"))}, []report.Change{report.Redefined}, nil},
		{"the groups in another order", []report.Gate{gateOf("fairness", "", groups(a, "female", "male"))}, []report.Gate{gateOf("fairness", "", groups(a, "male", "female"))}, []report.Change{report.StillPassing}, nil},
		{"a group more", []report.Gate{gateOf("fairness", "", groups(a, "female", "male"))}, []report.Gate{gateOf("fairness", "", groups(a, "female", "male", "other"))}, []report.Change{report.Redefined}, nil},
		{"an advisory rule that counts now, and one that no longer does", []report.Gate{gateOf("human-ai", "", with(a, func(r *report.Rule) { r.Advisory = true }), agreement("b", p))},
			[]report.Gate{gateOf("human-ai", "", a, with(agreement("b", f), func(r *report.Rule) { r.Advisory = true }))},
			[]report.Change{report.StillPassing, report.NewlyFailing}, nil},
		{"a waiver that ended", []report.Gate{gateOf("human-ai", "", with(a, func(r *report.Rule) { r.Verdict, r.Waived = report.ManualReview, &report.Waived{Verdict: f} }))},
			[]report.Gate{gateOf("human-ai", "", agreement("a", f))}, []report.Change{report.NewlyFailing}, nil},
		{"a waiver that was given", []report.Gate{gateOf("human-ai", "", agreement("a", f))},
			[]report.Gate{gateOf("human-ai", "", with(a, func(r *report.Rule) { r.Verdict, r.Waived = report.ManualReview, &report.Waived{Verdict: f} }))}, []report.Change{report.StillNotPassed}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, before := decided(test.now...), decided(test.before...)
			r.CompareWith(before, earlierFile)
			if diff := cmp.Diff(test.want, changes(r)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.removed, r.RemovedRules); diff != "" {
				t.Errorf("removed rules (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(&report.Baseline{File: earlierFile}, r.Baseline); diff != "" { // these reports name no files and no confidence
				t.Errorf("baseline (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCompareWithNumbers: what the earlier rule came to is kept, but for the numbers of a rule that measured something else.
func TestCompareWithNumbers(t *testing.T) {
	was := agreement("a", report.Fail)
	x, y := 0.25, 0.75
	was.Estimate, was.Interval = &x, &report.Interval{Lower: &x, Upper: &y, Confidence: 0.95, Method: interval.MethodClopperPearson, Looks: interval.LooksOne}
	was.Threshold.Value = 0.875
	before := decided(gateOf("human-ai", "", was))

	r := decided(gateOf("human-ai", "", agreement("a", report.Pass)))
	r.CompareWith(before, earlierFile)
	want := &report.Before{Change: report.NewlyPassing, Verdict: report.Fail, Threshold: was.Threshold, Estimate: was.Estimate, Interval: was.Interval}
	if diff := cmp.Diff(want, r.Gates[0].Rules[0].Before); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	other := agreement("a", report.Pass)
	other.Metric = "over_reliance"
	r = decided(gateOf("human-ai", "", other))
	r.CompareWith(before, earlierFile)
	want = &report.Before{Change: report.Redefined, Verdict: report.Fail, Threshold: was.Threshold}
	if diff := cmp.Diff(want, r.Gates[0].Rules[0].Before); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCompareWithWhole: what the earlier run had of data, policy and confidence is kept, where both reports name it.
func TestCompareWithWhole(t *testing.T) {
	of := func(confidence float64, data, policy string) *report.Report {
		r := decided(gateOf("human-ai", "", agreement("a", report.Pass)))
		r.Confidence = confidence
		if data != "" {
			r.Inputs = []report.Input{{Path: "d.csv", SHA256: data}}
		}
		if policy != "" {
			r.Policy = &report.File{Path: "p.yaml", SHA256: policy}
		}
		return r
	}
	for _, test := range []struct {
		name        string
		before, now *report.Report
		want        report.Baseline
	}{
		{"a looser policy on the same data", of(0.95, "1", "2"), of(0.5, "1", "3"), report.Baseline{Confidence: 0.95, Data: report.SameFiles, Policies: report.OtherFiles}},
		{"the same policy on other data", of(0.9, "1", "2"), of(0.9, "4", "2"), report.Baseline{Confidence: 0.9, Data: report.OtherFiles, Policies: report.SameFiles}},
		{"files that are not named before", of(0, "", ""), of(0.9, "4", "2"), report.Baseline{}},
		{"files that are not named now", of(0.9, "1", "2"), of(0.9, "", ""), report.Baseline{Confidence: 0.9}},
	} {
		test.now.CompareWith(test.before, earlierFile)
		test.want.File = earlierFile
		if diff := cmp.Diff(&test.want, test.now.Baseline); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestLooserThan: a threshold is looser on the side where it allows more, and no other pair compares.
func TestLooserThan(t *testing.T) {
	worst := func(side report.Kind, x float64) report.Threshold {
		return report.Threshold{Kind: report.WorstGroup, Side: side, Value: x}
	}
	of := func(kind report.Kind, x float64) report.Threshold { return report.Threshold{Kind: kind, Value: x} }
	for _, test := range []struct{ looser, stricter report.Threshold }{
		{of(report.Minimum, 0.5), of(report.Minimum, 0.75)}, {of(report.MinGroupRatio, 0.5), of(report.MinGroupRatio, 0.75)},
		{of(report.Maximum, 0.75), of(report.Maximum, 0.5)}, {of(report.MaxGroupGap, 0.75), of(report.MaxGroupGap, 0.5)},
		{worst(report.Minimum, 0.5), worst(report.Minimum, 0.75)}, {worst(report.Maximum, 0.75), worst(report.Maximum, 0.5)},
	} {
		if !test.looser.LooserThan(test.stricter) || test.stricter.LooserThan(test.looser) || test.looser.LooserThan(test.looser) {
			t.Errorf("%+v against %+v", test.looser, test.stricter)
		}
	}
	for _, pair := range [][2]report.Threshold{
		{of(report.Minimum, 0.5), of(report.Maximum, 0.75)}, {worst(report.Minimum, 0.5), worst(report.Maximum, 0.75)},
		{{}, of(report.Minimum, 0.5)}, {of("of a later version", 1), of("of a later version", 2)}, {of(report.Minimum, math.NaN()), of(report.Minimum, 1)},
	} {
		if pair[0].LooserThan(pair[1]) || pair[1].LooserThan(pair[0]) {
			t.Errorf("%+v and %+v compare", pair[0], pair[1])
		}
	}
}

// TestUsableBaseline: a report in which nothing was decided is no baseline, and is compared with nothing.
func TestUsableBaseline(t *testing.T) {
	unusable := report.Unusable("1", &diag.Error{Items: []diag.Diagnostic{{Message: "m"}}, More: 2})
	checked := report.New("1")
	checked.Gates = []report.Gate{gateOf("human-ai", "")}
	whole := decided(gateOf("human-ai", "", agreement("a", report.Pass)))
	for _, test := range []struct {
		name string
		r    *report.Report
		want string // in the error
	}{{"with errors", unusable, "nothing was decided in it"}, {"of check", checked, "no verdict to compare with"}, {"decided", whole, ""}} {
		err := report.UsableBaseline(test.r)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
		r := decided(gateOf("human-ai", "", agreement("a", report.Pass)))
		r.CompareWith(test.r, earlierFile)
		test.r.CompareWith(whole, earlierFile)
		if compared := test.want == ""; (r.Baseline != nil) != compared || (test.r.Baseline != nil) != compared || r.RemovedRules != nil || test.r.RemovedRules != nil {
			t.Errorf("%s: compared to %+v and %+v", test.name, r, test.r)
		}
	}
}

func TestProblems(t *testing.T) {
	const p, f, i, m = report.Pass, report.Fail, report.InsufficientEvidence, report.ManualReview
	shown := agreement("a", f)
	shown.Advisory = true
	empty := report.New("1")
	empty.Decide() // no rule counted: never good news
	for _, test := range []struct {
		name string
		r    *report.Report
		want int
	}{
		{"all pass", decidedOf(p, p), 0}, {"each of the others", decidedOf(p, f, i, m), 3}, {"an advisory rule", decided(gateOf("human-ai", "", shown, agreement("b", p))), 0},
		{"errors", report.Unusable("1", &diag.Error{Items: []diag.Diagnostic{{Message: "m"}, {Message: "n"}}, More: 5}), 7},
		{"nothing evaluated", empty, 1}, {"check", report.New("1"), 0},
	} {
		if got := test.r.Problems(); got != test.want {
			t.Errorf("%s: %d problems, want %d", test.name, got, test.want)
		}
	}
}

// decidedOf is a decided report whose rules have these verdicts.
func decidedOf(verdicts ...report.Verdict) *report.Report {
	r := of(verdicts...)
	r.Decide()
	return r
}

// TestByChange: those whose verdict turned stand first, advisory rules last.
func TestByChange(t *testing.T) {
	rule := func(id string, v report.Verdict, c report.Change) report.Rule {
		r := agreement(id, v)
		if c != "" {
			r.Before = &report.Before{Change: c}
		}
		return r
	}
	shown := rule("advisory", report.Fail, report.NewlyFailing)
	shown.Advisory = true
	rules := []report.Rule{
		shown, rule("not compared", report.Fail, ""), rule("passes", report.Pass, report.StillPassing), rule("new, passes", report.Pass, report.NewRule),
		rule("new, fails", report.Fail, report.NewRule), rule("fails", report.Fail, report.StillNotPassed), rule("undecided", report.InsufficientEvidence, report.StillNotPassed),
		rule("fails too", report.Fail, report.StillNotPassed), rule("of a later version", report.Pass, "better"), rule("other", report.Pass, report.Redefined),
		rule("passes now", report.Pass, report.NewlyPassing), rule("undecided now", report.ManualReview, report.NewlyUndecided), rule("fails now", report.Fail, report.NewlyFailing),
	}
	before := slices.Clone(rules)
	var got []string
	for _, r := range report.ByChange(rules) {
		got = append(got, r.ID)
	}
	want := []string{"fails now", "undecided now", "passes now", "new, fails", "new, passes", "other", "fails", "fails too", "undecided", "passes", "not compared", "of a later version", "advisory"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, rules); diff != "" {
		t.Errorf("the rules themselves were sorted (-before +after):\n%s", diff)
	}
}

// TestCompareWithAny: with itself nothing turned; there and back, rules gone and rules new change places; what is compared
// is read back.
func TestCompareWithAny(t *testing.T) {
	draw := func(t *rapid.T, name string) *report.Report {
		var gates []report.Gate
		for g, gate := range []string{"human-ai", "fairness", "fairness"}[:rapid.IntRange(1, 3).Draw(t, name+" gates")] {
			var rules []report.Rule
			for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3, rapid.ID).Draw(t, name+" ids") {
				r := agreement(id+string(rune('0'+g)), rapid.SampledFrom(report.Verdicts).Draw(t, name+" verdict"))
				r.Metric = rapid.SampledFrom([]string{"agreement", "over_reliance"}).Draw(t, name+" metric")
				rules = append(rules, r)
			}
			gates = append(gates, gateOf(gate, []string{"", "x", "y"}[g], rules...))
		}
		return decided(gates...)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "one"), draw(t, "other")
		self, err := report.Parse(written(t, a))
		if err != nil {
			t.Fatal(err)
		}
		self.CompareWith(a, earlierFile)
		for rule := range self.Rules() {
			if c := rule.Before.Change; c != report.StillPassing && c != report.StillNotPassed || self.RemovedRules != nil {
				t.Fatalf("with itself, rule %s is %s, and %v is removed", rule.ID, c, self.RemovedRules)
			}
		}
		back, _ := report.Parse(written(t, b))
		there, _ := report.Parse(written(t, a))
		there.CompareWith(b, earlierFile)
		back.CompareWith(a, earlierFile)
		if diff := cmp.Diff(fresh(there), gone(back)); diff != "" {
			t.Fatalf("new there (-) and removed on the way back (+):\n%s", diff)
		}
		if diff := cmp.Diff(fresh(back), gone(there)); diff != "" {
			t.Fatalf("new on the way back (-) and removed there (+):\n%s", diff)
		}
		again, err := report.Parse(written(t, there))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(there, again); diff != "" {
			t.Fatalf("read back (-before +after):\n%s", diff)
		}
	})
}

// fresh and gone are the rules that are new in a report, and those that are removed from it, by section and id.
func fresh(r *report.Report) []string {
	list := map[string]bool{}
	for _, g := range r.Gates {
		for _, rule := range g.Rules {
			if rule.Before.Change == report.NewRule {
				list[g.Gate+"/"+g.Name+"/"+rule.ID] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(list))
}

func gone(r *report.Report) []string {
	list := map[string]bool{}
	for _, rule := range r.RemovedRules {
		list[rule.Gate+"/"+rule.Name+"/"+rule.ID] = true
	}
	return slices.Sorted(maps.Keys(list))
}
