package summary

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/report"
)

// The drawings of the HTML page, as SVG. A position from left to right is a percentage of the drawing's width, one from top to
// bottom is in pixels: so a drawing is as wide as the page has room for, and its letters keep their size on a telephone. Colours
// are the style sheet's. What a drawing shows is said in its title, or in the same row of its table.

// edge is how much of a drawing's width is left free on each side of its axis, in percent; nudge is how far a mark that is on one
// side of a threshold stands from it at least.
const (
	edge  = 2.0
	nudge = 0.9
)

// span is an axis: the values at its two ends.
type span struct{ low, high float64 }

// newSpan is an axis for a measure's values, as Draw chooses it; ok is false where there is nothing to draw.
func newSpan(scale *report.Scale, lower, upper *float64, others ...*float64) (s span, ok bool) {
	values := []*float64{finite(lower), finite(upper)}
	for _, x := range others {
		values = append(values, finite(x))
	}
	s.low, s.high, ok = axis(scale, values...)
	return s, ok && s.high > s.low && !math.IsInf(s.high-s.low, 0)
}

// at is where a value stands, in percent of the width.
func (s span) at(x float64) float64 {
	share := min(max((x-s.low)/(s.high-s.low), 0), 1)
	return edge + float64(share*(100-2*edge))
}

// beside is where a value stands that is compared with a threshold: never on the threshold's other side, nor on it unless it is
// equal to it.
func (s span) beside(x float64, threshold *float64) float64 {
	at := s.at(x)
	if threshold == nil || x == *threshold {
		return at
	}
	if mark := s.at(*threshold); x < *threshold {
		return min(at, mark-nudge)
	} else {
		return max(at, mark+nudge)
	}
}

// ticks are round values on the axis, at most six.
func (s span) ticks() []float64 {
	for power := -15; power <= 300; power++ {
		for _, digit := range []float64{1, 2, 5} {
			step := float64(digit * math.Pow10(power))
			if float64(5*step) < s.high-s.low {
				continue
			}
			var list []float64
			first := math.Ceil(s.low / step)
			for i := range 7 {
				x := inTens(float64((first+float64(i))*digit), power)
				if math.IsNaN(x) || x > s.high {
					break
				}
				if x >= s.low {
					list = append(list, x)
				}
			}
			return list
		}
	}
	return nil
}

// percentage writes a position.
func percentage(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) + "%" }

// drawing collects an SVG.
type drawing struct{ out strings.Builder }

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(&d.out, format, args...) }

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	d.add(`<line class="%s" x1="%s" y1="%g" x2="%s" y2="%g"/>`, class, percentage(x1), y1, percentage(x2), y2)
}

func (d *drawing) rect(class string, from, to, y, height float64) {
	d.add(`<rect class="%s" x="%s" y="%g" width="%s" height="%g"/>`, class, percentage(from), y, percentage(max(to-from, 0)), height)
}

// dot draws a circle with a radius in pixels.
func (d *drawing) dot(class string, x, y, radius float64) {
	d.add(`<circle class="%s" cx="%s" cy="%s" r="%s"/>`, class, percentage(x), tenths(y), tenths(radius))
}

// tenths writes a number of pixels.
func tenths(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

// text writes words at a place, turned to the side where they have room.
func (d *drawing) text(class string, x, y float64, words markup) {
	anchor := "middle"
	switch {
	case x < 25:
		anchor = "start"
	case x > 75:
		anchor = "end"
	}
	d.anchored(class, anchor, x, y, words)
}

func (d *drawing) anchored(class, anchor string, x, y float64, words markup) {
	d.add(`<text class="%s" text-anchor="%s" x="%s" y="%g">%s</text>`, class, anchor, percentage(x), y, words)
}

// arrow draws the end of a line that goes on beyond the axis: to the left, or to the right.
func (d *drawing) arrow(right bool, y float64) {
	if right {
		d.add(`<svg class="over" x="100%%" y="%g"><path class="tip" d="M-9-6L0 0L-9 6z"/></svg>`, y)
	} else {
		d.add(`<svg class="over" x="0" y="%g"><path class="tip" d="M9-6L0 0L9 6z"/></svg>`, y)
	}
}

// svg ends the drawing: an image with a text in its place.
func (d *drawing) svg(class string, height int, title string) markup {
	return markup(fmt.Sprintf(`<svg class="%s" role="img" width="100%%" height="%d"><title>%s</title>%s</svg>`, class, height, EscapeHTML(title, 2*sentenceMax), d.out.String()))
}

// ticked draws an axis with its round values at a height.
func (d *drawing) ticked(s span, y float64) {
	d.line("axis", edge, y, 100-edge, y)
	for i, x := range s.ticks() {
		at := s.at(x)
		d.line("axis", at, y, at, y+5)
		anchor := "middle"
		switch {
		case at < 5:
			anchor = "start"
		case at > 95:
			anchor = "end"
		}
		class := "tick"
		if i%2 == 1 && len(exactNumber(x)) > 4 { // where there is little room, every second one is left out
			class = "tick wide"
		}
		d.anchored(class, anchor, at, y+19, plain(axisEnd(x, s.low < 0)))
	}
}

// bar draws an interval with its estimate at a height. Its ends and its estimate stand on their own side of a threshold.
func (d *drawing) bar(s span, m *report.Measure, threshold *float64, y, thick float64) {
	if m.Interval == nil {
		return
	}
	lower, upper, estimate := finite(m.Interval.Lower), finite(m.Interval.Upper), finite(m.Estimate)
	from, to := 0.0, 100.0
	if lower != nil {
		from = s.beside(*lower, threshold)
	}
	if upper != nil {
		to = s.beside(*upper, threshold)
	}
	d.line("bar", from, y, to, y)
	if lower != nil {
		d.line("bar", from, y-thick, from, y+thick)
	} else {
		d.arrow(false, y)
	}
	if upper != nil {
		d.line("bar", to, y-thick, to, y+thick)
	} else {
		d.arrow(true, y)
	}
	if estimate != nil {
		d.dot("dot", s.beside(*estimate, threshold), y, thick*0.75)
	}
}

// allowedSide is the side of its value on which a threshold lets a quantity be: 1 is above, -1 below, 0 neither is known.
func allowedSide(t report.Threshold) int {
	switch cmp.Or(t.Side, t.Kind) {
	case report.Minimum, report.MinGroupRatio:
		return 1
	case report.Maximum, report.MaxGroupGap:
		return -1
	case report.WorstGroup:
	}
	return 0
}

// forbidden shades the side of a threshold on which nothing may be, and draws the threshold.
func (d *drawing) forbidden(s span, t report.Threshold, y, height float64) {
	at := s.at(t.Value)
	switch allowedSide(t) {
	case 1:
		d.rect("no", 0, at, y, height)
	case -1:
		d.rect("no", at, 100, y, height)
	}
	d.line("limit", at, y, at, y+height)
}

// ruleSpan is the axis of a rule's own drawing.
func ruleSpan(r *report.Rule) (span, bool) {
	if r.Interval == nil {
		return span{}, false
	}
	return newSpan(r.Scale, r.Interval.Lower, r.Interval.Upper, r.Estimate, bound(r))
}

// plotRule draws a rule's interval against its threshold, the side where it may not be shaded; "" where there is nothing to draw.
func plotRule(r *report.Rule) markup {
	s, ok := ruleSpan(r)
	if !ok {
		return ""
	}
	d := &drawing{}
	says := fmt.Sprintf("An axis from %s to %s.", exactNumber(s.low), exactNumber(s.high))
	if limit := bound(r); limit != nil {
		d.forbidden(s, r.Threshold, 20, 44)
		d.text("label", s.at(*limit), 13, `<tspan class="roomy">allowed: </tspan>`+plain(MustBe(r.Threshold)))
		says += " The threshold, " + MustBe(r.Threshold) + ", is a line across it."
	}
	d.bar(s, &r.Measure, bound(r), 42, 9)
	d.ticked(s, 64)
	n := ruleNumbers(r)
	if n.Estimate != "" {
		says += " Measured: " + n.Estimate + "."
	}
	return d.svg("plot", 88, clip(r.ID, nameMax)+". "+says+" Interval: "+n.Range()+".")
}

// rowsSpan is the axis that rows of a table share.
func rowsSpan(rows []plotRow, threshold *float64) (span, bool) {
	var lower, upper *float64
	var scale *report.Scale
	var others []*float64
	open := [2]bool{}
	for _, row := range rows {
		if row.measure == nil || row.measure.Interval == nil {
			continue
		}
		m := row.measure
		scale = m.Scale
		for i, x := range []*float64{finite(m.Interval.Lower), finite(m.Interval.Upper)} {
			switch {
			case x == nil:
				open[i] = true
			case i == 0 && (lower == nil || *x < *lower):
				lower = x
			case i == 1 && (upper == nil || *x > *upper):
				upper = x
			}
		}
		others = append(others, m.Interval.Lower, m.Interval.Upper, m.Estimate)
	}
	if others == nil {
		return span{}, false
	}
	if open[0] {
		lower = nil
	}
	if open[1] {
		upper = nil
	}
	return newSpan(scale, lower, upper, append(others, threshold)...)
}

// plotInRow draws an interval in a row of a table, on the axis of its rows. The row says it in numbers.
func plotInRow(s span, m *report.Measure, t report.Threshold) markup {
	const height = 30
	d := &drawing{}
	var limit *float64
	if t.Kind != "" {
		limit = &t.Value
		d.forbidden(s, t, 0, height)
	}
	if s.low < 0 && s.high > 0 && (limit == nil || *limit != 0) {
		d.line("zero", s.at(0), 0, s.at(0), height)
	}
	if m != nil {
		d.bar(s, m, limit, height/2, 6)
	}
	return markup(fmt.Sprintf(`<svg class="mini" aria-hidden="true" width="100%%" height="%d">%s</svg>`, height, d.out.String()))
}

// axisHead writes the values at the ends of the axis over a column of drawings, and the threshold between them.
func axisHead(s span, t report.Threshold) markup {
	text := `<span class="ends"><span>` + EscapeHTML(axisEnd(s.low, s.low < 0), nameMax) + `</span>`
	if t.Kind != "" {
		text += `<span>allowed: ` + EscapeHTML(MustBe(t), nameMax) + `</span>`
	}
	return markup(text + `<span>` + EscapeHTML(axisEnd(s.high, s.low < 0), nameMax) + `</span></span>`)
}

// plotSpread draws the values of units as dots over the interval of their mean, equal ones and near ones on top of each other.
// left and right say what a value on either side of 0 means. It is "" where there is nothing to draw.
func plotSpread(m *report.Measure, title, left, right string) markup {
	if m.Spread == nil || m.Interval == nil {
		return ""
	}
	values := slices.Sorted(slices.Values(m.Spread.Values))
	values = values[:min(len(values), report.SpreadMost)]
	if len(values) == 0 {
		return ""
	}
	s, ok := newSpan(m.Scale, m.Interval.Lower, m.Interval.Upper, &values[0], &values[len(values)-1], new(float64))
	if !ok {
		return ""
	}
	const columns = 48 // of dots; as many as have room beside each other on a telephone
	stacks := map[int]int{}
	tallest := 0
	column := func(x float64) int { return int(math.Round((x - s.low) / (s.high - s.low) * columns)) }
	for _, x := range values {
		stacks[column(x)]++
		tallest = max(tallest, stacks[column(x)])
	}
	pitch := min(13, float64(150)/float64(tallest))
	base := math.Ceil(24 + float64(pitch*float64(tallest)))
	d := &drawing{}
	zero := s.at(0)
	d.anchored("label", "end", zero-2, 13, plain("← "+left))
	d.anchored("label", "start", zero+2, 13, plain(right+" →"))
	d.line("zero", zero, 18, zero, base+44)
	d.line("axis", edge, base, 100-edge, base)
	placed := map[int]int{}
	for _, x := range values {
		c := column(x)
		y := base - float64(pitch*(float64(placed[c])+0.5))
		placed[c]++
		// Dots of a column stand over each other, at its middle.
		d.dot("unit", s.at(s.low+float64((s.high-s.low)*(float64(c)/columns))), y, max(float64(pitch*0.44), 0.8))
	}
	d.bar(s, m, nil, base+22, 9)
	d.ticked(s, base+44)
	return d.svg("plot", int(base)+68, title)
}

// labelled is an interval of a picture with its words over it.
type labelled struct {
	words   string
	measure *report.Measure
}

// plotBeside draws intervals on one axis, each under its words.
func plotBeside(rows []labelled, title string) markup {
	var all []plotRow
	for _, row := range rows {
		all = append(all, plotRow{measure: row.measure})
	}
	s, ok := rowsSpan(all, nil)
	if !ok {
		return ""
	}
	d := &drawing{}
	y := 0.0
	for _, row := range rows {
		d.anchored("label", "start", edge, y+14, plain(row.words))
		d.bar(s, row.measure, nil, y+32, 8)
		y += 50
	}
	d.ticked(s, y)
	return d.svg("plot", int(y)+24, title)
}

// plotSigns draws how many cases got worse, to the left, and better, to the right, and under them those that stayed equal.
func plotSigns(better, worse, equal int, title string) markup {
	most := float64(max(better, worse, equal, 1))
	width := func(n int) float64 { return float64(float64(n) / most * 40) } // percent; the rest is for the words
	d := &drawing{}
	d.rect("worse", 50-width(worse), 50, 26, 34)
	d.rect("better", 50, 50+width(better), 26, 34)
	d.line("limit", 50, 18, 50, 68)
	d.anchored("label", "end", 48.5, 13, plain("← "+whole(worse)+" worse"))
	d.anchored("label", "start", 51.5, 13, plain(whole(better)+" better →"))
	d.rect("same", 50-float64(width(equal)/2), 50+float64(width(equal)/2), 74, 10)
	d.anchored("tick", "middle", 50, 101, plain(whole(equal)+" equal"))
	return d.svg("plot", 106, title)
}

// plotMoved draws a case's mean result under two versions, from 0 to 1: a ring for the baseline, a dot for the candidate.
func plotMoved(c *report.Moved) markup {
	const height = 30
	s := span{0, 1}
	d := &drawing{}
	d.line("axis", edge, height/2, 100-edge, height/2)
	class := "bar better"
	if c.Candidate < c.Baseline {
		class = "bar worse"
	}
	d.line(class, s.at(c.Baseline), height/2, s.at(c.Candidate), height/2)
	d.dot("ring", s.at(c.Baseline), height/2, 5)
	d.dot("dot", s.at(c.Candidate), height/2, 6)
	return markup(fmt.Sprintf(`<svg class="mini" aria-hidden="true" width="100%%" height="%d">%s</svg>`, height, d.out.String()))
}

// plotCalibration draws the share of label 1 over the mean probability, of each bin. Right probabilities lie on the diagonal; the
// larger a dot, the more cases are in its bin.
func plotCalibration(list []report.CalibrationBin, title string) markup {
	const (
		size = 150 // pixels of the square
		left = 26
		top  = 6
	)
	most := 1
	for _, b := range list {
		most = max(most, b.Cases)
	}
	x := func(p float64) string { return tenths(left + float64(min(max(p, 0), 1)*size)) }
	y := func(p float64) string { return tenths(top + size - float64(min(max(p, 0), 1)*size)) }
	d := &drawing{}
	d.add(`<rect class="field" x="%d" y="%d" width="%d" height="%d"/><line class="even" x1="%s" y1="%s" x2="%s" y2="%s"/>`, left, top, size, size, x(0), y(0), x(1), y(1))
	var points []string
	share := func(b *report.CalibrationBin) float64 { return float64(b.Positives) / float64(max(b.Cases, 1)) }
	for i := range list {
		points = append(points, x(list[i].Probability)+","+y(share(&list[i])))
	}
	d.add(`<polyline class="curve" points="%s"/>`, strings.Join(points, " "))
	for i := range list {
		b := &list[i]
		d.add(`<circle class="unit" cx="%s" cy="%s" r="%s"/>`, x(b.Probability), y(share(b)), tenths(1.5+float64(4.5*math.Sqrt(float64(b.Cases)/float64(most)))))
	}
	for _, end := range []float64{0, 1} {
		d.add(`<text class="tick" text-anchor="end" x="%d" y="%s">%g</text><text class="tick" text-anchor="middle" x="%s" y="%d">%g</text>`,
			left-5, y(end-float64(end/40)), end, x(end), top+size+15, end)
	}
	return markup(fmt.Sprintf(`<svg role="img" width="%d" height="%d"><title>%s</title>%s</svg>`, left+size+10, top+size+20, EscapeHTML(title, 2*sentenceMax), d.out.String()))
}
