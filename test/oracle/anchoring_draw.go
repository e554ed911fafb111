package oracle

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// drawAnchoring draws a study of the anchoring gate.
func drawAnchoring(r *rand.Rand) Study {
	s := &anchorStudy{}
	s.drawLabels(r)
	s.drawRules(r)
	return s.study(r)
}

func (s *anchorStudy) drawLabels(r *rand.Rand) {
	people := pick(r, 1, 1, 1, 2, 3, 8, 25)
	items := pick(r, 20, 60, 100, 100, 150)
	s.byPlace = chance(r, 0.15)
	s.floor = pick(r, 0, 5, 10, 1, 1)
	s.adjust = pick(r, "", "", "holm", "bonferroni")
	s.level = pick(r, "", "", "0.9", "0.8", "0.99")
	words := []string{"spam", "ham", "other", "no", "1.0"}[:2+r.IntN(4)]
	blindShare := pick(r, 0.2, 0.4, 0.6, 0.7, 0.03)
	right, pull := pick(r, 0.5, 0.7, 0.85, 0.95, 1), pick(r, 0, 0.3, 0.6)
	// How often each thing that should not happen does.
	noLabel, noSuggestion := pick(r, 0, 0, 0.03, 0.15), pick(r, 0, 0, 0.02, 0.1)
	odd := pick(r, 0, 0, 0.03, 0.15)
	early := pick(r, 0, 0, 0.2)
	severalLabels := chance(r, 0.5)
	markers := pick(r, 0, 0, 0, 0.03)
	withDraw := chance(r, 0.4)
	withAccepted, withVerify := chance(r, 0.6), chance(r, 0.4)
	notDrawn := pick(r, 0, 0, 0, 0.05)
	noRow := pick(r, 0, 0, 0.05)
	uneven, batches := chance(r, 0.3), 1+r.IntN(3)
	if uneven && !withDraw {
		s.least = pick(r, "", "0.1", "0.1", "0.05")
	}
	sites := chance(r, 0.5) && !withDraw
	clock := 0
	for i := range items {
		item := fmt.Sprintf("m%d", i)
		blind := chance(r, blindShare)
		if withDraw {
			c := "0.4"
			if uneven {
				// An early batch and later ones.
				c = []string{"0.7", "0.2", "0.9"}[min(2, i*batches/items)]
				blind = chance(r, float(decimal(c)))
			}
			s.draw = append(s.draw, drawnItem{item, blind, c})
			if chance(r, noRow) {
				continue
			}
			if chance(r, notDrawn) {
				blind = !blind
			}
		}
		rowChance := ""
		if uneven && !withDraw {
			rowChance = pick(r, "0.1", "0.2", "0.25", "0.7", "0.9")
			blind = blind || chance(r, 0.3)
			if chance(r, 0.002) {
				rowChance = ""
			}
		}
		suggestion := pick(r, words...)
		noneAtAll := chance(r, noSuggestion)
		site := ""
		if sites {
			site = pick(r, "Lyon", "Lyon", "Lyon", "Roma", "Roma", "")
		}
		var who []string
		if severalLabels && chance(r, 0.5) {
			for p := range min(people, 1+r.IntN(4)) {
				who = append(who, fmt.Sprintf("p%d", p))
			}
		} else {
			who = []string{fmt.Sprintf("p%d", r.IntN(people))}
		}
		for _, p := range who {
			label := func(seen bool) string {
				if chance(r, noLabel) {
					return ""
				}
				if chance(r, markers) {
					return marker
				}
				if chance(r, right) || seen && chance(r, pull) {
					return suggestion
				}
				return pick(r, words...)
			}
			add := func(blind bool, kind, label string) *labelRow {
				clock += 60
				row := labelRow{item: item, annotator: p, suggestion: suggestion, label: label, blind: blind, kind: kind, labelled: clock, site: site, chance: rowChance}
				if noneAtAll || chance(r, noSuggestion/3) {
					row.suggestion = ""
				}
				if chance(r, 0.5) {
					row.started = clock - 10 - r.IntN(40)
				}
				if withAccepted && !blind && kind != "verify" && row.suggestion != "" && chance(r, 0.8) {
					row.accepted = "0"
					if row.label == row.suggestion && chance(r, 0.8) {
						row.accepted = "1"
					}
				}
				if s.byPlace || chance(r, 0.02) {
					row.started, row.labelled = 0, 0
				}
				s.rows = append(s.rows, row)
				return &s.rows[len(s.rows)-1]
			}
			kind := pick(r, "", "", "", "label", "audit", "calibration", "certification")
			if withVerify && chance(r, 0.15) {
				if chance(r, 0.2) && blind {
					kind = "verify" // served blind, it counts as a label
				} else {
					add(false, "verify", label(true))
					continue
				}
			}
			switch {
			case chance(r, odd): // a look first
				add(false, "", label(true))
				add(true, "", label(true))
			case blind && chance(r, odd): // labelled again after a disagreement, or again all the same
				first := label(false)
				add(true, "label", first)
				add(true, "audit", label(true))
			case blind && chance(r, 0.2): // shown afterwards
				add(true, kind, label(false))
				add(false, "", label(true))
				// Now and then the suggestion was on the screen before the blind label was given.
				if before, after := &s.rows[len(s.rows)-2], &s.rows[len(s.rows)-1]; after.labelled != 0 && chance(r, early) {
					after.started = after.labelled - 60 - r.IntN(10) // the blind label was given 60 before
					if before.labelled == 0 {
						after.started = 0
					}
					if chance(r, 0.3) {
						after.labelled = 0
					}
				}
			case blind:
				add(true, kind, label(false))
			default:
				add(false, "", label(true))
			}
		}
	}
	if !slices.ContainsFunc(s.rows, func(r labelRow) bool { return r.item != "" }) {
		s.rows = append(s.rows, labelRow{item: "m0", annotator: "p0", suggestion: "spam", label: "spam", blind: true})
	}
	if sites {
		// A row that has no site agrees with the item's others, where there are some.
		for i := range s.rows {
			if chance(r, 0.05) && i > 0 && s.rows[i-1].item == s.rows[i].item && s.rows[i-1].site != "" {
				s.rows[i].site = ""
			}
		}
	}
}

// uneven tells whether a study's items were drawn with different chances.
func uneven(s *anchorStudy) bool { return s.uneven() }

// has tells whether some row is there to be verified, some says whether its suggestion was accepted, and there are several
// people.
func (s *anchorStudy) has() (verified, accepted, several bool) {
	for _, r := range s.rows {
		verified, accepted = verified || r.verify(), accepted || r.accepted != ""
	}
	return verified, accepted, len(s.annotators()) > 1
}

func (s *anchorStudy) drawRules(r *rand.Rand) {
	annotators := s.annotators()
	for i := range 1 + r.IntN(4) {
		rule := anchorRule{id: fmt.Sprintf("rule-%d", i), maxLeftOut: pick(r, "", "0.9", "0.9", "0.9", "0.03")}
		rule.metric = pick(r, "blind_agreement", "blind_agreement", "anchoring_gap", "visible_agreement", "acceptance_rate", "verify_acceptance",
			"people_agreement", "model_minus_people")
		if verified, accepted, several := s.has(); rule.metric == "verify_acceptance" && !verified || rule.metric == "acceptance_rate" && !accepted ||
			!several && (rule.metric == "people_agreement" || rule.metric == "model_minus_people") {
			rule.metric = pick(r, "blind_agreement", "blind_agreement", "blind_agreement", "anchoring_gap", "visible_agreement", rule.metric)
		}
		pairs := rule.metric == "people_agreement" || rule.metric == "model_minus_people"
		rule.kind = pick(r, "minimum", "minimum", "maximum")
		rule.confidence = pick(r, "", "", "0.95", "0.6")
		if !pairs {
			rule.per = pick(r, "", "", "item", "item", "person", "label")
		}
		rule.advisory = i > 0 && chance(r, 0.15)
		if chance(r, 0.1) {
			rule.waivedUntil = pick(r, "2026-12-01", "2026-11-30", "2027-03-31")
		}
		if chance(r, 0.2) {
			rule.reviewed = pick(r, "these files", "other files")
		}
		if slices.ContainsFunc(s.rows, func(row labelRow) bool { return row.site != "" }) && chance(r, 0.3) {
			rule.where = pick(r, "Lyon", "Roma", "Nowhere")
		}
		per := s.perOf(rule)
		if rule.metric == "anchoring_gap" && per == "item" && chance(r, 0.3) {
			e := s.classify(s.sliceOf(rule), false)
			rule.pairwise = shareOf(e.visible, per, annotators, 0.1, false).exact && shareOf(e.blind, per, annotators, 0.1, false).exact
		}
		if rule.metric == "blind_agreement" && per == "item" && rule.where == "" && chance(r, 0.4) {
			e := s.classify(s.rows, false)
			if shareOf(e.blind, per, annotators, 0.1, false).exact && (s.draw != nil || !uneven(s)) {
				rule.corpus = len(s.draw)
				if s.draw == nil {
					items, _ := grouping(e.blind, "item")
					all := map[string]bool{}
					for _, row := range s.rows {
						all[row.item] = true
					}
					rule.corpus = len(all) + pick(r, 0, 10, 100, 1000)
					_ = items
				}
			}
		}
		if per == "item" && rule.corpus == 0 && rule.metric != "anchoring_gap" && !pairs && !uneven(s) {
			rule.repeated = chance(r, 0.15)
		}
		if f := s.metric(s.classify(s.sliceOf(rule), false), rule, per, 0.1, false); f.noModel.k > 0 && chance(r, 0.5) {
			share := big.NewRat(int64(f.noModel.k), int64(f.noModel.n))
			if exact := share.FloatString(9); decimal(exact).Cmp(share) == 0 {
				rule.maxLeftOut = exact // exactly so many, which is still decided
			} else {
				rule.maxLeftOut = new(big.Rat).Mul(share, big.NewRat(int64(pick(r, 999, 1001)), 1000)).FloatString(12)
			}
		}
		rule.threshold = "0.5"
		d, _ := s.decideOn(rule, false)
		lower, upper := *d.Interval.Lower, *d.Interval.Upper
		least := 0.0
		if rule.metric == "anchoring_gap" || rule.metric == "model_minus_people" {
			least = -1
		}
		var t float64
		switch r.IntN(8) {
		case 0:
			t = least + (1-least)*r.Float64()
		case 1, 2:
			t = lower - 0.03*r.Float64()
		case 3, 4:
			t = upper + 0.03*r.Float64()
		case 5:
			t = lower + (upper-lower)*r.Float64()
		case 6:
			t = roundTo10(lower) + float64(r.IntN(3)-1)*1e-10
		case 7:
			t = roundTo10(upper) + float64(r.IntN(3)-1)*1e-10
		}
		t = math.Min(1, math.Max(least, t))
		rule.threshold = new(big.Rat).SetFloat64(t).FloatString(10)
		s.rules = append(s.rules, rule)
	}
}

// study writes the files and what must come of them.
func (s *anchorStudy) study(r *rand.Rand) Study {
	want := Gate{Gate: "anchoring", Count: map[string]int{}}
	var counting []int
	for i, rule := range s.rules {
		if !rule.advisory {
			counting = append(counting, i)
		}
	}
	decided := make([]Rule, len(s.rules))
	for i, rule := range s.rules {
		if s.adjust == "bonferroni" && !rule.advisory {
			rule.shared = len(counting)
		}
		decided[i] = s.decide(rule)
	}
	if s.adjust == "holm" {
		s.holm(decided, counting)
	}
	for i, rule := range s.rules {
		w := decided[i]
		if rule.waivedUntil >= theDay.Format("2006-01-02") && (w.Verdict == Fail || w.Verdict == Insufficient) {
			w.Waived = &Waived{Verdict: w.Verdict}
			w.Verdict, w.ByInterval = Review, false
			w.Why = "waived " + w.Waived.Verdict
		}
		if rule.reviewed != "" {
			w.Reviewed = &Reviewed{Valid: rule.reviewed == "these files" && w.Verdict == Review && w.Waived == nil}
		}
		want.Rules = append(want.Rules, w)
	}
	want.Measures = s.measures()
	s.data(&want)
	files, args := s.files(r)
	report := Report{Gates: []Gate{want}}
	report.Verdict, report.Counts = Worst(report)
	report.ExitStatus = exitStatus[report.Verdict]
	return Study{Args: args, Files: files, Want: report, Today: theDay}
}

// holm goes through the rules that fail, the clearest first: the j-th of them stays if it fails with its error divided by
// m - j + 1 too; that which does not, and all after it, are not decided.
func (s *anchorStudy) holm(decided []Rule, counting []int) {
	m := len(counting)
	type failing struct{ i, d int }
	var all []failing
	close := false
	for _, i := range counting {
		if decided[i].Verdict != Fail {
			continue
		}
		f := failing{i, 1}
		for k := 2; k <= m; k++ {
			rule := s.rules[i]
			rule.shared = k
			again := s.decide(rule)
			close = close || again.Close
			if again.Verdict == Fail {
				f.d = k
			}
		}
		close = close || decided[i].Close
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b failing) int { return b.d - a.d })
	stopped := false
	for j, f := range all {
		stopped = stopped || f.d < m-j
		if stopped {
			decided[f.i].Verdict, decided[f.i].Why, decided[f.i].ByInterval = Insufficient, "held by holm", false
		}
		decided[f.i].Close = decided[f.i].Close || close
		if decided[f.i].Close {
			decided[f.i].ByInterval = false
		}
	}
}

// data are the counts of what was read, and the findings that the documents define by a count.
func (s *anchorStudy) data(want *Gate) {
	e := s.classify(s.rows, false)
	items := map[string]bool{}
	blind := 0
	for _, r := range s.rows {
		items[r.item] = true
		if r.blind {
			blind++
		}
	}
	_, mb, nb := tallyOf(e.blind)
	_, mv, nv := tallyOf(e.visible)
	c := want.Count
	c["rows"], c["items"], c["annotators"] = len(s.rows), len(items), len(s.annotators())
	c["blind_rows"], c["visible_rows"] = blind, len(s.rows)-blind
	c["blind_comparisons"], c["missing_blind_labels"] = nb, mb
	c["visible_comparisons"], c["missing_visible_labels"] = nv, mv
	c["suggestion_seen_before"], c["relabelled_blind"], c["repeated_blind_labels"] = e.seenBefore, e.relabelled, e.repeats
	add := func(code string, n int) {
		want.Exact = append(want.Exact, code)
		if n > 0 {
			want.Findings = append(want.Findings, Finding{Code: code, Count: n})
		}
	}
	add("suggestion_seen_before", e.seenBefore)
	add("relabelled_blind", e.relabelled)
	add("after_unlabelled_blind", e.afterUnlabelled)
	add("repeated_blind_labels", e.repeats)
	add("order_by_place", e.byPlace)
	if s.draw != nil {
		c["drawn_items"], c["departures_from_draw"] = len(s.draw), e.departures
	}
}

// files writes the labels, the draw and the policy.
func (s *anchorStudy) files(r *rand.Rand) (files map[string]string, args []string) {
	day := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	at := func(seconds int) string {
		if seconds == 0 {
			return ""
		}
		return day.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339)
	}
	header := []string{"item", "annotator", "suggestion", "label", "visibility", "kind", "accepted", "started_at", "labelled_at", "site", "inclusion_probability"}
	var rows [][]string
	for _, row := range s.rows {
		visibility := "visible"
		if row.blind {
			visibility = "blind"
		}
		rows = append(rows, []string{row.item, row.annotator, row.suggestion, row.label, visibility, row.kind, row.accepted, at(row.started), at(row.labelled), row.site, row.chance})
	}
	files = map[string]string{}
	var y strings.Builder
	fmt.Fprintf(&y, "anchoring:\n")
	if half := len(rows) / 2; half > 0 && chance(r, 0.2) {
		files["one.csv"], files["two.csv"] = csvTable(header, rows[:half]), csvTable(header, rows[half:])
		fmt.Fprintf(&y, "  labels: [one.csv, two.csv]\n")
	} else {
		files["labels.csv"] = csvTable(header, rows)
		fmt.Fprintf(&y, "  labels: labels.csv\n")
	}
	if s.draw != nil {
		var drawn [][]string
		for _, d := range s.draw {
			drawn = append(drawn, []string{d.item, map[bool]string{true: "blind", false: "visible"}[d.blind], d.chance})
		}
		files["draw.csv"] = csvTable([]string{"item", "visibility", "inclusion_probability"}, drawn)
		fmt.Fprintf(&y, "  draw: draw.csv\n")
	}
	if s.floor != 0 {
		fmt.Fprintf(&y, "  minimum_blind_sample: %d\n", s.floor)
	}
	if s.least != "" {
		fmt.Fprintf(&y, "  least_inclusion_probability: %s\n", s.least)
	}
	if s.level != "" {
		fmt.Fprintf(&y, "  confidence: %s\n", s.level)
	}
	if s.adjust != "" {
		fmt.Fprintf(&y, "  adjust: %s\n", s.adjust)
	}
	bound := digest(files)
	fmt.Fprintf(&y, "  rules:\n")
	for _, rule := range s.rules {
		fmt.Fprintf(&y, "    - id: %s\n      metric: %s\n      %s: %s\n", rule.id, rule.metric, rule.kind, rule.threshold)
		for _, key := range [][2]string{{"confidence", rule.confidence}, {"per", rule.per}, {"max_left_out", rule.maxLeftOut}} {
			if key[1] != "" {
				fmt.Fprintf(&y, "      %s: %s\n", key[0], key[1])
			}
		}
		if rule.pairwise {
			fmt.Fprintf(&y, "      interval: pairwise\n")
		}
		if rule.repeated {
			fmt.Fprintf(&y, "      looks: repeated\n")
		}
		if rule.corpus > 0 {
			fmt.Fprintf(&y, "      corpus_size: %d\n", rule.corpus)
		}
		if rule.advisory {
			fmt.Fprintf(&y, "      advisory: true\n")
		}
		if rule.waivedUntil != "" {
			fmt.Fprintf(&y, "      waive: {until: %s, owner: Ana, reason: For the trial.}\n", rule.waivedUntil)
		}
		switch rule.reviewed {
		case "these files":
			fmt.Fprintf(&y, "      reviewed: {by: Ana, on: 2026-12-01, digest: %s, reason: Looked at each.}\n", bound)
		case "other files":
			fmt.Fprintf(&y, "      reviewed: {by: Ana, on: 2026-12-01, digest: %s, reason: Looked at each.}\n", strings.Repeat("0", 64))
		}
		if rule.where != "" {
			fmt.Fprintf(&y, "      where: {site: %s}\n", rule.where)
		}
	}
	files["policy.yaml"] = y.String()
	return files, []string{"anchoring", "gate", "--policy", "policy.yaml"}
}
