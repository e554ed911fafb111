// Package report holds the one value that every format, exit status, output and comment is made
// from. It is complete: nothing that formats a report looks back at files, policies or tallies.
// Its JSON form is published (report.schema.json); names may be added to it, and a name's meaning
// never changes within one schema version.
package report

import (
	"crypto/sha256"
	_ "embed" // the published schema
	"encoding/hex"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/interval"
)

// SchemaName names the published form of the JSON report.
const SchemaName = "oloproof-report/1"

// JSONSchema is the published JSON Schema of the report.
//
//go:embed report.schema.json
var JSONSchema []byte

// Report is one run. Which parts it has depends on the verb: check has data, design and findings;
// report adds measures; gate adds rules, verdict and counts; a run that cannot be used has errors only.
type Report struct {
	Schema       string        `json:"schema"`
	Tool         Tool          `json:"tool"`
	Verdict      Verdict       `json:"verdict,omitzero"`
	ExitStatus   int           `json:"exit_status"` // the verdict's; ExitUnusable with Errors; 0 for check and report
	Errors       []Problem     `json:"errors,omitempty"`
	MoreErrors   int           `json:"more_errors,omitempty"` // how many problems were found beyond Errors
	Confidence   float64       `json:"confidence,omitzero"`   // the run's; a rule may have its own
	Counts       *Counts       `json:"counts,omitempty"`
	Multiplicity *Multiplicity `json:"multiplicity,omitempty"`
	Today        string        `json:"today,omitempty"` // YYYY-MM-DD, only where a rule has a waiver
	Inputs       []Input       `json:"inputs,omitempty"`
	Policy       *File         `json:"policy,omitempty"`
	Policies     []File        `json:"policies,omitempty"` // where there are two: the declaration first, then --policy
	Ledger       *Ledger       `json:"ledger,omitempty"`   // of looks, which the rules were held against
	Gates        []Gate        `json:"gates,omitempty"`

	// An earlier report that the rules were compared with, and its rules that are gone.
	Baseline     *Baseline     `json:"baseline,omitempty"`
	RemovedRules []RemovedRule `json:"removed_rules,omitempty"`
	// The policy that this one takes the place of, and what this one says otherwise: only what makes it easier to
	// pass, or may.
	PolicyBase *File `json:"policy_base,omitempty"`
	// PolicyFromBase says that PolicyBase was decided, and what stands in its place in the pull request was only compared with
	// it: PolicyChanges are that one's.
	PolicyFromBase bool           `json:"policy_from_base,omitempty"`
	PolicyChanges  []PolicyChange `json:"policy_changes,omitempty"`
}

// Tool is the program that made the report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Counts is how many counting (not advisory) rules came to each verdict.
type Counts struct {
	Pass                 int `json:"PASS"`
	Fail                 int `json:"FAIL"`
	InsufficientEvidence int `json:"INSUFFICIENT_EVIDENCE"`
	ManualReview         int `json:"MANUAL_REVIEW"`
}

// Total is the number of counting rules.
func (c Counts) Total() int { return c.Pass + c.Fail + c.InsufficientEvidence + c.ManualReview }

// Of returns the count for one verdict; 0 for NoVerdict.
func (c Counts) Of(v Verdict) int {
	switch v {
	case Pass:
		return c.Pass
	case Fail:
		return c.Fail
	case InsufficientEvidence:
		return c.InsufficientEvidence
	case ManualReview:
		return c.ManualReview
	case NoVerdict:
	}
	return 0
}

// Multiplicity discloses how many rules were decided and how many intervals were looked at: of rules, of their groups
// and pairs, and of measures; and how surely the rules that count do not FAIL by chance.
type Multiplicity struct {
	Rules     int `json:"rules"`
	Intervals int `json:"intervals"`
	// FalseFail is an upper bound of the probability that at least one counting rule FAILs although all that the rules ask
	// is true, given what the intervals rest on. It adds up that of each rule; a family that shares its error by holm
	// has that of the rule with the largest. 0: an earlier version wrote the report, and does not tell.
	FalseFail float64 `json:"false_fail_at_most,omitempty"`
}

// addUp sums probabilities, exactly for the decimals that they print as, up to 1: the same in any order.
func addUp(list []float64) float64 {
	sum := new(big.Rat)
	for _, x := range list {
		if r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64)); ok {
			sum.Add(sum, r)
		}
	}
	x, _ := sum.Float64()
	return min(x, 1)
}

// Problem is one reason why the run cannot be used.
type Problem struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Row     int    `json:"row,omitempty"`
	Message string `json:"message"`
}

// Pos is where the problem is.
func (p Problem) Pos() diag.Pos {
	return diag.Pos{File: p.File, Line: p.Line, Column: p.Column, Row: p.Row}
}

// File is a file that the run read, named as given, with the SHA-256 of its bytes in hexadecimal.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Input is one file of rows. Everything that depends on how rows lie in files stands here, so that
// the gates' part of a report does not change when files are split, renamed or compressed.
type Input struct {
	Path     string         `json:"path"`
	SHA256   string         `json:"sha256"`
	Bytes    int64          `json:"bytes"`
	Rows     int            `json:"rows"`
	Gate     string         `json:"gate,omitempty"` // in a run of several gates: the one it belongs to
	Name     string         `json:"name,omitempty"` // in a run of several gates: its section's, where it has one
	Role     string         `json:"role,omitempty"` // what it holds, where that is not decisions: "assignment", "draw" or "tally"; a file for one version of compare: "baseline" or "candidate"
	Findings []InputFinding `json:"findings,omitempty"`
}

// InputFinding is where in a file a finding was made.
type InputFinding struct {
	Code     string   `json:"code"`
	Position diag.Pos `json:"position"`
	Message  string   `json:"message,omitempty"` // of findings about the file itself
}

// Gate is one gate's part of the run.
type Gate struct {
	Gate   string `json:"gate"` // human-ai, anchoring, compare or fairness
	Name   string `json:"name,omitempty"`
	Design string `json:"design,omitempty"`
	// What the policy or the command line fixed that is not per rule, by name. compare: baseline and candidate (the versions
	// that are compared, as measures are labelled), case_list, plan_cases and plan_trials (whole numbers). fairness: min_cell,
	// calibration_bins and unit (the column that names the person, where one is declared).
	Settings    map[string]string `json:"settings,omitempty"`
	Summary     string            `json:"summary"` // one sentence on the data, for a person
	Data        Data              `json:"data"`
	Measures    []Measure         `json:"measures,omitempty"`
	Rules       []Rule            `json:"rules,omitempty"`
	Findings    []Finding         `json:"findings,omitempty"`
	Assumptions []string          `json:"assumptions,omitempty"`
	Limits      []string          `json:"limits,omitempty"`
	MinShown    int               `json:"min_shown,omitempty"` // policy's min_shown: formats for people hide smaller counts
}

// Count is one named count of what was read.
type Count struct {
	Name  string
	Count int
}

// Data is the counts of what was read, in the order shown; it is a JSON object.
type Data []Count

// Of returns the count with that name, 0 where there is none.
func (d Data) Of(name string) int {
	for _, c := range d {
		if c.Name == name {
			return c.Count
		}
	}
	return 0
}

// Measure is one quantity with its interval and everything it was counted from. A pointer that is nil
// does not apply.
type Measure struct {
	Metric      string            `json:"metric"`
	Labels      map[string]string `json:"labels,omitempty"`
	Estimate    *float64          `json:"estimate,omitempty"` // from what is recorded; nil when nothing is
	Interval    *Interval         `json:"interval,omitempty"`
	MeasuredIn  string            `json:"measured_in,omitempty"` // the unit of the estimate and the interval, where they are not shares: "seconds"
	Scale       *Scale            `json:"scale,omitempty"`       // the range the quantity can have
	Numerator   *int              `json:"numerator,omitempty"`
	Denominator *int              `json:"denominator,omitempty"` // the missing ones included, but where the prediction decides what belongs to it
	Units       *int              `json:"units,omitempty"`       // how many independent units (people, decisions, cases) the interval rests on
	UnitName    string            `json:"unit_name,omitempty"`   // what they are, in the plural
	Missing     *int              `json:"missing,omitempty"`     // values not recorded, completed both ways
	LeftOut     []LeftOut         `json:"left_out,omitempty"`
	Completions *Completions      `json:"completions,omitempty"`
	// Of an expected calibration error, which is above 0 by chance alone: its expectation at the same counts, were the
	// probabilities right.
	UnderCalibration *float64 `json:"expected_under_calibration,omitempty"`
	// Of an expected calibration error: the bins it is summed over that have a case, in ascending order. nil where groups and bins
	// are too many to list. With the gate's MinShown, without those that have fewer cases than it of either label.
	Bins []CalibrationBin `json:"bins,omitempty"`
	// Of an accuracy difference among a gate's measures: people's own gains. nil where the gate has a MinShown.
	Spread *Spread `json:"spread,omitempty"`
	// Of a sign test, which has a p-value in place of an interval.
	PValue *float64        `json:"p_value,omitempty"` // two-sided, at the completion that speaks most against a decision
	Better *int            `json:"better,omitempty"`  // cases
	Worse  *int            `json:"worse,omitempty"`
	Equal  *int            `json:"equal,omitempty"`
	Method interval.Method `json:"method,omitempty"`
	// Intervals shown beside for comparison; nothing is decided on them.
	IntervalsBeside []IntervalBeside `json:"intervals_beside,omitempty"`
	// The cases that moved most between two versions, for a person to look at.
	Moved []Moved `json:"moved,omitempty"`

	Conditions string `json:"conditions,omitempty"` // in a sentence or two: when the interval holds
	Caution    string `json:"caution,omitempty"`    // one sentence: why it visibly does not hold here
}

// Interval is an interval as published: an unbounded side is null.
type Interval struct {
	Lower      *float64        `json:"lower"`
	Upper      *float64        `json:"upper"`
	Confidence float64         `json:"confidence"`
	Method     interval.Method `json:"method"`
	Looks      interval.Looks  `json:"looks"`
}

// IntervalBeside is an interval that is shown and never decided on, with what it assumes.
type IntervalBeside struct {
	Method  string  `json:"method"`
	Lower   float64 `json:"lower"`
	Upper   float64 `json:"upper"`
	Assumes string  `json:"assumes"`
}

// CalibrationBin is the cases of a group whose probability lies in [From, To), the last bin's To included.
type CalibrationBin struct {
	From        float64 `json:"from"`
	To          float64 `json:"to"`
	Probability float64 `json:"probability"` // the mean of the cases'
	Positives   int     `json:"positives"`   // cases with label 1
	Cases       int     `json:"cases"`       // at least one
}

// Spread is the values that a mean over units was taken of, as far as they are recorded, without names and in ascending order.
// Of at most SpreadMost units it has each one's value, and of more only SpreadShown quantiles, so that a report of many units
// is no longer than one of few: Values[i] is then the value of the unit at rank ⌊(i + ½)·Units/SpreadShown⌋, from 0.
type Spread struct {
	Units  int       `json:"units"`
	Values []float64 `json:"values"`
}

// How many units a Spread has one by one, and how many quantiles it has of more.
const (
	SpreadMost  = 200
	SpreadShown = 100
)

// NewSpread returns the spread of units' values, in any order; nil of none.
func NewSpread(values []float64) *Spread {
	n := len(values)
	if n == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	if n <= SpreadMost {
		return &Spread{Units: n, Values: sorted}
	}
	s := &Spread{Units: n}
	for i := range SpreadShown {
		s.Values = append(s.Values, sorted[(2*i+1)*n/(2*SpreadShown)])
	}
	return s
}

// Moved is a case and its mean result under two versions, over the recorded trials.
type Moved struct {
	Case      string  `json:"case"`
	Baseline  float64 `json:"baseline"`
	Candidate float64 `json:"candidate"`
	Missing   int     `json:"missing,omitempty"` // trials of the case that are missing in either version
}

// Scale is the range that a quantity can have.
type Scale struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// LeftOut is how many were left out for one reason.
type LeftOut struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// Completions is the range of the estimate over the two ways to complete what is missing.
type Completions struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Rule is a measure that a policy's rule decided.
type Rule struct {
	Measure
	ID        string    `json:"id"`
	Threshold Threshold `json:"threshold,omitzero"`
	Verdict   Verdict   `json:"verdict"`
	// What a decided rule would come to with the cases it leaves out added at their worst; NoVerdict where none are.
	WithLeftOut Verdict `json:"verdict_with_left_out,omitzero"`
	Reason      string  `json:"reason"` // one sentence
	Needs       *Needs  `json:"needs,omitempty"`
	// Of an undecided rule: how many of its missing values, had they come out against it, would change what it comes to. nil
	// where no way in which they can have come out would, and where nothing is missing.
	TippingPoint *TippingPoint `json:"tipping_point,omitempty"`
	Assumptions  []string      `json:"assumptions,omitempty"`
	Position     diag.Pos      `json:"position,omitzero"` // of the rule in its policy
	Advisory     bool          `json:"advisory,omitempty"`
	// The largest probability with which the rule, by itself, FAILs although what it asks is true.
	FalseFail    float64   `json:"false_fail_at_most,omitempty"`
	Adjusted     *Adjusted `json:"adjusted,omitempty"` // nil: its error is its own
	Waived       *Waived   `json:"waived,omitempty"`
	Reviewed     *Reviewed `json:"reviewed,omitempty"`
	Cells        []Cell    `json:"cells,omitempty"` // every declared group
	Pairs        []Pair    `json:"pairs,omitempty"`
	PairsOmitted int       `json:"pairs_omitted,omitempty"` // how many pairs were compared beyond Pairs
	Look         *Look     `json:"look,omitempty"`          // in the run's Ledger; nil where there is none, or the rule has no interval
	Before       *Before   `json:"before,omitempty"`        // in the run's Baseline; nil where there is none
}

// Cell is one group's part of a rule.
type Cell struct {
	Measure
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason,omitempty"` // one sentence: why the group is undecided
}

// Pair is the comparison of two groups within a rule.
type Pair struct {
	Groups   [2]string `json:"groups"`
	Estimate *float64  `json:"estimate,omitempty"`
	Interval *Interval `json:"interval,omitempty"`
	Verdict  Verdict   `json:"verdict"`
}

// Needs says what would decide a rule: "{AtLeast} {What}" reads as a phrase. AtLeast is absent where
// no number would do.
type Needs struct {
	What    string `json:"what"`
	AtLeast int    `json:"at_least,omitempty"`
}

// TippingPoint says how many of a rule's missing values must have come out the bad way for it to PASS no longer, and to FAIL, where
// all others came out the good way: "{Missing} of {Of} are missing: the rule PASSes if at most {PassUpTo} of them are {Bad}, and
// FAILs from {FailFrom} on." At least one of PassUpTo and FailFrom is there. It is of the rule by itself.
type TippingPoint struct {
	Missing int `json:"missing"`
	// With so many of them bad the rule PASSes, whichever they are; nil where it does not with none. Below Missing.
	PassUpTo *int `json:"pass_up_to,omitempty"`
	// With fewer of them bad the rule does not FAIL, whichever they are; with so many it does where Alike is set, else it can. nil
	// where it does not with all. Above PassUpTo, at least 1.
	FailFrom *int   `json:"fail_from,omitempty"`
	Of       string `json:"of"`              // all values, recorded or not, and what they are: "240 decisions"
	Bad      string `json:"bad"`             // in words, after "are": "wrong with the output or right without it"
	Alike    bool   `json:"alike,omitempty"` // it makes no difference which of the missing ones are bad, only how many are
}

// How rules of a family share their error, by the published names.
const (
	Bonferroni = "bonferroni" // each has an equal part: Rule.Interval is the wider one
	Holm       = "holm"       // FAILs step down; Rule.Interval is that of the rule by itself
)

// Adjusted says how a rule shares its error with the others of its family: the counting rules of the run that one `adjust` of
// the policy holds for.
type Adjusted struct {
	Method     string  `json:"method"`         // Bonferroni or Holm
	Family     int     `json:"family"`         // its number in the run, from 1
	Rules      int     `json:"rules"`          // how many the family has
	Confidence float64 `json:"confidence"`     // of the rule by itself
	Held       int     `json:"held,omitempty"` // of holm: it FAILs by itself, and does not with its error divided by so many, as it would have to
}

// Waived is a waiver that took effect: Verdict is the rule's own.
type Waived struct {
	Until   string  `json:"until"` // YYYY-MM-DD, that day included
	Owner   string  `json:"owner"`
	Reason  string  `json:"reason"`
	Verdict Verdict `json:"verdict"`
}

// Reviewed is a person's recorded review of a rule under MANUAL_REVIEW. Valid says that it is bound to
// the present inputs; only then is the rule taken out of fail-on.
type Reviewed struct {
	By     string `json:"by"`
	On     string `json:"on"`
	Digest string `json:"digest"`
	Reason string `json:"reason"`
	Valid  bool   `json:"valid"`
}

// Severity of a finding.
type Severity string

// A warning may change what a verdict means; a note is something a person would want to know.
const (
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Finding is a flag about the data, or about what the policy says of a rule, by a stable code.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Count    int      `json:"count,omitempty"`
	Rule     string   `json:"rule,omitempty"` // the id of the rule whose waiver or review it is about; "" where it is about the data
}

// New returns an empty report of this tool version.
func New(version string) *Report {
	return &Report{Schema: SchemaName, Tool: Tool{Name: "oloproof", Version: version}}
}

// Unusable returns the report of a run in which nothing was decided.
func Unusable(version string, err *diag.Error) *Report {
	r := New(version)
	r.ExitStatus = ExitUnusable
	r.MoreErrors = err.More
	for _, d := range err.Items {
		r.Errors = append(r.Errors, Problem{File: d.File, Line: d.Line, Column: d.Column, Row: d.Row, Message: d.Message})
	}
	return r
}

// intervals is how many intervals a rule's verdict rests on: its own, those of its groups and of its pairs, the pairs
// that are not listed included.
func intervals(rule *Rule) int {
	n := rule.PairsOmitted
	if rule.Interval != nil {
		n++
	}
	for i := range rule.Cells {
		if rule.Cells[i].Interval != nil {
			n++
		}
	}
	for i := range rule.Pairs {
		if rule.Pairs[i].Interval != nil {
			n++
		}
	}
	return n
}

// Decide sums up the rules of all gates: counts, multiplicity, verdict and exit status. A run without a
// counting rule keeps NoVerdict and ends with ExitUnusable: nothing evaluated is never a pass.
func (r *Report) Decide() {
	counts := Counts{}
	multiplicity := Multiplicity{}
	var errors []float64
	stepped := map[int]float64{} // by family of holm: the largest
	undecided := ""
	r.Verdict = NoVerdict
	for rule := range r.Rules() {
		multiplicity.Rules++
		multiplicity.Intervals += intervals(rule)
		if rule.Advisory {
			continue
		}
		if a := rule.Adjusted; a != nil && a.Method == Holm {
			stepped[a.Family] = max(stepped[a.Family], rule.FalseFail)
		} else {
			errors = append(errors, rule.FalseFail)
		}
		switch rule.Verdict {
		case Pass:
			counts.Pass++
		case Fail:
			counts.Fail++
		case InsufficientEvidence:
			counts.InsufficientEvidence++
		case ManualReview:
			counts.ManualReview++
		case NoVerdict:
			undecided = rule.ID
		}
		r.Verdict = max(r.Verdict, rule.Verdict)
	}
	for _, g := range r.Gates {
		for _, m := range g.Measures {
			if m.Interval != nil {
				multiplicity.Intervals++
			}
		}
	}
	multiplicity.FalseFail = addUp(slices.AppendSeq(errors, maps.Values(stepped)))
	r.Counts, r.Multiplicity = &counts, &multiplicity
	if undecided != "" { // a gate forgot to decide: a fault of ours, and never a pass
		r.Verdict = NoVerdict
		r.Errors = append(r.Errors, Problem{Message: "rule " + diag.Quote(undecided) + " was left without a verdict; this is a fault in oloproof"})
	}
	r.ExitStatus = r.Verdict.ExitStatus()
}

// Rules yields every rule of every gate, in order.
func (r *Report) Rules() func(yield func(*Rule) bool) {
	return func(yield func(*Rule) bool) {
		for g := range r.Gates {
			for i := range r.Gates[g].Rules {
				if !yield(&r.Gates[g].Rules[i]) {
					return
				}
			}
		}
	}
}

// InputsDigest is one SHA-256 for all inputs of the run, whatever their order and the names of the files: of a line for each, sorted. A
// line has the file's own digest and what the file is read as: gate and section in a run of several, and the role. Without these, what
// was reviewed could be turned round by exchanging two files, such as those of the baseline and the candidate. A recorded review is
// bound to it.
func InputsDigest(inputs []Input) string {
	var lines []string
	for _, in := range inputs {
		line := in.SHA256
		if in.Gate != "" {
			line += " " + in.Gate
		}
		if in.Name != "" {
			line += " " + strconv.QuoteToASCII(in.Name) // a name with a space or a line end is no other line
		}
		if in.Role != "" {
			line += " " + in.Role
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// Status is the process's exit status under failOn: the worst listed verdict's, 0 when no counting rule
// has a listed one, ExitUnusable always for a run that cannot be used. A rule under MANUAL_REVIEW with a
// valid review is taken out of it.
func (r *Report) Status(failOn FailOn) int {
	if r.Verdict == NoVerdict {
		return r.ExitStatus
	}
	worst := NoVerdict
	for rule := range r.Rules() {
		if rule.Advisory || !failOn[rule.Verdict] || (rule.Verdict == ManualReview && rule.Reviewed != nil && rule.Reviewed.Valid) {
			continue
		}
		worst = max(worst, rule.Verdict)
	}
	if worst == NoVerdict {
		return ExitPass
	}
	return worst.ExitStatus()
}

// FailingRules lists the ids of the counting rules whose verdict is not PASS, in order.
func (r *Report) FailingRules() []string {
	ids := []string{}
	for rule := range r.Rules() {
		if !rule.Advisory && rule.Verdict != Pass {
			ids = append(ids, rule.ID)
		}
	}
	return ids
}

// ByVerdict returns the rules sorted for a person to read: those that need someone first, in policy
// order within a verdict, advisory rules last.
func ByVerdict(rules []Rule) []Rule {
	sorted := slices.Clone(rules)
	slices.SortStableFunc(sorted, func(a, b Rule) int {
		if a.Advisory != b.Advisory {
			if a.Advisory {
				return 1
			}
			return -1
		}
		return int(b.Verdict) - int(a.Verdict)
	})
	return sorted
}
