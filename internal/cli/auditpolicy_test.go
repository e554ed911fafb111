package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/oloproof/oloproof/engine/audit"
)

// auditSchema is the compiled schema of audits of policies.
func auditSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	schema, err := compilePrinted("audit-policy")
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
	if testing.Short() {
		t.Skip("a simulation: left out with -short")
	}
	t.Chdir(t.TempDir())
	schema := auditSchema(t)
	for gate, args := range map[string][]string{
		"human-ai":  {"human-ai/decisions.csv", "--policy", "human-ai/policy.yaml", "--runs", "100"},
		"anchoring": {"--policy", "anchoring/policy.yaml", "--runs", "100"},
		"compare":   {"compare/trials.csv", "--policy", "compare/policy.yaml", "--runs", "100"},
		"fairness":  {"fairness/fairness.yaml", "--runs", "100"},
	} {
		if status, _, stderr := runMain("init", "--example", gate, gate); status != 0 {
			t.Fatal(stderr)
		}
		if gate == "fairness" { // the first 800 of its cases, of two of its rules, to be quick
			shorten(t, "fairness/decided.csv", func(n int, _ string) bool { return n <= 800 })
			shorten(t, "fairness/fairness.yaml", func(_ int, line string) bool { return !strings.Contains(line, "id: fnr-") })
		}
		doc := audited(t, schema, args...)
		if doc.ExitStatus != 0 || len(doc.Rules) < 2 || len(doc.Inputs) == 0 || doc.Policy == nil {
			t.Errorf("%s: %+v", gate, doc)
		}
		for _, r := range doc.Rules {
			if r.Chance == nil || r.Broken() || r.CanFail() == audit.Cannot || r.Harm.Always {
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
	doc := audited(t, schema, "--policy", "release.yaml", "--runs", "100")
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
		for _, in := range audited(t, schema, append(args, "--runs", "100")...).Inputs {
			read = append(read, in.Path)
		}
		if want := []string{"human-ai/decisions.csv", "anchoring/labels.csv", "fairness/decided.csv"}; !slices.Equal(read, want) {
			t.Errorf("%q reads %q", args, read)
		}
	}
	var toothless []string
	for _, r := range doc.Rules {
		if r.CanFail() == audit.Cannot {
			toothless = append(toothless, r.Rule)
		}
	}
	if doc.ExitStatus != 1 || !slices.Equal(toothless, []string{"b", "c", "a"}) {
		t.Errorf("exit %d, without teeth: %q", doc.ExitStatus, toothless)
	}
}

// shorten keeps of a file the lines, counted from 0, for which keep holds.
func shorten(t *testing.T, path string, keep func(n int, line string) bool) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	kept, n := "", 0
	for line := range strings.Lines(string(text)) {
		if keep(n, line) {
			kept += line
		}
		n++
	}
	writeFile(t, path, kept)
}

// TestAuditOfUnlike: what keeps a rule from failing, or from passing, is told apart, and a rule that can fail now and then is not one
// that cannot.
func TestAuditOfUnlike(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and nothing in it runs side by side")
	}
	t.Chdir(t.TempDir())
	if status, _, stderr := runMain("init", "--example", "human-ai", "study"); status != 0 {
		t.Fatal(stderr)
	}
	writeFile(t, "p.yaml", `rules:
  - {id: end, metric: over_reliance, maximum: 1, per: person}
  - {id: pooled, metric: over_reliance, maximum: 0.5}
  - {id: few, metric: over_reliance, maximum: 0.95, per: person}
  - {id: weak, metric: over_reliance, maximum: 0.5, per: person, advisory: true}
  - {id: planned, metric: accuracy_difference, minimum: 0, looks: once, planned: 10}
`)
	status, stdout, stderr := runMain("audit", "policy", "study/decisions.csv", "--policy", "p.yaml", "--runs", "100")
	if status != 1 || !strings.Contains(stderr, "Audited 5 rules (1 advisory, which does not count): the promises are kept, 3 cannot fail, 1 cannot pass, exit 1") {
		t.Errorf("exit %d\n%s", status, stderr)
	}
	said := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{
		"CANNOT FAIL, because of its threshold: its threshold is the largest value that there is, so that nothing can be beyond it.",
		"CANNOT FAIL, because it is always left to a person: Among the 23 decisions",
		"CANNOT FAIL with so little data: even with the worst possible harm in all of the file's rows it is undecided. It rests on 8 people. It would take about 1,800 more people at the present spread; recording what is missing",
		"(weak) ", "It can FAIL, and seldom does: with the worst possible harm planted (over_reliance: 1), in ",
		"Its planned 10 people are not all there. The finished study was audited: 2 of them are copies of those in the file. The least harm that it finds in 80 % of the studies: accuracy_difference at -0.",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, stdout)
		}
	}
	for line := range strings.Lines(stdout) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("a line of %d characters: %q", n, line)
		}
	}
	// The document of such rules: six planned cases, two of them copied from four, and a sign test that four cases do not decide.
	writeFile(t, "t.csv", "case,version,passed\na,old,1\na,new,1\nb,old,0\nb,new,0\nc,old,1\nc,new,1\nd,old,1\nd,new,1\n")
	writeFile(t, "c.yaml", "baseline: old\ncandidate: new\nrules: [{id: planned, metric: pass_rate_difference, minimum: -0.5, looks: once, planned: 6}, {id: few, metric: sign_test}]\n")
	doc := audited(t, auditSchema(t), "t.csv", "--policy", "c.yaml", "--runs", "100")
	f, few := doc.Rules[0].Finished, doc.Rules[1].Harm
	if f == nil || *f != (audit.Finished{Planned: 6, Copied: 2, Units: "cases"}) || few.Cause != audit.TooFew || few.Needs.AtLeast < 1 || few.NeedsToPass == nil || doc.Rules[0].Chance.Checks[0].BrokenFrom < 1 {
		t.Errorf("%+v, %+v", f, few)
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
	status, stdout, stderr := runMain("audit", "policy", "fairness.yaml", "--runs", "100", "--seed", hostile)
	if status != 1 {
		t.Fatalf("exit %d\n%s%s", status, stdout, stderr)
	}
	for line := range strings.Lines(stdout + stderr) {
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "::") || strings.ContainsAny(line, "\x1b\u202e") {
			t.Errorf("the line %q", line)
		}
	}
	doc := audited(t, auditSchema(t), "fairness.yaml", "--runs", "100")
	if doc.Rules[0].Rule != hostile {
		t.Errorf("the rule is %q", doc.Rules[0].Rule)
	}
	_, text, _ := runMain("audit", "policy", "fairness.yaml", "--runs", "100", "--json")
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
		doc := audited(t, schema, append(args, "--runs", "100")...)
		if len(doc.Rules) != 1 || doc.Rules[0].Gate != "human-ai" || doc.Inputs[0].SHA256 != sha256Of(singles(40, 30)) || filepath.Base(doc.Policy.Path) != args[2] {
			t.Errorf("%q: %+v", args, doc)
		}
	}
	// A declaration with the policy beside it, whose rules are added.
	writeFile(t, "cases.csv", caseRows("sex,label,prediction", 60, "f,1,1", 20, "f,1,0", 60, "m,1,1", 30, "m,1,0"))
	writeFile(t, "fairness.yaml", "attributes: {sex: [f, m]}\nrules: [{id: gap, rate: error, attribute: sex, max_group_gap: 0.4}]\n")
	writeFile(t, "beside.yaml", "rules: [{id: worst, rate: error, attribute: sex, worst_group: {maximum: 0.6}}]\n")
	doc := audited(t, schema, "fairness.yaml", "cases.csv", "--policy", "beside.yaml", "--runs", "100")
	if len(doc.Rules) != 2 || len(doc.Policies) != 2 || doc.ExitStatus != 0 {
		t.Errorf("%+v", doc)
	}
	writeFile(t, "labels.csv", "item,annotator,suggestion,label,visibility\n1,a,x,x,blind\n")
	writeFile(t, "draw.csv", "item,visibility,inclusion_probability\n1,blind,1\n")
	writeFile(t, "drawn.yaml", "draw: draw.csv\nlabels: labels.csv\nrules: [{id: a, metric: blind_agreement, minimum: 0.5}]\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "audit policy needs a policy"},
		{[]string{"d.csv", "--policy", "two.yaml"}, "say with --gate which one the files belong to"},
		{[]string{"d.csv", "--policy", "bare.yaml", "--gate", "humanai"}, `--gate is "humanai"; write one of human-ai`},
		{[]string{"d.csv", "--policy", "bare.yaml", "--runs", "0"}, "--runs is 0; write a number from 100 to 1000000"},
		{[]string{"d.csv", "--policy", "bare.yaml", "--runs", "99"}, "--runs is 99; write a number from 100 to 1000000: in fewer studies a broken promise could not be told from chance"},
		{[]string{"d.csv", "--policy", "bare.yaml", "--runs", "1000001"}, "--runs is 1000001; write a number from 100 to 1000000"},
		{[]string{"d.csv", "--policy", "bare.yaml", "--runs", "abc"}, "invalid argument \"abc\" for \"--runs\" flag: write a whole number; `"},
		{[]string{"d.csv", "--policy", "bare.yaml", "--runs", "99999999999999999999"}, "for \"--runs\" flag: it is too large; `"},
		{[]string{"labels.csv", "--policy", "drawn.yaml"}, "drawn.yaml:1:7: draw: draw.csv is not read where files are named on the command line, and without it no rule on blind labels can be decided; add --draw draw.csv, or leave labels.csv out"},
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
