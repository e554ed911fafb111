package fairness

import (
	"bytes"
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
	full := everyHeader + "1,1,0,0.2,a,female,20,north\n2,1,1,0.9,b,male,40,north\n3,0,,,c,male,70,\n4,,1,1,d,x,30,south\n5,0,0,0,e,,30,north\n"
	var large strings.Builder
	large.WriteString(everyHeader)
	for i, row := range strings.Split(strings.Repeat("1,0,0.2,%,female,20,north;1,1,0.9,%,male,40,north;0,1,0.4,%,male,70,north;0,0,0.1,%,female,60,;1,1,0.1,%,female,30,south;0,0,0.1,%,male,20,south;", 40), ";") {
		if row != "" {
			id := strings.Repeat("i", i%50) + strings.Repeat("j", i/50) + "k"
			large.WriteString(id + "," + strings.ReplaceAll(row, "%", id) + "\n")
		}
	}
	for _, r := range []run{
		{verb: gate.Decide, declaration: every, files: map[string]string{"c": full}},
		{verb: gate.Decide, declaration: every, files: map[string]string{"c": large.String()}},
		{verb: gate.Decide, declaration: "min_shown: 5\n" + strings.ReplaceAll(every, "{id: gap,", "{id: gap, advisory: true, waive: {until: 2027-01-01, owner: o, reason: r},"), files: map[string]string{"c": full}},
		{verb: gate.Decide, declaration: strings.ReplaceAll(every, "max_left_out: 0.5", "max_left_out: 0"), files: map[string]string{"c": full}},
		{verb: gate.Report, declaration: every, files: map[string]string{"c": full}},
		{verb: gate.Check, declaration: every, files: map[string]string{"c": full}},
	} {
		r.names = []string{"c"}
		a, err := tryRun(r)
		if err != nil {
			t.Errorf("%s: %v", r.verb, err)
			continue
		}
		out := report.New("1.0.0")
		digest := strings.Repeat("0", 64)
		out.Inputs = []report.Input{{Path: "c", SHA256: digest, Bytes: 1, Rows: 1}}
		out.Gates, out.Confidence = []report.Gate{a.Gate}, 0.95
		out.Policy = &report.File{Path: "fairness.yaml", SHA256: digest}
		if r.verb == gate.Decide {
			out.Decide()
			out.Today = "2026-11-29"
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
			t.Errorf("%s: %v\n%s", r.verb, err, text)
		}
	}
}
