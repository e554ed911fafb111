package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/report"
)

// Model is a kind of study that can be drawn again and again, and of which the truth is known. Its chances are few values with
// weights, so that every machine draws the same studies.
type Model interface {
	// Gate is the name of the gate that its studies are for.
	Gate() string
	// Settings are the lines of a policy, before its rules, that its studies need; "" for none.
	Settings() string
	// Check says what is wrong with the model: a chance outside 0 to 1, say.
	Check() error
	// Draw draws one study, its decisions only, for a question whose input has these columns.
	Draw(r *rand.Rand, columns []string) Drawn
}

// Drawn is one study, and what is true of what it was drawn from.
type Drawn struct {
	Study Study
	Truth Truth
}

// Truth is the true value of what rules are about, by metric and, after a slash, the form or the group, as each model says.
type Truth map[string]float64

// Point is a value and how likely it is, relative to the other points of its list.
type Point struct{ Value, Weight float64 }

// Points is a distribution over few values.
type Points []Point

// Spread is two values as far from a middle one on either side, equally likely; at 0 it is the middle alone.
func Spread(middle, distance float64) Points {
	if distance == 0 {
		return Points{{middle, 1}}
	}
	return Points{{middle - distance, 1}, {middle + distance, 1}}
}

// total is the sum of the weights.
func (p Points) total() float64 {
	sum := 0.0
	for _, x := range p {
		sum += x.Weight
	}
	return sum
}

// Mean is the mean of the distribution; 0 for an empty one.
func (p Points) Mean() float64 {
	if len(p) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range p {
		sum += float64(x.Value * x.Weight)
	}
	return sum / p.total()
}

// mean is the mean of a function of the value.
func (p Points) mean(of func(float64) float64) float64 {
	sum := 0.0
	for _, x := range p {
		sum += float64(of(x.Value) * x.Weight)
	}
	return sum / p.total()
}

// draw draws a value; 0 from an empty distribution.
func (p Points) draw(r *rand.Rand) float64 {
	if len(p) < 2 {
		return p.Mean()
	}
	at := r.Float64() * p.total()
	for _, x := range p[:len(p)-1] {
		if at -= x.Weight; at < 0 {
			return x.Value
		}
	}
	return p[len(p)-1].Value
}

// ends are the least and the largest value; 0 and 0 for an empty distribution.
func (p Points) ends() (least, most float64) {
	if len(p) == 0 {
		return 0, 0
	}
	least, most = p[0].Value, p[0].Value
	for _, x := range p[1:] {
		least, most = min(least, x.Value), max(most, x.Value)
	}
	return least, most
}

// check reports weights that make no distribution.
func (p Points) check(what string) error {
	for _, x := range p {
		if !(x.Weight > 0) || x.Weight > 1e9 || x.Value != x.Value {
			return fmt.Errorf("%s has the value %v with the weight %v; weights are above 0", what, x.Value, x.Weight)
		}
	}
	return nil
}

// slack is what rounding may add to a sum of chances.
const slack = 1e-12

// checkChance reports a chance outside of 0 to 1.
func checkChance(what string, least, most float64) error {
	if !(least >= -slack) || !(most <= 1+slack) {
		return fmt.Errorf("%s would lie between %.4g and %.4g; a chance lies between 0 and 1", what, least, most)
	}
	return nil
}

// happens draws whether something of this chance happens.
func happens(r *rand.Rand, chance float64) bool { return r.Float64() < chance }

// places finds each name among columns, −1 where it is not there.
func places(columns []string, names ...string) []int {
	at := make([]int, len(names))
	for i, name := range names {
		at[i] = slices.Index(columns, name)
	}
	return at
}

// set writes a value at a place that there may not be.
func set(row []string, at int, value string) {
	if at >= 0 {
		row[at] = value
	}
}

// numbered returns n names that begin with a letter.
func numbered(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = prefix + strconv.Itoa(i)
	}
	return list
}

// digit is how a yes and a no are written.
func digit(yes bool) string {
	if yes {
		return "1"
	}
	return "0"
}

// Asked is a model together with the policy that its studies are decided by.
type Asked struct {
	Model   Model
	setup   Setup
	columns []string
}

// NewAsked returns a model with a policy's rules, written as the list under `rules`. The policy also has the model's settings.
func NewAsked(m Model, rules string) (*Asked, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	setup, err := Policy(kinds.Lookup(m.Gate()), m.Settings()+"rules:\n"+rules, gate.Flags{})
	if err != nil {
		return nil, err
	}
	questions, _, err := setup()
	if err != nil {
		return nil, err
	}
	return &Asked{Model: m, setup: setup, columns: Columns(questions[0])[0]}, nil
}

// Answered is one drawn study, its truth, and what every rule came to.
type Answered struct {
	Drawn
	Rules []report.Rule
}

// Once draws one study and decides it.
func (a *Asked) Once(r *rand.Rand) (Answered, error) {
	drawn := a.Model.Draw(r, a.columns)
	rules, err := a.setup.Ask(drawn.Study)
	if err != nil {
		return Answered{}, err
	}
	return Answered{drawn, rules[0]}, nil
}
