package anchoring

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// TestKrippendorff: alpha as published. The first is K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011),
// section C: four observers, twelve units, missing labels, nominal: 0.743. The second is the computational example of
// three coders and fifteen units that encyclopaedias print: nominal 0.691.
func TestKrippendorff(t *testing.T) {
	for _, c := range []struct {
		observers []string // a letter a unit, a dot where there is none
		want      float64
	}{
		{[]string{"123321412...", "1233224125.3", ".3332342251.", "12332441251."}, 0.743},
		{[]string{".....34121133.3", "1.213343.......", "..21344.21133.4"}, 0.691},
	} {
		var body strings.Builder
		for o, labels := range c.observers {
			for i, l := range labels {
				if l != '.' {
					fmt.Fprintf(&body, "u%d,o%d,1,%c,blind,,,,,,\n", i, o, l)
				}
			}
		}
		g := ask(t, run{verb: gate.Report, labels: header + body.String()})
		m := measure(t, g, alpha, "visibility", "blind", "between", "annotators")
		if math.Abs(*m.Estimate-c.want) > 0.0005 || m.Interval != nil {
			t.Errorf("alpha %v, want %v", *m.Estimate, c.want)
		}
	}
}

// TestCohen: kappa as printed in textbooks, yes/yes, yes/no, no/yes, no/no: 20, 5, 10, 15 give .40; 45, 15, 25, 15 give
// .1304; 25, 35, 5, 35 give .2593. And, with three labels, as computed with exact fractions from the definition (Python
// 3.11), alpha of the same two people by counting disagreements over all pairs.
func TestCohen(t *testing.T) {
	kappaOf := func(one, two string) (float64, float64) {
		var body strings.Builder
		for i := range one {
			fmt.Fprintf(&body, "i%d,p,x,%c,blind,,,,,,\ni%d,q,x,%c,blind,,,,,,\n", i, one[i], i, two[i])
		}
		g := ask(t, run{verb: gate.Report, labels: header + body.String()})
		labels := []string{"visibility", "blind", "between", "annotators"}
		return *measure(t, g, kappa, labels...).Estimate, *measure(t, g, alpha, labels...).Estimate
	}
	for _, c := range []struct {
		yy, yn, ny, nn int
		want           float64
	}{{20, 5, 10, 15, 0.40}, {45, 15, 25, 15, 0.1304}, {25, 35, 5, 35, 0.2593}} {
		got, _ := kappaOf(strings.Repeat("y", c.yy+c.yn)+strings.Repeat("n", c.ny+c.nn),
			strings.Repeat("y", c.yy)+strings.Repeat("n", c.yn)+strings.Repeat("y", c.ny)+strings.Repeat("n", c.nn))
		if math.Abs(got-c.want) > 0.00005 {
			t.Errorf("%+v: kappa %v", c, got)
		}
	}
	k, a := kappaOf("yxzxxxyxxxxzzxxxzxxxxzxxxxyzxxyxxxyxxxxz", "zzzxxyyxxxxxzxyzzyxxxxyxxyzzxxyxxxyzxxxz")
	if math.Abs(k-0.45080091533180777) > 1e-15 || math.Abs(a-0.4491574665891923) > 1e-15 {
		t.Errorf("kappa %v, alpha %v", k, a)
	}
}

// TestKappaOfTheModel: with one annotator kappa is the model's with that person, blind and visible; where every label is
// the same it is not defined, and no number is shown.
func TestKappaOfTheModel(t *testing.T) {
	var body strings.Builder
	for i := range 50 { // suggestions and labels as in TestCohen's first: .40
		suggestion, label := "y", "y"
		if i >= 25 {
			suggestion = "n"
		}
		if i >= 20 && i < 25 || i >= 35 {
			label = "n"
		}
		fmt.Fprintf(&body, "i%d,ann,%s,%s,blind,,,,,,\nv%d,ann,y,y,visible,,,,,,\n", i, suggestion, label, i)
	}
	g := ask(t, run{verb: gate.Report, labels: header + body.String()})
	if m := measure(t, g, kappa, "visibility", "blind", "between", "model_and_annotator"); math.Abs(*m.Estimate-0.4) > 1e-15 || *m.Units != 50 {
		t.Errorf("blind kappa %v over %d", *m.Estimate, *m.Units)
	}
	if m := measure(t, g, kappa, "visibility", "visible", "between", "model_and_annotator"); m.Estimate != nil || !strings.Contains(m.Conditions, "not defined") {
		t.Errorf("visible kappa %v: %s", m.Estimate, m.Conditions)
	}
}

// TestPeopleAgreement: by hand. Item 1 has a, a, b: 1 of 3 pairs agree, and with the model 2 of 3. Item 2 has a, a: 1 of 1,
// and 2 of 2. Item 3 has a and one missing label: no pair is recorded; 0 to 1, and with the model 1/2 to 1. Item 4 has one
// person only.
func TestPeopleAgreement(t *testing.T) {
	body := labelled("1", "p", "a", "blind") + labelled("1", "q", "a", "blind") + labelled("1", "r", "b", "blind") +
		labelled("2", "p", "a", "blind") + labelled("2", "q", "a", "blind") +
		labelled("3", "p", "a", "blind") + labelled("3", "r", "", "blind") + labelled("4", "p", "a", "blind") + labelled("4", "q", "a", "visible")
	g := ask(t, run{verb: gate.Decide, labels: header + body, policy: "minimum_blind_sample: 6\nrules: [{id: p, metric: people_agreement, minimum: 0}, {id: m, metric: model_minus_people, minimum: -1}]"})
	check := func(m report.Measure, missing int, estimate, low, high float64) {
		t.Helper()
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }
		if !near(*m.Estimate, estimate) || !near(m.Completions.Low, low) || !near(m.Completions.High, high) || *m.Units != 3 || *m.Missing != missing || m.UnitName != "items" {
			t.Errorf("%s: estimate %v, completions %v, %d %s, %d missing", m.Metric, *m.Estimate, *m.Completions, *m.Units, m.UnitName, *m.Missing)
		}
		if len(m.LeftOut) != 1 || m.LeftOut[0] != (report.LeftOut{Reason: "labelled blind by one person only", Count: 1}) {
			t.Errorf("%s: left out %v", m.Metric, m.LeftOut)
		}
	}
	check(g.Rules[0].Measure, 1, (1.0/3+1)/2, (1.0/3+1+0)/3, (1.0/3+1+1)/3)
	// Model minus people: 2/3 − 1/3 and 1 − 1; item 3 from 1/2 − 1 to 1 − 0.
	check(g.Rules[1].Measure, 1, (1.0/3+0)/2, (1.0/3+0-0.5)/3, (1.0/3+0+1)/3)
	// Pairs: 1 of 3, 1 of 1, and one that misses a label.
	if m := g.Rules[0].Measure; *m.Numerator != 2 || *m.Denominator != 5 {
		t.Errorf("%d of %d pairs agree, want 2 of 5", *m.Numerator, *m.Denominator)
	}
	// Blind agreement per person: p 1 of 1 on each of four items, q 1 on two, r 0 of 1 and one missing: (1 + 1 + 0)/3.
	want := "Annotators agree with one another in 66.7 % of the pairs of labels of an item, on average over 2 items that several labelled blind: " +
		"a model as good as one more annotator comes near that, so read the blind agreement (here 66.7 %) beside it."
	if f := finding(g, "read_beside_people"); f == nil || f.Message != want {
		t.Errorf("finding %+v, want %s", f, want)
	}
}

// TestCompletionsOfPairs: the least and the most agreement over every way to fill missing labels, by trying them all.
func TestCompletionsOfPairs(t *testing.T) {
	labels := []string{"a", "b", "c", "other", "another"}
	var fill func(of []opinion, i int, least, most *int)
	fill = func(of []opinion, i int, least, most *int) {
		if i == len(of) {
			n := 0
			for j := range of {
				for k := range j {
					if of[j].label == of[k].label {
						n++
					}
				}
			}
			*least, *most = min(*least, n), max(*most, n)
			return
		}
		if of[i].label.recorded {
			fill(of, i+1, least, most)
			return
		}
		for _, l := range labels {
			of[i].label = text{l, true}
			fill(of, i+1, least, most)
		}
		of[i].label = text{}
	}
	for _, written := range []string{"a.", "..", "aab..", "abc.", "abb.", "aabb..", "a", "abc..", "aaa."} {
		var of []opinion
		for _, l := range written {
			of = append(of, opinion{label: text{string(l), l != '.'}})
		}
		least, most := 1000, 0
		fill(append([]opinion{}, of...), 0, &least, &most)
		if p := comparePeople(of); p.least != least || p.most != most || p.all != len(of)*(len(of)-1)/2 {
			t.Errorf("%s: %+v, want from %d to %d", written, p, least, most)
		}
	}
}

// TestLostLabelsArePeoplesToo: a person who looked first has a missing label among people's; one with a label of their own
// before keeps it.
func TestLostLabelsArePeoplesToo(t *testing.T) {
	body := labelled("1", "p", "a", "blind") + labelled("1", "q", "a", "visible") + labelled("1", "q", "a", "blind") +
		labelled("2", "p", "b", "blind") + labelled("2", "p", "b", "blind") + labelled("2", "q", "b", "blind")
	g := ask(t, run{verb: gate.Report, labels: header + body})
	m := measure(t, g, peopleAgreement)
	if *m.Units != 2 || *m.Missing != 1 || *m.Estimate != 1 || m.Completions.Low != 0.5 {
		t.Errorf("%d items, %d missing, estimate %v, completions %v", *m.Units, *m.Missing, *m.Estimate, *m.Completions)
	}
}

// TestLabellingTime: the pooled median has no interval; over annotators it is that of their own medians. A missing time counts
// at both ends, and a label that is no blind one is among the visible.
func TestLabellingTime(t *testing.T) {
	var body strings.Builder
	for p := range 7 { // own medians 10, 11, …, 16 seconds
		for i := range 3 {
			fmt.Fprintf(&body, "i%d-%d,p%d,a,a,blind,,,,0,%d,\n", p, i, p, 10+p+10*(i-1))
		}
	}
	body.WriteString("x,p0,a,a,visible,,,,0,100,\ny,p0,a,a,visible,,,,,,\n")
	g := ask(t, run{verb: gate.Report, labels: header + body.String()})
	if m := measure(t, g, labellingTime, "visibility", "blind"); *m.Estimate != 13 || m.Interval != nil || *m.Units != 21 || m.MeasuredIn != "seconds" {
		t.Errorf("pooled: %v over %d, interval %v", *m.Estimate, *m.Units, m.Interval)
	}
	// Of seven values the order statistics of 95 % are the smallest and the largest: 2·2⁻⁷ < .05 < 2·8·2⁻⁷.
	if m := measure(t, g, labellingTime, "visibility", "blind", "per", "person"); *m.Estimate != 13 || *m.Interval.Lower != 10 || *m.Interval.Upper != 16 || *m.Units != 7 {
		t.Errorf("per person: %v over %d in [%v, %v]", *m.Estimate, *m.Units, *m.Interval.Lower, *m.Interval.Upper)
	}
	// One annotator's median over annotators is the annotator's own: it is not told twice.
	alone := ask(t, run{verb: gate.Report, labels: header + "x,p0,a,a,visible,,,,0,100,\ny,p0,a,a,visible,,,,0,40,\n"})
	if m := measure(t, alone, labellingTime, "visibility", "visible"); *m.Estimate != 70 {
		t.Errorf("alone: %v, want 70", *m.Estimate)
	}
	for _, m := range alone.Measures {
		if m.Metric == labellingTime && m.Labels["per"] != "" {
			t.Errorf("alone: a row of labelling_time per %s", m.Labels["per"])
		}
	}
	if m := measure(t, g, labellingTime, "visibility", "visible"); *m.Estimate != 100 || *m.Missing != 1 || *m.Units != 2 {
		t.Errorf("visible: %v over %d, %d missing", *m.Estimate, *m.Units, *m.Missing)
	}
}
