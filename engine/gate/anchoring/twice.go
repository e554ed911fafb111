package anchoring

import (
	"cmp"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/rows"
)

// twice is the problem of a row that is there twice: where the other one is, and whose they are.
const twice = "the same item, annotator, visibility and kind as at %s%s; a second label needs a later time in labelled_at, unless it follows a blind label that differs from the suggestion"

// who names a row in an error; the annotator only where that was asked for.
func who(item, annotator string, showAnnotators bool) string {
	if !showAnnotators {
		return ""
	}
	return " (item " + diag.Quote(item) + ", annotator " + diag.Quote(annotator) + ")"
}

// duplicates finds, among the rows of one person and item, one that says the same as an earlier one: of the same visibility
// and kind, and at the same time or at none. It holds the place of the first of each.
type duplicates map[duplicateKey]diag.Pos

type duplicateKey struct {
	shown bool
	kind  kind
	at    rows.Decimal
	any   anyTime
}

// anyTime says which rows an entry of duplicates is the first of.
type anyTime uint8

const (
	atTime  anyTime = iota // those of that very time
	ofAll                  // all
	untimed                // those without a time
)

// add returns where the row is that r repeats, the zero position for none.
func (d duplicates) add(r *row) (earlier diag.Pos) {
	at, known := r.when()
	all, none := duplicateKey{r.shown, r.kind, rows.Decimal{}, ofAll}, duplicateKey{r.shown, r.kind, rows.Decimal{}, untimed}
	own := none
	if known {
		own = duplicateKey{r.shown, r.kind, at, atTime}
		earlier = cmp.Or(d[own], d[none])
	} else {
		earlier = d[all]
	}
	for _, k := range []duplicateKey{all, own} {
		if d[k] == (diag.Pos{}) {
			d[k] = r.pos
		}
	}
	return earlier
}

// tellingTwice finds rows that are there twice while rows are read. That is needed where something else is wrong with
// them, since nobody then puts them in order: they are taken in the order in which they were read.
type tellingTwice struct {
	showAnnotators bool
	rows           int // how many of the tally's rows were looked at
	pairs          map[[2]int]*pairSoFar
}

// pairSoFar is what was read of one person and item.
type pairSoFar struct {
	same duplicates
	base *row // the first blind one, unless a visible one came before
	seen bool
}

// tellTwice reports which of the rows since the last call are there twice.
func (t *Tally) tellTwice(diags *diag.List) {
	if t.told.pairs == nil {
		t.told.pairs = map[[2]int]*pairSoFar{}
	}
	for ; t.told.rows < len(t.rows); t.told.rows++ {
		r := &t.rows[t.told.rows]
		pair := [2]int{r.item, r.annotator}
		p := t.told.pairs[pair]
		if p == nil {
			p = &pairSoFar{same: duplicates{}}
			t.told.pairs[pair] = p
		}
		if earlier := p.same.add(r); earlier != (diag.Pos{}) && (p.base == nil || !p.base.differs()) {
			diags.Addf(r.pos, twice, earlier, who(t.items.list[r.item], t.annotators.list[r.annotator], t.told.showAnnotators))
		}
		switch {
		case r.shown:
			p.seen = true
		case p.base == nil && !p.seen:
			first := *r // the tally's rows move as they grow
			p.base = &first
		}
	}
}
