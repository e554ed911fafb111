package docs

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
)

// manyRules is how often some of m independent rules FAILs when all lie exactly on their thresholds (`minimum: 0.8`, 45 decisions
// each), and how often one of them does whose rate is 0.6, by themselves and with bonferroni.
func manyRules(t *testing.T) [][]string {
	const decisions, threshold, low = 45, 0.8, 0.6
	rows := [][]string{{"rules", "promised: at most", "some is FAIL, each by itself", "with `bonferroni` or `holm`", "one at 0.6 is FAIL by itself", "with `bonferroni`"}}
	// fails is how often one rule is FAIL, where its rate is p and its error is divided by so many parts.
	fails := func(p float64, parts int) float64 {
		j := policy.Judging{}.WithDefaults().Divided(parts)
		sum := 0.0
		for k, chance := range binomial(decisions, p) {
			iv, err := interval.ClopperPearson(k, 0, decisions, j.Confidence.Value)
			if err != nil {
				t.Fatal(err)
			}
			if iv.Upper < threshold {
				sum += chance
			}
		}
		return sum
	}
	some := func(m, parts int) float64 { return 1 - math.Pow(1-fails(threshold, parts), float64(m)) }
	for _, m := range []int{1, 2, 5, 10, 20, 50} {
		rows = append(rows, []string{fmt.Sprint(m), percent(min(1, 0.025*float64(m))), percent(some(m, 1)), percent(some(m, m)), percent(fails(low, 1)), percent(fails(low, m))})
	}
	return rows
}

// TestAdjustValues: the document has every value that the published schema allows.
func TestAdjustValues(t *testing.T) {
	var schema struct {
		Defs struct {
			Adjust struct {
				Enum    []string
				Default string
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(policy.Schema()), &schema); err != nil {
		t.Fatal(err)
	}
	for _, d := range documents(t) {
		if !strings.HasSuffix(d.path, "verdicts.md") {
			continue
		}
		var got []string
		for _, row := range table(t, d, "adjust") {
			got = append(got, code(t, row[0]))
		}
		if diff := cmp.Diff(schema.Defs.Adjust.Enum, got); diff != "" || schema.Defs.Adjust.Default != got[0] {
			t.Errorf("values of adjust (-schema +document), the default first:\n%s", diff)
		}
		return
	}
	t.Error("docs/verdicts.md is not among the documents")
}
