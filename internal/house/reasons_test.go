package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/prompts"
)

// value is a place for a value in the words of a reason, also where a word
// only goes with a number.
var value = regexp.MustCompile(`\{(\w+)[|}]`)

// Every reason that is made anywhere has words in every language, which take
// exactly the values that it has; and there are no words for any other.
func TestEveryReasonHasWords(t *testing.T) {
	made := map[string]bool{}
	for _, file := range goFiles(t) {
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, path.Join(root, file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if name, ok := n.Fun.(*ast.SelectorExpr); !ok || name.Sel.Name != "Because" {
					return true
				}
				at := fset.Position(n.Pos())
				code := literal(n.Args[0])
				if code == "" || len(n.Args)%2 != 1 {
					t.Errorf("%s: a reason is made of a code that stands there, and of pairs", at)
					return true
				}
				made[code] = true
				var names []string
				for i := 1; i < len(n.Args); i += 2 {
					names = append(names, literal(n.Args[i]))
				}
				slices.Sort(names)
				for _, language := range prompts.Languages() {
					text, known := prompts.Words(language).Reasons[code]
					if !known {
						t.Errorf("%s: %s has no words for %q", at, language, code)
						continue
					}
					var taken []string
					for _, m := range value.FindAllStringSubmatch(text, -1) {
						taken = append(taken, m[1])
					}
					slices.Sort(taken)
					if d := cmp.Diff(names, slices.Compact(taken)); d != "" {
						t.Errorf("%s: %s, values of %q (-made +words):\n%s", at, language, code, d)
					}
				}
			case *ast.KeyValueExpr: // of a record, a decision or an outcome
				name, ok := n.Key.(*ast.Ident)
				if ok && name.Name == "Why" && strings.Contains(literal(n.Value), " ") && (strings.HasPrefix(file, "phases/") || strings.HasPrefix(file, "metadata/")) {
					t.Errorf("%s: a sentence where a reason has a code", fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
	for code := range prompts.Words("en").Reasons {
		if !made[code] {
			t.Errorf("nothing is ever %q", code)
		}
	}
}

// literal is a string as it stands in the source, or "".
func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(lit.Value) // the parser took it
	return text
}
