package diag

import (
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	keys := []string{"minimum", "maximum", "metric", "id", "mean_method", "max_left_out"}
	for word, want := range map[string]string{
		"minimun":      "minimum", // one wrong
		"minmum":       "minimum", // one missing
		"minimumm":     "minimum", // one too many
		"mniimum":      "minimum", // two swapped: one slip, not two
		"MINIMUM":      "minimum", // letter case does not count
		"mean-method":  "mean_method",
		"Max left out": "max_left_out",
		"mean_metod":   "mean_method",
		"metrics":      "metric",
		"di":           "id",
		"minimax":      "minimum", // two of seven letters: the bound is 7/3 = 2
		"min":          "",
		"x":            "",
		"threshold":    "",
		"":             "",
	} {
		if got := Nearest(word, keys); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Nearest("ab", []string{"ac", "ad"}); got != "ac" {
		t.Errorf("of two equally near ones, %q", got)
	}
	if got := Nearest("abcdef", []string{"abcdxy", "abcdex"}); got != "abcdex" {
		t.Errorf("of a near and a nearer one, %q", got)
	}
}

// TestDistance checks the laws of a distance, and that each kind of slip costs one.
func TestDistance(t *testing.T) {
	word := rapid.SliceOfN(rapid.RuneFrom([]rune("abé")), 0, 8)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := distance(a, b)
		if d != distance(b, a) {
			t.Fatal("not symmetric")
		}
		if (d == 0) != (string(a) == string(b)) {
			t.Fatal("zero exactly for equal words")
		}
		if diff := len(a) - len(b); d < max(diff, -diff) || d > max(len(a), len(b)) {
			t.Fatalf("%d is outside the bounds that the lengths set", d)
		}
		i := rapid.IntRange(0, len(a)).Draw(t, "i")
		longer := append(append(append([]rune{}, a[:i]...), 'x'), a[i:]...)
		if distance(a, longer) != 1 {
			t.Fatal("a letter more is not one slip")
		}
		if i+1 < len(longer) && longer[i+1] != 'x' {
			swapped := append([]rune{}, longer...)
			swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
			if distance(longer, swapped) != 1 {
				t.Fatal("two letters swapped are not one slip")
			}
		}
	})
}
