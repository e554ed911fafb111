package cli

import (
	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/report"
)

// renderCommand is `render REPORT`.
func (a *app) renderCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "render REPORT",
		Short: "Write a stored report in other formats",
		Long: `Write the JSON report of an earlier run in other formats. Nothing is decided again and no other file is read: every
format is made from the report. It is read strictly, since it may be a stranger's: a report that contradicts itself
is refused.

Exit status: 0 it was written, whatever its verdict is; 2 it cannot be read, or a format cannot be written.`,
		Example: "  oloproof gate --example --format json:report.json\n  oloproof render report.json --format junit",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("render needs one JSON report, such as `oloproof render report.json --format junit:report.xml`")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.render(args[0], out) },
	}
	out.formatFlags(cmd)
	out.prefixFlag(cmd)
	out.failOnFlag(cmd)
	return cmd
}

// render writes a stored report.
func (a *app) render(path string, o output) error {
	s, err := a.open(o)
	if err != nil {
		return err
	}
	s.stored = true
	r, _, err := a.loadReport(nil, path, report.MaxBytes)
	if err != nil {
		return usagef("%w", err)
	}
	for _, problem := range s.everywhere(r) {
		a.tell(a.Stderr, "oloproof: "+problem.Error())
		a.status = report.ExitUnusable
	}
	return nil
}
