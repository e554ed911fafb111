package summary

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// What terminal and markdown share on rules about groups and pairs of groups, and on measures of groups.

// where says which groups a rule's estimate is about, from their own estimates: "largest gap: female 0.150, male
// 0.036". It is empty for a rule on no groups, and where all groups are alike.
func where(r *report.Rule) string {
	if finite(r.Estimate) == nil {
		return ""
	}
	var lowest, highest []*report.Cell // all that share the least and the greatest estimate
	for i := range r.Cells {
		c := &r.Cells[i]
		if finite(c.Estimate) == nil {
			continue
		}
		if len(lowest) == 0 || *c.Estimate < *lowest[0].Estimate {
			lowest = nil
		}
		if len(lowest) == 0 || *c.Estimate == *lowest[0].Estimate {
			lowest = append(lowest, c)
		}
		if len(highest) == 0 || *c.Estimate > *highest[0].Estimate {
			highest = nil
		}
		if len(highest) == 0 || *c.Estimate == *highest[0].Estimate {
			highest = append(highest, c)
		}
	}
	if len(lowest) == 0 || *lowest[0].Estimate == *highest[0].Estimate {
		return ""
	}
	name := func(cells []*report.Cell, number string) string {
		text := cellName(cells[0]) + number
		if rest := len(cells) - 1; rest > 0 {
			text += " (and " + whole(rest) + " more)"
		}
		return text
	}
	least, most := name(lowest, " "+Show(&lowest[0].Measure, nil).Estimate), name(highest, " "+Show(&highest[0].Measure, nil).Estimate)
	switch {
	case r.Threshold.Kind == report.MaxGroupGap:
		return "largest gap: " + most + ", " + least
	case r.Threshold.Kind == report.MinGroupRatio:
		return "lowest ratio: " + least + ", " + most
	case r.Threshold.Kind == report.WorstGroup && r.Threshold.Side == report.Minimum:
		return "lowest group: " + name(lowest, "") // its number stands in the table
	case r.Threshold.Kind == report.WorstGroup:
		return "highest group: " + name(highest, "")
	}
	return ""
}

// recordedOnly says, beside a rule's verdict in a table, that it holds for the recorded cases only; "" where it stays with those
// left out, or none are.
func recordedOnly(r *report.Rule) string {
	if r.WithLeftOut == report.NoVerdict || r.WithLeftOut == ownVerdict(r) {
		return ""
	}
	return "recorded cases only: with its left-out cases at their worst " + r.WithLeftOut.String()
}

// withLeftOut says whether a verdict survives the cases that its rule leaves out, where its reason does not.
func withLeftOut(r *report.Rule) string {
	if r.WithLeftOut == report.NoVerdict || strings.Contains(r.Reason, "at their worst") {
		return ""
	}
	own := ownVerdict(r)
	if r.WithLeftOut == own {
		return "It stays " + own.String() + " with the cases left out added at their worst."
	}
	return "With the cases left out added at their worst it would be " + r.WithLeftOut.String() + ": the verdict holds for the recorded cases only."
}

// ownVerdict is a rule's verdict before a waiver.
func ownVerdict(r *report.Rule) report.Verdict {
	if r.Waived != nil {
		return r.Waived.Verdict
	}
	return r.Verdict
}

// groupName is a group with what else sets it apart from others of its attribute.
func groupName(labels map[string]string) string {
	rest := map[string]string{}
	for key, value := range labels {
		if key != "attribute" {
			rest[key] = value
		}
	}
	return cmp.Or(labelText(rest), "(no name)")
}

func cellName(c *report.Cell) string { return groupName(c.Labels) }

func pairName(p *report.Pair) string {
	return clip(p.Groups[0], nameMax) + " and " + clip(p.Groups[1], nameMax)
}

// groupRow is one line of a rule's table of groups, or of its table of pairs.
type groupRow struct {
	verdict report.Verdict
	word    string // the verdict as the table has it; a group that was not judged by itself has none
	name    string
	numbers Numbers
	measure *report.Measure
	reason  string // why it is undecided
}

// verdictWord is a verdict in a table of groups or pairs.
func verdictWord(v report.Verdict) string {
	if v == report.NoVerdict {
		return ""
	}
	return Word(v)
}

// ofPairs reports a rule that compares pairs of groups, by their gap or ratio.
func ofPairs(r *report.Rule) bool {
	return r.Threshold.Kind == report.MaxGroupGap || r.Threshold.Kind == report.MinGroupRatio
}

// pairsWord is what a group's pairs came to under a rule that compares pairs. It is no verdict on the group: the one that is
// treated best stands in the pair that fails too.
func pairsWord(v report.Verdict, small bool) string {
	switch v {
	case report.Pass:
		return "pass"
	case report.Fail:
		return "a FAIL"
	case report.ManualReview:
		return "review"
	case report.InsufficientEvidence:
		if small {
			return "too small"
		}
		return "undecided"
	case report.NoVerdict:
	}
	return ""
}

// verdictHeading heads the first column of a rule's table of groups.
func verdictHeading(r *report.Rule) string {
	if ofPairs(r) {
		return "its pairs"
	}
	return ""
}

// tooSmall reports an undecided group with fewer recorded cases than the gate's min_cell.
func tooSmall(c *report.Cell, settings map[string]string) bool {
	least, err := strconv.Atoi(settings["min_cell"])
	return err == nil && c.Verdict == report.InsufficientEvidence && c.Denominator != nil && recordedOf(&c.Measure) < least
}

// groupRows lists a rule's groups: those that need someone first, of the undecided ones the smallest first, else as
// declared. The settings are the gate's.
func groupRows(r *report.Rule, settings map[string]string) []groupRow {
	var rows []groupRow
	for i := range r.Cells {
		c := &r.Cells[i]
		against, word := bound(r), verdictWord(c.Verdict)
		if ofPairs(r) {
			word = pairsWord(c.Verdict, tooSmall(c, settings))
		}
		if r.Threshold.Kind != report.WorstGroup { // the threshold of a gap or a ratio is not for one group's rate
			against = nil
		}
		rows = append(rows, groupRow{c.Verdict, word, cellName(c), Show(&c.Measure, against), &c.Measure, c.Reason})
	}
	size := func(g groupRow) int {
		if g.verdict != report.InsufficientEvidence || g.measure.Denominator == nil {
			return 0
		}
		return recordedOf(g.measure)
	}
	slices.SortStableFunc(rows, func(a, b groupRow) int {
		return cmp.Or(cmp.Compare(b.verdict, a.verdict), cmp.Compare(size(a), size(b)))
	})
	return rows
}

// pairRows lists a rule's pairs of groups: those that need someone first, of one verdict those that reach furthest to
// the wrong side of the threshold.
func pairRows(r *report.Rule) []groupRow {
	var rows []groupRow
	for i := range r.Pairs {
		p := &r.Pairs[i]
		m := &report.Measure{Estimate: p.Estimate, Interval: p.Interval, Scale: r.Scale}
		rows = append(rows, groupRow{p.Verdict, verdictWord(p.Verdict), pairName(p), Show(m, bound(r)), m, ""})
	}
	reach := func(g groupRow) float64 { // less is worse
		switch iv := g.measure.Interval; {
		case iv == nil:
		case r.Threshold.Kind == report.MinGroupRatio && finite(iv.Lower) != nil:
			return *iv.Lower
		case r.Threshold.Kind != report.MinGroupRatio && finite(iv.Upper) != nil:
			return -*iv.Upper
		}
		return math.Inf(-1)
	}
	slices.SortStableFunc(rows, func(a, b groupRow) int {
		return cmp.Or(cmp.Compare(b.verdict, a.verdict), cmp.Compare(reach(a), reach(b)))
	})
	return rows
}

// pairHeading is what a rule's pairs are compared by.
func pairHeading(r *report.Rule) string {
	if r.Threshold.Kind == report.MinGroupRatio {
		return "ratio"
	}
	return "gap"
}

// fewPairs are always listed; of more, those of a rule that passes are only counted on a terminal.
const fewPairs = 3

// comparedDirectly says that a rule's pairs have intervals of their own, which do not follow from those of the groups; "" where
// they do.
func comparedDirectly(r *report.Rule) string {
	for i := range r.Pairs {
		if iv := r.Pairs[i].Interval; iv != nil && iv.Method == interval.MethodFisherProduct {
			return "The pairs are compared directly (interval: pairwise); the groups' own intervals are for reading."
		}
	}
	return ""
}

// measuresOf lists the rows' measures.
func measuresOf(rows []groupRow) []*report.Measure {
	var measures []*report.Measure
	for _, row := range rows {
		measures = append(measures, row.measure)
	}
	return measures
}

// moreGroups is how many groups a format does not show.
func moreGroups(n int) string { return counted(n, "more group") }

// undecidedWhy says why rows are undecided: each reason once, with the groups that it is about, and without those
// that the rule's own reason gives.
func undecidedWhy(rows []groupRow, ruleReason string) []string {
	var reasons []string
	of := map[string][]string{}
	for _, row := range rows {
		if row.reason == "" || strings.Contains(ruleReason, row.reason) {
			continue
		}
		if of[row.reason] == nil {
			reasons = append(reasons, row.reason)
		}
		of[row.reason] = append(of[row.reason], row.name)
	}
	var out []string
	for _, reason := range reasons {
		out = append(out, few(of[reason], 3, "group")+": "+gateText(reason))
	}
	return out
}

// morePairs says how many pairs of a rule a format does not show: rest of those that the report lists, which are
// found at a place, and those that it does not list either. It is empty where there are none.
func morePairs(rest, omitted int, place string) string {
	var parts []string
	if rest > 0 {
		parts = append(parts, counted(rest, "more pair")+": "+place)
	}
	if omitted > 0 {
		parts = append(parts, counted(omitted, "more pair")+" compared and listed nowhere, none of which reaches further")
	}
	if len(parts) == 0 {
		return ""
	}
	return "and " + strings.Join(parts, "; ")
}

// shortCounts are rates' counts, each in one short cell, with the heading of their column: "212 of 1,801 +3" under
// "cases +missing".
func shortCounts(measures []*report.Measure) (heading string, texts []string) {
	heading, sign := "counted", false
	if !slices.ContainsFunc(measures, func(m *report.Measure) bool { return !ofCases(m) }) {
		heading = "cases"
	}
	for _, m := range measures {
		text := ""
		switch {
		case m.Numerator != nil && m.Denominator != nil:
			text = whole(*m.Numerator) + " of " + whole(recordedOf(m))
		case m.Units != nil && heading == "cases":
			text = whole(*m.Units)
		case m.Units != nil:
			text = whole(*m.Units) + " " + unitName(m, *m.Units)
		}
		if m.Missing != nil && *m.Missing > 0 {
			text += " +" + whole(*m.Missing)
			sign = true
		}
		texts = append(texts, text)
	}
	if sign {
		heading += " +missing"
	}
	return heading, texts
}

// ofCases reports a measure that counts cases, each of them once.
func ofCases(m *report.Measure) bool {
	return m.UnitName == "cases" && (m.Denominator == nil || m.Units == nil || *m.Units == *m.Denominator)
}

// section is the measures of one attribute, or of everyone.
type section struct {
	attribute string // "" is everyone
	rates     []rate
}

// rate is one metric's measures within a section.
type rate struct {
	metric   string
	measures []*report.Measure
}

// calibrationError is the metric that no rule is ever about, and that has no interval.
const calibrationError = "expected_calibration_error"

// ifCalibrated heads what calibration errors would be by chance alone, were the probabilities right.
const ifCalibrated = "if calibrated"

// calibration parts calibration errors from rates: they have a table of their own.
func (s section) calibration() (rates, errors section) {
	rates.attribute, errors.attribute = s.attribute, s.attribute
	for _, r := range s.rates {
		if r.metric == calibrationError {
			errors.rates = append(errors.rates, r)
		} else {
			rates.rates = append(rates.rates, r)
		}
	}
	return rates, errors
}

// nameOf is a group of the section, or everyone.
func (s section) nameOf(m *report.Measure) string {
	if s.attribute == "" && len(m.Labels) == 0 {
		return "everyone"
	}
	return groupName(m.Labels)
}

// byChance prints what a calibration error would be by chance alone.
func byChance(m *report.Measure) string {
	if finite(m.UnderCalibration) == nil {
		return orNone("")
	}
	return printNumber(*m.UnderCalibration, minPlaces, nearest, false)
}

// byAttribute sorts measures into sections, in the order in which they first appear; none where no measure is of an
// attribute's group or a calibration error.
func byAttribute(measures []report.Measure) []section {
	var sections []section
	ofGroups := false
	for i := range measures {
		m := &measures[i]
		attribute, found := m.Labels["attribute"]
		ofGroups = ofGroups || found || m.Metric == calibrationError
		at := slices.IndexFunc(sections, func(s section) bool { return s.attribute == attribute })
		if at < 0 {
			at = len(sections)
			sections = append(sections, section{attribute: attribute})
		}
		s := &sections[at]
		k := slices.IndexFunc(s.rates, func(r rate) bool { return r.metric == m.Metric })
		if k < 0 {
			k = len(s.rates)
			s.rates = append(s.rates, rate{metric: m.Metric})
		}
		s.rates[k].measures = append(s.rates[k].measures, m)
	}
	if !ofGroups {
		return nil
	}
	return sections
}

// methodsOf names the methods of measures' intervals, each once.
func methodsOf(measures []*report.Measure) string {
	var names []string
	for _, m := range measures {
		if m.Interval == nil {
			continue
		}
		if name := methodText(m.Interval, ""); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return few(names, 3, "method")
}

// shownOf is the first measures of each rate of a section, and how many groups that leaves out of the rate that has
// most.
func (s section) shownOf(most int) (rates []rate, rest int) {
	for _, r := range s.rates {
		rest = max(rest, len(r.measures)-most)
		rates = append(rates, rate{r.metric, r.measures[:min(len(r.measures), most)]})
	}
	return rates, rest
}
