package gate

import (
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

func TestPluralAndQuoted(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Plural(1, "person", "people"), "1 person"},
		{Plural(0, "person", "people"), "0 people"},
		{Quoted(nil), ""},
		{Quoted([]string{"a", "b\n"}), `"a", "b\n"`},
		{Quoted([]string{"a", "b", "c", "d", "e", "f", "g"}), `"a", "b", "c", "d", "e" and 2 more`},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

// TestForms: values that a person reads as one are found whatever makes them differ; others stay apart.
func TestForms(t *testing.T) {
	got := Forms(map[string]int{"new": 1, "New": 1, "ne w": 1, "old": 1, "ﬁle": 1, "file": 1, "cafe\u0301": 1, "café": 1, "newer": 1})
	want := [][]string{{"New", "ne w", "new"}, {"cafe\u0301", "café"}, {"file", "ﬁle"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

// TestMarker: markers of missing values in any letter case and spacing; answers are none.
func TestMarker(t *testing.T) {
	for value, want := range map[string]bool{"NA": true, "n / a": true, "Not recorded": true, "?": true, "no": false, "nano": false, "0": false, "": false} {
		if got := Marker(value); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

func TestTerms(t *testing.T) {
	pair := func(k, v string) policy.Pair {
		return policy.Pair{Key: policy.Text{Value: k}, Value: policy.Text{Value: v}}
	}
	var s Slicing
	s.Terms([]policy.Pair{pair("site", "Lyon")})
	terms, name := s.Terms([]policy.Pair{pair("level", "hard"), pair("site", "Turin")})
	if diff := cmp.Diff([]Term{{1, "hard"}, {0, "Turin"}}, terms); diff != "" || name != "level=hard, site=Turin" {
		t.Errorf("name %q, terms (-want +got):\n%s", name, diff)
	}
	if diff := cmp.Diff([]string{"site", "level"}, s.Columns); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}

func TestLeftOutListsOnlyWhatIs(t *testing.T) {
	got := LeftOut("a", 0, "b", 2)
	if diff := cmp.Diff([]report.LeftOut{{Reason: "b", Count: 2}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFractionsAreExact: the mean of fractions is the float64 nearest to their exact mean, in any order.
func TestFractionsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type part struct{ k, n, sign int }
		parts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) part {
			n := rapid.IntRange(1, 30).Draw(t, "n")
			return part{rapid.IntRange(0, n).Draw(t, "k"), n, rapid.SampledFrom([]int{-1, 1}).Draw(t, "sign")}
		}), 1, 40).Draw(t, "parts")
		var forward, backward Fractions
		exact := new(big.Rat)
		for i := range parts {
			p, q := parts[i], parts[len(parts)-1-i]
			forward.Add(p.k, p.n, p.sign)
			backward.AddBig(big.NewInt(int64(q.k)), q.n, q.sign)
			exact.Add(exact, big.NewRat(int64(p.sign*p.k), int64(p.n)))
		}
		want, _ := exact.Quo(exact, big.NewRat(int64(len(parts)), 1)).Float64()
		if a, b := forward.Over(len(parts)), backward.Over(len(parts)); a != want || b != want {
			t.Fatalf("got %v and backwards %v, want %v", a, b, want)
		}
	})
}

// TestThousands: a comma stands before every third digit from the end, and none first.
func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567", -999: "-999", -1000: "-1,000", -123456: "-123,456"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
}
