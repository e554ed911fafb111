package ledger

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// Codes of findings about looks.
const (
	CodeBroken   = "looks_broken"    // the data changed in a way that the interval does not hold over
	CodeAgain    = "looks_again"     // an interval for one look is looked at again
	CodeAddUp    = "looks_add_up"    // the errors of an interval for many looks, or of several, add up
	CodeQuestion = "looks_elsewhere" // the rule measured something else before
)

// Standing is what all looks at a rule's question come to, the present one included.
type Standing struct {
	report.Look
	Doubt    string // why the rule is for a person; "" where it is not
	Findings []report.Finding
}

// step is one look in the history of a question.
type step struct {
	Rule
	number int               // of its data, from 1
	from   map[string]growth // by part: since the step before; nil for the first
}

// Hold holds a rule's present look against the ledger's. Every earlier look at its question counts, under whatever id, and the
// whole history is gone through each time: what was broken stays broken.
func (l *Ledger) Hold(present Rule) Standing {
	steps, at, before := l.history(present)
	now := steps[at]
	s := Standing{Look: report.Look{Number: now.number, Change: report.LookFirst}}
	warn := func(code, format string, args ...any) {
		s.Findings = append(s.Findings, report.Finding{Code: code, Severity: report.Warning, Rule: present.ID, Message: fmt.Sprintf(format, args...), Count: 1})
	}
	name := "Rule " + diag.Quote(present.ID)
	switch {
	case before: // the data of an earlier look
		s.Change = report.LookNone
	case at > 0:
		s.Change = worst(now.from).change()
	case l.otherQuestion(present):
		s.Change = report.LookOther
		warn(CodeQuestion, "%s measures something else than in the look before: another metric, slice, unit, version, group, column or missing value. What was looked at under that question is not counted here: whoever changes the question to be rid of earlier looks has chosen by them.", name)
	}
	if present.Looks == interval.LooksOne {
		if s.Change == report.LookBroken {
			s.Change = report.LookChanged
		}
	} else if number, why := broken(steps, present, now.number); why != "" {
		if number == now.number && !before {
			s.Change = report.LookBroken
		}
		s.BrokenAt = number
		s.Doubt = fmt.Sprintf("At look %d %s. The interval does not hold over that, nor over any look after it: a person must decide.", number, why)
		warn(CodeBroken, "%s: %s", name, s.Doubt)
		return s
	}
	s.Switches = switches(steps)
	bound := errorBound(steps)
	s.ErrorAtMost, _ = bound.Float64()
	s.ErrorAtMost = min(s.ErrorAtMost, 1)
	shown := strconv.FormatFloat(s.ErrorAtMost, 'g', 6, 64)
	total := 0 // looks at different data
	for _, s := range steps {
		total = max(total, s.number)
	}
	switch own := rational(present.Error); {
	case present.Looks == interval.LooksOne && total > 1:
		warn(CodeAgain, "%s has an interval for one look, and with this one there were %d looks at its data. The probability of a wrong verdict in one of them can reach %s, in place of %s; where a look led to collecting more, no bound is known. Write `looks: repeated` before collecting, or take a new sample.",
			name, total, shown, strconv.FormatFloat(present.Error, 'g', 6, 64))
	case bound.Cmp(own) > 0:
		how := "looks by other intervals came before"
		if s.Switches > 0 {
			how = "the data changed " + times(s.Switches) + " between growing by units and growing by what is recorded of each, and every such switch costs the error of one interval more"
		}
		warn(CodeAddUp, "%s: %s. The probability of a wrong verdict over all looks is at most %s, in place of %s.", name, how, shown, strconv.FormatFloat(present.Error, 'g', 6, 64))
	}
	return s
}

// times is how often something happened.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// history lists the looks at a rule's question, the present one among them, at its place: those with data or an interval of their
// own, since what was looked at before by the same interval shows nothing new. before says that the present data were looked at
// before.
func (l *Ledger) history(present Rule) (steps []step, place int, before bool) {
	numbers := map[string]int{} // by data
	places := map[string]int{}  // by data and what they were looked at by
	add := func(r Rule) int {
		data := r.data()
		key := data + r.looked()
		if i, again := places[key]; again {
			steps[i].Error = max(steps[i].Error, r.Error) // asked at less confidence, it can be wrong more often
			return i
		}
		if numbers[data] == 0 {
			numbers[data] = len(numbers) + 1
		}
		s := step{Rule: r, number: numbers[data]}
		if len(steps) > 0 {
			s.from = l.grownFrom(&steps[len(steps)-1].Rule, &r)
		}
		places[key] = len(steps)
		steps = append(steps, s)
		return len(steps) - 1
	}
	for i := range l.Looks {
		if r, found := l.Looks[i].at(present); found {
			add(r)
		}
	}
	before = numbers[present.data()] > 0
	place = add(present)
	return steps, place, before
}

// grownFrom is grownAll from one rule's data to another's, which is worked out once: each look of a long ledger goes through all
// those before it.
func (l *Ledger) grownFrom(before, after *Rule) map[string]growth {
	key := [2]string{before.data(), after.data()}
	if _, known := l.growths[key]; !known {
		if l.growths == nil {
			l.growths = map[[2]string]map[string]growth{}
		}
		l.growths[key] = grownAll(before.Parts, after.Parts)
	}
	return l.growths[key]
}

// at finds a look's rule with the question of another: the one with its id first.
func (look *Look) at(r Rule) (Rule, bool) {
	found := -1
	for i := range look.Rules {
		if look.Rules[i].Question == r.Question && (found < 0 || look.Rules[i].ID == r.ID) {
			found = i
		}
	}
	if found < 0 {
		return Rule{}, false
	}
	return look.Rules[found], true
}

// otherQuestion reports whether the rule's id stood for another question the last time that it was there.
func (l *Ledger) otherQuestion(r Rule) bool {
	for i := len(l.Looks) - 1; i >= 0; i-- {
		for _, x := range l.Looks[i].Rules {
			if x.ID == r.ID {
				return x.Question != r.Question
			}
		}
	}
	return false
}

// worst is the growth that outweighs those of the other parts.
func worst(of map[string]growth) growth {
	w := same
	for _, g := range of {
		w = max(w, g)
	}
	return w
}

// broken says at which look, first, the data had changed so that the present rule's interval, which is for more than one look, does
// not hold, and how; "" where it holds.
func broken(steps []step, present Rule, number int) (at int, how string) {
	for i, s := range steps {
		if present.Looks == interval.LooksPlanned && s.looked() != present.looked() {
			return number, "the plan is not the one of the first look: a number of units that is planned after a look is no plan"
		}
		if i == 0 {
			continue
		}
		if why := s.breaks(present); why != "" {
			return s.number, why
		}
	}
	return 0, ""
}

// breaks says how the data have grown since the step before in a way that a rule's interval for many looks does not hold over; ""
// where it does.
func (s step) breaks(r Rule) string {
	may := r.Grows
	if r.Looks == interval.LooksPlanned {
		may = gate.GrowsUnits
	}
	for _, g := range slices.Sorted(maps.Values(s.from)) {
		if why := g.breaks(may); why != "" {
			return why
		}
	}
	return ""
}

// switches counts how often the data changed from growing by units to growing by what is recorded of each, or back: of the part
// that did so most often.
func switches(steps []step) int {
	last, count, most := map[string]growth{}, map[string]int{}, 0
	for _, s := range steps {
		for part, g := range s.from {
			if g != added && g != deepened {
				continue
			}
			if before := last[part]; before != same && before != g {
				count[part]++
				most = max(most, count[part])
			}
			last[part] = g
		}
	}
	return most
}

// errorBound is the largest probability that a verdict of any of the steps is wrong: the sum of that of each look by an interval
// for one, and of each run of looks by an interval for many, once and once more for every switch (audit of the intervals, 2c). What
// breaks such a run ends it: after that it is another interval's.
func errorBound(steps []step) *big.Rat {
	sum := new(big.Rat)
	for from := 0; from < len(steps); {
		to := from + 1
		if steps[from].Looks != interval.LooksOne {
			for to < len(steps) && steps[to].looked() == steps[from].looked() && steps[to].breaks(steps[to].Rule) == "" {
				to++
			}
		}
		greatest := 0.0
		for _, s := range steps[from:to] {
			greatest = max(greatest, s.Error)
		}
		most := rational(greatest)
		times := 1
		if steps[from].Looks == interval.LooksAny {
			times += switches(steps[from+1 : to])
		}
		sum.Add(sum, most.Mul(most, big.NewRat(int64(times), 1)))
		from = to
	}
	return sum
}

// rational is the decimal that a number prints as.
func rational(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	if !ok {
		return new(big.Rat)
	}
	return r
}

// Seen is a look of a ledger, and what each of its rules had come to at it, in their order.
type Seen struct {
	Look
	Standings []Standing
}

// Standings goes through a ledger look by look, as each run did.
func (l *Ledger) Standings() []Seen {
	var list []Seen
	growths := map[[2]string]map[string]growth{}
	for i, look := range l.Looks {
		before := &Ledger{Looks: l.Looks[:i], growths: growths}
		s := Seen{Look: look}
		for _, r := range look.Rules {
			s.Standings = append(s.Standings, before.Hold(r))
		}
		list = append(list, s)
	}
	return list
}
