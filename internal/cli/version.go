package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// versionCommand is `version`.
func (a *app) versionCommand() *cobra.Command {
	licences := false
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Example: "  oloproof version\n  oloproof version --licences", Args: cobra.NoArgs,
		Long: "Print the version. The same version gives the same bytes of report for the same input.\n\n" +
			"With --licences, print the licences instead: the program's own, and those of the libraries that are in it.",
		RunE: func(*cobra.Command, []string) error {
			if licences {
				_, err := fmt.Fprint(a.Stdout, a.Licences)
				return err
			}
			_, err := fmt.Fprintln(a.Stdout, "oloproof", a.Version)
			return err
		},
	}
	cmd.Flags().BoolVar(&licences, "licences", false, "print the licences of the program and of the libraries in it")
	return cmd
}
