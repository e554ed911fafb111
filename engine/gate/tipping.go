package gate

import (
	"math"
	"slices"
	"strconv"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// Ways is what a rule's values are, and what the missing ones can have been.
type Ways struct {
	Of        int    // all values, the missing ones included
	Unit      string // in the plural: "decisions"
	Low, High string // in words after "are": what a value is that lowers the estimate most, and one that raises it most
}

// bad is the way that speaks against a rule.
func (w Ways) bad(t report.Threshold) string {
	if highIsBad(t) {
		return w.High
	}
	return w.Low
}

// highIsBad reports that a high estimate is what a rule is against.
func highIsBad(t report.Threshold) bool { return t.Kind == report.Maximum || t.Side == report.Maximum }

// Tip finds the tipping point of a rule with so many missing values. passes says of a number of them that came out the bad way,
// all others having come out the good way, whether the rule PASSes whichever they are, and fails whether it can FAIL. passes may
// only turn from true to false as bad grows, fails only from false to true. alike says that it makes no difference
// which they are. It returns nil where all ways in which they can have come out lead to one verdict.
func Tip(missing int, alike bool, of, bad string, passes, fails func(bad int) (bool, error)) (*report.TippingPoint, error) {
	if missing <= 0 {
		return nil, nil
	}
	passesNot, err := turns(missing, func(bad int) (bool, error) {
		yes, err := passes(bad)
		return !yes, err
	})
	if err != nil || passesNot > missing {
		return nil, err
	}
	failFrom, err := turns(missing, fails)
	if err != nil || failFrom == 0 || passesNot == 0 && failFrom > missing {
		return nil, err
	}
	p := &report.TippingPoint{Missing: missing, Of: of, Bad: bad, Alike: alike}
	if passesNot > 0 {
		p.PassUpTo = report.Int(passesNot - 1)
	}
	if failFrom <= missing {
		p.FailFrom = report.Int(failFrom)
	}
	return p, nil
}

// turns is the least number from 0 to most for which something is so, one more than most where it is for none. It is so for all
// above one for which it is. The ends are asked first, since most rules do not turn.
func turns(most int, so func(n int) (bool, error)) (int, error) {
	if yes, err := so(most); err != nil || !yes {
		return most + 1, err
	}
	from, to := -1, most // not so at from, so at to
	for probe := 0; to-from > 1; probe = from + (to-from)/2 {
		yes, err := so(probe)
		switch {
		case err != nil:
			return 0, err
		case yes:
			to = probe
		default:
			from = probe
		}
	}
	return to, nil
}

// mostSplits is how many ways to share bad values between two kinds are looked at one by one; of more, neighbours are looked
// at together, with the most bad ones of each kind that any of them has.
const mostSplits = 64

// splits lists how so many bad values can be shared between kinds of so many missing values each: for two kinds every way,
// or every few of them in one that is at least as bad as each; for more kinds one that is as bad as any.
func splits(bad int, kinds []int) [][]int {
	switch len(kinds) {
	case 1:
		return [][]int{{bad}}
	case 2:
		var list [][]int
		first, last := max(0, bad-kinds[1]), min(bad, kinds[0])
		step := 1 + (last-first)/mostSplits
		for i := first; i <= last; i += step {
			list = append(list, []int{min(i+step-1, last), bad - i})
		}
		return list
	}
	all := make([]int, len(kinds))
	for i, n := range kinds {
		all[i] = min(bad, n)
	}
	return [][]int{all}
}

// TipKinds is Tip where missing values of one kind weigh alike. judge is what the rule comes to with so many of each kind bad; more
// bad ones of any kind must make no verdict better.
func TipKinds(w Ways, kinds []int, t report.Threshold, judge func(bad []int) (report.Verdict, error)) (*report.TippingPoint, error) {
	missing, filled := 0, 0
	for _, n := range kinds {
		missing += n
		if n > 0 {
			filled++
		}
	}
	worst := func(bad int) (report.Verdict, error) {
		worst := report.Pass
		for _, split := range splits(bad, kinds) {
			verdict, err := judge(split)
			if err != nil {
				return verdict, err
			}
			worst = max(worst, verdict) // PASS, then INSUFFICIENT_EVIDENCE, then FAIL
		}
		return worst, nil
	}
	return Tip(missing, filled == 1, strconv.Itoa(w.Of)+" "+w.Unit, w.bad(t), is(report.Pass, worst), is(report.Fail, worst))
}

// is asks whether a number of bad values comes to a verdict.
func is(want report.Verdict, of func(bad int) (report.Verdict, error)) func(bad int) (bool, error) {
	return func(bad int) (bool, error) {
		verdict, err := of(bad)
		return verdict == want, err
	}
}

// TipRate is the tipping point of a rule on a rate of n units, k of them events and missing not recorded. method is its interval.
func TipRate(w Ways, k, missing, n int, t report.Threshold, method func(k int) (interval.Interval, error)) (*report.TippingPoint, error) {
	w.Of = n
	return TipKinds(w, []int{missing}, t, func(bad []int) (report.Verdict, error) {
		events := k + missing - bad[0]
		if highIsBad(t) {
			events = k + bad[0]
		}
		iv, err := method(events)
		return t.Compare(iv.Lower, iv.Upper), err
	})
}

// Fill is the values of independent units, each under the completions of what is missing of it that are worst and best, and how
// far each missing value can move its unit.
type Fill struct {
	Low, High []float64
	Steps     []float64 // one for each missing value: of a person's own rate over n decisions, 1/n
	Scale     interval.Scale
}

// roundingSlack is far above what adding up values loses, and below the multiples of 1e-10 that ends are rounded to.
const roundingSlack = 1e-11

// Lowered returns two lists of values. Whichever `bad` of the missing values are low, the others being high, the mean's lower end
// is at least that of the first list, and its upper end at least that of the second. With none and with all of them both
// are the values themselves.
//
// The values of a choice add up to those of all high less at most the sum D of the `bad` largest steps, and each stays
// between its own two completions. The intervals of means grow with every value, and of values with the same sum those
// further apart have the lower lower end: the products that they average are Schur-concave. So the first list has, for every j, at
// most the sum of the j smallest that any choice has (max of: those of all high less D; those of all low), and the second is
// the evenest one with the sum less D.
func (f Fill) Lowered(bad int) (apart, even []float64) {
	switch {
	case bad <= 0:
		return f.High, f.High
	case bad >= len(f.Steps):
		return f.Low, f.Low
	}
	steps := slices.Sorted(slices.Values(f.Steps))
	fall := 0.0
	for _, s := range steps[len(steps)-bad:] {
		fall += s
	}
	return f.apart(fall), f.even(fall)
}

// apart is the values that are furthest apart after a fall.
func (f Fill) apart(fall float64) []float64 {
	n := len(f.High)
	high, low := slices.Sorted(slices.Values(f.High)), slices.Sorted(slices.Values(f.Low))
	// From the bottom of the scale, so that sums are not negative.
	sums := make([]float64, n+1)
	h, l := 0.0, 0.0
	for j := range n {
		h, l = h+(high[j]-f.Scale.Lower), l+(low[j]-f.Scale.Lower)
		sums[j+1] = math.Max(h-fall, l)
	}
	// The values are the slopes of the lower convex hull of these sums.
	hull := []int{0}
	for j := 1; j <= n; j++ {
		for len(hull) > 1 {
			a, b := hull[len(hull)-2], hull[len(hull)-1]
			if (sums[b]-sums[a])/float64(b-a) < (sums[j]-sums[b])/float64(j-b) {
				break
			}
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, j)
	}
	list := make([]float64, 0, n)
	for i := 1; i < len(hull); i++ {
		a, b := hull[i-1], hull[i]
		slope := f.Scale.Lower + (sums[b]-sums[a])/float64(b-a) - roundingSlack
		for range b - a {
			list = append(list, f.inside(slope))
		}
	}
	return list
}

// even is the values that are most alike after a fall: all of them capped at one level, none below its own lowest value.
func (f Fill) even(fall float64) []float64 {
	capped := func(level float64) (list []float64, fell float64) {
		list = make([]float64, len(f.High))
		for i, x := range f.High {
			list[i] = math.Max(f.Low[i], math.Min(x, level))
			fell += x - list[i]
		}
		return list, fell
	}
	from, to := f.Scale.Lower, f.Scale.Upper // capped at from, they fall far enough
	for range 60 {
		middle := (from + to) / 2
		if _, fell := capped(middle); fell >= fall {
			from = middle
		} else {
			to = middle
		}
	}
	list, _ := capped(from)
	for i := range list {
		list[i] = f.inside(list[i] - roundingSlack)
	}
	return list
}

// inside puts a value back on the scale.
func (f Fill) inside(x float64) float64 { return math.Max(f.Scale.Lower, math.Min(x, f.Scale.Upper)) }

// mirrored is the same values seen from the other end of the scale.
func (f Fill) mirrored() Fill {
	return Fill{Low: f.mirror(f.High), High: f.mirror(f.Low), Steps: f.Steps, Scale: f.Scale}
}

// mirror turns values around on the scale.
func (f Fill) mirror(list []float64) []float64 {
	out := make([]float64, len(list))
	for i, x := range list {
		out[i] = f.Scale.Lower + f.Scale.Upper - x
	}
	return out
}

// Raised is Lowered for values that are high where they are bad: the mean's upper end is at most that of the first list, and its
// lower end at most that of the second.
func (f Fill) Raised(bad int) (apart, even []float64) {
	switch {
	case bad <= 0:
		return f.Low, f.Low
	case bad >= len(f.Steps):
		return f.High, f.High
	}
	apart, even = f.mirrored().Lowered(bad)
	return f.mirror(apart), f.mirror(even)
}

// Tip is the tipping point of a rule on the mean of a sample. steps are the Fill's. There is none while units that were planned are not
// there yet: they are no missing values, and what they will be like is not for anybody to judge.
func (s MeanSample) Tip(w Ways, steps []float64, t report.Threshold, j policy.Judging) (*report.TippingPoint, error) {
	if j.Looks.Value == policy.LooksOnce && s.Enrolled < j.Planned.Value {
		return nil, nil
	}
	f := Fill{s.Low, s.High, steps, s.Scale}
	at := func(values []float64) (interval.Interval, error) {
		iv, _, err := Mean(values, values, s.Scale, s.Enrolled, j)
		return iv, err
	}
	fill := f.Lowered
	if highIsBad(t) {
		fill = f.Raised
	}
	return TipMeans(w, len(steps), len(s.Low) == 1 && sameSteps(steps), t,
		func(bad int) (interval.Interval, error) {
			apart, _ := fill(bad)
			return at(apart)
		},
		func(bad int) (interval.Interval, error) {
			_, even := fill(bad)
			return at(even)
		})
}

// sameSteps reports that all steps are of one size.
func sameSteps(steps []float64) bool {
	return !slices.ContainsFunc(steps, func(s float64) bool { return s != steps[0] })
}

// TipMeans is Tip where the rule PASSes for sure where one interval is on the right side of the threshold, and can FAIL where another
// one is on the wrong side.
func TipMeans(w Ways, missing int, alike bool, t report.Threshold, pass, fail func(bad int) (interval.Interval, error)) (*report.TippingPoint, error) {
	verdict := func(of func(bad int) (interval.Interval, error)) func(bad int) (report.Verdict, error) {
		return func(bad int) (report.Verdict, error) {
			iv, err := of(bad)
			return t.Compare(iv.Lower, iv.Upper), err
		}
	}
	return Tip(missing, alike, strconv.Itoa(w.Of)+" "+w.Unit, w.bad(t), is(report.Pass, verdict(pass)), is(report.Fail, verdict(fail)))
}
