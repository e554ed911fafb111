package compare

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"sort"
	"strconv"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// The metrics.
const (
	signTest   = "sign_test"
	difference = "pass_rate_difference"
	rate       = "rate"
	passAtK    = "pass_at_k"
	passAllK   = "pass_all_k"
)

// measured is a measure, and what a rule on it has to know.
type measured struct {
	report.Measure
	doubts gate.Doubts
	// need says what would decide a rule on the measure, where its interval straddles the threshold
	need func(t report.Threshold) *report.Needs
	// tip says how much depends on what is missing, where it does
	tip   func(t report.Threshold) (*report.TippingPoint, error)
	sign  *verdict    // of a sign test, which has no interval
	units gate.Part   // what the interval or the test rests on
	grows gate.Growth // how the data may grow between looks
}

// pooled reports whether trials are the units of an interval: on a fixed list of cases, all tried equally often
// with results 0 or 1, looked at once.
func (v *view) pooled(equal bool) bool {
	return v.fixed && equal && !v.scored && !v.judging.Looks.Set
}

// trials counts what a list of trials holds.
type trials struct {
	n, missing, recorded int
	least, most          int // trials of a case, missing ones included; 0 without cases
}

// counted counts a list of trials.
func counted(list []attempts) trials {
	var c trials
	for i, a := range list {
		c.n, c.missing, c.recorded = c.n+a.n, c.missing+a.missing(), c.recorded+a.recorded
		if i == 0 {
			c.least = a.n
		}
		c.least, c.most = min(c.least, a.n), max(c.most, a.n)
	}
	return c
}

// rate measures how well one version does: the mean over cases of the share of passes, or of the mean score.
func (v *view) rate(name string, list []attempts, same alike) (measured, error) {
	c := counted(list)
	m := measured{Measure: report.Measure{
		Metric: rate, Labels: v.label("version", name), Scale: &report.Scale{Lower: 0, Upper: 1},
		Units: report.Int(len(list)), UnitName: "cases", Missing: report.Int(c.missing), LeftOut: v.leftOut(),
	}}
	low, high := make([]float64, len(list)), make([]float64, len(list))
	var lows, highs, estimates gate.Fractions
	estimated, sum := 0, new(big.Int)
	var steps []float64
	for i, a := range list {
		steps = appendSteps(steps, a)
		best := v.best(a)
		low[i], high[i] = v.quotient(a.sum, a.n), v.quotient(best, a.n)
		lows.AddBig(a.sum, a.n, 1)
		highs.AddBig(best, a.n, 1)
		sum.Add(sum, a.sum)
		if a.recorded > 0 {
			estimates.AddBig(a.sum, a.recorded, 1)
			estimated++
		}
	}
	if estimated > 0 {
		m.Estimate = report.Number(estimates.OverBig(v.times(estimated)))
	}
	if len(list) > 0 {
		m.Completions = &report.Completions{Low: lows.OverBig(v.times(len(list))), High: highs.OverBig(v.times(len(list)))}
	}
	passes := 0
	if !v.scored {
		passes = int(sum.Int64())
		m.Numerator, m.Denominator = report.Int(passes), report.Int(c.n)
		m.IntervalsBeside = besides(passes, c.recorded)
	}
	var err error
	switch single := !v.scored && c.most <= 1 && len(list) > 0; {
	case v.pooled(c.least == c.most):
		err = v.exactly(&m, interval.FixedListRate, passes, c.missing, c.n, moreTrials, v.ways(c.n))
		trialUnits(&m, c.n, same)
	case single && v.judging.Looks.Value != policy.LooksOnce:
		err = v.caseUnits(&m, passes, c.missing, c.n)
		m.tip = v.tipCounts(v.ways(c.n), passes, c.missing, c.n, rateMethod(v.judging))
	default:
		err = v.mean(&m, low, high, c.recorded, interval.Unit, steps, v.ways(c.n))
	}
	v.finish(&m, estimated, len(list))
	return m, err
}

// ways is what a version's trials can be: n of them, the missing ones included.
func (v *view) ways(n int) gate.Ways {
	if v.scored {
		return gate.Ways{Of: n, Unit: "trials", Low: "scored 0", High: "scored 1"}
	}
	return gate.Ways{Of: n, Unit: "trials", Low: "failed", High: "passed"}
}

// appendSteps adds how far each missing trial of a case can move the mean of its results.
func appendSteps(steps []float64, a attempts) []float64 {
	for range a.missing() {
		steps = append(steps, 1/float64(a.n))
	}
	return steps
}

// tipCounts is the tipping point of a rate with k of n passes.
func (v *view) tipCounts(w gate.Ways, k, missing, n int, method fixedList) func(report.Threshold) (*report.TippingPoint, error) {
	return func(t report.Threshold) (*report.TippingPoint, error) {
		return gate.TipRate(w, k, missing, n, t, func(k int) (interval.Interval, error) { return method(k, 0, n, v.judging.Confidence.Value) })
	}
}

// rateMethod is the interval of a rate of cases under some settings.
func rateMethod(j policy.Judging) fixedList {
	return func(k, missing, n int, _ float64) (interval.Interval, error) { return gate.Rate(k, missing, n, j) }
}

// times is a number of cases, in steps of a result.
func (s scheme) times(n int) *big.Int { return new(big.Int).Mul(s.one, big.NewInt(int64(n))) }

// besides is the interval of about two standard errors that is commonly drawn, shown beside and never decided on.
func besides(passes, recorded int) []report.IntervalBeside {
	if recorded == 0 {
		return nil
	}
	p := float64(passes) / float64(recorded)
	two := float64(2 * math.Sqrt(float64(p*(1-p))/float64(recorded)))
	return []report.IntervalBeside{{Method: "two-standard-errors", Lower: p - two, Upper: p + two,
		Assumes: "every trial is independent of the others and passes with one and the same chance, whatever its case"}}
}

// passK measures pass_at_k (a case passes in at least one of k trials) or pass_all_k (in all k) in one version: the mean
// over cases of the unbiased estimate from the case's trials. k is at most the trials of every case, and
// results are 0 or 1.
func (v *view) passK(metric string, k int, name string, list []attempts) (measured, error) {
	c := counted(list)
	m := measured{Measure: report.Measure{
		Metric: metric, Labels: v.label("version", name, "k", strconv.Itoa(k)), Scale: &report.Scale{Lower: 0, Upper: 1},
		Units: report.Int(len(list)), UnitName: "cases", Missing: report.Int(c.missing), LeftOut: v.leftOut(),
	}}
	e := newEstimator(metric, k)
	low, high := make([]float64, len(list)), make([]float64, len(list))
	alike := map[attemptCounts]int{} // cases with the same counts
	var steps []float64
	for i, a := range list {
		passes := int(a.sum.Int64())
		low[i], high[i] = e.share(passes, a.n), e.share(passes+a.missing(), a.n)
		for more := range a.missing() {
			steps = append(steps, e.share(passes+more+1, a.n)-e.share(passes+more, a.n))
		}
		alike[attemptCounts{passes, a.recorded, a.n}]++
	}
	lows, highs, estimates := outcomes{}, outcomes{}, outcomes{}
	estimated := 0
	certain, possible := 0, 0 // cases that are 1 whatever the missing trials were, and those that can be
	for a, cases := range alike {
		worst, best := outcome{a.passes, a.n}, outcome{a.passes + a.n - a.recorded, a.n}
		lows[worst] += cases
		highs[best] += cases
		least, most := e.share(worst.c, worst.n), e.share(best.c, best.n)
		switch {
		case a.recorded >= k:
			estimates[outcome{a.passes, a.recorded}] += cases
			estimated += cases
		case least == most:
			estimates[worst] += cases
			estimated += cases
		}
		if least == 1 {
			certain += cases
		}
		if most == 1 {
			possible += cases
		}
	}
	if len(list) > 0 {
		m.Completions = &report.Completions{Low: e.mean(lows), High: e.mean(highs)}
	}
	if estimated > 0 {
		m.Estimate = report.Number(e.mean(estimates))
	}
	// With as many trials as k in every case, a case is 0 or 1 by construction.
	exact := c.least == k && c.most == k
	if exact {
		m.Numerator, m.Denominator, m.Missing = report.Int(certain), report.Int(len(list)), report.Int(possible-certain)
	}
	var err error
	switch {
	case exact && v.pooled(true):
		err = v.exactly(&m, interval.FixedListRate, certain, possible-certain, len(list), moreCases, gate.Ways{})
		m.tip = v.tipWhole(metric, alike, certain, c, len(list), interval.FixedListRate)
	case exact && v.judging.Looks.Value != policy.LooksOnce:
		err = v.caseUnits(&m, certain, possible-certain, len(list))
		m.tip = v.tipWhole(metric, alike, certain, c, len(list), rateMethod(v.judging))
	default:
		err = v.mean(&m, low, high, c.recorded, interval.Unit, steps, v.ways(c.n))
	}
	v.finish(&m, estimated, len(list))
	return m, err
}

// tipWhole is the tipping point of pass_at_k or pass_all_k where k is the trials of every case, so that a case is 0 or 1: one bad
// trial turns a case, or all of its missing ones together do. certain cases are 1 whatever is missing. c counts the trials.
func (v *view) tipWhole(metric string, alike map[attemptCounts]int, certain int, c trials, cases int, method fixedList) func(report.Threshold) (*report.TippingPoint, error) {
	return func(t report.Threshold) (*report.TippingPoint, error) {
		maximum := t.Kind == report.Maximum
		var turns []int // of each case that depends on what is missing: how many bad trials turn it
		one := true     // every missing trial turns a case by itself
		for a, n := range alike {
			missing := a.n - a.recorded
			if missing == 0 {
				continue
			}
			open := a.passes == 0
			if metric == passAllK {
				open = a.passes == a.recorded
			}
			one = one && open && missing == 1
			if !open {
				continue
			}
			if (metric == passAllK) != maximum {
				missing = 1
			}
			for range n {
				turns = append(turns, missing)
			}
		}
		fewest := sums(turns)
		w := v.ways(c.n)
		at := func(bad int) (interval.Interval, error) {
			turned := sort.SearchInts(fewest, bad+1) - 1
			k := certain + len(turns) - turned
			if maximum {
				k = certain + turned
			}
			return method(k, 0, cases, v.judging.Confidence.Value)
		}
		return gate.TipMeans(w, c.missing, one, t, at, at)
	}
}

// attemptCounts is what a case's pass_at_k and pass_all_k depend on.
type attemptCounts struct{ passes, recorded, n int }

// outcome is c passes in n trials.
type outcome struct{ c, n int }

// outcomes counts the cases of each outcome.
type outcomes map[outcome]int

// mostExact is the number of trials of a case up to which estimates are exact fractions; beyond, binomial coefficients
// have thousands of digits, and products of float64s take their place.
const mostExact = 2000

// estimator is the unbiased estimate of a case's pass_at_k (1 − C(n−c, k)/C(n, k)) or pass_all_k (C(c, k)/C(n, k)) from c
// passes in n trials, n >= k >= 1. It keeps what it has computed.
type estimator struct {
	all     bool // pass_all_k
	k       int
	known   map[outcome]float64
	choices map[int]*big.Int // C(m, k) by m
}

// newEstimator returns the estimator of a metric.
func newEstimator(metric string, k int) *estimator {
	return &estimator{all: metric == passAllK, k: k, known: map[outcome]float64{}, choices: map[int]*big.Int{}}
}

// choose is C(m, k), 0 where m < k.
func (e *estimator) choose(m int) *big.Int {
	x, found := e.choices[m]
	if !found {
		x = new(big.Int)
		if m >= e.k {
			x.Binomial(int64(m), int64(e.k))
		}
		e.choices[m] = x
	}
	return x
}

// ways is how many of the C(n, k) ways to draw k of the n trials count: with passes only, or with at least one.
func (e *estimator) ways(c, n int) *big.Int {
	if e.all {
		return e.choose(c)
	}
	return new(big.Int).Sub(e.choose(n), e.choose(n-c))
}

// share is the estimate for one case: up to mostExact trials the float64 nearest to it.
func (e *estimator) share(c, n int) float64 {
	x, found := e.known[outcome{c, n}]
	if found {
		return x
	}
	switch {
	case n <= mostExact:
		x, _ = new(big.Rat).SetFrac(e.ways(c, n), e.choose(n)).Float64()
	case e.all:
		x = allOf(c, n, e.k)
	default:
		x = 1 - allOf(n-c, n, e.k)
	}
	e.known[outcome{c, n}] = x
	return x
}

// mean is the mean of the estimates over cases, of which there is one at least: an exact sum and one division where no
// case has more than mostExact trials.
func (e *estimator) mean(of outcomes) float64 {
	byTrials := map[int]*big.Int{} // the sum of ways by n; the fractions of one n have one denominator
	cases := 0
	for o, count := range of {
		cases += count
		if o.n > mostExact {
			return e.nearMean(of)
		}
		if byTrials[o.n] == nil {
			byTrials[o.n] = new(big.Int)
		}
		byTrials[o.n].Add(byTrials[o.n], new(big.Int).Mul(e.ways(o.c, o.n), big.NewInt(int64(count))))
	}
	total := new(big.Rat) // its denominator divides lcm(1, …, n), as every C(n, k) does
	for n, ways := range byTrials {
		total.Add(total, new(big.Rat).SetFrac(ways, e.choose(n)))
	}
	x, _ := total.Quo(total, new(big.Rat).SetInt64(int64(cases))).Float64()
	return x
}

// nearMean is the mean of the estimates as float64s, the same for any order of the cases.
func (e *estimator) nearMean(of outcomes) float64 {
	cases := 0
	list := make([]float64, 0, len(of))
	for o, count := range of {
		cases += count
		list = append(list, float64(float64(count)*e.share(o.c, o.n)))
	}
	slices.Sort(list)
	total := 0.0
	for _, x := range list {
		total += x
	}
	return total / float64(cases)
}

// allOf returns C(c, k)/C(n, k): the chance that k of n trials drawn without putting back are all among c of them. It is
// a product of quotients at most 1, so it cannot overflow; its relative error is below min(k, n−c)·2⁻⁵². 1 <= k <= n.
func allOf(c, n, k int) float64 {
	if c < k {
		return 0
	}
	// C(c, k)/C(n, k) = C(n−k, n−c)/C(n, n−c): the shorter product of the two.
	from, factors := c, k
	if n-c < k {
		from, factors = n-k, n-c
	}
	p := 1.0
	for i := range factors {
		p = float64(p * (float64(from-i) / float64(n-i)))
	}
	return p
}

// atMost are the k that a report lists of 1 to most: the first ten, powers of two, the last.
func atMost(most int) []int {
	var list []int
	for k := 1; k < most; k++ {
		if k > 10 {
			k = 1 << bits.Len(uint(k-1)) // the least power of two from k on
			if k >= most {
				break
			}
		}
		list = append(list, k)
	}
	if most > 0 {
		list = append(list, most)
	}
	return list
}

// difference measures how much better the candidate does: the mean over cases of its result minus the baseline's.
func (v *view) difference() (measured, error) {
	base, next := counted(v.side(baseline)), counted(v.side(candidate))
	m := measured{Measure: report.Measure{
		Metric: difference, Labels: v.label(), Scale: &report.Scale{Lower: -1, Upper: 1},
		Units: report.Int(len(v.cases)), UnitName: "cases", Missing: report.Int(base.missing + next.missing), LeftOut: v.leftOut(),
	}}
	low, high := make([]float64, len(v.cases)), make([]float64, len(v.cases))
	var lows, highs, estimates gate.Fractions
	estimated := 0
	// Of all trials: passes of the candidate and failures of the baseline.
	favourable := 0
	var steps []float64
	for i := range v.cases {
		c := &v.cases[i]
		steps = appendSteps(appendSteps(steps, c.sides[baseline]), c.sides[candidate])
		worst, best := v.extremes(c)
		low[i], high[i] = v.quotient(worst, c.n()), v.quotient(best, c.n())
		lows.AddBig(worst, c.n(), 1)
		highs.AddBig(best, c.n(), 1)
		b, x := c.sides[baseline], c.sides[candidate]
		if b.recorded > 0 && x.recorded > 0 {
			estimates.AddBig(x.sum, x.recorded, 1)
			estimates.AddBig(b.sum, b.recorded, -1)
			estimated++
		}
		if !v.scored {
			favourable += int(x.sum.Int64()) + b.recorded - int(b.sum.Int64())
		}
	}
	if estimated > 0 {
		m.Estimate = report.Number(estimates.OverBig(v.times(estimated)))
	}
	if n := len(v.cases); n > 0 {
		m.Completions = &report.Completions{Low: lows.OverBig(v.times(n)), High: highs.OverBig(v.times(n))}
	}
	ways := gate.Ways{Of: base.n + next.n, Unit: "trials", Low: v.against(), High: "passed by the candidate or failed by the baseline"}
	if v.scored {
		ways.High = "scored 1 in the candidate or 0 in the baseline"
	}
	var err error
	if v.pooled(base.least == base.most) {
		err = v.exactly(&m, interval.FixedListDifference, favourable, base.missing+next.missing, base.n+next.n, moreTrials, ways)
		trialUnits(&m, base.n+next.n, v.alike[baseline], v.alike[candidate])
	} else {
		err = v.mean(&m, low, high, base.recorded+next.recorded, interval.Difference, steps, ways)
	}
	v.finish(&m, estimated, len(v.cases))
	if estimated == 0 {
		m.doubts.Undecided = v.noPair()
	}
	return m, err
}

// against says what a trial is that speaks against the candidate.
func (v *view) against() string {
	if v.scored {
		return "scored 0 in the candidate or 1 in the baseline"
	}
	return "failed by the candidate or passed by the baseline"
}

// extremes returns the least and the greatest sum of a case's results in the candidate minus that in the baseline, over
// all ways to complete the missing trials.
func (v *view) extremes(c *pairing) (worst, best *big.Int) {
	b, x := c.sides[baseline], c.sides[candidate]
	return new(big.Int).Sub(x.sum, v.best(b)), new(big.Int).Sub(v.best(x), b.sum)
}

// leftOut lists why cases are left out of the slice.
func (v *view) leftOut() []report.LeftOut {
	return gate.LeftOut("the column of `where` is not recorded", v.unknown)
}

// mean gives a measure the interval of a mean over cases, of which so many trials are recorded. steps are how far each missing
// trial can move its case, ways what trials can be.
func (v *view) mean(m *measured, low, high []float64, recorded int, scale interval.Scale, steps []float64, ways gate.Ways) error {
	iv, broken, err := gate.Mean(low, high, scale, len(low), v.judging)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Metric, err)
	}
	m.Interval = report.PublishInterval(iv)
	m.Conditions = v.conditions(iv)
	m.units, m.grows = gate.NewPart("", low, high, recorded), gate.GrowsEither
	if v.fixed { // a list that grows has another mean at each look
		m.grows = gate.GrowsDecisions
	}
	if broken != "" {
		m.doubts.Review = "The plan is broken: " + broken + "."
	}
	sample := gate.MeanSample{Low: low, High: high, Scale: scale, Enrolled: len(low), Unit: "cases", Fixed: v.planned || v.fixed, Completions: m.Completions}
	if v.fixed { // whose cases are not drawn
		sample.Anew = moreCases
	}
	m.need = func(t report.Threshold) *report.Needs { return sample.Needs(t, v.judging) }
	m.tip = func(t report.Threshold) (*report.TippingPoint, error) { return sample.Tip(ways, steps, t, v.judging) }
	return nil
}

// conditions says when an interval over cases holds.
func (v *view) conditions(iv interval.Interval) string {
	if v.fixed {
		return "Holds for independent trials of this fixed list of cases, at one look; over repeated looks only while the list stays as it is and its cases gain trials whose number does not depend on their results."
	}
	return gate.Conditions(iv, "cases", v.judging)
}

// caseUnits gives a measure the interval of a rate of cases that are 0 or 1: exact, or the sequence.
func (v *view) caseUnits(m *measured, k, missing, n int) error {
	iv, err := gate.Rate(k, missing, n, v.judging)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Metric, err)
	}
	m.Interval = report.PublishInterval(iv)
	m.Conditions = v.conditions(iv)
	m.units, m.grows = gate.CountPart("", k, missing, n), gate.GrowsUnits
	if v.fixed {
		m.grows = gate.GrowsDecisions
	}
	m.need = func(t report.Threshold) *report.Needs { return gate.RateNeeds(k, missing, n, "cases", t, v.judging) }
	if v.fixed { // whose cases are not drawn
		m.need = func(t report.Threshold) *report.Needs { return ofList(k, missing, n, "cases", moreCases, t, v.judging) }
	}
	return nil
}

// ofFixedList says when an exact interval over the trials of a fixed list holds.
const ofFixedList = "Exact for independent trials of this fixed list of cases, whose chances may differ, at one look; it says nothing of other cases."

// exactly gives a measure the interval of a fixed list over k of n results, missing of which are not recorded. what is
// what a longer run would need more of, ways what trials can be.
func (v *view) exactly(m *measured, method fixedList, k, missing, n int, what string, ways gate.Ways) error {
	iv, err := method(k, missing, n, v.judging.Confidence.Value)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Metric, err)
	}
	m.Interval, m.Conditions = report.PublishInterval(iv), ofFixedList
	m.tip = v.tipCounts(ways, k, missing, n, method)
	m.units = gate.CountPart("", k, missing, n)
	m.need = func(t report.Threshold) *report.Needs {
		if m.Metric == difference {
			t.Value = (t.Value + 1) / 2 // of the mean chance q that the difference 2q − 1 is made from
		}
		return ofList(k, missing, n, m.UnitName, what, t, v.judging)
	}
	return nil
}

// ofList says what would decide a rule on k of n results of a fixed list of cases; what is what a longer run has more of.
func ofList(k, missing, n int, unit, what string, t report.Threshold, j policy.Judging) *report.Needs {
	if n == 0 {
		return &report.Needs{What: "recorded " + unit}
	}
	s := gate.RateSizing(k, missing, n, unit, t, j)
	s.Tell = func(units int) report.Needs { return report.Needs{What: what, AtLeast: gate.Rounded(units)} }
	s.Beside = nil // more of one list cannot be looked at again and again
	return s.Needs(t)
}

// fixedList is interval.FixedListRate or interval.FixedListDifference.
type fixedList func(k, missing, n int, confidence float64) (interval.Interval, error)

// What a run on a fixed list would need more of.
const (
	moreTrials = "trials in all, in a new run on the same cases"
	moreCases  = "cases in a longer list, fixed beforehand"
)

// trialUnits makes n trials the units of a measure, which is a person's to decide where those of a version look like copies.
// Where they can once what is missing is recorded, there is no tipping point: then not all that decides is in the interval.
func trialUnits(m *measured, n int, versions ...alike) {
	m.Units, m.UnitName = report.Int(n), "trials"
	if slices.ContainsFunc(versions, alike.mayLookCopied) {
		m.tip = nil
	}
	if at := slices.IndexFunc(versions, alike.copied); at >= 0 {
		same := versions[at]
		m.doubts.Review = "In " + same.told() + " all trials of a version have the same result, as copies of one cached run would, and then trials are not independent: a person must decide."
		m.Caution = "Too narrow if the trials are copies of one cached run, as they look."
	} else if at := slices.IndexFunc(versions, alike.repeated); at >= 0 {
		m.doubts.Review = versions[at].multiples() + fmt.Sprintf(", as where the results of one run are in the files %d times, and then trials are not independent: a person must decide.", versions[at].times)
		m.Caution = "Too narrow if the results are in the files more than once, as it looks."
	}
}

// finish says what a measure's estimate rests on, and where nothing was evaluated.
func (v *view) finish(m *measured, estimated, cases int) {
	switch {
	case estimated == 0:
		m.doubts.Undecided = gate.Doubtful("Nothing was evaluated: no case has enough recorded trials.", "recorded trials")
	case estimated < cases:
		m.Conditions += fmt.Sprintf(" The estimate rests on %d of the %d cases: the others have too few recorded trials.", estimated, cases)
	}
}

// versionMeasures lists the measures of one version.
func (v *view) versionMeasures(name string, list []attempts, same alike) ([]measured, error) {
	own, err := v.rate(name, list, same)
	if err != nil {
		return nil, err
	}
	measures := []measured{own}
	if v.scored {
		return measures, nil
	}
	for _, metric := range []string{passAtK, passAllK} {
		for _, k := range atMost(counted(list).least) {
			m, err := v.passK(metric, k, name, list)
			if err != nil {
				return nil, err
			}
			measures = append(measures, m)
		}
	}
	return measures, nil
}
