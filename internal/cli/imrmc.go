package cli

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/rows"
)

// maxReaderStudy is how many bytes of a reader study are read.
const maxReaderStudy = 256 << 20

// readerStudy is what `human-ai imrmc` is asked to do.
type readerStudy struct {
	file, with, without, threshold, truth string
}

// imrmcCommand is `human-ai imrmc`.
func (a *app) imrmcCommand() *cobra.Command {
	var s readerStudy
	cmd := &cobra.Command{
		Use:   "imrmc FILE --with MODALITY --without MODALITY",
		Short: "Turn a reader study in the iMRMC format into decision rows",
		Long: `Read a reader study in the text format of the iMRMC program, and write its decisions as CSV
(case,reviewer,condition,decision,reference,ai_output) on standard output, to be checked, reported or decided on
beside its asymptotic analysis. The decision is 1 where the score is --threshold or more, else 0; scores that are all
0 or 1 need no threshold. The reference is the case's truth. The format has no output of the system, so ai_output is
empty, and the rates about it have nothing to count.

--truth 1 keeps only the cases with the condition, of which the right decisions are the sensitivity; --truth 0 only
those without it (specificity). A file whose scores tell right (1) from wrong (0) has made-up cases of truth 0; --truth 1
leaves them out.`,
		Example: "  oloproof human-ai imrmc study.imrmc --without unaided --with aided --threshold 50 > decisions.csv",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("human-ai imrmc needs one FILE, and has %d", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			s.file = args[0]
			return a.readerStudy(s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.with, "with", "", "the `MODALITY` in which the system's output was on the screen")
	f.StringVar(&s.without, "without", "", "the `MODALITY` in which it was not")
	f.StringVar(&s.threshold, "threshold", "", "the least `SCORE` that means the condition is present")
	f.StringVar(&s.truth, "truth", "", "keep only the cases of this `TRUTH`: 0 or 1 (default: all)")
	must(cmd.RegisterFlagCompletionFunc("truth", cobra.FixedCompletions([]string{"0", "1"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// readerStudy turns a reader study into decisions. Nothing is written unless all of it can be.
func (a *app) readerStudy(s readerStudy) error {
	diags := &diag.List{}
	bad := func(format string, args ...any) { diags.Add(diag.Diagnostic{Message: fmt.Sprintf(format, args...)}) }
	threshold, _, err := rows.ParseDecimal(s.threshold)
	if s.threshold != "" && err != nil {
		bad("--threshold: %v", err)
	}
	if s.truth != "" && s.truth != "0" && s.truth != "1" {
		bad("--truth is %s; write 0 or 1", diag.Quote(s.truth))
	}
	if s.with == "" || s.without == "" || s.with == s.without {
		bad("--with and --without name two modalities of the file, one with the system's output and one without it")
	}
	data, err := readFile(nil, s.file, maxReaderStudy+1)
	if err == nil && len(data) > maxReaderStudy {
		err = fmt.Errorf("it is longer than %d MiB", maxReaderStudy>>20)
	}
	if err != nil {
		diags.Addf(diag.Pos{File: s.file}, "cannot read the study: %s", reason(err))
	}
	if diags.Len() > 0 {
		return a.unusable(diags)
	}
	study := rows.ReadIMRMC(s.file, data, diags)
	if diags.Len() > 0 {
		return a.unusable(diags)
	}
	for _, m := range []string{s.with, s.without} {
		if found := study.Modalities(); !slices.Contains(found, m) {
			bad("no score is of the modality %s; the file has %s", diag.Quote(m), gate.Quoted(found))
		}
	}
	kept := s.kept(study, diags)
	if diags.Len() == 0 && len(kept) == 0 {
		bad("no score of these modalities is of a case whose truth is %s", s.truth)
	}
	if diags.Len() > 0 {
		return a.unusable(diags)
	}
	if s.threshold == "" {
		threshold, _, _ = rows.ParseDecimal("1")
	}
	w := bufio.NewWriter(a.Stdout)
	if err := writeDecisions(w, study, kept, s.with, threshold); err != nil {
		return err
	}
	return w.Flush()
}

// kept are the readings to be written. Without a threshold a score other than 0 and 1 is a problem, told once.
func (s readerStudy) kept(study rows.ReaderStudy, diags *diag.List) []rows.Reading {
	one, _, _ := rows.ParseDecimal("1")
	var kept []rows.Reading
	told := false
	for _, r := range study.Readings {
		if (r.Modality != s.with && r.Modality != s.without) || (s.truth != "" && study.Truth[r.Case] != (s.truth == "1")) {
			continue
		}
		if s.threshold == "" && !told && r.Score.Sign() != 0 && r.Score.Cmp(one) != 0 {
			diags.Addf(r.Pos, "the score is %s, neither 0 nor 1: give --threshold, the least score that means the condition is present", r.Score)
			told = true
		}
		kept = append(kept, r)
	}
	return kept
}

// writeDecisions writes readings as decision rows.
func writeDecisions(w io.Writer, study rows.ReaderStudy, readings []rows.Reading, with string, threshold rows.Decimal) error {
	word := map[bool]string{false: "0", true: "1"}
	c := csv.NewWriter(w)
	// The writer keeps its first error for Error below.
	_ = c.Write([]string{"case", "reviewer", "condition", "decision", "reference", "ai_output"})
	for _, r := range readings {
		condition := "without"
		if r.Modality == with {
			condition = "with"
		}
		_ = c.Write([]string{r.Case, r.Reader, condition, word[r.Score.Cmp(threshold) >= 0], word[study.Truth[r.Case]], ""})
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("writing the decisions: %w", err)
	}
	return nil
}
