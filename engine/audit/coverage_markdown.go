package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
)

// coverageIntroduction is how to read the result, for a person who is no statistician.
const coverageIntroduction = `An interval that says "95 %" makes a promise: repeat the study, and it holds the true value in at least 95 of 100
studies. This page checks that promise where it can be checked: in studies that are drawn by a program, so that the
truth is known. Each **cell** of the grid is one kind of study: so many people or cases, spread so far, gaining so much,
with so much missing. In each cell many studies are drawn, every one is decided by the gates themselves, as a file of
yours would be, and it is counted how often an interval missed the truth.

How to read the tables:

- **covers**: the share of studies in which the interval holds the truth. It has to be 95 % or more.
- **too high**: the share in which the whole interval lies above the truth, **too low**: below it. Unless a line says
  otherwise, each is promised to be at most 2.5 %.
- **false PASS**: the threshold was set just on the wrong side of the truth, so that a rule has no right to pass; the share
  of studies in which it did. **false FAIL**: the threshold was on the right side, and the rule failed.
- **undecided**: of those verdicts at the edge, the share that said neither. It should be near 100 %: at the edge nothing
  can be known.
- **width**: from the lower end to the upper one, on average. A narrow interval is worth something only if it covers.
- Of fewer than 200 studies what was seen is counted, as in 1 of 20.
- In brackets after a share stands its Monte Carlo error: what it may be, since only so many studies were drawn (exact,
  95 %). The JSON form has it for every share.

Lines in italics are no part of Oloproof. They are intervals that people use, computed from the same studies: **naive**
treats every decision or trial as if it were independent of all others; **student** is the textbook interval over people
or cases, **bootstrap** its usual replacement, **wald** the textbook interval of a rate, **two-standard-errors** that of
the lesson, **cases-as-fixed** an interval over people where cases were drawn too. They are held to no promise here: the
page shows what they do.
`

// Markdown is the whole result as a document that explains itself.
func (c *Coverage) Markdown() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# What the intervals are worth: the coverage grid")
	line("")
	b.WriteString(coverageIntroduction)
	line("")
	line("## How it was made")
	line("")
	line("```sh")
	line("%s --format markdown:coverage.md", c.Command())
	line("```")
	line("")
	line("%s cells, %s studies. The seed is `%s`; the same command gives the same page, on any machine and any number of", gate.Thousands(len(c.Cells)), gate.Thousands(c.Studies), c.Seed)
	line("cores. Another seed draws other studies.")
	line("")
	line("## The result")
	line("")
	line("**%s**, of %s.", strings.ToUpper(c.outcome()[:1])+c.outcome()[1:], gate.Thousands(c.Promises))
	line("Each side of each deciding interval, each false PASS and each false FAIL of each cell, and our rule in each")
	line("counterexample, is held against what is promised of it. It counts as broken where its exact one-sided lower bound at the")
	line("level %v / %s is above the promise, so that all kept promises together are called broken in at most one run of %s.", c.Level, gate.Thousands(c.Promises), gate.Thousands(int(1/c.Level)))
	line("(95 %% in each cell would fail nearly every run by chance alone.)")
	for i := range c.Broken {
		line("")
		line("- BROKEN: %s", c.Broken[i].sentence())
	}
	line("")
	line("How large a breach the run could have seen, of an error that is promised in at most %s of studies:", percent(side))
	line("")
	line("| studies of a cell | cells | errors from which it is called broken | seen in 80 %% of runs, if the true error is |")
	line("| ---: | ---: | ---: | ---: |")
	for i := range c.Reach {
		line("| %s |", strings.Join(c.Reach[i].cells(), " | "))
	}
	rows := c.worst()
	line("")
	line("The worst cell of each interval that decides rules:")
	line("")
	line("| gate | interval | cells | covers, at the worst | misses on one side, at the worst | the cell where it covers least |")
	line("| --- | --- | ---: | ---: | ---: | --- |")
	for _, r := range rows {
		if r.deciding {
			line("| %s | %s | %d | %s | %s | %s |", r.gate, r.interval, r.cells, r.covers.text(), r.missed.text(), r.covers.cell)
		}
	}
	line("")
	line("The worst cell of each other interval, on the same studies: of those where nothing is missing; and of those where values are")
	line("missing and that are in the grid without that too, beside the same kind of study where all values are there. So those two")
	line("columns show what missing values do.")
	line("")
	line("| gate | interval | cells | covers, where nothing is missing | the cell | covers, where values are missing | the same, all there | the cell |")
	line("| --- | --- | ---: | ---: | --- | ---: | ---: | --- |")
	for _, r := range rows {
		if !r.deciding {
			line("| %s | %s | %d | %s | %s | %s | %s | %s |", r.gate, emphasis(r.interval, false), r.cells, r.complete.text(), r.complete.cell, r.gaps.text(), r.twin.text(), r.gaps.cell)
		}
	}
	if rules := c.worstRules(); len(rules) > 0 {
		line("")
		line("The worst that rules came to whose threshold is at the truth, by their kind:")
		line("")
		line("| gate | rules | how many | false PASS | the cell | false FAIL | the cell |")
		line("| --- | --- | ---: | ---: | --- | ---: | --- |")
		for _, r := range rules {
			line("| %s | %s | %d | %s | %s | %s | %s |", r.gate, r.kind, r.rules, r.falsePass.text(), r.falsePass.cell, r.falseFail.text(), r.falseFail.cell)
		}
	}
	if len(c.Counterexamples) > 0 {
		line("")
		line("## Counterexamples")
		line("")
		line("Ways to collect or to count by which a plausible rule errs far more often than it announces.")
		for i := range c.Counterexamples {
			x := &c.Counterexamples[i]
			line("")
			line("### %s", x.Title)
			line("")
			line("%s", x.Story)
			line("")
			line("| rule | errs | promised |")
			line("| --- | ---: | ---: |")
			line("| *%s* | %s | |", x.Naive.Does, x.Naive.Errs.text())
			line("| %s | %s | at most %s |", x.Ours.Does, x.Ours.Errs.text(), percent(*x.Ours.Errs.Promise))
		}
	}
	for _, name := range kinds.Names() {
		if !slices.ContainsFunc(c.Cells, func(r CellResult) bool { return r.Gate == name }) {
			continue
		}
		line("")
		line("## The cells of %s", name)
		for i := range c.Cells {
			if c.Cells[i].Gate == name {
				line("")
				c.Cells[i].markdown(line)
			}
		}
	}
	return b.String()
}

// markdown is the table of a cell.
func (c *CellResult) markdown(line func(format string, args ...any)) {
	line("**%s**, studies drawn: %s", c.Name, gate.Thousands(c.Studies))
	line("")
	line("| quantity | interval | covers | too high | too low | false PASS | false FAIL | undecided | width |")
	line("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	last := ""
	for _, r := range c.lines() {
		quantity := r.quantity
		if quantity == last {
			quantity = ""
		}
		last = r.quantity
		cells := []string{quantity, "", "", "", "", "", "", "", ""}
		if iv := r.interval; iv != nil {
			cells[1] = emphasis(iv.Interval, iv.Deciding)
			if iv.None == c.Studies {
				cells[2] = "no interval"
			} else {
				cells[2] = iv.Coverage.Both.text()
				cells[3], cells[4] = iv.Coverage.Lower.missed(), iv.Coverage.Upper.missed()
			}
			if iv.MeanWidth != nil {
				cells[8] = fmt.Sprintf("%.3f", *iv.MeanWidth)
			}
		}
		if rule := r.rule; rule != nil {
			if rule.FalsePass != nil {
				cells[5] = rule.FalsePass.plain()
			}
			if rule.FalseFail != nil {
				cells[6] = rule.FalseFail.plain()
			}
			cells[7] = rule.Undecided.Share.text()
		}
		line("| %s |", strings.Join(cells, " | "))
	}
}

// resultLine is an interval and, where it decides, what its rules came to; a rule without an interval stands by itself.
type resultLine struct {
	quantity string
	interval *IntervalResult
	rule     *RuleResult
}

// lines are the lines of a cell's table.
func (c *CellResult) lines() []resultLine {
	var list []resultLine
	used := map[string]bool{}
	for i := range c.Intervals {
		iv := &c.Intervals[i]
		l := resultLine{quantity: iv.Quantity, interval: iv}
		for k := range c.Rules {
			if iv.Deciding && c.Rules[k].Quantity == iv.Quantity {
				l.rule, used[iv.Quantity] = &c.Rules[k], true
			}
		}
		list = append(list, l)
	}
	for k := range c.Rules {
		if r := &c.Rules[k]; !used[r.Quantity] {
			list = append(list, resultLine{quantity: r.Quantity, rule: r})
		}
	}
	return list
}

// emphasis is the name of an interval: in italics where it decides nothing.
func emphasis(name string, deciding bool) string {
	if deciding || name == "" {
		return name
	}
	return "*" + name + "*"
}

// text is a share with its Monte Carlo error.
func (m *Measured) text() string {
	mark := ""
	if m.Broken {
		mark = "**BROKEN** "
	}
	return fmt.Sprintf("%s%s (%.2f to %.2f %%)", mark, m.Share.text(), 100*m.Low, 100*m.High)
}

// plain is a share of an error, with what is promised where it is not the usual 2.5 %.
func (m *Measured) plain() string {
	text := m.Share.text()
	if m.Broken {
		text = "**BROKEN** " + text
	}
	if m.Promise != nil && *m.Promise != side {
		text += ", promised " + percent(*m.Promise)
	}
	return text
}

// missed is the share in which a side of an interval missed the truth, from the share in which it did not.
func (m *Measured) missed() string {
	text := Measured{Share: Share{m.Of - m.Count, m.Of}, Broken: m.Broken}
	if m.Promise != nil && *m.Promise != 1-side {
		most := 1 - *m.Promise
		text.Promise = &most
	}
	return text.plain()
}
