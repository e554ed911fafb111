// Package study draws at random what makes a study valid: who decides which case, in which
// condition and in which order.
//
// No draw depends on a library's generator. Each is a ranking by SHA-256, so that anyone can
// check an assignment with a few lines in any language (testdata/assign.py is such a check):
//
//	mark(purpose, case) = SHA-256 of these texts, each written as "LENGTH:BYTES,"
//	                      "oloproof-assign/1", seed, design, reviewer, purpose, case
//
// with LENGTH the number of bytes in decimal digits. A person's order is the cases sorted by
// mark("order", case). In a crossed study the cases decided with the system are the first half of
// those sorted by mark("split", case); of an odd number of cases, the one in the middle goes
// with them when the last bit of mark("extra", "") is 1.
//
// The marks of two people have nothing in common, so their draws are independent: the interval for
// a mean over people needs that, and balancing each case over the people would break it.
package study
