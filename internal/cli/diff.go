package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// diffCommand is `diff OLD NEW`.
func (a *app) diffCommand() *cobra.Command {
	var formats []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say what changed between two reports, rule by rule",
		Long: `Compare two JSON reports of runs that came to a verdict, rule by rule: verdict, estimate, interval, threshold and
confidence; rules that came and went; and whether the data and the policies are the same, by their digests. A rule is
the same where gate, section and id are. Nothing is decided again.

Exit status: 0 no rule is worse. 1 a counting rule is worse: its verdict is (in the order PASS, INSUFFICIENT_EVIDENCE,
MANUAL_REVIEW, FAIL), or it is new and not PASS, or it is gone or no longer counts, so that nobody knows. 2 a report
cannot be read, or nothing was decided in it. The status says what changed, not what the later report comes to.`,
		Example: "  oloproof gate --example --format json:old.json\n  oloproof diff old.json old.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("diff needs two JSON reports, the earlier one first, such as `oloproof diff old.json new.json`")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if asJSON {
				formats = append(formats, "json")
			}
			return a.diff(args[0], args[1], formats)
		},
	}
	names := summary.DiffNames()
	cmd.Flags().StringArrayVar(&formats, "format", nil, "write it as `NAME[:PATH]` ("+strings.Join(names, ", ")+"); may be repeated")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	must(cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoSpace)))
	return cmd
}

// diff tells what changed from one report to another.
func (a *app) diff(old, new string, formats []string) error {
	onStdout, files, problems := parseOwn(formats, summary.DiffNames(), "diff.json")
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	var reports [2]*report.Report
	var sides [2]report.File
	for i, path := range []string{old, new} {
		r, data, err := a.loadReport(nil, path, report.MaxBytes)
		if err == nil {
			if err = report.UsableBaseline(r); err != nil {
				err = fmt.Errorf("%s: %w", diag.Printable(path), err)
			}
		}
		if err != nil {
			problems = append(problems, usagef("%w", err))
			continue
		}
		reports[i], sides[i] = r, report.File{Path: path, SHA256: digestOf(data)}
	}
	if err := errors.Join(append(problems, a.prepareOwn(files, map[string]string{})...)...); err != nil {
		return err
	}
	d := report.Compare(reports[0], reports[1], sides[0], sides[1], a.Version)
	a.status = d.ExitStatus
	for _, f := range files {
		var b bytes.Buffer
		err := summary.WriteDiff(&b, f.name, d, plain)
		if err == nil && a.wasRead(f.place) {
			err = errors.New("it is one of the reports, and a diff does not take its place")
		}
		if err == nil {
			err = writeWhole(f.place, b.Bytes())
		}
		if err != nil {
			a.tell(a.Stderr, fmt.Sprintf("oloproof: cannot write %s: %s", f.path, reason(err)))
			a.status = lost(a.status)
		}
	}
	if err := summary.WriteDiff(a.Stdout, onStdout, d, a.look(a.Stdout, nil)); err != nil && a.stdout.lost == nil {
		return err
	}
	return nil
}

// lost is the status of a run some of whose output could not be written: one that would have ended well has not.
func lost(status int) int {
	if status == report.ExitPass {
		return report.ExitUnusable
	}
	return status
}
