package audit

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// ItemKind is a share of the items, and how they differ from others.
type ItemKind struct {
	Weight float64
	Blind  float64 // the chance that such an item is labelled blind
	Harder float64 // what is taken off each annotator's chance to agree with the model
}

// Anchoring is a labelling of items beside a model that suggests a label for each. Each item is one annotator's, or as many as
// Labels says, each alone; it is labelled blind with one chance, by a coin of its own; there are two labels.
//
// Truth: blind_agreement and visible_agreement and anchoring_gap, after a slash person (over people like these) or item (these
// annotators on items like these, each as often as it falls to them); blind_agreement/corpus is how many of the study's
// own items, all of them, would agree with the model if they were labelled blind, blind_agreement/rest how many of those that
// were not (of all where none is left). With several labels an item also people_agreement,
// of two people on an item, and model_minus_people, of these annotators on items like these. With kinds of items of which the chance
// to be labelled blind differs there is only what is true of blind labels.
type Anchoring struct {
	Annotators int
	Items      int     // of the corpus, as evenly among the annotators as can be
	Blind      float64 // the chance that an item is labelled blind
	Visible    bool    // items that are not blind are labelled with the suggestion on the screen; else not at all
	Agreement  Points  // an annotator's chance to agree with the model where they do not see its suggestion
	Pull       float64 // the chance that a label that would not agree does so when the suggestion is seen
	// The chance that a blind label is not recorded, by whether it agrees.
	MissingAgree, MissingDisagree float64
	Floor                         int // minimum_blind_sample; 0: not said, so that the gate's default holds
	// Labels is how many annotators label each item, the next ones in turn; 0: one.
	Labels int
	// Kinds are the kinds of items, each item's drawn by their weights; their chances to be labelled blind take the place of Blind, and
	// are recorded where they differ. None: all items are alike.
	Kinds []ItemKind
}

// kinds are the kinds of items, one where none are said.
func (m Anchoring) kinds() []ItemKind {
	if len(m.Kinds) == 0 {
		return []ItemKind{{Weight: 1, Blind: m.Blind}}
	}
	return m.Kinds
}

// blind is the least and the largest chance of an item to be labelled blind, and how much harder items are at the least and at the most.
func (m Anchoring) blind() (least, most, easiest, hardest float64) {
	list := m.kinds()
	least, most, easiest, hardest = list[0].Blind, list[0].Blind, list[0].Harder, list[0].Harder
	for _, k := range list[1:] {
		least, most = min(least, k.Blind), max(most, k.Blind)
		easiest, hardest = min(easiest, k.Harder), max(hardest, k.Harder)
	}
	return least, most, easiest, hardest
}

// Gate implements Model.
func (Anchoring) Gate() string { return "anchoring" }

// Settings implements Model.
func (m Anchoring) Settings() string {
	text := ""
	if m.Floor > 0 {
		text += fmt.Sprintf("minimum_blind_sample: %d\n", m.Floor)
	}
	if least, most, _, _ := m.blind(); least < most {
		text += "least_inclusion_probability: " + decimal(least) + "\n"
	}
	return text
}

// decimal writes a number without an exponent.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Check implements Model.
func (m Anchoring) Check() error {
	low, high := m.Agreement.ends()
	least, most, easiest, hardest := m.blind()
	switch {
	case len(m.Agreement) == 0 || m.Annotators < 1:
		return fmt.Errorf("there is no annotator")
	case m.Labels < 0 || m.Labels > m.Annotators:
		return fmt.Errorf("%d labels of each item by %d annotators; each labels an item once at most", m.Labels, m.Annotators)
	case least < most && !(least > 0):
		return fmt.Errorf("some items are never labelled blind while others are; then nothing is said of them")
	}
	for _, k := range m.Kinds {
		if err := (Points{{0, k.Weight}}).check("a kind of item"); err != nil {
			return err
		}
	}
	return firstError(checkChance("the agreement", low-hardest, high-easiest), checkChance("the pull", m.Pull, m.Pull), checkChance("the share of blind items", least, most),
		checkChance("the chance that a label is missing", min(m.MissingAgree, m.MissingDisagree), max(m.MissingAgree, m.MissingDisagree)), m.Agreement.check("the agreement"))
}

// Draw implements Model.
func (m Anchoring) Draw(r *rand.Rand, columns []string) Drawn {
	at := places(columns, "item", "annotator", "suggestion", "label", "visibility", "inclusion_probability")
	labels := [2]string{"no", "yes"}
	people := numbered("a", m.Annotators)
	own := make([]float64, m.Annotators)
	for i := range own {
		own[i] = m.Agreement.draw(r)
	}
	kinds := m.kinds()
	weights := make(Points, len(kinds))
	for i, k := range kinds {
		weights[i] = Point{float64(i), k.Weight}
	}
	least, most, _, _ := m.blind()
	each := max(1, m.Labels)
	names := numbered("i", m.Items)
	study, texts := make([][]string, 0, m.Items*each), make([]string, m.Items*each*len(columns))
	agreeing, resting, rest := 0, 0, 0 // labels that agree, those on items that are not blind, and all on those
	for i, name := range names {
		k := &kinds[int(weights.draw(r))]
		blind, said := happens(r, k.Blind), r.IntN(2)
		for j := range each {
			a := (i*each + j) % m.Annotators
			agrees := happens(r, own[a]-k.Harder)
			if agrees {
				agreeing++
			}
			if !blind {
				rest++
				if agrees {
					resting++
				}
			}
			if !blind && !m.Visible {
				continue
			}
			visibility, missing := "visible", 0.0
			if blind {
				visibility, missing = "blind", m.MissingDisagree
				if agrees {
					missing = m.MissingAgree
				}
			} else if !agrees && happens(r, m.Pull) {
				agrees = true
			}
			row := texts[:len(columns):len(columns)]
			texts = texts[len(columns):]
			label := labels[said]
			if !agrees {
				label = labels[1-said]
			}
			set(row, at[0], name)
			set(row, at[1], people[a])
			set(row, at[2], labels[said])
			if missing == 0 || !happens(r, missing) {
				set(row, at[3], label)
			}
			set(row, at[4], visibility)
			if least < most {
				set(row, at[5], decimal(k.Blind))
			}
			study = append(study, row)
		}
	}
	truth := m.truth(own)
	truth["blind_agreement/corpus"] = float64(agreeing) / float64(max(1, m.Items*each))
	truth["blind_agreement/rest"] = truth["blind_agreement/corpus"]
	if rest > 0 {
		truth["blind_agreement/rest"] = float64(resting) / float64(rest)
	}
	return Drawn{Study{study}, truth}
}

// truth is what is true of annotators with these chances to agree, of people like them, and of items like these.
func (m Anchoring) truth(own []float64) Truth {
	total, harder := 0.0, 0.0
	for _, k := range m.kinds() {
		total += k.Weight
		harder += float64(k.Weight * k.Harder)
	}
	harder /= total
	each := max(1, m.Labels)
	sum, pairs := 0.0, 0.0
	for i := range m.Items {
		for j := range each {
			p := own[(i*each+j)%m.Annotators]
			sum += p - harder
			for l := range j {
				q := own[(i*each+l)%m.Annotators]
				for _, k := range m.kinds() {
					x, y := p-k.Harder, q-k.Harder
					pairs += float64(k.Weight / total * (float64(x*y) + float64((1-x)*(1-y))))
				}
			}
		}
	}
	person := m.Agreement.Mean() - harder
	item := sum / float64(max(1, m.Items*each))
	truth := Truth{"blind_agreement/person": person, "blind_agreement/item": item}
	if each > 1 {
		truth["people_agreement"] = pairs / float64(max(1, m.Items*each*(each-1)/2))
		truth["model_minus_people"] = item - truth["people_agreement"]
	}
	if least, most, _, _ := m.blind(); least == most {
		truth["visible_agreement/person"], truth["anchoring_gap/person"] = person+float64((1-person)*m.Pull), float64((1-person)*m.Pull)
		truth["visible_agreement/item"], truth["anchoring_gap/item"] = item+float64((1-item)*m.Pull), float64((1-item)*m.Pull)
	}
	return truth
}
