package example

import (
	"bytes"
	"encoding/csv"
	"fmt"
)

// FairnessSeed is the seed of the embedded fairness/decided.csv: the first from 2026 on for which the share selected and
// the share of good loans that are refused, of women and of men, lie within one point of the generator's averages. The
// verdicts had no part in the choice.
const FairnessSeed = 2029

// What the invented loan screen looks like. Chances are per mille.
const (
	applications  = 4000
	unanswered    = 24 // applications to which the screen gave no answer
	ageEmpty      = 40 // applications without an age band
	ageUndeclared = 14 // applications on which a branch wrote "unknown" in its place

	women                = 460      // of all applicants
	youngWomen, youngMen = 400, 320 // of the women, and of the men: under 30
	oldWomen, oldMen     = 14, 230  // 60 and over: few women of that age apply

	sound, risky            = 600, 320 // of all applicants; the others are in between
	leastSound, mostSound   = 850, 995 // their chances of repaying
	leastRisky, mostRisky   = 10, 190
	leastMiddle, mostMiddle = 300, 700

	scoreNoise            = 60       // how far a score lies from the chance at most, one way or the other
	career                = 200      // of the sound women: those in whose career the screen finds a break
	leastDrop, mostDrop   = 400, 600 // what that takes off their score
	leastScore, mostScore = 10, 990
	grantedFrom           = 500 // the least score that is predicted 1
)

// applicant is one of the invented applicants.
type applicant struct {
	sex, age string
	isSound  bool
	repays   int // the chance of repaying the loan
}

// newApplicant invents an applicant.
func newApplicant(d dice) applicant {
	a := applicant{sex: "male", age: "30_to_60"}
	young, old := youngMen, oldMen
	if d.chance(women) {
		a.sex, young, old = "female", youngWomen, oldWomen
	}
	switch band := d.below(1000); {
	case band < young:
		a.age = "under_30"
	case band < young+old:
		a.age = "over_60"
	}
	switch kind := d.below(1000); {
	case kind < sound:
		a.isSound, a.repays = true, d.between(leastSound, mostSound)
	case kind < sound+risky:
		a.repays = d.between(leastRisky, mostRisky)
	default:
		a.repays = d.between(leastMiddle, mostMiddle)
	}
	return a
}

// score is the chance of repaying that the screen gives the applicant, per mille, in whole hundredths: near the true one,
// but for sound women in whose career it finds a break.
func (a applicant) score(d dice) int {
	s := a.repays + d.between(-scoreNoise, scoreNoise)
	if a.sex == "female" && a.isSound && d.chance(career) {
		s -= d.between(leastDrop, mostDrop)
	}
	return min(max(s, leastScore), mostScore) / 10 * 10
}

// Fairness draws the applications of a pilot in which every loan was granted, and what a loan screen would have decided,
// and returns them as CSV: id, label (1 where the loan was repaid), prediction (1 where the screen would have granted it),
// score, sex, age_band. The same seed gives the same bytes. It has no error of its own, only the writer's.
//
// Women and men repay alike, 63 % of their loans, but the screen misses sound women with a break in their career: on
// average over seeds it would refuse 22 % of the loans that women repay and 8 % of those that men do, and grant 54 % and
// 64 % of all. It is right on 81 % of the loans of women and 89 % of those of men.
func Fairness(seed uint64) ([]byte, error) {
	d := newDice(seed)
	noAnswer := d.choose(unanswered, applications)
	noAge := d.choose(ageEmpty+ageUndeclared, applications)
	rows := [][]string{{"id", "label", "prediction", "score", "sex", "age_band"}}
	undeclared := 0
	for i := range applications {
		a := newApplicant(d)
		label := "0"
		if d.chance(a.repays) {
			label = "1"
		}
		s := a.score(d)
		prediction, score := "0", fmt.Sprintf("0.%02d", s/10)
		if s >= grantedFrom {
			prediction = "1"
		}
		if noAnswer[i] {
			prediction, score = "", ""
		}
		if noAge[i] {
			a.age = ""
			if undeclared < ageUndeclared {
				a.age = "unknown"
				undeclared++
			}
		}
		rows = append(rows, []string{fmt.Sprintf("L%04d", i+1), label, prediction, score, a.sex, a.age})
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
