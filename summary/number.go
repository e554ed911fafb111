package summary

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/report"
)

// Decimals printed of a measured number: at least minPlaces, more where fewer would print an end on
// another side of its threshold. Beyond maxPlaces the number is printed in full.
const (
	minPlaces = 3
	maxPlaces = 12
)

// largest is where plain decimals give way to exponents, so that a column stays readable.
const largest = 1e9

// rounding says which way a printed number may differ from the exact one.
type rounding int

const (
	nearest rounding = iota // halves away from zero
	down                    // toward -Inf: for a lower end
	up                      // toward +Inf: for an upper end
)

// Numbers is one measure's numbers as printed. A number that does not exist, or a side that is not
// bounded, is the empty text.
type Numbers struct{ Estimate, Lower, Upper string }

// Show prints a measure's numbers, all three with the same decimals. The ends of the interval are rounded
// outward, so that a printed end never claims more than the report. Where threshold is not nil, enough
// decimals are shown that each printed number stands to the threshold as the exact one does: below, at or
// above. Quantities that can be negative carry their sign.
func Show(m *report.Measure, threshold *float64) Numbers {
	values := [3]*float64{m.Estimate, nil, nil}
	if m.Interval != nil {
		values[1], values[2] = m.Interval.Lower, m.Interval.Upper
	}
	ways := [3]rounding{nearest, down, up}
	signed := m.Scale != nil && m.Scale.Lower < 0
	var texts [3]string
	for places := minPlaces; places <= maxPlaces+1; places++ {
		faithful := true
		for i, x := range values {
			if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
				continue
			}
			texts[i] = printNumber(*x, places, ways[i], signed)
			if threshold != nil && !sameSide(texts[i], *x, *threshold) {
				faithful = false
			}
		}
		if faithful {
			break
		}
	}
	return Numbers{Estimate: texts[0], Lower: texts[1], Upper: texts[2]}
}

// Range prints the interval's two ends as "lower … upper", or in words where a side is not bounded.
func (n Numbers) Range() string {
	switch {
	case n.Lower != "" && n.Upper != "":
		return n.Lower + " … " + n.Upper
	case n.Lower != "":
		return "at least " + n.Lower
	case n.Upper != "":
		return "at most " + n.Upper
	}
	return ""
}

// printNumber prints finite x with the given decimals, starting from the shortest decimal that reads back
// as x: the number that the JSON report shows. Above maxPlaces it prints that decimal itself.
func printNumber(x float64, places int, way rounding, signed bool) string {
	if places > maxPlaces {
		s := exactNumber(x)
		if signed && x > 0 {
			s = "+" + s
		}
		return s
	}
	exponent := ""
	text := strconv.FormatFloat(x, 'f', -1, 64)
	if math.Abs(x) >= largest {
		text, exponent, _ = strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	}
	digits := roundDecimal(text, places, way)
	if exponent != "" && len(strings.TrimLeft(digits, "-")) > places+len("1.") { // rounding carried 9.999… to 10
		power, _ := strconv.Atoi(exponent) // written by FormatFloat
		digits, exponent = roundDecimal(strings.Replace(digits, "10.", "1.0", 1), places, way), "+"+strconv.Itoa(power+1)
	}
	if signed && !strings.HasPrefix(digits, "-") && strings.Trim(digits, "0.") != "" {
		digits = "+" + digits
	}
	if exponent != "" {
		digits += "e" + exponent
	}
	return digits
}

// roundDecimal rounds a plain decimal ("-12.345") to a number of decimals, exactly: on its digits, not on
// a binary fraction near it. The result never is a negative zero.
func roundDecimal(text string, places int, way rounding) string {
	whole, fraction, _ := strings.Cut(text, ".")
	negative := strings.HasPrefix(whole, "-")
	cut := len(fraction) - places // digits to round away
	if cut < 0 {
		fraction += strings.Repeat("0", -cut)
		cut = 0
	}
	n, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return text // not a decimal: left as it is
	}
	n.Abs(n)
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(cut)), nil)
	rest := new(big.Int)
	n.QuoRem(n, unit, rest)
	away := way == up && !negative || way == down && negative // from zero
	if way == nearest {
		away = rest.Lsh(rest, 1).Cmp(unit) >= 0
	}
	if away && rest.Sign() != 0 {
		n.Add(n, big.NewInt(1))
	}
	s := n.String()
	if pad := places + 1 - len(s); pad > 0 {
		s = strings.Repeat("0", pad) + s
	}
	if places > 0 {
		s = s[:len(s)-places] + "." + s[len(s)-places:]
	}
	if negative && n.Sign() != 0 {
		s = "-" + s
	}
	return s
}

// sameSide reports whether the printed number stands to t as x does.
func sameSide(printed string, x, t float64) bool {
	p, ok := new(big.Rat).SetString(printed)
	if !ok || math.IsNaN(t) || math.IsInf(t, 0) {
		return true
	}
	exact, bound := decimal(x), decimal(t)
	return p.Cmp(bound) == exact.Cmp(bound)
}

// decimal is the value of the shortest decimal that reads back as finite x.
func decimal(x float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64)) // a finite number's text always parses
	return r
}

// exactNumber prints x in full: a threshold as its policy gives it, an axis end. It prints no negative zero.
func exactNumber(x float64) string {
	if x == 0 {
		return "0"
	}
	if s := strconv.FormatFloat(x, 'f', -1, 64); len(s) <= maxPlaces+4 {
		return s
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// percentPlaces are the decimals of a percentage that never ends, as that of an error divided by three.
const percentPlaces = 2

// percent prints the share x of one as a percentage: 0.95 is "95 %". One with more than six decimals, but for what
// computing with floats adds, is rounded to two in the given way; so is one that is nearly, and not, 0 or all.
func percent(x *big.Rat, way rounding) string {
	p := new(big.Rat).Mul(x, big.NewRat(100, 1))
	s := p.FloatString(6)
	short, _ := new(big.Rat).SetString(s) // written by FloatString
	all := big.NewRat(100, 1)
	certain := short.Sign() == 0 && p.Sign() != 0 || short.Cmp(all) == 0 && p.Cmp(all) != 0 // and is not
	if off := new(big.Rat).Sub(short, p); certain || off.Abs(off).Cmp(big.NewRat(1, 1e12)) > 0 {
		s = roundDecimal(p.FloatString(15), percentPlaces, way)
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".") + " %"
}

// level prints a confidence as a percentage, never as more than it is; "" for one that is not a share.
func level(confidence float64) string {
	if !(confidence > 0 && confidence < 1) {
		return ""
	}
	return percent(decimal(confidence), down)
}

// sideError prints the error allowed on each side at a confidence, never as less than it is: 0.95 gives "2.5 %".
func sideError(confidence float64) string {
	e := new(big.Rat).Sub(big.NewRat(1, 1), decimal(confidence))
	return percent(e.Quo(e, big.NewRat(2, 1)), up)
}

// whole prints a count, its thousands set apart.
func whole(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
