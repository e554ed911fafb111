package summary

import (
	"cmp"
	"io"

	"github.com/oloproof/oloproof/engine/report"
)

// The fields of GitLab's Code Quality report, an array of issues.
type (
	codeIssue struct {
		Description string       `json:"description"`
		CheckName   string       `json:"check_name"`
		Fingerprint string       `json:"fingerprint"`
		Severity    string       `json:"severity"`
		Location    codeLocation `json:"location"`
	}
	codeLocation struct {
		Path  string    `json:"path"`
		Lines codeLines `json:"lines"`
	}
	codeLines struct {
		Begin int `json:"begin"`
	}
)

// CodeQuality writes the report as GitLab's Code Quality report: an issue for each rule that did not pass, at its line of the policy.
//
//	FAIL                                     critical
//	INSUFFICIENT_EVIDENCE, MANUAL_REVIEW     major
//	advisory, or reviewed by a person        info
//	a problem for which a run was not used   blocker
//	a report of check or report              one issue, major: nothing was decided
//
// GitLab shows which issues of the merge request are new, by their fingerprints. That of a rule is of its gate, section, id and
// verdict: it stays when its line moves or its numbers change, and a rule that was undecided and now fails is a new issue.
func CodeQuality(w io.Writer, r *report.Report, opts Options) error {
	issues := []codeIssue{}
	add := func(name, severity, text, fingerprint string, at spot, file string) {
		// An issue without a path makes GitLab refuse the report: then it is the file's name as it was given.
		path := cmp.Or(at.path, clipPath(file, pathMax), "unknown")
		issues = append(issues, codeIssue{plainSentence(text), name, fingerprint, severity, codeLocation{plainName(path), codeLines{at.line}}})
	}
	for _, t := range tell(r) {
		severity := "critical"
		switch {
		case t.Verdict == report.Pass:
			continue
		case needsNobody(t.Rule):
			severity = "info"
		case t.Verdict == report.InsufficientEvidence, t.Verdict == report.ManualReview:
			severity = "major"
		}
		text := t.Verdict.String() + ", " + t.name + ": " + t.says + onBaseLine(r, t.Rule)
		at := spotOf(r, opts, t.Position.File, t.Position.Line, t.Position.Column)
		add(t.name, severity, text, identity(ruleIdentity(t), t.Verdict.String()), at, cmp.Or(t.Position.File, policyPath(r)))
	}
	ids := problemIdentities(r.Errors)
	for i, p := range r.Errors {
		add(noVerdictRule, "blocker", "Nothing was decided: "+clip(p.Message, sentenceMax), ids[i], spotOf(r, opts, p.File, p.Line, p.Column), p.File)
	}
	if undecidedRun(r) && len(r.Errors) == 0 {
		severity := "major"
		if r.ExitStatus == report.ExitUnusable {
			severity = "blocker"
		}
		add(noVerdictRule, severity, nothingDecided(r), identity("no verdict"), spotOf(r, opts, "", 0, 0), policyPath(r))
	}
	doc, err := report.Document(issues)
	if err != nil {
		return err
	}
	_, err = w.Write(report.SafeInLogs(doc))
	return err
}
