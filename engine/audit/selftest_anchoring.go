package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/oloproof/oloproof/engine/gate/anchoring"
	"github.com/oloproof/oloproof/engine/interval"
)

// The columns of an anchoring study, and of its draw.
const (
	labelItem = iota
	labelAnnotator
	labelSuggestion
	labelLabel
	labelVisibility
	labelKind
	labelAccepted
	labelProbability

	drawItem, drawVisibility, drawProbability = 0, 1, 2
)

// labelling is an anchoring study: labels, and perhaps the draw of the blind items.
type labelling struct {
	*known
	sides []anchoring.Side // of each row
	words []string         // suggestions and labels: what a label can be
	items []item
}

// item is the rows of an item, and whether it is one of the blind ones.
type item struct {
	name  string
	rows  []int
	blind bool
}

// newLabels reads what the rows show.
func newLabels(k *known) (*labelling, error) {
	asked, ok := k.question.(anchoring.Sides)
	if !ok {
		return nil, fmt.Errorf("the question does not tell what its labels are")
	}
	l := &labelling{known: k, sides: make([]anchoring.Side, len(k.study[0]))}
	byLine := asked.Sides()
	seen := map[string]bool{}
	for i, row := range k.study[0] {
		l.sides[i] = byLine[i+1]
		for _, word := range []string{row[labelSuggestion], row[labelLabel]} {
			if word != "" && !seen[word] {
				seen[word], l.words = true, append(l.words, word)
			}
		}
	}
	slices.Sort(l.words)
	drawn := map[string]bool{} // blind, by item
	if len(k.study) > 1 {
		for _, row := range k.study[1] {
			drawn[row[drawItem]] = row[drawVisibility] == "blind"
		}
	}
	withRows := map[string]bool{}
	for _, rows := range groupBy(len(k.study[0]), func(i int) string { return k.study[0][i][labelItem] }) {
		it := item{name: k.study[0][rows[0]][labelItem], rows: rows}
		withRows[it.name] = true
		it.blind = drawn[it.name] || len(k.study) == 1 && slices.ContainsFunc(rows, func(i int) bool { return k.study[0][i][labelVisibility] == "blind" })
		l.items = append(l.items, it)
	}
	if len(k.study) > 1 {
		for _, row := range k.study[1] {
			if row[drawVisibility] == "blind" && !withRows[row[drawItem]] { // drawn and never labelled: missing
				l.items = append(l.items, item{name: row[drawItem], blind: true})
			}
		}
	}
	return l, nil
}

// perPerson reports a rule whose units are annotators.
func (l *labelling) perPerson(rule int) bool { return l.base[rule].UnitName == "annotators" }

// uneven says why items cannot be drawn anew where they were drawn with unequal chances; "" where they can.
func (l *labelling) uneven() string {
	input, column := 0, labelProbability
	if len(l.study) > 1 {
		input, column = 1, drawProbability
	}
	first := ""
	for _, row := range l.study[input] {
		switch {
		case row[column] == "" || row[column] == first:
		case first == "":
			first = row[column]
		default:
			return "its items were drawn with unequal probabilities, and what the others of the corpus hold, which an honest draw would need, is not in the files"
		}
	}
	return ""
}

// chance implements subject.
func (l *labelling) chance(rule int) (*experiment, string) {
	if l.rules[rule].Metric.Value == "anchoring_gap" {
		return l.gap(rule)
	}
	if why := l.uneven(); why != "" && !l.perPerson(rule) {
		return nil, why
	}
	truth := l.estimate(rule)
	if truth == nil {
		return nil, nothingRecorded
	}
	e := &experiment{truth: truth}
	switch iv := l.base[rule].Interval; {
	case l.perPerson(rule):
		if !l.canDrawPeople() {
			return nil, "annotators cannot be drawn anew: the policy gives the size of the corpus, and copies of their items would exceed it"
		}
		e.key, e.null = "draw annotators", "annotators are drawn anew from those of the file, whose own value is the truth"
		e.draw = func(r *rand.Rand) (Study, []float64) { return l.drawPeople(r), nil }
	case iv != nil && iv.Method == interval.MethodHypergeometric:
		e.key, e.truth = fmt.Sprintf("draw corpus %d", l.corpus(rule)), nil
		e.null = fmt.Sprintf("the blind items are drawn anew, without replacement, from a corpus of %d items made of copies of them", l.corpus(rule))
		e.draw = func(r *rand.Rand) (Study, []float64) { return l.drawCorpus(r, l.corpus(rule)) }
	default:
		e.key, e.null = "draw items", "items are drawn anew from those of the file, blind and visible ones apart, whose own value is the truth"
		e.draw = func(r *rand.Rand) (Study, []float64) { return l.drawItems(r), nil }
	}
	return e, ""
}

// corpus is the size of the corpus that a rule speaks of; 0 for none.
func (l *labelling) corpus(rule int) int {
	if own := l.rules[rule].Map.Int("corpus_size", 1, 1<<30); own.Set {
		return own.Value
	}
	n, _ := strconv.Atoi(l.settings["corpus_size"]) // a whole number, or not there
	return n
}

// gap returns the experiment of a rule on the gap.
func (l *labelling) gap(rule int) (*experiment, string) {
	within := l.perPerson(rule)
	if within {
		both := false
		for _, own := range l.pools(true) {
			sides := map[anchoring.Side]bool{}
			for _, i := range own {
				sides[l.sides[i]] = true
			}
			both = both || len(sides) > 1
		}
		if !both {
			return nil, "every annotator labelled on one side only, and a shuffle would have to move whole people to the other"
		}
	}
	e := &experiment{key: fmt.Sprint("shuffle ", within), shuffled: true, truth: []float64{0},
		null: "labels and their suggestions are dealt anew between the blind and the visible rows, so that seeing the suggestion makes no difference",
		draw: func(r *rand.Rand) (Study, []float64) { return l.shuffle(r, within), nil }}
	if within {
		e.null = "each annotator's labels and their suggestions are dealt anew between the blind and the visible rows, so that seeing the suggestion makes no difference"
	}
	return e, ""
}

// several are the rows of which the same person labelled the item more than once: those with both sides once, which are
// swapped as a pair, and the others.
func (l *labelling) several() (pairs [][2]int, others map[int]bool) {
	others = map[int]bool{}
	for _, rows := range groupBy(len(l.study[0]), func(i int) [2]string { return [2]string{l.study[0][i][labelItem], l.study[0][i][labelAnnotator]} }) {
		var counted []int
		for _, i := range rows {
			if l.sides[i] != anchoring.Neither {
				counted = append(counted, i)
			}
		}
		switch {
		case len(rows) == 1:
		case len(rows) == 2 && len(counted) == 2 && l.sides[rows[0]] != l.sides[rows[1]]:
			pairs = append(pairs, [2]int{rows[0], rows[1]})
		case len(counted) > 0:
			for _, i := range rows {
				others[i] = true
			}
		}
	}
	return pairs, others
}

// pools are the rows among which labels are dealt anew: each annotator's, or all.
func (l *labelling) pools(within bool) [][]int {
	pairs, others := l.several()
	inPair := map[int]bool{}
	for _, p := range pairs {
		inPair[p[0]], inPair[p[1]] = true, true
	}
	var rows []int
	for i := range l.study[0] {
		if l.sides[i] != anchoring.Neither && !inPair[i] && !others[i] {
			rows = append(rows, i)
		}
	}
	groups := groupBy(len(rows), func(i int) string {
		if within {
			return l.study[0][rows[i]][labelAnnotator]
		}
		return ""
	})
	for _, g := range groups {
		for j, i := range g {
			g[j] = rows[i]
		}
	}
	return groups
}

// shuffle deals labels with their suggestions anew: the items stay blind or visible as they were drawn. A row that is marked
// blind and counts as visible takes part as what it counts as. Where a person labelled an item both ways, the two swap by
// a coin. Rows of a person and an item that are there in any other way, such as a relabelling, are taken out: dealing out labels would
// change what they are.
func (l *labelling) shuffle(r *rand.Rand, within bool) Study {
	s := l.study.Clone()
	swap := func(i, j int) {
		for _, c := range []int{labelSuggestion, labelLabel} {
			s[0][i][c], s[0][j][c] = s[0][j][c], s[0][i][c]
		}
	}
	for _, pool := range l.pools(within) {
		r.Shuffle(len(pool), func(i, j int) { swap(pool[i], pool[j]) })
	}
	pairs, others := l.several()
	for _, p := range pairs {
		if r.IntN(2) == 0 {
			swap(p[0], p[1])
		}
	}
	kept := s[0][:0]
	for i, row := range s[0] {
		if !others[i] {
			kept = append(kept, row)
		}
	}
	s[0] = kept
	return s
}

// drawItems puts what an item drawn anew holds in each item's place, blind ones in the place of blind ones. So the draw stays
// as it is.
func (l *labelling) drawItems(r *rand.Rand) Study {
	s := Study{nil}
	s = append(s, l.study[1:]...)
	for _, blind := range []bool{true, false} {
		list := l.ofSide(blind)
		for i, at := range pick(r, max(1, len(list)), len(list)) {
			s[0] = append(s[0], l.moved(list[at], list[i].name)...)
		}
	}
	return s
}

// ofSide are the blind items, or the others.
func (l *labelling) ofSide(blind bool) []item {
	return slices.DeleteFunc(slices.Clone(l.items), func(it item) bool { return it.blind != blind })
}

// moved are the rows of an item under another name.
func (l *labelling) moved(it item, name string) [][]string {
	var list [][]string
	for _, i := range it.rows {
		row := slices.Clone(l.study[0][i])
		row[labelItem] = name
		list = append(list, row)
	}
	return list
}

// drawCorpus draws the blind items without replacement from a corpus of the given size, in which every one of them is as often
// as any other, or once more. The truth is the share of agreeing ones in what rests of it, or in all of it where nothing
// rests; a missing label counts as one that does not agree, which any interval that completes it both ways must bear.
func (l *labelling) drawCorpus(r *rand.Rand, size int) (Study, []float64) {
	s := Study{nil}
	s = append(s, l.study[1:]...)
	list := l.ofSide(true)
	agrees := make([]int, len(list))
	for i, it := range list {
		if len(it.rows) == 1 && l.sides[it.rows[0]] == anchoring.Blind {
			if row := l.study[0][it.rows[0]]; row[labelLabel] != "" && row[labelLabel] == row[labelSuggestion] {
				agrees[i] = 1
			}
		}
	}
	all, drawn := 0, 0
	for i, agree := range agrees {
		copies := size / len(list)
		if i < size%len(list) {
			copies++
		}
		all += agree * copies
	}
	for place, at := range distinct(r, size, len(list)) {
		drawn += agrees[at%len(list)]
		s[0] = append(s[0], l.moved(list[at%len(list)], list[place].name)...)
	}
	for _, it := range l.ofSide(false) {
		s[0] = append(s[0], l.moved(it, it.name)...)
	}
	if size == len(list) {
		return s, []float64{float64(all) / float64(size)}
	}
	return s, []float64{float64(all-drawn) / float64(size-len(list))}
}

// distinct draws so many of 0 to n-1 without replacement, every set alike (Floyd): it needs no list of all n, which may be a
// thousand million.
func distinct(r *rand.Rand, n, count int) []int {
	var list []int
	seen := map[int]bool{}
	for last := n - count; last < n; last++ {
		at := r.IntN(last + 1)
		if seen[at] {
			at = last
		}
		seen[at] = true
		list = append(list, at)
	}
	return list
}

// canDrawPeople reports whether the draw can hold the items of annotators that are drawn anew.
func (l *labelling) canDrawPeople() bool {
	if len(l.study) == 1 {
		return true
	}
	for rule := range l.rules {
		if l.corpus(rule) > 0 {
			return false
		}
	}
	return true
}

// drawPeople draws annotators with replacement.
func (l *labelling) drawPeople(r *rand.Rand) Study {
	n := len(l.annotators())
	return l.ofPeople(pick(r, n, n))
}

// grown implements subject: annotators are copied.
func (l *labelling) grown(_, copies int) Study {
	n := len(l.annotators())
	if !l.canDrawPeople() || n == 0 {
		return nil
	}
	list := inOrder(n + copies)
	for i := range list {
		list[i] %= n
	}
	return l.ofPeople(list)
}

// annotators are the rows of each annotator.
func (l *labelling) annotators() [][]int {
	return groupBy(len(l.study[0]), func(i int) string { return l.study[0][i][labelAnnotator] })
}

// ofPeople is the study of the annotators in the given places, each copy under a name of its own. Where there is a draw, the items of
// a copy are its own too: an item that nobody of them has labelled would else count as a missing label of everyone.
func (l *labelling) ofPeople(list []int) Study {
	if len(l.study) == 1 {
		return l.copied(list, func(name string, _ int) string { return name })
	}
	s := l.copied(list, func(name string, copy int) string { return strconv.Itoa(copy+1) + " " + name })
	said := map[string][]string{}
	for _, row := range l.study[1] {
		said[row[drawItem]] = row
	}
	origin := map[string]string{}
	for _, row := range s[0] {
		name := row[labelItem]
		if _, found := origin[name]; found {
			continue
		}
		_, origin[name], _ = strings.Cut(name, " ")
		if of := said[origin[name]]; of != nil {
			own := slices.Clone(of)
			own[drawItem] = name
			s[1] = append(s[1], own)
		}
	}
	labelled := map[string]bool{}
	for _, row := range l.study[0] {
		labelled[row[labelItem]] = true
	}
	for _, row := range l.study[1] {
		if !labelled[row[drawItem]] {
			s[1] = append(s[1], row)
		}
	}
	return s
}

// copied is the rows of the annotators in the given places; named names the items of a copy.
func (l *labelling) copied(list []int, named func(name string, copy int) string) Study {
	people := l.annotators()
	s := make(Study, len(l.study))
	for copy, at := range list {
		for _, i := range people[at] {
			row := slices.Clone(l.study[0][i])
			row[labelAnnotator], row[labelItem] = strconv.Itoa(copy+1), named(row[labelItem], copy)
			s[0] = append(s[0], row)
		}
	}
	return s
}

// other is a word that differs from the given one.
func (l *labelling) other(word string) string {
	for _, w := range l.words {
		if w != word {
			return w
		}
	}
	return "other than " + word // all is one word
}

// harms implements subject.
func (l *labelling) harms(rule int) []planting {
	metric := l.rules[rule].Metric.Value
	p := planting{key: "items", measure: metric, least: -1}
	draw, who := l.drawItems, "items are drawn anew"
	switch {
	case l.perPerson(rule) && l.canDrawPeople():
		p.key, draw, who = "annotators", l.drawPeople, "annotators are drawn anew"
	case l.perPerson(rule), l.uneven() != "":
		draw, who = func(*rand.Rand) Study { return l.study.Clone() }, "the rows stay as they are"
	}
	low := l.lowIsBad(rule)
	what := map[string][2]string{ // by metric: what is planted where low is bad, and where high is
		"blind_agreement":    {"blind labels turn away from the suggestion", "blind labels turn to the suggestion"},
		"visible_agreement":  {"visible labels turn away from the suggestion", "visible labels turn to the suggestion"},
		"anchoring_gap":      {"visible labels turn away from the suggestion and blind ones to it", "visible labels turn to the suggestion and blind ones away from it"},
		"acceptance_rate":    {"suggestions are not accepted", "suggestions are accepted"},
		"verify_acceptance":  {"labels to be verified turn away from the suggestion", "labels to be verified turn to the suggestion"},
		"people_agreement":   {"people's blind labels turn away from each other", "people's blind labels turn to one and the same"},
		"model_minus_people": {"people's blind labels turn to one that is not the suggestion", "one person's blind label turns to the suggestion and the others' away from each other"},
	}[metric]
	p.planted = who + ", and " + what[0]
	if !low {
		p.planted = who + ", and " + what[1]
	}
	p.draw = func(r *rand.Rand) drawn { return drawn{study: draw(r)} }
	p.plant = func(d drawn, r *rand.Rand, dial float64) { l.plant(d.study, r, metric, dial, (dial > 0) != low) }
	p.own = l.ownRows
	return []planting{p}
}

// plant turns what a metric counts, each with the probability |dial|, up where up is set and else down. What is not recorded
// stays so.
func (l *labelling) plant(s Study, r *rand.Rand, metric string, dial float64, up bool) {
	share := max(dial, -dial)
	to := func(row []string, agree bool) {
		if row[labelLabel] == "" || row[labelSuggestion] == "" {
			return
		}
		row[labelLabel] = row[labelSuggestion]
		if !agree {
			row[labelLabel] = l.other(row[labelSuggestion])
		}
	}
	for _, places := range groupBy(len(s[0]), func(i int) string { return s[0][i][labelItem] }) {
		first, n := "", -1 // the first blind label of the item, and how many came before
		for _, i := range places {
			row := s[0][i]
			turn := r.Float64() < share
			verify := row[labelKind] == "verify"
			blind := row[labelVisibility] == "blind"
			if blind && row[labelLabel] != "" {
				if n++; n == 0 {
					first = row[labelLabel]
				}
			}
			if !turn {
				continue
			}
			switch {
			case metric == "acceptance_rate":
				if row[labelAccepted] != "" {
					row[labelAccepted] = map[bool]string{true: "1", false: "0"}[up]
				}
			case metric == "verify_acceptance" && verify && !blind, metric == "visible_agreement" && !blind && !verify, metric == "blind_agreement" && blind:
				to(row, up)
			case metric == "anchoring_gap" && !(verify && !blind):
				to(row, up != blind)
			case !blind || row[labelLabel] == "":
			case metric == "people_agreement" && up:
				row[labelLabel] = first
			case metric == "people_agreement":
				row[labelLabel] = l.apart("", n)
			case metric == "model_minus_people" && row[labelSuggestion] == "":
			case metric == "model_minus_people" && !up:
				row[labelLabel] = l.other(row[labelSuggestion])
			case metric == "model_minus_people" && n == 0:
				row[labelLabel] = row[labelSuggestion]
			case metric == "model_minus_people":
				row[labelLabel] = l.apart(row[labelSuggestion], n-1)
			}
		}
	}
}

// apart is the label of the n-th of people who are to differ from each other, and from but: the words of the file in turn.
func (l *labelling) apart(but string, n int) string {
	list := slices.DeleteFunc(slices.Clone(l.words), func(w string) bool { return w == but })
	if len(list) == 0 || but == "" && len(list) == 1 { // all is one word
		list = append(list, "other than "+l.words[0])
	}
	return list[n%len(list)]
}
