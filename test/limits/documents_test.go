//go:build linux

package limits

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// deepJSON are documents that nest n deep.
func deepJSON(n int) map[string]string {
	return map[string]string{
		"arrays":            strings.Repeat("[", n) + strings.Repeat("]", n),
		"objects":           strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n),
		"arrays in a key":   `{"schema":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}",
		"arrays, cut off":   strings.Repeat("[", n),
		"two bytes, no key": `{"":` + strings.Repeat(`{"":`, n) + "1" + strings.Repeat("}", n+1),
	}
}

// TestPolicies: a policy that is too long, too deep, or that grows by its aliases is an error, in bounded memory, from the command line
// and in a step.
func TestPolicies(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'z'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	n := 1 << 20
	for _, s := range studies() {
		if !long && s.gate != "compare" {
			continue
		}
		dir := s.folder(t)
		put(t, dir, "rows.csv", s.content(200))
		for i, c := range []struct{ what, text, want string }{
			{"an alias bomb", bomb, "alias"},
			{"an alias bomb of rules", bomb + "rules: *z\n", "alias"},
			{"merged keys", "a: &a {b: 1}\nrules: [{<<: *a, id: a}]\n", "policy.yaml:"},
			{"lists in lists", "rules: " + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "\n", "policy.yaml:"},
			{"half a million lists", "rules: " + strings.Repeat("[", n/2-100) + strings.Repeat("]", n/2-100) + "\n", "policy.yaml"},
			{"lists without an end", strings.Repeat("[", n-1), "policy.yaml"},
			{"mappings in mappings", strings.Repeat("{a: ", n/5) + strings.Repeat("}", n/5), "policy.yaml"},
			{"block lists in lists", strings.Repeat("- ", n/2-10) + "x\n", "policy.yaml"},
			{"keys in keys", strings.Repeat("? ", n/2-10) + "x\n", "policy.yaml"},
			{"100,000 keys", "rules: []\n" + func() (text string) {
				var b strings.Builder
				for i := range 80_000 {
					fmt.Fprintf(&b, "key%d: 1\n", i)
				}
				return b.String()
			}(), "unknown key"},
			{"one key again and again", strings.Repeat("rules: []\n", 100_000), "rules"},
			{"one long text", s.policy + "x: \"" + strings.Repeat("a", n-1000) + "\"\n", "policy.yaml"},
			{"a long number", s.policy + "confidence: 0." + strings.Repeat("9", n-1000) + "\n", "policy.yaml"},
			{"many documents", strings.Repeat("---\na: 1\n", 100_000), "policy.yaml"},
			{"a tag without an end", "!" + strings.Repeat("t", n-10), "policy.yaml"},
			{"an anchor without an end", "a: &" + strings.Repeat("t", n-10), "policy.yaml"},
			{"comments", strings.Repeat("# x\n", n/4) + "", "policy.yaml"},
			{"a byte more than a megabyte", s.policy + strings.Repeat("#", n+1-len(s.policy)), "1 MiB"},
			{"a gigabyte", s.policy + strings.Repeat("#", 20<<20), "1 MiB"},
			{"UTF-16", wide(s.policy, false, true), "UTF-16"},
			{"UTF-16 without a mark", wide(s.policy, false, false), "U+0000"},
			{"a zero byte", s.policy + "# \x00\n", "U+0000"},
			{"a byte that is not UTF-8", s.policy + "# \xff\n", "0xff"},
			{"a control that turns text around", strings.Replace(s.policy, "id: a", "id: \"a\u202eb\"", 1), ""},
			{"a zero in an escape", strings.Replace(s.policy, "id: a", `id: "a\0b"`, 1), ""},
			{"half of a pair in an escape", strings.Replace(s.policy, "id: a", `id: "a\ud800b"`, 1), "policy.yaml"},
			{"nothing", "", "empty"},
		} {
			if !long && i%4 > 0 {
				continue
			}
			put(t, dir, "policy.yaml", c.text)
			report := filepath.Join(dir, "report.json")
			o := s.decide(t, dir, "rows.csv", nil)
			o.check(t, s.gate+", a policy of "+c.what, c.want, report, 400)
			if s.gate == "human-ai" {
				o.measured("a policy: "+c.what, fmt.Sprintf("%d kB", len(c.text)>>10))
			}
			s.step(t, dir, "rows.csv").do(t).check(t, s.gate+", a step's policy of "+c.what, c.want, report, 400)
		}
	}
}

// TestDocuments: every other file that a run reads, in forms that nobody writes. None is taken for what it is not.
func TestDocuments(t *testing.T) {
	n := size(10_000_000, 2_000_000, 50_000)
	s := studies()[3]
	dir := s.folder(t)
	put(t, dir, "rows.csv", s.content(200))
	put(t, dir, "labels.csv", studies()[1].content(50))
	texts := deepJSON(n)
	for what, text := range deepJSON(9_000) { // less deep than what the library of the language refuses by itself
		texts[what+", 9,000"] = text
	}
	texts["a long text"] = `{"schema":"` + strings.Repeat("a", size(60<<20, 20<<20, 1<<20)) + `"}`
	texts["a million keys"] = func() string {
		var b strings.Builder
		b.WriteString(`{"schema":"x"`)
		for i := range n / 10 {
			fmt.Fprintf(&b, `,"k%d":0`, i)
		}
		return b.String() + "}"
	}()
	texts["a long number"] = `{"schema":1` + strings.Repeat("0", n) + "}"
	texts["a large exponent"] = `{"schema":1e999999999}`
	texts["zero bytes"] = strings.Repeat("\x00", 1<<20)
	texts["UTF-16"] = wide(`{"schema":"oloproof-report/1"}`, false, true)
	texts["half of a pair"] = `{"schema":"\ud800"}`
	texts["nothing"] = ""
	for i, what := range slices.Sorted(maps.Keys(texts)) {
		if !long && i%8 > 0 {
			continue
		}
		text := texts[what]
		put(t, dir, "odd", text)
		for _, c := range []struct {
			args []string
			most int
		}{
			{[]string{"render", "odd", "--format", "junit"}, 400},
			{[]string{"diff", "odd", "odd"}, 500},
			{append(s.args("rows.csv"), "-q", "--baseline-report", "odd"), 400},
			{[]string{"fairness", "gate", "policy.yaml", "--tally", "odd"}, 400},
			{append(s.args("rows.csv"), "-q", "--ledger", "odd", "--ledger-read-only"), 400},
			{[]string{"ledger", "check", "odd"}, 400},
			{[]string{"anchoring", "verify", "odd", "labels.csv"}, 400},
		} {
			if what == "nothing" && strings.Contains(strings.Join(c.args, " "), "ledger") {
				continue // a ledger without a look
			}
			o := call{dir: dir, args: c.args}.do(t)
			o.check(t, fmt.Sprintf("%s as %q", what, c.args), "odd", "", c.most)
		}
		// A step: its event, an earlier report, a report to comment from. Of the event the verdict does not depend.
		plain := s.step(t, dir, "rows.csv").do(t)
		o := s.step(t, dir, "rows.csv", "GITHUB_EVENT_PATH="+filepath.Join(dir, "odd"), "GITHUB_EVENT_NAME=pull_request").do(t)
		if o.Status != plain.Status && o.Status != 2 || o.Peak > 400<<20 {
			t.Errorf("%s as an event: %+v\n%s", what, o.taken, clip(o.stderr))
		}
		s.step(t, dir, "rows.csv", "INPUT_BASELINE-REPORT=odd").do(t).check(t, what+" as a step's earlier report", "odd", filepath.Join(dir, "report.json"), 400)
		o = call{dir: dir, args: []string{"action"}, env: []string{"GITHUB_WORKSPACE=" + dir, "INPUT_FROM-REPORT=odd", "INPUT_GITHUB-TOKEN=x"}}.do(t)
		if o.Status != 2 || o.Peak > 400<<20 {
			t.Errorf("%s as a report to comment from: %+v\n%s", what, o.taken, clip(o.stdout+o.stderr))
		}
	}
	if err := os.Remove(filepath.Join(dir, "odd")); err != nil {
		t.Fatal(err)
	}
}
