package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oloproof/oloproof/internal/cli"
)

// Tolerance is how far a bound of the program may lie from the oracle's.
const Tolerance = 1e-8

// Verdicts, as reports name them.
const (
	Pass         = "PASS"
	Fail         = "FAIL"
	Insufficient = "INSUFFICIENT_EVIDENCE"
	Review       = "MANUAL_REVIEW"
)

// exitStatus is the exit status of each verdict.
var exitStatus = map[string]int{Pass: 0, Fail: 1, Insufficient: 3, Review: 4}

// Study is one generated study, and what must come of it.
type Study struct {
	Args  []string          // the command line without --json; an argument that is a name in Files stands for its path
	Files map[string]string // contents by name
	Want  Report
	// Today is the day on which it is decided.
	Today time.Time
	// Itself lists where a report contradicts its own numbers; nil where there is nothing more to hold against itself.
	Itself func(Report) []string
	// OnBounds is the same study with thresholds set exactly on bounds that the program printed for its rules; nil where
	// that is not tried.
	OnBounds func(printed Report) Study
}

// onBounds sets the thresholds of rules that have one on a bound printed for them: the lower or the upper one, as a minimum
// or a maximum.
func onBounds(r *rand.Rand, printed Report, id string, o *ruleOptions) {
	for _, g := range printed.Gates {
		for _, rule := range g.Rules {
			if rule.ID == id && rule.Interval != nil && o.threshold != "" {
				bound := pick(r, rule.Interval.Lower, rule.Interval.Upper)
				o.side, o.threshold = pick(r, "minimum", "maximum"), strconv.FormatFloat(*bound, 'f', -1, 64)
			}
		}
	}
}

// Report is what a run prints with --json: the part of it that an oracle knows.
type Report struct {
	Verdict    string         `json:"verdict"`
	ExitStatus int            `json:"exit_status"`
	Counts     map[string]int `json:"counts"`
	Errors     []Problem      `json:"errors"`
	Gates      []Gate         `json:"gates"`
}

// Problem is one reason why a run cannot be used.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

// Gate is one section of a report.
type Gate struct {
	Gate     string         `json:"gate"`
	Design   string         `json:"design"`
	Data     map[string]any `json:"data"`
	Measures []Measure      `json:"measures"`
	Rules    []Rule         `json:"rules"`
	Findings []Finding      `json:"findings"`

	Exact []string       `json:"-"` // the codes of findings that the oracle decides
	Count map[string]int `json:"-"` // entries of Data that the oracle knows
}

// Finding is a flag about the data or the policy.
type Finding struct {
	Code  string `json:"code"`
	Count int    `json:"count"`
}

// anyCount is the count of a finding that must be there, with a count that the documents do not define.
const anyCount = -1

// Measure is one measured number. A nil pointer says that it is absent.
type Measure struct {
	Metric      string            `json:"metric"`
	Labels      map[string]string `json:"labels"`
	Estimate    *float64          `json:"estimate"`
	Interval    *Interval         `json:"interval"`
	Numerator   *int              `json:"numerator"`
	Denominator *int              `json:"denominator"`
	Units       *int              `json:"units"`
	Missing     *int              `json:"missing"`
	LeftOut     []LeftOut         `json:"left_out"`
	Completions *Completions      `json:"completions"`
	PValue      *float64          `json:"p_value"`
	Better      *int              `json:"better"`
	Worse       *int              `json:"worse"`
	Equal       *int              `json:"equal"`
	Method      string            `json:"method"`
	Beside      []Beside          `json:"intervals_beside"`
	Expected    *float64          `json:"expected_under_calibration"`
}

// Interval is a range with what it promises. A nil bound has no end.
type Interval struct {
	Lower      *float64 `json:"lower"`
	Upper      *float64 `json:"upper"`
	Confidence float64  `json:"confidence"`
	Method     string   `json:"method"`
	Looks      string   `json:"looks"`

	Unknown bool `json:"-"` // the oracle does not know the ends: the program's must hold its own completions
}

// Beside is an interval shown for comparison.
type Beside struct {
	Method string  `json:"method"`
	Lower  float64 `json:"lower"`
	Upper  float64 `json:"upper"`
}

// LeftOut counts what took no part, by reason.
type LeftOut struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// Completions are the estimate with all missing values at their worst and at their best.
type Completions struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Rule is one decided rule.
type Rule struct {
	Measure
	ID        string                     `json:"id"`
	Threshold map[string]json.RawMessage `json:"threshold"`
	Verdict   string                     `json:"verdict"`
	Reason    string                     `json:"reason"`
	Advisory  bool                       `json:"advisory"`
	Waived    *Waived                    `json:"waived"`
	Reviewed  *Reviewed                  `json:"reviewed"`
	Cells     []Cell                     `json:"cells"`
	Pairs     []Pair                     `json:"pairs"`
	// WithLeftOut is fairness: what the rule would come to with what was left out at its worst.
	WithLeftOut string `json:"verdict_with_left_out"`

	Close bool   `json:"-"` // a threshold lies within Tolerance of a bound that decides
	Why   string `json:"-"` // the oracle's reason, for the tally
	// ByInterval says that the verdict is the comparison of the printed interval with the threshold, which is minimum
	// or maximum, and nothing else.
	ByInterval bool `json:"-"`
	// MayReview says that MANUAL_REVIEW is right too, since the documents do not say what exactly calls for it.
	MayReview bool `json:"-"`
}

// Waived says what a waiver covers.
type Waived struct {
	Verdict string `json:"verdict"`
}

// Reviewed says whether a recorded review counts.
type Reviewed struct {
	Valid bool `json:"valid"`
}

// Cell is one group of a rule.
type Cell struct {
	Measure
	Verdict string `json:"verdict"`

	Close bool `json:"-"`
}

// Pair is two groups of a rule.
type Pair struct {
	Groups   []string  `json:"groups"`
	Estimate *float64  `json:"estimate"`
	Interval *Interval `json:"interval"`
	Verdict  string    `json:"verdict"`

	Close bool `json:"-"`
}

// Tally counts what occurred in studies.
type Tally map[string]int

// Add counts one more, or a few.
func (t Tally) Add(what string) { t[what]++ }

// String lists the counts by name, one a line.
func (t Tally) String() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(&text, "%7d  %s\n", t[name], name)
	}
	return text.String()
}

// Check runs the program on the study in the folder, which exists, and lists where it differs from what the study wants.
// The tally counts the rules by what they came to.
func (s Study) Check(folder string, tally Tally) []string {
	got, status, problem := s.Run(folder)
	if problem != "" {
		return []string{problem}
	}
	d := &differences{tally: tally}
	if w := processStatus(got); status != w {
		d.add("the process ended with %d, its report comes to %d", status, w)
	}
	d.report(s.Want, got)
	if got.ExitStatus == 2 && (got.Verdict != "" || len(got.Gates) > 0) {
		d.add("exit_status 2 with a verdict or a gate")
	}
	if s.Itself != nil {
		d.found = append(d.found, s.Itself(got)...)
	}
	if len(d.found) > 0 {
		for _, e := range got.Errors {
			d.add("the program says %s:%d:%d: %s", filepath.Base(e.File), e.Line, e.Column, e.Message)
		}
	}
	return d.found
}

// Run writes the files, runs the program with --json, and decodes what it printed. The problem is empty, or says what
// is wrong with that.
func (s Study) Run(folder string) (got Report, status int, problem string) {
	for name, text := range s.Files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			return got, 0, err.Error()
		}
	}
	args := slices.Clone(s.Args)
	for i, a := range args {
		if _, isFile := s.Files[a]; isFile {
			args[i] = filepath.Join(folder, a)
		}
	}
	args = append(args, "--json", "--quiet")
	var stdout, stderr bytes.Buffer
	status = cli.Main(args, cli.World{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Getenv: func(string) string { return "" }, Version: "v1.0.0", Now: func() time.Time { return s.Today },
	})
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		return got, status, fmt.Sprintf("the program ended with %d and printed no report: %v\n%s%s", status, err, stdout.String(), stderr.String())
	}
	return got, status, ""
}

// processStatus is how a process must end that printed the report: with the status of the worst counting rule that is not
// reviewed. A review counts under MANUAL_REVIEW alone, of the same files, and not for a waived rule.
func processStatus(r Report) int {
	if r.ExitStatus == 2 {
		return 2
	}
	worst := 0
	for _, g := range r.Gates {
		for _, rule := range g.Rules {
			reviewed := rule.Verdict == Review && rule.Waived == nil && rule.Reviewed != nil && rule.Reviewed.Valid
			if !rule.Advisory && !reviewed && badness(rule.Verdict) > worst {
				worst = badness(rule.Verdict)
			}
		}
	}
	return []int{0, 3, 4, 1}[worst]
}

// badness orders verdicts.
func badness(verdict string) int {
	return slices.Index([]string{Pass, Insufficient, Review, Fail}, verdict)
}

// differences collects where two reports differ.
type differences struct {
	found []string
	tally Tally
}

func (d *differences) add(format string, args ...any) {
	d.found = append(d.found, fmt.Sprintf(format, args...))
}

func (d *differences) report(want, got Report) {
	if want.ExitStatus == 2 {
		if len(got.Errors) == 0 {
			d.add("no errors, though nothing can be decided")
		}
		d.tally.Add("exit 2")
	}
	for _, w := range want.Errors {
		if !slices.ContainsFunc(got.Errors, func(e Problem) bool { return filepath.Base(e.File) == w.File && e.Line == w.Line }) {
			d.add("no error at %s:%d", w.File, w.Line)
		}
	}
	if len(want.Gates) != len(got.Gates) {
		d.add("%d gates, want %d", len(got.Gates), len(want.Gates))
		return
	}
	anyClose := false
	for i := range want.Gates {
		anyClose = d.gate(want.Gates[i], got.Gates[i]) || anyClose
	}
	// Where a rule was too close to call, the run's verdict is only held against the program's own rules.
	if !anyClose && want.Verdict != got.Verdict {
		d.add("the run's verdict is %s, want %s", got.Verdict, want.Verdict)
	}
	if !anyClose && want.ExitStatus != got.ExitStatus {
		d.add("exit_status is %d, want %d", got.ExitStatus, want.ExitStatus)
	}
	if got.Verdict == "" {
		return
	}
	worst, counts := Worst(got)
	if got.Verdict != worst || got.ExitStatus != exitStatus[worst] {
		d.add("the run's verdict is %s with exit_status %d, its rules come to %s", got.Verdict, got.ExitStatus, worst)
	}
	if fmt.Sprint(got.Counts) != fmt.Sprint(counts) {
		d.add("counts are %v, its rules come to %v", got.Counts, counts)
	}
	d.tally.Add("run " + got.Verdict)
}

// Worst is the verdict of the worst counting rule of a report, and how many rules came to each.
func Worst(r Report) (worst string, counts map[string]int) {
	counts = map[string]int{Pass: 0, Fail: 0, Insufficient: 0, Review: 0}
	for _, g := range r.Gates {
		for _, rule := range g.Rules {
			if !rule.Advisory {
				counts[rule.Verdict]++
			}
		}
	}
	for _, v := range []string{Fail, Review, Insufficient, Pass} {
		if counts[v] > 0 {
			return v, counts
		}
	}
	return "", counts
}

// gate compares two sections, and tells whether a rule was too close to call.
func (d *differences) gate(want, got Gate) (anyClose bool) {
	if want.Gate != got.Gate || want.Design != got.Design {
		d.add("gate %q of design %q, want %q of design %q", got.Gate, got.Design, want.Gate, want.Design)
	}
	for _, name := range slices.Sorted(maps.Keys(want.Count)) {
		if fmt.Sprint(got.Data[name]) != fmt.Sprint(want.Count[name]) {
			d.add("data.%s is %v, want %d", name, got.Data[name], want.Count[name])
		}
	}
	if want.Measures != nil {
		d.measures(want.Measures, got.Measures)
	}
	d.findings(want, got)
	if len(want.Rules) != len(got.Rules) {
		d.add("%d rules, want %d", len(got.Rules), len(want.Rules))
		return
	}
	byID := map[string]Rule{}
	for _, r := range got.Rules {
		byID[r.ID] = r
	}
	for _, w := range want.Rules {
		r, found := byID[w.ID]
		if !found {
			d.add("no rule %s", w.ID)
			continue
		}
		anyClose = d.rule(w, r) || anyClose
	}
	return anyClose
}

// name is a measure's metric with its labels, which tell measures apart.
func (m Measure) name() string {
	name := m.Metric
	for _, l := range slices.Sorted(maps.Keys(m.Labels)) {
		name += " " + l + "=" + m.Labels[l]
	}
	return name
}

func (d *differences) measures(want, got []Measure) {
	byName := map[string]Measure{}
	for _, m := range got {
		if _, again := byName[m.name()]; again {
			d.add("two measures %s", m.name())
		}
		byName[m.name()] = m
	}
	for _, w := range want {
		m, found := byName[w.name()]
		if !found {
			d.add("no measure %s", w.name())
			continue
		}
		delete(byName, w.name())
		d.measure("measure "+w.name(), w, m)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		d.add("a measure %s, which is not wanted", name)
	}
}

func (d *differences) findings(want, got Gate) {
	for _, code := range want.Exact {
		w, g := counted(want.Findings, code), counted(got.Findings, code)
		if w != g && !(w == fmt.Sprint([]int{anyCount}) && g != "[]") {
			d.add("findings %s: %s, want %s", code, g, w)
		}
	}
}

// counted lists the counts of the findings of a code, in order of size.
func counted(findings []Finding, code string) string {
	var counts []int
	for _, f := range findings {
		if f.Code == code {
			counts = append(counts, f.Count)
		}
	}
	slices.Sort(counts)
	return fmt.Sprint(counts)
}

// rule compares two rules, and tells whether the verdict was too close to call.
func (d *differences) rule(want, got Rule) (tooClose bool) {
	name := "rule " + want.ID + " (" + want.name() + ")"
	if want.name() != got.name() {
		d.add("%s is %s", name, got.name())
	}
	d.measure(name, want.Measure, got.Measure)
	if want.Advisory != got.Advisory {
		d.add("%s: advisory is %v, want %v", name, got.Advisory, want.Advisory)
	}
	// What is too close to call may be waived or not, and a review then be needed or not.
	open := want.Close || want.MayReview
	if !open && ((want.Waived == nil) != (got.Waived == nil) || want.Waived != nil && *want.Waived != *got.Waived) {
		d.add("%s: waived is %+v, want %+v", name, got.Waived, want.Waived)
	}
	if !open && ((want.Reviewed == nil) != (got.Reviewed == nil) || want.Reviewed != nil && *want.Reviewed != *got.Reviewed) {
		d.add("%s: reviewed is %+v, want %+v", name, got.Reviewed, want.Reviewed)
	}
	if want.MayReview && got.Verdict == Review {
		d.tally.Add("because a person has to look at how conditions were split")
		return true
	}
	if want.ByInterval && want.Interval.Unknown && got.Interval != nil {
		want.Verdict, tooClose = compared(got), true // by the oracle alone it is not known
	}
	switch {
	case want.Verdict == got.Verdict:
	case want.Close:
		d.tally.Add("too close to call, and told otherwise")
		tooClose = true
	default:
		d.add("%s: verdict %s, want %s (%s); its reason: %s", name, got.Verdict, want.Verdict, want.Why, got.Reason)
	}
	if want.ByInterval && got.Interval != nil {
		own := got.Verdict
		if got.Waived != nil {
			own = got.Waived.Verdict
		}
		if v := compared(got); v != own {
			d.add("%s: verdict %s, but its own interval %s and threshold %s come to %s", name, own, got.Interval, got.Threshold, v)
		}
	}
	d.tally.Add("verdict " + got.Verdict)
	d.tally.Add("because " + want.Why)
	if want.Close {
		d.tally.Add("close: a threshold within the tolerance of a bound")
	}
	if want.WithLeftOut != got.WithLeftOut && !want.Close {
		d.add("%s: verdict_with_left_out %q, want %q", name, got.WithLeftOut, want.WithLeftOut)
	}
	d.cells(name, want.Cells, got.Cells)
	d.pairs(name, want.Pairs, got.Pairs)
	return tooClose
}

// compared is the verdict of a printed interval with its threshold, by the definition.
func compared(r Rule) string {
	bound := func(side string) (t float64, there bool) {
		text, there := r.Threshold[side]
		if there && json.Unmarshal(text, &t) != nil {
			return math.NaN(), true
		}
		return t, there
	}
	if t, there := bound("minimum"); there {
		return Decide("minimum", t, *r.Interval.Lower, *r.Interval.Upper)
	}
	t, _ := bound("maximum")
	return Decide("maximum", t, *r.Interval.Lower, *r.Interval.Upper)
}

// Decide is the definition of a verdict: the whole interval is on the right side of the threshold, on the wrong one, or
// neither. The side is minimum or maximum.
func Decide(side string, t, lower, upper float64) string {
	switch {
	case side == "minimum" && lower >= t, side == "maximum" && upper <= t:
		return Pass
	case side == "minimum" && upper < t, side == "maximum" && lower > t:
		return Fail
	}
	return Insufficient
}

func (d *differences) cells(name string, want, got []Cell) {
	if len(want) != len(got) {
		d.add("%s: %d cells, want %d", name, len(got), len(want))
		return
	}
	for i, w := range want {
		cell := name + ", cell " + w.name()
		if w.name() != got[i].name() {
			d.add("%s is %s", cell, got[i].name())
		}
		d.measure(cell, w.Measure, got[i].Measure)
		if w.Verdict != got[i].Verdict && !w.Close {
			d.add("%s: verdict %s, want %s", cell, got[i].Verdict, w.Verdict)
		}
	}
}

func (d *differences) pairs(name string, want, got []Pair) {
	if len(want) != len(got) {
		d.add("%s: %d pairs, want %d", name, len(got), len(want))
		return
	}
	// Their order is not promised.
	byGroups := func(a, b Pair) int { return slices.Compare(a.Groups, b.Groups) }
	want, got = slices.SortedFunc(slices.Values(want), byGroups), slices.SortedFunc(slices.Values(got), byGroups)
	for i, w := range want {
		pair := fmt.Sprintf("%s, pair %q", name, w.Groups)
		if !slices.Equal(w.Groups, got[i].Groups) {
			d.add("%s is %q", pair, got[i].Groups)
		}
		d.number(pair+": estimate", w.Estimate, got[i].Estimate, 1e-12)
		d.interval(pair, w.Interval, got[i].Interval)
		if w.Verdict != got[i].Verdict && !w.Close {
			d.add("%s: verdict %s, want %s", pair, got[i].Verdict, w.Verdict)
		}
	}
}

// measure compares all numbers of two measures.
func (d *differences) measure(name string, want, got Measure) {
	d.number(name+": estimate", want.Estimate, got.Estimate, 1e-12)
	d.interval(name, want.Interval, got.Interval)
	if want.Interval != nil && want.Interval.Unknown && got.Interval != nil {
		if got.Completions != nil && (!got.holds(got.Completions.Low) || !got.holds(got.Completions.High)) {
			d.add("%s: interval %s does not hold its own completions", name, got.Interval)
		}
	}
	d.count(name+": numerator", want.Numerator, got.Numerator)
	d.count(name+": denominator", want.Denominator, got.Denominator)
	d.count(name+": units", want.Units, got.Units)
	d.count(name+": missing", want.Missing, got.Missing)
	d.count(name+": better", want.Better, got.Better)
	d.count(name+": worse", want.Worse, got.Worse)
	d.count(name+": equal", want.Equal, got.Equal)
	d.number(name+": expected_under_calibration", want.Expected, got.Expected, 1e-11)
	d.number(name+": p_value", want.PValue, got.PValue, 1e-11)
	if want.Method != got.Method {
		d.add("%s: method %q, want %q", name, got.Method, want.Method)
	}
	if (want.Completions == nil) != (got.Completions == nil) {
		d.add("%s: completions are %+v, want %+v", name, got.Completions, want.Completions)
	} else if want.Completions != nil {
		d.number(name+": completions.low", &want.Completions.Low, &got.Completions.Low, 1e-12)
		d.number(name+": completions.high", &want.Completions.High, &got.Completions.High, 1e-12)
	}
	if w, g := sortedLeftOut(want.LeftOut), sortedLeftOut(got.LeftOut); w != g {
		d.add("%s: left out are %s, want %s", name, g, w)
	}
	if len(want.Beside) != len(got.Beside) {
		d.add("%s: intervals beside are %+v, want %+v", name, got.Beside, want.Beside)
		return
	}
	for i, w := range want.Beside {
		d.number(name+": "+w.Method+" lower", &w.Lower, &got.Beside[i].Lower, 1e-12)
		d.number(name+": "+w.Method+" upper", &w.Upper, &got.Beside[i].Upper, 1e-12)
	}
}

// holds tells whether a number lies in the measure's interval.
func (m Measure) holds(x float64) bool {
	return m.Interval.Lower != nil && m.Interval.Upper != nil && *m.Interval.Lower <= x && x <= *m.Interval.Upper
}

func sortedLeftOut(all []LeftOut) string {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b LeftOut) int { return strings.Compare(a.Reason, b.Reason) })
	return fmt.Sprintf("%+v", all)
}

func (d *differences) interval(name string, want, got *Interval) {
	if (want == nil) != (got == nil) {
		d.add("%s: interval %s, want %s", name, got, want)
		return
	}
	if want == nil {
		return
	}
	if want.Method != got.Method || want.Looks != got.Looks || math.Abs(want.Confidence-got.Confidence) > 1e-9 {
		d.add("%s: interval by %s, looks %s, at %v; want %s, looks %s, at %v", name, got.Method, got.Looks, got.Confidence, want.Method, want.Looks, want.Confidence)
	}
	if want.Unknown {
		return
	}
	d.number(name+": lower", want.Lower, got.Lower, Tolerance)
	d.number(name+": upper", want.Upper, got.Upper, Tolerance)
	// Bounds are moved outward, so the program's interval holds the oracle's, but for the oracle's own error.
	const own = 1e-11
	if want.Lower != nil && got.Lower != nil && *got.Lower > *want.Lower+own {
		d.add("%s: lower is %.15g, inside of %.15g", name, *got.Lower, *want.Lower)
	}
	if want.Upper != nil && got.Upper != nil && *got.Upper < *want.Upper-own {
		d.add("%s: upper is %.15g, inside of %.15g", name, *got.Upper, *want.Upper)
	}
}

// String writes an interval for messages.
func (i *Interval) String() string {
	if i == nil {
		return "none"
	}
	text := func(p *float64) string {
		if p == nil {
			return "no end"
		}
		return fmt.Sprintf("%.15g", *p)
	}
	return "[" + text(i.Lower) + ", " + text(i.Upper) + "]"
}

func (d *differences) number(name string, want, got *float64, tolerance float64) {
	switch {
	case want == nil && got == nil:
	case want == nil:
		d.add("%s is %.15g, want none", name, *got)
	case got == nil:
		d.add("%s is absent, want %.15g", name, *want)
	case !(math.Abs(*want-*got) <= tolerance): // not a number included
		d.add("%s is %.15g, want %.15g", name, *got, *want)
	}
}

func (d *differences) count(name string, want, got *int) {
	switch {
	case want == nil && got == nil:
	case want == nil:
		d.add("%s is %d, want none", name, *got)
	case got == nil:
		d.add("%s is absent, want %d", name, *want)
	case *want != *got:
		d.add("%s is %d, want %d", name, *got, *want)
	}
}

// near tells whether the threshold lies within the tolerance of a bound.
func near(t float64, bounds ...float64) bool {
	for _, b := range bounds {
		if math.Abs(t-b) <= Tolerance {
			return true
		}
	}
	return false
}

func number(x float64) *float64 { return &x }

func count(n int) *int { return &n }
