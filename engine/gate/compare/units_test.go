package compare

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// asking is the question of a bare policy on versions old and new, with its rows read (CSV without its header).
func asking(t *testing.T, policyText, body string) gate.Question {
	t.Helper()
	diags := &diag.List{}
	p := policy.Load(policy.Parse("policy.yaml", []byte("baseline: old\ncandidate: new\n"+policyText), diags), []policy.SectionSpec{{Key: "compare", Gate: "compare"}}, "compare", "devel")
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	q := Gate{}.Compile(gate.Source{Verb: gate.Decide, Section: &p.Sections[0], Settings: p.Sections[0].Settings, Files: []string{"t.csv"}}, diags)
	for _, in := range q.Inputs() {
		in.Read(in.Paths, rows.Options{FS: fstest.MapFS{"t.csv": &fstest.MapFile{Data: []byte(header + body)}}}, diags)
	}
	q.(gate.RowsChecker).CheckRows(diags)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return q
}

// TestUnits: what a ledger holds looks against: the values of cases under both completions, how many trials are recorded, and how the data
// may grow. Two rules that measure something else have two questions; a threshold makes none.
func TestUnits(t *testing.T) {
	// Of three cases the first is better, the second equal, and the third from worse by one trial to equal.
	body := written("old", "00", "11", "01") + written("new", "11", "11", "?0")
	const sign, again, rated, other, at, near, both, empty = 0, 1, 2, 3, 4, 5, 6, 7
	q := asking(t, `rules:
- {id: sign, metric: sign_test}
- {id: again, metric: sign_test, looks: repeated}
- {id: rated, metric: rate, minimum: 0.5}
- {id: other, metric: rate, version: baseline, minimum: 0.5}
- {id: at, metric: pass_at_k, k: 1, minimum: 0.5}
- {id: near, metric: rate, minimum: 0.25}
- {id: both, metric: pass_rate_difference, minimum: 0}
- {id: empty, metric: rate, minimum: 0.5, where: {case: case-9}}
`, body)
	of := func(i int) gate.Units {
		u, err := q.Units(i)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	u := of(sign)
	// The signs of the cases: +1; 0; from −1 to 0. Eleven of twelve trials are recorded.
	want := []gate.Part{{Decisions: 11, Values: []gate.UnitValue{{Low: -1, High: 0, Count: 1}, {Low: 0, High: 0, Count: 1}, {Low: 1, High: 1, Count: 1}}}}
	if diff := cmp.Diff(want, u.Parts); diff != "" || u.Grows != gate.GrowsUnits || u.Method != interval.MethodSignTest || u.Looks != interval.LooksOne {
		t.Errorf("%+v (-want +got):\n%s", u, diff)
	}
	if u := of(again); u.Looks != interval.LooksAny || u.Question != of(sign).Question {
		t.Errorf("with repeated looks %+v", u)
	}
	// The candidate passed 2, 2, and of two trials 0 or 1: means of 1, 1, and from 0 to one half.
	u = of(rated)
	want = []gate.Part{{Decisions: 5, Values: []gate.UnitValue{{Low: 0, High: 0.5, Count: 1}, {Low: 1, High: 1, Count: 2}}}}
	if diff := cmp.Diff(want, u.Parts); diff != "" || u.Method == "" {
		t.Errorf("%+v (-want +got):\n%s", u, diff)
	}
	// The differences are 1, 0, and from −1/2 to 0; the trials of both versions are recorded.
	want = []gate.Part{{Decisions: 11, Values: []gate.UnitValue{{Low: -0.5, High: 0, Count: 1}, {Low: 0, High: 0, Count: 1}, {Low: 1, High: 1, Count: 1}}}}
	if diff := cmp.Diff(want, of(both).Parts); diff != "" {
		t.Errorf("of both versions (-want +got):\n%s", diff)
	}
	questions := map[string]bool{}
	for _, i := range []int{sign, rated, other, at} {
		questions[of(i).Question] = true
	}
	if len(questions) != 4 || of(near).Question != of(rated).Question {
		t.Errorf("%d questions of four that differ", len(questions))
	}
	if u := of(empty); u.Method != "" && u.Parts != nil && u.Parts[0].Units() != 0 {
		t.Errorf("of a slice without a case: %+v", u)
	}
}

// TestDoubtOfALedger: a rule whose earlier looks have broken what its interval rests on is for a person, whatever it says, and asks for a new
// ledger; a broken plan asks for a new run.
func TestDoubtOfALedger(t *testing.T) {
	body := written("old", repeat(8, "00")...) + written("new", repeat(8, "11")...)
	for _, metric := range []string{"sign_test", "rate, minimum: 0.2"} {
		q := asking(t, "rules: [{id: r, metric: "+metric+"}]", body)
		if judged, err := q.Judge(0, 1); err != nil || judged.Verdict != report.Pass {
			t.Fatalf("%s: %s, %v", metric, judged.Verdict, err)
		}
		q.Doubt(0, "Values were changed since the look before.")
		a, err := q.Answer(gate.Context{Today: "2026-11-29"})
		if err != nil {
			t.Fatal(err)
		}
		r := ruleOf(t, a.Gate)
		if r.Verdict != report.ManualReview || r.Reason != "Values were changed since the look before." || r.Needs == nil || *r.Needs != *gate.NewLedger() {
			t.Errorf("%s: %s, %q, needs %+v", metric, r.Verdict, r.Reason, r.Needs)
		}
		r = ruleOf(t, decide(t, "plan: {cases: 9, trials: 2}\nrules: [{id: r, metric: "+metric+"}]", body))
		if r.Verdict != report.ManualReview || r.Needs == nil || r.Needs.What != "a person to decide, or a new run whose numbers are fixed first" {
			t.Errorf("%s: %s, needs %+v", metric, r.Verdict, r.Needs)
		}
	}
}

// TestSliceIsAssumed: of a rule on a slice it is said that the slice was chosen beforehand, and of no other.
func TestSliceIsAssumed(t *testing.T) {
	body := written("old", repeat(8, "00")...) + written("new", repeat(8, "11")...)
	g := decide(t, "rules: [{id: r, metric: rate, minimum: 0.2}, {id: t, metric: rate, minimum: 0.2, where: {case: case-1}}]", body)
	for _, r := range g.Rules {
		if said := slices.Contains(r.Assumptions, gate.SliceAssumption); said != (r.ID != "r") {
			t.Errorf("rule %s: %q", r.ID, r.Assumptions)
		}
	}
}

// TestWhatMissingTrialsCouldDo says of the sign test what the missing trials could still make of it, and of one that they cannot turn how many
// more would leave it uncertain. All p-values are two-sided of the fair coin: 6 to 0 is 2/64 = 0.03125, 5 to 0 is 0.0625.
func TestWhatMissingTrialsCouldDo(t *testing.T) {
	const short, long = "00", "0000000000"
	passes := func(s string) string { return strings.ReplaceAll(s, "0", "1") }
	for _, test := range []struct {
		name      string
		old, next []string
		want      string // at the end of the reason
	}{
		{"better", append(repeat(5, short), short), append(repeat(5, "11"), "??"), " Once recorded, the missing trials could make it better."},
		{"worse", append(repeat(5, "11"), "11"), append(repeat(5, short), "??"), " Once recorded, the missing trials could make it worse."},
		{"better or worse", append(repeat(6, "01"), "1"), append(repeat(6, "??"), "1"), " Once recorded, the missing trials could make it better, or worse."}, // 6 to 0 is 0.03125
		{"either", append(repeat(6, "01"), "01"), append(repeat(6, "1?"), "1?"), ""},
		{"neither", []string{short, short}, []string{"11", "??"}, " No way in which the missing trials could have come out would decide it."},
		{"nothing is missing", []string{short, short}, []string{"11", "00"}, ""},
		// Seven better ones of ten trials each, 0.015625. A case that is alike in both joins the other side for one trial: 7 to 1 is 0.0703125.
		{"a case that is alike in both turns for one trial", append(repeat(7, long), "11"), append(repeat(7, passes(long)), "11"),
			" No trial is missing; it would take 1 missing trial to leave it uncertain."},
		// Without such a case one of the seven has to cross: eleven trials; 6 to 1 is 0.125.
		{"a case has to cross", repeat(7, long), repeat(7, passes(long)), " No trial is missing; it would take 11 missing trials to leave it uncertain."},
		{"a case has to cross, seen from the baseline", repeat(7, passes(long)), repeat(7, long), " No trial is missing; it would take 11 missing trials to leave it uncertain."},
		{"one turns already, seen from the baseline", append(repeat(7, passes(long)), "11"), append(repeat(7, long), "11"),
			" No trial is missing; it would take 1 missing trial to leave it uncertain."},
	} {
		r := ruleOf(t, decide(t, signPolicy, written("old", test.old...)+written("new", test.next...)))
		if test.want == "" {
			if strings.Contains(r.Reason, "it would take") {
				t.Errorf("%s: %s, %q", test.name, r.Verdict, r.Reason)
			}
			continue
		}
		if !strings.HasSuffix(r.Reason, test.want) {
			t.Errorf("%s: %s, %q\nwant %q at the end", test.name, r.Verdict, r.Reason, test.want)
		}
		// The measure says the same beside its interval, where something is missing.
		a, err := tryRun(run{verb: gate.Report, policy: "baseline: old\ncandidate: new\n" + signPolicy, names: []string{"t.csv"},
			files: map[string]string{"t.csv": header + written("old", test.old...) + written("new", test.next...)}})
		if err != nil {
			t.Fatal(err)
		}
		missing := strings.Contains(strings.Join(test.next, ""), "?")
		if m := measure(t, a.Gate, signTest); (m.Caution != "") != missing || missing && !strings.HasSuffix(m.Caution, strings.TrimSpace(test.want)) {
			t.Errorf("%s: the caution is %q", test.name, m.Caution)
		}
	}
}
