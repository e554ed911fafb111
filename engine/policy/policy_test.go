package policy

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oloproof/oloproof/engine/diag"
)

var update = flag.Bool("update", false, "rewrite the expected problems in testdata/policy/err")

// testdata is shared with whole-run tests, so it lies at the top of the repository.
const testdata = "../../testdata/policy"

// version is what requires is compared with in the test files.
const version = "0.3.1"

var specs = []SectionSpec{{Key: "human_ai", Gate: "human-ai"}}

// humanAI has the metrics of the human-ai gate: the rates of spec section 4 on [0, 1], the difference on [-1, 1].
var humanAI = RuleSpec{
	MetricKey: "metric",
	Metrics: []MetricSpec{
		{Name: "accuracy_difference", Lower: -1, Upper: 1},
		{Name: "agreement", Lower: 0, Upper: 1},
		{Name: "over_reliance", Lower: 0, Upper: 1},
		{Name: "correct_override", Lower: 0, Upper: 1},
		{Name: "harmful_override", Lower: 0, Upper: 1},
		{Name: "accuracy_with", Lower: 0, Upper: 1},
		{Name: "accuracy_without", Lower: 0, Upper: 1},
		{Name: "system_accuracy", Lower: 0, Upper: 1},
		{Name: "decision_time", Hint: "decision_time is reported, never a rule"},
	},
	Thresholds: []Kind{Minimum, Maximum},
}

// fairness has what no human-ai rule has: another metric key, and thresholds on groups.
var fairness = RuleSpec{
	MetricKey: "rate",
	Metrics: []MetricSpec{
		{Name: "selection", Lower: 0, Upper: 1},
		{Name: "sign_test", NoThreshold: true},
	},
	Thresholds: []Kind{Minimum, Maximum, MaxGroupGap, WorstGroup, MinGroupRatio},
}

// run is what a gate makes of a policy.
type run struct {
	doc      *Document
	policy   *Policy
	rules    [][]Rule // by section
	findings []Finding
	diags    diag.List
}

// read reads a policy as the human-ai gate does: the common part, then the gate's own keys.
func read(file string, data []byte, spec RuleSpec) *run {
	r := &run{}
	r.doc = Parse(file, data, &r.diags)
	r.policy = Load(r.doc, specs, "human_ai", version)
	if r.policy == nil {
		return r
	}
	any := false
	for i := range r.policy.Sections {
		s := &r.policy.Sections[i]
		s.Map.TextOrTexts("decisions")
		s.Map.Text("assignment")
		s.Map.Choice("design", "crossed", "before_after")
		s.Map.Texts("abstain")
		s.Map.Done(s.Context())
		rules, findings := ReadRules(s, s.Settings, spec)
		for _, rule := range rules {
			rule.Map.Choice("per", "person")
			rule.Map.Choice("generalize", "people_and_cases")
			rule.Map.Done(rule.Name())
		}
		r.rules = append(r.rules, rules)
		r.findings = append(r.findings, findings...)
		any = any || s.HasRules
	}
	if any { // a policy without the key rules only has settings
		CheckRules(r.doc.Pos(), &r.diags, r.rules...)
	}
	return r
}

// problems lists everything found, one per line.
func (r *run) problems() string {
	var b strings.Builder
	items, _ := r.diags.Sorted()
	for _, d := range items {
		b.WriteString(d.String() + "\n")
	}
	return b.String()
}

func files(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testdata, dir, "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	out := map[string][]byte{}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(p)] = data
	}
	return out
}

func TestOK(t *testing.T) {
	for name, data := range files(t, "ok") {
		t.Run(name, func(t *testing.T) {
			r := read(name, data, humanAI)
			if got := r.problems(); got != "" {
				t.Errorf("problems in a good policy:\n%s", got)
			}
			if len(r.findings) != 0 {
				t.Errorf("findings in a good policy: %v", r.findings)
			}
		})
	}
}

// TestErr compares the problems of every file in err with the .out file beside it, which is written by
// `go test ./engine/policy -update` and reviewed like code.
func TestErr(t *testing.T) {
	for name, data := range files(t, "err") {
		t.Run(name, func(t *testing.T) {
			got := read(name, data, humanAI).problems()
			if got == "" {
				t.Error("no problem found in a bad policy")
			}
			out := filepath.Join(testdata, "err", strings.TrimSuffix(name, ".yaml")+".out")
			if *update {
				if err := os.WriteFile(out, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s", diff)
			}
		})
	}
	outs, err := filepath.Glob(filepath.Join(testdata, "err", "*.out"))
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range outs {
		if _, err := os.Stat(strings.TrimSuffix(out, ".out") + ".yaml"); err != nil {
			t.Errorf("%s has no policy: %v", out, err)
		}
	}
}

func text(value string, line, column int) Text {
	return Text{value, diag.Pos{File: "p.yaml", Line: line, Column: column}, true}
}

// TestValues checks a whole section: what is read, what is inherited, and where everything stands.
func TestValues(t *testing.T) {
	r := read("p.yaml", []byte(`# a comment
confidence: 0.90
max_left_out: 0.2
human_ai:
  looks: once
  planned: 40
  mean_method: sympol
  missing_values: [NA, 010]
  columns: {reviewer: who}
  min_shown: 5
  rules:
    - # the first key is on the next line
      id: a
      metric: agreement
      minimum: 0.50
      confidence: 0.99
      advisory: TRUE
      where: {site: no}
      waive: {until: 2027-03-31, owner: ana, reason: pilot}
    - {id: b, metric: accuracy_difference, maximum: -0.0, looks: repeated}
`), humanAI)
	if got := r.problems(); got != "" {
		t.Fatal(got)
	}
	at := func(line, column int) diag.Pos { return diag.Pos{File: "p.yaml", Line: line, Column: column} }
	s := r.policy.Sections[0]
	wantSettings := Settings{
		Judging: Judging{
			Confidence: Number{"0.90", 0.9, at(2, 13), true}, // from the top of the file
			Looks:      text("once", 5, 10),
			Planned:    Int{40, at(6, 12), true},
			MeanMethod: text("sympol", 7, 16),
			MaxLeftOut: Number{"0.2", 0.2, at(3, 15), true},
		},
		MissingValues: []Text{text("NA", 8, 20), text("010", 8, 24)},
		Columns:       []Pair{{text("reviewer", 9, 13), text("who", 9, 23)}},
		MinShown:      Int{5, at(10, 14), true},
	}
	if diff := cmp.Diff(wantSettings, s.Settings); diff != "" {
		t.Errorf("section settings (-want +got):\n%s", diff)
	}
	wantRules := []Rule{
		{
			ID:        text("a", 13, 11),
			Metric:    text("agreement", 14, 15),
			Threshold: &Threshold{Kind: Minimum, Value: Number{"0.50", 0.5, at(15, 16), true}},
			Judging: Judging{
				Confidence: Number{"0.99", 0.99, at(16, 19), true}, // its own
				Looks:      wantSettings.Looks,
				Planned:    wantSettings.Planned,
				MeanMethod: wantSettings.MeanMethod,
				MaxLeftOut: wantSettings.MaxLeftOut,
			},
			Advisory: true,
			Where:    []Pair{{text("site", 18, 15), text("no", 18, 21)}},
			Waive:    &Waiver{text("2027-03-31", 19, 22), text("ana", 19, 41), text("pilot", 19, 54), at(19, 7)},
			Pos:      at(13, 7),
		},
		{
			ID:        text("b", 20, 12),
			Metric:    text("accuracy_difference", 20, 23),
			Threshold: &Threshold{Kind: Maximum, Value: Number{"-0.0", 0, at(20, 53), true}},
			Judging: Judging{ // looks of its own: planned and mean_method are not taken over
				Confidence: wantSettings.Confidence,
				Looks:      text("repeated", 20, 66),
				MaxLeftOut: wantSettings.MaxLeftOut,
			},
			Pos: at(20, 8),
		},
	}
	got := r.rules[0]
	if math.Signbit(got[1].Threshold.Value.Value) {
		t.Error("-0.0 is kept as negative zero, which reports would print")
	}
	for i := range got {
		got[i].Map = nil
	}
	if diff := cmp.Diff(wantRules, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if !got[0].Waive.Covers("2027-03-31") || got[0].Waive.Covers("2027-04-01") || got[1].Waive.Covers("2027-01-01") {
		t.Error("a waiver covers its last day, not the next, and an absent one no day")
	}
}

func TestDefaults(t *testing.T) {
	r := read("p.yaml", []byte("rules: [{id: a, metric: agreement, minimum: 0.5}]"), humanAI)
	// spec 3: confidence 0.95; spec 4: max_left_out 0.10; looks not said
	want := Judging{Confidence: Number{Text: "0.95", Value: 0.95}, MaxLeftOut: Number{Text: "0.10", Value: 0.1}}
	if diff := cmp.Diff(want, r.rules[0][0].Judging); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

func TestDocument(t *testing.T) {
	var diags diag.List
	doc := Parse("p.yaml", []byte("a: 1\n"), &diags)
	// printf 'a: 1\n' | sha256sum
	if want := "37b128c59f1f5097f73f82691cb519f1f568667faab5ced1b4ab979d36837eae"; doc.SHA256 != want {
		t.Errorf("SHA256 = %s, want %s", doc.SHA256, want)
	}
	if doc.Bytes != 5 || doc.Pos().String() != "p.yaml" {
		t.Errorf("Bytes = %d, Pos = %v", doc.Bytes, doc.Pos())
	}
}

// TestThresholdEnds: at the end of a metric's range a rule cannot fail, one step inside it can.
func TestThresholdEnds(t *testing.T) {
	for _, tc := range []struct {
		rule   string
		cannot bool
	}{
		{"rate: selection, minimum: 0", true},
		{"rate: selection, minimum: 1", false},
		{"rate: selection, minimum: 1e-9", false},
		{"rate: selection, maximum: 1", true},
		{"rate: selection, maximum: 1.0", true},
		{"rate: selection, maximum: 0", false},
		{"rate: selection, max_group_gap: 1", true},
		{"rate: selection, max_group_gap: 0.05", false},
		{"rate: selection, worst_group: {minimum: 0}", true},
		{"rate: selection, worst_group: {minimum: 0.8}", false},
		{"rate: selection, worst_group: {maximum: 1}", true},
		{"rate: selection, worst_group: {maximum: 0}", false},
		{"rate: selection, min_group_ratio: 0", true},
		{"rate: selection, min_group_ratio: 0.8", false},
		{"rate: sign_test", false},
	} {
		r := read("p.yaml", []byte("rules: [{id: a, "+tc.rule+"}]"), fairness)
		if got := r.problems(); got != "" {
			t.Errorf("%s: %s", tc.rule, got)
		}
		if (len(r.findings) == 1) != tc.cannot {
			t.Errorf("%s: findings %v", tc.rule, r.findings)
		} else if tc.cannot && r.findings[0].Code != RuleCannotFail {
			t.Errorf("%s: code %s", tc.rule, r.findings[0].Code)
		}
	}
	// A difference runs from -1 to 1, so 0 is inside its range.
	r := read("p.yaml", []byte("rules: [{id: a, metric: accuracy_difference, minimum: -1}, {id: b, metric: accuracy_difference, minimum: 0}]"), humanAI)
	if len(r.findings) != 1 || r.findings[0].Pos.Column != 55 {
		t.Errorf("findings %v", r.findings)
	}
}

// TestGroupThresholds: what can be wrong with the thresholds that human-ai does not have.
func TestGroupThresholds(t *testing.T) {
	for _, tc := range []struct{ rule, want string }{
		{"rate: selection, worst_group: {}", `worst_group has no side; write {minimum: 0.8} or {maximum: 0.2}`},
		{"rate: selection, worst_group: {minimum: 0.2, maximum: 0.8}", `worst_group has minimum and maximum; exactly one is allowed: make it two rules`},
		{"rate: selection, worst_group: {minimum: 80}", `minimum is 80; allowed for selection: 0 to 1; for 80 % write 0.8`},
		{"rate: selection, worst_group: 0.8", `worst_group: found "0.8"; write {minimum: 0.8} where no group's rate may be lower, or {maximum: 0.8} where none may be higher`},
		{"rate: selection, worst_group: high", `worst_group: found "high"; a mapping is wanted, such as {name: value}`},
		{"rate: selection, min_group_ratio: 1.25", `min_group_ratio is 1.25; allowed: 0 to 1; it is the smaller rate divided by the larger one`},
		{"metric: selection, max_group_gap: 0.1", `unknown key "metric" in rule a; did you mean "rate"?`},
		{"rate: selection, worst_group: {minimum: 0.8, max: 1}", `unknown key "max" in worst_group; allowed: minimum, maximum`},
		{"rate: selection, max_group_gap: -0.1", `max_group_gap is -0.1; allowed for selection: 0 to 1`},
		{"rate: selection, min_group_ratio: 80", `min_group_ratio is 80; allowed: 0 to 1; for 80 % write 0.8`},
		{"rate: selection, minimum: 0.1, min_group_ratio: 0.8", `rule a has 2 thresholds (minimum, min_group_ratio); exactly one is allowed: make it two rules`},
		{"rate: sign_test, minimum: 7", `rule a: sign_test has no threshold; leave minimum out`},
		{"rate: selction, max_group_gap: 0.1", `unknown rate "selction" in rule a; did you mean "selection"? Allowed: selection, sign_test`},
	} {
		r := read("p.yaml", []byte("rules: [{id: a, "+tc.rule+"}]"), fairness)
		items, _ := r.diags.Sorted()
		if len(items) != 1 || items[0].Message != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.rule, strings.TrimSpace(r.problems()), tc.want)
		}
	}
}

// groups is a gate whose metrics are all rates of groups.
var groups = RuleSpec{
	MetricKey:  "rate",
	Metrics:    []MetricSpec{{Name: "selection", Upper: 1}, {Name: "fnr", Hint: "fnr is called false_negative here"}},
	Thresholds: []Kind{MaxGroupGap, WorstGroup, MinGroupRatio},
	RatesAlone: true,
}

// TestRatesAlone: rules on rates do not know what plans a mean; it is refused once, and not offered.
func TestRatesAlone(t *testing.T) {
	const why = " plans the number of units of a mean, and rates are exact for one look without; leave it out, or write looks: repeated for many looks"
	for _, tc := range []struct{ rule, want string }{
		{"rate: selection, max_group_gap: 0.1, looks: repeated", ""},
		{"rate: selection, max_group_gap: 0.1, looks: once", "p.yaml:1:61: rule a: looks: once" + why},
		{"rate: selection, max_group_gap: 0.1, planned: 40", "p.yaml:1:54: rule a: planned" + why},
		{"rate: selection, max_group_gap: 0.1, mean_method: sympol", "p.yaml:1:54: rule a: mean_method" + why},
		{"rate: selection, max_group_gap: 0.1, looks: twice", `p.yaml:1:61: looks is "twice"; allowed: repeated`},
		{"rate: selection, minimum: 0.75", "p.yaml:1:34: unknown key \"minimum\" in rule a; did you mean worst_group: {minimum: 0.75}?"},
		{"rate: selection, maximum: high", "p.yaml:1:34: unknown key \"maximum\" in rule a; did you mean worst_group: {maximum: …}?"},
		{"rate: selection, max_group_gap: 0.1, minimum: 0.75", `p.yaml:1:54: unknown key "minimum" in rule a; allowed: id, rate, max_group_gap, worst_group, min_group_ratio, confidence, looks, max_left_out, where, advisory, waive, reviewed, per, generalize`},
		{"rate: FNR, max_group_gap: 0.1", "p.yaml:1:23: fnr is called false_negative here"},
		{`rate: selection, max_group_gap: 0.1, where: {" t": a, t : b}`, `p.yaml:1:71: rule a: where names the column "t" twice; it was first named on line 1`},
		{`rate: selection, max_group_gap: 0.1, where: {" ": a}`, "p.yaml:1:62: rule a: where has a column without a name; write the name of a column"},
	} {
		r := read("p.yaml", []byte("rules: [{id: a, "+tc.rule+"}]"), groups)
		if got := strings.TrimSpace(r.problems()); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.rule, got, tc.want)
		}
	}
	// A section's are passed over; what they lack among themselves is not.
	r := read("p.yaml", []byte("looks: once\nplanned: 40\nmean_method: sympol\nrules: [{id: a, rate: selection, max_group_gap: 0.1, where: {\" t\": a}}]"), groups)
	if r.diags.Len() != 0 || r.rules[0][0].Looks.Set || r.rules[0][0].Planned.Set || r.rules[0][0].MeanMethod.Set || r.rules[0][0].Where[0].Key.Value != "t" {
		t.Errorf("%s, rules %+v", r.problems(), r.rules)
	}
	r = read("p.yaml", []byte("looks: once\nrules: [{id: a, rate: selection, max_group_gap: 0.1}]"), groups)
	if want := "p.yaml:1:8: looks: once needs planned: the number of units (people, cases) fixed beforehand, 2 or more\n"; r.problems() != want {
		t.Errorf("got %swant %s", r.problems(), want)
	}
}

// TestCannotFailTexts: the finding names the threshold as it is written, and what it is held against.
func TestCannotFailTexts(t *testing.T) {
	for rule, want := range map[string]string{
		"max_group_gap: 1":          "rule a cannot fail: max_group_gap is 1, and the distance of two groups' rates lies between 0 and 1",
		"min_group_ratio: 0":        "rule a cannot fail: min_group_ratio is 0, and the ratio of two groups' rates lies between 0 and 1",
		"worst_group: {minimum: 0}": "rule a cannot fail: the minimum of worst_group is 0, and selection lies between 0 and 1",
		"worst_group: {maximum: 1}": "rule a cannot fail: the maximum of worst_group is 1, and selection lies between 0 and 1",
	} {
		r := read("p.yaml", []byte("rules: [{id: a, rate: selection, "+rule+"}]"), groups)
		if len(r.findings) != 1 || r.findings[0].Message != want {
			t.Errorf("%s: %v, want %s", rule, r.findings, want)
		}
	}
}

// TestNoGateNamed: a file of bare rules, or of none, says nothing about which gate decides.
func TestNoGateNamed(t *testing.T) {
	for _, tc := range []struct{ data, want string }{
		{"rules: [{id: a}]", "p.yaml: no section says which gate decides: put everything but confidence under human_ai, or run the gate's own command, such as `oloproof human-ai gate FILE --policy p.yaml`\n"},
		{"human-ai: {}", "p.yaml: no section says which gate decides: put everything but confidence under human_ai, or run the gate's own command, such as `oloproof human-ai gate FILE --policy p.yaml`\n" +
			`p.yaml:1:1: unknown key "human-ai" in the policy; did you mean "human_ai"? Allowed: confidence, looks, planned, mean_method, max_left_out, adjust, missing_values, columns, min_shown, requires, human_ai, rules` + "\n"},
		{"human_ai: {}", ""},
	} {
		r := &run{}
		p := Load(Parse("p.yaml", []byte(tc.data), &r.diags), specs, "", version)
		if got := r.problems(); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.data, got, tc.want)
		}
		if tc.want == "" && len(p.Sections) != 1 {
			t.Errorf("%s: %d sections", tc.data, len(p.Sections))
		}
	}
	if Load(nil, specs, "", version) != nil {
		t.Error("a policy out of no document")
	}
}

// TestSections: sections come in the order of the specs, whatever that of the file, with the top's settings.
func TestSections(t *testing.T) {
	var diags diag.List
	specs := []SectionSpec{{Key: "human_ai"}, {Key: "anchoring"}, {Key: "fairness"}}
	p := Load(Parse("p.yaml", []byte("fairness: [{name: b}, {name: a, confidence: 0.8}]\nconfidence: 0.9\nhuman_ai: {}\n"), &diags), specs, "human_ai", version)
	var got []string
	for _, s := range p.Sections {
		got = append(got, s.Context()+" at "+s.Pos.String()+", confidence "+s.Settings.Confidence.Text)
	}
	want := []string{
		"section human_ai at p.yaml:3:1, confidence 0.9",
		`section fairness "b" at p.yaml:1:13, confidence 0.9`,
		`section fairness "a" at p.yaml:1:24, confidence 0.8`,
	}
	if diff := cmp.Diff(want, got); diff != "" || diags.Len() != 0 {
		t.Errorf("sections (-want +got):\n%s%v", diff, diags.Err())
	}
}

// TestCheckRules: a run without a rule is never a pass, and says so alone only where nothing else explains it.
func TestCheckRules(t *testing.T) {
	pos := diag.Pos{File: "p.yaml"}
	rule := func(id string, line int, advisory bool) Rule {
		return Rule{ID: Text{id, diag.Pos{File: "p.yaml", Line: line, Column: 1}, true}, Advisory: advisory}
	}
	for name, tc := range map[string]struct {
		lists [][]Rule
		want  string
	}{
		"none":         {nil, "p.yaml: no rule, so there is nothing to decide; add rules, or use report"},
		"empty lists":  {[][]Rule{{}, nil}, "p.yaml: no rule, so there is nothing to decide; add rules, or use report"},
		"all advisory": {[][]Rule{{rule("a", 1, true)}, {rule("b", 2, true)}}, "p.yaml: every rule is advisory, so none counts in the verdict; make one count, or use report"},
		"one counts":   {[][]Rule{{rule("a", 1, true)}, {rule("b", 2, false)}}, ""},
		"same id":      {[][]Rule{{rule("a", 1, false)}, {rule("a", 2, true)}}, `p.yaml:2:1: the rule id "a" is taken by the rule at p.yaml:1:1; ids are unique in a run`},
		"no ids":       {[][]Rule{{{}, {}}}, ""}, // reported where they were read
	} {
		var diags diag.List
		CheckRules(pos, &diags, tc.lists...)
		got := ""
		if err := diags.Err(); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
	var diags diag.List
	diags.Addf(pos, "unknown key")
	CheckRules(pos, &diags)
	if diags.Len() != 1 {
		t.Errorf("beside another problem: %v", diags.Err())
	}
}

// TestMerge: two sources may say the same, or one what the other does not, never two things.
func TestMerge(t *testing.T) {
	load := func(file, data string) Settings {
		r := read(file, []byte(data), humanAI)
		return r.policy.Sections[0].Settings
	}
	for _, tc := range []struct{ own, other, want string }{
		{"confidence: 0.9", "confidence: 0.90", ""},
		{"confidence: 0.9", "looks: repeated", ""},
		{"confidence: 0.9", "confidence: 0.95", "own.yaml:1:13: confidence is 0.9 here and 0.95 in other.yaml:1:13; say it once, or the same in both\n"},
		{"max_left_out: 0.1", "max_left_out: 0.2", "own.yaml:1:15: max_left_out is 0.1 here and 0.2 in other.yaml:1:15; say it once, or the same in both\n"},
		{"looks: repeated", "looks: once\nplanned: 3", `own.yaml:1:8: looks is "repeated" here and "once" in other.yaml:1:8; say it once, or the same in both` + "\n"},
		{"looks: once\nplanned: 4", "looks: once\nplanned: 3", "own.yaml:2:10: planned is 4 here and 3 in other.yaml:2:10; say it once, or the same in both\n"},
		{"min_shown: 4", "min_shown: 3", "own.yaml:1:12: min_shown is 4 here and 3 in other.yaml:1:12; say it once, or the same in both\n"},
		{"missing_values: [NA, x]", "missing_values: [x, NA, x]", ""},
		{"missing_values: [NA]", "missing_values: [x, NA]", `own.yaml:1:18: missing_values is "NA" here and "NA, x" in other.yaml:1:18; say it once, or the same in both` + "\n"},
		{"columns: {a: b, c: d}", "columns: {c: d, a: b}", ""},
		{"columns: {a: b}", "columns: {a: c}", `own.yaml:1:11: columns is "a: b" here and "a: c" in other.yaml:1:11; say it once, or the same in both` + "\n"},
	} {
		r := &run{}
		own, other := load("own.yaml", tc.own), load("other.yaml", tc.other)
		merged := Merge(own, other, &r.diags)
		if got := r.problems(); got != tc.want {
			t.Errorf("%s | %s:\n got %swant %s", tc.own, tc.other, got, tc.want)
		}
		if diff := cmp.Diff(own.Within(other), merged); diff != "" {
			t.Errorf("%s | %s: (-want +got)\n%s", tc.own, tc.other, diff)
		}
	}
	// A flag has a position too.
	r := &run{}
	flag := Settings{Judging: Judging{Confidence: Number{"0.9", 0.9, diag.Pos{File: "--confidence"}, true}}}
	Merge(load("own.yaml", "confidence: 0.95"), flag, &r.diags)
	if want := "own.yaml:1:13: confidence is 0.95 here and 0.9 in --confidence; say it once, or the same in both\n"; r.problems() != want {
		t.Errorf("got %swant %s", r.problems(), want)
	}
	// planned from one side and other looks from the other is no agreement: the rule's check must still see it.
	merged := Merge(load("own.yaml", "looks: repeated"), Settings{Judging: Judging{Planned: Int{3, diag.Pos{File: "--planned"}, true}}}, &r.diags)
	if !merged.Planned.Set {
		t.Error("Merge dropped planned in silence")
	}
}

func TestRequires(t *testing.T) {
	for _, tc := range []struct {
		requires, version string
		want              bool
	}{
		{">=0.4", "0.4.0", true},
		{">=0.4", "v0.4", true},
		{">= v0.4.1", "0.4.1", true},
		{">=0.4", "0.10.0", true}, // numbers, not text
		{">=0.10", "0.9.9", false},
		{">=0.4.2", "0.4.1", false},
		{">=1", "0.99.99", false},
		{">=0.4", "0.4.0-rc1", false}, // a candidate comes before its release
		{">=0.4", "0.4.1-rc1", true},
		{">=0.4", "0.4.0+build", true},
		{">=0.4", "devel", true},
		{">=0.4", "", true},
		{">0.4", "0.5.0", false},
		{"0.4", "0.5.0", false},
		{">=0.4.x", "0.5.0", false},
		{">=0.4.1.2", "0.5.0", false},
		{">=99999999999999999999", "0.5.0", false},
	} {
		var diags diag.List
		Load(Parse("p.yaml", []byte("requires: '"+tc.requires+"'"), &diags), specs, "human_ai", tc.version)
		if got := diags.Len() == 0; got != tc.want {
			t.Errorf("requires %q of version %q: met %t, want %t (%v)", tc.requires, tc.version, got, tc.want, diags.Err())
		}
	}
}

func TestValidDay(t *testing.T) {
	for s, want := range map[string]bool{
		"2027-03-31": true, "2028-02-29": true, "2027-02-29": false, "2027-3-31": false, "2027-03-31T00:00:00Z": false,
		"": false, "31-03-2027": false, "2027-00-10": false, "２０２７-03-31": false,
	} {
		if ValidDay(s) != want {
			t.Errorf("ValidDay(%q) = %t", s, !want)
		}
	}
}

// TestRuleName: a name in a message cannot break out of its line.
func TestRuleName(t *testing.T) {
	for id, want := range map[string]string{
		"people-decide-better": "rule people-decide-better",
		"":                     "rule",
		"a b":                  `rule "a b"`,
		"a\n::error::":         `rule "a\n::error::"`,
		`say "hi"`:             `rule "say \"hi\""`,
	} {
		r := Rule{ID: Text{Value: id, Set: id != ""}}
		if got := r.Name(); got != want {
			t.Errorf("Name of %q = %s, want %s", id, got, want)
		}
	}
}

// TestAliases: a metric under another name is the metric, and a slip is told every name.
func TestAliases(t *testing.T) {
	spec := RuleSpec{MetricKey: "rate", Metrics: []MetricSpec{{Name: "true_positive", Aliases: []string{"recall", "sensitivity"}, Upper: 1}, {Name: "error", Upper: 1}},
		Thresholds: []Kind{MaxGroupGap}}
	r := read("p.yaml", []byte("rules: [{id: a, rate: sensitivity, max_group_gap: 0.1}]"), spec)
	if got := r.rules[0][0].Metric; got != text("true_positive", 1, 23) || r.diags.Len() != 0 {
		t.Errorf("rate is read as %+v, with problems %s", got, r.problems())
	}
	r = read("p.yaml", []byte("rules: [{id: a, rate: recal, max_group_gap: 0.1}]"), spec)
	if want := "p.yaml:1:23: unknown rate \"recal\" in rule a; did you mean \"recall\"? Allowed: true_positive, recall, sensitivity, error\n"; r.problems() != want {
		t.Errorf("got %swant %s", r.problems(), want)
	}
}
