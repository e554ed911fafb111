package example

import (
	"encoding/csv"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat/distuv"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/study"
)

var update = flag.Bool("update", false, "write the embedded data anew with the generators")

func TestEmbeddedDataAreWhatTheGeneratorWrites(t *testing.T) {
	for path, generate := range map[string]func() ([]byte, error){
		filepath.Join("human-ai", "decisions.csv"): func() ([]byte, error) { return HumanAI(HumanAISeed) },
		filepath.Join("compare", "trials.csv"):     Compare,
	} {
		want, err := generate()
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-generated +embedded), rewrite it with go test -update:\n%s", path, diff)
		}
	}
}

// TestFind also checks that each example holds the files of its folder, all of them and nothing else.
func TestFind(t *testing.T) {
	for _, want := range All() {
		got, err := Find(want.Gate)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Example{})); diff != "" {
			t.Errorf("Find(%q) (-want +got):\n%s", want.Gate, diff)
		}
		entries, err := os.ReadDir(want.Gate)
		if err != nil {
			t.Fatal(err)
		}
		var files []File
		for _, entry := range entries {
			text, err := os.ReadFile(filepath.Join(want.Gate, entry.Name()))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, File{entry.Name(), string(text)})
		}
		// The data stand first, whatever their name, then the policy and the workflow.
		if n := len(got.Files); got.Files[n-2].Name != policyName && got.Files[n-2].Name != declarationName || got.Files[n-1].Name != workflowName {
			t.Errorf("the files of %s are not in order: %s is before the last, %s the last", want.Gate, got.Files[n-2].Name, got.Files[n-1].Name)
		}
		slices.SortFunc(got.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
		if diff := cmp.Diff(files, got.Files); diff != "" {
			t.Errorf("files of %s (-folder +embedded):\n%s", want.Gate, diff)
		}
	}
	want := `no example "human": allowed are human-ai, anchoring, compare, fairness`
	if _, err := Find("human"); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %q", err, want)
	}
}

// TestDecisions: the files to name on a command line are those of decisions; none where the policy names them.
func TestDecisions(t *testing.T) {
	want := map[string][]string{"human-ai": {"decisions.csv"}, "anchoring": nil, "compare": {"trials.csv"}, "fairness": nil}
	got := map[string][]string{}
	for _, e := range All() {
		got[e.Gate] = e.Decisions()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

// decision is one row of the human-ai example.
type decision struct {
	id, reviewer, condition, decision, reference, ai, started, decided, claim string
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func readDecisions(t fataler, text string) []decision {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatalf("reading the decisions: %v", err)
	}
	header := "case,reviewer,condition,decision,reference,ai_output,started_at,decided_at,claim"
	if got := strings.Join(records[0], ","); got != header {
		t.Fatalf("header %s, want %s", got, header)
	}
	var rows []decision
	for _, r := range records[1:] {
		rows = append(rows, decision{r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]})
	}
	return rows
}

// figures counts what the naive numbers are made of.
type figures struct {
	With, WithRight        int // decisions recorded with the system, and right ones
	Without, WithoutRight  int
	AIWrong, AIWrongAgreed int // decisions recorded where the system was wrong, and those that agree with it
	Missing                int
}

func count(rows []decision) figures {
	var f figures
	for _, r := range rows {
		switch {
		case r.decision == "":
			f.Missing++
		case r.condition == study.Without:
			f.Without++
			if r.decision == r.reference {
				f.WithoutRight++
			}
		default:
			f.With++
			if r.decision == r.reference {
				f.WithRight++
			}
			if r.ai != r.reference {
				f.AIWrong++
				if r.decision == r.ai {
					f.AIWrongAgreed++
				}
			}
		}
	}
	return f
}

// The counts come from a csv.DictReader in Python 3 over the embedded file, counting with sum().
func TestHumanAIFigures(t *testing.T) {
	want := figures{
		With: 119, WithRight: 95,
		Without: 118, WithoutRight: 84,
		AIWrong: 22, AIWrongAgreed: 9,
		Missing: 3,
	}
	if diff := cmp.Diff(want, count(readDecisions(t, All()[0].Files[0].Text))); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}

// TestHumanAIEachPersonMeetsAnError: a person who never saw a wrong answer would be left out of the per-person rule.
func TestHumanAIEachPersonMeetsAnError(t *testing.T) {
	met := map[string]bool{}
	for _, r := range readDecisions(t, All()[0].Files[0].Text) {
		if r.condition == study.With && r.ai != r.reference && r.decision != "" {
			met[r.reviewer] = true
		}
	}
	if len(met) != people {
		t.Errorf("%d of %d people decided a claim on which the system was wrong", len(met), people)
	}
}

func TestHumanAIProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		text, err := HumanAI(seed)
		if err != nil {
			t.Fatalf("HumanAI: %v", err)
		}
		again, err := HumanAI(seed)
		if err != nil || string(text) != string(again) {
			t.Fatalf("the same seed gave other bytes, error %v", err)
		}
		rows := readDecisions(t, string(text))
		if len(rows) != 30*8 {
			t.Fatalf("%d rows, want thirty claims for each of eight people", len(rows))
		}

		var assigned []study.Assignment
		outputs := map[string]string{} // what the system said on a claim
		labels := []string{"supported", "refuted"}
		wrong := 0
		var clock time.Time
		for i, r := range rows {
			assigned = append(assigned, study.Assignment{Reviewer: r.reviewer, Case: r.id, Condition: r.condition, Position: i%30 + 1})
			if !slices.Contains(labels, r.reference) || r.decision != "" && !slices.Contains(labels, r.decision) {
				t.Fatalf("row %d has a label that is none of %q: %+v", i+1, labels, r)
			}
			if r.condition == study.Without {
				if r.ai != "" {
					t.Fatalf("row %d shows an output without the system: %+v", i+1, r)
				}
			} else if said, seen := outputs[r.id]; !seen {
				if !slices.Contains(labels, r.ai) {
					t.Fatalf("row %d has no output: %+v", i+1, r)
				}
				outputs[r.id] = r.ai
				if r.ai != r.reference {
					wrong++
				}
			} else if said != r.ai {
				t.Fatalf("row %d has another output for its claim than an earlier row: %+v", i+1, r)
			}
			started, err := time.Parse(time.RFC3339, r.started)
			if err != nil {
				t.Fatalf("row %d: %v", i+1, err)
			}
			if i%30 != 0 && !started.After(clock) {
				t.Fatalf("row %d starts before the one above was over: %+v", i+1, r)
			}
			if clock = started; r.decision != "" {
				if clock, err = time.Parse(time.RFC3339, r.decided); err != nil || !clock.After(started) {
					t.Fatalf("row %d was decided before it started, error %v: %+v", i+1, err, r)
				}
			} else if r.decided != "" {
				t.Fatalf("row %d has the time of a decision that was not recorded: %+v", i+1, r)
			}
		}
		if missing := count(rows).Missing; missing != 3 {
			t.Fatalf("%d decisions are missing, want 3", missing)
		}
		// A claim that chance gave to nobody with the system has no output to see.
		if wrong > 6 || len(outputs)-wrong > 24 {
			t.Fatalf("the system was wrong on %d claims of %d, want 6 of 30", wrong, len(outputs))
		}

		cases, _ := study.Names(30, "claim-", 2)
		reviewers, _ := study.Names(8, "r", 0)
		want, err := study.Assign(cases, reviewers, study.Crossed, strconv.FormatUint(seed, 10))
		if err != nil {
			t.Fatalf("Assign: %v", err)
		}
		if diff := cmp.Diff(want, assigned); diff != "" {
			t.Fatalf("the rows do not follow the assignment (-assigned +rows):\n%s", diff)
		}
	})
}

// TestHumanAIAverages compares the mean over seeds with the model's own. With skill and trust at their
// middles, .73 and .17: alone .73; where the system is wrong, agreeing with it .27 + .73 x .17 = .3941; with it,
// .8 x (.73 + .27 x (.17 + .28)) + .2 x (1 - .3941) = .80238. Over 300 seeds the standard deviations of
// the three means are under .003, .007 and .003 (the spread between seeds, measured over 2,000, divided by the root of 300).
func TestHumanAIAverages(t *testing.T) {
	var sum figures
	for seed := range uint64(300) {
		text, err := HumanAI(seed)
		if err != nil {
			t.Fatal(err)
		}
		f := count(readDecisions(t, string(text)))
		sum.With += f.With
		sum.WithRight += f.WithRight
		sum.Without += f.Without
		sum.WithoutRight += f.WithoutRight
		sum.AIWrong += f.AIWrong
		sum.AIWrongAgreed += f.AIWrongAgreed
	}
	for _, test := range []struct {
		what            string
		k, n            int
		want, tolerance float64 // four standard deviations
	}{
		{"right without the system", sum.WithoutRight, sum.Without, 0.73, 0.012},
		{"agreeing with it where it is wrong", sum.AIWrongAgreed, sum.AIWrong, 0.3941, 0.028},
		{"right with the system", sum.WithRight, sum.With, 0.80238, 0.012},
	} {
		if got := float64(test.k) / float64(test.n); math.Abs(got-test.want) > test.tolerance {
			t.Errorf("%s: %.4f, want %.4f within %.3f", test.what, got, test.want, test.tolerance)
		}
	}
}

// TestHumanAIColumns: check warns of a column that is constant, so the example must have none; and
// its text must need quoting, with a comma and with a quote, since that is what other people's files hold.
func TestHumanAIColumns(t *testing.T) {
	records, err := csv.NewReader(strings.NewReader(All()[0].Files[0].Text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for column, name := range records[0] {
		values := map[string]bool{}
		for _, r := range records[1:] {
			values[r[column]] = true
		}
		if len(values) < 2 {
			t.Errorf("the column %s holds %d different values", name, len(values))
		}
	}
	texts, comma, quote := map[string]bool{}, false, false
	for _, c := range claims {
		texts[c.text] = true
		comma = comma || strings.Contains(c.text, ",")
		quote = quote || strings.Contains(c.text, `"`)
	}
	if len(texts) != 30 || !comma || !quote {
		t.Errorf("%d different claims, with a comma %t, with a quote %t", len(texts), comma, quote)
	}
}

// The rules are those of the guide to people with and without the system, the second with per: person.
func TestHumanAIPolicy(t *testing.T) {
	var got any
	if err := yaml.Unmarshal([]byte(All()[0].Files[1].Text), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"confidence": 0.95,
		"rules": []any{
			map[string]any{"id": "people-decide-better", "metric": "accuracy_difference", "minimum": 0.0},
			map[string]any{"id": "few-follow-a-wrong-suggestion", "metric": "over_reliance", "maximum": 0.5, "per": "person"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
}

func TestHumanAIWorkflow(t *testing.T) {
	type step struct {
		Uses string
		With map[string]any
	}
	var got struct {
		On          map[string]any
		Permissions map[string]string
		Jobs        map[string]struct {
			RunsOn string `yaml:"runs-on"`
			Steps  []step
		}
	}
	if err := yaml.Unmarshal([]byte(All()[0].Files[2].Text), &got); err != nil {
		t.Fatal(err)
	}
	if _, found := got.On["pull_request"]; !found {
		t.Errorf("the workflow runs on %v, want pull_request among them", got.On)
	}
	if diff := cmp.Diff(map[string]string{"contents": "read"}, got.Permissions); diff != "" {
		t.Errorf("permissions (-want +got):\n%s", diff)
	}
	want := []step{
		// The commit of actions/checkout v4.2.2.
		{"actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683", map[string]any{"persist-credentials": false}},
		// The names of the files beside the workflow.
		{"oloproof/oloproof@v1", map[string]any{"policy": "policy.yaml", "decisions": "decisions.csv"}},
	}
	if diff := cmp.Diff(want, got.Jobs["human-ai"].Steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// TestDice checks the ranges that every generator draws from: with Pearson's statistic at its 0.999 quantile.
func TestDice(t *testing.T) {
	const throws = 3000
	d := newDice(1)
	for _, n := range []int{1, 2, 3, 7, 30} {
		counts := make([]int, n)
		for range throws {
			counts[d.between(5, 5+n-1)-5]++
		}
		statistic, expected := 0.0, throws/float64(n)
		for _, k := range counts {
			statistic += (float64(k) - expected) * (float64(k) - expected) / expected
		}
		if n == 1 {
			if statistic != 0 {
				t.Errorf("a range of one number gave others: %v", counts)
			}
		} else if limit := (distuv.ChiSquared{K: float64(n - 1)}).Quantile(0.999); statistic > limit {
			t.Errorf("%d faces: chi-square %.1f, want at most %.1f: %v", n, statistic, limit, counts)
		}
	}
	if got := len(d.choose(6, 30)); got != 6 {
		t.Errorf("chose %d of 30, want 6", got)
	}
	if got := len(d.choose(5, 5)); got != 5 {
		t.Errorf("chose %d of 5, want all", got)
	}
	if d.chance(0) || !d.chance(1000) {
		t.Error("a chance of 0 happened or one of 1000 did not")
	}
}
