package anchoring

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
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

// TestNoKappaOfNothing: where no label of a side is recorded, there is no kappa of it.
func TestNoKappaOfNothing(t *testing.T) {
	g := ask(t, run{verb: gate.Report, labels: header + labelled("1", "p", "", "blind") + labelled("2", "p", "a", "visible") + labelled("3", "p", "b", "visible")})
	for _, m := range g.Measures {
		if m.Metric == kappa && m.Labels["visibility"] == "blind" {
			t.Errorf("%+v", m)
		}
	}
}
