package oracle

import "testing"

func TestHumanAI(t *testing.T) {
	t.Parallel()
	tally, usual := eachStudy(t, drawHumanAI)
	if !usual {
		return
	}
	// The studies of seeds 1 to 150 are always the same: what they show has to occur in them.
	tally.demand(t, "a missing arm", "design contradicted", "fewer than two people", "left out", "mixed", "nothing recorded",
		"plan broken", "repeated people or cases", "several outputs", "sparse", "wrong order")
}
