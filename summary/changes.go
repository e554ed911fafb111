package summary

import (
	"cmp"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/report"
)

// What terminal, markdown and comment share on how a run stands to an earlier report, and on how its policy stands to the one
// that it takes the place of.

// changeOrder is the order in which changed rules are shown, that of report.ByChange, for rules of several gates together: verdicts
// that turned, what cannot be compared, and last what stayed as it was.
var changeOrder = []report.Change{report.NewlyFailing, report.NewlyUndecided, report.NewlyPassing, report.NewRule, report.Redefined, report.StillNotPassed, report.StillPassing}

// unchanged reports a rule whose verdict is as good, or as bad, as the earlier report had it.
func unchanged(c report.Change) bool { return changeRank(c) >= changeRank(report.StillNotPassed) }

// changeRank is a change's place in changeOrder; one that is not known comes last.
func changeRank(c report.Change) int {
	if i := slices.Index(changeOrder, c); i >= 0 {
		return i
	}
	return len(changeOrder)
}

// changeWord is how a rule changed, in words for a table.
func changeWord(r *report.Rule) string {
	if r.Before == nil {
		return "not compared"
	}
	switch r.Before.Change {
	case report.NewlyFailing:
		return "newly failing"
	case report.NewlyUndecided:
		if r.Verdict == report.ManualReview {
			return "newly to review"
		}
		return "newly undecided"
	case report.NewRule:
		return "new rule"
	case report.Redefined:
		return "measured otherwise"
	case report.NewlyPassing:
		return "newly passing"
	case report.StillNotPassed:
		return "still not passing"
	case report.StillPassing:
		return "still passing"
	}
	return "not compared"
}

// changeCounts says how the rules stand to the earlier report: "1 newly failing, 2 newly passing, 3 unchanged, 1 removed".
func changeCounts(r *report.Report) string {
	counts := map[report.Change]int{}
	same, open := 0, 0
	for rule := range r.Rules() {
		switch {
		case rule.Before == nil || changeRank(rule.Before.Change) == len(changeOrder):
			open++
		case unchanged(rule.Before.Change):
			same++
		default:
			counts[rule.Before.Change]++
		}
	}
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, whole(n)+" "+what)
		}
	}
	add(counts[report.NewlyFailing], "newly failing")
	add(counts[report.NewlyUndecided], "newly undecided or to review")
	add(counts[report.NewlyPassing], "newly passing")
	add(counts[report.NewRule], "new")
	add(counts[report.Redefined], "measured otherwise than before")
	add(same, "unchanged")
	add(open, "not compared")
	add(len(r.RemovedRules), "removed")
	if parts == nil {
		return "no rule on either side"
	}
	return strings.Join(parts, ", ")
}

// beforeText is what an earlier report had on a rule: "PASS 0.031 (0.000 … 0.081)". Numbers that do not compare with the present
// ones are not shown, nor are they where hide is set. The confidence is said where it is another than now, or everyLevel is set.
func beforeText(r *report.Rule, hide, everyLevel bool) string {
	b := r.Before
	if b == nil {
		return "not compared"
	}
	switch b.Change {
	case report.NewRule:
		return "no such rule"
	case report.Redefined:
		return Word(b.Verdict) + " on another measure"
	case report.NewlyFailing, report.NewlyUndecided, report.StillNotPassed, report.NewlyPassing, report.StillPassing:
	}
	earlier := report.Measure{Estimate: b.Estimate, Interval: b.Interval, Scale: r.Scale}
	var threshold *float64
	if b.Threshold.Kind != "" {
		threshold = &b.Threshold.Value
	}
	n := Show(&earlier, threshold)
	if n.Range() == "" { // an estimate never stands alone
		return Word(b.Verdict)
	}
	if hide {
		return Word(b.Verdict) + " (numbers hidden)"
	}
	text := "(" + n.Range()
	if n.Estimate != "" {
		text = n.Estimate + " " + text
	}
	if l := level(b.Interval.Confidence); l != "" && (everyLevel || r.Interval == nil || b.Interval.Confidence != r.Interval.Confidence) {
		text += " at " + l
	}
	return Word(b.Verdict) + " " + text + ")"
}

// thresholdBefore says what a rule's threshold was, where it was another: "before ≤ 0.04".
func thresholdBefore(r *report.Rule) string {
	if b := r.Before; b != nil && b.Change != report.NewRule && b.Change != report.Redefined && b.Threshold != r.Threshold {
		return "before " + MustBe(b.Threshold)
	}
	return ""
}

// asked is what a rule asks in two reports that have it both.
type asked struct {
	id          string
	was, is     report.Threshold
	before, now *report.Interval // nil: none
}

// confidenceBefore says that a run's confidence was another one, "" where it was not or is not known.
func confidenceBefore(was, is float64) string {
	if was == is || level(was) == "" || level(is) == "" {
		return ""
	}
	text := "Confidence " + level(was) + " before, " + level(is) + " now"
	if is < was {
		text += ", so that less is needed to pass, and to fail"
	}
	return text + "."
}

// easier names the rules that ask for less than before, and what: a threshold on the side where more is allowed, or a lower
// confidence where that is not the run's, was before and is now, which is said of the run. It is "" where none is.
func easier(rules []asked, was, is float64) string {
	var names []string
	for _, a := range rules {
		var what []string
		if a.is.LooserThan(a.was) {
			what = append(what, "must be "+MustBe(a.is)+", before "+MustBe(a.was))
		}
		if b, n := a.before, a.now; b != nil && n != nil && n.Confidence < b.Confidence && (b.Confidence != was || n.Confidence != is) {
			what = append(what, "confidence "+level(n.Confidence)+", before "+level(b.Confidence))
		}
		if what != nil {
			names = append(names, clip(a.id, nameMax)+" ("+strings.Join(what, "; ")+")")
		}
	}
	if names == nil {
		return ""
	}
	return "Easier to pass than before: " + few(names, 6, "rule") + "."
}

// policyDiff is where to look for all that a policy asks otherwise: a report has only part of it.
const policyDiff = "`oloproof policy diff` with the two policies names every setting that is looser."

// otherwise says what an earlier report was asked otherwise, so that a verdict that turned is not taken for a change of the system; ""
// where policy and confidence are the same, or not known.
func otherwise(r *report.Report) string {
	b := r.Baseline
	if b == nil {
		return ""
	}
	var rules []asked
	for rule := range r.Rules() {
		if was := rule.Before; was != nil && was.Change != report.NewRule && was.Change != report.Redefined {
			rules = append(rules, asked{rule.ID, was.Threshold, rule.Threshold, was.Interval, rule.Interval})
		}
	}
	var says []string
	if b.Policies == report.OtherFiles {
		text := "The policy changed."
		switch b.Data {
		case report.SameFiles:
			text = "The policy changed, and the data are the same: what turned may have turned by the policy alone."
		case report.OtherFiles:
			text = "The policy changed, and so did the data."
		}
		says = append(says, text)
	}
	for _, text := range []string{confidenceBefore(b.Confidence, r.Confidence), easier(rules, b.Confidence, r.Confidence)} {
		if text != "" {
			says = append(says, text)
		}
	}
	if len(says) > 0 {
		says = append(says, policyDiff)
	}
	return strings.Join(says, " ")
}

// removedText says where a rule was that is gone, and what it came to.
func removedText(gone report.RemovedRule) string {
	where := ""
	if gone.Name != "" {
		where = "in " + clip(gone.Name, nameMax) + " "
	}
	return where + "(was " + Word(gone.Verdict) + ")"
}

// policyParts are the changes of a policy that loosen it, and those that a person should look at.
func policyParts(changes []report.PolicyChange) (looser, other []report.PolicyChange) {
	for _, c := range changes {
		if c.Loosens {
			looser = append(looser, c)
		} else {
			other = append(other, c)
		}
	}
	return looser, other
}

// policyBase is the path of the policy that this one takes the place of.
func policyBase(r *report.Report) string {
	if r.PolicyBase == nil {
		return ""
	}
	return clipPath(r.PolicyBase.Path, pathMax)
}

// ruled is a rule as its gate's part may show it.
type ruled struct {
	*report.Rule
	gate  string // what the gate is called in a run of several, else ""
	ends  string // when its waiver ends, where that is soon: "in 5 days"
	hides hiding // what the gate's part must not tell
}

// allRuled returns every rule of a report as it may be published.
func allRuled(r *report.Report) []ruled {
	var all []ruled
	for i := range r.Gates {
		g := &r.Gates[i]
		title := ""
		if len(r.Gates) > 1 {
			title = clip(cmp.Or(g.Name, g.Gate), nameMax)
		}
		hides := newHiding(g)
		findings := g.Findings
		g = hides.gate(g)
		for k := range g.Rules {
			ends, _ := waiverEnds(&g.Rules[k], findings)
			all = append(all, ruled{&g.Rules[k], title, ends, hides})
		}
	}
	return all
}

// inGate says after a rule's id which gate it is in, where a run has several.
func inGate(gate string) string {
	if gate == "" {
		return ""
	}
	return " in " + prose(gate)
}

// byChange sorts rules as changeOrder has it, within a change the worst verdict first; advisory rules come last.
func byChange(rules []ruled) {
	slices.SortStableFunc(rules, func(a, b ruled) int {
		return cmp.Or(compareBools(a.Advisory, b.Advisory), cmp.Compare(beforeRank(a.Rule), beforeRank(b.Rule)), cmp.Compare(b.Verdict, a.Verdict))
	})
}

func beforeRank(r *report.Rule) int {
	if r.Before == nil {
		return len(changeOrder)
	}
	return changeRank(r.Before.Change)
}

// compareBools sorts false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// removedFirst are the rules that are gone, those that had not passed first.
func removedFirst(r *report.Report) []report.RemovedRule {
	gone := slices.Clone(r.RemovedRules)
	slices.SortStableFunc(gone, func(a, b report.RemovedRule) int { return cmp.Compare(b.Verdict, a.Verdict) })
	return gone
}

// baseDecided says that the base branch's policy was decided, and what is to be said of the pull request's own, which may be
// listed under it.
func baseDecided(base string, looser, other []report.PolicyChange) string {
	text := "The base branch's policy decided"
	if base != "" {
		text += " (" + base + ")"
	}
	switch {
	case len(looser) > 0:
		return text + "; this pull request's own version is looser"
	case len(other) > 0:
		return text + "; this pull request's own version is another one, which a person should look at"
	}
	return text + "."
}

// policyChanges writes what the policy says otherwise than the one it takes the place of, what loosens it first, or that the
// latter was decided. lead takes the place of our own words on what loosens it; "" keeps them.
func (m *markdown) policyChanges(r *report.Report, lead string) {
	looser, other := policyParts(r.PolicyChanges)
	base := ""
	if p := policyBase(r); p != "" {
		base = CodeSpan(p, pathMax)
	}
	than := " before it"
	if base != "" {
		than = " at " + base
	}
	lead = cmp.Or(lead, "This policy is looser than the one"+than)
	also := "Also changed, which a person should look at"
	if len(looser) == 0 {
		also = "Changed against the policy" + than + ", which a person should look at"
	}
	if r.PolicyFromBase {
		said := baseDecided(base, looser, other)
		if len(looser)+len(other) == 0 {
			m.block(said)
			return
		}
		lead = said
		if len(looser) == 0 {
			also = said
		}
	}
	m.policyList("⚠️ "+lead, looser)
	m.policyList(also, other)
}

func (m *markdown) policyList(title string, changes []report.PolicyChange) {
	if len(changes) == 0 {
		return
	}
	shown := changes[:min(len(changes), m.most(markdownLooser))]
	decided := m.pages // the lines here are the new policy's, which need not be the one that was decided
	if m.changePages != nil {
		m.pages = m.changePages
	}
	lines := []string{"**" + title + ":**", ""}
	for _, c := range shown {
		line := "- " + prose(gateText(c.Message))
		if p := c.Position; p.File != "" {
			p.Column = 0
			line += " " + m.at(p)
		}
		lines = append(lines, line)
	}
	m.pages = decided
	if rest := len(changes) - len(shown); rest > 0 {
		lines = append(lines, "- and "+whole(rest)+" more: "+inReport)
	}
	m.block(strings.Join(lines, "\n"))
}

// policyCount says that the policy is another one where its changes do not fit; "" where it is not.
func policyCount(r *report.Report) string {
	looser, other := policyParts(r.PolicyChanges)
	switch {
	case len(looser) > 0:
		return "⚠️ The policy was loosened, by " + counted(len(looser), "change") + "."
	case len(other) > 0:
		return "⚠️ The policy was changed, in " + counted(len(other), "place") + "."
	}
	return ""
}

// compares reports whether a report was compared with an earlier one that has any of its rules.
func compares(r *report.Report) bool {
	if r.Baseline == nil {
		return false
	}
	for rule := range r.Rules() {
		if rule.Before != nil && rule.Before.Change != report.NewRule {
			return true
		}
	}
	return false
}

// nothingInCommon says of an earlier report that none of its rules is in this one; "" where one is.
func nothingInCommon(r *report.Report) string {
	if r.Baseline == nil || compares(r) {
		return ""
	}
	return "No rule is in both, so that nothing compares: it may be another policy's report."
}

// turnedTo are the ids of the rules whose verdict turned in one way.
func turnedTo(r *report.Report, change report.Change) (ids []string) {
	for rule := range r.Rules() {
		if b := rule.Before; b != nil && b.Change == change {
			ids = append(ids, rule.ID)
		}
	}
	return ids
}

// baseline says how the rules stand to an earlier report, and which of them turned; what each was is in the tables of rules.
func (m *markdown) baseline(r *report.Report) {
	if r.Baseline == nil {
		return
	}
	said := "**Changes against " + path(r.Baseline.Path) + ":** " + changeCounts(r) + "."
	if nothing := nothingInCommon(r); nothing != "" {
		said += " " + nothing
	}
	if text := otherwise(r); text != "" {
		said += " ⚠️ " + prose(text)
	}
	var lines []string
	for _, turned := range []struct {
		change report.Change
		words  string
	}{{report.NewlyFailing, "❌ Newly failing"}, {report.NewlyUndecided, "⚠️ Newly undecided or to review"}, {report.NewlyPassing, "✅ Newly passing"}} {
		if ids := turnedTo(r, turned.change); len(ids) > 0 {
			lines = append(lines, "- "+turned.words+": "+few(spans(ids), max(min(m.most(len(ids)), markdownTexts), 1), "rule")+".")
		}
	}
	m.block(said)
	if lines != nil {
		m.block(strings.Join(lines, "\n"))
	}
	m.removed(r)
}

// before is a cell: what an earlier report had on a rule. Its counts are not known, so that with min_shown its numbers could
// tell what must not be told.
func before(x ruled, heading string) string {
	return own(beforeText(x.Rule, x.hides.least > 0, heading == anyInterval))
}

// now is a cell: a rule's present numbers, with their confidence where heading does not give it.
func now(x ruled, heading string) string {
	if x.hides.rule(x.Rule) {
		return "(numbers " + hidden + ")"
	}
	measured, within := ownNumbers(&x.Measure, ruleNumbers(x.Rule))
	none := orNone("")
	if within == none {
		return "(no interval)"
	}
	within += ofLevel(&x.Measure, heading)
	if measured == none {
		return "(" + within + ")"
	}
	return measured + " (" + within + ")"
}

// nowHeading heads a column of now, with the confidence where all have one.
func nowHeading(heading string) string {
	if heading == anyInterval {
		return "Now"
	}
	return "Now (" + heading + ")"
}

// ofLevel says an interval's confidence where the heading over it does not.
func ofLevel(m *report.Measure, heading string) string {
	if m.Interval == nil || heading != anyInterval || level(m.Interval.Confidence) == "" {
		return ""
	}
	return " at " + level(m.Interval.Confidence)
}

// mustBe is a cell: a rule's threshold, and what it was before.
func mustBe(r *report.Rule) string {
	text := MustBe(r.Threshold)
	if was := thresholdBefore(r); was != "" {
		text += " (" + was + ")"
	}
	return text
}

func measuresIn(rules []ruled) []*report.Measure {
	var all []*report.Measure
	for _, x := range rules {
		all = append(all, &x.Measure)
	}
	return all
}

// removed names the rules of an earlier report that are gone.
func (m *markdown) removed(r *report.Report) {
	if len(r.RemovedRules) == 0 {
		return
	}
	var names []string
	for _, gone := range removedFirst(r) {
		names = append(names, name(gone.ID)+" "+prose(removedText(gone)))
	}
	m.block("⚠️ Rules that are gone: " + few(names, max(m.most(markdownTexts), 1), "rule") + ".")
}

// changes writes, for a terminal, how the policy stands to the one before it, and the rules to an earlier report.
func (t *terminal) changes(r *report.Report) {
	looser, other := policyParts(r.PolicyChanges)
	base, than := policyBase(r), " before it"
	if base != "" {
		than = " at " + base
	}
	lead, also := "This policy is looser than the one"+than, "Also changed, which a person should look at"
	if len(looser) == 0 {
		also = "Changed against the policy" + than + ", which a person should look at"
	}
	if r.PolicyFromBase {
		said := baseDecided(base, looser, other)
		if len(looser)+len(other) == 0 {
			t.blank()
			t.para(2, 4, said)
		}
		lead = said
		if len(looser) == 0 {
			also = said
		}
	}
	t.policyList(lead+":", looser)
	t.policyList(also+":", other)
	if r.Baseline == nil {
		return
	}
	t.blank()
	t.para(2, 4, strings.TrimSpace("Changes against "+clipPath(r.Baseline.Path, pathMax)+": "+changeCounts(r)+". "+nothingInCommon(r)))
	if text := otherwise(r); text != "" {
		t.para(4, 4, text)
	}
	var rules []ruled
	same := 0
	for rule := range r.Rules() {
		if beforeRank(rule) < changeRank(report.StillNotPassed) {
			rules = append(rules, ruled{Rule: rule})
		} else {
			same++
		}
	}
	if same > 0 && len(rules)+same <= passDetails { // few enough to show what every one was
		rules, same = nil, 0
		for rule := range r.Rules() {
			rules = append(rules, ruled{Rule: rule})
		}
	}
	byChange(rules)
	var rows [][]string
	for _, x := range rules {
		id, note := ruleName(x.Rule)
		if note != "" {
			id += " (" + note + ")"
		}
		text := beforeText(x.Rule, false, false)
		if was := thresholdBefore(x.Rule); was != "" {
			text += ", must be " + strings.TrimPrefix(was, "before ")
		}
		rows = append(rows, []string{changeWord(x.Rule), id, text})
	}
	if len(rows) > 0 {
		t.tableAt([]string{"CHANGE", "RULE", "BEFORE"}, rows, []int{1, 2}, 4)
	}
	if same > 0 {
		t.para(4, 4, "and "+whole(same)+" unchanged: "+elsewhere)
	}
	var names []string
	for _, gone := range removedFirst(r) {
		names = append(names, clip(gone.ID, nameMax)+" "+removedText(gone))
	}
	if len(names) > 0 {
		t.para(4, 6, "Rules that are gone: "+few(names, errorsShown, "rule")+".")
	}
}

func (t *terminal) policyList(title string, changes []report.PolicyChange) {
	if len(changes) == 0 {
		return
	}
	t.blank()
	t.para(2, 4, title)
	for _, c := range changes[:min(len(changes), errorsShown)] {
		place := ""
		if c.Position.File != "" {
			at := c.Position
			at.File = clipPath(at.File, pathMax)
			place = at.String() + ": "
		}
		t.para(4, 6, place+gateText(c.Message))
	}
	if rest := len(changes) - errorsShown; rest > 0 {
		t.para(4, 4, "and "+whole(rest)+" more: "+elsewhere)
	}
}
