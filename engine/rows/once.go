package rows

import (
	"slices"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
)

// Once says that no two rows may have the same texts in some columns, in all files together. A row where one of them is not recorded
// is like no other.
type Once struct {
	Columns []int // indices into Options.Columns, at least one
	// Same is the message about a row whose texts, those of Columns, are the ones of the row at first, which comes before it.
	Same func(texts []string, first diag.Pos) string
}

// repeats finds the rows that break Options.Once. Reading keeps at most 12 bytes for each row and a hash of what may have come
// twice; where there is such a thing, the files are read again, and only what really is there twice is reported. Standard input
// cannot be read again: there the texts themselves are kept.
type repeats struct {
	list   []Once
	unique []*unique             // by place in list; nil where texts are kept
	texts  []map[string]diag.Pos // by place in list: where each was read first; nil where hashes are kept
	found  []repeat
	more   int // repetitions that were found and are not kept
}

// watcher shows rows to repeats. It belongs to one goroutine.
type watcher struct {
	*repeats
	batches []*batch // by place in list; nil where texts are kept
	key     []byte
}

// repeat is a row that repeats another.
type repeat struct {
	once int // its place in list
	key  string
	at   diag.Pos
}

// newRepeats returns what watches over the rows of files; whole says to keep texts.
func newRepeats(list []Once, whole bool) *repeats {
	p := &repeats{list: list}
	for _, o := range list {
		if whole {
			p.texts = append(p.texts, map[string]diag.Pos{})
		} else {
			p.unique = append(p.unique, newUnique(len(o.Columns) > 1))
		}
	}
	return p
}

// watcher returns a new watcher.
func (p *repeats) watcher() *watcher {
	w := &watcher{repeats: p}
	for _, u := range p.unique {
		w.batches = append(w.batches, u.batch())
	}
	return w
}

// separator stands between the texts of several columns. It is in none of them: they are UTF-8.
const separator = 0xFF

// of is what a row has in the columns of an Once, as one text that no other texts give; ok is false where one is not recorded. It is
// valid until of is called again.
func (w *watcher) of(once int, r Row) (key []byte, ok bool) {
	w.key = w.key[:0]
	for i, col := range w.list[once].Columns {
		text, recorded := r.Bytes(col)
		if !recorded {
			return nil, false
		}
		if i > 0 {
			w.key = append(w.key, separator)
		}
		w.key = append(w.key, text...)
	}
	return w.key, true
}

// see looks at a row as it is read.
func (w *watcher) see(r Row, diags *diag.List) {
	for i := range w.list {
		key, ok := w.of(i, r)
		switch {
		case !ok:
		case w.texts == nil:
			w.batches[i].add(key)
		default:
			at := r.Pos(-1)
			first, again := w.texts[i][string(key)]
			switch {
			case !again:
				w.texts[i][string(key)] = at
				continue
			case at.Compare(first) < 0: // in a file that is named before
				w.texts[i][string(key)] = at
				first, at = at, first
			}
			w.tell(repeat{i, string(key), at}, first, diags)
		}
	}
}

// tell reports a row that repeats the one at first.
func (p *repeats) tell(x repeat, first diag.Pos, diags *diag.List) {
	diags.Add(diag.Diagnostic{Pos: x.at, Message: p.list[x.once].Same(strings.Split(x.key, string([]byte{separator})), first)})
}

// end says that the watcher has seen all its rows.
func (w *watcher) end() {
	for _, b := range w.batches {
		b.end()
	}
}

// suspect reports whether some text may have come twice, once every watcher was ended.
func (p *repeats) suspect() bool {
	some := false
	for _, u := range p.unique {
		some = u.repeated() || some
	}
	return some
}

// again reads the files a second time, in the order of their names: it collects the rows whose hash was met before. The hash of
// two texts may be the same.
func (w *watcher) again(r Row, met []hashes) {
	for i := range w.list {
		key, ok := w.of(i, r)
		if !ok {
			continue
		}
		hash := w.unique[i].hash(key)
		switch {
		case !w.unique[i].suspects.has(hash) || met[i].insert(hash):
		case len(w.found) < diag.Keep:
			w.found = append(w.found, repeat{i, string(key), r.Pos(-1)})
		default:
			w.more++
		}
	}
}

// confirm reads files again where something may have come twice, and reports what did. inputs are what the first reading returned.
func (w *watcher) confirm(files []string, opts Options, lim limits, inputs []Input, diags *diag.List) {
	w.end()
	if w.texts != nil || !w.suspect() {
		return
	}
	order := slices.Clone(files)
	slices.Sort(order)
	opts.Once = nil
	changed := false
	pass := func(add func(Row)) {
		for _, again := range newReader(opts, lim, add, &diag.List{}).readFiles(order) {
			i := slices.Index(files, again.Path)
			if i >= 0 && again.SHA256 != inputs[i].SHA256 && !changed {
				diags.Addf(diag.Pos{File: again.Path}, changedMessage)
				changed = true
			}
		}
	}
	met := make([]hashes, len(w.list))
	pass(func(r Row) { w.again(r, met) })
	first := make([]map[string]diag.Pos, len(w.list))
	for i := range first {
		first[i] = map[string]diag.Pos{}
	}
	for _, x := range w.found {
		first[x.once][x.key] = diag.Pos{}
	}
	pass(func(r Row) {
		for i := range w.list {
			if key, ok := w.of(i, r); ok {
				if at, wanted := first[i][string(key)]; wanted && at == (diag.Pos{}) {
					first[i][string(key)] = r.Pos(-1)
				}
			}
		}
	})
	for _, x := range w.found {
		if before := first[x.once][x.key]; before != x.at {
			w.tell(x, before, diags)
		}
	}
	diags.Count(w.more)
}
