package anchoring

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// TestFindings: each thing that a person would want to know, once, with its count and where it has places its lines.
func TestFindings(t *testing.T) {
	many := several("v", "ann", "visible", 12, 12, 0) + several("b", "ann", "blind", 20, 10, 0)
	for _, c := range []struct {
		code, body string
		count      int
		severity   report.Severity
		lines      []int
		says       string
	}{
		{"suggestion_seen_before", labelled("x", "ann", "a", "visible") + labelled("x", "ann", "a", "blind"), 1, report.Warning, []int{3}, "1 row marked blind comes after"},
		{"relabelled_blind", labelled("x", "ann", "b", "blind") + labelled("x", "ann", "a", "blind"), 1, report.Warning, []int{3}, "1 row marked blind follows"},
		{"repeated_blind_labels", "x,ann,a,a,blind,,,,,1700000001,\nx,ann,a,a,blind,,,,,1700000002,\n", 1, report.Note, nil, "1 blind label repeats"},
		{"order_by_place", labelled("x", "ann", "a", "blind") + labelled("x", "ann", "a", "visible"), 1, report.Warning, nil, "1 pair of a person and an item has blind and visible rows that only their place in the files orders"},
		{"rows_by_place", labelled("x", "ann", "b", "blind") + labelled("x", "ann", "a", "blind"), 1, report.Note, nil, "1 pair of a person and an item has several rows"},
		{"after_unlabelled_blind", labelled("x", "ann", "", "blind") + "x,ann,a,a,blind,audit,,,,,\n", 1, report.Warning, []int{3}, "1 row marked blind follows a blind row"},
		{"no_blind_rows", labelled("x", "ann", "a", "visible"), 1, report.Warning, nil, "No row is blind"},
		{"few_blind_labels", labelled("x", "ann", "a", "blind"), 1, report.Warning, nil, "1 blind comparison is recorded where minimum_blind_sample asks for 20, and there are only 1 item"},
		{"blind_without_suggestion", "x,ann,,a,blind,,,,,,\ny,ann,,a,blind,,,,,,\n", 2, report.Warning, []int{2, 3}, "2 blind rows have no suggestion"},
		{"visible_without_suggestion", "x,ann,,a,visible,,,,,,\n", 1, report.Warning, []int{2}, "1 visible row has no suggestion"},
		{"missing_labels", labelled("x", "ann", "", "blind"), 1, report.Note, nil, "1 row has no label"},
		{"accepted_ignored", "x,ann,a,a,blind,,1,,,,\n", 1, report.Note, nil, "1 blind row records"},
		{"probabilities_rounded", "x,ann,a,a,blind,,,0.1234567890123456789,,,\n", 1, report.Note, nil, "1 inclusion_probability has more decimals"},
		{"accepts_everything", many, 1, report.Warning, nil, "1 annotator took every suggestion shown, on 10 items or more."},
		{"single_label", many + labelled("z", "bob", "a", "blind"), 1, report.Note, nil, "1 annotator has a single label."},
		{"several_suggestions", "x,ann,a,a,blind,,,,,,\nx,bob,b,a,blind,,,,,,\n", 1, report.Warning, nil, "1 item has several different suggestions"},
		{"labels_differ_only_in_form", "x,ann,Yes,yes,blind,,,,,,\n", 2, report.Warning, nil, `"Yes", "yes"`},
		{"items_differ_only_in_form", labelled("x1", "ann", "a", "blind") + labelled("X1", "ann", "a", "blind"), 2, report.Warning, nil, `"X1", "x1"`},
		{"annotators_differ_only_in_form", labelled("x", "ann", "a", "blind") + labelled("y", "Ann", "a", "blind"), 2, report.Warning, nil, "2 annotators differ only in letter case"},
		{"constant_column", labelled("x", "ann", "b", "blind") + labelled("y", "ann", "b", "blind"), 1, report.Note, nil, `Every recorded label is "b".`},
		{"likely_missing", "x,ann,a,NA,blind,,,,,,\n", 1, report.Warning, nil, `1 label is "NA", which no suggestion equals, and counts as disagreeing`},
	} {
		a, err := try(run{verb: gate.Check, labels: header + c.body})
		if err != nil {
			t.Errorf("%s: %v", c.code, err)
			continue
		}
		f := finding(a.Gate, c.code)
		if f == nil {
			t.Errorf("%s is not found: %+v", c.code, a.Gate.Findings)
			continue
		}
		if f.Count != c.count || f.Severity != c.severity || !strings.Contains(f.Message, c.says) {
			t.Errorf("%s: %+v, want %d, %s, %q", c.code, *f, c.count, c.severity, c.says)
		}
		var lines []int
		for _, l := range a.Located {
			if l.Code == c.code {
				lines = append(lines, l.Pos.Line)
			}
		}
		if !slices.Equal(lines, c.lines) {
			t.Errorf("%s: lines %v, want %v", c.code, lines, c.lines)
		}
	}
	// A sound file has nothing to say but that its one annotator has, say, no partner.
	g := ask(t, run{verb: gate.Check, labels: header + several("b", "ann", "blind", 20, 10, 0) + several("v", "ann", "visible", 20, 15, 0)})
	if len(g.Findings) != 1 || g.Findings[0].Code != "constant_column" { // every suggestion of these rows is "a"
		t.Errorf("findings of a sound file: %+v", g.Findings)
	}
}

// TestGapAboveZeroIsToldWhatToDo: where the gap's lower end is above 0, more items are to be blind, or the suggestion to come
// after the label; where it is not, nothing is said.
func TestGapAboveZeroIsToldWhatToDo(t *testing.T) {
	for agree, want := range map[int]bool{40: true, 20: false} {
		g := ask(t, run{verb: gate.Report, labels: header + several("b", "ann", "blind", 40, 12, 0) + several("v", "ann", "visible", 40, agree, 0)})
		f := finding(g, "suggestions_move_people")
		if (f != nil) != want || want && !strings.HasSuffix(f.Message, "Label more items blind, or show the suggestion only after the label.") {
			t.Errorf("%d of 40: %+v, want %v", agree, f, want)
		}
	}
}

// TestDepartures: rows that are not as the draw says are findings with their places, and rules on blind labels are for a
// person; rules on other labels are not.
func TestDepartures(t *testing.T) {
	const policy = "rules: [{id: b, metric: blind_agreement, minimum: 0.5}, {id: v, metric: visible_agreement, minimum: 0.5}]"
	base := several("i", "ann", "blind", 30, 30, 0) + several("v", "ann", "visible", 30, 30, 0)
	draw := drawOf(30, 30, "0.5")
	for i := range 30 {
		draw += fmt.Sprintf("v%d,visible,0.5\n", i)
	}
	for _, c := range []struct {
		name, body, draw, code string
		line                   int
		verdict                report.Verdict
	}{
		{"as drawn", base, draw, "", 0, report.Pass},
		{"shown after one's own blind label", base + labelled("i0", "ann", "a", "visible"), draw, "", 0, report.Pass},
		{"a blind item shown first", base + labelled("i30", "ann", "a", "visible"), draw + "i30,blind,0.5\n", "drawn_blind_shown", 62, report.ManualReview},
		{"a blind item shown to another person", base + labelled("i0", "bob", "a", "visible"), draw, "drawn_blind_shown", 62, report.ManualReview},
		{"a visible item labelled blind", base + labelled("v30", "ann", "a", "blind"), draw + "v30,visible,0.5\n", "drawn_visible_blind", 62, report.ManualReview},
		{"an unknown item labelled blind", base + labelled("w", "ann", "a", "blind"), draw, "blind_not_in_draw", 62, report.ManualReview},
		{"an unknown item shown", base + labelled("w", "ann", "a", "visible"), draw, "shown_not_in_draw", 0, report.Pass},
		{"a blind item without a row", base, draw + "w,blind,0.5\n", "drawn_without_a_row", 0, report.Pass},
		{"another probability than the draw's", base[:strings.Index(base, "\n")-3] + "0.4,,,\n" + base[strings.Index(base, "\n")+1:], draw, "probability_differs", 0, report.Pass},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run{verb: gate.Decide, policy: strings.Replace(policy, "{id: b,", "{id: b, per: item,", 1), labels: header + c.body, draw: "item,visibility,inclusion_probability\n" + c.draw}
			a, err := try(r)
			if err != nil {
				t.Fatal(err)
			}
			g := a.Gate
			if g.Rules[0].Verdict != c.verdict {
				t.Errorf("blind: %s (%s), want %s", g.Rules[0].Verdict, g.Rules[0].Reason, c.verdict)
			}
			if strings.Contains(g.Rules[1].Reason, "draw") {
				t.Errorf("visible: %s (%s)", g.Rules[1].Verdict, g.Rules[1].Reason)
			}
			for _, code := range []string{"drawn_blind_shown", "drawn_visible_blind", "blind_not_in_draw", "shown_not_in_draw", "drawn_without_a_row", "probability_differs"} {
				want := code == c.code || code == "drawn_without_a_row" && c.name == "a blind item shown first" // it has no blind row either
				if f := finding(g, code); (f != nil) != want {
					t.Errorf("%s: %+v", code, f)
				}
			}
			if c.line > 0 && !slices.ContainsFunc(a.Located, func(l gate.Located) bool { return l.Code == c.code && l.Pos.Line == c.line }) {
				t.Errorf("%s is not placed on line %d: %+v", c.code, c.line, a.Located)
			}
		})
	}
}

// TestAnnotatorsAreNotShown: whatever annotators are called, no part of an answer, and no error, holds their names unless
// that is asked for.
func TestAnnotatorsAreNotShown(t *testing.T) {
	var hostile = []string{"zz<script>", "zz|`$(x)`", "zz\u202egnp", "ZZ::error::", "zz\x1b[31m", "zz\t,"}
	var body strings.Builder
	for p, name := range hostile {
		quoted := `"` + name + `"`
		for i := range 12 {
			fmt.Fprintf(&body, "i%d-%d,%s,a,a,visible,,1,,0,5,\n", p, i, quoted)
			fmt.Fprintf(&body, "j%d-%d,%s,a,%s,blind,,,,0,5,\n", p, i, quoted, []string{"a", "b", "NA", ""}[i%4])
		}
	}
	body.WriteString("only,\"zzsingle\",a,a,visible,,,,,,\nonly,\"zzSingle\",a,a,visible,,,,,,\n")
	r := run{verb: gate.Decide, labels: header + body.String(), policy: "rules: [{id: r, metric: blind_agreement, minimum: 0.5, where: {site: none}}, {id: s, metric: anchoring_gap, minimum: 0}]"}
	a, err := try(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.Index(strings.ToLower(string(text)), "zz"); i >= 0 {
		t.Errorf("an annotator is named: …%s…", text[max(0, i-80):min(len(text), i+80)])
	}
	r.show = true
	shown, err := try(r)
	if err != nil {
		t.Fatal(err)
	}
	if f := finding(shown.Gate, "accepts_everything"); f == nil || !strings.Contains(f.Message, "zz") {
		t.Errorf("not named on request: %+v", f)
	}
	r.show, r.labels = false, header+"i,zzann,a,a,blind,,,,,,\ni,zzann,a,a,blind,,x,2,z,1700000000000,\ni,zzann,a,a,blind,,,,,,\n"
	if got := problems(t, r); strings.Contains(got, "zz") {
		t.Errorf("an error names an annotator:\n%s", got)
	}
}

// TestHostileItems: item ids, labels and suggestions with control characters are quoted wherever they are shown.
func TestHostileItems(t *testing.T) {
	body := "\"a\nb\x1b[2J\",ann,\"x\ny\",\"X\nY\",blind,,,0.5,,,\n\"A\nb\x1b[2J\",ann,\"x\ny\",\"X\nY\",blind,,,0.6,,,\n"
	g := ask(t, run{verb: gate.Check, labels: header + body})
	for _, f := range g.Findings {
		if strings.ContainsAny(f.Message, "\n\x1b") {
			t.Errorf("%s holds a raw control character: %q", f.Code, f.Message)
		}
	}
	if finding(g, "items_differ_only_in_form") == nil || finding(g, "labels_differ_only_in_form") == nil {
		t.Errorf("findings %+v", g.Findings)
	}
	if got := problems(t, run{verb: gate.Check, labels: header + body + strings.Replace(body, "0.5", "0.7", 1)}); strings.ContainsAny(got, "\x1b") {
		t.Errorf("an error holds a raw control character: %q", got)
	}
}

// TestSettingsAndTexts: what a certificate needs of the policy stands in the report's settings; what the answer rests on and
// cannot tell are the source document's own.
func TestSettingsAndTexts(t *testing.T) {
	const policy = "model: m-7\nguideline: v3\nvalid_until: 2027-03-31\nvalid_items: 460\ncorpus_size: 500\nminimum_blind_sample: 30\nleast_inclusion_probability: 0.2\nname: corpus\nmin_shown: 5\n" +
		"rules: [{id: r, metric: blind_agreement, minimum: 0.5}]"
	g := decide(t, policy, several("b", "ann", "blind", 40, 40, 0))
	want := map[string]string{"model": "m-7", "guideline": "v3", "valid_until": "2027-03-31", "valid_items": "460", "corpus_size": "500", "corpus_rest": "460", "minimum_blind_sample": "30", "least_inclusion_probability": "0.2"}
	if diff := cmp.Diff(want, g.Settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if g.Gate != "anchoring" || g.Name != "corpus" || g.MinShown != 5 || g.Summary != "1 annotator, 40 items, 40 labels (40 blind, 0 visible), 0 blind labels missing." {
		t.Errorf("%s %s, min_shown %d: %s", g.Gate, g.Name, g.MinShown, g.Summary)
	}
	for what, list := range map[string][]string{"people without help": g.Limits, "stay anchored": g.Limits, "Publish the blind agreement": g.Limits, "cannot become blind later": g.Limits,
		"drawn at random and fixed beforehand": g.Assumptions, "do not depend on another's": g.Assumptions} {
		if !strings.Contains(strings.Join(list, "\n"), what) {
			t.Errorf("%q is not said", what)
		}
	}
	if g := ask(t, run{verb: gate.Report, labels: header + several("b", "ann", "blind", 4, 4, 0)}); len(g.Settings) != 0 {
		t.Errorf("settings without a policy: %v", g.Settings)
	}
}

// TestPolicyFilesNotRead: files named on the command line take the place of the policy's, which is said.
func TestPolicyFilesNotRead(t *testing.T) {
	g := decide(t, "labels: [x.csv, y.csv]\ndraw: d.csv\nrules: [{id: r, metric: blind_agreement, minimum: 0.5}]", several("b", "ann", "blind", 40, 40, 0))
	n := 0
	for _, f := range g.Findings {
		if f.Code == "policy_file_not_read" {
			n++
		}
	}
	if f := finding(g, "draw_not_read"); n != 2 || f == nil || f.Severity != report.Warning || !strings.Contains(f.Message, "Name it with --draw") {
		t.Errorf("%d files told as not read, want 2, and a draw: %+v", n, g.Findings)
	}
}
