package interval

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// Bounds are rounded outward, so that what is printed is what is compared and still covers the truth:
// means and differences to multiples of 1e-10, rates to 10 significant digits, p-values up to 12.
//
// Before rounding, each bound is moved outward by a guard, so that a printed bound is never inside the true one
// through numerical error, and a bound whose exact value lies on a step, such as 1/40, does not
// depend on the last bit. The guard is far above the error of every method: accuracy_test.go finds bounds within 1e-14
// of 50-digit values, and the two routes of each method within 1e-12 in the logarithm that the bound is solved from, up
// to n = 2000. Ends of the scale are exact and stay so.
const (
	meanSteps   = 1e10  // steps in 1
	meanGuard   = 2e-12 // of the width of the scale
	rateDigits  = 10
	pDigits     = 12
	digitsGuard = 2e-12 // relative
)

// meanLower rounds the lower end of a mean down to a multiple of 1e-10, never below the scale.
func meanLower(x float64, scale Scale) float64 {
	if !(x > scale.Lower) { // NaN included: the end of the scale is always valid
		return scale.Lower
	}
	guard := float64(meanGuard * (scale.Upper - scale.Lower))
	return math.Max(scale.Lower, math.Floor(float64((x-guard)*meanSteps))/meanSteps)
}

// meanUpper mirrors meanLower: meanUpper(x, [l, u]) = −meanLower(−x, [−u, −l]) to the last bit.
func meanUpper(x float64, scale Scale) float64 {
	return -meanLower(-x, Scale{-scale.Upper, -scale.Lower})
}

// rateLower rounds the lower end of a rate down to 10 significant digits. An end of 0 is exact; one computed
// as 1 never is, and is rounded down like any other.
func rateLower(p float64) float64 {
	if !(p > 0) {
		return 0
	}
	return significant(p-float64(p*digitsGuard), rateDigits, false)
}

// rateUpper rounds the upper end of a rate, which is positive, up to 10 significant digits, never above 1.
func rateUpper(p float64) float64 {
	if !(p < 1) {
		return 1
	}
	return math.Min(1, significant(p+float64(p*digitsGuard), rateDigits, true))
}

// significant rounds a positive x to the given number of significant decimal digits, up or down. The result
// is the float64 nearest to that decimal, which prints as the decimal.
func significant(x float64, digits int, up bool) float64 {
	// 17 digits after the point show x to well below the guard: "d.ddddddddddddddddde-xx".
	text := strconv.FormatFloat(x, 'e', 17, 64)
	kept, rest, exponent := text[:digits+1], text[digits+1:19], text[20:]
	mantissa, _ := strconv.ParseInt(kept[:1]+kept[2:], 10, 64) // digits only: cannot fail
	if up && !allZero(rest) {
		mantissa++
	}
	e, _ := strconv.Atoi(exponent)
	return decimal(mantissa, e-digits+1)
}

func allZero(s string) bool {
	for i := range len(s) {
		if s[i] != '0' {
			return false
		}
	}
	return true
}

// decimal returns the float64 nearest to mantissa·10^exponent.
func decimal(mantissa int64, exponent int) float64 {
	x, _ := strconv.ParseFloat(strconv.FormatInt(mantissa, 10)+"e"+strconv.Itoa(exponent), 64)
	return x
}

// ratio rounds the exact fraction m/n, 0 <= m <= n, to 10 significant digits, up or down. A fraction
// that has no more digits, such as 3/10, is returned unchanged.
func ratio(m, n int, up bool) float64 {
	if m == 0 {
		return 0
	}
	// The least number of decimals at which the quotient has 10 digits or more.
	decimals := 0
	quotient, remainder := new(big.Int), new(big.Int)
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(rateDigits-1), nil)
	scaled := big.NewInt(int64(m))
	for {
		quotient.QuoRem(scaled, big.NewInt(int64(n)), remainder)
		if quotient.Cmp(limit) >= 0 {
			break
		}
		scaled.Mul(scaled, big.NewInt(10))
		decimals++
	}
	if up && remainder.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return decimal(quotient.Int64(), -decimals)
}

// A stepped number is a decimal of [0, 1] in steps of 1e-10: the whole steps, and the digits of what is left.
type stepped struct {
	whole int64
	rest  string // without trailing zeros, so that rests compare as texts do
}

// inSteps takes a number of [0, 1] as the decimal it is printed as, its shortest one.
func inSteps(x float64) stepped {
	whole, decimals, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	const places = 10 // meanSteps has as many zeros
	kept := min(len(decimals), places)
	steps, _ := strconv.ParseInt(whole+decimals[:kept]+strings.Repeat("0", places-kept), 10, 64) // at most 11 digits
	return stepped{steps, decimals[kept:]}
}

// lessDown and lessUp are the exact x − y in whole steps, rounded down and up.
func (x stepped) lessDown(y stepped) int64 {
	if x.rest < y.rest {
		return x.whole - y.whole - 1
	}
	return x.whole - y.whole
}

func (x stepped) lessUp(y stepped) int64 {
	return -y.lessDown(x)
}

// digits17 returns a positive number as the decimal it is printed as, its shortest one, with zeros behind it up to 17
// digits: x = mantissa·10^exponent, the mantissa from 10¹⁶ to 10¹⁷ − 1.
func digits17(x float64) (mantissa uint64, exponent int) {
	text, power, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e") // "d.ddd" and "-xx"
	kept := text[:1]
	if len(text) > 2 {
		kept += text[2:]
	}
	mantissa, _ = strconv.ParseUint(kept+strings.Repeat("0", 17-len(kept)), 10, 64) // 17 digits
	e, _ := strconv.Atoi(power)
	return mantissa, e - 16
}

const (
	tenTo9  = 1_000_000_000
	tenTo10 = 10 * tenTo9
	tenTo16 = 1_000_000 * tenTo10
)

// quotient rounds the exact x/y of two decimals as they are printed to 10 significant digits, up or down: 0 where x
// is 0, infinite where y alone is. What is negative or no finite number gives 0 down and infinity up.
func quotient(x, y float64, up bool) float64 {
	switch {
	case !isAmount(x) || !isAmount(y):
		if up {
			return math.Inf(1)
		}
		return 0
	case x == 0:
		return 0
	case y == 0:
		return math.Inf(1)
	}
	mx, ex := digits17(x)
	my, ey := digits17(y)
	// Both mantissas have 17 digits, so that mx/my lies between 1/10 and 10 and the scaled one has 10 digits.
	scale, places := uint64(tenTo9), 9
	if mx < my {
		scale, places = tenTo10, 10
	}
	high, low := bits.Mul64(mx, scale)
	whole, rest := bits.Div64(high, low, my)
	if up && rest > 0 {
		whole++
	}
	return decimal(int64(whole), ex-ey-places)
}

// isAmount says whether x is a finite number that is not negative.
func isAmount(x float64) bool { return x >= 0 && x <= math.MaxFloat64 }

// AtLeastTimes says whether x >= t·y, exactly, for the decimals that the three numbers are printed as. It is false where
// one of them is negative or no finite number. With lo and hi the ends of two groups' rates, the ratio lo_i/hi_j is at least t where
// AtLeastTimes(lo_i, t, hi_j), and hi_i/lo_j is below t where not AtLeastTimes(hi_i, t, lo_j); 0/0 needs no convention.
func AtLeastTimes(x, t, y float64) bool {
	switch {
	case !isAmount(x) || !isAmount(t) || !isAmount(y):
		return false
	case t == 0 || y == 0:
		return true
	case x == 0:
		return false
	}
	mx, ex := digits17(x)
	mt, et := digits17(t)
	my, ey := digits17(y)
	// The product has 33 or 34 digits; x gets as many.
	high, low := bits.Mul64(mt, my)
	scale, places := uint64(tenTo16), 16
	if leastHigh, leastLow := bits.Mul64(tenTo16*10, tenTo16); high > leastHigh || high == leastHigh && low >= leastLow {
		scale, places = tenTo16*10, 17
	}
	if ex-places != et+ey {
		return ex-places > et+ey
	}
	xHigh, xLow := bits.Mul64(mx, scale)
	return xHigh > high || xHigh == high && xLow >= low
}
