package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// versionCommand is `version`.
func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Example: "  oloproof version", Args: cobra.NoArgs,
		Long: "Print the version. The same version gives the same bytes of report for the same input.",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.Stdout, "oloproof", a.Version)
			return err
		},
	}
}
