package ci

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// The limits for Azure Pipelines.
const (
	// azureIssues is how many errors and how many warnings are written. The run's page shows the first ten of each
	// (azure-pipelines-agent, ExecutionContext: _maxIssueCount), the log of the step all.
	azureIssues = 100
	// azureValueBytes keeps a variable under the 32,767 characters that an environment variable has on Windows: every
	// later step of the job gets it, and would not start with a longer one.
	azureValueBytes = 30_000
)

// azure tells Azure Pipelines: output variables, named oloproof_ and the output's name with _ for -; the report as a
// page of the run's summary; an issue for every rule that needs someone and every error, at its line; and, where the
// process ends with 0 although some rule needs someone, that the step succeeded with issues. What GitHub gets as a
// notice is left out: Azure has no such level, and it needs nobody.
//
// These are commands in the log, which the agent reads on both streams.
func azure(d Delivery, status int, w World) []string {
	d = relativeTo(w.Getenv("BUILD_SOURCESDIRECTORY"), w.Dir, d)
	root := w.Getenv("BUILD_SOURCESDIRECTORY")
	if root == "" {
		root = w.Dir
	}
	problems := slices.Clone(d.Problems)

	var page, issues []azureCommand
	if d.Summary {
		path, err := azureSummary(d, w.Getenv("AGENT_TEMPDIRECTORY"))
		if err == nil {
			page = []azureCommand{{name: "task.uploadsummary", data: path}}
		}
		problems = noteError(problems, "summary", err)
	}
	if d.Annotations {
		list := annotations(d, root)
		for _, level := range []string{levelError, levelWarning} {
			for _, a := range fold(list, level, azureIssues, d) {
				issues = append(issues, azureIssue(a, root))
			}
		}
	}
	values, problems := azureVariables(d, problems)
	if len(problems) > 0 {
		issues = append(issues, azureIssue(troubled(problems, cannotReport(d.Report)), root))
	}
	if status == report.ExitPass && d.Report.Status(report.DefaultFailOn()) != report.ExitPass {
		issues = append(issues, azureCommand{name: "task.complete", properties: []azureProperty{{"result", "SucceededWithIssues"}},
			data: "Oloproof: " + d.Report.Verdict.String()})
	}

	var b bytes.Buffer
	for _, c := range slices.Concat(values, page, issues) {
		b.WriteString(c.String())
	}
	_, err := w.Log.Write(b.Bytes())
	return noteError(problems, "commands", err)
}

// azureCommand is a logging command: ##vso[area.event key=value;…]data on one line.
type azureCommand struct {
	name       string // area.event
	properties []azureProperty
	data       string
}

type azureProperty struct{ key, value string }

// azureEscaper escapes properties and data. The agent takes %AZP25 for a % since 2021; an older one, or a job that
// sets DECODE_PERCENTS to false, shows it as it is.
var azureEscaper = strings.NewReplacer("%", "%AZP25", ";", "%3B", "\r", "%0D", "\n", "%0A", "]", "%5D")

// String is the command as a line of log.
func (c azureCommand) String() string {
	var b strings.Builder
	b.WriteString("##vso[" + c.name)
	for i, p := range c.properties {
		if i == 0 {
			b.WriteByte(' ')
		}
		b.WriteString(p.key + "=" + azureEscaper.Replace(p.value) + ";")
	}
	b.WriteString("]" + azureEscaper.Replace(c.data) + "\n")
	return b.String()
}

// azureIssue is an annotation as an issue. The agent itself writes an issue with a place as
// "file(line,column): type code: message", so the title is its code; without a place all is in the message.
func azureIssue(a annotation, root string) azureCommand {
	c := azureCommand{name: "task.logissue", properties: []azureProperty{{"type", a.level}}}
	message := a.oneLine()
	if a.file != "" && a.file != "-" {
		place := filepath.FromSlash(neutral(a.file))
		if root != "" {
			place = filepath.Join(root, place) // only an absolute path is found in the repository
		}
		c.properties = append(c.properties, azureProperty{"sourcepath", place})
		if a.line > 0 {
			c.properties = append(c.properties, azureProperty{"linenumber", strconv.Itoa(a.line)})
		}
		if a.column > 0 {
			c.properties = append(c.properties, azureProperty{"columnnumber", strconv.Itoa(a.column)})
		}
		c.properties = append(c.properties, azureProperty{"code", cut(neutral(a.title), titleBytes)})
		message = a.message
	}
	lines := strings.Split(message, "\n")
	for i := range lines {
		lines[i] = neutral(lines[i])
	}
	c.data = cut(strings.Join(lines, "\n"), messageBytes)
	return c
}

// azureVariables returns the commands that set the action's outputs as output variables, in their order, the verdict
// last; and the problems with those added that arose here.
func azureVariables(d Delivery, problems []string) ([]azureCommand, []string) {
	if strings.ContainsFunc(d.ReportFile, hidden) || strings.Contains(d.ReportFile, "$(") {
		problems = append(problems, "variable oloproof_report: the path has characters that a variable cannot hold")
		d.ReportFile = ""
	}
	rules := failingRules(d.Report)
	failing, listed := listOf(rules, azureText, azureValueBytes)
	if listed < len(rules) {
		problems = append(problems, fmt.Sprintf("variable oloproof_failing_rules: holds the first %d of %d rules", listed, len(rules)))
	}
	told, _ := listOf(problems, azureText, azureValueBytes)
	var commands []azureCommand
	for line := range strings.Lines(string(outputs(d, Outcome{}, failing, nil))) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		switch name {
		case OutputReportingProblems:
			value = told
		case OutputPolicyLoosened: // nothing is compared here, so that it would always be false
			continue
		}
		commands = append(commands, azureCommand{name: "task.setvariable", data: value,
			properties: []azureProperty{{"variable", "oloproof_" + strings.ReplaceAll(name, "-", "_")}, {"isoutput", "true"}}})
	}
	return commands, problems
}

// azureText is jsonText with every $ written as \u0024: Azure puts variables in place of $(name) in a value that is handed on
// to another job, secrets among them.
func azureText(text string) string { return strings.ReplaceAll(jsonText(text), "$", `\u0024`) }

// azureSummary writes the report to a file of its own in the agent's folder for temporary files, which the agent
// empties after the job, and returns its path. The page in the summary has the file's name. The agent uploads the file
// when it comes to it, so it stays; a path that the agent does not find would fail the step, so it is absolute.
func azureSummary(d Delivery, temp string) (string, error) {
	if temp == "" {
		return "", errors.New("AGENT_TEMPDIRECTORY is not set")
	}
	if !filepath.IsAbs(temp) {
		return "", errors.New("AGENT_TEMPDIRECTORY is not an absolute path")
	}
	var text bytes.Buffer
	if err := summary.Markdown(&text, d.Report, summary.Options{Unicode: true, MaxBytes: summaryBytes, FailOn: d.FailOn}); err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp(temp, "oloproof-") // several steps of a job share the folder
	if err != nil {
		return "", fmt.Errorf("AGENT_TEMPDIRECTORY: %w", err)
	}
	path := filepath.Join(folder, "Oloproof.md")
	// In a container the agent outside is another user, who must be able to read it.
	if err := errors.Join(os.Chmod(folder, 0o755), os.WriteFile(path, text.Bytes(), 0o644)); err != nil {
		return "", fmt.Errorf("AGENT_TEMPDIRECTORY: %w", err)
	}
	return path, nil
}

// azureSigns finds what begins a command of the agent. Invisible characters between the signs count as nothing.
var azureSigns = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`#([\p{M}\p{Cf}]*#)`) })

// azureLine returns a line of log without "##": the agent warns of every line with "##vso" that is no command of its
// own, and paints lines by what stands after "##".
func azureLine(line string) string {
	for azureSigns().MatchString(line) { // "###" holds two pairs
		line = azureSigns().ReplaceAllString(line, `#\$1`)
	}
	return line
}
