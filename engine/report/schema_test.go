package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// compileSchema compiles the published schema, with its formats asserted.
func compileSchema(t *testing.T) (compiled *jsonschema.Schema, defs map[string]any, root map[string]any) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.JSONSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err = c.Compile("report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	root = doc.(map[string]any)
	return compiled, root["$defs"].(map[string]any), root
}

// decode reads a document as the validator wants it: numbers keep their text.
func decode(t *testing.T, doc []byte) any {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// frozenReports are the reports of real runs, one for each verb and verdict, which the command line's own tests keep
// up to date.
func frozenReports(t *testing.T) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("../../testdata/report/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 10 {
		t.Fatalf("found %d frozen reports; there is at least one for each verb and verdict", len(names))
	}
	docs := map[string][]byte{}
	for _, name := range names {
		doc, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		docs[filepath.Base(name)] = doc
	}
	return docs
}

// TestFrozenReports holds the reports of real runs to the schema, and to reading them back: a program that decodes a
// report and writes it again has lost nothing, the order of keys included.
func TestFrozenReports(t *testing.T) {
	compiled, _, _ := compileSchema(t)
	seen := map[string]bool{}
	for name, doc := range frozenReports(t) {
		t.Run(name, func(t *testing.T) {
			if err := compiled.Validate(decode(t, doc)); err != nil {
				t.Errorf("the schema refuses it: %#v", err)
			}
			var r report.Report
			if err := json.Unmarshal(doc, &r); err != nil {
				t.Fatal(err)
			}
			again, err := r.JSON()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(doc), string(again)); diff != "" {
				t.Errorf("read and written again (-before +after):\n%s", diff)
			}
			for _, problem := range outOfOrder(doc) {
				t.Error(problem)
			}
			for rule := range r.Rules() {
				seen[rule.Verdict.String()] = true
			}
			seen["exit "+string(rune('0'+r.ExitStatus))] = true
			if r.Verdict == report.NoVerdict && r.ExitStatus == 0 {
				seen[map[bool]string{true: "report", false: "check"}[len(r.Gates[0].Measures) > 0]] = true
			}
		})
	}
	for _, want := range []string{"PASS", "FAIL", "INSUFFICIENT_EVIDENCE", "MANUAL_REVIEW", "exit 0", "exit 1", "exit 2", "exit 3", "exit 4", "check", "report"} {
		if !seen[want] {
			t.Errorf("no frozen report shows %s", want)
		}
	}
}

// order is the order of keys that the specification gives (section 9), with the names added since in their places, by
// the key that the object stands under. Keys of other objects have no order: labels, counts of data.
var order = map[string][]string{
	"": {"schema", "tool", "verdict", "exit_status", "errors", "more_errors", "confidence", "counts", "multiplicity", "today",
		"inputs", "policy", "policies", "ledger", "gates", "baseline", "removed_rules", "policy_base", "policy_from_base", "policy_changes"},
	"tool":             {"name", "version"},
	"counts":           {"PASS", "FAIL", "INSUFFICIENT_EVIDENCE", "MANUAL_REVIEW"},
	"inputs":           {"path", "sha256", "bytes", "rows", "gate", "name", "role", "findings"},
	"policy":           {"path", "sha256"},
	"gates":            {"gate", "name", "design", "settings", "summary", "data", "measures", "rules", "findings", "assumptions", "limits", "min_shown"},
	"intervals_beside": {"method", "lower", "upper", "assumes"},
	"moved":            {"case", "baseline", "candidate", "missing"},
	"interval":         {"lower", "upper", "confidence", "method", "looks"},
	"findings":         {"code", "severity", "position", "message", "count", "rule"},
	"left_out":         {"reason", "count"},
	"needs":            {"what", "at_least"},
	"tipping_point":    {"missing", "pass_up_to", "fail_from", "of", "bad", "alike"},
	"position":         {"file", "line", "column"},
	"errors":           {"file", "line", "column", "message"},
	"measures":         measureKeys,
	"rules":            append(slices.Clone(measureKeys), ruleKeys...),
	"cells":            append(slices.Clone(measureKeys), "verdict", "reason"),
	"pairs":            {"groups", "estimate", "interval", "verdict"},
	"bins":             {"from", "to", "probability", "positives", "cases"},
	"spread":           {"units", "values"},
	"multiplicity":     {"rules", "intervals", "false_fail_at_most"},
	"ledger":           {"path", "sha256", "looks", "appended"},
	"look":             {"number", "change", "switches", "broken_at", "error_at_most"},
	"adjusted":         {"method", "family", "rules", "confidence", "held"},
	"waived":           {"until", "owner", "reason", "verdict"},
	"reviewed":         {"by", "on", "digest", "reason", "valid"},
	"threshold":        {"minimum", "maximum", "max_group_gap", "worst_group", "min_group_ratio"},
	"before":           {"change", "verdict", "threshold", "estimate", "interval"},
	"removed_rules":    {"gate", "name", "id", "verdict"},
	"policy_changes":   {"loosens", "message", "position"},
}

var measureKeys = []string{"metric", "labels", "estimate", "interval", "measured_in", "scale", "numerator", "denominator", "units", "unit_name",
	"missing", "left_out", "completions", "expected_under_calibration", "bins", "spread", "p_value", "better", "worse", "equal", "method", "intervals_beside", "moved", "conditions", "caution"}

var ruleKeys = []string{"id", "threshold", "verdict", "verdict_with_left_out", "reason", "needs", "tipping_point", "assumptions", "position", "advisory", "false_fail_at_most", "adjusted", "waived", "reviewed",
	"cells", "pairs", "pairs_omitted", "look", "before"}

// outOfOrder lists the keys of a document that stand where they should not.
func outOfOrder(doc []byte) (problems []string) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	var walk func(under string)
	walk = func(under string) {
		token, err := dec.Token()
		if err != nil {
			problems = append(problems, err.Error())
			return
		}
		switch token {
		case json.Delim('['):
			for dec.More() {
				walk(under)
			}
			dec.Token()
		case json.Delim('{'):
			last := -1
			for dec.More() {
				name, err := dec.Token()
				if err != nil {
					problems = append(problems, err.Error())
					return
				}
				key := name.(string)
				if keys, ordered := order[under]; ordered {
					at := slices.Index(keys, key)
					switch {
					case at < 0:
						problems = append(problems, under+" has the key "+key+", which has no place in the order")
					case at < last:
						problems = append(problems, under+" has the key "+key+" after "+keys[last])
					}
					last = at
				}
				walk(key)
			}
			dec.Token()
		}
	}
	walk("")
	return problems
}

// full is a report in which nothing is left out. Its numbers mean nothing.
func full() *report.Report {
	pos := diag.Pos{File: "policy.yaml", Line: 3, Column: 5}
	at := func(x float64) *float64 { return &x }
	digest := strings.Repeat("0a", 32)
	iv := &report.Interval{Lower: at(0.25), Upper: nil, Confidence: 0.9, Method: interval.MethodOrderStatistics, Looks: interval.LooksOne}
	m := report.Measure{
		Metric: "expected_calibration_error", Labels: map[string]string{"version": "new", "condition": "with", "attribute": "sex", "group": "female × old", "k": "3", "per": "person", "generalize": "people_and_cases", "where": "a=b"},
		Estimate: at(0), Interval: iv, MeasuredIn: "seconds", Scale: &report.Scale{Lower: -1, Upper: 1}, Numerator: report.Int(0), Denominator: report.Int(2),
		Units: report.Int(2), UnitName: "cases", Missing: report.Int(0), LeftOut: []report.LeftOut{{Reason: "no label", Count: 1}},
		Completions: &report.Completions{Low: 0, High: 1e-9}, UnderCalibration: at(0.03),
		Bins: []report.CalibrationBin{{From: 0.1, To: 0.2, Probability: 0.15, Positives: 1, Cases: 3}}, Spread: &report.Spread{Units: 2, Values: []float64{-0.5, 0.25}},
		PValue: at(0.0625), Better: report.Int(5), Worse: report.Int(0), Equal: report.Int(3),
		Method:          interval.MethodSignTest,
		IntervalsBeside: []report.IntervalBeside{{Method: "two-standard-errors", Lower: 0.25, Upper: 0.75, Assumes: "Independent trials."}},
		Moved:           []report.Moved{{Case: "c", Baseline: 0.25, Candidate: 1, Missing: 1}},
		Conditions:      "Holds.", Caution: "But not here.",
	}
	rule := report.Rule{
		Measure: m, ID: "a", Threshold: report.Threshold{Kind: report.WorstGroup, Side: report.Maximum, Value: 0.5}, Verdict: report.ManualReview, WithLeftOut: report.Fail, Reason: "Waived.",
		Needs:        &report.Needs{What: "more", AtLeast: 1},
		TippingPoint: &report.TippingPoint{Missing: 3, PassUpTo: report.Int(0), FailFrom: report.Int(2), Of: "9 cases", Bad: "wrong", Alike: true}, Assumptions: []string{"One."}, Position: pos, Advisory: true,
		FalseFail: 0.125, Adjusted: &report.Adjusted{Method: report.Holm, Family: 1, Rules: 3, Confidence: 0.75, Held: 2},
		Waived:   &report.Waived{Until: "2027-03-31", Owner: "o", Reason: "r", Verdict: report.Fail},
		Reviewed: &report.Reviewed{By: "b", On: "2027-03-30", Digest: digest, Reason: "r"},
		Cells:    []report.Cell{{Measure: m, Verdict: report.NoVerdict, Reason: "Small."}, {Measure: m, Verdict: report.InsufficientEvidence, Reason: "Small."}},
		Pairs:    []report.Pair{{Groups: [2]string{"female × old", "male × old"}, Estimate: at(0.125), Interval: iv, Verdict: report.Pass}}, PairsOmitted: 1,
		Look:   &report.Look{Number: 3, Change: report.LookUnitsAdded, Switches: 1, BrokenAt: 2, ErrorAtMost: 0.05},
		Before: &report.Before{Change: report.StillNotPassed, Verdict: report.Fail, Threshold: report.Threshold{Kind: report.WorstGroup, Side: report.Maximum, Value: 0.25}, Estimate: at(0), Interval: iv},
	}
	counting := report.Rule{Measure: report.Measure{Metric: "sign_test"}, ID: "b", Verdict: report.ManualReview, Reason: "Planned otherwise.", Position: pos, FalseFail: 0.025,
		Reviewed: &report.Reviewed{By: "b", On: "2027-03-30", Digest: digest, Reason: "r", Valid: true},
		Before:   &report.Before{Change: report.NewRule}}
	r := report.New("1.2.3")
	r.Confidence, r.Today = 0.9, "2027-03-01"
	r.Inputs = []report.Input{{Path: "d.csv", SHA256: digest, Bytes: 9, Rows: 1, Gate: "compare", Name: "n", Role: "assignment",
		Findings: []report.InputFinding{{Code: "column_missing_in_file", Position: diag.Pos{File: "d.csv"}, Message: "m"}}}}
	r.Policy = &report.File{Path: "policy.yaml", SHA256: digest}
	r.Policies = []report.File{*r.Policy, *r.Policy}
	r.Gates = []report.Gate{
		{Gate: "compare", Name: "n", Settings: map[string]string{"baseline": "old", "plan_cases": "8"}, Summary: "s", Data: report.Data{{Name: "zebras", Count: 1}, {Name: "apes", Count: 2}}, Measures: []report.Measure{m}, Rules: []report.Rule{rule, counting},
			Findings: []report.Finding{{Code: "c", Severity: report.Note, Message: "m", Count: 1, Rule: "r"}}, Assumptions: []string{"a"}, Limits: []string{"l"}, MinShown: 5},
	}
	r.Ledger = &report.Ledger{Path: "ledger.jsonl", SHA256: digest, Looks: 2, Appended: true}
	r.Baseline = &report.Baseline{File: report.File{Path: "earlier.json", SHA256: digest}, Confidence: 0.75, Data: report.SameFiles, Policies: report.OtherFiles}
	r.RemovedRules = []report.RemovedRule{{Gate: "fairness", Name: "n", ID: "c", Verdict: report.Pass}}
	r.PolicyBase = &report.File{Path: "policy.yaml", SHA256: digest}
	r.PolicyFromBase = true
	r.PolicyChanges = []report.PolicyChange{{Loosens: true, Message: "The maximum of rule a is raised.", Position: pos}}
	r.Decide()
	return r
}

// fairness is a report of one rule of that gate, a gap between two groups. Its numbers mean nothing.
func fairness() *report.Report {
	at := func(x float64) *float64 { return &x }
	measure := func(metric, group string) report.Measure {
		m := report.Measure{Metric: metric, Labels: map[string]string{"attribute": "sex"}, Estimate: at(0.25),
			Interval:  &report.Interval{Lower: at(0.125), Upper: at(0.5), Confidence: 0.975, Method: interval.MethodBonferroni, Looks: interval.LooksOne},
			Numerator: report.Int(1), Denominator: report.Int(4), Units: report.Int(4), UnitName: "cases", Missing: report.Int(0)}
		if group != "" {
			m.Labels["group"] = group
		}
		return m
	}
	calibration := report.Measure{Metric: "expected_calibration_error", Labels: map[string]string{"attribute": "sex", "group": "female"}, Estimate: at(0.0625), UnderCalibration: at(0.03125), Bins: []report.CalibrationBin{{From: 0.9, To: 1, Probability: 0.9375, Positives: 4, Cases: 4}}, Units: report.Int(4), UnitName: "cases"}
	rule := report.Rule{
		Measure: measure("false_negative", ""), ID: "fnr-by-sex", Threshold: report.Threshold{Kind: report.MaxGroupGap, Value: 0.05},
		Verdict: report.Fail, WithLeftOut: report.InsufficientEvidence, Reason: "r", Position: diag.Pos{File: "fairness.yaml", Line: 3, Column: 5},
		Cells: []report.Cell{{Measure: measure("false_negative", "female"), Verdict: report.Fail},
			{Measure: measure("false_negative", "male"), Verdict: report.InsufficientEvidence, Reason: "2 cases with a prediction; min_cell is 30."}},
		Pairs:        []report.Pair{{Groups: [2]string{"female", "male"}, Estimate: at(0), Interval: &report.Interval{Lower: at(0), Upper: at(0.5), Confidence: 0.95, Method: interval.MethodFisherProduct, Looks: interval.LooksOne}, Verdict: report.Fail}},
		PairsOmitted: 3,
	}
	r := report.New("1.2.3")
	digest := strings.Repeat("0a", 32)
	r.Confidence = 0.95
	r.Inputs = []report.Input{{Path: "decided.csv", SHA256: digest, Bytes: 9, Rows: 4}}
	r.Policy = &report.File{Path: "fairness.yaml", SHA256: digest}
	r.Gates = []report.Gate{{Gate: "fairness", Settings: map[string]string{"min_cell": "30", "calibration_bins": "10", "unit": "person_id"}, Summary: "s",
		Data: report.Data{{Name: "cases", Count: 4}, {Name: "labelled", Count: 4}, {Name: "predicted", Count: 4}, {Name: "missing_labels"}, {Name: "missing_predictions"},
			{Name: "missing_probabilities"}, {Name: "positives", Count: 1}, {Name: "predicted_positive", Count: 2}},
		Measures: []report.Measure{measure("selection", ""), calibration}, Rules: []report.Rule{rule}, Assumptions: []string{"a"}, Limits: []string{"l"}}}
	r.Decide()
	return r
}

// TestFullReport fills every field, so that none escapes the schema, the order and the way back.
func TestFullReport(t *testing.T) {
	compiled, _, _ := compileSchema(t)
	r := full()
	for _, name := range empty(reflect.ValueOf(*r), "Report") {
		switch name {
		// Only with errors, which exclude the rest; only of human-ai, below; only without a waiver, of the second rule.
		case "Report.Errors", "Report.MoreErrors", "Report.Gates[0].Design", "Report.Gates[0].Rules[0].Reviewed.Valid":
		default:
			t.Errorf("%s is not filled in", name)
		}
	}
	check := func(r *report.Report) {
		t.Helper()
		doc, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(decode(t, doc)); err != nil {
			t.Errorf("the schema refuses it: %#v\n%s", err, doc)
		}
		var again report.Report
		if err := json.Unmarshal(doc, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*r, again); diff != "" {
			t.Errorf("read back (-before +after):\n%s", diff)
		}
		for _, problem := range outOfOrder(doc) {
			t.Error(problem)
		}
	}
	check(r)
	check(fairness())

	// Every form of threshold.
	for _, threshold := range []report.Threshold{{}, {Kind: report.Minimum, Value: -0.5}, {Kind: report.Maximum}, {Kind: report.MaxGroupGap, Value: 0.05},
		{Kind: report.MinGroupRatio, Value: 0.8}, {Kind: report.WorstGroup, Side: report.Minimum, Value: 0.8}} {
		r := full()
		r.Gates[0].Rules[0].Threshold = threshold
		check(r)
	}

	unusable := report.Unusable("1.2.3", &diag.Error{More: 2, Items: []diag.Diagnostic{
		{Message: "m"}, {Pos: diag.Pos{File: "f"}, Message: "m"}, {Pos: diag.Pos{File: "f", Line: 1}, Message: "m"}, {Pos: diag.Pos{File: "f", Line: 1, Column: 2}, Message: "m"}}})
	check(unusable)
	if len(unusable.Errors) != 4 || unusable.MoreErrors != 2 || unusable.ExitStatus != report.ExitUnusable {
		t.Errorf("the unusable report is %+v", unusable)
	}
}

// empty lists the fields of a value that hold nothing, a false or an empty text, but for zero numbers behind a pointer.
func empty(v reflect.Value, name string) (names []string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return []string{name}
		}
		if v.Elem().Kind() == reflect.Struct {
			return empty(v.Elem(), name)
		}
	case reflect.Slice:
		if v.Len() == 0 {
			return []string{name}
		}
		return empty(v.Index(0), name+"[0]")
	case reflect.Struct:
		for i := range v.NumField() {
			names = append(names, empty(v.Field(i), name+"."+v.Type().Field(i).Name)...)
		}
	case reflect.String, reflect.Bool, reflect.Map:
		if v.IsZero() {
			return []string{name}
		}
	}
	// An open side of an interval, and a position of a whole file, are what they are; threshold and verdict write themselves.
	return slices.DeleteFunc(names, func(n string) bool {
		return strings.HasSuffix(n, ".Interval.Upper") || strings.HasSuffix(n, ".Position.Line")
	})
}

// TestSchemaMethods: the schema takes every method that an interval can have been computed by.
func TestSchemaMethods(t *testing.T) {
	compiled, _, _ := compileSchema(t)
	for _, method := range []interval.Method{interval.MethodClopperPearson, interval.MethodUniformMixture, interval.MethodDirichlet, interval.MethodSymPol,
		interval.MethodHypergeometric, interval.MethodOrderStatistics, interval.MethodSignTest, interval.MethodBonferroni, interval.MethodFisherProduct,
		interval.MethodPairingAverage, interval.MethodWeightedMixture} {
		r := full()
		r.Gates[0].Measures[0].Interval.Method = method
		doc, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(decode(t, doc)); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// TestSchemaRefuses changes one thing of a report that the schema accepts: each is refused, so the schema is no
// formality.
func TestSchemaRefuses(t *testing.T) {
	compiled, _, _ := compileSchema(t)
	doc, err := full().JSON()
	if err != nil {
		t.Fatal(err)
	}
	human := string(frozenReports(t)["fail.json"])
	bad := string(frozenReports(t)["unusable.json"])
	fairDoc, err := fairness().JSON()
	if err != nil {
		t.Fatal(err)
	}
	fair := string(fairDoc)
	for _, test := range []struct{ name, doc, from, to string }{
		{"another schema", string(doc), `oloproof-report/1`, `oloproof-report/2`},
		{"an unknown key at the top", string(doc), `"verdict": "MANUAL_REVIEW",`, `"verdict": "MANUAL_REVIEW", "verdikt": "PASS",`},
		{"an unknown key of the tool", string(doc), `"version": "1.2.3"`, `"version": "1.2.3", "commit": "x"`},
		{"an unknown key of a measure", string(doc), `"caution": "But not here."`, `"caution": "But not here.", "t_value": 0.1`},
		{"an unknown key of a rule", string(doc), `"advisory": true,`, `"advisory": true, "severity": "high",`},
		{"an unknown key of an interval", string(doc), `"looks": "one"`, `"looks": "one", "width": 1`},
		{"a setting that is no text", string(doc), `"plan_cases": "8"`, `"plan_cases": 8`},
		{"a setting without a value", string(doc), `"plan_cases": "8"`, `"plan_cases": ""`},
		{"a setting's name that is no code", string(doc), `"plan_cases": "8"`, `"plan cases": "8"`},
		{"an unknown label", string(doc), `"version": "new"`, `"model": "new"`},
		{"a verdict that is none", string(doc), `"verdict": "MANUAL_REVIEW",`, `"verdict": "MAYBE",`},
		{"a rule without a verdict", string(doc), `"reason": "Waived.",`, `"reason": "",`},
		{"a waiver that passes", string(doc), `"verdict": "MANUAL_REVIEW",
          "verdict_with_left_out"`, `"verdict": "PASS",
          "verdict_with_left_out"`},
		{"another exit status", string(doc), `"exit_status": 4`, `"exit_status": 0`},
		{"an exit status without a verdict", string(doc), `"verdict": "MANUAL_REVIEW",
  "exit_status": 4`, `"exit_status": 4`},
		{"errors beside a verdict", string(doc), `"exit_status": 4,`, `"exit_status": 2, "errors": [{"message": "m"}],`},
		{"a text as a number", string(doc), `"lower": 0.25`, `"lower": "0.25"`},
		{"no lower end", string(doc), `"lower": 0.25,`, ``},
		{"a fraction of a person", string(doc), `"units": 2`, `"units": 2.5`},
		{"a count below zero", string(doc), `"missing": 0`, `"missing": -1`},
		{"an unheard method", string(doc), `order-statistics`, `wald`},
		{"confidence in percent", string(doc), `"confidence": 0.9,
  "counts"`, `"confidence": 90,
  "counts"`},
		{"a day that is none", string(doc), `"today": "2027-03-01"`, `"today": "2027-02-30"`},
		{"a short digest", string(doc), `0a0a`, `0a`},
		{"two thresholds", string(doc), `"maximum": 0.5`, `"maximum": 0.5, "minimum": 0.4`},
		{"no threshold in it", string(doc), `"maximum": 0.5`, ``},
		{"three groups in a pair", string(doc), `"male × old"`, `"male × old", "x"`},
		{"a numerator alone", string(doc), `"denominator": 2,`, ``},
		{"a design of another gate", string(doc), `"gate": "compare",
      "name": "n",`, `"gate": "compare",
      "name": "n", "design": "crossed",`},
		{"a p-value without its counts", string(doc), `"better": 5,`, ``},
		{"a gate that is none", string(doc), `"gate": "compare",
      "name": "n",`, `"gate": "fair",
      "name": "n",`},
		{"a finding's code in words", string(doc), `"code": "c"`, `"code": "A finding"`},
		{"what a calibrated system would have, of another metric", string(doc), `"metric": "expected_calibration_error"`, `"metric": "selection"`},
		{"a change that is none", string(doc), `"change": "still_not_passed"`, `"change": "worse"`},
		{"an earlier rule without its verdict", string(doc), `"change": "still_not_passed",
            "verdict": "FAIL"`, `"change": "still_not_passed"`},
		{"a new rule with an earlier verdict", string(doc), `"change": "new_rule"`, `"change": "new_rule", "verdict": "PASS"`},
		{"rules removed from nowhere", string(doc), `"baseline": {
    "path": "earlier.json",
    "sha256": "` + strings.Repeat("0a", 32) + `",
    "confidence": 0.75,
    "data": "same",
    "policies": "other"
  },`, ``},
		{"changes of no policy", string(doc), `"policy_base": {
    "path": "policy.yaml",
    "sha256": "` + strings.Repeat("0a", 32) + `"
  },`, ``},
		{"a removed rule without its gate", string(doc), `"gate": "fairness",
      "name": "n",
      "id": "c"`, `"id": "c"`},
		{"a change that loosens perhaps", string(doc), `"loosens": true`, `"loosens": "perhaps"`},
		{"pairs left out and none listed", fair, `"pairs": `, `"pears": `},
		{"no pairs left out", fair, `"pairs_omitted": 3`, `"pairs_omitted": 0`},
		{"a group without a reason in it", fair, `"reason": "2 cases with a prediction; min_cell is 30."`, `"reason": ""`},
		{"with the left-out cases, no verdict", fair, `"verdict_with_left_out": "INSUFFICIENT_EVIDENCE"`, `"verdict_with_left_out": "NO_VERDICT"`},
		{"fairness with another gate's metric", fair, `"metric": "false_negative"`, `"metric": "over_reliance"`},
		{"fairness with another gate's label", fair, `"group": "female"`, `"version": "female"`},
		{"fairness with another count", fair, `"labelled": `, `"labeled": `},
		{"fairness without min_cell", fair, `"min_cell": `, `"least": `},
		{"a rule on a rate of all groups together", fair, `"max_group_gap": 0.05`, `"maximum": 0.05`},
		{"a rule on calibration", fair, `"metric": "false_negative",
          "labels": {
            "attribute": "sex"
          },`, `"metric": "expected_calibration_error",
          "labels": {
            "attribute": "sex"
          },`},
		{"a rule on groups without them", fair, `"cells": `, `"sells": `},
		{"a group without its name", fair, `"attribute": "sex",
                "group": "male"`, `"attribute": "sex"`},
		{"pairs where none are compared", fair, `"max_group_gap": 0.05`, `"worst_group": {"maximum": 0.05}`},
		{"human-ai without a design", human, `"design": "crossed",`, ``},
		{"human-ai with another gate's metric", human, `"metric": "over_reliance"`, `"metric": "pass_at_k"`},
		{"human-ai with another count", human, `"people": `, `"persons": `},
		{"a column without a line", bad, `"line": `, `"lines": `},
		{"a problem without a message", bad, `"message": `, `"text": `},
		{"unusable, and exit 0", bad, `"exit_status": 2`, `"exit_status": 0`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := compiled.Validate(decode(t, []byte(test.doc))); err != nil {
				t.Fatalf("the schema refuses it before the change: %#v", err)
			}
			changed := strings.Replace(test.doc, test.from, test.to, 1)
			if changed == test.doc {
				t.Fatalf("nothing was changed: there is no %q in\n%s", test.from, test.doc)
			}
			if err := compiled.Validate(decode(t, []byte(changed))); err == nil {
				t.Errorf("the schema accepts it")
			}
		})
	}
}

// TestSchemaIsTheStructs holds the schema to the Go types, both ways: the same names in the same order, required
// where they are always written, each described and closed.
func TestSchemaIsTheStructs(t *testing.T) {
	_, defs, root := compileSchema(t)
	raw := propertyOrder(t)
	for _, test := range []struct {
		def   string
		value any
	}{
		{"", report.Report{}}, {"tool", report.Tool{}}, {"problem", report.Problem{}}, {"position", diag.Pos{}}, {"counts", report.Counts{}},
		{"multiplicity", report.Multiplicity{}}, {"file", report.File{}}, {"input", report.Input{}}, {"input_finding", report.InputFinding{}},
		{"gate", report.Gate{}}, {"measure_fields", report.Measure{}}, {"interval", report.Interval{}}, {"interval_beside", report.IntervalBeside{}}, {"moved", report.Moved{}}, {"scale", report.Scale{}},
		{"left_out", report.LeftOut{}}, {"completions", report.Completions{}}, {"rule", report.Rule{}}, {"needs", report.Needs{}}, {"tipping_point", report.TippingPoint{}},
		{"waived", report.Waived{}}, {"reviewed", report.Reviewed{}}, {"cell", report.Cell{}}, {"pair", report.Pair{}}, {"finding", report.Finding{}},
		{"ledger", report.Ledger{}}, {"look", report.Look{}}, {"before", report.Before{}}, {"removed_rule", report.RemovedRule{}}, {"policy_change", report.PolicyChange{}},
	} {
		t.Run(test.def, func(t *testing.T) {
			def := root
			if test.def != "" {
				def = defs[test.def].(map[string]any)
			}
			names, always := tags(reflect.TypeOf(test.value))
			if diff := cmp.Diff(names, raw[test.def]); diff != "" {
				t.Errorf("names in the type (-) and in the schema (+):\n%s", diff)
			}
			var required []string
			for _, name := range asList(def["required"]) {
				required = append(required, name.(string))
			}
			for _, name := range always {
				if !slices.Contains(required, name) {
					t.Errorf("%s is always written and not required", name)
				}
			}
			_, closed := def["additionalProperties"]
			_, closedBelow := def["unevaluatedProperties"]
			if test.def != "measure_fields" && !closed && !closedBelow {
				t.Errorf("the shape is open")
			}
		})
	}
	walkSchema(root, "", func(path string, schema map[string]any) {
		if _, described := schema["description"]; !described {
			t.Errorf("%s has no description", path)
		}
	})
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

// tags returns the JSON names of a struct's fields, and those that are always written. Embedded structs are another
// definition's.
func tags(of reflect.Type) (names, always []string) {
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
		if options == "" && of != reflect.TypeOf(diag.Pos{}) {
			always = append(always, name)
		}
	}
	return names, always
}

// propertyOrder reads the names of properties in the order in which the schema writes them, by definition; "" is the
// document's own.
func propertyOrder(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	dec := json.NewDecoder(bytes.NewReader(report.JSONSchema))
	var walk func(path []string)
	walk = func(path []string) {
		token, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case json.Delim('['):
			for dec.More() {
				walk(append(slices.Clone(path), "[]"))
			}
			dec.Token()
		case json.Delim('{'):
			for dec.More() {
				key, err := dec.Token()
				if err != nil {
					t.Fatal(err)
				}
				name := key.(string)
				switch {
				case len(path) == 1 && path[0] == "properties":
					found[""] = append(found[""], name)
				case len(path) == 3 && path[0] == "$defs" && path[2] == "properties":
					found[path[1]] = append(found[path[1]], name)
				}
				walk(append(slices.Clone(path), name))
			}
			dec.Token()
		}
	}
	walk(nil)
	return found
}

// walkSchema visits every definition and every property.
func walkSchema(schema map[string]any, path string, visit func(path string, schema map[string]any)) {
	visit(path, schema)
	for _, key := range []string{"properties", "$defs"} {
		inner, _ := schema[key].(map[string]any)
		for name, s := range inner {
			if s, ok := s.(map[string]any); ok {
				walkSchema(s, path+"/"+name, visit)
			}
		}
	}
}
