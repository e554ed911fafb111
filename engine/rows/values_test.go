package rows

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestBinary(t *testing.T) {
	for text, want := range map[string]bool{
		"0": false, "0.0": false, "false": false, "False": false, "FALSE": false, "fAlSe": false,
		"1": true, "1.0": true, "true": true, "True": true, "TRUE": true,
	} {
		if got, err := Binary(text); err != nil || got != want {
			t.Errorf("Binary(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "2", "2.0", "00", "01", "1.00", "-0", "+1", "yes", "t", "1 ", "falſe", "NA", "1e0", "0,0"} {
		_, err := Binary(text)
		want := `found "` + text + `": 0 or 1 is allowed, also written 0.0 or 1.0, false or true`
		if err == nil || err.Error() != want {
			t.Errorf("Binary(%q): %v, want %s", text, err, want)
		}
	}
}

func TestParseDecimal(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		rounded    bool
	}{
		{"0", "0", false}, {"-0", "0", false}, {"+0.000", "0", false}, {"0e999999999999999999999", "0", false},
		{"1", "1", false}, {"-1", "-1", false}, {"+1", "1", false}, {"007", "7", false},
		{"1.0", "1", false}, {"2.50", "2.5", false}, {".5", "0.5", false}, {"5.", "5", false}, {"-.25", "-0.25", false},
		{"1e3", "1000", false}, {"1E+03", "1000", false}, {"1e-3", "0.001", false}, {"12.5e-1", "1.25", false},
		{"0.1", "0.1", false}, {"0.30000000000000004", "0.30000000000000004", false},
		{"0.123456789012345678", "0.123456789012345678", false},
		{"0.1234567890123456780000000000", "0.123456789012345678", false}, // zeros change nothing
		{"9007199254740993", "9007199254740993", false},                   // over 2^53
		{"9999999999999999999", "9999999999999999999", false},             // the largest whole number
		{"-9999999999999999999.999999999999999999", "-9999999999999999999.999999999999999999", false},
		{"18446744073709551616", "", false}, // 2^64 is over 10^19: an error, see below
		// Half to even: 2.5 and 3.5 units of 10^-18, and just beside the half.
		{"0.0000000000000000025", "0.000000000000000002", true},
		{"0.0000000000000000035", "0.000000000000000004", true},
		{"-0.0000000000000000025", "-0.000000000000000002", true},
		{"-0.0000000000000000035", "-0.000000000000000004", true},
		{"0.00000000000000000250000001", "0.000000000000000003", true},
		{"0.00000000000000000249999999", "0.000000000000000002", true},
		{"5e-19", "0", true}, {"5.1e-19", "0.000000000000000001", true}, {"15e-19", "0.000000000000000002", true},
		{"9e-20", "0", true}, {"4.9e-324", "0", true}, {"1e-999999999999999999999", "0", true},
		{"0.9999999999999999999", "1", true},
	} {
		got, rounded, err := ParseDecimal(tt.text)
		if tt.want == "" {
			if err == nil {
				t.Errorf("ParseDecimal(%q) = %v, want an error", tt.text, got)
			}
			continue
		}
		if err != nil || got.String() != tt.want || rounded != tt.rounded {
			t.Errorf("ParseDecimal(%q) = %v, %v, %v; want %s, %v", tt.text, got, rounded, err, tt.want, tt.rounded)
		}
	}
	for text, want := range map[string]string{
		"":                       `found "": a decimal number such as 0.25 or 1e-3 is allowed`,
		"-":                      `found "-": a decimal number such as 0.25 or 1e-3 is allowed`,
		".":                      `found ".": a decimal number such as 0.25 or 1e-3 is allowed`,
		"e5":                     `found "e5": a decimal number such as 0.25 or 1e-3 is allowed`,
		"1e":                     `found "1e": a decimal number such as 0.25 or 1e-3 is allowed`,
		"1e1.5":                  `found "1e1.5": a decimal number such as 0.25 or 1e-3 is allowed`,
		"1e2e3":                  `found "1e2e3": a decimal number such as 0.25 or 1e-3 is allowed`,
		"1.2.3":                  `found "1.2.3": a decimal number such as 0.25 or 1e-3 is allowed`,
		"--1":                    `found "--1": a decimal number such as 0.25 or 1e-3 is allowed`,
		"1_000":                  `found "1_000": a decimal number such as 0.25 or 1e-3 is allowed`,
		"0x10":                   `found "0x10": a decimal number such as 0.25 or 1e-3 is allowed`,
		"NaN":                    `found "NaN": a decimal number such as 0.25 or 1e-3 is allowed`,
		"inf":                    `found "inf": a decimal number such as 0.25 or 1e-3 is allowed`,
		"50%":                    `found "50%": a decimal number such as 0.25 or 1e-3 is allowed`,
		"٣":                      `found "٣": a decimal number such as 0.25 or 1e-3 is allowed`,
		"1,000.5":                `found "1,000.5": a decimal number such as 0.25 or 1e-3 is allowed`,
		"0,5":                    `found "0,5": a decimal comma is not read, write a point`,
		"-1,5e-3":                `found "-1,5e-3": a decimal comma is not read, write a point`,
		"1e19":                   `found "1e19": a number between -1e19 and 1e19 is allowed`,
		"-1e999":                 `found "-1e999": a number between -1e19 and 1e19 is allowed`,
		"1e99999999999999999999": `found "1e99999999999999999999": a number between -1e19 and 1e19 is allowed`,
	} {
		if got, _, err := ParseDecimal(text); err == nil || err.Error() != want {
			t.Errorf("ParseDecimal(%q) = %v, %v; want %s", text, got, err, want)
		}
	}
}

// decimalText draws the text of a number that a Decimal can hold, signs, zeros and exponents included.
var decimalText = rapid.StringMatching(`[+-]?0{0,3}[0-9]{1,14}(\.[0-9]{0,24})?([eE][+-]?0?[0-4])?`)

// TestDecimalIsExact compares parsing, order, sums and quotients with math/big.
func TestDecimalIsExact(t *testing.T) {
	unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(Places), nil))
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(decimalText, 2, 8).Draw(t, "texts")
		split := rapid.IntRange(0, len(texts)).Draw(t, "split")
		total := new(big.Rat)
		var all, left, right Sum
		var parsed []Decimal
		for i, text := range texts {
			d, rounded, err := ParseDecimal(text)
			if err != nil {
				t.Fatal(err)
			}
			exact, ok := new(big.Rat).SetString(text)
			if !ok {
				t.Fatalf("big.Rat does not read %q", text)
			}
			value := new(big.Rat).Mul(new(big.Rat).SetInt(d.Big()), unit)
			off := new(big.Rat).Sub(value, exact)
			if off.Abs(off).Cmp(new(big.Rat).Mul(unit, big.NewRat(1, 2))) > 0 || rounded != (off.Sign() != 0) {
				t.Fatalf("%q is %v, rounded %v", text, d, rounded)
			}
			if again, _, err := ParseDecimal(d.String()); err != nil || again != d {
				t.Fatalf("%v reads as %v, %v", d, again, err)
			}
			if want, _ := value.Float64(); d.Float64() != want {
				t.Fatalf("%v as a float64 is %v, want %v", d, d.Float64(), want)
			}
			parsed = append(parsed, d)
			total.Add(total, value)
			all = all.Add(d)
			if i < split {
				left = left.Add(d)
			} else {
				right = right.Add(d)
			}
		}
		a, b := parsed[0], parsed[1]
		if a.Cmp(b) != a.Big().Cmp(b.Big()) || a.Sign() != a.Big().Sign() {
			t.Fatalf("%v and %v are in the wrong order", a, b)
		}
		if a.Add(b).Big().Cmp(new(big.Int).Add(a.Big(), b.Big())) != 0 || a.Sub(b).Big().Cmp(new(big.Int).Sub(a.Big(), b.Big())) != 0 {
			t.Fatalf("%v ± %v is wrong", a, b)
		}
		if right.Merge(left) != all {
			t.Fatal("the order of a sum changes it")
		}
		mean := new(big.Rat).Quo(total, big.NewRat(int64(len(texts)), 1))
		if want, _ := mean.Float64(); all.Over(int64(len(texts))) != want {
			t.Fatalf("the mean is %v, want %v", all.Over(int64(len(texts))), want)
		}
	})
}

// TestSumIsWide adds the largest numbers until 128 bits would overflow.
func TestSumIsWide(t *testing.T) {
	largest, _, err := ParseDecimal("-9999999999999999999")
	if err != nil {
		t.Fatal(err)
	}
	var s Sum
	want := new(big.Int)
	for range 100 { // 2^127 / 10^37 = 17: enough for more than 100 bits of carry
		s = s.Add(largest)
		want.Add(want, largest.Big())
	}
	if s.Big().Cmp(want) != 0 || s.Over(100) != -9999999999999999999 {
		t.Errorf("the sum is %v, want %v", s.Big(), want)
	}
}

func TestParseTime(t *testing.T) {
	for _, tt := range []struct {
		text string
		kind TimeKind
		want string // seconds since 1970; those of ISO times from GNU date: date -u -d TEXT +%s
	}{
		{"1970-01-01T00:00:00Z", TimeISO, "0"},
		{"2026-03-31T14:05:09Z", TimeISO, "1774965909"},
		{"2026-03-31t14:05:09z", TimeISO, "1774965909"},
		{"2026-03-31 14:05:09", TimeISO, "1774965909"},
		{"2026-03-31T14:05", TimeISO, "1774965900"},
		{"2026-03-31T14:05Z", TimeISO, "1774965900"},
		{"2026-03-31T14:05:09+02:00", TimeISO, "1774958709"},
		{"2026-03-31T14:05:09-0230", TimeISO, "1774974909"},
		{"2026-03-31T14:05:09+01", TimeISO, "1774962309"},
		{"2026-03-31T14:05:09-00:00", TimeISO, "1774965909"},
		{"2026-03-31T14:05:09.123456789012345678Z", TimeISO, "1774965909.123456789012345678"},
		{"2026-03-31 14:05:09,5", TimeISO, "1774965909.5"},
		{"2024-02-29T23:59:59Z", TimeISO, "1709251199"},
		{"1969-12-31T23:59:59.25Z", TimeISO, "-0.75"},
		{"0000-01-01T00:00:00Z", TimeISO, "-62167219200"},
		{"9999-12-31T23:59:59.999999999999999999Z", TimeISO, "253402300799.999999999999999999"},
		{"0", TimeSeconds, "0"}, {"12.5", TimeSeconds, "12.5"}, {"-3", TimeSeconds, "-3"}, {"1e2", TimeSeconds, "100"},
		{"99999999.999", TimeSeconds, "99999999.999"},
		{"100000000", TimeUnix, "100000000"}, {"1774965909.25", TimeUnix, "1774965909.25"},
		{"1.774965909e9", TimeUnix, "1774965909"}, {"99999999999", TimeUnix, "99999999999"},
	} {
		got, rounded, err := ParseTime(tt.text)
		if err != nil || rounded || got.Kind != tt.kind || got.Seconds.String() != tt.want {
			t.Errorf("ParseTime(%q) = %v %v, %v, %v; want %v %s", tt.text, got.Kind, got.Seconds, rounded, err, tt.kind, tt.want)
		}
	}
	if got, rounded, err := ParseTime("0.1234567890123456789"); err != nil || !rounded || got.Seconds.String() != "0.123456789012345679" {
		t.Errorf("a time beyond 18 places: %v, %v, %v", got, rounded, err)
	}
	for kind, want := range map[TimeKind]string{TimeSeconds: "seconds", TimeUnix: "Unix seconds", TimeISO: "ISO 8601", 0: "no time"} {
		if kind.String() != want {
			t.Errorf("kind %d is called %q, want %q", kind, kind.String(), want)
		}
	}
	const allowed = "an ISO 8601 date and time such as 2026-03-31T14:05:09Z, or seconds such as 12.5, is allowed"
	for _, text := range []string{
		"", "soon", "2026-03-31", "14:05:09", "20260331T140509Z", "2026-03-31T14", "2026-3-31T14:05:09", "31/03/2026 14:05",
		"2026-03-31T14:05:09 Z", "2026-03-31T14:05:09 UTC", "2026-03-31  14:05:09", "2026-03-31T14:05:09.Z", "2026-03-31T14:05.5",
		"2026-03-31T14:05:09[Europe/Rome]", "2026-03-31T14:05:09+2", "2026-W14-2T14:05", "NaN",
		"2026-03-31T14:05:09.1234567890123456789Z",
	} {
		if got, _, err := ParseTime(text); err == nil || err.Error() != `found "`+text+`": `+allowed {
			t.Errorf("ParseTime(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-04-31T00:00:00Z", "2026-04-00T00:00:00Z",
		"2026-04-01T24:00:00Z", "2026-04-01T23:60:00Z", "2026-04-01T23:59:60Z", "2026-04-01T00:00:00+24:00", "2026-04-01T00:00:00+01:60",
	} {
		if got, _, err := ParseTime(text); err == nil || err.Error() != `found "`+text+`", which is no time that exists: `+allowed {
			t.Errorf("ParseTime(%q) = %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"1774965909000": `found "1774965909000": Unix times are read in seconds, and this many lie beyond the year 5138 (are they milliseconds?)`,
		"100000000000":  `found "100000000000": Unix times are read in seconds, and this many lie beyond the year 5138 (are they milliseconds?)`,
		"12,5":          `found "12,5": a decimal comma is not read, write a point`,
	} {
		if got, _, err := ParseTime(text); err == nil || err.Error() != want {
			t.Errorf("ParseTime(%q) = %v, %v; want %s", text, got, err, want)
		}
	}
}

// TestParseTimeAgrees compares ISO times with the time package.
func TestParseTimeAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Years 0000 to 9999 in UTC, with a margin of a day for the zone.
		seconds := rapid.Int64Range(-62167132800, 253402214400).Draw(t, "seconds")
		nanos := rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")
		zone := rapid.IntRange(-23*60-59, 23*60+59).Draw(t, "zone") * 60
		at := time.Unix(seconds, nanos).In(time.FixedZone("", zone))
		got, _, err := ParseTime(at.Format("2006-01-02T15:04:05.000000000Z07:00"))
		if err != nil {
			t.Fatal(err)
		}
		want := new(big.Int).Add(new(big.Int).Mul(big.NewInt(seconds), big.NewInt(1e18)), big.NewInt(nanos*1e9))
		if got.Seconds.Big().Cmp(want) != 0 {
			t.Fatalf("%v is %v, want %v", at, got.Seconds, want)
		}
	})
}

// TestLongNumbers checks that a long text costs no more than its length and is cut in messages.
func TestLongNumbers(t *testing.T) {
	long := strings.Repeat("0", 1<<20) + "1." + strings.Repeat("0", 1<<20) + "e-18"
	d, rounded, err := ParseDecimal(long)
	if err != nil || rounded || d.String() != "0.000000000000000001" {
		t.Errorf("%v, %v, %v", d, rounded, err)
	}
	if _, _, err := ParseDecimal(strings.Repeat("x", 1<<20)); err == nil || len(err.Error()) > 200 {
		t.Errorf("the message is not cut: %.300v", err)
	}
}
