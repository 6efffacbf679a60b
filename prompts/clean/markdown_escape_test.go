package clean_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/prompts/clean"
)

func TestEscape(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"words", "The API must stay REST.", "The API must stay REST."},
		{"japanese", "APIはRESTのまま。@hanaさん", "APIはRESTのまま。`@hana`さん"},
		{"mention", "ask @octo/team, or (@hana).", "ask `@octo/team`, or (`@hana`)."},
		{"mention without case", "@\u017fam and @\u212aim", "`@sam` and `@Kim`"},
		{"address", "mail a@b.example!", "mail `a@b.example`!"},
		{"closing keyword", "fixes #12, closes octo/hello#3 and resolves GH-4", "fixes `#12`, closes `octo/hello#3` and resolves `GH-4`"},
		{"closing by address", "Fixes: https://github.com/o/r/issues/1", "Fixes: `https://github.com/o/r/issues/1`"},
		{"address without scheme", "see WWW.evil.example.", "see `WWW.evil.example`."},
		{"link", "[click](https://evil.example/a)", "\\[click\\](`https://evil.example/a`)"},
		{"autolink", "<https://evil.example>", "&lt;`https://evil.example`&gt;"},
		{"image", "![x](//evil.example/a.png)", "!\\[x\\](//evil.example/a.png)"},
		{"reference", "[a]: evil.example", "\\[a\\]: evil.example"},
		{"html", "</details><img src=x onerror=y>", "&lt;/details&gt;&lt;img src=x onerror=y&gt;"},
		{"marker", "<!-- reprise:progress:v1 issue=7 -->", ""},
		{"open comment", "a <!-- reprise", "a &lt;!-- reprise"},
		{"open comment in code", "`<!-- reprise`", "`<! -- reprise`"},
		{"command", "/rollback design because", "\\/rollback design because"},
		{"path", "see api/list.go", "see api/list.go"},
		{"command on a later line", "first\n  /approve", "first\n\\/approve"},
		{"fence", "```\nx\n```", "&#96;&#96;&#96;\nx\n&#96;&#96;&#96;"},
		{"code", "call `f(x)` twice", "call `f(x)` twice"},
		{"mention beside code", "`f`@hana", "`f` `@hana`"},
		{"lone backtick", "a ` b", "a &#96; b"},
		{"double backticks", "``a ` b``", "``a ` b``"},
		{"empty code", "` `", "&#96; &#96;"},
		{"heading", "# Big\n#hash", "\\# Big\n\\#hash"},
		{"underline", "Big\n===\n---", "Big\n\\===\n\\---"},
		{"lists", "- a\n* b\n+ c\n1. d\n2) e", "\\- a\n\\* b\n\\+ c\n1\\. d\n2\\) e"},
		{"quote", "> [!WARNING]", "&gt; \\[!WARNING\\]"},
		{"table", "a | b\n:- | -", "a \\| b\n\\:- \\| -"},
		{"emphasis", "*a* _b_ ~~c~~", "\\*a\\* \\_b\\_ \\~\\~c\\~\\~"},
		{"indented code", "    rm -rf", "rm -rf"},
		{"entity", "&#64;hana &amp;", "`&#64;hana` &amp;amp;"},
		{"math", "$x$", "\\$x\\$"},
		{"backslash", `C:\new\`, `C:\\new\\`},
		{"blank lines", "\n\na\n\n\n\nb\n\n", "a\n\nb"},
		{"hidden", "a\u200bb\u202ec\x1b[31md\x00", "abcd"},
		{"nothing", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := clean.Escape(tt.in)
			if got != tt.want {
				t.Errorf("Escape(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
			harmless(t, tt.in, got)
		})
	}
}

// harmless renders Markdown the way GitHub does and looks for anything but
// text and code.
func harmless(t *testing.T, in, out string) {
	t.Helper()
	progresstest.CheckClosed(t, out)
	src := []byte(out)
	doc := progresstest.Parse(src)
	var said strings.Builder
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Document:
		case *ast.Paragraph:
			said.WriteString("\n")
		case *ast.CodeSpan:
			said.WriteString("`") // what is in code stays in code
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			said.Write(util.UnescapePunctuations(util.ResolveNumericReferences(util.ResolveEntityNames(n.Segment.Value(src)))))
			if n.SoftLineBreak() || n.HardLineBreak() {
				said.WriteString("\n")
			}
		default:
			t.Errorf("%q became %q, which holds a %s", in, out, n.Kind())
		}
		return ast.WalkContinue, nil
	})
	if m := regexp.MustCompile(`(?im)(^|\W)@[a-z0-9]|#[0-9]|\bgh-[0-9]|://`).FindString(said.String()); m != "" {
		t.Errorf("%q became %q, which says %q outside code", in, out, m)
	}
	if m := regexp.MustCompile(`(?m)^\s*/|<!--`).FindString(out); m != "" {
		t.Errorf("%q became %q, which has %q", in, out, m)
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{
		"fixes #1 @team ![a](http://b) </details>\n```\n/run\n", "`a``@b`", "a\\`b`@c`", "<!--<!-- -->", "1. a\n2) b", "[a]: b\n[a]",
		"www.a.b/`x`", "`a\\`@b`", "| a |\n|-|", "a\n:-", "- [x] a", "^[a] [^1]", "*a*b_c_", "&lt;b&gt;", "\u2028/run", "a@b.c@d#1", "`` ` ``", "a}@b.c",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) { harmless(t, in, clean.Escape(in)) })
}
