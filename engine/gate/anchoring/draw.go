package anchoring

import (
	"maps"
	"slices"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/rows"
)

// The columns of a draw.
const (
	drawItem = iota
	drawVisibility
	drawProbability
)

// drawColumns lists what is read of a draw.
func drawColumns() []rows.Column {
	return []rows.Column{
		drawItem:        {Name: "item", Required: true},
		drawVisibility:  {Name: "visibility", Required: true},
		drawProbability: {Name: "inclusion_probability"},
	}
}

// drawn is what a draw says of an item.
type drawn struct {
	blind  bool
	chance chance // of being drawn blind; the zero chance where it is not recorded
	pos    diag.Pos
}

// draw is the draw of blind items: all items of the corpus, those to be labelled blind and the others.
type draw struct {
	items   map[string]drawn
	rounded int        // probabilities with more decimals than are kept
	column  diag.Pos   // of the first probability
	empty   []diag.Pos // of probabilities that are not recorded, while none is
}

// newDraw returns an empty draw.
func newDraw() *draw { return &draw{items: map[string]drawn{}} }

// add keeps one row of the draw. A faulty row still takes its item, so that every problem is told at once.
func (d *draw) add(r rows.Row, diags *diag.List) {
	item, recorded := r.Text(drawItem)
	if !recorded {
		diags.Addf(r.Pos(drawItem), "item is empty; every row needs one")
	}
	visibility, _ := r.Text(drawVisibility)
	if visibility != "blind" && visibility != "visible" {
		diags.Addf(r.Pos(drawVisibility), "visibility is %s; write \"visible\" or \"blind\"", diag.Quote(visibility))
	}
	c, rounded := readChance(r, drawProbability, diags)
	if c.value == whole && visibility == "visible" {
		diags.Addf(c.pos, "inclusion_probability is 1, so the item was drawn blind for certain, and its visibility is \"visible\"; one of them is wrong")
	}
	d.checkEmpty(r, diags)
	if !recorded {
		return
	}
	if first, found := d.items[item]; found {
		diags.Addf(r.Pos(-1), "the same item as at %s; a draw has each item once", first.pos)
		return
	}
	if rounded {
		d.rounded++
	}
	d.items[item] = drawn{visibility == "blind", c, r.Pos(-1)}
}

// checkEmpty reports probabilities that are not recorded in a draw that records others: which chance such an item had
// would be anyone's choice.
func (d *draw) checkEmpty(r rows.Row, diags *diag.List) {
	if _, recorded := r.Text(drawProbability); !recorded {
		d.empty = append(d.empty, r.Pos(drawProbability))
	} else if d.column == (diag.Pos{}) {
		d.column = r.Pos(drawProbability)
	}
	if d.column == (diag.Pos{}) {
		return
	}
	for _, pos := range d.empty {
		diags.Addf(pos, "inclusion_probability is empty, and at %s one is recorded; a draw records it for every item or for none", d.column)
	}
	d.empty = nil
}

// blind counts the items drawn blind.
func (d *draw) blind() int {
	n := 0
	for _, x := range d.items {
		if x.blind {
			n++
		}
	}
	return n
}

// frame is what is known of the chances with which the items of a corpus were drawn blind.
type frame struct {
	distinct []rows.Decimal // the chances that occur, rising
	unknown  bool           // some item's chance is not recorded
	partly   bool           // of the labels' blind items some have a chance and some have none
	fromDraw bool
}

// uneven reports unequal chances, or such as may be: where some blind items have a chance and some have none.
func (f frame) uneven() bool { return len(f.distinct) > 1 || f.partly }

// newFrame lists the chances of a draw, or, without one, of the items of the rows.
func newFrame(t *Tally, d *draw) frame {
	seen := map[rows.Decimal]bool{}
	f := frame{fromDraw: d != nil}
	if d != nil {
		for _, x := range d.items {
			if x.chance == (chance{}) {
				f.unknown = true
			} else {
				seen[x.chance.value] = true
			}
		}
	} else {
		f.unknown = len(t.chances) < len(t.items.list)
		known, without := false, false
		for i := range t.rows {
			if r := &t.rows[i]; !r.shown {
				_, has := t.chances[r.item]
				known, without = known || has, without || !has
			}
		}
		f.partly = known && without
		for _, c := range t.chances {
			seen[c.value] = true
		}
	}
	f.distinct = slices.SortedFunc(maps.Keys(seen), rows.Decimal.Cmp)
	return f
}
