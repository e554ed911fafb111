package interval

import (
	"math"
	"slices"
	"testing"
)

func narrower(width float64) func(Interval) bool {
	return func(i Interval) bool { return i.Width() <= width }
}

// TestNeededForWidth: the numbers published for a width of .5 at 95 %, for normal-shaped data of standard deviation s on
// [-1, 1] (intervals, section 6). The sample here is 401 quantiles of that shape; the published ones are of another, so that
// an answer may differ by one or two units.
func TestNeededForWidth(t *testing.T) {
	for i, s := range []float64{0, .1, .2, .3, .4, .5, .6} {
		once := []int{13, 14, 14, 16, 19, 23, 26}[i]
		sequence := []int{19, 19, 20, 22, 26, 35, 45}[i]
		for _, c := range []struct {
			method MeanMethod
			want   int
		}{{Dirichlet, once}, {UniformMixture, sequence}} {
			// The smallest present sample, so that the search starts below the answer.
			got := 0
			for n := 2; n < 100 && got == 0; n++ {
				list := normalQuantiles(n, s)
				if must(t, c.method, list, list, Difference, 0.95).Width() <= 0.5 {
					got = n
				}
			}
			if math.Abs(float64(got-c.want)) > 0.1*float64(c.want)+1 {
				t.Errorf("s = %v: the width is .5 from %d units on, published %d", s, got, c.want)
			}
			// From a present sample of six people the planner must come to about the same.
			list := normalQuantiles(6, s)
			n, more, err := Needed(c.method, list, list, Difference, 0.95, narrower(0.5))
			if err != nil || more || math.Abs(float64(n-c.want)) > 0.35*float64(c.want)+2 {
				t.Errorf("s = %v from six people: %d, %v, %v; published %d", s, n, more, err, c.want)
			}
		}
	}
}

// normalQuantiles returns n quantiles of a normal law of mean 0, held to [-1, 1], that have standard deviation s but for that.
func normalQuantiles(n int, s float64) []float64 {
	list := make([]float64, n)
	square := 0.0
	for i := range list {
		list[i] = math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/float64(n)-1)
		square += list[i] * list[i] / float64(n)
	}
	for i := range list {
		list[i] = math.Min(1, math.Max(-1, s*list[i]/math.Sqrt(square)))
	}
	return list
}

// TestNeededIsWhatItSays: the answer's own interval is as wanted, one a little smaller is not, and what will do already
// needs no more.
func TestNeededIsWhatItSays(t *testing.T) {
	list := designs(60)["multiples"]
	sorted := slices.Sorted(slices.Values(list))
	width := func(n int) float64 {
		return must(t, UniformMixture, stretch(sorted, n, false), stretch(sorted, n, true), Unit, 0.95).Width()
	}
	for _, wanted := range []float64{0.08, 0.03, 0.01} {
		n, more, err := Needed(UniformMixture, list, list, Unit, 0.95, narrower(wanted))
		if err != nil || more {
			t.Fatal(n, more, err)
		}
		if width(n) > wanted || width(n-1-n/256) <= wanted {
			t.Errorf("%d units for %v: width %v, and %v a little below", n, wanted, width(n), width(n-1-n/256))
		}
	}
	for _, c := range []struct {
		list   []float64
		enough func(Interval) bool
		n      int
		more   bool
	}{
		{list, narrower(1), 60, false},
		{list, narrower(1e-5), MostNeeded, true},
		{nil, narrower(0.1), 0, false},
	} {
		if n, more, err := Needed(UniformMixture, c.list, c.list, Unit, 0.95, c.enough); n != c.n || more != c.more || err != nil {
			t.Errorf("%d, %v, %v; want %d, %v", n, more, err, c.n, c.more)
		}
	}
}

func TestNeededRate(t *testing.T) {
	atLeast := func(p float64) func(Interval) bool { return func(i Interval) bool { return i.Lower >= p } }
	for _, c := range []struct {
		k, missing, n int
		repeated      bool
		enough        func(Interval) bool
		units         int
		more          bool
	}{
		{10, 0, 10, false, atLeast(0.9), 36, false},   // audit, section 7g: .9 needs 36 without a disagreement
		{10, 0, 10, false, atLeast(0.95), 72, false},  // and .95 needs 72
		{0, 0, 10, false, narrower(0.01), 368, false}, // 1 − .025^(1/n) <= .01: n = ln(.025)/ln(.99) = 367.04
		{10, 0, 10, false, atLeast(0.69), 10, false},  // .6915 already
		{5, 0, 10, false, atLeast(0.5), MostNeeded, true},
		{5, 5, 10, false, narrower(0.4), MostNeeded, true}, // missing ones stay missing
		{0, 0, 0, false, narrower(0.1), 0, false},
	} {
		n, more, err := NeededRate(c.k, c.missing, c.n, 0.95, c.repeated, c.enough)
		if n != c.units || more != c.more || err != nil {
			t.Errorf("%d + %d of %d: %d, %v, %v; want %d, %v", c.k, c.missing, c.n, n, more, err, c.units, c.more)
		}
	}
	once, _, err := NeededRate(30, 1, 50, 0.95, false, narrower(0.1))
	if err != nil {
		t.Fatal(err)
	}
	repeated, _, err := NeededRate(30, 1, 50, 0.95, true, narrower(0.1))
	if err != nil || repeated <= once {
		t.Errorf("repeated looks need %d (%v), one look %d", repeated, err, once)
	}
}

func TestNeededErrors(t *testing.T) {
	one := []float64{0.5}
	for name, do := range map[string]func() error{
		"lists differ": func() error { _, _, err := Needed(Dirichlet, one, nil, Unit, 0.95, narrower(1)); return err },
		"NaN": func() error {
			_, _, err := Needed(Dirichlet, []float64{math.NaN()}, one, Unit, 0.95, narrower(1))
			return err
		},
		"confidence": func() error { _, _, err := Needed(Dirichlet, one, one, Unit, 2, narrower(1)); return err },
		"k above n":  func() error { _, _, err := NeededRate(3, 0, 2, 0.95, false, narrower(1)); return err },
		"negative n": func() error { _, _, err := NeededRate(0, 0, -2, 0.95, true, narrower(1)); return err },
	} {
		if do() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
