package cli

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// fraction is a published count out of another.
type fraction struct {
	N, D int
	Rate float64
}

// perPerson is a published mean over people.
type perPerson struct {
	N    int
	Mean float64
}

// expected is what was counted of a public data set apart from this program.
type expected struct {
	File struct {
		Rows int
	}
	Measures struct {
		Rows, Cases, Reviewers int
		WithBoth               int `json:"reviewers_with_both"`
		WithOnly               int `json:"reviewers_with_only"`
		WithoutOnly            int `json:"reviewers_without_only"`

		AccuracyWith    fraction `json:"accuracy_with"`
		AccuracyWithout fraction `json:"accuracy_without"`
		Agreement       fraction
		OverReliance    fraction `json:"over_reliance"`
		CorrectOverride fraction `json:"correct_override"`
		HarmfulOverride fraction `json:"harmful_override"`
		SystemAccuracy  fraction `json:"system_accuracy_distinct_cases"` // the other one there counts decisions

		MeanWith    perPerson `json:"per_person_accuracy_with"`
		MeanWithout perPerson `json:"per_person_accuracy_without"`
		Difference  perPerson `json:"per_person_difference"`
	}
}

// TestPublicData decides real studies whose counts were published. They are not part of this repository, because
// of their licences: OLOPROOF_DATA names the folder with human-ai/NAME.csv and NAME.expected.json.
func TestPublicData(t *testing.T) {
	data := os.Getenv("OLOPROOF_DATA")
	if data == "" {
		t.Skip("OLOPROOF_DATA is not set: the public data are left out")
	}
	names, err := filepath.Glob(filepath.Join(data, "human-ai", "*.expected.json"))
	if err != nil || len(names) == 0 {
		if os.Getenv("OLOPROOF_E2E") != "" {
			t.Fatalf("no human-ai data in %s (%v)", data, err)
		}
		t.Skipf("no human-ai data in %s: they are left out", data)
	}
	for _, name := range names {
		set := strings.TrimSuffix(filepath.Base(name), ".expected.json")
		t.Run(set, func(t *testing.T) {
			var want expected
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			file := strings.TrimSuffix(name, ".expected.json") + ".csv"
			checkPublished(t, decideFile(t, file, publicPolicy), want, set)
			if counts, abstains := withoutUnsure[set]; abstains {
				r := decideFile(t, file, "abstain: [unsure]\n"+publicPolicy)
				for metric, want := range counts {
					checkCounts(t, ruleOf(t, r, metric), want)
				}
			}
		})
	}
	for set := range withoutUnsure {
		if !slices.Contains(names, filepath.Join(data, "human-ai", set+".expected.json")) {
			t.Errorf("%s is not among the data", set)
		}
	}
}

// withoutUnsure are the counts where "unsure" is listed under abstain, counted apart from this program with a script of
// a few lines over the CSV: rows `with` whose output is not "unsure", cases with such a row.
var withoutUnsure = map[string]map[string]fraction{
	"factcheck-belief": {
		"agreement": {N: 4042, D: 6175}, "over_reliance": {N: 457, D: 988}, "correct_override": {N: 531, D: 988}, "system_accuracy": {N: 21, D: 25},
	},
	"factcheck-belief-optional": {
		"agreement": {N: 1997, D: 3351}, "over_reliance": {N: 305, D: 580}, "correct_override": {N: 275, D: 580}, "system_accuracy": {N: 21, D: 25},
	},
}

// publicPolicy has a rule for each measure. The id is the metric, with "-per-person" where people count once.
const publicPolicy = `rules:
  - {id: accuracy_difference, metric: accuracy_difference, minimum: 0}
  - {id: agreement, metric: agreement, minimum: 0.1}
  - {id: over_reliance, metric: over_reliance, maximum: 0.9}
  - {id: correct_override, metric: correct_override, minimum: 0.1}
  - {id: harmful_override, metric: harmful_override, maximum: 0.9}
  - {id: accuracy_with, metric: accuracy_with, minimum: 0.1}
  - {id: accuracy_without, metric: accuracy_without, minimum: 0.1}
  - {id: system_accuracy, metric: system_accuracy, minimum: 0.1}
  - {id: accuracy_with-per-person, metric: accuracy_with, minimum: 0.1, per: person}
  - {id: accuracy_without-per-person, metric: accuracy_without, minimum: 0.1, per: person}
`

// decideFile decides one file and holds the report to the schema.
func decideFile(t *testing.T, file, policy string) *report.Report {
	t.Helper()
	written := filepath.Join(t.TempDir(), "policy.yaml")
	writeFile(t, written, policy)
	req := request{verb: gate.Decide, gate: humanAI(), policy: written, files: []string{file}}
	r := inMemory().run(req)
	if len(r.Errors) > 0 {
		t.Fatalf("the data cannot be used: %q", problems(r))
	}
	doc, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(reportSchema(t), doc); err != nil {
		t.Errorf("the schema refuses the report: %#v", err)
	}
	return r
}

// ruleOf returns a rule by its id.
func ruleOf(t *testing.T, r *report.Report, id string) *report.Rule {
	t.Helper()
	for rule := range r.Rules() {
		if rule.ID == id {
			return rule
		}
	}
	t.Fatalf("there is no rule %s", id)
	return nil
}

// checkCounts compares a rule's counts, and its estimate, which is their quotient.
func checkCounts(t *testing.T, rule *report.Rule, want fraction) {
	t.Helper()
	if *rule.Numerator != want.N || *rule.Denominator != want.D || *rule.Estimate != float64(want.N)/float64(want.D) {
		t.Errorf("%s is %d of %d (%v), want %d of %d", rule.ID, *rule.Numerator, *rule.Denominator, *rule.Estimate, want.N, want.D)
	}
}

// checkPublished compares a report with what was published and counted.
func checkPublished(t *testing.T, r *report.Report, want expected, set string) {
	t.Helper()
	m := want.Measures
	data := r.Gates[0].Data
	for name, n := range map[string]int{
		"rows": m.Rows, "cases": m.Cases, "people": m.Reviewers, "people_in_both_conditions": m.WithBoth, "people_with_only": m.WithOnly,
		"people_without_only": m.WithoutOnly, "decisions_with": m.AccuracyWith.D, "decisions_without": m.AccuracyWithout.D, "missing_decisions": 0,
	} {
		if got := data.Of(name); got != n {
			t.Errorf("%s: %d, want %d", name, got, n)
		}
	}
	if r.Inputs[0].Rows != want.File.Rows {
		t.Errorf("%d rows were read, want %d", r.Inputs[0].Rows, want.File.Rows)
	}
	for metric, counts := range map[string]fraction{
		"agreement": m.Agreement, "over_reliance": m.OverReliance, "correct_override": m.CorrectOverride, "harmful_override": m.HarmfulOverride,
		"accuracy_with": m.AccuracyWith, "accuracy_without": m.AccuracyWithout,
	} {
		rule := ruleOf(t, r, metric)
		checkCounts(t, rule, counts)
		// People decide many cases and cases are decided by many people: the pooled interval is too narrow.
		if rule.Verdict != report.ManualReview {
			t.Errorf("%s is %v although people and cases repeat", metric, rule.Verdict)
		}
	}
	system := ruleOf(t, r, "system_accuracy")
	checkCounts(t, system, m.SystemAccuracy)
	if *system.Units != m.Cases || system.Verdict != report.Pass {
		t.Errorf("system_accuracy is %v over %d cases", system.Verdict, *system.Units)
	}
	for id, mean := range map[string]perPerson{"accuracy_with-per-person": m.MeanWith, "accuracy_without-per-person": m.MeanWithout} {
		rule := ruleOf(t, r, id)
		if *rule.Units != mean.N || math.Abs(*rule.Estimate-mean.Mean) > 1e-12 { // theirs is a sum of floats
			t.Errorf("%s is %v over %d people, want %v over %d", id, *rule.Estimate, *rule.Units, mean.Mean, mean.N)
		}
		if rule.Verdict != report.Pass {
			t.Errorf("%s is %v", id, rule.Verdict)
		}
	}

	difference := ruleOf(t, r, "accuracy_difference")
	if *difference.Units != m.Difference.N {
		t.Errorf("accuracy_difference has %d people, want %d", *difference.Units, m.Difference.N)
	}
	if difference.Interval.Method != interval.MethodUniformMixture || difference.Interval.Looks != interval.LooksAny {
		t.Errorf("the interval of accuracy_difference is %s", written(difference.Interval))
	}
	if m.Difference.N > 0 && math.Abs(*difference.Estimate-m.Difference.Mean) > 1e-12 {
		t.Errorf("accuracy_difference is %v, want %v", *difference.Estimate, m.Difference.Mean)
	}
	if m.WithBoth < m.Reviewers*9/10 { // each person in one condition, or who chose themselves when to look
		if difference.Verdict != report.InsufficientEvidence {
			t.Errorf("%s: accuracy_difference is %v although %d of %d people were left out", set, difference.Verdict, m.Reviewers-m.WithBoth, m.Reviewers)
		}
	}
	// The interval that takes decisions as independent: two pooled proportions, 1.96 standard errors. Ours is
	// far wider, because people are the units.
	p, q := m.AccuracyWith.Rate, m.AccuracyWithout.Rate
	naive := 2 * 1.96 * math.Sqrt(p*(1-p)/float64(m.AccuracyWith.D)+q*(1-q)/float64(m.AccuracyWithout.D))
	if width := difference.Interval.Width(); width < 2*naive {
		t.Errorf("the interval of accuracy_difference is %v wide, the naive one %v", width, naive)
	}
}
