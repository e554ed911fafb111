package cli

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/rows"
	"github.com/oloproof/oloproof/engine/study"
)

// drawing is what `anchoring draw` is asked to do.
type drawing struct {
	items, rate, minimum, seed, previous string
}

// drawCommand is `anchoring draw`.
func (a *app) drawCommand() *cobra.Command {
	var d drawing
	cmd := &cobra.Command{
		Use:   "draw --items FILE --rate R --seed S",
		Short: "Draw which items people label without the suggestion",
		Long: `Draw at random the items that people label blind, without the model's suggestion, as CSV
(item,visibility,inclusion_probability) on standard output, in the order of the items. Each item is blind with the
probability --rate, by its own hash under the seed: running it again or sorting the items changes nothing. Where fewer
than --minimum are blind, the next by their hashes are added. Keep the file: --draw FILE on check, report and gate
verifies that the labels follow it, and counts an item drawn blind without a label as missing.

When items are added, give the draw so far as --previous, and write to another file: what it says of its items stays,
and only the new ones are drawn, at the rate alone. Items that are no longer there are left out.

The items are one id a line (a first line "item" is a header), or the column item of CSV, JSONL or Parquet. For --items as for
--previous, - is standard input.`,
		Example: `  oloproof init --example anchoring study
  oloproof anchoring draw --items study/items.csv --rate 0.2 --seed study-1 > draw.csv`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.draw(d) },
	}
	f := cmd.Flags()
	f.StringVar(&d.items, "items", "", "the `FILE` of the items, each once")
	f.StringVar(&d.rate, "rate", "", "the `PROBABILITY` with which an item is blind, such as 0.2")
	f.StringVar(&d.minimum, "minimum", "20", "the least `NUMBER` of blind items; 0 for none")
	f.StringVar(&d.seed, "seed", "", "any `TEXT`; the same seed gives the same draw")
	f.StringVar(&d.previous, "previous", "", "the `FILE` of an earlier draw, which is kept")
	return cmd
}

// draw carries out a drawing. Nothing is written unless all of it can be.
func (a *app) draw(d drawing) error {
	diags := &diag.List{}
	rate, minimum := d.check(diags)
	var items *study.Items
	var previous []study.Drawn
	if a.canRead("--items", d.items, diags) {
		items = study.ReadItems(d.items, a.Stdin, diags)
	}
	if a.canRead("--previous", d.previous, diags) {
		previous = study.ReadDraw(d.previous, a.Stdin, diags)
	}
	if diags.Len() > 0 {
		return a.unusable(diags)
	}

	var drawn, gone []study.Drawn
	var err error
	if d.previous == "" {
		drawn, err = study.Draw(items, rate, minimum, d.seed)
	} else {
		drawn, gone, err = study.Extend(previous, items, rate, d.seed)
	}
	if err != nil {
		for _, e := range each(err) {
			diags.Add(diag.Diagnostic{Message: e.Error()})
		}
		return a.unusable(diags)
	}
	w := bufio.NewWriter(a.Stdout)
	if err := study.WriteDraw(w, drawn); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, line := range drawNotes(d, items, drawn, gone, rate, minimum) {
		a.tell(a.Stderr, "oloproof: "+line)
	}
	return nil
}

// check reads the flags that are no files.
func (d drawing) check(diags *diag.List) (rate rows.Decimal, minimum int) {
	wrong := func(format string, args ...any) { diags.Addf(diag.Pos{}, format, args...) }
	if d.items == "" {
		wrong("--items is missing; give a file with one id a line, or with a column item")
	}
	if d.items == "-" && d.previous == "-" {
		wrong("--items and --previous are both standard input, which can be read once: put one of them in a file")
	}
	var err error
	if d.rate == "" {
		wrong("--rate is missing; write the probability with which an item is blind, such as 0.2")
	} else if rate, err = study.ParseChance(d.rate); err != nil {
		wrong("--rate: %v", err)
	}
	if minimum, err = strconv.Atoi(d.minimum); err != nil || minimum < 0 || minimum > study.MaxItems {
		wrong("--minimum is %s; write a whole number of items, from 0 to %d", diag.Quote(d.minimum), study.MaxItems)
	}
	if strings.TrimSpace(d.seed) == "" {
		wrong("--seed is empty; give a text of your own, and keep it with the study")
	}
	return rate, minimum
}

// canRead reports whether there is a file to read. A shell has emptied one that standard output goes to; and standard
// input is not waited for where the command cannot be carried out anyway.
func (a *app) canRead(flag, path string, diags *diag.List) bool {
	if path == "" || path == "-" {
		return path == "-" && diags.Len() == 0
	}
	if isFile(a.stdout.Writer, path) {
		diags.Addf(diag.Pos{File: path}, "standard output goes to the file of %s; write the draw to another one", flag)
		return false
	}
	return true
}

// drawNotes says what a person should know about a draw.
func drawNotes(d drawing, items *study.Items, drawn, gone []study.Drawn, rate rows.Decimal, minimum int) []string {
	var notes []string
	n, blind := len(drawn), countBlind(drawn)
	supply := study.Supply(n, rate)
	if d.previous == "" && supply < minimum {
		text := fmt.Sprintf("warning: rate × items is under --minimum %d: at the rate %s, %s can supply a floor of %d", minimum, rate, countOf(n, "item"), supply)
		if n < minimum {
			text += "; all are blind, and still too few"
		} else {
			text += fmt.Sprintf("; with the next by their hashes, %d are blind", blind)
		}
		notes = append(notes, text)
	}
	if len(gone) > 0 {
		notes = append(notes, fmt.Sprintf("warning: left out %s of the previous draw (%d blind) not among the items; leave their labels out too",
			countOf(len(gone), "item"), countBlind(gone)))
	}
	if d.previous != "" && blind < minimum {
		notes = append(notes, fmt.Sprintf("warning: %d of %s are blind, under --minimum %d, which adds none to an earlier draw: an item drawn visible stays so; draw more new items, or at a higher rate",
			blind, countOf(n, "item"), minimum))
	}
	if k := items.LikeFormulas(); k > 0 {
		notes = append(notes, fmt.Sprintf("warning: a spreadsheet takes ids that begin with = + - or @ for formulas (%d here); where the file is opened in one, import the column as text", k))
	}
	return notes
}

// countBlind is how many items of a draw are blind.
func countBlind(drawn []study.Drawn) int {
	n := 0
	for _, d := range drawn {
		if d.Blind {
			n++
		}
	}
	return n
}
