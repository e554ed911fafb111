package interval

import (
	"testing"

	"pgregory.net/rapid"
)

// TestRateDifferenceSubtractsEnds: by hand, ends subtracted crosswise; a third of 1e-10 goes outward.
func TestRateDifferenceSubtractsEnds(t *testing.T) {
	p := Interval{0.6, 0.9, 0.975, MethodClopperPearson, LooksOne}
	q := Interval{0.2, 0.7, 0.975, MethodClopperPearson, LooksOne}
	if got, want := RateDifference(p, q, 0.95), (Interval{-0.1, 0.7, 0.95, MethodClopperPearson, LooksOne}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	q.Upper, q.Lower = 0.70000000003, 0.19999999997
	if got := RateDifference(p, q, 0.95); got.Lower != -0.1000000001 || got.Upper != 0.7000000001 {
		t.Errorf("rounded to %v, %v; want outward to -0.1000000001, 0.7000000001", got.Lower, got.Upper)
	}
}

// TestRateDifferenceMirrors: swapping the two turns the sign, to the last bit, and the difference of the truths is inside.
func TestRateDifferenceMirrors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := func(name string) Interval {
			n := rapid.IntRange(0, 200).Draw(t, name+" n")
			k := rapid.IntRange(0, n).Draw(t, name+" k")
			iv, err := ClopperPearson(k, 0, n, 0.975)
			if err != nil {
				t.Fatal(err)
			}
			return iv
		}
		p, q := one("p"), one("q")
		forth, back := RateDifference(p, q, 0.95), RateDifference(q, p, 0.95)
		if forth.Lower != -back.Upper || forth.Upper != -back.Lower {
			t.Fatalf("%v and %v are no mirror images", forth, back)
		}
		if forth.Lower < -1 || forth.Upper > 1 || forth.Lower > p.Lower-q.Upper+1e-15 || forth.Upper < p.Upper-q.Lower-1e-15 { // the subtraction here rounds
			t.Fatalf("%v does not hold %v − %v", forth, p, q)
		}
	})
}
