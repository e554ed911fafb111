package oracle

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// The anchoring gate, worked out again from the definitions: each person's rows of each item in order, what each of them
// counts as, and each metric from the list of what counts.

// labelRow is one row of a file of labels. Times are seconds after the study's first day, 0 where there is none.
type labelRow struct {
	item, annotator, suggestion, label string
	blind                              bool
	kind, accepted, chance, site       string
	started, labelled                  int
}

// verify tells whether a row shows an answer to be kept or changed.
func (r labelRow) verify() bool { return r.kind == "verify" && !r.blind }

// drawnItem is a row of the draw.
type drawnItem struct {
	item   string
	blind  bool
	chance string
}

// comparison is a label that counts as evidence, recorded or missing.
type comparison struct {
	item, who  string // who is empty where it cannot be told
	suggestion string
	label      string // "" where it is missing
	agrees     int    // 1, 0 or unrecorded
	chance     string
	extra      bool // it is missing beside another blind one of the same person and item
	perhaps    bool // it is a missing visible one, or none at all
}

// evidence is what the rows count as.
type evidence struct {
	blind, visible, verify, accepted []comparison
	people                           []comparison // blind labels for people_agreement, those without a suggestion too
	blindTimes, visibleTimes         []labelTime
	noBlind, noVisible, noVerify     int // rows left out for want of a suggestion
	noAccepted                       int
	seenBefore, relabelled, repeats  int
	afterUnlabelled, departures      int
	drawnWithoutRow                  int
	comparable                       map[string]bool // items of which some row has a suggestion, or that were drawn blind
	byPlace                          int             // pairs of a person and an item of which only places tell what came first
}

// labelTime is how long a label took, in seconds; -1 where that is not recorded.
type labelTime struct {
	who     string
	seconds int
}

// time is a row's.
func (r labelRow) time() labelTime {
	if r.started == 0 || r.labelled == 0 {
		return labelTime{r.annotator, -1}
	}
	return labelTime{r.annotator, r.labelled - r.started}
}

// anchorRule is a rule on labels.
type anchorRule struct {
	id, metric, kind, threshold string
	confidence, per, maxLeftOut string
	pairwise, repeated          bool
	advisory                    bool
	waivedUntil                 string
	reviewed                    string // "", "good" or "other"
	where                       string // the site
	corpus                      int
	shared                      int // how many rules share its error; 0 is 1
}

// anchorStudy is a file of labels with its draw and policy.
type anchorStudy struct {
	rows    []labelRow
	draw    []drawnItem // nil where there is none
	floor   int         // 0 is not said: 20
	least   string      // least_inclusion_probability
	rules   []anchorRule
	level   string
	adjust  string
	byPlace bool // no row has a time
}

// key is a person's rows of an item.
type key struct{ item, who string }

// classify tells what the rows of a slice count as. With lookFirst, every suggestion was seen first where only places tell.
func (s *anchorStudy) classify(rows []labelRow, lookFirst bool) evidence {
	var e evidence
	suggested := map[string]bool{}
	var keys []key
	of := map[key][]labelRow{}
	for _, r := range rows {
		k := key{r.item, r.annotator}
		if _, again := of[k]; !again {
			keys = append(keys, k)
		}
		of[k] = append(of[k], r)
		if r.suggestion != "" {
			suggested[r.item] = true
		}
	}
	drawnBlind, inDraw := map[string]bool{}, map[string]bool{}
	for _, d := range s.draw {
		inDraw[d.item] = true
		drawnBlind[d.item] = d.blind
	}
	e.comparable = map[string]bool{}
	for item := range suggested {
		e.comparable[item] = true
	}
	for item, blind := range drawnBlind {
		e.comparable[item] = e.comparable[item] || blind
	}
	compared := map[string]bool{} // items with a blind label that can be compared, or a missing one
	for _, k := range keys {
		list := slices.Clone(of[k])
		timed := !slices.ContainsFunc(list, func(r labelRow) bool { return r.labelled == 0 })
		if timed {
			slices.SortStableFunc(list, func(a, b labelRow) int { return a.labelled - b.labelled })
		}
		anyBlind := slices.ContainsFunc(list, func(r labelRow) bool { return r.blind })
		anyVisible := slices.ContainsFunc(list, func(r labelRow) bool { return !r.blind })
		// When a suggestion came on the screen and when a blind label was given tell it too.
		told := !slices.ContainsFunc(list, func(r labelRow) bool { return r.blind && r.labelled == 0 || !r.blind && r.started == 0 })
		if !timed && !told && anyBlind && anyVisible {
			e.byPlace++
			if lookFirst {
				slices.SortStableFunc(list, func(a, b labelRow) int {
					return map[bool]int{true: 1}[a.blind] - map[bool]int{true: 1}[b.blind]
				})
			}
		}
		var firstRecorded *labelRow // the first blind label that can be compared
		blindBefore, ownBlind, shown := false, false, false
		for i := range list {
			r := &list[i]
			agrees := unrecorded
			if r.label != "" && r.suggestion != "" {
				agrees = 0
				if r.label == r.suggestion {
					agrees = 1
				}
			}
			c := comparison{item: r.item, who: r.annotator, suggestion: r.suggestion, label: r.label, agrees: agrees, chance: r.chance}
			gone := c
			gone.label, gone.agrees = "", unrecorded
			comparable := e.comparable[r.item]
			switch {
			case r.verify():
				if r.suggestion == "" {
					e.noVerify++
				} else {
					e.verify = append(e.verify, c)
				}
			case !r.blind:
				e.visibleTimes = append(e.visibleTimes, r.time())
				if r.suggestion == "" {
					e.noVisible++
				} else {
					e.visible = append(e.visible, c)
				}
				switch r.accepted {
				case "":
					e.noAccepted++
				default:
					a := c
					a.agrees = 0
					if r.accepted == "1" {
						a.agrees = 1
					}
					e.accepted = append(e.accepted, a)
				}
			}
			if !r.blind {
				if s.draw != nil && drawnBlind[r.item] && !ownBlind && !shown {
					e.departures++
				}
				shown = true
				continue
			}
			if s.draw != nil && (!inDraw[r.item] || !drawnBlind[r.item]) {
				e.departures++
			}
			seen := false
			for j, other := range list {
				if other.blind {
					continue
				}
				begun := j < i
				if other.started != 0 && other.started < r.labelled {
					begun = true
				}
				seen = seen || begun
			}
			switch {
			case seen, firstRecorded != nil && firstRecorded.label != firstRecorded.suggestion:
				if seen {
					e.seenBefore++
				} else {
					e.relabelled++
				}
				e.visible = append(e.visible, c)
				if agrees != unrecorded {
					e.visibleTimes = append(e.visibleTimes, r.time())
				}
				gone.extra = blindBefore
				e.people = append(e.people, gone)
				e.blind = append(e.blind, gone)
				compared[r.item] = true
			case firstRecorded != nil, blindBefore && !suggested[r.item]:
				e.repeats++
			case blindBefore:
				e.afterUnlabelled++
				gone.perhaps = true
				e.visible = append(e.visible, gone)
				gone.extra = true
				e.people = append(e.people, gone)
				e.blind = append(e.blind, gone)
				compared[r.item] = true
			default:
				e.people = append(e.people, c)
				e.blindTimes = append(e.blindTimes, r.time())
				if comparable {
					e.blind = append(e.blind, c)
					compared[r.item] = true
				} else {
					e.noBlind++
				}
				if agrees != unrecorded {
					firstRecorded = r
				}
			}
			ownBlind = ownBlind || !seen && r.label != ""
			blindBefore = true
		}
	}
	for _, d := range s.draw {
		if d.blind && !compared[d.item] {
			e.blind = append(e.blind, comparison{item: d.item, agrees: unrecorded, chance: d.chance})
			e.drawnWithoutRow++
		}
	}
	if s.draw != nil {
		of := map[string]string{}
		for _, d := range s.draw {
			of[d.item] = d.chance
		}
		for i := range e.blind {
			e.blind[i].chance = of[e.blind[i].item]
		}
	}
	return e
}

// reading is what a metric comes to, before it is held against a threshold.
type reading struct {
	Measure
	exact    bool     // an interval of counts, one label a unit
	repeat   bool     // people or items repeat, so that the interval is too narrow
	open     string   // why it is not decided, whatever the interval
	recorded int      // recorded comparisons
	uneven   bool     // items were drawn with unequal chances, which the interval does not weigh
	oneKind  fraction // annotators with labels of one kind only, of all
	noModel  fraction // rows or items left out for want of a suggestion, of all that could count
}

// leave counts what was left out for a reason.
func (f *reading) leave(reason string, n int) {
	if n > 0 {
		f.LeftOut = append(f.LeftOut, LeftOut{Reason: reason, Count: n})
	}
}

// lack counts rows or items left out for want of a suggestion, beside those that count.
func (f *reading) lack(n, others int) {
	f.leave("no suggestion recorded", n)
	f.noModel = fraction{n, n + others}
}

// sure is how many comparisons count whatever the missing labels were: a label that may be none, or a second one of its item, makes no
// room for what is left out.
func sure(all []comparison) int {
	n := 0
	for _, c := range all {
		if !c.extra && !c.perhaps {
			n++
		}
	}
	return n
}

// intervalOf makes an interval of ends and a confidence.
func intervalOf(lower, upper, confidence float64, method, looks string) *Interval {
	return &Interval{Lower: number(lower), Upper: number(upper), Confidence: confidence, Method: method, Looks: looks}
}

// grouping is the comparisons of each unit, in the order in which they come.
func grouping(all []comparison, per string) (units []string, of map[string][]comparison) {
	of = map[string][]comparison{}
	for i, c := range all {
		unit := c.item
		switch per {
		case "person":
			unit = c.who
		case "label":
			unit = fmt.Sprint(i)
		}
		if _, again := of[unit]; !again {
			units = append(units, unit)
		}
		of[unit] = append(of[unit], c)
	}
	return units, of
}

// tallyOf is how many of some comparisons agree, are missing, and are there.
func tallyOf(all []comparison) (k, m, n int) {
	for _, c := range all {
		switch c.agrees {
		case 1:
			k++
		case unrecorded:
			m++
		}
	}
	return k, m, len(all)
}

// share is the metric of some comparisons, each unit once.
func shareOf(all []comparison, per string, annotators []string, a float64, repeated bool) reading {
	k, m, n := tallyOf(all)
	f := reading{recorded: n - m}
	f.Numerator, f.Denominator, f.Missing = count(k), count(n), count(m)
	confidence := 1 - 2*a
	unowned := 0
	if per == "person" {
		var owned []comparison
		for _, c := range all {
			if c.who == "" {
				unowned++
			} else {
				owned = append(owned, c)
			}
		}
		all = owned
	}
	// A missing label beside another one of the same person and item is a unit of its own, without a value (audit 7a:
	// each addition both ways only widens).
	extra := 0
	if per == "item" {
		var others []comparison
		for _, c := range all {
			if c.extra {
				extra++
			} else {
				others = append(others, c)
			}
		}
		all = others
	}
	units, of := grouping(all, per)
	f.Units = count(len(units) + extra)
	oneEach := true
	for _, u := range units {
		oneEach = oneEach && len(of[u]) == 1
	}
	if per == "label" || per == "item" && oneEach {
		f.exact = true
		f.Estimate = fraction{k, n - m}.share()
		lower, upper := rateLower(k, n, a), rateUpper(k+m, n, a)
		method, looks := "clopper-pearson", "one"
		if repeated {
			method, looks = "uniform-mixture", "any"
			lower, upper = 0, 1
			if n > 0 {
				lower, upper = coinMixture(k, n, a), 1-coinMixture(n-k-m, n, a)
			}
		}
		f.Interval = intervalOf(lower, upper, confidence, method, looks)
		if n > 0 {
			f.Completions = &Completions{*fraction{k, n}.share(), *fraction{k + m, n}.share()}
		}
		if per == "label" {
			people, items := map[string]int{}, map[string]int{}
			for _, c := range all {
				if c.who != "" {
					people[c.who]++
				}
				if !c.extra {
					items[c.item]++
				}
			}
			for _, n := range items {
				f.repeat = f.repeat || n > 1
			}
			for _, n := range people {
				f.repeat = f.repeat || n > 1 && len(annotators) > 1
			}
		}
		return f
	}
	var recorded, low, high []*big.Rat
	for range extra {
		low, high = append(low, new(big.Rat)), append(high, big.NewRat(1, 1))
	}
	if per == "person" && unowned > 0 {
		for _, who := range annotators {
			if !slices.Contains(units, who) {
				units = append(units, who)
			}
		}
		f.Units = count(len(units))
	}
	for _, u := range units {
		k, m, n := tallyOf(of[u])
		n, m = n+unowned, m+unowned
		if n-m > 0 {
			recorded = append(recorded, big.NewRat(int64(k), int64(n-m)))
		}
		low = append(low, big.NewRat(int64(k), int64(n)))
		high = append(high, big.NewRat(int64(k+m), int64(n)))
	}
	f.Interval = intervalOf(0, 1, confidence, "uniform-mixture", "any")
	if per == "person" {
		f.Denominator, f.Missing = count(*f.Denominator-unowned+unowned*len(units)), count(*f.Missing-unowned+unowned*len(units))
		if none := len(annotators) - len(units); none > 0 {
			f.LeftOut = append(f.LeftOut, LeftOut{Reason: "no such label", Count: none})
		}
	}
	if len(low) > 0 {
		lower, upper := meanInterval(uniformMixture, low, high, a)
		f.Interval = intervalOf(lower, upper, confidence, "uniform-mixture", "any")
		f.Completions = &Completions{mean(low), mean(high)}
	}
	if len(recorded) > 0 {
		f.Estimate = number(mean(recorded))
	}
	return f
}

// gapOf is visible minus blind agreement.
func gapOf(e evidence, per string, annotators []string, a float64, pairwise bool) reading {
	confidence := 1 - 2*a
	if per == "person" {
		return gapPerPerson(e, annotators, a)
	}
	v, b := shareOf(e.visible, per, annotators, a/2, false), shareOf(e.blind, per, annotators, a/2, false)
	f := reading{exact: v.exact && b.exact, repeat: v.repeat || b.repeat}
	f.Units, f.Missing = count(*v.Units+*b.Units), count(*v.Missing+*b.Missing)
	units := map[string]bool{}
	both := false
	for _, c := range e.blind {
		units[c.item] = true
	}
	for _, c := range e.visible {
		both = both || units[c.item]
	}
	lower, upper := *v.Interval.Lower-*b.Interval.Upper, *v.Interval.Upper-*b.Interval.Lower
	method, looks := "clopper-pearson", "one"
	if !f.exact {
		method = "uniform-mixture"
		if !v.exact && !b.exact {
			looks = "any"
		}
	}
	if pairwise && both {
		f.open = "an item on both sides" // and the interval shown is the other one
	} else if pairwise {
		method, looks = "fisher-product", "one"
		kv, mv, nv := tallyOf(e.visible)
		kb, mb, nb := tallyOf(e.blind)
		upper = fisherUpper(kv+mv, nv, kb, nb, a)
		lower = -fisherUpper(kb+mb, nb, kv, nv, a)
	}
	f.Interval = intervalOf(lower, upper, confidence, method, looks)
	if v.Completions != nil && b.Completions != nil {
		f.Completions = &Completions{v.Completions.Low - b.Completions.High, v.Completions.High - b.Completions.Low}
	}
	if v.recorded >= 5 && b.recorded >= 5 {
		f.Estimate = number(*v.Estimate - *b.Estimate)
	} else {
		f.open = "under five labels on a side"
	}
	return f
}

// gapPerPerson is the mean over annotators with both kinds of own visible minus own blind agreement.
func gapPerPerson(e evidence, annotators []string, a float64) reading {
	f := reading{}
	confidence := 1 - 2*a
	_, mv, nv := tallyOf(e.visible)
	_, mb, nb := tallyOf(e.blind)
	unowned := 0
	for _, c := range e.blind {
		if c.who == "" {
			unowned++
		}
	}
	var recorded, low, high []*big.Rat
	one := 0
	for _, who := range annotators {
		mine := func(all []comparison) (k, m, n int) {
			var own []comparison
			for _, c := range all {
				if c.who == who {
					own = append(own, c)
				}
			}
			return tallyOf(own)
		}
		vk, vm, vn := mine(e.visible)
		bk, bm, bn := mine(e.blind)
		bm, bn = bm+unowned, bn+unowned
		if vn == 0 && bn == unowned {
			continue // neither kind of their own
		}
		if vn == 0 || bn == 0 {
			one++
			continue
		}
		if !slices.ContainsFunc(e.visible, func(c comparison) bool { return c.who == who && !c.perhaps }) {
			low, high = append(low, big.NewRat(-1, 1)), append(high, big.NewRat(1, 1))
			continue // whether they have a visible one cannot be told
		}
		sub := func(x, y fraction) *big.Rat {
			return new(big.Rat).Sub(big.NewRat(int64(x.k), int64(x.n)), big.NewRat(int64(y.k), int64(y.n)))
		}
		low = append(low, sub(fraction{vk, vn}, fraction{bk + bm, bn}))
		high = append(high, sub(fraction{vk + vm, vn}, fraction{bk, bn}))
		if vn > vm && bn > bm {
			recorded = append(recorded, sub(fraction{vk, vn - vm}, fraction{bk, bn - bm}))
		}
	}
	f.Units, f.Missing = count(len(low)), count(mv+mb)
	f.Interval = intervalOf(-1, 1, confidence, "uniform-mixture", "any")
	if len(low) > 0 {
		lower, upper := onGains(uniformMixture, low, high, a)
		f.Interval = intervalOf(lower, upper, confidence, "uniform-mixture", "any")
		f.Completions = &Completions{mean(low), mean(high)}
		if one > 0 {
			f.oneKind = fraction{one, one + len(low)}
			f.LeftOut = []LeftOut{{Reason: "not labelled both blind and visible", Count: one}}
		}
	} else if one > 0 {
		v, b := shareOf(e.visible, "person", annotators, a/2, false), shareOf(e.blind, "person", annotators, a/2, false)
		f.Interval = intervalOf(*v.Interval.Lower-*b.Interval.Upper, *v.Interval.Upper-*b.Interval.Lower, confidence, "uniform-mixture", "any")
		f.Units = count(*v.Units + *b.Units)
		if v.Completions != nil && b.Completions != nil {
			f.Completions = &Completions{v.Completions.Low - b.Completions.High, v.Completions.High - b.Completions.Low}
		}
		if v.Estimate != nil && b.Estimate != nil {
			f.Estimate = number(*v.Estimate - *b.Estimate)
		}
	}
	if len(recorded) > 0 {
		f.Estimate = number(mean(recorded))
	}
	if nv-mv < 5 || nb-mb < 5 {
		f.Estimate = nil
		f.open = "under five labels on a side"
	}
	return f
}

// peopleOf is people_agreement, or with the model model_minus_people: over the items that two or more people labelled blind.
func peopleOf(e evidence, model bool, a float64) reading {
	f := reading{}
	items, of := grouping(e.people, "item")
	comparable := e.comparable
	var recorded, low, high []*big.Rat
	agreeing, pairs, missing, noModel, alone, lacking := 0, 0, 0, 0, 0, 0
	for _, item := range items {
		// Each person says one thing: their own label counts before one that came after a look.
		labels := map[string]int{}
		people := map[string]bool{}
		m := 0
		var says []comparison
		for _, c := range of[item] {
			if !c.extra {
				says = append(says, c)
			}
		}
		of[item] = says
		for _, c := range says {
			people[c.who] = true
			if c.label == "" {
				m++
			} else {
				labels[c.label]++
			}
		}
		if len(people) < 2 {
			alone++
			continue
		}
		if model && !comparable[item] {
			noModel++
			continue
		}
		n := len(of[item])
		same, best := 0, 0
		for _, l := range labels {
			same += l * (l - 1) / 2
			best = max(best, l)
		}
		known := n - m
		most := same + m*best + m*(m-1)/2
		all := n * (n - 1) / 2
		agreeing += same
		pairs += all
		missing += all - known*(known-1)/2
		lo, hi := big.NewRat(int64(same), int64(all)), big.NewRat(int64(most), int64(all))
		var own *big.Rat
		if known >= 2 {
			own = big.NewRat(int64(same), int64(known*(known-1)/2))
		}
		if model {
			k, mm, nn := tallyOf(says)
			lacking += mm
			peopleLow, peopleHigh := lo, hi
			lo = new(big.Rat).Sub(big.NewRat(int64(k), int64(nn)), peopleHigh)
			hi = new(big.Rat).Sub(big.NewRat(int64(k+mm), int64(nn)), peopleLow)
			if own != nil && nn > mm {
				own = new(big.Rat).Sub(big.NewRat(int64(k), int64(nn-mm)), own)
			} else {
				own = nil
			}
		}
		if own != nil {
			recorded = append(recorded, own)
		}
		low, high = append(low, lo), append(high, hi)
	}
	for _, c := range e.people {
		if c.label != "" {
			f.recorded++
		}
	}
	if model {
		_, m, n := tallyOf(e.blind)
		f.recorded = n - m
		if noModel > 0 {
			f.lack(noModel, len(low))
		}
	} else {
		f.Numerator, f.Denominator = count(agreeing), count(pairs)
	}
	if alone > 0 {
		f.LeftOut = append(f.LeftOut, LeftOut{Reason: "labelled blind by one person only", Count: alone})
	}
	f.Units, f.Missing = count(len(low)), count(missing)
	if model {
		f.Missing = count(lacking)
	}
	method := meanInterval
	f.Interval = intervalOf(0, 1, 1-2*a, "uniform-mixture", "any")
	if model {
		method = onGains
		f.Interval = intervalOf(-1, 1, 1-2*a, "uniform-mixture", "any")
	}
	if len(low) > 0 {
		lower, upper := method(uniformMixture, low, high, a)
		f.Interval = intervalOf(lower, upper, 1-2*a, "uniform-mixture", "any")
		f.Completions = &Completions{mean(low), mean(high)}
	}
	if len(recorded) > 0 {
		f.Estimate = number(mean(recorded))
	}
	return f
}

// weighted is the lower end of the weighted mixture: the largest m at which the integral of Π(1 + θ·v·(z/m - 1)) over θ
// from 0 to 1 is at least 1/a. (audit 7d) The integrand is a polynomial in θ, so Gauss-Legendre quadrature is exact.
func weighted(v []float64, z []int, a float64) float64 {
	if !slices.Contains(z, 1) {
		return 0
	}
	nodes, weights := gaussLegendre(len(v)/2 + 1)
	return largest(func(m float64) bool {
		total := 0.0
		for i, x := range nodes {
			theta := (1 + x) / 2
			product := 1.0
			for j := range v {
				product *= 1 + theta*v[j]*(float64(z[j])/m-1)
			}
			total += weights[i] / 2 * product
		}
		return total >= 1/a
	})
}

// onBlind tells whether a metric rests on blind labels.
func onBlind(metric string) bool {
	return slices.Contains([]string{"blind_agreement", "anchoring_gap", "people_agreement", "model_minus_people"}, metric)
}

// annotators are the people of the file, sorted.
func (s *anchorStudy) annotators() []string {
	set := map[string]bool{}
	for _, r := range s.rows {
		set[r.annotator] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// annotatorsOf are the people of a rule's slice.
func (s *anchorStudy) annotatorsOf(r anchorRule) []string {
	return (&anchorStudy{rows: s.sliceOf(r)}).annotators()
}

// perOf is what counts once each in a rule.
func (s *anchorStudy) perOf(r anchorRule) string {
	switch {
	case r.metric == "people_agreement" || r.metric == "model_minus_people":
		return ""
	case r.per != "":
		return r.per
	case len(s.annotators()) == 1:
		return "item"
	}
	return "person"
}

// metric works out a metric of some evidence.
func (s *anchorStudy) metric(e evidence, r anchorRule, per string, a float64, lookFirst bool) reading {
	annotators := s.annotatorsOf(r)
	var f reading
	switch r.metric {
	case "blind_agreement":
		f = s.blindAgreement(e, r, per, a)
		f.lack(e.noBlind, sure(e.blind))
		f.leave("repeated blind label", e.repeats)
	case "visible_agreement":
		f = shareOf(e.visible, per, annotators, a, r.repeated)
		f.lack(e.noVisible, sure(e.visible))
	case "acceptance_rate":
		f = shareOf(e.accepted, per, annotators, a, r.repeated)
		f.leave("accepted not recorded", e.noAccepted)
	case "verify_acceptance":
		f = shareOf(e.verify, per, annotators, a, r.repeated)
		f.lack(e.noVerify, sure(e.verify))
	case "anchoring_gap":
		f = gapOf(e, per, annotators, a, r.pairwise)
		f.lack(e.noBlind+e.noVisible, sure(e.blind)+sure(e.visible))
		f.leave("repeated blind label", e.repeats)
	default:
		f = peopleOf(e, r.metric == "model_minus_people", a)
	}
	if onBlind(r.metric) && r.metric != "blind_agreement" {
		f.uneven = s.uneven()
	}
	f.Metric = r.metric
	f.Labels = map[string]string{}
	if per != "" {
		f.Labels["per"] = per
	}
	if r.where != "" {
		u := s.classify(s.placeless(), lookFirst)
		blind, visible := len(u.blind)+u.noBlind, len(u.visible)+u.noVisible
		n := map[string]int{
			"blind_agreement": blind, "visible_agreement": visible, "anchoring_gap": blind + visible, "people_agreement": blind,
			"model_minus_people": blind, "acceptance_rate": len(u.accepted) + u.noAccepted, "verify_acceptance": len(u.verify) + u.noVerify,
		}[r.metric]
		f.leave("the column of `where` is not recorded", n)
		if f.noModel.n == 0 { // these two leave out nothing for want of a suggestion
			f.noModel.n = *f.Units
			if f.Denominator != nil && r.metric == "acceptance_rate" {
				f.noModel.n = *f.Denominator
			}
		}
		f.noModel = fraction{f.noModel.k + n, f.noModel.n + n}
		f.Labels["where"] = "site=" + r.where
	}
	if len(f.Labels) == 0 {
		f.Labels = nil
	}
	return f
}

// blindAgreement is the share of blind labels that equal the suggestion, also of a corpus, in batches, or weighted.
func (s *anchorStudy) blindAgreement(e evidence, r anchorRule, per string, a float64) reading {
	f := shareOf(e.blind, per, s.annotatorsOf(r), a, r.repeated)
	uneven := s.uneven()
	if per != "item" || !f.exact || r.corpus == 0 && !uneven {
		f.uneven = uneven
		return f
	}
	if uneven && s.draw == nil {
		// Where some blind item has no chance recorded, also one that is left out, a person decides.
		if s.least == "" || slices.ContainsFunc(s.rows, func(row labelRow) bool { return row.blind && row.chance == "" }) {
			f.uneven = true
			return f
		}
		return s.weightedAgreement(e, f, a)
	}
	// Items drawn blind, each once: one beside whose label another one is missing is missing itself. Without a draw these
	// are all with a blind row, also one without a suggestion.
	all := slices.Clone(e.blind)
	for _, c := range e.people {
		if !slices.ContainsFunc(e.blind, func(other comparison) bool { return other.item == c.item }) {
			c.agrees = unrecorded
			all = append(all, c)
		}
	}
	type batch struct{ size, k, m, n int }
	batches := map[string]*batch{}
	chanceOf := func(item string) (chance string, drawn bool) {
		for _, d := range s.draw {
			if d.item == item {
				return d.chance, d.blind
			}
		}
		return "", s.draw == nil
	}
	for _, d := range s.draw {
		if batches[d.chance] == nil {
			batches[d.chance] = &batch{}
		}
		batches[d.chance].size++
	}
	if s.draw == nil {
		batches[""] = &batch{size: r.corpus}
	}
	items, of := grouping(all, "item")
	k, m, n, undrawn := 0, 0, 0, 0
	for _, item := range items {
		chance, drawn := chanceOf(item)
		if !drawn {
			undrawn++
			continue
		}
		b := batches[chance]
		b.n++
		n++
		if k1, m1, _ := tallyOf(of[item]); m1 > 0 {
			b.m++
			m++
		} else {
			b.k += k1
			k += k1
		}
	}
	f.Numerator, f.Denominator, f.Missing, f.Units = count(k), count(n), count(m), count(n)
	f.leave("not drawn blind", undrawn)
	// The batches of which a part was drawn share the error; of one drawn as a whole all is known, of one from which
	// nothing was drawn nothing.
	partly, N := 0, 0
	for _, b := range batches {
		N += b.size
		if 0 < b.n && b.n < b.size {
			partly++
		}
	}
	// Where a probability is the error itself, to the last digit, the engine's guard takes it for larger (methods,
	// "Rounding"): the interval is then one item wider than it had to be.
	guarded := new(big.Rat).Mul(exactError(s, r), big.NewRat(999_999_999, 1_000_000_000))
	guarded.Quo(guarded, big.NewRat(int64(max(partly, 1)), 1))
	least, most := 0, 0
	estimate, low, high := new(big.Rat), new(big.Rat), new(big.Rat)
	known := true
	for _, b := range batches {
		x, y := 0, b.size
		weigh := func(sum *big.Rat, k, n int) {
			sum.Add(sum, big.NewRat(int64(k)*int64(b.size), int64(n)*int64(N)))
		}
		if b.n > 0 {
			x, y = hypergeometricBounds(b.size, b.n, b.k, b.m, guarded)
			weigh(low, b.k, b.n)
			weigh(high, b.k+b.m, b.n)
		} else {
			weigh(high, 1, 1)
		}
		if b.n > b.m {
			weigh(estimate, b.k, b.n-b.m)
		} else {
			known = false
		}
		least, most = least+x, most+y
	}
	f.Estimate, f.Completions = nil, nil
	if known {
		f.Estimate = number(float(estimate))
	}
	if n > 0 || uneven {
		f.Completions = &Completions{float(low), float(high)}
	}
	whole := func(x, of int) *big.Rat { return big.NewRat(int64(x), int64(of)) }
	corpus := [2]*big.Rat{whole(least, N), whole(most, N)}
	f.Interval = intervalOf(float(corpus[0]), float(corpus[1]), 1-2*a, "hypergeometric", "one")
	if rest := N - n; rest > 0 {
		of := [2]*big.Rat{whole(least-k, rest), whole(most-k-m, rest)}
		beside := corpus
		if r.corpus > 0 {
			f.Interval = intervalOf(float(of[0]), float(of[1]), 1-2*a, "hypergeometric", "one")
		} else {
			beside = of
		}
		// Printed with ten digits, rounded outward.
		low, high := 0.0, 1.0
		if beside[0].Sign() > 0 {
			low = float(downTo10(beside[0]))
		}
		if beside[1].Cmp(big.NewRat(1, 1)) < 0 && beside[1].Sign() > 0 {
			high = float(upTo10(beside[1]))
		} else if beside[1].Sign() == 0 {
			high = 0
		}
		f.Beside = []Beside{{"hypergeometric", low, high}}
	}
	return f
}

// weightedAgreement weighs each item by the least chance over its own.
func (s *anchorStudy) weightedAgreement(e evidence, f reading, a float64) reading {
	c := decimal(s.least)
	var v []float64
	var lowest, mirrored []int
	known, agree, all, low, high := new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
	for _, one := range e.blind {
		w := new(big.Rat).Quo(c, decimal(one.chance))
		v = append(v, float(w))
		all.Add(all, w)
		z := [2]int{one.agrees, one.agrees}
		if one.agrees == unrecorded {
			z = [2]int{0, 1}
		} else {
			known.Add(known, w)
		}
		if one.agrees == 1 {
			agree.Add(agree, w)
		}
		if z[0] == 1 {
			low.Add(low, w)
		}
		if z[1] == 1 {
			high.Add(high, w)
		}
		lowest, mirrored = append(lowest, z[0]), append(mirrored, 1-z[1])
	}
	f.Estimate, f.Completions = nil, nil
	if known.Sign() > 0 {
		f.Estimate = number(float(new(big.Rat).Quo(agree, known)))
	}
	if all.Sign() > 0 {
		f.Completions = &Completions{float(low.Quo(low, all)), float(high.Quo(high, all))}
	}
	f.Interval = intervalOf(weighted(v, lowest, a), 1-weighted(v, mirrored, a), 1-2*a, "weighted-mixture", "one")
	return f
}

// uneven tells whether items were drawn with different chances: those of the draw, else those of the blind rows, where some
// may have none recorded.
func (s *anchorStudy) uneven() bool {
	set := map[string]bool{}
	for _, d := range s.draw {
		set[d.chance] = true
	}
	if s.draw == nil {
		for _, r := range s.rows {
			if r.blind {
				set[r.chance] = true
			}
		}
	}
	return len(set) > 1
}

// exactError is the error on each side, as a fraction.
func exactError(s *anchorStudy, r anchorRule) *big.Rat {
	c := s.confidenceOf(r)
	a := divided(c, max(r.shared, 1))
	return a.Quo(a, big.NewRat(2, 1))
}

// confidenceOf is a rule's confidence by itself.
func (s *anchorStudy) confidenceOf(r anchorRule) *big.Rat {
	for _, text := range []string{r.confidence, s.level} {
		if text != "" {
			return decimal(text)
		}
	}
	return decimal("0.95")
}

// mostLeftOut is the share that a rule may leave out.
func (s *anchorStudy) mostLeftOut(r anchorRule) *big.Rat {
	if r.maxLeftOut == "" {
		return decimal("0.1")
	}
	return decimal(r.maxLeftOut)
}

// decide holds a rule against its threshold.
//
// Where it PASSes or FAILs, two things that rows may mean as well are looked at, alone and together: that a suggestion was
// seen first where only places tell, and that a label such as NA says that there is none.
func (s *anchorStudy) decide(r anchorRule) Rule {
	rule, own := s.decideOn(r, false)
	if own != Pass && own != Fail {
		return rule
	}
	without := *s
	without.rows = slices.Clone(s.rows)
	markers := 0
	for i, row := range s.rows {
		if row.label == marker {
			without.rows[i].label = ""
			markers++
		}
	}
	type readAs struct {
		study     *anchorStudy
		lookFirst bool
		why       string
	}
	var others []readAs
	if markers > 0 {
		others = append(others, readAs{&without, false, "no label, perhaps, would turn it"})
	}
	if s.classify(s.rows, false).byPlace > 0 {
		others = append(others, readAs{s, true, "another order would turn it"})
		if markers > 0 {
			others = append(others, readAs{&without, true, "both would turn it"})
		}
	}
	for _, o := range others {
		other, theirs := o.study.decideOn(r, o.lookFirst)
		rule.Close = rule.Close || other.Close
		if own != theirs && rule.Verdict != Review {
			rule.Verdict, rule.Why, rule.ByInterval = Review, o.why, false
		}
	}
	return rule
}

// marker is a label that looks like none.
const marker = "NA"

// sliceOf are the rows of a rule's slice: of items that have the site, where an empty site agrees with the item's others.
func (s *anchorStudy) sliceOf(r anchorRule) []labelRow {
	if r.where == "" {
		return s.rows
	}
	of := map[string]string{}
	for _, row := range s.rows {
		if row.site != "" {
			of[row.item] = row.site
		}
	}
	var rows []labelRow
	for _, row := range s.rows {
		if of[row.item] == r.where {
			rows = append(rows, row)
		}
	}
	return rows
}

// placeless are the rows of items that record no site, of which it cannot be told whether they are in a slice.
func (s *anchorStudy) placeless() (rows []labelRow) {
	of := map[string]bool{}
	for _, row := range s.rows {
		of[row.item] = of[row.item] || row.site != ""
	}
	for _, row := range s.rows {
		if !of[row.item] {
			rows = append(rows, row)
		}
	}
	return rows
}

// decideOn decides on the order of the rows, or as if suggestions were seen first.
func (s *anchorStudy) decideOn(r anchorRule, lookFirst bool) (rule Rule, verdict string) {
	e := s.classify(s.sliceOf(r), lookFirst)
	per := s.perOf(r)
	a := float(exactError(s, r))
	f := s.metric(e, r, per, a, lookFirst)
	rule = Rule{Measure: f.Measure, ID: r.id, Advisory: r.advisory}
	t := float(decimal(r.threshold))
	floor := s.floor
	if floor == 0 {
		floor = 20
	}
	_, mb, nb := tallyOf(e.blind)
	recordedBlind := nb - mb
	if r.metric == "people_agreement" {
		recordedBlind = f.recorded
	}
	v := Decide(r.kind, t, *f.Interval.Lower, *f.Interval.Upper)
	rule.Why = "compared: " + v + " " + r.metric + " per " + per
	rule.ByInterval = true
	rule.Close = near(t, *f.Interval.Lower, *f.Interval.Upper)
	// What is not decided comes first, then what is for a person.
	switch {
	case f.open != "":
		v, rule.Why = Insufficient, f.open
	case onBlind(r.metric) && recordedBlind < floor:
		v, rule.Why = Insufficient, "under the floor"
	case f.Estimate == nil && (f.Numerator == nil || *f.Denominator == *f.Missing): // in batches, one of them may have no estimate
		v, rule.Why = Insufficient, "nothing recorded"
	case f.noModel.k > 0 && big.NewRat(int64(f.noModel.k), int64(f.noModel.n)).Cmp(s.mostLeftOut(r)) > 0:
		v, rule.Why = Insufficient, "too much left out"
	case f.oneKind.n > 0 && big.NewRat(int64(f.oneKind.k), int64(f.oneKind.n)).Cmp(s.mostLeftOut(r)) > 0:
		v, rule.Why = Insufficient, "too many with labels of one kind"
	case f.uneven:
		v, rule.Why = Review, "unequal chances"
	case f.repeat:
		v, rule.Why = Review, "people or items repeat"
	case onBlind(r.metric) && e.departures > 0 && !lookFirst: // of the order as it is
		v, rule.Why = Review, "not as drawn"
	}
	if !strings.HasPrefix(rule.Why, "compared") {
		rule.ByInterval, rule.Close = false, false
	}
	rule.Verdict = v
	return rule, v
}
