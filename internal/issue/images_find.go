package issue

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

var tag = sync.OnceValue(func() *regexp.Regexp {
	const value = `"[^"]*"|'[^']*'|[^\s"'<>]+` // of another attribute, whose text may look like an address
	return regexp.MustCompile(`(?is)<img(?:\s+[^\s"'<>=/]+(?:\s*=\s*(?:` + value + `))?)*?\s+src\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))(?:[^<>"']|"[^"]*"|'[^']*')*>`)
})

// source is one text of an issue, with its images.
type source struct {
	comment int64 // its id; 0: the body
	images  []string
}

// sources lists the texts of an issue that have images, which count from 1 in this order.
// An address counts where it stands first.
func sources(is Issue) (all []source) {
	var known []string
	take := func(id int64, body string) {
		s := source{comment: id}
		for _, address := range seen(body) {
			if !slices.Contains(known, address) {
				known, s.images = append(known, address), append(s.images, address)
			}
		}
		if len(s.images) > 0 {
			all = append(all, s)
		}
	}
	take(0, is.Body)
	for _, c := range is.Discussion.Comments {
		take(c.ID, c.Text)
	}
	return all
}

// seen lists the addresses of the images that people see in a text, in their order: in code there are none.
func seen(body string) (all []string) {
	if !strings.Contains(body, "![") && !strings.Contains(strings.ToLower(body), "<img") {
		return nil
	}
	src := []byte(body)
	markup := func(lines *text.Segments) {
		var b strings.Builder
		for i := range lines.Len() {
			line := lines.At(i)
			b.Write(line.Value(src))
		}
		for _, m := range tag().FindAllStringSubmatch(b.String(), -1) {
			all = append(all, html.UnescapeString(m[1]+m[2]+m[3]))
		}
	}
	_ = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function gives no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image:
			all = append(all, string(n.Destination))
		case *ast.HTMLBlock:
			markup(n.Lines())
		case *ast.RawHTML:
			markup(n.Segments)
		}
		return ast.WalkContinue, nil
	})
	return slices.DeleteFunc(all, func(address string) bool {
		u, err := url.Parse(address)
		return err != nil || u.Host == "" || len(address) > longest
	})
}

// longest is the longest address that is looked at, in bytes.
const longest = 2000

// named puts at the end of a text what is said of each image that it shows, by its address.
func named(body string, said map[string]string) string {
	put := map[string]bool{}
	for _, address := range seen(body) {
		if said[address] != "" && !put[address] {
			put[address] = true
			body += fmt.Sprintf("\n%s (%s)", address, said[address])
		}
	}
	return body
}
