package study

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/rows"
)

// firstItems and laterItems are those of testdata/draw.py, and drawSeed is its seed.
var (
	firstItems = []string{"i1", "i2", "i3", "5, six", `the "seventh"`, "Zoë", "-17", "@name", "東京", "a|b", "i11", "i12"}
	laterItems = []string{"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"}
)

const drawSeed = "autumn 2026 é"

// The golden files come from testdata/draw.py, a second program written from the package comment.
func TestDrawMatchesTheReferenceProgram(t *testing.T) {
	first := drawOf(t, firstItems, "0.3", 6, drawSeed)
	everything := slices.Concat(firstItems, laterItems)
	extended, gone, err := Extend(first, itemsOf(t, everything), chance(t, "0.5"), drawSeed)
	if err != nil || len(gone) != 0 {
		t.Fatalf("Extend: %d items gone, %v", len(gone), err)
	}
	for name, drawn := range map[string][]Drawn{
		"drawn.csv":    first,
		"extended.csv": extended,
		"even.csv":     drawOf(t, everything, "0.3", 0, drawSeed),
	} {
		want, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), csvOf(t, drawn)); diff != "" {
			t.Errorf("%s (-reference +got):\n%s", name, diff)
		}
	}
}

// The marks are what OpenSSL 3.0.19 prints for
//
//	printf '16:oloproof-blind/1,1:a,' | openssl dgst -sha256 -hmac study-1
//	printf '16:oloproof-blind/1,4:Zo\xc3\xab,' | openssl dgst -sha256 -hmac study-1
func TestMarkIsAnHMAC(t *testing.T) {
	mark := marker("study-1")
	for id, want := range map[string]string{
		"a":   "de861c63c9e36f753d131532a5cbdc579927942e47adfda7160364215714e9b5",
		"Zoë": "78ea2099d4e23ccdf8ce39b7fa138afdb1b0213ba8a7b9f5f75670e5ac0d4144",
	} {
		got := mark(id)
		if hex.EncodeToString(got[:]) != want {
			t.Errorf("the mark of %s is %x, want %s", id, got, want)
		}
	}
}

// TestMarksAreComparedExactly looks at the largest mark that is blind and the next one. 2^256 leaves the remainder 1
// when divided by 5, so that 2^256/5 lies between two integers; 2^255 is one itself, and is not below the half.
func TestMarksAreComparedExactly(t *testing.T) {
	power := func(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }
	fifth := new(big.Int).Quo(power(256), big.NewInt(5))
	last := new(big.Int).Sub(power(256), big.NewInt(1))
	for _, test := range []struct {
		rate  string
		blind *big.Int // the largest mark that is
	}{
		{"0.2", fifth},
		{"0.20", fifth},
		{"2e-1", fifth},
		{"0.5", new(big.Int).Sub(power(255), big.NewInt(1))},
		{"1", last},
		// 2^256/10^18, rounded down: not a whole number, as 10^18 has a factor 5.
		{"1e-18", new(big.Int).Quo(power(256), big.NewInt(1e18))},
	} {
		limit := markLimit(chance(t, test.rate))
		var at [32]byte
		test.blind.FillBytes(at[:])
		if !below(at, limit) {
			t.Errorf("at the rate %s, the mark %x is not below it", test.rate, at)
		}
		if test.blind.Cmp(last) == 0 {
			continue
		}
		new(big.Int).Add(test.blind, big.NewInt(1)).FillBytes(at[:])
		if below(at, limit) {
			t.Errorf("at the rate %s, the mark %x is below it", test.rate, at)
		}
	}
	items := names(t, 500, "i")
	if diff := cmp.Diff(csvOf(t, drawOf(t, items, "0.2", 20, "s")), csvOf(t, drawOf(t, items, "0.20", 20, "s"))); diff != "" {
		t.Errorf("0.2 and 0.20 differ:\n%s", diff)
	}
}

// TestDrawIsUniform draws from 100,000 items in ten groups by the beginning of their ids. A group's blind items are
// binomial; the seed is fixed, and a sound draw passes each check with probability 0.999.
func TestDrawIsUniform(t *testing.T) {
	const groups, each = 10, 10000
	var ids []string
	for g := range groups {
		for i := range each {
			ids = append(ids, fmt.Sprintf("%c-%05d", 'a'+g, i))
		}
	}
	var blind [groups]int
	total := 0
	for i, d := range drawOf(t, ids, "0.2", 20, "uniform") {
		if d.Probability != chance(t, "0.2") {
			t.Fatalf("%s has the probability %s", d.Item, d.Probability)
		}
		if d.Blind {
			blind[i/each]++
			total++
		}
	}
	statistic := 0.0
	for _, k := range blind {
		statistic += (float64(k) - 0.2*each) * (float64(k) - 0.2*each) / (0.2 * 0.8 * each)
	}
	if limit := (distuv.ChiSquared{K: groups}).Quantile(0.999); statistic > limit {
		t.Errorf("chi-square %.1f over the groups %v, want at most %.1f", statistic, blind, limit)
	}
	// 0.2 × 100,000, and 3.29 standard deviations of sqrt(100,000 × 0.2 × 0.8) = 126.5.
	if total < 20000-416 || total > 20000+416 {
		t.Errorf("%d items are blind, want about 20000", total)
	}
}

// TestDrawWithAFloorKeepsItsProbability draws under many seeds where the floor nearly always binds: each item must be
// blind as often as the draw says. 50 items, rate 0.2, floor 20: 0.4000092798, from exact fractions of the binomial
// (testdata/draw.py, chance).
func TestDrawWithAFloorKeepsItsProbability(t *testing.T) {
	const seeds, n, floor = 2000, 50, 20
	ids := names(t, n, "i")
	var blind [n]int
	for seed := range seeds {
		count := 0
		for i, d := range drawOf(t, ids, "0.2", floor, strconv.Itoa(seed)) {
			if d.Probability.String() != "0.4000092798" {
				t.Fatalf("the probability is %s", d.Probability)
			}
			if d.Blind {
				blind[i]++
				count++
			}
		}
		if count < floor {
			t.Fatalf("seed %d: %d items are blind", seed, count)
		}
	}
	// Almost always 20 of 50 are blind, so that the counts of the items hang together as in a simple random
	// sample: the statistic over n/(n − 1) × chance × (1 − chance) has n − 1 degrees of freedom.
	const p = 0.4000092798
	statistic := 0.0
	for _, k := range blind {
		statistic += (float64(k) - seeds*p) * (float64(k) - seeds*p) / (seeds * p * (1 - p) * n / (n - 1))
	}
	if limit := (distuv.ChiSquared{K: n - 1}).Quantile(0.999); statistic > limit {
		t.Errorf("chi-square %.1f over the items, want at most %.1f: %v", statistic, limit, blind)
	}
}

// The probabilities are exact fractions of the binomial, computed as in testdata/draw.py, to 10 digits.
func TestFirstChance(t *testing.T) {
	for _, test := range []struct {
		n     int
		rate  string
		floor int
		want  string
	}{
		{20, "0.2", 20, "1"}, // the floor is the corpus
		{5, "0.2", 20, "1"},  // the floor is larger than the corpus
		{50, "0.2", 20, "0.4000092798"},
		{100, "0.2", 20, "0.2158880344"},
		{200, "0.2", 20, "0.2000003683"},
		{100000, "0.2", 20, "0.2"},                                  // out of the floor's reach
		{3, "0.123456789012345678", 0, "0.123456789012345678"},      // without a floor, all digits of the rate
		{100000, "0.123456789012345678", 1, "0.123456789012345678"}, // and where it adds nothing
		{10, "1", 3, "1"},
		{MaxItems, "1e-18", 1, "0.0000001"}, // nearly always the item of the least mark
	} {
		if got := firstChance(test.n, chance(t, test.rate), test.floor).String(); got != test.want {
			t.Errorf("%d items, rate %s, floor %d: %s, want %s", test.n, test.rate, test.floor, got, test.want)
		}
	}
}

// TestDrawOfAGrownCorpus adds 50,000 items to 1,000.
func TestDrawOfAGrownCorpus(t *testing.T) {
	old, added := names(t, 1000, "old"), names(t, 50000, "new")
	grown := itemsOf(t, slices.Concat(added[:20000], old, added[20000:]))

	// Without a floor to reach, an item's status is its own.
	free := drawOf(t, old, "0.2", 20, "s")
	again, err := Draw(grown, chance(t, "0.2"), 20, "s")
	if err != nil {
		t.Fatal(err)
	}
	if diff := drawDiff(free, again[20000:21000]); diff != "" {
		t.Errorf("the old items' draw changed (-before +after):\n%s", diff)
	}

	// With one, it is not: 500 of 1,000 at a rate of 0.2. A draw that keeps the earlier one has them unchanged.
	floored := drawOf(t, old, "0.2", 500, "s")
	if again, err = Draw(grown, chance(t, "0.2"), 500, "s"); err != nil {
		t.Fatal(err)
	}
	if slices.Equal(floored, again[20000:21000]) {
		t.Error("the floor of 500 did not bind: this test shows nothing")
	}
	extended, gone, err := Extend(floored, grown, chance(t, "0.2"), "s")
	if err != nil || len(gone) > 0 {
		t.Fatalf("%d items gone, %v", len(gone), err)
	}
	if diff := drawDiff(floored, extended[20000:21000]); diff != "" {
		t.Errorf("the old items' draw changed (-before +after):\n%s", diff)
	}
	blind := 0
	for _, d := range slices.Concat(extended[:20000], extended[21000:]) {
		if d.Probability != chance(t, "0.2") {
			t.Fatalf("the new item %s has the probability %s", d.Item, d.Probability)
		}
		if d.Blind {
			blind++
		}
	}
	// 0.2 × 50,000, and 3.29 standard deviations of sqrt(50,000 × 0.2 × 0.8) = 89.4.
	if blind < 10000-294 || blind > 10000+294 {
		t.Errorf("%d new items are blind, want about 10000", blind)
	}
}

func TestExtendLeavesOutWhatIsGone(t *testing.T) {
	first := drawOf(t, []string{"a", "b", "c"}, "0.5", 2, "s")
	drawn, gone, err := Extend(first, itemsOf(t, []string{"d", "b"}), chance(t, "0.25"), "another seed")
	if err != nil {
		t.Fatal(err)
	}
	if diff := drawDiff([]Drawn{first[0], first[2]}, gone); diff != "" {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
	if len(drawn) != 2 || drawn[0].Item != "d" || drawn[0].Probability != chance(t, "0.25") || drawn[1] != first[1] {
		t.Errorf("drawn: %v", drawn)
	}
}

func TestDrawSaysWhatIsWrong(t *testing.T) {
	wrong := "the rate is 0: " + allowedChance + "\nthe seed is empty: give any text, chosen once before the study begins"
	if _, err := Draw(&Items{}, rows.Decimal{}, -1, ""); err == nil || err.Error() != "there are no items: at least 1 is needed\n"+wrong+"\nthe floor is -1: 0 or more items are allowed" {
		t.Errorf("Draw: %v", err)
	}
	a := itemsOf(t, []string{"a"})
	if _, _, err := Extend(nil, a, rows.Decimal{}, ""); err == nil || err.Error() != wrong {
		t.Errorf("Extend: %v", err)
	}
	half := chance(t, "0.5")
	twice := []Drawn{{"a", true, half}, {"a", false, half}}
	if _, _, err := Extend(twice, a, half, "s"); err == nil || err.Error() != `the previous draw has the item "a" twice: each item may stand once` {
		t.Errorf("Extend after a draw with an item twice: %v", err)
	}
	other := []Drawn{{"x", true, half}, {"y", false, half}}
	if _, _, err := Extend(other, a, half, "s"); err == nil || err.Error() != "no item of the previous draw is among these: give the draw of this corpus, or none" {
		t.Errorf("Extend after another corpus's draw: %v", err)
	}
	if drawn, gone, err := Extend(nil, a, half, "s"); err != nil || len(drawn) != 1 || len(gone) != 0 {
		t.Errorf("Extend after no draw: %v, %v, %v", drawn, gone, err)
	}
}

func TestParseChance(t *testing.T) {
	for text, want := range map[string]string{
		"0.2": "", "1": "", "1.000": "", "1e-18": "", ".5": "",
		"0":                     `found "0": ` + allowedChance,
		"-0.2":                  `found "-0.2": ` + allowedChance,
		"1.000000000000000001":  `found "1.000000000000000001": ` + allowedChance,
		"20":                    `found "20": ` + allowedChance,
		"20%":                   `found "20%": a decimal number such as 0.25 or 1e-3 is allowed`,
		"0,2":                   `found "0,2": a decimal comma is not read, write a point`,
		"":                      `found "": a decimal number such as 0.25 or 1e-3 is allowed`,
		"NaN":                   `found "NaN": a decimal number such as 0.25 or 1e-3 is allowed`,
		"0.2000000000000000001": `found "0.2000000000000000001": at most 18 decimal places are read`,
	} {
		got := ""
		if _, err := ParseChance(text); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("ParseChance(%q): %q, want %q", text, got, want)
		}
	}
}

func TestSupply(t *testing.T) {
	for _, test := range []struct {
		n    int
		rate string
		want int
	}{
		{100, "0.2", 20}, {99, "0.2", 19}, {5, "0.2", 1}, {4, "0.2", 0}, {7, "1", 7},
		{MaxItems, "0.999999999999999999", MaxItems - 1}, // exact: as a float64 the rate would be 1
	} {
		if got := Supply(test.n, chance(t, test.rate)); got != test.want {
			t.Errorf("Supply(%d, %s) = %d, want %d", test.n, test.rate, got, test.want)
		}
	}
}

func TestDrawProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9é"東][ -~é]{0,6}[a-z0-9"]`), 1, 12, rapid.ID[string]).Draw(t, "items")
		rate := rapid.SampledFrom([]string{"0.01", "0.2", "0.5", "0.999", "1"}).Draw(t, "rate")
		floor := rapid.IntRange(0, 15).Draw(t, "floor")
		seed := rapid.StringN(1, 10, -1).Draw(t, "seed")
		drawn := drawOf(t, ids, rate, floor, seed)

		// The rate alone gives the blind items of a draw without a floor, and a floor only adds some.
		free := drawOf(t, ids, rate, 0, seed)
		blind, free1 := 0, 0
		for i, d := range drawn {
			if d.Item != ids[i] || d.Probability != drawn[0].Probability || free[i].Blind && !d.Blind {
				t.Fatalf("row %d is %+v, without a floor %+v", i+1, d, free[i])
			}
			if d.Blind {
				blind++
			}
			if free[i].Blind {
				free1++
			}
		}
		if want := max(free1, min(floor, len(ids))); blind != want {
			t.Fatalf("%d items are blind, want %d", blind, want)
		}
		// Those are the ones with the least marks.
		mark := marker(seed)
		for _, b := range drawn {
			for _, v := range drawn {
				x, y := mark(b.Item), mark(v.Item)
				if b.Blind && !v.Blind && bytes.Compare(x[:], y[:]) >= 0 {
					t.Fatalf("%q is blind and %q is not", b.Item, v.Item)
				}
			}
		}

		// The order of the list and spaces around ids change nothing.
		shuffled := rapid.Permutation(ids).Draw(t, "shuffled")
		spaced := slices.Clone(shuffled)
		spaced[0] = " " + spaced[0] + "\t"
		of := map[string]Drawn{}
		for _, d := range drawn {
			of[d.Item] = d
		}
		for i, d := range drawOf(t, spaced, rate, floor, seed) {
			if d != of[shuffled[i]] {
				t.Fatalf("in another order %q is drawn as %+v, before as %+v", shuffled[i], d, of[shuffled[i]])
			}
		}

		// What is written can be read, as a draw and as a list of items, and drawing again keeps it.
		text := csvOf(t, drawn)
		var diags diag.List
		if diff := drawDiff(drawn, ReadDraw("-", strings.NewReader(text), &diags)); diff != "" || diags.Len() > 0 {
			t.Fatalf("read back (-written +read):\n%s%v", diff, diags.Err())
		}
		read := ReadItems("-", strings.NewReader(text), &diags)
		kept, gone, err := Extend(drawn, read, chance(t, "0.5"), "another")
		if diff := drawDiff(drawn, kept); diff != "" || len(gone) > 0 || err != nil || diags.Len() > 0 {
			t.Fatalf("extended by nothing (-before +after):\n%s%v %v", diff, err, diags.Err())
		}
	})
}

// TestDrawSeedMatters: a draw that ignored its seed would pass most of the properties.
func TestDrawSeedMatters(t *testing.T) {
	items := names(t, 200, "i")
	// Two draws of 200 items at 0.5 are equal with probability 2^-200.
	if csvOf(t, drawOf(t, items, "0.5", 0, "1")) == csvOf(t, drawOf(t, items, "0.5", 0, "2")) {
		t.Error("two seeds gave one draw")
	}
}

func TestWriteDrawReportsTheWriter(t *testing.T) {
	full := errors.New("disk full")
	if err := WriteDraw(brokenWriter{full}, []Drawn{{"a", true, one}}); !errors.Is(err, full) {
		t.Errorf("got error %v, want one that wraps %q", err, full)
	}
}

// BenchmarkDraw draws from a million items, with a floor that the rate does not reach: all are ranked.
func BenchmarkDraw(b *testing.B) {
	ids := names(b, 1_000_000, "item-")
	for b.Loop() {
		var diags diag.List
		items := ReadItems("-", strings.NewReader(strings.Join(ids, "\n")), &diags)
		drawn, err := Draw(items, chance(b, "0.2"), 300_000, "s")
		if err == nil {
			err = WriteDraw(&bytes.Buffer{}, drawn)
		}
		if err != nil || diags.Len() > 0 {
			b.Fatal(err, diags.Err())
		}
	}
}

func chance(t fataler, text string) rows.Decimal {
	t.Helper()
	d, err := ParseChance(text)
	if err != nil {
		t.Fatalf("ParseChance: %v", err)
	}
	return d
}

func itemsOf(t fataler, ids []string) *Items {
	t.Helper()
	var items Items
	var diags diag.List
	for _, id := range ids {
		items.Add(id, diag.Pos{}, &diags)
	}
	if err := diags.Err(); err != nil {
		t.Fatalf("Add: %v", err)
	}
	return &items
}

func drawOf(t fataler, ids []string, rate string, floor int, seed string) []Drawn {
	t.Helper()
	drawn, err := Draw(itemsOf(t, ids), chance(t, rate), floor, seed)
	if err != nil {
		t.Fatalf("Draw: %v", err)
	}
	return drawn
}

func csvOf(t fataler, drawn []Drawn) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteDraw(&b, drawn); err != nil {
		t.Fatalf("WriteDraw: %v", err)
	}
	return b.String()
}

// drawDiff is the difference of two draws, "" for none.
func drawDiff(a, b []Drawn) string {
	return cmp.Diff(a, b, cmpopts.EquateEmpty(), cmpopts.EquateComparable(rows.Decimal{}))
}

// TestWhatRunsElsewhere holds ids to what a CI runner's log and a spreadsheet that splits at another delimiter would make
// of a printed draw.
func TestWhatRunsElsewhere(t *testing.T) {
	var items Items
	diags := &diag.List{}
	for _, id := range []string{"a##[error]b", "##vso[task.setvariable variable=x]y", "one\u2028two"} {
		items.Add(id, diag.Pos{}, diags)
	}
	if n := diags.Len(); n != 3 || items.Len() != 0 {
		t.Errorf("%d of 3 ids are refused, and %d are kept", n, items.Len())
	}
	var b strings.Builder
	list := []Drawn{{Item: "::error::x", Blind: true}, {Item: "x;=cmd|'/c calc'!A1"}}
	if err := WriteDraw(&b, list); err != nil {
		t.Fatal(err)
	}
	want := "item,visibility,inclusion_probability\n\"::error::x\",blind,0\n\"x;=cmd|'/c calc'!A1\",visible,0\n"
	if b.String() != want {
		t.Errorf("printed %q, want %q", b.String(), want)
	}
}
