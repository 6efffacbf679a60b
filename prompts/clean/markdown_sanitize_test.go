package clean_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/prompts/clean"
)

func TestSanitize(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"words", "## What changes\n\nIt is *fast* and **small**, see [the guide](docs/guide.md#use).", ""},
		{"lists", "1. one\n2. two\n   - three\n   - [ ] four\n   - [x] five", ""},
		{"table", "| a | b |\n|:--|--:|\n| `x` | 2 |\n| `a \\| b` | one<br>two |", ""},
		{"quote", "> [!NOTE]\n> Take care.\n\nafter", ""},
		{"rule", "above\n\n---\n\nbelow", ""},
		{"code", "```go\n// @Deprecated, fixes #12\nfunc f() { <b> }\n```", ""},
		{"command in code", "```sh\nx\n\n  /run\n/run\n```", "```sh\n x\n\n   /run\n /run\n```"},
		{"code in prose", "call `f(@x)` or ``a ` b``, `cat x | sort`", ""},
		{"page", "see https://go.dev/doc and <https://go.dev>.", "see https://go.dev/doc and &lt;https://go.dev&gt;."},
		{"query", "see https://go.dev/x?a=1&b=2", ""},
		{"link with text", "[x](https://go.dev/x?a=1&b=2)", ""},
		{"target by name", "[x]: https://go.dev/doc", ""},
		{"footnote", "[^1]: said `@hana`", ""},
		{"own image", "![shot](https://github.com/octo/hello/raw/main/a.png)", ""},
		{"mention", "thanks @octo/team, *@hana*", "thanks `@octo/team`, *`@hana`*"},
		{"mention, escaped", `\@hana &#64;hana &commat;hana`, "\\\\`@hana` `&#64;hana` &amp;commat;hana"},
		{"mention without case", "@\u017fam and @\u212aim", "`@sam` and `@Kim`"},
		{"entity, escaped", `\&commat;hana \\\&commat;hana`, `\\&amp;commat;hana \\\\&amp;commat;hana`},
		{"mention beside code", "`a`@hana`b`", "`a` `@hana` `b`"},
		{"closing", "Fixes #12, closes octo/hello#3, resolves GH-4", "Fixes `#12`, closes `octo/hello#3`, resolves `GH-4`"},
		{"closing, escaped", `fixes \#12`, "fixes \\\\`#12`"},
		{"closing by address", "Fixes https://github.com/octo/hello/issues/1.", "Fixes `https://github.com/octo/hello/issues/1`."},
		{"closing by link", "Fixes [x](https://github.com/octo/hello/pull/1)", `Fixes [x\](` + "`https://github.com/octo/hello/pull/1`)"},
		{"closing by name", "Fixes [x]\n\n[x]: ../issues/1", "Fixes [x]\n\n\\[x]: ../issues/1"},
		{"other image", "![x](https://evil.example/a.png?q=1)", `\![x](https://evil.example/a.png?q=1)`},
		{"image beside ours", "![x](https://github.com/octo/hello/../../evil/a.png)", `\![x](https://github.com/octo/hello/../../evil/a.png)`},
		{"image beside ours, by entities", "![x](https://github.com/octo/hello/&#46;&#46;/&#46;&#46;/evil/a.png)", `\![x\](` + "`https://github.com/octo/hello/&#46;&#46;/&#46;&#46;/evil/a.png`)"},
		{"image by name", "![x][a]", `\![x][a]`},
		{"script", "[x](javascript:alert(1))", `[x\](removed-javascript:alert(1))`},
		{"html", "<details><img src=x></details>", "&lt;details&gt;&lt;img src=x&gt;&lt;/details&gt;"},
		{"marker", "a <!-- reprise:progress:v1 issue=7 --> b", "a  b"},
		{"open comment", "a <!-- b `<!-- c`", "a &lt;!-- b `<! -- c`"},
		{"command", "/run\n- /run\n1. [ ] /run\n  /run", "\\/run\n- \\/run\n1. [ ] \\/run\n  \\/run"},
		{"quoted command", "> /run", "> \\/run"},
		{"math", "$`@hana`$ costs $5", "\\$`@hana`\\$ costs \\$5"},
		{"bar in code in a table", "| a |\n|---|\n| `x | @hana` |", "| a |\n|---|\n| `x \\| @hana` |"},
		{"bar behind a backslash in a table", "| a |\n|---|\n| `x \\\\| y` |", "| a |\n|---|\n| &#96;x \\\\| y&#96; |"},
		{"code never closed", "```\n@hana", "```\n@hana\n```"},
		{"fence in a list", "1. run\n   ```sh\n   go test\n     x\n   ```\n2. look", "1. run\n\n```sh\ngo test\n  x\n```\n\n2. look"},
		{"fence behind a mark", "- ```sh\n  go test\n  ```\n@hana", "```sh\ngo test\n```\n\n`@hana`"},
		{"fence in a quote", "> ```\n> @hana\n> ```\n@hana", ">\n> ```\n> @hana\n> ```\n>\n`@hana`"},
		{"fences of another kind", "~~~text\n```\n~~~", "````text\n```\n````"},
		{"fence within a fence", "````\n```\n@hana\n```\n````", ""},
		{"no fence", "``` a ``` b", ""},
		{"link that goes on", "https://go.dev`@a b` and @hana `c`", "`https://go.dev` `@a b` and `@hana` `c`"},
		{"address in japanese", "これhttps://go.devを@hanaに", "これ`https://go.dev`を`@hana`に"},
		{"backslash before what means nothing", `a\_b \*c\* \$5 d\|e`, ""},
		{"backslash", `C:\new\gh-1`, `C:\\new` + "\\\\`gh-1`"},
		{"quotes in quotes", strings.Repeat("> ", 10) + "x", strings.Repeat("> ", 8) + "&gt; &gt; x"},
		{"blank lines", "a\n\n\n\nb\n", "a\n\nb"},
		{"nothing", " \n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if want == "" {
				want = strings.TrimSpace(tt.in)
			}
			got := clean.Sanitize(tt.in, progresstest.OwnImages, 10_000, "cut")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Sanitize(%q) (-want +got):\n%s", tt.in, diff)
			}
			checkSanitized(t, tt.in, got)
		})
	}
}

// A text that is cut ends its block of code, and says that it is cut.
func TestSanitizedIsCut(t *testing.T) {
	for _, in := range []string{
		"> ```\n" + strings.Repeat("> @hana 😀\n", 500), "```\n" + strings.Repeat("@hana\n", 500), strings.Repeat("@hana 😀\n\n", 500), strings.Repeat("x", 5000),
	} {
		got := clean.Sanitize(in, nil, 1000, "_cut_")
		if n := clean.Units(got); n > 1000 || n < 900 && !strings.HasPrefix(in, "x") || !strings.HasSuffix(got, "\n\n_cut_") && got != "_cut_" {
			t.Errorf("%d units: ...%q", n, got[max(0, len(got)-60):])
		}
		checkSanitized(t, in, got)
	}
}

// Time grows with the text, whatever it is made of.
func TestSanitizeIsLinear(t *testing.T) {
	for _, part := range []string{
		"![a](", "](", "[a](b", "https://a|", "> ", "- ", "1. ", "\\`", "`a", "`` ` ", "<br>", "|`a|b`", "@a", "```\n", "- ```\n", "> ```\n", "|-|\n|`|`", "[a]: ", "&lt;&", "\\",
	} {
		d := testenv.Busy(func() {
			clean.Sanitize(strings.Repeat(part, 100_000/len(part)), progresstest.OwnImages, clean.MaxComment, "cut")
		})
		if d > 1250*time.Millisecond {
			t.Errorf("100 kB of %q took %s", part, d)
		}
	}
}

// checkSanitized renders Markdown the way GitHub does and looks for what would act.
func checkSanitized(t *testing.T, in, out string) {
	t.Helper()
	progresstest.CheckClosed(t, out)
	src := []byte(out)
	doc := progresstest.Parse(src)
	var said strings.Builder
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Kind() != ast.KindText {
			said.WriteString("\x01") // as where a tag is
		}
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan, *ast.FencedCodeBlock, *ast.CodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.AutoLink:
			if to := string(n.URL(src)); clean.ThreadPath.MatchString(to) {
				t.Errorf("%q became %q, which leads to %q", in, out, to)
			}
			return ast.WalkSkipChildren, nil
		case *ast.HTMLBlock:
			t.Errorf("%q became %q, which holds HTML", in, out)
		case *ast.RawHTML:
			if html := string(n.Segments.Value(src)); !strings.HasPrefix(html, "<br") {
				t.Errorf("%q became %q, which holds %q", in, out, html)
			}
		case *ast.Image:
			if !progresstest.IsOwnImage(string(n.Destination)) {
				t.Errorf("%q became %q, which shows %q", in, out, n.Destination)
			}
		case *ast.Link:
			if to := string(n.Destination); clean.ThreadPath.MatchString(to) || regexp.MustCompile(`(?i)^\s*(javascript|data|vbscript):`).MatchString(to) {
				t.Errorf("%q became %q, which leads to %q", in, out, to)
			}
		case *ast.Text:
			said.Write(util.UnescapePunctuations(util.ResolveNumericReferences(util.ResolveEntityNames(n.Segment.Value(src)))))
			if n.SoftLineBreak() || n.HardLineBreak() {
				said.WriteString("\n")
			}
		}
		return ast.WalkContinue, nil
	})
	if m := regexp.MustCompile(`(?im)(^|\W)@[a-z0-9]|(^|\W)#[0-9]|\bgh-[0-9]|://\S*/(issues|pull)/[0-9]`).FindString(said.String()); m != "" {
		t.Errorf("%q became %q, which says %q outside code", in, out, m)
	}
	if m := regexp.MustCompile(`(?m)^[\s>]*/[a-z]`).FindString(progresstest.WithoutCode(out)); m != "" || strings.Contains(out, "<!--") || clean.LeadingSlash.MatchString(out) {
		t.Errorf("%q became %q, which has %q", in, out, m)
	}
}

func FuzzSanitize(f *testing.F) {
	for _, s := range []string{
		"- ```\n  x\n```\n@hana", "> > ```\n> x\n@y", "| `a | @b` |\n|-|", "`a``@b`", "\\`@a`", "[a\nb]: x\n[a b]", "![a](https://github.com/octo/hello/x)@b",
		"](@hana)", "[x](/@hana)", "[x](a&commat;b)", "https://a.b/`@a b` @c `d`", "www.a.b/#1", "a\n-\n|@b", "<br>\n@a", "|<br>\n<br>@a", "1. ~~~\n@a\n~~~", "$`a`$@b",
		"\\\n@a", "\\\\@a", "\t@a", "    ```\n@a", "[^1]: @a\n\n    @b", "&#64;a", "#1 \\#1 *#1*", "[`a](`b`)", "[x](`@a`)", "<https://a.b/@c>", "*@a*_@b_~~@c~~", "ａ@b", "!\\[a](b)", "![a](https://github.coM/octo/hello/x)",
		"b/`@a.b` @c",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		checkSanitized(t, in, clean.Sanitize(in, progresstest.OwnImages, 5000, "cut"))
	})
}
