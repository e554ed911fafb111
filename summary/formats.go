package summary

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
)

// Format is one form of a report.
type Format struct {
	Name  string                                                  // as in --format NAME
	About string                                                  // one line for help
	Write func(w io.Writer, r *report.Report, opts Options) error // the error is w's, or says why the form cannot hold the report
}

// formats is the list: help, errors and documentation take their names from it.
var formats = []Format{
	{"terminal", "tables and drawn intervals for a terminal or a log", Terminal},
	{"markdown", "GitHub Flavored Markdown, as in a job summary", Markdown},
	{"html", "one page to open in a browser, with every interval drawn", HTML},
	{"json", "the published report, one document", JSON},
	{"junit", "JUnit XML, one test case a rule, for the test pages of CI platforms", JUnit},
	{"sarif", "SARIF 2.1.0, for code scanning and viewers of findings", SARIF},
	{"codequality", "GitLab's Code Quality report", CodeQuality},
	{"openmetrics", "OpenMetrics text, for Prometheus and GitLab's metrics report", OpenMetrics},
	{"dotenv", "variables for later jobs of a GitLab pipeline", Dotenv},
	{"model-card", "a block of Markdown of a stable shape, for a model card", ModelCard},
}

// Options are what a report's form depends on besides the report. The caller knows the terminal; a format
// asks the environment nothing. A format ignores what does not concern it.
type Options struct {
	Color    bool          // terminal: colour the verdicts
	Unicode  bool          // terminal: the output is UTF-8; plain ASCII without it
	Width    int           // terminal: cells in a line; 0 is 80, less than 40 is 40
	MaxBytes int           // markdown: the most bytes; 0 is 1,000,000
	FailOn   report.FailOn // which verdicts make the process fail, for the sentence on its exit status; nil is the default

	// junit, sarif, codequality: the path of a file that the report names, relative to the repository's top and with slashes; "" where it
	// is not in the repository. nil: as the report has it.
	Repository func(file string) string
}

// Formats returns every format, in the order shown.
func Formats() []Format { return slices.Clone(formats) }

// Names returns the names of every format, in the order shown.
func Names() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}

// Lookup finds a format by its exact name. The error lists the names, and the nearest where one is near.
func Lookup(name string) (Format, error) {
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
	}
	hint := ""
	if near := nearestName(name); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return Format{}, fmt.Errorf("unknown format %s; use %s%s", diag.Quote(name), strings.Join(Names(), ", "), hint)
}

// Target is a format and where it goes.
type Target struct {
	Format Format
	Path   string // "" is standard output
}

// ParseTarget reads "NAME[:PATH]". The name ends at the first colon, so a path may hold colons
// ("json:C:\report.json"); the path "-" is standard output.
func ParseTarget(text string) (Target, error) {
	name, path, hasPath := strings.Cut(text, ":")
	f, err := Lookup(name)
	if err != nil {
		return Target{}, err
	}
	if hasPath && path == "" {
		return Target{}, fmt.Errorf("format %s has a colon but no path; write %s for standard output, or %s:PATH", diag.Quote(text), f.Name, f.Name)
	}
	if path == "-" {
		path = ""
	}
	return Target{f, path}, nil
}

// nearestName returns the format that a name begins like or is near to; "" where none is.
func nearestName(name string) string {
	for _, f := range formats {
		if len(name) > 1 && strings.HasPrefix(f.Name, strings.ToLower(name)) {
			return f.Name
		}
	}
	return diag.Nearest(name, Names())
}
