package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
)

// MaxBytes is how long a report that is read back may be: 64 MiB.
const MaxBytes = 64 << 20

const (
	mostNested = 100       // levels; reports of this form have eight
	mostValues = 1_000_000 // objects and items of lists, each of which can take some 500 bytes of memory
	mostNames  = 10_000    // of one object, which are all kept to find one that is there twice
	mostText   = 1 << 20   // bytes of one text
	mostFaults = 10        // contradictions that an error names
)

// Parse reads a report of schema oloproof-report/1 back, such as one that another run wrote: a report that JSON wrote
// gives the same bytes again. It may come from someone who wants it to say what is not so. Names that this version does
// not know are passed over, since names may be added within /1. Everything else that is not as JSON writes it is an
// error in words for a person: more than MaxBytes, another schema, a name that is there twice or in capitals, anything
// behind the document, and a document that contradicts itself: a verdict, counts or an exit status that its rules do
// not come to (see Decide), a rule without an id or with one that is taken, a count without what it is out of. Where a
// document contradicts itself, the error names every place, up to ten.
//
// A report that is read is as whole as one of this program: what fields say that they come with is there.
func Parse(data []byte) (*Report, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("it is %d bytes long; reports of at most %d bytes (64 MiB) are read", len(data), MaxBytes)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors and shells write it
	if err := checkUTF8(data); err != nil {
		return nil, err
	}
	if err := checkBegins(data); err != nil {
		return nil, err
	}
	schema, err := checkOutline(data)
	switch {
	case err != nil && !bytes.Contains(data, []byte(`"oloproof-`)) && json.Valid(data): // another program's: its names are no mistakes
		return nil, errors.New("it is not an oloproof report: it names no schema, as what `--format json` writes does")
	case err != nil:
		return nil, fmt.Errorf("it is not a report: %w", err)
	case schema == "":
		return nil, errors.New("it is not an oloproof report: it names no schema, as what `--format json` writes does")
	case schema != SchemaName:
		return nil, fmt.Errorf("its schema is %s; this program reads %s", diag.Quote(schema), SchemaName)
	}
	r := &Report{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("it is not a report: %s%s", atLine(data, offset(err)), notJSON(err))
	}
	if faults := r.faults(); len(faults) > 0 {
		more := ""
		if n := len(faults) - mostFaults; n > 0 {
			faults, more = faults[:mostFaults], fmt.Sprintf("; and %d more", n)
		}
		return nil, errors.New("it is not as this program writes reports: " + strings.Join(faults, "; ") + more)
	}
	return r, nil
}

// checkBegins refuses what is no JSON at first sight, such as a table, a page or a summary, in words for who gave the wrong file: the
// parser's are about its own state.
func checkBegins(data []byte) error {
	text := bytes.TrimLeft(data, " \t\r\n") // JSON's white space
	if len(text) == 0 || bytes.IndexByte([]byte("{[\""), text[0]) >= 0 || json.Valid(text) {
		return nil // JSON of another form, or spoiled further on, or nothing: that has words of its own
	}
	_, size := utf8.DecodeRune(text)
	place := strings.TrimSuffix(atLine(data, int64(len(data)-len(text))), ": ")
	return fmt.Errorf("it is not JSON: %s begins with %s", place, diag.Quote(string(text[:size])))
}

// checkUTF8 refuses what is no UTF-8, which the decoder would replace without a word.
func checkUTF8(data []byte) error {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return errors.New("it is in UTF-16; save it as UTF-8")
	}
	if utf8.Valid(data) {
		return nil
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size <= 1 {
			return fmt.Errorf("%sthe byte 0x%02x is not UTF-8", atLine(data, int64(at)), data[at])
		}
		at += size
	}
}

// outline is a document being read for what the decoder accepts without a word.
type outline struct {
	data   []byte
	dec    *json.Decoder
	values int
	schema string // under that name at the top
}

// checkOutline reads a document's names and sizes, and returns the schema that it names, "" where that is no text.
func checkOutline(data []byte) (schema string, err error) {
	o := outline{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	o.dec.UseNumber()
	if err := o.value("", 0); err != nil {
		return "", err
	}
	if _, err := o.dec.Token(); !errors.Is(err, io.EOF) {
		return "", o.errorf("something follows the document")
	}
	return o.schema, nil
}

// errorf is an error at the place that was read last.
func (o *outline) errorf(format string, args ...any) error {
	return errors.New(atLine(o.data, o.dec.InputOffset()) + fmt.Sprintf(format, args...))
}

// next reads a token.
func (o *outline) next() (json.Token, error) {
	token, err := o.dec.Token()
	switch {
	case errors.Is(err, io.EOF) && len(bytes.TrimSpace(o.data)) > 0:
		return nil, errors.New("it ends in the middle")
	case err != nil:
		return nil, errors.New(atLine(o.data, max(offset(err), o.dec.InputOffset())) + notJSON(err))
	}
	return token, nil
}

// value reads the value of a name at a depth; that of a list's item is "".
func (o *outline) value(name string, depth int) error {
	token, err := o.next()
	if err != nil {
		return err
	}
	if depth > mostNested {
		return o.errorf("it is nested more than %d levels deep", mostNested)
	}
	if text, ok := token.(string); ok {
		if len(text) > mostText {
			return o.errorf("a text is %d bytes long; no report has one of over %d", len(text), mostText)
		}
		if depth == 1 && name == "schema" {
			o.schema = text
		}
	}
	open, isOpen := token.(json.Delim)
	if isOpen || name == "" {
		if o.values++; o.values > mostValues {
			return o.errorf("it holds more than %d values; no report does", mostValues)
		}
	}
	if !isOpen {
		return nil
	}
	seen := map[string]bool{} // the object's names, in lower case
	for o.dec.More() {
		under := ""
		if open == '{' {
			if under, err = o.name(seen); err != nil {
				return err
			}
		}
		if err := o.value(under, depth+1); err != nil {
			return err
		}
	}
	_, err = o.next() // the end of it
	return err
}

// name reads a name of an object, and refuses one that the decoder would take for another: it passes over letter case,
// and of a name that is there twice it takes the last value.
func (o *outline) name(seen map[string]bool) (string, error) {
	token, err := o.next()
	if err != nil {
		return "", err
	}
	name, ok := token.(string)
	if !ok {
		return "", o.errorf("a name is wanted, in quotes")
	}
	lower := strings.ToLower(strings.ToUpper(name)) // both: ſ is an s for the decoder
	switch {
	case len(seen) == mostNames:
		return "", o.errorf("an object has more than %d names; none of a report does", mostNames)
	case seen[lower]:
		return "", o.errorf("the name %s is there twice", diag.Quote(name))
	case name != lower && !slices.ContainsFunc(Verdicts, func(v Verdict) bool { return v.String() == name }):
		return "", o.errorf("the name %s is not in lower case, as names of reports are", diag.Quote(name))
	}
	seen[lower] = true
	return name, nil
}

// atLine says on which line of a document a place is: "line 3: ".
func atLine(data []byte, offset int64) string {
	offset = min(max(offset, 0), int64(len(data)))
	return fmt.Sprintf("line %d: ", 1+bytes.Count(data[:offset], []byte("\n")))
}

// offset is the place in a document that an error of the decoder is about, 0 where it does not say.
func offset(err error) int64 {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return wrong.Offset
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return wrong.Offset
	}
	return 0
}

// notJSON says in plain words why a document cannot be decoded.
func notJSON(err error) string {
	wrong, isWrong := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case isWrong && wrong.Field == "":
		return fmt.Sprintf("it is a JSON %s, not an object", diag.Cause(wrong.Value))
	case isWrong:
		return fmt.Sprintf("%s cannot be a JSON %s", diag.Quote(wrong.Field), diag.Cause(wrong.Value))
	case errors.Is(err, io.EOF):
		return "it is empty"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends in the middle"
	}
	return diag.Cause(strings.TrimPrefix(err.Error(), "json: "))
}

// faults lists in plain words what a report says that is not so of any that this program writes.
func (r *Report) faults() (list []string) {
	faultf := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	r.verdictFaults(faultf)
	if r.Confidence != 0 && !isConfidence(r.Confidence) {
		faultf("its confidence is %v, and confidence is from 0.5 to below 1", r.Confidence)
	}
	if b := r.Baseline; b != nil && b.Confidence != 0 && !isConfidence(b.Confidence) {
		faultf("the confidence of its baseline is %v, and confidence is from 0.5 to below 1", b.Confidence)
	}
	if r.Baseline == nil && len(r.RemovedRules) > 0 {
		faultf("it has removed_rules and no baseline that they are of")
	}
	if l := r.Ledger; l != nil && l.Looks < 0 {
		faultf("its ledger holds %d looks", l.Looks)
	}
	ids := map[string]bool{}
	for i := range r.Gates {
		g := &r.Gates[i]
		name := fmt.Sprintf("gate %d", i+1)
		if g.Gate == "" {
			faultf("%s has no name", name)
		}
		for _, c := range g.Data {
			if c.Count < 0 {
				faultf("%s counts %d of %s", name, c.Count, diag.Quote(c.Name))
			}
		}
		for j := range g.Measures {
			if wrong := g.Measures[j].fault(); wrong != "" {
				faultf("measure %d of %s %s", j+1, name, wrong)
			}
		}
		for j := range g.Rules {
			rule := &g.Rules[j]
			shown := "rule " + diag.Quote(rule.ID)
			switch {
			case rule.ID == "":
				faultf("rule %d of %s has no id", j+1, name)
			case ids[rule.ID]:
				faultf("%s is there twice", shown)
			}
			ids[rule.ID] = true
			if rule.Look != nil && r.Ledger == nil {
				faultf("%s has a look, and the report no ledger that it is in", shown)
			}
			rule.faults(shown, r.Baseline != nil, faultf)
		}
	}
	return list
}

// verdictFaults finds what the report as a whole says against its errors and rules.
func (r *Report) verdictFaults(faultf func(string, ...any)) {
	again := *r
	again.Errors = nil
	again.Decide()
	rules := 0
	for rule := range r.Rules() {
		if rules++; rule.Verdict == NoVerdict {
			faultf("rule %s has no verdict", diag.Quote(rule.ID))
		}
	}
	switch {
	case len(r.Errors) > 0:
		if r.ExitStatus != ExitUnusable || r.Verdict != NoVerdict || rules > 0 {
			faultf("it has errors, so that nothing was decided and exit_status is %d, and yet a verdict, rules or the exit_status %d", ExitUnusable, r.ExitStatus)
		}
		return
	case r.MoreErrors != 0:
		faultf("it has more_errors and no errors")
	}
	switch {
	case rules == 0:
		if r.ExitStatus != ExitPass || r.Verdict != NoVerdict || r.Counts != nil {
			faultf("it has no errors and no rules, so that nothing was to be decided and exit_status is %d, and yet a verdict, counts or the exit_status %d", ExitPass, r.ExitStatus)
		}
		return
	case again.Counts.Total() == 0:
		faultf("none of its rules counts")
	case r.Verdict != again.Verdict:
		faultf("its verdict is %s, and its rules come to %s", r.Verdict, again.Verdict)
	}
	if want := again.Verdict.ExitStatus(); r.ExitStatus != want {
		faultf("its exit_status is %d, and its rules come to %d", r.ExitStatus, want)
	}
	switch {
	case r.Counts == nil:
		faultf("it has rules and no counts")
	case *r.Counts != *again.Counts:
		faultf("its counts (%s) are not those of its rules (%s)", r.Counts, again.Counts)
	}
	if r.Multiplicity == nil {
		faultf("it has rules and no multiplicity")
	} else if p := r.Multiplicity.FalseFail; !(p >= 0 && p <= 1) {
		faultf("its false_fail_at_most is %v, which is from 0 to 1", p)
	}
}

// String writes the counts in a few words: "PASS 3, FAIL 1, INSUFFICIENT_EVIDENCE 0, MANUAL_REVIEW 0".
func (c *Counts) String() string {
	return fmt.Sprintf("%s %d, %s %d, %s %d, %s %d", Pass, c.Pass, Fail, c.Fail, InsufficientEvidence, c.InsufficientEvidence, ManualReview, c.ManualReview)
}

// faults finds what one rule says that is not so. compared says whether the report has a baseline.
func (rule *Rule) faults(name string, compared bool, faultf func(string, ...any)) {
	if wrong := rule.fault(); wrong != "" {
		faultf("%s %s", name, wrong)
	}
	if w := rule.Waived; w != nil && (rule.Verdict != ManualReview || w.Verdict != Fail && w.Verdict != InsufficientEvidence) {
		faultf("%s is waived from %s to %s; a waiver turns %s or %s into %s", name, w.Verdict, rule.Verdict, Fail, InsufficientEvidence, ManualReview)
	}
	if v := rule.Reviewed; v != nil && v.Valid && (rule.Verdict != ManualReview || rule.Waived != nil) {
		faultf("%s has a valid review, which only a rule under %s that is not waived can have", name, ManualReview)
	}
	if p := rule.TippingPoint; p != nil {
		if wrong := p.fault(); wrong != "" {
			faultf("%s has a tipping_point %s", name, wrong)
		}
		if rule.Verdict == Pass || rule.Verdict == Fail {
			faultf("%s is %s and has a tipping_point, which only an undecided rule has", name, rule.Verdict)
		}
	}
	if a := rule.Adjusted; a != nil {
		switch {
		case a.Rules < 1 || a.Family < 1 || !isConfidence(a.Confidence) || a.Method == "":
			faultf("%s is adjusted by %s in family %d of %d rules at confidence %v", name, diag.Quote(a.Method), a.Family, a.Rules, a.Confidence)
		case a.Held != 0 && (a.Method != Holm || a.Held < 2 || a.Held > a.Rules || rule.Verdict == Pass || rule.Verdict == Fail):
			faultf("%s is %s and held back at %d parts of the error of %d rules; only %s holds back, from %s to %s", name, rule.Verdict, a.Held, a.Rules, Holm, Fail, InsufficientEvidence)
		}
	}
	if !(rule.FalseFail >= 0 && rule.FalseFail <= 1) {
		faultf("%s has the false_fail_at_most %v, which is from 0 to 1", name, rule.FalseFail)
	}
	if l := rule.Look; l != nil && (l.Number < 1 || l.Change == "" || l.Switches < 0 || l.BrokenAt < 0 || !(l.ErrorAtMost >= 0 && l.ErrorAtMost <= 1)) {
		faultf("%s has the look %d with %d switches, broken_at %d and error_at_most %v", name, l.Number, l.Switches, l.BrokenAt, l.ErrorAtMost)
	}
	if compared != (rule.Before != nil) {
		faultf("%s and the report do not agree whether there is a baseline", name)
	}
	if rule.PairsOmitted < 0 || rule.PairsOmitted > 0 && len(rule.Pairs) == 0 {
		faultf("%s has %d pairs_omitted and %d pairs", name, rule.PairsOmitted, len(rule.Pairs))
	}
	for i := range rule.Cells {
		if wrong := rule.Cells[i].fault(); wrong != "" {
			faultf("cell %d of %s %s", i+1, name, wrong)
		}
	}
	for i := range rule.Pairs {
		if iv := rule.Pairs[i].Interval; iv != nil && !isConfidence(iv.Confidence) {
			faultf("pair %d of %s has an interval of confidence %v, and confidence is from 0.5 to below 1", i+1, name, iv.Confidence)
		}
	}
}

// fault says what a tipping point lacks or cannot be, "" for nothing.
func (p *TippingPoint) fault() string {
	switch {
	case p.Missing < 1:
		return fmt.Sprintf("of %d missing values", p.Missing)
	case p.Of == "" || p.Bad == "":
		return "without of or bad"
	case p.PassUpTo == nil && p.FailFrom == nil:
		return "without pass_up_to and fail_from"
	case p.PassUpTo != nil && (*p.PassUpTo < 0 || *p.PassUpTo >= p.Missing):
		return fmt.Sprintf("with the pass_up_to %d of %d missing values", *p.PassUpTo, p.Missing)
	case p.FailFrom != nil && (*p.FailFrom < 1 || *p.FailFrom > p.Missing):
		return fmt.Sprintf("with the fail_from %d of %d missing values", *p.FailFrom, p.Missing)
	case p.PassUpTo != nil && p.FailFrom != nil && *p.FailFrom <= *p.PassUpTo:
		return fmt.Sprintf("with the pass_up_to %d and the fail_from %d", *p.PassUpTo, *p.FailFrom)
	}
	return ""
}

// fault says what a measure lacks or cannot be, "" for nothing: what formats and comparisons take for granted.
func (m *Measure) fault() string {
	switch {
	case m.Metric == "":
		return "has no metric"
	case m.Numerator != nil && m.Denominator == nil:
		return "has a numerator and no denominator"
	case m.UnitName != "" && m.Units == nil:
		return "has a unit_name and no units"
	case m.PValue != nil && (m.Better == nil || m.Worse == nil || m.Equal == nil):
		return "has a p_value without better, worse and equal"
	case m.PValue != nil && (*m.PValue < 0 || *m.PValue > 1):
		return fmt.Sprintf("has the p_value %v, which is from 0 to 1", *m.PValue)
	case m.Interval != nil && !isConfidence(m.Interval.Confidence):
		return fmt.Sprintf("has an interval of confidence %v, and confidence is from 0.5 to below 1", m.Interval.Confidence)
	case m.Scale != nil && m.Scale.Lower >= m.Scale.Upper:
		return fmt.Sprintf("has a scale from %v to %v", m.Scale.Lower, m.Scale.Upper)
	}
	for _, b := range m.Bins {
		if b.Cases < 1 || b.Positives < 0 || b.Positives > b.Cases || !(b.From < b.To) {
			return fmt.Sprintf("has a bin from %v to %v of %d cases, %d of them positives", b.From, b.To, b.Cases, b.Positives)
		}
	}
	if s := m.Spread; s != nil && (len(s.Values) == 0 || len(s.Values) > SpreadMost || len(s.Values) > s.Units || !slices.IsSorted(s.Values)) {
		return fmt.Sprintf("has a spread of %d units with %d values, which are at most %d, at most as many as the units, and in ascending order", s.Units, len(s.Values), SpreadMost)
	}
	for _, n := range []*int{m.Numerator, m.Denominator, m.Units, m.Missing, m.Better, m.Worse, m.Equal} {
		if n != nil && *n < 0 {
			return fmt.Sprintf("has the count %d", *n)
		}
	}
	return ""
}

// isConfidence reports whether c is a confidence that a policy can have.
func isConfidence(c float64) bool { return c >= 0.5 && c < 1 }
