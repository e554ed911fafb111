package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// certificateFile is where a run's certificate goes.
type certificateFile struct {
	path  string // as given
	place string // where it leads
	text  []byte // the policy's, as the run has it
}

// prepareCertificate looks at the path of a certificate and at the policy, which is read once for both: what is decided
// and what is certified are then the same text. A path that cannot be written, and a policy of which no run could be
// certified, are told before anything is decided. nil where no certificate is asked for.
func (a *app) prepareCertificate(req *request, s *sink) (*certificateFile, error) {
	if req.certificate == "" {
		return nil, nil
	}
	c := &certificateFile{path: req.certificate}
	if c.path == "-" {
		return nil, usagef("--certificate: standard output has the report; name a file")
	}
	var err error
	if c.place, err = prepare(c.path); err != nil {
		return nil, usagef("--certificate: %w", err)
	}
	for _, t := range s.files {
		if t.place == c.place || sameFile(t.place, c.place) {
			return nil, usagef("--certificate: %s is where a report goes; give it a path of its own", c.path)
		}
	}
	if req.ledger != nil && (req.ledger.place == c.place || sameFile(req.ledger.path, c.place)) {
		return nil, usagef("--certificate: %s is the ledger of --ledger; give the certificate a path of its own", c.path)
	}
	if isFile(a.stdout.Writer, c.place) {
		return nil, usagef("--certificate: standard output goes to %s already; give the certificate a path of its own", c.path)
	}
	for _, name := range append([]string{req.policy, req.flags.Draw}, req.files...) {
		if sameFile(name, c.place) {
			return nil, usagef("--certificate: %s is a file that the run reads; give the certificate a path of its own", c.path)
		}
	}
	if req.policy == "" {
		return nil, nil // the run says that it lacks one
	}
	if c.text, err = readFile(req.fs, req.policy, maxPolicy); err != nil {
		return nil, nil // the run says that it cannot be read
	}
	req.texts = map[string][]byte{req.policy: c.text}
	return c, a.certifiable(*req)
}

// certifiable says why no run of a policy could be certified, whatever the labels are; nil where one could be, and where
// the run will say itself what is wrong with the policy.
func (a *app) certifiable(req request) error {
	diags := &diag.List{}
	p := a.loadPolicy(req, req.policy, diags)
	if p == nil {
		return nil
	}
	own := p.Of(req.gate.Section())
	switch len(own) {
	case 0:
		return nil
	case 1:
	default:
		return usagef("--certificate: a certificate is for one section, and %s has %d sections %s: keep one in a policy of its own", req.policy, len(own), req.gate.Section())
	}
	rules := req.gate.Compile(gate.Source{Verb: gate.Decide, Section: own[0], Settings: own[0].Settings, NoFiles: true}, diags).Rules()
	if diags.Len() > 0 {
		return nil
	}
	for _, rule := range rules {
		stated := report.Rule{Measure: report.Measure{Metric: rule.Metric.Value}, Threshold: report.Threshold{Kind: report.Kind(rule.Threshold.Kind)}, Advisory: rule.Advisory}
		if report.Certifies(&stated) {
			if until := own[0].Map.Text("valid_until"); until.Set && until.Value < a.day(req) {
				return usagef("--certificate: it could not hold: %s: valid_until is %s, and today is %s", until.Pos, until.Value, a.day(req))
			}
			return nil
		}
	}
	return usagef("--certificate: there is nothing to certify: no counting rule of %s is a minimum of blind_agreement, which a hand-over rests on", req.policy)
}

// day is the day of a run, YYYY-MM-DD: the one that the command line names, else the clock's in UTC.
func (a *app) day(req request) string {
	if req.today != "" {
		return req.today
	}
	return a.Now().UTC().Format("2006-01-02")
}

// write writes the certificate of a run that passes. A run that does not pass certifies nothing: it says so, and that
// an earlier certificate at the path is not about this run.
func (c *certificateFile) write(a *app, r *report.Report) error {
	if c == nil || r.ExitStatus == report.ExitUnusable {
		return nil
	}
	if a.wasRead(c.place) { // named by the policy, or found by a glob
		return fmt.Errorf("cannot write %s: the run read this file, and a certificate does not take its place", c.path)
	}
	certificate, err := report.Certify(r, c.text)
	if err != nil {
		text := "No certificate was written: " + err.Error()
		if _, err := os.Stat(c.place); err == nil {
			text += "; " + c.path + " is of an earlier run"
		}
		a.tell(a.Stderr, text)
		return nil
	}
	data, err := certificate.JSON()
	if err == nil {
		err = writeWhole(c.place, data)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %s", c.path, reason(err))
	}
	return nil
}

// maxCertificate is how large a certificate may be, in bytes: above that of a policy of 1 MiB with nothing but short
// rules, some 20,000 of them at less than 3 KiB each.
const maxCertificate = 64 << 20

// verification is what `anchoring verify --json` prints.
type verification struct {
	Schema      string      `json:"schema"`
	Tool        report.Tool `json:"tool"`
	Holds       bool        `json:"holds"`
	ExitStatus  int         `json:"exit_status"`
	Certificate report.File `json:"certificate"`
	Policy      report.File `json:"policy"` // the one in the certificate
	Today       string      `json:"today"`
	Differences []string    `json:"differences,omitempty"` // why it does not hold
}

// verifyCommand is `anchoring verify CERTIFICATE FILE…`.
func (a *app) verifyCommand() *cobra.Command {
	req := request{verb: gate.Decide, gate: kinds.Lookup("anchoring")}
	var asJSON bool
	var delimiter, policyFile string
	cmd := &cobra.Command{
		Use:   "verify CERTIFICATE FILE…",
		Short: "Compute a certificate again from its files, and say whether it still holds",
		Long: `Decide the policy that a certificate holds on the files of labels again. The certificate holds where the files
are the ones that were certified, every rule passes with the numbers that it states, and its last day has not
passed. Other files do not make it hold even where they pass: they are a new test.

A certificate is not signed, and whoever can edit it can edit the policy in it: --policy FILE checks that it is
the one you mean. Exit status: 0 it holds, 1 it does not, 2 it cannot be told.`,
		Example: "  oloproof anchoring gate labels.csv --policy policy.yaml --certificate certificate.json\n  oloproof anchoring verify certificate.json labels.csv",
		RunE: func(_ *cobra.Command, args []string) error {
			var absent, wrong error
			if len(args) < 2 {
				absent = usagef("verify needs a certificate and the files of labels, such as `oloproof anchoring verify certificate.json labels.csv`")
			}
			req.delimiter, wrong = parseDelimiter(delimiter)
			if err := errors.Join(absent, wrong, checkFlags(req)); err != nil {
				return err
			}
			req.files = args[1:]
			return a.verify(req, args[0], policyFile, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.flags.Draw, "draw", "", "the `FILE` of the draw, where the certified run had one")
	f.StringVar(&policyFile, "policy", "", "a policy `FILE` that the certificate's has to be, byte for byte")
	f.StringVar(&delimiter, "delimiter", "", "the `CHARACTER` between CSV fields: , ; | or tab (default: found from the header)")
	f.StringVar(&req.today, "today", "", "the `DAY` that the certificate's last day is compared with, YYYY-MM-DD in UTC (default: today)")
	f.BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// verify decides a certificate's policy again and compares.
func (a *app) verify(req request, path, policyFile string, asJSON bool) error {
	diags := &diag.List{}
	unusable := func() error {
		if problem, ok := errors.AsType[*diag.Error](diags.Err()); ok && asJSON {
			return errors.Join(errReported, summary.JSON(a.Stdout, report.Unusable(a.Version, problem), plain))
		}
		return a.unusable(diags)
	}
	data, err := readFile(nil, path, maxCertificate+1)
	var c *report.Certificate
	switch {
	case err != nil:
	case len(data) > maxCertificate:
		err = fmt.Errorf("it is larger than %d MiB, and no certificate is", maxCertificate>>20)
	default:
		c, err = report.ParseCertificate(data)
	}
	if err != nil {
		diags.Addf(diag.Pos{File: path}, "cannot use the certificate: %s", reason(err))
		return unusable()
	}
	text := []byte(c.Policy.Text)
	req.policy, req.texts = c.Policy.Path, map[string][]byte{c.Policy.Path: text}
	req.today = a.day(req)
	v := verification{
		Schema: "oloproof-verification/1", Today: req.today,
		Certificate: report.File{Path: path, SHA256: digestOf(data)},
		Policy:      report.File{Path: c.Policy.Path, SHA256: digestOf(text)},
	}
	if v.Policy.SHA256 != c.Policy.SHA256 {
		v.Differences = append(v.Differences, "The text of its policy is not the one whose SHA-256 it states.")
	}
	if policyFile != "" {
		meant, err := readFile(nil, policyFile, maxPolicy)
		if err != nil {
			diags.Addf(diag.Pos{File: policyFile}, "cannot read the policy: %s", reason(err))
			return unusable()
		}
		if !bytes.Equal(meant, text) {
			v.Differences = append(v.Differences, fmt.Sprintf("The policy in it is not %s.", diag.Quote(policyFile)))
		}
	}
	r := a.run(req)
	if r.ExitStatus == report.ExitUnusable {
		for _, p := range r.Errors {
			pos := p.Pos()
			if pos.File == c.Policy.Path {
				pos.File = path + ": " + pos.File // the text in the certificate, not the file of that name
			}
			diags.Add(diag.Diagnostic{Pos: pos, Message: p.Message})
		}
		return unusable()
	}
	v.Tool = r.Tool
	v.Differences = append(v.Differences, c.Differences(r, req.today)...)
	v.Holds = v.Differences == nil
	if !v.Holds {
		v.ExitStatus = report.ExitFail
	}
	a.status = v.ExitStatus
	if asJSON {
		doc, err := report.Document(v)
		if err == nil {
			_, err = a.Stdout.Write(report.SafeInLogs(doc))
		}
		return err
	}
	a.tellVerification(&v, c)
	return nil
}

// tellVerification says for a person whether a certificate holds.
func (a *app) tellVerification(v *verification, c *report.Certificate) {
	heading := "HOLDS   "
	if !v.Holds {
		heading = "DOES NOT HOLD   "
	}
	a.tell(a.Stdout, heading+v.Certificate.Path)
	fmt.Fprintln(a.Stdout)
	var about []string
	for _, f := range []struct{ what, text string }{{"model ", c.Model}, {"guideline ", c.Guideline}, {"valid until ", c.ValidUntil}} {
		if f.text != "" {
			about = append(about, f.what+f.text)
		}
	}
	if c.ValidItems > 0 {
		about = append(about, "for "+countOf(c.ValidItems, "item"))
	}
	if about != nil {
		a.tell(a.Stdout, "  "+strings.Join(about, ", "))
	}
	for i := range c.Rules {
		r := &c.Rules[i]
		line := fmt.Sprintf("  %s: at least %v", r.ID, r.Threshold.Value)
		if slice := r.Labels["where"]; slice != "" {
			line = fmt.Sprintf("  %s, of the slice %s only: at least %v", r.ID, slice, r.Threshold.Value)
		}
		if iv := r.Interval; iv != nil && iv.Lower != nil && iv.Upper != nil {
			line += fmt.Sprintf(", %v to %v at confidence %v", *iv.Lower, *iv.Upper, iv.Confidence)
		}
		a.tell(a.Stdout, line)
	}
	a.tell(a.Stdout, fmt.Sprintf("  policy %s, SHA-256 %s", v.Policy.Path, v.Policy.SHA256))
	if c.Tool != v.Tool {
		a.tell(a.Stdout, fmt.Sprintf("  written by version %s: its numbers were compared, its sentences were not", c.Tool.Version))
	}
	for _, d := range v.Differences {
		a.tell(a.Stdout, "  - "+d)
	}
	fmt.Fprintf(a.Stdout, "\nexit status %d\n", v.ExitStatus)
}

// digestOf is the SHA-256 of some bytes, in hexadecimal.
func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
