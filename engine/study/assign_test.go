package study

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
)

// The golden files come from testdata/assign.py, a second program written from the package comment.
func TestAssignMatchesTheReferenceProgram(t *testing.T) {
	cases := []string{"c1", "c2", "c3", "c4", "5, six", `the "seventh"`, "c7"}
	for _, design := range []string{Crossed, BeforeAfter} {
		want, err := os.ReadFile(filepath.Join("testdata", design+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		assignments, err := Assign(cases, []string{"r1", "r2", "Zoë"}, design, "autumn 2026")
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := WriteCSV(&got, assignments); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-reference +got):\n%s", design, diff)
		}
	}
}

func TestAssignReportsEveryProblemAtOnce(t *testing.T) {
	tests := []struct {
		name             string
		cases, reviewers []string
		design, seed     string
		want             []string
	}{
		{"nothing given", nil, nil, "", "", []string{
			"the seed is empty: give any text, chosen once before the study begins",
			"there are no cases: at least 1 is needed",
			"there are no reviewers: at least 1 is needed",
			`unknown design "": allowed are crossed and before_after`,
		}},
		{"one case has one condition", []string{"a"}, []string{"r"}, Crossed, "s", []string{
			"1 case cannot be split between two conditions: a crossed study needs at least 2 cases",
		}},
		{"ids", []string{"a", " ", "b", "a ", "=1+1", "\xff", "＠x"}, []string{"ann", "ann", "", "@bob", "\xfe"}, "sparse", "s", []string{
			`unknown design "sparse": allowed are crossed and before_after`,
			"cases:2: this id is empty: an id needs at least one character that is not a space",
			`cases:4: the id "a" is the same as number 1: each id may stand once`,
			`cases:5: the id "=1+1" begins with '=', which a spreadsheet takes for a formula: begin it with a letter or a digit`,
			`cases:6: the id "\xff" is not valid UTF-8`,
			`cases:7: the id "＠x" begins with '＠', which a spreadsheet takes for a formula: begin it with a letter or a digit`,
			// People's ids are not shown.
			"reviewers:2: this id is the same as number 1: each id may stand once",
			"reviewers:3: this id is empty: an id needs at least one character that is not a space",
			"reviewers:4: this id begins with '@', which a spreadsheet takes for a formula: begin it with a letter or a digit",
			"reviewers:5: this id is not valid UTF-8",
		}},
		// 3000 x 1667 = 5,001,000 decisions, one case more than fits.
		{"too many rows", names(t, 1667, "c"), names(t, 3000, "r"), Crossed, "s", []string{
			"1667 cases for 3000 reviewers are too many: at most 5000000 decisions can be assigned",
		}},
		// The same ids twice each: 3000 x 834 x 2 = 5,004,000.
		{"too many rows before and after", names(t, 834, "c"), names(t, 3000, "r"), BeforeAfter, "s", []string{
			"834 cases for 3000 reviewers are too many: at most 5000000 decisions can be assigned",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assignments, err := Assign(test.cases, test.reviewers, test.design, test.seed)
			var problems *diag.Error
			if !errors.As(err, &problems) || assignments != nil {
				t.Fatalf("got %d assignments and error %v, want none and a *diag.Error", len(assignments), err)
			}
			if diff := cmp.Diff(test.want, strings.Split(problems.Error(), "\n")); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAssignDrawsAreIndependent looks at what two people get over many seeds. The seeds are fixed, so the
// outcome is too; a sound draw passes each check with probability 0.999.
func TestAssignDrawsAreIndependent(t *testing.T) {
	const seeds = 2000
	cases := names(t, 4, "c")
	splits := newTable()       // the cases that a and that b decide with the system
	orders := newTable()       // a's first case and b's first case
	ownOrder := newTable()     // whether a decides c1 with the system, and when
	withCount := [2][4]int{}   // how often each person decides each case with the system
	positions := [4][4]int{}   // how often case i is decided at position j by a
	permutations := newTable() // a's whole order
	for seed := range seeds {
		rows := assign(t, cases, []string{"a", "b"}, Crossed, strconv.Itoa(seed))
		var split, order [2]string
		for i, row := range rows {
			person, c := i/len(cases), slices.Index(cases, row.Case)
			order[person] += row.Case
			if row.Condition == With {
				withCount[person][c]++
			}
			if person == 0 {
				positions[c][row.Position-1]++
			}
			if person == 0 && c == 0 {
				ownOrder.add(row.Condition, strconv.Itoa(row.Position))
			}
		}
		for person := range split {
			split[person] = strings.Join(shown(rows[person*len(cases):][:len(cases)]), " ")
		}
		splits.add(split[0], split[1])
		orders.add(order[0][:2], order[1][:2])
		permutations.add(order[0], "")
	}

	// Each person has C(4, 2) = 6 splits, and every pair of splits is equally likely; balancing a
	// case over people would leave most of the 36 pairs without a single seed.
	splits.checkUniform(t, "joint splits of two people", 36)
	orders.checkUniform(t, "joint first cases of two people", 16)
	ownOrder.checkUniform(t, "condition and position of a case", 8)
	permutations.checkUniform(t, "orders of one person", 24)
	for person := range withCount {
		for c, k := range withCount[person] {
			checkHalf(t, fmt.Sprintf("person %d, case %d with the system", person, c), k, seeds)
		}
	}
	for c := range positions {
		chiSquare(t, fmt.Sprintf("positions of case %d", c), positions[c][:], seeds)
	}
}

// TestAssignExtraCaseIsACoin checks that of an odd number of cases the extra one goes to either condition, by a
// coin of each person and not one for everybody.
func TestAssignExtraCaseIsACoin(t *testing.T) {
	const seeds = 2000
	coins := newTable()
	for seed := range seeds {
		rows := assign(t, names(t, 5, "c"), []string{"a", "b"}, Crossed, strconv.Itoa(seed))
		coins.add(strconv.Itoa(len(shown(rows[:5]))), strconv.Itoa(len(shown(rows[5:]))))
	}
	coins.checkUniform(t, "cases with the system, 2 or 3, of two people", 4)
}

// TestAssignBeforeAfterOrderIsRandom checks the order of the cases and that two people's orders are independent.
func TestAssignBeforeAfterOrderIsRandom(t *testing.T) {
	const seeds = 2000
	orders := newTable()
	for seed := range seeds {
		rows := assign(t, names(t, 3, "c"), []string{"a", "b"}, BeforeAfter, strconv.Itoa(seed))
		orders.add(rows[0].Case+rows[2].Case, rows[6].Case+rows[8].Case)
	}
	orders.checkUniform(t, "joint orders of two people", 36)
}

// drawIDs draws n distinct ids that Assign accepts.
func drawIDs(t *rapid.T, name string, least int) []string {
	return rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9é][ -~\n]{0,6}[a-z0-9"]`), least, 12, rapid.ID[string]).Draw(t, name)
}

func TestAssignProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cases := drawIDs(t, "cases", 2)
		reviewers := drawIDs(t, "reviewers", 1)
		design := rapid.SampledFrom([]string{Crossed, BeforeAfter}).Draw(t, "design")
		seed := rapid.StringN(1, 10, -1).Draw(t, "seed")
		rows := assign(t, cases, reviewers, design, seed)
		checkDesign(t, rows, cases, reviewers, design)

		// The order of the case list and spaces around ids change nothing.
		shuffled := rapid.Permutation(cases).Draw(t, "shuffled")
		shuffled[0] = " " + shuffled[0] + "\t"
		if diff := cmp.Diff(rows, assign(t, shuffled, reviewers, design, seed)); diff != "" {
			t.Fatalf("permuting the cases changed (-before +after):\n%s", diff)
		}

		// Each person alone gets what they get among others.
		perPerson := len(rows) / len(reviewers)
		for i, reviewer := range reviewers {
			alone := assign(t, cases, []string{reviewer}, design, seed)
			if diff := cmp.Diff(rows[i*perPerson:][:perPerson], alone); diff != "" {
				t.Fatalf("the other people changed reviewer %d (-among others +alone):\n%s", i+1, diff)
			}
		}

		// What is written can be read back.
		var b bytes.Buffer
		if err := WriteCSV(&b, rows); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows, readCSV(t, &b)); diff != "" {
			t.Fatalf("reading back changed (-written +read):\n%s", diff)
		}
	})
}

// TestAssignSeedAndDesignMatter: a draw that ignored its seed would pass most of the properties.
func TestAssignSeedAndDesignMatter(t *testing.T) {
	cases := names(t, 30, "c")
	order := func(design, seed string) []string {
		var ids []string
		for _, row := range assign(t, cases, []string{"r1"}, design, seed) {
			if design == Crossed || row.Condition == With {
				ids = append(ids, row.Case)
			}
		}
		return ids
	}
	// Two random orders of 30 cases are equal with probability 1/30!, 4e-33.
	if slices.Equal(order(Crossed, "1"), order(Crossed, "2")) {
		t.Error("two seeds gave one order")
	}
	if slices.Equal(order(Crossed, "1"), order(BeforeAfter, "1")) {
		t.Error("two designs gave one order")
	}
	if slices.Equal(order(Crossed, "1"), cases) {
		t.Error("the order drawn is the order of the list")
	}
}

func TestNames(t *testing.T) {
	tests := []struct {
		n           int
		prefix      string
		width       int
		first, last string
	}{
		{30, "c", 2, "c01", "c30"},
		{8, "r", 0, "r1", "r8"},
		{10, "r", 0, "r1", "r10"},
		{1000, "", 4, "0001", "1000"},
	}
	for _, test := range tests {
		got, err := Names(test.n, test.prefix, test.width)
		if err != nil || len(got) != test.n || got[0] != test.first || got[len(got)-1] != test.last {
			t.Errorf("Names(%d, %q, %d) has %d names, %q, want %d from %q to %q (%v)",
				test.n, test.prefix, test.width, len(got), got, test.n, test.first, test.last, err)
		}
	}
	for _, n := range []int{-1, 0, MaxRows + 1} {
		want := fmt.Sprintf("cannot make %d ids: allowed are 1 to 5000000", n)
		if got, err := Names(n, "c", 0); err == nil || err.Error() != want || got != nil {
			t.Errorf("Names(%d) gave %d names and error %v, want none and %q", n, len(got), err, want)
		}
	}
}

func TestWriteCSVReportsTheWriter(t *testing.T) {
	full := errors.New("disk full")
	if err := WriteCSV(brokenWriter{full}, []Assignment{{"r1", "c1", With, 1}}); !errors.Is(err, full) {
		t.Errorf("got error %v, want one that wraps %q", err, full)
	}
}

type brokenWriter struct{ err error }

func (b brokenWriter) Write([]byte) (int, error) { return 0, b.err }

// FuzzAssign gives lists of any text: either every problem is in a *diag.Error, or the draw has its design.
func FuzzAssign(f *testing.F) {
	f.Add("c1\x00c2\x00c3", "r1\x00r2", Crossed, "1")
	f.Add("a,b\x00\"q\"", "x\r\ny", BeforeAfter, "s")
	f.Add("=1\x00\xff\x00 a\x00a", "", "sparse", "")
	f.Fuzz(func(t *testing.T, cases, reviewers, design, seed string) {
		caseIDs, reviewerIDs := strings.Split(cases, "\x00"), strings.Split(reviewers, "\x00")
		rows, err := Assign(caseIDs, reviewerIDs, design, seed)
		if err != nil {
			var problems *diag.Error
			if !errors.As(err, &problems) || rows != nil {
				t.Fatalf("got %d rows and error %v, want none and a *diag.Error", len(rows), err)
			}
			if !utf8.ValidString(err.Error()) {
				t.Fatalf("the message is not valid UTF-8: %q", err.Error())
			}
			return
		}
		for _, ids := range [][]string{caseIDs, reviewerIDs} {
			for i := range ids {
				ids[i] = strings.TrimSpace(ids[i])
			}
		}
		checkDesign(t, rows, caseIDs, reviewerIDs, design)
		var b bytes.Buffer
		if err := WriteCSV(&b, rows); err != nil {
			t.Fatal(err)
		}
		for i := range rows { // encoding/csv reads \r\n inside quotes as \n
			rows[i].Case = strings.ReplaceAll(rows[i].Case, "\r\n", "\n")
			rows[i].Reviewer = strings.ReplaceAll(rows[i].Reviewer, "\r\n", "\n")
		}
		if diff := cmp.Diff(rows, readCSV(t, &b)); diff != "" {
			t.Fatalf("reading back changed (-written +read):\n%s", diff)
		}
	})
}

// fataler is the part of testing.T that rapid.T has too.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func assign(t fataler, cases, reviewers []string, design, seed string) []Assignment {
	t.Helper()
	rows, err := Assign(cases, reviewers, design, seed)
	if err != nil {
		t.Fatalf("Assign: %v", err)
	}
	return rows
}

func names(t fataler, n int, prefix string) []string {
	t.Helper()
	ids, err := Names(n, prefix, len(fmt.Sprint(n)))
	if err != nil {
		t.Fatalf("Names: %v", err)
	}
	return ids
}

// shown returns the cases decided with the system, sorted.
func shown(rows []Assignment) []string {
	var ids []string
	for _, row := range rows {
		if row.Condition == With {
			ids = append(ids, row.Case)
		}
	}
	slices.Sort(ids)
	return ids
}

// checkDesign checks that rows hold, for each person in turn, exactly what the design asks for.
func checkDesign(t fataler, rows []Assignment, cases, reviewers []string, design string) {
	t.Helper()
	perPerson := len(cases)
	if design == BeforeAfter {
		perPerson *= 2
	}
	if len(rows) != perPerson*len(reviewers) {
		t.Fatalf("got %d rows, want %d for each of %d reviewers", len(rows), perPerson, len(reviewers))
	}
	for i, reviewer := range reviewers {
		own := rows[i*perPerson:][:perPerson]
		conditions := map[string]string{} // case to the conditions in which it was decided
		for j, row := range own {
			if row.Reviewer != reviewer || row.Position != j+1 {
				t.Fatalf("row %d of reviewer %d is %+v", j+1, i+1, row)
			}
			if design == BeforeAfter && row.Condition == With && own[j-1].Case != row.Case {
				t.Fatalf("the row before %+v is %+v", row, own[j-1])
			}
			conditions[row.Case] += row.Condition + " "
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(cases)), slices.Sorted(maps.Keys(conditions))); diff != "" {
			t.Fatalf("cases of reviewer %d (-want +got):\n%s", i+1, diff)
		}
		for id, got := range conditions {
			if design == BeforeAfter && got != "without with " || design == Crossed && strings.Count(got, " ") != 1 {
				t.Fatalf("case %q was decided %s", id, got)
			}
		}
		if with := len(shown(own)); design == Crossed && with != len(cases)/2 && with != (len(cases)+1)/2 {
			t.Fatalf("%d of %d cases are decided with the system", with, len(cases))
		}
	}
}

func readCSV(t fataler, b *bytes.Buffer) []Assignment {
	t.Helper()
	records, err := csv.NewReader(b).ReadAll()
	if err != nil {
		t.Fatalf("reading the assignment: %v", err)
	}
	if !slices.Equal(records[0], []string{"reviewer", "case", "condition", "position"}) {
		t.Fatalf("header %q", records[0])
	}
	var rows []Assignment
	for _, r := range records[1:] {
		position, err := strconv.Atoi(r[3])
		if err != nil {
			t.Fatalf("position: %v", err)
		}
		rows = append(rows, Assignment{r[0], r[1], r[2], position})
	}
	return rows
}

// table counts pairs of outcomes.
type table map[[2]string]int

func newTable() table { return table{} }

func (c table) add(a, b string) { c[[2]string{a, b}]++ }

// checkUniform checks that exactly the given number of pairs occurred, as often as equal chances allow.
func (c table) checkUniform(t *testing.T, what string, pairs int) {
	t.Helper()
	if len(c) != pairs {
		t.Errorf("%s: %d different outcomes, want %d", what, len(c), pairs)
		return
	}
	total := 0
	for _, k := range c {
		total += k
	}
	chiSquare(t, what, slices.Collect(maps.Values(c)), total)
}

// chiSquare checks counts against equal chances with Pearson's statistic at the 0.999 quantile.
func chiSquare(t *testing.T, what string, counts []int, total int) {
	t.Helper()
	expected := float64(total) / float64(len(counts))
	statistic := 0.0
	for _, k := range counts {
		statistic += (float64(k) - expected) * (float64(k) - expected) / expected
	}
	if limit := (distuv.ChiSquared{K: float64(len(counts) - 1)}).Quantile(0.999); statistic > limit {
		t.Errorf("%s: chi-square %.1f over %d cells, want at most %.1f", what, statistic, len(counts), limit)
	}
}

// checkHalf checks a count of fair coin throws: it lies within the binomial's 0.0005 and 0.9995 quantiles.
func checkHalf(t *testing.T, what string, k, n int) {
	t.Helper()
	b := distuv.Binomial{N: float64(n), P: 0.5}
	if b.CDF(float64(k)) < 0.0005 || b.CDF(float64(k-1)) > 0.9995 {
		t.Errorf("%s: %d of %d, want about half", what, k, n)
	}
}
