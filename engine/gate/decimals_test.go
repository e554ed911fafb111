package gate

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/rows"
)

// TestCompareDecimal: numbers on a limit, and so near to it that 18 decimals do not tell them apart.
func TestCompareDecimal(t *testing.T) {
	zeros, million := strings.Repeat("0", 400), strings.Repeat("0", 1_000_100)
	for _, c := range []struct {
		text, limit string
		want        int
	}{
		{"30", "30", 0}, {"30.0", "30", 0}, {"3e1", "30", 0}, {"030.", "30", 0}, {"+30", "30", 0},
		{"29.999999999999999999", "30", -1}, // 18 decimals: kept
		{"29.9999999999999999999", "30", -1}, {"30.0000000000000000001", "30", 1}, {"2.99999999999999999999e1", "30", -1},
		{"-29.9999999999999999999", "-30", 1}, {"-30.0000000000000000001", "-30", -1},
		{"1e-999999999999", "0", 1}, {"-1e-999999999999", "0", -1}, {"0." + zeros + "1", "0", 1}, {"-0", "0", 0}, {"0e999999999999", "0", 0},
		{"0." + zeros + "30e401", "30", -1}, // 3, written long
		{"1." + zeros + "1", "1", 1},
		// More decimals than rational arithmetic takes.
		{"1." + million + "1", "1", 1}, {"0." + strings.ReplaceAll(million, "0", "9"), "1", -1}, {"-1." + million + "1", "-1", -1},
	} {
		value, rounded, err := rows.ParseDecimal(c.text)
		limit, _, limitErr := rows.ParseDecimal(c.limit)
		if err != nil || limitErr != nil {
			t.Fatal(err, limitErr)
		}
		if got := CompareDecimal(c.text, value, rounded, limit); got != c.want {
			t.Errorf("%.100s against %s: %d, want %d", c.text, c.limit, got, c.want)
		}
	}
	// Against rational arithmetic, around limits of either sign.
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[+-]?(29\.9{16,21}|30\.0{16,21}|0\.0{16,21}|0\.9{16,21}|1\.0{16,21})[0-9]{0,2}`).Draw(t, "number")
		limit := rapid.SampledFrom([]string{"30", "-30", "0", "1", "0.5"}).Draw(t, "limit")
		value, rounded, err := rows.ParseDecimal(text)
		if err != nil {
			t.Fatal(err)
		}
		x, _ := new(big.Rat).SetString(text)
		l, _ := new(big.Rat).SetString(limit)
		d, _, _ := rows.ParseDecimal(limit)
		if got, want := CompareDecimal(text, value, rounded, d), x.Cmp(l); got != want {
			t.Fatalf("%s against %s: %d, want %d", text, limit, got, want)
		}
	})
}

// TestShare: numbers just outside of [0, 1] are outside, although they are rounded into it.
func TestShare(t *testing.T) {
	for text, want := range map[string]bool{
		"0": true, "1": true, "-0": true, "0.5": true, "1e0": true, "0.9999999999999999999": true, "1e-30": true,
		"1.0000000000000000001": false, "-1e-30": false, "-0.1": false, "2": false, "1e18": false,
	} {
		_, _, ok, err := Share(text)
		if err != nil || ok != want {
			t.Errorf("%s: %t, %v; want %t", text, ok, err, want)
		}
	}
	for _, text := range []string{"half", "0,5", "", "1e999"} {
		if _, _, ok, err := Share(text); ok || err == nil {
			t.Errorf("%q: %t, %v; want an error", text, ok, err)
		}
	}
}
