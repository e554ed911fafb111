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

// policySchema is the published schema of policies, which engine/policy's own tests hold to the parser.
type policySchema struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Then       struct {
		Properties map[string]bool `json:"properties"`
	} `json:"then"`
	Defs map[string]struct {
		Default    any                        `json:"default"`
		Enum       []string                   `json:"enum"`
		Properties map[string]json.RawMessage `json:"properties"`
	} `json:"$defs"`
}

func readSchema(t *testing.T) policySchema {
	t.Helper()
	var s policySchema
	if err := json.Unmarshal([]byte(policy.Schema()), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// metrics are those that a rule can name.
func (s policySchema) metrics(t *testing.T) []string {
	t.Helper()
	var metric struct {
		Enum []string `json:"enum"`
	}
	if err := json.Unmarshal(s.Defs["human_ai_rule"].Properties["metric"], &metric); err != nil {
		t.Fatal(err)
	}
	return metric.Enum
}

func TestPolicyKeys(t *testing.T) {
	schema, d := readSchema(t), readDocument(t, "docs/policy.md")
	places := map[string][]string{} // key → where it may stand
	for _, where := range []struct {
		name string
		keys []string
	}{
		{"file", slices.DeleteFunc(slices.Collect(maps.Keys(schema.Properties)), func(k string) bool { _, not := schema.Then.Properties[k]; return not })},
		{"section", slices.Collect(maps.Keys(schema.Defs["human_ai"].Properties))},
		{"rule", slices.Collect(maps.Keys(schema.Defs["human_ai_rule"].Properties))},
	} {
		for _, k := range where.keys {
			places[k] = append(places[k], where.name)
		}
	}
	documented := map[string][]string{}
	for _, row := range table(t, d, "policy keys") {
		key := code(t, row[0])
		documented[key] = strings.Split(row[1], ", ")
		def := schema.Defs[key]
		want := "–"
		if def.Default != nil {
			want = fmt.Sprintf("`%v`", def.Default)
		}
		if def.Default != nil && row[2] != want {
			t.Errorf("the default of %s is %s in the document, %s in the schema", key, row[2], want)
		}
		for _, value := range def.Enum {
			if !strings.Contains(row[3], "`"+value+"`") {
				t.Errorf("the row of %s does not name its value %s", key, value)
			}
		}
	}
	if diff := gocmp.Diff(places, documented); diff != "" {
		t.Errorf("keys and where they stand (-schema +document):\n%s", diff)
	}
	for _, inner := range []string{"waive", "reviewed"} {
		var s struct {
			Required []string `json:"required"`
		}
		if err := json.Unmarshal(schema.Defs["human_ai_rule"].Properties[inner], &s); err != nil {
			t.Fatal(err)
		}
		same(t, inner, column(t, table(t, d, inner), 0), s.Required)
	}
}

// TestMetrics holds the metrics of the document to the policy's and to those that a report gives.
func TestMetrics(t *testing.T) {
	d := readDocument(t, "docs/human-ai.md")
	rates := column(t, table(t, d, "rates"), 0)
	metrics := append([]string{"accuracy_difference"}, rates...)
	same(t, "metrics of rules", metrics, readSchema(t).metrics(t))

	r := reportOf(t, "human-ai", "report", "study/decisions.csv", "--json")
	measured := map[string]bool{}
	for _, m := range r.Gates[0].Measures {
		measured[m.Metric] = true
	}
	same(t, "metrics of a report", append(metrics, "decision_time"), slices.Collect(maps.Keys(measured)))
}

// reportOf runs a command, with the human-ai example in study/, that prints a JSON report.
func reportOf(t *testing.T, args ...string) report.Report {
	t.Helper()
	folder := t.TempDir()
	run(t, folder, "init", "oloproof init --example human-ai study")
	printed, _ := run(t, folder, "report", "oloproof "+strings.Join(args, " ")+" --quiet")
	var r report.Report
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, printed)
	}
	return r
}

// TestColumns leaves each documented column out of a file, to see whether it is needed.
func TestColumns(t *testing.T) {
	rows := table(t, readDocument(t, "docs/human-ai.md"), "columns")
	value := map[string]string{
		"case": "c1", "reviewer": "r1", "condition": "with", "decision": "a", "reference": "a", "ai_output": "a", "started_at": "1", "decided_at": "2",
	}
	same(t, "columns", column(t, rows, 0), slices.Collect(maps.Keys(value)))
	for _, row := range rows {
		name := code(t, row[0])
		var header, values []string
		for _, other := range slices.Sorted(maps.Keys(value)) {
			if other != name {
				header, values = append(header, other), append(values, value[other])
			}
		}
		folder := t.TempDir()
		writeFile(t, filepath.Join(folder, "d.csv"), strings.Join(header, ",")+"\n"+strings.Join(values, ",")+"\n")
		printed, status := run(t, folder, name, "oloproof human-ai check d.csv")
		if needed := row[1] == "yes"; needed != (status == report.ExitUnusable) {
			t.Errorf("column %s is needed: %q, but without it the exit status is %d:\n%s", name, row[1], status, printed)
		}
	}
}

// TestFindings holds the documented codes of findings, and their severities, to those that the code gives.
func TestFindings(t *testing.T) {
	inCode := map[string]string{}
	for _, folder := range []string{"engine/gate/humanai", "engine/gate", "engine/policy", "engine/rows"} {
		collectCodes(t, folder, inCode)
	}
	if len(inCode) < 20 {
		t.Fatalf("only %d codes were found in the source: has the way in which findings are made changed?", len(inCode))
	}
	inDocument := map[string]string{}
	for _, row := range table(t, readDocument(t, "docs/human-ai.md"), "findings") {
		c := code(t, row[0])
		inDocument[c] = row[1]
		if inCode[c] == "" { // the source does not say it in a way that is read here
			inCode[c] = map[bool]string{true: row[1], false: "(not in the code)"}[hasKey(inCode, c)]
		}
	}
	if diff := gocmp.Diff(inCode, inDocument); diff != "" {
		t.Errorf("findings (-code +document):\n%s", diff)
	}
}

func hasKey(m map[string]string, k string) bool { _, found := m[k]; return found }

var codeForm = regexp.MustCompile(`^[a-z]+(_[a-z]+)+$|^abstentions$`)

// collectCodes reads the codes of findings out of the source of a folder, with the severity where it stands
// beside them: what looks like a code among the arguments of a function that adds something, under a key Code of a
// literal, or in a constant for findings.
func collectCodes(t *testing.T, folder string, codes map[string]string) {
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
		if c != "" && codes[c] == "" {
			codes[c] = s
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

// adds reports whether a function is called that adds something: its name begins with add, or it is alike.
func adds(function ast.Expr) bool {
	if method, ok := function.(*ast.SelectorExpr); ok {
		function = method.Sel
	}
	name, ok := function.(*ast.Ident)
	return ok && (strings.HasPrefix(strings.ToLower(name.Name), "add") || name.Name == "alike")
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
			if printed, status := run(t, folder, place, "oloproof policy check policy.yaml"); status != 0 {
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
					if !strings.HasPrefix(step.Uses, "oloproof/oloproof@") {
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

// notRun are the commands that a block of sh may show: they take the network, or run these tests.
var notRun = []string{
	"go test ./...", "go install github.com/oloproof/oloproof@", "git clone https://github.com/oloproof/oloproof", "cd oloproof",
	"sha256sum ", "printf %s ", "docker build ", "docker run ", "bash .ci/run", "go test ./",
}

// TestBlockKinds keeps every block one of those that something checks.
func TestBlockKinds(t *testing.T) {
	for _, d := range documents(t) {
		for _, b := range d.blocks(t) {
			place := fmt.Sprintf("%s:%d", d.path, b.line)
			switch {
			case b.language == "console", b.language == "csv", b.language == "text":
			case b.language == "yaml" && (b.has("policy") || b.has("workflow")):
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
