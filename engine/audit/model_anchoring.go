package audit

import (
	"fmt"
	"math/rand/v2"
)

// Anchoring is a labelling of items beside a model that suggests a label for each. Each item is one annotator's, and is
// labelled blind with one chance, by a coin of its own; there are two labels.
//
// Truth: blind_agreement and visible_agreement and anchoring_gap, after a slash person (over people like these) or item (these
// annotators on items like these, each as often as it falls to them); blind_agreement/corpus is how many of the study's
// own items, all of them, would agree with the model if they were labelled blind.
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
}

// Gate implements Model.
func (Anchoring) Gate() string { return "anchoring" }

// Settings implements Model.
func (m Anchoring) Settings() string {
	if m.Floor > 0 {
		return fmt.Sprintf("minimum_blind_sample: %d\n", m.Floor)
	}
	return ""
}

// Check implements Model.
func (m Anchoring) Check() error {
	low, high := m.Agreement.ends()
	if len(m.Agreement) == 0 || m.Annotators < 1 {
		return fmt.Errorf("there is no annotator")
	}
	return firstError(checkChance("the agreement", low, high), checkChance("the pull", m.Pull, m.Pull), checkChance("the share of blind items", m.Blind, m.Blind),
		checkChance("the chance that a label is missing", min(m.MissingAgree, m.MissingDisagree), max(m.MissingAgree, m.MissingDisagree)), m.Agreement.check("the agreement"))
}

// Draw implements Model.
func (m Anchoring) Draw(r *rand.Rand, columns []string) Drawn {
	at := places(columns, "item", "annotator", "suggestion", "label", "visibility")
	labels := [2]string{"no", "yes"}
	people := numbered("a", m.Annotators)
	own := make([]float64, m.Annotators)
	for i := range own {
		own[i] = m.Agreement.draw(r)
	}
	names := numbered("i", m.Items)
	study, texts := make([][]string, 0, m.Items), make([]string, m.Items*len(columns))
	agreeing, chances := 0, 0.0
	for i, name := range names {
		a := i % m.Annotators
		chances += own[a]
		agrees, blind, said := happens(r, own[a]), happens(r, m.Blind), r.IntN(2)
		if agrees {
			agreeing++
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
		study = append(study, row)
	}
	person := m.Agreement.Mean()
	item := chances / float64(max(1, m.Items))
	return Drawn{Study{study}, Truth{
		"blind_agreement/person": person, "visible_agreement/person": person + float64((1-person)*m.Pull), "anchoring_gap/person": float64((1 - person) * m.Pull),
		"blind_agreement/item": item, "visible_agreement/item": item + float64((1-item)*m.Pull), "anchoring_gap/item": float64((1 - item) * m.Pull),
		"blind_agreement/corpus": float64(agreeing) / float64(max(1, m.Items)),
	}}
}
