package audit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/report"
)

// TestAskDecides: rows in memory come to what a file with them comes to: five of ten trials passed against ten of ten.
func TestAskDecides(t *testing.T) {
	setup, err := Policy(kinds.Lookup("compare"), "baseline: old\ncandidate: new\nrules: [{id: up, metric: pass_rate_difference, minimum: -0.9}]", gate.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	questions, _, err := setup()
	if err != nil {
		t.Fatal(err)
	}
	names := Columns(questions[0])[0]
	study := Study{nil}
	for _, version := range []string{"old", "new"} {
		for c := range 40 {
			row := make([]string, len(names))
			row[slices.Index(names, "version")], row[slices.Index(names, "case")] = version, fmt.Sprint(c)
			row[slices.Index(names, "passed")] = "1"
			if version == "old" && c%2 == 0 {
				row[slices.Index(names, "passed")] = "0"
			}
			study[0] = append(study[0], row)
		}
	}
	rules, err := setup.Ask(study)
	if err != nil {
		t.Fatal(err)
	}
	if r := rules[0][0]; r.Verdict != report.Pass || *r.Estimate != 0.5 {
		t.Errorf("%s with the estimate %v, want PASS with 0.5", r.Verdict, *r.Estimate)
	}
	changed := study.Clone()
	changed[0][0][slices.Index(names, "passed")] = "perhaps"
	if _, err := setup.Ask(changed); err == nil {
		t.Error("a row that cannot be read was taken")
	}
	if study[0][0][slices.Index(names, "passed")] != "0" {
		t.Error("a clone shares its rows")
	}
}

// TestRepeatIsTheSameOnAnyCores: results depend on the seed, the name and the repetition alone.
func TestRepeatIsTheSameOnAnyCores(t *testing.T) {
	draw := func(cores int, seed, name string) []uint64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		list, err := Repeat(context.Background(), seed, name, 50, nil, func(r *rand.Rand, _ int) (uint64, error) { return r.Uint64(), nil })
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	one := draw(1, "s", "a")
	if diff := cmp.Diff(one, draw(4, "s", "a")); diff != "" {
		t.Error(diff)
	}
	if slices.Equal(one, draw(1, "s", "b")) || slices.Equal(one, draw(1, "t", "a")) || one[0] == one[1] {
		t.Error("another name, seed or repetition has the same source")
	}
	fault := errors.New("fault")
	if _, err := Repeat(context.Background(), "s", "a", 50, nil, func(_ *rand.Rand, i int) (int, error) {
		if i == 7 {
			return 0, fault
		}
		return i, nil
	}); !errors.Is(err, fault) {
		t.Errorf("the error is %v, want the fault", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Repeat(ended, "s", "a", 3, nil, func(*rand.Rand, int) (int, error) { return 0, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want canceled", err)
	}
}

// TestAbove: the tail of 1,000 at .025 is .00306 from 40 on and 5.0e-6 from 50 on, 1.13e-9 from 60 on (exact sums in Python): 40
// is not above in one test at .001 and 50 is; among 1,000 tests, at 1e-6 each, 50 is not and 60 is.
func TestAbove(t *testing.T) {
	for _, c := range []struct {
		count, tests int
		want         bool
	}{{40, 1, false}, {50, 1, true}, {50, 1000, false}, {60, 1000, true}} {
		got, err := Share{c.count, 1000}.Above(0.025, c.tests)
		if err != nil || got != c.want {
			t.Errorf("%d of 1000 among %d tests: %v, %v, want %v", c.count, c.tests, got, err, c.want)
		}
	}
}
