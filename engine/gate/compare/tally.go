package compare

import (
	"cmp"
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
	item     string // the case
	rows     int    // trials with a row
	recorded int    // those with a result
	passed   int    // of results that pass or do not: those that pass
	sum      rows.Sum
	first    rows.Decimal // the result first read
	varies   bool         // some result differs from it
}

// add counts a trial with a result.
func (c *cell) add(value rows.Decimal, passes bool) {
	c.varies = c.varies || c.recorded > 0 && c.first != value
	if c.recorded == 0 {
		c.first = value
	}
	c.recorded++
	if passes {
		c.passed++
	}
	c.sum = c.sum.Add(value)
}

// merge adds the trials of another cell.
func (c *cell) merge(more *cell) {
	c.varies = c.varies || more.varies || c.recorded > 0 && more.recorded > 0 && c.first != more.first
	if c.recorded == 0 {
		c.first = more.first
	}
	c.rows, c.recorded, c.passed, c.sum = c.rows+more.rows, c.recorded+more.recorded, c.passed+more.passed, c.sum.Merge(more.sum)
}

// place is a value and where it was read first; not read yet where the position is zero.
type place struct {
	value string
	pos   diag.Pos
	file  int // in the order in which all files are read
}

// before reports whether p was read before q, or q was not read.
func (p place) before(q place) bool {
	return p.pos != diag.Pos{} && (q.pos == diag.Pos{} || cmp.Or(cmp.Compare(p.file, q.file), p.pos.Compare(q.pos)) < 0)
}

// file is what is known of a file of trials.
type file struct {
	hasResult bool // some row has a column `passed` or `score`
	told      bool // that its results are of two kinds
}

// Tally is what the gate keeps of the rows: counts by version and case, and each case's values of the columns that rules slice by. It is
// mergeable.
type Tally struct {
	where    []string // columns that rules slice by
	nowhere  []place  // the values of a case without any; nil where there are no such columns
	input    int      // which of the question's inputs is being read
	versions map[string]map[string]*cell
	cases    map[string][]place // values of the columns in where; nil lists where there are none
	about    map[string]*file   // by name
	file     *file              // the last of them that was asked for, and its name
	fileName string
	result   result
	first    place // of the first result
	own      map[string]place
	named    place // of parts: the first, and "files" where its versions are files of their own
	rounded  int   // scores with more decimals than are kept
	last     last
	other    last // that of the version before, since versions may take turns
}

// last is what was looked up for the last row, which the next one mostly shares.
type last struct {
	version string
	cells   map[string]*cell // of the version
	cell    *cell            // of the case in the version
	where   []place          // of the case
}

// newTally returns an empty tally of rows with the given columns that rules slice by.
func newTally(where []string) *Tally {
	t := &Tally{where: where, versions: map[string]map[string]*cell{}, cases: map[string][]place{}, about: map[string]*file{}, own: map[string]place{}}
	if len(where) > 0 {
		t.nowhere = make([]place, len(where))
	}
	return t
}

// Add counts one row, or adds to diags why it cannot be used.
func (t *Tally) Add(r rows.Row, diags *diag.List) {
	version, recorded := r.Text(colVersion)
	if !recorded {
		diags.Addf(r.Pos(colVersion), "version is empty; every row needs one")
	}
	t.add(version, recorded, r, diags)
}

// AddTo returns a function that counts rows of a file that holds the version of a role, under the role's name. Such rows need no
// version; where they have one, it is the same in all of them.
func (t *Tally) AddTo(role int) func(rows.Row, *diag.List) {
	version := roles[role]
	return func(r rows.Row, diags *diag.List) {
		t.input = role
		ok := true
		if named, recorded := r.Text(colVersion); recorded {
			switch own, found := t.own[version]; {
			case !found:
				t.own[version] = t.place(r, colVersion, named)
			case own.value != named:
				t.otherVersion(version, t.place(r, colVersion, named), diags)
				ok = false
			}
		}
		t.add(version, ok, r, diags)
	}
}

// place is the place of a row's value.
func (t *Tally) place(r rows.Row, col int, value string) place {
	return place{value, r.Pos(col), t.input<<32 | r.File()}
}

// otherVersion reports a second version in a file that should hold one.
func (t *Tally) otherVersion(role string, other place, diags *diag.List) {
	own := t.own[role]
	diags.Addf(other.pos, "version is %s here and %s at %s, but the file of the %s holds one version; name the file and the two versions instead",
		diag.Quote(other.value), diag.Quote(own.value), own.pos, role)
}

// add counts a row whose version is known; every other problem of the row is reported too.
func (t *Tally) add(version string, ok bool, r rows.Row, diags *diag.List) {
	item, recorded := r.Bytes(colCase)
	if !recorded {
		diags.Addf(r.Pos(colCase), "case is empty; every row needs one")
		ok = false
	}
	t.turn(version, item)
	value, hasResult, rounded, sound := t.read(r, diags)
	agrees := t.nowhere == nil || t.slice(r, diags)
	if !ok || !sound || !agrees {
		return
	}
	c := t.last.cell
	c.rows++
	if hasResult {
		c.add(value, t.result == passed && value.Sign() > 0)
	}
	if rounded {
		t.rounded++
	}
}

// turn makes last the case in a version.
func (t *Tally) turn(version string, item []byte) {
	if t.last.version != version {
		t.last, t.other = t.other, t.last
	}
	l := &t.last
	if l.version != version || l.cells == nil {
		*l = last{version: version, cells: t.of(version)}
	}
	if l.cell != nil && l.cell.item == string(item) {
		return
	}
	if l.cell = l.cells[string(item)]; l.cell == nil {
		l.cell = &cell{item: string(item)}
		l.cells[l.cell.item] = l.cell
		if _, known := t.cases[l.cell.item]; !known {
			t.cases[l.cell.item] = slices.Clone(t.nowhere)
		}
	}
	if t.nowhere != nil {
		l.where = t.cases[l.cell.item]
	}
}

// of returns the cells of a version.
func (t *Tally) of(version string) map[string]*cell {
	cells := t.versions[version]
	if cells == nil {
		cells = map[string]*cell{}
		t.versions[version] = cells
	}
	return cells
}

// read takes the result of a row. ok is false where it cannot be used, which is reported.
func (t *Tally) read(r rows.Row, diags *diag.List) (value rows.Decimal, recorded, rounded, ok bool) {
	about := t.aboutFile(r.Pos(-1).File)
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
		x.has = r.Has(x.col)
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
	if t.result != x.result && !t.kind(x.result, t.place(r, x.col, ""), about, diags) {
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

// aboutFile is what is known of a file, by its name.
func (t *Tally) aboutFile(name string) *file {
	if t.file == nil || t.fileName != name {
		if t.about[name] == nil {
			t.about[name] = &file{}
		}
		t.fileName, t.file = name, t.about[name]
	}
	return t.file
}

// whole is the best result of a trial: 1.
var whole, _, _ = rows.ParseDecimal("1")

// kind checks that all trials end with the same kind of result.
func (t *Tally) kind(k result, at place, about *file, diags *diag.List) bool {
	switch {
	case t.result == noResult:
		t.result, t.first = k, at
	case t.result != k:
		if !about.told {
			diags.Addf(at.pos, "found %s, but the trial at %s has %s; all trials of a comparison have the same kind of result", k, t.first.pos, t.result)
			about.told = true
		}
		return false
	}
	return true
}

// slice takes what a row says of its case in the columns that rules slice by; false where it contradicts another row.
func (t *Tally) slice(r rows.Row, diags *diag.List) bool {
	var read []place // nil while the row says nothing that is not known
	for i := range t.where {
		text, recorded := r.Text(colWhere + i)
		if !recorded || t.last.where[i].value == text {
			continue
		}
		if read == nil {
			read = make([]place, len(t.where))
		}
		read[i] = t.place(r, colWhere+i, text)
	}
	if read == nil {
		return true
	}
	values, agrees := t.agree(t.last.cell.item, read, diags)
	if values != nil && agrees {
		t.cases[t.last.cell.item] = values
	}
	t.last.where = t.cases[t.last.cell.item]
	return agrees
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

// Merge adds the trials of another tally of the same columns, as if its rows had been added one by one. It returns false, and adds
// nothing, where the two do not go together; adding the rows one by one then says why. The other one must not be used again.
func (t *Tally) Merge(other *Tally) bool {
	if !t.fits(other) {
		return false
	}
	for name, theirs := range other.about {
		if ours := t.about[name]; ours != nil {
			ours.hasResult = ours.hasResult || theirs.hasResult
		} else {
			t.about[name] = theirs
		}
	}
	if other.first.before(t.first) {
		t.result, t.first = other.result, other.first
	}
	for role, theirs := range other.own {
		if theirs.before(t.own[role]) {
			t.own[role] = theirs
		}
	}
	for item, theirs := range other.cases {
		ours, known := t.cases[item]
		if ours == nil && (theirs != nil || !known) {
			t.cases[item] = theirs
			continue
		}
		for i := range theirs {
			if theirs[i].before(ours[i]) {
				ours[i] = theirs[i]
			}
		}
	}
	for version, theirs := range other.versions {
		ours := t.of(version)
		for item, c := range theirs {
			if ours[item] == nil {
				ours[item] = c
			} else {
				ours[item].merge(c)
			}
		}
	}
	t.rounded += other.rounded
	t.last, t.other, t.file = last{}, last{}, nil
	return true
}

// fits reports whether another tally can be merged: it has the same kind of result, the same versions in files of their own, and no
// other values of where for a case.
func (t *Tally) fits(other *Tally) bool {
	if t.result != noResult && other.result != noResult && t.result != other.result {
		return false
	}
	for role, theirs := range other.own {
		if ours, found := t.own[role]; found && ours.value != theirs.value {
			return false
		}
	}
	for item, theirs := range other.cases {
		ours := t.cases[item]
		for i := range theirs {
			if ours != nil && ours[i].pos != (diag.Pos{}) && theirs[i].pos != (diag.Pos{}) && ours[i].value != theirs[i].value {
				return false
			}
		}
	}
	return true
}
