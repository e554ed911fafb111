package anchoring

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// counted is a rate as counted elsewhere.
type counted struct {
	N, D int
	Rate *float64
}

// published is what is known of a real file of labels, recomputed by simple counting.
type published struct {
	Measures struct {
		Rows, Items, Annotators  int
		VisibleRows              int      `json:"visible_rows"`
		BlindRows                int      `json:"blind_rows"`
		BlindWithoutSuggestion   int      `json:"blind_rows_without_suggestion"`
		VisibleWithoutSuggestion int      `json:"visible_rows_without_suggestion"`
		Visible                  counted  `json:"agreement_visible"`
		Blind                    counted  `json:"agreement_blind"`
		Gap                      *float64 `json:"anchoring_gap"`
		Both                     int      `json:"annotators_with_both"`
		PerVisible               struct {
			N    int
			Mean float64
		} `json:"per_annotator_visible"`
		PerBlind struct {
			N    int
			Mean float64
		} `json:"per_annotator_blind"`
		PerGap *struct {
			N    int
			Mean float64
		} `json:"per_annotator_gap"`
	}
}

// TestPublishedData compares the counts of real files of labels with those counted elsewhere. They are not in the
// repository: OLOPROOF_DATA names the folder that has anchoring/*.csv and anchoring/*.expected.json.
func TestPublishedData(t *testing.T) {
	folder := os.Getenv("OLOPROOF_DATA")
	if folder == "" {
		t.Skip("OLOPROOF_DATA names no folder of real data; nothing was compared with published counts")
	}
	files, err := filepath.Glob(filepath.Join(folder, "anchoring", "*.expected.json"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files of expected counts in %s, want 3 or more (%v)", len(files), folder, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
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
			g := ask(t, run{verb: gate.Decide, labels: string(data), policy: `rules:
- {id: b, metric: blind_agreement, minimum: 0.5}
- {id: g, metric: anchoring_gap, maximum: 0.2}
- {id: blind, metric: blind_agreement, minimum: 0.5, per: label}
- {id: visible, metric: visible_agreement, minimum: 0.5, per: label}
- {id: gap, metric: anchoring_gap, maximum: 0.2, per: label}
`})
			checkPublished(t, g, want)
		})
	}
}

func checkPublished(t *testing.T, g report.Gate, want published) {
	t.Helper()
	w := want.Measures
	for name, n := range map[string]int{
		"rows": w.Rows, "items": w.Items, "annotators": w.Annotators, "blind_rows": w.BlindRows, "visible_rows": w.VisibleRows,
		"blind_without_suggestion": w.BlindWithoutSuggestion, "visible_without_suggestion": w.VisibleWithoutSuggestion, "annotators_with_both": w.Both,
	} {
		if got := g.Data.Of(name); got != n {
			t.Errorf("%s: %d, want %d", name, got, n)
		}
	}
	near := func(what string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	pooledBlind, pooledVisible, pooledGap := g.Rules[2].Measure, g.Rules[3].Measure, g.Rules[4].Measure
	for _, x := range []struct {
		m report.Measure
		counted
	}{{pooledBlind, w.Blind}, {pooledVisible, w.Visible}} {
		m, c, metric := x.m, x.counted, x.m.Metric
		if *m.Numerator != c.N || *m.Denominator != c.D {
			t.Errorf("%s: %d of %d, want %d of %d", metric, *m.Numerator, *m.Denominator, c.N, c.D)
		}
		if c.Rate == nil {
			if m.Estimate != nil {
				t.Errorf("%s is %v where nothing can be computed", metric, *m.Estimate)
			}
			continue
		}
		near(metric, m.Estimate, *c.Rate)
	}
	if w.PerVisible.N > 0 {
		m := measure(t, g, visibleAgreement, "per", "person")
		near("visible per person", m.Estimate, w.PerVisible.Mean)
		if *m.Units != w.PerVisible.N {
			t.Errorf("%d annotators, want %d", *m.Units, w.PerVisible.N)
		}
	}
	gap := measure(t, g, anchoringGap, "per", "person")
	switch {
	case w.PerBlind.N == 0: // the blind rows carry no suggestion
		if gap.Estimate != nil || g.Rules[0].Verdict != report.InsufficientEvidence || g.Rules[1].Verdict != report.InsufficientEvidence {
			t.Errorf("gap %v, verdicts %s and %s; nothing can be decided", gap.Estimate, g.Rules[0].Verdict, g.Rules[1].Verdict)
		}
		return
	case w.PerGap != nil:
		near("gap", gap.Estimate, w.PerGap.Mean)
		if *gap.Units != w.PerGap.N {
			t.Errorf("%d annotators in the gap, want %d", *gap.Units, w.PerGap.N)
		}
	default: // each annotator is on one side, with as many labels as any other
		near("gap", gap.Estimate, *w.Gap)
	}
	near("blind per person", measure(t, g, blindAgreement, "per", "person").Estimate, w.PerBlind.Mean)
	near("pooled gap", pooledGap.Estimate, *w.Gap)
}
