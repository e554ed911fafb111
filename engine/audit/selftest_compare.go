package audit

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// The columns of a compare study.
const (
	trialVersion = iota
	trialCase
	trialNumber
	trialPassed
	trialScore
)

// trials is a compare study: one input of trials, or one for each version.
type trials struct {
	*known
	ownFiles bool
	fixed    bool       // the list of cases is fixed, and trials are the chance
	names    [2]string  // of the baseline and the candidate
	cases    [][]caseAt // by case: its trials of the two versions
}

// caseAt is where a trial lies, and of which version it is: 0 the baseline, 1 the candidate.
type caseAt struct{ input, row, role int }

// newTrials reads what the rows show.
func newTrials(k *known) *trials {
	t := &trials{known: k, ownFiles: len(k.study) > 1, fixed: k.settings["case_list"] == "fixed", names: [2]string{k.settings["baseline"], k.settings["candidate"]}}
	var all []caseAt
	for input, rows := range k.study {
		for i, row := range rows {
			role := input
			if !t.ownFiles {
				role = slices.Index(t.names[:], row[trialVersion])
			}
			if role >= 0 {
				all = append(all, caseAt{input, i, role})
			}
		}
	}
	for _, places := range groupBy(len(all), func(i int) string { return k.study[all[i].input][all[i].row][trialCase] }) {
		list := make([]caseAt, len(places))
		for i, at := range places {
			list[i] = all[at]
		}
		t.cases = append(t.cases, list)
	}
	return t
}

// ofBoth reports a rule that compares the two versions.
func (t *trials) ofBoth(rule int) bool {
	m := t.rules[rule].Metric.Value
	return m == "sign_test" || m == "pass_rate_difference"
}

// role is the version of a rule about one.
func (t *trials) role(rule int) int {
	if t.rules[rule].Map.Text("version").Value == "baseline" {
		return 0
	}
	return 1
}

// chance implements subject.
func (t *trials) chance(rule int) (*experiment, string) {
	if t.ofBoth(rule) {
		e := &experiment{key: "shuffle", shuffled: true, null: "the trials of each case are dealt anew to the two versions, as many to each as before, so that no version is better",
			draw: func(r *rand.Rand) (Study, []float64) { return t.shuffle(r), nil }}
		if t.rules[rule].Metric.Value != "sign_test" {
			e.truth = []float64{0}
		}
		return e, ""
	}
	truth := t.estimate(rule)
	if truth == nil {
		return nil, nothingRecorded
	}
	if t.fixed {
		return &experiment{key: "draw trials", truth: []float64{t.fixedTruth(rule)}, null: "the trials of each case are drawn anew from its own, whose shares of passes are the truth",
			draw: func(r *rand.Rand) (Study, []float64) { return t.drawTrials(r), nil }}, ""
	}
	return &experiment{key: "draw cases", truth: truth, null: "cases are drawn anew from those of the file, whose own value is the truth",
		draw: func(r *rand.Rand) (Study, []float64) { return t.drawCases(r), nil }}, ""
}

// shuffle deals the results of a case anew among its trials of the two versions: the trials that have a result and those that
// have none alike, since under the null a trial that did not finish could have been either version's. Ids and counts stay.
func (t *trials) shuffle(r *rand.Rand) Study {
	s := t.study.Clone()
	for _, list := range t.cases {
		r.Shuffle(len(list), func(i, j int) { swapResults(s[list[i].input][list[i].row], s[list[j].input][list[j].row]) })
	}
	return s
}

func swapResults(a, b []string) {
	a[trialPassed], b[trialPassed] = b[trialPassed], a[trialPassed]
	a[trialScore], b[trialScore] = b[trialScore], a[trialScore]
}

// drawCases draws cases with replacement, each copy under a name of its own.
func (t *trials) drawCases(r *rand.Rand) Study {
	s := make(Study, len(t.study))
	for i, at := range pick(r, len(t.cases), len(t.cases)) {
		for _, c := range t.cases[at] {
			row := slices.Clone(t.study[c.input][c.row])
			row[trialCase] = strconv.Itoa(i + 1)
			s[c.input] = append(s[c.input], row)
		}
	}
	return s
}

// grown implements subject: cases are copied.
func (t *trials) grown(_, copies int) Study {
	taken := map[string]bool{}
	for _, rows := range t.study {
		for _, row := range rows {
			taken[row[trialCase]] = true
		}
	}
	name := unused(taken)
	s := t.study.Clone()
	for i := range copies {
		item := name()
		for _, c := range t.cases[i%len(t.cases)] {
			row := slices.Clone(t.study[c.input][c.row])
			row[trialCase] = item
			s[c.input] = append(s[c.input], row)
		}
	}
	return s
}

// drawTrials draws the recorded results of each case and version anew from them, with replacement.
func (t *trials) drawTrials(r *rand.Rand) Study {
	s := t.study.Clone()
	for _, list := range t.cases {
		for role := range 2 {
			own := t.recorded(list, role)
			for i, from := range pick(r, max(1, len(own)), len(own)) {
				to, result := s[own[i].input][own[i].row], t.study[own[from].input][own[from].row]
				to[trialPassed], to[trialScore] = result[trialPassed], result[trialScore]
			}
		}
	}
	return s
}

// recorded are the trials of a case and a version that have a result.
func (t *trials) recorded(list []caseAt, role int) []caseAt {
	return slices.DeleteFunc(slices.Clone(list), func(c caseAt) bool {
		row := t.study[c.input][c.row]
		return c.role != role || row[trialPassed] == "" && row[trialScore] == ""
	})
}

// fixedTruth is what a rule about one version measures where each case passes with its own share of passes: of k trials at
// least one with 1 − (1 − p)^k, all with p^k. The file's estimate of these is another number, which is right on average over
// files.
func (t *trials) fixedTruth(rule int) float64 {
	metric, k := t.rules[rule].Metric.Value, t.rules[rule].Map.Int("k", 1, math.MaxInt32).Value
	if metric == "rate" {
		return *t.base[rule].Estimate
	}
	sum, cases := 0.0, 0
	for _, list := range t.cases {
		if !t.inSlice(rule, list) {
			continue
		}
		cases++
		own := t.recorded(list, t.role(rule))
		passes := 0
		for _, c := range own {
			if yes, err := rows.Binary(t.study[c.input][c.row][trialPassed]); err == nil && yes {
				passes++
			}
		}
		p := float64(passes) / float64(max(1, len(own)))
		if metric == "pass_all_k" {
			sum += power(p, k)
		} else {
			sum += 1 - power(1-p, k)
		}
	}
	return sum / float64(max(1, cases))
}

// inSlice reports whether a case is of a rule's slice: some row of it says so for each condition, and rows of a case do not
// contradict each other.
func (t *trials) inSlice(rule int, list []caseAt) bool {
	for _, w := range t.rules[rule].Where {
		says := func(c caseAt) bool {
			at := slices.Index(Columns(t.question)[c.input], w.Key.Value)
			return at >= 0 && t.study[c.input][c.row][at] == w.Value.Value
		}
		if !slices.ContainsFunc(list, says) {
			return false
		}
	}
	return true
}

// harms implements subject.
func (t *trials) harms(rule int) []planting {
	metric, low := t.rules[rule].Metric.Value, t.lowIsBad(rule)
	both := t.ofBoth(rule)
	p := planting{key: "cases", measure: metric, least: -1}
	who, worse, better := "cases are drawn anew", "trials of the candidate turn to failures", "trials of the candidate turn to passes"
	if t.fixed {
		p.key, who = "trials", "the trials of each case are drawn anew"
	}
	switch {
	case both:
		worse, better = worse+" and trials of the baseline to passes", better+" and trials of the baseline to failures"
	case t.role(rule) == 0:
		worse, better = "trials of the baseline turn to failures", "trials of the baseline turn to passes"
	}
	p.planted = who + ", and " + worse
	if !low {
		p.planted = who + ", and " + better
	}
	p.own = t.ownRows
	p.draw = func(r *rand.Rand) drawn {
		if t.fixed {
			return drawn{study: t.drawTrials(r)}
		}
		return drawn{study: t.drawCases(r)}
	}
	p.plant = func(d drawn, r *rand.Rand, dial float64) {
		share, up := max(dial, -dial), (dial > 0) != low
		for input, rows := range d.study {
			for _, row := range rows {
				role := input
				if !t.ownFiles {
					role = slices.Index(t.names[:], row[trialVersion])
				}
				turn := r.Float64() < share
				if !turn || role < 0 || !both && role != t.role(rule) {
					continue
				}
				word := "0"
				if up == (role == 1 || !both) {
					word = "1"
				}
				for _, column := range []int{trialPassed, trialScore} {
					if row[column] != "" { // what is not recorded stays so
						row[column] = word
					}
				}
			}
		}
	}
	if metric == "sign_test" {
		p.measure = "cases better minus cases worse, as a share of all"
		p.value = func(rule report.Rule) *float64 {
			if rule.Better == nil || rule.Worse == nil || rule.Equal == nil {
				return nil
			}
			all := *rule.Better + *rule.Worse + *rule.Equal
			if all == 0 {
				return nil
			}
			return report.Number(float64(*rule.Better-*rule.Worse) / float64(all))
		}
	}
	return []planting{p}
}
