package fairness

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// Gate is the fairness gate.
type Gate struct{}

var _ gate.Gate = Gate{}

// Name implements gate.Gate.
func (Gate) Name() string { return "fairness" }

// Section implements gate.Gate.
func (Gate) Section() string { return "fairness" }

// pairwise is the value of a rule's interval that bounds each pair of groups directly.
const pairwise = "pairwise"

// mostPairwise is how many groups a gap rule with interval: pairwise can have: each of their pairs takes a search of its own,
// 10 to 60 µs, and once more for the left-out cases.
const mostPairwise = 500

// widestGap is the largest max_group_gap without a finding.
const widestGap = 0.5

// rule is a policy's rule with the keys of this gate.
type rule struct {
	policy.Rule
	rate     *rate     // nil where it could not be read, which is reported
	crossing *crossing // likewise
	pairwise bool
	terms    []term
	slice    string // in words
	view     int    // of the plan's
	doubt    string // why it is for a person, by earlier looks; "" for none
}

// question is one declaration being read and judged.
type question struct {
	*declaration
	source     gate.Source
	judging    policy.Judging
	rules      []rule
	slicing    gate.Slicing
	inputs     []gate.Input
	policyNote []report.Finding
	prospects  []diag.Diagnostic
	tally      *Tally
}

// Compile implements gate.Gate.
func (Gate) Compile(source gate.Source, diags *diag.List) gate.Question {
	q := &question{source: source, judging: source.Settings.Judging.ForRates().WithDefaults(), declaration: &declaration{}}
	s := source.Section
	if s == nil {
		diags.Add(diag.Diagnostic{Message: "no declaration: fairness needs a file that declares the cases, the groups and the rules, such as fairness.yaml"})
		return q
	}
	keys := twofold{own: s.Map, diags: diags}
	cases := s.Map.TextOrTexts("cases")
	if source.Beside != nil {
		keys.beside = source.Beside.Map
		source.Beside.Map.TextOrTexts("cases") // known, and not read
	}
	var sound bool
	q.declaration, sound = readDeclaration(keys, source.Settings.MissingValues)
	q.readRules(s, sound)
	if source.Beside != nil {
		q.readRules(source.Beside, sound)
		source.Beside.Map.Done(source.Beside.Context())
	}
	s.Map.Done(s.Context())

	input := gate.ReadAs(source.Settings)
	input.Base = gate.Folder(s.Pos.File)
	switch {
	case len(source.Files) > 0:
		input.Paths, input.Base = source.Files, ""
		q.policyNote = append(q.policyNote, gate.NotRead("cases", cases)...)
	case len(cases) > 0:
		for _, c := range cases {
			if strings.TrimSpace(c.Value) == "" {
				s.Map.Errorf(c.Pos, "cases has an empty text; write the path of a file")
				continue
			}
			input.Paths = append(input.Paths, c.Value)
		}
	case !source.NoFiles && (cases != nil || !s.Map.Has("cases")): // what cannot be read is reported already
		s.Map.Errorf(s.Pos, "%s names no cases; add `cases: decided.csv`, or name files on the command line", s.Context())
	}
	q.tally = newTally(q.plan())
	if source.Verb == gate.Tally {
		q.tally.cells = map[string]*cell{}
	}
	q.checkColumns(s.Pos, diags)
	input.Columns, input.Add, input.Count, input.Once = q.tally.columns, q.tally.Add, q.tally.Count, q.tally.once(!source.Flags.AssumeUniqueIDs)
	q.inputs = []gate.Input{input}
	return q
}

// readRules reads the rules of a section. Where the declaration is not sound, a rule's crossing may be meant right.
func (q *question) readRules(s *policy.Section, sound bool) {
	rules, findings := policy.ReadRules(s, q.source.Settings, ruleSpec())
	for i := range rules {
		q.rules = append(q.rules, q.compileRule(rules[i], sound))
	}
	for i := range rules {
		if t := rules[i].Threshold; t != nil && t.Kind == policy.MaxGroupGap && t.Value.Value > widestGap && t.Value.Value < 1 {
			findings = append(findings, policy.Finding{Code: "wide_gap", Pos: t.Value.Pos, Message: fmt.Sprintf(
				"%s: max_group_gap is a distance, and with %s groups of the rates 0 and %s would pass, which says little; that no rate is below a share of another, such as four fifths, is min_group_ratio",
				rules[i].Name(), t.Value.Text, t.Value.Text)})
		}
	}
	q.policyNote = append(q.policyNote, gate.NoteThresholds(findings)...)
	for _, f := range findings {
		q.prospects = append(q.prospects, diag.Diagnostic{Pos: f.Pos, Message: f.Message})
	}
}

// compileRule reads a rule's own keys and checks that they go together.
func (q *question) compileRule(p policy.Rule, sound bool) rule {
	r := rule{Rule: p, rate: rateNamed(p.Metric.Value)}
	named := p.Map.TextOrTexts("attribute")
	how := p.Map.Choice("interval", pairwise)
	r.pairwise = how.Set
	p.Map.Done(p.Name())
	repeated := r.Looks.Value == policy.LooksRepeated
	if r.pairwise && repeated {
		p.Map.Errorf(how.Pos, "%s: interval: pairwise holds at one look, and looks is repeated; leave one of them out", p.Name())
	}
	r.crossing = q.readAttribute(&p, named, sound)
	if p.Threshold != nil && r.crossing != nil {
		kind, groups := p.Threshold.Kind, len(r.crossing.groups)
		switch {
		case r.pairwise && kind == policy.MinGroupRatio:
			p.Map.Errorf(how.Pos, "%s: interval: pairwise is for max_group_gap and worst_group, not for min_group_ratio; leave it out", p.Name())
		case kind != policy.WorstGroup && groups == 1:
			hint := ""
			if strings.ContainsAny(r.crossing.groups[0], " ;|/") { // perhaps meant as several
				hint = ", separated by commas"
			}
			p.Map.Errorf(p.Map.KeyPos("attribute"), "%s: %s compares groups, and %s has one, %s; declare two or more%s", p.Name(), kind, shown(r.crossing.label), diag.Quote(r.crossing.groups[0]), hint)
		case r.pairwise && kind == policy.MaxGroupGap && groups > mostPairwise:
			p.Map.Errorf(how.Pos, "%s: interval: pairwise bounds every pair of groups by itself, which takes too long for the %d groups of %s; at most %d are allowed: leave it out, or declare coarser groups",
				p.Name(), groups, shown(r.crossing.label), mostPairwise)
		}
	}
	q.readWhere(&r)
	return r
}

// readAttribute finds the attribute or the crossing that a rule names; nil where it is not declared, which is reported.
func (q *question) readAttribute(p *policy.Rule, named []policy.Text, sound bool) *crossing {
	if len(named) == 0 {
		switch {
		case !p.Map.Has("attribute"):
			p.Map.Errorf(p.Pos, "%s has no attribute; name the one whose groups are compared, or a list of those that are crossed", p.Name())
		case named != nil && len(p.Map.TextOrTexts("attribute")) == 0:
			p.Map.Errorf(p.Map.KeyPos("attribute"), "%s: attribute is an empty list; name one attribute, or a list of those that are crossed", p.Name())
		}
		return nil
	}
	if len(q.attributes) == 0 { // reported already
		return nil
	}
	problems := &diag.List{}
	attributes, ok := q.find(named, problems)
	items, _ := problems.Sorted()
	for _, d := range items {
		p.Map.Errorf(d.Pos, "%s: %s", p.Name(), d.Message)
	}
	if !ok {
		return nil
	}
	c := q.crossed(attributes)
	if c == nil && sound {
		var names []string
		for _, a := range attributes {
			names = append(names, q.attributes[a].name.Value)
		}
		p.Map.Errorf(named[0].Pos, "%s crosses %s, which is not declared; crossings are declared before the file is read: add %s under intersections", p.Name(),
			shown(listed(names)), writtenList(names))
	}
	if c != nil && len(c.groups) == 0 { // reported already
		return nil
	}
	return c
}

// readWhere reads the slice of a rule.
func (q *question) readWhere(r *rule) {
	p := &r.Rule
	if p.Where != nil && cap(p.Where) == 0 { // without an entry; a value that cannot be read is reported already
		p.Map.Errorf(p.Map.KeyPos("where"), "where is empty; name a column and the value that it must have, as in {region: north}, or leave where out for all cases")
	}
	var columns []policy.Pair
	for _, w := range p.Where {
		value := strings.TrimSpace(w.Value.Value)
		a := slices.IndexFunc(q.attributes, func(a attribute) bool { return a.name.Value == w.Key.Value })
		if a < 0 {
			for _, c := range q.outcomes() {
				if q.inFiles(c.column.Value) == q.inFiles(w.Key.Value) {
					p.Map.Errorf(w.Key.Pos, "where: %s is the %s, and a slice is of cases; slice by something of the case that was known beforehand", shown(w.Key.Value), c.role)
				}
			}
			columns = append(columns, w)
			continue
		}
		group := slices.Index(q.attributes[a].groups, value)
		switch {
		case len(q.attributes[a].groups) == 0: // reported already
		case group < 0:
			p.Map.Errorf(w.Value.Pos, "where: %s is not a declared group of %s; %s", diag.Quote(value), shown(w.Key.Value), allowed(value, q.attributes[a].groups))
		case r.crossing != nil && slices.Contains(r.crossing.attributes, a) && len(q.attributes[a].groups) > 1:
			p.Map.Errorf(w.Key.Pos, "%s is about the groups of %s, and its slice holds one of them, so that the others are empty whatever the file holds; slice by something else, or take another attribute", p.Name(), shown(w.Key.Value))
		}
		r.terms = append(r.terms, term{attribute: a, group: group})
	}
	terms, _ := q.slicing.Terms(columns)
	for _, t := range terms {
		r.terms = append(r.terms, term{attribute: -1, column: t.Column, value: t.Value})
	}
	var parts []string
	for _, w := range p.Where {
		parts = append(parts, w.Key.Value+"="+strings.TrimSpace(w.Value.Value))
	}
	r.slice = strings.Join(parts, ", ")
}

// role is a column and what it is for.
type role struct {
	role   string
	column policy.Text
}

// outcomes are the columns that say what came out of a case, or who it is about.
func (q *question) outcomes() []role {
	list := []role{{"label", q.label.column}, {"prediction", q.prediction.column}}
	if q.probability.Set {
		list = append(list, role{"probability", q.probability})
	}
	if q.unit.Set {
		list = append(list, role{"unit", q.unit})
	}
	return list
}

// sliced is a column of where, as the first rule that slices by it names it.
func (q *question) sliced(name string) policy.Text {
	for i := range q.rules {
		for _, w := range q.rules[i].Where {
			if w.Key.Value == name {
				return w.Key
			}
		}
	}
	return policy.Text{Value: name}
}

// named is where the name that a column has in the files stands: under columns, else where the declaration names it; no place
// where it is known without.
func (q *question) named(column policy.Text) diag.Pos {
	for _, p := range q.source.Settings.Columns {
		if p.Key.Value == column.Value {
			return p.Value.Pos
		}
	}
	if !column.Set {
		return diag.Pos{}
	}
	return column.Pos
}

// inFiles is what the files call a column of the declaration.
func (q *question) inFiles(name string) string {
	for _, p := range q.source.Settings.Columns {
		if p.Key.Value == name {
			return strings.TrimSpace(p.Value.Value)
		}
	}
	return name
}

// plan settles the columns that are read and the views that are counted.
func (q *question) plan() *plan {
	p := &plan{declaration: q.declaration, where: q.slicing.Columns, showUnits: q.source.Flags.ShowUnits}
	column := func(of policy.Text, required bool) int {
		p.columns = append(p.columns, rows.Column{Name: of.Value, Required: required, Named: q.named(of)})
		return len(p.columns) - 1
	}
	column(q.id, true)
	// Cases without labels answer rules on selection; then the column need not be there.
	p.at.label = column(q.label.column, q.label.declared || slices.ContainsFunc(q.rules, func(r rule) bool { return r.rate != nil && r.rate.needsLabel() }))
	p.at.prediction = column(q.prediction.column, true)
	p.at.probability, p.at.unit = -1, -1
	if q.probability.Set {
		p.at.probability, p.edges = column(q.probability, true), binEdges(q.bins)
	}
	if q.unit.Set {
		p.at.unit = column(q.unit, true)
	}
	p.at.attributes = len(p.columns)
	for _, a := range q.attributes {
		column(a.name, true)
	}
	p.at.where = len(p.columns)
	for _, name := range q.slicing.Columns {
		column(q.sliced(name), true)
	}
	known := map[string]int{}
	for i := range q.crossings {
		known[viewKey(&q.crossings[i], nil)] = len(p.views)
		p.views = append(p.views, view{crossing: &q.crossings[i], bins: q.probability.Set})
	}
	for i := range q.rules {
		r := &q.rules[i]
		if r.crossing == nil {
			continue
		}
		key := viewKey(r.crossing, r.terms)
		at, found := known[key]
		if !found {
			at = len(p.views)
			known[key] = at
			p.views = append(p.views, view{crossing: r.crossing, terms: r.terms})
		}
		r.view = at
	}
	return p
}

// viewKey tells views apart.
func viewKey(c *crossing, terms []term) string { return fmt.Sprintf("%v %#v", c.attributes, terms) }

// checkColumns reports columns that are read for two purposes, and names under `columns` that nothing reads. at is where the
// declaration begins.
func (q *question) checkColumns(at diag.Pos, diags *diag.List) {
	renamed := q.source.Settings.Columns
	pos := func(columns ...policy.Text) diag.Pos { // of the first that is named anywhere
		for _, t := range columns {
			if named := q.named(t); named != (diag.Pos{}) {
				return named
			}
		}
		return at
	}
	own := append([]role{{"id", q.id}}, q.outcomes()...)
	for i, a := range own {
		for _, b := range own[:i] {
			if q.inFiles(a.column.Value) == q.inFiles(b.column.Value) {
				diags.Addf(pos(a.column, b.column), "%s and %s would both be read from the column %s; each needs its own", b.role, a.role, diag.Quote(q.inFiles(a.column.Value)))
			}
		}
	}
	for _, a := range q.attributes {
		for _, b := range own {
			if q.inFiles(a.name.Value) == q.inFiles(b.column.Value) {
				diags.Addf(a.name.Pos, "the attribute %s would be read from the column %s, which is the %s; a group is not made of that", shown(a.name.Value), diag.Quote(q.inFiles(a.name.Value)), b.role)
			}
		}
	}
	var names []string
	for _, c := range q.tally.columns {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	var read []string
	for _, name := range names {
		read = append(read, written(name))
	}
	for _, p := range renamed {
		if !slices.Contains(names, p.Key.Value) {
			diags.Addf(p.Key.Pos, "columns: this declaration reads no column %s; it reads %s", diag.Quote(p.Key.Value), strings.Join(read, ", "))
		}
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

// Prospects implements gate.Question.
func (q *question) Prospects() []diag.Diagnostic {
	list := slices.Clone(q.prospects)
	for i := range q.rules {
		list = append(list, q.neverAtMinCell(&q.rules[i])...)
	}
	return list
}

// Share implements gate.Question.
func (q *question) Share(families policy.Families) {
	for i := range q.rules {
		q.rules[i].Share(families)
	}
}

// Judge implements gate.Question.
func (q *question) Judge(rule, parts int) (report.Rule, error) {
	r := q.rules[rule]
	r.Judging = r.Judging.Divided(parts)
	out, _, _, err := q.measured(&r)
	return out, err
}

// Units implements gate.Question.
func (q *question) Units(rule int) (gate.Units, error) {
	r := &q.rules[rule]
	d, err := q.judge(r)
	if err != nil {
		return gate.Units{}, err
	}
	own := []string{strconv.FormatBool(r.pairwise), r.crossing.label}
	for _, b := range []binary{q.label, q.prediction} {
		own = append(own, b.column.Value, b.words[0].Value, b.words[1].Value)
	}
	u := gate.UnitsOf(Gate{}, q.source, &r.Rule, d.measure(), append(own, r.crossing.groups...)...)
	u.Grows = gate.GrowsUnits
	for i := range d.view.cells {
		u.Parts = append(u.Parts, r.rate.part("group "+strconv.Itoa(i+1), &d.view.cells[i]))
	}
	return u, nil
}

// Doubt implements gate.Question.
func (q *question) Doubt(rule int, why string) { q.rules[rule].doubt = why }

// Answer implements gate.Question.
func (q *question) Answer(c gate.Context) (gate.Answer, error) {
	if q.tally == nil {
		return gate.Answer{}, fmt.Errorf("there is no declaration")
	}
	f, err := q.findings()
	if err != nil {
		return gate.Answer{}, err
	}
	g := report.Gate{Gate: Gate{}.Name(), Name: q.source.Section.Name.Value, Settings: q.settings(), Summary: q.summary(), Data: q.data(),
		Assumptions: q.assumptions(), Limits: limits(), MinShown: q.source.Settings.MinShown.Value}
	if q.source.Verb != gate.Check {
		measures, err := q.measures()
		if err != nil {
			return gate.Answer{}, err
		}
		g.Measures = measures
	}
	var settled []report.Finding
	if q.source.Verb == gate.Decide {
		for i := range q.rules {
			r, findings, err := c.Decide(&q.rules[i].Rule, func(j policy.Judging) (report.Rule, error) {
				under := q.rules[i]
				under.Judging = j
				return q.decide(&under)
			})
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

// settings are what was fixed that is not per rule.
func (q *question) settings() map[string]string {
	set := map[string]string{"min_cell": strconv.Itoa(q.minCell)}
	if q.probability.Set {
		set["calibration_bins"] = strconv.Itoa(q.bins)
	}
	if q.unit.Set {
		set["unit"] = q.unit.Value
	}
	return set
}

// decision is a rule being decided, and what its texts are made from.
type decision struct {
	q        *question
	rule     *rule
	view     *sorted
	contest  *contest
	standing standing
	left     []report.LeftOut
	leftOut  int // cases left out, of cases
	cases    int
	exceeded bool // more are left out than max_left_out allows
	verdict  report.Verdict
	worst    standing // of a decided rule: with the left-out cases at their worst; zero where none are left out
	places   int      // decimals of the numbers in texts
}

// judge measures a rule's groups and compares them; where it comes to a verdict although cases are left out, also with those
// at their worst.
func (q *question) judge(r *rule) (*decision, error) {
	view := &q.tally.views[r.view]
	threshold := gate.Start(&r.Rule).Threshold
	d := &decision{q: q, rule: r, view: view, places: decimals(threshold.Value)}
	groups := make([]sides, len(view.cells))
	for i := range groups {
		groups[i] = r.rate.sides(&view.cells[i])
	}
	d.countLeftOut()
	d.exceeded = gate.Exceeds(d.leftOut, d.cases, r.MaxLeftOut)
	b := &bounds{threshold: threshold, judging: r.Judging, pairwise: r.pairwise, groups: len(groups), minCell: q.minCell}
	var err error
	if d.contest, err = newContest(b, groups); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name(), err)
	}
	d.standing = d.contest.judge(d.contest.everyone())
	d.verdict = d.standing.verdict
	switch decided := d.verdict == report.Fail || !d.standing.anySmall; {
	case d.exceeded:
		d.verdict = report.InsufficientEvidence
	case r.doubt != "" && decided:
		d.verdict = report.ManualReview
	}
	if d.leftOut > 0 && d.verdict != report.InsufficientEvidence && d.verdict != report.ManualReview {
		if d.worst, err = d.atWorst(); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name(), err)
		}
	}
	return d, nil
}

// measured is a rule's part of the report but for what would decide it, and the pairs that are listed.
func (q *question) measured(r *rule) (out report.Rule, d *decision, pairs []apart, err error) {
	out = gate.Start(&r.Rule)
	if d, err = q.judge(r); err != nil {
		return out, nil, nil, err
	}
	out.Verdict, out.WithLeftOut = d.verdict, d.worst.verdict
	out.Measure = d.measure()
	d.addCells(&out)
	if out.Threshold.Kind != report.WorstGroup {
		pairs = d.addPairs(&out)
	}
	out.Reason = d.reason()
	if out.Verdict == report.InsufficientEvidence && d.cases == 0 {
		out.Reason = q.emptySlice(r)
	}
	if out.Verdict == report.ManualReview {
		out.Reason = r.doubt
	}
	out.Assumptions = d.assumptions(out.Conditions)
	return out, d, pairs, nil
}

// decide is a rule's part of the report.
func (q *question) decide(r *rule) (report.Rule, error) {
	out, d, pairs, err := q.measured(r)
	if err != nil {
		return out, err
	}
	if out.Verdict == report.ManualReview {
		out.Needs = gate.NewLedger()
	}
	if out.Verdict == report.InsufficientEvidence && d.cases == 0 {
		out.Needs = &report.Needs{What: gate.EmptySlice}
	} else if out.Verdict == report.InsufficientEvidence {
		if d.standing.verdict == report.InsufficientEvidence {
			if out.Needs, err = d.needs(pairs); err != nil {
				return out, fmt.Errorf("%s: %w", r.Name(), err)
			}
		}
		if !d.exceeded {
			var told bool
			if out.TippingPoint, told, err = d.tipping(); err != nil {
				return out, fmt.Errorf("%s: %w", r.Name(), err)
			}
			if out.Needs != nil {
				d.recorded(out.Needs, out.TippingPoint, told)
			}
		}
		if d.exceeded { // first of all, fewer have to be left out; the rule may need more than that
			beyond := out.Needs
			if out.Needs = d.leftOutNeeds(); beyond != nil {
				out.Needs.What += "; the rule then needs " + gate.Phrase(*beyond)
			}
		}
	}
	return out, nil
}

// countLeftOut counts the cases that the rule leaves out, by their first reason, and all cases.
func (d *decision) countLeftOut() {
	view := d.view
	var pairs []any
	reasons := d.q.reasons(d.rule.crossing)
	for i := range view.left {
		n := view.left[i].total()
		pairs = append(pairs, reasons[i], n)
		d.leftOut += n
	}
	d.cases = d.leftOut
	unlabelled := 0
	for i := range view.cells {
		d.cases += view.cells[i].total()
		if d.rule.rate.needsLabel() {
			unlabelled += view.cells[i].labelled(none)
		}
	}
	d.leftOut += unlabelled
	d.left = gate.LeftOut(append(pairs, noLabel, unlabelled)...)
}

// atWorst is what the rule comes to with the left-out cases added at their worst: those without a label to their own
// group, with any label; those that cannot be told a group to any.
func (d *decision) atWorst() (standing, error) {
	view := d.view
	var homeless counts
	for i := range view.left {
		homeless.merge(&view.left[i])
	}
	r := d.rule.rate
	groups := slices.Clone(d.contest.sides)
	for i := range groups {
		for label := range homeless {
			for prediction := range homeless[label] {
				n := homeless[label][prediction]
				if label == none && r.needsLabel() {
					n += view.cells[i][label][prediction]
				}
				r.widen(&groups[i], label, prediction, n)
			}
		}
	}
	c, err := newContest(d.contest.bounds, groups)
	if err != nil {
		return standing{}, err
	}
	return c.judge(c.leaders()), nil
}

// measure is the rule's own: of the largest gap, the smallest ratio or the worst group.
func (d *decision) measure() report.Measure {
	m := report.Measure{Metric: d.rule.rate.name, Labels: map[string]string{"attribute": d.rule.crossing.label}, Scale: &report.Scale{Lower: 0, Upper: 1},
		Interval: report.PublishInterval(d.standing.interval), UnitName: "cases", LeftOut: d.left, Conditions: d.conditions()}
	if d.rule.slice != "" {
		m.Labels["where"] = d.rule.slice
	}
	numerator, denominator, missing := 0, 0, 0
	for i := range d.contest.sides {
		s := &d.contest.sides[i]
		numerator, denominator, missing = numerator+s.recorded.K, denominator+d.rule.rate.denominator(s), missing+s.missing
	}
	m.Numerator, m.Denominator, m.Units, m.Missing = report.Int(numerator), report.Int(denominator), report.Int(denominator), report.Int(missing)
	switch t := d.contest.threshold; {
	case t.Kind != report.WorstGroup:
		if i, j, ok := d.contest.ends(2); ok {
			m.Estimate = d.contest.estimate(i, j)
		}
	default:
		if lowest, highest, ok := d.contest.ends(1); ok {
			worst := lowest
			if t.Side == report.Maximum {
				worst = highest
			}
			m.Estimate = report.Number(quotient(d.contest.sides[worst].recorded))
		}
	}
	return m
}

// addCells adds the rule's groups.
func (d *decision) addCells(out *report.Rule) {
	c := d.rule.crossing
	out.Cells = make([]report.Cell, len(c.groups))
	for i := range out.Cells {
		cell := report.Cell{Measure: d.q.measure(d.rule.rate, c, i, &d.contest.sides[i], &d.view.cells[i], d.contest.rates[i]), Verdict: d.standing.cells[i]}
		if d.exceeded {
			cell.Verdict = report.InsufficientEvidence
		}
		if cell.Verdict == report.InsufficientEvidence {
			cell.Reason = d.cellReason(i)
		}
		out.Cells[i] = cell
	}
}

// addPairs adds the pairs that are listed, and returns them.
func (d *decision) addPairs(out *report.Rule) []apart {
	pairs, omitted := d.contest.list()
	out.PairsOmitted = omitted
	out.Pairs = make([]report.Pair, len(pairs))
	for i, p := range pairs {
		verdict := report.InsufficientEvidence
		if !d.exceeded && !d.contest.small[p.i] && !d.contest.small[p.j] {
			verdict = d.contest.compare(p.i, p.j, p.interval)
		}
		names := d.rule.crossing.groups
		out.Pairs[i] = report.Pair{Groups: [2]string{names[p.i], names[p.j]}, Estimate: d.contest.estimate(p.i, p.j), Interval: report.PublishInterval(p.interval), Verdict: verdict}
	}
	return pairs
}
