package fairness

import "github.com/oloproof/oloproof/engine/rows"

// Case is what one row is to one rule, for audits that change cases and ask again.
type Case struct {
	// Group is the place of its group among the rule's; -1 where the rule leaves it out, or it is not of the rule's slice.
	Group int
	// Counts says that it is in the denominator of the rule's rate, or may be, its prediction not being recorded.
	Counts bool
	// Recorded says that everything is recorded that tells what it is; only then it can be Changed.
	Recorded bool
	// Event says that the rate counts it: an error, say.
	Event bool
	// Column is the column whose other value makes it the opposite of Event, among those of the question's input: the
	// prediction, or the label where the prediction decides what is in the denominator. Word is that value.
	Column int
	Word   string
}

// Cases is a question of this gate that tells what a row is to a rule.
type Cases interface {
	// Groups are the names of a rule's groups, in the declared order.
	Groups(rule int) []string
	// Case tells what a row, which must be one that the question took, is to a rule.
	Case(rule int, r rows.Row) Case
	// Attributes are the columns that tell a rule's groups, among those of the question's input.
	Attributes(rule int) []int
	// Identities are the columns that name the case and, where they are read, the person: no value is there twice.
	Identities() []int
	// Probability is the column of probabilities, which no rule is about; -1 where none is read.
	Probability() int
	// LeastCell is how many cases with a prediction a group needs to be decided.
	LeastCell() int
}

var _ Cases = (*question)(nil)

// Groups implements Cases.
func (q *question) Groups(rule int) []string { return q.rules[rule].crossing.groups }

// Attributes implements Cases.
func (q *question) Attributes(rule int) []int {
	var list []int
	for _, a := range q.rules[rule].crossing.attributes {
		list = append(list, q.tally.at.attributes+a)
	}
	return list
}

// Identities implements Cases.
func (q *question) Identities() []int {
	list := []int{0}
	if at := q.tally.at.unit; at >= 0 {
		list = append(list, at)
	}
	return list
}

// Probability implements Cases.
func (q *question) Probability() int { return q.tally.at.probability }

// LeastCell implements Cases.
func (q *question) LeastCell() int { return q.minCell }

// Case implements Cases.
func (q *question) Case(rule int, r rows.Row) Case {
	t, own := q.tally, &q.rules[rule]
	for i := range t.attributes {
		text, recorded := r.Text(t.at.attributes + i)
		group, ok, err := t.attributes[i].of(text)
		switch {
		case !recorded:
			group = empty
		case !ok || err != nil:
			group = strange
		}
		t.groups[i] = group
	}
	for i := range t.texts {
		t.texts[i], _ = r.Text(t.at.where + i)
	}
	group, reason, in := t.belongs(&t.plan.views[own.view])
	if !in || reason >= 0 {
		return Case{Group: -1}
	}
	value := func(col int, b *binary) int {
		if text, recorded := r.Text(col); recorded {
			if v, err := b.read(text); err == nil {
				return v
			}
		}
		return none
	}
	label, prediction := value(t.at.label, &t.label), value(t.at.prediction, &t.prediction)
	c := Case{Group: group}
	if label == none && own.rate.needsLabel() {
		return c // left out, whatever the label is
	}
	can := own.rate.possible(label, prediction)
	c.Counts = can != out
	if can != event && can != other {
		return c
	}
	c.Recorded, c.Event = true, can == event
	opposite := event
	if c.Event {
		opposite = other
	}
	switch {
	case prediction != none && own.rate.possible(label, 1-prediction) == opposite:
		c.Column, c.Word = t.at.prediction, t.prediction.text(1-prediction)
	case label != none && own.rate.possible(1-label, prediction) == opposite:
		c.Column, c.Word = t.at.label, t.label.text(1-label)
	default:
		c.Recorded = false
	}
	return c
}

// text is how files write one of the column's values.
func (b *binary) text(value int) string {
	if b.words[value].Set {
		return b.words[value].Value
	}
	return [2]string{no: "0", yes: "1"}[value]
}
