package oracle

import (
	"cmp"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
)

// trialRow is a row of a file of trials. Empty is not recorded.
type trialRow struct {
	version, kase, trial string
	result               string   // as written: passed or score
	value                *big.Rat // nil: the trial did not finish
	level                string   // a column that rules may name under where
}

// compareStudy is what the compare gate is given.
type compareStudy struct {
	rows                  []trialRow
	scores                bool // score in place of passed
	fixed                 bool // case_list: fixed
	planCases, planTrials int  // 0: no plan
	baseline, candidate   string
}

// oneCase is what is known of a case in a version: the recorded results and how many trials it has in all.
type oneCase struct {
	recorded []*big.Rat
	trials   int
}

func (c oneCase) missing() int { return c.trials - len(c.recorded) }

// low and high are the sum of the results, the missing at 0 and at 1.
func (c oneCase) low() *big.Rat  { return sum(c.recorded) }
func (c oneCase) high() *big.Rat { return new(big.Rat).Add(c.low(), big.NewRat(int64(c.missing()), 1)) }

// over is a sum of results as a share of all trials.
func (c oneCase) over(sum *big.Rat) *big.Rat {
	return new(big.Rat).Quo(sum, big.NewRat(int64(c.trials), 1))
}

// own is the mean of the recorded results, of which there is at least one.
func (c oneCase) own() *big.Rat {
	return new(big.Rat).Quo(sum(c.recorded), big.NewRat(int64(len(c.recorded)), 1))
}

// bothCases is a case in the baseline and in the candidate.
type bothCases struct {
	name                string
	baseline, candidate oneCase
	level               string // "" where no row records it
}

// cases lists the cases of both versions, each with as many trials in both as the one, or the plan, has that has more.
func (s compareStudy) cases() []bothCases {
	names := map[string]bool{}
	for _, r := range s.rows {
		if r.version == s.baseline || r.version == s.candidate {
			names[r.kase] = true
		}
	}
	var all []bothCases
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c := bothCases{name: name}
		read := func(version string) (one oneCase) {
			for _, r := range s.rows {
				if r.version == version && r.kase == name {
					one.trials++
					if r.value != nil {
						one.recorded = append(one.recorded, r.value)
					}
				}
			}
			return one
		}
		c.baseline, c.candidate = read(s.baseline), read(s.candidate)
		for _, r := range s.rows { // of any version: it is the case's
			if r.kase == name {
				c.level = cmp.Or(c.level, r.level)
			}
		}
		most := max(c.baseline.trials, c.candidate.trials, s.planTrials)
		c.baseline.trials, c.candidate.trials = most, most
		all = append(all, c)
	}
	return all
}

// planBroken tells whether the file has other numbers than the plan: more trials, or more or fewer cases.
func (s compareStudy) planBroken() bool {
	if s.planCases == 0 {
		return false
	}
	all := s.cases()
	return len(all) != s.planCases || slices.ContainsFunc(all, func(c bothCases) bool { return c.baseline.trials > s.planTrials })
}

// compareRule is a rule of the compare gate.
type compareRule struct {
	id, metric string
	ruleOptions
	k          int
	ofBaseline bool
	level      string // where: {level: …}
}

// slice is the cases of the rule's where, and how many record no level.
func (r compareRule) slice(all []bothCases) (in []bothCases, unrecorded int) {
	for _, c := range all {
		switch {
		case r.level != "" && c.level == "":
			unrecorded++
		case r.level == "" || c.level == r.level:
			in = append(in, c)
		}
	}
	return in, unrecorded
}

// alikeOften tells whether all cases have the same number of trials.
func alikeOften(all []bothCases) bool {
	return !slices.ContainsFunc(all, func(c bothCases) bool { return c.baseline.trials != all[0].baseline.trials })
}

// evaluate measures what a rule is about.
func (s compareStudy) evaluate(r compareRule) (e evaluated, signs *signCounts) {
	all, unrecorded := r.slice(s.cases())
	switch r.metric {
	case "sign_test":
		e, signs = s.signs(r, all)
	case "pass_rate_difference":
		e = s.difference(r, all)
	default:
		e = s.oneVersion(r, all)
	}
	e.Metric, e.Labels = r.metric, map[string]string{}
	if r.level != "" {
		e.Labels["where"] = "level=" + r.level
	}
	if r.k > 0 {
		e.Labels["k"] = strconv.Itoa(r.k)
	}
	if r.metric != "sign_test" && r.metric != "pass_rate_difference" {
		e.Labels["version"] = s.candidate
		if r.ofBaseline {
			e.Labels["version"] = s.baseline
		}
	}
	if unrecorded > 0 {
		e.LeftOut = []LeftOut{{noColumn, unrecorded}}
	}
	if tooMany(unrecorded, unrecorded+len(all), r.maxLeftOut) && e.insufficient == "" {
		e.insufficient = "left out"
	}
	if s.planBroken() {
		e.review = "plan broken"
	}
	return e, signs
}

// missingTrials counts the missing trials of both versions.
func missingTrials(all []bothCases) (n int) {
	for _, c := range all {
		n += c.baseline.missing() + c.candidate.missing()
	}
	return n
}

// difference is pass_rate_difference.
func (s compareStudy) difference(r compareRule, all []bothCases) (e evaluated) {
	var worst, best, seen []*big.Rat
	for _, c := range all {
		worst = append(worst, new(big.Rat).Sub(c.candidate.over(c.candidate.low()), c.baseline.over(c.baseline.high())))
		best = append(best, new(big.Rat).Sub(c.candidate.over(c.candidate.high()), c.baseline.over(c.baseline.low())))
		if len(c.baseline.recorded) > 0 && len(c.candidate.recorded) > 0 {
			seen = append(seen, new(big.Rat).Sub(c.candidate.own(), c.baseline.own()))
		}
	}
	e.Units, e.Missing = count(len(all)), count(missingTrials(all))
	e.mean(r.ruleOptions, worst, best, seen, len(all), true)
	if len(all) > 0 {
		e.Completions = &Completions{mean(worst), mean(best)}
	}
	if s.fixed && !s.scores && alikeOften(all) && r.looks == "" {
		// passes of the candidate and failures of the baseline, among all trials of both
		var pooled tallied
		for _, c := range all {
			for _, v := range c.candidate.recorded {
				pooled.add(answered(v.Sign() > 0))
			}
			for _, v := range c.baseline.recorded {
				pooled.add(answered(v.Sign() == 0))
			}
			for range c.baseline.missing() + c.candidate.missing() {
				pooled.add(unknown)
			}
		}
		e.Units = count(pooled.all)
		lower, upper := fixedRate(pooled, alpha(r.confidence))
		lower, upper = 2*lower-1, 2*upper-1
		e.lower, e.upper = lower, upper
		e.Interval = &Interval{Lower: &lower, Upper: &upper, Confidence: confidence(r.confidence), Method: "clopper-pearson", Looks: "one"}
		if s.copies(all, true) || s.copies(all, false) || s.twice(true) || s.twice(false) {
			e.review = "copies of one run"
		}
	}
	if len(seen) == 0 {
		e.insufficient = nothingThere
	}
	return e
}

// fixedRate is the exact interval of independent results of different chances: Clopper-Pearson, but for the lower end of
// one event and the upper end of all but one.
func fixedRate(t tallied, a float64) (lower, upper float64) {
	if t.all == 0 {
		return 0, 1
	}
	lower, upper = rateLower(t.events, t.all, a), rateUpper(t.events+t.missing, t.all, a)
	if t.events == 1 {
		lower = a / float64(t.all)
	}
	if t.events+t.missing == t.all-1 {
		upper = 1 - a/float64(t.all)
	}
	return lower, upper
}

// copies tells whether the trials of a version look like copies of one run: no two of a case differ, in all cases, or in 19
// of 20 of at least ten, while cases differ.
func (s compareStudy) copies(all []bothCases, ofBaseline bool) bool {
	several, alike := 0, 0
	values := map[string]bool{}
	for _, c := range all {
		one := c.candidate
		if ofBaseline {
			one = c.baseline
		}
		own := map[string]bool{}
		for _, v := range one.recorded {
			own[v.RatString()] = true
		}
		if len(own) == 1 { // whether cases differ is asked of these
			maps.Copy(values, own)
		}
		if len(one.recorded) > 1 {
			several++
			if len(own) == 1 {
				alike++
			}
		}
	}
	return several > 0 && len(values) > 1 && (alike == several || several >= 10 && 20*alike >= 19*several)
}

// twice tells whether the results of a version look as if they stood there several times over, by themselves or together with the other
// version's: for some number, every case has a multiple of it as results and as passes, ten cases with passes and failures among them.
func (s compareStudy) twice(ofBaseline bool) bool {
	all := s.cases()
	for d := 2; d <= 1000; d++ {
		mixed, multiples := [2]int{}, [2]bool{true, true}
		for _, c := range all {
			for i, one := range []oneCase{c.baseline, c.candidate} {
				passed := 0
				for _, v := range one.recorded {
					passed += v.Sign()
				}
				multiples[i] = multiples[i] && len(one.recorded)%d == 0 && passed%d == 0
				if passed > 0 && passed < len(one.recorded) {
					mixed[i]++
				}
			}
		}
		own := 1
		if ofBaseline {
			own = 0
		}
		if multiples[own] && mixed[own] >= 10 || multiples[0] && multiples[1] && mixed[0]+mixed[1] >= 10 {
			return true
		}
	}
	return false
}

// choose is C(n, k).
func choose(n, k int) *big.Int { return new(big.Int).Binomial(int64(n), int64(k)) }

// passValue is a case's value of pass_at_k or pass_all_k with c passes among n trials: the share of choices of k of them with
// a pass, or with passes only.
func passValue(metric string, c, n, k int) *big.Rat {
	if metric == "pass_all_k" {
		return new(big.Rat).SetFrac(choose(c, k), choose(n, k))
	}
	return new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).SetFrac(choose(n-c, k), choose(n, k)))
}

// passes counts the passes of a case, whose results are 0 or 1.
func (c oneCase) passes() int { return int(c.low().Num().Int64()) }

// oneVersion is rate, pass_at_k or pass_all_k.
func (s compareStudy) oneVersion(r compareRule, all []bothCases) (e evaluated) {
	var worst, best, seen []*big.Rat
	missing, trials := 0, 0
	recorded := []*big.Rat{}
	var cases, pooled tallied // of cases that are 0 or 1, and of trials
	everyK := true
	for _, both := range all {
		c := both.candidate
		if r.ofBaseline {
			c = both.baseline
		}
		missing, trials = missing+c.missing(), trials+c.trials
		recorded = append(recorded, c.recorded...)
		var low, high, own *big.Rat
		if r.metric == "rate" {
			low, high = c.over(c.low()), c.over(c.high())
			if len(c.recorded) > 0 {
				own = c.own()
			}
			everyK = everyK && c.trials == 1
		} else {
			n, k := c.trials, r.k
			low, high = passValue(r.metric, c.passes(), n, k), passValue(r.metric, c.passes()+c.missing(), n, k)
			switch {
			case len(c.recorded) >= k:
				own = passValue(r.metric, c.passes(), len(c.recorded), k)
			case low.Cmp(high) == 0:
				own = low
			}
			everyK = everyK && n == k
		}
		worst, best = append(worst, low), append(best, high)
		if own != nil {
			seen = append(seen, own)
		}
		one := unknown
		if low.Cmp(high) == 0 {
			one = answered(low.Sign() > 0)
		}
		cases.add(one)
		for _, v := range c.recorded {
			pooled.add(answered(v.Sign() > 0))
		}
		for range c.missing() {
			pooled.add(unknown)
		}
	}
	e.Units, e.Missing = count(len(all)), count(missing)
	exact := everyK && !s.scores && len(all) > 0
	a := alpha(r.confidence)
	switch {
	case exact && r.looks != "once":
		e.pooled(cases, r.ruleOptions)
		if s.fixed && r.looks == "" {
			e.lower, e.upper = fixedRate(cases, a)
			e.Interval.Lower, e.Interval.Upper = number(e.lower), number(e.upper)
		}
	case r.metric == "rate" && s.fixed && !s.scores && alikeOften(all) && r.looks == "":
		e.pooled(pooled, r.ruleOptions)
		e.lower, e.upper = fixedRate(pooled, a)
		e.Interval.Lower, e.Interval.Upper = number(e.lower), number(e.upper)
		if s.copies(all, r.ofBaseline) || s.twice(r.ofBaseline) {
			e.review = "copies of one run"
		}
	default:
		e.mean(r.ruleOptions, worst, best, seen, len(all), false)
		if exact {
			e.Numerator, e.Denominator, e.Missing = count(cases.events), count(cases.all), count(cases.missing)
		}
	}
	e.Estimate, e.Completions = nil, nil
	if len(seen) > 0 {
		e.Estimate = number(mean(seen))
	} else {
		e.insufficient = nothingThere
	}
	if len(all) > 0 {
		e.Completions = &Completions{mean(worst), mean(best)}
	}
	if r.metric == "rate" {
		e.Numerator, e.Denominator = nil, nil
		if !s.scores {
			e.Numerator, e.Denominator = count(pooled.events), count(trials)
		}
		if len(recorded) > 0 {
			p, n := mean(recorded), float64(len(recorded))
			off := 2 * math.Sqrt(p*(1-p)/n)
			if !s.scores {
				e.Beside = []Beside{{Method: "two-standard-errors", Lower: p - off, Upper: p + off}}
			}
		}
	}
	return e
}

// signCounts are cases by the direction in which they moved, under one completion of the missing trials.
type signCounts struct{ better, worse int }

// signs is the sign test.
func (s compareStudy) signs(r compareRule, all []bothCases) (e evaluated, lowest *signCounts) {
	low, high := signCounts{}, signCounts{}
	better, worse, equal, seen := 0, 0, 0, 0
	var downOrEqual, equalOrUp, any int // cases whose sign is open
	for _, c := range all {
		least := c.candidate.low().Cmp(c.baseline.high())
		most := c.candidate.high().Cmp(c.baseline.low())
		low.count(least)
		high.count(most)
		switch {
		case least > 0:
			better++
		case most < 0:
			worse++
		case least == 0 && most == 0:
			equal++
		case most == 0:
			downOrEqual++
		case least == 0:
			equalOrUp++
		default:
			any++
		}
		if len(c.baseline.recorded) > 0 && len(c.candidate.recorded) > 0 {
			seen++
		}
	}
	p := func(c signCounts) *big.Rat {
		if r.looks != "repeated" {
			return signTest(c.better, c.worse)
		}
		return signTestRepeated(c.better, c.worse)
	}
	// The largest p over all completions; where they can make either side the larger, it is 1.
	largest := new(big.Rat)
	for down := range downOrEqual + 1 {
		for up := range equalOrUp + 1 {
			for anyUp := range any + 1 {
				for anyDown := range any - anyUp + 1 {
					if q := p(signCounts{better + up + anyUp, worse + down + anyDown}); q.Cmp(largest) > 0 {
						largest = q
					}
				}
			}
		}
	}
	if low.worse > low.better && high.better > high.worse {
		largest = big.NewRat(1, 1)
	}
	e.PValue = number(float(largest))
	e.Better, e.Worse, e.Equal = count(better), count(worse), count(equal)
	e.Units, e.Missing, e.Method = count(len(all)), count(missingTrials(all)), "sign-test"
	level := new(big.Rat).Sub(big.NewRat(1, 1), decimal(r.confidence))
	switch {
	case seen == 0:
		e.insufficient = nothingThere
	case p(low).Cmp(level) < 0 && low.better > low.worse:
		e.lower = 1
	case p(high).Cmp(level) < 0 && high.worse > high.better:
		e.lower = -1
	}
	return e, &low
}

func (c *signCounts) count(sign int) {
	switch {
	case sign > 0:
		c.better++
	case sign < 0:
		c.worse++
	}
}

// signTestRepeated is the p of many looks: min(1, 2/E), E the integral of (1 + θ) to the larger number times (1 - θ) to the
// smaller over θ from 0 to 1. The polynomial is multiplied out and integrated exactly.
func signTestRepeated(better, worse int) *big.Rat {
	more, fewer := max(better, worse), min(better, worse)
	e := new(big.Rat)
	for i := range more + 1 {
		for j := range fewer + 1 {
			term := new(big.Int).Mul(choose(more, i), choose(fewer, j))
			if j%2 == 1 {
				term.Neg(term)
			}
			e.Add(e, new(big.Rat).SetFrac(term, big.NewInt(int64(i+j+1))))
		}
	}
	p := new(big.Rat).Quo(big.NewRat(2, 1), e)
	if p.Cmp(big.NewRat(1, 1)) > 0 {
		return big.NewRat(1, 1)
	}
	return p
}

// decide is a rule's verdict.
func (s compareStudy) decide(r compareRule) Rule {
	e, signs := s.evaluate(r)
	if signs == nil {
		verdict, why, byInterval, close := r.verdict(e)
		return r.finish(r.id, e, verdict, why, byInterval, close)
	}
	verdict, why := Insufficient, "the sign test: uncertain"
	switch {
	case e.insufficient != "":
		why = e.insufficient
	case e.review != "":
		verdict, why = Review, e.review
	case e.lower > 0:
		verdict, why = Pass, "the sign test: better"
	case e.lower < 0:
		verdict, why = Fail, "the sign test: worse"
	}
	return r.finish(r.id, e, verdict, why, false, false)
}

// listedK are the numbers of trials that a report lists: 1 to 10, then powers of two, then the last.
func listedK(last int) []int {
	var all []int
	for k := 1; k <= last; k++ {
		if k <= 10 || k&(k-1) == 0 || k == last {
			all = append(all, k)
		}
	}
	return all
}

// want is the gate's section of the report.
func (s compareStudy) want(rules []compareRule, top ruleOptions) Gate {
	g := Gate{Gate: "compare"}
	all := s.cases()
	measure := func(metric string, k int, ofBaseline bool) {
		r := compareRule{metric: metric, k: k, ofBaseline: ofBaseline, ruleOptions: top}
		if metric == "sign_test" && top.looks == "once" {
			r.looks = ""
		}
		e, _ := s.evaluate(r)
		g.Measures = append(g.Measures, e.Measure)
	}
	measure("sign_test", 0, false)
	measure("pass_rate_difference", 0, false)
	least := math.MaxInt
	for _, c := range all {
		least = min(least, c.baseline.trials)
	}
	for _, ofBaseline := range []bool{true, false} {
		measure("rate", 0, ofBaseline)
		if !s.scores {
			for _, metric := range []string{"pass_at_k", "pass_all_k"} {
				for _, k := range listedK(least) {
					measure(metric, k, ofBaseline)
				}
			}
		}
	}
	for _, r := range rules {
		g.Rules = append(g.Rules, s.decide(r))
	}
	n := map[string]int{}
	versions := map[string]bool{}
	other, unfinished := 0, 0
	for _, r := range s.rows {
		versions[r.version] = true
		switch {
		case r.version != s.baseline && r.version != s.candidate:
			other++
		case r.value == nil:
			unfinished++
		}
	}
	absentB, absentC := 0, 0
	rowsOf := func(version, kase string) (n int) {
		for _, r := range s.rows {
			if r.version == version && r.kase == kase {
				n++
			}
		}
		return n
	}
	trials, both, onlyB, onlyC := 0, 0, 0, 0
	for _, c := range all {
		b, d := rowsOf(s.baseline, c.name), rowsOf(s.candidate, c.name)
		trials += 2 * c.baseline.trials
		absentB, absentC = absentB+c.baseline.trials-b, absentC+c.baseline.trials-d
		switch {
		case b == 0:
			onlyC++
		case d == 0:
			onlyB++
		default:
			both++
		}
	}
	n["unfinished_trials"] = unfinished
	g.Exact = append(g.Exact, "plan_broken")
	perVersion := func(code string, counts ...int) { // one finding for each version
		g.Exact = append(g.Exact, code)
		for _, found := range counts {
			if found > 0 {
				g.Findings = append(g.Findings, Finding{code, found})
			}
		}
	}
	perVersion("cases_in_one_version", onlyB, onlyC)
	perVersion("absent_trials", absentB, absentC)
	if s.planCases == 0 {
		n["no_plan"] = 1
	}
	for code, found := range n {
		g.Exact = append(g.Exact, code)
		if found > 0 {
			g.Findings = append(g.Findings, Finding{code, found})
		}
	}
	if s.planBroken() {
		g.Findings = append(g.Findings, Finding{"plan_broken", anyCount})
	}
	g.Count = map[string]int{"rows": len(s.rows), "versions": len(versions), "cases": len(all), "trials": trials,
		"missing_trials": missingTrials(all), "cases_in_both_versions": both, "cases_baseline_only": onlyB, "cases_candidate_only": onlyC, "other_rows": other}
	return g
}
