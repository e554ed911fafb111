package cli

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/study"
)

// assignCommand is `human-ai assign`.
func (a *app) assignCommand() *cobra.Command {
	var cases, reviewers, design, seed string
	cmd := &cobra.Command{
		Use:   "assign --cases N|FILE --reviewers N|FILE --design crossed|before_after --seed S",
		Short: "Draw who decides which cases, in which condition and order",
		Long: `Draw the random split and order that the method requires, as CSV (reviewer,case,condition,position)
on standard output. Each person's split is drawn independently of the others'. The same seed gives the same
assignment; adding people changes nobody else's. Keep the file: --assignment FILE on check, report and gate
verifies that the decisions follow it, and counts an assigned decision without a row as missing.

A FILE holds one id a line; a first line "case" or "reviewer" is a header. With numbers, the ids are made
(c1, c2, …; r1, r2, …).`,
		Example: "  oloproof human-ai assign --cases 30 --reviewers 8 --design crossed --seed study-1 > assignment.csv",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			diags := &diag.List{}
			caseIDs := readIDs(cases, "--cases", "case", "c", diags)
			people := readIDs(reviewers, "--reviewers", "reviewer", "r", diags)
			if strings.TrimSpace(seed) == "" {
				diags.Add(diag.Diagnostic{Message: "--seed is empty; give a text of your own, and keep it with the study"})
			}
			if design == "" {
				diags.Add(diag.Diagnostic{Message: "--design is missing; write crossed or before_after"})
			} else if err := checkFlags(request{flags: gate.Flags{Design: design}}); err != nil {
				diags.Add(diag.Diagnostic{Message: err.Error()})
			}
			if diags.Len() == 0 {
				assignments, err := study.Assign(caseIDs.ids, people.ids, design, seed)
				if err == nil {
					w := bufio.NewWriter(a.Stdout)
					if err := study.WriteCSV(w, assignments); err != nil {
						return err
					}
					return w.Flush()
				}
				placed(err, map[string]idList{"cases": caseIDs, "reviewers": people}, diags)
			}
			return a.unusable(diags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&cases, "cases", "", "how many cases, or a `FILE` with one case id a line")
	f.StringVar(&reviewers, "reviewers", "", "how many people, or a `FILE` with one reviewer id a line")
	f.StringVar(&design, "design", "", "the `DESIGN`: crossed or before_after")
	f.StringVar(&seed, "seed", "", "any `TEXT`; the same seed gives the same assignment")
	must(cmd.RegisterFlagCompletionFunc("design", cobra.FixedCompletions([]string{study.Crossed, study.BeforeAfter}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// unusable prints why a command other than a gate cannot do its work, and ends with exit status 2.
func (a *app) unusable(diags *diag.List) error {
	items, more := diags.Sorted()
	fmt.Fprintf(a.Stderr, "oloproof: %s\n\n", countOf(len(items)+more, "problem"))
	for i, d := range items {
		if i == 20 {
			break
		}
		a.tell(a.Stderr, d.String())
	}
	if rest := len(items) + more - min(len(items), 20); rest > 0 {
		fmt.Fprintf(a.Stderr, "and %d more\n", rest)
	}
	return errReported
}

// countOf writes a count with its noun.
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// placed puts the problems of an assignment where the ids were read: study gives a list's name and a place in it.
func placed(err error, sources map[string]idList, diags *diag.List) {
	problem, ok := errors.AsType[*diag.Error](err)
	if !ok {
		diags.Add(diag.Diagnostic{Message: err.Error()})
		return
	}
	for _, d := range problem.Items {
		if list, found := sources[d.File]; found {
			if list.file == "" {
				d.Pos = diag.Pos{}
			} else {
				d.File, d.Line = list.file, d.Line+list.before
			}
		}
		diags.Add(d)
	}
}

// idList is a list of ids and where it comes from.
type idList struct {
	ids    []string
	file   string // "" where the ids were made from a number
	before int    // lines of the file before the first id
}

// maxIDs is how many bytes of a list of ids are read.
const maxIDs = 64 << 20

// readIDs reads a count or a file of ids.
func readIDs(text, flag, header, prefix string, diags *diag.List) idList {
	if text == "" {
		diags.Add(diag.Diagnostic{Message: flag + " is missing; give a number, or a file with one id a line"})
		return idList{}
	}
	if n, err := strconv.Atoi(text); err == nil {
		made, err := study.Names(n, prefix, 0)
		if err != nil {
			diags.Add(diag.Diagnostic{Message: flag + ": " + err.Error()})
		}
		return idList{ids: made}
	}
	data, err := readFile(nil, text, maxIDs+1)
	if err == nil && len(data) > maxIDs {
		err = fmt.Errorf("it is longer than %d MiB", maxIDs>>20)
	}
	if err != nil {
		diags.Addf(diag.Pos{File: text}, "cannot read %s: %s", flag, reason(err))
		return idList{}
	}
	list := idList{file: text}
	lines := strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case i == 0 && strings.EqualFold(line, header):
			list.before = 1
		case line == "" && i == len(lines)-1: // the end of the last line
		default:
			list.ids = append(list.ids, line)
		}
	}
	return list
}
