package audit

// compareCells are the cells of the gate compare.
func compareCells() []Cell {
	return []Cell{{
		Name: "compare/sampled", Factors: []Factor{{"cases", "30"}, {"trials", "5/5"}, {"effect", "0"}},
		Model:   Compare{Cases: 30, Trials: [2]int{5, 5}, Kinds: []Chances{{0.9, 0.9, 1}, {0.3, 0.3, 1}}},
		Targets: []Target{{Name: "sign_test", Rule: "metric: sign_test"}, {Name: "rate", Rule: "metric: rate, minimum: %s", Truth: "rate/candidate"}},
		Studies: 2000, Quick: 200,
	}}
}
