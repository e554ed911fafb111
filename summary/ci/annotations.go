package ci

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// The limits of GitHub's annotations, each with what lies behind it.
const (
	// annotationsPerLevel is how many errors, warnings and notices of one step are shown
	// (actions/runner, ExecutionContext: _maxCountPerIssueType).
	annotationsPerLevel = 10
	// messageBytes keeps a message under the 4,096 UTF-16 units at which the runner cuts it
	// (_maxIssueMessageLength). No text has more of these than bytes of UTF-8.
	messageBytes = 4000
	// titleBytes keeps a title under the 255 characters that GitHub's check annotations take.
	titleBytes = 200
)

// The levels of an annotation are the names of workflow commands.
const (
	levelError   = "error"
	levelWarning = "warning"
	levelNotice  = "notice"
)

// annotation is a message at a place in a file. Without a file it belongs to the step.
type annotation struct {
	level          string
	file           string // relative to the workspace
	line, column   int
	title, message string
}

// annotate returns the workflow commands for a run. The reporting problems themselves are one warning.
func annotate(d Delivery, problems []string, workspace string) (commands []byte) {
	var list []annotation
	if d.Annotations {
		list = annotations(d, workspace)
	}
	var shown []annotation
	for _, level := range []string{levelError, levelWarning, levelNotice} {
		limit := annotationsPerLevel
		if level != levelError {
			limit -= 2 // places are kept for what is told beside the report, before the comment and after it
		}
		shown = append(shown, fold(list, level, limit, d)...)
	}
	return append(commandsOf(shown), aside(d.Notes, problems, cannotReport(d.Report))...)
}

// failure is how a warning on what could not be reported begins.
type failure struct{ title, lead string }

// cannotRelay is for what could not be reported by a run that only writes a comment.
var cannotRelay = failure{"The comment could not be written", ""}

// cannotReport is for what could not be reported of a run that was to decide: it changes nothing of what came of it.
func cannotReport(r *report.Report) failure {
	as := failure{"Oloproof could not report everything", "The verdict stands. "}
	if r.ExitStatus == report.ExitUnusable {
		as.lead = "Nothing was decided in any case. "
	}
	return as
}

// aside returns the commands for what is told beside the report: one notice with all notes, and one warning with all
// problems, each a sentence on a line of its own.
func aside(notes, problems []string, as failure) []byte {
	var shown []annotation
	if len(notes) > 0 {
		shown = append(shown, annotation{level: levelNotice, title: "Oloproof", message: strings.Join(notes, "\n")})
	}
	if len(problems) > 0 {
		shown = append(shown, troubled(problems, as))
	}
	return commandsOf(shown)
}

// troubled is the warning with all problems.
func troubled(problems []string, as failure) annotation {
	var sentences []string
	for _, problem := range problems {
		sentences = append(sentences, capital(problem))
	}
	return annotation{level: levelWarning, title: as.title, message: as.lead + strings.Join(sentences, "\n")}
}

// capital begins a problem as a sentence does, where it begins with a word of ours. Else it may begin with a file's name.
func capital(problem string) string {
	word, _, _ := strings.Cut(problem, " ")
	switch strings.TrimSuffix(word, ":") {
	case "annotations", "commands", "comment", "issue", "job", "log", "output", "outputs", "summary", "variable":
		return strings.ToUpper(problem[:1]) + problem[1:]
	}
	return problem
}

// commandsOf writes annotations as workflow commands.
func commandsOf(list []annotation) []byte {
	var b bytes.Buffer
	action := githubactions.New(githubactions.WithWriter(&b), githubactions.WithGetenv(func(string) string { return "" }))
	for _, a := range list {
		action.IssueCommand(a.command())
	}
	return b.Bytes()
}

// annotations lists what is worth one: every reason why a run cannot be used, and every rule that did not
// pass. An advisory rule, and one whose review a person has recorded, are notices: they need nobody.
func annotations(d Delivery, workspace string) []annotation {
	var list, elsewhere []annotation
	for _, p := range d.Report.Errors {
		a := annotation{level: levelError, file: inWorkspace(p.File, workspace), line: p.Line, column: p.Column,
			title: "Oloproof: nothing was decided", message: p.Message}
		if a.file == "" && p.File != "" {
			a.message = p.Pos().String() + ": " + p.Message
		} else {
			if p.Row > 0 { // no platform has a place for it
				a.message = fmt.Sprintf("row %d: %s", p.Row, p.Message)
			}
			a.onBase(d)
		}
		if a.file == d.PolicyFile { // before its prefix
			list = append(list, a)
		} else {
			elsewhere = append(elsewhere, a)
		}
	}
	list = append(list, elsewhere...)
	if more := d.Report.MoreErrors; more > 0 {
		list = append(list, annotation{level: levelError, title: "Oloproof: nothing was decided",
			message: fmt.Sprintf("%d more problems were found", more)})
	}
	for i := range d.Report.Gates {
		list = append(list, ofRules(d, &d.Report.Gates[i], workspace)...)
	}
	for _, c := range d.Report.PolicyChanges { // where the pull request's own policy says so, whichever is decided
		a := annotation{level: levelNotice, file: inWorkspace(c.Position.File, workspace), line: c.Position.Line, column: c.Position.Column,
			title: "This change of the policy is for a person to look at", message: summary.Sentence(c.Message)}
		if c.Loosens {
			a.level, a.title = levelWarning, "This change loosens the policy"
		}
		list = append(list, a)
	}
	for i := range d.Report.Gates {
		g := &d.Report.Gates[i]
		_, messages := summary.Lines(g)
		for k, f := range g.Findings {
			if f.Code == waiverEnding {
				a := annotation{level: levelWarning, file: d.PolicyFile, title: "A waiver ends soon", message: messages[k]}
				if rule := ruleOf(g, f.Rule); rule != nil {
					a.file, a.line, a.column = inWorkspace(rule.Position.File, workspace), rule.Position.Line, rule.Position.Column
					a.onBase(d)
				}
				list = append(list, a)
			}
		}
	}
	for i := range list {
		list[i].file = d.Prefix.Apply(list[i].file)
	}
	return list
}

// onBase takes the line from an annotation in a policy that was read from the base branch, and says in words where it is: the
// workspace's version of the file may have something else there.
func (a *annotation) onBase(d Delivery) {
	if !slices.Contains(d.BasePolicies, a.file) {
		return
	}
	if a.line > 0 {
		a.message += fmt.Sprintf(" (Line %d of the policy as it is on %s.)", a.line, d.Base)
	}
	a.line, a.column = 0, 0
}

// ofRules lists the annotations of a gate's rules.
func ofRules(d Delivery, g *report.Gate, workspace string) (list []annotation) {
	messages, _ := summary.Lines(g)
	for i := range g.Rules {
		rule := &g.Rules[i]
		a := annotation{file: inWorkspace(rule.Position.File, workspace), line: rule.Position.Line, column: rule.Position.Column,
			title: rule.Verdict.String() + ": " + rule.ID, message: messages[i]}
		switch rule.Verdict {
		case report.Fail:
			a.level = levelError
		case report.InsufficientEvidence, report.ManualReview:
			a.level = levelWarning
		case report.Pass, report.NoVerdict: // a rule left without a verdict stands under Errors
			continue
		}
		switch {
		case rule.Advisory:
			a.level, a.title = levelNotice, a.title+" (advisory: does not count)"
		case rule.Verdict == report.ManualReview && rule.Reviewed != nil && rule.Reviewed.Valid:
			a.level, a.title = levelNotice, a.title+" (reviewed)"
		}
		if b := rule.Before; b != nil && d.Report.Baseline != nil && (b.Change == report.NewlyFailing || b.Change == report.NewlyUndecided) {
			a.message += fmt.Sprintf(" It is new: in %s it was %s.", diag.Printable(d.Report.Baseline.Path), b.Verdict)
		}
		a.onBase(d)
		list = append(list, a)
	}
	return list
}

// waiverEnding is the code of the finding that a waiver is about to end.
const waiverEnding = "waiver_ending"

// ruleOf is the rule of that id; nil for none.
func ruleOf(g *report.Gate, id string) *report.Rule {
	i := slices.IndexFunc(g.Rules, func(r report.Rule) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return &g.Rules[i]
}

// fold returns the annotations of one level, at most limit of them: the last takes in all that are over.
// It ends with how many even it has no room to name, and where they are.
func fold(list []annotation, level string, limit int, d Delivery) (kept []annotation) {
	var over []annotation
	for _, a := range list {
		switch {
		case a.level != level:
		case len(kept) < limit:
			kept = append(kept, a)
		default:
			over = append(over, a)
		}
	}
	if len(over) == 0 {
		return kept
	}
	over = append([]annotation{kept[limit-1]}, over...)
	folded := over[0] // it stands where the first of them does
	folded.message = ""
	listed := 0
	for _, a := range over {
		line := cut(a.oneLine(), messageBytes/4) + "\n"
		if len(folded.message)+len(line) > messageBytes-100 { // room to say that there are more
			break
		}
		folded.message += line
		listed++
	}
	folded.title = fmt.Sprintf("Oloproof: %d more", listed)
	if rest := len(over) - listed; rest > 0 {
		folded.message += fmt.Sprintf("and %d more", rest)
		if d.ReportFile != "" {
			folded.message += ", which all are in the report " + diag.Printable(cut(d.ReportFile, 60))
		}
	}
	folded.message = strings.TrimSuffix(folded.message, "\n")
	kept[limit-1] = folded
	return kept
}

// oneLine is the annotation as text, with its place.
func (a annotation) oneLine() string {
	text := a.title + ": " + a.message
	if a.file == "" {
		return text
	}
	if a.line > 0 {
		return a.file + ":" + strconv.Itoa(a.line) + ": " + text
	}
	return a.file + ": " + text
}

// command is the annotation as a workflow command; the library escapes it.
func (a annotation) command() *githubactions.Command {
	properties := githubactions.CommandProperties{"title": cut(neutral(a.title), titleBytes)}
	if a.file != "" {
		properties["file"] = neutral(a.file)
		if a.line > 0 {
			properties["line"] = strconv.Itoa(a.line)
			if a.column > 0 {
				properties["col"] = strconv.Itoa(a.column)
			}
		}
	}
	lines := strings.Split(a.message, "\n")
	for i := range lines {
		lines[i] = neutral(lines[i])
	}
	return &githubactions.Command{Name: a.level, Properties: properties, Message: cut(strings.Join(lines, "\n"), messageBytes)}
}

// inWorkspace returns a position's file as GitHub matches it with a pull request's: relative to the
// workspace and without "./", which it takes for a part of the name. It is "" for a file outside.
func inWorkspace(file, workspace string) string {
	if file == "" {
		return ""
	}
	file = path.Clean(filepath.ToSlash(file))
	if path.IsAbs(file) {
		inside, ok := strings.CutPrefix(file, path.Clean(filepath.ToSlash(workspace))+"/")
		if !ok || workspace == "" {
			return ""
		}
		file = inside
	}
	if file == "." || file == ".." || strings.HasPrefix(file, "../") {
		return ""
	}
	return file
}

// cut returns s, shortened to at most limit bytes at the end of a character, visibly.
func cut(s string, limit int) string {
	const sign = " …"
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit-len(sign)], "") + sign
}
