package summary

import (
	"io"

	"github.com/oloproof/oloproof/engine/report"
)

// The SARIF objects that are written, by their names in the standard: SARIF 2.1.0, section 3. A field that is not written is optional
// there.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool                `json:"tool"`
		Invocations []sarifInvocation        `json:"invocations"`
		Bases       map[string]sarifBaseText `json:"originalUriBaseIds"`
		ColumnKind  string                   `json:"columnKind"`
		Results     []sarifResult            `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string         `json:"id"`
		ShortDescription sarifText      `json:"shortDescription"`
		FullDescription  sarifText      `json:"fullDescription"`
		Help             sarifHelp      `json:"help"`
		HelpURI          string         `json:"helpUri"`
		Configuration    sarifLevel     `json:"defaultConfiguration"`
		Properties       sarifRuleExtra `json:"properties"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifHelp struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifRuleExtra struct {
		Tags []string `json:"tags"`
	}
	sarifInvocation struct {
		Successful      bool                `json:"executionSuccessful"`
		ExitCode        int                 `json:"exitCode"`
		ExitDescription string              `json:"exitCodeDescription"`
		Notifications   []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifBaseText struct {
		Description sarifText `json:"description"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		Properties   sarifResultExtra   `json:"properties"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Status        string `json:"status"`
		Justification string `json:"justification"`
	}
	sarifResultExtra struct {
		Verdict string `json:"verdict"`
		Gate    string `json:"gate,omitempty"`
		Section string `json:"section,omitempty"`
	}
)

// What stands in a report whatever it is about.
const (
	sarifSchema   = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	projectPage   = "https://github.com/oloproof/oloproof"
	verdictsPage  = projectPage + "/blob/main/docs/verdicts.md"
	sourceRoot    = "SRCROOT"             // what places are relative to: the repository's top
	fingerprintV1 = "oloproofRule/v1"     // identity; another way to make it needs another name
	noVerdictRule = "oloproof-no-verdict" // the id of what is no rule of the policy
	verdictsHelp  = "PASS, FAIL, INSUFFICIENT_EVIDENCE (the data do not tell) or MANUAL_REVIEW (a person must decide)"
	noVerdictSays = "Nothing was decided. A run that decides nothing has no results of its rules, and is no sign that they hold."
)

// SARIF writes the report in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS): one run, with a result for each rule
// that did not pass, at its line of the policy. A rule that passes has none, since code scanning shows every result as an alert; it
// is among the rules of the tool all the same.
//
//	FAIL                                     level error
//	INSUFFICIENT_EVIDENCE, MANUAL_REVIEW     level warning
//	advisory, or reviewed by a person        level note; a review is a suppression with its reason
//	a problem for which a run was not used   level error, and executionSuccessful is false
//	a report of check or report              one result, level warning: nothing was decided
//
// The standard has kinds "open" and "review" for the second line. They are not used: with them a level has to be "none", and platforms
// that read levels alone would show nothing. The fingerprint of a rule is of its gate, section and id, so that it stays when its line
// moves or its numbers change. The numbers are in the message; what is said of a rule itself changes with the policy only.
func SARIF(w io.Writer, r *report.Report, opts Options) error {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "Oloproof", Version: plainName(r.Tool.Version), InformationURI: projectPage, Rules: []sarifRule{}}},
		Invocations: []sarifInvocation{sarifInvoked(r, opts)},
		Bases:       map[string]sarifBaseText{sourceRoot: {sarifText{"The top of the repository."}}},
		ColumnKind:  "unicodeCodePoints",
		Results:     []sarifResult{},
	}
	for i, t := range tell(r) {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifDescribe(t))
		if t.Verdict == report.Pass {
			continue
		}
		result := sarifResult{
			RuleID: t.name, RuleIndex: i, Level: "error",
			Message:      sarifText{EscapeMessage(t.Verdict.String() + ": " + t.says + onBaseLine(r, t.Rule))},
			Locations:    sarifPlace(spotOf(r, opts, t.Position.File, t.Position.Line, t.Position.Column)),
			Fingerprints: map[string]string{fingerprintV1: ruleIdentity(t)},
			Properties:   sarifResultExtra{t.Verdict.String(), plainName(t.gate.Gate), plainName(clip(t.gate.Name, nameMax))},
		}
		switch {
		case needsNobody(t.Rule):
			result.Level = "note"
		case t.Verdict == report.InsufficientEvidence, t.Verdict == report.ManualReview:
			result.Level = "warning"
		}
		if needsNobody(t.Rule) && !t.Advisory {
			why := "Reviewed by " + clip(t.Reviewed.By, nameMax) + " on " + clip(t.Reviewed.On, nameMax) + ": " + sentence(clip(t.Reviewed.Reason, sentenceMax))
			result.Suppressions = []sarifSuppression{{"external", "accepted", plainSentence(why)}}
		}
		run.Results = append(run.Results, result)
	}
	if undecidedRun(r) {
		run.addNoVerdict(r, opts)
	}
	doc, err := report.Document(sarifLog{sarifSchema, "2.1.0", []sarifRun{run}})
	if err != nil {
		return err
	}
	_, err = w.Write(report.SafeInLogs(doc))
	return err
}

// sarifInvoked says how the run ended.
func sarifInvoked(r *report.Report, opts Options) sarifInvocation {
	failOn := opts.FailOn
	if failOn == nil {
		failOn = report.DefaultFailOn()
	}
	run := sarifInvocation{
		Successful: r.ExitStatus != report.ExitUnusable && len(r.Errors) == 0,
		ExitCode:   r.Status(failOn), ExitDescription: plainSentence(exitSentence(r, failOn)),
	}
	if undecidedRun(r) {
		level := "warning"
		if !run.Successful {
			level = "error"
		}
		run.Notifications = []sarifNotification{{level, sarifText{nothingDecided(r)}}}
	}
	return run
}

// sarifDescribe says what a rule asks for.
func sarifDescribe(t toldRule) sarifRule {
	level, counts := "error", "It counts in the verdict of the run."
	if t.Advisory {
		level, counts = "note", "It is advisory: it does not count in the verdict of the run."
	}
	help := "The gate " + clip(t.gate.Gate, nameMax) + " decides on recorded decisions whether " + asks(t.Rule) + "."
	return sarifRule{
		ID:               t.name,
		ShortDescription: sarifText{EscapeMessage(ruleMeasure(&t.Measure) + ": " + MustBe(t.Threshold))},
		FullDescription:  sarifText{EscapeMessage(help + " " + counts)},
		Help: sarifHelp{
			Text:     plainSentence(help + " It comes to " + verdictsHelp + ". " + counts),
			Markdown: prose(help) + "\n\nIt comes to " + prose(verdictsHelp) + ". " + counts + "\n\n[What the verdicts mean](" + verdictsPage + ")\n",
		},
		HelpURI:       verdictsPage,
		Configuration: sarifLevel{level},
		Properties:    sarifRuleExtra{[]string{"release-gate", plainName(clip(t.gate.Gate, nameMax))}},
	}
}

// sarifPlace is a list of one location, or of none where the file is not known.
func sarifPlace(at spot) []sarifLocation {
	if at.path == "" {
		return nil
	}
	return []sarifLocation{{sarifPhysical{sarifArtifact{addressOf(at.path), sourceRoot}, sarifRegion{at.line, at.column}}}}
}

// addNoVerdict adds what is to be seen of a run that came to no verdict.
func (run *sarifRun) addNoVerdict(r *report.Report, opts Options) {
	index := len(run.Tool.Driver.Rules)
	run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
		ID: noVerdictRule, ShortDescription: sarifText{"Nothing was decided"}, FullDescription: sarifText{noVerdictSays},
		Help:    sarifHelp{noVerdictSays, noVerdictSays + "\n\n[What the exit statuses mean](" + verdictsPage + ")\n"},
		HelpURI: verdictsPage, Configuration: sarifLevel{"error"}, Properties: sarifRuleExtra{[]string{"release-gate"}},
	})
	add := func(level, text, id string, at spot) {
		run.Results = append(run.Results, sarifResult{
			RuleID: noVerdictRule, RuleIndex: index, Level: level, Message: sarifText{EscapeMessage(text)}, Locations: sarifPlace(at),
			Fingerprints: map[string]string{fingerprintV1: id}, Properties: sarifResultExtra{Verdict: report.NoVerdict.String()},
		})
	}
	ids := problemIdentities(r.Errors)
	for i, p := range r.Errors {
		add("error", sentence(clip(p.Message, sentenceMax)), ids[i], spotOf(r, opts, p.File, p.Line, p.Column))
	}
	if len(r.Errors) == 0 {
		level := "warning"
		if r.ExitStatus == report.ExitUnusable {
			level = "error"
		}
		add(level, nothingDecided(r), identity("no verdict"), spotOf(r, opts, "", 0, 0))
	}
}
