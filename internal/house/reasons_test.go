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

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/metadata"
)

// value is a place for a value in the words of a reason, also where a word
// only goes with a number.
var value = regexp.MustCompile(`\{(\w+)[|}]`)

// Every reason that is made anywhere has words in every language, which take
// exactly the values that it has; and there are no words for any other.
func TestEveryReasonHasWords(t *testing.T) {
	made := map[string]bool{}
	texts := textsByLanguage(t)
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
				if !ok || name.Sel.Name != "Because" || n.Ellipsis.IsValid() {
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
				for _, language := range metadata.Languages() {
					text, known := texts[language]["reasons."+code]
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
	for key := range texts["en"] {
		if code, is := strings.CutPrefix(key, "reasons."); is && !made[code] {
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

// textsByLanguage gives every text of the program by language and key.
func textsByLanguage(t *testing.T) map[string]map[string]string {
	texts := map[string]map[string]string{}
	for _, language := range metadata.Languages() {
		texts[language] = progresstest.Texts(t, language)
	}
	return texts
}

// looked are the texts whose keys are put together of what the record or a table has.
var looked = regexp.MustCompile(`^(reasons|log|codes|unknownCode|steps|statuses|verdicts|severities|changes|confidences|kinds|events|tell\.triggers|command\.(faults|values|summaries|flags))\.|^language$`)

// Every text that the program says by its key is there in every language, and takes
// exactly the values that it is given; and there are no texts for any other.
func TestEveryTextIsSaid(t *testing.T) {
	used, texts := map[string]bool{}, textsByLanguage(t)
	prefixes := map[string]string{"Say": "", "Shown": "show.", "say": "show.", "about": "show."}
	said := func(key, where string, given []string) {
		used[key] = true
		slices.Sort(given)
		for language, all := range texts {
			taken := []string{}
			for _, m := range value.FindAllStringSubmatch(all[key], -1) {
				taken = append(taken, m[1])
			}
			slices.Sort(taken)
			text, known := all[key]
			if d := cmp.Diff(given, slices.Compact(taken)); d != "" || !known || text == "" && key != "command.space" {
				t.Errorf("%s: %s, values of %q (-given +words):\n%s", where, language, key, d)
			}
		}
	}
	for _, file := range goFiles(t) {
		if !slices.ContainsFunc([]string{"cmd/", "internal/", "phases/", "prompts/"}, func(top string) bool { return strings.HasPrefix(file, top) }) {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, path.Join(root, file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok {
				used[literal(lit)] = true
			}
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 || call.Ellipsis.IsValid() {
				return true
			}
			name, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || literal(call.Args[0]) == "" {
				return true
			}
			prefix, says := prefixes[name.Sel.Name]
			if !says {
				return true
			}
			given := []string{}
			for i := 1; i < len(call.Args); i += 2 {
				given = append(given, literal(call.Args[i]))
			}
			said(prefix+literal(call.Args[0]), fset.Position(call.Pos()).String(), given)
			return true
		})
	}
	pair := regexp.MustCompile(`^ "(\w+)" `)
	written := func(where, parts, words string, prefixes map[string]string) {
		for _, m := range regexp.MustCompile(words+` "([^"]+)"`).FindAllStringSubmatchIndex(parts, -1) {
			rest, given := parts[m[1]:], []string{}
			for name := pair.FindStringSubmatch(rest); name != nil && parts[m[2]:m[3]] != "fact"; name = pair.FindStringSubmatch(rest) {
				given, rest = append(given, name[1]), rest[len(name[0]):]
				depth := 0 // of brackets around the value
				rest = rest[strings.IndexFunc(rest, func(r rune) bool {
					depth += strings.Count("(", string(r)) - strings.Count(")", string(r))
					return depth < 0 || depth == 0 && (r == ' ' || r == '}')
				}):]
			}
			said(prefixes[parts[m[2]:m[3]]]+parts[m[4]:m[5]], where, given)
		}
	}
	written("the page", read(t, "internal/report/page.html")+read(t, "internal/report/index.html"), `\.(Say|Shown)`, prefixes)
	written("pages.tmpl", read(t, "internal/page/pages.tmpl"), `\b(say|shown|fact)`, map[string]string{"shown": "show."})
	for key := range texts["en"] {
		if !used[key] && !looked.MatchString(key) {
			t.Errorf("nothing ever says %q: take its words away", key)
		}
	}
}
