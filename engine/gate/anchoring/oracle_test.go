package anchoring

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// What testdata/oracle/oracle.py found in one study; its README says what each key is.
type (
	oracle struct {
		Verdict    report.Verdict
		ExitStatus int `json:"exit_status"`
		Data       struct {
			Rows, Items, Annotators int
			Kinds                   map[string]int
			PairsOrderedBy          map[string]int `json:"pairs_ordered_by"`
			OrderedByPlaceAlone     int            `json:"ordered_by_place_alone"`
			Classes, Reasons        map[string]int
			Departures              map[string]int
		}
		Classes      []string
		Rules        []oracleRule
		Measures     []oracleMeasure
		BeyondChance map[string]oracleCorrected `json:"beyond_chance"`
	}
	oracleRule struct {
		oracleMeasure
		ID        string
		Threshold report.Threshold
		Verdict   report.Verdict
		Because   []string
	}
	oracleMeasure struct {
		Metric                          string
		Labels                          map[string]string
		Estimate                        *float64
		Interval                        *oracleInterval
		Corpus                          *oracleInterval
		Numerator, Denominator, Missing *int
		Sides                           map[string]oracleSide
		Units                           int
		LeftOut                         []report.LeftOut `json:"left_out"`
		Completions                     *report.Completions
	}
	oracleInterval struct {
		Lower, Upper float64
		Method       interval.Method
	}
	oracleSide      struct{ Numerator, Missing, Denominator int }
	oracleCorrected struct {
		Estimate *float64
		Units    int
	}
)

// oracleReasons are the oracle's words for why something is left out.
var oracleReasons = map[string]string{
	"no suggestion":                 reasonNoSuggestion,
	"repeated blind label":          reasonRepeated,
	"person without such a label":   reasonNoneOwn,
	"item that one person labelled": reasonOnePerson,
	"person with one kind only":     reasonOneSide,
	"accepted not recorded":         reasonNotAccepted,
}

// near is how far ends of the methods may lie from the oracle's, which finds these two in ordinary floating point or without
// the last digits; all others are equal to the last bit.
var near = map[interval.Method]float64{interval.MethodFisherProduct: 1e-8, interval.MethodWeightedMixture: 1e-8}

// TestOracle holds every class, count, estimate, interval and verdict against those of an independent program, on all of its
// studies.
func TestOracle(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join("testdata", "oracle", "[0-9][0-9]"))
	if err != nil || len(folders) != 81 { // as many as its README tells
		t.Fatalf("%d studies (%v), want 81", len(folders), err)
	}
	measures := 0
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			want := readOracle(t, folder)
			q := studyOracle(t, folder)
			a, err := q.Answer(gate.Context{Today: "2026-11-29"})
			if err != nil {
				t.Fatal(err)
			}
			compareData(t, q, want)
			compareRules(t, a.Gate, q, want)
			measures += compareMeasures(t, a.Gate, q, want)
			compareCorrected(t, a.Gate, want.BeyondChance)
		})
	}
	if !t.Failed() && measures < 500 {
		t.Errorf("%d measures were compared, want at least 500", measures)
	}
}

func readOracle(t *testing.T, folder string) oracle {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want oracle
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	return want
}

// studyOracle reads a study as its policy says, the way the command line does.
func studyOracle(t *testing.T, folder string) *question {
	t.Helper()
	file := filepath.Join(folder, "policy.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	diags := &diag.List{}
	p := policy.Load(policy.Parse(file, text, diags), []policy.SectionSpec{{Key: "anchoring", Gate: "anchoring"}}, "anchoring", "devel")
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	s := &p.Sections[0]
	q := Gate{}.Compile(gate.Source{Verb: gate.Decide, Section: s, Settings: s.Settings}, diags).(*question)
	for _, in := range q.Inputs() {
		paths := make([]string, len(in.Paths))
		for i, path := range in.Paths {
			paths[i] = filepath.Join(in.Base, path)
		}
		rows.Read(paths, rows.Options{Columns: in.Columns, Rename: in.Rename, MissingValues: in.MissingValues},
			func(r rows.Row) { in.Add(r, diags) }, diags)
	}
	q.CheckRows(diags)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return q
}

// classesOf tells what each row is, in the order of the files.
func classesOf(t *testing.T, q *question) []string {
	t.Helper()
	s := q.study
	classes := map[*row]string{}
	put := func(r *row, class string) {
		if other, twice := classes[r]; twice {
			t.Errorf("%s is %s and %s", r.pos, other, class)
		}
		classes[r] = class
	}
	for _, e := range s.blind {
		if !e.lost {
			put(e.row, "blind")
		}
	}
	for _, e := range s.shown {
		put(e.row, "visible")
	}
	for _, e := range s.verify {
		put(e.row, "verify")
	}
	for _, l := range []struct {
		class string
		list  []*row
	}{{"suggestion seen before", s.seenBefore}, {"relabelling after a disagreement", s.relabelled}, {"repeated blind label", s.repeated}, {"after a blind row that lacks its label or suggestion", s.unclear}} {
		for _, r := range l.list {
			put(r, l.class)
		}
	}
	files := q.inputs[0].Paths
	place := func(r *row) int { return slices.Index(files, filepath.Base(r.pos.File)) }
	list := slices.SortedFunc(maps.Keys(classes), func(a, b *row) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.pos.Line, b.pos.Line))
	})
	var result []string
	for _, r := range list {
		result = append(result, classes[r])
	}
	return result
}

// positive keeps the counts above 0.
func positive(all map[string]int) map[string]int {
	maps.DeleteFunc(all, func(_ string, n int) bool { return n == 0 })
	return all
}

func compareData(t *testing.T, q *question, want oracle) {
	t.Helper()
	s := q.study
	v := s.whole(q.judging, q.least)
	classes := classesOf(t, q)
	if d := diff.Diff(want.Classes, classes); d != "" {
		t.Errorf("classes of the rows (-want +got):\n%s", d)
	}
	data := v.data()
	if data.Of("rows") != want.Data.Rows || data.Of("items") != want.Data.Items || data.Of("annotators") != want.Data.Annotators {
		t.Errorf("data: %v, want %+v", data, want.Data)
	}
	if got := data.Of("suggestion_seen_before") + data.Of("relabelled_blind"); got != want.Data.Classes["suggestion seen before"]+want.Data.Classes["relabelling after a disagreement"] {
		t.Errorf("%d rows marked blind are reclassified, want those of %v", got, want.Data.Classes)
	}
	got := map[string]int{}
	for _, name := range kindNames {
		got[name] = data.Of("kind_" + name)
	}
	if d := diff.Diff(want.Data.Kinds, positive(got)); d != "" {
		t.Errorf("kinds (-want +got):\n%s", d)
	}
	if s.placed != want.Data.OrderedByPlaceAlone {
		t.Errorf("%d pairs are ordered by place alone, want %d", s.placed, want.Data.OrderedByPlaceAlone)
	}
	pairs := map[[2]int][]row{}
	for _, r := range s.rows {
		pair := [2]int{r.item, r.annotator}
		pairs[pair] = append(pairs[pair], r)
	}
	order := map[string]int{}
	for _, group := range pairs {
		switch {
		case len(group) == 1:
		case byTime(group):
			order["time"]++
		default:
			order["place"]++
		}
	}
	if d := diff.Diff(want.Data.PairsOrderedBy, order); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
	without := 0
	for _, metric := range []string{blindAgreement, visibleAgreement, verifyAcceptance} {
		without += v.sampleOf(metric).left
	}
	reclassified := len(s.seenBefore) + len(s.relabelled) + len(s.unclear)
	reasons := map[string]int{
		"suggestion seen before":                               len(s.seenBefore),
		"relabelling after a disagreement":                     len(s.relabelled),
		"repeated blind label":                                 len(s.repeated),
		"after a blind row that lacks its label or suggestion": len(s.unclear),
		"no suggestion":                                        without,
		"blind label missing":                                  data.Of("missing_blind_labels") - reclassified - data.Of("drawn_blind_without_row"),
		"drawn blind, no blind row":                            data.Of("drawn_blind_without_row"),
	}
	if d := diff.Diff(want.Data.Reasons, positive(reasons)); d != "" {
		t.Errorf("reasons (-want +got):\n%s", d)
	}
	departures := map[string]int{
		"drawn blind, shown":          len(s.shownFirst),
		"drawn visible, blind":        len(s.blindUndrawn),
		"blind and not in the draw":   len(s.blindUnknown),
		"visible and not in the draw": len(s.shownUnknown),
	}
	if d := diff.Diff(want.Data.Departures, positive(departures)); d != "" {
		t.Errorf("departures (-want +got):\n%s", d)
	}
}

func compareRules(t *testing.T, g report.Gate, q *question, want oracle) {
	t.Helper()
	run := report.New("devel")
	run.Gates = []report.Gate{g}
	run.Decide()
	if run.Verdict != want.Verdict || run.ExitStatus != want.ExitStatus {
		t.Errorf("verdict %s, exit %d; want %s, %d", run.Verdict, run.ExitStatus, want.Verdict, want.ExitStatus)
	}
	if len(g.Rules) != len(want.Rules) {
		t.Fatalf("%d rules, want %d", len(g.Rules), len(want.Rules))
	}
	for i, w := range want.Rules {
		r := g.Rules[i]
		name := fmt.Sprintf("rule %s (%s)", r.ID, strings.Join(w.Because, "; "))
		if r.ID != w.ID || r.Threshold != w.Threshold || r.Verdict != w.Verdict {
			t.Errorf("%s: %s of %s %v, want %s of %s %v: %s", name, r.Verdict, r.ID, r.Threshold, w.Verdict, w.ID, w.Threshold, r.Reason)
		}
		compareMeasure(t, name, r.Measure, w.oracleMeasure, q)
	}
}

// compareMeasures holds what rules of each form would find, and what the report tells, against the oracle's measures.
func compareMeasures(t *testing.T, g report.Gate, q *question, want oracle) int {
	t.Helper()
	v := q.study.whole(q.judging, q.least)
	for _, w := range want.Measures {
		name := w.Metric + " per " + w.Labels["per"]
		f := form{per: w.Labels["per"]}
		if f.per == perItem {
			f.corpus = q.corpus.Value
		}
		m, err := v.metric(w.Metric, f)
		if err != nil {
			t.Fatal(err)
		}
		compareMeasure(t, name, m.Measure, w, q)
		for _, shown := range g.Measures {
			if shown.Metric == w.Metric && (shown.Labels["per"] == w.Labels["per"] || shown.Labels == nil) {
				compareMeasure(t, name+", in the report", shown, w, q)
			}
		}
	}
	return len(want.Measures)
}

func compareMeasure(t *testing.T, name string, got report.Measure, want oracleMeasure, q *question) {
	t.Helper()
	per := got.Labels["per"]
	if got.Metric == peopleAgreement || got.Metric == modelMinusPeople {
		per = perItem // not said, because there is no other
	}
	if got.Metric != want.Metric || per != want.Labels["per"] {
		t.Errorf("%s: %s per %s, want %s per %s", name, got.Metric, per, want.Metric, want.Labels["per"])
		return
	}
	compareNumber(t, name+": estimate", got.Estimate, want.Estimate)
	if w := want.Interval; w != nil {
		compareEnds(t, name, got.Interval, *w)
		beside := oracleInterval{}
		if len(got.IntervalsBeside) > 0 && q.corpus.Set || want.Corpus != nil {
			beside = oracleInterval{got.IntervalsBeside[0].Lower, got.IntervalsBeside[0].Upper, ""}
		}
		if want.Corpus != nil && beside != *want.Corpus {
			t.Errorf("%s: the corpus lies in %v, want %v", name, beside, *want.Corpus)
		}
	}
	if *got.Units != want.Units {
		t.Errorf("%s: %d units, want %d", name, *got.Units, want.Units)
	}
	for _, c := range []struct {
		what      string
		got, want *int
	}{{"numerator", got.Numerator, want.Numerator}, {"denominator", got.Denominator, want.Denominator}, {"missing", got.Missing, want.Missing}} {
		if c.want != nil && (c.got == nil || *c.got != *c.want) {
			t.Errorf("%s: %s %s, want %d", name, c.what, number(c.got), *c.want)
		}
	}
	if want.Sides != nil {
		v := q.study.whole(q.judging, q.least)
		for side, s := range map[string]sample{"blind": v.blindSample(), "visible": v.sampleOf(visibleAgreement)} {
			if c := s.all(); (oracleSide{c.k, c.missing, c.n}) != want.Sides[side] {
				t.Errorf("%s, %s side: %+v, want %+v", name, side, c, want.Sides[side])
			}
		}
		if w := want.Sides["blind"].Missing + want.Sides["visible"].Missing; *got.Missing != w {
			t.Errorf("%s: missing %d, want %d", name, *got.Missing, w)
		}
	}
	left, wanted := map[string]int{}, map[string]int{}
	for _, l := range got.LeftOut {
		left[l.Reason] += l.Count
	}
	for _, l := range want.LeftOut {
		wanted[oracleReasons[l.Reason]] = l.Count
	}
	if d := diff.Diff(wanted, left); d != "" {
		t.Errorf("%s: left out (-want +got):\n%s", name, d)
	}
	if w := want.Completions; w != nil && (got.Completions == nil || *got.Completions != *w) {
		t.Errorf("%s: completions %v, want %v", name, got.Completions, *w)
	}
}

// number is a number that may not be there.
func number[T any](x *T) string {
	if x == nil {
		return "none"
	}
	return fmt.Sprint(*x)
}

func compareNumber(t *testing.T, name string, got, want *float64) {
	t.Helper()
	if (got == nil) != (want == nil) || got != nil && *got != *want {
		t.Errorf("%s %s, want %s", name, number(got), number(want))
	}
}

func compareEnds(t *testing.T, name string, got *report.Interval, want oracleInterval) {
	t.Helper()
	if got == nil || got.Method != want.Method {
		t.Errorf("%s: interval %v, want %v", name, got, want)
		return
	}
	for _, end := range [][2]float64{{*got.Lower, want.Lower}, {*got.Upper, want.Upper}} {
		if math.Abs(end[0]-end[1]) > near[want.Method] {
			t.Errorf("%s: an end at %v, want %v (%s)", name, end[0], end[1], want.Method)
		}
	}
}

func compareCorrected(t *testing.T, g report.Gate, want map[string]oracleCorrected) {
	t.Helper()
	got := map[string]oracleCorrected{}
	for _, m := range g.Measures {
		switch {
		case m.Metric == alpha:
			got["alpha"] = oracleCorrected{m.Estimate, *m.Units}
		case m.Metric == kappa && m.Labels["between"] == "annotators":
			got["kappa_people"] = oracleCorrected{m.Estimate, *m.Units}
		case m.Metric == kappa:
			got["kappa_"+m.Labels["visibility"]] = oracleCorrected{m.Estimate, *m.Units}
		}
	}
	maps.DeleteFunc(want, func(_ string, w oracleCorrected) bool { return w.Units == 0 }) // nothing to compare: no measure
	if d := diff.Diff(want, got); d != "" {
		t.Errorf("agreement beyond chance (-want +got):\n%s", d)
	}
}
