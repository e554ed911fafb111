package cli

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/report"
)

// resultStudy is a study with rows, and what a query of it gives, written by hand.
type resultStudy struct {
	gate   string
	fsys   fstest.MapFS
	result string
}

// countingDigest is the digest of the counting of a study.
func countingDigest(t testing.TB, g gate.Gate, fsys fstest.MapFS) string {
	return regexp.MustCompile(`"digest": "([0-9a-f]{64})"`).FindStringSubmatch(mustCount(t, g, fsys, "c.csv"))[1]
}

func fairnessResult(t testing.TB) resultStudy {
	fsys := folder("policy.yaml", "missing_values: [NA, \"0\"]\npositive: y\nnegative: n\nprobability: p\nattributes: {sex: [f, m], age: {bins: [30]}}\nmin_cell: 1\nrules:\n  - {id: a, rate: error, attribute: sex, max_group_gap: 0.5, where: {region: north}}\n",
		"c.csv", "id,label,prediction,p,sex,age,region\n1,n,y,0.25,f,20,north\n2,n,y,0.25,f,20,north\n3,y,,,x,4e1,\n4,y,n,1e-20,m,0,NA\n")
	head := "oloproof-tally/1 fairness,," + countingDigest(t, fairnessGate(), fsys) + ",decided,4,"
	return resultStudy{"fairness", fsys, "tally,section,counting,source,total_rows,n,rows_with_id,distinct_ids,rows_with_unit,distinct_units,label,prediction,bin,probabilities,probability,group_1,value_1,group_2,value_2,where_1\n" +
		head + "2,4,4,0,0,n,y,2,0.500000000000000000,,,f,0,,north\n" +
		head + "1,4,4,0,0,y,,,,,,x,,4e1,\n" +
		head + "1,4,4,0,0,y,n,,,1e-20,,m,,,\n"}
}

func scoresResult(t testing.TB) resultStudy {
	fsys := folder("policy.yaml", "baseline: a\ncandidate: b\nrules: [{id: a, metric: sign_test, where: {level: x}}]\n",
		"c.csv", "version,case,score,level\na,x,0.5,x\na,x,0.25,\na,x,5e-1,\nb,x,1,x\nb,x,,\n")
	head := "oloproof-tally/1 compare,," + countingDigest(t, kinds.Lookup("compare"), fsys) + ",trials,5,"
	return resultStudy{"compare", fsys, "tally,section,counting,source,total_rows,n,result,rows_with_trial,distinct_trials,version,case_id,result_text,scores,score_sum,score_least,score_most,where_1\n" +
		head + "1,score,0,0,a,x,,1,0.5,0.5,0.5,x\n" +
		head + "1,score,0,0,a,x,,1,0.25,0.25,0.25,\n" +
		head + "1,score,0,0,a,x,5e-1,0,,,,\n" +
		head + "1,score,0,0,b,x,,1,1.000000000000000000,1.000000000000000000,1.000000000000000000,x\n" +
		head + "1,score,0,0,b,x,,0,,,,\n"}
}

// TestResultsDecideAsRows: the result of a query is decided as the rows are, whole or in the form of JSONL.
func TestResultsDecideAsRows(t *testing.T) {
	for _, of := range []resultStudy{fairnessResult(t), scoresResult(t)} {
		fsys := maps.Clone(of.fsys)
		fsys["result.csv"] = &fstest.MapFile{Data: []byte(of.result)}
		lines := strings.Split(strings.TrimSpace(of.result), "\n")
		var jsonl strings.Builder
		for _, line := range lines[1:] {
			var fields []string
			names := strings.Split(lines[0], ",")
			for i, text := range strings.Split(line, ",") {
				fields = append(fields, fmt.Sprintf("%q: %q", names[i], text))
			}
			jsonl.WriteString("{" + strings.Join(fields, ", ") + "}\n")
		}
		fsys["result.jsonl"] = &fstest.MapFile{Data: []byte(jsonl.String())}
		g := kinds.Lookup(of.gate)
		want := decideBoth(g, fsys, gate.Decide, []string{"c.csv"}, nil)
		for _, result := range []string{"result.csv", "result.jsonl"} {
			got := decideBoth(g, fsys, gate.Decide, nil, []string{result})
			if len(want.Errors)+len(got.Errors) > 0 {
				t.Fatal(want.Errors, got.Errors)
			}
			if one, other := gates(t, want), gates(t, got); one != other {
				t.Errorf("%s: from %s:\n%s\nfrom rows:\n%s", of.gate, result, other, one)
			}
		}
	}
}

// TestHostileResults: a result that no query of the policy gives is refused, with its place and what is wrong.
func TestHostileResults(t *testing.T) {
	fair, scores := fairnessResult(t), scoresResult(t)
	for _, test := range []struct {
		of       resultStudy
		old, new string
		want     string
	}{
		{fair, "tally,section", "tali,section", "result.csv: it is no tally: neither one that `oloproof tally` writes, nor the result of a query of `oloproof sql`, with its header"},
		{fair, "value_2,where_1", "value_2,elsewhere", "where_1"},
		{fair, "where_1\noloproof-tally/1 fairness", "where_1\noloproof-tally/2 fairness", `result.csv:2:1: tally: found "oloproof-tally/2 fairness"; oloproof-tally/1 and a gate are wanted`},
		{fair, "1,4,4,0,0,y,n", "2,4,4,0,0,y,n", "result.csv: its rows stand for 5 rows together, and total_rows is 4: is a part of the result missing, or there twice?"},
		{fair, "1,4,4,0,0,y,n", "-1,4,4,0,0,y,n", `n: found "-1"; a whole number from 1 to 1000000000000 is allowed`},
		{fair, "1,4,4,0,0,y,n", "1.0,4,4,0,0,y,n", `n: found "1.0"`},
		{fair, "1,4,4,0,0,y,n", "1,4,3,0,0,y,n", `distinct_ids is "3" here and "4" before; a result is of one query`},
		{fair, "n,y,2,", "no,y,2,", `result.csv:2:113: label: found "no": "y" (positive) or "n" (negative) is allowed`},
		{fair, "n,y,2,", "n,y,10,", `bin: found "10"; a bin from 0 to 9 is allowed`},
		{fair, "n,y,2,", "n,y,,", `bin: found ""; a bin from 0 to 9 is allowed`},
		{fair, "0.500000000000000000", "0.7", `probabilities: found "0.7", which 2 probabilities in bin 2 cannot add up to`},
		{fair, ",1e-20,", ",1e20,", `p: found "1e20"`},
		{fair, ",,f,0,,north", ",1,f,0,,north", `group_1: found "1"; what a query of this declaration gives is allowed`},
		{fair, ",,f,0,,north", ",,f,2,,north", `group_2: found "2"`},
		{fair, ",,f,0,,north", ",,f,0,20,north", `group_2: found "0"`},
		{fair, ",4e1,", ",old,", `age: found "old": a decimal number`},
		{scores, "b,x,,0,,,,\n", "b,x,,1,,,,\n", `score_least: found ""`},
		{scores, "1,0.25,0.25,0.25", "1,0.25,0.2,0.3", "score_sum: 1 scores from 0.2 to 0.3 cannot add up to 0.25"},
		{scores, "1,0.25,0.25,0.25", "2,0.25,0.25,0.25", "scores: 2 cannot be"},
		{scores, "5e-1,0,,,,", "5e-1,1,0.5,0.5,0.5,", "scores: 1 cannot be"},
		{scores, "5e-1", "5e1", `score: found "5e1"; a number from 0 to 1 is allowed`},
		{scores, "1,score,0,0,b,x,,0", "1,passed,0,0,b,x,,0", `result is "passed" here and "score" before`},
		{scores, "b,x,,0,", ",x,,0,", "version is empty; every row needs one"},
		{scores, "b,x,,0,", "b,,,0,", "case is empty; every row needs one"},
		{scores, "a,x,,1,0.25,0.25,0.25,", "a,x,,1,0.25,0.25,0.25,z", `level of case "x" is "z" here and "x" at result.csv:2:`},
	} {
		fsys := maps.Clone(test.of.fsys)
		fsys["result.csv"] = &fstest.MapFile{Data: []byte(edited(t, test.of.result, test.old, test.new))}
		r := decideBoth(kinds.Lookup(test.of.gate), fsys, gate.Decide, nil, []string{"result.csv"})
		var told []string
		for _, e := range r.Errors {
			told = append(told, fmt.Sprintf("%s: %s", e.Pos(), e.Message))
		}
		if r.ExitStatus != report.ExitUnusable || !strings.Contains(strings.Join(told, "\n"), test.want) {
			t.Errorf("%q: exit status %d; got\n%s\nwant\n%s", test.new, r.ExitStatus, strings.Join(told, "\n"), test.want)
		}
	}
}

// TestResultsOfOneCounting: a query of another declaration is refused, and two of one table.
func TestResultsOfOneCounting(t *testing.T) {
	of := fairnessResult(t)
	fsys := maps.Clone(of.fsys)
	fsys["one.csv"] = &fstest.MapFile{Data: []byte(of.result)}
	fsys["two.csv"] = &fstest.MapFile{Data: []byte(of.result + "\n")}
	r := decideBoth(fairnessGate(), fsys, gate.Decide, nil, []string{"one.csv", "two.csv"})
	if len(r.Errors) != 1 || r.Errors[0].File != "two.csv" || r.Errors[0].Message != `the rows of the table "decided" are counted twice: here, and as the table "decided" in one.csv` {
		t.Errorf("one table twice: %v", r.Errors)
	}
	text := string(fsys["policy.yaml"].Data)
	fsys["policy.yaml"] = &fstest.MapFile{Data: []byte(edited(t, text, "[f, m]", "[m, f]"))}
	r = decideBoth(fairnessGate(), fsys, gate.Decide, nil, []string{"one.csv"})
	if len(r.Errors) != 1 || !strings.HasPrefix(r.Errors[0].Message, "it was counted in another way than the policy says: columns, groups, bins or missing_values are others") {
		t.Errorf("another counting: %v", r.Errors)
	}
}
