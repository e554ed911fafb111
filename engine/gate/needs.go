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

// Completion is how what is missing is taken to be, where it is asked how many units would decide a rule.
type Completion int

// The completions.
const (
	AsMissing Completion = iota // counted both ways, and as much of it missing in a larger study
	AllLow                      // recorded, all of it at the end that lowers the estimate
	AllHigh                     // recorded, all of it at the end that raises it
)

// Complete is a pair of lists, the values under the two completions of what is missing, with what is missing taken as c.
func Complete[T any](c Completion, low, high T) (T, T) {
	switch c {
	case AllLow:
		return low, low
	case AllHigh:
		return high, high
	}
	return low, high
}

// Sizing is what a rule's present values tell of a study that would decide it.
type Sizing struct {
	Unit      string  // what is independent, in the plural
	Now       int     // how many there are
	Low, High float64 // the rule's estimate with all that is missing at its one end, and at its other; equal where nothing is
	// Size is about how many in all, from Now on, would decide the rule at the present values; found is false where no number up to
	// the most that is looked at would.
	Size func(c Completion) (units int, found bool)
	Tell func(units int) report.Needs // a study of so many in all, as it is told
	// Beside says, in brackets behind the number, what another way would take; nil for none.
	Beside func() string
	// None says what is needed where no number that is looked at would do, with how where it comes to FAIL; nil says that of a new sample.
	None func(how string) string
}

// Needs says what would decide a rule whose interval straddles its threshold: about how many units where there is such a number, and
// beside it what recording the missing values would do by itself. It never asks for values to come out one way.
func (s Sizing) Needs(t report.Threshold) *report.Needs {
	straddles := s.Low <= t.Value && t.Value <= s.High
	switch {
	case straddles && s.Low == s.High:
		return &report.Needs{What: "other data: at the present values no number of " + s.Unit + " would decide"}
	case straddles:
		return &report.Needs{What: "what is missing to be recorded: with as much of it missing, no number of " + s.Unit + " would decide; " + s.recorded(t)}
	}
	var out report.Needs
	switch units, found := s.Size(AsMissing); {
	case found:
		out = s.Tell(units)
		out.What += asFail(t, s.Low, s.High)
		if s.Beside != nil {
			out.What += s.Beside()
		}
	case s.None != nil:
		out.What = s.None(asFail(t, s.Low, s.High))
	default:
		out.What = tooMany(s.Unit) + asFail(t, s.Low, s.High)
	}
	if s.Low < s.High {
		out.What += s.either(t, out.AtLeast)
	}
	return &out
}

// either says what recording the missing values would do, where as it is a number of units is told too: 0 for none.
func (s Sizing) either(t report.Threshold, told int) string {
	passing, failing := s.ends(t)
	best := passing
	if best == nil || failing != nil && failing.units < best.units {
		best = failing
	}
	switch {
	case best != nil && best.units <= s.Now:
		return "; or what is missing to be recorded, which may decide it by itself"
	case best != nil && (told == 0 || best.told.AtLeast < told) && best.told.AtLeast > 0:
		return fmt.Sprintf("; recording what is missing does not decide it by itself, and at best brings that down to about %d", best.told.AtLeast)
	}
	return "; recording what is missing does not decide it by itself"
}

// recorded says what is needed beyond recording what is missing, where as it is no number of units would decide.
func (s Sizing) recorded(t report.Threshold) string {
	passing, failing := s.ends(t)
	within := func(e *end) bool { return e != nil && e.units <= s.Now }
	switch {
	case within(passing), within(failing):
		return "recorded, it may decide the rule by itself"
	case passing == nil && failing == nil:
		return "recorded, it does not decide the rule by itself, and no realistic number of " + s.Unit + " would"
	case passing == nil:
		return "recorded, it does not decide the rule by itself: it then takes at best " + Phrase(failing.told) + ", as FAIL"
	}
	text := "recorded, it does not decide the rule by itself: it then takes at best " + Phrase(passing.told)
	if failing != nil {
		text += fmt.Sprintf(" (as FAIL at best about %d)", failing.told.AtLeast)
	}
	return text
}

// end is how many units would decide a rule if all that is missing were recorded and lay at one end.
type end struct {
	units int
	told  report.Needs
}

// ends is the size with all that is missing at the end that is best for the rule to pass, and with all at that which is best for it to
// fail; nil where that end lies on the wrong side for it, or no number would decide.
func (s Sizing) ends(t report.Threshold) (passing, failing *end) {
	for _, c := range []Completion{AllLow, AllHigh} {
		at := s.Low
		if c == AllHigh {
			at = s.High
		}
		if at == t.Value {
			continue
		}
		units, found := s.Size(c)
		if !found {
			continue
		}
		e := &end{units, s.Tell(units)}
		best, fails := &passing, (at < t.Value) != highIsBad(t)
		if fails {
			best = &failing
		}
		if *best == nil || units < (*best).units {
			*best = e
		}
	}
	return passing, failing
}

// Phrase writes what is needed as part of a sentence.
func Phrase(n report.Needs) string {
	if n.AtLeast == 0 {
		return n.What
	}
	return fmt.Sprintf("about %d %s", n.AtLeast, n.What)
}

// InNewSample tells a size for an interval that holds at one look: the units are taken anew. what ends "in a new sample".
func InNewSample(unit, what string) func(units int) report.Needs {
	return func(units int) report.Needs {
		return report.Needs{What: unit + " in a new sample" + what, AtLeast: Rounded(units)}
	}
}

// Added tells a size for an interval that allows looking again, and which has now units: those that there are count.
func Added(now int, unit, what string) func(units int) report.Needs {
	return func(units int) report.Needs {
		return report.Needs{What: "more " + unit + what, AtLeast: Rounded(units - now)}
	}
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
	Fixed       bool   // the number of units is planned, and more of them would break the plan
	Anew        string // what a new study of so many units is told as; "" for "UNITS in a new sample, planned beforehand"
}

// Size returns about how many units in all would make the interval as wanted, at the present spread. ok is
// false where no number would, or nothing is known yet.
func (s MeanSample) Size(j policy.Judging, wanted func(interval.Interval) bool) (Size, bool) {
	return s.size(AsMissing, j, wanted)
}

// size is Size with what is missing taken as c.
func (s MeanSample) size(c Completion, j policy.Judging, wanted func(interval.Interval) bool) (Size, bool) {
	low, high := Complete(c, s.Low, s.High)
	n, more, err := interval.Needed(MeanMethod(j), low, high, s.Scale, j.Confidence.Value, wanted)
	if err != nil || n == 0 {
		return Size{}, false
	}
	return Size{n, more}, true
}

// Needs says what would decide a rule on the mean whose interval straddles the threshold: more units where
// the interval allows looking again, a new sample where it was planned for one.
func (s MeanSample) Needs(t report.Threshold, j policy.Judging) *report.Needs {
	if len(s.Low) == 0 {
		return &report.Needs{What: "recorded values of " + s.Unit}
	}
	sizing := Sizing{Unit: s.Unit, Now: len(s.Low), Low: mean(s.Low), High: mean(s.High), Tell: Added(len(s.Low), s.Unit, " at the present spread")}
	if s.Completions != nil {
		sizing.Low, sizing.High = s.Completions.Low, s.Completions.High
	}
	sizing.Size = func(c Completion) (int, bool) {
		size, ok := s.size(c, j, decides(t))
		return size.Units, ok && !size.More
	}
	once := j.Looks.Value == policy.LooksOnce
	switch {
	case (once || s.Fixed) && s.Anew != "":
		sizing.Tell = func(units int) report.Needs { return report.Needs{What: s.Anew, AtLeast: Rounded(units)} }
	case once || s.Fixed:
		sizing.Tell = InNewSample(s.Unit, ", planned beforehand")
	}
	if once && s.Enrolled < j.Planned.Value {
		return sizing.planned(t, j.Planned.Value, j.Planned.Value-s.Enrolled)
	}
	return sizing.Needs(t)
}

// planned says what would decide a rule of which so many of the planned units are not there yet: these first, and what the plan can
// show at the present values.
func (s Sizing) planned(t report.Threshold, planned, absent int) *report.Needs {
	out := &report.Needs{What: "more " + s.Unit + ", as planned", AtLeast: absent}
	switch straddles := s.Low <= t.Value && t.Value <= s.High; {
	case straddles && s.Low < s.High:
		out.What += "; with as much missing as now, no number of " + s.Unit + " would decide, so what is missing has to be recorded too"
		return out
	case straddles:
		out.What += "; at the present values no number of " + s.Unit + " would decide"
		return out
	}
	fail := asFail(t, s.Low, s.High)
	units, found := s.Size(AsMissing)
	if found && units <= planned {
		out.What += fmt.Sprintf("; at the present values the %d planned decide it%s", planned, fail)
		return out
	}
	takes := "no realistic number would"
	if found {
		takes = "it would take " + Phrase(s.Tell(units)) + fail
	}
	out.What += fmt.Sprintf("; at the present values the %d planned do not decide it: %s", planned, takes)
	passing, failing := s.ends(t)
	if s.Low < s.High && (passing != nil && passing.units <= planned || failing != nil && failing.units <= planned) {
		out.What += "; with what is missing recorded too, they may"
	}
	return out
}

// tooMany says that no realistic number of units would decide: the values lie so near the threshold.
func tooMany(unit string) string {
	return fmt.Sprintf("more than %d %s in a new sample, at the present values", interval.MostNeeded, unit)
}

// asFail adds that more of the same would decide a rule, but as FAIL. low and high are the estimate's completions, both on
// one side of the threshold.
func asFail(t report.Threshold, low, high float64) string {
	if highIsBad(t) && low > t.Value || !highIsBad(t) && high < t.Value {
		return ", as FAIL at the present values"
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

// RateSizing is the Sizing of a rule on a rate of n independent units, k of them events and missing not recorded, by the interval
// that the policy's looks choose: where that is for one look, what repeated looks would take stands beside.
func RateSizing(k, missing, n int, unit string, t report.Threshold, j policy.Judging) Sizing {
	repeated := j.Looks.Value == policy.LooksRepeated
	size := func(c Completion, repeated bool) (int, bool) {
		low, high := Complete(c, k, k+missing)
		units, more, err := interval.NeededRate(low, high-low, n, j.Confidence.Value, repeated, decides(t))
		return units, err == nil && !more
	}
	s := Sizing{
		Unit: unit, Now: n, Low: float64(k) / float64(n), High: float64(k+missing) / float64(n),
		Size: func(c Completion) (int, bool) { return size(c, repeated) },
		Tell: Added(n, unit, " at the present rate"),
	}
	if !repeated {
		s.Tell = InNewSample(unit, "")
		s.Beside = func() string { return Repeated(size(AsMissing, true)) }
	}
	return s
}

// Repeated says, in brackets, how many units repeated looks would take in place of one; "" where no number is found.
func Repeated(units int, found bool) string {
	if !found {
		return ""
	}
	return fmt.Sprintf(" (with `looks: repeated`, set before collecting, about %d in all)", Rounded(units))
}

// RateNeeds says what would decide a rule on a rate of n independent units, k of them events and missing not
// recorded.
func RateNeeds(k, missing, n int, unit string, t report.Threshold, j policy.Judging) *report.Needs {
	if n == 0 {
		return &report.Needs{What: "recorded " + unit}
	}
	return RateSizing(k, missing, n, unit, t, j).Needs(t)
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
