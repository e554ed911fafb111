package summary

import (
	"crypto/sha256"
	"encoding/hex"
	slashed "path"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/report"
)

// What the formats that other programs read share: junit, sarif, codequality, openmetrics. Like the formats for people they tell
// no count that a gate's MinShown hides, since a platform shows them to everyone who sees a merge request.

// toldRule is a rule as such a format tells it. Its texts are not escaped.
type toldRule struct {
	*report.Rule
	gate  *report.Gate
	part  string // what the gate's part is called: "fairness: loan-screen", no two alike
	name  string // the rule's id, cut where it is long; no two of a report are alike
	says  string // why it came out as it did, its numbers, what would decide it, and its waiver, review and standing
	hides hiding // what the gate's part must not tell
}

// tell returns every rule of a report, in the order of the policy.
func tell(r *report.Report) []toldRule {
	var all []toldRule
	var parts, names []string
	for i := range r.Gates {
		g := &r.Gates[i]
		reasons, _ := Lines(g)
		hides := newHiding(g)
		g = hides.gate(g)
		part := clip(g.Gate, nameMax)
		if g.Name != "" {
			part += ": " + clip(g.Name, nameMax)
		}
		parts = append(parts, part)
		for k := range g.Rules {
			rule := &g.Rules[k]
			sentences := []string{reasons[k], groupsToSee(rule, g, hides), withLeftOut(rule), caution(&rule.Measure, rule.Reason)}
			sentences = append(sentences, notes(rule)...)
			all = append(all, toldRule{Rule: rule, gate: g, says: joined(sentences), hides: hides})
			names = append(names, clip(rule.ID, nameMax))
		}
	}
	parts, names = distinct(parts), distinct(names)
	at := 0
	for i := range r.Gates {
		for range r.Gates[i].Rules {
			all[at].part, all[at].name = parts[i], names[at]
			at++
		}
	}
	return all
}

// joined puts sentences that are not empty one after the other.
func joined(sentences []string) string {
	var said []string
	for _, s := range sentences {
		if s != "" {
			said = append(said, s)
		}
	}
	return strings.Join(said, " ")
}

// distinct returns names of which no two are alike, also to who sees them printed: the second of a name is "NAME (2)".
func distinct(names []string) []string {
	taken := map[string]bool{}
	out := make([]string, len(names))
	next := map[string]int{}
	for i, name := range names {
		shown := plainName(name)
		for n := max(next[shown], 1); ; n++ {
			out[i] = shown
			if n > 1 {
				out[i] += " (" + strconv.Itoa(n) + ")"
			}
			if !taken[out[i]] {
				next[shown] = n
				break
			}
		}
		taken[out[i]] = true
	}
	return out
}

// groupsTold is how many of a rule's groups and pairs are named beside it.
const groupsTold = 3

// groupsToSee names the groups or pairs that did not pass, with their numbers; "" where the rule passes, or has one alone, which its
// reason is about.
func groupsToSee(rule *report.Rule, g *report.Gate, hides hiding) string {
	if rule.Verdict == report.Pass {
		return ""
	}
	open := hides.shown(rule)
	tell := func(rows []groupRow, thing string) string {
		var names []string
		for _, row := range rows {
			if row.verdict == report.Pass || row.verdict == report.NoVerdict {
				continue
			}
			text := row.name + " " + row.word
			if within := row.numbers.Range(); within != "" {
				if row.numbers.Estimate != "" {
					within = row.numbers.Estimate + ", " + within
				}
				text += " (" + within + ")"
			}
			names = append(names, text)
		}
		if len(rows) < 2 || len(names) == 0 {
			return ""
		}
		return "Not passed: " + few(names, groupsTold, thing) + "."
	}
	if ofPairs(rule) { // what its groups come to follows from them
		return tell(pairRows(open), "pair")
	}
	return tell(groupRows(open, g.Settings), "group")
}

// needsNobody reports a rule that did not pass and asks for nobody: it does not count, or a person has reviewed it.
func needsNobody(rule *report.Rule) bool {
	return rule.Advisory || rule.Verdict == report.ManualReview && rule.Reviewed != nil && rule.Reviewed.Valid
}

// identity is a name of a thing in a report that stays the same when its line moves or its numbers change: 32 hexadecimal
// digits of a hash of what it is known by.
func identity(known ...string) string {
	h := sha256.New()
	for _, k := range known {
		h.Write([]byte(strconv.Itoa(len(k)) + ":" + k))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// ruleIdentity is that of a rule: its gate, the name of its section, and its id.
func ruleIdentity(t toldRule) string { return identity("rule", t.gate.Gate, t.gate.Name, t.ID) }

// problemIdentities are those of a run's problems: the file, the kind of problem, and which of its kind it is in the file.
func problemIdentities(problems []report.Problem) []string {
	seen := map[string]int{}
	var ids []string
	for _, p := range problems {
		kind := kindOf(p.Message)
		key := p.File + "\x00" + kind
		seen[key]++
		ids = append(ids, identity("problem", p.File, kind, strconv.Itoa(seen[key])))
	}
	return ids
}

// spot is a place in a file of the repository.
type spot struct {
	path         string // with slashes, relative to the repository's top; "" where it is not known
	line, column int    // from 1; a column of 0 is the whole line
}

// spotOf finds the place of a rule or a problem; what has no file of its own is told at the first policy, else the first file read.
// The lines of a policy that was read from the base branch need not be those of the file here: then it is the file's first.
func spotOf(r *report.Report, opts Options, file string, line, column int) spot {
	ofPolicy := len(r.Errors) == 0
	if file == "" {
		line, column = 0, 0
		switch own := policies(r); {
		case len(own) > 0:
			file = own[0].Path
		case len(r.Inputs) > 0:
			file, ofPolicy = r.Inputs[0].Path, false
		}
	}
	if ofPolicy && r.PolicyFromBase {
		line, column = 0, 0
	}
	if line < 1 {
		line, column = 1, 0
	}
	return spot{opts.inRepository(file), line, max(column, 0)}
}

// inRepository is a file's path in the repository, "" where it has none.
func (o Options) inRepository(file string) string {
	switch {
	case file == "" || file == "-": // standard input
		return ""
	case o.Repository != nil:
		return o.Repository(file)
	}
	if file = slashed.Clean(file); slashed.IsAbs(file) || file == "." || file == ".." || strings.HasPrefix(file, "../") {
		return ""
	}
	return file
}

// nothingDecided says why a report has no rules: what kept the run from deciding, or that it was not asked to.
func nothingDecided(r *report.Report) string {
	switch {
	case len(r.Errors) > 0:
		return "Nothing was decided: " + counted(len(r.Errors)+r.MoreErrors, "problem") + "."
	case r.ExitStatus == report.ExitUnusable:
		return "Nothing was decided."
	case verbOf(r) == reportVerb:
		return "Nothing was decided: this is the report of `report`, which measures. Run `gate` with a policy to decide."
	}
	return "Nothing was decided: this is the report of `check`, which reads the data. Run `gate` with a policy to decide."
}

// undecidedRun reports a run that came to no verdict.
func undecidedRun(r *report.Report) bool { return r.Verdict == report.NoVerdict || len(r.Errors) > 0 }

// problemText is a problem with its place, as a line of text.
func problemText(p report.Problem) string {
	if at := p.Pos(); at.File != "" {
		at.File = clipPath(at.File, pathMax)
		return at.String() + ": " + clip(p.Message, sentenceMax)
	}
	return clip(p.Message, sentenceMax)
}

// policyPath names the first policy of a run; "" where there is none.
func policyPath(r *report.Report) string {
	if own := policies(r); len(own) > 0 {
		return own[0].Path
	}
	return ""
}

// onBaseLine says in words where a rule stands in a policy that was read from the base branch, since its line in the file here may
// hold something else; "" elsewhere.
func onBaseLine(r *report.Report, rule *report.Rule) string {
	if !r.PolicyFromBase || rule.Position.Line < 1 {
		return ""
	}
	return " (Line " + strconv.Itoa(rule.Position.Line) + " of the policy as it is on the base branch.)"
}

// asks says in words what a rule asks for, as a sentence begins with it: "the whole interval of agreement is at or above 0.8".
func asks(rule *report.Rule) string {
	of := "the whole interval of " + ruleMeasure(&rule.Measure)
	value := exactNumber(rule.Threshold.Value)
	side := func(k report.Kind) string {
		if k == report.Maximum {
			return " is at or below " + value
		}
		return " is at or above " + value
	}
	switch rule.Threshold.Kind {
	case report.Minimum, report.Maximum:
		return of + side(rule.Threshold.Kind)
	case report.WorstGroup:
		return of + " in every group" + side(rule.Threshold.Side)
	case report.MaxGroupGap:
		return "every gap between two groups in " + ruleMeasure(&rule.Measure) + " is at most " + value + ", with its whole interval"
	case report.MinGroupRatio:
		return "every ratio of two groups in " + ruleMeasure(&rule.Measure) + " is at least " + value + ", with its whole interval"
	}
	return "the candidate is better than the baseline (" + ruleMeasure(&rule.Measure) + ")"
}
