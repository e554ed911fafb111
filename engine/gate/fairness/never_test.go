package fairness

import (
	"testing"

	"github.com/oloproof/oloproof/engine/gate"
)

// TestNeverAtMinCell: what groups of just min_cell cases can never show is said without data. With two groups the error on a side is
// .0125: 0 of 30 reach up to 1 − .0125^(1/30) = .1359, and 85 are the last to reach above .05 (1 − .0125^(1/85) = .0503, /86 = .0497). 30 of 30
// reach down to .8641, 32 to .8720 and 42 to .9009; pairwise, where a floor's error is not divided to pass, 30 to .025^(1/30) = .8843.
func TestNeverAtMinCell(t *testing.T) {
	for _, c := range []struct{ rule, want string }{
		{"rate: error, max_group_gap: 0.05", "rule a can never pass with 30 cases in each group, which min_cell lets count, whatever they show; from 86 in each group on it can"},
		{"rate: error, max_group_gap: 0.136", ""},
		{"rate: error, max_group_gap: 0", "rule a can never pass with 30 cases in each group, which min_cell lets count, whatever they show; no number of cases changes that"},
		{"rate: accuracy, worst_group: {minimum: 0.86}", ""},
		{"rate: accuracy, worst_group: {minimum: 0.87}", "rule a can never pass with 30 cases in each group, which min_cell lets count, whatever they show; from 32 in each group on it can"},
		{"rate: accuracy, worst_group: {minimum: 0.87}, interval: pairwise", ""},
		{"rate: error, worst_group: {maximum: 0.05}", "rule a can never pass with 30 cases in each group, which min_cell lets count, whatever they show; from 86 in each group on it can"},
		{"rate: error, worst_group: {maximum: 0.95}", "rule a can never fail with 30 cases in each group, which min_cell lets count, whatever they show; from 86 in each group on it can"},
		{"rate: selection, min_group_ratio: 0.9", "rule a can never pass with 30 cases in each group, which min_cell lets count, whatever they show; from 42 in each group on it can"},
		{"rate: selection, min_group_ratio: 0.8", ""},
	} {
		ask := run{verb: gate.Decide, declaration: bySex(c.rule), names: []string{"c.csv"}}
		got := ""
		for _, d := range compileSound(t, ask).Prospects() {
			got += d.Message
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.rule, got, c.want)
		}
	}
}
