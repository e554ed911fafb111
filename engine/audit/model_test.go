package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// rulesOf writes one advisory-free rule for each text.
func rulesOf(texts ...string) string {
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "  - {id: r%d, %s}\n", i, text)
	}
	return b.String()
}

// TestModelsKnowTheirTruth: on one study that is large enough, what the gates estimate is what the model says is true, to within
// five of its own standard deviations or so (the seeds are fixed, so that this either holds or does not).
func TestModelsKnowTheirTruth(t *testing.T) {
	type want struct{ rule, truth string }
	for _, c := range []struct {
		name  string
		model Model
		of    []want
		near  float64
	}{
		{"crossed", HumanAI{People: 1500, Cases: 20, Skills: Spread(0.6, 0.1), Gains: Points{{0.2, 0.8}, {-0.3, 0.2}}, CaseSkills: Spread(0, 0.05), SystemAccuracy: 0.7}, []want{
			{"metric: accuracy_difference, minimum: 0", "accuracy_difference"},
			{"metric: accuracy_with, minimum: 0.5, per: person", "accuracy_with"},
			{"metric: accuracy_without, minimum: 0.5, per: person", "accuracy_without"},
			{"metric: over_reliance, maximum: 0.5, per: person", "over_reliance"},
			{"metric: correct_override, minimum: 0.5, per: person", "correct_override"},
			{"metric: harmful_override, maximum: 0.5, per: person", "harmful_override"},
			{"metric: agreement, minimum: 0.5, per: person", "agreement"},
		}, 0.03},
		{"before and after", HumanAI{BeforeAfter: true, People: 800, Cases: 20, Skills: Spread(0.5, 0.2), Gains: Spread(0.1, 0.1), CaseGains: Spread(0.05, 0.05), SystemAccuracy: 0.9, MissingWrong: 0.02, MissingRight: 0.02}, []want{
			{"metric: accuracy_difference, minimum: 0", "accuracy_difference"},
		}, 0.03},
		{"own cases", HumanAI{OwnCases: true, People: 6000, Cases: 1, Skills: Spread(0.5, 0.2), Gains: Spread(0.1, 0.1), SystemAccuracy: 0.5}, []want{
			{"metric: over_reliance, maximum: 0.5", "over_reliance"}, {"metric: accuracy_without, minimum: 0.5", "accuracy_without"}, {"metric: system_accuracy, minimum: 0.5", "system_accuracy"},
		}, 0.05},
		{"compare", Compare{Cases: 4000, Trials: [2]int{4, 5}, Kinds: []Chances{{0.9, 0.8, 3}, {0.2, 0.6, 1}}, K: 3}, []want{
			{"metric: rate, version: baseline, minimum: 0.5", "rate/baseline"}, {"metric: rate, version: candidate, minimum: 0.5", "rate/candidate"},
			{"metric: pass_rate_difference, minimum: 0", "pass_rate_difference"},
			{"metric: pass_all_k, k: 3, version: candidate, minimum: 0.5", "pass_all_k/candidate"}, {"metric: pass_at_k, k: 3, version: baseline, minimum: 0.5", "pass_at_k/baseline"},
		}, 0.03},
		{"a fixed list", Compare{Cases: 400, Trials: [2]int{20, 20}, Kinds: []Chances{{0.9, 0.8, 3}, {0.2, 0.6, 1}}, Fixed: true}, []want{
			{"metric: pass_rate_difference, minimum: 0", "pass_rate_difference"}, {"metric: rate, version: baseline, minimum: 0.5", "rate/baseline"},
		}, 0.02},
		{"fairness", Fairness{Groups: []Group{{Cases: 6000, Positive: 0.5, TruePositive: 0.9, FalsePositive: 0.2}, {Cases: 3000, Positive: 0.3, TruePositive: 0.8, FalsePositive: 0.1}, {Cases: 3000, Positive: 0.4, TruePositive: 0.85, FalsePositive: 0.3}}, DrawnSizes: true}, []want{
			{"rate: false_negative, attribute: group, max_group_gap: 0.05", "false_negative/gap"}, {"rate: selection, attribute: group, min_group_ratio: 0.8", "selection/ratio"},
			{"rate: accuracy, attribute: group, worst_group: {minimum: 0.8}", "accuracy/least"}, {"rate: false_positive, attribute: group, worst_group: {maximum: 0.2}", "false_positive/most"},
			{"rate: precision, attribute: group, max_group_gap: 0.1", "precision/gap"}, {"rate: false_omission, attribute: group, max_group_gap: 0.1", "false_omission/gap"},
		}, 0.05},
		{"one annotator", Anchoring{Annotators: 1, Items: 20000, Blind: 0.3, Visible: true, Agreement: Points{{0.8, 1}}, Pull: 0.5}, []want{
			{"metric: blind_agreement, minimum: 0.5", "blind_agreement/item"}, {"metric: visible_agreement, minimum: 0.5", "visible_agreement/item"}, {"metric: anchoring_gap, maximum: 0.5", "anchoring_gap/item"},
			{"metric: blind_agreement, minimum: 0.5, corpus_size: 20000", "blind_agreement/rest"},
		}, 0.03},
		{"labels that are lost", Anchoring{Annotators: 1, Items: 20000, Blind: 0.3, Agreement: Points{{0.8, 1}}, MissingAgree: 0.02, MissingDisagree: 0.02}, []want{
			{"metric: blind_agreement, minimum: 0.5", "blind_agreement/item"}, {"metric: blind_agreement, minimum: 0.5, corpus_size: 20000", "blind_agreement/corpus"},
		}, 0.03},
		{"three labels an item", Anchoring{Annotators: 7, Items: 4000, Blind: 0.5, Visible: true, Labels: 3, Pull: 0.2, Agreement: Spread(0.8, 0.1), Kinds: []ItemKind{{3, 0.5, 0}, {1, 0.5, 0.6}}}, []want{
			{"metric: blind_agreement, minimum: 0.5, per: item", "blind_agreement/item"}, {"metric: visible_agreement, minimum: 0.5, per: item", "visible_agreement/item"},
			{"metric: people_agreement, minimum: 0.5", "people_agreement"}, {"metric: model_minus_people, minimum: 0", "model_minus_people"},
		}, 0.03},
		{"unequal chances", Anchoring{Annotators: 1, Items: 10000, Agreement: Points{{0.9, 1}}, Kinds: []ItemKind{{1, 0.2, 0}, {2, 0.8, 0.5}}}, []want{
			{"metric: blind_agreement, minimum: 0.5", "blind_agreement/corpus"},
		}, 0.03},
		{"annotators", Anchoring{Annotators: 600, Items: 60000, Blind: 0.3, Visible: true, Agreement: Points{{0.9, 0.75}, {0.5, 0.25}}, Pull: 0.4}, []want{
			{"metric: blind_agreement, minimum: 0.5, per: person", "blind_agreement/person"}, {"metric: visible_agreement, minimum: 0.5, per: person", "visible_agreement/person"},
			{"metric: anchoring_gap, maximum: 0.5, per: person", "anchoring_gap/person"}, {"metric: blind_agreement, minimum: 0.5, per: item", "blind_agreement/item"},
		}, 0.03},
	} {
		t.Run(c.name, func(t *testing.T) {
			var texts []string
			for _, w := range c.of {
				texts = append(texts, w.rule)
			}
			asked, err := NewAsked(c.model, rulesOf(texts...))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := asked.Once(rand.New(rand.NewPCG(1, 2)))
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range c.of {
				r := answer.Rules[i]
				truth, known := answer.Truth[w.truth]
				switch {
				case !known || r.Estimate == nil:
					t.Errorf("%s: the truth is known: %v; the reason: %s", w.truth, known, r.Reason)
				case math.Abs(*r.Estimate-truth) > c.near:
					t.Errorf("%s: %.4f is estimated, %.4f is true", w.truth, *r.Estimate, truth)
				case r.Interval == nil || *r.Interval.Lower > truth || *r.Interval.Upper < truth:
					t.Errorf("%s: the interval misses %.4f: %s", w.truth, truth, r.Reason)
				}
			}
		})
	}
}

// TestModelsAreChecked: a chance that is none is said, and nothing is drawn.
func TestModelsAreChecked(t *testing.T) {
	for _, m := range []Model{
		HumanAI{People: 3, Cases: 4, Skills: Spread(0.9, 0.2)}, HumanAI{People: 3, Cases: 4, Skills: Spread(0.9, 0), Gains: Spread(0.2, 0)},
		HumanAI{People: 3, Cases: 4, Skills: Points{{0.5, -1}}}, Compare{Cases: 3}, Compare{Cases: 3, Kinds: []Chances{{1.5, 0, 1}}},
		Fairness{Groups: []Group{{}}}, Fairness{Groups: []Group{{}, {TruePositive: -0.1}}}, Anchoring{Agreement: Spread(0.5, 0)}, Anchoring{Annotators: 1, Agreement: Spread(0.5, 0), Pull: math.NaN()},
		Anchoring{Annotators: 2, Agreement: Spread(0.5, 0), Labels: 3}, Anchoring{Annotators: 1, Agreement: Spread(0.5, 0), Kinds: []ItemKind{{1, 0.5, 0.6}}},
		Anchoring{Annotators: 1, Agreement: Spread(0.5, 0), Kinds: []ItemKind{{1, 0, 0}, {1, 0.5, 0}}}, Anchoring{Annotators: 1, Agreement: Spread(0.5, 0), Kinds: []ItemKind{{-1, 0.5, 0}}},
		Fairness{Groups: []Group{{}, {MissingFalseYes: 2}}},
	} {
		if err := m.Check(); err == nil {
			t.Errorf("%#v was taken", m)
		}
	}
}

// TestFalsePositivesVanish: of the cases labelled 0 that are predicted 1, about 40,000, four in ten lose their prediction, of the others, about
// 120,000, one in ten; within five standard deviations or so.
func TestFalsePositivesVanish(t *testing.T) {
	m := Fairness{Groups: []Group{{Cases: 160_000, Positive: 0.5, TruePositive: 0.5, FalsePositive: 0.5, MissingNo: 0.1, MissingYes: 0.1, MissingFalseYes: 0.4}, {Cases: 2}}}
	missing := map[string]int{}
	for _, row := range m.Draw(rand.New(rand.NewPCG(3, 4)), []string{"label", "prediction"}).Study[0] {
		if row[1] == "" {
			missing[row[0]]++
		}
	}
	// Labelled 0: a tenth of 40,000 and four tenths of 40,000; labelled 1: a tenth of 80,000.
	if math.Abs(float64(missing["0"]-20_000)) > 650 || math.Abs(float64(missing["1"]-8_000)) > 430 {
		t.Errorf("missing by label: %v, want about 20000 and 8000", missing)
	}
}
