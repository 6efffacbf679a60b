package issue

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"html"
	"image"
	_ "image/gif"  // so that their size is read
	_ "image/jpeg" // so that their size is read
	_ "image/png"  // so that their size is read
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/reprise-ci/reprise/metadata"
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

// seen lists the addresses of the images that people see in a text, in their order: in
// code there are none.
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

// hosts are where one GitHub keeps what people attach to texts.
type hosts struct {
	web *url.URL // where people see it
}

var (
	// attachment matches the paths of attachments on the host that people see.
	attachment = regexp.MustCompile(`^/(user-attachments/assets/|storage/user/[0-9]+/files/|[A-Za-z0-9._-]+/[A-Za-z0-9._-]+/assets/[0-9]+/)[0-9A-Za-z-]+$`)
	// mark matches what an attachment is known by, at each of its addresses.
	mark = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// The hosts of attachments at github.com, besides itself: those that stand in texts, and
// where github.com leads to.
var (
	inTexts = []string{"user-images.githubusercontent.com", "private-user-images.githubusercontent.com"}
	stores  = []string{"github-production-user-asset-6210df.s3.amazonaws.com"}
)

// public reports whether this is github.com.
func (h hosts) public() bool { return h.web.Host == "github.com" }

// attached reports whether an address that stands in a text is one of an attachment.
func (h hosts) attached(u *url.URL) bool {
	if u.User != nil || u.Scheme != h.web.Scheme {
		return false
	}
	host := strings.ToLower(u.Host)
	if host == h.web.Host {
		return attachment.MatchString(u.Path)
	}
	return slices.Contains(inTexts, host) || !h.public() && host == "media."+h.web.Host
}

// own reports whether an address that GitHub itself has led to is one of its own.
func (h hosts) own(u *url.URL) bool {
	host := strings.ToLower(u.Host)
	switch {
	case u.User != nil || u.Scheme != h.web.Scheme:
		return false
	case host == h.web.Host, slices.Contains(inTexts, host), slices.Contains(stores, host):
		return true
	}
	return !h.public() && strings.HasSuffix(host, "."+h.web.Host)
}

// signed finds in the HTML of a text the address under which everybody gets an
// attachment, for some minutes; nil: there is none.
func (h hosts) signed(markup, address string) *url.URL {
	id := mark.FindString(strings.ToLower(address))
	for _, m := range tag().FindAllStringSubmatch(markup, -1) {
		u, err := url.Parse(html.UnescapeString(m[1] + m[2] + m[3]))
		if id != "" && err == nil && u.RawQuery != "" && strings.Contains(strings.ToLower(u.Path), id) && h.own(u) {
			return u
		}
	}
	return nil
}

// The most that an image may have.
const (
	mostBytes = 5 << 20
	mostSide  = 8_000      // pixels: models take no more
	mostArea  = 40_000_000 // pixels
)

// kindOf tells by the bytes which kind of image they are, or why an agent does not get
// them. Only their head is read: nothing is unpacked.
func kindOf(data []byte) (kind string, why metadata.Reason) {
	var size image.Config
	var err error
	if width, height, ok := webp(data); ok {
		kind, size = "webp", image.Config{Width: width, Height: height}
	} else if size, kind, err = image.DecodeConfig(bytes.NewReader(data)); err != nil {
		return "", metadata.Because("image_kind")
	}
	if side := max(size.Width, size.Height); min(size.Width, size.Height) < 1 || side > mostSide || size.Width*size.Height > mostArea {
		return "", metadata.Because("image_area", "width", size.Width, "height", size.Height)
	}
	return kind, ""
}

// kinds are the types that a file can have, as its name says them.
var kinds = []string{"gif", "jpeg", "png", "webp"}

// webp reads the size out of the head of a WebP file, in each of its three forms.
func webp(data []byte) (width, height int, ok bool) {
	if len(data) < 30 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return 0, 0, false
	}
	little := binary.LittleEndian
	switch body := data[20:]; string(data[12:16]) {
	case "VP8 ": // after three bytes of the frame and three that begin a key frame
		return int(little.Uint16(body[6:]) & 0x3fff), int(little.Uint16(body[8:]) & 0x3fff), body[3] == 0x9d && body[4] == 0x01 && body[5] == 0x2a
	case "VP8L":
		bits := little.Uint32(body[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, body[0] == 0x2f
	case "VP8X":
		three := func(at int) int { return int(body[at]) | int(body[at+1])<<8 | int(body[at+2])<<16 }
		return three(4) + 1, three(7) + 1, true
	}
	return 0, 0, false
}
