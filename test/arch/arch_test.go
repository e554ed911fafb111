// Package arch holds the tests that keep the house in shape: who imports whom, where the environment is
// read, and what is not named. They read the files and run no command.
package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	root   = "../.."
	module = "github.com/oloproof/oloproof"
)

// mayImport says which of our packages each of them may import, by folder; "" is the repository's own.
// The flow has one direction: rows, tallies, gates, report, formats, delivery. A folder that ends in "/*"
// stands for those directly in it. A package that is not named here needs a line.
var mayImport = map[string][]string{
	"":                  {"internal/cli"},
	"engine":            {},
	"engine/diag":       {},
	"engine/interval":   {},
	"engine/parquet":    {},
	"engine/rows":       {"engine/diag", "engine/parquet"},
	"engine/sql":        {"engine/diag"},
	"engine/policy":     {"engine/diag"},
	"engine/report":     {"engine/diag", "engine/interval"},
	"engine/gate":       {"engine/diag", "engine/interval", "engine/policy", "engine/report", "engine/rows", "engine/sql"},
	"engine/gate/*":     {"engine/diag", "engine/interval", "engine/policy", "engine/report", "engine/rows", "engine/sql", "engine/gate"},
	"engine/gate/kinds": {"engine/policy", "engine/gate", "engine/gate/*"},
	"engine/study":      gatesAndBelow,
	"engine/audit":      gatesAndBelow,
	"engine/ledger":     gatesAndBelow,
	"engine/example":    append([]string{"engine/study"}, gatesAndBelow...),
	"summary":           {"engine/diag", "engine/interval", "engine/report"},
	"summary/ci":        {"engine/diag", "engine/report", "summary"},
	"test/oracle":       {"internal/cli"}, // a second opinion shares nothing with the first
	"test/perf":         {},
	"test/perf/*":       {},
	"internal/cli":      {"engine", "engine/*", "engine/gate/*", "summary", "summary/ci"},
}

var gatesAndBelow = []string{
	"engine/diag", "engine/interval", "engine/rows", "engine/policy", "engine/report", "engine/gate", "engine/gate/*",
}

// mainOnly are the functions of package os that only main.go may call: everything else is handed its
// environment, so that it can be tested, and returns its exit status.
var mainOnly = []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv", "Exit"}

func TestImports(t *testing.T) {
	for _, problem := range importProblems(sources(t)) {
		t.Error(problem)
	}
}

func TestEnvironmentAndExitOnlyInMain(t *testing.T) {
	for _, problem := range mainOnlyProblems(sources(t)) {
		t.Error(problem)
	}
}

func TestNoInit(t *testing.T) {
	for _, problem := range initProblems(sources(t)) {
		t.Error(problem)
	}
}

func TestNoForeignNames(t *testing.T) {
	files := 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); base == ".git" || base == ".ci" || base == "node_modules" { // npm's copies are not of the project
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files++
		for _, found := range foreignNames(string(text)) {
			t.Errorf("%s names %s: it is not of the project; only .ci may know its surroundings", name, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Errorf("only %d files were looked at", files)
	}
}

// foreign are names that mean nothing to someone who has only this repository: a folder beside it, and
// the hosts that packages come from, which each machine sets for itself.
var foreign = regexp.MustCompile(`\.\./shared\b|\b(proxy|registry|deb|sum)\.[a-z]+\.(org|com|net)\b`)

func foreignNames(text string) []string {
	// The search is slow, and most files have none of this.
	for _, part := range []string{"/shared", "proxy.", "registry.", "deb.", "sum."} {
		if strings.Contains(text, part) {
			return foreign.FindAllString(text, -1)
		}
	}
	return nil
}

// TestProblemsAreFound plants one of each problem: a check that finds nothing proves nothing.
func TestProblemsAreFound(t *testing.T) {
	planted := []source{
		parse(t, "engine/interval/a.go", `package interval; import "github.com/oloproof/oloproof/engine/rows"`),
		parse(t, "engine/gate/humanai/a.go", `package humanai; import "github.com/oloproof/oloproof/engine/gate/compare"`),
		parse(t, "engine/gate/kinds/a.go", `package kinds; import "github.com/oloproof/oloproof/engine/gate/compare"`), // allowed
		parse(t, "engine/unheard/a.go", `package unheard`),
		parse(t, "summary/a.go", "package summary; import system \"os\"\nfunc init() {}\nvar _ = system.Getenv"),
		parse(t, "main.go", `package main; import "os"; func main() { os.Exit(0) }`), // allowed
	}
	got := slices.Concat(importProblems(planted), mainOnlyProblems(planted), initProblems(planted))
	want := []string{
		"engine/interval/a.go:1: engine/interval may not import engine/rows",
		"engine/gate/humanai/a.go:1: engine/gate/humanai may not import engine/gate/compare",
		"engine/unheard/a.go:1: the table mayImport has no line for engine/unheard",
		"summary/a.go:3: os.Getenv is for main.go alone",
		"summary/a.go:2: an init function hides what happens before main",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	beside, host := ".."+"/shared", "registry."+"example.org"
	if diff := cmp.Diff([]string{beside, host}, foreignNames("cp "+beside+"/x . # from https://"+host+"/x, "+".."+"/shared_x")); diff != "" {
		t.Errorf("foreign names (-want +got):\n%s", diff)
	}
}

// source is one Go file that is not a test.
type source struct {
	path string // relative to the repository, with slashes
	file *ast.File
	set  *token.FileSet
}

// folder is the file's package by its folder, "" for the repository's own.
func (s source) folder() string {
	return strings.TrimPrefix(path.Dir(s.path), ".")
}

func (s source) problem(at token.Pos, format string, args ...any) string {
	return s.path + ":" + strconv.Itoa(s.set.Position(at).Line) + ": " + fmt.Sprintf(format, args...)
}

// sources parses every Go file of the repository but tests and files in folders that Go ignores.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	set := token.NewFileSet() // one for all: packages are also type-checked
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if name != root && (base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_') {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, source{path: filepath.ToSlash(relative), file: file, set: set})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("found %d Go files under %s: is this the repository?", len(all), root)
	}
	return all
}

func parse(t *testing.T, name, text string) source {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return source{path: name, file: file, set: set}
}

// importProblems lists the imports that mayImport does not allow.
func importProblems(all []source) (problems []string) {
	for _, s := range all {
		allowed, known := mayImport[s.folder()]
		if !known {
			allowed, known = mayImport[path.Dir(s.folder())+"/*"]
		}
		if !known {
			problems = append(problems, s.problem(s.file.Package, "the table mayImport has no line for %s", s.folder()))
			continue
		}
		for _, spec := range s.file.Imports {
			imported, ours := strings.CutPrefix(importPath(spec), module+"/")
			if ours && !slices.Contains(allowed, imported) && !slices.Contains(allowed, path.Dir(imported)+"/*") {
				problems = append(problems, s.problem(spec.Pos(), "%s may not import %s", s.folder(), imported))
			}
		}
	}
	return problems
}

// mainOnlyProblems lists the uses of mainOnly outside main.go, under whatever name os is imported.
func mainOnlyProblems(all []source) (problems []string) {
	for _, s := range all {
		if s.path == "main.go" {
			continue
		}
		name := ""
		for _, spec := range s.file.Imports {
			if importPath(spec) == "os" {
				name = "os"
				if spec.Name != nil {
					name = spec.Name.Name
				}
			}
		}
		ast.Inspect(s.file, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := selector.X.(*ast.Ident); ok && name != "" && x.Name == name && slices.Contains(mainOnly, selector.Sel.Name) {
				problems = append(problems, s.problem(selector.Pos(), "os.%s is for main.go alone", selector.Sel.Name))
			}
			return true
		})
	}
	return problems
}

// initProblems lists the init functions.
func initProblems(all []source) (problems []string) {
	for _, s := range all {
		for _, declaration := range s.file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if ok && f.Recv == nil && f.Name.Name == "init" {
				problems = append(problems, s.problem(f.Pos(), "an init function hides what happens before main"))
			}
		}
	}
	return problems
}

func importPath(spec *ast.ImportSpec) string {
	unquoted, err := strconv.Unquote(spec.Path.Value)
	if err != nil { // the parser has checked it
		return spec.Path.Value
	}
	return unquoted
}
