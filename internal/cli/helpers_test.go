package cli

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// update rewrites what the tests compare with: the scripts' own files and the frozen reports.
var update = flag.Bool("update", false, "rewrite the expected files")

// testDay is the day of every run in memory.
var testDay = time.Date(2026, 11, 20, 23, 59, 0, 0, time.UTC)

// inMemory is a program whose world is fixed.
func inMemory() *app {
	return &app{World: World{
		Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }, Version: "1.0.0",
		Licences: "the licences\n",
		Now:      func() time.Time { return testDay },
	}}
}

// folder is a file system of name, content, name, content …
func folder(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return fsys
}

// humanAI is the gate of the studies here.
func humanAI() gate.Gate { return kinds.Lookup("human-ai") }

// anchoringGate is the gate of labels given without a suggestion.
func anchoringGate() gate.Gate { return kinds.Lookup("anchoring") }

// fairnessGate is the gate of declared groups.
func fairnessGate() gate.Gate { return kinds.Lookup("fairness") }

// decide runs `human-ai gate` in memory; the policy is policy.yaml.
func decide(fsys fstest.MapFS, files ...string) *report.Report {
	return inMemory().run(request{verb: gate.Decide, gate: humanAI(), policy: "policy.yaml", files: files, fs: fsys})
}

// header is the columns of the decision files made here.
const header = "case,reviewer,condition,decision,reference,ai_output\n"

// singles is a study of n people with one decision each, of their own case, made with the output; the first right of
// them are right. Such a study's rates are decided: neither people nor cases repeat.
func singles(n, right int) string {
	var b strings.Builder
	b.WriteString(header)
	for i := range n {
		decision := "no"
		if i < right {
			decision = "yes"
		}
		fmt.Fprintf(&b, "case-%02d,person-%02d,with,%s,yes,no\n", i, i, decision)
	}
	return b.String()
}

// crossedStudy is a crossed study: everyone decides every case once, half of them with the output, and is right
// where right says so. The output is always right.
func crossedStudy(people, cases int, right func(person, item int, with bool) bool) string {
	var b strings.Builder
	b.WriteString(header)
	for p := range people {
		for c := range cases {
			with := (p+c)%2 == 0
			decision, condition, output := "no", "without", ""
			if with {
				condition, output = "with", "yes"
			}
			if right(p, c, with) {
				decision = "yes"
			}
			fmt.Fprintf(&b, "c%02d,p%02d,%s,%s,yes,%s\n", c, p, condition, decision, output)
		}
	}
	return b.String()
}

// caseRows is a file of decided cases for the fairness gate: the id, from 1 upwards, and the given columns. blocks are
// how many cases are alike and the row that they have, by turns.
func caseRows(columns string, blocks ...any) string { return numberedRows("id", columns, blocks...) }

// labelRows is a file of labels for the anchoring gate: the item, from 1 upwards, and the given columns, in blocks as
// caseRows has them.
func labelRows(columns string, blocks ...any) string { return numberedRows("item", columns, blocks...) }

// drawRows is a draw of the items of labelRows: blocks of items with the given visibility, and their inclusion probability
// where it follows behind a comma.
func drawRows(blocks ...any) string {
	columns := "visibility"
	if strings.Contains(blocks[1].(string), ",") {
		columns += ",inclusion_probability"
	}
	return labelRows(columns, blocks...)
}

// numberedRows is a file whose first column counts from 1 upwards, in blocks of rows that are alike otherwise.
func numberedRows(first, columns string, blocks ...any) string {
	var b strings.Builder
	b.WriteString(first + "," + columns + "\n")
	id := 0
	for i := 0; i < len(blocks); i += 2 {
		for range blocks[i].(int) {
			id++
			fmt.Fprintf(&b, "%d,%s\n", id, blocks[i+1])
		}
	}
	return b.String()
}

// sha256Of is the digest of a file with that text, in hexadecimal.
func sha256Of(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// compileReportSchema compiles the published schema of reports.
func compileReportSchema() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.JSONSchema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report.schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("report.schema.json")
}

// compilePrinted compiles the schema that `oloproof schema NAME` prints, from its text alone.
func compilePrinted(name string) (*jsonschema.Schema, error) {
	status, stdout, stderr := runMain("schema", name)
	if status != 0 {
		return nil, fmt.Errorf("schema %s ends with %d: %s", name, status, stderr)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(stdout))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name+".schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile(name + ".schema.json")
}

// reportSchema is the compiled schema.
func reportSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	compiled, err := compileReportSchema()
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// validate holds a JSON report to the schema.
func validate(schema *jsonschema.Schema, doc []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// gates is the part of a report that depends on nothing but the decisions and the rules.
func gates(t interface {
	Helper()
	Fatal(...any)
}, r *report.Report) string {
	t.Helper()
	doc, err := json.MarshalIndent(r.Gates, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

func gzipped(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(text)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

func zstandard(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(text)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

// laidOut are the formats in which tests that run many studies run each of them. The others are made from the JSON report, which
// inOtherFormats does, and take no run of their own.
var laidOut = []string{"terminal", "markdown", "json"}

// inOtherFormats hands a report, as the program wrote it in JSON, to look in each format that is not laidOut.
func inOtherFormats(t testing.TB, doc string, look func(format, text string)) {
	t.Helper()
	r := new(report.Report)
	if err := json.Unmarshal([]byte(doc), r); err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	for _, f := range summary.Formats() {
		if slices.Contains(laidOut, f.Name) {
			continue
		}
		var b bytes.Buffer
		if err := f.Write(&b, r, plain); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		look(f.Name, b.String())
	}
}
