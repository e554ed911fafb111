package interval

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// TestErrors: what cannot be computed is refused, in words that say what was found and what is allowed.
func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	mean := func(low, high []float64, scale Scale, confidence float64) func() error {
		return func() error {
			for _, m := range meanMethods {
				if i, err := m.method(low, high, scale, confidence); err == nil || i != (Interval{}) {
					return nil
				}
			}
			_, err := UniformMixture(low, high, scale, confidence)
			return err
		}
	}
	rate := func(k, missing, n int, confidence float64) func() error {
		return func() error {
			if i, err := RateSequence(k, missing, n, confidence); err == nil || i != (Interval{}) {
				return nil
			}
			_, err := ClopperPearson(k, missing, n, confidence)
			return err
		}
	}
	median := func(low, high []float64, confidence float64) func() error {
		return func() error { _, err := Median(low, high, confidence); return err }
	}
	corpus := func(x, missing, n, N int, confidence float64) func() error {
		return func() error { _, _, _, err := Hypergeometric(x, missing, n, N, confidence); return err }
	}
	one := []float64{0.5}
	for name, c := range map[string]struct {
		do   func() error
		want string
	}{
		"confidence 1":        {rate(1, 0, 2, 1), "confidence is 1; it must be at least 0.5 and below 1"},
		"confidence 95":       {mean(one, one, Unit, 95), "confidence is 95"},
		"confidence NaN":      {median(one, one, nan), "confidence is NaN"},
		"confidence .4":       {corpus(1, 0, 2, 3, 0.4), "confidence is 0.4"},
		"k above n":           {rate(3, 0, 2, 0.95), "3 events and 0 missing exceed the denominator 2"},
		"missing above n":     {rate(1, 2, 2, 0.95), "1 events and 2 missing exceed"},
		"missing overflows":   {rate(1, math.MaxInt, 2, 0.95), "exceed the denominator 2"},
		"negative k":          {rate(-1, 0, 2, 0.95), "neither can be negative"},
		"negative missing":    {corpus(1, -1, 2, 3, 0.95), "neither can be negative"},
		"negative n":          {rate(0, 0, -1, 0.95), "the denominator is -1"},
		"too many":            {rate(0, 0, maxCount+1, 0.95), "from 0 to 1000000000000"},
		"corpus too small":    {corpus(1, 0, 3, 2, 0.95), "the corpus has 2 items; it must have at least the 3 drawn"},
		"corpus too big":      {corpus(1, 0, 3, maxCount+1, 0.95), "at most 1000000000000"},
		"NaN value":           {mean([]float64{0, nan}, []float64{0, nan}, Unit, 0.95), "value 2 is NaN"},
		"NaN above":           {mean([]float64{0}, []float64{nan}, Unit, 0.95), "value 1 is 0 to NaN"},
		"infinite value":      {mean([]float64{0}, []float64{inf}, Unit, 0.95), "must lie on the scale, 0 to 1"},
		"off the scale":       {mean([]float64{1.0001}, []float64{1.0001}, Unit, 0.95), "value 1 is 1.0001 to 1.0001; it must lie on the scale, 0 to 1"},
		"just off the scale":  {mean([]float64{-2e-12}, []float64{0}, Unit, 0.95), "must lie on the scale"},
		"low above high":      {mean([]float64{0.5}, []float64{0.4}, Unit, 0.95), "the lower completion 0.5 above the upper one 0.4"},
		"lists differ":        {mean(one, nil, Unit, 0.95), "1 values for the lower end and 0 for the upper"},
		"scale reversed":      {mean(one, one, Scale{1, 0}, 0.95), "the scale is 1 to 0"},
		"scale infinite":      {mean(one, one, Scale{0, inf}, 0.95), "its ends must be finite"},
		"scale NaN":           {mean(one, one, Scale{nan, 1}, 0.95), "its ends must be finite"},
		"median of NaN":       {median([]float64{nan}, []float64{nan}, 0.95), "value 1 is NaN to NaN"},
		"median reversed":     {median([]float64{2}, []float64{1}, 0.95), "the first not above the second"},
		"median lists differ": {median(one, nil, 0.95), "as many of each"},
	} {
		err := c.do()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %q, want one with %q", name, err, c.want)
		}
	}
	// A rounding excess of a sum is taken for the end of the scale.
	excess := must(t, Dirichlet, []float64{1 + 1e-13, -1e-13}, []float64{1 + 1e-13, 0}, Unit, 0.95)
	exact := must(t, Dirichlet, []float64{1, 0}, []float64{1, 0}, Unit, 0.95)
	if excess != exact {
		t.Errorf("with a rounding excess %v, without %v", excess, exact)
	}
}

// FuzzMeans: any bytes as numbers give an interval on the scale or an error, never a panic or a NaN.
func FuzzMeans(f *testing.F) {
	f.Add([]byte{}, 0.95)
	f.Add(binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.5)), 0.95)
	f.Add(binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN())), 0.5)
	f.Add(binary.LittleEndian.AppendUint64(nil, math.Float64bits(5e-324)), 0.99)
	f.Add(binary.LittleEndian.AppendUint64(nil, math.Float64bits(1e-17)), 0.9999999999999999)
	f.Fuzz(func(t *testing.T, data []byte, confidence float64) {
		var list []float64
		for len(data) >= 8 && len(list) < 300 {
			list = append(list, math.Float64frombits(binary.LittleEndian.Uint64(data)))
			data = data[8:]
		}
		for _, m := range meanMethods {
			for _, scale := range []Scale{Unit, Difference} {
				i, err := m.method(list, list, scale, confidence)
				if err != nil {
					continue
				}
				mean := 0.0
				for _, x := range list {
					mean += x / float64(len(list))
				}
				if !(scale.Lower <= i.Lower && i.Lower <= i.Upper && i.Upper <= scale.Upper) {
					t.Errorf("%s of %v at %v: %v", m.name, list, confidence, i)
				}
				if len(list) > 0 && !(i.Lower <= mean+1e-11 && mean-1e-11 <= i.Upper) {
					t.Errorf("%s of %v at %v: %v does not hold the mean %v", m.name, list, confidence, i, mean)
				}
			}
		}
		if i, err := Median(list, list, confidence); err == nil && !(i.Lower <= i.Upper) {
			t.Errorf("median of %v at %v: %v", list, confidence, i)
		}
	})
}

// FuzzCounts: the same for functions of counts.
func FuzzCounts(f *testing.F) {
	f.Add(3, 1, 10, 50, 0.95)
	f.Add(0, 0, 0, 0, 0.5)
	f.Add(-1, math.MaxInt, math.MinInt, 7, math.NaN())
	f.Add(999_999_999_999, 0, 1_000_000_000_000, 1_000_000_000_000, 0.9999999999999999)
	f.Fuzz(func(t *testing.T, k, missing, n, N int, confidence float64) {
		if n > 10_000_000 {
			n %= 10_000_000 // the largest counts are slow for a fuzzer; TestBigCounts has them
		}
		for _, method := range []func(int, int, int, float64) (Interval, error){ClopperPearson, RateSequence} {
			if i, err := method(k, missing, n, confidence); err == nil && !(0 <= i.Lower && i.Lower <= i.Upper && i.Upper <= 1) {
				t.Errorf("%d + %d of %d at %v: %v", k, missing, n, confidence, i)
			}
		}
		if i, lo, hi, err := Hypergeometric(k, missing, n, N, confidence); err == nil && !(lo <= hi && 0 <= lo && hi <= N && i.Lower <= i.Upper) {
			t.Errorf("%d + %d of %d of %d at %v: %v, %d to %d", k, missing, n, N, confidence, i, lo, hi)
		}
		if p := SignTest(k, n); !(p > 0 && p <= 1) && k >= 0 && n >= 0 && k <= 10_000_000 {
			t.Errorf("sign test of %d and %d: %v", k, n, p)
		}
	})
}
