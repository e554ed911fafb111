package report

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestJSONShowsWhatIsThere: characters that turn the direction of writing or show nothing are escaped, and read back.
func TestJSONShowsWhatIsThere(t *testing.T) {
	for _, name := range []string{"a\u202eb", "zero\u200bwidth", "tag\U000e0041", "\ufeffmark", "ordinary é 漢"} {
		r := New("1")
		r.Gates = []Gate{{Gate: "compare", Name: name}}
		doc, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(string(doc), invisible) {
			t.Errorf("%q stands raw in %s", name, doc)
		}
		var back Report
		if err := json.Unmarshal(doc, &back); err != nil || back.Gates[0].Name != name {
			t.Errorf("%q is read back as %q (%v)", name, back.Gates[0].Name, err)
		}
	}
}
