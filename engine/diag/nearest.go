package diag

import "strings"

// Nearest returns the candidate that word most likely stands for, "" if none is near. Near is at most one
// slip for every three characters of the word: a letter too many, missing, wrong, or swapped with its
// neighbour. Letter case and the choice between "-", "_" and space do not count. Among equally near ones the first wins.
func Nearest(word string, candidates []string) string {
	const longest = 60         // no name is longer, and the work grows with the product of the lengths
	if len(word) > 4*longest { // bytes
		return ""
	}
	w := fold(word)
	if len(w) == 0 || len(w) > longest {
		return ""
	}
	nearest, least := "", max(1, len(w)/3)+1
	for _, c := range candidates {
		f := fold(c)
		if len(f) > longest {
			continue
		}
		if d := distance(w, f); d < least {
			nearest, least = c, d
		}
	}
	return nearest
}

var separators = strings.NewReplacer("-", "_", " ", "_")

func fold(s string) []rune { return []rune(separators.Replace(strings.ToLower(s))) }

// distance is the optimal string alignment distance (restricted Damerau-Levenshtein): the least number of
// insertions, deletions, substitutions and swaps of neighbours, no character being changed twice.
func distance(a, b []rune) int {
	// rows i-2, i-1 and i of the table of distances between prefixes
	two, one, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(one[j]+1, row[j-1]+1, one[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
		}
		two, one, row = one, row, two
	}
	return one[len(b)]
}
