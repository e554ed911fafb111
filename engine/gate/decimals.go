package gate

import (
	"strings"

	"github.com/oloproof/oloproof/engine/rows"
)

// CompareDecimal returns −1, 0 or +1 as the number that text writes is less than, equal to or greater than limit. value and
// rounded are what rows.ParseDecimal made of text: a number with more decimals than are kept, such as
// 29.9999999999999999999, may have been rounded to the limit itself and still lies on one side of it.
func CompareDecimal(text string, value rows.Decimal, rounded bool, limit rows.Decimal) int {
	order := value.Cmp(limit)
	if order != 0 || !rounded {
		return order
	}
	if limit.Sign() == 0 { // what is rounded to it has its sign in its text alone
		if strings.HasPrefix(text, "-") {
			return -1
		}
		return 1
	}
	if rows.RoundedAway(text) { // so it is nearer to 0 than the limit
		return -limit.Sign()
	}
	return limit.Sign()
}

var one, _, _ = rows.ParseDecimal("1")

// Share reads a number from 0 to 1, such as a probability: ok is false where it lies outside, however little. rounded
// and err are as in rows.ParseDecimal.
func Share(text string) (value rows.Decimal, rounded, ok bool, err error) {
	value, rounded, err = rows.ParseDecimal(text)
	ok = err == nil && CompareDecimal(text, value, rounded, rows.Decimal{}) >= 0 && CompareDecimal(text, value, rounded, one) <= 0
	return value, rounded, ok, err
}
