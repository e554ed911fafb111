package oracle

import "testing"

func TestAnchoring(t *testing.T) {
	t.Parallel()
	tally, usual := eachStudy(t, drawAnchoring)
	if !usual {
		return
	}
	// What the default studies are for: every verdict often, on every metric and for every reason.
	occurred(t, tally, 10, "verdict PASS", "verdict FAIL", "verdict INSUFFICIENT_EVIDENCE", "verdict MANUAL_REVIEW")
	occurred(t, tally, 1, "because compared: PASS anchoring_gap per item", "because compared: INSUFFICIENT_EVIDENCE anchoring_gap per item")
	for _, metric := range []string{"blind_agreement per item", "visible_agreement per item", "blind_agreement per person"} {
		for _, verdict := range []string{Pass, Fail, Insufficient} {
			occurred(t, tally, 1, "because compared: "+verdict+" "+metric)
		}
	}
	occurred(t, tally, 1, "because under the floor", "because under five labels on a side", "because an item on both sides",
		"because another order would turn it", "because not as drawn", "because unequal chances", "because people or items repeat",
		"because too much left out", "because nothing recorded", "because waived INSUFFICIENT_EVIDENCE",
		"close: a threshold within the tolerance of a bound")
}

// occurred holds that each of these occurred so often.
func occurred(t *testing.T, tally Tally, often int, what ...string) {
	t.Helper()
	for _, w := range what {
		if tally[w] < often {
			t.Errorf("%q occurred %d times, want %d", w, tally[w], often)
		}
	}
}
