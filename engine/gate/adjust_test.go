package gate

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// textbook is Holm's procedure on p-values, each as a share of its own level: the rules that it rejects, by place. The
// smallest is rejected where it is at most 1/m, the next where it is at most 1/(m−1), and so on to the first that is not.
// p is written 1/d.
func textbook(d []float64, m int) map[int]bool {
	order := make([]int, len(d))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case d[a] > d[b]:
			return -1
		case d[a] < d[b]:
			return 1
		}
		return a - b
	})
	rejected := map[int]bool{}
	for step, i := range order {
		if 1/d[i] > 1/float64(m-step) {
			break
		}
		rejected[i] = true
	}
	return rejected
}

// TestHolm: the rules that are FAIL with at least as many parts as Holm returns are those of the textbook's procedure.
func TestHolm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 12).Draw(t, "rules")
		n := rapid.IntRange(0, m).Draw(t, "rules that may FAIL")
		p := make([]float64, n) // as 1/p
		deepest := make([]int, n)
		for i := range p {
			p[i] = float64(rapid.IntRange(4, 60).Draw(t, "1/p in quarters")) / 4 // at least 1: a FAIL by itself
			deepest[i] = min(m, int(p[i]))
		}
		want := textbook(p, m)
		parts := Holm(m, deepest)
		for i := range p {
			if got := deepest[i] >= parts; got != want[i] {
				t.Fatalf("%d rules, 1/p %v: rule %d rejected %t, want %t (parts %d)", m, p, i, got, want[i], parts)
			}
		}
	})
}

// TestHolmByHand: five rules. One that FAILs with a fifth of its error and one that does with a fourth stay; the third would
// have to with a third.
func TestHolmByHand(t *testing.T) {
	for _, c := range []struct {
		rules   int
		deepest []int
		want    int
	}{
		{5, nil, 5}, {5, []int{4, 4}, 5}, {5, []int{2, 5, 4, 1}, 3}, {5, []int{1, 2, 3, 4, 5}, 1}, {1, []int{1}, 1}, {2, []int{1, 1}, 2}, {2, []int{1, 2}, 1},
	} {
		if got := Holm(c.rules, c.deepest); got != c.want {
			t.Errorf("%d rules, %v: %d, want %d", c.rules, c.deepest, got, c.want)
		}
	}
}

// TestDeepest: the search finds the last number of parts that holds, in few steps, and carries an error on.
func TestDeepest(t *testing.T) {
	for most := 1; most <= 40; most++ {
		for last := 0; last <= most; last++ {
			asked := 0
			got, err := Deepest(most, func(parts int) (bool, error) {
				if asked++; parts < 1 || parts > most {
					t.Fatalf("asked about %d parts of at most %d", parts, most)
				}
				return parts <= last, nil
			})
			if err != nil || got != last || asked > 7 { // 1 + log₂ 40
				t.Errorf("most %d, last %d: %d, %v after %d", most, last, got, err, asked)
			}
		}
	}
	broken := errors.New("broken")
	if _, err := Deepest(3, func(int) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
