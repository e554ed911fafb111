package compare

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// TestRowErrors: what a row, two rows, or all rows show to be wrong, with its place.
func TestRowErrors(t *testing.T) {
	const policyText = "baseline: old\ncandidate: new\n" + signPolicy
	sound := "old,a,1,1\nnew,a,1,1\n"
	for _, c := range []struct{ text, want string }{
		{header + sound + ",a,2,1\n", "t.csv:4:1: version is empty; every row needs one"},
		{header + ",a,1,1\n" + sound, "t.csv:2:1: version is empty; every row needs one"}, // the first row of all
		{header + sound + "old,,2,1\n", "t.csv:4:5: case is empty; every row needs one"},
		{header + sound + "old,a,2,yes\n", `t.csv:4:9: passed: found "yes": 0 or 1 is allowed, also written 0.0 or 1.0, false or true (empty where the trial did not finish)`},
		{header + sound + ",,2,yes\n", "t.csv:4:1: version is empty; every row needs one\nt.csv:4:2: case is empty; every row needs one\nt.csv:4:5: passed: found \"yes\": 0 or 1 is allowed, also written 0.0 or 1.0, false or true (empty where the trial did not finish)"},
		{header + sound + "old,a,1,0\n", "t.csv:4: the same version, case and trial as at t.csv:2; a trial has one row (leave trial empty where trials have no names)"},
		{scoreHeader + "old,a,1,1.5\n", `t.csv:2:9: score: found "1.5"; a number from 0 to 1 is allowed`},
		{scoreHeader + "old,a,1,-0.1\n", `t.csv:2:9: score: found "-0.1"; a number from 0 to 1 is allowed`},
		{scoreHeader + "old,a,1,\"0,5\"\n", `t.csv:2:9: score: found "0,5": a decimal comma is not read, write a point`},
		{scoreHeader + "old,a,1,good\n", `t.csv:2:9: score: found "good": a decimal number such as 0.25 or 1e-3 is allowed`},
		{"version,case,passed,score\nold,a,1,1\nnew,a,1,1\n", "t.csv:2:9: found passed and score; a trial has one of them: leave the other column out"},
		{"version,case,result\nold,a,1\nnew,a,1\n", "t.csv: neither a column passed nor a column score was found; a trial has one of them: add it, or name the one that holds it under columns in the policy"},
		{`{"version":"old","case":"a","passed":1}` + "\n" + `{"version":"new","case":"a","score":1}`, `t.csv:2:37: found score, but the trial at t.csv:1:38 has passed; all trials of a comparison have the same kind of result`},
	} {
		_, err := tryRun(run{verb: gate.Decide, policy: policyText, names: []string{"t.csv"}, files: map[string]string{"t.csv": c.text}})
		if err == nil || err.Error() != c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
	// In JSONL a trial that did not finish may have no key at all, as long as some row has it.
	unfinished := `{"version":"old","case":"a","passed":1}` + "\n" + `{"version":"new","case":"a"}`
	a, err := tryRun(run{verb: gate.Decide, policy: policyText, names: []string{"t"}, files: map[string]string{"t": unfinished}})
	if err != nil || a.Gate.Data.Of("missing_trials") != 1 || a.Gate.Data.Of("absent_trials") != 0 {
		t.Errorf("a row without a result: %v, %v", a.Gate.Data, err)
	}
	// Rows without a trial are separate trials, never duplicates; so are equal names in different cases and versions.
	a, err = tryRun(run{verb: gate.Decide, policy: policyText, names: []string{"t"}, files: map[string]string{"t": header + "old,a,,1\nold,a,,1\nnew,a,7,1\nnew,a,8,0\nnew,b,7,1\nold,b,7,1\n"}})
	if err != nil || a.Gate.Data.Of("trials") != 6 {
		t.Errorf("rows without a trial: %v, %v", a.Gate.Data, err)
	}
}

// TestSecondFileWithoutResults: each file needs results of its own.
func TestSecondFileWithoutResults(t *testing.T) {
	_, err := tryRun(run{verb: gate.Decide, policy: "baseline: old\ncandidate: new\n" + signPolicy, names: []string{"a.csv", "b.csv"},
		files: map[string]string{"a.csv": header + "old,a,1,1\nnew,a,1,1\n", "b.csv": "version,case,result\nold,b,1\nnew,b,1\n"}})
	if want := "b.csv: neither a column passed nor a column score was found"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// TestSecondColumnOfWhere: of two columns that rules slice by, each has its own place.
func TestSecondColumnOfWhere(t *testing.T) {
	const text = "version,case,passed,level,kind\nold,a,1,hard,x\nnew,a,1,hard,y\n"
	_, err := tryRun(run{verb: gate.Decide, policy: "baseline: old\ncandidate: new\nrules: [{id: r, metric: rate, minimum: 0.5, where: {level: hard, kind: x}}]",
		names: []string{"t.csv"}, files: map[string]string{"t.csv": text}})
	// The columns in the order of the file: "kind" is the fifth of "new,a,1,hard,y", at its 14th byte.
	if want := "t.csv:3:14: kind of case \"a\" is \"y\" here and \"x\" at t.csv:2:14; a rule's `where` needs one value for a case"; err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// TestScoresJustOutside: a score just below 0 or above 1 is refused as written, although rounding to 18 decimals would bring
// it into [0, 1]; one just inside is rounded, which is told.
func TestScoresJustOutside(t *testing.T) {
	read := func(text string) (report.Gate, error) {
		a, err := tryRun(run{verb: gate.Report, names: []string{"t.csv"}, files: map[string]string{"t.csv": scoreHeader + "old,a,1," + text + "\n"}})
		return a.Gate, err
	}
	zeros := strings.Repeat("0", 400)
	for _, text := range []string{"1.0000000000000000001", "+1.0000000000000000001", "01.0000000000000000000000001", "10000000000000000000.1e-19", "0." + zeros + "10000000000000000000001e401",
		"1." + zeros + "1", "-1e-30", "-0.0000000000000000004", "-1e-999999999999", "-." + zeros + "1"} {
		if _, err := read(text); err == nil || err.Error() != "t.csv:2:9: score: found "+diag.Quote(text)+"; a number from 0 to 1 is allowed" {
			t.Errorf("%s: %v, want an error", text, err)
		}
	}
	for _, text := range []string{"0.9999999999999999999", "+.99999999999999999999", "9999999999999999999.9e-19", "1e-30", "+1e-999999999999", "0." + zeros + "1"} {
		g, err := read(text)
		if err != nil || finding(g, "scores_rounded") == nil {
			t.Errorf("%s: %v, findings %v; want it rounded", text, err, g.Findings)
		}
	}
	for _, text := range []string{"0", "-0", "-0.000", "1", "1.000", "100e-2"} {
		g, err := read(text)
		if err != nil || finding(g, "scores_rounded") != nil {
			t.Errorf("%s: %v, findings %v; want it read as it is", text, err, g.Findings)
		}
	}
	// Against rational arithmetic, at numbers around both ends.
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[+-]?(0{0,3}[01]?\.(0{15,20}|9{15,20})[0-9]{0,3}|[19]0{0,2}[0-9]{18,20}e-(19|20|21|22))`).Draw(t, "score")
		x, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%s is no number", text)
		}
		_, err := read(text)
		if want := x.Sign() < 0 || x.Cmp(big.NewRat(1, 1)) > 0; (err != nil) != want {
			t.Fatalf("%s: %v, want an error: %v", text, err, want)
		}
	})
}

// TestDuplicatesAmongMany: a second row of a trial is found among many, in other files too.
func TestDuplicatesAmongMany(t *testing.T) {
	var b strings.Builder
	b.WriteString(header)
	for i := range 96 {
		fmt.Fprintf(&b, "old,a,%d,1\nnew,a,%d,1\n", i, i)
	}
	_, err := tryRun(run{verb: gate.Decide, policy: "baseline: old\ncandidate: new\n" + signPolicy, names: []string{"t.csv", "u.csv"},
		files: map[string]string{"t.csv": b.String(), "u.csv": header + "new,a,5,0\nold,a,95,0\nold,a,96,0\n"}})
	want := "u.csv:2: the same version, case and trial as at t.csv:13; a trial has one row (leave trial empty where trials have no names)\n" +
		"u.csv:3: the same version, case and trial as at t.csv:192; a trial has one row (leave trial empty where trials have no names)"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestVersionErrors: versions that cannot be compared, and where the policy or the command line says so.
func TestVersionErrors(t *testing.T) {
	files := map[string]string{
		"t.csv": header + written("old", "1") + written("new", "1"), "one.csv": header + written("old", "1"),
		"a.csv": "version,case,passed\nv1,a,1\nv2,a,1\n", "b.csv": "case,passed\na,0\n",
	}
	for _, c := range []struct {
		name string
		run
		want string
	}{
		{"two versions, no names", run{policy: signPolicy, names: []string{"t.csv"}},
			`policy.yaml: the files hold 2 versions ("new", "old"), and which is the baseline and which the candidate is not said: add baseline and candidate to the policy, or --baseline and --candidate`},
		{"one version", run{policy: signPolicy, names: []string{"one.csv"}}, "policy.yaml: the files hold one version, \"old\"; comparing needs two (`report` measures one)"},
		{"one version, named", run{policy: "baseline: old\ncandidate: nwe\n" + signPolicy, names: []string{"t.csv"}},
			`policy.yaml:2:12: candidate is "nwe", which is not among the versions of the files: "new", "old"; did you mean "new"?`},
		{"named on the command line", run{policy: signPolicy, names: []string{"t.csv"}, flags: gate.Flags{Baseline: "older", Candidate: "new"}},
			`baseline is "older", which is not among the versions of the files: "new", "old"`},
		{"one name", run{policy: "baseline: old\n" + signPolicy, names: []string{"t.csv"}}, "policy.yaml:1:11: baseline is named and candidate is not; name both versions, or neither"},
		{"one name twice", run{policy: "baseline: old\ncandidate: old\n" + signPolicy, names: []string{"t.csv"}}, `policy.yaml:2:12: baseline and candidate are both "old"; comparing needs two versions`},
		{"two names for one", run{policy: "baseline: old\ncandidate: new\n" + signPolicy, names: []string{"t.csv"}, flags: gate.Flags{Baseline: "new"}},
			`policy.yaml:1:11: baseline is "old" here and "new" in --baseline; say it once, or the same in both`},
		{"one file, of the baseline", run{policy: "baseline: b.csv\n" + signPolicy}, "policy.yaml:1:11: no file of trials is named, so baseline is read as a file, and none is given as candidate; give a file for each version, or name files that hold both"},
		{"one file", run{policy: signPolicy, flags: gate.Flags{Candidate: "b.csv"}}, "no file of trials is named, so candidate is read as a file, and none is given as baseline; give a file for each version, or name files that hold both"},
		{"names without files", run{policy: "baseline: old\ncandidate: new\n" + signPolicy},
			"policy.yaml:1:11: no file of trials is named, so baseline and candidate are read as files, and \"old\" and \"new\" look like names of versions; name the files of trials (`trials` in the policy, or on the command line), or write ./old and ./new where they are files"},
		{"names without files, on the command line", run{policy: signPolicy, flags: gate.Flags{Baseline: "old", Candidate: "new"}},
			"no file of trials is named, so baseline and candidate are read as files, and \"old\" and \"new\" look like names of versions; name the files of trials (`trials` in the policy, or on the command line), or write ./old and ./new where they are files"},
		{"a folder and an ending are files", run{policy: signPolicy, flags: gate.Flags{Baseline: "old", Candidate: "new.csv"}}, "new.csv: there is no such file\nold: there is no such file"},
		{"one file twice", run{policy: signPolicy, flags: gate.Flags{Baseline: "b.csv", Candidate: "b.csv"}}, `baseline and candidate are the same file, "b.csv"; comparing needs two`},
		{"two versions in a file of one", run{policy: signPolicy, flags: gate.Flags{Baseline: "a.csv", Candidate: "b.csv"}},
			`a.csv:3:1: version is "v2" here and "v1" at a.csv:2:1, but the file of the baseline holds one version; name the file and the two versions instead`},
		{"no file", run{policy: signPolicy}, noFile},
		{"no version column", run{policy: "baseline: old\ncandidate: new\n" + signPolicy, names: []string{"b.csv"}},
			`b.csv:1: the column "version" is missing: add it, or name the one that holds it under columns in the policy`},
	} {
		c.run.verb, c.run.files = gate.Decide, files
		_, err := tryRun(c.run)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

// TestVersionsOfAPolicyAlone: a policy that names versions, and leaves the files to the command line, is sound by itself.
func TestVersionsOfAPolicyAlone(t *testing.T) {
	compiled(t, "baseline: old\ncandidate: new\n"+signPolicy) // fails with an error of the policy
}

// TestPolicyErrors: rules and settings that this gate cannot decide are refused where they are written.
func TestPolicyErrors(t *testing.T) {
	body := header + written("old", "10", "11", "1") + written("new", "11", "11", "0")
	scored := scoreHeader + "old,a,1,0.5\nnew,a,1,1\n"
	const versions = "baseline: old\ncandidate: new\n"
	for _, c := range []struct{ policy, text, want string }{
		{"rules: [{id: r, metric: pass_at_k, minimum: 0.5}]", body, "policy.yaml:3:25: rule r has no k; say of how many trials, such as k: 5"},
		{"rules: [{id: r, metric: rate, k: 2, minimum: 0.5}]", body, "policy.yaml:3:31: k is for pass_at_k and pass_all_k, not for rate"},
		{"rules: [{id: r, metric: pass_at_k, k: 0, minimum: 0.5}]", body, "policy.yaml:3:39: k: found \"0\"; a whole number from 1 to 2147483647 is wanted"},
		{"rules: [{id: r, metric: pass_all_k, k: 2, minimum: 0.5}]", body, `policy.yaml:3:40: k is 2, more than the trials of case "case-3"; allowed here: 1 to 1, the least number of trials of a case`},
		{"rules: [{id: r, metric: pass_at_k, k: 1, minimum: 0.5}]", scored, "policy.yaml:3:25: pass_at_k counts passes, and these trials have scores; use rate, or record passed"},
		{"rules: [{id: r, metric: sign_test, minimum: 0.5}]", body, "policy.yaml:3:36: rule r: sign_test has no threshold; leave minimum out"},
		{"rules: [{id: r, metric: sign_test, version: baseline}]", body, "policy.yaml:3:45: sign_test compares both versions; leave version out"},
		{"rules: [{id: r, metric: pass_rate_difference, minimum: 0, version: candidate}]", body, "policy.yaml:3:68: pass_rate_difference compares both versions; leave version out"},
		{"rules: [{id: r, metric: rate, minimum: 0.5, version: old}]", body, `policy.yaml:3:54: version is "old"; allowed: baseline, candidate`},
		{"rules: [{id: r, metric: sign_test, looks: once, planned: 3}]", body, "policy.yaml:3:43: looks: once fixes the number of units of a mean; sign_test is exact for one look already"},
		{"case_list: fixed\nlooks: once\nplanned: 3\nrules: [{id: r, metric: rate, minimum: 0.5}]", body, "policy.yaml:4:8: " + onceOnFixed},
		{"case_list: fixde\nrules: [{id: r, metric: rate, minimum: 0.5}]", body, `policy.yaml:3:12: case_list is "fixde"; did you mean "fixed"? Allowed: sampled, fixed`},
		{"plan: {cases: 3}\n" + signPolicy, body, "policy.yaml:3:1: plan has no trials; it needs both, as in {cases: 8, trials: 5}"},
		{"plan: {cases: 3, trial: 2}\n" + signPolicy, body, "policy.yaml:3:1: plan has no trials; it needs both, as in {cases: 8, trials: 5}\n" + `policy.yaml:3:18: unknown key "trial" in plan; did you mean "trials"? Allowed: cases, trials`},
		{"plan: {cases: 1000001, trials: 0}\n" + signPolicy, body, "policy.yaml:3:15: cases: found \"1000001\"; a whole number from 1 to 1000000 is wanted\npolicy.yaml:3:32: trials: found \"0\"; a whole number from 1 to 100000 is wanted"},
		{"plan: 8\n" + signPolicy, body, "policy.yaml:3:7: plan: found "},
		{"rules: [{id: r, metric: pass_rate, minimum: 0.5}]", body, `policy.yaml:3:25: unknown metric "pass_rate" in rule r`},
		{"rules: [{id: r, metric: rate, minimum: 90}]", body, "policy.yaml:3:40: minimum is 90; allowed for rate: 0 to 1; for 90 % write 0.9"},
		{"columns: {versoin: v}\n" + signPolicy, body, `policy.yaml:3:11: columns: compare reads no column "versoin"; its columns are version, case, trial, passed, score and those of a rule's ` + "`where`"},
		{"columns: {trial: case}\n" + signPolicy, body, `policy.yaml:3:18: columns: case and trial would both be read from the column "case"; each needs its own`},
		{"rules: [{id: r, metric: rate, minimum: 0.5, where: {passed: 1}}]", body, "policy.yaml:3:53: where: passed is what trials set or measure, and a slice is of cases; slice by something of the case that was known beforehand"},
		{"plan: {cases: 3, trials: 2}\nrules: [{id: r, metric: pass_at_k, k: 3, minimum: 0.5}, {id: s, metric: pass_all_k, k: 2, minimum: 0.5}]", body, "policy.yaml:4:39: k is 3, and plan says 2 trials of a case; allowed: 1 to 2"},
		{"plan: {cases: 3, trials: 1}\nrules: [{id: r, metric: pass_at_k, k: 2, minimum: 0.5}]", body, "policy.yaml:4:39: k is 2, and plan says 1 trial of a case; allowed: 1 to 1"},
		{"plan: {cases: 3, trials: 2}\nlooks: once\nplanned: 4\nrules: [{id: r, metric: rate, minimum: 0.5}, {id: s, metric: sign_test}]", body, "policy.yaml:5:10: planned is 4, and plan says 3 cases; say the same number in both (only a rule with `where` may plan fewer)"},
		{"plan: {cases: 3, trials: 2}\nrules: [{id: r, metric: rate, minimum: 0.5, looks: once, planned: 2}]", body, "policy.yaml:4:67: planned is 2, and plan says 3 cases; say the same number in both (only a rule with `where` may plan fewer)"},
		{"plan: {cases: 3, trials: 2}\nrules: [{id: r, metric: rate, minimum: 0.5, looks: once, planned: 4, where: {case: a}}]", body, "policy.yaml:4:67: planned is 4, and plan says 3 cases; say"},
		{"rules: [{id: r, metric: rate, minimum: 0.5, where: {}}]", body, "policy.yaml:3:45: where is empty; name a column and the value that it must have, as in {level: hard}, or leave where out for all cases"},
		{"rules: [{id: r, metric: rate, minimum: 0.5, where: {case: [a]}}]", body, "policy.yaml:3:59: where \"case\": found a list; a text is wanted"},
		{"case_lst: fixed\n" + signPolicy, body, `policy.yaml:3:1: unknown key "case_lst" in the policy; did you mean "case_list"?`},
	} {
		_, err := tryRun(run{verb: gate.Decide, policy: versions + c.policy, names: []string{"t.csv"}, files: map[string]string{"t.csv": c.text}})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.policy, err, c.want)
		}
	}
	// What is right beside these.
	for _, policyText := range []string{
		"plan: {cases: 3, trials: 2}\nlooks: once\nplanned: 3\nrules: [{id: r, metric: pass_at_k, k: 2, minimum: 0.5}, {id: s, metric: sign_test}]",
		"plan: {cases: 3, trials: 2}\nrules: [{id: r, metric: rate, minimum: 0.5, looks: once, planned: 2, where: {case: case-1}}]",
	} {
		if _, err := tryRun(run{verb: gate.Decide, policy: versions + policyText, names: []string{"t.csv"}, files: map[string]string{"t.csv": body}}); err != nil {
			t.Errorf("%s: %v", policyText, err)
		}
	}
}

// TestProspects: what can never pass or fail at the planned numbers is said without data.
func TestProspects(t *testing.T) {
	for _, c := range []struct{ policy, want string }{
		{"plan: {cases: 5, trials: 5}\n" + signPolicy, "rule better can never pass or fail with 5 cases planned: p is 0.0625 where all of them move one way"},
		{"plan: {cases: 6, trials: 5}\n" + signPolicy, ""},
		// When all agree, the sequence reaches .53 with 8 cases and .77 with 20 (audited).
		{"plan: {cases: 8, trials: 5}\nrules: [{id: r, metric: rate, minimum: 0.9}]", "rule r can never pass with 8 cases planned: the interval reaches from 0.526 to 1.000 at the most"},
		// 20 of 20: .025^(1/20) = .832, above .8; the sequence would not reach it.
		{"plan: {cases: 20, trials: 5}\nrules: [{id: r, metric: pass_all_k, k: 5, minimum: 0.8}]", ""},
		{"plan: {cases: 20, trials: 5}\nrules: [{id: r, metric: pass_all_k, k: 4, minimum: 0.8}]", "rule r can never pass with 20 cases planned: the interval reaches from 0.768 to 1.000 at the most"},
		{"case_list: fixed\nplan: {cases: 8, trials: 5}\nrules: [{id: r, metric: rate, minimum: 0.9}]", ""},
		// On a fixed list trials are the units: 6 of 6 reach .025^(1/6) = .5407, and 12 of 12, as a difference, 2·.025^(1/12) − 1 = .4707; cases, 2 of 2, √.025 = .158.
		{"case_list: fixed\nplan: {cases: 2, trials: 3}\nrules: [{id: r, metric: rate, minimum: 0.6}]", "rule r can never pass with 2 cases planned: the interval reaches from 0.541 to 1.000 at the most"},
		{"case_list: fixed\nplan: {cases: 2, trials: 3}\nrules: [{id: r, metric: pass_rate_difference, maximum: -0.5}]", "rule r can never pass with 2 cases planned: the interval reaches from -1.000 to -0.471 at the most"},
		{"case_list: fixed\nplan: {cases: 2, trials: 3}\nrules: [{id: r, metric: pass_all_k, k: 3, minimum: 0.2}]", "rule r can never pass with 2 cases planned: the interval reaches from 0.158 to 1.000 at the most" +
			"rule r can never fail with 2 cases planned: the interval reaches from 0.000 to 0.842 at the most"},
		// Of 2 of 3 trials a case is 0, 1, or a part: a mean of 8 cases, to which the sequence says .526, as above.
		{"case_list: fixed\nplan: {cases: 8, trials: 3}\nrules: [{id: r, metric: pass_all_k, k: 2, minimum: 0.9}]", "rule r can never pass with 8 cases planned: the interval reaches from 0.526 to 1.000 at the most"},
		{signPolicy, ""},
	} {
		got := ""
		for _, d := range compiled(t, c.policy).Prospects() {
			got += d.Message
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.policy, got, c.want)
		}
	}
}
