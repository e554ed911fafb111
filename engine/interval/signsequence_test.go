package interval

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// exactSignSequence is 2/E with E = ∫(1+θ)^b(1−θ)^w dθ multiplied out in whole numbers.
func exactSignSequence(better, worse int) float64 {
	b, w := max(better, worse), min(better, worse)
	polynomial := []*big.Int{big.NewInt(1)}
	times := func(sign int64) {
		next := make([]*big.Int, len(polynomial)+1)
		for i := range next {
			next[i] = new(big.Int)
		}
		for i, c := range polynomial {
			next[i].Add(next[i], c)
			next[i+1].Add(next[i+1], new(big.Int).Mul(c, big.NewInt(sign)))
		}
		polynomial = next
	}
	for range b {
		times(1)
	}
	for range w {
		times(-1)
	}
	e := new(big.Rat)
	for i, c := range polynomial {
		e.Add(e, new(big.Rat).SetFrac(c, big.NewInt(int64(i+1))))
	}
	p, _ := new(big.Rat).Quo(big.NewRat(2, 1), e).Float64()
	return min(1, p)
}

func TestSignSequenceIsExact(t *testing.T) {
	for b := 0; b <= 60; b += 3 {
		for w := 0; w <= b; w += 2 {
			got, want := SignSequence(b, w), exactSignSequence(b, w)
			if got < want*(1-1e-15) || got > want*(1+2e-11) { // 12 digits, after the guard
				t.Errorf("%d better, %d worse: %v, want %v or a little above", b, w, got, want)
			}
			if mirrored := SignSequence(w, b); mirrored != got {
				t.Errorf("%d better, %d worse: %v, the other way round %v", b, w, got, mirrored)
			}
		}
	}
	for _, c := range [][2]int{{-1, 0}, {0, -1}, {maxCount, 1}} {
		if p := SignSequence(c[0], c[1]); !math.IsNaN(p) {
			t.Errorf("%v gave %v, want NaN", c, p)
		}
	}
	if p := SignSequence(1_000_000, 0); p != 1e-300 {
		t.Errorf("a million better and none worse: %v, want 1e-300", p)
	}
}

// TestSignSequenceIsTheRateSequence: below α exactly where the 0/1 sequence on better among changed cases excludes 1/2.
func TestSignSequenceIsTheRateSequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "n")
		b := rapid.IntRange(0, n).Draw(t, "better")
		confidence := rapid.SampledFrom([]float64{0.5, 0.8, 0.95, 0.99}).Draw(t, "confidence")
		iv, err := RateSequence(b, 0, n, confidence)
		if err != nil {
			t.Fatal(err)
		}
		if p := SignSequence(b, n-b); (p < 1-confidence) != (iv.Lower > 0.5 || iv.Upper < 0.5) {
			t.Fatalf("p %v, the sequence is %v", p, iv)
		}
	})
}

// TestSignSequenceOverLooks: with a fair coin and a look after every case up to 400, p is ever below .05 with
// probability at most .05; SignTest, which is for one look, far oftener. Exact probabilities.
func TestSignSequenceOverLooks(t *testing.T) {
	const last, alpha = 400, 0.05
	ever := func(p func(better, worse int) float64) float64 {
		alive, crossed := []float64{1}, 0.0
		for n := 1; n <= last; n++ {
			next := make([]float64, n+1)
			for b, q := range alive {
				next[b] += q / 2
				next[b+1] += q / 2
			}
			for b := range next {
				if next[b] > 0 && p(b, n-b) < alpha {
					crossed += next[b]
					next[b] = 0
				}
			}
			alive = next
		}
		return crossed
	}
	sequence, once := ever(SignSequence), ever(SignTest)
	t.Logf("ever below .05 in %d looks: sequence %.4f, sign test %.4f", last, sequence, once)
	if sequence > alpha || sequence < 0.01 {
		t.Errorf("sequence: %v, want at most .05 and not far below", sequence)
	}
	if once < 0.2 {
		t.Errorf("sign test: %v; looking again and again no longer breaks it", once)
	}
}
