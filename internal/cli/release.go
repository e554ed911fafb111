package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/example"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/report"
)

// releaseCommand is `gate RELEASE.yaml`.
func (a *app) releaseCommand() *cobra.Command {
	req := request{verb: gate.Decide}
	var out output
	var examples bool
	var delimiter string
	cmd := &cobra.Command{
		Use:   "gate RELEASE.yaml",
		Short: "Decide every section of a release file, or the embedded examples",
		Long: `Decide every section of a release file and exit with the worst verdict. The file holds one section a
gate (` + strings.Join(sectionKeys(), ", ") + `), each with its own files, named relative to the release file.

--tally reads tallies, written by ` + "`oloproof tally` or by a query of `oloproof sql`" + `, in place of the files of the
sections that they belong to.

--example decides every embedded example instead, as a demonstration: it prints the reports and the exit
status that a real run would end with, and itself exits 0 when every example was decided.`,
		Example: "  oloproof gate --example",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case examples && len(args) > 0:
				return usagef("gate --example takes no file")
			case examples && out.ledger != "":
				return usagef("gate --example decides no data of yours; leave --ledger out")
			case examples && len(req.tallies) > 0:
				return usagef("gate --example takes no --tally")
			case !examples && len(args) > 1 && len(req.tallies) > 0:
				return usagef("gate takes one release file; put a glob after --tally in quotes, such as --tally 'part*.json'")
			case !examples && len(args) != 1:
				return usagef("gate takes one release file, such as `oloproof gate release.yaml`, or --example; for one gate's own file use `oloproof %s gate`", kinds.Names()[0])
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if examples {
				return a.examples(out)
			}
			var wrong error
			req.delimiter, wrong = parseDelimiter(delimiter)
			req.policy = args[0]
			return a.finish(req, out, errors.Join(wrong, checkFlags(req)))
		},
	}
	f := cmd.Flags()
	f.BoolVar(&examples, "example", false, "decide the embedded examples")
	f.StringVar(&delimiter, "delimiter", "", "the `CHARACTER` between CSV fields: , ; | or tab (default: found from the header)")
	f.StringVar(&req.today, "today", "", "the `DAY` that waivers are compared with, YYYY-MM-DD in UTC (default: today)")
	f.BoolVar(&req.flags.ShowUnits, "show-reviewers", false, "name reviewers in errors and findings")
	req.assumeFlag(cmd)
	req.tallyFlag(cmd)
	out.decidingFlags(cmd)
	out.flags(cmd)
	return cmd
}

// sectionKeys are the sections known so far.
func sectionKeys() []string {
	var keys []string
	for _, s := range kinds.Sections() {
		keys = append(keys, s.Key)
	}
	return keys
}

// examples decides every embedded example, each by its own policy, in one report.
func (a *app) examples(o output) error {
	s, err := a.open(o)
	if err != nil {
		return err
	}
	earlier, err := a.loadBaseline(nil, o.baselineReport)
	if err != nil {
		return usagef("--baseline-report: %w", err)
	}
	all := report.New(a.Version)
	for _, e := range example.All() {
		in := func(names ...string) []string {
			for i, name := range names {
				names[i] = e.Gate + "/" + name
			}
			return names
		}
		r := a.run(request{verb: gate.Decide, gate: kinds.Lookup(e.Gate), policy: in(e.Policy())[0], declared: e.Declared(), files: in(e.Decisions()...), fs: example.FS()})
		if r.ExitStatus == report.ExitUnusable {
			a.status = s.write(r)
			return nil
		}
		for i := range r.Inputs {
			r.Inputs[i].Gate = e.Gate
		}
		all.Gates, all.Inputs = append(all.Gates, r.Gates...), append(all.Inputs, r.Inputs...)
		all.Policies, all.Confidence = append(all.Policies, *r.Policy), r.Confidence
	}
	all.Decide()
	earlier.compare(all)
	s.quiet = true
	status := s.write(all)
	if !o.quiet {
		fmt.Fprintf(a.Stderr, "The examples are decided; a real run would end with exit status %d\n", status)
	}
	return nil
}
