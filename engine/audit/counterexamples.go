package audit

// counterexamples are those of the coverage grid.
func counterexamples() []Counterexample { return nil }
