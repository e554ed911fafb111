package policy

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
)

// Kind is the kind of a threshold; its text is the key that gives it.
type Kind string

// The kinds of threshold.
const (
	Minimum       Kind = "minimum"         // the metric is at least the value
	Maximum       Kind = "maximum"         // the metric is at most the value
	MaxGroupGap   Kind = "max_group_gap"   // no two groups differ by more than the value
	WorstGroup    Kind = "worst_group"     // every group is on the right side: {minimum: t} or {maximum: t}
	MinGroupRatio Kind = "min_group_ratio" // no group's rate is less than the value times another's
)

// Threshold is what a rule holds its metric to.
type Threshold struct {
	Kind  Kind
	Side  Kind   // WorstGroup: Minimum or Maximum; else the empty Kind
	Value Number // inside the metric's range
}

// MetricSpec is a metric that a gate knows.
type MetricSpec struct {
	Name         string
	Aliases      []string // other names that the field uses for it; the rule then has Name
	Lower, Upper float64  // the closed range of its values
	NoThreshold  bool     // decided without one, such as sign_test
	Hint         string   // not empty: no rule can have it, whatever its letter case, and this says why, such as "decision_time is reported, never a rule"
}

// RuleSpec is what rules of a gate look like.
type RuleSpec struct {
	MetricKey  string // "metric", or what the field calls it
	Metrics    []MetricSpec
	Thresholds []Kind
	// RatesAlone: no metric is a mean. Its rules cannot say planned, mean_method or looks: once, and a section's, which may
	// be meant for other gates, are passed over.
	RatesAlone bool
}

// Rule is one rule, with what it inherits. Where a part could not be read, the list of problems has an entry
// and the part is not Set (a nil Threshold, an empty Text).
type Rule struct {
	ID        Text
	Metric    Text
	Threshold *Threshold // nil for a metric that has none
	Judging              // its own settings, else the section's, else the defaults; after Share, as the family has it
	Adjust    Text       // of its section
	Family    *Family    // nil: it shares its error with no other rule; set by Share
	Advisory  bool       // reported, but does not count in the run's verdict
	Waive     *Waiver    // nil: none
	Reviewed  *Review    // nil: none
	Where     []Pair     // columns and the values they must have; nil: all rows
	Pos       diag.Pos   // of its first key
	Map       *Map       // for the gate's own keys; the gate calls Map.Done(rule.Name())
}

// Name is how messages speak of the rule: `rule people-decide-better`.
func (r *Rule) Name() string { return ruleName(r.ID) }

func ruleName(id Text) string {
	if !id.Set {
		return "rule"
	}
	shown := diag.Quote(id.Value)
	if !strings.ContainsAny(shown, ` \`) {
		shown = strings.Trim(shown, `"`)
	}
	return "rule " + shown
}

// Waiver turns a rule's FAIL or INSUFFICIENT_EVIDENCE into MANUAL_REVIEW up to and including a day.
type Waiver struct {
	Until  Text // a day, YYYY-MM-DD, in UTC
	Owner  Text
	Reason Text
	Pos    diag.Pos
}

// Covers reports whether the waiver holds on the day today (YYYY-MM-DD, UTC); its last day counts.
func (w *Waiver) Covers(today string) bool { return w != nil && today <= w.Until.Value }

// Review records that a person looked at a rule's MANUAL_REVIEW on given inputs.
type Review struct {
	By     Text
	On     Text // a day, YYYY-MM-DD
	Digest Text // of the inputs that were reviewed: 64 hexadecimal digits, made lower-case, without "sha256:"
	Reason Text
	Pos    diag.Pos
}

// ValidDay reports whether s is a day of the calendar, written YYYY-MM-DD. Such texts compare as days do.
func ValidDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// Finding is something that a person should know about a policy that can be used.
type Finding struct {
	Code    string // such as "rule_cannot_fail"
	Message string
	Pos     diag.Pos
}

// RuleCannotFail is the code of the finding that a threshold lies at the end of its metric's range, where
// every result passes or is undecided.
const RuleCannotFail = "rule_cannot_fail"

// longestID is how many characters a rule's id may have.
const longestID = 200

// ReadRules reads the rules of a section. outer is the section's settings, merged with those of every other
// source. Problems go to the document's list; an empty list of rules is one, an absent list is not.
func ReadRules(section *Section, outer Settings, spec RuleSpec) (rules []Rule, findings []Finding) {
	for _, m := range section.rules {
		r := Rule{Pos: m.Pos(), Map: m}
		r.ID = m.Text("id")
		switch {
		case !m.Has("id"):
			m.missing("rule", []string{"id"}, "the rule has no id; give it one, such as id: people-decide-better")
		case r.ID.Set && strings.TrimSpace(r.ID.Value) == "":
			m.Errorf(r.ID.Pos, "the rule's id is empty; give it a name")
			r.ID.Set = false
		case utf8.RuneCountInString(r.ID.Value) > longestID:
			m.Errorf(r.ID.Pos, "the rule's id is %d characters long; at most %d are allowed", utf8.RuneCountInString(r.ID.Value), longestID)
		}
		metric := readMetric(m, ruleName(r.ID), spec)
		if metric != nil {
			r.Metric = Text{metric.Name, m.entries[m.index[spec.MetricKey]].value.pos, true}
		}
		var finding *Finding
		r.Threshold, finding = readThreshold(m, ruleName(r.ID), metric, spec.Thresholds)
		if finding != nil {
			findings = append(findings, *finding)
		}
		if spec.RatesAlone {
			r.Judging = readRateJudging(m, ruleName(r.ID)).within(outer.ForRates()).WithDefaults()
		} else {
			r.Judging = readJudging(m).within(outer.Judging).WithDefaults()
			r.Judging.check(m.diags)
		}
		r.Adjust = outer.Adjust
		if m.Has("adjust") {
			m.refuse("adjust", "%s: adjust is for all rules of a policy or a section together; move it there", ruleName(r.ID))
		}
		r.Where = readWhere(m, ruleName(r.ID))
		r.Advisory = m.Bool("advisory").Value
		r.Waive = readWaiver(m)
		r.Reviewed = readReview(m)
		rules = append(rules, r)
	}
	if len(section.rules) == 0 || spec.RatesAlone {
		outer.Judging.check(section.Map.diags)
	}
	return rules, findings
}

// readRateJudging reads the settings of a rule on a rate. Those that plan a mean are refused, and not offered where another key
// is unknown.
func readRateJudging(m *Map, name string) Judging {
	j := Judging{Confidence: m.Number("confidence", confidences)}
	const why = "plans the number of units of a mean, and rates are exact for one look without; leave it out, or write looks: repeated for many looks"
	if v, ok := m.take("looks"); ok && v.kind == scalar && v.text == LooksOnce {
		m.Errorf(v.pos, "%s: looks: once %s", name, why)
	} else {
		j.Looks = m.Choice("looks", LooksRepeated)
	}
	j.MaxLeftOut = m.Number("max_left_out", Range{Min: 0, Max: 1})
	for _, key := range []string{"planned", "mean_method"} {
		if m.Has(key) {
			m.refuse(key, "%s: %s %s", name, key, why)
		}
	}
	return j
}

// readWhere reads the columns that a rule slices by; their names are trimmed as those of the files are. The list has room for
// no entry exactly where none is given.
func readWhere(m *Map, name string) []Pair {
	where := m.TextMap("where")
	first := map[string]diag.Pos{}
	for i := range where {
		key := &where[i].Key
		key.Value = strings.TrimSpace(key.Value)
		if at, again := first[key.Value]; again {
			m.Errorf(key.Pos, "%s: where names the column %s twice; it was first named on line %d", name, diag.Quote(key.Value), at.Line)
		}
		first[key.Value] = key.Pos
		if key.Value == "" {
			m.Errorf(key.Pos, "%s: where has a column without a name; write the name of a column", name)
		}
	}
	return where
}

// readMetric returns the spec of the rule's metric, nil after an error.
func readMetric(m *Map, name string, spec RuleSpec) *MetricSpec {
	t := m.Text(spec.MetricKey)
	var names []string
	for i, metric := range spec.Metrics {
		if t.Set && (metric.Name == t.Value || slices.Contains(metric.Aliases, t.Value) || metric.Hint != "" && strings.EqualFold(metric.Name, t.Value)) {
			if metric.Hint != "" {
				m.Errorf(t.Pos, "%s", metric.Hint)
				return nil
			}
			return &spec.Metrics[i]
		}
		if metric.Hint == "" {
			names = append(append(names, metric.Name), metric.Aliases...)
		}
	}
	if !m.Has(spec.MetricKey) && spec.MetricKey != "metric" && m.Has("metric") {
		m.refuse("metric", "unknown key \"metric\" in %s; did you mean %q?", name, spec.MetricKey)
	} else if t.Set {
		m.Errorf(t.Pos, "unknown %s %s in %s%s", spec.MetricKey, diag.Quote(t.Value), name, allowed(t.Value, names))
	} else if !m.Has(spec.MetricKey) {
		m.missing(name, []string{spec.MetricKey}, fmt.Sprintf("%s has no %s; allowed: %s", name, spec.MetricKey, strings.Join(names, ", ")))
	}
	return nil
}

// readThreshold reads the rule's one threshold, and checks it against the metric's range where the metric is
// known. A threshold at the end of that range where nothing can be on its wrong side gives a finding.
func readThreshold(m *Map, name string, metric *MetricSpec, kinds []Kind) (*Threshold, *Finding) {
	var given []Kind
	var t Threshold
	for _, k := range kinds {
		if m.Has(string(k)) {
			given = append(given, k)
		}
		r := thresholdRange(k, metric)
		if k == WorstGroup {
			if side, v := readWorstGroup(m, r); v.Set {
				t = Threshold{k, side, v}
			}
		} else if v := m.Number(string(k), r); v.Set {
			t = Threshold{k, "", v}
		}
	}
	if metric != nil && metric.NoThreshold {
		for _, k := range given {
			m.Errorf(m.KeyPos(string(k)), "%s: %s has no threshold; leave %s out", name, metric.Name, k)
		}
		return nil, nil
	}
	switch {
	case len(given) == 0 && sideAlone(m, name, kinds):
		return nil, nil
	case len(given) == 0:
		// Where the metric is unknown, whether a threshold is missing cannot be told.
		if metric != nil {
			m.missing(name, texts(kinds), fmt.Sprintf("%s has no threshold; give one of %s", name, join(kinds)))
		}
		return nil, nil
	case len(given) > 1:
		slices.SortFunc(given, func(a, b Kind) int { return m.KeyPos(string(a)).Compare(m.KeyPos(string(b))) })
		m.Errorf(m.KeyPos(string(given[1])), "%s has %d thresholds (%s); exactly one is allowed: make it two rules", name, len(given), join(given))
		return nil, nil
	case !t.Value.Set:
		return nil, nil // reported where it was read
	}
	if metric != nil {
		if r := thresholdRange(t.Kind, metric); cannotFail(t, r) {
			return &t, &Finding{
				Code: RuleCannotFail,
				Pos:  t.Value.Pos,
				Message: fmt.Sprintf("%s cannot fail: %s is %s, and %s lies between %s and %s",
					name, t.name(), t.Value.Text, t.measures(metric), decimal(r.Min), decimal(r.Max)),
			}
		}
	}
	return &t, nil
}

// name is how a finding calls the threshold.
func (t *Threshold) name() string {
	if t.Kind == WorstGroup {
		return "the " + string(t.Side) + " of worst_group"
	}
	return string(t.Kind)
}

// measures says what the threshold is held against.
func (t *Threshold) measures(metric *MetricSpec) string {
	switch t.Kind {
	case MaxGroupGap:
		return "the distance of two groups' rates"
	case MinGroupRatio:
		return "the ratio of two groups' rates"
	case WorstGroup, Minimum, Maximum:
	}
	return metric.Name
}

// sideAlone reports a minimum or a maximum that stands in a rule itself where it belongs under worst_group; without one it
// returns false.
func sideAlone(m *Map, name string, kinds []Kind) bool {
	if !slices.Contains(kinds, WorstGroup) {
		return false
	}
	found := false
	for _, side := range []Kind{Minimum, Maximum} {
		if slices.Contains(kinds, side) || !m.Has(string(side)) {
			continue
		}
		value := "…"
		if v := m.entries[m.index[string(side)]].value; v.kind == scalar && decimalNumber().MatchString(v.text) {
			value = v.text
		}
		m.refuse(string(side), "unknown key %q in %s; did you mean worst_group: {%s: %s}?", side, name, side, value)
		found = true
	}
	return found
}

// anyThreshold is the range of a threshold on a metric that is unknown or has none: every finite number.
var anyThreshold = Range{Min: math.Inf(-1), Max: math.Inf(1)}

// thresholdRange is the range of a kind of threshold on a metric: the metric's own, the distance between its
// ends for a gap, 0 to 1 for a ratio.
func thresholdRange(k Kind, metric *MetricSpec) Range {
	switch {
	case k == MinGroupRatio:
		return Range{Min: 0, Max: 1}
	case metric == nil || metric.NoThreshold:
		return anyThreshold
	case k == MaxGroupGap:
		return Range{Min: 0, Max: metric.Upper - metric.Lower, Of: metric.Name}
	}
	return Range{Min: metric.Lower, Max: metric.Upper, Of: metric.Name}
}

// cannotFail reports a threshold that no value in its range r is on the wrong side of.
func cannotFail(t Threshold, r Range) bool {
	if t.Kind == Minimum || t.Kind == MinGroupRatio || t.Side == Minimum {
		return t.Value.Value == r.Min
	}
	return t.Value.Value == r.Max
}

// readWorstGroup reads worst_group: {minimum: t} or {maximum: t}.
func readWorstGroup(m *Map, r Range) (Kind, Number) {
	if v, ok := m.take(string(WorstGroup)); ok && v.kind == scalar && decimalNumber().MatchString(v.text) {
		m.wrong(string(WorstGroup), v, fmt.Sprintf("write {minimum: %s} where no group's rate may be lower, or {maximum: %s} where none may be higher", v.text, v.text))
		return "", Number{}
	}
	w := m.Map(string(WorstGroup))
	if w == nil {
		return "", Number{}
	}
	lower, upper := w.Number(string(Minimum), r), w.Number(string(Maximum), r)
	w.Done("worst_group")
	switch both := w.Has(string(Minimum)) && w.Has(string(Maximum)); {
	case both:
		w.Errorf(w.Pos(), "worst_group has minimum and maximum; exactly one is allowed: make it two rules")
	case !w.Has(string(Minimum)) && !w.Has(string(Maximum)):
		w.Errorf(m.KeyPos(string(WorstGroup)), "worst_group has no side; write {minimum: 0.8} or {maximum: 0.2}")
	case lower.Set:
		return Minimum, lower
	case upper.Set:
		return Maximum, upper
	}
	return "", Number{}
}

func texts(kinds []Kind) []string {
	var out []string
	for _, k := range kinds {
		out = append(out, string(k))
	}
	return out
}

func join(kinds []Kind) string { return strings.Join(texts(kinds), ", ") }

// readWaiver reads waive: {until, owner, reason}; nil where it is absent or not whole.
func readWaiver(m *Map) *Waiver {
	w := m.Map("waive")
	if w == nil {
		return nil
	}
	out := &Waiver{Until: day(w, "until"), Owner: words(w, "owner"), Reason: words(w, "reason"), Pos: m.KeyPos("waive")}
	w.Done("waive")
	needs(w, out.Pos, "waive", "until", "owner", "reason")
	if !out.Until.Set || !out.Owner.Set || !out.Reason.Set {
		return nil
	}
	return out
}

// readReview reads reviewed: {by, on, digest, reason}; nil where it is absent or not whole.
func readReview(m *Map) *Review {
	w := m.Map("reviewed")
	if w == nil {
		return nil
	}
	out := &Review{By: words(w, "by"), On: day(w, "on"), Digest: digest(w, "digest"), Reason: words(w, "reason"), Pos: m.KeyPos("reviewed")}
	w.Done("reviewed")
	needs(w, out.Pos, "reviewed", "by", "on", "digest", "reason")
	if !out.By.Set || !out.On.Set || !out.Digest.Set || !out.Reason.Set {
		return nil
	}
	return out
}

// needs reports the keys that m lacks, at pos.
func needs(m *Map, pos diag.Pos, name string, keys ...string) {
	var absent []string
	for _, k := range keys {
		if !m.Has(k) {
			absent = append(absent, k)
		}
	}
	if absent != nil {
		m.Errorf(pos, "%s has no %s; it needs all of %s", name, strings.Join(absent, ", "), strings.Join(keys, ", "))
	}
}

// words reads a text with something in it beside spaces.
func words(m *Map, key string) Text {
	t := m.Text(key)
	if t.Set && strings.TrimSpace(t.Value) == "" {
		m.Errorf(t.Pos, "%s is empty; a text is wanted", key)
		return Text{Pos: t.Pos}
	}
	return t
}

// day reads a day of the calendar.
func day(m *Map, key string) Text {
	t := m.Text(key)
	if t.Set && !ValidDay(t.Value) {
		m.Errorf(t.Pos, "%s is %s; write a day of the calendar as YYYY-MM-DD, such as 2027-03-31", key, diag.Quote(t.Value))
		return Text{Pos: t.Pos}
	}
	return t
}

// digest reads a SHA-256 digest.
func digest(m *Map, key string) Text {
	t := m.Text(key)
	if !t.Set {
		return t
	}
	digits := strings.ToLower(strings.TrimPrefix(t.Value, "sha256:"))
	if raw, err := hex.DecodeString(digits); err != nil || len(raw) != 32 {
		m.Errorf(t.Pos, "%s is %s; write the SHA-256 digest that the report prints, 64 hexadecimal digits", key, diag.Quote(t.Value))
		return Text{Pos: t.Pos}
	}
	t.Value = digits
	return t
}

// CheckRules reports what is wrong with the rules of a run as a whole: an id given twice, whatever the file or
// the section, and, at pos (the policy), that no rule counts.
func CheckRules(pos diag.Pos, diags *diag.List, lists ...[]Rule) {
	first := map[string]diag.Pos{} // by id
	all, counting := 0, 0
	for _, rules := range lists {
		for _, r := range rules {
			all++
			if !r.Advisory {
				counting++
			}
			if !r.ID.Set {
				continue
			}
			if p, ok := first[r.ID.Value]; ok {
				diags.Addf(r.ID.Pos, "the rule id %s is taken by the rule at %s; ids are unique in a run", diag.Quote(r.ID.Value), p)
			} else {
				first[r.ID.Value] = r.ID.Pos
			}
		}
	}
	switch {
	case all == 0 && diags.Len() == 0: // else what was to be a rule may be among the problems
		diags.Addf(pos, "no rule, so there is nothing to decide; add rules, or use report")
	case all > 0 && counting == 0:
		diags.Addf(pos, "every rule is advisory, so none counts in the verdict; make one count, or use report")
	}
}
