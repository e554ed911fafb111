package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/report"
)

// writeCertified writes labels, a draw, a policy and the certificate of its run, certificate.json, whose text it returns.
func writeCertified(t *testing.T) []byte {
	t.Helper()
	t.Chdir(t.TempDir())
	const columns = "annotator,suggestion,label,visibility,length"
	writeFile(t, "labels.csv", labelRows(columns, 50, "ana,x,x,blind,short", 50, "ana,y,y,blind,long", 10, "ana,x,x,visible,short", 10, "ana,y,x,visible,long"))
	draw := "item,visibility,inclusion_probability\n"
	for i := range 300 {
		draw += fmt.Sprintf("%d,%s,0.25\n", i+1, map[bool]string{true: "blind", false: "visible"}[i < 100])
	}
	writeFile(t, "draw.csv", draw)
	writeFile(t, "policy.yaml", `
anchoring:
  name: letters
  model: sorter 8
  guideline: version 3
  valid_until: 2027-03-31
  valid_items: 200
  corpus_size: 300
  rules:
    - {id: rest, metric: blind_agreement, minimum: 0.9}
    - {id: short, metric: blind_agreement, minimum: 0.8, where: {length: short}}
    - {id: pull, metric: anchoring_gap, maximum: 0.5}
`)
	if status, stdout, stderr := runMain("anchoring", "gate", "labels.csv", "--draw", "draw.csv", "--policy", "policy.yaml", "--certificate", "certificate.json"); status != 0 {
		t.Fatalf("exit %d\n%s%s", status, stdout, stderr)
	}
	text, err := os.ReadFile("certificate.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := compilePrinted("certificate")
	if err == nil {
		err = validate(schema, text)
	}
	if err != nil {
		t.Fatalf("the schema refuses the certificate: %#v", err)
	}
	return text
}

// verifyWritten verifies a certificate of that text.
func verifyWritten(t *testing.T, text []byte, flags ...string) (status int, stdout, stderr string) {
	t.Helper()
	writeFile(t, "edited.json", string(text))
	return runMain(append([]string{"anchoring", "verify", "edited.json", "labels.csv", "--draw", "draw.csv"}, flags...)...)
}

// TestEditedCertificates edits every key and every value of a certificate, one at a time. It never holds, but where the
// edit is a name of a file, or of the program whose sentences then cannot be compared.
func TestEditedCertificates(t *testing.T) {
	text := writeCertified(t)
	if status, stdout, stderr := verifyWritten(t, text); status != 0 || !strings.HasPrefix(stdout, "HOLDS   edited.json\n") || stderr != "" {
		t.Fatalf("unedited: exit %d\n%s%s", status, stdout, stderr)
	}
	var hold []string
	edits := 0
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		before := dec.InputOffset()
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := token.(json.Delim); ok {
			continue
		}
		end := dec.InputOffset()
		raw := strings.TrimLeft(string(text[before:end]), " \n:,")
		edited := map[bool]string{true: "false", false: "true"}[raw == "true"]
		switch token.(type) {
		case string:
			edited = strings.TrimSuffix(raw, `"`) + `x"`
		case float64:
			edited = "1" + raw
		}
		edits++
		status, stdout, stderr := verifyWritten(t, slices.Concat(text[:int(end)-len(raw)], []byte(edited), text[end:]))
		switch {
		case status == 0:
			hold = append(hold, raw)
		case status != 1 && status != 2, (status == 1) != strings.HasPrefix(stdout, "DOES NOT HOLD   "), (status == 2) != (stderr != ""):
			t.Errorf("%s to %s: exit %d\n%s%s", raw, edited, status, stdout, stderr)
		}
	}
	if diff := cmp.Diff([]string{`"oloproof"`, `"1.0.0"`, `"labels.csv"`, `"draw.csv"`}, hold); diff != "" {
		t.Errorf("with these edited it holds all the same (-want +got)\n%s", diff)
	}
	if edits < 100 { // keys and values; it has two rules with an interval each
		t.Errorf("only %d edits were tried", edits)
	}

	// The policy and its digest edited together are another policy, which --policy shows.
	easier := strings.Replace(string(text), "minimum: 0.9}", "minimum: 0.8}", 1)
	var c report.Certificate
	if err := json.Unmarshal([]byte(easier), &c); err != nil {
		t.Fatal(err)
	}
	easier = strings.Replace(strings.Replace(easier, c.Policy.SHA256, sha256Of(c.Policy.Text), 1), `"minimum": 0.9`, `"minimum": 0.8`, 1)
	easier = strings.Replace(easier, "the minimum of 0.9.", "the minimum of 0.8.", 1)
	if status, stdout, stderr := verifyWritten(t, []byte(easier)); status != 0 {
		t.Errorf("a certificate of another policy: exit %d\n%s%s", status, stdout, stderr)
	}
	status, stdout, _ := verifyWritten(t, []byte(easier), "--policy", "policy.yaml")
	if status != 1 || !strings.Contains(stdout, "\n  - The policy in it is not \"policy.yaml\".\n") {
		t.Errorf("a certificate of another policy beside the one that was meant: exit %d\n%s", status, stdout)
	}
}

// TestTruncatedCertificates cuts a certificate at many places, and makes it far too large.
func TestTruncatedCertificates(t *testing.T) {
	text := writeCertified(t)
	for n := 0; n < len(text)-1; n += 97 {
		status, stdout, stderr := verifyWritten(t, text[:n])
		if status != 2 || stdout != "" || !strings.HasPrefix(stderr, "oloproof: 1 problem\n\nedited.json: cannot use the certificate: it is not a certificate: it ") {
			t.Errorf("the first %d bytes: exit %d\n%s%s", n, status, stdout, stderr)
		}
	}
	if err := os.Truncate("edited.json", maxCertificate+1); err != nil { // a file with a hole
		t.Fatal(err)
	}
	status, _, stderr := runMain("anchoring", "verify", "edited.json", "labels.csv")
	if want := "edited.json: cannot use the certificate: it is larger than 64 MiB, and no certificate is\n"; status != 2 || !strings.HasSuffix(stderr, want) {
		t.Errorf("too large: exit %d\n%s", status, stderr)
	}
}

// TestHostileCertificates puts hostile texts into what a certificate shows: the names of files, the model, the rules.
func TestHostileCertificates(t *testing.T) {
	text := writeCertified(t)
	for _, hostile := range hostileTexts {
		name := quoteYAML(t, hostile)
		var c report.Certificate
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatal(err)
		}
		c.Policy.Path, c.Model, c.Guideline, c.Rules[0].ID, c.Inputs[0].Path, c.Inputs[0].SHA256 = hostile, hostile, hostile, hostile, hostile, hostile
		for _, policy := range []string{c.Policy.Text, "rules: [{id: " + name + ", metric: " + name + ", minimum: 1}]\n"} {
			c.Policy.Text = policy
			doc, err := c.JSON()
			if err != nil {
				t.Fatal(err)
			}
			for _, flags := range [][]string{nil, {"--json"}, {"--policy", "policy.yaml"}} {
				status, stdout, stderr := verifyWritten(t, doc, flags...)
				if status != 1 && status != 2 {
					t.Errorf("%q: exit %d\n%s%s", hostile, status, stdout, stderr)
				}
				what := fmt.Sprintf("%.100q %q", hostile, flags)
				checkTame(t, what+", standard output", stdout, slices.Contains(flags, "--json"))
				checkTame(t, what+", standard error", stderr, false)
			}
		}
	}
}

// TestHostileCertified certifies a policy full of hostile texts: the certificate is one that the schema accepts, and it
// holds.
func TestHostileCertified(t *testing.T) {
	schema, err := compilePrinted("certificate")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	writeFile(t, "labels.csv", labelRows("annotator,suggestion,label,visibility", 40, "ana,x,x,blind"))
	for _, hostile := range hostileTexts {
		name := quoteYAML(t, hostile)
		writeFile(t, "policy.yaml", "# "+strings.ReplaceAll(name, "\u202e", "")+"\nmodel: "+name+"\nguideline: "+name+"\nrules:\n  - {id: "+quoteYAML(t, hostile[:min(len(hostile), 200)])+", metric: blind_agreement, minimum: 0.8}\n")
		if status, stdout, stderr := runMain("anchoring", "gate", "labels.csv", "--policy", "policy.yaml", "--certificate", "c.json"); status != 0 {
			t.Errorf("%q: exit %d\n%s%s", hostile, status, stdout, stderr)
			continue
		}
		doc, err := os.ReadFile("c.json")
		if err == nil {
			err = validate(schema, doc)
		}
		if err != nil {
			t.Errorf("%q: %#v", hostile, err)
		}
		status, stdout, stderr := runMain("anchoring", "verify", "c.json", "labels.csv", "--policy", "policy.yaml")
		if status != 0 {
			t.Errorf("%q: exit %d\n%s%s", hostile, status, stdout, stderr)
		}
		checkTame(t, fmt.Sprintf("%q", hostile), stdout+stderr, false)
		checkTame(t, fmt.Sprintf("%q, certificate", hostile), string(doc), true)
	}
}

// TestExampleIsNotCertified: the embedded example is not decided, so nothing is certified by it.
func TestExampleIsNotCertified(t *testing.T) {
	t.Chdir(t.TempDir())
	if status, _, stderr := runMain("init", "--example", "anchoring"); status != 0 {
		t.Fatal(stderr)
	}
	status, _, stderr := runMain("anchoring", "gate", "--policy", "policy.yaml", "--certificate", "c.json")
	if status != 3 || !strings.HasPrefix(stderr, "No certificate was written: the verdict is INSUFFICIENT_EVIDENCE, and only PASS is certified\n") {
		t.Errorf("exit %d\n%s", status, stderr)
	}
	if _, err := os.Stat("c.json"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("c.json: %v", err)
	}
}
