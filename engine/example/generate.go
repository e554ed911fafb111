package example

import "math/rand/v2"

// dice is the chance of a generator. It takes only the 64-bit words of PCG, whose sequence is fixed by its
// definition, and only whole numbers, so that a seed gives the same bytes on every machine and
// with every Go version: the library's own ways of making ranges and shuffles may change.
type dice struct{ words *rand.PCG }

func newDice(seed uint64) dice { return dice{rand.NewPCG(seed, 0)} }

// below returns a number from 0 to n-1, all equally likely; n must be positive.
func (d dice) below(n int) int {
	size := uint64(n)
	// The first 2^64 mod n words are thrown again, since what is left divides evenly by n.
	for {
		if word := d.words.Uint64(); word >= -size%size {
			return int(word % size)
		}
	}
}

// between returns a number from low to high, both included, all equally likely.
func (d dice) between(low, high int) int { return low + d.below(high-low+1) }

// chance is true in so many of 1000 throws.
func (d dice) chance(perMille int) bool { return d.below(1000) < perMille }

// choose returns a set of k of the numbers 0 to n-1, every set equally likely; k is at most n.
func (d dice) choose(k, n int) map[int]bool {
	chosen := make(map[int]bool, k)
	for len(chosen) < k {
		chosen[d.below(n)] = true
	}
	return chosen
}
