package summary

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
)

// defaultMaxBytes keeps a job summary below GitHub's limit of 1,048,576 bytes, above which the whole of it
// is dropped, with room for what other parts of the step may write.
const defaultMaxBytes = 1_000_000

// markdownCells is how many cells a drawing in a table has, and the others how many findings, errors,
// sentences, groups and pairs of one kind are shown.
const (
	markdownCells  = 24
	markdownErrors = 50
	markdownTexts  = 30
	markdownGroups = 100 // groups of one rule, or of one rate
	markdownPairs  = 50
	markdownLooser = 100 // changes of the policy of one kind, of a baseline's rules
)

// placeMax is the longest file:line:column: the line and column come last and must not be cut.
const placeMax = pathMax + 40

// rung is one step of what a Markdown report leaves out to stay within its bytes.
type rung struct {
	rules    int  // at most so many rules a gate, those that need someone first, and changes of one kind; -1 is all
	passing  bool // also rules that pass
	measures bool // also every measure
	groups   bool // also the groups and pairs of rules
	details  bool // also findings, assumptions, limits and files
}

// ladder is gone down until the report fits; below the last rung only the headline is left. A rung with a number of rules stands
// for that number and all above it, of which the largest that fits is taken.
var ladder = []rung{
	{rules: -1, passing: true, measures: true, groups: true, details: true},
	{rules: -1, passing: true, groups: true, details: true},
	{rules: -1, passing: true, details: true},
	{rules: -1, details: true},
	{rules: 100, details: true},
	{rules: 1},
}

// Markdown writes the report as GitHub Flavored Markdown, for a job summary: the headline, a table of the
// rules with those that need someone first, why and what would decide them, then, folded, everything else.
// It never has more than opts.MaxBytes bytes: what does not fit is left out in whole sections and whole
// rows, and counted. Counts below the gate's MinShown are hidden, with what they could be worked out from. The error is w's, or says that
// not even the headline fits.
func Markdown(w io.Writer, r *report.Report, opts Options) error {
	text, ok := fitting(cmp.Or(opts.MaxBytes, defaultMaxBytes), ladder, longest(r), func(fits rung) string {
		m := &markdown{rung: fits}
		m.report(r, opts.FailOn)
		return m.out.String()
	})
	if ok {
		_, err := io.WriteString(w, text)
		return err
	}
	return writeFitting(w, cmp.Or(opts.MaxBytes, defaultMaxBytes), func(yield func(string) bool) {
		shorter(yield, headline(r), policyCount(r), "## "+Icon(r.Verdict)+" "+r.Verdict.String())
	})
}

// longest is the length of a report's longest list of what a rung counts.
func longest(r *report.Report) int {
	rules := 0
	for range r.Rules() {
		rules++
	}
	return max(rules, len(r.Errors), len(r.PolicyChanges), len(r.RemovedRules))
}

// fitting goes down a ladder, and returns the first text that has at most so many bytes. Where a rung has a number of rules, the
// largest number up to all is looked for by halving: more rules never make a text much shorter.
func fitting(most int, ladder []rung, all int, render func(rung) string) (text string, ok bool) {
	fits := func(r rung) bool {
		written := render(r)
		if len(written) > most {
			return false
		}
		text, ok = written, true
		return true
	}
	for _, r := range ladder {
		if least := r.rules; least >= 0 {
			sort.Search(max(all-least+1, 1), func(i int) bool { // the last that fits is the largest
				r.rules = least + i
				return !fits(r)
			})
		} else {
			fits(r)
		}
		if ok {
			return text, true
		}
	}
	return "", false
}

// writeFitting writes the first of texts that has at most so many bytes.
func writeFitting(w io.Writer, most int, texts iter.Seq[string]) error {
	for text := range texts {
		if len(text) <= most {
			_, err := io.WriteString(w, text)
			return err
		}
	}
	return fmt.Errorf("a report in Markdown needs more than %d bytes", most)
}

// shorter yields what is left where nothing but a headline fits: with how the policy changed, with where the rest is, the
// headline alone, and the verdict alone.
func shorter(yield func(string) bool, headline, policy, verdict string) {
	if policy != "" && !(yield(headline+"\n\n"+policy+"\n\n"+leftOut+"\n") && yield(headline+"\n\n"+policy+"\n")) {
		return
	}
	_ = yield(headline+"\n\n"+leftOut+"\n") && yield(headline+"\n") && yield(verdict+"\n")
}

// leftOut says where the rest is.
const leftOut = "The rest does not fit here: it is in the log and in the JSON report."

// markdown collects one report.
type markdown struct {
	out   strings.Builder
	rung  rung
	hides hiding                             // what the gate's part must not tell
	pages func(file string, line int) string // the page of a line of a file, "" for none; nil where none has one
	// The same for a line of what the policy says otherwise; nil: pages.
	changePages func(file string, line int) string
}

// most is how many things of one kind the rung shows, up to all that there is room for.
func (m *markdown) most(all int) int {
	if m.rung.rules < 0 {
		return all
	}
	return min(all, m.rung.rules)
}

// at shows a place in a file: as a link where it has a page.
func (m *markdown) at(p diag.Pos) string {
	page := ""
	if m.pages != nil && p.File != "" {
		page = m.pages(p.File, p.Line)
	}
	p.File = clipPath(p.File, pathMax)
	return link(CodeSpan(p.String(), placeMax), page)
}

// prose escapes the text of a paragraph or a cell.
func prose(s string) string { return EscapeProse(s, 2*sentenceMax) }

// toolName is the program and its version.
func toolName(r *report.Report) string { return prose("oloproof " + clip(r.Tool.Version, nameMax)) }

// name shows an id.
func name(s string) string { return CodeSpan(s, nameMax) }

// path shows a file's path.
func path(s string) string { return CodeSpan(clipPath(s, pathMax), pathMax) }

// own escapes a cell of our own numbers and words: the "<" of a small p-value is all that has a meaning there.
func own(s string) string { return strings.ReplaceAll(s, "<", "&lt;") }

// ownNumbers are the two cells of a table for a measure's numbers, of which the unit alone is a text from data.
func ownNumbers(measure *report.Measure, n Numbers) (measured, within string) {
	bare := *measure
	bare.MeasuredIn = ""
	measured, within = shownNumbers(&bare, n)
	if n.Estimate != "" && measure.MeasuredIn != "" {
		return own(measured) + " " + prose(clip(unitSign(measure.MeasuredIn), nameMax)), own(within)
	}
	return own(measured), own(within)
}

// block writes a block of Markdown, set apart by an empty line.
func (m *markdown) block(s string) {
	if m.out.Len() > 0 {
		m.out.WriteByte('\n')
	}
	m.out.WriteString(s)
	m.out.WriteByte('\n')
}

// table writes a table; its cells are escaped already.
func (m *markdown) table(header []string, rows [][]string) {
	var b strings.Builder
	b.WriteString("| " + strings.Join(header, " | ") + " |\n|" + strings.Repeat(" --- |", len(header)))
	for _, row := range rows {
		b.WriteString("\n| " + strings.Join(row, " | ") + " |")
	}
	m.block(b.String())
}

// fold writes what body writes inside a folded section. Its title is our own text.
func (m *markdown) fold(title string, body func()) {
	m.block("<details><summary>" + title + "</summary>")
	body()
	m.block("</details>")
}

// headline says the verdict in words, with an icon.
func headline(r *report.Report) string {
	if len(r.Errors) > 0 {
		return "## 🚫 NO_VERDICT: nothing was decided, " + counted(len(r.Errors)+r.MoreErrors, "problem")
	}
	switch verbOf(r) {
	case checkVerb:
		named, _ := dataName(r)
		return "## Check of " + prose(named)
	case reportVerb:
		named, _ := dataName(r)
		return "## Report on " + prose(named)
	case gateVerb:
	}
	return "## " + Icon(r.Verdict) + " " + r.Verdict.String() + ": " + prose(verdictSays(r))
}

func (m *markdown) report(r *report.Report, failOn report.FailOn) {
	m.block(headline(r))
	m.policyChanges(r, "")
	if len(r.Errors) > 0 {
		m.errors(r)
	} else {
		intro := []string{}
		switch verbOf(r) {
		case gateVerb:
			intro = append(intro, ruleCounts(r)+".")
		case checkVerb, reportVerb:
			intro = append(intro, "Nothing is decided.")
		}
		if meaning := errorMeaning(r); meaning != "" {
			intro = append(intro, meaning)
		}
		m.block(strings.Join(intro, " "))
		m.baseline(r)
		for i := range r.Gates {
			m.gate(r, &r.Gates[i])
		}
		if m.rung.details {
			m.files(r)
		} else if n := len(r.Inputs) + len(policies(r)); n > 0 {
			m.block(counted(n, "file") + " not shown here.")
		}
	}
	foot := []string{toolName(r), exitSentence(r, failOn)}
	if said := multiplicity(r); said != "" {
		foot = append(foot, said)
	}
	if m.rung != ladder[0] {
		foot = append(foot, leftOut)
	}
	m.block("<sub>" + strings.Join(foot, " · ") + "</sub>")
}

// errors lists why the run cannot be used.
func (m *markdown) errors(r *report.Report) {
	most := m.most(markdownErrors)
	var lines []string
	for _, p := range shownProblems(r.Errors, most) {
		line := "- "
		if place := p.Pos(); place.File != "" {
			line += m.at(place) + " "
		}
		lines = append(lines, line+prose(clip(p.Message, sentenceMax)))
	}
	if rest := len(r.Errors) + r.MoreErrors - len(lines); rest > 0 {
		lines = append(lines, "- and "+whole(rest)+" more")
	}
	m.block(strings.Join(lines, "\n"))
}

// gate writes one gate's part.
func (m *markdown) gate(r *report.Report, g *report.Gate) {
	m.hides = newHiding(g)
	g = m.hides.gate(g)
	if len(r.Gates) > 1 {
		title := "### " + prose(clip(g.Gate, nameMax))
		if g.Name != "" {
			title += ": " + prose(clip(g.Name, nameMax))
		}
		m.block(title)
	}
	if g.Summary != "" {
		m.block(prose(gateText(g.Summary)))
	}
	for _, said := range []string{settingsText(g), m.hides.notice()} {
		if said != "" {
			m.block(prose(said))
		}
	}
	if len(g.Rules) > 0 {
		m.rules(g, r.Confidence, compares(r))
	}
	if !m.rung.details {
		m.notShown(g)
		return
	}
	m.findings(r, g)
	if len(g.Rules) == 0 && len(g.Measures) == 0 && len(g.Data) > 0 {
		var rows [][]string
		for i, c := range g.Data {
			count := whole(c.Count)
			if c.Count < m.hides.least || i > 0 && m.hides.data {
				count = hidden
			}
			rows = append(rows, []string{prose(strings.ReplaceAll(clip(c.Name, nameMax), "_", " ")), count})
		}
		if g.Design != "" {
			m.block("Design: " + prose(clip(g.Design, nameMax)) + ".")
		}
		m.table([]string{"Read", "Count"}, rows)
	}
	if m.rung.groups {
		m.groups(g)
	}
	if m.rung.measures {
		m.measures(g, r.Confidence)
	}
	m.notShown(g)
	m.assumes(g)
}

// notShown counts what the rung leaves out of a gate, rules aside.
func (m *markdown) notShown(g *report.Gate) {
	var parts []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, whole(n)+" "+many)
		}
	}
	if !m.rung.details {
		warnings := 0
		for _, f := range g.Findings {
			if f.Severity == report.Warning {
				warnings++
			}
		}
		said := conditions(g, true)
		add(warnings, "warning", "warnings")
		add(len(g.Findings)-warnings, "note", "notes")
		add(len(said)+len(assumptions(g, said))+len(g.Limits), "sentence on what is assumed", "sentences on what is assumed")
		if len(g.Rules) == 0 && len(g.Measures) == 0 {
			add(len(g.Data), "count", "counts")
		}
	}
	if !m.rung.groups {
		add(groupsAndPairs(g), "group or pair", "groups and pairs")
	}
	if !m.rung.measures {
		add(len(g.Measures), "measure", "measures")
	}
	if parts != nil {
		m.block(list(parts) + " not shown here.")
	}
}

// rules writes the table of rules, and under it why each came out as it did. Where they compare with an earlier report, they are in
// the order of what changed, and the table has what they were.
func (m *markdown) rules(g *report.Gate, run float64, compared bool) {
	var shown []*report.Rule
	rules := report.ByVerdict(g.Rules)
	if compared {
		rules = report.ByChange(g.Rules)
	}
	for i := range rules {
		if (m.rung.passing || rules[i].Verdict != report.Pass) && (m.rung.rules < 0 || len(shown) < m.rung.rules) {
			shown = append(shown, &rules[i])
		}
	}
	var rows [][]string
	var said, saidOfPassing []string
	var measures []*report.Measure
	for _, rule := range shown {
		measures = append(measures, &rule.Measure)
	}
	heading := intervalHeading(measures)
	for _, rule := range shown {
		label, measured, within := m.ruleCells(rule, "")
		drawn := ""
		if !m.hides.rule(rule) {
			drawn = Draw(&rule.Measure, bound(rule), markdownCells)
		}
		if drawn != "" {
			// Our own characters, none of which ends a code span or a cell; the spaces must not break the line.
			drawn = "`" + strings.ReplaceAll(drawn, " ", "\u00a0") + "`"
		}
		if compared {
			rows = append(rows, []string{Icon(rule.Verdict) + " " + verdictNow(rule), label, before(ruled{Rule: rule, hides: m.hides}, heading), measured, within, mustBe(rule), drawn})
		} else {
			rows = append(rows, []string{Icon(rule.Verdict) + " " + Word(rule.Verdict), label, measured, within, MustBe(rule.Threshold), drawn})
		}
		survives := rule.WithLeftOut == report.NoVerdict || rule.WithLeftOut == rule.Verdict
		if rule.Verdict == report.Pass && survives && len(notes(rule)) == 0 {
			saidOfPassing = append(saidOfPassing, m.about(rule, run))
		} else {
			said = append(said, m.about(rule, run))
		}
	}
	if len(rows) > 0 {
		header := []string{"", "Rule", "Measured", capital(columnHeading(measures)), "Must be", ""}
		if compared {
			header = slices.Insert(header, 2, "Before")
		}
		m.table(header, rows)
	}
	if rest := len(rules) - len(shown); rest > 0 {
		passed := 0
		for i := range rules {
			if rules[i].Verdict == report.Pass {
				passed++
			}
		}
		text := counted(rest, "more rule") + " not shown here."
		if !m.rung.passing {
			text += " Of all " + counted(len(rules), "rule") + " " + whole(passed) + " passed."
		}
		m.block(text)
	}
	if len(said) > 0 {
		m.block(strings.Join(said, "\n"))
	}
	if len(saidOfPassing) > 0 {
		m.fold("Rules that pass, and why ("+whole(len(saidOfPassing))+")", func() { m.block(strings.Join(saidOfPassing, "\n")) })
	}
}

// ruleCells are the cells of a table that name a rule, its gate where that is not "", and what it measures, and give its numbers.
func (m *markdown) ruleCells(rule *report.Rule, gate string) (label, measured, within string) {
	id, note := ruleName(rule)
	label = name(id) + inGate(gate)
	unseen := m.hides.rule(rule)
	at := where(m.hides.shown(rule))
	if unseen { // it may be elsewhere
		at = ""
	}
	about := slices.DeleteFunc([]string{ruleMeasure(&rule.Measure), at}, func(s string) bool { return s == "" })
	if len(about) > 0 {
		if gate != "" {
			label += ","
		}
		label += " " + prose(strings.Join(about, ", "))
	}
	if note != "" {
		label += " (" + note + ")"
	}
	if only := recordedOnly(rule); only != "" {
		label += ". **" + capital(prose(only)) + "**"
	}
	if unseen {
		return label, hidden, hidden
	}
	measured, within = ownNumbers(&rule.Measure, ruleNumbers(rule))
	return label, measured, within
}

// about is a list item: why a rule came out as it did, what would decide it, what it was counted from.
func (m *markdown) about(rule *report.Rule, run float64) string {
	facts := append([]string{ruleMeasure(&rule.Measure)}, m.hides.facts(&rule.Measure, run)...)
	return m.why(rule) + " <sub>" + prose(strings.Join(facts, " · ")+lookText(rule, " · ")) + "</sub>"
}

// why is a list item: why a rule came out as it did, what would decide it, and its waiver, review and standing.
func (m *markdown) why(rule *report.Rule) string {
	parts := []string{"- " + Icon(rule.Verdict) + " " + name(rule.ID) + ": " + prose(gateText(ownReason(rule)))}
	if rule.Needs != nil {
		parts = append(parts, "**What would decide it:** "+prose(gateText(needs(rule.Needs))))
	}
	if rule.TippingPoint != nil {
		parts = append(parts, prose(gateText(tipping(rule.TippingPoint))))
	}
	for _, n := range append([]string{withLeftOut(rule), caution(&rule.Measure, rule.Reason)}, append(notes(rule), moved(&rule.Measure))...) {
		if n != "" {
			parts = append(parts, prose(n))
		}
	}
	return strings.Join(parts, " ")
}

// numbers are the two cells of a table for a measure's estimate and interval.
func (m *markdown) numbers(measure *report.Measure) (measured, within string) {
	if m.hides.numbers(measure) {
		return hidden, hidden
	}
	return ownNumbers(measure, Show(measure, nil))
}

// findings lists what is to be known about the data, warnings first.
func (m *markdown) findings(r *report.Report, g *report.Gate) {
	var lines []string
	for _, f := range bySeverity(g.Findings) {
		icon := "ℹ️"
		if f.Severity == report.Warning {
			icon = "⚠️"
		}
		line := "- " + icon + " " + prose(gateText(f.Message))
		if places, more := positions(r, g.Gate, f.Code); len(places) > 0 && m.hides.least == 0 { // as many as were found
			for i := range places {
				places[i] = CodeSpan(places[i], placeMax)
			}
			if more > 0 {
				places = append(places, counted(more, "more place"))
			}
			line += " At " + list(places) + "."
		}
		lines = append(lines, line)
	}
	m.list("**About the data:**", lines)
}

// list writes the first items of a list under a title, and how many more there are.
func (m *markdown) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	shown := items
	if rest := len(items) - markdownTexts; rest > 0 {
		shown = append(shown[:markdownTexts:markdownTexts], "- and "+whole(rest)+" more: "+inReport)
	}
	m.block(title + "\n\n" + strings.Join(shown, "\n"))
}

// inReport is where a summary's reader finds what it leaves out.
const inReport = "see the JSON report"

// groupsAndPairs is how many groups and pairs the rules of a gate have.
func groupsAndPairs(g *report.Gate) int {
	total := 0
	for i := range g.Rules {
		total += len(g.Rules[i].Cells) + len(g.Rules[i].Pairs) + g.Rules[i].PairsOmitted
	}
	return total
}

// groups writes the groups and pairs of every rule that has them.
func (m *markdown) groups(g *report.Gate) {
	total := groupsAndPairs(g)
	if total == 0 {
		return
	}
	m.fold(fmt.Sprintf("Groups and pairs (%s)", whole(total)), func() {
		for i := range g.Rules {
			rule := &g.Rules[i]
			if len(rule.Cells)+len(rule.Pairs) > 0 {
				m.block("Rule " + name(rule.ID))
			}
			m.cells(rule, g.Settings)
			m.pairs(rule)
		}
	})
}

// cells writes a rule's groups, with what each was counted from and why it is undecided.
func (m *markdown) cells(rule *report.Rule, settings map[string]string) {
	all := groupRows(rule, settings)
	if len(all) == 0 {
		return
	}
	shown := all[:min(len(all), markdownGroups)]
	var rows [][]string
	for _, g := range shown {
		said := m.hides.countsOnly(g.measure)
		if g.reason != "" && !strings.Contains(rule.Reason, g.reason) {
			said = append(said, gateText(g.reason))
		}
		measured, within := orNone(g.numbers.Estimate), orNone(g.numbers.Range())
		if m.hides.numbers(g.measure) {
			measured, within = hidden, hidden
		}
		word := g.word // of its pairs: an icon would make it a verdict on the group
		if !ofPairs(rule) {
			word = verdictCell(g)
		}
		rows = append(rows, []string{word, prose(g.name), measured, within, prose(strings.Join(said, " · "))})
	}
	m.table([]string{capital(verdictHeading(rule)), "Group", "Measured", capital(intervalHeading(measuresOf(shown))), "Counted"}, rows)
	if rest := len(all) - len(shown); rest > 0 {
		m.block("and " + moreGroups(rest) + ": " + inReport + ".")
	}
}

// pairs writes a rule's pairs of groups.
func (m *markdown) pairs(rule *report.Rule) {
	all := pairRows(rule)
	if len(all) == 0 {
		return
	}
	shown := all[:min(len(all), markdownPairs)]
	if text := comparedDirectly(rule); text != "" {
		m.block(text)
	}
	open := map[string]bool{} // the pairs whose numbers may be told
	for _, g := range pairRows(m.hides.shown(rule)) {
		open[g.name] = true
	}
	var rows [][]string
	for _, g := range shown {
		measured, within := orNone(g.numbers.Estimate), orNone(g.numbers.Range())
		if !open[g.name] {
			measured, within = hidden, hidden
		}
		rows = append(rows, []string{verdictCell(g), prose(g.name), measured, within})
	}
	m.table([]string{"", "Pair", capital(pairHeading(rule)), capital(intervalHeading(measuresOf(shown)))}, rows)
	if text := morePairs(len(all)-len(shown), rule.PairsOmitted, inReport); text != "" {
		m.block(text + ".")
	}
}

// verdictCell is a row's verdict with its icon.
func verdictCell(g groupRow) string {
	if g.word != "" {
		return Icon(g.verdict) + " " + g.word
	}
	return ""
}

// capital writes our own text with a capital letter.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// measures writes every measure: folded beside rules, open in a report without them.
func (m *markdown) measures(g *report.Gate, run float64) {
	if len(g.Measures) == 0 {
		return
	}
	title := "Every measure"
	table := func() {
		var all []*report.Measure
		for i := range g.Measures {
			all = append(all, &g.Measures[i])
		}
		m.measureTable(all, run)
	}
	if sections := byAttribute(g.Measures); sections != nil {
		table = func() { m.sections(sections, run) }
		for _, s := range sections {
			if _, rest := s.shownOf(markdownGroups); rest > 0 {
				title = "Measures"
			}
		}
	}
	if len(g.Rules) == 0 {
		table()
		return
	}
	m.fold(fmt.Sprintf("%s (%s)", title, whole(len(g.Measures))), table)
}

// measureTable writes measures of one kind.
func (m *markdown) measureTable(all []*report.Measure, run float64) {
	var rows [][]string
	for _, measure := range all {
		measured, within := m.numbers(measure)
		said := m.hides.facts(measure, run)
		if text := caution(measure, ""); text != "" {
			said = append(said, text)
		}
		rows = append(rows, []string{prose(measureName(measure)), measured, within, prose(strings.Join(said, " · "))})
	}
	m.table([]string{"Measure", "Measured", capital(columnHeading(all)), "Counted"}, rows)
}

// sections writes the measures of everyone, then a table for each attribute, and last the calibration errors.
func (m *markdown) sections(sections []section, run float64) {
	var errors []section
	for _, s := range sections {
		s, e := s.calibration()
		errors = append(errors, e)
		if len(s.rates) == 0 {
			continue
		}
		rates, rest := s.shownOf(markdownGroups)
		var shown []*report.Measure
		for _, r := range rates {
			shown = append(shown, r.measures...)
		}
		if s.attribute == "" {
			m.measureTable(shown, run)
			continue
		}
		var rows [][]string
		for _, measure := range shown {
			measured, within := m.numbers(measure)
			said := m.hides.countsOnly(measure)
			if text := caution(measure, ""); text != "" {
				said = append(said, text)
			}
			rows = append(rows, []string{prose(clip(measure.Metric, nameMax)), prose(groupName(measure.Labels)), measured, within, prose(strings.Join(said, " · "))})
		}
		title := "By " + name(s.attribute)
		if methods := methodsOf(shown); methods != "" {
			title += " (" + prose(methods) + ")"
		}
		m.block(title)
		m.table([]string{"Rate", "Group", "Measured", capital(intervalHeading(shown)), "Counted"}, rows)
		if rest > 0 {
			m.block("and " + moreGroups(rest) + " of each rate: " + inReport + ".")
		}
	}
	m.calibration(errors)
}

// calibration writes the calibration errors of everyone and of the groups.
func (m *markdown) calibration(sections []section) {
	var rows [][]string
	rest := 0
	for _, s := range sections {
		rates, more := s.shownOf(markdownGroups)
		rest += max(more, 0)
		for _, r := range rates {
			for _, measure := range r.measures {
				measured, chance := orNone(Show(measure, nil).Estimate), byChance(measure)
				if m.hides.numbers(measure) {
					measured, chance = hidden, hidden
				}
				rows = append(rows, []string{prose(s.attribute), prose(s.nameOf(measure)), measured, chance, prose(strings.Join(m.hides.countsOnly(measure), " · "))})
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	m.block("Calibration error, beside what it would be by chance if the probabilities were right")
	m.table([]string{"By", "Group", "Measured", capital(ifCalibrated), "Counted"}, rows)
	if rest > 0 {
		m.block("and " + moreGroups(rest) + ": " + inReport + ".")
	}
}

// assumes writes when the intervals hold, what is assumed and what cannot be told.
func (m *markdown) assumes(g *report.Gate) {
	items := func(sentences []string) []string {
		var out []string
		for _, s := range sentences {
			out = append(out, "- "+prose(gateText(s)))
		}
		return out
	}
	said := conditions(g, true)
	holds, assumed, limits := items(said), items(assumptions(g, said)), items(g.Limits)
	if len(holds)+len(assumed)+len(limits) == 0 {
		return
	}
	m.fold("What this assumes and cannot tell", func() {
		m.list("**When the intervals hold:**", holds)
		m.list("**Assumptions:**", assumed)
		m.list("**Limits:**", limits)
	})
}

// policies are the policy files of a run.
func policies(r *report.Report) []report.File {
	if len(r.Policies) == 0 && r.Policy != nil {
		return []report.File{*r.Policy}
	}
	return r.Policies
}

// files writes what was found about the files, and folded their names, sizes and digests.
func (m *markdown) files(r *report.Report) {
	var about []string
	tells := func(message string) bool {
		return slices.ContainsFunc(r.Gates, func(g report.Gate) bool { return newHiding(&g).tells(message) })
	}
	if r.Ledger != nil {
		about = append(about, "- "+prose(ledgerText(r)))
	}
	for _, f := range fileFindings(r) {
		message := f.message
		if tells(message) {
			message = "What was found is hidden: it tells a count."
		}
		about = append(about, "- "+CodeSpan(f.place, placeMax)+" "+prose(message))
	}
	m.list("**About the files:**", about)

	var rows [][]string
	count := whole
	if hiddenRows(r) {
		count = func(int) string { return hidden }
	}
	for _, in := range r.Inputs {
		role := cmp.Or(in.Role, "data")
		rows = append(rows, []string{path(in.Path), prose(clip(role, nameMax)), count(in.Rows), CodeSpan(in.SHA256, nameMax)})
	}
	for _, p := range policies(r) {
		rows = append(rows, []string{path(p.Path), "policy", "", CodeSpan(p.SHA256, nameMax)})
	}
	if len(rows) == 0 {
		return
	}
	m.fold(fmt.Sprintf("Files and digests (%s)", whole(len(rows))), func() {
		m.table([]string{"File", "Holds", "Rows", "SHA-256"}, rows)
		if len(r.Inputs) > 0 {
			m.block("All data together, as `reviewed:` names it: " + CodeSpan(report.InputsDigest(r.Inputs), nameMax))
		}
	})
}
