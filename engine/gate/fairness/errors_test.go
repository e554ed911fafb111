package fairness

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
)

// sound is a rule that fits the declarations here.
const sound = "rules: [{id: a, rate: error, attribute: sex, max_group_gap: 0.1}]"

// TestDeclarationErrors: what can be wrong with a declaration, where it stands and what is allowed.
func TestDeclarationErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"cases: c.csv\n" + sound, "fairness.yaml:1:1: no attributes are declared; name the columns that say which group a case belongs to, with their groups, as in attributes: {sex: [female, male]}; where this file stands beside a declaration: oloproof fairness check DECLARATION --policy fairness.yaml"},
		{"atributes: {sex: [f, m]}\nintersections: [[sex, age]]\n" + sound, `fairness.yaml:1:1: unknown key "atributes" in the policy; did you mean "attributes"? Allowed: `},
		{`attributes: {"": [f]}`, "fairness.yaml:1:14: an attribute has no name; write the name of a column"},
		{"attributes: {age: {bins: [x]}}", `fairness.yaml:1:27: bins: found "x"; a finite decimal number is wanted, such as 0.5`},
		{"attributes: {age: {bin: [30]}}", `fairness.yaml:1:20: unknown key "bin" in attribute age; did you mean "bins"? Allowed: bins`},
		{"attributes: {sex: [[f], [m]]}", "fairness.yaml:1:20: sex: found a list; a text is wanted\nfairness.yaml:1:25: sex: found a list; a text is wanted"},
		{"attributes: {a: [x, y], c: [u, v], a × c: [z]}\nintersections: [[a, c]]", `fairness.yaml:2:18: the intersection would be called "a × c", as an attribute is, so that a report could not tell them apart; leave "×" out of the attributes' names (columns: {name: …} says what the file calls one)`},
		{"attributes: {a × b: [x, y], c: [u, v], a: [z], b × c: [w]}\nintersections: [[a × b, c], [a, b × c]]", `fairness.yaml:2:30: the intersection would be called "a × b × c", as another intersection is, so that a report could not tell them apart; leave "×" out of the attributes' names (columns: {name: …} says what the file calls one)`},
		{"attributes: {}", "fairness.yaml:1:1: attributes is empty; name a column and its groups, as in {sex: [female, male]}"},
		{"attributes: [sex]", `fairness.yaml:1:13: attributes: found a list; a mapping is wanted, such as {name: value}`},
		{"attributes: {sex: female}", `fairness.yaml:1:19: sex: found "female"; a list of texts is wanted, such as [a, b]`},
		{"attributes: {sex: []}", "fairness.yaml:1:14: attribute sex has no groups; list them, such as [female, male], or give bounds between numbers, such as {bins: [30, 60]}"},
		{"attributes: {sex: [f, m, f]}", `fairness.yaml:1:26: attribute sex lists "f" twice`},
		{`attributes: {sex: [f, " f "]}`, `fairness.yaml:1:23: attribute sex lists "f" twice`},
		{`attributes: {sex: [f, " "]}`, `fairness.yaml:1:23: attribute sex lists an empty group; cases without a value are counted by themselves: leave it out`},
		{"missing_values: [NA]\nattributes: {sex: [f, NA]}", `fairness.yaml:2:23: attribute sex lists "NA", which missing_values says means that nothing was recorded; leave it out of one of them`},
		{`attributes: {" ": [f]}`, `fairness.yaml:1:14: an attribute has no name; write the name of a column`},
		{`attributes: {sex: [f], "sex ": [m]}`, `fairness.yaml:1:24: the attribute sex is declared twice`},
		{"attributes: {age: {}}", "fairness.yaml:1:14: attribute age has no bins; give the bounds between its groups, such as {bins: [30, 60]}"},
		{"attributes: {age: {bins: []}}", "fairness.yaml:1:14: attribute age has no bins; give the bounds between its groups, such as {bins: [30, 60]}"},
		{"attributes: {age: {bins: 30}}", `fairness.yaml:1:26: bins: found "30"; a list of numbers is wanted, such as [30, 60]`},
		{"attributes: {age: {bins: [30, old]}}", `fairness.yaml:1:31: bins: found "old"; a finite decimal number is wanted, such as 0.5`},
		{"attributes: {age: {bins: [60, 30]}}", "fairness.yaml:1:31: bins: 30 is not above 60, which stands before it; write them in ascending order, each once"},
		{"attributes: {age: {bins: [30, 30.0]}}", "fairness.yaml:1:31: bins: 30.0 is not above 30, which stands before it; write them in ascending order, each once"},
		{"attributes: {age: {bins: [1e-19]}}", "fairness.yaml:1:27: bins: 1e-19 is too large, or has more than 18 decimals"},
		{"attributes: {age: {bins: [1e19]}}", "fairness.yaml:1:27: bins: 1e19 is too large, or has more than 18 decimals"},
		{"attributes: {age: {bins: [30], cuts: [3]}}", `fairness.yaml:1:32: unknown key "cuts" in attribute age; allowed: bins`},
		{"attributes: {sex: [f, m]}\nintersections: [[sex, aeg]]", `fairness.yaml:2:23: "aeg" is not a declared attribute; allowed: "sex"`},
		{"attributes: {sex: [f, m], age: [y, o]}\nintersections: [[sex, aeg]]", `fairness.yaml:2:23: "aeg" is not a declared attribute; did you mean "age"? Allowed: "sex", "age"`},
		{"attributes: {sex: [f, m]}\nintersections: [[sex]]", "fairness.yaml:2:18: the intersection has one attribute, sex; cross two or more, as in [sex, age_band]"},
		{"attributes: {sex: [f, m]}\nintersections: [[]]", "fairness.yaml:2:17: the intersection is an empty list; cross two or more attributes, as in [sex, age_band]"},
		{"attributes: {sex: [f, m]}\nintersections: [[sex, sex]]", "fairness.yaml:2:23: the attribute sex is named twice"},
		{"attributes: {sex: [f, m], age: [y, o]}\nintersections: [[sex, age], [age, sex]]", "fairness.yaml:2:30: the intersection sex × age is declared twice"},
		{"attributes: {sex: [f, m]}\nintersections: [sex, age]", "fairness.yaml:2:17: intersections: found \"sex\"; a list of lists of texts is wanted, such as [[a, b]]\n" +
			"fairness.yaml:2:22: intersections: found \"age\"; a list of lists of texts is wanted, such as [[a, b]]"},
		{`attributes: {a: ["x × y", x], b: [z, "y × z"]}` + "\nintersections: [[a, b]]", `fairness.yaml:2:18: two groups of the intersection would both be called "x × y × z"; leave "×" out of the groups' names`},
		{"attributes: {a: " + many("a", 101) + ", b: " + many("b", 100) + "}\nintersections: [[a, b]]", "fairness.yaml:2:18: the intersection has more than 10000 groups; cross fewer attributes, or coarser groups"},
		{"attributes: {a: " + many("a", 10001) + "}", "fairness.yaml:1:14: attribute a has 10001 groups; at most 10000 are allowed"},
		{"attributes: {sex: [f, m]}\nmin_cell: 0", `fairness.yaml:2:11: min_cell: found "0"; a whole number from 1 to 1000000 is wanted`},
		{"attributes: {sex: [f, m]}\ncalibration_bins: 1", `fairness.yaml:2:19: calibration_bins: found "1"; a whole number from 2 to 1000 is wanted`},
		{"attributes: {sex: [f, m]}\nid: \" \"", "fairness.yaml:2:5: id is empty; a text is wanted"},
		{"attributes: {sex: [f, m]}\npositive: yes", "fairness.yaml:2:11: there is a positive word and no negative one; give both, or none where the column has 0 and 1"},
		{"attributes: {sex: [f, m]}\nlabel: {column: y, negative: no}", "fairness.yaml:2:30: there is a negative word and no positive one; give both, or none where the column has 0 and 1"},
		{"attributes: {sex: [f, m]}\nlabel: {positive: yes, negative: yes}", `fairness.yaml:2:34: positive and negative are both "yes"; the two words differ`},
		{"attributes: {sex: [f, m]}\nlabel: {word: yes}", `fairness.yaml:2:9: unknown key "word" in label; allowed: column, positive, negative`},
		{"attributes: {sex: [f, m]}\nlabel: [y]", `fairness.yaml:2:8: label: found a list; a text is wanted`},
		{"attributes: {sex: [f, m]}\nmissing_values: [NA]\npositive: yes\nnegative: NA", `fairness.yaml:4:11: "NA" means that nothing was recorded, as missing_values says; it cannot be a word for an outcome too`},
		{"attributes: {sex: [f, m]}\nlabel: id", `fairness.yaml:2:8: id and label would both be read from the column "id"; each needs its own`},
		{"attributes: {sex: [f, m]}\nunit: person\nprobability: person", `fairness.yaml:2:7: probability and unit would both be read from the column "person"; each needs its own`},
		{"attributes: {sex: [f, m]}\ncolumns: {label: out, prediction: out}", `fairness.yaml:2:35: label and prediction would both be read from the column "out"; each needs its own`},
		{"attributes: {sex: [f, m]}\nid: case\ncolumns: {prediction: case}", `fairness.yaml:3:23: id and prediction would both be read from the column "case"; each needs its own`},
		{"attributes: {sex: [f, m]}\ncolumns: {label: prediction}", `fairness.yaml:2:18: label and prediction would both be read from the column "prediction"; each needs its own`},
		{"attributes: {sex: [f, m]}\ncolumns: {\"a: b\": c}\nid: \"my: id\"", `fairness.yaml:2:11: columns: this declaration reads no column "a: b"; it reads "my: id", label, prediction, sex`},
		{"attributes: {label: [f, m]}", `fairness.yaml:1:14: the attribute label would be read from the column "label", which is the label; a group is not made of that`},
		{"attributes: {sex: [f, m]}\ncolumns: {gender: sex}", `fairness.yaml:2:11: columns: this declaration reads no column "gender"; it reads id, label, prediction, sex`},
		{"attributes: {sex: [f, m]}\nprobabilty: score", `fairness.yaml:2:1: unknown key "probabilty" in the policy; did you mean "probability"? Allowed: `},
		{"fairness: {attributes: {sex: [f, m]}}", "fairness.yaml:1:1: section fairness names no cases; add `cases: decided.csv`, or name files on the command line"},
		{"fairness: {attributes: {sex: [f, m]}, cases: [\"\", a.csv]}", "fairness.yaml:1:47: cases has an empty text; write the path of a file"},
		{"fairness: {attributes: {sex: [f, m]}, cases: \"\"}", "fairness.yaml:1:46: cases has an empty text; write the path of a file"},
	} {
		text, names := c.text, []string{"c.csv"}
		if strings.HasPrefix(text, "fairness") {
			names = nil
		}
		diags := &diag.List{}
		compile(run{verb: gate.Report, declaration: text, names: names}, diags)
		if err := diags.Err(); err == nil || (err.Error() != c.want && !(strings.HasSuffix(c.want, "Allowed: ") && strings.HasPrefix(err.Error(), c.want))) {
			t.Errorf("%.200s\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// many is a list of so many groups.
func many(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(", " + prefix + strings.Repeat("i", i%97) + strings.Repeat("x", i/97))
	}
	return "[" + b.String()[2:] + "]"
}

// TestRuleErrors: what can be wrong with a rule.
func TestRuleErrors(t *testing.T) {
	const declared = "attributes: {sex: [f, m], age: {bins: [30]}, one: [only]}\nintersections: [[sex, age]]\nprobability: score\nunit: person\n"
	for _, c := range []struct{ rule, want string }{
		{"rate: error, max_group_gap: 0.1", "fairness.yaml:5:10: rule a has no attribute; name the one whose groups are compared, or a list of those that are crossed"},
		{"rate: error, attribute: [], max_group_gap: 0.1", "fairness.yaml:5:30: rule a: attribute is an empty list; name one attribute, or a list of those that are crossed"},
		{"rate: error, attribute: sexx, max_group_gap: 0.1", `fairness.yaml:5:41: rule a: "sexx" is not a declared attribute; did you mean "sex"? Allowed: "sex", "age", "one"`},
		{"rate: error, attribute: [sex, sex], max_group_gap: 0.1", `fairness.yaml:5:47: rule a: the attribute sex is named twice`},
		{"rate: error, attribute: [one, sex], max_group_gap: 0.1", `fairness.yaml:5:42: rule a crosses one and sex, which is not declared; crossings are declared before the file is read: add [one, sex] under intersections`},
		{"rate: erorr, attribute: sex, max_group_gap: 0.1", `fairness.yaml:5:23: unknown rate "erorr" in rule a; did you mean "error"? Allowed: error, accuracy, selection, false_positive, true_negative, specificity, false_negative, true_positive, recall, sensitivity, precision, positive_predictive_value, false_discovery, false_omission, negative_predictive_value`},
		{"rate: expected_calibration_error, attribute: sex, max_group_gap: 0.1", `fairness.yaml:5:23: expected_calibration_error is reported, never a rule: no interval bounds it, and in a small group it is mostly chance`},
		{"rate: error, attribute: sex", "fairness.yaml:5:10: rule a has no threshold; give one of max_group_gap, worst_group, min_group_ratio"},
		{"rate: error, attribute: sex, max_group_gap: 0.1, min_group_ratio: 0.8", "fairness.yaml:5:66: rule a has 2 thresholds (max_group_gap, min_group_ratio); exactly one is allowed: make it two rules"},
		{"rate: error, attribute: sex, max_group_gap: 5", "fairness.yaml:5:61: max_group_gap is 5; allowed for error: 0 to 1; for 5 % write 0.05"},
		{"rate: error, attribute: sex, max_group_gap: 0.1, interval: exact", `fairness.yaml:5:76: interval is "exact"; allowed: pairwise`},
		{"rate: error, attribute: sex, min_group_ratio: 0.8, interval: pairwise", "fairness.yaml:5:78: rule a: interval: pairwise is for max_group_gap and worst_group, not for min_group_ratio; leave it out"},
		{"rate: error, attribute: sex, max_group_gap: 0.1, interval: pairwise, looks: repeated", "fairness.yaml:5:76: rule a: interval: pairwise holds at one look, and looks is repeated; leave one of them out"},
		{"rate: error, attribute: one, max_group_gap: 0.1", "fairness.yaml:5:30: rule a: max_group_gap compares groups, and one has one, \"only\"; declare two or more"},
		{"rate: error, attribute: one, min_group_ratio: 0.1", "fairness.yaml:5:30: rule a: min_group_ratio compares groups, and one has one, \"only\"; declare two or more"},
		{"rate: error, attribute: sex, max_group_gap: 0.1, looks: once, planned: 40", "fairness.yaml:5:73: rule a: looks: once plans the number of units of a mean, and rates are exact for one look without; leave it out, or write looks: repeated for many looks\n" +
			"fairness.yaml:5:79: rule a: planned plans the number of units of a mean, and rates are exact for one look without; leave it out, or write looks: repeated for many looks"},
		{"rate: error, attribute: sex, max_group_gap: 0.1, planned: 40", "fairness.yaml:5:66: rule a: planned plans the number of units of a mean, and rates are exact for one look without; leave it out, or write looks: repeated for many looks"},
		{"rate: error, attribute: sex, max_group_gap: 0.1, where: {}", "fairness.yaml:5:66: where is empty; name a column and the value that it must have, as in {region: north}, or leave where out for all cases"},
		{"rate: error, attribute: sex, max_group_gap: 0.1, where: {sex: f}", "fairness.yaml:5:74: rule a is about the groups of sex, and its slice holds one of them, so that the others are empty whatever the file holds; slice by something else, or take another attribute"},
		{"rate: error, attribute: sex, max_group_gap: 0.1, where: {label: 1}", "fairness.yaml:5:74: where: label is the label, and a slice is of cases; slice by something of the case that was known beforehand"},
		{"rate: error, attribute: sex, max_group_gap: 0.1, where: {prediction: 1}", "fairness.yaml:5:74: where: prediction is the prediction, and a slice is of cases; slice by something of the case that was known beforehand"},
		{"rate: error, attribute: sex, max_group_gap: 0.1, where: {score: 1}", "fairness.yaml:5:74: where: score is the probability, and a slice is of cases; slice by something of the case that was known beforehand"},
		{"rate: error, attribute: sex, max_group_gap: 0.1, where: {person: 1}", "fairness.yaml:5:74: where: person is the unit, and a slice is of cases; slice by something of the case that was known beforehand"},
		{"rate: error, attribute: sex, max_group_gap: 0.1, where: {age: old}", `fairness.yaml:5:79: where: "old" is not a declared group of age; allowed: "under_30", "over_30"`},
		{"rate: error, attribute: sex, max_group_gap: 0.1, where: {age: under30}", `fairness.yaml:5:79: where: "under30" is not a declared group of age; did you mean "under_30"? Allowed: "under_30", "over_30"`},
		{"rate: error, attribute: sex, max_group_gap: 0.1, minimum: 0.1", `fairness.yaml:5:66: unknown key "minimum" in rule a; allowed: id, rate, max_group_gap, worst_group, min_group_ratio, confidence, looks, max_left_out, where, advisory, waive, reviewed, attribute, interval`},
		{"rate: accuracy, attribute: sex, minimum: 0.75", "fairness.yaml:5:49: unknown key \"minimum\" in rule a; did you mean worst_group: {minimum: 0.75}?"},
		{"rate: accuracy, attribute: sex, worst_group: 0.75", `fairness.yaml:5:62: worst_group: found "0.75"; write {minimum: 0.75} where no group's rate may be lower, or {maximum: 0.75} where none may be higher`},
		{"metric: accuracy, attribute: sex, worst_group: {minimum: 0.75}", `fairness.yaml:5:17: unknown key "metric" in rule a; did you mean "rate"?`},
		{"rate: FNR, attribute: sex, max_group_gap: 0.1", "fairness.yaml:5:23: found the rate fnr; write rate: false_negative"},
		{"rate: for, attribute: sex, max_group_gap: 0.1", "fairness.yaml:5:23: found the rate for; write rate: false_omission"},
		{"rate: demographic_parity, attribute: sex, max_group_gap: 0.1", "fairness.yaml:5:23: found the rate demographic_parity; write rate: selection with max_group_gap (its difference) or min_group_ratio (its ratio)"},
		{"rate: error, attribute: sex, max_group_gap: 0,05", `fairness.yaml:5:63: found "05" after max_group_gap: 0, where a comma ends the entry; write a decimal point, as in 0.05`},
		{"rate: error, attribute: sex, min_group_ratio: 1.25", "fairness.yaml:5:63: min_group_ratio is 1.25; allowed: 0 to 1; it is the smaller rate divided by the larger one"},
		{`rate: error, attribute: sex, max_group_gap: 0.1, where: {" label": 1}`, "fairness.yaml:5:74: where: label is the label, and a slice is of cases; slice by something of the case that was known beforehand"},
	} {
		diags := &diag.List{}
		compile(run{verb: gate.Decide, declaration: declared + "rules: [{id: a, " + c.rule + "}]", names: []string{"c.csv"}}, diags)
		if err := diags.Err(); err == nil || err.Error() != c.want && !(strings.HasSuffix(c.want, "allowed: ") && strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s\n got %v\nwant %s", c.rule, err, c.want)
		}
	}
	// Each pair with an interval of its own takes a search; 501 groups have 125,250 pairs.
	diags := &diag.List{}
	compile(run{verb: gate.Decide, declaration: "attributes: {a: " + many("a", 501) + "}\nrules: [{id: a, rate: error, attribute: a, max_group_gap: 0.1, interval: pairwise}, {id: b, rate: error, attribute: a, worst_group: {minimum: 0.1}, interval: pairwise}]", names: []string{"c.csv"}}, diags)
	want := "fairness.yaml:2:74: rule a: interval: pairwise bounds every pair of groups by itself, which takes too long for the 501 groups of a; at most 500 are allowed: leave it out, or declare coarser groups"
	if err := diags.Err(); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	// A section's looks: once is for the means of other gates, and passed over.
	diags = &diag.List{}
	compile(run{verb: gate.Decide, declaration: "looks: once\nplanned: 40\n" + bySex("rate: error, max_group_gap: 0.1, interval: pairwise"), names: []string{"c.csv"}}, diags)
	if err := diags.Err(); err != nil {
		t.Errorf("looks: once on the section: %v", err)
	}
}

// TestRowErrors: what a row, or two, show to be wrong.
func TestRowErrors(t *testing.T) {
	const declared = "attributes: {sex: [f, m], age: {bins: [30]}}\nprobability: score\nunit: person\n" + sound
	const header = "id,label,prediction,score,person,sex,age\n"
	const first = "1,1,0,0.5,p1,f,20\n"
	for _, c := range []struct{ rows, want string }{
		{",1,0,0.5,p2,f,20", "c.csv:3:1: id is empty; every case needs an id"},
		{"2,yes,0,0.5,p2,f,20", `c.csv:3:3: label: found "yes": 0 or 1 is allowed, also written 0.0 or 1.0, false or true; for two words, declare positive and negative`},
		{"2,1,2,0.5,p2,f,20", `c.csv:3:5: prediction: found "2": 0 or 1 is allowed, also written 0.0 or 1.0, false or true; for two words, declare positive and negative`},
		{"2,1,0,1.5,p2,f,20", `c.csv:3:7: score: found "1.5"; a probability from 0 to 1 is allowed`},
		{"2,1,0,-0.1,p2,f,20", `c.csv:3:7: score: found "-0.1"; a probability from 0 to 1 is allowed`},
		{"2,1,0,1.0000000000000000001,p2,f,20", `c.csv:3:7: score: found "1.0000000000000000001"; a probability from 0 to 1 is allowed`},
		{"2,1,0,half,p2,f,20", `c.csv:3:7: score: found "half": a decimal number such as 0.25 or 1e-3 is allowed`},
		{"2,1,0,\"0,5\",p2,f,20", `c.csv:3:7: score: found "0,5": a decimal comma is not read, write a point`},
		{"2,1,0,0.5,,f,20", "c.csv:3:11: person is empty; with a unit declared, every case says whose it is"},
		{"2,1,0,0.5,p2,f,young", `c.csv:3:16: age: found "young": a decimal number such as 0.25 or 1e-3 is allowed`},
		{"1,1,0,0.5,p2,f,20", `c.csv:3: id "1" is the one of the case at c.csv:2 too; each case has its own`},
		{"2,1,0,0.5,p1,f,20", "c.csv:3: the same person as at c.csv:2; one person has several cases, and the intervals hold for cases of different people only"},
		{",,,,,,", "c.csv:3: nothing stands in the columns of this row that are read; delete it"},
		{",2,x,9,,?,?\n3,1,0,0.5,p3,f,20", "c.csv:3:1: id is empty; every case needs an id\n" +
			"c.csv:3:2: label: found \"2\": 0 or 1 is allowed, also written 0.0 or 1.0, false or true; for two words, declare positive and negative\n" +
			"c.csv:3:4: prediction: found \"x\": 0 or 1 is allowed, also written 0.0 or 1.0, false or true; for two words, declare positive and negative\n" +
			"c.csv:3:6: score: found \"9\"; a probability from 0 to 1 is allowed\n" +
			"c.csv:3:8: person is empty; with a unit declared, every case says whose it is\n" +
			`c.csv:3:11: age: found "?": a decimal number such as 0.25 or 1e-3 is allowed`},
	} {
		_, err := tryRun(run{verb: gate.Decide, declaration: declared, names: []string{"c.csv"}, files: map[string]string{"c.csv": header + first + c.rows + "\n"}})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\n got %v\nwant %s", c.rows, err, c.want)
		}
	}
	// In other files too, and the person by name where that is asked for.
	_, err := tryRun(run{verb: gate.Decide, declaration: declared, flags: gate.Flags{ShowUnits: true}, names: []string{"a.csv", "b.csv"},
		files: map[string]string{"a.csv": header + first, "b.csv": header + "2,1,0,0.5,p1,m,20\n1,0,0,0.5,p3,m,20\n"}})
	want := "b.csv:2: the same person, \"p1\", as at a.csv:2; one person has several cases, and the intervals hold for cases of different people only\n" +
		`b.csv:3: id "1" is the one of the case at a.csv:2 too; each case has its own`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	// Words: exactly the two.
	_, err = tryRun(run{verb: gate.Decide, declaration: "label: {positive: repaid, negative: lost}\nattributes: {sex: [f, m]}\n" + sound, names: []string{"c.csv"},
		files: map[string]string{"c.csv": "id,label,prediction,sex\n1,repaid,1,f\n2,Repaid,0,m\n3,1,0,m\n"}})
	want = "c.csv:3:3: label: found \"Repaid\": \"repaid\" (positive) or \"lost\" (negative) is allowed\nc.csv:4:3: label: found \"1\": \"repaid\" (positive) or \"lost\" (negative) is allowed"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	// Declared columns have to be there.
	_, err = tryRun(run{verb: gate.Decide, declaration: "unit: person\nattributes: {sex: [f, m]}\n" + sound, names: []string{"c.csv"}, files: map[string]string{"c.csv": "id,label,prediction\n1,1,1\n"}})
	if err == nil || strings.Count(err.Error(), "\n") != 1 || !strings.Contains(err.Error(), `the column "person" is missing`) || !strings.Contains(err.Error(), `the column "sex" is missing`) {
		t.Errorf("missing columns: %v", err)
	}
}

// TestMisspeltColumns: a column that the file does not have is corrected where it is named: in the declaration, under columns, in a rule.
func TestMisspeltColumns(t *testing.T) {
	for _, c := range []struct{ declaration, want string }{
		{"label: {column: outcom}\nattributes: {sex: [f, m]}", `c.csv:1: the column "outcom" is missing; fairness.yaml:1:17 names it, and there is "outcome": correct it there, rename the column, or write columns: {outcom: "outcome"} in the policy`},
		{"label: outcome\nattributes: {sexx: [f, m]}", `c.csv:1: the column "sexx" is missing; fairness.yaml:2:14 names it, and there is "sex": correct it there, rename the column, or write columns: {sexx: "sex"} in the policy`},
		{"label: outcome\nattributes: {gender: [f, m]}\ncolumns: {gender: Sex}", `c.csv:1: the column "Sex" (the policy's name for gender) is missing; fairness.yaml:3:19 names it, and there is "sex": correct it there, or rename the column`},
		{"label: outcome\nunit: person\nattributes: {sex: [f, m]}", `c.csv:1: the column "person" is missing; fairness.yaml:2:7 names it: correct it there, add the column, or name the one that holds it under columns in the policy`},
		{"label: outcome\n" + "attributes: {sex: [f, m]}\nrules: [{id: a, attribute: sex, rate: error, max_group_gap: 0.1, where: {regoin: x}}]", `c.csv:1: the column "regoin" is missing; fairness.yaml:3:74 names it, and there is "region": correct it there, rename the column, or write columns: {regoin: "region"} in the policy`},
		{"attributes: {sex: [f, m]}\n" + sound, `c.csv:1: the column "label" is missing: add it, or name the one that holds it under columns in the policy`},
	} {
		_, err := tryRun(run{verb: gate.Report, declaration: c.declaration, names: []string{"c.csv"}, files: map[string]string{"c.csv": cases("outcome,prediction,sex,region", 1, "1,1,f,x")}})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\n got %v\nwant %s", c.declaration, err, c.want)
		}
	}
}

// TestProblemsInAnyOrder: a row with a fault still has its id and its person, so that the same problems are told whichever row is
// read first.
func TestProblemsInAnyOrder(t *testing.T) {
	const header = "id,label,prediction,person,sex\n"
	files := map[string]string{
		"a.csv": header + "1,x,1,p1,f\n", // a fault, and the id of b
		"b.csv": header + "1,1,1,p2,f\n", // the person of d
		"c.csv": header + "2,1,1,p3,f\n", // the id of d
		"d.csv": header + "2,1,1,p2,f\n", // the id of c, the person of b
		"e.csv": header + ",1,1,p3,f\n",  // no id, and the person of c
		"f.csv": header + "3,1,2,,f\n",   // no person, a fault, and the id of g
		"g.csv": header + "3,1,1,p4,f\n", // nothing but the id of f
	}
	want := `a.csv:2:3: label: found "x": 0 or 1 is allowed, also written 0.0 or 1.0, false or true; for two words, declare positive and negative
b.csv:2: id "1" is the one of the case at a.csv:2 too; each case has its own
d.csv:2: id "2" is the one of the case at c.csv:2 too; each case has its own
d.csv:2: the same person as at b.csv:2; one person has several cases, and the intervals hold for cases of different people only
e.csv:2:1: id is empty; every case needs an id
e.csv:2: the same person as at c.csv:2; one person has several cases, and the intervals hold for cases of different people only
f.csv:2:5: prediction: found "2": 0 or 1 is allowed, also written 0.0 or 1.0, false or true; for two words, declare positive and negative
f.csv:2:7: person is empty; with a unit declared, every case says whose it is
g.csv:2: id "3" is the one of the case at f.csv:2 too; each case has its own`
	sorted := func(text string) []string { return slices.Sorted(strings.SplitSeq(text, "\n")) }
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.Permutation(slices.Sorted(maps.Keys(files))).Draw(t, "order")
		_, err := tryRun(run{verb: gate.Report, declaration: "unit: person\nattributes: {sex: [f, m]}", names: names, files: files})
		if err == nil {
			t.Fatal("no error")
		}
		if diff := cmp.Diff(sorted(want), sorted(err.Error())); diff != "" {
			t.Fatalf("%v (-want +got):\n%s", names, diff)
		}
	})
}

// TestNoFollowUps: rows are not checked against words that could not be read, nor is a column asked for that has no name.
func TestNoFollowUps(t *testing.T) {
	file := cases("label,prediction,sex", 3, "good,1,f", 2, "bad,0,m")
	for declaration, want := range map[string]string{
		"label: {positive: good}\nattributes: {sex: [f, m]}":                     "fairness.yaml:1:19: there is a positive word and no negative one; give both, or none where the column has 0 and 1",
		"label: {positive: good, negative: \" \"}\nattributes: {sex: [f, m]}":    "fairness.yaml:1:35: negative is empty; a text is wanted",
		"positive: good\nnegative: [bad]\nattributes: {sex: [f, m]}":             "fairness.yaml:2:11: negative: found a list; a text is wanted",
		"label: {positive: good, negative: bad}\nattributes: {\"\": [f, m]}":     "fairness.yaml:2:14: an attribute has no name; write the name of a column",
		"label: {positive: good, negative: bad}\nattributes: {sex: {bins: [x]}}": "fairness.yaml:2:27: bins: found \"x\"; a finite decimal number is wanted, such as 0.5",
	} {
		_, err := tryRun(run{verb: gate.Report, declaration: declaration, names: []string{"c.csv"}, files: map[string]string{"c.csv": file}})
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", declaration, err, want)
		}
	}
}

// TestBeside: a policy beside the declaration adds rules and settings; what it says of the cases agrees with the declaration or
// is an error that names both places.
func TestBeside(t *testing.T) {
	const declared = "fairness:\n  cases: own.csv\n  min_cell: 5\n  label: {column: y, positive: good, negative: bad}\n  attributes: {sex: [f, m]}\n"
	data := cases("y,prediction,sex", 20, "good,1,f", 20, "good,1,m")
	ask := run{verb: gate.Decide, declaration: declared, names: []string{"c.csv"}, files: map[string]string{"c.csv": data}}
	ask.beside = "confidence: 0.9\nfairness:\n  cases: other.csv\n  min_cell: 5\n  calibration_bins: 5\n  attributes: {sex: [f, m]}\n  label: {column: y, negative: bad, positive: good}\n" +
		"  rules: [{id: a, rate: true_positive, attribute: sex, worst_group: {minimum: 0.8}}]"
	a, err := tryRun(ask)
	if err != nil {
		t.Fatal(err)
	}
	// 20 of 20 in each of two groups at 90 %: the lower end is .025^(1/20) = e^(-3.688879/20) = .83157.
	if r := ruleOf(t, a.Gate); r.Verdict.String() != "PASS" || r.Position.File != "policy.yaml" || r.Interval.Confidence != 0.9 || *r.Interval.Lower < 0.8315 || *r.Interval.Lower > 0.8316 {
		t.Errorf("%s at %v, interval %+v", r.Verdict, r.Position, *r.Interval)
	}
	if f := finding(a.Gate, "policy_file_not_read"); f == nil || !strings.Contains(f.Message, "own.csv") {
		t.Errorf("findings %v", a.Gate.Findings)
	}
	for _, c := range []struct{ beside, want string }{
		{"min_cell: 6", `fairness.yaml:3:3: min_cell is 5 here and 6 in policy.yaml:2:3; say it once, or the same in both`},
		{"label: y", `fairness.yaml:4:3: label is {column: y, negative: bad, positive: good} here and y in policy.yaml:2:3; say it once, or the same in both`},
		{"attributes: {sex: [f, m, x]}", `fairness.yaml:5:3: attributes is {sex: [f, m]} here and {sex: [f, m, x]} in policy.yaml:2:3; say it once, or the same in both`},
		{"attributes: {sex: ['f, m']}", `fairness.yaml:5:3: attributes is {sex: [f, m]} here and {sex: ["f, m"]} in policy.yaml:2:3; say it once, or the same in both`},
		{"label: {column: 'y, negative bad, positive good'}", `fairness.yaml:4:3: label is {column: y, negative: bad, positive: good} here and "y, negative bad, positive good" in policy.yaml:2:3; say it once, or the same in both`},
		{"label: {column: y, positive: good, negative: BAD}", `fairness.yaml:4:3: label is {column: y, negative: bad, positive: good} here and {column: y, negative: BAD, positive: good} in policy.yaml:2:3; say it once, or the same in both`},
		{"attribute: {sex: [f, m]}", `policy.yaml:2:3: unknown key "attribute" in section fairness; did you mean "attributes"? Allowed: `},
	} {
		ask.beside = "fairness:\n  " + c.beside + "\n  rules: [{id: a, rate: true_positive, attribute: sex, worst_group: {minimum: 0.8}}]"
		_, err := tryRun(ask)
		if err == nil || err.Error() != c.want && !(strings.HasSuffix(c.want, "Allowed: ") && strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s\n got %v\nwant %s", c.beside, err, c.want)
		}
	}
	// Structures are compared, not how they read joined.
	long := many("x", 300)
	for _, c := range []struct{ own, beside, want string }{
		{"attributes: {sex: [f, m], age: {bins: [30]}}", "attributes: {sex: [f, m], age: [under_30, over_30]}", "attributes is {sex: [f, m], age: {bins: [30]}} here and {sex: [f, m], age: [under_30, over_30]} in policy.yaml:2:3; say it once, or the same in both"},
		{"attributes: {sex: [f, m], age: [y, o]}", "attributes: {sex: [f, 'm; age: y, o']}", `attributes is {sex: [f, m], age: [y, o]} here and {sex: [f, "m; age: y, o"]} in policy.yaml:2:3; say it once, or the same in both`},
		{"attributes: {age: {bins: [30]}}", "attributes: {age: {bins: [30.0]}}", "attributes is {age: {bins: [30]}} here and {age: {bins: [30.0]}} in policy.yaml:2:3; say it once, or the same in both"},
		{"attributes: {sex: " + long[:len(long)-1] + "y]}", "attributes: {sex: " + long + "}", "attributes is not the same here and in policy.yaml:2:3; say it once, or the same in both"},
		{"attributes: {sex: [f, m], age: [y, o]}\n  intersections: [[sex, age]]", "intersections: []", "intersections is [[sex, age]] here and [] in policy.yaml:2:3; say it once, or the same in both"},
		{"attributes: {sex: [f, m], age: [y, o]}\n  intersections: [[sex, age]]", "intersections: [[age, sex]]", "intersections is [[sex, age]] here and [[age, sex]] in policy.yaml:2:3; say it once, or the same in both"},
		{"attributes: {sex: [f, m], age: {bins: [30]}}", "attributes: {age: {bins: [30]}, sex: [f, m]}", "attributes is {sex: [f, m], age: {bins: [30]}} here and {age: {bins: [30]}, sex: [f, m]} in policy.yaml:2:3; say it once, or the same in both"},
		{"attributes: {sex: [f, m], age: {bins: [30]}}\n  intersections: [[sex, age]]", "attributes: {\"sex \": [\" f\", m], age: {bins: [30]}}\n  intersections: [[\" sex\", age]]", ""},
	} {
		diags := &diag.List{}
		compile(run{verb: gate.Report, declaration: "fairness:\n  " + c.own + "\n", beside: "fairness:\n  " + c.beside + "\n", names: []string{"c.csv"}}, diags)
		got := ""
		if err := diags.Err(); err != nil {
			got = strings.TrimLeft(strings.TrimPrefix(err.Error(), "fairness.yaml:"), "0123456789:")
			got = strings.TrimSpace(got)
		}
		if got != c.want {
			t.Errorf("%s beside %s\n got %s\nwant %s", c.own, c.beside, got, c.want)
		}
	}
	// What only the policy beside says holds.
	ask.beside = "fairness:\n  positive: 1\n  negative: 0\n  unit: who\n  rules: [{id: a, rate: true_positive, attribute: sex, worst_group: {minimum: 0.8}}]"
	if _, err := tryRun(ask); err == nil || !strings.Contains(err.Error(), `the column "who" is missing`) {
		t.Errorf("a unit declared beside: %v", err)
	}
}

// TestNoDeclaration: a question without one has no files and says so.
func TestNoDeclaration(t *testing.T) {
	diags := &diag.List{}
	q := Gate{}.Compile(gate.Source{Verb: gate.Decide}, diags)
	want := "no declaration: fairness needs a file that declares the cases, the groups and the rules, such as fairness.yaml"
	if err := diags.Err(); err == nil || err.Error() != want || len(q.Inputs()) != 0 || len(q.Rules()) != 0 || q.Prospects() != nil {
		t.Errorf("got %v, inputs %v", err, q.Inputs())
	}
	if _, err := q.Answer(gate.Context{}); err == nil {
		t.Error("an answer without a declaration")
	}
}
