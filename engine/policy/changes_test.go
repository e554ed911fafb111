package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
)

// allSpecs are the sections of a release file.
var allSpecs = []SectionSpec{{"human_ai", "human-ai"}, {"anchoring", "anchoring"}, {"compare", "compare"}, {"fairness", "fairness"}}

// changed compares two texts as policies in which bare rules are human-ai's. A change is written "line:column: message",
// with an exclamation mark in front where it loosens.
func changed(t interface{ Fatalf(string, ...any) }, base, head string) (list []string) {
	var diags diag.List
	was, is := Parse("base.yaml", []byte(base), &diags), Parse("p.yaml", []byte(head), &diags)
	if was == nil || is == nil {
		t.Fatalf("%v\n%s\n%s", diags.Err(), base, head)
	}
	for _, c := range Changes(was, is, allSpecs, "human_ai", false) {
		mark := ""
		if c.Loosens {
			mark = "! "
		}
		list = append(list, mark+strings.TrimSpace(strings.TrimPrefix(c.Pos.String(), "p.yaml")+" "+c.Message))
	}
	return list
}

// one is a policy of one bare rule that says this beside its id.
func one(text string) string {
	return "rules:\n  - {id: a, " + text + "}\n"
}

func TestChanges(t *testing.T) {
	const agreement = "metric: agreement, minimum: 0.8"
	const fair = "fairness:\n  attributes: {sex: [female, male]}\n  rules:\n"
	for _, test := range []struct {
		name, base, head string
		want             []string
	}{
		// Thresholds, one kind after the other: the easy way, and the hard way, which says nothing.
		{"a minimum lowered", one("metric: agreement, minimum: 0.85"), one("metric: agreement, minimum: 0.80"),
			[]string{"! :2:32 In rule a, minimum is lowered from 0.85 to 0.80."}},
		{"a minimum raised", one("metric: agreement, minimum: 0.80"), one("metric: agreement, minimum: 0.85"), nil},
		{"a minimum below zero", one("metric: accuracy_difference, minimum: -0.02"), one("metric: accuracy_difference, minimum: -0.05"),
			[]string{"! :2:42 In rule a, minimum is lowered from -0.02 to -0.05."}},
		{"a maximum raised", one("metric: over_reliance, maximum: 0.5"), one("metric: over_reliance, maximum: .6"),
			[]string{"! :2:36 In rule a, maximum is raised from 0.5 to .6."}},
		{"a maximum lowered", one("metric: over_reliance, maximum: 0.5"), one("metric: over_reliance, maximum: 0.4"), nil},
		{"a gap raised", fair + "    - {id: a, rate: error, attribute: sex, max_group_gap: 0.05}\n", fair + "    - {id: a, rate: error, attribute: sex, max_group_gap: 0.1}\n",
			[]string{"! :4:44 In rule a, max_group_gap is raised from 0.05 to 0.1."}},
		{"a ratio lowered", fair + "    - {id: a, rate: selection, attribute: sex, min_group_ratio: 0.8}\n", fair + "    - {id: a, rate: selection, attribute: sex, min_group_ratio: 0.7}\n",
			[]string{"! :4:48 In rule a, min_group_ratio is lowered from 0.8 to 0.7."}},
		{"a worst group's minimum lowered", fair + "    - {id: a, rate: accuracy, attribute: sex, worst_group: {minimum: 0.8}}\n", fair + "    - {id: a, rate: accuracy, attribute: sex, worst_group: {minimum: 0.7}}\n",
			[]string{"! :4:61 In rule a, worst_group.minimum is lowered from 0.8 to 0.7."}},
		{"a worst group's maximum raised", fair + "    - {id: a, rate: error, attribute: sex, worst_group: {maximum: 0.1}}\n", fair + "    - {id: a, rate: error, attribute: sex, worst_group: {maximum: 0.2}}\n",
			[]string{"! :4:58 In rule a, worst_group.maximum is raised from 0.1 to 0.2."}},
		{"a worst group's the hard way", fair + "    - {id: a, rate: error, attribute: sex, worst_group: {maximum: 0.2}}\n", fair + "    - {id: a, rate: error, attribute: sex, worst_group: {maximum: 0.1}}\n", nil},
		{"another side of the worst group", fair + "    - {id: a, rate: error, attribute: sex, worst_group: {maximum: 0.2}}\n", fair + "    - {id: a, rate: error, attribute: sex, worst_group: {minimum: 0.2}}\n",
			[]string{"! :4:58 In rule a, worst_group.maximum 0.2 is replaced by worst_group.minimum 0.2."}},
		{"another kind", one("metric: agreement, minimum: 0.8"), one("metric: agreement, maximum: 0.9"),
			[]string{"! :2:32 In rule a, minimum 0.8 is replaced by maximum 0.9."}},
		{"another metric, decided without a threshold", "compare:\n  rules:\n    - {id: a, metric: rate, minimum: 0.8}\n", "compare:\n  rules:\n    - {id: a, metric: sign_test}\n",
			[]string{"! :3:8 In rule a, minimum 0.8 is removed.", "! :3:15 Rule a measures something else: metric was rate and is now sign_test."}},
		{"another rate", fair + "    - {id: a, rate: false_negative, attribute: sex, max_group_gap: 0.05}\n", fair + "    - {id: a, rate: error, attribute: sex, max_group_gap: 0.05}\n",
			[]string{"! :4:15 Rule a measures something else: rate was false_negative and is now error."}},
		{"no metric any more", one("metric: agreement, minimum: 0.8"), one("minimum: 0.8"),
			[]string{"! :2:6 Rule a measures something else: metric was agreement and is no longer given."}},
		{"a threshold where there was none", "compare:\n  rules:\n    - {id: a, metric: sign_test}\n", "compare:\n  rules:\n    - {id: a, metric: rate, minimum: 0.8}\n",
			[]string{"! :3:15 Rule a measures something else: metric was sign_test and is now rate.", ":3:29 In rule a, minimum 0.8 is new."}},

		// Rules.
		{"a rule removed", "rules:\n  - {id: a, metric: agreement, minimum: 0.8}\n  - {id: b, metric: over_reliance, maximum: 0.5}\n", one(agreement),
			[]string{"! Rule b is removed (over_reliance, maximum 0.5)."}},
		{"a rule added", one(agreement), "rules:\n  - {id: b, metric: over_reliance, maximum: 0.5}\n  - {id: a, metric: agreement, minimum: 0.8}\n", nil},
		{"a rule renamed", one("metric: agreement, minimum: 0.80, where: {site: x, kind: y}"), "rules:\n  - {minimum: 0.80, where: {kind: 'y', site: x}, metric: agreement, id: b}\n",
			[]string{":2:69 Rule a is now rule b; it says the same otherwise."}},
		{"a rule renamed and lowered", one(agreement), "rules:\n  - {id: b, metric: agreement, minimum: 0.7}\n", []string{"! Rule a is removed (agreement, minimum 0.8)."}},
		{"two rules that change ids", "rules:\n  - {id: a, metric: agreement, minimum: 0.8}\n  - {id: b, metric: agreement, minimum: 0.7}\n", "rules:\n  - {id: b, metric: agreement, minimum: 0.8}\n  - {id: a, metric: agreement, minimum: 0.7}\n",
			[]string{"! :3:32 In rule a, minimum is lowered from 0.8 to 0.7."}},
		{"a rule made advisory", one(agreement), one(agreement + ", advisory: true"), []string{"! :2:46 Rule a is made advisory: it no longer counts in the verdict."}},
		{"a rule that counts again", one(agreement + ", advisory: TRUE"), one(agreement + ", advisory: false"), nil},
		{"a rule that still counts", one(agreement), one(agreement + ", advisory: false"), nil},
		{"another metric and slice", one(agreement), one("metric: over_reliance, minimum: 0.8, where: {site: x}, per: person"),
			[]string{"! :2:13 Rule a measures something else: metric was agreement and is now over_reliance.", ":2:50 In rule a, where was not given and is now {site: x}.", ":2:68 In rule a, per was not given and is now person."}},
		{"a slice that is another", one(agreement + ", where: {site: x, level: hard}"), one(agreement + ", where: {level: easy}"),
			[]string{":2:46 In rule a, where.site was x and is no longer given.", ":2:54 In rule a, where.level was hard and is now easy."}},
		{"both populations no longer", one("metric: accuracy_difference, minimum: 0, generalize: people_and_cases"), one("metric: accuracy_difference, minimum: 0"),
			[]string{"! :2:6 In rule a, generalize was people_and_cases and is no longer given."}},
		{"the other version, and a k", "compare:\n  rules:\n    - {id: a, metric: pass_at_k, k: 3, minimum: 0.8}\n", "compare:\n  rules:\n    - {id: a, metric: pass_at_k, k: 05, version: baseline, minimum: 0.8}\n",
			[]string{":3:34 In rule a, k was 3 and is now 05.", ":3:41 In rule a, version was candidate (the default) and is now baseline."}},
		{"a default written out", "compare:\n  rules:\n    - {id: a, metric: pass_at_k, k: 3, minimum: 0.8}\n",
			"compare:\n  case_list: sampled\n  confidence: 0.950\n  max_left_out: 0.1\n  rules:\n    - {id: a, metric: pass_at_k, k: 03, version: candidate, minimum: 0.8}\n", nil},

		// Waivers and reviews.
		{"a waiver", one(agreement), one(agreement + ", waive: {until: 2027-03-31, owner: Ada, reason: known}"),
			[]string{"! :2:46 Rule a gets a waiver until 2027-03-31, owner Ada."}},
		{"a longer waiver", one(agreement + ", waive: {until: 2027-03-31, owner: Ada, reason: known}"), one(agreement + ", waive: {until: 2027-04-30, owner: Ada, reason: still known}"),
			[]string{"! :2:54 The waiver of rule a is prolonged from 2027-03-31 to 2027-04-30.", ":2:85 In rule a, waive.reason was known and is now \"still known\"."}},
		{"a shorter waiver", one(agreement + ", waive: {until: 2027-03-31, owner: Ada, reason: known}"), one(agreement + ", waive: {until: 2027-03-30, owner: Ada, reason: known}"), nil},
		{"no waiver any more", one(agreement + ", waive: {until: 2027-03-31, owner: Ada, reason: known}"), one(agreement), nil},
		{"a waiver without a day", one(agreement + ", waive: {until: 2027-03-31, owner: Ada, reason: known}"), one(agreement + ", waive: {until: later, owner: Ada, reason: known}"),
			[]string{"! :2:54 In rule a, waive.until was 2027-03-31 and is now later."}},
		{"a waiver that is none", one(agreement + ", waive: {until: 2027-03-31, owner: Ada, reason: known}"), one(agreement + ", waive: yes"),
			[]string{"! :2:46 In rule a, waive was {until: 2027-03-31, owner: Ada, reason: known} and is now yes."}},
		{"a review", one(agreement), one(agreement + ", reviewed: {by: Ada, on: 2027-03-01, digest: 0a, reason: fine}"), []string{"! :2:46 Rule a gets a recorded review by Ada."}},
		{"another review", one(agreement + ", reviewed: {by: Ada, on: 2027-03-01, digest: 0a, reason: fine}"), one(agreement + ", reviewed: {by: Ada, on: 2027-03-01, digest: 0b, reason: fine}"),
			[]string{"! :2:46 Rule a gets another recorded review by Ada."}},
		{"the same review", one(agreement + ", reviewed: {by: Ada, on: 2027-03-01, digest: 0a, reason: fine}"), one(agreement + ", reviewed: {digest: 0a, by: 'Ada', on: 2027-03-01, reason: fine}"), nil},
		{"no review any more", one(agreement + ", reviewed: {by: Ada, on: 2027-03-01, digest: 0a, reason: fine}"), one(agreement), nil},

		// Settings, as they hold for the rules.
		{"confidence lowered at the top", "confidence: 0.99\n" + one(agreement), "confidence: 0.9\n" + one(agreement), []string{"! :1:1 In rule a, confidence is lowered from 0.99 to 0.9."}},
		{"confidence left out", "confidence: 0.99\n" + one(agreement), one(agreement), []string{"! :2:6 In rule a, confidence is lowered from 0.99 to 0.95 (the default)."}},
		{"confidence written out lower", one(agreement), one(agreement + ", confidence: 0.9"), []string{"! :2:46 In rule a, confidence is lowered from 0.95 (the default) to 0.9."}},
		{"confidence raised", "confidence: 0.9\n" + one(agreement), one(agreement), []string{":2:6 In rule a, confidence is raised from 0.9 to 0.95 (the default)."}},
		{"confidence moved up", "human_ai:\n  rules:\n    - {id: a, metric: agreement, minimum: 0.8, confidence: 0.9}\n", "confidence: .90\nhuman_ai:\n  rules:\n    - {id: a, metric: agreement, minimum: 0.8}\n", nil},
		{"confidence moved down", "confidence: 0.9\nhuman_ai:\n  rules:\n    - {id: a, metric: agreement, minimum: 0.8}\n", "human_ai:\n  confidence: 0.9\n  rules:\n    - {id: a, metric: agreement, minimum: 0.8}\n", nil},
		{"confidence of the rules that inherit it", "confidence: 0.99\nrules:\n" + many(1, 8, "confidence: 0.99") + many(8, 10, "") + many(10, 20, ""), "confidence: 0.9\nrules:\n" + many(1, 8, "confidence: 0.99") + many(8, 10, "") + many(10, 20, ""),
			[]string{"! :1:1 In rules r8, r9, r10, r11, r12 and 7 more, confidence is lowered from 0.99 to 0.9."}},
		{"confidence of two", "confidence: 0.99\nrules:\n" + many(1, 3, ""), "confidence: 0.9\nrules:\n" + many(1, 3, ""), []string{"! :1:1 In rules r1 and r2, confidence is lowered from 0.99 to 0.9."}},
		{"confidence of a declaration without rules", "fairness:\n  confidence: 0.99\n", "fairness:\n  confidence: 0.9\n", []string{"! :2:3 In section fairness, confidence is lowered from 0.99 to 0.9."}},
		{"confidence of rules and of a section without any", "confidence: 0.99\nhuman_ai: {rules: [{id: a, metric: agreement, minimum: 0.8}]}\nfairness: {}\n", "confidence: 0.9\nhuman_ai: {rules: [{id: a, metric: agreement, minimum: 0.8}]}\nfairness: {}\n",
			[]string{"! :1:1 In rule a and section fairness, confidence is lowered from 0.99 to 0.9."}},
		{"more may be left out", one(agreement), one(agreement + ", max_left_out: 0.2"), []string{"! :2:46 In rule a, max_left_out is raised from 0.10 (the default) to 0.2."}},
		{"less may be left out", one(agreement), one(agreement + ", max_left_out: 0"), []string{":2:46 In rule a, max_left_out is lowered from 0.10 (the default) to 0."}},
		{"many looks to one", "looks: repeated\n" + one(agreement), one(agreement), []string{"! :2:6 In rule a, looks was repeated and is no longer given."}},
		{"one look to many", one(agreement), "looks: repeated\n" + one(agreement), []string{":1:1 In rule a, looks was not given and is now repeated."}},
		{"a planned number", one(agreement), "looks: once\nplanned: 40\n" + one(agreement), []string{"! :1:1 In rule a, looks was not given and is now once."}},
		{"another planned number", "looks: once\nplanned: 40\n" + one(agreement), "looks: once\nplanned: 30\n" + one(agreement), []string{"! :2:1 In rule a, planned was 40 and is now 30."}},
		{"another method", "looks: once\nplanned: 40\n" + one(agreement), "looks: once\nplanned: 040\nmean_method: sympol\n" + one(agreement), []string{":3:1 In rule a, mean_method was not given and is now sympol."}},
		{"a rule's own looks, without the plan around it", "looks: once\nplanned: 40\n" + one(agreement+", looks: repeated"), "looks: once\nplanned: 30\n" + one(agreement+", looks: repeated"), nil},
		{"what means not recorded", "missing_values: [NA, '-']\n" + one(agreement), "missing_values: ['-', \"NA\", NA]\n" + one(agreement), nil},
		{"what else means not recorded", "missing_values: [NA]\n" + one(agreement), "missing_values: [NA, unsure]\n" + one(agreement), []string{":1:1 In the policy, missing_values was [NA] and is now [NA, unsure]."}},
		{"columns of several sections", "columns: {reviewer: who}\nhuman_ai: {}\nanchoring: {}\n", "human_ai: {}\nanchoring: {}\ncolumns: {reviewer: annotator}\n",
			[]string{":3:1 In section human_ai and section anchoring, columns was {reviewer: who} and is now {reviewer: annotator}."}},
		{"columns moved down", "columns: {reviewer: who}\nhuman_ai: {}\n", "human_ai:\n  columns: {reviewer: who}\n", nil},
		{"what decides nothing", "name: x\nmin_shown: 5\nrequires: '>=0.4'\n" + one(agreement), "name: y\n" + one(agreement), []string{":1:1 The name of section human_ai was \"x\" and is now \"y\"."}},

		// Keys of sections.
		{"fewer blind items", "anchoring:\n  minimum_blind_sample: 50\n", "anchoring: {}\n", []string{"! :1:1 In section anchoring, minimum_blind_sample is lowered from 50 to 20 (the default)."}},
		{"more blind items, which can keep a rule from failing", "anchoring: {}\n", "anchoring:\n  minimum_blind_sample: 50\n", []string{":2:3 In section anchoring, minimum_blind_sample is raised from 20 (the default) to 50."}},
		{"smaller groups", "fairness:\n  min_cell: 30\n", "fairness:\n  min_cell: 10\n", []string{"! :2:3 In section fairness, min_cell is lowered from 30 to 10."}},
		{"larger groups", "fairness:\n  min_cell: 30\n", "fairness:\n  min_cell: 300\n", []string{":2:3 In section fairness, min_cell is raised from 30 to 300."}},
		{"another plan", "compare:\n  plan: {cases: 8, trials: 5}\n", "compare:\n  plan: {trials: 7, cases: 08}\n", []string{"! :2:10 In section compare, plan.trials was 5 and is now 7."}},
		{"no plan any more", "compare:\n  plan: {cases: 8, trials: 5}\n", "compare: {}\n", []string{"! :1:1 In section compare, plan was {cases: 8, trials: 5} and is no longer given."}},
		{"half a plan", "compare:\n  plan: {cases: 8, trials: 5}\n", "compare:\n  plan: {cases: 8}\n", []string{"! :2:3 In section compare, plan.trials was 5 and is no longer given."}},
		{"a plan", "compare: {}\n", "compare:\n  plan: {cases: 8, trials: 5}\n", []string{":2:3 In section compare, plan was not given and is now {cases: 8, trials: 5}."}},
		{"a fixed list", "compare: {}\n", "compare:\n  case_list: fixed\n", []string{":2:3 In section compare, case_list was sampled (the default) and is now fixed."}},
		{"files", "compare:\n  trials: a.csv\n", "compare:\n  trials: [a.csv]\n", nil},
		{"other files", "compare:\n  trials: a.csv\n", "compare:\n  trials: [a.csv, b.csv]\n", []string{":2:3 In section compare, trials was a.csv and is now [a.csv, b.csv]."}},
		{"no assignment, no draw, no unit, no abstentions", "human_ai: {assignment: a.csv, abstain: [unsure]}\nanchoring: {draw: d.csv}\nfairness: {unit: person}\n", "human_ai: {}\nanchoring: {}\nfairness: {}\n",
			[]string{"! :1:1 In section human_ai, assignment was a.csv and is no longer given.", ":1:1 In section human_ai, abstain was [unsure] and is no longer given.",
				"! :2:1 In section anchoring, draw was d.csv and is no longer given.", "! :3:1 In section fairness, unit was person and is no longer given."}},
		{"another group, bound and crossing", "fairness:\n  attributes: {sex: [female, male], age: {bins: [30, 60]}}\n  intersections: [[sex, age]]\n", "fairness:\n  attributes: {age: {bins: [30, 65]}, sex: [female, male, other]}\n  intersections: []\n",
			[]string{":2:22 In section fairness, attributes.age.bins was [30, 60] and is now [30, 65].", ":2:39 In section fairness, attributes.sex was [female, male] and is now [female, male, other].",
				":3:3 In section fairness, intersections was [[sex, age]] and is now []."}},
		{"words and columns of the outcome", "fairness:\n  label: {column: y, positive: yes, negative: no}\n", "fairness:\n  label: {column: y, positive: no, negative: yes}\n  prediction: prediction\n",
			[]string{":2:22 In section fairness, label.positive was yes and is now no.", ":2:36 In section fairness, label.negative was no and is now yes."}},
		{"a number that is a name", "fairness:\n  attributes: {grade: [1, 2]}\n", "fairness:\n  attributes: {grade: [1.0, 2]}\n", []string{":2:16 In section fairness, attributes.grade was [1, 2] and is now [1.0, 2]."}},
		{"a key to come", "fairness: {}\nfuture: 1\n", "fairness:\n  weights: w\nfuture: 2\n", []string{":2:3 In section fairness, weights was not given and is now w.", ":3:1 In the policy, future was 1 and is now 2."}},

		// Sections.
		{"bare rules in a section now", "confidence: 0.9\n" + one(agreement), "confidence: 0.9\nhuman_ai:\n  rules:\n    - {id: a, metric: agreement, minimum: 0.8}\n", nil},
		{"a section in a list now", "fairness: {name: loans, rules: [{id: a, rate: error, attribute: sex, max_group_gap: 0.1}]}\n", "fairness:\n  - {rules: [{id: a, rate: error, attribute: sex, max_group_gap: 0.1}], name: loans}\n", nil},
		{"one of two sections has another name", "fairness: [{name: loans, rules: [{id: a, rate: error, max_group_gap: 0.1}]}, {name: cards}]\n", "fairness: [{name: cards}, {name: credit, rules: [{id: a, rate: error, max_group_gap: 0.2}]}]\n",
			[]string{":1:28 The name of section fairness was \"loans\" and is now \"credit\".", "! :1:71 In rule a, max_group_gap is raised from 0.1 to 0.2."}},
		{"a section less", "human_ai: {rules: [{id: a, metric: agreement, minimum: 0.8}, {id: b, metric: agreement, maximum: 1}]}\nfairness: {name: x}\ncompare: {}\n", "compare: {}\n",
			[]string{"! Rule a is removed (agreement, minimum 0.8).", "! Rule b is removed (agreement, maximum 1).", "! Section fairness \"x\" is removed."}},
		{"a section more", one(agreement), "human_ai:\n  rules: [{id: a, metric: agreement, minimum: 0.8}]\nfairness:\n  rules: [{id: b, rate: error}]\n", nil},
		{"what is gone comes last, in its order", "rules:\n  - {id: a, metric: agreement, minimum: 0.8}\n  - {id: b, metric: agreement, minimum: 0.9}\n  - {id: c, metric: agreement, minimum: 0.7}\n", "rules:\n  - {id: d, metric: over_reliance, maximum: 0.8}\n  - {id: c, metric: agreement, minimum: 0.6}\n",
			[]string{"! :3:32 In rule c, minimum is lowered from 0.7 to 0.6.", "! Rule a is removed (agreement, minimum 0.8).", "! Rule b is removed (agreement, minimum 0.9)."}},

		// Texts that are hostile, or long.
		{"hostile texts", "rules:\n  - {id: \"a\\n::error::x\", metric: \"\\u202eb\"}\n", "rules:\n  - {id: \"a\\n::error::x\", metric: '<b>|`', \"x\\ny\": '\"'}\n",
			[]string{"! :2:27 Rule \"a\\n::error::x\" measures something else: metric was \"\\u202eb\" and is now \"<b>|`\".", ":2:44 In rule \"a\\n::error::x\", \"x\\ny\" was not given and is now \"\\\"\"."}},
		{"long texts", one("metric: " + strings.Repeat("x", 100) + "a"), one("metric: " + strings.Repeat("x", 100) + "b"),
			[]string{"! :2:13 Rule a measures something else: metric has another value than before (\"" + strings.Repeat("x", 59) + "…\")."}},
		{"long lists", one("where: [" + strings.Repeat("x, ", 100) + "a]"), one("where: [" + strings.Repeat("x, ", 100) + "b]"),
			[]string{":2:13 In rule a, where has another value than before ([" + strings.Repeat("x, ", 26) + "…)."}},

		// Policies with problems are compared as far as they go.
		{"values of other kinds", "confidence: [1]\nrules: [{id: a, minimum: x, waive: [], advisory: {}}, 7, {id: b}]\n", "confidence: {}\nrules: [{id: a, minimum: {}, waive: 3, advisory: 'true'}, {minimum: 0.9}]\n",
			[]string{":1:1 In rule a, confidence was [1] and is now {}.", ":2:17 In rule a, minimum was x and is now {}.", "! :2:30 In rule a, waive was [] and is now 3.", "! Rule b is removed."}},
		{"sections that are none", "human_ai: 7\nfairness: [1]\n", "human_ai: {}\n", []string{":1:1 In section human_ai, human_ai was 7 and is no longer given.", ":1:1 In section human_ai, fairness was [1] and is no longer given."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, changed(t, test.base, test.head)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, same := range []string{test.base, test.head} {
				if list := changed(t, same, same); list != nil {
					t.Errorf("to itself:\n%s", strings.Join(list, "\n"))
				}
			}
		})
	}
}

// many are rules r1, r2 … of a policy, each with a text.
func many(from, below int, text string) string {
	var b strings.Builder
	for i := from; i < below; i++ {
		fmt.Fprintf(&b, "  - {id: r%d, metric: agreement, minimum: 0.8, %s}\n", i, text)
	}
	return b.String()
}

// TestChangesDefaults holds the defaults that are compared with to those that the schema publishes.
func TestChangesDefaults(t *testing.T) {
	_, raw := compile(t)
	found := map[string]string{}
	var walk func(any, string)
	walk = func(v any, name string) {
		schema, ok := v.(map[string]any)
		if !ok {
			return
		}
		if d, ok := schema["default"]; ok && name != "advisory" {
			found[name] = fmt.Sprint(d)
		}
		for _, key := range []string{"properties", "$defs"} {
			inner, _ := schema[key].(map[string]any)
			for name, s := range inner {
				walk(s, name)
			}
		}
	}
	walk(raw, "")
	for key, rule := range keyRules {
		want := (&value{kind: scalar, text: found[key], plain: true}).canonical(rule)
		if got := (&value{kind: scalar, text: rule.fallback, plain: true}).canonical(rule); got != want {
			t.Errorf("%s: the default is %s, and in the schema %s", key, got, want)
		}
		delete(found, key)
	}
	if len(found) > 0 {
		t.Errorf("keys with a default that is not compared with: %v", found)
	}
}

// TestChangesWords: order, quotes, comments and how a number is written change nothing; a threshold that moved the easy
// way is told, and the way back says nothing.
func TestChangesWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := drawPolicy(t)
		var plain, varied strings.Builder
		policy.write(&plain, "", nil)
		policy.write(&varied, "", t)
		if list := changed(t, plain.String(), varied.String()); list != nil {
			t.Fatalf("written otherwise:\n%s\n%s\n%s", strings.Join(list, "\n"), &plain, &varied)
		}
		kind := rapid.SampledFrom([]string{"minimum", "maximum", "max_group_gap", "min_group_ratio"}).Draw(t, "kind")
		x, y := rapid.IntRange(0, 998).Draw(t, "x"), rapid.IntRange(1, 999).Draw(t, "y")
		if x >= y {
			x, y = y-1, x+1
		}
		easy, hard := fmt.Sprintf("0.%03d", x), fmt.Sprintf("0.%03d0", y)
		if strings.HasPrefix(kind, "max") {
			easy, hard = hard, easy
		}
		from, to := one("metric: m, "+kind+": "+hard), one("metric: m, "+kind+": "+easy)
		if list := changed(t, from, to); len(list) != 1 || !strings.HasPrefix(list[0], "! ") || !strings.Contains(list[0], "from "+hard+" to "+easy) {
			t.Fatalf("%s from %s to %s: %q", kind, hard, easy, list)
		}
		if list := changed(t, to, from); list != nil {
			t.Fatalf("%s from %s to %s: %q", kind, easy, hard, list)
		}
	})
}

// TestChangesMany: a policy as large as is read, and as unlike its base as can be, is compared soon. The time is not asserted;
// a comparison that takes each rule with each would not end.
func TestChangesMany(t *testing.T) {
	var base, head strings.Builder
	base.WriteString("rules:\n")
	head.WriteString("rules:\n")
	n := 0
	for ; head.Len() < MaxBytes-100; n++ {
		fmt.Fprintf(&base, "- {id: a%d, k: %d}\n", n, n)
		fmt.Fprintf(&head, "- {id: b%d, k: %d}\n", n, n+1)
	}
	if got := len(changed(t, base.String(), head.String())); got != n { // all renamed but one, which is gone
		t.Errorf("%d changes, want %d", got, n)
	}
}

// FuzzChanges: no two policies make it panic, what it says is printable and stands in the new policy, and nothing differs
// from itself.
// TestChangesBesideADeclaration: what a policy beside a declaration says nothing of is in the declaration, so that to write its
// usual value out may loosen as well as to take a value away. What both say is compared as ever.
func TestChangesBesideADeclaration(t *testing.T) {
	rule := func(keys string) string {
		return "rules:\n  - {id: a, rate: error, attribute: sex, max_group_gap: 0.1" + keys + "}\n"
	}
	for name, test := range map[string]struct{ was, is, want string }{
		"the default written out": {rule(""), rule(", confidence: 0.95"), "In rule a, confidence was not given and is now 0.95."},
		"taken out":               {rule(", max_left_out: 0.10"), rule(""), "In rule a, max_left_out was 0.10 and is no longer given."},
		"looks":                   {rule(""), rule(", looks: repeated"), "In rule a, looks was not given and is now repeated."},
		"adjust":                  {rule(""), "adjust: none\n" + rule(""), "In rule a, adjust was not given and is now none."},
		"the same":                {rule(", confidence: 0.95"), rule(", confidence: 0.950"), ""},
	} {
		was, is := Parse("", []byte(test.was), &diag.List{}), Parse("", []byte(test.is), &diag.List{})
		list := Changes(was, is, allSpecs, "fairness", true)
		if test.want == "" && list == nil {
			continue
		}
		if len(list) != 1 || list[0].Message != test.want || !list[0].Loosens {
			t.Errorf("%s: %+v, want %q", name, list, test.want)
		}
	}
}

func FuzzChanges(f *testing.F) {
	f.Add([]byte("confidence: 0.9\nrules: [{id: a, metric: m, minimum: 0.5}]\n"), []byte("rules: [{id: a, metric: n, maximum: 0.5, waive: {until: 2027-03-31}}]\n"))
	f.Add([]byte("fairness: [{name: x, attributes: {a: [b]}}, {name: y}]\ncompare: {plan: {cases: 8}}\n"), []byte("fairness: {name: z}\nlooks: once\n"))
	f.Add([]byte("human_ai: {rules: [{id: a}, {id: a}, {}], missing_values: [~, '']}\n"), []byte("human_ai: [{}]\ncolumns: {a: b}\n"))
	f.Fuzz(func(t *testing.T, base, head []byte) {
		var diags diag.List
		was, is := Parse("base.yaml", base, &diags), Parse("p.yaml", head, &diags)
		if was == nil || is == nil {
			return
		}
		lines := strings.Count(strings.ReplaceAll(string(head), "\r", "\n"), "\n") + 1
		for _, bare := range []string{"human_ai", ""} {
			list := Changes(was, is, allSpecs, bare, false)
			for _, c := range list {
				if c.Pos.File != "p.yaml" || c.Pos.Line > lines {
					t.Errorf("%v is not in the policy", c.Pos)
				}
				if !utf8.ValidString(c.Message) || strings.ContainsFunc(c.Message, func(r rune) bool { return !unicode.IsPrint(r) }) || utf8.RuneCountInString(c.Message) > 1000 {
					t.Errorf("it says %q", c.Message)
				}
			}
			if again := Changes(was, is, allSpecs, bare, false); !slices.Equal(list, again) {
				t.Errorf("first\n%v\nthen\n%v", list, again)
			}
			if list := Changes(is, is, allSpecs, bare, false); list != nil {
				t.Errorf("to itself: %v", list)
			}
		}
	})
}
