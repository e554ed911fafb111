package interval

import "math"

// SignTest returns the two-sided p-value of the exact sign test for better changes one way and worse
// changes the other, unchanged cases left out: min(1, 2·min(P(X >= better), P(X >= worse))) with X ~ Bin(better +
// worse, ½). It is rounded up to 12 significant digits, 1 when nothing changed, 1e-300 where it is smaller than
// that, and NaN (which is below no threshold) when a count is negative or their sum exceeds 10¹².
func SignTest(better, worse int) float64 {
	return roundP(float64(2*signTail(max(better, worse), min(better, worse))), better, worse)
}

// SignTail returns the one-sided p-value P(X >= better), X ~ Bin(better + worse, ½), rounded as in
// SignTest. It rises with worse and falls with better.
func SignTail(better, worse int) float64 {
	return roundP(signTail(better, worse), better, worse)
}

// signTail returns P(Bin(better+worse, ½) >= better), unrounded.
func signTail(better, worse int) float64 {
	if !validSigns(better, worse) {
		return math.NaN()
	}
	if better >= worse {
		return halfTail(better, better+worse)
	}
	return 1 - halfTail(worse+1, better+worse)
}

func validSigns(better, worse int) bool {
	return better >= 0 && worse >= 0 && better <= maxCount && worse <= maxCount-better
}

// roundP rounds up, with a guard where the tail was not computed exactly.
func roundP(p float64, better, worse int) float64 {
	switch {
	case !validSigns(better, worse):
		return math.NaN()
	case p < 1e-300:
		return 1e-300
	case better+worse > 53:
		p += float64(p * digitsGuard)
	}
	if p >= 1 {
		return 1
	}
	return significant(p, pDigits, true)
}
