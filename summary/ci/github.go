package ci

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// The names of the outputs that the action sets, as action.yml declares them. OutputReport is set only
// where a JSON report was asked for and written, the others always.
const (
	OutputVerdict              = "verdict"               // PASS, FAIL, INSUFFICIENT_EVIDENCE, MANUAL_REVIEW or NO_VERDICT
	OutputExitCode             = "exit-code"             // the exit status of the verdict, whatever fail-on lists
	OutputPassed               = "passed"                // how many counting rules came to PASS
	OutputFailed               = "failed"                // … to FAIL
	OutputInsufficientEvidence = "insufficient-evidence" // … to INSUFFICIENT_EVIDENCE
	OutputManualReview         = "manual-review"         // … to MANUAL_REVIEW
	OutputFailingRules         = "failing-rules"         // ids of the counting rules that did not pass: a JSON list on one line
	OutputPolicyLoosened       = "policy-loosened"       // whether a pull request loosens the policy: true, or false, also where that cannot be told
	OutputReport               = "report"                // the JSON report's path, relative to the workspace
	OutputCommentURL           = "comment-url"           // the page of the pull request's comment, where there is one of the action's
	OutputIssueURL             = "issue-url"             // the page of the audit's issue, likewise
	OutputReportingProblems    = "reporting-problems"    // what could not be reported: a JSON list of sentences on one line
)

// The limits of GitHub Actions, each with what lies behind it.
const (
	// summaryBytes keeps a step's summary under the 1 MiB (1,048,576 bytes) above which the runner drops
	// it whole (actions/runner, FileCommandManager: AttachmentSizeLimit).
	summaryBytes = 1_000_000
	// listBytes keeps each list among the outputs far under the 1 MB that all outputs of a job share.
	listBytes = 200_000
)

// Delivery is one run as a CI platform is told of it.
type Delivery struct {
	Report     *report.Report
	FailOn     report.FailOn // the verdicts that make the step fail
	PolicyFile string        // the policy's path relative to the workspace: its problems are annotated first
	// The policies, relative to the workspace, that were read from the base branch, and the words for that branch. Their lines
	// are not those of the workspace.
	BasePolicies []string
	Base         string
	ReportFile   string         // the JSON report's path relative to the workspace, "" where none was written
	Summary      bool           // write the job summary
	Annotations  bool           // write annotations
	Problems     []string       // reporting problems met before, one sentence each
	Notes        []string       // what a person may want to know beside the report, one sentence each
	Prefix       Prefix         // from the workspace's paths to the repository's
	Post         func() Outcome // writes the comment or the issue, once everything else is told; nil for neither
}

// GitHub tells GitHub Actions, or a platform that speaks its language, of a run: the outputs, then the
// step's summary, then annotations, then the comment or the issue. Annotations are workflow commands, written to log, the step's standard
// output, where the text before must have ended its line. It returns every reporting problem, d's
// included; none of them changes what is said of the verdict.
//
// getenv gives GITHUB_OUTPUT and GITHUB_STEP_SUMMARY (files that the runner made, and that are appended
// to) and GITHUB_WORKSPACE. The report's positions are relative to the workspace.
func GitHub(d Delivery, getenv func(string) string, log io.Writer) []string {
	problems := slices.Clone(d.Problems)
	if strings.ContainsFunc(d.ReportFile, hidden) {
		problems = append(problems, "output report: the path has a character that an output cannot hold")
		d.ReportFile = ""
	}
	failing, listed := jsonList(failingRules(d.Report))
	if all := len(failingRules(d.Report)); listed < all {
		problems = append(problems, fmt.Sprintf("output failing-rules: holds the first %d of %d rules", listed, all))
	}

	told := len(problems)
	outputsErr := appendTo(getenv, "GITHUB_OUTPUT", outputs(d, Outcome{}, failing, problems))
	problems = noteError(problems, "outputs", outputsErr)
	if d.Summary {
		problems = noteError(problems, "job summary", writeSummary(d, getenv))
	}
	_, err := log.Write(annotate(d, problems, getenv("GITHUB_WORKSPACE")))
	problems = noteError(problems, "annotations", err)
	var posted Outcome
	if d.Post != nil {
		posted = d.Post()
		_, err := log.Write(aside(posted.Notes, posted.Problems, cannotReport(d.Report)))
		problems = noteError(append(problems, posted.Problems...), "annotations", err)
	}

	// The outputs come before what may fail, and the last value of a name counts: write them again with
	// what was met since.
	if outputsErr == nil && (len(problems) > told || posted.CommentURL != "" || posted.IssueURL != "") {
		problems = noteError(problems, "outputs", appendTo(getenv, "GITHUB_OUTPUT", outputs(d, posted, failing, problems)))
	}
	return problems
}

// Relayed tells GitHub Actions of a step that only wrote a comment: outputs and annotations. It returns the problems that
// arose here.
func Relayed(o Outcome, getenv func(string) string, log io.Writer) []string {
	_, err := log.Write(aside(o.Notes, o.Problems, cannotRelay))
	problems := noteError(nil, "annotations", err)
	reporting, _ := jsonList(slices.Concat(o.Problems, problems))
	text := fmt.Sprintf("%s=%s\n", OutputReportingProblems, reporting)
	if o.CommentURL != "" && !strings.ContainsFunc(o.CommentURL, hidden) {
		text += fmt.Sprintf("%s=%s\n", OutputCommentURL, o.CommentURL)
	}
	return noteError(problems, "outputs", appendTo(getenv, "GITHUB_OUTPUT", []byte(text)))
}

// noteError adds err, if there is one, to the reporting problems.
func noteError(problems []string, what string, err error) []string {
	if err == nil {
		return problems
	}
	return append(problems, what+": "+err.Error())
}

// failingRules is empty where nothing was decided, whatever single rules came to.
func failingRules(r *report.Report) []string {
	if r.Verdict == report.NoVerdict {
		return nil
	}
	return r.FailingRules()
}

// outputs returns the lines NAME=VALUE for the runner's output file. Every value is one line without a
// control character, so no value can bring in a line of its own (as CVE-2022-35954 did where values ran over several
// lines, up to a delimiter that was known). The verdict is the last: the last value of a name counts, so nothing
// before it could stand in for it.
func outputs(d Delivery, posted Outcome, failing string, problems []string) []byte {
	var counts report.Counts
	if d.Report.Counts != nil && d.Report.Verdict != report.NoVerdict {
		counts = *d.Report.Counts
	}
	reporting, _ := jsonList(problems)
	var b []byte
	set := func(name, value string) { b = fmt.Appendf(b, "%s=%s\n", name, value) }
	set(OutputPassed, strconv.Itoa(counts.Pass))
	set(OutputFailed, strconv.Itoa(counts.Fail))
	set(OutputInsufficientEvidence, strconv.Itoa(counts.InsufficientEvidence))
	set(OutputManualReview, strconv.Itoa(counts.ManualReview))
	set(OutputFailingRules, failing)
	set(OutputPolicyLoosened, strconv.FormatBool(slices.ContainsFunc(d.Report.PolicyChanges, func(c report.PolicyChange) bool { return c.Loosens })))
	if d.ReportFile != "" {
		set(OutputReport, d.ReportFile)
	}
	address := func(name, value string) {
		if value != "" && !strings.ContainsFunc(value, hidden) {
			set(name, value)
		}
	}
	address(OutputCommentURL, posted.CommentURL)
	address(OutputIssueURL, posted.IssueURL)
	set(OutputReportingProblems, reporting)
	set(OutputExitCode, strconv.Itoa(d.Report.ExitStatus))
	set(OutputVerdict, d.Report.Verdict.String())
	return b
}

// jsonList returns texts as a JSON list on one line of at most listBytes, and how many of them it holds.
func jsonList(texts []string) (list string, listed int) { return listOf(texts, jsonText, listBytes) }

// listOf returns texts, as item writes each, as a JSON list on one line of at most so many bytes, and how many of them it
// holds.
func listOf(texts []string, item func(string) string, most int) (list string, listed int) {
	var b strings.Builder
	b.WriteByte('[')
	for _, text := range texts {
		written := item(text)
		if b.Len()+len(written)+2 > most {
			break
		}
		if listed > 0 {
			b.WriteByte(',')
		}
		b.WriteString(written)
		listed++
	}
	b.WriteByte(']')
	return b.String(), listed
}

// jsonText returns a JSON string without any hidden character: JSON's own escapes leave some as they are.
func jsonText(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil { // a string always has a JSON form
		return `""`
	}
	var b strings.Builder
	for _, r := range string(quoted) {
		if !hidden(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// hidden reports whether r could end a line, move the cursor or hide: control and format characters, and
// the separators of lines and paragraphs.
func hidden(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

// writeSummary appends the report to the step's summary, within what the step has left of its size.
func writeSummary(d Delivery, getenv func(string) string) error {
	left := summaryBytes
	if info, err := os.Stat(getenv("GITHUB_STEP_SUMMARY")); err == nil {
		left -= int(min(info.Size(), summaryBytes))
	}
	if left == 0 {
		return fmt.Errorf("the step has written %d bytes to it already, which leaves no room", summaryBytes)
	}
	var text bytes.Buffer
	if err := summary.Markdown(&text, d.Report, summary.Options{Unicode: true, MaxBytes: left, FailOn: d.FailOn}); err != nil {
		return err
	}
	if text.Len() > left {
		return fmt.Errorf("it takes %d bytes where %d are left, and GitHub drops a summary whole above its limit", text.Len(), left)
	}
	return appendTo(getenv, "GITHUB_STEP_SUMMARY", text.Bytes())
}

// appendTo appends to the file that an environment variable names. The runner has made that file: making
// one would only hide that there is no runner.
func appendTo(getenv func(string) string, variable string, text []byte) (err error) {
	name := getenv(variable)
	if name == "" {
		return errors.New(variable + " is not set")
	}
	if info, err := os.Stat(name); err == nil && info.Mode()&fs.ModeNamedPipe != 0 { // opening it would wait for a reader
		return errors.New(variable + " is a pipe, and no file")
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err = file.Write(text); err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	return nil
}
