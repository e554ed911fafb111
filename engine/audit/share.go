package audit

import (
	"fmt"

	"github.com/oloproof/oloproof/engine/interval"
)

// Share is how often something came about in so many repetitions.
type Share struct {
	Count int `json:"count"`
	Of    int `json:"of"`
}

// Value is the share itself; 0 of 0 is 0.
func (s Share) Value() float64 {
	if s.Of == 0 {
		return 0
	}
	return float64(s.Count) / float64(s.Of)
}

// Interval is the exact (Clopper-Pearson) interval of the probability that the share was simulated from: its Monte Carlo
// error.
func (s Share) Interval(confidence float64) (interval.Interval, error) {
	return interval.ClopperPearson(s.Count, 0, s.Of, confidence)
}

// Level is the error with which an audit as a whole calls a kept promise broken: divided by how many shares are held against
// a promise, it is the level of each. A 95 % interval would call one in forty broken where the error is exactly what is promised.
const Level = 0.001

// Above reports whether the probability behind the share is above a promise, at an error of Level divided by so many shares
// that are tested together.
func (s Share) Above(promise float64, tests int) (bool, error) {
	if s.Of == 0 {
		return false, nil
	}
	iv, err := s.Interval(1 - 2*Level/float64(max(1, tests)))
	if err != nil {
		return false, fmt.Errorf("share %d of %d: %w", s.Count, s.Of, err)
	}
	return iv.Lower > promise, nil
}
