package gate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// judging is settings at a confidence of 0.9.
func judging(looks string, planned int) policy.Judging {
	return policy.Judging{Confidence: policy.Number{Text: "0.9", Value: 0.9}, Looks: policy.Text{Value: looks, Set: looks != ""}, Planned: policy.Int{Value: planned, Set: planned > 0}}
}

// TestRateOfLooks: a rate has the exact interval, and where looks are repeated the sequence that allows them.
func TestRateOfLooks(t *testing.T) {
	for looks, want := range map[string]func(k, missing, n int, confidence float64) (interval.Interval, error){
		"": interval.ClopperPearson, policy.LooksRepeated: interval.RateSequence,
	} {
		got, err := Rate(7, 2, 20, judging(looks, 0))
		expected, errToo := want(7, 2, 20, 0.9)
		if err != nil || errToo != nil || got != expected {
			t.Errorf("looks %q: %+v, %v; want %+v, %v", looks, got, err, expected, errToo)
		}
	}
}

// TestMeanOfPlan: of planned units those that are not there yet count at the worst value for each end; as many as planned change nothing,
// and one more breaks the plan, so that the interval is the one for any number.
func TestMeanOfPlan(t *testing.T) {
	scale := interval.Scale{Lower: -1, Upper: 1}
	low, high := []float64{-0.5, 0, 0.25, 1}, []float64{-0.5, 0.5, 0.25, 1}
	for _, test := range []struct {
		name              string
		looks, method     string
		planned, enrolled int
		low, high         []float64 // as the interval has them
		want              interval.MeanMethod
		broken            string
	}{
		{"any number", "", "", 0, 4, low, high, interval.UniformMixture, ""},
		{"repeated looks", policy.LooksRepeated, "", 0, 4, low, high, interval.UniformMixture, ""},
		{"two fewer than planned", policy.LooksOnce, "", 6, 4, append(slices.Clone(low), -1, -1), append(slices.Clone(high), 1, 1), interval.Dirichlet, ""},
		{"two enrolled that are left out", policy.LooksOnce, "", 6, 6, low, high, interval.Dirichlet, ""},
		{"as planned", policy.LooksOnce, "", 4, 4, low, high, interval.Dirichlet, ""},
		{"as planned, by SymPol", policy.LooksOnce, policy.SymPol, 4, 4, low, high, interval.SymPol, ""},
		{"one more than planned", policy.LooksOnce, "", 4, 5, low, high, interval.UniformMixture,
			"5 are enrolled where 4 were planned, and the interval of looks: once holds for the planned number only"},
	} {
		j := judging(test.looks, test.planned)
		j.MeanMethod = policy.Text{Value: test.method}
		got, broken, err := Mean(slices.Clone(low), slices.Clone(high), scale, test.enrolled, j)
		want, errToo := test.want(test.low, test.high, scale, 0.9)
		if err != nil || errToo != nil || got != want || broken != test.broken {
			t.Errorf("%s: %+v, %q, %v; want %+v, %v", test.name, got, broken, err, want, errToo)
		}
	}
}

// TestConditions: the sentence about an interval is of its own method and looks.
func TestConditions(t *testing.T) {
	for _, test := range []struct {
		method interval.Method
		looks  interval.Looks
		begins string
	}{
		{interval.MethodClopperPearson, interval.LooksOne, "Exact for independent people of one rate, at one look."},
		{interval.MethodBonferroni, interval.LooksOne, "Exact for independent people of one rate, at one look. The error is divided"},
		{interval.MethodFisherProduct, interval.LooksOne, "Holds for independent people of two groups"},
		{interval.MethodUniformMixture, interval.LooksAny, "Holds for independent people at any number of them, at one look; over repeated looks only while"},
		{interval.MethodUniformMixture, interval.LooksPlanned, "Holds for independent people drawn alike, at any look up to the 12 that were planned"},
		{interval.MethodDirichlet, interval.LooksPlanned, "Holds for independent people drawn alike, at any look up to the 12 that were planned"},
		{interval.MethodOrderStatistics, interval.LooksOne, "Holds for independent people drawn alike, at one look, whatever the distribution."},
		{"of a later version", interval.LooksOne, ""},
	} {
		got := Conditions(interval.Interval{Method: test.method, Looks: test.looks}, "people", judging("", 12))
		if !strings.HasPrefix(got, test.begins) || (got == "") != (test.begins == "") {
			t.Errorf("%s, %s: %q", test.method, test.looks, got)
		}
	}
}

// TestFractions: the sum is exact and keeps its sign. Thirds and sevenths have no float64.
func TestFractions(t *testing.T) {
	var sum Fractions
	sum.Add(1, 3, 1)
	sum.Add(1, 7, -1)
	sum.Add(2, 3, 1)
	sum.Add(6, 7, -1) // 1/3 + 2/3 − 1/7 − 6/7 = 0
	if got := sum.Over(5); got != 0 {
		t.Errorf("%v, want 0", got)
	}
	sum.Add(3, 7, 1)
	sum.Add(3, 7, 0) // any sign that is not negative adds
	if got := sum.Over(6); got != 1.0/7 {
		t.Errorf("%v, want 1/7", got)
	}
}

// TestUnitsOfPart: what is counted is put in order and added up, whatever the order it came in.
func TestUnitsOfPart(t *testing.T) {
	part := NewPart("x", []float64{0.5, 0, 0, 0.5, 0.5}, []float64{0.75, 1, 1, 0.5, 0.75}, 11)
	want := Part{"x", 11, []UnitValue{{0, 1, 2}, {0.5, 0.5, 1}, {0.5, 0.75, 2}}}
	if diff := cmp.Diff(want, part); diff != "" || part.Units() != 5 {
		t.Errorf("%d units (-want +got):\n%s", part.Units(), diff)
	}
	negative := math.Copysign(0, -1) // a ledger has it as 0
	if text, err := NewPart("", []float64{negative}, []float64{negative}, 1).Values[0].MarshalJSON(); err != nil || string(text) != "[0,0,1]" {
		t.Errorf("a negative zero is written %s, %v", text, err)
	}
	counted := CountPart("", 3, 2, 10) // 3 of 10 are 1, 2 are missing, 5 are 0
	want = Part{"", 8, []UnitValue{{0, 0, 5}, {0, 1, 2}, {1, 1, 3}}}
	if diff := cmp.Diff(want, counted); diff != "" || counted.Units() != 10 {
		t.Errorf("%d units (-want +got):\n%s", counted.Units(), diff)
	}
	if none := CountPart("", 0, 0, 0); len(none.Values) != 0 || none.Values == nil || none.Units() != 0 {
		t.Errorf("no units are %+v", none) // a list, not null, where it is written
	}
	for _, pair := range [][2]UnitValue{{{0, 1, 1}, {0.5, 0.5, 1}}, {{0, 0.5, 9}, {0, 1, 1}}} {
		if pair[0].Compare(pair[1]) >= 0 || pair[1].Compare(pair[0]) <= 0 || pair[0].Compare(pair[0]) != 0 {
			t.Errorf("%+v", pair)
		}
	}
}

// TestUnitValueJSON: a value is written and read back to the last digit, and what is not one is refused.
func TestUnitValueJSON(t *testing.T) {
	v := UnitValue{1.0 / 3, 2.0 / 3, 12}
	text, err := v.MarshalJSON()
	if err != nil || string(text) != "[0.3333333333333333,0.6666666666666666,12]" {
		t.Errorf("%s, %v", text, err)
	}
	var back UnitValue
	if err := back.UnmarshalJSON(text); err != nil || back != v {
		t.Errorf("%+v, %v", back, err)
	}
	for text, want := range map[string]string{
		"[0,1]": "a value has 2 numbers", "[0,1,2,3]": "a value has 4 numbers", "{}": "cannot unmarshal", "[0,1,2.5]": "invalid syntax", "[1e999,1,1]": "out of range", "[0,1e999,1]": "out of range",
	} {
		if err := new(UnitValue).UnmarshalJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// namedGate is a gate with a name alone.
type namedGate struct {
	Gate
	name string
}

func (g namedGate) Name() string { return g.name }

// TestQuestionOfUnits: all that settles what is measured is in the question, and nothing else is: a ledger tells looks at one question by it.
func TestQuestionOfUnits(t *testing.T) {
	pair := func(key, value string) policy.Pair {
		return policy.Pair{Key: policy.Text{Value: key}, Value: policy.Text{Value: value}}
	}
	type asked struct {
		gate    namedGate
		source  Source
		rule    policy.Rule
		measure report.Measure
		own     []string
	}
	base := func() *asked {
		return &asked{
			gate: namedGate{name: "g"},
			source: Source{Section: &policy.Section{Name: policy.Text{Value: "s"}}, Settings: policy.Settings{
				Columns: []policy.Pair{pair("a", "x"), pair("b", "y")}, MissingValues: []policy.Text{{Value: "NA"}, {Value: "-"}}}},
			rule: policy.Rule{Metric: policy.Text{Value: "m"}, Where: []policy.Pair{pair("site", "1"), pair("arm", "2")},
				Threshold: &policy.Threshold{Kind: policy.Minimum, Value: policy.Number{Value: 0.5}}, Judging: judging(policy.LooksOnce, 12)},
			measure: report.Measure{Metric: "m", Method: interval.MethodSignTest},
			own:     []string{"v", "w"},
		}
	}
	units := func(a *asked) Units { return UnitsOf(a.gate, a.source, &a.rule, a.measure, a.own...) }
	first := units(base())
	// Half of 1 − 0.9, as the float64 nearest to 0.05.
	if first.Metric != "m" || first.Method != interval.MethodSignTest || first.Looks != interval.LooksOne || first.Planned != 12 || first.Error != 0.05 || len(first.Question) != 64 {
		t.Errorf("%+v", first)
	}
	for name, change := range map[string]func(*asked){
		"another threshold":       func(a *asked) { a.rule.Threshold.Value.Value = 0.6 },
		"another confidence":      func(a *asked) { a.rule.Confidence = policy.Number{Text: "0.99", Value: 0.99} },
		"where in another order":  func(a *asked) { slices.Reverse(a.rule.Where) },
		"columns in other order":  func(a *asked) { slices.Reverse(a.source.Settings.Columns) },
		"missing in other order":  func(a *asked) { slices.Reverse(a.source.Settings.MissingValues) },
		"a column with blanks":    func(a *asked) { a.source.Settings.Columns[0].Value.Value = " x " },
		"the id of the rule":      func(a *asked) { a.rule.ID.Value = "other" },
		"files":                   func(a *asked) { a.source.Files = []string{"x.csv"} },
		"an interval of its own":  func(a *asked) { a.measure.Interval = published(0, 1) },
		"no threshold whatsoever": func(a *asked) { a.rule.Threshold = nil },
	} {
		a := base()
		change(a)
		if units(a).Question != first.Question {
			t.Errorf("%s: it is another question", name)
		}
	}
	for name, change := range map[string]func(*asked){
		"another gate":            func(a *asked) { a.gate.name = "h" },
		"another section":         func(a *asked) { a.source.Section = &policy.Section{Name: policy.Text{Value: "t"}} },
		"no section":              func(a *asked) { a.source.Section = nil },
		"another metric":          func(a *asked) { a.rule.Metric.Value = "n" },
		"another slice":           func(a *asked) { a.rule.Where[0].Value.Value = "3" },
		"no slice":                func(a *asked) { a.rule.Where = nil },
		"another column":          func(a *asked) { a.source.Settings.Columns[0].Value.Value = "z" },
		"another missing value":   func(a *asked) { a.source.Settings.MissingValues[0].Value = "?" },
		"what the gate adds":      func(a *asked) { a.own[0] = "u" },
		"its order":               func(a *asked) { slices.Reverse(a.own) },
		"texts that join alike":   func(a *asked) { a.own = []string{"vw"} },
		"texts that part alike":   func(a *asked) { a.own = []string{"v", "w", ""} },
		"a slice as a column too": func(a *asked) { a.source.Settings.Columns, a.rule.Where = a.rule.Where, a.source.Settings.Columns },
	} {
		a := base()
		change(a)
		if units(a).Question == first.Question {
			t.Errorf("%s: it is the same question", name)
		}
	}
	a := base()
	a.measure.Interval = &report.Interval{Method: interval.MethodDirichlet, Looks: interval.LooksPlanned}
	if u := units(a); u.Method != interval.MethodDirichlet || u.Looks != interval.LooksPlanned {
		t.Errorf("%+v", u)
	}
}

// TestCountingDifferences: two tallies that were counted in different ways say in what; those of one counting have one digest.
func TestCountingDifferences(t *testing.T) {
	base := func() Counting {
		return Counting{Gate: "fairness", MissingValues: []string{"NA"}, CalibrationBins: 10, Columns: []CountedColumn{
			{Role: "label", Name: "label", Column: "y", Words: []string{"no", "yes"}},
			{Role: "attribute", Name: "age", Column: "age", Groups: []string{"young", "old"}, Bounds: []string{"30"}},
		}}
	}
	if got, again := base().Differences(base()), base().Digest(); got != "" || base().Digest() != again || len(again) != 64 {
		t.Errorf("%q, %s", got, base().Digest())
	}
	for _, test := range []struct {
		change func(*Counting)
		want   string
	}{
		{func(c *Counting) { c.Gate = "compare" }, `it is of "compare", and this is fairness`},
		{func(c *Counting) { c.MissingValues = nil }, `its missing_values are none, and here they are "NA"`},
		{func(c *Counting) { c.CalibrationBins = 0 }, "its calibration_bins are none, and here they are 10"},
		{func(c *Counting) { c.Columns = c.Columns[1:] }, `it does not count by the label "label"`},
		{func(c *Counting) { c.Columns = append(c.Columns, CountedColumn{Role: "where", Name: "site"}) }, `it counts by the where "site", which is not read here`},
		{func(c *Counting) { c.Columns[0].Role = "decision" }, `it counts by the decision "label", which is not read here; it does not count by the label "label"`},
		{func(c *Counting) { c.Columns[0].Name = "lab" }, `it counts by the label "lab", which is not read here; it does not count by the label "label"`},
		{func(c *Counting) { c.Columns[0].Column = "z" }, `its label "label" is read from the column "z", and here from "y"`},
		{func(c *Counting) { c.Columns[0].Words = []string{"yes", "no"} }, `its words of "label" are "yes", "no", and here they are "no", "yes"`},
		{func(c *Counting) { c.Columns[1].Groups = nil }, `its groups of "age" are none, and here they are "young", "old"`},
		{func(c *Counting) { c.Columns[1].Bounds = []string{"40"} }, `its bounds of "age" are "40", and here they are "30"`},
		{func(c *Counting) { slices.Reverse(c.Columns) }, "its columns stand in another order"},
		{func(c *Counting) { slices.Reverse(c.Columns); c.Columns[0].Column = "z" }, `its attribute "age" is read from the column "z", and here from "age"`},
	} {
		part := base()
		test.change(&part)
		if got := base().Differences(part); got != test.want {
			t.Errorf("%s\nwant %s", got, test.want)
		}
		if part.Digest() == base().Digest() {
			t.Errorf("%s: the digest is the same", test.want)
		}
	}
	names := []policy.Pair{{Key: policy.Text{Value: "label"}, Value: policy.Text{Value: " y "}}}
	if a, b := InFiles("label", names), InFiles("other", names); a != "y" || b != "other" {
		t.Errorf("in files %q and %q", a, b)
	}
	if diff := cmp.Diff([]string{"-", "NA"}, Missing([]policy.Text{{Value: "NA"}, {Value: " "}, {Value: " -"}, {Value: "NA "}})); diff != "" {
		t.Errorf("missing values (-want +got):\n%s", diff)
	}
	if Missing([]policy.Text{{Value: ""}}) != nil {
		t.Error("an empty text is a text that means missing, and is always missing")
	}
}
