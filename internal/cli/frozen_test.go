package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/example"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// frozen is a run whose JSON report is kept in testdata/report. The reports are the same bytes on every machine.
type frozen struct {
	name  string
	req   request
	files fstest.MapFS
	want  int // exit status
}

// lookedAt is a policy of which rules have had looks.
const lookedAt = `
rules:
  - {id: better, metric: accuracy_difference, minimum: 0}
  - {id: right, metric: accuracy_with, per: person, minimum: 0.2}
  - {id: system-right, metric: system_accuracy, minimum: 0.1}
`

// earlierLooks is a ledger of two looks: at eight people of whom one gained half, and at those with four more decisions each. A look at
// twelve who all gained 1 is then one at which values have changed and people were added at once.
func earlierLooks(t *testing.T, policy string) string {
	t.Helper()
	text := ""
	for cases := range 2 {
		rows := crossedStudy(8, 4*(cases+1), func(person, item int, with bool) bool { return with && (person > 0 || item%4 < 2) })
		req := request{verb: gate.Decide, gate: humanAI(), files: []string{"d.csv"}, policy: "policy.yaml", today: fmt.Sprintf("2026-12-0%d", cases+1),
			ledger: &book{path: "ledger.jsonl"}, fs: folder("d.csv", rows, "policy.yaml", policy, "ledger.jsonl", text)}
		if r := inMemory().run(req); r.ExitStatus == report.ExitUnusable {
			t.Fatal(r.Errors)
		}
		text = string(req.ledger.now)
	}
	return text
}

// frozenRuns lists a run for every verb, verdict and part of a report.
func frozenRuns(t *testing.T) []frozen {
	t.Helper()
	ex, err := example.Find("human-ai")
	if err != nil {
		t.Fatal(err)
	}
	texts := fstest.MapFS{}
	for _, f := range ex.Files {
		texts[f.Name] = &fstest.MapFile{Data: []byte(f.Text)}
	}
	data := ex.Decisions()
	ask := func(verb gate.Verb, files ...string) request {
		req := request{verb: verb, gate: humanAI(), files: files}
		if verb == gate.Decide {
			req.policy = "policy.yaml"
		}
		return req
	}
	askLabels := func(verb gate.Verb, files ...string) request {
		req := ask(verb, files...)
		req.gate = anchoringGate()
		return req
	}
	with := func(req request, change func(*request)) request { change(&req); return req }

	// The ends of intervals in the fairness and anchoring reports were compared with those solved from the binomial tails in exact arithmetic.

	// Everyone gains: right with the output, wrong without. Twelve people whose gains are all 1.
	gain := crossedStudy(12, 4, func(_, _ int, with bool) bool { return with })
	digest := report.InputsDigest([]report.Input{{SHA256: sha256Of(gain)}})

	return append([]frozen{
		{"check", ask(gate.Check, data...), texts, 0},
		{"report", ask(gate.Report, data...), texts, 0},
		{"insufficient", ask(gate.Decide, data...), texts, 3},
		{"manual", ask(gate.Decide, data...), folder(data[0], string(texts[data[0]].Data), "policy.yaml", `
rules:
  - {id: follows, metric: over_reliance, maximum: 0.5}
  - {id: follows-per-person, metric: over_reliance, maximum: 1, per: person}
`), 4},
		{"pass", ask(gate.Decide, "d.csv"), folder("d.csv", gain, "policy.yaml", `
confidence: 0.9
rules:
  - {id: better, metric: accuracy_difference, minimum: 0}
  - {id: right-with-it, metric: accuracy_with, minimum: 0.6, per: person, confidence: 0.8}
`), 0},
		{"fail", ask(gate.Decide, "d.csv"), folder("d.csv", singles(40, 2), "policy.yaml", `
rules:
  - {id: few-follow, metric: over_reliance, maximum: 0.5}
  - {id: system-right, metric: system_accuracy, minimum: 0.2}
  - {id: seldom-right, metric: accuracy_with, maximum: 0.6}
`), 1},
		{"settled", with(ask(gate.Decide, "d.csv"), func(r *request) { r.today = "2026-12-31" }), folder("d.csv", gain, "policy.yaml", `
min_shown: 5
rules:
  - {id: waived, metric: accuracy_without, per: person, minimum: 0.9, waive: {until: 2026-12-31, owner: Ada, reason: known}}
  - {id: waived-too-long, metric: accuracy_with, per: person, minimum: 0.1, waive: {until: 2026-12-30, owner: Ada, reason: known}}
  - {id: reviewed, metric: agreement, minimum: 0.1, reviewed: {by: Grace, on: 2026-11-01, digest: "`+digest+`", reason: looked at}}
  - {id: reviewed-other-files, metric: agreement, minimum: 0.1, reviewed: {by: Grace, on: 2026-11-01, digest: "`+strings.Repeat("0", 64)+`", reason: looked at}}
  - {id: advisory, metric: accuracy_without, per: person, minimum: 0.5, advisory: true}
  - {id: slice, metric: accuracy_with, minimum: 0.1, where: {case: c01}}
`), 4},
		{"release", request{verb: gate.Decide, policy: "release.yaml"}, folder("d.csv", gain, "e.csv", singles(40, 38), "release.yaml", `
confidence: 0.9
human_ai:
  - name: claims
    decisions: d.csv
    rules: [{id: better, metric: accuracy_difference, minimum: 0}]
  - name: letters
    decisions: e.csv
    rules: [{id: right, metric: accuracy_with, minimum: 0.5}, {id: better-letters, metric: accuracy_difference, minimum: 0}]
`), 3},
		{"before_after", ask(gate.Report, "d.csv"), folder("d.csv", beforeAfterRows), 0},
		{"sparse", ask(gate.Check, "d.csv"), folder("d.csv", header+
			"c1,r1,with,a,a,a\nc1,r2,without,a,a,\nc2,r2,with,a,b,a\nc2,r1,without,b,b,\n"), 0},
		{"mixed", ask(gate.Check, "d.csv"), folder("d.csv", header+
			"c1,r1,with,a,a,a\nc1,r1,without,a,a,\nc2,r2,with,a,b,a\nc3,r1,without,b,b,\n"), 0},
		{"assignment", with(ask(gate.Report, "d.csv"), func(r *request) { r.flags.Assignment = "assignment.csv" }), folder(
			"d.csv", header+"c1,r1,with,a,a,a\nc2,r1,without,a,a,\nc1,r2,without,a,a,\nc2,r2,without,b,a,\n",
			"assignment.csv", "reviewer,case,condition,position\nr1,c1,with,1\nr1,c2,without,2\nr2,c1,without,1\nr2,c2,with,2\nr3,c1,with,1\nr3,c2,without,2\n"), 0},
		{"planned", ask(gate.Decide, "d.csv"), folder("d.csv", gain, "policy.yaml", `
rules:
  - {id: once, metric: accuracy_difference, minimum: 0, looks: once, planned: 12}
  - {id: once-sympol, metric: accuracy_difference, minimum: 0, looks: once, planned: 12, mean_method: sympol}
  - {id: repeated, metric: system_accuracy, minimum: 0.1, looks: repeated}
`), 0},
		{"ledger", with(ask(gate.Decide, "d.csv"), func(r *request) {
			r.today, r.ledger = "2026-12-31", &book{path: "ledger.jsonl", place: "ledger.jsonl"}
		}), folder("d.csv", gain, "policy.yaml", lookedAt, "ledger.jsonl", earlierLooks(t, lookedAt)), 4},
		{"fairness_pass", request{verb: gate.Decide, gate: fairnessGate(), policy: "fairness.yaml", declared: true}, folder("cases.csv", caseRows("label,prediction,score,sex,age",
			100, "1,1,0.9,female,25", 50, "0,0,0.2,female,30", 2, "1,,,female,40", 100, "1,1,0.75,male,61", 50, "0,0,0.25,male,59.5", 5, "1,1,0.9,,33"),
			"fairness.yaml", `
cases: cases.csv
probability: score
calibration_bins: 4
attributes:
  sex: [female, male]
  age: {bins: [30, 60]}
min_cell: 20
rules:
  - {id: even, rate: false_negative, attribute: sex, max_group_gap: 0.15}
  - {id: all-served, rate: accuracy, attribute: age, worst_group: {minimum: 0.8}}
  - {id: half, rate: selection, attribute: sex, min_group_ratio: 0.5}
`), 0},
		{"fairness_fail", request{verb: gate.Decide, gate: fairnessGate(), policy: "release.yaml", declared: true, beside: "policy.yaml"}, folder("cases.csv", caseRows("outcome,answer,sex,region",
			60, "good,yes,female,north", 40, "good,no,female,north", 95, "good,yes,female,south", 5, "good,no,female,south",
			95, "good,yes,male,north", 5, "good,no,male,north", 95, "good,yes,male,south", 5, "good,no,male,south", 50, "bad,no,male,south", 8, "good,no,other,south"),
			"release.yaml", `
fairness:
  name: loan-screen
  cases: cases.csv
  label: {column: outcome, positive: good, negative: bad}
  prediction: {column: answer, positive: "yes", negative: "no"}
  attributes: {sex: [female, male], region: [north, south]}
  intersections: [[region, sex]]
  rules:
    - {id: crossed, rate: false_negative, attribute: [sex, region], max_group_gap: 0.1}
    - {id: crossed-pairwise, rate: false_negative, attribute: [sex, region], max_group_gap: 0.1, interval: pairwise}
    - {id: in-the-south, rate: false_negative, attribute: sex, max_group_gap: 0.15, where: {region: south}}
`, "policy.yaml", `
confidence: 0.9
rules:
  - {id: no-group-often, rate: false_negative, attribute: region, worst_group: {maximum: 0.3}}
  - {id: precise, rate: precision, attribute: sex, max_group_gap: 0.2, looks: repeated}
`), 1},
		{"fairness_small", request{verb: gate.Decide, gate: fairnessGate(), policy: "fairness.yaml", declared: true}, folder("cases.csv", caseRows("label,prediction,region",
			200, "1,1,north", 100, "1,1,south", 100, "0,0,south", 12, "1,1,west", 20, "1,,west", 30, ",1,north"), "fairness.yaml", `
cases: cases.csv
attributes: {region: [north, south, west, east]}
rules:
  - {id: even, rate: false_negative, attribute: region, max_group_gap: 0.1}
  - {id: served, rate: true_positive, attribute: region, worst_group: {minimum: 0.5}, max_left_out: 0.05}
  - {id: alike, rate: selection, attribute: region, min_group_ratio: 0.3}
`), 3},
		{"fairness_report", request{verb: gate.Report, gate: fairnessGate(), policy: "fairness.yaml", declared: true}, folder("cases.csv", caseRows("label,prediction,sex",
			2, "1,1,female", 1, "1,0,female", 1, "0,1,male", 1, "0,,male", 1, ",1,male", 1, "1,1,Male"), "fairness.yaml",
			"cases: cases.csv\nattributes: {sex: [female, male]}\n"), 0},
		{"anchoring_pass", with(askLabels(gate.Decide, "labels.csv"), func(r *request) { r.flags.Draw = "draw.csv" }), folder(
			"labels.csv", labelRows("annotator,suggestion,label,visibility,kind,accepted,started_at,labelled_at,length",
				55, "ana,x,x,blind,,,2026-01-01T10:00:00Z,2026-01-01T10:00:12Z,short", 2, "ana,y,y,blind,audit,,,,long", 1, "ana,x,,blind,,,,,short", 1, "ana,y,x,blind,,,2026-01-01T10:00:00Z,2026-01-01T10:00:30Z,long",
				1, "ana,x,x,visible,,,,,short", 40, "ana,y,y,visible,,1,2026-01-01T10:00:00Z,2026-01-01T10:00:05Z,long", 2, "ana,y,x,visible,,0,,,long", 5, "ana,x,x,visible,verify,,,,short")+"59,ana,y,y,visible,,,,2026-01-01T11:00:00Z,long\n",
			"draw.csv", drawRows(59, "blind", 141, "visible"), "policy.yaml", `
anchoring:
  name: letters
  model: sorter 8
  guideline: version 3
  valid_until: 2027-03-31
  valid_items: 141
  corpus_size: 200
  rules:
    - {id: may-label-the-rest, metric: blind_agreement, minimum: 0.8}
    - {id: right, metric: blind_agreement, minimum: 0.85, where: {length: short}}
    - {id: pull, metric: anchoring_gap, maximum: 0.3}
    - {id: kept, metric: verify_acceptance, minimum: 0.4}
`), 0},
		{"anchoring_people", with(askLabels(gate.Decide, "labels.csv"), func(r *request) { r.flags.Draw = "draw.csv" }), folder(
			"labels.csv", strings.Join([]string{labelRows("annotator,suggestion,label,visibility", 28, "ana,x,x,blind", 2, "ana,x,y,blind"),
				strings.TrimPrefix(labelRows("annotator,suggestion,label,visibility", 25, "ben,x,x,blind", 4, "ben,x,y,blind", 1, "ben,x,,blind"), "item,annotator,suggestion,label,visibility\n"),
				"40,cem,x,x,visible\n40,cem,x,x,blind\n1,cem,x,y,blind\n1,cem,x,x,blind\n41,cem,,x,blind\n"}, ""),
			"draw.csv", drawRows(31, "blind", 69, "visible"), "policy.yaml", `
min_shown: 5
rules:
  - {id: like-these, metric: blind_agreement, minimum: 0.5}
  - {id: these, metric: blind_agreement, minimum: 0.5, per: item}
  - {id: labels, metric: blind_agreement, minimum: 0.5, per: label}
  - {id: agree, metric: people_agreement, minimum: 0.5}
  - {id: as-people, metric: model_minus_people, minimum: -0.5}
  - {id: pull, metric: anchoring_gap, maximum: 0.5}
  - {id: seen, metric: visible_agreement, minimum: 0.01, advisory: true}
`), 4},
		{"anchoring_batches", with(askLabels(gate.Decide, "labels.csv"), func(r *request) { r.flags.Draw = "draw.csv" }), folder(
			"labels.csv", labelRows("annotator,suggestion,label,visibility", 50, "ana,x,x,blind", 50, "ana,x,x,visible", 58, "ana,y,y,blind", 1, "ana,y,x,blind"),
			"draw.csv", drawRows(50, "blind,0.5", 50, "visible,0.5", 60, "blind,0.2", 240, "visible,0.2"), "policy.yaml", `
corpus_size: 400
rules:
  - {id: may-label-the-rest, metric: blind_agreement, minimum: 0.85}
  - {id: pull, metric: anchoring_gap, maximum: 0.9}
  - {id: repeated, metric: visible_agreement, minimum: 0.5, looks: repeated}
`), 4},
		{"anchoring_check", askLabels(gate.Check, "labels.csv"), folder("labels.csv", labelRows("annotator,suggestion,label,visibility,inclusion_probability",
			3, "ana,x,x,visible,0.2", 2, "ben,x,y,blind,0.3")+"1,ana,x,x,blind,\n"), 0},
		{"unusable", ask(gate.Decide, "d.csv", "absent.csv"), folder("d.csv", header+"c1,r1,wihout,a,a,a\nc1,r1,with,a,a\n", "policy.yaml", "rules:\n  - {id: a, metric: agrement, minimum: 0.5}\n"), 2},
	}, everyRun()...)
}

// beforeAfterRows is a before_after study with times: in the pair of c2 the decision with the output came first; c1
// took 10 and 20 seconds.
const beforeAfterRows = `case,reviewer,condition,decision,reference,ai_output,started_at,decided_at
c1,r1,without,a,a,,2026-01-01T10:00:00Z,2026-01-01T10:00:10Z
c1,r1,with,a,a,a,2026-01-01T10:01:00Z,2026-01-01T10:01:20Z
c2,r1,without,b,a,,2026-01-01T10:05:00Z,2026-01-01T10:05:10Z
c2,r1,with,a,a,a,2026-01-01T10:02:00Z,
c1,r2,without,,a,b,,
c1,r2,with,a,a,,,
`

// TestFrozenReports compares the reports of whole runs with those kept, and holds them to the schema.
func TestFrozenReports(t *testing.T) {
	schema := reportSchema(t)
	kept, err := filepath.Glob("../../testdata/report/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range frozenRuns(t) {
		name := filepath.Join("../../testdata/report", run.name+".json")
		kept = slices.DeleteFunc(kept, func(k string) bool { return k == name })
		t.Run(run.name, func(t *testing.T) {
			run.req.fs = run.files
			r := inMemory().run(run.req)
			got, err := r.JSON()
			if err != nil {
				t.Fatal(err)
			}
			if r.ExitStatus != run.want {
				t.Errorf("exit status %d, want %d\n%s", r.ExitStatus, run.want, got)
			}
			if err := validate(schema, got); err != nil {
				t.Errorf("the schema refuses it: %#v", err)
			}
			if *update {
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("the report differs from the one kept; -update rewrites it (-want +got):\n%s", diff)
			}
			checkOneVerdict(t, r)
		})
	}
	for _, name := range kept {
		t.Errorf("%s is of no run", name)
	}
}

// checkOneVerdict checks that every form of a report says the same: verdict and exit status come from one place.
func checkOneVerdict(t interface {
	Helper()
	Errorf(string, ...any)
}, r *report.Report) {
	t.Helper()
	var terminal, markdown, document, variables strings.Builder
	for _, f := range []struct {
		name string
		w    *strings.Builder
	}{{"terminal", &terminal}, {"markdown", &markdown}, {"json", &document}, {"dotenv", &variables}} {
		format, err := summary.Lookup(f.name)
		if err == nil {
			err = format.Write(f.w, r, plain)
		}
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
	}
	var read struct {
		Verdict    string
		ExitStatus int `json:"exit_status"`
	}
	if err := json.Unmarshal([]byte(document.String()), &read); err != nil {
		t.Errorf("the JSON report: %v", err)
	}
	if first := "OLOPROOF_VERDICT=" + r.Verdict.String() + "\nOLOPROOF_EXIT_CODE=" + strconv.Itoa(r.ExitStatus) + "\n"; !strings.HasPrefix(variables.String(), first) {
		t.Errorf("the variables begin otherwise than %q:\n%s", first, &variables)
	}
	status := r.Status(report.DefaultFailOn())
	want := map[string]int{"PASS": 0, "FAIL": 1, "INSUFFICIENT_EVIDENCE": 3, "MANUAL_REVIEW": 4}
	switch {
	case read.ExitStatus != r.ExitStatus || read.Verdict != "" && want[read.Verdict] != read.ExitStatus:
		t.Errorf("the JSON report has verdict %q and exit status %d; the run ended with %d", read.Verdict, read.ExitStatus, r.ExitStatus)
	case read.Verdict == "":
		for verdict := range want {
			if strings.HasPrefix(terminal.String(), verdict) {
				t.Errorf("the terminal names %s, and nothing was decided:\n%s", verdict, &terminal)
			}
		}
		return
	}
	if !strings.HasPrefix(terminal.String(), read.Verdict) {
		t.Errorf("the JSON report says %s, the terminal:\n%s", read.Verdict, firstLine(terminal.String()))
	}
	if !strings.Contains(firstLine(markdown.String()), strings.ReplaceAll(read.Verdict, "_", `\_`)) && !strings.Contains(firstLine(markdown.String()), read.Verdict) {
		t.Errorf("the JSON report says %s, Markdown:\n%s", read.Verdict, firstLine(markdown.String()))
	}
	if line := closing(r, status); !strings.HasPrefix(line, read.Verdict+": ") || !strings.HasSuffix(line, "exit "+string(rune('0'+status))) {
		t.Errorf("the JSON report says %s, the closing line %q", read.Verdict, line)
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
