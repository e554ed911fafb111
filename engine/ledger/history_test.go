package ledger

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

const (
	thisQuestion  = "1111111111111111111111111111111111111111111111111111111111111111"
	otherQuestion = "2222222222222222222222222222222222222222222222222222222222222222"
)

// means is a rule on a mean that may be looked at many times, of error 0.025.
func means(p gate.Part) Rule {
	return Rule{ID: "a", Metric: "m", Question: thisQuestion, Verdict: report.Pass, Method: interval.MethodUniformMixture, Looks: interval.LooksAny,
		Error: 0.025, Grows: gate.GrowsEither, Units: p.Units(), Parts: []gate.Part{p}}
}

// once is a rule for one look.
func once(p gate.Part) Rule {
	r := means(p)
	r.Method, r.Looks, r.Grows = interval.MethodClopperPearson, interval.LooksOne, gate.GrowsUnits
	return r
}

// planned is a rule on a mean over a planned number of units.
func planned(n int, p gate.Part) Rule {
	r := means(p)
	r.Method, r.Looks, r.Planned = interval.MethodDirichlet, interval.LooksPlanned, n
	return r
}

// fixedList is a rule on a mean over a fixed list.
func fixedList(p gate.Part) Rule {
	r := means(p)
	r.Grows = gate.GrowsDecisions
	return r
}

// under is a rule with another id and question.
func under(r Rule, id, question string) Rule {
	r.ID, r.Question = id, question
	return r
}

// at is a rule with another error.
func at(r Rule, e float64) Rule {
	r.Error = e
	return r
}

// to is a rule with a threshold.
func to(r Rule, threshold string) Rule {
	r.Threshold = threshold
	return r
}

// looks is a ledger of one rule a look.
func looks(rules ...Rule) *Ledger {
	l := &Ledger{}
	for _, r := range rules {
		l.Looks = append(l.Looks, Look{Rules: []Rule{r}})
	}
	return l
}

// holdOne holds a look of one rule.
func (l *Ledger) holdOne(r Rule) Standing { return l.Hold([]Rule{r})[0] }

// TestHold goes through histories, the present look last. The bounds are the (S+1)·a of the audit of the intervals, 2c, for S switches, a for one
// look by an interval for one and none for more, with a = 0.025, and twice as much where the threshold was moved: a verdict can then be
// wrong on either side.
func TestHold(t *testing.T) {
	zero, half, one, open := [2]float64{0, 0}, [2]float64{0.5, 0.5}, [2]float64{1, 1}, [2]float64{0, 1}
	two, three, four := part(2, zero, one), part(3, zero, one, one), part(4, zero, zero, one, one)
	deeper, deeperThree := part(4, half, one), part(6, half, one, one)
	for _, c := range []struct {
		name    string
		rules   []Rule
		want    report.Look
		doubt   string // a part of it
		finding string // its code
	}{
		{"the first look", []Rule{means(two)}, report.Look{Number: 1, Change: "first", ErrorAtMost: 0.025}, "", ""},
		{"a rerun", []Rule{means(two), means(two)}, report.Look{Number: 1, Change: "none", ErrorAtMost: 0.025}, "", ""},
		{"units added", []Rule{means(two), means(three)}, report.Look{Number: 2, Change: "units_added", ErrorAtMost: 0.025}, "", ""},
		{"units added twice", []Rule{means(two), means(three), means(four)}, report.Look{Number: 3, Change: "units_added", ErrorAtMost: 0.025}, "", ""},
		{"units added, one of them missing", []Rule{means(two), means(three), means(part(3, zero, one, one, open))}, report.Look{Number: 3, Change: "units_added", ErrorAtMost: 0.025}, "", ""},
		{"what was missing is recorded", []Rule{means(part(1, zero, open)), means(two)}, report.Look{Number: 2, Change: "recorded", ErrorAtMost: 0.025}, "", ""},
		{"more decisions", []Rule{means(two), means(deeper)}, report.Look{Number: 2, Change: "more_decisions", ErrorAtMost: 0.025}, "", ""},
		{"units, then decisions", []Rule{means(part(1, zero)), means(two), means(deeper)},
			report.Look{Number: 3, Change: "more_decisions", Switches: 1, ErrorAtMost: 0.05}, "", CodeAddUp},
		{"units, then decisions, then units", []Rule{means(part(1, zero)), means(two), means(deeper), means(deeperThree)},
			report.Look{Number: 4, Change: "units_added", Switches: 2, ErrorAtMost: 0.075}, "", CodeAddUp},
		{"units, a recorded one, units", []Rule{means(part(1, zero)), means(part(1, zero, open)), means(two), means(three)},
			report.Look{Number: 4, Change: "units_added", ErrorAtMost: 0.025}, "", ""},
		{"both at once", []Rule{means(two), means(deeperThree)}, report.Look{Number: 2, Change: "broken", BrokenAt: 2}, "At look 2 units were added while earlier ones have other values", CodeBroken},
		{"one taken out", []Rule{means(three), means(two)}, report.Look{Number: 2, Change: "broken", BrokenAt: 2}, "some were taken out", CodeBroken},
		{"one taken out, and looked at again", []Rule{means(three), means(two), means(two)}, report.Look{Number: 2, Change: "none", BrokenAt: 2}, "some were taken out", CodeBroken},
		{"one taken out, and put back", []Rule{means(three), means(two), means(three)}, report.Look{Number: 1, Change: "none", BrokenAt: 2}, "some were taken out", CodeBroken},
		{"broken once, and growing as it should since", []Rule{means(three), means(two), means(three), means(part(4, zero, one, one, one))},
			report.Look{Number: 3, Change: "units_added", BrokenAt: 2}, "At look 2 there are fewer units than before: some were taken out", CodeBroken},
		{"one put in another's place", []Rule{means(two), means(part(2, one, one))}, report.Look{Number: 2, Change: "broken", BrokenAt: 2}, "values that were there are gone, and no more was recorded instead", CodeBroken},
		{"a fixed list that grows", []Rule{fixedList(two), fixedList(three)}, report.Look{Number: 2, Change: "broken", BrokenAt: 2}, "units were added, and the list of them is a fixed one", CodeBroken},
		{"a fixed list with more trials", []Rule{fixedList(two), fixedList(deeper)}, report.Look{Number: 2, Change: "more_decisions", ErrorAtMost: 0.025}, "", ""},

		{"one look, twice", []Rule{once(two), once(three)}, report.Look{Number: 2, Change: "units_added"}, "", CodeAgain},
		{"one look, at other data", []Rule{once(two), once(part(3, one, one, one)), once(part(1, zero))}, report.Look{Number: 3, Change: "changed"}, "", CodeAgain},
		{"one look, at less again", []Rule{once(two), once(three), once(two)}, report.Look{Number: 1, Change: "none"}, "", CodeAgain},
		{"one look, twice at the same", []Rule{once(two), once(two)}, report.Look{Number: 1, Change: "none", ErrorAtMost: 0.025}, "", ""},
		{"one look, at the same with less confidence", []Rule{at(once(two), 0.005), at(once(two), 0.1)}, report.Look{Number: 1, Change: "asked_anew", ErrorAtMost: 0.1}, "", CodeMoved},
		{"many looks, at the same with less confidence", []Rule{at(means(two), 0.005), at(means(two), 0.1)}, report.Look{Number: 1, Change: "asked_anew", ErrorAtMost: 0.1}, "", CodeMoved},
		{"one look, twice, the first also with less confidence", []Rule{at(once(two), 0.005), at(once(two), 0.1), at(once(three), 0.005)},
			report.Look{Number: 2, Change: "units_added"}, "", CodeAgain},
		{"one look, twice, then many", []Rule{once(two), once(three), means(four)}, report.Look{Number: 3, Change: "units_added"}, "", CodeAddUp},
		{"one look at less confidence, and at more again", []Rule{at(once(two), 0.1), once(two)}, report.Look{Number: 1, Change: "asked_anew", ErrorAtMost: 0.1}, "", CodeAddUp},
		{"a threshold moved on the same data", []Rule{to(means(two), "minimum 0.5"), to(means(two), "minimum 0.4")}, report.Look{Number: 1, Change: "asked_anew", ErrorAtMost: 0.05}, "", CodeMoved + CodeAddUp},
		{"a threshold moved for a later look", []Rule{to(means(two), "minimum 0.5"), to(means(three), "minimum 0.6")}, report.Look{Number: 2, Change: "units_added", ErrorAtMost: 0.05}, "", CodeMoved + CodeAddUp},
		{"a threshold moved and moved back", []Rule{to(means(two), "minimum 0.5"), to(means(two), "minimum 0.4"), to(means(two), "minimum 0.5")}, report.Look{Number: 1, Change: "none", ErrorAtMost: 0.05}, "", CodeMoved + CodeAddUp},
		{"a threshold moved under another id", []Rule{under(to(means(two), "minimum 0.5"), "b", thisQuestion), to(means(three), "minimum 0.4")}, report.Look{Number: 2, Change: "units_added", ErrorAtMost: 0.05}, "", CodeMoved + CodeAddUp},
		{"a threshold written otherwise", []Rule{to(means(two), "minimum 0.50"), to(means(two), "minimum 0.5")}, report.Look{Number: 1, Change: "none", ErrorAtMost: 0.025}, "", ""},
		{"many looks, broken twice, then one look", []Rule{means(three), means(two), means(three), means(part(2, one, one)), once(four)},
			report.Look{Number: 4, Change: "units_added"}, "", CodeAgain},
		{"many looks, broken, then one look at the first data", []Rule{means(three), means(two), once(three)}, report.Look{Number: 1, Change: "asked_anew", ErrorAtMost: 0.075}, "", CodeAddUp},
		{"one look, then many", []Rule{once(two), means(three)}, report.Look{Number: 2, Change: "units_added", ErrorAtMost: 0.05}, "", CodeAddUp},
		{"one look, then many at the same data", []Rule{once(two), means(two)}, report.Look{Number: 1, Change: "asked_anew", ErrorAtMost: 0.05}, "", CodeAddUp},

		{"planned, growing", []Rule{planned(4, two), planned(4, three), planned(4, part(4, zero, one, one, one))}, report.Look{Number: 3, Change: "units_added", ErrorAtMost: 0.025}, "", ""},
		{"planned, with more decisions", []Rule{planned(4, two), planned(4, deeper)}, report.Look{Number: 2, Change: "broken", BrokenAt: 2}, "each of them has one value, which stays", CodeBroken},
		{"planned after a look", []Rule{means(two), planned(4, three)}, report.Look{Number: 2, Change: "broken", BrokenAt: 2}, "planned after a look", CodeBroken},
		{"a plan that is changed", []Rule{planned(4, two), planned(9, two)}, report.Look{Number: 1, Change: "asked_anew", BrokenAt: 1}, "planned after a look", CodeBroken},

		{"another question under the id", []Rule{under(means(two), "a", otherQuestion), means(three)}, report.Look{Number: 1, Change: "other_question", ErrorAtMost: 0.025}, "", CodeQuestion},
		{"the question under another id", []Rule{under(means(three), "b", thisQuestion), means(two)}, report.Look{Number: 2, Change: "broken", BrokenAt: 2}, "taken out", CodeBroken},
		{"another rule", []Rule{under(means(three), "b", otherQuestion), means(two)}, report.Look{Number: 1, Change: "first", ErrorAtMost: 0.025}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			last := len(c.rules) - 1
			got := looks(c.rules[:last]...).holdOne(c.rules[last])
			if diff := cmp.Diff(c.want, got.Look); diff != "" {
				t.Errorf("look (-want +got):\n%s", diff)
			}
			if !strings.Contains(got.Doubt, c.doubt) || (c.doubt == "") != (got.Doubt == "") {
				t.Errorf("doubt %q, want %q", got.Doubt, c.doubt)
			}
			code := ""
			for _, f := range got.Findings {
				code += f.Code
				if f.Rule != "a" || f.Severity != report.Warning || !strings.Contains(f.Message, `"a"`) {
					t.Errorf("finding %+v", f)
				}
			}
			if code != c.finding {
				t.Errorf("finding %q, want %q", code, c.finding)
			}
		})
	}
}

// TestParts: each part has an interval of its own. Two that grow in different ways are each in order; where one is broken the
// rule is.
func TestParts(t *testing.T) {
	zero, half, one := [2]float64{0, 0}, [2]float64{0.5, 0.5}, [2]float64{1, 1}
	named := func(blind, visible gate.Part) Rule {
		blind.Name, visible.Name = "blind", "visible"
		r := means(blind)
		r.Parts, r.Units = []gate.Part{blind, visible}, blind.Units()+visible.Units()
		return r
	}
	start := named(part(1, zero), part(1, zero))
	apart := named(part(2, zero, one), part(2, half))
	if got := looks(start).holdOne(apart); got.Doubt != "" || got.Change != report.LookMoreDecisions || got.ErrorAtMost != 0.025 {
		t.Errorf("%+v", got)
	}
	if got := looks(start).holdOne(named(part(2, zero, one), part(3, half, one))); got.BrokenAt != 2 {
		t.Errorf("%+v", got)
	}
	if got := looks(start).holdOne(means(part(1, zero))); got.BrokenAt != 2 { // the parts are gone
		t.Errorf("%+v", got)
	}
}

// TestCounterexample is the one of the audit of the intervals, 2c: at each look one fresh person has one decision, while the older
// ones have come to their rate of p = 1/80. Where the fresh one is right, E = (1 + 1/p)/2 = 40.5 is above 1/a = 40, and the lower
// end above the truth: at each look anew, with probability p. The ledger has no names, and takes {0} and then {0, p} for a person
// with p who came in; but no look that misleads, after the first, gets past it: the 0 that was there is gone.
func TestCounterexample(t *testing.T) {
	const p, count = 1.0 / 80, 7
	misled, unseen, second := 0.0, 0.0, 0 // probabilities that a look misleads, and one that the ledger holds in order
	for answers := range 1 << count {
		before, chance := []Rule{}, 1.0
		misleads, gotPast := false, false
		for look := range count {
			values := make([]float64, look+1)
			for i := range look {
				values[i] = p
			}
			x := float64(answers >> look & 1)
			values[look] = x
			chance *= x*p + (1-x)*(1-p)
			present := means(gate.NewPart("", values, values, 80*look+1))
			iv, err := interval.UniformMixture(values, values, interval.Unit, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			held := looks(before...).holdOne(present)
			if (x == 1) != (iv.Lower > p) {
				t.Fatalf("look %d, answer %v: the lower end is %v", look+1, x, iv.Lower)
			}
			if look == 1 && answers&1 != answers>>1&1 {
				second++
				if held.BrokenAt != 2 {
					t.Fatalf("answers %b: the second look holds: %+v", answers, held)
				}
			}
			misleads = misleads || iv.Lower > p
			gotPast = gotPast || iv.Lower > p && held.Doubt == ""
			before = append(before, present)
		}
		if misleads {
			misled += chance
		}
		if gotPast {
			unseen += chance
		}
	}
	if want := 1 - math.Pow(1-p, count); math.Abs(misled-want) > 1e-12 || misled < 0.025 {
		t.Errorf("some look misleads with probability %v, want %v", misled, want)
	}
	if math.Abs(unseen-p) > 1e-12 { // that of the first look
		t.Errorf("one that gets past the ledger does with probability %v, want %v", unseen, p)
	}
	if second != 1<<(count-1) {
		t.Errorf("%d second looks differ from the first", second)
	}
}

// TestCurtailment: a number of units that is planned beforehand may be looked at on the way: absent units are counted both ways, so
// that no look before decides what the last would not (audit of the intervals, 3). The ledger has no word to say, until a unit changes.
func TestCurtailment(t *testing.T) {
	var history []Rule
	var units [][2]float64
	for n := 1; n <= 20; n++ {
		units = append(units, [2]float64{float64(n % 2), float64(n % 2)})
		present := planned(20, part(n, units...))
		if got := looks(history...).holdOne(present); got.Doubt != "" || len(got.Findings) > 0 || got.Number != n || got.ErrorAtMost != 0.025 {
			t.Fatalf("%d of 20: %+v", n, got)
		}
		history = append(history, present)
	}
	units[0] = [2]float64{0, 0} // it was 1
	if got := looks(history...).holdOne(planned(20, part(20, units...))); got.BrokenAt != 21 || got.Change != report.LookBroken {
		t.Errorf("a unit that is decided anew: %+v", got)
	}
}
