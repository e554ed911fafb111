package cli

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/oloproof/oloproof/engine/audit"
)

// coin is a grid of a cell that is soon done, and of a counterexample in which our rule errs in this share of studies.
func coin(errs float64) func(audit.About) (audit.Grid, error) {
	return func(about audit.About) (audit.Grid, error) {
		about.Gates, about.Studies = []string{"human-ai"}, 20
		g, err := audit.NewGrid(about)
		if err != nil {
			return g, err
		}
		g.Cells = g.Cells[:1]
		g.Counterexamples = []audit.Counterexample{{Name: "coin", Gate: "human-ai", Title: "A coin", Story: "A coin is thrown.", Naive: "half", Ours: "ours", Promise: 0.025, Studies: 100,
			Start: func() (func(r *rand.Rand) (bool, bool, error), error) {
				return func(r *rand.Rand) (bool, bool, error) { return r.Float64() < 0.5, r.Float64() < errs, nil }, nil
			}}}
		return g, nil
	}
}

// TestCoverageStatus: a promise that is broken ends the run with 1 and is said, one that is kept with 0.
func TestCoverageStatus(t *testing.T) {
	for _, c := range []struct {
		errs   float64
		status int
	}{{0, 0}, {0.4, 1}} {
		var stdout, stderr bytes.Buffer
		a := inMemory()
		a.stdout = onto(&stdout)
		a.Stdout, a.Stderr = a.stdout, &stderr
		if err := a.coverage(coverageRequest{seed: "s"}, coin(c.errs)); err != nil {
			t.Fatal(err)
		}
		broken := strings.Contains(stdout.String(), "\n  BROKEN: coin: our rule errs in ")
		if a.status != c.status || broken != (c.status == 1) {
			t.Errorf("errs %v: exit %d\n%s", c.errs, a.status, &stdout)
		}
	}
}

// TestCoverageTellsHowFar: in a log a line a minute, by a clock that goes on by half a minute whenever it is looked at.
func TestCoverageTellsHowFar(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		var stdout, stderr bytes.Buffer
		a := inMemory()
		a.stdout = onto(&stdout)
		a.Stdout, a.Stderr = a.stdout, &stderr
		now := testDay
		a.Now = func() time.Time { now = now.Add(30 * time.Second); return now }
		if err := a.coverage(coverageRequest{seed: "s", quiet: quiet}, coin(0)); err != nil {
			t.Fatal(err)
		}
		lines := strings.Count(stderr.String(), "oloproof: ")
		// 120 studies, half a minute each.
		if quiet && stderr.Len() > 0 || !quiet && (lines < 50 || lines > 70 || !strings.Contains(stderr.String(), "of 2 cells, ") || !strings.Contains(stderr.String(), " left\n")) {
			t.Errorf("quiet: %v, %d lines\n%s", quiet, lines, &stderr)
		}
	}
}

// onto is a standard output that is a buffer.
func onto(b *bytes.Buffer) *stdout { return &stdout{Writer: b} }
