package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// everyRun lists a run for each gate that has every metric and rate, every kind of threshold and every interval: what
// another architecture, or more cores, would compute otherwise shows in one of them. The data are drawn with fixed seeds.
func everyRun() []frozen {
	ask := func(name, policy string, files ...string) frozen {
		return frozen{name: name, req: request{verb: gate.Decide, policy: "release.yaml", today: "2026-12-01"},
			files: folder(append(files, "release.yaml", policy)...)}
	}
	with := func(f frozen, want int) frozen { f.want = want; return f }
	return []frozen{
		with(ask("every_human_ai", everyHumanAI, "d.csv", everyDecision(1, 24, 20, "crossed"), "e.csv", everyDecision(2, 30, 1, "once")), 4),
		with(ask("every_compare", everyCompare, "t.csv", everyTrial(3, 30, 5), "u.csv", everyTrial(4, 30, 1)), 3),
		with(ask("every_anchoring", everyAnchoring, append([]string{"l.csv", everyLabel(5, 160, false), "m.csv", everyLabel(6, 160, true), "n.csv", withChances(everyLabel(6, 160, true))},
			"draw.csv", everyDraw(160, false), "unequal.csv", everyDraw(160, true))...), 4),
		with(ask("every_fairness", everyFairness(), "c.csv", everyCase(7, 900)), 0),
	}
}

// everyDecision draws decisions of people on cases, each about half of the time with the output, some of them missing.
func everyDecision(seed uint64, people, cases int, design string) string {
	r := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	b.WriteString("case,reviewer,condition,decision,reference,ai_output,site,started_at,decided_at\n")
	for p := range people {
		for c := range cases {
			reference, output := "yes", "yes"
			if c%3 == 0 {
				reference = "no"
			}
			if r.IntN(4) == 0 {
				output = "no"
			}
			with := (p+c)%2 == 0
			decision := reference
			switch n := r.IntN(10); {
			case n == 0:
				decision = ""
			case with && n < 5:
				decision = output
			case n < 4:
				decision = "no"
			}
			condition := "with"
			if !with {
				condition, output = "without", ""
			}
			id := c
			if design == "once" {
				id = p
			}
			fmt.Fprintf(&b, "c%02d,p%02d,%s,%s,%s,%s,s%d,2026-01-01T10:00:00Z,2026-01-01T10:00:%02dZ\n", id, p, condition, decision, reference, output, p%3,
				5+r.IntN(50))
		}
	}
	return b.String()
}

// everyTrial draws trials of two versions on cases, with a few missing.
func everyTrial(seed uint64, cases, trials int) string {
	r := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	b.WriteString("case,version,trial,passed\n")
	for c := range cases {
		for v, version := range []string{"old", "new"} {
			for k := range trials {
				passed := "0"
				if r.IntN(10) < 4+c%5+v {
					passed = "1"
				}
				if r.IntN(40) == 0 {
					passed = ""
				}
				fmt.Fprintf(&b, "c%02d,%s,%d,%s\n", c, version, k+1, passed)
			}
		}
	}
	return b.String()
}

// everyLabel draws labels of two people on items: the first 60 blind, some by both, the others with the suggestion seen.
func everyLabel(seed uint64, items int, one bool) string {
	r := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	b.WriteString("item,annotator,suggestion,label,visibility,kind,accepted\n")
	for i := range items {
		suggestion := string(rune('x' + i%2))
		label := func(agree int) string {
			if r.IntN(100) < agree {
				return suggestion
			}
			return "z"
		}
		if i < 60 {
			fmt.Fprintf(&b, "%d,ana,%s,%s,blind,,\n", i, suggestion, label(88))
			if !one && i%2 == 0 {
				fmt.Fprintf(&b, "%d,ben,%s,%s,blind,,\n", i, suggestion, label(85))
			}
			continue
		}
		kind, accepted := "", "1"
		if i%9 == 0 {
			kind, accepted = "verify", ""
		}
		fmt.Fprintf(&b, "%d,ana,%s,%s,visible,%s,%s\n", i, suggestion, label(95), kind, accepted)
	}
	return b.String()
}

// withChances is a file of labels with the chance of each item to be drawn blind, in one of three.
func withChances(labels string) string {
	lines := strings.Split(strings.TrimSpace(labels), "\n")
	lines[0] += ",inclusion_probability"
	for i := 1; i < len(lines); i++ {
		lines[i] += []string{",0.5", ",0.25", ",0.2"}[i%3]
	}
	return strings.Join(lines, "\n") + "\n"
}

// everyDraw is the draw that everyLabel follows: the blind ones with one chance, or two.
func everyDraw(items int, unequal bool) string {
	var b strings.Builder
	b.WriteString("item,visibility,inclusion_probability\n")
	for i := range items {
		visibility, chance := "blind", "0.375"
		if i >= 60 {
			visibility = "visible"
		}
		if unequal {
			chance = []string{"0.5", "0.25"}[i%2]
		}
		fmt.Fprintf(&b, "%d,%s,%s\n", i, visibility, chance)
	}
	return b.String()
}

// everyCase draws cases of four crossed groups, some without a label or a prediction.
func everyCase(seed uint64, cases int) string {
	r := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	b.WriteString("id,label,prediction,score,sex,region\n")
	for i := range cases {
		sex, region := []string{"f", "m"}[i%2], []string{"n", "s"}[r.IntN(2)]
		label, prediction := r.IntN(2), 0
		if prediction = label; r.IntN(10) < 2+i%2 {
			prediction = 1 - label
		}
		says, is := fmt.Sprint(prediction), fmt.Sprint(label)
		if r.IntN(50) == 0 {
			says = ""
		}
		if r.IntN(50) == 0 {
			is = ""
		}
		fmt.Fprintf(&b, "%d,%s,%s,0.%02d,%s,%s\n", i, is, says, 10+80*prediction+r.IntN(10), sex, region)
	}
	return b.String()
}

const everyHumanAI = `
human_ai:
  - name: crossed
    decisions: d.csv
    rules:
      - {id: difference, metric: accuracy_difference, minimum: 0}
      - {id: difference-once, metric: accuracy_difference, minimum: -0.2, looks: once, planned: 24}
      - {id: difference-sympol, metric: accuracy_difference, minimum: -0.2, looks: once, planned: 24, mean_method: sympol}
      - {id: difference-cases, metric: accuracy_difference, minimum: -0.2, generalize: people_and_cases}
      - {id: agreement, metric: agreement, minimum: 0.2, per: person}
      - {id: over, metric: over_reliance, maximum: 0.9, per: person}
      - {id: correct, metric: correct_override, minimum: 0.1, per: person}
      - {id: harmful, metric: harmful_override, maximum: 0.8, per: person}
      - {id: right-with, metric: accuracy_with, minimum: 0.3, per: person, where: {site: s1}}
      - {id: right-without, metric: accuracy_without, minimum: 0.3, per: person}
      - {id: pooled, metric: over_reliance, maximum: 0.9}
      - {id: system, metric: system_accuracy, minimum: 0.2}
  - name: once
    decisions: e.csv
    adjust: holm
    rules:
      - {id: once-agreement, metric: agreement, minimum: 0.1}
      - {id: once-right, metric: accuracy_with, minimum: 0.1, looks: repeated}
      - {id: once-system, metric: system_accuracy, minimum: 0.1}
`

const everyCompare = `
compare:
  - name: sampled
    trials: t.csv
    baseline: old
    candidate: new
    rules:
      - {id: sign, metric: sign_test}
      - {id: sign-repeated, metric: sign_test, looks: repeated}
      - {id: difference, metric: pass_rate_difference, minimum: -0.3}
      - {id: difference-once, metric: pass_rate_difference, minimum: -0.3, looks: once, planned: 30}
      - {id: rate, metric: rate, minimum: 0.3, version: baseline}
      - {id: at-least-one, metric: pass_at_k, k: 3, minimum: 0.5}
      - {id: all, metric: pass_all_k, k: 5, minimum: 0.05}
      - {id: all-of-two, metric: pass_all_k, k: 2, minimum: 0.05, version: baseline}
  - name: single
    trials: u.csv
    baseline: old
    candidate: new
    adjust: bonferroni
    rules:
      - {id: single-rate, metric: rate, minimum: 0.1}
      - {id: single-difference, metric: pass_rate_difference, minimum: -0.6}
  - name: fixed
    trials: t.csv
    baseline: old
    candidate: new
    case_list: fixed
    rules:
      - {id: fixed-rate, metric: rate, minimum: 0.3}
      - {id: fixed-difference, metric: pass_rate_difference, minimum: -0.3}
`

const everyAnchoring = `
anchoring:
  - name: two-people
    labels: l.csv
    draw: draw.csv
    rules:
      - {id: blind, metric: blind_agreement, minimum: 0.5}
      - {id: blind-items, metric: blind_agreement, minimum: 0.5, per: item}
      - {id: blind-labels, metric: blind_agreement, minimum: 0.5, per: label}
      - {id: visible, metric: visible_agreement, minimum: 0.5, per: item}
      - {id: gap, metric: anchoring_gap, maximum: 0.6, per: item}
      - {id: accepted, metric: acceptance_rate, minimum: 0.5, per: item}
      - {id: verified, metric: verify_acceptance, minimum: 0.3}
      - {id: people, metric: people_agreement, minimum: 0.2}
      - {id: as-people, metric: model_minus_people, minimum: -0.9}
  - name: one-person
    labels: m.csv
    draw: draw.csv
    corpus_size: 160
    rules:
      - {id: rest, metric: blind_agreement, minimum: 0.5}
      - {id: one-gap, metric: anchoring_gap, maximum: 0.6}
      - {id: one-gap-pairwise, metric: anchoring_gap, maximum: 0.6, interval: pairwise}
      - {id: repeated, metric: blind_agreement, minimum: 0.5, looks: repeated}
  - name: unequal
    labels: m.csv
    draw: unequal.csv
    corpus_size: 160
    rules:
      - {id: in-batches, metric: blind_agreement, minimum: 0.3}
  - name: weighted
    labels: n.csv
    least_inclusion_probability: 0.2
    rules:
      - {id: weighted, metric: blind_agreement, minimum: 0.3}
`

// everyFairness has each rate, each kind of rule and each interval.
func everyFairness() string {
	var b strings.Builder
	b.WriteString(`
fairness:
  cases: c.csv
  probability: score
  attributes: {sex: [f, m], region: [n, s]}
  intersections: [[sex, region]]
  rules:
    - {id: pairwise, rate: error, attribute: [sex, region], max_group_gap: 0.5, interval: pairwise}
    - {id: crossed, rate: false_negative, attribute: [sex, region], max_group_gap: 0.5}
    - {id: gap, rate: precision, attribute: sex, max_group_gap: 0.5}
    - {id: ratio, rate: selection, attribute: sex, min_group_ratio: 0.2}
    - {id: repeated, rate: error, attribute: sex, max_group_gap: 0.5, looks: repeated}
`)
	for _, rate := range []string{"error", "accuracy", "selection", "false_positive", "true_negative", "false_negative", "true_positive", "precision",
		"false_discovery", "false_omission", "negative_predictive_value"} {
		fmt.Fprintf(&b, "    - {id: %[1]s-worst, rate: %[1]s, attribute: region, worst_group: {minimum: 0.05}}\n", rate)
	}
	return b.String()
}

// TestEveryRunIsWhole checks that nothing can be asked that everyRun does not ask: every metric and rate of the gates'
// own lists, and every interval that engine/interval names.
func TestEveryRunIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, run := range everyRun() {
		run.req.fs = run.files
		r := inMemory().run(run.req)
		if r.ExitStatus == report.ExitUnusable {
			t.Fatalf("%s: %v", run.name, r.Errors)
		}
		text, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range regexp.MustCompile(`"(?:metric|rate|method)": *"([^"]+)"`).FindAllSubmatch(text, -1) {
			seen[string(word[1])] = true
		}
	}
	methods := 0
	entries, err := os.ReadDir("../../engine/interval")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), "_test.go") || !strings.HasSuffix(entry.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile("../../engine/interval/" + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range regexp.MustCompile(`Method \s*= "([^"]+)"`).FindAllSubmatch(text, -1) {
			methods++
			if !seen[string(method[1])] {
				t.Errorf("no rule of everyRun has the interval %s", method[1])
			}
		}
	}
	if methods < 10 {
		t.Errorf("only %d intervals were found in engine/interval", methods)
	}
	for _, name := range namedInSchema(t, "metric", "rate") {
		if !seen[name] && name != "recall" && name != "sensitivity" && name != "specificity" && name != "positive_predictive_value" { // other names of rates
			t.Errorf("no rule of everyRun has the metric or rate %s", name)
		}
	}
}

// namedInSchema lists the values that the policy's schema allows for keys of these names.
func namedInSchema(t *testing.T, keys ...string) []string {
	t.Helper()
	text, err := os.ReadFile("../../engine/policy/policy.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var names []string
	var walk func(value any, key string)
	walk = func(value any, key string) {
		switch v := value.(type) {
		case map[string]any:
			if list, ok := v["enum"].([]any); ok && slices.Contains(keys, key) {
				for _, name := range list {
					names = append(names, name.(string))
				}
			}
			for k, inner := range v {
				walk(inner, k)
			}
		case []any:
			for _, inner := range v {
				walk(inner, key)
			}
		}
	}
	walk(document, "")
	if len(names) < 20 {
		t.Errorf("only %d metrics and rates were found in the schema", len(names))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestCores decides every frozen run on 1 to 8 cores and writes it in every format: the same bytes.
func TestCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	counts := []int{1, 2, 3, 4, 5, 6, 7, 8}
	if testing.Short() {
		counts = []int{1, 2, 7}
	}
	for _, run := range frozenRuns(t) {
		var first []byte
		for _, cores := range counts {
			runtime.GOMAXPROCS(cores)
			run.req.fs = run.files
			if run.req.ledger != nil { // a look is added to it
				run.req.ledger = &book{path: run.req.ledger.path, place: run.req.ledger.place}
			}
			got := everyFormat(t, inMemory().run(run.req))
			if first == nil {
				first = got
			}
			if !bytes.Equal(first, got) {
				t.Fatalf("%s: the bytes on %d cores are not those on one", run.name, cores)
			}
		}
	}
}

// everyFormat is a report in every format, one after the other.
func everyFormat(t *testing.T, r *report.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, name := range summary.Names() {
		format, err := summary.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, "=", name)
		if err := format.Write(&b, r, plain); err != nil { // a form that cannot hold so much says so
			fmt.Fprintln(&b, err)
		}
	}
	return b.Bytes()
}
