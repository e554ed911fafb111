package audit

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Group is a group of cases and how they are labelled and predicted.
type Group struct {
	Cases         int     // how many, or, where sizes are drawn, how many on average
	Positive      float64 // the share labelled 1
	TruePositive  float64 // the chance of the prediction 1 for a case labelled 1
	FalsePositive float64 // likewise for one labelled 0
	// The chance that the prediction is not recorded, by what it is.
	MissingNo, MissingYes float64
	// The chance that a prediction 1 of a case labelled 0, a false positive, is not recorded; 0: as MissingYes says.
	MissingFalseYes float64
}

// Fairness is an audit of decided cases in groups, named g0, g1 and so on, of one attribute, "group".
//
// Truth, for each rate as rules name it (false_negative, false_positive, accuracy, error, selection, precision, …): RATE/g0 and so on
// of each group, RATE/gap the largest distance of two, RATE/ratio the smallest over the largest, RATE/least and RATE/most.
type Fairness struct {
	Groups     []Group
	DrawnSizes bool // each case's group is drawn, in proportion to the groups' Cases; else the sizes are exact
	MinCell    int  // min_cell; 0: not said, so that the gate's default holds
}

// Gate implements Model.
func (Fairness) Gate() string { return "fairness" }

// Settings implements Model.
func (m Fairness) Settings() string {
	text := "cases: study.csv\nid: id\nlabel: label\nprediction: prediction\nattributes: {group: [" + strings.Join(numbered("g", len(m.Groups)), ", ") + "]}\n"
	if m.MinCell > 0 {
		text += fmt.Sprintf("min_cell: %d\n", m.MinCell)
	}
	return text
}

// Check implements Model.
func (m Fairness) Check() error {
	if len(m.Groups) < 2 {
		return fmt.Errorf("%d groups; two or more are compared", len(m.Groups))
	}
	for i, g := range m.Groups {
		for _, x := range []float64{g.Positive, g.TruePositive, g.FalsePositive, g.MissingNo, g.MissingYes, g.MissingFalseYes} {
			if err := checkChance(fmt.Sprintf("a chance of group %d", i), x, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// Draw implements Model.
func (m Fairness) Draw(r *rand.Rand, columns []string) Drawn {
	at := places(columns, "id", "label", "prediction", "group")
	groups := numbered("g", len(m.Groups))
	n := 0
	sizes := make(Points, len(m.Groups))
	for i, g := range m.Groups {
		n += g.Cases
		sizes[i] = Point{float64(i), float64(g.Cases)}
	}
	ids := numbered("", n)
	study, texts := make([][]string, 0, n), make([]string, n*len(columns))
	add := func(group int) {
		g := &m.Groups[group]
		row := texts[:len(columns):len(columns)]
		texts = texts[len(columns):]
		label := happens(r, g.Positive)
		chance := g.FalsePositive
		if label {
			chance = g.TruePositive
		}
		prediction := happens(r, chance)
		missing := g.MissingNo
		if prediction {
			missing = g.MissingYes
			if !label && g.MissingFalseYes > 0 {
				missing = g.MissingFalseYes
			}
		}
		set(row, at[0], ids[len(study)])
		set(row, at[1], digit(label))
		if missing == 0 || !happens(r, missing) {
			set(row, at[2], digit(prediction))
		}
		set(row, at[3], groups[group])
		study = append(study, row)
	}
	if m.DrawnSizes {
		for range n {
			add(int(sizes.draw(r)))
		}
	} else {
		for i, g := range m.Groups {
			for range g.Cases {
				add(i)
			}
		}
	}
	return Drawn{Study{study}, m.truth(groups)}
}

// truth is the groups' rates and how far they lie apart. A rate of which the denominator has no chance is left out.
func (m Fairness) truth(groups []string) Truth {
	truth := Truth{}
	for i, g := range m.Groups {
		tp, fn := float64(g.Positive*g.TruePositive), float64(g.Positive*(1-g.TruePositive))
		fp, tn := float64((1-g.Positive)*g.FalsePositive), float64((1-g.Positive)*(1-g.FalsePositive))
		for _, rate := range []struct {
			name     string
			k, other float64
		}{
			{"error", fp + fn, tp + tn}, {"accuracy", tp + tn, fp + fn}, {"selection", tp + fp, tn + fn},
			{"false_positive", fp, tn}, {"true_negative", tn, fp}, {"false_negative", fn, tp}, {"true_positive", tp, fn},
			{"precision", tp, fp}, {"false_discovery", fp, tp}, {"false_omission", fn, tn}, {"negative_predictive_value", tn, fn},
		} {
			if rate.k+rate.other <= 0 {
				continue
			}
			value := rate.k / (rate.k + rate.other)
			truth[rate.name+"/"+groups[i]] = value
			least, most := value, value
			if i > 0 {
				least, most = min(value, truth[rate.name+"/least"]), max(value, truth[rate.name+"/most"])
			}
			truth[rate.name+"/least"], truth[rate.name+"/most"] = least, most
			truth[rate.name+"/gap"] = most - least
			if most > 0 {
				truth[rate.name+"/ratio"] = least / most
			}
		}
	}
	return truth
}
