package compare

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// TestBalancedSplits: a split of as many better as worse cases has p = 1. Where nothing is missing that is all there is to say; where it
// is only one way to complete the missing trials, the cases that move for certain are told.
func TestBalancedSplits(t *testing.T) {
	for _, c := range []struct {
		name      string
		old, next []string
		want      string // at the beginning of the reason
	}{
		{"nothing is missing", []string{"0", "1"}, []string{"1", "0"}, "1 case is better and 1 worse: p = 1 is not below 0.05, so it is uncertain whether"},
		// The second case is worse at its worst, and better at its best: 1 to 1, or 2 to 0.
		{"at the worst completion", []string{"0", "01"}, []string{"1", "??"}, "The missing trials could make the candidate better or worse (for certain, 1 case is better and 0 worse; 1 depends on them), so it is uncertain."},
		{"at the best completion", []string{"1", "01"}, []string{"0", "??"}, "The missing trials could make the candidate better or worse (for certain, 0 cases are better and 1 worse; 1 depends on them), so it is uncertain."},
	} {
		r := ruleOf(t, decide(t, signPolicy, written("old", c.old...)+written("new", c.next...)))
		if r.Verdict != report.InsufficientEvidence || *r.PValue != 1 || !strings.HasPrefix(r.Reason, c.want) {
			t.Errorf("%s: %s, p %v, %q; want p = 1 and %q", c.name, r.Verdict, *r.PValue, r.Reason, c.want)
		}
	}
}

// TestEqualCasesAreNoBetterCases: a case that is equal can join those that are worse, and cannot leave those that are better. Of nine better
// ones by two trials and an equal one, 9 to 0, the cheapest way to be uncertain is that the equal one gets worse (1 trial) and a better
// one too (3): 8 to 2, p = 0.109; 8 to 1 is 0.039, 7 to 1 0.070 for 1 + 2 + 2.
func TestEqualCasesAreNoBetterCases(t *testing.T) {
	r := ruleOf(t, decide(t, signPolicy, written("old", append(repeat(9, "00"), "11")...)+written("new", append(repeat(9, "11"), "11")...)))
	if want := "it would take 4 missing trials to leave it uncertain."; r.Verdict != report.Pass || !strings.HasSuffix(r.Reason, want) {
		t.Errorf("%s, %q; want %q at the end", r.Verdict, r.Reason, want)
	}
}

// TestPOfTheSection: the sign test among the measures holds over repeated looks where the section's do, and is for one look else, also where
// the section plans a number of cases for its means.
func TestPOfTheSection(t *testing.T) {
	body := written("old", repeat(7, "0")...) + written("new", repeat(7, "1")...)
	for settings, want := range map[string]float64{
		"":                          interval.SignTest(7, 0),
		"looks: once\nplanned: 7\n": interval.SignTest(7, 0),
		"looks: repeated\n":         interval.SignSequence(7, 0),
	} {
		g := decide(t, settings+"rules: [{id: r, metric: rate, minimum: 0.1}]", body)
		if m := measure(t, g, signTest); *m.PValue != want {
			t.Errorf("%q: p = %v, want %v", settings, *m.PValue, want)
		}
	}
}

// TestNeedsWithoutData: where nothing was evaluated, that is what is needed, and not more of the same.
func TestNeedsWithoutData(t *testing.T) {
	for _, rule := range []string{"metric: sign_test", "metric: rate, minimum: 0.5", "metric: pass_rate_difference, minimum: 0"} {
		shared := written("old", "1") + written("new", "1")
		if rule != "metric: sign_test" {
			r := ruleOf(t, decide(t, "rules: [{id: r, "+rule+", where: {case: case-9}}]", shared))
			if r.Verdict != report.InsufficientEvidence || r.Needs == nil || r.Needs.What != gate.EmptySlice || r.TippingPoint != nil {
				t.Errorf("%s, an empty slice: %s, needs %+v, tipping point %+v", rule, r.Verdict, r.Needs, r.TippingPoint)
			}
		}
		if strings.HasPrefix(rule, "metric: rate") {
			continue
		}
		r := ruleOf(t, decide(t, "rules: [{id: r, "+rule+"}]", "old,a,1,1\nnew,b,1,1\n"))
		if want := "cases that both versions are tried on, by one name in both"; r.Verdict != report.InsufficientEvidence || r.Needs == nil || r.Needs.What != want || r.TippingPoint != nil {
			t.Errorf("%s, no shared case: %s, needs %+v, tipping point %+v; want %q", rule, r.Verdict, r.Needs, r.TippingPoint, want)
		}
	}
}

// TestTippingPointOfMeans: an undecided rate with missing trials says how many of them decide it.
func TestTippingPointOfMeans(t *testing.T) {
	r := ruleOf(t, decide(t, "rules: [{id: r, metric: rate, minimum: 0.6}]", written("old", repeat(40, "1")...)+written("new", append(repeat(20, "1"), repeat(20, "?")...)...)))
	if r.Verdict != report.InsufficientEvidence || r.TippingPoint == nil {
		t.Errorf("%s, tipping point %+v", r.Verdict, r.TippingPoint)
	}
}

// TestNeedsUnderAPlan: where a plan fixes the cases, more of them are a new sample, also over repeated looks, at which cases can be added
// otherwise.
func TestNeedsUnderAPlan(t *testing.T) {
	body := written("old", repeat(10, "11")...) + written("new", append(repeat(6, "11"), repeat(4, "01")...)...)
	for settings, planned := range map[string]bool{"": false, "plan: {cases: 10, trials: 2}\n": true} {
		r := ruleOf(t, decide(t, "looks: repeated\n"+settings+"rules: [{id: r, metric: rate, minimum: 0.75}]", body))
		if r.Verdict != report.InsufficientEvidence || r.Needs == nil || strings.Contains(r.Needs.What, "in a new sample") != planned {
			t.Errorf("%q: %s, needs %+v", settings, r.Verdict, r.Needs)
		}
	}
}

// TestSignNeedsOnBothSides: where the missing trials leave either direction possible, recording them is what is needed first.
func TestSignNeedsOnBothSides(t *testing.T) {
	// For certain one better and one worse; three depend on what is missing: from 1 better and 4 worse to 4 better and 1 worse.
	body := written("old", "0", "1", "01", "01", "01") + written("new", "1", "0", "??", "??", "??")
	r := ruleOf(t, decide(t, signPolicy, body))
	if r.Needs == nil || !strings.HasPrefix(r.Needs.What, "what is missing to be recorded: with as much of it missing, no number of such cases would decide") {
		t.Errorf("%s, needs %+v", r.Verdict, r.Needs)
	}
	// From 1 better and 4 worse to 2 and 3: one direction, which more cases can show.
	r = ruleOf(t, decide(t, signPolicy, written("old", "0", "1", "1", "1", "01")+written("new", "1", "0", "0", "0", "??")))
	if r.Needs == nil || strings.HasPrefix(r.Needs.What, "what is missing to be recorded") {
		t.Errorf("%s, needs %+v", r.Verdict, r.Needs)
	}
}

// TestLeastCases: the least number of cases that decides, against trying one after the other: all splits of up to twelve cases that fewer
// than a hundred decide, more of which are told rounded.
func TestLeastCases(t *testing.T) {
	v := &view{judging: policy.Judging{}.WithDefaults()}
	asked := 0
	for cases := 1; cases <= 12; cases++ {
		for more := 1; more <= cases; more++ {
			for fewer := 0; fewer < more && more+fewer <= cases; fewer++ {
				least := cases
				for ; least < 100; least++ { // whole cases of those that are more, every part of one of those that are fewer
					a, b := more*least/cases, (fewer*least+cases-1)/cases
					if a > b && interval.SignTest(a, b) < 0.05 {
						break
					}
				}
				if least == 100 {
					continue
				}
				asked++
				for _, split := range []signs{{more, fewer}, {fewer, more}} {
					if n, found := v.enough(split, cases); !found || n != least {
						t.Errorf("%+v of %d cases: %d, %t; want %d", split, cases, n, found, least)
					}
				}
			}
		}
	}
	if asked < 50 { // most of the 258 splits
		t.Errorf("only %d splits", asked)
	}
	// Beyond what is looked at one by one: 21 to 20 of 50. The least number is near 1.96²·41·50, 7876.
	decides := func(n int) bool { return interval.SignTest(21*n/50, (20*n+49)/50) < 0.05 }
	n, found := v.enough(signs{21, 20}, 50)
	if !found || !decides(n) || decides(n*19/20) || n < 7000 || n > 9000 {
		t.Errorf("21 to 20 of 50 cases: %d, %t", n, found)
	}
	// Of 11 to 9 of 25 cases 516 decide and 520, as they would be told, do not; 521 are told as 530, which do.
	decides = func(n int) bool { return interval.SignTest(11*n/25, (9*n+24)/25) < 0.05 }
	if n, found := v.enough(signs{11, 9}, 25); !found || n != 521 || !decides(gate.Rounded(n)) || !decides(516) || decides(520) {
		t.Errorf("11 to 9 of 25 cases: %d, %t", n, found)
	}
	// No number of cases decides where as many move one way as the other.
	if n, found := v.enough(signs{1, 1}, 2); found {
		t.Errorf("1 better and 1 worse of 2: %d", n)
	}
}

// TestRoundedUp: a number with no more digits than are told is told as it is; 2/2⁶ and 18/2⁸.
func TestRoundedUp(t *testing.T) {
	for p, want := range map[float64]float64{0.03125: 0.03125, 0.0703125: 0.07032, 0.0625: 0.0625} {
		if got := roundedUp(p, 4); got != want {
			t.Errorf("%v: %v, want %v", p, got, want)
		}
	}
	// To six digits it is the first time below the level, 0.05.
	v := &view{judging: policy.Judging{}.WithDefaults()}
	if got, want := v.pText(0.0499991234), "0.0499992"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestWhatMerges: two readings that do not go together are not merged: their rows are then added one by one, which says why. Anything that one of
// them does not say goes with what the other says.
func TestWhatMerges(t *testing.T) {
	read := func(own bool, text string) *Tally {
		tally, diags := newTally([]string{"level", "kind"}), &diag.List{}
		add := tally.Add
		if own {
			add = tally.AddTo(candidate)
		}
		rows.Read([]string{"t"}, rows.Options{Columns: columns(tally.where, own), FS: fstest.MapFS{"t": {Data: []byte(text)}}}, func(r rows.Row) { add(r, diags) }, diags)
		if err := diags.Err(); err != nil {
			t.Fatal(err)
		}
		return tally
	}
	const header, scored = "version,case,passed,level,kind\n", "version,case,score,level,kind\n"
	for _, c := range []struct {
		one, two string
		own      bool
		want     bool
	}{
		{header + "v,a,1,x,y\n", header + "v,a,0,x,y\n", false, true},
		{header + "v,a,1,,y\n", header + "v,a,0,x,\n", false, true},
		{header + "v,a,1,x,y\n", header + "v,a,0,,\n", false, true},
		{header + "v,a,1,x,y\n", header + "v,b,0,z,z\n", false, true},
		{header + "v,a,1,x,y\n", header + "v,a,0,z,y\n", false, false},
		{header + "v,a,1,x,y\n", header + "v,a,0,x,z\n", false, false},
		{header + "v,a,1,x,y\n", scored + "v,a,1,x,y\n", false, false},
		{scored + "v,a,1,x,y\n", header + "v,a,1,x,y\n", false, false},
		{"version,case,level,kind\nv,a,x,y\n", scored + "v,a,1,x,y\n", false, true},
		{scored + "v,a,1,x,y\n", "version,case,level,kind\nv,a,x,y\n", false, true},
		{header + "v,a,1,x,y\n", header + "w,a,1,x,y\n", false, true},
		{header + "v,a,1,x,y\n", header + "w,a,1,x,y\n", true, false},
		{header + "v,a,1,x,y\n", header + "v,a,1,x,y\n", true, true},
		{header + "v,a,1,x,y\n", "case,passed,level,kind\na,1,x,y\n", true, true},
	} {
		one := read(c.own, c.one)
		name := "v"
		if c.own {
			name = roles[candidate]
		}
		before := one.versions[name]["a"].rows
		if got := one.Merge(read(c.own, c.two)); got != c.want || !got && one.versions[name]["a"].rows != before {
			t.Errorf("%q and %q merge: %t, with %d rows of a", c.one, c.two, got, one.versions[name]["a"].rows)
		}
	}
}

// TestMergedCellsVary: the trials of a case vary where some result differs from another, in whatever parts they were read.
func TestMergedCellsVary(t *testing.T) {
	zero := rows.Decimal{}
	for _, c := range []struct {
		parts [][]rows.Decimal
		want  bool
	}{
		{[][]rows.Decimal{nil, {whole}, {whole}}, false}, {[][]rows.Decimal{{whole}, nil, {whole}}, false}, {[][]rows.Decimal{{zero}, {whole}}, true},
		{[][]rows.Decimal{nil, {whole}, {zero}}, true}, {[][]rows.Decimal{{zero}, {zero}, nil}, false}, {[][]rows.Decimal{{whole}, {zero, whole}}, true},
	} {
		all := &cell{}
		for _, part := range c.parts {
			one := &cell{rows: len(part) + 1} // and a trial without a result
			for _, value := range part {
				one.add(value, value == whole)
			}
			all.merge(one)
		}
		if all.varies != c.want {
			t.Errorf("%v: varies %t, want %t", c.parts, all.varies, c.want)
		}
	}
}

// TestLooksOnceOfAFixedList: what is for cases that are drawn is refused of a section without rules too, and only that is.
func TestLooksOnceOfAFixedList(t *testing.T) {
	for settings, want := range map[string]string{
		"case_list: fixed\nlooks: once\nplanned: 3\n":   "policy.yaml:4:8: " + onceOnFixed,
		"case_list: sampled\nlooks: once\nplanned: 3\n": "",
		"case_list: fixed\nlooks: repeated\n":           "",
		"case_list: fixed\n":                            "",
	} {
		_, err := tryRun(run{verb: gate.Report, policy: "baseline: old\ncandidate: new\n" + settings, names: []string{"t.csv"}, files: map[string]string{"t.csv": header + "old,a,1,1\nnew,a,1,1\n"}})
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && got != want {
			t.Errorf("%q: %v, want %q", settings, err, want)
		}
	}
}

// TestVersionsOfTallies: where a policy names no file of trials and two files of versions, tallies have a version for each role; else their
// versions go by their names.
func TestVersionsOfTallies(t *testing.T) {
	for text, want := range map[string]bool{
		"baseline: old.csv\ncandidate: new.csv\n":                true,
		"baseline: old\ncandidate: new\n":                        false,
		"trials: t.csv\nbaseline: old.csv\ncandidate: new.csv\n": false,
	} {
		diags := &diag.List{}
		q := tallying(gate.Decide, text+signPolicy, diags)
		if err := diags.Err(); err != nil || q.own != want {
			t.Errorf("%q: a file for each version %t, want %t; %v", text, q.own, want, err)
		}
	}
}

// TestSectionWithoutTrials: a section of a release file that names no trials is told so at its place.
func TestSectionWithoutTrials(t *testing.T) {
	_, err := tryRun(run{verb: gate.Decide, policy: "compare:\n  rules: [{id: s, metric: sign_test}]\n"})
	if want := "policy.yaml:1:1: section compare names no trials; add"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// TestMovedMostFirst: cases are named by how far their rate moved, whatever the number of their trials, with the missing trials of both versions.
func TestMovedMostFirst(t *testing.T) {
	// By one half of four trials, and by all of one; in the third one trial of either version is missing.
	g := decide(t, signPolicy, written("old", "0000", "0", "00?0")+written("new", "1100", "1", "?100"))
	var got []string
	for _, m := range measure(t, g, signTest).Moved {
		got = append(got, fmt.Sprintf("%s %.3f %.3f %d", m.Case, m.Baseline, m.Candidate, m.Missing))
	}
	if want := "case-2 0.000 1.000 0, case-1 0.000 0.500 0, case-3 0.000 0.333 2"; strings.Join(got, ", ") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, ", "), want)
	}
}
