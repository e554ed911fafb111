package audit

import (
	"bytes"
	"context"
	_ "embed" // the published schema
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/report"
)

// CoverageSchemaName names the published form of the coverage grid's result.
const CoverageSchemaName = "oloproof-coverage/1"

// CoverageSchema is the published JSON Schema of the coverage grid's result.
//
//go:embed coverage.schema.json
var CoverageSchema []byte

// Coverage is what the coverage grid came to.
type Coverage struct {
	Schema     string       `json:"schema"`
	Tool       report.Tool  `json:"tool"`
	ExitStatus int          `json:"exit_status"` // report.ExitFail where a promise is broken, else report.ExitPass
	Seed       string       `json:"seed"`
	Grid       string       `json:"grid"`                      // full or quick
	Gates      []string     `json:"gates,omitempty"`           // those asked for; none: all
	AtMost     int          `json:"studies_at_most,omitempty"` // drawn in each cell, where so few were asked for
	Confidence float64      `json:"confidence"`                // of every interval, our own and the others
	Level      float64      `json:"level"`                     // the probability, at most, that any kept promise is called broken
	Promises   int          `json:"promises"`                  // how many shares are held against a promise; each at Level divided by it
	Studies    int          `json:"studies"`
	Reach      []Reach      `json:"reach"` // how large a breach of a promise could have been seen, by the number of studies of cells
	Broken     []Broken     `json:"broken"`
	Cells      []CellResult `json:"cells"`
	// Plausible rules that err far more often than they announce, beside ours.
	Counterexamples []CounterexampleResult `json:"counterexamples"`
}

// Reach is how large a breach cells of so many studies can show: of an error that is promised in at most 2.5 % of studies.
type Reach struct {
	Studies int     `json:"studies"`
	Cells   int     `json:"cells"`                 // that have so many
	From    int     `json:"broken_from,omitempty"` // so many errors, or more, are called broken; 0: no number of them is
	Error   float64 `json:"seen_error,omitempty"`  // the true probability of the error at which that comes about in 80 % of runs, to two digits
}

// FewestStudies is how many studies of a cell can show a breach at all: with fewer, even an error in every study of an error that is
// promised in at most 5 % of them would not be told from chance at Level shared by thousands of promises (0.05 to the 6th power is
// about Level / 64,000).
const FewestStudies = 6

// reach is what cells of so many studies can show, where so many promises are tested together.
func reach(studies, cells, tests int) (Reach, error) {
	r := Reach{Studies: studies, Cells: cells}
	for n := 1; n <= studies; n++ {
		broken, err := Share{n, studies}.Above(side, tests)
		if err != nil {
			return r, err
		}
		if broken {
			r.From = n
			// n or more of them come about with probability 0.8 where n − 1 or fewer do with 0.2: an upper Clopper-Pearson end.
			iv, err := Share{n - 1, studies}.Interval(0.6)
			r.Error = math.Ceil(100*iv.Upper) / 100
			if iv.Upper < 0.1 {
				r.Error = math.Ceil(1000*iv.Upper) / 1000
			}
			return r, err
		}
	}
	return r, nil
}

// Broken is a promise that a share is above, or for a coverage below, by more than chance explains.
type Broken struct {
	Cell     string  `json:"cell"` // or counterexample
	Quantity string  `json:"quantity,omitempty"`
	What     string  `json:"what"` // such as "the lower end is above the truth"
	Share    float64 `json:"share"`
	Promise  float64 `json:"promise"` // at most
}

// Measured is a simulated share with its Monte Carlo error: the exact 95 % interval of the probability behind it.
type Measured struct {
	Share
	Value   float64  `json:"share"`
	Low     float64  `json:"low"`
	High    float64  `json:"high"`
	Promise *float64 `json:"promise,omitempty"` // at most of an error, at least of a coverage; nil: nothing is promised
	Broken  bool     `json:"broken,omitempty"`
}

// CellResult is what one cell came to.
type CellResult struct {
	Name      string           `json:"name"`
	Gate      string           `json:"gate"`
	Factors   []Factor         `json:"factors"`
	Studies   int              `json:"studies"`
	Intervals []IntervalResult `json:"intervals"`
	Rules     []RuleResult     `json:"rules,omitempty"`
}

// IntervalResult is how often one interval of a cell covered the truth. A study without one counts as covered.
type IntervalResult struct {
	Quantity  string   `json:"quantity"`
	Interval  string   `json:"interval"` // the method's published name, or that of another interval, such as naive
	Deciding  bool     `json:"deciding"` // rules are decided by it
	Coverage  Sides    `json:"coverage"`
	None      int      `json:"none,omitempty"` // studies without one
	MeanWidth *float64 `json:"mean_width,omitempty"`
}

// Sides is the coverage of an interval: in how many studies its lower end is at most the truth, its upper end at least, and both.
type Sides struct {
	Lower Measured `json:"lower"`
	Upper Measured `json:"upper"`
	Both  Measured `json:"both"`
}

// RuleResult is what the rules of one target came to.
type RuleResult struct {
	Quantity  string    `json:"quantity"`
	Rule      string    `json:"rule"`                 // its text in a policy; … stands for the threshold
	FalsePass *Measured `json:"false_pass,omitempty"` // PASS with the threshold just on the wrong side of the truth; nil: not asked
	FalseFail *Measured `json:"false_fail,omitempty"` // FAIL with the threshold just on the right side
	Undecided Measured  `json:"undecided"`            // of the verdicts of both rules, those that are neither PASS nor FAIL
}

// CounterexampleResult is what a counterexample came to.
type CounterexampleResult struct {
	Name  string     `json:"name"`
	Gate  string     `json:"gate"`
	Title string     `json:"title"`
	Story string     `json:"story"`
	Naive RuleErrors `json:"naive"`
	Ours  RuleErrors `json:"ours"`
}

// RuleErrors is what a rule of a counterexample does, and how often it errs.
type RuleErrors struct {
	Does string   `json:"does"`
	Errs Measured `json:"errs"`
}

// Run simulates what of a grid the state does not hold yet and returns what all of it came to, which depends on the grid and on
// what about says alone. step, which may be nil, is called after each study with the work that is done and the whole; save, which may
// be nil, after each cell. The end of ctx ends the run with its error; the state then holds the cells that were finished.
func (g Grid) Run(ctx context.Context, about About, s *State, step func(done, all int), save func() error) (*Coverage, error) {
	work := g.work(about.Seed)
	all, done := 0, 0
	for _, w := range work {
		all += w.each * w.studies
	}
	for i, w := range work {
		if _, finished := s.find(w.name); finished {
			done += w.each * w.studies
			continue
		}
		each := func() {
			if done += w.each; step != nil {
				step(done, all)
			}
		}
		var n counts
		var err error
		if i < len(g.Cells) {
			n, err = g.Cells[i].simulate(ctx, about.Seed, each)
		} else {
			n, err = g.Counterexamples[i-len(g.Cells)].simulate(ctx, about.Seed, each)
		}
		if err != nil {
			return nil, err
		}
		s.Done = append(s.Done, n)
		if save != nil {
			if err := save(); err != nil {
				return nil, err
			}
		}
	}
	return g.result(about, s)
}

// work is one cell or counterexample of a grid, and about how much there is to do for each of its studies, in rows.
type work struct {
	name          string
	each, studies int
}

// work lists the cells, then the counterexamples.
func (g Grid) work(seed string) []work {
	const overhead = 100 // of a study, in rows
	var list []work
	for _, c := range g.Cells {
		rows := 0
		if c.Model.Check() == nil {
			for _, input := range c.Model.Draw(Random(seed, c.Name, -1), nil).Study {
				rows += len(input)
			}
		}
		list = append(list, work{c.Name, rows + overhead, c.Studies})
	}
	for _, c := range g.Counterexamples {
		list = append(list, work{c.Name, 10 * overhead, c.Studies})
	}
	return list
}

// judge turns shares into what is published, against promises.
type judge struct {
	tests int
	err   error
	into  *Coverage
}

// measured is a share without a promise.
func (j *judge) measured(s Share) Measured {
	iv, err := s.Interval(0.95)
	if err != nil && j.err == nil {
		j.err = err
	}
	return Measured{Share: s, Value: s.Value(), Low: iv.Lower, High: iv.Upper}
}

// error is the share of an error that is promised to be at most so much.
func (j *judge) error(s Share, promise float64, at Broken) Measured {
	m := j.measured(s)
	m.Promise = &promise
	var err error
	if m.Broken, err = s.Above(promise, j.tests); err != nil && j.err == nil {
		j.err = err
	}
	if m.Broken {
		at.Share, at.Promise = m.Value, promise
		j.into.Broken = append(j.into.Broken, at)
	}
	return m
}

// coverage is the share without an error that is promised to be at most so much.
func (j *judge) coverage(misses Share, promise float64, at Broken) Measured {
	kept := j.measured(Share{misses.Of - misses.Count, misses.Of})
	least := 1 - promise
	kept.Promise, kept.Broken = &least, j.error(misses, promise, at).Broken
	return kept
}

// promise is a promise, or what holds where none is made.
func promise(own, otherwise float64) float64 {
	if own > 0 {
		return own
	}
	return otherwise
}

// held is how many shares of a target are held against a promise.
func (t *Target) held(n *targetCounts) int {
	held := 0
	if t.hasInterval() {
		held += 2
	}
	for _, s := range []Share{n.Pass, n.Fail} {
		if s.Of > 0 {
			held++
		}
	}
	return held
}

// hasInterval reports whether the rule of a target has one, which only a rule without a threshold has not.
func (t *Target) hasInterval() bool { return strings.Contains(t.Rule, "%s") }

// result is what a grid came to.
func (g Grid) result(about About, s *State) (*Coverage, error) {
	c := &Coverage{
		Schema: CoverageSchemaName, Tool: report.Tool{Name: "oloproof", Version: about.Version}, Seed: about.Seed, Grid: about.Grid(), AtMost: about.Studies, Gates: about.Gates,
		Confidence: Confidence, Level: Level, Broken: []Broken{}, Cells: []CellResult{}, Counterexamples: []CounterexampleResult{},
	}
	j := &judge{into: c}
	find := func(name string) (*counts, error) {
		n, ok := s.find(name)
		if !ok {
			return nil, fmt.Errorf("%s was not simulated", name)
		}
		return n, nil
	}
	for i := range g.Cells {
		n, err := find(g.Cells[i].Name)
		if err != nil {
			return nil, err
		}
		for k := range g.Cells[i].Targets {
			j.tests += g.Cells[i].Targets[k].held(&n.Targets[k])
		}
		c.Studies += g.Cells[i].Studies
	}
	j.tests += len(g.Counterexamples)
	c.Promises = j.tests
	sizes := map[int]int{} // how many cells have so many studies
	for i := range g.Cells {
		sizes[g.Cells[i].Studies]++
	}
	for _, n := range slices.Sorted(maps.Keys(sizes)) {
		r, err := reach(n, sizes[n], j.tests)
		if err != nil {
			return nil, err
		}
		c.Reach = append(c.Reach, r)
	}
	for i := range g.Cells {
		n, err := find(g.Cells[i].Name)
		if err != nil {
			return nil, err
		}
		c.Cells = append(c.Cells, g.Cells[i].result(n, j))
	}
	for i := range g.Counterexamples {
		x := &g.Counterexamples[i]
		n, err := find(x.Name)
		if err != nil {
			return nil, err
		}
		c.Studies += x.Studies
		c.Counterexamples = append(c.Counterexamples, CounterexampleResult{
			Name: x.Name, Gate: x.Gate, Title: x.Title, Story: x.Story,
			Naive: RuleErrors{x.Naive, j.measured(Share{n.Naive, x.Studies})},
			Ours:  RuleErrors{x.Ours, j.error(Share{n.Ours, x.Studies}, x.Promise, Broken{Cell: x.Name, What: "our rule errs"})},
		})
	}
	if len(c.Broken) > 0 {
		c.ExitStatus = report.ExitFail
	}
	return c, j.err
}

// result is what a cell came to.
func (c *Cell) result(all *counts, j *judge) CellResult {
	out := CellResult{Name: c.Name, Gate: c.Model.Gate(), Factors: c.Factors, Studies: c.Studies, Intervals: []IntervalResult{}}
	for i := range c.Targets {
		t, n := &c.Targets[i], &all.Targets[i]
		at := func(what string) Broken { return Broken{Cell: c.Name, Quantity: t.Name, What: what} }
		if t.hasInterval() {
			iv := IntervalResult{Quantity: t.Name, Interval: string(n.Method), Deciding: true, None: n.None, MeanWidth: n.meanWidth(c.Studies)}
			iv.Coverage = Sides{
				Lower: j.coverage(Share{n.Above, c.Studies}, promise(t.Promise.Lower, side), at("the lower end is above the truth")),
				Upper: j.coverage(Share{n.Below, c.Studies}, promise(t.Promise.Upper, side), at("the upper end is below the truth")),
				Both:  j.measured(Share{c.Studies - n.Either, c.Studies}),
			}
			out.Intervals = append(out.Intervals, iv)
		}
		for k, r := range c.Rivals {
			if r.Target != t.Name {
				continue
			}
			n := &all.Rivals[k]
			out.Intervals = append(out.Intervals, IntervalResult{Quantity: t.Name, Interval: r.Name, None: n.None, MeanWidth: n.meanWidth(c.Studies), Coverage: Sides{
				Lower: j.measured(Share{c.Studies - n.Above, c.Studies}), Upper: j.measured(Share{c.Studies - n.Below, c.Studies}), Both: j.measured(Share{c.Studies - n.Either, c.Studies}),
			}})
		}
		if n.Undecided.Of == 0 {
			continue
		}
		r := RuleResult{Quantity: t.Name, Rule: strings.ReplaceAll(t.Rule, "%s", "…"), Undecided: j.measured(n.Undecided)}
		if n.Pass.Of > 0 {
			m := j.error(n.Pass, promise(t.Promise.FalsePass, side), at("false PASS"))
			r.FalsePass = &m
		}
		if n.Fail.Of > 0 {
			m := j.error(n.Fail, promise(t.Promise.FalseFail, promise(n.FalseFail, side)), at("false FAIL"))
			r.FalseFail = &m
		}
		out.Rules = append(out.Rules, r)
	}
	return out
}

// meanWidth is the mean over the studies that have an interval; nil where none has.
func (c *endCounts) meanWidth(studies int) *float64 {
	if studies == c.None {
		return nil
	}
	width := math.Round(c.Width/float64(studies-c.None)*1e4) / 1e4 // as far as its last digits, which no one needs, may differ by machine
	return &width
}

// JSON is the published document.
func (c *Coverage) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(c)
	return b.Bytes(), err
}
