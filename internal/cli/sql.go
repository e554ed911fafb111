package cli

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/sql"
)

// sqlCommand is `sql`.
func (a *app) sqlCommand() *cobra.Command {
	req := request{verb: gate.Tally, noFiles: true}
	var dialect, from, gateName string
	var has []string
	cmd := &cobra.Command{
		Use:   "sql POLICY --dialect DIALECT --from TABLE",
		Short: "Print a query that counts the rows where they are stored",
		Long: `Print one query whose result is a tally: run it where the rows are stored, save the result with its header as CSV, or as
JSONL, and decide it with --tally. POLICY is a declaration of fairness, or a policy of compare; of a release file it is
the section of one of these gates.

The table has the columns that the policy names, of any type; text, whole numbers, booleans and decimals come to the
same as reading rows. Only quoted names and texts of the policy get into the query. duckdb can also read a file: a name
that ends in .csv, .jsonl or .parquet.`,
		Example: "  oloproof init --example fairness study\n  oloproof sql study/fairness.yaml --dialect postgres --from public.decided > count.sql",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("sql takes one policy; the table goes to --from")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var problems []error
			switch {
			case len(args) == 1:
				req.policy = args[0]
			case req.beside != "":
				req.policy, req.beside = req.beside, ""
			default:
				problems = append(problems, usagef("sql needs a policy, such as `oloproof sql fairness.yaml --dialect duckdb --from decided.csv`"))
			}
			query := gate.Query{Source: from, Has: has}
			var known bool
			if query.Dialect, known = sql.Lookup(dialect); !known {
				hint := ""
				if near := diag.Nearest(dialect, sql.Names()); near != "" {
					hint = " (did you mean " + near + "?)"
				}
				problems = append(problems, usagef("--dialect is %s%s; write one of %s", diag.Quote(dialect), hint, strings.Join(sql.Names(), ", ")))
			}
			if from == "" {
				problems = append(problems, usagef("--from is missing; name the table that has the rows, such as --from public.decided"))
			}
			if g := kinds.Lookup(gateName); gateName != "" && (g == nil || !gateTexts[gateName].tallied) {
				problems = append(problems, usagef("--gate is %s; write one of %s", diag.Quote(gateName), strings.Join(talliedGates(), ", ")))
			}
			if err := errors.Join(problems...); err != nil {
				return err
			}
			return a.query(req, query, gateName)
		},
	}
	f := cmd.Flags()
	f.StringVar(&dialect, "dialect", "", "the `DIALECT`: "+strings.Join(sql.Names(), ", "))
	f.StringVar(&from, "from", "", "the `TABLE` that has the rows, its parts joined by dots; for duckdb also a file")
	f.StringSliceVar(&has, "has", nil, "optional `COLUMNS` that the table has: label (fairness); trial, and score in place of passed (compare)")
	f.StringVar(&gateName, "gate", "", "of a policy that suits several, the `GATE` that is meant: "+strings.Join(talliedGates(), ", "))
	req.countingFlags(cmd, &req.beside)
	must(cmd.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(sql.Names(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// talliedGates are the gates whose rows can be counted in one place and decided in another.
func talliedGates() []string {
	var list []string
	for _, name := range kinds.Names() {
		if gateTexts[name].tallied {
			list = append(list, name)
		}
	}
	return list
}

// query prints a query for a policy. gateName is the gate that was named, or empty.
func (a *app) query(req request, ask gate.Query, gateName string) error {
	diags := &diag.List{}
	text, err := readFile(nil, req.policy, maxPolicy)
	if err != nil {
		diags.Addf(diag.Pos{File: req.policy}, "cannot read the policy: %s", reason(err))
		return a.unusable(diags)
	}
	req.texts = map[string][]byte{req.policy: text}
	if gateName == "" {
		gateName = a.talliedGate(req.policy, text, diags)
	}
	if gateName == "" {
		return a.unusable(diags)
	}
	req.gate, req.declared = kinds.Lookup(gateName), gateTexts[gateName].declaration != ""
	out := ""
	if _, counter := a.counter(req, diags); counter != nil && diags.Len() == 0 {
		out = counter.Query(ask, diags)
	}
	if diags.Len() > 0 {
		return a.unusable(diags)
	}
	_, err = io.WriteString(a.Stdout, out)
	return err
}

// talliedGate is the gate that a policy is of, among those that have tallies; "" where that cannot be told, which is reported.
func (a *app) talliedGate(path string, text []byte, diags *diag.List) string {
	problems := &diag.List{}
	p := policy.Parse(path, text, problems)
	if p == nil {
		diags.Merge(problems)
		return ""
	}
	var found []string
	for _, g := range kinds.All() {
		if p.Root.Has(g.Section()) && gateTexts[g.Name()].tallied {
			found = append(found, g.Name())
		}
	}
	sections := slices.ContainsFunc(kinds.Sections(), func(s policy.SectionSpec) bool { return p.Root.Has(s.Key) })
	switch {
	case len(found) == 1:
		return found[0]
	case len(found) > 1:
		diags.Addf(p.Pos(), "the policy has sections of several gates; name the one that is meant with --gate: %s", strings.Join(found, ", "))
		return ""
	case sections:
		diags.Addf(p.Pos(), "the policy has no section of a gate that has tallies: %s", strings.Join(talliedGates(), ", "))
		return ""
	case p.Root.Has("attributes"): // without which there is no declaration of fairness
		return "fairness"
	}
	return "compare"
}
