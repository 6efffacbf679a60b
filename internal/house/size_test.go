package house_test

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

var updateSize = flag.Bool("update-size", false, "write the figures of size down in size.json")

// pack is what a package adds to the figures of size.
type pack struct {
	lines, statements, exported int
	imports                     map[string]bool
}

// figures are the size of the program, in units that dense formatting does not change. What
// lies below internal/test counts as tests.
func figures(t *testing.T) map[string]int {
	t.Helper()
	product, tests := map[string]*pack{}, &pack{imports: map[string]bool{}}
	for _, name := range files(t, func(name string) bool { return strings.HasSuffix(name, ".go") }) {
		p := tests
		if folder := path.Dir(name); !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(folder+"/", "internal/test/") {
			if product[folder] == nil {
				product[folder] = &pack{imports: map[string]bool{}}
			}
			p = product[folder]
		}
		p.add(t, name)
	}
	sum, arrows, floors, support := pack{}, 0, 0, 0
	for name, p := range product {
		sum.lines += p.lines
		sum.statements += p.statements
		sum.exported += p.exported
		arrows += len(p.imports)
		floors = max(floors, floor(product, name))
		for i := range p.imports {
			if strings.HasPrefix(i, "internal/test/") {
				support++
			}
		}
	}
	words := 0
	for _, name := range documents(t) {
		// What a program makes below docs/reference is no written page.
		if (path.Dir(name) == "docs" || !strings.Contains(name, "/")) && !strings.HasSuffix(name, ".ja.md") {
			words += len(strings.Fields(read(t, name)))
		}
	}
	return map[string]int{
		"product_lines": sum.lines, "product_statements": sum.statements, "product_imports_test_support": support,
		"packages": len(product), "exported_names": sum.exported, "floors": floors, "arrows": arrows,
		"test_statements": tests.statements, "docs_words": words,
	}
}

// add counts a file.
func (p *pack) add(t *testing.T, name string) {
	t.Helper()
	text := read(t, name)
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	testenv.Must(t, err)
	p.lines += strings.Count(text, "\n")
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt, *ast.EmptyStmt: // they hold statements
		case ast.Stmt, *ast.Field, *ast.KeyValueExpr, ast.Spec, *ast.FuncDecl:
			p.statements++
			p.exported += exportedBy(n)
		}
		return true
	})
	for _, i := range file.Imports {
		imported, _ := strconv.Unquote(i.Path.Value) // the parser took it
		if ours, ok := strings.CutPrefix(imported, module); ok {
			p.imports[ours] = true
		}
	}
}

// exportedBy counts the exported names of a declaration, methods among them.
func exportedBy(n ast.Node) int {
	names := []*ast.Ident{}
	switch n := n.(type) {
	case *ast.FuncDecl:
		names = append(names, n.Name)
	case *ast.TypeSpec:
		names = append(names, n.Name)
	case *ast.ValueSpec:
		names = n.Names
	}
	exported := 0
	for _, name := range names {
		if name.IsExported() {
			exported++
		}
	}
	return exported
}

// floor is the length of the longest way down from a package.
func floor(all map[string]*pack, name string) int {
	deepest := 0
	if p := all[name]; p != nil {
		for i := range p.imports {
			deepest = max(deepest, floor(all, i))
		}
	}
	return 1 + deepest
}

// TestSizeOnlyFalls is a ratchet. A figure that rose needs a reason in its commit and
// -update-size; so does one that fell by a fiftieth, which nobody may use up again.
func TestSizeOnlyFalls(t *testing.T) {
	now := figures(t)
	if *updateSize {
		text, err := json.MarshalIndent(now, "", "\t")
		testenv.Must(t, err)
		testenv.Put(t, "size.json", string(append(text, '\n')))
	}
	var written map[string]int
	testenv.Must(t, json.Unmarshal([]byte(read(t, "internal/house/size.json")), &written))
	for name, n := range now {
		switch most, ok := written[name]; {
		case !ok:
			t.Errorf("%s is not written down: go test ./internal/house -run Size -update-size", name)
		case n > most:
			t.Errorf("%s rose from %d to %d: remove what is not needed or, with the reason in the commit, go test ./internal/house -run Size -update-size", name, most, n)
		case n < most-most/50:
			t.Errorf("%s fell from %d to %d: write that down, go test ./internal/house -run Size -update-size", name, most, n)
		}
	}
}

func TestFloor(t *testing.T) {
	all := map[string]*pack{
		"a": {imports: map[string]bool{"b": true, "c": true}},
		"b": {imports: map[string]bool{"c": true}},
		"c": {},
	}
	if got := floor(all, "a"); got != 3 {
		t.Errorf("a stands on floor %d, want 3", got)
	}
}
