package report_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// policyText is the policy that passing is decided by, as far as a certificate cares.
const policyText = "model: sorter 8\nrules:\n  - {id: right, metric: blind_agreement, minimum: 0.8}\n"

// digest is one that a file could have.
func digest(char string) string { return strings.Repeat(char, 64) }

// passing is the report of a run of the anchoring gate that passes: 40 of 40 blind labels agree, whose exact lower end at
// 95 % is 0.025^(1/40) = 0.9119026971...
func passing() *report.Report {
	r := report.New("1.0.0")
	r.Policy = &report.File{Path: "policy.yaml", SHA256: digest("a")}
	r.Inputs = []report.Input{
		{Path: "labels.csv", SHA256: digest("b"), Bytes: 900, Rows: 40, Findings: []report.InputFinding{{Code: "missing_labels", Position: diag.Pos{File: "labels.csv", Line: 2}}}},
		{Path: "draw.csv", SHA256: digest("c"), Bytes: 500, Rows: 90, Role: "draw"},
	}
	right := report.Rule{
		Measure: report.Measure{
			Metric: "blind_agreement", Labels: map[string]string{"per": "item"}, Estimate: report.Number(1),
			Interval:  &report.Interval{Lower: report.Number(0.9119026971), Upper: report.Number(1), Confidence: 0.95, Method: interval.MethodClopperPearson, Looks: interval.LooksOne},
			Numerator: report.Int(40), Denominator: report.Int(40), Units: report.Int(40), Missing: report.Int(0),
		},
		ID: "right", Threshold: report.Threshold{Kind: report.Minimum, Value: 0.8}, Verdict: report.Pass, Reason: "The whole interval is above.",
		Position: diag.Pos{File: "policy.yaml", Line: 3, Column: 6},
	}
	seldom, watched, gap := right, right, right
	seldom.ID, seldom.Threshold = "seldom", report.Threshold{Kind: report.Maximum, Value: 1}
	watched.ID, watched.Advisory = "watched", true
	gap.ID, gap.Metric, gap.Threshold = "gap", "anchoring_gap", report.Threshold{Kind: report.Minimum, Value: -1}
	r.Gates = []report.Gate{{
		Gate: "anchoring", Name: "letters", Summary: "40 labels.",
		Settings: map[string]string{"model": "sorter 8", "guideline": "version 3", "valid_until": "2027-03-31", "valid_items": "5000", "corpus_size": "90"},
		Rules:    []report.Rule{right, seldom, watched, gap}, Assumptions: []string{"Drawn at random."}, Limits: []string{"People may be wrong."},
	}}
	r.Decide()
	return r
}

// mustCertify is the certificate of a run.
func mustCertify(t testing.TB, r *report.Report) *report.Certificate {
	t.Helper()
	c, err := report.Certify(r, []byte(policyText))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCertify(t *testing.T) {
	r := passing()
	got := mustCertify(t, r)
	want := &report.Certificate{
		Schema: "oloproof-certificate/1", Tool: r.Tool, Gate: "anchoring", Name: "letters",
		Model: "sorter 8", Guideline: "version 3", ValidUntil: "2027-03-31", ValidItems: 5000, CorpusSize: 90,
		Rules: r.Gates[0].Rules[:1], Assumptions: []string{"Drawn at random."}, Limits: []string{"People may be wrong."},
		Inputs: r.Inputs, Policy: report.PolicyText{File: *r.Policy, Text: policyText},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	for name, test := range map[string]struct {
		change func(*report.Report)
		want   string
	}{
		"FAIL":                {func(r *report.Report) { r.Gates[0].Rules[3].Verdict = report.Fail }, "the verdict is FAIL, and only PASS is certified"},
		"not decided":         {func(r *report.Report) { r.Gates[0].Rules[0].Verdict = report.InsufficientEvidence }, "the verdict is INSUFFICIENT_EVIDENCE, and only PASS is certified"},
		"a person's":          {func(r *report.Report) { r.Gates[0].Rules[0].Verdict = report.ManualReview }, "the verdict is MANUAL_REVIEW, and only PASS is certified"},
		"without a rule":      {func(r *report.Report) { r.Gates[0].Rules = nil }, "the verdict is NO_VERDICT, and only PASS is certified"},
		"no minimum":          {func(r *report.Report) { r.Gates[0].Rules = r.Gates[0].Rules[1:] }, "no counting rule is a minimum of blind_agreement, which a hand-over rests on"},
		"nothing rests":       {func(r *report.Report) { r.Gates[0].Settings["corpus_rest"] = "0" }, "every item of the corpus was drawn blind, so that none rests to be handed over"},
		"two gates":           {func(r *report.Report) { r.Gates = append(r.Gates, r.Gates[0]) }, "a certificate is for one section of one policy"},
		"two policies":        {func(r *report.Report) { r.Policy, r.Policies = nil, []report.File{*r.Policy, *r.Policy} }, "a certificate is for one section of one policy"},
		"an advisory failure": {func(r *report.Report) { r.Gates[0].Rules[2].Verdict = report.Fail }, ""},
	} {
		r := passing()
		test.change(r)
		r.Decide()
		_, err := report.Certify(r, []byte(policyText))
		if got := errorText(err); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// errorText is an error's text, "" for none.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestParseCertificate: what is written is read again, with any white space, and nothing else is.
func TestParseCertificate(t *testing.T) {
	c := mustCertify(t, passing())
	doc, err := c.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var tight bytes.Buffer
	if err := json.Compact(&tight, doc); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"as written": doc, "without spaces": tight.Bytes(), "CRLF": bytes.ReplaceAll(doc, []byte("\n"), []byte("\r\n"))} {
		got, err := report.ParseCertificate(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(c, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}

	const other = "it is not as this program writes certificates: a key is there twice or in another place, or a value is written in another way; use the file as it was written"
	edit := func(old, new string) string {
		if n := strings.Count(string(doc), old); n < 1 {
			t.Fatalf("the certificate has no %q", old)
		}
		return strings.Replace(string(doc), old, new, 1)
	}
	for name, test := range map[string]struct{ text, want string }{
		"empty":               {"", "it is not a certificate: it is empty"},
		"truncated":           {string(doc[:len(doc)/2]), "it is not a certificate: it ends in the middle"},
		"no JSON":             {"item,annotator\n", "it is not a certificate: invalid character 'i' looking for beginning of value"},
		"a list":              {"[]", "it is not a certificate: it is a JSON array, not an object"},
		"null":                {"null", `its schema is ""; this program reads oloproof-certificate/1`},
		"two documents":       {string(doc) + "{}", "it is not a certificate: something follows the document"},
		"something behind":    {string(doc) + "x", "it is not a certificate: something follows the document"},
		"another schema":      {edit("oloproof-certificate/1", "oloproof-certificate/2"), `its schema is "oloproof-certificate/2"; this program reads oloproof-certificate/1`},
		"another gate":        {edit(`"anchoring"`, `"compare"`), `its gate is "compare", and certificates are of anchoring`},
		"an unknown key":      {edit(`"model":`, `"signed": true, "model":`), `it is not a certificate: unknown field "signed"`},
		"a key in a rule":     {edit(`"metric":`, `"x": 1, "metric":`), `it is not a certificate: unknown field "x"`},
		"a number as text":    {edit(`"valid_items": 5000`, `"valid_items": "5000"`), `it is not a certificate: "valid_items" cannot be a JSON string`},
		"an unknown verdict":  {edit(`"verdict": "PASS"`, `"verdict": "GOOD"`), ""},
		"a key twice":         {edit(`"model":`, `"model": "sorter 9", "model":`), other},
		"other letter case":   {edit(`"model":`, `"Model":`), other},
		"another place":       {strings.Replace(edit(`"gate": "anchoring",`, ""), `"model":`, `"gate": "anchoring", "model":`, 1), other},
		"a value of no worth": {edit(`"model": "sorter 8",`, `"model": null,`), other},
		"another number":      {edit(`0.9119026971`, `0.91190269710`), other},
		"an escape":           {edit(`sorter 8`, `sorter \u0038`), other},
		"no rules":            {`{"schema":"oloproof-certificate/1","gate":"anchoring","inputs":[{}],"policy":{"path":"p","text":"x"}}`, "it is not a whole certificate: it lacks rules, inputs, or the policy's path or text"},
		"no inputs":           {`{"schema":"oloproof-certificate/1","gate":"anchoring","rules":[{}],"policy":{"path":"p","text":"x"}}`, "it is not a whole certificate: it lacks rules, inputs, or the policy's path or text"},
		"no policy":           {`{"schema":"oloproof-certificate/1","gate":"anchoring","rules":[{}],"inputs":[{}]}`, "it is not a whole certificate: it lacks rules, inputs, or the policy's path or text"},
		"no path":             {`{"schema":"oloproof-certificate/1","gate":"anchoring","rules":[{}],"inputs":[{}],"policy":{"text":"x"}}`, "it is not a whole certificate: it lacks rules, inputs, or the policy's path or text"},
	} {
		got, err := report.ParseCertificate([]byte(test.text))
		if err == nil || got != nil || test.want != "" && err.Error() != test.want {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if err != nil && (strings.Contains(err.Error(), "report.") || strings.Contains(err.Error(), "Go ")) {
			t.Errorf("%s: the error speaks of the program's own types: %v", name, err)
		}
	}
}

// TestDifferences: a certificate holds for the run that it was made from, whatever its files are named and in whatever
// order they are given, and for no other.
func TestDifferences(t *testing.T) {
	const day = "2027-03-31"
	for name, test := range map[string]struct {
		certificate func(*report.Certificate)
		run         func(*report.Report)
		today       string
		want        []string
	}{
		"nothing":       {},
		"other names":   {run: func(r *report.Report) { r.Inputs[0].Path, r.Inputs[0].Findings = "x.csv", nil }},
		"another order": {run: func(r *report.Report) { slices.Reverse(r.Inputs) }},
		"the next day":  {today: "2027-04-01", want: []string{"It was valid until 2027-03-31, and today is 2027-04-01."}},
		"other labels": {run: func(r *report.Report) { r.Inputs[0].SHA256 = digest("d") }, want: []string{
			`"labels.csv", which was certified, is not among the files given (SHA-256 ` + digest("b") + `).`,
			`"labels.csv" was not certified (SHA-256 ` + digest("d") + `): other data are a new test, with a chance of its own to be lucky.`}},
		"no draw": {run: func(r *report.Report) { r.Inputs = r.Inputs[:1] }, want: []string{
			`the draw "draw.csv", which was certified, is not among the files given (SHA-256 ` + digest("c") + `).`}},
		"the draw as labels": {run: func(r *report.Report) { r.Inputs[1].Role = "" }, want: []string{
			`the draw "draw.csv", which was certified, is not among the files given (SHA-256 ` + digest("c") + `).`,
			`"draw.csv" was not certified (SHA-256 ` + digest("c") + `): other data are a new test, with a chance of its own to be lucky.`}},
		"a file twice": {run: func(r *report.Report) { r.Inputs = append(r.Inputs, r.Inputs[0]) }, want: []string{
			`"labels.csv" was not certified (SHA-256 ` + digest("b") + `): other data are a new test, with a chance of its own to be lucky.`}},
		"a rule that fails": {run: func(r *report.Report) { r.Gates[0].Rules[0].Verdict = report.Fail }, want: []string{
			`Rule "right" comes to FAIL: The whole interval is above.`}},
		"a rule beside that fails": {run: func(r *report.Report) { r.Gates[0].Rules[3].Verdict = report.Fail }, want: []string{"The run comes to FAIL."}},
		"a rule that is gone": {run: func(r *report.Report) { r.Gates[0].Rules = r.Gates[0].Rules[1:] }, want: []string{
			`The policy in it has no counting rule "right" on blind_agreement.`}},
		"a rule that is advisory now": {run: func(r *report.Report) { r.Gates[0].Rules[0].Advisory = true }, want: []string{
			`The policy in it has no counting rule "right" on blind_agreement.`}},
		"a rule more": {run: func(r *report.Report) { r.Gates[0].Rules[2].Advisory = false }, want: []string{`The policy's rule "watched" is not in it.`}},
		"a stated lower end": {certificate: func(c *report.Certificate) { c.Rules[0].Interval.Lower = report.Number(0.99) }, want: []string{
			`Rule "right" is stated with another threshold, interval or count than the files give.`}},
		"no stated interval": {certificate: func(c *report.Certificate) { c.Rules[0].Interval = nil }, want: []string{
			`Rule "right" is stated with another threshold, interval or count than the files give.`}},
		"a stated threshold": {certificate: func(c *report.Certificate) { c.Rules[0].Threshold.Value = 0.9 }, want: []string{
			`Rule "right" is stated with another threshold, interval or count than the files give.`}},
		"stated units": {certificate: func(c *report.Certificate) { c.Rules[0].Labels = map[string]string{"per": "person"} }, want: []string{
			`Rule "right" is stated with another threshold, interval or count than the files give.`}},
		"a stated count": {certificate: func(c *report.Certificate) { c.Rules[0].Missing = nil }, want: []string{
			`Rule "right" is stated with another threshold, interval or count than the files give.`}},
		"a stated model": {certificate: func(c *report.Certificate) { c.Model = "sorter 9" }, want: []string{
			"It states another name, model, guideline, validity or corpus size than its policy."}},
		"a longer validity": {today: "2028-01-01", certificate: func(c *report.Certificate) { c.ValidUntil = "2029-01-01" }, want: []string{
			"It states another name, model, guideline, validity or corpus size than its policy."}},
		"more items": {certificate: func(c *report.Certificate) { c.ValidItems = 0 }, want: []string{
			"It states another name, model, guideline, validity or corpus size than its policy."}},
		"limits left out": {certificate: func(c *report.Certificate) { c.Limits = nil }, want: []string{
			"It states something else than this version of the program writes of the same files."}},
		"a stated sentence": {certificate: func(c *report.Certificate) { c.Rules[0].Reason = "Certain." }, want: []string{
			"It states something else than this version of the program writes of the same files."}},
		"stated rows": {certificate: func(c *report.Certificate) { c.Inputs[0].Rows = 4000 }, want: []string{
			"It states something else than this version of the program writes of the same files."}},
		"sentences of another version": {certificate: func(c *report.Certificate) { c.Tool.Version, c.Rules[0].Reason = "0.9.0", "It is above." }},
	} {
		t.Run(name, func(t *testing.T) {
			c, r := mustCertify(t, passing()), passing()
			if test.certificate != nil {
				test.certificate(c)
			}
			if test.run != nil {
				test.run(r)
				r.Decide()
			}
			today := test.today
			if today == "" {
				today = day
			}
			if diff := cmp.Diff(test.want, c.Differences(r, today)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// FuzzParseCertificate: whatever the bytes, it ends, and what it accepts it writes again in the same way and can hold
// against a run.
func FuzzParseCertificate(f *testing.F) {
	doc, err := mustCertify(f, passing()).JSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(doc)
	f.Add(doc[:200])
	f.Add([]byte(`{"schema":"oloproof-certificate/1","gate":"anchoring","rules":[{}],"inputs":[{}],"policy":{"text":"x","path":"p"}}`))
	f.Add([]byte(`{"rules":[{"threshold":{},"verdict":1,"interval":{"lower":null}}]}`))
	f.Add([]byte(strings.Repeat(`{"rules":[`, 6000)))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := report.ParseCertificate(data)
		if err != nil {
			if c != nil || err.Error() == "" {
				t.Errorf("%v with %v", c, err)
			}
			return
		}
		again, err := c.JSON()
		if err != nil {
			t.Fatal(err)
		}
		same, err := report.ParseCertificate(again)
		if err != nil {
			t.Fatalf("what was accepted is refused when it is written again: %v", err)
		}
		if diff := cmp.Diff(c, same); diff != "" {
			t.Errorf("read again (-before +after)\n%s", diff)
		}
		c.Differences(passing(), "2027-01-01")
	})
}
