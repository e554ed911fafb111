package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// Subject is a section of a policy whose rules studies are planned for. Its questions are asked about rows in memory; the files
// that it names are not read.
type Subject struct {
	Gate     gate.Gate
	Section  *policy.Section
	Rules    []policy.Rule     // with their families
	Columns  [][]string        // of each input
	Roles    []string          // of each input: "" for the decisions
	Never    []diag.Diagnostic // what its rules can never come to at the sizes that it declares
	file     string
	version  string
	text     []byte
	at       int // among the sections of its gate
	flags    gate.Flags
	families policy.Families
}

// Subjects returns the sections of one gate in a policy, given as its text; version is the program's. Bare rules are the gate's.
// What is wrong with the policy goes to diags, and the list is then of no use.
func Subjects(g gate.Gate, file string, text []byte, version string, flags gate.Flags, diags *diag.List) []*Subject {
	p := policy.Load(policy.Parse(file, text, diags), kinds.Sections(), g.Section(), version)
	if p == nil {
		return nil
	}
	var questions []gate.Question
	var lists [][]policy.Rule
	var list []*Subject
	for i := range p.Sections {
		s := &p.Sections[i]
		own := kinds.All()[slices.IndexFunc(kinds.All(), func(x gate.Gate) bool { return x.Section() == s.Key })]
		of := gate.Flags{}
		if own.Name() == g.Name() {
			of = flags
		}
		q := compileSubject(own, s, of, diags)
		questions, lists = append(questions, q), append(lists, q.Rules())
		if own.Name() == g.Name() {
			list = append(list, &Subject{Gate: g, Section: s, file: file, version: version, text: text, at: len(list), flags: flags})
		}
	}
	policy.CheckRules(p.Document.Pos(), diags, lists...)
	families := policy.NewFamilies(diags, lists...)
	of := 0
	for i, q := range questions {
		q.Share(families)
		if p.Sections[i].Key != g.Section() {
			continue
		}
		s := list[of]
		of++
		s.families, s.Rules, s.Columns = families, q.Rules(), Columns(q)
		if diags.Len() == 0 {
			s.Never = q.Prospects()
		}
		for _, in := range q.Inputs() {
			s.Roles = append(s.Roles, in.Role)
		}
	}
	if len(list) == 0 && diags.Len() == 0 {
		diags.Addf(p.Document.Pos(), "the policy has no section %s", g.Section())
	}
	return list
}

// unnamed are the versions of a comparison whose policy does not name them.
var unnamed = [2]string{"baseline", "candidate"}

// compileSubject compiles a section for rows in memory. A draw stays: how the blind items were drawn is part of how they are
// judged.
func compileSubject(g gate.Gate, s *policy.Section, flags gate.Flags, diags *diag.List) gate.Question {
	source := gate.Source{Verb: gate.Decide, Section: s, Settings: s.Settings, Flags: flags, NoFiles: true}
	if g.Name() != "anchoring" {
		source.Files = []string{"study.csv"}
	}
	if g.Name() == "compare" && !s.Map.Has("baseline") && !s.Map.Has("candidate") && flags.Baseline == "" {
		source.Flags.Baseline, source.Flags.Candidate = unnamed[0], unnamed[1]
	}
	return g.Compile(source, diags)
}

// variant is the subject with another text of its policy; an error where that text cannot be used.
func (s *Subject) variant(text []byte) (*Subject, error) {
	diags := &diag.List{}
	list := Subjects(s.Gate, s.file, text, s.version, s.flags, diags)
	if err := diags.Err(); err != nil {
		return nil, err
	}
	return list[s.at], nil
}

// Judge is what a rule, by its place, comes to on a study. Within a family by holm a FAIL counts where it holds at the smallest
// part of the error, so whatever the other rules come to. Rows that the question refuses are an error.
func (s *Subject) Judge(study Study, rule int) (report.Rule, error) {
	v, err := s.judgeBoth(study, rule)
	if v.alone.Verdict == report.Fail && v.least.Verdict != report.Fail {
		v.alone.Verdict = report.InsufficientEvidence
	}
	return v.alone, err
}

// verdicts is what a rule comes to by itself, and at the smallest part of its error at which a FAIL may have to hold.
type verdicts struct{ alone, least report.Rule }

// judgeBoth is what a rule comes to on a study.
func (s *Subject) judgeBoth(study Study, rule int) (verdicts, error) {
	diags := &diag.List{}
	p := policy.Load(policy.Parse(s.file, s.text, diags), kinds.Sections(), s.Gate.Section(), s.version)
	if p == nil {
		return verdicts{}, diags.Err()
	}
	q := compileSubject(s.Gate, p.Of(s.Gate.Section())[s.at], s.flags, diags)
	q.Share(s.families)
	if err := diags.Err(); err != nil {
		return verdicts{}, err
	}
	if err := Read(q, study); err != nil {
		if problem, ok := errors.AsType[*diag.Error](err); ok && len(problem.Items) > 0 {
			err = errors.New(problem.Items[0].Message)
		}
		return verdicts{}, fmt.Errorf("under this policy a made-up study cannot be read: %w", err)
	}
	alone, err := q.Judge(rule, 1)
	v := verdicts{alone, alone}
	if f := s.Rules[rule].Family; err == nil && alone.Verdict == report.Fail && f != nil && f.Adjust == policy.AdjustHolm && f.Rules > 1 {
		v.least, err = q.Judge(rule, f.Rules)
	}
	return v, err
}

// numberAt is another text for a whole number in a policy.
type numberAt struct {
	pos   diag.Pos
	value int
}

// withNumbers is the subject with other whole numbers in its policy, such as the planned number of units. Numbers that are
// not set in the policy (a position of line 0) stay as they are.
func (s *Subject) withNumbers(numbers ...numberAt) (*Subject, error) {
	lines := strings.SplitAfter(string(s.text), "\n")
	numbers = slices.DeleteFunc(slices.Clone(numbers), func(n numberAt) bool { return n.pos.Line == 0 })
	if len(numbers) == 0 {
		return s, nil
	}
	slices.SortFunc(numbers, func(a, b numberAt) int { return b.pos.Compare(a.pos) }) // from the end, so that no other moves
	for _, n := range numbers {
		before, rest, ok := cutAt(lines, n.pos)
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if !ok || digits == 0 {
			return nil, fmt.Errorf("%s: the number cannot be varied as it is written; write plain digits", n.pos)
		}
		lines[n.pos.Line-1] = before + strconv.Itoa(n.value) + rest[digits:]
	}
	return s.variant([]byte(strings.Join(lines, "")))
}

// cutAt cuts a line of a text at a position.
func cutAt(lines []string, pos diag.Pos) (before, rest string, ok bool) {
	if pos.Line < 1 || pos.Line > len(lines) {
		return "", "", false
	}
	line := lines[pos.Line-1]
	column := 1
	for i := range line {
		if column == pos.Column {
			return line[:i], line[i:], true
		}
		column++
	}
	return "", "", false
}

// withKeys is the subject with keys put before the first key of a rule, each a text such as "looks: once"; nil where the policy
// cannot be used so.
func (s *Subject) withKeys(rule int, keys ...string) *Subject {
	lines := strings.SplitAfter(string(s.text), "\n")
	pos := s.Rules[rule].Pos
	before, rest, ok := cutAt(lines, pos)
	if !ok {
		return nil
	}
	between := "\n" + strings.Repeat(" ", pos.Column-1)
	if strings.HasSuffix(strings.TrimSpace(strings.Join(lines[:pos.Line-1], "")+before), "{") {
		between = ", "
	}
	lines[pos.Line-1] = before + strings.Join(keys, between) + between + rest
	v, err := s.variant([]byte(strings.Join(lines, "")))
	if err != nil {
		return nil
	}
	return v
}

// Odds is how likely each verdict is. The four sum to 1.
type Odds struct {
	Pass, Fail, Undecided, Review float64
	Runs                          int // simulated studies that they were counted in; 0: computed exactly
}

// of is the chance of a verdict.
func (o Odds) of(v report.Verdict) float64 {
	switch v {
	case report.Pass:
		return o.Pass
	case report.Fail:
		return o.Fail
	case report.ManualReview:
		return o.Review
	}
	return o.Undecided
}

// ends is the 95 % Monte Carlo interval of the chance of a verdict; the chance itself where it is exact.
func (o Odds) ends(v report.Verdict) (low, high float64, err error) {
	if o.Runs == 0 {
		return o.of(v), o.of(v), nil
	}
	iv, err := Share{int(math.Round(float64(o.of(v) * float64(o.Runs)))), o.Runs}.Interval(0.95)
	return iv.Lower, iv.Upper, err
}

// Track is how one rule is planned under one choice of what is not searched for.
type Track struct {
	Unit        string // what a size counts, in the plural
	Least, Most int    // sizes that are looked at
	Every       int    // sizes up to this are looked at one by one: there more units need not be better
	Dips        int    // how many sizes under one found by halving are looked at too: whole numbers of events make chances saw-toothed
	Assumes     []string
	Exact       bool
	Share       float64 // which share of all that there is a size counts, such as the decisions where the system is wrong; 0: all
	Limit       string  // why no more than Most are looked at; "": the search ends there
	// Odds is how likely each verdict is at a size, for each truth; runs is how many studies are drawn for each, where they
	// are. A truth that the studies cannot have is an error.
	Odds func(ctx context.Context, size int, truths []float64, runs int) ([]Odds, error)
	// Possible says what is wrong with a truth; nil where studies can have it.
	Possible func(truth float64) error
}

// Shape is what the studies of a gate are taken to look like where neither the policy nor the size says.
type Shape interface {
	// Check says what is wrong with it.
	Check() error
	// Truths says what a truth of a rule is, in words, between which values it lies, and at which value PASS turns into FAIL.
	Truths(s *Subject, rule int) (Truths, error)
	// Tracks are the ways to plan a rule: the first is the main one, the others are compared with it, by their What.
	Tracks(s *Subject, rule int, draw Drawing) ([]Way, error)
}

// Truths is the terms in which the truth of a rule is stated.
type Truths struct {
	What         string  // "the mean difference", after "if"
	Lower, Upper float64 // the range of it
	Threshold    float64
	// Above says that the rule holds where the truth is above the threshold; else where it is below.
	Above  bool
	Signed bool // shown with its sign
}

// Verdict is the right one at a truth: PASS or FAIL; NoVerdict at the threshold itself.
func (t Truths) Verdict(truth float64) report.Verdict {
	switch {
	case truth == t.Threshold:
		return report.NoVerdict
	case (truth > t.Threshold) == t.Above:
		return report.Pass
	}
	return report.Fail
}

// Way is one way to plan a rule.
type Way struct {
	What  string // how it differs from the main way; "" for that
	Track Track
	// Declared is the size that the policy declares; 0 for none.
	Declared int
}

// Drawing is how simulated studies are drawn.
type Drawing struct {
	Seed string
	Step func() // after each, by one goroutine at a time; nil for none
}

// simulated returns the odds of a rule on studies drawn by draw: for each truth the same random sources, whatever the size.
func simulated(ctx context.Context, s *Subject, rule int, d Drawing, runs int, truths []float64, draw func(r *rand.Rand, truth float64) Study) ([]Odds, error) {
	list := make([]Odds, len(truths))
	for i, truth := range truths {
		verdicts, err := Repeat(ctx, d.Seed, "plan "+s.Rules[rule].ID.Value, runs, d.Step, func(r *rand.Rand, _ int) (report.Verdict, error) {
			out, err := s.Judge(draw(r, truth), rule)
			return out.Verdict, err
		})
		if err != nil {
			return nil, err
		}
		counts := map[report.Verdict]int{}
		for _, v := range verdicts {
			counts[v]++
		}
		share := func(v report.Verdict) float64 { return float64(counts[v]) / float64(runs) }
		list[i] = Odds{share(report.Pass), share(report.Fail), share(report.InsufficientEvidence), share(report.ManualReview), runs}
	}
	return list, nil
}

// law is how likely each number of events is, from the number from on; chances below about 1e-17 of the likeliest one are left
// out. It is made of products, quotients and sums alone, so that every machine has the same.
type law struct {
	from int
	p    []float64
}

// newLaw is the law on least … most whose neighbours stand in the ratio p(k+1)/p(k) = ratio(k), which falls.
func newLaw(least, most int, ratio func(k int) float64) law {
	low, high := least, most // the mode is the first number whose successor is less likely
	for low < high {
		if middle := low + (high-low)/2; ratio(middle) < 1 {
			high = middle
		} else {
			low = middle + 1
		}
	}
	const negligible = 1e-17
	mode := low
	up := []float64{1}
	for k := mode; k < most && up[len(up)-1] > negligible; k++ {
		up = append(up, float64(up[len(up)-1]*ratio(k)))
	}
	var down []float64
	for k, last := mode-1, 1.0; k >= least && last > negligible; k-- {
		last = last / ratio(k)
		down = append(down, last)
	}
	slices.Reverse(down)
	l := law{mode - len(down), append(down, up...)}
	total := 0.0
	for _, p := range l.p {
		total += p
	}
	for i := range l.p {
		l.p[i] /= total
	}
	return l
}

// binomialLaw is the law of Bin(n, p).
func binomialLaw(n int, p float64) law {
	switch {
	case p <= 0:
		return law{0, []float64{1}}
	case p >= 1:
		return law{n, []float64{1}}
	}
	odds := p / (1 - p)
	return newLaw(0, n, func(k int) float64 { return float64(float64(n-k)/float64(k+1)) * odds })
}

// drawnLaw is the law of how many of n items drawn from N, M of which agree, do.
func drawnLaw(M, n, N int) law {
	return newLaw(max(0, n-(N-M)), min(n, M), func(k int) float64 {
		return float64(float64(M-k)/float64(k+1)) * float64(float64(n-k)/float64(N-M-n+k+1))
	})
}

// between is the chance of a to b events, both included.
func (l law) between(a, b int) float64 {
	sum := 0.0
	for k := max(a, l.from); k <= b && k < l.from+len(l.p); k++ {
		sum += l.p[k-l.from]
	}
	return min(1, sum)
}

// turns are the numbers of events, 0 to most, at which a rule on 0/1 units turns: it is FAIL below or above one, PASS on the other
// side of another. It asks the gate about studies with so many events, and halves: a verdict never gets worse as events move to
// the rule's side.
type turns struct {
	most int
	rise bool // more events are better
	pass int  // from here on (rise) or below here (else) it is PASS
	fail int  // below here (rise) or from here on (else) it is FAIL
	why  string
	rest report.Verdict // what is neither
}

// near scales the turns to another number of units, as a guess of where they are there.
func (t turns) near(most int) *turns {
	if t.most < 1 {
		return nil
	}
	t.pass, t.fail = int(int64(t.pass)*int64(most)/int64(t.most)), int(int64(t.fail)*int64(most)/int64(t.most))
	return &t
}

// findTurns finds them; above says that more events are better. guess, which may be nil, is where they are looked for first: it saves
// asking, and changes nothing.
func findTurns(most int, above bool, guess *turns, judge func(events int) (report.Rule, error)) (turns, error) {
	t := turns{most: most, rise: above, rest: report.InsufficientEvidence}
	known := map[int]report.Verdict{}
	var fault error
	verdict := func(k int) report.Verdict {
		v, found := known[k]
		if !found && fault == nil {
			out, err := judge(k)
			fault, v = err, out.Verdict
			known[k] = v
			if v == report.ManualReview {
				t.rest, t.why = v, out.Reason
			}
		}
		return v
	}
	first := func(is func(v report.Verdict) bool, near int) int { // the first number of which it is so, and of all after it
		low, high := 0, most+1
		if guess != nil { // in steps that double, until it is enclosed
			near = max(0, min(most, near))
			if up := !is(verdict(near)); up {
				low = near + 1
				for step := 1; low < high && low <= most; step *= 2 {
					k := min(most, low-1+step)
					if is(verdict(k)) {
						high = k
						break
					}
					low = k + 1
				}
			} else {
				high = near
				for step := 1; low < high; step *= 2 {
					k := max(0, high-step)
					if !is(verdict(k)) {
						low = k + 1
						break
					}
					high = k
				}
			}
		}
		for low < high {
			if middle := low + (high-low)/2; is(verdict(middle)) {
				high = middle
			} else {
				low = middle + 1
			}
		}
		return low
	}
	var near turns
	if guess != nil {
		near = *guess
	}
	t.pass = first(func(v report.Verdict) bool { return (v == report.Pass) == above }, near.pass)
	t.fail = first(func(v report.Verdict) bool { return (v == report.Fail) != above }, near.fail)
	return t, fault
}

// odds are those under a law of the events.
func (t turns) odds(l law) Odds {
	var o Odds
	if t.rise {
		o.Pass, o.Fail = l.between(t.pass, t.most), l.between(0, t.fail-1)
	} else {
		o.Pass, o.Fail = l.between(0, t.pass-1), l.between(t.fail, t.most)
	}
	rest := max(0, 1-o.Pass-o.Fail)
	if t.rest == report.ManualReview {
		o.Review = rest
	} else {
		o.Undecided = rest
	}
	return o
}

// Planned is one rule's plan, as it is published.
type Planned struct {
	ID        string            `json:"id"`
	Section   string            `json:"section,omitempty"` // its name, where it has one
	Metric    string            `json:"metric"`
	Threshold *report.Threshold `json:"threshold,omitempty"`
	Means     string            `json:"truth_is"` // what the truths are, in words
	Truths    []float64         `json:"truths"`   // of the table's columns
	Ways      []PlannedWay      `json:"ways"`     // the main one first
	Signed    bool              `json:"-"`
}

// PlannedWay is one way to plan a rule: its table, and what is recommended.
type PlannedWay struct {
	What        string      `json:"what,omitempty"` // how it differs from the first; absent for that
	Unit        string      `json:"unit"`
	Exact       bool        `json:"exact"`
	Declared    int         `json:"declared,omitempty"` // the size that the policy declares
	Sizes       []SizeOdds  `json:"sizes,omitempty"`
	Recommended []Suggested `json:"recommended"` // for each stated truth
	Assumptions []string    `json:"assumptions,omitempty"`
}

// SizeOdds is a row of a table: the odds at one size for each truth.
type SizeOdds struct {
	Size int         `json:"size"`
	Odds []TruthOdds `json:"odds"`
}

// TruthOdds is the odds at one size and one truth. PlusMinus is half the width of the 95 % Monte Carlo interval of the chance of
// the right verdict; absent where the chance is exact.
type TruthOdds struct {
	Truth     float64 `json:"truth"`
	Right     string  `json:"right,omitempty"` // the right verdict; absent at the threshold itself
	Pass      float64 `json:"pass"`
	Fail      float64 `json:"fail"`
	Undecided float64 `json:"undecided"`
	Review    float64 `json:"manual_review,omitempty"`
	PlusMinus float64 `json:"plus_minus,omitempty"`
}

// Suggested is the size that is recommended at a truth: the least one found with at least the wanted chance of the right verdict;
// of simulated ones, whose 95 % Monte Carlo interval lies at or above it. Size is 0 where there is none.
type Suggested struct {
	Truth     float64 `json:"truth"`
	Verdict   string  `json:"verdict"`
	Wanted    float64 `json:"wanted"`
	Size      int     `json:"size,omitempty"`
	InAll     int     `json:"in_all,omitempty"`    // about so many it takes for as many that count, where only a share of all does
	Chance    float64 `json:"chance"`              // at Size; else the largest found
	Undecided float64 `json:"undecided,omitempty"` // the chance that it stays so, at that size
	PlusMinus float64 `json:"plus_minus,omitempty"`
	UpTo      int     `json:"up_to,omitempty"` // the largest size that was looked at, where there is none
	BestAt    int     `json:"best_at,omitempty"`
	Why       string  `json:"why,omitempty"` // there is none
}

// Request is how a rule is planned.
type Request struct {
	Truths []float64 // stated; one at least
	Chance float64   // wanted, of the right verdict
	Sizes  []int     // of the table; nil: around the recommended one
	Runs   int       // simulated studies at a size and a truth
	Bare   bool      // the rule is of no policy: it declares no size
	Drawing
}

// CheckPlan says, before anything is computed, all that is wrong with planning one rule of a subject, by its place: a truth that
// cannot be, a size that cannot be planned, too few runs. nil where Plan can be asked.
func CheckPlan(s *Subject, rule int, shape Shape, q Request) error {
	_, _, err := prepare(s, rule, shape, q)
	return err
}

// prepare finds the terms and the ways of a plan, and what is wrong with what is asked.
func prepare(s *Subject, rule int, shape Shape, q Request) (Truths, []Way, error) {
	if err := firstError(shape.Check(), s.spareWords()); err != nil {
		return Truths{}, nil, err
	}
	terms, err := shape.Truths(s, rule)
	if err != nil {
		return terms, nil, err
	}
	ways, err := shape.Tracks(s, rule, q.Drawing)
	if err != nil {
		return terms, nil, err
	}
	if q.Bare && plannedOf(&s.Rules[rule]) > 0 { // the number stands for any
		ways[0].Declared = 0
	}
	main := ways[0].Track
	var problems []error
	for _, truth := range q.Truths {
		switch {
		case !(truth >= terms.Lower && truth <= terms.Upper):
			problems = append(problems, fmt.Errorf("--truth %v: %s lies between %v and %v", truth, terms.What, terms.Lower, terms.Upper))
		case terms.Verdict(truth) == report.NoVerdict:
			problems = append(problems, fmt.Errorf("--truth %v is the threshold itself, where no size decides: state a truth on one side of it, such as %v", truth, terms.beside()))
		default:
			if err := main.Possible(truth); err != nil {
				problems = append(problems, fmt.Errorf("--truth %v: %w", truth, err))
			}
		}
	}
	for _, n := range q.Sizes {
		if n < main.Least || n > main.Most {
			problems = append(problems, fmt.Errorf("--sizes: %d %s; here from %d to %d can be planned%s", n, main.Unit, main.Least, main.Most, main.limit()))
		}
	}
	least, err := leastRuns(q.Chance)
	if err == nil && !main.Exact && q.Runs < least {
		err = fmt.Errorf("--runs is %d; whether a chance is at least %v can be told from %d studies on", q.Runs, q.Chance, least)
	}
	return terms, ways, errors.Join(append(problems, err)...)
}

// limit is why there are no more, after a comma; "" where the search just ends.
func (t Track) limit() string {
	if t.Limit == "" {
		return ""
	}
	return ", since " + t.Limit
}

// Plan plans one rule of a subject, by its place: what sizes give it the wanted chance of the right verdict at the stated truths. What
// CheckPlan says and the end of ctx are errors.
func Plan(ctx context.Context, s *Subject, rule int, shape Shape, q Request) (Planned, error) {
	terms, ways, err := prepare(s, rule, shape, q)
	if err != nil {
		return Planned{}, err
	}
	r := &s.Rules[rule]
	out := Planned{ID: r.ID.Value, Section: s.Section.Name.Value, Metric: r.Metric.Value, Means: terms.What, Signed: terms.Signed}
	if r.Threshold != nil {
		t := gate.Start(r).Threshold
		out.Threshold = &t
	}
	out.Truths = columnsOf(q.Truths, terms, ways[0].Track)
	for i, way := range ways {
		p := PlannedWay{What: way.What, Unit: way.Track.Unit, Exact: way.Track.Exact, Declared: way.Declared, Assumptions: way.Track.Assumes}
		if i > 0 {
			p.Assumptions = nil // the main way's
		}
		found := map[[2]float64]Odds{} // at a recommended size and its truth
		for _, truth := range q.Truths {
			// Other ways take as many runs: with fewer, the same size would seem to need to be larger.
			suggested, odds, err := suggest(ctx, way.Track, terms, truth, q.Chance, q.Runs)
			if err != nil {
				return out, err
			}
			found[[2]float64{float64(suggested.Size), truth}] = odds
			p.Recommended = append(p.Recommended, suggested)
			if i > 0 {
				break // of the first truth
			}
		}
		if i == 0 {
			if p.Sizes, err = table(ctx, way, terms, out.Truths, q, p.Recommended, found); err != nil {
				return out, err
			}
		}
		out.Ways = append(out.Ways, p)
	}
	return out, nil
}

// leastRuns is how many studies it takes for a chance to be shown to be reached: where all of them come out right, the lower end of
// its 95 % interval is there.
func leastRuns(chance float64) (int, error) {
	for n := 1; ; n++ {
		iv, err := Share{n, n}.Interval(0.95)
		if err != nil || iv.Lower >= chance {
			return n, err
		}
	}
}

// spareWords reports a policy to which a word that made-up studies use means that nothing was recorded, or that the system abstained.
func (s *Subject) spareWords() error {
	var missing, abstain []policy.Text
	missing = s.Section.Settings.MissingValues
	if s.Gate.Name() == "human-ai" {
		abstain = s.Section.Map.Texts("abstain")
	}
	for _, list := range []struct {
		key   string
		texts []policy.Text
	}{{"missing_values", missing}, {"abstain", abstain}} {
		for _, t := range list.texts {
			if slices.Contains([]string{"yes", "no", "0", "1", "with", "without", "blind", "visible", "baseline", "candidate"}, strings.TrimSpace(t.Value)) {
				return fmt.Errorf("%s: %s has %s, a word that made-up studies use; plan with a copy of the policy without it", t.Pos, list.key, diag.Quote(t.Value))
			}
		}
	}
	return nil
}

// beside is a truth that satisfies the rule.
func (t Truths) beside() float64 {
	if t.Above {
		return (t.Threshold + t.Upper) / 2
	}
	return (t.Threshold + t.Lower) / 2
}

// columnsOf are the truths of a table: the stated ones, or around a single one as far from the threshold by a half less and more.
func columnsOf(stated []float64, terms Truths, track Track) []float64 {
	if len(stated) > 1 {
		return stated
	}
	x, t := stated[0], terms.Threshold
	var list []float64
	for _, factor := range []float64{0.5, 1, 1.5} {
		y := math.Round(float64((t+float64(factor*(x-t)))*1e9)) / 1e9
		if factor == 1 {
			y = x
		}
		if y >= terms.Lower && y <= terms.Upper && track.Possible(y) == nil {
			list = append(list, y)
		}
	}
	slices.Sort(list)
	return list
}

// table fills the rows of a table.
func table(ctx context.Context, way Way, terms Truths, truths []float64, q Request, suggested []Suggested, found map[[2]float64]Odds) ([]SizeOdds, error) {
	t := way.Track
	sizes := q.Sizes
	if sizes == nil {
		sizes = around(suggested, t)
		if way.Declared > 0 {
			sizes = append(sizes, way.Declared)
		}
	}
	sizes = slices.DeleteFunc(slices.Clone(sizes), func(n int) bool { return q.Sizes == nil && (n < t.Least || n > t.Most) })
	slices.Sort(sizes)
	var list []SizeOdds
	for _, n := range slices.Compact(sizes) {
		odds, err := cellsOf(ctx, t, n, truths, q.Runs)
		if err != nil {
			return nil, err
		}
		row := SizeOdds{Size: n}
		for i, o := range odds {
			right := terms.Verdict(truths[i])
			if known, is := found[[2]float64{float64(n), truths[i]}]; is {
				o = known // of more runs
			}
			x := TruthOdds{Truth: truths[i], Pass: o.Pass, Fail: o.Fail, Undecided: o.Undecided, Review: o.Review}
			if right != report.NoVerdict {
				x.Right = right.String()
				if x.PlusMinus, err = o.plusMinus(right); err != nil {
					return nil, err
				}
			}
			row.Odds = append(row.Odds, x)
		}
		list = append(list, row)
	}
	return list, nil
}

// around are sizes for a table: every recommended one (or where there is none the best one and the largest that was looked at), a few
// between them, two below the least and one above the largest.
func around(suggested []Suggested, t Track) []int {
	var marks []int
	for _, s := range suggested {
		switch {
		case s.Size > 0:
			marks = append(marks, s.Size)
		case s.Chance > 0:
			marks = append(marks, s.BestAt, t.Most)
		default:
			marks = append(marks, t.Most)
		}
	}
	slices.Sort(marks)
	marks = slices.Compact(marks)
	sizes := []int{marks[0] / 4, marks[0] / 2, 2 * marks[len(marks)-1]}
	for i, n := range marks {
		sizes = append(sizes, n)
		if i+1 < len(marks) {
			factor := 2
			for n*factor*factor*factor < marks[i+1] { // three between at most
				factor *= 2
			}
			for between := n * factor; between < marks[i+1]*2/3; between *= factor {
				sizes = append(sizes, between)
			}
		}
	}
	return sizes
}

// cellsOf are the odds in a row of a table. Simulated ones take half of the runs, and a quarter of those shows it where a verdict comes
// nearly always or never.
func cellsOf(ctx context.Context, t Track, n int, truths []float64, runs int) ([]Odds, error) {
	if t.Exact {
		return t.Odds(ctx, n, truths, runs)
	}
	list := make([]Odds, len(truths))
	for i, truth := range truths {
		for _, part := range []int{max(20, runs/8), max(20, runs/2)} {
			odds, err := t.Odds(ctx, n, []float64{truth}, part)
			if err != nil {
				return nil, err
			}
			list[i] = odds[0]
			if most := max(odds[0].Pass, odds[0].Fail, odds[0].Undecided, odds[0].Review); most == 1 {
				break
			}
		}
	}
	return list, nil
}

// plusMinus is half the width of the Monte Carlo interval; 0 for an exact chance.
func (o Odds) plusMinus(v report.Verdict) (float64, error) {
	low, high, err := o.ends(v)
	return (high - low) / 2, err
}

// suggest searches the least size with at least the wanted chance of the right verdict: by doubling and halving, and, where the
// chance is exact and cheap, down from there one by one, since whole numbers of events make the chance saw-toothed.
func suggest(ctx context.Context, t Track, terms Truths, truth, wanted float64, runs int) (Suggested, Odds, error) {
	right := terms.Verdict(truth)
	out := Suggested{Truth: truth, Verdict: right.String(), Wanted: wanted}
	known := map[int]Odds{}
	reaches := func(n int) (bool, error) {
		o, found := known[n]
		var err error
		if !found {
			if o, err = closeTo(ctx, t, n, truth, right, wanted, runs); err != nil {
				return false, err
			}
			known[n] = o
			if p := o.of(right); p > out.Chance || out.BestAt == 0 {
				out.Chance, out.BestAt = p, n
			}
		}
		low, _, err := o.ends(right)
		return low >= wanted, err
	}
	size, err := leastSize(t, reaches)
	if err != nil {
		return out, Odds{}, err
	}
	if size > 0 && !t.Exact {
		if size, err = confirm(ctx, t, size, known, truth, right, wanted, runs); err != nil {
			return out, Odds{}, err
		}
	}
	if size == 0 {
		out.UpTo = t.Most
		if _, found := known[t.Most]; found && out.Chance == 0 { // of sizes that are all alike the largest says most
			out.BestAt = t.Most
		}
		o := known[out.BestAt]
		out.Chance = o.of(right)
		switch {
		case o.Review > 0.5:
			out.Why = "such studies mostly come to MANUAL_REVIEW"
		case t.Limit != "":
			out.Why = "more are not looked at, since " + t.Limit
		default:
			out.Why = "the search ends there"
		}
		out.PlusMinus, err = o.plusMinus(right)
		return out, o, err
	}
	out.Size, out.Chance, out.Undecided, out.BestAt = size, known[size].of(right), known[size].Undecided, 0
	if t.Share > 0 && t.Share < 1 {
		out.InAll = int(math.Ceil(float64(size)/t.Share - slack))
	}
	out.PlusMinus, err = known[size].plusMinus(right)
	return out, known[size], err
}

// confirm looks at a size that was found once more, in studies drawn anew, and goes up from there until the chance is reached in such
// too: of many sizes that were tried, the one that is found is likely one that had luck. It leaves in known what the new studies
// show; 0 where no size holds.
func confirm(ctx context.Context, t Track, size int, known map[int]Odds, truth float64, right report.Verdict, wanted float64, runs int) (int, error) {
	for {
		before := known[size] // of the first studies at this size; zero if there were none
		list, err := t.Odds(ctx, size, []float64{truth}, before.Runs+runs)
		if err != nil {
			return 0, err
		}
		fresh := list[0].without(before)
		known[size] = fresh
		low, _, err := fresh.ends(right)
		if err != nil || low >= wanted {
			return size, err
		}
		if size == t.Most {
			return 0, nil
		}
		size = min(t.Most, size+max(1, size/20))
	}
}

// without is what is left of the studies without the first of them.
func (o Odds) without(first Odds) Odds {
	runs := o.Runs - first.Runs
	share := func(all, part float64) float64 {
		return math.Round(float64(all*float64(o.Runs))-float64(part*float64(first.Runs))) / float64(runs)
	}
	return Odds{share(o.Pass, first.Pass), share(o.Fail, first.Fail), share(o.Undecided, first.Undecided), share(o.Review, first.Review), runs}
}

// leastSize searches the least size of a track that reaches something; 0 where none was found.
func leastSize(t Track, reaches func(n int) (bool, error)) (int, error) {
	for n := t.Least; n <= min(t.Every, t.Most); n++ {
		if ok, err := reaches(n); err != nil || ok {
			return n, err
		}
	}
	low := max(t.Every, t.Least-1)
	if low >= t.Most {
		return 0, nil
	}
	high := max(16, t.Least)
	for high <= low {
		high *= 2
	}
	for high = min(high, t.Most); ; high = min(2*high, t.Most) {
		ok, err := reaches(high)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		if high == t.Most {
			return 0, nil
		}
		low = high
	}
	step := 1
	if !t.Exact {
		step += high / 40
	}
	for high-low > step {
		n := low + (high-low)/2
		ok, err := reaches(n)
		if err != nil {
			return 0, err
		}
		if ok {
			high = n
		} else {
			low = n
		}
	}
	for least, n := max(t.Least, low+1-t.Dips, high-high/4), high-1; n >= least; n-- {
		if ok, err := reaches(n); err != nil {
			return 0, err
		} else if ok {
			high = n
		}
	}
	return high, nil
}

// closeTo is the odds at a size, as closely as it takes to tell whether the chance reaches the wanted one: where a part of the
// runs already shows that it does not, or by far does, the rest is spared.
func closeTo(ctx context.Context, t Track, n int, truth float64, right report.Verdict, wanted float64, runs int) (Odds, error) {
	if !t.Exact {
		for _, part := range []int{runs / 16, runs / 4} {
			if part < 20 {
				continue
			}
			list, err := t.Odds(ctx, n, []float64{truth}, part)
			if err != nil {
				return Odds{}, err
			}
			share := Share{int(math.Round(float64(list[0].of(right) * float64(part)))), part}
			iv, err := share.Interval(0.999)
			if err != nil {
				return Odds{}, err
			}
			if iv.Upper < wanted || iv.Lower > wanted {
				return list[0], nil
			}
		}
	}
	list, err := t.Odds(ctx, n, []float64{truth}, runs)
	if err != nil {
		return Odds{}, err
	}
	return list[0], nil
}

// sliceTexts sets the columns that a rule slices by to the rule's values.
func (s *Subject) sliceTexts(rule, input int, row []string) {
	for _, w := range s.Rules[rule].Where {
		set(row, slices.Index(s.Columns[input], w.Key.Value), strings.TrimSpace(w.Value.Value))
	}
}

// plannedPos is where a rule's planned number stands; no place where it has none.
func plannedPos(r *policy.Rule) diag.Pos {
	if r.Looks.Value != policy.LooksOnce {
		return diag.Pos{}
	}
	return r.Planned.Pos
}

// onceWay is a way beside the main one: the same rule with its number of units fixed first. planned gives the track of a subject
// whose rule plans as many as the size. nil where the rule cannot.
func onceWay(s *Subject, rule int, main Track, odds func(s *Subject) func(ctx context.Context, size int, truths []float64, runs int) ([]Odds, error)) *Way {
	if s.Rules[rule].Looks.Set {
		return nil
	}
	v := s.withKeys(rule, "looks: once", "planned: 2")
	if v == nil || v.Rules[rule].Looks.Value != policy.LooksOnce {
		return nil
	}
	track := main
	track.Odds = odds(v)
	return &Way{What: "with `looks: once` and `planned` set to the number of " + main.Unit + " before the study", Track: track}
}
