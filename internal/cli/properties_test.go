package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/report"
)

// The columns of the studies generated here, in the order of a row's fields.
var studyColumns = []string{"case", "reviewer", "condition", "decision", "reference", "ai_output", "started_at", "decided_at", "kind"}

// The places in a row of some of them.
const (
	atCase = iota
	atReviewer
	atCondition
	atDecision
	atReference
	atOutput
	atStarted
	atDecided
)

// rowsOf is a study: rows of text, one field a column.
type rowsOf [][]string

// clone copies a study.
func (s rowsOf) clone() rowsOf {
	c := make(rowsOf, len(s))
	for i := range s {
		c[i] = slices.Clone(s[i])
	}
	return c
}

// missing are the places of the rows without a decision.
func (s rowsOf) missing() (places []int) {
	for i := range s {
		if s[i][atDecision] == "" {
			places = append(places, i)
		}
	}
	return places
}

// checkStudies checks a property on so many drawn studies, or on as many as -rapid.checks says where that is not the usual
// number: each study is several whole runs.
func checkStudies(t *testing.T, number int, property func(*rapid.T)) {
	t.Helper()
	if checks := flag.Lookup("rapid.checks"); checks != nil && checks.Value.String() == checks.DefValue {
		set := func(n string) {
			if err := checks.Value.Set(n); err != nil {
				t.Fatal(err)
			}
		}
		set(strconv.Itoa(number))
		defer set(checks.DefValue)
	}
	rapid.Check(t, property)
}

// drawStudy draws a small study of any design, with missing decisions, outputs and times. Decisions are right more
// often with the output than without in some studies, so that rules come to every verdict.
func drawStudy(t *rapid.T) rowsOf {
	people, cases := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 6, 6, 6}).Draw(t, "people"), rapid.IntRange(1, 4).Draw(t, "cases")
	design := rapid.SampledFrom([]string{"crossed", "before_after", "any"}).Draw(t, "design")
	clear := rapid.Bool().Draw(t, "with the output everyone is right, without it wrong")
	timed := rapid.Bool().Draw(t, "timed")
	often := func(name string, of int) bool { return rapid.IntRange(1, of).Draw(t, name) > 1 }
	label := rapid.SampledFrom([]string{"a", "b"})
	references, outputs := make([]string, cases), make([]string, cases)
	for c := range cases {
		references[c] = label.Draw(t, "reference")
		outputs[c] = rapid.SampledFrom([]string{"a", "b", "a", "b", "u", ""}).Draw(t, "output")
	}
	var s rowsOf
	add := func(p, c int, condition string) {
		decision := label.Draw(t, "decision")
		if clear {
			decision = references[c]
			if condition == "without" {
				decision = map[string]string{"a": "b", "b": "a"}[decision]
			}
		}
		if !often("decision recorded", 8) {
			decision = ""
		}
		output := outputs[c]
		if !often("the case's output", 12) {
			output = label.Draw(t, "own output")
		}
		started, decided := "", ""
		if timed && often("time recorded", 6) {
			started, decided = "0", fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "seconds"))
		}
		s = append(s, []string{fmt.Sprintf("c%d", c), fmt.Sprintf("p%d", p), condition, decision, references[c], output, started, decided, fmt.Sprintf("k%d", c%2)})
	}
	for p := range people {
		for c := range cases {
			conditions := []string{"with", "without"}
			switch {
			case design == "crossed", design == "any" && often("once", 3):
				conditions = conditions[rapid.IntRange(0, 1).Draw(t, "condition"):][:1]
			}
			if design != "before_after" && !often("row is there", 8) {
				continue
			}
			for _, condition := range conditions {
				add(p, c, condition)
			}
		}
	}
	if len(s) == 0 {
		add(0, 0, "with")
	}
	return s
}

// drawPolicy draws a policy of rules of every kind; the confidence is low, so that few people can decide.
func drawPolicy(t *rapid.T) string {
	threshold := rapid.SampledFrom([]string{"minimum: 0", "minimum: 0.05", "minimum: 0.2", "minimum: 0.5", "minimum: 0.9", "maximum: 0.9", "maximum: 0.5", "maximum: 0.2", "maximum: 0.1"})
	var b strings.Builder
	fmt.Fprintf(&b, "confidence: %s\n", rapid.SampledFrom([]string{"0.5", "0.5", "0.8"}).Draw(t, "confidence"))
	if rapid.Bool().Draw(t, "abstain") {
		b.WriteString("abstain: [u]\n")
	}
	b.WriteString("rules:\n  - {id: better, metric: accuracy_difference, ")
	b.WriteString(rapid.SampledFrom([]string{"minimum: -0.9", "minimum: -0.5", "minimum: 0", "maximum: 0.9", "maximum: 0", "maximum: -0.5"}).Draw(t, "difference") + "}\n")
	for i, rule := range []string{
		"metric: agreement", "metric: over_reliance, per: person", "metric: correct_override", "metric: harmful_override, per: person", "metric: accuracy_with, per: person",
		"metric: accuracy_without", "metric: accuracy_with, looks: repeated", "metric: system_accuracy", "metric: accuracy_with, where: {kind: k1}",
		"metric: accuracy_without, per: person, advisory: true, max_left_out: 0.3", "metric: accuracy_with, per: person, looks: once, planned: 5",
	} {
		if rapid.Bool().Draw(t, "rule") {
			fmt.Fprintf(&b, "  - {id: r%d, %s, %s}\n", i, rule, threshold.Draw(t, "threshold"))
		}
	}
	return b.String()
}

// decideStudy decides a study that lies in one plain file.
func decideStudy(t rapid.TB, s rowsOf, policy string) *report.Report {
	r := decide(folder("d.csv", s.csv(",", studyColumns), "policy.yaml", policy), "d.csv")
	mustDecide(t, r)
	return r
}

func mustDecide(t rapid.TB, r *report.Report) {
	if len(r.Errors) > 0 {
		t.Fatalf("the study cannot be used: %q", problems(r))
	}
}

// csv writes a study with these columns, in their order.
func (s rowsOf) csv(delimiter string, columns []string) string {
	var b strings.Builder
	b.WriteString(strings.Join(columns, delimiter) + "\n")
	for _, row := range s {
		fields := make([]string, len(columns))
		for i, name := range columns {
			fields[i] = row[slices.Index(studyColumns, name)]
		}
		b.WriteString(strings.Join(fields, delimiter) + "\n")
	}
	return b.String()
}

// jsonl writes a study as one object a line; what is not recorded is null or left out.
func (s rowsOf) jsonl(t *rapid.T) string {
	var b strings.Builder
	for i, row := range s {
		object := map[string]any{}
		for c, name := range studyColumns {
			switch {
			case row[c] != "":
				object[name] = row[c]
			case i == 0 || rapid.Bool().Draw(t, "null"): // some object has every key, or it would be missing
				object[name] = nil
			}
		}
		line, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(line)
		b.WriteString(rapid.SampledFrom([]string{"\n", " ", "\r\n"}).Draw(t, "between objects"))
	}
	return b.String()
}

// TestHowFilesAreWrittenDoesNotMatter: rows in any order, split over up to three files of any name, form, delimiter,
// column order and compression, give the same report but for its inputs.
func TestHowFilesAreWrittenDoesNotMatter(t *testing.T) {
	checkStudies(t, 20, func(t *rapid.T) {
		s, policy := drawStudy(t), drawPolicy(t)
		want := decideStudy(t, s, policy)

		parts := make([]rowsOf, min(len(s), rapid.IntRange(1, 3).Draw(t, "files")))
		for i, row := range rapid.Permutation(s).Draw(t, "rows") {
			at := i // every file has a row
			if i >= len(parts) {
				at = rapid.IntRange(0, len(parts)-1).Draw(t, "file")
			}
			parts[at] = append(parts[at], row)
		}
		fsys := fstest.MapFS{"policy.yaml": &fstest.MapFile{Data: []byte(policy)}}
		var names []string
		for i, part := range parts {
			var text string
			switch form := rapid.SampledFrom([]string{",", ";", "\t", "|", "sep=;", "bom", "crlf", "jsonl"}).Draw(t, "form"); form {
			case "jsonl":
				text = part.jsonl(t)
			case "sep=;":
				text = "sep=;\n" + part.csv(";", studyColumns)
			case "bom":
				text = "\ufeff" + part.csv(",", studyColumns)
			case "crlf":
				text = strings.ReplaceAll(part.csv(";", studyColumns), "\n", "\r\n\r\n")
			default:
				text = part.csv(form, rapid.Permutation(studyColumns).Draw(t, "columns"))
			}
			data := []byte(text)
			var err error
			switch rapid.SampledFrom([]string{"plain", "plain", "gzip", "zstd"}).Draw(t, "compression") {
			case "gzip":
				data, err = gzipped(data)
			case "zstd":
				data, err = zstandard(data)
			}
			if err != nil {
				t.Fatal(err)
			}
			name := rapid.StringMatching(`[a-z ]{0,5}`).Draw(t, "name") + fmt.Sprint(i) + rapid.SampledFrom([]string{"", ".csv", ".gz", ".jsonl", ".txt"}).Draw(t, "extension")
			fsys[name] = &fstest.MapFile{Data: data}
			names = append(names, name)
		}
		got := decide(fsys, names...)
		mustDecide(t, got)
		if diff := cmp.Diff(gates(t, want), gates(t, got)); diff != "" {
			t.Errorf("in one file (-), and in %q (+):\n%s", names, diff)
		}
		if got.Verdict != want.Verdict || got.ExitStatus != want.ExitStatus || *got.Counts != *want.Counts || *got.Multiplicity != *want.Multiplicity {
			t.Errorf("the verdict is %v, and %v", want.Verdict, got.Verdict)
		}
	})
}

// TestNamesDoNotMatter: other ids for people and cases change nothing in the gates' part of the report, but for the ends of a
// difference over people and cases: which of them are paired follows from a hash of their ids.
func TestNamesDoNotMatter(t *testing.T) {
	checkStudies(t, 20, func(t *rapid.T) {
		s, policy := drawStudy(t), drawPolicy(t)
		renamed := s.clone()
		for _, column := range []int{atCase, atReviewer} {
			names := map[string]string{}
			fresh := rapid.Permutation([]string{"mike", "alpha", "zulu", "echo", "10", "9", "-", "é"}).Draw(t, "names")
			for i := range renamed {
				id := renamed[i][column]
				if names[id] == "" {
					names[id] = fresh[len(names)]
				}
				renamed[i][column] = names[id]
			}
		}
		before, after := decideStudy(t, s, policy), decideStudy(t, renamed, policy)
		for _, r := range []*report.Report{before, after} {
			for i := range r.Gates {
				for j := range r.Gates[i].Measures {
					if m := &r.Gates[i].Measures[j]; m.Labels["generalize"] != "" {
						m.Interval.Lower, m.Interval.Upper = nil, nil
					}
				}
			}
		}
		if diff := cmp.Diff(gates(t, before), gates(t, after)); diff != "" {
			t.Errorf("under the old names (-) and the new (+):\n%s", diff)
		}
	})
}

// intervals are the intervals of a report's measures and rules, by what they are of.
func intervals(r *report.Report) map[string]*report.Interval {
	found := map[string]*report.Interval{}
	for _, g := range r.Gates {
		for _, m := range g.Measures {
			found[fmt.Sprint("measure ", m.Metric, m.Labels)] = m.Interval
		}
		for _, rule := range g.Rules {
			found["rule "+rule.ID] = rule.Interval
		}
	}
	return found
}

// within reports whether inner reaches no further than outer; an open side is nil.
func within(inner, outer *report.Interval) bool {
	low := outer.Lower == nil || inner.Lower != nil && *inner.Lower >= *outer.Lower
	high := outer.Upper == nil || inner.Upper != nil && *inner.Upper <= *outer.Upper
	return low && high
}

// checkNested checks that no interval of one report reaches further than that of another.
func checkNested(t rapid.TB, inner, outer *report.Report, why string) {
	in, out := intervals(inner), intervals(outer)
	for of, wide := range out {
		narrow, found := in[of]
		switch {
		case !found && strings.Contains(of, "decision_time"): // no time was recorded
		case !found || (narrow == nil) != (wide == nil):
			t.Errorf("%s: %s has an interval in one report only", why, of)
		case narrow != nil && !within(narrow, wide):
			t.Errorf("%s: the interval of %s went from %s to %s", why, of, written(wide), written(narrow))
		}
	}
}

// written writes an interval with all its digits.
func written(iv *report.Interval) string {
	doc, err := json.Marshal(iv)
	if err != nil {
		return err.Error()
	}
	return string(doc)
}

// verdicts are the rules' verdicts by id.
func verdicts(r *report.Report) map[string]report.Verdict {
	found := map[string]report.Verdict{}
	for rule := range r.Rules() {
		found[rule.ID] = rule.Verdict
	}
	return found
}

// checkDecidedStays checks that a PASS stays one, and a FAIL.
func checkDecidedStays(t rapid.TB, before, after *report.Report, why string) {
	later := verdicts(after)
	for id, v := range verdicts(before) {
		if (v == report.Pass || v == report.Fail) && later[id] != v {
			t.Errorf("%s: rule %s went from %v to %v", why, id, v, later[id])
		}
	}
}

// TestWhatIsRecordedOnlyHelps: a decision in place of a missing one widens no interval and undoes no PASS or FAIL; so
// all of them together do, whichever they are: a PASS was one under every completion.
func TestWhatIsRecordedOnlyHelps(t *testing.T) {
	// The labels in use and one that nobody else has: the decision that was missing may have been anything.
	answers := []string{"a", "b", "u", "another"}
	check := func(t rapid.TB, s rowsOf, policy string, row int, one string, all func() string) map[string]report.Verdict {
		before := decideStudy(t, s, policy)
		more := s.clone()
		more[row][atDecision] = one
		after := decideStudy(t, more, policy)
		checkNested(t, after, before, "with one more decision")
		checkDecidedStays(t, before, after, "with one more decision")
		for range 2 {
			for _, i := range s.missing() {
				more[i][atDecision] = all()
			}
			after := decideStudy(t, more, policy)
			checkNested(t, after, before, "with every decision")
			checkDecidedStays(t, before, after, "with every decision")
		}
		return verdicts(before)
	}
	checkStudies(t, 20, func(t *rapid.T) {
		s, policy := drawStudy(t), drawPolicy(t)
		if places := s.missing(); len(places) > 0 {
			answer := rapid.SampledFrom(answers)
			check(t, s, policy, rapid.SampledFrom(places).Draw(t, "row"), answer.Draw(t, "answer"), func() string { return answer.Draw(t, "answer") })
		}
	})

	// One study that has both a PASS and a FAIL to lose, under every answer.
	s := clearStudy()
	s[0][atDecision], s[9][atDecision] = "", ""
	for _, one := range answers {
		for _, all := range answers {
			got := check(t, s, clearPolicy, 0, one, func() string { return all })
			if got["better"] != report.Pass || got["right-without"] != report.Fail {
				t.Fatalf("the verdicts are %v", got)
			}
		}
	}
}

// clearStudy is a crossed study of ten people and four cases in which everyone is right with the output and wrong
// without.
func clearStudy() rowsOf {
	var s rowsOf
	for line := range strings.Lines(crossedStudy(10, 4, func(_, _ int, with bool) bool { return with })) {
		s = append(s, append(strings.Split(strings.TrimSpace(line), ","), "", "", "k0"))
	}
	return s[1:]
}

// clearPolicy passes and fails on it, also where two decisions are missing. At 0.8 and ten people whose rates are 0
// the upper bound of the mean is below 0.3 (measured: 0.2955).
const clearPolicy = `confidence: 0.8
rules:
  - {id: better, metric: accuracy_difference, minimum: 0}
  - {id: right-without, metric: accuracy_without, minimum: 0.9, per: person}
  - {id: undecided, metric: accuracy_difference, minimum: 0.9}
  - {id: pooled, metric: agreement, minimum: 0.1}
`

// TestRecordedTimesOnlyHelp: a time in place of a missing one widens no interval of decision times.
func TestRecordedTimesOnlyHelp(t *testing.T) {
	checkStudies(t, 20, func(t *rapid.T) {
		s := drawStudy(t)
		timed := s.clone()
		for i := range timed {
			if timed[i][atDecided] == "" && rapid.Bool().Draw(t, "time") {
				timed[i][atStarted], timed[i][atDecided] = "1", fmt.Sprint(rapid.IntRange(1, 9).Draw(t, "seconds"))
			}
		}
		const policy = "rules: [{id: a, metric: accuracy_with, minimum: 0.5}]\n"
		checkNested(t, decideStudy(t, timed, policy), decideStudy(t, s, policy), "with more times")
	})
}

// TestMoreConfidenceIsWider: at a higher confidence no interval is narrower.
func TestMoreConfidenceIsWider(t *testing.T) {
	checkStudies(t, 20, func(t *rapid.T) {
		s, policy := drawStudy(t), drawPolicy(t)
		_, rest, _ := strings.Cut(policy, "\n")
		levels := []string{"0.5", "0.75", "0.9", "0.95", "0.99", "0.999"}
		i := rapid.IntRange(0, len(levels)-2).Draw(t, "lower")
		j := rapid.IntRange(i+1, len(levels)-1).Draw(t, "higher")
		sure := decideStudy(t, s, "confidence: "+levels[j]+"\n"+rest)
		less := decideStudy(t, s, "confidence: "+levels[i]+"\n"+rest)
		checkNested(t, less, sure, "from "+levels[j]+" to "+levels[i])
	})
}

// TestSwappedArmsMirrorTheDifference: with the conditions exchanged, the difference changes its sign and nothing else.
func TestSwappedArmsMirrorTheDifference(t *testing.T) {
	checkStudies(t, 20, func(t *rapid.T) {
		s := drawStudy(t)
		swapped := s.clone()
		for i := range swapped {
			swapped[i][atCondition] = map[string]string{"with": "without", "without": "with"}[swapped[i][atCondition]]
		}
		const policy = "confidence: 0.6\nrules:\n  - {id: better, metric: accuracy_difference, minimum: 0.25}\n"
		const mirrored = "confidence: 0.6\nrules:\n  - {id: better, metric: accuracy_difference, maximum: -0.25}\n"
		r := decideStudy(t, s, policy).Gates[0].Rules[0]
		m := decideStudy(t, swapped, mirrored).Gates[0].Rules[0]
		if *r.Interval.Lower != -*m.Interval.Upper || *r.Interval.Upper != -*m.Interval.Lower {
			t.Errorf("the interval is %s, and with the arms exchanged %s", written(r.Interval), written(m.Interval))
		}
		if (r.Estimate == nil) != (m.Estimate == nil) || r.Estimate != nil && *r.Estimate != -*m.Estimate {
			t.Errorf("the estimate is %v, and with the arms exchanged %v", r.Estimate, m.Estimate)
		}
		if (r.Completions == nil) != (m.Completions == nil) || r.Completions != nil && (r.Completions.Low != -m.Completions.High || r.Completions.High != -m.Completions.Low) {
			t.Errorf("the completions are %v, and with the arms exchanged %v", r.Completions, m.Completions)
		}
		if r.Verdict != m.Verdict || *r.Missing != *m.Missing || *r.Units != *m.Units {
			t.Errorf("%v with %d missing of %d people, and with the arms exchanged %v with %d of %d", r.Verdict, *r.Missing, *r.Units, m.Verdict, *m.Missing, *m.Units)
		}
	})
}

// TestRulesAreApart: one more rule changes no other, and no measure.
func TestRulesAreApart(t *testing.T) {
	checkStudies(t, 20, func(t *rapid.T) {
		s, policy := drawStudy(t), drawPolicy(t)
		before := decideStudy(t, s, policy).Gates[0]
		after := decideStudy(t, s, policy+"  - {id: one-more, metric: "+
			rapid.SampledFrom([]string{"agreement, maximum: 0.4", "accuracy_difference, minimum: 0.1, looks: once, planned: 2", "accuracy_with, minimum: 0.3, per: person, where: {kind: k0}", "system_accuracy, maximum: 0, confidence: 0.99"}).Draw(t, "rule")+"}\n").Gates[0]
		after.Rules = after.Rules[:len(after.Rules)-1]
		after.Findings = slices.DeleteFunc(after.Findings, func(f report.Finding) bool { return strings.Contains(f.Message, "rule one-more") })
		if len(after.Findings) == 0 {
			after.Findings = nil
		}
		if len(before.Findings) == 0 {
			before.Findings = nil
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("without one more rule (-) and with it (+):\n%s", diff)
		}
	})
}

// TestEveryReportHolds goes through what holds for each report by itself: what is printed obeys the schema, every form
// names the one verdict, nothing evaluated is never a PASS, and a verdict is what the printed numbers say.
func TestEveryReportHolds(t *testing.T) {
	schema := reportSchema(t)
	check := func(t rapid.TB, s rowsOf, policy string) *report.Report {
		r := decideStudy(t, s, policy)
		doc, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(schema, doc); err != nil {
			t.Errorf("the schema refuses the report: %#v", err)
		}
		again, err := decideStudy(t, s, policy).JSON()
		if err != nil || !bytes.Equal(doc, again) {
			t.Errorf("a second run prints another report (%v):\n%s", err, cmp.Diff(string(doc), string(again)))
		}
		checkOneVerdict(t, r)
		worst := report.NoVerdict
		for rule := range r.Rules() {
			if !rule.Advisory {
				worst = max(worst, rule.Verdict)
			}
			checkRule(t, rule)
		}
		if r.Verdict != worst || r.ExitStatus != worst.ExitStatus() {
			t.Errorf("the run is %v with exit status %d, its worst counting rule %v", r.Verdict, r.ExitStatus, worst)
		}
		return r
	}
	checkStudies(t, 20, func(t *rapid.T) {
		s, policy := drawStudy(t), drawPolicy(t)
		if rapid.IntRange(0, 5).Draw(t, "nothing recorded") == 0 {
			for i := range s {
				s[i][atDecision] = ""
			}
		}
		check(t, s, policy)
	})
	seen := check(t, clearStudy(), clearPolicy)
	if got := *seen.Counts; got != (report.Counts{Pass: 1, Fail: 1, InsufficientEvidence: 1, ManualReview: 1}) {
		t.Errorf("the study that comes to every verdict has %+v", got)
	}
}

// checkRule checks that a rule's verdict is what its printed numbers say.
func checkRule(t rapid.TB, rule *report.Rule) {
	if rule.Verdict == report.NoVerdict || rule.Reason == "" {
		t.Errorf("rule %s has the verdict %v and the reason %q", rule.ID, rule.Verdict, rule.Reason)
	}
	if rule.Estimate == nil && rule.Verdict != report.InsufficientEvidence {
		t.Errorf("rule %s is %v, and nothing was evaluated", rule.ID, rule.Verdict)
	}
	// Someone with nothing recorded on one side is in the interval and not in the estimate, which may then lie
	// outside; the completions never do.
	if rule.Estimate != nil && *rule.Missing == 0 && (*rule.Estimate < *rule.Interval.Lower || *rule.Estimate > *rule.Interval.Upper) {
		t.Errorf("rule %s has the estimate %v outside of %s", rule.ID, *rule.Estimate, written(rule.Interval))
	}
	if c := rule.Completions; c != nil && (c.Low < *rule.Interval.Lower || c.High > *rule.Interval.Upper || c.Low > c.High) {
		t.Errorf("rule %s has the completions %v to %v outside of %s", rule.ID, c.Low, c.High, written(rule.Interval))
	}
	compared := rule.Threshold.Compare(*rule.Interval.Lower, *rule.Interval.Upper)
	if (rule.Verdict == report.Pass || rule.Verdict == report.Fail) && compared != rule.Verdict {
		t.Errorf("rule %s is %v, and %s is %v", rule.ID, rule.Verdict, written(rule.Interval), compared)
	}
}
