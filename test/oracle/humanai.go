package oracle

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"sort"
)

// humanRow is a row of a decision file. Empty is not recorded.
type humanRow struct {
	kase, reviewer    string
	with              bool
	decision          string
	reference, output string
	site              string // a column that rules may name under where
	started, decided  string // as written
	start, end        *int   // in seconds; nil: not recorded
	dates             bool   // the times tell an order
	wrongCondition    string // written in place of the condition, in a file that cannot be used
}

// assigned is a row of an assignment.
type assigned struct {
	reviewer, kase string
	with           bool
}

// humanStudy is what the human-ai gate is given.
type humanStudy struct {
	rows       []humanRow
	assignment []assigned // nil: none
	declared   string     // the declared design, or ""
	abstain    []string
}

// answer is yes, no, or not known.
type answer int

const (
	unknown answer = iota
	yes
	no
)

func answered(b bool) answer {
	if b {
		return yes
	}
	return no
}

// decision is one decision that was made or had to be made.
type decision struct {
	humanRow
	absent  bool   // no row holds it
	departs bool   // not as assigned
	output  string // none, abstained, right, wrong, or unknown
	right   answer // equal to the reference
	agrees  answer // equal to the system's output
	// sites are the values of the column that it may have; nil: any.
	sites []string
}

type caseOf struct{ reviewer, kase string }

// decisions lists all decisions: a row each, those the assignment asks for without a row, and where before_after is
// declared the partners that are not there.
func (s humanStudy) decisions() []decision {
	var all []decision
	for _, r := range s.rows {
		d := decision{humanRow: r, departs: s.assignment != nil && !slices.Contains(s.assignment, assigned{r.reviewer, r.kase, r.with})}
		d.output = s.shown(r)
		if r.decision != "" {
			d.right = answered(r.decision == r.reference)
			d.agrees = answered(r.decision == r.output)
		}
		if r.site != "" {
			d.sites = []string{r.site}
		}
		all = append(all, d)
	}
	for _, a := range s.assignment {
		if !slices.ContainsFunc(s.rows, func(r humanRow) bool { return (assigned{r.reviewer, r.kase, r.with}) == a }) {
			all = append(all, s.absent(a))
		}
	}
	if s.declares("before_after") {
		for _, d := range slices.Clone(all) {
			partner := assigned{d.reviewer, d.kase, !d.with}
			if !slices.ContainsFunc(all, func(e decision) bool { return (assigned{e.reviewer, e.kase, e.with}) == partner }) {
				all = append(all, s.absent(partner))
			}
		}
	}
	return all
}

// declares tells whether the design is declared and nothing tells otherwise what each person was to decide: an assignment
// does, and nothing declares a sparse study away.
func (s humanStudy) declares(design string) bool {
	if s.declared != design || s.assignment != nil {
		return false
	}
	found, _ := humanStudy{rows: s.rows}.design()
	return found != "sparse"
}

// shown says what the system said on a row `with`.
func (s humanStudy) shown(r humanRow) string {
	switch {
	case r.output == "":
		return "none"
	case slices.Contains(s.abstain, r.output):
		return "abstained"
	case r.output == r.reference:
		return "right"
	}
	return "wrong"
}

// absent is a decision that no row holds. Its output is that of its case's rows, if they agree and no case of the
// file shows two; its column that on which the rows of its case and of its person agree.
func (s humanStudy) absent(a assigned) decision {
	d := decision{humanRow: humanRow{kase: a.kase, reviewer: a.reviewer, with: a.with}, absent: true, output: "unknown"}
	outputs := map[string]map[string]string{} // by case, what the outputs there are, and what they mean
	for _, r := range s.rows {
		if r.with && r.output != "" {
			if outputs[r.kase] == nil {
				outputs[r.kase] = map[string]string{}
			}
			outputs[r.kase][r.output] = s.shown(r)
		}
	}
	oneEach := true
	for _, o := range outputs {
		oneEach = oneEach && len(o) == 1
	}
	if oneEach {
		for _, meaning := range outputs[a.kase] {
			d.output = meaning
		}
	}
	byCase := agreed(s.rows, func(r humanRow) bool { return r.kase == a.kase })
	byPerson := agreed(s.rows, func(r humanRow) bool { return r.reviewer == a.reviewer })
	value := ""
	switch {
	case len(byCase) == 0 || len(byPerson) == 0:
	case len(byCase) == 1 && (len(byPerson) > 1 || byPerson[0] == byCase[0]):
		value = byCase[0]
	case len(byPerson) == 1 && len(byCase) > 1:
		value = byPerson[0]
	}
	if value != "" { // else any
		d.sites = []string{value}
	}
	return d
}

// agreed is the different values of the column in the chosen rows: one if they agree. Not recorded is a value too.
func agreed(rows []humanRow, chosen func(humanRow) bool) (values []string) {
	for _, r := range rows {
		if chosen(r) && !slices.Contains(values, r.site) {
			values = append(values, r.site)
		}
	}
	return values
}

// found is the design that some (person, case, condition) show, by the tests in their order.
func found(all []assigned) (name string, twice int, bothConditions bool) {
	conditions := map[caseOf]map[bool]bool{}  // of a person on a case
	holding := map[string]int{}               // how many there are of a case in a condition
	inCondition := map[string]map[bool]bool{} // of a case
	seen := map[bool]bool{}
	for _, a := range all {
		key := caseOf{a.reviewer, a.kase}
		if conditions[key] == nil {
			conditions[key] = map[bool]bool{}
		}
		if inCondition[a.kase] == nil {
			inCondition[a.kase] = map[bool]bool{}
		}
		conditions[key][a.with], inCondition[a.kase][a.with], seen[a.with] = true, true, true
		holding[fmt.Sprint(a.kase, a.with)]++
	}
	for _, c := range conditions {
		if len(c) == 2 {
			twice++
		}
	}
	alone, everyCaseBoth := 0, true
	for _, n := range holding {
		if n == 1 {
			alone++
		}
	}
	for _, c := range inCondition {
		everyCaseBoth = everyCaseBoth && len(c) == 2
	}
	switch {
	case twice > 0 && twice == len(conditions):
		name = "before_after"
	case twice > 0:
		name = "mixed"
	case everyCaseBoth && 2*alone > len(holding):
		name = "sparse"
	default:
		name = "crossed"
	}
	return name, twice, len(seen) == 2
}

// design is the study's design, and whether what was to be decided follows the declared one. An assignment says what was to
// be decided, else the rows do.
func (s humanStudy) design() (name string, follows bool) {
	var rows []assigned
	for _, r := range s.rows {
		rows = append(rows, assigned{r.reviewer, r.kase, r.with})
	}
	todo := rows
	if s.assignment != nil {
		todo = s.assignment
	}
	name, twice, bothConditions := found(todo)
	switch {
	case s.declared == "crossed":
		follows = twice == 0
	case s.declared == "before_after" && s.assignment != nil:
		follows = twice > 0 || name == "sparse"
	case s.declared == "before_after":
		follows = twice > 0 || !bothConditions
	default:
		follows = true
	}
	if ofRows, _, _ := found(rows); ofRows == "sparse" || name == "sparse" {
		return "sparse", follows // which nothing declares away
	}
	if s.declared != "" {
		name = s.declared
	}
	return name, follows
}

// wrongOrder tells whether times show some decision with the output before the one without, and counts the pairs whose
// order cannot be seen.
func (s humanStudy) wrongOrder(all []decision) (wrong bool, unseen int) {
	for _, w := range all {
		for _, o := range all {
			if !w.with || o.with || w.reviewer != o.reviewer || w.kase != o.kase || w.absent || o.absent {
				continue
			}
			at := func(d decision) *int {
				if !d.dates {
					return nil
				}
				if d.end != nil {
					return d.end
				}
				return d.start
			}
			if at(w) == nil || at(o) == nil || *at(w) == *at(o) {
				unseen++
			} else if *at(w) < *at(o) {
				wrong = true
			}
		}
	}
	return wrong, unseen
}

// humanRule is a rule of the human-ai gate.
type humanRule struct {
	id, metric string
	ruleOptions
	perPerson  bool
	generalize bool
	site       string // where: {site: …}; "" for all
}

// ruleOptions are what rules of every gate may say.
type ruleOptions struct {
	side, threshold string // minimum or maximum, a decimal
	confidence      string // "" for the policy's
	looks           string // "", once, repeated
	planned         int
	sympol          bool
	maxLeftOut      string // "" for 0.1
	advisory        bool
	waiveUntil      string // a day
	reviewed        string // "", good or outdated
}

// evaluated is a measure with what decides about it before its interval does.
type evaluated struct {
	Measure
	insufficient string // why it is not decided
	review       string // why a person has to
	// extremes are the ends that the interval would have without anything missing being recorded: for choosing thresholds.
	lower, upper float64
}

// alpha is the error of one side, as a fraction and as a number.
func alpha(confidence string) float64 {
	a, _ := new(big.Rat).Quo(new(big.Rat).Sub(big.NewRat(1, 1), decimal(confidence)), big.NewRat(2, 1)).Float64()
	return a
}

// inSlice tells whether a decision belongs to the slice, and whether it is left out because the column is not recorded.
func inSlice(d decision, site string) (in, unrecorded bool) {
	switch {
	case site == "":
		return true, false
	case d.absent && d.sites == nil:
		return true, false
	case d.sites == nil || d.sites[0] == "":
		return false, true
	}
	return d.sites[0] == site, false
}

// reasons for being left out, as reports name them.
const (
	notBoth      = "not in both conditions"
	noOutput     = "no output recorded"
	abstained    = "the system abstained"
	notAssigned  = "not as assigned"
	noColumn     = "the column of `where` is not recorded"
	noSuch       = "no such decision"
	nothingThere = "nothing recorded"
)

// leftOut turns counts by reason into a list.
func leftOut(counts map[string]int) []LeftOut {
	var all []LeftOut
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		if counts[reason] > 0 {
			all = append(all, LeftOut{reason, counts[reason]})
		}
	}
	return all
}

// tooMany tells whether so many of so many are more than the share allows.
func tooMany(out, of int, share string) bool {
	if share == "" {
		share = "0.1"
	}
	return of > 0 && big.NewRat(int64(out), int64(of)).Cmp(decimal(share)) > 0
}

// evaluate measures what a rule is about.
func (s humanStudy) evaluate(r humanRule) evaluated {
	all := s.decisions()
	var e evaluated
	switch {
	case r.metric == "accuracy_difference" && r.generalize:
		e = s.pairing(r, all)
	case r.metric == "accuracy_difference":
		e = s.difference(r, all)
	case r.metric == "system_accuracy":
		e = s.systemAccuracy(r, all)
	case r.perPerson:
		e = s.ratePerPerson(r, all)
	default:
		e = s.rate(r, all)
	}
	e.Metric = r.metric
	e.Labels = map[string]string{}
	if r.perPerson {
		e.Labels["per"] = "person"
	}
	if r.generalize {
		e.Labels["generalize"] = "people_and_cases"
	}
	if r.site != "" {
		e.Labels["where"] = "site=" + r.site
	}
	design, follows := s.design()
	if design == "sparse" {
		e.insufficient = "sparse"
	}
	if r.metric == "accuracy_difference" && e.insufficient == "" {
		if wrong, _ := s.wrongOrder(all); wrong && design == "before_after" {
			e.insufficient = "wrong order"
		}
		if design == "mixed" {
			e.insufficient = "mixed"
		}
		if !follows {
			e.insufficient = "design contradicted"
		}
	}
	return e
}

// counts says whether a decision counts in a rate over decisions, and if so whether it is an event; else why it is left
// out ("" where the rate is not about it).
func counts(metric string, d decision) (counted bool, event answer, why string) {
	if (metric != "accuracy_without") != d.with {
		return false, unknown, ""
	}
	if d.departs {
		return false, unknown, notAssigned
	}
	if metric == "accuracy_with" || metric == "accuracy_without" {
		return true, d.right, ""
	}
	switch d.output {
	case "none":
		return false, unknown, noOutput
	case "abstained":
		return false, unknown, abstained
	}
	switch metric {
	case "agreement":
		return true, d.agrees, ""
	case "over_reliance":
		return d.output != "right", d.agrees, ""
	case "correct_override":
		return d.output != "right", d.right, ""
	case "harmful_override":
		return d.output != "wrong", negated(d.agrees), ""
	}
	panic("no rate " + metric)
}

func negated(a answer) answer {
	switch a {
	case yes:
		return no
	case no:
		return yes
	}
	return unknown
}

// tallied is what a rate counts.
type tallied struct{ events, missing, all int }

func (t *tallied) add(event answer) {
	t.all++
	switch event {
	case yes:
		t.events++
	case unknown:
		t.missing++
	}
}

// share is events over all, with the missing as events or not.
func (t tallied) share(missingAreEvents bool) *big.Rat {
	k := t.events
	if missingAreEvents {
		k += t.missing
	}
	return big.NewRat(int64(k), int64(t.all))
}

// members lists the decisions of a rate, and counts those left out.
func members(r humanRule, all []decision) (in []decision, out map[string]int) {
	out = map[string]int{}
	for _, d := range all {
		counted, _, why := counts(r.metric, d)
		inside, unrecorded := inSlice(d, r.site)
		switch {
		case d.with != (r.metric != "accuracy_without"):
		case unrecorded:
			out[noColumn]++
		case !inside:
		case !counted:
			if why != "" {
				out[why]++
			}
		default:
			in = append(in, d)
		}
	}
	return in, out
}

// rate is a rate over decisions with its exact interval.
func (s humanStudy) rate(r humanRule, all []decision) (e evaluated) {
	in, out := members(r, all)
	var t tallied
	people, cases := map[string]int{}, map[string]int{}
	for _, d := range in {
		_, event, _ := counts(r.metric, d)
		t.add(event)
		people[d.reviewer]++
		cases[d.kase]++
	}
	e.pooled(t, r.ruleOptions)
	e.LeftOut = leftOut(out)
	for _, n := range append(slices.Collect(maps.Values(people)), slices.Collect(maps.Values(cases))...) {
		if n > 1 {
			e.review = "repeated people or cases"
		}
	}
	if tooMany(out[noOutput]+out[notAssigned]+out[noColumn], t.all+out[noOutput]+out[notAssigned]+out[noColumn], r.maxLeftOut) {
		e.insufficient = "left out"
	}
	if s.declares("crossed") {
		// Of who has a missing arm nobody knows how many decisions are missing.
		for _, arm := range s.arms(all, r.site) {
			if !arm[r.metric != "accuracy_without"] && (arm[true] || arm[false]) {
				e.insufficient = "a missing arm"
			}
		}
	}
	if t.all == t.missing {
		e.insufficient = nothingThere
	}
	return e
}

// pooled fills in a rate of independent results.
func (e *evaluated) pooled(t tallied, o ruleOptions) {
	e.Numerator, e.Denominator, e.Units, e.Missing = count(t.events), count(t.all), count(t.all), count(t.missing)
	a := alpha(o.confidence)
	interval := &Interval{Confidence: confidence(o.confidence), Method: "clopper-pearson", Looks: "one"}
	lower, upper := 0.0, 1.0
	if o.looks == "repeated" {
		interval.Method, interval.Looks = "uniform-mixture", "any"
		if t.all > 0 {
			lower, upper = meanInterval(uniformMixture, zerosAndOnes(t.events, t.all), zerosAndOnes(t.events+t.missing, t.all), a)
		}
	} else if t.all > 0 {
		lower, upper = rateLower(t.events, t.all, a), rateUpper(t.events+t.missing, t.all, a)
	}
	interval.Lower, interval.Upper = &lower, &upper
	e.Interval, e.lower, e.upper = interval, lower, upper
	if t.all > t.missing {
		e.Estimate = number(ratio(t.events, t.all-t.missing))
	}
	if t.all > 0 {
		e.Completions = &Completions{ratio(t.events, t.all), ratio(t.events+t.missing, t.all)}
	}
}

func ratio(k, n int) float64 {
	f, _ := big.NewRat(int64(k), int64(n)).Float64()
	return f
}

func confidence(text string) float64 {
	f, _ := decimal(text).Float64()
	return f
}

// zerosAndOnes are k ones and n - k zeros.
func zerosAndOnes(k, n int) []*big.Rat {
	var all []*big.Rat
	for i := range n {
		if i < k {
			all = append(all, big.NewRat(1, 1))
		} else {
			all = append(all, new(big.Rat))
		}
	}
	return all
}

// ratePerPerson is the mean over people of each one's own rate.
func (s humanStudy) ratePerPerson(r humanRule, all []decision) (e evaluated) {
	in, out := members(r, all)
	own := map[string]*tallied{}
	recorded := 0
	for _, d := range in {
		if own[d.reviewer] == nil {
			own[d.reviewer] = &tallied{}
		}
		_, event, _ := counts(r.metric, d)
		own[d.reviewer].add(event)
		if event != unknown {
			recorded++
		}
	}
	lost := out[noOutput] + out[notAssigned] + out[noColumn]
	if tooMany(lost, len(in)+lost, r.maxLeftOut) {
		e.insufficient = "left out"
	}
	arms := s.arms(all, r.site)
	if s.declares("crossed") {
		// Who was to decide in both conditions and did in one has a missing arm: a rate that may be anything.
		for name, arm := range arms {
			if !arm[r.metric != "accuracy_without"] && (arm[true] || arm[false]) {
				own[name] = &tallied{missing: 1, all: 1}
				in = append(in, decision{})
			}
		}
	}
	enrolled := len(arms)
	out[noSuch] = enrolled - len(own)
	e.LeftOut = leftOut(out)
	var worst, best, seen []*big.Rat
	for _, name := range slices.Sorted(maps.Keys(own)) {
		t := *own[name]
		worst, best = append(worst, t.share(false)), append(best, t.share(true))
		if t.all > t.missing {
			seen = append(seen, big.NewRat(int64(t.events), int64(t.all-t.missing)))
		}
	}
	e.Units, e.Missing = count(len(own)), count(len(in)-recorded)
	e.mean(r.ruleOptions, worst, best, seen, enrolled, false)
	if len(own) > 0 {
		e.Completions = &Completions{mean(worst), mean(best)}
	}
	if len(seen) == 0 {
		e.insufficient = nothingThere
	}
	return e
}

// people lists everybody in the file and in the assignment.
func (s humanStudy) people() []string {
	names := map[string]bool{}
	for _, r := range s.rows {
		names[r.reviewer] = true
	}
	for _, a := range s.assignment {
		names[a.reviewer] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// arms lists everybody in the slice, with the conditions in which they decided, or had to, as assigned.
func (s humanStudy) arms(all []decision, site string) map[string]map[bool]bool {
	people := map[string]map[bool]bool{}
	for _, d := range all {
		if in, _ := inSlice(d, site); in {
			if people[d.reviewer] == nil {
				people[d.reviewer] = map[bool]bool{}
			}
			if !d.departs {
				people[d.reviewer][d.with] = true
			}
		}
	}
	return people
}

// mean fills in a mean over units: values at their worst and best, those recorded, and how many units are enrolled.
func (e *evaluated) mean(o ruleOptions, worst, best, seen []*big.Rat, enrolled int, gains bool) {
	a := alpha(o.confidence)
	method, interval := uniformMixture, &Interval{Confidence: confidence(o.confidence), Method: "uniform-mixture", Looks: "any"}
	if o.looks == "once" {
		method, interval.Method, interval.Looks = dirichlet, "dirichlet", "planned"
		if o.sympol {
			method, interval.Method = sympol, "sympol"
		}
		bad := new(big.Rat)
		if gains {
			bad = big.NewRat(-1, 1)
		}
		if enrolled > o.planned { // and the interval is that without a plan
			e.review = "plan broken"
			method, interval.Method, interval.Looks = uniformMixture, "uniform-mixture", "any"
		}
		for range o.planned - enrolled {
			worst, best = append(slices.Clone(worst), bad), append(slices.Clone(best), big.NewRat(1, 1))
		}
	}
	low, high := 0.0, 1.0
	if gains {
		low = -1
	}
	if len(worst) > 0 {
		if gains {
			low, high = onGains(method, worst, best, a)
		} else {
			low, high = meanInterval(method, worst, best, a)
		}
	}
	interval.Lower, interval.Upper = &low, &high
	e.Interval, e.lower, e.upper = interval, low, high
	if len(seen) > 0 {
		e.Estimate = number(mean(seen))
	}
}

// difference is accuracy_difference.
func (s humanStudy) difference(r humanRule, all []decision) (e evaluated) {
	out := map[string]int{}
	own := map[string]map[bool]*tallied{}
	for _, d := range all {
		in, unrecorded := inSlice(d, r.site)
		if unrecorded {
			out[noColumn]++
		}
		if !in {
			continue
		}
		if d.departs {
			out[notAssigned]++
			continue
		}
		if own[d.reviewer] == nil {
			own[d.reviewer] = map[bool]*tallied{true: {}, false: {}}
		}
		own[d.reviewer][d.with].add(d.right)
	}
	var worst, best, seen []*big.Rat
	missing, kept, both := 0, 0, 0
	one := big.NewRat(1, 1)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		with, without := *own[name][true], *own[name][false]
		if with.all == 0 || without.all == 0 {
			if !s.declares("crossed") {
				continue
			}
			missing++ // a whole arm
		} else {
			both++
		}
		kept++
		missing += with.missing + without.missing
		share := func(t tallied, high bool) *big.Rat {
			switch {
			case t.all > 0:
				return t.share(high)
			case high:
				return one
			}
			return new(big.Rat)
		}
		worst = append(worst, new(big.Rat).Sub(share(with, false), share(without, true)))
		best = append(best, new(big.Rat).Sub(share(with, true), share(without, false)))
		if with.all > with.missing && without.all > without.missing {
			seen = append(seen, new(big.Rat).Sub(
				big.NewRat(int64(with.events), int64(with.all-with.missing)),
				big.NewRat(int64(without.events), int64(without.all-without.missing))))
		}
	}
	enrolled := len(s.arms(all, r.site))
	out[notBoth] = enrolled - kept
	e.LeftOut = leftOut(out)
	e.Units, e.Missing = count(kept), count(missing)
	e.mean(r.ruleOptions, worst, best, seen, enrolled, true)
	if kept > 0 {
		e.Completions = &Completions{mean(worst), mean(best)}
	}
	switch {
	case len(seen) == 0:
		e.insufficient = nothingThere
	case both < 2:
		e.insufficient = "fewer than two people"
	case s.leavesTooMany(r, all):
		e.insufficient = "left out"
	}
	return e
}

// leavesTooMany tells whether an accuracy difference leaves out more than it may: people in one condition only, rows that
// are not as assigned, or these and the decisions that do not record the column together.
func (s humanStudy) leavesTooMany(r humanRule, all []decision) bool {
	departing, unrecorded, rows, decisions, oneArm := 0, 0, 0, 0, 0
	for _, d := range all {
		in, bare := inSlice(d, r.site)
		if !in && !bare {
			continue
		}
		decisions++
		if !d.absent {
			rows++
		}
		switch {
		case bare:
			unrecorded++
		case d.departs:
			departing++
		}
	}
	people := s.arms(all, r.site)
	for _, arm := range people {
		if !arm[true] && !arm[false] || (!arm[true] || !arm[false]) && !s.declares("crossed") {
			oneArm++
		}
	}
	return tooMany(oneArm, len(people), r.maxLeftOut) || tooMany(departing, rows, r.maxLeftOut) ||
		tooMany(departing+unrecorded, decisions, r.maxLeftOut)
}

// systemAccuracy counts cases. A case with several outputs that commit to something counts both ways if one of them is
// right; one that also abstained hangs on the output that commits.
func (s humanStudy) systemAccuracy(r humanRule, all []decision) (e evaluated) {
	out := map[string]int{}
	var cases []string
	for _, d := range all {
		if !slices.Contains(cases, d.kase) {
			cases = append(cases, d.kase)
		}
	}
	var t tallied
	several := false
	for _, kase := range cases {
		asked, departed, outside := false, false, false
		outputs := map[string]string{} // and what they mean
		for _, d := range all {
			in, unrecorded := inSlice(d, r.site)
			switch {
			case d.kase != kase || !d.with:
			case unrecorded:
				outside = true
			case !in:
			case d.departs:
				departed = true
			default:
				asked = true
				if d.humanRow.output != "" {
					outputs[d.humanRow.output] = d.output
				}
			}
		}
		committed := 0
		for _, meaning := range outputs {
			if meaning != "abstained" {
				committed++
			}
		}
		right := slices.Contains(slices.Collect(maps.Values(outputs)), "right")
		switch {
		case !asked:
			if departed {
				out[notAssigned]++
			}
			if outside {
				out[noColumn]++
			}
		case len(outputs) == 0:
			out[noOutput]++
		case committed == 0:
			out[abstained]++
		case committed > 1 && right:
			t.add(unknown)
		default:
			t.add(answered(right))
		}
		several = several || committed > 0 && len(outputs) > 1
	}
	e.pooled(t, r.ruleOptions)
	e.LeftOut = leftOut(out)
	if several {
		e.review = "several outputs"
	}
	lost := out[noOutput] + out[notAssigned] + out[noColumn]
	if tooMany(lost, t.all+lost, r.maxLeftOut) {
		e.insufficient = "left out"
	}
	if t.all == t.missing {
		e.insufficient = nothingThere
	}
	return e
}

// times measures how long decisions of a condition took: pooled, and over people of their own medians.
func (s humanStudy) times(with bool, c string) (pooled, perPerson Measure) {
	name := map[bool]string{true: "with", false: "without"}[with]
	var seconds []float64
	own := map[string]*struct{ recorded, low, high []float64 }{}
	missing, all := 0, 0
	out := map[string]int{}
	for _, d := range s.decisions() {
		if d.with != with {
			continue
		}
		if d.departs {
			out[notAssigned]++
			continue
		}
		all++
		if own[d.reviewer] == nil {
			own[d.reviewer] = &struct{ recorded, low, high []float64 }{}
		}
		o := own[d.reviewer]
		if d.start == nil || d.end == nil {
			missing++
			o.low, o.high = append(o.low, 0), append(o.high, math.Inf(1))
			continue
		}
		t := float64(*d.end - *d.start)
		seconds = append(seconds, t)
		o.recorded, o.low, o.high = append(o.recorded, t), append(o.low, t), append(o.high, t)
	}
	pooled = Measure{Metric: "decision_time", Labels: map[string]string{"condition": name}, Units: count(all), Missing: count(missing), LeftOut: leftOut(out)}
	if len(seconds) > 0 {
		pooled.Estimate = number(median(seconds))
	}
	var medians, low, high []float64
	for _, o := range own {
		if len(o.recorded) > 0 {
			medians = append(medians, median(o.recorded))
		}
		low, high = append(low, median(o.low)), append(high, median(o.high))
	}
	perPerson = Measure{Metric: "decision_time", Labels: map[string]string{"condition": name, "per": "person"}, Units: count(len(own)), Missing: count(missing), LeftOut: leftOut(out)}
	if len(medians) > 0 {
		perPerson.Estimate = number(median(medians))
	}
	a := new(big.Rat).Quo(new(big.Rat).Sub(big.NewRat(1, 1), decimal(c)), big.NewRat(2, 1))
	perPerson.Interval = &Interval{Confidence: confidence(c), Method: "order-statistics", Looks: "one"}
	if j := medianRank(len(own), a); j > 0 {
		sort.Float64s(low)
		sort.Float64s(high)
		perPerson.Interval.Lower = number(low[j-1])
		if u := high[len(high)-j]; !math.IsInf(u, 1) {
			perPerson.Interval.Upper = number(u)
		}
	}
	return pooled, perPerson
}

// median is the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	values = slices.Clone(values)
	sort.Float64s(values)
	n := len(values)
	if n%2 == 1 {
		return values[n/2]
	}
	return (values[n/2-1] + values[n/2]) / 2
}

// pairing is accuracy_difference over people and cases, in units of pairs. Which pairings are drawn is not defined by the
// documents, so the ends of its interval are not worked out.
func (s humanStudy) pairing(r humanRule, all []decision) (e evaluated) {
	out := map[string]int{}
	answers := map[caseOf]map[bool]answer{}
	people, cases := map[string]bool{}, map[string]bool{}
	for _, d := range all {
		if d.departs {
			out[notAssigned]++
			continue
		}
		people[d.reviewer], cases[d.kase] = true, true
		key := caseOf{d.reviewer, d.kase}
		if answers[key] == nil {
			answers[key] = map[bool]answer{}
		}
		answers[key][d.with] = d.right
	}
	design, _ := s.design()
	low, high, seen, recorded := 0, 0, 0, 0
	for p := range people {
		for c := range cases {
			lowest, highest, known := -1, 1, false
			if decided := answers[caseOf{p, c}]; design == "before_after" {
				// right with minus right without
				with, without := decided[true], decided[false]
				value := func(a answer, otherwise int) int {
					switch a {
					case yes:
						return 1
					case no:
						return 0
					}
					return otherwise
				}
				lowest, highest = value(with, 0)-value(without, 1), value(with, 1)-value(without, 0)
				known = with != unknown && without != unknown
			} else if len(decided) == 1 {
				// +1 where right with or wrong without
				for with, right := range decided {
					if right != unknown {
						known = true
						lowest = -1
						if with == (right == yes) {
							lowest = 1
						}
						highest = lowest
					}
				}
			}
			low, high = low+lowest, high+highest
			if known {
				seen, recorded = seen+lowest, recorded+1
			}
		}
	}
	cells := len(people) * len(cases)
	e.LeftOut = leftOut(out)
	e.Units = count(min(len(people), len(cases)))
	if oneValue, _, _ := s.paired(); !oneValue {
		e.insufficient = "no value for each pair"
		return e
	}
	e.Missing = count(cells - recorded)
	if recorded == 0 {
		e.insufficient = nothingThere
	} else if s.leavesTooMany(r, all) {
		e.insufficient = "left out"
	}
	e.Interval = &Interval{Confidence: confidence(r.confidence), Method: "pairing-average", Looks: "one", Unknown: true}
	if recorded > 0 {
		e.Estimate = number(ratio(seen, recorded))
	}
	if cells > 0 {
		e.Completions = &Completions{ratio(low, cells), ratio(high, cells)}
	}
	return e
}

// paired tells whether every pair of person and case has one value, so that there is an interval over people and cases; and
// how many pairs there are, of how many that could be.
func (s humanStudy) paired() (oneValue bool, pairs, of int) {
	people, cases, seen := map[string]bool{}, map[string]bool{}, map[caseOf]int{}
	twice := false
	for _, d := range s.decisions() {
		if !d.departs {
			people[d.reviewer], cases[d.kase] = true, true
			seen[caseOf{d.reviewer, d.kase}]++
			twice = twice || seen[caseOf{d.reviewer, d.kase}] == 2
		}
	}
	design, _ := s.design()
	return len(people) > 1 && len(cases) > 1 && (design == "before_after" || !twice), len(seen), len(people) * len(cases)
}

// want is the gate's section of the report for these rules, with the settings of the policy's top for the measures.
func (s humanStudy) want(rules []humanRule, top ruleOptions) Gate {
	design, follows := s.design()
	g := Gate{Gate: "human-ai", Design: design}
	measure := func(metric string, perPerson, generalize bool) {
		r := humanRule{metric: metric, perPerson: perPerson, generalize: generalize, ruleOptions: top}
		if isMean := perPerson || metric == "accuracy_difference"; top.looks == "once" && !isMean {
			r.looks = ""
		}
		g.Measures = append(g.Measures, s.evaluate(r).Measure)
	}
	measure("accuracy_difference", false, false)
	if oneValue, pairs, of := s.paired(); oneValue && 4*pairs >= of {
		measure("accuracy_difference", false, true)
	}
	rates := []string{"agreement", "over_reliance", "correct_override", "harmful_override", "accuracy_with", "accuracy_without"}
	for _, m := range append(rates, "system_accuracy") {
		measure(m, false, false)
	}
	for _, m := range rates {
		measure(m, true, false)
	}
	for _, with := range []bool{true, false} {
		if pooled, perPerson := s.times(with, top.confidence); pooled.Estimate != nil {
			g.Measures = append(g.Measures, pooled, perPerson)
		}
	}
	for _, r := range rules {
		g.Rules = append(g.Rules, r.decide(s.evaluate(r)))
	}
	g.Count, g.Findings = s.data(design, follows)
	for code := range humanFindings {
		g.Exact = append(g.Exact, code)
	}
	return g
}

// decide is the rule's verdict on what was measured, waiver and review included.
func (o ruleOptions) verdict(e evaluated) (verdict, why string, byInterval, close bool) {
	t, _ := decimal(o.threshold).Float64()
	switch {
	case e.insufficient != "":
		return Insufficient, e.insufficient, false, false
	case e.review != "":
		return Review, e.review, false, false
	}
	verdict = Decide(o.side, t, e.lower, e.upper)
	return verdict, "the interval: " + verdict, true, near(t, e.lower, e.upper)
}

// finish puts a rule together: what every gate's rules have.
func (o ruleOptions) finish(id string, e evaluated, verdict, why string, byInterval, close bool) Rule {
	r := Rule{Measure: e.Measure, ID: id, Verdict: verdict, Why: why, Advisory: o.advisory, ByInterval: byInterval, Close: close}
	if o.waiveUntil != "" && o.waiveUntil >= today && (verdict == Fail || verdict == Insufficient) {
		r.Waived, r.Verdict, r.Why, r.ByInterval = &Waived{verdict}, Review, "waived "+verdict, false
	} else if o.waiveUntil != "" && close {
		r.ByInterval = false
	}
	if o.reviewed != "" {
		r.Reviewed = &Reviewed{Valid: o.reviewed == "good" && r.Verdict == Review && r.Waived == nil}
	}
	return r
}

func (r humanRule) decide(e evaluated) Rule {
	verdict, why, byInterval, close := r.verdict(e)
	rule := r.finish(r.id, e, verdict, why, byInterval, close)
	rule.MayReview = r.generalize && byInterval // where the split was visibly no coin's
	return rule
}

// today is the day on which studies are decided.
const today = "2026-12-01"

// humanFindings are the findings that the documents define well enough to be counted here.
var humanFindings = map[string]bool{
	"sparse_design": true, "mixed_design": true, "design_contradicted": true, "wrong_order": true, "order_unknown": true,
	"departs_from_assignment": true, "absent_decisions": true, "missing_arm": true, "one_condition_people": true,
	"with_row_without_output": true, "output_ignored": true, "abstentions": true, "several_outputs": true,
	"not_in_assignment": true, "one_condition": true,
}

// data counts what was read, and what is to be told about it.
func (s humanStudy) data(design string, follows bool) (data map[string]int, findings []Finding) {
	all := s.decisions()
	people, cases := map[string]map[bool]bool{}, map[string]bool{}
	data = map[string]int{"rows": len(s.rows)}
	inRows := map[bool]bool{}
	n := map[string]int{}
	for _, name := range s.people() {
		people[name] = map[bool]bool{}
	}
	outputs := map[string]map[string]bool{}
	for _, d := range all {
		cases[d.kase] = true
		if !d.departs {
			people[d.reviewer][d.with] = true
		} else {
			n["departs_from_assignment"]++
		}
		if d.absent {
			n["absent_decisions"]++
		} else {
			inRows[d.with] = true
			switch {
			case d.with && d.output == "none":
				n["with_row_without_output"]++
			case d.with && d.output == "abstained":
				n["abstentions"]++
			case !d.with && d.humanRow.output != "":
				n["output_ignored"]++
			}
			if d.with && d.humanRow.output != "" {
				if outputs[d.kase] == nil {
					outputs[d.kase] = map[string]bool{}
				}
				outputs[d.kase][d.humanRow.output] = true
			}
			if d.decision == "" && !d.departs {
				data["missing_decisions"]++
			}
		}
		if !d.departs {
			data["decisions"]++
			if d.with {
				data["decisions_with"]++
			} else {
				data["decisions_without"]++
			}
		}
	}
	for _, o := range outputs {
		if len(o) > 1 {
			n["several_outputs"]++
		}
	}
	for _, p := range people {
		switch {
		case p[true] && p[false]:
			data["people_in_both_conditions"]++
		case p[true]:
			data["people_with_only"]++
		case p[false]:
			data["people_without_only"]++
		}
	}
	data["people"], data["cases"], data["absent_decisions"] = len(people), len(cases), n["absent_decisions"]
	for _, count := range []string{"missing_decisions", "decisions", "decisions_with", "decisions_without", "people_in_both_conditions", "people_with_only", "people_without_only"} {
		data[count] += 0
	}
	if s.assignment != nil {
		in := map[string]bool{}
		for _, a := range s.assignment {
			in[a.reviewer] = true
		}
		n["not_in_assignment"] = len(people) - len(in)
	}
	oneArm := data["people_with_only"] + data["people_without_only"]
	if s.declares("crossed") {
		n["missing_arm"] = oneArm
	} else if data["people_in_both_conditions"] > 0 { // else everybody is left out, and every rule says so
		n["one_condition_people"] = oneArm
	}
	if len(inRows) == 1 {
		n["one_condition"] = 1
	}
	switch {
	case design == "sparse":
		n["sparse_design"] = 1
	case design == "mixed":
		n["mixed_design"] = 1
	}
	if !follows {
		n["design_contradicted"] = 1
	}
	if design == "before_after" {
		wrong, unseen := s.wrongOrder(all)
		if wrong {
			n["wrong_order"] = 1
		}
		n["order_unknown"] = unseen
	}
	for _, code := range slices.Sorted(maps.Keys(n)) {
		if code == "design_contradicted" || code == "mixed_design" || code == "wrong_order" {
			findings = append(findings, Finding{code, anyCount})
		} else if n[code] > 0 {
			findings = append(findings, Finding{code, n[code]})
		}
	}
	return data, findings
}
