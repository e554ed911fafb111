package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/audit"
	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/report"
)

// planning is what `plan GATE` is asked to do.
type planning struct {
	gate   gate.Gate
	policy string // path; "": the rule of the flags
	rule   string // the only one that is planned; "": all
	single ruleFlags
	truths []string
	chance float64
	sizes  []int
	runs   int
	seed   string
	json   bool
	shape  audit.Shape
	flags  gate.Flags
}

// ruleFlags are a rule given by flags, in the place of a policy: each a key of a rule or a section and its value; "" where it is not given.
type ruleFlags struct {
	metric, minimum, maximum, confidence, looks string
	keys                                        []*keyFlag
}

// keyFlag is a flag that stands for a key of a policy.
type keyFlag struct {
	key, value string
	section    bool // of the section; else of the rule
}

// planCommand is `plan` and its commands, one a gate.
func (a *app) planCommand() *cobra.Command {
	parent := &cobra.Command{
		Use: "plan", Short: "Say how many people, cases or labels a rule needs to be decided", Args: noCommand,
		Long: `Say, before a study is made, how large it has to be: how many people, cases, blind items or cases in each group give a
rule a stated chance of PASS (or, where it is in truth violated, of FAIL) if the truth is as stated; and which rules can never
pass or fail at the sizes that a policy declares. No data are read.`,
		Example: "  oloproof plan anchoring --metric blind_agreement --minimum 0.9 --truth 0.97",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, g := range kinds.All() {
		parent.AddCommand(a.planGateCommand(g))
	}
	return parent
}

// planGateCommand is `plan` of one gate.
func (a *app) planGateCommand(g gate.Gate) *cobra.Command {
	p := planning{gate: g}
	cmd := &cobra.Command{Use: g.Name(), Args: cobra.NoArgs}
	f := cmd.Flags()
	key := func(section bool, key, usage string) {
		k := &keyFlag{key: key, section: section}
		p.single.keys = append(p.single.keys, k)
		f.StringVar(&k.value, strings.ReplaceAll(key, "_", "-"), "", usage)
	}
	const what = "Say how many %s a rule needs to be decided."
	switch g.Name() {
	case "human-ai":
		cmd.Short = "How many people does a study with and without the system need?"
		cmd.Long = fmt.Sprintf(what, "people") + ` The rules are those of a policy, or one given by --metric with
--minimum or --maximum. --truth says what you believe to be so, in the metric's own terms; the answer is right if that is
right. Studies are drawn at random with that truth, and decided as a file would be.`
		cmd.Example = "  oloproof plan human-ai --metric accuracy_difference --minimum 0 --truth 0.3 --runs 100"
		s := audit.HumanAIShape{}
		key(false, "per", "`UNIT` that counts once: person (default: each decision)")
		key(false, "generalize", "`TO` what the answer holds for, beside other people: people_and_cases, for other cases too")
		f.IntVar(&s.Cases, "cases", 30, "how many `CASES` each person decides")
		f.Float64Var(&s.Spread, "spread", 0.1, "how far people's gains, or rates, lie from their mean: `DISTANCE`")
		f.Float64Var(&s.CaseSpread, "case-spread", 0.1, "how far what a case adds to the gain lies from 0, for --generalize: `DISTANCE`")
		f.Float64Var(&s.Baseline, "baseline-accuracy", 0.6, "how often people are right without the system: `SHARE`")
		f.Float64Var(&s.SystemAccuracy, "system-accuracy", 0.8, "how often the system is right: `SHARE`")
		f.Float64Var(&s.Missing, "missing", 0, "the `SHARE` of decisions that are not recorded")
		f.StringVar(&s.Design, "design", "", "the `DESIGN`: crossed or before_after (default: the policy's, else crossed)")
		cmd.PreRunE = func(*cobra.Command, []string) error {
			p.flags.Design, p.shape = s.Design, s
			return checkFlags(request{flags: p.flags})
		}
	case "compare":
		cmd.Short = "How many cases does a comparison of two versions need?"
		cmd.Long = fmt.Sprintf(what, "cases") + ` The rules are those of a policy, or one given by --metric with
--minimum or --maximum (sign_test has neither). --truth says what you believe to be so, such as 0.1 where the candidate
passes ten points more often. More trials of each case are compared with it.`
		cmd.Example = "  oloproof plan compare --metric sign_test --truth 0.2 --trials 5 --runs 100"
		s := audit.CompareShape{}
		key(false, "k", "the `K` of pass_at_k and pass_all_k")
		key(false, "version", "the `VERSION` that a rate is of: baseline or candidate (default: candidate)")
		key(true, "case_list", "the `KIND` of cases: sampled or fixed (default: sampled)")
		f.IntSliceVar(&s.Trials, "trials", nil, "`TRIALS` of each case in each version; others to compare after a comma (default: the policy's plan, or 5,1,3,10)")
		f.Float64Var(&s.PassRate, "pass-rate", 0.53, "how often the baseline passes: `SHARE`")
		f.Float64Var(&s.Missing, "missing", 0, "the `SHARE` of trials without a result")
		cmd.PreRunE = func(*cobra.Command, []string) error { p.shape = s; return nil }
	case "fairness":
		cmd.Use = "fairness FAIRNESS.yaml"
		cmd.Args = func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("%d declarations are given; plan fairness takes one", len(args))
			}
			return nil
		}
		cmd.Short = "How many cases does each group need?"
		cmd.Long = fmt.Sprintf(what, "cases in each group") + ` The groups and the rules are those of the
declaration. --truth RULE=X says what you believe to be so: how far the groups lie apart, the ratio of the smaller rate to
the larger, or the rate of the worst group. Counted are the cases in the rate's denominator (for false_negative those with
label 1). All figures are exact.`
		cmd.Example = "  oloproof init --example fairness study\n  oloproof plan fairness study/fairness.yaml --truth every-age-served=0.9"
		s := audit.FairnessShape{}
		f.Float64Var(&s.Rate, "rate", 0, "the `RATE` of groups that do not differ (default: 0.1 of errors, 0.5 of selection, 0.9 of the others)")
		f.Float64Var(&s.Positive, "positive", 0, "the `SHARE` of a group's cases with label 1, to say how many there are then in all")
		f.Float64Var(&s.Missing, "missing", 0, "the `SHARE` of cases without a prediction")
		cmd.PreRunE = func(_ *cobra.Command, args []string) error {
			p.shape = s
			switch {
			case len(args) == 1 && p.policy != "":
				return usagef("the declaration is given twice, as %s and as --policy; give it once", diag.Quote(args[0]))
			case len(args) == 1:
				p.policy = args[0]
			case p.policy == "":
				return usagef("plan fairness needs a declaration, such as `oloproof plan fairness fairness.yaml --truth RULE=0`")
			}
			return nil
		}
	default:
		cmd.Short = "How many blind labels does a rule need?"
		cmd.Long = fmt.Sprintf(what, "blind items, or annotators,") + ` The rules are those of a policy, or one given by
--metric with --minimum or --maximum. --truth says what you believe to be so, such as 0.95 where the model agrees with 95 % of the blind
labels. With one annotator the figures for rates are exact; gaps, and several annotators, are simulated.`
		cmd.Example = "  oloproof plan anchoring --metric blind_agreement --minimum 0.8 --truth 0.9"
		s := audit.AnchoringShape{}
		key(false, "per", "`UNIT` that counts once: person, item or label (default: the item with one annotator, else the person)")
		key(true, "corpus_size", "the `NUMBER` of items in the corpus, whose rest is handed over")
		key(true, "minimum_blind_sample", "the least `NUMBER` of blind labels (default: 20)")
		f.IntVar(&s.Annotators, "annotators", 1, "the `NUMBER` of annotators; with several, how many it takes is searched for")
		f.IntVar(&s.Blind, "blind", 20, "the `NUMBER` of items that each of several annotators labels blind")
		f.IntVar(&s.Visible, "visible", 4, "the `NUMBER` of visible items for each blind one")
		f.Float64Var(&s.Spread, "spread", 0.05, "how far annotators' rates lie from their mean: `DISTANCE`")
		f.Float64Var(&s.BlindAgreement, "blind-agreement", 0.8, "the blind agreement that a gap is measured from: `SHARE`")
		f.Float64Var(&s.PeopleAgreement, "people-agreement", 0.8, "how often two people agree, for model_minus_people: `SHARE`")
		f.Float64Var(&s.Missing, "missing", 0, "the `SHARE` of labels that are not recorded")
		cmd.PreRunE = func(*cobra.Command, []string) error { p.shape = s; return nil }
	}
	f.StringVar(&p.policy, "policy", "", "the policy `FILE` (YAML) whose rules are planned")
	f.StringVar(&p.rule, "rule", "", "plan only the rule with this `ID`")
	if g.Name() != "fairness" {
		f.StringVar(&p.single.metric, "metric", "", "without a policy: the `METRIC` of the rule")
		f.StringVar(&p.single.minimum, "minimum", "", "without a policy: its threshold, a least `VALUE`")
		f.StringVar(&p.single.maximum, "maximum", "", "without a policy: its threshold, a largest `VALUE`")
		f.StringVar(&p.single.confidence, "confidence", "", "without a policy: its `CONFIDENCE` (default: 0.95)")
		f.StringVar(&p.single.looks, "looks", "", "without a policy: its `LOOKS`: once (the number is fixed before) or repeated")
	}
	f.StringArrayVar(&p.truths, "truth", nil, "what is taken to be true: `X`, or RULE=X, several after a comma; may be repeated")
	f.Float64Var(&p.chance, "chance", 0.8, "the `CHANCE` that is wanted of the right verdict")
	f.IntSliceVar(&p.sizes, "sizes", nil, "the `SIZES` in the table, after commas (default: around the answer)")
	f.IntVar(&p.runs, "runs", 400, "how many studies are drawn at a size, where they are: `NUMBER`")
	f.StringVar(&p.seed, "seed", "oloproof", "any `TEXT`; the same seed gives the same figures")
	f.BoolVar(&p.json, "json", false, "print the plan as JSON, of the schema that 'oloproof schema plan' prints")
	cmd.RunE = func(*cobra.Command, []string) error { return a.plan(p) }
	return cmd
}

// planDocument is the plan as it is published.
type planDocument struct {
	Schema     string          `json:"schema"`
	Tool       report.Tool     `json:"tool"`
	Gate       string          `json:"gate"`
	Policy     *report.File    `json:"policy,omitempty"`
	Chance     float64         `json:"chance"`
	Runs       int             `json:"runs"`
	Seed       string          `json:"seed"`
	Never      []planNote      `json:"never"`
	Rules      []audit.Planned `json:"rules"`
	NotPlanned []string        `json:"not_planned,omitempty"` // rules without a stated truth
}

// planNote is what is known of a rule without data.
type planNote struct {
	Message  string   `json:"message"`
	Position diag.Pos `json:"position"`
}

// plan carries out a planning.
func (a *app) plan(p planning) error {
	diags := &diag.List{}
	if err := p.check(); err != nil {
		return err
	}
	text, file := p.single.policy(p.gate), "command line"
	out := planDocument{Schema: audit.PlanSchemaName, Tool: report.Tool{Name: "oloproof", Version: a.Version}, Gate: p.gate.Name(), Chance: p.chance, Runs: p.runs, Seed: p.seed,
		Never: []planNote{}, Rules: []audit.Planned{}}
	if p.policy != "" {
		file = p.policy
		data, err := readFile(nil, p.policy, maxPolicy)
		if err != nil {
			diags.Addf(diag.Pos{File: p.policy}, "cannot read the policy: %s", reason(err))
			return a.cannotPlan(p, diags)
		}
		text = data
		digest := sha256.Sum256(data)
		out.Policy = &report.File{Path: p.policy, SHA256: hex.EncodeToString(digest[:])}
	}
	subjects := audit.Subjects(p.gate, file, text, a.Version, p.flags, diags)
	if diags.Len() > 0 {
		return a.cannotPlan(p, diags)
	}
	work, err := p.assign(subjects)
	if err != nil {
		return err
	}
	for _, s := range subjects {
		for _, n := range s.Never {
			if p.policy != "" || !p.ofNoPolicy(n.Message) {
				out.Never = append(out.Never, planNote{p.plain(n.Message), n.Pos})
			}
		}
	}
	var drawn atomic.Int64
	request := func(w *assignment) audit.Request {
		return audit.Request{Truths: w.truths, Chance: p.chance, Sizes: p.sizes, Runs: p.runs, Bare: p.policy == "",
			Drawing: audit.Drawing{Seed: p.seed, Step: func() { drawn.Add(1) }}}
	}
	fault := func(w *assignment, err error) error {
		var list []error
		for line := range strings.Lines(err.Error()) { // joined errors are a line each, and name no text of others
			line = strings.TrimSuffix(line, "\n")
			if p.policy != "" {
				line = w.subject.Rules[w.rule].Name() + ": " + line
			}
			list = append(list, usagef("%s", line))
		}
		return errors.Join(list...)
	}
	var problems []error
	var asked []*assignment
	for i := range work { // a mistake is said before minutes are spent
		w := &work[i]
		if len(w.truths) == 0 {
			out.NotPlanned = append(out.NotPlanned, w.subject.Rules[w.rule].ID.Value)
			continue
		}
		asked = append(asked, w)
		if err := audit.CheckPlan(w.subject, w.rule, p.shape, request(w)); err != nil {
			problems = append(problems, fault(w, err))
		}
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	ctx, cancel := untilSignal()
	defer cancel()
	var doing atomic.Int64
	started := a.Now()
	stop := a.showing(pace{time.Minute, time.Minute}, func(columns int) string {
		i := doing.Load()
		what := "planning"
		if len(asked) > 1 {
			what += fmt.Sprintf(" %s (%d of %d)", diag.Printable(asked[i].subject.Rules[asked[i].rule].ID.Value), i+1, len(asked))
		}
		if n := drawn.Load(); n > 0 {
			what += fmt.Sprintf(", %d studies drawn", n)
		}
		return fit(columns, fmt.Sprintf("oloproof: %s, %.0f s", what, a.Now().Sub(started).Seconds()))
	})
	for i, w := range asked {
		doing.Store(int64(i))
		planned, err := audit.Plan(ctx, w.subject, w.rule, p.shape, request(w))
		if ctx.Err() != nil {
			stop()
			return errors.New("interrupted; nothing was planned")
		}
		if err != nil {
			stop()
			return fault(w, err)
		}
		out.Rules = append(out.Rules, planned)
	}
	stop()
	if p.json {
		encoder := json.NewEncoder(a.Stdout)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(out)
	}
	a.tellPlan(out)
	return nil
}

// ofNoPolicy reports a note about a size that stands in no policy, and that nobody said: the number that a rule of the command line has
// for its looks, and the floor that labels have by default.
func (p *planning) ofNoPolicy(note string) bool {
	if strings.HasSuffix(note, " at the most") && p.single.looks == "once" {
		return true
	}
	said := slices.ContainsFunc(p.single.keys, func(k *keyFlag) bool { return k.key == "minimum_blind_sample" && k.value != "" })
	return strings.Contains(note, ", which minimum_blind_sample lets count") && !said
}

// plain is a message about the rule of the command line without the id that it has for the sake of its policy.
func (p *planning) plain(message string) string {
	if p.policy != "" {
		return message
	}
	if rest, is := strings.CutPrefix(message, "rule plan "); is {
		return "the rule " + rest
	}
	return strings.Replace(message, " in rule plan;", ";", 1)
}

// cannotPlan says what is wrong with a policy, as a document where one is asked for; of a rule given by flags without a place.
func (a *app) cannotPlan(p planning, diags *diag.List) error {
	if p.policy != "" && !p.json {
		return a.unusable(diags)
	}
	var list []error
	items, _ := diags.Sorted()
	for _, d := range items {
		if p.policy == "" {
			d.Pos, d.Message = diag.Pos{}, p.plain(d.Message)
		}
		if e := usagef("%s", d.String()); !slices.ContainsFunc(list, func(x error) bool { return x.Error() == e.Error() }) {
			list = append(list, e)
		}
	}
	return errors.Join(list...)
}

// Limits of what can be asked for.
const (
	mostPlanRuns  = 100_000
	mostPlanSizes = 50
)

// check checks what does not depend on the policy.
func (p *planning) check() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, usagef(format, args...)) }
	if !(p.chance >= 0.01 && p.chance <= 0.999) {
		wrong("--chance is %v; a number from 0.01 to 0.999 is allowed, such as 0.8", p.chance)
	}
	if p.runs < 20 || p.runs > mostPlanRuns {
		wrong("--runs is %d; from 20 to %d are allowed", p.runs, mostPlanRuns)
	}
	if len(p.sizes) > mostPlanSizes {
		wrong("--sizes has %d sizes; at most %d are allowed", len(p.sizes), mostPlanSizes)
	}
	if p.gate.Name() == "fairness" {
		return errors.Join(problems...)
	}
	given := p.single.given()
	switch {
	case p.policy != "" && len(given) > 0:
		wrong("--%s is for a rule without a policy, and --policy has the rules; leave one of them out", given[0])
	case p.policy == "" && p.single.metric == "":
		wrong("neither --policy nor --metric is given; name a policy, or a rule as in --metric %s", map[string]string{
			"human-ai": "accuracy_difference --minimum 0", "compare": "sign_test", "anchoring": "blind_agreement --minimum 0.9"}[p.gate.Name()])
	case p.policy == "" && p.rule != "":
		wrong("--rule picks a rule of a policy, and there is no --policy")
	}
	return errors.Join(problems...)
}

// given lists the flags of the rule that are.
func (r *ruleFlags) given() []string {
	var list []string
	for _, x := range []struct{ name, value string }{{"metric", r.metric}, {"minimum", r.minimum}, {"maximum", r.maximum}, {"confidence", r.confidence}, {"looks", r.looks}} {
		if x.value != "" {
			list = append(list, x.name)
		}
	}
	for _, k := range r.keys {
		if k.value != "" {
			list = append(list, strings.ReplaceAll(k.key, "_", "-"))
		}
	}
	return list
}

// policy writes the rule as a policy. Every value is quoted, so that it is a value and nothing else.
func (r *ruleFlags) policy(g gate.Gate) []byte {
	var b strings.Builder
	if g.Name() == "compare" {
		b.WriteString("baseline: baseline\ncandidate: candidate\n")
	}
	rule := "{id: plan, metric: " + strconv.Quote(r.metric)
	for _, k := range r.keys {
		switch value := strconv.Quote(k.value); {
		case k.value == "":
		case k.section:
			fmt.Fprintf(&b, "%s: %s\n", k.key, plainNumber(k.value, value))
		default:
			rule += ", " + k.key + ": " + plainNumber(k.value, value)
		}
	}
	for _, x := range []struct{ key, value string }{{"minimum", r.minimum}, {"maximum", r.maximum}, {"confidence", r.confidence}, {"looks", r.looks}} {
		if x.value != "" {
			rule += ", " + x.key + ": " + plainNumber(x.value, strconv.Quote(x.value))
		}
	}
	if r.looks == "once" {
		rule += ", planned: 2" // as many as a study has
	}
	b.WriteString("rules:\n  - " + rule + "}\n")
	return []byte(b.String())
}

// plainNumber is a text that is a number as it is, else the quoted one.
func plainNumber(text, quoted string) string {
	if strings.Trim(text, "0123456789.-") == "" {
		return text
	}
	return quoted
}

// assignment is a rule and what is taken to be true of it.
type assignment struct {
	subject *audit.Subject
	rule    int
	truths  []float64
}

// assign finds the rules that are planned, and the truths that are stated of them.
func (p *planning) assign(subjects []*audit.Subject) ([]assignment, error) {
	var work []assignment
	var ids []string
	for _, s := range subjects {
		for i := range s.Rules {
			id := s.Rules[i].ID.Value
			ids = append(ids, id)
			if p.rule == "" || p.rule == id {
				work = append(work, assignment{s, i, nil})
			}
		}
	}
	if len(ids) == 0 {
		return nil, usagef("the policy has no rules for %s", p.gate.Name())
	}
	if len(work) == 0 {
		return nil, usagef("--rule is %s, and the policy has no such rule for %s%s", diag.Quote(p.rule), p.gate.Name(), ruleHint(p.rule, ids))
	}
	if len(p.truths) == 0 {
		example := "--truth 0.1"
		if len(work) > 1 {
			example = "--truth " + diag.Printable(work[0].subject.Rules[work[0].rule].ID.Value) + "=0.1"
		}
		return nil, usagef("--truth is missing: how large a study has to be depends on what is true, so say what you believe, such as %s", example)
	}
	var problems []error
	for _, text := range p.truths {
		id, values := "", text
		if at := strings.LastIndex(text, "="); at >= 0 {
			id, values = text[:at], text[at+1:]
		}
		var list []float64
		for _, one := range strings.Split(values, ",") {
			x, err := strconv.ParseFloat(strings.TrimSpace(one), 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				problems = append(problems, usagef("--truth has %s; numbers are wanted, as in 0.1, or 0.05,0.1, or RULE=0.1", diag.Quote(one)))
				continue
			}
			if !slices.Contains(list, x) {
				list = append(list, x)
			}
		}
		at := slices.IndexFunc(work, func(w assignment) bool { return w.subject.Rules[w.rule].ID.Value == id })
		switch {
		case id == "" && len(work) == 1 && !strings.Contains(text, "="):
			work[0].truths = append(work[0].truths, list...)
		case id == "" && !strings.Contains(text, "="):
			problems = append(problems, usagef("--truth %s does not say of which of %d rules; write RULE=%s, or pick one with --rule", diag.Printable(text), len(work), diag.Printable(values)))
		case at < 0:
			problems = append(problems, usagef("--truth is about %s, which is not among the rules that are planned%s", diag.Quote(id), ruleHint(id, ids)))
		default:
			work[at].truths = append(work[at].truths, list...)
		}
	}
	for _, w := range work {
		if len(w.truths) > 6 {
			problems = append(problems, usagef("%s has %d truths; at most 6 are planned at once", w.subject.Rules[w.rule].Name(), len(w.truths)))
		}
	}
	return work, errors.Join(problems...)
}

// ruleHint says which rule was probably meant.
func ruleHint(id string, ids []string) string {
	if near := diag.Nearest(id, ids); near != "" {
		return "; did you mean " + diag.Quote(near) + "?"
	}
	if len(ids) > 10 {
		return ""
	}
	var quoted []string
	for _, id := range ids {
		quoted = append(quoted, diag.Quote(id))
	}
	return "; its rules: " + strings.Join(quoted, ", ")
}

// planWidth is how wide a plan is printed.
const planWidth = 80

// tellPlan prints a plan for a person.
func (a *app) tellPlan(d planDocument) {
	title := "Plan for " + d.Gate
	if d.Policy != nil {
		title += " · " + diag.Printable(d.Policy.Path)
	}
	a.tellWrapped("", "  ", title+" · for a chance of "+chanceText(d.Chance, 0, true))
	if len(d.Never) > 0 {
		a.tell(a.Stdout, "")
		a.tell(a.Stdout, "Known without data:")
		for _, n := range d.Never {
			place := ""
			if d.Policy != nil {
				place = n.Position.String() + ": "
			}
			a.tellWrapped("  ", "    ", place+n.Message)
		}
	}
	for i := range d.Rules {
		a.tellPlanned(&d.Rules[i], d.Policy != nil)
	}
	if len(d.NotPlanned) > 0 {
		a.tell(a.Stdout, "")
		var list []string
		for _, id := range d.NotPlanned {
			list = append(list, diag.Printable(id))
		}
		a.tellWrapped("", "  ", "Not planned, since nothing is stated of them: "+strings.Join(list, ", ")+". Add --truth RULE=X for each.")
	}
}

// tellPlanned prints the plan of one rule; named where it has a name, in a policy.
func (a *app) tellPlanned(p *audit.Planned, named bool) {
	main := p.Ways[0]
	a.tell(a.Stdout, "")
	name := diag.Printable(p.ID)
	if p.Section != "" {
		name = diag.Printable(p.Section) + ", " + name
	}
	title := name + ": " + p.Metric
	if !named {
		title = p.Metric
	}
	if t := p.Threshold; t != nil {
		kind := strings.ReplaceAll(string(t.Kind), "_", " ")
		if t.Side != "" {
			kind += " " + string(t.Side)
		}
		title += ", " + kind + " " + strconv.FormatFloat(t.Value, 'f', -1, 64)
	}
	a.tellWrapped("", "  ", title)
	how := "exact"
	if !main.Exact {
		how = "simulated; ± is what chance may have moved it by"
	}
	a.tellWrapped("  ", "  ", "The chance of the right verdict ("+how+"), by "+p.Means+":")
	a.tell(a.Stdout, "")
	table := [][]string{{strings.ToUpper(main.Unit)}}
	for i, truth := range p.Truths {
		cell := truthText(truth, p.Signed)
		if len(main.Sizes) > 0 {
			cell += " " + main.Sizes[0].Odds[i].Right
		}
		table[0] = append(table[0], cell)
	}
	for _, size := range main.Sizes {
		row := []string{gate.Thousands(size.Size)}
		if size.Size == main.Declared {
			row[0] = "(declared) " + row[0]
		}
		for _, o := range size.Odds {
			chance := o.Pass
			if o.Right == report.Fail.String() {
				chance = o.Fail
			}
			if o.Right == "" {
				row = append(row, "–")
				continue
			}
			row = append(row, chanceText(chance, o.PlusMinus, main.Exact))
		}
		table = append(table, row)
	}
	for _, line := range aligned(table) {
		a.tell(a.Stdout, "    "+line)
	}
	for _, s := range main.Recommended {
		a.tell(a.Stdout, "")
		a.tellWrapped("  ", "    ", "Recommendation: "+recommendation(p, &main, &s))
	}
	for _, way := range p.Ways[1:] {
		a.tellWrapped("  ", "    ", "Instead, "+way.What+": "+instead(&way, p.Signed)+".")
	}
	a.tell(a.Stdout, "")
	a.tellWrapped("  ", "    ", "Taken to be so: "+strings.Join(main.Assumptions, " "))
}

// recommendation says a size, or why there is none.
func recommendation(p *audit.Planned, way *audit.PlannedWay, s *audit.Suggested) string {
	when := "if " + p.Means + " is " + truthText(s.Truth, p.Signed)
	if s.Size == 0 {
		best := fmt.Sprintf("the best that was found is %s, with %s", chanceText(s.Chance, s.PlusMinus, way.Exact), gate.Thousands(s.BestAt))
		if s.Chance == 0 {
			best = "it is next to nothing with all of them"
		}
		return fmt.Sprintf("no number up to %s %s gives a chance of %s of %s %s: %s. %s.", gate.Thousands(s.UpTo), way.Unit, chanceText(s.Wanted, 0, true), s.Verdict, when,
			best, strings.ToUpper(s.Why[:1])+s.Why[1:])
	}
	inAll := ""
	if s.InAll > 0 {
		inAll = fmt.Sprintf(" (of about %s in all)", gate.Thousands(s.InAll))
		if strings.HasSuffix(way.Unit, " in each group") {
			inAll = fmt.Sprintf(" (of about %s in the group)", gate.Thousands(s.InAll))
		}
	}
	undecided := chanceText(s.Undecided, 0, way.Exact)
	if !way.Exact && s.Undecided == 0 {
		undecided = "next to none"
	} else {
		undecided = "of " + undecided
	}
	return fmt.Sprintf("%s %s%s give a chance of %s of %s %s; it stays undecided with a chance %s.", gate.Thousands(s.Size), way.Unit, inAll,
		chanceText(s.Chance, s.PlusMinus, way.Exact), s.Verdict, when, undecided)
}

// instead says what another way would need.
func instead(way *audit.PlannedWay, signed bool) string {
	s := way.Recommended[0]
	if s.Size == 0 {
		return fmt.Sprintf("no number up to %s %s is enough", gate.Thousands(s.UpTo), way.Unit)
	}
	return fmt.Sprintf("about %s %s", gate.Thousands(s.Size), way.Unit)
}

// truthText writes a truth.
func truthText(x float64, signed bool) string {
	text := strconv.FormatFloat(x, 'f', -1, 64)
	if signed && x > 0 {
		text = "+" + text
	}
	return text
}

// chanceText writes a chance in percent, with what chance alone may change in it.
func chanceText(p, plusMinus float64, exact bool) string {
	switch {
	case !exact && plusMinus == 0:
		return fmt.Sprintf("%.0f %%", 100*p)
	case !exact && p == 0: // seen in none of the studies: the interval lies on one side
		return fmt.Sprintf("<%.0f %%", math.Ceil(200*plusMinus))
	case !exact && p == 1:
		return fmt.Sprintf(">%.0f %%", math.Floor(100-float64(200*plusMinus)))
	case !exact:
		return fmt.Sprintf("%.0f %% ±%.0f", 100*p, math.Ceil(100*plusMinus))
	case p > 0 && p < 0.0005:
		return "<0.1 %"
	case p < 1 && p > 0.9995:
		return ">99.9 %"
	}
	return strings.TrimSuffix(strconv.FormatFloat(100*p, 'f', 1, 64), ".0") + " %"
}

// aligned pads the cells of rows, to the right, to equal widths.
func aligned(rows [][]string) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	var lines []string
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			if i > 0 {
				line += "   "
			}
			line += strings.Repeat(" ", widths[i]-len([]rune(cell))) + cell
		}
		lines = append(lines, line)
	}
	return lines
}

// tellWrapped prints a paragraph in lines of planWidth: the first begins with one text, the others with another.
func (a *app) tellWrapped(first, rest, text string) {
	line := first
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && len([]rune(line))+1+len([]rune(word)) > planWidth {
			a.tell(a.Stdout, line)
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	a.tell(a.Stdout, line)
}
