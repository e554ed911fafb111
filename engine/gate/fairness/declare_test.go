package fairness

import (
	"regexp"
	"testing"
)

// TestIsPlain holds what is written without quotes to the expression that says it.
func TestIsPlain(t *testing.T) {
	form := regexp.MustCompile(`^[\p{L}\p{N}_]([\p{L}\p{N}_.+/× -]*[\p{L}\p{N}_.+])?$`)
	signs := []string{"", "a", "é", "漢", "٣", "½", "_", ".", "+", "/", "×", " ", "-", ":", "\"", "\n", "\u0301", "\u200b", "\xff", "\ufffd"}
	plain := 0
	for _, x := range signs {
		for _, y := range signs {
			for _, z := range signs {
				text := x + y + z
				if got, want := isPlain(text), form.MatchString(text); got != want {
					t.Errorf("isPlain(%q) = %v", text, got)
				} else if got {
					plain++
				}
			}
		}
	}
	if plain < 500 {
		t.Errorf("only %d of the texts are plain", plain)
	}
}
