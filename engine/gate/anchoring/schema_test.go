package anchoring

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// TestReportsFollowTheSchema: what the gate answers, put into a report, is what the published schema describes.
func TestReportsFollowTheSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.JSONSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	two := several("b", "ann", "blind", 30, 20, 2) + several("v", "ann", "visible", 30, 25, 1) + several("b", "bob", "blind", 30, 22, 0) +
		"v0,bob,a,a,visible,verify,1,,0,9,\nv1,bob,a,b,visible,audit,0,,0,4,\nb0,ann,a,a,blind,,,,,,\nb30,ann,a,,blind,,,,,,\nb30,ann,a,a,blind,audit,,,,,\n"
	two = strings.Replace(two, "b0,ann,a,a,blind", "b0,ann,a,b,blind", 1)
	one := several("i", "ann", "blind", 30, 28, 1) + several("v", "ann", "visible", 30, 30, 0)
	uneven := strings.Replace(one, "i0,ann,a,a,blind,,,,,,", "i0,ann,a,a,blind,,,0.5,,,", 1)
	draw := "item,visibility,inclusion_probability\n" + drawOf(32, 40, "0.25") + "x,blind,1\n"
	for i := range 30 {
		draw += fmt.Sprintf("v%d,visible,0.25\n", i)
	}
	for _, r := range []run{
		{verb: gate.Decide, policy: everyRule, labels: header + two},
		{verb: gate.Decide, policy: everyRule, labels: header + one},
		{verb: gate.Decide, policy: "corpus_size: 71\nmodel: m\nvalid_items: 5" + everyRule[:strings.Index(everyRule, "  - {id: br")], labels: header + one, draw: draw},
		{verb: gate.Decide, policy: "corpus_size: 400" + everyRule[:strings.Index(everyRule, "  - {id: br")], labels: header + one},
		{verb: gate.Decide, policy: "least_inclusion_probability: 0.1" + everyRule, labels: header + strings.ReplaceAll(strings.ReplaceAll(uneven, ",blind,,,,,,", ",blind,,,0.25,,,"), ",visible,,,,,,", ",visible,,,0.25,,,")},
		{verb: gate.Report, labels: header + two},
		{verb: gate.Check, labels: header + two, draw: draw},
		{verb: gate.Report, labels: header + labelled("x", "ann", "", "visible")},
	} {
		a, err := try(r)
		if err != nil {
			t.Errorf("%s %s: %v", r.verb, r.policy, err)
			continue
		}
		out := report.New("1.0.0")
		digest := strings.Repeat("0", 64)
		out.Inputs = []report.Input{{Path: "labels.csv", SHA256: digest, Bytes: 1, Rows: 1}}
		if r.draw != "" {
			out.Inputs = append(out.Inputs, report.Input{Path: "draw.csv", SHA256: digest, Bytes: 1, Rows: 1, Role: "draw"})
		}
		out.Gates, out.Confidence = []report.Gate{a.Gate}, 0.95
		if r.verb == gate.Decide {
			out.Policy = &report.File{Path: "policy.yaml", SHA256: digest}
			out.Decide()
		}
		text, err := out.JSON()
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s %s: %v\n%s", r.verb, r.policy, err, text)
		}
	}
}
