package anchoring

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
)

// problems are the errors of a question, one a line.
func problems(t *testing.T, r run) string {
	t.Helper()
	_, err := try(r)
	var list *diag.Error
	if err == nil {
		return ""
	}
	if !errors.As(err, &list) {
		t.Fatal(err)
	}
	var lines []string
	for _, d := range list.Items {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}

// TestBadRows: every problem of the rows is told at its place, all at once, and nobody is named.
func TestBadRows(t *testing.T) {
	for name, c := range map[string]struct{ rows, want string }{
		"empty cells": {",,a,a,,,,,,,",
			"labels.csv:2:1: item is empty; every row needs one\nlabels.csv:2:2: annotator is empty; every row needs one\nlabels.csv:2:7: visibility is empty; every row needs one"},
		"an empty row": {",,,,,,,,,,",
			"labels.csv:2: nothing stands in the columns of this row that are read; delete it"},
		"words": {"i,ann,a,a,Blind,checking,maybe,,,,",
			"labels.csv:2:11: visibility is \"Blind\"; write \"visible\" or \"blind\"\n" +
				"labels.csv:2:17: kind is \"checking\"; write \"label\", \"calibration\", \"certification\", \"audit\" or \"verify\", or leave it empty\n" +
				"labels.csv:2:26: accepted: found \"maybe\": 0 or 1 is allowed, also written 0.0 or 1.0, false or true (empty where it was not recorded)"},
		"probabilities": {"i,ann,a,a,blind,,,0,,,\nj,ann,a,a,blind,,,1.5,,,\nk,ann,a,a,blind,,,\"0,5\",,,\nl,ann,a,a,blind,,,1.0000000000000000001,,,\nm,ann,a,a,blind,,,1e-30,,,",
			"labels.csv:2:19: inclusion_probability: found \"0\"; a number above 0 and at most 1 is allowed\n" +
				"labels.csv:3:19: inclusion_probability: found \"1.5\"; a number above 0 and at most 1 is allowed\n" +
				"labels.csv:4:19: inclusion_probability: found \"0,5\": a decimal comma is not read, write a point\n" +
				"labels.csv:5:19: inclusion_probability: found \"1.0000000000000000001\"; write at most 18 decimals\n" +
				"labels.csv:6:19: inclusion_probability: found \"1e-30\"; a number above 0 and at most 1 is allowed"},
		"two probabilities of an item": {"i,ann,a,a,blind,,,0.5,,,\ni,bob,a,a,blind,,,0.50,,,\ni,eve,a,a,blind,,,0.4,,,",
			"labels.csv:4:19: the inclusion_probability of item \"i\" is 0.4 here and 0.5 at labels.csv:2:19; an item has one"},
		"times": {"i,ann,a,a,blind,,,,2026-03-01T10:00:00Z,2026-03-01T09:59:59Z,\nj,ann,a,a,blind,,,,,1700000000,",
			"labels.csv:2:41: labelled_at is before started_at; a label cannot take negative time\n" +
				"labels.csv:3:21: labelled_at is Unix seconds, but the time at labels.csv:2:20 is ISO 8601; write all times of a study in one way"},
		"the same row twice": {"i,ann,a,a,blind,,,,,,\nj,ann,a,a,blind,,,,,,\ni,ann,a,b,blind,,,,,,",
			"labels.csv:4: the same item, annotator, visibility and kind as at labels.csv:2; a second label needs a later time in labelled_at, unless it follows a blind label that differs from the suggestion"},
		"visible twice, after an agreeing blind one": {"i,ann,a,a,blind,,,,,,\ni,ann,a,a,visible,,,,,,\ni,ann,a,b,visible,,,,,,",
			"labels.csv:4: the same item, annotator, visibility and kind as at labels.csv:3; a second label needs a later time in labelled_at, unless it follows a blind label that differs from the suggestion"},
		"at one time twice": {"i,ann,a,a,visible,,,,,1700000000,\ni,ann,a,a,visible,,,,,1700000001,\ni,ann,a,b,visible,,,,,1700000000,",
			"labels.csv:4: the same item, annotator, visibility and kind as at labels.csv:2; a second label needs a later time in labelled_at, unless it follows a blind label that differs from the suggestion"},
		"one with a time and one without": {"i,ann,a,a,visible,,,,,1700000000,\ni,ann,a,a,visible,,,,,,",
			"labels.csv:3: the same item, annotator, visibility and kind as at labels.csv:2; a second label needs a later time in labelled_at, unless it follows a blind label that differs from the suggestion"},
		"one without a time and one with": {"i,ann,a,a,visible,,,,,,\ni,ann,a,a,visible,,,,,1700000000,",
			"labels.csv:3: the same item, annotator, visibility and kind as at labels.csv:2; a second label needs a later time in labelled_at, unless it follows a blind label that differs from the suggestion"},
		"other kinds and times are other rows": {"i,ann,a,a,blind,,,,,1700000001,\ni,ann,a,a,blind,audit,,,,1700000001,\ni,ann,a,a,visible,,,,,1700000001,\ni,ann,a,a,visible,verify,,,,1700000001,\ni,ann,a,a,visible,,,,,1700000002,", ""},
		"relabellings are other rows":          {"i,ann,a,b,blind,,,,,,\ni,ann,a,b,blind,,,,,,\ni,ann,a,a,visible,,,,,,\ni,ann,a,a,visible,,,,,,", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := problems(t, run{verb: gate.Check, labels: header + c.rows + "\n"}); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestAnnotatorsAreNamedOnRequest: an error names the annotator only where names may be shown.
func TestAnnotatorsAreNamedOnRequest(t *testing.T) {
	twice := header + "i,ann,a,a,blind,,,,,,\ni,ann,a,b,blind,,,,,,\n"
	if got := problems(t, run{verb: gate.Check, labels: twice}); strings.Contains(got, "ann\"") {
		t.Errorf("named without asking: %s", got)
	}
	if got := problems(t, run{verb: gate.Check, labels: twice, show: true}); !strings.Contains(got, `(item "i", annotator "ann")`) {
		t.Errorf("not named on request: %s", got)
	}
}

// TestBadColumns: a column that is needed, and one that does not exist under `columns`.
func TestBadColumns(t *testing.T) {
	if got := problems(t, run{verb: gate.Check, labels: "item,annotator,label,visibility\ni,ann,a,blind\n"}); !strings.Contains(got, "suggestion") {
		t.Errorf("got %s", got)
	}
	got := problems(t, run{verb: gate.Decide, labels: header + "i,ann,a,a,blind,,,,,,\n", policy: "columns: {reviewer: worker, label: suggestion}\nrules: [{id: r, metric: blind_agreement, minimum: 0.5}]"})
	want := "policy.yaml:1:11: columns: anchoring reads no column \"reviewer\"; its columns are item, annotator, suggestion, label, visibility, kind, accepted, inclusion_probability, started_at, labelled_at and those of a rule's `where`\n" +
		"policy.yaml:1:36: columns: suggestion and label would both be read from the column \"suggestion\"; each needs its own"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBadDraws: problems of the draw, and of a policy that it contradicts.
func TestBadDraws(t *testing.T) {
	rows := header + several("i", "ann", "blind", 30, 30, 0)
	const rule = "rules: [{id: r, metric: blind_agreement, minimum: 0.5}]"
	for name, c := range map[string]struct{ policy, draw, want string }{
		"cells": {rule, "i0,blind,0.5\n,visible,0.5\ni1,hidden,0.5\ni2,,0\ni0,blind,0.5\n",
			"draw.csv:3:1: item is empty; every row needs one\n" +
				"draw.csv:4:4: visibility is \"hidden\"; write \"visible\" or \"blind\"\n" +
				"draw.csv:5:4: visibility is \"\"; write \"visible\" or \"blind\"\n" +
				"draw.csv:5:5: inclusion_probability: found \"0\"; a number above 0 and at most 1 is allowed\n" +
				"draw.csv:6: the same item as at draw.csv:2; a draw has each item once"},
		"another size": {"corpus_size: 100\n" + rule, drawOf(30, 60, "0.5"),
			"policy.yaml:1:14: corpus_size is 100, and the draw has 60 items; the two are the same"},
		"another size on a rule": {"rules: [{id: r, metric: blind_agreement, minimum: 0.5, corpus_size: 61}]", drawOf(30, 60, "0.5"),
			"policy.yaml:1:69: corpus_size is 61, and the draw has 60 items; the two are the same"},
		"below the least": {"least_inclusion_probability: 0.5\n" + rule, "i0,blind,0.5\ni1,blind,0.49\n",
			"draw.csv:3:10: inclusion_probability is 0.49, less than the least_inclusion_probability of the policy, 0.5"},
		"fewer than are labelled": {"corpus_size: 29\n" + rule, "",
			"policy.yaml:1:14: corpus_size is 29, fewer than the 30 items of the files"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run{verb: gate.Decide, labels: rows, policy: c.policy}
			if c.draw != "" {
				r.draw = "item,visibility,inclusion_probability\n" + c.draw
			}
			if got := problems(t, r); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	if got := problems(t, run{verb: gate.Decide, policy: "least_inclusion_probability: 0.5\n" + rule, labels: header + "i,ann,a,a,blind,,,0.4,,,\n"}); got !=
		"labels.csv:2:19: inclusion_probability is 0.4, less than the least_inclusion_probability of the policy, 0.5" {
		t.Errorf("a column below the least: %s", got)
	}
}

// wherePrefix and whereSuffix are around the reason why a rule's slice is not by that column.
func wherePrefix(column int, name string) string {
	return fmt.Sprintf("policy.yaml:1:%d: where: %s ", column, name)
}

const whereSuffix = "; a slice is of items: take a column that was known of the item beforehand and is the same in all of its rows\n"

// TestBadPolicies: what does not go together is told where it is written, all at once.
func TestBadPolicies(t *testing.T) {
	for name, c := range map[string]struct{ policy, want string }{
		"agreement over everything": {"rules: [{id: r, metric: agreement, minimum: 0.9}]",
			"policy.yaml:1:25: agreement over all labels is partly the model's agreement with itself, since people saw its suggestions; whether it may label the rest is decided on blind_agreement"},
		"what is only reported": {"rules:\n- {id: t, metric: labelling_time, maximum: 1}\n- {id: k, metric: kappa, minimum: 0.5}\n- {id: a, metric: alpha, minimum: 0.5}",
			"policy.yaml:2:19: labelling_time is reported, never a rule: a person whom a suggestion moves takes a normal time\n" +
				"policy.yaml:3:19: kappa is reported, never a rule: its interval would need assumptions about the labels; a rule can name blind_agreement or people_agreement\n" +
				"policy.yaml:4:19: alpha is reported, never a rule: its interval would need assumptions about the labels; a rule can name people_agreement"},
		"a metric with a slip": {"rules: [{id: r, metric: blind_agrement, minimum: 0.9}]",
			"policy.yaml:1:25: unknown metric \"blind_agrement\" in rule r; did you mean \"blind_agreement\"? Allowed: blind_agreement, visible_agreement, anchoring_gap, acceptance_rate, verify_acceptance, people_agreement, model_minus_people"},
		"ranges": {"minimum_blind_sample: 0\ncorpus_size: 0\nleast_inclusion_probability: 0\nvalid_items: -1\nvalid_until: 2026-02-30\nmodel: \" \"\nguideline: \"\"\nrules: [{id: r, metric: anchoring_gap, minimum: -2}]",
			"policy.yaml:1:23: minimum_blind_sample: found \"0\"; a whole number from 1 to 1000000 is wanted\n" +
				"policy.yaml:2:14: corpus_size: found \"0\"; a whole number from 1 to 1000000000 is wanted\n" +
				"policy.yaml:3:30: least_inclusion_probability is 0; an item that could not be drawn is not spoken of, so the least probability is above 0\n" +
				"policy.yaml:4:14: valid_items: found \"-1\"; a whole number from 1 to 1000000000 is wanted\n" +
				"policy.yaml:5:14: valid_until is \"2026-02-30\"; write a day of the calendar as YYYY-MM-DD, such as 2027-03-31\n" +
				"policy.yaml:6:8: model is empty; a text is wanted\n" +
				"policy.yaml:7:12: guideline is empty; a text is wanted\n" +
				"policy.yaml:8:49: minimum is -2; allowed for anchoring_gap: -1 to 1; for -2 % write -0.02"},
		"units": {"rules:\n- {id: p, metric: people_agreement, minimum: 0.5, per: item}\n- {id: m, metric: model_minus_people, minimum: 0.5, per: person}\n- {id: x, metric: blind_agreement, minimum: 0.5, per: reviewer}",
			"policy.yaml:2:56: people_agreement has items as units: the pairs of people on one item hang together; leave per out\n" +
				"policy.yaml:3:58: model_minus_people has items as units: the pairs of people on one item hang together; leave per out\n" +
				"policy.yaml:4:55: per is \"reviewer\"; allowed: person, item, label"},
		"pairwise": {"rules:\n- {id: p, metric: blind_agreement, minimum: 0.5, interval: pairwise}\n- {id: g, metric: anchoring_gap, minimum: 0.5, interval: pairwise, per: person}\n- {id: h, metric: anchoring_gap, minimum: 0.5, interval: pairwise, looks: repeated}",
			"policy.yaml:2:60: interval: pairwise is for anchoring_gap, not for blind_agreement\n" +
				"policy.yaml:3:58: interval: pairwise compares items, each labelled once; it does not go with per: person\n" +
				"policy.yaml:4:58: interval: pairwise holds at one look; it does not go with looks: repeated"},
		"the size of a corpus": {"rules:\n- {id: v, metric: visible_agreement, minimum: 0.5, corpus_size: 100}\n- {id: p, metric: blind_agreement, minimum: 0.5, corpus_size: 100, per: person}\n- {id: w, metric: blind_agreement, minimum: 0.5, corpus_size: 100, where: {site: Lyon}}\n- {id: l, metric: blind_agreement, minimum: 0.5, corpus_size: 100, looks: repeated}\n- {id: o, metric: blind_agreement, minimum: 0.5, corpus_size: 100, looks: once, planned: 50}",
			"policy.yaml:2:65: corpus_size is for blind_agreement, which decides whether the model may label the rest; it is not for visible_agreement\n" +
				"policy.yaml:3:63: corpus_size counts items; it does not go with per: person (per: item has items as units)\n" +
				"policy.yaml:4:63: corpus_size does not go with where: how many of the corpus's items are in the slice, and how many of those were drawn, is not in the files\n" +
				"policy.yaml:5:75: looks: repeated does not go with corpus_size: the interval for a finite corpus (hypergeometric) holds at one look and has no repeated form\n" +
				"policy.yaml:6:75: looks: once does not go with corpus_size: the interval for a finite corpus holds at one look, at the number of items drawn"},
		"looks: once": {"rules:\n- {id: g, metric: anchoring_gap, minimum: 0.5, per: item, looks: once, planned: 50}\n- {id: l, metric: blind_agreement, minimum: 0.5, per: label, looks: once, planned: 50}",
			"policy.yaml:2:66: looks: once plans one number of units, and the gap over items or labels compares two sets of them; leave it out, or use `per: person`\n" +
				"policy.yaml:3:69: looks: once fixes the number of units of a mean; a rate per label has an exact interval, which is for one look already"},
		"slices by what is not of an item": {"rules: [{id: r, metric: blind_agreement, minimum: 0.5, where: {annotator: ann, suggestion: a, label: a, visibility: blind, kind: audit, accepted: 1, inclusion_probability: 0.5, started_at: 1, labelled_at: 2}}]",
			wherePrefix(64, "annotator") + "is of a label, and a slice by it would show a name (`per: person` counts each annotator once)" + whereSuffix +
				wherePrefix(80, "suggestion") + "is what labels are held against, so a slice by it selects the items on which the model does well" + whereSuffix +
				wherePrefix(95, "label") + "is what the study measures, so a slice by it selects its own result" + whereSuffix +
				wherePrefix(105, "visibility") + "is of a label, and the metric says which labels it takes" + whereSuffix +
				wherePrefix(124, "kind") + "is of a label: which of an item's labels are counted would be chosen by what came of the others" + whereSuffix +
				wherePrefix(137, "accepted") + "is what the study measures, so a slice by it selects its own result" + whereSuffix +
				wherePrefix(150, "inclusion_probability") + "says how the item was drawn, which the interval weighs" + whereSuffix +
				wherePrefix(178, "started_at") + "is of a label, and measured" + whereSuffix +
				strings.TrimSuffix(wherePrefix(193, "labelled_at")+"is of a label, and measured"+whereSuffix, "\n")},
		"unknown keys": {"corpus_sise: 10\nrules: [{id: r, metric: blind_agreement, minimum: 0.5, pair: x}]",
			"policy.yaml:1:1: unknown key \"corpus_sise\" in the policy; did you mean \"corpus_size\"? Allowed: confidence, looks, planned, mean_method, max_left_out, adjust, missing_values, columns, min_shown, requires, anchoring, name, rules, labels, draw, corpus_size, minimum_blind_sample, least_inclusion_probability, model, guideline, valid_until, valid_items\n" +
				"policy.yaml:2:56: unknown key \"pair\" in rule r; allowed: id, metric, minimum, maximum, confidence, looks, planned, mean_method, max_left_out, where, advisory, waive, reviewed, per, interval, corpus_size"},
	} {
		t.Run(name, func(t *testing.T) {
			got := problems(t, run{verb: gate.Decide, labels: header + several("i", "ann", "blind", 30, 30, 0), policy: c.policy})
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestNoFiles: a question without files says what it needs; a policy that is only checked need not name them.
func TestNoFiles(t *testing.T) {
	diags := &diag.List{}
	Gate{}.Compile(gate.Source{Verb: gate.Report}, diags)
	if err := diags.Err(); err == nil || err.Error() != noFile {
		t.Errorf("got %v", err)
	}
}
