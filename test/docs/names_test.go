package docs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/oloproof/oloproof/engine/gate/kinds"
	"github.com/oloproof/oloproof/engine/interval"
	"github.com/oloproof/oloproof/engine/policy"
	"github.com/oloproof/oloproof/engine/report"
	"github.com/oloproof/oloproof/summary"
)

// table returns the rows of the table that follows the comment <!-- table: NAME --> in a document, cell by
// cell, without the header. A backslash keeps a | in its cell.
func table(t *testing.T, d *document, name string) [][]string {
	t.Helper()
	at := slices.Index(d.lines, "<!-- table: "+name+" -->")
	if at < 0 {
		t.Fatalf("%s has no table %q", d.path, name)
	}
	for at++; at < len(d.lines) && d.lines[at] == ""; at++ {
	}
	var rows [][]string
	for ; at < len(d.lines) && strings.HasPrefix(d.lines[at], "|"); at++ {
		line := strings.ReplaceAll(strings.Trim(d.lines[at], "|"), `\|`, "\x00")
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], "\x00", "|"))
		}
		rows = append(rows, cells)
	}
	if len(rows) < 3 {
		t.Fatalf("%s: the table %q has %d lines", d.path, name, len(rows))
	}
	return rows[2:]
}

// code takes the backquotes off a cell.
func code(t *testing.T, cell string) string {
	t.Helper()
	text, opened := strings.CutPrefix(cell, "`")
	text, closed := strings.CutSuffix(text, "`")
	if !opened || !closed || strings.Contains(text, "`") {
		t.Errorf("the cell %q is not one `code`", cell)
	}
	return text
}

// column returns one column of a table of `code`.
func column(t *testing.T, rows [][]string, i int) []string {
	t.Helper()
	var list []string
	for _, r := range rows {
		list = append(list, code(t, r[i]))
	}
	return list
}

// same compares two lists of names, whatever their order.
func same(t *testing.T, what string, inDocument, inCode []string) {
	t.Helper()
	if diff := gocmp.Diff(slices.Sorted(slices.Values(inCode)), slices.Sorted(slices.Values(inDocument))); diff != "" {
		t.Errorf("%s (-code +document):\n%s", what, diff)
	}
}

// pages are the gates and their documents: where the names of each stand in the source and in the schema of policies.
var pages = []struct{ gate, document, folder, section, rule string }{
	{"human-ai", "docs/human-ai.md", "engine/gate/humanai", "human_ai", "human_ai_rule"},
	{"anchoring", "docs/anchoring.md", "engine/gate/anchoring", "anchoring", "anchoring_rule"},
	{"compare", "docs/compare.md", "engine/gate/compare", "compare", "compare_rule"},
	{"fairness", "docs/fairness.md", "engine/gate/fairness", "fairness", "fairness_rule"},
}

// TestPages: every gate has a page.
func TestPages(t *testing.T) {
	var documented []string
	for _, p := range pages {
		documented = append(documented, p.gate)
	}
	same(t, "gates", documented, kinds.Names())
}

// policySchema is the published schema of policies, which engine/policy's own tests hold to the parser.
type policySchema struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Then       struct {
		Properties map[string]bool `json:"properties"`
	} `json:"then"`
	Defs map[string]json.RawMessage `json:"$defs"`
}

// schemaKey is what is compared of the schema of one key.
type schemaKey struct {
	Ref        string                     `json:"$ref"`
	Default    any                        `json:"default"`
	Enum       []string                   `json:"enum"`
	Required   []string                   `json:"required"`
	Properties map[string]json.RawMessage `json:"properties"`
}

func readSchema(t *testing.T) policySchema {
	t.Helper()
	var s policySchema
	if err := json.Unmarshal([]byte(policy.Schema()), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// key reads the schema of a key, which may be a reference to a definition or to a key of one.
func (s policySchema) key(t *testing.T, raw json.RawMessage) schemaKey {
	t.Helper()
	var k schemaKey
	if err := json.Unmarshal(raw, &k); err != nil {
		t.Fatal(err)
	}
	switch path := strings.Split(k.Ref, "/"); {
	case k.Ref == "":
		return k
	case len(path) == 3 && s.Defs[path[2]] != nil: // #/$defs/NAME
		return s.key(t, s.Defs[path[2]])
	case len(path) == 5: // #/$defs/NAME/properties/KEY
		return s.key(t, s.key(t, s.Defs[path[2]]).Properties[path[4]])
	}
	t.Fatalf("the schema refers to %q, which is not read here", k.Ref)
	return k
}

// keys lists the keys of a definition, with their schemas.
func (s policySchema) keys(t *testing.T, name string) map[string]json.RawMessage {
	t.Helper()
	list := s.key(t, s.Defs[name]).Properties
	if len(list) == 0 {
		t.Fatalf("the schema defines no keys of %s", name)
	}
	return list
}

// metrics are those that a gate's rule can name under a key.
func (s policySchema) metrics(t *testing.T, rule, key string) []string {
	t.Helper()
	return s.key(t, s.keys(t, rule)[key]).Enum
}

// TestPolicyKeys holds the tables of keys to the schema: those of several gates, and each gate's own, where they may stand,
// their defaults and their values.
func TestPolicyKeys(t *testing.T) {
	schema, d := readSchema(t), readDocument(t, "docs/policy.md")
	shared := func(k string, keysOf func(i int) map[string]json.RawMessage) bool {
		gates := 0
		for i := range pages {
			if keysOf(i)[k] != nil {
				gates++
			}
		}
		return gates > 1
	}
	sections := func(i int) map[string]json.RawMessage { return schema.keys(t, pages[i].section) }
	rules := func(i int) map[string]json.RawMessage { return schema.keys(t, pages[i].rule) }

	all := map[string][]string{} // key of several gates → where it may stand
	about := map[string]json.RawMessage{}
	add := func(to map[string][]string, where string, keys map[string]json.RawMessage, which func(k string) bool) {
		for k, raw := range keys {
			if which(k) && !slices.Contains(to[k], where) {
				to[k], about[k] = append(to[k], where), raw
			}
		}
	}
	add(all, "file", schema.Properties, func(k string) bool { _, not := schema.Then.Properties[k]; return !not })
	for i := range pages {
		add(all, "section", sections(i), func(k string) bool { return shared(k, sections) })
	}
	for i := range pages {
		add(all, "rule", rules(i), func(k string) bool { return shared(k, rules) })
	}
	holdKeys(t, schema, d, "policy keys", all, about)

	for i, p := range pages {
		own := map[string][]string{}
		about = map[string]json.RawMessage{}
		add(own, "section", sections(i), func(k string) bool { return !shared(k, sections) })
		add(own, "rule", rules(i), func(k string) bool { return !shared(k, rules) })
		holdKeys(t, schema, d, p.gate+" keys", own, about)
	}

	for name, raw := range map[string]json.RawMessage{"waive": rules(0)["waive"], "reviewed": rules(0)["reviewed"], "plan": schema.Defs["plan"]} {
		same(t, name, column(t, table(t, d, name), 0), schema.key(t, raw).Required)
	}
}

// holdKeys compares one table of keys with the places of the keys and with their schemas.
func holdKeys(t *testing.T, schema policySchema, d *document, name string, places map[string][]string, about map[string]json.RawMessage) {
	t.Helper()
	documented := map[string][]string{}
	for _, row := range table(t, d, name) {
		key := code(t, row[0])
		documented[key] = strings.Split(row[1], ", ")
		if about[key] == nil {
			continue
		}
		k := schema.key(t, about[key])
		want := "–"
		if k.Default != nil {
			want = fmt.Sprintf("`%v`", k.Default)
		}
		if row[2] != want {
			t.Errorf("%s: the default of %s is %s in the document, %s in the schema", name, key, row[2], want)
		}
		for _, value := range k.Enum {
			if key != "metric" && key != "rate" && !strings.Contains(row[3], "`"+value+"`") { // metrics have tables of their own
				t.Errorf("%s: the row of %s does not name its value %s", name, key, value)
			}
		}
	}
	if diff := gocmp.Diff(places, documented); diff != "" {
		t.Errorf("%s and where they stand (-schema +document):\n%s", name, diff)
	}
}

// TestMetrics holds the metrics of the documents to the policy's and to those that a report gives.
func TestMetrics(t *testing.T) {
	schema := readSchema(t)
	rates := column(t, table(t, readDocument(t, "docs/human-ai.md"), "rates"), 0)
	compared := column(t, table(t, readDocument(t, "docs/compare.md"), "metrics"), 0)
	blind := readDocument(t, "docs/anchoring.md")
	parity := readDocument(t, "docs/fairness.md") // all before a command changes the folder
	decided := append([]string{"accuracy_difference"}, rates...)
	same(t, "metrics of human-ai rules", decided, schema.metrics(t, "human_ai_rule", "metric"))
	same(t, "metrics of a human-ai report", append(decided, "decision_time"), measured(reportOf(t, "human-ai", "report", "study/decisions.csv", "--json")))

	labelled, units := column(t, table(t, blind, "metrics"), 0), column(t, table(t, blind, "units"), 0)
	same(t, "metrics of anchoring rules", labelled, schema.metrics(t, "anchoring_rule", "metric"))
	same(t, "metrics of an anchoring report", append(labelled, "kappa", "alpha", "labelling_time"), measured(labelsReport(t)))
	same(t, "units of anchoring rules", units, schema.key(t, schema.keys(t, "anchoring_rule")["per"]).Enum)

	same(t, "metrics of compare rules", compared, schema.metrics(t, "compare_rule", "metric"))
	same(t, "metrics of a compare report", compared, measured(reportOf(t, "compare", "report", "study/trials.csv", "--baseline", "old", "--candidate", "new", "--json")))

	ofGroups := column(t, table(t, parity, "rates"), 0)
	aliases := table(t, parity, "aliases")
	same(t, "rates of fairness rules", append(column(t, aliases, 0), ofGroups...), schema.metrics(t, "fairness_rule", "rate"))
	same(t, "metrics of a fairness report", append(ofGroups, "expected_calibration_error"), measured(reportOf(t, "fairness", "report", "study/fairness.yaml", "--json")))
	same(t, "thresholds of fairness rules", column(t, table(t, parity, "thresholds"), 0), []string{string(policy.MaxGroupGap), string(policy.WorstGroup), string(policy.MinGroupRatio)})
	for _, row := range aliases {
		if got, want := ruleOnRate(t, code(t, row[0])), code(t, row[1]); got != want {
			t.Errorf("a rule on %s is reported as one on %s, not on %s", code(t, row[0]), got, want)
		}
	}
}

// labelsReport is the report on two people's labels, in which every measure can be given.
func labelsReport(t *testing.T) report.Report {
	t.Helper()
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "d.csv"), "item,annotator,suggestion,label,visibility,kind,accepted,started_at,labelled_at\n"+
		"i1,a,x,x,blind,,,1,2\ni1,b,x,y,blind,,,1,2\ni2,a,x,x,visible,,1,1,2\ni3,a,x,x,visible,verify,,1,2\n")
	printed, _ := run(t, folder, "report", "oloproof anchoring report d.csv --json --quiet")
	var r report.Report
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	return r
}

// groupsFile is a file of cases of two groups with all columns that can be read.
const groupsFile = "id,label,prediction,probability,unit,sex\n1,1,1,0.9,a,f\n2,0,1,0.6,b,f\n3,1,0,0.4,c,m\n4,0,0,0.1,d,m\n"

// ruleOnRate decides a rule on a rate of groupsFile and returns the metric that the report names.
func ruleOnRate(t *testing.T, name string) string {
	t.Helper()
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "d.csv"), groupsFile)
	writeFile(t, filepath.Join(folder, "fairness.yaml"), "fairness:\n  cases: d.csv\n  attributes: {sex: [f, m]}\n  rules:\n    - {id: r, rate: "+name+", attribute: sex, max_group_gap: 0.1}\n")
	printed, _ := run(t, folder, name, "oloproof fairness fairness.yaml --json --quiet")
	var r report.Report
	if err := json.Unmarshal([]byte(printed), &r); err != nil || len(r.Gates) != 1 || len(r.Gates[0].Rules) != 1 {
		t.Fatalf("%s: %v\n%s", name, err, printed)
	}
	return r.Gates[0].Rules[0].Metric
}

// TestGroupColumns leaves each documented column out of a file of cases, whose declaration names what the file has.
func TestGroupColumns(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(groupsFile), "\n")
	header := strings.Split(lines[0], ",")
	rows := table(t, readDocument(t, "docs/fairness.md"), "columns")
	same(t, "fairness: columns", append(column(t, rows, 0), "sex"), header)
	for _, row := range rows {
		name := code(t, row[0])
		at := slices.Index(header, name)
		var file strings.Builder
		for _, line := range lines {
			cells := strings.Split(line, ",")
			file.WriteString(strings.Join(slices.Delete(cells, at, at+1), ",") + "\n")
		}
		declared := ""
		for _, optional := range []string{"probability", "unit"} {
			if optional != name {
				declared += "  " + optional + ": " + optional + "\n"
			}
		}
		folder := t.TempDir()
		writeFile(t, filepath.Join(folder, "d.csv"), file.String())
		writeFile(t, filepath.Join(folder, "fairness.yaml"), "fairness:\n  cases: d.csv\n"+declared+"  attributes: {sex: [f, m]}\n  rules:\n    - {id: r, rate: error, attribute: sex, max_group_gap: 0.1}\n")
		printed, status := run(t, folder, name, "oloproof fairness check fairness.yaml")
		if needed := row[1] == "yes"; needed != (status == report.ExitUnusable) {
			t.Errorf("column %s is needed: %q, but without it the exit status is %d:\n%s", name, row[1], status, printed)
		}
	}
}

// measured lists the metrics of a report of one gate, each once.
func measured(r report.Report) []string {
	names := map[string]bool{}
	for _, m := range r.Gates[0].Measures {
		names[m.Metric] = true
	}
	return slices.Collect(maps.Keys(names))
}

// reportOf runs a command of a gate, with its example in study/, that prints a JSON report.
func reportOf(t *testing.T, gate string, args ...string) report.Report {
	t.Helper()
	folder := t.TempDir()
	run(t, folder, "report", "oloproof init --example "+gate+" study")
	printed, _ := run(t, folder, "report", "oloproof "+gate+" "+strings.Join(args, " ")+" --quiet")
	var r report.Report
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		t.Fatalf("%s %v: %v\n%s", gate, args, err, printed)
	}
	return r
}

// checkColumns runs check on a file of one row with these columns and returns its exit status and what it prints.
func checkColumns(t *testing.T, gate string, values map[string]string) (status int, printed string) {
	t.Helper()
	var header, row []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		header, row = append(header, name), append(row, values[name])
	}
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "d.csv"), strings.Join(header, ",")+"\n"+strings.Join(row, ",")+"\n")
	printed, status = run(t, folder, gate, "oloproof "+gate+" check d.csv")
	return status, printed
}

// TestColumns leaves each documented column out of a file, to see whether it is needed.
func TestColumns(t *testing.T) {
	for _, p := range []struct {
		gate   string
		rows   [][]string
		values map[string]string
	}{
		{"human-ai", table(t, readDocument(t, "docs/human-ai.md"), "columns"), map[string]string{
			"case": "c1", "reviewer": "r1", "condition": "with", "decision": "a", "reference": "a", "ai_output": "a", "started_at": "1", "decided_at": "2",
		}},
		{"anchoring", table(t, readDocument(t, "docs/anchoring.md"), "columns"), map[string]string{
			"item": "i1", "annotator": "a", "suggestion": "x", "label": "x", "visibility": "blind", "kind": "audit", "accepted": "", "inclusion_probability": "0.5", "started_at": "1", "labelled_at": "2",
		}},
		{"compare", table(t, readDocument(t, "docs/compare.md"), "columns"), map[string]string{"version": "v", "case": "c1", "trial": "1", "passed": "1", "score": "0.5"}},
	} {
		same(t, p.gate+": columns", column(t, p.rows, 0), slices.Collect(maps.Keys(p.values)))
		for _, row := range p.rows {
			name := code(t, row[0])
			if row[1] == "one of the two" {
				continue
			}
			without := maps.Clone(p.values)
			delete(without, name)
			if p.gate == "compare" {
				delete(without, "score") // a file has passed or score
			}
			status, printed := checkColumns(t, p.gate, without)
			if needed := row[1] == "yes"; needed != (status == report.ExitUnusable) {
				t.Errorf("%s: column %s is needed: %q, but without it the exit status is %d:\n%s", p.gate, name, row[1], status, printed)
			}
		}
	}
	// Of the two results of a trial one is needed.
	for _, c := range []struct {
		results []string
		want    int
	}{{nil, report.ExitUnusable}, {[]string{"passed"}, 0}, {[]string{"score"}, 0}, {[]string{"passed", "score"}, report.ExitUnusable}} {
		values := map[string]string{"version": "v", "case": "c1"}
		for _, name := range c.results {
			values[name] = "1"
		}
		if status, printed := checkColumns(t, "compare", values); status != c.want {
			t.Errorf("with the results %v the exit status is %d, want %d:\n%s", c.results, status, c.want, printed)
		}
	}
}

// TestFindings holds the documented codes of findings, and their severities, to those that the code gives: each gate's own
// and those that all gates share.
func TestFindings(t *testing.T) {
	for _, p := range pages {
		inCode := map[string][]string{}
		folders := []string{p.folder, "engine/gate", "engine/policy", "engine/rows"}
		if p.gate == "fairness" { // the command line finds what is odd about a declaration and the policy beside it
			folders = append(folders, "internal/cli")
		}
		for _, folder := range folders {
			collectCodes(t, folder, inCode)
		}
		if len(inCode) < 15 {
			t.Fatalf("%s: only %d codes were found in the source: has the way in which findings are made changed?", p.gate, len(inCode))
		}
		delete(inCode, "ids_checked_within_part") // of tallies, which have a page of their own
		delete(inCode, "ids_not_checked")         // likewise
		severityOf, inDocument := map[string]string{}, map[string]string{}
		for c, severities := range inCode {
			severityOf[c] = strings.Join(slices.Compact(slices.Sorted(slices.Values(severities))), " or ")
		}
		for _, row := range table(t, readDocument(t, p.document), "findings") {
			c := code(t, row[0])
			inDocument[c] = row[1]
			if severity, found := severityOf[c]; found && severity == "" { // the source does not say it in a way that is read here
				severityOf[c] = row[1]
			}
		}
		if diff := gocmp.Diff(severityOf, inDocument); diff != "" {
			t.Errorf("findings of %s (-code +document):\n%s", p.gate, diff)
		}
	}
}

var codeForm = regexp.MustCompile(`^[a-z]+(_[a-z]+)+$|^abstentions$`)

// collectCodes reads the codes of findings out of the source of a folder, with the severities where they stand
// beside them: what looks like a code among the arguments of a function that adds something, under a key Code of a
// literal, or in a constant for findings.
func collectCodes(t *testing.T, folder string, codes map[string][]string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(files), err)
	}
	set := token.NewFileSet()
	literal := func(e ast.Expr) string {
		if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if s, err := strconv.Unquote(l.Value); err == nil && codeForm.MatchString(s) {
				return s
			}
		}
		return ""
	}
	severity := func(e ast.Expr) string {
		if s, ok := e.(*ast.SelectorExpr); ok && (s.Sel.Name == "Warning" || s.Sel.Name == "Note") {
			return strings.ToLower(s.Sel.Name)
		}
		return ""
	}
	note := func(c, s string) {
		if c == "" || c == "model_and_annotator" { // what a kappa is between
			return
		}
		if codes[c] == nil {
			codes[c] = []string{}
		}
		if s != "" {
			codes[c] = append(codes[c], s)
		}
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if !adds(n.Fun) {
					return true
				}
				found, graded := "", ""
				for _, arg := range n.Args {
					found, graded = cmp.Or(found, literal(arg)), cmp.Or(graded, severity(arg))
				}
				note(found, graded)
			case *ast.CompositeLit:
				found, graded := "", ""
				for _, e := range n.Elts {
					if pair, ok := e.(*ast.KeyValueExpr); ok {
						switch key, _ := pair.Key.(*ast.Ident); {
						case key == nil:
						case key.Name == "Code":
							found = literal(pair.Value)
						case key.Name == "Severity":
							graded = severity(pair.Value)
						}
					}
				}
				note(found, graded)
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if i < len(n.Values) && (name.Name == "RuleCannotFail" || strings.HasPrefix(name.Name, "Finding")) {
						note(literal(n.Values[i]), "")
					}
				}
			}
			return true
		})
	}
}

// adds reports whether a function is called that adds something: its name begins with add, or it is alike or warn.
func adds(function ast.Expr) bool {
	if method, ok := function.(*ast.SelectorExpr); ok {
		function = method.Sel
	}
	name, ok := function.(*ast.Ident)
	return ok && (strings.HasPrefix(strings.ToLower(name.Name), "add") || name.Name == "alike" || name.Name == "warn")
}

func TestVerdicts(t *testing.T) {
	var inCode, inDocument []string
	for _, v := range append([]report.Verdict{report.NoVerdict}, report.Verdicts...) {
		inCode = append(inCode, fmt.Sprint(v, " ", v.ExitStatus()))
	}
	for _, row := range table(t, readDocument(t, "docs/verdicts.md"), "verdicts") {
		name := "NO_VERDICT"
		if strings.HasPrefix(row[0], "`") {
			name = code(t, row[0])
		}
		inDocument = append(inDocument, name+" "+row[1])
	}
	same(t, "verdicts and exit statuses", inDocument, inCode)
}

func TestFormats(t *testing.T) {
	same(t, "formats", column(t, table(t, readDocument(t, "docs/verdicts.md"), "formats"), 0), summary.Names())
}

func TestMethods(t *testing.T) {
	same(t, "methods", column(t, table(t, readDocument(t, "docs/methods.md"), "methods"), 1), []string{
		string(interval.MethodClopperPearson), string(interval.MethodUniformMixture), string(interval.MethodDirichlet), string(interval.MethodSymPol),
		string(interval.MethodHypergeometric), string(interval.MethodOrderStatistics), string(interval.MethodSignTest), string(interval.MethodPairingAverage),
		string(interval.MethodBonferroni), string(interval.MethodFisherProduct), string(interval.MethodWeightedMixture),
	})
}

// actionFile is what is compared of action.yml.
type actionFile struct {
	Inputs map[string]struct {
		Required bool   `yaml:"required"`
		Default  string `yaml:"default"`
	} `yaml:"inputs"`
	Outputs map[string]any `yaml:"outputs"`
}

func readAction(t *testing.T) actionFile {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var a actionFile
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestActionTables(t *testing.T) {
	a, d := readAction(t), readDocument(t, "docs/action.md")
	same(t, "outputs", column(t, table(t, d, "outputs"), 0), slices.Collect(maps.Keys(a.Outputs)))
	inputs := table(t, d, "inputs")
	same(t, "inputs", column(t, inputs, 0), slices.Collect(maps.Keys(a.Inputs)))
	for _, row := range inputs {
		in := a.Inputs[code(t, row[0])]
		want := "empty"
		switch {
		case in.Required:
			want = "required"
		case in.Default != "":
			want = "`" + in.Default + "`"
		}
		if row[1] != want {
			t.Errorf("input %s: the document says %s, action.yml %s", row[0], row[1], want)
		}
	}
}

// TestPolicies checks every policy that the documents show as `oloproof policy check` does, and against the
// schema that editors use.
func TestPolicies(t *testing.T) {
	raw, err := jsonschema.UnmarshalJSON(strings.NewReader(policy.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("policy.json", raw); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("policy.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, d := range documents(t) {
		for _, b := range d.blocks(t) {
			if b.language != "yaml" || !b.has("policy") {
				continue
			}
			seen++
			folder := t.TempDir()
			writeFile(t, filepath.Join(folder, "policy.yaml"), d.text(b))
			place := fmt.Sprintf("%s:%d", d.path, b.line)
			command := "oloproof policy check policy.yaml"
			if gate := b.setting("gate"); gate != "" {
				command += " --gate " + gate
			}
			if printed, status := run(t, folder, place, command); status != 0 {
				t.Errorf("%s:\n%s", place, printed)
			}
			if err := schema.Validate(instance(t, d.text(b))); err != nil {
				t.Errorf("%s: against the schema: %v", place, err)
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d policies were found in the documents", seen)
	}
}

// instance is a policy as a schema sees it. Days stay texts, as YAML 1.2 has them.
func instance(t *testing.T, text string) any {
	t.Helper()
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		t.Fatal(err)
	}
	var keepDays func(n *yaml.Node)
	keepDays = func(n *yaml.Node) {
		if n.Tag == "!!timestamp" {
			n.Tag = "!!str"
		}
		for _, child := range n.Content {
			keepDays(child)
		}
	}
	keepDays(&node)
	var decoded any
	if err := node.Decode(&decoded); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(decoded)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(asJSON)))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// TestWorkflows compares what the documents' workflows give the action with what it takes.
func TestWorkflows(t *testing.T) {
	a := readAction(t)
	seen := 0
	for _, d := range documents(t) {
		for _, b := range d.blocks(t) {
			if b.language != "yaml" || !b.has("workflow") {
				continue
			}
			place := fmt.Sprintf("%s:%d", d.path, b.line)
			var workflow struct {
				Jobs map[string]struct {
					Steps []struct {
						Uses string            `yaml:"uses"`
						With map[string]string `yaml:"with"`
					} `yaml:"steps"`
				} `yaml:"jobs"`
			}
			if err := yaml.Unmarshal([]byte(d.text(b)), &workflow); err != nil {
				t.Fatalf("%s: %v", place, err)
			}
			ours := 0
			for _, job := range workflow.Jobs {
				for _, step := range job.Steps {
					// Where it is not GitHub that looks a short name up, the whole address stands.
					if uses := strings.TrimPrefix(step.Uses, "https://github.com/"); !strings.HasPrefix(uses, "oloproof/oloproof@") {
						continue
					}
					ours++
					for name := range step.With {
						if _, found := a.Inputs[name]; !found {
							t.Errorf("%s: action.yml has no input %s", place, name)
						}
					}
					for name, in := range a.Inputs {
						if in.Required && step.With[name] == "" {
							t.Errorf("%s: the input %s is required", place, name)
						}
					}
				}
			}
			if ours == 0 {
				t.Errorf("%s: no step uses the action", place)
			}
			seen += ours
		}
	}
	if seen == 0 {
		t.Error("no workflow was found in the documents")
	}
}

// pipelineCommand is a command of the program in a recipe for another platform, to the end of its line or of the quotes that
// it stands in.
var pipelineCommand = regexp.MustCompile(`\./oloproof ([^'\n]+)`)

// TestPipelines runs every command of the recipes for other platforms on a release file, as the recipes have one: it decides, and
// the reports are where the recipe looks for them.
func TestPipelines(t *testing.T) {
	platforms := map[string]bool{}
	for _, d := range documents(t) {
		for _, b := range d.blocks(t) {
			if !b.has("pipeline") {
				continue
			}
			place := fmt.Sprintf("%s:%d", d.path, b.line)
			text := d.text(b)
			if b.language == "yaml" {
				var parsed map[string]any
				if err := yaml.Unmarshal([]byte(text), &parsed); err != nil || len(parsed) == 0 {
					t.Errorf("%s: %v", place, err)
				}
			}
			for _, m := range pipelineCommand.FindAllStringSubmatch(text, -1) {
				folder := t.TempDir()
				command := strings.ReplaceAll(m[1], `"$BUILD_ARTIFACTSTAGINGDIRECTORY"`, "staging")
				run(t, folder, place, "oloproof init --example human-ai .")
				writeFile(t, filepath.Join(folder, "release.yaml"), "human_ai:\n  decisions: decisions.csv\n  rules: [{id: a, metric: accuracy_with, minimum: 0.9, per: person}]\n")
				printed, status := run(t, folder, place, "oloproof "+command)
				if status != report.ExitInsufficientEvidence && !strings.Contains(command, "--fail-on") || status == report.ExitUnusable {
					t.Errorf("%s: %q ends with %d:\n%s", place, command, status, printed)
				}
				words := strings.Fields(command)
				for i, word := range words[:len(words)-1] {
					switch word {
					case "--ci":
						platforms[words[i+1]] = true
					case "--format":
						_, name, _ := strings.Cut(words[i+1], ":")
						if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
							t.Errorf("%s: %v", place, err)
						}
						if file := filepath.Base(name); strings.Count(strings.Join(d.lines, "\n"), file) < 2 && !strings.HasPrefix(name, "staging/") {
							t.Errorf("%s: nothing takes up %s", place, file)
						}
					}
				}
			}
		}
	}
	// GitHub, Gitea and Forgejo have the action.
	same(t, "platforms", slices.Collect(maps.Keys(platforms)), []string{"azure", "buildkite", "gitlab", "jenkins"})
}

// notRun are the commands that a block of sh may show: they take the network or minutes, or run these tests.
var notRun = []string{
	"go test ./...", "go install github.com/oloproof/oloproof@", "git clone https://github.com/oloproof/oloproof", "cd oloproof",
	"sha256sum ", "gh attestation verify ", "printf %s ", "docker build ", "docker run ", "bash .ci/run", "npm --prefix site ", "go test ./", "go test -run '^$' -bench ", "go run ./test/perf ", "oloproof comment --report ", "oloproof audit coverage --full",
}

// TestBlockKinds keeps every block one of those that something checks.
func TestBlockKinds(t *testing.T) {
	for _, d := range documents(t) {
		for _, b := range d.blocks(t) {
			place := fmt.Sprintf("%s:%d", d.path, b.line)
			switch {
			case b.language == "console", b.language == "csv", b.language == "text":
			case b.language == "yaml" && (b.has("policy") || b.has("workflow") || b.has("pipeline")):
			case (b.language == "groovy" || b.language == "sh") && b.has("pipeline"):
			case b.language == "sh":
				for line := range strings.Lines(d.text(b)) {
					known := slices.ContainsFunc(notRun, func(c string) bool { return strings.HasPrefix(line, c) })
					if line != "\n" && !known {
						t.Errorf("%s: %q is run by nobody; make it a console block", place, strings.TrimSpace(line))
					}
				}
			default:
				t.Errorf("%s: nothing checks a block of %s %v", place, b.language, b.words)
			}
		}
	}
}
