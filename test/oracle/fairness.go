package oracle

import (
	"fmt"
	"math"
	"math/big"

	"slices"
	"strings"
)

// The fairness gate, worked out again from the definitions: for each rule the
// list of its cases, for each case and group all that the case may be, and
// every pair of groups by itself.

// unrecorded stands for a label or a prediction that is not recorded.
const unrecorded = -1

// screened is one row of a file of decided cases.
type screened struct {
	id                string
	label, prediction int
	probability       string // "" where there is none
	columns           map[string]string
}

// attribute is a declared attribute: its values, or where its numbers are cut.
type attribute struct {
	name   string
	values []string
	cuts   []int
}

// groups are the names of the attribute's groups, in declared order.
func (a attribute) groups() []string {
	if a.cuts == nil {
		return a.values
	}
	names := []string{fmt.Sprintf("under_%d", a.cuts[0])}
	for i := 1; i < len(a.cuts); i++ {
		names = append(names, fmt.Sprintf("%d_to_%d", a.cuts[i-1], a.cuts[i]))
	}
	return append(names, fmt.Sprintf("over_%d", a.cuts[len(a.cuts)-1]))
}

// groupOf is the group of a recorded value; where there is none, why says so.
func (a attribute) groupOf(value string) (group, why string) {
	if value == "" {
		return "", a.name + " is empty"
	}
	if a.cuts == nil {
		if slices.Contains(a.values, value) {
			return value, ""
		}
		return "", a.name + " is not a declared value"
	}
	x, below := decimal(value), 0
	for _, cut := range a.cuts {
		if x.Cmp(big.NewRat(int64(cut), 1)) >= 0 {
			below++
		}
	}
	return a.groups()[below], ""
}

// fairRule is a rule of the declaration. Texts are as written there; "" is not said.
type fairRule struct {
	id, rate           string
	attributes         []string
	kind               string // max_group_gap, min_group_ratio, minimum, maximum (these two of worst_group)
	threshold          string
	confidence         string
	maxLeftOut         string
	pairwise, repeated bool
	advisory           bool
	waivedUntil        string
	where              []whereIs
}

// whereIs is one column of a slice and the value it must have.
type whereIs struct{ column, value string }

// fairStudy is a file of cases and a declaration, with the memory of bounds already computed.
type fairStudy struct {
	cases      []screened
	attributes []attribute
	crossings  [][]string
	minCell    int
	bins       int
	confidence string // of the section; "" is 0.95
	repeated   bool   // of the section
	adjust     string
	withProb   bool
	unit       bool
	rules      []fairRule
	memory     map[boundOf]float64
}

type boundOf struct {
	upper    bool
	k, n     int
	a        float64
	repeated bool
}

// The rates, in the order of the documents.
var fairRates = []string{
	"error", "accuracy", "selection", "false_positive", "true_negative", "false_negative", "true_positive",
	"precision", "false_discovery", "false_omission", "negative_predictive_value",
}

// What a case is to a rate.
const (
	out      = iota // not in its denominator
	noEvent         // in it, and not counted
	anEvent         // in it, and counted
	outcomes        // how many there are
)

// outcome is what a case whose label and prediction are known is to a rate.
// Of selection, the label plays no part.
func outcome(rate string, label, prediction int) int {
	in, event := true, false
	switch rate {
	case "error":
		event = prediction != label
	case "accuracy":
		event = prediction == label
	case "selection":
		event = prediction == 1
	case "false_positive":
		in, event = label == 0, prediction == 1
	case "true_negative":
		in, event = label == 0, prediction == 0
	case "false_negative":
		in, event = label == 1, prediction == 0
	case "true_positive":
		in, event = label == 1, prediction == 1
	case "precision":
		in, event = prediction == 1, label == 1
	case "false_discovery":
		in, event = prediction == 1, label == 0
	case "false_omission":
		in, event = prediction == 0, label == 1
	case "negative_predictive_value":
		in, event = prediction == 0, label == 0
	default:
		panic("oracle: no rate " + rate)
	}
	switch {
	case !in:
		return out
	case event:
		return anEvent
	}
	return noEvent
}

// needsLabel tells whether a case without a label is left out of a rate.
func needsLabel(rate string) bool { return rate != "selection" }

// countsPredictions tells whether a rate's denominator is made of predictions.
func countsPredictions(rate string) bool {
	return slices.Contains(fairRates[7:], rate)
}

// mayBe tells what a case may be to a rate, over all that its label and its
// prediction may be.
func mayBe(rate string, label, prediction int) (may [outcomes]bool) {
	all := func(known int) []int {
		if known == unrecorded {
			return []int{0, 1}
		}
		return []int{known}
	}
	for _, l := range all(label) {
		for _, p := range all(prediction) {
			may[outcome(rate, l, p)] = true
		}
	}
	return may
}

// fraction is k among n.
type fraction struct{ k, n int }

func (r *fraction) add(what int) {
	if what != out {
		r.n++
	}
	if what == anEvent {
		r.k++
	}
}

// share is k/n, and nil where n is 0.
func (r fraction) share() *float64 {
	if r.n == 0 {
		return nil
	}
	return number(float(big.NewRat(int64(r.k), int64(r.n))))
}

// first is the first of the outcomes that may be.
func first(may [outcomes]bool, order ...int) int {
	for _, what := range order {
		if may[what] {
			return what
		}
	}
	panic("oracle: nothing may be")
}

// groupTally is one group's tally for a rate: what is recorded, how many may
// count and are not recorded, and the completions by which each end is found
// (audit 5c: for the lower end no event if it can be none, else out, else an
// event; for the upper end the mirror image).
type groupTally struct {
	recorded  fraction
	missing   int
	low, high fraction
}

func (g *groupTally) add(rate string, c screened) {
	may := mayBe(rate, c.label, c.prediction)
	g.low.add(first(may, noEvent, out, anEvent))
	g.high.add(first(may, anEvent, out, noEvent))
	if c.prediction != unrecorded {
		g.recorded.add(first(may, noEvent, out, anEvent))
	} else if may[anEvent] || may[noEvent] {
		g.missing++
	}
}

// addLeftOut adds a case that was left out and may be in the group, or not.
func (g *groupTally) addLeftOut(rate string, c screened, surelyHere bool) {
	may := mayBe(rate, c.label, c.prediction)
	may[out] = may[out] || !surelyHere
	g.low.add(first(may, noEvent, out, anEvent))
	g.high.add(first(may, anEvent, out, noEvent))
}

// bound is one end of the interval of a rate at the error a.
func (s *fairStudy) bound(upper bool, r fraction, a float64, repeated bool) float64 {
	key := boundOf{upper, r.k, r.n, a, repeated}
	if b, found := s.memory[key]; found {
		return b
	}
	var b float64
	switch {
	case repeated && r.n == 0:
		b = map[bool]float64{true: 1}[upper]
	case repeated:
		ones := r.k
		if upper {
			ones = r.n - r.k
		}
		b = coinMixture(ones, r.n, a)
		if upper {
			b = 1 - b
		}
	case upper:
		b = rateUpper(r.k, r.n, a)
	default:
		b = rateLower(r.k, r.n, a)
	}
	s.memory[key] = b
	return b
}

// coinMixture is the lower end of the sequence for k ones and n-k zeros: the
// largest m at which the integral of (1-θ)^(n-k)·(1-θ+θ/m)^k over θ from 0 to 1
// is at least 1/a. With q = m + θ(1-m) it is, by audit 4, the probability that
// a fair draw from the Beta(k+1, n-k+1) law is above m, which is that of at
// most k events among n+1, over (n+1)·C(n,k)·(1-m)·m^k·(1-m)^(n-k).
func coinMixture(k, n int, a float64) float64 {
	if k == 0 {
		return 0
	}
	return bisect(0, 1, func(m float64) bool {
		logE := math.Log(binomialAtMost(n+1, k, m)) - math.Log(float64(n+1)) - logBinomial(n, k, m) - math.Log1p(-m)
		return logE >= -math.Log(a)
	})
}

// fairGroup is a group of a rule.
type fairGroup struct {
	name  string
	tally groupTally
	small bool
	// unlabelled are its cases that were left out for their label.
	unlabelled int
	lo, hi     float64
	leftOut    groupTally // with the cases that were left out
	loL, hiL   float64    // its ends with them
}

// attributeNamed finds a declared attribute.
func (s *fairStudy) attributeNamed(name string) attribute {
	for _, a := range s.attributes {
		if a.name == name {
			return a
		}
	}
	panic("oracle: no attribute " + name)
}

// groupNames are the groups of an attribute or of a crossing, in declared order.
func (s *fairStudy) groupNames(attributes []string) []string {
	names := []string{""}
	for i, a := range attributes {
		var longer []string
		for _, before := range names {
			for _, g := range s.attributeNamed(a).groups() {
				if i > 0 {
					g = before + " × " + g
				}
				longer = append(longer, g)
			}
		}
		names = longer
	}
	return names
}

// groupOf is a case's group in an attribute or a crossing, or why it has none.
func (s *fairStudy) groupOf(c screened, attributes []string) (group, why string) {
	var parts []string
	for _, name := range attributes {
		part, why := s.attributeNamed(name).groupOf(c.columns[name])
		if why != "" {
			return "", why
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " × "), ""
}

// slice tells whether a case is outside of a rule's slice, or why that cannot be told.
func (s *fairStudy) slice(c screened, where []whereIs) (outside bool, why string) {
	for _, w := range where {
		value := c.columns[w.column]
		declared := slices.ContainsFunc(s.attributes, func(a attribute) bool { return a.name == w.column })
		switch {
		case value == "":
			why = "a column of where is empty" // which is looked for first
		case declared && s.attributeNamed(w.column).cuts == nil && !slices.Contains(s.attributeNamed(w.column).values, value):
			if why == "" {
				why = "a column of where is not a declared value"
			}
		case value != w.value:
			return true, ""
		}
	}
	return false, why
}

// level is the confidence of a rule or of the section, exactly.
func (s *fairStudy) level(rule string) *big.Rat {
	for _, text := range []string{rule, s.confidence} {
		if text != "" {
			return decimal(text)
		}
	}
	return decimal("0.95")
}

// divided is 1 - confidence over the number of rules that share it, rounded down to ten digits where there are several.
func divided(confidence *big.Rat, rules int) *big.Rat {
	alpha := new(big.Rat).Sub(big.NewRat(1, 1), confidence)
	if rules == 1 {
		return alpha
	}
	alpha.Quo(alpha, big.NewRat(int64(rules), 1))
	return downTo10(alpha)
}

// downTo10 rounds a positive fraction down to ten significant digits.
func downTo10(x *big.Rat) *big.Rat {
	text := x.FloatString(60)
	digits, begun := 0, false
	end := len(text)
	for i, r := range text {
		if r != '.' && (r != '0' || begun) {
			begun = true
			digits++
			if digits == 10 {
				end = i + 1
				break
			}
		}
	}
	return decimal(text[:end])
}

// upTo10 rounds a positive fraction up to ten significant digits.
func upTo10(x *big.Rat) *big.Rat {
	down := downTo10(x)
	if down.Cmp(x) == 0 {
		return down
	}
	// One more in the tenth digit.
	one := big.NewRat(1, 1)
	for ten := big.NewRat(10, 1); new(big.Rat).Mul(x, one).Cmp(big.NewRat(1e9, 1)) < 0; {
		one.Mul(one, ten)
	}
	return down.Add(down, one.Inv(one))
}

// fairDecided is one evaluation of a rule.
type fairDecided struct {
	rule         Rule
	groups       []fairGroup
	lower, upper float64
	tooMany      bool // more is left out than the rule allows
}

// evaluate works out a rule, with its error divided by so many rules.
func (s *fairStudy) evaluate(r fairRule, rules int) fairDecided {
	alpha := divided(s.level(r.confidence), rules)
	confidence := float(new(big.Rat).Sub(big.NewRat(1, 1), alpha))
	names := s.groupNames(r.attributes)
	G := len(names)
	groups := make([]fairGroup, G)
	at := map[string]int{}
	for i, name := range names {
		groups[i].name = name
		at[name] = i
	}
	// 1. Who takes part.
	total := 0
	leftOut := map[string]int{}
	for _, c := range s.cases {
		outside, why := s.slice(c, r.where)
		if outside {
			continue
		}
		total++
		group, noGroup := s.groupOf(c, r.attributes)
		if why == "" {
			why = noGroup
		}
		if why == "" && needsLabel(r.rate) && c.label == unrecorded {
			why = "the label is empty"
			groups[at[group]].leftOut.addLeftOut(r.rate, c, true)
			groups[at[group]].unlabelled++
		} else if why != "" {
			for i := range groups {
				groups[i].leftOut.addLeftOut(r.rate, c, false)
			}
		}
		if why != "" {
			leftOut[why]++
			continue
		}
		groups[at[group]].tally.add(r.rate, c)
	}
	// 2. Each group's interval.
	a := float(new(big.Rat).Quo(alpha, big.NewRat(2, 1)))
	aG := float(new(big.Rat).Quo(alpha, big.NewRat(int64(2*G), 1)))
	repeated := r.repeated || s.repeated
	loError, hiError := aG, aG
	if r.pairwise && r.kind == "minimum" {
		loError = a
	}
	if r.pairwise && r.kind == "maximum" {
		hiError = a
	}
	for i := range groups {
		g := &groups[i]
		g.small = g.tally.recorded.n < s.minCell
		g.lo = s.bound(false, g.tally.low, loError, repeated)
		g.hi = s.bound(true, g.tally.high, hiError, repeated)
		g.leftOut.low.k += g.tally.low.k
		g.leftOut.low.n += g.tally.low.n
		g.leftOut.high.k += g.tally.high.k
		g.leftOut.high.n += g.tally.high.n
		g.loL = s.bound(false, g.leftOut.low, loError, repeated)
		g.hiL = s.bound(true, g.leftOut.high, hiError, repeated)
	}
	d := fairDecided{groups: groups}
	d.rule.ID = r.id
	d.rule.Advisory = r.advisory
	d.rule.Metric = r.rate
	d.rule.Labels = map[string]string{"attribute": strings.Join(r.attributes, " × ")}
	if len(r.where) > 0 {
		var parts []string
		for _, w := range r.where {
			parts = append(parts, w.column+"="+w.value)
		}
		d.rule.Labels["where"] = strings.Join(parts, ", ")
	}
	left := 0
	for why, n := range leftOut {
		d.rule.LeftOut = append(d.rule.LeftOut, LeftOut{Reason: why, Count: n})
		left += n
	}
	most := decimal("0.1")
	if r.maxLeftOut != "" {
		most = decimal(r.maxLeftOut)
	}
	tooMany := new(big.Rat).SetInt64(int64(left)).Cmp(new(big.Rat).Mul(most, big.NewRat(int64(total), 1))) > 0
	var numerator, denominator, missing int
	method, looks := dividedMethod(G), "one"
	if r.pairwise && (r.kind == "minimum" || r.kind == "maximum") {
		method = "clopper-pearson"
	}
	if repeated {
		method, looks = "uniform-mixture", "any"
	}
	aSmall := false
	for _, g := range groups {
		m := s.measureOf(r.rate, g.tally)
		numerator += *m.Numerator
		denominator += *m.Denominator
		missing += *m.Missing
		aSmall = aSmall || g.small
		m.Labels = map[string]string{"attribute": d.rule.Labels["attribute"], "group": g.name}
		ofCell := 1 - float(alpha)/float64(G)
		if method == "clopper-pearson" {
			ofCell = confidence
		}
		if g.unlabelled > 0 {
			m.LeftOut = []LeftOut{{Reason: "the label is empty", Count: g.unlabelled}}
		}
		m.Interval = intervalOf(g.lo, g.hi, ofCell, method, looks)
		d.rule.Cells = append(d.rule.Cells, Cell{Measure: m})
	}
	d.rule.Numerator, d.rule.Denominator, d.rule.Units, d.rule.Missing = count(numerator), count(denominator), count(denominator), count(missing)
	t := float(decimal(r.threshold))
	verdict := map[bool]string{}
	for _, withLeftOut := range []bool{true, false} {
		verdict[withLeftOut] = s.compare(&d, r, t, a, alpha, confidence, method, looks, withLeftOut)
	}
	d.rule.Verdict = verdict[false]
	d.rule.Why = "compared: " + d.rule.Verdict + " " + r.kind
	if d.rule.Verdict == Insufficient && aSmall {
		d.rule.Why = "a small group: " + r.kind
	}
	d.tooMany = tooMany
	if tooMany {
		d.rule.Verdict, d.rule.Why = Insufficient, "too much left out"
		d.rule.Close = false
		for i := range d.rule.Cells {
			d.rule.Cells[i].Verdict = Insufficient
		}
		for i := range d.rule.Pairs {
			d.rule.Pairs[i].Verdict = Insufficient
		}
	}
	if left > 0 && (d.rule.Verdict == Pass || d.rule.Verdict == Fail) {
		d.rule.WithLeftOut = verdict[true]
	}
	return d
}

// dividedMethod is the name of the exact interval whose error so many groups share.
func dividedMethod(groups int) string {
	if groups == 1 {
		return "clopper-pearson"
	}
	return "clopper-pearson/bonferroni"
}

// measureOf is what a group's tally is reported as, but for its interval.
func (s *fairStudy) measureOf(rate string, g groupTally) Measure {
	m := Measure{Metric: rate, Estimate: g.recorded.share()}
	denominator := g.recorded.n
	if !countsPredictions(rate) {
		denominator += g.missing
	}
	m.Numerator, m.Denominator, m.Units, m.Missing = count(g.recorded.k), count(denominator), count(denominator), count(g.missing)
	// Where nothing is missing there is nothing to complete.
	if low, high := g.low.share(), g.high.share(); low != nil && high != nil && g.missing > 0 {
		m.Completions = &Completions{*low, *high}
	}
	return m
}

// compare holds a rule's groups against its threshold, and fills in its cells' and pairs' verdicts and its interval.
func (s *fairStudy) compare(d *fairDecided, r fairRule, t, a float64, alpha *big.Rat, confidence float64, method, looks string, withLeftOut bool) string {
	ends := func(g fairGroup) (float64, float64) {
		if withLeftOut {
			return g.loL, g.hiL
		}
		return g.lo, g.hi
	}
	d.rule.Pairs, d.rule.Close = nil, false
	for i := range d.rule.Cells {
		d.rule.Cells[i].Close = false
	}
	aSmall, aFail, allPass := false, false, true
	var estimate *float64
	// For worst_group a group is what a pair is for the others.
	if r.kind == "minimum" || r.kind == "maximum" {
		lower, upper := math.NaN(), math.NaN()
		for i, g := range d.groups {
			lo, hi := ends(g)
			v := Decide(r.kind, t, lo, hi)
			aSmall = aSmall || g.small
			tooNear := near(t, lo, hi)
			if g.small {
				v, tooNear = Insufficient, false
			}
			d.rule.Close = d.rule.Close || tooNear
			d.rule.Cells[i].Verdict, d.rule.Cells[i].Close = v, tooNear
			aFail = aFail || v == Fail
			allPass = allPass && v == Pass
			e := g.tally.recorded.share()
			sign := 1.0
			if r.kind == "maximum" {
				sign = -1
			}
			if e != nil && (estimate == nil || sign**e < sign**estimate) {
				estimate = e
			}
			// The end by which it passes is over all groups, that by which it fails over those large enough.
			pass, fail := &lower, &upper
			passEnd, failEnd := lo, hi
			if r.kind == "maximum" {
				pass, fail, passEnd, failEnd = &upper, &lower, hi, lo
			}
			if math.IsNaN(*pass) || sign*passEnd < sign**pass {
				*pass = passEnd
			}
			if !g.small && (math.IsNaN(*fail) || sign*failEnd < sign**fail) {
				*fail = failEnd
			}
		}
		if math.IsNaN(lower) {
			lower = 0
		}
		if math.IsNaN(upper) {
			upper = 1
		}
		d.rule.Estimate = estimate
		d.lower, d.upper = lower, upper
	} else {
		gap := r.kind == "max_group_gap"
		lower, upper := math.NaN(), math.NaN()
		worstOf := make([]string, len(d.groups))
		pairMethod := method
		if r.pairwise {
			pairMethod = "fisher-product"
		}
		G := len(d.groups)
		b := float(new(big.Rat).Quo(alpha, big.NewRat(int64(G*(G-1)), 1)))
		for i, g := range d.groups {
			aSmall = aSmall || g.small
			for j := i + 1; j < len(d.groups); j++ {
				h := d.groups[j]
				loI, hiI := ends(g)
				loJ, hiJ := ends(h)
				p := Pair{Groups: []string{g.name, h.name}}
				pi, pj := g.tally.recorded.share(), h.tally.recorded.share()
				var lo, hi float64
				var v string
				switch {
				case gap && r.pairwise:
					tg, th := g.tally, h.tally
					if withLeftOut {
						tg, th = g.leftOut, h.leftOut
					}
					up := func(x, y groupTally, b float64) float64 {
						return fisherUpper(x.high.k, x.high.n, y.low.k, y.low.n, b)
					}
					hi = math.Max(up(tg, th, a), up(th, tg, a))
					lo = math.Max(0, math.Max(-up(tg, th, b), -up(th, tg, b)))
				case gap:
					lo = math.Max(0, math.Max(loI-hiJ, loJ-hiI))
					hi = math.Max(hiI-loJ, hiJ-loI)
				default:
					lo = math.Min(loI/hiJ, loJ/hiI)
					hi = math.Min(1, math.Min(hiI/loJ, hiJ/loI))
				}
				if gap {
					v = Decide("maximum", t, lo, hi)
					p.Close = near(t, lo, hi)
				} else {
					v = Insufficient
					if loI >= t*hiJ && loJ >= t*hiI {
						v = Pass
					}
					if hiI < t*loJ || hiJ < t*loI {
						v = Fail
					}
					// As products, whose ends are each off by the tolerance.
					for _, x := range [][2]float64{{loI, hiJ}, {loJ, hiI}, {hiI, loJ}, {hiJ, loI}} {
						p.Close = p.Close || math.Abs(x[0]-t*x[1]) <= 2*Tolerance && x[0]+x[1] > 0
					}
				}
				if g.small || h.small {
					v, p.Close = Insufficient, false
				}
				if pi != nil && pj != nil {
					switch {
					case gap:
						p.Estimate = number(math.Abs(*pi - *pj))
					case *pi > 0 || *pj > 0:
						p.Estimate = number(math.Min(*pi, *pj) / math.Max(*pi, *pj))
					}
				}
				if p.Estimate != nil && (estimate == nil || gap && *p.Estimate > *estimate || !gap && *p.Estimate < *estimate) {
					estimate = p.Estimate
				}
				p.Interval = intervalOf(lo, hi, confidence, pairMethod, looks)
				p.Verdict = v
				aFail = aFail || v == Fail
				allPass = allPass && v == Pass
				d.rule.Close = d.rule.Close || p.Close
				for _, x := range []int{i, j} {
					if !g.small && !h.small { // what a small group leaves open is its own
						worstOf[x] = worse(worstOf[x], v)
					}
					d.rule.Cells[x].Close = d.rule.Cells[x].Close || p.Close
				}
				sign := 1.0 // of a ratio the least counts, of a gap the largest
				pass, fail, passEnd, failEnd := &lower, &upper, lo, hi
				if gap {
					sign = -1
					pass, fail, passEnd, failEnd = &upper, &lower, hi, lo
				}
				if math.IsNaN(*pass) || sign*passEnd < sign**pass {
					*pass = passEnd
				}
				if !g.small && !h.small && (math.IsNaN(*fail) || sign*failEnd < sign**fail) {
					*fail = failEnd
				}
				d.rule.Pairs = append(d.rule.Pairs, p)
			}
		}
		for i := range d.groups {
			d.rule.Cells[i].Verdict = worstOf[i]
			if d.groups[i].small || worstOf[i] == "" { // too small, or nothing to compare it with

				d.rule.Cells[i].Verdict, d.rule.Cells[i].Close = Insufficient, false
			}
		}
		if math.IsNaN(lower) {
			lower = 0
		}
		if math.IsNaN(upper) {
			upper = 1
		}
		d.rule.Estimate = estimate
		d.lower, d.upper = lower, upper
		method = pairMethod
	}
	d.rule.Interval = intervalOf(d.lower, d.upper, confidence, method, looks)
	switch {
	case aFail:
		return Fail
	case aSmall || !allPass:
		return Insufficient
	}
	return Pass
}

// worse is the worse of two verdicts of pairs.
func worse(a, b string) string {
	for _, v := range []string{Fail, Insufficient, Pass} {
		if a == v || b == v {
			return v
		}
	}
	return ""
}
