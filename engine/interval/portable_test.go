package interval

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// TestPortableFunctions compares with the standard library, which is itself right to about one unit in the
// last place: 4 units (9e-16) are allowed for the two together.
func TestPortableFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	near := func(name string, x, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 9e-16*math.Abs(want) {
			t.Errorf("%s(%v) = %v, want %v", name, x, got, want)
		}
	}
	for range 20_000 {
		x := (r.Float64() - 0.5) * math.Pow(10, 6*r.Float64()-3)
		near("exp", x, exp(x), math.Exp(x))
		near("expm1", x, expm1(x), math.Expm1(x))
		y := math.Exp((r.Float64() - 0.5) * 100)
		near("ln", y, ln(y), math.Log(y))
		near("ln1p", y, ln1p(y), math.Log1p(y))
		z := 2*r.Float64() - 1
		near("ln1p", z, ln1p(z), math.Log1p(z))
		u, v := r.NormFloat64(), r.NormFloat64()
		near("atan2", u, atan2(u, v), math.Atan2(u, v))
		angle := 2000 * (r.Float64() - 0.5)
		sin, cos := sincos(angle)
		wantSin, wantCos := math.Sincos(angle)
		// The angle itself is only known to 1e-13 here.
		if math.Abs(sin-wantSin) > 1e-13 || math.Abs(cos-wantCos) > 1e-13 {
			t.Errorf("sincos(%v) = %v, %v; want %v, %v", angle, sin, cos, wantSin, wantCos)
		}
	}
}

func TestPortableEdges(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"exp(0)", exp(0), 1}, {"exp(-Inf)", exp(-inf), 0}, {"exp(Inf)", exp(inf), inf}, {"exp(-800)", exp(-800), 0},
		{"ln(0)", ln(0), -inf}, {"ln(1)", ln(1), 0}, {"ln(Inf)", ln(inf), inf}, {"ln1p(-1)", ln1p(-1), -inf},
		{"ln(5e-324)", ln(5e-324), -744.4400719213812}, // smallest float64 is 2⁻¹⁰⁷⁴
		{"atan2(0, 0)", atan2(0, 0), 0}, {"atan2(1, 0)", atan2(1, 0), math.Pi / 2}, {"atan2(0, -1)", atan2(0, -1), math.Pi},
	} {
		if c.got != c.want {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	if !math.IsNaN(exp(math.NaN())) || !math.IsNaN(ln(math.NaN())) || !math.IsNaN(ln(-1)) {
		t.Error("no number should come out of NaN or of the logarithm of a negative number")
	}
}

// TestLegendre: a rule of n nodes is exact for the powers up to 2n − 1, whose integral over [0, 1] is 1/(power + 1).
func TestLegendre(t *testing.T) {
	for _, n := range []int{1, 2, 7, 48} {
		nodes, weights := legendre(n)
		for power := range 2 * n {
			sum := 0.0
			for i, x := range nodes {
				sum += weights[i] * math.Pow(x, float64(power))
			}
			if want := 1 / float64(power+1); math.Abs(sum-want) > 1e-14 {
				t.Errorf("%d nodes, power %d: %v, want %v", n, power, sum, want)
			}
		}
	}
}

// TestNoFusedProducts reads this package's source. The language allows a product to be fused with a sum that
// it meets later, in another statement or through an inlined call too, so every floating-point product
// must be rounded at once by float64(…), unless it goes straight into another product, a quotient or a
// comparison. It also looks for calls of the standard library's functions whose last bits differ between
// architectures.
func TestNoFusedProducts(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks the standard library from source, which is slow under emulation")
	}
	files := token.NewFileSet()
	parsed := []*ast.File{}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: importer.ForCompiler(files, "source", nil)}
	if _, err := config.Check("interval", files, parsed, info); err != nil {
		t.Fatal(err)
	}
	isFloat := func(e ast.Expr) bool {
		tv := info.Types[e]
		basic, ok := tv.Type.Underlying().(*types.Basic)
		return ok && basic.Info()&types.IsFloat != 0 && tv.Value == nil
	}
	allowed := map[string]bool{"Abs": true, "Floor": true, "Sqrt": true, "Min": true, "Max": true, "Inf": true, "NaN": true, "Frexp": true, "Ldexp": true, "Mod": true, "Round": true}
	harmless := map[token.Token]bool{
		token.MUL: true, token.QUO: true,
		token.LSS: true, token.LEQ: true, token.GTR: true, token.GEQ: true, token.EQL: true, token.NEQ: true,
	}
	seen := 0
	for _, f := range parsed {
		var above []ast.Node // the nodes that hold the present one, but for parentheses
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				above = above[:len(above)-1]
				return true
			}
			parent := ast.Node(nil)
			for i := len(above) - 1; i >= 0; i-- {
				if _, paren := above[i].(*ast.ParenExpr); !paren {
					parent = above[i]
					break
				}
			}
			above = append(above, n)
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op != token.MUL || !isFloat(n) {
					break
				}
				seen++
				switch p := parent.(type) {
				case *ast.BinaryExpr:
					if harmless[p.Op] {
						return true
					}
				case *ast.CallExpr:
					if name, ok := p.Fun.(*ast.Ident); ok && name.Name == "float64" {
						return true
					}
				}
				t.Errorf("%s: a product that may meet a sum; write float64(x*y)", files.Position(n.Pos()))
			case *ast.AssignStmt:
				if n.Tok == token.MUL_ASSIGN && isFloat(n.Rhs[0]) {
					t.Errorf("%s: a product that may meet a sum; write x = float64(x * y)", files.Position(n.Pos()))
				}
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "math" && !allowed[s.Sel.Name] {
						t.Errorf("%s: math.%s is not the same on every architecture", files.Position(n.Pos()), s.Sel.Name)
					}
				}
			}
			return true
		})
	}
	if seen < 100 {
		t.Errorf("only %d products seen: the check has lost its subject", seen)
	}
}
