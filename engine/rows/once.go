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
	list    []Once
	unique  []*unique // by place in list; nil where texts are kept
	batches []*batch
	texts   []map[string]diag.Pos // by place in list: where each was read first; nil where hashes are kept
	key     []byte
	found   []repeat
	more    int // repetitions that were found and are not kept
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
	for range list {
		if whole {
			p.texts = append(p.texts, map[string]diag.Pos{})
			continue
		}
		u := newUnique()
		p.unique, p.batches = append(p.unique, u), append(p.batches, u.batch())
	}
	return p
}

// of is what a row has in the columns of an Once, as one text that no other texts give; ok is false where one is not recorded. It is
// valid until of is called again.
func (p *repeats) of(once int, r Row) (key []byte, ok bool) {
	columns := p.list[once].Columns
	p.key = p.key[:0]
	for i, col := range columns {
		text, recorded := r.Text(col)
		if !recorded {
			return nil, false
		}
		if i > 0 {
			p.key = append(p.key, 0xFF) // which is in no text: they are UTF-8
		}
		p.key = append(p.key, text...)
	}
	return p.key, true
}

// see looks at a row as it is read.
func (p *repeats) see(r Row, diags *diag.List) {
	for i := range p.list {
		key, ok := p.of(i, r)
		switch {
		case !ok:
		case p.texts == nil:
			p.batches[i].add(key)
		default:
			at := r.Pos(-1)
			first, again := p.texts[i][string(key)]
			switch {
			case !again:
				p.texts[i][string(key)] = at
				continue
			case at.Compare(first) < 0: // in a file that is named before
				p.texts[i][string(key)] = at
				first, at = at, first
			}
			p.tell(repeat{i, string(key), at}, first, diags)
		}
	}
}

// tell reports a row that repeats the one at first.
func (p *repeats) tell(x repeat, first diag.Pos, diags *diag.List) {
	diags.Add(diag.Diagnostic{Pos: x.at, Message: p.list[x.once].Same(strings.Split(x.key, "\xFF"), first)})
}

// suspect reports whether some text may have come twice.
func (p *repeats) suspect() bool {
	some := false
	for i, b := range p.batches {
		b.end()
		some = p.unique[i].repeated() || some
	}
	return some
}

// again reads the files a second time, in the order of their names: it collects the rows whose hash was met before. The hash of
// two texts may be the same.
func (p *repeats) again(r Row, met []hashes) {
	for i := range p.list {
		key, ok := p.of(i, r)
		if !ok {
			continue
		}
		hash := p.unique[i].hash(key)
		switch {
		case !p.unique[i].suspects.has(hash) || met[i].insert(hash):
		case len(p.found) < diag.Keep:
			p.found = append(p.found, repeat{i, string(key), r.Pos(-1)})
		default:
			p.more++
		}
	}
}

// confirm reads files again where something may have come twice, and reports what did. inputs are what the first reading returned.
func (p *repeats) confirm(files []string, opts Options, lim limits, inputs []Input, diags *diag.List) {
	if p.texts != nil || !p.suspect() {
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
				diags.Addf(diag.Pos{File: again.Path}, "the file changed while it was read: run again when it is finished")
				changed = true
			}
		}
	}
	met := make([]hashes, len(p.list))
	pass(func(r Row) { p.again(r, met) })
	first := make([]map[string]diag.Pos, len(p.list))
	for i := range first {
		first[i] = map[string]diag.Pos{}
	}
	for _, x := range p.found {
		first[x.once][x.key] = diag.Pos{}
	}
	pass(func(r Row) {
		for i := range p.list {
			if key, ok := p.of(i, r); ok {
				if at, wanted := first[i][string(key)]; wanted && at == (diag.Pos{}) {
					first[i][string(key)] = r.Pos(-1)
				}
			}
		}
	})
	for _, x := range p.found {
		if before := first[x.once][x.key]; before != x.at {
			p.tell(x, before, diags)
		}
	}
	diags.Count(p.more)
}
