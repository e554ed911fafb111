package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/engine/rows"
)

// overview is what is known of the two versions, or of each version where two are not named, before any slice.
type overview struct {
	t       *Tally
	plan    plan
	names   [2]string // empty where two are not named
	pairs   []pairing // of the two
	alike   [2]alike  // whether the versions' trials look like copies of one
	broken  string    // how the file departs from the plan, as a sentence
	others  []string  // versions that are not compared, in order
	ignored bool      // the others are not measured either
}

// paired reports whether two versions are compared.
func (o *overview) paired() bool { return o.names != [2]string{} }

// overview looks at the tally of the named versions.
func (t *Tally) overview(names [2]string, p plan) *overview {
	o := &overview{t: t, plan: p, names: names}
	for _, name := range slices.Sorted(maps.Keys(t.versions)) {
		if !slices.Contains(names[:], name) {
			o.others = append(o.others, name)
		}
	}
	if o.paired() {
		o.pairs = t.pair(names, p)
		o.alike = together(t.alike(names[baseline]), t.alike(names[candidate]))
	}
	o.broken = o.departure()
	return o
}

// view is the view of all cases of the two versions, sampled ones.
func (o *overview) view(judging policy.Judging) *view {
	return &view{scheme: o.t.scheme(), names: o.names, cases: o.pairs, broken: o.broken, alike: o.alike, judging: judging}
}

// departure says how the numbers of cases and trials depart from the plan.
func (o *overview) departure() string {
	if o.plan == (plan{}) {
		return ""
	}
	cases, more, most := len(o.pairs), 0, 0
	names := o.names[:]
	if !o.paired() {
		cases, names = len(o.t.cases), o.others
	}
	for _, name := range names {
		for _, c := range o.t.versions[name] {
			if most = max(most, c.rows); c.rows > o.plan.trials {
				more++
			}
		}
	}
	var parts []string
	if cases != o.plan.cases {
		parts = append(parts, fmt.Sprintf("there are %s where %d were planned", gate.Plural(cases, "case", "cases"), o.plan.cases))
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("%s more than the %d planned trials in a version (up to %d)",
			gate.Plural(more, "time a case has", "times a case has"), o.plan.trials, most))
	}
	if parts == nil {
		return ""
	}
	return "The plan is broken: " + strings.Join(parts, ", and ") + "; each rerun is a new chance to be lucky."
}

// alike counts the cases of a version whose trials are all equal, as copies of one cached run would be.
type alike struct {
	same, of int  // of the cases with two recorded trials or more, those where all have the same result
	differs  bool // the cases whose trials are all equal differ among each other
	varying  int  // the cases with trials that differ
	cases    int  // all of them
	// Of results that pass or do not: whether each of them may stand there several times.
	times    int // every number of results and of passes is a multiple of it; 0 without results
	mixed    int // cases with passes and failures
	complete int // as times, of the cases from which nothing is missing
	mayMix   int // cases with passes and failures, once what is missing is recorded
}

// A cache that misses now and then leaves a few cases whose trials differ: from fewestAlike cases on, one in
// oneInAlike may.
const (
	fewestAlike = 10
	oneInAlike  = 20
)

// alike looks at the cases of a version.
func (t *Tally) alike(version string) alike {
	var a alike
	var first *rows.Decimal
	most := 0
	for _, c := range t.versions[version] {
		most = max(most, c.rows)
	}
	for _, c := range t.versions[version] {
		a.times = divisor(a.times, c.recorded, c.passed)
		if c.recorded == most {
			a.complete = divisor(a.complete, c.recorded, c.passed)
		}
		mixed := 0 < c.passed && c.passed < c.recorded
		if mixed {
			a.mixed++
		}
		if mixed || c.recorded < most {
			a.mayMix++
		}
		a.cases++
		if c.recorded > 1 {
			a.of++
		}
		if c.varies {
			a.varying++
		}
		if c.recorded == 0 || c.varies {
			continue
		}
		if c.recorded > 1 {
			a.same++
		}
		if first == nil {
			first = &c.first
		}
		a.differs = a.differs || *first != c.first
	}
	return a
}

// divisor is the greatest number that divides all of those given; 0 counts as what every number divides.
func divisor(a int, others ...int) int {
	for _, b := range others {
		for b != 0 {
			a, b = b, a%b
		}
	}
	return a
}

// fewestMixed is from how many cases with passes and failures on multiples of one number are not chance. Of an even number of trials of
// which some pass and some fail, an even number passes with a probability of at most 1/2: (1-2p)^n is at most (1-p)^n + p^n. For multiples
// of 3 and more it is less. So ten cases do in about 0.1 % of runs.
const fewestMixed = 10

// repeated reports whether each result seems to stand there a.times times, as where the results of a run are in the files twice.
func (a alike) repeated() bool { return a.times > 1 && a.mixed >= fewestMixed }

// together looks at the two versions as one too: what repeats a file repeats both.
func together(b, c alike) [2]alike {
	both := alike{times: divisor(b.times, c.times), mixed: b.mixed + c.mixed}
	if both.repeated() {
		b.times, b.mixed, c.times, c.mixed = both.times, both.mixed, both.times, both.mixed
	}
	if divisor(b.complete, c.complete) != 1 {
		b.mayMix, c.mayMix = b.mayMix+c.mayMix, b.mayMix+c.mayMix
	}
	return [2]alike{b, c}
}

// all reports whether no two trials of a case differ.
func (a alike) all() bool { return a.same > 1 && a.same == a.of }

// copied reports whether the trials look like copies of one run: in all cases or nearly all, no two trials of a case
// differ, although cases do.
func (a alike) copied() bool {
	nearly := a.of >= fewestAlike && oneInAlike*(a.of-a.same) <= a.of
	return a.differs && (a.all() || nearly)
}

// mayLookCopied reports whether the trials can look like copies once what is missing of them is recorded.
func (a alike) mayLookCopied() bool {
	return alike{same: a.cases - a.varying, of: a.cases, differs: true}.copied() || a.complete != 1 && a.mayMix >= fewestMixed
}

// Equal results of two versions are not chance from so many cases with two recorded trials or more on, so many of
// which have trials that differ. Of two versions that are as good as each other, each such case comes out alike with
// probability 2/3 at most (of four trials two passed, two in each version: 4 of the 6 ways), so eight do in 4 % at most.
const (
	fewestIdentical = 10
	fewestVarying   = 8
)

// identical reports whether the two versions have the same number of recorded results with the same sum in every case,
// where that is hardly chance.
func (o *overview) identical() bool {
	if !o.paired() {
		return false
	}
	base, next := o.t.versions[o.names[baseline]], o.t.versions[o.names[candidate]]
	several, varying := 0, 0
	for i := range o.pairs {
		c := &o.pairs[i]
		b, x := &c.sides[baseline], &c.sides[candidate]
		if b.recorded != x.recorded || b.sum.Cmp(x.sum) != 0 {
			return false
		}
		if b.recorded < 2 {
			continue
		}
		several++
		if base[c.item].varies && next[c.item].varies {
			varying++
		}
	}
	return several >= fewestIdentical && varying >= fewestVarying
}

// multiples says that the results seem to be repeated.
func (a alike) multiples() string {
	return fmt.Sprintf("In every case the number of results and the number of passes are multiples of %d, also in the %s", a.times,
		gate.Plural(a.mixed, "case that passed and failed", "times that a case both passed and failed"))
}

// told says in how many cases the trials are equal, after "in".
func (a alike) told() string {
	if a.all() {
		return fmt.Sprintf("each of %s", gate.Plural(a.of, "case", "cases"))
	}
	return fmt.Sprintf("%d of %s", a.same, gate.Plural(a.of, "case", "cases"))
}

// findings points at what a person would want to know of the data, the gravest first.
func (o *overview) findings() gate.Found {
	var f gate.Found
	t := o.t
	if o.broken != "" {
		f.Add("plan_broken", report.Warning, 1, "%s", o.broken)
	}
	compared := o.others
	if o.paired() {
		compared = o.names[:]
		only := [2]int{}
		absent := [2]int{}
		for i := range o.pairs {
			for role, a := range o.pairs[i].sides {
				if a.rows == 0 {
					only[role]++
				}
				absent[role] += a.n - a.rows
			}
		}
		for role, name := range o.names {
			f.Add("cases_in_one_version", report.Warning, only[role], "%s no trial in %s: all of them count as missing there, both ways, since a version that writes no row where it crashes would look better.",
				gate.Plural(only[role], "case has", "cases have"), diag.Quote(name))
			f.Add("absent_trials", report.Warning, absent[role], "%s in %s where the other version or the plan has them: counted as missing, both ways, since unequal numbers of trials favour one side.",
				gate.Plural(absent[role], "trial is absent", "trials are absent"), diag.Quote(name))
		}
	} else {
		absent := 0
		for _, name := range compared {
			for _, a := range t.version(name, o.plan) {
				absent += a.n - a.rows
			}
		}
		f.Add("absent_trials", report.Warning, absent, "%s no row: counted as missing, both ways.", gate.Plural(absent, "planned trial has", "planned trials have"))
	}
	unfinished := 0
	for _, name := range compared {
		for _, c := range t.versions[name] {
			unfinished += c.rows - c.recorded
		}
	}
	f.Add("unfinished_trials", report.Note, unfinished, "%s no result: counted as missing, both ways.", gate.Plural(unfinished, "trial has", "trials have"))
	for _, name := range compared {
		switch a := t.alike(name); {
		case a.copied():
			f.Add("trials_all_equal", report.Warning, a.same, "In %s, all trials of a case have the same result in %s, as copies of one cached run would: if they are, they are one trial.",
				diag.Quote(name), a.told())
		case a.all() && !a.differs:
			f.Add("trials_all_equal", report.Note, a.same, "In %s, all trials of all cases have the same result; whether they are copies of one cached run cannot be told from that.", diag.Quote(name))
		}
	}
	if at := slices.IndexFunc(o.alike[:], alike.repeated); at >= 0 {
		f.Add("trials_repeated", report.Warning, o.alike[at].mixed, "%s, as where the results of one run are in the files %d times: if they are, they are one run.",
			o.alike[at].multiples(), o.alike[at].times)
	}
	if o.identical() {
		f.Add("versions_identical", report.Warning, len(o.pairs), "%s and %s have the same recorded results in every case, although trials of a case differ: a cache that ignores the version gives this, or one file copied as the other; chance hardly does.",
			diag.Quote(o.names[baseline]), diag.Quote(o.names[candidate]))
	}
	gate.AddForms(&f, "versions_differ_only_in_form", "versions", t.versions)
	gate.AddForms(&f, "cases_differ_only_in_form", "case ids", t.cases)
	o.constant(&f)
	f.Add("scores_rounded", report.Note, t.rounded, "%s more than 18 decimals; the rest was rounded, half to even.", gate.Plural(t.rounded, "score has", "scores have"))
	if o.paired() && len(o.others) > 0 {
		text := "not compared"
		if o.ignored {
			text = "not compared, and not measured: `report` does that"
		}
		f.Add("other_versions", report.Note, len(o.others), "The files also hold %s (%s), %s.", gate.Plural(len(o.others), "other version", "other versions"), gate.Quoted(o.others), text)
	}
	if !o.paired() && len(o.others) == 2 {
		f.Add("no_comparison", report.Note, 1, "The files hold two versions, %s, and which is the baseline and which the candidate is not said, so they are not compared: name them with --baseline and --candidate.", gate.Quoted(o.others))
	}
	if o.plan == (plan{}) {
		f.Add("no_plan", report.Note, 1, "No plan fixes the numbers of cases and trials: whoever reruns until it passes will pass in the end, since each rerun is a new chance to be lucky. Fix them first with `plan: {cases: …, trials: …}`.")
	}
	return f
}

// constant points at a result that is the same in all trials.
func (o *overview) constant(f *gate.Found) {
	results := map[rows.Decimal]bool{}
	trials := 0
	for _, cells := range o.t.versions {
		for _, c := range cells {
			if c.varies {
				return
			}
			if c.recorded > 0 {
				results[c.first] = true
			}
			trials += c.recorded
		}
	}
	if len(results) == 1 && trials > 1 {
		for value := range results {
			f.Add("constant_column", report.Note, 1, "Every recorded %s is %s.", o.t.result, value)
		}
	}
}

// opposed points at a sign test and a mean difference that point opposite ways: few cases moved far one way, and many a
// little the other.
func opposed(f *gate.Found, sign, difference measured) {
	if difference.Estimate == nil {
		return
	}
	moved, mean := *sign.Better-*sign.Worse, *difference.Estimate
	if moved > 0 && mean < 0 || moved < 0 && mean > 0 {
		severity := report.Note
		if sign.sign.direction != uncertain {
			severity = report.Warning
		}
		up, down := "better", "lower"
		if moved < 0 {
			up, down = "worse", "higher"
		}
		f.Add("sign_and_mean_disagree", severity, 1, "More cases got %s (%d better, %d worse), but the mean over cases is %s in the candidate: few cases moved far one way, many a little the other way.",
			up, *sign.Better, *sign.Worse, down)
	}
}
