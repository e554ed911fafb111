package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// FairnessShape is what decided cases are taken to look like; how many cases each group has in the rate's denominator is what is
// searched for.
type FairnessShape struct {
	Rate     float64 // of the groups that do not differ; 0: by the rate, 0.1 for errors, 0.5 for selection and 0.9 for the others
	Positive float64 // the share of cases with label 1, to say how many cases of a group there are then in all; 0: not said
	Missing  float64 // the share of cases without a prediction
}

// mostPlannedCases is where the search for a number of cases in each group ends.
const mostPlannedCases = 1 << 16

// Check implements Shape.
func (f FairnessShape) Check() error {
	if f.Rate != 0 && !(f.Rate > 0 && f.Rate < 1) {
		return fmt.Errorf("--rate is %v; a number between 0 and 1 is allowed", f.Rate)
	}
	return firstError(checkShare("--positive", f.Positive), checkMissing(f.Missing))
}

// outcomes are what a case is, by label and prediction, where it is an event of a rate and where it is in the denominator and
// none; and what a rate is where nobody says.
var outcomes = map[string]struct {
	event, other [2]bool // label, prediction
	of           string  // the cases that count
	usual        float64
}{
	"error":                     {[2]bool{true, false}, [2]bool{true, true}, "", 0.1},
	"accuracy":                  {[2]bool{true, true}, [2]bool{true, false}, "", 0.9},
	"selection":                 {[2]bool{true, true}, [2]bool{true, false}, "", 0.5},
	"false_positive":            {[2]bool{false, true}, [2]bool{false, false}, "with label 0", 0.1},
	"true_negative":             {[2]bool{false, false}, [2]bool{false, true}, "with label 0", 0.9},
	"false_negative":            {[2]bool{true, false}, [2]bool{true, true}, "with label 1", 0.1},
	"true_positive":             {[2]bool{true, true}, [2]bool{true, false}, "with label 1", 0.9},
	"precision":                 {[2]bool{true, true}, [2]bool{false, true}, "with prediction 1", 0.9},
	"false_discovery":           {[2]bool{false, true}, [2]bool{true, true}, "with prediction 1", 0.1},
	"false_omission":            {[2]bool{true, false}, [2]bool{false, false}, "with prediction 0", 0.1},
	"negative_predictive_value": {[2]bool{false, false}, [2]bool{true, false}, "with prediction 0", 0.9},
}

// rate is that of the groups that do not differ.
func (f FairnessShape) rate(metric string) float64 {
	if f.Rate > 0 {
		return f.Rate
	}
	return outcomes[metric].usual
}

// Truths implements Shape.
func (f FairnessShape) Truths(s *Subject, rule int) (Truths, error) {
	r := &s.Rules[rule]
	t := Truths{Upper: 1, Threshold: r.Threshold.Value.Value}
	name := strings.ReplaceAll(r.Metric.Value, "_", " ")
	switch r.Threshold.Kind {
	case policy.MaxGroupGap:
		t.What = "the true distance of the groups' " + name + " rates"
	case policy.MinGroupRatio:
		t.Above, t.What = true, "the true ratio of the groups' "+name+" rates"
	default:
		t.Above = r.Threshold.Side == policy.Minimum
		t.What = "the true " + name + " rate of the worst group"
	}
	return t, nil
}

// Tracks implements Shape.
func (f FairnessShape) Tracks(s *Subject, rule int, d Drawing) ([]Way, error) {
	cases := newCells(s, rule)
	return []Way{{Track: f.track(s, rule, cases)}}, nil
}

// cells is how rows of a rule's groups are written.
type cells struct {
	groups    int
	words     [2][2]string // of label and of prediction: the negative word, then the positive
	values    [][]string   // by group, by column: the texts that put a case there, "" elsewhere
	metric    string
	unit      int  // the column that says whose a case is; −1: none
	byOutcome bool // the denominator is made of predictions
}

// newCells reads it from the declaration.
func newCells(s *Subject, rule int) cells {
	m, r := s.Section.Map, &s.Rules[rule]
	c := cells{metric: r.Metric.Value, unit: -1}
	shared := [2]string{m.Text("negative").Value, m.Text("positive").Value}
	for i, key := range []string{"label", "prediction"} {
		c.words[i] = [2]string{"0", "1"}
		if shared[1] != "" {
			c.words[i] = shared
		}
		if m.IsMapping(key) {
			of := m.Map(key)
			if own := [2]string{of.Text("negative").Value, of.Text("positive").Value}; own[1] != "" {
				c.words[i] = own
			}
		}
		for j := range c.words[i] {
			c.words[i][j] = strings.TrimSpace(c.words[i][j])
		}
	}
	at := 3 // after id, label and prediction
	for _, key := range []string{"probability", "unit"} {
		if m.Has(key) {
			if key == "unit" {
				c.unit = at
			}
			at++
		}
	}
	columns := len(s.Columns[0])
	attributes := m.Map("attributes")
	var names []string
	groups := map[string][]string{} // by attribute: a value of each group
	labels := map[string][]string{} // and the group's name
	for _, key := range attributes.Keys() {
		name := strings.TrimSpace(key.Value)
		names = append(names, name)
		if !attributes.IsMapping(key.Value) {
			for _, text := range attributes.Texts(key.Value) {
				groups[name] = append(groups[name], strings.TrimSpace(text.Value))
			}
			labels[name] = groups[name]
			continue
		}
		bins := attributes.Map(key.Value).Numbers("bins")
		groups[name] = []string{strconv.FormatFloat(bins[0].Value-1, 'f', -1, 64)}
		labels[name] = []string{"under_" + bins[0].Text}
		for i, b := range bins {
			groups[name] = append(groups[name], b.Text)
			if i+1 < len(bins) {
				labels[name] = append(labels[name], b.Text+"_to_"+bins[i+1].Text)
			}
		}
		labels[name] = append(labels[name], "over_"+bins[len(bins)-1].Text)
	}
	row := make([]string, columns)
	for i := at + len(names); i < columns; i++ { // columns that rules slice by; those of this rule get its value
		for _, w := range r.Where {
			if s.Columns[0][i] == w.Key.Value {
				row[i] = strings.TrimSpace(w.Value.Value)
			}
		}
	}
	for _, w := range r.Where {
		if a := slices.Index(names, w.Key.Value); a >= 0 {
			row[at+a] = groups[w.Key.Value][slices.Index(labels[w.Key.Value], strings.TrimSpace(w.Value.Value))]
		}
	}
	c.values = [][]string{row}
	crossed := r.Map.TextOrTexts("attribute")
	slices.SortStableFunc(crossed, func(a, b policy.Text) int {
		return slices.Index(names, strings.TrimSpace(a.Value)) - slices.Index(names, strings.TrimSpace(b.Value))
	})
	for _, key := range crossed {
		name := strings.TrimSpace(key.Value)
		a := slices.Index(names, name)
		var next [][]string
		for _, base := range c.values {
			for _, value := range groups[name] {
				row := slices.Clone(base)
				row[at+a] = value
				next = append(next, row)
			}
		}
		c.values = next
	}
	c.groups = len(c.values)
	c.byOutcome = strings.HasPrefix(outcomes[c.metric].of, "with prediction")
	return c
}

// study has for each of the given groups, the first ones, n cases in the denominator, so many of them events and so many without
// a prediction. The other groups are empty.
func (c *cells) study(n, missing int, events ...int) Study {
	kind := outcomes[c.metric]
	rows := make([][]string, 0, n*len(events))
	ids := numbered("", n*len(events))
	columns := len(c.values[0])
	texts := make([]string, 0, n*len(events)*columns)
	for g, k := range events {
		for i := range n {
			of := kind.other
			if i < k {
				of = kind.event
			}
			at := len(texts)
			texts = append(texts, c.values[g]...)
			row := texts[at:len(texts):len(texts)]
			row[0], row[1], row[2] = ids[len(rows)], word(c.words[0], of[0]), word(c.words[1], of[1])
			set(row, c.unit, row[0])
			if i >= n-missing {
				row[2] = ""
				if c.byOutcome {
					row[1] = word(c.words[0], i%2 == 0)
				}
			}
			rows = append(rows, row)
		}
	}
	return Study{rows}
}

// word is one of two words.
func word(words [2]string, positive bool) string {
	if positive {
		return words[1]
	}
	return words[0]
}

// track plans a rule.
func (f FairnessShape) track(s *Subject, rule int, c cells) Track {
	r := &s.Rules[rule]
	of := outcomes[c.metric].of
	t := Track{Unit: strings.TrimSpace("cases "+of) + " in each group", Least: 1, Most: mostPlannedCases, Exact: true}
	if c.groups > mostListed {
		t.Most = max(1, min(t.Most, 2_000_000/c.groups))
	}
	t.Assumes = []string{fmt.Sprintf("%s, equally large; where they are not, the smallest decides.", many(c.groups, "group"))}
	switch share := f.share(c.metric); {
	case share > 0:
		t.Share = share
		t.Assumes = append(t.Assumes, fmt.Sprintf("Counted are cases %s; %s of a group are so (--positive).", of, briefly(share)))
	case of != "":
		more := ""
		if !c.byOutcome {
			more = "; how many a group has then in all depends on how many are so (--positive)"
		}
		t.Assumes = append(t.Assumes, "Counted are cases "+of+more+".")
	}
	switch rate := f.rate(c.metric); r.Threshold.Kind {
	case policy.WorstGroup:
		t.Assumes = append(t.Assumes, "Every group has the stated rate where it satisfies the rule; where it does not, one has, and the others are as far on the right side.")
	default:
		t.Assumes = append(t.Assumes, fmt.Sprintf("One group differs from the others, which have the rate %.4g (--rate).", rate))
	}
	t.Assumes = append(t.Assumes, assumesMissing(f.Missing, "predictions")...)
	t.Possible = func(truth float64) error {
		rates, err := f.rates(r, c, truth)
		if err != nil {
			return err
		}
		return checkChance("a group's rate", slices.Min(rates), slices.Max(rates))
	}
	t.Odds = func(ctx context.Context, n int, truths []float64, _ int) ([]Odds, error) {
		missing := unrecorded(f.Missing, n)
		laws := make([][]law, len(truths)) // by truth and group
		for i, truth := range truths {
			rates, err := f.rates(r, c, truth)
			if err != nil {
				return nil, err
			}
			known := map[float64]law{}
			for _, p := range rates {
				if _, found := known[p]; !found {
					known[p] = binomialLaw(n-missing, p)
				}
				laws[i] = append(laws[i], known[p])
			}
		}
		if r.Threshold.Kind == policy.WorstGroup {
			return s.groupOdds(ctx, rule, c, n, missing, laws)
		}
		return s.pairOdds(ctx, rule, c, n, missing, laws)
	}
	return t
}

// share is the share of a group's cases that a rate counts, where the share of label 1 says it; 0 else.
func (f FairnessShape) share(metric string) float64 {
	switch outcomes[metric].of {
	case "with label 1":
		return f.Positive
	case "with label 0":
		if f.Positive > 0 {
			return 1 - f.Positive
		}
	}
	return 0
}

// rates are the groups' rates at a truth.
func (f FairnessShape) rates(r *policy.Rule, c cells, truth float64) ([]float64, error) {
	list := slices.Repeat([]float64{f.rate(c.metric)}, c.groups)
	switch base, t := list[0], r.Threshold; t.Kind {
	case policy.MaxGroupGap:
		list[0] = base + truth
		if list[0] > 1 {
			list[0] = base - truth
		}
		if list[0] < 0 || list[0] > 1 {
			return nil, fmt.Errorf("with the rate %v of the other groups (--rate), no group lies %v from them", base, truth)
		}
	case policy.MinGroupRatio:
		list[0] = float64(base * truth)
	default:
		for i := range list {
			list[i] = truth
		}
		if (truth < t.Value.Value) == (t.Side == policy.Minimum) {
			for i := range list[1:] {
				list[1+i] = min(1, max(0, float64(2*t.Value.Value)-truth))
			}
		}
	}
	return list, nil
}

// groupOdds are the odds of a rule on each group: exact, by the numbers of events at which one group's verdict turns. The rule is
// PASS where all groups are, and FAIL where one is.
func (s *Subject) groupOdds(ctx context.Context, rule int, c cells, n, missing int, laws [][]law) ([]Odds, error) {
	found, err := findTurns(n-missing, s.Rules[rule].Threshold.Side == policy.Minimum, nil, func(events int) (report.Rule, error) {
		if ctx.Err() != nil {
			return report.Rule{}, context.Cause(ctx)
		}
		v, err := s.judgeBoth(c.study(n, missing, events), rule)
		if err != nil {
			return report.Rule{}, err
		}
		out := report.Rule{Verdict: v.alone.Cells[0].Verdict}
		if out.Verdict == report.Fail {
			out.Verdict = v.least.Cells[0].Verdict
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	list := make([]Odds, len(laws))
	for i, groups := range laws {
		pass, none := 1.0, 1.0
		for _, l := range groups {
			o := found.odds(l)
			pass, none = float64(pass*o.Pass), float64(none*(1-o.Fail))
		}
		list[i] = Odds{Pass: pass, Fail: 1 - none, Undecided: max(0, none-pass)}
	}
	return list, nil
}

// parts is into how many parts the search for a boundary is split, so that every core has one.
const parts = 16

// pairOdds are the odds of a rule on every two groups of equal size: exact. For each number of events of one group, the gate says how
// many another one may have at most for the two of them to be PASS, and to be not FAIL; the rule is PASS where that holds for the
// groups with the fewest and the most events, and FAIL where it does not.
func (s *Subject) pairOdds(ctx context.Context, rule int, c cells, n, missing int, laws [][]law) ([]Odds, error) {
	least, most := n, 0
	for _, groups := range laws {
		for _, l := range groups {
			a, b := l.core()
			least, most = min(least, a), max(most, b)
		}
	}
	ask := func(a, b int) (pass, fail bool, err error) {
		if ctx.Err() != nil {
			return false, false, context.Cause(ctx)
		}
		events := []int{a, b}
		if c.groups > mostListed {
			for len(events) < c.groups {
				events = append(events, a)
			}
		}
		v, err := s.judgeBoth(c.study(n, missing, events...), rule)
		if err != nil {
			return false, false, err
		}
		if c.groups > mostListed {
			return v.alone.Verdict == report.Pass, v.least.Verdict == report.Fail, nil
		}
		return pairVerdict(v.alone) == report.Pass, pairVerdict(v.alone) == report.Fail && pairVerdict(v.least) == report.Fail, nil
	}
	boundary := func(holds func(a, b int) (bool, error)) ([]int, error) { // by least … most: the most events that go with them; less than them where none do
		list := make([]int, most-least+1)
		split := (len(list) + parts - 1) / parts
		_, err := Repeat(ctx, "", "", parts, nil, func(_ *rand.Rand, part int) (struct{}, error) {
			first := true
			top := 0
			for i := part * split; i < min(len(list), (part+1)*split); i++ {
				a := least + i
				if first { // by halving
					low, high := a-1, most
					for low < high {
						b := high - (high-low)/2
						ok, err := holds(a, b)
						if err != nil {
							return struct{}{}, err
						}
						if ok {
							low = b
						} else {
							high = b - 1
						}
					}
					top, first = low, false
				} else {
					for b := max(top+1, a); b <= most; b++ {
						ok, err := holds(a, b)
						if err != nil {
							return struct{}{}, err
						}
						if !ok {
							break
						}
						top = b
					}
				}
				list[i] = top
			}
			return struct{}{}, nil
		})
		return list, err
	}
	pass, err := boundary(func(a, b int) (bool, error) {
		ok, _, err := ask(a, b)
		return ok, err
	})
	if err != nil {
		return nil, err
	}
	var spared []int // nil: no two groups that are likely at all FAIL
	_, fails, err := ask(least, most)
	if err == nil && fails {
		spared, err = boundary(func(a, b int) (bool, error) {
			_, fail, err := ask(a, b)
			return !fail, err
		})
	}
	if err != nil {
		return nil, err
	}
	list := make([]Odds, len(laws))
	for i, groups := range laws {
		o := Odds{Pass: within(groups, least, pass)}
		if spared != nil {
			o.Fail = max(0, 1-within(groups, least, spared))
		}
		o.Undecided = max(0, 1-o.Pass-o.Fail)
		list[i] = o
	}
	return list, nil
}

// mostListed is up to how many groups the gate's report lists every pair: then two groups can be asked about while the others are
// empty, which is quicker.
const mostListed = 60

// pairVerdict is what the first two groups come to.
func pairVerdict(r report.Rule) report.Verdict {
	first, second := r.Cells[0].Labels["group"], r.Cells[1].Labels["group"]
	for _, p := range r.Pairs {
		if p.Groups == [2]string{first, second} {
			return p.Verdict
		}
	}
	return report.InsufficientEvidence
}

// core is the numbers of events but for tails of 1e-7 on either side.
func (l law) core() (a, b int) {
	const tail = 1e-7
	a, b = l.from, l.from+len(l.p)-1
	for sum := l.p[0]; a < b && sum < tail; sum += l.p[a-l.from] {
		a++
	}
	for sum := l.p[len(l.p)-1]; b > a && sum < tail; sum += l.p[b-l.from] {
		b--
	}
	return a, b
}

// within is the chance that the groups' fewest events a and most events b have b at most top[a − least].
func within(groups []law, least int, top []int) float64 {
	sums := make([][]float64, len(groups)) // of fewer than least + i events
	for g, l := range groups {
		sums[g] = make([]float64, len(top)+1)
		sums[g][0] = l.between(0, least-1)
		for i := range top {
			sums[g][i+1] = sums[g][i] + l.at(least+i)
		}
	}
	total := 0.0
	for i, b := range top {
		if b < least+i {
			continue
		}
		from, above := 1.0, 1.0 // all in a … b, all in a + 1 … b
		for g := range groups {
			end := sums[g][min(b-least+1, len(top))]
			from, above = float64(from*(end-sums[g][i])), float64(above*(end-sums[g][i+1]))
		}
		total += from - above
	}
	return math.Min(1, math.Max(0, total))
}

// at is the chance of k events.
func (l law) at(k int) float64 {
	if k < l.from || k >= l.from+len(l.p) {
		return 0
	}
	return l.p[k-l.from]
}
