package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// Confidence is what the intervals of the coverage grid announce, our own and the others: the default of a policy.
const Confidence = 0.95

// CoverageSeed is the seed where none is given, so that everyone draws the same studies.
const CoverageSeed = "coverage-1"

// side is the error that an interval of that confidence promises at most on each of its sides.
const side = 0.025

// Cell is one place of the coverage grid: a kind of study, what is asked about it, and which other intervals are computed from the
// same studies.
type Cell struct {
	Name    string   // unique in the grid; results, random sources and saved states go by it
	Factors []Factor // where in the grid the cell is, for a person, in the order shown
	Model   Model
	Targets []Target
	Rivals  []Rival
	Studies int // how many are drawn in a full run
	Quick   int // how many in a quick one; 0: the cell is not in it
}

// Factor is one thing that the cells of a grid differ in, such as people, and what it is in a cell, such as 20. Where values can be
// missing, the factor "missing" is "none" if none are.
type Factor struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// The factor that says whether values are missing, and its value where they are not.
const (
	missingFactor  = "missing"
	nothingMissing = "none"
)

// Target is one quantity that a rule is about: its interval is held against the truth, and so are the verdicts of two rules, one
// with the threshold just on the wrong side of the truth, where PASS is an error, and one just on the right side, where FAIL is.
type Target struct {
	Name string // unique in the cell; the metric, and its form where there are several
	// Rule is the rule's keys and values without its id, as in a flow mapping. The threshold is written %s, as in
	// "metric: rate, minimum: %s". A rule without one, such as a sign test, has to be asked where nothing differs: PASS and FAIL
	// are both errors.
	Rule   string
	AtMost bool // it asks that the quantity is at most the threshold; else at least
	// Truth is the key of the true value in the model's Truth; "" where there is no single one.
	Truth string
	// Scale is what thresholds can be; the zero value is the scale of rates. Where the wrong side of the truth lies outside of it, no
	// PASS is an error.
	Scale interval.Scale
	// EndsOnly holds the ends of the interval alone against the truth and asks one rule only, with the threshold 0.5: where the truth
	// differs from study to study, and where intervals take long to compute.
	EndsOnly bool
	// Ends says where the intervals of a rule lie from the truth, where it has several; nil takes the rule's own and Truth.
	Ends    func(r *report.Rule, truth Truth) Ends
	Promise Promise
}

// Ends is where an interval, or several at once, lies from the truth.
type Ends struct {
	None  bool    // there is no interval, which misses nothing
	Above bool    // a lower end is above the truth
	Below bool    // an upper end is below it
	Width float64 // the upper end minus the lower one; of several, the widest
}

// Promise is the largest probability of each error that is promised. 0 takes what holds for a single interval and its rule: 2.5 %
// for each side and for a false PASS, and for a false FAIL what the report itself says.
type Promise struct{ Lower, Upper, FalsePass, FalseFail float64 }

// Rival is an interval that others use, computed from the same studies and held against the same truth. It is no part of what is
// promised: it is shown for comparison.
type Rival struct {
	Name   string // such as naive: treats decisions as independent
	Target string // the name of the target that it stands beside
	// Bounds computes it at the Confidence of the grid. columns are the names of a row's values. r is for resampling. ok is false
	// where the interval is not defined: it then misses nothing.
	Bounds func(s Study, columns []string, r *rand.Rand) (lower, upper float64, ok bool)
}

// Counterexample is a way to collect or to count by which a plausible rule errs far more often than it announces.
type Counterexample struct {
	Name    string // unique in the grid
	Gate    string
	Title   string // a few words
	Story   string // for a person who is no statistician: what is done, why it looks right, and why it is not
	Naive   string // what the naive rule does, in a few words
	Ours    string // what ours does instead
	Promise float64
	Studies int // how many are drawn in a full run
	Quick   int // how many in a quick one
	// Start makes what draws one study and says whether each rule erred in it. It is called once a run; what it returns has to be
	// safe to call from several goroutines.
	Start func() (once func(r *rand.Rand) (naive, ours bool, err error), err error)
}

// Grid is what is simulated.
type Grid struct {
	Cells           []Cell
	Counterexamples []Counterexample
}

// About is what a run of the coverage grid goes by.
type About struct {
	Version string   // of the program
	Seed    string   // any text
	Full    bool     // all cells; else those of a quick run, with fewer studies each
	Gates   []string // by name; none: all
	Studies int      // draw at most so many in each cell; 0: as many as the grid says
}

// Grid is the grid's name.
func (a About) Grid() string {
	if a.Full {
		return "full"
	}
	return "quick"
}

// NewGrid returns the cells and the counterexamples of a run, in the order of the gates. In it, Studies is how many are drawn in
// this run, and Quick is 0. A gate that there is not is an error.
func NewGrid(about About) (Grid, error) {
	for _, name := range about.Gates {
		if kinds.Lookup(name) == nil {
			return Grid{}, fmt.Errorf("there is no gate %q", name)
		}
	}
	studies := func(gate string, full, quick int) int {
		n := quick
		if about.Full {
			n = full
		}
		if len(about.Gates) > 0 && !slices.Contains(about.Gates, gate) {
			return 0
		}
		if about.Studies > 0 {
			n = min(n, about.Studies)
		}
		return n
	}
	var g Grid
	for _, c := range slices.Concat(humanAICells(), anchoringCells(), compareCells(), fairnessCells()) {
		c.Studies, c.Quick = studies(c.Model.Gate(), c.Studies, c.Quick), 0
		if c.Studies > 0 {
			g.Cells = append(g.Cells, c)
		}
	}
	for _, c := range counterexamples() {
		c.Studies, c.Quick = studies(c.Gate, c.Studies, c.Quick), 0
		if c.Studies > 0 {
			g.Counterexamples = append(g.Counterexamples, c)
		}
	}
	return g, nil
}
