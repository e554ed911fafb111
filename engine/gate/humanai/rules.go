package humanai

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// Gate is the human-ai gate.
type Gate struct{}

var _ gate.Gate = Gate{}

// Name implements gate.Gate.
func (Gate) Name() string { return "human-ai" }

// Section implements gate.Gate.
func (Gate) Section() string { return "human_ai" }

// The values of a rule's own keys.
const (
	perPerson      = "person"
	peopleAndCases = "people_and_cases"
)

// noFile is the problem of a question without files.
const noFile = "no decision file: name one or more files (CSV or JSONL), a glob, or - for standard input"

// ruleSpec lists the metrics that a rule can name.
func ruleSpec() policy.RuleSpec {
	spec := policy.RuleSpec{
		MetricKey:  "metric",
		Metrics:    []policy.MetricSpec{{Name: accuracyDifference, Lower: -1, Upper: 1}},
		Thresholds: []policy.Kind{policy.Minimum, policy.Maximum},
	}
	for _, r := range rates {
		spec.Metrics = append(spec.Metrics, policy.MetricSpec{Name: r.name, Upper: 1})
	}
	return policy.RuleSpec{
		MetricKey: spec.MetricKey,
		Metrics: append(spec.Metrics,
			policy.MetricSpec{Name: systemAccuracy, Upper: 1},
			policy.MetricSpec{Name: decisionTime, Hint: "decision_time is reported, never a rule: a person who follows blindly takes a normal time"}),
		Thresholds: spec.Thresholds,
	}
}

// rule is a policy's rule with the keys of this gate.
type rule struct {
	policy.Rule
	perPerson  bool
	generalize bool
	terms      []gate.Term
	slice      string // in words
	doubt      string // why it is for a person, by earlier looks; "" for none
}

// question is one study being read and judged.
type question struct {
	source     gate.Source
	judging    policy.Judging
	design     string
	abstain    []string
	inputs     []gate.Input
	rules      []rule
	slicing    gate.Slicing
	policyNote []report.Finding
	prospects  []diag.Diagnostic
	tally      *Tally
	assigned   []key // nil without an assignment
	assignedAt map[key]diag.Pos
	all        *view // once the rows are read
}

// Compile implements gate.Gate.
func (Gate) Compile(source gate.Source, diags *diag.List) gate.Question {
	q := &question{source: source, judging: source.Settings.Judging.WithDefaults(), design: source.Flags.Design}
	files, base, assignment := source.Files, "", source.Flags.Assignment
	if s := source.Section; s != nil {
		q.readSection(s, diags)
		decisions := s.Map.TextOrTexts("decisions")
		assigned := s.Map.Text("assignment")
		s.Map.Done(s.Context())
		switch {
		case len(files) > 0:
			q.policyNote = append(q.policyNote, gate.NotRead("decisions", decisions)...)
			if assigned.Set && assignment == "" {
				q.policyNote = append(q.policyNote, gate.NotRead("assignment", []policy.Text{assigned})...)
			}
		case len(decisions) == 0 && source.NoFiles:
		case len(decisions) == 0:
			if s.Bare {
				diags.Add(diag.Diagnostic{Message: noFile})
			} else {
				s.Map.Errorf(s.Pos, "%s names no decisions; add `decisions: decisions.csv`, or name files on the command line", s.Context())
			}
		default:
			base = gate.Folder(s.Pos.File)
			for _, d := range decisions {
				files = append(files, d.Value)
			}
			assignment = assigned.Value
		}
	}
	if source.Section == nil && len(files) == 0 {
		diags.Add(diag.Diagnostic{Message: noFile})
	}
	q.tally = newTally(len(q.slicing.Columns), source.Flags.ShowUnits)
	known := columns(q.slicing.Columns)
	gate.CheckColumns(Gate{}.Name(), "case, reviewer, condition, decision, reference, ai_output, started_at, decided_at", known, source.Settings.Columns, diags)
	input := gate.ReadAs(source.Settings)
	input.Paths, input.Base, input.Columns, input.Add = files, base, known, q.tally.Add
	q.inputs = []gate.Input{input}
	if assignment != "" {
		q.assigned, q.assignedAt = []key{}, map[key]diag.Pos{}
		q.inputs = append(q.inputs, gate.Input{Role: "assignment", Paths: []string{assignment}, Base: base,
			Columns: []rows.Column{{Name: "case", Required: true}, {Name: "reviewer", Required: true}, {Name: "condition", Required: true}},
			Add:     q.addAssigned})
	}
	return q
}

// readSection reads the gate's keys of a section, and its rules.
func (q *question) readSection(s *policy.Section, diags *diag.List) {
	design := s.Map.Choice("design", Designs...)
	if design.Set {
		if q.design != "" && q.design != design.Value {
			diags.Addf(design.Pos, "design is %s here and %s in --design; say it once, or the same in both", design.Value, q.design)
		}
		q.design = design.Value
	}
	for _, a := range s.Map.Texts("abstain") {
		q.abstain = append(q.abstain, strings.TrimSpace(a.Value)) // as the files' values are
	}
	rules, findings := policy.ReadRules(s, q.source.Settings, ruleSpec())
	for i := range rules {
		q.rules = append(q.rules, q.compileRule(rules[i]))
	}
	q.policyNote = append(q.policyNote, gate.NoteThresholds(findings)...)
	for _, f := range findings {
		q.prospects = append(q.prospects, diag.Diagnostic{Pos: f.Pos, Message: f.Message})
	}
}

// Prospects implements gate.Question.
func (q *question) Prospects() []diag.Diagnostic {
	list := slices.Clone(q.prospects)
	for _, r := range q.rules {
		scale := interval.Difference
		switch {
		case r.Threshold == nil || r.Looks.Value != policy.LooksOnce || r.generalize:
			continue
		case r.perPerson:
			scale = interval.Unit
		case r.Metric.Value != accuracyDifference:
			continue
		}
		out := gate.Start(&r.Rule)
		for _, never := range gate.NeverAtPlan(out.Threshold, scale, r.Judging) {
			list = append(list, diag.Diagnostic{Pos: r.Pos, Message: fmt.Sprintf("%s can never %s with %d people planned%s", r.Name(), never.What, r.Planned.Value, never.Why)})
		}
	}
	return list
}

// compileRule reads a rule's own keys and checks that they go together.
func (q *question) compileRule(p policy.Rule) rule {
	r := rule{Rule: p}
	per := p.Map.Choice("per", perPerson)
	generalize := p.Map.Choice("generalize", peopleAndCases)
	p.Map.Done(p.Name())
	r.perPerson, r.generalize = per.Set, generalize.Set
	isMean := r.perPerson || p.Metric.Value == accuracyDifference
	switch p.Metric.Value {
	case "": // reported already
	case accuracyDifference:
		if per.Set {
			p.Map.Errorf(per.Pos, "accuracy_difference counts each person once already; leave per out")
		}
	case systemAccuracy:
		if per.Set {
			p.Map.Errorf(per.Pos, "system_accuracy has no per-person form: its units are cases; leave per out")
		}
	}
	if generalize.Set && p.Metric.Set && p.Metric.Value != accuracyDifference {
		p.Map.Errorf(generalize.Pos, "generalize is for accuracy_difference, not for %s", p.Metric.Value)
	}
	if generalize.Set && p.Looks.Set {
		p.Map.Errorf(generalize.Pos, "generalize: people_and_cases holds at one look; it does not go with looks: %s", p.Looks.Value)
	}
	if !isMean && p.Metric.Set && p.Looks.Value == policy.LooksOnce {
		if p.Map.Has("looks") {
			p.Map.Errorf(p.Looks.Pos, "looks: once fixes the number of units of a mean; %s has an exact interval, which is for one look already (or add `per: person`)", p.Metric.Value)
		}
		r.Looks, r.Planned, r.MeanMethod = policy.Text{}, policy.Int{}, policy.Text{} // a section's is for its means
	}
	for _, w := range p.Where {
		switch name := w.Key.Value; {
		case slices.Contains([]string{"decision", "condition", "started_at", "decided_at"}, name),
			name == "ai_output" && p.Metric.Value == accuracyDifference:
			p.Map.Errorf(w.Key.Pos, "where: %s is what the study measures or sets, so a slice by it selects its own result; slice by something that was known beforehand", name)
		}
	}
	r.terms, r.slice = q.slicing.Terms(p.Where)
	return r
}

// addAssigned keeps one row of the assignment.
func (q *question) addAssigned(r rows.Row, diags *diag.List) {
	item, hasItem := r.Text(0)
	person, hasPerson := r.Text(1)
	c, _ := r.Text(2)
	switch {
	case !hasItem:
		diags.Addf(r.Pos(0), "case is empty; every row needs one")
	case !hasPerson:
		diags.Addf(r.Pos(1), "reviewer is empty; every row needs one")
	case c != "with" && c != "without":
		diags.Addf(r.Pos(2), "condition is %s; write \"with\" or \"without\"", diag.Quote(c))
	default:
		k := key{person: person, item: item}
		if c == "with" {
			k.condition = with
		}
		if first, found := q.assignedAt[k]; found {
			diags.Addf(r.Pos(-1), "the same case, reviewer and condition as at %s; a person is assigned a case once in a condition", first)
			return
		}
		q.assigned, q.assignedAt[k] = append(q.assigned, k), r.Pos(-1)
	}
}

// Inputs implements gate.Question.
func (q *question) Inputs() []gate.Input { return q.inputs }

// Rules implements gate.Question.
func (q *question) Rules() []policy.Rule {
	list := make([]policy.Rule, 0, len(q.rules))
	for _, r := range q.rules {
		list = append(list, r.Rule)
	}
	return list
}

// Share implements gate.Question.
func (q *question) Share(families policy.Families) {
	for i := range q.rules {
		q.rules[i].Share(families)
	}
}

// whole is the view of the whole study, whose rows have been read.
func (q *question) whole() *view {
	if q.all == nil {
		q.all = newStudy(q.tally, q.assigned, q.design).whole(q.abstain, q.judging)
	}
	return q.all
}

// Judge implements gate.Question.
func (q *question) Judge(rule, parts int) (report.Rule, error) {
	out, _, err := q.judge(&q.rules[rule], q.rules[rule].Judging.Divided(parts))
	return out, err
}

// Units implements gate.Question.
func (q *question) Units(rule int) (gate.Units, error) {
	r := &q.rules[rule]
	_, m, err := q.judge(r, r.Judging)
	if err != nil || m.Interval == nil {
		return gate.Units{}, err
	}
	own := []string{fmt.Sprint(r.perPerson, r.generalize, q.assigned != nil), q.design}
	u := gate.UnitsOf(Gate{}, q.source, &r.Rule, m.Measure, append(own, slices.Sorted(slices.Values(q.abstain))...)...)
	u.Grows, u.Parts = m.grows, []gate.Part{m.units}
	return u, nil
}

// Doubt implements gate.Question.
func (q *question) Doubt(rule int, why string) { q.rules[rule].doubt = why }

// Answer implements gate.Question.
func (q *question) Answer(c gate.Context) (gate.Answer, error) {
	all := q.whole()
	s := all.study
	f := s.findings(q.tally, all.abstain, q.source.Flags.ShowUnits)
	g := report.Gate{Gate: Gate{}.Name(), Design: s.design.name, Summary: s.summary(), Data: s.data()}
	if q.source.Section != nil {
		g.Name = q.source.Section.Name.Value
	}
	g.MinShown = q.source.Settings.MinShown.Value
	g.Assumptions, g.Limits = assumptions(s), limits(s)
	if q.source.Verb != gate.Check {
		measures, err := all.measures()
		if err != nil {
			return gate.Answer{}, err
		}
		for _, m := range measures {
			if g.MinShown == 0 { // a value is one person's
				m.Spread = report.NewSpread(m.gains)
			}
			g.Measures = append(g.Measures, m.Measure)
			if m.Metric == accuracyDifference && m.people != nil {
				all.tooWide(m, &f)
			}
		}
	}
	var settled []report.Finding
	if q.source.Verb == gate.Decide {
		for i := range q.rules {
			r, findings, err := c.Decide(&q.rules[i].Rule, func(j policy.Judging) (report.Rule, error) { return q.decide(&q.rules[i], j) })
			if err != nil {
				return gate.Answer{}, err
			}
			settled = append(settled, findings...)
			g.Rules = append(g.Rules, r)
		}
	}
	g.Findings = slices.Concat(f.Findings, q.policyNote, settled)
	return gate.Answer{Gate: g, Located: f.Located}, nil
}

// measures lists every measure of the study.
func (v *view) measures() ([]measured, error) {
	var list []measured
	add := func(m measured, err error) error {
		list = append(list, m)
		return err
	}
	if err := add(v.difference()); err != nil {
		return nil, err
	}
	// The same difference over people and cases both drawn, beside the one over people on the study's own cases.
	if !v.mostlyEmpty() {
		m, err := v.generalized()
		if err != nil {
			return nil, err
		}
		if m.Interval != nil {
			list = append(list, m)
		}
	}
	exact := *v // pooled rates are for one look, whatever the section plans for its means
	if exact.judging.Looks.Value == policy.LooksOnce {
		exact.judging.Looks = policy.Text{}
	}
	for _, r := range rates {
		if err := add(exact.rateOver(r)); err != nil {
			return nil, err
		}
	}
	if err := add(exact.systemAccuracy()); err != nil {
		return nil, err
	}
	for _, r := range rates {
		if err := add(v.ratePerPerson(r)); err != nil {
			return nil, err
		}
	}
	for _, c := range []condition{with, without} {
		times, err := v.times(c)
		if err != nil {
			return nil, err
		}
		list = append(list, times...)
	}
	return list, nil
}

// decide measures one rule under some settings and compares it, and says what would decide it.
func (q *question) decide(r *rule, j policy.Judging) (report.Rule, error) {
	out, m, err := q.judge(r, j)
	if err != nil {
		return out, err
	}
	switch {
	case out.Verdict == report.InsufficientEvidence && m.doubts.Undecided.Why != "":
		out.Needs = &m.doubts.Undecided.Needs
	case out.Verdict == report.InsufficientEvidence && m.need != nil:
		out.Needs = m.need(out.Threshold)
		if m.tip != nil {
			if out.TippingPoint, err = m.tip(out.Threshold); err != nil {
				return out, fmt.Errorf("%s: %w", r.Name(), err)
			}
		}
	case out.Verdict == report.ManualReview && r.doubt != "":
		out.Needs = gate.NewLedger()
	case out.Verdict == report.ManualReview && m.Metric != systemAccuracy && m.Metric != accuracyDifference && !r.perPerson:
		out.Needs = &report.Needs{What: "a person to decide, or `per: person` on the rule"}
	case out.Verdict == report.ManualReview:
		out.Needs = &report.Needs{What: "a person to decide"}
	}
	return out, nil
}

// judge measures one rule under some settings and compares it.
func (q *question) judge(as *rule, j policy.Judging) (report.Rule, measured, error) {
	own, under := *q.whole(), *as
	under.Judging, own.judging = j, j
	all, r := q.whole(), &under
	v := own.sliced(r.terms, r.slice)
	m, err := v.metric(r)
	if err != nil {
		return report.Rule{}, m, err
	}
	out := gate.Start(&r.Rule)
	out.Measure = m.Measure
	out.Assumptions = append([]string{m.Conditions}, ruleAssumptions(v.study, r)...)
	if v.design.name == sparse {
		m.doubts.Undecided = gate.Doubtful("The study is sparse (most cases were decided once in each condition, by different people): it is described, never decided.",
			"a study in which each person decides many cases, drawn at random for each person with or without the output (`oloproof human-ai assign` draws one)")
	}
	if m.doubts.Undecided.Why == "" {
		m.doubts.Undecided = v.leftOutDoubt(r, m.Measure)
	}
	if len(r.terms) > 0 && len(v.entries) == 0 {
		m.doubts.Undecided = gate.Doubtful(all.emptySlice(q.slicing.Columns, r.terms, q.source.Flags.ShowUnits), gate.EmptySlice)
	}
	if r.pooled() && m.doubts.Undecided.Why == "" {
		m.doubts.Undecided = v.missingArms(r)
	}
	m.doubts.Review = gate.Both(m.doubts.Review, r.doubt)
	gate.Conclude(&out, m.doubts)
	how, err := v.turnedByMarkers(r, out)
	if how != "" {
		gate.Conclude(&out, gate.Doubts{Review: how})
	}
	return out, m, err
}

// pooled reports a rule on a rate over decisions.
func (r *rule) pooled() bool {
	return !r.perPerson && r.Metric.Value != accuracyDifference && r.Metric.Value != systemAccuracy
}

// missingArms says that people lack the whole arm that a pooled rate counts, in a study whose declared design gives both:
// how many decisions are missing cannot be told.
func (v *view) missingArms(r *rule) gate.Doubt {
	i := slices.IndexFunc(rates, func(x rate) bool { return x.name == r.Metric.Value })
	if !v.bothArms || i < 0 {
		return gate.Doubt{}
	}
	n := len(v.otherArmOnly(rates[i].condition))
	if n == 0 {
		return gate.Doubt{}
	}
	return gate.Doubtful(fmt.Sprintf("%s no decision in this condition, which the declared design gives them, and how many are missing cannot be told without --assignment; `per: person` counts them both ways.",
		gate.Plural(n, "person has", "people have")), "--assignment, which says how many decisions are missing, or `per: person` on the rule")
}

// turnedByMarkers says that a rule would come to another verdict if the decisions that look like markers of missing values
// were missing; "" where it would not, or where there are none.
func (v *view) turnedByMarkers(r *rule, out report.Rule) (string, error) {
	if v.likely.count == 0 || (out.Verdict != report.Pass && out.Verdict != report.Fail) {
		return "", nil
	}
	other, n := *v, 0
	other.entries = slices.Clone(v.entries)
	for i := range other.entries {
		if d := &other.entries[i].decision; d.recorded && slices.Contains(v.likely.values, d.value) {
			*d = text{}
			n++
		}
	}
	m, err := other.metric(r)
	if err != nil {
		return "", err
	}
	then := gate.Start(&r.Rule)
	then.Measure = m.Measure
	gate.Conclude(&then, m.doubts)
	if then.Verdict == out.Verdict {
		return "", nil
	}
	return fmt.Sprintf("%s %s, which no reference and no output equals; here that counts as wrong, and the rule comes to %s. Were nothing recorded there, it would not: if that is what it means, list it under `missing_values`.",
		gate.Plural(n, "decision is", "decisions are"), gate.Quoted(v.likely.values), out.Verdict), nil
}

// emptySlice says of a slice without a decision what its columns hold.
func (v *view) emptySlice(columns []string, terms []gate.Term, showReviewers bool) string {
	var parts []string
	for _, t := range terms {
		seen := map[string]bool{}
		for _, e := range v.entries {
			if w := e.where[t.Column]; w.recorded {
				seen[w.value] = true
			}
		}
		switch {
		case seen[t.Value]:
		case columns[t.Column] == "reviewer" && !showReviewers:
			parts = append(parts, "no row has that reviewer")
		default:
			parts = append(parts, fmt.Sprintf("no row has %s in the column %s, which holds %s", diag.Quote(t.Value), diag.Quote(columns[t.Column]), gate.Quoted(sortedKeys(seen))))
		}
	}
	if len(parts) == 0 {
		return "Nothing was evaluated: no row has all the values of `where` together."
	}
	return "Nothing was evaluated: " + strings.Join(parts, "; ") + "."
}

// leftOutDoubt says that a rule leaves out more than max_left_out allows of the decisions (cases for system_accuracy) that
// could have counted: those without an output, not as assigned or without the column of `where`. What the policy lists
// under `abstain` is its own choice, and people without such a decision are outside of what a rate per person speaks of.
func (v *view) leftOutDoubt(r *rule, m report.Measure) gate.Doubt {
	left, what := len(v.unrecorded)+len(v.departing), "decisions"
	total := len(v.entries) + left
	if r.Metric.Value != accuracyDifference {
		left = 0
		for _, l := range m.LeftOut {
			if l.Reason != reasonNoneOwn && l.Reason != reasonAbstained {
				left += l.Count
			}
		}
		counted := *m.Units
		if i := slices.IndexFunc(rates, func(x rate) bool { return x.name == r.Metric.Value }); i >= 0 {
			all, _, _, _ := v.count(rates[i])
			counted = all.n
		} else {
			what = "cases"
		}
		total = counted + left
	}
	if gate.Exceeds(left, total, r.MaxLeftOut) {
		return gate.Doubt{Why: fmt.Sprintf("%d of %d %s are left out, more than max_left_out allows (%s): those left out may differ from the others.", left, total, what, r.MaxLeftOut.Text),
			Needs: gate.FewerLeftOut(left, total, r.MaxLeftOut, "of the "+what+" left out to have recorded what they lack")}
	}
	return gate.Doubt{}
}

// metric measures what a rule names.
func (v *view) metric(r *rule) (measured, error) {
	switch {
	case r.Metric.Value == accuracyDifference && r.generalize:
		return v.generalized()
	case r.Metric.Value == accuracyDifference:
		return v.difference()
	case r.Metric.Value == systemAccuracy:
		return v.systemAccuracy()
	}
	i := slices.IndexFunc(rates, func(x rate) bool { return x.name == r.Metric.Value })
	if r.perPerson {
		return v.ratePerPerson(rates[i])
	}
	return v.rateOver(rates[i])
}
