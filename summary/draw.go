package summary

import (
	"math"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/report"
)

// marks are the characters of a drawing, one cell each.
type marks struct {
	axis, bar, lower, upper, estimate           string
	threshold, thresholdAtLower, thresholdAtTop string // a threshold alone, and one at which an end lies exactly
	openLeft, openRight                         string // the interval goes on beyond the axis
}

var (
	unicodeMarks = marks{axis: "·", bar: "─", lower: "├", upper: "┤", estimate: "●", threshold: "┃", thresholdAtLower: "┣", thresholdAtTop: "┫", openLeft: "←", openRight: "→"}
	asciiMarks   = marks{axis: ".", bar: "-", lower: "[", upper: "]", estimate: "o", threshold: "|", thresholdAtLower: "|", thresholdAtTop: "|", openLeft: "<", openRight: ">"}
)

// Draw draws a measure's interval on an axis of the given number of cells between its two end values, with
// the threshold (if not nil) and the estimate on it: "0 ····┃·├──●──┤···· 0.5". The axis is the measure's
// scale, or a part of it with round ends where the whole would squeeze the interval to a point. An end
// never shares its side of the threshold with a value on the other side, whatever the resolution. The
// result is empty where there is nothing to draw.
func Draw(m *report.Measure, threshold *float64, cells int) string {
	return draw(m, threshold, cells, unicodeMarks)
}

func draw(m *report.Measure, threshold *float64, cells int, with marks) string {
	if m.Interval == nil || cells < 5 {
		return ""
	}
	lower, upper, estimate := finite(m.Interval.Lower), finite(m.Interval.Upper), finite(m.Estimate)
	threshold = finite(threshold)
	low, high, ok := axis(m.Scale, lower, upper, estimate, threshold)
	if !ok || math.IsInf(high-low, 0) {
		return ""
	}
	at := func(x float64) int {
		share := (x - low) / (high - low)
		return int(min(max(math.Floor(float64(share*float64(cells-1))+0.5), 0), float64(cells-1)))
	}

	mark := -1 // the threshold's cell
	if threshold != nil {
		mark = at(*threshold)
		if lower == nil {
			mark = max(mark, 1)
		}
		if upper == nil {
			mark = min(mark, cells-2)
		}
		for _, x := range []*float64{lower, upper, estimate} { // leave a cell on the side where something lies
			if x != nil && *x < *threshold {
				mark = max(mark, 1)
			}
			if x != nil && *x > *threshold {
				mark = min(mark, cells-2)
			}
		}
	}
	place := func(x float64) int {
		c := at(x)
		switch {
		case threshold == nil:
			return c
		case x < *threshold:
			return min(c, mark-1)
		case x > *threshold:
			return max(c, mark+1)
		}
		return mark
	}

	row := make([]string, cells)
	for i := range row {
		row[i] = with.axis
	}
	first, last := 0, cells-1
	leftEnd, rightEnd := with.openLeft, with.openRight
	if lower != nil {
		first, leftEnd = place(*lower), with.lower
	}
	if upper != nil {
		last, rightEnd = place(*upper), with.upper
	}
	for i := first; i <= last; i++ {
		row[i] = with.bar
	}
	row[first], row[last] = leftEnd, rightEnd
	if estimate != nil {
		row[place(*estimate)] = with.estimate
	} else if first == last {
		row[first] = with.bar
	}
	if threshold != nil {
		row[mark] = with.threshold
		if lower != nil && *lower == *threshold && last > mark {
			row[mark] = with.thresholdAtLower
		}
		if upper != nil && *upper == *threshold && first < mark {
			row[mark] = with.thresholdAtTop
		}
	}
	return axisEnd(low, low < 0) + " " + strings.Join(row, "") + " " + axisEnd(high, low < 0)
}

func finite(x *float64) *float64 {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return nil
	}
	return x
}

func axisEnd(x float64, signed bool) string {
	s := exactNumber(x)
	if signed && x > 0 {
		s = "+" + s
	}
	return s
}

// axis chooses the ends of the axis: the whole scale where the values spread over a third of it or more,
// else round numbers around them, within the scale where the values are. ok is false when nothing is finite.
func axis(scale *report.Scale, values ...*float64) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, x := range values {
		if x != nil {
			low, high = min(low, *x), max(high, *x)
		}
	}
	bounded := scale != nil && scale.Upper > scale.Lower && !math.IsInf(scale.Lower, 0) && !math.IsInf(scale.Upper, 0)
	switch {
	case low > high && bounded: // nothing but the scale
		return scale.Lower, scale.Upper, true
	case low > high:
		return 0, 0, false
	}
	open := values[0] == nil || values[1] == nil // the interval goes on to an end of the scale
	if bounded {
		all := scale.Upper - scale.Lower
		if open || 3*(high-low) >= all {
			return min(scale.Lower, low), max(scale.Upper, high), true
		}
	}
	margin := (high - low) / 4
	if margin == 0 {
		margin = max(math.Abs(low)/10, 1e-3)
	}
	roundLow, roundHigh, ok := roundAround(low-margin, high+margin)
	if !ok {
		return 0, 0, false
	}
	if bounded {
		roundLow, roundHigh = max(roundLow, min(scale.Lower, low)), min(roundHigh, max(scale.Upper, high))
	}
	return roundLow, roundHigh, roundHigh > roundLow
}

// roundAround returns multiples of 1, 2 or 5 times a power of ten around [low, high], about five steps apart.
func roundAround(low, high float64) (roundLow, roundHigh float64, ok bool) {
	for power := -15; power <= 300; power++ {
		for _, digit := range []float64{1, 2, 5} {
			step := float64(digit * math.Pow10(power))
			if float64(5*step) < high-low {
				continue
			}
			roundLow = inTens(float64(math.Floor(low/step)*digit), power)
			roundHigh = inTens(float64(math.Ceil(high/step)*digit), power)
			return roundLow, roundHigh, roundHigh > roundLow && !math.IsInf(roundLow, 0) && !math.IsInf(roundHigh, 0)
		}
	}
	return 0, 0, false
}

// inTens is whole·10^power as the nearest float64, so that it prints as the round number it is: a product
// of floats may miss it by a digit. It is NaN where whole is not finite.
func inTens(whole float64, power int) float64 {
	x, err := strconv.ParseFloat(strconv.FormatFloat(whole, 'f', 0, 64)+"e"+strconv.Itoa(power), 64)
	if err != nil {
		return math.NaN()
	}
	return x
}
