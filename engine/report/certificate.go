package report

import (
	"bytes"
	"cmp"
	_ "embed" // the published schema
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
)

// CertificateSchemaName names the published form of a certificate.
const CertificateSchemaName = "oloproof-certificate/1"

// CertificateSchema is the published JSON Schema of certificates.
//
//go:embed certificate.schema.json
var CertificateSchema []byte

// Certificate states what a run certified: that a model may label the rest of a corpus. It exists only where the run
// passes. It holds the policy's text, so that whoever has the files can compute it again; nothing in it is signed.
type Certificate struct {
	Schema      string     `json:"schema"`
	Tool        Tool       `json:"tool"`
	Gate        string     `json:"gate"`
	Name        string     `json:"name,omitempty"` // of the policy's section
	Model       string     `json:"model,omitempty"`
	Guideline   string     `json:"guideline,omitempty"`   // that people labelled by
	ValidUntil  string     `json:"valid_until,omitempty"` // YYYY-MM-DD, that day included
	ValidItems  int        `json:"valid_items,omitempty"` // how many items may be handed over
	CorpusSize  int        `json:"corpus_size,omitempty"`
	Rules       []Rule     `json:"rules"` // the counting rules on blind agreement, all of them passed
	Assumptions []string   `json:"assumptions,omitempty"`
	Limits      []string   `json:"limits,omitempty"`
	Inputs      []Input    `json:"inputs"`
	Policy      PolicyText `json:"policy"`
}

// PolicyText is a policy with its text.
type PolicyText struct {
	File
	Text string `json:"text"`
}

// certifying is the gate that writes certificates, and certified the metric that a hand-over rests on.
const (
	certifying = "anchoring"
	certified  = "blind_agreement"
)

// Certifies reports whether a rule is one that a certificate states.
func Certifies(r *Rule) bool {
	return !r.Advisory && r.Metric == certified && r.Threshold.Kind == Minimum
}

// Certify returns the certificate of a run of one gate, decided by a policy of that text. It is an error, worded for a
// person, where the run certifies nothing: it does not pass, nothing of the corpus rests, or no counting rule is a minimum
// of blind agreement.
func Certify(r *Report, text []byte) (*Certificate, error) {
	if r.Verdict != Pass {
		return nil, fmt.Errorf("the verdict is %s, and only PASS is certified", r.Verdict)
	}
	if len(r.Gates) != 1 || r.Policy == nil {
		return nil, errors.New("a certificate is for one section of one policy")
	}
	g := &r.Gates[0]
	if g.Settings["corpus_rest"] == "0" {
		return nil, errors.New("every item of the corpus was drawn blind, so that none rests to be handed over")
	}
	c := &Certificate{
		Schema: CertificateSchemaName, Tool: r.Tool, Gate: g.Gate, Name: g.Name,
		Model: g.Settings["model"], Guideline: g.Settings["guideline"], ValidUntil: g.Settings["valid_until"],
		Assumptions: g.Assumptions, Limits: g.Limits, Inputs: r.Inputs, Policy: PolicyText{*r.Policy, string(text)},
	}
	c.ValidItems, _ = strconv.Atoi(g.Settings["valid_items"]) // written by the gate; "" is 0
	c.CorpusSize, _ = strconv.Atoi(g.Settings["corpus_size"])
	for i := range g.Rules {
		if Certifies(&g.Rules[i]) {
			c.Rules = append(c.Rules, g.Rules[i])
		}
	}
	if c.Rules == nil {
		return nil, errors.New("no counting rule is a minimum of blind_agreement, which a hand-over rests on")
	}
	return c, nil
}

// JSON returns the published form: one indented document with a final newline, safe in logs.
func (c *Certificate) JSON() ([]byte, error) {
	doc, err := Document(c)
	return SafeInLogs(doc), err
}

// SafeInLogs writes a document with a JSON escape where a CI runner would execute a line of its log, such as one with
// "##[error]" in a rule's id. The document says the same.
func SafeInLogs(doc []byte) []byte {
	var safe []byte
	// Two "#" on a line stand in a text, and so does a bracket beside them: what holds arrays has names of ours.
	for line := range bytes.Lines(doc) {
		if bytes.Count(line, []byte("#")) > 1 {
			line = bytes.ReplaceAll(line, []byte("["), []byte(`\u005b`))
		}
		safe = append(safe, line...)
	}
	return safe
}

// ParseCertificate reads what JSON writes, strictly: another schema or gate, a key that is unknown, there twice or in
// another place, anything after the document, or a certificate without a rule, a file or a policy is an error. White
// space may differ.
func ParseCertificate(data []byte) (*Certificate, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	c := &Certificate{}
	if err := dec.Decode(c); err != nil {
		return nil, fmt.Errorf("it is not a certificate: %s", notJSON(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it is not a certificate: something follows the document")
	}
	switch {
	case c.Schema != CertificateSchemaName:
		return nil, fmt.Errorf("its schema is %s; this program reads %s", diag.Quote(c.Schema), CertificateSchemaName)
	case c.Gate != certifying:
		return nil, fmt.Errorf("its gate is %s, and certificates are of %s", diag.Quote(c.Gate), certifying)
	case len(c.Rules) == 0 || len(c.Inputs) == 0 || c.Policy.Text == "" || c.Policy.Path == "":
		return nil, errors.New("it is not a whole certificate: it lacks rules, inputs, or the policy's path or text")
	}
	// A key that is there twice, or in other letter case, is read without a word: what is not written again was not
	// said in one way only.
	again, err := c.JSON()
	if err != nil {
		return nil, err
	}
	var read, written bytes.Buffer
	if err := errors.Join(json.Compact(&read, data), json.Compact(&written, again)); err != nil {
		return nil, err
	}
	if !bytes.Equal(read.Bytes(), written.Bytes()) {
		return nil, errors.New("it is not as this program writes certificates: a key is there twice or in another place, or a value is written in another way; use the file as it was written")
	}
	return c, nil
}

// Differences says in sentences why a certificate does not hold for a run computed again by its policy; today is the
// day, YYYY-MM-DD. None: it holds.
func (c *Certificate) Differences(r *Report, today string) []string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if c.ValidUntil != "" && today > c.ValidUntil {
		add("It was valid until %s, and today is %s.", c.ValidUntil, today)
	}
	given := slices.Clone(r.Inputs)
	for _, in := range c.Inputs {
		i := slices.IndexFunc(given, func(g Input) bool { return g.SHA256 == in.SHA256 && g.Role == in.Role })
		if i < 0 {
			add("%s, which was certified, is not among the files given (SHA-256 %s).", fileWithRole(in), in.SHA256)
			continue
		}
		given = slices.Delete(given, i, i+1)
	}
	for _, in := range given {
		add("%s was not certified (SHA-256 %s): other data are a new test, with a chance of its own to be lucky.", fileWithRole(in), in.SHA256)
	}
	now := map[string]*Rule{}
	for rule := range r.Rules() {
		if Certifies(rule) {
			now[rule.ID] = rule
		}
	}
	for i := range c.Rules {
		stated := &c.Rules[i]
		rule := now[stated.ID]
		delete(now, stated.ID)
		switch {
		case rule == nil:
			add("The policy in it has no counting rule %s on blind_agreement.", diag.Quote(stated.ID))
		case rule.Verdict != Pass:
			add("Rule %s comes to %s: %s", diag.Quote(stated.ID), rule.Verdict, rule.Reason)
		case !sameResult(stated, rule):
			add("Rule %s is stated with another threshold, interval or count than the files give.", diag.Quote(stated.ID))
		}
	}
	for rule := range r.Rules() {
		if now[rule.ID] == rule {
			add("The policy's rule %s is not in it.", diag.Quote(rule.ID))
		}
	}
	if r.Verdict != Pass && len(list) == 0 {
		add("The run comes to %s.", r.Verdict)
	}
	if len(r.Gates) == 1 {
		s := r.Gates[0].Settings
		items, _ := strconv.Atoi(s["valid_items"])
		size, _ := strconv.Atoi(s["corpus_size"])
		if c.Name != r.Gates[0].Name || c.Model != s["model"] || c.Guideline != s["guideline"] || c.ValidUntil != s["valid_until"] || c.ValidItems != items || c.CorpusSize != size {
			add("It states another name, model, guideline, validity or corpus size than its policy.")
		}
	}
	if len(list) == 0 && c.Tool == r.Tool && !c.sameAs(r) {
		add("It states something else than this version of the program writes of the same files.")
	}
	return list
}

// sameAs reports whether a run by the same version of the program gives this very certificate, whatever its files are
// named.
func (c *Certificate) sameAs(r *Report) bool {
	again, err := Certify(r, []byte(c.Policy.Text))
	if err != nil {
		return false
	}
	var docs [2][]byte
	for i, one := range []*Certificate{c, again} {
		same := *one
		same.Inputs = slices.Clone(one.Inputs)
		for j := range same.Inputs {
			same.Inputs[j].Path, same.Inputs[j].Findings = "", nil
		}
		slices.SortFunc(same.Inputs, func(a, b Input) int {
			return cmp.Or(strings.Compare(a.Role, b.Role), strings.Compare(a.SHA256, b.SHA256))
		})
		if docs[i], err = same.JSON(); err != nil {
			return false
		}
	}
	return bytes.Equal(docs[0], docs[1])
}

// fileWithRole names a file and what it holds.
func fileWithRole(in Input) string {
	if in.Role == "" {
		return diag.Quote(in.Path)
	}
	return "the " + in.Role + " " + diag.Quote(in.Path)
}

// sameResult reports whether two rules state the same numbers of the same units; their sentences may differ between
// versions.
func sameResult(a, b *Rule) bool {
	return a.Metric == b.Metric && a.Threshold == b.Threshold && a.Verdict == b.Verdict && maps.Equal(a.Labels, b.Labels) &&
		reflect.DeepEqual(a.Interval, b.Interval) && reflect.DeepEqual(a.Estimate, b.Estimate) &&
		reflect.DeepEqual([]*int{a.Numerator, a.Denominator, a.Units, a.Missing}, []*int{b.Numerator, b.Denominator, b.Units, b.Missing})
}
