package gate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/oloproof/oloproof/engine/diag"
	"golang.org/x/text/unicode/norm"
)

// Plural writes a count with its noun.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Thousands writes a count with a comma between thousands, as in 1,800.
func Thousands(n int) string {
	text := strconv.Itoa(n)
	first := 0
	if n < 0 {
		first = 1
	}
	for at := len(text) - 3; at > first; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// mostQuoted is how many values a message names.
const mostQuoted = 5

// Quoted lists values for a message, the first five of them, each quoted.
func Quoted(values []string) string {
	shown := make([]string, 0, mostQuoted)
	for _, v := range values[:min(len(values), mostQuoted)] {
		shown = append(shown, diag.Quote(v))
	}
	text := strings.Join(shown, ", ")
	if more := len(values) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Folded is what a value is without its letter case, white space, invisible characters and Unicode form.
func Folded(value string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, strings.ToLower(norm.NFKC.String(value)))
}

// Forms groups the values that are one under letter case, inner white space and Unicode form: each group has at
// least two, in order, and the groups are ordered by their first.
func Forms[V any](values map[string]V) [][]string {
	groups := map[string][]string{}
	for v := range values {
		groups[Folded(v)] = append(groups[Folded(v)], v)
	}
	var list [][]string
	for _, group := range groups {
		if len(group) > 1 {
			slices.Sort(group)
			list = append(list, group)
		}
	}
	slices.SortFunc(list, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return list
}

// markers are texts that often stand for "not recorded", as Folded leaves them.
var markers = []string{"na", "n/a", "#n/a", "nan", "none", "null", "nil", "-", "--", "?", ".", "missing", "unknown", "notrecorded"}

// Marker reports whether a value looks as if it meant that nothing was recorded.
func Marker(value string) bool { return slices.Contains(markers, Folded(value)) }
