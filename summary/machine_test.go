package summary

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/report"
)

// The checks here are strict readers of our own, from the documents that each names. The formats' own readers (the OASIS schema,
// Prometheus) are in test/formats, which installs them.

// perVerdict counts a report's rules.
func perVerdict(r *report.Report) (passed, others int) {
	for rule := range r.Rules() {
		if rule.Verdict == report.Pass {
			passed++
		} else {
			others++
		}
	}
	return passed, others
}

// junitAllowed is what may stand where in JUnit XML, after Jenkins' schema junit-10.xsd: the elements in each, and its attributes,
// those that it needs marked by "!".
var junitAllowed = map[string]struct{ elements, attributes []string }{
	"":           {[]string{"testsuites"}, nil},
	"testsuites": {[]string{"testsuite"}, []string{"name", "time", "tests", "failures", "errors"}},
	"testsuite": {[]string{"testsuite", "properties", "testcase", "system-out", "system-err"},
		[]string{"name!", "tests!", "failures!", "errors!", "group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"}},
	"properties": {[]string{"property"}, nil},
	"property":   {nil, []string{"name!", "value!"}},
	"testcase":   {[]string{"skipped", "error", "failure", "system-out", "system-err"}, []string{"name!", "time", "classname", "group"}},
	"skipped":    {nil, []string{"type", "message"}},
	"error":      {nil, []string{"type", "message"}},
	"failure":    {nil, []string{"type", "message"}},
	"system-out": {nil, nil},
	"system-err": {nil, nil},
}

// junitRead is what a reader makes of a document.
type junitRead struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Suites   []struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Cases    []struct {
			Class   string       `xml:"classname,attr"`
			Name    string       `xml:"name,attr"`
			Failure *junitReason `xml:"failure"`
			Error   *junitReason `xml:"error"`
			Skipped *junitReason `xml:"skipped"`
			Out     *string      `xml:"system-out"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type junitReason struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// readJUnit reads a document strictly.
func readJUnit(t testing.TB, name, text string) junitRead {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(text))
	var open []string
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			parent := ""
			if len(open) > 0 {
				parent = open[len(open)-1]
			}
			element := token.Name.Local
			if !slices.Contains(junitAllowed[parent].elements, element) {
				t.Errorf("%s: <%s> stands in <%s>", name, element, parent)
			}
			for _, a := range token.Attr {
				if !slices.Contains(junitAllowed[element].attributes, a.Name.Local) && !slices.Contains(junitAllowed[element].attributes, a.Name.Local+"!") {
					t.Errorf("%s: <%s> has the attribute %s", name, element, a.Name.Local)
				}
			}
			for _, want := range junitAllowed[element].attributes {
				need, must := strings.CutSuffix(want, "!")
				if must && !slices.ContainsFunc(token.Attr, func(a xml.Attr) bool { return a.Name.Local == need }) {
					t.Errorf("%s: <%s> has no %s", name, element, need)
				}
			}
			open = append(open, element)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.ProcInst, xml.CharData:
		default:
			t.Errorf("%s: a %T", name, token)
		}
	}
	var read junitRead
	if err := xml.Unmarshal([]byte(text), &read); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return read
}

// checkJUnit reads a report in JUnit's form, and counts.
func checkJUnit(t testing.TB, name string, r *report.Report) {
	t.Helper()
	text := write(t, "junit", r, Options{})
	read := readJUnit(t, name, text)
	seen := map[string]bool{}
	var total [4]int // tests, failures, errors, skipped
	passed := 0
	for _, s := range read.Suites {
		var counts [4]int
		for _, c := range s.Cases {
			counts[0]++
			if key := c.Class + "\x00" + c.Name; seen[key] || c.Name == "" || c.Class == "" {
				t.Errorf("%s: the case %q of %q is there twice, or has no name", name, c.Name, c.Class)
			} else {
				seen[key] = true
			}
			results := 0
			for i, reason := range []*junitReason{c.Failure, c.Error, c.Skipped} {
				if reason != nil {
					results++
					counts[i+1]++
					if reason.Message == "" || reason.Type == "" || reason.Type == "PASS" {
						t.Errorf("%s: the case %q has the result %+v", name, c.Name, reason)
					}
				}
			}
			if results == 0 {
				passed++
			}
			if results > 1 || (results == 0) != (c.Out != nil) {
				t.Errorf("%s: the case %q has %d results", name, c.Name, results)
			}
		}
		if want := [4]int{s.Tests, s.Failures, s.Errors, s.Skipped}; counts != want {
			t.Errorf("%s: the suite %q counts %v, and has %v", name, s.Name, want, counts)
		}
		for i := range total {
			total[i] += counts[i]
		}
	}
	if total[0] != read.Tests || total[1] != read.Failures || total[2] != read.Errors || total[0] == 0 {
		t.Errorf("%s: the document counts %d, %d, %d, and has %v", name, read.Tests, read.Failures, read.Errors, total)
	}
	if want, _ := perVerdict(r); passed != want {
		t.Errorf("%s: %d cases pass, and %d rules", name, passed, want)
	}
	checkLines(t, name, text)
}

func TestJUnit(t *testing.T) {
	for name, r := range readReports(t) {
		checkJUnit(t, name, r)
	}
}

// checkLines checks that no line of a document is a command to a CI runner, and that nothing in it hides.
func checkLines(t testing.TB, name, text string) {
	t.Helper()
	if !strings.HasSuffix(text, "\n") || strings.HasPrefix(text, "\ufeff") {
		t.Errorf("%s: it does not end with a line end, or begins with a byte-order mark", name)
	}
	for line := range strings.Lines(text) {
		if c := runnerReads(line); c != "" {
			t.Errorf("%s: a line is the command %q to a runner: %q", name, c, line)
		}
		for _, c := range strings.TrimSuffix(line, "\n") {
			if c < 0x20 || c >= 0x7f && c < 0xa0 || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 || c == '\ufffd' {
				t.Errorf("%s: a line has the character %U: %q", name, c, line)
			}
		}
	}
}

func TestDistinct(t *testing.T) {
	got := distinct([]string{"a", "b", "a", "a (2)", "a\x01", `a\x01`, "a"})
	if diff := cmp.Diff([]string{"a", "b", "a (2)", "a (2) (2)", `a\x01`, `a\x01 (2)`, "a (3)"}, got); diff != "" {
		t.Error(diff)
	}
}

// readSARIF decodes a document as the standard has it; test/formats holds it to its schema.
func readSARIF(t testing.TB, name, text string) sarifRun {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	var log sarifLog
	if err := dec.Decode(&log); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("%s: version %q, %d runs", name, log.Version, len(log.Runs))
	}
	return log.Runs[0]
}

// relativeReference finds what is no relative reference of RFC 3986: a scheme, a root, a way up, or a character to be encoded.
var relativeReference = regexp.MustCompile(`^[0-9A-Za-z._~!$&'()*+,;=@%-]+(/[0-9A-Za-z._~!$&'()*+,;=@%-]+)*$`)

// checkSARIF reads a report in SARIF, and counts.
func checkSARIF(t testing.TB, name string, r *report.Report) {
	t.Helper()
	text := write(t, "sarif", r, Options{})
	run := readSARIF(t, name, text)
	checkLines(t, name, text)
	ids := map[string]bool{}
	for _, rule := range run.Tool.Driver.Rules {
		if ids[rule.ID] || rule.ID == "" || rule.Help.Text == "" || rule.Help.Markdown == "" || rule.FullDescription.Text == "" || rule.ShortDescription.Text == "" {
			t.Errorf("%s: the rule %+v is there twice, or lacks a text", name, rule)
		}
		ids[rule.ID] = true
		for _, block := range readOutline(t, name, rule.Help.Markdown).blocks {
			t.Errorf("%s: HTML in the help of %s: %s", name, rule.ID, block)
		}
	}
	prints := map[string]bool{}
	for _, result := range run.Results {
		if result.RuleIndex >= len(run.Tool.Driver.Rules) || run.Tool.Driver.Rules[result.RuleIndex].ID != result.RuleID {
			t.Errorf("%s: the result of %q points to rule %d", name, result.RuleID, result.RuleIndex)
		}
		if !slices.Contains([]string{"error", "warning", "note"}, result.Level) || result.Properties.Verdict == "PASS" {
			t.Errorf("%s: the result of %q has the level %q and the verdict %s", name, result.RuleID, result.Level, result.Properties.Verdict)
		}
		message := result.Message.Text
		if message == "" || strings.Contains(message, "](") || oddBraces.MatchString(message) {
			t.Errorf("%s: the message %q is empty, or a reader finds a link or a placeholder in it", name, message)
		}
		fingerprint := result.Fingerprints[fingerprintV1]
		if prints[fingerprint] || len(fingerprint) != 32 {
			t.Errorf("%s: the fingerprint %q of %q is there twice, or is none", name, fingerprint, result.RuleID)
		}
		prints[fingerprint] = true
		for _, l := range result.Locations {
			uri := l.Physical.Artifact.URI
			if u, err := url.Parse(uri); err != nil || u.IsAbs() || u.Host != "" || !relativeReference.MatchString(uri) || strings.HasPrefix(uri, "../") {
				t.Errorf("%s: the address %q is not relative: %v", name, uri, err)
			}
			if l.Physical.Region.StartLine < 1 || l.Physical.Region.StartColumn < 0 {
				t.Errorf("%s: the region %+v", name, l.Physical.Region)
			}
		}
	}
	_, others := perVerdict(r)
	want := others + len(r.Errors)
	if r.Verdict == report.NoVerdict && len(r.Errors) == 0 {
		want = 1
	}
	if len(run.Results) != want {
		t.Errorf("%s: %d results, want %d", name, len(run.Results), want)
	}
	if run.Invocations[0].Successful == (r.ExitStatus == 2) || run.Invocations[0].ExitCode != r.Status(report.DefaultFailOn()) {
		t.Errorf("%s: the run ended with %d, and the document says %+v", name, r.ExitStatus, run.Invocations[0])
	}
}

func TestSARIF(t *testing.T) {
	for name, r := range readReports(t) {
		checkSARIF(t, name, r)
	}
}

// oddBraces finds a brace that is not doubled.
var oddBraces = regexp.MustCompile(`(^|[^{])\{(\{\{)*([^{]|$)|(^|[^}])\}(\}\})*([^}]|$)`)

// checkCodeQuality reads a report as GitLab does, and counts.
func checkCodeQuality(t testing.TB, name string, r *report.Report) {
	t.Helper()
	text := write(t, "codequality", r, Options{})
	checkLines(t, name, text)
	// The fields, and that all are needed: GitLab's documentation, "Code Quality report format".
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	var issues []codeIssue
	if err := dec.Decode(&issues); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	prints := map[string]bool{}
	for _, i := range issues {
		if i.Description == "" || i.CheckName == "" || i.Fingerprint == "" || i.Location.Path == "" || i.Location.Lines.Begin < 1 || prints[i.Fingerprint] {
			t.Errorf("%s: the issue %+v lacks something, or its fingerprint is another's", name, i)
		}
		prints[i.Fingerprint] = true
		if !slices.Contains([]string{"info", "minor", "major", "critical", "blocker"}, i.Severity) {
			t.Errorf("%s: the severity %q", name, i.Severity)
		}
		if (strings.HasPrefix(i.Location.Path, "./") || strings.HasPrefix(i.Location.Path, "/")) && (Options{}).inRepository(i.Location.Path) != "" {
			t.Errorf("%s: the path %q is not relative to the repository", name, i.Location.Path)
		}
	}
	_, others := perVerdict(r)
	want := others + len(r.Errors)
	if r.Verdict == report.NoVerdict && len(r.Errors) == 0 {
		want = 1
	}
	if len(issues) != want {
		t.Errorf("%s: %d issues, want %d", name, len(issues), want)
	}
}

func TestCodeQuality(t *testing.T) {
	for name, r := range readReports(t) {
		checkCodeQuality(t, name, r)
	}
}

var (
	metricHelp   = regexp.MustCompile(`^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ([^\\"]*)$`)
	metricType   = regexp.MustCompile(`^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) gauge$`)
	metricSample = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^\\"]|\\[\\"n])*",?)*\})? (\S+)$`)
)

// readMetrics reads a text by the grammar of OpenMetrics 1.0: families one after the other, each with help and type before its samples,
// no sample twice, "# EOF" last. test/formats has Prometheus' own readers.
func readMetrics(t testing.TB, name, text string) map[string]float64 {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[len(lines)-1] != "# EOF" {
		t.Fatalf("%s: it ends with %q", name, lines[len(lines)-1])
	}
	samples, families, family := map[string]float64{}, map[string]bool{}, ""
	for i := 0; i < len(lines)-1; i++ {
		line := lines[i]
		if help := metricHelp.FindStringSubmatch(line); help != nil {
			kind := metricType.FindStringSubmatch(lines[i+1])
			if kind == nil || kind[1] != help[1] || families[help[1]] {
				t.Errorf("%s: the family %s begins twice, or has no type", name, help[1])
			}
			family, families[help[1]] = help[1], true
			i++
			continue
		}
		m := metricSample.FindStringSubmatch(line)
		if m == nil || m[1] != family {
			t.Errorf("%s: the line %q of the family %s", name, line, family)
			continue
		}
		value, err := strconv.ParseFloat(m[3], 64)
		key := m[1] + m[2]
		if _, twice := samples[key]; twice || err != nil {
			t.Errorf("%s: the sample %q is there twice, or has no number: %v", name, line, err)
		}
		samples[key] = value
	}
	return samples
}

// checkMetrics reads a report in OpenMetrics, and counts.
func checkMetrics(t testing.TB, name string, r *report.Report) {
	t.Helper()
	text := write(t, "openmetrics", r, Options{})
	checkLines(t, name, text)
	samples := readMetrics(t, name, text)
	if got := samples[`oloproof_verdict{verdict="`+r.Verdict.String()+`"}`]; got != 1 {
		t.Errorf("%s: the verdict %s is %v", name, r.Verdict, got)
	}
	if got := samples["oloproof_exit_status"]; got != float64(r.Status(report.DefaultFailOn())) {
		t.Errorf("%s: the exit status is %v", name, got)
	}
	var verdicts, ones, rules float64
	for key, value := range samples {
		if strings.HasPrefix(key, "oloproof_verdict") {
			verdicts += value
		}
		if strings.HasPrefix(key, "oloproof_rule_verdict") {
			ones += value
		}
	}
	for range r.Rules() {
		rules++
	}
	if verdicts != 1 || ones != rules {
		t.Errorf("%s: %v verdicts of the run, %v of %v rules", name, verdicts, ones, rules)
	}
}

func TestOpenMetrics(t *testing.T) {
	for name, r := range readReports(t) {
		checkMetrics(t, name, r)
	}
	// Of mixed.json: the numbers of its first rule, as the report has them.
	r := readReports(t)["mixed"]
	rule := &r.Gates[0].Rules[0]
	labels := fmt.Sprintf(`{gate=%q,section=%q,rule=%q,metric=%q`, r.Gates[0].Gate, r.Gates[0].Name, rule.ID, rule.Metric)
	if r.Gates[0].Name == "" {
		labels = fmt.Sprintf(`{gate=%q,rule=%q,metric=%q`, r.Gates[0].Gate, rule.ID, rule.Metric)
	}
	samples := readMetrics(t, "mixed", write(t, "openmetrics", r, Options{}))
	for key, want := range map[string]float64{
		"oloproof_rule_estimate" + labels + "}": *rule.Estimate, "oloproof_rule_lower" + labels + "}": *rule.Interval.Lower,
		"oloproof_rule_upper" + labels + "}":                                                            *rule.Interval.Upper,
		"oloproof_rule_threshold" + labels + `,kind="` + string(rule.Threshold.Kind) + `"}`:             rule.Threshold.Value,
		"oloproof_rule_verdict" + labels + `,verdict="` + strings.ToUpper(rule.Verdict.String()) + `"}`: 1,
	} {
		if got, found := samples[key]; !found || got != want {
			t.Errorf("%s is %v (%v), want %v", key, got, found, want)
		}
	}
	// A side that is not bounded, and an estimate without an interval.
	rule.Interval = &report.Interval{Upper: report.Number(0.5), Confidence: 0.95}
	samples = readMetrics(t, "unbounded", write(t, "openmetrics", r, Options{}))
	if got := samples["oloproof_rule_lower"+labels+"}"]; !(got < -1e300) {
		t.Errorf("an unbounded lower end is %v", got)
	}
	rule.Interval = nil
	samples = readMetrics(t, "no interval", write(t, "openmetrics", r, Options{}))
	if _, found := samples["oloproof_rule_estimate"+labels+"}"]; found {
		t.Error("an estimate stands without an interval")
	}
}

// dotenvLine is what GitLab takes (artifacts:reports:dotenv): a name of letters, digits and underscores, and a value on the same line;
// and narrower than that, a value that means nothing to a shell.
var dotenvLine = regexp.MustCompile(`^([A-Z0-9_]+)=((?:[0-9A-Za-z._][0-9A-Za-z._,-]*)?)$`)

// readDotenv reads variables: at most 5 KB, 20 of them (the least of GitLab's limits, of self-managed instances), none twice.
func readDotenv(t testing.TB, name, text string) map[string]string {
	t.Helper()
	if len(text) > 5000 {
		t.Errorf("%s: %d bytes", name, len(text))
	}
	vars := map[string]string{}
	for line := range strings.Lines(text) {
		m := dotenvLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			t.Errorf("%s: the line %q", name, line)
			continue
		}
		if _, twice := vars[m[1]]; twice {
			t.Errorf("%s: %s is set twice", name, m[1])
		}
		vars[m[1]] = m[2]
	}
	if len(vars) > 20 {
		t.Errorf("%s: %d variables", name, len(vars))
	}
	return vars
}

func TestDotenv(t *testing.T) {
	reports := readReports(t)
	reports["long"] = manyRules(3000) // 1,000 ids of eight letters do not fit
	for name, r := range reports {
		vars := readDotenv(t, name, write(t, "dotenv", r, Options{}))
		for variable, want := range map[string]string{
			"OLOPROOF_VERDICT": r.Verdict.String(), "OLOPROOF_EXIT_CODE": strconv.Itoa(r.ExitStatus), "OLOPROOF_NOT_PASSED": strconv.Itoa(len(r.FailingRules())),
		} {
			if vars[variable] != want {
				t.Errorf("%s: %s is %q, want %q", name, variable, vars[variable], want)
			}
		}
		ids := 0
		if list := vars["OLOPROOF_FAILING_RULES"]; list != "" {
			ids = strings.Count(list, ",") + 1
		}
		if all := len(r.FailingRules()); name == "long" && (ids >= all || ids < 500) || name != "long" && ids != all {
			t.Errorf("%s: %d of %d ids", name, ids, all)
		}
	}
	got := readDotenv(t, "names", write(t, "dotenv", hostileIDs("a b", "$(id)", "-rf", "x\nOLOPROOF_VERDICT=PASS", "é"), Options{}))
	if want := "a_b,__id_,_rf,x_OLOPROOF_VERDICT_PASS,_"; got["OLOPROOF_FAILING_RULES"] != want || got["OLOPROOF_VERDICT"] != "FAIL" {
		t.Errorf("%q", got)
	}
}

// hostileIDs is a report of rules that fail, of these ids.
func hostileIDs(ids ...string) *report.Report {
	r := report.New("1.0.0")
	g := report.Gate{Gate: "compare"}
	for _, id := range ids {
		g.Rules = append(g.Rules, report.Rule{ID: id, Verdict: report.Fail, Reason: id, Measure: report.Measure{Metric: "rate"}})
	}
	r.Gates = []report.Gate{g}
	r.Decide()
	return r
}

// breakingOut is text that breaks out of what it stands in, in one format or another.
var breakingOut = []string{
	"]]><testcase name=\"x\"/>", "a\x00b", "half \xed\xa0\x80 surrogate", "\xff\xfe", "\ufffe", "##[error]x", "::error::x", "a\u202eb",
	`"} 1` + "\n" + `oloproof_verdict{verdict="PASS"} 1`, "{0}", "[a](1)", "x\n# EOF\n", `\`, `\n`, "a\u2028b",
}

func TestMachineEscapes(t *testing.T) {
	r := hostileIDs(breakingOut...)
	read := readJUnit(t, "junit", write(t, "junit", r, Options{}))
	if read.Failures != len(breakingOut) || len(read.Suites) != 1 {
		t.Errorf("%d failures of %d", read.Failures, len(breakingOut))
	}
	if run := readSARIF(t, "sarif", write(t, "sarif", r, Options{})); len(run.Results) != len(breakingOut) {
		t.Errorf("%d results of %d", len(run.Results), len(breakingOut))
	}
	samples := readMetrics(t, "openmetrics", write(t, "openmetrics", r, Options{}))
	if samples[`oloproof_verdict{verdict="PASS"}`] != 0 || samples[`oloproof_verdict{verdict="FAIL"}`] != 1 {
		t.Error("a name has set the verdict")
	}
	for _, format := range []string{"junit", "sarif", "codequality", "openmetrics"} {
		checkLines(t, format, write(t, format, r, Options{}))
	}
	if got, want := EscapeMessage("{0} [a](b) }"), "{{0}} [a]\u200b(b) }}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := EscapeXML("a<b>&\"'\x00\n]]>"), `a&lt;b&gt;&amp;&quot;&#39;\x00 ]]&gt;`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := EscapeLabel("a\\\"\nb"), `a\\\" b`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := addressOf("a b/c:d/é#?%.yaml"), "a%20b/c%3Ad/%C3%A9%23%3F%25.yaml"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzMachines puts one text from data in every place of a report that holds text: each format for machines is read as before, and says
// as much.
func FuzzMachines(f *testing.F) {
	for i, s := range append([]string{"x\nOLOPROOF_VERDICT=PASS", "../../x", cardEnds, "/", ".", "a:b", "", "é漢"}, breakingOut...) {
		f.Add(s, byte(i))
	}
	reports := readReports(f)
	names := []string{"baseline", "check", "errors"}
	f.Fuzz(func(t *testing.T, s string, which byte) {
		name := names[int(which)%len(names)]
		r := replaceTexts(reports[name], s)
		ids := 0
		for rule := range r.Rules() { // a run's rules have ids of their own
			rule.ID = fmt.Sprint(s, ids)
			ids++
		}
		for i := range r.Errors { // and a problem says something
			r.Errors[i].Message = "found " + s
		}
		checkJUnit(t, name, r)
		checkSARIF(t, name, r)
		checkCodeQuality(t, name, r)
		checkMetrics(t, name, r)
		checkCard(t, name, r)
		vars := readDotenv(t, name, write(t, "dotenv", r, Options{}))
		if vars["OLOPROOF_VERDICT"] != r.Verdict.String() || vars["OLOPROOF_EXIT_CODE"] != strconv.Itoa(r.ExitStatus) || vars["OLOPROOF_NOT_PASSED"] != strconv.Itoa(len(r.FailingRules())) {
			t.Errorf("%s: the variables are %v", name, vars)
		}
	})
}

// fingerprints are those of a report's rules, by id, in SARIF and in Code Quality.
func fingerprints(t *testing.T, r *report.Report) (sarif, quality map[string]string) {
	t.Helper()
	sarif, quality = map[string]string{}, map[string]string{}
	for _, result := range readSARIF(t, "", write(t, "sarif", r, Options{})).Results {
		sarif[result.RuleID] = result.Fingerprints[fingerprintV1]
	}
	var issues []codeIssue
	if err := json.Unmarshal([]byte(write(t, "codequality", r, Options{})), &issues); err != nil {
		t.Fatal(err)
	}
	for _, i := range issues {
		quality[i.CheckName] = i.Fingerprint
	}
	return sarif, quality
}

// TestFingerprints: a rule keeps its fingerprint when its line moves, its numbers and its words change, its policy is renamed and
// other rules come before it. A verdict that turns is a new issue to Code Quality, and the same alert to SARIF.
func TestFingerprints(t *testing.T) {
	wantSARIF, wantQuality := fingerprints(t, readReports(t)["mixed"])
	r := readReports(t)["mixed"]
	r.Policy.Path = "elsewhere/policy.yaml"
	for i := range r.Gates {
		rules := r.Gates[i].Rules
		for k := range rules {
			rules[k].Position.Line += 7
			rules[k].Position.File = r.Policy.Path
			rules[k].Reason = "Other words."
			if rules[k].Interval != nil {
				rules[k].Interval.Upper = report.Number(0.99)
			}
			rules[k].Threshold.Value /= 2
		}
		slices.Reverse(rules)
	}
	gotSARIF, gotQuality := fingerprints(t, r)
	if diff := cmp.Diff(wantSARIF, gotSARIF); diff != "" || len(wantSARIF) < 2 {
		t.Errorf("SARIF:\n%s", diff)
	}
	if diff := cmp.Diff(wantQuality, gotQuality); diff != "" {
		t.Errorf("Code Quality:\n%s", diff)
	}
	all := slices.Collect(maps.Values(gotSARIF))
	slices.Sort(all)
	if len(slices.Compact(all)) != len(gotSARIF) {
		t.Error("two rules have one fingerprint")
	}
	for rule := range r.Rules() {
		if rule.Verdict == report.InsufficientEvidence {
			rule.Verdict = report.Fail
			turnedSARIF, turnedQuality := fingerprints(t, r)
			if turnedSARIF[rule.ID] != wantSARIF[rule.ID] || turnedQuality[rule.ID] == wantQuality[rule.ID] {
				t.Errorf("%s turned from undecided to FAIL: its alert is another, or its issue the same", rule.ID)
			}
			return
		}
	}
	t.Error("mixed.json has no undecided rule")
}

// The places of problems of one kind keep apart and keep still: the second of its kind in a file is the second wherever it is.
func TestProblemIdentities(t *testing.T) {
	at := func(file string, line int, value string) report.Problem {
		return report.Problem{File: file, Line: line, Message: `condition is "` + value + `"; write "with" or "without"`}
	}
	got := problemIdentities([]report.Problem{at("a.csv", 3, "x"), at("a.csv", 9, "y"), at("b.csv", 3, "x")})
	moved := problemIdentities([]report.Problem{at("a.csv", 4, "z"), at("a.csv", 10, "y"), at("b.csv", 7, "q")})
	if diff := cmp.Diff(got, moved); diff != "" || got[0] == got[1] || got[0] == got[2] {
		t.Errorf("%v\n%s", got, diff)
	}
}

// Where rules and problems are told: at their line, relative to the repository, and where they have no place at the policy's first line.
func TestPlaces(t *testing.T) {
	r := hostileIDs("a")
	r.Policy = &report.File{Path: "./sub/policy.yaml"}
	rule := &r.Gates[0].Rules[0]
	under := func(file string) string { return "repo/" + strings.TrimPrefix(file, "./") }
	for _, test := range []struct {
		file         string
		line, column int
		base         bool
		repository   func(string) string
		want         spot
	}{
		{"sub/policy.yaml", 7, 5, false, nil, spot{"sub/policy.yaml", 7, 5}},
		{"./sub//policy.yaml", 7, 0, false, nil, spot{"sub/policy.yaml", 7, 0}},
		{"", 0, 0, false, nil, spot{"sub/policy.yaml", 1, 0}},
		{"/etc/policy.yaml", 7, 5, false, nil, spot{"", 7, 5}},
		{"../policy.yaml", 7, 5, false, nil, spot{"", 7, 5}},
		{"-", 7, 5, false, nil, spot{"", 7, 5}},
		{"sub/policy.yaml", 7, 5, false, under, spot{"repo/sub/policy.yaml", 7, 5}},
		{"", 0, 0, false, under, spot{"repo/sub/policy.yaml", 1, 0}},
		{"sub/policy.yaml", 7, 5, true, nil, spot{"sub/policy.yaml", 1, 0}}, // its line is the base branch's
	} {
		rule.Position.File, rule.Position.Line, rule.Position.Column = test.file, test.line, test.column
		r.PolicyFromBase = test.base
		got := spotOf(r, Options{Repository: test.repository}, test.file, test.line, test.column)
		if got != test.want {
			t.Errorf("%+v: got %+v", test, got)
		}
		text := write(t, "sarif", r, Options{Repository: test.repository})
		result := readSARIF(t, test.file, text).Results[0]
		if test.want.path == "" && len(result.Locations) > 0 || test.want.path != "" && result.Locations[0].Physical.Artifact.URI != test.want.path {
			t.Errorf("%+v: the locations %+v", test, result.Locations)
		}
		if strings.Contains(result.Message.Text, "Line 7 of the policy as it is on the base branch") != test.base {
			t.Errorf("%+v: the message %q", test, result.Message.Text)
		}
	}
}

// What does not count, and what a person has reviewed, asks for nobody.
func TestStanding(t *testing.T) {
	r := hostileIDs("counts", "advisory", "reviewed", "old-review", "undecided")
	rules := r.Gates[0].Rules
	rules[1].Advisory = true
	rules[2].Verdict, rules[2].Reviewed = report.ManualReview, &report.Reviewed{By: "Ada", On: "2026-11-30", Reason: "seen", Valid: true}
	rules[3].Verdict, rules[3].Reviewed = report.ManualReview, &report.Reviewed{By: "Ada", On: "2026-11-30", Reason: "seen"}
	rules[4].Verdict = report.InsufficientEvidence
	r.Decide()
	var levels, severities, elements []string
	for _, result := range readSARIF(t, "", write(t, "sarif", r, Options{})).Results {
		levels = append(levels, result.Level)
		if want := result.RuleID == "reviewed"; want != (len(result.Suppressions) == 1) {
			t.Errorf("%s has the suppressions %+v", result.RuleID, result.Suppressions)
		}
	}
	var issues []codeIssue
	if err := json.Unmarshal([]byte(write(t, "codequality", r, Options{})), &issues); err != nil {
		t.Fatal(err)
	}
	for _, i := range issues {
		severities = append(severities, i.Severity)
	}
	for _, c := range readJUnit(t, "", write(t, "junit", r, Options{})).Suites[0].Cases {
		switch {
		case c.Failure != nil:
			elements = append(elements, "failure")
		case c.Skipped != nil:
			elements = append(elements, "skipped")
		}
	}
	for _, test := range []struct {
		what      string
		got, want []string
	}{
		{"levels", levels, []string{"error", "note", "note", "warning", "warning"}},
		{"severities", severities, []string{"critical", "info", "info", "major", "major"}},
		{"elements", elements, []string{"failure", "skipped", "skipped", "skipped", "skipped"}},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.what, diff)
		}
	}
}

// cardBlock is the part of a model card between its marks.
func cardBlock(t testing.TB, name, text string) string {
	t.Helper()
	inner, begins := strings.CutPrefix(text, cardBegins+"\n")
	inner, ends := strings.CutSuffix(inner, cardEnds+"\n")
	if !begins || !ends || strings.Contains(inner, "<!--") {
		t.Errorf("%s: the card does not stand between its marks", name)
	}
	return inner
}

// checkCard reads a report as a block of a model card.
func checkCard(t testing.TB, name string, r *report.Report) {
	t.Helper()
	source := cardBlock(t, name, write(t, "model-card", r, Options{}))
	o := readOutline(t, name, source)
	checkOutline(t, name, o)
	if o.headings != 1+len(r.Gates) {
		t.Errorf("%s: %d headings", name, o.headings)
	}
	if len(o.tables) == 0 || o.tables[0] != "2x6" { // a header and the facts: verdict, rules, how sure, error, decided by
		t.Errorf("%s: the first of the tables %v has not the facts", name, o.tables)
	}
	if !strings.Contains(source, "| Verdict | **"+r.Verdict.String()+"**") {
		t.Errorf("%s: the verdict is not the first fact", name)
	}
	for line := range strings.Lines(source) {
		if c := runnerReads(line); c != "" {
			t.Errorf("%s: a line is the command %q to a runner: %q", name, c, line)
		}
	}
}

// TestModelCard: the block has the same headings and the same facts whatever the report, and no markup of data.
func TestModelCard(t *testing.T) {
	for name, r := range readReports(t) {
		checkCard(t, name, r)
	}
	// Rules stand in the policy's order, whatever they come to.
	r := readReports(t)["mixed"]
	before := write(t, "model-card", r, Options{})
	at := -1
	for rule := range r.Rules() {
		i := strings.Index(before, "| `"+rule.ID+"`")
		if i <= at {
			t.Errorf("%s is at %d, after %d", rule.ID, i, at)
		}
		at = i
	}
}

// TestModelCardMarks: a script that looks for the marks finds the block's own and no other, whatever a rule, a file or a gate is called,
// also where it looks for a part of a line.
func TestModelCardMarks(t *testing.T) {
	for _, mark := range []string{"x " + cardEnds + " y", cardBegins, "x oloproof model-card/1 end y", "\n" + cardEnds + "\n"} {
		for name, r := range readReports(t) {
			text := write(t, "model-card", replaceTexts(r, mark), Options{})
			if n := strings.Count(text, cardMark); n != 2 || !strings.HasPrefix(text, cardBegins+"\n") || !strings.HasSuffix(text, "\n"+cardEnds+"\n") {
				t.Errorf("%s with %q: the words of the marks stand in it %d times", name, mark, n)
			}
		}
	}
}

// TestMachinesHideCounts: what a gate's min_shown hides is in none of these formats; the numbers are those of publishable, whose
// group of 37 of 150 is below 1,000.
func TestMachinesHideCounts(t *testing.T) {
	groups := []counts{{k: 37, n: 150}, {k: 2100, n: 9000}}
	for _, format := range []string{"junit", "sarif", "codequality", "openmetrics", "dotenv", "model-card"} {
		seen := func(least int) bool {
			text := write(t, format, publishable(least, groups), Options{})
			return regexp.MustCompile(`\b(37|6,?850|0\.246[0-9]*)\b`).MatchString(text)
		}
		if seen(1000) {
			t.Errorf("%s tells a count that is hidden:\n%s", format, write(t, format, publishable(1000, groups), Options{}))
		}
		if tells := format != "openmetrics" && format != "dotenv"; seen(0) != tells {
			t.Errorf("%s without min_shown: counts are seen is %v", format, !tells)
		}
	}
	hidden := readMetrics(t, "hidden", write(t, "openmetrics", publishable(1000, groups), Options{}))
	open := readMetrics(t, "open", write(t, "openmetrics", publishable(0, groups), Options{}))
	const lower = `oloproof_rule_lower{gate="fairness",rule="gap",metric="error"}`
	if _, found := hidden[lower]; found {
		t.Error("the interval of a hidden pair is a sample")
	}
	if _, found := open[lower]; !found {
		t.Error("without min_shown it is not")
	}
}

// The same report gives the same bytes, and a format writes nothing more where its writer fails.
func TestMachineBytes(t *testing.T) {
	for name, r := range readReports(t) {
		for _, f := range Formats() {
			var one, two bytes.Buffer
			if err := errors.Join(f.Write(&one, r, Options{}), f.Write(&two, r, Options{})); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(one.Bytes(), two.Bytes()) {
				t.Errorf("%s as %s: two writes differ", name, f.Name)
			}
			if err := f.Write(broken{}, r, Options{}); err == nil {
				t.Errorf("%s as %s: a writer that fails goes unnoticed", name, f.Name)
			}
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

// Reports with next to nothing in them are no good news in any format: no case passes, no verdict is PASS.
func TestMachinesOfLittle(t *testing.T) {
	forgotten := report.New("") // a gate forgot to decide
	forgotten.Gates = []report.Gate{{Rules: []report.Rule{{}}}}
	forgotten.Decide()
	advisory := report.New("x")
	advisory.Gates = []report.Gate{{Gate: "compare", Rules: []report.Rule{{ID: "a", Advisory: true, Verdict: report.Pass}}}}
	advisory.Decide()
	unusable := report.New("x")
	unusable.ExitStatus = report.ExitUnusable
	for name, r := range map[string]*report.Report{
		"empty": report.New("x"), "unusable": unusable, "forgotten": forgotten, "advisory": advisory,
		"problem": {ExitStatus: 2, Errors: []report.Problem{{}}, MoreErrors: 7}, "gate": {Gates: []report.Gate{{}}},
	} {
		read := readJUnit(t, name, write(t, "junit", r, Options{}))
		bad := 0
		for _, s := range read.Suites {
			for _, c := range s.Cases {
				if c.Error != nil || c.Skipped != nil {
					bad++
				}
			}
		}
		if bad == 0 || (r.ExitStatus == 2) != (read.Errors > 0) {
			t.Errorf("%s: %+v", name, read)
		}
		if run := readSARIF(t, name, write(t, "sarif", r, Options{})); len(run.Results) == 0 || (r.ExitStatus == 2) == run.Invocations[0].Successful {
			t.Errorf("%s: %+v", name, run)
		}
		if text := write(t, "codequality", r, Options{}); text == "[]\n" {
			t.Errorf("%s: no issue", name)
		}
		if samples := readMetrics(t, name, write(t, "openmetrics", r, Options{})); samples[`oloproof_verdict{verdict="NO_VERDICT"}`] != 1 {
			t.Errorf("%s: %v", name, samples)
		}
		if vars := readDotenv(t, name, write(t, "dotenv", r, Options{})); vars["OLOPROOF_VERDICT"] != "NO_VERDICT" {
			t.Errorf("%s: %v", name, vars)
		}
		if text := cardBlock(t, name, write(t, "model-card", r, Options{})); !strings.Contains(text, "**NO_VERDICT**") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// diffs are differences between the reports of testdata, by name.
func diffs(t testing.TB) map[string]*report.Diff {
	t.Helper()
	reports := readReports(t)
	of := func(before, after *report.Report) *report.Diff {
		return report.Compare(before, after, report.File{Path: "old.json", SHA256: strings.Repeat("0", 64)}, report.File{Path: "new.json", SHA256: strings.Repeat("1", 64)}, "0.4.0")
	}
	turned := readReports(t)["mixed"] // the same rules, of which some turned
	for i := range turned.Gates {
		for k := range turned.Gates[i].Rules {
			rule := &turned.Gates[i].Rules[k]
			switch {
			case rule.Verdict == report.Pass:
				rule.Verdict = report.Fail
			case rule.Verdict == report.Fail:
				rule.Verdict = report.Pass
				rule.Threshold.Value *= 2
			case rule.Verdict == report.ManualReview && rule.Interval != nil:
				rule.Interval.Confidence = 0.99
			}
		}
	}
	turned.Decide()
	return map[string]*report.Diff{
		"diff_same": of(reports["mixed"], reports["mixed"]), "diff_turned": of(reports["mixed"], turned), "diff_other": of(reports["pass"], reports["fairness"]),
		"diff_hostile": of(reports["fail"], reports["hostile"]), "diff_many": of(manyRules(3), manyRules(700)),
	}
}

// TestDiffForms: what differs is told, in the width and without markup or commands of data.
func TestDiffForms(t *testing.T) {
	for name, d := range diffs(t) {
		for _, width := range []int{40, 80, 120} {
			for _, utf8 := range []bool{true, false} {
				checkTerminal(t, name, writeDiff(t, "terminal", d, Options{Unicode: utf8, Width: width}), width)
			}
		}
		source := writeDiff(t, "markdown", d, Options{})
		checkOutline(t, name, readOutline(t, name, source))
		checkLines(t, name, writeDiff(t, "json", d, Options{}))
		for _, text := range []string{source, writeDiff(t, "terminal", d, Options{Unicode: true})} {
			if !strings.Contains(text, fmt.Sprintf("exit status %d (", d.ExitStatus)) {
				t.Errorf("%s: the exit status %d is not told:\n%s", name, d.ExitStatus, text)
			}
		}
		changed, same := changedRules(d)
		if len(changed)+same != len(d.Rules) {
			t.Errorf("%s: %d changed and %d did not, of %d", name, len(changed), same, len(d.Rules))
		}
		if rows := strings.Count(source, "\n| ") - 2; len(changed) > 0 && rows != min(len(changed), diffRows) { // less header and rule
			t.Errorf("%s: %d rows of %d", name, rows, len(changed))
		}
		if rest := len(changed) - diffRows; rest > 0 && !strings.Contains(source, "And "+whole(rest)+" more rules changed") {
			t.Errorf("%s: %d rules are left out without a word", name, rest)
		}
	}
	hides := diffs(t)["diff_turned"]
	for i := range hides.Rules {
		hides.Rules[i].MinShown = 5
	}
	if text := writeDiff(t, "markdown", hides, Options{}); !strings.Contains(text, "(numbers hidden)") || strings.Contains(text, "…") {
		t.Errorf("with min_shown numbers are published:\n%s", text)
	}
	if err := WriteDiff(io.Discard, "html", hides, Options{}); err == nil || err.Error() != `unknown format "html"; use terminal, markdown, json` {
		t.Errorf("%v", err)
	}
}

func writeDiff(t testing.TB, format string, d *report.Diff, opts Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteDiff(&b, format, d, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
