package compare

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/gate"
)

// published is what is known of a real file of trials: the tables its authors published, and the same recomputed by
// simple counting.
type published struct {
	Published struct {
		PassAllK map[string]float64 `json:"pass^k"`
	}
	Measures struct {
		Versions map[string]struct {
			Cases        int
			Passes       struct{ N, D int }
			Mean         float64            `json:"mean_case_pass_rate"`
			PassAllK     map[string]float64 `json:"pass^k"`
			PassAtK      map[string]float64 `json:"pass@k"`
			CasesAllPass struct{ N, D int } `json:"cases_all_pass"`
			CasesAnyPass struct{ N, D int } `json:"cases_any_pass"`
		}
		Pairs map[string]struct {
			CommonCases int      `json:"common_cases"`
			OnlyInA     int      `json:"only_in_a"`
			OnlyInB     int      `json:"only_in_b"`
			Difference  float64  `json:"mean_difference_b_minus_a"`
			Better      int      `json:"cases_better"`
			Worse       int      `json:"cases_worse"`
			Equal       int      `json:"cases_equal"`
			P           *float64 `json:"mcnemar_exact_p"`
		}
	}
}

// TestPublishedData reproduces the published pass^k tables, and the counts of every version and pair, from files of
// real trials. They are not in the repository: OLOPROOF_DATA names the folder that has compare/*.csv and
// compare/*.expected.json.
func TestPublishedData(t *testing.T) {
	folder := os.Getenv("OLOPROOF_DATA")
	if folder == "" {
		t.Skip("OLOPROOF_DATA names no folder of real data; nothing was compared with published tables")
	}
	names, err := filepath.Glob(filepath.Join(folder, "compare", "*.expected.json"))
	if err != nil || len(names) < 3 {
		t.Fatalf("%d files of expected counts in %s, want 3 or more (%v)", len(names), folder, err)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
	tables := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var want published
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(strings.TrimSuffix(name, ".expected.json") + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		ask := run{verb: gate.Report, names: []string{"trials.csv"}, files: map[string]string{"trials.csv": string(data)}}
		a, err := tryRun(ask)
		if err != nil {
			t.Fatal(err)
		}
		for version, w := range want.Measures.Versions {
			m := measure(t, a.Gate, "rate", "version", version)
			if *m.Units != w.Cases || *m.Numerator != w.Passes.N || *m.Denominator != w.Passes.D || !near(*m.Estimate, w.Mean) {
				t.Errorf("%s, %s: rate %v, %d of %d over %d; want %v, %d of %d over %d", filepath.Base(name), version, *m.Estimate, *m.Numerator, *m.Denominator, *m.Units,
					w.Mean, w.Passes.N, w.Passes.D, w.Cases)
			}
			for k, share := range w.PassAllK {
				if m := measure(t, a.Gate, "pass_all_k", "version", version, "k", k); !near(*m.Estimate, share) {
					t.Errorf("%s, %s: pass_all_%s %v, want %v", filepath.Base(name), version, k, *m.Estimate, share)
				}
			}
			for k, share := range w.PassAtK {
				if m := measure(t, a.Gate, "pass_at_k", "version", version, "k", k); !near(*m.Estimate, share) {
					t.Errorf("%s, %s: pass_at_%s %v, want %v", filepath.Base(name), version, k, *m.Estimate, share)
				}
			}
			last := strconv.Itoa(len(w.PassAllK))
			if m := measure(t, a.Gate, "pass_all_k", "version", version, "k", last); *m.Numerator != w.CasesAllPass.N || *m.Denominator != w.CasesAllPass.D {
				t.Errorf("%s, %s: pass_all_%s %d of %d, want %d of %d", filepath.Base(name), version, last, *m.Numerator, *m.Denominator, w.CasesAllPass.N, w.CasesAllPass.D)
			}
			if m := measure(t, a.Gate, "pass_at_k", "version", version, "k", last); *m.Numerator != w.CasesAnyPass.N {
				t.Errorf("%s, %s: pass_at_%s %d of %d, want %d", filepath.Base(name), version, last, *m.Numerator, *m.Denominator, w.CasesAnyPass.N)
			}
			// The authors print three decimals.
			if len(want.Measures.Versions) == 1 {
				for k, share := range want.Published.PassAllK {
					tables++
					if m := measure(t, a.Gate, "pass_all_k", "version", version, "k", k); math.Round(*m.Estimate*1000) != math.Round(share*1000) {
						t.Errorf("%s: published pass^%s is %v, here %v", filepath.Base(name), k, share, *m.Estimate)
					}
				}
			}
		}
		for pair, w := range want.Measures.Pairs {
			old, candidate, _ := strings.Cut(pair, " -> ")
			ask.flags = gate.Flags{Baseline: old, Candidate: candidate}
			a, err := tryRun(ask)
			if err != nil {
				t.Fatal(err)
			}
			d, s := measure(t, a.Gate, "pass_rate_difference"), measure(t, a.Gate, "sign_test")
			if a.Gate.Data.Of("cases_in_both_versions") != w.CommonCases || a.Gate.Data.Of("cases_baseline_only") != w.OnlyInA || a.Gate.Data.Of("cases_candidate_only") != w.OnlyInB {
				t.Errorf("%s: cases %v, want %d in both, %d and %d in one", pair, a.Gate.Data, w.CommonCases, w.OnlyInA, w.OnlyInB)
			}
			if !near(*d.Estimate, w.Difference) || *s.Better != w.Better || *s.Worse != w.Worse || *s.Equal != w.Equal {
				t.Errorf("%s: difference %v, %d better, %d worse, %d equal; want %v, %d, %d, %d", pair, *d.Estimate, *s.Better, *s.Worse, *s.Equal,
					w.Difference, w.Better, w.Worse, w.Equal)
			}
			if w.P != nil && !near(*s.PValue, *w.P) { // McNemar's exact test is the sign test on 0/1
				t.Errorf("%s: p %v, want %v", pair, *s.PValue, *w.P)
			}
		}
	}
	if tables < 4 {
		t.Errorf("%d published figures were compared, want the four of pass^1 to pass^4", tables)
	}
}
