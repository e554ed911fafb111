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
	rounded int // probabilities with more decimals than are kept
}

// add keeps one row of the draw.
func (d *draw) add(r rows.Row, diags *diag.List) {
	item, recorded := r.Text(drawItem)
	ok := recorded
	if !recorded {
		diags.Addf(r.Pos(drawItem), "item is empty; every row needs one")
	}
	visibility, _ := r.Text(drawVisibility)
	if visibility != "blind" && visibility != "visible" {
		diags.Addf(r.Pos(drawVisibility), "visibility is %s; write \"visible\" or \"blind\"", diag.Quote(visibility))
		ok = false
	}
	c, rounded := readChance(r, drawProbability, diags, &ok)
	if !ok {
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
	fromDraw bool
}

// uneven reports unequal chances.
func (f frame) uneven() bool { return len(f.distinct) > 1 }

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
		for _, c := range t.chances {
			seen[c.value] = true
		}
	}
	f.distinct = slices.SortedFunc(maps.Keys(seen), rows.Decimal.Cmp)
	return f
}
