package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/oloproof/oloproof/engine/diag"
)

// Kind is the kind of a rule's threshold, by its published name.
type Kind string

// The kinds of threshold.
const (
	Minimum       Kind = "minimum"
	Maximum       Kind = "maximum"
	MaxGroupGap   Kind = "max_group_gap"
	WorstGroup    Kind = "worst_group"
	MinGroupRatio Kind = "min_group_ratio"
)

// Threshold is what a rule's interval is compared with. The zero value is the absent threshold of a rule
// that has none (sign_test).
type Threshold struct {
	Kind  Kind
	Value float64
	Side  Kind // of worst_group only: Minimum or Maximum
}

// MarshalJSON writes {"minimum": 0.8}, or {"worst_group": {"minimum": 0.8}}.
func (t Threshold) MarshalJSON() ([]byte, error) {
	if t.Side != "" {
		return json.Marshal(map[Kind]map[Kind]float64{t.Kind: {t.Side: t.Value}})
	}
	return json.Marshal(map[Kind]float64{t.Kind: t.Value})
}

// UnmarshalJSON reads what MarshalJSON writes. The kind may be one that this version does not know.
func (t *Threshold) UnmarshalJSON(data []byte) error {
	*t = Threshold{}
	var outer map[Kind]json.RawMessage
	if err := json.Unmarshal(data, &outer); err != nil || len(outer) != 1 {
		return errors.New("a threshold is an object with one key, such as {\"minimum\": 0.8}")
	}
	for kind, raw := range outer {
		t.Kind = kind
		if kind != WorstGroup {
			if err := json.Unmarshal(raw, &t.Value); err != nil || string(raw) == "null" {
				return fmt.Errorf("the value of the threshold %s is not a number", diag.Quote(string(kind)))
			}
			return nil
		}
		var inner map[Kind]*float64
		if err := json.Unmarshal(raw, &inner); err != nil || len(inner) != 1 {
			return errors.New("a threshold worst_group has one side, such as {\"worst_group\": {\"minimum\": 0.8}}")
		}
		for side, v := range inner {
			if v == nil {
				return errors.New("the value of the threshold worst_group is null")
			}
			t.Side, t.Value = side, *v
		}
	}
	return nil
}

// LooserThan reports whether t is easier to meet than an earlier threshold of the same kind: a lower minimum or ratio, or a larger
// maximum or gap. Thresholds of two kinds do not compare, and neither is looser.
func (t Threshold) LooserThan(before Threshold) bool {
	side := t.Kind
	if side == WorstGroup {
		side = t.Side
	}
	if t.Kind != before.Kind || t.Side != before.Side {
		return false
	}
	switch side {
	case Minimum, MinGroupRatio:
		return t.Value < before.Value
	case Maximum, MaxGroupGap:
		return t.Value > before.Value
	case WorstGroup: // which has a side
	}
	return false
}

// Compare is the one place where a bound meets a threshold: minimum t passes when lower >= t and fails
// when upper < t; maximum t passes when upper <= t and fails when lower > t. Comparisons are exact. An
// absent or NaN bound, and any other kind of threshold, decides nothing.
func (t Threshold) Compare(lower, upper float64) Verdict {
	if math.IsNaN(lower) || math.IsNaN(upper) || math.IsNaN(t.Value) {
		return InsufficientEvidence
	}
	side := t.Kind
	if side == WorstGroup {
		side = t.Side
	}
	switch {
	case side == Minimum && lower >= t.Value, side == Maximum && upper <= t.Value:
		return Pass
	case side == Minimum && upper < t.Value, side == Maximum && lower > t.Value:
		return Fail
	}
	return InsufficientEvidence
}
