package progresstest

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/reprise-ci/reprise/prompts/clean"
)

// OwnImages are the addresses that images in a sample report may begin with.
var OwnImages = []string{"https://github.com/octo/hello/"}

// IsOwnImage reports whether an address in Markdown is one of them as a browser understands it,
// which minds no case in the name of a host.
func IsOwnImage(address string) bool {
	own, _ := url.Parse(OwnImages[0]) // it is one
	u, err := url.Parse(string(util.ResolveNumericReferences(util.ResolveEntityNames([]byte(address)))))
	return err == nil && u.Scheme == own.Scheme && u.User == nil && strings.EqualFold(u.Host, own.Host) && strings.HasPrefix(path.Clean("/"+u.Path)+"/", own.Path)
}

// fence matches a line that begins or ends a block of code.
var fence = regexp.MustCompile("^[> ]*(`{3,})([^`]*)$")

// WithoutCode leaves out the blocks of code of a text whose fences we wrote: each is longer than any in its block.
func WithoutCode(out string) string {
	var kept []string
	open := 0
	for line := range strings.SplitSeq(out, "\n") {
		switch m := fence.FindStringSubmatch(line); {
		case open == 0 && m != nil:
			open = len(m[1])
		case open == 0:
			kept = append(kept, line)
		case m != nil && m[2] == "" && len(m[1]) >= open:
			open = 0
		}
	}
	return strings.Join(kept, "\n")
}

// CheckClosed looks whether what follows a text is still a paragraph of its own:
// no fence, quote or list has been left open.
func CheckClosed(t *testing.T, md string) {
	t.Helper()
	if strings.Contains(md, "template: pages:") {
		t.Errorf("a part of the page has a mistake:\n%s", md)
	}
	src := []byte(md + "\n\nwhat follows\n")
	last := Parse(src).LastChild()
	if p, ok := last.(*ast.Paragraph); !ok || strings.TrimSpace(string(p.Lines().Value(src))) != "what follows" {
		t.Errorf("what follows is a part of a %s:\n%s", last.Kind(), md[max(0, len(md)-300):])
	}
}

// leadsToAnyPage reports whether an address is one of a page.
func leadsToAnyPage(to string) bool {
	u, err := url.Parse(to)
	return err == nil && (u.Scheme == "" || u.Scheme == "http" || u.Scheme == "https")
}

// CheckTold renders Markdown the way GitHub does and looks for what must not
// be in anything that reprise tells.
func CheckTold(t *testing.T, md string) {
	t.Helper()
	if seen := stateLine.ReplaceAllString(md, ""); strings.Count(seen, "<!--") > 1 || strings.Contains(seen, "<!--") && !strings.HasPrefix(seen, "<!-- reprise:") {
		t.Errorf("a marker is not the first line, or there are two")
	}
	CheckClosed(t, md)
	src := []byte(md)
	ours := regexp.MustCompile(`^(<details>|<details open>|</details>|<summary>[^<>\n]*</summary>|<!-- reprise:[^<>]*-->|\n)+$`)
	doc := Parse(src)
	var said strings.Builder
	open := 0
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Kind() != ast.KindText {
			said.WriteString("\x01") // as where a tag is
		}
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Document, *ast.Paragraph, *ast.TextBlock, *ast.Heading, *ast.List, *ast.ListItem, *ast.Blockquote, *ast.Emphasis,
			*ast.ThematicBreak, *east.TaskCheckBox, *east.Table, *east.TableHeader, *east.TableRow, *east.TableCell, *east.Strikethrough:
		case *ast.Link:
			if to := string(n.Destination); !leadsToAnyPage(to) {
				t.Errorf("a link to %q", to)
			}
		case *ast.LinkReferenceDefinition:
			if to := string(n.Destination); !leadsToAnyPage(to) || clean.ThreadPath.MatchString(to) {
				t.Errorf("a name for %q", to)
			}
		case *ast.Image:
			if !IsOwnImage(string(n.Destination)) {
				t.Errorf("an image from %q", n.Destination)
			}
		case *ast.CodeSpan, *ast.FencedCodeBlock, *ast.CodeBlock, *ast.AutoLink:
			return ast.WalkSkipChildren, nil
		case *ast.HTMLBlock:
			html := htmlOf(n, src)
			if !ours.MatchString(html) {
				t.Errorf("HTML that is not ours: %q", html)
			}
			open += strings.Count(html, "<details") - strings.Count(html, "</details>")
		case *ast.Text:
			said.Write(util.UnescapePunctuations(util.ResolveNumericReferences(util.ResolveEntityNames(n.Segment.Value(src)))))
			if n.SoftLineBreak() || n.HardLineBreak() {
				said.WriteString("\n")
			}
		default:
			t.Errorf("a %s", n.Kind())
		}
		return ast.WalkContinue, nil
	})
	if open != 0 {
		t.Errorf("%d details are not closed", open)
	}
	words := regexp.MustCompile(`Closes #[0-9]+`).ReplaceAllString(said.String(), "")
	if m := regexp.MustCompile(`(?im)(^|\W)@[a-z0-9]|(^|\W)#[0-9]|\bgh-[0-9]`).FindString(words); m != "" {
		t.Errorf("it says %q outside code", m)
	}
	if m := regexp.MustCompile(`(?m)^[\s>]*/[a-z].*`).FindString(WithoutCode(md)); m != "" || clean.LeadingSlash.MatchString(md) {
		t.Errorf("a line is %q", m)
	}
}

// htmlOf is the text of a block of HTML, with the line that ends it.
func htmlOf(n *ast.HTMLBlock, src []byte) string {
	html := string(n.Lines().Value(src))
	if n.HasClosure() {
		html += string(n.ClosureLine.Value(src))
	}
	return html
}
