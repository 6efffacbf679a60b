package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The packages that decide are pure: the same record gives the same decision on
// every machine and at every hour. So they get time, ids and cost as values, and
// import nothing that waits or reaches out. These below phases do what was decided:
var impureRooms = []string{"phases/branch", "phases/checking", "phases/engine", "phases/leak"}

func isPure(room string) bool {
	return strings.HasPrefix(room+"/", "phases/") && !slices.Contains(impureRooms, room)
}

// What they may import: these of the standard library, and the data of the table
// of rooms.
var purePackages = []string{
	"bytes", "cmp", "crypto/sha256", "encoding/hex", "encoding/json", "errors", "fmt", "maps", "math", "path", "regexp",
	"slices", "strconv", "strings", "time", "unicode", "unicode/utf8",
}

var impureCalls = []string{
	"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.Tick", "time.NewTimer", "time.NewTicker",
	"fmt.Print", "fmt.Printf", "fmt.Println", "fmt.Scan", "fmt.Scanf", "fmt.Scanln",
}

func TestCoreIsPure(t *testing.T) {
	checked := 0
	for _, file := range goFiles(t) {
		if !isPure(path.Dir(file)) {
			continue
		}
		checked++
		for _, problem := range impurities(t, path.Join(root, file), nil) {
			t.Errorf("%s: the package that decides may not use %s: let its result enter as a value", file, problem)
		}
	}
	if checked == 0 {
		t.Error("there is no file in phases: where has the core gone?")
	}
}

func TestImpuritiesAreFound(t *testing.T) {
	src := `package phases
import (
	"context"
	"os"
	clock "time"
	"github.com/reprise-ci/reprise/metadata"
)
var _, _, _, _ = context.TODO, os.Getpid, clock.Now, metadata.Run{}
`
	got := impurities(t, "decide.go", src)
	want := []string{"context", "os", "time.Now"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// impurities gives the packages and functions that a file uses and a pure one
// may not. If src is nil, the file is read.
func impurities(t *testing.T, file string, src any) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	names := map[string]string{} // what the file calls a package, and which one it is
	for _, spec := range f.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value) // the parser took it
		if !slices.Contains(purePackages, imported) && !strings.HasPrefix(imported, module) {
			found = append(found, imported)
		}
		names[path.Base(imported)] = imported
		if spec.Name != nil {
			names[spec.Name.Name] = imported
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := sel.X.(*ast.Ident); ok && slices.Contains(impureCalls, names[pkg.Name]+"."+sel.Sel.Name) {
				found = append(found, names[pkg.Name]+"."+sel.Sel.Name)
			}
		}
		return true
	})
	return found
}
