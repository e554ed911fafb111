package cli

import "github.com/spf13/cobra"

// auditCommand is the parent of what audits the methods and a policy.
func (a *app) auditCommand() *cobra.Command {
	parent := &cobra.Command{
		Use: "audit", Short: "Show what the verdicts are worth: the intervals' coverage, and a policy's errors", Args: noCommand,
		Long:    "Show what the verdicts are worth, by asking the gates about studies whose truth is known.",
		Example: "  oloproof init --example compare study\n  oloproof audit policy study/trials.csv --policy study/policy.yaml --runs 200",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	parent.AddCommand(a.coverageCommand(), a.auditPolicyCommand())
	return parent
}
