package ledger

import (
	"cmp"
	"slices"
	"sort"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// growth is how the units of one part have become those of the next look.
type growth int

// The growths, in the order in which one outweighs another between the parts of a rule.
const (
	same      growth = iota
	recorded         // what was missing is recorded
	added            // units are added
	deepened         // the same number of units, and more is recorded of them
	removed          // fewer units
	rewritten        // no more units or no more recorded, and values or decisions that were there are not
	both             // more units, and what was there is not as it was
)

// change is a growth as reports name it.
func (g growth) change() report.LookChange {
	switch g {
	case same:
		return report.LookNone
	case recorded:
		return report.LookRecorded
	case added:
		return report.LookUnitsAdded
	case deepened:
		return report.LookMoreDecisions
	case removed, rewritten, both:
	}
	return report.LookBroken
}

// breaks says how a growth breaks an interval for many looks over data that may grow in a way; "" where it does not.
func (g growth) breaks(may gate.Growth) string {
	switch {
	case g == added && may == gate.GrowsDecisions:
		return "units were added, and the list of them is a fixed one"
	case g == deepened && may == gate.GrowsUnits:
		return "units have other values than before, and each of them has one value, which stays: something recorded was corrected or replaced"
	case g == removed:
		return "there are fewer units than before: some were taken out"
	case g == rewritten:
		return "values that were there are gone, and no more was recorded instead: something recorded was corrected, replaced or taken back"
	case g == both && may == gate.GrowsUnits:
		return "units were added, and values that were there are gone: something recorded was corrected, replaced or taken out"
	case g == both:
		return "units were added while earlier ones have other values than before: either may grow, and not both at once"
	}
	return ""
}

// grown compares a part with what has become of it.
func grown(before, after gate.Part) growth {
	n, now := before.Units(), after.Units()
	switch kept := contains(before.Values, after.Values); {
	case slices.Equal(before.Values, after.Values) && before.Decisions == after.Decisions:
		return same
	case now < n:
		return removed
	case kept && after.Decisions < before.Decisions: // what was recorded is not any more
		return rewritten
	case kept && now > n:
		return added
	case kept:
		return recorded
	case now > n:
		return both
	case after.Decisions > before.Decisions:
		return deepened
	}
	return rewritten
}

// growths are those of the parts of a rule, the least first.
type growths []partGrowth

// partGrowth is the growth of one part.
type partGrowth struct {
	growth growth
	part   string
}

// worst is the growth that outweighs the others.
func (list growths) worst() growth {
	if len(list) == 0 {
		return same
	}
	return list[len(list)-1].growth
}

// grownAll compares the parts of two looks by name: a part that is new or gone had or has no units.
func grownAll(before, after []gate.Part) growths {
	earlier := map[string]gate.Part{}
	for _, p := range before {
		earlier[p.Name] = p
	}
	list := growths{}
	for _, p := range after {
		list = append(list, partGrowth{grown(earlier[p.Name], p), p.Name})
		delete(earlier, p.Name)
	}
	for name, p := range earlier {
		list = append(list, partGrowth{grown(p, gate.Part{}), name})
	}
	slices.SortFunc(list, func(a, b partGrowth) int { return cmp.Or(cmp.Compare(a.growth, b.growth), cmp.Compare(a.part, b.part)) })
	return list
}

// contains reports whether every value before can be given a value after of its own that lies within its ends: what was there
// is then as it was, or sharper. Values are ordered by Low.
//
// It goes through the values before from the greatest Low down. The values after with at least that Low are then at hand, and
// stay so for those that follow; of the ones within the upper end it takes the greatest High, which fits the fewest others. That finds a
// full assignment where there is one: exchanging in any assignment the first taken value for this one leaves the others served.
func contains(before, after []gate.UnitValue) bool {
	highs := make([]float64, len(after)) // the upper ends, ascending
	for i, v := range after {
		highs[i] = v.High
	}
	slices.Sort(highs)
	highs = slices.Compact(highs)
	at := newHand(len(highs))
	next := len(after) - 1 // the next value to come to hand
	for i := len(before) - 1; i >= 0; i-- {
		v := before[i]
		for ; next >= 0 && after[next].Low >= v.Low; next-- {
			place, _ := slices.BinarySearch(highs, after[next].High)
			at.add(place, after[next].Count)
		}
		within := sort.Search(len(highs), func(j int) bool { return highs[j] > v.High })
		for left := v.Count; left > 0; {
			place, n := at.last(within)
			if n == 0 {
				return false
			}
			n = min(n, left)
			at.add(place, -n)
			left -= n
		}
	}
	return true
}

// hand is how many values are at hand at each place: a Fenwick tree, whose sums[i] is that of the counts before i that the lowest set
// bit of i spans.
type hand struct{ counts, sums []int }

func newHand(places int) *hand { return &hand{make([]int, places), make([]int, places+1)} }

// add adds n values, or takes them.
func (h *hand) add(place, n int) {
	h.counts[place] += n
	for i := place + 1; i < len(h.sums); i += i & -i {
		h.sums[i] += n
	}
}

// last returns the greatest place before end that has values at hand, and how many; 0 of them where none has.
func (h *hand) last(end int) (place, n int) {
	before := 0 // how many are at hand before end
	for i := end; i > 0; i -= i & -i {
		before += h.sums[i]
	}
	if before == 0 {
		return 0, 0
	}
	// The place with the before-th value: the last one of which fewer are before it.
	step := 1
	for 2*step < len(h.sums) {
		step *= 2
	}
	for ; step > 0; step /= 2 {
		if i := place + step; i < len(h.sums) && h.sums[i] < before {
			place, before = i, before-h.sums[i]
		}
	}
	return place, h.counts[place]
}
