package oracle

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// theDay is the day on which studies are decided.
var theDay = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// csvField quotes a field where it needs that (RFC 4180).
func csvField(text string) string {
	if strings.ContainsAny(text, ",\"\n;\t|") {
		return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}

// csvTable writes a header and rows.
func csvTable(header []string, rows [][]string) string {
	var text strings.Builder
	for _, row := range append([][]string{header}, rows...) {
		for i, field := range row {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(csvField(field))
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// drawFairness draws a study of the fairness gate.
func drawFairness(r *rand.Rand) Study {
	s := &fairStudy{memory: map[boundOf]float64{}}
	s.drawDeclaration(r)
	s.drawCases(r)
	s.drawRules(r)
	return s.study(r)
}

func (s *fairStudy) drawDeclaration(r *rand.Rand) {
	names := []string{"sex", "region", "age"}
	pool := []string{"a", "b", "no", "010", "1.0", "c, d", `e "f"`, "é", "2026-01-01", "h i", "J", "k", "l"}
	for i := range 1 + r.IntN(3) {
		a := attribute{name: names[i]}
		if a.name == "age" && chance(r, 0.6) {
			a.cuts = pick(r, []int{30}, []int{30, 60}, []int{-5, 0, 18, 40})
		} else {
			n := 1 + r.IntN(4)
			if chance(r, 0.3) {
				n = 1 + r.IntN(12)
			}
			from := slices.Clone(pool)
			r.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
			a.values = from[:n]
		}
		s.attributes = append(s.attributes, a)
	}
	if len(s.attributes) > 1 && chance(r, 0.5) {
		crossing := []string{s.attributes[1].name, s.attributes[0].name}
		if len(s.attributes) == 3 && chance(r, 0.3) {
			crossing = append(crossing, s.attributes[2].name)
		}
		if len(s.groupNames(crossing)) <= 16 {
			s.crossings = append(s.crossings, crossing)
		}
	}
	s.minCell = pick(r, 1, 1, 1, 5, 10, 30)
	s.bins = pick(r, 10, 10, 2, 3, 7)
	s.confidence = pick(r, "", "", "0.9", "0.99", "0.5", "0.951")
	s.adjust = pick(r, "", "", "", "holm", "bonferroni", "none")
	s.withProb = chance(r, 0.5)
	s.unit = chance(r, 0.2)
}

func (s *fairStudy) drawCases(r *rand.Rand) {
	n := pick(r, 20, 100, 200, 200, 400, 500, 800)
	noPrediction := pick(r, 0, 0, 0.02, 0.2)
	noLabel := pick(r, 0, 0, 0, 0.02, 0.03, 0.3)
	noValue := pick(r, 0, 0, 0.01, 0.02, 0.1)
	type chances struct{ positive, right1, right0 float64 }
	of := map[string]chances{} // by the values of a case
	extreme := chance(r, 0.15)
	alike := chance(r, 0.3)
	apart := chance(r, 0.5)
	for i := range n {
		c := screened{id: fmt.Sprintf("id%d", i), columns: map[string]string{}}
		key := ""
		for _, a := range s.attributes {
			value := ""
			if a.cuts != nil {
				value = pick(r, "-5", "-5.5", "0", "17.999", "18", "29.9", "30", "30.0", "3e1", "59", "60", "60.01", "1000")
			} else {
				// Of unequal sizes, and some values seldom or never.
				k := r.IntN(len(a.values))
				if chance(r, 0.3) {
					k = r.IntN(k + 1)
				}
				value = a.values[k]
			}
			if a.name == s.attributes[0].name && !alike {
				key = value
			}
			if chance(r, noValue) {
				value = ""
				if a.cuts == nil && chance(r, 0.5) {
					value = pick(r, "other", "unrecorded", "A")
				}
			}
			c.columns[a.name] = value
		}
		c.columns["site"] = pick(r, "Lyon", "Lyon", "Lyon", "Roma")
		if chance(r, noValue) {
			c.columns["site"] = ""
		}
		if _, known := of[key]; !known {
			p := chances{r.Float64(), 0.5 + r.Float64()/2, 0.5 + r.Float64()/2}
			if apart {
				p = chances{pick(r, 0.3, 0.5, 0.8), pick(r, 0.1, 0.9), pick(r, 0.1, 0.9)}
			}
			if extreme {
				p = chances{pick(r, 0, 0.5, 1), pick(r, 0., 1), pick(r, 0., 1)}
			}
			of[key] = p
		}
		p := of[key]
		right := p.right0
		if chance(r, p.positive) {
			c.label, right = 1, p.right1
		}
		c.prediction = c.label
		if !chance(r, right) {
			c.prediction = 1 - c.label
		}
		if s.withProb && !chance(r, 0.05) {
			c.probability = fmt.Sprintf("%.*f", 1+r.IntN(3), math.Min(1, r.Float64()*0.7+0.3*float64(c.prediction)))
			if chance(r, 0.05) {
				c.probability = pick(r, "0", "1", "5e-1", "1.0", "0.3333333333333333333")
			}
		}
		if chance(r, noPrediction) {
			c.prediction = unrecorded
		}
		if chance(r, noLabel) {
			c.label = unrecorded
		}
		s.cases = append(s.cases, c)
	}
}

func (s *fairStudy) drawRules(r *rand.Rand) {
	if chance(r, 0.15) {
		s.repeated = true
	}
	for i := range 1 + r.IntN(5) {
		rule := fairRule{id: fmt.Sprintf("rule-%d", i), rate: pick(r, fairRates...)}
		rule.attributes = []string{pick(r, s.attributes...).name}
		if len(s.crossings) > 0 && chance(r, 0.4) {
			rule.attributes = s.crossings[0]
		}
		groups := len(s.groupNames(rule.attributes))
		rule.kind = pick(r, "max_group_gap", "max_group_gap", "min_group_ratio", "minimum", "maximum")
		if groups == 1 && (rule.kind == "max_group_gap" || rule.kind == "min_group_ratio") {
			rule.kind = "minimum"
		}
		if rule.kind != "min_group_ratio" && !s.repeated && groups <= 7 {
			rule.pairwise = chance(r, 0.3)
		}
		if !rule.pairwise {
			rule.repeated = chance(r, 0.1)
		}
		rule.confidence = pick(r, "", "", "", "0.8", "0.995")
		rule.advisory = i > 0 && chance(r, 0.15)
		if chance(r, 0.12) {
			rule.waivedUntil = pick(r, "2026-12-01", "2026-11-30", "2027-03-31", "2026-12-14")
		}
		if chance(r, 0.25) {
			rule.where = []whereIs{{"site", pick(r, "Lyon", "Lyon", "Lyon", "Roma", "Roma", "Nowhere")}}
			if chance(r, 0.3) {
				for _, a := range s.attributes {
					if a.cuts == nil && !slices.Contains(rule.attributes, a.name) {
						rule.where = append(rule.where, whereIs{a.name, pick(r, a.values...)})
						break
					}
				}
				slices.SortFunc(rule.where, func(a, b whereIs) int { return strings.Compare(a.column, b.column) })
			}
		}
		s.drawLimits(r, &rule)
		s.rules = append(s.rules, rule)
	}
}

// drawLimits chooses a rule's threshold and how much it may leave out, often where it matters.
func (s *fairStudy) drawLimits(r *rand.Rand, rule *fairRule) {
	rule.threshold = "0.5"
	d := s.evaluate(*rule, 1)
	left, total := 0, 0
	for _, l := range d.rule.LeftOut {
		left += l.Count
	}
	for _, c := range s.cases {
		if outside, _ := s.slice(c, rule.where); !outside {
			total++
		}
	}
	if left > 0 {
		share := big.NewRat(int64(left), int64(total))
		exact := share.FloatString(9)
		switch {
		case decimal(exact).Cmp(share) == 0 && chance(r, 0.5):
			rule.maxLeftOut = exact // exactly so many, which is still decided
		case chance(r, 0.2):
			rule.maxLeftOut = new(big.Rat).Mul(share, big.NewRat(999, 1000)).FloatString(12)
		case chance(r, 0.6):
			rule.maxLeftOut = pick(r, "0.3", "0.5", "0.9")
		}
	}
	lower, upper := d.lower, d.upper
	var t float64
	switch r.IntN(10) {
	case 0:
		t = r.Float64()
	case 1, 2:
		t = upper + 0.02*r.Float64()
	case 3, 4:
		t = lower - 0.02*r.Float64()
	case 5:
		t = upper - 0.003*r.Float64()
	case 6:
		t = lower + 0.003*r.Float64()
	case 7:
		t = lower + (upper-lower)*r.Float64()
	case 8:
		// Where the bound is printed, or one step of its last digit beside.
		t = roundTo10(upper) + float64(r.IntN(3)-1)*1e-10
	case 9:
		t = roundTo10(lower) + float64(r.IntN(3)-1)*1e-10
	}
	if chance(r, 0.02) {
		t = pick(r, 0., 1)
	}
	t = math.Min(1, math.Max(0, t))
	rule.threshold = big.NewRat(0, 1).SetFloat64(t).FloatString(10)
	if chance(r, 0.3) {
		rule.threshold = fmt.Sprintf("%.2f", t)
	}
}

func roundTo10(x float64) float64 { return math.Round(x*1e10) / 1e10 }

// study writes the files and what must come of them.
func (s *fairStudy) study(r *rand.Rand) Study {
	want := Gate{Gate: "fairness", Count: map[string]int{}}
	var counting []int
	for i, rule := range s.rules {
		if !rule.advisory {
			counting = append(counting, i)
		}
	}
	shared := 1
	if s.adjust == "bonferroni" {
		shared = len(counting)
	}
	decided := make([]fairDecided, len(s.rules))
	for i, rule := range s.rules {
		m := shared
		if rule.advisory {
			m = 1
		}
		decided[i] = s.evaluate(rule, m)
	}
	if s.adjust == "holm" {
		s.holm(decided, counting)
	}
	for i, rule := range s.rules {
		w := decided[i].rule
		if rule.waivedUntil >= theDay.Format("2006-01-02") && (w.Verdict == Fail || w.Verdict == Insufficient) {
			w.Waived = &Waived{Verdict: w.Verdict}
			w.Verdict = Review
			w.Why = "waived " + w.Waived.Verdict
		}
		want.Rules = append(want.Rules, w)
	}
	s.measures(&want)
	s.findings(&want)
	files, args := s.files(r)
	if what := s.spoil(r, files); what != "" {
		return Study{Args: args, Files: files, Want: Report{ExitStatus: 2}, Today: theDay}
	}
	report := Report{Gates: []Gate{want}}
	report.Verdict, report.Counts = Worst(report)
	report.ExitStatus = exitStatus[report.Verdict]
	return Study{Args: args, Files: files, Want: report, Today: theDay, Itself: s.itself(decided)}
}

// holm goes through the rules that fail, the clearest first.
func (s *fairStudy) holm(decided []fairDecided, counting []int) {
	m := len(counting)
	if m < 2 {
		return
	}
	type failing struct {
		i, d  int
		close bool
	}
	var all []failing
	for _, i := range counting {
		if decided[i].rule.Verdict != Fail {
			continue
		}
		f := failing{i: i, d: 1}
		for k := 2; k <= m; k++ {
			again := s.evaluate(s.rules[i], k).rule
			f.close = f.close || again.Close
			if again.Verdict == Fail {
				f.d = k
			}
		}
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b failing) int { return b.d - a.d })
	stopped := false
	anyClose := false
	for j, f := range all {
		anyClose = anyClose || f.close || decided[f.i].rule.Close
		stopped = stopped || f.d < m-j
		if stopped {
			rule := &decided[f.i].rule
			rule.Verdict, rule.Why, rule.WithLeftOut = Insufficient, "held by holm", ""
		}
	}
	if anyClose {
		for _, f := range all {
			decided[f.i].rule.Close = true
		}
	}
}

// measures are every rate of every group of every attribute and crossing, and of the whole file, and the calibration of each.
func (s *fairStudy) measures(want *Gate) {
	alpha := new(big.Rat).Sub(big.NewRat(1, 1), s.level(""))
	type part struct {
		attributes []string
		groups     []string
	}
	parts := []part{{nil, []string{""}}}
	for _, a := range s.attributes {
		parts = append(parts, part{[]string{a.name}, a.groups()})
	}
	for _, c := range s.crossings {
		parts = append(parts, part{c, s.groupNames(c)})
	}
	for _, p := range parts {
		G := len(p.groups)
		a := float(new(big.Rat).Quo(alpha, big.NewRat(int64(2*G), 1)))
		for _, group := range p.groups {
			var members []screened
			for _, c := range s.cases {
				in, why := s.groupOf(c, p.attributes)
				if why == "" && in == group {
					members = append(members, c)
				}
			}
			var labels map[string]string
			if p.attributes != nil {
				labels = map[string]string{"attribute": strings.Join(p.attributes, " × "), "group": group}
			}
			for _, rate := range fairRates {
				var tally groupTally
				unlabelled := 0
				for _, c := range members {
					if needsLabel(rate) && c.label == unrecorded {
						unlabelled++
						continue
					}
					tally.add(rate, c)
				}
				m := s.measureOf(rate, tally)
				m.Labels = labels
				if unlabelled > 0 {
					m.LeftOut = []LeftOut{{Reason: "the label is empty", Count: unlabelled}}
				}
				lower, upper := s.bound(false, tally.low, a, s.repeated), s.bound(true, tally.high, a, s.repeated)
				m.Interval = intervalOf(lower, upper, 1-float(alpha)/float64(G), dividedMethod(G), "one")
				if s.repeated {
					m.Interval.Method, m.Interval.Looks = "uniform-mixture", "any"
				}
				want.Measures = append(want.Measures, m)
			}
			if s.withProb {
				m := s.calibration(members)
				m.Labels = labels
				want.Measures = append(want.Measures, m)
			}
		}
	}
}

// calibration is a group's expected calibration error: over bins of equal width, the share of cases in the bin times how
// far the mean label is from the mean probability; and what right probabilities would show at the same counts.
func (s *fairStudy) calibration(members []screened) Measure {
	type bin struct {
		n, positives int
		sum          *big.Rat
	}
	bins := make([]bin, s.bins)
	for b := range bins {
		bins[b].sum = new(big.Rat)
	}
	n, unlabelled, without := 0, 0, 0
	for _, c := range members {
		if c.label == unrecorded {
			unlabelled++
			continue
		}
		if c.probability == "" {
			without++
			continue
		}
		p := decimal(c.probability)
		// Probabilities have 18 decimals; what is longer is rounded.
		p = decimal(p.FloatString(18))
		b := 0
		for b < s.bins-1 && p.Cmp(big.NewRat(int64(b+1), int64(s.bins))) >= 0 {
			b++
		}
		bins[b].n++
		bins[b].positives += c.label
		bins[b].sum.Add(bins[b].sum, p)
		n++
	}
	m := Measure{Metric: "expected_calibration_error", Denominator: count(n), Units: count(n)}
	_, _ = unlabelled, without
	if n == 0 {
		return m
	}
	total, expected := new(big.Rat), 0.0
	for _, b := range bins {
		if b.n == 0 {
			continue
		}
		gap := new(big.Rat).Sub(big.NewRat(int64(b.positives), 1), b.sum)
		total.Add(total, gap.Abs(gap))
		// The expectation of |X - np| over the law Bin(n, p), term by term.
		p := float(new(big.Rat).Quo(b.sum, big.NewRat(int64(b.n), 1)))
		if p > 0 && p < 1 {
			for x := 0; x <= b.n; x++ {
				expected += math.Exp(logBinomial(b.n, x, p)) * math.Abs(float64(x)-float64(b.n)*p)
			}
		}
	}
	m.Estimate = number(float(total.Quo(total, big.NewRat(int64(n), 1))))
	m.Expected = number(expected / float64(n))
	return m
}

// findings are those that the documents define by a count.
func (s *fairStudy) findings(want *Gate) {
	labelled, predicted, positives, predictedPositive, without := 0, 0, 0, 0, 0
	for _, c := range s.cases {
		if c.label != unrecorded {
			labelled++
			positives += c.label
		}
		if c.prediction != unrecorded {
			predicted++
			predictedPositive += c.prediction
		}
		if c.probability == "" {
			without++
		}
	}
	n := len(s.cases)
	want.Count["cases"], want.Count["labelled"], want.Count["predicted"] = n, labelled, predicted
	want.Count["missing_labels"], want.Count["missing_predictions"] = n-labelled, n-predicted
	want.Count["positives"], want.Count["predicted_positive"] = positives, predictedPositive
	if s.withProb {
		want.Count["missing_probabilities"] = without
	}
	add := func(code string, n int) {
		want.Exact = append(want.Exact, code)
		if n > 0 {
			want.Findings = append(want.Findings, Finding{Code: code, Count: n})
		}
	}
	add("labels_missing", n-labelled)
	add("predictions_missing", n-predicted)
	if s.withProb {
		add("probabilities_missing", without)
	}
	want.Exact = append(want.Exact, "attribute_empty", "undeclared_values")
	for _, a := range s.attributes {
		empty, undeclared := 0, 0
		for _, c := range s.cases {
			switch _, why := a.groupOf(c.columns[a.name]); {
			case strings.HasSuffix(why, "is empty"):
				empty++
			case why != "":
				undeclared++
			}
		}
		if empty > 0 {
			want.Findings = append(want.Findings, Finding{Code: "attribute_empty", Count: empty})
		}
		if undeclared > 0 {
			want.Findings = append(want.Findings, Finding{Code: "undeclared_values", Count: undeclared})
		}
	}
	distance, level := false, false
	for _, rule := range s.rules {
		if rule.kind == "minimum" || rule.kind == "maximum" {
			level = true
		} else {
			distance = true
		}
	}
	want.Exact = append(want.Exact, "one_kind_of_rule")
	if distance != level {
		want.Findings = append(want.Findings, Finding{Code: "one_kind_of_rule", Count: len(s.rules)})
	}
}

// alsoCalled are the other names of rates.
var alsoCalled = map[string][]string{
	"true_positive": {"recall", "sensitivity"}, "true_negative": {"specificity"}, "precision": {"positive_predictive_value"},
}

// files writes the cases and the declaration.
func (s *fairStudy) files(r *rand.Rand) (files map[string]string, args []string) {
	header := []string{"id", "label", "prediction"}
	if s.withProb {
		header = append(header, "score")
	}
	for _, a := range s.attributes {
		header = append(header, a.name)
	}
	header = append(header, "site")
	if s.unit {
		header = append(header, "person")
	}
	yes, no := pick(r, "1", "1.0", "true", "TRUE"), pick(r, "0", "0.0", "false", "False")
	words := chance(r, 0.2)
	if words {
		yes, no = "granted", "refused"
	}
	empty := pick(r, "", "", " ", "NA", "n/a")
	text := func(x int) string { return map[int]string{1: yes, 0: no, unrecorded: empty}[x] }
	var rows [][]string
	for _, c := range s.cases {
		row := []string{c.id, text(c.label), text(c.prediction)}
		if s.withProb {
			row = append(row, c.probability)
		}
		for _, column := range header[len(row):] {
			row = append(row, c.columns[column])
			if c.columns[column] == "" {
				row[len(row)-1] = empty
			}
		}
		if s.unit {
			row[len(row)-1] = "p" + c.id
		}
		rows = append(rows, row)
	}
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	files = map[string]string{}
	var y strings.Builder
	fmt.Fprintf(&y, "fairness:\n")
	if half := len(rows) / 2; chance(r, 0.2) {
		files["one.csv"], files["two.csv"] = csvTable(header, rows[:half]), csvTable(header, rows[half:])
		fmt.Fprintf(&y, "  cases: [one.csv, two.csv]\n")
	} else {
		files["cases.csv"] = csvTable(header, rows)
		fmt.Fprintf(&y, "  cases: cases.csv\n")
	}
	if empty == "NA" || empty == "n/a" {
		fmt.Fprintf(&y, "  missing_values: [NA, n/a]\n")
	}
	if words {
		fmt.Fprintf(&y, "  positive: granted\n  negative: refused\n")
	}
	if s.withProb {
		fmt.Fprintf(&y, "  probability: score\n")
	}
	if s.unit {
		fmt.Fprintf(&y, "  unit: person\n")
	}
	if s.minCell != 30 {
		fmt.Fprintf(&y, "  min_cell: %d\n", s.minCell)
	}
	if s.bins != 10 {
		fmt.Fprintf(&y, "  calibration_bins: %d\n", s.bins)
	}
	if s.confidence != "" {
		fmt.Fprintf(&y, "  confidence: %s\n", s.confidence)
	}
	if s.adjust != "" {
		fmt.Fprintf(&y, "  adjust: %s\n", s.adjust)
	}
	if s.repeated {
		fmt.Fprintf(&y, "  looks: repeated\n")
	}
	fmt.Fprintf(&y, "  attributes:\n")
	for _, a := range s.attributes {
		if a.cuts != nil {
			fmt.Fprintf(&y, "    %s: {bins: [%s]}\n", a.name, strings.Trim(strings.ReplaceAll(fmt.Sprint(a.cuts), " ", ", "), "[]"))
		} else {
			fmt.Fprintf(&y, "    %s: [%s]\n", a.name, quotedList(a.values))
		}
	}
	if len(s.crossings) > 0 {
		fmt.Fprintf(&y, "  intersections:\n")
		for _, c := range s.crossings {
			fmt.Fprintf(&y, "    - [%s]\n", strings.Join(c, ", "))
		}
	}
	fmt.Fprintf(&y, "  rules:\n")
	for _, rule := range s.rules {
		rate := rule.rate
		if also := alsoCalled[rate]; len(also) > 0 && chance(r, 0.5) {
			rate = pick(r, also...)
		}
		fmt.Fprintf(&y, "    - id: %s\n      rate: %s\n", rule.id, rate)
		attributes := slices.Clone(rule.attributes)
		if len(attributes) > 1 && chance(r, 0.3) {
			slices.Reverse(attributes) // named in the crossing's order all the same
		}
		if len(attributes) == 1 {
			fmt.Fprintf(&y, "      attribute: %s\n", attributes[0])
		} else {
			fmt.Fprintf(&y, "      attribute: [%s]\n", strings.Join(attributes, ", "))
		}
		if rule.kind == "minimum" || rule.kind == "maximum" {
			fmt.Fprintf(&y, "      worst_group: {%s: %s}\n", rule.kind, rule.threshold)
		} else {
			fmt.Fprintf(&y, "      %s: %s\n", rule.kind, rule.threshold)
		}
		if rule.confidence != "" {
			fmt.Fprintf(&y, "      confidence: %s\n", rule.confidence)
		}
		if rule.maxLeftOut != "" {
			fmt.Fprintf(&y, "      max_left_out: %s\n", rule.maxLeftOut)
		}
		if rule.pairwise {
			fmt.Fprintf(&y, "      interval: pairwise\n")
		}
		if rule.repeated {
			fmt.Fprintf(&y, "      looks: repeated\n")
		}
		if rule.advisory {
			fmt.Fprintf(&y, "      advisory: true\n")
		}
		if rule.waivedUntil != "" {
			fmt.Fprintf(&y, "      waive: {until: %s, owner: Ana, reason: For the trial.}\n", rule.waivedUntil)
		}
		if len(rule.where) > 0 {
			var parts []string
			for _, w := range rule.where {
				parts = append(parts, w.column+": "+quotedList([]string{w.value}))
			}
			fmt.Fprintf(&y, "      where: {%s}\n", strings.Join(parts, ", "))
		}
	}
	files["fairness.yaml"] = y.String()
	return files, []string{"fairness", "gate", "fairness.yaml"}
}

// spoil makes the files, now and then, such that they cannot be used. It returns what it did.
func (s *fairStudy) spoil(r *rand.Rand, files map[string]string) (what string) {
	if !chance(r, 0.05) {
		return ""
	}
	for _, name := range []string{"cases.csv", "two.csv"} {
		text, found := files[name]
		if !found {
			continue
		}
		lines := strings.SplitAfter(text, "\n")
		last := lines[len(lines)-2] // the one after it is empty
		what = pick(r, "the last case twice", "a label that is none", "a field too many", "an unrecorded attribute", "nothing counts", "a person twice")
		switch what {
		case "the last case twice":
			text += last
		case "a person twice": // whose case it is is not read without unit; then it is the last case twice
			if s.unit {
				last = "another" + last[strings.Index(last, ","):]
			}
			text += last
		case "a label that is none":
			text += "another,2,1" + strings.Repeat(",", strings.Count(lines[0], ",")-2) + "\n"
		case "a field too many":
			text += "another,1,1" + strings.Repeat(",", strings.Count(lines[0], ",")-1) + "\n"
		case "an unrecorded attribute":
			files["fairness.yaml"] += "    - {id: one-more, rate: error, attribute: other, max_group_gap: 0.1}\n"
		case "nothing counts":
			files["fairness.yaml"] = strings.ReplaceAll(files["fairness.yaml"], "      advisory: true\n", "")
			files["fairness.yaml"] = strings.ReplaceAll(files["fairness.yaml"], "      rate: ", "      advisory: true\n      rate: ")
		}
		files[name] = text
	}
	return what
}

// quotedList writes texts in single quotes, as YAML.
func quotedList(texts []string) string {
	var all []string
	for _, t := range texts {
		all = append(all, "'"+strings.ReplaceAll(t, "'", "''")+"'")
	}
	return strings.Join(all, ", ")
}

// itself holds the verdict of each cell, pair and rule against the numbers that are printed with them, exactly: where a
// threshold is on a bound to the last digit, this is what decides.
func (s *fairStudy) itself(decided []fairDecided) func(Report) []string {
	return func(got Report) (found []string) {
		if len(got.Gates) != 1 || len(got.Gates[0].Rules) != len(s.rules) {
			return []string{"not the rules of the declaration"}
		}
		printed := func(x *float64) *big.Rat { return decimal(strconv.FormatFloat(*x, 'g', -1, 64)) }
		for i, r := range got.Gates[0].Rules {
			rule, d := s.rules[i], decided[i]
			if r.ID != rule.id || len(r.Cells) != len(d.groups) {
				return []string{"not the rules and groups of the declaration"}
			}
			t := decimal(rule.threshold)
			place := map[string]int{}
			for c, g := range d.groups {
				place[g.name] = c
			}
			verdicts := map[string]bool{}
			aSmall := false
			check := func(what, printed, v string, small bool) {
				aSmall = aSmall || small
				if small || d.tooMany {
					v = Insufficient
				}
				verdicts[v] = true
				if v != printed {
					found = append(found, fmt.Sprintf("rule %s, %s: verdict %s, but its own numbers come to %s", r.ID, what, printed, v))
				}
			}
			if rule.kind == "minimum" || rule.kind == "maximum" {
				for c, cell := range r.Cells {
					check(d.groups[c].name, cell.Verdict, decideExactly(rule.kind, t, printed(cell.Interval.Lower), printed(cell.Interval.Upper)), d.groups[c].small)
				}
			}
			for _, p := range r.Pairs {
				x, y := place[p.Groups[0]], place[p.Groups[1]]
				v := decideExactly("maximum", t, printed(p.Interval.Lower), printed(p.Interval.Upper))
				if rule.kind == "min_group_ratio" {
					v = Insufficient
					a, b := r.Cells[x].Interval, r.Cells[y].Interval
					times := func(hi *float64) *big.Rat { return new(big.Rat).Mul(t, printed(hi)) }
					if printed(a.Lower).Cmp(times(b.Upper)) >= 0 && printed(b.Lower).Cmp(times(a.Upper)) >= 0 {
						v = Pass
					}
					if printed(a.Upper).Cmp(times(b.Lower)) < 0 || printed(b.Upper).Cmp(times(a.Lower)) < 0 {
						v = Fail
					}
				}
				check(fmt.Sprint(p.Groups), p.Verdict, v, d.groups[x].small || d.groups[y].small)
			}
			if s.adjust == "holm" {
				continue // decided by intervals that are not printed
			}
			own := r.Verdict
			if r.Waived != nil {
				own = r.Waived.Verdict
			}
			v := Pass
			switch {
			case verdicts[Fail]:
				v = Fail
			case verdicts[Insufficient]:
				v = Insufficient
			}
			if v != own {
				found = append(found, fmt.Sprintf("rule %s: verdict %s, but its own cells and pairs come to %s", r.ID, own, v))
			}
		}
		return found
	}
}

// decideExactly is Decide on fractions.
func decideExactly(side string, t, lower, upper *big.Rat) string {
	switch {
	case side == "minimum" && lower.Cmp(t) >= 0, side == "maximum" && upper.Cmp(t) <= 0:
		return Pass
	case side == "minimum" && upper.Cmp(t) < 0, side == "maximum" && lower.Cmp(t) > 0:
		return Fail
	}
	return Insufficient
}
