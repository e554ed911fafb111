package cli

import (
	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/audit"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// schemaCommand is `schema policy`, `schema report` and the others.
func (a *app) schemaCommand() *cobra.Command {
	parent := &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of policies, and of the documents that commands write", Args: noCommand,
		Long:    "Print the published JSON Schema of policies, with which editors complete and check them, or of a document that commands write.",
		Example: "  oloproof schema policy > policy.schema.json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, s := range []struct{ name, short, long, text string }{
		{"policy", "Print the JSON Schema of policies",
			"Print the JSON Schema of policies, for editors: save it and name it in the policy's first line as\n# yaml-language-server: $schema=policy.schema.json", policy.Schema()},
		{"report", "Print the JSON Schema of reports", "Print the JSON Schema of the reports that --json writes.", string(report.JSONSchema)},
		{"certificate", "Print the JSON Schema of certificates", "Print the JSON Schema of the certificates that `anchoring gate --certificate` writes.", string(report.CertificateSchema)},
		{"audit-policy", "Print the JSON Schema of audits of policies", "Print the JSON Schema of the document that `audit policy --json` prints.", string(audit.PolicySchema)},
		{"coverage", "Print the JSON Schema of coverage grids", "Print the JSON Schema of what `audit coverage --json` writes.", string(audit.CoverageSchema)},
		{"diff", "Print the JSON Schema of differences between reports", "Print the JSON Schema of what `diff --json` prints.", string(report.DiffSchema)},
		{"plan", "Print the JSON Schema of plans", "Print the JSON Schema of the plans that `plan GATE --json` writes.", string(audit.PlanSchema)},
		{"tally", "Print the JSON Schema of tallies", "Print the JSON Schema of the tallies that `oloproof tally` writes.", string(gate.TallySchema)},
	} {
		parent.AddCommand(&cobra.Command{
			Use: s.name, Short: s.short, Long: s.long, Args: cobra.NoArgs, Example: "  oloproof schema " + s.name + " > " + s.name + ".schema.json",
			RunE: func(*cobra.Command, []string) error {
				text, err := report.SelfContained([]byte(s.text))
				if err != nil {
					return err
				}
				_, err = a.Stdout.Write(text)
				return err
			},
		})
	}
	return parent
}
