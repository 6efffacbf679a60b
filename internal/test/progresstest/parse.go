package progresstest

import (
	"regexp"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// mail is what GitHub takes for an address of mail. The library by itself takes more into one, also
// the sign that begins code.
var mail = regexp.MustCompile(`^[A-Za-z0-9.+_-]+@[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+`)

// Parse reads Markdown the way GitHub does.
func Parse(src []byte) ast.Node {
	links := extension.NewLinkify(extension.WithLinkifyEmailRegexp(mail))
	return goldmark.New(goldmark.WithExtensions(links, extension.Table, extension.Strikethrough, extension.TaskList)).Parser().Parse(text.NewReader(src))
}
