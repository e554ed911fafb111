package policy

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/oloproof/oloproof/engine/diag"
	"pgregory.net/rapid"
)

// tree is a policy to be written out: a scalar, a list of trees, or the entries of a mapping.
type tree struct {
	scalar  string
	items   []tree
	entries []treeEntry
}

type treeEntry struct {
	key   string
	value tree
}

// drawMapping draws some of the entries offered, each value being one scalar of several.
func drawMapping(t *rapid.T, required []treeEntry, offered map[string][]string) tree {
	out := slices.Clone(required)
	var keys []string
	for k := range offered {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if rapid.Bool().Draw(t, "with "+k) {
			out = append(out, treeEntry{k, tree{scalar: rapid.SampledFrom(offered[k]).Draw(t, k)}})
		}
	}
	return tree{entries: out}
}

var judging = map[string][]string{
	"confidence":   {"0.9", ".95", "0.50"},
	"looks":        {"once", "repeated"},
	"planned":      {"2", "40"},
	"mean_method":  {"sympol"},
	"max_left_out": {"0", "0.2", "1"},
}

// drawPolicy draws a policy that may be wrong in how looks, planned and mean_method go together and in repeated
// ids, but in nothing else.
func drawPolicy(t *rapid.T) tree {
	var rules []tree
	for range rapid.IntRange(1, 4).Draw(t, "rules") {
		rule := drawMapping(t, []treeEntry{
			{"id", tree{scalar: rapid.SampledFrom([]string{"a", "no", "010", `"b: c"`, "é"}).Draw(t, "id")}},
			{"metric", tree{scalar: rapid.SampledFrom([]string{"agreement", "accuracy_difference"}).Draw(t, "metric")}},
			{rapid.SampledFrom([]string{"minimum", "maximum"}).Draw(t, "kind"), tree{scalar: rapid.SampledFrom([]string{"0", "0.5", "1e-2"}).Draw(t, "threshold")}},
		}, judging)
		if rapid.Bool().Draw(t, "waive") {
			rule.entries = append(rule.entries, treeEntry{"waive", tree{entries: []treeEntry{
				{"until", tree{scalar: "2027-03-31"}}, {"owner", tree{scalar: "ana"}}, {"reason", tree{scalar: "it's # fine"}},
			}}})
		}
		rules = append(rules, rule)
	}
	section := drawMapping(t, []treeEntry{
		{"rules", tree{items: rules}},
		{"missing_values", tree{items: []tree{{scalar: "NA"}, {scalar: "yes"}}}},
	}, judging)
	if rapid.Bool().Draw(t, "bare") {
		return section
	}
	top := drawMapping(t, nil, judging)
	top.entries = slices.DeleteFunc(top.entries, func(e treeEntry) bool { return e.key == "planned" })
	top.entries = append(top.entries, treeEntry{"human_ai", section})
	return top
}

// write writes the tree in block style. With vary, keys come in any order and comments and blank lines anywhere.
func (n tree) write(b *strings.Builder, indent string, vary *rapid.T) {
	comment := func() {
		if vary != nil && rapid.Bool().Draw(vary, "comment") {
			b.WriteString(rapid.SampledFrom([]string{"\n", "# minimum: 7\n", indent + "# é: [\n", "      # - id: z\n"}).Draw(vary, "text"))
		}
	}
	end := func() {
		if vary != nil && rapid.Bool().Draw(vary, "trailing") {
			b.WriteString("   # {")
		}
		b.WriteString("\n")
	}
	child := func(v tree) {
		if v.items == nil && v.entries == nil {
			b.WriteString(" " + v.scalar)
			end()
			return
		}
		end()
		v.write(b, indent+"  ", vary)
	}
	for _, item := range n.items {
		comment()
		b.WriteString(indent + "-")
		child(item)
	}
	entries := n.entries
	if vary != nil && entries != nil {
		entries = rapid.Permutation(entries).Draw(vary, "order")
	}
	for _, e := range entries {
		comment()
		b.WriteString(indent + e.key + ":")
		child(e.value)
	}
}

// TestLayoutDoesNotMatter: comments, blank lines and the order of keys change neither a value nor a message, only
// positions.
func TestLayoutDoesNotMatter(t *testing.T) {
	anywhere := cmp.Comparer(func(a, b diag.Pos) bool { return true })
	noMaps := cmp.Comparer(func(a, b *Map) bool { return true })
	messages := func(r *run) []string {
		var out []string
		items, _ := r.diags.Sorted()
		for _, d := range items {
			// The position of the first of two equal ids is inside the message.
			message, _, _ := strings.Cut(d.Message, " is taken by")
			out = append(out, message)
		}
		slices.Sort(out)
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		policy := drawPolicy(t)
		var plain, varied strings.Builder
		policy.write(&plain, "", nil)
		policy.write(&varied, "", t)
		a, b := read("p.yaml", []byte(plain.String()), humanAI), read("p.yaml", []byte(varied.String()), humanAI)
		if len(a.rules) != 1 || len(a.rules[0]) == 0 {
			t.Fatalf("no rules read from\n%s%s", plain.String(), a.problems())
		}
		if diff := cmp.Diff(a.rules, b.rules, anywhere, noMaps); diff != "" {
			t.Fatalf("rules differ:\n%s\nfrom\n%s\nand\n%s", diff, plain.String(), varied.String())
		}
		if diff := cmp.Diff(a.policy.Sections[0].Settings, b.policy.Sections[0].Settings, anywhere); diff != "" {
			t.Fatalf("settings differ:\n%s\nfrom\n%s\nand\n%s", diff, plain.String(), varied.String())
		}
		if diff := cmp.Diff(messages(a), messages(b)); diff != "" {
			t.Fatalf("problems differ:\n%s\nfrom\n%s\nand\n%s", diff, plain.String(), varied.String())
		}
	})
}

// checkRun reports what must hold of any input: problems that lie in the file and take one line, or a policy
// whose every rule can be decided.
func checkRun(t *testing.T, data []byte, r *run, spec RuleSpec) {
	t.Helper()
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(data), byteOrderMark)), "\n")
	items, _ := r.diags.Sorted()
	for _, d := range items {
		if d.Line > len(lines) || d.Column > 0 && d.Line == 0 || d.Column > 1 && d.Column > utf8.RuneCountInString(lines[d.Line-1])+1 {
			t.Errorf("outside the file: %s", d)
		}
		if d.Message == "" || strings.ContainsAny(d.Message, "\n\r\x00\x1b") || len(d.Message) > 2000 {
			t.Errorf("not a message for one line: %q", d.Message)
		}
	}
	if r.diags.Len() > 0 {
		return
	}
	for _, rules := range r.rules {
		for _, rule := range rules {
			once := rule.Looks.Value == LooksOnce
			if !rule.ID.Set || !rule.Metric.Set || rule.Pos.Line == 0 || !confidences.Holds(rule.Confidence.Value) ||
				rule.Planned.Set != once || rule.MeanMethod.Set && !once || once && rule.Planned.Value < 2 ||
				!(rule.MaxLeftOut.Value >= 0 && rule.MaxLeftOut.Value <= 1) {
				t.Errorf("a rule that cannot be decided: %+v", rule)
			}
			for _, m := range spec.Metrics {
				if m.Name != rule.Metric.Value {
					continue
				}
				if (rule.Threshold == nil) != m.NoThreshold || m.Hint != "" {
					t.Errorf("threshold %v of %s", rule.Threshold, m.Name)
				}
				if th := rule.Threshold; th != nil && !(th.Value.Value >= m.Lower && th.Value.Value <= m.Upper) {
					t.Errorf("threshold %v of %s is outside its range", th, m.Name)
				}
			}
		}
	}
}

// FuzzPolicy: no input panics, and what is accepted is whole. Both specs read it, so that every key is reached.
func FuzzPolicy(f *testing.F) {
	for _, dir := range []string{"ok", "err"} {
		for _, data := range files(f, dir) {
			f.Add(data)
		}
	}
	f.Add([]byte("rules: [{id: a, rate: selection, worst_group: {minimum: 0.8}}, {id: b, rate: selection, min_group_ratio: 0.8}, {id: c, rate: sign_test}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, spec := range []RuleSpec{humanAI, fairness} {
			checkRun(t, data, read("p.yaml", data, spec), spec)
		}
	})
}
