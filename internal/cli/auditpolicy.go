package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/audit"
	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
	"github.com/oloproof/oloproof/summary"
)

// policyAudit is what `audit policy` is asked to do.
type policyAudit struct {
	request
	gateName string
	runs     int
	seed     string
	json     bool
	quiet    bool
	verbose  bool
}

// How many studies a rule's errors are counted in: by default, and at the most, which takes hours.
const (
	defaultRuns = 1000
	mostRuns    = 1_000_000
)

// auditedPolicy is the document of `audit policy --json`.
type auditedPolicy struct {
	Schema     string           `json:"schema"`
	Tool       report.Tool      `json:"tool"`
	ExitStatus int              `json:"exit_status"` // 0 every promise is kept and every rule can fail, 1 otherwise
	Seed       string           `json:"seed"`
	Runs       int              `json:"runs"`
	Inputs     []report.Input   `json:"inputs"`
	Policy     *report.File     `json:"policy,omitempty"`
	Policies   []report.File    `json:"policies,omitempty"` // where there are two: the declaration first, then --policy
	Rules      []audit.RuleTest `json:"rules"`
}

// auditPolicyCommand is `audit policy`.
func (a *app) auditPolicyCommand() *cobra.Command {
	p := policyAudit{request: request{verb: gate.Decide}}
	var delimiter string
	cmd := &cobra.Command{
		Use: "policy FILE… --policy POLICY", Short: "Show on your own data how often a policy's rules err by chance, and what harm they find",
		Long: `Show on your own data how often a policy's rules err by chance, and what harm they find.

By chance: your rows are shuffled between the sides that a rule compares, so that nothing but chance is between them, or
drawn anew, so that the truth is known; the policy decides each such study, and its errors are counted against what it
promises. Beside stands how often a step would be green or red by chance alone. Harm: answers in your rows are turned
wrong, from none to all of them, and the smallest harm is looked for at which the rule FAILs in 80 % of the studies.

FILE and the flags are those of the gate itself. A release file, and a declaration of fairness, name their files: then
there is no FILE. Waivers and reviews play no part. The same files, policy, runs and seed give the same answer.

How far it is goes to standard error: on a terminal at once, in a log every 15 seconds. What is finished when it is
interrupted is printed.

Exit status: 0 every rule keeps its promise and can fail, be it seldom; 1 a rule errs more often than it promises, or not
even the worst possible harm ever fails it; 2 the files, the policy or the command line cannot be used, or it was
interrupted. Advisory rules are shown and do not count.`,
		Example: "  oloproof init --example compare study\n  oloproof audit policy study/trials.csv --policy study/policy.yaml --runs 200",
		RunE: func(cmd *cobra.Command, args []string) error {
			var wrong error
			p.delimiter, wrong = parseDelimiter(delimiter)
			return a.auditPolicy(cmd.Context(), p, args, wrong)
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.policy, "policy", "", "the policy, the release file or the declaration, a `FILE` (YAML)")
	f.StringVar(&p.gateName, "gate", "", "the `GATE` of a policy without sections, or of the section that FILE belongs to: "+strings.Join(kinds.Names(), ", ")+" (default: the one it suits)")
	f.IntVar(&p.runs, "runs", defaultRuns, fmt.Sprintf("the `NUMBER` of studies that errors are counted in, from %d; a harm is planted in at most %d of them", audit.FewestRuns, audit.MostHarmRuns))
	f.StringVar(&p.seed, "seed", "oloproof", "any `TEXT`; the same seed gives the same answer")
	f.StringVar(&delimiter, "delimiter", "", "the `CHARACTER` between CSV fields: , ; | or tab (default: found from the header)")
	f.StringVar(&p.flags.Design, "design", "", "human-ai: the study's `DESIGN`, crossed or before_after (default: found from the file)")
	f.StringVar(&p.flags.Assignment, "assignment", "", "human-ai: `FILE` written by `oloproof human-ai assign`, which the decisions must follow")
	f.StringVar(&p.flags.Draw, "draw", "", "anchoring: `FILE` written by `oloproof anchoring draw`, which the labels must follow")
	f.StringVar(&p.flags.Baseline, "baseline", "", "compare: the old `VERSION`, or the file of its trials where no FILE is given")
	f.StringVar(&p.flags.Candidate, "candidate", "", "compare: the new `VERSION`, or the file of its trials where no FILE is given")
	f.BoolVar(&p.json, "json", false, "print one JSON document")
	f.BoolVar(&p.verbose, "verbose", false, "print all that was counted of every rule")
	f.BoolVarP(&p.quiet, "quiet", "q", false, "leave out progress and the closing line on standard error")
	must(cmd.RegisterFlagCompletionFunc("gate", cobra.FixedCompletions(kinds.Names(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// auditPolicy carries out an audit of a policy on files.
func (a *app) auditPolicy(ctx context.Context, p policyAudit, args []string, mistakes error) error {
	p.files = args
	problems := []error{mistakes, checkFlags(p.request)}
	switch {
	case p.runs > mostRuns:
		problems = append(problems, usagef("--runs is %d; write a number from %d to %d", p.runs, audit.FewestRuns, mostRuns))
	case p.runs < audit.FewestRuns:
		problems = append(problems, usagef("--runs is %d; write a number from %d to %d: in fewer studies a broken promise could not be told from chance", p.runs, audit.FewestRuns, mostRuns))
	}
	if p.gateName != "" && kinds.Lookup(p.gateName) == nil {
		problems = append(problems, usagef("--gate is %q; write one of %s", p.gateName, strings.Join(kinds.Names(), ", ")))
	}
	if p.policy == "" && len(args) > 0 && isYAML(args[0]) { // a declaration, or a release file
		p.policy, p.files = args[0], args[1:]
	}
	if p.policy == "" {
		problems = append(problems, usagef("audit policy needs a policy, such as `oloproof audit policy decisions.csv --policy policy.yaml`"))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	if len(p.files) > 0 && isYAML(p.files[0]) { // a declaration, with a policy beside it
		p.policy, p.beside, p.files = p.files[0], p.policy, p.files[1:]
	}
	if err := a.findGate(&p); err != nil {
		return err
	}
	p.request.quiet = p.quiet
	diags := &diag.List{}
	doc, parts, studies := a.readStudies(&p.request, diags)
	if problem, ok := errors.AsType[*diag.Error](diags.Err()); ok {
		if p.json {
			return errors.Join(errReported, summary.JSON(a.Stdout, report.Unusable(a.Version, problem), plain))
		}
		return a.unusable(diags)
	}
	var names []string
	for _, part := range parts {
		names = append(names, part.gate.Name())
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	meter := &auditMeter{app: a, quiet: p.quiet, started: a.Now(), told: a.Now()}
	tests, err := audit.SelfTest{Setup: a.setup(p.request), Studies: studies, Runs: p.runs, Seed: p.seed, Step: meter.step}.Run(ctx, names)
	meter.end()
	doc.Rules, doc.Runs, doc.Seed = tests, p.runs, p.seed
	if ctx.Err() != nil {
		if len(tests) == 0 || p.json {
			a.tell(a.Stderr, "oloproof: interrupted; nothing was found out")
			return errReported
		}
		a.tellAudit(doc, p.verbose)
		a.tell(a.Stderr, fmt.Sprintf("oloproof: interrupted; only the %s above %s finished", countOf(len(tests), "rule"), isAre(len(tests))))
		return errReported
	}
	if err != nil {
		return fmt.Errorf("%w; this is a fault in oloproof", err)
	}
	for i := range tests {
		if t := &tests[i]; !t.Advisory && (t.Broken() || t.CanFail() == audit.Cannot) {
			doc.ExitStatus = report.ExitFail
		}
	}
	a.status = doc.ExitStatus
	if p.json {
		text, err := report.Document(doc)
		if err == nil {
			_, err = a.Stdout.Write(report.SafeInLogs(text))
		}
		if err != nil {
			return err
		}
	} else {
		a.tellAudit(doc, p.verbose)
		fmt.Fprintf(a.Stdout, "\nexit status %d\n", doc.ExitStatus)
	}
	if !p.quiet {
		fmt.Fprintf(a.Stderr, "%s, exit %d\n", closingAudit(doc), doc.ExitStatus)
	}
	return nil
}

// isYAML reports whether a name is more likely a policy's than a data file's.
func isYAML(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// findGate settles which gate decides: none where every section of a release file does.
func (a *app) findGate(p *policyAudit) error {
	if p.gateName != "" {
		p.gate = kinds.Lookup(p.gateName)
	}
	data, err := readFile(nil, p.policy, maxPolicy)
	if err != nil {
		return nil // which is told when it is read
	}
	document := policy.Parse(p.policy, data, &diag.List{})
	if document == nil || p.gate != nil {
		p.declared = p.gate != nil && gateTexts[p.gate.Name()].declaration != ""
		return nil
	}
	var own []gate.Gate
	for _, g := range kinds.All() {
		if document.Root.Has(g.Section()) {
			own = append(own, g)
		}
	}
	named := len(p.files) > 0 || p.beside != "" || p.flags != gate.Flags{}
	switch {
	case len(own) > 1 && named:
		return usagef("%s has sections of several gates; say with --gate which one the files belong to", diag.Quote(p.policy))
	case len(own) == 1 && named:
		p.gate = own[0]
	case len(own) > 0:
		return nil // each section names its files
	default:
		if p.gate = a.ownGate(p.policy); p.gate != nil {
			break
		}
		fewest := math.MaxInt
		for _, g := range kinds.All() {
			if _, problems := a.checkPolicy(p.policy, g); problems.Len() < fewest {
				p.gate, fewest = g, problems.Len()
			}
		}
	}
	p.declared = gateTexts[p.gate.Name()].declaration != ""
	return nil
}

// keeping is a question that keeps the texts of its rows.
type keeping struct {
	gate.Question
	study audit.Study
}

// Inputs implements gate.Question.
func (k *keeping) Inputs() []gate.Input {
	inputs := slices.Clone(k.Question.Inputs())
	if k.study == nil {
		k.study = make(audit.Study, len(inputs))
	}
	for i := range inputs {
		add, columns := inputs[i].Add, len(inputs[i].Columns)
		inputs[i].Count, inputs[i].Share = nil, nil // counts have no rows to keep
		inputs[i].Add = func(r rows.Row, diags *diag.List) {
			texts := make([]string, columns)
			for c := range texts {
				texts[c], _ = r.Text(c)
			}
			k.study[i] = append(k.study[i], texts)
			add(r, diags)
		}
	}
	return inputs
}

// readStudies reads the policies and the files as a run does, and keeps the rows.
func (a *app) readStudies(req *request, diags *diag.List) (*auditedPolicy, []part, []audit.Study) {
	req.texts = map[string][]byte{}
	for _, path := range []string{req.policy, req.beside} {
		if data, err := readFile(nil, path, maxPolicy); err == nil {
			req.texts[path] = data
		}
	}
	p, beside := a.loadPolicies(*req, diags)
	parts := compile(*req, p, beside, nil, diags)
	checkDraw(req, p, diags)
	policyOf := p
	if beside != nil {
		policyOf = beside
	}
	checkRules(policyOf, parts, diags)
	out := report.New(a.Version)
	kept := make([]*keeping, len(parts))
	meter, stop := a.progress(parts, req.quiet)
	defer stop()
	for i := range parts {
		before := diags.Len()
		original := parts[i].question
		kept[i] = &keeping{Question: original}
		parts[i].question = kept[i]
		a.read(*req, &parts[i], out, len(parts) > 1, meter, diags)
		if checker, ok := original.(gate.RowsChecker); ok && diags.Len() == before {
			checker.CheckRows(diags)
		}
	}
	if diags.Len() > 0 {
		return nil, nil, nil
	}
	doc := &auditedPolicy{Schema: audit.PolicySchemaName, Tool: out.Tool, Inputs: out.Inputs}
	if beside != nil {
		doc.Policies = []report.File{fileOf(p), fileOf(beside)}
	} else {
		file := fileOf(p)
		doc.Policy = &file
	}
	var studies []audit.Study
	for _, k := range kept {
		studies = append(studies, k.study)
	}
	return doc, parts, studies
}

// setup makes the questions of a request, whose policies have been read, anew.
func (a *app) setup(req request) audit.Setup {
	world := a.World
	return func() ([]gate.Question, policy.Families, error) {
		own := &app{World: world} // loading notes which files were opened
		diags := &diag.List{}
		p, beside := own.loadPolicies(req, diags)
		parts := compile(req, p, beside, nil, diags)
		if beside != nil {
			p = beside
		}
		families := checkRules(p, parts, diags)
		return questions(parts), families, diags.Err()
	}
}

// checkDraw refuses an audit whose labels would not be held against the draw that a policy names: no rule on blind labels could come
// to a verdict, and the audit would call them rules that cannot fail.
func checkDraw(req *request, p *policy.Policy, diags *diag.List) {
	if p == nil || len(req.files) == 0 || req.flags.Draw != "" {
		return
	}
	for _, s := range p.Of(kinds.Lookup("anchoring").Section()) {
		if req.gate != nil && req.gate.Name() != "anchoring" {
			continue
		}
		if draw := s.Map.Text("draw"); draw.Set {
			diags.Addf(draw.Pos, "draw: %s is not read where files are named on the command line, and without it no rule on blind labels can be decided; add --draw %s, or leave %s out",
				diag.Printable(draw.Value), diag.Printable(filepath.ToSlash(filepath.Join(gate.Folder(s.Pos.File), draw.Value))), diag.Printable(req.files[0]))
		}
	}
}

// auditMeter says on standard error how far an audit is: a line that changes on a terminal, now and then a line elsewhere.
type auditMeter struct {
	app           *app
	quiet         bool
	started, told time.Time
	asked         int
	shown         bool
}

// step is called after each study, by one goroutine at a time.
func (m *auditMeter) step(doing string) {
	m.asked++
	_, is := terminal(m.app.Stderr)
	pause := 15 * time.Second
	if is {
		pause = patience
		if m.shown {
			pause = time.Second / 5
		}
	}
	now := m.app.Now()
	if m.quiet || now.Sub(m.told) < pause {
		return
	}
	m.told = now
	text := fmt.Sprintf("oloproof: %s, %s studies decided, %s", doing, gate.Thousands(m.asked), now.Sub(m.started).Round(time.Second))
	if !is {
		fmt.Fprintln(m.app.Stderr, text)
		return
	}
	m.shown = true
	fmt.Fprintf(m.app.Stderr, "\r\x1b[K%s …", text)
}

// end clears the line.
func (m *auditMeter) end() {
	if m.shown {
		fmt.Fprint(m.app.Stderr, "\r\x1b[K")
	}
}

// closingAudit is the one line on standard error at the end.
func closingAudit(doc *auditedPolicy) string {
	advisory, broken, cannot, seldom, never := 0, 0, 0, 0, 0
	for i := range doc.Rules {
		t := &doc.Rules[i]
		if t.Advisory {
			advisory++
			continue
		}
		if t.Broken() {
			broken++
		}
		switch t.CanFail() {
		case audit.Cannot:
			cannot++
		case audit.Seldom:
			seldom++
		}
		if t.CanPass() == audit.Cannot {
			never++
		}
	}
	text := "Audited " + countOf(len(doc.Rules), "rule")
	if advisory > 0 {
		text += fmt.Sprintf(" (%d advisory, which %s not count)", advisory, doDoes(advisory))
	}
	found := []string{"the promises are kept"}
	if broken > 0 {
		found[0] = fmt.Sprintf("%d broke the promise", broken)
	}
	switch {
	case cannot > 0 && seldom > 0:
		found = append(found, fmt.Sprintf("%d cannot fail and %d can seldom", cannot, seldom))
	case cannot > 0:
		found = append(found, fmt.Sprintf("%d cannot fail", cannot))
	case seldom > 0:
		found = append(found, fmt.Sprintf("%d can fail only seldom", seldom))
	default:
		found = append(found, "every rule can fail")
	}
	if never > 0 {
		found = append(found, fmt.Sprintf("%d cannot pass", never))
	}
	return text + ": " + strings.Join(found, ", ")
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func doDoes(n int) string {
	if n == 1 {
		return "does"
	}
	return "do"
}

// auditWidth is the width of the audit's text.
const auditWidth = 80

// tellAudit prints an audit for a person: of rules about which there is nothing to say only what harm they find, unless all is asked
// for.
func (a *app) tellAudit(doc *auditedPolicy, all bool) {
	say := func(hanging int, text string) {
		for _, line := range wrapped(summary.EscapeTerminal(text, utf8Locale(a.Getenv)), auditWidth, hanging) {
			a.tell(a.Stdout, line)
		}
	}
	say(0, fmt.Sprintf("Each rule was asked about %s studies made from your files so that the truth is known. Seed %s.", gate.Thousands(doc.Runs), diag.Quote(doc.Seed)))
	fmt.Fprintln(a.Stdout)
	a.tell(a.Stdout, tableRow("", "wrong", "", "", "by chance", "alone", "can", "can"))
	a.tell(a.Stdout, tableRow("rule", "verdicts", "promised", "kept", "green", "red", "pass", "fail"))
	for i := range doc.Rules {
		t := &doc.Rules[i]
		wrong, promised, kept, green, red := "not audited", "", "", "", ""
		if share, promise, ok := t.WrongVerdicts(); ok {
			wrong, promised = gate.Thousands(share.Count), "≤ "+percent(promise)
		} else if t.Chance != nil {
			wrong = "none"
		}
		if c := t.Chance; c != nil {
			kept, green, red = yesNo(!t.Broken()), gate.Thousands(c.Verdicts.Pass), gate.Thousands(c.Runs-c.Verdicts.Pass)
		}
		name := t.Rule
		if t.Advisory {
			name = "(" + t.Rule + ")"
		}
		a.tell(a.Stdout, tableRow(clipped(summary.EscapeTerminal(name, utf8Locale(a.Getenv)), 25), wrong, promised, kept, green, red, able(t.CanPass()), canFail(t)))
	}
	fmt.Fprintln(a.Stdout)
	legend := "Wrong verdicts: PASS although the rule is violated, or FAIL although it is satisfied. Green: PASS, which ends a step with 0; red: everything else, undecided too, unless fail-on is set."
	if slices.ContainsFunc(doc.Rules, func(t audit.RuleTest) bool { return t.Advisory }) {
		legend += " In brackets: advisory rules, which never turn a step red and do not count here."
	}
	say(0, legend)
	for i := range doc.Rules {
		fmt.Fprintln(a.Stdout)
		tellRuleTest(&doc.Rules[i], all, say)
	}
}

// tableRow is one row of the table: at most 80 columns.
func tableRow(rule string, cells ...string) string {
	line := rule + strings.Repeat(" ", max(0, 26-len([]rune(rule))))
	for i, width := range []int{12, 9, 5, 6, 7} { // not audited, ≤ 2.5 %, kept, green, red
		if right := i >= 3; right {
			line += strings.Repeat(" ", max(0, width-len([]rune(cells[i])))) + cells[i]
		} else {
			line += cells[i] + strings.Repeat(" ", max(0, width-len([]rune(cells[i]))))
		}
	}
	return strings.TrimRight(line+"  "+cells[5]+strings.Repeat(" ", max(1, 7-len([]rune(cells[5]))))+cells[6], " ")
}

// clipped is a text of at most so many characters.
func clipped(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// able says in a word whether a rule can come to a verdict.
func able(x audit.Ability) string {
	switch x {
	case "":
		return "-"
	case audit.Cannot:
		return "NO"
	}
	return string(x)
}

// canFail says in a word whether a rule can fail.
func canFail(t *audit.RuleTest) string {
	if t.Harm != nil && t.Harm.Always {
		return "always"
	}
	return able(t.CanFail())
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "NO"
}

// share writes how often something came about.
func share(s audit.Share) string {
	return fmt.Sprintf("%s of %s", gate.Thousands(s.Count), gate.Thousands(s.Of))
}

// percent writes a probability in percent with at most two decimals, or with one digit that is not 0 where it is smaller.
func percent(p float64) string {
	places := 100.0
	for p > 0 && math.Round(p*100*places) == 0 {
		places *= 10
	}
	return strconv.FormatFloat(math.Round(p*100*places)/places, 'f', -1, 64) + " %"
}

// number writes a value of a rule to three decimals.
func number(x *float64) string {
	if x == nil {
		return "unknown"
	}
	return strconv.FormatFloat(math.Round(*x*1000)/1000, 'f', -1, 64)
}

// errorWords say what an error is.
var errorWords = map[string]string{
	audit.PassesWrongly: "PASS although the truth violates the rule",
	audit.FailsWrongly:  "FAIL although the truth satisfies the rule",
	audit.TooHigh:       "the whole interval above the truth",
	audit.TooLow:        "the whole interval below the truth",
	audit.FamilyFails:   "FAIL of any rule of the family whose studies it shares, although the truth satisfies that rule",
}

// signWords say what an error of a sign test is, which has no threshold.
var signWords = map[string]string{
	audit.PassesWrongly: "PASS although neither version is better",
	audit.FailsWrongly:  "FAIL although neither version is worse",
}

// tellRuleTest says what was found of one rule: all of it, or what a reader has to know. say prints a paragraph whose further lines
// are indented by hanging.
func tellRuleTest(t *audit.RuleTest, all bool, say func(hanging int, text string)) {
	head := t.Rule + ": " + t.Metric
	if k := t.Threshold.Kind; k != "" {
		head += ", " + string(k)
		if t.Threshold.Side != "" {
			head += " " + string(t.Threshold.Side)
		}
		head += " " + strconv.FormatFloat(t.Threshold.Value, 'f', -1, 64)
	}
	if t.Estimate != nil {
		head += "; in the file " + number(t.Estimate)
	}
	if t.Advisory {
		head += " (advisory: it cannot fail the run, and does not count here)"
	}
	say(2, head)
	if f := t.Finished; f != nil {
		say(4, fmt.Sprintf("  Its planned %d %s are not all there. The finished study was audited: %d of them are copies of those in the file.", f.Planned, f.Units, f.Copied))
	}
	if c := t.Chance; c == nil {
		say(4, "  By chance: not audited: "+t.NotAudited+".")
	} else if all || t.Broken() {
		tellChance(t, all, say)
	}
	if t.Harm != nil {
		tellHarm(t, all, say)
	}
}

// tellChance says how a rule erred.
func tellChance(t *audit.RuleTest, all bool, say func(hanging int, text string)) {
	c := t.Chance
	say(4, "  By chance: "+c.Null+".")
	for _, check := range shownChecks(c.Checks) {
		if !all && !check.Broken {
			continue
		}
		of := ""
		if check.Group != "" {
			of = ", of " + diag.Quote(check.Group)
		}
		if (check.Error == audit.TooHigh || check.Error == audit.TooLow) && c.Truth != nil {
			of += " (" + number(c.Truth) + ")"
		}
		verdict := "kept"
		if check.Broken {
			verdict = "BROKEN"
		}
		if check.BrokenFrom > 0 {
			verdict += fmt.Sprintf(" (broken from %s on)", gate.Thousands(check.BrokenFrom))
		}
		what := errorWords[check.Error]
		if own := signWords[check.Error]; t.Threshold.Kind == "" && own != "" { // a sign test
			what = own
		}
		say(6, fmt.Sprintf("    %s%s: %s (%s to %s); promised at most %s: %s.", what, of, share(check.Share),
			percent(check.Between[0]), percent(check.Between[1]), percent(check.Promise), verdict))
	}
	if f := t.Adjusted; f != nil {
		say(6, fmt.Sprintf("    It shares its error with the other rules of its family (adjust: %s, %s).", f.Method, countOf(f.Rules, "rule")))
	}
	v := c.Verdicts
	refused := ""
	if c.Refused > 0 {
		refused = fmt.Sprintf(" %d without a verdict: the gate cannot use their rows.", c.Refused)
	}
	say(6, fmt.Sprintf("    PASS %d, FAIL %d, INSUFFICIENT_EVIDENCE %d, MANUAL_REVIEW %d.%s", v.Pass, v.Fail, v.InsufficientEvidence, v.ManualReview, refused))
}

// causes say what kind of reason it is that a rule cannot FAIL, in the order of what a reader can do.
var causes = map[audit.Cause]string{
	audit.ByThreshold: "CANNOT FAIL, because of its threshold: ",
	audit.TooFew:      "CANNOT FAIL with so little data: even with the worst possible harm in all of the file's rows it is undecided. ",
	audit.ForAPerson:  "CANNOT FAIL, because it is always left to a person: ",
	audit.NoData:      "CANNOT FAIL, because nothing is there to be measured: ",
	audit.BySettings:  "CANNOT FAIL, because the policy or what is missing leaves it undecided: ",
}

// needed is what would decide a rule, as a phrase; "" where nothing is known. The study that it is about was made by the audit, so that
// which verdict it would be is clear.
func needed(n *report.Needs) string {
	if n == nil {
		return ""
	}
	what := strings.NewReplacer(", as FAIL at the present values", "", ", as FAIL", "").Replace(n.What)
	if n.AtLeast > 0 {
		return "about " + gate.Thousands(n.AtLeast) + " " + what
	}
	return what
}

// sizeOf says what a rule rests on now.
func sizeOf(t *audit.RuleTest) string {
	if t.Units == nil || t.UnitName == "" {
		return ""
	}
	return fmt.Sprintf("It rests on %s %s. ", gate.Thousands(*t.Units), t.UnitName)
}

// tellHarm says what harm a rule finds, and whether it can pass.
func tellHarm(t *audit.RuleTest, all bool, say func(hanging int, text string)) {
	h := t.Harm
	if all {
		say(4, "  Harm: "+h.Planted+".")
	}
	needs := needed(h.Needs)
	switch {
	case h.Cause == audit.TooFew:
		say(4, fmt.Sprintf("  %s%sIt would take %s", causes[h.Cause], sizeOf(t), sentence(needs)))
	case h.Toothless != "":
		text := "  " + causes[h.Cause] + sentence(h.Toothless)
		if h.Cause == audit.BySettings && needs != "" {
			text += " It would take " + sentence(needs)
		}
		say(4, text)
	case t.CanFail() == audit.Seldom:
		own := "in the file's own rows too it is " + h.OwnRows.String()
		if h.OwnRows == report.Fail {
			own = "in the file's own rows it is FAIL then"
		}
		text := fmt.Sprintf("  It can FAIL, and seldom does: with the worst possible harm planted (%s: %s), in %s studies, less than 80 %%; %s.", h.Measure, number(h.Worst), share(h.AtWorst), own)
		if needs != "" {
			text += " One of the undecided studies would take " + sentence(needs)
		}
		say(4, text)
	case h.Always:
		say(4, fmt.Sprintf("  It FAILs in 80 %% of the studies at the best that can be planted too (%s), so what harm it finds cannot be told.", share(*h.Found)))
	default:
		text := fmt.Sprintf("  The least harm that it finds in 80 %% of the studies: %s at %s", h.Measure, number(h.Smallest))
		if all {
			text += fmt.Sprintf(" (FAIL in %s). At the worst possible, %s: FAIL in %s", share(*h.Found), number(h.Worst), share(h.AtWorst))
		}
		say(4, text+".")
	}
	best := "where the best possible is planted"
	if k := t.Threshold.Kind; k == report.MaxGroupGap || k == report.MinGroupRatio {
		best = "where all groups have one rate, that of the file"
	}
	switch able := t.CanPass(); {
	case able == audit.Cannot && (h.Always || h.Cause == audit.ForAPerson || h.Cause == audit.NoData): // which is said
	case able == audit.Cannot:
		text := "  CANNOT PASS: not once, not even " + best + "."
		if needs := needed(h.NeedsToPass); needs != "" {
			text += " It would take " + sentence(needs)
		}
		say(4, text)
	case able == audit.Seldom || all:
		say(4, fmt.Sprintf("  It PASSes in %s studies %s.", share(h.PassesAtBest), best))
	}
}

// shownChecks are the errors that are printed: of groups only those of the one that comes nearest to its promise, or is farthest
// beyond it.
func shownChecks(checks []audit.PromiseCheck) []audit.PromiseCheck {
	var list []audit.PromiseCheck
	for _, kind := range []string{audit.PassesWrongly, audit.FailsWrongly, audit.TooHigh, audit.TooLow, audit.FamilyFails} {
		var most *audit.PromiseCheck
		for i := range checks {
			if c := &checks[i]; c.Error == kind && (most == nil || c.Share.Count > most.Share.Count) {
				most = c
			}
		}
		if most != nil {
			list = append(list, *most)
		}
	}
	return list
}

// sentence ends a text with a point.
func sentence(text string) string {
	if strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// wrapped breaks a text at its spaces into lines of at most width characters where that is possible. Lines but the first are
// indented by hanging; the first keeps the text's own indent.
func wrapped(text string, width, hanging int) []string {
	indent := len(text) - len(strings.TrimLeft(text, " "))
	line, length := strings.Repeat(" ", indent), indent
	var lines []string
	empty := true
	for word := range strings.FieldsSeq(text) {
		n := len([]rune(word))
		if !empty && length+1+n > width {
			lines = append(lines, line)
			line, length, empty = strings.Repeat(" ", hanging), hanging, true
		}
		if !empty {
			line, length = line+" ", length+1
		}
		line, length, empty = line+word, length+n, false
	}
	return append(lines, line)
}
