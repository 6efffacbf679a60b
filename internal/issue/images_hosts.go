package issue

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

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

// The hosts of attachments at github.com, besides itself: those that stand in texts, and where github.com leads to.
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
