package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// Units is what a rule's interval rests on: the values of its independent units, without their names, and what is to be known
// to hold them against those of another look at the same data. Neither the order of rows nor how they lie in files changes it.
type Units struct {
	// Question is the SHA-256, in hexadecimal, of all that settles what is measured: two looks with one Question measured the same.
	// The threshold, the confidence and the looks of the policy are not in it, and neither are the files.
	Question string
	Metric   string
	Method   interval.Method // "": there is no interval, and nothing was looked at
	Looks    interval.Looks  // how often the interval may be looked at
	Planned  int             // with LooksPlanned: the number of units
	Error    float64         // the largest probability with which a verdict of one look is wrong
	Grows    Growth          // with LooksAny: how the data may grow between looks
	Parts    []Part          // in a fixed order: one, or one for each side or group that has an interval of its own
}

// Growth says how data may grow while an interval for many looks holds.
type Growth string

// The ways to grow. Recording what was missing is always allowed.
const (
	GrowsNot       Growth = ""          // the interval is for one look
	GrowsUnits     Growth = "units"     // units are added, and earlier values stay
	GrowsDecisions Growth = "decisions" // the units stay, and more is recorded of each
	GrowsEither    Growth = "either"    // either, but not both at once
)

// Part is the units of one interval.
type Part struct {
	Name      string      `json:"part,omitempty"` // "" where there is one part
	Decisions int         `json:"decisions"`      // what is recorded of all units
	Values    []UnitValue `json:"values"`         // by Low, then High, each pair once
}

// UnitValue is how many units have a value that lies between the two ends, which are the value under the two completions of
// what is missing. Values are the float64s that the interval was computed from: each is a fraction rounded once, so that equal
// fractions are equal values.
type UnitValue struct {
	Low, High float64
	Count     int
}

// MarshalJSON writes a value as [low, high, count], its ends with as many digits as tell float64s apart.
func (v UnitValue) MarshalJSON() ([]byte, error) {
	b := strconv.AppendFloat([]byte{'['}, v.Low, 'g', -1, 64)
	b = strconv.AppendFloat(append(b, ','), v.High, 'g', -1, 64)
	return append(strconv.AppendInt(append(b, ','), int64(v.Count), 10), ']'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *UnitValue) UnmarshalJSON(data []byte) error {
	var list []json.Number
	err := json.Unmarshal(data, &list)
	if err == nil && len(list) != 3 {
		err = fmt.Errorf("a value has %d numbers; it is [low, high, count]", len(list))
	}
	for i, end := range []*float64{&v.Low, &v.High} {
		if err == nil {
			*end, err = strconv.ParseFloat(list[i].String(), 64)
		}
	}
	if err == nil {
		v.Count, err = strconv.Atoi(list[2].String())
	}
	return err
}

// Compare orders values by Low, then High.
func (v UnitValue) Compare(w UnitValue) int {
	return cmp.Or(cmp.Compare(v.Low, w.Low), cmp.Compare(v.High, w.High))
}

// Units is the number of the part's units.
func (p Part) Units() int {
	n := 0
	for _, v := range p.Values {
		n += v.Count
	}
	return n
}

// NewPart returns the units with the given values under the two completions, of which so many decisions are recorded.
func NewPart(name string, low, high []float64, decisions int) Part {
	values := make([]UnitValue, len(low))
	for i := range low {
		values[i] = UnitValue{low[i] + 0, high[i] + 0, 1} // + 0: a negative zero is 0
	}
	return Part{name, decisions, counted(values)}
}

// CountPart returns n units of which k are 1, missing more are not recorded, and the others are 0.
func CountPart(name string, k, missing, n int) Part {
	return ValuePart(name, n-missing, UnitValue{0, 0, n - k - missing}, UnitValue{0, 1, missing}, UnitValue{1, 1, k})
}

// ValuePart returns units with the given values, of which so many decisions are recorded. A value may be there several times, and
// none times.
func ValuePart(name string, decisions int, values ...UnitValue) Part {
	return Part{name, decisions, counted(values)}
}

// counted puts values in order, and adds up equal ones.
func counted(values []UnitValue) []UnitValue {
	slices.SortFunc(values, UnitValue.Compare)
	list := []UnitValue{}
	for _, v := range values {
		last := len(list) - 1
		switch {
		case v.Count == 0:
		case last >= 0 && list[last].Compare(v) == 0:
			list[last].Count += v.Count
		default:
			list = append(list, v)
		}
	}
	return list
}

// UnitsOf is the Units of a rule of a gate, but for its parts: m is what it measured, and own is what the gate adds to what all
// gates read of rules and settings, to settle what is measured.
func UnitsOf(g Gate, s Source, r *policy.Rule, m report.Measure, own ...string) Units {
	u := Units{Question: questionOf(g, s, r, own), Metric: m.Metric, Method: m.Method, Looks: interval.LooksOne, Planned: r.Planned.Value, Error: falseFail(r)}
	if m.Interval != nil {
		u.Method, u.Looks = m.Interval.Method, m.Interval.Looks
	}
	return u
}

// questionOf is Units.Question.
func questionOf(g Gate, s Source, r *policy.Rule, own []string) string {
	var list []string
	put := func(what string, texts ...string) {
		list = append(list, what, strconv.Itoa(len(texts)))
		list = append(list, texts...)
	}
	pairs := func(of []policy.Pair) (texts []string) {
		of = slices.Clone(of)
		slices.SortFunc(of, func(a, b policy.Pair) int { return strings.Compare(a.Key.Value, b.Key.Value) })
		for _, p := range of {
			texts = append(texts, p.Key.Value, strings.TrimSpace(p.Value.Value))
		}
		return texts
	}
	section := ""
	if s.Section != nil {
		section = s.Section.Name.Value
	}
	var missing []string
	for _, m := range s.Settings.MissingValues {
		missing = append(missing, m.Value)
	}
	slices.Sort(missing)
	put("gate", g.Name(), section)
	put("metric", r.Metric.Value)
	put("where", pairs(r.Where)...)
	put("columns", pairs(s.Settings.Columns)...)
	put("missing_values", missing...)
	put("own", own...)
	h := sha256.New()
	for _, text := range list { // each with its length, so that no two lists are one text
		h.Write([]byte(strconv.Itoa(len(text)) + ":" + text))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Both joins two reasons for a doubt; either may be "".
func Both(one, other string) string { return strings.TrimSpace(one + " " + other) }

// NewLedger says what would decide a rule of which earlier looks have broken what its interval rests on.
func NewLedger() *report.Needs {
	return &report.Needs{What: "a person to decide, or a new sample, with a ledger of its own"}
}
