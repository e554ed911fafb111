package summary

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	renderer "github.com/yuin/goldmark/renderer/html"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// ofRun is what the golden comments say beyond their reports.
var ofRun = CommentOptions{
	Run:    "run 812, attempt 1, commit 0a1b2c3",
	RunURL: "https://github.example/o/r/actions/runs/99",
	FileURL: func(file string, line int) string {
		if !strings.HasSuffix(file, ".yaml") {
			return ""
		}
		return "https://github.example/o/r/blob/0a1b2c3/" + file + "#L" + strconv.Itoa(line)
	},
}

// comment returns a comment's body.
func comment(t testing.TB, r *report.Report, opts CommentOptions) string {
	t.Helper()
	var b strings.Builder
	if err := Comment(&b, r, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The elements and attributes that GitHub keeps of a comment's HTML, those that a comment of ours may have: html-pipeline,
// sanitization_filter.rb, allows more (images, and open and align, for which nothing of ours has a use).
var (
	allowedElements   = strings.Fields("h2 h3 p table thead tbody tr th td details summary sub code pre a strong ul li")
	allowedAttributes = map[string]bool{"a href": true, "code class": true} // the class of goldmark's own yaml block
	tag               = regexp.MustCompile(`^<(/?)([a-z][a-z0-9]*)((?: [a-z-]+="[^"<>]*")*)>`)
	attribute         = regexp.MustCompile(` ([a-z-]+)="([^"]*)"`)
)

// sanitized renders Markdown as GitHub does and applies its sanitiser, more strictly than it does: what it would take out is an
// error, since everything that it would take out comes from data. It returns the elements in order but for code and links, the
// addresses of the links, and the text outside code.
func sanitized(t testing.TB, name, source string) (elements string, links []string, text string) {
	t.Helper()
	var b bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(renderer.WithUnsafe())).Convert([]byte(source), &b); err != nil {
		t.Fatal(err)
	}
	var open, order []string
	var outside strings.Builder
	for rest := b.String(); rest != ""; {
		plain, _, _ := strings.Cut(rest, "<")
		if !slices.Contains(open, "code") {
			outside.WriteString(html.UnescapeString(plain))
		}
		if rest = rest[len(plain):]; rest == "" {
			break
		}
		m := tag.FindStringSubmatch(rest)
		if m == nil {
			t.Errorf("%s: not an element that a comment may have: %q", name, rest[:min(len(rest), 60)])
			return "", nil, ""
		}
		rest = rest[len(m[0]):]
		if !slices.Contains(allowedElements, m[2]) {
			t.Errorf("%s: the sanitiser takes out %q", name, m[0])
		}
		for _, a := range attribute.FindAllStringSubmatch(m[3], -1) {
			if !allowedAttributes[m[2]+" "+a[1]] {
				t.Errorf("%s: the sanitiser takes out the attribute %q", name, m[0])
			}
			if m[2] == "a" {
				links = append(links, html.UnescapeString(a[2]))
			}
		}
		if m[2] != "code" && m[2] != "a" {
			order = append(order, m[1]+m[2])
		}
		if m[1] == "" {
			open = append(open, m[2])
			continue
		}
		if len(open) == 0 || open[len(open)-1] != m[2] {
			t.Errorf("%s: %q closes %q", name, m[0], open)
			return "", nil, ""
		}
		open = open[:len(open)-1]
	}
	if len(open) > 0 {
		t.Errorf("%s: left open: %q", name, open)
	}
	return strings.Join(order, " "), links, outside.String()
}

// checkComment checks what holds for every comment, and returns its elements. ours tells the addresses that may be linked.
func checkComment(t testing.TB, name, source string, ours func(address string) bool) string {
	t.Helper()
	elements, links, text := sanitized(t, name, source)
	for _, address := range links {
		if !ours(address) {
			t.Errorf("%s: a link to %q", name, address)
		}
	}
	for _, found := range []*regexp.Regexp{mention, issue, shortcode, formula} {
		if m := found.FindString(text); m != "" {
			t.Errorf("%s: GitHub reads %q", name, m)
		}
	}
	if strings.Contains(source, "<!--") {
		t.Errorf("%s: opens an HTML comment", name)
	}
	for line := range strings.Lines(source) {
		if strings.HasPrefix(strings.TrimSpace(line), "/") {
			t.Errorf("%s: a line is a command to a bot: %q", name, line)
		}
		if c := runnerReads(line); c != "" {
			t.Errorf("%s: a line is the command %q to a runner: %q", name, c, line)
		}
	}
	o := readOutline(t, name, source)
	if o.fences > 1 || o.fences == 1 && !strings.Contains(source, "```yaml\n  reviewed:\n") {
		t.Errorf("%s: code of data", name)
	}
	o.links, o.fences = nil, 0
	checkOutline(t, name, o)
	return elements
}

func isOurs(address string) bool { return strings.HasPrefix(address, "https://github.example/o/r/") }

func TestCommentHasExactlyItsOwnMarkup(t *testing.T) {
	opts := ofRun
	opts.Run = "run 812, attempt 1" // a commit becomes a link on GitHub, as is meant
	for name, r := range readReports(t) {
		checkComment(t, name, comment(t, r, opts), isOurs)
		checkComment(t, name+" as a summary", write(t, "markdown", r, Options{}), func(string) bool { return false })
	}
}

// The sanitiser finds what it is there to find.
func TestSanitizerOracle(t *testing.T) {
	for _, bad := range []string{"<script>", "<b>a</b>", "![a](https://github.example/o/r/x)", "[a](https://e.example)", "<a href=\"javascript:x\">a</a>", "<p style=\"x\">a</p>",
		"https://github.example/o/r/x.", "<!-- a -->", "@name", "fixes #12", "GH-12", ":tada:", "$x$", "/approve", "::error::x", "a ##[error]x", "<details>", "</details>", "- [ ] a", "***\n", "`a` <img src=x>", "```\na\n```"} {
		p := &probe{TB: t}
		checkComment(p, "oracle", bad, func(address string) bool { return isOurs(address) && !strings.HasSuffix(address, "x") })
		if !p.failed {
			t.Errorf("the oracle finds nothing in %q", bad)
		}
	}
	good := "### a · [b](https://github.example/o/r/1)\n\n- `@a`\n\n<sub>c</sub>\n"
	if got := checkComment(t, "good", good, isOurs); got != "h3 /h3 ul li /li /ul p sub /sub /p" {
		t.Errorf("elements %q", got)
	}
}

// hostileOptions have s wherever they have a text.
func hostileOptions(s string) CommentOptions {
	return CommentOptions{
		MaxBytes: 1 << 20, // so that a long text does not take others' place
		Run:      s, RunURL: "https://github.example/o/r/" + s,
		FileURL:  func(file string, _ int) string { return "https://github.example/o/r/" + file },
		Previous: &Previous{Run: s, Verdict: report.Fail, Failing: []string{s, s + "2"}},
	}
}

// FuzzComment puts one text from data in every place of a report, and of what is said beside it. Whatever it is, the comment has
// the elements that it has for the text "x".
func FuzzComment(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	reports := readReports(f)
	of := map[string]string{} // the elements of each with "x"
	for _, name := range []string{"baseline", "pass", "check", "errors"} {
		of[name] = checkComment(f, name, comment(f, replaceTexts(reports[name], "x"), hostileOptions("x")), isOurs)
	}
	passing := replaceTexts(reports["pass"], "x")
	f.Fuzz(func(t *testing.T, s string) {
		for _, name := range []string{"baseline", "pass", "check", "errors"} {
			r := replaceTexts(reports[name], s)
			got := checkComment(t, name, comment(t, r, hostileOptions(s)), isOurs)
			if seen(s, nameMax) != "" && got != of[name] {
				t.Errorf("%s: the elements of a comment are\n%s\nwith %q, and\n%s\nwith x", name, got, s, of[name])
			}
			title := IssueTitle(r)
			if strings.ContainsFunc(title, func(r rune) bool { return r < 0x20 || r == 0x7f || r == 0x2028 || r == 0x2029 }) || len([]rune(title)) > 200 || mention.MatchString(title) || issue.MatchString(title) || shortcode.MatchString(title) {
				t.Errorf("%s: the title %q", name, title)
			}
		}
		addresses := hostileOptions("x") // and in an address alone
		addresses.RunURL, addresses.FileURL = s, func(string, int) string { return s }
		source := comment(t, passing, addresses)
		web := func(address string) bool { return strings.HasPrefix(strings.ToLower(address), "http") }
		if checkComment(t, "addresses", source, web) != of["pass"] {
			t.Errorf("the address %q changes a comment:\n%s", s, source)
		}
	})
}

func TestLink(t *testing.T) {
	for address, want := range map[string]string{
		"https://e.example/a":              "[t](https://e.example/a)",
		"http://e.example":                 "[t](http://e.example)",
		"https://e.example/a b":            "[t](https://e.example/a%20b)",
		"https://e.example/a)b](c":         "[t](https://e.example/a%29b%5D%28c)",
		"https://e.example/?a=1&copy=2#L3": "[t](https://e.example/?a=1&amp;copy=2#L3)",
		"https://e.example/%41%zz":         "t", // no address: url.Parse refuses the escape
		"https://e.example/?%41%zz":        "[t](https://e.example/?%41%25zz)",
		"https://e.example/é|`\\<>":        "[t](https://e.example/%C3%A9%7C%60%5C%3C%3E)",
		"https://e.example/a\nb":           "t",
		"https://name@e.example/":          "t",
		"https:///a":                       "t",
		"javascript:a":                     "t",
		"data:text/html,a":                 "t",
		"//e.example":                      "t",
		"/a":                               "t",
		"":                                 "t",
		"https://e.example/" + strings.Repeat("a", linkMax): "t",
	} {
		if got := link("t", address); got != want {
			t.Errorf("link(%q) = %q, want %q", address, got, want)
		}
	}
}

// ruleOf is a counting rule with a verdict, as an earlier report makes it.
func ruleOf(id string, v report.Verdict, change report.Change) report.Rule {
	r := report.Rule{ID: id, Verdict: v, Reason: "A reason."}
	if change != "" {
		r.Before = &report.Before{Change: change}
	}
	return r
}

func reportOf(rules ...report.Rule) *report.Report {
	r := report.New("1.0.0")
	r.Gates = []report.Gate{{Gate: "fairness", Rules: rules}}
	for _, rule := range rules {
		if rule.Before != nil {
			r.Baseline = &report.Baseline{File: report.File{Path: "before.json"}}
		}
	}
	r.Decide()
	return r
}

func TestCommentHeading(t *testing.T) {
	pass, fail, review, open := report.Pass, report.Fail, report.ManualReview, report.InsufficientEvidence
	reviewed := ruleOf("r", review, "")
	reviewed.Reviewed = &report.Reviewed{Valid: true}
	advisory := ruleOf("a", fail, report.NewlyFailing)
	advisory.Advisory = true
	looser := reportOf(ruleOf("a", pass, ""))
	looser.PolicyChanges = []report.PolicyChange{{Loosens: true, Message: "A sentence."}}
	looked := reportOf(ruleOf("a", pass, ""))
	looked.PolicyChanges = []report.PolicyChange{{Message: "A sentence."}}
	before := func(v report.Verdict, ids ...string) *Previous { return &Previous{"run 811", v, ids} }
	for _, test := range []struct {
		r        *report.Report
		previous *Previous
		want     string
	}{
		{reportOf(ruleOf("a", fail, "")), nil, "❌ Oloproof: 1 rule fails on this change"},
		{reportOf(ruleOf("a", fail, ""), ruleOf("b", fail, ""), ruleOf("c", review, "")), nil, "❌ Oloproof: 2 rules fail on this change"},
		{reportOf(ruleOf("a", fail, report.NewlyFailing), advisory), nil, "❌ Oloproof: 1 rule newly fails on this change"},
		{reportOf(ruleOf("a", fail, report.NewlyFailing), ruleOf("b", fail, report.NewlyFailing)), nil, "❌ Oloproof: 2 rules newly fail on this change"},
		{reportOf(ruleOf("a", fail, report.NewlyFailing), ruleOf("b", fail, report.StillNotPassed)), nil, "❌ Oloproof: 2 rules fail on this change, 1 of them newly"},
		{reportOf(ruleOf("a", fail, report.StillNotPassed)), nil, "❌ Oloproof: 1 rule fails on this change, as before"},
		{reportOf(ruleOf("a", fail, report.NewRule)), nil, "❌ Oloproof: 1 rule fails on this change"},
		{reportOf(ruleOf("a", open, report.StillNotPassed)), nil, "⚠️ Oloproof: 1 rule is undecided on this change, not passing before either"},
		{reportOf(ruleOf("a", open, report.NewlyUndecided)), nil, "⚠️ Oloproof: 1 rule is newly undecided on this change"},
		{reportOf(ruleOf("a", open, ""), ruleOf("b", open, "")), nil, "⚠️ Oloproof: 2 rules are undecided on this change"},
		{reportOf(ruleOf("a", review, ""), ruleOf("b", pass, "")), nil, "👤 Oloproof: 1 rule is for a person to decide on this change"},
		{reportOf(reviewed), nil, "👤 Oloproof: 1 rule is for a person to decide on this change, reviewed"},
		{reportOf(reviewed, ruleOf("b", review, "")), nil, "👤 Oloproof: 2 rules are for a person to decide on this change, 1 of them reviewed"},
		{reportOf(ruleOf("a", pass, "")), nil, "✅ Oloproof: the one rule passes"},
		{reportOf(ruleOf("a", pass, ""), ruleOf("b", pass, "")), nil, "✅ Oloproof: all 2 rules pass"},
		{reportOf(ruleOf("a", pass, ""), ruleOf("b", pass, "")), before(fail, "a"), "✅ Oloproof: all 2 rules pass (`a` failed in run 811)"},
		{reportOf(ruleOf("a", pass, ""), ruleOf("b", pass, "")), before(open, "a"), "✅ Oloproof: all 2 rules pass (`a` had not passed in run 811)"},
		{reportOf(ruleOf("a", pass, ""), ruleOf("b", pass, "")), before(fail, "a", "b"), "✅ Oloproof: all 2 rules pass (`a` and `b` had not passed in run 811)"},
		{reportOf(ruleOf("a", pass, ""), ruleOf("b", pass, "")), before(pass), "✅ Oloproof: all 2 rules pass"},
		{reportOf(ruleOf("a", pass, ""), ruleOf("b", pass, "")), before(fail), "✅ Oloproof: all 2 rules pass (not so in run 811)"},
		{reportOf(ruleOf("a", pass, ""), ruleOf("b", pass, "")), before(report.NoVerdict), "✅ Oloproof: all 2 rules pass (nothing was decided in run 811)"},
		// What was taken out of the policy is not said to pass.
		{reportOf(ruleOf("b", pass, "")), before(fail, "a"), "✅ Oloproof: the one rule passes (`a` had not passed in run 811 and no longer counts among them)"},
		{reportOf(ruleOf("b", pass, ""), advisory), before(fail, "a", "b"), "✅ Oloproof: the one rule passes (`b` had not passed in run 811; `a` had not passed in run 811 and no longer counts among them)"},
		{looser, nil, "✅ Oloproof: the one rule passes · ⚠️ looser policy"},
		{looked, nil, "✅ Oloproof: the one rule passes · ⚠️ policy changed"},
		// What a run that decided nothing stood over is not forgotten.
		{reportOf(ruleOf("a", pass, ""), ruleOf("b", pass, "")), before(report.NoVerdict, "a"), "✅ Oloproof: all 2 rules pass (nothing was decided in run 811; `a` had not passed before that)"},
		{&report.Report{Errors: []report.Problem{{}, {}}, MoreErrors: 3}, nil, "🚫 Oloproof: nothing was decided, 5 problems"},
	} {
		if got := commentHeading(test.r, CommentOptions{Previous: test.previous}); got != "### "+test.want {
			t.Errorf("got  %s\nwant ### %s", got, test.want)
		}
	}
	if got := commentHeading(reportOf(ruleOf("a", fail, "")), CommentOptions{Scheduled: true, RunURL: "https://e.example"}); got != "### ❌ Oloproof: 1 rule fails in the scheduled audit · [full report](https://e.example)" {
		t.Error(got)
	}
}

// Rules that pass are not listed; one that is advisory is listed where it failed, and marked.
func TestCommentListsProblemsOnly(t *testing.T) {
	advised, noted := ruleOf("advised-fail", report.Fail, ""), ruleOf("advised-open", report.InsufficientEvidence, "")
	advised.Advisory, noted.Advisory = true, true
	text := comment(t, reportOf(ruleOf("passes", report.Pass, ""), advised, noted, ruleOf("fails", report.Fail, ""), ruleOf("open", report.InsufficientEvidence, "")), CommentOptions{})
	for _, want := range []string{"| ❌ FAIL | `fails`", "| ⚠️ UNDECIDED | `open`", "| ❌ FAIL | `advised-fail` (advisory)", "3 rules: 1 failed, 1 undecided, 1 passed (and 2 advisory, not counted), 2 not listed here"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	for _, other := range []string{"passes`", "advised-open"} {
		if strings.Contains(text, other) {
			t.Errorf("%q is listed:\n%s", other, text)
		}
	}
	if strings.Index(text, "`fails`") > strings.Index(text, "`open`") || strings.Index(text, "`open`") > strings.Index(text, "`advised-fail`") {
		t.Errorf("out of order:\n%s", text)
	}
}

// With a baseline the order is by change.
func TestCommentOrderOfChanges(t *testing.T) {
	text := comment(t, reportOf(ruleOf("still", report.Fail, report.StillNotPassed), ruleOf("other", report.Fail, report.Redefined), ruleOf("new", report.Fail, report.NewRule),
		ruleOf("open", report.InsufficientEvidence, report.NewlyUndecided), ruleOf("newly", report.Fail, report.NewlyFailing), ruleOf("passes", report.Pass, report.NewlyPassing)), CommentOptions{})
	last := 0
	for _, want := range []string{"| ❌ newly FAIL | `newly`", "| ⚠️ newly UNDECIDED | `open`", "| ❌ FAIL (new rule) | `new`", "| ❌ FAIL (measured otherwise) | `other`", "| ❌ FAIL | `still`", "Newly passing: `passes`."} {
		at := strings.Index(text, want)
		if at <= last {
			t.Errorf("%q is at %d:\n%s", want, at, text)
		}
		last = at
	}
}

// An earlier number has its interval beside it, or is not shown; its ends are rounded outward; and min_shown hides it, since
// what it was counted from is not known.
func TestBeforeText(t *testing.T) {
	iv := func(lower, upper, confidence float64) *report.Interval {
		return report.PublishInterval(interval.Interval{Lower: lower, Upper: upper, Confidence: confidence})
	}
	now := report.Rule{Measure: report.Measure{Interval: iv(0, 1, 0.95), Scale: unit}, Verdict: report.Fail}
	of := func(b report.Before) *report.Rule { r := now; r.Before = &b; return &r }
	number := report.Number(0.0314)
	for _, test := range []struct {
		r                *report.Rule
		hide, everyLevel bool
		want             string
	}{
		{&now, false, false, "not compared"},
		{of(report.Before{Change: report.NewRule}), false, false, "no such rule"},
		{of(report.Before{Change: report.Redefined, Verdict: report.Pass, Estimate: number, Interval: iv(0, 0.0811, 0.95)}), false, false, "PASS on another measure"},
		{of(report.Before{Change: report.NewlyFailing, Verdict: report.Pass, Estimate: number, Interval: iv(0, 0.0811, 0.95)}), false, false, "PASS 0.031 (0.000 … 0.082)"},
		{of(report.Before{Change: report.NewlyFailing, Verdict: report.Pass, Estimate: number, Interval: iv(0, 0.0811, 0.95)}), false, true, "PASS 0.031 (0.000 … 0.082 at 95 %)"},
		{of(report.Before{Change: report.NewlyFailing, Verdict: report.Pass, Estimate: number, Interval: iv(0, 0.0811, 0.9)}), false, false, "PASS 0.031 (0.000 … 0.082 at 90 %)"},
		{of(report.Before{Change: report.NewlyFailing, Verdict: report.Pass, Estimate: number, Interval: iv(0, 0.0811, 0.95)}), true, false, "PASS (numbers hidden)"},
		{of(report.Before{Change: report.NewlyFailing, Verdict: report.Pass, Estimate: number}), false, false, "PASS"},
		{of(report.Before{Change: report.StillNotPassed, Verdict: report.InsufficientEvidence, Interval: iv(0, 0.5, 0.95)}), false, false, "UNDECIDED (0.000 … 0.500)"},
		// 0.05 and 0.0500001 are not on the same side of 0.05: the second needs its digits.
		{of(report.Before{Change: report.StillNotPassed, Verdict: report.InsufficientEvidence, Threshold: report.Threshold{Kind: report.Maximum, Value: 0.05}, Estimate: number, Interval: iv(0, 0.0500001, 0.95)}), false, false, "UNDECIDED 0.031 (0.000 … 0.051)"},
		{of(report.Before{Change: "odd", Verdict: report.Fail}), false, false, "FAIL"},
	} {
		if got := beforeText(test.r, test.hide, test.everyLevel); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	hides := publishable(5, []counts{{4000, 9000, 0, 0}, {4100, 9000, 0, 0}})
	hides.Baseline = &report.Baseline{File: report.File{Path: "b.json"}}
	hides.Gates[0].Rules[0].Before = &report.Before{Change: report.NewlyUndecided, Verdict: report.Pass, Estimate: report.Number(0.0123), Interval: iv(0.002, 0.0456, 0.95)}
	for name, text := range map[string]string{"comment": comment(t, hides, CommentOptions{}), "markdown": write(t, "markdown", hides, Options{})} {
		if strings.Contains(text, "0.012") || !strings.Contains(text, "PASS (numbers hidden)") {
			t.Errorf("%s tells earlier numbers that min_shown may have hidden:\n%s", name, text)
		}
	}
}

func TestChangeCounts(t *testing.T) {
	r := reportOf(ruleOf("a", report.Fail, report.NewlyFailing), ruleOf("b", report.Fail, report.NewlyFailing), ruleOf("c", report.ManualReview, report.NewlyUndecided), ruleOf("d", report.Pass, report.NewlyPassing),
		ruleOf("e", report.Pass, report.NewRule), ruleOf("f", report.Pass, report.Redefined), ruleOf("g", report.Pass, report.StillPassing), ruleOf("h", report.Fail, report.StillNotPassed), ruleOf("i", report.Fail, ""), ruleOf("j", report.Fail, "odd"))
	r.RemovedRules = []report.RemovedRule{{ID: "x"}}
	if got, want := changeCounts(r), "2 newly failing, 1 newly undecided or to review, 1 newly passing, 1 new, 1 measured otherwise than before, 2 unchanged, 2 not compared, 1 removed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := changeCounts(&report.Report{}); got != "no rule on either side" {
		t.Error(got)
	}
}

// The order of changed rules is the one in which the report's own package has them.
func TestByChangeIsTheReports(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapidReport(t)
		r.Gates = r.Gates[:1]
		var got, want []string
		all := allRuled(r)
		byChange(all)
		for _, x := range all {
			got = append(got, x.ID)
		}
		for _, rule := range report.ByChange(r.Gates[0].Rules) {
			want = append(want, rule.ID)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// A terminal shows what every rule was as long as they are few, and beyond that those that changed.
func TestTerminalBaseline(t *testing.T) {
	var rules []report.Rule
	for i := range 30 {
		rules = append(rules, ruleOf(fmt.Sprintf("same-%02d", i), report.Pass, report.StillPassing))
	}
	few, many := reportOf(append(rules[:3:3], ruleOf("fresh", report.Fail, report.NewlyFailing))...), reportOf(append(rules, ruleOf("fresh", report.Fail, report.NewlyFailing))...)
	if text := write(t, "terminal", few, Options{}); !strings.Contains(text, "    newly failing  fresh    NO VERDICT\n    still passing  same-00  NO VERDICT\n") {
		t.Error(text)
	}
	text := write(t, "terminal", many, Options{})
	if !strings.Contains(text, "    newly failing  fresh  NO VERDICT\n    and 30 unchanged: see --format json\n") || strings.Contains(text, "still passing") {
		t.Error(text)
	}
}

// A looser policy is said first, in every form, and in one that has no room for it by how much.
func TestLooserPolicyIsAlwaysSaid(t *testing.T) {
	r := manyRules(300)
	for i := range 40 {
		r.PolicyChanges = append(r.PolicyChanges, report.PolicyChange{Loosens: i < 30, Message: fmt.Sprintf("Change %02d: a threshold is 0.80, where it was 0.85", i), Position: diag.Pos{File: "policy.yaml", Line: i + 1}})
	}
	for _, most := range []int{100, 150, 300, 1000, 3000, 10_000, 100_000} {
		var summary strings.Builder
		if err := Markdown(&summary, r, Options{MaxBytes: most}); err != nil {
			t.Fatal(err)
		}
		text := comment(t, r, CommentOptions{MaxBytes: most})
		if !strings.Contains(summary.String(), "looser") && !strings.Contains(summary.String(), "The policy was loosened, by 30 changes.") && most > 100 {
			t.Errorf("in %d bytes a summary says nothing:\n%s", most, summary.String())
		}
		if !strings.Contains(text, "looser policy") {
			t.Errorf("in %d bytes a comment says nothing:\n%s", most, text)
		}
		for _, s := range []string{summary.String(), text} {
			if shown := strings.Count(s, "- Change "); shown > 0 && shown < 40 && !strings.Contains(s, "- and "+whole(30-strings.Count(s[:strings.Index(s, "lso changed")], "- Change "))+" more") {
				t.Errorf("in %d bytes %d of 40 are shown, and the rest is not counted:\n%s", most, shown, s)
			}
		}
	}
	if text := write(t, "terminal", r, Options{}); !strings.Contains(text, "This policy is looser than the one before it:\n    policy.yaml:1: Change 00: a threshold is 0.80, where it was 0.85.\n") || !strings.Contains(text, "and 10 more: see --format json") {
		t.Error(text[:2000])
	}
	for scheduled, want := range map[bool]string{false: "This pull request also loosens the policy:", true: "This policy is looser than the one before it:"} {
		if text := comment(t, r, CommentOptions{Scheduled: scheduled}); !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	r.Gates[0].Rules = r.Gates[0].Rules[1:2] // passes
	r.Decide()
	if text := comment(t, r, CommentOptions{}); !strings.Contains(text, "This pull request loosens the policy:") {
		t.Error(text)
	}
}

// A waiver's days are no counts of the data: min_shown hides nothing of them.
func TestWaiverIsAnnouncedUnderMinShown(t *testing.T) {
	r := publishable(50, []counts{{3, 10, 0, 0}, {60, 9000, 0, 0}})
	r.Gates[0].Findings = []report.Finding{{Code: "waiver_ending", Severity: report.Warning, Message: "The waiver of gap ends in 12 days, on 2027-03-31."}, {Code: "few", Severity: report.Warning, Message: "There are 12 rows."}}
	for _, text := range []string{write(t, "markdown", r, Options{}), comment(t, r, CommentOptions{})} {
		if !strings.Contains(text, "ends in 12 days") || strings.Contains(text, "12 rows") {
			t.Error(text)
		}
	}
}

// A waiver that is about to end is said in the heading and with its rule, and not among what is known of the data; that it is
// waived is said once.
func TestCommentOfAnEndingWaiver(t *testing.T) {
	waived := func(id, until, when string) (report.Rule, report.Finding) {
		r := ruleOf(id, report.ManualReview, "")
		r.Waived = &report.Waived{Until: until, Owner: `a" ends on 2027-03-31: in 1 day.`, Reason: "known", Verdict: report.Fail}
		r.Reason = "Waived until " + until + "; without the waiver it would be FAIL. The gap is wide."
		return r, report.Finding{Rule: id, Code: "waiver_ending", Severity: report.Warning,
			Message: "The waiver of rule " + diag.Quote(id) + " (owner " + diag.Quote(r.Waived.Owner) + ") ends on " + until + ": " + when + ". From the day after, the rule has its own verdict, which is FAIL now."}
	}
	a, endsA := waived("a rule", "2027-03-31", "in 12 days")
	b, endsB := waived("b rule", "2027-03-24", "in 5 days")
	c, endsC := waived("c rule", "2027-03-19", "today is its last day")
	r := reportOf(a)
	r.Gates[0].Findings = []report.Finding{endsA}
	text := comment(t, r, CommentOptions{})
	for _, want := range []string{" on this change · ⏳ a waiver ends in 12 days\n", "`a rule`: The gap is wide. Waived until 2027-03-31 by ", "Without the waiver: FAIL. **The waiver ends in 12 days.**"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	for _, twice := range []string{"About the data", "Waived until 2027-03-31;", "without the waiver it would"} {
		if strings.Contains(text, twice) {
			t.Errorf("%q is there:\n%s", twice, text)
		}
	}
	r = reportOf(a, b)
	r.Gates[0].Findings = []report.Finding{endsA, endsB}
	if text := comment(t, r, CommentOptions{}); !strings.Contains(text, "⏳ 2 waivers end, the first in 5 days\n") {
		t.Error(text)
	}
	r = reportOf(a, b, c)
	r.Gates[0].Findings = []report.Finding{endsA, endsB, endsC, {Code: "waiver_ending", Severity: report.Warning, Message: "The waiver of another rule ends."}}
	if text := comment(t, r, CommentOptions{}); !strings.Contains(text, "⏳ 3 waivers end, the first today\n") || !strings.Contains(text, "- ⚠️ The waiver of another rule ends.\n") {
		t.Error(text)
	}
}

// What is known of the data is listed where somebody is to look at a rule, and counted where all is well.
func TestCommentWarnings(t *testing.T) {
	of := func(rule report.Rule) string {
		r := reportOf(rule)
		r.Gates[0].Findings = []report.Finding{{Code: "c", Severity: report.Warning, Message: "It is odd."}, {Code: "d", Severity: report.Note, Message: "It is even."}}
		return comment(t, r, CommentOptions{})
	}
	if text := of(ruleOf("a", report.Pass, "")); strings.Contains(text, "It is odd") || !strings.Contains(text, " · 1 warning about the data: see the report · ") {
		t.Error(text)
	}
	reserved := ruleOf("a", report.Pass, "")
	reserved.WithLeftOut = report.InsufficientEvidence
	for _, rule := range []report.Rule{ruleOf("a", report.Fail, ""), reserved} {
		if text := of(rule); !strings.Contains(text, "**About the data:**\n\n- ⚠️ It is odd.\n") || strings.Contains(text, "see the report") || strings.Contains(text, "It is even") {
			t.Error(text)
		}
	}
}

// A rule is named once: what the heading says to pass again is not said to pass newly below it.
func TestCommentSaysNothingTwice(t *testing.T) {
	r := reportOf(ruleOf("a", report.Pass, report.NewlyPassing), ruleOf("b", report.Pass, report.NewlyPassing))
	text := comment(t, r, CommentOptions{Previous: &Previous{"run 2", report.Fail, []string{"a"}}})
	if !strings.Contains(text, "(`a` failed in run 2)") || !strings.Contains(text, "✅ Newly passing: `b`.\n") || strings.Count(text, "`a`") != 1 {
		t.Error(text)
	}
	r = reportOf(ruleOf("a", report.Pass, ""), ruleOf("b", report.Fail, ""))
	if text := comment(t, r, CommentOptions{Previous: &Previous{"run 2", report.NoVerdict, []string{"a"}}}); !strings.Contains(text, "✅ Passing now, and not in the last run that decided: `a`.\n") {
		t.Error(text)
	}
}

// The earlier report is named, and where it has none of the rules one sentence says so, and no column of it is there.
func TestBaselineIsNamed(t *testing.T) {
	r := reportOf(ruleOf("a", report.Fail, report.NewlyFailing), ruleOf("b", report.Pass, report.NewlyPassing))
	if text := comment(t, r, CommentOptions{}); !strings.Contains(text, "\nBefore is `before.json`.\n\n|  | Rule | Before | Now |") {
		t.Error(text)
	}
	if text := write(t, "markdown", r, Options{}); !strings.Contains(text, "**Changes against `before.json`:** 1 newly failing, 1 newly passing.\n\n- ❌ Newly failing: `a`.\n- ✅ Newly passing: `b`.\n") ||
		!strings.Contains(text, "|  | Rule | Before | Measured |") || !strings.Contains(text, "| ✅ newly PASS | `b` | NO VERDICT |") {
		t.Error(text)
	}
	r = reportOf(ruleOf("a", report.Fail, report.NewRule), ruleOf("b", report.Pass, report.NewRule))
	const said = "No rule is in both, so that nothing compares: it may be another policy's report."
	texts := map[string]string{"comment": comment(t, r, CommentOptions{}), "markdown": write(t, "markdown", r, Options{}), "terminal": strings.Join(strings.Fields(write(t, "terminal", r, Options{})), " ")}
	for name, text := range texts {
		if strings.Count(text, said) != 1 || strings.Contains(text, "| Before |") || strings.Contains(text, "Before is") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// The largest number of rules that fits is taken: one more would be too many.
func TestLargestThatFits(t *testing.T) {
	r := manyRules(900) // 300 of them fail
	shown := func(text string) int { return strings.Count(text, "\n| ❌ FAIL |") }
	for _, most := range []int{1500, 4000, 10_000, 30_000, commentBytes} {
		text := comment(t, r, CommentOptions{MaxBytes: most})
		n := shown(text)
		m := &markdown{rung: rung{rules: n + 1, details: strings.Contains(text, "A reason.")}}
		m.comment(r, CommentOptions{})
		if n == 0 || n < 300 && m.out.Len() <= most || len(text) > most {
			t.Errorf("a comment of %d bytes has %d rules in %d bytes, and with one more %d", most, n, len(text), m.out.Len())
		}
		text = write(t, "markdown", r, Options{MaxBytes: most})
		n = shown(text)
		m = &markdown{rung: rung{rules: n + 1, details: strings.Contains(text, "<details>")}}
		m.report(r, nil)
		if n == 0 || n < 300 && m.out.Len() <= most || len(text) > most {
			t.Errorf("a summary of %d bytes has %d rules in %d bytes, and with one more %d", most, n, len(text), m.out.Len())
		}
	}
	if n := shown(comment(t, r, CommentOptions{})); n != 300 {
		t.Errorf("a comment lists %d of the 300 rules that failed", n)
	}
}

// The chance of a false FAIL stands in the last line, and who shares an error.
func TestCommentFalseFail(t *testing.T) {
	r := reportOf(ruleOf("a", report.Pass, ""), ruleOf("b", report.Pass, ""), ruleOf("c", report.Pass, ""))
	if text := comment(t, r, CommentOptions{}); strings.Contains(text, "chance") {
		t.Error(text)
	}
	r.Multiplicity = &report.Multiplicity{Rules: 3, FalseFail: 0.075} // three rules at 0.025 each
	for i := range r.Gates[0].Rules[:2] {
		r.Gates[0].Rules[i].Adjusted = &report.Adjusted{Method: report.Holm, Family: 1, Rules: 2}
	}
	if text := comment(t, r, CommentOptions{}); !strings.Contains(text, " · chance of a false FAIL of some rule: at most 7.5 %, 2 rules share their error (adjust: holm) · exit status 0") {
		t.Error(text)
	}
}

func TestIssueTitle(t *testing.T) {
	named := func(v report.Verdict, name string) *report.Report {
		r := reportOf(ruleOf("a", v, ""))
		r.Gates[0].Name, r.Policy = name, &report.File{Path: "fairness.yaml"}
		return r
	}
	for want, r := range map[string]*report.Report{
		"Oloproof audit: FAIL, loan-screen does not meet fairness.yaml":                                         named(report.Fail, "loan-screen"),
		"Oloproof audit: PASS, loan-screen meets fairness.yaml":                                                 named(report.Pass, "loan-screen"),
		"Oloproof audit: MANUAL_REVIEW, a person must decide whether loan-screen meets fairness.yaml":           named(report.ManualReview, "loan-screen"),
		"Oloproof audit: INSUFFICIENT_EVIDENCE, it cannot be told whether a b meets fairness.yaml":              named(report.InsufficientEvidence, "a\nb"),
		"Oloproof audit: FAIL, @\u200bteam GH\u200b-1 #\u200b2 :\u200btada:\u200bx does not meet fairness.yaml": named(report.Fail, "@team GH-1 #2 :tada:x"),
		"Oloproof audit: nothing was decided, 1 problem":                                                        {Errors: []report.Problem{{}}},
	} {
		if got := IssueTitle(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := IssueTitle(named(report.Fail, strings.Repeat("x ", 500))); len([]rune(got)) > 200 || !strings.HasPrefix(got, "Oloproof audit: FAIL, x x") {
		t.Error(got)
	}
}

// The problems of a run that cannot be used are shown or counted, whatever the limit.
func TestCommentOfErrors(t *testing.T) {
	r := readReports(t)["many_errors"]
	total := len(r.Errors) + r.MoreErrors
	for most := 400; most < 20_000; most += 300 {
		text := comment(t, r, CommentOptions{MaxBytes: most})
		if len(text) > most || !strings.Contains(text, "### 🚫 Oloproof: nothing was decided, "+whole(total)+" problems") {
			t.Errorf("%d bytes of %d:\n%s", len(text), most, text)
		}
		shown, more := len(regexp.MustCompile("(?m)^- [`\\p{L}]").FindAllString(text, -1)), countIn(text, `(?m)^- and ([0-9,]+) more`)
		if more > 0 {
			shown-- // the line that counts
		}
		if strings.Contains(text, "<sub>") && shown+more != total {
			t.Errorf("in %d bytes %d problems are shown and %d counted, of %d:\n%s", most, shown, more, total, text)
		}
	}
}

// rapidReport draws a report: gates with rules of every kind of verdict, change, group and text, and what may stand beside them.
func rapidReport(t *rapid.T) *report.Report {
	r := report.New("1.0.0")
	text := func(name string) string {
		return rapid.SampledFrom([]string{"A sentence.", "another thing", "x | y", "`code` of @name", "</details>", strings.Repeat("long ", 60)}).Draw(t, name)
	}
	size := func(name string, small, large int) int { // mostly small
		if rapid.IntRange(0, 4).Draw(t, name+" is large") == 0 {
			small = large
		}
		return rapid.IntRange(0, small).Draw(t, name)
	}
	compared := rapid.Bool().Draw(t, "compared")
	if compared {
		r.Baseline = &report.Baseline{File: report.File{Path: "before.json"}}
		for i := range size("removed", 3, 60) {
			r.RemovedRules = append(r.RemovedRules, report.RemovedRule{Gate: "fairness", ID: fmt.Sprintf("gone-%d", i), Verdict: report.Pass})
		}
	}
	for i := range size("policy changes", 3, 150) {
		r.PolicyChanges = append(r.PolicyChanges, report.PolicyChange{Loosens: rapid.Bool().Draw(t, "loosens"), Message: text("message"), Position: diag.Pos{File: "p.yaml", Line: i}})
	}
	drawn := 0
	for i := range rapid.IntRange(1, 3).Draw(t, "gates") {
		g := report.Gate{Gate: "fairness", Name: fmt.Sprintf("gate %d", i), Summary: "It was read.", MinShown: rapid.SampledFrom([]int{0, 0, 20}).Draw(t, "min_shown")}
		for range size("rules", 5, 150) {
			drawn++
			rule := report.Rule{ID: fmt.Sprintf("rule-%04d", drawn), Verdict: rapid.SampledFrom(report.Verdicts).Draw(t, "verdict"), Reason: text("reason"), Advisory: rapid.IntRange(0, 5).Draw(t, "advisory") == 0,
				Threshold: report.Threshold{Kind: report.Maximum, Value: 0.05}, Position: diag.Pos{File: "p.yaml", Line: drawn}}
			rule.Metric, rule.Scale = "error", unit
			n := rapid.IntRange(1, 3000).Draw(t, "n")
			rule.Numerator, rule.Denominator, rule.Units = report.Int(n/2), report.Int(n), report.Int(n)
			rule.Estimate = report.Number(0.5)
			rule.Interval = report.PublishInterval(interval.Interval{Lower: 0.25, Upper: 0.75, Confidence: rapid.SampledFrom([]float64{0.95, 0.95, 0.99}).Draw(t, "confidence"), Method: interval.MethodClopperPearson})
			if compared {
				rule.Before = &report.Before{Change: rapid.SampledFrom(changeOrder).Draw(t, "change"), Verdict: report.Pass, Estimate: report.Number(0.25), Interval: rule.Interval}
			}
			if rapid.Bool().Draw(t, "needs") {
				rule.Needs = &report.Needs{What: text("what"), AtLeast: 12}
			}
			for k := range size("cells", 2, 8) {
				cell := report.Cell{Measure: rule.Measure}
				cell.Labels = map[string]string{"attribute": "a", "group": fmt.Sprintf("g %d", k)}
				rule.Cells = append(rule.Cells, cell)
			}
			g.Rules = append(g.Rules, rule)
			if rapid.Bool().Draw(t, "measured") {
				g.Measures = append(g.Measures, rule.Measure)
			}
		}
		for range size("findings", 3, 40) {
			g.Findings = append(g.Findings, report.Finding{Code: "c", Severity: rapid.SampledFrom([]report.Severity{report.Warning, report.Note}).Draw(t, "severity"), Message: text("finding")})
		}
		g.Assumptions, g.Limits = []string{text("assumption")}, []string{text("limit")}
		r.Gates = append(r.Gates, g)
	}
	r.Policy = &report.File{Path: "p.yaml"}
	r.Decide()
	return r
}

// countIn adds up the numbers that a pattern's group finds in a text, with their thousands set apart.
func countIn(text, pattern string) int {
	total := 0
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		if err != nil {
			panic(err) // only in tests, whose patterns have a number
		}
		total += n
	}
	return total
}

// Whatever the report and the limit, the bytes hold to it, every table and fold is whole, and what is not shown is counted: of
// rules, of changes of the policy, of findings, groups and measures.
func TestNothingIsDroppedUncounted(t *testing.T) {
	short := CommentOptions{Run: "run 812", RunURL: "https://github.example/o/r/1", FileURL: func(file string, line int) string {
		return fmt.Sprintf("https://github.example/o/r/%s#L%d", file, line)
	}}
	rapid.Check(t, func(t *rapid.T) {
		r := rapidReport(t)
		most := rapid.IntRange(60, 3000).Draw(t, "bytes")
		if rapid.Bool().Draw(t, "roomy") {
			most = rapid.IntRange(3000, 200_000).Draw(t, "more bytes")
		}
		looser, other := policyParts(r.PolicyChanges)
		rules, problems, warnings, notes, groups, measures := 0, 0, 0, 0, 0, 0
		for rule := range r.Rules() {
			rules++
			if problem(rule) {
				problems++
			}
			groups += len(rule.Cells)
		}
		for _, g := range r.Gates {
			measures += len(g.Measures)
			for _, f := range g.Findings {
				if f.Severity == report.Warning {
					warnings++
				} else {
					notes++
				}
			}
		}

		var b strings.Builder
		if err := Markdown(&b, r, Options{MaxBytes: most}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		b.Reset()
		short.MaxBytes = most
		if err := Comment(&b, r, short); err != nil {
			t.Fatal(err)
		}
		for form, source := range map[string]string{"summary": text, "comment": b.String()} {
			if len(source) > most || !strings.HasSuffix(source, "\n") {
				t.Fatalf("%s: %d bytes, at most %d were allowed: %q", form, len(source), most, source[max(0, len(source)-30):])
			}
			p := &probe{}
			checkComment(p, form, source, isOurs)
			if p.failed {
				t.Fatalf("%s in %d bytes: broken Markdown\n%s", form, most, source)
			}
			if !strings.Contains(source, "<sub>oloproof") && !strings.Contains(source, " · exit status") { // the headline alone
				continue
			}
			items := strings.Count(source, " [`p.yaml") // of the policy's changes, in a comment
			if form == "summary" {
				items = len(regexp.MustCompile("(?m)^- .* `p\\.yaml(:[0-9]+)?`$").FindAllString(source, -1))
			}
			more := 0
			for _, list := range regexp.MustCompile(`(?ms)^\*\*(⚠️ This p|Also changed|Changed against the policy).*?\n\n(- .*?)\n(\n|\z)`).FindAllString(source, -1) {
				more += countIn(list, `(?m)^- and ([0-9,]+) more`)
			}
			if want := len(looser) + len(other); items-strings.Count(source, "Policy line: [`p.yaml")+more != want {
				t.Fatalf("%s in %d bytes: %d changes of the policy are shown and %d counted, of %d\n%s", form, most, items, more, want, source)
			}
		}

		if strings.Contains(text, "<sub>oloproof") {
			rows := len(regexp.MustCompile("(?m)^\\| (✅|❌|⚠️|👤) [^|]*\\| `rule-").FindAllString(text, -1))
			if hiddenRows := countIn(text, `(?m)^([0-9,]+) more rules? not shown here\.`); rows+hiddenRows != rules {
				t.Fatalf("%d rules are shown and %d counted, of %d, in %d bytes\n%s", rows, hiddenRows, rules, most, text)
			}
			if !strings.Contains(text, "What this assumes") { // every gate of these assumes something
				if w, n := countIn(text, `([0-9,]+) warnings?\b`), countIn(text, `([0-9,]+) notes?\b`); w != warnings || n != notes {
					t.Fatalf("%d warnings and %d notes are counted, of %d and %d\n%s", w, n, warnings, notes, text)
				}
			}
			if !strings.Contains(text, "Groups and pairs (") && groups > 0 {
				if n := countIn(text, `([0-9,]+) groups? (?:and|or) pairs?`); n != groups {
					t.Fatalf("%d groups are counted, of %d\n%s", n, groups, text)
				}
			}
			if !strings.Contains(text, "Every measure (") && !strings.Contains(text, "| Measure |") && measures > 0 {
				if n := countIn(text, `([0-9,]+) measures? not shown`); n != measures {
					t.Fatalf("%d measures are counted, of %d\n%s", n, measures, text)
				}
			}
		}
		if source := b.String(); strings.Contains(source, " · exit status") {
			rows := len(regexp.MustCompile("(?m)^\\| (❌|⚠️|👤|✅) [^|]*\\| `rule-").FindAllString(source, -1))
			if left := countIn(source, `(?m)^([0-9,]+) more rules? did not pass and (?:is|are) not shown here\.`); rows+left != problems {
				t.Fatalf("a comment shows %d rules and counts %d, of %d, in %d bytes\n%s", rows, left, problems, most, source)
			}
			_, list, _ := strings.Cut(source, "**About the data:**")
			shown := strings.Count(list, "\n- ⚠️ ")
			left := countIn(list, `(?m)^- and ([0-9,]+) more warnings?`) + countIn(source, `([0-9,]+) warnings? about the data: see the report`)
			if shown+left != warnings {
				t.Fatalf("a comment shows %d warnings and counts %d, of %d\n%s", shown, left, warnings, source)
			}
		}
	})
}
