package report_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/report"
)

// TestParseAtLimits: a report is read with every number at the last one that is allowed. TestParseRefuses has numbers beyond.
func TestParseAtLimits(t *testing.T) {
	docs := readable(t)
	whole, fair := string(docs["full"]), string(docs["fairness"])
	for _, test := range []struct{ name, doc, from, to string }{
		{"a ledger of no looks", whole, `"looks": 2,`, `"looks": 0,`},
		{"a first look", whole, `"number": 3`, `"number": 1`},
		{"a look that may well be wrong", whole, `"error_at_most": 0.05`, `"error_at_most": 1`},
		{"a look that was never broken", whole, `"broken_at": 2,`, `"broken_at": 0,`},
		{"held back by as many parts as there are rules", whole, `"held": 2`, `"held": 3`},
		{"one of one rule", whole, `"rules": 3,
            "confidence": 0.75,
            "held": 2`, `"rules": 1,
            "confidence": 0.75`},
		{"a rule that is surely wrong", whole, `"false_fail_at_most": 0.125`, `"false_fail_at_most": 1`},
		{"a run that is surely wrong", whole, `"false_fail_at_most": 0.025`, `"false_fail_at_most": 1`},
		{"one missing value that tips", whole, `"missing": 3,
            "pass_up_to": 0,
            "fail_from": 2`, `"missing": 1,
            "pass_up_to": 0,
            "fail_from": 1`},
		{"all missing values tip", whole, `"pass_up_to": 0,
            "fail_from": 2`, `"pass_up_to": 2,
            "fail_from": 3`},
		{"the least confidence", fair, `"confidence": 0.95`, `"confidence": 0.5`},
		{"a p-value of 1", whole, `"p_value": 0.0625`, `"p_value": 1`},
		{"a p-value of 0", whole, `"p_value": 0.0625`, `"p_value": 0`},
		{"a waiver of what was undecided", whole, `"reason": "r",
            "verdict": "FAIL"`, `"reason": "r",
            "verdict": "INSUFFICIENT_EVIDENCE"`},
		{"a bin of one case, a positive", whole, `"positives": 1,
                  "cases": 3`, `"positives": 1,
                  "cases": 1`},
		{"as many values as are shown of one measure", whole, `"units": 2,
                "values": [
                  -0.5,`, `"units": 200,
                "values": [` + strings.Repeat("-0.5,", 199)},
		{"a count of nothing", fair, `"labelled": 4`, `"labelled": 0`},
	} {
		changed := strings.Replace(test.doc, test.from, test.to, 1)
		if changed == test.doc {
			t.Errorf("%s: nothing was changed: there is no %q", test.name, test.from)
		} else if _, err := report.Parse([]byte(changed)); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	for _, test := range []struct{ name, doc, from, to, want string }{
		{"a waiver of a pass", whole, `"reason": "r",
            "verdict": "FAIL"`, `"reason": "r",
            "verdict": "PASS"`, `rule "a" is waived from PASS to MANUAL_REVIEW`},
		{"a cell that has no metric", fair, `"cells": [
            {
              "metric"`, `"cells": [
            {
              "metrik"`, `cell 1 of rule "fnr-by-sex" has no metric`},
		{"a bin without width", whole, `"from": 0.1,
                  "to": 0.2`, `"from": 0.2,
                  "to": 0.2`, "has a bin from 0.2 to 0.2"},
		{"a bin of no cases", whole, `"positives": 1,
                  "cases": 3`, `"positives": 0,
                  "cases": 0`, "has a bin from 0.1 to 0.2 of 0 cases"},
		{"more values than are shown", whole, `"units": 2,
                "values": [
                  -0.5,`, `"units": 201,
                "values": [` + strings.Repeat("-0.5,", 200), "has a spread of 201 units with 201 values"},
		{"more values than units", whole, `"units": 2,
                "values"`, `"units": 1,
                "values"`, "has a spread of 1 units with 2 values"},
		{"values out of order", whole, `-0.5,
                  0.25`, `0.5,
                  0.25`, "has a spread of 2 units"},
		{"confidence that is sure", fair, `"confidence": 0.95`, `"confidence": 1`, `its confidence is 1`},
		{"rules beside errors", `{"schema": "oloproof-report/1", "exit_status": 2, "errors": [{"message": "m"}], "gates": [{"gate": "g", "rules": [{"id": "a", "metric": "m"}]}]}`, "", "",
			"it has errors, so that nothing was decided"},
	} {
		changed := strings.Replace(test.doc, test.from, test.to, 1)
		if changed == test.doc && test.from != "" {
			t.Errorf("%s: nothing was changed: there is no %q", test.name, test.from)
		} else if _, err := report.Parse([]byte(changed)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestParseSizes: documents of the largest sizes are read, and of one more are not. head holds three objects and lists, and the list of
// the size that is tried is one more.
func TestParseSizes(t *testing.T) {
	const head = `{"schema": "oloproof-report/1", "tool": {"name": "oloproof", "version": "1"}, "exit_status": 0, "gates": [], "x": `
	for _, test := range []struct {
		name  string
		most  int
		of    func(n int) string
		wrong string
	}{
		{"levels", 100, func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }, "nested more than 100 levels deep"},
		{"bytes of a text", 1 << 20, func(n int) string { return `"` + strings.Repeat("x", n) + `"` }, "a text is 1048577 bytes long"},
		{"names", 10_000, func(n int) string { return `{` + manyNames(n) + `}` }, "an object has more than 10000 names"},
		{"values", 1_000_000, func(n int) string { return `[` + strings.Repeat("0,", n-5) + `0]` }, "more than 1000000 values"},
	} {
		if _, err := report.Parse([]byte(head + test.of(test.most) + "}")); err != nil {
			t.Errorf("%d %s: %v", test.most, test.name, err)
		}
		if _, err := report.Parse([]byte(head + test.of(test.most+1) + "}")); err == nil || !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%d %s: %v", test.most+1, test.name, err)
		}
	}
}

// TestParseContradictions: up to ten contradictions are named, and of more how many they are.
func TestParseContradictions(t *testing.T) {
	for n := 9; n <= 12; n++ {
		r := report.New("1")
		g := report.Gate{Gate: "g"}
		for i := range n {
			g.Data = append(g.Data, report.Count{Name: fmt.Sprint(i), Count: -1})
		}
		r.Gates = []report.Gate{g}
		_, err := report.Parse(written(t, r))
		if err == nil {
			t.Fatalf("%d counts below zero are read", n)
		}
		more := ""
		if n > 10 {
			more = fmt.Sprintf("; and %d more", n-10)
		}
		if named := strings.Count(err.Error(), "counts -1"); named != min(n, 10) || !strings.HasSuffix(err.Error(), `"`+more) {
			t.Errorf("of %d contradictions %d are named: %v", n, named, err)
		}
	}
}

// TestJSONHides: characters that show nothing are written as escapes, DEL and those beyond 16 bits included; one that shows something
// is written as it is, and so is a bracket beside one "#", which no CI runner executes.
func TestJSONHides(t *testing.T) {
	r := report.New("\x7f \u009b \u202e \U000e0001 \U00010000 #[x]")
	doc := string(written(t, r))
	if want := `"version": "\u007f \u009b \u202e \udb40\udc01 ` + "\U00010000" + ` #[x]"`; !strings.Contains(doc, want) {
		t.Errorf("there is no %s in\n%s", want, doc)
	}
	for text, want := range map[string]string{`"a": "#[x]"`: `"a": "#[x]"`, `"a": "##[x]"`: `"a": "##\u005bx]"`} {
		if got := string(report.SafeInLogs([]byte(text))); got != want {
			t.Errorf("%s is written %s", text, got)
		}
	}
}

// TestDiffStates: the states that a comparison shows say which rule was waived.
func TestDiffStates(t *testing.T) {
	waived := agreement("a", report.ManualReview)
	waived.Waived = &report.Waived{Verdict: report.Fail}
	d := diffOf([]report.Rule{agreement("a", report.Fail)}, []report.Rule{waived})
	if d.Rules[0].Before.Waived || !d.Rules[0].After.Waived {
		t.Errorf("before %+v, after %+v", d.Rules[0].Before, d.Rules[0].After)
	}
}

// TestMultiplicityCounts: every interval that a run looked at is counted once, those of groups, of pairs, of pairs that are not listed, and of
// measures; what has none is not.
func TestMultiplicityCounts(t *testing.T) {
	iv := &report.Interval{Confidence: 0.9}
	with, without := report.Measure{Metric: "m", Interval: iv}, report.Measure{Metric: "m"}
	r := report.New("1")
	r.Gates = []report.Gate{{Gate: "g", Measures: []report.Measure{with, without, with, with},
		Rules: []report.Rule{{Measure: with, ID: "a", Verdict: report.Pass, PairsOmitted: 10,
			Cells: []report.Cell{{Measure: with}, {Measure: without}, {Measure: without}}, Pairs: []report.Pair{{Interval: iv}, {}, {Interval: iv}}},
			{Measure: without, ID: "b", Verdict: report.Pass, Advisory: true}}}}
	r.Decide()
	if want := (report.Multiplicity{Rules: 2, Intervals: 17}); *r.Multiplicity != want { // 3 measures, 1 rule, 1 cell, 2 pairs, 10 omitted
		t.Errorf("%+v, want %+v", *r.Multiplicity, want)
	}
	counts := report.Data{{Name: "a", Count: 1}, {Name: "b", Count: 2}}
	if counts.Of("a") != 1 || counts.Of("b") != 2 || counts.Of("c") != 0 {
		t.Errorf("%v", counts)
	}
}

// TestSelfContained: a schema that takes definitions from the one of reports has all of them among its own, those that they take in turn
// included; one that takes none is as it was.
func TestSelfContained(t *testing.T) {
	for name, schema := range map[string][]byte{"certificate": report.CertificateSchema, "diff": report.DiffSchema} {
		whole, err := report.SelfContained(schema)
		if err != nil {
			t.Fatal(err)
		}
		var parsed struct {
			Defs map[string]any `json:"$defs"`
		}
		if err := json.Unmarshal(whole, &parsed); err != nil {
			t.Fatal(err)
		}
		refers := regexp.MustCompile(`"\$ref": "([^"]*)"`).FindAllStringSubmatch(string(whole), -1)
		taken := 0
		for _, found := range refers {
			at, own := strings.CutPrefix(found[1], "#/$defs/")
			if _, there := parsed.Defs[at]; !own || !there {
				t.Errorf("%s refers to %s, which is not in it", name, found[1])
			}
			if strings.HasPrefix(at, "report_") {
				taken++
			}
		}
		if taken == 0 {
			t.Errorf("%s takes nothing from the schema of reports", name)
		}
	}
	if whole, err := report.SelfContained(report.JSONSchema); err != nil || string(whole) != string(report.JSONSchema) {
		t.Errorf("the schema of reports itself is changed, %v", err)
	}
}
