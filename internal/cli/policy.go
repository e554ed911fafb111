package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// policyCommand is `policy check` and `policy diff`.
func (a *app) policyCommand() *cobra.Command {
	parent := &cobra.Command{
		Use: "policy", Short: "Check policies without data, and say what a change loosens", Args: noCommand,
		Long:    "Check policies without data: what is wrong with them, which rules can never pass or fail, and what a change loosens.",
		Example: "  oloproof init --example human-ai study\n  oloproof policy check study/policy.yaml",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	gateName := ""
	check := &cobra.Command{
		Use: "check POLICY…", Short: "Check policies, and say which rules can never pass or fail",
		Long: `Read each policy without data and report everything that is wrong with it. Where the number of units is
planned, say which rules can never pass or never fail at that number. Exit status 0 or 2.`,
		Example: "  oloproof init --example human-ai study\n  oloproof policy check study/policy.yaml",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("policy check needs a policy, such as `oloproof policy check policy.yaml`")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.checkPolicies(args, gateName) },
	}
	check.Flags().StringVar(&gateName, "gate", gateName, "the `GATE` of a policy without sections: "+strings.Join(kinds.Names(), ", ")+" (default: the one it suits)")
	beside := false
	diff := &cobra.Command{
		Use: "diff OLD NEW", Short: "Say what a new version of a policy loosens",
		Long: `Compare two versions of a policy, and say what the new one loosens: a threshold moved to the easy side, a rule
removed or made advisory, another metric, a waiver, a lower confidence, other looks or another plan; and what else it
counts in another way, such as a narrower slice, groups taken out, other columns or files. What only tightens is not
told. The two are compared as they are written; whether they can be used is for policy check to say. Exit status: 0
nothing is told, 1 something is, be it looser or for a person to look at, 2 a policy cannot be read.`,
		Example: "  oloproof init --example human-ai study\n  oloproof policy diff study/policy.yaml study/policy.yaml",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("policy diff needs two policies, the old one first, such as `oloproof policy diff old.yaml policy.yaml`")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.diffPolicies(args[0], args[1], beside) },
	}
	diff.Flags().BoolVar(&beside, "beside", false, "they stand beside a declaration, whose settings hold where they say nothing")
	parent.AddCommand(check, diff)
	return parent
}

// diffPolicies says what one file loosens against another.
func (a *app) diffPolicies(old, new string, beside bool) error {
	diags := &diag.List{}
	var texts [2][]byte
	for i, path := range []string{old, new} {
		var err error
		if texts[i], err = readFile(nil, path, maxPolicy); err != nil {
			diags.Addf(diag.Pos{File: path}, "cannot read the policy: %s", reason(err))
		}
	}
	if diags.Len() > 0 {
		return a.unusable(diags)
	}
	changes := a.policyChanges([2]string{old, new}, texts, nil, beside, diags)
	if diags.Len() > 0 {
		return a.unusable(diags)
	}
	if len(changes) > 0 { // also what is not known to loosen: a narrower slice can be all that a PASS takes
		a.status = report.ExitFail
	}
	loosened := 0
	for _, c := range changes {
		what := "changed: "
		if c.Loosens {
			what, loosened = "LOOSER: ", loosened+1
		}
		a.tell(a.Stdout, c.Position.String()+": "+what+c.Message)
	}
	switch rest := len(changes) - loosened; {
	case loosened > 0:
		a.tell(a.Stdout, fmt.Sprintf("%s is looser than %s in %s", new, old, countOf(loosened, "place")))
	case rest > 0:
		a.tell(a.Stdout, fmt.Sprintf("%s is not known to be looser than %s; a person should look at %s", new, old, countOf(rest, "change")))
	default:
		a.tell(a.Stdout, fmt.Sprintf("%s is not looser than %s", new, old))
	}
	return nil
}

// policyChanges says what the second of two versions of a policy loosens. What is wrong with either goes to diags. g is the
// gate that bare rules belong to, nil where their own keys say it. beside says that they stand beside a declaration.
func (a *app) policyChanges(paths [2]string, texts [2][]byte, g gate.Gate, beside bool, diags *diag.List) []report.PolicyChange {
	var documents [2]*policy.Document
	bare := kinds.Lookup("human-ai")
	for i, text := range texts {
		if documents[i] = policy.Parse(paths[i], text, diags); documents[i] == nil {
			continue
		}
		if own := gateOfKeys(documents[i].Root); own != nil {
			bare = own
		}
	}
	if g != nil {
		bare = g
	}
	if documents[0] == nil || documents[1] == nil || diags.Len() > 0 {
		return nil
	}
	var list []report.PolicyChange
	for _, c := range policy.Changes(documents[0], documents[1], kinds.Sections(), bare.Section(), beside) {
		list = append(list, report.PolicyChange{Loosens: c.Loosens, Message: c.Message, Position: c.Pos})
	}
	return list
}

// checkPolicies checks each policy by itself. gateName is the gate of those without sections; "" tries every gate and
// takes the one that finds the fewest problems.
func (a *app) checkPolicies(paths []string, gateName string) error {
	candidates := kinds.All()
	if gateName != "" {
		g := kinds.Lookup(gateName)
		if g == nil {
			return usagef("--gate is %q; write one of %s", gateName, strings.Join(kinds.Names(), ", "))
		}
		candidates = []gate.Gate{g}
	}
	all := &diag.List{}
	for _, path := range paths {
		var parts []part
		var diags *diag.List
		tries := candidates
		if g := a.ownGate(path); g != nil && gateName == "" {
			tries = []gate.Gate{g}
		}
		for _, g := range tries {
			tried, problems := a.checkPolicy(path, g)
			if diags == nil || problems.Len() < diags.Len() {
				parts, diags = tried, problems
			}
		}
		if diags.Len() > 0 {
			all.Merge(diags)
			continue
		}
		var names []string
		var prospects []diag.Diagnostic
		rules := 0
		for _, part := range parts {
			if name := part.gate.Name(); !slices.Contains(names, name) {
				names = append(names, name)
			}
			rules += len(part.question.Rules())
			prospects = append(prospects, part.question.Prospects()...)
		}
		a.tell(a.Stdout, path+": can be used by "+strings.Join(names, " and ")+", "+countOf(rules, "rule"))
		slices.SortStableFunc(prospects, func(x, y diag.Diagnostic) int {
			return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column))
		})
		for _, p := range prospects {
			a.tell(a.Stdout, p.String())
		}
	}
	if all.Len() > 0 {
		return a.unusable(all)
	}
	return nil
}

// checkPolicy compiles one policy without data; bare rules are g's.
func (a *app) checkPolicy(path string, g gate.Gate) ([]part, *diag.List) {
	diags := &diag.List{}
	p := a.loadPolicy(request{verb: gate.Decide, gate: g}, path, diags)
	var parts []part
	if p != nil {
		for i, s := range p.Sections {
			own := gateOf(s.Key)
			parts = append(parts, part{gate: own, question: own.Compile(
				gate.Source{Verb: gate.Decide, Section: &p.Sections[i], Settings: s.Settings, NoFiles: true}, diags)})
		}
	}
	checkRules(p, parts, diags)
	return parts, diags
}

// ownKeys are the keys of a section that only one gate has, by gate. A file without sections that holds one is that
// gate's.
var ownKeys = map[string][]string{
	"human-ai":  {"decisions", "design", "assignment", "abstain"},
	"anchoring": {"labels", "draw", "corpus_size", "minimum_blind_sample", "least_inclusion_probability"},
	"compare":   {"trials", "case_list", "plan", "baseline", "candidate"},
	"fairness":  {"cases", "attributes", "intersections", "min_cell"},
}

// gateOfKeys returns the gate whose keys a mapping holds, nil where it holds those of none or of several.
func gateOfKeys(root *policy.Map) gate.Gate {
	var found []string
	for name, keys := range ownKeys {
		if slices.ContainsFunc(keys, root.Has) {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return kinds.Lookup(found[0])
}

// ownGate returns the gate that a policy file without sections is clearly for; nil where that cannot be told.
func (a *app) ownGate(path string) gate.Gate {
	data, err := readFile(nil, path, maxPolicy)
	if err != nil {
		return nil
	}
	document := policy.Parse(path, data, &diag.List{})
	if document == nil {
		return nil
	}
	return gateOfKeys(document.Root)
}
