package report

import (
	"cmp"
	_ "embed" // the published schema
	"slices"
)

// DiffName names the published form of the difference between two reports.
const DiffName = "oloproof-diff/1"

// DiffSchema is the published JSON Schema of the difference between two reports. It refers to that of reports.
//
//go:embed diff.schema.json
var DiffSchema []byte

// Diff is what changed from one report to a later one, rule by rule.
type Diff struct {
	Schema     string     `json:"schema"`
	Tool       Tool       `json:"tool"`
	Worse      bool       `json:"worse"`       // whether a rule is; see RuleDiff.Worse
	ExitStatus int        `json:"exit_status"` // 1 where Worse, else 0
	Before     Side       `json:"before"`
	After      Side       `json:"after"`
	Data       DataDiff   `json:"data"`     // whether the two are of the same rows
	Policies   DataDiff   `json:"policies"` // whether they are by the same policies
	Rules      []RuleDiff `json:"rules"`    // in the order of ByChange, rules that are gone after those that turned
}

// Side is one of the two reports.
type Side struct {
	File
	Tool       Tool    `json:"tool"`
	Verdict    Verdict `json:"verdict"`
	ExitStatus int     `json:"exit_status"`
	Confidence float64 `json:"confidence,omitzero"`
	Counts     *Counts `json:"counts,omitempty"`
	Inputs     []File  `json:"inputs,omitempty"`
	Policies   []File  `json:"policies,omitempty"`
}

// DataDiff says by digests whether two reports are of the same files, whatever they are called and in whatever order.
type DataDiff string

// What two lists of files are to each other.
const (
	SameFiles  DataDiff = "same"
	OtherFiles DataDiff = "other"
)

// RuleGone is the change of a rule that the later report has no more; the others are as for Before.
const RuleGone Change = "gone"

// RuleDiff is a rule in the two reports.
type RuleDiff struct {
	Gate   string `json:"gate"`
	Name   string `json:"name,omitempty"` // of the gate's section, in the later report where it is there
	ID     string `json:"id"`
	Change Change `json:"change"`
	// Worse says that a rule that counts is worse off than in the earlier report: its verdict is worse (in the order PASS,
	// INSUFFICIENT_EVIDENCE, MANUAL_REVIEW, FAIL), or it is new and not PASS, or it is gone or no longer counts, so that nobody knows.
	Worse  bool       `json:"worse"`
	Differ []string   `json:"differ,omitempty"` // what differs, of: verdict, counting, metric, threshold, confidence, estimate, interval
	Before *RuleState `json:"before,omitempty"` // nil for a new rule
	After  *RuleState `json:"after,omitempty"`  // nil for one that is gone
	// The larger min_shown of the two: formats that are published then leave the numbers out.
	MinShown int `json:"min_shown,omitempty"`
}

// RuleState is what one report has of a rule.
type RuleState struct {
	Verdict   Verdict           `json:"verdict"`
	Advisory  bool              `json:"advisory,omitempty"`
	Waived    bool              `json:"waived,omitempty"`
	Metric    string            `json:"metric"`
	Labels    map[string]string `json:"labels,omitempty"`
	Threshold Threshold         `json:"threshold,omitzero"`
	Estimate  *float64          `json:"estimate,omitempty"`
	Interval  *Interval         `json:"interval,omitempty"`
	Scale     *Scale            `json:"scale,omitempty"`
	PValue    *float64          `json:"p_value,omitempty"`
}

// diffOrder is the order of the rules of a Diff.
var diffOrder = []Change{NewlyFailing, NewlyUndecided, RuleGone, NewlyPassing, NewRule, Redefined, StillNotPassed, StillPassing}

// Compare tells what changed from an earlier report to a later one, both of which have to be usable (see UsableBaseline). Rules are
// the same as CompareWith has it. Neither report is changed.
func Compare(before, after *Report, beforeFile, afterFile File, version string) *Diff {
	d := &Diff{
		Schema: DiffName, Tool: Tool{Name: "oloproof", Version: version},
		Before: sideOf(before, beforeFile), After: sideOf(after, afterFile), Rules: []RuleDiff{},
	}
	d.Data, d.Policies = sameFiles(d.Before.Inputs, d.After.Inputs), sameFiles(d.Before.Policies, d.After.Policies)
	found, gone := before.matched(after)
	for i := range after.Gates {
		g := &after.Gates[i]
		for j := range g.Rules {
			now := &g.Rules[j]
			x := RuleDiff{Gate: g.Gate, Name: g.Name, ID: now.ID, Change: NewRule, After: stateOf(now), MinShown: g.MinShown}
			x.Worse = !now.Advisory && now.Verdict != Pass
			if was, known := found[now]; known {
				x.Change, x.Before = turned(was.rule.Verdict, now.Verdict), stateOf(was.rule)
				if !sameQuestion(was.gate, was.rule, g, now) {
					x.Change = Redefined
				}
				x.Differ = differ(x.Before, x.After, x.Change)
				x.MinShown = max(was.gate.MinShown, g.MinShown)
				switch counted := !was.rule.Advisory; {
				case counted && now.Advisory:
					x.Worse = true
				case counted:
					x.Worse = now.Verdict > was.rule.Verdict
				}
			}
			d.Rules = append(d.Rules, x)
		}
	}
	for _, was := range gone {
		d.Rules = append(d.Rules, RuleDiff{Gate: was.gate.Gate, Name: was.gate.Name, ID: was.rule.ID, Change: RuleGone,
			Worse: !was.rule.Advisory, Before: stateOf(was.rule), MinShown: was.gate.MinShown})
	}
	slices.SortStableFunc(d.Rules, func(a, b RuleDiff) int {
		return cmp.Compare(slices.Index(diffOrder, a.Change), slices.Index(diffOrder, b.Change))
	})
	if d.Worse = slices.ContainsFunc(d.Rules, func(x RuleDiff) bool { return x.Worse }); d.Worse {
		d.ExitStatus = ExitFail
	}
	return d
}

// JSON returns the published form; see Report.JSON.
func (d *Diff) JSON() ([]byte, error) {
	doc, err := Document(d)
	return SafeInLogs(doc), err
}

func sideOf(r *Report, file File) Side {
	s := Side{File: file, Tool: r.Tool, Verdict: r.Verdict, ExitStatus: r.ExitStatus, Confidence: r.Confidence, Counts: r.Counts, Policies: r.Policies}
	if len(s.Policies) == 0 && r.Policy != nil {
		s.Policies = []File{*r.Policy}
	}
	for _, in := range r.Inputs {
		s.Inputs = append(s.Inputs, File{Path: in.Path, SHA256: in.SHA256})
	}
	return s
}

// sameFiles compares files by their digests.
func sameFiles(before, after []File) DataDiff {
	digests := func(files []File) (list []string) {
		for _, f := range files {
			list = append(list, f.SHA256)
		}
		slices.Sort(list)
		return list
	}
	if slices.Equal(digests(before), digests(after)) {
		return SameFiles
	}
	return OtherFiles
}

func stateOf(r *Rule) *RuleState {
	return &RuleState{Verdict: r.Verdict, Advisory: r.Advisory, Waived: r.Waived != nil, Metric: r.Metric, Labels: r.Labels, Threshold: r.Threshold,
		Estimate: r.Estimate, Interval: r.Interval, Scale: r.Scale, PValue: r.PValue}
}

// differ lists what differs between two states of a rule.
func differ(a, b *RuleState, change Change) (list []string) {
	number := func(x, y *float64) bool { return (x == nil) != (y == nil) || x != nil && *x != *y }
	confidence := func(s *RuleState) float64 {
		if s.Interval == nil {
			return 0
		}
		return s.Interval.Confidence
	}
	bounds := func(s *RuleState) (lower, upper *float64) {
		if s.Interval == nil {
			return nil, nil
		}
		return s.Interval.Lower, s.Interval.Upper
	}
	lowerA, upperA := bounds(a)
	lowerB, upperB := bounds(b)
	for _, of := range []struct {
		name   string
		differ bool
	}{
		{"verdict", a.Verdict != b.Verdict},
		{"counting", a.Advisory != b.Advisory},
		{"metric", change == Redefined},
		{"threshold", a.Threshold != b.Threshold},
		{"confidence", confidence(a) != confidence(b)},
		{"estimate", number(a.Estimate, b.Estimate) || number(a.PValue, b.PValue)},
		{"interval", (a.Interval == nil) != (b.Interval == nil) || number(lowerA, lowerB) || number(upperA, upperB)},
	} {
		if of.differ {
			list = append(list, of.name)
		}
	}
	return list
}
