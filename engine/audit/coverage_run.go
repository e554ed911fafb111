package audit

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// counts is what the studies of one cell, or of a counterexample, came to. It is what a saved state holds.
type counts struct {
	Name    string         `json:"name"`
	Targets []targetCounts `json:"targets,omitempty"`
	Rivals  []endCounts    `json:"rivals,omitempty"`
	Naive   int            `json:"naive,omitempty"` // of a counterexample: in how many studies the naive rule erred
	Ours    int            `json:"ours,omitempty"`  // and ours
}

// endCounts is in how many studies an interval missed the truth, and how.
type endCounts struct {
	None   int     `json:"none,omitempty"` // there was no interval
	Above  int     `json:"above,omitempty"`
	Below  int     `json:"below,omitempty"`
	Either int     `json:"either,omitempty"`
	Width  float64 `json:"width,omitempty"` // summed over the studies that have one
}

// targetCounts is what the rules of one target came to.
type targetCounts struct {
	endCounts
	Method interval.Method `json:"method,omitempty"` // of the first study that has one
	// Of the rule on the wrong side of the truth, and of the one on the right side: 0 studies where it is not asked.
	Pass      Share   `json:"pass,omitzero"`
	Fail      Share   `json:"fail,omitzero"`
	Undecided Share   `json:"undecided,omitzero"`   // of the verdicts of both, those that are neither PASS nor FAIL
	FalseFail float64 `json:"false_fail,omitempty"` // what the report says that it is at most
}

// add counts one study.
func (c *endCounts) add(e Ends) {
	if e.None {
		c.None++
		return
	}
	c.Width += e.Width
	if e.Above {
		c.Above++
	}
	if e.Below {
		c.Below++
	}
	if e.Above || e.Below {
		c.Either++
	}
}

// asked is a cell that is ready to be simulated.
type asked struct {
	*Cell
	*Asked
	places []place // by target
	rivals []int   // by rival: the place of its target
}

// place is where the rules of a target are among those asked; −1 for one that is not.
type place struct {
	wrong, right int
	truth        float64 // that the thresholds are set by
}

// first is the rule that the target's interval is taken from.
func (p place) first() int {
	if p.right >= 0 {
		return p.right
	}
	return p.wrong
}

// start makes the rules of a cell. The truth, by which thresholds are set, is that of a study which is drawn for it alone.
func (c *Cell) start(seed string) (*asked, error) {
	if err := c.Model.Check(); err != nil {
		return nil, err
	}
	truth := c.truth(seed)
	var rules []string
	ask := func(t *Target, threshold string) int {
		rules = append(rules, fmt.Sprintf("  - {id: r%d, %s}\n", len(rules), strings.ReplaceAll(t.Rule, "%s", threshold)))
		return len(rules) - 1
	}
	a := &asked{Cell: c}
	for i := range c.Targets {
		t := &c.Targets[i]
		p := place{wrong: -1, right: -1}
		value, known := truth[t.Truth]
		switch {
		case !strings.Contains(t.Rule, "%s"):
			p.wrong = ask(t, "")
			p.right = p.wrong
		case t.EndsOnly:
			p.right = ask(t, "0.5")
		case !known || !(math.Abs(value) <= 1):
			return nil, fmt.Errorf("%s: the model does not say what %q is", t.Name, t.Truth)
		default:
			p.truth = value
			wrong, right := thresholds(value, t.AtMost)
			scale := t.Scale
			if scale == (interval.Scale{}) {
				scale = interval.Unit
			}
			within := func(k threshold) bool { return k.value() >= scale.Lower && k.value() <= scale.Upper }
			if within(right) {
				p.right = ask(t, right.text())
			}
			if within(wrong) {
				p.wrong = ask(t, wrong.text())
			}
			if p.first() < 0 {
				return nil, fmt.Errorf("%s: no threshold near %v can be written", t.Name, value)
			}
		}
		a.places = append(a.places, p)
	}
	for _, r := range c.Rivals {
		at := -1
		for i, t := range c.Targets {
			if t.Name == r.Target {
				at = i
			}
		}
		if at < 0 {
			return nil, fmt.Errorf("the interval %s stands beside %q, which is no target of the cell", r.Name, r.Target)
		}
		a.rivals = append(a.rivals, at)
	}
	var err error
	a.Asked, err = NewAsked(c.Model, strings.Join(rules, ""))
	return a, err
}

// truth is that of studies drawn for it alone: some have no case that a rate is about, and leave it out.
func (c *Cell) truth(seed string) Truth {
	all := Truth{}
	for i := range 100 {
		for name, value := range c.Model.Draw(Random(seed, c.Name, -1-i), nil).Truth {
			all[name] = value
		}
		if !slices.ContainsFunc(c.Targets, func(t Target) bool { _, known := all[t.Truth]; return !known && t.Truth != "" }) {
			break
		}
	}
	return all
}

// thresholds are the numbers of nine decimals next to the truth: a rule is violated with the first and holds with the second, which is
// the truth itself where that has as many decimals.
func thresholds(truth float64, atMost bool) (wrong, right threshold) {
	k := threshold(math.Round(truth * billion))
	step := threshold(1) // to the wrong side
	if atMost {
		step = -1
	}
	violated := func(k threshold) bool { return (k.value() > truth) != atMost && k.value() != truth }
	for violated(k) {
		k -= step
	}
	for !violated(k + step) {
		k += step
	}
	return k + step, k
}

// threshold is one in billionths.
type threshold int64

const billion = 1_000_000_000

// text is how it stands in a policy, and value what is read there.
func (k threshold) text() string   { return new(big.Rat).SetFrac64(int64(k), billion).FloatString(9) }
func (k threshold) value() float64 { return float64(k) / billion }

// once draws and decides one study of the cell. What came of it is added to no count yet: studies are added in order.
func (a *asked) once(r *rand.Rand) (*outcome, error) {
	answer, err := a.Once(r)
	if err != nil {
		return nil, err
	}
	o := &outcome{targets: make([]targetOutcome, len(a.Targets)), rivals: make([]Ends, len(a.Rivals))}
	for i := range a.Targets {
		t, p := &a.Targets[i], a.places[i]
		truth, known := answer.Truth[t.Truth]
		if !t.EndsOnly && known && p.first() != p.wrong && truth != p.truth {
			return nil, fmt.Errorf("%s: the truth is %v in one study and %v in another; hold the ends alone against it", t.Name, p.truth, truth)
		}
		rule := &answer.Rules[p.first()]
		out := &o.targets[i]
		out.method, out.falseFail = rule.Method, rule.FalseFail
		if rule.Interval != nil {
			out.method = rule.Interval.Method
		}
		switch {
		case t.Ends != nil:
			out.Ends = t.Ends(rule, answer.Truth)
		case !known:
			out.Ends = Ends{None: true}
		default:
			out.Ends = endsOf(rule.Interval, truth)
		}
		if t.EndsOnly {
			continue
		}
		if p.wrong >= 0 {
			out.wrong = answer.Rules[p.wrong].Verdict
		}
		if p.right >= 0 {
			out.right = answer.Rules[p.right].Verdict
		}
	}
	for i := range a.Rivals {
		t := &a.Targets[a.rivals[i]]
		truth, known := answer.Truth[t.Truth]
		lower, upper, ok := a.Rivals[i].Bounds(answer.Study, a.columns, r)
		if o.rivals[i] = (Ends{None: true}); ok && known && !math.IsNaN(lower) && !math.IsNaN(upper) {
			// An interval of no width at the truth holds it, whatever rounding does to the mean.
			const rounding = 1e-9
			o.rivals[i] = Ends{Above: lower > truth+rounding, Below: upper < truth-rounding, Width: upper - lower}
		}
	}
	return o, nil
}

// endsOf is where a published interval lies from the truth. A side that is not bounded misses nothing.
func endsOf(iv *report.Interval, truth float64) Ends {
	if iv == nil || iv.Lower == nil || iv.Upper == nil {
		return Ends{None: true}
	}
	return Ends{Above: *iv.Lower > truth, Below: *iv.Upper < truth, Width: *iv.Upper - *iv.Lower}
}

// outcome is what one study came to.
type outcome struct {
	targets []targetOutcome
	rivals  []Ends
}

// targetOutcome is what the rules of a target came to. A rule that is not asked has NoVerdict.
type targetOutcome struct {
	Ends
	method       interval.Method
	wrong, right report.Verdict
	falseFail    float64
}

// simulate draws the studies of a cell.
func (c *Cell) simulate(ctx context.Context, seed string, step func()) (counts, error) {
	a, err := c.start(seed)
	if err != nil {
		return counts{}, fmt.Errorf("the cell %s: %w", c.Name, err)
	}
	list, err := Repeat(ctx, seed, c.Name, c.Studies, step, func(r *rand.Rand, _ int) (*outcome, error) { return a.once(r) })
	if err != nil {
		return counts{}, fmt.Errorf("the cell %s: %w", c.Name, err)
	}
	n := counts{Name: c.Name, Targets: make([]targetCounts, len(c.Targets)), Rivals: make([]endCounts, len(c.Rivals))}
	for _, o := range list {
		for i := range o.targets {
			n.Targets[i].count(&o.targets[i], a.places[i])
		}
		for i, e := range o.rivals {
			n.Rivals[i].add(e)
		}
	}
	return n, nil
}

// count adds what one study came to.
func (c *targetCounts) count(o *targetOutcome, p place) {
	c.add(o.Ends)
	if c.Method == "" {
		c.Method = o.method
	}
	c.FalseFail = max(c.FalseFail, o.falseFail)
	verdicts := []report.Verdict{o.wrong, o.right}
	if p.wrong == p.right { // one rule
		verdicts = verdicts[:1]
	}
	for _, v := range verdicts {
		c.Undecided.count(v != report.Pass && v != report.Fail, v)
	}
	c.Pass.count(o.wrong == report.Pass, o.wrong)
	c.Fail.count(o.right == report.Fail, o.right)
}

// count adds a verdict of a rule that is asked, and whether it is what is counted.
func (s *Share) count(yes bool, v report.Verdict) {
	if v == report.NoVerdict {
		return
	}
	s.Of++
	if yes {
		s.Count++
	}
}

// simulate draws the studies of a counterexample.
func (c *Counterexample) simulate(ctx context.Context, seed string, step func()) (counts, error) {
	once, err := c.Start()
	if err != nil {
		return counts{}, fmt.Errorf("the counterexample %s: %w", c.Name, err)
	}
	list, err := Repeat(ctx, seed, c.Name, c.Studies, step, func(r *rand.Rand, _ int) ([2]bool, error) {
		naive, ours, err := once(r)
		return [2]bool{naive, ours}, err
	})
	if err != nil {
		return counts{}, fmt.Errorf("the counterexample %s: %w", c.Name, err)
	}
	n := counts{Name: c.Name}
	for _, errs := range list {
		if errs[0] {
			n.Naive++
		}
		if errs[1] {
			n.Ours++
		}
	}
	return n, nil
}
