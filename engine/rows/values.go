package rows

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oloproof/oloproof/engine/diag"
)

// Binary reads a binary value: 0 or 0.0 or false, 1 or 1.0 or true, in any letter case. text is trimmed.
// The error says what was found and what is allowed.
func Binary(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "0", "0.0", "false":
		return false, nil
	case "1", "1.0", "true":
		return true, nil
	}
	return false, fmt.Errorf("found %s: 0 or 1 is allowed, also written 0.0 or 1.0, false or true", diag.Quote(text))
}

// Places is how many decimal places a Decimal has.
const Places = 18

// maxMagnitude is the power of ten below which a Decimal's absolute value lies. The sum or difference of
// two still fits in 128 bits.
const maxMagnitude = 19

// Decimal is an exact number with 18 decimal places and an absolute value below 10^19: an integer
// count of 10^-18, in two's complement of 128 bits. The zero value is 0. Decimals compare with == and
// with Cmp.
type Decimal struct {
	hi int64
	lo uint64
}

// decimalComma is a number as it is written where the comma is the decimal sign.
var decimalComma = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?$`) })

// ParseDecimal reads a decimal number: an optional sign, digits with at most one point among or around
// them, and an optional exponent of ten (0.25, -3, .5, 1e-3). text is trimmed. Beyond 18 places it is
// rounded, half to even; rounded says that this changed the value. The error says what was found and
// what is allowed.
func ParseDecimal(text string) (d Decimal, rounded bool, err error) {
	d, cut, _, err := parseDecimal(text)
	return d, cut, err
}

// RoundedAway reports whether ParseDecimal rounds the number that text writes away from 0; false also where it does not round it.
func RoundedAway(text string) bool {
	_, _, away, err := parseDecimal(text)
	return err == nil && away
}

// parseDecimal is ParseDecimal, and says whether the number was rounded away from 0.
func parseDecimal(text string) (d Decimal, rounded, away bool, err error) {
	digits, exponent, negative, ok := decimalParts(text)
	switch {
	case !ok && decimalComma().MatchString(text):
		return Decimal{}, false, false, fmt.Errorf("found %s: a decimal comma is not read, write a point", diag.Quote(text))
	case !ok:
		return Decimal{}, false, false, fmt.Errorf("found %s: a decimal number such as 0.25 or 1e-3 is allowed", diag.Quote(text))
	}
	// The value is 0.DIGITS × 10^exponent, with no zero at either end of the digits.
	if digits == "" {
		return Decimal{}, false, false, nil
	}
	if exponent > maxMagnitude {
		return Decimal{}, false, false, fmt.Errorf("found %s: a number between -1e%d and 1e%d is allowed", diag.Quote(text), maxMagnitude, maxMagnitude)
	}
	keep := exponent + Places // how many of the digits count whole units of 10^-18
	kept, cut := digits, ""
	switch {
	case keep < 0:
		kept, cut = "", "1" // less than a tenth of a unit
	case keep < len(digits):
		kept, cut = digits[:keep], digits[keep:]
	}
	for _, c := range []byte(kept) {
		d = d.times10(uint64(c - '0'))
	}
	for n := len(kept); n < keep; n++ {
		d = d.times10(0)
	}
	// Half a unit is exactly "5", since the digits end in no zero.
	away = cut > "5" || cut == "5" && d.lo&1 == 1
	if away {
		d = d.Add(Decimal{lo: 1})
	}
	if negative {
		d = Decimal{}.Sub(d)
	}
	return d, cut != "", away, nil
}

// decimalParts takes a number apart: its value is ±0.digits × 10^exponent, where digits have no zero at
// either end. Zero has no digits. Exponents are held within ±2^40, far beyond any that matters.
func decimalParts(text string) (digits string, exponent int, negative, ok bool) {
	rest := text
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		negative = rest[0] == '-'
		rest = rest[1:]
	}
	mantissa := rest
	if e := strings.IndexAny(rest, "eE"); e >= 0 {
		mantissa = rest[:e]
		power, err := strconv.ParseInt(rest[e+1:], 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return "", 0, false, false
		}
		exponent = int(max(-1<<40, min(power, 1<<40)))
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", 0, false, false
	}
	exponent += len(whole)
	significant := strings.TrimLeft(digits, "0")
	exponent -= len(digits) - len(significant)
	return strings.TrimRight(significant, "0"), exponent, negative, true
}

// times10 returns 10d + digit.
func (d Decimal) times10(digit uint64) Decimal {
	high, low := bits.Mul64(d.lo, 10)
	low, carry := bits.Add64(low, digit, 0)
	return Decimal{hi: d.hi*10 + int64(high+carry), lo: low}
}

// Cmp returns −1, 0 or +1 as d is less than, equal to or greater than e.
func (d Decimal) Cmp(e Decimal) int { return cmp.Or(cmp.Compare(d.hi, e.hi), cmp.Compare(d.lo, e.lo)) }

// Sign returns −1, 0 or +1.
func (d Decimal) Sign() int { return d.Cmp(Decimal{}) }

// Add returns d + e, which is exact for any two parsed numbers. To add up more of them take a Sum.
func (d Decimal) Add(e Decimal) Decimal {
	lo, carry := bits.Add64(d.lo, e.lo, 0)
	return Decimal{hi: d.hi + e.hi + int64(carry), lo: lo}
}

// Sub returns d − e, which is exact for any two parsed numbers.
func (d Decimal) Sub(e Decimal) Decimal {
	lo, borrow := bits.Sub64(d.lo, e.lo, 0)
	return Decimal{hi: d.hi - e.hi - int64(borrow), lo: lo}
}

// Big returns d × 10^18, an integer.
func (d Decimal) Big() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(d.hi), 64)
	return n.Add(n, new(big.Int).SetUint64(d.lo))
}

// DecimalOf returns scaled / 10^18, for an absolute value of scaled below 10^37.
func DecimalOf(scaled *big.Int) Decimal {
	low := new(big.Int).And(scaled, new(big.Int).SetUint64(1<<64-1)) // of two's complement, also of a negative number
	return Decimal{hi: new(big.Int).Rsh(scaled, 64).Int64(), lo: low.Uint64()}
}

// Float64 returns the float64 nearest to d.
func (d Decimal) Float64() float64 { return quotient(d.Big(), 1) }

// String returns d as a decimal, exactly, without trailing zeros.
func (d Decimal) String() string { return exactText(d.Big()) }

// exactText writes scaled / 10^18 as a decimal, exactly, without trailing zeros.
func exactText(scaled *big.Int) string {
	sign, digits := "", scaled.String()
	if scaled.Sign() < 0 {
		sign, digits = "-", digits[1:]
	}
	if missing := Places + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	whole, fraction := digits[:len(digits)-Places], strings.TrimRight(digits[len(digits)-Places:], "0")
	if fraction == "" {
		return sign + whole
	}
	return sign + whole + "." + fraction
}

// Sum is an exact sum of Decimals, as an integer count of 10^-18 in two's complement of 192 bits: 2^63
// numbers never overflow it. The zero value is an empty sum. Sums of the same numbers are equal (==),
// whatever their order and however they were split and merged.
type Sum struct {
	hi      int64
	mid, lo uint64
}

// Add returns s + d.
func (s Sum) Add(d Decimal) Sum {
	return s.Merge(Sum{hi: d.hi >> 63, mid: uint64(d.hi), lo: d.lo})
}

// Times returns n · s, for n of 0 or more.
func (s Sum) Times(n int) Sum {
	var out Sum
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			out = out.Merge(s)
		}
		s = s.Merge(s)
	}
	return out
}

// Merge returns the sum of both.
func (s Sum) Merge(t Sum) Sum {
	lo, carry := bits.Add64(s.lo, t.lo, 0)
	mid, carry := bits.Add64(s.mid, t.mid, carry)
	return Sum{hi: s.hi + t.hi + int64(carry), mid: mid, lo: lo}
}

// Big returns the sum × 10^18, an integer.
func (s Sum) Big() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(s.hi), 64)
	n.Add(n, new(big.Int).SetUint64(s.mid))
	n.Lsh(n, 64)
	return n.Add(n, new(big.Int).SetUint64(s.lo))
}

// String returns the sum as a decimal, exactly, without trailing zeros.
func (s Sum) String() string { return exactText(s.Big()) }

// Over returns the float64 nearest to the sum divided by n: one division of exact numbers. n is not 0.
func (s Sum) Over(n int64) float64 { return quotient(s.Big(), n) }

// quotient returns the float64 nearest to scaled / (n × 10^18).
func quotient(scaled *big.Int, n int64) float64 {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(Places), nil)
	f, _ := new(big.Rat).SetFrac(scaled, unit.Mul(unit, big.NewInt(n))).Float64()
	return f
}

// TimeKind says how a time was written, and so what it can be used for.
type TimeKind uint8

// The kinds of time. ISO 8601 times and Unix seconds are points in time and can be ordered; plain
// seconds count from a start that only the same row shares, so they give durations only.
const (
	TimeSeconds TimeKind = iota + 1
	TimeUnix
	TimeISO
)

// String names the kind in messages.
func (k TimeKind) String() string {
	switch k {
	case TimeSeconds:
		return "seconds"
	case TimeUnix:
		return "Unix seconds"
	case TimeISO:
		return "ISO 8601"
	}
	return "no time"
}

// Time is a time as a decision file records it.
type Time struct {
	Kind    TimeKind
	Seconds Decimal // since 1970-01-01T00:00:00Z; for TimeSeconds since an unknown start
}

// The range of Unix seconds: smaller numbers are plain seconds, larger ones milliseconds.
var (
	leastUnix = Decimal{}.plusSeconds(100_000_000)     // 1973-03-03
	pastUnix  = Decimal{}.plusSeconds(100_000_000_000) // in the year 5138
)

// plusSeconds returns d + n.
func (d Decimal) plusSeconds(n int64) Decimal {
	hi, lo := bits.Mul64(uint64(max(n, -n)), 1e18)
	s := Decimal{hi: int64(hi), lo: lo}
	if n < 0 {
		return d.Sub(s)
	}
	return d.Add(s)
}

// isoTime is the profile of ISO 8601 that is read: a date and a time of day in the extended format, with
// T or one space between; seconds, their fraction and the zone may be absent.
var isoTime = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,18}))?)?(?:([Zz])|([+-])([0-9]{2}):?([0-9]{2})?)?$`)
})

// ParseTime reads a time: ISO 8601 with a date and a time of day (2026-03-31T14:05:09.25+02:00; without
// a zone it is UTC; a fraction has at most 18 digits), or a decimal number of seconds, which from 10^8 on
// is Unix time. From 10^11 on it is an error, since such numbers are milliseconds. text is trimmed;
// rounded is as in ParseDecimal. The error says what was found and what is allowed.
func ParseTime(text string) (t Time, rounded bool, err error) {
	const allowed = "an ISO 8601 date and time such as 2026-03-31T14:05:09Z, or seconds such as 12.5, is allowed"
	m := isoTime().FindStringSubmatch(text)
	if m == nil {
		d, rounded, err := ParseDecimal(text)
		switch {
		case err != nil && decimalComma().MatchString(text):
			return Time{}, false, err
		case err != nil:
			return Time{}, false, fmt.Errorf("found %s: %s", diag.Quote(text), allowed)
		case d.Cmp(pastUnix) >= 0:
			return Time{}, false, fmt.Errorf("found %s: Unix times are read in seconds, and this many lie beyond the year 5138 (are they milliseconds?)", diag.Quote(text))
		case d.Cmp(leastUnix) >= 0:
			return Time{TimeUnix, d}, rounded, nil
		}
		return Time{TimeSeconds, d}, rounded, nil
	}
	date, clock, second, fraction, sign, hours, minutes := m[1], m[2], m[3], m[4], m[6], m[7], m[8]
	if second == "" {
		second = "00"
	}
	// time.Parse refuses days and hours that do not exist.
	at, err := time.Parse(time.DateTime, date+" "+clock+":"+second)
	zone := number(hours)*3600 + number(minutes)*60
	if err != nil || number(hours) > 23 || number(minutes) > 59 {
		return Time{}, false, fmt.Errorf("found %s, which is no time that exists: %s", diag.Quote(text), allowed)
	}
	if sign == "-" {
		zone = -zone
	}
	part, _, _ := ParseDecimal("0." + fraction) // digits only: no error
	return Time{TimeISO, part.plusSeconds(at.Unix() - zone)}, false, nil
}

// number reads two digits, or nothing as 0.
func number(digits string) int64 {
	n := int64(0)
	for _, c := range []byte(digits) {
		n = n*10 + int64(c-'0')
	}
	return n
}
