package fairness

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// count is a rate as it was counted elsewhere.
type count struct {
	N    int      `json:"n"`
	D    int      `json:"d"`
	Rate *float64 `json:"rate"`
}

// table is the rates of a file or a group.
type table struct {
	N         int    `json:"n"`
	Selection count  `json:"selection_rate"`
	TPR       count  `json:"tpr"`
	FNR       count  `json:"fnr"`
	FPR       count  `json:"fpr"`
	TNR       count  `json:"tnr"`
	Precision count  `json:"precision"`
	Accuracy  *count `json:"accuracy"`
}

// counted is what is expected of one column of predictions.
type counted struct {
	Overall table                       `json:"overall"`
	By      map[string]map[string]table `json:"by"`
	Gap     *float64                    `json:"demographic_parity_difference"`
	Ratio   *float64                    `json:"demographic_parity_ratio"`
}

// TestPublishedData reproduces published tables of rates by group, and the same recomputed by simple counting. The files are not
// in the repository: OLOPROOF_DATA names the folder that has fairness/*.csv and fairness/*.expected.json.
func TestPublishedData(t *testing.T) {
	folder := os.Getenv("OLOPROOF_DATA")
	if folder == "" {
		t.Skip("OLOPROOF_DATA names no folder of real data; nothing was compared with published tables")
	}
	names, err := filepath.Glob(filepath.Join(folder, "fairness", "*.expected.json"))
	if err != nil || len(names) < 3 {
		t.Fatalf("%d files of expected counts in %s, want 3 or more (%v)", len(names), folder, err)
	}
	compared := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(strings.TrimSuffix(name, ".expected.json") + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		var want struct{ Measures json.RawMessage }
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		// One column of predictions, or several by name.
		var direct counted
		columns := map[string]counted{}
		if err := json.Unmarshal(want.Measures, &direct); err == nil && direct.By != nil {
			columns["prediction"] = direct
		} else {
			var several map[string]json.RawMessage
			if err := json.Unmarshal(want.Measures, &several); err != nil {
				t.Fatal(err)
			}
			for what, raw := range several {
				column := map[string]string{"prediction = full or partial refusal": "prediction", "prediction = full refusal only": "full_refusal"}[what]
				if column == "" {
					t.Fatalf("%s: which column is %q?", filepath.Base(name), what)
				}
				var c counted
				if err := json.Unmarshal(raw, &c); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				columns[column] = c
			}
		}
		for column, c := range columns {
			for attribute, groups := range c.By {
				compared += comparePublished(t, filepath.Base(name), string(data), column, attribute, groups, c)
			}
		}
	}
	if compared < 100 { // fairlearn's example alone has 4 tables of 7 rates; the two of XSTest more
		t.Errorf("%d rates were compared, want 100 or more", compared)
	}
}

// comparePublished measures one column of predictions by one attribute, and returns how many rates were compared.
func comparePublished(t *testing.T, name, data, column, attribute string, groups map[string]table, want counted) (compared int) {
	var list []string
	for group := range groups {
		list = append(list, fmt.Sprintf("%q", group))
	}
	declared := fmt.Sprintf("id: case\nprediction: %s\nattributes: {%s: [%s]}\nmin_cell: 1\nrules:\n  - {id: gap, rate: selection, attribute: %s, max_group_gap: 0.5}\n  - {id: ratio, rate: selection, attribute: %s, min_group_ratio: 0.5}\n",
		column, attribute, strings.Join(list, ", "), attribute, attribute)
	a, err := tryRun(run{verb: gate.Decide, declaration: declared, names: []string{"c.csv"}, files: map[string]string{"c.csv": data}})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	one := func(group string, w table) {
		of := attribute
		if group == "" {
			of = ""
		}
		for metric, c := range map[string]*count{"selection": &w.Selection, "true_positive": &w.TPR, "false_negative": &w.FNR, "false_positive": &w.FPR, "true_negative": &w.TNR, "precision": &w.Precision, "accuracy": w.Accuracy} {
			if c == nil {
				continue
			}
			m := measure(t, a.Gate, metric, of, group)
			if *m.Numerator != c.N || *m.Denominator != c.D || (m.Estimate == nil) != (c.Rate == nil) || c.Rate != nil && math.Abs(*m.Estimate-*c.Rate) > 1e-12 {
				t.Errorf("%s, %s of %q: %d of %d, want %d of %d", name, metric, group, *m.Numerator, *m.Denominator, c.N, c.D)
			}
			compared++
		}
	}
	one("", want.Overall)
	for group, w := range groups {
		one(group, w)
	}
	for i, w := range []*float64{want.Gap, want.Ratio} {
		if got := a.Gate.Rules[i].Estimate; w != nil && math.Abs(*got-*w) > 1e-12 {
			t.Errorf("%s: %s is %v, want %v", name, a.Gate.Rules[i].ID, *got, *w)
		}
	}
	if d := a.Gate.Data.Of("cases"); d != want.Overall.N {
		t.Errorf("%s: %d cases, want %d", name, d, want.Overall.N)
	}
	if got := a.Gate.Rules[0].Verdict; got == report.NoVerdict {
		t.Errorf("%s: no verdict", name)
	}
	return compared
}
