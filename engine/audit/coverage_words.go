package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/gate"
)

// row is the worst that one interval came to over the cells of one gate.
type row struct {
	gate, interval string
	deciding       bool
	cells          int
	covers         worst // the least coverage
	missed         worst // the largest share of studies in which one side missed
	complete       worst // the least coverage where nothing is missing
	gaps, twin     worst // the least where something is, of cells that there are without that too; and the coverage there
}

// worst is the worst share and its cell; none where cell is "".
type worst struct {
	share Share
	cell  string
}

// take keeps the worse of two, less being worse or more.
func (w *worst) take(share Share, cell string, lessIsWorse bool) {
	if x, y := share.Value(), w.share.Value(); w.cell == "" || (x < y) == lessIsWorse && x != y {
		w.share, w.cell = share, cell
	}
}

// text is the share in words, or a dash.
func (w worst) text() string {
	if w.cell == "" {
		return "-"
	}
	return w.share.text()
}

// text is a share for a person. Of few studies it is a count: a share in per cent would look more exact than it is.
func (s Share) text() string {
	const few, many = 200, 1000
	switch {
	case s.Of < few:
		return fmt.Sprintf("%d of %d", s.Count, s.Of)
	case s.Of < many:
		return strconv.FormatFloat(100*s.Value(), 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(100*s.Value(), 'f', 2, 64) + " %"
}

// percent writes what is promised in per cent, without zeros at its end.
func percent(x float64) string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(100*x, 'f', 3, 64), "0"), ".") + " %"
}

// missing is the cell's factor for missing values, and the others as one text. Cells with the same others differ in that alone.
func (c *CellResult) missing() (value, others string) {
	value = nothingMissing
	for _, f := range c.Factors {
		if f.Name == missingFactor {
			value = f.Value
			continue
		}
		others += f.Name + "\x00" + f.Value + "\x00"
	}
	return value, c.Gate + "\x00" + others
}

// worst sums up the intervals of each gate, in the order of the cells, those that decide first.
func (c *Coverage) worst() []row {
	var list []row
	complete := map[string]*CellResult{} // by the other factors: the cell where nothing is missing
	for i := range c.Cells {
		if value, others := c.Cells[i].missing(); value == nothingMissing {
			complete[others] = &c.Cells[i]
		}
	}
	for i := range c.Cells {
		cell := &c.Cells[i]
		missing, others := cell.missing()
		seen := map[int]bool{}
		for k := range cell.Intervals {
			iv := &cell.Intervals[k]
			at := slices.IndexFunc(list, func(r row) bool {
				return r.gate == cell.Gate && r.interval == iv.Interval && r.deciding == iv.Deciding
			})
			if iv.None == cell.Studies { // it is not known which it would be
				continue
			}
			if at < 0 {
				at = len(list)
				list = append(list, row{gate: cell.Gate, interval: iv.Interval, deciding: iv.Deciding})
			}
			r := &list[at]
			if !seen[at] {
				seen[at] = true
				r.cells++
			}
			r.covers.take(iv.Coverage.Both.Share, cell.Name, true)
			for _, m := range []Measured{iv.Coverage.Lower, iv.Coverage.Upper} {
				r.missed.take(Share{m.Of - m.Count, m.Of}, cell.Name, false)
			}
			if missing == nothingMissing {
				r.complete.take(iv.Coverage.Both.Share, cell.Name, true)
				continue
			}
			if same := complete[others]; same != nil { // else it would be compared with other kinds of study
				before, twin := r.gaps, same.find(iv)
				if twin.cell != "" {
					r.gaps.take(iv.Coverage.Both.Share, cell.Name, true)
				}
				if r.gaps != before {
					r.twin = twin
				}
			}
		}
	}
	order := map[bool]int{true: 0, false: 1}
	slices.SortStableFunc(list, func(a, b row) int { return cmp.Compare(order[a.deciding], order[b.deciding]) })
	return list
}

// find is the coverage of the interval of the same name beside the same quantity in another cell.
func (c *CellResult) find(iv *IntervalResult) worst {
	for i := range c.Intervals {
		if x := &c.Intervals[i]; x.Quantity == iv.Quantity && x.Interval == iv.Interval && x.Deciding == iv.Deciding {
			return worst{x.Coverage.Both.Share, c.Name}
		}
	}
	return worst{}
}

// ruleRow is the worst that the rules of one kind came to.
type ruleRow struct {
	gate, kind           string
	rules                int
	falsePass, falseFail worst
}

// ruleKind is the kind of rule of a text in a policy: its metric, or of a fairness rule how it compares the groups.
func ruleKind(rule string) string {
	for _, kind := range []string{"max_group_gap", "min_group_ratio", "worst_group"} {
		if strings.Contains(rule, kind+":") {
			return kind
		}
	}
	_, rest, _ := strings.Cut(rule, "metric: ")
	kind, _, _ := strings.Cut(rest, ",")
	return kind
}

// worstRules sums up the rules of each gate and kind, in the order of the cells.
func (c *Coverage) worstRules() []ruleRow {
	var list []ruleRow
	for i := range c.Cells {
		cell := &c.Cells[i]
		for k := range cell.Rules {
			r := &cell.Rules[k]
			kind := ruleKind(r.Rule)
			at := slices.IndexFunc(list, func(x ruleRow) bool { return x.gate == cell.Gate && x.kind == kind })
			if at < 0 {
				at = len(list)
				list = append(list, ruleRow{gate: cell.Gate, kind: kind})
			}
			if r.FalsePass != nil {
				list[at].rules++
				list[at].falsePass.take(r.FalsePass.Share, cell.Name, false)
			}
			if r.FalseFail != nil {
				list[at].rules++
				list[at].falseFail.take(r.FalseFail.Share, cell.Name, false)
			}
		}
	}
	order := map[string]int{}
	for i, r := range list {
		if _, found := order[r.gate]; !found {
			order[r.gate] = i
		}
	}
	slices.SortStableFunc(list, func(a, b ruleRow) int { return cmp.Compare(order[a.gate], order[b.gate]) })
	return list
}

// cells are those of a line about reach: so many studies, cells that have as many, from how many errors on a promise is called broken, and
// the true error at which that is seen in 80 % of runs; dashes where no number of errors is enough.
func (r *Reach) cells() []string {
	list := []string{gate.Thousands(r.Studies), gate.Thousands(r.Cells), "-", "-"}
	if r.From > 0 {
		list[2], list[3] = gate.Thousands(r.From)+" on", strconv.FormatFloat(math.Round(1000*r.Error)/10, 'f', -1, 64)+" %"
	}
	return list
}

// countOf writes a count with its noun.
func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return gate.Thousands(n) + " " + many
}

// Command is the command line that comes to this result, by default names.
func (c *Coverage) Command() string {
	text := "oloproof audit coverage --" + c.Grid
	for _, g := range c.Gates {
		text += " --gate " + g
	}
	if c.AtMost > 0 {
		text += " --studies " + strconv.Itoa(c.AtMost)
	}
	return text + " --seed " + c.Seed
}

// outcome says in a word or two whether the promises are kept.
func (c *Coverage) outcome() string {
	switch n := len(c.Broken); n {
	case 0:
		return "no promise is seen to be broken"
	case 1:
		return "1 promise is BROKEN"
	default:
		return strconv.Itoa(n) + " promises are BROKEN"
	}
}

// sentence says what is broken.
func (b *Broken) sentence() string {
	quantity := ""
	if b.Quantity != "" {
		quantity = ", " + b.Quantity
	}
	return fmt.Sprintf("%s%s: %s in %s of studies, promised at most %s", b.Cell, quantity, b.What, strconv.FormatFloat(100*b.Share, 'f', 2, 64)+" %", percent(b.Promise))
}

// Text is the result for a terminal, 80 columns wide: the worst cell of each interval, and what is broken.
func (c *Coverage) Text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("Coverage, %s grid: %s", c.Grid, c.outcome())
	line("%s, %s: %s drawn and decided, seed %s", countOf(len(c.Cells), "cell", "cells"), countOf(len(c.Counterexamples), "counterexample", "counterexamples"),
		countOf(c.Studies, "study", "studies"), c.Seed)
	line("")
	line("  In each cell, studies are drawn of which the truth is known, and the gates are")
	line("  asked about them. An interval at 95 %% promises to hold the truth in at least")
	line("  95 %% of studies, whatever the cell, and to miss it in at most 2.5 %% on either")
	line("  side, unless its gate promises otherwise. Each line has the worst of its")
	line("  cells; of few studies what was seen is counted, as in 1 of 20.")
	rows := c.worst()
	line("")
	line("  %-11s%-28s%6s  %12s  %14s", "GATE", "INTERVAL THAT DECIDES", "CELLS", "HOLDS TRUTH", "MISSES, A SIDE")
	for _, r := range rows {
		if r.deciding {
			line("  %-11s%-28s%6d  %12s  %14s", r.gate, r.interval, r.cells, r.covers.text(), r.missed.text())
		}
	}
	line("")
	if paired := slices.ContainsFunc(rows, func(r row) bool { return !r.deciding && r.twin.cell != "" }); paired {
		line("  %-11s%-20s%5s  %12s  %12s  %12s", "", "", "", "HOLDS TRUTH,", "WITH VALUES", "THE SAME,")
		line("  %-11s%-20s%5s  %12s  %12s  %12s", "GATE", "OTHERS, TO COMPARE", "CELLS", "ALL THERE", "MISSING", "ALL THERE")
		for _, r := range rows {
			if !r.deciding {
				line("  %-11s%-20s%5d  %12s  %12s  %12s", r.gate, r.interval, r.cells, r.complete.text(), r.gaps.text(), r.twin.text())
			}
		}
		line("")
		line("  What missing values do is seen by the last two columns: one kind of study,")
		line("  with values missing and without. The worst of all may have other causes.")
	} else {
		line("  %-11s%-28s%6s  %12s", "GATE", "OTHERS, TO COMPARE", "CELLS", "HOLDS TRUTH")
		for _, r := range rows {
			if !r.deciding {
				line("  %-11s%-28s%6d  %12s", r.gate, r.interval, r.cells, r.complete.text())
			}
		}
		line("")
		line("  The others are of the cells where nothing is missing.")
	}
	for _, r := range rows {
		if r.interval == naiveName && r.complete.cell != "" {
			b.WriteString(wrap("The worst for naive of "+r.gate+", nothing missing: "+r.complete.cell, 78, "  ", "    "))
		}
	}
	if rules := c.worstRules(); len(rules) > 0 {
		line("")
		line("  %-11s%-28s%6s  %12s  %14s", "GATE", "RULES AT THE TRUTH", "RULES", "FALSE PASS", "FALSE FAIL")
		for _, r := range rules {
			line("  %-11s%-28s%6d  %12s  %14s", r.gate, r.kind, r.rules, r.falsePass.text(), r.falseFail.text())
		}
	}
	if len(c.Counterexamples) > 0 {
		line("")
		line("  %-53s%9s  %12s", "COUNTEREXAMPLE: A PLAUSIBLE RULE, AND OURS", "IT ERRS", "OURS ERRS")
		for i := range c.Counterexamples {
			x := &c.Counterexamples[i]
			line("  %-53s%9s  %12s", x.Title, x.Naive.Errs.Share.text(), x.Ours.Errs.Share.text())
		}
	}
	line("")
	b.WriteString(wrap(fmt.Sprintf("%s, of %s that are held against what was simulated. A share above its promise is no breach by itself: one counts as broken where chance alone would show as much in at most one run of %s, all its promises together.",
		strings.ToUpper(c.outcome()[:1])+c.outcome()[1:], gate.Thousands(c.Promises), gate.Thousands(int(1/c.Level))), 78, "", ""))
	line("How large a breach the run could have seen, of an error that is promised in at")
	line("most %s of studies:", percent(side))
	line("")
	line("  %14s  %6s  %13s  %s", "STUDIES A CELL", "CELLS", "A BREACH FROM", "SEEN IN 80 % OF RUNS, IF TRULY")
	for i := range c.Reach {
		r := c.Reach[i].cells()
		line("  %14s  %6s  %13s  %30s", r[0], r[1], r[2], r[3])
	}
	for i := range c.Broken {
		b.WriteString(wrap("BROKEN: "+c.Broken[i].sentence(), 78, "  ", "    "))
	}
	return b.String()
}

// wrap breaks a text at spaces into lines of at most so many characters, the first and the others indented.
func wrap(text string, width int, first, other string) string {
	var b strings.Builder
	line := first
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			line += word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			b.WriteString(line + "\n")
			line = other + word
		default:
			line += " " + word
		}
	}
	return b.String() + line + "\n"
}
