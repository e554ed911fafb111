package audit

// anchoringCells are the cells of the gate anchoring.
func anchoringCells() []Cell { return nil }
