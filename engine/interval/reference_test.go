package interval

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The files under testdata/reference were computed elsewhere, with SciPy and independent routines, each
// value by two routes; their first line says so.

// referenceRows reads a file of testdata/reference as maps from column name to text.
func referenceRows(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", "reference", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, column := range records[0] {
			row[column] = record[i]
		}
		rows = append(rows, row)
	}
	if len(rows) < 20 {
		t.Fatalf("%s has %d rows; a truncated file would test nothing", name, len(rows))
	}
	return rows
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func integer(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// values parses "2/15*6;-1;0.05*39": values separated by semicolons, as decimals or fractions, with an
// optional count after a star.
func values(t *testing.T, text string) []float64 {
	t.Helper()
	var list []float64
	if text == "" {
		return list
	}
	for part := range strings.SplitSeq(text, ";") {
		value, count, repeated := strings.Cut(part, "*")
		times := 1
		if repeated {
			times = integer(t, count)
		}
		numerator, denominator, fraction := strings.Cut(value, "/")
		x := number(t, numerator)
		if fraction {
			x /= number(t, denominator)
		}
		for range times {
			list = append(list, x)
		}
	}
	return list
}

// withMissing appends the worst and the best value of the scale [-1, 1] for each missing unit.
func withMissing(recorded []float64, missing int) (low, high []float64) {
	low, high = append(low, recorded...), append(high, recorded...)
	for range missing {
		low, high = append(low, -1), append(high, 1)
	}
	return low, high
}

func TestMeanReference(t *testing.T) {
	methods := []struct {
		column string
		end    lowerEnd
		method MeanMethod
	}{
		{"mixuniform", mixtureLower, UniformMixture},
		{"dirichlet", dirichletLower, Dirichlet},
		{"sympol", symPolLower, SymPol},
	}
	for _, row := range referenceRows(t, "mean_bounds.csv") {
		low, high := withMissing(values(t, row["values"]), integer(t, row["missing"]))
		if len(low) != integer(t, row["n_total"]) {
			t.Fatalf("row %s: %d values, want %s", row["description"], len(low), row["n_total"])
		}
		confidence := number(t, row["level"])
		for _, m := range methods {
			worst, best, err := meanSamples(low, high, Difference, confidence)
			if err != nil {
				t.Fatal(err)
			}
			gotLower, gotUpper := unroundedMean(worst, best, Difference, confidence, m.end)
			wantLower, wantUpper := number(t, row[m.column+"_lower"]), number(t, row[m.column+"_upper"])
			// The file has 9 decimals, of which its two routes agree to 2.4e-10.
			if math.Abs(gotLower-wantLower) > 1e-8 || math.Abs(gotUpper-wantUpper) > 1e-8 {
				t.Errorf("%s %s at %v: [%.9f, %.9f], want [%.9f, %.9f]", m.column, row["description"], confidence, gotLower, gotUpper, wantLower, wantUpper)
			}
			rounded, err := m.method(low, high, Difference, confidence)
			if err != nil {
				t.Fatal(err)
			}
			if rounded.Lower > gotLower || rounded.Lower < gotLower-2e-10 || rounded.Upper < gotUpper || rounded.Upper > gotUpper+2e-10 {
				t.Errorf("%s %s at %v: rounded [%v, %v] is not just outside [%v, %v]", m.column, row["description"], confidence, rounded.Lower, rounded.Upper, gotLower, gotUpper)
			}
		}
	}
}

func TestClopperPearsonReference(t *testing.T) {
	for _, row := range referenceRows(t, "clopper_pearson.csv") {
		k, n, confidence := integer(t, row["k"]), integer(t, row["n"]), number(t, row["level"])
		// An end near 1 has lost its small side in the file's 12 decimals: there the end itself is compared,
		// and its small side is met again as the end near 0 of the row for n − k.
		a := sideError(confidence)
		lower, _ := binomialLower(k, n, a)
		_, upper := binomialLower(n-k, n, a)
		mirroredLower, mirroredUpper := 1-number(t, row["upper"]), 1-number(t, row["lower"])
		for _, c := range []struct {
			name      string
			got, want float64
		}{{"lower", lower, number(t, row["lower"])}, {"upper", upper, number(t, row["upper"])}} {
			if math.Abs(c.got-c.want) > 1e-9*c.want {
				t.Errorf("%s end of %d of %d at %v: %.15g, want %.15g within 1e-9", c.name, k, n, confidence, c.got, c.want)
			}
		}
		_, gotSmallUpper := binomialLower(k, n, a)
		gotSmallLower, _ := binomialLower(n-k, n, a)
		// 12 decimals in the file: 1e-12 absolute is what its mirror image still knows.
		if math.Abs(gotSmallLower-mirroredLower) > 2e-12 || math.Abs(gotSmallUpper-mirroredUpper) > 2e-12 {
			t.Errorf("small sides of %d of %d at %v: %.15g and %.15g, want %.15g and %.15g", k, n, confidence, gotSmallLower, gotSmallUpper, mirroredLower, mirroredUpper)
		}
		i, err := ClopperPearson(k, 0, n, confidence)
		if err != nil {
			t.Fatal(err)
		}
		if i.Lower > lower || i.Upper < upper || i.Lower < lower*(1-2e-9) || i.Upper > upper*(1+2e-9) {
			t.Errorf("%d of %d at %v: [%v, %v] is not just outside [%v, %v]", k, n, confidence, i.Lower, i.Upper, lower, upper)
		}
	}
}

func TestSignTestReference(t *testing.T) {
	for _, row := range referenceRows(t, "sign_test.csv") {
		better, worse := integer(t, row["positives"]), integer(t, row["negatives"])
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"two-sided", SignTest(better, worse), number(t, row["p_two_sided"])},
			{"at least", SignTail(better, worse), number(t, row["p_greater(P(X>=pos))"])},
			{"at most", SignTail(worse, better), number(t, row["p_less(P(X<=pos))"])},
		} {
			// The file has 12 significant digits, rounded to nearest; ours are rounded up.
			if c.got < c.want*(1-1e-11) || c.got > c.want*(1+2e-11) {
				t.Errorf("%s p of %d and %d: %.15g, want %.15g", c.name, better, worse, c.got, c.want)
			}
		}
	}
}

func TestMedianReference(t *testing.T) {
	for _, row := range referenceRows(t, "median_order_stats.csv") {
		n, confidence := integer(t, row["n"]), number(t, row["level"])
		ranks := make([]float64, n)
		for i := range ranks {
			ranks[i] = float64(n - i) // descending, to see that the order does not matter
		}
		got, err := Median(ranks, ranks, confidence)
		if err != nil {
			t.Fatal(err)
		}
		wantLower, wantUpper := math.Inf(-1), math.Inf(1)
		if row["lower_rank_1based"] != "none" {
			wantLower, wantUpper = number(t, row["lower_rank_1based"]), number(t, row["upper_rank_1based"])
		}
		if got.Lower != wantLower || got.Upper != wantUpper {
			t.Errorf("ranks for n = %d at %v: %v and %v, want %v and %v", n, confidence, got.Lower, got.Upper, wantLower, wantUpper)
		}
	}
}

func TestHypergeometricReference(t *testing.T) {
	for _, row := range referenceRows(t, "hypergeometric.csv") {
		x, n, N := integer(t, row["successes_in_sample"]), integer(t, row["sample_n"]), integer(t, row["population_N"])
		i, lower, upper, err := Hypergeometric(x, 0, n, N, number(t, row["level"]))
		if err != nil {
			t.Fatal(err)
		}
		if lower != integer(t, row["lower_count"]) || upper != integer(t, row["upper_count"]) {
			t.Errorf("%d of %d of %d at %s: %d to %d, want %s to %s", x, n, N, row["level"], lower, upper, row["lower_count"], row["upper_count"])
		}
		wantLower, wantUpper := number(t, row["lower_prop"]), number(t, row["upper_prop"])
		if math.Abs(i.Lower-wantLower) > 2e-10 || math.Abs(i.Upper-wantUpper) > 2e-10 {
			t.Errorf("%d of %d of %d at %s: [%v, %v], want [%v, %v]", x, n, N, row["level"], i.Lower, i.Upper, wantLower, wantUpper)
		}
	}
}
