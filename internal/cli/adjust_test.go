package cli

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// manyRules is a release of all four gates with many rules each, without what says how they share their error.
type manyRules struct {
	files    []string    // name, content, name, content …
	sections [4][]string // the rules of each, without advisory ones
	advisory bool        // human_ai has one advisory rule too
}

// The heads of the sections' declarations.
var sectionHeads = [4]string{
	"human_ai:\n  decisions: d.csv\n",
	"anchoring:\n  labels: l.csv\n  minimum_blind_sample: 5\n",
	"compare:\n  trials: t.csv\n  baseline: old\n  candidate: new\n",
	"fairness:\n  cases: c.csv\n  attributes: {group: [x, y, z]}\n  min_cell: 5\n",
}

// drawMany draws such a release. Rates are drawn anew for each part of a file, so that rules come to every verdict.
func drawMany(t *rapid.T) *manyRules {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
	m := &manyRules{advisory: rapid.Bool().Draw(t, "an advisory rule")}
	thresholds := rapid.SampledFrom([]string{"minimum: 0.3", "minimum: 0.5", "minimum: 0.8", "maximum: 0.2", "maximum: 0.5", "maximum: 0.7"})
	looks := func() string {
		return rapid.SampledFrom([]string{"", "", ", looks: repeated"}).Draw(t, "looks")
	}
	toss := func(p float64, yes, no string) string {
		if r.Float64() < p {
			return yes
		}
		return no
	}
	var b strings.Builder

	b.WriteString("case,reviewer,condition,decision,reference,ai_output,task\n")
	for task := range 4 {
		p := r.Float64()
		for i := range 30 {
			fmt.Fprintf(&b, "c%d-%d,p%d-%d,with,%s,a,%s,%d\n", task, i, task, i, toss(p, "a", "b"), toss(0.5, "a", "b"), task)
		}
	}
	m.files = append(m.files, "d.csv", b.String())
	for task := range 4 {
		metric := rapid.SampledFrom([]string{"accuracy_with", "agreement", "over_reliance", "system_accuracy", "accuracy_with, per: person"}).Draw(t, "metric")
		how := looks()
		if metric == "system_accuracy" {
			how = ""
		}
		m.sections[0] = append(m.sections[0], fmt.Sprintf("{id: h%d, metric: %s, %s, where: {task: %d}%s}", task, metric, thresholds.Draw(t, "threshold"), task, how))
	}

	b.Reset()
	b.WriteString("item,annotator,suggestion,label,visibility\n")
	blind, visible := r.Float64(), r.Float64()
	for i := range 80 {
		p, how := blind, "blind"
		if i%2 == 0 {
			p, how = visible, "visible"
		}
		fmt.Fprintf(&b, "i%d,ann,a,%s,%s\n", i, toss(0.05, "", toss(p, "a", "b")), how)
	}
	m.files = append(m.files, "l.csv", b.String())
	m.sections[1] = []string{
		"{id: a0, metric: blind_agreement, " + thresholds.Draw(t, "threshold") + looks() + "}",
		"{id: a1, metric: anchoring_gap, maximum: 0.1}",
		"{id: a2, metric: anchoring_gap, interval: pairwise, " + rapid.SampledFrom([]string{"maximum: 0.1", "minimum: 0.1"}).Draw(t, "side") + "}",
	}

	b.Reset()
	b.WriteString("version,case,passed\n")
	old, new := r.Float64(), r.Float64()
	for i := range 40 {
		for range 2 {
			fmt.Fprintf(&b, "old,k%d,%s\nnew,k%d,%s\n", i, toss(old, "1", "0"), i, toss(new, "1", toss(0.1, "", "0")))
		}
	}
	m.files = append(m.files, "t.csv", b.String())
	m.sections[2] = []string{
		"{id: t0, metric: sign_test" + looks() + "}",
		"{id: t1, metric: rate, " + thresholds.Draw(t, "threshold") + "}",
		"{id: t2, metric: pass_rate_difference, minimum: -0.1}",
		"{id: t3, metric: pass_all_k, k: 2, " + thresholds.Draw(t, "threshold") + looks() + "}",
	}

	b.Reset()
	b.WriteString("id,label,prediction,group\n")
	for g, name := range []string{"x", "y", "z"} {
		p := r.Float64()
		for i := range 40 {
			fmt.Fprintf(&b, "%d-%d,%s,%s,%s\n", g, i, toss(0.5, "1", "0"), toss(p, "1", "0"), toss(0.02, "", name))
		}
	}
	m.files = append(m.files, "c.csv", b.String())
	m.sections[3] = []string{
		"{id: f0, rate: selection, attribute: group, max_group_gap: 0.3" + looks() + "}",
		"{id: f1, rate: error, attribute: group, max_group_gap: 0.2, interval: pairwise}",
		"{id: f2, rate: selection, attribute: group, worst_group: {maximum: 0.6}" + rapid.SampledFrom([]string{"", ", interval: pairwise"}).Draw(t, "interval") + "}",
		"{id: f3, rate: selection, attribute: group, min_group_ratio: 0.5}",
	}
	return m
}

// run decides the release. top and own are settings of the file and of the section human_ai; reversed turns every list of rules
// and the sections round.
func (m *manyRules) run(t interface{ Fatalf(string, ...any) }, top, own string, reversed bool) map[string]report.Rule {
	var parts []string
	for i, rules := range m.sections {
		rules = slices.Clone(rules)
		head := sectionHeads[i]
		if i == 0 {
			if m.advisory {
				rules = append(rules, "{id: shown, metric: accuracy_with, minimum: 0.5, advisory: true}")
			}
			if own != "" {
				head += "  " + own + "\n"
			}
		}
		if reversed {
			slices.Reverse(rules)
		}
		parts = append(parts, head+"  rules:\n    - "+strings.Join(rules, "\n    - ")+"\n")
	}
	if reversed {
		slices.Reverse(parts)
	}
	return decideRelease(t, folder(append([]string{"release.yaml", top + strings.Join(parts, "")}, m.files...)...))
}

// decideRelease decides release.yaml, and returns its rules by id.
func decideRelease(t interface{ Fatalf(string, ...any) }, fsys fstest.MapFS) map[string]report.Rule {
	r := inMemory().run(request{verb: gate.Decide, policy: "release.yaml", fs: fsys})
	if len(r.Errors) > 0 {
		t.Fatalf("%v\n%s", r.Errors, fsys["release.yaml"].Data)
	}
	rules := map[string]report.Rule{}
	for rule := range r.Rules() {
		rules[rule.ID] = *rule
	}
	return rules
}

// verdicts are the rules' verdicts, by id.
func verdictsOf(rules map[string]report.Rule) map[string]report.Verdict {
	list := map[string]report.Verdict{}
	for id, r := range rules {
		list[id] = r.Verdict
	}
	return list
}

// TestAdjust holds adjust against runs of the same release without it, at every part of the error: bonferroni is the run at one
// m-th of it, verdict and interval; holm is the textbook's procedure on the smallest part at which each rule FAILs. So neither
// turns another verdict into PASS nor makes a FAIL, holm touches FAILs alone, and the order of rules does not matter.
func TestAdjust(t *testing.T) {
	turned := map[string]int{}
	checkStudies(t, 12, func(t *rapid.T) {
		m := drawMany(t)
		confidence := rapid.SampledFrom([]string{"0.5", "0.8", "0.95"}).Draw(t, "confidence")
		inSection := rapid.Bool().Draw(t, "the section's own family")
		top := "confidence: " + confidence + "\n"
		adjusted := func(how string, reversed bool) map[string]report.Rule {
			if inSection {
				return m.run(t, top, "adjust: "+how, reversed)
			}
			return m.run(t, top+"adjust: "+how+"\n", "", reversed)
		}
		family := map[string]bool{}
		for i, rules := range m.sections {
			for _, rule := range rules {
				if !inSection || i == 0 {
					id, _, _ := strings.Cut(strings.TrimPrefix(rule, "{id: "), ",")
					family[id] = true
				}
			}
		}
		size := len(family)

		// The rules at each part of the error, without adjust.
		var c policy.Judging
		c.Confidence = policy.Number{Text: confidence}
		at := make([]map[string]report.Rule, size+1)
		for parts := 1; parts <= size; parts++ {
			at[parts] = m.run(t, "confidence: "+c.Divided(parts).Confidence.Text+"\n", "", false)
		}
		alone := at[1]

		bonferroni := adjusted(policy.AdjustBonferroni, false)
		for id, got := range bonferroni {
			want := alone[id]
			if family[id] {
				want = at[size][id]
			}
			if got.Verdict != want.Verdict {
				t.Fatalf("bonferroni: %s is %s, and with its error in %d parts %s\n%s", id, got.Verdict, size, want.Verdict, got.Reason)
			}
			if diff := cmp.Diff(want.Interval, got.Interval); diff != "" {
				t.Fatalf("bonferroni: %s has another interval (-want +got):\n%s", id, diff)
			}
			if was := alone[id].Verdict; got.Verdict != was {
				if got.Verdict == report.Pass || got.Verdict == report.Fail {
					t.Fatalf("bonferroni turns %s from %s into %s", id, was, got.Verdict)
				}
				turned["bonferroni "+was.String()]++
			}
			if iv := got.Interval; iv != nil && family[id] {
				if was := alone[id].Interval; *iv.Lower > *was.Lower || *iv.Upper < *was.Upper {
					t.Fatalf("bonferroni: the interval of %s is not wider: %v … %v, was %v … %v", id, *iv.Lower, *iv.Upper, *was.Lower, *was.Upper)
				}
				if k := got.Threshold.Kind; (got.Verdict == report.Pass || got.Verdict == report.Fail) && (k == report.Minimum || k == report.Maximum) && got.Threshold.Compare(*iv.Lower, *iv.Upper) != got.Verdict {
					t.Fatalf("bonferroni: %s is %s on the interval %v … %v", id, got.Verdict, *iv.Lower, *iv.Upper)
				}
			}
		}

		holm := adjusted(policy.AdjustHolm, false)
		rejected := stepDown(family, func(id string, parts int) bool { return at[parts][id].Verdict == report.Fail })
		for id, got := range holm {
			was := alone[id]
			want := was.Verdict
			if family[id] && was.Verdict == report.Fail && !rejected[id] {
				want = report.InsufficientEvidence
				turned["holm FAIL"]++
				if got.Adjusted.Held < 2 || !strings.Contains(got.Reason, "No interval goes with that") {
					t.Fatalf("holm holds %s back, and does not say so: %+v, %s", id, got.Adjusted, got.Reason)
				}
			}
			if got.Verdict != want {
				t.Fatalf("holm: %s is %s, want %s (%s by itself)", id, got.Verdict, want, was.Verdict)
			}
			if diff := cmp.Diff(was.Interval, got.Interval); diff != "" {
				t.Fatalf("holm: the interval of %s is not its own (-want +got):\n%s", id, diff)
			}
			if bonferroni[id].Verdict == report.Fail && got.Verdict != report.Fail {
				t.Fatalf("%s is FAIL with bonferroni and %s with holm", id, got.Verdict)
			}
		}
		for how, want := range map[string]map[string]report.Rule{policy.AdjustBonferroni: bonferroni, policy.AdjustHolm: holm} {
			if diff := cmp.Diff(verdictsOf(want), verdictsOf(adjusted(how, true))); diff != "" {
				t.Fatalf("%s: the rules in another order (-want +got):\n%s", how, diff)
			}
		}
	})
	t.Logf("turned into undecided: %v", turned) // testdata/script/adjust.txtar has one of each
}

// stepDown is Holm's procedure as its author gives it, on rules that FAIL with their error in so many parts or not: as long as
// some rule that is left FAILs with as many parts as there are rules left, it is rejected.
func stepDown(family map[string]bool, fails func(id string, parts int) bool) map[string]bool {
	rejected := map[string]bool{}
	for again := true; again; {
		again = false
		for id := range family {
			if !rejected[id] && fails(id, len(family)-len(rejected)) {
				rejected[id], again = true, true
				break
			}
		}
	}
	return rejected
}

// TestAdjustOfOneRule: a rule that has no other to share with is decided as without adjust, to the last word.
func TestAdjustOfOneRule(t *testing.T) {
	checkStudies(t, 20, func(t *rapid.T) {
		m := drawMany(t)
		for i := range m.sections {
			m.sections[i] = m.sections[i][:1]
		}
		m.advisory = true // it shares nothing
		want := m.run(t, "confidence: 0.8\n", "", false)
		for _, how := range []string{policy.AdjustBonferroni, policy.AdjustHolm} {
			got := m.run(t, "confidence: 0.8\n", "adjust: "+how, false)
			first := got["h0"]
			if first.Adjusted == nil || first.Adjusted.Rules != 1 || first.Adjusted.Method != how {
				t.Fatalf("h0 is adjusted by %+v", first.Adjusted)
			}
			first.Adjusted = nil
			got["h0"] = first
			for id, was := range want {
				now := got[id]
				was.Position = now.Position // one line further down
				if diff := cmp.Diff(was, now); diff != "" {
					t.Fatalf("%s with adjust: %s (-want +got):\n%s", id, how, diff)
				}
			}
		}
	})
}

// TestFamilywiseError: eight independent rules whose rates lie exactly on their thresholds, so that a FAIL of any is false. By
// itself each FAILs in P(Bin(45, 0.8) ≤ 30) = 0.02499 of the studies, the 0.025 that are promised of one, so that some rule does in
// 1 − (1 − 0.02499)⁸ = 0.183 of them. With adjust the promise of one rule is kept by all together. So it is where four of the rules
// are far from holding and only the FAILs of the others are false: by themselves 1 − (1 − 0.02499)⁴ = 0.096 of the studies have one.
// Each count is held against the promise by its exact interval, which is wrong once in a thousand tests.
func TestFamilywiseError(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation: left out with -short")
	}
	for _, violated := range []int{0, 4} {
		t.Run(fmt.Sprint(violated, " do not hold"), func(t *testing.T) { familywiseError(t, violated) })
	}
}

func familywiseError(t *testing.T, violated int) {
	const studies, rules, decisions, promise = 250, 8, 45, 0.025
	r := rand.New(rand.NewPCG(8, 45))
	failed := map[string]int{policy.AdjustNone: 0, policy.AdjustBonferroni: 0, policy.AdjustHolm: 0}
	for range studies {
		var b strings.Builder
		b.WriteString("case,reviewer,condition,decision,reference,ai_output,task\n")
		for task := range rules {
			truth := 0.8
			if task < violated {
				truth = 0.3
			}
			for i := range decisions {
				decision := "a"
				if r.Float64() >= truth {
					decision = "b"
				}
				fmt.Fprintf(&b, "c%d-%d,p%d-%d,with,%s,a,a,%d\n", task, i, task, i, decision, task)
			}
		}
		for how := range failed {
			text := "human_ai:\n  decisions: d.csv\n  adjust: " + how + "\n  rules:\n"
			for task := range rules {
				text += fmt.Sprintf("    - {id: r%d, metric: accuracy_with, minimum: 0.8, where: {task: %d}}\n", task, task)
			}
			decided := decideRelease(t, folder("release.yaml", text, "d.csv", b.String()))
			for task := violated; task < rules; task++ {
				if decided[fmt.Sprint("r", task)].Verdict == report.Fail {
					failed[how]++
					break
				}
			}
		}
	}
	t.Logf("some rule that holds is FAIL, in so many of %d studies: %v", studies, failed)
	for how, n := range failed {
		iv, err := interval.ClopperPearson(n, 0, studies, 0.998) // 0.001 on each side
		if err != nil {
			t.Fatal(err)
		}
		if above := iv.Lower > promise; above != (how == policy.AdjustNone) {
			t.Errorf("adjust: %s: some rule that holds is FAIL in %d of %d studies, %.4f … %.4f; promised is %v", how, n, studies, iv.Lower, iv.Upper, promise)
		}
	}
	if failed[policy.AdjustHolm] < failed[policy.AdjustBonferroni] {
		t.Errorf("holm must find all that bonferroni does; got %v", failed)
	}
}
