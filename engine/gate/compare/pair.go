package compare

import (
	"maps"
	"math/big"
	"slices"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/policy"
)

// The roles of the two versions that are compared: indices, and the words of policies and reports.
const (
	baseline = iota
	candidate
)

var roles = [2]string{"baseline", "candidate"}

// attempts is the trials of one case in one version.
type attempts struct {
	n        int      // trials, missing ones included
	rows     int      // those with a row
	recorded int      // those with a result
	sum      *big.Int // of the recorded results, in steps of 1/one
}

// missing is how many trials have no result.
func (a attempts) missing() int { return a.n - a.recorded }

// pairing is one case, and its trials in the two versions: as many in both, missing ones included.
type pairing struct {
	item  string
	sides [2]attempts
}

// n is how many trials each version has of the case, missing ones included.
func (p *pairing) n() int { return p.sides[baseline].n }

// plan is the numbers that were fixed beforehand; zero where they were not.
type plan struct{ cases, trials int }

// scheme is what results are, for the whole question.
type scheme struct {
	scored bool     // results are scores, not 0/1
	one    *big.Int // the steps that make up a result of 1
}

// stepsOfScore are the steps in a score of 1: as many as a decimal keeps.
var stepsOfScore = whole.Big()

// scheme returns the scheme of the tally's results.
func (t *Tally) scheme() scheme {
	if t.result == score {
		return scheme{scored: true, one: stepsOfScore}
	}
	return scheme{one: big.NewInt(1)}
}

// attempts returns the trials of a cell, which is nil where the version has no row of the case.
func (t *Tally) attempts(c *cell) attempts {
	switch {
	case c == nil:
		return attempts{sum: new(big.Int)}
	case t.result == score:
		return attempts{rows: c.rows, recorded: c.recorded, sum: c.sum.Big()}
	}
	return attempts{rows: c.rows, recorded: c.recorded, sum: big.NewInt(int64(c.passed))}
}

// version lists the trials of one version by itself, case by case in order: as many as have a row, or as planned.
func (t *Tally) version(name string, p plan) []attempts {
	cells := t.versions[name]
	list := make([]attempts, 0, len(cells))
	for _, item := range slices.Sorted(maps.Keys(cells)) {
		a := t.attempts(cells[item])
		a.n = max(a.rows, p.trials)
		list = append(list, a)
	}
	return list
}

// pair lists the cases of two versions in order. Trials that one version lacks, up to the larger count of the two or the
// planned one, are missing trials: leaving them out would let a crash look like progress, and unequal counts would
// bias the sign test. So are all trials of a case that only the other version has.
func (t *Tally) pair(names [2]string, p plan) []pairing {
	base, next := t.versions[names[baseline]], t.versions[names[candidate]]
	items := slices.Collect(maps.Keys(base))
	for item := range next {
		if base[item] == nil {
			items = append(items, item)
		}
	}
	slices.Sort(items)
	list := make([]pairing, len(items))
	for i, item := range items {
		c := pairing{item: item, sides: [2]attempts{t.attempts(base[item]), t.attempts(next[item])}}
		n := max(c.sides[baseline].rows, c.sides[candidate].rows, p.trials)
		c.sides[baseline].n, c.sides[candidate].n = n, n
		list[i] = c
	}
	return list
}

// view is what a measure looks at: the cases of the two versions, or a slice of them, and how intervals are made.
type view struct {
	scheme
	fixed   bool // the cases are a fixed list
	planned bool // a plan fixes the numbers of cases and trials
	names   [2]string
	cases   []pairing
	unknown int // cases left out because a column of the slice is not recorded
	broken  string
	alike   [2]alike // whether the versions' trials look like copies of one
	judging policy.Judging
	labels  map[string]string
}

// side lists the trials of one version.
func (v *view) side(role int) []attempts {
	list := make([]attempts, len(v.cases))
	for i := range v.cases {
		list[i] = v.cases[i].sides[role]
	}
	return list
}

// sliced is the view of the cases that a rule's `where` keeps.
func (v *view) sliced(t *Tally, terms []gate.Term, name string) *view {
	if len(terms) == 0 {
		return v
	}
	part := *v
	part.labels = map[string]string{"where": name}
	part.cases, part.unknown = nil, 0
	for _, c := range v.cases {
		in, unknown := true, false
		for _, term := range terms {
			p := t.cases[c.item][term.Column]
			recorded := p.pos != (diag.Pos{})
			unknown = unknown || !recorded
			in = in && (!recorded || p.value == term.Value)
		}
		switch {
		case !in:
		case unknown:
			part.unknown++
		default:
			part.cases = append(part.cases, c)
		}
	}
	return &part
}

// label returns a measure's labels: the slice's and the given ones.
func (v *view) label(pairs ...string) map[string]string {
	labels := maps.Clone(v.labels)
	for i := 0; i < len(pairs); i += 2 {
		if labels == nil {
			labels = map[string]string{}
		}
		labels[pairs[i]] = pairs[i+1]
	}
	return labels
}

// quotient returns num/(den·one) rounded once. den is positive.
func (s scheme) quotient(num *big.Int, den int) float64 {
	const exact = 1 << 53 // up to here whole numbers are float64s
	if num.IsInt64() && !s.scored && max(num.Int64(), -num.Int64()) <= exact && den <= exact {
		return float64(num.Int64()) / float64(den)
	}
	d := new(big.Int).Mul(s.one, big.NewInt(int64(den)))
	x, _ := new(big.Rat).SetFrac(num, d).Float64()
	return x
}

// best is the sum of a case's results where every missing trial came out best.
func (s scheme) best(a attempts) *big.Int {
	missing := big.NewInt(int64(a.missing()))
	return missing.Add(missing.Mul(missing, s.one), a.sum)
}
