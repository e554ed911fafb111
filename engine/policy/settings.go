package policy

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/oloproof/oloproof/engine/diag"
)

// What looks and mean_method can say. Looks not set means one look at rates, and for means the sequence
// interval, which holds over many.
const (
	LooksOnce     = "once"     // the number of units is planned and fixed beforehand
	LooksRepeated = "repeated" // the data will be looked at many times
	SymPol        = "sympol"   // the elementary interval in place of Dirichlet, with looks: once
)

// What holds where nothing is said.
const (
	DefaultConfidence = "0.95"
	DefaultMaxLeftOut = "0.10"
)

// MostPlanned is the largest number of units that can be planned: far above any study, and few enough to be held.
const MostPlanned = 1_000_000

// confidences is the range of confidence: below one half an interval would be no evidence, and none holds for sure.
var confidences = Range{Min: 0.5, Max: 1, BelowMax: true}

// Judging is the settings that say how a rule is judged. A rule may set each for itself.
type Judging struct {
	Confidence Number // 0.5 to below 1; each side of an interval is wrong with probability at most (1 - confidence)/2
	Looks      Text   // LooksOnce, LooksRepeated, or not set
	Planned    Int    // units enrolled, at least 2; set exactly with LooksOnce
	MeanMethod Text   // SymPol or not set; only with LooksOnce
	MaxLeftOut Number // 0 to 1, the share of units (people, cases) that may be left out of a rule
}

// Settings is what a policy and a section can set for all their rules.
type Settings struct {
	Judging
	Adjust        Text   // AdjustNone, AdjustBonferroni, AdjustHolm, or not set, which is AdjustNone
	MissingValues []Text // texts that mean "not recorded", beside the empty one; nil where not set
	Columns       []Pair // the gate's name of a column, and the file's; nil where not set
	MinShown      Int    // groups smaller than this have their counts hidden in reports that are published
	Requires      Text   // a least version of this program, such as ">=0.4"; at the top of a file only
}

// readJudging reads from m the settings a rule can have.
func readJudging(m *Map) Judging {
	return Judging{
		Confidence: m.Number("confidence", confidences),
		Looks:      m.Choice("looks", LooksOnce, LooksRepeated),
		Planned:    m.Int("planned", 2, MostPlanned),
		MeanMethod: m.Choice("mean_method", SymPol),
		MaxLeftOut: m.Number("max_left_out", Range{Min: 0, Max: 1}),
	}
}

// readSettings reads from m the settings a section can have.
func readSettings(m *Map) Settings {
	return Settings{
		Judging:       readJudging(m),
		Adjust:        m.Choice("adjust", AdjustBonferroni, AdjustHolm, AdjustNone),
		MissingValues: m.Texts("missing_values"),
		Columns:       m.TextMap("columns"),
		MinShown:      m.Int("min_shown", 1, math.MaxInt32),
	}
}

// given reports whether a value's key is in the file, be it readable or not.
func given(pos diag.Pos) bool { return pos != diag.Pos{} }

// within fills what j does not say from the settings around it. Planned and mean_method belong to looks: once,
// so a rule that says other looks does not take them over from an outer looks: once.
func (j Judging) within(outer Judging) Judging {
	if j.Looks.Set && j.Looks.Value != LooksOnce && outer.Looks.Value == LooksOnce {
		outer.Planned, outer.MeanMethod = Int{}, Text{}
	}
	if !given(j.Confidence.Pos) {
		j.Confidence = outer.Confidence
	}
	if !given(j.Looks.Pos) {
		j.Looks = outer.Looks
	}
	if !given(j.Planned.Pos) {
		j.Planned = outer.Planned
	}
	if !given(j.MeanMethod.Pos) {
		j.MeanMethod = outer.MeanMethod
	}
	if !given(j.MaxLeftOut.Pos) {
		j.MaxLeftOut = outer.MaxLeftOut
	}
	return j
}

// Within fills what s does not say from the settings around it: a section's from the top of its file.
func (s Settings) Within(outer Settings) Settings {
	s.Judging = s.Judging.within(outer.Judging)
	if !given(s.Adjust.Pos) {
		s.Adjust = outer.Adjust
	}
	if s.MissingValues == nil {
		s.MissingValues = outer.MissingValues
	}
	if s.Columns == nil {
		s.Columns = outer.Columns
	}
	if !given(s.MinShown.Pos) {
		s.MinShown = outer.MinShown
	}
	if !given(s.Requires.Pos) {
		s.Requires = outer.Requires
	}
	return s
}

// ForRates are the settings as rates take them: looks: once, planned and mean_method plan the number of units of a mean, and rates
// are exact for one look without.
func (j Judging) ForRates() Judging {
	if j.Looks.Value == LooksOnce {
		j.Looks = Text{}
	}
	j.Planned, j.MeanMethod = Int{}, Text{}
	return j
}

// WithDefaults fills confidence and max_left_out where nobody said them; they stay not Set.
func (j Judging) WithDefaults() Judging {
	if !j.Confidence.Set {
		j.Confidence = Number{Text: DefaultConfidence, Value: 0.95}
	}
	if !j.MaxLeftOut.Set {
		j.MaxLeftOut = Number{Text: DefaultMaxLeftOut, Value: 0.10}
	}
	return j
}

// check reports settings that only make sense together. It is called on what a rule ends up with, so a
// section's own mistake comes once a rule, at one place and in the same words, and is printed once.
func (j Judging) check(diags *diag.List) {
	if given(j.Looks.Pos) && !j.Looks.Set {
		return // unreadable, and reported: what it was meant to say is not known
	}
	once := j.Looks.Value == LooksOnce
	if once && !given(j.Planned.Pos) {
		diags.Addf(j.Looks.Pos, "looks: once needs planned: the number of units (people, cases) fixed beforehand, 2 or more")
	}
	if j.Planned.Set && !once {
		diags.Addf(j.Planned.Pos, "planned: %d is for looks: once; add looks: once, or leave planned out", j.Planned.Value)
	}
	if j.MeanMethod.Set && !once {
		diags.Addf(j.MeanMethod.Pos, "mean_method: %s is for looks: once; add looks: once, or leave mean_method out", j.MeanMethod.Value)
	}
}

// Merge joins the settings of two sources of equal rank: a gate's own declaration and --policy, or a policy and
// flags (a flag's value has the position {File: "--confidence"}). Two sources that give one setting two
// different values are an error at own's, naming the other's place; the result then has own's.
func Merge(own, other Settings, diags *diag.List) Settings {
	differ := func(name string, a, b diag.Pos, x, y string) {
		diags.Addf(a, "%s is %s here and %s in %s; say it once, or the same in both", name, x, y, b)
	}
	number := func(name string, a, b Number) {
		if a.Set && b.Set && a.Value != b.Value {
			differ(name, a.Pos, b.Pos, a.Text, b.Text)
		}
	}
	whole := func(name string, a, b Int) {
		if a.Set && b.Set && a.Value != b.Value {
			differ(name, a.Pos, b.Pos, strconv.Itoa(a.Value), strconv.Itoa(b.Value))
		}
	}
	text := func(name string, a, b Text) {
		if a.Set && b.Set && a.Value != b.Value {
			differ(name, a.Pos, b.Pos, diag.Quote(a.Value), diag.Quote(b.Value))
		}
	}
	number("confidence", own.Confidence, other.Confidence)
	text("looks", own.Looks, other.Looks)
	whole("planned", own.Planned, other.Planned)
	text("mean_method", own.MeanMethod, other.MeanMethod)
	number("max_left_out", own.MaxLeftOut, other.MaxLeftOut)
	text("adjust", own.Adjust, other.Adjust)
	whole("min_shown", own.MinShown, other.MinShown)
	text("missing_values", listed(own.MissingValues), listed(other.MissingValues))
	text("columns", renamed(own.Columns), renamed(other.Columns))
	return own.Within(other)
}

// listed writes a set of texts as one, so that two sets can be compared and shown; the order does not count.
func listed(items []Text) Text {
	if len(items) == 0 {
		return Text{}
	}
	var values []string
	for _, t := range items {
		values = append(values, t.Value)
	}
	slices.Sort(values)
	return Text{strings.Join(slices.Compact(values), ", "), items[0].Pos, true}
}

// renamed does the same for columns.
func renamed(pairs []Pair) Text {
	var items []Text
	for _, p := range pairs {
		items = append(items, Text{p.Key.Value + ": " + p.Value.Value, p.Key.Pos, true})
	}
	return listed(items)
}

var (
	requirement = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^>=\s*v?([0-9]{1,9}(?:\.[0-9]{1,9}){0,2})$`) })
	release     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^v?([0-9]{1,9}(?:\.[0-9]{1,9}){0,2})(-.*)?`) })
)

// checkRequires reports a requirement that version does not meet. A version that is no number, such as
// "devel", was built from source and meets all.
func checkRequires(t Text, version string, diags *diag.List) {
	if !t.Set {
		return
	}
	want := requirement().FindStringSubmatch(t.Value)
	if want == nil {
		diags.Addf(t.Pos, `requires is %s; write the least version, such as ">=0.4"`, diag.Quote(t.Value))
		return
	}
	have := release().FindStringSubmatch(version)
	if have == nil {
		return
	}
	order := slices.Compare(numbers(have[1]), numbers(want[1]))
	if order < 0 || order == 0 && have[2] != "" { // 0.4.0-rc1 comes before 0.4.0
		diags.Addf(t.Pos, "the policy requires version %s or later; this is %s", want[1], diag.Printable(version))
	}
}

// numbers splits a version into its three numbers; those not written are 0.
func numbers(version string) []int {
	out := make([]int, 3)
	for i, part := range strings.SplitN(version, ".", 3) {
		out[i], _ = strconv.Atoi(part) // the pattern allows nine digits at most
	}
	return out
}
