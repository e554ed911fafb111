package gate

import (
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// Term is one condition of a rule's `where`: a column must hold a value.
type Term struct {
	Column int // an index into Slicing.Columns
	Value  string
}

// Slicing collects the columns that the rules of a question slice by, each once, in the order first named.
type Slicing struct{ Columns []string }

// SliceAssumption is what a rule with `where` rests on beside its interval.
const SliceAssumption = "The slice was chosen before the results were seen."

// Terms returns the terms of a rule's `where`, all of which must hold, and the slice's name for labels:
// "column=value, column=value" in the policy's order, "" where the rule takes every row.
func (s *Slicing) Terms(where []policy.Pair) (terms []Term, name string) {
	var parts []string
	for _, w := range where {
		i := slices.Index(s.Columns, w.Key.Value)
		if i < 0 {
			i = len(s.Columns)
			s.Columns = append(s.Columns, w.Key.Value)
		}
		value := strings.TrimSpace(w.Value.Value) // as the files' values are
		terms = append(terms, Term{i, value})
		parts = append(parts, w.Key.Value+"="+value)
	}
	return terms, strings.Join(parts, ", ")
}

// Folder is the folder of a policy's file, as a path with forward or native separators as given; "." where the
// file has none.
func Folder(file string) string {
	if i := strings.LastIndexAny(file, `/\`); i >= 0 {
		return file[:i+1]
	}
	return "."
}

// NotRead notes that files of a policy were not read because files were named on the command line.
func NotRead(key string, paths []policy.Text) []report.Finding {
	var notes []report.Finding
	for _, p := range paths {
		notes = append(notes, report.Finding{Code: "policy_file_not_read", Severity: report.Note,
			Message: "The policy's `" + key + ": " + p.Value + "` was not read: files were named on the command line.", Count: 1})
	}
	return notes
}

// NoteThresholds turns the findings of reading a policy's rules into the report's.
func NoteThresholds(findings []policy.Finding) []report.Finding {
	var notes []report.Finding
	for _, f := range findings {
		notes = append(notes, report.Finding{Code: f.Code, Severity: report.Warning, Message: f.Message + ".", Count: 1})
	}
	return notes
}
