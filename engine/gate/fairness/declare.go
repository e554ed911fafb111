package fairness

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/rows"
)

// What a declaration can say, and what holds where it does not.
const (
	mostGroups     = 10_000
	defaultMinCell = 30
	mostMinCell    = 1_000_000
	leastBins      = 2
	defaultBins    = 10
	mostBins       = 1000
)

// by joins the attributes of a crossing, and their groups.
const by = " × "

// declaration is what is known of the cases before the files are read.
type declaration struct {
	id, probability, unit policy.Text // columns; probability and unit not Set where they are not read
	label, prediction     binary
	attributes            []attribute
	crossings             []crossing // none (the whole file), then each attribute, then each intersection
	minCell, bins         int
}

// binary is a column of two values.
type binary struct {
	column   policy.Text
	words    [2]policy.Text // the negative one, then the positive; not Set where the column has 0 and 1
	declared bool           // the declaration names the column
	broken   bool           // what is said of it cannot be used, which is reported: then its values are not checked
}

// attribute is a column that says which group a case belongs to.
type attribute struct {
	name   policy.Text
	groups []string
	index  map[string]int // of groups that are texts: the place of each
	bounds []bound        // of groups of numbers: where one ends and the next begins, ascending
}

// bound is a number as it is written and its value.
type bound struct {
	text  string
	value rows.Decimal
}

// crossing is an attribute, or several crossed; without any it is the whole file.
type crossing struct {
	attributes []int  // indices, in the order that groups are named by
	label      string // "sex × age_band"
	groups     []string
}

// of returns the number of the group that a recorded value belongs to, and whether there is one. A value of an
// attribute of numbers that is none is an error.
func (a *attribute) of(text string) (group int, ok bool, err error) {
	if a.bounds == nil {
		group, ok = a.index[text]
		return group, ok, nil
	}
	value, rounded, err := rows.ParseDecimal(text)
	if err != nil {
		return 0, false, err
	}
	for group < len(a.bounds) && gate.CompareDecimal(text, value, rounded, a.bounds[group].value) >= 0 {
		group++
	}
	return group, true, nil
}

// read returns yes or no for the value of a binary column.
func (b *binary) read(text string) (int, error) {
	switch {
	case b.broken:
		return no, nil
	case !b.words[yes].Set:
		positive, err := rows.Binary(text)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%w; for two words, declare positive and negative", err)
		case positive:
			return yes, nil
		}
		return no, nil
	case text == b.words[yes].Value:
		return yes, nil
	case text == b.words[no].Value:
		return no, nil
	}
	return 0, fmt.Errorf("found %s: %s (positive) or %s (negative) is allowed", diag.Quote(text), diag.Quote(b.words[yes].Value), diag.Quote(b.words[no].Value))
}

// word is how texts name one of the column's values.
func (b *binary) word(value int) string {
	if b.words[value].Set {
		return shown(b.words[value].Value)
	}
	return strconv.Itoa(value)
}

// twofold is a declaration and what the policy beside it says, nil for nothing. Where both say something it is the same.
type twofold struct {
	own, beside *policy.Map
	diags       *diag.List // theirs
}

// readBoth reads a key of both and compares the two where both can be read. show writes a value for the message.
func readBoth[T any](t twofold, key string, read func(*policy.Map) T, same func(a, b T) bool, show func(T) string) T {
	problems := t.diags.Len()
	own, other := read(t.own), read(t.beside)
	if !t.own.Has(key) {
		return other
	}
	if t.beside.Has(key) && t.diags.Len() == problems && !same(own, other) {
		here, there := shown(show(own)), shown(show(other))
		if here == there { // cut before they differ
			t.own.Errorf(t.own.KeyPos(key), "%s is not the same here and in %s; say it once, or the same in both", key, t.beside.KeyPos(key))
		} else {
			t.own.Errorf(t.own.KeyPos(key), "%s is %s here and %s in %s; say it once, or the same in both", key, here, there, t.beside.KeyPos(key))
		}
	}
	return own
}

// text reads a key that names a column or gives a word, trimmed as the files' texts are.
func (t twofold) text(key string) policy.Text {
	return readBoth(t, key, func(m *policy.Map) policy.Text { return trimmed(m, key) },
		func(a, b policy.Text) bool { return a.Value == b.Value }, func(x policy.Text) string { return written(x.Value) })
}

// whole reads a key that is a whole number.
func (t twofold) whole(key string, least, most, fallback int) int {
	n := readBoth(t, key, func(m *policy.Map) policy.Int { return m.Int(key, least, most) },
		func(a, b policy.Int) bool { return a.Value == b.Value }, func(n policy.Int) string { return strconv.Itoa(n.Value) })
	if !n.Set {
		return fallback
	}
	return n.Value
}

// written writes a text as a declaration would: in quotes where it could be taken for something else.
func written(text string) string {
	if isPlain(text) {
		return text
	}
	return diag.Quote(text)
}

// isPlain reports whether a text is letters, digits and underscores, with some signs between them: not before the first, and behind
// the last only a point or a plus.
func isPlain(text string) bool {
	for i, r := range text {
		last := i+utf8.RuneLen(r) == len(text)
		switch {
		case r == '_', unicode.IsLetter(r), unicode.IsNumber(r):
		case i > 0 && (r == '.' || r == '+'):
		case i > 0 && !last && strings.ContainsRune("/× -", r):
		default:
			return false
		}
	}
	return text != ""
}

// writtenList writes texts as a list.
func writtenList(texts []string) string {
	var parts []string
	for _, text := range texts {
		parts = append(parts, written(text))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// trimmed reads a text with something in it.
func trimmed(m *policy.Map, key string) policy.Text {
	x := m.Text(key)
	x.Value = strings.TrimSpace(x.Value)
	if x.Set && x.Value == "" {
		m.Errorf(x.Pos, "%s is empty; a text is wanted", key)
		x.Set = false
	}
	return x
}

// readDeclaration reads what a section, and the policy beside it, say of the cases. missing are the texts that mean "not
// recorded". sound is false where some of it could not be used, which is reported.
func readDeclaration(t twofold, missing []policy.Text) (d *declaration, sound bool) {
	problems := t.diags.Len()
	d = &declaration{id: t.text("id")}
	if !d.id.Set {
		d.id.Value = "id"
	}
	d.label = readBinary(t, "label")
	d.prediction = readBinary(t, "prediction")
	d.probability = t.text("probability")
	d.unit = t.text("unit")
	before := t.diags.Len()
	words := [2]policy.Text{no: t.text("negative"), yes: t.text("positive")}
	broken := t.diags.Len() > before
	d.label.settle(words, broken, missing, t.diags)
	d.prediction.settle(words, broken, missing, t.diags)
	d.attributes = readBoth(t, "attributes", func(m *policy.Map) []attribute { return readAttributes(m, missing, t.diags) }, sameAttributes, showAttributes)
	if !t.own.Has("attributes") && !t.beside.Has("attributes") && !t.own.Misspelt("attributes") && !t.beside.Misspelt("attributes") {
		t.own.Errorf(t.own.Pos(), "no attributes are declared; name the columns that say which group a case belongs to, with their groups, as in attributes: {sex: [female, male]}; "+
			"where this file stands beside a declaration: oloproof fairness check DECLARATION --policy %s", diag.Printable(t.own.Pos().File))
	}
	d.crossings = []crossing{{groups: []string{""}}}
	for i := range d.attributes {
		d.crossings = append(d.crossings, d.cross([]int{i}))
	}
	d.readIntersections(readBoth(t, "intersections", readLists, sameLists, showLists), t.diags)
	d.minCell = t.whole("min_cell", 1, mostMinCell, defaultMinCell)
	d.bins = t.whole("calibration_bins", leastBins, mostBins, defaultBins)
	return d, t.diags.Len() == problems
}

// readBinary reads label or prediction: a column's name, or a mapping of column, positive and negative.
func readBinary(t twofold, key string) binary {
	read := func(m *policy.Map) binary {
		problems := t.diags.Len()
		b := binary{column: policy.Text{Value: key}, declared: m.Has(key)}
		if m.IsMapping(key) {
			of := m.Map(key)
			x := trimmed(of, "column")
			if b.declared = x.Set; x.Set {
				b.column = x
			}
			b.words = [2]policy.Text{yes: trimmed(of, "positive"), no: trimmed(of, "negative")}
			of.Done(key)
		} else if x := trimmed(m, key); x.Set {
			b.column = x
		}
		b.broken = t.diags.Len() > problems
		return b
	}
	same := func(a, b binary) bool {
		if a.column.Value != b.column.Value {
			return false
		}
		for value := range a.words {
			if a.words[value].Set != b.words[value].Set || a.words[value].Value != b.words[value].Value {
				return false
			}
		}
		return true
	}
	show := func(b binary) string {
		if !b.words[yes].Set && !b.words[no].Set {
			return written(b.column.Value)
		}
		text := "{column: " + written(b.column.Value)
		for value, name := range []string{no: ", negative: ", yes: ", positive: "} {
			if b.words[value].Set {
				text += name + written(b.words[value].Value)
			}
		}
		return text + "}"
	}
	return readBoth(t, key, read, same, show)
}

// settle takes the section's words where the column has none of its own, and checks them. broken says that the section's could
// not be read.
func (b *binary) settle(words [2]policy.Text, broken bool, missing []policy.Text, diags *diag.List) {
	for value := range b.words {
		if !b.words[value].Set {
			b.words[value] = words[value]
			b.broken = b.broken || broken
		}
	}
	if b.broken { // what is wrong with a pair may be what was reported
		return
	}
	problems := diags.Len()
	negative, positive := b.words[no], b.words[yes]
	switch {
	case positive.Set && !negative.Set:
		diags.Addf(positive.Pos, "there is a positive word and no negative one; give both, or none where the column has 0 and 1")
	case negative.Set && !positive.Set:
		diags.Addf(negative.Pos, "there is a negative word and no positive one; give both, or none where the column has 0 and 1")
	case positive.Set && positive.Value == negative.Value:
		diags.Addf(negative.Pos, "positive and negative are both %s; the two words differ", diag.Quote(positive.Value))
	}
	for _, word := range b.words {
		if word.Set && isMissing(word.Value, missing) {
			diags.Addf(word.Pos, "%s means that nothing was recorded, as missing_values says; it cannot be a word for an outcome too", diag.Quote(word.Value))
		}
	}
	b.broken = diags.Len() > problems
}

// isMissing reports whether a text means "not recorded".
func isMissing(text string, missing []policy.Text) bool {
	return slices.ContainsFunc(missing, func(m policy.Text) bool { return strings.TrimSpace(m.Value) == text })
}

// readAttributes reads attributes: a mapping from columns to their groups, or to the bounds between groups of numbers.
func readAttributes(m *policy.Map, missing []policy.Text, diags *diag.List) []attribute {
	of := m.Map("attributes")
	if of == nil {
		return nil
	}
	var list []attribute
	for _, key := range of.Keys() {
		a := attribute{name: key}
		a.name.Value = strings.TrimSpace(key.Value)
		kept := true // under a name of its own; without one nothing can be read or named by it
		switch {
		case a.name.Value == "":
			of.Errorf(key.Pos, "an attribute has no name; write the name of a column")
			kept = false
		case slices.ContainsFunc(list, func(b attribute) bool { return b.name.Value == a.name.Value }):
			of.Errorf(key.Pos, "the attribute %s is declared twice", shown(a.name.Value))
			kept = false
		}
		problems := diags.Len()
		if of.IsMapping(key.Value) {
			a.readBounds(of.Map(key.Value), key.Pos, diags)
		} else if texts := of.Texts(key.Value); len(texts) > 0 || texts != nil && diags.Len() == problems {
			a.readGroups(of, texts, missing)
		}
		if len(a.groups) > mostGroups {
			of.Errorf(key.Pos, "attribute %s has %d groups; at most %d are allowed", shown(a.name.Value), len(a.groups), mostGroups)
			a.groups, a.index, a.bounds = nil, nil, nil // no value belongs to what is not there
		}
		if kept {
			list = append(list, a)
		}
	}
	if len(of.Keys()) == 0 {
		of.Errorf(m.KeyPos("attributes"), "attributes is empty; name a column and its groups, as in {sex: [female, male]}")
	}
	return list
}

// sameAttributes reports whether two lists of attributes are the same: names, groups and bounds as written, in their order.
func sameAttributes(a, b []attribute) bool {
	return slices.EqualFunc(a, b, func(x, y attribute) bool {
		return x.name.Value == y.name.Value && (x.bounds == nil) == (y.bounds == nil) && slices.Equal(x.groups, y.groups)
	})
}

// showAttributes writes attributes as a declaration would.
func showAttributes(list []attribute) string {
	var parts []string
	for _, a := range list {
		groups := writtenList(a.groups)
		if a.bounds != nil {
			var bounds []string
			for _, b := range a.bounds {
				bounds = append(bounds, b.text)
			}
			groups = "{bins: [" + strings.Join(bounds, ", ") + "]}"
		}
		parts = append(parts, written(a.name.Value)+": "+groups)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// readGroups takes groups that are texts.
func (a *attribute) readGroups(m *policy.Map, texts []policy.Text, missing []policy.Text) {
	name := shown(a.name.Value)
	if len(texts) == 0 {
		m.Errorf(a.name.Pos, "attribute %s has no groups; list them, such as [female, male], or give bounds between numbers, such as {bins: [30, 60]}", name)
	}
	a.index = map[string]int{}
	for _, text := range texts {
		value := strings.TrimSpace(text.Value)
		_, again := a.index[value]
		switch {
		case value == "":
			m.Errorf(text.Pos, "attribute %s lists an empty group; cases without a value are counted by themselves: leave it out", name)
		case again:
			m.Errorf(text.Pos, "attribute %s lists %s twice", name, diag.Quote(value))
		case isMissing(value, missing):
			m.Errorf(text.Pos, "attribute %s lists %s, which missing_values says means that nothing was recorded; leave it out of one of them", name, diag.Quote(value))
		default:
			a.index[value] = len(a.groups)
			a.groups = append(a.groups, value)
		}
	}
}

// readBounds takes groups of numbers: {bins: [30, 60]} gives under_30, 30_to_60 and over_60.
func (a *attribute) readBounds(m *policy.Map, pos diag.Pos, diags *diag.List) {
	name := shown(a.name.Value)
	problems := diags.Len()
	numbers := m.Numbers("bins")
	m.Done("attribute " + name)
	if len(numbers) == 0 {
		if diags.Len() == problems { // else what was to be bounds is among them
			m.Errorf(pos, "attribute %s has no bins; give the bounds between its groups, such as {bins: [30, 60]}", name)
		}
		return
	}
	for _, n := range numbers {
		value, rounded, err := rows.ParseDecimal(n.Text)
		switch last := len(a.bounds) - 1; {
		case err != nil || rounded:
			m.Errorf(n.Pos, "bins: %s is too large, or has more than %d decimals", n.Text, rows.Places)
		case last >= 0 && value.Cmp(a.bounds[last].value) <= 0:
			m.Errorf(n.Pos, "bins: %s is not above %s, which stands before it; write them in ascending order, each once", n.Text, a.bounds[last].text)
		default:
			a.bounds = append(a.bounds, bound{n.Text, value})
		}
	}
	if a.bounds == nil {
		return
	}
	a.groups = []string{"under_" + a.bounds[0].text}
	for i := 1; i < len(a.bounds); i++ {
		a.groups = append(a.groups, a.bounds[i-1].text+"_to_"+a.bounds[i].text)
	}
	a.groups = append(a.groups, "over_"+a.bounds[len(a.bounds)-1].text)
}

// readLists reads intersections.
func readLists(m *policy.Map) []policy.TextList {
	lists := m.Lists("intersections")
	for _, list := range lists {
		if len(list.Items) == 0 {
			m.Errorf(list.Pos, "the intersection is an empty list; cross two or more attributes, as in [sex, age_band]")
		}
	}
	return lists
}

// names are a list's texts, trimmed.
func names(list policy.TextList) []string {
	var out []string
	for _, x := range list.Items {
		out = append(out, strings.TrimSpace(x.Value))
	}
	return out
}

func sameLists(a, b []policy.TextList) bool {
	return slices.EqualFunc(a, b, func(x, y policy.TextList) bool { return slices.Equal(names(x), names(y)) })
}

// showLists writes intersections as a declaration would.
func showLists(lists []policy.TextList) string {
	var parts []string
	for _, list := range lists {
		parts = append(parts, writtenList(names(list)))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// readIntersections adds the crossings that are declared.
func (d *declaration) readIntersections(lists []policy.TextList, diags *diag.List) {
	for _, l := range lists {
		list := l.Items
		attributes, ok := d.find(list, diags)
		switch {
		case !ok || len(list) == 0: // reported already
			continue
		case len(list) == 1:
			diags.Addf(list[0].Pos, "the intersection has one attribute, %s; cross two or more, as in [sex, age_band]", shown(d.attributes[attributes[0]].name.Value))
			continue
		}
		if same := d.crossed(attributes); same != nil {
			diags.Addf(list[0].Pos, "the intersection %s is declared twice", same.label)
			continue
		}
		groups := 1
		for _, a := range attributes {
			groups = min(groups*len(d.attributes[a].groups), mostGroups+1)
		}
		if groups > mostGroups {
			diags.Addf(list[0].Pos, "the intersection has more than %d groups; cross fewer attributes, or coarser groups", mostGroups)
			continue
		}
		c := d.cross(attributes)
		if i := slices.IndexFunc(d.crossings, func(other crossing) bool { return other.label == c.label }); i >= 0 {
			what := "another intersection"
			if len(d.crossings[i].attributes) == 1 {
				what = "an attribute"
			}
			diags.Addf(list[0].Pos, "the intersection would be called %s, as %s is, so that a report could not tell them apart; leave %q out of the attributes' names (columns: {name: …} says what the file calls one)",
				diag.Quote(c.label), what, strings.TrimSpace(by))
			continue
		}
		names := map[string]bool{}
		for _, name := range c.groups {
			if names[name] {
				diags.Addf(list[0].Pos, "two groups of the intersection would both be called %s; leave %q out of the groups' names", diag.Quote(name), strings.TrimSpace(by))
				break
			}
			names[name] = true
		}
		d.crossings = append(d.crossings, c)
	}
}

// find returns the numbers of the named attributes; ok is false where one is not declared or is named twice, which is reported.
func (d *declaration) find(list []policy.Text, diags *diag.List) (attributes []int, ok bool) {
	if len(d.attributes) == 0 { // reported already
		return nil, false
	}
	ok = true
	var names []string
	for _, a := range d.attributes {
		names = append(names, a.name.Value)
	}
	for _, x := range list {
		i := slices.Index(names, strings.TrimSpace(x.Value))
		switch {
		case i < 0:
			diags.Addf(x.Pos, "%s is not a declared attribute; %s", diag.Quote(x.Value), allowed(x.Value, names))
			ok = false
		case slices.Contains(attributes, i):
			diags.Addf(x.Pos, "the attribute %s is named twice", shown(names[i]))
			ok = false
		default:
			attributes = append(attributes, i)
		}
	}
	return attributes, ok
}

// allowed ends a message about a name that is none of those there are: the nearest of them, then all.
func allowed(name string, names []string) string {
	if near := diag.Nearest(name, names); near != "" {
		return "did you mean " + diag.Quote(near) + "? Allowed: " + gate.Quoted(names)
	}
	return "allowed: " + gate.Quoted(names)
}

// crossed returns the crossing of a set of attributes, whatever their order; nil where it is not declared.
func (d *declaration) crossed(attributes []int) *crossing {
	want := slices.Sorted(slices.Values(attributes))
	for i := range d.crossings {
		if slices.Equal(want, slices.Sorted(slices.Values(d.crossings[i].attributes))) {
			return &d.crossings[i]
		}
	}
	return nil
}

// cross crosses attributes in the given order: the groups of the last one change fastest.
func (d *declaration) cross(attributes []int) crossing {
	c := crossing{attributes: attributes, groups: []string{""}}
	var names []string
	for at, i := range attributes {
		a := &d.attributes[i]
		names = append(names, a.name.Value)
		groups := make([]string, 0, len(c.groups)*len(a.groups))
		for _, before := range c.groups {
			for _, g := range a.groups {
				if at > 0 {
					g = before + by + g
				}
				groups = append(groups, g)
			}
		}
		c.groups = groups
	}
	c.label = strings.Join(names, by)
	return c
}

// meaning spells out the groups of an attribute of numbers: "age_band: under_30 is below 30, …".
func (a *attribute) meaning() string {
	last := len(a.bounds) - 1
	parts := []string{a.groups[0] + " is below " + a.bounds[0].text}
	for i := 1; i <= last; i++ {
		parts = append(parts, fmt.Sprintf("%s is %s to below %s", a.groups[i], a.bounds[i-1].text, a.bounds[i].text))
	}
	return "The groups of " + shown(a.name.Value) + " are read from numbers: " + strings.Join(append(parts, a.groups[last+1]+" is "+a.bounds[last].text+" or more"), ", ") + "."
}
