package oracle

import (
	"encoding/csv"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// The expected values are those of testdata/reference, computed elsewhere by
// two routes (its files say how).

// references reads a file of testdata/reference by the names of its header.
func references(t *testing.T, name string) []map[string]string {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "testdata", "reference", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.Comment = '#'
	rows, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var named []map[string]string
	for _, row := range rows[1:] {
		one := map[string]string{}
		for i, column := range rows[0] {
			one[column] = row[i]
		}
		named = append(named, one)
	}
	if len(named) == 0 {
		t.Fatalf("%s has no rows", name)
	}
	return named
}

// whole is a reference's whole number.
func whole(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// side is the error on each side at a two-sided level.
func side(level string) *big.Rat {
	a := new(big.Rat).Sub(big.NewRat(1, 1), decimal(level))
	return a.Quo(a, big.NewRat(2, 1))
}

func TestClopperPearsonAgainstReferences(t *testing.T) {
	for _, row := range references(t, "clopper_pearson.csv") {
		k, n := whole(t, row["k"]), whole(t, row["n"])
		if n > 1_000 {
			continue // sums of so many terms take long; studies here are small
		}
		a := float(side(row["level"]))
		lower, upper := float(decimal(row["lower"])), float(decimal(row["upper"]))
		// The files have 12 decimals.
		if got := rateLower(k, n, a); math.Abs(got-lower) > 2e-12 {
			t.Errorf("lower end of %d in %d at %s: %.15f, want %.12f", k, n, row["level"], got, lower)
		}
		if got := rateUpper(k, n, a); math.Abs(got-upper) > 2e-12 {
			t.Errorf("upper end of %d in %d at %s: %.15f, want %.12f", k, n, row["level"], got, upper)
		}
	}
}

func TestHypergeometricAgainstReferences(t *testing.T) {
	for _, row := range references(t, "hypergeometric.csv") {
		N := whole(t, row["population_N"])
		if N > 500 {
			continue
		}
		x, n := whole(t, row["successes_in_sample"]), whole(t, row["sample_n"])
		least, most := hypergeometricBounds(N, n, x, 0, side(row["level"]))
		if least != whole(t, row["lower_count"]) || most != whole(t, row["upper_count"]) {
			t.Errorf("%d in %d of %d at %s: %d to %d, want %s to %s", x, n, N, row["level"], least, most, row["lower_count"], row["upper_count"])
		}
	}
}

func TestSignTestAndMedianAgainstReferences(t *testing.T) {
	for _, row := range references(t, "sign_test.csv") {
		b, w := whole(t, row["positives"]), whole(t, row["negatives"])
		if b+w > 500 {
			continue
		}
		want := float(decimal(row["p_two_sided"]))
		if got := float(signTest(b, w)); math.Abs(got-want) > 1e-11*want {
			t.Errorf("sign test of %d and %d: %v, want %v", b, w, got, want)
		}
	}
	for _, row := range references(t, "median_order_stats.csv") {
		n := whole(t, row["n"])
		if n > 150 {
			continue
		}
		want := 0
		if row["lower_rank_1based"] != "none" {
			want = whole(t, row["lower_rank_1based"])
		}
		if got := medianRank(n, side(row["level"])); got != want {
			t.Errorf("rank of the median's lower end of %d at %s: %d, want %d", n, row["level"], got, want)
		}
	}
}

// The upper ends at equal rates of 0.1 of audit.md 5f, to the digits there,
// and what the definition says where nothing is to be maximized.
func TestFisherProduct(t *testing.T) {
	for n, want := range map[int]float64{100: .107, 1000: .030, 4000: .0149} {
		got := fisherUpper(n/10, n, n/10, n, 0.025)
		digits := 1e3
		if n == 4000 {
			digits = 1e4
		}
		if math.Round(got*digits)/digits != want {
			t.Errorf("upper end at %d: %v, want %v", n, got, want)
		}
	}
	// All of the one and none of the other: p = 1 and q = 0 fit at any level.
	if got := fisherUpper(5, 5, 0, 7, 0.025); math.Abs(got-1) > 1e-12 {
		t.Errorf("all against none: %v, want 1", got)
	}
	c := fisherLevel(0.025)
	if math.Abs(c*(1-math.Log(c))-0.025) > 1e-12 {
		t.Errorf("level: %v", c)
	}
}
