package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/diag"
	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/report"
)

// What must hold of every run, whatever the study and the policy: each property is tried on drawn runs of every gate in kindsOfStudy.
// `-rapid.checks=5000` tries each that often; `-v -run TestHowOften` tells how often each verdict and reason comes up.

// checkStudies checks a property on so many drawn studies, or on as many as -rapid.checks says where that is given: each study is
// several whole runs. With -short it is a fifth of them.
func checkStudies(t *testing.T, number int, property func(*rapid.T)) {
	t.Helper()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if checks := flag.Lookup("rapid.checks"); checks != nil && !given {
		set := func(n string) {
			if err := checks.Value.Set(n); err != nil {
				t.Fatal(err)
			}
		}
		set(strconv.Itoa(max(number, 5))) // of which the library takes a fifth with -short
		defer set(checks.DefValue)
	}
	rapid.Check(t, property)
}

// rowsOf is a study: rows of text, one field a column.
type rowsOf [][]string

// clone copies a study.
func (s rowsOf) clone() rowsOf {
	c := make(rowsOf, len(s))
	for i := range s {
		c[i] = slices.Clone(s[i])
	}
	return c
}

func mustDecide(t rapid.TB, r *report.Report) {
	if len(r.Errors) > 0 {
		t.Fatalf("the study cannot be used: %q", problems(r))
	}
}

// whole is all of a report but its inputs, as JSON.
func whole(t rapid.TB, r *report.Report) string {
	bare := *r
	bare.Inputs = nil
	doc, err := json.MarshalIndent(bare, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// TestHowFilesAreWrittenDoesNotMatter: rows in any order, split over up to three files of any name, form, delimiter, column order and
// compression, give the same report, to the last byte, but for its inputs. Where rows can be counted into tallies, the tallies do too.
func TestHowFilesAreWrittenDoesNotMatter(t *testing.T) {
	forEachKind(t, 10, func(t *rapid.T, kind *kindOfStudy) {
		r := drawRelease(t, kind)
		plainFiles := r.files(plainly)
		want := whole(t, r.decideIn(t, plainFiles))
		written := maps.Clone(plainFiles)
		for i, s := range r.studies {
			delete(written, fmt.Sprintf("part%d/all.csv", i))
			for name, data := range writtenAnyhow(t, s) {
				written[fmt.Sprintf("part%d/%s", i, name)] = &fstest.MapFile{Data: data}
			}
			if s.beside != nil {
				table := s.beside.clone()
				table.rows = rapid.Permutation(table.rows).Draw(t, "rows beside")
				written[fmt.Sprintf("part%d.beside", i)] = &fstest.MapFile{Data: inAnyForm(t, table.named(plainly))}
			}
		}
		if diff := cmp.Diff(want, whole(t, r.decideIn(t, written))); diff != "" {
			t.Fatalf("in plain files (-), and in %q (+):\n%s", slices.Sorted(maps.Keys(written)), diff)
		}
		if kind.tallies {
			checkTallies(t, r, plainFiles, written)
		}
	})
}

// writtenAnyhow writes the rows of a study into files, by name: in any order, or, where it matters, in one that keeps the order of each
// person's rows of an item, in files whose names sort as their rows do.
func writtenAnyhow(t *rapid.T, s *drawnStudy) map[string][]byte {
	mixed := rapid.Permutation(s.rows).Draw(t, "rows")
	n := min(len(mixed), rapid.IntRange(1, 3).Draw(t, "files"))
	parts := make([][][]string, n)
	for i, row := range mixed {
		at := i // every file has a row
		if i >= n {
			at = rapid.IntRange(0, n-1).Draw(t, "file")
		}
		parts[at] = append(parts[at], row)
	}
	if s.ordered != nil && s.ordered() {
		pair := func(row []string) [2]string { return [2]string{row[s.at("item")], row[s.at("annotator")]} }
		own := map[[2]string][][]string{}
		for _, row := range s.rows {
			own[pair(row)] = append(own[pair(row)], row)
		}
		for _, part := range parts { // each pair's rows take, in their order, the places that were drawn for them
			for i, row := range part {
				k := pair(row)
				part[i], own[k] = own[k][0], own[k][1:]
			}
		}
	}
	files := map[string][]byte{}
	for i, rows := range parts {
		part := s.sheet.clone()
		part.rows = rows
		name := fmt.Sprint(i) + rapid.StringMatching(`[a-z ]{0,5}`).Draw(t, "name") + pick(t, "extension", "", ".csv", ".gz", ".jsonl", ".txt", ".parquet")
		files[name] = inAnyForm(t, part.named(plainly))
	}
	return files
}

// inAnyForm writes records, the header first, in any form that can be read, their columns in any order.
func inAnyForm(t *rapid.T, records [][]string) []byte {
	places := make([]int, len(records[0]))
	for i := range places {
		places[i] = i
	}
	places = rapid.Permutation(places).Draw(t, "columns")
	mixed := make([][]string, len(records))
	for i, row := range records {
		for _, at := range places {
			mixed[i] = append(mixed[i], row[at])
		}
	}
	text := ""
	switch form := pick(t, "form", ",", ";", "\t", "|", "sep=;", "bom", "crlf", "padded", "more", "jsonl", "parquet"); form {
	case "jsonl":
		text = jsonlOf(t, mixed)
	case "parquet":
		text = parquetOf(t, mixed)
	case "sep=;":
		text = "sep=;\n" + csvOf(mixed, ';')
	case "bom":
		text = "\ufeff" + csvOf(mixed, ',')
	case "crlf":
		text = strings.ReplaceAll(csvOf(mixed, ';'), "\n", "\r\n\r\n")
	case "padded":
		for i := range mixed {
			for k := range mixed[i] {
				mixed[i][k] = pick(t, "before", "", " ", "\u00a0") + mixed[i][k] + pick(t, "after", "", "  ", "\t")
			}
		}
		text = csvOf(mixed, ',')
	case "more": // a column that nobody asks for
		for i := range mixed {
			mixed[i] = append(mixed[i], []string{"note", "a, \"b\"\nc"}[min(i, 1)])
		}
		text = csvOf(mixed, ',')
	default:
		text = csvOf(mixed, []rune(form)[0])
	}
	data := []byte(text)
	if strings.HasPrefix(text, "PAR1") { // which is compressed within
		return data
	}
	var err error
	switch pick(t, "compression", "plain", "plain", "gzip", "zstd") {
	case "gzip":
		data, err = gzipped(data)
	case "zstd":
		data, err = zstandard(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// checkTallies counts the files of the release's first study one by one, and holds what is decided of the counts to what is decided of the
// rows. Studies beside it read their rows.
func checkTallies(t *rapid.T, r *release, plainFiles, written fstest.MapFS) {
	s := r.studies[0]
	req := r.request(maps.Clone(written))
	req.fs.(fstest.MapFS)["one.yaml"] = &fstest.MapFile{Data: []byte((&release{confidence: r.confidence, top: r.top, form: "bare", studies: []*drawnStudy{s}}).policy(plainly))}
	if r.form == "list" {
		// The counting of a section is its own: it has the section's name.
		text := (&release{confidence: r.confidence, top: r.top, form: "list", studies: []*drawnStudy{s}}).policy(plainly)
		req.fs.(fstest.MapFS)["one.yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	n := 0
	for name := range written {
		if !strings.HasPrefix(name, "part0/") {
			continue
		}
		diags := &diag.List{}
		_, text, _ := inMemory().counted(request{verb: gate.Tally, gate: gateOfKind(s.kind), policy: "one.yaml", declared: s.kind.gate == "fairness", files: []string{name}, fs: req.fs}, diags)
		if err := diags.Err(); err != nil {
			t.Fatalf("%s cannot be counted: %v", name, err)
		}
		n++
		req.fs.(fstest.MapFS)[fmt.Sprintf("tally%d.json", n)] = &fstest.MapFile{Data: text}
	}
	req.tallies = []string{"tally*.json"}
	out := inMemory().run(req)
	mustDecide(t, out)
	if diff := cmp.Diff(whole(t, r.decideIn(t, plainFiles)), whole(t, out)); diff != "" {
		t.Fatalf("from rows (-), and from %d tallies (+):\n%s", n, diff)
	}
}

// intervals are the intervals of a gate's measures, rules and groups, by what they are of. Of a gap and a ratio of groups it has those of
// its groups and pairs.
func intervals(g *report.Gate) map[string]*report.Interval {
	found := map[string]*report.Interval{}
	add := func(what string, m *report.Measure) { found[fmt.Sprint(what, " ", m.Metric, m.Labels)] = m.Interval }
	for i := range g.Measures {
		add("measure", &g.Measures[i])
	}
	for i := range g.Rules {
		r := &g.Rules[i]
		add("rule "+r.ID, &r.Measure)
		for k := range r.Cells {
			add("a group of rule "+r.ID, &r.Cells[k].Measure)
		}
		for _, p := range r.Pairs {
			found[fmt.Sprint("rule ", r.ID, ", pair ", p.Groups)] = p.Interval
		}
	}
	return found
}

// within reports whether inner reaches no further than outer; an open side is nil.
func within(inner, outer *report.Interval) bool {
	low := outer.Lower == nil || inner.Lower != nil && *inner.Lower >= *outer.Lower
	high := outer.Upper == nil || inner.Upper != nil && *inner.Upper <= *outer.Upper
	return low && high
}

// checkNested checks that no interval of one report reaches further than that of another.
func checkNested(t rapid.TB, inner, outer *report.Gate, why string) {
	in, out := intervals(inner), intervals(outer)
	small := smallGroups(inner, outer)
	for of, wide := range out {
		narrow, found := in[of]
		switch {
		case strings.Contains(of, "labelling_time"): // of which labels, follows from what else is recorded
		case !found && strings.Contains(of, "_time"): // no time was recorded
		case small[of]: // takes part in both ends now, and took part in one
		case !found || (narrow == nil) != (wide == nil):
			t.Fatalf("%s: %s has an interval in one report only", why, of)
		case narrow != nil && !sameMethod(narrow, wide): // each holds at its confidence, and neither lies within the other
		case narrow != nil && !within(narrow, wide):
			t.Fatalf("%s: the interval of %s went from %s to %s", why, of, written(wide), written(narrow))
		}
	}
}

// sameMethod tells a gap of blind and visible items that is compared directly from one that is not, since the items on each side are others.
func sameMethod(a, b *report.Interval) bool { return a.Method == b.Method }

// smallGroups are the rules over groups, by the name of their interval, in which another number of groups has enough cases: one that has
// too few takes part in only one end of the rule's interval.
func smallGroups(a, b *report.Gate) map[string]bool {
	count := func(r *report.Rule) (small int) {
		for i := range r.Cells {
			if strings.Contains(r.Cells[i].Reason, "min_cell") {
				small++
			}
		}
		return small
	}
	found := map[string]bool{}
	for i := range a.Rules {
		if r := &a.Rules[i]; count(r) != count(&b.Rules[i]) {
			found[fmt.Sprint("rule ", r.ID, " ", r.Metric, r.Labels)] = true
		}
	}
	return found
}

// written writes an interval with all its digits.
func written(iv *report.Interval) string {
	doc, err := json.Marshal(iv)
	if err != nil {
		return err.Error()
	}
	return string(doc)
}

// ownVerdict is a rule's without its waiver.
func ownVerdict(r *report.Rule) report.Verdict {
	if r.Waived != nil {
		return r.Waived.Verdict
	}
	return r.Verdict
}

// decided reports a verdict that an interval gives.
func decided(v report.Verdict) bool { return v == report.Pass || v == report.Fail }

// checkDecidedStays checks that a PASS stays one, and a FAIL; but trials may come to look like copies of one run, which no interval
// knows of: such a rule is then for a person.
func checkDecidedStays(t rapid.TB, before, after *report.Gate, why string) {
	for i := range before.Rules {
		was, is := &before.Rules[i], &after.Rules[i]
		copied := is.Verdict == report.ManualReview && strings.Contains(is.Caution, "copies of one cached run")
		if v := ownVerdict(was); decided(v) && ownVerdict(is) != v && !copied {
			t.Fatalf("%s: rule %s (%s %v) went from %v to %v\n%s\n%s", why, was.ID, was.Metric, was.Labels, v, ownVerdict(is), was.Reason, is.Reason)
		}
	}
}

// TestWhatIsRecordedOnlyHelps: a value in place of a missing one widens no interval and undoes no PASS or FAIL; so all of them together
// do, whichever they are: a PASS was one under every completion, and what passes under some of them only was not a PASS.
func TestWhatIsRecordedOnlyHelps(t *testing.T) {
	forEachKind(t, 14, func(t *rapid.T, kind *kindOfStudy) {
		r := drawRelease(t, kind)
		r.studies = r.studies[:1]
		blanks := kind.blanks(r.studies[0])
		if len(blanks) == 0 {
			return
		}
		before := r.gateOf(r.decide(t, plainly))
		check := func(why string, more *release) {
			after := more.gateOf(more.decide(t, plainly))
			checkNested(t, after, before, why)
			checkDecidedStays(t, before, after, why)
		}
		more := r.clone()
		b := rapid.SampledFrom(blanks).Draw(t, "blank")
		more.studies[0].rows[b.row][b.column] = rapid.SampledFrom(b.answers).Draw(t, "answer")
		check("with one more value", more)
		for _, how := range []string{"first", "last", "any"} {
			for _, b := range blanks {
				answer := b.answers[0]
				switch how {
				case "last":
					answer = b.answers[len(b.answers)-1]
				case "any":
					answer = rapid.SampledFrom(b.answers).Draw(t, "answer")
				}
				more.studies[0].rows[b.row][b.column] = answer
			}
			check("with every value, the "+how+" of what each may be", more)
		}
	})
}

// TestLeftOutAtTheirWorst: what a fairness rule says of its verdict with the cases added that it leaves out holds: with their labels
// and groups filled in, however that is, it stays.
func TestLeftOutAtTheirWorst(t *testing.T) {
	checkStudies(t, 20, func(t *rapid.T) {
		r := drawRelease(t, kindsOfStudy[slices.IndexFunc(kindsOfStudy, func(k *kindOfStudy) bool { return k.gate == "fairness" })])
		r.studies = r.studies[:1]
		before := r.gateOf(r.decide(t, plainly))
		more := r.clone()
		s := more.studies[0]
		for _, row := range s.rows {
			for _, fill := range []struct {
				column  string
				answers []string
			}{{"label", []string{"0", "1"}}, {"sex", []string{"f", "m"}}, {"age", []string{"20", "40", "70"}}} {
				if at := s.at(fill.column); row[at] == "" || row[at] == "another" {
					row[at] = rapid.SampledFrom(fill.answers).Draw(t, fill.column)
				}
			}
		}
		after := more.gateOf(more.decide(t, plainly))
		for i := range before.Rules {
			was, is := &before.Rules[i], &after.Rules[i]
			if v := ownVerdict(was); decided(v) && was.WithLeftOut == v && ownVerdict(is) != v && is.Labels["where"] == "" {
				t.Fatalf("rule %s is %v, also with what it leaves out, and with that filled in %v\n%s\n%s", was.ID, v, ownVerdict(is), was.Reason, is.Reason)
			}
		}
	})
}

// TestRecordedTimesOnlyHelp: a time in place of a missing one widens no interval of decision times.
func TestRecordedTimesOnlyHelp(t *testing.T) {
	checkStudies(t, 20, func(t *rapid.T) {
		r := &release{confidence: "0.8", form: "bare", studies: []*drawnStudy{kindsOfStudy[0].study(t)}}
		decorate(t, r.studies[0], "s0-")
		more := r.clone()
		s := more.studies[0]
		for _, row := range s.rows {
			if row[s.at("decided_at")] == "" && oneIn(t, 2, "time") {
				row[s.at("started_at")], row[s.at("decided_at")] = "1", fmt.Sprint(rapid.IntRange(1, 9).Draw(t, "seconds"))
			}
		}
		checkNested(t, more.gateOf(more.decide(t, plainly)), r.gateOf(r.decide(t, plainly)), "with more times")
	})
}

// TestMoreConfidenceIsWider: at a higher confidence no interval is narrower, and no verdict is reached that was not at a lower one.
func TestMoreConfidenceIsWider(t *testing.T) {
	forEachKind(t, 12, func(t *rapid.T, kind *kindOfStudy) {
		r := drawRelease(t, kind)
		for _, s := range r.studies {
			for i := range s.rules {
				s.rules[i].set("confidence", "")
			}
		}
		levels := []string{"0.5", "0.6", "0.75", "0.9", "0.95", "0.99", "0.999"}
		i := rapid.IntRange(0, len(levels)-2).Draw(t, "lower")
		j := rapid.IntRange(i+1, len(levels)-1).Draw(t, "higher")
		surer := r.clone()
		r.confidence, surer.confidence = levels[i], levels[j]
		less, more := r.decide(t, plainly), surer.decide(t, plainly)
		why := "from " + levels[j] + " to " + levels[i]
		for i := range less.Gates {
			checkNested(t, &less.Gates[i], &more.Gates[i], why)
			checkDecidedStays(t, &more.Gates[i], &less.Gates[i], why)
		}
	})
}

// TestMirrored: with the arms of a study the other way round, or what is right and wrong of groups, every rule's numbers are the mirrored
// and its verdict stays; a sign test's is the other one.
func TestMirrored(t *testing.T) {
	forEachKind(t, 14, func(t *rapid.T, kind *kindOfStudy) {
		r := drawRelease(t, kind)
		r.form, r.studies = "bare", r.studies[:1]
		for _, lines := range [][]string{r.top, r.studies[0].own} { // holm makes FAIL harder and not PASS, which has no mirror
			for i := range lines {
				lines[i] = strings.Replace(lines[i], "holm", "bonferroni", 1)
			}
		}
		m, mirrored := kind.mirror(r.studies[0])
		other := r.clone()
		if len(m.rules) == 0 || !slices.ContainsFunc(m.rules, func(r askedRule) bool { return !r.advisory }) {
			return
		}
		ids := map[string]bool{}
		for _, rule := range m.rules {
			ids[rule.id] = true
		}
		// The same rules on both sides, since the rules of a family share their error.
		r.studies[0].rules = slices.DeleteFunc(r.studies[0].rules, func(r askedRule) bool { return !ids[r.id] })
		other.studies[0] = m
		was, is := r.gateOf(r.decide(t, plainly)), other.gateOf(other.decide(t, plainly))
		for i := range was.Rules {
			checkMirrored(t, &was.Rules[i], &is.Rules[i], mirrored(was.Rules[i].ID))
		}
	})
}

// checkMirrored checks that a rule has the numbers of another, mirrored.
func checkMirrored(t rapid.TB, was, is *report.Rule, how mirroring) {
	verdict := ownVerdict(was)
	if how == reversed && decided(verdict) {
		verdict = map[report.Verdict]report.Verdict{report.Pass: report.Fail, report.Fail: report.Pass}[verdict]
	}
	// A waiver takes a FAIL and not a PASS.
	if v := ownVerdict(is); v != verdict {
		t.Fatalf("rule %s is %v, and mirrored %v\n%s\n%s", was.ID, ownVerdict(was), v, was.Reason, is.Reason)
	}
	numbers := func(r *report.Rule, mirror bool) (list []string) {
		number := func(what string, x *float64, sign float64) {
			text := what + " none"
			if x != nil {
				text = fmt.Sprint(what, " ", sign**x+0) // + 0: no negative zero
			}
			list = append(list, text)
		}
		count := func(what string, x *int) {
			if x != nil {
				list = append(list, fmt.Sprint(what, " ", *x))
			}
		}
		sign := 1.0
		var low, high *float64
		if r.Interval != nil {
			low, high = r.Interval.Lower, r.Interval.Upper
		}
		var least, most *float64
		if r.Completions != nil {
			least, most = &r.Completions.Low, &r.Completions.High
		}
		better, worse := r.Better, r.Worse
		if mirror && how == negated {
			sign, low, high, least, most = -1, high, low, most, least
		}
		if mirror && how == reversed {
			better, worse = worse, better
		}
		number("estimate", r.Estimate, sign)
		number("lower", low, sign)
		number("upper", high, sign)
		number("least", least, sign)
		number("most", most, sign)
		number("p", r.PValue, 1)
		count("better", better)
		count("worse", worse)
		count("equal", r.Equal)
		count("units", r.Units)
		count("missing", r.Missing)
		if how == unchanged {
			count("numerator", r.Numerator)
			count("denominator", r.Denominator)
			for i := range r.Cells {
				c := &r.Cells[i]
				list = append(list, fmt.Sprint(c.Labels["group"], c.Verdict, written(c.Interval)))
			}
			for _, p := range r.Pairs {
				list = append(list, fmt.Sprint(p.Groups, p.Verdict, written(p.Interval)))
			}
		}
		return list
	}
	if diff := cmp.Diff(numbers(was, true), numbers(is, false)); diff != "" {
		t.Fatalf("rule %s, %s: mirrored (-) and of the mirrored study (+):\n%s", was.ID, was.Metric, diff)
	}
}

// TestOrderOfGroups: fairness groups declared in another order change no number, no verdict and no group's part.
func TestOrderOfGroups(t *testing.T) {
	checkStudies(t, 20, func(t *rapid.T) {
		r := drawRelease(t, kindsOfStudy[3])
		r.form, r.studies = "bare", r.studies[:1]
		other := r.clone()
		s := other.studies[0]
		settings := s.settings
		s.settings = func(name naming) []string {
			lines := slices.Clone(settings(name))
			for i, line := range lines {
				lines[i] = strings.Replace(strings.Replace(line, `["f", "m", "x"]`, `["x", "m", "f"]`, 1), `["f", "m"]`, `["m", "f"]`, 1)
			}
			return lines
		}
		was, is := r.gateOf(r.decide(t, plainly)), other.gateOf(other.decide(t, plainly))
		for i := range was.Rules {
			a, b := &was.Rules[i], &is.Rules[i]
			if ownVerdict(a) != ownVerdict(b) {
				t.Fatalf("rule %s is %v, and with its groups in another order %v", a.ID, ownVerdict(a), ownVerdict(b))
			}
			if diff := cmp.Diff(groupsOf(a), groupsOf(b)); diff != "" {
				t.Fatalf("rule %s, in another order (+):\n%s", a.ID, diff)
			}
		}
	})
}

// groupsOf is a rule's interval, and each group's and each pair's, by name.
func groupsOf(r *report.Rule) map[string]string {
	found := map[string]string{"": written(r.Interval)}
	for i := range r.Cells {
		found[r.Cells[i].Labels["group"]] = r.Cells[i].Verdict.String() + written(r.Cells[i].Interval)
	}
	for _, p := range r.Pairs {
		names := slices.Sorted(slices.Values(p.Groups[:]))
		found[strings.Join(names, " | ")] = p.Verdict.String() + written(p.Interval)
	}
	return found
}

// Names that do whatever a name can: to a terminal, a log, a table, a page or a spreadsheet, or by its length.
var hostileNames = []string{
	"a|b", "line\n::error::x", "x\r\n::stop-commands::t", "##[error]boom", "\x1b[2J", "\u202egpj.exe", "z\u200bw", "t\tb", "<img src=x>", "</details>", "@everyone", "`code`", "\\|", "=cmd()", "$(x)",
	"%0A", "e\u0301\u0301\u0301", `"quoted"`, "'single'", "\u05e9\u05dc\u05d5\u05dd", "\U0001f600", strings.Repeat("x", 120), "0", "-1", "1e400", "true", "#c", "a: b", "- a", "{x}", "sep=;", "a\u2028b", "b\ufeffb",
}

// hostileNaming gives each name another one, of a drawn order of hostileNames, and numbers them where there are more.
func hostileNaming(t *rapid.T) naming {
	order := map[string][]string{}
	given := map[string]map[string]string{}
	return func(of, plain string) string {
		if of == "column" {
			if !slices.Contains([]string{"case", "item", "id", "suggestion", "reviewer"}, plain) { // one that no rule slices by cannot be renamed
				return plain
			}
		}
		if given[of] == nil {
			given[of], order[of] = map[string]string{}, rapid.Permutation(hostileNames).Draw(t, "names of each "+of)
		}
		name, known := given[of][plain]
		if !known {
			n := len(given[of])
			name = order[of][n%len(hostileNames)]
			if round := n / len(hostileNames); round > 0 {
				name += fmt.Sprint(" ", round)
			}
			given[of][plain] = name
		}
		return name
	}
}

// aboutNames are the findings that are about how names look.
var aboutNames = regexp.MustCompile(`differ|likely_missing|numbers_without_bins`)

// skeleton is a gate's part of a report without its texts: every number, verdict, method and code, with names and sentences left out.
func skeleton(t rapid.TB, g *report.Gate) string {
	bare := *g
	bare.Findings = slices.DeleteFunc(slices.Clone(g.Findings), func(f report.Finding) bool { return aboutNames.MatchString(f.Code) })
	doc, err := json.Marshal(bare)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(doc, &value); err != nil {
		t.Fatal(err)
	}
	kept := []string{"verdict", "verdict_with_left_out", "metric", "method", "code", "severity", "looks", "design", "measured_in", "per", "condition", "k"}
	var strip func(key string, v any) any
	strip = func(key string, v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				if k == "position" {
					delete(v, k)
					continue
				}
				v[k] = strip(k, x)
			}
			if v["method"] == "pairing-average" {
				delete(v, "lower")
				delete(v, "upper")
			}
			if moved, is := v["baseline"].(float64); is { // of cases that moved as far, the names' order decides
				return fmt.Sprintf("%.9f", v["candidate"].(float64)-moved)
			}
		case []any:
			for i := range v {
				v[i] = strip(key, v[i])
			}
		case string:
			if !slices.Contains(kept, key) {
				return ""
			}
		}
		return v
	}
	value = strip("", value)
	doc, err = json.MarshalIndent(value, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// TestNamesDoNotMatter: other names for people, cases, labels, groups, versions, slices, columns, sections and rules, hostile ones too,
// change nothing but names: but for a difference over people and cases, where which of them are paired follows from a hash of their ids.
func TestNamesDoNotMatter(t *testing.T) {
	forEachKind(t, 12, func(t *rapid.T, kind *kindOfStudy) {
		r := drawRelease(t, kind)
		for _, s := range r.studies {
			s.rules = slices.DeleteFunc(s.rules, func(r askedRule) bool { return r.value("generalize") != "" })
			if !slices.ContainsFunc(s.rules, func(r askedRule) bool { return !r.advisory }) {
				return
			}
		}
		was, is := r.decide(t, plainly), r.decide(t, hostileNaming(t))
		for i := range was.Gates {
			if diff := cmp.Diff(skeleton(t, &was.Gates[i]), skeleton(t, &is.Gates[i])); diff != "" {
				for k := range was.Gates[i].Rules {
					t.Log(was.Gates[i].Rules[k].Reason, "|", is.Gates[i].Rules[k].Reason)
				}
				t.Fatalf("%s under the old names (-) and the new (+):\n%s", was.Gates[i].Gate, diff)
			}
		}
		if was.Verdict != is.Verdict || *was.Counts != *is.Counts || *was.Multiplicity != *is.Multiplicity {
			t.Fatalf("%v %+v, and under other names %v %+v", was.Verdict, *was.Counts, is.Verdict, *is.Counts)
		}
	})
}

// TestRulesAreApart: rules in another order, fewer of them, and more that are advisory, change no other rule, to the last byte but
// its line, and no measure; an advisory rule never changes the verdict. Rules that share their error by adjust are as many as before.
func TestRulesAreApart(t *testing.T) {
	forEachKind(t, 12, func(t *rapid.T, kind *kindOfStudy) {
		r := drawRelease(t, kind)
		r.studies = r.studies[:1]
		before := r.decide(t, plainly)
		other := r.clone()
		s := other.studies[0]
		shared := strings.Contains(r.policy(plainly), "adjust:")
		if !shared && len(s.rules) > 1 && oneIn(t, 2, "a rule less") {
			s.rules = slices.Delete(s.rules, 0, 1)
		} else if oneIn(t, 2, "no advisory rules") {
			s.rules = slices.DeleteFunc(s.rules, func(r askedRule) bool { return r.advisory })
		}
		for i, more := range kind.study(t).rules {
			// What a rule needs may be other in this study: its k is too large, the corpus smaller than the files, the list fixed.
			if more.value("k") != "" || more.value("corpus_size") != "" || kind.gate == "compare" && more.value("looks") == "once" {
				continue
			}
			more.id, more.advisory = fmt.Sprint("more-", i), true
			s.rules = append(s.rules, more)
		}
		s.rules = rapid.Permutation(s.rules).Draw(t, "order")
		if !slices.ContainsFunc(s.rules, func(r askedRule) bool { return !r.advisory }) {
			return
		}
		after := other.decide(t, plainly)
		was := rulesByID(t, before)
		worst := report.NoVerdict
		for id, doc := range rulesByID(t, after) {
			if strings.HasPrefix(id, "more-") {
				continue
			}
			if diff := cmp.Diff(was[id], doc); diff != "" {
				t.Fatalf("rule %s, beside other rules (+):\n%s", id, diff)
			}
		}
		for rule := range after.Rules() {
			if !rule.Advisory {
				worst = max(worst, rule.Verdict)
			}
		}
		if after.Verdict != worst {
			t.Fatalf("the run is %v, and its worst counting rule %v", after.Verdict, worst)
		}
		if diff := cmp.Diff(withoutRules(&before.Gates[0]), withoutRules(&after.Gates[0])); diff != "" {
			t.Fatalf("the gate's part, beside other rules (+):\n%s", diff)
		}
	})
}

// aboutRules are the findings that tell of a gate's rules together, or of groups that some rule compares.
var aboutRules = []string{"one_kind_of_rule", "small_groups", "wide_gap", "threshold_always_passes", "threshold_always_fails"}

// withoutRules is a gate's part of a report without its rules and what is found about them.
func withoutRules(g *report.Gate) report.Gate {
	bare := *g
	bare.Rules, bare.Findings = nil, nil
	bare.Settings = maps.Clone(g.Settings)
	delete(bare.Settings, "corpus_rest") // what is handed over, where a rule is about it
	for _, f := range g.Findings {
		if f.Rule == "" && !slices.Contains(aboutRules, f.Code) {
			bare.Findings = append(bare.Findings, f)
		}
	}
	return bare
}

// rulesByID are a report's rules as JSON, without their places.
func rulesByID(t rapid.TB, r *report.Report) map[string]string {
	found := map[string]string{}
	for rule := range r.Rules() {
		bare := *rule
		bare.Position = diag.Pos{}
		doc, err := json.MarshalIndent(bare, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		found[rule.ID] = string(doc)
	}
	return found
}

// TestNothingEvaluatedNeverPasses: whatever a rule asks, it is not decided where no value is recorded, no row is in its slice, or all
// rows are left out.
func TestNothingEvaluatedNeverPasses(t *testing.T) {
	forEachKind(t, 14, func(t *rapid.T, kind *kindOfStudy) {
		r := drawRelease(t, kind)
		s := r.studies[0]
		how := pick(t, "nothing", "recorded", "in the slice", "kept")
		switch how {
		case "recorded":
			kind.forget(s)
		case "in the slice": // by the last column, which is any column of the file
			for i := range s.rules {
				s.rules[i].where = [][2]string{{s.columns[len(s.columns)-1], "nowhere"}}
				if s.rules[i].value("corpus_size") != "" { // which is of all items
					s.rules[i].where = nil
					kind.forget(s)
				}
			}
		case "kept":
			emptied := map[string]string{"human-ai": "decision", "anchoring": "suggestion", "compare": s.columns[3], "fairness": "sex"}[kind.gate]
			if kind.gate == "human-ai" {
				kind.forget(s)
			}
			forgetIn(emptied)(s)
			forgetIn(map[string][]string{"anchoring": {"label", "accepted"}, "fairness": {"age"}}[kind.gate]...)(s)
			for i := range s.rules {
				s.rules[i].set("max_left_out", "1")
			}
		}
		for i := range s.rules {
			trivial(t, &s.rules[i])
		}
		g := r.gateOf(r.decide(t, plainly))
		for i := range g.Rules {
			if rule := &g.Rules[i]; ownVerdict(rule) != report.InsufficientEvidence {
				t.Fatalf("nothing is %s, and rule %s (%s %v, %v) is %v\n%s", how, rule.ID, rule.Metric, rule.Labels, rule.Threshold, ownVerdict(rule), rule.Reason)
			}
		}
	})
}

// trivial makes a rule ask for what holds whatever the truth is, or for what does not hold whatever it is.
func trivial(t *rapid.T, r *askedRule) {
	for _, ends := range [][2]string{{"minimum", "maximum"}, {"max_group_gap", ""}, {"min_group_ratio", ""}, {"worst_group", ""}} {
		if r.value(ends[0]) == "" && (ends[1] == "" || r.value(ends[1]) == "") {
			continue
		}
		switch ends[0] {
		case "minimum":
			least := "0"
			if slices.Contains([]string{"accuracy_difference", "anchoring_gap", "model_minus_people", "pass_rate_difference"}, r.value("metric")) {
				least = "-1"
			}
			r.set("minimum", "")
			r.set("maximum", "")
			switch pick(t, "trivial", "minimum", "maximum", "not minimum", "not maximum") {
			case "minimum":
				r.set("minimum", least)
			case "maximum":
				r.set("maximum", "1")
			case "not minimum":
				r.set("minimum", "1")
			case "not maximum":
				r.set("maximum", least)
			}
		case "max_group_gap":
			r.set(ends[0], pick(t, "trivial", "1", "0"))
		case "min_group_ratio":
			r.set(ends[0], pick(t, "trivial", "0", "1"))
		case "worst_group":
			r.set(ends[0], pick(t, "trivial", "{minimum: 0}", "{maximum: 1}", "{minimum: 1}", "{maximum: 0}"))
		}
	}
}

// checkReport checks what must hold of any report by itself: counts, verdict and exit status are those of its rules, and every rule's
// verdict is what its printed numbers say.
func checkReport(t rapid.TB, r *report.Report) {
	var counts report.Counts
	worst := report.NoVerdict
	for rule := range r.Rules() {
		checkRule(t, rule)
		if rule.Advisory {
			continue
		}
		worst = max(worst, rule.Verdict)
		switch rule.Verdict {
		case report.Pass:
			counts.Pass++
		case report.Fail:
			counts.Fail++
		case report.InsufficientEvidence:
			counts.InsufficientEvidence++
		case report.ManualReview:
			counts.ManualReview++
		case report.NoVerdict:
		}
	}
	if worst == report.NoVerdict || r.Verdict != worst || r.ExitStatus != worst.ExitStatus() || *r.Counts != counts {
		t.Fatalf("the run is %v with exit status %d and %+v, and its rules come to %v and %+v", r.Verdict, r.ExitStatus, *r.Counts, worst, counts)
	}
}

// checkRule checks that a rule's verdict is what its printed numbers say.
func checkRule(t rapid.TB, rule *report.Rule) {
	verdict := ownVerdict(rule)
	if rule.Waived != nil && rule.Verdict != report.ManualReview {
		t.Fatalf("rule %s is waived, and %v", rule.ID, rule.Verdict)
	}
	if verdict == report.NoVerdict || rule.Reason == "" {
		t.Fatalf("rule %s has the verdict %v and the reason %q", rule.ID, verdict, rule.Reason)
	}
	if rule.Reviewed != nil && rule.Reviewed.Valid && rule.Verdict != report.ManualReview {
		t.Fatalf("rule %s is %v, and its review counts", rule.ID, rule.Verdict)
	}
	if rule.Interval == nil {
		if decided(verdict) && rule.PValue == nil {
			t.Fatalf("rule %s is %v without an interval", rule.ID, verdict)
		}
		return
	}
	low, high := *rule.Interval.Lower, *rule.Interval.Upper
	if !(low <= high) {
		t.Fatalf("rule %s has the interval %s", rule.ID, written(rule.Interval))
	}
	// Where a part of the items was drawn by other chances than the rest and nothing of it is recorded, there is no estimate of the whole.
	nothing := rule.Estimate == nil && (rule.Denominator == nil || rule.Missing == nil || *rule.Denominator <= *rule.Missing)
	if len(rule.Cells) == 0 && nothing && verdict != report.InsufficientEvidence {
		t.Fatalf("rule %s (%s %v) is %v, and nothing was evaluated: %s", rule.ID, rule.Metric, rule.Labels, verdict, rule.Reason)
	}
	// Completions are rounded to the nearest, and the ends of an interval outwards. Of a corpus they are the sample's, and the interval is
	// what rests of it.
	const slack = 1e-15
	if c := rule.Completions; c != nil && rule.Interval.Method != "hypergeometric" && (c.Low < low-slack || c.High > high+slack || c.Low > c.High) {
		t.Fatalf("rule %s has the completions %v to %v outside of %s", rule.ID, c.Low, c.High, written(rule.Interval))
	}
	threshold := rule.Threshold
	switch threshold.Kind {
	case report.MaxGroupGap:
		threshold.Kind = report.Maximum
	case report.MinGroupRatio:
		threshold.Kind = report.Minimum
	}
	if says := threshold.Compare(low, high); decided(verdict) && says != verdict {
		t.Fatalf("rule %s is %v, and %s is %v", rule.ID, verdict, written(rule.Interval), says)
	}
	if rule.Waived == nil && rule.WithLeftOut != report.NoVerdict && !decided(verdict) {
		t.Fatalf("rule %s is %v, and says what it would be with what it leaves out", rule.ID, verdict)
	}
}

// everyVerdict passes, fails and leaves undecided on ten people who are right with the output and wrong without, also where two decisions are
// missing. At 0.8 and ten people whose rates are 0 the upper bound of the mean is below 0.3 (measured: 0.2955).
const everyVerdict = `confidence: 0.8
rules:
  - {id: better, metric: accuracy_difference, minimum: 0}
  - {id: right-without, metric: accuracy_without, minimum: 0.9, per: person}
  - {id: undecided, metric: accuracy_difference, minimum: 0.9}
  - {id: pooled, metric: agreement, minimum: 0.1}
`

// TestAStudyOfEveryVerdict: drawn studies need not come to a verdict that can be lost. This one has each, and keeps its PASS and its FAIL
// whatever two missing decisions were.
func TestAStudyOfEveryVerdict(t *testing.T) {
	lines := strings.SplitAfter(crossedStudy(10, 4, func(_, _ int, with bool) bool { return with }), "\n")
	decideWith := func(one, other string) *report.Report {
		with := slices.Clone(lines)
		for i, decision := range map[int]string{1: one, 10: other} {
			fields := strings.Split(with[i], ",")
			fields[3] = decision
			with[i] = strings.Join(fields, ",")
		}
		r := decide(folder("d.csv", strings.Join(with, ""), "policy.yaml", everyVerdict), "d.csv")
		mustDecide(t, r)
		checkReport(t, r)
		return r
	}
	before := decideWith("", "")
	if got := *before.Counts; got != (report.Counts{Pass: 1, Fail: 1, InsufficientEvidence: 1, ManualReview: 1}) {
		t.Fatalf("the study comes to %+v", got)
	}
	for _, one := range []string{"yes", "no", "another"} {
		for _, other := range []string{"yes", "no", "another"} {
			after := decideWith(one, other)
			checkNested(t, &after.Gates[0], &before.Gates[0], "with both decisions")
			checkDecidedStays(t, &before.Gates[0], &after.Gates[0], "with both decisions")
		}
	}
}

// TestHowOften tells with -v how often each verdict comes up, and each reason, in drawn runs of every gate. It asks for nothing but that
// they can be decided.
func TestHowOften(t *testing.T) {
	for _, kind := range kindsOfStudy {
		var lock sync.Mutex
		often := map[string]int{}
		checkStudies(t, 10, func(t *rapid.T) {
			r := drawRelease(t, kind)
			g := r.gateOf(r.decide(t, plainly))
			lock.Lock()
			defer lock.Unlock()
			for i := range g.Rules {
				often[g.Rules[i].Verdict.String()+": "+inGeneral.ReplaceAllString(g.Rules[i].Reason, "#")]++
			}
			for _, f := range g.Findings {
				often["finding "+f.Code]++
			}
		})
		for _, reason := range slices.Sorted(maps.Keys(often)) {
			t.Logf("%s %5d %.150s", kind.gate, often[reason], reason)
		}
	}
}

// inGeneral is what differs from one reason to another of its kind.
var inGeneral = regexp.MustCompile(`[0-9][0-9.,]*|"[^"]*"`)
