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
