package ci

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
)

// Platform is a CI platform that the program can speak to, by the name that --ci takes. PlatformNone is none of them.
type Platform string

// The platforms. GitHub Enterprise is PlatformGitHub at another address.
const (
	PlatformGitHub    Platform = "github"
	PlatformGitea     Platform = "gitea"
	PlatformForgejo   Platform = "forgejo"
	PlatformGitLab    Platform = "gitlab"
	PlatformAzure     Platform = "azure"
	PlatformBuildkite Platform = "buildkite"
	PlatformJenkins   Platform = "jenkins"
	PlatformNone      Platform = "none"
)

// PlatformAuto is what --ci takes for the platform that Detect finds.
const PlatformAuto = "auto"

// speech is what a platform is told and how it is known. A nil function is nothing to do.
type speech struct {
	name     Platform
	variable string // set where the program runs on the platform
	// deliver tells the platform of a run; see Deliver.
	deliver func(d Delivery, status int, w World) []string
	// group returns what makes lines of log one group; see Group.
	group func(title string, open bool, at time.Time) (before, after string)
	// line takes from a line of log what only this platform obeys; see NewLogOn.
	line func(string) string
}

// platforms lists the platforms in the order in which they are looked for: Forgejo sets Gitea's variables too, and both
// set GitHub's.
//
// JENKINS_URL is missing where a Jenkins has not been told its own address. Nothing is lost: Jenkins has no commands.
func platforms() []speech {
	return []speech{
		{PlatformForgejo, "FORGEJO_ACTIONS", gitea, nil, nil}, // runners before version 7 are taken for Gitea's
		{PlatformGitea, "GITEA_ACTIONS", gitea, nil, nil},
		{PlatformGitHub, "GITHUB_ACTIONS", gitHub, nil, nil},
		{PlatformGitLab, "GITLAB_CI", nil, gitLabGroup, nil},
		{PlatformAzure, "TF_BUILD", azure, nil, azureLine},
		{PlatformBuildkite, "BUILDKITE", nil, buildkiteGroup, buildkiteLine},
		{PlatformJenkins, "JENKINS_URL", nil, nil, nil},
		{PlatformNone, "", nil, nil, nil},
	}
}

// speech returns the platform's line of platforms, that of PlatformNone for a name which is not there.
func (p Platform) speech() speech {
	all := platforms()
	if i := slices.IndexFunc(all, func(s speech) bool { return s.name == p }); i >= 0 {
		return all[i]
	}
	return all[len(all)-1]
}

// Detect returns the platform that the program runs on, by the variable that each sets. A variable that is "false" or
// "0" counts as not set.
func Detect(getenv func(string) string) Platform {
	for _, s := range platforms() {
		if s.variable == "" {
			continue
		}
		switch strings.ToLower(getenv(s.variable)) {
		case "", "false", "0":
		default:
			return s.name
		}
	}
	return PlatformNone
}

// PlatformNames lists what --ci takes: PlatformAuto, then every platform's name.
func PlatformNames() []string {
	names := []string{PlatformAuto}
	for _, s := range platforms() {
		names = append(names, string(s.name))
	}
	return names
}

// ParsePlatform reads a value of --ci. PlatformAuto asks the environment; a name does not. The error of an unknown one
// lists the names, with the nearest first.
func ParsePlatform(text string, getenv func(string) string) (Platform, error) {
	names := PlatformNames()
	switch {
	case text == PlatformAuto:
		return Detect(getenv), nil
	case slices.Contains(names, text):
		return Platform(text), nil
	}
	hint := ""
	if near := diag.Nearest(text, names); near != "" {
		hint = "did you mean " + near + "? "
	}
	return PlatformNone, fmt.Errorf("%s is not a CI platform; %sAllowed: %s", diag.Quote(text), hint, strings.Join(names, ", "))
}

// World is what telling a platform takes from outside.
type World struct {
	Getenv func(string) string
	// Log takes the platform's commands: the step's standard output or standard error, at the beginning of a line. Text
	// from data goes to a log made by NewLogOn instead.
	Log io.Writer
	// Dir is the folder that the report's positions are relative to, as an absolute path: the working directory, in the
	// action the workspace. "" where it is not known.
	Dir string
}

// Deliver tells a platform of a run in its own language:
//
//	github           outputs, job summary, annotations (see GitHub)
//	gitea, forgejo   the same, as far as the runner takes it
//	azure            output variables, a summary page, issues, and "succeeded with issues"
//	gitlab, buildkite, jenkins, none
//	                 nothing: they read the log (see Group), the exit status and the files that were asked for
//
// status is the exit status that the process will end with. Deliver returns every reporting problem, d's included;
// whatever it returns, the status stays.
func Deliver(p Platform, d Delivery, status int, w World) []string {
	deliver := p.speech().deliver
	if deliver == nil {
		return slices.Clone(d.Problems)
	}
	return deliver(d, status, w)
}

// Group returns what to write before and after a report in a platform's log, for the platform to show it as one group
// that can be folded: GitLab and Buildkite. It is folded from the start where the run passed. Elsewhere both are empty.
// They are commands, for World.Log and not for a log of NewLogOn. The time now is only written to the log.
func Group(p Platform, r *report.Report, now time.Time) (before, after string) {
	group := p.speech().group
	if group == nil {
		return "", ""
	}
	title := "Oloproof"
	switch {
	case r.Verdict != report.NoVerdict:
		title += ": " + r.Verdict.String()
	case r.ExitStatus == report.ExitUnusable:
		title += ": nothing was decided"
	}
	return group(title, r.Verdict != report.Pass, now)
}

// NewLogOn returns a Log whose lines hold nothing that the platform obeys: what a Log takes out everywhere, and what
// only this platform reads.
func NewLogOn(p Platform, w io.Writer) *Log {
	if line := p.speech().line; line != nil {
		w = lineWriter{w, line}
	}
	return NewLog(w)
}

// lineWriter changes each line that is written. A Log writes whole lines to it.
type lineWriter struct {
	w    io.Writer
	line func(string) string
}

func (l lineWriter) Write(lines []byte) (int, error) {
	var b bytes.Buffer
	for line := range bytes.Lines(lines) {
		b.WriteString(l.line(string(line)))
	}
	if _, err := l.w.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(lines), nil
}

// gitHub tells GitHub Actions, whose places in files are relative to the workspace.
func gitHub(d Delivery, _ int, w World) []string {
	return GitHub(relativeTo(w.Getenv("GITHUB_WORKSPACE"), w.Dir, d), w.Getenv, w.Log)
}

// relativeTo returns the delivery with every place relative to root, where it was relative to the folder dir; a place
// in a dir outside of root becomes absolute. It is d itself where there is nothing to change. A run in a folder of the
// repository needs it: a platform matches the names of files with those in the repository.
func relativeTo(root, dir string, d Delivery) Delivery {
	within, err := filepath.Rel(root, dir)
	if root == "" || dir == "" || err == nil && within == "." {
		return d
	}
	if err != nil || !filepath.IsLocal(within) {
		within = dir
	}
	moved := func(name string) string {
		if name == "" || name == "-" || filepath.IsAbs(name) {
			return name
		}
		return filepath.ToSlash(filepath.Join(within, filepath.FromSlash(name)))
	}
	d.PolicyFile, d.ReportFile = moved(d.PolicyFile), moved(d.ReportFile)

	r := *d.Report
	r.Errors = slices.Clone(r.Errors)
	for i := range r.Errors {
		r.Errors[i].File = moved(r.Errors[i].File)
	}
	r.Gates = slices.Clone(r.Gates)
	for g := range r.Gates {
		rules := slices.Clone(r.Gates[g].Rules)
		for i := range rules {
			rules[i].Position.File = moved(rules[i].Position.File)
		}
		r.Gates[g].Rules = rules
	}
	r.PolicyChanges = slices.Clone(r.PolicyChanges)
	for i := range r.PolicyChanges {
		r.PolicyChanges[i].Position.File = moved(r.PolicyChanges[i].Position.File)
	}
	d.Report = &r
	return d
}
