package oracle

import "testing"

func TestCompare(t *testing.T) {
	t.Parallel()
	tally, usual := eachStudy(t, drawCompare)
	if !usual {
		return
	}
	// The studies of seeds 1 to 150 are always the same: what they show has to occur in them.
	tally.demand(t, "copies of one run", "left out", "nothing recorded", "plan broken", "the sign test: better", "the sign test: worse",
		"the sign test: uncertain")
}
