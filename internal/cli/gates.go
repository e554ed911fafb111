package cli

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/policy"
)

// gateText is what the command line says about a gate.
type gateText struct {
	short, long string
	example     string // a decision file and a policy as in the examples
	flags       func(cmd *cobra.Command, req *request)
	extra       func(a *app) []*cobra.Command // commands beside check, report and gate
}

// gateTexts says it for each gate, by name.
var gateTexts = map[string]gateText{
	"human-ai": {
		short: "Do people decide better with the system's output than without?",
		long: `Reads one row per decision (CSV or JSONL: case, reviewer, condition, decision, reference,
ai_output, optionally started_at and decided_at) and measures whether people decide better with the
system's output than without it, and how they rely on it.`,
		example: "decisions.csv",
		flags: func(cmd *cobra.Command, req *request) {
			cmd.Flags().StringVar(&req.flags.Design, "design", "", "the study's `DESIGN`: crossed or before_after (default: found from the file)")
			cmd.Flags().StringVar(&req.flags.Assignment, "assignment", "", "`FILE` written by `oloproof human-ai assign`, which the decisions must follow")
			cmd.Flags().BoolVar(&req.flags.ShowUnits, "show-reviewers", false, "name reviewers in errors and findings")
			must(cmd.RegisterFlagCompletionFunc("design", cobra.FixedCompletions([]string{"crossed", "before_after"}, cobra.ShellCompDirectiveNoFileComp)))
		},
		extra: func(a *app) []*cobra.Command { return []*cobra.Command{a.assignCommand()} },
	},
	"compare": {
		short: "Is the new version of an agent better, when every trial differs?",
		long: `Reads one row per trial (CSV or JSONL: version, case, passed or score, optionally trial) of two
versions of an agent on the same cases, and measures which is better and how much of that may be luck.
--baseline and --candidate name the two versions; without a FILE they name a file for each, whose rows
need no version.`,
		example: "trials.csv",
		flags: func(cmd *cobra.Command, req *request) {
			cmd.Flags().StringVar(&req.flags.Baseline, "baseline", "", "the old `VERSION`, or the file of its trials where no FILE is given")
			cmd.Flags().StringVar(&req.flags.Candidate, "candidate", "", "the new `VERSION`, or the file of its trials where no FILE is given")
		},
	},
}

// gateCommands are the commands of each gate.
func (a *app) gateCommands() []*cobra.Command {
	var commands []*cobra.Command
	for _, g := range kinds.All() {
		text := gateTexts[g.Name()]
		parent := &cobra.Command{
			Use: g.Name(), Short: text.short, Long: text.short + "\n\n" + text.long,
			Example: fmt.Sprintf("  oloproof init --example %s study\n  oloproof %s gate study/%s --policy study/policy.yaml", g.Name(), g.Name(), text.example),
			Args:    noCommand,
			RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		}
		for _, verb := range verbNames {
			parent.AddCommand(a.verbCommand(g, verb, text))
		}
		if text.extra != nil {
			parent.AddCommand(text.extra(a)...)
		}
		commands = append(commands, parent)
	}
	return commands
}

// verbCommand is check, report or gate of one gate.
func (a *app) verbCommand(g gate.Gate, verb gate.Verb, text gateText) *cobra.Command {
	short := map[gate.Verb]string{
		gate.Check:  "Say what the files can answer, and what is odd about them",
		gate.Report: "Give every measure with its interval, and decide nothing",
		gate.Decide: "Decide each rule of a policy",
	}[verb]
	req := request{verb: verb, gate: g}
	var out output
	var delimiter string
	files := "study/" + text.example
	example := fmt.Sprintf("  oloproof init --example %s study\n  oloproof %s %s %s", g.Name(), g.Name(), verb, files)
	if verb == gate.Decide {
		example += " --policy study/policy.yaml"
	}
	cmd := &cobra.Command{
		Use: string(verb) + " FILE…", Short: short, Example: example,
		Long: short + ".\n\nFiles are CSV or JSONL, plain or compressed (.gz, .zst); several files, or a glob, are read as one;\n- is standard input.",
		RunE: func(_ *cobra.Command, args []string) error {
			req.files = args
			var wrong error
			req.delimiter, wrong = parseDelimiter(delimiter)
			return a.finish(req, out, errors.Join(wrong, checkFlags(req)))
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.policy, "policy", "", "the policy `FILE` (YAML)")
	f.StringVar(&delimiter, "delimiter", "", "the `CHARACTER` between CSV fields: , ; | or tab (default: found from the header)")
	if verb == gate.Decide {
		f.StringVar(&req.today, "today", "", "the `DAY` that waivers are compared with, YYYY-MM-DD in UTC (default: today)")
		out.failOnFlag(cmd)
	}
	if text.flags != nil {
		text.flags(cmd, &req)
	}
	out.flags(cmd)
	return cmd
}

// parseDelimiter reads --delimiter.
func parseDelimiter(text string) (rune, error) {
	switch text {
	case "":
		return 0, nil
	case "tab", `\t`:
		return '\t', nil
	}
	r, size := utf8.DecodeRuneInString(text)
	if size == len(text) {
		switch r {
		case ',', ';', '|', '\t':
			return r, nil
		}
	}
	return 0, usagef("--delimiter is %q; write one of , ; | or tab", text)
}

// checkFlags checks the flags that have a fixed set of values.
func checkFlags(req request) error {
	var problems []error
	if d := req.flags.Design; d != "" && d != "crossed" && d != "before_after" {
		hint := ""
		if near := diag.Nearest(d, []string{"crossed", "before_after"}); near != "" {
			hint = fmt.Sprintf(" (did you mean %s?)", near)
		}
		problems = append(problems, usagef("--design is %q; write crossed or before_after%s", d, hint))
	}
	if req.today != "" && !policy.ValidDay(req.today) {
		problems = append(problems, usagef("--today is %q; write a day of the calendar as YYYY-MM-DD, such as 2027-03-31", req.today))
	}
	return errors.Join(problems...)
}
