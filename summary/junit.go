package summary

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/report"
)

// junitProblems is how many of a run's problems are listed in a test case.
const junitProblems = 50

// JUnit writes the report as the XML that JUnit's runners write, in the form that Jenkins' schema junit-10.xsd and GitLab read: a test
// suite for each gate's part, in it a test case for each rule, in the order of the policy. No two cases are alike in class and
// name, since GitLab drops the second of a name.
//
//	PASS                                   the case passes; its system-out has the numbers
//	FAIL                                   a failure
//	INSUFFICIENT_EVIDENCE, MANUAL_REVIEW   skipped, with the reason
//	an advisory rule that does not pass    skipped, with the reason: it does not count
//	a run that could not be used           one case, an error that lists the problems
//	a report of check or report            one case, skipped
//
// So a report without a rule is never one of a passing test. There are no times: the same report gives the same bytes.
func JUnit(w io.Writer, r *report.Report, opts Options) error {
	var suites []junitSuite
	for _, t := range tell(r) {
		if len(suites) == 0 || suites[len(suites)-1].name != t.part {
			suites = append(suites, junitSuite{name: t.part, class: "oloproof." + strings.Replace(t.part, ": ", ".", 1), file: cmp.Or(opts.inRepository(t.Position.File), t.Position.File)})
		}
		s := &suites[len(suites)-1]
		s.add(t.name, junitRule(t))
	}
	if undecidedRun(r) {
		s := junitSuite{name: "oloproof", class: "oloproof"}
		result := junitResult{element: "skipped", message: nothingDecided(r)}
		if r.ExitStatus == report.ExitUnusable || len(r.Errors) > 0 {
			result.element = "error"
			shown := shownProblems(r.Errors, junitProblems)
			for _, p := range shown {
				result.lines = append(result.lines, problemText(p))
			}
			if rest := len(r.Errors) + r.MoreErrors - len(shown); rest > 0 {
				result.lines = append(result.lines, "and "+whole(rest)+" more")
			}
		}
		result.kind = report.NoVerdict.String()
		s.add("run", result)
		suites = append(suites, s)
	}

	var b strings.Builder
	var total junitSuite
	for _, s := range suites {
		total.tests, total.failures, total.errors = total.tests+s.tests, total.failures+s.failures, total.errors+s.errors
	}
	fmt.Fprintf(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"oloproof\" tests=\"%d\" failures=\"%d\" errors=\"%d\">\n", total.tests, total.failures, total.errors)
	for _, s := range suites {
		s.write(&b, r)
	}
	b.WriteString("</testsuites>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// junitSuite is a test suite and its cases.
type junitSuite struct {
	name, class, file                string // the file is the policy's
	tests, failures, errors, skipped int
	cases                            []junitCase
}

type junitCase struct {
	name string
	junitResult
}

// junitResult is what a test case came to.
type junitResult struct {
	element string // failure, error or skipped; "" where it passes
	kind    string // the verdict
	message string
	lines   []string // more than the message has
}

// junitRule is a rule as a test case has it.
func junitRule(t toldRule) junitResult {
	result := junitResult{kind: t.Verdict.String(), message: t.Verdict.String() + ": " + gateText(t.Reason)}
	switch t.Verdict {
	case report.Pass:
	case report.Fail:
		result.element = "failure"
		if t.Advisory {
			result.element = "skipped"
		}
	case report.InsufficientEvidence, report.ManualReview:
		result.element = "skipped"
	case report.NoVerdict: // a gate forgot to decide
		result.element = "error"
	}
	result.lines = []string{"The rule asks that " + asks(t.Rule) + ".", t.says}
	if at := t.Position; at.File != "" {
		at.File = clipPath(at.File, pathMax)
		result.lines = append(result.lines, "Rule at "+at.String())
	}
	return result
}

func (s *junitSuite) add(name string, result junitResult) {
	s.tests++
	switch result.element {
	case "failure":
		s.failures++
	case "error":
		s.errors++
	case "skipped":
		s.skipped++
	}
	s.cases = append(s.cases, junitCase{name, result})
}

func (s *junitSuite) write(b *strings.Builder, r *report.Report) {
	fmt.Fprintf(b, "  <testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\"", EscapeXML(s.name), s.tests, s.failures, s.errors, s.skipped)
	if s.file != "" {
		fmt.Fprintf(b, " file=\"%s\"", EscapeXML(s.file))
	}
	b.WriteString(">\n    <properties>\n")
	for _, p := range [][2]string{{"verdict", r.Verdict.String()}, {"exit_status", strconv.Itoa(r.ExitStatus)}, {"version", r.Tool.Version}} {
		fmt.Fprintf(b, "      <property name=\"oloproof.%s\" value=\"%s\"/>\n", p[0], EscapeXML(p[1]))
	}
	b.WriteString("    </properties>\n")
	for _, c := range s.cases {
		fmt.Fprintf(b, "    <testcase classname=\"%s\" name=\"%s\">\n", EscapeXML(s.class), EscapeXML(c.name))
		element := "system-out"
		if c.element == "" {
			b.WriteString("      <system-out>")
		} else {
			element = c.element
			fmt.Fprintf(b, "      <%s type=\"%s\" message=\"%s\">", element, EscapeXML(c.kind), EscapeXML(c.message))
		}
		for i, line := range c.lines {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(EscapeXML(afterDash(line)))
		}
		fmt.Fprintf(b, "</%s>\n    </testcase>\n", element)
	}
	b.WriteString("  </testsuite>\n")
}

// afterDash begins a line of a text so that no CI runner takes it for a command where the document is printed in a log.
func afterDash(line string) string {
	if startsCommand(strings.TrimSpace(line)) {
		return `\` + strings.TrimSpace(line)
	}
	return line
}
