package issue

import (
	"bytes"
	"context"
	"errors"
	"html"
	"image"
	_ "image/gif"  // so that their size is read
	_ "image/jpeg" // so that their size is read
	_ "image/png"  // so that their size is read
	"net/url"
	"slices"
	"strings"
	"time"

	_ "golang.org/x/image/webp" // so that their size is read

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// The most that is fetched and noted of an issue.
const (
	most    = 10              // images that are fetched
	noted   = 30              // images of which the record says why they were not, too
	allTime = 2 * time.Minute // for all together
)

// FetchImages gives the images that people see in an issue and in what was said below it, with
// their bytes, or why there are none. It takes at most ten, from where GitHub keeps what people have
// attached. An error is why ctx was cancelled.
func FetchImages(ctx context.Context, from *github.Thread, is Issue) ([]Image, error) {
	is.Clean() // a copy: what people do not see has no images
	return fetch(ctx, from, sources(is), func(string) bool { return true })
}

// fetch fetches those images of texts that are wanted.
func fetch(ctx context.Context, from *github.Thread, texts []source, wanted func(address string) bool) (all []Image, err error) {
	within, cancel := context.WithTimeout(ctx, allTime)
	defer cancel()
	h := hosts{from.Web()}
	fetched := 0
	for _, text := range texts {
		markup, asked := "", false // how people are shown the text
		for _, address := range text.images {
			at, err := url.Parse(address)
			image := Image{Image: metadata.Image{URL: address}}
			switch {
			case len(all) >= noted:
				return all, nil
			case !wanted(address):
				continue
			case err != nil || !h.attached(at):
				host := ""
				if at != nil {
					host = at.Host
				}
				image.Why = metadata.Because("image_host", "host", host)
			case fetched >= most:
				image.Why = metadata.Because("image_number", "most", most)
			default:
				fetched++
				if !asked && mark().MatchString(address) {
					markup, _ = from.Shown(within, text.comment) // else it is asked for where the text itself has it
					asked = true
				}
				if signed := h.signed(markup, address); signed != nil {
					at = signed
				}
				data, err := from.Attachment(within, at, mostBytes, h.own)
				switch {
				case ctx.Err() != nil:
					return nil, context.Cause(ctx)
				case err != nil:
					image.Why = reasonOf(err)
				default:
					image.take(data)
				}
			}
			all = append(all, image)
		}
	}
	return all, nil
}

// reasonOf says why an image was not fetched.
func reasonOf(err error) metadata.Reason {
	e, ok := errors.AsType[*github.AttachmentError](err)
	switch {
	case !ok || e.Err != nil:
		return metadata.Because("image_unreachable")
	case e.Large:
		return metadata.Because("image_size", "most", mostBytes>>20)
	case e.Status/100 == 3:
		return metadata.Because("image_elsewhere")
	}
	return metadata.Because("image_gone", "status", e.Status)
}

// hosts are where one GitHub keeps what people attach to texts.
type hosts struct {
	web *url.URL // where people see it
}

var (
	// attachment matches the paths of attachments on the host that people see.
	attachment = text.Pattern(`^/(user-attachments/assets/|storage/user/[0-9]+/files/|[A-Za-z0-9._-]+/[A-Za-z0-9._-]+/assets/[0-9]+/)[0-9A-Za-z-]+$`)
	// mark matches what an attachment is known by, at each of its addresses.
	mark = text.Pattern(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
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
		return attachment().MatchString(u.Path)
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
	id := mark().FindString(strings.ToLower(address))
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

// take takes the bytes of an image, or says why an agent does not get them. Only their head is read: nothing is unpacked.
func (i *Image) take(data []byte) {
	size, kind, err := image.DecodeConfig(bytes.NewReader(data))
	side := max(size.Width, size.Height)
	switch {
	case err != nil:
		i.Why = metadata.Because("image_kind")
	case min(size.Width, size.Height) < 1 || side > mostSide || size.Width*size.Height > mostArea:
		i.Why = metadata.Because("image_area", "width", size.Width, "height", size.Height)
	default:
		i.Data, i.Digest, i.Type, i.Size = data, pipelines.Digest(data), kind, len(data)
	}
}

// kinds are the types that a file can have, as its name says them.
var kinds = []string{"gif", "jpeg", "png", "webp"}
