package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/report"
)

// written is a report as JSON writes it.
func written(t interface {
	Helper()
	Fatal(args ...any)
}, r *report.Report) []byte {
	t.Helper()
	doc, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// readable are reports to read back: those of real runs, and those that fill every field.
func readable(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("../../testdata/report/*.json")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d frozen reports, %v", len(names), err)
	}
	docs := map[string][]byte{
		"full":     written(t, full()),
		"fairness": written(t, fairness()),
		"errors":   written(t, report.Unusable("1.2.3", &diag.Error{More: 2, Items: []diag.Diagnostic{{Message: "m"}, {Pos: diag.Pos{File: "f", Line: 1, Column: 2}, Message: "m"}}})),
	}
	for _, name := range names {
		if docs[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return docs
}

// TestParse reads what JSON writes, also without its spaces, and writes it again.
func TestParse(t *testing.T) {
	verbs := map[report.Verdict]int{}
	for name, doc := range readable(t) {
		var compact bytes.Buffer
		if err := json.Compact(&compact, doc); err != nil {
			t.Fatal(err)
		}
		for _, form := range [][]byte{doc, compact.Bytes(), append([]byte("\ufeff"), doc...)} {
			r, err := report.Parse(form)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			verbs[r.Verdict]++
			if diff := cmp.Diff(string(doc), string(written(t, r))); diff != "" {
				t.Errorf("%s, read and written again (-before +after):\n%s", name, diff)
			}
		}
	}
	if len(verbs) != 5 { // check, report and the unusable ones have none
		t.Errorf("reports with these verdicts were read: %v", verbs)
	}
}

// TestParseLater reads a report of a later version, which names more.
func TestParseLater(t *testing.T) {
	doc := string(written(t, full()))
	later := doc
	for _, change := range [][2]string{
		{`"tool": {`, `"tools": [null, {"a": {"b": [1, "x", true, 1e400]}}], "tool": {"commit": "0a",`},
		{`"metric": "expected_calibration_error",`, `"metric": "expected_calibration_error", "seen": null,`},
		{`"change": "still_not_passed"`, `"change": "still_not_passed", "since": "2027-01-01"`},
		{`"gate": "compare",`, `"gate": "compare", "seed": {"value": 7},`},
	} {
		if later = strings.Replace(later, change[0], change[1], 1); !strings.Contains(later, change[1]) {
			t.Fatalf("there is no %s", change[0])
		}
	}
	r, err := report.Parse([]byte(later))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(doc, string(written(t, r))); diff != "" {
		t.Errorf("without what is not known (-want +got):\n%s", diff)
	}
	// A change, a kind of threshold and a method that are not known are kept as they are.
	for _, change := range [][2]string{{`"still_not_passed"`, `"better"`}, {`"worst_group": {
                "maximum": 0.25
              }`, `"mean_gap": 0.25`}, {`"order-statistics"`, `"exact"`}} {
		changed := strings.Replace(doc, change[0], change[1], 1)
		r, err := report.Parse([]byte(changed))
		if err != nil || changed == doc {
			t.Fatalf("%s: %v", change[1], err)
		}
		if diff := cmp.Diff(changed, string(written(t, r))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", change[1], diff)
		}
	}
}

// TestParseRefuses changes one thing of a report that is read: each is refused, in words that name it.
func TestParseRefuses(t *testing.T) {
	docs := readable(t)
	whole, fair, bad, checked := string(docs["full"]), string(docs["fairness"]), string(docs["errors"]), string(docs["check.json"])
	verdict := func(doc string) string { // the run's, which is the first
		_, after, _ := strings.Cut(doc, `"verdict": "`)
		name, _, _ := strings.Cut(after, `"`)
		return name
	}
	if verdict(whole) != "MANUAL_REVIEW" || verdict(fair) != "FAIL" || strings.Contains(checked, `"verdict"`) {
		t.Fatal("the reports are not those that the changes below are for")
	}
	for _, test := range []struct{ name, doc, from, to, want string }{
		{"another schema", whole, `oloproof-report/1`, `oloproof-report/2`, `its schema is "oloproof-report/2"; this program reads oloproof-report/1`},
		{"another document", whole, `oloproof-report/1`, `oloproof-certificate/1`, `its schema is "oloproof-certificate/1"`},
		{"no schema", whole, `"schema": "oloproof-report/1",`, ``, `it names no schema`},
		{"the schema further down", whole, `"schema": "oloproof-report/1",`, `"a": {"schema": "oloproof-report/1"},`, `it names no schema`},
		{"a schema that is no text", whole, `"schema": "oloproof-report/1",`, `"schema": ["oloproof-report/1"],`, `it names no schema`},
		{"something behind it", bad, "\n}\n", "\n}\n{}", `something follows the document`},
		{"a name twice", whole, `"exit_status": 4`, `"exit_status": 4, "exit_status": 0`, `line 8: the name "exit_status" is there twice`},
		{"a name of a gate twice", whole, `"gate": "compare",
      "name": "n",`, `"gate": "compare", "name": "n", "name": "m",`, `the name "name" is there twice`},
		{"a name that is not known, twice", whole, `"tool": {`, `"tool": {"x": 1, "x": 2,`, `line 3: the name "x" is there twice`},
		{"a name in capitals", whole, `"exit_status": 4`, `"Exit_Status": 4`, `the name "Exit_Status" is not in lower case`},
		{"a name and its capitals", whole, `"exit_status": 4`, `"exit_status": 4, "EXIT_STATUS": 0`, `the name "EXIT_STATUS" is there twice`},
		{"a name with a long s", whole, `"gates": [`, `"gateſ": [`, `is not in lower case`},
		{"a name that turns the direction of writing", whole, `"exit_status": 4`, "\"\u202eA\": 4", `the name "\u202eA" is not in lower case`},
		{"another verdict", whole, `"verdict": "MANUAL_REVIEW"`, `"verdict": "PASS"`, `its verdict is PASS, and its rules come to MANUAL_REVIEW`},
		{"no verdict", whole, `"verdict": "MANUAL_REVIEW",`, ``, `its verdict is NO_VERDICT, and its rules come to MANUAL_REVIEW`},
		{"a verdict in small letters", whole, `"verdict": "MANUAL_REVIEW"`, `"verdict": "manual_review"`, `"manual_review" is not a verdict's name`},
		{"another exit status", whole, `"exit_status": 4`, `"exit_status": 0`, `its exit_status is 0, and its rules come to 4`},
		{"no exit status", whole, `"exit_status": 4`, `"exit_code": 4`, `its exit_status is 0, and its rules come to 4`},
		{"other counts", whole, `"PASS": 0`, `"PASS": 7`, `its counts (PASS 7, FAIL 0, INSUFFICIENT_EVIDENCE 0, MANUAL_REVIEW 1) are not those of its rules (PASS 0, FAIL 0, INSUFFICIENT_EVIDENCE 0, MANUAL_REVIEW 1)`},
		{"counts that are not whole", whole, `"PASS": 0`, `"PASS": 0.5`, `"counts.PASS" cannot be a JSON number 0.5`},
		{"no counts", whole, `"counts": {`, `"count": {`, `it has rules and no counts`},
		{"no multiplicity", whole, `"multiplicity": {`, `"rules": {`, `it has rules and no multiplicity`},
		{"a rule that is now advisory", fair, `"id": "fnr-by-sex",`, `"id": "fnr-by-sex", "advisory": true,`, `none of its rules counts`},
		{"a rule that no longer is", whole, `"advisory": true,`, `"advisory": false,`, `its counts (PASS 0, FAIL 0, INSUFFICIENT_EVIDENCE 0, MANUAL_REVIEW 1) are not those of its rules (PASS 0, FAIL 0, INSUFFICIENT_EVIDENCE 0, MANUAL_REVIEW 2)`},
		{"a rule without an id", fair, `"id": "fnr-by-sex"`, `"name": "fnr-by-sex"`, `rule 1 of gate 1 has no id`},
		{"an id that is taken", whole, `"id": "b"`, `"id": "a"`, `rule "a" is there twice`},
		{"a rule without a verdict", whole, `"id": "b",
          "verdict": "MANUAL_REVIEW"`, `"id": "b"`, `rule "b" has no verdict`},
		{"a rule that has passed under a waiver", whole, `"verdict": "MANUAL_REVIEW",
          "verdict_with_left_out"`, `"verdict": "PASS",
          "verdict_with_left_out"`, `rule "a" is waived from FAIL to PASS; a waiver turns FAIL or INSUFFICIENT_EVIDENCE into MANUAL_REVIEW`},
		{"a valid review of a waived rule", whole, `"valid": false`, `"valid": true`, `rule "a" has a valid review`},
		{"a tipping point of nothing", whole, `"missing": 3,
            "pass_up_to": 0`, `"missing": 0,
            "pass_up_to": 0`, `rule "a" has a tipping_point of 0 missing values`},
		{"a tipping point beyond what is missing", whole, `"pass_up_to": 0,
            "fail_from": 2`, `"pass_up_to": 0,
            "fail_from": 4`, `rule "a" has a tipping_point with the fail_from 4 of 3 missing values`},
		{"a tipping point that passes with all", whole, `"pass_up_to": 0,`, `"pass_up_to": 3,`, `rule "a" has a tipping_point with the pass_up_to 3 of 3 missing values`},
		{"a tipping point that fails where it passes", whole, `"pass_up_to": 0,`, `"pass_up_to": 2,`, `rule "a" has a tipping_point with the pass_up_to 2 and the fail_from 2`},
		{"a tipping point without words", whole, `"bad": "wrong"`, `"bed": "wrong"`, `rule "a" has a tipping_point without of or bad`},
		{"a tipping point that tips nothing", whole, `"pass_up_to": 0,
            "fail_from": 2`, `"pass": 0,
            "fail": 2`, `rule "a" has a tipping_point without pass_up_to and fail_from`},
		{"held back by more parts than rules", whole, `"held": 2`, `"held": 4`, `rule "a" is MANUAL_REVIEW and held back at 4 parts of the error of 3 rules`},
		{"held back by bonferroni", whole, `"method": "holm"`, `"method": "bonferroni"`, `only holm holds back`},
		{"a family without a number", whole, `"family": 1`, `"family": 0`, `rule "a" is adjusted by "holm" in family 0 of 3 rules`},
		{"a rule that is surely wrong", whole, `"false_fail_at_most": 0.125`, `"false_fail_at_most": 1.5`, `rule "a" has the false_fail_at_most 1.5, which is from 0 to 1`},
		{"a run that is surely wrong", whole, `"false_fail_at_most": 0.025`, `"false_fail_at_most": -1`, `its false_fail_at_most is -1, which is from 0 to 1`},
		{"a threshold of two kinds", whole, `"worst_group": {
              "maximum": 0.5
            }`, `"minimum": 0.5, "maximum": 0.6`, `a threshold is an object with one key`},
		{"a threshold without a side", whole, `"worst_group": {
              "maximum": 0.5
            }`, `"worst_group": {}`, `a threshold worst_group has one side`},
		{"a threshold that is null", fair, `"max_group_gap": 0.05`, `"max_group_gap": null`, `the value of the threshold "max_group_gap" is not a number`},
		{"a number as a text", fair, `"estimate": 0.25`, `"estimate": "NaN"`, `cannot be a JSON string`},
		{"no number", fair, `"estimate": 0.25`, `"estimate": NaN`, `invalid character 'N'`},
		{"a number that is too large", fair, `"estimate": 0.25`, `"estimate": 1e999`, `cannot be a JSON number 1e999`},
		{"a list where an object is", fair, `"tool": {
    "name": "oloproof",
    "version": "1.2.3"
  }`, `"tool": []`, `line 3: "tool" cannot be a JSON array`},
		{"a numerator without what it is out of", fair, `"denominator": 4,`, ``, `measure 1 of gate 1 has a numerator and no denominator`},
		{"a unit without a number", fair, `"units": 4,`, ``, `has a unit_name and no units`},
		{"a p-value without its counts", whole, `"better": 5,`, ``, `measure 1 of gate 1 has a p_value without better, worse and equal`},
		{"an impossible p-value", whole, `"p_value": 0.0625`, `"p_value": 1.5`, `has the p_value 1.5`},
		{"a scale without width", whole, `"upper": 1`, `"upper": -1`, `has a scale from -1 to -1`},
		{"confidence in percent", fair, `"confidence": 0.95`, `"confidence": 95`, `its confidence is 95`},
		{"an interval's confidence in percent", fair, `"confidence": 0.975`, `"confidence": 97.5`, `has an interval of confidence 97.5`},
		{"a pair's confidence in percent", fair, `"confidence": 0.95,
                "method": "fisher-product"`, `"confidence": 95,
                "method": "fisher-product"`, `pair 1 of rule "fnr-by-sex" has an interval of confidence 95`},
		{"a count below zero", fair, `"missing": 0`, `"missing": -1`, `has the count -1`},
		{"a count of data below zero", fair, `"labelled": 4`, `"labelled": -4`, `gate 1 counts -4 of "labelled"`},
		{"data that are a list", fair, `"data": {
        "cases": 4,`, `"data": ["cases", 4], "more": {`, `data is not an object of counts`},
		{"a count of data that is a text", fair, `"labelled": 4`, `"labelled": "4"`, `data: the count of "labelled" is not a whole number`},
		{"a gate without a name", fair, `"gate": "fairness"`, `"name": "fairness"`, `gate 1 has no name`},
		{"pairs left out of none", fair, `"pairs": [`, `"pears": [`, `has 3 pairs_omitted and 0 pairs`},
		{"a rule that was not compared", whole, `"before": {
            "change": "new_rule"
          }`, `"after": {}`, `rule "b" and the report do not agree whether there is a baseline`},
		{"a look that is in no ledger", whole, `"ledger": {
    "path"`, `"legder": {
    "path"`, `rule "a" has a look, and the report no ledger that it is in`},
		{"a look before the first", whole, `"number": 3`, `"number": 0`, `rule "a" has the look 0 with 1 switches`},
		{"a ledger of fewer than no looks", whole, `"looks": 2,`, `"looks": -2,`, `its ledger holds -2 looks`},
		{"a comparison with nothing", whole, `"baseline": {
    "path"`, `"base": {
    "path"`, `it has removed_rules and no baseline`},
		{"errors and exit status 0", bad, `"exit_status": 2`, `"exit_status": 0`, `it has errors, so that nothing was decided and exit_status is 2`},
		{"errors beside a verdict", whole, `"exit_status": 4,`, `"exit_status": 4, "errors": [{"message": "m"}],`, `it has errors, so that nothing was decided`},
		{"more errors and none", bad, `"errors": [`, `"problems": [`, `it has more_errors and no errors`},
		{"exit status 2 without errors", checked, `"exit_status": 0`, `"exit_status": 2`, `it has no errors and no rules`},
		{"a verdict without rules", checked, `"exit_status": 0`, `"verdict": "PASS", "exit_status": 0`, `it has no errors and no rules`},
		{"counts without rules", checked, `"exit_status": 0`, `"exit_status": 0, "counts": {"PASS": 3}`, `it has no errors and no rules`},
	} {
		t.Run(test.name, func(t *testing.T) {
			changed := strings.Replace(test.doc, test.from, test.to, 1)
			if changed == test.doc {
				t.Fatalf("nothing was changed: there is no %q in\n%s", test.from, test.doc)
			}
			r, err := report.Parse([]byte(changed))
			if err == nil || r != nil {
				t.Fatalf("it is read as %+v, %v", r, err)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is\n%s\nand not\n%s", err, test.want)
			}
		})
	}
}

// TestParseForm has documents that are wrong as such.
func TestParseForm(t *testing.T) {
	const head = `{"schema": "oloproof-report/1", "tool": {"name": "oloproof", "version": "1"}, "exit_status": 0, "gates": `
	utf16 := []byte{0xff, 0xfe}
	for _, c := range head {
		utf16 = append(utf16, byte(c), 0)
	}
	for _, test := range []struct{ name, doc, want string }{
		{"nothing", "", "it is empty"},
		{"white space", " \n\t", "it is empty"},
		{"another program's JSON", `{"$schema": "x", "runs": [{"informationUri": "y"}]}`, "it is not an oloproof report: it names no schema"}, // as SARIF is
		{"a list", "[]", "it names no schema"},
		{"a text", `"oloproof-report/1"`, "it names no schema"},
		{"null", "null", "it names no schema"},
		{"words", "PASS\n", `it is not JSON: line 1 begins with "P"`},
		{"a summary", "\n# Results\n", `it is not JSON: line 2 begins with "#"`},
		{"a table", "null,case\n", `it is not JSON: line 1 begins with "n"`},
		{"a page", "<html>", `it is not JSON: line 1 begins with "<"`},
		{"a number", "12\n", "it names no schema"},
		{"half of it", head, "it ends in the middle"},
		{"half of it, in a text", head + `"`, "it ends in the middle"},
		{"a comma too many", head + `[,]}`, "invalid character ','"},
		{"a name without quotes", head + "[\n{a: 1}]}", "line 2: invalid character 'a'"},
		{"a number as a name", head + "[{1: 1}]}", "invalid character '1'"},
		{"two documents", head + `[]} ` + head + `[]}`, "something follows the document"},
		{"a byte that is no UTF-8", head + "\n\n\"\xc3(\"}", "line 3: the byte 0xc3 is not UTF-8"},
		{"UTF-16", string(utf16), "it is in UTF-16; save it as UTF-8"},
		{"deep lists", head + strings.Repeat("[", 5_000_000), "it is nested more than 100 levels deep"},
		{"deep objects", head + strings.Repeat(`{"a":`, 1_000_000), "it is nested more than 100 levels deep"},
		{"deep in what is not known", head + "[], \"x\": " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}", "it is nested more than 100 levels deep"},
		{"very many rules", head + `[{"rules":[` + strings.Repeat("0,", 1_000_001) + `0]}]}`, "it holds more than 1000000 values"},
		{"a long text", head + `[{"gate":"` + strings.Repeat("x", 1<<20+1) + `"}]}`, "a text is 1048577 bytes long"},
		{"very many names", head + `[{` + manyNames(10_001) + `}]}`, "an object has more than 10000 names"},
		{"very many objects", head + `[{"rules":[` + strings.Repeat("{},", 1_000_001) + `{}]}]}`, "it holds more than 1000000 values"},
		{"a long word", head + `"` + strings.Repeat("x", 1_000_000) + `"}`, "cannot be a JSON string"},
		{"a long number", head + strings.Repeat("1", 1_000_000) + `}`, "cannot be a JSON number"},
		{"a verdict that is long", head + `[], "verdict": "` + strings.Repeat("x", 1_000_000) + `"}`, "is not a verdict's name"},
		{"many contradictions", head + `[{"rules":[` + strings.Repeat("{},", 100) + `{}]}]}`, "; and 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := report.Parse([]byte(test.doc))
			if err == nil || r != nil {
				t.Fatalf("it is read as %+v", r)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is\n%s\nand not\n%s", err, test.want)
			}
			if len(err.Error()) > 2000 || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has %d bytes: %.300q", len(err.Error()), err)
			}
		})
	}
	large := bytes.Repeat([]byte(" "), report.MaxBytes+1)
	if _, err := report.Parse(large); err == nil || !strings.Contains(err.Error(), "at most 67108864 bytes (64 MiB) are read") {
		t.Errorf("of %d bytes: %v", len(large), err)
	}
	copy(large, written(t, full()))
	if _, err := report.Parse(large[:report.MaxBytes]); err != nil {
		t.Errorf("of %d bytes: %v", report.MaxBytes, err)
	}
}

// FuzzParse: whatever is read is written in a form that is read as the same, and nothing panics.
func FuzzParse(f *testing.F) {
	docs := readable(f)
	for _, name := range []string{"full", "fairness", "errors", "check.json"} { // small ones
		f.Add(docs[name])
	}
	f.Add([]byte(`{"schema":"oloproof-report/1","gates":[{"gate":"g","data":null,"rules":[{"id":"a","threshold":{"worst_group":{"minimum":1}},"verdict":"PASS"}]}],"verdict":"PASS","counts":{"PASS":1},"multiplicity":{}}`))
	f.Add([]byte(`{"schema":"oloproof-report/1","errors":[{}],"exit_status":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := report.Parse(data)
		if err != nil {
			if len(err.Error()) > 20_000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			return
		}
		doc := written(t, r)
		again, err := report.Parse(doc)
		if err != nil {
			t.Fatalf("it is not read again: %v\n%s", err, doc)
		}
		if diff := cmp.Diff(string(doc), string(written(t, again))); diff != "" {
			t.Errorf("written again (-before +after):\n%s", diff)
		}
		_ = fmt.Sprint(r.Problems(), report.UsableBaseline(r))
		again.CompareWith(r, report.File{Path: "earlier.json"})
		for g := range again.Gates {
			report.ByChange(again.Gates[g].Rules)
		}
	})
}

// manyNames is so many names of an object, each with a value.
func manyNames(n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf(`"n%d":0`, i))
	}
	return strings.Join(names, ",")
}
