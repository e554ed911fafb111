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
	// The number is that of people; of each, how many cases go with it.
	cases := map[int]int{}
	s := Sizing{Unit: "people and cases", Now: len(low), Low: completions.Low, High: completions.High,
		None: func(how string) string {
			return fmt.Sprintf("a new sample with more than %d people or cases, whichever are fewer, at the present spread", interval.MostNeededPairs) + how
		}}
	s.Size = func(c Completion) (int, bool) {
		one, other := Complete(c, low, high)
		people, n, more, err := interval.NeededPairs(one, other, j.Confidence.Value, decides(t))
		cases[people] = n
		return people, err == nil && !more
	}
	s.Tell = func(people int) report.Needs {
		return report.Needs{
			What:    fmt.Sprintf("people and %d cases in a new sample, planned beforehand, at the present spread", Rounded(cases[people])),
			AtLeast: Rounded(people),
		}
	}
	return s.Needs(t)
}
