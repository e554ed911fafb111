package summary

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
)

// diffFormats are the forms of a difference between two reports, by the names that the formats of reports have.
var diffFormats = []struct {
	name  string
	write func(w io.Writer, d *report.Diff, opts Options) error
}{
	{"terminal", diffTerminal},
	{"markdown", diffMarkdown},
	{"json", diffJSON},
}

// DiffNames returns the names of the forms of a difference, in the order shown.
func DiffNames() (names []string) {
	for _, f := range diffFormats {
		names = append(names, f.name)
	}
	return names
}

// WriteDiff writes what changed between two reports, in a form that DiffNames lists. The error is w's, or says that there is no such
// form.
func WriteDiff(w io.Writer, name string, d *report.Diff, opts Options) error {
	for _, f := range diffFormats {
		if f.name == name {
			return f.write(w, d, opts)
		}
	}
	return fmt.Errorf("unknown format %s; use %s", diag.Quote(name), strings.Join(DiffNames(), ", "))
}

func diffJSON(w io.Writer, d *report.Diff, _ Options) error {
	doc, err := d.JSON()
	if err != nil {
		return err
	}
	_, err = w.Write(doc)
	return err
}

// diffRows is how many rules a difference shows; the JSON form has all.
const diffRows = 200

// diffHeadings head the columns of a difference, whose cells diffCells gives.
var diffHeadings = []string{"Change", "Rule", "Before", "Now", "Must be"}

// diffCells are what a table shows of a rule. published leaves out numbers that a min_shown may hide: what they were counted from is
// not known here.
func diffCells(d *report.Diff, x *report.RuleDiff, published bool) []string {
	id := clip(x.ID, nameMax)
	if several(d) {
		id += " in " + clip(cmp.Or(x.Name, x.Gate), nameMax)
	}
	everyLevel := slices.Contains(x.Differ, "confidence")
	hide := published && x.MinShown > 0
	before, now := stateText(x.Before, hide, everyLevel), stateText(x.After, hide, everyLevel)
	if x.After == nil {
		now = "gone"
	}
	return []string{diffWord(x), id, before, now, diffMustBe(x)}
}

// several reports a difference of rules of more than one section.
func several(d *report.Diff) bool {
	return slices.ContainsFunc(d.Rules, func(x report.RuleDiff) bool { return x.Gate != d.Rules[0].Gate || x.Name != d.Rules[0].Name })
}

// diffWord is how a rule changed, in words for a table.
func diffWord(x *report.RuleDiff) string {
	if x.Before != nil && x.After != nil && x.Before.Advisory != x.After.Advisory {
		if x.After.Advisory {
			return "no longer counts"
		}
		return "now counts"
	}
	switch {
	case x.Change == report.RuleGone:
		return "gone"
	case x.Change == report.StillNotPassed && x.Worse:
		return "worse, not passing"
	case x.After == nil:
		return "not compared"
	}
	return changeWord(&report.Rule{Verdict: x.After.Verdict, Before: &report.Before{Change: x.Change}})
}

// stateText is what one report has of a rule: "PASS 0.031 (0.000 … 0.081)".
func stateText(s *report.RuleState, hide, everyLevel bool) string {
	if s == nil {
		return "no such rule"
	}
	text := Word(s.Verdict)
	if s.Waived {
		text += " (waived)"
	}
	m := report.Measure{Estimate: s.Estimate, Interval: s.Interval, Scale: s.Scale, PValue: s.PValue}
	var threshold *float64
	if s.Threshold.Kind != "" {
		threshold = &s.Threshold.Value
	}
	n := Show(&m, threshold)
	switch within := n.Range(); {
	case within == "" && pValue(&m) == "": // an estimate never stands alone
		return text
	case hide:
		return text + " (numbers hidden)"
	case within == "":
		return text + " " + pValue(&m)
	default:
		if l := level(s.Interval.Confidence); everyLevel && l != "" {
			within += " at " + l
		}
		if n.Estimate != "" {
			return text + " " + n.Estimate + " (" + within + ")"
		}
		return text + " (" + within + ")"
	}
}

// diffMustBe is a rule's threshold, and what it was where it was another.
func diffMustBe(x *report.RuleDiff) string {
	switch {
	case x.After == nil:
		return MustBe(x.Before.Threshold)
	case slices.Contains(x.Differ, "threshold"):
		return MustBe(x.After.Threshold) + " (before " + MustBe(x.Before.Threshold) + ")"
	}
	return MustBe(x.After.Threshold)
}

// changedRules are the rules of which anything differs, and how many others there are.
func changedRules(d *report.Diff) (changed []*report.RuleDiff, same int) {
	for i := range d.Rules {
		if x := &d.Rules[i]; len(x.Differ) > 0 || x.Before == nil || x.After == nil {
			changed = append(changed, x)
		} else {
			same++
		}
	}
	return changed, same
}

// worseRules says how many rules are worse: "2 of 5 rules are worse".
func worseRules(d *report.Diff) string {
	n := 0
	for i := range d.Rules {
		if d.Rules[i].Worse {
			n++
		}
	}
	switch n {
	case 0:
		return "no rule is worse"
	case 1:
		return "1 of " + counted(len(d.Rules), "rule") + " is worse"
	}
	return whole(n) + " of " + counted(len(d.Rules), "rule") + " are worse"
}

// diffSays are the sentences on the two reports as a whole.
func diffSays(d *report.Diff) (sentences []string) {
	b, a := &d.Before, &d.After
	if b.Verdict == a.Verdict {
		sentences = append(sentences, "Verdict: "+a.Verdict.String()+" in both.")
	} else {
		sentences = append(sentences, "Verdict: "+b.Verdict.String()+" before, "+a.Verdict.String()+" now.")
	}
	of := func(what string, is report.DataDiff, before, after []report.File) string {
		names := func(files []report.File) string {
			var list []string
			for _, f := range files {
				list = append(list, clipPath(f.Path, pathMax))
			}
			return few(list, 3, "file")
		}
		switch {
		case len(before)+len(after) == 0:
			return what + ": not named in the reports."
		case is == report.SameFiles:
			return what + ": the same (" + names(after) + ")."
		case len(before) == 0 || len(after) == 0:
			return what + ": named in one report only (" + names(append(slices.Clone(before), after...)) + ")."
		case names(before) == names(after):
			return what + ": changed (" + names(after) + ")."
		}
		return what + ": " + names(before) + " before, " + names(after) + " now."
	}
	sentences = append(sentences, of("Data", d.Data, b.Inputs, a.Inputs), of("Policy", d.Policies, b.Policies, a.Policies))
	var rules []asked
	for i := range d.Rules {
		if x := &d.Rules[i]; x.Before != nil && x.After != nil && x.Change != report.Redefined {
			rules = append(rules, asked{x.ID, x.Before.Threshold, x.After.Threshold, x.Before.Interval, x.After.Interval})
		}
	}
	lower, looser := confidenceBefore(b.Confidence, a.Confidence), easier(rules, b.Confidence, a.Confidence)
	for _, text := range []string{lower, looser} {
		if text != "" {
			sentences = append(sentences, text)
		}
	}
	if d.Policies == report.OtherFiles || lower != "" || looser != "" {
		sentences = append(sentences, policyDiff)
	}
	if b.Tool.Version != a.Tool.Version {
		sentences = append(sentences, "Decided by oloproof "+clip(b.Tool.Version, nameMax)+" before, "+clip(a.Tool.Version, nameMax)+" now.")
	}
	return sentences
}

// diffEnds says what status the process ends with, and why.
func diffEnds(d *report.Diff) string {
	if d.Worse {
		return fmt.Sprintf("exit status %d (a rule that counts is worse, or is new and not PASS, or is gone, or no longer counts)", d.ExitStatus)
	}
	return fmt.Sprintf("exit status %d (no rule is worse)", d.ExitStatus)
}

// diffTerminal writes a difference for a terminal or a log.
func diffTerminal(w io.Writer, d *report.Diff, opts Options) error {
	t := newTerminal(opts)
	head := "NOT WORSE"
	if d.Worse {
		head = "WORSE"
	}
	t.para(0, 2, head+" · "+clipPath(d.Before.Path, pathMax)+" → "+clipPath(d.After.Path, pathMax)+" · "+worseRules(d))
	t.blank()
	for _, s := range diffSays(d) {
		t.para(2, 4, s)
	}
	changed, same := changedRules(d)
	shown := changed[:min(len(changed), diffRows)]
	var rows [][]string
	for _, x := range shown {
		cells := diffCells(d, x, false)
		if slices.Contains(x.Differ, "threshold") { // a column of its own would not fit
			cells[3] += ", must be " + cells[4]
		}
		rows = append(rows, cells[:4])
	}
	t.blank()
	if len(rows) > 0 {
		var headings []string
		for _, h := range diffHeadings[:4] {
			headings = append(headings, strings.ToUpper(h))
		}
		t.tableAt(headings, rows, []int{0, 1, 2, 3}, 2)
	}
	for _, s := range diffRest(len(changed)-len(shown), same) {
		t.para(2, 4, s)
	}
	t.blank()
	t.para(0, 2, diffEnds(d))
	_, err := io.WriteString(w, t.out.String())
	return err
}

// diffRest says how many rules are not shown: those that changed and do not fit, and those of which nothing changed.
func diffRest(rest, same int) (sentences []string) {
	if rest > 0 {
		sentences = append(sentences, "And "+counted(rest, "more rule")+" changed: all of them with --format json.")
	}
	if same > 0 {
		is := " are the same in everything."
		if same == 1 {
			is = " is the same in everything."
		}
		sentences = append(sentences, counted(same, "rule")+is)
	}
	return sentences
}

// diffMarkdown writes a difference as GitHub Flavored Markdown.
func diffMarkdown(w io.Writer, d *report.Diff, _ Options) error {
	m := &markdown{}
	icon := "✅"
	if d.Worse {
		icon = "❌"
	}
	m.block("## " + icon + " " + capital(worseRules(d)))
	m.block(path(d.Before.Path) + " → " + path(d.After.Path) + ". " + prose(strings.Join(diffSays(d), " ")))
	changed, same := changedRules(d)
	shown := changed[:min(len(changed), diffRows)]
	var rows [][]string
	for _, x := range shown {
		cells := diffCells(d, x, true)
		rows = append(rows, []string{prose(cells[0]), prose(cells[1]), own(cells[2]), own(cells[3]), own(cells[4])})
	}
	if len(rows) > 0 {
		m.table(diffHeadings, rows)
	}
	if rest := diffRest(len(changed)-len(shown), same); len(rest) > 0 {
		m.block(strings.Join(rest, " "))
	}
	m.block("<sub>" + prose("oloproof "+clip(d.Tool.Version, nameMax)) + " · " + diffEnds(d) + "</sub>")
	_, err := io.WriteString(w, m.out.String())
	return err
}
