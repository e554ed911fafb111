package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
)

// AnchoringShape is what a labelling is taken to look like. With one annotator, or `per: item`, the number of blind items is what is
// searched for; where each annotator counts once, the number of annotators.
type AnchoringShape struct {
	Annotators      int     // 1, or several, of whom each then counts once unless the rule says otherwise
	Blind           int     // items that each labels blind, where annotators are searched for
	Visible         int     // visible items for each blind one
	Spread          float64 // how far annotators' own rates lie from their mean: half of them so far above, half below
	BlindAgreement  float64 // of which a gap is measured
	PeopleAgreement float64 // how often two people agree, for model_minus_people
	Missing         float64 // the share of labels that are not recorded
}

// Where the search for a number of annotators and of blind items that are simulated ends.
const (
	mostPlannedAnnotators = 4096
	mostPlannedItems      = 20_000
)

// Check implements Shape.
func (a AnchoringShape) Check() error {
	switch {
	case a.Annotators < 1:
		return fmt.Errorf("--annotators is %d; one at least", a.Annotators)
	case a.Blind < 1 || a.Blind > 10_000:
		return fmt.Errorf("--blind is %d; from 1 to 10000 items of each annotator are allowed", a.Blind)
	case a.Visible < 1 || a.Visible > 1000:
		return fmt.Errorf("--visible is %d; from 1 to 1000 visible items for each blind one are allowed", a.Visible)
	}
	return firstError(checkShare("--spread", a.Spread), checkShare("--blind-agreement", a.BlindAgreement), checkShare("--people-agreement", a.PeopleAgreement),
		checkMissing(a.Missing))
}

// labelPlan is what a policy says of the items.
type labelPlan struct {
	corpus int    // of the section or a rule; 0: not given
	own    int    // the corpus that the rule at hand speaks of; 0: none
	valid  int    // items that have to rest
	per    string // what counts once: "person", "item" or "label"
	floor  int
}

// labelPlan reads it.
func (a AnchoringShape) labelPlan(s *Subject, rule int) labelPlan {
	r := &s.Rules[rule]
	l := labelPlan{corpus: s.Section.Map.Int("corpus_size", 1, math.MaxInt32).Value, valid: s.Section.Map.Int("valid_items", 1, math.MaxInt32).Value,
		floor: s.Section.Map.Int("minimum_blind_sample", 1, math.MaxInt32).Value, per: r.Map.Text("per").Value}
	for i := range s.Rules {
		if own := s.Rules[i].Map.Int("corpus_size", 1, math.MaxInt32).Value; own > 0 && l.corpus == 0 {
			l.corpus = own
		}
	}
	if l.floor == 0 {
		l.floor = 20
	}
	if l.per == "" {
		l.per = "item"
		if a.Annotators > 1 {
			l.per = "person"
		}
	}
	if r.Metric.Value == "blind_agreement" && l.per == "item" && r.Where == nil {
		l.own = r.Map.Int("corpus_size", 1, math.MaxInt32).Value
		if l.own == 0 {
			l.own = s.Section.Map.Int("corpus_size", 1, math.MaxInt32).Value
		}
	}
	return l
}

// labelRates are the metrics that are shares of labels, in words.
var labelRates = map[string]string{
	"blind_agreement":   "the true share of blind labels that agree with the model",
	"visible_agreement": "the true share of visible labels that agree with the model",
	"acceptance_rate":   "the true share of suggestions that are accepted",
	"verify_acceptance": "the true share of answers that are kept where people are asked to verify",
}

// Truths implements Shape.
func (a AnchoringShape) Truths(s *Subject, rule int) (Truths, error) {
	r := &s.Rules[rule]
	t := Truths{Upper: 1, Threshold: r.Threshold.Value.Value, Above: r.Threshold.Kind == policy.Minimum, What: labelRates[r.Metric.Value]}
	switch r.Metric.Value {
	case "anchoring_gap":
		t.Lower, t.Signed, t.What = -1, true, "the true gap (visible minus blind agreement)"
	case "model_minus_people":
		t.Lower, t.Signed, t.What = -1, true, "the model's agreement with people minus that of people with each other"
	case "people_agreement":
		t.What = "the true share of pairs of people who agree"
	}
	return t, nil
}

// Tracks implements Shape.
func (a AnchoringShape) Tracks(s *Subject, rule int, d Drawing) ([]Way, error) {
	r := &s.Rules[rule]
	l := a.labelPlan(s, rule)
	metric := r.Metric.Value
	track := Track{Unit: "blind items", Least: 1, Most: mostPlannedItems}
	if labelRates[metric] != "" && metric != "blind_agreement" {
		track.Unit = "labels"
	}
	if l.corpus > 0 {
		track.Most = min(track.Most, l.corpus-l.valid)
		track.Limit = fmt.Sprintf("the corpus has %s", many(l.corpus, "item"))
	}
	if track.Unit == "blind items" {
		track.Assumes = append(track.Assumes, "The blind items are drawn at random, before the first label.")
	} else if l.per != "person" {
		track.Assumes = append(track.Assumes, "Each label is of another item.")
	}
	switch {
	case metric == "people_agreement" || metric == "model_minus_people":
		track.Assumes = append(track.Assumes, "Two people label each of the items blind.")
		if metric == "model_minus_people" {
			track.Assumes = append(track.Assumes, fmt.Sprintf("They agree with each other on %s of the items (--people-agreement).", briefly(a.PeopleAgreement)))
		}
		return a.simulatedWays(s, rule, d, l, track, a.pairs(s, rule, l), 2), nil
	case l.per == "person":
		track.Unit, track.Least, track.Most = "annotators", 2, mostPlannedAnnotators
		if l.corpus > 0 {
			track.Most = max(2, min(track.Most, (l.corpus-l.valid)/(a.Blind*(1+a.Visible))))
		}
		track.Assumes = append(track.Assumes, fmt.Sprintf("Each annotator labels %s blind (--blind).", many(a.Blind, "item")),
			fmt.Sprintf("Half of the annotators have a rate %.4g above the mean, half below; less where the mean is nearer to 0 or 1 (--spread).", a.Spread))
		if metric == "anchoring_gap" {
			track.Assumes = append(track.Assumes, a.assumesGap())
		} else if metric != "blind_agreement" {
			track.Assumes[len(track.Assumes)-2] = fmt.Sprintf("Each annotator gives %s of the kind (--blind).", many(a.Blind, "label"))
		}
		return a.simulatedWays(s, rule, d, l, track, a.people(s, rule, l), a.Annotators), nil
	case metric == "anchoring_gap":
		track.Most = mostPlannedItems / (1 + a.Visible)
		if l.corpus > 0 {
			track.Most = max(1, min(track.Most, (l.corpus-l.valid)/(1+a.Visible)))
		}
		track.Assumes = append(track.Assumes, "One annotator.", a.assumesGap())
		return a.simulatedWays(s, rule, d, l, track, a.items(s, rule, l), 0), nil
	}
	if l.own > 0 {
		return []Way{{Track: a.ofCorpus(s, rule, l, track)}}, nil
	}
	if a.Annotators > 1 && l.per == "item" {
		track.Assumes = append(track.Assumes, "Each item is labelled once; the rule speaks of these annotators, as the items were assigned to them.")
	}
	track.Assumes = append(track.Assumes, assumesMissing(a.Missing, "labels")...)
	track.Most = min(mostCounted, max(1, track.Most))
	if l.corpus == 0 {
		track.Most = mostCounted
	}
	at := func(size int) (*Subject, error) { return s.withNumbers(numberAt{plannedPos(r), size}) }
	return []Way{{Declared: plannedOf(r), Track: counting(track, a.Missing, at, rule, func(at *Subject, events, missing, n int) Study {
		return a.counted(at, rule, l, events, missing, n)
	})}}, nil
}

// assumesGap says where a gap is.
func (a AnchoringShape) assumesGap() string {
	return fmt.Sprintf("Blind labels agree %s of the time (--blind-agreement); for each blind item there are %d visible ones (--visible).", briefly(a.BlindAgreement), a.Visible)
}

// simulatedWays is a track of simulated studies, and the one with the number fixed first. declared is what the command line says; 0 for
// nothing.
func (a AnchoringShape) simulatedWays(s *Subject, rule int, d Drawing, l labelPlan, track Track, draw func(r *rand.Rand, size int, truth float64) [][]string, declared int) []Way {
	r := &s.Rules[rule]
	track.Assumes = append(track.Assumes, assumesMissing(a.Missing, "labels")...)
	if track.Limit == "" {
		track.Limit = "larger studies are not simulated"
	}
	track.Possible = func(truth float64) error { return a.possible(r.Metric.Value, truth) }
	odds := func(s *Subject) func(context.Context, int, []float64, int) ([]Odds, error) {
		return func(ctx context.Context, size int, truths []float64, runs int) ([]Odds, error) {
			at, err := s.withNumbers(numberAt{plannedPos(&s.Rules[rule]), size})
			if err != nil {
				return nil, err
			}
			return simulated(ctx, at, rule, d, runs, truths, func(r *rand.Rand, truth float64) Study { return at.labelled(rule, l, draw(r, size, truth)) })
		}
	}
	track.Odds = odds(s)
	way := Way{Track: track, Declared: plannedOf(r)}
	if way.Declared == 0 && declared > 2 {
		way.Declared = declared
	}
	ways := []Way{way}
	if declared == 0 { // a gap of one annotator's items, which has two numbers of units
		return ways
	}
	if once := onceWay(s, rule, track, odds); once != nil {
		ways = append(ways, *once)
	}
	return ways
}

// possible says what is wrong with a truth.
func (a AnchoringShape) possible(metric string, truth float64) error {
	switch metric {
	case "anchoring_gap":
		visible := a.BlindAgreement + truth
		if err := checkChance("the visible agreement", visible, visible); err != nil {
			return fmt.Errorf("%w: with a blind agreement of %v (--blind-agreement), the gap lies between %.4g and %.4g", err, a.BlindAgreement, -a.BlindAgreement, 1-a.BlindAgreement)
		}
	case "model_minus_people":
		p := a.PeopleAgreement
		most := float64((1 - p) / 2)
		least := most - p // where two people agree, the model agrees with both or with neither; else with one of the two
		if truth < least-slack || truth > most+slack {
			return fmt.Errorf("where two people agree %v of the time (--people-agreement) and there are two labels, it lies between %.4g and %.4g", p, least, most)
		}
	}
	return checkChance("the rate", min(0, truth), truth)
}

// The columns of drawn labels, in this order.
var labelColumns = []string{"item", "annotator", "suggestion", "label", "visibility", "kind", "accepted"}

// row is a label: whether it agrees with the suggestion, or is missing.
func labelRow(item, annotator string, blind, agrees, missing bool) []string {
	row := []string{item, annotator, "yes", "yes", "visible", "", ""}
	if !agrees {
		row[3] = "no"
	}
	if missing {
		row[3] = ""
	}
	if blind {
		row[4] = "blind"
	}
	return row
}

// ofMetric makes a row one that a metric counts.
func ofMetric(metric string, row []string, agrees, missing bool) []string {
	switch metric {
	case "acceptance_rate":
		row[6] = digit(agrees)
		if missing {
			row[6] = ""
		}
	case "verify_acceptance":
		row[5] = "verify"
	}
	return row
}

// counted is a study of n labels of one annotator, each of another item, so many of which agree and so many are missing.
func (a AnchoringShape) counted(s *Subject, rule int, l labelPlan, events, missing, n int) Study {
	metric := s.Rules[rule].Metric.Value
	names, people := numbered("i", n), numbered("a", a.Annotators)
	rows := make([][]string, n)
	for i, name := range names {
		agrees, lost := i < events, i >= n-missing
		rows[i] = ofMetric(metric, labelRow(name, people[i%len(people)], metric == "blind_agreement", agrees, lost), agrees, lost)
	}
	return s.labelled(rule, l, rows)
}

// labelled writes rows of labels into the inputs of the subject, with a draw that has their items, and the rest of the corpus.
func (s *Subject) labelled(rule int, l labelPlan, drawn [][]string) Study {
	study := make(Study, len(s.Columns))
	items, blind := []string{}, map[string]bool{}
	for _, row := range drawn {
		columns := s.Columns[0]
		out := make([]string, len(columns))
		for i, at := range places(columns, labelColumns...) {
			set(out, at, row[i])
		}
		s.sliceTexts(rule, 0, out)
		study[0] = append(study[0], out)
		if _, found := blind[row[0]]; !found {
			items = append(items, row[0])
		}
		blind[row[0]] = row[4] == "blind"
	}
	for input, role := range s.Roles {
		if role != "draw" {
			continue
		}
		for i := len(items); i < l.corpus; i++ {
			items = append(items, "rest"+strconv.Itoa(i))
		}
		for _, item := range items {
			row := make([]string, len(s.Columns[input]))
			set(row, slices.Index(s.Columns[input], "item"), item)
			set(row, slices.Index(s.Columns[input], "visibility"), map[bool]string{true: "blind", false: "visible"}[blind[item]])
			study[input] = append(study[input], row)
		}
	}
	return study
}

// ofCorpus plans a rule on what rests of a corpus: exact, by drawing without replacement from a corpus of which the stated share agrees.
func (a AnchoringShape) ofCorpus(s *Subject, rule int, l labelPlan, t Track) Track {
	r := &s.Rules[rule]
	t.Exact, t.Least, t.Most, t.Every = true, 1, max(1, l.own-max(1, l.valid)), 1000
	t.Limit = "the rule speaks of the items of the corpus that are not drawn"
	var last *turns // at the size that was asked about before
	t.Assumes = append(t.Assumes, fmt.Sprintf("The corpus has %s, of which the stated share agree, to the nearest item; the rule speaks of those that are not drawn.", many(l.own, "item")))
	t.Assumes = append(t.Assumes, assumesMissing(a.Missing, "labels")...)
	t.Possible = func(truth float64) error { return checkChance("the share", truth, truth) }
	t.Odds = func(ctx context.Context, n int, truths []float64, _ int) ([]Odds, error) {
		missing := unrecorded(a.Missing, n)
		var guess *turns
		if last != nil {
			guess = last.near(n - missing)
		}
		found, err := findTurns(n-missing, r.Threshold.Kind == policy.Minimum, guess, func(events int) (report.Rule, error) {
			if ctx.Err() != nil {
				return report.Rule{}, context.Cause(ctx)
			}
			return s.Judge(a.counted(s, rule, l, events, missing, n), rule)
		})
		if err != nil {
			return nil, err
		}
		last = &found
		list := make([]Odds, len(truths))
		for i, p := range truths {
			list[i] = found.odds(drawnLaw(int(math.Round(float64(p*float64(l.own)))), n-missing, l.own))
		}
		return list, nil
	}
	return t
}

// items draws one annotator's labels for a gap: n blind ones and the visible ones beside them.
func (a AnchoringShape) items(s *Subject, rule int, l labelPlan) func(r *rand.Rand, n int, truth float64) [][]string {
	return func(r *rand.Rand, n int, truth float64) [][]string {
		var rows [][]string
		for i := range n {
			rows = append(rows, a.beside(r, "i"+strconv.Itoa(i), "a0", a.BlindAgreement, a.BlindAgreement+truth)...)
		}
		return rows
	}
}

// beside draws a blind label and the visible ones beside it.
func (a AnchoringShape) beside(r *rand.Rand, item, person string, blind, visible float64) [][]string {
	rows := [][]string{labelRow(item, person, true, happens(r, blind), happens(r, a.Missing))}
	for v := range a.Visible {
		rows = append(rows, labelRow(item+"v"+strconv.Itoa(v), person, false, happens(r, visible), happens(r, a.Missing)))
	}
	return rows
}

// people draws the labels of annotators who each have items and a rate of their own.
func (a AnchoringShape) people(s *Subject, rule int, l labelPlan) func(r *rand.Rand, n int, truth float64) [][]string {
	metric := s.Rules[rule].Metric.Value
	return func(r *rand.Rand, n int, truth float64) [][]string {
		middle := truth
		if metric == "anchoring_gap" {
			middle = a.BlindAgreement
		}
		own := Spread(middle, min(a.Spread, middle, 1-middle))
		if metric == "anchoring_gap" { // both sides move together
			own = Spread(middle, max(0, min(a.Spread, middle, 1-middle, middle+truth, 1-middle-truth)))
		}
		var rows [][]string
		for p, person := range numbered("a", n) {
			rate := own.draw(r)
			for i := range a.Blind {
				item := fmt.Sprintf("i%d-%d", p, i)
				if metric == "anchoring_gap" {
					rows = append(rows, a.beside(r, item, person, rate, rate+truth)...)
					continue
				}
				agrees, missing := happens(r, rate), happens(r, a.Missing)
				rows = append(rows, ofMetric(metric, labelRow(item, person, metric == "blind_agreement", agrees, missing), agrees, missing))
			}
		}
		return rows
	}
}

// pairs draws items that two people label blind, with two labels to choose from.
func (a AnchoringShape) pairs(s *Subject, rule int, l labelPlan) func(r *rand.Rand, n int, truth float64) [][]string {
	metric := s.Rules[rule].Metric.Value
	return func(r *rand.Rand, n int, truth float64) [][]string {
		together, model := truth, 1.0 // how often two people agree, and then with the model
		if metric == "model_minus_people" {
			if together = a.PeopleAgreement; together > 0 {
				model = (truth + together - float64((1-together)/2)) / together
			}
		}
		var rows [][]string
		for _, item := range numbered("i", n) {
			first := happens(r, model)
			second := first
			if !happens(r, together) {
				first = happens(r, 0.5)
				second = !first
			}
			rows = append(rows, labelRow(item, "a0", true, first, happens(r, a.Missing)), labelRow(item, "a1", true, second, happens(r, a.Missing)))
		}
		return rows
	}
}
