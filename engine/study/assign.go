package study

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
)

// The designs that Assign draws.
const (
	Crossed     = "crossed"      // each person decides each case once, half of them with the system
	BeforeAfter = "before_after" // each person decides each case without the system, then with it
)

// The two conditions of a decision: the system's output on the screen or not.
const (
	With    = "with"
	Without = "without"
)

// MaxRows is the largest number of decisions that Assign draws and of ids that Names makes. It is
// far above any study of people and keeps a mistyped number from filling the memory.
const MaxRows = 5_000_000

// Assignment is one decision that a person is asked to make.
type Assignment struct {
	Reviewer  string
	Case      string
	Condition string // With or Without
	Position  int    // place in that person's own order, from 1 without gaps
}

// Assign draws each person's cases, conditions and order. It returns the people in the order given
// and each person's decisions by position.
//
//   - Crossed: every person decides every case once, in random order; a random half of the cases is
//     decided with the system. Of an odd number of cases the extra one goes to either condition by a
//     coin of that person. At least two cases are needed, so that nobody lacks a condition.
//   - BeforeAfter: every person decides every case twice, the cases in random order, and without the
//     system directly before with it.
//
// Why directly before, and not all cases without before all cases with: practice and tiredness then
// weigh on both decisions of a case alike, where two blocks would add them to the system's effect;
// and a person who stops early has decided both ways all but at most one of the cases begun, where two
// blocks would lose the whole second condition. The price is that outputs seen on earlier
// cases may colour later decisions without the system; whoever fears that more takes Crossed.
//
// A person's draw depends on the seed, the design, that person's id and the set of case ids alone:
// other people and the order of the case list change nothing. It is drawn independently of everyone
// else's draw. Choose the seed once, before the study: redrawing until a split
// pleases is not a random split.
//
// Spaces at the ends of ids are dropped, as they are when decisions are read. Every problem is reported at
// once in a *diag.Error: no case, no person, an id that is empty, repeated or not valid UTF-8, an
// unknown design, an empty seed, too many rows. An id that begins with = + - or @ is a
// problem too: the sheet is made to be opened in a spreadsheet, which would run such an id as a
// formula, and the usual cure, a quote in front of it, would make it another id than the one in
// the decisions. A problem with one id has the position
// {File: "cases" or "reviewers", Line: its place in the list, from 1}, for which a caller that read the
// list from a file can put the place there. Reviewers' ids are never part of a message.
func Assign(cases, reviewers []string, design, seed string) ([]Assignment, error) {
	var problems diag.List
	cases = checkIDs("cases", cases, &problems)
	reviewers = checkIDs("reviewers", reviewers, &problems)
	rowsPerCase := 1
	switch design {
	case Crossed:
		if len(cases) == 1 {
			problems.Addf(diag.Pos{}, "1 case cannot be split between two conditions: a %s study needs at least 2 cases", Crossed)
		}
	case BeforeAfter:
		rowsPerCase = 2
	default:
		problems.Addf(diag.Pos{}, "unknown design %s: allowed are %s and %s", diag.Quote(design), Crossed, BeforeAfter)
	}
	if seed == "" {
		problems.Addf(diag.Pos{}, "the seed is empty: give any text, chosen once before the study begins")
	}
	if len(reviewers) > 0 && len(cases) > MaxRows/rowsPerCase/len(reviewers) {
		problems.Addf(diag.Pos{}, "%d cases for %d reviewers are too many: at most %d decisions can be assigned",
			len(cases), len(reviewers), MaxRows)
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}

	assignments := make([]Assignment, 0, len(cases)*len(reviewers)*rowsPerCase)
	for _, reviewer := range reviewers {
		d := draw{seed: seed, design: design, reviewer: reviewer}
		with := map[string]bool{}
		if design == Crossed {
			with = d.half(cases)
		}
		position := 0
		add := func(id, condition string) {
			position++
			assignments = append(assignments, Assignment{reviewer, id, condition, position})
		}
		for _, id := range d.ranked("order", cases) {
			if design == BeforeAfter || !with[id] {
				add(id, Without)
			}
			if design == BeforeAfter || with[id] {
				add(id, With)
			}
		}
	}
	return assignments, nil
}

// draw is the source of everything that is random for one person.
type draw struct{ seed, design, reviewer string }

// mark is a number that nobody can steer and anybody can recompute; the package comment defines it.
func (d draw) mark(purpose, id string) [sha256.Size]byte {
	return sha256.Sum256(appendTexts(nil, "oloproof-assign/1", d.seed, d.design, d.reviewer, purpose, id))
}

// appendTexts appends texts to b, each as LENGTH:BYTES, where the length keeps "ab"+"c" apart from "a"+"bc".
func appendTexts(b []byte, texts ...string) []byte {
	for _, text := range texts {
		b = strconv.AppendInt(b, int64(len(text)), 10)
		b = append(b, ':')
		b = append(b, text...)
		b = append(b, ',')
	}
	return b
}

// ranked returns the ids sorted by their marks: a random order in which the list's own order has no part.
func (d draw) ranked(purpose string, ids []string) []string {
	type marked struct {
		id   string
		mark [sha256.Size]byte
	}
	all := make([]marked, len(ids))
	for i, id := range ids {
		all[i] = marked{id, d.mark(purpose, id)}
	}
	slices.SortFunc(all, func(a, b marked) int {
		return cmp.Or(bytes.Compare(a.mark[:], b.mark[:]), strings.Compare(a.id, b.id))
	})
	ranked := make([]string, len(all))
	for i, m := range all {
		ranked[i] = m.id
	}
	return ranked
}

// half draws the cases that the person decides with the system.
func (d draw) half(cases []string) map[string]bool {
	n := len(cases) / 2
	if len(cases)%2 == 1 {
		coin := d.mark("extra", "")
		n += int(coin[len(coin)-1] & 1)
	}
	with := make(map[string]bool, n)
	for _, id := range d.ranked("split", cases)[:n] {
		with[id] = true
	}
	return with
}

// checkIDs returns the ids without spaces at their ends and adds what is wrong with them.
// kind is "cases" or "reviewers".
func checkIDs(kind string, ids []string, problems *diag.List) []string {
	if len(ids) == 0 {
		problems.Addf(diag.Pos{}, "there are no %s: at least 1 is needed", kind)
	}
	trimmed := make([]string, len(ids))
	first := make(map[string]int, len(ids))
	for i, id := range ids {
		id = strings.TrimSpace(id)
		trimmed[i] = id
		pos := diag.Pos{File: kind, Line: i + 1}
		what := "this id"
		if kind == "cases" { // people are not named in messages
			what = "the id " + diag.Quote(id)
		}
		start, _ := utf8.DecodeRuneInString(id)
		switch {
		case id == "":
			problems.Addf(pos, "this id is empty: an id needs at least one character that is not a space")
		case !utf8.ValidString(id):
			problems.Addf(pos, "%s is not valid UTF-8", what)
		case strings.ContainsRune("=+-@＝＋－＠", start):
			problems.Addf(pos, "%s begins with %q, which a spreadsheet takes for a formula: begin it with a letter or a digit", what, start)
		case first[id] > 0:
			problems.Addf(pos, "%s is the same as number %d: each id may stand once", what, first[id])
		default:
			first[id] = i + 1
		}
	}
	return trimmed
}

// WriteCSV writes the assignments in the order given, as CSV with the header
// reviewer,case,condition,position: lines end with \n, and fields are quoted as RFC 4180 says where they have
// to be. Ids are written as they are, since the decisions must carry the same ones; Assign has refused those
// that a spreadsheet would run. The only errors are w's own.
func WriteCSV(w io.Writer, assignments []Assignment) error {
	c := csv.NewWriter(w)
	// The writer keeps its first error for Error below.
	_ = c.Write([]string{"reviewer", "case", "condition", "position"})
	for _, a := range assignments {
		_ = c.Write([]string{a.Reviewer, a.Case, a.Condition, strconv.Itoa(a.Position)})
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("writing the assignment: %w", err)
	}
	return nil
}

// Names makes n ids for people or cases that have no names of their own: the prefix and a number from
// 1, zero padded to width digits. Without padding (width 0) the ids of a longer list begin with those of a shorter
// one, so that adding people renames nobody. n outside
// [1, MaxRows] is an error.
func Names(n int, prefix string, width int) ([]string, error) {
	if n < 1 || n > MaxRows {
		return nil, fmt.Errorf("cannot make %d ids: allowed are 1 to %d", n, MaxRows)
	}
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%0*d", prefix, width, i+1)
	}
	return names, nil
}
