package summary

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// cells is how many terminal cells s takes: two for wide characters, none for combining marks. Characters
// that are wide in some East Asian fonts only count one, whatever the locale, so that the bytes are the same.
func cells(s string) int { return displaywidth.String(s) }

// clip cuts s to at most limit characters, the last one "…" where anything was cut.
func clip(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// clipPath cuts a path to at most limit characters from its start: its end says most.
func clipPath(s string, limit int) string {
	if r := []rune(s); len(r) > limit {
		return "…" + string(r[len(r)-limit+1:])
	}
	return s
}

// wrap breaks s into lines of at most width cells (at least 3): between words, inside a word only where
// the word alone is too long, never inside a character and its marks. Runs of spaces become one. No line
// starts with "::", which a CI runner would read as a command: such a line gets a backslash in front.
// There always is at least one line.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		for {
			if startsCommand(line + " " + word) { // also where all that stands before it on the line cannot be seen
				word = `\` + word
			}
			if line == "" && cells(word) <= width {
				line = word
				break
			}
			// Counted together: a mark at the word's start changes how wide the space before it is.
			if line != "" && cells(line+" "+word) <= width {
				line += " " + word
				break
			}
			if line != "" {
				lines = append(lines, line)
				line = ""
				continue
			}
			head, tail := breakWord(word, width)
			lines = append(lines, head)
			if word = tail; word == "" {
				break
			}
		}
	}
	if line != "" || lines == nil {
		lines = append(lines, line)
	}
	return lines
}

// breakWord cuts a word that is wider than width: after a joining character in the second half of the
// line where there is one, else where the line is full. head has at least one character.
func breakWord(word string, width int) (head, tail string) {
	used, full, joint := 0, 0, 0
	g := displaywidth.StringGraphemes(word)
	for g.Next() {
		// A backslash never stands alone: wrap would put the next one before what it was to protect, for ever.
		if used += g.Width(); used > width && full > 0 && word[:full] != `\` {
			break
		}
		full += len(g.Value())
		if used >= width/2 && strings.ContainsAny(g.Value(), "-_/.,;") {
			joint = full
		}
	}
	if joint > 0 && joint < len(word) {
		full = joint
	}
	return word[:full], word[full:]
}
