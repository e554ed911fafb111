package summary

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/report"
)

// The gates' own pictures on the HTML page, and the tables of every measure.

// pictures writes what a gate is best seen by: each from measures that only one gate has, where they may be told.
func (p *page) pictures(g *report.Gate) {
	p.gains(g)
	p.anchoring(g)
	p.signs(g)
	p.curves(g)
}

// picture writes a drawing with its heading and what is to be said under it; nothing where there is no drawing.
func (p *page) picture(heading string, drawn markup, caption string) {
	if drawn == "" {
		return
	}
	p.put(`<section class="card"><h3>`, plain(heading), "</h3><figure>", drawn, "<figcaption>", said(caption), "</figcaption></figure></section>")
}

// withInterval is a measure's numbers in a sentence: "+0.087 (95 % interval -0.442 … +0.535)".
func withInterval(m *report.Measure) string {
	n := Show(m, nil)
	if n.Range() == "" {
		return orNone("")
	}
	text := intervalHeading([]*report.Measure{m}) + " " + n.Range()
	if n.Estimate == "" {
		return text
	}
	return n.Estimate + " (" + text + ")"
}

// gains draws people's gains. With min_shown they are not drawn: each is one person's.
func (p *page) gains(g *report.Gate) {
	for i := range g.Measures {
		m := &g.Measures[i]
		if m.Spread == nil || m.Interval == nil || p.hides.least > 0 {
			continue
		}
		of := whole(m.Spread.Units) + " " + unitName(m, m.Spread.Units)
		each := "Each dot is one of " + of
		if len(m.Spread.Values) < m.Spread.Units {
			each = "Each dot stands for 1 % of " + of
		}
		mean := "The bar under the dots is their mean: " + withInterval(m) + "."
		p.picture("Each person's gain", plotSpread(m, "Each person's gain as a dot, over the mean. "+mean, "worse", "better"),
			each+": the share of right decisions with the system, less the same person's share without it. "+mean+" The interval is about people like these; the dots are these people.")
	}
}

// anchoring draws how often people agree with the model when its suggestion is hidden, and when it is seen.
func (p *page) anchoring(g *report.Gate) {
	find := func(metric string, labels map[string]string) *report.Measure {
		for i := range g.Measures {
			if m := &g.Measures[i]; m.Metric == metric && maps.Equal(m.Labels, labels) && m.Interval != nil && !p.hides.numbers(m) {
				return m
			}
		}
		return nil
	}
	for i := range g.Measures {
		gap := &g.Measures[i]
		if gap.Metric != "anchoring_gap" {
			continue
		}
		blind, visible := find("blind_agreement", gap.Labels), find("visible_agreement", gap.Labels)
		if blind == nil || visible == nil {
			continue
		}
		rows := []labelled{{"blind, suggestion hidden: " + Show(blind, nil).Estimate, blind}, {"visible, suggestion seen: " + Show(visible, nil).Estimate, visible}}
		text := "How often people's labels equal the model's. Blind: " + withInterval(blind) + ". Visible: " + withInterval(visible) + "."
		if gap.Interval != nil && !p.hides.numbers(gap) {
			text += " The gap, visible minus blind: " + withInterval(gap) + "."
		}
		per := ""
		if labels := labelText(gap.Labels); labels != "" {
			per = ", " + labels
		}
		p.picture("Blind against visible agreement"+per, plotBeside(rows, text), text+" What appears only while the suggestion is seen is its pull, and no evidence that the model is right.")
	}
}

// signs draws how many cases got better and worse, and the cases that moved most.
func (p *page) signs(g *report.Gate) {
	var moved []report.Moved
	look := func(m *report.Measure) {
		if moved == nil {
			moved = m.Moved
		}
	}
	for i := range g.Rules {
		look(&g.Rules[i].Measure)
	}
	for i := range g.Measures {
		look(&g.Measures[i])
	}
	for i := range g.Measures {
		m := &g.Measures[i]
		if signs(m) == "" || p.hides.counts || p.hides.numbers(m) {
			continue
		}
		text := "Of " + whole(*m.Better+*m.Worse+*m.Equal) + " cases: " + signs(m) + "; " + pValue(m) + "."
		if m.Units != nil {
			text = "Of " + whole(*m.Units) + " cases: " + signs(m) + "; " + pValue(m) + "."
		}
		p.picture("Cases that got better and worse", plotSigns(*m.Better, *m.Worse, *m.Equal, text), text+" The sign test counts which way cases moved, not how far; equal cases do not count in it.")
	}
	if len(moved) == 0 {
		return
	}
	baseline, candidate := cmp.Or(clip(g.Settings["baseline"], nameMax), "baseline"), cmp.Or(clip(g.Settings["candidate"], nameMax), "candidate")
	p.put(`<section class="card"><table class="rows"><caption>The cases that moved most<small>`, said("A ring is "+baseline+", a dot is "+candidate+": the mean result of the case, from 0 to 1."), "</small></caption>")
	p.put(`<thead><tr><th scope="col">Case</th><th scope="col" class="drawn"><span class="ends"><span>0</span><span>1</span></span></th><th scope="col">`, plain(baseline), `</th><th scope="col">`, plain(candidate), `</th></tr></thead><tbody>`)
	for i := range moved[:min(len(moved), htmlMoved)] {
		c := &moved[i]
		missing := ""
		if c.Missing > 0 {
			missing = " (" + counted(c.Missing, "trial") + " missing)"
		}
		number := func(x float64) markup { return plain(orNone(Show(&report.Measure{Estimate: &x}, nil).Estimate)) }
		p.put(`<tr><th scope="row">`, plain(clip(c.Case, nameMax)+missing), `</th><td class="drawn">`, plotMoved(c), `</td><td class="n">`, number(c.Baseline), `</td><td class="n">→ `, number(c.Candidate), "</td></tr>")
	}
	p.put("</tbody></table>")
	if rest := len(moved) - htmlMoved; rest > 0 {
		p.para("small", "and "+counted(rest, "more case")+": "+inReport+".")
	}
	p.put("</section>")
}

// curves draws a calibration curve of everyone and of every group.
func (p *page) curves(g *report.Gate) {
	type curve struct {
		of      *report.Measure
		points  []report.CalibrationBin
		heading string
	}
	var curves []curve
	for i := range g.Measures {
		m := &g.Measures[i]
		points := slices.DeleteFunc(slices.Clone(m.Bins), func(b report.CalibrationBin) bool {
			return b.Positives < p.hides.least || b.Cases-b.Positives < p.hides.least
		})
		if len(points) == 0 || p.hides.numbers(m) {
			continue
		}
		heading := "everyone"
		if len(m.Labels) > 0 {
			heading = groupName(m.Labels)
		}
		curves = append(curves, curve{m, points, heading})
	}
	if len(curves) == 0 {
		return
	}
	p.put(`<section class="card"><h3>Are the probabilities right?</h3>`)
	p.para("small", "From left to right: what probability the system gave. Upward: how often the label really was 1. Right probabilities lie on the dashed line; the larger a dot, the more cases it stands for, and small dots lie off it by chance alone.")
	p.put(`<ul class="calibration">`)
	for _, c := range curves[:min(len(curves), htmlCurves)] {
		text := "error " + orNone(Show(c.of, nil).Estimate)
		if c.of.UnderCalibration != nil {
			text += ", by chance alone " + byChance(c.of)
		}
		p.put("<li><figure>", plotCalibration(c.points, "Calibration of "+c.heading+": "+text+". "+curveText(c.points)), "<figcaption><strong>", plain(c.heading), "</strong><br/>", said(text), "</figcaption></figure></li>")
	}
	p.put("</ul>")
	if rest := len(curves) - htmlCurves; rest > 0 {
		p.para("small", "and "+moreGroups(rest)+": "+inReport+".")
	}
	p.put("</section>")
}

// curveText says in words where a curve's points lie.
func curveText(points []report.CalibrationBin) string {
	var parts []string
	for i := range points[:min(len(points), 20)] {
		b := &points[i]
		share := float64(b.Positives) / float64(max(b.Cases, 1))
		parts = append(parts, printNumber(b.Probability, 2, nearest, false)+" given, "+printNumber(share, 2, nearest, false)+" seen")
	}
	return strings.Join(parts, "; ") + "."
}

// measures writes every measure: folded beside rules, open in a report without them.
func (p *page) measures(g *report.Gate) {
	if len(g.Measures) == 0 {
		return
	}
	open := len(g.Rules) == 0
	p.put(`<section class="card"><h3>Everything that was measured</h3>`)
	if !open {
		p.para("small", "These numbers decide nothing by themselves.")
	}
	if sections := byAttribute(g.Measures); sections != nil {
		p.sections(sections, open)
	} else {
		for _, part := range byScale(g.Measures) {
			p.fold(open, part.title+" ("+whole(len(part.measures))+")")
			p.measureTable(plotTable{caption: part.title, titled: true}, part.measures, measureName)
			p.put("</details>")
		}
	}
	p.put("</section>")
}

// scaled are measures that can be drawn on one axis.
type scaled struct {
	title    string
	measures []*report.Measure
}

// byScale sorts measures by the range that they can have and their unit, in the order in which these first appear.
func byScale(measures []report.Measure) []scaled {
	title := func(m *report.Measure) string {
		switch {
		case m.MeasuredIn != "":
			return "In " + clip(m.MeasuredIn, nameMax)
		case m.Interval == nil:
			return "Without an interval"
		case m.Scale == nil:
			return "Other measures"
		case m.Scale.Lower < 0:
			return "Differences"
		}
		return "Shares and means from " + exactNumber(m.Scale.Lower) + " to " + exactNumber(m.Scale.Upper)
	}
	var list []scaled
	for i := range measures {
		m := &measures[i]
		at := slices.IndexFunc(list, func(s scaled) bool { return s.title == title(m) })
		if at < 0 {
			at = len(list)
			list = append(list, scaled{title: title(m)})
		}
		list[at].measures = append(list[at].measures, m)
	}
	return list
}

// measureTable writes measures on one axis, into a table that has its caption.
func (p *page) measureTable(table plotTable, all []*report.Measure, name func(*report.Measure) string) {
	shown := all[:min(len(all), htmlGroups)]
	var rows []plotRow
	for _, m := range shown {
		measured, within := shownNumbers(m, Show(m, nil))
		row := plotRow{name: name(m), measure: m, measured: measured, within: within}
		if p.hides.numbers(m) {
			row.measure, row.measured, row.within = nil, hidden, hidden
		}
		short := *m // the method stands over the table, and both completions are in the JSON report
		short.Completions = nil
		row.said = strings.Join(p.hides.countsOnly(&short), " · ")
		rows = append(rows, row)
	}
	if methods := methodsOf(shown); methods != "" {
		table.about = "By " + methods + "."
	}
	table.heads, table.rows = [4]string{"", "Measure", "Measured", "Counted"}, rows
	p.plots(table)
	for _, text := range cautions(shown) {
		p.para("small", text)
	}
	for _, m := range shown {
		for _, text := range beside(m) {
			p.para("small", measureName(m)+", "+text)
		}
	}
	if rest := len(all) - len(shown); rest > 0 {
		p.para("small", "and "+whole(rest)+" more: "+inReport+".")
	}
}

// sections writes the measures of everyone, then those of the groups of each attribute, one table a rate, and the calibration
// errors last.
func (p *page) sections(sections []section, open bool) {
	var errors []section
	for _, s := range sections {
		s, e := s.calibration()
		errors = append(errors, e)
		if len(s.rates) == 0 {
			continue
		}
		if s.attribute == "" {
			var all []*report.Measure
			for _, r := range s.rates {
				all = append(all, r.measures...)
			}
			p.fold(open, "Everyone")
			p.measureTable(plotTable{caption: "Rates of everyone", titled: true}, all, measureName)
			p.put("</details>")
			continue
		}
		p.foldAs(bulk, false, "By "+clip(s.attribute, nameMax)+" ("+counted(len(s.rates), "rate")+")")
		for _, r := range s.rates {
			p.measureTable(plotTable{caption: clip(r.metric, nameMax)}, r.measures, func(m *report.Measure) string { return groupName(m.Labels) })
		}
		p.put("</details>")
	}
	p.calibration(errors)
}

// calibration writes the calibration errors of everyone and of the groups.
func (p *page) calibration(sections []section) {
	type row struct {
		of section
		m  *report.Measure
	}
	var rows []row
	rest := 0
	for _, s := range sections {
		rates, more := s.shownOf(htmlGroups)
		rest += max(more, 0)
		for _, r := range rates {
			for _, m := range r.measures {
				rows = append(rows, row{s, m})
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	p.fold(false, "Calibration errors ("+whole(len(rows)+rest)+")")
	p.put(`<table class="rows"><caption>Calibration error, beside what it would be by chance if the probabilities were right</caption><thead><tr><th scope="col">By</th><th scope="col">Group</th><th scope="col">Measured</th><th scope="col">`, plain(capital(ifCalibrated)), `</th><th scope="col">Counted</th></tr></thead><tbody>`)
	for _, r := range rows {
		measured, chance := orNone(Show(r.m, nil).Estimate), byChance(r.m)
		if p.hides.numbers(r.m) {
			measured, chance = hidden, hidden
		}
		p.put("<tr><td>", plain(clip(r.of.attribute, nameMax)), `</td><th scope="row">`, plain(r.of.nameOf(r.m)), `</th><td class="n">`, plain(measured), `</td><td class="n">`, plain(chance), `</td><td class="said">`, said(strings.Join(p.hides.countsOnly(r.m), " · ")), "</td></tr>")
	}
	p.put("</tbody></table>")
	if rest > 0 {
		p.para("small", "and "+moreGroups(rest)+": "+inReport+".")
	}
	p.put("</details>")
}
