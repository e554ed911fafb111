package fairness

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// longestShown is how many characters of a name a text shows.
const longestShown = 120

// shown is a name from the declaration inside a sentence: printable, and cut where it is very long.
func shown(name string) string {
	if utf8.RuneCountInString(name) > longestShown {
		name = string([]rune(name)[:longestShown-1]) + "…"
	}
	return diag.Printable(name)
}

// decimals is how many decimals numbers are told with beside a threshold: one more than it has, from three to the ten that
// ends are rounded to.
func decimals(threshold float64) int {
	_, fraction, _ := strings.Cut(strconv.FormatFloat(threshold, 'f', -1, 64), ".")
	return min(10, max(3, len(fraction)+1))
}

// down, up and near write a number from 0 to 1 with so many decimals: rounded down, up, or to the nearest.
func down(x float64, places int) string { return cut(x, places, false) }

func up(x float64, places int) string { return cut(x, places, true) }

func near(x float64, places int) string { return strconv.FormatFloat(x, 'f', places, 64) }

// cut rounds the shortest decimal that x is printed as.
func cut(x float64, places int, away bool) string {
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	kept := min(len(fraction), places)
	digits := whole + fraction[:kept] + strings.Repeat("0", places-kept)
	if away && strings.Trim(fraction[kept:], "0") != "" {
		n, _ := strconv.ParseInt(digits, 10, 64) // at most 11 digits, since x is at most 1
		digits = strconv.FormatInt(n+1, 10)
		digits = strings.Repeat("0", max(0, places+1-len(digits))) + digits
	}
	return digits[:len(digits)-places] + "." + digits[len(digits)-places:]
}

// mostNamed is how many groups a sentence names.
const mostNamed = 3

// listed joins names: "a", "a and b", "a, b and c".
func listed(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// words says which cases are in a rate's denominator, after "cases": "with label 1", or the declared word in its place.
func (q *question) words(r *rate) string {
	b := &q.label
	if r.moves() {
		b = &q.prediction
	}
	return strings.NewReplacer("{no}", b.word(no), "{yes}", b.word(yes)).Replace(r.cases)
}

// counted says which cases min_cell counts.
func (q *question) counted(r *rate) string {
	switch {
	case r.moves():
		return "labelled cases " + q.words(r)
	case r.cases != "":
		return "cases " + q.words(r) + " and a prediction"
	case r.needsLabel():
		return "labelled cases with a prediction"
	}
	return "cases with a prediction"
}

// reason says in a few sentences what a rule came to, and why.
func (d *decision) reason() string {
	var parts []string
	if d.leftOut > 0 {
		parts = append(parts, d.leftOutText())
	}
	parts = append(parts, d.where())
	if small := d.smallText(); small != "" {
		parts = append(parts, small)
	}
	parts = append(parts, d.verdictText(d.verdict))
	switch d.worst.verdict {
	case report.NoVerdict:
	case d.verdict:
		parts = append(parts, "The verdict would be the same with the left-out cases at their worst.")
	default:
		parts = append(parts, "The verdict does not survive the left-out cases: with them at their worst it would be "+d.worst.verdict.String()+".")
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// leftOutText counts what is left out, by reason.
func (d *decision) leftOutText() string {
	var why []string
	for _, l := range d.left {
		why = append(why, fmt.Sprintf("%d because %s", l.Count, shown(l.Reason)))
	}
	what := fmt.Sprintf("%d of %s left out (%s)", d.leftOut, gate.Plural(d.cases, "case is", "cases are"), listed(why))
	if d.exceeded {
		return what + ", more than max_left_out allows (" + d.rule.MaxLeftOut.Text + "): the others may not stand for them, so nothing is decided."
	}
	return what + "; the answer is about the others."
}

// named is a group in a sentence.
func (d *decision) named(i int) string { return shown(d.rule.crossing.groups[i]) }

// span is an interval in a sentence, rounded outward.
func (d *decision) span(lower, upper float64) string {
	return down(lower, d.places) + " to " + up(upper, d.places)
}

// number is an estimate in a sentence with its interval behind it.
func (d *decision) number(estimate *float64, iv interval.Interval) string {
	if estimate == nil {
		return "not measured (interval " + d.span(iv.Lower, iv.Upper) + ")"
	}
	return near(*estimate, d.places) + " (interval " + d.span(iv.Lower, iv.Upper) + ")"
}

// apart is two groups and their gap or ratio in a sentence.
func (d *decision) apart(p apart) string {
	return fmt.Sprintf("%s and %s, %s,", d.named(p.i), d.named(p.j), d.number(d.contest.estimate(p.i, p.j), p.interval))
}

// where says where the largest gap, the smallest ratio or the worst group is, and where it may be.
func (d *decision) where() string {
	c, s := d.contest, &d.standing
	switch c.threshold.Kind {
	case report.WorstGroup:
		what, far, end := "Lowest", "low", down(c.rates[s.worst].Lower, d.places)
		lowest, highest, ok := c.ends(1)
		worst := lowest
		if c.threshold.Side == report.Maximum {
			what, far, end, worst = "Highest", "high", up(c.rates[s.worst].Upper, d.places), highest
		}
		if !ok {
			return "No group has a rate."
		}
		text := fmt.Sprintf("%s %s: %s, %s.", what, d.rule.rate.name, d.named(worst), d.number(report.Number(quotient(c.sides[worst].recorded)), c.rates[worst]))
		if s.worst != worst {
			text += fmt.Sprintf(" It may be as %s as %s, in %s.", far, end, d.named(s.worst))
		}
		return text
	case report.MinGroupRatio:
		return d.whichPair("Smallest ratio", "No two groups have a ratio.", "It may be as low as "+down(s.risky.interval.Lower, d.places))
	}
	return d.whichPair("Largest gap", "No two groups have a gap to measure.", "It may be as large as "+up(s.risky.interval.Upper, d.places))
}

// whichPair names the two groups with the largest gap or smallest ratio as measured, and those where it may lie.
func (d *decision) whichPair(what, none, may string) string {
	c, risky := d.contest, d.standing.risky
	i, j, ok := c.ends(2)
	if !ok {
		return none
	}
	p := c.pairOf(i, j)
	number := d.number(c.estimate(i, j), p.interval)
	// The rule's interval, which stands beside the same number in every table, is over all pairs.
	if own, rule := d.span(p.interval.Lower, p.interval.Upper), d.span(d.standing.interval.Lower, d.standing.interval.Upper); own != rule {
		number = strings.TrimSuffix(number, ")") + " for these two; " + rule + " over all pairs, which is the rule's)"
	}
	text := fmt.Sprintf("%s: %s and %s, %s.", what, d.named(p.i), d.named(p.j), number)
	if risky.i != p.i || risky.j != p.j {
		text += fmt.Sprintf(" %s, between %s and %s.", may, d.named(risky.i), d.named(risky.j))
	}
	return text
}

// justNamed reports whether the sentence before, and none since, was about these two groups and their interval.
func (d *decision) justNamed(p apart) bool {
	i, j, ok := d.contest.ends(2)
	risky := d.standing.risky
	return ok && !d.standing.anySmall && p.i == min(i, j) && p.j == max(i, j) && risky.i == p.i && risky.j == p.j
}

// smallText names the groups that are too small.
func (d *decision) smallText() string {
	groups := 0
	var named []string
	for i, small := range d.contest.small {
		if !small {
			continue
		}
		if groups++; groups <= mostNamed {
			named = append(named, fmt.Sprintf("%s (%d)", d.named(i), d.contest.sides[i].recorded.N))
		}
	}
	switch {
	case groups == 0:
		return ""
	case groups > mostNamed:
		named = append(named, gate.Plural(groups-mostNamed, "more group", "more groups"))
	}
	have, it := "has", "it"
	if groups > 1 {
		have, it = "have", "them"
	}
	what := "the largest gap"
	switch d.contest.threshold.Kind {
	case report.WorstGroup:
		what = "the worst rate"
	case report.MinGroupRatio:
		what = "the smallest ratio"
	}
	return fmt.Sprintf("%s %s fewer than %d %s (min_cell), and %s may lie in %s.", listed(named), have, d.contest.minCell, d.q.counted(d.rule.rate), what, it)
}

// verdictText says what the comparison showed.
func (d *decision) verdictText(verdict report.Verdict) string {
	c, s := d.contest, &d.standing
	t := strconv.FormatFloat(c.threshold.Value, 'f', -1, 64)
	least := c.threshold.Side == report.Minimum
	switch c.threshold.Kind {
	case report.WorstGroup:
		side, wrong := "at or above the minimum of "+t, "below the minimum of "+t
		if !least {
			side, wrong = "at or below the maximum of "+t, "above the maximum of "+t
		}
		switch {
		case verdict == report.Pass:
			return "The whole interval of every group is " + side + "."
		case verdict == report.Fail:
			var failing []string
			for i, v := range s.cells {
				if v == report.Fail {
					failing = append(failing, d.named(i))
				}
			}
			if len(failing) > mostNamed {
				failing = append(failing[:mostNamed], gate.Plural(len(failing)-mostNamed, "more group", "more groups"))
			}
			return "The whole interval is " + wrong + " in " + listed(failing) + "."
		case d.exceeded || s.anySmall:
			return ""
		}
		return "It cannot be told whether every group is " + side + "."
	case report.MinGroupRatio:
		switch {
		case verdict == report.Pass:
			return "Every ratio's whole interval is at or above " + t + "."
		case verdict == report.Fail && d.justNamed(s.failing):
			return "That whole interval is below " + t + "."
		case verdict == report.Fail:
			return fmt.Sprintf("The ratio of %s is below %s with its whole interval.", d.apart(s.failing), t)
		case d.exceeded || s.anySmall:
			return ""
		}
		return "It cannot be told whether every ratio is at least " + t + "."
	}
	switch {
	case verdict == report.Pass:
		return "Every gap's whole interval is at or below " + t + "."
	case verdict == report.Fail && d.justNamed(s.failing):
		return "That whole interval is above " + t + "."
	case verdict == report.Fail:
		return fmt.Sprintf("The gap of %s is above %s with its whole interval.", d.apart(s.failing), t)
	case d.exceeded || s.anySmall:
		return ""
	}
	return "It cannot be told whether every gap is at most " + t + "."
}

// cellReason says why a group is undecided.
func (d *decision) cellReason(i int) string {
	c := d.contest
	switch s := &c.sides[i]; {
	case d.exceeded:
		return "More cases are left out of the rule than max_left_out allows."
	case c.small[i] && s.recorded.N == 0:
		return "Nothing was counted: " + d.q.emptiness(d.rule.rate, s) + "."
	case c.small[i]:
		return fmt.Sprintf("It has %d of the %d %s that a group needs (min_cell).", s.recorded.N, c.minCell, d.q.counted(d.rule.rate))
	case c.threshold.Kind == report.WorstGroup:
		return "Its interval holds the threshold."
	case slices.Index(c.small, false) == i && !slices.Contains(c.small[i+1:], false):
		return "No other group is large enough to be compared with."
	case c.threshold.Kind == report.MinGroupRatio:
		return "Its ratio to another group may be on either side of the threshold."
	}
	return "Its gap to another group may be on either side of the threshold."
}

// holds says when an interval holds that shares the error of so many groups.
func holds(iv interval.Interval, groups int) string {
	text := gate.Conditions(iv, "cases", policy.Judging{})
	if iv.Method == interval.MethodUniformMixture && groups > 1 {
		text += " The error is divided by the number of groups, so that the intervals of all groups hold at once."
	}
	return text
}

// conditions says when the rule's interval holds, and what it is of.
func (d *decision) conditions() string {
	text := holds(d.standing.interval, d.contest.groups)
	if d.contest.groups == 1 {
		return text
	}
	of := ""
	switch t := d.contest.threshold; {
	case t.Kind == report.MaxGroupGap:
		of = "The interval of the largest gap runs from the largest lower end of the pairs whose groups both have min_cell cases to the largest upper end of all pairs; they need not be of one pair."
		if d.rule.pairwise {
			of += " Each of its ends holds by itself, not both at once: the lower one is wrong at most as often as a FAIL, the upper one as a PASS."
		}
	case t.Kind == report.MinGroupRatio:
		of = "The interval of the smallest ratio runs from the smallest lower end of all pairs to the smallest upper end of the pairs whose groups both have min_cell cases; they need not be of one pair."
	case t.Side == report.Minimum:
		of = "The interval of the lowest rate runs from the lowest lower end of all groups to the lowest upper end of those with min_cell cases; they need not be of one group."
	default:
		of = "The interval of the highest rate runs from the highest lower end of the groups with min_cell cases to the highest upper end of all; they need not be of one group."
	}
	return text + " " + of
}

// errors says in numbers how often a verdict may be wrong: for gaps and ratios a FAIL at most α and a PASS at most α/G of
// the time, for the worst group half of each. interval: pairwise divides no PASS by G.
func (d *decision) errors() string {
	alpha := d.rule.Judging.Error()
	over := func(n int64) string { return percent(new(big.Rat).Quo(alpha, big.NewRat(n, 1))) }
	groups := int64(d.contest.groups)
	t := strconv.FormatFloat(d.contest.threshold.Value, 'f', -1, 64)
	right, wrong := "every gap is at most "+t, "some gap is larger"
	fail, pass := over(1), over(groups)
	if d.rule.pairwise {
		pass = over(2)
	}
	switch d.contest.threshold.Kind {
	case report.MinGroupRatio:
		right, wrong = "every ratio is at least "+t, "some ratio is smaller"
	case report.WorstGroup:
		right, wrong = "every group's rate is at least "+t, "some group's is lower"
		if d.contest.threshold.Side == report.Maximum {
			right, wrong = "every group's rate is at most "+t, "some group's is higher"
		}
		fail = over(2)
		if !d.rule.pairwise {
			pass = over(2 * groups)
		}
	}
	looks := "at one look by itself"
	if d.rule.Looks.Value == policy.LooksRepeated {
		looks = "over all its looks"
	}
	return fmt.Sprintf("R%s, %s: if in truth %s, FAIL comes out at most %s of the time; if %s, PASS comes out at most %s of the time.", strings.TrimPrefix(d.rule.Name(), "r"), looks, right, fail, wrong, pass)
}

// percent writes a share as a percentage of three digits, rounded up: "2.5 %".
func percent(share *big.Rat) string {
	hundredths := new(big.Rat).Mul(share, big.NewRat(100, 1))
	places := 0
	for limit := big.NewRat(100, 1); places < 20 && hundredths.Cmp(limit) < 0; places++ { // until three digits stand before the point
		limit.Quo(limit, big.NewRat(10, 1))
	}
	scaled := new(big.Rat).Mul(hundredths, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)))
	whole, rest := new(big.Int).QuoRem(scaled.Num(), scaled.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	digits := whole.String()
	digits = strings.Repeat("0", max(0, places+1-len(digits))) + digits
	text := digits[:len(digits)-places] + "." + digits[len(digits)-places:]
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + " %"
}

// assumptions are what a rule's verdict rests on: each fact in the same words whatever the rule, but for how often it errs, which
// names the rule. conditions are its interval's.
func (d *decision) assumptions(conditions string) []string {
	list := append([]string{conditions, d.errors()}, d.q.assumptions()...)
	list = append(list, fmt.Sprintf("The size of a group is its cases with a prediction that the rate is out of; with fewer than min_cell (%d) it is not decided and keeps its rule from passing.", d.contest.minCell))
	if d.rule.rate.mixes() {
		list = append(list, "A rate out of cases of both labels (error, accuracy, selection, and those out of one prediction) holds for people with the file's mix of labels only, not where cases were picked by their label.")
	}
	if d.rule.slice != "" {
		list = append(list, gate.SliceAssumption)
	}
	return list
}

// leftOutNeeds says how many of the left-out cases would have to be recorded.
func (d *decision) leftOutNeeds() *report.Needs {
	n := gate.FewerLeftOut(d.leftOut, d.cases, d.rule.MaxLeftOut, "of the cases left out to be recorded")
	return &n
}

// emptySlice says of a slice without a case what its columns hold.
func (q *question) emptySlice(r *rule) string {
	var parts []string
	for _, term := range r.terms {
		if term.attribute >= 0 {
			continue // its groups are counted elsewhere
		}
		seen := &q.tally.sliced[term.column]
		if seen.mayHold(term.value) {
			continue
		}
		holds := "is empty throughout"
		if texts, more := seen.texts(); len(texts) > 0 {
			holds = "holds " + gate.Quoted(texts)
			if more {
				holds += " and others"
			}
		}
		parts = append(parts, fmt.Sprintf("no case has %s in the column %s, which %s", diag.Quote(term.value), diag.Quote(q.slicing.Columns[term.column]), holds))
	}
	if parts == nil {
		return "Nothing was evaluated: no case has all the values of `where` together."
	}
	return "Nothing was evaluated: " + strings.Join(parts, "; ") + "."
}

// whole is all cases of the files.
func (q *question) whole() *counts { return &q.tally.views[0].cells[0] }

// data is the counts of what was read, for the report.
func (q *question) data() report.Data {
	c := q.whole()
	n := c.total()
	list := report.Data{
		{Name: "cases", Count: n},
		{Name: "labelled", Count: n - c.labelled(none)},
		{Name: "predicted", Count: n - c.predicted(none)},
		{Name: "missing_labels", Count: c.labelled(none)},
		{Name: "missing_predictions", Count: c.predicted(none)},
	}
	if q.probability.Set {
		list = append(list, report.Count{Name: "missing_probabilities", Count: q.tally.unsure})
	}
	return append(list, report.Count{Name: "positives", Count: c.labelled(yes)}, report.Count{Name: "predicted_positive", Count: c.predicted(yes)})
}

// mostListed is how many attributes and crossings the summary names.
const mostListed = 6

// summary is one sentence on the data.
func (q *question) summary() string {
	d := q.data()
	var names []string
	for i := range q.crossings[1:] {
		c := &q.crossings[1+i]
		if i == mostListed {
			names = append(names, fmt.Sprintf("%d more", len(q.crossings)-1-mostListed))
			break
		}
		names = append(names, fmt.Sprintf("%s (%s)", shown(c.label), gate.Plural(len(c.groups), "group", "groups")))
	}
	return fmt.Sprintf("%s, %d with a label and %d with a prediction, by %s.", gate.Plural(d.Of("cases"), "case", "cases"), d.Of("labelled"), d.Of("predicted"), listed(names))
}

// assumptions are what every answer rests on and the files cannot show.
func (q *question) assumptions() []string {
	list := []string{"Each case is another person, independent of the others: no column says whose a case is (unit), so the file cannot show it."}
	if q.unit.Set {
		list[0] = "Each case is another person, independent of the others: no value of " + shown(q.unit.Value) + " comes twice in the files."
	}
	list = append(list,
		"The groups and their crossings were declared before the file was read.",
		"What is said of a group is about the cases whose attributes are recorded with a declared value.",
		"Parity is measured against the labels of the file, as if they were right.",
	)
	if q.source.Flags.AssumeUniqueIDs {
		list = append(list, gate.IDsAssumed)
	}
	for i := range q.attributes {
		if q.attributes[i].bounds != nil {
			list = append(list, q.attributes[i].meaning())
		}
	}
	return list
}

// limits are what such a file cannot tell (the source document's own).
func limits() []string {
	return []string{
		"Which rate ought to be equal is for people to decide, and worth recording together with the attributes that were chosen.",
		"Nothing is said of groups that were not declared, nor of a person who is counted twice under two cases.",
		"Whether calibration differs between groups by more than chance is not told: its error is shown, not bounded.",
		"Labels that are themselves biased make a biased system look even: parity is measured against the labels brought.",
	}
}
