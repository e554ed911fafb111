package oracle

import (
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// drawCompare draws trials of two versions, a policy, and what must come of it.
func drawCompare(r *rand.Rand) Study {
	s := drawCompareStudy(r)
	top := ruleOptions{confidence: pick(r, "0.95", "0.95", "0.9", "0.5", "0.99", "0.8", "0.9375", "0.75")}
	all := s.cases()
	planned := max(2, len(all)+pick(r, -1, 0, 0, 1, 4))
	if s.planCases > 0 {
		planned = s.planCases // the program holds the two to be the same
	}
	switch r.IntN(8) {
	case 0:
		top.looks = "repeated"
	case 1:
		if !s.fixed {
			top.looks, top.planned, top.sympol = "once", planned, chance(r, .3)
		}
	}
	least := all[0].baseline.trials
	for _, c := range all {
		least = min(least, c.baseline.trials)
	}
	if s.planCases > 0 { // beyond which the program refuses a k, whatever the file holds
		least = min(least, s.planTrials)
	}
	var rules []compareRule
	for i := range 1 + r.IntN(5) {
		rule := compareRule{id: fmt.Sprintf("r%d", i), ruleOptions: top}
		rule.metric = pick(r, "sign_test", "pass_rate_difference", "pass_rate_difference", "rate", "pass_at_k", "pass_all_k")
		if s.scores && strings.HasPrefix(rule.metric, "pass_a") {
			rule.metric = "rate"
		}
		if strings.HasPrefix(rule.metric, "pass_a") {
			rule.k = pick(r, 1, least, 1+r.IntN(least))
		}
		rule.ofBaseline = rule.metric != "sign_test" && rule.metric != "pass_rate_difference" && chance(r, .3)
		if chance(r, .3) {
			rule.confidence = pick(r, "0.9", "0.5", "0.6", "0.875", "0.99")
		}
		isMean := rule.metric == "pass_rate_difference"
		switch {
		case rule.metric == "sign_test" && top.looks == "once":
			rule.looks = ""
		case isMean && top.looks != "once" && !s.fixed && chance(r, .3):
			rule.looks, rule.planned, rule.sympol = "once", planned, chance(r, .4)
		case rule.looks == "" && chance(r, .2):
			rule.looks = "repeated"
		}
		if rule.looks != "once" {
			rule.planned, rule.sympol = 0, false
		}
		rule.maxLeftOut = pick(r, "", "", "0", "0.2", "0.25", "0.5", "1")
		if chance(r, .2) {
			rule.level = pick(r, "hard", "easy", "easy", "odd")
		}
		rule.drawDuties(r)
		if rule.metric != "sign_test" {
			low := 0.0
			if rule.metric == "pass_rate_difference" {
				low = -1
			}
			e, _ := s.evaluate(rule)
			rule.drawThreshold(r, low, e.lower, e.upper)
		}
		rules = append(rules, rule)
	}
	rules[r.IntN(len(rules))].advisory = false
	files := map[string]string{"trials.csv": s.trialFile(r)}
	args := []string{"compare", "gate", "trials.csv", "--policy", "policy.yaml"}
	inPolicy := chance(r, .5)
	if !inPolicy {
		args = append(args, "--baseline", s.baseline, "--candidate", s.candidate)
	}
	data := digest(files)
	finish := func(rules []compareRule) Study {
		files := maps.Clone(files)
		files["policy.yaml"] = s.policy(rules, top, inPolicy, data)
		return finishedStudy(args, files, Report{Gates: []Gate{s.want(rules, top)}})
	}
	if chance(r, .04) {
		study := finish(rules)
		line := s.spoil(r)
		study.Files["trials.csv"] = s.trialFile(r)
		study.Want = unusable("trials.csv", line)
		return study
	}
	study := finish(rules)
	if chance(r, .25) {
		study.OnBounds = func(printed Report) Study {
			for i := range rules {
				onBounds(r, printed, rules[i].id, &rules[i].ruleOptions)
			}
			return finish(rules)
		}
	}
	return study
}

// spoil puts an error into the rows, and tells in which line it must be found.
func (s *compareStudy) spoil(r *rand.Rand) (line int) {
	s.rows = slices.Clone(s.rows)
	i := r.IntN(len(s.rows))
	row := &s.rows[i]
	switch {
	case row.trial != "" && chance(r, .4): // the same trial twice
		i, s.rows = len(s.rows), append(s.rows, *row)
	case chance(r, .2):
		row.version = ""
	case chance(r, .2):
		row.kase = ""
	case s.scores:
		row.result = pick(r, "1.5", "-0.1", "half", "50 %", "NaN")
	default:
		row.result = pick(r, "2", "yes", "0.5", "-1", "passed")
	}
	return i + 2 // after the header, counted from 1
}

// drawCompareStudy draws the rows.
func drawCompareStudy(r *rand.Rand) compareStudy {
	s := compareStudy{baseline: "old", candidate: "new"}
	s.scores, s.fixed = chance(r, .25), chance(r, .35)
	cases, trials := 1+r.IntN(12), 1+r.IntN(5)
	switch r.IntN(6) {
	case 0:
		cases = 20 + r.IntN(40)
	case 1:
		trials = 1
	case 2:
		trials = 8 + r.IntN(6)
	}
	good := pick(r, .2, .5, .8, .95, 1, 0)
	gain := pick(r, 0, .1, .4, -.1, -.4, 1, -1)
	unfinished := pick(r, 0, 0, 0, .03, .03, .1, .5)
	lost := pick(r, 0, 0, 0, .05, .2)
	oneVersion := pick(r, 0, 0, 0, .1)
	cached := pick(r, 0, 0, 0, 1, .96)
	unequal := chance(r, .1)
	leveled, bare := chance(r, .7), pick(r, 0, 0, .15, .5)
	numbered := chance(r, .5)
	versions := []string{s.baseline, s.candidate}
	if chance(r, .15) {
		versions = append(versions, "other")
	}
	for c := range cases {
		name := "case-" + strconv.Itoa(c+1)
		level := pick(r, "hard", "easy")
		without := -1
		if chance(r, oneVersion) {
			without = r.IntN(2)
		}
		shape := r.Float64() - .5
		known := chance(r, .8)
		for v, version := range versions {
			p := good + .5*shape
			if version == s.candidate {
				p += gain
			}
			n := trials
			if unequal && v == 1 {
				n++
			}
			same := chance(r, cached)
			first := r.Float64()
			for trial := range n {
				if v == without || chance(r, lost) && !(len(s.rows) < 3) {
					continue
				}
				row := trialRow{version: version, kase: name}
				if numbered {
					row.trial = strconv.Itoa(trial + 1)
				}
				if leveled && known && !chance(r, bare) {
					row.level = level
				}
				u := r.Float64()
				if same {
					u = first
				}
				if !chance(r, unfinished) {
					row.setResult(r, s.scores, u < p, p)
				}
				s.rows = append(s.rows, row)
			}
		}
	}
	// Both versions have a row.
	for _, version := range versions[:2] {
		found := false
		for _, row := range s.rows {
			found = found || row.version == version
		}
		if !found {
			row := trialRow{version: version, kase: "case-1", trial: "99"}
			row.setResult(r, s.scores, true, .5)
			s.rows = append(s.rows, row)
		}
	}
	if chance(r, .4) {
		s.planCases, s.planTrials = max(2, cases+pick(r, 0, 0, 0, 0, 0, 1, -1)), max(1, trials+pick(r, 0, 0, 0, 0, 1, -1))
	}
	r.Shuffle(len(s.rows), func(i, j int) { s.rows[i], s.rows[j] = s.rows[j], s.rows[i] })
	return s
}

// setResult writes a result: whether it passed, or a score, which may be written in several ways.
func (row *trialRow) setResult(r *rand.Rand, score, passed bool, about float64) {
	if !score {
		row.value = new(big.Rat)
		row.result = pick(r, "0", "false", "0.0", "False")
		if passed {
			row.value = big.NewRat(1, 1)
			row.result = pick(r, "1", "true", "1.0", "TRUE")
		}
		return
	}
	tenths := int64(min(max(10*about+float64(r.IntN(5))-2, 0), 10))
	if passed && tenths < 10 {
		tenths++
	}
	row.value = big.NewRat(tenths, 10)
	row.result = row.value.FloatString(pick(r, 1, 2, 3))
	if chance(r, .2) {
		row.result = strconv.FormatInt(tenths, 10) + "e-1"
	}
}

func (s compareStudy) trialFile(r *rand.Rand) string {
	result := "passed"
	if s.scores {
		result = "score"
	}
	return csvFile(r, []string{"version", "case", "trial", result, "level"}, func(yield func([]string)) {
		for _, row := range s.rows {
			yield([]string{row.version, row.kase, row.trial, row.result, row.level})
		}
	})
}

func (s compareStudy) policy(rules []compareRule, top ruleOptions, versions bool, digest string) string {
	var text strings.Builder
	top.writeTop(&text)
	if versions {
		fmt.Fprintf(&text, "baseline: %s\ncandidate: %s\n", s.baseline, s.candidate)
	}
	if s.fixed {
		text.WriteString("case_list: fixed\n")
	}
	if s.planCases > 0 {
		fmt.Fprintf(&text, "plan: {cases: %d, trials: %d}\n", s.planCases, s.planTrials)
	}
	text.WriteString("rules:\n")
	for _, rule := range rules {
		fmt.Fprintf(&text, "  - id: %s\n    metric: %s\n", rule.id, rule.metric)
		if rule.metric != "sign_test" {
			fmt.Fprintf(&text, "    %s: %s\n", rule.side, rule.threshold)
		}
		if rule.k > 0 {
			fmt.Fprintf(&text, "    k: %d\n", rule.k)
		}
		if rule.ofBaseline {
			text.WriteString("    version: baseline\n")
		}
		if rule.level != "" {
			fmt.Fprintf(&text, "    where: {level: %s}\n", rule.level)
		}
		rule.writeTo(&text, top, digest)
	}
	return text.String()
}
