package summary

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/report"
)

// pageRead is a page as a parser that knows nothing of the code reads it.
type pageRead struct {
	elements map[string]int // by name
	classes  map[string]int
	texts    []string // of every run of text, but for the style sheet
	titles   []string // of every drawing
	style    string
	policy   string // what it allows a browser
	ids      []string
	links    []string // the ids that links and signs lead to
}

// seenText is all that a reader of the page sees, and what a screen reader says of its drawings.
func (p *pageRead) seenText() string { return strings.Join(p.texts, "\n") }

// The elements and attributes that a page may have: none of them loads anything, runs anything or sends anything.
var (
	pageElements = strings.Fields("html head meta title style body a svg defs pattern path symbol circle rect use header div p h1 h2 h3 span ul li ol b main section article table caption thead tbody tr th td dl dt dd figure figcaption details summary strong code small footer pre line text tspan polyline br")
	pageLinks    = regexp.MustCompile(`^#(main|needs|rule-[1-9][0-9]*|pass|fail|open|review|none)$`)
	pageIDs      = regexp.MustCompile(`^(main|needs|hatch|pass|fail|open|review|none|(rule|name)-[1-9][0-9]*)$`)
	// Of all other attributes, the values that they may have.
	pageValues = map[string]*regexp.Regexp{
		"lang": regexp.MustCompile(`^en$`), "charset": regexp.MustCompile(`^utf-8$`), "name": regexp.MustCompile(`^(viewport|color-scheme|referrer|robots)$`),
		"http-equiv": regexp.MustCompile(`^Content-Security-Policy$`), "class": regexp.MustCompile(`^[a-z]+( [a-z]+)*$`), "role": regexp.MustCompile(`^img$`), "aria-hidden": regexp.MustCompile(`^true$`),
		"aria-label": regexp.MustCompile(`^Rules by verdict$`), "aria-labelledby": regexp.MustCompile(`^name-[1-9][0-9]*$`), "tabindex": regexp.MustCompile(`^-1$`), "scope": regexp.MustCompile(`^(row|col)$`),
		"open": regexp.MustCompile(`^$`), "text-anchor": regexp.MustCompile(`^(start|middle|end)$`), "fill": regexp.MustCompile(`^currentColor$`),
		"viewBox": regexp.MustCompile(`^0 0 24 24$`), "patternUnits": regexp.MustCompile(`^userSpaceOnUse$`), "patternTransform": regexp.MustCompile(`^rotate\(45\)$`),
		"d": regexp.MustCompile(`^[MLHVazcmlhvs0-9 .-]+$`), "points": regexp.MustCompile(`^[0-9., ]+$`),
	}
	styledClasses = regexp.MustCompile(`\.[a-z]+`).FindAllString(htmlStyle, -1)
	numberWord    = regexp.MustCompile(`[0-9A-Za-z_.]+`)
	pageNumber    = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?%?$`) // of all positions and sizes
	pageSizes     = strings.Fields("x y x1 y1 x2 y2 cx cy r rx width height")
)

// readPage reads a page with Go's XML parser, which takes no tag that is not closed and no attribute without quotes, and holds it to what
// every page must be.
func readPage(t testing.TB, name, source string) *pageRead {
	t.Helper()
	p := &pageRead{elements: map[string]int{}, classes: map[string]int{}}
	dec := xml.NewDecoder(strings.NewReader(source))
	var open []string
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: the page is not well-formed: %v", name, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			tag := token.Name.Local
			if !slices.Contains(pageElements, tag) {
				t.Fatalf("%s: the page has the element %s", name, tag)
			}
			p.elements[tag]++
			open = append(open, tag)
			for _, a := range token.Attr {
				p.attribute(t, name, tag, a.Name.Local, a.Value)
			}
			if tag == "meta" && strings.HasPrefix(token.Attr[0].Value, "Content-Security") {
				p.policy = token.Attr[1].Value
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			switch text := string(token); {
			case strings.TrimSpace(text) == "":
			case slices.Contains(open, "style"):
				p.style += text
			default:
				if open[len(open)-1] == "title" && slices.Contains(open, "svg") {
					p.titles = append(p.titles, text)
				}
				p.texts = append(p.texts, text)
			}
		case xml.Directive:
			if string(token) != "DOCTYPE html" {
				t.Errorf("%s: the page has <!%s>", name, token)
			}
		default:
			t.Errorf("%s: the page has a comment or an instruction: %v", name, token)
		}
	}
	p.check(t, name, source)
	return p
}

func (p *pageRead) attribute(t testing.TB, page, tag, name, value string) {
	t.Helper()
	switch {
	case name == "href":
		if !pageLinks.MatchString(value) {
			t.Errorf("%s: a link to %q", page, value)
		}
		p.links = append(p.links, value[1:])
		return
	case name == "id":
		if !pageIDs.MatchString(value) {
			t.Errorf("%s: the id %q", page, value)
		}
		p.ids = append(p.ids, value)
		return
	case name == "content" && tag == "meta":
		return // of our own: the golden files have it
	case slices.Contains(pageSizes, name):
		if !pageNumber.MatchString(value) {
			t.Errorf("%s: %s of %s is %q", page, name, tag, value)
		}
		return
	}
	if name == "class" {
		for _, c := range strings.Fields(value) {
			p.classes[c]++
		}
	}
	allowed, found := pageValues[name]
	if !found || !allowed.MatchString(value) {
		t.Errorf("%s: %s has the attribute %s=%q", page, tag, name, value)
	}
}

// check holds a page to what does not depend on its report.
func (p *pageRead) check(t testing.TB, name, source string) {
	t.Helper()
	sum := sha256.Sum256([]byte(p.style))
	if want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"; p.policy != want {
		t.Errorf("%s: the page's policy is %q, want %q", name, p.policy, want)
	}
	if p.style != htmlStyle || strings.Contains(strings.ReplaceAll(p.style, "url(#hatch)", ""), "url(") || strings.Contains(p.style, "@import") {
		t.Errorf("%s: the style sheet is another, or loads something", name)
	}
	slices.Sort(p.ids)
	if len(slices.Compact(slices.Clone(p.ids))) != len(p.ids) {
		t.Errorf("%s: an id is there twice: %v", name, p.ids)
	}
	for _, to := range p.links {
		if !slices.Contains(p.ids, to) {
			t.Errorf("%s: a link leads to %q, which is not there", name, to)
		}
	}
	for class := range p.classes {
		if !slices.Contains(styledClasses, "."+class) {
			t.Errorf("%s: the class %s has no style", name, class)
		}
	}
	for _, one := range []string{"html", "head", "body", "h1", "main", "footer", "style"} {
		if p.elements[one] != 1 {
			t.Errorf("%s: %d elements %s", name, p.elements[one], one)
		}
	}
	for line := range strings.Lines(source) {
		if c := runnerReads(line); c != "" {
			t.Errorf("%s: a line is the command %q to a runner: %q", name, c, line)
		}
	}
	for _, r := range source {
		if r != '\n' && r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200b || r == '\ufeff' {
			t.Fatalf("%s: the page holds %U", name, r)
		}
	}
}

// cutStyle is a page without its style sheet and the digest of it, for the golden files.
func cutStyle(page string) string {
	page = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(page, "<style>…</style>")
	return regexp.MustCompile(`sha256-[^']*'`).ReplaceAllString(page, "sha256-…'")
}

func TestEveryPage(t *testing.T) {
	for name, r := range readReports(t) {
		source := write(t, "html", r, Options{})
		p := readPage(t, name, source)
		if source != write(t, "html", r, Options{}) {
			t.Errorf("%s: the page is another the second time", name)
		}
		for rule := range r.Rules() {
			if id := []rune(seen(rule.ID, nameMax)); !strings.Contains(strings.ReplaceAll(p.seenText(), leftToRight, ""), string(id[:min(len(id), 20)])) {
				t.Errorf("%s: nothing on the rule %q", name, rule.ID)
			}
		}
		if r.Verdict != report.NoVerdict && !strings.Contains(p.seenText(), strings.ReplaceAll(r.Verdict.String(), "_", " ")) {
			t.Errorf("%s: the verdict is not there", name)
		}
		for _, e := range r.Errors {
			if want := seen(e.Message, 40); len(r.Errors) < 20 && !strings.Contains(want, "`") && !strings.Contains(p.seenText(), strings.TrimSuffix(want, "…")) {
				t.Errorf("%s: the error %q is not there", name, want)
			}
		}
	}
}

// Whatever a text is, it comes out of an element and of an attribute as the text it is, and as nothing else. The parser is Go's.
func FuzzEscapeHTML(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Add("`code: x` and `` `a` ``")
	f.Fuzz(func(t *testing.T, s string) {
		const limit = 50
		want := strings.ReplaceAll(seen(s, limit), leftToRight, "")
		for _, source := range []string{"<p>" + EscapeHTML(s, limit) + "</p>", `<p title="` + EscapeHTML(s, limit) + `"></p>`, "<p title='" + EscapeHTML(s, limit) + "'></p>"} {
			var p struct {
				Text  string     `xml:",chardata"`
				Title string     `xml:"title,attr"`
				Inner []xml.Name `xml:",any"`
			}
			if err := xml.Unmarshal([]byte(source), &p); err != nil {
				t.Fatalf("EscapeHTML(%q) gives %q: %v", s, source, err)
			}
			if got := strings.ReplaceAll(p.Text+p.Title, leftToRight, ""); got != want || len(p.Inner) > 0 {
				t.Errorf("EscapeHTML(%q) is read as %q, want %q", s, got, want)
			}
		}
		var prose struct {
			Inner string `xml:",innerxml"`
		}
		source := "<p>" + EscapeHTMLProse(s, limit) + "</p>"
		if err := xml.Unmarshal([]byte(source), &prose); err != nil {
			t.Fatalf("EscapeHTMLProse(%q) gives %q: %v", s, source, err)
		}
		if rest := strings.NewReplacer("<code>", "", "</code>", "").Replace(prose.Inner); strings.ContainsAny(rest, "<>") {
			t.Errorf("EscapeHTMLProse(%q) gives %q", s, source)
		}
		if c := runnerReads(EscapeHTML(s, limit)); strings.HasPrefix(c, "##") {
			t.Errorf("EscapeHTML(%q) is the command %q", s, c)
		}
	})
}

func TestEscapeHTML(t *testing.T) {
	for _, test := range []struct {
		s     string
		limit int
		want  string
	}{
		{`<b a="1" c='2'>&amp;`, 100, "&lt;b a=&#34;1&#34; c=&#39;2&#39;&gt;&amp;amp;"},
		{"##[error]x", 100, "&#35;&#35;[error]x"},
		{"a\x00b\u202ec\nd", 100, `a\x00b\u202ec d`},
		{"abcdefghijkl", 10, "abcdefghi…"},
	} {
		if got := EscapeHTML(test.s, test.limit); got != test.want {
			t.Errorf("EscapeHTML(%q, %d) = %q, want %q", test.s, test.limit, got, test.want)
		}
	}
	for s, want := range map[string]string{
		"set `looks: repeated` first": "set <code>looks: repeated</code> first",
		"a ``b`` c":                   "a ``b`` c",
		"`<b>`":                       "`&lt;b&gt;`",
		"` a`":                        "` a`",
	} {
		if got := EscapeHTMLProse(s, 100); got != want {
			t.Errorf("EscapeHTMLProse(%q) = %q, want %q", s, got, want)
		}
	}
}

// A mark is never drawn on the other side of a threshold than the one its number is on, however near, nor on it unless it is equal.
func TestMarksKeepTheirSide(t *testing.T) {
	s := span{0, 1}
	for _, limit := range []float64{0, 1e-9, 0.2, 0.5, 1 - 1e-9, 1} {
		for _, x := range []float64{0, 1e-12, 0.1999999, 0.2, 0.2000001, 0.5, 1} {
			at, mark := s.beside(x, &limit), s.at(limit)
			if x < limit != (at < mark) || x > limit != (at > mark) {
				t.Errorf("%v is drawn at %v, the threshold %v at %v", x, at, limit, mark)
			}
			if at < 0 || at > 100 {
				t.Errorf("%v is drawn at %v, outside", x, at)
			}
		}
	}
	if got := s.beside(0.25, nil); got != 26 { // 2 + 0.25 · 96
		t.Errorf("0.25 of the axis is at %v, want 26", got)
	}
}

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		s    span
		want []float64
	}{
		{span{0, 1}, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{span{-1, 1}, []float64{-1, -0.5, 0, 0.5, 1}},
		{span{0.7, 0.75}, []float64{0.7, 0.72, 0.74}},
		{span{0, 37}, []float64{0, 10, 20, 30}},
		{span{1e300, 1e300 * (1 + 1e-15)}, nil}, // nothing round lies between, and nothing goes on for ever
	} {
		if diff := cmp.Diff(test.want, test.s.ticks()); diff != "" && test.want != nil {
			t.Errorf("%v: %s", test.s, diff)
		}
		if n := len(test.s.ticks()); n > 7 {
			t.Errorf("%v has %d ticks", test.s, n)
		}
	}
}

// The side on which nothing may be is shaded: below a minimum, above a maximum, and none for what has no number. Positions are 2 + 96·share percent.
func TestForbiddenSide(t *testing.T) {
	for _, test := range []struct {
		t    report.Threshold
		want string
	}{
		{report.Threshold{Kind: report.Minimum, Value: 0.5}, `<rect class="no" x="0.00%" y="0" width="50.00%" height="9"/>`},
		{report.Threshold{Kind: report.MinGroupRatio, Value: 0.5}, `<rect class="no" x="0.00%" y="0" width="50.00%" height="9"/>`},
		{report.Threshold{Kind: report.WorstGroup, Side: report.Minimum, Value: 0.5}, `<rect class="no" x="0.00%" y="0" width="50.00%" height="9"/>`},
		{report.Threshold{Kind: report.Maximum, Value: 0.25}, `<rect class="no" x="26.00%" y="0" width="74.00%" height="9"/>`},
		{report.Threshold{Kind: report.MaxGroupGap, Value: 0.25}, `<rect class="no" x="26.00%" y="0" width="74.00%" height="9"/>`},
		{report.Threshold{Kind: report.WorstGroup, Side: report.Maximum, Value: 0.25}, `<rect class="no" x="26.00%" y="0" width="74.00%" height="9"/>`},
		{report.Threshold{Kind: "another", Value: 0.25}, ``},
	} {
		d := &drawing{}
		d.forbidden(span{0, 1}, test.t, 0, 9)
		if got, _, _ := strings.Cut(d.out.String(), "<line"); got != test.want {
			t.Errorf("%v: %s, want %s", test.t, got, test.want)
		}
	}
}

// gainsReport is a report of people's gains beside a rule on their mean. Its interval is made up.
func gainsReport(minShown int, values ...float64) *report.Report {
	m := report.Measure{Metric: "accuracy_difference", Scale: difference, Estimate: report.Number(0.125), Units: report.Int(len(values)), UnitName: "people",
		Interval: report.PublishInterval(interval.Interval{Lower: -0.25, Upper: 0.5, Confidence: 0.95, Method: interval.MethodUniformMixture, Looks: interval.LooksAny})}
	rule := report.Rule{ID: "better", Measure: m, Verdict: report.InsufficientEvidence, Reason: "It cannot be told.", Threshold: report.Threshold{Kind: report.Minimum}}
	m.Spread = report.NewSpread(values)
	r := report.New("1.0.0")
	r.Confidence = 0.95
	r.Gates = []report.Gate{{Gate: "human-ai", MinShown: minShown, Summary: "People.", Measures: []report.Measure{m}, Rules: []report.Rule{rule}}}
	r.Decide()
	return r
}

// Every person is a dot; of many people there are a hundred; with min_shown there is none.
func TestGainsAreDrawn(t *testing.T) {
	few := []float64{-0.5, 0, 0, 0.25, 0.25, 0.25, 1}
	p := readPage(t, "few", write(t, "html", gainsReport(0, few...), Options{}))
	if p.classes["unit"] != len(few) || !strings.Contains(p.seenText(), "Each dot is one of 7 people") {
		t.Errorf("%d dots of %d people:\n%s", p.classes["unit"], len(few), p.seenText())
	}
	var many []float64
	for i := range 100_000 {
		many = append(many, float64(i%2001-1000)/1000)
	}
	source := write(t, "html", gainsReport(0, many...), Options{})
	p = readPage(t, "many", source)
	if p.classes["unit"] != report.SpreadShown || !strings.Contains(p.seenText(), "Each dot stands for 1 % of 100,000 people") || len(source) > 60_000 {
		t.Errorf("%d dots, %d bytes", p.classes["unit"], len(source))
	}
	p = readPage(t, "hidden", write(t, "html", gainsReport(5, few...), Options{}))
	if p.classes["unit"] != 0 || strings.Contains(p.seenText(), "Each person") {
		t.Errorf("with min_shown people's gains are seen:\n%s", p.seenText())
	}
}

// A curve has a point for each bin; with min_shown only for those with as many cases of both labels.
func TestCurvesAreDrawn(t *testing.T) {
	m := report.Measure{Metric: calibrationError, Labels: map[string]string{"attribute": "sex", "group": "female"}, Estimate: report.Number(0.0625), UnderCalibration: report.Number(0.03125), Units: report.Int(90), Denominator: report.Int(90), UnitName: "cases",
		Bins: []report.CalibrationBin{{From: 0, To: 0.5, Probability: 0.25, Positives: 12, Cases: 50}, {From: 0.5, To: 1, Probability: 0.75, Positives: 38, Cases: 40}}}
	for least, want := range map[int]int{0: 2, 2: 2, 3: 1, 13: 0} { // the second has 2 of label 0, the first 12 of label 1
		r := report.New("1.0.0")
		r.Gates = []report.Gate{{Gate: "fairness", MinShown: least, Summary: "s", Measures: []report.Measure{m}}}
		p := readPage(t, "curve", write(t, "html", r, Options{}))
		if p.classes["unit"] != want {
			t.Errorf("min_shown %d: %d points, want %d", least, p.classes["unit"], want)
		}
		if told := strings.Contains(p.seenText(), "0.75 given, 0.95 seen"); told != (want == 2) { // 38 of 40
			t.Errorf("min_shown %d: the second bin is told: %v", least, told)
		}
	}
}

// Signs are drawn with their counts, unless those are hidden; moved cases with both results.
func TestSignsAreDrawn(t *testing.T) {
	m := report.Measure{Metric: "sign_test", PValue: report.Number(0.0625), Better: report.Int(5), Worse: report.Int(0), Equal: report.Int(3), Units: report.Int(8), UnitName: "cases", Method: interval.MethodSignTest,
		Moved: []report.Moved{{Case: "case-<3>", Baseline: 0.25, Candidate: 0.75}}}
	r := report.New("1.0.0")
	r.Gates = []report.Gate{{Gate: "compare", Settings: map[string]string{"baseline": "old", "candidate": "new"}, Summary: "s", Measures: []report.Measure{m}}}
	p := readPage(t, "signs", write(t, "html", r, Options{}))
	if p.classes["better"] != 2 || !strings.Contains(p.seenText(), "Of 8 cases: 5 better, 0 worse, 3 equal; p 0.0625.") || !strings.Contains(p.seenText(), "case-<3>") || p.classes["ring"] != 1 {
		t.Errorf("not drawn:\n%s", p.seenText())
	}
	r.Gates[0].MinShown = 2
	p = readPage(t, "hidden signs", write(t, "html", r, Options{}))
	if p.classes["better"]+p.classes["worse"] != 0 || strings.Contains(p.seenText(), "5 better") || strings.Contains(p.seenText(), "case-<3>") {
		t.Errorf("0 worse is below min_shown, and seen:\n%s", p.seenText())
	}
}

// Blind and visible agreement stand beside each other, and the gap in words.
func TestAnchoringIsDrawn(t *testing.T) {
	labels := map[string]string{"per": "item"}
	of := func(metric string, scale *report.Scale, estimate, lower, upper float64) report.Measure {
		return report.Measure{Metric: metric, Labels: labels, Scale: scale, Estimate: &estimate, Interval: &report.Interval{Lower: &lower, Upper: &upper, Confidence: 0.95, Method: interval.MethodClopperPearson, Looks: interval.LooksOne}}
	}
	r := report.New("1.0.0")
	r.Gates = []report.Gate{{Gate: "anchoring", Summary: "s", Measures: []report.Measure{of("blind_agreement", unit, 0.75, 0.5, 0.875), of("visible_agreement", unit, 0.9375, 0.875, 1), of("anchoring_gap", difference, 0.1875, -0.125, 0.5)}}}
	p := readPage(t, "anchoring", write(t, "html", r, Options{}))
	for _, want := range []string{"Blind against visible agreement, per item", "Blind: 0.750 (95 % interval 0.500 … 0.875).", "Visible: 0.938 (95 % interval 0.875 … 1.000).", "The gap, visible minus blind: +0.188 (95 % interval -0.125 … +0.500)."} {
		if !strings.Contains(p.seenText(), want) {
			t.Errorf("%q is missing:\n%s", want, p.seenText())
		}
	}
}

// TestPageHidesSmallCounts is TestPublishedHidesSmallCounts for a page: no small count is seen, nor any other where one is, nor the
// numbers or the drawing of a group whose rate is hidden.
func TestPageHidesSmallCounts(t *testing.T) {
	const least = 1000
	rapid.Check(t, func(rt *rapid.T) {
		size := func(name string) int {
			if rapid.IntRange(0, 9).Draw(rt, name+" is small") == 0 {
				return rapid.IntRange(130, least-1).Draw(rt, name)
			}
			return rapid.IntRange(2*least, 20*least).Draw(rt, name)
		}
		var groups []counts
		anySmall := false
		told := map[int]bool{}
		var total counts
		drawn := 0 // the groups whose numbers may be seen
		for range rapid.IntRange(2, 5).Draw(rt, "groups") {
			c := counts{k: size("k"), missing: size("missing"), left: size("left")}
			c.n = c.k + size("rest")
			groups = append(groups, c)
			total = counts{total.k + c.k, total.n + c.n, total.missing + c.missing, total.left + c.left}
			for _, n := range []int{c.k, c.n, c.n - c.k, c.missing, c.left} {
				anySmall, told[n] = anySmall || n < least, true
			}
			told[c.n/2] = true
			if c.k >= least && c.n-c.k >= least && (c.missing >= least || c.n >= least*100) && c.n/2 >= least {
				drawn++
			}
		}
		for _, n := range []int{total.k, total.n, total.n - total.k, total.missing, total.left} {
			told[n] = true
		}
		for _, open := range []int{least, 7000, total.n + total.missing} { // settings, and how much was read
			delete(told, open)
		}
		p := readPage(t, "published", write(t, "html", publishable(least, groups), Options{}))
		if !anySmall {
			if slices.Contains(p.texts, hidden) || strings.Contains(p.seenText(), "counts hidden") || strings.Contains(p.seenText(), "min_shown") {
				rt.Fatalf("nothing is small, and yet something is hidden:\n%s", p.seenText())
			}
			return
		}
		for _, text := range p.texts {
			for _, word := range numberWord.FindAllString(strings.NewReplacer(",", "", "SHA-256", "").Replace(text), -1) {
				if n, err := strconv.Atoi(strings.TrimSuffix(word, ".")); err == nil && told[n] {
					rt.Fatalf("%d is seen in %q", n, text)
				}
			}
		}
		if strings.Contains(p.seenText(), "counted both ways") {
			rt.Fatalf("completions are seen:\n%s", p.seenText())
		}
		// Of each group the table of the rule and three rates, and of each pair, at most one drawing with one dot; the rule's own and everyone's.
		if most := 4*drawn + drawn*(drawn-1)/2 + 2; p.classes["dot"] > most {
			rt.Fatalf("%d intervals are drawn of %d groups that may be seen, at most %d", p.classes["dot"], drawn, most)
		}
	})
}

// Long lists are cut, and what is left out is counted.
func TestLongPages(t *testing.T) {
	source := write(t, "html", manyRules(500), Options{})
	p := readPage(t, "500 rules", source)
	if p.elements["article"] != 2*htmlRules || !strings.Contains(p.seenText(), "300 more rules with nothing but a line in the table above") || len(source) > 700_000 {
		t.Errorf("%d rules have a part, in %d bytes", p.elements["article"], len(source))
	}
	for i := range 500 {
		if !strings.Contains(p.seenText(), fmt.Sprintf("rule-%03d", i)) {
			t.Fatalf("rule-%03d is not there", i)
		}
	}
	var groups []counts
	for range 250 {
		groups = append(groups, counts{k: 500, n: 1000})
	}
	source = write(t, "html", publishable(0, groups), Options{})
	p = readPage(t, "250 groups", source)
	for _, want := range []string{"and 150 more groups: see the JSON report.", "and 31,025 more pairs: see the JSON report."} { // 250·249/2 − 100
		if !strings.Contains(p.seenText(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if len(source) > 700_000 {
		t.Errorf("250 groups take %d bytes", len(source))
	}
}

// A page of check and one of report name no verdict, one of errors is no pass.
func TestPagesWithoutVerdict(t *testing.T) {
	reports := readReports(t)
	for name, want := range map[string]string{"check": "Check of", "report": "Report on", "errors": "NO VERDICT"} {
		p := readPage(t, name, write(t, "html", reports[name], Options{}))
		if !strings.Contains(p.seenText(), want) || strings.Contains(p.seenText(), "PASS") || p.classes["pass"] > 0 {
			t.Errorf("%s:\n%s", name, p.seenText())
		}
	}
}

// A page of several gates begins with the rules that need someone, the failed one first whichever gate it is in, each with a link to its
// part; one of a single gate has its table.
func TestAttention(t *testing.T) {
	gateOf := func(gate string, verdicts ...report.Verdict) report.Gate {
		g := report.Gate{Gate: gate}
		for i, v := range verdicts {
			g.Rules = append(g.Rules, report.Rule{ID: fmt.Sprintf("%s-%d", gate, i), Verdict: v, Reason: "So it is."})
		}
		return g
	}
	r := report.New("1.0.0")
	r.Inputs = []report.Input{{Path: "a.csv"}, {Path: "b.csv"}, {Path: "c.csv"}}
	r.Policies = []report.File{{Path: "a.yaml"}, {Path: "b.yaml"}}
	r.Gates = []report.Gate{gateOf("human-ai", report.Pass, report.InsufficientEvidence), gateOf("compare", report.Pass, report.ManualReview, report.Fail, report.Fail)}
	r.Gates[1].Rules[3].Advisory = true
	r.Decide()
	source := write(t, "html", r, Options{})
	readPage(t, "two gates", source)
	if !strings.Contains(source, "3 files of 2 gates do not meet 2 policy files</h1>") {
		t.Error("the heading names the files, or nothing")
	}
	_, list, _ := strings.Cut(source, `id="needs"`)
	list, _, _ = strings.Cut(list, "</section>")
	at := -1
	for _, id := range []string{"compare-2", "compare-1", "human-ai-1"} { // FAIL, MANUAL_REVIEW, INSUFFICIENT_EVIDENCE
		link := regexp.MustCompile(`<a href="#(rule-[0-9]+)"><code>` + id + `</code></a>`).FindStringSubmatchIndex(list)
		if link == nil || link[0] < at {
			t.Fatalf("%s is not in its place in %s", id, list)
		}
		at = link[0]
		_, part, _ := strings.Cut(source, `id="`+list[link[2]:link[3]]+`"`)
		part, _, _ = strings.Cut(part, "</h3>")
		if !strings.Contains(part, "<code>"+id+"</code>") {
			t.Errorf("the link of %s leads to %s", id, part)
		}
	}
	if strings.Contains(list, "compare-3") || strings.Contains(list, "compare-0") {
		t.Errorf("a rule that does not count, or passed, is in %s", list)
	}
	if n := strings.Count(source, `<a href="#needs">`); n != 3 { // as many verdicts as are not PASS
		t.Errorf("%d links lead to the list", n)
	}
	for range 50 {
		r.Gates[1].Rules = append(r.Gates[1].Rules, report.Rule{ID: fmt.Sprintf("more-%d", len(r.Gates[1].Rules)), Verdict: report.Fail, Reason: "So it is."})
	}
	r.Decide()
	if source = write(t, "html", r, Options{}); !strings.Contains(source, "and 23 more rules, in the tables of their gates.") { // 3 + 50 - 30
		t.Error("what the list leaves out is not counted")
	}
	r.Gates = r.Gates[1:]
	r.Decide()
	if source = write(t, "html", r, Options{}); strings.Contains(source, "#needs") || strings.Contains(source, `id="needs"`) {
		t.Error("a page of one gate has the list")
	}
}

// What stands under a rule on a terminal stands under it in the page's table.
func TestTableSaysWhatTheTerminalSays(t *testing.T) {
	rules := []report.Rule{
		{ID: "a", Verdict: report.Pass, WithLeftOut: report.Fail, Reason: "So it is."},
		{ID: "b", Verdict: report.ManualReview, Waived: &report.Waived{Until: "2027-01-01", Owner: "o", Reason: "r", Verdict: report.Fail}, Reason: "So it is."},
		{ID: "c", Verdict: report.Fail, Advisory: true, Reason: "So it is."},
	}
	r := report.New("1.0.0")
	r.Gates = []report.Gate{{Gate: "compare", Rules: rules}}
	r.Decide()
	source := write(t, "html", r, Options{})
	table, _, _ := strings.Cut(source[strings.Index(source, "<caption>The rules"):], "</table>")
	for id, under := range map[string]string{"a": "recorded cases only: with its left-out cases at their worst FAIL", "b": "waived", "c": "advisory"} {
		if !strings.Contains(table, "<code>"+id+"</code></a><small>"+under+"</small></th>") {
			t.Errorf("%s is not under %s in\n%s", under, id, table)
		}
	}
}

// A policy that was loosened is named where the page says what changed, and its confidence in the banner: the verdict turned for that.
func TestLoosenedPolicyIsNamed(t *testing.T) {
	of := func(maximum, confidence float64, verdict report.Verdict, policy, data string) *report.Report {
		lower, upper, estimate := 0.02, 0.08, 0.05
		r := report.New("1.0.0")
		r.Confidence = confidence
		r.Policy = &report.File{Path: "p.yaml", SHA256: policy}
		r.Inputs = []report.Input{{Path: "d.csv", SHA256: data}}
		r.Gates = []report.Gate{{Gate: "fairness", Rules: []report.Rule{{ID: "gap", Verdict: verdict, Reason: "So it is.",
			Threshold: report.Threshold{Kind: report.MaxGroupGap, Value: maximum},
			Measure:   report.Measure{Metric: "error", Estimate: &estimate, Interval: &report.Interval{Lower: &lower, Upper: &upper, Confidence: confidence, Method: interval.MethodBonferroni}}}}}}
		r.Decide()
		return r
	}
	const (
		only    = "The policy changed, and the data are the same: what turned may have turned by the policy alone."
		lowered = "Confidence 95 % before, 50 % now, so that less is needed to pass, and to fail."
		moved   = "Easier to pass than before: gap (must be gap ≤ 0.1, before gap ≤ 0.05)."
	)
	strict := func() *report.Report { return of(0.05, 0.95, report.InsufficientEvidence, "1", "2") }
	for _, test := range []struct {
		name   string
		now    *report.Report
		want   []string
		absent []string
	}{
		{"loosened", of(0.1, 0.5, report.Pass, "3", "2"), []string{only, lowered, moved}, nil},
		{"only the threshold", of(0.1, 0.95, report.Pass, "3", "2"), []string{only, moved}, []string{"Confidence 95 % before"}},
		{"other data too", of(0.05, 0.5, report.Pass, "3", "4"), []string{"The policy changed, and so did the data.", lowered}, []string{"Easier", only}},
		{"tightened", of(0.01, 0.99, report.Fail, "3", "2"), []string{only, "Confidence 95 % before, 99 % now."}, []string{"Easier"}},
		{"the same", of(0.05, 0.95, report.InsufficientEvidence, "1", "2"), nil, []string{"The policy changed", "Confidence 95 % before", "Easier", "policy diff"}},
	} {
		d := report.Compare(strict(), test.now, report.File{Path: "old.json"}, report.File{Path: "new.json"}, "1.0.0")
		inDiff := strings.Join(diffSays(d), " ")
		test.now.CompareWith(strict(), report.File{Path: "old.json"})
		page := readPage(t, test.name, write(t, "html", test.now, Options{}))
		seen := page.seenText()
		terminal := strings.Join(strings.Fields(write(t, "terminal", test.now, Options{Unicode: true})), " ")
		for _, want := range test.want {
			if !strings.Contains(seen, want) || !strings.Contains(terminal, want) {
				t.Errorf("%s: %q is missing in\n%s\n%s", test.name, want, seen, terminal)
			}
			if !strings.HasPrefix(want, "The policy") && !strings.Contains(inDiff, want) { // which the diff has in words of its own
				t.Errorf("%s: %q is missing in %s", test.name, want, inDiff)
			}
		}
		if named := strings.Contains(inDiff, "oloproof policy diff"); named != (test.want != nil) {
			t.Errorf("%s: %s", test.name, inDiff)
		}
		for _, absent := range test.absent {
			if strings.Contains(seen, absent) || strings.Contains(inDiff, absent) {
				t.Errorf("%s: %q is in\n%s\n%s", test.name, absent, seen, inDiff)
			}
		}
	}
	for _, v := range []report.Verdict{report.Pass, report.Fail, report.InsufficientEvidence} {
		if lead := verdictMeans(of(0.1, 0.5, v, "1", "2")); !strings.Contains(lead, " at 50 % confidence.") {
			t.Errorf("%s: %s", v, lead)
		}
	}
}
