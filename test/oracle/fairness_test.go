package oracle

import "testing"

func TestFairness(t *testing.T) {
	t.Parallel()
	tally, usual := eachStudy(t, drawFairness)
	if !usual {
		return
	}
	// What the default studies are for: every verdict often, for every kind of threshold and every reason.
	occurred(t, tally, 20, "verdict PASS", "verdict FAIL", "verdict INSUFFICIENT_EVIDENCE", "verdict MANUAL_REVIEW", "because too much left out")
	for _, kind := range []string{"max_group_gap", "min_group_ratio", "minimum", "maximum"} {
		for _, verdict := range []string{Pass, Fail, Insufficient} {
			occurred(t, tally, 1, "because compared: "+verdict+" "+kind)
		}
		occurred(t, tally, 1, "because a small group: "+kind)
	}
	occurred(t, tally, 1, "because held by holm", "because waived FAIL", "because waived INSUFFICIENT_EVIDENCE", "exit 2",
		"close: a threshold within the tolerance of a bound")
}
