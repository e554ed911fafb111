package policy

import (
	"encoding/json"
	"slices"
	"strconv"
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
	case decimalNumber().MatchString(n.Value):
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
		if _, ofAnchoring := example.(map[string]any)["anchoring"]; ofAnchoring {
			r = readAnchoring("example", data)
		}
		if _, ofFairness := example.(map[string]any)["fairness"]; ofFairness {
			r = readFairness("example", data)
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
		"metric: agreement, minimum: 0.5, per: person":                                                   true,
		"metric: accuracy_difference, minimum: 0, per: person":                                           false,
		"metric: system_accuracy, minimum: 0.5, per: person":                                             false,
		"metric: system_accuracy, minimum: 0.5":                                                          true,
		"metric: accuracy_difference, minimum: -0.5, generalize: people_and_cases":                       true,
		"metric: agreement, minimum: 0.5, generalize: people_and_cases":                                  false,
		"metric: accuracy_difference, minimum: 0, generalize: people_and_cases, looks: once, planned: 9": false,
		"metric: agreement, minimum: -0.5":                                                               false,
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
		var node any = raw
		for _, p := range path {
			if list, isList := node.([]any); isList {
				i, err := strconv.Atoi(p)
				if err != nil {
					t.Fatal(err)
				}
				node = list[i]
				continue
			}
			node = node.(map[string]any)[p]
		}
		var out []string
		for k := range node.(map[string]any)["properties"].(map[string]any) {
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
	groups := "{id: a, rate: selection, attribute: sex, worst_group: {minimum: 0.5}, waive: {}, reviewed: {}}"
	bareFairness := readFairness("p.yaml", []byte("{label: {}, prediction: {}, attributes: {age: {}}, rules: ["+groups+"]}"))
	releaseFairness := readFairness("p.yaml", []byte("fairness: {label: {}, prediction: {}, attributes: {age: {}}, rules: ["+groups+"]}"))
	blind := "{id: a, metric: blind_agreement, minimum: 0.5, waive: {}, reviewed: {}}"
	bareAnchoring := readAnchoring("p.yaml", []byte("rules: ["+blind+"]"))
	releaseAnchoring := readAnchoring("p.yaml", []byte("anchoring: {rules: ["+blind+"]}"))
	same("the top of a file", keys(), bare.doc.Root.Allowed(), release.doc.Root.Allowed(), bareCompare.doc.Root.Allowed(), releaseCompare.doc.Root.Allowed(),
		bareFairness.doc.Root.Allowed(), releaseFairness.doc.Root.Allowed(), bareAnchoring.doc.Root.Allowed(), releaseAnchoring.doc.Root.Allowed())
	section := releaseFairness.policy.Sections[0].Map
	same("a section fairness", keys("$defs", "fairness"), section.Allowed())
	same("a label with words", keys("$defs", "outcome", "oneOf", "1"), section.Map("label").Allowed())
	same("an attribute of numbers", keys("$defs", "attributes", "additionalProperties", "oneOf", "1"), section.Map("attributes").Map("age").Allowed())
	same("a rule of fairness", keys("$defs", "fairness_rule"), releaseFairness.rules[0][0].Map.Allowed())
	same("a section anchoring", keys("$defs", "anchoring"), releaseAnchoring.policy.Sections[0].Map.Allowed())
	same("a rule of anchoring", keys("$defs", "anchoring_rule"), releaseAnchoring.rules[0][0].Map.Allowed())
	same("a section compare", keys("$defs", "compare"), releaseCompare.policy.Sections[0].Map.Allowed())
	same("a plan", keys("$defs", "plan"), releaseCompare.policy.Sections[0].Map.Map("plan").Allowed())
	same("a rule of compare", keys("$defs", "compare_rule"), releaseCompare.rules[0][0].Map.Allowed())
	same("a section", keys("$defs", "human_ai"), release.policy.Sections[0].Map.Allowed())
	same("a rule", keys("$defs", "human_ai_rule"), m.Allowed())
	same("waive", keys("$defs", "human_ai_rule", "properties", "waive"), m.Map("waive").Allowed())
	same("reviewed", keys("$defs", "human_ai_rule", "properties", "reviewed"), m.Map("reviewed").Allowed())

	for form, spec := range map[string]RuleSpec{"human_ai_rule": humanAI, "anchoring_rule": blindLabels, "compare_rule": compare, "fairness_rule": groupRates} {
		var metrics, enum []string
		for _, m := range spec.Metrics {
			if m.Hint == "" {
				metrics = append(append(metrics, m.Name), m.Aliases...)
			}
		}
		slices.Sort(metrics)
		for _, name := range raw["$defs"].(map[string]any)[form].(map[string]any)["properties"].(map[string]any)[spec.MetricKey].(map[string]any)["enum"].([]any) {
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

// blindLabels has the metrics of the anchoring gate (spec section 5): the two differences on [-1, 1], the others on [0, 1].
var blindLabels = RuleSpec{
	MetricKey: "metric",
	Metrics: []MetricSpec{
		{Name: "blind_agreement", Upper: 1}, {Name: "visible_agreement", Upper: 1}, {Name: "anchoring_gap", Lower: -1, Upper: 1}, {Name: "acceptance_rate", Upper: 1},
		{Name: "verify_acceptance", Upper: 1}, {Name: "people_agreement", Upper: 1}, {Name: "model_minus_people", Lower: -1, Upper: 1},
	},
	Thresholds: []Kind{Minimum, Maximum},
}

// readAnchoring reads a policy as the anchoring gate does: the common part, then the gate's own keys.
func readAnchoring(file string, data []byte) *run {
	r := &run{}
	r.doc = Parse(file, data, &r.diags)
	r.policy = Load(r.doc, []SectionSpec{{Key: "anchoring", Gate: "anchoring"}}, "anchoring", version)
	for i := range r.policy.Sections {
		s := &r.policy.Sections[i]
		s.Map.TextOrTexts("labels")
		for _, key := range []string{"draw", "model", "guideline", "valid_until"} {
			s.Map.Text(key)
		}
		s.Map.Int("corpus_size", 1, 1_000_000_000)
		s.Map.Int("minimum_blind_sample", 1, 1_000_000)
		s.Map.Number("least_inclusion_probability", Range{Min: 0, Max: 1})
		s.Map.Int("valid_items", 1, 1_000_000_000)
		s.Map.Done(s.Context())
		rules, _ := ReadRules(s, s.Settings, blindLabels)
		for _, rule := range rules {
			rule.Map.Choice("per", "person", "item", "label")
			rule.Map.Choice("interval", "pairwise")
			rule.Map.Int("corpus_size", 1, 1_000_000_000)
			rule.Map.Done(rule.Name())
		}
		r.rules = append(r.rules, rules)
	}
	return r
}

// TestSchemaAnchoringForms: what goes together in an anchoring policy (spec section 5: people are compared on items; the
// pairwise interval is the gap's, on items; the size of a corpus is for blind agreement over items, at one look).
func TestSchemaAnchoringForms(t *testing.T) {
	compiled, _ := compile(t)
	const blind = "{id: a, metric: blind_agreement, minimum: 0.9}"
	for text, want := range map[string]bool{
		"rules: [" + blind + "]": true,
		"{labels: [a.csv, b.csv], draw: d.csv, corpus_size: 500, rules: [" + blind + "]}":                        true,
		"{labels: a.csv, design: crossed, rules: [" + blind + "]}":                                               false,
		"{labels: a.csv, rules: [{id: a, metric: sign_test}]}":                                                   false,
		"anchoring: {labels: a.csv, model: 7, valid_until: 2027-03-31, valid_items: 10, rules: [" + blind + "]}": true,
		"anchoring: [{labels: a.csv, rules: [" + blind + "]}]":                                                   false, // no name in a list
		"{anchoring: {rules: [" + blind + "]}, corpus_size: 5}":                                                  false,
		"{minimum_blind_sample: 0, rules: [" + blind + "]}":                                                      false,
		"{least_inclusion_probability: 0, rules: [" + blind + "]}":                                               false,
		"{valid_until: soon, rules: [" + blind + "]}":                                                            false,
		"rules: [{id: a, metric: agreement, minimum: 0.9}, " + blind + "]":                                       false,
		"rules: [{id: a, metric: anchoring_gap, maximum: -0.1}]":                                                 true,
		"rules: [{id: a, metric: visible_agreement, maximum: -0.1}]":                                             false,
		"rules: [{id: a, metric: anchoring_gap, maximum: 0.1, interval: pairwise}]":                              true,
		"rules: [{id: a, metric: anchoring_gap, maximum: 0.1, interval: pairwise, per: person}]":                 false,
		"rules: [{id: a, metric: anchoring_gap, maximum: 0.1, interval: pairwise, looks: repeated}]":             false,
		"rules: [{id: a, metric: blind_agreement, minimum: 0.1, interval: pairwise}]":                            false,
		"rules: [{id: a, metric: people_agreement, minimum: 0.1, per: item}]":                                    false,
		"rules: [{id: a, metric: blind_agreement, minimum: 0.1, per: label}]":                                    true,
		"rules: [{id: a, metric: blind_agreement, minimum: 0.1, per: reviewer}]":                                 false,
		"rules: [{id: a, metric: blind_agreement, minimum: 0.1, corpus_size: 50, per: item}]":                    true,
		"rules: [{id: a, metric: blind_agreement, minimum: 0.1, corpus_size: 50, per: person}]":                  false,
		"rules: [{id: a, metric: blind_agreement, minimum: 0.1, corpus_size: 50, where: {site: Lyon}}]":          false,
		"rules: [{id: a, metric: blind_agreement, minimum: 0.1, corpus_size: 50, looks: repeated}]":              false,
		"rules: [{id: a, metric: visible_agreement, minimum: 0.1, corpus_size: 50}]":                             false,
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

// groupRates has the rates of the fairness gate (spec section 7), under all their names.
var groupRates = RuleSpec{
	MetricKey: "rate",
	Metrics: []MetricSpec{
		{Name: "error", Upper: 1}, {Name: "accuracy", Upper: 1}, {Name: "selection", Upper: 1}, {Name: "false_positive", Upper: 1},
		{Name: "true_negative", Aliases: []string{"specificity"}, Upper: 1}, {Name: "false_negative", Upper: 1},
		{Name: "true_positive", Aliases: []string{"recall", "sensitivity"}, Upper: 1},
		{Name: "precision", Aliases: []string{"positive_predictive_value"}, Upper: 1}, {Name: "false_discovery", Upper: 1},
		{Name: "false_omission", Upper: 1}, {Name: "negative_predictive_value", Upper: 1},
	},
	Thresholds: []Kind{MaxGroupGap, WorstGroup, MinGroupRatio},
}

// readFairness reads a declaration as the fairness gate does: the common part, then the gate's own keys.
func readFairness(file string, data []byte) *run {
	r := &run{}
	r.doc = Parse(file, data, &r.diags)
	r.policy = Load(r.doc, []SectionSpec{{Key: "fairness", Gate: "fairness"}}, "fairness", version)
	for i := range r.policy.Sections {
		s := &r.policy.Sections[i]
		s.Map.TextOrTexts("cases")
		for _, key := range []string{"id", "probability", "unit", "positive", "negative"} {
			s.Map.Text(key)
		}
		for _, key := range []string{"label", "prediction"} {
			if !s.Map.IsMapping(key) {
				s.Map.Text(key)
				continue
			}
			of := s.Map.Map(key)
			for _, word := range []string{"column", "positive", "negative"} {
				of.Text(word)
			}
			of.Done(key)
		}
		attributes := s.Map.Map("attributes")
		for _, name := range attributes.Keys() {
			if attributes.IsMapping(name.Value) {
				of := attributes.Map(name.Value)
				of.Numbers("bins")
				of.Done("attribute")
			} else {
				attributes.Texts(name.Value)
			}
		}
		s.Map.Lists("intersections")
		s.Map.Int("min_cell", 1, 1_000_000)
		s.Map.Int("calibration_bins", 2, 1000)
		s.Map.Done(s.Context())
		rules, _ := ReadRules(s, s.Settings, groupRates)
		for _, rule := range rules {
			rule.Map.TextOrTexts("attribute")
			rule.Map.Choice("interval", "pairwise")
			rule.Map.Done(rule.Name())
		}
		r.rules = append(r.rules, rules)
	}
	return r
}

// TestSchemaFairnessForms: what goes together in a declaration of groups (spec section 7).
func TestSchemaFairnessForms(t *testing.T) {
	compiled, _ := compile(t)
	const rule = "{id: a, rate: selection, attribute: sex, max_group_gap: 0.1}"
	for text, want := range map[string]bool{
		"{attributes: {sex: [f, m]}, rules: [" + rule + "]}":                      true,
		"fairness: {attributes: {sex: [f, m]}, rules: [" + rule + "]}":            true,
		"fairness: [{name: a, attributes: {sex: [f, m]}, rules: [" + rule + "]}]": true,
		"fairness: [{attributes: {sex: [f, m]}, rules: [" + rule + "]}]":          false, // no name in a list
		"fairness: []": false,
		"{fairness: {attributes: {sex: [f, m]}}, rules: [" + rule + "]}":                                          false,
		"{fairness: {attributes: {sex: [f, m]}}, min_cell: 5}":                                                    false,
		"{attributes: {sex: [f, m]}, design: crossed, rules: [" + rule + "]}":                                     false,
		"{attributes: {sex: [f, m]}, rules: [{id: a, metric: agreement, minimum: 0.5}]}":                          false,
		"rules: [" + rule + ", {id: b, rate: recall, attribute: [sex, age], worst_group: {maximum: 0.9}}]":        true,
		"rules: [{id: a, rate: recal, attribute: sex, max_group_gap: 0.1}]":                                       false,
		"rules: [{id: a, rate: error, max_group_gap: 0.1}]":                                                       false,
		"rules: [{id: a, rate: error, attribute: [], max_group_gap: 0.1}]":                                        false,
		"rules: [{id: a, rate: error, attribute: sex}]":                                                           false,
		"rules: [{id: a, rate: error, attribute: sex, max_group_gap: 5}]":                                         false,
		"rules: [{id: a, rate: error, attribute: sex, max_group_gap: 0.1, min_group_ratio: 0.8}]":                 false,
		"rules: [{id: a, rate: error, attribute: sex, worst_group: 0.8}]":                                         false,
		"rules: [{id: a, rate: error, attribute: sex, worst_group: {minimum: 0.1, maximum: 0.8}}]":                false,
		"rules: [{id: a, rate: error, attribute: sex, max_group_gap: 0.1, interval: pairwise}]":                   true,
		"rules: [{id: a, rate: error, attribute: sex, min_group_ratio: 0.8, interval: pairwise}]":                 false,
		"rules: [{id: a, rate: error, attribute: sex, max_group_gap: 0.1, interval: pairwise, looks: repeated}]":  false,
		"rules: [{id: a, rate: error, attribute: sex, max_group_gap: 0.1, looks: once, planned: 100}]":            false,
		"rules: [{id: a, rate: error, attribute: sex, max_group_gap: 0.1, looks: repeated, where: {region: no}}]": true,
		"{label: {column: y, positive: yes, negative: no}, prediction: p, attributes: {sex: [f]}}":                true,
		"{label: {words: [a, b]}, attributes: {sex: [f]}}":                                                        false,
		"{positive: approved, negative: denied, attributes: {age: {bins: [30, 60]}}}":                             true,
		"{attributes: {age: {bins: []}}}":                                                                         false,
		"{attributes: {age: {bins: [30, 30]}}}":                                                                   false,
		"{attributes: {age: {bins: [old]}}}":                                                                      false,
		"{attributes: {age: {cuts: [30]}}}":                                                                       false,
		"{attributes: {sex: []}}":                                                                                 false,
		"{attributes: {}}":                                                                                        false,
		"{attributes: {sex: [f, m]}, intersections: [[sex, age]]}":                                                true,
		"{attributes: {sex: [f, m]}, intersections: [[sex]]}":                                                     false,
		"{attributes: {sex: [f, m]}, intersections: [sex, age]}":                                                  false,
		"{attributes: {sex: [f, m]}, min_cell: 0}":                                                                false,
		"{attributes: {sex: [f, m]}, calibration_bins: 1}":                                                        false,
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

// TestEveryKeyIsDescribed: an editor has something to show at every key, by itself or by the definition that it refers to. What only
// conditions of other keys (if, then, else, not) is no key of its own.
func TestEveryKeyIsDescribed(t *testing.T) {
	_, root := compile(t)
	defs := root["$defs"].(map[string]any)
	described := 0
	var walk func(path string, node any)
	walk = func(path string, node any) {
		schema, ok := node.(map[string]any)
		if !ok {
			return
		}
		keys, _ := schema["properties"].(map[string]any)
		for key, of := range keys {
			of, ok := of.(map[string]any)
			if !ok { // true or false: allowed or not, and described elsewhere
				continue
			}
			for seen := 0; seen < 10; seen++ {
				ref, refers := of["$ref"].(string)
				if text, _ := of["description"].(string); text != "" || !refers {
					break
				}
				parts := strings.Split(ref, "/")[1:] // #/$defs/NAME or #/$defs/NAME/properties/KEY
				at := any(root)
				for _, part := range parts {
					at = at.(map[string]any)[part]
				}
				of = at.(map[string]any)
			}
			if text, _ := of["description"].(string); text == "" {
				t.Errorf("%s/%s has no description", path, key)
			} else {
				described++
			}
			walk(path+"/"+key, keys[key])
		}
		for _, under := range []string{"oneOf", "anyOf"} {
			list, _ := schema[under].([]any)
			for _, of := range list {
				walk(path, of)
			}
		}
		walk(path+"/*", schema["items"])
		walk(path+"/*", schema["additionalProperties"])
	}
	walk("", root)
	for name, of := range defs {
		walk("#/"+name, of)
	}
	if described < 100 { // the file alone has some 40 keys, and each gate's section and rule about as many
		t.Errorf("only %d keys were looked at", described)
	}
}
