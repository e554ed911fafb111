// Package cli is the command line: flags, wiring and exit statuses, one file per command. Everything that it
// takes from the world comes through World, so that tests run whole commands in memory.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// World is what a run takes from outside.
type World struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Version        string           // of the release; empty: taken from the build
	Licences       string           // of the program and of what is linked into it
	Now            func() time.Time // nil: the clock
	// Sleep waits between requests to a platform's API; nil: the clock's.
	Sleep func(context.Context, time.Duration)
}

// app is one run of the program.
type app struct {
	World
	stdout *stdout  // what Stdout is
	status int      // the exit status once a command has run
	opened []string // the files that the run read
	stdin  string   // what standard input was read as; "" where it was not
}

// stdout is standard output. What is lost there is noticed in one place, at the end of the run, whoever wrote it.
type stdout struct {
	io.Writer
	lost error // of the first write that failed
}

func (s *stdout) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	if s.lost == nil {
		s.lost = err
	}
	return n, err
}

// errReported ends a command whose problem has been printed already.
var errReported = errors.New("reported")

// Main runs the program and returns its exit status (see engine/report).
func Main(args []string, world World) int {
	if world.Version == "" {
		world.Version = "devel"
		if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
			world.Version = info.Main.Version
		}
	}
	world.Version = strings.TrimPrefix(world.Version, "v")
	if world.Now == nil {
		world.Now = time.Now
	}
	a := &app{World: world, stdout: &stdout{Writer: world.Stdout}}
	a.Stdout = a.stdout
	root := a.root()
	// The library's own --version takes a template, and linking templates makes the program three megabytes larger.
	if len(args) == 1 && args[0] == "--version" {
		args = []string{"version"}
	}
	root.SetArgs(args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	status := report.ExitUnusable
	switch err := root.Execute(); {
	case err == nil:
		status = a.ending(a.status)
	case errors.Is(err, errReported):
	case a.stdout.lost != nil && errors.Is(err, a.stdout.lost): // told below
	default:
		a.mistaken(err, args)
	}
	if a.stdout.lost != nil {
		a.tell(a.Stderr, "oloproof: cannot write to standard output: "+reason(a.stdout.lost))
	}
	return status
}

// ending is the exit status of a run that came to status: whose output is lost, even in part, has not passed.
func (a *app) ending(status int) int {
	if status == report.ExitPass && a.stdout.lost != nil {
		return report.ExitUnusable
	}
	return status
}

// tell prints a line for a person. What may be in it, such as a file's name, can neither move the cursor nor be
// taken for a command by a CI runner, which also looks behind spaces.
func (a *app) tell(w io.Writer, line string) {
	line = summary.EscapeTerminal(line, utf8Locale(a.Getenv))
	text := strings.TrimLeftFunc(line, func(r rune) bool { return r == ' ' || unicode.In(r, unicode.M, unicode.Cf) }) // every other white space is escaped by now
	if strings.HasPrefix(text, "::") {
		line = line[:len(line)-len(text)] + `\` + text
	}
	fmt.Fprintln(w, line)
}

// root is the command tree.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "oloproof",
		Short: "A statistical release gate for AI systems",
		Long: `Oloproof decides from recorded decisions whether an AI system may be released. It computes
intervals that hold at every sample size and decides each rule of a policy: PASS, FAIL,
INSUFFICIENT_EVIDENCE or MANUAL_REVIEW.

Exit status: 0 PASS, 1 FAIL, 3 INSUFFICIENT_EVIDENCE, 4 MANUAL_REVIEW (the worst rule's),
2 when the files, the policy or the command line cannot be used and nothing was decided.`,
		Example:       "  oloproof gate --example",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,

		PersistentPreRunE: checkGiven,

		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; `%s --help` lists the flags", plainFlag(err), cmd.CommandPath())
	})
	root.SetHelpFunc(exampleLast(root.HelpFunc()))
	root.AddCommand(a.gateCommands()...)
	root.AddCommand(a.releaseCommand(), a.planCommand(), a.auditCommand(), a.commentCommand(), a.diffCommand(), a.initCommand(), a.ledgerCommand(), a.policyCommand(), a.renderCommand(), a.schemaCommand(), a.sqlCommand(), a.tallyCommand(), a.versionCommand(), a.actionCommand())
	return root
}

// plainFlag says what a flag takes in place of how a number is parsed.
func plainFlag(err error) error {
	before, reason, found := strings.Cut(err.Error(), ": strconv.Parse")
	kind, _, _ := strings.Cut(reason, ":")
	want := map[string]string{"Int": "a whole number", "Uint": "a whole number", "Float": "a number", "Bool": "true or false"}[kind]
	if !found || want == "" {
		return err
	}
	if strings.HasSuffix(reason, "value out of range") {
		return fmt.Errorf("%s: it is too large", before)
	}
	return fmt.Errorf("%s: write %s", before, want)
}

// exampleLast is a help that ends with the command's example: what to type next stands last, where the eye is.
func exampleLast(help func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		example := cmd.Example
		cmd.Example = ""
		help(cmd, args)
		if cmd.Example = example; example != "" {
			fmt.Fprintf(cmd.OutOrStdout(), "\nExample:\n%s\n", example)
		}
	}
}

// noCommand refuses arguments of a command that only has subcommands, with the nearest name.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := "allowed"
	if near := diag.Nearest(args[0], names); near != "" {
		hint = "did you mean " + near + "? Allowed"
	}
	return usagef("unknown command %q for %q; %s: %s", args[0], cmd.CommandPath(), hint, strings.Join(names, ", "))
}

// terminal reports whether w is a terminal, and how many columns it has.
func terminal(w io.Writer) (columns int, is bool) {
	if s, ok := w.(*stdout); ok {
		w = s.Writer
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if columns <= 0 { // a terminal that does not know
		columns = 80
	}
	return columns, err == nil
}
