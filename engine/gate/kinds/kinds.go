// Package kinds is the list of the gates, in the order of the specification. A new gate is added here.
package kinds

import (
	"slices"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/anchoring"
	"github.com/oloproof/oloproof/engine/gate/compare"
	"github.com/oloproof/oloproof/engine/gate/fairness"
	"github.com/oloproof/oloproof/engine/gate/humanai"
	"github.com/oloproof/oloproof/engine/policy"
)

// All returns every gate.
func All() []gate.Gate {
	return []gate.Gate{
		humanai.Gate{},
		anchoring.Gate{},
		compare.Gate{},
		fairness.Gate{},
	}
}

// Lookup returns the gate with that name; nil where there is none.
func Lookup(name string) gate.Gate {
	all := All()
	if i := slices.IndexFunc(all, func(g gate.Gate) bool { return g.Name() == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// Names returns the gates' names on the command line.
func Names() []string {
	var names []string
	for _, g := range All() {
		names = append(names, g.Name())
	}
	return names
}

// Sections lists the sections that a release file can hold.
func Sections() []policy.SectionSpec {
	var specs []policy.SectionSpec
	for _, g := range All() {
		specs = append(specs, policy.SectionSpec{Key: g.Section(), Gate: g.Name()})
	}
	return specs
}
