package cli

import (
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
	"github.com/oloproof/oloproof/summary/ci"
)

// actionInputs is what a workflow asks of the action. Paths are relative to the workspace and clean.
type actionInputs struct {
	policy      string
	declaration string // of a gate that has one, where the policy stands beside it; "" for none
	decisions   []string
	assignment  string
	draw        string
	tallies     []string  // in place of decisions
	baseline    string    // compare: a version, or a file where there are no decisions
	candidate   string    // likewise
	gate        gate.Gate // nil where no gate is named
	failOn      report.FailOn
	summary     bool
	annotations bool
	reports     []reportInput // the report's files, in the order of the formats

	baselineReport string // an earlier JSON report
	ledger         string // of looks; "" for none
	ledgerReadOnly bool
	policyRef      string // policyHead, policyBase, or "" where the event decides
	prefix         ci.Prefix
	comment        ci.Mode
	issue          bool   // open one while there are problems, and close it when there are none
	commentKey     string // "" where the policy's path is the key
	token          string
	fromReport     string // a JSON report to comment from, in place of deciding
	pullRequest    int    // 0: the event's
}

// reportInput is an input that names a file for the report in one format: it is called as the format is.
type reportInput struct {
	format summary.Format
	path   string
}

// reportFormats are the formats that an input names a file for: all but that of the log.
func reportFormats() []summary.Format {
	return slices.DeleteFunc(summary.Formats(), func(f summary.Format) bool { return f.Name == "terminal" })
}

// Where the policy of a pull request is read from.
const (
	policyHead = "head" // the workspace: the pull request's own
	policyBase = "base" // the branch that it is to be merged into
)

// readInputs reads every input of a step, which may be one of a pull request. What is wrong goes to diags; such an input has
// its default.
func (a *app) readInputs(workspace string, pullRequest bool, diags *diag.List) actionInputs {
	action := githubactions.New(githubactions.WithGetenv(a.Getenv))
	get := action.GetInput
	wrong := func(name, format string, args ...any) {
		diags.Addf(diag.Pos{}, "input "+name+": "+format, args...)
	}
	folder := "."
	locate := func(name, value string) string {
		inside, err := inWorkspace(workspace, folder, value)
		if err != nil {
			wrong(name, "%s %v", diag.Quote(value), err)
		}
		return inside
	}
	boolean := func(name string) bool {
		switch value := get(name); value { // the booleans of the YAML 1.2 core schema
		case "", "true", "True", "TRUE":
			return true
		case "false", "False", "FALSE":
			return false
		default:
			wrong(name, "%s is not allowed; write true or false", diag.Quote(value))
			return true
		}
	}

	if value := get("working-directory"); value != "" {
		folder = locate("working-directory", value)
	}
	in := actionInputs{summary: boolean("summary"), annotations: boolean("annotations")}
	file := func(name string) string {
		if value := get(name); value != "" {
			return locate(name, value)
		}
		return ""
	}
	in.policy, in.declaration, in.fromReport = file("policy"), file("declaration"), file("from-report")
	in.assignment, in.draw, in.baselineReport = file("assignment"), file("draw"), file("baseline-report")
	in.ledger = file("ledger")
	var idle []string // what is given and has no meaning beside from-report
	deciding := []string{"policy", "declaration", "decisions", "tally", "gate", "assignment", "draw", "baseline", "candidate", "baseline-report", "ledger", "policy-ref"}
	for _, f := range reportFormats() {
		deciding = append(deciding, f.Name)
		if path := file(f.Name); path != "" {
			for _, other := range in.reports {
				if other.path == path {
					wrong(f.Name, "%s is the file of input %s; give it a path of its own", diag.Quote(path), other.format.Name)
				}
			}
			in.reports = append(in.reports, reportInput{f, path})
		}
	}
	for _, name := range deciding {
		if get(name) != "" {
			idle = append(idle, name)
		}
	}
	switch {
	case in.fromReport != "" && idle != nil:
		wrong("from-report", "with it nothing is decided, and %s would be for a step that decides; leave them empty, or from-report", strings.Join(idle, ", "))
	case in.policy == "" && in.declaration != "":
		in.policy, in.declaration = in.declaration, "" // alone it is the policy
	case in.policy == "" && in.fromReport == "":
		wrong("policy", "it is empty; name the policy, a YAML file in the workspace")
	}
	paths := func(name string) (list []string) {
		for line := range strings.Lines(get(name)) {
			if line = strings.TrimSpace(line); line != "" {
				list = append(list, locate(name, line))
			}
		}
		return list
	}
	in.decisions, in.tallies = paths("decisions"), paths("tally")
	if len(in.decisions) > 0 && len(in.tallies) > 0 {
		wrong("tally", "it takes the place of files of rows, and decisions names some; leave one of the two empty")
	}
	in.baseline, in.candidate = get("baseline"), get("candidate")
	if len(in.decisions) == 0 && len(in.tallies) == 0 { // then they are files
		if in.baseline != "" {
			in.baseline = locate("baseline", in.baseline)
		}
		if in.candidate != "" {
			in.candidate = locate("candidate", in.candidate)
		}
	}
	if value := get("gate"); value != "" {
		if in.gate = kinds.Lookup(value); in.gate == nil {
			hint := ""
			if near := diag.Nearest(value, kinds.Names()); near != "" {
				hint = "; did you mean " + near + "?"
			}
			wrong("gate", "%s is not a gate; write one of %s%s", diag.Quote(value), strings.Join(kinds.Names(), ", "), hint)
		}
	}
	var err error
	if in.failOn, err = report.ParseFailOn(get("fail-on")); err != nil {
		wrong("fail-on", "%v", err)
	}
	in.commentKey, in.token = get("comment-key"), get("github-token")
	if in.prefix, err = ci.ParsePrefix(get("path-prefix")); err != nil {
		wrong("path-prefix", "%v", err)
	}
	if in.comment, err = ci.ParseMode(get("comment")); err != nil {
		wrong("comment", "%v", err)
	}
	switch value := get("issue"); strings.ToLower(value) {
	case "", "never":
	case "problems":
		in.issue = true
	default:
		wrong("issue", "%s is not allowed; write never or problems", diag.Quote(value))
	}
	switch in.policyRef = strings.ToLower(get("policy-ref")); in.policyRef {
	case "", policyHead, policyBase:
	default:
		wrong("policy-ref", "%s is not allowed; write head or base", diag.Quote(in.policyRef))
	}
	if value := get("pr-number"); value != "" {
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 1 {
			wrong("pr-number", "%s is not the number of a pull request", diag.Quote(value))
		}
		in.pullRequest = n
	}
	switch {
	case in.fromReport != "" && in.issue:
		wrong("issue", "an issue is kept by the step that decides, and from-report only writes a comment; leave one of the two empty")
	case in.fromReport == "" && in.pullRequest != 0:
		wrong("pr-number", "it goes with from-report; a step that decides comments on its own pull request")
	}
	switch value := strings.ToLower(get("ledger-read-only")); {
	case value == "": // a pull request's looks are not the branch's
		in.ledgerReadOnly = pullRequest
	case in.ledger == "":
		wrong("ledger-read-only", "it is for the file of input ledger, which is empty; name one, or leave both empty")
	default:
		in.ledgerReadOnly = boolean("ledger-read-only")
	}
	return in
}

// inWorkspace returns a path, relative to a folder of the workspace, as a clean path relative to the
// workspace. An absolute path inside is made relative. Reading goes through os.Root, which refuses what
// this cannot see: symbolic links that lead out.
func inWorkspace(workspace, folder, name string) (string, error) {
	name, workspace = filepath.ToSlash(name), path.Clean(filepath.ToSlash(workspace))
	if path.IsAbs(name) {
		inside, ok := strings.CutPrefix(path.Clean(name)+"/", strings.TrimSuffix(workspace, "/")+"/")
		if !ok {
			return "", errors.New("is outside the workspace; write a path inside it")
		}
		name = path.Clean(inside)
	} else {
		name = path.Join(folder, name)
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", errors.New("leads out of the workspace; write a path inside it")
	}
	return name, nil
}
