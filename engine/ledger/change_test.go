package ledger

import (
	"math/rand/v2"
	"testing"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// fits tries every way to give each of the brackets before one after of its own that lies in it.
func fits(before, after [][2]float64, taken []bool) bool {
	if len(before) == 0 {
		return true
	}
	for i, a := range after {
		if !taken[i] && before[0][0] <= a[0] && a[1] <= before[0][1] {
			taken[i] = true
			if fits(before[1:], after, taken) {
				return true
			}
			taken[i] = false
		}
	}
	return false
}

// part makes a part of brackets.
func part(decisions int, brackets ...[2]float64) gate.Part {
	var low, high []float64
	for _, b := range brackets {
		low, high = append(low, b[0]), append(high, b[1])
	}
	return gate.NewPart("", low, high, decisions)
}

// TestContains holds the quick search to trying every assignment, on brackets with few different ends so that many compete.
func TestContains(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	brackets := func(n int) [][2]float64 {
		list := make([][2]float64, n)
		for i := range list {
			a, b := random.IntN(5), random.IntN(5)
			list[i] = [2]float64{float64(min(a, b)), float64(max(a, b))}
		}
		return list
	}
	count := map[bool]int{}
	for range 20_000 {
		before, after := brackets(random.IntN(6)), brackets(random.IntN(7))
		want := fits(before, after, make([]bool, len(after)))
		if got := contains(part(0, before...).Values, part(0, after...).Values); got != want {
			t.Fatalf("%v in %v: %v, want %v", before, after, got, want)
		}
		count[want]++
	}
	if count[true] < 1000 || count[false] < 1000 { // of this seed; else the draw tells nothing
		t.Errorf("%v", count)
	}
}

// TestGrown goes through what can become of a part. Brackets are {value, value} where all is recorded.
func TestGrown(t *testing.T) {
	half, zero, one, open := [2]float64{0.5, 0.5}, [2]float64{0, 0}, [2]float64{1, 1}, [2]float64{0, 1}
	for _, c := range []struct {
		name          string
		before, after gate.Part
		want          growth
		change        report.LookChange
	}{
		{"nothing", part(0), part(0), same, report.LookNone},
		{"the same", part(2, zero, open), part(2, open, zero), same, report.LookNone},
		{"the first units", part(0), part(1, one), added, report.LookUnitsAdded},
		{"one more", part(2, zero, one), part(3, zero, one, one), added, report.LookUnitsAdded},
		{"one more that is missing", part(2, zero, one), part(2, zero, one, open), added, report.LookUnitsAdded},
		{"one more, and one sharper", part(1, zero, open), part(3, zero, half, one), added, report.LookUnitsAdded},
		{"a missing one recorded", part(1, zero, open), part(2, zero, half), recorded, report.LookRecorded},
		{"more recorded, and no value changed", part(2, zero, one), part(9, zero, one), recorded, report.LookRecorded},
		{"more decisions", part(2, zero, one), part(4, half, one), deepened, report.LookMoreDecisions},
		{"both at once", part(2, zero, one), part(5, half, one, one), both, report.LookBroken},
		{"one taken out", part(2, zero, one), part(1, zero), removed, report.LookBroken},
		{"all taken out", part(2, zero, one), part(0), removed, report.LookBroken},
		{"one put in another's place", part(2, zero, one), part(2, one, one), rewritten, report.LookBroken},
		{"one put in another's place, and one more", part(2, zero, zero), part(3, one, one, zero), both, report.LookBroken},
		{"what was recorded is missing", part(2, zero, one), part(1, zero, open), rewritten, report.LookBroken},
		{"the same values with less recorded", part(4, zero, one), part(2, zero, one), rewritten, report.LookBroken},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := grown(c.before, c.after)
			if got != c.want || got.change() != c.change {
				t.Errorf("%d (%s), want %d (%s)", got, got.change(), c.want, c.change)
			}
		})
	}
}

// TestBreaks: how data may grow under each kind of interval for many looks.
func TestBreaks(t *testing.T) {
	for may, holds := range map[gate.Growth]map[growth]bool{
		gate.GrowsUnits:     {same: true, recorded: true, added: true},
		gate.GrowsDecisions: {same: true, recorded: true, deepened: true},
		gate.GrowsEither:    {same: true, recorded: true, added: true, deepened: true},
	} {
		for g := same; g <= both; g++ {
			if why := g.breaks(may); (why == "") != holds[g] {
				t.Errorf("%s, growth %d: %q", may, g, why)
			}
		}
	}
}
