package anchoring

import (
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

// TestPeopleSteps: how far each missing label of an item can move it. Of a, a and two missing labels, the first can agree with two and the
// second with three, of six pairs. A label or a suggestion that is missing can agree with the model or not too, one of the item's labels; what
// is recorded moves nothing and is no step.
func TestPeopleSteps(t *testing.T) {
	say := func(label, suggestion string) opinion {
		return opinion{label: text{label, label != ""}, suggestion: text{suggestion, suggestion != ""}}
	}
	for _, c := range []struct {
		name string
		of   []opinion
		want []float64
	}{
		{peopleAgreement, []opinion{say("a", "a"), say("a", ""), say("", "a"), say("", "")}, []float64{quotient(2, 6), quotient(3, 6)}},
		{peopleAgreement, []opinion{say("a", "a"), say("b", "a"), say("a", "a")}, nil},
		{peopleAgreement, []opinion{say("", "a"), say("", "a")}, []float64{0, 1}},
		{modelMinusPeople, []opinion{say("a", "a"), say("a", ""), say("", "a"), say("", "")}, []float64{quotient(1, 4), quotient(2, 6) + quotient(1, 4), quotient(3, 6) + quotient(1, 4)}},
		{modelMinusPeople, []opinion{say("a", "a"), say("b", "a")}, nil},
	} {
		if got := peopleSteps(c.name, c.of, comparePeople(c.of)); !slices.Equal(got, c.want) {
			t.Errorf("%s of %+v: %v, want %v", c.name, c.of, got, c.want)
		}
	}
}

// TestItemsWithoutSuggestions: items that several people labelled blind, without a suggestion, are left out of model_minus_people and counted; more
// of them than max_left_out allows leave it undecided.
func TestItemsWithoutSuggestions(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		suggestion := "a"
		if i < 4 {
			suggestion = ""
		}
		for _, person := range []string{"p", "q", "r"} {
			fmt.Fprintf(&b, "i%d,%s,%s,a,blind,,,,,,\n", i, person, suggestion)
		}
	}
	ruled := func(most string) report.Rule {
		return ruleOf(t, decide(t, "max_left_out: "+most+"\nminimum_blind_sample: 6\nrules: [{id: m, metric: model_minus_people, minimum: -0.9}]", b.String()))
	}
	r := ruled("0.1")
	if !slices.ContainsFunc(r.LeftOut, func(l report.LeftOut) bool { return l.Reason == reasonNoSuggestion && l.Count == 4 }) || r.Verdict != report.Pass {
		t.Errorf("4 of 40, a tenth: %s (%s), left out %v", r.Verdict, r.Reason, r.LeftOut)
	}
	if r := ruled("0.09"); r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, "4 of 40") {
		t.Errorf("4 of 40, more than .09: %s (%s)", r.Verdict, r.Reason)
	}
}

// TestItemsOutsideOfASlice: of a slice the rows are left out, too, that do not record its column.
func TestItemsOutsideOfASlice(t *testing.T) {
	var b strings.Builder
	for i := range 42 { // four without a suggestion, and two, of six rows, without a site
		suggestion, site := "a", "Lyon"
		if i < 4 {
			suggestion = ""
		}
		if i >= 40 {
			site = ""
		}
		for _, person := range []string{"p", "q", "r"} {
			fmt.Fprintf(&b, "i%d,%s,%s,a,blind,,,,,,%s\n", i, person, suggestion, site)
		}
	}
	r := ruleOf(t, decide(t, "max_left_out: 0.2\nminimum_blind_sample: 6\nrules: [{id: m, metric: model_minus_people, minimum: -0.9, where: {site: Lyon}}]", b.String()))
	if r.Verdict != report.InsufficientEvidence || !strings.Contains(r.Reason, "10 of 46") {
		t.Errorf("%s (%s)", r.Verdict, r.Reason)
	}
}

// TestDecisionsOfPeople: a ledger is told how many labels of the items are recorded.
func TestDecisionsOfPeople(t *testing.T) {
	body := labelled("1", "p", "a", "blind") + labelled("1", "q", "a", "blind") + labelled("2", "p", "a", "blind") + labelled("2", "q", "", "blind") + labelled("3", "p", "a", "blind")
	diags := &diag.List{}
	p := policy.Load(policy.Parse("policy.yaml", []byte("minimum_blind_sample: 1\nrules: [{id: p, metric: people_agreement, minimum: 0.1}]"), diags), []policy.SectionSpec{{Key: "anchoring", Gate: "anchoring"}}, "anchoring", "devel")
	q := Gate{}.Compile(gate.Source{Verb: gate.Decide, Section: &p.Sections[0], Settings: p.Sections[0].Settings, Files: []string{"l"}}, diags)
	in := q.Inputs()[0]
	rows.Read(in.Paths, rows.Options{Columns: in.Columns, FS: fstest.MapFS{"l": {Data: []byte(header + body)}}}, func(r rows.Row) { in.Add(r, diags) }, diags)
	q.(gate.RowsChecker).CheckRows(diags)
	u, err := q.Units(0)
	if err != nil || diags.Len() > 0 {
		t.Fatal(err, diags.Err())
	}
	// Of the items that two people labelled.
	if len(u.Parts) != 1 || u.Parts[0].Decisions != 3 {
		t.Errorf("%+v, want 3 decisions", u.Parts)
	}
}

// TestNoKappaOfNothing: where no label of a side is recorded, there is no kappa of it.
func TestNoKappaOfNothing(t *testing.T) {
	g := ask(t, run{verb: gate.Report, labels: header + labelled("1", "p", "", "blind") + labelled("2", "p", "a", "visible") + labelled("3", "p", "b", "visible")})
	for _, m := range g.Measures {
		if m.Metric == kappa && m.Labels["visibility"] == "blind" {
			t.Errorf("%+v", m)
		}
	}
	g = ask(t, run{verb: gate.Report, labels: header + labelled("1", "p", "a", "blind") + labelled("2", "q", "a", "blind")}) // no item of both
	for _, m := range g.Measures {
		if m.Metric == kappa || m.Metric == alpha {
			t.Errorf("%+v", m)
		}
	}
}

// TestTwoColumnsOfWhere: of two columns that rules slice by, each is read from its own and has its own place.
func TestTwoColumnsOfWhere(t *testing.T) {
	ask := run{verb: gate.Decide, policy: "rules: [{id: r, metric: blind_agreement, minimum: 0.01, where: {site: Lyon, level: hard}}]"}
	const header = "item,annotator,suggestion,label,visibility,site,level\n"
	body := header
	for i, where := range []string{"Lyon,hard", "Lyon,hard", "Lyon,hard", "Lyon,easy", "Paris,hard"} {
		body += fmt.Sprintf("i%d,a,x,x,blind,%s\n", i, where)
	}
	ask.labels = body
	a, err := try(ask)
	if err != nil {
		t.Fatal(err)
	}
	if r := ruleOf(t, a.Gate); *r.Denominator != 3 {
		t.Errorf("%d items, want 3", *r.Denominator)
	}
	ask.labels = body + "i0,b,x,x,blind,Lyon,easy\n"
	if _, err := try(ask); err == nil || !strings.HasPrefix(err.Error(), `labels.csv:7:21: level of item "i0" is "easy" here and "hard" at labels.csv:2:21;`) {
		t.Errorf("got %v", err)
	}
}

// TestSecondLabelsInOrderOfTime: rows need not be in the order of their times. Here a label that differs comes first in time, and two that follow it
// at one moment are no row that is there twice.
func TestSecondLabelsInOrderOfTime(t *testing.T) {
	at := func(minute int, label string) string {
		return fmt.Sprintf("i,p,a,%s,blind,,,,,2026-01-01T10:0%d:00Z,\n", label, minute)
	}
	if _, err := try(run{verb: gate.Report, labels: header + at(5, "a") + at(1, "b") + at(5, "a")}); err != nil {
		t.Error(err)
	}
	if _, err := try(run{verb: gate.Report, labels: header + at(5, "a") + at(5, "a")}); err == nil {
		t.Error("one row twice was taken")
	}
}

// TestExtraBlindRows: a blind row that came after a suggestion was seen is a missing label; it is an extra one where the person has another blind
// row of the item, before it or after a look too, and else the one that there is.
func TestExtraBlindRows(t *testing.T) {
	at := func(minute int, visibility string) string {
		return fmt.Sprintf("i,p,a,a,%s,,,,,2026-01-01T10:0%d:00Z,\n", visibility, minute)
	}
	for body, want := range map[string]int{
		at(1, "blind") + at(2, "visible"):                                   0,
		at(1, "visible") + at(2, "blind"):                                   0,
		at(1, "blind") + at(2, "visible") + at(3, "blind"):                  1,
		at(1, "visible") + at(2, "blind") + at(3, "blind"):                  1,
		at(1, "blind") + at(2, "visible") + at(3, "blind") + at(4, "blind"): 2,
	} {
		tally, diags := newTally(nil), &diag.List{}
		rows.Read([]string{"l"}, rows.Options{Columns: columns(nil), FS: fstest.MapFS{"l": {Data: []byte(header + body)}}}, func(r rows.Row) { tally.Add(r, diags) }, diags)
		s := newStudy(tally, nil, false, diags)
		if err := diags.Err(); err != nil {
			t.Fatal(err)
		}
		extra := 0
		for _, e := range s.blind {
			if e.extra {
				extra++
			}
		}
		if extra != want {
			t.Errorf("%q: %d extra, want %d", body, extra, want)
		}
	}
}
