package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// What every form of a report says, read by readers of our own who know the form and nothing of the program: they have to conclude the same.

// said is what a reader concludes from one form of a report. What a form does not tell is left empty, and -1 for the exit status.
type said struct {
	verdict  string
	exit     int            // the exit status that the form says the process has
	counts   map[string]int // counting rules by verdict, without those of no rule
	rules    map[string]string
	advisory []string // ids of rules that do not count
}

// says begins what a reader concludes.
func says() *said {
	return &said{exit: -1, counts: map[string]int{}, rules: map[string]string{}}
}

// jsonReader reads the JSON report by its published names alone, and counts what it has itself.
func jsonReader(t rapid.TB, text string, failOn []string) *said {
	var doc struct {
		Verdict    string
		ExitStatus int `json:"exit_status"`
		Counts     map[string]int
		Gates      []struct {
			Rules []struct {
				ID, Verdict string
				Advisory    bool
				Reviewed    struct{ Valid bool }
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("the JSON report: %v", err)
	}
	s := says()
	statuses := map[string]int{"PASS": 0, "FAIL": 1, "INSUFFICIENT_EVIDENCE": 3, "MANUAL_REVIEW": 4}
	order := []string{"", "PASS", "INSUFFICIENT_EVIDENCE", "MANUAL_REVIEW", "FAIL"} // from best to worst
	worst, ends := "", ""
	for _, g := range doc.Gates {
		for _, r := range g.Rules {
			s.rules[r.ID] = r.Verdict
			if r.Advisory {
				s.advisory = append(s.advisory, r.ID)
				continue
			}
			s.counts[r.Verdict]++
			if slices.Index(order, r.Verdict) > slices.Index(order, worst) {
				worst = r.Verdict
			}
			if slices.Contains(failOn, r.Verdict) && !(r.Verdict == "MANUAL_REVIEW" && r.Reviewed.Valid) && slices.Index(order, r.Verdict) > slices.Index(order, ends) {
				ends = r.Verdict
			}
		}
	}
	s.verdict, s.exit = worst, statuses[ends]
	if doc.Verdict != worst || doc.ExitStatus != statuses[worst] {
		t.Fatalf("the JSON report says %s and exit status %d, and its worst rule is %s", doc.Verdict, doc.ExitStatus, worst)
	}
	for v, n := range doc.Counts {
		if s.counts[v] != n {
			t.Fatalf("the JSON report counts %d rules as %s, and has %d", n, v, s.counts[v])
		}
	}
	return s
}

// junitReader reads the XML as a CI platform does: a test case passes, fails, has an error, or is skipped.
func junitReader(t rapid.TB, text string) *said {
	type result struct {
		Type string `xml:"type,attr"`
	}
	var doc struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Suites   []struct {
			Tests      int `xml:"tests,attr"`
			Failures   int `xml:"failures,attr"`
			Skipped    int `xml:"skipped,attr"`
			Properties []struct {
				Name  string `xml:"name,attr"`
				Value string `xml:"value,attr"`
			} `xml:"properties>property"`
			Cases []struct {
				Name    string  `xml:"name,attr"`
				Failure *result `xml:"failure"`
				Skipped *result `xml:"skipped"`
				Error   *result `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("junit: %v", err)
	}
	s := says()
	tests, failures := 0, 0
	for _, suite := range doc.Suites {
		own, failed, skipped := 0, 0, 0
		for _, c := range suite.Cases {
			own++
			verdict := "PASS"
			switch {
			case c.Error != nil:
				t.Fatalf("junit: %s is an error", c.Name)
			case c.Failure != nil:
				failed++
				if verdict = c.Failure.Type; verdict != "FAIL" {
					t.Fatalf("junit: %s is a failure, and %s", c.Name, verdict)
				}
			case c.Skipped != nil:
				skipped++
				verdict = c.Skipped.Type
			}
			s.rules[c.Name] = verdict
		}
		if own != suite.Tests || failed != suite.Failures || skipped != suite.Skipped {
			t.Fatalf("junit: a suite says %d tests, %d failures, %d skipped, and has %d, %d, %d", suite.Tests, suite.Failures, suite.Skipped, own, failed, skipped)
		}
		tests, failures = tests+own, failures+failed
		for _, p := range suite.Properties {
			if p.Name == "oloproof.verdict" {
				s.verdict = p.Value
			}
		}
	}
	if tests != doc.Tests || failures != doc.Failures || doc.Errors != 0 {
		t.Fatalf("junit: %d tests, %d failures and %d errors, and there are %d and %d", doc.Tests, doc.Failures, doc.Errors, tests, failures)
	}
	s.counts["FAIL"] = failures // the build fails where there is one
	return s
}

// sarifReader reads results as code scanning does: by their levels, a rule without a result passes.
func sarifReader(t rapid.TB, text string) *said {
	var doc struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Invocations []struct {
				ExecutionSuccessful bool
				ExitCode            int
			}
			Results []struct {
				RuleID, Level string
				RuleIndex     int
				Properties    struct{ Verdict string }
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil || len(doc.Runs) != 1 || len(doc.Runs[0].Invocations) != 1 {
		t.Fatalf("sarif: %v, %d runs", err, len(doc.Runs))
	}
	run := doc.Runs[0]
	s := says()
	s.exit = run.Invocations[0].ExitCode
	if !run.Invocations[0].ExecutionSuccessful {
		t.Fatal("sarif: the run was not successful")
	}
	for _, r := range run.Tool.Driver.Rules {
		s.rules[r.ID] = "PASS"
	}
	for _, r := range run.Results {
		if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID || s.rules[r.RuleID] != "PASS" {
			t.Fatalf("sarif: a result of %s has the rule %d", r.RuleID, r.RuleIndex)
		}
		s.rules[r.RuleID] = r.Properties.Verdict
		if r.Level == "error" {
			s.counts["FAIL"]++
		}
	}
	return s
}

// qualityReader reads issues as a merge request shows them: by their severity, and no issue is no problem.
func qualityReader(t rapid.TB, text string, ids []string) *said {
	var issues []struct {
		Description, Severity string
		CheckName             string `json:"check_name"`
	}
	if err := json.Unmarshal([]byte(text), &issues); err != nil {
		t.Fatalf("codequality: %v", err)
	}
	s := says()
	for _, id := range ids {
		s.rules[id] = "PASS"
	}
	for _, i := range issues {
		verdict, _, _ := strings.Cut(i.Description, ",")
		if s.rules[i.CheckName] != "PASS" {
			t.Fatalf("codequality: an issue of %s, whose verdict is %s", i.CheckName, s.rules[i.CheckName])
		}
		s.rules[i.CheckName] = verdict
		if i.Severity == "critical" {
			s.counts["FAIL"]++
		}
	}
	return s
}

// metricLine is a sample: its family, its labels, its value.
var metricLine = regexp.MustCompile(`^oloproof_([a-z_]+)(?:\{(.*)\})? (\S+)$`)

// metricLabel is one of a sample's labels.
var metricLabel = regexp.MustCompile(`([a-z]+)="((?:[^"\\]|\\.)*)"`)

// metricsReader reads samples as a scraper does.
func metricsReader(t rapid.TB, text string) *said {
	s := says()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := metricLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			t.Fatalf("openmetrics: %q is no sample", line)
		}
		labels := map[string]string{}
		for _, l := range metricLabel.FindAllStringSubmatch(m[2], -1) {
			labels[l[1]] = l[2]
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			t.Fatalf("openmetrics: %q", line)
		}
		switch {
		case m[1] == "exit_status":
			s.exit = int(value)
		case m[1] == "verdict" && value == 1:
			s.verdict += labels["verdict"] // twice would be no verdict's name
		case m[1] == "rules" && value > 0:
			s.counts[labels["verdict"]] = int(value)
		case m[1] == "rule_verdict" && value == 1:
			s.rules[labels["rule"]] += labels["verdict"]
		case m[1] == "rule_counts" && value == 0:
			s.advisory = append(s.advisory, labels["rule"])
		}
	}
	return s
}

// variables reads lines NAME=VALUE; the last of a name holds.
func variables(text string) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		found[name] = value
	}
	return found
}

// countsIn reads the counts of variables that are called so.
func countsIn(t rapid.TB, found map[string]string, names map[string]string) map[string]int {
	counts := map[string]int{}
	for name, verdict := range names {
		n, err := strconv.Atoi(found[name])
		if err != nil {
			t.Fatalf("%s is %q", name, found[name])
		}
		if n > 0 {
			counts[verdict] = n
		}
	}
	return counts
}

// wordVerdicts are the verdicts of the words that forms for people use.
var wordVerdicts = map[string]string{"PASS": "PASS", "FAIL": "FAIL", "UNDECIDED": "INSUFFICIENT_EVIDENCE", "REVIEW": "MANUAL_REVIEW",
	"failed": "FAIL", "to review": "MANUAL_REVIEW", "for a person to review": "MANUAL_REVIEW", "undecided": "INSUFFICIENT_EVIDENCE", "passed": "PASS"}

// ruleCount is how forms for people count rules: "4 rules: 1 failed, 1 to review, 1 undecided, 1 passed".
var ruleCount = regexp.MustCompile(`\b([0-9,]+) rules?: ((?:[0-9,]+ (?:failed|to review|undecided|passed)(?:, )?)+)`)

// countedIn reads such a sentence.
func countedIn(t rapid.TB, what, text string) map[string]int {
	m := ruleCount.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("%s counts no rules:\n%s", what, text)
	}
	counts, total := map[string]int{}, 0
	for _, part := range strings.Split(strings.TrimSuffix(m[2], ", "), ", ") {
		number, word, _ := strings.Cut(part, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("%s: %q", what, part)
		}
		counts[wordVerdicts[word]], total = n, total+n
	}
	if m[1] != fmt.Sprint(total) {
		t.Fatalf("%s: %s rules, and %d are counted", what, m[1], total)
	}
	return counts
}

// exitSaid is how forms for people tell the exit status.
var exitSaid = regexp.MustCompile(`exit\s+status\s+([0-9])\s+\(`)

// exitIn reads it.
func exitIn(t rapid.TB, what, text string) int {
	m := exitSaid.FindAllStringSubmatch(text, -1)
	if m == nil {
		t.Fatalf("%s tells no exit status:\n%s", what, text)
	}
	return int(m[len(m)-1][1][0] - '0')
}

// terminalReader reads the log as a person does: its heading, the table of rules, its last line.
func terminalReader(t rapid.TB, text string) *said {
	s := says()
	head, _, _ := strings.Cut(text, "\n\n")
	head = strings.Join(strings.Fields(head), " ")
	s.verdict, _, _ = strings.Cut(head, " ")
	s.counts = countedIn(t, "terminal", head)
	s.exit = exitIn(t, "terminal", text)
	for _, m := range regexp.MustCompile(`(?m)^  (PASS|FAIL|UNDECIDED|REVIEW) +(s[0-9]-r[0-9]*)\b`).FindAllStringSubmatch(text, -1) {
		s.rules[m[2]] = wordVerdicts[m[1]]
	}
	return s
}

// markdownReader reads the summary: its heading, the rows of its tables of rules.
func markdownReader(t rapid.TB, text string) *said {
	s := says()
	if m := regexp.MustCompile(`^## \S+ ([A-Z_]+): `).FindStringSubmatch(strings.ReplaceAll(text, `\_`, "_")); m != nil {
		s.verdict = m[1]
	}
	s.counts = countedIn(t, "markdown", text)
	s.exit = exitIn(t, "markdown", text)
	s.rules = tableRules(text)
	return s
}

// tableRules are the rules in the rows of Markdown's tables.
func tableRules(text string) map[string]string {
	rules := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| (?:❌|👤|⚠️|✅) (PASS|FAIL|UNDECIDED|REVIEW) \\| `(s[0-9]-r[0-9]*)`").FindAllStringSubmatch(text, -1) {
		rules[m[2]] = wordVerdicts[m[1]]
	}
	return rules
}

// commentReader reads a comment on a pull request, which lists what did not pass.
func commentReader(t rapid.TB, text string, ids []string) *said {
	s := says()
	m := regexp.MustCompile(`^### (❌|👤|⚠️|✅) Oloproof: `).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("the comment begins with %q", firstLine(text))
	}
	s.verdict = map[string]string{"❌": "FAIL", "👤": "MANUAL_REVIEW", "⚠️": "INSUFFICIENT_EVIDENCE", "✅": "PASS"}[m[1]]
	s.counts, s.exit = countedIn(t, "comment", text), exitIn(t, "comment", text)
	for _, id := range ids {
		s.rules[id] = "PASS"
	}
	maps.Copy(s.rules, tableRules(text))
	if n, of := regexp.MustCompile(`Oloproof: ([0-9]+) rules? `).FindStringSubmatch(text), s.counts[s.verdict]; n != nil && n[1] != fmt.Sprint(of) {
		t.Fatalf("the comment's heading counts %s rules, and its foot %d:\n%s", n[1], of, text)
	}
	return s
}

// htmlReader reads the page: its heading, its list of counts, the table of each gate's rules where there are several, and the heading of
// each rule's part, which have to agree.
func htmlReader(t rapid.TB, text string) *said {
	s := says()
	d := xml.NewDecoder(strings.NewReader(text))
	d.Entity = xml.HTMLEntity
	var path []string // of open elements, with their class
	var row, within strings.Builder
	in := func(name string) bool { return slices.Contains(path, name) }
	badge, item := "", ""
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("html is not well formed: %v", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			name := e.Name.Local
			for _, a := range e.Attr {
				if a.Name.Local == "class" {
					name += "." + a.Value
				}
			}
			path = append(path, name)
			switch {
			case e.Name.Local == "tr", e.Name.Local == "header":
				badge = ""
			case e.Name.Local == "th", e.Name.Local == "h3":
				row.Reset()
			case e.Name.Local == "li" && in("ul.tally"):
				within.Reset()
			}
		case xml.EndElement:
			name := path[len(path)-1]
			path = path[:len(path)-1]
			switch {
			case (e.Name.Local == "th" || e.Name.Local == "h3") && badge != "" && regexp.MustCompile(`^s[0-9]-r[0-9]*$`).MatchString(row.String()):
				if was := s.rules[row.String()]; was != "" && was != wordVerdicts[badge] {
					t.Fatalf("html: %s is %s and %s", row.String(), was, wordVerdicts[badge])
				}
				s.rules[row.String()] = wordVerdicts[badge]
			case strings.HasPrefix(name, "li") && in("ul.tally"):
				item = strings.Join(strings.Fields(within.String()), " ")
				if number, word, _ := strings.Cut(item, " "); wordVerdicts[word] != "" {
					n, err := strconv.Atoi(number)
					if err != nil {
						t.Fatalf("html: %q", item)
					}
					s.counts[wordVerdicts[word]] = n
				}
			}
		case xml.CharData:
			switch {
			case in("span.word"):
				s.verdict += string(e)
			case in("ul.tally"):
				within.Write(e)
			case len(path) > 0 && strings.HasPrefix(path[len(path)-1], "span.badge"):
				badge = string(e)
			case len(path) > 0 && path[len(path)-1] == "code":
				row.Write(e)
			}
		}
	}
	s.verdict = strings.ReplaceAll(s.verdict, " ", "_")
	s.exit = exitIn(t, "html", text)
	return s
}

// closingReader reads the last line of standard error.
func closingReader(t rapid.TB, text string) *said {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	m := regexp.MustCompile(`^([A-Z_]+): ([0-9]+) of ([0-9]+) rules? (passed|failed|could not be decided|needs? a person's review), exit ([0-9])$`).FindStringSubmatch(lines[len(lines)-1])
	if m == nil {
		t.Fatalf("standard error ends with %q", lines[len(lines)-1])
	}
	s := says()
	s.verdict, s.exit = m[1], int(m[5][0]-'0')
	n, err := strconv.Atoi(m[2])
	if err != nil {
		t.Fatal(err)
	}
	s.counts[s.verdict] = n
	return s
}

// checkSaid holds what a reader concludes to what the JSON report says. Of a form that tells only what did not pass, or only failures,
// no more is asked: parts is what it tells, of verdict, exit, counts, fails, rules, advisory.
func checkSaid(t rapid.TB, form string, got, want *said, parts string) {
	tells := func(part string) bool { return slices.Contains(strings.Fields(parts), part) }
	if tells("verdict") && got.verdict != want.verdict {
		t.Fatalf("%s says %q, and the JSON report %s", form, got.verdict, want.verdict)
	}
	if tells("exit") && got.exit != want.exit {
		t.Fatalf("%s says exit status %d, and it is %d", form, got.exit, want.exit)
	}
	if diff := cmp.Diff(want.counts, got.counts); tells("counts") && diff != "" {
		t.Fatalf("%s counts otherwise (+) than the JSON report (-):\n%s", form, diff)
	}
	if tells("fails") && got.counts["FAIL"] != want.counts["FAIL"] {
		t.Fatalf("%s has %d failures, and the JSON report %d", form, got.counts["FAIL"], want.counts["FAIL"])
	}
	if tells("most") && got.counts[want.verdict] != want.counts[want.verdict] {
		t.Fatalf("%s counts %d rules of its verdict, and the JSON report %d", form, got.counts[want.verdict], want.counts[want.verdict])
	}
	if diff := cmp.Diff(want.rules, got.rules); tells("rules") && diff != "" {
		t.Fatalf("%s has other rules (+) than the JSON report (-):\n%s", form, diff)
	}
	if diff := cmp.Diff(want.advisory, got.advisory); tells("advisory") && diff != "" {
		t.Fatalf("%s has other advisory rules (+) than the JSON report (-):\n%s", form, diff)
	}
}

// formFiles asks for every format, each in a file.
func formFiles(folder string) (args []string) {
	for _, f := range summary.Formats() {
		args = append(args, "--format", f.Name+":"+filepath.ToSlash(filepath.Join(folder, f.Name)))
	}
	return args
}

// TestEveryFormSaysTheSame: the exit status, the closing line, every format, the comment and the action's outputs and annotations lead
// their readers to one conclusion, whatever the names in the data are; a report that was stored is rendered to the same bytes; and on one
// core and on eight every byte is the same.
func TestEveryFormSaysTheSame(t *testing.T) {
	schema := reportSchema(t)
	t.Chdir(t.TempDir())
	text := func(t rapid.TB, name string) string {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	forEachKind(t, 5, func(t *rapid.T, kind *kindOfStudy) {
		r := drawRelease(t, kind)
		hostile := hostileNaming(t)
		name := func(of, plain string) string {
			if of == "rule" {
				return plain
			}
			return hostile(of, plain)
		}
		// Some of the rules that are for a person have been reviewed.
		first := r.decide(t, name)
		digest := report.InputsDigest(first.Inputs)
		for i := range r.studies[0].rules {
			rule := &r.studies[0].rules[i]
			if rule.value("waive") == "" && oneIn(t, 2, "reviewed") {
				rule.set("reviewed", `{by: "someone", on: 2026-11-02, reason: "looked at", digest: "`+digest+`"}`)
			}
		}
		if err := os.RemoveAll("work"); err != nil {
			t.Fatal(err)
		}
		writeFiles(t, "work", r.files(name))
		args := []string{"gate", "work/policy.yaml"}
		if r.form == "bare" {
			args = []string{kind.gate, "gate", "--policy", "work/policy.yaml"}
			if kind.gate == "fairness" {
				args = []string{"fairness", "gate", "work/policy.yaml"}
			}
		}
		failOn := pick(t, "fail-on", "", "", "FAIL", "FAIL,MANUAL_REVIEW", "insufficient_evidence", "none", "PASS")
		if failOn != "" {
			args = append(args, "--fail-on", failOn)
		}
		listed := map[string][]string{"": {"FAIL", "MANUAL_REVIEW", "INSUFFICIENT_EVIDENCE"}, "none": nil}
		fails, known := listed[failOn]
		if !known {
			fails = strings.Split(strings.ToUpper(failOn), ",")
		}
		run := func(cores int, folder string) (int, string, string) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			return runMain(append(append(slices.Clone(args), formFiles(folder)...), "--format", "terminal")...)
		}
		status, stdout, stderr := run(1, "work/one")
		again, stdoutAgain, stderrAgain := run(8, "work/eight")
		if status != again || stdout != stdoutAgain || stderr != stderrAgain {
			t.Fatalf("exit %d and %d; %s", status, again, cmp.Diff(stdout+stderr, stdoutAgain+stderrAgain))
		}
		forms := map[string]string{}
		for _, f := range summary.Formats() {
			forms[f.Name] = text(t, "work/one/"+f.Name)
			if other := text(t, "work/eight/"+f.Name); forms[f.Name] != other {
				t.Fatalf("%s, on one core (-) and on eight (+):\n%s", f.Name, cmp.Diff(forms[f.Name], other))
			}
		}
		if err := validate(schema, []byte(forms["json"])); err != nil {
			t.Fatalf("the schema refuses the report: %#v", err)
		}

		want := jsonReader(t, forms["json"], fails)
		if status != want.exit {
			t.Fatalf("exit status %d; by the JSON report it is %d, fail-on %q\n%s", status, want.exit, failOn, stderr)
		}
		ids := slices.Sorted(maps.Keys(want.rules))
		checkSaid(t, "junit", junitReader(t, forms["junit"]), want, "verdict fails rules")
		checkSaid(t, "sarif", sarifReader(t, forms["sarif"]), want, "exit fails rules")
		checkSaid(t, "codequality", qualityReader(t, forms["codequality"], ids), want, "fails rules")
		checkSaid(t, "openmetrics", metricsReader(t, forms["openmetrics"]), want, "verdict exit counts rules advisory")
		checkSaid(t, "terminal", terminalReader(t, forms["terminal"]), want, "verdict exit counts rules")
		checkSaid(t, "standard output", terminalReader(t, stdout), want, "verdict exit counts rules")
		checkSaid(t, "markdown", markdownReader(t, forms["markdown"]), want, "verdict exit counts rules")
		checkSaid(t, "html", htmlReader(t, forms["html"]), want, "verdict exit counts rules")
		checkSaid(t, "the closing line", closingReader(t, stderr), want, "verdict exit most")
		found := variables(forms["dotenv"])
		dotenv := says()
		dotenv.verdict = found["OLOPROOF_VERDICT"]
		dotenv.counts = countsIn(t, found, map[string]string{"OLOPROOF_PASSED": "PASS", "OLOPROOF_FAILED": "FAIL", "OLOPROOF_INSUFFICIENT_EVIDENCE": "INSUFFICIENT_EVIDENCE", "OLOPROOF_MANUAL_REVIEW": "MANUAL_REVIEW"})
		checkSaid(t, "dotenv", dotenv, want, "verdict counts")
		notPassed := func(ids []string) {
			for id, v := range want.rules {
				if is := slices.Contains(ids, id); is != (v != "PASS" && !slices.Contains(want.advisory, id)) {
					t.Fatalf("%s is %s, and among the failing rules: %t", id, v, is)
				}
			}
		}
		notPassed(strings.Split(found["OLOPROOF_FAILING_RULES"], ","))

		// The comment lists what counts and did not pass, and what is advisory and failed.
		stored := new(report.Report)
		if err := json.Unmarshal([]byte(forms["json"]), stored); err != nil {
			t.Fatal(err)
		}
		var comment bytes.Buffer
		var set report.FailOn
		set, err := report.ParseFailOn(failOn)
		if err == nil {
			err = summary.Comment(&comment, stored, summary.CommentOptions{FailOn: set})
		}
		if err != nil {
			t.Fatal(err)
		}
		listedOnly := *want
		listedOnly.rules = maps.Clone(want.rules)
		for _, id := range want.advisory {
			if listedOnly.rules[id] != "FAIL" {
				listedOnly.rules[id] = "PASS"
			}
		}
		checkSaid(t, "the comment", commentReader(t, comment.String(), ids), &listedOnly, "verdict exit counts rules")

		// A stored report gives the same bytes in every form.
		render := append([]string{"render", "work/one/json"}, formFiles("work/rendered")...)
		if failOn != "" {
			render = append(render, "--fail-on", failOn)
		}
		if status, _, stderr := runMain(render...); status != 0 {
			t.Fatalf("render ends with %d: %s", status, stderr)
		}
		for name, want := range forms {
			if got := text(t, "work/rendered/"+name); got != want {
				t.Fatalf("%s as it was written (-), and rendered from the JSON report (+):\n%s", name, cmp.Diff(want, got))
			}
		}
		checkAction(t, r, want, status, failOn, fails, notPassed)
	})
}

// checkAction runs the same as a step of a workflow, and reads its outputs, its log and its summary.
func checkAction(t *rapid.T, r *release, want *said, status int, failOn string, fails []string, notPassed func([]string)) {
	writeFiles(t, "work/runner", fstest.MapFS{"output": {}, "summary": {}})
	workspace, err := filepath.Abs("work")
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"GITHUB_WORKSPACE": workspace, "GITHUB_OUTPUT": "work/runner/output", "GITHUB_STEP_SUMMARY": "work/runner/summary", "INPUT_POLICY": "policy.yaml", "INPUT_FAIL-ON": failOn, "INPUT_JSON": "step.json"}
	if r.form == "bare" {
		env["INPUT_GATE"] = r.studies[0].kind.gate
	}
	var log, stderr bytes.Buffer
	got := Main([]string{"action"}, World{Stdout: &log, Stderr: &stderr, Version: "1.0.0", Sleep: noSleep, Now: func() time.Time { return testDay }, Getenv: func(name string) string { return env[name] }})
	if got != status {
		t.Fatalf("the step ends with %d, and the command line with %d\n%s", got, status, &stderr)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join("work", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	own := jsonReader(t, read("step.json"), fails)
	checkSaid(t, "the step's JSON report", own, want, "verdict exit counts rules advisory")
	found := variables(read("runner/output"))
	outputs := says()
	outputs.verdict = found["verdict"]
	outputs.counts = countsIn(t, found, map[string]string{"passed": "PASS", "failed": "FAIL", "insufficient-evidence": "INSUFFICIENT_EVIDENCE", "manual-review": "MANUAL_REVIEW"})
	checkSaid(t, "the outputs", outputs, want, "verdict counts")
	if code := map[string]string{"PASS": "0", "FAIL": "1", "INSUFFICIENT_EVIDENCE": "3", "MANUAL_REVIEW": "4"}[want.verdict]; found["exit-code"] != code || found["reporting-problems"] != "[]" {
		t.Fatalf("output exit-code is %q, of %s %q; problems %s", found["exit-code"], want.verdict, code, found["reporting-problems"])
	}
	var ids []string
	if err := json.Unmarshal([]byte(found["failing-rules"]), &ids); err != nil {
		t.Fatal(err)
	}
	notPassed(ids)
	checkSaid(t, "the job summary", markdownReader(t, read("runner/summary")), want, "verdict exit counts rules")
	checkSaid(t, "the step's closing line", closingReader(t, stderr.String()), want, "verdict exit most")
	told := 0
	for _, m := range regexp.MustCompile(`(?m)^::(error|warning|notice) .*title=([A-Z_]+)%3A (s[0-9]-r[0-9]*)(.*?)::`).FindAllStringSubmatch(log.String(), -1) {
		level, verdict, id := m[1], m[2], m[3]
		advisory := slices.Contains(want.advisory, id)
		if want.rules[id] != verdict || verdict == "PASS" || (level == "error") != (verdict == "FAIL" && !advisory) {
			t.Fatalf("the log has %s for %s, whose verdict is %s", m[0], id, want.rules[id])
		}
		told++
	}
	if all := len(want.rules) - len(want.advisory); told == 0 && want.counts["PASS"] < all {
		t.Fatalf("of %d rules that did not pass the log has none:\n%s", all-want.counts["PASS"], &log)
	}
}

// writeFiles writes files into a folder.
func writeFiles(t rapid.TB, folder string, fsys fstest.MapFS) {
	for name, f := range fsys {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
