package report

import (
	"bytes"
	_ "embed" // the published schema
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"

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

// certified is the metric that a hand-over rests on.
const certified = "blind_agreement"

// Certifies reports whether a rule is one that a certificate states.
func Certifies(r *Rule) bool {
	return !r.Advisory && r.Metric == certified && r.Threshold.Kind == Minimum
}

// Certify returns the certificate of a run of one gate, decided by a policy of that text. It is an error, worded for a
// person, where the run certifies nothing: it does not pass, or no counting rule is a minimum of blind agreement.
func Certify(r *Report, text []byte) (*Certificate, error) {
	if r.Verdict != Pass {
		return nil, fmt.Errorf("the verdict is %s, and only PASS is certified", r.Verdict)
	}
	if len(r.Gates) != 1 || r.Policy == nil {
		return nil, errors.New("a certificate is for one section of one policy")
	}
	g := &r.Gates[0]
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

// JSON returns the published form: one indented document with a final newline.
func (c *Certificate) JSON() ([]byte, error) { return Document(c) }

// ParseCertificate reads what JSON writes, strictly: another schema, an unknown key, anything after the document, or a
// certificate without a rule, a file or a policy is an error.
func ParseCertificate(data []byte) (*Certificate, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	c := &Certificate{}
	if err := dec.Decode(c); err != nil {
		return nil, fmt.Errorf("it is not a certificate: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it is not a certificate: something follows the document")
	}
	switch {
	case c.Schema != CertificateSchemaName:
		return nil, fmt.Errorf("its schema is %q; this program reads %s", c.Schema, CertificateSchemaName)
	case len(c.Rules) == 0 || len(c.Inputs) == 0 || c.Policy.Text == "":
		return nil, errors.New("it is not a whole certificate: it lacks rules, inputs or the policy's text")
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
		if c.Model != s["model"] || c.Guideline != s["guideline"] || c.ValidUntil != s["valid_until"] || c.ValidItems != items || c.CorpusSize != size {
			add("It states another model, guideline, validity or corpus size than its policy.")
		}
	}
	return list
}

// fileWithRole names a file and what it holds.
func fileWithRole(in Input) string {
	if in.Role == "" {
		return diag.Quote(in.Path)
	}
	return "the " + in.Role + " " + diag.Quote(in.Path)
}

// sameResult reports whether two rules state the same numbers; their sentences may differ between versions.
func sameResult(a, b *Rule) bool {
	return a.Metric == b.Metric && a.Threshold == b.Threshold && a.Verdict == b.Verdict &&
		reflect.DeepEqual(a.Interval, b.Interval) && reflect.DeepEqual(a.Estimate, b.Estimate) &&
		reflect.DeepEqual([]*int{a.Numerator, a.Denominator, a.Units, a.Missing}, []*int{b.Numerator, b.Denominator, b.Units, b.Missing})
}
