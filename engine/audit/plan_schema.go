package audit

import _ "embed"

// PlanSchemaName names the published form of a plan.
const PlanSchemaName = "oloproof-plan/1"

// PlanSchema is the published JSON Schema of plans.
//
//go:embed plan.schema.json
var PlanSchema []byte
