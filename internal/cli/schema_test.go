package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Every schema that is printed is whole by itself: it compiles from its text alone, and no reference leads out of it.
func TestSchemasAreSelfContained(t *testing.T) {
	var names []string
	for _, c := range inMemory().schemaCommand().Commands() {
		names = append(names, c.Name())
	}
	if len(names) < 8 { // policy, report, certificate, audit-policy, coverage, diff, plan, tally
		t.Fatalf("only %v", names)
	}
	for _, name := range names {
		if _, err := compilePrinted(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, stdout, _ := runMain("schema", name)
		var doc any
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var walk func(any)
		walk = func(x any) {
			switch x := x.(type) {
			case map[string]any:
				for key, inner := range x {
					if to, is := inner.(string); is && key == "$ref" && !strings.HasPrefix(to, "#") {
						t.Errorf("%s refers to %s", name, to)
					}
					walk(inner)
				}
			case []any:
				for _, inner := range x {
					walk(inner)
				}
			}
		}
		walk(doc)
	}
}

// What `diff --json` prints obeys the schema that is printed, and what it may not say does not. Certificates and audits of policies are
// held to theirs where they are made.
func TestDiffObeysItsPrintedSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.json")
	if status, _, stderr := runMain("gate", "--example", "--quiet", "--format", "json:"+path); status == 2 {
		t.Fatal(stderr)
	}
	schema, err := compilePrinted("diff")
	if err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := runMain("diff", path, path, "--json")
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	validate := func(text string) error {
		printed, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(printed)
	}
	if err := validate(stdout); err != nil {
		t.Error(err)
	}
	if wrong := strings.ReplaceAll(stdout, `"INSUFFICIENT_EVIDENCE"`, `"PERHAPS"`); wrong == stdout || validate(wrong) == nil {
		t.Error("a verdict that there is not obeys it")
	}
}
