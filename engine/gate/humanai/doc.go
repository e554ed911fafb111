// Package humanai decides whether people decide better with a system's output than without it, and
// measures how they rely on it, from recorded decisions.
//
// The steps, in order, one file each:
//
//  1. tally.go keeps the decisions of all rows, checked for what a row alone or a pair of rows can show
//     to be wrong. Tallies merge: any split of the rows gives the same tally.
//  2. design.go tells the design from the tally: crossed, before_after, sparse or mixed.
//  3. study.go lists the study's decisions: those recorded, those with an empty decision, and those that
//     the assignment or the declared design requires but no row holds.
//  4. measures.go counts each metric over a list of decisions and puts its interval around it.
//  5. findings.go points at what a person would want to know of the data.
//  6. rules.go compiles a policy and decides its rules on the measures.
//
// The accuracy difference is a mean over people, each person counting once, because decisions of one
// person are not independent. A missing decision is completed both ways, so that the interval holds
// whatever the missing decisions were.
package humanai
