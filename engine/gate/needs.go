package gate

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// Exceeds reports whether count out of total is more than a policy's share allows, compared exactly with the
// decimal as written: exactly the share is still allowed.
func Exceeds(count, total int, share policy.Number) bool {
	limit, ok := new(big.Rat).SetString(share.Text)
	if !ok {
		limit = new(big.Rat).SetFloat64(share.Value)
	}
	limit.Mul(limit, new(big.Rat).SetInt64(int64(total)))
	return new(big.Rat).SetInt64(int64(count)).Cmp(limit) > 0
}

// EmptySlice is what would decide a rule whose `where` keeps nothing.
const EmptySlice = "rows with the values of `where`, or other values there"

// FewerLeftOut is what would decide a rule that leaves out more of total than a share allows: how many of those left out would have to
// be counted. what says of them how: "of the decisions left out to be recorded".
func FewerLeftOut(left, total int, share policy.Number, what string) report.Needs {
	allowed, high := 0, left // so many may be left out, and so many may not
	for high-allowed > 1 {
		if middle := (allowed + high) / 2; Exceeds(middle, total, share) {
			high = middle
		} else {
			allowed = middle
		}
	}
	return report.Needs{What: what + ", so that no more than max_left_out (" + share.Text + ") is left out", AtLeast: left - allowed}
}

// Size is about how many units a study would need in all.
type Size struct {
	Units int
	More  bool // more than Units: the search was not carried further
}

// String writes the size as "about 52" or "more than 1000000".
func (s Size) String() string {
	if s.More {
		return "more than " + strconv.Itoa(s.Units)
	}
	return "about " + strconv.Itoa(Rounded(s.Units))
}

// MeanSample is the present values of independent units, each under its two completions, from which the size
// of a study that decides is judged: the present sample is stretched by quantiles to more units, and its real
// interval computed.
type MeanSample struct {
	Low, High []float64
	Scale     interval.Scale
	Enrolled  int    // units in the file or the assignment, left-out ones included
	Unit      string // in the plural
	// Completions is the exact range of the mean over the two completions; nil: the mean of the lists.
	Completions *report.Completions
	Fixed       bool // the number of units is planned, and more of them would break the plan
}

// Size returns about how many units in all would make the interval as wanted, at the present spread. ok is
// false where no number would, or nothing is known yet.
func (s MeanSample) Size(j policy.Judging, wanted func(interval.Interval) bool) (Size, bool) {
	n, more, err := interval.Needed(MeanMethod(j), s.Low, s.High, s.Scale, j.Confidence.Value, wanted)
	if err != nil || n == 0 {
		return Size{}, false
	}
	return Size{n, more}, true
}

// Needs says what would decide a rule on the mean whose interval straddles the threshold: more units where
// the interval allows looking again, a new sample where it was planned for one.
func (s MeanSample) Needs(t report.Threshold, j policy.Judging) *report.Needs {
	low, high := mean(s.Low), mean(s.High)
	if s.Completions != nil {
		low, high = s.Completions.Low, s.Completions.High
	}
	if low <= t.Value && t.Value <= high {
		return NoNumber(low < high, s.Unit)
	}
	if j.Looks.Value == policy.LooksOnce && s.Enrolled < j.Planned.Value {
		return &report.Needs{What: "more " + s.Unit + ", as planned", AtLeast: j.Planned.Value - s.Enrolled}
	}
	size, ok := s.Size(j, decides(t))
	switch {
	case !ok:
		return &report.Needs{What: "recorded values of " + s.Unit}
	case size.More:
		return &report.Needs{What: tooMany(s.Unit) + asFail(t, low, high)}
	case j.Looks.Value == policy.LooksOnce, s.Fixed:
		return &report.Needs{What: s.Unit + " in a new sample, planned beforehand" + asFail(t, low, high), AtLeast: Rounded(size.Units)}
	}
	return &report.Needs{What: "more " + s.Unit + " at the present spread" + asFail(t, low, high), AtLeast: Rounded(size.Units - len(s.Low))}
}

// tooMany says that no realistic number of units would decide: the values lie so near the threshold.
func tooMany(unit string) string {
	return fmt.Sprintf("more than %d %s in a new sample, at the present values", interval.MostNeeded, unit)
}

// NoNumber says why no number of units would decide: what is missing leaves it open, or the values lie on the threshold.
// unit names them, in the plural.
func NoNumber(missing bool, unit string) *report.Needs {
	if missing {
		return &report.Needs{What: "what is missing to be recorded: as it is, no number of " + unit + " would decide"}
	}
	return &report.Needs{What: "other data: at the present values no number of " + unit + " would decide"}
}

// asFail adds that more of the same would decide a rule, but as FAIL. low and high are the estimate's completions, both on
// one side of the threshold.
func asFail(t report.Threshold, low, high float64) string {
	if (t.Kind == report.Minimum && high < t.Value) || (t.Kind == report.Maximum && low > t.Value) {
		return " (as FAIL, at the present values)"
	}
	return ""
}

// Rounded is a size as it is told: two digits, upward, since the spread that it rests on is itself uncertain.
func Rounded(n int) int {
	step := 1
	for n/step >= 100 {
		step *= 10
	}
	return max(1, (n+step-1)/step*step)
}

// mean is the plain mean, good enough to tell on which side of a threshold a sample lies.
func mean(list []float64) float64 {
	total := 0.0
	for _, x := range list {
		total += x
	}
	return total / float64(len(list))
}

// RateNeeds says what would decide a rule on a rate of n independent units, k of them events and missing not
// recorded.
func RateNeeds(k, missing, n int, unit string, t report.Threshold, j policy.Judging) *report.Needs {
	if n == 0 {
		return &report.Needs{What: "recorded " + unit}
	}
	low, high := float64(k)/float64(n), float64(k+missing)/float64(n)
	if low <= t.Value && t.Value <= high {
		return NoNumber(missing > 0, unit)
	}
	repeated := j.Looks.Value == policy.LooksRepeated
	size, more, err := interval.NeededRate(k, missing, n, j.Confidence.Value, repeated, decides(t))
	switch {
	case err != nil || more:
		return &report.Needs{What: tooMany(unit) + asFail(t, low, high)}
	case repeated:
		return &report.Needs{What: "more " + unit + " at the present rate" + asFail(t, low, high), AtLeast: Rounded(size - n)}
	}
	return &report.Needs{What: unit + " in a new sample (or `looks: repeated`, set before collecting)" + asFail(t, low, high), AtLeast: Rounded(size)}
}

// decides returns whether an interval would decide a rule with threshold t.
func decides(t report.Threshold) func(interval.Interval) bool {
	return func(iv interval.Interval) bool { return t.Compare(iv.Lower, iv.Upper) != report.InsufficientEvidence }
}

// Never is a verdict that a rule cannot come to at its planned number of units, and why.
type Never struct{ What, Why string }

// NeverAtPlan says whether a rule on a mean can never pass or never fail at the planned number of units: its
// interval is widest away from the ends of the scale, so the most favourable data, every unit at one end, show
// how far a bound can reach.
func NeverAtPlan(t report.Threshold, scale interval.Scale, j policy.Judging) []Never {
	at := func(x float64) (interval.Interval, error) {
		values := make([]float64, j.Planned.Value)
		for i := range values {
			values[i] = x
		}
		return MeanMethod(j)(values, values, scale, j.Confidence.Value)
	}
	worst, err1 := at(scale.Lower)
	best, err2 := at(scale.Upper)
	if err1 != nil || err2 != nil {
		return nil
	}
	return NeverBetween(t, worst, best)
}

// NeverBetween says whether a rule can never pass or never fail where the lowest and the highest data that there can be have
// these intervals.
func NeverBetween(t report.Threshold, worst, best interval.Interval) []Never {
	if t.Kind == report.Maximum {
		worst, best = best, worst
	}
	var list []Never
	reach := func(what string, iv interval.Interval) {
		list = append(list, Never{what, fmt.Sprintf(": the interval reaches from %.3f to %.3f at the most", iv.Lower, iv.Upper)})
	}
	if t.Compare(best.Lower, best.Upper) != report.Pass {
		reach("pass", best)
	}
	if t.Compare(worst.Lower, worst.Upper) != report.Fail {
		reach("fail", worst)
	}
	return list
}
