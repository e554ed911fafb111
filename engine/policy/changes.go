package policy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
)

// Change is one thing that a policy says otherwise than the policy it takes the place of.
type Change struct {
	Loosens bool     // it makes PASS easier to reach, counts less, or asks for something else; else it may, and a person should look
	Message string   // one sentence with the old value and the new one; what it quotes is cut and printable
	Pos     diag.Pos // in the new policy; its file alone for what is gone from it
}

// Changes lists what the policy head says otherwise than the policy base, both as they were parsed, where that makes PASS
// easier to reach, asks for something else under a rule's id, or may do either: first what stands in head, in its order, then
// what is gone from it, in the order of base. What only makes PASS harder is not listed (a threshold moved the hard way, a rule
// more), nor is what changes nothing: comments, quotes, the order of keys, 0.05 written as 0.050, a setting that moved up or
// down and holds for the same rules, a default that is written out. specs and bare are those that Load is given.
//
// Sections are matched by key and name, and where one of a key is left on each side, those two; rules by id within
// their section, and a rule that is gone with one that is new and says all the same under another id. Keys that this file
// does not know are compared too, so that a gate's new key cannot change unseen.
//
// Each document is taken by itself: a confidence that moved from one file of a run to another is listed as lowered. beside
// says that they stand beside a declaration, whose settings hold where they say nothing: to give one, or to leave it out,
// then loosens whatever its value is. A document with problems is compared as far as it goes.
func Changes(base, head *Document, specs []SectionSpec, bare string, beside bool) []Change {
	c := &changes{file: head.Pos(), index: map[told]int{}, beside: beside}
	was, is := parts(base, specs, bare), parts(head, specs, bare)
	if len(was[0].maps) > 1 && len(is[0].maps) > 1 { // sections on both sides: what stands beside them
		c.keys("the policy", c.file, base.Root, head.Root, slices.Concat(ownSectionKeys, sectionKeys(specs)))
	}
	matched, gone := matchParts(was, is)
	for i := range is {
		if matched[i] >= 0 {
			c.section(&was[matched[i]], &is[i])
			continue
		}
		for _, rule := range is[i].rules {
			if !isTrue(rule, "advisory") {
				c.joins(rule, is[i].maps)
			}
		}
	}
	for _, i := range gone {
		c.removedSection(&was[i])
	}
	return c.sorted()
}

// What a change of a key means for whoever wants a rule to pass.
type keyRule struct {
	number   bool   // its value is a number, so that 0.05 and 0.050 are the same
	easier   int    // numbers: lower (-1) or higher (+1) is the easy way; 0: neither is known to be
	bothWays bool   // the hard way is listed too: it can turn FAIL into INSUFFICIENT_EVIDENCE
	changed  bool   // another value loosens
	gone     bool   // to leave it out loosens
	fallback string // what holds where it is not given
	set      bool   // a list in which neither order nor repeats count
	oneOrAll bool   // a text is a list of one
	silent   bool   // it decides nothing
}

// keyRules are the keys of which more is known than that another value is another question. A key means the same in
// every gate that has it.
var keyRules = map[string]keyRule{
	"confidence":                  {number: true, easier: -1, bothWays: true, fallback: DefaultConfidence},
	"max_left_out":                {number: true, easier: +1, bothWays: true, fallback: DefaultMaxLeftOut},
	"minimum_blind_sample":        {number: true, easier: -1, bothWays: true, fallback: "20"},
	"min_cell":                    {number: true, easier: -1, bothWays: true, fallback: "30"},
	"planned":                     {number: true, changed: true},
	"plan":                        {changed: true, gone: true},
	"assignment":                  {gone: true}, // whoever has no row is then not missed
	"draw":                        {gone: true},
	"unit":                        {gone: true}, // a person with several cases is then not found
	"generalize":                  {gone: true},
	"calibration_bins":            {number: true, fallback: "10"},
	"corpus_size":                 {number: true},
	"least_inclusion_probability": {number: true},
	"valid_items":                 {number: true},
	"k":                           {number: true},
	"id":                          {fallback: "id"}, // of a section: a column
	"label":                       {fallback: "label"},
	"prediction":                  {fallback: "prediction"},
	"case_list":                   {fallback: "sampled"},
	"adjust":                      {fallback: AdjustNone}, // which way is easier: changes.adjust
	"version":                     {fallback: "candidate"},
	"missing_values":              {set: true},
	"abstain":                     {set: true},
	"decisions":                   {oneOrAll: true},
	"labels":                      {oneOrAll: true},
	"trials":                      {oneOrAll: true},
	"cases":                       {oneOrAll: true},
	"attribute":                   {oneOrAll: true},
	"name":                        {silent: true},
	"requires":                    {silent: true},
	"min_shown":                   {silent: true},
}

// planRule is that of the numbers in a plan.
var planRule = keyRule{number: true, changed: true, gone: true}

// thresholdRules are the keys of a rule's threshold; a dot stands before a side of worst_group.
var thresholdRules = []struct {
	path   string
	easier int
}{
	{string(Minimum), -1}, {string(Maximum), +1}, {string(MaxGroupGap), +1}, {string(MinGroupRatio), -1},
	{string(WorstGroup) + "." + string(Minimum), -1}, {string(WorstGroup) + "." + string(Maximum), +1},
}

// Keys that are not compared where they stand.
var (
	judgingKeys    = []string{"confidence", "looks", "planned", "mean_method", "max_left_out", "adjust"} // of every rule, as they hold for it
	inheritedKeys  = []string{"missing_values", "columns"}                                               // of every section, likewise
	ownRuleKeys    = slices.Concat(judgingKeys, measuredKeys, []string{"id", "advisory", "waive", "reviewed", "minimum", "maximum", "max_group_gap", "min_group_ratio", "worst_group"})
	ownSectionKeys = slices.Concat(judgingKeys, inheritedKeys, []string{"name", "rules"})
)

// measuredKeys say what a rule measures.
var measuredKeys = []string{"metric", "rate"}

// part is a section of a policy, with what it inherits.
type part struct {
	key, name string
	shown     string // how messages speak of it
	maps      []*Map // its own, then the top of the file where that is another
	rules     []*Map
	pos       diag.Pos
}

// parts finds the sections of a document, as Load does.
func parts(doc *Document, specs []SectionSpec, bare string) (list []part) {
	root := doc.Root
	for _, spec := range specs {
		v, given := root.given(spec.Key)
		if !given {
			continue
		}
		of := v.items
		if v.kind == mapping {
			of = []value{v}
		}
		for _, item := range of {
			if item.kind != mapping {
				continue
			}
			name, _ := item.m.given("name")
			s := Section{Key: spec.Key, Name: Text{Value: name.text, Set: name.text != ""}}
			list = append(list, part{spec.Key, name.text, s.Context(), []*Map{item.m, root}, rulesOf(item.m), item.m.Pos()})
			if v.kind == mapping {
				list[len(list)-1].pos = root.KeyPos(spec.Key)
			}
		}
	}
	if list == nil {
		name, _ := root.given("name")
		list = []part{{bare, name.text, "the policy", []*Map{root}, rulesOf(root), doc.Pos()}}
	}
	return list
}

func sectionKeys(specs []SectionSpec) (keys []string) {
	for _, spec := range specs {
		keys = append(keys, spec.Key)
	}
	return keys
}

// rulesOf are a section's rules, as far as they are mappings.
func rulesOf(m *Map) (rules []*Map) {
	v, _ := m.given("rules")
	for _, item := range v.items {
		if item.kind == mapping {
			rules = append(rules, item.m)
		}
	}
	return rules
}

// given returns the value of key. Unlike the methods that read a key it leaves no trace.
func (m *Map) given(key string) (v value, ok bool) {
	i, ok := m.index[key]
	if !ok {
		return value{}, false
	}
	return m.entries[i].value, true
}

// matchParts returns, for each part of is, the place of its counterpart in was, -1 for none; and the places in was of those
// that have none.
func matchParts(was, is []part) (matched, gone []int) {
	free := map[[2]string][]int{}
	left := map[string][]int{} // by key
	for i, p := range was {
		free[[2]string{p.key, p.name}] = append(free[[2]string{p.key, p.name}], i)
	}
	taken := make([]bool, len(was))
	fresh := map[string][]int{} // parts of is without a counterpart, by key
	for i, p := range is {
		at := [2]string{p.key, p.name}
		if len(free[at]) == 0 {
			matched = append(matched, -1)
			fresh[p.key] = append(fresh[p.key], i)
			continue
		}
		matched = append(matched, free[at][0])
		taken[free[at][0]] = true
		free[at] = free[at][1:]
	}
	for i, p := range was {
		if !taken[i] {
			left[p.key] = append(left[p.key], i)
		}
	}
	for i, p := range was {
		switch {
		case taken[i]:
		case len(left[p.key]) == 1 && len(fresh[p.key]) == 1:
			matched[fresh[p.key][0]] = i
		default:
			gone = append(gone, i)
		}
	}
	return matched, gone
}

// changes collects what is found.
type changes struct {
	file   diag.Pos // the new policy as a whole
	beside bool     // a declaration's settings hold where the policy says nothing
	list   []placed
	outer  []outer      // settings that rules or sections inherit
	index  map[told]int // of outer
}

// placed is a change and the place of what it was, by which those that are gone are sorted.
type placed struct {
	Change
	was diag.Pos
}

// told is what happened to a setting at one place.
type told struct {
	text    string
	loosens bool
	pos     diag.Pos // zero where the value is a default now
}

// outer is a setting that changed, and whom it holds for.
type outer struct {
	told
	of []inheriting
}

// inheriting is a rule or a section that a setting holds for.
type inheriting struct {
	id    string // of a rule, as shown; "" for a section
	shown string
	pos   diag.Pos
}

// says keeps a change.
func (c *changes) says(loosens bool, pos, was diag.Pos, format string, args ...any) {
	c.list = append(c.list, placed{Change{loosens, fmt.Sprintf(format, args...), pos}, was})
}

// inherited keeps a change of a setting for whoever inherits it. What happened to it at one place is told once.
func (c *changes) inherited(by inheriting, what told) {
	at, known := c.index[what]
	if !known {
		at = len(c.outer)
		c.index[what] = at
		c.outer = append(c.outer, outer{told: what})
	}
	c.outer[at].of = append(c.outer[at].of, by)
}

// sorted returns all changes in their order.
func (c *changes) sorted() []Change {
	for _, o := range c.outer {
		pos := o.pos
		if pos == (diag.Pos{}) {
			pos = o.of[0].pos
		}
		c.says(o.loosens, pos, diag.Pos{}, "In %s, %s.", together(o.of), o.text)
	}
	slices.SortStableFunc(c.list, func(a, b placed) int {
		if (a.Pos.Line == 0) != (b.Pos.Line == 0) {
			return cmp.Compare(b.Pos.Line, a.Pos.Line)
		}
		return cmp.Or(a.Pos.Compare(b.Pos), a.was.Compare(b.was))
	})
	var list []Change
	for _, p := range c.list {
		list = append(list, p.Change)
	}
	return list
}

// mostNamed is how many rules or sections a sentence names.
const mostNamed = 5

// together names rules or sections: "rules a, b and 3 more".
func together(list []inheriting) string {
	what, name := "", func(by inheriting) string { return by.shown }
	if !slices.ContainsFunc(list, func(by inheriting) bool { return by.id == "" }) {
		what, name = "rules ", func(by inheriting) string { return by.id }
		if len(list) == 1 {
			what = "rule "
		}
	}
	var names []string
	for _, by := range list[:min(len(list), mostNamed)] {
		names = append(names, name(by))
	}
	last := len(names) - 1
	switch more := len(list) - len(names); {
	case more > 0:
		return fmt.Sprintf("%s%s and %d more", what, strings.Join(names, ", "), more)
	case last > 0:
		return what + strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return what + names[0]
}

// section compares two sections.
func (c *changes) section(was, is *part) {
	own, other := is.maps[0], was.maps[0]
	if was.name != is.name && was.name != "" && is.name != "" {
		c.says(false, own.KeyPos("name"), diag.Pos{}, "The name of section %s was %s and is now %s.", is.key, diag.Quote(was.name), diag.Quote(is.name))
	}
	c.keys(is.shown, is.pos, other, own, ownSectionKeys)
	section := inheriting{shown: is.shown, pos: is.pos}
	for _, key := range inheritedKeys {
		c.setting(section, key, was.maps, is.maps)
	}

	before := counterparts(was.rules, is.rules)
	kept := map[*Map]bool{}
	for _, rule := range is.rules {
		old := before[rule]
		if !isTrue(rule, "advisory") && (old == nil || isTrue(old, "advisory")) {
			c.joins(rule, is.maps)
		}
		if old == nil {
			continue
		}
		kept[old] = true
		if idOf(old) != idOf(rule) {
			c.says(false, rule.KeyPos("id"), diag.Pos{}, "%s is now %s; it says the same otherwise.", capital(nameOf(old)), nameOf(rule))
		}
		c.rule(old, rule)
		c.judging(inheriting{idShown(rule), nameOf(rule), rule.Pos()}, slices.Concat([]*Map{old}, was.maps), slices.Concat([]*Map{rule}, is.maps))
	}
	if len(is.rules) == 0 { // else its settings are those of its rules
		c.judging(section, was.maps, is.maps)
	}
	for _, rule := range was.rules {
		if !kept[rule] {
			c.removedRule(rule)
		}
	}
}

// counterparts returns, for each rule of is that has one, the rule of was that it stands for: that with its id, else one
// that is gone and says the same under another id.
func counterparts(was, is []*Map) map[*Map]*Map {
	found, kept := map[*Map]*Map{}, map[*Map]bool{}
	match := func(key func(*Map) string) {
		free := map[string][]*Map{}
		for _, rule := range was {
			if !kept[rule] {
				free[key(rule)] = append(free[key(rule)], rule)
			}
		}
		for _, rule := range is {
			if same := free[key(rule)]; found[rule] == nil && len(same) > 0 {
				found[rule], kept[same[0]] = same[0], true
				free[key(rule)] = same[1:]
			}
		}
	}
	match(idOf)
	match(func(rule *Map) string { return rule.without("id") })
	return found
}

// removedSection tells of a section that is gone, by its rules.
func (c *changes) removedSection(was *part) {
	for _, rule := range was.rules {
		c.removedRule(rule)
	}
	if len(was.rules) == 0 {
		c.says(true, c.file, was.pos, "%s is removed.", capital(was.shown))
	}
}

// removedRule tells of a rule that is gone, and what it held.
func (c *changes) removedRule(rule *Map) {
	var held []string
	for _, key := range measuredKeys {
		if v, ok := rule.given(key); ok {
			held = append(held, show(v))
		}
	}
	for _, t := range thresholds(rule) {
		held = append(held, t.shown())
	}
	what := ""
	if held != nil {
		what = " (" + strings.Join(held, ", ") + ")"
	}
	c.says(true, c.file, rule.Pos(), "%s is removed%s.", capital(nameOf(rule)), what)
}

// rule compares what two rules say themselves.
func (c *changes) rule(was, is *Map) {
	name := nameOf(is)
	c.measured(name, was, is)
	c.threshold(name, was, is)
	if !isTrue(was, "advisory") && isTrue(is, "advisory") {
		c.says(true, is.KeyPos("advisory"), diag.Pos{}, "%s is made advisory: it no longer counts in the verdict.", capital(name))
	}
	c.waiver(name, was, is)
	if now, ok := is.given("reviewed"); ok {
		before, had := was.given("reviewed")
		pos := is.KeyPos("reviewed")
		switch {
		case !had:
			c.says(true, pos, diag.Pos{}, "%s gets a recorded review%s.", capital(name), inside(now, "by", " by "))
		case before.canonical(keyRule{}) != now.canonical(keyRule{}):
			c.says(true, pos, diag.Pos{}, "%s gets another recorded review%s.", capital(name), inside(now, "by", " by "))
		}
	}
	c.keys(name, is.Pos(), was, is, ownRuleKeys)
}

// measured compares what two rules measure. Another metric under a rule's id loosens whatever it is: what the rule asked for is no
// longer asked, and the same threshold on another metric may be one that nothing can fail, such as a minimum of 0.8 on a number of
// minutes.
func (c *changes) measured(name string, was, is *Map) {
	for _, key := range measuredKeys {
		before, had := was.given(key)
		now, has := is.given(key)
		pos := is.Pos()
		if has {
			pos = is.KeyPos(key)
		}
		if _, text := differs(key, keyRule{}, present(before, had), present(now, has)); text != "" {
			c.says(true, pos, diag.Pos{}, "%s measures something else: %s.", capital(name), text)
		}
	}
}

// waiver compares two rules' waivers.
func (c *changes) waiver(name string, was, is *Map) {
	now, ok := is.given("waive")
	if !ok {
		return
	}
	before, had := was.given("waive")
	if !had {
		c.says(true, is.KeyPos("waive"), diag.Pos{}, "%s gets a waiver%s%s.", capital(name), inside(now, "until", " until "), inside(now, "owner", ", owner "))
		return
	}
	if before.kind != mapping || now.kind != mapping {
		c.value(name, "waive", keyRule{changed: true}, is.KeyPos("waive"), &before, &now)
		return
	}
	old, _ := before.m.given("until")
	last, _ := now.m.given("until")
	switch {
	case !ValidDay(old.text) || !ValidDay(last.text):
		c.value(name, "waive", keyRule{changed: true}, is.KeyPos("waive"), &before, &now)
		return
	case last.text > old.text:
		c.says(true, now.m.KeyPos("until"), diag.Pos{}, "The waiver of %s is prolonged from %s to %s.", name, old.text, last.text)
	}
	c.keysUnder(name, "waive.", keyRule{}, now.m.Pos(), before.m, now.m, []string{"until"})
}

// thresholdValue is one threshold that a rule gives.
type thresholdValue struct {
	path   string
	easier int
	value  value
	pos    diag.Pos
}

// shown writes it as "max_group_gap 0.05".
func (t thresholdValue) shown() string { return t.path + " " + show(t.value) }

// thresholds are those that a rule gives: one, but for one without any and in a policy with problems.
func thresholds(rule *Map) (list []thresholdValue) {
	for _, t := range thresholdRules {
		m, key := rule, t.path
		if outer, side, nested := strings.Cut(t.path, "."); nested {
			v, _ := rule.given(outer)
			if v.kind != mapping {
				continue
			}
			m, key = v.m, side
		}
		if v, ok := m.given(key); ok {
			list = append(list, thresholdValue{t.path, t.easier, v, m.KeyPos(key)})
		}
	}
	return list
}

// threshold compares two rules' thresholds.
func (c *changes) threshold(name string, was, is *Map) {
	before, now := thresholds(was), thresholds(is)
	same := func(list []thresholdValue, path string) int {
		return slices.IndexFunc(list, func(t thresholdValue) bool { return t.path == path })
	}
	var gone, fresh []string
	pos := is.Pos()
	for _, t := range before {
		i := same(now, t.path)
		if i < 0 {
			gone = append(gone, t.shown())
			continue
		}
		c.value(name, t.path, keyRule{number: true, easier: t.easier}, now[i].pos, &t.value, &now[i].value)
	}
	for _, t := range now {
		if same(before, t.path) < 0 {
			fresh = append(fresh, t.shown())
			pos = t.pos
		}
	}
	switch {
	case gone != nil && fresh != nil:
		c.says(true, pos, diag.Pos{}, "In %s, %s is replaced by %s.", name, strings.Join(gone, ", "), strings.Join(fresh, ", "))
	case gone != nil:
		c.says(true, pos, diag.Pos{}, "In %s, %s is removed.", name, strings.Join(gone, ", "))
	case fresh != nil:
		c.says(false, pos, diag.Pos{}, "In %s, %s is new.", name, strings.Join(fresh, ", "))
	}
}

// strictness of looks: an interval for many looks is the widest; where nothing is said a mean's holds for many and a rate's
// for one; and one look at a number of units fixed beforehand is the narrowest.
var strictness = map[string]int{LooksOnce: 0, "": 1, LooksRepeated: 2}

// judging compares the settings that hold for a rule, or for the rules that may stand beside a section without any.
func (c *changes) judging(by inheriting, was, is []*Map) {
	c.setting(by, "confidence", was, is)
	c.setting(by, "max_left_out", was, is)
	c.adjust(by, was, is)
	before, _ := holds("looks", was)
	now, m := holds("looks", is)
	if textOf(before) == textOf(now) {
		if textOf(now) == LooksOnce { // else they say nothing
			c.setting(by, "planned", was, is)
			c.setting(by, "mean_method", was, is)
		}
		return
	}
	old, known := strictness[textOf(before)]
	last, knownToo := strictness[textOf(now)]
	loosens := known && knownToo && last < old || c.elsewhere(before, now)
	c.inherited(by, told{"looks " + wasIs(before, now, ""), loosens, placeOf(m, "looks")})
}

// adjust compares how rules share their error. Of the three ways bonferroni is the hardest to pass, and to leave it loosens. holm
// makes nothing harder to pass and FAIL harder to come to, so that to take it up loosens what had its own error; to leave it for none,
// or to take up bonferroni, is told as well: the first gives up what the policy promised of its rules together, and the second makes
// FAIL harder too.
func (c *changes) adjust(by inheriting, was, is []*Map) {
	way := func(v *value) string { return cmp.Or(textOf(v), keyRules["adjust"].fallback) }
	before, _ := holds("adjust", was)
	now, m := holds("adjust", is)
	if way(before) == way(now) && !c.elsewhere(before, now) || isTrue(is[0], "advisory") { // an advisory rule has its own error whatever is said
		return
	}
	loosens := way(before) == AdjustBonferroni || way(before) == AdjustNone && way(now) == AdjustHolm || c.elsewhere(before, now)
	fallback := keyRules["adjust"].fallback
	if c.beside { // it is the declaration's, whatever that is
		fallback = ""
	}
	c.inherited(by, told{"adjust " + wasIs(before, now, fallback), loosens, placeOf(m, "adjust")})
}

// joins tells of a rule that counts now, and did not, among rules that share their error: the more they are, the smaller is the
// part of each, so that idle rules make FAIL harder for the others.
func (c *changes) joins(rule *Map, is []*Map) {
	v, _ := holds("adjust", is)
	if way := textOf(v); way == AdjustBonferroni || way == AdjustHolm {
		c.says(false, rule.Pos(), diag.Pos{}, "%s is new among the rules that share their error (adjust: %s): the others are harder to FAIL.", capital(nameOf(rule)), way)
	}
}

// holds returns the value of a setting in the first of the maps that gives it, and that map; nil for none.
func holds(key string, maps []*Map) (*value, *Map) {
	for _, m := range maps {
		if v, ok := m.given(key); ok {
			return &v, m
		}
	}
	return nil, nil
}

// placeOf is the place of a key in the map that gives it; none where the map is nil.
func placeOf(m *Map, key string) diag.Pos {
	if m == nil {
		return diag.Pos{}
	}
	return m.KeyPos(key)
}

// textOf is the text of a scalar; "" for what is none.
func textOf(v *value) string {
	if v == nil {
		return ""
	}
	return v.text
}

// elsewhere reports whether what held, or holds now, is in another file: one of the two policies says nothing.
func (c *changes) elsewhere(was, is *value) bool { return c.beside && (was == nil) != (is == nil) }

// setting compares a setting as it holds for a rule or a section.
func (c *changes) setting(by inheriting, key string, was, is []*Map) {
	before, _ := holds(key, was)
	now, m := holds(key, is)
	if c.elsewhere(before, now) {
		c.inherited(by, told{key + " " + wasIs(before, now, ""), true, placeOf(m, key)})
		return
	}
	if loosens, text := differs(key, keyRules[key], before, now); text != "" {
		c.inherited(by, told{text, loosens, placeOf(m, key)})
	}
}

// keys compares the keys of two mappings but for those that are compared elsewhere.
func (c *changes) keys(about string, pos diag.Pos, was, is *Map, without []string) {
	for _, e := range is.entries {
		key := e.key.Value
		if rule := keyRules[key]; !rule.silent && !slices.Contains(without, key) {
			before, had := was.given(key)
			c.value(about, plain(key), rule, e.key.Pos, present(before, had), &e.value)
		}
	}
	for _, e := range was.entries {
		key := e.key.Value
		if rule := keyRules[key]; !rule.silent && !slices.Contains(without, key) && !is.Has(key) {
			c.value(about, plain(key), rule, pos, &e.value, nil)
		}
	}
}

// keysUnder compares the entries of two mappings that are the value of a key; path is that key, with a dot.
func (c *changes) keysUnder(about, path string, rule keyRule, pos diag.Pos, was, is *Map, without []string) {
	for _, e := range is.entries {
		if key := e.key.Value; !slices.Contains(without, key) {
			before, had := was.given(key)
			c.value(about, path+plain(key), rule, e.key.Pos, present(before, had), &e.value)
		}
	}
	for _, e := range was.entries {
		if key := e.key.Value; !slices.Contains(without, key) && !is.Has(key) {
			c.value(about, path+plain(key), rule, pos, &e.value, nil)
		}
	}
}

func present(v value, ok bool) *value {
	if !ok {
		return nil
	}
	return &v
}

// value compares two values of a key; nil where it is not given. Mappings are compared entry by entry, so that a sentence
// names what differs.
func (c *changes) value(about, path string, rule keyRule, pos diag.Pos, was, is *value) {
	if was != nil && is != nil && was.kind == mapping && is.kind == mapping {
		inner := keyRule{changed: rule.changed, gone: rule.gone}
		if path == "plan" {
			inner = planRule
		}
		c.keysUnder(about, path+".", inner, pos, was.m, is.m, nil)
		return
	}
	if loosens, text := differs(path, rule, was, is); text != "" {
		c.says(loosens, pos, diag.Pos{}, "In %s, %s.", about, text)
	}
}

// differs says in words what happened to a key, "" where nothing did that is listed, and whether it loosens.
func differs(path string, rule keyRule, was, is *value) (loosens bool, text string) {
	x, y := was, is
	if fallback := (&value{kind: scalar, text: rule.fallback, plain: true}); rule.fallback != "" {
		x, y = cmp.Or(x, fallback), cmp.Or(y, fallback)
	}
	switch {
	case x == nil && y == nil, x != nil && y != nil && x.canonical(rule) == y.canonical(rule):
		return false, ""
	case x == nil:
		return false, path + " " + wasIs(was, is, "")
	case y == nil:
		return rule.gone, path + " " + wasIs(was, is, "")
	}
	old, isNumber := x.float()
	last, isNumberToo := y.float()
	if !rule.number || rule.easier == 0 || !isNumber || !isNumberToo {
		return rule.changed, path + " " + wasIs(was, is, rule.fallback)
	}
	verb, way := "raised", +1
	if last < old {
		verb, way = "lowered", -1
	}
	if way != rule.easier && !rule.bothWays {
		return false, ""
	}
	return way == rule.easier, fmt.Sprintf("%s is %s from %s to %s", path, verb, orDefault(was, rule.fallback), orDefault(is, rule.fallback))
}

// wasIs says what a key said and says; nil: nothing, for which fallback holds.
func wasIs(was, is *value, fallback string) string {
	switch {
	case was == nil && fallback == "":
		return "was not given and is now " + show(*is)
	case is == nil && fallback == "":
		return "was " + show(*was) + " and is no longer given"
	}
	before, now := orDefault(was, fallback), orDefault(is, fallback)
	if before == now { // cut before they differ, or alike but for quotes
		return "has another value than before (" + now + ")"
	}
	return "was " + before + " and is now " + now
}

// orDefault shows a value, or the default that holds where it is nil.
func orDefault(v *value, fallback string) string {
	if v == nil {
		return fallback + " (the default)"
	}
	return show(*v)
}

// float is the value of a number.
func (v *value) float() (float64, bool) {
	if v.kind != scalar || len(v.text) > longestNumber || !decimalNumber().MatchString(v.text) {
		return 0, false
	}
	x, err := strconv.ParseFloat(v.text, 64)
	return x + 0, err == nil // + 0 turns -0 into 0
}

// canonical writes a value so that two that say the same are written the same: whatever the order of keys, the quotes,
// and how a number is written where the key takes one.
func (v *value) canonical(rule keyRule) string {
	if x, ok := v.float(); ok && rule.number {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	if rule.oneOrAll && v.kind == list && len(v.items) == 1 {
		return v.items[0].canonical(keyRule{})
	}
	switch {
	case v.isNull():
		return "null"
	case v.kind == scalar:
		return strconv.Quote(v.text)
	case v.kind == list:
		var items []string
		for i := range v.items {
			items = append(items, v.items[i].canonical(keyRule{}))
		}
		if rule.set {
			slices.Sort(items)
			items = slices.Compact(items)
		}
		return "[" + strings.Join(items, ",") + "]"
	case v.kind == mapping:
		return v.m.without("")
	}
	return "invalid"
}

// without writes a mapping's entries but one as canonical does.
func (m *Map) without(key string) string {
	var entries []string
	for i := range m.entries {
		if e := &m.entries[i]; e.key.Value != key {
			entries = append(entries, strconv.Quote(e.key.Value)+":"+e.value.canonical(keyRule{}))
		}
	}
	slices.Sort(entries)
	return "{" + strings.Join(entries, ",") + "}"
}

// isTrue reports whether a key says true, as Bool reads it.
func isTrue(m *Map, key string) bool {
	v, _ := m.given(key)
	return v.kind == scalar && v.plain && (v.text == "true" || v.text == "True" || v.text == "TRUE")
}

// longestShown is how many characters of a value a message shows.
const longestShown = 80

// show writes a value for a message, on one line and cut.
func show(v value) string {
	var b strings.Builder
	v.write(&b)
	text := b.String()
	if utf8.RuneCountInString(text) > longestShown {
		return string([]rune(text)[:longestShown-1]) + "…"
	}
	return text
}

// write appends the value as a policy could have it, printable, and no more than a message needs.
func (v value) write(b *strings.Builder) {
	separate := func(i int) bool {
		if i > 0 {
			b.WriteString(", ")
		}
		return b.Len() <= 4*longestShown // of what no message shows nothing more is written
	}
	switch v.kind {
	case scalar:
		b.WriteString(plain(v.text))
	case list:
		b.WriteByte('[')
		for i, item := range v.items {
			if !separate(i) {
				break
			}
			item.write(b)
		}
		b.WriteByte(']')
	case mapping:
		b.WriteByte('{')
		for i, e := range v.m.entries {
			if !separate(i) {
				break
			}
			b.WriteString(plain(e.key.Value) + ": ")
			e.value.write(b)
		}
		b.WriteByte('}')
	case invalid:
		b.WriteByte('?')
	}
}

// plainText is what stands in a sentence without quotes.
var plainText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-+]?[\p{L}\p{N}_.][\p{L}\p{N}_.+/-]*$`) })

// plain writes a text from a policy as it stands, or in quotes where it could be taken for something else.
func plain(text string) string {
	if utf8.RuneCountInString(text) <= longestNumber && plainText().MatchString(text) {
		return text
	}
	return diag.Quote(text)
}

// inside shows an entry of a mapping after words that lead to it; "" where there is none.
func inside(v value, key, words string) string {
	if v.kind != mapping {
		return ""
	}
	entry, ok := v.m.given(key)
	if !ok {
		return ""
	}
	return words + show(entry)
}

// idOf is a rule's id.
func idOf(rule *Map) string {
	v, _ := rule.given("id")
	return v.text
}

// nameOf is how messages speak of a rule.
func nameOf(rule *Map) string { return ruleName(Text{Value: idOf(rule), Set: rule.Has("id")}) }

// idShown is a rule's id as nameOf has it.
func idShown(rule *Map) string {
	return cmp.Or(strings.TrimPrefix(nameOf(rule), "rule "), "without an id")
}

// capital starts a sentence with a word of ours.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
