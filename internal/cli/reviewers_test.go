package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// secret begins the id of every reviewer in TestReviewersStayUnnamed.
const secret = "Zanzibar"

// withReviewers puts such ids where a text has @a, @b and so on.
func withReviewers(text string) string {
	return regexp.MustCompile(`@(\w+)`).ReplaceAllString(text, secret+"-$1")
}

// named is a study with its policy, and flags.
type named struct{ name, data, policy, flags string }

// findingStudies show every finding that there is.
var findingStudies = []named{
	{"labels", `case,reviewer,condition,decision,reference,ai_output
c1,@a,with,yes,yes,yes
C1,@a,with,yes,yes,
c3,@a,without,Yes,yes,yes
c1,@b,with,yes,yes,no
C1,@b,with,yes,yes,
c3,@b,without,Yes,yes,
c1,@A,with,yes,yes,unsure
c4,@d,with,yes,yes,never
c4,@e,with,NA,yes,never
`, `abstain: [unsure, nowhere]
rules:
  - {id: a, metric: agreement, minimum: 0, waive: {until: 2026-01-01, owner: o, reason: r}}
  - {id: b, metric: agreement, minimum: 0.1, waive: {until: 2099-01-01, owner: o, reason: r}}
  - {id: c, metric: agreement, minimum: 0.1, per: person, reviewed: {by: x, on: 2026-01-01, digest: "0000000000000000000000000000000000000000000000000000000000000000", reason: r}}
`, ""},
	{"order", `case,reviewer,condition,decision,reference,ai_output,started_at,decided_at
c1,@a,without,yes,yes,,2026-01-01T10:00:00Z,2026-01-01T10:01:00Z
c1,@a,with,yes,yes,yes,2026-01-01T09:00:00Z,2026-01-01T09:01:00Z
c1,@b,without,yes,yes,,,
c1,@b,with,yes,yes,yes,,
`, "rules: [{id: a, metric: accuracy_difference, minimum: 0}]\n", ""},
	{"sparse", header + "c1,@a,with,yes,yes,yes\nc1,@b,without,yes,yes,\n", "rules: [{id: a, metric: agreement, minimum: 0.1}]\n", ""},
	{"mixed", header + "c1,@a,with,yes,yes,yes\nc1,@a,without,yes,yes,\nc2,@b,without,yes,yes,\n", "rules: [{id: a, metric: agreement, minimum: 0.1}]\n", ""},
	{"contradicted", header + "c1,@a,with,yes,yes,yes\nc1,@a,without,yes,yes,\nc2,@b,without,yes,yes,\n", "rules: [{id: a, metric: accuracy_difference, minimum: 0.1}]\n", "--design crossed"},
	{"missing arm", header + "c1,@a,with,yes,yes,yes\nc2,@a,without,yes,yes,\nc1,@b,with,yes,yes,yes\n", "rules: [{id: a, metric: agreement, minimum: 0.1}]\n", "--design crossed"},
	{"one condition", header + "c1,@a,with,yes,yes,yes\n", "rules: [{id: a, metric: agreement, minimum: 0.1}]\n", ""},
	{"assignment", header + "c1,@a,with,yes,yes,yes\nc2,@a,without,yes,yes,\nc2,@z,without,yes,yes,\n", "rules: [{id: a, metric: agreement, minimum: 0.1}]\n", "--assignment assignment.csv"},
	{"its own file", header + "c1,@a,with,yes,yes,yes\n", "human_ai: {decisions: other.csv, rules: [{id: a, metric: agreement, minimum: 0.1, where: {case: c1}}]}\n", ""},
	{"a review that was not needed", header + "c1,@a,with,yes,yes,yes\n", "rules: [{id: a, metric: agreement, minimum: 0, reviewed: {by: x, on: 2026-01-01, digest: " +
		sha256Of(sha256Of(withReviewers(header+"c1,@a,with,yes,yes,yes\n"))) + ", reason: r}}]\n", ""},
	{"a waiver that ends soon", header + "c1,@a,with,yes,yes,yes\n", "rules: [{id: a, metric: agreement, minimum: 0.1, waive: {until: " + testDay.AddDate(0, 0, 14).Format("2006-01-02") + ", owner: o, reason: r}}]\n", ""},
	{"a waiver that was not needed", header + "c1,@a,with,yes,yes,yes\n", "rules: [{id: a, metric: agreement, minimum: 0, waive: {until: 2099-01-01, owner: o, reason: r}}]\n", ""},
	{"a waiver that is reviewed", header + "c1,@a,with,yes,yes,yes\n", "rules: [{id: a, metric: agreement, minimum: 0.1, waive: {until: 2099-01-01, owner: o, reason: r}, reviewed: {by: x, on: 2026-01-01, digest: " +
		sha256Of(sha256Of(withReviewers(header+"c1,@a,with,yes,yes,yes\n"))) + ", reason: r}}]\n", ""},
	{"no split", strings.ReplaceAll(singles(40, 20), "person-", "@p"), "rules: [{id: a, metric: agreement, minimum: 0.1}]\n", ""},
	{"two files", "case,reviewer,condition,decision,reference,ai_output,decided_at\nc1,@a,with,yes,yes,yes,7\n", "rules: [{id: a, metric: agreement, minimum: 0.1}]\n", "second.csv"},
}

// errorStudies have every kind of error about a row.
var errorStudies = []named{
	{"twice", header + "c1,@a,with,yes,yes,yes\nc1,@a,with,yes,yes,yes\n", "", ""},
	{"two references", header + "c1,@a,with,yes,yes,yes\nc1,@b,with,yes,no,yes\n", "", ""},
	{"condition", header + "c1,@a,wth,yes,yes,yes\nc1,@b,,yes,no,yes\n", "", ""},
	{"empty", header + ",@a,with,yes,yes,yes\nc1,@b,with,yes,,yes\n", "", ""},
	{"ragged", header + "c1,@a,with,yes,yes\nc1,@b,with,yes,yes,yes,yes\n", "", ""},
	{"quotes", header + "c1,\"@a\"x,with,yes,yes,yes\nc1,x@a\"b,with,yes,yes,yes\nc1,\"@b,with,yes,yes,yes\n", "", ""},
	{"not UTF-8", header + "c1,@a\xff,with,yes,yes,yes\n", "", ""},
	{"times", "case,reviewer,condition,decision,reference,ai_output,started_at,decided_at\nc1,@a,with,yes,yes,yes,10,5\nc2,@a,with,yes,yes,yes,soon,2026-01-01\nc3,@a,with,yes,yes,yes,1,\n", "", ""},
	{"no header", "c1,@a,with,yes,yes,yes\n", "", ""},
	{"JSONL", `{"case":"c1","reviewer":["@a"],"condition":"with"}` + "\n" + `{"case":"c1","reviewer":"@a","reviewer":"@b"}` + "\n" + `{"reviewer":"@c"` + "\n", "", ""},
	{"JSONL that is none", `{"reviewer":"@a" "@b"}` + "\n" + `{"reviewer":"@a"} @b` + "\n", "", ""},
	{"the assignment twice", header + "c1,@a,with,yes,yes,yes\n", "", "--assignment twice.csv"},
	{"the assignment's condition", header + "c1,@a,with,yes,yes,yes\n", "", "--assignment bad.csv"},
}

// TestReviewersStayUnnamed looks for reviewers' ids in everything that is printed, in every form, with every finding
// and every kind of error. With --show-reviewers they are named.
func TestReviewersStayUnnamed(t *testing.T) {
	codes := findingCodes(t)
	t.Chdir(t.TempDir())
	writeFile(t, "assignment.csv", withReviewers("reviewer,case,condition\n@a,c1,without\n@a,c2,without\n@c,c1,with\n@c,c2,without\n"))
	writeFile(t, "twice.csv", withReviewers("reviewer,case,condition\n@a,c1,with\n@a,c1,with\n"))
	writeFile(t, "bad.csv", withReviewers("reviewer,case,condition\n@a,c1,wth\n@a,,with\n"))
	writeFile(t, "second.csv", withReviewers(header+"c9,@i,with,yes,yes,yes\n"))
	seen := map[string]bool{}
	for _, study := range slices.Concat(findingStudies, errorStudies) {
		t.Run(study.name, func(t *testing.T) {
			writeFile(t, "d.csv", withReviewers(study.data))
			policy := study.policy
			if policy == "" {
				policy = "rules: [{id: a, metric: agreement, minimum: 0.1}]\n"
			}
			writeFile(t, "policy.yaml", policy)
			for _, verb := range []string{"check", "report", "gate"} {
				for _, format := range laidOut {
					args := append([]string{"human-ai", verb, "d.csv", "--policy", "policy.yaml", "--format", format}, strings.Fields(study.flags)...)
					status, stdout, stderr := runMain(args...)
					if (status == 2) != (study.policy == "") {
						t.Errorf("%q ends with %d:\n%s%s", args, status, stdout, stderr)
					}
					if all := strings.ToLower(stdout + stderr); strings.Contains(all, strings.ToLower(secret)) {
						t.Errorf("%q names a reviewer:\n%s%s", args, stdout, stderr)
					}
					if format == "json" {
						inOtherFormats(t, stdout, func(other, text string) {
							if strings.Contains(strings.ToLower(text), strings.ToLower(secret)) {
								t.Errorf("%q as %s names a reviewer:\n%s", args, other, text)
							}
						})
						var r report.Report
						if err := json.Unmarshal([]byte(stdout), &r); err != nil {
							t.Fatal(err)
						}
						for _, g := range r.Gates {
							for _, f := range g.Findings {
								seen[f.Code] = true
							}
						}
						for _, in := range r.Inputs {
							for _, f := range in.Findings {
								seen[f.Code] = true
							}
						}
					}
				}
			}
		})
	}
	for _, code := range codes {
		if !seen[code] {
			t.Errorf("no study here shows the finding %s", code)
		}
	}

	// The flag names them: the test above can fail.
	writeFile(t, "policy.yaml", "rules: [{id: a, metric: agreement, minimum: 0.1}]\n")
	for _, study := range []named{findingStudies[0], errorStudies[0]} {
		writeFile(t, "d.csv", withReviewers(study.data))
		for _, format := range laidOut {
			_, stdout, stderr := runMain("human-ai", "check", "d.csv", "--show-reviewers", "--format", format)
			if !strings.Contains(stdout+stderr, secret) {
				t.Errorf("%s in %s: no reviewer is named with --show-reviewers:\n%s%s", study.name, format, stdout, stderr)
			}
		}
	}
}

// runMain runs the program on the files of the working folder.
func runMain(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	world := inMemory().World
	world.Stdout, world.Stderr = &out, &err
	status = Main(args, world)
	return status, out.String(), err.String()
}

// findingCodes reads from the sources which findings there are.
func findingCodes(t *testing.T) []string {
	t.Helper()
	codes := []string{"rule_cannot_fail", rows.FindingColumnMissing}
	given := regexp.MustCompile(`(?:\.Add|AddForms)\((?:\w+, )?"([a-z_]+)"|Code: *"([a-z_]+)"`)
	for _, pattern := range []string{"engine/gate/humanai/*.go", "engine/gate/verdict.go"} {
		names, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("no sources match %s (%v)", pattern, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range given.FindAllStringSubmatch(string(text), -1) {
				codes = append(codes, m[1]+m[2])
			}
		}
	}
	if len(codes) < 25 {
		t.Errorf("only %d findings were found in the sources: %q", len(codes), codes)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
