package summary

import (
	"io"
	"strings"

	"github.com/oloproof/oloproof/engine/report"
)

// What a model card's block begins and ends with, so that a script can put a newer one in its place. Comments of HTML are not shown.
const (
	cardBegins = "<!-- oloproof model-card/1 begin -->"
	cardEnds   = "<!-- oloproof model-card/1 end -->"
)

// cardProblems is how many problems a block of a run that could not be used names.
const cardProblems = 5

// cardMark is what the two have in common, and who looks for them in the source may look for.
const cardMark = "oloproof model-card"

// ModelCard writes the report as a block of GitHub Flavored Markdown to be pasted into a model card. Its shape is the same for every
// run, so that two versions of a card differ in what has changed and nowhere else: the heading "Release gate", a table of facts on the
// run; for each gate a heading, a table of its rules in the order of the policy, why those that did not pass did not, when the
// intervals hold, and what they cannot tell; last a table of files with their digests. A report without rules has its measures in
// their place, and its verdict is NO_VERDICT. Counts below a gate's MinShown are hidden, as in markdown.
func ModelCard(w io.Writer, r *report.Report, _ Options) error {
	m := &markdown{rung: rung{rules: -1, passing: true, measures: true, groups: true, details: true}}
	m.block("### Release gate")
	m.table([]string{"", ""}, cardFacts(r))
	var problems []string
	for _, e := range shownProblems(r.Errors, cardProblems) {
		at := e.Pos()
		at.Column = 0
		line := "- "
		if at.File != "" {
			line += m.at(at) + ": "
		}
		problems = append(problems, line+prose(clip(e.Message, sentenceMax)))
	}
	if rest := len(r.Errors) + r.MoreErrors - len(problems); rest > 0 {
		problems = append(problems, "- and "+whole(rest)+" more")
	}
	m.list("**Problems:**", problems)
	for i := range r.Gates {
		m.cardGate(r, &r.Gates[i])
	}
	m.cardFiles(r)
	// A rule's id or a path must not end the block for a script that looks for its end.
	inside := strings.ReplaceAll(m.out.String(), cardMark, strings.Replace(cardMark, " ", " "+zeroWidthSpace, 1))
	_, err := io.WriteString(w, cardBegins+"\n\n"+inside+"\n"+cardEnds+"\n")
	return err
}

// cardFacts are the rows of the first table: the same ones for every report.
func cardFacts(r *report.Report) [][]string {
	verdict := "**" + r.Verdict.String() + "**: "
	counts := "none"
	if verbOf(r) == gateVerb && len(r.Errors) == 0 {
		verdict += prose(verdictSays(r))
		counts = prose(ruleCounts(r))
	} else {
		verdict += prose(nothingDecided(r))
	}
	chance := "not known"
	if short := falseFailShort(r); short != "" {
		chance = prose(short)
	}
	confidence := orNone(level(r.Confidence))
	if meaning := errorMeaning(r); meaning != "" {
		confidence = prose(meaning)
	}
	return [][]string{
		{"Verdict", verdict},
		{"Rules", counts},
		{"How sure", confidence},
		{"Error over all rules", chance},
		{"Decided by", toolName(r)},
	}
}

// cardGate writes one gate's part.
func (m *markdown) cardGate(r *report.Report, g *report.Gate) {
	m.hides = newHiding(g)
	g = m.hides.gate(g)
	title := clip(g.Gate, nameMax)
	if g.Name != "" {
		title += ": " + clip(g.Name, nameMax)
	}
	m.block("#### " + prose(title))
	for _, said := range []string{gateText(g.Summary), settingsText(g), m.hides.notice()} {
		if said != "" {
			m.block(prose(said))
		}
	}
	var measures []*report.Measure
	var rows [][]string
	var why []string
	for k := range g.Rules {
		rule := &g.Rules[k]
		measures = append(measures, &rule.Measure)
		label, measured, within := m.ruleCells(rule, "")
		rows = append(rows, []string{label, measured, within, own(MustBe(rule.Threshold)), Icon(rule.Verdict) + " " + rule.Verdict.String()})
		if rule.Verdict != report.Pass {
			why = append(why, m.why(rule))
		}
	}
	switch {
	case len(rows) > 0:
		m.table([]string{"Rule", "Measured", capital(columnHeading(measures)), "Must be", "Verdict"}, rows)
	case len(g.Measures) > 0:
		shown := g.Measures[:min(len(g.Measures), markdownGroups)]
		for k := range shown {
			measures = append(measures, &shown[k])
		}
		m.measureTable(measures, r.Confidence)
		if rest := len(g.Measures) - len(shown); rest > 0 {
			m.block("and " + counted(rest, "more measure") + ": " + inReport + ".")
		}
	}
	m.list("**Not passed:**", why)
	items := func(sentences []string) (list []string) {
		for _, s := range sentences {
			list = append(list, "- "+prose(gateText(s)))
		}
		return list
	}
	said := conditions(g, true)
	m.list("**Holds when:**", append(items(said), items(assumptions(g, said))...))
	m.list("**Cannot tell:**", items(g.Limits))
}

// cardFiles writes which files the block is about, by their digests: a card that was made from other files differs here.
func (m *markdown) cardFiles(r *report.Report) {
	var rows [][]string
	for _, p := range policies(r) {
		rows = append(rows, []string{"policy", path(p.Path), CodeSpan(p.SHA256, nameMax)})
	}
	for _, in := range r.Inputs {
		role := clip(in.Role, nameMax)
		if role == "" {
			role = "data"
		}
		rows = append(rows, []string{prose(strings.TrimSpace(role)), path(in.Path), CodeSpan(in.SHA256, nameMax)})
	}
	if len(rows) > 0 {
		m.table([]string{"Holds", "File", "SHA-256"}, rows)
	}
}
