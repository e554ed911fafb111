package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

func compile(t *testing.T) (compiled *jsonschema.Schema, raw map[string]any) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("policy.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err = c.Compile("policy.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled, doc.(map[string]any)
}

// jsonValue is what an editor sees of a YAML node: scalars by YAML 1.2's core schema.
func jsonValue(n *yaml.Node) any {
	switch n.Kind {
	case yaml.DocumentNode:
		return jsonValue(n.Content[0])
	case yaml.AliasNode:
		return "*" + n.Value // not followed: one test file is an alias bomb
	case yaml.SequenceNode:
		out := []any{}
		for _, item := range n.Content {
			out = append(out, jsonValue(item))
		}
		return out
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = jsonValue(n.Content[i+1])
		}
		return out
	}
	v := value{kind: scalar, text: n.Value, plain: n.Style == 0}
	switch {
	case !v.plain:
		return n.Value
	case v.isNull():
		return nil
	case strings.EqualFold(n.Value, "true"):
		return true
	case strings.EqualFold(n.Value, "false"):
		return false
	case decimalNumber.MatchString(n.Value):
		// JSON writes numbers more strictly: no plus sign, no leading zeros, a digit on both sides of the point.
		s := strings.TrimPrefix(n.Value, "+")
		sign := ""
		if strings.HasPrefix(s, "-") {
			sign, s = "-", s[1:]
		}
		s = strings.TrimLeft(s, "0")
		if s == "" || s[0] < '0' || s[0] > '9' {
			s = "0" + s
		}
		s = strings.Replace(s+" ", ". ", ".0 ", 1)
		return json.Number(sign + strings.TrimSpace(s))
	}
	return n.Value
}

func TestSchemaAccepts(t *testing.T) {
	compiled, raw := compile(t)
	for name, data := range files(t, "ok") {
		var n yaml.Node
		if err := yaml.Unmarshal(data, &n); err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(jsonValue(&n)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i, example := range raw["examples"].([]any) {
		if err := compiled.Validate(example); err != nil {
			t.Errorf("the schema's own example %d: %v", i, err)
		}
		data, err := json.Marshal(example)
		if err != nil {
			t.Fatal(err)
		}
		r := read("example", data, humanAI)
		if _, ofCompare := example.(map[string]any)["compare"]; ofCompare {
			r = readCompare("example", data)
		}
		if r.diags.Len() != 0 {
			t.Errorf("the schema's own example %d: %s", i, r.problems())
		}
	}
}

// notInSchema lists the bad policies that a JSON Schema cannot refuse, and why.
var notInSchema = map[string]string{
	"duplicate_id.yaml":                 "compares two places",
	"duplicate_id_across_sections.yaml": "compares two places",
	"duplicate_key.yaml":                "YAML, not structure",
	"empty.yaml":                        "no value",
	"line_separator.yaml":               "YAML, not structure",
	"mean_method_without_once.yaml":     "looks may come from elsewhere",
	"no_counting_rule.yaml":             "an advisory rule is right beside a section that counts",
	"not_utf8.yaml":                     "no text",
	"nul.yaml":                          "YAML, not structure",
	"once_without_planned.yaml":         "planned may come from elsewhere",
	"once_without_planned_on_rule.yaml": "planned may come from elsewhere",
	"planned_without_once.yaml":         "looks may come from elsewhere",
	"requires_later.yaml":               "depends on the program",
	"second_document.yaml":              "YAML, not structure",
	"sections_of_one_name.yaml":         "compares two places",
	"settings_without_rules.yaml":       "looks may come from elsewhere",
	"syntax.yaml":                       "YAML, not structure",
	"syntax_on_first_line.yaml":         "YAML, not structure",
	"tab.yaml":                          "YAML, not structure",
	"yaml_directive.yaml":               "YAML, not structure",
}

func TestSchemaRefuses(t *testing.T) {
	compiled, _ := compile(t)
	for name, data := range files(t, "err") {
		var n yaml.Node
		readable := yaml.Unmarshal(data, &n) == nil && n.Kind != 0
		refused := readable && compiled.Validate(jsonValue(&n)) != nil
		if _, listed := notInSchema[name]; refused == listed {
			t.Errorf("%s: refused by the schema: %t, listed as beyond it: %t", name, refused, listed)
		}
	}
}

// TestSchemaRuleForms: what goes together in a human-ai rule (spec section 4: accuracy_difference is a mean over people
// already, system_accuracy has no per-person form, only the difference takes cases as drawn too).
func TestSchemaRuleForms(t *testing.T) {
	compiled, _ := compile(t)
	for form, want := range map[string]bool{
		"metric: agreement, minimum: 0.5, per: person":                             true,
		"metric: accuracy_difference, minimum: 0, per: person":                     false,
		"metric: system_accuracy, minimum: 0.5, per: person":                       false,
		"metric: system_accuracy, minimum: 0.5":                                    true,
		"metric: accuracy_difference, minimum: -0.5, generalize: people_and_cases": true,
		"metric: agreement, minimum: 0.5, generalize: people_and_cases":            false,
		"metric: agreement, minimum: -0.5":                                         false,
	} {
		var n yaml.Node
		if err := yaml.Unmarshal([]byte("rules: [{id: a, "+form+"}]"), &n); err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(jsonValue(&n)); (err == nil) != want {
			t.Errorf("%s: %v", form, err)
		}
	}
}

// TestSchemaKeys: the schema knows the keys that the code reads, and no others.
func TestSchemaKeys(t *testing.T) {
	_, raw := compile(t)
	keys := func(path ...string) []string {
		node := raw
		for _, p := range path {
			node = node[p].(map[string]any)
		}
		var out []string
		for k := range node["properties"].(map[string]any) {
			out = append(out, k)
		}
		slices.Sort(out)
		return out
	}
	same := func(what string, schema []string, code ...[]string) {
		t.Helper()
		all := slices.Concat(code...)
		slices.Sort(all)
		if diff := cmp.Diff(schema, slices.Compact(all)); diff != "" {
			t.Errorf("%s (-schema +code):\n%s", what, diff)
		}
	}
	rule := "{id: a, metric: agreement, minimum: 0.5, waive: {}, reviewed: {}}"
	bare := read("p.yaml", []byte("rules: ["+rule+"]"), humanAI)
	release := read("p.yaml", []byte("human_ai: {rules: ["+rule+"]}"), humanAI)
	m := release.rules[0][0].Map
	trials := "{id: a, metric: pass_at_k, k: 1, minimum: 0.5, waive: {}, reviewed: {}}"
	bareCompare := readCompare("p.yaml", []byte("rules: ["+trials+"]"))
	releaseCompare := readCompare("p.yaml", []byte("compare: {plan: {}, rules: ["+trials+"]}"))
	same("the top of a file", keys(), bare.doc.Root.Allowed(), release.doc.Root.Allowed(), bareCompare.doc.Root.Allowed(), releaseCompare.doc.Root.Allowed())
	same("a section compare", keys("$defs", "compare"), releaseCompare.policy.Sections[0].Map.Allowed())
	same("a plan", keys("$defs", "plan"), releaseCompare.policy.Sections[0].Map.Map("plan").Allowed())
	same("a rule of compare", keys("$defs", "compare_rule"), releaseCompare.rules[0][0].Map.Allowed())
	same("a section", keys("$defs", "human_ai"), release.policy.Sections[0].Map.Allowed())
	same("a rule", keys("$defs", "human_ai_rule"), m.Allowed())
	same("waive", keys("$defs", "human_ai_rule", "properties", "waive"), m.Map("waive").Allowed())
	same("reviewed", keys("$defs", "human_ai_rule", "properties", "reviewed"), m.Map("reviewed").Allowed())

	for form, spec := range map[string]RuleSpec{"human_ai_rule": humanAI, "compare_rule": compare} {
		var metrics, enum []string
		for _, m := range spec.Metrics {
			if m.Hint == "" {
				metrics = append(metrics, m.Name)
			}
		}
		slices.Sort(metrics)
		for _, name := range raw["$defs"].(map[string]any)[form].(map[string]any)["properties"].(map[string]any)["metric"].(map[string]any)["enum"].([]any) {
			enum = append(enum, name.(string))
		}
		slices.Sort(enum)
		if diff := cmp.Diff(enum, metrics); diff != "" {
			t.Errorf("metrics of a %s (-schema +code):\n%s", form, diff)
		}
	}
}

// compare has the metrics of the compare gate (spec section 6): rates on [0, 1], the difference on [-1, 1], the sign test
// without a threshold.
var compare = RuleSpec{
	MetricKey: "metric",
	Metrics: []MetricSpec{
		{Name: "sign_test", NoThreshold: true}, {Name: "pass_rate_difference", Lower: -1, Upper: 1},
		{Name: "rate", Upper: 1}, {Name: "pass_at_k", Upper: 1}, {Name: "pass_all_k", Upper: 1},
	},
	Thresholds: []Kind{Minimum, Maximum},
}

// readCompare reads a policy as the compare gate does: the common part, then the gate's own keys.
func readCompare(file string, data []byte) *run {
	r := &run{}
	r.doc = Parse(file, data, &r.diags)
	r.policy = Load(r.doc, []SectionSpec{{Key: "compare", Gate: "compare"}}, "compare", version)
	for i := range r.policy.Sections {
		s := &r.policy.Sections[i]
		s.Map.TextOrTexts("trials")
		s.Map.Text("baseline")
		s.Map.Text("candidate")
		s.Map.Choice("case_list", "sampled", "fixed")
		plan := s.Map.Map("plan")
		plan.Int("cases", 1, 1_000_000)
		plan.Int("trials", 1, 100_000)
		plan.Done("plan")
		s.Map.Done(s.Context())
		rules, _ := ReadRules(s, s.Settings, compare)
		for _, rule := range rules {
			rule.Map.Int("k", 1, 1<<31-1)
			rule.Map.Choice("version", "baseline", "candidate")
			rule.Map.Done(rule.Name())
		}
		r.rules = append(r.rules, rules)
	}
	return r
}

// TestSchemaCompareForms: what goes together in a compare policy (spec section 6: the sign test has no threshold and compares
// both versions; only pass_at_k and pass_all_k have a k, which they need; a fixed list of cases was not drawn).
func TestSchemaCompareForms(t *testing.T) {
	compiled, _ := compile(t)
	for text, want := range map[string]bool{
		"rules: [{id: a, metric: sign_test}]":                                                                     true,
		"rules: [{id: a, metric: sign_test, minimum: 0}]":                                                         false,
		"rules: [{id: a, metric: sign_test, version: baseline}]":                                                  false,
		"rules: [{id: a, metric: sign_test, looks: repeated}]":                                                    true,
		"rules: [{id: a, metric: sign_test, looks: once, planned: 8}]":                                            false,
		"rules: [{id: a, metric: pass_rate_difference, minimum: -0.02}]":                                          true,
		"rules: [{id: a, metric: pass_rate_difference}]":                                                          false,
		"rules: [{id: a, metric: pass_rate_difference, minimum: -0.02, version: candidate}]":                      false,
		"rules: [{id: a, metric: rate, minimum: 0.5, version: baseline}]":                                         true,
		"rules: [{id: a, metric: rate, minimum: -0.5}]":                                                           false,
		"rules: [{id: a, metric: rate, minimum: 0.5, k: 1}]":                                                      false,
		"rules: [{id: a, metric: rate, minimum: 0.5, maximum: 0.9}]":                                              false,
		"rules: [{id: a, metric: pass_at_k, k: 3, minimum: 0.5}]":                                                 true,
		"rules: [{id: a, metric: pass_all_k, minimum: 0.5}]":                                                      false,
		"rules: [{id: a, metric: pass_all_k, k: 0, minimum: 0.5}]":                                                false,
		"rules: [{id: a, metric: rate, minimum: 0.5, where: {level: hard}, looks: once, planned: 9}]":             true,
		"rules: [{id: a, metric: sign_test}, {id: b, metric: agreement, minimum: 0.5}]":                           false,
		"{baseline: old, candidate: new, plan: {cases: 8, trials: 5}, rules: [{id: a, metric: sign_test}]}":       true,
		"{plan: {cases: 8, trials: 100001}, rules: [{id: a, metric: sign_test}]}":                                 false,
		"{plan: {cases: 8}, rules: [{id: a, metric: sign_test}]}":                                                 false,
		"{plan: {cases: 8, trials: 5}, rules: [{id: a, metric: agreement, minimum: 0.5}]}":                        false,
		"{plan: {cases: 8, trials: 5}, design: crossed, rules: [{id: a, metric: sign_test}]}":                     false,
		"{case_list: fixed, rules: [{id: a, metric: rate, minimum: 0.5}]}":                                        true,
		"{case_list: fixed, rules: [{id: a, metric: rate, minimum: 0.5, looks: once, planned: 8}]}":               false,
		"compare: {case_list: fixed, looks: once, planned: 8, rules: [{id: a, metric: rate, minimum: 0.5}]}":      false,
		"compare: {case_list: some, rules: [{id: a, metric: rate, minimum: 0.5}]}":                                false,
		"compare: {baseline: a.csv, candidate: b.csv, rules: [{id: a, metric: sign_test}]}":                       true,
		"compare: [{name: a, trials: [x, y], rules: [{id: a, metric: sign_test}]}]":                               true,
		"compare: [{trials: x, rules: [{id: a, metric: sign_test}]}]":                                             false,
		"{compare: {trials: x}, plan: {cases: 8, trials: 5}}":                                                     false,
		"{compare: {trials: x, rules: [{id: a, metric: sign_test}]}, human_ai: {decisions: y}, confidence: 0.9}":  true,
		"{compare: {trials: x, rules: [{id: a, metric: over_reliance, maximum: 0.5}]}, human_ai: {decisions: y}}": false,
	} {
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(text), &n); err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(jsonValue(&n)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
