package report

import (
	"fmt"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
)

// Verdict is what a rule, or a run, comes to. The zero value is NoVerdict, which is never good news:
// a forgotten field cannot pass. The order is that of badness, so the worst of several is their maximum.
type Verdict uint8

// The verdicts, from none to worst.
const (
	NoVerdict            Verdict = iota // nothing was decided
	Pass                                // the whole interval is on the right side of the threshold
	InsufficientEvidence                // the interval straddles the threshold, or the data are of a kind the method does not decide
	ManualReview                        // a number exists, but the assumption behind its interval is visibly broken: a person must decide
	Fail                                // the whole interval is on the wrong side
)

// Verdicts lists every verdict that a rule can have, best first.
var Verdicts = []Verdict{Pass, InsufficientEvidence, ManualReview, Fail}

// The exit statuses of a run.
const (
	ExitPass                 = 0
	ExitFail                 = 1
	ExitUnusable             = 2 // the files, the policy or the command line cannot be used; nothing was decided
	ExitInsufficientEvidence = 3
	ExitManualReview         = 4
)

// String returns the verdict's published name; NoVerdict is NO_VERDICT.
func (v Verdict) String() string {
	switch v {
	case Pass:
		return "PASS"
	case InsufficientEvidence:
		return "INSUFFICIENT_EVIDENCE"
	case ManualReview:
		return "MANUAL_REVIEW"
	case Fail:
		return "FAIL"
	case NoVerdict:
	}
	return "NO_VERDICT"
}

// ExitStatus is the process's exit status for a run with this verdict; NoVerdict is ExitUnusable.
func (v Verdict) ExitStatus() int {
	switch v {
	case Pass:
		return ExitPass
	case InsufficientEvidence:
		return ExitInsufficientEvidence
	case ManualReview:
		return ExitManualReview
	case Fail:
		return ExitFail
	case NoVerdict:
	}
	return ExitUnusable
}

// MarshalText writes the published name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a published name as it is published, NO_VERDICT included.
func (v *Verdict) UnmarshalText(text []byte) error {
	for _, w := range append([]Verdict{NoVerdict}, Verdicts...) {
		if string(text) == w.String() {
			*v = w
			return nil
		}
	}
	return fmt.Errorf("%s is not a verdict's name", diag.Quote(string(text)))
}

// ParseVerdict reads a verdict's name in any letter case. NO_VERDICT is not a verdict a rule can have.
func ParseVerdict(name string) (Verdict, error) {
	for _, v := range Verdicts {
		if strings.EqualFold(name, v.String()) {
			return v, nil
		}
	}
	return NoVerdict, fmt.Errorf("%s is not a verdict; use PASS, FAIL, INSUFFICIENT_EVIDENCE or MANUAL_REVIEW", diag.Quote(name))
}

// FailOn is the set of verdicts that make a run end with their exit status.
type FailOn map[Verdict]bool

// DefaultFailOn is every verdict but PASS.
func DefaultFailOn() FailOn {
	return FailOn{Fail: true, ManualReview: true, InsufficientEvidence: true}
}

// ParseFailOn reads verdicts separated by commas, spaces or newlines, in any letter case. An empty
// text is the default. "none" alone is the empty set: the run ends with 0 whatever was decided.
func ParseFailOn(text string) (FailOn, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
	if len(words) == 0 {
		return DefaultFailOn(), nil
	}
	set := FailOn{}
	if len(words) == 1 && strings.EqualFold(words[0], "none") {
		return set, nil
	}
	for _, w := range words {
		v, err := ParseVerdict(w)
		if err != nil {
			return nil, err
		}
		set[v] = true
	}
	return set, nil
}
