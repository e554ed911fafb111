package oracle

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pick is one of the values, each as likely.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// chance is true with the probability.
func chance(r *rand.Rand, p float64) bool { return r.Float64() < p }

// drawHumanAI draws a study of people with and without a system, its policy, and what must come of it.
func drawHumanAI(r *rand.Rand) Study {
	s := drawHumanStudy(r)
	top := ruleOptions{confidence: pick(r, "0.95", "0.95", "0.95", "0.9", "0.5", "0.99", "0.8", "0.999")}
	planned := max(2, len(s.people())+pick(r, -1, 0, 0, 1, 4))
	switch r.IntN(8) {
	case 0:
		top.looks = "repeated"
	case 1:
		top.looks, top.planned, top.sympol = "once", planned, chance(r, .3)
	}
	var rules []humanRule
	for i := range 1 + r.IntN(5) {
		rules = append(rules, s.drawRule(r, fmt.Sprintf("r%d", i), top, planned))
	}
	rules[r.IntN(len(rules))].advisory = false
	for i := range rules {
		s.drawThreshold(r, &rules[i])
	}
	files := map[string]string{"decisions.csv": s.decisionFile(r)}
	args := []string{"human-ai", "gate", "decisions.csv", "--policy", "policy.yaml"}
	if s.assignment != nil {
		files["assignment.csv"] = s.assignmentFile(r)
		args = append(args, "--assignment", "assignment.csv")
	}
	inPolicy := s.declared
	if s.declared != "" && chance(r, .5) {
		inPolicy, args = "", append(args, "--design", s.declared)
	}
	data := digest(files)
	finish := func(rules []humanRule) Study {
		files := maps.Clone(files)
		files["policy.yaml"] = humanPolicy(rules, top, inPolicy, s.abstain, data)
		return finishedStudy(args, files, Report{Gates: []Gate{s.want(rules, top)}})
	}
	if chance(r, .04) {
		study := finish(rules)
		line := s.spoil(r)
		study.Files["decisions.csv"] = s.decisionFile(r)
		study.Want = unusable("decisions.csv", line)
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

// unusable is what comes of a file with an error in a line: nothing is decided.
func unusable(file string, line int) Report {
	return Report{ExitStatus: 2, Errors: []Problem{{File: file, Line: line}}}
}

// spoil puts an error into the rows, and tells in which line it must be found.
func (s *humanStudy) spoil(r *rand.Rand) (line int) {
	s.rows = slices.Clone(s.rows)
	i := r.IntN(len(s.rows))
	switch r.IntN(4) {
	case 0: // the same decision twice
		i, s.rows = len(s.rows), append(s.rows, s.rows[i])
	case 1:
		s.rows[i].wrongCondition = pick(r, "With", "wihout", "both", "1")
	case 2:
		s.rows[i].reference = ""
	case 3: // another reference than the case's other rows, of which the last one is told
		i = len(s.rows)
		s.rows = append(s.rows, s.rows[0])
		s.rows[i].reference, s.rows[i].reviewer = "another", "newcomer"
	}
	return i + 2 // after the header, counted from 1
}

// finishedStudy fills in what follows from the rules' verdicts.
func finishedStudy(args []string, files map[string]string, want Report) Study {
	want.Verdict, want.Counts = Worst(want)
	want.ExitStatus = exitStatus[want.Verdict]
	day, err := time.Parse(time.DateOnly, today)
	if err != nil {
		panic(err)
	}
	return Study{Args: args, Files: files, Want: want, Today: day.Add(12 * time.Hour)}
}

// digest is that to which a review is bound: of all files of rows, each with what it is read as.
func digest(files map[string]string) string {
	var each []string
	for name, text := range files {
		h := sha256.Sum256([]byte(text))
		line := hex.EncodeToString(h[:])
		switch name {
		case "assignment.csv":
			line += " assignment"
		case "draw.csv":
			line += " draw"
		}
		each = append(each, line)
	}
	slices.Sort(each)
	h := sha256.Sum256([]byte(strings.Join(each, "\n")))
	return hex.EncodeToString(h[:])
}

// drawHumanStudy draws the rows.
func drawHumanStudy(r *rand.Rand) humanStudy {
	var s humanStudy
	people, cases := 1+r.IntN(7), 1+r.IntN(7)
	switch r.IntN(6) {
	case 0:
		people = 10 + r.IntN(30)
	case 1:
		people, cases = 20+r.IntN(30), pick(r, 1, 60)
	}
	kind := pick(r, "crossed", "crossed", "crossed", "crossed", "crossed", "before_after", "before_after", "before_after",
		"before_after", "between", "sparse", "mixed", "one row each", "switched")
	if cases == 60 {
		kind = "one row each"
	}
	labels := pick(r, []string{"yes", "no"}, []string{"yes", "no"}, []string{"a", "b", "c"})
	if chance(r, .3) {
		s.abstain = []string{"unsure"}
	}
	good := pick(r, .5, .8, .95, 1, 0) // how often people are right alone
	gain := pick(r, 0, 0, .3, -.3, 1, -1)
	missing := pick(r, 0, 0, 0, 0, .02, .05, .05, .1, .2, .2, .6, .9)
	if chance(r, .02) {
		missing = 1
	}
	noOutput := pick(r, 0, 0, 0, .05, .3)
	several := pick(r, 0, 0, .2)
	byCase, byPerson, bare := pick(r, true, false), pick(r, true, false), pick(r, 0, 0, .1)
	times := pick(r, "none", "none", "dates", "seconds", "unix", "stopwatch")
	lost := pick(r, 0, 0, .1, .4) // rows that are not there
	wrongOrder := pick(r, 0, 0, .2)

	name := func(prefix string, i int) string { return prefix + strconv.Itoa(i+1) }
	// The output of each case, and the decisions that are to be made.
	outputs, references, sites := map[string]string{}, map[string]string{}, map[string]string{}
	for c := range cases {
		kase := name("c", c)
		references[kase] = pick(r, labels...)
		outputs[kase] = references[kase]
		if chance(r, .35) {
			outputs[kase] = pick(r, append(slices.Clone(labels), "unsure")...)
		}
		sites[kase] = pick(r, "Lyon", "Paris")
	}
	var todo []assigned
	add := func(p, c int, with bool) { todo = append(todo, assigned{name("p", p), name("c", c), with}) }
	for p := range people {
		arm := chance(r, .5)
		sites[name("p", p)] = pick(r, "Lyon", "Paris")
		for c := range cases {
			switch kind {
			case "crossed":
				add(p, c, chance(r, .5))
			case "before_after":
				add(p, c, false)
				add(p, c, true)
			case "between":
				add(p, c, arm)
			case "sparse":
				if p%max(1, people/2) == c%max(1, people/2) {
					add(p, c, p < people/2)
				}
			case "mixed":
				add(p, c, true)
				if chance(r, .7) {
					add(p, c, false)
				}
			case "one row each":
				if c == p%cases {
					add(p, c, chance(r, .5))
				}
			case "switched":
				add(p, c, (p+c)%2 == 0)
			}
		}
	}
	if len(todo) == 0 {
		add(0, 0, true)
	}
	if chance(r, .35) {
		s.assignment = slices.Clone(todo)
	}
	switch r.IntN(5) {
	case 0:
		s.declared = "crossed"
	case 1:
		s.declared = "before_after"
	}
	clock := 1_780_000_000 // some day of 2026
	for i, a := range todo {
		if chance(r, lost) && !(i == len(todo)-1 && len(s.rows) == 0) {
			continue
		}
		if s.assignment != nil && chance(r, .04) {
			// not as assigned
			switch r.IntN(3) {
			case 0:
				a.with = !a.with
			case 1:
				a.reviewer = "stranger"
			case 2:
				a.kase = "c99"
			}
			if references[a.kase] == "" {
				references[a.kase], outputs[a.kase], sites[a.kase], sites[a.reviewer] = labels[0], labels[0], "Lyon", "Lyon"
			}
		}
		if slices.ContainsFunc(s.rows, func(row humanRow) bool { return (assigned{row.reviewer, row.kase, row.with}) == a }) {
			continue
		}
		row := humanRow{kase: a.kase, reviewer: a.reviewer, with: a.with, reference: references[a.kase]}
		if a.with || chance(r, .02) {
			row.output = outputs[a.kase]
			if chance(r, several) {
				row.output = pick(r, append(slices.Clone(labels), "unsure")...)
			}
			if chance(r, noOutput) {
				row.output = ""
			}
		}
		if !chance(r, missing) {
			p := good
			if a.with {
				p += gain
			}
			row.decision = row.reference
			if !chance(r, p) {
				row.decision = pick(r, labels...)
			}
			if a.with && row.output != "" && chance(r, .4) {
				row.decision = row.output
			}
		}
		row.site = pick(r, "Lyon", "Paris")
		if byCase {
			row.site = sites[a.kase]
		} else if byPerson {
			row.site = sites[a.reviewer]
		}
		if chance(r, bare) {
			row.site = ""
		}
		took := r.IntN(40)
		clock += 100
		start, end := clock, clock+took
		if a.with && wrongOrder > 0 && chance(r, wrongOrder) {
			start, end = start-50_000, end-50_000
		}
		row.setTimes(r, times, start, end)
		s.rows = append(s.rows, row)
	}
	r.Shuffle(len(s.rows), func(i, j int) { s.rows[i], s.rows[j] = s.rows[j], s.rows[i] })
	return s
}

// setTimes writes when a decision began and ended, in a way of writing times; sometimes one is not recorded.
func (row *humanRow) setTimes(r *rand.Rand, kind string, start, end int) {
	if kind == "none" {
		return
	}
	write := func(at int) string {
		switch kind {
		case "dates":
			return time.Unix(int64(at), 0).UTC().Format(time.RFC3339)
		case "unix":
			return strconv.Itoa(at)
		}
		return strconv.Itoa(at % 100_000)
	}
	if kind == "stopwatch" { // durations only
		start, end = 0, end-start
	}
	row.dates = kind == "dates" || kind == "unix"
	if end%100_000 < start%100_000 { // a stopwatch does not run backwards
		end = start
	}
	if !chance(r, .1) {
		row.start, row.started = &start, write(start)
	}
	if !chance(r, .1) {
		row.end, row.decided = &end, write(end)
	}
}

// drawRule draws a rule without its threshold.
func (s humanStudy) drawRule(r *rand.Rand, id string, top ruleOptions, planned int) humanRule {
	rule := humanRule{id: id, ruleOptions: top}
	rule.metric = pick(r, "accuracy_difference", "accuracy_difference", "accuracy_difference", "agreement", "over_reliance",
		"correct_override", "harmful_override", "accuracy_with", "accuracy_without", "system_accuracy")
	isRate := rule.metric != "accuracy_difference" && rule.metric != "system_accuracy"
	rule.perPerson = isRate && chance(r, .5)
	isMean := rule.perPerson || rule.metric == "accuracy_difference"
	if chance(r, .3) {
		rule.confidence = pick(r, "0.9", "0.5", "0.6", "0.75", "0.99")
	}
	switch {
	case !isMean && rule.looks == "once":
		rule.looks = ""
	case !isMean && rule.looks == "" && chance(r, .2):
		rule.looks = "repeated"
	case isMean && top.looks != "once" && chance(r, .3):
		rule.looks, rule.planned, rule.sympol = "once", planned, chance(r, .4)
	}
	if isMean && chance(r, .04) && top.looks == "" {
		rule.looks = "repeated"
	}
	if rule.looks != "once" {
		rule.planned, rule.sympol = 0, false
	}
	rule.maxLeftOut = pick(r, "", "", "", "0", "0.2", "0.25", "0.5", "1", "1", "1")
	if chance(r, .2) {
		rule.site = pick(r, "Lyon", "Lyon", "Lyon", "Paris", "Paris", "Paris", "Nowhere")
	}
	rule.drawDuties(r)
	if rule.metric == "accuracy_difference" && top.looks == "" && rule.site == "" && chance(r, .1) {
		rule.generalize, rule.looks, rule.waiveUntil = true, "", ""
	}
	return rule
}

// drawDuties draws what makes a rule count or not.
func (o *ruleOptions) drawDuties(r *rand.Rand) {
	o.advisory = chance(r, .1)
	if chance(r, .1) {
		o.waiveUntil = pick(r, "2026-11-30", "2026-12-01", "2027-03-31")
	}
	if chance(r, .15) {
		o.reviewed = pick(r, "good", "outdated")
	}
}

// drawThreshold draws a threshold, often near an end of the rule's own interval.
func (s humanStudy) drawThreshold(r *rand.Rand, rule *humanRule) {
	e := s.evaluate(*rule)
	low := 0.0
	if rule.metric == "accuracy_difference" {
		low = -1
	}
	rule.drawThreshold(r, low, e.lower, e.upper)
}

// drawThreshold draws a side and a threshold between low and 1, often near an end of the interval.
func (o *ruleOptions) drawThreshold(r *rand.Rand, low, lower, upper float64) {
	o.side = pick(r, "minimum", "maximum")
	at := pick(r, lower, lower, upper, upper, low, 1, (lower+upper)/2)
	off := pick(r, 0, 0, 1e-10, -1e-10, 1e-7, -1e-7, .01, -.01, .1, -.1)
	t := min(max(at+off, low), 1)
	o.threshold = strconv.FormatFloat(t, 'f', pick(r, 1, 2, 3, 10, 10), 64)
	if d, err := strconv.ParseFloat(o.threshold, 64); err != nil || d < low || d > 1 {
		o.threshold = "1"
	}
}

// decisionFile writes the rows as CSV.
func (s humanStudy) decisionFile(r *rand.Rand) string {
	return csvFile(r, []string{"case", "reviewer", "condition", "decision", "reference", "ai_output", "site", "started_at", "decided_at"}, func(yield func([]string)) {
		for _, row := range s.rows {
			condition := "without"
			if row.with {
				condition = "with"
			}
			condition = cmp.Or(row.wrongCondition, condition)
			yield([]string{row.kase, row.reviewer, condition, row.decision, row.reference, row.output, row.site, row.started, row.decided})
		}
	})
}

// csvFile writes a table, its columns in any order.
func csvFile(r *rand.Rand, columns []string, rows func(yield func([]string))) string {
	order := r.Perm(len(columns))
	var text strings.Builder
	write := func(cells []string) {
		for i, c := range order {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(cells[c])
		}
		text.WriteByte('\n')
	}
	write(columns)
	rows(write)
	return text.String()
}

func (s humanStudy) assignmentFile(r *rand.Rand) string {
	return csvFile(r, []string{"reviewer", "case", "condition", "position"}, func(yield func([]string)) {
		for i, a := range s.assignment {
			condition := "without"
			if a.with {
				condition = "with"
			}
			yield([]string{a.reviewer, a.kase, condition, strconv.Itoa(i + 1)})
		}
	})
}

// humanPolicy writes the policy.
func humanPolicy(rules []humanRule, top ruleOptions, declared string, abstain []string, digest string) string {
	var text strings.Builder
	top.writeTop(&text)
	if declared != "" {
		fmt.Fprintf(&text, "design: %s\n", declared)
	}
	if abstain != nil {
		fmt.Fprintf(&text, "abstain: [%s]\n", strings.Join(abstain, ", "))
	}
	text.WriteString("rules:\n")
	for _, rule := range rules {
		fmt.Fprintf(&text, "  - id: %s\n    metric: %s\n    %s: %s\n", rule.id, rule.metric, rule.side, rule.threshold)
		if rule.perPerson {
			text.WriteString("    per: person\n")
		}
		if rule.generalize {
			text.WriteString("    generalize: people_and_cases\n")
		}
		if rule.site != "" {
			fmt.Fprintf(&text, "    where: {site: %s}\n", rule.site)
		}
		rule.writeTo(&text, top, digest)
	}
	return text.String()
}

// writeTop writes the settings of a policy's top.
func (o ruleOptions) writeTop(text *strings.Builder) {
	fmt.Fprintf(text, "confidence: %s\n", o.confidence)
	if o.looks != "" {
		fmt.Fprintf(text, "looks: %s\n", o.looks)
	}
	if o.planned > 0 {
		fmt.Fprintf(text, "planned: %d\n", o.planned)
	}
	if o.sympol {
		text.WriteString("mean_method: sympol\n")
	}
}

// writeTo writes what a rule says otherwise than the policy's top.
func (o ruleOptions) writeTo(text *strings.Builder, top ruleOptions, digest string) {
	if o.confidence != top.confidence {
		fmt.Fprintf(text, "    confidence: %s\n", o.confidence)
	}
	if o.looks != top.looks && o.looks != "" {
		fmt.Fprintf(text, "    looks: %s\n", o.looks)
		if o.planned > 0 {
			fmt.Fprintf(text, "    planned: %d\n", o.planned)
		}
		if o.sympol {
			text.WriteString("    mean_method: sympol\n")
		}
	}
	if o.maxLeftOut != "" {
		fmt.Fprintf(text, "    max_left_out: %s\n", o.maxLeftOut)
	}
	if o.advisory {
		text.WriteString("    advisory: true\n")
	}
	if o.waiveUntil != "" {
		fmt.Fprintf(text, "    waive: {until: %s, owner: somebody, reason: some reason}\n", o.waiveUntil)
	}
	if o.reviewed != "" {
		d := digest
		if o.reviewed != "good" {
			d = strings.Repeat("0", 64)
		}
		fmt.Fprintf(text, "    reviewed: {by: somebody, on: 2026-11-01, digest: %q, reason: some reason}\n", d)
	}
}
