package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// run is one question asked of files in memory.
type run struct {
	verb   gate.Verb
	policy string            // bare; "" for none
	flags  gate.Flags        // baseline and candidate
	names  []string          // files named on the command line
	files  map[string]string // all that there are
}

// tryRun asks the question as the command line does.
func tryRun(r run) (gate.Answer, error) {
	diags := &diag.List{}
	source := gate.Source{Verb: r.verb, Files: r.names, Flags: r.flags}
	if r.policy != "" {
		p := policy.Load(policy.Parse("policy.yaml", []byte(r.policy), diags), []policy.SectionSpec{{Key: "compare", Gate: "compare"}}, "compare", "devel")
		if p == nil || len(p.Sections) == 0 {
			return gate.Answer{}, diags.Err()
		}
		source.Section, source.Settings = &p.Sections[0], p.Sections[0].Settings
	}
	q := Gate{}.Compile(source, diags)
	fsys := fstest.MapFS{}
	for name, text := range r.files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	before := diags.Len()
	for _, in := range q.Inputs() {
		if len(in.Paths) == 0 {
			continue
		}
		in.Read(in.Paths, rows.Options{FS: fsys}, diags)
	}
	if diags.Len() == before {
		q.(gate.RowsChecker).CheckRows(diags)
	}
	if err := diags.Err(); err != nil {
		return gate.Answer{}, err
	}
	return q.Answer(gate.Context{Today: "2026-11-29"})
}

const header = "version,case,trial,passed\n"

// decide decides rows (CSV without its header) of versions old and new under a bare policy.
func decide(t *testing.T, policyText, body string) report.Gate {
	t.Helper()
	a, err := tryRun(run{verb: gate.Decide, policy: "baseline: old\ncandidate: new\n" + policyText, names: []string{"trials.csv"},
		files: map[string]string{"trials.csv": header + body}})
	if err != nil {
		t.Fatal(err)
	}
	return a.Gate
}

// ruleOf returns the one rule of an answer.
func ruleOf(t *testing.T, g report.Gate) report.Rule {
	t.Helper()
	if len(g.Rules) != 1 {
		t.Fatalf("%d rules, want 1", len(g.Rules))
	}
	return g.Rules[0]
}

// measure returns the measure of a metric with these labels, and no others: name, value, name, value …
func measure(t *testing.T, g report.Gate, metric string, labels ...string) report.Measure {
	t.Helper()
	for _, m := range g.Measures {
		if m.Metric != metric || len(m.Labels) != len(labels)/2 {
			continue
		}
		same := true
		for i := 0; i < len(labels); i += 2 {
			same = same && m.Labels[labels[i]] == labels[i+1]
		}
		if same {
			return m
		}
	}
	t.Fatalf("no measure %s %v", metric, labels)
	return report.Measure{}
}

func finding(g report.Gate, code string) *report.Finding {
	i := slices.IndexFunc(g.Findings, func(f report.Finding) bool { return f.Code == code })
	if i < 0 {
		return nil
	}
	return &g.Findings[i]
}

// written writes the trials of a version: a text per case, 1 for passed, 0 for not, ? for no result.
func written(version string, cases ...string) string {
	var b strings.Builder
	for i, trials := range cases {
		for j, r := range trials {
			result := strings.Trim(string(r), "?")
			fmt.Fprintf(&b, "%s,case-%d,%d,%s\n", version, i+1, j+1, result)
		}
	}
	return b.String()
}

// The eight cases of the lesson: five trials each, as they were recorded.
var (
	lessonOld = []string{"11111", "11101", "10100", "11011", "00000", "01101", "11111", "00010"}
	lessonNew = []string{"11111", "11111", "10101", "11110", "00100", "11011", "11111", "01010"}
)

const signPolicy = "rules: [{id: better, metric: sign_test}]"

// percent is a share as the lesson prints it: whole percentages, halves rounded away from zero.
func percent(x float64) int { return int(math.Round(x * 100)) }

// TestWorkedExample: every number of the lesson, to the digit: 60 % (45 to 75), 7 of 8, 2 of 8; 73 % (58 to 87), 8 of 8,
// 3 of 8; 5 better, 0 worse, 3 equal; p 0.0625, uncertain; with the fourth case all passed p 0.03125, better.
func TestWorkedExample(t *testing.T) {
	g := decide(t, signPolicy, written("old", lessonOld...)+written("new", lessonNew...))
	for _, c := range []struct {
		version                          string
		rate, lower, upper, passes       int
		atLeastOnce, always              int
		atLeastOnceEstimate, alwaysShare float64
	}{
		{"old", 60, 45, 75, 24, 7, 2, 7. / 8, 2. / 8},
		{"new", 73, 58, 87, 29, 8, 3, 1, 3. / 8},
	} {
		m := measure(t, g, "rate", "version", c.version)
		beside := m.IntervalsBeside[0]
		if percent(*m.Estimate) != c.rate || percent(beside.Lower) != c.lower || percent(beside.Upper) != c.upper || *m.Numerator != c.passes || *m.Denominator != 40 {
			t.Errorf("%s: rate %v (%v to %v), %d of %d; want %d %% (%d to %d), %d of 40", c.version, *m.Estimate, beside.Lower, beside.Upper,
				*m.Numerator, *m.Denominator, c.rate, c.lower, c.upper, c.passes)
		}
		if m.Interval.Method != interval.MethodUniformMixture || *m.Units != 8 || m.UnitName != "cases" {
			t.Errorf("%s: the rate's interval is %s over %d %s, want uniform-mixture over 8 cases", c.version, m.Interval.Method, *m.Units, m.UnitName)
		}
		at := measure(t, g, "pass_at_k", "version", c.version, "k", "5")
		if *at.Numerator != c.atLeastOnce || *at.Denominator != 8 || *at.Estimate != c.atLeastOnceEstimate || at.Interval.Method != interval.MethodClopperPearson {
			t.Errorf("%s: pass_at_5 %d of %d by %s, want %d of 8 by clopper-pearson", c.version, *at.Numerator, *at.Denominator, at.Interval.Method, c.atLeastOnce)
		}
		all := measure(t, g, "pass_all_k", "version", c.version, "k", "5")
		if *all.Numerator != c.always || *all.Denominator != 8 || *all.Estimate != c.alwaysShare {
			t.Errorf("%s: pass_all_5 %d of %d, want %d of 8", c.version, *all.Numerator, *all.Denominator, c.always)
		}
	}
	r := ruleOf(t, g)
	if *r.Better != 5 || *r.Worse != 0 || *r.Equal != 3 || *r.PValue != 0.0625 || r.Verdict != report.InsufficientEvidence || r.Method != interval.MethodSignTest || r.Interval != nil {
		t.Errorf("%d better, %d worse, %d equal, p %v, %s; want 5, 0, 3, 0.0625, INSUFFICIENT_EVIDENCE", *r.Better, *r.Worse, *r.Equal, *r.PValue, r.Verdict)
	}
	if want := "5 cases are better and 0 worse: p = 0.0625 is not below 0.05, so it is uncertain whether the candidate is better or worse."; r.Reason != want {
		t.Errorf("reason %q, want %q", r.Reason, want)
	}
	moved := []report.Moved{ // by hand: those that got from 3 to 4 of 5 and so on, all by one of five trials
		{Case: "case-2", Baseline: 0.8, Candidate: 1}, {Case: "case-3", Baseline: 0.4, Candidate: 0.6}, {Case: "case-5", Baseline: 0, Candidate: 0.2},
		{Case: "case-6", Baseline: 0.6, Candidate: 0.8}, {Case: "case-8", Baseline: 0.2, Candidate: 0.4},
	}
	if diff := cmp.Diff(moved, r.Moved); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
	d := measure(t, g, "pass_rate_difference")
	if *d.Estimate != 0.125 { // 29/40 − 24/40
		t.Errorf("difference %v, want 0.125", *d.Estimate)
	}
	if finding(g, "no_plan") == nil {
		t.Error("nothing says what rerunning until it passes does")
	}

	tried := slices.Clone(lessonNew)
	tried[3] = "11111"
	g = decide(t, signPolicy, written("old", lessonOld...)+written("new", tried...))
	r = ruleOf(t, g)
	if *r.Better != 6 || *r.Worse != 0 || *r.Equal != 2 || *r.PValue != 0.03125 || r.Verdict != report.Pass {
		t.Errorf("fourth case changed: %d better, %d worse, %d equal, p %v, %s; want 6, 0, 2, 0.03125, PASS", *r.Better, *r.Worse, *r.Equal, *r.PValue, r.Verdict)
	}
	// The other way round it is worse.
	if r := ruleOf(t, decide(t, signPolicy, written("new", lessonOld...)+written("old", tried...))); r.Verdict != report.Fail || *r.PValue != 0.03125 {
		t.Errorf("versions swapped: %s, p %v; want FAIL, 0.03125", r.Verdict, *r.PValue)
	}
}

// TestStrictlyBelow: p must be below 1 − confidence as it is written: 0.0625 is not below 1 − 0.9375, and 0.5 is not
// below 1 − 0.5.
func TestStrictlyBelow(t *testing.T) {
	for _, c := range []struct {
		cases, confidence string
		want              report.Verdict
	}{
		{"5", "0.9375", report.InsufficientEvidence},
		{"5", "0.9374", report.Pass},
		{"2", "0.5", report.InsufficientEvidence},
		{"3", "0.7", report.Pass}, // p = 0.25 < 0.3
	} {
		n := int(c.cases[0] - '0')
		body := written("old", slices.Repeat([]string{"0"}, n)...) + written("new", slices.Repeat([]string{"1"}, n)...)
		if r := ruleOf(t, decide(t, "confidence: "+c.confidence+"\n"+signPolicy, body)); r.Verdict != c.want {
			t.Errorf("%s of %s better at %s: %s (p %v), want %s", c.cases, c.cases, c.confidence, r.Verdict, *r.PValue, c.want)
		}
	}
}

// compiled is the question of a bare policy, without files.
func compiled(t *testing.T, text string) gate.Question {
	t.Helper()
	diags := &diag.List{}
	p := policy.Load(policy.Parse("policy.yaml", []byte(text), diags), []policy.SectionSpec{{Key: "compare", Gate: "compare"}}, "compare", "devel")
	q := Gate{}.Compile(gate.Source{Verb: gate.Decide, Section: &p.Sections[0], Settings: p.Sections[0].Settings, NoFiles: true}, diags)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return q
}
