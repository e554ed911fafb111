package gate

import (
	"fmt"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// PairNeeds says what would decide a rule on a mean over people and cases both drawn at random, whose interval straddles
// the threshold: a new sample, since the interval is for one look. low and high are the cells of
// interval.PairingAverage, between the means of which the estimate's completions lie.
func PairNeeds(low, high [][]float64, completions report.Completions, t report.Threshold, j policy.Judging) *report.Needs {
	if completions.Low <= t.Value && t.Value <= completions.High {
		return NoNumber(completions.Low < completions.High, "people and cases")
	}
	people, cases, more, err := interval.NeededPairs(low, high, j.Confidence.Value, decides(t))
	switch {
	case err != nil || more:
		return &report.Needs{What: fmt.Sprintf("more than %d people and %d cases in a new sample, at the present spread", people, cases)}
	}
	return &report.Needs{
		What:    fmt.Sprintf("people and %d cases in a new sample, planned beforehand, at the present spread", Rounded(cases)) + asFail(t, completions.Low, completions.High),
		AtLeast: Rounded(people),
	}
}
