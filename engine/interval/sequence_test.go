package interval

import (
	"fmt"
	"math"
	"testing"
)

// confidencesNearOne runs from one half to 1 − 1e-15, as near to 1 as the errors are told apart: nine steps for each digit 9.
func confidencesNearOne() []float64 {
	list := []float64{0.5}
	for digits := 1; digits <= 15; digits++ {
		for first := 9; first >= 1; first-- {
			if a := float64(first) * math.Pow(10, -float64(digits)); a < 0.5 {
				list = append(list, 1-a)
			}
		}
	}
	return list
}

// TestSequenceNearOne: more confidence never narrows a rate's sequence, however near to 1, and the ends stay where the first-order
// term alone puts them: E(m) >= mean/((n+1)·m), so that the lower end is at or above a·mean/(n+1). At k = 1 of 40 that is about all
// of E, and the lower end is 1/40 · a/41 (a = 5e-14 gives 3.0488e-17).
func TestSequenceNearOne(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 40, 1000, 100_000} {
		for _, k := range []int{0, 1, 2, n / 2, n - 1, n} {
			if k < 0 || k > n {
				continue
			}
			before := Interval{Lower: 1}
			for i, confidence := range confidencesNearOne() {
				iv, err := RateSequence(k, 0, n, confidence)
				if err != nil {
					t.Fatal(err)
				}
				if i > 0 && (iv.Lower > before.Lower || iv.Upper < before.Upper) {
					t.Errorf("%d of %d at 1 − %.3g: %v to %v, narrower than %v to %v at less confidence", k, n, 1-confidence, iv.Lower, iv.Upper, before.Lower, before.Upper)
				}
				a := (1 - confidence) / 2
				if least := a * float64(k) / float64(n) / float64(n+1); iv.Lower < least*(1-1e-9) || k > 0 && iv.Lower == 0 {
					t.Errorf("%d of %d at 1 − %.3g: the lower end is %v, below the first-order bound %v", k, n, 1-confidence, iv.Lower, least)
				}
				before = iv
			}
		}
	}
	iv, err := RateSequence(1, 0, 40, 1-1e-13)
	if err != nil || fmt.Sprintf("%.3g", iv.Lower) != "3.05e-17" {
		t.Errorf("1 of 40 at 1 − 1e-13: %v (%v), want 3.05e-17", iv.Lower, err)
	}
}
