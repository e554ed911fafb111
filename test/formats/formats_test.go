//go:build linux

// Package formats reads what the program writes in formats for machines with their own readers: SARIF with the schema of OASIS and
// Microsoft's validator, OpenMetrics with Prometheus and with its Python client. What has no reader to install (JUnit, GitLab's
// reports) is read strictly by the tests of package summary.
//
// It needs the npm package @microsoft/sarif-multitool-linux in the folder that OLOPROOF_SARIF names, promtool, and Debian's python3 with
// prometheus_client. Where OLOPROOF_SARIF is not set it is skipped; with it nothing is.
package formats

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const root = "../.."

// multitool is the folder of the SARIF package; without it the test is skipped.
func multitool(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("OLOPROOF_SARIF")
	if folder == "" {
		t.Skip("set OLOPROOF_SARIF to read formats with their own readers")
	}
	return filepath.Join(folder, "node_modules/@microsoft/sarif-multitool-linux")
}

// documents are the goldens of package summary that end in one way, hostile text included, and what the program writes of the examples
// in a format, by name.
func documents(t *testing.T, format, end string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "summary/testdata/golden/*."+end))
	if err != nil || len(paths) < 15 {
		t.Fatalf("%d goldens end in %s: %v", len(paths), end, err)
	}
	texts := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(path)] = string(text)
	}
	run := exec.Command("go", "run", ".", "gate", "--example", "--quiet", "--format", format)
	run.Dir = root
	text, err := run.Output()
	if err != nil {
		t.Fatalf("the examples as %s: %v", format, err)
	}
	texts["examples"] = string(text)
	return texts
}

// sarifFaults are what Microsoft's validator calls errors in documents, by their names: the schema's, and those of its own rules.
func sarifFaults(t *testing.T, tool string, texts map[string]string) map[string]string {
	t.Helper()
	folder := t.TempDir()
	args := []string{"validate"}
	for name, text := range texts {
		file := filepath.Join(folder, name+".sarif")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	validate := exec.Command(filepath.Join(tool, "Sarif.Multitool"), append(args, "--level", "Error")...)
	validate.Env = append(os.Environ(), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1") // it would need a library for languages
	out, _ := validate.CombinedOutput()                                            // its status does not tell what it found
	if done := fmt.Sprintf("Done. %d files scanned.\nAnalysis completed successfully.", len(texts)); !strings.Contains(string(out), done) {
		t.Fatalf("the validator did not run:\n%s", out)
	}
	faults := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, ": error ") {
			name, _, _ := strings.Cut(strings.TrimPrefix(line, folder+"/"), ".sarif(")
			faults[name] += line
		}
	}
	return faults
}

func TestSARIF(t *testing.T) {
	tool := multitool(t)
	text, err := os.ReadFile(filepath.Join(tool, "sarif-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif-2.1.0.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	valid := func(text string) error {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			return err
		}
		return schema.Validate(value)
	}
	texts := documents(t, "sarif", "sarif.json")
	for name, text := range texts {
		if err := valid(text); err != nil {
			t.Errorf("%s: the schema refuses it: %v", name, err)
		}
	}
	// A document with faults is found by both, so that finding nothing means something.
	bad := strings.Replace(strings.Replace(texts["examples"], `"startLine": `, `"startLine": -`, 1), `"ruleIndex": 0`, `"ruleIndex": 777`, 1)
	if valid(bad) == nil {
		t.Error("a line below 1 passes the schema")
	}
	texts["planted"] = bad
	faults := sarifFaults(t, tool, texts)
	if found := faults["planted"]; !strings.Contains(found, "startLine") || !strings.Contains(found, "777") {
		t.Errorf("the validator finds in a document with two faults: %s", found)
	}
	delete(faults, "planted")
	for name, fault := range faults {
		t.Errorf("%s: %s", name, fault)
	}
}

// prometheusReads is what Prometheus' own reader of OpenMetrics says against a text, "" for nothing. It wants a time at each sample when
// it fills a database from a file; who scrapes does not. A sample is a line, so the time is put behind it.
func prometheusReads(t *testing.T, text string) string {
	t.Helper()
	var timed strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			line = strings.TrimSuffix(line, "\n") + " 1700000000\n"
		}
		timed.WriteString(line)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "metrics")
	if err := os.WriteFile(file, []byte(timed.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("promtool", "tsdb", "create-blocks-from", "openmetrics", file, filepath.Join(folder, "db")).CombinedOutput(); err != nil {
		return fmt.Sprintf("%v\n%s", err, out)
	}
	return ""
}

// textFormatReads is what Prometheus' reader of its older text format says against a text, as a Pushgateway or node_exporter has it; and
// what promtool finds to be unusual in its names.
func textFormatReads(text string) string {
	check := exec.Command("promtool", "check", "metrics")
	check.Stdin = strings.NewReader(text)
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		return fmt.Sprintf("%v\n%s", err, out)
	}
	return ""
}

// pythonReads is what the strict reader of OpenMetrics in Prometheus' Python client says against a text, and the samples that it reads.
func pythonReads(text string) (samples int, fault string) {
	read := exec.Command("/usr/bin/python3", "-c", `import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
text = sys.stdin.buffer.read().decode("utf-8")
print(sum(len(family.samples) for family in text_string_to_metric_families(text)))`)
	read.Stdin = strings.NewReader(text)
	out, err := read.CombinedOutput()
	if err != nil {
		return 0, fmt.Sprintf("%v\n%s", err, out)
	}
	if _, err := fmt.Sscan(string(out), &samples); err != nil {
		return 0, err.Error()
	}
	return samples, ""
}

func TestOpenMetrics(t *testing.T) {
	multitool(t)
	texts := documents(t, "openmetrics", "metrics.txt")
	for name, text := range texts {
		if fault := prometheusReads(t, text); fault != "" {
			t.Errorf("%s: Prometheus: %s", name, fault)
		}
		if fault := textFormatReads(text); fault != "" {
			t.Errorf("%s: Prometheus' text format: %s", name, fault)
		}
		lines := 0
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "#") {
				lines++
			}
		}
		if samples, fault := pythonReads(text); fault != "" || samples != lines {
			t.Errorf("%s: the Python client reads %d samples of %d: %s", name, samples, lines, fault)
		}
	}
	for name, bad := range map[string]string{
		"without an end":    strings.Replace(texts["examples"], "# EOF\n", "", 1),
		"with a bare quote": strings.Replace(texts["examples"], `rule="`, `rule=""`, 1),
	} {
		_, python := pythonReads(bad)
		if bad == texts["examples"] || prometheusReads(t, bad) == "" || python == "" {
			t.Errorf("a text %s goes unnoticed", name)
		}
	}
}
