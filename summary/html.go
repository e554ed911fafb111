package summary

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the style sheet
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// How much of a long report a page shows; what is left out is counted, and the JSON report has all of it.
const (
	htmlRules     = 100  // rules of a gate that have a part of their own: those that need someone, and again those that pass
	htmlIndex     = 1000 // rules in the table over a gate's rules
	htmlErrors    = 200
	htmlTexts     = 60
	htmlNames     = 4   // files and policies named in the heading of a page of several gates
	htmlAttention = 30  // rules in the list of those that need someone
	htmlGroups    = 100 // groups of one rule, or of one rate
	htmlPairs     = 100
	htmlCurves    = 24 // calibration curves
	htmlMoved     = 20 // cases that moved
	htmlFewRows   = 15 // groups of a table that is open beside its rule, and pairs
	htmlFewPairs  = 6
	htmlFiles     = 500
)

// markup is HTML: our own, or text that has passed its escape.
type markup string

// htmlStyle is the page's style sheet: nothing in it is from data.
//
//go:embed html.css
var htmlStyle string

// htmlPolicy is what the page allows a browser: its own style sheet, by its digest, and nothing else.
func htmlPolicy() string {
	sum := sha256.Sum256([]byte(htmlStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

// HTML writes the report as one page that needs nothing else: no script, no request, and a policy that forbids both. The verdict
// comes first, then every rule with its interval drawn against its threshold, then the gate's own pictures, what was found about the
// data, what is assumed, and what the page was made of. Every drawing has a text in its place. Nothing from data stands in an
// address, an id, a class or the style sheet. The page is well-formed XML as well. Counts below the gate's MinShown are hidden, with what they could be worked out from.
func HTML(w io.Writer, r *report.Report, opts Options) error {
	p := &page{report: r}
	p.write(opts.FailOn)
	_, err := io.WriteString(w, p.out.String())
	return err
}

// page collects one report.
type page struct {
	out    strings.Builder
	report *report.Report
	hides  hiding // what the gate's part must not tell
	rules  int    // that have a part of their own so far: their ids are numbers
}

// put writes lines of the page. A line begins with a tag, so that none is a command to a CI runner.
func (p *page) put(parts ...markup) {
	for _, part := range parts {
		p.out.WriteString(string(part))
	}
	p.out.WriteByte('\n')
}

// element writes an element of a class.
func (p *page) element(tag, class string, inside markup) {
	open := tag
	if class != "" {
		open += ` class="` + class + `"`
	}
	p.put("<", markup(open), ">", inside, "</", markup(tag), ">")
}

// para writes a paragraph of ours.
func (p *page) para(class, text string) {
	if text != "" {
		p.element("p", class, said(text))
	}
}

// said escapes a sentence, plain a name or a number, monospace what stands in a policy or a file.
func said(text string) markup      { return markup(EscapeHTMLProse(text, 2*sentenceMax)) }
func plain(text string) markup     { return markup(EscapeHTML(text, 2*sentenceMax)) }
func monospace(text string) markup { return "<code>" + markup(EscapeHTML(text, nameMax)) + "</code>" }

// inFile is a path.
func inFile(name string) markup { return monospace(clipPath(name, pathMax)) }

// shapes are the verdicts' signs, each of another outline: they are told apart without their colour.
const shapes = `<svg class="unseen" width="0" height="0" aria-hidden="true"><defs>` +
	`<pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V7"/></pattern>` +
	`<symbol id="pass" viewBox="0 0 24 24"><circle cx="12" cy="12" r="11" fill="currentColor"/><path class="glyph" d="M7 12.5l3.5 3.5L17 9"/></symbol>` +
	`<symbol id="fail" viewBox="0 0 24 24"><path fill="currentColor" d="M7.5 1h9L23 7.5v9L16.5 23h-9L1 16.5v-9z"/><path class="glyph" d="M8 8l8 8M16 8l-8 8"/></symbol>` +
	`<symbol id="open" viewBox="0 0 24 24"><path fill="currentColor" d="M13.4 1.8l10.2 18.4a1.6 1.6 0 0 1-1.4 2.4H1.8a1.6 1.6 0 0 1-1.4-2.4L10.6 1.8a1.6 1.6 0 0 1 2.8 0z"/><path class="glyph" d="M9.7 11.6a2.3 2.3 0 1 1 3.5 2c-.8.5-1.2 1-1.2 1.9M12 18.9v.1"/></symbol>` +
	`<symbol id="review" viewBox="0 0 24 24"><rect x="1" y="1" width="22" height="22" rx="4" fill="currentColor"/><circle class="glyph" cx="12" cy="9" r="3"/><path class="glyph" d="M6 19c.6-4 3-5.4 6-5.4s5.4 1.4 6 5.4"/></symbol>` +
	`<symbol id="none" viewBox="0 0 24 24"><circle cx="12" cy="12" r="11" fill="currentColor"/><path class="glyph" d="M6 12h12"/></symbol>` +
	`</defs></svg>`

// verdictClass names a verdict in the style sheet, and its sign.
func verdictClass(v report.Verdict) markup {
	switch v {
	case report.Pass:
		return "pass"
	case report.Fail:
		return "fail"
	case report.InsufficientEvidence:
		return "open"
	case report.ManualReview:
		return "review"
	case report.NoVerdict:
	}
	return "none"
}

// sign is a verdict's sign, to stand beside its word.
func sign(v report.Verdict) markup {
	return `<svg class="shape" aria-hidden="true"><use href="#` + verdictClass(v) + `"/></svg>`
}

// badge is a verdict's sign and word, or another word in its place.
func badge(v report.Verdict, word string) markup {
	if word == "" {
		return ""
	}
	return `<span class="badge ` + verdictClass(v) + `">` + sign(v) + plain(word) + `</span>`
}

// pageTitle says what the page is about, in a few words and without markup.
func pageTitle(r *report.Report) string {
	if len(r.Errors) > 0 {
		return "nothing was decided: " + counted(len(r.Errors)+r.MoreErrors, "problem")
	}
	named, several := dataName(r)
	policy := policyName(r)
	if len(r.Gates) > 1 && len(r.Inputs)+len(policies(r)) > htmlNames && named == fileNames(r) { // the names are at the page's end
		named, several = counted(len(r.Inputs), "file")+" of "+counted(len(r.Gates), "gate"), len(r.Inputs) > 1
		if n := len(policies(r)); n > 1 {
			policy = counted(n, "policy file")
		}
	}
	switch verbOf(r) {
	case checkVerb:
		return "Check of " + named
	case reportVerb:
		return "Report on " + named
	case gateVerb:
	}
	return verdictOn(r.Verdict, named, several, policy)
}

// verdictMeans says what a verdict means for who has to act on it.
func verdictMeans(r *report.Report) string {
	switch {
	case len(r.Errors) > 0:
		return "The files, the policy or the command line cannot be used as they are. This says nothing about the system, good or bad."
	case verbOf(r) != gateVerb:
		return "Nothing is decided here: this page shows what was read and measured, without a policy."
	}
	switch r.Verdict {
	case report.Pass:
		return "Every rule that counts is met, with more certainty than chance explains " + atConfidence(r) + "."
	case report.Fail:
		return "At least one rule is broken, by more than chance explains " + atConfidence(r) + "."
	case report.InsufficientEvidence:
		return "No rule is shown to be broken, and not every rule is shown to be met: these data do not decide it " + atConfidence(r) + ". Each undecided rule below says what would."
	case report.ManualReview:
		return "No rule is shown to be broken, but at least one rests on something that visibly does not hold, or is waived: a person must decide it."
	case report.NoVerdict:
	}
	return "No rule that counts was decided."
}

// atConfidence says at which confidence the rules that count were decided: "at 95 % confidence".
func atConfidence(r *report.Report) string {
	var levels []float64
	for rule := range r.Rules() {
		if i := rule.Interval; i != nil && !rule.Advisory && level(i.Confidence) != "" && !slices.Contains(levels, i.Confidence) {
			levels = append(levels, i.Confidence)
		}
	}
	switch {
	case len(levels) > 1:
		return "at confidences from " + level(slices.Min(levels)) + " to " + level(slices.Max(levels))
	case len(levels) == 1:
		return "at " + level(levels[0]) + " confidence"
	case level(r.Confidence) != "":
		return "at " + level(r.Confidence) + " confidence"
	}
	return "at the confidence asked for"
}

// write writes the page.
func (p *page) write(failOn report.FailOn) {
	r := p.report
	title := pageTitle(r)
	if verbOf(r) == gateVerb || len(r.Errors) > 0 {
		title = r.Verdict.String() + ": " + title
	}
	p.put("<!DOCTYPE html>")
	p.put(`<html lang="en"><head><meta charset="utf-8"/>`)
	p.put(`<meta http-equiv="Content-Security-Policy" content="`, markup(htmlPolicy()), `"/>`)
	p.put(`<meta name="viewport" content="width=device-width, initial-scale=1"/><meta name="color-scheme" content="light dark"/><meta name="referrer" content="no-referrer"/><meta name="robots" content="noindex"/>`)
	p.put("<title>", plain(title), "</title>")
	p.put("<style>", markup(htmlStyle), "</style></head>")
	p.put(`<body><a class="skip" href="#main">Skip to the results</a>`, shapes)
	p.banner()
	p.put(`<main id="main" class="wrap" tabindex="-1">`)
	if len(r.Errors) > 0 {
		p.errors()
	} else {
		p.attention()
		p.policyChanges()
		p.baseline()
		for i := range r.Gates {
			p.gate(&r.Gates[i])
		}
		p.provenance()
	}
	p.put("</main>")
	p.put(`<footer><div class="wrap">`)
	p.para("", "Made by oloproof "+clip(r.Tool.Version, nameMax)+" from its report alone; the JSON report has every number in full. The process ended with "+exitSentence(r, failOn)+".")
	p.put("</div></footer></body></html>")
}

// banner writes the verdict, what it means, and how the rules came out.
func (p *page) banner() {
	r := p.report
	decides := verbOf(r) == gateVerb || len(r.Errors) > 0
	class := markup("none")
	if decides {
		class = verdictClass(r.Verdict)
	}
	p.put(`<header class="banner `, class, `"><div class="wrap">`)
	p.para("kicker", "Oloproof · statistical release gate")
	heading := plain(pageTitle(r))
	if r.Verdict != report.Pass && r.Verdict != report.Fail { // which begin with a name from data
		heading = plain(capital(pageTitle(r)))
	}
	if decides {
		heading = `<span class="word">` + sign(r.Verdict) + plain(strings.ReplaceAll(r.Verdict.String(), "_", " ")) + "</span> " + heading
	}
	p.element("h1", "", heading)
	p.para("lead", verdictMeans(r))
	if r.Counts != nil {
		p.put(`<ul class="tally" aria-label="Rules by verdict">`)
		for _, v := range []report.Verdict{report.Fail, report.ManualReview, report.InsufficientEvidence, report.Pass} {
			if n := r.Counts.Of(v); n > 0 {
				count := sign(v) + "<b>" + plain(whole(n)) + "</b> " + plain(verdictCount[v])
				if v != report.Pass && listsAttention(r) {
					count = `<a href="#needs">` + count + "</a>"
				}
				p.put(`<li class="`, verdictClass(v), `">`, count, "</li>")
			}
		}
		if n := strings.Index(ruleCounts(r), " ("); n >= 0 {
			p.put("<li>", plain(strings.Trim(ruleCounts(r)[n:], " ()")), "</li>")
		}
		p.put("</ul>")
	}
	p.put("</div></header>")
}

// verdictCount says of a number of rules what they came to.
var verdictCount = map[report.Verdict]string{report.Fail: "failed", report.ManualReview: "for a person to review", report.InsufficientEvidence: "undecided", report.Pass: "passed"}

// fold opens a part that is folded, or not; end it with "</details>". On paper every part is open but one that is long and no
// rule's: bulk.
func (p *page) fold(open bool, title string) { p.foldAs("", open, title) }

// bulk is the class of what is left out on paper.
const bulk = ` class="bulk"`

func (p *page) foldAs(class markup, open bool, title string) {
	state := class
	if open {
		state += ` open=""`
	}
	p.put("<details", state, "><summary>", said(title), "</summary>")
}

// errors lists why the run cannot be used.
func (p *page) errors() {
	r := p.report
	p.put(`<section class="card"><h2>What is wrong</h2><ol>`)
	shown := shownProblems(r.Errors, htmlErrors)
	for _, e := range shown {
		at := markup("")
		if place := e.Pos(); place.File != "" {
			place.File = clipPath(place.File, pathMax)
			at = "<code>" + markup(EscapeHTML(place.String(), placeMax)) + "</code> "
		}
		p.put("<li>", at, said(clip(e.Message, sentenceMax)), "</li>")
	}
	p.put("</ol>")
	if rest := len(r.Errors) + r.MoreErrors - len(shown); rest > 0 {
		p.para("small", "and "+whole(rest)+" more.")
	}
	p.put("</section>")
}

// policyChanges writes what the policy says otherwise than the one it takes the place of.
func (p *page) policyChanges() {
	r := p.report
	looser, other := policyParts(r.PolicyChanges)
	if len(looser)+len(other) == 0 && !r.PolicyFromBase {
		return
	}
	p.put(`<section class="card"><h2>The policy itself</h2>`)
	base := policyBase(r)
	if r.PolicyFromBase {
		p.para("", sentence(baseDecided(base, looser, other)))
	} else {
		p.para("", strings.TrimSpace("Compared with the policy before it "+base)+":")
	}
	list := func(title string, changes []report.PolicyChange) {
		if len(changes) == 0 {
			return
		}
		p.element("h3", "", plain(title))
		p.put("<ul>")
		for _, c := range changes[:min(len(changes), markdownLooser)] {
			at := markup("")
			if c.Position.File != "" {
				place := c.Position
				place.File, place.Column = clipPath(place.File, pathMax), 0
				at = " <code>" + markup(EscapeHTML(place.String(), placeMax)) + "</code>"
			}
			p.put("<li>", said(gateText(c.Message)), at, "</li>")
		}
		p.put("</ul>")
		if rest := len(changes) - markdownLooser; rest > 0 {
			p.para("small", "and "+whole(rest)+" more: "+inReport+".")
		}
	}
	list("What makes it easier to pass", looser)
	list("What else a person should look at", other)
	p.put("</section>")
}

// baseline says how the rules stand to an earlier report.
func (p *page) baseline() {
	r := p.report
	if r.Baseline == nil {
		return
	}
	p.put(`<section class="card"><h2>Since the earlier report</h2>`)
	if text := otherwise(r); text != "" {
		p.put(`<p class="note"><strong>Not asked the same.</strong> `, said(text), "</p>")
	}
	p.put("<p>", plain(capital(changeCounts(r))), ". Compared with ", inFile(r.Baseline.Path), ". ", said(nothingInCommon(r)), "</p>")
	var gone []markup
	for _, was := range removedFirst(r)[:min(len(r.RemovedRules), htmlTexts)] {
		gone = append(gone, "<li>"+monospace(clip(was.ID, nameMax))+" "+said(removedText(was))+"</li>")
	}
	if len(gone) > 0 {
		p.element("h3", "", "Rules that are gone")
		p.put("<ul>")
		p.put(gone...)
		p.put("</ul>")
	}
	if rest := len(r.RemovedRules) - len(gone); rest > 0 {
		p.para("small", "and "+whole(rest)+" more: "+inReport+".")
	}
	p.put("</section>")
}

// gateTitles name the gates by their question.
var gateTitles = map[string]string{"human-ai": "People with and without the system", "anchoring": "Blind labels against visible suggestions", "compare": "The new version against the old one", "fairness": "Parity between groups"}

// gateTitle names a gate by its question, and by its section's name.
func gateTitle(g *report.Gate) string {
	title := cmp.Or(gateTitles[g.Gate], clip(g.Gate, nameMax), "Results")
	if g.Name != "" {
		title += ": " + clip(g.Name, nameMax)
	}
	return title
}

// gate writes one gate's part.
func (p *page) gate(g *report.Gate) {
	p.hides = newHiding(g)
	findings := g.Findings
	g = p.hides.gate(g)
	p.put("<section>")
	p.element("h2", "", plain(gateTitle(g)))
	p.para("", gateText(g.Summary))
	p.para("small", settingsText(g))
	p.para("note", p.hides.notice())
	if len(g.Rules) > 0 {
		p.index(g)
		p.ruleParts(g, findings)
	}
	p.pictures(g)
	p.findings(g)
	if len(g.Rules) == 0 && len(g.Measures) == 0 {
		p.data(g)
	}
	p.measures(g)
	p.assumes(g)
	p.put("</section>")
}

// ordered are a gate's rules in the order in which they are shown.
func (p *page) ordered(g *report.Gate) []report.Rule {
	if compares(p.report) {
		return report.ByChange(g.Rules)
	}
	return report.ByVerdict(g.Rules)
}

// ownParts are the places, among rules as they are ordered, of those that have a part of their own: the first that need someone,
// and the first that pass.
func ownParts(rules []report.Rule) (first, passing []int) {
	for i := range rules {
		switch quiet := rules[i].Verdict == report.Pass && len(notes(&rules[i])) == 0 && recordedOnly(&rules[i]) == ""; {
		case !quiet && len(first) < htmlRules:
			first = append(first, i)
		case quiet && len(passing) < htmlRules:
			passing = append(passing, i)
		}
	}
	return first, passing
}

// numbered gives each rule that has a part of its own, by its place among rules as they are ordered, the number of that part; before is
// how many parts the page has before them.
func numbered(rules []report.Rule, before int) map[int]int {
	first, passing := ownParts(rules)
	number := map[int]int{}
	for n, i := range slices.Concat(first, passing) {
		number[i] = before + n + 1
	}
	return number
}

// needsSomeone reports whether a person must act on a rule: it counts, and is not passed.
func needsSomeone(rule *report.Rule) bool { return !rule.Advisory && rule.Verdict != report.Pass }

// listsAttention reports whether the page has, over its gates, a list of the rules that need someone: one gate's table is that list.
func listsAttention(r *report.Report) bool {
	if len(r.Gates) < 2 || len(r.Errors) > 0 {
		return false
	}
	for rule := range r.Rules() {
		if needsSomeone(rule) {
			return true
		}
	}
	return false
}

// attention lists, over all gates, the rules that need someone, with links to their parts: the first gate on the page need not be the
// one that failed.
func (p *page) attention() {
	r := p.report
	if !listsAttention(r) {
		return
	}
	type needs struct {
		rule   report.Rule
		number int // of its part; 0: it has none
		gate   string
	}
	var all []needs
	parts := 0
	for i := range r.Gates {
		hides := newHiding(&r.Gates[i])
		g := hides.gate(&r.Gates[i])
		rules := p.ordered(g)
		number := numbered(rules, parts)
		parts += len(number)
		for k := range rules {
			if needsSomeone(&rules[k]) {
				all = append(all, needs{rules[k], number[k], gateTitle(g)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b needs) int { return cmp.Compare(b.rule.Verdict, a.rule.Verdict) })
	p.put(`<section class="card" id="needs"><h2>The rules that need someone</h2><ul class="plain">`)
	shown := all[:min(len(all), htmlAttention)]
	for i := range shown {
		id, note := ruleName(&shown[i].rule)
		name := monospace(id)
		if n := shown[i].number; n > 0 {
			name = markup(fmt.Sprintf(`<a href="#rule-%d">`, n)) + name + "</a>"
		}
		where := "in " + shown[i].gate
		if note != "" {
			where += " · " + note
		}
		p.put(`<li class="finding">`, badge(shown[i].rule.Verdict, Word(shown[i].rule.Verdict)), "<div>", name, ` <span class="small">`, plain(where), "</span></div></li>")
	}
	p.put("</ul>")
	if rest := len(all) - len(shown); rest > 0 {
		p.para("small", "and "+counted(rest, "more rule")+", in the tables of their gates.")
	}
	p.put("</section>")
}

// index writes the table over a gate's rules, with links to their parts. One rule alone needs none.
func (p *page) index(g *report.Gate) {
	rules := p.ordered(g)
	if len(rules) < 2 {
		return
	}
	number := numbered(rules, p.rules)
	shown := rules[:min(len(rules), htmlIndex)]
	var measures []*report.Measure
	for i := range shown {
		measures = append(measures, &shown[i].Measure)
	}
	p.put(`<div class="card"><table class="rows"><caption>The rules, those that need someone first</caption>`)
	head := markup(`<thead><tr><th scope="col">Verdict</th><th scope="col">Rule</th>`)
	if compares(p.report) {
		head += `<th scope="col">Before</th>`
	}
	p.put(head, `<th scope="col">Measured</th><th scope="col">`, plain(capital(columnHeading(measures))), `</th><th scope="col">Must be</th></tr></thead><tbody>`)
	for i := range shown {
		rule := &shown[i]
		name := monospace(clip(rule.ID, nameMax))
		if n := number[i]; n > 0 {
			name = markup(fmt.Sprintf(`<a href="#rule-%d">`, n)) + name + "</a>"
		}
		_, note := ruleName(rule)
		for _, under := range []string{note, recordedOnly(rule)} {
			if under != "" {
				name += "<small>" + plain(under) + "</small>"
			}
		}
		measured, within := p.ruleNumbers(rule)
		before := markup("")
		if compares(p.report) {
			before = `<td>` + plain(beforeText(rule, p.hides.least > 0, false)) + `</td>`
		}
		must := MustBe(rule.Threshold)
		if was := thresholdBefore(rule); was != "" {
			must += " (" + was + ")"
		}
		p.put("<tr><td>", badge(rule.Verdict, Word(rule.Verdict)), `</td><th scope="row">`, name, `</th>`, before, `<td class="n">`, plain(measured), `</td><td class="n within">`, plain(within), `</td><td>`, plain(must), "</td></tr>")
	}
	p.put("</tbody></table>")
	if rest := len(rules) - len(shown); rest > 0 {
		p.para("small", "and "+counted(rest, "more rule")+": "+inReport+".")
	}
	p.put("</div>")
}

// ruleNumbers are a rule's numbers as they may be told.
func (p *page) ruleNumbers(rule *report.Rule) (measured, within string) {
	if p.hides.rule(rule) {
		return hidden, hidden
	}
	return shownNumbers(&rule.Measure, ruleNumbers(rule))
}

// ruleParts writes a part for every rule: those that need someone, and folded those that pass without more to say, where they are
// many.
func (p *page) ruleParts(g *report.Gate, findings []report.Finding) {
	rules := p.ordered(g)
	first, passing := ownParts(rules)
	write := func(places []int) {
		for _, i := range places {
			p.rule(&rules[i], g, findings)
		}
	}
	write(first)
	const few = 6
	folded := len(passing) > few
	if folded {
		p.fold(false, counted(len(passing), "rule")+" that passed")
	}
	write(passing)
	if folded {
		p.put("</details>")
	}
	if rest := len(rules) - len(first) - len(passing); rest > 0 {
		p.para("small", counted(rest, "more rule")+" with nothing but a line in the table above: "+inReport+".")
	}
}

// rule writes the part of one rule.
func (p *page) rule(rule *report.Rule, g *report.Gate, findings []report.Finding) {
	p.rules++
	id, note := ruleName(rule)
	p.put(markup(fmt.Sprintf(`<article class="card rule %s" id="rule-%d" aria-labelledby="name-%d">`, verdictClass(rule.Verdict), p.rules, p.rules)))
	heading := monospace(id)
	p.put("<header>", badge(rule.Verdict, Word(rule.Verdict)), markup(fmt.Sprintf(`<h3 id="name-%d">`, p.rules)), heading, "</h3>")
	for _, word := range strings.Split(note, ", ") {
		if word != "" {
			p.put(`<span class="small">`, plain(word), "</span>")
		}
	}
	p.put("</header>")
	unseen := p.hides.rule(rule)
	shown := p.hides.shown(rule)
	about := []string{cmp.Or(metricWords[rule.Metric], clip(rule.Metric, nameMax)) + inWords(&rule.Measure)}
	if at := where(shown); at != "" && !unseen {
		about = append(about, at)
	}
	p.para("about", strings.Join(slices.DeleteFunc(about, func(s string) bool { return s == "" }), " · "))
	measured, within := p.ruleNumbers(rule)
	p.put(`<dl class="numbers">`)
	p.number("Measured", measured)
	p.number(capital(columnHeading([]*report.Measure{&rule.Measure})), within)
	must := MustBe(rule.Threshold)
	if was := thresholdBefore(rule); was != "" {
		must += " (" + was + ")"
	}
	p.number("Must be", must)
	if rule.Before != nil {
		p.number(capital(changeWord(rule)), "before: "+beforeText(rule, p.hides.least > 0, false))
	}
	p.put("</dl>")
	if drawn := plotRule(rule); drawn != "" && !unseen {
		p.element("figure", "", drawn)
	}
	p.para("", gateText(ownReason(rule)))
	if only := recordedOnly(rule); only != "" {
		p.element("p", "", "<strong>"+said(capital(only))+".</strong>")
	}
	if rule.Needs != nil {
		p.element("p", "", "<strong>What would decide it:</strong> "+said(gateText(needs(rule.Needs))))
	}
	for _, text := range append([]string{gateText(tipping(rule.TippingPoint)), withLeftOut(rule), caution(&rule.Measure, rule.Reason)}, notes(rule)...) {
		p.para("", text)
	}
	if when, _ := waiverEnds(rule, findings); when != "" {
		p.element("p", "", "<strong>The waiver ends "+said(when)+".</strong>")
	}
	facts := append([]string{ruleMeasure(&rule.Measure)}, p.hides.facts(&rule.Measure, p.report.Confidence)...)
	at := ""
	if pos := rule.Position; pos.File != "" {
		pos.File = clipPath(pos.File, pathMax)
		at = " · " + pos.String()
	}
	p.para("small", strings.Join(facts, " · ")+lookText(rule, " · ")+at)
	p.cells(rule, g.Settings)
	p.pairs(rule)
	p.put("</article>")
}

// metricWords say what a metric is to who has not read the policy.
var metricWords = map[string]string{
	// human-ai
	"accuracy_difference": "How much more often people are right with the system than without it",
	"agreement":           "How often people decide as the system suggests",
	"over_reliance":       "How often people follow the system where it is wrong",
	"correct_override":    "How often people are right where the system is wrong",
	"harmful_override":    "How often people go against the system where it is right",
	"accuracy_with":       "How often people are right with the system",
	"accuracy_without":    "How often people are right without the system",
	"system_accuracy":     "How often the system is right",
	// anchoring
	"blind_agreement":    "How often people's labels equal the model's while its suggestion is hidden",
	"visible_agreement":  "How often people's labels equal the model's while its suggestion is seen",
	"anchoring_gap":      "How much more often people agree with the model while they see its suggestion",
	"acceptance_rate":    "How often a suggestion is accepted",
	"verify_acceptance":  "How often an answer that is shown to be verified is kept",
	"people_agreement":   "How often people agree with each other without a suggestion",
	"model_minus_people": "How much more often the model agrees with people than people with each other",
	// compare
	"sign_test":            "Whether cases move up more often than down",
	"pass_rate_difference": "How much more often the new version passes, over the cases",
	"rate":                 "How often trials pass",
	"pass_at_k":            "How many cases pass at least once in k trials",
	"pass_all_k":           "How many cases pass every one of k trials",
	// fairness
	"error":                     "How often prediction and label differ",
	"accuracy":                  "How often prediction and label agree",
	"selection":                 "How often 1 is predicted",
	"false_positive":            "How often 1 is predicted where the label is 0",
	"true_negative":             "How often 0 is predicted where the label is 0",
	"false_negative":            "How often 0 is predicted where the label is 1",
	"true_positive":             "How often 1 is predicted where the label is 1",
	"precision":                 "How often the label is 1 where 1 is predicted",
	"false_discovery":           "How often the label is 0 where 1 is predicted",
	"false_omission":            "How often the label is 1 where 0 is predicted",
	"negative_predictive_value": "How often the label is 0 where 0 is predicted",
}

// inWords is what a measure is of, behind its words: ", by sex", ", per item".
func inWords(m *report.Measure) string {
	only := *m
	only.Metric = ""
	text := strings.TrimPrefix(strings.TrimPrefix(ruleMeasure(&only), ", "), " ")
	if text == "" {
		return ""
	}
	return ", " + text
}

// number writes one number with its name.
func (p *page) number(name, value string) {
	p.put("<div><dt>", plain(name), "</dt><dd>", plain(value), "</dd></div>")
}

// plotRow is a row of a table with a drawing in it.
type plotRow struct {
	class    markup // of its verdict; "" where it has none of its own
	badge    markup
	name     string
	measure  *report.Measure // nil: its numbers are hidden, or there is nothing to draw
	measured string
	within   string
	said     string
}

// plotTable is a table of rows whose intervals are drawn on one axis.
type plotTable struct {
	caption   string
	titled    bool // a heading over the table says the same: the caption is for screen readers
	about     string
	heads     [4]string // over the badge, the name, the number and the counts; the first and last may be ""
	rows      []plotRow
	threshold report.Threshold // drawn where it has a kind
}

// plots writes a table of rows with their drawings.
func (p *page) plots(table plotTable) {
	rows, t, heads := table.rows, table.threshold, table.heads
	var limit *float64
	if t.Kind != "" {
		limit = &t.Value
	}
	s, drawn := rowsSpan(rows, limit)
	badges, texts := false, false
	var measures []*report.Measure
	for _, row := range rows {
		badges, texts = badges || row.badge != "", texts || row.said != ""
		if row.measure != nil {
			measures = append(measures, row.measure)
		}
	}
	unseen := markup("")
	if table.titled {
		unseen = ` class="unseen"`
	}
	p.para("small", table.about)
	p.put(`<table class="rows"><caption`, unseen, ">", plain(table.caption), "</caption><thead><tr>")
	if badges {
		p.put(`<th scope="col">`, plain(cmp.Or(heads[0], "Verdict")), "</th>")
	}
	p.put(`<th scope="col">`, plain(heads[1]), "</th>")
	if drawn {
		p.put(`<th scope="col" class="drawn"><span class="unseen">Drawn from </span>`, axisHead(s, t), "</th>")
	}
	p.put(`<th scope="col">`, plain(heads[2]), `</th><th scope="col">`, plain(capital(columnHeading(measures))), "</th>")
	if texts {
		p.put(`<th scope="col">`, plain(heads[3]), "</th>")
	}
	p.put("</tr></thead><tbody>")
	for _, row := range rows {
		p.put(`<tr class="`, cmp.Or(row.class, "neutral"), `">`)
		if badges {
			p.put("<td>", row.badge, "</td>")
		}
		p.put(`<th scope="row">`, plain(row.name), "</th>")
		if drawn {
			p.put(`<td class="drawn">`, plotInRow(s, row.measure, t), "</td>")
		}
		p.put(`<td class="n">`, plain(row.measured), `</td><td class="n within">`, plain(row.within), "</td>")
		if texts {
			p.put(`<td class="said">`, said(row.said), "</td>")
		}
		p.put("</tr>")
	}
	p.put("</tbody></table>")
}

// cells writes a rule's groups.
func (p *page) cells(rule *report.Rule, settings map[string]string) {
	all := groupRows(rule, settings)
	if len(all) == 0 {
		return
	}
	shown := all[:min(len(all), htmlGroups)]
	heading, counts := shortCounts(measuresOf(shown))
	var rows []plotRow
	for i, g := range shown {
		row := plotRow{badge: plain(g.word), name: g.name, measure: g.measure, measured: orNone(g.numbers.Estimate), within: orNone(g.numbers.Range()), said: counts[i]}
		if !ofPairs(rule) { // a sign of a pair's verdict would make it one on the group
			row.badge, row.class = badge(g.verdict, g.word), verdictClass(g.verdict)
		}
		if p.hides.counts || p.hides.numbers(g.measure) {
			row.said = hidden
		}
		if p.hides.numbers(g.measure) {
			row.measure, row.measured, row.within = nil, hidden, hidden
		}
		rows = append(rows, row)
	}
	t := rule.Threshold
	if t.Kind != report.WorstGroup { // that of a gap or a ratio is not for one group's rate
		t = report.Threshold{}
	}
	p.fold(len(all) <= htmlFewRows, "Every group ("+whole(len(all))+")")
	p.plots(plotTable{caption: clip(rule.Metric, nameMax) + " of every group", titled: true, heads: [4]string{capital(verdictHeading(rule)), "Group", "Measured", capital(heading)}, rows: rows, threshold: t})
	reasons := undecidedWhy(shown, rule.Reason)
	for _, reason := range reasons[:min(len(reasons), htmlTexts)] {
		p.para("small", reason)
	}
	if rest := len(all) - len(shown); rest > 0 {
		p.para("small", "and "+moreGroups(rest)+": "+inReport+".")
	}
	p.put("</details>")
}

// pairs writes a rule's pairs of groups.
func (p *page) pairs(rule *report.Rule) {
	all := pairRows(rule)
	if len(all) == 0 {
		return
	}
	shown := all[:min(len(all), htmlPairs)]
	open := map[string]bool{} // the pairs whose numbers may be told
	for _, g := range pairRows(p.hides.shown(rule)) {
		open[g.name] = true
	}
	var rows []plotRow
	for _, g := range shown {
		row := plotRow{class: verdictClass(g.verdict), badge: badge(g.verdict, g.word), name: g.name, measure: g.measure, measured: orNone(g.numbers.Estimate), within: orNone(g.numbers.Range())}
		if !open[g.name] {
			row.measure, row.measured, row.within = nil, hidden, hidden
		}
		rows = append(rows, row)
	}
	total := len(all) + rule.PairsOmitted
	p.fold(len(all) <= htmlFewPairs, "Every pair of groups ("+whole(total)+")")
	p.plots(plotTable{caption: "The " + pairHeading(rule) + " between every two groups", titled: true, about: comparedDirectly(rule),
		heads: [4]string{"", "Pair", capital(pairHeading(rule)), ""}, rows: rows, threshold: rule.Threshold})
	if text := morePairs(len(all)-len(shown), rule.PairsOmitted, inReport); text != "" {
		p.para("small", text+".")
	}
	p.put("</details>")
}

// findings lists what is to be known about the data, warnings first.
func (p *page) findings(g *report.Gate) {
	if len(g.Findings) == 0 {
		return
	}
	sorted := bySeverity(g.Findings)
	p.put(`<section class="card"><h3>What was found about the data</h3><ul class="plain">`)
	for _, f := range sorted[:min(len(sorted), htmlTexts)] {
		mark := badge(report.NoVerdict, "Note")
		if f.Severity == report.Warning {
			mark = badge(report.InsufficientEvidence, "Warning")
		}
		text := said(gateText(f.Message))
		if places, more := positions(p.report, g.Gate, f.Code); len(places) > 0 && p.hides.least == 0 { // as many as were found
			var at []string
			for _, place := range places {
				at = append(at, "<code>"+EscapeHTML(place, placeMax)+"</code>")
			}
			if more > 0 {
				at = append(at, counted(more, "more place"))
			}
			text += markup(" At " + list(at) + ".")
		}
		p.put(`<li class="finding">`, mark, "<div>", text, "</div></li>")
	}
	p.put("</ul>")
	if rest := len(sorted) - htmlTexts; rest > 0 {
		p.para("small", "and "+whole(rest)+" more: "+inReport+".")
	}
	p.put("</section>")
}

// data writes what was read, where nothing was measured.
func (p *page) data(g *report.Gate) {
	if len(g.Data) == 0 {
		return
	}
	p.put(`<section class="card"><table><caption>What was read</caption><thead><tr><th scope="col">What</th><th scope="col">How many</th></tr></thead><tbody>`)
	if g.Design != "" {
		p.put(`<tr><th scope="row">design</th><td>`, plain(clip(g.Design, nameMax)), "</td></tr>")
	}
	for i, c := range g.Data {
		count := whole(c.Count)
		if c.Count < p.hides.least || i > 0 && p.hides.data {
			count = hidden
		}
		p.put(`<tr><th scope="row">`, plain(strings.ReplaceAll(clip(c.Name, nameMax), "_", " ")), `</th><td class="n">`, plain(count), "</td></tr>")
	}
	p.put("</tbody></table></section>")
}

// assumes writes when the intervals hold, what is assumed and what cannot be told.
func (p *page) assumes(g *report.Gate) {
	holds := conditions(g, true)
	lists := []struct {
		title string
		texts []string
	}{{"What this cannot tell", g.Limits}, {"What it assumes", assumptions(g, holds)}, {"When the intervals hold", holds}}
	if len(lists[0].texts)+len(lists[1].texts)+len(holds) == 0 {
		return
	}
	p.put(`<section class="card"><h3>What this rests on</h3>`)
	for i, l := range lists {
		if len(l.texts) == 0 {
			continue
		}
		p.fold(i < 2, l.title)
		p.put("<ul>")
		for _, text := range l.texts[:min(len(l.texts), htmlTexts)] {
			p.put("<li>", said(gateText(text)), "</li>")
		}
		p.put("</ul>")
		if rest := len(l.texts) - htmlTexts; rest > 0 {
			p.para("small", "and "+whole(rest)+" more: "+inReport+".")
		}
		p.put("</details>")
	}
	p.put("</section>")
}

// methodWords say in a few words what a method gives.
var methodWords = map[interval.Method]string{
	interval.MethodClopperPearson:  "the exact interval of a rate of independent cases",
	interval.MethodBonferroni:      "the same for several groups at once, their error divided among them",
	interval.MethodUniformMixture:  "an interval of a mean, whatever the distribution, at any number of units",
	interval.MethodDirichlet:       "an interval of a mean, whatever the distribution, at a number of units fixed beforehand",
	interval.MethodSymPol:          "an interval of a mean, whatever the distribution, at a number of units fixed beforehand",
	interval.MethodHypergeometric:  "the exact interval for a finite corpus, or for what is left of it",
	interval.MethodOrderStatistics: "an interval of a median, whatever the distribution",
	interval.MethodSignTest:        "the exact test of whether changed cases move up more often than down",
	interval.MethodFisherProduct:   "an interval of the difference of two rates, exact",
	interval.MethodPairingAverage:  "an interval of a mean over people and cases both drawn",
	interval.MethodWeightedMixture: "an interval of a mean over units drawn with unequal chances",
}

// methodsUsed lists the methods of a report's intervals, in the order in which they first appear.
func methodsUsed(r *report.Report) (used []interval.Method) {
	add := func(m *report.Measure) {
		method := m.Method
		if m.Interval != nil {
			method = m.Interval.Method
		}
		if method != "" && !slices.Contains(used, method) {
			used = append(used, method)
		}
	}
	for i := range r.Gates {
		g := &r.Gates[i]
		for k := range g.Rules {
			rule := &g.Rules[k]
			add(&rule.Measure)
			for c := range rule.Cells {
				add(&rule.Cells[c].Measure)
			}
			for c := range rule.Pairs {
				add(&report.Measure{Interval: rule.Pairs[c].Interval})
			}
		}
		for k := range g.Measures {
			add(&g.Measures[k])
		}
	}
	return used
}

// provenance writes how sure the answer is, and what it was made of: version, methods, files and their digests.
func (p *page) provenance() {
	r := p.report
	p.put(`<section><h2>How sure, and from what</h2><div class="card">`)
	p.para("", errorMeaning(r))
	p.para("", multiplicity(r))
	if text := ledgerText(r); text != "" {
		p.para("", text)
	}
	if used := methodsUsed(r); len(used) > 0 {
		p.put("<h3>Methods</h3><ul>")
		for _, m := range used[:min(len(used), htmlTexts)] {
			words := markup("")
			if known := methodWords[m]; known != "" {
				words = ": " + said(known)
			}
			p.put("<li>", monospace(string(m)), words, "</li>")
		}
		p.put("</ul>")
	}
	tells := func(message string) bool {
		return slices.ContainsFunc(r.Gates, func(g report.Gate) bool { return newHiding(&g).tells(message) })
	}
	if found := fileFindings(r); len(found) > 0 {
		p.put("<h3>About the files</h3><ul>")
		for _, f := range found[:min(len(found), htmlTexts)] {
			message := f.message
			if tells(message) {
				message = "What was found is hidden: it tells a count."
			}
			p.put("<li><code>", markup(EscapeHTML(f.place, placeMax)), "</code> ", said(message), "</li>")
		}
		p.put("</ul>")
		if rest := len(found) - htmlTexts; rest > 0 {
			p.para("small", "and "+whole(rest)+" more: "+inReport+".")
		}
	}
	p.files()
	if how := reviewing(r); how != nil {
		p.fold(false, "To record that a person reviewed a rule on these files")
		p.para("", "Add this to the rule in the policy, with who, when and why:")
		p.put("<pre>", markup(strings.Join(how[1:], "\n")), "</pre></details>") // our own words and a digest
	}
	p.put("</div></section>")
}

// files writes the files and their digests.
func (p *page) files() {
	r := p.report
	if len(r.Inputs)+len(policies(r)) == 0 {
		return
	}
	count := whole
	if hiddenRows(r) {
		count = func(int) string { return hidden }
	}
	p.fold(true, "Files and digests")
	p.put(`<table class="files"><caption class="unseen">Every file that was read, with the SHA-256 of its bytes</caption><thead><tr><th scope="col">File</th><th scope="col">Holds</th><th scope="col">Rows</th><th scope="col">SHA-256</th></tr></thead><tbody>`)
	row := func(path, holds, rows, digest string) {
		p.put(`<tr><th scope="row">`, inFile(path), "</th><td>", plain(holds), `</td><td class="n">`, plain(rows), "</td><td>", monospace(digest), "</td></tr>")
	}
	for _, in := range r.Inputs[:min(len(r.Inputs), htmlFiles)] {
		row(in.Path, cmp.Or(clip(in.Role, nameMax), "data"), count(in.Rows), in.SHA256)
	}
	for _, f := range policies(r) {
		row(f.Path, "policy", "", f.SHA256)
	}
	if r.Baseline != nil {
		row(r.Baseline.Path, "earlier report", "", r.Baseline.SHA256)
	}
	p.put("</tbody></table>")
	if rest := len(r.Inputs) - htmlFiles; rest > 0 {
		p.para("small", "and "+counted(rest, "more file")+": "+inReport+".")
	}
	if len(r.Inputs) > 0 {
		p.put(`<p class="small">All data together, as <code>reviewed:</code> names it: <code class="digest">`, markup(EscapeHTML(report.InputsDigest(r.Inputs), nameMax)), "</code></p>")
	}
	p.put("</details>")
}
