// Package example holds one complete example per gate: data, policy and a workflow to paste. The data are
// drawn by the seeded generators of this package (or are a lesson's own, written by one) and embedded, so that they are
// the same everywhere.
package example

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
)

// The embedded files, one folder a gate. The data are what the generator of the same name writes; a test
// compares them.
//
//go:embed human-ai anchoring compare fairness
var files embed.FS

// The names that every example's files have, beside its data.
const (
	policyName      = "policy.yaml"
	declarationName = "fairness.yaml" // in its place, where the gate has a declaration of its own
	workflowName    = "workflow.yml"
)

// Example is everything that shows one gate at work.
type Example struct {
	Gate  string // the gate's name on the command line; also the folder of its files
	Files []File // the data first, then the policy, then the workflow

	namesFiles bool // the policy names the data files, among which not all hold decisions
}

// File is one file of an example.
type File struct {
	Name string // base name; the policy and the workflow refer to their neighbours by it
	Text string
}

// Policy is the name of the example's policy, or of the gate's own declaration, among its files.
func (e Example) Policy() string { return e.Files[len(e.Files)-2].Name }

// Declared reports whether Policy is the gate's own declaration, which names the data files itself.
func (e Example) Declared() bool { return e.Policy() == declarationName }

// Decisions are the names of the data files that a command line has to name: none where the policy names its own.
func (e Example) Decisions() []string {
	if e.namesFiles {
		return nil
	}
	var names []string
	for _, f := range e.Files[:len(e.Files)-2] {
		names = append(names, f.Name)
	}
	return names
}

// FS holds every example in a folder named after its gate, so that they can be decided without being written anywhere.
func FS() fs.FS { return files }

// examples are the files of each example, in the order in which they are shown.
var examples = []struct {
	gate       string
	files      []string
	namesFiles bool
}{
	{"human-ai", []string{"decisions.csv", policyName, workflowName}, false},
	{"anchoring", []string{"labels.csv", "draw.csv", "items.csv", policyName, workflowName}, true},
	{"compare", []string{"trials.csv", policyName, workflowName}, false},
	{"fairness", []string{"decided.csv", declarationName, workflowName}, true},
}

// Gates are the gates that have an example, in the order in which they are shown.
func Gates() []string {
	var gates []string
	for _, e := range examples {
		gates = append(gates, e.gate)
	}
	return gates
}

// All returns every example, in the order of Gates.
func All() []Example {
	var all []Example
	for _, gate := range Gates() {
		e, _ := Find(gate)
		all = append(all, e)
	}
	return all
}

// Find returns the example of a gate, or an error that lists the gates that have one.
func Find(gate string) (Example, error) {
	for _, e := range examples {
		if e.gate != gate {
			continue
		}
		found := Example{Gate: gate, namesFiles: e.namesFiles}
		for _, name := range e.files {
			text, _ := files.ReadFile(gate + "/" + name) // which is there, or a test would say so
			found.Files = append(found.Files, File{name, string(text)})
		}
		return found, nil
	}
	return Example{}, fmt.Errorf("no example %s: allowed are %s", diag.Quote(gate), strings.Join(Gates(), ", "))
}
