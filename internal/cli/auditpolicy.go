package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
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
promises. Harm: answers in your rows are turned wrong, from none to all of them, and the smallest harm is looked for at
which the rule FAILs in 80 % of the studies.

FILE and the flags are those of the gate itself. A release file, and a declaration of fairness, name their files: then
there is no FILE. Waivers and reviews play no part. The same files, policy, runs and seed give the same answer.

Exit status: 0 every rule keeps its promise and can fail; 1 a rule errs more often than it promises, or not even the
worst possible harm fails it; 2 the files, the policy or the command line cannot be used. Advisory rules are shown and do
not count.`,
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
	f.IntVar(&p.runs, "runs", defaultRuns, "the `NUMBER` of studies that errors are counted in")
	f.StringVar(&p.seed, "seed", "oloproof", "any `TEXT`; the same seed gives the same answer")
	f.StringVar(&delimiter, "delimiter", "", "the `CHARACTER` between CSV fields: , ; | or tab (default: found from the header)")
	f.StringVar(&p.flags.Design, "design", "", "human-ai: the study's `DESIGN`, crossed or before_after (default: found from the file)")
	f.StringVar(&p.flags.Assignment, "assignment", "", "human-ai: `FILE` written by `oloproof human-ai assign`, which the decisions must follow")
	f.StringVar(&p.flags.Draw, "draw", "", "anchoring: `FILE` written by `oloproof anchoring draw`, which the labels must follow")
	f.StringVar(&p.flags.Baseline, "baseline", "", "compare: the old `VERSION`, or the file of its trials where no FILE is given")
	f.StringVar(&p.flags.Candidate, "candidate", "", "compare: the new `VERSION`, or the file of its trials where no FILE is given")
	f.BoolVar(&p.json, "json", false, "print one JSON document")
	f.BoolVarP(&p.quiet, "quiet", "q", false, "leave out the closing line on standard error")
	must(cmd.RegisterFlagCompletionFunc("gate", cobra.FixedCompletions(kinds.Names(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// auditPolicy carries out an audit of a policy on files.
func (a *app) auditPolicy(ctx context.Context, p policyAudit, args []string, mistakes error) error {
	p.files = args
	problems := []error{mistakes, checkFlags(p.request)}
	if p.runs < 1 || p.runs > mostRuns {
		problems = append(problems, usagef("--runs is %d; write a number from 1 to %d", p.runs, mostRuns))
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
	asked, end := a.auditProgress()
	tests, err := audit.SelfTest{Setup: a.setup(p.request), Studies: studies, Runs: p.runs, Seed: p.seed, Step: func() { asked.Add(1) }}.Run(ctx, names)
	end()
	if ctx.Err() != nil {
		a.tell(a.Stderr, "oloproof: interrupted; nothing was found out")
		return errReported
	}
	if err != nil {
		return fmt.Errorf("%w; this is a fault in oloproof", err)
	}
	doc.Rules, doc.Runs, doc.Seed = tests, p.runs, p.seed
	for i := range tests {
		if t := &tests[i]; !t.Advisory && (t.Broken() || t.Toothless()) {
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
		a.tellAudit(doc)
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
	parts := compile(*req, p, beside, diags)
	policyOf := p
	if beside != nil {
		policyOf = beside
	}
	checkRules(policyOf, parts, diags)
	out := report.New(a.Version)
	kept := make([]*keeping, len(parts))
	for i := range parts {
		before := diags.Len()
		original := parts[i].question
		kept[i] = &keeping{Question: original}
		parts[i].question = kept[i]
		a.read(*req, &parts[i], out, len(parts) > 1, diags)
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
		parts := compile(req, p, beside, diags)
		if beside != nil {
			p = beside
		}
		families := checkRules(p, parts, diags)
		return questions(parts), families, diags.Err()
	}
}

// auditProgress says on a terminal how many studies were decided, once that takes long. The returned function ends it and
// clears its line.
func (a *app) auditProgress() (asked *atomic.Int64, stop func()) {
	asked = &atomic.Int64{}
	if _, is := terminal(a.Stderr); !is {
		return asked, func() {}
	}
	done, gone := make(chan struct{}), make(chan struct{})
	started := a.Now()
	go func() {
		defer close(gone)
		tick := time.NewTicker(patience)
		defer tick.Stop()
		for shown := false; ; shown = true {
			select {
			case <-done:
				if shown {
					fmt.Fprint(a.Stderr, "\r\x1b[K")
				}
				return
			case <-tick.C:
				fmt.Fprintf(a.Stderr, "\r\x1b[Koloproof: decided %d studies, %d s …", asked.Load(), int(a.Now().Sub(started).Seconds()))
			}
		}
	}()
	return asked, func() { close(done); <-gone }
}

// closingAudit is the one line on standard error at the end.
func closingAudit(doc *auditedPolicy) string {
	broken, toothless, counting := 0, 0, 0
	for i := range doc.Rules {
		t := &doc.Rules[i]
		if t.Advisory {
			continue
		}
		counting++
		if t.Broken() {
			broken++
		}
		if t.Toothless() {
			toothless++
		}
	}
	if broken+toothless == 0 {
		return fmt.Sprintf("Audited %s: the promises are kept, and every rule can fail", countOf(counting, "rule"))
	}
	return fmt.Sprintf("Audited %s: %d broke the promise, %d cannot fail", countOf(counting, "rule"), broken, toothless)
}

// auditWidth is the width of the audit's text.
const auditWidth = 80

// tellAudit prints an audit for a person.
func (a *app) tellAudit(doc *auditedPolicy) {
	say := func(hanging int, text string) {
		for _, line := range wrapped(summary.EscapeTerminal(text, utf8Locale(a.Getenv)), auditWidth, hanging) {
			a.tell(a.Stdout, line)
		}
	}
	say(0, fmt.Sprintf("Errors are counted in %d studies a rule, made from your files so that the truth is known. Seed %s.", doc.Runs, diag.Quote(doc.Seed)))
	fmt.Fprintln(a.Stdout)
	a.tell(a.Stdout, tableRow("rule", "errs by chance", "promised", "kept", "can fail"))
	for i := range doc.Rules {
		t := &doc.Rules[i]
		errs, promised, kept := "not audited", "", ""
		if c := nearest(t); c != nil {
			errs, promised, kept = share(c.Share), "≤ "+percent(c.Promise), yesNo(!t.Broken())
		}
		a.tell(a.Stdout, tableRow(clipped(summary.EscapeTerminal(t.Rule, utf8Locale(a.Getenv)), 32), errs, promised, kept, canFail(t)))
	}
	for i := range doc.Rules {
		fmt.Fprintln(a.Stdout)
		tellRuleTest(&doc.Rules[i], say)
	}
	fmt.Fprintf(a.Stdout, "\nexit status %d\n", doc.ExitStatus)
}

// tableRow is one row of the table: at most 80 columns.
func tableRow(rule, errs, promised, kept, fails string) string {
	pad := func(text string, width int) string {
		return text + strings.Repeat(" ", max(0, width-len([]rune(text))))
	}
	return strings.TrimRight(pad(rule, 34)+pad(errs, 16)+pad(promised, 11)+pad(kept, 6)+fails, " ")
}

// clipped is a text of at most so many characters.
func clipped(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// canFail says in a word whether a rule can fail.
func canFail(t *audit.RuleTest) string {
	switch {
	case t.Toothless():
		return "NO"
	case t.Harm != nil && t.Harm.OwnRows == report.Fail:
		return "seldom"
	case t.Harm != nil && t.Harm.Always:
		return "always"
	}
	return "yes"
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "NO"
}

// share writes how often something came about.
func share(s audit.Share) string { return fmt.Sprintf("%d of %d", s.Count, s.Of) }

// percent writes a probability in percent with at most three decimals.
func percent(p float64) string {
	return strconv.FormatFloat(math.Round(p*1e5)/1000, 'f', -1, 64) + " %"
}

// number writes a value of a rule to three decimals.
func number(x *float64) string {
	if x == nil {
		return "unknown"
	}
	return strconv.FormatFloat(math.Round(*x*1000)/1000, 'f', -1, 64)
}

// nearest is the kind of error that comes nearest to its promise, or goes farthest beyond it; nil where none was counted.
func nearest(t *audit.RuleTest) *audit.PromiseCheck {
	if t.Chance == nil {
		return nil
	}
	var most *audit.PromiseCheck
	for i := range t.Chance.Checks {
		c := &t.Chance.Checks[i]
		if most == nil || c.Broken && !most.Broken || c.Broken == most.Broken && c.Share.Value()*most.Promise > most.Share.Value()*c.Promise {
			most = c
		}
	}
	return most
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

// tellRuleTest says what was found of one rule. say prints a paragraph whose further lines are indented by hanging.
func tellRuleTest(t *audit.RuleTest, say func(hanging int, text string)) {
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
	if c := t.Chance; c == nil {
		say(4, "  By chance: not audited: "+t.NotAudited+".")
	} else {
		say(4, "  By chance: "+c.Null+".")
		for _, check := range shownChecks(c.Checks) {
			of := ""
			if check.Group != "" {
				of = ", of " + diag.Quote(check.Group)
			}
			verdict := "kept"
			if check.Broken {
				verdict = "BROKEN"
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
	h := t.Harm
	if h == nil {
		return
	}
	say(4, "  Harm: "+h.Planted+".")
	switch {
	case h.Toothless != "":
		say(6, fmt.Sprintf("    CANNOT FAIL: with the worst possible harm (%s: %s) it FAILs in %s studies. Why: %s", h.Measure, number(h.Worst), share(h.AtWorst), sentence(h.Toothless)))
	case h.OwnRows == report.Fail:
		say(6, fmt.Sprintf("    It can FAIL, and seldom does: with the worst possible planted in the file's own rows it is FAIL, and in studies drawn anew (%s: %s) in %s, less than 80 %%. It needs more units.", h.Measure, number(h.Worst), share(h.AtWorst)))
	case h.Always:
		say(6, fmt.Sprintf("    It FAILs in 80 %% of the studies at the best that can be planted too (%s), so what harm it finds cannot be told.", share(*h.Found)))
	default:
		say(6, fmt.Sprintf("    The least harm that it finds in 80 %% of the studies: %s at %s (FAIL in %s). At the worst possible, %s: FAIL in %s.", h.Measure, number(h.Smallest), share(*h.Found), number(h.Worst), share(h.AtWorst)))
	}
}

// shownChecks are the errors that are printed: of groups only those of the one that comes nearest to its promise.
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
