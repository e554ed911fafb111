package audit

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/oloproof/oloproof/engine/interval"
)

// The intervals that people use where nobody told them not to, over what is recorded: missing values are left out, as is usual.

// The names of the other intervals.
const (
	naiveName     = "naive" // Wald, every decision or trial as if it were independent of all others
	waldName      = "wald"  // the same, of a rate whose decisions are independent
	twoErrorsName = "two-standard-errors"
	studentName   = "student"   // Student's t over people or cases
	bootstrapName = "bootstrap" // percentiles of the mean over people or cases drawn again
	fixedCases    = "cases-as-fixed"
)

// normal975 is the 97.5 % quantile of the normal distribution.
const normal975 = 1.959963984540054

// resamples is how many times a bootstrap draws again.
const resamples = 200

// waldRate is k/n ± z·√(p(1−p)/n).
func waldRate(k, n int, z float64) (lower, upper float64, ok bool) {
	if n == 0 {
		return 0, 0, false
	}
	p := float64(k) / float64(n)
	margin := float64(z * math.Sqrt(p*(1-p)/float64(n)))
	return p - margin, p + margin, true
}

// waldDifference is k/n − l/m ± z·√(p(1−p)/n + q(1−q)/m).
func waldDifference(k, n, l, m int) (lower, upper float64, ok bool) {
	if n == 0 || m == 0 {
		return 0, 0, false
	}
	p, q := float64(k)/float64(n), float64(l)/float64(m)
	margin := float64(normal975 * math.Sqrt(float64(p*(1-p)/float64(n))+float64(q*(1-q)/float64(m))))
	return p - q - margin, p - q + margin, true
}

// student is the mean of the values ± t·s/√n; it is not defined for fewer than two.
func student(values []float64) (lower, upper float64, ok bool) {
	n := float64(len(values))
	if n < 2 {
		return 0, 0, false
	}
	mean := meanOf(values)
	squares := 0.0
	for _, x := range values {
		squares += float64((x - mean) * (x - mean))
	}
	margin := float64(studentQuantile(len(values)-1) * math.Sqrt(squares/(n-1)/n))
	return mean - margin, mean + margin, true
}

// studentQuantile is the 97.5 % quantile of Student's t, rounded to 9 decimals so that it is the same on every machine.
func studentQuantile(degrees int) float64 {
	low, high := 0.0, 13.0 // it is 12.7 at 1, and falls
	for range 60 {
		if t := (low + high) / 2; studentWithin(t, degrees) < 0.95 {
			low = t
		} else {
			high = t
		}
	}
	return math.Round(low*1e9) / 1e9
}

// studentWithin is the probability that Student's t lies between −t and t (Abramowitz and Stegun, 26.7.3 and 26.7.4): finite sums of
// powers of cos θ, where tan θ = t/√degrees.
func studentWithin(t float64, degrees int) float64 {
	hypotenuse := math.Sqrt(float64(degrees) + float64(t*t))
	sin, cos := t/hypotenuse, math.Sqrt(float64(degrees))/hypotenuse
	term, sum := 1.0, 0.0 // even: 1, 1/2·cos², 1·3/(2·4)·cos⁴, …; odd: cos, 2/3·cos³, 2·4/(3·5)·cos⁵, …
	first := 0
	if degrees%2 == 1 {
		term, first = cos, 1
	}
	for power := first; power <= degrees-2; power += 2 {
		sum += term
		term = float64(term * float64(cos*cos) * float64(power+1) / float64(power+2))
	}
	if degrees%2 == 1 {
		return 2 / math.Pi * (math.Atan2(sin, cos) + float64(sin*sum))
	}
	return sin * sum
}

// bootstrap is the middle 95 % of the means of as many values drawn from them again, with replacement.
func bootstrap(values []float64, r *rand.Rand) (lower, upper float64, ok bool) {
	n := len(values)
	if n == 0 {
		return 0, 0, false
	}
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range values {
			sum += values[r.IntN(n)]
		}
		means[i] = sum / float64(n)
	}
	slices.Sort(means)
	beyond := resamples * 25 / 1000 // 2.5 % of them
	return means[beyond-1], means[resamples-beyond], true
}

// meanOf is the mean.
func meanOf(values []float64) float64 {
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}

// hits counts something among things.
type hits struct{ k, n int }

// add counts one.
func (h *hits) add(yes bool) {
	h.n++
	if yes {
		h.k++
	}
}

// share is k/n.
func (h hits) share() float64 { return float64(h.k) / float64(h.n) }

// decided is one recorded decision of a study of people.
type decided struct {
	person                       int // from 0, in the order of the rows
	with                         bool
	right, agrees, systemIsRight bool // the last two: with the output only
}

// decisionsOf are the recorded decisions of a study of people.
func decisionsOf(s Study, columns []string) []decided {
	at := places(columns, "reviewer", "condition", "decision", "reference", "ai_output")
	people := map[string]int{}
	var list []decided
	for _, row := range s[0] {
		person, known := people[row[at[0]]]
		if !known {
			person = len(people)
			people[row[at[0]]] = person
		}
		if row[at[2]] == "" {
			continue
		}
		d := decided{person: person, with: row[at[1]] == "with", right: row[at[2]] == row[at[3]]}
		if d.with {
			d.agrees, d.systemIsRight = row[at[2]] == row[at[4]], row[at[4]] == row[at[3]]
		}
		list = append(list, d)
	}
	return list
}

// byCondition counts right decisions, without and with the output, of each person and of all.
func byCondition(list []decided) (people [][2]hits, all [2]hits) {
	for _, d := range list {
		for d.person >= len(people) {
			people = append(people, [2]hits{})
		}
		c := 0
		if d.with {
			c = 1
		}
		people[d.person][c].add(d.right)
		all[c].add(d.right)
	}
	return people, all
}

// gainsOf are the gains of the people who have decisions in both conditions.
func gainsOf(s Study, columns []string) []float64 {
	people, _ := byCondition(decisionsOf(s, columns))
	var gains []float64
	for _, p := range people {
		if p[0].n > 0 && p[1].n > 0 {
			gains = append(gains, p[1].share()-p[0].share())
		}
	}
	return gains
}

// differenceRivals are the intervals beside accuracy_difference.
func differenceRivals(target string) []Rival {
	return []Rival{
		{naiveName, target, func(s Study, columns []string, _ *rand.Rand) (float64, float64, bool) {
			_, all := byCondition(decisionsOf(s, columns))
			return waldDifference(all[1].k, all[1].n, all[0].k, all[0].n)
		}},
		{studentName, target, func(s Study, columns []string, _ *rand.Rand) (float64, float64, bool) {
			return student(gainsOf(s, columns))
		}},
		{bootstrapName, target, func(s Study, columns []string, r *rand.Rand) (float64, float64, bool) {
			return bootstrap(gainsOf(s, columns), r)
		}},
	}
}

// fixedCasesRival is the interval over people alone where cases were drawn too: as if the study's cases were all there are.
func fixedCasesRival(target string) Rival {
	return Rival{fixedCases, target, func(s Study, columns []string, _ *rand.Rand) (float64, float64, bool) {
		gains := gainsOf(s, columns)
		iv, err := interval.UniformMixture(gains, gains, interval.Difference, Confidence)
		return iv.Lower, iv.Upper, err == nil
	}}
}

// counted says of a decision whether it is in a rate's denominator, and whether in its numerator.
type counted func(d decided) (of, event bool)

// The rates of people that other intervals are computed of.
func followsWrong(d decided) (of, event bool) { return d.with && !d.systemIsRight, d.agrees }
func departsFromRight(d decided) (of, event bool) {
	return d.with && d.systemIsRight, !d.agrees
}
func agreesWith(d decided) (of, event bool)   { return d.with, d.agrees }
func rightWith(d decided) (of, event bool)    { return d.with, d.right }
func rightWithout(d decided) (of, event bool) { return !d.with, d.right }

// rateRival is Wald's interval of a rate over all decisions, under a name.
func rateRival(name, target string, rate counted) Rival {
	return Rival{name, target, func(s Study, columns []string, _ *rand.Rand) (float64, float64, bool) {
		var h hits
		for _, d := range decisionsOf(s, columns) {
			if of, event := rate(d); of {
				h.add(event)
			}
		}
		return waldRate(h.k, h.n, normal975)
	}}
}

// personRateRivals are the intervals beside a rate per person.
func personRateRivals(target string, rate counted) []Rival {
	own := func(s Study, columns []string) []float64 {
		var people []hits
		for _, d := range decisionsOf(s, columns) {
			for d.person >= len(people) {
				people = append(people, hits{})
			}
			if of, event := rate(d); of {
				people[d.person].add(event)
			}
		}
		var rates []float64
		for _, h := range people {
			if h.n > 0 {
				rates = append(rates, h.share())
			}
		}
		return rates
	}
	return []Rival{
		rateRival(naiveName, target, rate),
		{studentName, target, func(s Study, columns []string, _ *rand.Rand) (float64, float64, bool) {
			return student(own(s, columns))
		}},
	}
}

// trialsOf counts the recorded trials of a comparison that passed: of each case, baseline and candidate, and of all.
func trialsOf(s Study, columns []string) (cases [][2]hits, all [2]hits) {
	at := places(columns, "version", "case", "passed")
	known := map[string]int{}
	for _, row := range s[0] {
		c, seen := known[row[at[1]]]
		if !seen {
			c = len(cases)
			known[row[at[1]]] = c
			cases = append(cases, [2]hits{})
		}
		if row[at[2]] == "" {
			continue
		}
		v := 0
		if row[at[0]] == "candidate" {
			v = 1
		}
		cases[c][v].add(row[at[2]] == "1")
		all[v].add(row[at[2]] == "1")
	}
	return cases, all
}

// caseDifferences are the differences of the cases that have trials of both versions.
func caseDifferences(s Study, columns []string) []float64 {
	cases, _ := trialsOf(s, columns)
	var list []float64
	for _, c := range cases {
		if c[0].n > 0 && c[1].n > 0 {
			list = append(list, c[1].share()-c[0].share())
		}
	}
	return list
}

// passDifferenceRivals are the intervals beside pass_rate_difference.
func passDifferenceRivals(target string) []Rival {
	return []Rival{
		{naiveName, target, func(s Study, columns []string, _ *rand.Rand) (float64, float64, bool) {
			_, all := trialsOf(s, columns)
			return waldDifference(all[1].k, all[1].n, all[0].k, all[0].n)
		}},
		{studentName, target, func(s Study, columns []string, _ *rand.Rand) (float64, float64, bool) {
			return student(caseDifferences(s, columns))
		}},
		{bootstrapName, target, func(s Study, columns []string, r *rand.Rand) (float64, float64, bool) {
			return bootstrap(caseDifferences(s, columns), r)
		}},
	}
}

// passRateRivals are the intervals beside the candidate's rate.
func passRateRivals(target string) []Rival {
	return []Rival{
		{twoErrorsName, target, func(s Study, columns []string, _ *rand.Rand) (float64, float64, bool) {
			_, all := trialsOf(s, columns)
			return waldRate(all[1].k, all[1].n, 2)
		}},
		{studentName, target, func(s Study, columns []string, _ *rand.Rand) (float64, float64, bool) {
			cases, _ := trialsOf(s, columns)
			var list []float64
			for _, c := range cases {
				if c[1].n > 0 {
					list = append(list, c[1].share())
				}
			}
			return student(list)
		}},
	}
}
