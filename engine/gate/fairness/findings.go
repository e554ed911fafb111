package fairness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// findings points at what a person would want to know of the data and the rules, the gravest first.
func (q *question) findings() gate.Found {
	var f gate.Found
	all := q.whole()
	q.oneSidedLabels(&f, all)
	for i := range q.attributes {
		q.undeclared(&f, i)
	}
	for i := range q.attributes {
		n := q.tally.views[1+i].left[1].total()
		f.Add("attribute_empty", report.Warning, n, "%s no value of %s: left out of the rules that use it, and counted there.", gate.Plural(n, "case has", "cases have"), shown(q.attributes[i].name.Value))
	}
	n := all.labelled(none)
	f.Add("labels_missing", report.Warning, n, "%s no label: left out of the rules whose rate needs one, and counted there.", gate.Plural(n, "case has", "cases have"))
	n = all.predicted(none)
	f.Add("predictions_missing", report.Note, n, "%s no prediction: kept in their group and counted both ways.", gate.Plural(n, "case has", "cases have"))
	for i := range q.crossings[1:] {
		q.emptyGroups(&f, 1+i)
	}
	for i := range q.attributes {
		groups := map[string]bool{}
		for _, g := range q.attributes[i].groups {
			groups[g] = true
		}
		gate.AddForms(&f, "groups_differ_only_in_form", "declared groups of "+shown(q.attributes[i].name.Value), groups)
	}
	q.constant(&f, all)
	n = q.tally.unsure
	f.Add("probabilities_missing", report.Note, n, "%s no probability: left out of calibration.", gate.Plural(n, "case has", "cases have"))
	f.Add("probabilities_rounded", report.Note, q.tally.rounded, "%s more than %d decimals; the rest was rounded, half to even.", gate.Plural(q.tally.rounded, "probability has", "probabilities have"), rows.Places)
	q.oneKind(&f)
	return f
}

// Missing labels are seen as one-sided from so many on, where so many of a hundred are of cases with one and the same
// prediction, and these miss their label so many times as often as the others.
const (
	fewestMissing   = 10
	ofHundredMissed = 95
	timesAsOften    = 4
)

// oneSidedLabels points at labels that are missing only, or almost only, for one prediction: what became of the refused is
// then not known, and rates on labels speak of the granted alone.
func (q *question) oneSidedLabels(f *gate.Found, c *counts) {
	for prediction, opposite := range []int{no: yes, yes: no} {
		here, there := c[none][prediction], c[none][opposite]
		if here < fewestMissing || 100*here < ofHundredMissed*(here+there) || float64(here)*float64(c.predicted(opposite)) <= timesAsOften*float64(there)*float64(c.predicted(prediction)) {
			continue
		}
		word := q.prediction.word(prediction)
		f.Add("labels_missing_one_sided", report.Warning, here, "Of %s without a label and with a prediction, %d have prediction %s: labels that are seen for the others only hide what became of these, and a rate on labels may be far from the truth.",
			gate.Plural(here+there, "case", "cases"), here, word)
	}
}

// mostSeen is how many undeclared values of an attribute a finding names.
const mostSeen = 5

// undeclared points at recorded values that are none of an attribute's groups, the most frequent first.
func (q *question) undeclared(f *gate.Found, attribute int) {
	a := &q.attributes[attribute]
	count := q.tally.views[1+attribute].left[2].total()
	if count == 0 {
		return
	}
	seen := &q.tally.undeclared[attribute]
	texts := seen.texts()
	slices.SortStableFunc(texts, func(x, y string) int { return cmp.Compare(seen.counts[y], seen.counts[x]) })
	declared := map[string]string{}
	for _, g := range slices.Backward(a.groups) {
		declared[gate.Folded(g)] = g
	}
	var parts []string
	marker := ""
	for _, text := range texts[:min(len(texts), mostSeen)] {
		part := fmt.Sprintf("%s in %s", diag.Quote(text), gate.Plural(seen.counts[text], "case", "cases"))
		if g, near := declared[gate.Folded(text)]; near {
			part += fmt.Sprintf(" (declared as %s, from which it differs only in letter case, spaces or Unicode form)", diag.Quote(g))
		} else if g := sameNumber(text, a.groups); g != "" {
			part += fmt.Sprintf(" (the number that is declared as %s)", diag.Quote(g))
		} else if gate.Marker(text) {
			marker = cmp.Or(marker, text)
		}
		parts = append(parts, part)
	}
	switch more := len(texts) - len(parts); {
	case seen.more:
		parts = append(parts, "many more values")
	case more > 0:
		parts = append(parts, gate.Plural(more, "more value", "more values"))
	}
	message := fmt.Sprintf("%s a value of %s that is not declared: %s. They are left out of the rules that use it, and counted there.", gate.Plural(count, "case has", "cases have"), shown(a.name.Value), strings.Join(parts, ", "))
	if marker != "" {
		message += fmt.Sprintf(" If %s means that nothing was recorded, say so: missing_values: [%s].", diag.Quote(marker), diag.Quote(marker))
	}
	f.Add("undeclared_values", report.Warning, count, "%s", message)
}

// sameNumber returns the group that is the same number as a text, such as "1" for "1.0"; "" where there is none.
func sameNumber(text string, groups []string) string {
	x, _, err := rows.ParseDecimal(text)
	if err != nil {
		return ""
	}
	for _, g := range groups {
		if y, _, err := rows.ParseDecimal(g); err == nil && x == y {
			return g
		}
	}
	return ""
}

// emptyGroups points at declared groups without a case.
func (q *question) emptyGroups(f *gate.Found, crossing int) {
	c := &q.crossings[crossing]
	var named []string
	n := 0
	for g := range c.groups {
		if q.tally.views[crossing].cells[g].total() > 0 {
			continue
		}
		if n++; n <= mostNamed {
			named = append(named, shown(c.groups[g]))
		}
	}
	if n > mostNamed {
		named = append(named, fmt.Sprintf("%d more", n-mostNamed))
	}
	f.Add("empty_groups", report.Warning, n, "No case lies in %s of %s: %s. A rule over all of them cannot pass.", gate.Plural(n, "declared group", "declared groups"), shown(c.label), listed(named))
}

// constant points at labels or predictions that are all the same.
func (q *question) constant(f *gate.Found, c *counts) {
	for _, of := range []struct {
		what  string
		count func(int) int
		word  func(int) string
	}{{"label", c.labelled, q.label.word}, {"prediction", c.predicted, q.prediction.word}} {
		for value, opposite := range []int{no: yes, yes: no} {
			if of.count(value) > 1 && of.count(opposite) == 0 {
				f.Add("constant_column", report.Note, of.count(value), "Every recorded %s is %s.", of.what, of.word(value))
			}
		}
	}
}

// oneKind points at rules that are all about distances between groups, or all about how well each is served.
func (q *question) oneKind(f *gate.Found) {
	distances, floors := 0, 0
	for _, r := range q.rules {
		switch {
		case r.Threshold == nil:
		case r.Threshold.Kind == policy.WorstGroup:
			floors++
		default:
			distances++
		}
	}
	switch {
	case distances > 0 && floors == 0:
		f.Add("one_kind_of_rule", report.Note, distances, "Every rule is about the distance between groups: groups that are all served badly would pass. Most systems need a floor for each group (worst_group) too; neither alone shows that a system treats people evenly and well.")
	case floors > 0 && distances == 0:
		f.Add("one_kind_of_rule", report.Note, floors, "Every rule is a floor or a ceiling for each group: one group may still be served far worse than another. Most systems need a bound on the distance (max_group_gap or min_group_ratio) too; neither alone shows that a system treats people evenly and well.")
	}
}
