package fairness

import (
	"fmt"
	"slices"
	"testing"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// TestCases: what Case says of every row adds up to what the gate counts, for every rate, and the change that it names turns the
// case. The declared groups are words in one attribute and numbers in the other.
func TestCases(t *testing.T) {
	text := "cases: x.csv\nprediction: {column: said, positive: grant, negative: refuse}\nattributes: {sex: [f, m], age: {bins: [30, 60]}}\nintersections: [[sex, age]]\nrules:\n"
	for _, r := range rates {
		text += fmt.Sprintf("  - {id: %s, rate: %s, attribute: [sex, age], max_group_gap: 0.5, where: {region: north, year: new}}\n", r.name, r.name)
	}
	diags := &diag.List{}
	p := policy.Load(policy.Parse("fairness.yaml", []byte(text), diags), []policy.SectionSpec{{Key: "fairness", Gate: "fairness"}}, "fairness", "devel")
	q := Gate{}.Compile(gate.Source{Verb: gate.Decide, Section: &p.Sections[0], Settings: p.Sections[0].Settings, Files: []string{"x.csv"}}, diags)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	in := q.Inputs()[0]
	var list [][]string
	for i := range 600 {
		value := map[string]string{"id": fmt.Sprint(i), "label": []string{"0", "1", "1", ""}[i%4], "said": []string{"grant", "refuse", "grant", "", "refuse"}[i%5],
			"sex": []string{"f", "m", "m", "f", "", "x", "f"}[i%7], "age": []string{"12", "30", "59.5", "60", "", "99"}[i%6], "region": []string{"north", "north", "south", ""}[i/4%4], "year": []string{"new", "new", "old"}[i/16%3]}
		row := make([]string, len(in.Columns))
		for c, column := range in.Columns {
			row[c] = value[column.Name]
		}
		list = append(list, row)
		in.Add(rows.Made(row, i+1), diags)
	}
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	asked := q.(Cases)
	for rule := range q.Rules() {
		judged, err := q.Judge(rule, 1)
		if err != nil {
			t.Fatal(err)
		}
		groups := asked.Groups(rule)
		events, recorded, counts := make([]int, len(groups)), make([]int, len(groups)), make([]int, len(groups))
		for i, row := range list {
			c := asked.Case(rule, rows.Made(row, i+1))
			if slices.Contains(row, "south") && c.Group >= 0 {
				t.Fatalf("%s: %q is in the group %d of a slice that it is not of", judged.ID, row, c.Group)
			}
			if c.Group >= 0 && c.Counts {
				counts[c.Group]++
			}
			if c.Group < 0 || !c.Recorded {
				continue
			}
			recorded[c.Group]++
			if c.Event {
				events[c.Group]++
			}
			changed := slices.Clone(row)
			changed[c.Column] = c.Word
			if d := asked.Case(rule, rows.Made(changed, i+1)); d.Group != c.Group || !d.Recorded || d.Event == c.Event {
				t.Fatalf("%s: %q is %+v, and changed %+v", judged.ID, row, c, d)
			}
		}
		for g, cell := range judged.Cells {
			if want := [2]int{*cell.Numerator, countedIn(cell)}; events[g] != want[0] || recorded[g] != want[1] {
				t.Errorf("%s, %s: %d of %d, want %d of %d", judged.ID, groups[g], events[g], recorded[g], want[0], want[1])
			}
			// Where a missing prediction leaves open whether a case is in the denominator, the one that is told is without it.
			possible := *cell.Denominator
			if rateNamed(cell.Metric).moves() {
				possible += *cell.Missing
			}
			if counts[g] != possible {
				t.Errorf("%s, %s: %d may be in the denominator, want %d", judged.ID, groups[g], counts[g], possible)
			}
		}
	}
}

// countedIn is how many cases with all recorded are in a cell's denominator.
func countedIn(c report.Cell) int {
	if r := rateNamed(c.Metric); r.moves() {
		return *c.Denominator
	}
	return *c.Denominator - *c.Missing
}

// TestColumnsOfCases: the columns that tell a rule's groups, and those that name a case and a person, are told by their places.
func TestColumnsOfCases(t *testing.T) {
	for declared, identities := range map[string][]string{"": {"id"}, "unit: person\n": {"id", "person"}} {
		q := compileSound(t, run{verb: gate.Decide, names: []string{"x.csv"},
			declaration: declared + "attributes: {sex: [f, m], age: {bins: [30]}, site: [a, b]}\nintersections: [[site, sex]]\nrules: [{id: r, rate: error, attribute: [site, sex], max_group_gap: 0.1}, {id: s, rate: error, attribute: age, max_group_gap: 0.1}]"})
		names := func(places []int) (list []string) {
			for _, i := range places {
				list = append(list, q.Inputs()[0].Columns[i].Name)
			}
			slices.Sort(list)
			return list
		}
		if got := names(q.Identities()); !slices.Equal(got, identities) {
			t.Errorf("%q: identities %q, want %q", declared, got, identities)
		}
		if both, one := names(q.Attributes(0)), names(q.Attributes(1)); !slices.Equal(both, []string{"sex", "site"}) || !slices.Equal(one, []string{"age"}) {
			t.Errorf("%q: attributes %q and %q", declared, both, one)
		}
	}
}
