package humanai

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// Expected values of one study, as counted by testdata/oracle/oracle.py.
type (
	oracle struct {
		Design        string
		Contradiction bool
		OrderBroken   bool `json:"order_broken"`
		Rows, Absent  int
		Departing     int
		People        int
		oracleMeasures
		DecisionTime *map[string]oracleTime `json:"decision_time"`
		Slices       map[string]oracleMeasures
	}
	oracleMeasures struct {
		AccuracyDifference struct {
			Low, High   []string
			Estimate    *string
			People      int
			LeftOut     int `json:"left_out"`
			Completions []string
			Decidable   bool
			NotDecided  []string `json:"not_decided"`
		} `json:"accuracy_difference"`
		Rates          map[string]oracleRate
		SystemAccuracy struct {
			oracleRate
			SeveralOutputs int `json:"several_outputs"`
		} `json:"system_accuracy"`
	}
	oracleRate struct {
		Numerator, Denominator, Missing int
		Estimate                        *string
		LeftOut                         map[string]int `json:"left_out"`
		Repeats                         bool
		PerPerson                       *struct {
			Low, High []string
			Estimate  *string
			LeftOut   int `json:"left_out"`
		} `json:"per_person"`
	}
	oracleTime struct {
		PooledMedian *string `json:"pooled_median"`
		Recorded     int
		Missing      int
		PerPerson    struct {
			Low, High []string
			Estimate  *string
			LeftOut   int `json:"left_out"`
		} `json:"per_person"`
	}
	oracleOptions struct {
		Design     string
		Abstain    []string
		Assignment *string
		MaxLeftOut json.Number `json:"max_left_out"`
		Slices     []struct{ Column, Value string }
	}
)

// TestOracle compares every count, list of units and completion with those of an independent program, on
// all of its studies.
func TestOracle(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join("testdata", "oracle", "[0-9]*"))
	if err != nil || len(folders) < 60 {
		t.Fatalf("%d studies (%v), want at least 60", len(folders), err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			var want oracle
			var options oracleOptions
			readJSON(t, filepath.Join(folder, "expected.json"), &want)
			readJSON(t, filepath.Join(folder, "options.json"), &options)
			q := compileOracle(t, folder, options)
			s := newStudy(q.tally, q.assigned, q.design)
			if s.design.name != want.Design || s.design.contradicted != want.Contradiction {
				t.Errorf("design %s, contradicted %v; want %s, %v", s.design.name, s.design.contradicted, want.Design, want.Contradiction)
			}
			if got := len(s.wrongOrder) > 0; got != want.OrderBroken {
				t.Errorf("order broken: %v, want %v", got, want.OrderBroken)
			}
			if s.rows != want.Rows || s.counted().absent != want.Absent || len(s.departed) != want.Departing || len(s.people) != want.People {
				t.Errorf("rows, absent, departing, people: %d, %d, %d, %d; want %d, %d, %d, %d",
					s.rows, s.counted().absent, len(s.departed), len(s.people), want.Rows, want.Absent, want.Departing, want.People)
			}
			v := s.whole(q.abstain, q.judging)
			compareMeasures(t, v, want.oracleMeasures)
			compareTimes(t, v, want.DecisionTime)
			for _, r := range q.rules {
				w, found := want.Slices[r.slice]
				if !found {
					continue
				}
				t.Run(r.slice, func(t *testing.T) {
					compareMeasures(t, v.sliced(r.terms, r.slice), w)
				})
			}
		})
	}
}

// compileOracle reads a study through the policy that says what its options say.
func compileOracle(t *testing.T, folder string, o oracleOptions) *question {
	t.Helper()
	quote := func(x any) string {
		b, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	text := "max_left_out: " + o.MaxLeftOut.String() + "\n"
	if o.Design != "" {
		text += "design: " + o.Design + "\n"
	}
	if len(o.Abstain) > 0 {
		text += "abstain: " + quote(o.Abstain) + "\n"
	}
	text += "rules:\n  - {id: whole, metric: accuracy_difference, minimum: 0}\n"
	for _, s := range o.Slices {
		text += "  - {id: " + quote(s.Column+s.Value) + ", metric: accuracy_difference, minimum: 0, where: {" + quote(s.Column) + ": " + quote(s.Value) + "}}\n"
	}
	source := gate.Source{Verb: gate.Decide, Files: []string{filepath.Join(folder, "decisions.csv")}}
	if o.Assignment != nil {
		source.Flags.Assignment = filepath.Join(folder, *o.Assignment)
	}
	return compileText(t, text, source)
}

// compileText compiles a bare policy and reads the question's files.
func compileText(t *testing.T, text string, source gate.Source) *question {
	t.Helper()
	diags := &diag.List{}
	p := policy.Load(policy.Parse("policy.yaml", []byte(text), diags), []policy.SectionSpec{{Key: "human_ai", Gate: "human-ai"}}, "human_ai", "devel")
	if err := diags.Err(); err != nil {
		t.Fatalf("policy:\n%s\n%v", text, err)
	}
	source.Section, source.Settings = &p.Sections[0], p.Sections[0].Settings
	q := Gate{}.Compile(source, diags).(*question)
	for _, in := range q.Inputs() {
		rows.Read(in.Paths, rows.Options{Columns: in.Columns, Rename: in.Rename, MissingValues: in.MissingValues},
			func(r rows.Row) { in.Add(r, diags) }, diags)
	}
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return q
}

func compareMeasures(t *testing.T, v *view, want oracleMeasures) {
	t.Helper()
	g := v.gains()
	w := want.AccuracyDifference
	compareList(t, "gains, low", g.low, w.Low)
	compareList(t, "gains, high", g.high, w.High)
	if g.oneArmed != w.LeftOut || len(g.low) != w.People {
		t.Errorf("accuracy_difference: %d people and %d left out, want %d and %d", len(g.low), g.oneArmed, w.People, w.LeftOut)
	}
	m, err := v.difference()
	if err != nil {
		t.Fatal(err)
	}
	compareEstimate(t, "accuracy_difference", m.Measure, w.Estimate)
	if len(w.Completions) == 2 && len(g.low) > 0 {
		compareList(t, "completions", []float64{m.Completions.Low, m.Completions.High}, w.Completions)
	}
	decidable := m.doubts.Undecided.Why == "" && v.design.name != sparse
	if decidable != w.Decidable {
		t.Errorf("accuracy_difference decidable: %v (%s), want %v (%v)", decidable, m.doubts.Undecided.Why, w.Decidable, w.NotDecided)
	}
	for _, r := range rates {
		w := want.Rates[r.name]
		m, err := v.rateOver(r)
		if err != nil {
			t.Fatal(err)
		}
		compareRate(t, r.name, m, w)
		if repeats := m.doubts.Review != ""; repeats != w.Repeats && m.Estimate != nil {
			t.Errorf("%s repeats: %v, want %v", r.name, repeats, w.Repeats)
		}
		own, _, leftOut := v.ownRates(r)
		compareList(t, r.name+" per person, low", own.low, w.PerPerson.Low)
		compareList(t, r.name+" per person, high", own.high, w.PerPerson.High)
		if got := countOf(leftOut, reasonNoneOwn); got != w.PerPerson.LeftOut {
			t.Errorf("%s per person: %d left out, want %d", r.name, got, w.PerPerson.LeftOut)
		}
		per, err := v.ratePerPerson(r)
		if err != nil {
			t.Fatal(err)
		}
		compareEstimate(t, r.name+" per person", per.Measure, w.PerPerson.Estimate)
	}
	m, err = v.systemAccuracy()
	if err != nil {
		t.Fatal(err)
	}
	compareRate(t, systemAccuracy, m, want.SystemAccuracy.oracleRate)
	if several := m.doubts.Review != ""; m.Estimate != nil && several != (want.SystemAccuracy.SeveralOutputs > 0) {
		t.Errorf("system_accuracy several outputs: %v, want %d", several, want.SystemAccuracy.SeveralOutputs)
	}
}

func compareRate(t *testing.T, name string, m measured, want oracleRate) {
	t.Helper()
	if *m.Numerator != want.Numerator || *m.Denominator != want.Denominator || *m.Missing != want.Missing {
		t.Errorf("%s: %d/%d, %d missing; want %d/%d, %d", name, *m.Numerator, *m.Denominator, *m.Missing, want.Numerator, want.Denominator, want.Missing)
	}
	got := map[string]int{}
	for _, l := range m.LeftOut {
		got[l.Reason] += l.Count
	}
	if diff := cmp.Diff(want.LeftOut, got); diff != "" && len(want.LeftOut)+len(got) > 0 {
		t.Errorf("%s left out (-want +got):\n%s", name, diff)
	}
	compareEstimate(t, name, m.Measure, want.Estimate)
}

func compareTimes(t *testing.T, v *view, want *map[string]oracleTime) {
	t.Helper()
	for _, c := range []condition{with, without} {
		got, err := v.times(c)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil || (*want)[c.String()].Recorded == 0 {
			if len(got) > 0 {
				t.Errorf("%s: decision times where the oracle has none", c)
			}
			continue
		}
		w := (*want)[c.String()]
		if len(got) != 2 {
			t.Fatalf("%s: %d measures of decision time, want 2", c, len(got))
		}
		compareEstimate(t, "decision_time "+c.String(), got[0].Measure, w.PooledMedian)
		compareEstimate(t, "decision_time per person "+c.String(), got[1].Measure, w.PerPerson.Estimate)
		if *got[0].Missing != w.Missing || *got[1].Units != len(w.PerPerson.Low) {
			t.Errorf("decision_time %s: %d missing, %d people; want %d, %d", c, *got[0].Missing, *got[1].Units, w.Missing, len(w.PerPerson.Low))
		}
	}
}

func compareEstimate(t *testing.T, name string, m report.Measure, want *string) {
	t.Helper()
	switch {
	case (want == nil) != (m.Estimate == nil):
		t.Errorf("%s: estimate %v, want %v", name, m.Estimate, want)
	case want != nil && math.Abs(*m.Estimate-fraction(t, *want)) > 1e-15*math.Max(1, math.Abs(*m.Estimate)):
		t.Errorf("%s: estimate %v, want %s", name, *m.Estimate, *want)
	}
}

// compareList compares values, in any order, with fractions; each value is one correctly rounded division.
func compareList(t *testing.T, name string, got []float64, want []string) {
	t.Helper()
	var numbers []float64
	for _, w := range want {
		numbers = append(numbers, fraction(t, w))
	}
	got = slices.Clone(got)
	slices.Sort(got)
	slices.Sort(numbers)
	if !slices.Equal(got, numbers) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

func fraction(t *testing.T, text string) float64 {
	t.Helper()
	if text == "inf" {
		return math.Inf(1)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no fraction", text)
	}
	f, _ := r.Float64()
	return f
}

func countOf(list []report.LeftOut, reason string) int {
	for _, l := range list {
		if l.Reason == reason {
			return l.Count
		}
	}
	return 0
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
