package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// row is the worst that one interval came to over the cells of one gate.
type row struct {
	gate, interval string
	deciding       bool
	cells          int
	covers         worst // the least coverage
	missed         worst // the largest share of studies in which one side missed
	complete, gaps worst // the least coverage where nothing is missing, and where something is
}

// worst is the worst share and its cell; none where cell is "".
type worst struct {
	share float64
	cell  string
}

// take keeps the worse of two, less being worse or more.
func (w *worst) take(share float64, cell string, lessIsWorse bool) {
	if w.cell == "" || (share < w.share) == lessIsWorse && share != w.share {
		w.share, w.cell = share, cell
	}
}

// text is the share in per cent, or a dash.
func (w worst) text() string {
	if w.cell == "" {
		return "-"
	}
	return percent(w.share)
}

// hasGaps reports whether values are missing in a cell.
func (c *CellResult) hasGaps() bool {
	return slices.ContainsFunc(c.Factors, func(f Factor) bool { return f.Name == missingFactor && f.Value != nothingMissing })
}

// worst sums up the intervals of each gate, in the order of the cells, those that decide first.
func (c *Coverage) worst() []row {
	var list []row
	for i := range c.Cells {
		cell := &c.Cells[i]
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
			r.covers.take(iv.Coverage.Both.Value, cell.Name, true)
			r.missed.take(1-min(iv.Coverage.Lower.Value, iv.Coverage.Upper.Value), cell.Name, false)
			if cell.hasGaps() {
				r.gaps.take(iv.Coverage.Both.Value, cell.Name, true)
			} else {
				r.complete.take(iv.Coverage.Both.Value, cell.Name, true)
			}
		}
	}
	order := map[bool]int{true: 0, false: 1}
	slices.SortStableFunc(list, func(a, b row) int { return cmp.Compare(order[a.deciding], order[b.deciding]) })
	return list
}

// ruleRow is the worst that the rules of one gate came to.
type ruleRow struct {
	gate                 string
	rules                int
	falsePass, falseFail float64
}

// worstRules sums up the rules of each gate, in the order of the cells.
func (c *Coverage) worstRules() []ruleRow {
	var list []ruleRow
	for i := range c.Cells {
		for k := range c.Cells[i].Rules {
			r := &c.Cells[i].Rules[k]
			at := slices.IndexFunc(list, func(x ruleRow) bool { return x.gate == c.Cells[i].Gate })
			if at < 0 {
				at = len(list)
				list = append(list, ruleRow{gate: c.Cells[i].Gate})
			}
			for _, m := range []*Measured{r.FalsePass, r.FalseFail} {
				if m != nil {
					list[at].rules++
				}
			}
			if r.FalsePass != nil {
				list[at].falsePass = max(list[at].falsePass, r.FalsePass.Value)
			}
			if r.FalseFail != nil {
				list[at].falseFail = max(list[at].falseFail, r.FalseFail.Value)
			}
		}
	}
	return list
}

// percent writes a share in per cent.
func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 2, 64) + " %" }

// grouped writes a count with commas.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
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
		return "no promise is broken"
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
	return fmt.Sprintf("%s%s: %s in %s of studies, promised at most %s", b.Cell, quantity, b.What, percent(b.Share), percent(b.Promise))
}

// Text is the result for a terminal, 80 columns wide: the worst cell of each interval, and what is broken.
func (c *Coverage) Text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("Coverage, %s grid: %s", c.Grid, c.outcome())
	line("%s cells, %s studies drawn and decided, seed %s", grouped(len(c.Cells)), grouped(c.Studies), c.Seed)
	line("")
	line("  In each cell, studies are drawn of which the truth is known, and the gates are")
	line("  asked about them. An interval at 95 %% promises to hold the truth in at least")
	line("  95 %% of studies, whatever the cell, and to miss it in at most 2.5 %% on either")
	line("  side, unless its gate promises otherwise.")
	rows := c.worst()
	line("")
	line("  %-11s%-28s%6s  %12s  %14s", "GATE", "INTERVAL THAT DECIDES", "CELLS", "HOLDS TRUTH", "MISSES, A SIDE")
	for _, r := range rows {
		if r.deciding {
			line("  %-11s%-28s%6d  %12s  %14s", r.gate, r.interval, r.cells, r.covers.text(), r.missed.text())
		}
	}
	line("")
	line("  %-11s%-28s%6s  %12s  %14s", "", "OTHERS, FOR COMPARISON", "", "HOLDS TRUTH", "WITH MISSING")
	for _, r := range rows {
		if !r.deciding {
			line("  %-11s%-28s%6d  %12s  %14s", r.gate, r.interval, r.cells, r.complete.text(), r.gaps.text())
		}
	}
	line("")
	line("  Each line has the worst of its cells; the last column of the second table is")
	line("  where values are missing.")
	for _, r := range rows {
		if r.interval == naiveName && r.complete.cell != "" {
			b.WriteString(wrap("The worst for naive of "+r.gate+", nothing missing: "+r.complete.cell, 78, "  ", "    "))
		}
	}
	if rules := c.worstRules(); len(rules) > 0 {
		line("")
		line("  %-11s%-28s%6s  %12s  %14s", "GATE", "RULES AT THE TRUTH", "RULES", "FALSE PASS", "FALSE FAIL")
		for _, r := range rules {
			line("  %-11s%-28s%6d  %12s  %14s", r.gate, "the worst", r.rules, percent(r.falsePass), percent(r.falseFail))
		}
	}
	if len(c.Counterexamples) > 0 {
		line("")
		line("  %-53s%9s  %12s", "COUNTEREXAMPLE: A PLAUSIBLE RULE, AND OURS", "IT ERRS", "OURS ERRS")
		for i := range c.Counterexamples {
			x := &c.Counterexamples[i]
			line("  %-53s%9s  %12s", x.Title, percent(x.Naive.Errs.Value), percent(x.Ours.Errs.Value))
		}
	}
	line("")
	line("%s of %s that are held against what was simulated.", strings.ToUpper(c.outcome()[:1])+c.outcome()[1:], grouped(c.Promises))
	line("A promise counts as broken where chance alone would show as much in at most one")
	line("run of %s, all its promises together.", grouped(int(1/c.Level)))
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
