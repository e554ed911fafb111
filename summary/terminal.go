package summary

import (
	"bytes"
	"cmp"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twcache"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/oloproof/oloproof/engine/report"
)

// How much of a long report a terminal shows; the JSON report has all of it. Rules that need someone are
// always shown; which of their groups do not fit is said.
const (
	errorsShown       = 20  // as everywhere: the first 20, then how many more
	passDetails       = 20  // with more rules than this, those that pass have one line each
	groupsShown       = 20  // groups of one rule, or of one rate
	groupsOfPassing   = 10  // groups of a rule that passes
	pairsShown        = 10  // pairs of one rule that does not pass
	reasonsShown      = 6   // different reasons why groups of one rule are undecided
	measuresShown     = 30  // measures beside rules
	measuresShownOnly = 100 // measures of a report without rules
	textsShown        = 6   // assumptions, limits, conditions
)

const (
	defaultWidth = 80
	leastWidth   = 40
)

// Terminal writes the report for a person at a terminal or in a log: no line is wider than opts.Width, none
// can be read by a CI runner as a command. The verdict comes first, then the rules that need someone, then
// why and what would decide them, then what the numbers rest on, and the exit status last.
func Terminal(w io.Writer, r *report.Report, opts Options) error {
	t := newTerminal(opts)
	if len(r.Errors) > 0 {
		t.errors(r)
	} else {
		t.report(r)
	}
	t.blank()
	t.para(0, 2, exitSentence(r, opts.FailOn))
	_, err := io.WriteString(w, t.out.String())
	return err
}

// terminal collects the lines of one report.
type terminal struct {
	out   strings.Builder
	width int
	color bool
	utf8  bool
	marks marks

	tables aligner
}

// newTerminal begins a report as the options have it.
func newTerminal(opts Options) *terminal {
	t := &terminal{width: opts.Width, color: opts.Color, utf8: opts.Unicode, marks: asciiMarks}
	if t.width == 0 {
		t.width = defaultWidth
	}
	t.width = max(t.width, leastWidth)
	if t.utf8 {
		t.marks = unicodeMarks
	}
	return t
}

// unwrapped is a width that no clipped text reaches.
const unwrapped = 1 << 20

// text is what a text from data looks like here.
func (t *terminal) text(s string) string { return EscapeTerminal(s, t.utf8) }

func (t *terminal) blank() { t.out.WriteByte('\n') }

// line writes a finished line, without spaces at its end.
func (t *terminal) line(s string) {
	t.out.WriteString(strings.TrimRight(s, " "))
	t.out.WriteByte('\n')
}

// para writes prose, its first line indented by indent, the others by hanging.
func (t *terminal) para(indent, hanging int, s string) {
	first := strings.Repeat(" ", indent)
	// The first line may be longer or shorter than the others: fill it with what the difference takes.
	lines := wrap(t.text(s), t.width-max(indent, hanging))
	for i, l := range lines {
		if i > 0 {
			first = strings.Repeat(" ", hanging)
		}
		t.line(first + l)
	}
}

// paint colours a line's first word, from byte at on, when that word is a verdict's.
func (t *terminal) paint(line string, at int, word string, v report.Verdict) string {
	if !t.color || word == "" || !strings.HasPrefix(line[min(at, len(line)):], word) {
		return line
	}
	return line[:at] + verdictColor(v) + word + "\x1b[0m" + line[at+len(word):]
}

// verdictColor is the escape that starts a verdict's colour. Words carry the meaning; colour repeats it.
func verdictColor(v report.Verdict) string {
	switch v {
	case report.Pass:
		return "\x1b[1;32m" // green
	case report.Fail:
		return "\x1b[1;31m" // red
	case report.InsufficientEvidence:
		return "\x1b[1;33m" // yellow
	case report.ManualReview:
		return "\x1b[1;35m" // magenta
	case report.NoVerdict:
	}
	return "\x1b[1m"
}

// errors writes why the run cannot be used.
func (t *terminal) errors(r *report.Report) {
	var files []string
	for _, p := range r.Errors {
		if name := clipPath(p.File, pathMax); name != "" && !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	total := len(r.Errors) + r.MoreErrors
	what := "nothing could be decided"
	if len(files) > 0 {
		what = "cannot use " + few(files, 3, "file")
	}
	t.para(0, 2, "oloproof: "+what+" ("+counted(total, "problem")+")")
	t.blank()
	shown := shownProblems(r.Errors, errorsShown)
	for _, p := range shown {
		place := p.Pos().String()
		if place != "" {
			place += ": "
		}
		// One line a problem, however wide: editors and CI's matchers read file:line:column from its start.
		for _, l := range wrap(t.text(place+clip(p.Message, sentenceMax)), unwrapped) {
			t.line(l)
		}
	}
	if rest := total - len(shown); rest > 0 {
		t.para(0, 2, "and "+whole(rest)+" more")
	}
}

// report writes everything but the exit status.
func (t *terminal) report(r *report.Report) {
	v := verbOf(r)
	switch v {
	case gateVerb:
		word := r.Verdict.String()
		head := word + " · " + policyName(r) + " on " + fileNames(r) + " · " + ruleCounts(r)
		before := t.out.Len()
		t.para(0, 2, head)
		text := t.out.String()
		t.out.Reset()
		t.out.WriteString(text[:before] + t.paint(text[before:], 0, word, r.Verdict))
	case reportVerb:
		t.para(0, 2, "Report on "+fileNames(r)+" · every measure with its interval; nothing is decided")
	case checkVerb:
		t.para(0, 2, "Check of "+fileNames(r)+" · what it holds; nothing is decided")
	}
	t.changes(r)
	for i := range r.Gates {
		t.gate(r, &r.Gates[i], v)
	}
	if text := ledgerText(r); text != "" {
		t.blank()
		t.para(2, 4, text)
	}
	if files := fileFindings(r); len(files) > 0 {
		t.blank()
		for _, f := range files[:min(len(files), errorsShown)] {
			t.para(2, 4, f.place+": "+f.message)
		}
		if rest := len(files) - errorsShown; rest > 0 {
			t.para(2, 4, "and "+whole(rest)+" more about the files")
		}
	}
	closing := slices.DeleteFunc([]string{errorMeaning(r), multiplicity(r)}, func(s string) bool { return s == "" })
	if len(closing) > 0 {
		t.blank()
		t.para(2, 2, strings.Join(closing, " "))
	}
	if how := reviewing(r); how != nil {
		t.blank()
		t.para(2, 4, how[0])
		for _, l := range how[1:] { // to be copied, so not wrapped
			t.line("  " + l)
		}
	}
	if v != checkVerb {
		t.para(2, 2, "All of it: --format json, with every group and count.")
	}
}

// gate writes one gate's part.
func (t *terminal) gate(r *report.Report, g *report.Gate, v verb) {
	t.blank()
	if len(r.Gates) > 1 || g.Name != "" {
		title := g.Gate
		if g.Name != "" {
			title += " · " + clip(g.Name, nameMax)
		}
		t.para(0, 2, title)
		t.blank()
	}
	if g.Summary != "" {
		t.para(2, 2, gateText(g.Summary))
	}
	if fixed := settingsText(g); fixed != "" {
		t.para(2, 2, fixed)
	}
	if v == checkVerb {
		if g.Design != "" {
			t.para(2, 2, "Design: "+clip(g.Design, nameMax))
		}
		if len(g.Data) > 0 {
			rows := [][]string{}
			for _, c := range g.Data {
				rows = append(rows, []string{strings.ReplaceAll(clip(c.Name, nameMax), "_", " "), whole(c.Count)})
			}
			t.blank()
			t.table([]string{"READ", "COUNT"}, rows, 0)
		}
	}
	if len(g.Rules) > 0 {
		t.rules(g, r.Confidence)
	}
	t.findings(r, g)
	if len(g.Measures) > 0 {
		limit := measuresShownOnly
		if len(g.Rules) > 0 {
			limit = measuresShown
		}
		t.measures(g, limit)
	}
	holds := conditions(g, len(g.Rules) == 0)
	t.texts("Intervals:", holds)
	t.texts("Assumptions:", assumptions(g, holds))
	t.texts("Limits:", g.Limits)
}

// rules writes the table of rules, each with its drawing, and then what is to be said on each.
func (t *terminal) rules(g *report.Gate, run float64) {
	rules := report.ByVerdict(g.Rules)
	brief := func(r *report.Rule) bool {
		return len(rules) > passDetails && r.Verdict == report.Pass && r.Waived == nil && r.Reviewed == nil && !r.Advisory && recordedOnly(r) == ""
	}
	var measures []*report.Measure
	var rows [][]string
	for i := range rules {
		rule := &rules[i]
		measures = append(measures, &rule.Measure)
		n := ruleNumbers(rule)
		id, note := ruleName(rule)
		if note != "" {
			id += " (" + note + ")"
		}
		measured, within := shownNumbers(&rule.Measure, n)
		rows = append(rows, []string{Word(rule.Verdict), id, measured, within, MustBe(rule.Threshold)})
	}
	header := []string{"VERDICT", "RULE", "MEASURED", strings.ToUpper(columnHeading(measures)), "MUST BE"}
	const (
		tableIndent = 2
		drawnAt     = tableIndent + len("UNDECIDED") + 2
	)
	t.blank()
	head, blocks := t.layout(header, rows, []int{1}, tableIndent)
	for _, l := range head {
		t.line(l)
	}
	for i, block := range blocks {
		rule := &rules[i]
		for k, l := range block {
			if k == 0 {
				l = t.paint(l, tableIndent, Word(rule.Verdict), rule.Verdict)
			}
			t.line(l)
		}
		if !brief(rule) {
			about := slices.DeleteFunc([]string{ruleMeasure(&rule.Measure), where(rule)}, func(s string) bool { return s == "" })
			if len(about) > 0 {
				t.para(drawnAt, drawnAt, strings.Join(about, ", "))
			}
			if only := recordedOnly(rule); only != "" {
				t.para(drawnAt, drawnAt, only)
			}
			t.drawing(&rule.Measure, bound(rule), drawnAt)
		}
	}
	said := 0
	for i := range rules {
		if rule := &rules[i]; !brief(rule) {
			t.blank()
			t.about(rule, run, g.Settings)
			said++
		}
	}
	if rest := len(rules) - said; rest > 0 {
		t.blank()
		t.para(2, 2, "Nothing more is said here on the "+counted(rest, "rule")+" that passed.")
	}
}

// drawing writes an interval drawn on its axis, as wide as the line allows from indent on, 40 cells at most.
func (t *terminal) drawing(m *report.Measure, threshold *float64, indent int) {
	for n := min(40, t.width-indent); n >= 10; n-- { // its end values take cells too, how many is known when drawn
		d := draw(m, threshold, n, t.marks)
		if d == "" {
			return
		}
		if indent+cells(d) <= t.width {
			t.line(strings.Repeat(" ", indent) + d)
			return
		}
	}
}

// about writes why a rule came out as it did and what would decide it.
func (t *terminal) about(rule *report.Rule, run float64, settings map[string]string) {
	t.para(2, 4, clip(rule.ID, nameMax)+": "+gateText(rule.Reason))
	if rule.Needs != nil {
		t.para(4, 4, "Would decide it: "+gateText(needs(rule.Needs)))
	}
	if rule.TippingPoint != nil {
		t.para(4, 4, gateText(tipping(rule.TippingPoint)))
	}
	for _, n := range append([]string{withLeftOut(rule), caution(&rule.Measure, rule.Reason)}, append(notes(rule), moved(&rule.Measure))...) {
		if n != "" {
			t.para(4, 4, n)
		}
	}
	t.para(4, 6, strings.Join(append([]string{ruleMeasure(&rule.Measure)}, facts(&rule.Measure, run)...), " · ")+lookText(rule, " · "))
	t.groups(rule, settings)
	t.pairs(rule)
}

// elsewhere is where a terminal's reader finds what it leaves out.
const elsewhere = "see --format json"

// groups writes a rule's groups, each with what it was counted from, and why those that are undecided are.
func (t *terminal) groups(rule *report.Rule, settings map[string]string) {
	all := groupRows(rule, settings)
	if len(all) == 0 {
		return
	}
	most := groupsShown
	if rule.Verdict == report.Pass {
		most = groupsOfPassing
	}
	shown := all[:min(len(all), most)]
	counted, counts := shortCounts(measuresOf(shown))
	var rows [][]string
	for i, g := range shown {
		rows = append(rows, []string{g.word, g.name, orNone(g.numbers.Estimate), orNone(g.numbers.Range()), counts[i]})
	}
	within := intervalHeading(measuresOf(shown))
	t.tableAt([]string{strings.ToUpper(verdictHeading(rule)), "GROUP", "MEASURED", strings.ToUpper(within), strings.ToUpper(counted)}, rows, []int{1, 4}, 4)
	if rest := len(all) - len(shown); rest > 0 {
		t.para(4, 4, "and "+moreGroups(rest)+": "+elsewhere)
	}
	reasons := undecidedWhy(shown, rule.Reason)
	for _, reason := range reasons[:min(len(reasons), reasonsShown)] {
		t.para(4, 6, reason)
	}
	if rest := len(reasons) - reasonsShown; rest > 0 {
		t.para(4, 4, "and why "+whole(rest)+" more are undecided: "+elsewhere)
	}
}

// pairs writes a rule's pairs of groups; of one that passes only how many there are, where they are more than a few.
func (t *terminal) pairs(rule *report.Rule) {
	all := pairRows(rule)
	shown := all[:min(len(all), pairsShown)]
	if rule.Verdict == report.Pass && len(all)+rule.PairsOmitted > fewPairs {
		shown = nil
	}
	if text := comparedDirectly(rule); text != "" {
		t.para(4, 4, text)
	}
	var rows [][]string
	for _, g := range shown {
		rows = append(rows, []string{g.word, g.name, orNone(g.numbers.Estimate), orNone(g.numbers.Range())})
	}
	if len(rows) > 0 {
		t.tableAt([]string{"", "PAIR", strings.ToUpper(pairHeading(rule)), strings.ToUpper(intervalHeading(measuresOf(shown)))}, rows, []int{1}, 4)
	}
	switch text := morePairs(len(all)-len(shown), rule.PairsOmitted, elsewhere); {
	case text != "" && len(shown) > 0:
		t.para(4, 4, text)
	case len(all) > 0 && len(shown) == 0:
		t.para(4, 4, counted(len(all)+rule.PairsOmitted, "pair")+" of groups compared: "+elsewhere)
	}
}

// findings writes what is to be known about the data, warnings first.
func (t *terminal) findings(r *report.Report, g *report.Gate) {
	for i, f := range bySeverity(g.Findings) {
		if i == 0 {
			t.blank()
		}
		text := string(f.Severity) + ": " + gateText(f.Message)
		if places, more := positions(r, g.Gate, f.Code); len(places) > 0 {
			if more > 0 {
				places = append(places, counted(more, "more place"))
			}
			text += " At " + list(places) + "."
		}
		t.para(2, 4, text+" ["+clip(f.Code, nameMax)+"]")
	}
}

// measures writes the table of measures.
func (t *terminal) measures(g *report.Gate, limit int) {
	if sections := byAttribute(g.Measures); sections != nil {
		t.sections(g, sections, len(g.Rules) > 0 && len(g.Measures) > limit)
		return
	}
	var shown []*report.Measure
	between := betweenK(g.Measures)
	for i := range g.Measures {
		if m := &g.Measures[i]; len(shown) < limit && (len(g.Rules) == 0 || !between[i]) {
			shown = append(shown, m)
		}
	}
	var rows [][]string
	for _, m := range shown {
		measured, within := shownNumbers(m, Show(m, nil))
		rows = append(rows, []string{measureName(m), measured, within, countedFrom(m)})
	}
	t.blank()
	t.table([]string{"MEASURE", "MEASURED", strings.ToUpper(columnHeading(shown)), "COUNTED"}, rows, 0, 3)
	if rest := len(g.Measures) - len(rows); rest > 0 {
		t.para(2, 2, "and "+counted(rest, "more measure"))
	}
	t.aside(g, shown)
}

// sections writes the measures of everyone, then a table for each attribute, and last the calibration errors. Beside rules,
// which show the groups' rates themselves, brief leaves only what no rule is about: the rates of everyone and the calibration.
func (t *terminal) sections(g *report.Gate, sections []section, brief bool) {
	left := len(g.Measures)
	var told []*report.Measure
	var errors []section
	for _, s := range sections {
		s, e := s.calibration()
		errors = append(errors, e)
		if brief && s.attribute != "" {
			continue
		}
		rates, rest := s.shownOf(groupsShown)
		var shown []*report.Measure
		for _, r := range rates {
			shown = append(shown, r.measures...)
		}
		if len(shown) == 0 {
			continue
		}
		told = append(told, shown...)
		left -= len(shown)
		t.blank()
		counted, counts := shortCounts(shown)
		var rows [][]string
		for i, m := range shown {
			name := measureName(m)
			if s.attribute != "" {
				name = groupName(m.Labels)
			}
			measured, within := shownNumbers(m, Show(m, nil))
			rows = append(rows, []string{name, measured, within, counts[i]})
		}
		heading := []string{strings.ToUpper(intervalHeading(shown)), strings.ToUpper(counted)}
		if s.attribute == "" {
			t.table(append([]string{"MEASURE", "MEASURED"}, heading...), rows, 0, 3)
			continue
		}
		title := clip(s.attribute, nameMax)
		if methods := methodsOf(shown); methods != "" {
			title += " (" + methods + ")"
		}
		t.para(2, 4, title+":")
		var parts []part
		for _, r := range rates {
			parts = append(parts, part{r.metric, len(r.measures)})
		}
		t.parted(append([]string{"GROUP", "MEASURED"}, heading...), rows, parts)
		if rest > 0 {
			t.para(4, 4, "and "+moreGroups(rest)+" of each rate: "+elsewhere)
		}
	}
	left -= t.calibration(errors)
	if brief && left > 0 {
		t.para(2, 2, "and "+whole(left)+" more measures of groups: "+elsewhere)
	}
	t.aside(g, told)
}

// calibration writes the calibration errors of everyone and of the groups, and returns how many it shows.
func (t *terminal) calibration(sections []section) int {
	var shown []*report.Measure
	var names []string
	var parts []part
	rest := 0
	for _, s := range sections {
		rates, more := s.shownOf(groupsShown)
		rest += max(more, 0)
		for _, r := range rates {
			parts = append(parts, part{s.attribute, len(r.measures)})
			for _, m := range r.measures {
				shown, names = append(shown, m), append(names, s.nameOf(m))
			}
		}
	}
	if len(shown) == 0 {
		return 0
	}
	counted, counts := shortCounts(shown)
	var rows [][]string
	for i, m := range shown {
		rows = append(rows, []string{names[i], orNone(Show(m, nil).Estimate), byChance(m), counts[i]})
	}
	t.blank()
	t.para(2, 4, calibrationError+", beside what it would be by chance if the probabilities were right:")
	t.parted([]string{"GROUP", "MEASURED", strings.ToUpper(ifCalibrated), strings.ToUpper(counted)}, rows, parts)
	if rest > 0 {
		t.para(4, 4, "and "+moreGroups(rest)+": "+elsewhere)
	}
	return len(shown)
}

// part is some rows of a table under a title of their own; "" is none.
type part struct {
	title string
	rows  int
}

// parted writes a table in parts, its first and last columns flexible.
func (t *terminal) parted(header []string, rows [][]string, parts []part) {
	head, blocks := t.layout(header, rows, []int{0, len(header) - 1}, 4)
	for _, l := range head {
		t.line(l)
	}
	for _, p := range parts {
		if p.title != "" {
			t.para(2, 4, clip(p.title, nameMax))
		}
		for range p.rows {
			for _, l := range blocks[0] {
				t.line(l)
			}
			blocks = blocks[1:]
		}
	}
}

// betweenK reports which measures have a k that is neither the least nor the largest of their metric and version: beside
// rules, a terminal leaves them to the other formats.
func betweenK(measures []report.Measure) []bool {
	type ends struct{ least, most int }
	all := map[string]*ends{}
	series := func(m *report.Measure) (string, int, bool) {
		k, err := strconv.Atoi(m.Labels["k"])
		return m.Metric + "\x00" + m.Labels["version"], k, err == nil
	}
	for i := range measures {
		name, k, ok := series(&measures[i])
		switch e := all[name]; {
		case !ok:
		case e == nil:
			all[name] = &ends{k, k}
		default:
			e.least, e.most = min(e.least, k), max(e.most, k)
		}
	}
	between := make([]bool, len(measures))
	for i := range measures {
		name, k, ok := series(&measures[i])
		between[i] = ok && k > all[name].least && k < all[name].most
	}
	return between
}

// aside writes what a table of measures has no column for: why an interval does not hold, each reason once,
// the intervals shown for comparison, and the cases that moved.
func (t *terminal) aside(g *report.Gate, measures []*report.Measure) {
	for _, text := range cautions(measures) {
		t.para(2, 4, text)
	}
	for _, m := range measures {
		for _, b := range beside(m) {
			t.para(2, 4, measureName(m)+", "+b)
		}
		told := slices.ContainsFunc(g.Rules, func(r report.Rule) bool { return moved(&r.Measure) == moved(m) })
		if text := moved(m); text != "" && !told {
			t.para(2, 4, text)
		}
	}
}

// countedFrom is a measure's counts in one short cell: decisions, the commonest units, go without saying.
func countedFrom(m *report.Measure) string {
	short := &report.Measure{Numerator: m.Numerator, Denominator: m.Denominator, Units: m.Units, UnitName: m.UnitName, Missing: m.Missing}
	if m.UnitName == "decisions" && m.Numerator != nil && m.Denominator != nil {
		short.Units = nil
	}
	return strings.Join(facts(short, 0), ", ")
}

// texts writes sentences from the gate in one paragraph.
func (t *terminal) texts(lead string, sentences []string) {
	if len(sentences) == 0 {
		return
	}
	parts := []string{lead}
	for _, s := range sentences[:min(len(sentences), textsShown)] {
		parts = append(parts, gateText(s))
	}
	if rest := len(sentences) - textsShown; rest > 0 {
		parts = append(parts, "And "+whole(rest)+" more: all of them with --format markdown, or --format json.")
	}
	t.blank()
	t.para(2, 4, strings.Join(parts, " "))
}

// table writes a table indented by two cells.
func (t *terminal) table(header []string, rows [][]string, texts ...int) {
	t.tableAt(header, rows, texts, 2)
}

func (t *terminal) tableAt(header []string, rows [][]string, texts []int, indent int) {
	head, blocks := t.layout(header, rows, texts, indent)
	for _, l := range head {
		t.line(l)
	}
	for _, block := range blocks {
		for _, l := range block {
			t.line(l)
		}
	}
}

// flexibleLeast is the narrowest that a column of texts may become; where that is not enough a table gives
// way to one paragraph a row.
const flexibleLeast = 16

// layout lays a table out within the width: the lines of its header, and those of each row. The columns of
// texts wrap, the widest first, and where that is not enough the others. Cells are escaped here.
func (t *terminal) layout(header []string, rows [][]string, texts []int, indent int) (head []string, blocks [][]string) {
	const gap = 2
	all := [][]string{}
	for _, row := range append([][]string{header}, rows...) {
		escaped := make([]string, len(row))
		for c := range row {
			escaped[c] = t.text(row[c])
		}
		all = append(all, escaped)
	}
	widths, columns := make([]int, len(header)), make([]int, len(header))
	for c := range columns {
		columns[c] = c
	}
	for _, row := range all {
		for c := range row {
			widths[c] = max(widths[c], cells(row[c]))
		}
	}
	over := indent + gap*(len(header)-1) - t.width
	for _, w := range widths {
		over += w
	}
	for ; over > 0; over-- {
		wider := func(a, b int) int { return cmp.Compare(widths[a], widths[b]) }
		widest := slices.MaxFunc(texts, wider)
		if widths[widest] <= flexibleLeast { // then any other column, such as that of a sign test's cases
			if widest = slices.MaxFunc(columns, wider); widths[widest] <= flexibleLeast {
				return nil, t.stacked(all, texts[0], indent)
			}
		}
		widths[widest]--
	}

	wrapped := [][]string{}
	heights := []int{}
	total := 0
	for _, row := range all {
		lines, height := make([]string, len(row)), 1
		for c := range row {
			w := wrap(row[c], max(widths[c], 3))
			lines[c], height = strings.Join(w, "\n"), max(height, len(w))
		}
		wrapped, heights, total = append(wrapped, lines), append(heights, height), total+height
	}
	lines, err := t.tables.align(wrapped)
	if err != nil || len(lines) != total { // not what was asked for: the same cells without the library
		return nil, t.stacked(all, texts[0], indent)
	}
	for i, height := range heights {
		block := lines[:height:height]
		for k := range block {
			block[k] = strings.Repeat(" ", indent) + block[k]
		}
		if i == 0 {
			head = block
		} else {
			blocks = append(blocks, block)
		}
		lines = lines[height:]
	}
	return head, blocks
}

// stacked gives each row of a table that is too wide a paragraph: its first word and its flexible cell, then
// the other cells, each named by its column.
func (t *terminal) stacked(all [][]string, flexible, indent int) [][]string {
	header, rows := all[0], all[1:]
	pad := strings.Repeat(" ", indent)
	var blocks [][]string
	for _, row := range rows {
		title := row[flexible]
		if flexible > 0 {
			title = strings.TrimSpace(row[0] + "  " + title)
		}
		var parts []string
		for c := range row {
			if c != flexible && c != 0 && row[c] != "" {
				parts = append(parts, strings.ToLower(header[c])+" "+row[c])
			}
		}
		var block []string
		for i, l := range wrap(title, t.width-indent-2) {
			block = append(block, pad+strings.Repeat(" ", min(i, 1)*2)+l)
		}
		for _, l := range wrap(strings.Join(parts, ", "), t.width-indent-4) {
			block = append(block, pad+"    "+l)
		}
		blocks = append(blocks, block)
	}
	return blocks
}

// aligner aligns tables, one after the other: the library's table takes half a megabyte for itself, and is made once a report.
type aligner struct {
	table *tablewriter.Table
	out   bytes.Buffer
}

// align aligns the cells of a table whose first row is its header, and returns its lines. The table
// library's own defaults are switched off: it would upper-case headers, wrap at its own places, trim cells,
// and measure some characters by the locale of the machine.
func (a *aligner) align(all [][]string) ([]string, error) {
	if a.table == nil {
		a.table = tablewriter.NewTable(&a.out,
			tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
				Borders:  tw.BorderNone,
				Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone},
			})),
			tablewriter.WithHeaderAutoFormat(tw.Off),
			tablewriter.WithHeaderAutoWrap(tw.WrapNone),
			tablewriter.WithRowAutoWrap(tw.WrapNone),
			tablewriter.WithHeaderAlignment(tw.AlignLeft),
			tablewriter.WithRowAlignment(tw.AlignLeft),
			tablewriter.WithTrimSpace(tw.Off),
			tablewriter.WithTrimLine(tw.Off),
			tablewriter.WithEastAsian(tw.Off),
			tablewriter.WithPadding(tw.Padding{Left: tw.Empty, Right: "  ", Overwrite: true}),
			// How types are written is remembered for ten thousand of them otherwise, in every table. Here there are texts alone.
			tablewriter.WithStringerCacheCustom(twcache.NewLRU[reflect.Type, reflect.Value](1)),
		)
	}
	a.out.Reset()
	a.table.Reset()
	a.table.Header(all[0])
	if err := a.table.Bulk(all[1:]); err != nil {
		return nil, err
	}
	if err := a.table.Render(); err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(a.out.String(), "\n"), "\n"), nil
}
