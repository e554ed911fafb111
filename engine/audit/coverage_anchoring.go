package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// anchoringCells are the cells of the gate anchoring: one annotator, several, several labels an item, and items drawn with unequal
// chances.
func anchoringCells() []Cell {
	return slices.Concat(oneAnnotatorCells(), annotatorsCells(), severalLabelsCells(), unequalChanceCells())
}

// losing is a way in which blind labels come to be missing.
type losing struct {
	name            string
	agree, disagree float64 // the chance that a blind label is not recorded, by whether it agrees
}

// losings are none, by chance, and where people disagree with the model.
func losings() []losing {
	return []losing{{name: nothingMissing}, {"20 % of labels", 0.2, 0.2}, {"40 % of those that disagree", 0, 0.4}}
}

// anchoringFactors says where a cell is.
func anchoringFactors(m Anchoring, spread float64, missing string) []Factor {
	return []Factor{
		{"annotators", strconv.Itoa(m.Annotators)}, {"items", strconv.Itoa(m.Items)}, {"blind", decimal(m.Blind)}, {"spread", decimal(spread)},
		{"pull", decimal(m.Pull)}, {missingFactor, missing},
	}
}

// oneAnnotatorCells: items are the units, and every interval is exact for a rate.
func oneAnnotatorCells() []Cell {
	var cells []Cell
	for _, items := range []int{100, 300, 2000} {
		for _, blind := range []float64{0.1, 0.2, 0.5} {
			for i, lost := range losings() {
				for _, pull := range []float64{0, 0.3} {
					if pull == 0 && i > 0 {
						continue // what is missing hides a gap, or makes one: where there is one, both ends show it
					}
					m := Anchoring{Annotators: 1, Items: items, Blind: blind, Visible: true, Agreement: Points{{0.8, 1}}, Pull: pull, MissingAgree: lost.agree, MissingDisagree: lost.disagree}
					corpus := fmt.Sprintf("metric: blind_agreement, corpus_size: %d, minimum: %%s", items)
					c := Cell{
						Name:    fmt.Sprintf("anchoring/one annotator/items %d/blind %s/pull %s/missing %s", items, decimal(blind), decimal(pull), lost.name),
						Factors: anchoringFactors(m, 0, lost.name), Model: m, Studies: 1000,
						Targets: []Target{
							{Name: "blind_agreement", Rule: "metric: blind_agreement, minimum: %s", Truth: "blind_agreement/item"},
							{Name: "blind_agreement, per: label", Rule: "metric: blind_agreement, per: label, minimum: %s", Truth: "blind_agreement/item"},
							{Name: "visible_agreement", Rule: "metric: visible_agreement, minimum: %s", Truth: "visible_agreement/item"},
							{Name: "anchoring_gap", Rule: "metric: anchoring_gap, maximum: %s", AtMost: true, Truth: "anchoring_gap/item", Scale: interval.Difference},
							{Name: "anchoring_gap, interval: pairwise", Rule: "metric: anchoring_gap, interval: pairwise, maximum: %s", AtMost: true, Truth: "anchoring_gap/item", Scale: interval.Difference},
							{Name: "blind_agreement of the rest, corpus_size", Rule: corpus, Truth: "blind_agreement/rest", EndsOnly: true},
							{Name: "blind_agreement of the corpus, corpus_size", Rule: corpus, Truth: "blind_agreement/corpus", EndsOnly: true, Ends: endsOfCorpus},
						},
						Rivals: []Rival{{Name: waldName, Target: "blind_agreement", Bounds: waldAgreement}, {Name: waldName, Target: "anchoring_gap", Bounds: waldGap}},
					}
					switch {
					case items == 2000:
						c.Studies = 300
					case items == 300 && blind == 0.2 && pull > 0:
						c.Quick = 100
					}
					cells = append(cells, c)
				}
			}
		}
	}
	return cells
}

// endsOfCorpus is where the interval for the whole corpus lies, which stands beside that for the rest of it.
func endsOfCorpus(r *report.Rule, truth Truth) Ends {
	if len(r.IntervalsBeside) == 0 {
		return endsOf(r.Interval, truth["blind_agreement/corpus"]) // all of it was drawn
	}
	iv := r.IntervalsBeside[0]
	return Ends{Above: iv.Lower > truth["blind_agreement/corpus"], Below: iv.Upper < truth["blind_agreement/corpus"], Width: iv.Upper - iv.Lower}
}

// annotatorsCells: several annotators, over people like them and over the items of these.
func annotatorsCells() []Cell {
	var cells []Cell
	for _, annotators := range []int{8, 40, 150} {
		for _, items := range []int{300, 2000} {
			for _, spread := range []float64{0, 0.15} {
				for i, lost := range losings() {
					m := Anchoring{Annotators: annotators, Items: items, Blind: 0.5, Visible: true, Agreement: Spread(0.8, spread), MissingAgree: lost.agree, MissingDisagree: lost.disagree}
					if i > 0 || items == 300 {
						m.Pull = 0.3
					}
					if items == 2000 {
						m.Blind = 0.2
					}
					differ := spread > 0 // what is true of these annotators then differs from study to study
					c := Cell{
						Name:    fmt.Sprintf("anchoring/annotators %d/items %d/blind %s/spread %s/pull %s/missing %s", annotators, items, decimal(m.Blind), decimal(spread), decimal(m.Pull), lost.name),
						Factors: anchoringFactors(m, spread, lost.name), Model: m, Studies: 400,
						Targets: []Target{
							{Name: "blind_agreement, per: person", Rule: "metric: blind_agreement, per: person, minimum: %s", Truth: "blind_agreement/person"},
							{Name: "visible_agreement, per: person", Rule: "metric: visible_agreement, per: person, minimum: %s", Truth: "visible_agreement/person"},
							{Name: "anchoring_gap, per: person", Rule: "metric: anchoring_gap, per: person, maximum: %s", AtMost: true, Truth: "anchoring_gap/person", Scale: interval.Difference},
							{Name: "blind_agreement, per: item", Rule: "metric: blind_agreement, per: item, minimum: %s", Truth: "blind_agreement/item", EndsOnly: differ},
							{Name: "anchoring_gap, per: item, interval: pairwise", Rule: "metric: anchoring_gap, per: item, interval: pairwise, maximum: %s", AtMost: true, Truth: "anchoring_gap/item", Scale: interval.Difference, EndsOnly: differ},
						},
						Rivals: []Rival{
							{Name: naiveName, Target: "blind_agreement, per: person", Bounds: waldAgreement}, {Name: studentName, Target: "blind_agreement, per: person", Bounds: studentAgreement},
							{Name: naiveName, Target: "anchoring_gap, per: person", Bounds: waldGap}, {Name: studentName, Target: "anchoring_gap, per: person", Bounds: studentGap},
						},
					}
					switch {
					case items == 2000:
						c.Studies = 200
					case annotators == 8 && differ && i != 1:
						c.Quick = 60
					}
					cells = append(cells, c)
				}
			}
		}
	}
	return cells
}

// severalLabelsCells: each item is labelled by three people, and hard items are hard for all of them.
func severalLabelsCells() []Cell {
	var cells []Cell
	for _, items := range []int{100, 300} {
		for _, lost := range losings() {
			m := Anchoring{Annotators: 8, Items: items, Blind: 0.5, Labels: 3, Agreement: Points{{0.9, 1}}, MissingAgree: lost.agree, MissingDisagree: lost.disagree,
				Kinds: []ItemKind{{Weight: 3, Blind: 0.5}, {Weight: 1, Blind: 0.5, Harder: 0.6}}}
			c := Cell{
				Name:    fmt.Sprintf("anchoring/three labels an item/items %d/missing %s", items, lost.name),
				Factors: append(anchoringFactors(m, 0, lost.name), Factor{"labels an item", "3"}), Model: m, Studies: 1000,
				Targets: []Target{
					{Name: "blind_agreement, per: item", Rule: "metric: blind_agreement, per: item, minimum: %s", Truth: "blind_agreement/item"},
					{Name: "people_agreement", Rule: "metric: people_agreement, minimum: %s", Truth: "people_agreement"},
					{Name: "model_minus_people", Rule: "metric: model_minus_people, minimum: %s", Truth: "model_minus_people", Scale: interval.Difference},
				},
				Rivals: []Rival{{Name: naiveName, Target: "blind_agreement, per: item", Bounds: waldAgreement}, {Name: naiveName, Target: "people_agreement", Bounds: waldPairs}},
			}
			if items == 100 && lost.agree == lost.disagree {
				c.Quick = 60
			}
			cells = append(cells, c)
		}
	}
	return cells
}

// unequalChanceCells: the less the model agrees on items of a kind, the more likely they are labelled blind. What is true of the
// corpus differs from study to study. The other interval does not weigh the items.
func unequalChanceCells() []Cell {
	var cells []Cell
	for _, items := range []int{300, 2000} {
		for _, lost := range losings() {
			m := Anchoring{Annotators: 1, Items: items, Agreement: Points{{0.95, 1}}, MissingAgree: lost.agree, MissingDisagree: lost.disagree}
			for i := range 5 {
				m.Kinds = append(m.Kinds, ItemKind{Weight: 1, Blind: float64(1+i) / 10, Harder: float64(3*i) / 20})
			}
			c := Cell{
				Name:    fmt.Sprintf("anchoring/unequal chances/items %d/missing %s", items, lost.name),
				Factors: []Factor{{"annotators", "1"}, {"items", strconv.Itoa(items)}, {"blind", "0.1 to 0.5"}, {missingFactor, lost.name}}, Model: m, Studies: 1000,
				Targets: []Target{{Name: "blind_agreement of the corpus, weighted", Rule: "metric: blind_agreement, minimum: %s", Truth: "blind_agreement/corpus", EndsOnly: true}},
				Rivals:  []Rival{{Name: naiveName, Target: "blind_agreement of the corpus, weighted", Bounds: waldAgreement}},
			}
			if items == 300 && lost.agree == lost.disagree {
				c.Quick = 100
			}
			cells = append(cells, c)
		}
	}
	return cells
}

// labels counts one person's recorded labels, and those that agree with the model, by whether they are blind.
type labels struct{ blind, visible hits }

// labelsOf counts the labels of a study by annotator, in the order in which they come. Those that are not recorded are left out, as
// people leave them out.
func labelsOf(s Study, columns []string) []labels {
	at := places(columns, "annotator", "suggestion", "label", "visibility")
	index := map[string]int{}
	var list []labels
	for _, row := range s[0] {
		i, found := index[row[at[0]]]
		if !found {
			i = len(list)
			index[row[at[0]]] = i
			list = append(list, labels{})
		}
		if row[at[2]] == "" {
			continue
		}
		of := &list[i].visible
		if row[at[3]] == "blind" {
			of = &list[i].blind
		}
		of.add(row[at[1]] == row[at[2]])
	}
	return list
}

// pooledLabels are all labels of a study.
func pooledLabels(s Study, columns []string) labels {
	var all labels
	for _, one := range labelsOf(s, columns) {
		all.blind.k, all.blind.n = all.blind.k+one.blind.k, all.blind.n+one.blind.n
		all.visible.k, all.visible.n = all.visible.k+one.visible.k, all.visible.n+one.visible.n
	}
	return all
}

// waldAgreement is Wald's interval of blind agreement over all labels.
func waldAgreement(s Study, columns []string, _ *rand.Rand) (lower, upper float64, ok bool) {
	all := pooledLabels(s, columns)
	return waldRate(all.blind.k, all.blind.n, normal975)
}

// waldGap is Wald's interval of the anchoring gap over all labels.
func waldGap(s Study, columns []string, _ *rand.Rand) (lower, upper float64, ok bool) {
	all := pooledLabels(s, columns)
	return waldDifference(all.visible.k, all.visible.n, all.blind.k, all.blind.n)
}

// studentAgreement is Student's interval of the mean over annotators of their own blind agreement.
func studentAgreement(s Study, columns []string, _ *rand.Rand) (lower, upper float64, ok bool) {
	var own []float64
	for _, one := range labelsOf(s, columns) {
		if one.blind.n > 0 {
			own = append(own, one.blind.share())
		}
	}
	return student(own)
}

// studentGap is Student's interval of the mean over annotators of their own gap.
func studentGap(s Study, columns []string, _ *rand.Rand) (lower, upper float64, ok bool) {
	var own []float64
	for _, one := range labelsOf(s, columns) {
		if one.blind.n > 0 && one.visible.n > 0 {
			own = append(own, one.visible.share()-one.blind.share())
		}
	}
	return student(own)
}

// waldPairs is Wald's interval of how often two people agree on an item, over all pairs of labels of one item. The labels of one item
// stand together.
func waldPairs(s Study, columns []string, _ *rand.Rand) (lower, upper float64, ok bool) {
	at := places(columns, "item", "label")
	var pairs hits
	for i, row := range s[0] {
		for j := i - 1; j >= 0 && s[0][j][at[0]] == row[at[0]]; j-- {
			if a, b := row[at[1]], s[0][j][at[1]]; a != "" && b != "" {
				pairs.add(a == b)
			}
		}
	}
	return waldRate(pairs.k, pairs.n, normal975)
}
