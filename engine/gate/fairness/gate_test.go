package fairness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// run is one question asked of files in memory.
type run struct {
	verb        gate.Verb
	declaration string // a file: bare, or with sections
	beside      string // the policy beside it; "" for none
	flags       gate.Flags
	names       []string          // files named on the command line
	files       map[string]string // all that there are
}

// load reads a policy file as the command line does.
func load(name, text string, diags *diag.List) *policy.Policy {
	return policy.Load(policy.Parse(name, []byte(text), diags), []policy.SectionSpec{{Key: "fairness", Gate: "fairness"}}, "fairness", "devel")
}

// compile turns a run into its question.
func compile(r run, diags *diag.List) *question {
	source := gate.Source{Verb: r.verb, Files: r.names, Flags: r.flags}
	if p := load("fairness.yaml", r.declaration, diags); p != nil && len(p.Sections) > 0 {
		source.Section, source.Settings = &p.Sections[0], p.Sections[0].Settings
	}
	if r.beside != "" {
		if p := load("policy.yaml", r.beside, diags); p != nil && len(p.Sections) > 0 {
			source.Beside = &p.Sections[0]
			source.Settings = policy.Merge(source.Settings, source.Beside.Settings, diags)
		}
	}
	return Gate{}.Compile(source, diags).(*question)
}

// tryRun asks the question as the command line does: with rows counted on all cores where that goes. With rows added one by one the
// answer must be the same.
func tryRun(r run) (gate.Answer, error) {
	counted, err := tryRead(r, true)
	added, other := tryRead(r, false)
	if fmt.Sprint(err) != fmt.Sprint(other) {
		return added, fmt.Errorf("rows added one by one: %v; counted: %w", other, err)
	}
	x, _ := json.Marshal(counted)
	y, _ := json.Marshal(added)
	if !bytes.Equal(x, y) {
		return added, fmt.Errorf("rows added one by one: %s; counted: %s", y, x)
	}
	return counted, err
}

// tryRead is tryRun with rows that may be counted, or must be added.
func tryRead(r run, count bool) (gate.Answer, error) {
	diags := &diag.List{}
	q := compile(r, diags)
	fsys := fstest.MapFS{}
	for name, text := range r.files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for _, in := range q.Inputs() {
		if len(in.Paths) == 0 {
			continue
		}
		if !count {
			in.Count = nil
		}
		in.Read(in.Paths, rows.Options{FS: fsys}, diags)
	}
	if err := diags.Err(); err != nil {
		return gate.Answer{}, err
	}
	return q.Answer(gate.Context{Today: "2026-11-29"})
}

// decide decides a CSV file under a declaration that names no files.
func decide(t testing.TB, declaration, cases string) report.Gate {
	t.Helper()
	a, err := tryRead(run{verb: gate.Decide, declaration: declaration, names: []string{"c.csv"}, files: map[string]string{"c.csv": cases}}, true)
	if err != nil {
		t.Fatal(err)
	}
	return a.Gate
}

// ruleOf returns the one rule of an answer.
func ruleOf(t testing.TB, g report.Gate) report.Rule {
	t.Helper()
	if len(g.Rules) != 1 {
		t.Fatalf("%d rules, want 1", len(g.Rules))
	}
	return g.Rules[0]
}

// measure returns the measure of a metric in a group; of the whole file where attribute is empty.
func measure(t testing.TB, g report.Gate, metric, attribute, group string) report.Measure {
	t.Helper()
	for _, m := range g.Measures {
		if m.Metric == metric && m.Labels["attribute"] == attribute && m.Labels["group"] == group {
			return m
		}
	}
	t.Fatalf("no measure %s of %s %s", metric, attribute, group)
	return report.Measure{}
}

func finding(g report.Gate, code string) *report.Finding {
	i := slices.IndexFunc(g.Findings, func(f report.Finding) bool { return f.Code == code })
	if i < 0 {
		return nil
	}
	return &g.Findings[i]
}

// cases writes a CSV file with an id column and those of header, from numbers of rows that are alike and the row: 20,
// "female,1,0", 5, "male,1,1".
func cases(header string, blocks ...any) string {
	var b strings.Builder
	b.WriteString("id," + header + "\n")
	id := 0
	for i := 0; i < len(blocks); i += 2 {
		for range blocks[i].(int) {
			id++
			fmt.Fprintf(&b, "%d,%s\n", id, blocks[i+1])
		}
	}
	return b.String()
}

// bySex declares two groups and one rule.
func bySex(rule string) string {
	return "attributes: {sex: [female, male]}\nrules:\n  - {id: a, attribute: sex, " + rule + "}\n"
}

// compileSound compiles a run that has no problem.
func compileSound(t testing.TB, r run) *question {
	t.Helper()
	diags := &diag.List{}
	q := compile(r, diags)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return q
}
