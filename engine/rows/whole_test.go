package rows

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
)

// TestReadWhole: files come as one piece each, decompressed, in the order of paths; what cannot be used is told and left out.
func TestReadWhole(t *testing.T) {
	packed := gzipped(t, "one")
	files := folder("a.json", "one", "b.json", "two", "c.json.gz", packed, "d/x.json", "three", "empty.json", "", "long.json", "12345678")
	for _, test := range []struct {
		paths      []string
		want, told string
	}{
		{[]string{"b.json", "a.json"}, "two one", ""},
		{[]string{"?.json", "d/*"}, "one two three", ""},
		{[]string{"c.json.gz"}, "one", ""},
		{[]string{"a.json", "c.json.gz"}, "one", "c.json.gz: the content is the same as that of a.json: a file can be given once"},
		{[]string{"a.json", "a.json"}, "one", "a.json: the file is given twice: name it once"},
		{[]string{"empty.json"}, "", "empty.json: the file is empty"},
		{[]string{"long.json"}, "", "long.json: it is longer than 0 MiB, and this is no such file"},
		{[]string{"none.json", "b.json"}, "two", "none.json: there is no such file"},
		{[]string{"-"}, "", "-: standard input is not read here: name a file"},
		{[]string{"../a.json"}, "", "../a.json: the path leaves the folder that may be read: give one inside it, relative to it"},
	} {
		diags := &diag.List{}
		var got []string
		for _, whole := range ReadWhole(test.paths, Options{FS: files}, 7, diags) {
			got = append(got, string(whole.Data))
			if whole.Bytes == 0 || len(whole.SHA256) != 64 || (whole.SHA256 == whole.Content) == strings.HasSuffix(whole.Path, ".gz") {
				t.Errorf("%s: %d bytes, digests %s and %s", whole.Path, whole.Bytes, whole.SHA256, whole.Content)
			}
		}
		told := ""
		if err := diags.Err(); err != nil {
			told = err.Error()
		}
		if strings.Join(got, " ") != test.want || told != test.told {
			t.Errorf("%q: got %q, told %q; want %q, %q", test.paths, got, told, test.want, test.told)
		}
	}
}

// TestSumsAsText: a sum is written exactly and read again, n times a number is that many of them added, and a decimal comes back from its
// whole number of steps.
func TestSumsAsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,4}\.[0-9]{1,18}`).Draw(t, "number")
		d, _, err := ParseDecimal(text)
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(0, 40).Draw(t, "n")
		added := Sum{}
		for range n {
			added = added.Add(d)
		}
		if times := (Sum{}).Add(d).Times(n); times != added {
			t.Fatalf("%d times %s is %s, and added %s", n, text, times, added)
		}
		again, rounded, err := ParseDecimal(added.String())
		if err != nil || rounded || (Sum{}).Add(again) != added {
			t.Fatalf("%s is read as %s (%v)", added, again, err)
		}
		if back := DecimalOf(d.Big()); back != d {
			t.Fatalf("%s comes back as %s", d, back)
		}
	})
	if d := DecimalOf(big.NewInt(-1)); d.String() != "-0.000000000000000001" {
		t.Errorf("one step below 0 is %s", d)
	}
}
