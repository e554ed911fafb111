package summary

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
)

// The longest name, sentence and path shown to a person, in characters before escaping. The JSON report
// has them whole.
const (
	nameMax     = 120
	sentenceMax = 1000
	pathMax     = 80
)

// zeroWidthSpace breaks what GitHub would make a link or a mention of, without changing what is seen.
const zeroWidthSpace = "\u200b"

// runnerCommand finds the commands that CI runners execute anywhere in a line of log: "##[error]" of the
// GitHub runner and Azure Pipelines, "##vso[…]" of Azure Pipelines, "##teamcity[…]" of TeamCity. Marks and
// invisible characters between the signs count as nothing: the runners compare texts by the rules of a
// language, which skip them.
var runnerCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(#[\p{M}\p{Cf}]*#[0-9A-Za-z\p{M}\p{Cf}]*)\[`) })

// startsCommand reports whether a line that starts so is a command to a runner, as "::error::" is, also behind spaces and what cannot
// be seen.
func startsCommand(start string) bool {
	signs := 0
	for _, r := range start {
		switch {
		case r == ' ' && signs == 0:
		case r == ':':
			if signs++; signs == 2 {
				return true
			}
		case !unicode.In(r, unicode.M, unicode.Cf):
			return false
		}
	}
	return false
}

// EscapeTerminal makes a text from data safe to print on a terminal and in a CI log: on one line, every
// character that could move the cursor, hide or reorder text shown as a Go escape, and nothing that a
// runner would execute wherever it stands in a line. A line must further not start with "::"; wrap sees to
// that, after it has chosen the lines. Without utf8 everything but ASCII is spelled out or escaped.
func EscapeTerminal(s string, utf8 bool) string {
	s = tameMarks(diag.Printable(oneLine(s)))
	if utf8 {
		s = keepOrder(s)
	} else {
		s = toASCII(s)
	}
	if !strings.Contains(s, "[") { // hardly any text has one, and a run that meets none does not need the expression
		return s
	}
	return runnerCommand().ReplaceAllString(s, `$1\[`)
}

var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ", "\u2028", " ", "\u2029", " ")

// oneLine replaces line breaks and tabs by spaces.
func oneLine(s string) string { return lineBreaks.Replace(s) }

// marksMax is how many combining marks a character keeps; living scripts need no more than three or four.
const marksMax = 4

// tameMarks escapes combining marks beyond marksMax in a row, with which a name could draw over other lines.
func tameMarks(s string) string {
	var b strings.Builder
	run := 0
	for _, r := range s {
		if unicode.In(r, unicode.Mn, unicode.Me) {
			run++
		} else {
			run = 0
		}
		if run > marksMax {
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// leftToRight is an invisible letter of a script written from left to right.
const leftToRight = "\u200e"

// keepOrder puts an invisible left-to-right mark where Hebrew, Arabic or another script written from right
// to left meets what is not. Without it a terminal or browser that reorders such text also reorders the
// numbers after a name: "0.700 … 0.900" would be seen as "0.900 … 0.700".
func keepOrder(s string) string {
	if strings.IndexFunc(s, rightToLeft) < 0 {
		return s
	}
	runes := []rune(s)
	toLeft := make([]bool, len(runes)+1) // whether the next letter or digit from here is written from right to left
	for i := len(runes) - 1; i >= 0; i-- {
		toLeft[i] = toLeft[i+1]
		if unicode.In(runes[i], unicode.L, unicode.N) {
			toLeft[i] = rightToLeft(runes[i])
		}
	}
	var b strings.Builder
	inside := false // the last letter or digit was written from right to left
	for i, r := range runes {
		if i == 0 && toLeft[0] {
			b.WriteString(leftToRight)
		}
		b.WriteRune(r)
		if unicode.In(r, unicode.L, unicode.N) {
			inside = rightToLeft(r)
		}
		marked := i+1 < len(runes) && unicode.In(runes[i+1], unicode.M) // a mark stays with its letter
		if inside && !toLeft[i+1] && !marked {
			b.WriteString(leftToRight)
			inside = false
		}
	}
	return b.String()
}

// rightToLeft reports whether r is a letter of a script written from right to left: Hebrew, Arabic, Syriac,
// Thaana, NKo and their neighbours up to U+08FF, the presentation forms, and the ancient and newer scripts
// from U+10800 to U+10FFF and U+1E800 to U+1EFFF.
func rightToLeft(r rune) bool {
	return unicode.IsLetter(r) && (r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfeff || r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff)
}

// inASCII spells the signs that our own sentences use.
var inASCII = strings.NewReplacer("…", "...", "≥", ">=", "≤", "<=", "·", "-", "×", "x", "→", "->", "–", "-", "—", "-", "−", "-", "’", "'", "‘", "'", "“", `"`, "”", `"`)

// toASCII spells or escapes everything that is not ASCII.
func toASCII(s string) string {
	s = inASCII.Replace(s)
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

// What GitHub links without being asked: GH-12 and advisories, commits, addresses without a scheme; and
// what opens a numbered list.
var (
	reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b(gh|ghsa|cve)-`) })
	commit    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:\b[0-9]+\.)?\b[0-9A-Fa-f]{7,}\b`) })
	www       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(www)(\.)`) })
	listMark  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d+)([.)])`) })
)

// EscapeMarkdown makes a text from data safe inside a paragraph or a table cell of GitHub Flavored Markdown:
// it comes out as the text it is, on one line, cut at limit characters, and never as markup, HTML, a link,
// an image, a mention, a reference, an emoji, a formula, a heading or a list. A backslash does not keep
// GitHub from making mentions and references; a zero-width space does.
func EscapeMarkdown(s string, limit int) string {
	s = keepOrder(strings.TrimSpace(tameMarks(diag.Printable(oneLine(clip(s, limit))))))
	s = reference().ReplaceAllString(s, "$1"+zeroWidthSpace+"-")
	s = www().ReplaceAllString(s, "$1"+zeroWidthSpace+"$2")
	s = commit().ReplaceAllStringFunc(s, func(hex string) string {
		if whole, decimals, found := strings.Cut(hex, "."); found { // which may be a number, and no commit
			if strings.Trim(decimals, "0123456789") == "" {
				return hex
			}
			return whole + "." + strings.Join(chunks(decimals, 6), zeroWidthSpace)
		}
		return strings.Join(chunks(hex, 6), zeroWidthSpace)
	})
	first := -1 // the colon that would make a line of log a command
	if startsCommand(s) {
		first = strings.IndexByte(s, ':')
	}
	var b strings.Builder
	for i, r := range s {
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		word := unicode.IsLetter(next) || unicode.IsDigit(next)
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case i == first:
			b.WriteString(`\:` + zeroWidthSpace)
		case r == '@', r == ':' && !unicode.IsSpace(next) && next != utf8.RuneError: // mention; emoji or address
			b.WriteRune(r)
			b.WriteString(zeroWidthSpace)
		case r == '$', r == '#' && word: // formula; issue
			b.WriteByte('\\')
			b.WriteRune(r)
			b.WriteString(zeroWidthSpace)
		case strings.ContainsRune("\\|`*_[]!~#", r), i == 0 && strings.ContainsRune("-+=", r): // the last: list, rule, heading
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return listMark().ReplaceAllString(b.String(), `$1\$2`)
}

// ownCode finds, in an escaped text, what was a code span of our own sentences: "`looks: repeated`". It takes letters, digits and
// ": _-" alone, which mean nothing to anyone in a code span, so that one from data is as harmless.
var ownCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\\\\`((?:[0-9A-Za-z:-]|\\\\_)(?:[0-9A-Za-z :-]|\\\\_|" + zeroWidthSpace + ")*)\\\\`")
})

// EscapeProse is EscapeMarkdown for a sentence of ours, in which texts from data may stand: what it sets between backticks
// becomes code, where that is letters, digits, colons, spaces, _ and - alone.
func EscapeProse(s string, limit int) string {
	escaped := EscapeMarkdown(s, limit)
	var b strings.Builder
	done := 0
	for _, at := range ownCode().FindAllStringSubmatchIndex(escaped, -1) {
		// Beside another backtick it would be part of a longer run, which opens or closes another span.
		if strings.HasSuffix(escaped[:at[0]], "`") || strings.HasPrefix(escaped[at[1]:], "\\`") || strings.HasSuffix(escaped[:at[3]], " ") {
			continue
		}
		code := strings.NewReplacer(`\`, "", zeroWidthSpace, "").Replace(escaped[at[2]:at[3]])
		b.WriteString(escaped[done:at[0]] + "`" + code + "`")
		done = at[1]
	}
	return b.String() + escaped[done:]
}

// chunks cuts an ASCII text into pieces of at most size bytes.
func chunks(s string, size int) []string {
	var pieces []string
	for len(s) > size {
		pieces, s = append(pieces, s[:size]), s[size:]
	}
	return append(pieces, s)
}

// CodeSpan shows a text from data as a code span of GitHub Flavored Markdown, in a paragraph or a table
// cell, cut at limit characters. A backtick in it gets a longer fence. It is ordinary escaped text where it
// holds a pipe or a backslash, which renderers treat differently inside a table, or what a runner would
// execute in a log, or opens an HTML comment to who looks for one in the source: they cannot be escaped in a code span.
func CodeSpan(s string, limit int) string {
	text := keepOrder(strings.TrimSpace(tameMarks(diag.Printable(oneLine(clip(s, limit))))))
	if text == "" {
		return `""`
	}
	if strings.ContainsAny(text, `|\`) || strings.Contains(text, "<!--") || runnerCommand().MatchString(text) {
		return EscapeMarkdown(s, limit)
	}
	fence, run := 1, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		fence = max(fence, run+1)
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	ticks := strings.Repeat("`", fence)
	return ticks + text + ticks
}

// inHTML spells what has a meaning in HTML, in a text or between quotes, and the sign with which commands to CI runners begin: a
// page may be printed to a log.
var inHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "#", "&#35;")

// EscapeHTML makes a text from data safe inside an element of an HTML page, and inside a quoted attribute that holds text: it comes
// out as the text it is, on one line, cut at limit characters, with what is invisible or turns the direction of writing shown as a
// Go escape. It makes nothing safe inside a script, a style, an address or an unquoted attribute.
func EscapeHTML(s string, limit int) string {
	return inHTML.Replace(keepOrder(strings.TrimSpace(tameMarks(diag.Printable(oneLine(clip(s, limit)))))))
}

// codeInHTML finds in an escaped text what ownCode finds in Markdown.
var codeInHTML = regexp.MustCompile("`([0-9A-Za-z:_-](?:[0-9A-Za-z :_-]*[0-9A-Za-z:_-])?)`")

// EscapeHTMLProse is EscapeHTML for a sentence of ours, in which texts from data may stand: what it sets between backticks becomes
// code, where that is letters, digits, colons, spaces, _ and - alone, which mean nothing there.
func EscapeHTMLProse(s string, limit int) string {
	escaped := EscapeHTML(s, limit)
	var b strings.Builder
	done := 0
	for _, at := range codeInHTML.FindAllStringSubmatchIndex(escaped, -1) {
		if strings.HasSuffix(escaped[:at[0]], "`") || strings.HasPrefix(escaped[at[1]:], "`") { // of a longer run, which is none of ours
			continue
		}
		b.WriteString(escaped[done:at[0]] + "<code>" + escaped[at[2]:at[3]] + "</code>")
		done = at[1]
	}
	return b.String() + escaped[done:]
}

// linkMax is the longest address that becomes a link, in bytes.
const linkMax = 2000

// link shows Markdown that is escaped already as a link to an address, and alone where that is no http or https address of a
// host, has a user's name in it, or is too long. No character of the address can end the link or the cell it stands in.
func link(text, address string) string {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || len(address) > linkMax {
		return text
	}
	var b strings.Builder
	for i := range len(address) {
		c := address[i]
		switch {
		case c == '&': // a character reference would be read
			b.WriteString("&amp;")
		case c == '%' && i+2 < len(address) && isHex(address[i+1]) && isHex(address[i+2]):
			b.WriteByte(c)
		case c > ' ' && c < 0x7f && !strings.ContainsRune(`%()[]<>"'\`+"`"+`|^{}$*_~!`, rune(c)):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return "[" + text + "](" + b.String() + ")"
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// plainName shows a name from data as one line in which nothing hides, and nothing is a command to a CI runner; for a machine to
// compare and a person to read.
func plainName(s string) string {
	return runnerCommand().ReplaceAllString(tameMarks(diag.Printable(oneLine(s))), `$1\[`)
}

// plainSentence is plainName for a sentence, in whose order of characters numbers must not be seen the other way round.
func plainSentence(s string) string { return keepOrder(plainName(s)) }

var xmlSigns = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// EscapeXML makes a text from data safe in an element or an attribute of XML 1.0, on one line: what that cannot hold in any form,
// such as U+0000 or half a character, and what would hide, comes out as a Go escape. With "<" and ">" written as entities no text can
// begin markup or end a section ("]]>").
func EscapeXML(s string) string { return xmlSigns.Replace(plainSentence(s)) }

// EscapeMessage makes a text from data safe as a message of SARIF, which knows placeholders ("{0}") and links ("[text](address)")
// in what it calls plain text: braces are doubled, as its section 3.11.5 asks for, and a link falls apart.
func EscapeMessage(s string) string {
	return strings.NewReplacer("{", "{{", "}", "}}", "](", "]"+zeroWidthSpace+"(").Replace(plainSentence(s))
}

var labelSigns = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// EscapeLabel makes a text from data safe as the value of a label in the text formats of OpenMetrics and Prometheus, between its
// quotes.
func EscapeLabel(s string) string { return labelSigns.Replace(plainName(s)) }

// EscapeDotenv makes of a name from data a word that is safe as the value of a variable in a dotenv file, and wherever a script puts
// that: every character but the letters and digits of ASCII and ". _ -" becomes "_", and so does a "-" that it begins with, since
// that would begin an option. Two names can become the same word.
func EscapeDotenv(s string) string {
	word := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, s)
	if strings.HasPrefix(word, "-") {
		word = "_" + word[1:]
	}
	return word
}

// addressOf writes a path as a relative reference of RFC 3986: what has a meaning in one, and what is not ASCII, in percents.
func addressOf(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(url.PathEscape(part), ":", "%3A") // a colon would end a scheme
	}
	return strings.Join(parts, "/")
}
