package compare

import (
	"maps"
	"slices"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/rows"
)

// The columns of a file of trials, in the order in which rows.Reader hands them over. Columns named by a rule's
// `where` follow.
const (
	colVersion = iota
	colCase
	colTrial
	colPassed
	colScore
	colWhere // the first of them
)

// columns lists what the gate reads. Where a version is a file of its own, its rows need not name it.
func columns(where []string, ownFiles bool) []rows.Column {
	list := []rows.Column{
		colVersion: {Name: "version", Required: !ownFiles},
		colCase:    {Name: "case", Required: true},
		colTrial:   {Name: "trial"},
		colPassed:  {Name: "passed"},
		colScore:   {Name: "score"},
	}
	for _, name := range where {
		list = append(list, rows.Column{Name: name, Required: true})
	}
	return list
}

// result is what trials end with.
type result uint8

const (
	noResult result = iota // not known yet
	passed                 // a trial passes or does not
	score                  // a trial has a score in [0, 1]
)

// String is the name of the result's column.
func (r result) String() string {
	if r == score {
		return "score"
	}
	return "passed"
}

// cell counts the trials of one case in one version.
type cell struct {
	rows     int // trials with a row
	recorded int // those with a result
	passed   int // of results that pass or do not: those that pass
	sum      rows.Sum
	first    rows.Decimal // the result first read
	varies   bool         // some result differs from it
	seen     marks
}

// mark is where a trial that has an id was read.
type mark struct {
	trial, file int // indices into Tally.trials and Tally.files
	line, row   int // of the file; one of them is 0
}

// marks finds the trials of a cell by their ids: mostly a few, which are looked through, else by an index.
type marks struct {
	list  []mark
	index map[int]int // by trial, its place in list; nil while the list is short
}

// fewMarks is the length up to which looking through the list is faster than an index.
const fewMarks = 32

// find returns the mark of a trial.
func (m *marks) find(trial int) (mark, bool) {
	if m.index != nil {
		i, found := m.index[trial]
		if !found {
			return mark{}, false
		}
		return m.list[i], true
	}
	for _, k := range m.list {
		if k.trial == trial {
			return k, true
		}
	}
	return mark{}, false
}

// add keeps the mark of a trial that has none yet.
func (m *marks) add(k mark) {
	m.list = append(m.list, k)
	switch {
	case m.index != nil:
		m.index[k.trial] = len(m.list) - 1
	case len(m.list) > fewMarks:
		m.index = make(map[int]int, 2*len(m.list))
		for i, k := range m.list {
			m.index[k.trial] = i
		}
	}
}

// names numbers texts in the order in which they come.
type names struct {
	list  []string
	index map[string]int
}

// number returns the text's number.
func (n *names) number(text string) int {
	if i, found := n.index[text]; found {
		return i
	}
	if n.index == nil {
		n.index = map[string]int{}
	}
	n.index[text] = len(n.list)
	n.list = append(n.list, text)
	return len(n.list) - 1
}

// place is a value and where it was read; not read yet where the position is zero.
type place struct {
	value string
	pos   diag.Pos
}

// file is what is known of a file of trials.
type file struct {
	hasResult bool // some row has a column `passed` or `score`
	told      bool // that its results are of two kinds
}

// Tally is what the gate keeps of the rows: counts by version and case, the places of trials that have an id, so
// that none is counted twice, and each case's values of the columns that rules slice by. It is mergeable.
type Tally struct {
	where    []string // columns that rules slice by
	versions map[string]map[string]*cell
	cases    map[string][]place // values of the columns in where; nil lists where there are none
	trials   names
	files    names
	about    map[string]*file // by name
	result   result
	first    diag.Pos // of the first result
	own      map[string]place
	named    place // of parts: the first, and "files" where its versions are files of their own
	rounded  int   // scores with more decimals than are kept
}

// newTally returns an empty tally of rows with the given columns that rules slice by.
func newTally(where []string) *Tally {
	return &Tally{where: where, versions: map[string]map[string]*cell{}, cases: map[string][]place{}, about: map[string]*file{}, own: map[string]place{}}
}

// Add counts one row, or adds to diags why it cannot be used.
func (t *Tally) Add(r rows.Row, diags *diag.List) {
	version, recorded := r.Text(colVersion)
	if !recorded {
		diags.Addf(r.Pos(colVersion), "version is empty; every row needs one")
	}
	t.add(version, recorded, r, diags)
}

// AddTo returns a function that counts rows of a file that holds one version, under the given name. Such rows need no
// version; where they have one, it is the same in all of them.
func (t *Tally) AddTo(version string) func(rows.Row, *diag.List) {
	return func(r rows.Row, diags *diag.List) {
		ok := true
		if named, recorded := r.Text(colVersion); recorded {
			switch own, found := t.own[version]; {
			case !found:
				t.own[version] = place{named, r.Pos(colVersion)}
			case own.value != named:
				t.otherVersion(version, place{named, r.Pos(colVersion)}, diags)
				ok = false
			}
		}
		t.add(version, ok, r, diags)
	}
}

// otherVersion reports a second version in a file that should hold one.
func (t *Tally) otherVersion(role string, other place, diags *diag.List) {
	own := t.own[role]
	diags.Addf(other.pos, "version is %s here and %s at %s, but the file of the %s holds one version; name the file and the two versions instead",
		diag.Quote(other.value), diag.Quote(own.value), own.pos, role)
}

// add counts a row whose version is known; every other problem of the row is reported too.
func (t *Tally) add(version string, ok bool, r rows.Row, diags *diag.List) {
	item, recorded := r.Text(colCase)
	if !recorded {
		diags.Addf(r.Pos(colCase), "case is empty; every row needs one")
		ok = false
	}
	at := r.Pos(-1)
	value, hasResult, rounded, sound := t.read(r, at.File, diags)
	where, agrees := t.slicing(item, r, diags)
	if !ok || !sound || !agrees {
		return
	}
	one := cell{rows: 1}
	if hasResult {
		one.recorded, one.first, one.sum = 1, value, one.sum.Add(value)
		if t.result == passed && value.Sign() > 0 {
			one.passed = 1
		}
	}
	if trial, has := r.Text(colTrial); has {
		one.seen.list = []mark{{t.trials.number(trial), t.files.number(at.File), at.Line, at.Row}}
	}
	if !t.count(version, item, &one, diags) {
		return
	}
	if rounded {
		t.rounded++
	}
	if _, known := t.cases[item]; !known || where != nil {
		t.cases[item] = where
	}
}

// read takes the result of a row. ok is false where it cannot be used, which is reported.
func (t *Tally) read(r rows.Row, name string, diags *diag.List) (value rows.Decimal, recorded, rounded, ok bool) {
	about := t.about[name]
	if about == nil {
		about = &file{}
		t.about[name] = about
	}
	texts := [...]struct {
		result
		col  int
		text string
		has  bool // the row's file, or in JSONL the row, has the column
		full bool
	}{{result: passed, col: colPassed}, {result: score, col: colScore}}
	for i := range texts {
		x := &texts[i]
		x.text, x.full = r.Text(x.col)
		x.has = x.full || r.Pos(x.col).Column > 0
	}
	switch {
	case texts[0].has && texts[1].has:
		if !about.told {
			diags.Addf(r.Pos(colScore), "found passed and score; a trial has one of them: leave the other column out")
			about.told = true
		}
		about.hasResult = true
		return rows.Decimal{}, false, false, false
	case !texts[0].has && !texts[1].has:
		return rows.Decimal{}, false, false, true
	}
	x := texts[0]
	if texts[1].has {
		x = texts[1]
	}
	about.hasResult = true
	if t.result != x.result && !t.kind(x.result, r.Pos(x.col), about, diags) {
		return rows.Decimal{}, false, false, false
	}
	if !x.full {
		return rows.Decimal{}, false, false, true
	}
	if x.result == passed {
		passes, err := rows.Binary(x.text)
		if err != nil {
			diags.Addf(r.Pos(colPassed), "passed: %v (empty where the trial did not finish)", err)
			return rows.Decimal{}, false, false, false
		}
		if passes {
			value = whole
		}
		return value, true, false, true
	}
	value, rounded, ok, err := gate.Share(x.text)
	switch {
	case err != nil:
		diags.Addf(r.Pos(colScore), "score: %v", err)
	case !ok:
		diags.Addf(r.Pos(colScore), "score: found %s; a number from 0 to 1 is allowed", diag.Quote(x.text))
	default:
		return value, true, rounded, true
	}
	return rows.Decimal{}, false, false, false
}

// whole is the best result of a trial: 1.
var whole, _, _ = rows.ParseDecimal("1")

// kind checks that all trials end with the same kind of result.
func (t *Tally) kind(k result, pos diag.Pos, about *file, diags *diag.List) bool {
	switch {
	case t.result == noResult:
		t.result, t.first = k, pos
	case t.result != k:
		if !about.told {
			diags.Addf(pos, "found %s, but the trial at %s has %s; all trials of a comparison have the same kind of result", k, t.first, t.result)
			about.told = true
		}
		return false
	}
	return true
}

// slicing takes the values of the columns that rules slice by: nil where the row adds none to what is known of its
// case.
func (t *Tally) slicing(item string, r rows.Row, diags *diag.List) (values []place, ok bool) {
	if len(t.where) == 0 {
		return nil, true
	}
	read := make([]place, len(t.where))
	for i := range read {
		if v, recorded := r.Text(colWhere + i); recorded {
			read[i] = place{v, r.Pos(colWhere + i)}
		}
	}
	return t.agree(item, read, diags)
}

// agree joins what two rows say of a case's slices; one that says nothing agrees with any.
func (t *Tally) agree(item string, read []place, diags *diag.List) (values []place, ok bool) {
	known := t.cases[item]
	if known == nil {
		return read, true
	}
	ok = true
	for i, v := range read {
		switch {
		case v.pos == diag.Pos{}:
		case known[i].pos == diag.Pos{}:
			if values == nil {
				values = slices.Clone(known)
			}
			values[i] = v
		case known[i].value != v.value:
			diags.Addf(v.pos, "%s of case %s is %s here and %s at %s; a rule's `where` needs one value for a case",
				t.where[i], diag.Quote(item), diag.Quote(v.value), diag.Quote(known[i].value), known[i].pos)
			ok = false
		}
	}
	return values, ok
}

// count adds a cell of one row, or of another tally, to the version's case, unless it holds a trial that is there
// already, which is reported. The marks of more are numbered by this tally.
func (t *Tally) count(version, item string, more *cell, diags *diag.List) bool {
	cells := t.versions[version]
	if cells == nil {
		cells = map[string]*cell{}
		t.versions[version] = cells
	}
	c := cells[item]
	if c == nil {
		c = &cell{}
		cells[item] = c
	}
	sound := true
	for _, k := range more.seen.list {
		if first, found := c.seen.find(k.trial); found {
			diags.Addf(diag.Pos{File: t.files.list[k.file], Line: k.line, Row: k.row}, "the same version, case and trial as at %s; a trial has one row (leave trial empty where trials have no names)",
				diag.Pos{File: t.files.list[first.file], Line: first.line, Row: first.row})
			sound = false
			continue
		}
		c.seen.add(k)
	}
	if !sound {
		return false
	}
	c.varies = c.varies || more.varies || c.recorded > 0 && more.recorded > 0 && c.first != more.first
	if c.recorded == 0 {
		c.first = more.first
	}
	c.rows, c.recorded, c.passed, c.sum = c.rows+more.rows, c.recorded+more.recorded, c.passed+more.passed, c.sum.Merge(more.sum)
	return true
}

// Merge adds the trials of another tally of the same columns, as if its rows had been added one by one. The other one
// must not be used again.
func (t *Tally) Merge(other *Tally, diags *diag.List) {
	for _, name := range slices.Sorted(maps.Keys(other.about)) {
		theirs, ours := other.about[name], t.about[name]
		if ours == nil {
			t.about[name] = theirs
			continue
		}
		ours.hasResult, ours.told = ours.hasResult || theirs.hasResult, ours.told || theirs.told
	}
	if other.result != noResult {
		t.kind(other.result, other.first, t.about[other.first.File], diags)
	}
	for _, role := range slices.Sorted(maps.Keys(other.own)) {
		theirs := other.own[role]
		if ours, found := t.own[role]; !found {
			t.own[role] = theirs
		} else if ours.value != theirs.value {
			t.otherVersion(role, theirs, diags)
		}
	}
	for _, item := range slices.Sorted(maps.Keys(other.cases)) {
		values := other.cases[item]
		known, found := t.cases[item]
		if joined, _ := t.agree(item, values, diags); joined != nil {
			known = joined
		}
		if !found || known != nil {
			t.cases[item] = known
		}
	}
	for _, version := range slices.Sorted(maps.Keys(other.versions)) {
		for item, c := range other.versions[version] { // what is reported is sorted by place
			for i, k := range c.seen.list {
				c.seen.list[i] = mark{t.trials.number(other.trials.list[k.trial]), t.files.number(other.files.list[k.file]), k.line, k.row}
			}
			t.count(version, item, c, diags)
		}
	}
	t.rounded += other.rounded
}
