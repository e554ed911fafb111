package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
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
	tallied     bool   // rows can be counted in one place and decided in another
	example     string // a decision file as in the examples; of a gate with a declaration, that
	declaration string // how its usage names the gate's own declaration, which then is its first argument; "" for none
	flags       func(cmd *cobra.Command, req *request)
	extra       func(a *app) []*cobra.Command // commands beside check, report and gate
}

// gateTexts says it for each gate, by name.
var gateTexts = map[string]gateText{
	"human-ai": {
		short: "Do people decide better with the system's output than without?",
		long: `Reads one row per decision (CSV, JSONL or Parquet: case, reviewer, condition, decision, reference,
ai_output, optionally started_at and decided_at) and measures whether people decide better with the
system's output than without it, and how they rely on it.`,
		example: "decisions.csv",
		flags: func(cmd *cobra.Command, req *request) {
			cmd.Flags().StringVar(&req.flags.Design, "design", "", "the study's `DESIGN`: crossed or before_after (default: found from the file)")
			cmd.Flags().StringVar(&req.flags.Assignment, "assignment", "", "`FILE` written by `oloproof human-ai assign`, which the decisions must follow")
			cmd.Flags().BoolVar(&req.flags.ShowUnits, "show-reviewers", false, "name reviewers in errors and findings")
			must(cmd.RegisterFlagCompletionFunc("design", cobra.FixedCompletions([]string{"crossed", "before_after"}, cobra.ShellCompDirectiveNoFileComp)))
		},
		extra: func(a *app) []*cobra.Command { return []*cobra.Command{a.assignCommand(), a.imrmcCommand()} },
	},
	"anchoring": {
		short: "Do the model's labels agree with people's who did not see them?",
		long: `Reads one row per label (CSV, JSONL or Parquet: item, annotator, suggestion, label, visibility, optionally kind,
accepted, inclusion_probability, started_at and labelled_at) and measures how often the model's suggestion agrees
with labels that people gave without it, and how far seeing it draws them towards it. The rest of a corpus can be
handed to the model on blind labels only.`,
		example: "labels.csv --draw study/draw.csv",
		flags: func(cmd *cobra.Command, req *request) {
			cmd.Flags().StringVar(&req.flags.Draw, "draw", "", "`FILE` written by `oloproof anchoring draw`, which the labels must follow")
			if req.verb == gate.Decide {
				cmd.Flags().StringVar(&req.certificate, "certificate", "", "the `FILE` that a run which passes writes its certificate to")
			}
			cmd.Flags().BoolVar(&req.flags.ShowUnits, "show-reviewers", false, "name annotators in errors and findings")
		},
		extra: func(a *app) []*cobra.Command { return []*cobra.Command{a.drawCommand(), a.verifyCommand()} },
	},
	"compare": {
		tallied: true,
		short:   "Is the new version of an agent better, when every trial differs?",
		long: `Reads one row per trial (CSV, JSONL or Parquet: version, case, passed or score, optionally trial) of two
versions of an agent on the same cases, and measures which is better and how much of that may be luck.
--baseline and --candidate name the two versions; without a FILE they name a file for each, whose rows
need no version.`,
		example: "trials.csv",
		flags: func(cmd *cobra.Command, req *request) {
			cmd.Flags().StringVar(&req.flags.Baseline, "baseline", "", "the old `VERSION`, or the file of its trials where no FILE is given")
			cmd.Flags().StringVar(&req.flags.Candidate, "candidate", "", "the new `VERSION`, or the file of its trials where no FILE is given")
			req.assumeFlag(cmd)
		},
	},
	"fairness": {
		tallied: true,
		short:   "How far apart are the groups, in error rates and selection?",
		long: `Reads a declaration (YAML: the file of decided cases, its columns, the groups and the rules) and one row
per case (CSV, JSONL or Parquet: id, label, prediction, optionally a probability, and a column per attribute), and measures
how far the groups lie apart. Without a verb it is ` + "`gate`" + `: it decides the declaration's rules.`,
		example:     "fairness.yaml",
		declaration: "FAIRNESS.yaml",
		flags: func(cmd *cobra.Command, req *request) {
			cmd.Flags().BoolVar(&req.flags.ShowUnits, "show-reviewers", false, "name people (the values of the unit column) in errors")
			req.assumeFlag(cmd)
		},
	},
}

// assumeFlag adds the flag that leaves out the look for rows that come twice.
func (req *request) assumeFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&req.flags.AssumeUniqueIDs, "assume-unique-ids", false, "do not look for rows that come twice: faster, and the report says so")
}

// gateCommands are the commands of each gate.
func (a *app) gateCommands() []*cobra.Command {
	var commands []*cobra.Command
	for _, g := range kinds.All() {
		text := gateTexts[g.Name()]
		parent := &cobra.Command{Args: noCommand, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
		if text.declaration != "" { // without a verb it decides
			parent = a.verbCommand(g, gate.Decide, text)
			decide := parent.RunE
			parent.RunE = func(cmd *cobra.Command, args []string) error {
				if len(args) == 0 && cmd.Flags().NFlag() == 0 {
					return cmd.Help()
				}
				return decide(cmd, args)
			}
			parent.Args = cobra.ArbitraryArgs
		}
		parent.Use = strings.TrimRight(g.Name()+" "+text.arguments(), " ")
		parent.Short, parent.Long = text.short, text.short+"\n\n"+text.long
		parent.Example = text.commands(g, gate.Decide)
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

// arguments is how the usage of a gate without a verb goes on.
func (t gateText) arguments() string {
	if t.declaration == "" {
		return ""
	}
	return "[" + t.declaration + " [FILE…]]"
}

// commands is an example that can be pasted: it writes the gate's example and runs a verb on it.
func (t gateText) commands(g gate.Gate, verb gate.Verb) string {
	text := fmt.Sprintf("  oloproof init --example %s study\n  oloproof %s %s study/%s", g.Name(), g.Name(), verb, t.example)
	if verb == gate.Decide && t.declaration == "" {
		text += " --policy study/policy.yaml"
	}
	return text
}

// verbCommand is check, report or gate of one gate.
func (a *app) verbCommand(g gate.Gate, verb gate.Verb, text gateText) *cobra.Command {
	short := map[gate.Verb]string{
		gate.Check:  "Say what the files can answer, and what is odd about them",
		gate.Report: "Give every measure with its interval, and decide nothing",
		gate.Decide: "Decide each rule of a policy",
	}[verb]
	req := request{verb: verb, gate: g, declared: text.declaration != ""}
	use, long, beside := "FILE…", "", &req.policy
	if req.declared {
		use, beside = text.declaration+" [FILE…]", &req.beside
		long = "\n\n" + text.declaration + " names the files of cases, relative to its folder; where a FILE is given, it is read instead."
		if verb == gate.Decide {
			short = "Decide each rule of a declaration, and of a policy beside it"
		}
	}
	var out output
	var delimiter string
	cmd := &cobra.Command{
		Use: string(verb) + " " + use, Short: short, Example: text.commands(g, verb),
		Long: short + "." + long + "\n\nFiles are CSV or JSONL, plain or compressed (.gz, .zst), or Parquet; several files, or a glob, are read as one;\n- is standard input.",
		RunE: func(_ *cobra.Command, args []string) error {
			var wrong error
			absent := req.take(args, fmt.Sprintf("oloproof %s %s", g.Name(), verb))
			req.delimiter, wrong = parseDelimiter(delimiter)
			return a.finish(req, out, errors.Join(absent, wrong, checkFlags(req)))
		},
	}
	f := cmd.Flags()
	what := "the policy `FILE` (YAML)"
	if req.declared {
		what = "a policy `FILE` (YAML) whose settings and rules are added to the declaration's"
	}
	f.StringVar(beside, "policy", "", what)
	f.StringVar(&delimiter, "delimiter", "", "the `CHARACTER` between CSV fields: , ; | or tab (default: found from the header)")
	if verb == gate.Decide {
		f.StringVar(&req.today, "today", "", "the `DAY` that waivers are compared with, YYYY-MM-DD in UTC (default: today)")
		out.decidingFlags(cmd)
	}
	if text.flags != nil {
		text.flags(cmd, &req)
	}
	if text.tallied {
		req.tallyFlag(cmd)
	}
	out.flags(cmd)
	return cmd
}

// take takes a command's arguments: of a gate with a declaration that one, then files. command is how the command line begins.
func (req *request) take(args []string, command string) error {
	req.files = args
	switch {
	case !req.declared:
		return nil
	case len(args) == 0 && req.beside != "": // the section of a release file is a declaration too
		req.policy, req.beside = req.beside, ""
		return nil
	case len(args) == 0:
		return usagef("%s needs a declaration, such as `%s fairness.yaml`", req.gate.Name(), command)
	}
	req.policy, req.files = args[0], args[1:]
	return noDeclaration(req.gate, args[0])
}

// tallyFlag adds --tally to a command that reads rows.
func (req *request) tallyFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&req.tallies, "tally", nil, "read `TALLIES` (a path, or a glob in quotes) in place of files of rows; may be repeated")
}

// noDeclaration says that a name in a declaration's place is most likely none: a misspelt verb, or data.
func noDeclaration(g gate.Gate, name string) error {
	if _, err := os.Stat(name); err != nil {
		var verbs []string
		for _, v := range verbNames {
			verbs = append(verbs, string(v))
		}
		if near := diag.Nearest(name, verbs); near != "" {
			return usagef("unknown command %q for \"oloproof %s\"; did you mean %s?", name, g.Name(), near)
		}
	}
	for _, ending := range []string{".csv", ".tsv", ".jsonl", ".ndjson", ".gz", ".zst", ".parquet"} {
		if strings.HasSuffix(strings.ToLower(name), ending) {
			return usagef("%s looks like a file of cases; name the declaration (YAML) first, such as `oloproof %s fairness.yaml %s`", name, g.Name(), name)
		}
	}
	return nil
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
	if len(req.tallies) > 0 && len(req.files) > 0 {
		problems = append(problems, usagef("%s is a file of rows beside --tally; name files or tallies, and put a glob after --tally in quotes, such as --tally 'part*.json'", diag.Quote(req.files[0])))
	}
	if req.today != "" && !policy.ValidDay(req.today) {
		problems = append(problems, usagef("--today is %q; write a day of the calendar as YYYY-MM-DD, such as 2027-03-31", req.today))
	}
	return errors.Join(problems...)
}
