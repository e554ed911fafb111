package oracle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// studies is how many studies are drawn for each gate.
func studies(t *testing.T) int {
	t.Helper()
	if text := os.Getenv("OLOPROOF_STUDIES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("OLOPROOF_STUDIES is %q; write a number of studies", text)
		}
		return n
	}
	switch {
	case os.Getenv("OLOPROOF_NIGHTLY") != "":
		return 20_000
	case testing.Short():
		return 30
	}
	return 150
}

// eachStudy draws the studies of seeds 1 to N and checks each. It returns what occurred, and whether N is the default
// number, of which counts may be asserted.
func eachStudy(t *testing.T, draw func(*rand.Rand) Study) (tally Tally, usual bool) {
	t.Helper()
	tally = Tally{}
	folder := t.TempDir()
	if text := os.Getenv("OLOPROOF_STUDY"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("OLOPROOF_STUDY is %q; write the seed of a study", text)
		}
		study, _ := oneStudy(t, folder, seed, draw, tally)
		t.Logf("study %d: %q", seed, study.Args)
		for _, name := range slices.Sorted(maps.Keys(study.Files)) {
			t.Logf("%s:\n%s", name, study.Files[name])
		}
		t.Logf("what occurred in study %d:\n%s", seed, tally)
		return tally, false
	}
	n, failed := studies(t), 0
	for seed := uint64(1); seed <= uint64(n); seed++ {
		if _, same := oneStudy(t, folder, seed, draw, tally); !same {
			if failed++; failed == 20 {
				t.Fatalf("20 studies differ up to seed %d; the others were not looked at", seed)
			}
		}
	}
	t.Logf("what occurred in %d studies:\n%s", n, tally)
	return tally, n == 150
}

// oneStudy draws and checks the study of a seed, in a folder of its own within the given one.
func oneStudy(t *testing.T, within string, seed uint64, draw func(*rand.Rand) Study, tally Tally) (study Study, same bool) {
	t.Helper()
	folder := filepath.Join(within, "study")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	study = draw(rand.New(rand.NewPCG(seed, seed)))
	found := study.Check(folder, tally)
	if study.OnBounds != nil && len(found) == 0 {
		if printed, _, problem := study.Run(folder); problem == "" && printed.ExitStatus != 2 {
			study = study.OnBounds(printed)
			for _, f := range study.Check(folder, tally) {
				found = append(found, "with thresholds on printed bounds: "+f)
			}
		}
	}
	if len(found) > 0 {
		text := strings.Join(found[:min(len(found), 12)], "\n  ")
		if len(found) > 12 {
			text += fmt.Sprintf("\n  and %d more", len(found)-12)
		}
		t.Errorf("study %d differs; to run only it: OLOPROOF_STUDY=%d go test -count=1 -v -run '^%s$' ./test/oracle\n  %s", seed, seed, t.Name(), text)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	return study, len(found) == 0
}

// demand fails the test unless every verdict occurs ten times, every one by comparison with an interval too, and every reason once.
func (tally Tally) demand(t *testing.T, reasons ...string) {
	t.Helper()
	for _, v := range []string{Pass, Fail, Insufficient, Review} {
		if tally["verdict "+v] < 10 || tally["run "+v] == 0 {
			t.Errorf("%d rules and %d runs are %s: too few to say anything", tally["verdict "+v], tally["run "+v], v)
		}
		if v != Review && tally["because the interval: "+v] < 10 {
			t.Errorf("%d rules are %s by their interval: too few to say anything", tally["because the interval: "+v], v)
		}
	}
	for _, reason := range append(reasons, "waived "+Fail, "waived "+Insufficient) {
		if tally["because "+reason] == 0 {
			t.Errorf("no rule is decided because of %q", reason)
		}
	}
	if tally["exit 2"] == 0 {
		t.Error("no study that cannot be used")
	}
}
