package compare

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// signs counts cases by which way they moved.
type signs struct{ better, worse int }

// direction is what the sign test comes to.
type direction int

const (
	worse     direction = -1
	uncertain direction = 0
	better    direction = 1
)

// movement is which way a case moved under the two extreme completions of its missing trials, and how far from
// no movement it is there, in trials.
type movement struct {
	low, high         int // signs: −1 worse, 0 equal, +1 better
	lowAway, highAway int // whole results between the two versions' sums, rounded down
}

// signed is the sign test of a list of cases.
type signed struct {
	v         *view
	movements []movement
	low, high signs // under the completions that are worst and best for the candidate
	ambiguous int   // cases whose direction depends on missing trials
	missing   int   // trials
	missingOf int   // trials of the ambiguous cases
}

// verdict is what the sign test comes to, at its p-value.
type verdict struct {
	direction direction
	p         float64
	split     signs // the one that speaks most against a decision
	open      bool  // the missing trials leave both directions possible
	flip      flip  // of a decided one
	signed    *signed
}

// flip is how many recorded trials would have had to be missing for a verdict to be uncertain.
type flip struct {
	trials int
	found  bool // false: no number would
}

// signed counts the cases' movements.
func (v *view) signed() *signed {
	s := &signed{v: v, movements: make([]movement, len(v.cases))}
	for i := range v.cases {
		c := &v.cases[i]
		worst, best := v.extremes(c)
		m := movement{low: worst.Sign(), high: best.Sign(), lowAway: v.away(worst), highAway: v.away(best)}
		s.movements[i] = m
		s.low.count(m.low)
		s.high.count(m.high)
		missing := c.sides[baseline].missing() + c.sides[candidate].missing()
		s.missing += missing
		if m.low != m.high {
			s.ambiguous++
			s.missingOf += missing
		}
	}
	return s
}

// count adds a case.
func (s *signs) count(sign int) {
	switch {
	case sign > 0:
		s.better++
	case sign < 0:
		s.worse++
	}
}

// away is how many whole results a sum is from 0.
func (s scheme) away(sum *big.Int) int {
	return int(new(big.Int).Quo(new(big.Int).Abs(sum), s.one).Int64())
}

// p is the two-sided p-value of a split.
func (v *view) p(s signs) float64 {
	if v.judging.Looks.Value == policy.LooksRepeated {
		return interval.SignSequence(s.better, s.worse)
	}
	return interval.SignTest(s.better, s.worse)
}

// shows returns the direction that a split shows.
func (v *view) shows(s signs) direction {
	switch {
	case s.better == s.worse || !below(v.p(s), v.judging):
		return uncertain
	case s.better > s.worse:
		return better
	}
	return worse
}

// below reports whether p < 1 − confidence, strictly, with both decimals as they are written.
func below(p float64, j policy.Judging) bool {
	x, ok := new(big.Rat).SetString(strconv.FormatFloat(p, 'g', -1, 64))
	return ok && x.Cmp(j.Error()) < 0
}

// verdict decides: better where even the completion that is worst for the candidate shows better, worse where even the
// best one shows worse. The tail that decides falls with every case that moves up and rises with every one that
// moves down, so those two completions are the extremes. Its p-value is the largest over all completions; where
// they are on both sides, one of them is balanced, and it is 1.
func (s *signed) verdict() *verdict {
	out := &verdict{p: 1, signed: s}
	switch {
	case s.low.better > s.low.worse:
		out.split = s.low
	case s.high.worse > s.high.better:
		out.split = s.high
	default:
		out.split, out.open = s.certain(), s.ambiguous > 0
	}
	if !out.open {
		out.p, out.direction = s.v.p(out.split), s.v.shows(out.split)
	}
	if out.direction != uncertain {
		out.flip = s.margin(out.direction)
	}
	return out
}

// certain counts the cases whose direction no missing trial can change.
func (s *signed) certain() signs { return signs{s.low.better, s.high.worse} }

// step is a case that can leave its side: after so many trials it stands between the sides, and with spare set, one more
// takes it across.
type step struct {
	trials int
	spare  bool
}

// fewest returns the least number of trials after which a split is as done wants, where done(left, joined) says so for
// left cases gone from one side and joined new ones on the other. steps are the cases of the one side; between is
// how many cases stand between the sides and can join the other one for one trial each. found is false where no
// number does.
//
// Both more left and more joined bring done nearer. So for each number left, the least joined is wanted; it
// falls as left grows. Of the cases, those nearest to the middle leave; as many of them as must join have a trial
// to spare.
func fewest(steps []step, between int, done func(left, joined int) bool) (trials int, found bool) {
	var spare, stuck []int // trials to the middle, summed up in rising order
	for _, x := range steps {
		if x.spare {
			spare = append(spare, x.trials)
		} else {
			stuck = append(stuck, x.trials)
		}
	}
	spare, stuck = sums(spare), sums(stuck)
	joined := between + len(spare) - 1 // the most that can join
	first := sort.Search(len(steps)+1, func(left int) bool { return done(left, joined) })
	if first > len(steps) {
		return 0, false
	}
	joined = sort.Search(joined, func(j int) bool { return done(first, j) })
	best := math.MaxInt
	free := 0 // of the cases that leave, how many have a trial to spare where the nearest ones leave
	for left := 0; left <= len(steps); left++ {
		if left > 0 && free+1 < len(spare) && (left-free >= len(stuck) || spare[free+1]-spare[free] <= stuck[left-free]-stuck[left-free-1]) {
			free++
		}
		if spare[free]+stuck[left-free] >= best {
			break
		}
		if left < first {
			continue
		}
		for joined > 0 && done(left, joined-1) {
			joined--
		}
		with := max(free, joined-between) // of those that leave, how many have a trial to spare
		if with >= len(spare) || with > left || left-with >= len(stuck) {
			continue
		}
		best = min(best, spare[with]+stuck[left-with]+joined)
	}
	return best, best < math.MaxInt
}

// sums returns 0 and the running sums of a list, smallest first.
func sums(list []int) []int {
	slices.Sort(list)
	out := make([]int, 1, len(list)+1)
	for i, x := range list {
		out = append(out, out[i]+x)
	}
	return out
}

// margin counts how many of the recorded trials, had they been missing too, could leave a decided test uncertain. For scores, of
// which a trial can change a part, the number is a lower bound.
func (s *signed) margin(d direction) flip {
	split := s.low
	if d == worse {
		split = signs{s.high.worse, s.high.better} // seen from the baseline
	}
	var steps []step
	between := 0
	for _, m := range s.movements {
		sign, away := m.low, m.lowAway
		if d == worse {
			sign, away = -m.high, m.highAway
		}
		switch {
		case sign > 0: // a recorded result can always be missing instead
			steps = append(steps, step{away, true})
		case sign == 0:
			between++
		}
	}
	n, found := fewest(steps, between, func(left, joined int) bool {
		return s.v.shows(signs{split.better - left, split.worse + joined}) != better
	})
	return flip{max(1, n), found}
}

// signTest measures the sign test.
func (v *view) signTest() measured {
	s := v.signed()
	out := s.verdict()
	certain := s.certain()
	m := measured{sign: out, Measure: report.Measure{
		Metric: signTest, Labels: v.label(), Units: report.Int(len(v.cases)), UnitName: "cases",
		Missing: report.Int(s.missing), LeftOut: v.leftOut(),
		PValue: report.Number(out.p), Better: report.Int(certain.better), Worse: report.Int(certain.worse),
		Equal:  report.Int(len(v.cases) - certain.better - certain.worse - s.ambiguous),
		Method: interval.MethodSignTest, Moved: v.moved(),
	}}
	values, recorded := make([]gate.UnitValue, len(v.cases)), 0
	for i, x := range s.movements {
		values[i] = gate.UnitValue{Low: float64(x.low), High: float64(x.high), Count: 1}
		recorded += v.cases[i].sides[baseline].recorded + v.cases[i].sides[candidate].recorded
	}
	m.units, m.grows = gate.ValuePart("", recorded, values...), gate.GrowsUnits
	m.Conditions = "Exact at one look, where in each case the trials of both versions could change places if nothing had changed; it tells whether changed cases move up more often than down, not how far."
	if v.judging.Looks.Value == policy.LooksRepeated {
		m.Conditions = "Holds over repeated looks (p is that of the uniform mixture against one half) while new cases are added in an order unrelated to their results and earlier ones stay as they are; it tells whether changed cases move up more often than down, not how far."
	}
	if s.missing > 0 {
		m.Caution = strings.TrimSpace(s.depends() + out.flips())
	}
	m.doubts.Undecided = v.noPair()
	return m
}

// noPair says why nothing was compared, "" where some case has recorded trials in both versions.
func (v *view) noPair() gate.Doubt {
	shared := false
	for i := range v.cases {
		b, x := &v.cases[i].sides[baseline], &v.cases[i].sides[candidate]
		if b.recorded > 0 && x.recorded > 0 {
			return gate.Doubt{}
		}
		shared = shared || b.rows > 0 && x.rows > 0
	}
	if !shared {
		return gate.Doubtful("Nothing was evaluated: no case is in both versions.", "cases that both versions are tried on, by one name in both")
	}
	return gate.Doubtful("Nothing was evaluated: no case has recorded trials in both versions.", "recorded trials of one case in both versions")
}

// depends says, as a sentence to add, how much the split depends on missing trials.
func (s *signed) depends() string {
	if s.ambiguous == 0 {
		return ""
	}
	one := func(x signs) string {
		return fmt.Sprintf("%s better and %d worse (p %s)", gate.Plural(x.better, "is", "are"), x.worse, s.v.pText(s.v.p(x)))
	}
	return fmt.Sprintf(" The direction of %s depends on %s: at their worst for the candidate %s, at their best %s.",
		gate.Plural(s.ambiguous, "case", "cases"), gate.Plural(s.missingOf, "missing trial", "missing trials"), one(s.low), one(s.high))
}

// flips says, as a sentence to add, what the missing trials could still turn the verdict into or, of one that they cannot turn, how
// many would have had to be missing for it to be uncertain.
func (x *verdict) flips() string {
	s := x.signed
	could := func(d direction) bool { return s.v.shows(s.low) == d || s.v.shows(s.high) == d }
	trials := "the missing trials"
	if s.missing == 1 {
		trials = "the missing trial"
	}
	switch {
	case x.direction == uncertain && s.missing == 0:
		return ""
	case x.direction == uncertain && could(better) && could(worse):
		return " Once recorded, " + trials + " could make it better, or worse."
	case x.direction == uncertain && could(better):
		return " Once recorded, " + trials + " could make it better."
	case x.direction == uncertain && could(worse):
		return " Once recorded, " + trials + " could make it worse."
	case x.direction == uncertain:
		return " No way in which the missing trials could have come out would decide it."
	case !x.flip.found:
		return ""
	}
	least := ""
	if s.v.scored {
		least = "at least "
	}
	if s.missing == 0 {
		return fmt.Sprintf(" No trial is missing; it would take %s%s to leave it uncertain.", least, gate.Plural(x.flip.trials, "missing trial", "missing trials"))
	}
	return fmt.Sprintf(" It holds whatever the missing trials were; it would take %s%s to leave it uncertain.", least, gate.Plural(x.flip.trials, "more missing trial", "more missing trials"))
}

// String is the direction as a word.
func (d direction) String() string {
	switch d {
	case better:
		return "better"
	case worse:
		return "worse"
	}
	return "uncertain"
}

// decimal writes a number as short as it is exact.
func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// pText writes a p-value rounded up to four digits, or to as many more as leave it on its side of the level.
func (v *view) pText(p float64) string {
	for digits := 4; digits < 17; digits++ {
		if shown := roundedUp(p, digits); below(shown, v.judging) == below(p, v.judging) {
			return decimal(shown)
		}
	}
	return decimal(p)
}

// roundedUp is p > 0 with so many digits, or fewer, never below it.
func roundedUp(p float64, digits int) float64 {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(p, 'e', -1, 64), "e")
	all := strings.Replace(mantissa, ".", "", 1)
	if len(all) <= digits {
		return p
	}
	n, err1 := strconv.Atoi(all[:digits])
	power, err2 := strconv.Atoi(exponent)
	x, err3 := strconv.ParseFloat(fmt.Sprintf("%de%d", n+1, power-digits+1), 64)
	if err1 != nil || err2 != nil || err3 != nil { // not reached: FormatFloat has written them
		return p
	}
	return x
}

// conclude gives a rule on the sign test its verdict and reason.
func (x *verdict) conclude(r *report.Rule) {
	level, _ := x.signed.v.judging.Error().Float64()
	counts := fmt.Sprintf("%s better and %d worse", gate.Plural(x.split.better, "case is", "cases are"), x.split.worse)
	if x.open {
		r.Verdict = report.InsufficientEvidence
		r.Reason = fmt.Sprintf("The missing trials could make the candidate better or worse (for certain, %s; %s on them), so it is uncertain.", counts, gate.Plural(x.signed.ambiguous, "depends", "depend"))
		x.tellMissing(r)
		return
	}
	if x.signed.ambiguous > 0 {
		counts = "Completed against a decision, " + counts
	}
	p := counts + ": p = " + x.signed.v.pText(x.p)
	switch x.direction {
	case better:
		r.Verdict, r.Reason = report.Pass, p+" is below "+decimal(level)+", so the candidate is better."
	case worse:
		r.Verdict, r.Reason = report.Fail, p+" is below "+decimal(level)+", so the candidate is worse."
	default:
		r.Verdict, r.Reason = report.InsufficientEvidence, p+" is not below "+decimal(level)+", so it is uncertain whether the candidate is better or worse."
	}
	x.tellMissing(r)
}

// tellMissing adds to a rule's reason what the missing trials could change, which is then no caution beside it.
func (x *verdict) tellMissing(r *report.Rule) {
	r.Reason += x.signed.depends() + x.flips()
	r.Caution = ""
}

// needs says what would decide the sign test: more cases that move as these do, and what is missing to be recorded.
func (x *verdict) needs() *report.Needs {
	s, cases := x.signed, len(x.signed.v.cases)
	sizing := gate.Sizing{
		Unit: "such cases", Now: cases, Low: float64(s.low.better - s.low.worse), High: float64(s.high.better - s.high.worse),
		Size: func(c gate.Completion) (int, bool) { return s.v.enough(x.taken(c), cases) },
		Tell: gate.Added(cases, "cases that move as these do", ""),
		None: func(how string) string {
			return fmt.Sprintf("more than %d cases that move as these do, in a new sample", interval.MostNeeded) + how
		},
	}
	if s.v.judging.Looks.Value != policy.LooksRepeated {
		sizing.Tell = func(units int) report.Needs {
			return report.Needs{What: "cases that move as these do, in a new sample", AtLeast: gate.Rounded(units)}
		}
		sizing.Beside = func() string {
			again := *s.v
			again.judging.Looks = policy.Text{Value: policy.LooksRepeated, Set: true}
			return gate.Repeated(again.enough(x.split, cases))
		}
	}
	needs := sizing.Needs(report.Threshold{Kind: report.Minimum, Value: 0}) // better less worse cases
	if x.signed.low == x.signed.high && x.split.better == x.split.worse {
		needs.What = "other data: as many cases are better as worse, and no number of such cases would decide"
	}
	return needs
}

// taken is how the cases move with what is missing taken as c.
func (x *verdict) taken(c gate.Completion) signs {
	switch c {
	case gate.AllLow:
		return x.signed.low
	case gate.AllHigh:
		return x.signed.high
	}
	return x.split
}

// scannedCases is up to how many cases every number is looked at one by one, since a p-value does not fall with each of them.
const scannedCases = 2000

// enough is the least number of cases, from those of a split on, that would show its direction if they moved as these do: of those that
// move with most of them whole ones alone are counted, of those that move against them every part of one. found is false
// where none up to the most that is looked for would.
func (v *view) enough(split signs, cases int) (n int, found bool) {
	decides := func(n int) bool {
		more := signs{wholes(split.better, cases, n, false), wholes(split.worse, cases, n, true)}
		if split.worse > split.better {
			more = signs{wholes(split.better, cases, n, true), wholes(split.worse, cases, n, false)}
		}
		return v.shows(more) != uncertain && (more.better > more.worse) == (split.better > split.worse)
	}
	few := cases - 1 // of n cases or fewer, it is taken that they do not decide
	for n = cases; !decides(n); n = min(2*n, interval.MostNeeded) {
		if n >= interval.MostNeeded {
			return 0, false
		}
		few = n
	}
	if n <= scannedCases {
		for few++; few < n && !decides(few); few++ {
		}
		n = few
	}
	for n-few > 1 {
		if middle := few + (n-few)/2; decides(middle) {
			n = middle
		} else {
			few = middle
		}
	}
	for gate.Rounded(n) > n && !decides(gate.Rounded(n)) { // as it is told
		n = gate.Rounded(n) + 1
	}
	return n, true
}

// wholes is how many of n cases are what count of cases are, in whole cases, a part of one left out or counted as one.
func wholes(count, cases, n int, partsToo bool) int {
	high, low := bits.Mul64(uint64(count), uint64(n))
	q, rest := bits.Div64(high, low, uint64(cases)) // count is at most cases, so that q is at most n
	if partsToo && rest > 0 {
		q++
	}
	return int(q)
}

// tip is the tipping point of the sign test: from all missing trials in favour of the candidate on, how many against it leave it no
// longer better, and how many make it worse.
func (x *verdict) tip() (*report.TippingPoint, error) {
	s := x.signed
	var steps []step
	between := 0
	for _, m := range s.movements {
		switch {
		case m.high > 0 && m.low <= 0:
			steps = append(steps, step{m.highAway, m.low < 0})
		case m.high == 0 && m.low < 0:
			between++
		}
	}
	// fewest trials after which the split is no longer, or not yet, as wanted; more than are missing where none are
	after := func(done func(signs) bool) int {
		if done(s.high) {
			return 0
		}
		n, found := fewest(steps, between, func(left, joined int) bool {
			return done(signs{s.high.better - left, s.high.worse + joined})
		})
		if !found {
			return s.missing + 1
		}
		return max(1, n)
	}
	notBetter := after(func(split signs) bool { return s.v.shows(split) != better })
	isWorse := after(func(split signs) bool { return s.v.shows(split) == worse })
	trials := 0
	for i := range s.v.cases {
		trials += 2 * s.v.cases[i].n()
	}
	of := strconv.Itoa(trials) + " trials"
	return gate.Tip(s.missing, false, of, s.v.against(),
		func(bad int) (bool, error) { return bad < notBetter, nil }, func(bad int) (bool, error) { return bad >= isWorse, nil })
}

// mostMoved is how many cases a report names.
const mostMoved = 10

// moved lists the cases whose results differ most between the versions, those that got worse first among equals.
func (v *view) moved() []report.Moved {
	type move struct {
		report.Moved
		by float64
	}
	var list []move
	for i := range v.cases {
		c := &v.cases[i]
		b, x := c.sides[baseline], c.sides[candidate]
		if b.recorded == 0 || x.recorded == 0 {
			continue
		}
		// x.sum/x.recorded − b.sum/b.recorded, exactly
		by := new(big.Int).Mul(x.sum, big.NewInt(int64(b.recorded)))
		by.Sub(by, new(big.Int).Mul(b.sum, big.NewInt(int64(x.recorded))))
		if by.Sign() == 0 {
			continue
		}
		list = append(list, move{by: v.quotient(by, b.recorded*x.recorded), Moved: report.Moved{
			Case: c.item, Baseline: v.quotient(b.sum, b.recorded), Candidate: v.quotient(x.sum, x.recorded), Missing: b.missing() + x.missing(),
		}})
	}
	slices.SortFunc(list, func(a, b move) int {
		return cmp.Or(cmp.Compare(math.Abs(b.by), math.Abs(a.by)), cmp.Compare(a.by, b.by), strings.Compare(a.Case, b.Case))
	})
	var top []report.Moved
	for _, m := range list[:min(len(list), mostMoved)] {
		top = append(top, m.Moved)
	}
	return top
}
