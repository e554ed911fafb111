package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/oloproof/oloproof/engine/report"
)

// hostileTexts are what a name can do to a terminal, a log, a table or a page.
var hostileTexts = []string{
	"a|b|c", "line\n::error file=x::boom", "\r\n::stop-commands::t", "::warning::w", "  ::warning::w", "##[error]boom", "##vso[task.complete result=Succeeded;]done",
	"##teamcity[buildStop]", "\x1b[2J\x1b]8;;http://x\x07link", "\u202egpj.exe", "zero\u200bwidth", "tab\tbed", "nul\x00byte",
	"<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "</details>", "![i](http://x/y.png)", "[x](javascript:alert(1))", "@everyone", "#1", "`code`", "```\n# heading",
	"| --- | --- |", "\\|", "=cmd()", "$(reboot)", "%0A::error::", "é\u0301\u0301\u0301\u0301\u0301\u0301", strings.Repeat("x", 3000), `"quoted"`,
}

// runnerCommands are what a CI runner executes wherever it stands in a line.
var runnerCommands = regexp.MustCompile(`##[0-9A-Za-z]*\[`)

// checkTame checks that a text cannot do more than be read. A JSON document is for programs: it may hold what changes
// the direction of writing.
func checkTame(t *testing.T, what, text string, isJSON bool) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "::") || runnerCommands.MatchString(line) {
			t.Errorf("%s: a runner would execute the line %q", what, line)
		}
		for _, r := range line {
			if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) && !isJSON {
				t.Errorf("%s: the line %q has the character %U", what, line, r)
				break
			}
		}
	}
}

// checkMarkdown checks that no name made markup: HTML, images and links out of the report, mentions, and tables whose
// rows have another number of cells than their head.
func checkMarkdown(t *testing.T, what, text string) {
	t.Helper()
	ours := regexp.MustCompile(`</?(details|summary|sub|br)>`)
	markup := regexp.MustCompile(`(^|[^\\])\]\((http|javascript)|@everyone`) // a link or an image, a mention
	text = withoutCode(text)
	cells := -1
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.Contains(ours.ReplaceAllString(line, ""), "<") {
			t.Errorf("%s: HTML in %q", what, line)
		}
		if found := markup.FindString(line); found != "" {
			t.Errorf("%s: %q in %q", what, found, line)
		}
		if strings.HasPrefix(line, "# ") {
			t.Errorf("%s: the heading %q", what, line)
		}
		if !strings.HasPrefix(line, "|") {
			cells = -1
			continue
		}
		n := 0
		for i := range len(line) {
			if line[i] == '|' && (i == 0 || line[i-1] != '\\') {
				n++
			}
		}
		if cells >= 0 && n != cells {
			t.Errorf("%s: a row of %d cells in a table of %d: %q", what, n-1, cells-1, line)
		}
		cells = n
	}
}

// withoutCode empties the code spans, in which nothing is markup: a run of backticks up to the next as long, within a
// line.
func withoutCode(text string) string {
	ticks := regexp.MustCompile("`+")
	var b strings.Builder
	for line := range strings.Lines(text) {
		for {
			open := ticks.FindStringIndex(line)
			if open == nil {
				break
			}
			end := -1
			for _, next := range ticks.FindAllStringIndex(line[open[1]:], -1) {
				if next[1]-next[0] == open[1]-open[0] {
					end = open[1] + next[1]
					break
				}
			}
			escaped := open[0] > 0 && line[open[0]-1] == '\\'
			if escaped || end < 0 {
				b.WriteString(line[:open[1]])
				line = line[open[1]:]
				continue
			}
			b.WriteString(line[:open[0]])
			line = line[end:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// csvText writes records as CSV.
func csvText(t *testing.T, records ...[]string) string {
	t.Helper()
	var b strings.Builder
	w := csv.NewWriter(&b)
	if err := w.WriteAll(records); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHostileNames puts hostile texts wherever a text comes from outside, and looks at everything that is printed.
func TestHostileNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("file names here hold characters that Windows does not allow")
	}
	columns := []string{"case", "reviewer", "condition", "decision", "reference", "ai_output", "kind"}
	for i, text := range hostileTexts {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Chdir(t.TempDir())
			inName := strings.NewReplacer("/", "_", "\x00", "_").Replace(text)
			inName = inName[:min(len(inName), 100)]
			good, bad, policy := "d"+inName+".csv", "b"+inName+".csv", "p"+inName+".yaml"
			writeFile(t, good, csvText(t, columns,
				[]string{text, text, "with", text, text, text, text},
				[]string{text + "2", text + "2", "with", "no", text, text + "3", text},
				[]string{text + "2", text + "3", "without", "", text, "", text},
				[]string{strings.ToUpper(text) + "2", text + "4", "without", strings.ToUpper(text), text, "", text}))
			writeFile(t, bad, csvText(t, columns,
				[]string{"c", "r", "::x" + text, "a", "a", "a", "k"},
				[]string{text, "r", "with", "a", "a", "a", "k"},
				[]string{text, "r", "with", "a", text, "a", "k"},
				[]string{text, "r", "with", "a", "a", "a", "k"}))
			quoted, err := json.Marshal(text) // a JSON string is a YAML scalar in double quotes
			if err != nil {
				t.Fatal(err)
			}
			name := string(quoted)
			writeFile(t, policy, `
abstain: [`+name+`]
rules:
  - {id: `+name+`, metric: agreement, minimum: 0.1, where: {kind: `+name+`}, waive: {until: 2099-01-01, owner: `+name+`, reason: `+name+`}}
  - {id: plain, metric: accuracy_with, maximum: 0.9, reviewed: {by: `+name+`, on: 2026-01-01, digest: "`+strings.Repeat("0", 64)+`", reason: `+name+`}}
`)
			writeFile(t, "unknown"+policy, "rules:\n  - {id: "+name+", metric: "+name+", "+name+": 1}\n")
			writeFile(t, "release.yaml", "human_ai:\n  - name: "+name+"\n    decisions: "+quoteYAML(t, good)+"\n    rules: [{id: a, metric: agreement, minimum: 0.1}]\n")
			for _, args := range [][]string{
				{"human-ai", "gate", good, "--policy", policy, "--show-reviewers"},
				{"human-ai", "check", good, "--show-reviewers"},
				{"human-ai", "check", bad, "--show-reviewers"},
				{"human-ai", "gate", good, bad, "absent" + inName, "--policy", "unknown" + policy},
				{"gate", "release.yaml"},
				{"policy", "check", policy, "unknown" + policy},
				{"human-ai", "check", good, "--design", text},
				{"human-ai", "check", good, "--delimiter", text},
				{"human-ai", "check", good, "--today", text},
				{"human-ai", "gate", good, "--today", text},
				{"human-ai", "gate", good, "--fail-on", text},
				{"human-ai", "gate", good, "--format", text},
				{"human-ai", "gate", good, "--format", "json:" + inName + "/absent/" + strings.Repeat("y", 300)},
				{"human-ai", "assign", "--cases", "absent" + inName, "--reviewers", text, "--design", text, "--seed", text},
				{"human-ai", "imrmc", "absent" + inName, "--with", text, "--without", text + "x", "--threshold", text, "--truth", text},
				{"init", "--example", text},
				{"init", "--example", "human-ai", good},
				{text},
				{"human-ai", text},
				{"policy", "check", "--gate", text, policy},
				{"human-ai", "check", "--" + text},
			} {
				forms := []string{""} // mistakes on the command line have one form
				if slices.Contains(args, "--show-reviewers") || slices.Contains(args, "absent"+inName) || args[0] == "gate" {
					forms = laidOut
				}
				for _, form := range forms {
					full := args
					if form != "" {
						full = append(args[:len(args):len(args)], "--format", form)
					}
					status, stdout, stderr := runMain(full...)
					what := fmt.Sprintf("%.200q, exit %d", full, status)
					checkTame(t, what+", standard output", stdout, form == "json")
					checkTame(t, what+", standard error", stderr, false)
					if form == "json" && stdout != "" {
						inOtherFormats(t, stdout, func(format, text string) { checkTame(t, what+" as "+format, text, false) })
					}
					if form == "markdown" {
						checkMarkdown(t, what, stdout)
					}
					if form == "json" && stdout != "" {
						checkKept(t, what, stdout, strings.TrimSpace(text), args)
					}
				}
			}
		})
	}
}

// quoteYAML writes a text as a YAML scalar in double quotes.
func quoteYAML(t *testing.T, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(quoted)
}

// checkKept checks that a JSON report has a rule's id and a slice's value whole, as they were given.
func checkKept(t *testing.T, what, doc, text string, args []string) {
	t.Helper()
	var r report.Report
	if err := json.Unmarshal([]byte(doc), &r); err != nil {
		t.Errorf("%s: %v\n%s", what, err, doc)
		return
	}
	if len(args) < 5 || args[1] != "gate" || r.ExitStatus == 2 {
		return
	}
	for rule := range r.Rules() {
		if rule.ID != "plain" && (strings.TrimSpace(rule.ID) != text || strings.TrimSpace(strings.TrimPrefix(rule.Labels["where"], "kind=")) != text) {
			t.Errorf("%s: the rule's id is %q and its slice %q", what, rule.ID, rule.Labels["where"])
		}
	}
}
