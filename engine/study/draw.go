package study

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"

	"errors"
	"fmt"
	"hash"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/rows"
)

// The two ways in which an item is given to a person: with the model's suggestion on the screen, or without.
const (
	Visible = "visible"
	Blind   = "blind"
)

// Drawn is what a draw says of one item.
type Drawn struct {
	Item        string
	Blind       bool         // labelled without the model's suggestion
	Probability rows.Decimal // the chance with which it was to be blind, above 0 and at most 1
}

// Draw chooses the items that people label blind, in the order of the list.
//
// Each item is blind with the chance rate, by a mark of its own that depends on the seed and its id alone (the
// package comment defines it): the mark as a fraction of 2^256 is compared with the rate's decimal exactly. Where
// that makes fewer than floor of them blind, the next by their marks are added until there are floor, or no more
// items. The order of the list changes nothing. Neither do other items, as long as there is no floor to reach: where
// there is one, draw for a corpus that has grown with Extend.
//
// The probability is the same for all: the rate, or with a floor E[max(Bin(n, rate), floor)]/n to 10 significant
// digits (interval.ExpectedDrawn).
//
// rate is above 0 and at most 1, floor at least 0 (no floor), the seed any text but an empty one, and the list has
// an item; else there is an error that says what is wrong with all of them.
func Draw(items *Items, rate rows.Decimal, floor int, seed string) ([]Drawn, error) {
	var floorErr error
	if floor < 0 {
		floorErr = fmt.Errorf("the floor is %d: 0 or more items are allowed", floor)
	}
	if err := errors.Join(checkDraw(items, rate, seed), floorErr); err != nil {
		return nil, err
	}
	n := items.Len()
	chance := firstChance(n, rate, floor)
	limit := markLimit(rate)
	marks := make([][sha256.Size]byte, n)
	drawn := make([]Drawn, n)
	var visible []int
	mark := marker(seed)
	for i, id := range items.ids {
		marks[i] = mark(id)
		drawn[i] = Drawn{Item: id, Blind: below(marks[i], limit), Probability: chance}
		if !drawn[i].Blind {
			visible = append(visible, i)
		}
	}
	if lacking := min(floor, n) - (n - len(visible)); lacking > 0 {
		slices.SortFunc(visible, func(i, j int) int {
			return cmp.Or(bytes.Compare(marks[i][:], marks[j][:]), strings.Compare(items.ids[i], items.ids[j]))
		})
		for _, i := range visible[:lacking] {
			drawn[i].Blind = true
		}
	}
	return drawn, nil
}

// Extend draws for a corpus that has changed since the draw previous was made. Items of that draw keep their status
// and their probability; the others are blind with the chance rate, as in Draw but without a floor, and that is
// their probability. The result has the items of the list, in its order. gone holds the items of the previous draw
// that are not in the list, in that draw's order: they are left out.
//
// The errors are those of Draw, and that an item stands twice in the previous draw, or that none of its items is in
// the list: it is then a draw of another corpus.
func Extend(previous []Drawn, items *Items, rate rows.Decimal, seed string) (drawn, gone []Drawn, err error) {
	if err := checkDraw(items, rate, seed); err != nil {
		return nil, nil, err
	}
	old := make(map[string]Drawn, len(previous))
	for _, d := range previous {
		if _, again := old[d.Item]; again {
			return nil, nil, fmt.Errorf("the previous draw has the item %s twice: each item may stand once", diag.Quote(d.Item))
		}
		old[d.Item] = d
		if _, here := items.at[d.Item]; !here {
			gone = append(gone, d)
		}
	}
	if len(previous) > 0 && len(gone) == len(previous) {
		return nil, nil, errors.New("no item of the previous draw is among these: give the draw of this corpus, or none")
	}
	limit := markLimit(rate)
	mark := marker(seed)
	drawn = make([]Drawn, items.Len())
	for i, id := range items.ids {
		if kept, found := old[id]; found {
			drawn[i] = kept
		} else {
			drawn[i] = Drawn{Item: id, Blind: below(mark(id), limit), Probability: rate}
		}
	}
	return drawn, gone, nil
}

// checkDraw says what is wrong with what Draw and Extend are given.
func checkDraw(items *Items, rate rows.Decimal, seed string) error {
	var problems []error
	if items.Len() == 0 {
		problems = append(problems, errors.New("there are no items: at least 1 is needed"))
	}
	if !isChance(rate) {
		problems = append(problems, fmt.Errorf("the rate is %s: %s", rate, allowedChance))
	}
	if seed == "" {
		problems = append(problems, errors.New("the seed is empty: give any text, chosen once before the study begins"))
	}
	return errors.Join(problems...)
}

// allowedChance says what a rate or an inclusion probability may be.
const allowedChance = "a decimal number above 0 and at most 1, such as 0.2, is allowed"

var one, _, _ = rows.ParseDecimal("1") // a number: no error

func isChance(d rows.Decimal) bool { return d.Sign() > 0 && d.Cmp(one) <= 0 }

// ParseChance reads a rate or an inclusion probability: a decimal number above 0 and at most 1, as rows.ParseDecimal
// reads it, with at most 18 places, so that it is exactly what is written. The error says what was found and what is
// allowed.
func ParseChance(text string) (rows.Decimal, error) {
	d, rounded, err := rows.ParseDecimal(text)
	switch {
	case err != nil:
		return rows.Decimal{}, err
	case rounded:
		return rows.Decimal{}, fmt.Errorf("found %s: at most %d decimal places are read", diag.Quote(text), rows.Places)
	case !isChance(d):
		return rows.Decimal{}, fmt.Errorf("found %s: %s", diag.Quote(text), allowedChance)
	}
	return d, nil
}

// Supply is the floor that n items reach by the rate alone, on average: rate × n, rounded down. A larger floor is
// reached by adding items.
func Supply(n int, rate rows.Decimal) int {
	expected := new(big.Int).Mul(rate.Big(), big.NewInt(int64(n)))
	return int(expected.Quo(expected, one.Big()).Int64())
}

// firstChance is the chance of each of n items to be blind in a draw with a floor. Where the floor adds nothing to
// the rate's first 10 digits, it is the rate itself: items drawn later then have the same.
func firstChance(n int, rate rows.Decimal, floor int) rows.Decimal {
	r := rate.Float64()
	chance := interval.ExpectedDrawn(n, r, floor)
	if chance == interval.ExpectedDrawn(n, r, 0) {
		return rate
	}
	// Where there is a floor, the chance is at least 1/MaxItems = 1e-7: its 10 digits end before the 18th place.
	d, _, _ := rows.ParseDecimal(strconv.FormatFloat(chance, 'f', -1, 64))
	return d
}

// marker returns the function that gives an item its mark under a seed; the package comment defines it.
func marker(seed string) func(id string) [sha256.Size]byte {
	h := hmac.New(func() hash.Hash { return sha256.New() }, []byte(seed))
	var text []byte
	return func(id string) (mark [sha256.Size]byte) {
		text = appendTexts(text[:0], "oloproof-blind/1", id)
		h.Reset()
		h.Write(text)
		h.Sum(mark[:0])
		return mark
	}
}

// markLimit is the number below which the marks of blind items lie, taken as integers: mark/2^256 < rate holds
// exactly where mark < ⌈rate × 2^256⌉.
func markLimit(rate rows.Decimal) *big.Int {
	limit := new(big.Int).Lsh(rate.Big(), 8*sha256.Size)
	unit := one.Big()
	limit.Add(limit, unit)
	limit.Sub(limit, big.NewInt(1))
	return limit.Quo(limit, unit)
}

func below(mark [sha256.Size]byte, limit *big.Int) bool {
	return new(big.Int).SetBytes(mark[:]).Cmp(limit) < 0
}

// WriteDraw writes a draw in the order given, as CSV with the header item,visibility,inclusion_probability: lines
// end with \n. Items are quoted where RFC 4180 says so, where a spreadsheet could split them at another delimiter, and
// where a CI runner that prints the line could take it for a command ("::"). The only errors are w's own.
func WriteDraw(w io.Writer, drawn []Drawn) error {
	b := bufio.NewWriter(w) // keeps its first error for Flush
	fmt.Fprintln(b, "item,visibility,inclusion_probability")
	var last rows.Decimal
	text := last.String()
	for _, d := range drawn {
		if d.Probability != last { // most items have the one before's
			last, text = d.Probability, d.Probability.String()
		}
		item := d.Item
		if strings.ContainsAny(item, ",;|\"") || strings.HasPrefix(item, ":") {
			item = `"` + strings.ReplaceAll(item, `"`, `""`) + `"`
		}
		fmt.Fprintf(b, "%s,%s,%s\n", item, visibility(d.Blind), text)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing the draw: %w", err)
	}
	return nil
}

func visibility(blind bool) string {
	if blind {
		return Blind
	}
	return Visible
}
