package summary

import (
	"bufio"
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	renderer "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/report"
)

// parseMarkdown parses GitHub Flavored Markdown: CommonMark with tables, strikethrough, task lists and links
// found without being asked for.
func parseMarkdown(source string) ast.Node {
	return goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader([]byte(source)))
}

// outline is what a parsed report consists of.
type outline struct {
	headings, items int
	tables          []string // "columns x rows, header included"
	texts           []string // of every paragraph, cell, item and heading, as a reader sees it
	code            []string // of every code span
	blocks          []string // raw HTML, in order
	links           []string // the addresses of links
	fences          int      // blocks of code
}

// readOutline walks a parsed report. A node that no report may have is an error: everything in testdata that
// looks like one comes from data.
func readOutline(t testing.TB, name, source string) outline {
	t.Helper()
	var o outline
	err := ast.Walk(parseMarkdown(source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Document, *ast.List, *ast.Emphasis, *east.TableHeader, *east.TableRow:
		case *ast.Paragraph, *ast.TextBlock, *east.TableCell:
			o.texts = append(o.texts, "")
		case *ast.Heading:
			o.headings++
			o.texts = append(o.texts, "")
		case *ast.ListItem:
			o.items++
		case *east.Table:
			columns, rows := 0, 0
			for row := n.FirstChild(); row != nil; row = row.NextSibling() {
				rows++
				if columns != 0 && row.ChildCount() != columns {
					t.Errorf("%s: a table has rows of %d and %d cells", name, columns, row.ChildCount())
				}
				columns = row.ChildCount()
			}
			o.tables = append(o.tables, fmt.Sprintf("%dx%d", columns, rows))
		case *ast.CodeSpan:
			o.texts[len(o.texts)-1] += "\n" // it parts the text around it
			o.code = append(o.code, plainText(n, []byte(source)))
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			o.texts[len(o.texts)-1] += shown(n.Value([]byte(source)))
		case *ast.Link:
			o.links = append(o.links, string(n.Destination))
		case *ast.FencedCodeBlock:
			o.fences++
		case *ast.RawHTML:
			o.blocks = append(o.blocks, string(n.Segments.Value([]byte(source))))
		case *ast.HTMLBlock:
			o.blocks = append(o.blocks, strings.TrimSpace(string(n.Lines().Value([]byte(source)))))
		default:
			t.Errorf("%s: a %s in the Markdown: %q", name, n.Kind(), plainText(n, []byte(source)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// shown is what a reader sees of the source of a text: escapes and entities resolved.
func shown(source []byte) string {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	renderer.DefaultWriter.Write(w, source)
	_ = w.Flush() // to a buffer, which takes every byte
	return html.UnescapeString(b.String())
}

// plainText is a node's text as a reader sees it.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Text:
				b.Write(n.Value(source))
			case *ast.String:
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// ourHTML is the only HTML that a report has.
var ourHTML = regexp.MustCompile(`^(<details><summary>[A-Z][a-z ,]*( \([0-9,]+\))?</summary>|</details>|<sub>|</sub>)$`)

// What GitHub would make of a text after Markdown: mentions, references, commits, emoji. [^ ] includes the
// zero-width space, which must follow.
var (
	mention   = regexp.MustCompile(`@[0-9A-Za-z]`)
	issue     = regexp.MustCompile(`(?i)#[0-9]|\bGH-[0-9]`)
	sha       = regexp.MustCompile(`\b[0-9a-f]{7,40}\b`)
	shortcode = regexp.MustCompile(`:[0-9a-z_+-]+:`)
	formula   = regexp.MustCompile(`\$[^\x{200b}]`)
)

func checkOutline(t testing.TB, name string, o outline) {
	t.Helper()
	open := 0
	for _, block := range o.blocks {
		if !ourHTML.MatchString(block) {
			t.Errorf("%s: HTML from data: %q", name, block)
		}
		if strings.HasPrefix(block, "<details>") {
			open++
		}
		if block == "</details>" {
			open--
		}
		if open < 0 || open > 1 {
			t.Errorf("%s: folded sections are not closed one by one: %q", name, o.blocks)
		}
	}
	if open != 0 {
		t.Errorf("%s: a folded section is left open", name)
	}
	if len(o.links) > 0 || o.fences > 0 {
		t.Errorf("%s: %d blocks of code, and links to %q", name, o.fences, o.links)
	}
	for _, found := range []*regexp.Regexp{mention, issue, sha, shortcode, formula} {
		for _, s := range o.texts {
			for _, m := range found.FindAllString(s, -1) {
				if strings.Trim(m, "0123456789") == "" && found == sha {
					continue // digits of a number of ours
				}
				t.Errorf("%s: GitHub reads %q in %q", name, m, s)
			}
		}
	}
}

// expected counts the tables that a report's Markdown has on its first rung, in order, from the report.
func expected(r *report.Report) (tables []string, headings int) {
	headings = 1
	if len(r.Errors) > 0 {
		return nil, headings
	}
	for _, g := range r.Gates {
		if len(r.Gates) > 1 {
			headings++
		}
		if len(g.Rules) > 0 { // verdict, rule, measured, interval, must be, drawing; beside an earlier report also before
			columns := 6
			if r.Baseline != nil {
				columns = 7
			}
			tables = append(tables, fmt.Sprintf("%dx%d", columns, 1+len(g.Rules)))
		}
		if len(g.Rules)+len(g.Measures) == 0 && len(g.Data) > 0 {
			tables = append(tables, fmt.Sprintf("2x%d", 1+len(g.Data)))
		}
		for _, rule := range g.Rules {
			if n := min(len(rule.Cells), 100); n > 0 { // verdict, group, measured, interval, counted
				tables = append(tables, fmt.Sprintf("5x%d", 1+n))
			}
			if n := min(len(rule.Pairs), 50); n > 0 { // verdict, pair, gap or ratio, interval
				tables = append(tables, fmt.Sprintf("4x%d", 1+n))
			}
		}
		tables = append(tables, measureTables(g.Measures)...)
	}
	files := len(r.Inputs)
	if r.Policy != nil {
		files++
	}
	if files > 0 {
		tables = append(tables, fmt.Sprintf("4x%d", 1+files))
	}
	return tables, headings
}

// measureTables counts the tables of measures: one of measure, measured, interval and counted; where some are of groups, that
// one for those of everyone and one with a column more for each attribute, of at most 100 groups a rate, and last one of
// calibration errors.
func measureTables(measures []report.Measure) (tables []string) {
	var attributes []string
	of := map[string]map[string]int{} // by attribute and metric
	for _, m := range measures {
		a := m.Labels["attribute"]
		if of[a] == nil {
			attributes, of[a] = append(attributes, a), map[string]int{}
		}
		of[a][m.Metric]++
	}
	calibration := 1 // its header
	for _, n := range of {
		calibration += min(n[calibrationError], 100)
		delete(n, calibrationError)
	}
	if len(attributes) == 1 && attributes[0] == "" {
		return []string{fmt.Sprintf("4x%d", 1+len(measures))}
	}
	for _, a := range attributes {
		rows, columns := 1, 5
		for _, n := range of[a] {
			rows += min(n, 100)
		}
		if a == "" {
			columns = 4
		}
		if rows > 1 {
			tables = append(tables, fmt.Sprintf("%dx%d", columns, rows))
		}
	}
	if calibration > 1 {
		tables = append(tables, fmt.Sprintf("5x%d", calibration))
	}
	return tables
}

func TestMarkdownHasExactlyItsOwnMarkup(t *testing.T) {
	for name, r := range readReports(t) {
		source := write(t, "markdown", r, Options{})
		o := readOutline(t, name, source)
		checkOutline(t, name, o)
		tables, headings := expected(r)
		if fmt.Sprint(o.tables) != fmt.Sprint(tables) {
			t.Errorf("%s: tables %v, want %v", name, o.tables, tables)
		}
		if o.headings != headings {
			t.Errorf("%s: %d headings, want %d", name, o.headings, headings)
		}
		for line := range strings.Lines(source) {
			if c := runnerReads(line); c != "" {
				t.Errorf("%s: a line is the command %q to a runner: %q", name, c, line)
			}
		}
	}
}

// The oracle itself finds what it is there to find.
func TestMarkdownOracle(t *testing.T) {
	for _, bad := range []string{"a <b>c</b>", "<script>", "[a](b)", "https://e.example", "www.e.example", "![a](b)", "```\na\n```", "> a", "***", "    a", "@name", "#12", "gh-12", "0123abc", ":tada:", "$x$", "~~a~~", "- [ ] a", "<details><summary>x</summary>"} {
		probe := &probe{TB: t}
		checkOutline(probe, "oracle", readOutline(probe, "oracle", bad))
		if !probe.failed {
			t.Errorf("the oracle finds nothing in %q", bad)
		}
	}
}

// probe notes a failure instead of reporting it.
type probe struct {
	testing.TB
	failed bool
}

func (p *probe) Errorf(string, ...any) { p.failed = true }
func (p *probe) Helper()               {}

// Whatever the limit, the bytes hold to it, every table and fold is whole, and no rule that failed is shown
// after one that passed. The headline is the same on every rung.
func TestMarkdownBudget(t *testing.T) {
	reports := readReports(t)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"many", "hostile", "mixed", "many_errors"}).Draw(t, "report")
		r := reports[name]
		most := rapid.IntRange(300, 100_000).Draw(t, "bytes")
		var b strings.Builder
		if err := Markdown(&b, r, Options{MaxBytes: most}); err != nil {
			t.Fatal(err)
		}
		source := b.String()
		if len(source) > most {
			t.Fatalf("%s: %d bytes, at most %d were allowed", name, len(source), most)
		}
		if !strings.HasSuffix(source, "\n") || !strings.HasPrefix(source, headline(r)[:12]) {
			t.Fatalf("%s: %q … %q", name, source[:min(60, len(source))], source[max(0, len(source)-20):])
		}
		p := &probe{}
		checkOutline(p, name, readOutline(p, name, source))
		if p.failed {
			t.Fatalf("%s in %d bytes: broken Markdown\n%s", name, most, source)
		}
	})
}

// Rows shown and rules counted as not shown make up all rules.
func TestMarkdownCountsWhatItLeavesOut(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and nothing in it runs side by side")
	}
	r := manyRules(300) // 100 of them fail
	for _, test := range []struct {
		most int
		want []string
	}{
		{1_000_000, []string{"Every measure (300)"}},
		{60_000, []string{"rule-297", "300 measures not shown here."}}, // without the measures it is 51 kB
		{30_000, []string{"rule-297", "200 more rules not shown here. Of all 300 rules 200 passed."}},
		{10_000, []string{"rule-102", "265 more rules not shown here. Of all 300 rules 200 passed.", leftOut}},
		{2_000, []string{"rule-012", "295 more rules not shown here. Of all 300 rules 200 passed.", leftOut}},
		{300, []string{"## ❌ FAIL: many does not meet policy.yaml", leftOut}},
		{60, []string{"## ❌ FAIL: many does not meet policy.yaml"}},
		{20, []string{"## ❌ FAIL\n"}},
	} {
		text := write(t, "markdown", r, Options{MaxBytes: test.most})
		if len(text) > test.most {
			t.Errorf("%d bytes where %d were allowed", len(text), test.most)
		}
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("in %d bytes %q is missing:\n%s", test.most, want, text[:min(len(text), 2000)])
			}
		}
	}
	var b strings.Builder
	if err := Markdown(&b, r, Options{MaxBytes: 5}); err == nil || b.Len() > 0 {
		t.Errorf("five bytes are accepted: %q, %v", b.String(), err)
	}
}
