package anchoring

// Side is what a row of labels is evidence of.
type Side uint8

// The sides.
const (
	Neither Side = iota // a row to verify, a repeat, or one of which it cannot be told
	Blind               // a label given without the suggestion
	Visible             // a label given with it, also where it is marked blind and came after the suggestion was seen
)

// Sides is a question of this gate that tells what rows are evidence of, for audits that change rows and ask again.
type Sides interface {
	// Sides tells it by the line of a row, or its number where the file has none,, which must be in one file; a line that is not there is of Neither. It must not be
	// called before CheckRows.
	Sides() map[int]Side
}

var _ Sides = (*question)(nil)

// Sides implements Sides.
func (q *question) Sides() map[int]Side {
	sides := map[int]Side{}
	for _, e := range q.study.blind {
		if !e.lost {
			sides[max(e.pos.Line, e.pos.Row)] = Blind
		}
	}
	for _, e := range q.study.visible {
		if !e.perhaps {
			sides[max(e.pos.Line, e.pos.Row)] = Visible
		}
	}
	return sides
}
