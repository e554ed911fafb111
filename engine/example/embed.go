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

// All returns every example, in the order in which they are shown.
func All() []Example {
	return []Example{
		read("human-ai", "decisions.csv", policyName, workflowName),
		namingFiles(read("anchoring", "labels.csv", "draw.csv", "items.csv", policyName, workflowName)),
		read("compare", "trials.csv", policyName, workflowName),
		namingFiles(read("fairness", "decided.csv", declarationName, workflowName)),
	}
}

// read takes an example's files from the embedded ones, which are there or the program would not compile.
func read(gate string, names ...string) Example {
	e := Example{Gate: gate}
	for _, name := range names {
		text, _ := files.ReadFile(gate + "/" + name)
		e.Files = append(e.Files, File{name, string(text)})
	}
	return e
}

// namingFiles marks an example whose policy names its files.
func namingFiles(e Example) Example {
	e.namesFiles = true
	return e
}

// Find returns the example of a gate, or an error that lists the gates that have one.
func Find(gate string) (Example, error) {
	var gates []string
	for _, e := range All() {
		if e.Gate == gate {
			return e, nil
		}
		gates = append(gates, e.Gate)
	}
	return Example{}, fmt.Errorf("no example %s: allowed are %s", diag.Quote(gate), strings.Join(gates, ", "))
}
