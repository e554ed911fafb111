package summary

import (
	"cmp"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
)

// commentBytes keeps a comment under the 65,536 characters that GitHub takes, with room for what stands around it. No text has
// more characters than bytes.
const commentBytes = 60_000

// How much of a comment is open; what is beyond is folded or counted. The page of the run has it all.
const (
	commentOpen     = 10  // rules that did not pass
	commentWarnings = 5   // warnings about the data
	commentWarning  = 300 // characters of one of them
	commentNames    = 10  // ids in one sentence
	headingNames    = 3   // ids in the heading
)

// titleMax is the longest title of an issue, in characters: GitHub takes 256.
const titleMax = 200

// CommentOptions is what a comment on a pull request, or an issue, says beyond its report.
type CommentOptions struct {
	MaxBytes int           // 0: 60,000
	FailOn   report.FailOn // the verdicts that make the step fail
	// Scheduled says that the report is a scheduled audit's, to stand in an issue: it does not speak of "this change".
	Scheduled bool
	// Run is the run in a few words of ours, such as "run 812, attempt 1, commit 0a1b2c3", and RunURL its page, "" for none.
	Run, RunURL string
	// FileURL returns the page of a line of a file of the repository, "" where there is none; line is 0 for the whole file. It
	// may be nil. Only http and https addresses become links.
	FileURL func(file string, line int) string
	// ChangeURL is the same for a line of PolicyChanges, where those are of another version of the file; nil: FileURL.
	ChangeURL func(file string, line int) string
	// Previous is what the comment said that this one takes the place of; nil where there was none.
	Previous *Previous
}

// Previous is what an earlier comment said, as far as it is remembered.
type Previous struct {
	Run     string         // such as "run 811"
	Verdict report.Verdict // NoVerdict also where nothing was decided
	Failing []string       // ids of counting rules that had not passed, some of them where there were many
}

// commentLadder is gone down until a comment fits, as ladder is; below its last rung the heading is left, with how the policy
// changed.
var commentLadder = []rung{
	{rules: -1, details: true},
	{rules: 10, details: true},
	{rules: 1},
}

// Comment writes the report as the body of a pull request's comment, or of an issue: what the run came to, in the words of what
// changed where an earlier report is known; the rules that did not pass, each with its numbers, why, and what would decide it;
// what loosens the policy; and in one line how much is not listed. It never has more than opts.MaxBytes bytes: what does not
// fit is left out in whole rows and whole sections, and counted. Counts below a gate's MinShown are hidden as in Markdown. No
// text of the report or of opts can open an HTML comment or begin a line, so that markers and commands stay the caller's. The
// error is w's, or says that not even the verdict fits.
func Comment(w io.Writer, r *report.Report, opts CommentOptions) error {
	most := cmp.Or(opts.MaxBytes, commentBytes)
	text, ok := fitting(most, commentLadder, longest(r), func(fits rung) string {
		m := &markdown{rung: fits, pages: opts.FileURL, changePages: opts.ChangeURL}
		m.comment(r, opts)
		return m.out.String()
	})
	if ok {
		_, err := io.WriteString(w, text)
		return err
	}
	return writeFitting(w, most, func(yield func(string) bool) {
		shorter(yield, commentHeading(r, opts), policyCount(r), "### "+Icon(r.Verdict)+" Oloproof: "+r.Verdict.String())
	})
}

// IssueTitle is a title for the issue of a scheduled audit: plain text of one line and at most 200 characters, in which GitHub
// finds no mention, no reference and no emoji.
func IssueTitle(r *report.Report) string {
	text := "Oloproof audit: "
	switch verb := verbOf(r); {
	case len(r.Errors) > 0:
		text += "nothing was decided, " + counted(len(r.Errors)+r.MoreErrors, "problem")
	case verb == checkVerb, verb == reportVerb:
		named, _ := dataName(r)
		text += "report on " + named
	default:
		text += r.Verdict.String() + ", " + verdictSays(r)
	}
	text = keepOrder(tameMarks(diag.Printable(oneLine(text))))
	text = commit().ReplaceAllStringFunc(reference().ReplaceAllString(text, "$1"+zeroWidthSpace+"-"), func(hex string) string {
		return strings.Join(chunks(hex, 6), zeroWidthSpace)
	})
	var b strings.Builder
	for i, sign := range text {
		b.WriteRune(sign)
		if strings.ContainsRune("@#:$", sign) && !strings.HasPrefix(text[i+1:], " ") {
			b.WriteString(zeroWidthSpace)
		}
	}
	return strings.TrimSpace(clip(b.String(), titleMax))
}

// comment writes all of a comment that the rung has.
func (m *markdown) comment(r *report.Report, opts CommentOptions) {
	m.block(commentHeading(r, opts))
	listed := map[string]bool{} // the ids of rules
	if len(r.Errors) > 0 {
		m.errors(r)
	} else {
		m.problems(r, listed)
	}
	problems := len(listed)
	lead := ""
	switch {
	case opts.Scheduled:
	case problems > 0:
		lead = "This pull request also loosens the policy"
	default:
		lead = "This pull request loosens the policy"
	}
	m.policyChanges(r, lead)
	unsaid := ""
	if len(r.Errors) == 0 {
		reserved := m.passes(r, opts.Previous, listed)
		m.removed(r)
		unsaid = m.warnings(r, problems > 0 || reserved || verbOf(r) != gateVerb)
		if how := reviewing(r); how != nil && m.rung.details {
			m.fold("To record a review", func() {
				m.block("Add to the rule:\n\n```yaml\n" + strings.Join(how[1:], "\n") + "\n```")
			})
		}
	}

	var foot []string
	if opts.Run != "" {
		foot = append(foot, runName(opts.Run))
	}
	if len(r.Errors) == 0 {
		data, _ := dataName(r)
		if verbOf(r) == gateVerb {
			foot = append(foot, prose(policyName(r)+" on "+data), ruleCounts(r)+listedOnly(r, problems > 0, listed))
		} else {
			foot = append(foot, prose(data))
		}
	}
	for _, said := range []string{unsaid, falseFailShort(r), exitSentence(r, opts.FailOn), toolName(r)} {
		if said != "" {
			foot = append(foot, said)
		}
	}
	if m.rung != commentLadder[0] {
		foot = append(foot, leftOut)
	}
	m.block("<sub>" + strings.Join(foot, " · ") + "</sub>")
}

// commentHeading says what the run came to, with a link to the run.
func commentHeading(r *report.Report, opts CommentOptions) string {
	text := "### " + Icon(r.Verdict) + " Oloproof: "
	switch verb := verbOf(r); {
	case len(r.Errors) > 0:
		text += "nothing was decided, " + counted(len(r.Errors)+r.MoreErrors, "problem")
	case verb == checkVerb, verb == reportVerb:
		named, _ := dataName(r)
		text = "### Oloproof: report on " + prose(named) + ", nothing was to be decided"
	default:
		text += rulesSay(r, opts)
	}
	if ends := firstWaiverEnds(r); ends != "" {
		text += " · ⏳ " + ends
	}
	if looser, other := policyParts(r.PolicyChanges); len(looser) > 0 {
		text += " · ⚠️ looser policy"
	} else if len(other) > 0 {
		text += " · ⚠️ policy changed"
	}
	if with := link("full report", opts.RunURL); with != "full report" {
		text += " · " + with
	}
	return text
}

// firstWaiverEnds says how many waivers are about to end, and when the first does; "" where none is.
func firstWaiverEnds(r *report.Report) string {
	n, first, least := 0, "", 0
	for i := range r.Gates {
		g := &r.Gates[i]
		for k := range g.Rules {
			when, days := waiverEnds(&g.Rules[k], g.Findings)
			if when == "" {
				continue
			}
			if n++; first == "" || days < least {
				first, least = when, days
			}
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "a waiver ends " + first
	}
	return whole(n) + " waivers end, the first " + first
}

// plainRun is a run's name as ours are: nothing in it has a meaning but the commit, of which GitHub is to make a link.
var plainRun = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^run [0-9]+(, attempt [0-9]+)?(, commit [0-9a-f]{7,40})?$`)
})

// runName shows the name of a run.
func runName(run string) string {
	if run = clip(run, nameMax); plainRun().MatchString(run) {
		return run
	}
	return prose(run)
}

// verdictVerbs are what is said of one rule and of several that came to a verdict, as such and newly.
var verdictVerbs = map[report.Verdict]struct{ one, many, newOne, newMany string }{
	report.Fail:                 {"fails", "fail", "newly fails", "newly fail"},
	report.ManualReview:         {"is for a person to decide", "are for a person to decide", "is newly for a person to decide", "are newly for a person to decide"},
	report.InsufficientEvidence: {"is undecided", "are undecided", "is newly undecided", "are newly undecided"},
	report.NoVerdict:            {"has no verdict", "have no verdict", "has no verdict", "have no verdict"},
}

// rulesSay says how the counting rules came out, those with the run's verdict, and what of that is new.
func rulesSay(r *report.Report, opts CommentOptions) string {
	n, newly, still, reviewed := 0, 0, 0, 0
	for rule := range r.Rules() {
		if rule.Advisory || rule.Verdict != r.Verdict {
			continue
		}
		n++
		if rule.Reviewed != nil && rule.Reviewed.Valid {
			reviewed++
		}
		if b := rule.Before; b != nil && (b.Change == report.NewlyFailing || b.Change == report.NewlyUndecided) {
			newly++
		} else if b != nil && b.Change == report.StillNotPassed {
			still++
		}
	}
	if r.Verdict == report.Pass {
		text := "all " + counted(n, "rule") + " pass"
		if n == 1 {
			text = "the one rule passes"
		}
		if was := wasBefore(r, opts.Previous); was != "" {
			text += " (" + was + ")"
		}
		return text
	}
	words := verdictVerbs[r.Verdict]
	verb := words.many
	allNew := r.Baseline != nil && newly == n
	switch {
	case allNew && n == 1:
		verb = words.newOne
	case allNew:
		verb = words.newMany
	case n == 1:
		verb = words.one
	}
	text := counted(n, "rule") + " " + verb
	if opts.Scheduled {
		text += " in the scheduled audit"
	} else {
		text += " on this change"
	}
	switch {
	case r.Baseline == nil || allNew:
	case newly > 0:
		text += ", " + whole(newly) + " of them newly"
	case still == n:
		text += ", as before"
		if r.Verdict != report.Fail { // before it may have been another of them
			text = strings.TrimSuffix(text, ", as before") + ", not passing before either"
		}
	}
	switch {
	case r.Verdict != report.ManualReview || reviewed == 0:
	case reviewed == n:
		text += ", reviewed"
	default:
		text += ", " + whole(reviewed) + " of them reviewed"
	}
	return text
}

// wasBefore says of a run that passes what the comment before had said; "" where that was no problem.
func wasBefore(r *report.Report, previous *Previous) string {
	if previous == nil || previous.Verdict == report.Pass {
		return ""
	}
	run := "before"
	if previous.Run != "" {
		run = "in " + runName(previous.Run)
	}
	again, gone := passAgain(r, previous)
	var parts []string
	if previous.Verdict == report.NoVerdict {
		parts = append(parts, "nothing was decided "+run)
		run = "before that" // of the last run that decided
	}
	if len(again) == 1 && len(gone) == 0 && previous.Verdict == report.Fail {
		parts = append(parts, name(again[0])+" failed "+run)
	} else if len(again) > 0 {
		parts = append(parts, few(spans(again), headingNames, "rule")+" had not passed "+run)
	}
	if len(gone) > 0 { // so that no one takes what was removed for what was mended
		parts = append(parts, few(spans(gone), headingNames, "rule")+" had not passed "+run+" and no longer counts among them")
	}
	if parts == nil {
		return "not so " + run
	}
	return strings.Join(parts, "; ")
}

// passAgain sorts what an earlier comment named into rules that pass now, and those that no counting rule has the id of.
func passAgain(r *report.Report, previous *Previous) (again, gone []string) {
	passes := map[string]bool{} // of the counting rules
	for rule := range r.Rules() {
		if before, found := passes[rule.ID]; !rule.Advisory {
			passes[rule.ID] = rule.Verdict == report.Pass && (before || !found)
		}
	}
	for _, id := range previous.Failing {
		pass, found := passes[id]
		switch {
		case slices.Contains(again, id) || slices.Contains(gone, id):
		case !found:
			gone = append(gone, id)
		case pass:
			again = append(again, id)
		}
	}
	return again, gone
}

// spans shows ids.
func spans(ids []string) []string {
	var out []string
	for _, id := range ids {
		out = append(out, name(id))
	}
	return out
}

// problem reports a rule that a comment lists: one that counts and did not pass, or one that is advisory and failed.
func problem(r *report.Rule) bool {
	if r.Advisory {
		return r.Verdict == report.Fail
	}
	return r.Verdict != report.Pass
}

// problems writes the rules that did not pass, the first of them open, and adds to listed those that it shows.
func (m *markdown) problems(r *report.Report, listed map[string]bool) {
	all := slices.DeleteFunc(allRuled(r), func(x ruled) bool { return !problem(x.Rule) })
	compared := compares(r)
	if compared {
		byChange(all)
	} else {
		slices.SortStableFunc(all, func(a, b ruled) int {
			return cmp.Or(compareBools(a.Advisory, b.Advisory), cmp.Compare(b.Verdict, a.Verdict))
		})
	}
	shown := all[:m.most(len(all))]
	for _, x := range shown {
		listed[x.ID] = true
	}
	if nothing := nothingInCommon(r); nothing != "" {
		m.block("Against " + path(r.Baseline.Path) + ": " + nothing)
	} else if compared && len(shown) > 0 {
		m.block("Before is " + path(r.Baseline.Path) + ".")
	}
	if text := otherwise(r); text != "" {
		m.block("⚠️ " + prose(text))
	}
	open := shown[:min(len(shown), commentOpen)]
	m.problemTable(open, compared)
	if folded := shown[len(open):]; len(folded) > 0 {
		m.fold("More rules that did not pass ("+whole(len(folded))+")", func() { m.problemTable(folded, compared) })
	}
	switch rest := len(all) - len(shown); {
	case rest == 1:
		m.block("1 more rule did not pass and is not shown here.")
	case rest > 1:
		m.block(whole(rest) + " more rules did not pass and are not shown here.")
	}
}

// problemTable writes a table of rules, and under it why each came out as it did.
func (m *markdown) problemTable(rules []ruled, compared bool) {
	if len(rules) == 0 {
		return
	}
	heading := intervalHeading(measuresIn(rules))
	header := []string{"", "Rule", "Measured", capital(columnHeading(measuresIn(rules))), "Must be"}
	if compared {
		header = []string{"", "Rule", "Before", nowHeading(heading), "Must be"}
	}
	var rows [][]string
	var said, notices []string
	for _, x := range rules {
		m.hides = x.hides
		if text := x.hides.notice(); text != "" && !slices.Contains(notices, text) {
			notices = append(notices, text)
		}
		label, measured, within := m.ruleCells(x.Rule, x.gate)
		verdict := Icon(x.Verdict) + " " + Word(x.Verdict)
		if compared {
			verdict = Icon(x.Verdict) + " " + verdictNow(x.Rule)
			rows = append(rows, []string{verdict, label, before(x, heading), "**" + now(x, heading) + "**", mustBe(x.Rule)})
		} else {
			if within != hidden {
				within += ofLevel(&x.Measure, heading)
			}
			rows = append(rows, []string{verdict, label, measured, within, MustBe(x.Threshold)})
		}
		why := m.why(x.Rule)
		if x.ends != "" {
			why += " **The waiver ends " + x.ends + ".**"
		}
		if p := x.Position; p.File != "" {
			p.Column = 0
			why += " Policy line: " + m.at(p) + "."
		}
		said = append(said, why)
	}
	m.table(header, rows)
	for _, said := range notices {
		m.block(prose(said))
	}
	if m.rung.details {
		m.block(strings.Join(said, "\n"))
	} else {
		m.block("Why: not shown here.")
	}
}

// verdictNow is the verdict of a rule in one word, and what is new about it.
func verdictNow(r *report.Rule) string {
	if r.Before == nil {
		return Word(r.Verdict)
	}
	switch r.Before.Change {
	case report.NewlyFailing, report.NewlyUndecided, report.NewlyPassing:
		return "newly " + Word(r.Verdict)
	case report.NewRule, report.Redefined:
		return Word(r.Verdict) + " (" + changeWord(r) + ")"
	case report.StillNotPassed, report.StillPassing:
	}
	return Word(r.Verdict)
}

// passes names the rules that pass now and did not before, but for those that the heading names, and those that pass with a
// reservation, of which it reports whether there are any. It adds to listed those that are named.
func (m *markdown) passes(r *report.Report, previous *Previous, listed map[string]bool) bool {
	most := max(min(m.most(commentNames), commentNames), 1)
	say := func(lead string, ids []string) {
		if len(ids) == 0 {
			return
		}
		for _, id := range ids[:min(len(ids), most)] {
			listed[id] = true
		}
		m.block(lead + ": " + few(spans(ids), most, "rule") + ".")
	}
	var again, reserved []string
	if previous != nil {
		again, _ = passAgain(r, previous)
	}
	newly := turnedTo(r, report.NewlyPassing)
	if r.Verdict == report.Pass { // the heading says it
		said := again[:min(len(again), headingNames)]
		newly = slices.DeleteFunc(newly, func(id string) bool { return slices.Contains(said, id) })
		for _, id := range said {
			listed[id] = true
		}
		again = nil
	}
	say("✅ Newly passing", newly)
	if r.Verdict != report.NoVerdict && previous != nil {
		run := "the comment before"
		switch {
		case previous.Verdict == report.NoVerdict:
			run = "the last run that decided"
		case previous.Run != "":
			run = runName(previous.Run)
		}
		say("✅ Passing now, and not in "+run, slices.DeleteFunc(again, func(id string) bool { return slices.Contains(newly, id) }))
	}
	for rule := range r.Rules() {
		if rule.Verdict == report.Pass && !rule.Advisory && recordedOnly(rule) != "" {
			reserved = append(reserved, rule.ID)
		}
	}
	say("⚠️ Passing for the recorded cases only, and not with the cases left out at their worst", reserved)
	return len(reserved) > 0
}

// warnings lists in short what is to be known about the data, where somebody is to look at a rule: else it returns how much there
// is. That a waiver ends is said with its rule.
func (m *markdown) warnings(r *report.Report, list bool) (unsaid string) {
	var lines []string
	for i := range r.Gates {
		of := &r.Gates[i]
		g := newHiding(of).gate(of)
		for _, f := range bySeverity(g.Findings) {
			with := slices.ContainsFunc(of.Rules, func(rule report.Rule) bool {
				when, _ := waiverEnds(&rule, []report.Finding{f})
				return when != ""
			})
			if f.Severity == report.Warning && !with {
				lines = append(lines, "- ⚠️ "+prose(sentence(clip(gateText(f.Message), commentWarning))))
			}
		}
	}
	switch {
	case len(lines) == 0:
		return ""
	case !list:
		return counted(len(lines), "warning") + " about the data: see the report"
	}
	shown := lines
	if most := min(m.most(commentWarnings), commentWarnings); len(lines) > most {
		shown = append(slices.Clone(lines[:most]), "- and "+counted(len(lines)-most, "more warning"))
	}
	m.block("**About the data:**\n\n" + strings.Join(shown, "\n"))
	return ""
}

// listedOnly says, after the counts of all rules, how many a comment that lists any does not name.
func listedOnly(r *report.Report, lists bool, listed map[string]bool) string {
	rest := 0
	for rule := range r.Rules() {
		if !listed[rule.ID] {
			rest++
		}
	}
	if rest > 0 && lists {
		return ", " + whole(rest) + " not listed here"
	}
	return ""
}
