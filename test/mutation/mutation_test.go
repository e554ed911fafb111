// Package mutation holds what gremlins found against .ci/mutants.txt, the mutants that no test notices and none has to: gremlins changes one
// operator of the program at a time and runs the tests of its package, and a change that they do not notice is a line whose
// behaviour nothing states.
//
// It needs gremlins' results in JSON, one file for each package, in the folder that OLOPROOF_MUTANTS names, each named after the package's
// path with "+" for "/". Where that is not set only the explanations are read.
package mutation

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// place is where a mutant is, without the number of its line, so that changes elsewhere do not move it.
type place struct {
	file     string // from the root
	function string // with its receiver, as in "Threshold.Compare"; "" outside of all
	kind     string // gremlins' name of the change
	line     string // trimmed, the operator between ⟦ and ⟧
}

func (p place) String() string {
	return strings.Join([]string{p.file, p.function, p.kind, p.line}, "\t")
}

// operators are what each kind of change changes; all that gremlins does unless told to do more.
var operators = map[string][]string{
	"ARITHMETIC_BASE":       {"+", "-", "*", "/", "%"},
	"CONDITIONALS_BOUNDARY": {"<", "<=", ">", ">="},
	"CONDITIONALS_NEGATION": {"==", "!=", "<", "<=", ">", ">="},
	"INCREMENT_DECREMENT":   {"++", "--"},
	"INVERT_NEGATIVES":      {"-"},
}

// source is a file of Go, read to name places in it.
type source struct {
	file  string
	lines []string
	set   *token.FileSet
	tree  *ast.File
}

func read(t *testing.T, file string) source {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return source{file, strings.Split(string(text), "\n"), set, tree}
}

// function is the name of the function that holds a line.
func (s source) function(line int) string {
	for _, d := range s.tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || line < s.set.Position(f.Pos()).Line || line > s.set.Position(f.End()).Line {
			continue
		}
		if f.Recv == nil {
			return f.Name.Name
		}
		of := f.Recv.List[0].Type
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		if index, ok := of.(*ast.IndexExpr); ok {
			of = index.X
		}
		return fmt.Sprintf("%s.%s", of, f.Name.Name)
	}
	return ""
}

// at is the place of the operator at a line and column, both from 1, the column in bytes.
func (s source) at(kind string, line, column int) (place, error) {
	if line < 1 || line > len(s.lines) || column < 1 || column > len(s.lines[line-1]) {
		return place{}, fmt.Errorf("%s has no line %d with a column %d", s.file, line, column)
	}
	before, rest := s.lines[line-1][:column-1], s.lines[line-1][column-1:]
	longest := ""
	for _, operator := range operators[kind] {
		if strings.HasPrefix(rest, operator) && len(operator) > len(longest) {
			longest = operator
		}
	}
	if longest == "" {
		return place{}, fmt.Errorf("%s:%d:%d: no operator of %s stands there", s.file, line, column, kind)
	}
	return place{s.file, s.function(line), kind, strings.TrimSpace(before + "⟦" + longest + "⟧" + rest[len(longest):])}, nil
}

// explained reads .ci/mutants.txt: the places, each with the reason that stands above it.
func explained(t *testing.T) map[place]string {
	t.Helper()
	const name = ".ci/mutants.txt"
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	places := map[place]string{}
	reason, ended := "", true
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		comment, is := strings.CutPrefix(line, "#")
		switch {
		case line == "":
			reason, ended = "", true
		case is && ended:
			reason = strings.TrimSpace(reason + " " + strings.TrimSpace(comment))
		default:
			ended = false
			fields := strings.Split(line, "\t")
			if len(fields) != 4 || reason == "" || operators[fields[2]] == nil {
				t.Errorf("%s:%d: %q is not a file, function, kind of change and line with tabs between them, below a reason", name, i+1, line)
				continue
			}
			p := place{fields[0], fields[1], fields[2], fields[3]}
			if places[p] != "" {
				t.Errorf("%s:%d: %s is there twice", name, i+1, p)
			}
			places[p] = reason
		}
	}
	return places
}

// TestExplainedMutantsAreThere: what is explained is still a line of its function, with the operator where it is marked.
func TestExplainedMutantsAreThere(t *testing.T) {
	sources := map[string]source{}
	for p := range explained(t) {
		s, known := sources[p.file]
		if !known {
			s = read(t, p.file)
			sources[p.file] = s
		}
		before, rest, _ := strings.Cut(p.line, "⟦")
		operator, after, _ := strings.Cut(rest, "⟧")
		found := slices.Contains(operators[p.kind], operator)
		if found {
			found = false
			for i, line := range s.lines {
				if strings.TrimSpace(line) == before+operator+after && s.function(i+1) == p.function {
					found = true
				}
			}
		}
		if !found {
			t.Errorf("the program has no such place any more; take it out of .ci/mutants.txt, or write it as it is now:\n%s", p)
		}
	}
}

// results are gremlins' of a package.
type results struct {
	Files []struct {
		Name    string `json:"file_name"`
		Mutants []struct {
			Kind   string `json:"type"`
			Status string `json:"status"`
			Line   int    `json:"line"`
			Column int    `json:"column"`
		} `json:"mutations"`
	} `json:"files"`
}

// TestMutants: every mutant that no test noticed, or reached, is explained. Those that are explained and were noticed are listed.
func TestMutants(t *testing.T) {
	folder := os.Getenv("OLOPROOF_MUTANTS")
	if folder == "" {
		t.Skip("set OLOPROOF_MUTANTS to hold gremlins' results against .ci/mutants.txt")
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no results in %s: %v", folder, err)
	}
	known := explained(t)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var all results
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		folder := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(path), ".json"), "+", "/")
		count := map[string]int{}
		expected := 0
		for _, f := range all.Files {
			s := read(t, folder+"/"+f.Name)
			survived := map[place]bool{}
			for _, m := range f.Mutants {
				count[m.Status]++
				if m.Status == "KILLED" || m.Status == "TIMED OUT" {
					continue
				}
				p, err := s.at(m.Kind, m.Line, m.Column)
				if err != nil {
					t.Error(err)
					continue
				}
				survived[p] = true
				if known[p] != "" {
					expected++
					continue
				}
				t.Errorf("%s:%d:%d: %s: no test notices this change: state the behaviour in a test, or explain in .ci/mutants.txt why there is none to state:\n%s",
					s.file, m.Line, m.Column, m.Status, p)
			}
			for p := range known {
				if p.file == s.file && !survived[p] {
					t.Logf("a test notices this change now, or took too long: it may be taken out of .ci/mutants.txt:\n%s", p)
				}
			}
		}
		killed, lived := count["KILLED"], count["LIVED"]
		if killed == 0 || count["NOT VIABLE"] > 0 || count["RUNNABLE"] > 0 || count["TIMED OUT"] > killed/4 {
			t.Errorf("%s: gremlins did not do its work: %v", folder, count)
		}
		t.Logf("%s: %d killed, %d lived, %d timed out, %d not covered; %d of those that lived or are not covered are explained; of killed and lived %.2f%% killed",
			folder, killed, lived, count["TIMED OUT"], count["NOT COVERED"], expected, 100*float64(killed)/float64(killed+lived))
	}
}
