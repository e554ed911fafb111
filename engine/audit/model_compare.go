package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Chances is how likely a trial of a case is to pass in each version, for a share of the cases.
type Chances struct{ Baseline, Candidate, Weight float64 }

// Compare is a comparison of two versions of an agent on the same cases, with several trials each.
//
// Truth: pass_rate_difference, and for each version, after a slash baseline or candidate: rate, pass_at_k and pass_all_k with
// the model's K. With a fixed list they are those of the list.
type Compare struct {
	Cases  int
	Trials [2]int    // of each case, by version: baseline, candidate
	Kinds  []Chances // of cases
	// Fixed says that the cases are one list, the kinds in proportion to their weights, the same in every study, and not drawn.
	Fixed bool
	K     int // of pass_at_k and pass_all_k; 0: none
	// The chance that a trial's result is not recorded, by version, of one that failed and of one that passed.
	MissingFailed, MissingPassed [2]float64
}

// Gate implements Model.
func (Compare) Gate() string { return "compare" }

// Settings implements Model.
func (m Compare) Settings() string {
	text := "baseline: baseline\ncandidate: candidate\n"
	if m.Fixed {
		text += "case_list: fixed\n"
	}
	return text
}

// Check implements Model.
func (m Compare) Check() error {
	if len(m.Kinds) == 0 {
		return fmt.Errorf("there is no kind of case")
	}
	for _, k := range m.Kinds {
		if err := firstError(checkChance("the chance to pass", min(k.Baseline, k.Candidate), max(k.Baseline, k.Candidate)), Points{{0, k.Weight}}.check("a kind of case")); err != nil {
			return err
		}
	}
	for v := range m.Trials {
		if err := checkChance("the chance that a trial is missing", min(m.MissingFailed[v], m.MissingPassed[v]), max(m.MissingFailed[v], m.MissingPassed[v])); err != nil {
			return err
		}
	}
	return nil
}

// list is the kinds of a fixed list of so many cases, each as often as its weight says, to the nearest whole number of cases.
func (m Compare) list() []Chances {
	total, sum := 0.0, 0.0
	for _, k := range m.Kinds {
		total += k.Weight
	}
	list := make([]Chances, 0, m.Cases)
	for _, k := range m.Kinds {
		sum += k.Weight
		for float64(len(list)) < math.Round(float64(float64(m.Cases)*sum)/total) {
			list = append(list, k)
		}
	}
	return list
}

// Draw implements Model.
func (m Compare) Draw(r *rand.Rand, columns []string) Drawn {
	at := places(columns, "version", "case", "trial", "passed")
	weights := make(Points, len(m.Kinds))
	for i, k := range m.Kinds {
		weights[i] = Point{float64(i), k.Weight}
	}
	cases := m.list()
	if !m.Fixed {
		for i := range cases {
			cases[i] = m.Kinds[int(weights.draw(r))]
		}
	}
	versions := [2]string{"baseline", "candidate"}
	names, trials := numbered("c", m.Cases), numbered("", max(m.Trials[0], m.Trials[1]))
	n := m.Cases * (m.Trials[0] + m.Trials[1])
	study, texts := make([][]string, 0, n), make([]string, n*len(columns))
	for i, k := range cases {
		for v, chance := range [2]float64{k.Baseline, k.Candidate} {
			for t := range m.Trials[v] {
				row := texts[:len(columns):len(columns)]
				texts = texts[len(columns):]
				passed, missing := happens(r, chance), m.MissingFailed[v]
				if passed {
					missing = m.MissingPassed[v]
				}
				set(row, at[0], versions[v])
				set(row, at[1], names[i])
				set(row, at[2], trials[t])
				if missing == 0 || !happens(r, missing) {
					set(row, at[3], digit(passed))
				}
				study = append(study, row)
			}
		}
	}
	of := m.Kinds
	if m.Fixed {
		of = make([]Chances, len(cases))
		for i, k := range cases {
			of[i] = Chances{k.Baseline, k.Candidate, 1}
		}
	}
	truth := Truth{}
	for v, name := range versions {
		p := make(Points, len(of))
		for i, k := range of {
			p[i] = Point{[2]float64{k.Baseline, k.Candidate}[v], k.Weight}
		}
		truth["rate/"+name] = p.Mean()
		if m.K > 0 {
			truth["pass_all_k/"+name] = p.mean(func(x float64) float64 { return power(x, m.K) })
			truth["pass_at_k/"+name] = p.mean(func(x float64) float64 { return 1 - power(1-x, m.K) })
		}
	}
	truth["pass_rate_difference"] = truth["rate/candidate"] - truth["rate/baseline"]
	return Drawn{Study{study}, truth}
}

// power is x to a whole power, multiplied out, which is the same everywhere.
func power(x float64, k int) float64 {
	out := 1.0
	for range k {
		out *= x
	}
	return out
}
