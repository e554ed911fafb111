package report_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/oloproof/oloproof/engine/report"
)

// diffOf compares two runs of one gate.
func diffOf(before, now []report.Rule) *report.Diff {
	return report.Compare(decided(gateOf("human-ai", "", before...)), decided(gateOf("human-ai", "", now...)),
		earlierFile, report.File{Path: "later.json", SHA256: strings.Repeat("0b", 32)}, "1.2.3")
}

// TestDiffVerdicts: a rule is worse where its verdict is, from every verdict to every other. report.Verdicts lists them best first.
func TestDiffVerdicts(t *testing.T) {
	for i, before := range report.Verdicts {
		for k, now := range report.Verdicts {
			d := diffOf([]report.Rule{agreement("a", before)}, []report.Rule{agreement("a", now)})
			worse := k > i
			status := 0
			if worse {
				status = 1
			}
			if d.Worse != worse || d.ExitStatus != status || d.Rules[0].Worse != worse {
				t.Errorf("%s to %s: worse is %v, exit status %d", before, now, d.Worse, d.ExitStatus)
			}
			if got := slices.Contains(d.Rules[0].Differ, "verdict"); got != (before != now) {
				t.Errorf("%s to %s: differ is %q", before, now, d.Rules[0].Differ)
			}
		}
	}
}

// TestDiffCounting has rules that come, go, and begin or cease to count.
func TestDiffCounting(t *testing.T) {
	advisory := func(r report.Rule) report.Rule { r.Advisory = true; return r }
	keeps := agreement("keeps", report.Pass)
	for _, test := range []struct {
		name        string
		before, now report.Rule // no id: not there
		change      report.Change
		worse       bool
	}{
		{"new and PASS", report.Rule{}, agreement("a", report.Pass), report.NewRule, false},
		{"new and FAIL", report.Rule{}, agreement("a", report.Fail), report.NewRule, true},
		{"new and undecided", report.Rule{}, agreement("a", report.InsufficientEvidence), report.NewRule, true},
		{"new, FAIL and advisory", report.Rule{}, advisory(agreement("a", report.Fail)), report.NewRule, false},
		{"gone", agreement("a", report.Pass), report.Rule{}, report.RuleGone, true},
		{"gone after FAIL", agreement("a", report.Fail), report.Rule{}, report.RuleGone, true},
		{"advisory and gone", advisory(agreement("a", report.Pass)), report.Rule{}, report.RuleGone, false},
		{"no longer counts", agreement("a", report.Pass), advisory(agreement("a", report.Pass)), report.StillPassing, true},
		{"now counts", advisory(agreement("a", report.Pass)), agreement("a", report.Pass), report.StillPassing, false},
		{"now counts, and failed before", advisory(agreement("a", report.Fail)), agreement("a", report.Fail), report.StillNotPassed, true},
		{"advisory and failing", advisory(agreement("a", report.Pass)), advisory(agreement("a", report.Fail)), report.NewlyFailing, false},
		{"another metric", agreement("a", report.Pass), func() report.Rule { r := agreement("a", report.Pass); r.Metric = "over_reliance"; return r }(), report.Redefined, false},
		{"another metric that fails", agreement("a", report.Pass), func() report.Rule { r := agreement("a", report.Fail); r.Metric = "over_reliance"; return r }(), report.Redefined, true},
	} {
		before, now := []report.Rule{keeps}, []report.Rule{keeps}
		if test.before.ID != "" {
			before = append(before, test.before)
		}
		if test.now.ID != "" {
			now = append(now, test.now)
		}
		d := diffOf(before, now)
		if len(d.Rules) != 2 {
			t.Fatalf("%s: %d rules", test.name, len(d.Rules))
		}
		x := d.Rules[slices.IndexFunc(d.Rules, func(x report.RuleDiff) bool { return x.ID == "a" })]
		if x.Change != test.change || x.Worse != test.worse || d.Worse != test.worse {
			t.Errorf("%s: %s, worse is %v; want %s, %v", test.name, x.Change, x.Worse, test.change, test.worse)
		}
		if (x.Before == nil) != (test.before.ID == "") || (x.After == nil) != (test.now.ID == "") {
			t.Errorf("%s: before %v, after %v", test.name, x.Before, x.After)
		}
	}
}

// TestDiffNumbers: what differs is named, and nothing else is.
func TestDiffNumbers(t *testing.T) {
	base := func() report.Rule {
		r := agreement("a", report.Pass)
		r.Estimate = report.Number(0.9)
		r.Interval = &report.Interval{Lower: report.Number(0.8), Upper: report.Number(0.95), Confidence: 0.95}
		return r
	}
	for _, test := range []struct {
		name string
		turn func(*report.Rule)
		want []string
	}{
		{"nothing", func(*report.Rule) {}, nil},
		{"words", func(r *report.Rule) { r.Reason = "other words" }, nil},
		{"estimate", func(r *report.Rule) { *r.Estimate = 0.91 }, []string{"estimate"}},
		{"no estimate", func(r *report.Rule) { r.Estimate = nil }, []string{"estimate"}},
		{"lower", func(r *report.Rule) { *r.Interval.Lower = 0.81 }, []string{"interval"}},
		{"unbounded", func(r *report.Rule) { r.Interval.Upper = nil }, []string{"interval"}},
		{"no interval", func(r *report.Rule) { r.Interval = nil }, []string{"confidence", "interval"}},
		{"confidence", func(r *report.Rule) { r.Interval.Confidence = 0.9 }, []string{"confidence"}},
		{"threshold", func(r *report.Rule) { r.Threshold.Value = 0.4 }, []string{"threshold"}},
		{"p-value", func(r *report.Rule) { r.PValue = report.Number(0.1) }, []string{"estimate"}},
	} {
		now := base()
		test.turn(&now)
		d := diffOf([]report.Rule{base()}, []report.Rule{now})
		if diff := cmp.Diff(test.want, d.Rules[0].Differ); diff != "" || d.Worse {
			t.Errorf("%s: worse is %v (-want +got):\n%s", test.name, d.Worse, diff)
		}
	}
}

// TestDiffFiles: files are the same by their digests, whatever they are called and in whatever order.
func TestDiffFiles(t *testing.T) {
	input := func(path, sha string) report.Input { return report.Input{Path: path, SHA256: sha} }
	with := func(policy report.File, inputs ...report.Input) *report.Report {
		r := decided(gateOf("human-ai", "", agreement("a", report.Pass)))
		r.Policy, r.Inputs = &policy, inputs
		return r
	}
	one := with(report.File{Path: "p", SHA256: "1"}, input("a", "2"), input("b", "3"))
	for _, test := range []struct {
		other          *report.Report
		data, policies report.DataDiff
	}{
		{with(report.File{Path: "q", SHA256: "1"}, input("c", "3"), input("d", "2")), report.SameFiles, report.SameFiles},
		{with(report.File{Path: "p", SHA256: "9"}, input("a", "2"), input("b", "3")), report.SameFiles, report.OtherFiles},
		{with(report.File{Path: "p", SHA256: "1"}, input("a", "2")), report.OtherFiles, report.SameFiles},
		{with(report.File{Path: "p", SHA256: "1"}, input("a", "2"), input("b", "4")), report.OtherFiles, report.SameFiles},
	} {
		if d := report.Compare(one, test.other, earlierFile, earlierFile, "x"); d.Data != test.data || d.Policies != test.policies {
			t.Errorf("%+v: data %s, policies %s", test, d.Data, d.Policies)
		}
	}
}

// TestDiffDocuments holds the differences between all frozen reports of verdicts to the published schema, leaves the reports as they
// were, and says the same as CompareWith.
func TestDiffDocuments(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	var id string
	var root map[string]any
	for _, text := range [][]byte{report.JSONSchema, report.DiffSchema} {
		root = decode(t, text).(map[string]any)
		id = root["$id"].(string)
		if err := c.AddResource(id, root); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := c.Compile(id)
	if err != nil {
		t.Fatal(err)
	}
	walkSchema(root, "", func(path string, schema map[string]any) {
		if _, described := schema["description"]; !described {
			t.Errorf("%s has no description", path)
		}
	})
	docs, compared := frozenReports(t), 0
	names := slices.Sorted(maps.Keys(docs))
	parse := func(name string) *report.Report {
		r, err := report.Parse(docs[name])
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, one := range names {
		for _, two := range names {
			before, after := parse(one), parse(two)
			if report.UsableBaseline(before) != nil || report.UsableBaseline(after) != nil {
				continue
			}
			compared++
			d := report.Compare(before, after, earlierFile, earlierFile, "1.2.3")
			doc, err := d.JSON()
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(decode(t, doc)); err != nil {
				t.Errorf("%s, %s: the schema refuses it: %#v", one, two, err)
			}
			for name, r := range map[string]*report.Report{one: before, two: after} {
				if again, err := r.JSON(); err != nil || !bytes.Equal(again, docs[name]) {
					t.Errorf("%s, %s: %s was changed: %v", one, two, name, err)
				}
			}
			if one == two && (d.Worse || slices.ContainsFunc(d.Rules, func(x report.RuleDiff) bool { return len(x.Differ) > 0 || x.Before == nil || x.After == nil })) {
				t.Errorf("%s differs from itself: %s", one, doc)
			}
			after.CompareWith(before, earlierFile)
			want := map[string]report.Change{}
			for rule := range after.Rules() {
				want[rule.ID] = rule.Before.Change
			}
			for _, x := range d.Rules {
				if x.Change != report.RuleGone && want[x.ID] != x.Change {
					t.Errorf("%s, %s: %s is %s, and %s for CompareWith", one, two, x.ID, x.Change, want[x.ID])
				}
			}
			if len(d.Rules) != len(want)+len(after.RemovedRules) {
				t.Errorf("%s, %s: %d rules, %d and %d for CompareWith", one, two, len(d.Rules), len(want), len(after.RemovedRules))
			}
			var read report.Diff
			if err := json.Unmarshal(doc, &read); err != nil {
				t.Errorf("%s, %s: %v", one, two, err)
			} else if again, err := read.JSON(); err != nil || !bytes.Equal(again, doc) {
				t.Errorf("%s, %s: read back it is another document: %v", one, two, err)
			}
		}
	}
	if compared < 50 {
		t.Errorf("only %d pairs of reports were compared", compared)
	}
}
