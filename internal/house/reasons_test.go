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
				name, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || name.Sel.Name != "Because" && name.Sel.Name != "CauseOf" || n.Ellipsis.IsValid() { // the latter passes a cause on
					return true
				}
				at := fset.Position(n.Pos())
				if from, ok := name.X.(*ast.Ident); name.Sel.Name == "CauseOf" {
					if !ok || from.Name != "text" || len(n.Args) < 2 {
						return true
					}
					if code, text := literal(n.Args[0]), literal(n.Args[1]); text == "" || prompts.Words("en").Reasons[code] != text {
						t.Errorf("%s: the cause %q says %q, and the reason %q", at, code, text, prompts.Words("en").Reasons[code])
					}
					n = &ast.CallExpr{Fun: n.Fun, Args: slices.Delete(slices.Clone(n.Args), 1, 2)}
				}
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
						t.Errorf("%s: %s has no words for %q: add them at the same place in prompts/words/en.json and ja.json", at, language, code)
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
					t.Errorf("%s: a sentence where a reason has a code: make it with metadata.Because", fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
	for code := range prompts.Words("en").Reasons {
		if !made[code] {
			t.Errorf("nothing is ever %q: take its words away", code)
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

// Every word that commands show of a run is there in every language, and takes
// exactly the values that it is given; and there are no words for any other.
func TestEveryShownLineHasWords(t *testing.T) {
	shown := map[string]bool{}
	for _, file := range goFiles(t) {
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, path.Join(root, file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 || call.Ellipsis.IsValid() {
				return true
			}
			name, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains([]string{"Shown", "say", "about"}, name.Sel.Name) || literal(call.Args[0]) == "" || !strings.HasPrefix(file, "cmd/") && !strings.HasPrefix(file, "internal/") && !strings.HasPrefix(file, "phases/") {
				return true
			}
			what, given := literal(call.Args[0]), []string{}
			shown[what] = true
			for i := 1; i < len(call.Args); i += 2 {
				given = append(given, literal(call.Args[i]))
			}
			slices.Sort(given)
			for _, language := range prompts.Languages() {
				taken := []string{}
				for _, m := range value.FindAllStringSubmatch(prompts.Words(language).Show[what], -1) {
					taken = append(taken, m[1])
				}
				slices.Sort(taken)
				if d := cmp.Diff(given, slices.Compact(taken)); d != "" || prompts.Words(language).Show[what] == "" {
					t.Errorf("%s: %s, values of %q (-given +words):\n%s", fset.Position(call.Pos()), language, what, d)
				}
			}
			return true
		})
	}
	for _, m := range regexp.MustCompile(`\.Shown "([^"]+)"\}`).FindAllStringSubmatch(read(t, "internal/report/page.html")+read(t, "internal/report/index.html"), -1) {
		shown[m[1]] = true
		for _, language := range prompts.Languages() {
			if words := prompts.Words(language).Show[m[1]]; words == "" || value.MatchString(words) {
				t.Errorf("the template of the page says %q, for which the words in %s are %q", m[1], language, words)
			}
		}
	}
	for what := range prompts.Words("en").Show {
		if !shown[what] {
			t.Errorf("nothing ever shows %q: take its words away", what)
		}
	}
}
