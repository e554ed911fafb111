package policy

import _ "embed"

//go:embed policy.schema.json
var schema string

// Schema is the JSON Schema (2020-12) of policies. It describes the file's structure for editors; what needs more
// than one place of the file to judge, such as a repeated id or planned without looks: once, only this package checks.
func Schema() string { return schema }
