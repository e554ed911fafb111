package policy

import (
	"math/big"
	"strings"

	"github.com/oloproof/oloproof/engine/diag"
)

// What adjust can say: how the rules of a family share the error that one rule has alone.
const (
	AdjustNone       = "none"       // each rule has its own
	AdjustBonferroni = "bonferroni" // each has an equal part of it, so that its interval is wider
	AdjustHolm       = "holm"       // a FAIL has to hold at a part of it that depends on the other rules' FAILs; a PASS needs nothing
)

// Family is the rules that share their error: all counting rules of the run that one line `adjust` holds for. It is fixed by
// the policy, before the data are seen, so that what comes of a rule does not change how many there are.
type Family struct {
	Number int    // of the family in the run, from 1
	Adjust string // AdjustBonferroni or AdjustHolm
	Rules  int    // how many rules it has
	Alone  Number // the rule's confidence by itself
}

// Families are the families of a run, by the place of their `adjust`.
type Families map[diag.Pos]*Family

// NewFamilies finds the families of a run whose questions have these rules. Advisory rules are in none: they decide nothing.
// A confidence that leaves too little error to be divided goes to diags.
func NewFamilies(diags *diag.List, lists ...[]Rule) Families {
	families := Families{}
	each := func(do func(r *Rule)) {
		for _, rules := range lists {
			for i := range rules {
				if r := &rules[i]; !r.Advisory && r.Adjust.Set && r.Adjust.Value != AdjustNone {
					do(r)
				}
			}
		}
	}
	each(func(r *Rule) {
		f := families[r.Adjust.Pos]
		if f == nil {
			f = &Family{Number: len(families) + 1, Adjust: r.Adjust.Value}
			families[r.Adjust.Pos] = f
		}
		f.Rules++
	})
	told := map[diag.Pos]bool{}
	each(func(r *Rule) {
		if f := families[r.Adjust.Pos]; !told[r.Adjust.Pos] && r.Judging.Divided(f.Rules).Confidence.Value >= 1 {
			told[r.Adjust.Pos] = true
			diags.Addf(r.Adjust.Pos, "adjust: with the confidence %s of %s the error that is left cannot be divided by %d rules; lower it, or leave adjust out", r.Confidence.Text, r.Name(), f.Rules)
		}
	})
	return families
}

// Share makes r a member of its family, if it has one: with bonferroni it is then judged at its part of the error.
func (r *Rule) Share(families Families) {
	f := families[r.Adjust.Pos]
	if f == nil || r.Advisory {
		return
	}
	own := *f
	own.Alone = r.Confidence
	r.Family = &own
	if f.Adjust == AdjustBonferroni {
		r.Judging = r.Judging.Divided(f.Rules)
	}
}

// Error is 1 − confidence, exactly: of the decimal as it is written.
func (j Judging) Error() *big.Rat {
	confidence, ok := new(big.Rat).SetString(j.Confidence.Text)
	if !ok {
		confidence = new(big.Rat).SetFloat64(j.Confidence.Value)
	}
	return confidence.Sub(big.NewRat(1, 1), confidence)
}

// errorDigits is how many significant digits a divided error keeps: fewer than a confidence of 1 − error needs in a float64
// up to errors of a millionth, so that what is printed is what was computed with.
const errorDigits = 10

// Divided is the settings of a rule that has the part of its error that falls to each of so many: the confidence is
// 1 − (1 − confidence)/parts, the error rounded down to ten digits. One part is the whole, and changes nothing.
func (j Judging) Divided(parts int) Judging {
	if parts <= 1 {
		return j
	}
	e := j.Error()
	e.Quo(e, big.NewRat(int64(parts), 1))
	scale, ten := big.NewRat(1, 1), big.NewRat(10, 1) // scale is the power of ten that brings e to errorDigits digits before the point
	decimals := 0
	for least := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(errorDigits-1), nil)); e.Sign() > 0 && new(big.Rat).Mul(e, scale).Cmp(least) < 0; decimals++ {
		scale.Mul(scale, ten)
	}
	scaled := new(big.Rat).Mul(e, scale)
	e.SetFrac(new(big.Int).Quo(scaled.Num(), scaled.Denom()), scale.Num())
	confidence := e.Sub(big.NewRat(1, 1), e)
	value, _ := confidence.Float64()
	j.Confidence = Number{Text: strings.TrimRight(confidence.FloatString(decimals), "0"), Value: value, Pos: j.Confidence.Pos, Set: j.Confidence.Set}
	return j
}
