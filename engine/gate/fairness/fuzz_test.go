package fairness

import (
	"encoding/json"
	"testing"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// FuzzFairness: whatever the declaration, the policy beside it and the cases, there are errors or an answer, the same one each
// time; every rule has a verdict and a reason, and its interval lies in [0, 1] and holds its estimate unless groups are small.
func FuzzFairness(f *testing.F) {
	f.Add(every, "", everyHeader+"1,1,0,0.2,a,female,20,north\n2,1,1,0.9,b,male,40,north\n3,0,,,c,male,70,\n4,,1,1,d,x,30,south\n")
	f.Add(bySex("rate: selection, min_group_ratio: 0.8"), "rules: [{id: b, rate: recall, attribute: sex, worst_group: {maximum: 0.5}, interval: pairwise}]", "id,label,prediction,sex\n1,1,1,female\n2,0,0,male\n")
	f.Add("label: {positive: a, negative: b}\nattributes: {x: {bins: [-1e3, 0]}}\nmin_cell: 1\nrules: [{id: a, rate: error, attribute: [x], max_group_gap: 1, max_left_out: 1}]", "", "id;label;prediction;x\n1;a;1;-1e-99\n2;b;0;5\n")
	f.Add("attributes: {sex: [f]}\nintersections: [[sex, sex]]", "attributes: {sex: [m]}", "id\n")
	f.Fuzz(func(t *testing.T, declaration, beside, file string) {
		ask := run{verb: gate.Decide, declaration: declaration, beside: beside, names: []string{"c"}, files: map[string]string{"c": file}}
		first, err := tryRun(ask)
		again, err2 := tryRun(ask)
		if (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
			t.Fatalf("once %v, then %v", err, err2)
		}
		if err != nil {
			return
		}
		one, err := json.Marshal(first.Gate)
		if err != nil {
			t.Fatal(err)
		}
		if two, _ := json.Marshal(again.Gate); string(one) != string(two) {
			t.Fatalf("once %s\nthen %s", one, two)
		}
		for _, r := range first.Gate.Rules {
			if r.Verdict == report.NoVerdict || r.Reason == "" || r.Interval == nil || len(r.Cells) == 0 {
				t.Fatalf("rule %s: %s, %q", r.ID, r.Verdict, r.Reason)
			}
			if lower, upper := *r.Interval.Lower, *r.Interval.Upper; !(lower >= 0 && upper <= 1 && lower <= upper) {
				t.Fatalf("rule %s: %v to %v", r.ID, lower, upper)
			}
			for _, c := range r.Cells {
				if lower, upper := *c.Interval.Lower, *c.Interval.Upper; !(lower >= 0 && upper <= 1 && lower <= upper) || c.Estimate != nil && (*c.Estimate < lower || *c.Estimate > upper) {
					t.Fatalf("rule %s, %v: %v in %v to %v", r.ID, c.Labels, c.Estimate, lower, upper)
				}
			}
		}
	})
}
