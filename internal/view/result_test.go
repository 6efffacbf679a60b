package view_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

var (
	jsonName = regexp.MustCompile(`json:"([^",]+)(,omit)?`)
	typeName = strings.NewReplacer("*", "", "[]", "list of ", "metadata.", "", "time.Time", "time", "float64", "number", "int64", "number", "int", "number", "string", "text", "bool", "true or false")
)

// TestResultPage makes the page of the reference from the types that the result is written from.
func TestResultPage(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "summary.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	page := "# The result of a run\n\n`reprise run --json` prints it, and the output `result` of the [action](action.md) has it. Types without a heading\n" +
		"are those of [the record](../../metadata/schema.cue). A field with `?` is left out where there is nothing to say.\n"
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			if n.Tok == token.TYPE {
				page += fmt.Sprintf("\n## %s\n\n%s\n| field | type | what it is |\n|---|---|---|\n", n.Specs[0].(*ast.TypeSpec).Name, n.Doc.Text())
			}
		case *ast.FuncDecl:
			return false
		case *ast.Field:
			what, kind := strings.Join(strings.Fields(n.Doc.Text()+n.Comment.Text()), " "), typeName.Replace(types.ExprString(n.Type))
			if n.Tag == nil {
				page += fmt.Sprintf("| | %s | %s |\n", kind, cmp.Or(what, "all fields that it has in the record"))
			} else if m := jsonName.FindStringSubmatch(n.Tag.Value); m[1] != "-" {
				page += fmt.Sprintf("| `%s`%s | %s | %s |\n", m[1], strings.Replace(m[2], ",omit", " ?", 1), kind, what)
			}
		}
		return true
	})
	progresstest.Golden(t, "../../../docs/reference/result.md", page)
}

// A verdict of which only the reviewer's program knows that its model gave it is shown as such.
func TestVerdictNotBound(t *testing.T) {
	p := view.Proof{Verdict: metadata.Pass, Reviewer: "claude", Unbound: true}
	for language, want := range map[string]string{"en": "review ✓ claude (verdict not bound)", "ja": "レビュー ✓ claude (判定の出所は未確認)"} {
		if got := p.Line(prompts.Words(language)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
