package arch

import (
	"go/ast"
	"go/constant"
	"go/importer"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sameEverywhere are the functions of package math that give the same bits on every architecture: they are exact, or
// correctly rounded. The others may be written in assembly on one of them, or have fused products inside.
var sameEverywhere = []string{
	"Abs", "Ceil", "Copysign", "Float32bits", "Float32frombits", "Float64bits", "Float64frombits", "Floor", "Frexp", "Inf",
	"IsInf", "IsNaN", "Ldexp", "Max", "Min", "Mod", "Modf", "NaN", "Nextafter", "Pow10", "Round", "RoundToEven", "Signbit",
	"Sqrt", "Trunc",
}

// roundedAfterwards are the files that may use one more function, and why: the result is rounded to 9 decimals before
// anything is done with it, and it belongs to the textbook's intervals that ours are shown beside; no verdict has it.
var roundedAfterwards = map[string]string{
	"engine/audit/coverage_fairness.go": "Exp",
	"engine/audit/rivals.go":            "Atan2",
}

// TestNoFusedProducts looks for x*y + z: some machines compute it with one rounding, others with two, unless the product
// is written float64(x*y). Division by a constant counts as a product: the compiler makes one of division by 2. It sees
// what stands in one expression; that nothing is fused across lines is what .ci/run's stage arm64 finds in the machine
// code.
func TestNoFusedProducts(t *testing.T) {
	checker := &floats{sources: byFolder(sources(t)), checked: map[string]*types.Package{}}
	for folder := range checker.sources {
		if !strings.HasPrefix(folder, "test/") { // what only tests use is in no report
			checker.check(folder)
		}
	}
	slices.Sort(checker.problems)
	for _, problem := range checker.problems {
		t.Error(problem)
	}
	// What is not understood is not checked: most sums and products of the repository must have been. There were 560 sums
	// and 95 products in sums on 30 November 2026.
	if checker.sums < 300 {
		t.Errorf("only %d sums of floating-point numbers were understood", checker.sums)
	}
}

func TestFusedProductsAreFound(t *testing.T) {
	file := parse(t, "engine/interval/a.go", `package interval
import "math"
type point struct{ x float64 }
func f(a, b, c float64, p point, n int, list []float64) float64 {
	c += a * b
	c = c - a*b
	c = -(a * p.x) + c
	c = list[n]/2 + b
	c += float64(a*b) - float64(a/2) // rounded: fine
	n += n*n + n/2 // whole numbers: fine
	const fixed = 2.0*3.0 + 1 // computed by the compiler, exactly: fine
	c -= float64(n) * math.Sqrt(a)
	return math.Exp(a / b * c)
}`)
	checker := &floats{sources: map[string][]source{"engine/interval": {file}}, checked: map[string]*types.Package{}}
	checker.check("engine/interval")
	const fused = ": a product meets a sum here: write float64(…) around the product"
	want := []string{
		"engine/interval/a.go:5" + fused,
		"engine/interval/a.go:6" + fused,
		"engine/interval/a.go:7" + fused,
		"engine/interval/a.go:8" + fused,
		"engine/interval/a.go:12" + fused,
		"engine/interval/a.go:13: math.Exp differs between machines in its last bits: see engine/interval/portable.go",
	}
	if diff := cmp.Diff(want, checker.problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// floats type-checks the repository's packages and collects what differs between machines. Of other packages it knows
// only those of numbers; what comes from elsewhere has no type for it, and the checker's complaints are not looked at.
type floats struct {
	sources  map[string][]source
	checked  map[string]*types.Package
	numbers  types.Importer
	sums     int
	problems []string
}

func byFolder(all []source) map[string][]source {
	folders := map[string][]source{}
	for _, s := range all {
		folders[s.folder()] = append(folders[s.folder()], s)
	}
	return folders
}

// Import gives the type checker a package: ours from its sources, those of numbers from theirs, and an empty one for
// any other.
func (f *floats) Import(imported string) (*types.Package, error) {
	if ours, ok := strings.CutPrefix(imported, module+"/"); ok && f.sources[ours] != nil {
		return f.check(ours), nil
	}
	if slices.Contains([]string{"math", "math/rand/v2"}, imported) {
		if f.numbers == nil {
			f.numbers = importer.ForCompiler(token.NewFileSet(), "source", nil)
		}
		return f.numbers.Import(imported)
	}
	name := path.Base(imported)
	if strings.HasPrefix(name, "v") && len(name) == 2 { // …/v2
		name = path.Base(path.Dir(imported))
	}
	empty := types.NewPackage(imported, name)
	empty.MarkComplete()
	return empty, nil
}

func (f *floats) check(folder string) *types.Package {
	if done := f.checked[folder]; done != nil {
		return done
	}
	var files []*ast.File
	for _, s := range f.sources[folder] {
		files = append(files, s.file)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: f, Error: func(error) {}, FakeImportC: true}
	checked, _ := config.Check(module+"/"+folder, f.sources[folder][0].set, files, info) // what it lacks, it says
	f.checked[folder] = checked
	for _, s := range f.sources[folder] {
		f.look(s, info)
	}
	return checked
}

func (f *floats) look(s source, info *types.Info) {
	mathName := ""
	for _, spec := range s.file.Imports {
		if importPath(spec) == "math" {
			mathName = "math"
			if spec.Name != nil {
				mathName = spec.Name.Name
			}
		}
	}
	meet := func(at token.Pos, terms ...ast.Expr) {
		f.sums++
		for _, term := range terms {
			if product(term, info) {
				f.problems = append(f.problems, s.problem(at, "a product meets a sum here: write float64(…) around the product"))
				return
			}
		}
	}
	ast.Inspect(s.file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.BinaryExpr:
			if (n.Op == token.ADD || n.Op == token.SUB) && isFloat(n, info) && !isConstant(n, info) {
				meet(n.Pos(), n.X, n.Y)
			}
		case *ast.AssignStmt:
			if (n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN) && isFloat(n.Lhs[0], info) {
				meet(n.Pos(), n.Rhs[0])
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if ok && mathName != "" && x.Name == mathName && x.Obj == nil && isFunction(n, info) &&
				!slices.Contains(sameEverywhere, n.Sel.Name) && roundedAfterwards[s.path] != n.Sel.Name {
				f.problems = append(f.problems, s.problem(n.Pos(), "math.%s differs between machines in its last bits: see engine/interval/portable.go", n.Sel.Name))
			}
		}
		return true
	})
}

// product tells whether a term of a sum is a product, or a division by a constant, that was not rounded.
func product(term ast.Expr, info *types.Info) bool {
	switch e := term.(type) {
	case *ast.ParenExpr:
		return product(e.X, info)
	case *ast.UnaryExpr:
		return product(e.X, info)
	case *ast.BinaryExpr:
		if isConstant(e, info) {
			return false
		}
		return e.Op == token.MUL || e.Op == token.QUO && isConstant(e.Y, info)
	}
	return false
}

func isFloat(e ast.Expr, info *types.Info) bool {
	kind := info.Types[e].Type
	if kind == nil {
		return false
	}
	basic, ok := kind.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsFloat|types.IsComplex) != 0
}

func isConstant(e ast.Expr, info *types.Info) bool {
	value := info.Types[e].Value
	return value != nil && value.Kind() != constant.Unknown
}

func isFunction(e ast.Expr, info *types.Info) bool {
	_, ok := info.Types[e].Type.(*types.Signature)
	return ok
}
