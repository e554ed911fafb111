package summary

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
)

// hostile are texts that mean something to a terminal, a runner, Markdown, HTML or GitHub.
var hostile = []string{
	"", " ", "plain", "female × over_60", "a|b", "`", "``", "a`b", "`a`", "\\", `\|`, `a\`, `\*a*`, `\[a](b)`, `\\`, "<b>", "</details>", "&lt;", "&amp;amp;",
	"*a*", "_a_", "__a__", "~~a~~", "[a](b)", "![a](b)", "[^1]", "[ ] a", "# a", "#1", "##[error]x", "##\\[error]x", "##vso[a]b", "###[a]", "##teamcity[a]", "##VSO[a]",
	"::error::x", " ::error::x", "a ::error::x", ":::", "- a", "+ a", "1. a", "1) a", "12345678901. a", "= a", "---", "===", "> a", "    a", "\ta",
	"@a", "a@b.example", "@org/team", "GH-1", "gh-12", "x#1", "o/r#1", "deadbeef", "0123456789abcdef0123456789abcdef01234567", "http://a.example", "https://a.example", "HTTPS://A.example",
	"ftp://a.example", "www.a.example", "WWW.a.example", "mailto:a@b.example", "xmpp:a@b.example", ":tada:", "::", "$x$", "$$x$$", "$`x`$", "GHSA-aaaa-bbbb-cccc",
	"a\nb", "a\r\n# b", "a\n\nb", "a\n| - |", "a  \nb", "\x00", "\x1b[31m", "\x1b]8;;http://a.example\x07a\x1b]8;;\x07", "\u202ea", "\u200b", "\ufeff", "\u2028", "\u0085", "\xff", "a\xc3",
	"e\u0301", "e" + strings.Repeat("\u0301", 50), "漢字", "👩🏽", "🇩🇪", "\u3000", "זה-עברית", "ثلاث حالات 3 of 4", "::א", "א::error::", "#\ufe0f#[error]x", "##\ufe0fvso[a]", ":\ufe0f:error::x", "א\u05b8\u05b8 b", "b א 1", "\U0001f600", strings.Repeat("x", 5000), strings.Repeat("漢", 300), strings.Repeat("`", 200),
	"<!-- a -->", "-->", "/approve", "/lgtm cancel", "fixes #1", "![x](javascript:a)", "<img src=x onerror=a>", "<svg/onload=a>", "<?a?>", "<![CDATA[a]]>", "] [b](c)", "](https://e.example)", "<details><summary>a</summary>", "```mermaid", "~~~", "|---|", ":--", ":-:", "a:-", "<https://a.example>", "<a@b.example>", "&#64;a", "&#x40;a",
}

func FuzzEscapeTerminal(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, utf bool) {
		got := EscapeTerminal(s, utf)
		plain := strings.ReplaceAll(got, leftToRight, "")
		if !utf8.ValidString(got) || diag.Printable(plain) != plain {
			t.Errorf("EscapeTerminal(%q) = %q has characters that may not be shown", s, got)
		}
		if !utf && strings.IndexFunc(got, func(r rune) bool { return r > 0x7e }) >= 0 {
			t.Errorf("EscapeTerminal(%q) = %q is not ASCII", s, got)
		}
		if EscapeTerminal(plain, utf) != got && !strings.Contains(got, `\`) {
			t.Errorf("EscapeTerminal(%q) = %q is escaped again", s, got)
		}
		// On its lines, at any width, no runner finds a command.
		for _, width := range []int{3, 16, 78} {
			for _, line := range wrap(got, width) {
				if c := runnerReads(line); c != "" {
					t.Errorf("EscapeTerminal(%q), wrapped at %d, has the line %q, a command %q", s, width, line, c)
				}
			}
		}
	})
}

// seen is the text that a reader must see of s in Markdown, spaces at its ends aside.
func seen(s string, limit int) string {
	return strings.TrimSpace(tameMarks(diag.Printable(oneLine(clip(s, limit)))))
}

// inContexts puts an escaped text where a report puts texts, and returns the outline of each and how often
// the text stands there.
func inContexts(t testing.TB, name, escaped string) map[string]outline {
	t.Helper()
	return map[string]outline{
		"a paragraph":        readOutline(t, name, "x\n\n"+escaped+"\n\nx\n"),
		"inside a paragraph": readOutline(t, name, "Measured "+escaped+" of 3.\n"),
		"a heading":          readOutline(t, name, "## FAIL: "+escaped+"\n"),
		"a list item":        readOutline(t, name, "- A `x`: "+escaped+"\n- b\n"),
		"a cell":             readOutline(t, name, "| a | b |\n| --- | --- |\n| "+escaped+" | 1 |\n| 2 | "+escaped+" |\n"),
		"a fold":             readOutline(t, name, "<details><summary>Every measure</summary>\n\n| a | b |\n| --- | --- |\n| "+escaped+" | 1 |\n\n</details>\n"),
	}
}

func FuzzEscapeMarkdown(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		const limit = 300
		escaped := EscapeMarkdown(s, limit)
		want := seen(s, limit)
		for context, o := range inContexts(t, "EscapeMarkdown", escaped) {
			checkOutline(t, context, o)
			got := strings.ReplaceAll(strings.Join(o.texts, ""), zeroWidthSpace, "")
			got = strings.ReplaceAll(got, leftToRight, "")
			if !strings.Contains(got, want) {
				t.Errorf("EscapeMarkdown(%q) = %q is read in %s as %q, want %q", s, escaped, context, got, want)
			}
			cells := map[string]string{"a cell": "[2x3]", "a fold": "[2x2]"}[context]
			if cells != "" && len(o.tables) != 1 || cells != "" && "["+o.tables[0]+"]" != cells {
				t.Errorf("EscapeMarkdown(%q) = %q makes the tables %v in %s", s, escaped, o.tables, context)
			}
		}
	})
}

// EscapeProse differs from EscapeMarkdown in its code spans alone: a reader sees the same text but for their backticks, and no code
// but letters, digits and ": _-".
func FuzzEscapeProse(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
		f.Add("a `looks: repeated` b " + s + " `per: person`")
		f.Add("`" + s + "`")
	}
	for _, s := range []string{"`a``b`", "``a`", "`a `b`", "\\`a`", "`a\\`", "`a_b`c`d-e`", "`::error::x`", "`deadbeef1` GH-12 `@a`", "` a`", "`a|b`", "$`x`$", "`a", "`" + strings.Repeat("a", 400) + "`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		const limit = 300
		escaped := EscapeProse(s, limit)
		want := strings.ReplaceAll(seen(s, limit), "`", "")
		for context, o := range inContexts(t, "EscapeProse", escaped) {
			checkOutline(t, context, o)
			// The text and the code of a span stand apart in an outline: what they hold together is what must not change.
			letters := func(s string) string {
				runes := []rune(strings.NewReplacer(zeroWidthSpace, "", leftToRight, "", "`", "", "\n", "").Replace(s))
				slices.Sort(runes)
				return string(runes)
			}
			var texts, code []string
			for _, text := range o.texts {
				if strings.ContainsAny(text, "\n") || !strings.Contains("x A :b a 1 2 Every measure", text) {
					texts = append(texts, text)
				}
			}
			for _, c := range o.code {
				if context == "a list item" && c == "x" {
					continue
				}
				if strings.Trim(c, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ: _-") != "" {
					t.Errorf("EscapeProse(%q) = %q makes the code %q in %s", s, escaped, c, context)
				}
				code = append(code, c)
			}
			if context == "a heading" {
				if got := letters(strings.Join(append(texts, code...), "")); got != letters("FAIL: "+want) && got != letters("FAIL:"+want) {
					t.Errorf("EscapeProse(%q) = %q is read as %q and %q", s, escaped, o.texts, o.code)
				}
			}
			cells := map[string]string{"a cell": "[2x3]", "a fold": "[2x2]"}[context]
			if cells != "" && (len(o.tables) != 1 || "["+o.tables[0]+"]" != cells) {
				t.Errorf("EscapeProse(%q) = %q makes the tables %v in %s", s, escaped, o.tables, context)
			}
		}
	})
}

func TestEscapeProse(t *testing.T) {
	for s, want := range map[string]string{
		"in a new sample (or `looks: repeated`, set before)": "in a new sample (or `looks: repeated`, set before)",
		"`mean_method`":  "`mean_method`",
		"`per: person`.": "`per: person`.",
		"`--draw`":       "`--draw`",
		"`0123abcd`":     "`0123abcd`", // GitHub makes no commit of code
		"`a|b`":          "\\`a\\|b\\`",
		"`a``b`":         "\\`a\\`\\`b\\`", // would be one span with a run of two in it
		"`a":             "\\`a",
		"`a `":           "\\`a \\`",
		"a_b `c_d` <b>":  "a\\_b `c_d` &lt;b&gt;",
	} {
		if got := EscapeProse(s, 300); got != want {
			t.Errorf("EscapeProse(%q) = %q, want %q", s, got, want)
		}
	}
}

func FuzzCodeSpan(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		const limit = 300
		span := CodeSpan(s, limit)
		want := seen(s, limit)
		for context, o := range inContexts(t, "CodeSpan", span) {
			checkOutline(t, context, o)
			got := strings.ReplaceAll(strings.Join(append(o.texts, o.code...), ""), zeroWidthSpace, "")
			got = strings.ReplaceAll(got, leftToRight, "")
			if want == "" {
				want = `""`
			}
			if !strings.Contains(got, want) {
				t.Errorf("CodeSpan(%q) = %q is read in %s as %q, want %q", s, span, context, got, want)
			}
		}
		for line := range strings.Lines(span) {
			if c := runnerReads(line); c != "" && strings.HasPrefix(c, "##") {
				t.Errorf("CodeSpan(%q) = %q is the command %q", s, span, c)
			}
		}
	})
}

// FuzzReport puts one text from data in every place of a report that holds text.
func FuzzReport(f *testing.F) {
	names := []string{"baseline", "check", "errors"}
	for _, s := range hostile {
		for i := range names {
			f.Add(s, byte(i))
		}
	}
	reports := readReports(f)
	f.Fuzz(func(t *testing.T, s string, which byte) {
		name := names[int(which)%len(names)]
		r := replaceTexts(reports[name], s)
		checkTerminal(t, name, write(t, "terminal", r, Options{Unicode: true}), 80)
		checkTerminal(t, name, write(t, "terminal", r, Options{Width: 40}), 40)
		source := write(t, "markdown", r, Options{})
		o := readOutline(t, name, source)
		checkOutline(t, name, o)
		tables, headings := expected(r)
		if strings.Join(o.tables, " ") != strings.Join(tables, " ") || o.headings != headings {
			t.Errorf("%s: tables %v and %d headings, want %v and %d", name, o.tables, o.headings, tables, headings)
		}
		readPage(t, name, write(t, "html", r, Options{}))
		for _, format := range []string{"markdown", "json"} {
			for line := range strings.Lines(write(t, format, r, Options{})) {
				if c := runnerReads(line); c != "" {
					t.Errorf("%s: a line of %s is the command %q: %q", name, format, c, line)
				}
			}
		}
	})
}

func TestClip(t *testing.T) {
	for _, test := range []struct {
		s     string
		limit int
		want  string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"漢字漢字", 3, "漢字…"}, {"abcd", 1, "…"},
	} {
		if got := clip(test.s, test.limit); got != test.want {
			t.Errorf("clip(%q, %d) = %q, want %q", test.s, test.limit, got, test.want)
		}
	}
	if got := clipPath("a/very/long/decisions.csv", 14); got != "…decisions.csv" {
		t.Errorf("clipPath cuts to %q", got)
	}
}

// Wrapping loses nothing but spaces (and adds one backslash before a leading "::"), keeps to its width where
// a character fits, and starts no line with "::".
func FuzzWrap(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		width = 3 + (width%100+100)%100
		s = EscapeTerminal(s, true)
		lines := wrap(s, width)
		if len(lines) == 0 {
			t.Fatal("no line")
		}
		for _, line := range lines {
			if cells(line) > width {
				t.Errorf("wrap(%q, %d) has the line %q of %d cells", s, width, line, cells(line))
			}
			if runnerReads(line) != "" {
				t.Errorf("wrap(%q, %d) has the line %q", s, width, line)
			}
		}
		got := strings.Join(strings.Fields(strings.Join(lines, "")), "")
		want := strings.Join(strings.Fields(s), "")
		if strings.ReplaceAll(got, `\`, "") != strings.ReplaceAll(want, `\`, "") {
			t.Errorf("wrap(%q, %d) loses text: %q", s, width, lines)
		}
	})
}

// Hebrew and Arabic keep their own order; what stands after them keeps ours. The marks follow from the rules
// of keepOrder: in front where the text starts so, and behind the last letter before other text.
func TestKeepOrder(t *testing.T) {
	const l = leftToRight
	for s, want := range map[string]string{
		"":              "",
		"plain 0.7":     "plain 0.7",
		"אב":            l + "אב" + l,
		"אב גד":         l + "אב גד" + l,
		"אב-גד 3 of 4":  l + "אב-גד" + l + " 3 of 4",
		"a אב: 0.7":     "a אב" + l + ": 0.7",
		"a אב b גד c":   "a אב" + l + " b גד" + l + " c",
		"(אב), 1":       l + "(אב" + l + "), 1",
		"א\u05b8 1":     l + "א\u05b8" + l + " 1",
		"ثلاث حالات. 3": l + "ثلاث حالات" + l + ". 3",
	} {
		if got := keepOrder(s); got != want {
			t.Errorf("keepOrder(%q) = %+q, want %+q", s, got, want)
		}
	}
}

// The decimals of a number are no commit and stay as they are; seven digits or more by themselves, and letters behind a point, may be one.
func TestDecimalsStayWhole(t *testing.T) {
	for text, want := range map[string]string{
		"the rate is 0.0123456789": "the rate is 0.0123456789",
		"at 12.34567890":           "at 12.34567890",
		"1234567890":               "123456" + zeroWidthSpace + "7890",
		"at 0.deadbeef":            "at 0.deadbe" + zeroWidthSpace + "ef",
		"v1.deadbeef":              "v1.deadbe" + zeroWidthSpace + "ef",
	} {
		if got := EscapeMarkdown(text, 100); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
