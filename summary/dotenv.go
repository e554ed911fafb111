package summary

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/report"
)

// dotenvBytes keeps a file of variables under the 5 KB that GitLab takes (artifacts:reports:dotenv), whichever KB that is.
const dotenvBytes = 5000

// Dotenv writes the outcome as variables, one NAME=VALUE a line, as GitLab hands them to later jobs. They are the outputs of the action
// in capitals:
//
//	OLOPROOF_VERDICT                 PASS, FAIL, INSUFFICIENT_EVIDENCE, MANUAL_REVIEW, or NO_VERDICT
//	OLOPROOF_EXIT_CODE               of the verdict, whatever fail-on lists: 0, 1, 3, 4, or 2 where nothing could be decided
//	OLOPROOF_PASSED, OLOPROOF_FAILED, OLOPROOF_INSUFFICIENT_EVIDENCE, OLOPROOF_MANUAL_REVIEW
//	                                 how many counting rules came to each verdict
//	OLOPROOF_NOT_PASSED              how many did not pass
//	OLOPROOF_FAILING_RULES           their ids, separated by commas
//
// A rule's id may be anyone's: all but letters, digits and ". _ -" of it is written "_", so that no id can begin a variable, and none
// means anything to a shell. Ids that do not fit into 5,000 bytes are left out; the count has them.
func Dotenv(w io.Writer, r *report.Report, _ Options) error {
	var b strings.Builder
	set := func(name, value string) { b.WriteString("OLOPROOF_" + name + "=" + value + "\n") }
	counts := report.Counts{}
	if r.Counts != nil {
		counts = *r.Counts
	}
	set("VERDICT", r.Verdict.String())
	set("EXIT_CODE", strconv.Itoa(r.ExitStatus))
	for _, c := range []struct {
		name    string
		verdict report.Verdict
	}{{"PASSED", report.Pass}, {"FAILED", report.Fail}, {"INSUFFICIENT_EVIDENCE", report.InsufficientEvidence}, {"MANUAL_REVIEW", report.ManualReview}} {
		set(c.name, strconv.Itoa(counts.Of(c.verdict)))
	}
	failing := r.FailingRules()
	set("NOT_PASSED", strconv.Itoa(len(failing)))

	left := dotenvBytes - b.Len() - len("OLOPROOF_FAILING_RULES=\n")
	var ids []string
	for _, id := range failing {
		word := EscapeDotenv(clip(id, nameMax))
		if left -= len(word) + len(","); left < 0 {
			break
		}
		ids = append(ids, word)
	}
	set("FAILING_RULES", strings.Join(ids, ","))
	_, err := fmt.Fprint(w, b.String())
	return err
}
