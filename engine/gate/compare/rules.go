package compare

import (
	"fmt"
	"maps"
	"math"
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

// Gate is the compare gate.
type Gate struct{}

var _ gate.Gate = Gate{}

// Name implements gate.Gate.
func (Gate) Name() string { return "compare" }

// Section implements gate.Gate.
func (Gate) Section() string { return "compare" }

// The values of the section's and the rules' own keys.
const (
	sampled = "sampled"
	fixed   = "fixed"
)

// What can be planned: far above any run, and few enough to be held and counted.
const (
	mostCases  = 1_000_000
	mostTrials = 100_000
)

// noFile is the problem of a question without files.
const noFile = "no file of trials: name one or more files (CSV or JSONL), a glob, or - for standard input; or a file for each version with --baseline and --candidate"

// ruleSpec lists the metrics that a rule can name.
func ruleSpec() policy.RuleSpec {
	return policy.RuleSpec{
		MetricKey: "metric",
		Metrics: []policy.MetricSpec{
			{Name: signTest, NoThreshold: true},
			{Name: difference, Lower: -1, Upper: 1},
			{Name: rate, Upper: 1},
			{Name: passAtK, Upper: 1},
			{Name: passAllK, Upper: 1},
		},
		Thresholds: []policy.Kind{policy.Minimum, policy.Maximum},
	}
}

// rule is a policy's rule with the keys of this gate.
type rule struct {
	policy.Rule
	k     policy.Int
	role  int // baseline or candidate, of metrics of one version
	terms []gate.Term
	slice string // in words
	doubt string // why it is for a person, by earlier looks; "" for none
}

// ofPasses reports whether the rule's metric counts passes of k trials.
func (r *rule) ofPasses() bool { return r.Metric.Value == passAtK || r.Metric.Value == passAllK }

// ofOne reports whether the rule's metric is about one version.
func (r *rule) ofOne() bool { return r.Metric.Value == rate || r.ofPasses() }

// question is one comparison being read and judged.
type question struct {
	source     gate.Source
	judging    policy.Judging
	names      [2]policy.Text // of the versions; not set where they are not named
	misnamed   bool           // one of them was named, which is reported
	ownFiles   bool           // each version is a file of its own
	own        bool           // likewise, or was where its trials were counted
	caseList   policy.Text    // sampled or fixed; not set where the policy does not say
	fixed      bool
	plan       plan
	inputs     []gate.Input
	rules      []rule
	slicing    gate.Slicing
	policyNote []report.Finding
	prospects  []diag.Diagnostic
	tally      *Tally
	seen       *overview // once the rows are checked
}

var _ gate.RowsChecker = (*question)(nil)

// Compile implements gate.Gate.
func (Gate) Compile(source gate.Source, diags *diag.List) gate.Question {
	q := &question{source: source, judging: source.Settings.Judging.WithDefaults()}
	var trials []policy.Text
	var named [2]policy.Text
	base := ""
	if s := source.Section; s != nil {
		trials = s.Map.TextOrTexts("trials")
		for role, key := range roles {
			named[role] = s.Map.Text(key)
		}
		q.readSection(s)
		s.Map.Done(s.Context())
		base = gate.Folder(s.Pos.File)
	}
	given := [2]string{source.Flags.Baseline, source.Flags.Candidate}
	var files [2]string // of the two versions, where each is a file
	var paths []string
	switch {
	case source.Tallies:
		b, c := named[baseline], named[candidate]
		if q.own = given == [2]string{} && len(trials) == 0 && b.Set && c.Set && !bare(b.Value) && !bare(c.Value); q.own {
			q.nameByRole()
		} else {
			q.nameVersions(named, given, diags)
		}
	case len(source.Files) > 0:
		paths, base = source.Files, ""
		q.policyNote = append(q.policyNote, gate.NotRead("trials", trials)...)
		q.nameVersions(named, given, diags)
	case given != [2]string{}:
		files, base = given, ""
		q.policyNote = append(q.policyNote, gate.NotRead("trials", trials)...)
		for role, n := range named {
			if n.Set {
				q.policyNote = append(q.policyNote, report.Finding{Code: "policy_version_not_used", Severity: report.Note, Count: 1,
					Message: "The policy's `" + roles[role] + ": " + n.Value + "` was not used: the command line names a file for each version."})
			}
		}
		named = [2]policy.Text{}
	case len(trials) > 0:
		for _, t := range trials {
			paths = append(paths, t.Value)
		}
		q.nameVersions(named, given, diags)
	case named[baseline].Set || named[candidate].Set:
		files = [2]string{named[baseline].Value, named[candidate].Value}
	case source.NoFiles:
	case source.Section != nil && !source.Section.Bare:
		s := source.Section
		s.Map.Errorf(s.Pos, "%s names no trials; add `trials: trials.csv`, or a file for each version as baseline and candidate, or name files on the command line", s.Context())
	default:
		diags.Add(diag.Diagnostic{Message: noFile})
	}
	q.ownFiles = files != [2]string{}
	q.own = q.own || q.ownFiles
	q.readFrom(paths, files, base, named, diags)
	return q
}

// nameByRole names the versions by their roles: each is a file of its own.
func (q *question) nameByRole() {
	for role, name := range roles {
		q.names[role] = policy.Text{Value: name, Set: true}
	}
}

// nameVersions settles the names of the two versions, from the command line and the policy.
func (q *question) nameVersions(named [2]policy.Text, given [2]string, diags *diag.List) {
	for role, n := range named {
		flag := given[role]
		switch {
		case n.Set && flag != "" && n.Value != flag:
			diags.Addf(n.Pos, "%s is %s here and %s in --%s; say it once, or the same in both", roles[role], diag.Quote(n.Value), diag.Quote(flag), roles[role])
		case flag != "":
			n = policy.Text{Value: flag, Set: true}
		}
		q.names[role] = n
	}
	b, c := q.names[baseline], q.names[candidate]
	switch {
	case b.Set != c.Set:
		one, other := baseline, candidate
		if c.Set {
			one, other = candidate, baseline
		}
		diags.Addf(q.names[one].Pos, "%s is named and %s is not; name both versions, or neither", roles[one], roles[other])
		q.names, q.misnamed = [2]policy.Text{}, true
	case b.Set && b.Value == c.Value:
		diags.Addf(c.Pos, "baseline and candidate are both %s; comparing needs two versions", diag.Quote(c.Value))
	}
}

// readFrom sets up the inputs: files of any versions, or one file for each of the two.
func (q *question) readFrom(paths []string, files [2]string, base string, named [2]policy.Text, diags *diag.List) {
	q.tally = newTally(q.slicing.Columns)
	known := columns(q.slicing.Columns, q.ownFiles)
	gate.CheckColumns(Gate{}.Name(), "version, case, trial, passed, score", known, q.source.Settings.Columns, diags)
	input := gate.ReadAs(q.source.Settings)
	input.Paths, input.Base, input.Columns = paths, base, known
	if !q.ownFiles {
		input.Add, input.Share = q.tally.Add, q.share(func(t *Tally) func(rows.Row, *diag.List) { return t.Add })
		input.Once = q.once(colVersion, colCase, colTrial)
		q.inputs = []gate.Input{input}
		return
	}
	switch at := named[candidate].Pos; {
	case files[baseline] == "" || files[candidate] == "":
		for role, file := range files {
			if file == "" {
				diags.Addf(named[1-role].Pos, "no file of trials is named, so %s is read as a file, and none is given as %s; give a file for each version, or name files that hold both", roles[1-role], roles[role])
			}
		}
		return
	case !q.source.NoFiles && bare(files[baseline]) && bare(files[candidate]):
		b, c := files[baseline], files[candidate]
		diags.Addf(named[baseline].Pos, "no file of trials is named, so baseline and candidate are read as files, and %s and %s look like names of versions; name the files of trials (`trials` in the policy, or on the command line), or write ./%s and ./%s where they are files",
			diag.Quote(b), diag.Quote(c), diag.Printable(b), diag.Printable(c))
		return
	case files[baseline] == files[candidate]:
		diags.Addf(at, "baseline and candidate are the same file, %s; comparing needs two", diag.Quote(files[baseline]))
	}
	q.nameByRole()
	for role, file := range files {
		input.Role, input.Paths, input.Once = roles[role], []string{file}, q.once(colCase, colTrial)
		input.Add, input.Share = q.tally.AddTo(role), q.share(func(t *Tally) func(rows.Row, *diag.List) { return t.AddTo(role) })
		q.inputs = append(q.inputs, input)
	}
}

// once says that a trial has one row, known by these columns; none where that is assumed.
func (q *question) once(columns ...int) []rows.Once {
	if q.source.Flags.AssumeUniqueIDs {
		return nil
	}
	return []rows.Once{{Columns: columns, Same: func(_ []string, first diag.Pos) string {
		return fmt.Sprintf("the same version, case and trial as at %s; a trial has one row (leave trial empty where trials have no names)", first)
	}}}
}

// share counts the rows of an input in several tallies at once, each row by what add returns for its tally, and then adds them to the question's.
func (q *question) share(add func(*Tally) func(rows.Row, *diag.List)) func() (begin func() func(rows.Row) bool, end func() bool) {
	return func() (begin func() func(rows.Row) bool, end func() bool) {
		var tallies []*Tally
		begin = func() func(rows.Row) bool {
			t, problems := newTally(q.tally.where), &diag.List{}
			tallies = append(tallies, t)
			count := add(t)
			return func(r rows.Row) bool {
				count(r, problems)
				return problems.Len() == 0
			}
		}
		end = func() bool {
			total := tallies[0]
			for _, t := range tallies[1:] {
				if !total.Merge(t) {
					return false
				}
			}
			return q.tally.Merge(total)
		}
		return begin, end
	}
}

// bare reports whether a name is more likely a version's than a file's: without an ending, a folder or a pattern.
func bare(name string) bool { return name != "-" && !strings.ContainsAny(name, `./\*?[`) }

// readSection reads the gate's keys of a section, and its rules.
func (q *question) readSection(s *policy.Section) {
	q.caseList = s.Map.Choice("case_list", sampled, fixed)
	q.fixed = q.caseList.Value == fixed
	if p := s.Map.Map("plan"); p != nil {
		cases, trials := p.Int("cases", 1, mostCases), p.Int("trials", 1, mostTrials)
		p.Done("plan")
		for _, key := range []string{"cases", "trials"} {
			if !p.Has(key) {
				p.Errorf(s.Map.KeyPos("plan"), "plan has no %s; it needs both, as in {cases: 8, trials: 5}", key)
			}
		}
		q.plan = plan{cases.Value, trials.Value}
	}
	rules, findings := policy.ReadRules(s, q.source.Settings, ruleSpec())
	q.checkPlanned(s.Map, q.judging, false)
	for i := range rules {
		q.rules = append(q.rules, q.compileRule(rules[i]))
	}
	if own := q.source.Settings.Looks; q.fixed && len(rules) == 0 && own.Value == policy.LooksOnce {
		s.Map.Errorf(own.Pos, onceOnFixed)
	}
	q.policyNote = append(q.policyNote, gate.NoteThresholds(findings)...)
	for _, f := range findings {
		q.prospects = append(q.prospects, diag.Diagnostic{Pos: f.Pos, Message: f.Message})
	}
}

// checkPlanned reports a number of cases for looks: once that is not the plan's. Of a slice fewer cases may be planned. A
// section's own mistake comes once a rule too, at one place and in the same words, and is printed once.
func (q *question) checkPlanned(m *policy.Map, j policy.Judging, slice bool) {
	n := j.Planned.Value
	if q.plan.cases == 0 || j.Looks.Value != policy.LooksOnce || !j.Planned.Set || n == q.plan.cases || slice && n < q.plan.cases {
		return
	}
	m.Errorf(j.Planned.Pos, "planned is %d, and plan says %s; say the same number in both (only a rule with `where` may plan fewer)", n, gate.Plural(q.plan.cases, "case", "cases"))
}

// onceOnFixed is the problem of the interval for a planned number of cases on a list that was not drawn.
const onceOnFixed = "looks: once is for cases that are drawn, and case_list: fixed says that they are not; leave looks out: on a fixed list trials are the units"

// compileRule reads a rule's own keys and checks that they go together.
func (q *question) compileRule(p policy.Rule) rule {
	r := rule{Rule: p, role: candidate}
	r.k = p.Map.Int("k", 1, math.MaxInt32)
	version := p.Map.Choice("version", roles[:]...)
	p.Map.Done(p.Name())
	if version.Value == roles[baseline] {
		r.role = baseline
	}
	switch metric := p.Metric.Value; {
	case !p.Metric.Set: // reported already
	case r.ofPasses() && !p.Map.Has("k"):
		p.Map.Errorf(p.Metric.Pos, "%s has no k; say of how many trials, such as k: 5", p.Name())
	case !r.ofPasses() && p.Map.Has("k"):
		p.Map.Errorf(p.Map.KeyPos("k"), "k is for pass_at_k and pass_all_k, not for %s", metric)
	case q.beyondPlan(&r):
		p.Map.Errorf(r.k.Pos, "k is %d, and plan says %s of a case; allowed: 1 to %d", r.k.Value, gate.Plural(q.plan.trials, "trial", "trials"), q.plan.trials)
	}
	if p.Metric.Set && !r.ofOne() && version.Set {
		p.Map.Errorf(version.Pos, "%s compares both versions; leave version out", p.Metric.Value)
	}
	if p.Looks.Value == policy.LooksOnce {
		switch {
		case q.fixed:
			p.Map.Errorf(p.Looks.Pos, onceOnFixed)
		case p.Metric.Value == signTest:
			if p.Map.Has("looks") {
				p.Map.Errorf(p.Looks.Pos, "looks: once fixes the number of units of a mean; sign_test is exact for one look already")
			}
			r.Looks, r.Planned, r.MeanMethod = policy.Text{}, policy.Int{}, policy.Text{} // a section's is for its means
		}
	}
	for _, w := range p.Where {
		if name := w.Key.Value; slices.Contains([]string{"version", "trial", passed.String(), score.String()}, name) {
			p.Map.Errorf(w.Key.Pos, "where: %s is what trials set or measure, and a slice is of cases; slice by something of the case that was known beforehand", name)
		}
	}
	if p.Where != nil && cap(p.Where) == 0 { // without an entry; a value that cannot be read is reported already
		p.Map.Errorf(p.Map.KeyPos("where"), "where is empty; name a column and the value that it must have, as in {level: hard}, or leave where out for all cases")
	}
	r.terms, r.slice = q.slicing.Terms(p.Where)
	q.checkPlanned(p.Map, r.Judging, r.terms != nil)
	return r
}

// beyondPlan reports whether a rule's k is more than the planned trials of a case.
func (q *question) beyondPlan(r *rule) bool {
	return r.ofPasses() && q.plan.trials > 0 && r.k.Value > q.plan.trials
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
		r := &q.rules[i]
		cases := q.plan.cases
		if r.Looks.Value == policy.LooksOnce {
			cases = r.Planned.Value
		}
		if cases == 0 || r.terms != nil || !r.Metric.Set {
			continue
		}
		say := func(never gate.Never) {
			list = append(list, diag.Diagnostic{Pos: r.Pos, Message: fmt.Sprintf("%s can never %s with %s planned%s",
				r.Name(), never.What, gate.Plural(cases, "case", "cases"), never.Why)})
		}
		if r.Metric.Value == signTest {
			v := view{judging: r.Judging}
			if all := (signs{better: cases}); v.shows(all) == uncertain {
				say(gate.Never{What: "pass or fail", Why: ": p is " + v.pText(v.p(all)) + " where all of them move one way"})
			}
			continue
		}
		scale, judging := interval.Unit, r.Judging
		judging.Planned.Value = cases
		switch {
		case r.Threshold == nil || q.beyondPlan(r):
			continue
		case r.Metric.Value == difference:
			scale = interval.Difference
		case !judging.Looks.Set && (q.plan.trials == 1 || r.ofPasses() && r.k.Value == q.plan.trials):
			// Cases are 0 or 1, and all alike: there the planned interval is the exact one.
			judging.Looks = policy.Text{Value: policy.LooksOnce}
		}
		if q.fixed && !judging.Looks.Set && q.plan.trials > 0 && (!r.ofPasses() || r.k.Value == q.plan.trials) {
			for _, never := range q.neverOnList(r) {
				say(never)
			}
			continue
		}
		for _, never := range gate.NeverAtPlan(gate.Start(&r.Rule).Threshold, scale, judging) {
			say(never)
		}
	}
	return list
}

// neverOnList says whether a rule on a fixed list can never pass or fail at the plan: there results are the units, trials or, of
// pass_at_k and pass_all_k, cases, and the most favourable ones are all alike.
func (q *question) neverOnList(r *rule) []gate.Never {
	method, n := interval.FixedListRate, q.plan.cases*q.plan.trials
	switch {
	case r.Metric.Value == difference:
		method, n = interval.FixedListDifference, 2*n
	case r.ofPasses():
		n = q.plan.cases
	}
	t := gate.Start(&r.Rule).Threshold
	worst, err1 := method(0, 0, n, r.Confidence.Value)
	best, err2 := method(n, 0, n, r.Confidence.Value)
	if err1 != nil || err2 != nil {
		return nil
	}
	return gate.NeverBetween(t, worst, best)
}

// CheckRows implements gate.RowsChecker: what only all rows together can show.
func (q *question) CheckRows(diags *diag.List) {
	t := q.tally
	if len(t.about) == 0 {
		return // no file was named, which is reported
	}
	q.checkResults(diags)
	names, ok := q.versions(diags)
	if !ok {
		return
	}
	q.seen = t.overview(names, q.plan)
	all := q.whole(q.judging)
	for i := range q.rules {
		q.checkK(&q.rules[i], all, diags)
	}
}

// checkResults reports files that record no result.
func (q *question) checkResults(diags *diag.List) {
	for _, name := range slices.Sorted(maps.Keys(q.tally.about)) {
		if !q.tally.about[name].hasResult {
			diags.Addf(diag.Pos{File: name}, "neither a column passed nor a column score was found; a trial has one of them: add it, or name the one that holds it under columns in the policy")
		}
	}
}

// versions returns the names of the two versions that are compared, empty ones where none are named and nothing is
// to be decided.
func (q *question) versions(diags *diag.List) (names [2]string, ok bool) {
	found := slices.Sorted(maps.Keys(q.tally.versions))
	ok = true
	for role, n := range q.names {
		names[role] = n.Value
		if !n.Set || q.tally.versions[n.Value] != nil {
			continue
		}
		hint := ""
		if near := diag.Nearest(n.Value, found); near != "" {
			hint = "; did you mean " + diag.Quote(near) + "?"
		}
		diags.Addf(n.Pos, "%s is %s, which is not among the versions of the files: %s%s", roles[role], diag.Quote(n.Value), gate.Quoted(found), hint)
		ok = false
	}
	if q.names[baseline].Set || q.source.Verb != gate.Decide || !ok || q.misnamed {
		return names, ok && !q.misnamed
	}
	if len(found) == 1 {
		diags.Addf(q.at(), "the files hold one version, %s; comparing needs two (`report` measures one)", gate.Quoted(found))
	} else {
		diags.Addf(q.at(), "the files hold %d versions (%s), and which is the baseline and which the candidate is not said: add baseline and candidate to the policy, or --baseline and --candidate", len(found), gate.Quoted(found))
	}
	return names, false
}

// at is where the policy could have named the versions.
func (q *question) at() diag.Pos {
	if q.source.Section == nil {
		return diag.Pos{}
	}
	return q.source.Section.Pos
}

// checkK reports a rule whose k the trials cannot answer.
func (q *question) checkK(r *rule, all *view, diags *diag.List) {
	if !r.ofPasses() || q.beyondPlan(r) { // which is reported already
		return
	}
	if all.scored {
		diags.Addf(r.Metric.Pos, "%s counts passes, and these trials have scores; use rate, or record passed", r.Metric.Value)
		return
	}
	v := all.sliced(q.tally, r.terms, r.slice)
	least := math.MaxInt
	first := ""
	for _, c := range v.cases { // in order: the first of those that have too few
		if n := c.n(); n < r.k.Value && first == "" {
			first = c.item
			least = n
		} else {
			least = min(least, n)
		}
	}
	if first != "" {
		diags.Addf(r.k.Pos, "k is %d, more than the trials of case %s; allowed here: 1 to %d, the least number of trials of a case", r.k.Value, diag.Quote(first), least)
	}
}

// whole is the view of all cases of the two versions.
func (q *question) whole(judging policy.Judging) *view {
	v := q.seen.view(judging)
	v.fixed, v.planned = q.fixed, q.plan != (plan{})
	return v
}

// Share implements gate.Question.
func (q *question) Share(families policy.Families) {
	for i := range q.rules {
		q.rules[i].Share(families)
	}
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
	if err != nil || m.Interval == nil && m.sign == nil {
		return gate.Units{}, err
	}
	names := q.seen.names
	if r.ofOne() {
		names = [2]string{names[r.role]}
	}
	u := gate.UnitsOf(Gate{}, q.source, &r.Rule, m.Measure, strconv.Itoa(r.k.Value), names[0], names[1], roles[r.role], fmt.Sprint(q.fixed, q.plan, q.tally.result))
	u.Grows, u.Parts = m.grows, []gate.Part{m.units}
	if m.sign != nil && r.Looks.Value == policy.LooksRepeated { // its p-value then holds over looks
		u.Looks = interval.LooksAny
	}
	return u, nil
}

// Doubt implements gate.Question.
func (q *question) Doubt(rule int, why string) { q.rules[rule].doubt = why }

// Answer implements gate.Question.
func (q *question) Answer(c gate.Context) (gate.Answer, error) {
	if q.seen == nil {
		return gate.Answer{}, fmt.Errorf("the rows were not checked before they were evaluated")
	}
	o := q.seen
	o.ignored = q.source.Verb == gate.Decide
	f := o.findings()
	g := report.Gate{Gate: Gate{}.Name(), Settings: q.settings(), Summary: o.summary(), Data: o.data(), Assumptions: q.assumptions(), Limits: limits()}
	if q.source.Section != nil {
		g.Name = q.source.Section.Name.Value
	}
	g.MinShown = q.source.Settings.MinShown.Value
	if q.source.Verb != gate.Check {
		measures, err := q.measures(&f)
		if err != nil {
			return gate.Answer{}, err
		}
		for _, m := range measures {
			g.Measures = append(g.Measures, m.Measure)
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

// settings are what was fixed that is not per rule.
func (q *question) settings() map[string]string {
	set := map[string]string{}
	if q.seen.paired() {
		for role, name := range q.seen.names {
			set[roles[role]] = name
		}
	}
	if q.caseList.Set {
		set["case_list"] = q.caseList.Value
	}
	if q.plan != (plan{}) {
		set["plan_cases"], set["plan_trials"] = strconv.Itoa(q.plan.cases), strconv.Itoa(q.plan.trials)
	}
	return set
}

// measures lists every measure: of the two versions that are compared, then of each alone, then of other versions
// where nothing is decided.
func (q *question) measures(f *gate.Found) ([]measured, error) {
	v, o := q.whole(q.judging), q.seen
	var list []measured
	if o.paired() {
		exact := *v // the sign test is for one look, whatever the section plans for its means
		if exact.judging.Looks.Value == policy.LooksOnce {
			exact.judging.Looks = policy.Text{}
		}
		sign := exact.signTest()
		mean, err := v.difference()
		if err != nil {
			return nil, err
		}
		opposed(f, sign, mean)
		list = append(list, sign, mean)
		for role, name := range o.names {
			own, err := v.versionMeasures(name, v.side(role), v.alike[role])
			if err != nil {
				return nil, err
			}
			list = append(list, own...)
		}
	}
	if o.ignored {
		return list, nil
	}
	for _, name := range o.others {
		own, err := v.versionMeasures(name, q.tally.version(name, q.plan), q.tally.alike(name))
		if err != nil {
			return nil, err
		}
		list = append(list, own...)
	}
	return list, nil
}

// judge measures one rule under some settings and compares it.
func (q *question) judge(r *rule, j policy.Judging) (report.Rule, measured, error) {
	v := q.whole(j).sliced(q.tally, r.terms, r.slice)
	m, err := v.metric(r)
	if err != nil {
		return report.Rule{}, m, err
	}
	out := gate.Start(&r.Rule)
	out.Measure = m.Measure
	out.Assumptions = append([]string{m.Conditions}, q.assumptions()...)
	if r.slice != "" {
		out.Assumptions = append(out.Assumptions, gate.SliceAssumption)
	}
	if left, total := v.unknown, v.unknown+len(v.cases); m.doubts.Undecided.Why == "" && gate.Exceeds(left, total, r.MaxLeftOut) {
		m.doubts.Undecided = gate.Doubt{Why: fmt.Sprintf("%d of %s left out because a column of `where` is not recorded, more than max_left_out allows (%s).",
			left, gate.Plural(total, "case is", "cases are"), r.MaxLeftOut.Text),
			Needs: gate.FewerLeftOut(left, total, r.MaxLeftOut, "of the cases left out to have the column recorded")}
	}
	if r.terms != nil && len(v.cases) == 0 {
		m.doubts.Undecided = gate.Doubtful(q.emptySlice(r.terms), gate.EmptySlice)
	}
	if v.broken != "" {
		m.doubts.Review = v.broken
	}
	m.doubts.Review = gate.Both(m.doubts.Review, r.doubt)
	switch {
	case m.sign == nil || m.doubts != gate.Doubts{}:
		gate.Conclude(&out, m.doubts)
	default:
		m.sign.conclude(&out)
	}
	return out, m, nil
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
	case out.Verdict == report.InsufficientEvidence && m.sign != nil:
		out.Needs = m.sign.needs()
		out.TippingPoint, err = m.sign.tip()
	case out.Verdict == report.InsufficientEvidence && m.need != nil:
		out.Needs = m.need(out.Threshold)
		if m.tip != nil {
			out.TippingPoint, err = m.tip(out.Threshold)
		}
	case out.Verdict == report.ManualReview && r.doubt != "":
		out.Needs = gate.NewLedger()
	case out.Verdict == report.ManualReview:
		out.Needs = &report.Needs{What: "a person to decide, or a new run whose numbers are fixed first"}
	}
	inSingular(out.Needs)
	if err != nil {
		err = fmt.Errorf("%s: %w", r.Name(), err)
	}
	return out, err
}

// oneMore puts what is needed into the singular.
var oneMore = strings.NewReplacer("more cases that move ", "more case that moves ", "more cases", "more case")

// inSingular words what is needed for one, where it is one.
func inSingular(n *report.Needs) {
	if n != nil && n.AtLeast == 1 {
		n.What = oneMore.Replace(n.What)
	}
}

// emptySlice says of a slice without a case what its columns hold.
func (q *question) emptySlice(terms []gate.Term) string {
	var parts []string
	for _, term := range terms {
		seen := map[string]bool{}
		for _, c := range q.seen.pairs {
			if p := q.tally.cases[c.item][term.Column]; p.pos != (diag.Pos{}) {
				seen[p.value] = true
			}
		}
		if !seen[term.Value] {
			parts = append(parts, fmt.Sprintf("no case has %s in the column %s, which holds %s",
				diag.Quote(term.Value), diag.Quote(q.slicing.Columns[term.Column]), gate.Quoted(slices.Sorted(maps.Keys(seen)))))
		}
	}
	if parts == nil {
		return "Nothing was evaluated: no case has all the values of `where` together."
	}
	return "Nothing was evaluated: " + strings.Join(parts, "; ") + "."
}

// metric measures what a rule names.
func (v *view) metric(r *rule) (measured, error) {
	switch r.Metric.Value {
	case signTest:
		return v.signTest(), nil
	case difference:
		return v.difference()
	case rate:
		return v.rate(v.names[r.role], v.side(r.role), v.alike[r.role])
	}
	return v.passK(r.Metric.Value, r.k.Value, v.names[r.role], v.side(r.role))
}
