package interval

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/bounds.golden")

// TestGoldenBounds: several hundred results, to 17 digits, that every architecture must give byte for byte. The
// file guards against change; that the numbers are right is the business of the other tests.
func TestGoldenBounds(t *testing.T) {
	var out bytes.Buffer
	line := func(name string, args any, i Interval, err error) {
		if err != nil {
			t.Fatalf("%s %v: %v", name, args, err)
		}
		fmt.Fprintf(&out, "%s %v %v: %.17g %.17g\n", name, args, i.Confidence, i.Lower, i.Upper)
	}
	for _, confidence := range []float64{0.5, 0.9, 0.95, 0.999} {
		for _, c := range [][3]int{
			{0, 0, 0}, {0, 0, 1}, {1, 0, 1}, {3, 1, 7}, {12, 0, 12}, {1, 0, 40}, {17, 3, 40}, {99, 0, 100}, {52, 10, 400},
			{999, 0, 1000}, {3, 0, 12345}, {50000, 100, 100000}, {999999, 0, 1000000}, {123456, 7, 10000000},
		} {
			i, err := ClopperPearson(c[0], c[1], c[2], confidence)
			line("clopper-pearson", c, i, err)
			i, err = RateSequence(c[0], c[1], c[2], confidence)
			line("rate-sequence", c, i, err)
			i, err = FixedListRate(c[0], c[1], c[2], confidence)
			line("fixed-list-rate", c, i, err)
			i, lo, hi, err := Hypergeometric(c[0], c[1], c[2], 3*c[2]+5, confidence)
			line("hypergeometric", fmt.Sprint(c, lo, hi), i, err)
		}
		for _, n := range []int{1, 2, 5, 13, 60, 250, 900} {
			if testing.Short() && n > 250 {
				break
			}
			lists := designs(n)
			names := make([]string, 0, len(lists))
			for name := range lists {
				names = append(names, name)
			}
			slices.Sort(names)
			for i, name := range names {
				if (i+n)%3 != 0 { // a third of the designs at each size
					continue
				}
				high := slices.Clone(lists[name])
				high[0] = 1 // one unit is missing
				for _, m := range meanMethods {
					iv, err := m.method(lists[name], high, Unit, confidence)
					line(m.name, fmt.Sprintf("%d %s", n, name), iv, err)
				}
			}
		}
		// A sample of few distinct values and very many units, as the planner makes them.
		s := sample{levels: []level{{0.2, 1000}, {0.5, 700_000}, {0.6, 299_000}}}.summed()
		for _, m := range meanMethods {
			fmt.Fprintf(&out, "%s of a million at %v: %.17g\n", m.name, confidence, meanLower(m.end(s, sideError(confidence)), Unit))
		}
	}
	for _, c := range [][2]int{{0, 0}, {3, 1}, {9, 1}, {30, 12}, {55, 45}, {520, 480}, {50500, 49500}, {300, 0}} {
		fmt.Fprintf(&out, "sign test %v: %.17g %.17g %.17g\n", c, SignTest(c[0], c[1]), SignTail(c[0], c[1]), SignSequence(c[0], c[1]))
	}
	r := rand.New(rand.NewPCG(11, 11))
	for _, size := range [][2]int{{3, 8}, {12, 5}, {20, 20}} {
		cells := matrix(size[0], size[1], func(int, int) float64 { return float64(r.IntN(3) - 1) })
		i, err := PairingAverage(cells, cells, 0.95)
		line("pairing-average", size, i, err)
	}
	list := designs(60)["multiples"]
	for _, width := range []float64{0.08, 0.04, 0.02} {
		for _, m := range meanMethods {
			n, more, err := Needed(m.method, list, list, Unit, 0.95, func(i Interval) bool { return i.Width() <= width })
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "needed for %v by %s: %d %v\n", width, m.name, n, more)
		}
	}

	const path = "testdata/bounds.golden"
	if *update {
		if testing.Short() {
			t.Fatal("-update needs the whole test; leave out -short")
		}
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]bool{}
	for text := range bytes.Lines(want) {
		wanted[string(text)] = true
	}
	lines := 0
	for text := range bytes.Lines(out.Bytes()) {
		lines++
		if !wanted[string(text)] {
			t.Errorf("not in %s: %s", path, text)
		}
	}
	if lines < 300 || (!testing.Short() && !bytes.Equal(out.Bytes(), want)) {
		t.Errorf("%d lines here, %d in %s, or in another order", lines, len(wanted), path)
	}
}
