package audit

// fairnessCells are the cells of the gate fairness.
func fairnessCells() []Cell { return nil }
