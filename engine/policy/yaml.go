package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/oloproof/oloproof/engine/diag"
	"gopkg.in/yaml.v3"
)

// MaxBytes is how long a policy file may be: 1 MiB.
const MaxBytes = 1 << 20

// maxDepth is how deep lists and mappings may be nested. A policy needs five levels; the limit keeps
// hostile files from exhausting the stack.
const maxDepth = 50

// Document is one policy file, parsed.
type Document struct {
	File   string // as given to Parse, for positions
	SHA256 string // of the file's bytes, 64 lower-case hexadecimal digits
	Bytes  int    // length of the file
	Root   *Map
}

// Pos is the document as a whole: what "no counting rule" and the like are positioned at.
func (d *Document) Pos() diag.Pos { return diag.Pos{File: d.File} }

// Parse reads one policy file. Problems go to diags, which the Maps of the document keep and add theirs
// to. The result is nil only when there is no tree to read: too long, not UTF-8, not YAML, or no mapping
// at its root. A repeated key is reported and its first value kept.
func Parse(file string, data []byte, diags *diag.List) *Document {
	whole := diag.Pos{File: file}
	if len(data) > MaxBytes {
		diags.Addf(whole, "the policy is %d bytes long; at most %d (1 MiB) are allowed", len(data), MaxBytes)
		return nil
	}
	src, ok := readText(file, data, diags)
	if !ok {
		return nil
	}
	root, ok := parseYAML(file, data, src, diags)
	if !ok {
		return nil
	}
	if root == nil {
		diags.Addf(whole, "the policy is empty; at least one key is needed, such as rules")
		return nil
	}
	b := builder{file: file, src: src, diags: diags}
	v := b.value(root, 0)
	if v.kind != mapping {
		found := v.found()
		if v.kind == scalar && !v.isNull() { // all of some other file, which is not ours to show: it may hold credentials
			found = "text"
		}
		diags.Addf(v.pos, "found %s; a policy is a mapping, such as rules: [...]", found)
		return nil
	}
	sum := sha256.Sum256(data)
	return &Document{File: file, SHA256: hex.EncodeToString(sum[:]), Bytes: len(data), Root: v.m}
}

// source is the text of a policy, to look up what stands at a position.
type source struct {
	runes []rune
	lines []int // where each line starts in runes
}

// at returns the character at a 1-based line and column, 0 if there is none.
func (s source) at(line, column int) rune {
	if line < 1 || line > len(s.lines) {
		return 0
	}
	i := s.lines[line-1] + column - 1
	if i < 0 || i >= len(s.runes) {
		return 0
	}
	return s.runes[i]
}

// readText refuses what is not plain UTF-8 text, at its exact place, before the YAML parser sees it: that
// parser accepts UTF-16 and, as YAML 1.1 did, ends lines at U+0085, U+2028 and U+2029, which would put every
// later position on the wrong line.
func readText(file string, data []byte, diags *diag.List) (src source, ok bool) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		diags.Addf(diag.Pos{File: file}, "the policy is in UTF-16; save it as UTF-8")
		return source{}, false
	}
	data = bytes.TrimPrefix(data, []byte(byteOrderMark)) // takes no column
	src = source{runes: make([]rune, 0, len(data)), lines: []int{0}}
	for i, w := 0, 0; i < len(data); i += w {
		var r rune
		r, w = utf8.DecodeRune(data[i:])
		src.runes = append(src.runes, r)
		line := len(src.lines)
		pos := diag.Pos{File: file, Line: line, Column: len(src.runes) - src.lines[line-1]}
		switch {
		case r == utf8.RuneError && w == 1:
			diags.Addf(pos, "found the byte 0x%02x, which is not UTF-8; save the policy as UTF-8", data[i])
			return source{}, false
		case r == '\n', r == '\r' && !bytes.HasPrefix(data[i+1:], []byte("\n")):
			src.lines = append(src.lines, len(src.runes))
		case r == '\t', r == '\r':
		case r < ' ', r >= 0x7f && r < 0xa0, r == '\u2028', r == '\u2029', r == '\ufeff', r == '\ufffe', r == '\uffff':
			diags.Addf(pos, "found the character U+%04X, which is not allowed; inside double quotes, write it as \"\\u%04x\"", r, r)
			return source{}, false
		}
	}
	return src, true
}

const byteOrderMark = "\ufeff"

// parseYAML runs the YAML parser. root is nil for a file without content; ok is false after an error.
func parseYAML(file string, data []byte, src source, diags *diag.List) (root *yaml.Node, ok bool) {
	// The parser panics on its own internal errors. No input is known that does it; if one is found,
	// its author still deserves a message instead of a stack trace.
	defer func() {
		if r := recover(); r != nil {
			diags.Addf(diag.Pos{File: file}, "cannot be read as YAML: the parser failed on it")
			root, ok = nil, false
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	err := dec.Decode(&first)
	if errors.Is(err, io.EOF) {
		return nil, true
	}
	if err != nil {
		diags.Add(syntaxError(file, src, err))
		return nil, false
	}
	switch err = dec.Decode(&second); {
	case err == nil:
		pos := diag.Pos{File: file, Line: second.Line, Column: second.Column}
		diags.Addf(pos, "found a second document; a policy is one document")
	case !errors.Is(err, io.EOF):
		diags.Add(syntaxError(file, src, err))
		return nil, false
	}
	root = first.Content[0]
	if root.Kind == yaml.ScalarNode && root.Value == "" && root.Style == 0 {
		return nil, true
	}
	return root, true
}

var syntaxLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`) })

// syntaxError turns the parser's error into a diagnostic at its line. The parser may name the line before
// the fault or the start of the block that holds it, hence "near".
func syntaxError(file string, src source, err error) diag.Diagnostic {
	text := err.Error()
	match := syntaxLine().FindStringSubmatch(text)
	line, _ := strconv.Atoi(match[1]) // absent on the first line
	line = max(line, 1)
	text = strings.TrimPrefix(text, match[0])
	if text == "found incompatible YAML document" { // the parser knows %YAML 1.1 alone
		text = "found a %YAML directive; leave that line out"
	}
	for l := line; l <= line+1; l++ {
		column := 1
		for src.at(l, column) == ' ' {
			column++
		}
		if src.at(l, column) == '\t' {
			text += "; YAML is indented with spaces, not tabs"
			break
		}
	}
	return diag.Diagnostic{
		Pos:     diag.Pos{File: file, Line: line, Column: 1},
		Message: "cannot be read as YAML near this line: " + diag.Cause(text),
	}
}

// kind is what a value is.
type kind int

const (
	scalar kind = iota
	list
	mapping
	invalid // reported while the tree was built; asks for no second message
)

// value is one node of the tree.
type value struct {
	pos   diag.Pos
	kind  kind
	text  string // scalar: as written, without the quotes
	plain bool   // scalar: written without quotes
	items []value
	m     *Map
}

// isNull reports a scalar that YAML 1.2 reads as null: nothing at all, ~ or null, unquoted.
func (v value) isNull() bool {
	if v.kind != scalar || !v.plain {
		return false
	}
	switch v.text {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// found describes the value for a message.
func (v value) found() string {
	switch {
	case v.kind == list:
		return "a list"
	case v.kind == mapping:
		return "a mapping"
	case v.isNull() && v.text == "":
		return "nothing"
	case v.isNull():
		return v.text + " without quotes"
	case !v.plain:
		return "the quoted text " + diag.Quote(v.text)
	}
	return diag.Quote(v.text)
}

// builder turns YAML nodes into values, and reports what a policy may not contain.
type builder struct {
	file  string
	src   source
	diags *diag.List
}

// value converts node, which lies depth levels below the root.
func (b *builder) value(node *yaml.Node, depth int) value {
	v := value{pos: diag.Pos{File: b.file, Line: node.Line, Column: node.Column}, kind: invalid}
	if depth > maxDepth {
		b.diags.Addf(v.pos, "nested more than %d levels deep; a policy needs no more", maxDepth)
		return v
	}
	// A node starts where its tag does, and no plain text starts with "!": so the character at the node's
	// place tells of a tag that the parser dropped, as it does a lone "!".
	switch {
	case node.Kind == yaml.AliasNode:
		b.diags.Addf(v.pos, "found the alias %s; aliases are not allowed: write the value out", diag.Quote("*"+node.Value))
		return v
	case node.Anchor != "":
		b.diags.Addf(v.pos, "found the anchor %s; anchors are not allowed: write each value where it is used", diag.Quote("&"+node.Anchor))
	case node.Style&yaml.TaggedStyle != 0:
		b.diags.Addf(v.pos, "found the explicit tag %s; tags are not allowed: leave it out", diag.Quote(node.Tag))
	case b.src.at(node.Line, node.Column) == '!':
		b.diags.Addf(v.pos, "found the explicit tag \"!\"; tags are not allowed: leave it out")
	}
	switch node.Kind {
	case yaml.ScalarNode:
		quoted := yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
		v.kind, v.text, v.plain = scalar, node.Value, node.Style&quoted == 0
	case yaml.SequenceNode:
		v.kind, v.items = list, make([]value, 0, len(node.Content))
		for _, item := range node.Content {
			v.items = append(v.items, b.value(item, depth+1))
		}
	case yaml.MappingNode:
		v.kind, v.m = mapping, b.mapping(node, v.pos, depth)
	}
	return v
}

// mapping converts a mapping whose brace or first key is at pos.
func (b *builder) mapping(node *yaml.Node, pos diag.Pos, depth int) *Map {
	m := &Map{pos: pos, diags: b.diags, index: map[string]int{}}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := b.value(node.Content[i], depth+1)
		if i == 0 {
			m.pos = key.pos
		}
		val := b.value(node.Content[i+1], depth+1)
		switch {
		case key.kind == invalid:
			continue
		case key.kind != scalar || key.isNull():
			b.diags.Addf(key.pos, "found %s as a key; a key is a text", key.found())
			continue
		case key.text == "<<" && key.plain:
			b.diags.Addf(key.pos, `found the merge key "<<"; merge keys are not allowed: write the keys out`)
			continue
		}
		if first, ok := m.index[key.text]; ok {
			b.diags.Addf(key.pos, "the key %s is repeated; it was first given on line %d", diag.Quote(key.text), m.entries[first].key.Pos.Line)
			continue
		}
		m.index[key.text] = len(m.entries)
		m.entries = append(m.entries, entry{Text{key.text, key.pos, true}, val})
	}
	return m
}

// Text is a text and where it stands. Like Number, Int and Bool it has a position wherever its key is given, and
// is Set only where it could be read too; else there is a problem in the list.
type Text struct {
	Value string
	Pos   diag.Pos
	Set   bool
}

// Number is a finite decimal and where it stands.
type Number struct {
	Text  string // as written, such as "0.950"
	Value float64
	Pos   diag.Pos
	Set   bool
}

// Int is a whole number and where it stands.
type Int struct {
	Value int
	Pos   diag.Pos
	Set   bool
}

// Bool is true or false and where it stands.
type Bool struct {
	Value bool
	Pos   diag.Pos
	Set   bool
}

// Pair is one entry of a mapping from text to text.
type Pair struct {
	Key, Value Text
}

// Range is the numbers that a key allows: from Min to Max, without Max itself where BelowMax is set.
type Range struct {
	Min, Max float64
	BelowMax bool
	Of       string // what has the range where that is not the key itself, for messages: a metric
}

// Holds reports whether x lies in the range; NaN does not.
func (r Range) Holds(x float64) bool {
	return x >= r.Min && (x < r.Max || x == r.Max && !r.BelowMax)
}

// holds reports whether a number lies in the range both as it is written and as it is computed with: of a decimal just outside
// of an end, such as 1.0000000000000000001, the nearest float64 is the end.
func (r Range) holds(n Number) bool {
	if !r.Holds(n.Value) {
		return false
	}
	if n.Value == 0 || n.Value != r.Min && n.Value != r.Max { // a 0 is written with zeros alone
		return true
	}
	exact, ok := new(big.Rat).SetString(n.Text)
	end := new(big.Rat).SetFloat64(n.Value) // of the same size, so that an exponent does not fill the memory
	return ok && (n.Value != r.Min || exact.Cmp(end) >= 0) && (n.Value != r.Max || exact.Cmp(end) <= 0)
}

// String writes the range as "0 to 1" or "0.5 to below 1".
func (r Range) String() string {
	below := ""
	if r.BelowMax {
		below = "below "
	}
	return decimal(r.Min) + " to " + below + decimal(r.Max)
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Map is a mapping being read. Its methods read one key each, report what is wrong with its value, and
// remember that the key was asked for; Done then reports the keys that nobody asked for. So a reader asks for
// every key it knows, in the order in which a message should list them, whether or not it needs the value.
// A nil Map has no keys.
type Map struct {
	pos     diag.Pos
	entries []entry
	index   map[string]int // key to place in entries
	asked   []string       // each key once, in the order first asked for
	told    []string       // keys that were reported as unknown already, so that Done does not
	diags   *diag.List
}

type entry struct {
	key   Text
	value value
}

// Pos is the place of the mapping's first key; for an empty one, of its brace.
func (m *Map) Pos() diag.Pos {
	if m == nil {
		return diag.Pos{}
	}
	return m.pos
}

// Has reports whether key is given. It does not count as asking for it.
func (m *Map) Has(key string) bool {
	if m == nil {
		return false
	}
	_, ok := m.index[key]
	return ok
}

// Keys lists the mapping's keys as written, for a mapping whose keys are names that a person chose. It does not count
// as asking for them.
func (m *Map) Keys() []Text {
	if m == nil {
		return nil
	}
	keys := make([]Text, 0, len(m.entries))
	for _, e := range m.entries {
		keys = append(keys, e.key)
	}
	return keys
}

// IsMapping reports whether key is given a mapping, for a key that takes a mapping or something simpler. It does not
// count as asking for it.
func (m *Map) IsMapping(key string) bool {
	return m.Has(key) && m.entries[m.index[key]].value.kind == mapping
}

// KeyPos is the place of key, or the mapping's where it is not given.
func (m *Map) KeyPos(key string) diag.Pos {
	if !m.Has(key) {
		return m.Pos()
	}
	return m.entries[m.index[key]].key.Pos
}

// Errorf reports a problem at pos to the list that the document was parsed with.
func (m *Map) Errorf(pos diag.Pos, format string, args ...any) {
	if m != nil {
		m.diags.Addf(pos, format, args...)
	}
}

// Allowed lists the keys that have been asked for, in the order first asked for.
func (m *Map) Allowed() []string {
	if m == nil {
		return nil
	}
	return slices.Clone(m.asked)
}

// take marks key as asked for and returns its value. ok is false where key is not given, and where its
// value was reported already.
func (m *Map) take(key string) (v value, ok bool) {
	if m == nil {
		return value{}, false
	}
	if !slices.Contains(m.asked, key) {
		m.asked = append(m.asked, key)
	}
	i, ok := m.index[key]
	if !ok || m.entries[i].value.kind == invalid {
		return value{}, false
	}
	return m.entries[i].value, true
}

// missing reports that none of keys is given: message, at the mapping. Where a key that nobody asked for so far is
// nearly one of them, it reports that key instead, as unknown: one slip is one problem.
func (m *Map) missing(context string, keys []string, message string) {
	for _, e := range m.entries {
		k := e.key.Value
		if slices.Contains(m.asked, k) || len(m.told) > 0 {
			continue
		}
		if nearest := diag.Nearest(k, keys); nearest != "" {
			m.refuse(k, "unknown key %s in %s; did you mean %q?", diag.Quote(k), context, nearest)
			return
		}
	}
	m.diags.Addf(m.pos, "%s", message)
}

// refuse reports a key that is given and not allowed, in words of its own: Done then says nothing of it.
func (m *Map) refuse(key, format string, args ...any) {
	m.Errorf(m.KeyPos(key), format, args...)
	m.told = append(m.told, key)
}

// Misspelt reports whether a key that nobody asked for so far is nearly key: Done will report it and suggest key, so that
// nobody need say that key is absent.
func (m *Map) Misspelt(key string) bool {
	if m == nil {
		return false
	}
	return slices.ContainsFunc(m.entries, func(e entry) bool {
		return !slices.Contains(m.asked, e.key.Value) && diag.Nearest(e.key.Value, []string{key}) != ""
	})
}

// wrong reports that key's value v (or an item of it) is not of the wanted kind.
func (m *Map) wrong(key string, v value, want string) {
	if v.kind == invalid {
		return
	}
	m.diags.Addf(v.pos, "%s: found %s; %s", key, v.found(), want)
}

// Text reads a text: any scalar, as written, that is not empty.
func (m *Map) Text(key string) Text {
	v, ok := m.take(key)
	if !ok {
		return Text{}
	}
	return m.text(key, v)
}

func (m *Map) text(key string, v value) Text {
	if v.kind != scalar || v.isNull() {
		want := "a text is wanted"
		if v.isNull() && v.text != "" {
			want += ", such as " + strconv.Quote(v.text) + " in quotes"
		}
		m.wrong(key, v, want)
		return Text{Pos: v.pos}
	}
	return Text{v.text, v.pos, true}
}

// Choice reads a text that is one of choices.
func (m *Map) Choice(key string, choices ...string) Text {
	t := m.Text(key)
	if t.Set && !slices.Contains(choices, t.Value) {
		m.diags.Addf(t.Pos, "%s is %s%s", key, diag.Quote(t.Value), allowed(t.Value, choices))
		return Text{Pos: t.Pos}
	}
	return t
}

// The numbers of YAML 1.2's core schema that are decimal.
var (
	decimalNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	})
	wholeNumber  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-+]?[0-9]+$`) })
	digits       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+$`) })
	decimalComma = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-+]?[0-9]+,[0-9]+$`) })
)

// Number reads a finite decimal number without quotes that lies in r.
func (m *Map) Number(key string, r Range) Number {
	v, ok := m.take(key)
	if !ok {
		return Number{}
	}
	n := m.number(key, v)
	if n.Set && !r.holds(n) {
		m.outside(key, n, r)
		return Number{Pos: n.Pos}
	}
	return n
}

// longestNumber is how many characters a number may have: more than any float64 needs, and few enough that it
// can be shown whole.
const longestNumber = 60

// number reads a finite decimal, whatever its size.
func (m *Map) number(key string, v value) Number {
	want := "a finite decimal number is wanted, such as 0.5"
	text := strings.TrimSpace(v.text) // in quotes a number can have spaces around it
	switch {
	case v.kind != scalar:
	case len(v.text) > longestNumber:
		want = fmt.Sprintf("a number of at most %d characters is wanted", longestNumber)
	case v.plain && decimalNumber().MatchString(v.text):
		x, err := strconv.ParseFloat(v.text, 64)
		mantissa, _, _ := strings.Cut(strings.ToLower(v.text), "e")
		switch {
		case err != nil || math.IsInf(x, 0):
			want = "the number is too large"
		case x == 0 && strings.ContainsAny(mantissa, "123456789"):
			want = "the number is too small to be told from 0; write 0, or a larger one"
		default:
			return Number{v.text, x + 0, v.pos, true} // + 0 turns -0 into 0
		}
	case text != v.text && decimalNumber().MatchString(text):
		want = "write the number without quotes and spaces, as " + text
	case decimalNumber().MatchString(text):
		want = "write the number without quotes"
	case strings.ContainsAny(v.text, "\u2212\u2013\u2014"):
		want = "write the minus sign as the ordinary hyphen -"
	case decimalComma().MatchString(text):
		want = "write a decimal point, as in " + strings.Replace(text, ",", ".", 1)
	default:
		if hundredths, found := strings.CutSuffix(text, "%"); found {
			if p, ok := percent(strings.TrimSpace(hundredths)); ok {
				want = "write it as " + p
			}
		}
	}
	m.wrong(key, v, want)
	return Number{Pos: v.pos}
}

// percent returns the decimal that is text hundredths.
func percent(text string) (string, bool) {
	if !decimalNumber().MatchString(text) || strings.ContainsAny(text, "eE") {
		return "", false
	}
	x, err := strconv.ParseFloat(text+"e-2", 64)
	return decimal(x), err == nil
}

// outside reports a number that r does not hold. A number that would be inside as a percentage most likely
// was meant as one.
func (m *Map) outside(key string, n Number, r Range) {
	hint := ""
	// A ratio somewhat above 1 is no percentage, but the larger rate divided by the smaller.
	if key == string(MinGroupRatio) && n.Value > 1 && n.Value < 10 {
		hint = "; it is the smaller rate divided by the larger one"
	} else if p, ok := percent(n.Text); ok && math.Abs(n.Value) >= 1 {
		if x, err := strconv.ParseFloat(p, 64); err == nil && r.Holds(x) {
			hint = fmt.Sprintf("; for %s %% write %s", n.Text, p)
		}
	}
	of := ""
	if r.Of != "" {
		of = " for " + r.Of
	}
	m.diags.Addf(n.Pos, "%s is %s; allowed%s: %s%s", key, n.Text, of, r, hint)
}

// Int reads a whole number from least to most, in decimal digits without quotes.
func (m *Map) Int(key string, least, most int) Int {
	v, ok := m.take(key)
	if !ok {
		return Int{}
	}
	if v.kind == scalar && v.plain && wholeNumber().MatchString(v.text) {
		if n, err := strconv.Atoi(v.text); err == nil && n >= least && n <= most {
			return Int{n, v.pos, true}
		}
	}
	m.wrong(key, v, fmt.Sprintf("a whole number from %d to %d is wanted", least, most))
	return Int{Pos: v.pos}
}

// Bool reads true or false as YAML 1.2 writes them; yes, no, on and off are texts there.
func (m *Map) Bool(key string) Bool {
	v, ok := m.take(key)
	if !ok {
		return Bool{}
	}
	if v.kind == scalar && v.plain {
		switch v.text {
		case "true", "True", "TRUE":
			return Bool{true, v.pos, true}
		case "false", "False", "FALSE":
			return Bool{false, v.pos, true}
		}
	}
	m.wrong(key, v, "true or false is wanted, without quotes")
	return Bool{Pos: v.pos}
}

// Texts reads a list of texts. It is nil where key is not given, and not nil for an empty list. An item that
// cannot be read is reported and left out.
func (m *Map) Texts(key string) []Text {
	v, ok := m.take(key)
	if !ok {
		return nil
	}
	return m.texts(key, v, "a list of texts is wanted, such as [a, b]")
}

// TextOrTexts reads a list of texts, or one text as a list of one.
func (m *Map) TextOrTexts(key string) []Text {
	v, ok := m.take(key)
	if !ok {
		return nil
	}
	if v.kind == scalar && !v.isNull() {
		return []Text{{v.text, v.pos, true}}
	}
	return m.texts(key, v, "a text or a list of texts is wanted")
}

func (m *Map) texts(key string, v value, want string) []Text {
	if v.kind != list {
		m.wrong(key, v, want)
		return nil
	}
	out := make([]Text, 0, len(v.items))
	for _, item := range v.items {
		if t := m.text(key, item); t.Set {
			out = append(out, t)
		}
	}
	return out
}

// TextList is a list of texts and where it stands.
type TextList struct {
	Items []Text
	Pos   diag.Pos
}

// Lists reads a list of lists of texts. It is nil where key is not given, and not nil for an empty list. A list of which
// an item cannot be read is reported and left out whole: what is left of it would be another list.
func (m *Map) Lists(key string) []TextList {
	const want = "a list of lists of texts is wanted, such as [[a, b]]"
	v, ok := m.take(key)
	if !ok {
		return nil
	}
	if v.kind != list {
		m.wrong(key, v, want)
		return nil
	}
	out := make([]TextList, 0, len(v.items))
	for _, item := range v.items {
		if texts := m.texts(key, item, want); texts != nil && len(texts) == len(item.items) {
			out = append(out, TextList{texts, item.pos})
		}
	}
	return out
}

// Numbers reads a list of finite decimal numbers without quotes. It is nil where key is not given, and not nil for an
// empty list. An item that cannot be read is reported and left out.
func (m *Map) Numbers(key string) []Number {
	v, ok := m.take(key)
	if !ok {
		return nil
	}
	if v.kind != list {
		m.wrong(key, v, "a list of numbers is wanted, such as [30, 60]")
		return nil
	}
	out := make([]Number, 0, len(v.items))
	for _, item := range v.items {
		if n := m.number(key, item); n.Set {
			out = append(out, n)
		}
	}
	return out
}

// TextMap reads a mapping from text to text, in the order written.
func (m *Map) TextMap(key string) []Pair {
	v, ok := m.take(key)
	if !ok {
		return nil
	}
	if v.kind != mapping {
		m.wrong(key, v, "a mapping is wanted, such as {name: value}")
		return nil
	}
	out := make([]Pair, 0, len(v.m.entries))
	for _, e := range v.m.entries {
		if t := m.text(key+" "+diag.Quote(e.key.Value), e.value); t.Set {
			out = append(out, Pair{e.key, t})
		}
	}
	return out
}

// Map reads a mapping; nil where key is not given. Asked again, it returns the same Map.
func (m *Map) Map(key string) *Map {
	v, ok := m.take(key)
	if !ok {
		return nil
	}
	if v.kind != mapping {
		m.wrong(key, v, "a mapping is wanted, such as {name: value}")
		return nil
	}
	return v.m
}

// Maps reads a list of mappings. It is nil where key is not given, and not nil for an empty list.
func (m *Map) Maps(key string) []*Map {
	v, ok := m.take(key)
	if !ok {
		return nil
	}
	return m.maps(key, v, "a list of mappings is wanted, each starting with a dash")
}

func (m *Map) maps(key string, v value, want string) []*Map {
	if v.kind != list {
		m.wrong(key, v, want)
		return nil
	}
	out := make([]*Map, 0, len(v.items))
	for _, item := range v.items {
		if item.kind == mapping {
			out = append(out, item.m)
		} else {
			m.wrong(key, item, "a mapping is wanted, such as {name: value}")
		}
	}
	return out
}

// Done reports every key that nobody asked for, with the nearest one that somebody did. context says what the
// mapping is, such as `rule people-decide-better`; data in it must be printable already.
func (m *Map) Done(context string) {
	if m == nil {
		return
	}
	for i, e := range m.entries {
		k := e.key.Value
		if slices.Contains(m.asked, k) || slices.Contains(m.told, k) {
			continue
		}
		if i > 0 && m.splitsNumber(i) {
			before := m.entries[i-1]
			m.diags.Addf(e.key.Pos, "found %s after %s: %s, where a comma ends the entry; write a decimal point, as in %s.%s",
				diag.Quote(k), diag.Printable(before.key.Value), before.value.text, before.value.text, k)
			continue
		}
		m.diags.Addf(e.key.Pos, "unknown key %s in %s%s", diag.Quote(k), context, allowed(k, m.asked))
	}
}

// splitsNumber reports whether entry i > 0 is what follows the decimal comma of a number: {max_group_gap: 0,05} has the keys
// max_group_gap and 05.
func (m *Map) splitsNumber(i int) bool {
	before, e := m.entries[i-1].value, m.entries[i]
	return e.value.isNull() && e.value.text == "" && digits().MatchString(e.key.Value) && before.kind == scalar && before.plain && wholeNumber().MatchString(before.text)
}

// allowed ends a message about word, which is none of candidates: the nearest of them, then all.
func allowed(word string, candidates []string) string {
	all := strings.Join(candidates, ", ")
	if n := diag.Nearest(word, candidates); n != "" {
		return fmt.Sprintf("; did you mean %q? Allowed: %s", n, all)
	}
	return "; allowed: " + all
}
