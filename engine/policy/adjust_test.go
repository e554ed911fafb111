package policy

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
)

func judged(confidence string) Judging {
	x, _ := new(big.Rat).SetString(confidence)
	value, _ := x.Float64()
	return Judging{Confidence: Number{Text: confidence, Value: value, Set: true}}
}

// TestDivided: the parts of an error, by hand: 0.05/2 = 0.025; 0.05/3 = 0.01666… and 0.01/7 = 0.001428571428… are cut after
// ten digits.
func TestDivided(t *testing.T) {
	for _, c := range []struct {
		confidence string
		parts      int
		text       string
		value      float64
	}{
		{"0.95", 1, "0.95", 0.95},
		{"0.950", 0, "0.950", 0.95},
		{"0.95", 2, "0.975", 0.975},
		{"0.95", 3, "0.98333333334", 0.98333333334},
		{"0.95", 5, "0.99", 0.99},
		{"0.99", 7, "0.998571428572", 0.998571428572},
		{"5e-1", 4, "0.875", 0.875},
	} {
		got := judged(c.confidence).Divided(c.parts).Confidence
		if got.Text != c.text || got.Value != c.value {
			t.Errorf("%s in %d parts: %s, %v; want %s, %v", c.confidence, c.parts, got.Text, got.Value, c.text, c.value)
		}
	}
}

// TestDividedProperties: the parts together are at most the whole, and less by no more than the tenth digit; more parts are smaller.
func TestDividedProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := judged(fmt.Sprintf("0.%0*d", rapid.IntRange(1, 9).Draw(t, "digits"), rapid.IntRange(5, 9).Draw(t, "confidence")))
		if j.Confidence.Value < 0.5 {
			j = judged(strings.Replace(j.Confidence.Text, "0.0", "0.9", 1))
		}
		if j.Confidence.Value < 0.5 {
			t.Skip("no confidence")
		}
		m := rapid.IntRange(2, 5000).Draw(t, "parts")
		part, whole := j.Divided(m).Error(), j.Error()
		sum := new(big.Rat).Mul(part, big.NewRat(int64(m), 1))
		least := new(big.Rat).Mul(whole, big.NewRat(1_000_000_000-1, 1_000_000_000))
		if sum.Cmp(whole) > 0 || sum.Cmp(least) < 0 {
			t.Fatalf("%d parts of %v: %v together", m, whole, sum)
		}
		if j.Divided(m+1).Error().Cmp(part) > 0 || part.Cmp(whole) >= 0 {
			t.Fatalf("%d parts of %v are not smaller than fewer", m, whole)
		}
	})
}

// families says which family each rule of a policy is in: "id: number of rules method", "id: none".
func families(t *testing.T, text string) (list []string, problems string) {
	t.Helper()
	diags := &diag.List{}
	p := Load(Parse("p.yaml", []byte(text), diags), allSpecs, "human_ai", "1.0.0")
	spec := RuleSpec{MetricKey: "metric", Metrics: []MetricSpec{{Name: "agreement", Upper: 1}}, Thresholds: []Kind{Minimum, Maximum}}
	var lists [][]Rule
	for i := range p.Sections {
		rules, _ := ReadRules(&p.Sections[i], p.Sections[i].Settings, spec)
		for _, r := range rules {
			r.Map.Done(r.Name())
		}
		lists = append(lists, rules)
	}
	found := NewFamilies(diags, lists...)
	for _, rules := range lists {
		for _, r := range rules {
			own := r.Confidence.Text
			r.Share(found)
			if r.Family == nil {
				if r.Confidence.Text != own {
					t.Errorf("%s has no family and the confidence %s", r.ID.Value, r.Confidence.Text)
				}
				list = append(list, r.ID.Value+": none")
				continue
			}
			if r.Family.Alone.Text != own {
				t.Errorf("%s by itself: %s, want %s", r.ID.Value, r.Family.Alone.Text, own)
			}
			list = append(list, fmt.Sprintf("%s: %d of %d by %s at %s", r.ID.Value, r.Family.Number, r.Family.Rules, r.Family.Adjust, r.Confidence.Text))
		}
	}
	if err := diags.Err(); err != nil {
		problems = err.Error()
	}
	return list, problems
}

func TestFamilies(t *testing.T) {
	rule := func(id string) string { return "{id: " + id + ", metric: agreement, minimum: 0.8}" }
	for _, c := range []struct {
		name, text string
		want       []string
		problems   string
	}{
		{"none is said", "rules: [" + rule("a") + "]\n", []string{"a: none"}, ""},
		{"none", "adjust: none\nrules: [" + rule("a") + ", " + rule("b") + "]\n", []string{"a: none", "b: none"}, ""},
		{"one rule has all of it", "adjust: bonferroni\nrules: [" + rule("a") + "]\n", []string{"a: 1 of 1 by bonferroni at 0.95"}, ""},
		{"an advisory rule is in none", "adjust: bonferroni\nrules: [" + rule("a") + ", {id: x, metric: agreement, minimum: 0.8, advisory: true}, " + rule("b") + "]\n",
			[]string{"a: 1 of 2 by bonferroni at 0.975", "x: none", "b: 1 of 2 by bonferroni at 0.975"}, ""},
		{"each has a part of its own error", "adjust: bonferroni\nrules: [" + rule("a") + ", {id: b, metric: agreement, minimum: 0.8, confidence: 0.9}]\n",
			[]string{"a: 1 of 2 by bonferroni at 0.975", "b: 1 of 2 by bonferroni at 0.95"}, ""},
		{"at the top: the whole run", "adjust: holm\nhuman_ai: {rules: [" + rule("a") + "]}\ncompare: {rules: [" + rule("b") + "]}\n",
			[]string{"a: 1 of 2 by holm at 0.95", "b: 1 of 2 by holm at 0.95"}, ""},
		{"in a section: its rules", "human_ai: {adjust: holm, rules: [" + rule("a") + ", " + rule("b") + "]}\ncompare: {adjust: bonferroni, rules: [" + rule("c") + ", " + rule("d") + "]}\nfairness: {rules: [" + rule("e") + "]}\n",
			[]string{"a: 1 of 2 by holm at 0.95", "b: 1 of 2 by holm at 0.95", "c: 2 of 2 by bonferroni at 0.975", "d: 2 of 2 by bonferroni at 0.975", "e: none"}, ""},
		{"a section that says none is left out of the run's", "adjust: holm\nhuman_ai: {rules: [" + rule("a") + "]}\ncompare: {adjust: none, rules: [" + rule("b") + "]}\nfairness: {rules: [" + rule("c") + "]}\n",
			[]string{"a: 1 of 2 by holm at 0.95", "b: none", "c: 1 of 2 by holm at 0.95"}, ""},
		{"an unknown way", "adjust: sidak\nrules: [" + rule("a") + "]\n", []string{"a: none"},
			`p.yaml:1:9: adjust is "sidak"; allowed: bonferroni, holm, none` + "\n"},
		{"on a rule", "rules:\n  - {id: a, metric: agreement, minimum: 0.8, adjust: holm}\n", []string{"a: none"},
			"p.yaml:2:46: rule a: adjust is for all rules of a policy or a section together; move it there\n"},
		{"too little error to divide", "confidence: 0.9999999999999998\nadjust: holm\nrules: [" + rule("a") + ", " + rule("b") + ", " + rule("c") + ", " + rule("d") + "]\n",
			[]string{"a: 1 of 4 by holm at 0.9999999999999998", "b: 1 of 4 by holm at 0.9999999999999998", "c: 1 of 4 by holm at 0.9999999999999998", "d: 1 of 4 by holm at 0.9999999999999998"},
			"p.yaml:2:9: adjust: with the confidence 0.9999999999999998 of rule a the error that is left cannot be divided by 4 rules; lower it, or leave adjust out\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, problems := families(t, c.text)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.TrimSuffix(problems, "\n") != strings.TrimSuffix(c.problems, "\n") {
				t.Errorf("problems:\n%s\nwant:\n%s", problems, c.problems)
			}
		})
	}
}

// TestMergeAdjust: two sources that say different ways contradict each other.
func TestMergeAdjust(t *testing.T) {
	diags := &diag.List{}
	own := Settings{Adjust: Text{"holm", diag.Pos{File: "a.yaml", Line: 1, Column: 9}, true}}
	other := Settings{Adjust: Text{"bonferroni", diag.Pos{File: "b.yaml", Line: 2, Column: 9}, true}}
	if got := Merge(own, other, diags); got.Adjust != own.Adjust {
		t.Errorf("got %v", got.Adjust)
	}
	want := `a.yaml:1:9: adjust is "holm" here and "bonferroni" in b.yaml:2:9; say it once, or the same in both`
	if err := diags.Err(); err == nil || strings.TrimSpace(err.Error()) != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if got := Merge(Settings{}, other, &diag.List{}); got.Adjust != other.Adjust {
		t.Errorf("one source: %v", got.Adjust)
	}
}

// TestChangesAdjust: every way to every other, and rules that join a family.
func TestChangesAdjust(t *testing.T) {
	const rules = "rules:\n  - {id: a, metric: agreement, minimum: 0.8}\n  - {id: b, metric: agreement, minimum: 0.7}\n"
	more := rules + "  - {id: c, metric: agreement, minimum: 0}\n"
	for _, c := range []struct {
		name, base, head string
		want             []string
	}{
		{"written out", rules, "adjust: none\n" + rules, nil},
		{"none to holm", rules, "adjust: holm\n" + rules, []string{"! :1:1 In rules a and b, adjust was none (the default) and is now holm."}},
		{"none to bonferroni", rules, "adjust: bonferroni\n" + rules, []string{":1:1 In rules a and b, adjust was none (the default) and is now bonferroni."}},
		{"holm to none", "adjust: holm\n" + rules, "adjust: none\n" + rules, []string{":1:1 In rules a and b, adjust was holm and is now none."}},
		{"holm to bonferroni", "adjust: holm\n" + rules, "adjust: bonferroni\n" + rules, []string{":1:1 In rules a and b, adjust was holm and is now bonferroni."}},
		{"bonferroni to holm", "adjust: bonferroni\n" + rules, "adjust: holm\n" + rules, []string{"! :1:1 In rules a and b, adjust was bonferroni and is now holm."}},
		{"bonferroni taken out", "adjust: bonferroni\n" + rules, rules, []string{"! :2:6 In rules a and b, adjust was bonferroni and is now none (the default)."}},
		{"moved into the section", "adjust: holm\nhuman_ai:\n  rules: [{id: a, metric: agreement, minimum: 0.8}]\n", "human_ai:\n  adjust: holm\n  rules: [{id: a, metric: agreement, minimum: 0.8}]\n", nil},
		{"a rule more without adjust", rules, more, nil},
		{"a rule more", "adjust: holm\n" + rules, "adjust: holm\n" + more, []string{":5:6 Rule c is new among the rules that share their error (adjust: holm): the others are harder to FAIL."}},
		{"an advisory rule more", "adjust: holm\n" + rules, "adjust: holm\n" + rules + "  - {id: c, metric: agreement, minimum: 0, advisory: true}\n", nil},
		{"one that counts now", "adjust: bonferroni\n" + rules + "  - {id: c, metric: agreement, minimum: 0, advisory: true}\n", "adjust: bonferroni\n" + more,
			[]string{":5:6 Rule c is new among the rules that share their error (adjust: bonferroni): the others are harder to FAIL."}},
		{"a section more", "adjust: holm\nhuman_ai:\n  " + strings.ReplaceAll(rules, "\n", "\n  "), "adjust: holm\nhuman_ai:\n  " + strings.ReplaceAll(rules, "\n", "\n  ") + "\ncompare:\n  rules: [{id: d, metric: rate, minimum: 0}]\n",
			[]string{":8:12 Rule d is new among the rules that share their error (adjust: holm): the others are harder to FAIL."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, changed(t, c.base, c.head)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
