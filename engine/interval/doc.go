// Package interval computes the intervals that verdicts rest on. Every function is a pure function of
// numbers: no file, no clock, no randomness that is not seeded by a constant.
//
// Which interval is for what:
//
//	ClopperPearson   a rate of independent 0/1 decisions, one look
//	RateSequence     the same, any number of looks
//	Hypergeometric   a proportion of a finite corpus, drawn without replacement, one look
//	UniformMixture   a mean of bounded values, one per independent unit, any number of looks
//	Dirichlet        the same with the number of units fixed beforehand; units of one population
//	SymPol           an alternative to Dirichlet whose proof is a page long
//	PairingAverage   a mean over people and cases that are both drawn at random, one look
//	Median           a median, one look
//	SignTest         a p-value: do the changed cases move up as often as down? One look
//	SignSequence     the same, any number of looks
//	FixedListRate    a rate of independent 0/1 results of unlike chances, such as the trials of a fixed list of cases
//	FixedListDifference  the difference of two versions on such a list
//	GroupRate        a rate of one of several groups whose intervals hold at once, one look; GroupRateSequence any number
//	GroupGap         the distance of two such rates; GroupRatio the ratio of the smaller to the larger
//	ExactSides       a rate with an error of its own on each side, one look
//	FisherGap        the distance of two groups' rates by itself, one look; FisherDifference the difference with its sign
//	RateDifference   the difference of two rates from an interval of each, however they depend on each other
//	WeightedMixture  a mean over a corpus whose items have unlike chances of being drawn, one look
//	Batches          a share of a finite corpus drawn in batches, and of what rests of it; HypergeometricRest of one batch
//	ExpectedDrawn    no interval: the chance of being drawn under a floor
//	MeanDeviation    no interval: how far an observed share lies from its chance on average
//	Needed           about how many units would give an interval as wanted
//
// # Missing values
//
// A value that was not recorded is never left out: the lower end is computed as if it were the worst
// one, the upper end as if it were the best one. Functions of counts take the number missing; functions
// of values take two lists, low and high, that agree wherever a value was recorded. All the intervals
// are monotone in every value, so this covers the truth whatever the reason for which values are missing.
//
// # The same bytes on every machine
//
// Two rules make the printed bounds the same on every architecture. First, nothing here calls the
// standard library's Exp, Log and their like, whose last bits differ between architectures: portable.go
// has its own, made of + − × ÷ and square roots, which IEEE 754 defines to the last bit. A product that
// meets a sum is written float64(x*y) + z, which keeps compilers from fusing the two. Second, values are
// sorted and counted before anything is added up, so that the order of rows cannot matter.
//
// # Outward rounding
//
// Bounds are rounded outward before anybody compares or prints them, so that the number printed is the
// number decided on. See round.go for the steps and for the guard that keeps numerical error on the
// safe side.
package interval
