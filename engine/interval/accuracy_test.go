package interval

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestExactValues compares unrounded lower ends with testdata/exact.csv, computed with mpmath 1.3.0 at 50 digits by
// the script beside it. The guards of round.go rest on what is measured here; they are at least five times as large.
func TestExactValues(t *testing.T) {
	f, err := os.Open("testdata/exact.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 200 {
		t.Fatalf("%d rows; the file is truncated", len(rows))
	}
	ends := map[string]lowerEnd{"uniform-mixture": mixtureLower, "sympol": symPolLower, "dirichlet": dirichletLower}
	worst := map[string]float64{} // relative for every method, which is the stricter reading for means
	for _, row := range rows[1:] {
		method, text := row[0], row[1]
		confidence, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		want, err := strconv.ParseFloat(row[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		a := sideError(confidence)
		var got float64
		if method == "clopper-pearson" {
			k, n, _ := strings.Cut(text, "/")
			got, _ = binomialLower(integer(t, k), integer(t, n), a)
		} else {
			s := newSample(values(t, text))
			got = ends[method](s, a)
			if method == "dirichlet" {
				// The route not taken for this sample must agree as well, at the bound itself.
				contour, settled := lnDirichletContour(s, got)
				if recursion := ln(dirichletRecursion(s, got)); settled && math.Abs(contour-recursion) > 2e-12 {
					t.Errorf("%s at %v: ln K is %.15g by contour, %.15g by recursion", text, confidence, contour, recursion)
				} else if !settled {
					t.Errorf("%s at %v: the contour does not settle", text, confidence)
				}
			}
		}
		deviation := math.Abs(got-want) / want
		worst[method] = math.Max(worst[method], deviation)
		if !(deviation <= 4e-13) {
			t.Errorf("%s %s at %v: %.17g, want %.17g (relative %.2g)", method, text, confidence, got, want, deviation)
		}
	}
	t.Logf("largest relative deviations: %v", worst)
	if len(worst) != 4 {
		t.Errorf("methods seen: %v, want four", worst)
	}
}

// TestMixtureClosedForm compares the integral over θ with its closed form, 1/(n+1)·Σ A_k·m⁻ᵏ, which shares
// no step with it: at m from the lower end to the mean, up to n = 2000.
func TestMixtureClosedForm(t *testing.T) {
	sizes := []int{1, 2, 3, 10, 40, 150, 600, 2000}
	if testing.Short() {
		sizes = sizes[:6]
	}
	worst := 0.0
	for _, n := range sizes {
		for name, list := range designs(n) {
			s := newSample(list)
			if s.mean == 0 {
				continue
			}
			lnA := symPolRecursion(s)
			lower := mixtureLower(s, 0.025)
			for _, m := range []float64{lower, lower + 0.5*(s.mean-lower), s.mean} {
				slopes := make([]float64, len(s.levels))
				for i, l := range s.levels {
					slopes[i] = (l.value - m) / m
				}
				got := lnMixture(s.levels, slopes)
				terms := make([]float64, n+1)
				for k := range terms {
					terms[k] = lnA[k] + float64(k)*math.Log(s.mean/m) - math.Log(float64(n+1))
				}
				want := logSumExp(terms)
				worst = math.Max(worst, math.Abs(got-want))
				if math.Abs(got-want) > 1e-11 {
					t.Errorf("n = %d, %s, m = %v: ln E = %.15g, closed form %.15g", n, name, m, got, want)
				}
			}
		}
	}
	t.Logf("largest deviation of ln E: %.2g", worst)
}

func logSumExp(terms []float64) float64 {
	top := math.Inf(-1)
	for _, x := range terms {
		top = math.Max(top, x)
	}
	sum := 0.0
	for _, x := range terms {
		sum += math.Exp(x - top)
	}
	return top + math.Log(sum)
}

// TestDirichletRoutes compares the contour integral with the recursion at the lower end and on both sides of it,
// for n up to 2000 and designs of very different shape.
func TestDirichletRoutes(t *testing.T) {
	sizes := []int{10, 50, 200, 2000}
	if testing.Short() {
		sizes = sizes[:3]
	}
	compared := 0
	for _, n := range sizes {
		for name, list := range designs(n) {
			s := newSample(list)
			if s.mean == 0 || s.mean == 1 {
				continue
			}
			for _, a := range []float64{0.25, 0.025, 0.0005} {
				lower := dirichletLower(s, a)
				for _, m := range []float64{lower, (lower + s.mean) / 2, lower * (lower / s.mean)} {
					want := ln(dirichletRecursion(s, m))
					if want < -100 {
						continue // further out than any search goes
					}
					got, settled := lnDirichletContour(s, m)
					if !settled {
						t.Errorf("n = %d, %s, m = %v: the contour does not settle", n, name, m)
					} else if math.Abs(got-want) > 1e-12*float64(1+n/200) {
						t.Errorf("n = %d, %s, m = %v: ln K = %.15g by contour, %.15g by recursion", n, name, m, got, want)
					}
					compared++
				}
			}
		}
	}
	if compared < 200 {
		t.Errorf("%d comparisons only", compared)
	}
}

// TestSymPolRoutes compares ln A_k one at a time with the recursion for all of them.
func TestSymPolRoutes(t *testing.T) {
	for _, n := range []int{3, 40, 400} {
		for name, list := range designs(n) {
			s := newSample(list)
			if s.mean == 0 {
				continue
			}
			positive := s.n
			if s.levels[0].value == 0 {
				positive -= s.levels[0].count
			}
			lnA := symPolRecursion(s)
			for k := 1.0; k <= positive; k += math.Ceil(positive / 20) {
				want := lnA[int(k)]
				if want < -300 {
					continue // underflow is near in the recursion
				}
				if got := lnSymPol(s, k, positive); math.Abs(got-want) > 1e-11 {
					t.Errorf("n = %d, %s, k = %v: ln A = %.15g, recursion %.15g", n, name, k, got, want)
				}
			}
		}
	}
}
