// Package study draws at random what makes a study valid: who decides which case, in which
// condition and in which order (Assign), and which items people label without the model's suggestion (Draw).
//
// No draw depends on a library's generator. Each is a ranking by SHA-256, so that anyone can
// check it with a few lines in any language (testdata/assign.py and testdata/draw.py are such checks).
// In both, texts are written one after the other as "LENGTH:BYTES,", with LENGTH the number of bytes in decimal
// digits.
//
// Of an assignment:
//
//	mark(purpose, case) = SHA-256 of the texts
//	                      "oloproof-assign/1", seed, design, reviewer, purpose, case
//
// A person's order is the cases sorted by
// mark("order", case). In a crossed study the cases decided with the system are the first half of
// those sorted by mark("split", case); of an odd number of cases, the one in the middle goes
// with them when the last bit of mark("extra", "") is 1.
//
// The marks of two people have nothing in common, so their draws are independent: the interval for
// a mean over people needs that, and balancing each case over the people would break it.
//
// Of a blind draw:
//
//	mark(item) = HMAC-SHA-256, with the seed as the key, of the texts "oloproof-blind/1", item
//
// read as a number with the first byte first. An item is blind where mark(item) / 2^256 < rate; where fewer than a
// floor are, those with the least marks are, up to the floor. An item's status so depends on itself, and with a floor
// on the others: when a corpus grows, the floor may have been reached without some items that it once needed. That is
// why the draw of a grown corpus starts from the earlier one (Extend), and why its two parts have their own
// probabilities.
package study
