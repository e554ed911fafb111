package anchoring

import (
	"fmt"
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
	verb   gate.Verb
	policy string // bare; "" for none
	labels string // with its header
	draw   string // "" for none
	show   bool   // annotators may be named
}

// try asks the question as the command line does.
func try(r run) (gate.Answer, error) {
	diags := &diag.List{}
	source := gate.Source{Verb: r.verb, Files: []string{"labels.csv"}, Flags: gate.Flags{ShowUnits: r.show}}
	fsys := fstest.MapFS{"labels.csv": {Data: []byte(r.labels)}}
	if r.draw != "" {
		source.Flags.Draw = "draw.csv"
		fsys["draw.csv"] = &fstest.MapFile{Data: []byte(r.draw)}
	}
	if r.policy != "" {
		p := policy.Load(policy.Parse("policy.yaml", []byte(r.policy), diags), []policy.SectionSpec{{Key: "anchoring", Gate: "anchoring"}}, "anchoring", "devel")
		if p == nil || len(p.Sections) == 0 {
			return gate.Answer{}, diags.Err()
		}
		source.Section, source.Settings = &p.Sections[0], p.Sections[0].Settings
	}
	q := Gate{}.Compile(source, diags)
	before := diags.Len()
	for _, in := range q.Inputs() {
		rows.Read(in.Paths, rows.Options{Columns: in.Columns, Rename: in.Rename, MissingValues: in.MissingValues, FS: fsys},
			func(row rows.Row) { in.Add(row, diags) }, diags)
	}
	if diags.Len() == before {
		q.(gate.RowsChecker).CheckRows(diags)
	}
	if err := diags.Err(); err != nil {
		return gate.Answer{}, err
	}
	return q.Answer(gate.Context{Today: "2026-11-29"})
}

// header is that of most tests.
const header = "item,annotator,suggestion,label,visibility,kind,accepted,inclusion_probability,started_at,labelled_at,site\n"

// ask answers a question that has no problem.
func ask(t *testing.T, r run) report.Gate {
	t.Helper()
	a, err := try(r)
	if err != nil {
		t.Fatal(err)
	}
	return a.Gate
}

// decide decides rows (CSV without the header) under a bare policy.
func decide(t *testing.T, policyText, body string, draw ...string) report.Gate {
	t.Helper()
	r := run{verb: gate.Decide, policy: policyText, labels: header + body}
	if len(draw) > 0 {
		r.draw = "item,visibility,inclusion_probability\n" + draw[0]
	}
	return ask(t, r)
}

// ruleOf returns the one rule of an answer.
func ruleOf(t *testing.T, g report.Gate) report.Rule {
	t.Helper()
	if len(g.Rules) != 1 {
		t.Fatalf("%d rules, want 1", len(g.Rules))
	}
	return g.Rules[0]
}

// measure returns the measure with exactly these labels.
func measure(t *testing.T, g report.Gate, metric string, labels ...string) report.Measure {
	t.Helper()
	for _, m := range g.Measures {
		if m.Metric != metric || len(m.Labels) != len(labels)/2 {
			continue
		}
		same := true
		for i := 0; i < len(labels); i += 2 {
			same = same && m.Labels[labels[i]] == labels[i+1]
		}
		if same {
			return m
		}
	}
	t.Fatalf("no measure %s %v", metric, labels)
	return report.Measure{}
}

// finding returns the finding with that code; nil for none.
func finding(g report.Gate, code string) *report.Finding {
	for i := range g.Findings {
		if g.Findings[i].Code == code {
			return &g.Findings[i]
		}
	}
	return nil
}

// labelled writes one row: the label agrees with the suggestion "a", differs from it ("b") or is not recorded ("").
func labelled(item, annotator, label, visibility string) string {
	return fmt.Sprintf("%s,%s,a,%s,%s,,,,,,\n", item, annotator, label, visibility)
}

// several writes count rows of different items, the first `agree` of which agree and the last `missing` have no label.
func several(prefix, annotator, visibility string, count, agree, missing int) string {
	var b strings.Builder
	for i := range count {
		label := "b"
		switch {
		case i >= count-missing:
			label = ""
		case i < agree:
			label = "a"
		}
		b.WriteString(labelled(fmt.Sprint(prefix, i), annotator, label, visibility))
	}
	return b.String()
}

// addRecords adds records to a tally as a file of its own.
func addRecords(list []record, tally *Tally, diags *diag.List) {
	if len(list) == 0 {
		return
	}
	fsys := fstest.MapFS{"labels.csv": {Data: []byte(written(list))}}
	rows.Read([]string{"labels.csv"}, rows.Options{Columns: columns([]string{"site"}), FS: fsys}, func(r rows.Row) { tally.Add(r, diags) }, diags)
}
