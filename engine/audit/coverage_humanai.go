package audit

import "github.com/oloproof/oloproof/engine/interval"

// humanAICells are the cells of the gate human-ai.
func humanAICells() []Cell {
	difference := Target{Name: "accuracy_difference", Rule: "metric: accuracy_difference, minimum: %s", Truth: "accuracy_difference", Scale: interval.Difference}
	return []Cell{{
		Name: "human-ai/crossed", Factors: []Factor{{"people", "20"}, {"cases", "20"}, {"person spread", "0.1"}, {"effect", "0"}},
		Model: HumanAI{People: 20, Cases: 20, Skills: Spread(0.6, 0.1), Gains: Spread(0, 0.1), SystemAccuracy: 0.8}, Targets: []Target{difference},
		Studies: 2000, Quick: 200,
	}}
}
