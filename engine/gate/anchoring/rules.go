package anchoring

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// Gate is the anchoring gate.
type Gate struct{}

var _ gate.Gate = Gate{}

// Name implements gate.Gate.
func (Gate) Name() string { return "anchoring" }

// Section implements gate.Gate.
func (Gate) Section() string { return "anchoring" }

const (
	// pairwise is the value of a rule's `interval`.
	pairwise = "pairwise"
	// defaultBlindSample is how many recorded blind comparisons a rule on blind labels needs, where nothing else is said.
	defaultBlindSample = 20
	// mostItems is the largest corpus, far above any that people label a part of.
	mostItems = 1_000_000_000
	// noFile is the problem of a question without files.
	noFile = "no file of labels: name one or more files (CSV or JSONL), a glob, or - for standard input"
)

// rateMetrics are those that can be counted per person, per item and per label, in the order in which they are reported.
var rateMetrics = []string{blindAgreement, visibleAgreement, anchoringGap, acceptanceRate, verifyAcceptance}

// onBlind reports a metric that rests on blind labels.
func onBlind(metric string) bool {
	return slices.Contains([]string{blindAgreement, anchoringGap, peopleAgreement, modelMinusPeople}, metric)
}

// ruleSpec lists the metrics that a rule can name.
func ruleSpec() policy.RuleSpec {
	reported := func(name, why string) policy.MetricSpec {
		return policy.MetricSpec{Name: name, Hint: name + " is reported, never a rule: " + why}
	}
	return policy.RuleSpec{
		MetricKey: "metric",
		Metrics: []policy.MetricSpec{
			{Name: blindAgreement, Upper: 1},
			{Name: visibleAgreement, Upper: 1},
			{Name: anchoringGap, Lower: -1, Upper: 1},
			{Name: acceptanceRate, Upper: 1},
			{Name: verifyAcceptance, Upper: 1},
			{Name: peopleAgreement, Upper: 1},
			{Name: modelMinusPeople, Lower: -1, Upper: 1},
			{Name: "agreement", Hint: "agreement over all labels is partly the model's agreement with itself, since people saw its suggestions; whether it may label the rest is decided on blind_agreement"},
			reported(labellingTime, "a person whom a suggestion moves takes a normal time"),
			reported(kappa, "its interval would need assumptions about the labels; a rule can name blind_agreement or people_agreement"),
			reported(alpha, "its interval would need assumptions about the labels; a rule can name people_agreement"),
		},
		Thresholds: []policy.Kind{policy.Minimum, policy.Maximum},
	}
}

// notSliced says of the gate's own columns why no slice is by them.
var notSliced = map[string]string{
	"annotator":             "is of a label, and a slice by it would show a name (`per: person` counts each annotator once)",
	"suggestion":            "is what labels are held against, so a slice by it selects the items on which the model does well",
	"label":                 "is what the study measures, so a slice by it selects its own result",
	"visibility":            "is of a label, and the metric says which labels it takes",
	"kind":                  "is of a label: which of an item's labels are counted would be chosen by what came of the others",
	"accepted":              "is what the study measures, so a slice by it selects its own result",
	"inclusion_probability": "says how the item was drawn, which the interval weighs",
	"started_at":            "is of a label, and measured",
	"labelled_at":           "is of a label, and measured",
}

// rule is a policy's rule with the keys of this gate.
type rule struct {
	policy.Rule
	form  form
	size  policy.Int // corpus_size, where the rule gives it itself
	terms []gate.Term
	slice string // in words
	doubt string // why it is for a person, by earlier looks; "" for none
}

// question is one study being read and judged.
type question struct {
	source     gate.Source
	judging    policy.Judging
	corpus     policy.Int
	floor      policy.Int
	least      policy.Number
	settings   map[string]string
	inputs     []gate.Input
	rules      []rule
	slicing    gate.Slicing
	policyNote []report.Finding
	prospects  []diag.Diagnostic
	tally      *Tally
	draw       *draw // nil without one
	drawUnread bool  // the policy names one that was not read
	validItems policy.Int
	study      *study // once the rows are checked
}

var _ gate.RowsChecker = (*question)(nil)

// Compile implements gate.Gate.
func (Gate) Compile(source gate.Source, diags *diag.List) gate.Question {
	q := &question{source: source, judging: source.Settings.Judging.WithDefaults(), settings: map[string]string{}}
	files, base := source.Files, ""
	drawPath, drawBase := source.Flags.Draw, ""
	if s := source.Section; s != nil {
		labels := s.Map.TextOrTexts("labels")
		own := s.Map.Text("draw")
		q.readSection(s, diags)
		s.Map.Done(s.Context())
		switch {
		case len(files) > 0:
			q.policyNote = append(q.policyNote, gate.NotRead("labels", labels)...)
		case len(labels) == 0 && source.NoFiles:
		case len(labels) == 0 && !s.Bare:
			s.Map.Errorf(s.Pos, "%s names no labels; add `labels: labels.csv`, or name files on the command line", s.Context())
		case len(labels) == 0:
			diags.Add(diag.Diagnostic{Message: noFile})
		default:
			base = gate.Folder(s.Pos.File)
			for _, l := range labels {
				files = append(files, l.Value)
			}
		}
		switch {
		case !own.Set:
		case drawPath != "":
			q.policyNote = append(q.policyNote, gate.NotRead("draw", []policy.Text{own})...)
		case len(source.Files) > 0:
			q.drawUnread = true
			q.policyNote = append(q.policyNote, report.Finding{Code: "draw_not_read", Severity: report.Warning, Count: 1,
				Message: "The policy's `draw: " + own.Value + "` was not read: files were named on the command line. Name it with --draw (in the action, input draw): which items were drawn blind is not known without it."})
		default:
			drawPath, drawBase = own.Value, gate.Folder(s.Pos.File)
		}
	} else if len(files) == 0 {
		diags.Add(diag.Diagnostic{Message: noFile})
	}
	q.tally = newTally(q.slicing.Columns)
	q.tally.told.showAnnotators = source.Flags.ShowUnits
	known := columns(q.slicing.Columns)
	gate.CheckColumns(Gate{}.Name(), "item, annotator, suggestion, label, visibility, kind, accepted, inclusion_probability, started_at, labelled_at", known, source.Settings.Columns, diags)
	input := gate.ReadAs(source.Settings)
	input.Paths, input.Base, input.Columns, input.Add = files, base, known, q.tally.Add
	q.inputs = []gate.Input{input}
	if drawPath != "" {
		q.draw = newDraw()
		q.inputs = append(q.inputs, gate.Input{Role: "draw", Paths: []string{drawPath}, Base: drawBase, Columns: drawColumns(), Add: q.draw.add})
	}
	return q
}

// readSection reads the gate's keys of a section, and its rules.
func (q *question) readSection(s *policy.Section, diags *diag.List) {
	q.corpus = s.Map.Int("corpus_size", 1, mostItems)
	q.floor = s.Map.Int("minimum_blind_sample", 1, policy.MostPlanned)
	q.least = s.Map.Number("least_inclusion_probability", policy.Range{Min: 0, Max: 1})
	if q.least.Set && q.least.Value <= 0 {
		s.Map.Errorf(q.least.Pos, "least_inclusion_probability is 0; an item that could not be drawn is not spoken of, so the least probability is above 0")
		q.least.Set = false
	}
	for _, key := range []string{"model", "guideline"} {
		t := s.Map.Text(key)
		if t.Set && strings.TrimSpace(t.Value) == "" {
			s.Map.Errorf(t.Pos, "%s is empty; a text is wanted", key)
		} else if t.Set {
			q.settings[key] = t.Value
		}
	}
	until := s.Map.Text("valid_until")
	if until.Set && !policy.ValidDay(until.Value) {
		s.Map.Errorf(until.Pos, "valid_until is %s; write a day of the calendar as YYYY-MM-DD, such as 2027-03-31", diag.Quote(until.Value))
	} else if until.Set {
		q.settings["valid_until"] = until.Value
	}
	q.validItems = s.Map.Int("valid_items", 1, mostItems)
	for key, n := range map[string]policy.Int{"valid_items": q.validItems, "corpus_size": q.corpus, "minimum_blind_sample": q.floor} {
		if n.Set {
			q.settings[key] = strconv.Itoa(n.Value)
		}
	}
	if q.least.Set {
		q.settings["least_inclusion_probability"] = q.least.Text
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

// blindFloor is how many recorded blind comparisons rules on blind labels need.
func (q *question) blindFloor() int {
	if q.floor.Set {
		return q.floor.Value
	}
	return defaultBlindSample
}

// compileRule reads a rule's own keys and checks that they go together.
func (q *question) compileRule(p policy.Rule) rule {
	r := rule{Rule: p}
	per := p.Map.Choice("per", perPerson, perItem, perLabel)
	how := p.Map.Choice("interval", pairwise)
	r.size = p.Map.Int("corpus_size", 1, mostItems)
	p.Map.Done(p.Name())
	r.form = form{per: per.Value, pairwise: how.Set}
	metric := p.Metric.Value
	ownLooks := p.Looks.Set && p.Map.Has("looks")
	byItem := r.form.per == perItem || r.form.per == perLabel || r.form.pairwise
	switch {
	case !p.Metric.Set: // reported already
	case (metric == peopleAgreement || metric == modelMinusPeople) && per.Set:
		p.Map.Errorf(per.Pos, "%s has items as units: the pairs of people on one item hang together; leave per out", metric)
	}
	if p.Metric.Set && how.Set {
		switch {
		case metric != anchoringGap:
			p.Map.Errorf(how.Pos, "interval: pairwise is for anchoring_gap, not for %s", metric)
		case per.Set && r.form.per != perItem:
			p.Map.Errorf(how.Pos, "interval: pairwise compares items, each labelled once; it does not go with per: %s", r.form.per)
		case p.Looks.Value == policy.LooksRepeated:
			p.Map.Errorf(how.Pos, "interval: pairwise holds at one look; it does not go with looks: repeated")
		}
	}
	q.compileCorpus(&r, per)
	if p.Looks.Value == policy.LooksOnce && p.Metric.Set {
		switch {
		case metric == anchoringGap && byItem && ownLooks:
			p.Map.Errorf(p.Looks.Pos, "looks: once plans one number of units, and the gap over items or labels compares two sets of them; leave it out, or use `per: person`")
		case r.form.per == perLabel && ownLooks:
			p.Map.Errorf(p.Looks.Pos, "looks: once fixes the number of units of a mean; a rate per label has an exact interval, which is for one look already")
		case metric == anchoringGap && byItem, r.form.per == perLabel:
			r.Looks, r.Planned, r.MeanMethod = policy.Text{}, policy.Int{}, policy.Text{} // a section's is for its means
		}
	}
	r.terms, r.slice = q.slicing.Terms(q.sliceable(p))
	return r
}

// sliceable returns the conditions of a rule's `where` that are of items. The others are refused and not read: what their
// columns hold, a name perhaps, is nothing to compare between the rows of an item.
func (q *question) sliceable(p policy.Rule) []policy.Pair {
	own := map[string]string{} // the gate's columns that are no item's, by their names in the files
	for name := range notSliced {
		own[name] = name
	}
	for _, c := range q.source.Settings.Columns {
		if _, never := notSliced[c.Key.Value]; never {
			delete(own, c.Key.Value)
			own[strings.TrimSpace(c.Value.Value)] = c.Key.Value
		}
	}
	var kept []policy.Pair
	for _, w := range p.Where {
		name := w.Key.Value
		if _, never := notSliced[name]; !never {
			name = own[name]
		}
		why, never := notSliced[name]
		switch {
		case !never:
			kept = append(kept, w)
		case name == w.Key.Value:
			p.Map.Errorf(w.Key.Pos, "where: %s %s; a slice is of items: take a column that was known of the item beforehand and is the same in all of its rows", name, why)
		default:
			p.Map.Errorf(w.Key.Pos, "where: %s is the files' name for %s, which %s; a slice is of items: take a column that was known of the item beforehand and is the same in all of its rows", diag.Quote(w.Key.Value), name, why)
		}
	}
	return kept
}

// compileCorpus settles which size of a corpus a rule takes: its own, else the section's where it can have one.
func (q *question) compileCorpus(r *rule, per policy.Text) {
	m := r.Map
	switch {
	case !r.size.Set || !r.Metric.Set:
	case r.Metric.Value != blindAgreement:
		m.Errorf(r.size.Pos, "corpus_size is for blind_agreement, which decides whether the model may label the rest; it is not for %s", r.Metric.Value)
	case per.Set && r.form.per != perItem:
		m.Errorf(r.size.Pos, "corpus_size counts items; it does not go with per: %s (per: item has items as units)", r.form.per)
	case r.Where != nil:
		m.Errorf(r.size.Pos, "corpus_size does not go with where: how many of the corpus's items are in the slice, and how many of those were drawn, is not in the files")
	}
	applies := r.Metric.Value == blindAgreement && (r.form.per == "" || r.form.per == perItem) && r.Where == nil
	switch {
	case !applies:
	case r.size.Set:
		r.form.corpus, r.form.own = r.size.Value, true
	case q.corpus.Set:
		r.form.corpus = q.corpus.Value
	}
	if r.form.corpus == 0 {
		return
	}
	switch {
	case r.Looks.Value == policy.LooksRepeated && (r.form.own || r.form.per == perItem):
		m.Errorf(r.Looks.Pos, "looks: repeated does not go with corpus_size: the interval for a finite corpus (hypergeometric) holds at one look and has no repeated form")
	case r.Looks.Value == policy.LooksOnce && m.Has("looks") && (r.form.own || r.form.per == perItem):
		m.Errorf(r.Looks.Pos, "looks: once does not go with corpus_size: the interval for a finite corpus holds at one look, at the number of items drawn")
	}
}

// Prospects implements gate.Question.
func (q *question) Prospects() []diag.Diagnostic {
	list := slices.Clone(q.prospects)
	for _, r := range q.rules {
		scale, units := interval.Unit, "items"
		switch {
		case r.Threshold == nil || r.Looks.Value != policy.LooksOnce || r.form.corpus > 0:
			continue
		case r.Metric.Value == modelMinusPeople:
			scale = interval.Difference
		case r.Metric.Value == peopleAgreement || r.form.per == perItem:
		case r.form.per != perPerson:
			continue
		case r.Metric.Value == anchoringGap:
			scale, units = interval.Difference, "annotators"
		default:
			units = "annotators"
		}
		out := gate.Start(&r.Rule)
		for _, never := range gate.NeverAtPlan(out.Threshold, scale, r.Judging) {
			list = append(list, diag.Diagnostic{Pos: r.Pos, Message: fmt.Sprintf("%s can never %s with %d %s planned%s", r.Name(), never.What, r.Planned.Value, units, never.Why)})
		}
	}
	for i := range q.rules {
		list = append(list, q.neverAtFloor(&q.rules[i])...)
	}
	return list
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

// CheckRows implements gate.RowsChecker.
func (q *question) CheckRows(diags *diag.List) {
	q.study = newStudy(q.tally, q.draw, q.source.Flags.ShowUnits, diags)
	q.checkSizes(diags)
	q.checkLeast(diags)
}

// checkSizes reports sizes of the corpus that the files contradict, and a validity for more items than are left to hand
// over; how many are left is one of the settings.
func (q *question) checkSizes(diags *diag.List) {
	known := len(q.study.items)
	if q.draw != nil {
		known = len(q.draw.items)
		for _, item := range q.study.items {
			if _, drawn := q.draw.items[item]; !drawn {
				known++
			}
		}
	}
	drawn, least := q.study.drawnBlind(), -1
	for _, size := range append([]policy.Int{q.corpus}, q.ownSizes()...) {
		switch {
		case !size.Set:
			continue
		case q.draw != nil && len(q.draw.items) != size.Value:
			diags.Addf(size.Pos, "corpus_size is %d, and the draw has %s; the two are the same", size.Value, gate.Plural(len(q.draw.items), "item", "items"))
		case q.draw != nil && known > size.Value:
			diags.Addf(size.Pos, "corpus_size is %d, fewer than the %d items of the files and the draw together; a draw has every item of the corpus", size.Value, known)
		case known > size.Value:
			diags.Addf(size.Pos, "corpus_size is %d, fewer than the %d items of the files", size.Value, known)
		}
		if rest := size.Value - drawn; rest >= 0 && (least < 0 || rest < least) {
			least = rest
		}
	}
	if least < 0 {
		return
	}
	q.settings["corpus_rest"] = strconv.Itoa(least)
	if q.validItems.Set && q.validItems.Value > least {
		diags.Addf(q.validItems.Pos, "valid_items is %d, more than the %s of the corpus that were not drawn blind and are left to hand over", q.validItems.Value, gate.Plural(least, "item", "items"))
	}
}

// ownSizes are the sizes of the corpus that rules give themselves.
func (q *question) ownSizes() []policy.Int {
	var list []policy.Int
	for _, r := range q.rules {
		list = append(list, r.size)
	}
	return list
}

// checkLeast reports chances below the one that the policy declares to be the least.
func (q *question) checkLeast(diags *diag.List) {
	if !q.least.Set {
		return
	}
	least, _, err := rows.ParseDecimal(q.least.Text)
	if err != nil || least.Sign() <= 0 {
		diags.Addf(q.least.Pos, "least_inclusion_probability is %s; write it with at most %d decimals", q.least.Text, rows.Places)
		return
	}
	below := func(c chance) {
		if c != (chance{}) && c.value.Cmp(least) < 0 {
			diags.Addf(c.pos, "inclusion_probability is %s, less than the least_inclusion_probability of the policy, %s", c.value, q.least.Text)
		}
	}
	if q.draw != nil {
		for _, d := range q.draw.items { // what is reported is sorted by place
			below(d.chance)
		}
		return
	}
	for _, c := range q.tally.chances {
		below(c)
	}
}

// Share implements gate.Question.
func (q *question) Share(families policy.Families) {
	for i := range q.rules {
		q.rules[i].Share(families)
	}
}

// Judge implements gate.Question.
func (q *question) Judge(rule, parts int) (report.Rule, error) {
	j, err := q.readings(q.rules[rule].under(q.rules[rule].Judging.Divided(parts)), q.study.whole(q.judging, q.least), q.study.otherReadings())
	return j.Rule, err
}

// Units implements gate.Question.
func (q *question) Units(rule int) (gate.Units, error) {
	r := &q.rules[rule]
	all := q.study.whole(q.judging, q.least)
	j, err := q.judge(r, all, "")
	if err != nil || j.Interval == nil {
		return gate.Units{}, err
	}
	own := fmt.Sprint(all.unitOf(r.form), r.form.pairwise, r.form.corpus, q.draw != nil)
	u := gate.UnitsOf(Gate{}, q.source, &r.Rule, j.Measure, own, q.least.Text, q.settings["model"])
	u.Grows, u.Parts = j.measured.grows, j.measured.units
	return u, nil
}

// Doubt implements gate.Question.
func (q *question) Doubt(rule int, why string) { q.rules[rule].doubt = why }

// Answer implements gate.Question.
func (q *question) Answer(c gate.Context) (gate.Answer, error) {
	if q.study == nil {
		return gate.Answer{}, fmt.Errorf("the rows were not checked before they were evaluated")
	}
	s := q.study
	all := s.whole(q.judging, q.least)
	f := s.findings(q.tally, q.blindFloor(), q.source.Flags.ShowUnits)
	g := report.Gate{Gate: Gate{}.Name(), Settings: q.settings, Summary: all.summary(), Data: all.data(), Assumptions: s.assumptions(), Limits: all.limits()}
	if q.source.Section != nil {
		g.Name = q.source.Section.Name.Value
	}
	g.MinShown = q.source.Settings.MinShown.Value
	if q.source.Verb != gate.Check {
		measures, err := q.measures(all, &f)
		if err != nil {
			return gate.Answer{}, err
		}
		for _, m := range measures {
			g.Measures = append(g.Measures, m.Measure)
		}
	}
	var settled []report.Finding
	if q.source.Verb == gate.Decide {
		others := s.otherReadings()
		for i := range q.rules {
			r, findings, err := c.Decide(&q.rules[i].Rule, func(j policy.Judging) (report.Rule, error) { return q.decide(&q.rules[i], j, all, others) })
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

// measures lists every measure of the study: over people first where there are several, then over items, and over labels
// where that is exact.
func (q *question) measures(all *view, f *gate.Found) ([]measured, error) {
	var list []measured
	var err error
	add := func(v *view, metric, per string) *measured {
		if err != nil {
			return nil
		}
		if (metric == acceptanceRate || metric == verifyAcceptance) && len(v.sampleOf(metric).list) == 0 {
			return nil // nothing of the kind was asked
		}
		var m measured
		m, err = v.metric(metric, form{per: per, corpus: q.corpus.Value})
		if per == perLabel && m.doubts != (gate.Doubts{}) {
			return nil // not exact; a rule can still ask for it
		}
		list = append(list, m)
		return &m
	}
	items := all // what a section plans is its units: annotators where there are several
	units := []string{perItem}
	if !all.single() {
		items = all.with(all.exactJudging())
		units = []string{perPerson, perItem, perLabel}
	}
	main := map[string]*measured{}
	for _, per := range units {
		v := items
		if per == perPerson {
			v = all
		}
		for _, metric := range rateMetrics {
			m := add(v, metric, per)
			if main[metric] == nil {
				main[metric] = m
			}
		}
	}
	if !all.single() {
		for _, metric := range []string{peopleAgreement, modelMinusPeople} {
			if m, failed := items.people(metric); failed != nil {
				err = failed
			} else if *m.Units > 0 { // else the limits say that nobody can be compared
				list = append(list, m)
				main[metric] = &m
			}
		}
	}
	if err != nil {
		return nil, err
	}
	beside(f, main[blindAgreement], main[peopleAgreement], main[anchoringGap])
	list = append(list, all.corrected()...)
	for _, side := range []struct {
		name    string
		entries []entry
	}{{"blind", all.blind}, {"visible", all.visible}} {
		times, err := all.times(side.name, side.entries)
		if err != nil {
			return nil, err
		}
		list = append(list, times...)
	}
	return list, nil
}

// decide measures one rule under some settings and compares it. Where another reading of the rows would turn it, a person
// decides.
func (q *question) decide(as *rule, settings policy.Judging, all *view, others []otherReading) (report.Rule, error) {
	r := as.under(settings)
	j, err := q.readings(r, all, others)
	if err != nil {
		return j.Rule, err
	}
	out, m := &j.Rule, j.measured
	if out.Verdict == report.InsufficientEvidence && m.doubts.Undecided.Why == "" && m.reach != nil {
		out.Reason += m.reach.beyond(out.Threshold)
	}
	switch {
	case out.Verdict == report.InsufficientEvidence && m.doubts.Undecided.Why != "":
		out.Needs = &m.doubts.Undecided.Needs
	case out.Verdict == report.InsufficientEvidence && m.need != nil:
		out.Needs = m.need(out.Threshold)
		if m.tip != nil {
			if out.TippingPoint, err = m.tip(out.Threshold); err != nil {
				return *out, fmt.Errorf("%s: %w", r.Name(), err)
			}
		}
	case out.Verdict == report.ManualReview && r.doubt != "":
		out.Needs = gate.NewLedger()
	case out.Verdict == report.ManualReview && r.form.per == perLabel:
		out.Needs = &report.Needs{What: "a person to decide, or `per: person` or `per: item` on the rule"}
	case out.Verdict == report.ManualReview:
		out.Needs = &report.Needs{What: "a person to decide"}
	}
	return *out, nil
}

// under is the rule with other settings.
func (r *rule) under(j policy.Judging) *rule {
	other := *r
	other.Judging = j
	return &other
}

// readings measures one rule and compares it, as the rows stand and then as they may be meant as well.
func (q *question) readings(r *rule, all *view, others []otherReading) (judged, error) {
	j, err := q.judge(r, all, q.brokenDraw(r.Metric.Value, q.study))
	if err != nil {
		return j, err
	}
	for _, other := range others {
		if j.Verdict != report.Pass && j.Verdict != report.Fail {
			break
		}
		departs := "" // in another order: which departs from the draw is told of the order as it is
		if !other.reordered {
			departs = q.brokenDraw(r.Metric.Value, other.study) // a marker in place of an empty label hides no departure
		}
		then, err := q.judge(r, other.study.whole(q.judging, q.least), departs)
		if err != nil {
			return j, err
		}
		if then.Verdict != j.Verdict {
			gate.Conclude(&j.Rule, gate.Doubts{Review: other.turns(j.Verdict, then.Verdict)})
		}
	}
	return j, nil
}

// judged is a rule, measured and compared.
type judged struct {
	report.Rule
	measured measured
}

// judge measures one rule under one reading of the rows and compares it; review says why it is for a person all the same.
func (q *question) judge(r *rule, all *view, review string) (judged, error) {
	v := all.with(r.Judging).sliced(r.terms, r.slice)
	m, err := v.metric(r.Metric.Value, r.form)
	if err != nil {
		return judged{}, err
	}
	j := judged{Rule: gate.Start(&r.Rule)}
	j.Measure = m.Measure
	j.Assumptions = append(slices.Clone(m.sentences), v.ruleAssumptions(r)...)
	if len(r.terms) > 0 && len(v.blind)+len(v.visible)+len(v.verify) == 0 {
		m.doubts.Undecided = gate.Doubtful(all.emptySlice(q.slicing.Columns, r.terms), gate.EmptySlice)
	}
	if n := v.blindLabels(r.Metric.Value); m.doubts.Undecided.Why == "" && onBlind(r.Metric.Value) && n < q.blindFloor() {
		m.doubts.Undecided = gate.Doubt{Why: tooFew(n, q.blindFloor()),
			Needs: report.Needs{What: "recorded blind comparisons in all (minimum_blind_sample)", AtLeast: q.blindFloor()}}
	}
	if m.doubts.Undecided.Why == "" {
		m.doubts.Undecided = leftOutDoubt(m, r.MaxLeftOut)
	}
	if m.doubts.Undecided.Why == "" {
		m.doubts.Undecided = v.looksDoubt(r)
	}
	if review != "" {
		m.doubts.Review = review
	}
	m.doubts.Review = gate.Both(m.doubts.Review, r.doubt)
	gate.Conclude(&j.Rule, m.doubts)
	j.measured = m
	return j, nil
}

// brokenDraw says why a rule of this metric is for a person because of the draw, by a reading of the rows; "" where it is not.
func (q *question) brokenDraw(metric string, s *study) string {
	switch n := s.departures(); {
	case !onBlind(metric):
		return ""
	case q.drawUnread:
		return "The policy names a draw, and it was not read, because files were named on the command line: add --draw, so that the blind labels can be held against it."
	case n > 0:
		return fmt.Sprintf("%s not as the draw says: a person must decide whether the blind items are still the ones that were drawn.", gate.Plural(n, "row is", "rows are"))
	}
	return ""
}

// looksDoubt says that a rule's looks do not go with what the files turned out to be.
func (v *view) looksDoubt(r *rule) gate.Doubt {
	const without = "the rule without looks"
	switch {
	case !v.usesCorpus(r) && (r.Metric.Value != anchoringGap || v.unitOf(r.form) == perPerson):
	case v.usesCorpus(r) && r.Looks.Value == policy.LooksRepeated:
		return gate.Doubtful("looks: repeated has no interval for a finite corpus: leave looks or corpus_size out.", without+", or without corpus_size")
	case r.Looks.Value == policy.LooksOnce && r.Map.Has("looks") && v.usesCorpus(r):
		return gate.Doubtful("looks: once has no interval for a finite corpus, which holds at the number of items drawn: leave looks or corpus_size out.", without+", or without corpus_size")
	case r.Looks.Value == policy.LooksOnce && r.Map.Has("looks"):
		return gate.Doubtful("looks: once plans one number of units, and with one annotator the gap compares two sets of items: leave looks out.", without)
	}
	return gate.Doubt{}
}

// blindLabels counts what the floor is about: recorded blind labels with a suggestion to compare with; for people_agreement,
// which compares people with each other, with or without one.
func (v *view) blindLabels(metric string) int {
	n := 0
	for _, e := range v.blind {
		if e.label.recorded && (e.suggestion.recorded || metric == peopleAgreement) {
			n++
		}
	}
	return n
}

// otherReading is what the rows may mean as well.
type otherReading struct {
	*study
	reordered bool                                  // with suggestions seen first
	turns     func(is, would report.Verdict) string // says that it would turn a rule
}

// otherReadings lists the readings that could turn a rule: labels that look like markers of missing values as missing, and rows
// that only their place orders in the other order.
func (s *study) otherReadings() []otherReading {
	var list []otherReading
	if all := s.markers(false); all.count > 0 {
		which := "which may mean that nothing was recorded, also where the model suggests it; as a label it brings the rule to"
		if s.markers(true).count == all.count {
			which = "which no suggestion equals; here that counts as disagreeing, and the rule comes to"
		}
		list = append(list, otherReading{s.reread(false, all.values), false, func(is, would report.Verdict) string {
			return fmt.Sprintf("%s %s, %s %s. Were nothing recorded there, it would come to %s: if that is what it means, list it under `missing_values`.",
				gate.Plural(all.count, "label is", "labels are"), gate.Quoted(all.values), which, is, would)
		}})
	}
	if s.placed > 0 {
		list = append(list, otherReading{s.reread(true, nil), true, func(is, would report.Verdict) string {
			return fmt.Sprintf("Of %s only the place in the files tells whether the blind or the visible row came first; as they stand the rule comes to %s. Had the suggestion been seen first in all of them, it would come to %s: record labelled_at on every row.",
				gate.Plural(s.placed, "pair of a person and an item", "pairs of a person and an item"), is, would)
		}})
	}
	if all := s.markers(false); all.count > 0 && s.placed > 0 {
		list = append(list, otherReading{s.reread(true, all.values), true, func(is, would report.Verdict) string {
			return fmt.Sprintf("%s %s, which may mean that nothing was recorded, and of %s only the place in the files tells which row came first; as they stand the rule comes to %s, and read the other way together to %s.",
				gate.Plural(all.count, "label is", "labels are"), gate.Quoted(all.values), gate.Plural(s.placed, "pair of a person and an item", "pairs of a person and an item"), is, would)
		}})
	}
	return list
}

// emptySlice says of a slice without a label what its columns hold.
func (v *view) emptySlice(columns []string, terms []gate.Term) string {
	var parts []string
	for _, t := range terms {
		seen := map[string]bool{}
		for _, values := range v.where {
			if w := values[t.Column]; w.recorded {
				seen[w.value] = true
			}
		}
		if !seen[t.Value] {
			parts = append(parts, fmt.Sprintf("no row has %s in the column %s, which holds %s", diag.Quote(t.Value), diag.Quote(columns[t.Column]), gate.Quoted(sortedKeys(seen))))
		}
	}
	if len(parts) == 0 {
		return "Nothing was evaluated: no row has all the values of `where` together."
	}
	return "Nothing was evaluated: " + strings.Join(parts, "; ") + "."
}
