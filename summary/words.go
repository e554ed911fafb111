package summary

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// The phrases that terminal and markdown share. They return plain text from data, not escaped: a format
// passes what it prints through its own escape.

// Word is a verdict in one short word for a table; headlines use its published name.
func Word(v report.Verdict) string {
	switch v {
	case report.Pass:
		return "PASS"
	case report.InsufficientEvidence:
		return "UNDECIDED"
	case report.ManualReview:
		return "REVIEW"
	case report.Fail:
		return "FAIL"
	case report.NoVerdict:
	}
	return "NO VERDICT"
}

// Icon is a verdict as an emoji, to stand beside its word, never in its place.
func Icon(v report.Verdict) string {
	switch v {
	case report.Pass:
		return "✅"
	case report.InsufficientEvidence:
		return "⚠️"
	case report.ManualReview:
		return "👤"
	case report.Fail:
		return "❌"
	case report.NoVerdict:
	}
	return "🚫"
}

// MustBe says what a rule's threshold asks for: "≥ 0.8". A rule without a threshold is a sign test.
func MustBe(t report.Threshold) string {
	value := exactNumber(t.Value)
	switch t.Kind {
	case report.Minimum:
		return "≥ " + value
	case report.Maximum:
		return "≤ " + value
	case report.MaxGroupGap:
		return "gap ≤ " + value
	case report.MinGroupRatio:
		return "ratio ≥ " + value
	case report.WorstGroup:
		return "every group " + MustBe(report.Threshold{Kind: t.Side, Value: t.Value})
	}
	return "better"
}

// bound is the number that a rule's interval is shown against, nil where it has no threshold.
func bound(r *report.Rule) *float64 {
	if r.Threshold.Kind == "" {
		return nil
	}
	return &r.Threshold.Value
}

// counted prints a count of things with an "s" where there is not exactly one: "1 rule", "2,000 rules".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return whole(n) + " " + thing + "s"
}

// list joins phrases: "a", "a and b", "a, b and c".
func list(phrases []string) string {
	if len(phrases) < 2 {
		return strings.Join(phrases, "")
	}
	last := len(phrases) - 1
	return strings.Join(phrases[:last], ", ") + " and " + phrases[last]
}

// ruleCounts says how the counting rules came out: "4 rules: 1 failed, 1 to review, 1 undecided, 1 passed".
func ruleCounts(r *report.Report) string {
	var parts []string
	if c := r.Counts; c != nil {
		for _, of := range []struct {
			verdict report.Verdict
			word    string
		}{{report.Fail, "failed"}, {report.ManualReview, "to review"}, {report.InsufficientEvidence, "undecided"}, {report.Pass, "passed"}} {
			if n := c.Of(of.verdict); n > 0 {
				parts = append(parts, whole(n)+" "+of.word)
			}
		}
	}
	total := 0
	if r.Counts != nil {
		total = r.Counts.Total()
	}
	text := counted(total, "rule")
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	advisory := 0
	for rule := range r.Rules() {
		if rule.Advisory {
			advisory++
		}
	}
	if advisory > 0 {
		text += fmt.Sprintf(" (and %s advisory, not counted)", whole(advisory))
	}
	return text
}

// verb is which question the report answers: its parts tell.
type verb int

const (
	checkVerb  verb = iota // what the files hold
	reportVerb             // every measure, no decision
	gateVerb               // a policy decided
)

func verbOf(r *report.Report) verb {
	if r.Verdict != report.NoVerdict || r.Counts != nil {
		return gateVerb
	}
	found := checkVerb
	for _, g := range r.Gates {
		if len(g.Rules) > 0 {
			return gateVerb
		}
		if len(g.Measures) > 0 {
			found = reportVerb
		}
	}
	return found
}

// dataName names what was read: the gates where each has a name, else the files; and says whether that is
// several things.
func dataName(r *report.Report) (name string, several bool) {
	var names []string
	for _, g := range r.Gates {
		if g.Name != "" {
			names = append(names, clip(g.Name, nameMax))
		}
	}
	if len(names) == len(r.Gates) && len(names) > 0 {
		return few(names, 3, "gate"), len(names) > 1
	}
	return fileNames(r), len(r.Inputs) > 1
}

// fileNames names the input files, the first three of them.
func fileNames(r *report.Report) string {
	var names []string
	for _, in := range r.Inputs {
		names = append(names, clipPath(in.Path, pathMax))
	}
	if len(names) == 0 {
		return "the data"
	}
	return few(names, 3, "file")
}

// few lists the first of names, and says how many more things there are.
func few(names []string, most int, thing string) string {
	if rest := len(names) - most; rest > 0 {
		names = append(slices.Clone(names[:most]), counted(rest, "more "+thing))
	}
	return list(names)
}

// policyName names the policy file or files.
func policyName(r *report.Report) string {
	var names []string
	for _, f := range r.Policies {
		names = append(names, clipPath(f.Path, pathMax))
	}
	if len(names) == 0 && r.Policy != nil {
		names = append(names, clipPath(r.Policy.Path, pathMax))
	}
	if len(names) == 0 {
		return "its policy"
	}
	return few(names, 3, "file")
}

// ruleName is a rule's id with what sets it apart from an ordinary rule.
func ruleName(r *report.Rule) (id, note string) {
	var notes []string
	if r.Advisory {
		notes = append(notes, "advisory")
	}
	if r.Waived != nil {
		notes = append(notes, "waived")
	}
	if r.Reviewed != nil && r.Reviewed.Valid {
		notes = append(notes, "reviewed")
	}
	return clip(r.ID, nameMax), strings.Join(notes, ", ")
}

// verdictSays says what the run's verdict is about: "loan-screen does not meet release.yaml".
func verdictSays(r *report.Report) string {
	data, several := dataName(r)
	return verdictOn(r.Verdict, data, several, policyName(r))
}

// verdictOn says what a verdict is about: on which data, which are several things or one, by which policy.
func verdictOn(v report.Verdict, data string, several bool, policy string) string {
	meets, doesNot := " meets ", " does not meet "
	if several {
		meets, doesNot = " meet ", " do not meet "
	}
	switch v {
	case report.Pass:
		return data + meets + policy
	case report.Fail:
		return data + doesNot + policy
	case report.ManualReview:
		return "a person must decide whether " + data + meets + policy
	case report.InsufficientEvidence:
		return "it cannot be told whether " + data + meets + policy
	case report.NoVerdict:
	}
	return "nothing was decided on " + data + " by " + policy
}

// labelOrder is the order in which a measure's labels are shown; others follow by name.
var labelOrder = []string{"condition", "version", "attribute", "group", "where", "kind", "k", "per", "generalize"}

// measureName is a metric with its labels: "pass_at_k, version new, k 5". A group stands with its attribute, a
// condition for itself.
func measureName(m *report.Measure) string {
	if labels := labelText(m.Labels); labels != "" {
		return clip(m.Metric, nameMax) + ", " + labels
	}
	return clip(m.Metric, nameMax)
}

// ruleMeasure is what a rule measures: "false_negative by sex", "blind_agreement, per item".
func ruleMeasure(m *report.Measure) string {
	text, rest := clip(m.Metric, nameMax), maps.Clone(m.Labels)
	if attribute, found := rest["attribute"]; found {
		text += " by " + clip(attribute, nameMax)
		delete(rest, "attribute")
	}
	if labels := labelText(rest); labels != "" {
		text += ", " + labels
	}
	return text
}

func labelText(labels map[string]string) string {
	place := func(key string) int {
		if i := slices.Index(labelOrder, key); i >= 0 {
			return i
		}
		return len(labelOrder)
	}
	keys := slices.SortedFunc(maps.Keys(labels), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
	})
	var parts []string
	for _, key := range keys {
		value := clip(labels[key], nameMax)
		switch key {
		case "attribute", "group", "condition":
			parts = append(parts, value)
		case "generalize": // people_and_cases
			parts = append(parts, "over "+strings.ReplaceAll(value, "_", " "))
		default:
			parts = append(parts, clip(key, nameMax)+" "+value)
		}
	}
	return strings.Join(parts, ", ")
}

// facts says what a measure was counted from, in short phrases. run is the confidence of the run, 0 where it has none.
func facts(m *report.Measure, run float64) []string {
	var parts []string
	switch {
	case m.Numerator != nil && m.Denominator != nil && m.Units != nil && *m.Units == *m.Denominator: // what is counted are the units
		parts = append(parts, whole(*m.Numerator)+" of "+whole(recordedOf(m))+" "+unitName(m, recordedOf(m)))
	case m.Numerator != nil && m.Denominator != nil:
		parts = append(parts, whole(*m.Numerator)+" of "+whole(recordedOf(m)))
	case m.Denominator != nil && (m.Units == nil || *m.Units != *m.Denominator):
		parts = append(parts, "of "+whole(*m.Denominator))
	case m.Numerator != nil:
		parts = append(parts, whole(*m.Numerator)+" counted")
	}
	if m.Units != nil && (m.Numerator == nil || m.Denominator == nil || *m.Units != *m.Denominator) {
		parts = append(parts, whole(*m.Units)+" "+unitName(m, *m.Units))
	}
	if moves := signs(m); moves != "" {
		parts = append(parts, pValue(m)+": "+moves)
	}
	if m.Missing != nil && *m.Missing > 0 {
		text := whole(*m.Missing) + " missing"
		if m.Numerator != nil && m.Denominator != nil {
			text = "and " + text
		}
		if c := m.Completions; c != nil {
			ends := Show(&report.Measure{Scale: m.Scale, Interval: &report.Interval{Lower: &c.Low, Upper: &c.High}}, nil)
			if ends.Range() != "" {
				text += ": counted both ways, " + ends.Range()
			}
		}
		parts = append(parts, text)
	}
	for _, l := range m.LeftOut {
		parts = append(parts, whole(l.Count)+" left out ("+clip(l.Reason, nameMax)+")")
	}
	if m.Interval != nil {
		at := ""
		if l := level(m.Interval.Confidence); l != "" && m.Interval.Confidence != run {
			at = " at " + l
		}
		parts = append(parts, methodText(m.Interval, at))
	} else if m.Method != "" {
		parts = append(parts, clip(string(m.Method), nameMax))
	}
	return append(parts, beside(m)...)
}

// methodText names an interval's method, with what is said of its confidence, and how often the data may be looked at.
func methodText(iv *report.Interval, at string) string {
	return clip(string(iv.Method), nameMax) + at + looksText(iv.Looks)
}

// wholePercent is a share in whole percent, halves away from zero.
func wholePercent(x float64) string {
	share, err := strconv.ParseFloat(printNumber(x, 2, nearest, false), 64)
	if err != nil {
		return "?"
	}
	return strconv.Itoa(int(math.Round(share * 100)))
}

// recordedOf is a rate's denominator without what is missing: what its estimate is out of.
func recordedOf(m *report.Measure) int {
	if m.Missing == nil || ofPredictions(m.Metric) {
		return *m.Denominator
	}
	return *m.Denominator - *m.Missing
}

// ofPredictions reports a rate over the cases with one prediction: those without any are in no such denominator.
func ofPredictions(metric string) bool {
	switch metric {
	case "precision", "false_discovery", "false_omission", "negative_predictive_value":
		return true
	}
	return false
}

// beside are the intervals that nothing is decided on: that of the whole corpus, where the rule is about the rest of it, and
// those of methods to compare with.
func beside(m *report.Measure) []string {
	var out []string
	for _, b := range m.IntervalsBeside {
		ends := Show(&report.Measure{Scale: m.Scale, Interval: &report.Interval{Lower: &b.Lower, Upper: &b.Upper}}, nil)
		text := "for comparison only " + clip(b.Method, nameMax) + ": "
		if b.Method == string(interval.MethodHypergeometric) {
			text = "the whole corpus: " + ends.Range()
		} else if m.Estimate != nil && m.Scale != nil && *m.Scale == (report.Scale{Lower: 0, Upper: 1}) {
			text += wholePercent(*m.Estimate) + " %, " + wholePercent(b.Lower) + " to " + wholePercent(b.Upper) + " %"
		} else {
			text += ends.Range()
		}
		out = append(out, text+" ("+clip(b.Assumes, sentenceMax)+")")
	}
	return out
}

// pDigits is how many digits of a p-value are printed.
const pDigits = 4

// pValue prints a sign test's p-value, rounded up to four digits; "" where there is none.
func pValue(m *report.Measure) string {
	if finite(m.PValue) == nil {
		return ""
	}
	if *m.PValue > 0 && *m.PValue < 0.00001 {
		return "p < 0.00001"
	}
	places := pDigits
	for x := *m.PValue; x > 0 && x < 0.1; x *= 10 { // zeros behind the point are no digits
		places++
	}
	return "p " + strings.TrimRight(strings.TrimRight(printNumber(*m.PValue, places, up, false), "0"), ".")
}

// signs says how many cases became better and worse; "" where that was not counted.
func signs(m *report.Measure) string {
	if m.PValue == nil || m.Better == nil || m.Worse == nil {
		return ""
	}
	text := whole(*m.Better) + " better, " + whole(*m.Worse) + " worse"
	if m.Equal != nil {
		text += ", " + whole(*m.Equal) + " equal"
		if m.Units != nil {
			if open := *m.Units - *m.Better - *m.Worse - *m.Equal; open > 0 { // their direction depends on what is missing
				text += ", " + whole(open) + " open"
			}
		}
	}
	return text
}

// movedShown is how many of the cases that moved most are named.
const movedShown = 5

// moved names the cases that moved most between two versions; "" where there are none.
func moved(m *report.Measure) string {
	var parts []string
	for _, c := range m.Moved[:min(len(m.Moved), movedShown)] {
		from := Show(&report.Measure{Estimate: &c.Baseline}, nil).Estimate
		to := Show(&report.Measure{Estimate: &c.Candidate}, nil).Estimate
		text := clip(c.Case, nameMax) + " " + orNone(from) + " → " + orNone(to)
		if c.Missing > 0 {
			text += " (" + counted(c.Missing, "trial") + " missing)"
		}
		parts = append(parts, text)
	}
	if rest := len(m.Moved) - movedShown; rest > 0 {
		parts = append(parts, whole(rest)+" more")
	}
	if len(parts) == 0 {
		return ""
	}
	return "Moved most: " + strings.Join(parts, "; ") + "."
}

// caution is why a measure's interval visibly does not hold, where its rule's reason does not say so already.
func caution(m *report.Measure, reason string) string {
	if m.Caution == "" || strings.Contains(reason, m.Caution) {
		return ""
	}
	return "Caution: " + sentence(clip(m.Caution, sentenceMax))
}

// cautions say why intervals of measures visibly do not hold: each reason once, with the measures that it is about.
func cautions(measures []*report.Measure) (texts []string) {
	var reasons []string
	on := map[string][]string{}
	for _, m := range measures {
		if m.Caution == "" {
			continue
		}
		if on[m.Caution] == nil {
			reasons = append(reasons, m.Caution)
		}
		on[m.Caution] = append(on[m.Caution], measureName(m))
	}
	for _, reason := range reasons {
		texts = append(texts, "Caution on "+few(on[reason], 5, "measure")+": "+sentence(clip(reason, sentenceMax)))
	}
	return texts
}

// orNone shows that a number does not exist.
func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// shownNumbers are the two cells of a table for a measure's estimate and interval. A sign test has its
// p-value and its counts there.
func shownNumbers(m *report.Measure, n Numbers) (measured, interval string) {
	if p := pValue(m); p != "" && n.Range() == "" {
		return p, orNone(signs(m))
	}
	if n.Estimate != "" && m.MeasuredIn != "" {
		n.Estimate += " " + clip(unitSign(m.MeasuredIn), nameMax)
	}
	return orNone(n.Estimate), orNone(n.Range())
}

// unitSign is the sign of a unit of measurement, or its name where it has none here.
func unitSign(unit string) string {
	if unit == "seconds" {
		return "s"
	}
	return unit
}

// reviewing is the lines with which a person's review of the rules under MANUAL_REVIEW is recorded; none where there
// is nothing to review: a waived rule is not a review's to settle.
func reviewing(r *report.Report) []string {
	for rule := range r.Rules() {
		if rule.Verdict == report.ManualReview && rule.Waived == nil && (rule.Reviewed == nil || !rule.Reviewed.Valid) {
			return []string{
				"To record that a person reviewed a rule on these files, add to the rule:",
				"  reviewed:",
				"    by: NAME",
				"    on: YYYY-MM-DD",
				"    digest: " + report.InputsDigest(r.Inputs),
				"    reason: WHY",
			}
		}
	}
	return nil
}

// unitName is what n of a measure's units are called.
func unitName(m *report.Measure, n int) string {
	name := cmp.Or(m.UnitName, "units")
	switch {
	case n != 1:
	case name == "people":
		name = "person"
	default:
		name = strings.TrimSuffix(name, "s")
	}
	return clip(name, nameMax)
}

func looksText(l interval.Looks) string {
	switch l {
	case interval.LooksOne:
		return ", one look"
	case interval.LooksPlanned:
		return ", any looks up to the plan"
	case interval.LooksAny:
		return ", many looks"
	}
	return ""
}

// lookText says which look at its data a rule has, with what stands before it; "" where no ledger was kept.
func lookText(rule *report.Rule, before string) string {
	l := rule.Look
	if l == nil {
		return ""
	}
	change := strings.ReplaceAll(clip(string(l.Change), nameMax), "_", " ")
	switch l.Change {
	case report.LookFirst, report.LookOther:
		change = ""
	case report.LookNone:
		change = "the same data"
	case report.LookAsked:
		change = "the same data, asked anew"
	}
	if change != "" {
		change = " (" + change + ")"
	}
	return before + "look " + whole(l.Number) + change
}

// ledgerText says in a sentence what a run's ledger held; "" where there is none.
func ledgerText(r *report.Report) string {
	l := r.Ledger
	switch {
	case l == nil:
		return ""
	case l.Appended:
		return "Ledger " + clipPath(l.Path, pathMax) + ": " + counted(l.Looks, "look") + " before this one, which is added."
	}
	return "Ledger " + clipPath(l.Path, pathMax) + ": " + counted(l.Looks, "look") + "; this one is not added."
}

// neededUnit is what a gate counts, at the start of what would decide a rule.
var neededUnit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^((?:more |recorded |blind )*)(people|cases|items|labels|decisions|comparisons|trials)\b`)
})

// needs says what would decide a rule: "about 40 more people at the present spread", "1 more person at the present spread".
func needs(n *report.Needs) string {
	if n.AtLeast == 1 {
		what := clip(n.What, sentenceMax)
		if m := neededUnit().FindStringSubmatch(what); m != nil {
			what = m[1] + unitName(&report.Measure{UnitName: m[2]}, 1) + what[len(m[0]):]
		}
		return "1 " + what
	}
	if n.AtLeast > 0 {
		return "about " + whole(n.AtLeast) + " " + clip(n.What, sentenceMax)
	}
	return clip(n.What, sentenceMax)
}

// tipping says how much depends on what is missing: "12 of 240 decisions are missing: the rule PASSes if at most 3 of them are
// wrong, and FAILs from 9 on."; "" where p is nil.
func tipping(p *report.TippingPoint) string {
	if p == nil {
		return ""
	}
	of, bad := clip(p.Of, sentenceMax), clip(p.Bad, sentenceMax)
	can := "FAILs"
	if !p.Alike {
		can = "can FAIL"
	}
	is, if1 := " are missing: ", "all of them are"
	if p.Missing == 1 {
		is, if1 = " is missing: ", "it is"
	}
	start := whole(p.Missing) + " of " + of + is
	if p.PassUpTo == nil {
		switch {
		case *p.FailFrom == p.Missing:
			return start + "the rule does not PASS in any case, and " + can + " if " + if1 + " " + bad + "."
		case *p.FailFrom == 1:
			return start + "the rule does not PASS in any case, and " + can + " if at least 1 of them is " + bad + "."
		}
		return start + "the rule does not PASS in any case, and " + can + " from " + whole(*p.FailFrom) + " on that are " + bad + "."
	}
	var passes string
	switch n := *p.PassUpTo; {
	case p.Missing == 1:
		passes = "the rule PASSes unless it is " + bad
	case n == 0:
		passes = "the rule PASSes if none of them is " + bad
	case n == 1:
		passes = "the rule PASSes if at most 1 of them is " + bad
	default:
		passes = "the rule PASSes if at most " + whole(n) + " of them are " + bad
	}
	switch {
	case p.FailFrom == nil:
		return start + passes + ", and does not FAIL in any case."
	case *p.FailFrom == p.Missing:
		return start + passes + ", and " + can + " if " + if1 + "."
	}
	return start + passes + ", and " + can + " from " + whole(*p.FailFrom) + " on."
}

// sentence ends a text from data with a full stop where it has none.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	if s == "" || strings.ContainsRune(".!?…。！？؟।", last) {
		return s
	}
	return s + "."
}

// inSentence is a count in a sentence of a gate, by the word before it or behind it.
var inSentence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[ (])(?:(?:about|more than) ([1-9][0-9]{3,17})\b|([1-9][0-9]{3,17}) (?:cases?|predictions?|items?|labels?|rows?|decisions?|people|trials?|annotators?|labelled|comparisons?|with|without|blind|visible|missing|because|of the|more|would)\b)`)
})

// gateText is a gate's sentence as it is shown: cut, ended, and with the thousands of its counts set apart as everywhere.
func gateText(s string) string {
	s = sentence(clip(s, sentenceMax))
	var b strings.Builder
	done := 0
	for _, at := range inSentence().FindAllStringSubmatchIndex(s, -1) {
		from, to := at[2], at[3]
		if from < 0 {
			from, to = at[4], at[5]
		}
		n, err := strconv.Atoi(s[from:to])
		if err != nil || strings.Count(s[:from], `"`)%2 == 1 { // inside a text from data
			continue
		}
		b.WriteString(s[done:from] + whole(n))
		done = to
	}
	return b.String() + s[done:]
}

// settingWords are what a gate's settings are called where they are shown, in this order.
var settingWords = []struct{ key, before, after string }{
	{"model", "model ", ""}, {"guideline", "guideline ", ""}, {"valid_until", "valid until ", ""}, {"valid_items", "valid for ", " items"},
	{"corpus_size", "corpus of ", " items"}, {"unit", "every case another ", " (unit)"}, {"min_cell", "groups of at least ", " cases (min_cell)"},
}

// settingsText names what was fixed for a gate: "Model gpt-x; guideline v3; valid until 2027-03-31."; "" where nothing was.
func settingsText(g *report.Gate) string {
	var parts []string
	for _, word := range settingWords {
		value := clip(g.Settings[word.key], nameMax)
		if value == "" {
			continue
		}
		if n, err := strconv.Atoi(value); err == nil && word.after != "" {
			value = whole(n)
		}
		parts = append(parts, word.before+value+word.after)
	}
	if parts == nil {
		return ""
	}
	return capital(strings.Join(parts, "; ")) + "."
}

// ownReason is a rule's reason without what notes says of its waiver.
func ownReason(r *report.Rule) string {
	if w := r.Waived; w != nil {
		return strings.TrimPrefix(r.Reason, "Waived until "+w.Until+"; without the waiver it would be "+w.Verdict.String()+". ")
	}
	return r.Reason
}

// notes are the sentences on a rule's waiver, review and standing.
func notes(r *report.Rule) []string {
	var out []string
	if w := r.Waived; w != nil {
		out = append(out, fmt.Sprintf("Waived until %s by %s: %s Without the waiver: %s.", clip(w.Until, nameMax), clip(w.Owner, nameMax), sentence(clip(w.Reason, sentenceMax)), w.Verdict))
	}
	if v := r.Reviewed; v != nil {
		bound := "It is bound to these inputs and takes the rule out of fail-on."
		if !v.Valid {
			bound = "It is about other inputs than these and does not count."
		}
		out = append(out, fmt.Sprintf("Reviewed by %s on %s: %s %s", clip(v.By, nameMax), clip(v.On, nameMax), sentence(clip(v.Reason, sentenceMax)), bound))
	}
	if r.Advisory {
		out = append(out, "Advisory: it does not count in the verdict.")
	}
	return out
}

// waiverEnds says when a rule's waiver ends, where one of the findings announces that: "in 5 days", "today"; "" where none does. days
// is how many are left, in the finding's words.
func waiverEnds(r *report.Rule, findings []report.Finding) (when string, days int) {
	if r.Waived == nil {
		return "", 0
	}
	for _, f := range findings {
		if f.Code != waiverEnding || f.Rule != r.ID {
			continue
		}
		_, rest, _ := lastCut(f.Message, " ends on "+r.Waived.Until+": ")
		if rest, _, _ = strings.Cut(rest, "."); strings.HasPrefix(rest, "today") {
			return "today", 0
		}
		var unit string
		if _, err := fmt.Sscanf(rest, "in %d %s", &days, &unit); err == nil && days > 0 {
			return "in " + counted(days, "day"), days
		}
	}
	return "", 0
}

// waiverEnding is the code of the finding that a waiver is about to end.
const waiverEnding = "waiver_ending"

// lastCut cuts a text at the last sep in it: what a person wrote may hold another before.
func lastCut(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}

// bySeverity returns the findings, warnings first.
func bySeverity(findings []report.Finding) []report.Finding {
	sorted := slices.Clone(findings)
	slices.SortStableFunc(sorted, func(a, b report.Finding) int {
		return cmp.Compare(severityRank(a.Severity), severityRank(b.Severity))
	})
	return sorted
}

func severityRank(s report.Severity) int {
	if s == report.Warning {
		return 0
	}
	return 1
}

// positions says where in the files of a gate a finding was made: the first three places, and how many more.
func positions(r *report.Report, gate, code string) (places []string, more int) {
	for _, in := range r.Inputs {
		if in.Gate != "" && in.Gate != gate {
			continue
		}
		for _, f := range in.Findings {
			switch {
			case f.Code != code || f.Message != "":
			case len(places) < 3:
				places = append(places, place(in, f))
			default:
				more++
			}
		}
	}
	return places, more
}

// place is where a finding was made, as file:line:column.
func place(in report.Input, f report.InputFinding) string {
	p := f.Position
	p.File = clipPath(cmp.Or(p.File, in.Path), pathMax)
	return p.String()
}

// errorMeaning says what the confidence promises, for every confidence that a rule has; where there are no
// rules, a measure.
func errorMeaning(r *report.Report) string {
	var levels []float64
	add := func(m *report.Measure) {
		if m.Interval != nil && level(m.Interval.Confidence) != "" && !slices.Contains(levels, m.Interval.Confidence) {
			levels = append(levels, m.Interval.Confidence)
		}
	}
	var between []string // the ends that any of several groups can get wrong
	for rule := range r.Rules() {
		add(&rule.Measure)
		end := ""
		switch {
		case rule.Interval == nil:
		case rule.Threshold.Kind == report.MaxGroupGap:
			end = "the lower end of a gap between groups"
		case rule.Threshold.Kind == report.MinGroupRatio:
			end = "the upper end of a ratio between groups"
		}
		if end != "" && !slices.Contains(between, end) {
			between = append(between, end)
		}
	}
	if len(levels) == 0 {
		for i := range r.Gates {
			for k := range r.Gates[i].Measures {
				add(&r.Gates[i].Measures[k])
			}
		}
	}
	slices.Sort(levels)
	twice := ""
	if len(between) > 0 {
		twice = "; " + list(between) + " at most twice as often"
	}
	switch {
	case len(levels) == 0:
		return ""
	case len(levels) == 1:
		return fmt.Sprintf("Confidence %s: each side of each interval is wrong at most %s of the time%s.", level(levels[0]), sideError(levels[0]), twice)
	case len(levels) > 3:
		return fmt.Sprintf("Each interval has its own confidence. A %s interval is too high at most %[2]s of the time, and too low at most %[2]s of the time; so it is with the others%s.", level(levels[0]), sideError(levels[0]), twice)
	}
	var parts []string
	for _, l := range levels {
		parts = append(parts, fmt.Sprintf("%s of the time at %s confidence", sideError(l), level(l)))
	}
	return "Each side of an interval is wrong at most " + list(parts) + twice + "."
}

// multiplicity discloses how much was looked at.
func multiplicity(r *report.Report) string {
	if r.Multiplicity == nil {
		return ""
	}
	m := r.Multiplicity
	text := counted(m.Rules, "rule") + " decided and " + counted(m.Intervals, "interval") + " computed in this run"
	if m.Intervals > 1 {
		text += ": the more there are, the likelier that one of them is wrong"
	}
	sentences := append([]string{text + "."}, falseFail(r)...)
	return strings.Join(sentences, " ")
}

// falseFailShort is falseFail for one line; "" where nothing is known of it.
func falseFailShort(r *report.Report) string {
	var parts []string
	if r.Multiplicity != nil && r.Multiplicity.FalseFail > 0 && r.Counts != nil {
		of := " of some rule"
		if r.Counts.Total() == 1 {
			of = ""
		}
		parts = append(parts, "chance of a false FAIL"+of+": at most "+percent(decimal(r.Multiplicity.FalseFail), up)+strings.ReplaceAll(byItself(r), ",", ""))
	}
	told := map[int]bool{}
	for rule := range r.Rules() {
		if a := rule.Adjusted; a != nil && !told[a.Family] && a.Rules >= 2 {
			told[a.Family] = true
			parts = append(parts, fmt.Sprintf("%s share their error (adjust: %s)", counted(a.Rules, "rule"), a.Method))
		}
	}
	return strings.Join(parts, ", ")
}

// byItself says of what a bound on the rules' errors is where a ledger shows that some data were looked at before; "" elsewhere.
func byItself(r *report.Report) string {
	for rule := range r.Rules() {
		if rule.Look != nil && rule.Look.Number > 1 {
			return ", at this look by itself"
		}
	}
	return ""
}

// falseFail says how likely it is that a rule FAILs by chance, and which rules share their error.
func falseFail(r *report.Report) (sentences []string) {
	if p := r.Multiplicity.FalseFail; p > 0 && r.Counts != nil {
		asked, some := "all that the "+whole(r.Counts.Total())+" counting rules ask", "some rule"
		if r.Counts.Total() == 1 {
			asked, some = "what the counting rule asks", "it"
		}
		sentences = append(sentences, fmt.Sprintf("If %s is true, %s FAILs all the same at most %s of the time%s.", asked, some, percent(decimal(p), up), byItself(r)))
	}
	told := map[int]bool{}
	for rule := range r.Rules() {
		a := rule.Adjusted
		if a == nil || told[a.Family] || a.Rules < 2 {
			continue
		}
		told[a.Family] = true
		how := "each has an equal part, so that its interval is wider"
		if a.Method == report.Holm {
			how = "a FAIL has to hold at a part of it, and no interval goes with that: those shown are each rule's own"
		}
		sentences = append(sentences, fmt.Sprintf("%s share the error of one (adjust: %s): %s.", counted(a.Rules, "rule"), a.Method, how))
	}
	return sentences
}

// conditions lists when the intervals of the rules and, if asked for, of the measures hold: each sentence
// once, in order.
func conditions(g *report.Gate, ofMeasures bool) []string {
	var out []string
	add := func(m *report.Measure) {
		for _, c := range sentences(m.Conditions) {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	for i := range g.Rules {
		add(&g.Rules[i].Measure)
	}
	for i := range g.Measures {
		if ofMeasures {
			add(&g.Measures[i])
		}
	}
	return out
}

// sentences cuts a text after each full stop that a space follows.
func sentences(text string) []string {
	var out []string
	for _, s := range strings.SplitAfter(text, ". ") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// shownProblems chooses the problems that there is room for: the first of every kind, so that one mistake on
// every row does not hide another, then the others in order. They stay in order.
func shownProblems(problems []report.Problem, most int) []report.Problem {
	if len(problems) <= most {
		return problems
	}
	chosen := make([]bool, len(problems))
	kinds := map[string]bool{}
	left := most
	for i, p := range problems {
		if kind := p.File + "\x00" + kindOf(p.Message); left > 0 && !kinds[kind] {
			kinds[kind], chosen[i] = true, true
			left--
		}
	}
	var shown []report.Problem
	for i, p := range problems {
		if !chosen[i] && left > 0 {
			chosen[i] = true
			left--
		}
		if chosen[i] {
			shown = append(shown, p)
		}
	}
	return shown
}

// kindOf is a message without the values and numbers in it.
func kindOf(message string) string {
	var b strings.Builder
	quoted := false
	for _, r := range message {
		switch {
		case r == '"':
			quoted = !quoted
		case quoted || unicode.IsDigit(r):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// assumptions lists the gate's assumptions and then those of its rules, each sentence once, without those that are
// said as conditions already.
func assumptions(g *report.Gate, said []string) []string {
	said = slices.Clone(said)
	var out []string
	add := func(texts []string) {
		for _, t := range texts {
			var rest []string
			for _, s := range sentences(t) {
				if !slices.Contains(said, s) {
					said, rest = append(said, s), append(rest, s)
				}
			}
			if rest != nil {
				out = append(out, strings.Join(rest, " "))
			}
		}
	}
	add(g.Assumptions)
	for i := range g.Rules {
		add(g.Rules[i].Assumptions)
	}
	return out
}

// fileFinding is what was found about a file itself, and where.
type fileFinding struct{ place, message string }

func fileFindings(r *report.Report) []fileFinding {
	var out []fileFinding
	for _, in := range r.Inputs {
		for _, f := range in.Findings {
			if f.Message != "" {
				out = append(out, fileFinding{place(in, f), sentence(clip(f.Message, sentenceMax))})
			}
		}
	}
	return out
}

// exitSentence says what status the process ends with, and why.
func exitSentence(r *report.Report, failOn report.FailOn) string {
	if failOn == nil {
		failOn = report.DefaultFailOn()
	}
	status := r.Status(failOn)
	why := ""
	switch {
	case r.Verdict == report.NoVerdict && status == report.ExitPass:
		why = "nothing was to be decided"
	case r.Verdict == report.NoVerdict:
		why = "nothing was decided"
	case status == r.Verdict.ExitStatus() && r.Verdict == report.Pass:
		why = "every counting rule passes"
	case status == r.Verdict.ExitStatus():
		why = "the worst of its rules is " + r.Verdict.String()
	case status != report.ExitPass:
		for _, v := range report.Verdicts {
			if v.ExitStatus() == status {
				why = "the worst of its rules that fail-on lists is " + v.String()
			}
		}
	case failOn[r.Verdict]: // only reviews take a listed verdict out
		why = "the rules under " + r.Verdict.String() + " have been reviewed"
	default:
		why = "the verdict is " + r.Verdict.String() + ", which is not in fail-on"
	}
	return fmt.Sprintf("exit status %d (%s)", status, why)
}

// ruleNumbers prints a rule's numbers against its threshold. An estimate without an interval is left out:
// it must not stand beside the threshold alone.
func ruleNumbers(r *report.Rule) Numbers {
	n := Show(&r.Measure, bound(r))
	if n.Range() == "" {
		n.Estimate = ""
	}
	return n
}

// anyInterval heads intervals that have no confidence in common.
const anyInterval = "interval"

// columnHeading titles the column of intervals. Of a sign test, which has none, the column counts the cases.
func columnHeading(measures []*report.Measure) string {
	tests := 0
	for _, m := range measures {
		if m.Interval == nil && signs(m) != "" {
			tests++
		}
	}
	switch heading := intervalHeading(measures); {
	case tests > 0 && tests == len(measures):
		return "cases"
	case tests > 0:
		return heading + ", or cases"
	default:
		return heading
	}
}

// intervalHeading names the column of intervals, with the confidence where all of them share it.
func intervalHeading(measures []*report.Measure) string {
	common := 0.0
	for _, m := range measures {
		if m.Interval == nil {
			continue
		}
		if common != 0 && m.Interval.Confidence != common {
			return anyInterval
		}
		common = m.Interval.Confidence
	}
	if l := level(common); l != "" {
		return l + " interval"
	}
	return anyInterval
}
