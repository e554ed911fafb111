package audit

import _ "embed" // the published schema

// PolicySchema is the published JSON Schema of the document that an audit of a policy prints. It refers to the schema of reports.
//
//go:embed audit-policy.schema.json
var PolicySchema []byte

// PolicySchemaName names the published form of that document.
const PolicySchemaName = "oloproof-audit-policy/1"
