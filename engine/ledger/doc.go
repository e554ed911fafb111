// Package ledger keeps the looks that a policy's rules have had at their data, and says what they do to the error of the present
// one. An interval for one look is wrong more often when it is looked at again with more data; one for many looks holds while the
// data grow in one of two ways and not in both at once. Neither can be seen in the data of one run.
//
//  1. file.go reads a ledger, which may come from anybody, and adds a look to it: one line of JSON each, chained by digests.
//  2. change.go says how the units of one look have become those of the next.
//  3. history.go goes through all looks at a rule's question and says what they come to.
//
// A ledger holds values of units, and no names. Whoever knows what a person answered can recognise that person's value.
package ledger
