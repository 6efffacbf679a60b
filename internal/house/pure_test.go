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

// The core that decides is pure: the same record gives the same decision on
// every machine and at every hour. So it gets time, ids and cost as values.
// The core is these files, and every other one of the room without a context:
// whatever waits or reaches out takes one. evidence.go looks at the files that
// an agent left, which neither waits nor decides.
var pureFiles = []string{"phases/decide.go", "phases/apply.go"}

var purePackages = []string{
	"bytes", "cmp", "crypto/sha256", "encoding/base64", "encoding/hex", "encoding/json", "errors", "fmt", "maps", "math", "net/url", "path", "regexp",
	"slices", "strconv", "strings", "time", "unicode", "unicode/utf8",
}

var impureCalls = []string{
	"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.Tick", "time.NewTimer", "time.NewTicker",
	"fmt.Print", "fmt.Printf", "fmt.Println", "fmt.Scan", "fmt.Scanf", "fmt.Scanln",
}

func TestCoreIsPure(t *testing.T) {
	checked := 0
	for _, file := range goFiles(t) {
		if path.Dir(file) != "phases" {
			continue
		}
		named, found := slices.Contains(pureFiles, file), impurities(t, path.Join(root, file), nil)
		if !named && (slices.Contains(found, "context") || file == "phases/evidence.go") {
			continue
		}
		if named {
			checked++
		}
		for _, problem := range found {
			t.Errorf("%s: the deciding core may not use %s: let its result enter as a value", file, problem)
		}
	}
	if checked != len(pureFiles) {
		t.Errorf("checked %d of %v: where has the core gone?", checked, pureFiles)
	}
}

func TestImpuritiesAreFound(t *testing.T) {
	src := `package phases
import (
	"os"
	clock "time"
	"github.com/reprise-ci/reprise/metadata"
)
var _, _, _ = os.Getpid, clock.Now, metadata.Run{}
`
	got := impurities(t, "decide.go", src)
	want := []string{"os", "time.Now"}
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
