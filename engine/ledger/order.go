package ledger

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/oloproof/oloproof/engine/gate"
)

// known is what is worked out of a ledger's looks, once.
type known struct {
	places    map[string][]place    // of the rules with a question, in the order of the lines
	orders    map[[3]string][]place // one a line, in the order in which they are gone through, by question, threshold and id
	ancestors [][]uint64            // by line: a bit for each line that it follows on, or that those follow on
	growths   map[[2]string]growths // from one data to another
	revisions [][]revision          // by line; nil until it is asked for
}

// place is a rule of a look.
type place struct{ line, rule int }

// revision is where a rule saw that rows which were there are not as they were.
type revision struct {
	id, question string
	how          string // they changed
}

// looksAt lists the looks at a rule's question, one a line: where there are several the rule with its id, else one with its threshold.
//
// They are in the order of the lines, but where two copies of a ledger were kept side by side and merged: each of these looked at
// what there was then, so that a look at fewer units comes before one at more that does not follow on it.
func (l *Ledger) looksAt(r *Rule) []place {
	k := &l.known
	if k.places == nil {
		k.places, k.orders = map[string][]place{}, map[[3]string][]place{}
		for line := range l.Looks {
			for i := range l.Looks[line].Rules {
				question := l.Looks[line].Rules[i].Question
				k.places[question] = append(k.places[question], place{line, i})
			}
		}
	}
	key := [3]string{r.Question, r.Threshold, r.ID}
	if list, found := k.orders[key]; found {
		return list
	}
	var list []place
	for _, p := range k.places[r.Question] {
		last := len(list) - 1
		switch {
		case last < 0 || list[last].line != p.line:
			list = append(list, p)
		case l.rule(p).ID == r.ID, l.rule(list[last]).ID != r.ID && sameThreshold(l.rule(p).Threshold, r.Threshold):
			list[last] = p
		}
	}
	if l.branched {
		for i := range list { // each goes before those with more that it does not follow on
			for ; i > 0 && l.rule(list[i]).compare(l.rule(list[i-1])) < 0 && l.beside(list[i-1].line, list[i].line); i-- {
				list[i-1], list[i] = list[i], list[i-1]
			}
		}
	}
	k.orders[key] = list
	return list
}

// rule is the rule at a place.
func (l *Ledger) rule(p place) *Rule { return &l.Looks[p.line].Rules[p.rule] }

// compare orders rules by their units, and then by what is recorded of them.
func (r *Rule) compare(other *Rule) int {
	recorded := func(r *Rule) (n int) {
		for _, p := range r.Parts {
			n += p.Decisions
		}
		return n
	}
	return cmp.Or(cmp.Compare(r.Units, other.Units), cmp.Compare(recorded(r), recorded(other)))
}

// beside reports whether neither of two lines follows on the other, nor on what that follows on.
func (l *Ledger) beside(one, other int) bool {
	if !l.branched {
		return false
	}
	one, other = min(one, other), max(one, other)
	return l.above(other)[one/64]>>(one%64)&1 == 0
}

// above is the lines that a line of a branched ledger follows on, and those that they do, as bits.
func (l *Ledger) above(line int) []uint64 {
	k := &l.known
	if k.ancestors == nil {
		for i, look := range l.Looks {
			bits := make([]uint64, len(l.Looks)/64+1)
			for _, j := range look.above {
				if j >= i { // never, of a ledger that was read without a mistake
					continue
				}
				for w, b := range k.ancestors[j] {
					bits[w] |= b
				}
				bits[j/64] |= 1 << (j % 64)
			}
			k.ancestors = append(k.ancestors, bits)
		}
	}
	return k.ancestors[line]
}

// linesAbove says of every line whether a line follows on it; nil where it follows on all above.
func (l *Ledger) linesAbove(line int) []bool {
	if !l.branched {
		return nil
	}
	bits := l.above(line)
	list := make([]bool, len(l.Looks))
	for i := range list {
		list[i] = bits[i/64]>>(i%64)&1 == 1
	}
	return list
}

// grownFrom is grownAll from one rule's data to another's, which is worked out once: each look of a long ledger goes through all
// those before it.
func (l *Ledger) grownFrom(before, after *Rule) growths {
	key := [2]string{before.data(), after.data()}
	list, found := l.known.growths[key]
	if !found {
		if l.known.growths == nil {
			l.known.growths = map[[2]string]growths{}
		}
		list = grownAll(before.Parts, after.Parts)
		l.known.growths[key] = list
	}
	return list
}

// revised reports whether growths show that rows are gone, or not as they were: what a rule sees of that holds for all that read
// the same rows. Where a unit gathers several rows, its value also changes when rows are added, and shows nothing.
func revised(before, after *Rule, from growths) bool {
	for _, of := range from {
		g := of.growth
		switch {
		case g == removed, g == rewritten:
			return true
		case (g == both || g == deepened) && before.single() && after.single():
			return true
		}
	}
	return false
}

// how says how the data of one line became those of another, which its interval does not hold over.
func (l *Ledger) how(g growth, from, to int) string {
	if to < len(l.Looks) && l.beside(from, to) {
		return fmt.Sprintf("two copies of the ledger were kept side by side, and of line %d and line %d, one of each, neither has all that the other looked at", min(from, to)+1, max(from, to)+1)
	}
	return g.breaks(gate.GrowsUnits)
}

// single reports whether each unit of a rule is one thing recorded, or missing.
func (r *Rule) single() bool {
	for _, p := range r.Parts {
		recorded := 0
		for _, v := range p.Values {
			if v.Low == v.High {
				recorded += v.Count
			}
		}
		if recorded != p.Decisions {
			return false
		}
	}
	return r.Grows == gate.GrowsUnits
}

// revisions lists what the rules of a section saw at a line.
func (l *Ledger) revisions(line, section int) (list []revision) {
	k := &l.known
	if k.revisions == nil {
		k.revisions = make([][]revision, len(l.Looks)+1)
		told := map[string]bool{} // by question
		for i := range l.Looks {
			for j := range l.Looks[i].Rules {
				r := &l.Looks[i].Rules[j]
				if !told[r.Question] {
					told[r.Question] = true
					l.revise(r)
				}
			}
		}
	}
	for _, r := range k.revisions[line] {
		if in, found := l.Looks[line].with(r); found && in.Section == section {
			list = append(list, r)
		}
	}
	return list
}

// revise notes the lines at which a rule's question shows that rows were revised.
func (l *Ledger) revise(r *Rule) {
	seen := map[string]bool{} // by data
	var before *Rule
	line := 0 // of before
	for _, p := range l.looksAt(r) {
		now := l.rule(p)
		if seen[now.data()] {
			continue
		}
		seen[now.data()] = true
		if before != nil {
			if from := l.grownFrom(before, now); revised(before, now, from) {
				l.known.revisions[p.line] = append(l.known.revisions[p.line], revision{now.ID, now.Question, l.how(from.worst(), line, p.line)})
			}
		}
		before, line = now, p.line
	}
}

// with finds the rule of a look that saw a revision.
func (look *Look) with(r revision) (Rule, bool) {
	i := slices.IndexFunc(look.Rules, func(x Rule) bool { return x.ID == r.id && x.Question == r.question })
	if i < 0 {
		return Rule{}, false
	}
	return look.Rules[i], true
}
