package ledger

import (
	"slices"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
)

// rate is a rule on a rate that may be looked at many times: n cases, of which k are 1.
func rate(id, question string, k, n int) Rule {
	r := means(gate.CountPart("", k, 0, n))
	r.ID, r.Question, r.Grows = id, question, gate.GrowsUnits
	return r
}

// onLines writes a ledger whose looks follow on the given lines each, from 0; the first on none.
func onLines(t *testing.T, looks []Rule, above ...[]int) *Ledger {
	t.Helper()
	var lines []string
	for i, r := range looks {
		side := &Ledger{}
		for _, line := range above[i] {
			side.heads = append(side.heads, digestOf([]byte(lines[line])))
		}
		lines = append(lines, strings.TrimSuffix(side.mustAppend(t, "2027-03-01", r), "\n"))
	}
	l, problems := read(strings.Join(lines, "\n") + "\n")
	if problems != nil {
		t.Fatal(problems)
	}
	return l
}

// TestMergedOrder: two copies of a ledger that each looked at a growing file are in order, whichever side's lines come first. The
// lines of one side keep their order: there a look at fewer units did take some out.
func TestMergedOrder(t *testing.T) {
	of := func(k, n int) Rule { return rate("a", thisQuestion, k, n) }
	for _, c := range []struct {
		name  string
		looks []Rule
		above [][]int
		order []int // of the lines
		doubt string
	}{
		{"one side after the other", []Rule{of(1, 10), of(2, 20), of(4, 40), of(3, 30), of(5, 50)}, [][]int{nil, {0}, {1}, {0}, {2, 3}}, []int{0, 1, 3, 2, 4}, ""},
		{"the other one first", []Rule{of(1, 10), of(3, 30), of(2, 20), of(4, 40), of(5, 50)}, [][]int{nil, {0}, {0}, {2}, {1, 3}}, []int{0, 2, 1, 3, 4}, ""},
		{"three sides", []Rule{of(1, 10), of(4, 40), of(3, 30), of(2, 20), of(5, 50)}, [][]int{nil, {0}, {0}, {0}, {1, 2, 3}}, []int{0, 3, 2, 1, 4}, ""},
		{"taken out on one side", []Rule{of(1, 10), of(4, 40), of(3, 30), of(2, 20), of(5, 50)}, [][]int{nil, {0}, {1}, {0}, {2, 3}}, []int{0, 3, 1, 2, 4}, "there are fewer units than before"},
		{"one line after the other", []Rule{of(1, 10), of(4, 40), of(3, 30)}, [][]int{nil, {0}, {1}}, []int{0, 1, 2}, "there are fewer units than before"},
		{"sides at other data", []Rule{of(1, 10), of(2, 20), of(9, 30), of(21, 50)}, [][]int{nil, {0}, {0}, {1, 2}}, []int{0, 1, 2, 3}, ""},
		{"sides at data that do not hold one another", []Rule{of(1, 10), of(11, 20), of(2, 30), of(21, 50)}, [][]int{nil, {0}, {0}, {1, 2}}, []int{0, 1, 2, 3},
			"of line 2 and line 3, one of each, neither has all that the other looked at"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := onLines(t, c.looks, c.above...)
			last := c.looks[len(c.looks)-1]
			var order []int
			for _, p := range l.looksAt(&last) {
				order = append(order, p.line)
			}
			if !slices.Equal(order, c.order) {
				t.Errorf("the lines are gone through as %v, want %v", order, c.order)
			}
			seen := l.Standings()
			got := seen[len(seen)-1].Standings[0]
			if !strings.Contains(got.Doubt, c.doubt) || (c.doubt == "") != (got.Doubt == "") {
				t.Errorf("doubt %q, want %q", got.Doubt, c.doubt)
			}
			for i, s := range seen[:len(seen)-1] { // no run knew of the other side
				if c.doubt == "" && s.Standings[0].Doubt != "" {
					t.Errorf("line %d: %s", i+1, s.Standings[0].Doubt)
				}
			}
		})
	}
}

// TestSameRows: what one rule sees of rows that were there casts doubt on each that reads the same ones, had looked before, and is
// for many looks; and on none that had not, or reads others.
func TestSameRows(t *testing.T) {
	const q1, q2, q3 = thisQuestion, otherQuestion, "3333333333333333333333333333333333333333333333333333333333333333"
	kept := func(k, n int) Rule { return rate("kept", q1, k, n) }
	sees := func(k, n int) Rule { return rate("sees", q2, k, n) }
	in := func(section int, r Rule) Rule { r.Section = section; return r }
	people := func(id, question string, decisions int, values ...float64) Rule {
		r := means(gate.NewPart("", values, values, decisions))
		r.ID, r.Question = id, question
		return r
	}
	one := func(r Rule) Rule { r.Looks, r.Method = interval.LooksOne, interval.MethodClopperPearson; return r }
	for _, c := range []struct {
		name     string
		looks    [][]Rule // the present one last
		at       int      // at which look of "kept" it is broken; 0 for not
		contains string
	}{
		{"nothing is seen", [][]Rule{{kept(1, 10), sees(2, 10)}, {kept(2, 20), sees(4, 20)}}, 0, ""},
		{"a value is gone", [][]Rule{{kept(1, 10), sees(9, 10)}, {kept(2, 20), sees(8, 20)}}, 2, `At look 2 rule "sees", which reads the same rows, saw that units were added, and values that were there are gone`},
		{"the rule that sees it is for one look", [][]Rule{{kept(1, 10), one(sees(9, 10))}, {kept(2, 20), one(sees(8, 20))}}, 2, `rule "sees", which reads the same rows`},
		{"units are gone", [][]Rule{{kept(1, 10), sees(9, 10)}, {kept(2, 20), sees(9, 9)}}, 2, "saw that there are fewer units than before"},
		{"it stays so", [][]Rule{{kept(1, 10), sees(9, 10)}, {kept(2, 20), sees(8, 20)}, {kept(3, 30), sees(9, 30)}}, 2, "At look 2 rule"},
		{"and without the rule that saw it", [][]Rule{{kept(1, 10), sees(9, 10)}, {kept(2, 20), sees(8, 20)}, {kept(3, 30)}}, 2, "At look 2 rule"},
		{"it was so before the first look", [][]Rule{{sees(9, 10)}, {kept(1, 20), sees(8, 20)}, {kept(2, 30), sees(9, 30)}}, 0, ""},
		{"of other rows", [][]Rule{{kept(1, 10), in(1, sees(9, 10))}, {kept(2, 20), in(1, sees(8, 20))}}, 0, ""},
		{"in another run", [][]Rule{{kept(1, 10)}, {sees(9, 10)}, {sees(8, 20)}, {kept(2, 20)}}, 0, ""},
		{"a rule of one look is not doubted", [][]Rule{{one(kept(1, 10)), sees(9, 10)}, {one(kept(2, 20)), sees(8, 20)}}, 0, ""},
		{"people who decide more while others come in show nothing of rows", [][]Rule{{kept(1, 10), people("sees", q3, 10, 0.2, 0.4)}, {kept(2, 20), people("sees", q3, 20, 0.3, 0.4, 0.5)}}, 0, ""},
		{"people who are gone do", [][]Rule{{kept(1, 10), people("sees", q3, 10, 0.2, 0.4)}, {kept(2, 20), people("sees", q3, 20, 0.2)}}, 2, "fewer units"},
		{"so do people who decide otherwise", [][]Rule{{kept(1, 10), people("sees", q3, 10, 0.2, 0.4)}, {kept(2, 20), people("sees", q3, 10, 0.2, 0.6)}}, 2, "values that were there are gone, and no more was recorded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &Ledger{}
			last := len(c.looks) - 1
			for _, rules := range c.looks[:last] {
				l.Looks = append(l.Looks, Look{Rules: rules})
			}
			got := l.Hold(c.looks[last])[0]
			if got.BrokenAt != c.at || !strings.Contains(got.Doubt, c.contains) || (c.at == 0) != (got.Doubt == "") {
				t.Errorf("broken at %d, %q; want %d, %q", got.BrokenAt, got.Doubt, c.at, c.contains)
			}
		})
	}
}

// TestMovedWords: what was settled anew is told with both values, and which way it went.
func TestMovedWords(t *testing.T) {
	a, b := part(1, [2]float64{1, 1}), part(2, [2]float64{1, 1}, [2]float64{0, 0})
	for _, c := range []struct {
		rules []Rule
		want  string
	}{
		{[]Rule{to(means(a), "maximum 0.15"), to(means(b), "maximum 0.2")}, `Rule "a": its threshold was maximum 0.15 when the data were first looked at, and is maximum 0.2 now, which is easier to pass. Whoever settles that`},
		{[]Rule{to(means(a), "max_group_gap 0.15"), to(means(b), "max_group_gap 0.1")}, "is max_group_gap 0.1 now. Whoever"},
		{[]Rule{to(means(a), "worst_group minimum 0.8"), to(means(b), "worst_group minimum 0.75")}, "now, which is easier to pass."},
		{[]Rule{to(means(a), "worst_group maximum 0.8"), to(means(b), "worst_group maximum 0.75")}, "0.75 now. Whoever"},
		{[]Rule{to(means(a), "min_group_ratio 0.8"), to(means(a), "min_group_ratio 0.7"), to(means(b), "min_group_ratio 0.6")}, "its threshold was min_group_ratio 0.8 when the data were first looked at, and is min_group_ratio 0.6 now, moved 2 times, which is easier to pass"},
		{[]Rule{at(means(a), 0.025), at(means(a), 0.25)}, `Rule "a": a verdict may be wrong 25 % of the time, and 2.5 % when the data were looked at before: the confidence was lowered`},
	} {
		last := len(c.rules) - 1
		got := looks(c.rules[:last]...).holdOne(c.rules[last])
		if len(got.Findings) == 0 || got.Findings[0].Code != CodeMoved || !strings.Contains(got.Findings[0].Message, c.want) {
			t.Errorf("%+v, want %s", got.Findings, c.want)
		}
	}
}

// TestPercent: a share is never shown as less. 0.05/6 is 0.8333… %.
func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0.025: "2.5 %", 0.05: "5 %", 1: "100 %", 0.05 / 6: "0.84 %", 1e-9: "0.01 %", 0.00125: "0.125 %", 0: "0 %"} {
		if got := Percent(share); got != want {
			t.Errorf("%v is shown as %s, want %s", share, got, want)
		}
	}
}
