package anchoring

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// opinion is what one person says of an item blind.
type opinion struct {
	annotator  int
	label      text
	suggestion text
	lost       bool // there is only a row that came after a suggestion was seen
}

// opinions lists, by item, what each person says of it blind, in the annotators' order.
func (v *view) opinions() [][]opinion {
	list := make([][]opinion, len(v.items))
	for _, e := range v.blind {
		of := list[e.item]
		o := opinion{e.annotator, e.label, e.suggestion, e.lost}
		switch last := len(of) - 1; {
		case last < 0 || of[last].annotator != e.annotator:
			list[e.item] = append(of, o)
		case of[last].lost: // a label of one's own counts before one that is lost
			of[last] = o
		}
	}
	return list
}

// pairs is how many pairs of people agree on an item: at the least, at the most, and out of how many, over all labels and
// over those that are recorded.
type pairs struct {
	least, most, all int
	agree, recorded  int
}

// comparePeople compares what people say of an item with each other. A missing label agrees with none at the least,
// and at the most all missing ones with the most frequent label.
func comparePeople(of []opinion) pairs {
	counts := map[string]int{}
	missing, most := 0, 0
	for _, o := range of {
		if !o.label.recorded {
			missing++
			continue
		}
		counts[o.label.value]++
		most = max(most, counts[o.label.value])
	}
	p := pairs{all: choose2(len(of)), recorded: choose2(len(of) - missing)}
	for _, n := range counts {
		p.agree += choose2(n)
	}
	p.least = p.agree
	p.most = p.agree - choose2(most) + choose2(most+missing)
	return p
}

// peopleSteps is how far each missing label of an item can move it, the last ones furthest: the next label that is the most frequent
// one agrees with all that are before it. For model_minus_people a label, or a suggestion, that is missing can agree with the model
// or not as well.
func peopleSteps(name string, of []opinion, p pairs) []float64 {
	var steps []float64
	counts, most := map[string]int{}, 0
	for _, o := range of {
		if o.label.recorded {
			counts[o.label.value]++
			most = max(most, counts[o.label.value])
		}
	}
	for _, o := range of {
		step := 0.0
		if !o.label.recorded {
			step, most = quotient(most, p.all), most+1
		}
		if name == modelMinusPeople && !(o.label.recorded && o.suggestion.recorded) {
			step += quotient(1, len(of))
		}
		if !o.label.recorded || step > 0 {
			steps = append(steps, step)
		}
	}
	return steps
}

// choose2 is the number of pairs among n.
func choose2(n int) int { return n * (n - 1) / 2 }

// people measures how often people agree with each other on blind items that two or more of them were given, or how much
// more often the model agrees with them. Items are the units, since the pairs of one item hang together.
func (v *view) people(name string) (measured, error) {
	x := &means{}
	missing, alone, without := 0, 0, 0
	var all pairs // people_agreement
	for item, of := range v.opinions() {
		if len(of) == 1 {
			alone++
		}
		if len(of) < 2 {
			continue
		}
		var model tallied
		for _, o := range of {
			recorded := o.label.recorded && o.suggestion.recorded
			model.add(comparison{recorded: recorded, agrees: recorded && o.label.value == o.suggestion.value})
		}
		if name == modelMinusPeople && !v.comparable(item) {
			without++
			continue
		}
		missing += model.missing
		for _, o := range of {
			if o.label.recorded {
				x.recorded++
			}
		}
		p := comparePeople(of)
		x.steps = append(x.steps, peopleSteps(name, of, p)...)
		x.labels += len(of)
		all = pairs{all: all.all + p.all, agree: all.agree + p.agree, recorded: all.recorded + p.recorded}
		if name == peopleAgreement {
			x.low, x.high = append(x.low, quotient(p.least, p.all)), append(x.high, quotient(p.most, p.all))
			x.lows.Add(p.least, p.all, 1)
			x.highs.Add(p.most, p.all, 1)
			if p.recorded > 0 {
				x.estimates.Add(p.agree, p.recorded, 1)
				x.estimated++
			}
			continue
		}
		// The two ends are completed apart, which can only widen.
		x.low = append(x.low, lessQuotient(model.k, model.n, p.most, p.all))
		x.high = append(x.high, lessQuotient(model.k+model.missing, model.n, p.least, p.all))
		x.lows.Add(model.k, model.n, 1)
		x.lows.Add(p.most, p.all, -1)
		x.highs.Add(model.k+model.missing, model.n, 1)
		x.highs.Add(p.least, p.all, -1)
		if p.recorded > 0 && model.recorded() > 0 {
			x.estimates.Add(model.k, model.recorded(), 1)
			x.estimates.Add(p.agree, p.recorded, -1)
			x.estimated++
		}
	}
	scale := interval.Unit
	if name == modelMinusPeople {
		scale = interval.Difference
	}
	m, err := v.mean(name, x, scale, "items", len(x.low))
	if err != nil {
		return m, err
	}
	m.Missing = report.Int(missing)
	if name == peopleAgreement { // which counts pairs
		m.Numerator, m.Denominator, m.Missing = report.Int(all.agree), report.Int(all.all), report.Int(all.all-all.recorded)
	}
	m.LeftOut = gate.LeftOut(reasonOnePerson, alone, reasonNoSuggestion, without, reasonNoSlice, len(v.unknown.blind))
	m.left, m.rows = without+len(v.unknown.blind), len(x.low)+without+len(v.unknown.blind)
	m.add("Speaks of these annotators, on items like those that several of them labelled blind.")
	if m.doubts.Undecided.Why != "" {
		m.doubts.Undecided = gate.Doubtful("Nothing was evaluated: no item was labelled blind by two or more people.", "items that two people at least label blind")
		if without > 0 {
			m.doubts.Undecided = gate.Doubtful(fmt.Sprintf("Nothing was evaluated: %s no suggestion.", gate.Plural(without, "item that several people labelled blind has", "items that several people labelled blind have")),
				"the model's suggestion on the blind rows too")
		}
	}
	if v.frame.uneven() {
		m.unequalChances()
	}
	return m, nil
}

// corrected lists the agreement figures that are corrected for chance: reported, and without an interval.
func (v *view) corrected() []measured {
	var list []measured
	add := func(metric string, estimate float64, units int, unitName, conditions string, labels ...string) {
		m := measured{Measure: report.Measure{Metric: metric, Labels: v.label(labels...), Units: report.Int(units), UnitName: unitName, Conditions: conditions}}
		if !math.IsNaN(estimate) {
			m.Estimate = report.Number(estimate)
		} else {
			m.Conditions += " It is not defined here: every label is the same."
		}
		list = append(list, m)
	}
	switch len(v.annotators) {
	case 1:
		for _, side := range []struct {
			name    string
			entries []entry
		}{{"blind", v.blind}, {"visible", v.visible}} {
			var ratings [][2]string
			for _, e := range side.entries {
				if e.label.recorded && e.suggestion.recorded {
					ratings = append(ratings, [2]string{e.suggestion.value, e.label.value})
				}
			}
			if len(ratings) > 0 {
				add(kappa, cohen(ratings), len(ratings), "labels", "Cohen's kappa of the model and the annotator: agreement beyond what their shares of each label give by chance.",
					"visibility", side.name, "between", "model_and_annotator")
			}
		}
	case 2:
		var ratings [][2]string
		for _, of := range v.opinions() {
			if len(of) == 2 && of[0].label.recorded && of[1].label.recorded {
				ratings = append(ratings, [2]string{of[0].label.value, of[1].label.value})
			}
		}
		if len(ratings) > 0 {
			add(kappa, cohen(ratings), len(ratings), "items", "Cohen's kappa of the two annotators, on items that both labelled blind.",
				"visibility", "blind", "between", "annotators")
		}
	}
	if len(v.annotators) > 1 {
		var units [][]string
		for _, of := range v.opinions() {
			var labels []string
			for _, o := range of {
				if o.label.recorded {
					labels = append(labels, o.label.value)
				}
			}
			if len(labels) > 1 {
				units = append(units, labels)
			}
		}
		if len(units) > 0 {
			add(alpha, krippendorff(units), len(units), "items", "Krippendorff's alpha (nominal) of the annotators' blind labels, on items that two or more labelled.",
				"visibility", "blind", "between", "annotators")
		}
	}
	return list
}

// cohen returns Cohen's kappa of two raters' labels of the same things,
//
//	(p_o − p_e)/(1 − p_e),   p_e = Σ over labels of the product of the two raters' shares
//
// and NaN where p_e is 1. J. Cohen, "A coefficient of agreement for nominal scales", 1960.
func cohen(ratings [][2]string) float64 {
	one, two := map[string]int{}, map[string]int{}
	same := 0
	for _, r := range ratings {
		one[r[0]]++
		two[r[1]]++
		if r[0] == r[1] {
			same++
		}
	}
	n, chance := len(ratings), 0
	for label, k := range one {
		chance += k * two[label]
	}
	if chance == n*n {
		return math.NaN()
	}
	// Multiplied by n²; the counts are far below the 2^31 up to which n² is whole.
	x, _ := big.NewRat(int64(n*same-chance), int64(n*n-chance)).Float64()
	return x
}

// krippendorff returns Krippendorff's alpha for nominal labels of units that have two or more each,
//
//	1 − (n − 1)·(n − Σ o_cc)/(n² − Σ n_c²),   o_cc = Σ over units of m_c·(m_c − 1)/(m − 1)
//
// with n labels in all, n_c of them c, and in a unit m and m_c; NaN where all labels are the same. K. Krippendorff,
// "Computing Krippendorff's alpha-reliability", 2011.
func krippendorff(units [][]string) float64 {
	totals := map[string]int{}
	var coincide gate.Fractions
	n := 0
	for _, labels := range units {
		own := map[string]int{}
		for _, l := range labels {
			own[l]++
			totals[l]++
		}
		n += len(labels)
		for _, m := range own {
			coincide.Add(m*(m-1), len(labels)-1, 1)
		}
	}
	square := big.NewInt(0)
	for _, m := range totals {
		square.Add(square, big.NewInt(int64(m*m)))
	}
	apart := new(big.Int).Sub(big.NewInt(int64(n*n)), square)
	if apart.Sign() == 0 {
		return math.NaN()
	}
	// 1 − (n−1)(n − Σo)/apart = (apart − n(n−1) + (n−1)·Σo)/apart
	var sum gate.Fractions
	sum.AddBig(new(big.Int).Sub(apart, big.NewInt(int64(n*(n-1)))), 1, 1)
	for d, k := range coincide {
		sum.AddBig(new(big.Int).Mul(k, big.NewInt(int64(n-1))), d, 1)
	}
	return sum.OverBig(apart)
}

// times measures labelling times in seconds: the pooled median of blind or of visible labels without an interval (labels
// of the same people would make it far too narrow), and the median over annotators of their own medians with one. A
// missing time is 0 for the lower end and unbounded for the upper. No time recorded: no measure.
func (v *view) times(visibility string, entries []entry) ([]measured, error) {
	var pooled, low, high, medians []float64
	labels, missing := 0, 0
	for from := 0; from < len(entries); {
		var own []float64
		gaps, to := 0, from
		for ; to < len(entries) && entries[to].annotator == entries[from].annotator; to++ {
			d, both := entries[to].duration()
			switch {
			case entries[to].lost:
			case both:
				own = append(own, d.Float64())
			default:
				gaps++
			}
		}
		from = to
		if len(own)+gaps == 0 {
			continue
		}
		labels, missing = labels+len(own)+gaps, missing+gaps
		pooled = append(pooled, own...)
		fill := func(x float64) float64 {
			return median(append(slices.Clone(own), slices.Repeat([]float64{x}, gaps)...))
		}
		low, high = append(low, fill(0)), append(high, fill(math.Inf(1)))
		if len(own) > 0 {
			medians = append(medians, median(own))
		}
	}
	if len(pooled) == 0 {
		return nil, nil
	}
	all := measured{Measure: report.Measure{
		Metric: labellingTime, MeasuredIn: "seconds", Labels: v.label("visibility", visibility), Estimate: report.Number(median(pooled)),
		Units: report.Int(labels), UnitName: "labels", Missing: report.Int(missing),
		Conditions: "The median of all labels, which has no interval, since the labels of one annotator hang together.",
	}}
	if v.single() { // over one annotator's median there is nothing more to say
		return []measured{all}, nil
	}
	iv, err := interval.Median(low, high, v.judging.Confidence.Value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", labellingTime, err)
	}
	each := measured{Measure: report.Measure{
		Metric: labellingTime, MeasuredIn: "seconds", Labels: v.label("visibility", visibility, "per", perPerson), Estimate: report.Number(median(medians)),
		Interval: report.PublishInterval(iv), Units: report.Int(len(low)), UnitName: "annotators", Missing: report.Int(missing),
		Conditions: "The median over annotators of each one's own median. " + gate.Conditions(iv, "annotators", v.judging),
	}}
	return []measured{all, each}, nil
}

// median is the middle value, or the mean of the two middle ones; it orders list.
func median(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	if n%2 == 1 {
		return list[n/2]
	}
	return float64(list[n/2-1]/2) + float64(list[n/2]/2)
}
