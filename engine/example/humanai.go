package example

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"
	"time"

	"github.com/oloproof/oloproof/engine/study"
)

// HumanAISeed is the seed of the embedded human-ai/decisions.csv: the first from 2026 on for which people's accuracy alone
// and with the system and their agreement with its errors lie within two points of the generator's averages, decisions are
// missing in both conditions, and every person met an error of the system. The verdicts had no part in the choice.
const HumanAISeed = 2028

// The labels that claims are sorted into.
const (
	supported = "supported"
	refuted   = "refuted"
)

// claim is a sentence to sort, with what research says about it.
type claim struct {
	text, reference string
}

// claims are the thirty cases. The people and the AI are invented, the claims and their references are not.
var claims = [...]claim{
	{"Water boils at a lower temperature on a high mountain.", supported},
	{"Lightning never strikes the same place twice.", refuted},
	{"Venus is hotter than Mercury, although it is farther from the Sun.", supported},
	{"Sound travels faster in water than in air.", supported},
	{"Adults have more bones than newborn babies.", refuted},
	{"The Great Wall of China can be seen from the Moon with the naked eye.", refuted},
	{"By its rain and snowfall, Antarctica is a desert.", supported},
	{"Bats are blind.", refuted},
	{"Honey, kept sealed and dry, can stay edible for many years.", supported},
	{"Napoleon was unusually short for a Frenchman of his time.", refuted},
	{"Old window panes are thicker at the bottom because glass flows.", refuted},
	{`The word "robot" comes from a Czech play.`, supported},
	{"The seasons come from the Earth being nearer to the Sun in summer.", refuted},
	{"The Eiffel Tower is a little taller in summer than in winter.", supported},
	{"An octopus has three hearts.", supported},
	{"Shaved hair grows back thicker.", refuted},
	{"The first sharks are older than the first trees.", supported},
	{"People use only ten percent of their brains.", refuted},
	{"The Pacific Ocean is larger than all the land of the Earth together.", supported},
	{"A goldfish forgets everything within three seconds.", refuted},
	{"Vikings went into battle in helmets with horns.", refuted},
	{"Most of the Earth's fresh water is held in ice.", supported},
	{"Tomatoes were grown in the Americas before they came to Europe.", supported},
	{`Bulls charge the cape because it is "an angry red".`, refuted},
	{"To a botanist, a banana is a berry.", supported},
	{"Sydney is the capital of Australia.", refuted},
	{"Diamonds can burn.", supported},
	{"Trials have shown that sugar makes children hyperactive.", refuted},
	{"Venus takes longer to turn once about its axis than to go once around the Sun.", supported},
	{"Of all summits, that of Mount Everest is the farthest from the Earth's centre.", refuted},
}

// What the invented study looks like. Chances are per mille; skill and trust differ from person to person.
const (
	people   = 8
	aiErrors = 6 // claims on which the AI is wrong: it is right on 24 of 30, 80 %
	lost     = 3 // decisions that were never recorded

	leastSkill, mostSkill = 660, 800 // chance of being right alone on a claim of middling difficulty
	difficulty            = 120      // how far a claim moves that chance, up or down
	leastTrust, mostTrust = 80, 260  // chance of giving up a right judgement for the AI's wrong answer
	doubt                 = 280      // added to trust when the own judgement is wrong

	timeLimit = 90 * time.Second // after which a claim without a decision makes way for the next
)

// person is one of the invented people, at one moment of their session.
type person struct {
	skill, trust int
	pace         int       // seconds are stretched to so many per cent
	clock        time.Time // when the next claim is shown
}

// newPerson invents a person whose session begins on a working day of one week, between 9:00 and 15:59 UTC.
func newPerson(d dice) *person {
	return &person{
		skill: d.between(leastSkill, mostSkill),
		trust: d.between(leastTrust, mostTrust),
		pace:  d.between(80, 130),
		clock: time.Date(2026, time.September, d.between(14, 18), d.between(9, 15), d.below(60), d.below(60), 0, time.UTC),
	}
}

// decides returns the person's label for a claim, having seen the AI's label or, when ai is empty, none.
func (p *person) decides(d dice, reference, ai string, ease int) string {
	own, follows := reference, p.trust
	if !d.chance(p.skill + ease) {
		own, follows = other(reference), p.trust+doubt
	}
	if ai != "" && ai != own && d.chance(follows) {
		return ai
	}
	return own
}

// thinks returns how long a decision takes: mostly around fifteen seconds, at times much longer, and
// a little longer with an answer to read.
func (p *person) thinks(d dice, ai string) time.Duration {
	seconds := 6 + d.below(8) + d.below(8)*d.below(8)
	if ai != "" {
		seconds += d.between(1, 4)
	}
	return time.Duration(seconds*p.pace/100) * time.Second
}

// other returns the other label.
func other(label string) string {
	if label == supported {
		return refuted
	}
	return supported
}

// HumanAI draws a crossed study in which eight people sort the thirty claims with and without an AI's
// answer, and returns its decisions as CSV: the columns of the human-ai gate, and the claim's text, which the gate ignores.
// The same seed gives the same bytes, and its assignment is the one that study.Assign draws for claim-01 to claim-30, r1 to
// r8 and the seed in decimal digits. It has no error of its own, only those of the assignment and the writer.
//
// Each person has a judgement of their own first, right with a chance made of their skill and the
// claim's difficulty. Shown an answer that differs, they follow it with a chance of their own, more
// often when their judgement was wrong. Averaged over seeds, people are right on 73 % of the
// claims alone and on 80 % with the AI, and agree with it on 39 % of those it gets wrong.
func HumanAI(seed uint64) ([]byte, error) {
	cases, err := study.Names(len(claims), "claim-", 2)
	if err != nil {
		return nil, err
	}
	reviewers, err := study.Names(people, "r", 0)
	if err != nil {
		return nil, err
	}
	assignments, err := study.Assign(cases, reviewers, study.Crossed, strconv.FormatUint(seed, 10))
	if err != nil {
		return nil, err
	}

	d := newDice(seed)
	aiWrong := d.choose(aiErrors, len(claims))
	isLost := d.choose(lost, len(assignments))
	ease := make([]int, len(claims))
	for i := range ease {
		ease[i] = d.between(-difficulty, difficulty)
	}

	rows := [][]string{{"case", "reviewer", "condition", "decision", "reference", "ai_output", "started_at", "decided_at", "claim"}}
	var p *person
	for i, a := range assignments {
		if a.Position == 1 { // assignments come person by person
			p = newPerson(d)
		}
		number := slices.Index(cases, a.Case)
		reference, ai := claims[number].reference, ""
		if a.Condition == study.With {
			ai = reference
			if aiWrong[number] {
				ai = other(reference)
			}
		}
		start := p.clock
		decided := start.Add(p.thinks(d, ai))
		decision, decidedAt := p.decides(d, reference, ai, ease[number]), decided.Format(time.RFC3339)
		if isLost[i] {
			decided = start.Add(timeLimit)
			decision, decidedAt = "", ""
		}
		p.clock = decided.Add(time.Duration(d.between(1, 4)) * time.Second)
		rows = append(rows, []string{a.Case, a.Reviewer, a.Condition, decision, reference, ai,
			start.Format(time.RFC3339), decidedAt, claims[number].text})
	}

	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
