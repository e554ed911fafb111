package interval

import (
	"math"
	"math/big"
	"strconv"
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
