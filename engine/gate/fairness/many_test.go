package fairness

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// list writes so many groups of one prefix.
func list(prefix string, n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("%s%d", prefix, i))
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// TestThousandGroups: rules over 1,000 and 10,000 declared groups are decided on all of their pairs, of which 2,000 are listed.
func TestThousandGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and nothing in it runs side by side")
	}
	for _, c := range []struct{ a, b, each int }{{10, 100, 40}, {100, 100, 12}} {
		groups := c.a * c.b
		declared := fmt.Sprintf("attributes: {a: %s, b: %s}\nintersections: [[a, b]]\nmin_cell: 10\nrules:\n"+
			"  - {id: gap, rate: selection, attribute: [a, b], max_group_gap: 0.2}\n"+
			"  - {id: wide, rate: selection, attribute: [a, b], max_group_gap: 1}\n"+
			"  - {id: ratio, rate: selection, attribute: [a, b], min_group_ratio: 0.01}\n"+
			"  - {id: floor, rate: selection, attribute: [a, b], worst_group: {minimum: 0.01}}\n", list("x", c.a), list("y", c.b))
		var file strings.Builder
		file.WriteString("id,prediction,a,b\n")
		id := 0
		for a := range c.a {
			for b := range c.b {
				for k := range c.each {
					// Half are selected everywhere, but none in the very last group and all in the first.
					selected := k % 2
					switch {
					case a == c.a-1 && b == c.b-1:
						selected = 0
					case a == 0 && b == 0:
						selected = 1
					}
					id++
					fmt.Fprintf(&file, "%d,%d,x%d,y%d\n", id, selected, a, b)
				}
			}
		}
		g := decide(t, declared, file.String())
		pairs := groups * (groups - 1) / 2
		for i, want := range []report.Verdict{report.Fail, report.Pass, report.InsufficientEvidence, report.InsufficientEvidence} {
			r := g.Rules[i]
			if groups > 1000 && i == 0 {
				want = report.InsufficientEvidence // 12 of 12 and 0 of 12 cannot be told apart by .2 with 10,000 groups: .0000025^(1/12) = .34
			}
			if r.Verdict != want || len(r.Cells) != groups {
				t.Errorf("%d groups, %s: %s, %d cells; want %s", groups, r.ID, r.Verdict, len(r.Cells), want)
			}
			if r.ID == "floor" {
				continue
			}
			if len(r.Pairs) != mostPairs || r.PairsOmitted != pairs-mostPairs {
				t.Errorf("%d groups, %s: %d pairs and %d more, want 2000 of %d", groups, r.ID, len(r.Pairs), r.PairsOmitted, pairs)
			}
			if first := [2]string{"x0 × y0", fmt.Sprintf("x%d × y%d", c.a-1, c.b-1)}; r.Pairs[0].Groups != first {
				t.Errorf("%d groups, %s: the first pair is %v, want %v", groups, r.ID, r.Pairs[0].Groups, first)
			}
		}
		if !strings.Contains(g.Rules[0].Reason, fmt.Sprintf("Largest gap: x0 × y0 and x%d × y%d, 1.000", c.a-1, c.b-1)) {
			t.Errorf("%d groups: %s", groups, g.Rules[0].Reason)
		}
	}
}

// TestManyGroupsDirectly: interval: pairwise over as many groups as it allows.
func TestManyGroupsDirectly(t *testing.T) {
	const groups = mostPairwise
	declared := fmt.Sprintf("attributes: {a: %s}\nmin_cell: 10\nrules: [{id: gap, rate: selection, attribute: a, max_group_gap: 0.5, interval: pairwise}]", list("x", groups))
	var file strings.Builder
	file.WriteString("id,prediction,a\n")
	for i := range groups * 60 {
		fmt.Fprintf(&file, "%d,%d,x%d\n", i, i/groups%2, i%groups)
	}
	r := ruleOf(t, decide(t, declared, file.String()))
	if r.Verdict != report.Pass || r.PairsOmitted != groups*(groups-1)/2-mostPairs { // 30 of 60 everywhere: Fisher's upper end is .25
		t.Errorf("%s (%s), %d pairs omitted", r.Verdict, r.Reason, r.PairsOmitted)
	}
}

// TestTooManyGroups: rows are read beside a declaration that is refused, so that all problems are told at once; they belong to none of its
// groups, whichever way they are read.
func TestTooManyGroups(t *testing.T) {
	var bins []string
	for i := range mostGroups {
		bins = append(bins, fmt.Sprint(i))
	}
	for _, declared := range []string{list("x", mostGroups+1), "{bins: [" + strings.Join(bins, ", ") + "]}"} {
		for _, count := range []bool{true, false} {
			_, err := tryRead(run{verb: gate.Decide, declaration: "attributes: {a: " + declared + "}\nrules: [{id: r, rate: selection, attribute: a, max_group_gap: 0.2}]\n",
				names: []string{"c.csv"}, files: map[string]string{"c.csv": "id,prediction,a\n1,0,x7\n2,1,7\n3,1,9000\n"}}, count)
			if err == nil || !strings.Contains(err.Error(), "attribute a has 10001 groups; at most 10000 are allowed") {
				t.Errorf("%.30s, counted %v: %v", declared, count, err)
			}
		}
	}
}
