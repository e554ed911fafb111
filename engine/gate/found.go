package gate

import (
	"strings"

	"fmt"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
)

// Found collects findings and where in the files they were made. The zero value is empty.
type Found struct {
	Findings []report.Finding
	Located  []Located
}

// Add adds a finding where count is above zero.
func (f *Found) Add(code string, severity report.Severity, count int, format string, args ...any) {
	if count > 0 {
		f.Findings = append(f.Findings, report.Finding{Code: code, Severity: severity, Message: fmt.Sprintf(format, args...), Count: count})
	}
}

// At adds a place of a finding.
func (f *Found) At(code string, pos diag.Pos) {
	f.Located = append(f.Located, Located{Code: code, Pos: pos})
}

// mostForms is how many groups of values that differ only in form a finding names.
const mostForms = 3

// AddForms adds a finding where values differ only in letter case, inner white space, invisible characters or Unicode
// form; its count is that of the values. what names them, in the plural.
func AddForms[V any](f *Found, code, what string, values map[string]V) {
	groups := Forms(values)
	var shown []string
	count := 0
	for i, group := range groups {
		count += len(group)
		if i < mostForms {
			shown = append(shown, Quoted(group))
		}
	}
	text := strings.Join(shown, "; ")
	if more := len(groups) - len(shown); more > 0 {
		text += "; and " + Plural(more, "more group", "more groups")
	}
	f.Add(code, report.Warning, count, "The %s %s differ only in letter case, spaces or Unicode form; values are compared as text, so write each one way.", what, text)
}

// LeftOut lists the reasons with a count above zero: reason, count, reason, count …
func LeftOut(pairs ...any) []report.LeftOut {
	var list []report.LeftOut
	for i := 0; i < len(pairs); i += 2 {
		if n := pairs[i+1].(int); n > 0 {
			list = append(list, report.LeftOut{Reason: pairs[i].(string), Count: n})
		}
	}
	return list
}
