// Package example holds one complete example per gate: data, policy and a workflow to paste. The data are
// drawn by the seeded generators of this package and embedded, so that they are the same everywhere.
package example

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
)

// Example is everything that shows one gate at work.
type Example struct {
	Gate  string // the gate's name on the command line
	Files []File // the data first, then the policy, then the workflow
}

// File is one file of an example.
type File struct {
	Name string // base name; the policy and the workflow refer to their neighbours by it
	Text string
}

// The embedded files. The data are what the generator of the same name writes; a test compares them.
var (
	//go:embed human-ai/decisions.csv
	humanAIDecisions string
	//go:embed human-ai/policy.yaml
	humanAIPolicy string
	//go:embed human-ai/workflow.yml
	humanAIWorkflow string
)

// All returns every example, in the order in which they are shown.
func All() []Example {
	return []Example{
		{Gate: "human-ai", Files: []File{
			{"decisions.csv", humanAIDecisions},
			{"policy.yaml", humanAIPolicy},
			{"workflow.yml", humanAIWorkflow},
		}},
	}
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
