package ledger

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

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
	CodeMoved    = "looks_moved"     // the threshold or the confidence is another than at an earlier look
)

// Standing is what all looks at a rule's question come to, the present one included.
type Standing struct {
	report.Look
	Doubt    string // why the rule is for a person; "" where it is not
	Findings []report.Finding
}

// step is one look in the history of a question, at data or by an interval that no step before has.
type step struct {
	*Rule
	line   int     // of the look, by its place in Ledger.Looks, or of the present one
	number int     // of its data, from 1
	wrong  float64 // the greatest Error with which the data were looked at so
	from   growths // since the step before; nil for the first
}

// history is all looks at a rule's question.
type history struct {
	steps  []step
	now    int     // the place of the present one in steps
	asked  []*Rule // the rules of all looks, in their order, the present one last
	places []int   // and the place of each in steps
	lines  []int   // and its line
}

// Hold holds the rules of a present look against the ledger's; what comes of each is at its place. Every earlier look at a rule's
// question counts, under whatever id, and the whole history is gone through each time: what was broken stays broken.
func (l *Ledger) Hold(rules []Rule) []Standing { return l.hold(rules, len(l.Looks), nil) }

// hold is Hold for a look at the given line, which follows on those above it: on all of them where that is nil.
func (l *Ledger) hold(rules []Rule, line int, above []bool) []Standing {
	histories := make([]history, len(rules))
	present := map[int][]revision{} // by section: where rows that were there are seen not to be as they were
	for i := range rules {
		r := &rules[i]
		histories[i] = l.history(r, line, above)
		h := &histories[i]
		if now := h.steps[h.now]; now.line == line && h.now > 0 && revised(h.steps[h.now-1].Rule, now.Rule, now.from) {
			present[r.Section] = append(present[r.Section], revision{r.ID, r.Question, now.from.worst().breaks(gate.GrowsUnits)})
		}
	}
	var list []Standing
	for i := range rules {
		r := &rules[i]
		other := len(histories[i].asked) == 1 && l.otherQuestion(r, line, above)
		list = append(list, l.stand(r, &histories[i], line, other, present[r.Section]))
	}
	return list
}

// stand says what the history of a present look at the given line comes to. other is whether the rule measured something else before, and elsewhere where the rules of
// the present look that read the same rows see them revised.
func (l *Ledger) stand(present *Rule, h *history, line int, other bool, elsewhere []revision) Standing {
	now := h.steps[h.now]
	s := Standing{Look: report.Look{Number: now.number, Change: h.change(present)}}
	warn := func(code, format string, args ...any) {
		s.Findings = append(s.Findings, report.Finding{Code: code, Severity: report.Warning, Rule: present.ID, Message: fmt.Sprintf(format, args...), Count: 1})
	}
	name := "Rule " + diag.Quote(present.ID)
	if other {
		s.Change = report.LookOther
		warn(CodeQuestion, "%s measures something else than in the look before: another metric, slice, unit, version, group, column or missing value. What was looked at under that question is not counted here: whoever changes the question to be rid of earlier looks has chosen by them.", name)
	}
	for _, what := range h.moved(present) {
		warn(CodeMoved, "%s: %s. Whoever settles that with the data in sight can choose what comes out, and no interval allows for it.", name, what)
	}
	if present.Looks == interval.LooksOne {
		if s.Change == report.LookBroken {
			s.Change = report.LookChanged
		}
	} else if number, why := l.broken(h, present, line, elsewhere); why != "" {
		if number == now.number && s.Change != report.LookNone && s.Change != report.LookAsked {
			s.Change = report.LookBroken
		}
		s.BrokenAt = number
		s.Doubt = fmt.Sprintf("At look %d %s. The interval does not hold over that, nor over any look after it: a person must decide.", number, why)
		warn(CodeBroken, "%s: %s", name, s.Doubt)
		return s
	}
	s.Switches = switches(h.steps)
	own := rational(present.Error)
	bound, bounded := errorBound(h.steps)
	if h.thresholds() > 1 { // over one threshold a verdict can be wrong on one side, over two on either
		bound.Add(bound, bound)
	}
	if bounded {
		s.ErrorAtMost, _ = bound.Float64()
		s.ErrorAtMost = min(s.ErrorAtMost, 1)
	}
	total := 0 // looks at different data
	for _, s := range h.steps {
		total = max(total, s.number)
	}
	switch {
	case !bounded && present.Looks == interval.LooksOne:
		warn(CodeAgain, "%s has an interval for one look, and there were %d looks at its data. That a verdict is wrong at most %s of the time is said of one look by itself, whose size was settled beforehand. Over all of them together no bound is known: a look that is undecided leads to another. Write `looks: repeated` before collecting, or take a new sample.",
			name, total, Percent(present.Error))
	case !bounded:
		warn(CodeAddUp, "%s: earlier looks were by an interval for one look, and over several of these no bound is known. The present interval is for many looks, and by itself it makes a verdict wrong at most %s of the time.", name, Percent(present.Error))
	case bound.Cmp(own) > 0:
		how := "it was asked before by another interval, at another confidence or with another threshold"
		if s.Switches > 0 {
			how = "the data changed " + times(s.Switches) + " between growing by units and growing by what is recorded of each, and every such switch costs the error of one interval more"
		}
		warn(CodeAddUp, "%s: %s. Over all looks a verdict is wrong at most %s of the time, in place of %s.", name, how, Percent(s.ErrorAtMost), Percent(present.Error))
	}
	return s
}

// change is how the present data differ from those of the look before.
func (h *history) change(present *Rule) report.LookChange {
	change := report.LookFirst
	if h.now > 0 {
		change = h.steps[h.now].from.worst().change()
	}
	for _, r := range h.asked[:len(h.asked)-1] {
		switch {
		case r.data() != present.data():
		case r.looked() == present.looked() && r.Error == present.Error && sameThreshold(r.Threshold, present.Threshold):
			return report.LookNone
		default:
			change = report.LookAsked
		}
	}
	return change
}

// moved says what of a rule was settled anew after data had been looked at: its threshold, or how often it may be wrong.
func (h *history) moved(present *Rule) (list []string) {
	moves, least := 0, 0.0
	for i, r := range h.asked {
		if i > 0 && !sameThreshold(r.Threshold, h.asked[i-1].Threshold) {
			moves++
		}
		if sameKind(r.Threshold, present.Threshold) && (least == 0 || r.Error < least) {
			least = r.Error
		}
	}
	if moves > 0 {
		how := fmt.Sprintf("its threshold was %s when the data were first looked at, and is %s now", shown(h.asked[0].Threshold), shown(present.Threshold))
		if moves > 1 {
			how += fmt.Sprintf(", moved %d times", moves)
		}
		if easier(h.asked[0].Threshold, present.Threshold) {
			how += ", which is easier to pass"
		}
		list = append(list, how)
	}
	if present.Error > least {
		list = append(list, fmt.Sprintf("a verdict may be wrong %s of the time, and %s when the data were looked at before: the confidence was lowered, or fewer rules share their error", Percent(present.Error), Percent(least)))
	}
	return list
}

// thresholds counts the different thresholds that a question was held to.
func (h *history) thresholds() int {
	var list []string
	for i, r := range h.asked {
		if i > 0 && r.Threshold == h.asked[i-1].Threshold {
			continue
		}
		if !slices.ContainsFunc(list, func(t string) bool { return sameThreshold(t, r.Threshold) }) {
			list = append(list, r.Threshold)
		}
	}
	return len(list)
}

// splitThreshold takes Rule.Threshold apart; ok is false where it has no number at its end.
func splitThreshold(text string) (kind string, value float64, ok bool) {
	at := strings.LastIndex(text, " ")
	value, err := strconv.ParseFloat(text[at+1:], 64)
	return text[:max(at, 0)], value, err == nil
}

// sameThreshold reports whether two thresholds are one, however their numbers are written.
func sameThreshold(one, other string) bool {
	if one == other {
		return true
	}
	kind, value, ok := splitThreshold(one)
	otherKind, otherValue, otherOK := splitThreshold(other)
	return ok && otherOK && kind == otherKind && value == otherValue
}

// sameKind reports whether two thresholds differ in their values at most.
func sameKind(one, other string) bool {
	if one == other {
		return true
	}
	kind, _, _ := splitThreshold(one)
	otherKind, _, _ := splitThreshold(other)
	return kind == otherKind
}

// easier reports whether a threshold of the same kind is easier to pass than the one before.
func easier(before, after string) bool {
	kind, was, ok := splitThreshold(before)
	_, is, isOK := splitThreshold(after)
	if !ok || !isOK || !sameKind(before, after) {
		return false
	}
	side := kind[strings.LastIndex(kind, " ")+1:] // of worst_group its second word
	if strings.HasPrefix(side, "max") {
		return is > was
	}
	return is < was
}

// shown is a threshold as it is printed.
func shown(threshold string) string {
	if threshold == "" {
		return "none"
	}
	return diag.Printable(threshold)
}

// times is how often something happened.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// history lists the looks at a rule's question, a present one at the given line among them: those with data or an interval of
// their own, since what was looked at before by the same interval shows nothing new.
func (l *Ledger) history(present *Rule, line int, above []bool) history {
	looks := l.looksAt(present)
	h := history{steps: make([]step, 0, len(looks)+1), asked: make([]*Rule, 0, len(looks)+1)}
	numbers := map[string]int{} // by data
	type key struct {
		data string
		by   instrument
	}
	places := map[key]int{}
	add := func(r *Rule, line int) {
		h.asked, h.lines = append(h.asked, r), append(h.lines, line)
		key := key{r.data(), r.looked()}
		at, again := places[key]
		if !again {
			at = len(h.steps)
			places[key] = at
			if numbers[key.data] == 0 {
				numbers[key.data] = len(numbers) + 1
			}
			s := step{Rule: r, line: line, number: numbers[key.data]}
			if at > 0 {
				s.from = l.grownFrom(h.steps[at-1].Rule, r)
			}
			h.steps = append(h.steps, s)
		}
		h.steps[at].wrong = max(h.steps[at].wrong, r.Error) // asked at less confidence, it can be wrong more often
		h.places = append(h.places, at)
	}
	for _, p := range looks {
		if p.line < line && (above == nil || above[p.line]) {
			add(l.rule(p), p.line)
		}
	}
	add(present, line)
	h.now = h.places[len(h.places)-1]
	return h
}

// otherQuestion reports whether the rule's id stood for another question the last time that it was there, before the given line.
func (l *Ledger) otherQuestion(r *Rule, line int, above []bool) bool {
	for i := line - 1; i >= 0; i-- {
		if above != nil && !above[i] {
			continue
		}
		for _, x := range l.Looks[i].Rules {
			if x.ID == r.ID {
				return x.Question != r.Question
			}
		}
	}
	return false
}

// broken says at which look, first, the data had changed so that the present rule's interval, which is for more than one look, does
// not hold, and how; "" where it holds. elsewhere is where other rules of the present look see the rows revised.
func (l *Ledger) broken(h *history, present *Rule, line int, elsewhere []revision) (at int, how string) {
	now := h.steps[h.now].number
	for i, s := range h.steps {
		if how == "" && present.Looks == interval.LooksPlanned && s.looked() != present.looked() {
			return now, "the plan is not the one of the first look: a number of units that is planned after a look is no plan"
		}
		if i == 0 || how != "" {
			continue
		}
		if how = s.breaks(present); how != "" {
			at = s.number
			if last := h.steps[i-1].line; s.line != line && l.beside(last, s.line) {
				how = l.how(s.from.worst(), last, s.line)
			}
		}
	}
	see := func(number int, list []revision) {
		for _, r := range list {
			if r.question != present.Question && (how == "" || number < at) {
				at, how = number, fmt.Sprintf("rule %s, which reads the same rows, saw that %s", diag.Quote(r.id), r.how)
			}
		}
	}
	last := len(h.lines) - 1
	for i := 1; i < last; i++ {
		see(h.steps[h.places[i]].number, l.revisions(h.lines[i], h.asked[i].Section))
	}
	if last > 0 {
		see(now, elsewhere)
	}
	return at, how
}

// breaks says how the data have grown since the step before in a way that a rule's interval for many looks does not hold over; ""
// where it does.
func (s *step) breaks(r *Rule) string {
	may := r.Grows
	if r.Looks == interval.LooksPlanned {
		may = gate.GrowsUnits
	}
	for _, of := range s.from {
		if why := of.growth.breaks(may); why != "" {
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
		for _, of := range s.from {
			part, g := of.part, of.growth
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

// errorBound is the largest probability that a verdict of any of the steps is wrong: the sum of that of a first look by an interval
// for one, and of each run of looks by an interval for many, once and once more for every switch (audit of the intervals, 2c). What
// breaks such a run ends it: after that it is another interval's.
//
// known is false where there is none: an interval for one look holds at a size that was settled beforehand, and at a later look
// the size may have come from what the looks before showed.
func errorBound(steps []step) (bound *big.Rat, known bool) {
	sum := new(big.Rat)
	for from := 0; from < len(steps); {
		to := from + 1
		if steps[from].Looks != interval.LooksOne {
			for to < len(steps) && steps[to].looked() == steps[from].looked() && steps[to].breaks(steps[to].Rule) == "" {
				to++
			}
		} else if steps[from].number > 1 {
			return sum, false
		}
		greatest := 0.0
		for _, s := range steps[from:to] {
			greatest = max(greatest, s.wrong)
		}
		most := rational(greatest)
		times := 1
		if steps[from].Looks == interval.LooksAny {
			times += switches(steps[from+1 : to])
		}
		sum.Add(sum, most.Mul(most, big.NewRat(int64(times), 1)))
		from = to
	}
	return sum, true
}

// rational is the decimal that a number prints as.
func rational(x float64) *big.Rat {
	return decimal(strconv.FormatFloat(x, 'g', -1, 64))
}

// decimal reads a number; 0 where it is none.
func decimal(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
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

// Standings goes through a ledger look by look, as each run did: one of two that were kept side by side knows nothing of the other.
func (l *Ledger) Standings() []Seen {
	var list []Seen
	for i, look := range l.Looks {
		list = append(list, Seen{Look: look, Standings: l.hold(look.Rules, i, l.linesAbove(i))})
	}
	return list
}

// Percent is a share as a percentage that is never less: 0.025 is "2.5 %". One with more than four decimals is rounded up to two.
func Percent(share float64) string {
	p := rational(share)
	p.Mul(p, big.NewRat(100, 1))
	text := p.FloatString(4)
	if short := decimal(text); short.Cmp(p) != 0 {
		hundredths := new(big.Rat).Mul(p, big.NewRat(100, 1))
		up := new(big.Int).Quo(hundredths.Num(), hundredths.Denom())
		text = new(big.Rat).SetFrac(up.Add(up, big.NewInt(1)), big.NewInt(100)).FloatString(2)
	}
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + " %"
}
