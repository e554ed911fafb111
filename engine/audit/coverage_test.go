package audit

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/report"
)

// gridOf is a grid, or the test ends.
func gridOf(t *testing.T, about About) Grid {
	t.Helper()
	g, err := NewGrid(about)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// run simulates a grid from a state, a new one for nil.
func run(t *testing.T, g Grid, about About, s *State) *Coverage {
	t.Helper()
	if s == nil {
		s = NewState(g, about)
	}
	c, err := g.Run(context.Background(), about, s, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// document is a result's JSON, which the published schema accepts.
func document(t *testing.T, c *Coverage) []byte {
	t.Helper()
	text, err := c.JSON()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(CoverageSchema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("coverage.schema.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("coverage.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(value); err != nil {
		t.Errorf("%#v", err)
	}
	return text
}

// TestGridIsWhole: every cell of the full grid can be simulated, names are unique, and the quick grid has cells of every gate that
// the full one has cells of.
func TestGridIsWhole(t *testing.T) {
	full, quick := gridOf(t, About{Full: true}), gridOf(t, About{})
	if len(full.Cells) < 150 || len(quick.Cells) < 30 || len(quick.Cells) >= len(full.Cells) {
		t.Errorf("%d cells, %d of them quick", len(full.Cells), len(quick.Cells))
	}
	names := map[string]bool{}
	for _, c := range full.Counterexamples {
		names[c.Name] = true
	}
	if len(names) != len(full.Counterexamples) {
		t.Error("two counterexamples have one name")
	}
	for i := range full.Cells {
		c := &full.Cells[i]
		if names[c.Name] {
			t.Errorf("%s is there twice", c.Name)
		}
		names[c.Name] = true
		if _, err := c.start("s"); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	for _, name := range kinds.Names() {
		has := func(g Grid) bool {
			return slices.ContainsFunc(g.Cells, func(c Cell) bool { return c.Model.Gate() == name })
		}
		if has(full) != has(quick) {
			t.Errorf("%s is in the full grid: %v, in the quick one: %v", name, has(full), has(quick))
		}
	}
	one := gridOf(t, About{Gates: []string{"compare"}, Studies: 3})
	for _, c := range one.Cells {
		if c.Model.Gate() != "compare" || c.Studies > 3 {
			t.Errorf("%s with %d studies, where compare with 3 at most was asked for", c.Name, c.Studies)
		}
	}
	if len(one.Cells) == 0 {
		t.Error("no cell of compare")
	}
	if _, err := NewGrid(About{Gates: []string{"human"}}); err == nil {
		t.Error("a gate that there is not was taken")
	}
}

// TestMainCellsHaveEveryPair: of design, people, cases, spread and effect, every level meets every level of each other one.
func TestMainCellsHaveEveryPair(t *testing.T) {
	levels := map[string]map[string]bool{}
	pairs := map[[2]Factor]bool{}
	for _, c := range peopleMain() {
		for i, f := range c.Factors {
			if levels[f.Name] == nil {
				levels[f.Name] = map[string]bool{}
			}
			levels[f.Name][f.Value] = true
			for _, other := range c.Factors[i+1:] {
				pairs[[2]Factor{f, other}] = true
			}
		}
	}
	names := []string{"design", "people", "cases", "spread", "effect"}
	if n := len(levels["design"]) * len(levels["people"]) * len(levels["cases"]) * len(levels["spread"]) * len(levels["effect"]); n != 2*5*3*3*4 {
		t.Errorf("the levels are %v", levels)
	}
	for i, one := range names {
		for _, other := range names[i+1:] {
			for a := range levels[one] {
				for b := range levels[other] {
					if !pairs[[2]Factor{{one, a}, {other, b}}] {
						t.Errorf("no cell has %s %s and %s %s", one, a, other, b)
					}
				}
			}
		}
	}
}

// rowsOf is how many rows a study of a cell has.
func rowsOf(c *Cell) int {
	n := 0
	for _, input := range c.Model.Draw(Random("s", c.Name, 0), nil).Study {
		n += len(input)
	}
	return n
}

// TestRulesAreDecided: the rules of people and of versions are decided by their interval, not left undecided because of something else: a
// rule that never says PASS nor FAIL would keep every promise.
func TestRulesAreDecided(t *testing.T) {
	for _, c := range gridOf(t, About{Full: true, Gates: []string{"human-ai", "compare"}}).Cells {
		a, err := c.start("s")
		if err != nil {
			t.Fatal(err)
		}
		if rowsOf(&c) > 500 { // the others differ in size alone
			continue
		}
		answer, err := a.Once(Random("s", c.Name, 0))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range answer.Rules {
			if r.Verdict == report.ManualReview && strings.Contains(r.Reason, "as copies of one cached run would") { // rightly so, in a fixed list of cases that always end alike
				continue
			}
			if r.Verdict != report.Pass && r.Verdict != report.Fail && r.Interval != nil && !strings.HasPrefix(r.Reason, "The interval holds ") {
				t.Errorf("%s, %s: %s", c.Name, r.Metric, r.Reason)
			}
		}
	}
}

// TestQuickGridKeepsItsPromises: few studies of each cell, the seed fixed: no promise is broken, the document is as published, and
// both forms for people name what they have to.
func TestQuickGridKeepsItsPromises(t *testing.T) {
	about := About{Version: "1.0.0", Seed: CoverageSeed, Studies: 4}
	g := gridOf(t, about)
	c := run(t, g, about, nil)
	document(t, c)
	if len(c.Broken) > 0 || c.ExitStatus != report.ExitPass {
		t.Errorf("exit %d, broken: %v", c.ExitStatus, c.Broken)
	}
	if c.Promises < len(c.Cells) || len(c.Cells) != len(g.Cells) {
		t.Errorf("%d promises and %d cells of %d", c.Promises, len(c.Cells), len(g.Cells))
	}
	page := c.Markdown()
	for _, cell := range c.Cells {
		if !strings.Contains(page, "**"+cell.Name+"**") {
			t.Errorf("the page has no %s", cell.Name)
		}
	}
	text := c.Text()
	for _, want := range []string{c.Command(), "No promise is seen to be broken", "| human-ai | *naive* |", "| compare | clopper-pearson |"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, form := range []string{page, text} {
		if strings.Contains(form, "%!") {
			t.Errorf("a text has %%!: a verb of its format has no value")
		}
	}
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// TestReach holds what a run could have seen against sums of binomial chances.
func TestReach(t *testing.T) {
	tail := func(n, from int, p float64) float64 { // of from or more of n
		sum := 0.0
		for k := from; k <= n; k++ {
			a, _ := math.Lgamma(float64(n + 1))
			b, _ := math.Lgamma(float64(k + 1))
			c, _ := math.Lgamma(float64(n - k + 1))
			sum += math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
		}
		return sum
	}
	for _, c := range []struct{ studies, tests int }{{20, 495}, {FewestStudies, 10_000}, {200, 3000}, {2000, 3000}} {
		r, err := reach(c.studies, 3, c.tests)
		if err != nil || r.From == 0 || r.Cells != 3 || r.Studies != c.studies {
			t.Fatalf("%+v: %+v, %v", c, r, err)
		}
		level := Level / float64(c.tests)
		if at, below := tail(c.studies, r.From, 0.025), tail(c.studies, r.From-1, 0.025); at > level || below <= level {
			t.Errorf("%d of %d come about by chance with %v, one fewer with %v; the level is %v", r.From, c.studies, at, below, level)
		}
		step := 0.01
		if r.Error < 0.1 {
			step = 0.001
		}
		if seen, less := tail(c.studies, r.From, r.Error), tail(c.studies, r.From, r.Error-step); seen < 0.8 || less >= 0.8 {
			t.Errorf("%d of %d: an error of %v is seen with %v, one of a step less with %v", r.From, c.studies, r.Error, seen, less)
		}
	}
	for n := 1; n < 3; n++ { // 0.025² = 0.000625 is above 0.001 / 2
		if r, err := reach(n, 1, 2); err != nil || r.From != 0 {
			t.Errorf("%d studies: %+v, %v", n, r, err)
		}
	}
	c := &Coverage{Reach: []Reach{{Studies: 1, Cells: 1}, {2000, 1200, 91, 0.05}, {500, 77, 35, 0.081}}}
	for i, want := range [][]string{{"1", "1", "-", "-"}, {"2,000", "1,200", "91 on", "5 %"}, {"500", "77", "35 on", "8.1 %"}} {
		if got := c.Reach[i].cells(); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, form := range []string{c.Text(), c.Markdown()} {
		if !strings.Contains(form, "How large a breach the run could have seen") || !strings.Contains(form, "91 on") {
			t.Error(form)
		}
	}
}

// TestShareText: few studies are counted, many are a share.
func TestShareText(t *testing.T) {
	for want, s := range map[string]Share{"1 of 20": {1, 20}, "0 of 1": {0, 1}, "3 of 199": {3, 199}, "2.5 %": {5, 200}, "0.1 %": {1, 999}, "2.50 %": {50, 2000}} {
		if got := s.text(); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

// TestMissingBesideComplete: an interval where values are missing stands beside the same kind of study without, not beside others.
func TestMissingBesideComplete(t *testing.T) {
	cell := func(name, size, missing string, covered int) CellResult {
		share := Measured{Share: Share{covered, 2000}}
		return CellResult{Name: name, Gate: "compare", Studies: 2000, Factors: []Factor{{"size", size}, {missingFactor, missing}},
			Intervals: []IntervalResult{{Quantity: "q", Interval: "naive", Coverage: Sides{share, share, share}}}}
	}
	c := &Coverage{Cells: []CellResult{cell("a", "1", nothingMissing, 400), cell("b", "2", nothingMissing, 1900), cell("c", "2", "some", 1500), cell("d", "3", "some", 100)}}
	rows := c.worst()
	if len(rows) != 1 || rows[0].complete != (worst{Share{400, 2000}, "a"}) || rows[0].gaps != (worst{Share{1500, 2000}, "c"}) || rows[0].twin != (worst{Share{1900, 2000}, "b"}) {
		t.Errorf("%+v", rows)
	}
	if text := c.Text(); !strings.Contains(text, "20.00 %       75.00 %       95.00 %\n") {
		t.Error(text)
	}
	c.Cells = c.Cells[:2]
	if text := c.Text(); strings.Contains(text, "MISSING") || !strings.Contains(text, "The others are of the cells where nothing is missing.") {
		t.Error(text)
	}
}

// few is a small grid: a cell of people with every kind of target and of other interval, and one of two versions.
func few() Grid {
	targets := append(differences(6), rate("over_reliance", "per person", ", per: person", true))
	return Grid{Cells: []Cell{
		{Name: "people", Factors: []Factor{{"people", "6"}}, Studies: 30, Targets: targets,
			Model:  HumanAI{People: 6, Cases: 6, Skills: Spread(0.5, 0.1), Gains: Spread(0, 0.1), SystemAccuracy: 0.5},
			Rivals: append(differenceRivals(targets[0].Name), personRateRivals(targets[3].Name, followsWrong)...)},
		func() Cell {
			c := versionsCell(Compare{Cases: 8, Trials: [2]int{5, 5}, Kinds: changes()[0].kinds}, "none", nothingMissing)
			c.Studies = 30
			return c
		}(),
	}, Counterexamples: []Counterexample{coin("a coin", 0.5, 0.01, 40)}}
}

// coin is a counterexample whose two rules err with these probabilities.
func coin(name string, naive, ours float64, studies int) Counterexample {
	return Counterexample{Name: name, Gate: "compare", Title: "A coin", Story: "A coin is thrown.", Naive: "half", Ours: "rarely", Promise: 0.025, Studies: studies,
		Start: func() (func(r *rand.Rand) (bool, bool, error), error) {
			return func(r *rand.Rand) (bool, bool, error) { return happens(r, naive), happens(r, ours), nil }, nil
		}}
}

// TestCoverageIsTheSame: on one core and on four, and where a run is interrupted after any of its cells and goes on from what it saved,
// the document has the same bytes.
func TestCoverageIsTheSame(t *testing.T) {
	g, about := few(), About{Version: "1.0.0", Seed: "s"}
	on := func(cores int) []byte {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		return document(t, run(t, g, about, nil))
	}
	one := on(1)
	if diff := cmp.Diff(string(one), string(on(4))); diff != "" {
		t.Errorf("one core and four (-one +four):\n%s", diff)
	}
	for after := range 3 {
		var saved []byte
		ctx, cancel := context.WithCancel(context.Background())
		s := NewState(g, about)
		if after == 0 {
			cancel()
		}
		_, err := g.Run(ctx, about, s, nil, func() error {
			if s.Finished() == after {
				cancel()
			}
			return nil
		})
		cancel()
		if err == nil || s.Finished() != after {
			t.Fatalf("interrupted after %d: %v with %d finished", after, err, s.Finished())
		}
		if saved, err = s.JSON(); err != nil {
			t.Fatal(err)
		}
		again, err := ReadState(saved, g, about)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(one), string(document(t, run(t, g, about, again)))); diff != "" {
			t.Errorf("interrupted after %d (-whole +gone on):\n%s", after, diff)
		}
	}
	if other := document(t, run(t, g, About{Version: "1.0.0", Seed: "other"}, nil)); bytes.Equal(one, other) {
		t.Error("another seed draws the same studies")
	}
}

// TestStatesAreRefused: what is not the state of this run is not gone on from.
func TestStatesAreRefused(t *testing.T) {
	g, about := few(), About{Version: "1.0.0", Seed: "s"}
	s := NewState(g, about)
	run(t, g, about, s)
	saved, err := s.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadState(saved, g, about); err != nil {
		t.Fatal(err)
	}
	larger := few()
	larger.Cells[0].Studies++
	shifted := few()
	shifted.Cells[1].Model = Compare{Cases: 8, Trials: [2]int{5, 5}, Kinds: changes()[1].kinds}
	twice := NewState(g, about)
	twice.Done = []counts{s.Done[0], s.Done[0]}
	doubled, err := twice.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		text  []byte
		grid  Grid
		about About
		want  string
	}{
		{"another seed", saved, g, About{Version: "1.0.0", Seed: "t"}, "another run"},
		{"another version", saved, g, About{Version: "1.0.1", Seed: "s"}, "another run"},
		{"more studies", saved, larger, about, "another run"},
		{"another model", saved, shifted, about, "another run"},
		{"cut off", saved[:len(saved)/2], g, about, "damaged"},
		{"nothing", nil, g, about, "damaged"},
		{"another file", []byte("{\"schema\": \"oloproof-report/1\"}"), g, about, "not a"},
		{"a count changed", bytes.Replace(saved, []byte(`"of":30`), []byte(`"of":31`), 1), g, about, "damaged"},
		{"a cell twice", doubled, g, about, "damaged"},
		{"something behind it", append(slices.Clone(saved), saved...), g, about, "damaged"},
	} {
		if _, err := ReadState(c.text, c.grid, c.about); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// wrongTruth is a model that says that something else is true.
type wrongTruth struct {
	Model
	off float64
}

// Draw implements Model.
func (m wrongTruth) Draw(r *rand.Rand, columns []string) Drawn {
	d := m.Model.Draw(r, columns)
	for name := range d.Truth {
		d.Truth[name] += m.off
	}
	return d
}

// withNaive is a model that computes another interval of each study it draws, and says it among what is true.
type withNaive struct {
	Model
	naive Rival
}

// Draw implements Model.
func (m withNaive) Draw(r *rand.Rand, columns []string) Drawn {
	d := m.Model.Draw(r, columns)
	if columns != nil { // else the truth alone is asked for
		d.Truth["naive lower"], d.Truth["naive upper"], _ = m.naive.Bounds(d.Study, columns, r)
	}
	return d
}

// TestFaultsAreFound plants one of each: a truth that is not, an interval that decides and is the naive one, and a rule of ours in a
// counterexample that errs. Each is broken, and the run ends with 1.
func TestFaultsAreFound(t *testing.T) {
	cell := func() Cell {
		for _, c := range peopleClustered() {
			if m := c.Model.(HumanAI); m.People == 10 {
				c.Studies = 60
				return c
			}
		}
		t.Fatal("the cell is gone")
		return Cell{}
	}
	about := About{Version: "1.0.0", Seed: "s"}
	for _, c := range []struct {
		name  string
		plant func(g *Grid)
		want  []string // of Broken.What, in order; nil: any
	}{
		{"nothing", func(*Grid) {}, []string{}},
		{"a truth that is too high", func(g *Grid) {
			m := g.Cells[0].Model.(HumanAI)
			m.People, m.Gains = 40, Spread(0, 0.1)
			g.Cells[0].Model, g.Cells[0].Targets, g.Cells[0].Rivals = wrongTruth{m, 0.35}, []Target{difference("", "")}, nil
		}, []string{"the upper end is below the truth", "false FAIL"}},
		{"a truth that is too low", func(g *Grid) {
			m := g.Cells[0].Model.(HumanAI)
			m.People, m.Gains = 40, Spread(0, 0.1)
			g.Cells[0].Model, g.Cells[0].Targets, g.Cells[0].Rivals = wrongTruth{m, -0.35}, []Target{difference("", "")}, nil
		}, []string{"the lower end is above the truth", "false PASS"}},
		{"the naive interval decides", func(g *Grid) {
			g.Cells[0].Targets, g.Cells[0].Model = []Target{difference("", "")}, withNaive{g.Cells[0].Model, g.Cells[0].Rivals[0]}
			g.Cells[0].Rivals = nil
			g.Cells[0].Targets[0].Ends = func(_ *report.Rule, truth Truth) Ends {
				return Ends{Above: truth["naive lower"] > truth["accuracy_difference"], Below: truth["naive upper"] < truth["accuracy_difference"]}
			}
		}, []string{"the lower end is above the truth", "the upper end is below the truth"}},
		{"our rule errs", func(g *Grid) { g.Counterexamples = []Counterexample{coin("a coin", 0.5, 0.3, 100)} }, []string{"our rule errs"}},
	} {
		g := Grid{Cells: []Cell{cell()}}
		c.plant(&g)
		result := run(t, g, about, nil)
		document(t, result)
		var got []string
		for _, b := range result.Broken {
			got = append(got, b.What)
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) || (result.ExitStatus == report.ExitFail) != (len(c.want) > 0) {
			t.Errorf("%s: exit %d, broken: %v, want %v", c.name, result.ExitStatus, got, c.want)
		}
		if text := result.Text(); strings.Contains(text, "BROKEN") != (len(c.want) > 0) || strings.Contains(result.Markdown(), "BROKEN") != (len(c.want) > 0) {
			t.Errorf("%s: the text:\n%s", c.name, text)
		}
	}
}

// TestNaiveErrs: where people differ and decide many cases, the interval that takes decisions for independent covers the truth in far
// fewer studies than the 95 % that it announces, and ours in at least as many.
func TestNaiveErrs(t *testing.T) {
	for _, c := range peopleClustered() {
		m := c.Model.(HumanAI)
		if m.People != 10 || m.Cases != 60 {
			continue
		}
		c.Studies = 150
		g := Grid{Cells: []Cell{c}}
		about := About{Version: "1.0.0", Seed: CoverageSeed}
		for _, iv := range run(t, g, about, nil).Cells[0].Intervals {
			switch covers := iv.Coverage.Both.Value; {
			case iv.Interval == naiveName && covers > 0.6:
				t.Errorf("naive covers in %.3f", covers)
			case iv.Deciding && covers < 0.95:
				t.Errorf("%s covers in %.3f", iv.Interval, covers)
			}
		}
		return
	}
	t.Fatal("the cell is gone")
}

// TestThresholds: both are decimals within a billionth of the truth, on either side of it.
func TestThresholds(t *testing.T) {
	for _, truth := range []float64{0, 0.1, 0.1 + 0.2, 0.5, 1, -0.2, 0.3 - 0.2, -1, 1.0 / 3} {
		for _, atMost := range []bool{false, true} {
			wrong, right := thresholds(truth, atMost)
			w, r, at := wrong.value(), right.value(), truth
			for k, read := range map[threshold]float64{wrong: w, right: r} {
				if x, err := strconv.ParseFloat(k.text(), 64); err != nil || x != read {
					t.Errorf("%s is read as %v, want %v", k.text(), x, read)
				}
			}
			if atMost {
				w, r, at = -w, -r, -at
			}
			if !(w > at && r <= at) || w-at > 1.001e-9 || at-r > 1.001e-9 {
				t.Errorf("truth %v, at most %v: wrong %s, right %s", truth, atMost, wrong.text(), right.text())
			}
		}
	}
}

// TestStudentQuantile holds the quantile to another implementation.
func TestStudentQuantile(t *testing.T) {
	for n := 1; n <= 250; n++ {
		want := distuv.StudentsT{Sigma: 1, Nu: float64(n)}.Quantile(0.975)
		if got := studentQuantile(n); math.Abs(got-want) > 2e-9*want {
			t.Errorf("%d degrees of freedom: %.10f, want %.10f", n, got, want)
		}
	}
}

// TestOtherIntervals computes them by hand.
func TestOtherIntervals(t *testing.T) {
	near := func(name string, lower, upper float64, ok bool, wantLower, wantUpper float64) {
		t.Helper()
		if !ok || math.Abs(lower-wantLower) > 1e-5 || math.Abs(upper-wantUpper) > 1e-5 {
			t.Errorf("%s: %.6f to %.6f (%v), want %.6f to %.6f", name, lower, upper, ok, wantLower, wantUpper)
		}
	}
	// 24 of 40 at two standard errors: 0.6 ± 2·√(0.6·0.4/40) = 0.6 ± 0.154919, the 45 to 75 % of the lesson.
	lower, upper, ok := waldRate(24, 40, 2)
	near("rate", lower, upper, ok, 0.445081, 0.754919)
	// 6 of 10 against 3 of 10: 0.3 ± 1.959964·√(0.024 + 0.021) = 0.3 ± 0.415771.
	lower, upper, ok = waldDifference(6, 10, 3, 10)
	near("difference", lower, upper, ok, -0.115771, 0.715771)
	// 0, 0.1, 0.2, 0.3: mean 0.15, s²= 0.05/3, t at 3 degrees 3.182446: 0.15 ± 3.182446·√(0.05/12) = 0.15 ± 0.205426.
	lower, upper, ok = student([]float64{0, 0.1, 0.2, 0.3})
	near("student", lower, upper, ok, -0.055426, 0.355426)
	lower, upper, ok = bootstrap([]float64{0.25, 0.25, 0.25}, Random("s", "bootstrap", 0))
	near("bootstrap", lower, upper, ok, 0.25, 0.25)
	for name, ok := range map[string]bool{
		"rate": second(waldRate(0, 0, 2)), "difference": second(waldDifference(0, 0, 1, 2)), "student": second(student([]float64{1})), "bootstrap": second(bootstrap(nil, nil)),
	} {
		if ok {
			t.Errorf("%s of nothing is defined", name)
		}
	}
}

// TestOtherIntervalsReadStudies counts small studies by hand. People: ana is right in 1 of 2 without the output and in 1 of 1 with it, a
// second decision with it is missing; bo in 0 of 1 and 1 of 2. The system is wrong in c2, where bo follows it.
func TestOtherIntervalsReadStudies(t *testing.T) {
	columns := []string{"reviewer", "case", "condition", "decision", "reference", "ai_output"}
	people := Study{{
		{"ana", "c1", "without", "yes", "yes", ""}, {"ana", "c2", "without", "yes", "no", ""}, {"ana", "c3", "with", "no", "no", "no"}, {"ana", "c4", "with", "", "no", "no"},
		{"bo", "c3", "without", "yes", "no", ""}, {"bo", "c1", "with", "yes", "yes", "yes"}, {"bo", "c2", "with", "yes", "no", "yes"},
	}}
	if diff := cmp.Diff([]float64{0.5, 0.5}, gainsOf(people, columns)); diff != "" {
		t.Errorf("the gains (-want +got):\n%s", diff)
	}
	if _, all := byCondition(decisionsOf(people, columns)); all != [2]hits{{1, 3}, {2, 3}} {
		t.Errorf("right of all: %v, want 1 of 3 without and 2 of 3 with the output", all)
	}
	for name, c := range map[string]struct {
		rate counted
		want hits
	}{
		"over_reliance": {followsWrong, hits{1, 1}}, "harmful_override": {departsFromRight, hits{0, 2}}, "agreement": {agreesWith, hits{3, 3}},
		"accuracy_with": {rightWith, hits{2, 3}}, "accuracy_without": {rightWithout, hits{1, 3}},
	} {
		var h hits
		for _, d := range decisionsOf(people, columns) {
			if of, event := c.rate(d); of {
				h.add(event)
			}
		}
		if h != c.want {
			t.Errorf("%s: %v, want %v", name, h, c.want)
		}
	}
	// Trials: c1 passes in 1 of 2 and 2 of 2, c2 in 0 of 1 and, one being missing, 0 of 1; c3 has none of the candidate.
	trials := Study{{
		{"baseline", "c1", "1"}, {"baseline", "c1", "0"}, {"candidate", "c1", "1"}, {"candidate", "c1", "1"},
		{"baseline", "c2", "0"}, {"candidate", "c2", "0"}, {"candidate", "c2", ""}, {"baseline", "c3", "1"},
	}}
	if diff := cmp.Diff([]float64{0.5, 0}, caseDifferences(trials, []string{"version", "case", "passed"})); diff != "" {
		t.Errorf("the differences (-want +got):\n%s", diff)
	}
	if _, all := trialsOf(trials, []string{"version", "case", "passed"}); all != [2]hits{{2, 4}, {2, 3}} {
		t.Errorf("passed of all: %v, want 2 of 4 and 2 of 3", all)
	}
}

// second is whether an interval is defined.
func second(_, _ float64, ok bool) bool { return ok }

// TestPageIsOfThisGrid: docs/coverage.md is the page of the full grid as it is, with the default seed. It takes minutes to make, so that
// here its command, its words and its cells are compared, with the number of their studies.
func TestPageIsOfThisGrid(t *testing.T) {
	page, err := os.ReadFile("../../docs/coverage.md")
	if err != nil {
		t.Fatal(err)
	}
	about := About{Full: true, Seed: CoverageSeed}
	var want []string
	for _, c := range gridOf(t, about).Cells {
		want = append(want, fmt.Sprintf("**%s**, studies drawn: %s", c.Name, gate.Thousands(c.Studies)))
	}
	var got []string
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "**") && strings.Contains(line, "**, studies drawn: ") {
			got = append(got, strings.TrimSuffix(line, "\n"))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("make it again with `oloproof audit coverage --full --format markdown:docs/coverage.md` (-grid +page):\n%s", diff)
	}
	c := &Coverage{Grid: "full", Seed: CoverageSeed}
	for _, text := range []string{coverageIntroduction, c.Command() + " --format", "**No promise is seen to be broken**"} {
		if !strings.Contains(string(page), text) {
			t.Errorf("the page does not say\n%s", text)
		}
	}
}
