package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/oloproof/oloproof/engine/gate"
	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/report"
)

// This file draws the studies that properties_test.go holds to its properties. A gate is a kind of study: how its rows and its
// policies are drawn, and the little that a property has to know of it. A new gate gets every property with an entry in kindsOfStudy.

// kindOfStudy is a gate, as the properties know it.
type kindOfStudy struct {
	gate   string
	files  string // the key of a policy that names the files
	beside string // the key that names the file beside them; "" where there is none
	draw   func(t *rapid.T) *drawnStudy
	// blanks are the values that are not recorded and count as missing, so that recording one can only help.
	blanks func(s *drawnStudy) []blank
	// forget takes out of every row all that could have been measured.
	forget func(s *drawnStudy)
	// mirror is the study with its arms, or its groups, the other way round; it may first take out of the study what has no mirror. Its
	// rules have ids of the study's, and ask for the mirrored; mirrored says of each rule what becomes of its numbers.
	mirror func(s *drawnStudy) (m *drawnStudy, mirrored func(id string) mirroring)
	// tallies: rows can be counted where they are, and decided from the counts.
	tallies bool
}

// kindsOfStudy has an entry for each gate.
var kindsOfStudy = []*kindOfStudy{
	{gate: "human-ai", files: "decisions", beside: "assignment", draw: drawDecisions, blanks: blankDecisions, forget: forgetIn("decision", "ai_output"), mirror: mirrorConditions},
	{gate: "anchoring", files: "labels", beside: "draw", draw: drawLabelled, blanks: blankLabels, forget: forgetIn("label", "accepted"), mirror: mirrorVisibility},
	{gate: "compare", files: "trials", draw: drawTrialsOfCases, blanks: blankResults, forget: forgetIn("passed", "score"), mirror: mirrorVersions, tallies: true},
	{gate: "fairness", files: "cases", draw: drawDecided, blanks: blankPredictions, forget: forgetIn("label", "prediction"), mirror: mirrorGroups, tallies: true},
}

// study draws a study of the kind.
func (k *kindOfStudy) study(t *rapid.T) *drawnStudy {
	s := k.draw(t)
	s.kind = k
	return s
}

// mirroring is what becomes of a rule's numbers in the mirrored study.
type mirroring int

const (
	unchanged mirroring = iota // the same numbers and verdict
	negated                    // the same verdict, every number with the other sign
	reversed                   // PASS and FAIL exchanged: a sign test
)

// blank is a value that is not recorded, by its row and column, and what it may have been.
type blank struct {
	row, column int
	answers     []string
}

// naming gives a name in place of a plain one; of says what bears it, such as "person".
type naming func(of, plain string) string

// plainly leaves names as they are.
func plainly(_, plain string) string { return plain }

// sheet is a table of text, with what the texts of each column are names of: "" where they are none.
type sheet struct {
	columns []string
	of      []string
	rows    [][]string
}

// at is the place of a column.
func (s *sheet) at(column string) int { return slices.Index(s.columns, column) }

// clone copies a sheet.
func (s *sheet) clone() *sheet {
	if s == nil {
		return nil
	}
	c := &sheet{columns: slices.Clone(s.columns), of: slices.Clone(s.of)}
	for _, row := range s.rows {
		c.rows = append(c.rows, slices.Clone(row))
	}
	return c
}

// named is the sheet under other names, the header first.
func (s *sheet) named(name naming) [][]string {
	head := make([]string, len(s.columns))
	for i, c := range s.columns {
		head[i] = name("column", c)
	}
	all := [][]string{head}
	for _, row := range s.rows {
		own := slices.Clone(row)
		for i := range own {
			if s.of[i] != "" && own[i] != "" {
				own[i] = name(s.of[i], own[i])
			}
		}
		all = append(all, own)
	}
	return all
}

// askedRule is a rule of a drawn policy.
type askedRule struct {
	id       string
	keys     [][2]string // each with its value in YAML
	where    [][2]string // columns and values, by their plain names
	advisory bool
}

// value is a key's; "" where it is not there.
func (r *askedRule) value(key string) string {
	for _, k := range r.keys {
		if k[0] == key {
			return k[1]
		}
	}
	return ""
}

// set gives a key a value, or takes it away where that is "".
func (r *askedRule) set(key, value string) {
	r.keys = slices.DeleteFunc(slices.Clone(r.keys), func(k [2]string) bool { return k[0] == key })
	if value != "" {
		r.keys = append(r.keys, [2]string{key, value})
	}
}

// drawnStudy is a study of one gate: rows, and the rules that are asked of it.
type drawnStudy struct {
	*sheet
	kind     *kindOfStudy
	beside   *sheet // an assignment, a draw; nil where there is none
	settings func(name naming) []string
	rules    []askedRule
	own      []string    // settings that no name stands in, such as "adjust: holm"
	ordered  func() bool // the rows of one person and item are read in their order; nil: no row's place matters
}

// clone copies a study; its settings stay the same.
func (s *drawnStudy) clone() *drawnStudy {
	c := *s
	c.sheet, c.beside, c.rules, c.own = s.sheet.clone(), s.beside.clone(), slices.Clone(s.rules), slices.Clone(s.own)
	return &c
}

// yamlText is a text as a scalar of YAML, in double quotes.
func yamlText(text string) string { return strconv.QuoteToASCII(text) }

// policyOf writes the part of a policy that is about a study, whose files lie in a folder. Renamed columns are told.
func (s *drawnStudy) policyOf(name naming, indent, folder string) string {
	var b strings.Builder
	line := func(text string) { b.WriteString(indent + text + "\n") }
	line(s.kind.files + ": " + yamlText(folder+"/*"))
	if s.beside != nil {
		line(s.kind.beside + ": " + yamlText(folder+".beside"))
	}
	var renamed []string
	for _, c := range s.columns {
		if n := name("column", c); n != c {
			renamed = append(renamed, yamlText(c)+": "+yamlText(n))
		}
	}
	if len(renamed) > 0 {
		line("columns: {" + strings.Join(renamed, ", ") + "}")
	}
	for _, text := range append(s.settings(name), s.own...) {
		line(text)
	}
	line("rules:")
	for _, r := range s.rules {
		text := "id: " + yamlText(name("rule", r.id))
		for _, k := range r.keys {
			text += ", " + k[0] + ": " + k[1]
		}
		if len(r.where) > 0 {
			var pairs []string
			for _, w := range r.where {
				value := w[1]
				if of := s.of[s.at(w[0])]; of != "" {
					value = name(of, value)
				}
				pairs = append(pairs, yamlText(w[0])+": "+yamlText(value))
			}
			text += ", where: {" + strings.Join(pairs, ", ") + "}"
		}
		if r.advisory {
			text += ", advisory: true"
		}
		line("  - {" + text + "}")
	}
	return b.String()
}

// release is a drawn run: a policy of one study or of several, in one of the forms that a policy can have.
type release struct {
	confidence string
	top        []string      // lines above the sections
	form       string        // bare, section or list
	studies    []*drawnStudy // the first is the one that a property is about
}

// clone copies a release.
func (r *release) clone() *release {
	c := *r
	c.top, c.studies = slices.Clone(r.top), nil
	for _, s := range r.studies {
		c.studies = append(c.studies, s.clone())
	}
	return &c
}

// drawRelease draws a run whose first study is of a kind. Studies beside it are small, and of any kind.
func drawRelease(t *rapid.T, kind *kindOfStudy) *release {
	r := &release{confidence: pick(t, "confidence", "0.5", "0.5", "0.5", "0.8", "0.95"), form: pick(t, "form", "bare", "bare", "section", "list")}
	r.studies = []*drawnStudy{kind.study(t)}
	if r.form == "list" {
		for range rapid.IntRange(0, 2).Draw(t, "studies beside") {
			other := rapid.SampledFrom(kindsOfStudy).Draw(t, "gate beside").study(t)
			other.rules = other.rules[:min(len(other.rules), 2)]
			other.rules[0].advisory = false
			r.studies = append(r.studies, other)
		}
	}
	if oneIn(t, 6, "min_shown") {
		r.top = append(r.top, "min_shown: 3")
	}
	if how := pick(t, "adjust", "", "", "", "", "bonferroni", "holm"); how != "" {
		if oneIn(t, 3, "in the section") {
			r.studies[0].own = append(r.studies[0].own, "adjust: "+how)
		} else {
			r.top = append(r.top, "adjust: "+how)
		}
	}
	for i, s := range r.studies {
		decorate(t, s, fmt.Sprintf("s%d-", i))
	}
	return r
}

// decorate gives rules their ids, and some of them what any rule can have.
func decorate(t *rapid.T, s *drawnStudy, prefix string) {
	counting := false
	for i := range s.rules {
		r := &s.rules[i]
		r.id = prefix + r.id
		if oneIn(t, 8, "own confidence") {
			r.set("confidence", pick(t, "its confidence", "0.6", "0.95"))
		}
		switch rapid.IntRange(0, 13).Draw(t, "waiver or review") {
		case 0:
			r.set("waive", `{until: 2026-12-01, owner: "someone", reason: "known"}`)
		case 1:
			r.set("waive", `{until: 2026-11-01, owner: "someone", reason: "known"}`)
		case 2:
			r.set("reviewed", `{by: "someone", on: 2026-11-02, reason: "looked at", digest: "`+strings.Repeat("0", 64)+`"}`)
		}
		r.advisory = oneIn(t, 6, "advisory")
		counting = counting || !r.advisory
	}
	if !counting {
		s.rules[0].advisory = false
	}
}

// policy is the text of the release's policy.
func (r *release) policy(name naming) string {
	text := "confidence: " + r.confidence + "\n"
	for _, line := range r.top {
		text += line + "\n"
	}
	if r.form == "bare" {
		return text + r.studies[0].policyOf(name, "", "part0")
	}
	if r.form == "section" {
		s := r.studies[0]
		return text + gateOfKind(s.kind).Section() + ":\n" + s.policyOf(name, "  ", "part0")
	}
	for _, g := range kinds.All() {
		first := true
		for i, s := range r.studies {
			if s.kind.gate != g.Name() {
				continue
			}
			if first {
				text += g.Section() + ":\n"
			}
			first = false
			text += "  - name: " + yamlText(name("section", fmt.Sprintf("section %d", i))) + "\n" + s.policyOf(name, "    ", fmt.Sprintf("part%d", i))
		}
	}
	return text
}

// gateOfKind is the gate of a kind.
func gateOfKind(k *kindOfStudy) gate.Gate { return kinds.Lookup(k.gate) }

// files are the files of a release: its policy, and each study in one plain CSV file.
func (r *release) files(name naming) fstest.MapFS {
	fsys := folder("policy.yaml", r.policy(name))
	for i, s := range r.studies {
		fsys[fmt.Sprintf("part%d/all.csv", i)] = &fstest.MapFile{Data: []byte(csvOf(s.named(name), ','))}
		if s.beside != nil {
			fsys[fmt.Sprintf("part%d.beside", i)] = &fstest.MapFile{Data: []byte(csvOf(s.beside.named(besideNaming(name)), ','))}
		}
	}
	return fsys
}

// besideNaming names what stands in a file beside the rows, whose columns keep their names.
func besideNaming(name naming) naming {
	return func(of, plain string) string {
		if of == "column" {
			return plain
		}
		return name(of, plain)
	}
}

// request is what the release asks of a folder.
func (r *release) request(fsys fstest.MapFS) request {
	req := request{verb: gate.Decide, policy: "policy.yaml", fs: fsys}
	if r.form == "bare" {
		req.gate = gateOfKind(r.studies[0].kind)
		req.declared = req.gate.Name() == "fairness"
	}
	return req
}

// decide decides a release that lies in plain files. Every run is held to what must hold for each.
func (r *release) decide(t rapid.TB, name naming) *report.Report {
	return r.decideIn(t, r.files(name))
}

// decideIn decides a release whose files lie in a folder.
func (r *release) decideIn(t rapid.TB, fsys fstest.MapFS) *report.Report {
	out := inMemory().run(r.request(fsys))
	if len(out.Errors) > 0 {
		t.Fatalf("the study cannot be used: %q\n%s\n%s", problems(out), fsys["policy.yaml"].Data, fsys["part0/all.csv"])
	}
	checkReport(t, out)
	return out
}

// gateOf is the part of a report that is about the first study.
func (r *release) gateOf(out *report.Report) *report.Gate {
	for i := range out.Gates {
		g := &out.Gates[i]
		if r.form != "list" || strings.HasPrefix(g.Rules[0].ID, "s0-") {
			return g
		}
	}
	panic("no gate has the first study's rules")
}

// csvOf writes records as CSV; whatever is not a plain word stands in quotes.
func csvOf(records [][]string, delimiter rune) string {
	var b strings.Builder
	for _, row := range records {
		for i, field := range row {
			if i > 0 {
				b.WriteRune(delimiter)
			}
			if field == "" && len(row) == 1 || strings.ContainsFunc(field, func(c rune) bool {
				return !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '_' || c == '-')
			}) {
				field = `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
			}
			b.WriteString(field)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// jsonlOf writes records as one object a line; what is not recorded is null or left out, but not the whole of a column.
func jsonlOf(t *rapid.T, records [][]string) string {
	var b strings.Builder
	for n, row := range records[1:] {
		object := map[string]any{}
		for i, name := range records[0] {
			switch {
			case row[i] != "":
				object[name] = row[i]
			case n == 0 || oneIn(t, 2, "null"):
				object[name] = nil
			}
		}
		line, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(line)
		b.WriteString(pick(t, "between objects", "\n", " ", "\r\n"))
	}
	return b.String()
}

// parquetOf writes records as Parquet; what is not recorded is null. A column of whole numbers is one of numbers where that keeps its texts.
func parquetOf(t *rapid.T, records [][]string) string {
	group := parquet.Group{}
	numbers := map[string]bool{}
	for i, name := range records[0] {
		numbers[name] = oneIn(t, 2, "a column of numbers")
		for _, row := range records[1:] {
			n, err := strconv.ParseInt(row[i], 10, 64)
			numbers[name] = numbers[name] && (row[i] == "" || err == nil && strconv.FormatInt(n, 10) == row[i])
		}
		if group[name] = parquet.Optional(parquet.String()); numbers[name] {
			group[name] = parquet.Optional(parquet.Int(64))
		}
	}
	schema := parquet.NewSchema("rows", group)
	list := make([]parquet.Row, len(records)-1)
	for at, path := range schema.Columns() { // sorted by name
		i := slices.Index(records[0], path[0])
		for k, row := range records[1:] {
			v, level := parquet.Value{}, 0
			switch n, err := strconv.ParseInt(row[i], 10, 64); {
			case row[i] == "":
			case numbers[path[0]] && err == nil:
				v, level = parquet.ValueOf(n), 1
			default:
				v, level = parquet.ValueOf(row[i]), 1
			}
			list[k] = append(list[k], v.Level(0, level, at))
		}
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, schema, parquet.MaxRowsPerRowGroup(7))
	if _, err := w.WriteRows(list); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// pick draws one of some texts.
func pick(t *rapid.T, name string, texts ...string) string {
	return rapid.SampledFrom(texts).Draw(t, name)
}

// oneIn is true once in so many times.
func oneIn(t *rapid.T, n int, name string) bool { return rapid.IntRange(1, n).Draw(t, name) == n }

// some keeps some of a list of rules, at least one.
func some(t *rapid.T, rules []askedRule) []askedRule {
	var kept []askedRule
	of := rapid.IntRange(2, 4).Draw(t, "one rule in")
	for i, r := range rules {
		r.id = fmt.Sprint("r", i)
		if oneIn(t, of, "rule") {
			kept = append(kept, r)
		}
	}
	if len(kept) == 0 {
		kept = append(kept, rules[rapid.IntRange(0, len(rules)-1).Draw(t, "the one rule")])
		kept[0].id = "r"
	}
	return kept
}

// asked is a rule of a metric with a drawn threshold, and more keys: "per", "person" and so on. Differences have thresholds below 0 too.
func asked(t *rapid.T, metric string, difference bool, more ...string) askedRule {
	r := askedRule{keys: [][2]string{{"metric", metric}}}
	for i := 0; i < len(more); i += 2 {
		r.keys = append(r.keys, [2]string{more[i], more[i+1]})
	}
	values := []string{"0.05", "0.05", "0.2", "0.2", "0.5", "0.8", "0.95"}
	if difference {
		values = append(values, "-0.9", "-0.5", "-0.5", "-0.1", "0", "0")
	}
	r.keys = append(r.keys, [2]string{pick(t, "side", "minimum", "minimum", "maximum"), pick(t, "threshold", values...)})
	return r
}

// slicedBy is a rule over some rows only.
func slicedBy(r askedRule, column, value string) askedRule {
	r.where = [][2]string{{column, value}}
	return r
}

// forgetIn empties columns.
func forgetIn(columns ...string) func(s *drawnStudy) {
	return func(s *drawnStudy) {
		for _, c := range columns {
			if at := s.at(c); at >= 0 {
				for _, row := range s.rows {
					row[at] = ""
				}
			}
		}
	}
}

// blanksIn are the empty values of a column, where a row counts.
func blanksIn(s *drawnStudy, column string, answers []string, counts func(row []string) bool) (list []blank) {
	at := s.at(column)
	for i, row := range s.rows {
		if at >= 0 && row[at] == "" && counts(row) {
			list = append(list, blank{i, at, answers})
		}
	}
	return list
}

// mostLeftOut draws a setting that lets rules be decided that leave much out.
func mostLeftOut(t *rapid.T) (settings []string) {
	if oneIn(t, 2, "much may be left out") {
		settings = append(settings, "max_left_out: "+pick(t, "max_left_out", "0", "0.5", "1"))
	}
	return settings
}

// Human-ai.

// drawDecisions draws a study of people with and without a system, of any design, with missing decisions, outputs and times. In some
// everyone is right with the output and wrong without, or follows it wherever it leads, so that rules come to every verdict.
func drawDecisions(t *rapid.T) *drawnStudy {
	s := &drawnStudy{sheet: &sheet{
		columns: []string{"case", "reviewer", "condition", "decision", "reference", "ai_output", "started_at", "decided_at", "kind"},
		of:      []string{"case", "person", "", "label", "label", "label", "", "", "kind"},
	}}
	design := pick(t, "design", "crossed", "crossed", "before_after", "any", "alone", "alone", "sparse")
	manner := pick(t, "manner", "any", "clear", "clear", "follow")
	people, cases := rapid.SampledFrom([]int{1, 2, 4, 6, 6, 8}).Draw(t, "people"), rapid.IntRange(1, 4).Draw(t, "cases")
	if design == "alone" { // each person one case of their own: then pooled rates can be decided
		people, cases = rapid.SampledFrom([]int{3, 20, 30}).Draw(t, "people alone"), 1
	}
	timed, gaps := oneIn(t, 3, "timed"), rapid.SampledFrom([]int{1000, 1000, 1000, 10, 3}).Draw(t, "one decision missing in")
	assigned := design == "crossed" && oneIn(t, 3, "assignment")
	if assigned {
		s.beside = &sheet{columns: []string{"reviewer", "case", "condition", "position"}, of: []string{"person", "case", "", ""}}
	}
	label := rapid.SampledFrom([]string{"a", "b"})
	references, outputs := map[string]string{}, map[string]string{}
	decide := func(p, c int, condition string) {
		item, person := fmt.Sprint("c", c), fmt.Sprint("p", p)
		if design == "alone" {
			item = fmt.Sprint("c", p)
		}
		if references[item] == "" {
			references[item] = label.Draw(t, "reference")
			switch manner {
			case "clear":
				outputs[item] = references[item]
			case "follow":
				outputs[item] = other(references[item])
			default:
				outputs[item] = pick(t, "output", "a", "b", "a", "b", "u", "")
			}
		}
		decision := references[item]
		switch {
		case manner == "any":
			decision = label.Draw(t, "decision")
		case manner == "clear" && condition == "without":
			decision = other(decision)
		case manner == "follow" && condition == "with":
			decision = outputs[item]
		}
		if gaps < 1000 && oneIn(t, gaps, "decision missing") {
			decision = ""
		}
		output := outputs[item]
		if manner == "any" && oneIn(t, 12, "another output") {
			output = label.Draw(t, "its output")
		}
		started, decided := "", ""
		if timed && !oneIn(t, 5, "time missing") {
			started, decided = "0", fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "seconds"))
		}
		if s.beside != nil {
			s.beside.rows = append(s.beside.rows, []string{person, item, condition, fmt.Sprint(c + 1)})
			if gaps < 1000 && oneIn(t, 2*gaps, "no row") && len(s.rows) > 0 {
				return
			}
		}
		s.rows = append(s.rows, []string{item, person, condition, decision, references[item], output, started, decided, fmt.Sprint("k", (p+c)%2)})
	}
	both := []string{"with", "without"}
	for p := range people {
		for c := range cases {
			switch design {
			case "before_after":
				decide(p, c, "without")
				decide(p, c, "with")
			case "sparse":
				decide(2*p+c%2, c, both[(p+c)%2])
			case "any":
				if oneIn(t, 8, "row not there") && len(s.rows) > 0 {
					continue
				}
				first := rapid.IntRange(0, 1).Draw(t, "condition")
				decide(p, c, both[first])
				if oneIn(t, 3, "both") {
					decide(p, c, both[1-first])
				}
			default:
				condition := both[(p+c)%2]
				if manner == "any" || cases == 1 {
					condition = rapid.SampledFrom(both).Draw(t, "condition")
				}
				decide(p, c, condition)
			}
		}
	}
	settings := mostLeftOut(t)
	if (design == "crossed" || design == "before_after") && oneIn(t, 3, "design declared") {
		settings = append(settings, "design: "+design)
	}
	abstain := oneIn(t, 3, "abstain")
	s.settings = func(name naming) []string {
		if !abstain {
			return settings
		}
		return append(slices.Clone(settings), "abstain: ["+yamlText(name("label", "u"))+"]")
	}
	s.rules = some(t, []askedRule{
		asked(t, "accuracy_difference", true), asked(t, "accuracy_difference", true), asked(t, "accuracy_difference", true, "generalize", "people_and_cases"),
		asked(t, "accuracy_difference", true, "looks", "once", "planned", pick(t, "planned", "2", "6", "9")), slicedBy(asked(t, "accuracy_difference", true), "kind", "k0"),
		asked(t, "agreement", false), asked(t, "agreement", false, "per", "person"), asked(t, "over_reliance", false, "per", "person"), asked(t, "over_reliance", false),
		asked(t, "correct_override", false, "per", "person", "max_left_out", "1"), asked(t, "harmful_override", false), asked(t, "accuracy_with", false, "per", "person", "looks", "repeated"),
		asked(t, "accuracy_with", false), asked(t, "accuracy_with", false, "looks", "repeated"), asked(t, "accuracy_without", false), asked(t, "accuracy_without", false, "per", "person"),
		asked(t, "accuracy_with", false, "per", "person", "looks", "once", "planned", "6", "mean_method", "sympol"),
		asked(t, "system_accuracy", false), slicedBy(asked(t, "accuracy_with", false), "kind", "k1"), slicedBy(asked(t, "system_accuracy", false), "kind", "k0"),
	})
	return s
}

// other is the other of two labels.
func other(label string) string { return map[string]string{"a": "b", "b": "a"}[label] }

// blankDecisions: a decision may have been any label in use, or one that nobody else has.
func blankDecisions(s *drawnStudy) []blank {
	return blanksIn(s, "decision", []string{"a", "b", "u", "another"}, func([]string) bool { return true })
}

// mirrorConditions exchanges the conditions. What is about the system has no mirror.
func mirrorConditions(s *drawnStudy) (*drawnStudy, func(string) mirroring) {
	m := s.clone()
	swap := func(table *sheet) {
		if table == nil {
			return
		}
		at := table.at("condition")
		for _, row := range table.rows {
			row[at] = map[string]string{"with": "without", "without": "with"}[row[at]]
		}
	}
	swap(m.sheet)
	swap(m.beside)
	m.own = s.own
	how := map[string]mirroring{}
	m.rules = nil
	for _, r := range s.rules {
		switch metric := r.value("metric"); metric {
		case "accuracy_difference":
			r = negatedRule(r)
			how[r.id] = negated
		case "accuracy_with", "accuracy_without":
			r.set("metric", map[string]string{"accuracy_with": "accuracy_without", "accuracy_without": "accuracy_with"}[metric])
		default:
			continue
		}
		m.rules = append(m.rules, r)
	}
	return m, func(id string) mirroring { return how[id] }
}

// negatedRule asks of a difference with the other sign what a rule asks of it.
func negatedRule(r askedRule) askedRule {
	low, high := r.value("minimum"), r.value("maximum")
	r.set("minimum", "")
	r.set("maximum", "")
	negate := func(x string) string {
		if strings.HasPrefix(x, "-") || x == "0" {
			return strings.TrimPrefix(x, "-")
		}
		return "-" + x
	}
	if low != "" {
		r.set("maximum", negate(low))
	} else {
		r.set("minimum", negate(high))
	}
	return r
}

// Anchoring.

// drawLabelled draws labels with and without suggestions: repeats, looks before the label, relabellings, missing labels and suggestions,
// with a draw or without. Where rows have no times, the rows of a person and item are read in their order.
func drawLabelled(t *rapid.T) *drawnStudy {
	s := &drawnStudy{sheet: &sheet{
		columns: []string{"item", "annotator", "suggestion", "label", "visibility", "kind", "accepted", "inclusion_probability", "started_at", "labelled_at", "site"},
		of:      []string{"item", "person", "label", "label", "", "", "", "", "", "", "site"},
	}}
	timed, asDrawn := oneIn(t, 2, "timed"), !oneIn(t, 3, "not as drawn")
	s.ordered = func() bool { return !timed }
	clean := oneIn(t, 2, "each person and item once")
	manner := pick(t, "manner", "any", "agree", "differ", "anchored", "anchored")
	people, items := rapid.SampledFrom([]int{1, 1, 1, 2, 3, 8}).Draw(t, "annotators"), rapid.SampledFrom([]int{2, 8, 25, 40}).Draw(t, "items")
	uneven, gaps := oneIn(t, 5, "uneven"), rapid.SampledFrom([]int{1000, 1000, 1000, 10, 3}).Draw(t, "one label missing in")
	shown := make([]string, items+2) // as drawn
	for i := range shown {
		shown[i] = pick(t, "drawn", "blind", "blind", "visible")
	}
	second := 0
	add := func(p, i int) {
		visibility := shown[i]
		if !asDrawn {
			visibility = pick(t, "visibility", "blind", "blind", "visible")
		}
		suggestion, label, kind, accepted := "a", "a", "", ""
		if manner == "differ" || manner == "anchored" && visibility == "blind" {
			label = "b"
		}
		if manner == "any" {
			suggestion, label = pick(t, "suggestion", "a", "a", "a", "b"), pick(t, "label", "a", "a", "b", "c")
		}
		if gaps < 1000 {
			if oneIn(t, gaps, "label missing") {
				label = ""
			}
			if oneIn(t, 2*gaps, "suggestion missing") {
				suggestion = ""
			}
		}
		if !clean {
			kind, accepted = pick(t, "kind", "", "", "verify", "audit"), pick(t, "accepted", "", "1", "0")
		}
		probability, began, at := "", "", ""
		if uneven {
			probability = []string{"0.5", "0.25"}[i%2]
		}
		if second++; timed {
			at = fmt.Sprint(1700000000 + 10*second)
			if !clean && oneIn(t, 3, "began") {
				began = fmt.Sprint(1700000000 + 10*second - rapid.SampledFrom([]int{5, 200}).Draw(t, "took"))
			}
		}
		s.rows = append(s.rows, []string{fmt.Sprint("i", i), fmt.Sprint("p", p), suggestion, label, visibility, kind, accepted, probability, began, at, []string{"Lyon", "Paris", ""}[i%3]})
	}
	for i := range items {
		for p := range people {
			rows := 1
			if !clean {
				rows = rapid.SampledFrom([]int{1, 1, 0, 2, 3}).Draw(t, "rows")
			} else if people > 1 && oneIn(t, 3, "row not there") {
				rows = 0
			}
			if i == 0 && p == 0 {
				rows = max(rows, 1)
			}
			for n := range rows {
				if !timed && n > 0 && oneIn(t, 2, "no more rows") {
					break
				}
				add(p, i)
			}
		}
	}
	s.rows = withoutRepeats(s)
	settings := append(mostLeftOut(t), "minimum_blind_sample: "+pick(t, "floor", "1", "1", "1", "5", "20"))
	corpus := "300"
	if oneIn(t, 3, "draw") {
		corpus = fmt.Sprint(items + 2) // which the draw is of
		s.beside = &sheet{columns: []string{"item", "visibility", "inclusion_probability"}, of: []string{"item", "", ""}}
		for i := range items + 2 {
			probability := []string{"0.5", "0.25"}[i%2]
			if !uneven {
				probability = "0.5"
			}
			s.beside.rows = append(s.beside.rows, []string{fmt.Sprint("i", i), shown[i], probability})
		}
	} else if uneven && oneIn(t, 2, "least probability") {
		settings = append(settings, "least_inclusion_probability: 0.1")
	}
	if oneIn(t, 4, "corpus") {
		settings = append(settings, "corpus_size: "+corpus)
	}
	s.settings = func(naming) []string { return settings }
	s.rules = some(t, []askedRule{
		asked(t, "blind_agreement", false), asked(t, "blind_agreement", false, "per", "person"), asked(t, "blind_agreement", false, "per", "item"), asked(t, "blind_agreement", false, "per", "label"),
		asked(t, "blind_agreement", false, "per", "person", "looks", "repeated"), asked(t, "blind_agreement", false, "per", "person", "looks", "once", "planned", pick(t, "planned", "3", "8")),
		asked(t, "blind_agreement", false, "per", "item", "corpus_size", corpus), slicedBy(asked(t, "blind_agreement", false, "per", "person"), "site", "Lyon"),
		asked(t, "visible_agreement", false), asked(t, "visible_agreement", false, "per", "item"), slicedBy(asked(t, "visible_agreement", false, "per", "label"), "site", "Paris"),
		asked(t, "anchoring_gap", true), asked(t, "anchoring_gap", true, "per", "item"), asked(t, "anchoring_gap", true, "per", "label"), asked(t, "anchoring_gap", true, "per", "item", "interval", "pairwise"),
		asked(t, "acceptance_rate", false), asked(t, "verify_acceptance", false), asked(t, "people_agreement", false), asked(t, "model_minus_people", true), asked(t, "people_agreement", false, "looks", "repeated"),
	})
	return s
}

// withoutRepeats leaves out rows that say again what an earlier row of the same person, item, visibility and kind said at no other time: a gate
// refuses them.
func withoutRepeats(s *drawnStudy) (rows [][]string) {
	seen := map[string]bool{}
	for _, row := range s.rows {
		key := strings.Join([]string{row[s.at("item")], row[s.at("annotator")], row[s.at("visibility")], row[s.at("kind")], row[s.at("labelled_at")]}, "|")
		if !seen[key] {
			rows = append(rows, row)
		}
		seen[key] = true
	}
	return rows
}

// blankLabels: every label may have been any, and so may the suggestion of a blind row whose item has one in another row.
func blankLabels(s *drawnStudy) []blank {
	suggested := map[string]bool{}
	for _, row := range s.rows {
		if row[s.at("suggestion")] != "" {
			suggested[row[s.at("item")]] = true
		}
	}
	answers := []string{"a", "b", "z"}
	return append(blanksIn(s, "label", answers, func([]string) bool { return true }),
		blanksIn(s, "suggestion", answers, func(row []string) bool {
			return row[s.at("visibility")] == "blind" && suggested[row[s.at("item")]]
		})...)
}

// mirrorVisibility exchanges blind and visible rows. What has no mirror is first taken out of the study: every row is the only one of its
// person and item and has a suggestion, there is neither a draw nor a probability, which are of the blind ones, and rules are about the gap.
func mirrorVisibility(s *drawnStudy) (*drawnStudy, func(string) mirroring) {
	once := map[string]bool{}
	s.beside = nil
	s.rows = slices.DeleteFunc(s.rows, func(row []string) bool {
		pair := row[s.at("item")] + "|" + row[s.at("annotator")]
		again := once[pair]
		once[pair] = true
		return again
	})
	for _, row := range s.rows {
		for _, column := range []string{"kind", "accepted", "inclusion_probability"} {
			row[s.at(column)] = ""
		}
		if at := s.at("suggestion"); row[at] == "" {
			row[at] = "a"
		}
	}
	settings := s.settings
	s.settings = func(name naming) []string { // the floor is for blind labels alone
		return slices.DeleteFunc(slices.Clone(settings(name)), func(line string) bool { return strings.HasPrefix(line, "minimum_blind_sample") })
	}
	s.own = append(s.own, "minimum_blind_sample: 1")
	for i := range s.rules {
		r := &s.rules[i]
		r.set("metric", "anchoring_gap")
		r.set("corpus_size", "")
		r.set("interval", "")
	}
	m := s.clone()
	at := m.at("visibility")
	for _, row := range m.rows {
		row[at] = map[string]string{"blind": "visible", "visible": "blind"}[row[at]]
	}
	for i := range m.rules {
		m.rules[i] = negatedRule(m.rules[i])
	}
	return m, func(string) mirroring { return negated }
}

// Compare.

// drawTrialsOfCases draws trials of two versions, or three, that passed or have a score. In some one version passes wherever the other does not.
func drawTrialsOfCases(t *rapid.T) *drawnStudy {
	result := pick(t, "result", "passed", "passed", "score")
	s := &drawnStudy{sheet: &sheet{
		columns: []string{"version", "case", "trial", result, "level"},
		of:      []string{"version", "case", "", "", "level"},
	}}
	results := []string{"1", "0", "true"}
	if result == "score" {
		results = []string{"0.1", "0.2", "0.30", "1", "0", "1e-3"}
	}
	manner := pick(t, "manner", "any", "better", "worse", "equal")
	cases, trials := rapid.SampledFrom([]int{1, 4, 8, 12, 15}).Draw(t, "cases"), rapid.IntRange(1, 4).Draw(t, "trials")
	gaps, ragged, named := rapid.SampledFrom([]int{1000, 1000, 1000, 10, 3}).Draw(t, "one result missing in"), oneIn(t, 3, "ragged"), oneIn(t, 2, "trials are named")
	versions := []string{"old", "new"}
	if oneIn(t, 4, "a third version") {
		versions = append(versions, "third")
	}
	most := trials + 1
	for c := range cases {
		longest := 0
		for v, version := range versions {
			n := trials
			if ragged {
				n = rapid.IntRange(0, trials).Draw(t, "its trials")
			}
			if c == 0 {
				n = max(n, 1)
			}
			if v < 2 {
				longest = max(longest, n)
			}
			for k := range n {
				value := pick(t, "value", results...)
				switch {
				case manner == "better", manner == "worse":
					value = map[bool]string{true: "1", false: "0"}[(version == "new") == (manner == "better")]
				case manner == "equal":
					value = []string{"1", "0"}[c%2]
				}
				if gaps < 1000 && oneIn(t, gaps, "no result") {
					value = ""
				}
				id := ""
				if named {
					id = fmt.Sprint(k)
				}
				s.rows = append(s.rows, []string{version, fmt.Sprint("c", c), id, value, []string{"hard", "easy"}[c%2]})
			}
		}
		if longest > 0 {
			most = min(most, longest)
		}
	}
	settings := mostLeftOut(t)
	fixed := oneIn(t, 3, "fixed")
	if fixed {
		settings = append(settings, "case_list: fixed")
	}
	planned := pick(t, "planned", "3", "8")
	if oneIn(t, 3, "plan") {
		planned = fmt.Sprint(max(2, cases-rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "cases more"))) // which is then the same everywhere
		of := max(1, trials+rapid.SampledFrom([]int{0, 0, 1, -1}).Draw(t, "trials fewer"))
		most = min(most, of)
		settings = append(settings, fmt.Sprintf("plan: {cases: %s, trials: %d}", planned, of))
	}
	s.settings = func(name naming) []string {
		return append(slices.Clone(settings), "baseline: "+yamlText(name("version", "old")), "candidate: "+yamlText(name("version", "new")))
	}
	k := fmt.Sprint(rapid.IntRange(1, most).Draw(t, "k"))
	sign := askedRule{keys: [][2]string{{"metric", "sign_test"}}}
	signSliced := slicedBy(sign, "level", "hard")
	often := sign
	often.set("looks", "repeated")
	rules := []askedRule{
		sign, sign, signSliced, often, asked(t, "pass_rate_difference", true), asked(t, "pass_rate_difference", true, "looks", "repeated"), slicedBy(asked(t, "pass_rate_difference", true), "level", "easy"),
		asked(t, "rate", false), asked(t, "rate", false, "version", "baseline"), slicedBy(asked(t, "rate", false), "level", "hard"), asked(t, "rate", false, "looks", "repeated"),
	}
	if result == "passed" {
		rules = append(rules, asked(t, "pass_at_k", false, "k", k), asked(t, "pass_all_k", false, "k", k), asked(t, "pass_all_k", false, "k", "1", "version", "baseline"))
	}
	if !fixed {
		rules = append(rules, asked(t, "pass_rate_difference", true, "looks", "once", "planned", planned), asked(t, "rate", false, "looks", "once", "planned", planned, "mean_method", "sympol"))
	}
	s.rules = some(t, rules)
	return s
}

// blankResults: a trial may have passed or not; a score may have been any.
func blankResults(s *drawnStudy) []blank {
	always := func([]string) bool { return true }
	return append(blanksIn(s, "passed", []string{"0", "1"}, always), blanksIn(s, "score", []string{"0", "0.2", "1"}, always)...)
}

// mirrorVersions exchanges the versions by exchanging their names in the rows.
func mirrorVersions(s *drawnStudy) (*drawnStudy, func(string) mirroring) {
	m := s.clone()
	at := m.at("version")
	for _, row := range m.rows {
		if v, is := map[string]string{"old": "new", "new": "old"}[row[at]]; is {
			row[at] = v
		}
	}
	how := map[string]mirroring{}
	for i := range m.rules {
		r := &m.rules[i]
		switch r.value("metric") {
		case "sign_test":
			how[r.id] = reversed
		case "pass_rate_difference":
			*r = negatedRule(*r)
			how[r.id] = negated
		default:
			version := "baseline"
			if r.value("version") == "baseline" {
				version = "candidate"
			}
			r.set("version", version)
		}
	}
	return m, func(id string) mirroring { return how[id] }
}

// Fairness.

// drawDecided draws decided cases of people in groups, in blocks of cases that are alike; some are in no declared group, some have no label or no prediction.
func drawDecided(t *rapid.T) *drawnStudy {
	s := &drawnStudy{sheet: &sheet{
		columns: []string{"id", "label", "prediction", "score", "person", "sex", "age", "region"},
		of:      []string{"case", "", "", "", "person", "sex", "", "region"},
	}}
	manner := pick(t, "manner", "any", "fair", "unfair", "unfair")
	add := func(n int, label, prediction, sex, age, region string) {
		for range n {
			id := len(s.rows)
			s.rows = append(s.rows, []string{fmt.Sprint("c", id), label, prediction, []string{"0.1", "0.9", "0.333333333333333333", ""}[id%4], fmt.Sprint("p", id), sex, age, region})
		}
	}
	size := rapid.SampledFrom([]int{1, 4, 4, 20, 100}).Draw(t, "size")
	if manner != "any" {
		for i, sex := range []string{"f", "m", "x"} {
			for label := range 2 {
				for j, age := range []string{"20", "30", "70"} {
					n := size * (1 + (i+j+label)%2)
					wrong := manner == "unfair" && sex == "m"
					add(n, fmt.Sprint(label), fmt.Sprint((label+map[bool]int{true: 1}[wrong])%2), sex, age, []string{"north", "south"}[j%2])
				}
			}
		}
	}
	for range rapid.IntRange(0, 12).Draw(t, "blocks") {
		add(rapid.IntRange(1, size).Draw(t, "cases"), pick(t, "label", "0", "1", "1", "TRUE", ""), pick(t, "prediction", "0", "1", "1.0", "", ""), pick(t, "sex", "f", "m", "x", "f", "m", "", "another"),
			pick(t, "age", "29.9", "30", "59", "60", "-1", "1e2", ""), pick(t, "region", "north", "north", "south", ""))
	}
	if len(s.rows) == 0 {
		add(1, "1", "1", "f", "20", "north")
	}
	sexes, ages := []string{"f", "m", "x"}, "age: {bins: [30, 60]}"
	if oneIn(t, 2, "two groups") {
		sexes = sexes[:2]
	}
	settings := []string{"min_cell: " + pick(t, "min_cell", "1", "2", "5", "30"), "intersections: [[sex, age]]"}
	if oneIn(t, 3, "probability") {
		settings = append(settings, "probability: score", "calibration_bins: 4")
	}
	if oneIn(t, 3, "unit") {
		settings = append(settings, "unit: person")
	}
	settings = append(settings, mostLeftOut(t)...)
	s.settings = func(name naming) []string {
		var groups []string
		for _, g := range sexes {
			groups = append(groups, yamlText(name("sex", g)))
		}
		return append(slices.Clone(settings), "attributes: {sex: ["+strings.Join(groups, ", ")+"], "+ages+"}")
	}
	rates := []string{"error", "false_positive", "false_negative", "selection", "accuracy", "true_positive", "true_negative", "precision", "false_discovery", "false_omission", "negative_predictive_value"}
	rule := func(attribute, kind, value string, more ...string) askedRule {
		r := askedRule{keys: [][2]string{{"rate", pick(t, "rate", rates...)}, {"attribute", attribute}, {kind, value}}}
		for i := 0; i < len(more); i += 2 {
			r.keys = append(r.keys, [2]string{more[i], more[i+1]})
		}
		return r
	}
	most := func() string { return pick(t, "max_left_out", "0", "0.3", "1") }
	threshold := func() string { return pick(t, "threshold", "0.05", "0.3", "0.6", "0.9") }
	both := "[sex, age]"
	s.rules = some(t, []askedRule{
		rule("sex", "max_group_gap", threshold()), rule("sex", "max_group_gap", threshold(), "max_left_out", most()), rule("age", "max_group_gap", threshold()), rule(both, "max_group_gap", threshold(), "max_left_out", most()),
		rule("sex", "max_group_gap", threshold(), "interval", "pairwise"), rule(both, "max_group_gap", threshold(), "interval", "pairwise", "max_left_out", "1"), rule("sex", "max_group_gap", threshold(), "looks", "repeated"),
		rule("sex", "worst_group", "{minimum: "+threshold()+"}"), rule("age", "worst_group", "{maximum: "+threshold()+"}", "max_left_out", most()), rule("sex", "worst_group", "{minimum: "+threshold()+"}", "interval", "pairwise"),
		rule("sex", "min_group_ratio", threshold()), rule("age", "min_group_ratio", threshold(), "max_left_out", most()), slicedBy(rule("sex", "max_group_gap", threshold(), "max_left_out", most()), "region", "north"),
		slicedBy(rule("sex", "worst_group", "{minimum: "+threshold()+"}", "looks", "repeated"), "age", "under_30"),
	})
	return s
}

// blankPredictions: a prediction may have been either. A label that is missing is left out, and no missing value.
func blankPredictions(s *drawnStudy) []blank {
	return blanksIn(s, "prediction", []string{"0", "1"}, func([]string) bool { return true })
}

// mirrorGroups exchanges 0 and 1, of labels and of predictions: what was a false positive is a false negative.
func mirrorGroups(s *drawnStudy) (*drawnStudy, func(string) mirroring) {
	m := s.clone()
	for _, column := range []string{"label", "prediction"} {
		at := m.at(column)
		for _, row := range m.rows {
			if row[at] != "" {
				row[at] = map[string]string{"0": "1", "1": "0", "TRUE": "false", "1.0": "0.0"}[row[at]]
			}
		}
	}
	mirrors := map[string]string{"error": "error", "accuracy": "accuracy", "false_positive": "false_negative", "true_positive": "true_negative", "precision": "negative_predictive_value", "false_discovery": "false_omission"}
	for a, b := range mirrors {
		mirrors[b] = a
	}
	m.rules = nil
	for _, r := range s.rules {
		if rate, found := mirrors[r.value("rate")]; found {
			r.set("rate", rate)
			m.rules = append(m.rules, r)
		}
	}
	return m, func(string) mirroring { return unchanged }
}

// forEachKind runs a property on drawn runs of every gate. Where no -rapid.checks is given, each is a number of runs.
func forEachKind(t *testing.T, number int, property func(t *rapid.T, kind *kindOfStudy)) {
	t.Helper()
	for _, kind := range kindsOfStudy {
		t.Run(kind.gate, func(t *testing.T) {
			checkStudies(t, number, func(t *rapid.T) { property(t, kind) })
		})
	}
}
