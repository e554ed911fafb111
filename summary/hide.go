package summary

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/report"
)

// What a report that is published leaves out where the policy sets min_shown: n. A count below n is not shown, and neither
// is what it could be worked out from: the other counts of the gate (a total less the other parts), the rate and the interval
// of the group (which at a known confidence have few counts that fit), gaps to that group, and sentences, in which counts
// stand between other numbers. So nothing in a text is masked: a text is shown whole, or another stands in its place.

// hidden stands in the place of a number.
const hidden = "hidden"

// hiding is what one gate's part of a published report must not tell.
type hiding struct {
	least  int             // the gate's MinShown; 0 hides nothing
	counts bool            // no count of a measure is shown, since one of them is below least
	data   bool            // nor any count of what was read but the first
	groups map[string]bool // the groups whose numbers are hidden, by their labels
	whole  bool            // a rate of everyone has a small count: it could be worked out from its difference to another
	fixed  map[int]bool    // whole numbers that the gate's settings have
}

// newHiding looks at every count of a gate.
func newHiding(g *report.Gate) hiding {
	h := hiding{least: max(g.MinShown, 0), groups: map[string]bool{}, fixed: map[int]bool{}}
	if h.least == 0 {
		return h
	}
	for _, value := range g.Settings {
		if n, err := strconv.Atoi(value); err == nil {
			h.fixed[n] = true
		}
	}
	look := func(m *report.Measure) {
		small := h.small(m)
		if small && isGroup(m) {
			h.groups[labelText(m.Labels)] = true
		}
		// A number of people or labels alone, without what was counted of them, is no part of a total.
		ofUnits := m.Numerator == nil && m.Denominator == nil && m.Better == nil
		h.counts = h.counts || small && !ofUnits || h.smallAside(m)
		h.whole = h.whole || small && !ofUnits && !isGroup(m)
	}
	for i := range g.Measures {
		look(&g.Measures[i])
	}
	for i := range g.Rules {
		look(&g.Rules[i].Measure)
		for k := range g.Rules[i].Cells {
			look(&g.Rules[i].Cells[k].Measure)
		}
	}
	h.data = h.counts || slices.ContainsFunc(g.Data, func(c report.Count) bool { return 0 < c.Count && c.Count < h.least })
	return h
}

// isGroup reports that a measure is of one group, not of everyone.
func isGroup(m *report.Measure) bool { return m.Labels["group"] != "" }

// small reports a measure with a count below least, or the rest of one: 997 of 1,000 tells the other three.
func (h hiding) small(m *report.Measure) bool {
	few := func(n *int) bool { return n != nil && *n < h.least }
	if few(m.Numerator) || few(m.Units) || few(m.Better) || few(m.Worse) || few(m.Equal) {
		return true
	}
	if m.Denominator != nil {
		n := recordedOf(m)
		if few(&n) || m.Numerator != nil && n-*m.Numerator < h.least {
			return true
		}
	}
	if m.Better != nil && m.Worse != nil && m.Equal != nil && m.Units != nil {
		if open := *m.Units - *m.Better - *m.Worse - *m.Equal; open > 0 && open < h.least {
			return true
		}
	}
	return false
}

// smallMissing reports a group's measure that tells how few of its values are missing, by an interval that is wider for each of
// them. In a group that is large beside least, ends printed to a thousandth tell no more than about how many, since no count
// stands beside them.
func (h hiding) smallMissing(m *report.Measure) bool {
	missing := m.Missing != nil && 0 < *m.Missing && *m.Missing < h.least
	return isGroup(m) && missing && (m.Denominator == nil || recordedOf(m)/100 < h.least)
}

// smallAside reports that few of a measure's values, but some, are missing or left out.
func (h hiding) smallAside(m *report.Measure) bool {
	few := func(n int) bool { return 0 < n && n < h.least }
	return m.Missing != nil && few(*m.Missing) || slices.ContainsFunc(m.LeftOut, func(l report.LeftOut) bool { return few(l.Count) })
}

// numbers reports that a measure's estimate and interval are hidden. A group with a small count in one rate has all of its rates
// hidden: they are made of the same four counts.
func (h hiding) numbers(m *report.Measure) bool {
	difference := m.Scale != nil && m.Scale.Lower < 0 && !isGroup(m)
	return h.least > 0 && (h.small(m) || h.smallMissing(m) || difference && h.whole || isGroup(m) && h.groups[labelText(m.Labels)])
}

// shown is a rule without the groups and pairs whose numbers are hidden.
func (h hiding) shown(r *report.Rule) *report.Rule {
	only, gone := *r, h.gone(r)
	only.Cells = slices.DeleteFunc(slices.Clone(r.Cells), func(c report.Cell) bool { return gone[c.Labels["group"]] })
	only.Pairs = slices.DeleteFunc(slices.Clone(r.Pairs), func(p report.Pair) bool { return gone[p.Groups[0]] || gone[p.Groups[1]] })
	return &only
}

// gone names a rule's groups whose numbers are hidden.
func (h hiding) gone(r *report.Rule) map[string]bool {
	gone := map[string]bool{}
	for i := range r.Cells {
		if c := &r.Cells[i]; h.numbers(&c.Measure) {
			gone[c.Labels["group"]] = true
		}
	}
	return gone
}

// rule reports that a rule's own numbers are hidden. Those of a rule on groups are the numbers of a group or a pair, and so may
// be seen where one whose numbers are shown has the same.
func (h hiding) rule(r *report.Rule) bool {
	if len(r.Cells) == 0 || len(h.gone(r)) == 0 {
		return h.numbers(&r.Measure)
	}
	only := h.shown(r)
	var estimates, lowers, uppers []*float64
	add := func(estimate *float64, iv *report.Interval) {
		estimates = append(estimates, estimate)
		if iv != nil {
			lowers, uppers = append(lowers, iv.Lower), append(uppers, iv.Upper)
		}
	}
	if r.Threshold.Kind == report.WorstGroup {
		for i := range only.Cells {
			add(only.Cells[i].Estimate, only.Cells[i].Interval)
		}
	} else {
		for i := range only.Pairs {
			add(only.Pairs[i].Estimate, only.Pairs[i].Interval)
		}
	}
	stands := func(x *float64, among []*float64) bool {
		return x == nil || slices.ContainsFunc(among, func(y *float64) bool { return y != nil && *y == *x })
	}
	return !stands(r.Estimate, estimates) || r.Interval != nil && !(stands(r.Interval.Lower, lowers) && stands(r.Interval.Upper, uppers))
}

// tells reports a text of a gate that may tell a count which is not shown: one with a whole number below least, or with two
// that far apart ("28 more of the 30"); and where no count is shown, with any.
func (h hiding) tells(text string) bool {
	if h.least == 0 {
		return false
	}
	numbers := wholeNumbers(text)
	slices.Sort(numbers)
	for i, n := range numbers {
		if h.counts || n < h.least || i > 0 && n > numbers[i-1] && n-numbers[i-1] < h.least {
			return true
		}
	}
	return false
}

// wholeNumbers lists the numbers in a text that may be counts: not those with decimals, percentages, and what is part of a name
// such as under_30.
func wholeNumbers(text string) []int {
	var out []int
	ofName := func(r rune) bool { return r == '_' || unicode.IsLetter(r) }
	for i := 0; i < len(text); {
		if text[i] < '0' || text[i] > '9' {
			i++
			continue
		}
		end := i
		for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end+1 < len(text) && (text[end] == '.' || text[end] == ',') && text[end+1] >= '0' && text[end+1] <= '9') {
			end++
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[end:])
		number := text[i:end]
		i = end
		if strings.Contains(number, ".") || ofName(before) || ofName(after) || strings.HasPrefix(strings.TrimLeft(text[end:], " "), "%") {
			continue
		}
		n, err := strconv.Atoi(strings.ReplaceAll(number, ",", ""))
		if err != nil { // more digits than any count has
			continue
		}
		out = append(out, n)
	}
	return out
}

// gate is a gate whose texts tell no hidden count. Its counts and numbers are still there: whoever writes them asks.
func (h hiding) gate(g *report.Gate) *report.Gate {
	if h.least == 0 {
		return g
	}
	out := *g
	if h.data || h.tells(g.Summary) && len(g.Data) == 0 {
		out.Summary = h.summary(g.Data)
	}
	out.Measures = slices.Clone(g.Measures)
	for i := range out.Measures {
		h.texts(&out.Measures[i])
	}
	out.Rules = slices.Clone(g.Rules)
	for i := range out.Rules {
		rule := &out.Rules[i]
		rule.Cells = slices.Clone(rule.Cells)
		for k := range rule.Cells {
			c := &rule.Cells[k]
			empty := c.Denominator != nil && recordedOf(&c.Measure) == 0 // which its reason says in words
			if c.Reason != "" && (empty || h.tells(c.Reason)) {
				c.Reason = "Why it is undecided is hidden: it tells a count."
				if n, err := strconv.Atoi(g.Settings["min_cell"]); err == nil && tooSmall(c, g.Settings) {
					c.Reason = "It has fewer cases than the " + whole(n) + " that a group needs (min_cell)."
				}
			}
			h.texts(&c.Measure)
		}
		names := func(group string) bool { return group != "" && strings.Contains(rule.Reason, group) }
		ofHidden := slices.ContainsFunc(slices.Collect(maps.Keys(h.gone(rule))), names)
		if h.rule(rule) || ofHidden || h.tells(rule.Reason) {
			rule.Reason = plainReason(rule.Verdict)
			if rule.Waived != nil {
				rule.Reason = "A waiver is in force, so that a person must decide."
			}
		}
		if n := rule.Needs; n != nil && (h.tells(n.What) || h.counts && (n.AtLeast > 0 || len(wholeNumbers(n.What)) > 0)) {
			rule.Needs = &report.Needs{What: "more data; how much is hidden: it tells a count"}
		}
		if p := rule.TippingPoint; p != nil && (h.counts || h.rule(rule) || ofHidden || h.tells(tipping(p))) {
			rule.TippingPoint = nil // it tells how many are missing
		}
		h.texts(&rule.Measure)
		rule.Assumptions = h.without(rule.Assumptions)
	}
	out.Findings = slices.Clone(g.Findings)
	for i := range out.Findings {
		if f := &out.Findings[i]; !ofPolicy(f.Code) && h.tells(f.Message) {
			f.Message = "`" + f.Code + "`: found; the JSON report tells it with its counts."
		}
	}
	out.Assumptions = h.without(g.Assumptions)
	out.Limits = h.without(g.Limits)
	return &out
}

// ofPolicy reports a finding about a waiver, a review or looks, by its code: it speaks of the policy, its days and its runs, not of
// the data.
func ofPolicy(code string) bool {
	return strings.HasPrefix(code, "looks_") || strings.HasPrefix(code, "waiver_") || strings.HasPrefix(code, "review_")
}

// texts takes what tells a count out of a measure's texts, and single cases.
func (h hiding) texts(m *report.Measure) {
	if h.tells(m.Caution) {
		m.Caution = "the interval visibly does not hold; the reason is hidden, since it tells a count"
	}
	m.Conditions = strings.Join(h.without([]string{m.Conditions}), " ")
	m.Moved = nil
	m.IntervalsBeside = slices.DeleteFunc(slices.Clone(m.IntervalsBeside), func(b report.IntervalBeside) bool { return h.counts || h.tells(b.Assumes) })
}

// without takes the sentences that have a number below least, other than a setting's, out of texts on what is assumed: other
// numbers in them are of the policy, or of all that was read.
func (h hiding) without(texts []string) []string {
	var out []string
	for _, text := range texts {
		var kept []string
		for _, s := range sentences(text) {
			if slices.ContainsFunc(wholeNumbers(s), func(n int) bool { return n < h.least && !h.fixed[n] }) {
				s = "A sentence is hidden: it tells a number below " + whole(h.least) + "."
			}
			kept = append(kept, s)
		}
		out = append(out, strings.Join(kept, " "))
	}
	return out
}

// summary says how much was read: its first count alone, from which no other follows.
func (h hiding) summary(data report.Data) string {
	if len(data) == 0 || data[0].Count < h.least {
		return "How much was read is hidden."
	}
	return whole(data[0].Count) + " " + strings.ReplaceAll(clip(data[0].Name, nameMax), "_", " ") + "."
}

// notice says that something is hidden, and why; "" where nothing is.
func (h hiding) notice() string {
	switch {
	case h.counts:
		return "Some counts are below the min_shown of the policy (" + whole(h.least) + "). They are hidden, and with them every other count, and the rates of their groups, from which they could be worked out."
	case h.data || len(h.groups) > 0:
		return "Some counts are below the min_shown of the policy (" + whole(h.least) + "), and hidden with what they could be worked out from."
	}
	return ""
}

// plainReason says what a verdict means in the place of a reason that tells a count.
func plainReason(v report.Verdict) string {
	switch v {
	case report.Pass:
		return "All of it is on the right side of the threshold."
	case report.Fail:
		return "It is on the wrong side of the threshold, with a whole interval."
	case report.ManualReview:
		return "A person must decide; what the doubt is about is hidden, since it tells a count."
	case report.InsufficientEvidence:
		return "It cannot be told on which side of the threshold the truth lies."
	case report.NoVerdict:
	}
	return "There is no verdict."
}

// facts are what a measure was counted from, where that may be told.
func (h hiding) facts(m *report.Measure, run float64) []string {
	if !h.counts && !h.numbers(m) {
		return facts(m, run)
	}
	only := report.Measure{Interval: m.Interval, Method: m.Method}
	return append([]string{"counts hidden"}, facts(&only, run)...)
}

// countsOnly is a measure's counts without its method and confidence, which its rule gives.
func (h hiding) countsOnly(m *report.Measure) []string {
	only := *m
	only.Interval, only.Method, only.IntervalsBeside = nil, "", nil
	return h.facts(&only, 0)
}

// hiddenRows is whether the numbers of rows read are hidden: those of one file may be few, and follow from all others and the sum.
func hiddenRows(r *report.Report) bool {
	for i := range r.Gates {
		h := newHiding(&r.Gates[i])
		if h.data || slices.ContainsFunc(r.Inputs, func(in report.Input) bool { return in.Rows < h.least }) {
			return true
		}
	}
	return false
}
