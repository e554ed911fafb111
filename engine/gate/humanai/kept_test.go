package humanai

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

func findingOf(g report.Gate, code string) *report.Finding {
	for i := range g.Findings {
		if g.Findings[i].Code == code {
			return &g.Findings[i]
		}
	}
	return nil
}

// TestTwoColumnsOfWhere: each column that rules slice by is read from its own.
func TestTwoColumnsOfWhere(t *testing.T) {
	file := "case,reviewer,condition,decision,reference,ai_output,site,shift\n"
	n := 0
	for _, where := range []string{"a,early", "a,early", "a,early", "a,late", "b,early"} {
		n++
		file += fmt.Sprintf("c%d,p,with,yes,yes,yes,%s\nd%d,p,without,no,yes,,%s\n", n, where, n, where)
	}
	g, err := tryAnswer("rules: [{id: r, metric: accuracy_with, minimum: 0.1, where: {shift: early, site: a}}]", file)
	if err != nil {
		t.Fatal(err)
	}
	if r := ruleOf(t, g); *r.Denominator != 3 || *r.Numerator != 3 {
		t.Errorf("%d of %d, want 3 of 3", *r.Numerator, *r.Denominator)
	}
}

// TestSeenTooEarly: an output that was on the screen before the decision without it was made is told, where moments tell it: not at the same
// moment, not where the times are plain seconds, which tell durations only.
func TestSeenTooEarly(t *testing.T) {
	pairs := func(rows ...[3]string) (body string) { // the decision without was made; the one with was begun, and made
		for i, r := range rows {
			body += fmt.Sprintf("c%d,p%d,without,no,yes,,,%s,\nc%d,p%d,with,yes,yes,yes,%s,%s,\n", i, i, r[0], i, i, r[1], r[2])
		}
		return body
	}
	const day = "2026-01-01T10:0"
	early, same, late := [3]string{day + "5:00Z", day + "4:00Z", day + "6:00Z"}, [3]string{day + "5:00Z", day + "5:00Z", day + "6:00Z"}, [3]string{day + "5:00Z", day + "5:30Z", day + "6:00Z"}
	f := findingOf(answer(t, differencePolicy, pairs(early, same, late, early)), "overlapping_decisions")
	if f == nil || f.Count != 2 {
		t.Errorf("two of four: %+v", f)
	}
	for name, body := range map[string]string{"the same moment, and later": pairs(same, late), "plain seconds": pairs([3]string{"5", "4", "6"}, [3]string{"5", "4", "6"})} {
		if f := findingOf(answer(t, differencePolicy, body), "overlapping_decisions"); f != nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestTimesWithoutDurations: where rows have a time, and none has both, that is told with their number.
func TestTimesWithoutDurations(t *testing.T) {
	body := "c1,p,with,yes,yes,yes,,2026-01-01T10:00:00Z,\nc2,p,without,no,yes,,2026-01-01T10:00:00Z,,\nc3,p,with,yes,yes,yes,,,\n"
	if f := findingOf(answer(t, differencePolicy, body), "no_durations"); f == nil || f.Count != 2 {
		t.Errorf("two rows with one time: %+v", f)
	}
	if f := findingOf(answer(t, differencePolicy, body+"c4,p,with,yes,yes,yes,2026-01-01T10:00:00Z,2026-01-01T10:01:00Z,\n"), "no_durations"); f != nil {
		t.Errorf("a row with both: %+v", f)
	}
}

// TestNearlySparse: a crossed file in which more than half of the pairs of a case and a condition hold a single decision is told, one with half
// of them is not.
func TestNearlySparse(t *testing.T) {
	row := func(item, person string, c condition) string {
		return fmt.Sprintf("%s,%s,%s,yes,yes,yes,,,\n", item, person, c)
	}
	// Case a is decided in one condition only, so that the file is not sparse. Of four pairs two hold one decision, then of five three.
	half := row("a", "p", with) + row("b", "p", with) + row("b", "q", without) + row("b", "r", without) + row("c", "q", with) + row("c", "r", with)
	for body, want := range map[string]bool{half: false, half + row("d", "p", with): true} {
		g := answer(t, differencePolicy, body)
		if f := findingOf(g, "nearly_sparse"); g.Design != crossed || (f != nil) != want {
			t.Errorf("%s: design %s, finding %+v; want one %t", body, g.Design, f, want)
		}
	}
}

// TestMergedTallies: rows kept in two tallies and merged are what one tally keeps; what the second contradicts is reported at its place.
func TestMergedTallies(t *testing.T) {
	const header = "case,reviewer,condition,decision,reference,ai_output,started_at,decided_at\n"
	read := func(tally *Tally, name, text string, diags *diag.List) *Tally {
		rows.Read([]string{name}, rows.Options{Columns: columns(nil), FS: fstest.MapFS{name: {Data: []byte(header + text)}}}, func(r rows.Row) { tally.Add(r, diags) }, diags)
		return tally
	}
	untimed, dated, seconds := "a,p,with,yes,yes,yes,,\n", "b,p,with,yes,no,yes,2026-01-01T10:00:00Z,2026-01-01T10:01:00Z\n", "c,q,without,yes,yes,,1,2\n"
	for _, c := range []struct{ first, second, want string }{
		{untimed, dated, ""}, {dated, untimed, ""}, {dated, "d,p,with,yes,no,yes,2026-01-01T10:00:00Z,2026-01-01T10:01:00Z\n", ""},
		{dated, seconds, "two:2:22: this time is "},
		{untimed, "a,q,with,no,no,yes,,\n", `two:2:13: the reference of case "a" is "no" here and "yes" at one:2:14; a case has one reference`},
		{untimed, untimed, "two:2: the same case, reviewer and condition as at one:2; a person decides a case once in a condition"},
	} {
		diags, all := &diag.List{}, &diag.List{}
		one := read(newTally(0, false), "one", c.first, diags)
		one.Merge(read(newTally(0, false), "two", c.second, diags), diags)
		got := ""
		if err := diags.Err(); err != nil {
			got = err.Error()
		}
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%q and %q: %q, want %q", c.first, c.second, got, c.want)
		}
		if c.want != "" {
			continue
		}
		whole := read(read(newTally(0, false), "one", c.first, all), "two", c.second, all)
		if diff := cmp.Diff(whole, one, cmp.AllowUnexported(Tally{}, key{}, row{}, text{}, moment{}, reference{}, rows.Time{}, rows.Decimal{})); diff != "" {
			t.Errorf("%q and %q (-added +merged):\n%s", c.first, c.second, diff)
		}
	}
}

// TestRowsOfNothing: a row in whose columns nothing stands is one problem, of the row.
func TestRowsOfNothing(t *testing.T) {
	_, err := tryAnswer(differencePolicy, "case,reviewer,condition,decision,reference,ai_output\nc1,p,with,yes,yes,yes\n,,,,,\n")
	if want := "decisions.csv:3: nothing stands in the columns of this row that are read; delete it"; err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	// So is one that is there twice.
	_, err = tryAnswer(differencePolicy, "case,reviewer,condition,decision,reference,ai_output\nc1,p,with,yes,yes,yes\nc1,p,with,yes,yes,yes\n")
	if want := "decisions.csv:3: the same case, reviewer and condition as at decisions.csv:2;"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v\nwant %s", err, want)
	}
}
