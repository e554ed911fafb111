package compare

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
	const every = `
rules:
  - {id: s, metric: sign_test}
  - {id: d, metric: pass_rate_difference, minimum: -0.02}
  - {id: r, metric: rate, minimum: 0.5, version: baseline}
  - {id: a, metric: pass_at_k, k: 1, minimum: 0.5, where: {case: case-1}}
  - {id: w, metric: sign_test, where: {case: none}}
`
	lesson := header + written("old", lessonOld...) + written("new", lessonNew...)
	holes := header + written("old", "1?", "0", "??") + written("new", "1", "11", "0?", "1") + written("third", "1")
	scored := scoreHeader + "old,case-1,1,0.5\nnew,case-1,1,0.25\nnew,case-2,1,\n"
	const versions = "baseline: old\ncandidate: new\n"
	for _, r := range []run{
		{verb: gate.Decide, policy: versions + every, files: map[string]string{"t": lesson}},
		{verb: gate.Decide, policy: versions + "case_list: fixed\nplan: {cases: 8, trials: 5}" + every, files: map[string]string{"t": lesson}},
		{verb: gate.Decide, policy: versions + "looks: repeated\nplan: {cases: 3, trials: 1}" + every, files: map[string]string{"t": holes}},
		{verb: gate.Decide, policy: versions + "looks: once\nplanned: 9\nmax_left_out: 0" + every, files: map[string]string{"t": holes}},
		{verb: gate.Decide, policy: versions + strings.ReplaceAll(every, "pass_at_k, k: 1,", "rate,"), files: map[string]string{"t": scored}},
		{verb: gate.Report, files: map[string]string{"t": holes}},
		{verb: gate.Report, flags: gate.Flags{Baseline: "old", Candidate: "new"}, files: map[string]string{"t": holes}},
		{verb: gate.Check, files: map[string]string{"t": holes}},
	} {
		r.names = []string{"t"}
		a, err := tryRun(r)
		if err != nil {
			t.Errorf("%s %s: %v", r.verb, r.policy, err)
			continue
		}
		out := report.New("1.0.0")
		digest := strings.Repeat("0", 64)
		out.Inputs = []report.Input{{Path: "t", SHA256: digest, Bytes: 1, Rows: 1}}
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
