package audit

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// HumanAIShape is what a study of people is taken to look like; the number of people is what is searched for.
type HumanAIShape struct {
	Cases          int     // that each person decides
	Spread         float64 // how far people's gains, or their own rates, lie from their mean: half of them so far above, half below
	CaseSpread     float64 // the same of what a case adds to the gain; for `generalize: people_and_cases`
	Baseline       float64 // the accuracy without the system's output
	SystemAccuracy float64 // the system's own
	Design         string  // before_after (everyone decides every case without, then with) or crossed; "": the policy's, else crossed
	Missing        float64 // the share of decisions that are not recorded
}

// mostPlannedPeople is where the search for a number of people ends: a study of more is not simulated.
const mostPlannedPeople = 2048

// Check implements Shape.
func (h HumanAIShape) Check() error {
	if h.Cases < 2 || h.Cases > 10_000 {
		return fmt.Errorf("--cases is %d; from 2 to 10000 of each person can be planned", h.Cases)
	}
	return firstError(checkShare("--spread", h.Spread), checkShare("--case-spread", h.CaseSpread), checkShare("--baseline-accuracy", h.Baseline),
		checkShare("--system-accuracy", h.SystemAccuracy), checkMissing(h.Missing))
}

// checkMissing reports a share that cannot be missing.
func checkMissing(x float64) error {
	if !(x >= 0 && x < 1) {
		return fmt.Errorf("--missing is %v; a number from 0 to below 1 is allowed", x)
	}
	return nil
}

// checkShare reports a share outside of 0 to 1.
func checkShare(flag string, x float64) error {
	if !(x >= 0 && x <= 1) {
		return fmt.Errorf("%s is %v; a number from 0 to 1 is allowed", flag, x)
	}
	return nil
}

// ownRate are the metrics that count decisions of some kind: which ones, and when a decision is one of them.
var ownRates = map[string]struct {
	without bool   // decisions without the output; else with it
	system  string // "wrong" or "right": only where the system is so; "" for all
	what    string
}{
	"agreement":        {what: "the true share of decisions that agree with the system"},
	"over_reliance":    {system: "wrong", what: "the true share of decisions that follow the system where it is wrong"},
	"correct_override": {system: "wrong", what: "the true share of right decisions where the system is wrong"},
	"harmful_override": {system: "right", what: "the true share of decisions that depart from the system where it is right"},
	"accuracy_with":    {what: "the true accuracy with the system's output"},
	"accuracy_without": {without: true, what: "the true accuracy without the system's output"},
	"system_accuracy":  {what: "the system's true accuracy"},
}

// Truths implements Shape.
func (h HumanAIShape) Truths(s *Subject, rule int) (Truths, error) {
	r := &s.Rules[rule]
	t := Truths{Lower: 0, Upper: 1, Threshold: r.Threshold.Value.Value, Above: r.Threshold.Kind == policy.Minimum}
	if r.Metric.Value == "accuracy_difference" {
		t.Lower, t.Signed, t.What = -1, true, "the true difference of accuracy (with minus without)"
		return t, nil
	}
	t.What = ownRates[r.Metric.Value].what
	if r.Map.Text("per").Set {
		t.What += " (on average over people)"
	}
	return t, nil
}

// Tracks implements Shape.
func (h HumanAIShape) Tracks(s *Subject, rule int, d Drawing) ([]Way, error) {
	r := &s.Rules[rule]
	if r.Metric.Value != "accuracy_difference" && !r.Map.Text("per").Set {
		return []Way{{Track: h.counted(s, rule)}}, nil
	}
	if h.Design == "" {
		h.Design = s.Section.Map.Text("design").Value
	}
	generalize := r.Map.Text("generalize").Set
	track := Track{Unit: "people", Least: 2, Most: min(mostPlannedPeople, max(64, 200_000/h.Cases))}
	var model func(people int, truth float64) Model
	if r.Metric.Value == "accuracy_difference" {
		model = func(people int, truth float64) Model { return h.study(people, truth, generalize) }
		track.Assumes = h.assumesGains(generalize)
	} else {
		model = func(people int, truth float64) Model {
			return ownRateStudy{HumanAIShape: h, metric: r.Metric.Value, people: people, truth: truth}
		}
		track.Assumes = h.assumesRates(r.Metric.Value)
	}
	track.Possible = func(truth float64) error {
		err := model(2, truth).Check()
		if err != nil && r.Metric.Value == "accuracy_difference" {
			err = fmt.Errorf("%w: with --baseline-accuracy %v and gains that lie %v around it (--spread), so large a difference cannot be", err, h.Baseline, h.Spread)
		}
		return err
	}
	track.Limit = "larger studies are not simulated"
	odds := func(s *Subject) func(ctx context.Context, size int, truths []float64, runs int) ([]Odds, error) {
		return func(ctx context.Context, size int, truths []float64, runs int) ([]Odds, error) {
			at, err := s.withNumbers(numberAt{plannedPos(&s.Rules[rule]), size})
			if err != nil {
				return nil, err
			}
			return simulated(ctx, at, rule, d, runs, truths, func(r *rand.Rand, truth float64) Study {
				study := model(size, truth).Draw(r, s.Columns[0]).Study
				return at.complete(rule, study)
			})
		}
	}
	track.Odds = odds(s)
	if generalize {
		track.Limit = "with more people than cases nothing is gained (--cases)"
		track.Most = min(track.Most, h.Cases) // with more people than cases its pairs are no more, and its interval is wider
	}
	ways := []Way{{Track: track, Declared: plannedOf(r)}}
	if once := onceWay(s, rule, track, odds); once != nil && !generalize {
		ways = append(ways, *once)
	}
	return ways, nil
}

// plannedOf is the number of units that a rule plans; 0 for none.
func plannedOf(r *policy.Rule) int {
	if r.Looks.Value == policy.LooksOnce {
		return r.Planned.Value
	}
	return 0
}

// complete writes the columns that a rule slices by into a study's rows.
func (s *Subject) complete(rule int, study Study) Study {
	if len(s.Rules[rule].Where) > 0 {
		for _, row := range study[0] {
			s.sliceTexts(rule, 0, row)
		}
	}
	return study
}

// study is the model of a study on accuracy_difference.
func (h HumanAIShape) study(people int, truth float64, generalize bool) HumanAI {
	m := HumanAI{BeforeAfter: h.beforeAfter(), People: people, Cases: h.Cases, Skills: Points{{h.Baseline, 1}}, Gains: Spread(truth, h.Spread),
		SystemAccuracy: h.SystemAccuracy, MissingRight: h.Missing, MissingWrong: h.Missing}
	if generalize {
		m.CaseGains = Spread(0, h.CaseSpread)
	}
	return m
}

// beforeAfter reports the one design; else it is crossed.
func (h HumanAIShape) beforeAfter() bool { return h.Design == "before_after" }

// design is the study's design in words.
func (h HumanAIShape) design() string {
	if h.beforeAfter() {
		return fmt.Sprintf("Each person decides %d cases without the output, then with it (--cases, --design).", h.Cases)
	}
	return fmt.Sprintf("Each person decides %d cases, half of them with the output (--cases, --design).", h.Cases)
}

// missing says how much is not recorded.
func assumesMissing(share float64, what string) []string {
	if share == 0 {
		return []string{"Nothing is missing (--missing)."}
	}
	return []string{fmt.Sprintf("%s of the %s are not recorded, whatever they are (--missing).", briefly(share), what)}
}

// briefly writes a share in per cent.
func briefly(x float64) string { return fmt.Sprintf("%.4g %%", 100*x) }

// assumesGains is what accuracy_difference is planned under.
func (h HumanAIShape) assumesGains(generalize bool) []string {
	list := []string{h.design(), fmt.Sprintf("They are right %s of the time without it (--baseline-accuracy).", briefly(h.Baseline)),
		fmt.Sprintf("Half of the people gain %.4g more than the mean, half %.4g less (--spread).", h.Spread, h.Spread)}
	if generalize {
		list = append(list, fmt.Sprintf("The same cases for everyone; half of them add %.4g to the gain, half take it (--case-spread). More people than cases do not help, so with --cases the number that is looked at grows too.", h.CaseSpread))
	}
	return append(list, assumesMissing(h.Missing, "decisions")...)
}

// assumesRates is what a rate per person is planned under.
func (h HumanAIShape) assumesRates(metric string) []string {
	list := []string{h.design(), fmt.Sprintf("Half of the people have a rate %.4g above the mean, half below; less where the mean is nearer to 0 or 1 (--spread).", h.Spread)}
	if ownRates[metric].system != "" {
		list = append(list, fmt.Sprintf("The system is right on %s of the cases (--system-accuracy).", briefly(h.SystemAccuracy)))
	}
	return append(list, assumesMissing(h.Missing, "decisions")...)
}

// ownRateStudy is a study of people who each have a rate of their own of what a metric counts.
type ownRateStudy struct {
	HumanAIShape
	metric string
	people int
	truth  float64
}

// Gate implements Model.
func (ownRateStudy) Gate() string { return "human-ai" }

// Settings implements Model.
func (m ownRateStudy) Settings() string { return HumanAI{BeforeAfter: m.beforeAfter()}.Settings() }

// Check implements Model.
func (m ownRateStudy) Check() error {
	system := ownRates[m.metric].system
	if system == "wrong" && m.SystemAccuracy == 1 || system == "right" && m.SystemAccuracy == 0 {
		return fmt.Errorf("%s counts decisions where the system is %s, and with --system-accuracy %v there are none", m.metric, system, m.SystemAccuracy)
	}
	return checkChance("the rate", m.truth, m.truth)
}

// Draw implements Model.
func (m ownRateStudy) Draw(r *rand.Rand, columns []string) Drawn {
	kind := ownRates[m.metric]
	at := places(columns, "case", "reviewer", "condition", "decision", "reference", "ai_output")
	cases, people := numbered("c", m.Cases), numbered("p", m.people)
	right := make([]bool, m.Cases)
	for i := range right {
		right[i] = happens(r, m.SystemAccuracy)
	}
	own := Spread(m.truth, min(m.Spread, m.truth, 1-m.truth))
	var rows [][]string
	for _, person := range people {
		rate := own.draw(r)
		order := r.Perm(m.Cases)
		for j, item := range cases {
			counts := kind.system == "" || (kind.system == "right") == right[j]
			for _, with := range []bool{false, true} {
				if !m.beforeAfter() && with != (order[j] < m.Cases/2) {
					continue
				}
				row := make([]string, len(columns))
				event := happens(r, rate)
				decision := "yes" // the reference
				if with == !kind.without && counts {
					decision = decisionOf(m.metric, event, right[j])
				}
				if m.Missing > 0 && happens(r, m.Missing) {
					decision = ""
				}
				set(row, at[0], item)
				set(row, at[1], person)
				set(row, at[3], decision)
				set(row, at[4], "yes")
				set(row, at[2], "without")
				if with {
					set(row, at[2], "with")
					set(row, at[5], map[bool]string{true: "yes", false: "no"}[right[j]])
				}
				rows = append(rows, row)
			}
		}
	}
	return Drawn{Study{rows}, Truth{m.metric: m.truth}}
}

// decisionOf is the decision that is, or is not, an event of a metric on a case of which the reference is "yes".
func decisionOf(metric string, event, systemRight bool) string {
	right := event
	switch metric {
	case "agreement":
		right = event == systemRight
	case "over_reliance", "harmful_override":
		right = !event
	}
	if right {
		return "yes"
	}
	return "no"
}

// counted is the track of a rate over decisions, each by another person on another case, or of system_accuracy over cases.
func (h HumanAIShape) counted(s *Subject, rule int) Track {
	metric := s.Rules[rule].Metric.Value
	kind := ownRates[metric]
	t := Track{Unit: "decisions", Least: 1, Most: mostCounted, Exact: true}
	if metric == "system_accuracy" {
		t.Unit = "cases"
	} else {
		t.Assumes = append(t.Assumes, "Each decision is another person's, on another case: else the rule comes to MANUAL_REVIEW, and `per: person` is for it.")
		if kind.system != "" {
			t.Unit = "decisions where the system is " + kind.system
			t.Share = h.SystemAccuracy
			if kind.system == "wrong" {
				t.Share = 1 - h.SystemAccuracy
			}
			t.Assumes = append(t.Assumes, fmt.Sprintf("Counted are the decisions where the system is %s; it is right on %s of the cases (--system-accuracy).", kind.system, briefly(h.SystemAccuracy)))
		}
	}
	t.Assumes = append(t.Assumes, assumesMissing(h.Missing, "decisions")...)
	planned := func(size int) (*Subject, error) { return s.withNumbers(numberAt{plannedPos(&s.Rules[rule]), size}) }
	return counting(t, h.Missing, planned, rule, func(s *Subject, events, missing, n int) Study {
		at := places(s.Columns[0], "case", "reviewer", "condition", "decision", "reference", "ai_output")
		rows := make([][]string, n)
		cases, people := numbered("c", n), numbered("p", n)
		for i := range rows {
			row := make([]string, len(s.Columns[0]))
			systemRight := kind.system != "wrong"
			decision := decisionOf(metric, i < events, systemRight)
			if metric == "system_accuracy" {
				decision, systemRight = "yes", i < events
			}
			if i >= n-missing && metric != "system_accuracy" {
				decision = ""
			}
			set(row, at[0], cases[i])
			set(row, at[1], people[i])
			set(row, at[2], map[bool]string{true: "without", false: "with"}[kind.without])
			set(row, at[3], decision)
			set(row, at[4], "yes")
			if !kind.without {
				set(row, at[5], map[bool]string{true: "yes", false: "no"}[systemRight])
			}
			rows[i] = row
		}
		return s.complete(rule, Study{rows})
	})
}

// mostCounted is where the search for a number of counted units ends.
const mostCounted = 1 << 17

// counting completes a track of independent units that are 0 or 1, of which a share is missing: exact, by the numbers of events at
// which the rule turns. at is the subject at a size; study makes a study of n units, so many of them events and so many missing.
func counting(t Track, missing float64, at func(size int) (*Subject, error), rule int, study func(at *Subject, events, missing, n int) Study) Track {
	t.Exact, t.Dips = true, 200
	var last *turns // at the size that was asked about before
	t.Possible = func(truth float64) error { return checkChance("the rate", truth, truth) }
	t.Odds = func(ctx context.Context, size int, truths []float64, _ int) ([]Odds, error) {
		s, err := at(size)
		if err != nil {
			return nil, err
		}
		unknown := unrecorded(missing, size)
		var guess *turns
		if last != nil {
			guess = last.near(size - unknown)
		}
		found, err := findTurns(size-unknown, s.Rules[rule].Threshold.Kind == policy.Minimum, guess, func(events int) (report.Rule, error) {
			if ctx.Err() != nil {
				return report.Rule{}, context.Cause(ctx)
			}
			return s.Judge(study(s, events, unknown, size), rule)
		})
		if err != nil {
			return nil, err
		}
		last = &found
		list := make([]Odds, len(truths))
		for i, p := range truths {
			list[i] = found.odds(binomialLaw(size-unknown, p))
		}
		return list, nil
	}
	return t
}

// unrecorded is how many of n units a share is, to the nearest whole number.
func unrecorded(share float64, n int) int { return min(n, int(float64(share*float64(n))+0.5)) }
