package fairness

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// findings points at what a person would want to know of the data and the rules, the gravest first.
func (q *question) findings() (gate.Found, error) {
	var f gate.Found
	all := q.whole()
	if err := q.opposed(&f, all); err != nil {
		return f, err
	}
	q.oneSidedLabels(&f, all)
	for i := range q.attributes {
		q.undeclared(&f, i)
	}
	for i := range q.attributes {
		n := q.tally.views[1+i].left[2].total()
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
	for i := range q.crossings[1:] {
		q.sizes(&f, 1+i)
	}
	for i := range q.rules {
		q.smallGroups(&f, &q.rules[i])
	}
	return f, nil
}

// opposed points at labels and predictions that look as if one of them were the wrong way round: the same word means opposite things
// in the two columns, or they surely differ in more than half of the cases.
func (q *question) opposed(f *gate.Found, all *counts) error {
	for value, other := range []int{no: yes, yes: no} {
		if l, p := q.label.words[value], q.prediction.words[other]; l.Set && p.Set && l.Value == p.Value {
			f.Add("opposite_words", report.Warning, 1, "%s is the %s word of the label and the %s word of the prediction: is one of them the wrong way round?", diag.Quote(l.Value), side(value), side(other))
		}
	}
	s := rateNamed("accuracy").sides(all)
	b := bounds{judging: q.judging, groups: 1}
	iv, err := b.rate(&s)
	if err != nil {
		return fmt.Errorf("accuracy of all cases: %w", err)
	}
	if iv.Upper < 0.5 {
		f.Add("labels_and_predictions_opposed", report.Warning, s.recorded.N-s.recorded.K, "The prediction differs from the label in %s %% of the cases with both: are positive and negative swapped?",
			strconv.FormatFloat(100*(1-quotient(s.recorded)), 'f', 0, 64))
	}
	return nil
}

// side is how a declaration calls one of two words.
func side(value int) string {
	if value == yes {
		return "positive"
	}
	return "negative"
}

// mostSizes is how many groups a finding on sizes names.
const mostSizes = 20

// sizes tells how many cases each group has, the smallest first, so that what a file can answer is seen before any rate.
func (q *question) sizes(f *gate.Found, crossing int) {
	c := &q.crossings[crossing]
	cells := q.tally.views[crossing].cells
	all := make([]sized, len(cells))
	for g := range cells {
		all[g] = sized{c.groups[g], cells[g].total()}
	}
	f.Add("group_sizes", report.Note, len(all), "Cases in the groups of %s: %s.", shown(c.label), smallestFirst(all))
}

// smallGroups tells which groups of a rule are too small for its rate.
func (q *question) smallGroups(f *gate.Found, r *rule) {
	var small []sized
	for g := range q.tally.views[r.view].cells {
		s := r.rate.sides(&q.tally.views[r.view].cells[g])
		if s.recorded.N < q.minCell {
			small = append(small, sized{r.crossing.groups[g], s.recorded.N})
		}
	}
	of := shown(r.crossing.label)
	if r.slice != "" {
		of += " where " + shown(r.slice)
	}
	f.Add("small_groups", report.Note, len(small), "R%s cannot pass: every group of %s needs %d %s (min_cell), and there are fewer in %s.", strings.TrimPrefix(r.Name(), "r"), of, q.minCell, q.counted(r.rate), smallestFirst(small))
}

// sized is a group and its number of cases.
type sized struct {
	name  string
	cases int
}

// smallestFirst lists groups with their cases, of many the smallest; equally small ones as they are declared.
func smallestFirst(list []sized) string {
	slices.SortStableFunc(list, func(a, b sized) int { return cmp.Compare(a.cases, b.cases) })
	var parts []string
	for _, g := range list[:min(len(list), mostSizes)] {
		parts = append(parts, fmt.Sprintf("%s (%d)", shown(g.name), g.cases))
	}
	if more := len(list) - len(parts); more > 0 {
		parts = append(parts, gate.Plural(more, "more group", "more groups"))
	}
	return strings.Join(parts, ", ")
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

// leastNear is how many characters an undeclared value has at least for a declared one to be suggested: of two letters most texts
// are one slip apart.
const leastNear = 4

// undeclared points at recorded values that are none of an attribute's groups, the most frequent first; of more than are counted,
// the first in byte order.
func (q *question) undeclared(f *gate.Found, attribute int) {
	a := &q.attributes[attribute]
	view := &q.tally.views[1+attribute]
	count := view.left[3].total()
	if count == 0 {
		return
	}
	seen := &q.tally.undeclared[attribute]
	texts, more := seen.texts()
	which := ""
	if more {
		which = fmt.Sprintf(", more than %d different ones, the first in order of which are", len(texts))
	} else {
		slices.SortStableFunc(texts, func(x, y string) int { return cmp.Compare(seen.counts[y], seen.counts[x]) })
	}
	var parts []string
	for _, text := range texts[:min(len(texts), mostSeen)] {
		part := fmt.Sprintf("%s in %s", diag.Quote(text), gate.Plural(seen.counts[text], "case", "cases"))
		parts = append(parts, part+resembles(text, a.groups))
	}
	if rest := len(texts) - len(parts); rest > 0 && !more {
		parts = append(parts, gate.Plural(rest, "more value", "more values"))
	}
	are := "They are"
	if count == 1 {
		are = "It is"
	}
	message := fmt.Sprintf("%s a value of %s that is not declared%s: %s. %s left out of the rules that use it, and counted there.", gate.Plural(count, "case has", "cases have"), shown(a.name.Value), which, strings.Join(parts, ", "), are)
	if i := slices.IndexFunc(texts, gate.Marker); i >= 0 {
		message += fmt.Sprintf(" If %s means that nothing was recorded, say so: missing_values: [%s].", diag.Quote(texts[i]), diag.Quote(texts[i]))
	}
	f.Add("undeclared_values", report.Warning, count, "%s", message)

	// Where no case has a declared group and all values are numbers, these were meant to be grouped by bounds.
	declared := 0
	for g := range view.cells {
		declared += view.cells[g].total()
	}
	if declared == 0 && !slices.ContainsFunc(texts, func(text string) bool { return !isNumber(text) }) {
		f.Add("numbers_without_bins", report.Warning, count, "No case has a declared value of %s, and all that are recorded are numbers, such as %s; did you mean %s: {bins: [%s]}?",
			shown(a.name.Value), diag.Quote(texts[0]), written(a.name.Value), boundsOf(a.groups))
	}
}

// resembles says what an undeclared value has in common with a declared one, in brackets; "" for nothing.
func resembles(text string, groups []string) string {
	folded := gate.Folded(text)
	for _, g := range groups {
		if gate.Folded(g) == folded {
			return fmt.Sprintf(" (declared as %s, from which it differs only in letter case, spaces or Unicode form)", diag.Quote(g))
		}
	}
	if g := sameNumber(text, groups); g != "" {
		return fmt.Sprintf(" (the number that is declared as %s)", diag.Quote(g))
	}
	if gate.Marker(text) || isNumber(text) || utf8.RuneCountInString(text) < leastNear {
		return ""
	}
	if g := diag.Nearest(text, groups); g != "" {
		return fmt.Sprintf(" (did you mean %s?)", diag.Quote(g))
	}
	return ""
}

// isNumber reports whether a text is a decimal number.
func isNumber(text string) bool {
	_, _, err := rows.ParseDecimal(text)
	return err == nil
}

// boundsOf proposes bounds between groups of numbers: the numbers in the declared names, where these look like such groups.
func boundsOf(groups []string) string {
	var bounds []bound
	for _, g := range groups {
		for _, text := range numberIn().FindAllString(g, -1) {
			value, rounded, err := rows.ParseDecimal(text)
			if err != nil || rounded || slices.ContainsFunc(bounds, func(b bound) bool { return b.value == value }) {
				continue
			}
			bounds = append(bounds, bound{text, value})
		}
	}
	slices.SortFunc(bounds, func(a, b bound) int { return a.value.Cmp(b.value) })
	var texts []string
	for _, b := range bounds {
		texts = append(texts, b.text)
	}
	if len(texts) == 0 || len(texts) >= len(groups) { // not "under 30, 30 to 60, over 60"
		return "30, 65"
	}
	return strings.Join(texts, ", ")
}

var numberIn = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+(\.[0-9]+)?`) })

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
