package example

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/interval"
)

// fairnessFile reads one file of the fairness example.
func fairnessFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("fairness", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFairnessDataAreWhatTheGeneratorWrites(t *testing.T) {
	want, err := Fairness(FairnessSeed)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(filepath.Join("fairness", "decided.csv"), want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(want), fairnessFile(t, "decided.csv")); diff != "" {
		t.Errorf("decided.csv (-generated +embedded), rewrite it with go test -update:\n%s", diff)
	}
}

// group is what is counted of a group of applications. Those without a prediction are in Cases and Repaid, and in
// nothing else.
type group struct {
	Cases, Repaid            int
	Predicted, RepaidDecided int // with a prediction, and those of them that were repaid
	Granted, Refused, Right  int // predicted 1; predicted 0 but repaid; predicted as it came
}

// countGroups counts the groups of each attribute and of both crossed, as "female × over_60".
func countGroups(t fataler, text string) map[string]group {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if lines[0] != "id,label,prediction,score,sex,age_band" {
		t.Fatalf("header %s", lines[0])
	}
	groups := map[string]group{}
	for _, line := range lines[1:] {
		c := strings.Split(line, ",")
		if len(c) != 6 {
			t.Fatalf("%q has %d cells", line, len(c))
		}
		label, prediction := c[1], c[2]
		for _, name := range []string{c[4], c[5], c[4] + " × " + c[5]} {
			g := groups[name]
			g.Cases++
			if label == "1" {
				g.Repaid++
			}
			if prediction != "" {
				g.Predicted++
				if label == "1" {
					g.RepaidDecided++
				}
				if prediction == "1" {
					g.Granted++
				}
				if label == "1" && prediction == "0" {
					g.Refused++
				}
				if label == prediction {
					g.Right++
				}
			}
			groups[name] = g
		}
	}
	return groups
}

// The counts come from csv.DictReader and collections.Counter in Python 3 over the embedded file.
func TestFairnessFigures(t *testing.T) {
	want := map[string]group{
		"":                  {40, 21, 39, 21, 26, 0, 34},
		"30_to_60":          {1988, 1222, 1974, 1212, 1142, 181, 1682},
		"female":            {1785, 1098, 1774, 1092, 956, 232, 1446},
		"female × ":         {18, 7, 17, 7, 11, 0, 13},
		"female × 30_to_60": {1002, 608, 995, 603, 527, 132, 807},
		"female × over_60":  {29, 18, 29, 18, 16, 5, 21},
		"female × under_30": {728, 462, 725, 461, 399, 95, 597},
		"female × unknown":  {8, 3, 8, 3, 3, 0, 8},
		"male":              {2215, 1351, 2202, 1341, 1392, 100, 1951},
		"male × ":           {22, 14, 22, 14, 15, 0, 21},
		"male × 30_to_60":   {986, 614, 979, 609, 615, 49, 875},
		"male × over_60":    {504, 285, 502, 283, 307, 23, 432},
		"male × under_30":   {697, 435, 694, 433, 452, 28, 619},
		"male × unknown":    {6, 3, 5, 2, 3, 0, 4},
		"over_60":           {533, 303, 531, 301, 323, 28, 453},
		"under_30":          {1425, 897, 1419, 894, 851, 123, 1216},
		"unknown":           {14, 6, 13, 5, 6, 0, 12},
	}
	if diff := cmp.Diff(want, countGroups(t, fairnessFile(t, "decided.csv"))); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}

// of is the interval of a rate of one of several groups, with its missing predictions completed both ways.
func of(t *testing.T, events, missing, cases, groups int) interval.Interval {
	t.Helper()
	iv, err := interval.GroupRate(interval.Tally{K: events, N: cases}, interval.Tally{K: events + missing, N: cases}, 0.95, groups)
	if err != nil {
		t.Fatal(err)
	}
	return iv
}

// TestFairnessStory: each of the four rules shows another answer, by the intervals that the gate rests on.
func TestFairnessStory(t *testing.T) {
	g := countGroups(t, fairnessFile(t, "decided.csv"))
	refused := func(name string, groups int) interval.Interval {
		c := g[name]
		return of(t, c.Refused, c.Repaid-c.RepaidDecided, c.Repaid, groups)
	}

	if gap := interval.GroupGap(refused("female", 2), refused("male", 2), 0.95); gap.Lower <= 0.05 {
		t.Errorf("fnr-by-sex: the gap is %v, not above 0.05 throughout", gap)
	}

	var small, crossed []string
	for name, c := range g {
		if strings.Contains(name, " × ") && !strings.HasSuffix(name, " × ") && !strings.HasSuffix(name, " × unknown") {
			crossed = append(crossed, name)
			if c.RepaidDecided < 30 {
				small = append(small, name)
			}
		}
	}
	slices.Sort(crossed)
	if diff := cmp.Diff([]string{"female × over_60"}, small); diff != "" || len(crossed) != 6 {
		t.Errorf("fnr-crossed: %d groups, the small ones (-want +got):\n%s", len(crossed), diff)
	}
	for i, a := range crossed {
		for _, b := range crossed[:i] {
			if gap := interval.GroupGap(refused(a, 6), refused(b, 6), 0.95); gap.Lower > 0.1 {
				t.Errorf("fnr-crossed: the gap of %s and %s is %v, above 0.1 throughout", a, b, gap)
			}
		}
	}

	leftOut := 0 // wrong or unanswered applications without a declared age, which may belong to any age band
	for _, name := range []string{"", "unknown"} {
		leftOut += g[name].Cases - g[name].Right
	}
	for name, survives := range map[string]bool{"under_30": true, "30_to_60": true, "over_60": false} {
		c := g[name]
		if iv := of(t, c.Right, c.Cases-c.Predicted, c.Cases, 3); iv.Lower < 0.8 {
			t.Errorf("every-age-served: %s is %v, not at least 0.8 throughout", name, iv)
		}
		// What the report says beside the PASS: that it rests on the cases whose age is recorded.
		if iv := of(t, c.Right, 0, c.Cases+leftOut, 3); (iv.Lower >= 0.8) != survives {
			t.Errorf("every-age-served: with the wrong cases that were left out, %s is %v; at least 0.8: want %t", name, iv, survives)
		}
	}

	female, male := g["female"], g["male"]
	f := of(t, female.Granted, female.Cases-female.Predicted, female.Cases, 2)
	m := of(t, male.Granted, male.Cases-male.Predicted, male.Cases, 2)
	if f.Lower >= 0.8*m.Upper || f.Upper < 0.8*m.Lower {
		t.Errorf("four-fifths: %v and %v decide it", f, m)
	}
}

// averages are what the generator's model gives, computed from its chances and not by drawing: of women and of men, the
// share granted and the share refused of those repaid, in per cent.
func averages() map[string][2]float64 {
	list := map[string][2]float64{}
	for _, sex := range []string{"female", "male"} {
		var repaid, granted, refused float64
		for _, kind := range []struct{ perMille, least, most int }{
			{sound, leastSound, mostSound}, {risky, leastRisky, mostRisky}, {1000 - sound - risky, leastMiddle, mostMiddle},
		} {
			for p := kind.least; p <= kind.most; p++ {
				weight := float64(kind.perMille) / 1000 / float64(kind.most-kind.least+1)
				yes := 0.0 // the chance that the score, without a drop, is enough
				for noise := -scoreNoise; noise <= scoreNoise; noise++ {
					if p+noise >= grantedFrom {
						yes += 1.0 / (2*scoreNoise + 1)
					}
				}
				if sex == "female" && kind.least == leastSound { // a drop may leave enough
					kept := 0.0
					for noise := -scoreNoise; noise <= scoreNoise; noise++ {
						for drop := leastDrop; drop <= mostDrop; drop++ {
							if p+noise-drop >= grantedFrom {
								kept++
							}
						}
					}
					kept /= (2*scoreNoise + 1) * (mostDrop - leastDrop + 1)
					yes += career / 1000.0 * (kept - yes)
				}
				repays := float64(p) / 1000
				repaid += weight * repays
				granted += weight * yes
				refused += weight * repays * (1 - yes)
			}
		}
		list[sex] = [2]float64{100 * granted, 100 * refused / repaid}
	}
	return list
}

// shares are the same of one file.
func shares(g group) [2]float64 {
	return [2]float64{100 * float64(g.Granted) / float64(g.Predicted), 100 * float64(g.Refused) / float64(g.RepaidDecided)}
}

// TestFairnessAverages also holds the documented figures to the model, and the seed to its reason.
func TestFairnessAverages(t *testing.T) {
	want := averages()
	for sex, documented := range map[string]string{"female": "54 22", "male": "64 8"} { // of the comment on Fairness
		if got := fmt.Sprintf("%.0f %.0f", want[sex][0], want[sex][1]); got != documented {
			t.Errorf("%s: granted and refused %s, documented %s", sex, got, documented)
		}
	}
	const seeds = 100
	sum := map[string]group{}
	for seed := range uint64(seeds) {
		text, err := Fairness(seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, sex := range []string{"female", "male"} {
			g, s := countGroups(t, string(text))[sex], sum[sex]
			s.Granted, s.Predicted, s.Refused, s.RepaidDecided = s.Granted+g.Granted, s.Predicted+g.Predicted, s.Refused+g.Refused, s.RepaidDecided+g.RepaidDecided
			sum[sex] = s
		}
	}
	for sex, s := range sum {
		for i, n := range []int{s.Predicted, s.RepaidDecided} {
			// Four standard deviations of a share of independent cases, in per cent.
			p, got := want[sex][i]/100, shares(s)[i]
			if tolerance := 400 * math.Sqrt(p*(1-p)/float64(n)); math.Abs(got-100*p) > tolerance {
				t.Errorf("%s: share %d is %.2f %%, want %.2f within %.2f", sex, i, got, 100*p, tolerance)
			}
		}
	}
	for seed := uint64(2026); ; seed++ {
		text, err := Fairness(seed)
		if err != nil {
			t.Fatal(err)
		}
		near := true
		for sex, w := range want {
			got := shares(countGroups(t, string(text))[sex])
			near = near && math.Abs(got[0]-w[0]) <= 1 && math.Abs(got[1]-w[1]) <= 1
		}
		if near {
			if seed != FairnessSeed {
				t.Errorf("the first seed near the averages is %d, not %d", seed, FairnessSeed)
			}
			break
		}
	}
}

func TestFairnessProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		text, err := Fairness(seed)
		if err != nil {
			t.Fatalf("Fairness: %v", err)
		}
		again, err := Fairness(seed)
		if err != nil || string(text) != string(again) {
			t.Fatalf("the same seed gave other bytes, error %v", err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if len(lines) != 4001 {
			t.Fatalf("%d lines, want a header and 4,000 applications", len(lines))
		}
		unanswered := 0
		for i, line := range lines[1:] {
			c := strings.Split(line, ",")
			if c[0] != fmt.Sprintf("L%04d", i+1) || c[1] != "0" && c[1] != "1" || c[4] != "female" && c[4] != "male" {
				t.Fatalf("row %d: %s", i+1, line)
			}
			switch {
			case c[2] == "" && c[3] == "":
				unanswered++
			case c[2] == "1" && c[3] >= "0.50" && c[3] <= "0.99", c[2] == "0" && c[3] >= "0.01" && c[3] < "0.50":
			default:
				t.Fatalf("row %d has a prediction that does not follow its score: %s", i+1, line)
			}
		}
		g := countGroups(t, string(text))
		if unanswered != 24 || g[""].Cases != 40 || g["unknown"].Cases != 14 {
			t.Fatalf("%d unanswered, %d without an age band, %d of an undeclared one; want 24, 40 and 14", unanswered, g[""].Cases, g["unknown"].Cases)
		}
	})
}

// The rules are those of the guide to parity between groups, and a floor and a ratio.
func TestFairnessDeclaration(t *testing.T) {
	var got any
	if err := yaml.Unmarshal([]byte(fairnessFile(t, "fairness.yaml")), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"confidence": 0.95,
		"fairness": map[string]any{
			"name": "loan-screen", "cases": "decided.csv", "id": "id", "label": "label", "prediction": "prediction", "probability": "score",
			"attributes":    map[string]any{"sex": []any{"female", "male"}, "age_band": []any{"under_30", "30_to_60", "over_60"}},
			"intersections": []any{[]any{"sex", "age_band"}},
			"min_cell":      30, "calibration_bins": 10,
			"rules": []any{
				map[string]any{"id": "fnr-by-sex", "rate": "false_negative", "attribute": "sex", "max_group_gap": 0.05},
				map[string]any{"id": "fnr-crossed", "rate": "false_negative", "attribute": []any{"sex", "age_band"}, "max_group_gap": 0.1},
				map[string]any{"id": "every-age-served", "rate": "accuracy", "attribute": "age_band", "worst_group": map[string]any{"minimum": 0.8}},
				map[string]any{"id": "four-fifths", "rate": "selection", "attribute": "sex", "min_group_ratio": 0.8},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("declaration (-want +got):\n%s", diff)
	}
}

func TestFairnessWorkflow(t *testing.T) {
	var got struct {
		On          map[string]any
		Permissions map[string]string
		Jobs        map[string]struct {
			Steps []struct {
				Uses string
				With map[string]any
			}
		}
	}
	if err := yaml.Unmarshal([]byte(fairnessFile(t, "workflow.yml")), &got); err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{"pull_request", "schedule"} {
		if _, found := got.On[event]; !found {
			t.Errorf("the workflow runs on %v, want %s among them", got.On, event)
		}
	}
	steps := got.Jobs["fairness"].Steps
	if got.Permissions["contents"] != "read" || len(got.Permissions) != 1 || len(steps) != 2 || !strings.HasPrefix(steps[0].Uses, "actions/checkout@") {
		t.Fatalf("permissions %v, steps %v", got.Permissions, steps)
	}
	// The declaration beside the workflow, which names the file of cases.
	if diff := cmp.Diff(map[string]any{"policy": "fairness.yaml"}, steps[1].With); diff != "" {
		t.Errorf("inputs of the action (-want +got):\n%s", diff)
	}
}
