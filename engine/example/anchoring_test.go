package example

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/study"
)

// anchoringFile reads one file of the anchoring example.
func anchoringFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("anchoring", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAnchoringDataAreWhatTheGeneratorWrites(t *testing.T) {
	generated, err := Anchoring(AnchoringSeed)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"items.csv": generated.Items, "draw.csv": generated.Draw, "labels.csv": generated.Labels} {
		if *update {
			if err := os.WriteFile(filepath.Join("anchoring", name), want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(want), anchoringFile(t, name)); diff != "" {
			t.Errorf("%s (-generated +embedded), rewrite it with go test -update:\n%s", name, diff)
		}
	}
}

// TestAnchoringDrawIsTheCommands draws as the command in the policy's comment does, from the file that it names.
func TestAnchoringDrawIsTheCommands(t *testing.T) {
	m := regexp.MustCompile(`oloproof anchoring draw --items (\S+) --rate (\S+) --minimum (\d+) --seed (\S+) > (\S+)\n`).FindStringSubmatch(anchoringFile(t, policyName))
	if m == nil {
		t.Fatal("the policy names no command that made its draw")
	}
	diags := &diag.List{}
	items := study.ReadItems(filepath.Join("anchoring", m[1]), nil, diags)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	rate, err := study.ParseChance(m[2])
	if err != nil {
		t.Fatal(err)
	}
	floor, err := strconv.Atoi(m[3])
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := study.Draw(items, rate, floor, m[4])
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := study.WriteDraw(&got, drawn); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got.String(), anchoringFile(t, m[5])); diff != "" {
		t.Errorf("%s (-drawn +embedded):\n%s", m[5], diff)
	}
}

// labelRow is one row of the anchoring example.
type labelRow struct {
	item, annotator, suggestion, label, visibility, kind, accepted, started, labelled string
}

func readLabels(t fataler, text string) []labelRow {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if lines[0] != "item,annotator,suggestion,label,visibility,kind,accepted,started_at,labelled_at" {
		t.Fatalf("header %s", lines[0])
	}
	var list []labelRow
	for _, line := range lines[1:] {
		c := strings.Split(line, ",")
		if len(c) != 9 {
			t.Fatalf("%q has %d cells", line, len(c))
		}
		list = append(list, labelRow{c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]})
	}
	return list
}

// agreements is what is counted of the labels: rows, those without a label, and those that equal the suggestion.
type agreements struct{ Rows, Missing, Agree int }

// share is the share of the recorded labels that equal the suggestion.
func (a agreements) share() float64 { return float64(a.Agree) / float64(a.Rows-a.Missing) }

// labelFigures counts the labels that were given blind, with the suggestion on the screen, after a disagreement, and of
// answers to verify; and how often a suggestion was accepted.
type labelFigures struct {
	Blind, Visible, Again, Verify agreements
	Accepted, Recorded            int
}

func countLabels(rows []labelRow) labelFigures {
	var f labelFigures
	seen := map[string]bool{}
	for _, r := range rows {
		a := &f.Visible
		switch {
		case r.kind == "verify":
			a = &f.Verify
		case seen[r.item]:
			a = &f.Again
		case r.visibility == study.Blind:
			a = &f.Blind
		}
		seen[r.item] = true
		a.Rows++
		switch r.label {
		case "":
			a.Missing++
		case r.suggestion:
			a.Agree++
		}
		if r.accepted != "" {
			f.Recorded++
			if r.accepted == "1" {
				f.Accepted++
			}
		}
	}
	return f
}

// The counts come from csv.DictReader and collections.Counter in Python 3 over the embedded file.
func TestAnchoringFigures(t *testing.T) {
	want := labelFigures{
		Blind: agreements{54, 2, 45}, Visible: agreements{120, 1, 115}, Again: agreements{1, 0, 1}, Verify: agreements{10, 0, 10},
		Accepted: 107, Recorded: 120,
	}
	if diff := cmp.Diff(want, countLabels(readLabels(t, anchoringFile(t, "labels.csv")))); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}

// TestAnchoringStory: none of the three rules can be decided, by the intervals that the gate rests on, although agreement over
// all labels is the 94 % that the policy's comment says.
func TestAnchoringStory(t *testing.T) {
	f := countLabels(readLabels(t, anchoringFile(t, "labels.csv")))
	b, v := f.Blind, f.Visible
	v.Rows, v.Agree = v.Rows+f.Again.Rows, v.Agree+f.Again.Agree // a relabelling is visible evidence

	if all := (agreements{b.Rows + v.Rows, b.Missing + v.Missing, b.Agree + v.Agree}).share(); math.Round(100*all) != 94 {
		t.Errorf("agreement over all labels is %.4f, not 0.94", all)
	}
	exact := func(a agreements, confidence float64) interval.Interval {
		iv, err := interval.ClopperPearson(a.Agree, a.Missing, a.Rows, confidence)
		if err != nil {
			t.Fatal(err)
		}
		return iv
	}
	if iv := exact(b, 0.95); iv.Lower >= 0.8 || iv.Upper < 0.8 {
		t.Errorf("right-often-enough: %v decides it", iv)
	}
	rest, err := interval.HypergeometricRest(b.Agree, b.Missing, b.Rows, messages, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if rest.Lower >= 0.9 || rest.Upper < 0.9 {
		t.Errorf("may-label-the-rest: %v decides it", rest)
	}
	if gap := interval.RateDifference(exact(v, 0.975), exact(b, 0.975), 0.95); gap.Upper <= 0.1 || gap.Lower > 0.1 {
		t.Errorf("suggestions-pull-little: %v decides it", gap)
	}
}

// TestAnchoringAverages holds the documented averages to the generator, and the seed to its reason.
func TestAnchoringAverages(t *testing.T) {
	// Blind: both are right, or both are wrong with the same of three other labels. Visible: or the suggestion is taken.
	const m, e = modelRight / 1000.0, expertRight / 1000.0
	blind := m*e + (1-m)*(1-e)/3
	visible := blind + (1-blind)*pulled/1000.0
	if got := fmt.Sprintf("%.0f %.0f", 100*blind, 100*visible); got != "87 96" { // of the comment on Anchoring
		t.Errorf("averages %s, documented 87 96", got)
	}
	const seeds = 300
	var sum labelFigures
	for seed := range uint64(seeds) {
		f, err := Anchoring(seed)
		if err != nil {
			t.Fatal(err)
		}
		x := countLabels(readLabels(t, string(f.Labels)))
		for _, pair := range [][2]*agreements{{&sum.Blind, &x.Blind}, {&sum.Visible, &x.Visible}} {
			pair[0].Rows, pair[0].Missing, pair[0].Agree = pair[0].Rows+pair[1].Rows, pair[0].Missing+pair[1].Missing, pair[0].Agree+pair[1].Agree
		}
	}
	for _, test := range []struct {
		got  agreements
		want float64
	}{{sum.Blind, blind}, {sum.Visible, visible}} {
		// Four standard deviations of a share of independent labels.
		if tolerance := 4 * math.Sqrt(test.want*(1-test.want)/float64(test.got.Rows)); math.Abs(test.got.share()-test.want) > tolerance {
			t.Errorf("share %.4f, want %.4f within %.4f", test.got.share(), test.want, tolerance)
		}
	}
	for seed := uint64(2026); ; seed++ {
		f, err := Anchoring(seed)
		if err != nil {
			t.Fatal(err)
		}
		x := countLabels(readLabels(t, string(f.Labels)))
		if math.Abs(x.Blind.share()-blind) <= 0.02 && math.Abs(x.Visible.share()-visible) <= 0.02 {
			if seed != AnchoringSeed {
				t.Errorf("the first seed near the averages is %d, not %d", seed, AnchoringSeed)
			}
			break
		}
	}
}

func TestAnchoringProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		f, err := Anchoring(seed)
		if err != nil {
			t.Fatalf("Anchoring: %v", err)
		}
		again, err := Anchoring(seed)
		if err != nil || cmp.Diff(f, again) != "" {
			t.Fatalf("the same seed gave other bytes, error %v", err)
		}
		blindItems := map[string]bool{}
		lines := strings.Split(strings.TrimSpace(string(f.Draw)), "\n")
		if len(lines) != messages+1 || strings.Count(string(f.Items), "\n") != messages+1 {
			t.Fatalf("%d lines of the draw, %d of the items", len(lines), strings.Count(string(f.Items), "\n"))
		}
		for _, line := range lines[1:] {
			c := strings.Split(line, ",")
			blindItems[c[0]] = c[1] == study.Blind
		}
		rows := readLabels(t, string(f.Labels))
		first := map[string]labelRow{}
		var clock time.Time
		for i, r := range rows {
			blind, known := blindItems[r.item]
			if !known || r.annotator != "expert" || !slices.Contains(kindsOfMessage[:], r.suggestion) || r.label != "" && !slices.Contains(kindsOfMessage[:], r.label) {
				t.Fatalf("row %d: %+v", i+1, r)
			}
			earlier, relabelled := first[r.item]
			switch {
			case relabelled: // shown a suggestion that differs from the blind label
				if i == 0 || earlier != rows[i-1] || earlier.visibility != study.Blind || earlier.label == "" || earlier.label == r.suggestion || r.visibility != study.Visible {
					t.Fatalf("row %d labels again: %+v after %+v", i+1, r, earlier)
				}
			case blind != (r.visibility == study.Blind):
				t.Fatalf("row %d is not as drawn: %+v", i+1, r)
			default:
				first[r.item] = r
			}
			if wanted := r.visibility == study.Visible && r.kind == "label" && r.label != ""; wanted != (r.accepted != "") || r.accepted == "1" && r.label != r.suggestion {
				t.Fatalf("row %d says whether it was accepted: %+v", i+1, r)
			}
			started, err := time.Parse(time.RFC3339, r.started)
			if err != nil || !started.After(clock) {
				t.Fatalf("row %d starts before the one above was over, error %v: %+v", i+1, err, r)
			}
			if clock = started; r.label != "" {
				if clock, err = time.Parse(time.RFC3339, r.labelled); err != nil || !clock.After(started) {
					t.Fatalf("row %d was labelled before it started, error %v: %+v", i+1, err, r)
				}
			} else if r.labelled != "" {
				t.Fatalf("row %d has the time of a label that was not given: %+v", i+1, r)
			}
		}
		blind := 0
		for _, b := range blindItems {
			if b {
				blind++
			}
		}
		x := countLabels(rows)
		if x.Blind.Rows != blind || x.Blind.Missing != 2 || x.Visible.Rows != 120 || x.Visible.Missing != 1 || x.Verify.Rows != 10 || x.Verify.Missing != 0 || x.Again.Rows > 1 {
			t.Fatalf("%d items drawn blind, and %+v", blind, x)
		}
	})
}

func TestAnchoringPolicy(t *testing.T) {
	var got any
	if err := yaml.Unmarshal([]byte(anchoringFile(t, policyName)), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"confidence": 0.95,
		"anchoring": map[string]any{
			"labels": "labels.csv", "draw": "draw.csv", "minimum_blind_sample": 20, // the defaults of the guide to blind items
			"rules": []any{
				map[string]any{"id": "right-often-enough", "metric": "blind_agreement", "minimum": 0.8},
				map[string]any{"id": "may-label-the-rest", "metric": "blind_agreement", "minimum": 0.9, "corpus_size": 300},
				map[string]any{"id": "suggestions-pull-little", "metric": "anchoring_gap", "maximum": 0.1},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
}

func TestAnchoringWorkflow(t *testing.T) {
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
	if err := yaml.Unmarshal([]byte(anchoringFile(t, workflowName)), &got); err != nil {
		t.Fatal(err)
	}
	if _, found := got.On["pull_request"]; !found {
		t.Errorf("the workflow runs on %v, want pull_request among them", got.On)
	}
	steps := got.Jobs["anchoring"].Steps
	if got.Permissions["contents"] != "read" || len(got.Permissions) != 1 || len(steps) != 2 || !strings.HasPrefix(steps[0].Uses, "actions/checkout@") {
		t.Fatalf("permissions %v, steps %v", got.Permissions, steps)
	}
	// The policy beside the workflow, which names the labels and the draw.
	if diff := cmp.Diff(map[string]any{"policy": policyName}, steps[1].With); diff != "" {
		t.Errorf("inputs of the action (-want +got):\n%s", diff)
	}
}
