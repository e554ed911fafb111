package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// usageError is a mistake on the command line: exit status 2.
type usageError struct{ error }

// usagef returns a usage error.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// checkGiven refuses flags and arguments that are given empty, before every command. A script whose variable is not
// set would otherwise run without the assignment, say, that it means to give.
func checkGiven(cmd *cobra.Command, args []string) error {
	if name := cmd.Name(); name == cobra.ShellCompRequestCmd || name == cobra.ShellCompNoDescRequestCmd {
		return nil // a shell asks what may stand where nothing is yet
	}
	var problems []error
	for _, f := range all(cmd.Flags().Visit) {
		if f.Value.Type() == "string" && f.Value.String() == "" {
			_, rest, _ := strings.Cut(f.Usage, "`")
			what, _, _ := strings.Cut(rest, "`")
			problems = append(problems, usagef("--%s is empty; write --%s %s, or leave the flag out", f.Name, f.Name, what))
		}
	}
	for i, arg := range args {
		if arg == "" {
			problems = append(problems, usagef("argument %d of %d of `%s` is empty; write a name, or leave it out", i+1, len(args), cmd.CommandPath()))
		}
	}
	return errors.Join(problems...)
}

// all collects what a function goes through.
func all[T any](visit func(func(T))) []T {
	var list []T
	visit(func(item T) { list = append(list, item) })
	return list
}

// mistaken says what is wrong with a command line, for a person, or as the document of a run that decided nothing
// where the command line asks for one.
func (a *app) mistaken(err error, args []string) {
	diags := &diag.List{}
	for _, e := range each(err) {
		diags.Add(diag.Diagnostic{Message: e.Error()})
	}
	if problem, ok := errors.AsType[*diag.Error](diags.Err()); ok && asksForJSON(args) {
		_ = summary.JSON(a.Stdout, report.Unusable(a.Version, problem), plain) // standard output remembers what it loses
		return
	}
	for _, e := range each(err) {
		a.tell(a.Stderr, "oloproof: "+e.Error())
	}
	if _, ok := errors.AsType[usageError](err); ok {
		undone := "decided"
		if len(args) > 0 {
			switch args[0] { // those that decide nothing in any case
			case "comment", "tally", "sql", "render":
				undone = "written"
			case "diff":
				undone = "compared"
			}
		}
		fmt.Fprintf(a.Stderr, "\nexit status 2 (nothing was %s)\n", undone)
	}
}

// each takes joined errors apart.
func each(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var list []error
	for _, e := range joined.Unwrap() {
		list = append(list, each(e)...)
	}
	return list
}

// asksForJSON reports whether a command line asks for a JSON document on standard output. It may be too mistaken to be
// parsed.
func asksForJSON(args []string) bool {
	asks := false
	for i, arg := range args {
		name, value, given := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return asks
		case name == "--json":
			yes, err := strconv.ParseBool(value)
			asks = asks || !given || err != nil || yes
		case name == "--format":
			if !given && i+1 < len(args) {
				value = args[i+1]
			}
			asks = asks || value == "json" || value == "json:-"
		}
	}
	return asks
}
