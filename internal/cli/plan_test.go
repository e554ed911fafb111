package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/oloproof/oloproof/engine/audit"
	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
)

// planOf runs a plan with --json, holds it to the published schema, and returns it.
func planOf(t *testing.T, args ...string) planDocument {
	t.Helper()
	status, stdout, stderr := runMain(append(append([]string{"plan"}, args...), "--json")...)
	if status != 0 || stderr != "" {
		t.Fatalf("%v: ends with %d\n%s%s", args, status, stdout, stderr)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(audit.PlanSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("plan.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("plan.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(schema, []byte(stdout)); err != nil {
		t.Fatalf("%v:\n%#v\n%s", args, err, stdout)
	}
	var out planDocument
	if err := json.Unmarshal([]byte(stdout), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPlanAgainstFiles holds what plan says to how often the gate passes files that are written here, by other draws: within three and a
// half standard deviations of the two together. The seeds are fixed.
func TestPlanAgainstFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation: left out with -short")
	}
	const files, runs = 100, 250
	chance := func(r *rand.Rand, p float64) string {
		if r.Float64() < p {
			return "1"
		}
		return "0"
	}
	for _, c := range []struct {
		name, policy string
		shape        audit.Shape
		size         int
		truth        float64
		gate         string
		write        func(r *rand.Rand, b *strings.Builder)
	}{
		{"sign test", "baseline: old\ncandidate: new\nrules: [{id: r, metric: sign_test}]", audit.CompareShape{PassRate: 0.53, Trials: []int{5}}, 16, 0.2, "compare",
			func(r *rand.Rand, b *strings.Builder) {
				b.WriteString("version,case,passed\n")
				for i := range 16 {
					p := 0.53 * math.Max(r.Float64(), r.Float64()) * 1.5
					for range 5 {
						fmt.Fprintf(b, "old,c%d,%s\nnew,c%d,%s\n", i, chance(r, p), i, chance(r, p+0.2))
					}
				}
			}},
		{"fixed list", "baseline: old\ncandidate: new\ncase_list: fixed\nrules: [{id: r, metric: pass_rate_difference, minimum: 0}]", audit.CompareShape{PassRate: 0.53, Trials: []int{4}}, 20, 0.2, "compare",
			func(r *rand.Rand, b *strings.Builder) {
				b.WriteString("version,case,passed\n")
				for i := range 20 {
					p := 0.53 * 1.5 * math.Sqrt((float64(i)+0.5)/20)
					for range 4 {
						fmt.Fprintf(b, "old,c%d,%s\nnew,c%d,%s\n", i, chance(r, p), i, chance(r, p+0.2))
					}
				}
			}},
		{"people", "rules: [{id: r, metric: accuracy_difference, minimum: 0}]", audit.HumanAIShape{Cases: 12, Spread: 0.1, Baseline: 0.6, SystemAccuracy: 0.8}, 32, 0.25, "human-ai",
			func(r *rand.Rand, b *strings.Builder) {
				b.WriteString("case,reviewer,condition,decision,reference,ai_output\n")
				for p := range 32 {
					with := 0.85 + 0.1*float64(1-2*r.IntN(2))
					for i := range 12 {
						if (i+p)%2 == 0 {
							fmt.Fprintf(b, "c%d,p%d,without,%s,1,\n", i, p, chance(r, 0.6))
						} else {
							fmt.Fprintf(b, "c%d,p%d,with,%s,1,1\n", i, p, chance(r, with))
						}
					}
				}
			}},
		{"rate per person", "rules: [{id: r, metric: agreement, per: person, minimum: 0.5}]", audit.HumanAIShape{Cases: 12, Spread: 0.1, Baseline: 0.6, SystemAccuracy: 0.8}, 25, 0.75, "human-ai",
			func(r *rand.Rand, b *strings.Builder) {
				b.WriteString("case,reviewer,condition,decision,reference,ai_output\n")
				for p := range 25 {
					own := 0.75 + 0.1*float64(1-2*r.IntN(2))
					for i := range 12 {
						condition, output := "with", "1"
						if (i+p)%2 == 0 {
							condition, output = "without", ""
						}
						fmt.Fprintf(b, "c%d,p%d,%s,%s,1,%s\n", i, p, condition, chance(r, own), output)
					}
				}
			}},
		{"anchoring gap", "rules: [{id: r, metric: anchoring_gap, maximum: 0.25}]", audit.AnchoringShape{Annotators: 1, Blind: 20, Visible: 4, BlindAgreement: 0.8}, 50, 0, "anchoring",
			func(r *rand.Rand, b *strings.Builder) {
				b.WriteString("item,annotator,suggestion,label,visibility\n")
				for i := range 250 {
					fmt.Fprintf(b, "i%d,ana,1,%s,%s\n", i, chance(r, 0.8), map[bool]string{true: "blind", false: "visible"}[i < 50])
				}
			}},
		{"annotators", "rules: [{id: r, metric: blind_agreement, minimum: 0.75}]", audit.AnchoringShape{Annotators: 30, Blind: 10, Visible: 4, Spread: 0.05}, 30, 0.9, "anchoring",
			func(r *rand.Rand, b *strings.Builder) {
				b.WriteString("item,annotator,suggestion,label,visibility\n")
				for p := range 30 {
					own := 0.9 + 0.05*float64(1-2*r.IntN(2))
					for i := range 10 {
						fmt.Fprintf(b, "i%d-%d,p%d,1,%s,blind\n", p, i, p, chance(r, own))
					}
				}
			}},
		{"a gap of groups, exactly", "cases: d.csv\nattributes: {g: [a, b]}\nrules: [{id: r, rate: selection, attribute: g, max_group_gap: 0.4}]", audit.FairnessShape{Rate: 0.5}, 80, 0.1, "fairness",
			func(r *rand.Rand, b *strings.Builder) {
				b.WriteString("id,label,prediction,g\n")
				for i := range 80 {
					fmt.Fprintf(b, "x%d,1,%s,a\ny%d,0,%s,b\n", i, chance(r, 0.6), i, chance(r, 0.5))
				}
			}},
		{"a corpus, exactly", "corpus_size: 120\nrules: [{id: r, metric: blind_agreement, minimum: 0.8}]", audit.AnchoringShape{Annotators: 1, Blind: 20, Visible: 4}, 50, 0.9, "anchoring",
			func(r *rand.Rand, b *strings.Builder) {
				b.WriteString("item,annotator,suggestion,label,visibility\n")
				for i, item := range r.Perm(120)[:50] { // items 0 to 107, 90 %, agree
					fmt.Fprintf(b, "i%d,ana,1,%s,blind\n", i, strconv.Itoa(map[bool]int{true: 1}[item < 108]))
				}
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			writeFile(t, "policy.yaml", c.policy)
			diags := &diag.List{}
			subject := audit.Subjects(kinds.Lookup(c.gate), "policy.yaml", []byte(c.policy), "devel", gate.Flags{}, diags)[0]
			ways, err := c.shape.Tracks(subject, 0, audit.Drawing{Seed: "files"})
			if diags.Len() > 0 || err != nil {
				t.Fatal(diags.Err(), err)
			}
			odds, err := ways[0].Track.Odds(context.Background(), c.size, []float64{c.truth}, runs)
			if err != nil {
				t.Fatal(err)
			}
			got := odds[0].Pass
			args := []string{c.gate, "gate", "d.csv", "--policy", "policy.yaml", "--quiet", "--json"}
			if c.gate == "fairness" {
				args = []string{c.gate, "gate", "policy.yaml", "--quiet", "--json"}
			}
			r := rand.New(rand.NewPCG(7, 11))
			passed := 0
			for range files {
				var b strings.Builder
				c.write(r, &b)
				writeFile(t, "d.csv", b.String())
				status, _, stderr := runMain(args...)
				if status == 2 {
					t.Fatal(stderr)
				}
				if status == 0 {
					passed++
				}
			}
			share := float64(passed) / files
			middle := (share + got) / 2
			allowed := middle * (1 - middle) / files
			if odds[0].Runs > 0 {
				allowed += middle * (1 - middle) / runs
			}
			if math.Abs(share-got) > 3.5*math.Sqrt(allowed)+0.01 || passed == 0 || passed == files {
				t.Errorf("%d of %d files pass, the plan says %+v", passed, files, odds[0])
			}
		})
	}
}

// TestPlanIsRepeatable: the same request prints the same bytes, and the seed counts.
func TestPlanIsRepeatable(t *testing.T) {
	args := []string{"plan", "compare", "--metric", "sign_test", "--truth", "0.3", "--trials", "3", "--chance", "0.5", "--runs", "40"}
	_, one, _ := runMain(args...)
	_, two, _ := runMain(args...)
	if diff := cmp.Diff(one, two); diff != "" || one == "" {
		t.Error(diff)
	}
	if _, three, _ := runMain(append(args, "--seed", "other")...); three == one {
		t.Error("another seed prints the same")
	}
	for line := range strings.Lines(one) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// TestPlanMistakes: each ends with 2, says what is allowed and prints no plan.
func TestPlanMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "two.yaml", "rules:\n  - {id: first, metric: accuracy_difference, minimum: 0}\n  - {id: second, metric: agreement, minimum: 0.5}\n")
	writeFile(t, "bad.yaml", "rules: [{id: first, metric: agreemen, minimum: 0.5}]\n")
	writeFile(t, "release.yaml", "compare: {trials: t.csv, rules: [{id: c, metric: sign_test}]}\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"human"}, `unknown command "human" for "oloproof plan"`},
		{[]string{"human-ai"}, "neither --policy nor --metric is given"},
		{[]string{"human-ai", "--metric", "accuracy_difference", "--minimum", "0"}, "--truth is missing"},
		{[]string{"human-ai", "--metric", "accuracy_differenc", "--minimum", "0", "--truth", "0.1"}, "oloproof: unknown metric \"accuracy_differenc\"; did you mean"},
		{[]string{"human-ai", "--metric", "x}\nlooks: once #", "--minimum", "0", "--truth", "0.1"}, `oloproof: unknown metric "x}\nlooks: once #"; allowed: `},
		{[]string{"human-ai", "--metric", "agreement", "--truth", "0.1"}, "oloproof: the rule has no threshold; give one of minimum, maximum"},
		{[]string{"human-ai", "--metric", "agreement", "--minimum", "2", "--truth", "0.1"}, "minimum is 2"},
		{[]string{"human-ai", "--metric", "agreement", "--minimum", "0.5", "--truth", "1.1"}, "lies between 0 and 1"},
		{[]string{"human-ai", "--metric", "agreement", "--minimum", "0.5", "--truth", "0.5"}, "the threshold itself"},
		{[]string{"human-ai", "--metric", "agreement", "--minimum", "0.5", "--truth", "high"}, `--truth has "high"; numbers are wanted`},
		{[]string{"human-ai", "--metric", "agreement", "--minimum", "0.5", "--truth", "NaN"}, `--truth has "NaN"`},
		{[]string{"human-ai", "--metric", "agreement", "--minimum", "0.5", "--truth", "0.7", "--chance", "1.5"}, "--chance is 1.5; a number from 0.01 to 0.999 is allowed"},
		{[]string{"human-ai", "--metric", "agreement", "--minimum", "0.5", "--truth", "0.7", "--chance", "NaN"}, "--chance is NaN"},
		{[]string{"human-ai", "--metric", "agreement", "--minimum", "0.5", "--truth", "0.7", "--runs", "1"}, "--runs is 1; from 20"},
		{[]string{"compare", "--metric", "sign_test", "--truth", "0.1", "--chance", "0.99", "--runs", "300"}, "--runs is 300; whether a chance is at least 0.99 can be told from 368 studies on"},
		{[]string{"human-ai", "--metric", "agreement", "--minimum", "0.5", "--truth", "0.7", "--sizes", "0"}, "--sizes: 0 decisions; here from 1 to"},
		{[]string{"human-ai", "--metric", "agreement", "--minimum", "0.5", "--truth", "0.7", "--peple", "9"}, "unknown flag: --peple"},
		{[]string{"human-ai", "--metric", "agreement", "--minimum", "0.5", "--truth", "0.7", "--design", "cross"}, "--design is"},
		{[]string{"human-ai", "--metric", "agreement", "--minimum", "0.5", "--truth", "0.7", "--missing", "1.5"}, "--missing is 1.5"},
		{[]string{"human-ai", "--policy", "two.yaml", "--metric", "agreement", "--truth", "0.1"}, "--metric is for a rule without a policy"},
		{[]string{"human-ai", "--policy", "two.yaml", "--truth", "0.1"}, "does not say of which of 2 rules; write RULE=0.1"},
		{[]string{"human-ai", "--policy", "two.yaml", "--truth", "frist=0.1"}, `--truth is about "frist", which is not among the rules that are planned; did you mean "first"?`},
		{[]string{"human-ai", "--policy", "two.yaml", "--rule", "third", "--truth", "0.1"}, `--rule is "third", and the policy has no such rule`},
		{[]string{"human-ai", "--policy", "bad.yaml", "--truth", "0.1"}, "bad.yaml:1:"},
		{[]string{"human-ai", "--policy", "absent.yaml", "--truth", "0.1"}, "absent.yaml: cannot read the policy"},
		{[]string{"human-ai", "--policy", "release.yaml", "--truth", "0.1"}, "the policy has no section human_ai"},
		{[]string{"fairness", "--truth", "0.1"}, "plan fairness needs a declaration"},
		{[]string{"compare", "--metric", "sign_test", "--minimum", "0", "--truth", "0.1"}, "sign_test has no threshold"},
		{[]string{"compare", "--metric", "sign_test", "--truth", "0.1", "--trials", "0"}, "--trials has 0"},
		{[]string{"anchoring", "--metric", "blind_agreement", "--minimum", "0.5", "--truth", "0.6", "--annotators", "0"}, "--annotators is 0"},
		{[]string{"human-ai", "--metric", "agreement", "--minimum", "0.5", "--truth", "0.7", "--missing", "1"}, "--missing is 1; a number from 0 to below 1 is allowed"},
		{[]string{"human-ai", "--metric", "accuracy_difference", "--minimum", "0", "--truth", "0.5"}, "with --baseline-accuracy 0.6 and gains that lie 0.1 around it (--spread)"},
		{[]string{"fairness", "a.yaml", "b.yaml", "--truth", "0"}, "2 declarations are given; plan fairness takes one"},
		// All that is wrong is said, before the rules that are right are planned.
		{[]string{"human-ai", "--policy", "two.yaml", "--truth", "first=0,0.1", "--truth", "second=0.5", "--sizes", "0"},
			"oloproof: rule first: --truth 0 is the threshold itself, where no size decides: state a truth on one side of it, such as 0.5\n" +
				"oloproof: rule first: --sizes: 0 people; here from 2 to 2048 can be planned, since larger studies are not simulated\n" +
				"oloproof: rule second: --truth 0.5 is the threshold itself"},
	} {
		status, stdout, stderr := runMain(append([]string{"plan"}, c.args...)...)
		if status != 2 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: ends with %d, want %s\n%s%s", c.args, status, c.want, stdout, stderr)
		}
	}
	if status, stdout, _ := runMain("plan", "human-ai", "--policy", "bad.yaml", "--truth", "0.1", "--json"); status != 2 || validate(reportSchema(t), []byte(stdout)) != nil {
		t.Errorf("--json: ends with %d\n%s", status, stdout)
	}
}

// TestPlanHostileNames: ids and paths of a policy move no cursor, start no line and are no command.
func TestPlanHostileNames(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "policy.yaml", `rules: [{id: "::error::a\u001b[31m\nb=c", metric: blind_agreement, minimum: 0.95}]`)
	status, stdout, stderr := runMain("plan", "anchoring", "--policy", "policy.yaml", "--truth", "0.99")
	if status != 0 || stderr != "" || strings.ContainsAny(stdout, "\x1b\r") || !strings.Contains(stdout, "Recommendation: 142 blind items") {
		t.Errorf("ends with %d\n%q%s", status, stdout, stderr)
	}
	for line := range strings.Lines(stdout) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.HasPrefix(line, "b=c") {
			t.Errorf("a line of the id's own: %q", line)
		}
	}
	p := planOf(t, "anchoring", "--policy", "policy.yaml", "--truth", "::error::a\x1b[31m\nb=c=0.99")
	if p.Rules[0].ID != "::error::a\x1b[31m\nb=c" || len(p.Never) != 1 {
		t.Errorf("%+v", p)
	}
}

// TestPlanTheExamples: the policies of the examples can be planned.
func TestPlanTheExamples(t *testing.T) {
	for example, args := range map[string][]string{
		"human-ai":  {"--policy", "study/policy.yaml", "--truth", "people-decide-better=0.3", "--runs", "20", "--chance", "0.5"},
		"compare":   {"--policy", "study/policy.yaml", "--truth", "new-is-better=0.3", "--truth", "can-be-relied-on=0.8", "--runs", "20"},
		"fairness":  {"study/fairness.yaml", "--truth", "every-age-served=0.9"},
		"anchoring": {"--policy", "study/policy.yaml", "--truth", "right-often-enough=0.95", "--truth", "may-label-the-rest=0.99"},
	} {
		t.Run(example, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if status, _, told := runMain("init", "--example", example, "study"); status != 0 {
				t.Fatal(told)
			}
			p := planOf(t, append([]string{example}, args...)...)
			for _, r := range p.Rules {
				if r.Ways[0].Recommended[0].Size == 0 || len(r.Ways[0].Sizes) < 3 {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}

// TestPlanSaysWhatCounts: where only a share of all decisions or cases counts, it says how many those are in all; what nobody declared is
// not spoken of; and every recommended size has its row.
func TestPlanSaysWhatCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and nothing in it runs side by side")
	}
	t.Chdir(t.TempDir())
	writeFile(t, "f.yaml", "cases: c.csv\nattributes: {g: [a, b]}\nrules: [{id: r, rate: false_negative, attribute: g, worst_group: {maximum: 0.3}}]\n")
	for _, c := range []struct {
		args      []string
		want, not []string
	}{
		{[]string{"human-ai", "--metric", "over_reliance", "--maximum", "0.5", "--truth", "0.1,0.9"},
			// 20 % of the decisions, where the system is right 80 % of the time: five times as many. The truths lie alike on both sides.
			[]string{"DECISIONS WHERE THE SYSTEM IS WRONG   0.1 PASS   0.9 FAIL", "12 decisions where the system is wrong (of about 60 in all) give", "over_reliance, maximum 0.5\n"},
			[]string{"plan:", "rule plan"}},
		{[]string{"fairness", "f.yaml", "--truth", "0.1", "--positive", "0.25"}, []string{"in each group (of about ", " in the group) give", "25 % of a group are so (--positive)"}, nil},
		{[]string{"fairness", "f.yaml", "--truth", "0.1"}, []string{"how many a group has then in all depends on how many are so (--positive)"}, []string{"(of about"}},
		{[]string{"anchoring", "--metric", "blind_agreement", "--minimum", "0.9", "--truth", "0.97", "--looks", "once"}, nil, []string{"(declared)", "planned:", "minimum_blind_sample", "Known without data"}},
		{[]string{"anchoring", "--metric", "blind_agreement", "--minimum", "0.9", "--truth", "0.97", "--minimum-blind-sample", "25"}, []string{"the rule can never pass with 25 blind", "minimum_blind_sample"}, nil},
		{[]string{"anchoring", "--metric", "acceptance_rate", "--minimum", "0.5", "--truth", "0.9"}, []string{"Each label is of another item."}, []string{"blind items"}},
		{[]string{"anchoring", "--metric", "blind_agreement", "--minimum", "0.9", "--truth", "0.91", "--corpus-size", "40"},
			[]string{"no number up to 39 blind items", "More are not looked at, since the rule speaks of", "\n             39 "}, nil},
	} {
		status, stdout, stderr := runMain(append([]string{"plan"}, c.args...)...)
		if status != 0 {
			t.Fatalf("%q: %s", c.args, stderr)
		}
		text := strings.Join(strings.Fields(stdout), " ")
		for _, want := range c.want {
			if !strings.Contains(stdout, want) && !strings.Contains(text, want) {
				t.Errorf("%q does not say %q:\n%s", c.args, want, stdout)
			}
		}
		for _, not := range c.not {
			if strings.Contains(text, not) {
				t.Errorf("%q says %q:\n%s", c.args, not, stdout)
			}
		}
	}
	_, stdout, _ := runMain("plan", "anchoring", "--metric", "blind_agreement", "--minimum", "0.8", "--truth", "0.99,0.83", "--json")
	var d struct {
		Rules []struct {
			Ways []struct {
				Sizes       []struct{ Size int }
				Recommended []struct{ Size int }
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	way := d.Rules[0].Ways[0]
	for _, s := range way.Recommended {
		if s.Size == 0 || !slices.ContainsFunc(way.Sizes, func(x struct{ Size int }) bool { return x.Size == s.Size }) {
			t.Errorf("the size %d has no row: %v", s.Size, way.Sizes)
		}
	}
	if len(way.Sizes) > 10 {
		t.Errorf("%d rows", len(way.Sizes))
	}
}

// TestShowingInALog: where there is no terminal, what is being done is said line by line where that is asked for, else not.
func TestShowingInALog(t *testing.T) {
	a := inMemory()
	var stderr bytes.Buffer
	a.Stderr = &stderr
	asked := make(chan struct{}, 1)
	what := func(columns int) string {
		if columns != 0 {
			t.Errorf("a log has %d columns", columns)
		}
		select {
		case asked <- struct{}{}:
		default:
		}
		return "oloproof: planning"
	}
	stop := a.showing(pace{time.Millisecond, time.Millisecond}, what)
	<-asked
	stop()
	if !strings.HasPrefix(stderr.String(), "oloproof: planning\n") || strings.Contains(stderr.String(), "\x1b") {
		t.Errorf("%q", &stderr)
	}
	stderr.Reset()
	a.showing(pace{}, what)()
	if stderr.Len() > 0 {
		t.Errorf("%q", &stderr)
	}
}

// TestChanceText: what was seen in none of the studies, or in all, is a bound on one side.
func TestChanceText(t *testing.T) {
	for _, c := range []struct {
		p, plusMinus float64
		exact        bool
		want         string
	}{
		{0, 0.0356, false, "<8 %"}, // 0 of 50: up to 7.1 %
		{1, 0.0356, false, ">92 %"},
		{0.5, 0.1, false, "50 % ±10"},
		{0.158, 0, false, "16 %"},
		{0.158, 0, true, "15.8 %"},
		{0, 0, true, "0 %"},
		{0.0001, 0, true, "<0.1 %"},
		{0.9999, 0, true, ">99.9 %"},
	} {
		if got := chanceText(c.p, c.plusMinus, c.exact); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
