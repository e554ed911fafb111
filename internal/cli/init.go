package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/example"
	"github.com/oloproof/oloproof/engine/policy"
)

// initCommand is `init --example GATE [DIR]`.
func (a *app) initCommand() *cobra.Command {
	var name string
	var force bool
	gates := example.Gates()
	cmd := &cobra.Command{
		Use:     "init --example " + strings.Join(gates, "|") + " [DIR]",
		Short:   "Write an example: data, policy and a workflow to paste",
		Long:    "Write a gate's example into DIR (default: this folder): the data, drawn by a seeded generator, a policy\nwith comments, the JSON Schema with which editors complete and check it (the policy's first line names it), and a GitHub\nworkflow to paste. Nothing is overwritten without --force.",
		Example: "  oloproof init --example human-ai study",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if name == "" {
				return usagef("init needs --example, one of %s", strings.Join(gates, ", "))
			}
			e, err := example.Find(name)
			if err != nil {
				return usagef("%w", err)
			}
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return a.writeExample(e, dir, force)
		},
	}
	cmd.Flags().StringVar(&name, "example", "", "the `GATE` whose example is written: "+strings.Join(gates, ", "))
	cmd.Flags().BoolVar(&force, "force", false, "overwrite files of the same names")
	must(cmd.RegisterFlagCompletionFunc("example", cobra.FixedCompletions(gates, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// schemaName is the file that the first line of the examples' policies names, for editors: it is there without a network, and of the
// version that decides the policy.
const schemaName = "policy.schema.json"

// writeExample writes the files of an example: all of them, or none where one is in the way.
func (a *app) writeExample(e example.Example, dir string, force bool) error {
	files := append(slices.Clone(e.Files), example.File{Name: schemaName, Text: policy.Schema()})
	var inTheWay []string
	for _, f := range files {
		if there, err := readFile(nil, filepath.Join(dir, f.Name), int64(len(f.Text))+1); f.Name == schemaName && err == nil && string(there) == f.Text {
			continue // another example's, or this one's of before
		}
		if _, err := os.Lstat(filepath.Join(dir, f.Name)); err == nil {
			inTheWay = append(inTheWay, filepath.Join(dir, f.Name))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return usagef("cannot write into %s: %s", dir, reason(err))
		}
	}
	if len(inTheWay) > 0 && !force {
		return usagef("%s would be overwritten; choose another folder, or add --force", strings.Join(inTheWay, ", "))
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return usagef("cannot make %s: %s", dir, reason(err))
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := writeWhole(path, []byte(f.Text)); err != nil {
			return usagef("cannot write %s: %s", path, reason(err))
		}
		a.tell(a.Stdout, path)
	}
	fmt.Fprintln(a.Stdout, "\nNow run:")
	words := append([]string{"  oloproof", e.Gate, "gate"}, inFolder(dir, e.Decisions())...)
	if !e.Declared() {
		words = append(words, "--policy")
	}
	a.tell(a.Stdout, strings.Join(append(words, filepath.Join(dir, e.Policy())), " "))
	return nil
}

// inFolder puts names into a folder.
func inFolder(dir string, names []string) []string {
	paths := make([]string, len(names))
	for i, n := range names {
		paths[i] = filepath.Join(dir, n)
	}
	return paths
}
