package cli

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/oloproof/oloproof/engine/audit"
	"github.com/oloproof/oloproof/engine/report"
)

// auditSchema is the compiled schema of audits of policies, which refers to that of reports by its name.
func auditSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	var id string
	for _, text := range [][]byte{report.JSONSchema, audit.PolicySchema} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		id = doc.(map[string]any)["$id"].(string)
		if err := c.AddResource(id, doc); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := c.Compile(id)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// audited runs `audit policy --json` and reads its document, which obeys the schema.
func audited(t *testing.T, schema *jsonschema.Schema, args ...string) auditedPolicy {
	t.Helper()
	status, stdout, stderr := runMain(append([]string{"audit", "policy", "--json"}, args...)...)
	if status > 1 {
		t.Fatalf("%q ends with %d\n%s%s", args, status, stdout, stderr)
	}
	if err := validate(schema, []byte(stdout)); err != nil {
		t.Fatalf("the schema refuses the document of %q: %#v", args, err)
	}
	var doc auditedPolicy
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.ExitStatus != status {
		t.Errorf("%q ends with %d, and its document says %d", args, status, doc.ExitStatus)
	}
	return doc
}

// TestExamplesKeepTheirPromises: every rule of every example keeps its promise and can fail.
func TestExamplesKeepTheirPromises(t *testing.T) {
	t.Chdir(t.TempDir())
	schema := auditSchema(t)
	for gate, args := range map[string][]string{
		"human-ai":  {"human-ai/decisions.csv", "--policy", "human-ai/policy.yaml", "--runs", "30"},
		"anchoring": {"--policy", "anchoring/policy.yaml", "--runs", "30"},
		"compare":   {"compare/trials.csv", "--policy", "compare/policy.yaml", "--runs", "200"},
		"fairness":  {"fairness/fairness.yaml", "--runs", "10"},
	} {
		if status, _, stderr := runMain("init", "--example", gate, gate); status != 0 {
			t.Fatal(stderr)
		}
		doc := audited(t, schema, args...)
		if doc.ExitStatus != 0 || len(doc.Rules) < 2 || len(doc.Inputs) == 0 || doc.Policy == nil {
			t.Errorf("%s: %+v", gate, doc)
		}
		for _, r := range doc.Rules {
			if r.Chance == nil || r.Broken() || r.Toothless() || r.Harm.Always {
				t.Errorf("%s, %s: %+v, %+v", gate, r.Rule, r.Chance, r.Harm)
			}
		}
	}
	// A release file is all of its sections, and waivers play no part.
	writeFile(t, "release.yaml", `compare:
  trials: compare/trials.csv
  baseline: old
  candidate: new
  rules: [{id: a, metric: pass_rate_difference, minimum: -1, waive: {until: 2030-01-01, owner: me, reason: later}}]
human_ai:
  decisions: human-ai/decisions.csv
  rules: [{id: b, metric: over_reliance, maximum: 1, per: person}, {id: c, metric: agreement, minimum: 0.5, advisory: true}]
`)
	doc := audited(t, schema, "--policy", "release.yaml", "--runs", "10")
	// Each section reads the file that it names, in whatever way the release file is given.
	writeFile(t, "files.yaml", `human_ai:
  decisions: human-ai/decisions.csv
  rules: [{id: a, metric: agreement, minimum: 0.5}]
anchoring:
  labels: anchoring/labels.csv
  rules: [{id: b, metric: blind_agreement, minimum: 0.5}]
fairness:
  cases: fairness/decided.csv
  label: label
  prediction: prediction
  attributes: {sex: [female, male]}
  rules: [{id: c, rate: error, attribute: sex, max_group_gap: 0.5}]
`)
	for _, args := range [][]string{{"files.yaml"}, {"--policy", "files.yaml"}} {
		var read []string
		for _, in := range audited(t, schema, append(args, "--runs", "1")...).Inputs {
			read = append(read, in.Path)
		}
		if want := []string{"human-ai/decisions.csv", "anchoring/labels.csv", "fairness/decided.csv"}; !slices.Equal(read, want) {
			t.Errorf("%q reads %q", args, read)
		}
	}
	var toothless []string
	for _, r := range doc.Rules {
		if r.Toothless() {
			toothless = append(toothless, r.Rule)
		}
	}
	if doc.ExitStatus != 1 || !slices.Equal(toothless, []string{"b", "c", "a"}) {
		t.Errorf("exit %d, without teeth: %q", doc.ExitStatus, toothless)
	}
}

// TestHostileAudit: names from files and policies neither start a line that a CI runner obeys nor move the cursor, and the
// document is one that the schema accepts.
func TestHostileAudit(t *testing.T) {
	t.Chdir(t.TempDir())
	hostile := "::error::x\x1b[2J\u202ey"
	var rows strings.Builder
	rows.WriteString("id,sex,label,prediction\n")
	for i := range 200 {
		sex := hostile
		if i%2 == 0 {
			sex = "##[error]m"
		}
		rows.WriteString(strings.Join([]string{string(rune('a'+i%26)) + strings.Repeat("x", i), sex, []string{"0", "1"}[i/2%2], []string{"0", "1"}[i/3%2]}, ",") + "\n")
	}
	writeFile(t, "cases.csv", rows.String())
	name, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, "fairness.yaml", "cases: cases.csv\nattributes: {sex: ["+string(name)+", \"##[error]m\"]}\nrules:\n"+
		"  - {id: "+string(name)+", rate: error, attribute: sex, worst_group: {minimum: 0.5}}\n"+
		"  - {id: \"##vso[task]\", rate: error, attribute: sex, max_group_gap: 1}\n")
	status, stdout, stderr := runMain("audit", "policy", "fairness.yaml", "--runs", "5", "--seed", hostile)
	if status != 1 {
		t.Fatalf("exit %d\n%s%s", status, stdout, stderr)
	}
	for line := range strings.Lines(stdout + stderr) {
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "::") || strings.ContainsAny(line, "\x1b\u202e") {
			t.Errorf("the line %q", line)
		}
	}
	doc := audited(t, auditSchema(t), "fairness.yaml", "--runs", "5")
	if doc.Rules[0].Rule != hostile {
		t.Errorf("the rule is %q", doc.Rules[0].Rule)
	}
	_, text, _ := runMain("audit", "policy", "fairness.yaml", "--runs", "5", "--json")
	if strings.ContainsAny(text, "\x1b\u202e") {
		t.Error("the document holds characters that show nothing")
	}
}

// TestAuditWhichGate: the gate is the policy's own, or the one that is named.
func TestAuditWhichGate(t *testing.T) {
	t.Chdir(t.TempDir())
	schema := auditSchema(t)
	writeFile(t, "d.csv", singles(40, 30))
	writeFile(t, "bare.yaml", "rules: [{id: a, metric: accuracy_with, minimum: 0.5}]\n")
	writeFile(t, "section.yaml", "human_ai: {rules: [{id: a, metric: accuracy_with, minimum: 0.5}]}\n")
	writeFile(t, "two.yaml", "human_ai: {decisions: d.csv, rules: [{id: a, metric: accuracy_with, minimum: 0.5}]}\ncompare: {trials: t.csv, baseline: a, candidate: b, rules: [{id: b, metric: sign_test}]}\n")
	for _, args := range [][]string{
		{"d.csv", "--policy", "bare.yaml"}, {"d.csv", "--policy", "bare.yaml", "--gate", "human-ai"},
		{"d.csv", "--policy", "section.yaml"}, {"d.csv", "--policy", "two.yaml", "--gate", "human-ai"},
	} {
		doc := audited(t, schema, append(args, "--runs", "20")...)
		if len(doc.Rules) != 1 || doc.Rules[0].Gate != "human-ai" || doc.Inputs[0].SHA256 != sha256Of(singles(40, 30)) || filepath.Base(doc.Policy.Path) != args[2] {
			t.Errorf("%q: %+v", args, doc)
		}
	}
	// A declaration with the policy beside it, whose rules are added.
	writeFile(t, "cases.csv", caseRows("sex,label,prediction", 60, "f,1,1", 20, "f,1,0", 60, "m,1,1", 30, "m,1,0"))
	writeFile(t, "fairness.yaml", "attributes: {sex: [f, m]}\nrules: [{id: gap, rate: error, attribute: sex, max_group_gap: 0.4}]\n")
	writeFile(t, "beside.yaml", "rules: [{id: worst, rate: error, attribute: sex, worst_group: {maximum: 0.6}}]\n")
	doc := audited(t, schema, "fairness.yaml", "cases.csv", "--policy", "beside.yaml", "--runs", "20")
	if len(doc.Rules) != 2 || len(doc.Policies) != 2 || doc.ExitStatus != 0 {
		t.Errorf("%+v", doc)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "audit policy needs a policy"},
		{[]string{"d.csv", "--policy", "two.yaml"}, "say with --gate which one the files belong to"},
		{[]string{"d.csv", "--policy", "bare.yaml", "--gate", "humanai"}, `--gate is "humanai"; write one of human-ai`},
		{[]string{"d.csv", "--policy", "bare.yaml", "--runs", "0"}, "--runs is 0; write a number from 1 to 1000000"},
		{[]string{"none.csv", "--policy", "bare.yaml"}, "none.csv: "},
		{[]string{"d.csv", "--policy", "none.yaml"}, "none.yaml: cannot read the policy: there is no such file"},
	} {
		status, stdout, stderr := runMain(append([]string{"audit", "policy"}, c.args...)...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%q ends with %d\n%s%s", c.args, status, stdout, stderr)
		}
	}
	status, stdout, _ := runMain("audit", "policy", "none.csv", "--policy", "bare.yaml", "--json")
	if err := validate(reportSchema(t), []byte(stdout)); status != 2 || err != nil {
		t.Errorf("exit %d, %v\n%s", status, err, stdout)
	}
}
