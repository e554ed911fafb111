// Package anchoring measures how far a model's suggestions move the people who label, and decides on labels that were
// given without them, from files of recorded labels.
//
// The steps, in order, one file each:
//
//  1. tally.go keeps the rows, checked for what a row alone can show to be wrong, twice.go for whether one is there twice.
//     Tallies merge.
//  2. draw.go keeps the draw that says which items were to be labelled blind, where there is one.
//  3. study.go puts each person's rows of an item in order and tells what each is evidence of: a label is blind only
//     if that person had never seen a suggestion for that item.
//  4. measures.go counts agreement with the model, over people, items or labels, with its interval; corpus.go does so
//     for what is left of a finite corpus and for items drawn with unequal chances; people.go compares people with
//     each other, and corrects agreement for chance; needs.go searches the size that would decide a rule on a gap.
//  5. findings.go points at what a person would want to know of the data, text.go says it in words.
//  6. rules.go compiles a policy and decides its rules on the measures. A verdict that another reading of the rows would
//     turn is left to a person.
//
// A blind label that is missing is never left out, since it is the people who looked who lack one: it is completed both
// ways. A row marked blind that comes after a suggestion was seen counts as such a missing label. A label that a file does
// not record helps nobody: with it recorded, whatever it is, no interval of the same kind reaches further out.
package anchoring
